"""The fuzzer's texts through the face of MAX: the same 300 each time, under their own tools, options and cuts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.fuzz.driver import Run
from tests.fuzz.mutator import OFFERED, Trial, resolve
from tests.wire import completed, streamed
from toolglot import Code
from toolglot.compat.max import ToolParser

TRIALS = 300
PARTS = 4


@contextmanager
def digits(most: int) -> Iterator[None]:
    """Under the trial's own limit of digits."""
    before = sys.get_int_max_str_digits()
    if most:
        sys.set_int_max_str_digits(most)
    yield
    sys.set_int_max_str_digits(before)


def check(trial: Trial, arguments: str) -> None:
    """Whole, at once, in pieces and by characters: no exception but a ValueError, the same content and calls."""
    options = {**trial.options, "arguments": arguments, "format": resolve(trial.format)}
    parser = ToolParser(tools=OFFERED[trial.tools], **options)
    at_once = streamed(parser, [trial.text])
    calls = [(call.name, call.arguments_json) for call in parser.result.calls]
    problems = parser.result.problems
    for pieces in (trial.chunks(), trial.text):
        wire = streamed(parser, pieces)
        assert (wire.content, wire.calls) == (at_once.content, at_once.calls)
    if arguments == "live":
        runnable = iter(at_once.whole)
        assert all(call in runnable for call in calls), "a call is not on the wire"
    else:
        assert at_once.whole == calls, "other calls can be run than those that count"
    if arguments == "whole":
        assert at_once.calls == calls, "a call is on the wire that is none"
    whole = completed(parser, trial.text)
    if whole is None:
        assert not calls
    elif arguments != "whole" or not any(problem.code == Code.LIMIT for problem in problems):
        assert [(call.name, call.arguments) for call in whole.tool_calls] == calls
        assert (whole.content or "").strip() == at_once.content.strip()
    flushed = streamed(parser, trial.chunks(), end="flush")
    assert flushed.names == at_once.names[: len(flushed.names)]
    assert all(there.startswith(here) for here, there in zip(flushed.arguments, at_once.arguments, strict=False))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("arguments", ["live", "sure", "whole"])
def test_fuzzed_texts_pass_the_face(arguments: str, part: int) -> None:
    run = Run(seed=26)
    for number in range(part, TRIALS, PARTS):
        trial = run.trial(number * 64)  # a batch has one format
        with digits(trial.digits):
            try:
                check(trial, arguments)
            except Exception as error:
                raise AssertionError(f"trial {number * 64} of seed 26: {trial!r}") from error
