"""The laws of the architecture page as statements about readings that were made already.

Who reads is the caller's affair: the property tests, the state machine and the fuzzer hold their readings to the same
statements. The rule: nothing here parses a reply; a broken law is an AssertionError that says what was seen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from toolglot import (
    ArgumentsDelta,
    CallAbort,
    CallBegin,
    CallEnd,
    Event,
    ParseError,
    Problem,
    Reasoning,
    Result,
    Text,
)

Json = dict[str, Any]


def canonical(value: Any) -> str:
    """A value as JSON text: `1`, `1.0` and `true` are three values, and so are `0.0` and `-0.0`."""
    return json.dumps(value, sort_keys=True)


def strict_json(text: str) -> Any:
    """The value of a JSON text; NaN and the infinities are no JSON."""
    return json.loads(text, parse_constant=_no_json)


def _no_json(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


# Lossless.


def segments_tile(result: Result, text: str) -> None:
    """Every character of the text is in exactly one segment, and content and reasoning are their segments' text."""
    at = 0
    segments = result.segments
    for segment in segments:
        assert segment.span[0] == at < segment.span[1], f"after {at} comes a segment at {segment.span}"
        at = segment.span[1]
        assert segment.text == text[slice(*segment.span)], f"not the text at its span: {segment}"
    assert at == len(text) == len(result.text) and result.text == text, f"{at} of {len(text)} characters"
    assert result.content == "".join([s.text for s in segments if s.kind == "text"]), f"content {result.content!r}"
    thoughts = "".join([s.text for s in segments if s.kind == "reasoning"])
    assert result.reasoning == thoughts, f"reasoning {result.reasoning!r}, segments {thoughts!r}"


def events_quote_the_text(events: Sequence[Event], text: str) -> None:
    """Every span lies in the text, and prose is the text at its span."""
    for event in events:
        assert 0 <= event.span[0] <= event.span[1] <= len(text), f"outside of the text: {event}"
        if isinstance(event, Text | Reasoning):
            assert event.text == text[slice(*event.span)] != "", f"not the text at its span: {event}"


# Monotone.


def folded(events: Sequence[Event]) -> list[tuple[Any, ...]]:
    """The events but for problems, as tuples, with adjacent pieces of one thing joined."""
    made: list[tuple[Any, ...]] = []
    for event in events:
        if isinstance(event, Text | Reasoning):
            start, end = event.span
            if made and made[-1][0] is type(event) and made[-1][3] == start:
                _, first, text, _ = made.pop()
                made.append((type(event), first, text + event.text, end))
            else:
                made.append((type(event), start, event.text, end))
        elif isinstance(event, ArgumentsDelta):
            if made and made[-1][:2] == (ArgumentsDelta, event.index):
                made.append((ArgumentsDelta, event.index, made.pop()[2] + event.text))
            else:
                made.append((ArgumentsDelta, event.index, event.text))
        elif isinstance(event, CallBegin):
            made.append((CallBegin, event.index, event.name, event.id, event.span))
        elif isinstance(event, CallEnd):
            made.append((CallEnd, event.index, canonical(event.call.to_dict()), event.span))
        elif isinstance(event, CallAbort):
            made.append((CallAbort, event.index, event.code, event.message, event.span))
    return made


def begins(whole: list[tuple[Any, ...]], part: list[tuple[Any, ...]]) -> bool:
    """Whether the folded events `part` begin `whole`: the last may be the beginning of its counterpart."""
    if not part:
        return True
    *rest, last = part
    if whole[: len(rest)] != rest or len(whole) < len(part):
        return False
    there = whole[len(rest)]
    if last[0] in (Text, Reasoning, ArgumentsDelta):
        return bool(there[:2] == last[:2] and there[2].startswith(last[2]))
    return bool(there == last)


def problems(events: Sequence[Event]) -> list[Json]:
    """The problems among the events, in order."""
    return [event.to_dict() for event in events if isinstance(event, Problem)]


def every_call_ends_once(events: Sequence[Event], result: Result) -> None:
    """Calls begin in order, one at a time, and each ends or is aborted once; those that end are the result's."""
    begun: list[int] = []
    open_call: int | None = None
    for event in events:
        if isinstance(event, CallBegin):
            assert open_call is None, f"call {open_call} is open when another begins"
            open_call = event.index
            begun.append(event.index)
        elif isinstance(event, ArgumentsDelta):
            assert event.index == open_call, f"a piece of call {event.index} while {open_call} is open"
        elif isinstance(event, CallEnd | CallAbort):
            assert event.index == open_call, f"call {event.index} ends while {open_call} is open"
            open_call = None
        if isinstance(event, CallEnd):
            assert event.call.index == event.index, f"call {event.call.index} ends as {event.index}"
    assert open_call is None, f"call {open_call} never ends"
    assert begun == list(range(len(begun))), f"calls are counted {begun}"
    ended = [event.call for event in events if isinstance(event, CallEnd)]
    assert result.calls == ended or repr(result.calls) == repr(ended), "the result has other calls than the events"


# Deltas.


def pieces_join(events: Sequence[Event]) -> None:
    """The pieces of a call join to its `arguments_json`, which is strict JSON of its `arguments`."""
    pieces: dict[int, str] = {}
    for event in events:
        if isinstance(event, ArgumentsDelta):
            pieces[event.index] = pieces.get(event.index, "") + event.text
        elif isinstance(event, CallEnd):
            call = event.call
            joined = pieces.get(event.index, "")
            assert joined == call.arguments_json, f"pieces {joined!r}, call {call.arguments_json!r}"
            read = strict_json(call.arguments_json)
            assert canonical(read) == canonical(call.arguments), f"{call.arguments_json!r} is not {call.arguments!r}"


def calls_are_given_once(events: Sequence[Event]) -> None:
    """A whole call is CallBegin, one ArgumentsDelta, CallEnd; no call begins that does not end."""
    events = [event for event in events if not isinstance(event, Problem)]
    assert not any(isinstance(event, CallAbort) for event in events), "a call begins that does not end"
    for at, event in enumerate(events):
        if isinstance(event, ArgumentsDelta):
            around = events[at - 1], events[at + 1]
            assert isinstance(around[0], CallBegin) and isinstance(around[1], CallEnd), f"a piece between {around}"
        elif isinstance(event, CallEnd):
            before = events[at - 1]
            assert isinstance(before, ArgumentsDelta), f"before its end a call has {before}"
            assert before.text == event.call.arguments_json, f"piece {before.text!r}"


def without_index(result: Result) -> Json:
    """The result as data, less the indices: a call that is begun live and aborted takes one."""
    made = result.to_dict()
    for call in made["calls"]:
        del call["index"]
    return made


# Agreement.


def error_is_among(error: ParseError, lenient: Result) -> None:
    """Strict reading refuses for a reason that lenient reading lists, at a place in the text."""
    errors = {p.code for p in lenient.problems if p.code.is_error}
    assert error.code in errors, f"strict refuses with {error.code}, lenient lists {sorted(errors)}"
    assert error.position is None or 0 <= error.position <= len(lenient.text), f"position {error.position}"


def has_no_error(lenient: Result) -> None:
    """Strict reading accepts only what lenient reading reads without an error."""
    errors = [p for p in lenient.problems if p.code.is_error]
    assert not errors, f"strict accepts, lenient lists {errors}"
