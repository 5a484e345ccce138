"""Reads a whole container at once with the standard library's JSON scanner, where nothing about it needs a thought.

The rule: what is read here is strict JSON (or Python that differs from it in quotes and constants alone), holds no key
twice and no number that cannot be kept; where that is not sure the answer is None, and the readers by characters read.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

Scan: TypeAlias = Callable[[str, int], tuple[Any, int]]
Scanned: TypeAlias = tuple[Any, int, bool]
"""A value, its end, and whether it is known to keep within the levels that are read."""

MOST_LEVELS = 512  # of one value (ruling 25)
SAMPLE = 128  # code points in which a second object tells that many small ones follow
SHORT = 500  # code points of a text that is searched sooner than its values are looked at
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_big_exponent, _big_capital_exponent = (re.compile(rf"{e}(?<=[0-9]{e})\+?[0-9]{{3}}").search for e in "eE")
"""What stands in a number with an exponent that no float can hold; the letter comes first, for then it is looked for at
the speed of `str.find`."""
_EACH, _LOOKS = 32, 6
_digit_runs = re.compile(f"[0-9]{{{_LOOKS},}}").finditer
"""Of 210 digits in a row, which overflow with an exponent of two digits, each 32nd is one: six at least."""
MOST_ESCAPED = 6
"""Code points of JSON that one code point of a reply makes at the most."""
MAX_DIGITS = 4300
"""Of an integer: Python reads and prints no longer one, unless it is told to."""
_HUGE = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}")
_PLAIN = re.compile(r"[^\"\\]*+")
_SLICE = 32768
_INFINITE = (float("inf"), float("-inf"))


class _Decoder(json.JSONDecoder):
    """The standard library's decoder; `scan_once` is its scanner, without a layer of Python around it."""

    scan_once: Scan


