"""The short fuzz: the same 20,000 executions each time, over all formats. `make fuzz` runs the long one."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.driver import Run
from tests.fuzz.laws import Bench
from tests.fuzz.mutator import Trial
from tests.shared import records

FOUND = list(records(Path(__file__).with_name("found.jsonl")))
"""Trials that once broke a law, made small."""

EXECUTIONS = 20_000


def test_no_law_is_broken_in_a_short_run() -> None:
    told = io.StringIO()
    run = Run(seed=4, out=told)
    run.run(EXECUTIONS)
    assert run.bench.executions >= EXECUTIONS
    assert not run.kinds, told.getvalue()


def test_a_trial_comes_again_by_its_number() -> None:
    for number in (0, 1, 4_711):
        assert Run(seed=9).trial(number) == Run(seed=9).trial(number)
    assert Run(seed=9).trial(1) != Run(seed=10).trial(1)


@pytest.mark.parametrize("found", FOUND, ids=[found["note"] for found in FOUND])
def test_what_was_found_stays_mended(found: dict[str, Any]) -> None:
    trial = Trial.loads(json.dumps({key: value for key, value in found.items() if key != "note"}).encode())
    assert trial is not None
    for trial.roll in range(64):  # all laws
        Bench().check(trial)
