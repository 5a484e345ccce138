"""The one command: measures every row and the peers, prints the tables and writes `docs/benchmarks.md` and its plot.

    python -m benchmarks [--quick] [--no-peers] [--rows WORD,..] [--formats ID,..] [--again FILE]

The rule: `--quick`, and a run of some rows or formats only, prints but does not write the page.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from toolglot import formats

from . import clock, hostile, memory, page, streams, whole
from .compare import Comparison, compared, unfit
from .peers import PEERS
from .replies import SIX, SIZES
from .rows import Row

KEPT = page.ROOT / "build" / "benchmarks.json"
"""What was measured last, so that the page can be written again without measuring (`--again`)."""

QUICK_FORMATS = ("hermes", "qwen3_xml", "pythonic")
SPIKE_RUNS = 3


def measures(names: list[str], quick: bool) -> dict[str, Callable[[], list[Row]]]:
    """The rows by a word for each group."""
    budget = clock.QUICK if quick else clock.FULL
    small, large = ("2 KB", "2 KB") if quick else ("64 KB", "1 MB")
    sizes = ["200 B", "2 KB"] if quick else list(SIZES)
    rounds = 1 if quick else 3
    return {
        "whole": lambda: whole.whole_rows(names, sizes, budget),
        "batch": lambda: whole.batch_rows(names, budget, 20 if quick else whole.BATCH),
        "deltas": lambda: [
            *streams.inside_rows(names, small, rounds),
            *streams.short_rows(names, 2 if quick else 20),
            whole.auto_row(names, budget),
        ],
        "flat": lambda: [streams.flat_row(names, "64 KB" if quick else large, 2 if quick else 20)],
        "spike": lambda: [streams.spike_row(names, small if quick else large, 1 if quick else SPIKE_RUNS)],
        "prose": lambda: [streams.prose_row(names, 4_000 if quick else 64_000, rounds)],
        "hostile": lambda: [hostile.hostile_row(names, 500 if quick else hostile.SIZE)],
        "memory": lambda: memory.memory_rows(names, small if quick else large, small),
        "idle": lambda: memory.idle_rows(names, 10 if quick else 1_000),
    }


def main() -> None:
    """Measure, print, and write the page."""
    options = _options()
    kept: dict[str, Any] = {"rows": [], "peers": [], "unfit": {}}
    if options.again:
        kept = json.loads(KEPT.read_text(encoding="utf-8"))
    rows = [Row.from_dict(row) for row in kept["rows"]]
    found = [Comparison(**one) for one in kept["peers"]]
    reasons: dict[str, str] = kept["unfit"]
    if not options.again:
        for row in _measured(options):
            rows.append(row)
            print(" | ".join(row.cells()), flush=True)
        if options.peers:
            reasons = {peer: why for peer in PEERS if (why := unfit(peer))}
            found = list(_compared(options.quick, reasons))
    every = [*rows, *page.peer_rows(found)]
    print(page.main_table(every), page.peer_tables(found, reasons) if found or reasons else "", sep="\n\n")
    if options.writes:
        _keep(rows, found, reasons)
        facts = {"formats": len(formats()), "spike": SPIKE_RUNS}
        page.PAGE.write_text(page.written(every, found, reasons, facts), encoding="utf-8")
        page.plot(found)


def _options() -> argparse.Namespace:
    known = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    known.add_argument("--quick", action="store_true", help="a few small replies of three formats: a smoke test")
    known.add_argument("--no-peers", dest="peers", action="store_false")
    known.add_argument("--rows", default="", help="only these groups of rows, by comma")
    known.add_argument("--formats", default="", help="only these formats, by comma")
    known.add_argument("--again", action="store_true", help="write the page from what was measured last")
    options = known.parse_args()
    options.writes = options.peers and not (options.quick or options.rows or options.formats)
    return options


def _measured(options: argparse.Namespace) -> Iterator[Row]:
    names = options.formats.split(",") if options.formats else [f.id for f in formats()]
    if options.quick and not options.formats:
        names = list(QUICK_FORMATS)
    wanted = options.rows.split(",") if options.rows else None
    for word, measure in measures(names, options.quick).items():
        if wanted is None or word in wanted:
            yield from measure()


def _compared(quick: bool, reasons: dict[str, str]) -> Iterator[Comparison]:
    for peer, adapter in PEERS.items():
        for format in SIX if peer not in reasons else ():
            if format in adapter.formats:
                yield compared(peer, format, quick)


def _keep(rows: list[Row], found: list[Comparison], reasons: dict[str, str]) -> None:
    data = {"rows": [row.to_dict() for row in rows], "peers": [one.to_dict() for one in found], "unfit": reasons}
    KEPT.parent.mkdir(exist_ok=True)
    Path(KEPT).write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
