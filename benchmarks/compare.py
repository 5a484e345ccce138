"""Measures a peer and us in turn in one process, which nothing outlives: some parsers never come back.

The rule: for each peer and format a process of its own with a hard limit, whose lines are kept up to where it was
stopped. A peer's answer is compared with what was rendered; a wrong one is told as such.

    python -m benchmarks.compare PEER FORMAT [--import] [--quick]
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any

from toolglot import parse

from .clock import FULL, QUICK, Budget, Empty, fed, now, ratio, windows
from .peers import PEERS, Peer
from .replies import MARKERS, READY, SIZES, Reply, cut, reply
from .streams import parser

LIMIT = 240
"""Seconds for one process; the first import of a peer, which compiles it, may take longer."""

IMPORT_LIMIT = 400

STREAM_LIMIT = 12
"""Seconds of the process's own time after which a stream is cut short: the rest would cost the peer more, not less."""

WINDOW = 128
SLOW, HOPELESS = 1.0, 1.5
"""Seconds from which on a whole reply is read only once by the peer, and a longer one is not tried."""


@dataclass
class Comparison:
    """A peer beside us. `times` is the peer's cost in times of ours: by size for whole replies, up to `read` of 64 KB
    of deltas; `points` are the place in the reply and the cost of a delta there, theirs and ours, in empty calls."""

    peer: str
    format: str
    whole: dict[str, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    deltas: float | None = None
    read: float = 0.0
    deltas_wrong: bool = False
    points: list[list[float]] = field(default_factory=list)
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return asdict(self)


def version(peer: str) -> str:
    """The version of a peer's package that is installed."""
    try:
        return metadata.version(PEERS[peer].package)
    except metadata.PackageNotFoundError:
        return "not installed"


def compared(peer: str, format: str, quick: bool = False) -> Comparison:
    """Run the measurements of a peer and format in a process of their own."""
    found = Comparison(peer, format)
    for line in _lines([peer, format, *(["--quick"] if quick else [])], LIMIT):
        if "size" in line:
            found.whole[line["size"]] = line["times"]
            found.wrong += [] if line["right"] else [line["size"]]
        elif "read" in line:
            found.deltas, found.read, found.points = line["times"], line["read"], line["points"]
            found.deltas_wrong = line["right"] is False
        else:
            found.error = found.error or line["error"]
    return found


def unfit(peer: str) -> str:
    """Why a peer cannot be measured, or nothing."""
    format = next(iter(PEERS[peer].formats))
    return next((line["error"] for line in _lines([peer, format, "--import"], IMPORT_LIMIT)), "")


def _lines(arguments: list[str], limit: float) -> Iterator[dict[str, Any]]:
    command = [sys.executable, "-m", "benchmarks.compare", *arguments]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        text, error = told.stdout, told.stderr if told.returncode else ""
    except subprocess.TimeoutExpired as stopped:
        text = stopped.stdout.decode() if isinstance(stopped.stdout, bytes) else stopped.stdout or ""
        error = f"no answer within {limit:.0f} s"
    yield from (json.loads(line) for line in text.splitlines() if line.startswith("{"))
    if error.strip():
        yield {"error": error.strip().splitlines()[-1][:160]}


def whole(peer: Peer, format: str, sizes: list[str], budget: Budget) -> Iterator[dict[str, Any]]:
    """Whole replies of each size."""
    read = peer.complete(format)
    for size in sizes:
        given = reply(format, "text", SIZES[size])
        begin = now()
        try:
            right = given.right(peer.calls(read(given.text)))
        except ImportError as error:
            yield {"error": f"{type(error).__name__}: {error}"[:160]}
            return
        except Exception:  # whatever else a peer raises is its wrong answer
            yield {"size": size, "times": 0.0, "right": False}
            continue
        first = now() - begin
        yield {"size": size, "times": _times(read, given, first, budget), "right": right}
        if first > HOPELESS:
            return


def _times(read: Any, given: Reply, first: float, budget: Budget) -> float:
    text, format = given.text, given.format
    if first < SLOW:
        return ratio(lambda: read(text), lambda: _ours(text, format), budget)
    _ours(text, format)
    begin = now()
    _ours(text, format)
    return first / (now() - begin)


def _ours(text: str, format: str) -> list[str]:
    """Our whole reply with its arguments as JSON text too, which is else made when it is asked for."""
    return [call.arguments_json for call in parse(text, READY, format=format).calls]


def stream(peer: Peer, format: str, size: str, limit: float) -> Iterator[dict[str, Any]]:
    """One reply in deltas of four characters; a line at every doubling, so that one is there when it is stopped."""
    theirs = peer.stream(format)
    if theirs is None:
        return
    for first in (peer.stream(format), parser(format)):  # what is done once in a process stays out
        if first is not None:
            fed(first.feed, cut(reply(format, "text", SIZES["200 B"]).text, MARKERS[format]))
    given = reply(format, "text", SIZES[size])
    ours, empty = parser(format), Empty()
    sums = [0.0, 0.0]
    points: list[list[float]] = []
    at, told, begin = 0, 1_000, now()
    for window in windows(cut(given.text, MARKERS[format]), WINDOW):
        times = [fed(one.feed, window) for one in (theirs, ours)]
        floor = fed(empty.push, window)
        sums = [a + b for a, b in zip(sums, times, strict=True)]
        at += sum(map(len, window))
        points.append([at, times[0] / floor, times[1] / floor])
        late = now() - begin > limit
        if at >= told or late:
            told *= 2
            yield {"read": at / len(given.text), "times": sums[0] / sums[1], "points": thinned(points), "right": None}
        if late:
            return
    theirs.finish()
    right = given.right(theirs.calls())
    yield {"read": 1.0, "times": sums[0] / sums[1], "points": thinned(points), "right": right}


def thinned(points: list[list[float]]) -> list[list[float]]:
    """Medians of neighbours, four for each doubling of the place."""
    groups: dict[int, list[list[float]]] = {}
    for point in points:
        groups.setdefault(int(4 * math.log2(point[0])), []).append(point)
    middle = [[statistics.median(column) for column in zip(*group, strict=True)] for group in groups.values()]
    return [[round(value, 2) for value in point] for point in middle]


def main(arguments: list[str]) -> None:
    """Measure one peer and format, and print a line of JSON for each figure."""
    name, format = arguments[:2]
    try:
        peer = PEERS[name]()
    except Exception as error:  # a package may fail in any way while it is imported
        print(json.dumps({"error": f"{type(error).__name__}: {error}"[:160]}))
        return
    if "--import" in arguments:
        return
    quick = "--quick" in arguments
    sizes = ["200 B", "2 KB"] if quick else list(SIZES)
    for lines in (  # the stream first: it is cut short where it is dear, while a whole reply may never come back
        stream(peer, format, "2 KB" if quick else "64 KB", STREAM_LIMIT),
        whole(peer, format, sizes, QUICK if quick else FULL),
    ):
        for line in lines:
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
