"""Grammars for constrained decoding: what a model may write, so that each call it writes is one that reads back.

The rule: a grammar follows from the format's declaration and the tools' JSON Schemas, as reading and rendering do. What
a grammar cannot say of a schema is relaxed, never made wrong: see `docs/grammars.md`.

Whether to call is better left to the model: with `tool_choice="auto"` its text is free until a call begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from toolglot import Format, Messages, ToolglotError, Tools, get_format

from ._choice import chosen
from ._gbnf import gbnf
from ._lark import lark
from ._nodes import Grammar
from ._reply import reply
from ._structural_tag import structural_tag

__all__ = ["to_gbnf", "to_lark", "to_structural_tag"]

AnyFormat: TypeAlias = str | Format | Messages
ToolChoice: TypeAlias = str | Mapping[str, Any]


def to_structural_tag(
    tools: object,
    format: AnyFormat,
    tool_choice: ToolChoice = "auto",
    *,
    parallel: bool = True,
    start_in: Literal["text", "reasoning"] = "text",
) -> dict[str, Any]:
    """xgrammar's structural tag, as vLLM (`structured_outputs`), SGLang and others take it, as JSON data.

    `tools` is what `parse` takes, `format` an id or a `Format`. `tool_choice` is "auto" (text, and calls if the model
    likes), "required", "none", a tool's name, or the object that OpenAI's API takes. Without `parallel` there is one
    call at the most. `start_in="reasoning"` is for a prompt that has opened the reasoning. Raises `ToolglotError` for
    a name that is not offered, and for a tool that the format cannot carry.

    >>> tag = to_structural_tag(["ping"], "mistral_v11")
    >>> tag["format"]["elements"][1]["triggers"], tag["format"]["elements"][1]["tags"][0]["begin"]
    (['[TOOL_CALLS]'], '[TOOL_CALLS]ping[ARGS]')
    """
    return structural_tag(_grammar(tools, format, tool_choice, parallel, start_in))


def to_gbnf(
    tools: object,
    format: AnyFormat,
    tool_choice: ToolChoice = "auto",
    *,
    parallel: bool = True,
    start_in: Literal["text", "reasoning"] = "text",
) -> str:
    """The same as GBNF, for llama.cpp's `grammar`; the rule to begin with is `root`.

    Takes what `to_structural_tag` takes, and raises as it does. A grammar slows llama.cpp down by the size of the
    model's vocabulary.

    >>> print(to_gbnf([{"name": "ping", "parameters": {"properties": {}}}], "pythonic", "ping"))
    root ::= "[ping(" params ")]"
    params ::= ""
    <BLANKLINE>
    """
    return gbnf(_grammar(tools, format, tool_choice, parallel, start_in))


def to_lark(
    tools: object,
    format: AnyFormat,
    tool_choice: ToolChoice = "auto",
    *,
    parallel: bool = True,
    start_in: Literal["text", "reasoning"] = "text",
) -> str:
    """The same as Lark in the dialect of llguidance; the rule to begin with is `start`.

    Takes what `to_structural_tag` takes, and raises as it does.

    >>> print(to_lark(["ping"], "lfm2", "none").splitlines()[0])
    start: ("<think>" text_1_until)? TEXT_2_END?
    """
    return lark(_grammar(tools, format, tool_choice, parallel, start_in))


def _grammar(tools: object, format: AnyFormat, tool_choice: ToolChoice, parallel: bool, start_in: str) -> Grammar:
    fmt = get_format(format) if isinstance(format, str) else format
    if not isinstance(fmt, Format | Messages):
        raise ToolglotError(f"expected a format's id or a Format, got {type(format).__name__}")
    if start_in not in ("text", "reasoning"):
        raise ToolglotError(f"expected start_in 'text' or 'reasoning', got {start_in!r}")
    offered, wish = chosen(Tools(tools), tool_choice, parallel)
    return reply(offered, fmt, wish, start_in)
