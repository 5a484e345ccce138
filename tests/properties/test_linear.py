"""The law "linear", without a clock: lines of Python run are counted on a hostile text and on one twice as long.

What C code does inside one line (a search, a slice) is not seen here; the hostile runs of the benchmarks time that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import TOOLS, every_format, markers_of, rendered
from toolglot import Parser, Reasoning, Text, formats, parse

SIZE = 1_500
MOST = 2.3  # twice the text may cost this many times the lines
CHUNK = 11

# Each is repeated. The name says what a reader might do too often.
UNITS = {
    "open angles": "<",
    "open brackets": "[",
    "open braces": "{",
    "open parentheses": "(",
    "open objects": '{"a":',
    "open lists of objects": '[{"a":',
    "unoffered calls": "name(",
    "offered calls": "save_note(",
    "offered call keys": "save_note(text=",
    "offered names": '{"name": "save_note", ',
    "offered objects": '{"name": "save_note", "arguments": {',
    "whole objects": '{"name": "Alice"}\n',
    "whole unoffered calls": '{"name": "x", "arguments": {}}\n',
    "fences": "```",
    "json fences": "```json\n",
    "fenced lines": "```\na\n",
    "backticks": "`",
    "backtick words": "`a` ",
    "double quotes": '"',
    "single quotes": "'",
    "backslashes": "\\",
    "escaped quotes": '\\"',
    "commas": ",",
    "blanks": " ",
    "line breaks": "\n",
    "comments": "/*",
    "line comments": "//\n",
    "digits": "9",
    "letters": "a",
    "words": "word ",
    "thoughts": "<think>",
    "thought closers": "</think>",
    "thought halves": "<think",
    "tool call openers": "<tool_call>",
    "tool call lines": "<tool_call>\n",
    "tool call halves": "<tool_cal",
    "tool call closers": "</tool_call>",
    "empty tool calls": "<tool_call></tool_call>",
    "functions": "<function=save_note>\n",
    "parameters": "<parameter=text>\n",
    "undeclared parameters": "<parameter=x>\n",
    "parameter closers": "</parameter>\n",
    "argument closers": "</arg_value>",
    "argument keys": "<arg_key>text</arg_key>",
    "python strings": "save_note(text='",
    "control halves": "<|tool",
    "other scripts": "東",
}


def lines_run(work: Callable[..., object], *args: Any) -> int:
    """How many lines of Python a piece of work runs."""
    count = 0

    def line(_frame: FrameType, event: str, _arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        work(*args)
    finally:
        sys.settrace(before)
    return count


def whole(text: str, format: Any) -> None:
    parse(text, TOOLS, format=format)


def streamed(text: str, format: Any) -> None:
    parser = Parser(TOOLS, format=format)
    for at in range(0, len(text), CHUNK):
        parser.feed(text[at : at + CHUNK])
    parser.finish()


READINGS = {"whole": whole, "streamed": streamed}


def openings(format: Any) -> list[str]:
    """Beginnings that leave the format's reader inside something: a call cut in its last argument, and nothing."""
    named = formats() if format == "auto" else [format]
    calls = [text for f in named for text in rendered(f)[1:2]]
    return ["", *(text[: text.rfind("a")] for text in calls)]


def hostile(format: Any) -> dict[str, tuple[str, str]]:
    """Texts as an opening and what is repeated after it."""
    named = formats() if format == "auto" else [format]
    units = dict(UNITS)
    for marker in dict.fromkeys(text for f in named for text in markers_of(f)):
        units[f"marker {marker!r}"] = marker
        units[f"cut marker {marker!r}"] = marker[:-1] or marker
    first, *inside = openings(format)
    made = {name: (first, unit) for name, unit in units.items()}
    for opening in inside[: 1 if format != "auto" else 3]:
        made |= {f"{name} after {opening!r}": (opening, unit) for name, unit in units.items()}
    return made


@pytest.mark.parametrize("reading", sorted(READINGS))
@pytest.mark.parametrize("format", every_format())
def test_twice_the_text_costs_twice_the_lines(format: Any, reading: str) -> None:
    read = READINGS[reading]
    slow = []
    for name, (opening, unit) in hostile(format).items():
        times = SIZE // len(unit)
        once, twice = (lines_run(read, opening + unit * n, format) for n in (times, 2 * times))
        if not once:
            pytest.skip("no lines are counted: the core is compiled")
        if twice > MOST * once:
            slow.append(f"{name}: {once} lines for {times} times, {twice} for twice as many ({twice / once:.2f})")
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
