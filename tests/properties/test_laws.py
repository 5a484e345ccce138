"""The laws of the architecture page, for every registered format, some invented ones, and `auto`.

A law is one function that takes plain values and asserts; hypothesis finds the values. 200 examples a law and format
in the default profile, 5,000 with `--hypothesis-profile=long`. The law "linear" is in `test_linear.py`.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from tests.laws import (
    begins,
    calls_are_given_once,
    canonical,
    error_is_among,
    events_quote_the_text,
    every_call_ends_once,
    folded,
    has_no_error,
    pieces_join,
    problems,
    segments_tile,
    without_index,
)
from tests.properties.strategies import (
    CUTS,
    OPTIONS,
    PLACES,
    TOOL_SETS,
    Asked,
    Json,
    asked,
    every_format,
    named_formats,
    replies,
    split,
)
from toolglot import Event, Messages, ParseError, Parser, Result, ToolglotError, formats, parse, render

each_format = pytest.mark.parametrize("format", every_format())
ReplyLaw: TypeAlias = Callable[[Any, str, str, Json, list[int], int], None]
REPLY_LAWS: list[ReplyLaw] = []
"""The laws over replies, by name. One reply is held to all of them: making it costs more than reading it."""


def reply_law(law: ReplyLaw) -> ReplyLaw:
    """Hold replies to this law too."""
    REPLY_LAWS.append(law)
    return law


@each_format
def test_the_laws_over_replies(format: Any) -> None:
    @given(text=replies(format), tools=TOOLS, options=OPTIONS, cuts=CUTS, place=PLACES)
    def laws(text: str, tools: str, options: Json, cuts: list[int], place: int) -> None:
        note(f"text: {text!r}")
        for law in REPLY_LAWS:
            note(f"law: {law.__name__}")
            law(format, text, tools, options, cuts, place)

    laws()


TOOLS = st.sampled_from(tuple(TOOL_SETS))


def read(text: str, tools: str, **options: Any) -> Result:
    """The whole text at once; `tools` names a set of them."""
    return parse(text, TOOL_SETS[tools], **options)


def stream(chunks: Sequence[str], tools: str, **options: Any) -> tuple[list[Event], Result]:
    """All events of a text fed in chunks, and the result; `tools` names a set of them."""
    parser = Parser(TOOL_SETS[tools], **options)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    events += parser.finish()
    return events, parser.result


# Chunking.


@reply_law
def any_split_gives_the_result_of_the_whole(
    format: Any, text: str, tools: str, options: Json, cuts: list[int], place: int
) -> None:
    whole = read(text, tools, format=format, **options).to_dict()
    for chunks in (split(text, cuts), list(text)):
        assert stream(chunks, tools, format=format, **options)[1].to_dict() == whole


# Lossless.


@reply_law
def every_character_is_in_one_segment(
    format: Any, text: str, tools: str, options: Json, cuts: list[int], place: int
) -> None:
    events, result = stream(split(text, cuts), tools, format=format, **options)
    segments_tile(result, text)
    events_quote_the_text(events, text)


# Round trip.


@dataclass(slots=True)
class Tally:
    """How many examples were tried, and how many of them the wire could not carry."""

    tried: int = 0
    refused: int = 0


@pytest.mark.parametrize("format", named_formats())
def test_what_is_rendered_is_read_back(format: Any) -> None:
    round_trip(format, format)


@pytest.mark.parametrize("format", [pytest.param(f, id=f.id) for f in formats()])
def test_what_is_rendered_is_read_back_with_no_format_named(format: Any) -> None:
    round_trip(format, "auto")


def round_trip(written: Any, read: Any) -> None:
    """Calls written in one format and read in it, or in `auto`, are the same calls, and nothing else is there."""
    tally = Tally()

    @given(asked=asked())
    def law(asked: Asked) -> None:
        assume(asked.calls and not is_open(written, asked))
        assume(read != "auto" or not (has_framing(written, asked) or may_be_data(written, asked)))
        tally.tried += 1
        try:
            text = render(asked.calls, format=written)
        except ToolglotError:
            tally.refused += 1
            assume(False)
        result = parse(text, asked.tools, format=read)
        seen = [{"name": call.name, "arguments": call.arguments} for call in result.calls]
        assert canonical(seen) == canonical(asked.calls), text
        assert [p for p in result.problems if p.code.is_error] == [], text
        assert result.content.strip() == "" == result.reasoning.strip(), text

    law()
    assert tally.refused * 3 <= tally.tried, f"{written.id} refuses {tally.refused} of {tally.tried}"


UNQUOTED = re.compile(r"\{(value|args):(raw|xml|cdata|elements|escape)\}")


def is_open(format: Any, asked: Asked) -> bool:
    """Whether values stand without quotes and the tool's schema does not say what they are.

    A string under a schema that also allows what it looks like is read as that (ruling 18), and the closer before a
    key that the tool does not declare belongs to the value (ruling 16).
    """
    inner = format.call if isinstance(format, Messages) else format
    templates = "" if inner is None else f"{inner.call}{inner.param}"
    if not UNQUOTED.search(templates):
        return False
    typed = "{type" in templates  # the wire says what a value is
    for call in asked.calls:
        for at, (key, value) in enumerate(call["arguments"].items()):
            schema = asked.parameter(call["name"], key)
            if at and schema is None:
                return True
            closed = (schema or {}).get("type") == "string" or (typed and not schema)
            if isinstance(value, str) and not closed and looks_typed(value):
                return True
            if ":elements}" in templates and is_open_below(value):
                return True
    return False


def is_open_below(value: Any) -> bool:
    """Whether an element of a container, of which these schemas say nothing, may read as something else."""
    for held in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if held in ("", None, [], {}) or (isinstance(held, str) and looks_typed(held)) or is_open_below(held):
            return True
    return False


def looks_typed(text: str) -> bool:
    """Whether a text may read as a JSON value or a Python literal."""
    text = text.strip()
    return text[:1] in tuple("[{(\"'") or text[:1].isdigit() or text[:1] in tuple("-+.") or text in WORDS


def has_framing(format: Any, asked: Asked) -> bool:
    """Whether a raw value begins or ends with a line break: formats with the same tags frame their values or not."""
    raw = UNQUOTED.search(getattr(format, "param", ""))
    values = [v for call in asked.calls for v in call["arguments"].values() if isinstance(v, str)]
    return raw is not None and any(v != v.strip("\r\n") for v in values)


def may_be_data(format: Any, asked: Asked) -> bool:
    """Whether an object stands below a tool's name without any marker, with keys that the tool does not declare."""
    written = format.write if isinstance(format, Messages) else format.call
    if written not in ("{name}\n{args:json}", "{name}\n{args}"):
        return False
    return any(asked.parameter(call["name"], key) is None for call in asked.calls for key in call["arguments"])


