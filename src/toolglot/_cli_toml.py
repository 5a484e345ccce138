"""Declarations as TOML, as `load_formats` reads them: to look at, or to begin one's own from.

The rule: what is written is read back as an equal declaration, whatever fields a declaration has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from toolglot import Block, Format, Messages

ABOUT = ("aliases", "models", "source", "notes")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^'\x00-\x1f\x7f\u00a0\u200b\u2060\ufffc]*")
_UNSEEN = re.compile(r"[\x7f\u00a0\u200b\u2060\ufffc]")  # with the letters of a marker that are not written


def declarations(formats: Iterable[Format | Messages]) -> str:
    """Formats as one TOML text: a table each, or the bare fields of a single one."""
    tables = [declaration(format) for format in formats]
    return tables[0] if len(tables) == 1 else "\n".join(f"[[format]]\n{table}" for table in tables)


def declaration(format: Format | Messages) -> str:
    """The fields of one format as lines of TOML, those left out that are as they are by default.

    >>> print(declaration(Format("ship", call="<<{name}>>{args:json}<</>>", ends=("<eos>",))), end="")
    id = "ship"
    call = "<<{name}>>{args:json}<</>>"
    ends = ["<eos>"]
    """
    about = dict(format.about)
    lines = [grammar(format)]
    for name in ABOUT:
        if name in about:
            text = about.pop(name)
            lines.append(f"{name} = {_toml(tuple(text.split()) if name == 'aliases' else text)}")
    if about:
        lines.append(f"about = {_toml(about)}")
    return "\n".join(lines) + "\n"


def grammar(format: Format | Messages) -> str:
    """The same without what is said about the format."""
    return "\n".join(f"{name} = {_toml(value)}" for name, value in _given(format) if name != "about")


def _given(value: Any) -> list[tuple[str, Any]]:
    """The fields of a dataclass that differ from their defaults."""
    pairs = [(field, getattr(value, field.name)) for field in fields(value) if field.init]
    return [(field.name, member) for field, member in pairs if member is not None and not _is_default(field, member)]


def _is_default(field: Field[Any], value: Any) -> bool:
    if field.default_factory is not MISSING:
        return bool(value == field.default_factory())
    return field.default is not MISSING and bool(value == field.default)


def visible(text: str) -> str:
    """The text with letters that are not seen as escapes.

    >>> visible("<call\\ufffc>")
    '<call\\\\ufffc>'
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _toml(value: Any) -> str:
    if isinstance(value, str):
        # A string with quotes is easier to read where nothing in it is escaped.
        if ('"' in value or "\\" in value) and _PLAIN.fullmatch(value):
            return f"'{value}'"
        return visible(json.dumps(value, ensure_ascii=False))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Block) and {name for name, _ in _given(value)} <= {"open", "close"}:
        return _toml((value.open, value.close))
    if is_dataclass(value):
        return _table(dict(_given(value)))
    if isinstance(value, Mapping):
        return _table(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value)


def _table(members: Mapping[str, Any]) -> str:
    pairs = [f"{key if _BARE_KEY.fullmatch(key) else _toml(key)} = {_toml(value)}" for key, value in members.items()]
    return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
