"""Reads, walks and writes nested values without Python's stack.

The rule: how deep a value nests never decides whether it can be read. The standard library's own reader and writer come
first, since they are quick; where a caller has left them too little stack, a loop does the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
_PLAIN = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")
_END: Any = object()


def loads(text: str, decoder: json.JSONDecoder = _PLAIN) -> Any:
    """The value of a strict JSON text. Raises ValueError if it is none.

    >>> loads('{"a": [1, null]}')
    {'a': [1, None]}
    """
    try:
        return decoder.decode(text)
    except RecursionError:
        return _loads(text, decoder)


def _loads(text: str, decoder: json.JSONDecoder) -> Any:
    """The same in a loop. Each code point is visited once."""
    containers: list[Any] = []  # those that are open, outermost first
    keys: list[str] = []  # of the open objects
    at = _skip(text, 0)
    while True:
        char = text[at : at + 1]
        value: Any = {} if char == "{" else []
        if char and char in "{[":
            at = _skip(text, at + 1)
            if text[at : at + 1] != "}]"[char == "["]:
                containers.append(value)
                if char == "{":
                    at = _key(text, at, decoder, keys)
                continue
            at += 1
        else:
            value, at = decoder.raw_decode(text, at)
        while containers:
            container = containers[-1]
            at = _skip(text, at)
            char = text[at : at + 1]
            if isinstance(container, dict):
                container[keys.pop()] = value
            else:
                container.append(value)
            if char == ",":
                at = _skip(text, at + 1)
                if isinstance(container, dict):
                    at = _key(text, at, decoder, keys)
                break
            if char != ("}" if isinstance(container, dict) else "]"):
                raise ValueError(f"Expected ',' or a closing bracket at {at}")
            at += 1
            value = containers.pop()
        else:
            if _skip(text, at) < len(text):
                raise ValueError(f"Expected the end of the value at {at}")
            return value


def _key(text: str, at: int, decoder: json.JSONDecoder, keys: list[str]) -> int:
    """Read a key and its colon; returns where the value stands."""
    if not text.startswith('"', at):
        raise ValueError(f"Expected a key at {at}")
    key, at = decoder.raw_decode(text, at)
    keys.append(key)
    at = _skip(text, at)
    if not text.startswith(":", at):
        raise ValueError(f"Expected ':' at {at}")
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()


def fold(value: Any, leaf: Callable[[Any], T], whole: Callable[[Any, list[T]], T]) -> T:
    """What becomes of a value from its leaves up: `whole` gets a dict or list, and what became of its values.

    >>> fold([1, {"a": 2}], lambda n: n, lambda container, parts: sum(parts))
    3
    """
    waiting: list[tuple[Any, Iterator[Any], list[T]]] = []
    while True:
        if isinstance(value, dict | list | tuple):
            waiting.append((value, iter(value.values() if isinstance(value, dict) else value), []))
        elif not waiting:
            return leaf(value)
        else:
            waiting[-1][2].append(leaf(value))
        while True:
            container, rest, parts = waiting[-1]
            value = next(rest, _END)
            if value is not _END:
                break
            waiting.pop()
            made = whole(container, parts)
            if not waiting:
                return made
            waiting[-1][2].append(made)


def dumps(value: Any, **options: Any) -> str:
    """As `json.dumps`.

    >>> dumps({"b": 1, "a": [True]}, sort_keys=True)
    '{"a": [true], "b": 1}'
    """
    try:
        return json.dumps(value, **options)
    except RecursionError:
        return fold(value, lambda leaf: json.dumps(leaf, **options), lambda c, parts: _dumped(c, parts, options))


def _dumped(container: Any, parts: list[str], options: dict[str, Any]) -> str:
    if not isinstance(container, dict):
        return f"[{', '.join(parts)}]"
    members = list(zip(container, parts, strict=True))
    if options.get("sort_keys"):
        members.sort(key=lambda member: member[0])
    return "{" + ", ".join(json.dumps({key: 0}, **options)[1:-2] + part for key, part in members) + "}"


def is_deeper(value: Any, limit: int) -> bool:
    """Whether a value has more levels of containers than that.

    >>> is_deeper([[]], 1), is_deeper([[]], 2)
    (True, False)
    """
    waiting = [iter((value,))]
    while waiting:
        value = next(waiting[-1], _END)
        if value is _END:
            waiting.pop()
        elif isinstance(value, dict | list | tuple):
            if len(waiting) > limit:
                return True
            waiting.append(iter(value.values() if isinstance(value, dict) else value))
    return False
