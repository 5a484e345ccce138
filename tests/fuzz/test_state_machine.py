"""A parser as its callers drive it: pieces of any kind, looks at the result, forks, an end; under all options.

Every branch (the parser and its forks) is at last compared with one that read its text at once. The rule: what a
branch has said stays true, whatever is done with the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.fuzz.laws import grown, only_own_errors, state
from tests.fuzz.mutator import INVENTED, OFFERED, OPTIONS
from tests.laws import (
    error_is_among,
    events_quote_the_text,
    every_call_ends_once,
    folded,
    has_no_error,
    pieces_join,
    problems,
    segments_tile,
)
from tests.properties.strategies import Json, all_fragments, pick, replies
from toolglot import Event, ParseError, Parser, Result, ToolglotError, formats

FORMATS = [*formats(), *INVENTED, "auto"]
TOOLS = st.sampled_from([name for name in OFFERED if not name.startswith("case:")])
SOME_OPTIONS = st.lists(st.sampled_from(OPTIONS), max_size=3).map(dict)
PIECES = st.one_of(pick(all_fragments()), st.text(max_size=6), st.sampled_from(('"', "\\", "}", "]", "\n", "", " ")))


@dataclass(slots=True)
class Branch:
    """A parser, what it was fed, and what it said."""

    parser: Parser
    text: str = ""
    events: list[Event] = field(default_factory=list)
    before: Result | None = None
    refused: ParseError | None = None  # strict: the error that it raised
    finished: bool = False


class Reading(RuleBasedStateMachine):
    """One reply read by branches of one parser."""

    @initialize(
        format=st.sampled_from(FORMATS), tools=TOOLS, options=SOME_OPTIONS, strict=st.booleans(), data=st.data()
    )
    def begin(self, format: Any, tools: str, options: Json, strict: bool, data: st.DataObject) -> None:
        self.tools = OFFERED[tools]
        self.options = {"format": format, **options}
        self.strict = strict
        self.reply = data.draw(replies(format))
        self.branches = [Branch(Parser(self.tools, strict=strict, **self.options))]

    def branch(self, number: int) -> Branch:
        return self.branches[number % len(self.branches)]

    def give(self, branch: Branch, piece: str) -> None:
        if branch.finished or branch.refused:
            with pytest.raises(ToolglotError):
                if branch.refused:
                    raise branch.refused
                branch.parser.feed(piece)
            return
        branch.text += piece
        try:
            branch.events += branch.parser.feed(piece)
        except ParseError as error:
            assert self.strict
            branch.refused = error

    @rule(number=st.integers(0, 3), length=st.integers(1, 40))
    def feed_what_comes_next(self, number: int, length: int) -> None:
        branch = self.branch(number)
        at = len(branch.text) % (len(self.reply) + 1)
        self.give(branch, self.reply[at : at + length])

    @rule(number=st.integers(0, 3), sizes=st.lists(st.integers(1, 3), min_size=1, max_size=20))
    def feed_small_pieces(self, number: int, sizes: list[int]) -> None:
        for size in sizes:
            self.feed_what_comes_next(number, size)

    @rule(number=st.integers(0, 3), piece=PIECES)
    def feed_anything(self, number: int, piece: str) -> None:
        self.give(self.branch(number), piece)

    @rule(number=st.integers(0, 3))
    def look(self, number: int) -> None:
        branch = self.branch(number)
        now = branch.parser.result
        now.to_dict()
        if branch.refused:
            return
        assert now.text == branch.text
        assert "".join([s.text for s in now.segments]) == branch.text
        if branch.before is not None:
            grown(branch.before, now)
        branch.before = now

    @precondition(lambda self: hasattr(Parser, "fork"))
    @rule(number=st.integers(0, 3))
    def fork(self, number: int) -> None:
        branch = self.branch(number)
        if len(self.branches) < 4 and not branch.finished and not branch.refused:
            parser = branch.parser.fork()  # type: ignore[attr-defined]
            self.branches.append(Branch(parser, branch.text, list(branch.events), branch.before))

    @rule(number=st.integers(0, 3))
    def finish(self, number: int) -> None:
        branch = self.branch(number)
        if branch.refused:
            only_own_errors(branch.parser, ["}", "</tool_call>", "\n"])
            return
        try:
            branch.events += branch.parser.finish()
        except ParseError as error:
            assert self.strict
            branch.refused = error
            return
        branch.finished = True
        assert branch.parser.finish() == []

    @invariant()
    def events_quote_what_was_fed(self) -> None:
        for branch in getattr(self, "branches", ()):
            events_quote_the_text(branch.events, branch.text)

    def teardown(self) -> None:
        for number in range(len(getattr(self, "branches", ()))):
            self.finish(number)
            self.compare(self.branches[number])

    def compare(self, branch: Branch) -> None:
        """A branch said what one that reads its text at once says."""
        parser = Parser(self.tools, **self.options)
        events = parser.feed(branch.text) + parser.finish()
        lenient = parser.result
        if branch.refused is not None:
            error_is_among(branch.refused, lenient)
            return
        result = branch.parser.result
        if self.strict:
            has_no_error(lenient)
        segments_tile(result, branch.text)
        every_call_ends_once(branch.events, result)
        pieces_join(branch.events)
        assert folded(branch.events) == folded(events)
        assert problems(branch.events) == problems(events)
        assert state(result) == state(lenient)


class TestReading(Reading.TestCase):  # type: ignore[name-defined, misc]
    """As unittest calls it; the profile says how many examples."""

    settings = settings(
        stateful_step_count=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
    )
