"""Times two things in turn, so that whatever slows the machine slows both.

The rule: what comes out is a ratio of the same round; the median of the rounds is told, never a number of seconds. The
clock is the process's own time: beside other work a long piece is interrupted and a short one is not, so that on the
wall the long one would look dearer than it is.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

now = time.process_time

AT_LEAST = 200e-6
"""Seconds that one side of a round lasts at the least: shorter work is repeated."""


@dataclass(frozen=True)
class Budget:
    """How long one figure is measured: seconds, rounds at the least and at the most, and when slow work has enough."""

    seconds: float = 0.15
    least: int = 5
    most: int = 200
    enough: float = 0.7


FULL = Budget()
QUICK = Budget(0.002, 1, 2)


class Empty:
    """What a delta costs at the least: one call of a method."""

    def push(self, text: str) -> None:
        """Nothing."""


def ratio(work: Callable[[], object], other: Callable[[], object], budget: Budget = FULL) -> float:
    """How many times the other work's time the work takes."""
    work(), other()
    times = _repeats(work), _repeats(other)
    found: list[float] = []
    begin = now()
    while True:
        found.append(_each(work, times[0]) / _each(other, times[1]))
        spent, rounds = now() - begin, len(found)
        if rounds >= budget.least and (spent > budget.seconds or rounds >= budget.most):
            break
        if spent > budget.enough:
            break
    return statistics.median(found)


def _repeats(work: Callable[[], object]) -> int:
    """How often a work is done so that it can be timed."""
    return max(1, int(AT_LEAST / max(_each(work, 1), 1e-7)))


def _each(work: Callable[[], object], times: int) -> float:
    begin = now()
    for _ in range(times):
        work()
    return (now() - begin) / times


def fed(feed: Callable[[str], Any], deltas: Sequence[str]) -> float:
    """Seconds for these deltas."""
    begin = now()
    for delta in deltas:
        feed(delta)
    return now() - begin


def windows(deltas: Sequence[str], size: int) -> list[Sequence[str]]:
    """The deltas in runs of so many."""
    return [deltas[i : i + size] for i in range(0, len(deltas), size)]
