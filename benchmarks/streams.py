"""The rows of streamed replies: a delta in times of an empty method call, and whether it stays so.

The rule: deltas of four characters, cut anywhere. A window of them goes to each side in turn. The stream is checked
once more outside of the clock.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Sequence
from time import perf_counter as wall

from toolglot import Parser, Text

from .clock import Empty, fed, now, windows
from .replies import FIRST, LAST, READY, SIZES, Reply, Shape, cut, prose, read_streamed, reply
from .rows import Row

SHAPES: tuple[Shape, ...] = ("text", "rows")
GOALS: dict[Shape, float] = {"text": 20, "rows": 35}
FLAT_GOAL, SPIKE_GOAL, AUTO_GOAL, PROSE_GOAL = 1.2, 50, 1.5, 12

WINDOW = 512
"""Deltas that are timed together: half of what passes between two of the parser's own accounts (4,096 characters)."""

HEAD = 1_000
"""Characters after which a reply is surely in its argument."""


def parser(format: str) -> Parser:
    """A parser for the tools of the replies."""
    return Parser(READY, format=format)


def in_turn(given: Reply, formats: Sequence[str]) -> tuple[list[list[float]], list[float]]:
    """Seconds of each window of a reply for a parser of each of these formats, and for empty calls."""
    parsers = [parser(f) for f in formats]
    times: list[list[float]] = [[] for _ in formats]
    floor: list[float] = []
    push = Empty().push
    for window in windows(cut(given.text), WINDOW):
        for one, found in zip(parsers, times, strict=True):
            found.append(fed(one.feed, window))
        floor.append(fed(push, window))
    for one, found in zip(parsers, times, strict=True):
        begin = now()
        one.finish()
        found[-1] += now() - begin
    return times, floor


def inner(values: list[float]) -> list[float]:
    """The windows that lie inside of the argument: not the first, and not the last two."""
    return values[1:-2] or values


def inside_rows(formats: list[str], size: str, rounds: int) -> list[Row]:
    """The cost of a delta inside of string arguments and of dense JSON, and what `auto` adds to it."""
    rows = {s: Row(f"4-character deltas inside {_words(s)}, in empty method calls", GOALS[s]) for s in SHAPES}
    whole = {s: _average(s, size) for s in SHAPES}
    auto = Row('a delta in a string argument under format="auto", times the named format', AUTO_GOAL)
    for format in formats:
        for shape in SHAPES:
            given = reply(format, shape, SIZES[size])
            if not read_streamed(given):
                rows[shape].wrong.append(format)
                continue
            also = ["auto"] if shape == "text" and read_streamed(given, "auto") else []
            steady, average, added = [], [], []
            for _ in range(rounds):
                times, floor = in_turn(given, [format, *also])
                steady += _ratios(inner(times[0]), inner(floor))
                average.append(sum(times[0]) / sum(floor))
                added += _ratios(inner(times[-1]), inner(times[0]))
            rows[shape].add(format, statistics.median(steady))
            whole[shape].add(format, statistics.median(average))
            if also:
                auto.add(format, statistics.median(added))
    return [*rows.values(), *whole.values(), auto]


def short_rows(formats: list[str], rounds: int) -> list[Row]:
    """The average over a whole reply of 2 KB; the parser is made outside of the clock."""
    rows = [_average(s, "2 KB") for s in SHAPES]
    push = Empty().push
    for format in formats:
        for shape, row in zip(SHAPES, rows, strict=True):
            deltas = cut(reply(format, shape, SIZES["2 KB"]).text)
            found = []
            for _ in range(rounds):
                one = parser(format)
                begin = now()
                for delta in deltas:
                    one.feed(delta)
                one.finish()
                found.append((now() - begin) / fed(push, deltas))
            row.add(format, statistics.median(found))
    return rows


def flat_row(formats: list[str], size: str, rounds: int) -> Row:
    """The cost of a delta far inside of an argument over that of one near its start."""
    row = Row(f"cost of a delta at {size} over that at 2 KB", FLAT_GOAL)
    for format in formats:
        for shape in SHAPES:
            row.add(f"{format}, {shape}", flatness(format, shape, SIZES[size], rounds))
    return row


def flatness(format: str, shape: Shape, size: int, rounds: int) -> float:
    """Windows of the last deltas of one long reply, in turn with those behind the first 1,000 characters of others."""
    deltas = cut(reply(format, shape, size).text)
    near = deltas[: (HEAD + 8 * WINDOW) // 4]
    head, window = near[: HEAD // 4], near[HEAD // 4 :]
    last = len(deltas) - HEAD // 4
    first = last - rounds * len(window)
    far = parser(format)
    for delta in cut("".join(deltas[:first]), size=64):
        far.feed(delta)
    found = []
    for at in range(first, last, len(window)):
        start = parser(format)
        for delta in head:
            start.feed(delta)
        found.append(fed(far.feed, deltas[at : at + len(window)]) / fed(start.feed, window))
    return statistics.median(found)


def spike_row(formats: list[str], size: str, runs: int) -> Row:
    """The dearest delta of a long argument over the one in the middle."""
    row = Row(f"any one delta but the last of a {size} argument, times the median", SPIKE_GOAL)
    for format in formats:
        row.add(format, spike(reply(format, "text", SIZES[size]), runs))
    return row


def spike(given: Reply, runs: int) -> float:
    """Each delta's least time of several runs, from the start of the long argument's text to its end.

    What comes before (the name, short arguments, keys) and behind (the delta that ends the argument, and the markers)
    is not among them.

    On the wall: asking for the process's own time costs as much as a delta.
    """
    deltas = cut(given.text)
    starts, ends = given.text.index(FIRST) // 4, (given.text.rindex(LAST) + len(LAST)) // 4
    least = [float("inf")] * len(deltas)
    for _ in range(runs):
        gc.collect()
        gc.freeze()
        feed, times = parser(given.format).feed, [0.0] * len(deltas)
        for i, delta in enumerate(deltas):
            begin = wall()
            feed(delta)
            times[i] = wall() - begin
        least = list(map(min, least, times))
        gc.unfreeze()
    return max(least[starts:ends]) / statistics.median(least)


def prose_row(formats: list[str], size: int, rounds: int) -> Row:
    """Prose that holds no call, for each format and for `auto`."""
    row = Row("prose without a call, 4-character deltas, in empty method calls", PROSE_GOAL)
    given = Reply("", "text", prose(size), {}, "")
    for format in [*formats, "auto"]:
        if not _is_prose(given.text, format):
            row.wrong.append(format)
            continue
        found: list[float] = []
        for _ in range(rounds):
            (times,), floor = in_turn(given, [format])
            found += _ratios(times, floor)
        row.add(format, statistics.median(found))
    return row


def _is_prose(text: str, format: str) -> bool:
    one = parser(format)
    events = [e for delta in cut(text) for e in one.feed(delta)] + one.finish()
    return all(isinstance(e, Text) for e in events) and "".join(e.text for e in events if isinstance(e, Text)) == text


def _average(shape: Shape, size: str) -> Row:
    return Row(f"4-character deltas, average over a whole reply of {size}, {_words(shape)}", None)


def _ratios(times: list[float], floor: list[float]) -> list[float]:
    return [a / b for a, b in zip(times, floor, strict=True)]


def _words(shape: Shape) -> str:
    return "string arguments" if shape == "text" else "dense JSON"
