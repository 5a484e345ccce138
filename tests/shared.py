"""Finds what lies beside the project: the shared cases and replies. None of it is needed to run the other tests."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TOOLGLOT_SHARED") or ROOT.parent / "shared")
ABSENT = "the shared folder is not beside the project; TOOLGLOT_SHARED names another place"


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file that holds one JSON object a line."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def pieces(text: str, size: int) -> list[str]:
    """The text cut every `size` code points."""
    return [text[i : i + size] for i in range(0, len(text), size)]


def same(a: object, b: object) -> bool:
    """Equal as JSON: `1`, `1.0` and `true` are three values; the order of keys does not count."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def named(calls: Any) -> list[dict[str, Any]]:
    """Calls, whole or incomplete, as their names and arguments."""
    return [{"name": call.name, "arguments": call.arguments} for call in calls]


def lines_run(work: Callable[..., object], *args: Any) -> int:
    """Lines of Python that a piece of work runs: a measure without a clock."""
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