class _Unfit(ValueError):
    """The text is not for the short cut."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Unfit
    return members


def _finite(text: str) -> float:
    value = float(text)
    if value in _INFINITE or len(text) > MAX_DIGITS:
        raise _Unfit
    return value


def _constant(text: str) -> None:
    raise _Unfit


_scan: Scan = _Decoder(object_pairs_hook=_pairs, parse_float=_finite, parse_constant=_constant).scan_once
_scan_dense: Scan = _Decoder(parse_constant=_constant).scan_once
_NO_JSON = (ValueError, StopIteration, RecursionError)


def json_at(text: str, start: int) -> tuple[Any, int] | None:
    """The JSON container at start and its end; None where the machine must decide: no JSON, a key that stands
    twice, a number that cannot be kept, or too deep a nesting."""
    found = scanned_at(text, start)
    if found is None:
        return None
    value, end, level = found
    return (value, end) if (level or shallow(value, text, start, end)) and keeps_integers(text, start, end) else None


def scanned_at(text: str, start: int) -> Scanned | None:
    """The same, but for the nesting and for integers of more digits than are read elsewhere."""
    try:
        if len(text) - start > SHORT and text.find('{"', start + 1, start + SAMPLE) >= 0:
            return _dense_at(text, start)
        value, end = _scan(text, start)
    except _NO_JSON:
        return None
    return value, end, False


def keeps_integers(text: str, start: int, end: int) -> bool:
    """Whether no integer is longer than is read elsewhere: Python itself may have been told to read longer ones."""
    if end - start <= MAX_DIGITS or 0 < sys.get_int_max_str_digits() <= MAX_DIGITS:
        return True
    return _HUGE.search(text, start, end) is None


def _dense_at(text: str, start: int) -> Scanned | None:
    """The same for a text of many small objects, where a call for each of them costs more than a look at all."""
    value, end = _scan_dense(text, start)
    levels, keys = survey(value, openers(text, start, end))
    if levels > MOST_LEVELS:
        return None
    # As many colons as keys say that no key stands twice: each key that was written has one.
    if keys != text.count(":", start, end) or _may_overflow(text, start, end):
        value, end = _scan(text, start)
    return value, end, True


def _may_overflow(text: str, start: int, end: int) -> bool:
    """Whether a number may be past what a float holds, or longer than is read: true of all such, and of hardly any
    other text."""
    if _big_exponent(text, start, end) is not None:
        return True
    if text.find("E", start, end) >= 0 and _big_capital_exponent(text, start, end) is not None:
        return True
    for found in _digit_runs(text[start:end:_EACH]):
        for at in range(start + found.start() * _EACH, start + (found.end() - _LOOKS + 1) * _EACH, _EACH):
            if text[at : at + (_LOOKS - 1) * _EACH + 1].isdecimal():
                return True
    return False


def openers(text: str, start: int, end: int) -> int:
    """At least as many as there are containers."""
    return text.count("{", start, end) + text.count("[", start, end)


def survey(value: Any, most: int) -> tuple[int, int]:
    """The levels of a value, and how many keys it holds all the way down. When as many containers as there can be are
    seen, what they hold is not looked at."""
    levels = keys = 0
    here: list[Any] = [value]
    while here:
        levels += 1
        keys += sum([len(c) for c in here if type(c) is dict])
        most -= len(here)
        if most <= 0:
            break
        here = [v for c in here for v in (c.values() if type(c) is dict else c) if type(v) is dict or type(v) is list]
    return levels, keys


def shallow(value: Any, text: str, start: int, end: int) -> bool:
    """Whether a value keeps within the levels that are read."""
    if end - start <= 2 * MOST_LEVELS:  # a level is two brackets
        return True
    most = openers(text, start, end)
    return most <= MOST_LEVELS or survey(value, most)[0] <= MOST_LEVELS


def paired(text: str, value: dict[str, Any]) -> bool:
    """Whether no half of a surrogate pair is spelled in a JSON text: of ASCII values none is."""
    if len(text) <= SHORT:  # then the search costs less than a look at the values
        return SURROGATE.search(text) is None
    for item in (*value, *value.values()):
        kind = type(item)
        if kind is str:
            if item.isascii():
                continue
            try:
                item.encode("utf-16-le")
            except UnicodeEncodeError:
                return False
        elif kind is dict or kind is list:
            return SURROGATE.search(text) is None
    return True


def python_at(text: str, start: int) -> tuple[Any, str, int] | None:
    """The Python list or dict at start whose strings hold no quotes and no escapes, its JSON text and its end.

    Such a literal is JSON but for its quotes and its constants. What is looked at doubles until the literal ends in
    it, so that its own length decides the cost, and not that of the text behind it.
    """
    size, length = len(text), SAMPLE
    while True:
        literal = text[start : start + length]
        plain = _PLAIN.match(literal)
        assert plain is not None
        read = _respelled(plain.group(), start)
        if read is not None or start + length >= size or plain.end() < len(literal):
            return read
        length *= 4


def flat_python_at(text: str, start: int, closer: str) -> tuple[Any, str, int] | None:
    """The same of a container that ends at the first closer: so nothing behind that is looked at."""
    stop = text.find(closer, start)
    literal = text[start : stop + 1]
    return None if '"' in literal or "\\" in literal else _respelled(literal, start)


def _respelled(literal: str, start: int) -> tuple[Any, str, int] | None:
    pieces: list[str] = []
    at, size = 0, len(literal)
    while at < size:  # in slices that begin and end outside of strings, since the parts of a slice are many
        end = literal.find("'", at + _SLICE) if at + _SLICE < size else size
        if end < 0:
            end = size
        elif end < size and literal.count("'", at, end) % 2:
            end += 1
        pieces.append(_respelled_slice(literal[at:end]))
        at = end
    spelled = pieces[0] if len(pieces) == 1 else "".join(pieces)
    read = json_at(spelled, 0)
    return None if read is None else (read[0], spelled[: read[1]], start + read[1])


def _respelled_slice(literal: str) -> str:
    parts = literal.split("'")
    bare = "'".join(parts[::2])
    if "True" in bare or "False" in bare or "None" in bare:
        bare = bare.replace("True", "true").replace("False", "false").replace("None", "null")
        parts[::2] = bare.split("'")
    return '"'.join(parts)
