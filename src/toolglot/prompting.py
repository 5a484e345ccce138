"""Tells a model which tools it has, and gives it their results, in the syntax of a format.

A stand-in until the real module is merged: the interface is the same, the wording plain.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from toolglot import Format, Messages, Tools, render

PLACEHOLDER = {"name": "TOOL_NAME", "arguments": {"ARGUMENT": "VALUE"}}


def system_prompt(tools: Any, *, format: str | Format | Messages = "hermes") -> str:
    """The section of the system prompt that offers tools, one compact JSON definition a line.

    >>> print(system_prompt(["ping"]).splitlines()[1])
    {"name":"ping","description":"","parameters":{"type":"object","properties":{}}}
    """
    lines = ["You may call these tools. Each line defines one as JSON: its name, description and arguments."]
    for tool in Tools(tools).values():
        schema = dict(tool.schema or {"type": "object", "properties": {}})
        definition = {"name": tool.name, "description": tool.description, "parameters": schema}
        lines.append(json.dumps(definition, ensure_ascii=False, separators=(",", ":")))
    lines += [
        "To call a tool write exactly this, once for each call:",
        render([PLACEHOLDER], format=format),
        "Results come back between <tool_response> and </tool_response>. When you know the answer, write it as plain "
        "text without a call.",
    ]
    return "\n".join(lines)


def render_results(results: Iterable[Mapping[str, Any]], *, format: str | Format | Messages = "hermes") -> str:
    """The results of calls, in order. A result has `name`, `content`, `id` and `is_error`.

    >>> print(render_results([{"name": "ping", "content": "pong", "id": "1", "is_error": False}]))
    <tool_response>
    {"name": "ping", "content": "pong"}
    </tool_response>
    """
    shown = []
    for result in results:
        told = {"name": result["name"], "error" if result["is_error"] else "content": result["content"]}
        shown.append(f"<tool_response>\n{json.dumps(told, ensure_ascii=False)}\n</tool_response>")
    return "\n".join(shown)
