"""The short fuzz: the same 20,000 executions each time, over all formats. `make fuzz` runs the long one."""

from __future__ import annotations

import io

from tests.fuzz.driver import Run

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
