"""What is said of each kind of schema error: expected, got, where.

The rule: the words are ours and short, made for a small model that has to do better next time; long values are cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_MOST = 60  # code points of a value that is shown
_SEVERAL = 12  # names or values that are listed
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")  # in the order in which they are said
_PLAIN_KEY = re.compile(r"[^\W\d][\w-]*")


def place(path: Iterable[str | int]) -> str:
    """A path as it is written in a sentence: `stops[0].harbour`."""
    out = ""
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            out += f".{part}" if out else part
        else:
            out += f"[{shown(part)}]"
    return out


def shown(value: Any) -> str:
    """A value as short JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"


def listed(texts: Iterable[str], joint: str = ", ") -> str:
    """Several texts, not too many."""
    items = list(texts)
    more = f"{joint}… ({len(items) - _SEVERAL} more)" if len(items) > _SEVERAL else ""
    return joint.join(items[:_SEVERAL]) + more


def types_of(wanted: Any) -> list[str]:
    """The types of a `type`, in one order."""
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    return sorted(names, key=lambda name: _TYPES.index(name) if name in _TYPES else len(_TYPES))


def _types(wanted: Any, value: Any) -> str:
    return f"expected {' or '.join(types_of(wanted))}, got {shown(value)}"


def _forms(wanted: Any, value: Any) -> str:
    """Of `anyOf` and `oneOf`: the types, where the forms differ in nothing else."""
    return _types(wanted, value) if wanted else f"{shown(value)} has none of the forms that are allowed"


_WORDS: Mapping[str, Callable[[Any, Any], str]] = {
    "type": _types,
    "anyOf": _forms,
    "oneOf": _forms,
    "enum": lambda wanted, value: f"expected one of {listed(map(shown, wanted))}, got {shown(value)}",
    "const": lambda wanted, value: f"expected {shown(wanted)}, got {shown(value)}",
    "minimum": lambda wanted, value: f"expected at least {wanted}, got {shown(value)}",
    "maximum": lambda wanted, value: f"expected at most {wanted}, got {shown(value)}",
    "exclusiveMinimum": lambda wanted, value: f"expected more than {wanted}, got {shown(value)}",
    "exclusiveMaximum": lambda wanted, value: f"expected less than {wanted}, got {shown(value)}",
    "multipleOf": lambda wanted, value: f"expected a multiple of {wanted}, got {shown(value)}",
    "minLength": lambda wanted, value: f"expected a length of at least {wanted}, got {len(value)}",
    "maxLength": lambda wanted, value: f"expected a length of at most {wanted}, got {len(value)}",
    "pattern": lambda wanted, value: f"expected text of the pattern {wanted}, got {shown(value)}",
    "minItems": lambda wanted, value: f"expected at least {wanted} items, got {len(value)}",
    "maxItems": lambda wanted, value: f"expected at most {wanted} items, got {len(value)}",
    "uniqueItems": lambda wanted, value: f"expected no item twice, got {shown(value)}",
    "minProperties": lambda wanted, value: f"expected at least {wanted} keys, got {len(value)}",
    "maxProperties": lambda wanted, value: f"expected at most {wanted} keys, got {len(value)}",
    "falseSchema": lambda wanted, value: f"expected nothing here, got {shown(value)}",
    "not": lambda wanted, value: f"{shown(value)} is not allowed",
}


def sentence(path: tuple[str | int, ...], kind: str, wanted: Any, arguments: Any, known: list[str], said: str) -> str:
    """The sentence of one error; `said` is the library's own, for a kind that has none here.

    >>> sentence(("days",), "minimum", 1, {"days": 0}, [], "")
    'days: expected at least 1, got 0'
    """
    if kind in ("required", "dependentRequired"):
        return f"{place((*path, wanted))} is missing"
    where = f"{place(path)}: " if path else ""
    if kind == "additionalProperties":
        names = f"; there is {listed(known)}" if known else ""
        return f"{where}unknown key {listed(map(shown, wanted))}{names}"
    words = _WORDS.get(kind)
    return f"{where}{words(wanted, _at(arguments, path)) if words is not None else said}"


def _at(value: Any, path: Iterable[str | int]) -> Any:
    for part in path:
        value = value[part]
    return value
