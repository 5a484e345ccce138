"""One trial held to all laws: its text is read whole, in pieces, strict, and in whatever other way its roll chooses.

The rule: an execution is one text read once under one set of options, whole or streamed; each is counted where it is
made. A law that a trial breaks is raised as `Broken`, whatever was thrown; what is wrong is never swallowed.
"""

from __future__ import annotations

import copy
import json
import pickle
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.mutator import OFFERED, Trial, resolve
from tests.laws import (
    begins,
    calls_are_given_once,
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
from toolglot import Code, Event, ParseError, Parser, Problem, ProseFilter, Result, ToolglotError, parse, parse_one

PATIENCE = 0.05, 0.002
"""Seconds, and seconds a character, that one execution may take before it is told as slow."""


class Broken(Exception):
    """A law that does not hold for a trial; `law` names it, `where` the place that threw."""

    def __init__(self, law: str, error: BaseException) -> None:
        self.law = law
        self.error = error
        self.where = _where(error)
        super().__init__(f"{law}: {type(error).__name__}: {error}")

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two findings the same."""
        return self.law, type(self.error).__name__, self.where


def _where(error: BaseException) -> str:
    """The innermost line of the package, or else of the laws, that an error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "toolglot" in frame.filename and "tests" not in frame.filename]
    frame = (own or frames)[-1]
    return f"{frame.filename.rsplit('/', 1)[-1]}:{frame.name}:{(frame.line or '')[:60]}"


@dataclass(slots=True)
class Bench:
    """Reads trials, counts the executions, and keeps the slowest."""

    executions: int = 0
    characters: int = 0
    slow: list[tuple[float, Trial]] = field(default_factory=list)

    def check(self, trial: Trial) -> None:
        """Hold a trial to all laws; raises `Broken`."""
        before = sys.get_int_max_str_digits()
        if trial.digits:
            sys.set_int_max_str_digits(trial.digits)
        try:
            Check(self, trial).run()
        finally:
            sys.set_int_max_str_digits(before)

    def holds(self, trial: Trial) -> Broken | None:
        """The law that a trial breaks, or None."""
        try:
            self.check(trial)
        except Broken as broken:
            return broken
        return None


