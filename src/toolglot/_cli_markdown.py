"""The page of formats: what the declarations say, and calls written from them, as Markdown.

The rule: nothing about a format is known here; what its declaration does not say is not on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from toolglot import Block, Format, Messages, ToolglotError, render

from ._cli_toml import grammar, visible

ONE = [{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}]
TWO = [*ONE, {"name": "get_time", "arguments": {"zone": "Europe/Oslo"}}]

HEAD = """\
# Formats

toolglot reads and writes {count} formats. This page is made from their declarations (`make docs`): do not edit it.

`format="auto"`, the default, tries them all, in this order: first those with markers of their own, then bare JSON, then
bare call syntax. Any name of a format may be given, in any spelling: `Hermes 2 Pro`, `hermes_2_pro`,
`Hermes2ProToolParser`. A format of your own is one declaration: see [Add a format](add-a-format.md), which also tells
what `\\u2060`, `\\u00a0`, `\\u200b` and `\\ufffc` say in a marker.
"""
TIERS = {"tagged": "by its markers", "json": "as bare JSON", "call": "as bare call syntax"}


def page(formats: Sequence[Format | Messages]) -> str:
    """The whole page: a table, and a section for each format."""
    rows = [f"| [`{f.id}`](#{f.id.lower().replace('.', '')}) | {_cell(f.models)} | {TIERS[f.tier]} |" for f in formats]
    table = ["| id | models | found |", "|---|---|---|", *rows]
    return "\n".join([HEAD.format(count=len(formats)), *table, *(_section(format) for format in formats)]) + "\n"


def _section(format: Format | Messages) -> str:
    lines = ["", f"## `{format.id}`", "", *_facts(format), "", "Declared as:", "", _fenced(grammar(format), "toml")]
    for title, calls in (("One call:", ONE), ("Two calls:", TWO)):
        lines += ["", *_example(title, calls, format)]
    return "\n".join(lines)


def _facts(format: Format | Messages) -> Iterator[str]:
    """What a declaration says about the format, a line each."""
    if format.models:
        yield f"- Models: {format.models}"
    if format.aliases:
        yield f"- Other names: {', '.join(f'`{alias}`' for alias in format.aliases)}"
    if format.source:
        yield f"- The grammar is from {format.source}."
    yield f"- A call is found {TIERS[format.tier]}."
    blocks = format.thinking if isinstance(format, Format) else ()
    if blocks:
        pairs = [f"{_code(opener)} … {_code(closer)}" for block in blocks for opener, closer in block.pairs]
        yield f"- Reasoning: {', '.join(pairs)}" + ("; a call ends it too" if any(b.optional for b in blocks) else "")
    elif isinstance(format, Messages):
        thinking = [name for name, kind in format.channels.items() if kind == "reasoning"]
        named = [f"messages of {_code(name)}" if name else "messages to nobody" for name in thinking]
        named += [f"messages behind {_code(marker)}" for marker, kind in format.bodies.items() if kind == "reasoning"]
        if named:
            yield f"- Reasoning: {', '.join(named)}"
    if format.ends:
        yield f"- End of turn: {', '.join(map(_end, format.ends))}"
    if isinstance(format, Format) and format.section is not None and format.section.optional:
        yield f"- The section's markers ({_code(format.section.open)}) may be missing."
    if "{id}" in str(getattr(format, "call", "")):
        yield "- The wire carries the call's id."
    if format.about.get("notes"):
        yield f"- {format.about['notes']}"


def _end(end: Any) -> str:
    return f"{_code(end.open)} … {_code(end.close)}" if isinstance(end, Block) else _code(end)


def _example(title: str, calls: list[dict[str, Any]], format: Format | Messages) -> list[str]:
    try:
        return [title, "", _fenced(render(calls, format=format), "text")]
    except ToolglotError as error:
        return [f"{title} cannot be written ({error})."]


def _fenced(text: str, kind: str) -> str:
    """A block of code, with a fence longer than any in the text."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text.removesuffix(chr(10))}\n{fence}"


def _code(text: str) -> str:
    """Code inside a line, line breaks as `\\n`."""
    text = visible(text.replace("\n", "\\n"))
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
