"""The rows of memory: what a reader takes above the reply itself, counted by `tracemalloc` apart from any clock.

The rule: the reply and its deltas exist before the count begins. "Times the reply" is in its own bytes in memory, where
one wide character makes all of them two bytes.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

from toolglot import parse

from .replies import READY, SIZES, Shape, cut, reply
from .rows import Row
from .streams import parser

WHOLE_GOAL, STREAMED_GOAL, IDLE_GOAL = 3, 6, 4.0


def peak(work: Callable[[], Any]) -> int:
    """Bytes that a piece of work holds at its highest, its result among them."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def memory_rows(formats: list[str], whole: str, streamed: str) -> list[Row]:
    """The highest memory of whole and of streamed replies."""
    rows = [
        Row(f"peak memory above the text, whole reply of {whole}, times the reply", WHOLE_GOAL),
        Row(f"peak memory above the text, streamed reply of {streamed}, times the reply", STREAMED_GOAL),
    ]
    for format in formats:
        rows[0].add(format, whole_peak(format, "text", SIZES[whole]))
        rows[1].add(format, streamed_peak(format, "text", SIZES[streamed]))
    return rows


def whole_peak(format: str, shape: Shape, size: int) -> float:
    """The highest memory of `parse`, in times of the reply."""
    text = reply(format, shape, size).text
    return peak(lambda: parse(text, READY, format=format)) / sys.getsizeof(text)


def streamed_peak(format: str, shape: Shape, size: int) -> float:
    """The same for a reply in deltas of four characters, with its result."""
    text = reply(format, shape, size).text
    deltas = cut(text)

    def work() -> Any:
        one = parser(format)
        for delta in deltas:
            one.feed(delta)
        one.finish()
        return one.result

    return peak(work) / sys.getsizeof(text)


def idle_rows(formats: list[str], count: int) -> list[Row]:
    """Memory of each of many parsers that stand in the middle of an argument of 2 KB."""
    title = f"{count:,} parsers open at once, memory of each when idle in an argument"
    rows = [
        Row(f"{title}, above the text that it has read", IDLE_GOAL, unit=" KB"),
        Row(f"{title}, with that text", None, unit=" KB"),
    ]
    for format in formats:
        above, whole = idle(format, count)
        rows[0].add(format, above)
        rows[1].add(format, whole)
    return rows


def idle(format: str, count: int) -> tuple[float, float]:
    """KB of each parser, without and with the text that it has read."""
    text = reply(format, "text", SIZES["2 KB"]).text
    text = text[: len(text) // 2]
    _opened(format, text)  # what is made once for all stays out
    gc.collect()
    tracemalloc.start()
    try:
        parsers = [_opened(format, text) for _ in range(count)]
        gc.collect()
        each = tracemalloc.get_traced_memory()[0] / count
    finally:
        tracemalloc.stop()
    assert len(parsers) == count
    return (each - sys.getsizeof(text)) / 1024, each / 1024


def _opened(format: str, text: str) -> Any:
    """A parser that has read a text; the deltas are its own, as they would be from a server."""
    one = parser(format)
    for delta in cut(text):
        one.feed(delta)
    return one