class Check:
    """The readings of one trial, and the laws."""

    __slots__ = ("bench", "format", "law", "options", "text", "tools", "trial")

    def __init__(self, bench: Bench, trial: Trial) -> None:
        self.bench = bench
        self.trial = trial
        self.text = trial.text
        self.tools = OFFERED[trial.tools]
        self.format = resolve(trial.format)
        self.options = trial.options
        self.law = ""

    def run(self) -> None:
        """All laws, in turn."""
        try:
            self._run()
        except Exception as error:  # whatever is thrown is the finding
            raise Broken(self.law, error) from error

    def _run(self) -> None:
        roll = self.trial.roll
        with self._timed():
            events, machine = self._stream([self.text])
        self._lossless(events, machine)
        if self._short():
            self._short_cut(machine)
        streamed = self._chunks(events, machine, look=roll & 3 == 0)
        self._agreement(events, machine, streamed=bool(roll & 4))
        roll >>= 3
        if roll & 7 == 0:
            self._given_whole(machine)
        if roll & 7 == 1:
            self._prose(machine)
        if roll & 7 == 2:
            self._one(machine)
        if roll & 7 == 3:
            self._prefix(events, roll >> 3)
        if roll & 7 == 4:
            self._data(events, machine)
        if roll & 7 == 5 and hasattr(Parser, "fork"):
            self._fork(streamed, roll >> 3)

    # -- readings ----------------------------------------------------------------------------------

    @contextmanager
    def _timed(self) -> Any:
        start = time.perf_counter()
        yield
        took = time.perf_counter() - start
        if took > PATIENCE[0] + PATIENCE[1] * len(self.text):
            self.bench.slow.append((took, self.trial))

    def _count(self) -> None:
        self.bench.executions += 1
        self.bench.characters += len(self.text)

    def _parser(self, **more: Any) -> Parser:
        return Parser(self.tools, **{"format": self.format, **self.options, **more})

    def _stream(self, chunks: Sequence[str], **more: Any) -> tuple[list[Event], Result]:
        """All events of a text fed in chunks, and the result: the machine, and the short path of long strings."""
        self.law = "total, streamed" if len(chunks) > 1 else "total, the machine"
        self._count()
        parser = self._parser(**more)
        events: list[Event] = []
        for chunk in chunks:
            events += parser.feed(chunk)
        events += parser.finish()
        return events, parser.result

    def _whole(self, **more: Any) -> Result:
        self.law = "total, whole"
        self._count()
        return parse(self.text, self.tools, **{"format": self.format, **self.options, **more})

    def _over(self, result: Result, limit: str) -> bool:
        """Whether one of the trial's own limits was passed."""
        return limit in self.options.get("limits", ()) and any(p.code == Code.LIMIT for p in result.problems)

    def _over_arguments(self, result: Result) -> bool:
        """Known: where among the problems of one call its limit is told depends on the pieces."""
        return self._over(result, "arguments")

    # -- laws --------------------------------------------------------------------------------------

    def _same(self, law: str, one: Result, other: Result) -> None:
        self.law = law
        here, there = state(one), state(other)
        for part, value in here.items():
            assert value == there[part], f"{part}: {value!r} is not {there[part]!r}"

    def _lossless(self, events: list[Event], result: Result) -> None:
        self.law = "lossless"
        segments_tile(result, self.text)
        events_quote_the_text(events, self.text)
        self.law = "every call ends once"
        every_call_ends_once(events, result)
        self.law = "deltas"
        pieces_join(events)
        self.law = "problems lie in the text"
        for problem in result.problems:
            assert 0 <= problem.span[0] <= problem.span[1] <= len(self.text), f"{problem}"
            assert problem.message and str(problem.code), f"{problem}"
        if not self.options.get("truncated"):
            assert not any(call.truncated for call in result.calls), "a call is truncated and counts"

    def _short(self) -> bool:
        return self.options.keys() <= {"format", "strict"}

    def _short_cut(self, machine: Result) -> None:
        whole = self._whole()
        self._same("the short cut", machine, whole)
        assert whole == machine or repr(whole) == repr(machine), f"{whole!r} is not {machine!r}"

    def _chunks(self, events: list[Event], machine: Result, look: bool) -> list[str]:
        """Chunking and monotone: any split says the same, in the same order."""
        chunks = self.trial.chunks()
        if look:
            streamed, result = self._looked_at(chunks)
        else:
            streamed, result = self._stream(chunks)
        self._same("chunking", machine, result)
        self.law = "monotone"
        one, other = folded(events), folded(streamed)
        assert one == other, f"whole {_first_unlike(one, other)}, in pieces {_first_unlike(other, one)}"
        if not self._over_arguments(machine):
            assert problems(events) == problems(streamed), "problems come in another order"
        self.law = "lossless, streamed"
        events_quote_the_text(streamed, self.text)
        return chunks

    def _looked_at(self, chunks: Sequence[str]) -> tuple[list[Event], Result]:
        """The same, with a look at the result after each piece: it only grows."""
        self.law = "total, looked at"
        self._count()
        parser = self._parser()
        events: list[Event] = []
        fed, before = "", parser.result
        for chunk in chunks:
            events += parser.feed(chunk)
            fed += chunk
            now = parser.result
            self.law = "a result on the way"
            grown(before, now)
            assert now.text == fed, f"{now.text!r} was fed as {fed!r}"
            assert "".join([s.text for s in now.segments]) == fed, "the segments on the way do not tile"
            before = now
            self.law = "total, looked at"
        events += parser.finish()
        assert parser.finish() == []
        grown(before, parser.result)
        return events, parser.result

    def _agreement(self, events: list[Event], lenient: Result, streamed: bool) -> None:
        """Strict succeeds exactly where lenient reports no error, and refuses at the first."""
        chunks = self.trial.chunks() if streamed else [self.text]
        self.law = "agreement"
        try:
            strict = self._stream(chunks, strict=True)[1] if streamed or not self._short() else self._whole(strict=True)
        except ParseError as error:
            self.law = "agreement"
            error_is_among(error, lenient)
            if self._over_arguments(lenient):
                return
            first = next(e for e in events if hasattr(e, "incomplete") and e.code.is_error)
            assert (error.code, error.position, error.message) == (first.code, first.span[0], first.message), (
                f"strict {error!r}, lenient {first}"
            )
            assert isinstance(pickle.loads(pickle.dumps(error)), ParseError)
        else:
            self._same("agreement", lenient, strict)
            has_no_error(lenient)

    def _given_whole(self, machine: Result) -> None:
        """`arguments="whole"` gives the same calls, each in one piece."""
        events, whole = self._stream(self.trial.chunks(), arguments="whole")
        self.law = "whole arguments"
        calls_are_given_once(events)
        pieces_join(events)
        if self.options.get("arguments") != "whole" and not self._over(machine, "calls"):
            one, other = without_index(machine), without_index(whole)
            assert repr(one) == repr(other), f"live {one}, whole {other}"

    def _prose(self, machine: Result) -> None:
        self.law = "prose"
        self._count()
        prose = ProseFilter(self.tools, **{"format": self.format, **self.options})
        joined = "".join([prose.push(chunk) for chunk in self.trial.chunks()]) + prose.flush()
        assert joined == machine.content, f"{joined!r} is not {machine.content!r}"

    def _one(self, machine: Result) -> None:
        self.law = "one call"
        self._count()
        spans = [p.span for p in machine.problems if p.code == Code.INVALID_ARGUMENTS and not p.repaired]
        fit = len(machine.calls) == 1 and machine.calls[0].span not in spans  # by the tool's schema, where it is asked
        try:
            call = parse_one(self.text, self.tools, **{"format": self.format, **self.options})
        except ParseError as error:
            assert not fit, f"{error!r} though there is one call"
        else:
            assert fit and repr(call) == repr(machine.calls[0]), f"{call}, {machine.calls}"

    def _prefix(self, events: list[Event], roll: int) -> None:
        """A prefix is read without a fault, and what was said of it begins what is said of the whole."""
        head = self.text[: roll * 37 % (len(self.text) + 1)]
        self.law = "total, a prefix"
        self._count()
        parser = self._parser()
        said = parser.feed(head)
        self.law = "monotone, a prefix"
        assert begins(folded(events), folded(said)), f"{said} does not begin {events}"
        told = any(isinstance(e, Problem) and e.code == Code.LIMIT for e in events)
        if not (told and "arguments" in self.options.get("limits", ())):  # known, as in `_over_arguments`
            assert problems(events)[: len(problems(said))] == problems(said), "problems of a prefix are others"
        self.law = "total, a prefix"
        parser.finish()
        self.law = "lossless, a prefix"
        segments_tile(parser.result, head)

    def _data(self, events: list[Event], result: Result) -> None:
        """Results and events are data: JSON, pickles, copies."""
        self.law = "data"
        json.dumps(result.to_dict())
        json.dumps(result.to_openai())
        repr(result)
        for value in (result, events):
            again = pickle.loads(pickle.dumps(value))
            assert again == value or repr(again) == repr(value), "a pickle is another"
        copied = copy.deepcopy(result)
        assert state(copied) == state(result), "a copy is another"

    def _fork(self, chunks: Sequence[str], roll: int) -> None:
        """A fork and its parser go on without knowing of each other."""
        at = roll % (len(chunks) + 1)
        parser = self._parser()
        self.law = "fork"
        self._count()
        self._count()
        before: list[Event] = [event for chunk in chunks[:at] for event in parser.feed(chunk)]
        fork = parser.fork()
        head = "".join(chunks[:at])
        others = [chunk[::-1] for chunk in reversed(chunks[at:])] if roll & 64 else chunks[at:]
        mine, theirs = list(before), list(before)
        for one, other in zip(chunks[at:], others, strict=True):
            mine += parser.feed(one)
            theirs += fork.feed(other)
        mine += parser.finish()
        theirs += fork.finish()
        for read, said, rest in ((parser, mine, chunks[at:]), (fork, theirs, others)):
            events, result = self._stream([head + "".join(rest)])
            self._same("fork", result, read.result)
            assert folded(events) == folded(said), "a fork says something else"
            if not self._over_arguments(result):
                assert problems(events) == problems(said), "a fork has other problems"