WORDS = frozenset({"true", "false", "null", "True", "False", "None", "NaN", "Infinity"})


# Total.


@reply_law
def lenient_reading_never_raises(
    format: Any, text: str, tools: str, options: Json, cuts: list[int], place: int
) -> None:
    for reply in (text, text[: place % (len(text) + 1)]):
        result = read(reply, tools, format=format, **options)
        assert canonical(result.to_dict()) and canonical(result.to_openai())
        assert all(0 <= p.span[0] <= p.span[1] <= len(reply) for p in result.problems)
    parser = Parser(TOOL_SETS[tools], format=format, **options)
    fed = ""
    for chunk in split(text, cuts):
        parser.feed(chunk)
        fed += chunk
        result = parser.result
        assert result.text == fed == "".join(s["text"] for s in result.to_dict()["segments"])


HOSTILE = {
    "digits": '<tool_call>{"name": "save_note", "arguments": {"n": %s}}</tool_call>' % ("9" * 5_000),
    "exponent": '<tool_call>{"name": "save_note", "arguments": {"n": 1e%s}}</tool_call>' % ("9" * 5_000),
    "deep lists": "[" * 20_000,
    "deep objects": '{"a":' * 20_000,
    "deep arguments": '<tool_call>{"name": "geo.find", "arguments": {"at": '
    + "[" * 20_000
    + "]" * 20_000
    + "}}</tool_call>",
    "deep calls": "save_note(" * 20_000,
    "deep python": "[save_note(n=" + "(" * 20_000,
    "deep parameters": "<tool_call>\n<function=save_note>\n" + "<parameter=text>\n" * 5_000,
    "surrogates": '<tool_call>{"name": "save_note", "arguments": {"text": "\ud800 \\udc00 \\ud83d"}}</tool_call>\udfff',
    "nul": "\x00" * 100,
    "empty": "",
}


