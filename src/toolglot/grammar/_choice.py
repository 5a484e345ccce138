"""What the model is to choose, in the words of OpenAI's `tool_choice`.

The rule: a name that is not offered is an error that tells those that are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolglot import ToolglotError, Tools

from ._reply import Wish

EXPECTED = "'auto', 'required', 'none', a tool's name, or such as {'type': 'function', 'function': {'name': ...}}"


def chosen(tools: Tools, choice: str | Mapping[str, Any], parallel: bool) -> tuple[Tools, Wish]:
    """The tools that may be called, and what the model may do.

    >>> tools, wish = chosen(Tools(["f", "g"]), {"type": "function", "function": {"name": "g"}}, True)
    >>> list(tools), wish
    (['g'], Wish(text=False, calls=True, many=False))
    """
    if isinstance(choice, Mapping):
        return _object(tools, choice, parallel)
    if choice == "none":
        return tools, Wish(True, False, parallel)
    if choice == "auto":
        return tools, Wish(True, bool(tools), parallel)
    if choice == "required":
        if not tools:
            raise ToolglotError("expected tools, since tool_choice is 'required', got none")
        return tools, Wish(False, True, parallel)
    return _named(tools, choice)


def _object(tools: Tools, choice: Mapping[str, Any], parallel: bool) -> tuple[Tools, Wish]:
    kind = choice.get("type")
    inner = choice.get(kind) if isinstance(kind, str) else None
    if kind == "function":
        return _named(tools, (inner if isinstance(inner, Mapping) else choice).get("name"))
    if kind == "allowed_tools":
        told = inner if isinstance(inner, Mapping) else choice
        names = [_name_of(tool) for tool in told.get("tools", ())]
        return chosen(_only(tools, names), told.get("mode", "auto"), parallel)
    raise ToolglotError(f"expected tool_choice {EXPECTED}, got {dict(choice)!r:.80}")


def _name_of(tool: Any) -> Any:
    inner = tool.get("function", tool) if isinstance(tool, Mapping) else {}
    return inner.get("name") if isinstance(inner, Mapping) else None


def _named(tools: Tools, name: Any) -> tuple[Tools, Wish]:
    return _only(tools, [name]), Wish(False, True, False)


def _only(tools: Tools, names: Iterable[Any]) -> Tools:
    """The tools of these names."""
    found = Tools()
    for name in names:
        if not isinstance(name, str) or name not in tools:
            offered = ", ".join(map(repr, tools)) or "none"
            raise ToolglotError(f"expected tool_choice {EXPECTED}; offered are {offered}, got {name!r}")
        found[name] = tools[name]
    return found
