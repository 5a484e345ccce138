"""The one command: measures every row and the peers, prints the tables and writes `docs/benchmarks.md` and its plot.

    python -m benchmarks                     measures all and writes the page
    python -m benchmarks --rows flat,peers   measures these anew; the rest of the page is what was measured before
    python -m benchmarks --page              writes the page from what was measured before
    python -m benchmarks --quick             a few small replies of three formats: a smoke test, which writes nothing

The rule: each group of rows is kept as soon as it is measured, so that a run that is stopped loses only one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from toolglot import formats

from . import clock, hostile, memory, page, streams, whole
from .compare import Comparison, compared, unfit
from .peers import PEERS
from .replies import SIX, SIZES
from .rows import Row

KEPT = page.ROOT / "build" / "benchmarks.json"
"""What was measured last, by group."""

QUICK_FORMATS = ("hermes", "qwen3_xml", "pythonic")
SPIKE_RUNS = 3


def measures(names: list[str], quick: bool) -> dict[str, Callable[[], list[Row]]]:
    """The rows by a word for each group."""
    budget = clock.QUICK if quick else clock.FULL
    small, large = ("2 KB", "2 KB") if quick else ("64 KB", "1 MB")
    sizes = ["200 B", "2 KB"] if quick else list(SIZES)
    rounds = 1 if quick else 3
    return {
        "whole": lambda: [*whole.whole_rows(names, sizes, budget), whole.spelled_row(names, budget)],
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
    names = options.formats.split(",") if options.formats else [f.id for f in formats()]
    if options.quick and not options.formats:
        names = list(QUICK_FORMATS)
    groups = measures(names, options.quick)
    wanted = [] if options.page else options.rows.split(",") if options.rows else [*groups, "peers"]
    writes = not (options.quick or options.formats)
    kept = _kept() if writes else {}
    for word in wanted:
        kept[word] = _peers(options.quick) if word == "peers" else [row.to_dict() for row in groups[word]()]
        for row in kept[word] if word != "peers" else ():
            print(" | ".join(Row.from_dict(row).cells()), flush=True)
        if writes:
            KEPT.parent.mkdir(exist_ok=True)
            KEPT.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")
    _tell(groups, kept, writes)


def _tell(groups: Iterable[str], kept: dict[str, Any], writes: bool) -> None:
    """Print what is known, and write the page."""
    peers = kept.get("peers") or {"found": [], "unfit": {}}
    found, reasons = [Comparison(**one) for one in peers["found"]], peers["unfit"]
    rows = [Row.from_dict(row) for word in groups for row in kept.get(word, ())]
    rows += page.peer_rows(found)
    print("\n" + page.main_table(rows))
    if found or reasons:
        print("\n" + page.peer_tables(found, reasons))
    if writes:
        facts = {"formats": len(formats()), "spike": SPIKE_RUNS}
        page.PAGE.write_text(page.written(rows, found, reasons, facts), encoding="utf-8")
        page.plot(found)


def _kept() -> dict[str, Any]:
    """What was measured before, by group."""
    known: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    return known


def _options() -> argparse.Namespace:
    known = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    known.add_argument("--quick", action="store_true", help="a few small replies of three formats; writes nothing")
    known.add_argument("--rows", default="", help="only these groups, by comma; the others as measured before")
    known.add_argument("--formats", default="", help="only these formats, by comma; writes nothing")
    known.add_argument("--page", action="store_true", help="measure nothing: write what was measured before")
    return known.parse_args()


def _peers(quick: bool) -> dict[str, Any]:
    reasons = {peer: why for peer in PEERS if (why := unfit(peer))}
    found = []
    for one in _compared(quick, reasons):
        print(page.peer_line(one), flush=True)
        found.append(one.to_dict())
    return {"found": found, "unfit": reasons}


def _compared(quick: bool, reasons: dict[str, str]) -> Iterator[Comparison]:
    for peer, adapter in PEERS.items():
        for format in SIX if peer not in reasons else ():
            if format in adapter.formats:
                yield compared(peer, format, quick)


if __name__ == "__main__":
    main()
