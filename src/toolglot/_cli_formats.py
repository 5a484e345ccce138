"""`toolglot formats`: what every declaration says, with an example written from it.

The rule: nothing about a format is known here; what its declaration does not say is not shown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from toolglot import Block, Format, Messages, ToolglotError, render

from ._cli_markdown import page
from ._cli_show import HEAD, NOTE, Screen, write_json
from ._cli_toml import declarations, visible

EXAMPLE = [{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}]

# The fields of `Format` and `Messages` that say what is written, in the order in which they are shown.
GRAMMAR = (
    *("section", "call", "separator", "param", "param_separator", "reasoning"),
    *("starts", "recipient", "body", "write", "ends"),
)


def run(arguments: argparse.Namespace, chosen: Sequence[Format | Messages]) -> int:
    """List the formats: for people, as JSON, as TOML, or as a page of documentation."""
    if arguments.toml or arguments.markdown:
        sys.stdout.write(declarations(chosen) if arguments.toml else page(chosen))
        return 0
    rows = [_format_to_dict(format) for format in chosen]
    if arguments.json:
        write_json(rows)
        return 0
    screen = Screen(sys.stdout)
    for row in rows:
        aliases = f" ({', '.join(row['aliases'])})" if row["aliases"] else ""
        screen.line(screen.paint(row["id"], HEAD) + aliases + screen.paint(f"  tier {row['tier']}", NOTE))
        for key in ("models", "source"):
            if row[key]:
                screen.line(f"  {key:<15}  {row[key]}")
        for key, value in row["grammar"].items():
            screen.line(f"  {key:<15}  {_in_words(value)}")
        for at, line in enumerate(row["example"].split("\n")):
            screen.line(f"  {'' if at else 'example':<15}  {line}".rstrip())
        screen.line()
    if not arguments.names and not arguments.format_file:
        screen.line("auto (the default) reads them all: tagged formats first, then JSON, then call syntax.")
    return 0


def _format_to_dict(format: Format | Messages) -> dict[str, Any]:
    """What a declaration says, and an example written from it."""
    return {
        "id": format.id,
        "aliases": list(format.aliases),
        "models": format.models,
        "source": format.source,
        "tier": getattr(format, "tier", "tagged"),
        "grammar": _grammar(format),
        "example": _example(format),
    }


def _grammar(format: Format | Messages) -> dict[str, Any]:
    """The templates and markers of a declaration, as it gives them; a block as the pair of its markers."""
    members = ((name, _plain(getattr(format, name, None))) for name in GRAMMAR)
    return {name: value for name, value in members if value}


def _plain(value: Any) -> Any:
    """A part of a declaration as plain data."""
    if isinstance(value, (Format, Messages)):
        return _grammar(value)
    if isinstance(value, Block):
        return [value.open, value.close]
    if isinstance(value, Mapping):
        return dict(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _in_words(value: Any) -> str:
    """A part of a grammar on one line, line breaks as `\\n`."""
    if isinstance(value, str):
        return visible(value.replace("\n", "\\n"))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_in_words(member)}" for key, member in value.items())
    between = "  " if all(isinstance(item, list) for item in value) else " … "
    return between.join(_in_words(item) for item in value if item)


def _example(format: Format | Messages) -> str:
    try:
        return render(EXAMPLE, format=format)
    except ToolglotError as error:
        return f"(cannot be written: {error})"
