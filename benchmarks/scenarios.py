"""The hot paths whose instructions are counted, and the reference that they are told in.

The rule: a scenario does the same work each time; what it needs (texts, parsers that already stand in an argument) is
made before the count begins, and all of it has run before, so that nothing is done for the first time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import chain

from toolglot import Parser, parse

from .clock import Empty
from .replies import READY, SIZES, Shape, cut, prose, reply

Prepare = Callable[[], Callable[[], object]]
"""Makes the work ready and gives it."""

WHOLE = ("hermes", "qwen3_xml", "pythonic", "mistral_v11", "harmony")
TIMES = 3
"""How often a whole reply is read."""

HEAD = 200
"""Deltas before those that are counted: the machine is in the argument."""

COUNTED = 400
"""Deltas that are counted."""


def whole(format: str, named: str) -> Prepare:
    """A whole reply of 2 KB."""

    def prepare() -> Callable[[], object]:
        text = reply(format, "text", SIZES["2 KB"]).text

        def work() -> None:
            for _ in range(TIMES):
                parse(text, READY, format=named)

        return work

    return prepare


def streamed(format: str, named: str, shape: Shape) -> Prepare:
    """Deltas inside of an argument."""

    def prepare() -> Callable[[], object]:
        deltas = cut(reply(format, shape, 4_000).text)
        return _feeding(named, deltas[:HEAD], deltas[HEAD : HEAD + COUNTED])

    return prepare


def spoken(named: str) -> Prepare:
    """Deltas of prose."""

    def prepare() -> Callable[[], object]:
        deltas = cut(prose(4_000))
        return _feeding(named, deltas[:HEAD], deltas[HEAD : HEAD + COUNTED])

    return prepare


def _feeding(named: str, head: list[str], deltas: list[str]) -> Callable[[], object]:
    feed = Parser(READY, format=named).feed
    for delta in head:
        feed(delta)

    def work() -> None:
        for delta in deltas:
            feed(delta)

    return work


def reference() -> Callable[[], object]:
    """What every interpreter does at about the same cost: calls, lists, searches, and the decoder of the library."""
    text, rows = (reply("hermes", shape, SIZES["2 KB"]).json for shape in ("text", "rows"))
    push, plain = Empty().push, re.compile(r"[^\"\\]*").fullmatch
    deltas = cut(text)

    def work() -> None:
        for _ in range(10):
            json.loads(text)
            json.loads(rows)
            kept: list[tuple[int, str]] = []
            at = 0
            for delta in deltas:
                push(delta)
                if "<" not in delta and plain(delta):
                    kept.append((at, delta))
                at += len(delta)
            "".join(chain.from_iterable(piece for _, piece in kept))

    return work


REFERENCE = "reference"
SCENARIOS: dict[str, Prepare] = {
    "nothing": lambda: lambda: None,
    REFERENCE: reference,
    **{f"whole, {format}": whole(format, format) for format in WHOLE},
    "whole, hermes under auto": whole("hermes", "auto"),
    "delta in a string, hermes": streamed("hermes", "hermes", "text"),
    "delta in a string, hermes under auto": streamed("hermes", "auto", "text"),
    "delta in a string, pythonic": streamed("pythonic", "pythonic", "text"),
    "delta in a raw value, qwen3_xml": streamed("qwen3_xml", "qwen3_xml", "text"),
    "delta in dense JSON, hermes": streamed("hermes", "hermes", "rows"),
    "delta in prose, hermes": spoken("hermes"),
    "delta in prose under auto": spoken("auto"),
}
