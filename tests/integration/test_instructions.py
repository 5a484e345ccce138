"""The gate of speed: no hot path runs many more instructions than the table of this version of Python says."""

import pytest

from benchmarks.instructions import Absent, counted, dearer, expected


def test_no_hot_path_is_much_dearer_than_before() -> None:
    """After a change that is worth its cost, `make instructions` writes the table anew."""
    try:
        before, now = expected(), counted()
    except Absent as why:
        pytest.skip(str(why))
    found = dearer(before, now)
    assert not found, "\n".join(found)


def test_what_is_dearer_is_named_with_both_figures() -> None:
    before = {"same": 10.0, "little": 10.0, "much": 10.0, "less": 10.0, "gone": 1.0}
    now = {"same": 10.0, "little": 10.9, "much": 11.5, "less": 2.0, "new": 1.0}
    assert dearer(before, now) == [
        "gone: only in the table",
        "much: expected 10.0, got 11.5 (1.15 times)",
        "new: only in the run",
    ]