def state(result: Result) -> dict[str, Any]:
    """What a result says, to be compared: `1` is not `1.0`, and NaN is NaN."""
    return {
        "content": result.content,
        "reasoning": result.reasoning,
        "format": result.format,
        "calls": repr(result.calls),
        "incomplete": repr(result.incomplete),
        "problems": repr(result.problems),
        "segments": [(s.kind, s.span) for s in result.segments],
    }


def grown(before: Result, now: Result) -> None:
    """A later result of the same reply says what the earlier one said, and more."""
    assert now.content.startswith(before.content), f"content {before.content!r} became {now.content!r}"
    assert now.reasoning.startswith(before.reasoning), f"reasoning {before.reasoning!r} became {now.reasoning!r}"
    count = len(before.calls)
    assert now.calls[:count] == before.calls or repr(now.calls[:count]) == repr(before.calls), "calls changed"
    assert len(now.problems) >= len(before.problems), "a problem vanished"


def _first_unlike(one: list[Any], other: list[Any]) -> Any:
    for at, item in enumerate(one):
        if at >= len(other) or other[at] != item:
            return item
    return "nothing more"


def only_own_errors(parser: Parser, pieces: Sequence[str]) -> None:
    """Whatever is done with a parser that refused, only the library's own errors come."""
    for piece in pieces:
        try:
            parser.feed(piece)
        except ToolglotError:
            continue
    for act in (parser.finish, lambda: parser.result.to_dict()):
        try:
            act()
        except ToolglotError:
            continue
