"""The row of hostile text: what twice the text costs, for every unit that the law "linear" counts lines on.

The rule: a step in the costs (a limit that the longer text passes) looks like a square, but only once; so where twice
the text is too dear, four times as much is measured as well and the lesser of the two ratios counts.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.hostile import UNITS
from toolglot import Parser, parse

from .clock import Budget, now, ratio
from .rows import Row

GOAL = 2.2
CHUNK = 16
SIZE = 16_000
"""Characters of the shorter text."""

SURE = Budget(0.3, 7, 60)
"""What the first look finds too dear is measured again for so long."""

_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "integer"}}}
TOOLS = [{"name": name, "input_schema": _SCHEMA} for name in ("save_note", "ping")]


def whole(text: str, format: str) -> None:
    """Read it whole."""
    parse(text, TOOLS, format=format)


def streamed(text: str, format: str) -> None:
    """Read it in pieces of 16 characters."""
    one = Parser(TOOLS, format=format)
    for at in range(0, len(text), CHUNK):
        one.feed(text[at : at + CHUNK])
    one.finish()


READINGS = {"whole": whole, "streamed": streamed}


def hostile_row(formats: list[str], size: int = SIZE) -> Row:
    """Each unit for each format and `auto`, whole and streamed."""
    row = Row(f"hostile text of {size:,} characters, doubling the size", GOAL)
    for format in [*formats, "auto"]:
        for reading in READINGS:
            for name, unit in UNITS.items():
                row.add(f"{format}, {reading}, {name}", growth(format, reading, unit, size))
    return row


def growth(format: str, reading: str, unit: str, size: int) -> float:
    """The time of twice the text in times of that of the text."""
    read = READINGS[reading]
    once, twice, four = (unit * (size // len(unit) * n) for n in (1, 2, 4))

    def times(longer: str, shorter: str) -> float:
        return ratio(lambda: read(longer, format), lambda: read(shorter, format), SURE)

    found = first_look(lambda: read(once, format), lambda: read(twice, format))
    if found > GOAL:
        found = times(twice, once)
    return min(found, times(four, twice)) if found > GOAL else found


def first_look(once: Callable[[], None], twice: Callable[[], None]) -> float:
    """The lesser of two times of each, in turn."""
    shorter, longer = (), ()
    for _ in range(2):
        begin = now()
        once()
        middle = now()
        twice()
        shorter, longer = (*shorter, middle - begin), (*longer, now() - middle)
    return min(longer) / min(shorter)