@each_format
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_lenient_reading_survives(format: Any, name: str) -> None:
    text = HOSTILE[name]
    for tools in ("all", "none"):
        result = read(text, tools, format=format)
        assert "".join(s.text for s in result.segments) == text
        result.to_openai()
        for call in result.calls:
            assert json.loads(call.arguments_json) is not None or name == "digits"


# Agreement.


@reply_law
def strict_refuses_exactly_what_lenient_calls_an_error(
    format: Any, text: str, tools: str, options: Json, cuts: list[int], place: int
) -> None:
    lenient = read(text, tools, format=format, **options)
    for whole in (True, False):
        try:
            if whole:
                strict = read(text, tools, format=format, strict=True, **options)
            else:
                strict = stream(split(text, cuts), tools, format=format, strict=True, **options)[1]
        except ParseError as error:
            error_is_among(error, lenient)
        else:
            has_no_error(lenient)
            assert strict.to_dict() == lenient.to_dict()


# Monotone.


@reply_law
def events_are_never_contradicted(
    format: Any, text: str, tools: str, options: Json, cuts: list[int], place: int
) -> None:
    parser = Parser(TOOL_SETS[tools], format=format, **options)
    before = [event for chunk in split(text[: place % (len(text) + 1)], cuts) for event in parser.feed(chunk)]
    seen, events = list(before), list(before)
    events += parser.feed(text[place % (len(text) + 1) :])
    events += parser.finish()
    whole = stream([text], tools, format=format, **options)[0]
    assert begins(folded(whole), folded(seen))
    assert folded(whole) == folded(events)
    assert problems(whole)[: len(problems(seen))] == problems(seen)
    assert problems(whole) == problems(events)


@reply_law
def every_call_that_begins_ends_once(
    format: Any, text: str, tools: str, options: Json, cuts: list[int], place: int
) -> None:
    events, result = stream(split(text, cuts), tools, format=format, **options)
    every_call_ends_once(events, result)


# Fork.

ELSEWHERE = (
    '"}}</tool_call>',
    "</parameter></function></tool_call>",
    "]",
    "')]",
    "```",
    "</think>",
    "\n\n",
    "`",
    "[" * 9,
)


@reply_law
def a_fork_reads_on_as_if_it_were_alone(
    format: Any, text: str, tools: str, options: Json, cuts: list[int], place: int
) -> None:
    chunks = split(text, cuts)
    at = place % (len(chunks) + 1)
    events, result = stream(chunks, tools, format=format, **options)
    parser = Parser(TOOL_SETS[tools], format=format, **options)
    before = [event for chunk in chunks[:at] for event in parser.feed(chunk)]
    said = copy.deepcopy(before)
    fork, stray = parser.fork(), parser.fork()
    other = ELSEWHERE[place % len(ELSEWHERE)]
    stray.feed(other)  # goes another way, beside both
    ours = [event for chunk in chunks[at:] for event in parser.feed(chunk)] + parser.finish()
    stray.finish()
    theirs = [event for chunk in chunks[at:] for event in fork.feed(chunk)] + fork.finish()
    assert before == said
    assert before + ours == before + theirs == events
    assert parser.result.to_dict() == fork.result.to_dict() == result.to_dict()
    assert stray.result.text == "".join(chunks[:at]) + other


# Deltas.


@reply_law
def argument_pieces_join_to_the_arguments(
    format: Any, text: str, tools: str, options: Json, cuts: list[int], place: int
) -> None:
    options = {**options, "format": format}
    events, live = stream(split(text, cuts), tools, **(options | {"arguments": "live"}))
    pieces_join(events)
    events, whole = stream(split(text, cuts), tools, **(options | {"arguments": "whole"}))
    calls_are_given_once(events)
    assert without_index(whole) == without_index(live)
