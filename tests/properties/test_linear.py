"""The law "linear", without a clock: lines of Python run are counted on a hostile text and on one twice as long.

What C code does inside one line (a search, a slice) is not seen here; the hostile runs of the benchmarks time that.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile import UNITS
from tests.properties.strategies import TOOLS, every_format, markers_of
from tests.shared import lines_run
from toolglot import Parser, Reasoning, Text, ToolglotError, formats, parse, render

MOST = 2.3  # twice the text may cost this many times the lines
CHUNK = 16


CLOSER = re.compile(r"Quokka\s*<[^<>]*>")
"""A value and the closer behind it."""


def whole(text: str, format: Any) -> None:
    parse(text, TOOLS, format=format)


def streamed(text: str, format: Any) -> None:
    parser = Parser(TOOLS, format=format)
    for at in range(0, len(text), CHUNK):
        parser.feed(text[at : at + CHUNK])
    parser.finish()


# The readings, and the characters of the shortest text: enough chunks for a rescan of each to show.
READINGS = {"whole": (whole, 800), "streamed": (streamed, 1_600)}


# Inside a string argument only these are tried again.
INSIDE = (
    "open angles",
    "open braces",
    "double quotes",
    "single quotes",
    "backslashes",
    "escaped quotes",
    "commas",
    "blanks",
    "line breaks",
    "letters",
    "thoughts",
    "tool call openers",
    "tool call closers",
    "parameters",
    "undeclared parameters",
    "parameter closers",
    "argument closers",
    "argument keys",
    "control halves",
)


def hostile(format: Any) -> dict[str, tuple[str, str]]:
    """Texts as an opening and what is repeated after it."""
    named = formats() if format == "auto" else [format]
    markers = dict.fromkeys(text for f in named for text in markers_of(f))
    made = {name: ("", unit) for name, unit in UNITS.items()}
    for marker in markers:
        made[f"marker {marker!r}"] = ("", marker)
        made[f"cut marker {marker!r}"] = ("", marker[:-1] or marker)
    inside = {name: UNITS[name] for name in INSIDE}
    if format != "auto":
        inside |= {f"marker {marker!r}": marker for marker in markers}
    for f in named:
        try:
            call = render([{"name": "save_note", "arguments": {"text": "Quokka"}}], format=f)
        except ToolglotError:
            continue  # the law "round trip" counts these
        opening = call[: call.index("okka")]
        made[f"text behind {f.id}"] = ("", call + " more ")
        made[f"open parameters of {f.id}"] = ("", CLOSER.sub("Quokka", call) + "\n")
        made |= {f"{name} after {opening!r}": (opening, unit) for name, unit in inside.items()}
    return made


@pytest.mark.parametrize("reading", sorted(READINGS))
@pytest.mark.parametrize("format", every_format())
def test_twice_the_text_costs_twice_the_lines(format: Any, reading: str) -> None:
    read, size = READINGS[reading]
    slow = []
    for name, (opening, unit) in hostile(format).items():
        times = size // len(unit)

        def lines(factor: int, opening: str = opening, unit: str = unit, times: int = times) -> int:
            return lines_run(read, opening + unit * times * factor, format)

        once, twice = lines(1), lines(2)
        if not once:
            pytest.skip("no lines are counted: the core is compiled")
        # A step in the costs (a limit that the longer text passes) looks like a square, but only once.
        if twice > MOST * once and (four := lines(4)) > MOST * twice:
            slow.append(f"{name}: {times} times, twice and four times as many: {once}, {twice}, {four} lines")
    assert not slow, f"{len(slow)} hostile texts\n" + "\n".join(slow)


# Hold-back.

WORDS = (
    "word ",
    "two, ",
    "{x} ",
    "[1, 2] ",
    "f(x) ",
    "a < b ",
    '"q" ',
    "`c` ",
    "# ",
    '{"a": 1} ',
    "\n",
    "it's ",
    "東 ",
    "(",
    "{",
    "[",
)


@pytest.mark.parametrize("format", every_format())
def test_prose_is_given_out_at_once(format: Any) -> None:
    markers = [] if format == "auto" or format.tier != "tagged" else markers_of(format)
    longest = max(map(len, [*markers, "<|end_of_text|>"]))

    @given(prose=st.lists(st.sampled_from(WORDS), max_size=60).map("".join), hold=st.sampled_from((32, 64, 200, 4096)))
    def law(prose: str, hold: int) -> None:
        parser = Parser(TOOLS, format=format, max_hold=hold)
        given_out = 0
        for fed, character in enumerate(prose, start=1):
            for event in parser.feed(character):
                if isinstance(event, Text | Reasoning):
                    given_out = event.span[1]
            held = fed - given_out
            assert held <= hold, f"{held} characters held"
            assert not markers or held < longest, f"{held} characters held, the longest marker has {longest}"

    law()
