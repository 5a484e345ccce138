"""The rows of whole replies: `parse` in times of `json.loads` of the arguments alone.

The rule: both start from text and end with the same dictionary, and every answer is checked before it is timed.
"""

from __future__ import annotations

import functools
import json

from toolglot import parse, render

from .clock import FULL, Budget, ratio
from .replies import BLOCK, KINDS, NAME, READY, SIZES, TOOLS, Kind, Reply, kind, read_whole, reply
from .rows import Row

GOALS: dict[Kind, tuple[float, float]] = {"JSON-valued": (2.5, 1.4), "XML-like": (5, 2.5), "pythonic": (8, 5)}
"""At 200 B, and from 2 KB."""

BATCH, BATCH_SIZE, BATCH_GOAL = 500, 300, 2.5


def whole_rows(formats: list[str], sizes: list[str], budget: Budget = FULL) -> list[Row]:
    """Whole replies, a row for small and one for larger ones of each kind of format."""
    rows = {}
    for k, (at_200, from_2000) in GOALS.items():
        rows[k] = Row(f"whole reply of 200 B, {k}", at_200), Row(f"whole reply from 2 KB, {k}", from_2000)
    for format in formats:
        small, large = rows[kind(format)]
        for size in sizes:
            for shape in ("text", "rows"):
                row = small if size == "200 B" else large
                label = f"{format}, {shape}" + ("" if size == "200 B" else f", {size}")
                given = reply(format, shape, SIZES[size])
                if read_whole(given):
                    row.add(label, times_loads(given, budget))
                else:
                    row.wrong.append(label)
    return [row for pair in rows.values() for row in pair if row.figures or row.wrong]


def times_loads(given: Reply, budget: Budget = FULL) -> float:
    """The time of `parse` in times of `json.loads` of the arguments."""
    text, format, written = given.text, given.format, given.json
    return ratio(lambda: parse(text, READY, format=format), lambda: json.loads(written), budget)


def spelled_row(formats: list[str], budget: Budget = FULL) -> Row:
    """Whole replies of formats whose `arguments_json` is made when it is asked for, with that; without a goal."""
    row = Row("whole reply of 2 KB, XML-like, with the arguments as JSON text too", None)
    for format in formats:
        given = reply(format, "text", SIZES["2 KB"])
        if kind(format) == "XML-like" and read_whole(given):
            row.add(format, _times_loads_spelled(given, budget))
    return row


def _times_loads_spelled(given: Reply, budget: Budget) -> float:
    text, format, written = given.text, given.format, given.json
    return ratio(lambda: parse(text, READY, format=format).calls[0].arguments_json, lambda: json.loads(written), budget)


def auto_row(formats: list[str], budget: Budget = FULL) -> Row:
    """Whole replies under `auto`, in times of the named format; without a goal."""
    row = Row('whole reply of 2 KB under format="auto", times the named format', None)
    for format in formats:
        given = reply(format, "text", SIZES["2 KB"])
        if read_whole(given, "auto"):
            auto, named = (functools.partial(parse, given.text, TOOLS, format=f) for f in ("auto", format))
            row.add(format, ratio(auto, named, budget))
    return row


def batch_rows(formats: list[str], budget: Budget = FULL, count: int = BATCH) -> list[Row]:
    """Many different short replies one after the other; the goal is that of JSON-valued formats."""
    title = "300-byte replies in one process"
    rows = {k: Row(f"{title}, {k}", BATCH_GOAL if k == "JSON-valued" else None) for k in KINDS}
    for format in formats:
        given = short_replies(format, count)
        if all(map(read_whole, given)):
            rows[kind(format)].add(format, batch(given, budget))
        else:
            rows[kind(format)].wrong.append(format)
    return [row for row in rows.values() if row.figures or row.wrong]


def batch(given: list[Reply], budget: Budget = FULL) -> float:
    """The time of reading all of them in times of `json.loads` of all their arguments."""
    format, texts, written = given[0].format, [g.text for g in given], [g.json for g in given]

    def ours() -> None:
        for text in texts:
            parse(text, READY, format=format)

    def loads() -> None:
        for text in written:
            json.loads(text)

    return ratio(ours, loads, budget)


def short_replies(format: str, count: int) -> list[Reply]:
    """Replies of about 300 bytes, each with other values."""
    length = len(reply(format, "text", BATCH_SIZE).arguments["body"])
    made = []
    for n in range(count):
        body = (BLOCK + BLOCK)[n % len(BLOCK) :][:length].strip() or "x"
        given = {"path": f"charts/south_{n}.py", "copies": n, "body": body}
        text = render([{"name": NAME, "arguments": given}], format=format)
        made.append(Reply(format, "text", text, given, json.dumps(given, ensure_ascii=False)))
    return made
