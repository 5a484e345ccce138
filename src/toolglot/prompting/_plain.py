"""A tool's schema as plain JSON, before any notation writes it.

The rule: what a notation gets is made of dicts with text as keys, lists, texts, numbers, booleans and None, and nests
no deeper than can be written. What cannot be made so is an error that names the tool and the place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolglot import ToolglotError

DEPTH = 256
"""How many levels a schema may have: a writer takes two frames of Python's stack for each."""


def plain_schema(schema: Mapping[str, Any], tool: str) -> dict[str, Any]:
    """The schema as plain JSON; keys that are numbers, booleans or None are written as JSON's own writer does.

    Raises `ToolglotError` for other keys, for values that are no JSON, and for what nests deeper than `DEPTH`.

    >>> plain_schema({"enum": ("a", "b"), 1: {}}, "f")
    {'enum': ['a', 'b'], '1': {}}
    """
    if not isinstance(schema, Mapping):
        raise ToolglotError(f"tool {tool!r}: expected its schema as a mapping, got {type(schema).__name__}")
    try:
        return {_key(key, tool, ()): _plain(value, tool, (str(key),)) for key, value in schema.items()}
    except RecursionError:  # the caller has left too little of the stack
        raise _too_deep(tool) from None


def _plain(value: Any, tool: str, path: tuple[str, ...]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            return str.__str__(value) if kind is str else kind(value)  # less what a class of one's own adds
    if len(path) >= DEPTH:
        raise _too_deep(tool)
    if isinstance(value, Mapping):
        return {_key(key, tool, path): _plain(inner, tool, (*path, str(key))) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, tool, (*path, str(index))) for index, inner in enumerate(value)]
    place = ".".join(path[:8])
    raise ToolglotError(
        f"tool {tool!r}: expected JSON in its schema, got {type(value).__name__} {value!r:.40} ({place})"
    )


def _key(key: object, tool: str, path: tuple[str, ...]) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or isinstance(key, bool | int | float):
        return json.dumps(key)
    place = ".".join(path[:8]) or "its top"
    raise ToolglotError(
        f"tool {tool!r}: expected text as a key of its schema, got {type(key).__name__} {key!r:.40} ({place})"
    )


def _too_deep(tool: str) -> ToolglotError:
    return ToolglotError(f"tool {tool!r}: its schema nests deeper than {DEPTH} levels, or holds itself")
