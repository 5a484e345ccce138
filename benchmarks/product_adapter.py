"""The hook by which a bench that compares parsers runs toolglot.

The bench is a folder with `run.py`, `adapters.py` and `corpus.py`; it looks for a module of this name. With both on
the path it finds it, here from the root of the project:

    PYTHONPATH=benchmarks python BENCH/run.py complete toolglot
    PYTHONPATH=benchmarks python BENCH/run.py stream toolglot --n=4

The rule: nothing is kept or cut short here, so that what is timed is `parse` and `Parser` as they are.
"""

from typing import Any

import adapters
import corpus

from toolglot import ArgumentsDelta, CallBegin, Event, Parser, Tools, parse

IDS = {"mistral": "mistral_v11"}
"""Our ids for the bench's names, where they differ: it writes Mistral's calls as from version 11 on."""

TOOLS = Tools(corpus.TOOLS)
"""Made ready once, as by anyone who reads more than one reply."""

BEGUN, ARGUMENTS = 1, 2
"""The bench's words for the two events that it reads."""


def complete(format: str, text: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a whole reply."""
    result = parse(text, TOOLS, format=IDS.get(format, format))
    return [(call.name, call.arguments) for call in result.calls]


class Push:
    """A `Parser` that tells the bench's events."""

    __slots__ = ("feed", "parser")

    def __init__(self, format: str) -> None:
        self.parser = Parser(TOOLS, format=IDS.get(format, format))
        self.feed = self.parser.feed

    def push(self, delta: str) -> list[tuple[int, int, str]]:
        events = self.feed(delta)
        if len(events) == 1 and type(event := events[0]) is ArgumentsDelta:
            return [(ARGUMENTS, event.index, event.text)]
        return told(events)

    def finish(self) -> list[tuple[int, int, str]]:
        return told(self.parser.finish())


def told(events: list[Event]) -> list[tuple[int, int, str]]:
    out = []
    for event in events:
        kind = type(event)
        if kind is ArgumentsDelta:
            out.append((ARGUMENTS, event.index, event.text))
        elif kind is CallBegin:
            out.append((BEGUN, event.index, event.name))
    return out


adapters.add("toolglot", corpus.FORMATS, complete, Push)
