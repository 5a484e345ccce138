"""The gate of speed that needs no clock: instructions of the hot paths, counted by valgrind.

    python -m benchmarks.instructions           compares with the table; fails where a path is more than 10 % dearer
    python -m benchmarks.instructions --write   writes the table's figures of this version of Python

The rule: one process prepares everything, and a child of it does each piece of work. What the child counts above one
that does nothing is the work's own cost. It is told in hundredths of a reference that is counted beside it, so that
another build of the same version of Python comes to about the same.
"""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .scenarios import REFERENCE, SCENARIOS

TABLE = Path(__file__).with_suffix(".json")
VERSION = "{}.{}".format(*sys.version_info)
MOST = 1.10
"""How much dearer than in the table a path may be."""

WARM = 3
CHILD = "--counted"


class Absent(Exception):
    """The figures cannot be compared here, and why."""


def counted() -> dict[str, float]:
    """What each scenario costs, in hundredths of the reference. Raises `Absent` where valgrind is not there."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise Absent("valgrind is not installed")
    with tempfile.TemporaryDirectory() as folder:
        command = [valgrind, "--tool=callgrind", f"--callgrind-out-file={folder}/%p", sys.executable]
        variables = os.environ | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        run = [*command, "-m", "benchmarks.instructions", CHILD]
        root = Path(__file__).resolve().parent.parent
        told = subprocess.run(run, capture_output=True, text=True, env=variables, check=False, cwd=root)
        if told.returncode:
            raise RuntimeError(told.stderr[-2_000:])
        children: dict[str, int] = json.loads(told.stdout.splitlines()[-1])
        totals = {name: _total(Path(folder, str(child))) for name, child in children.items()}
    base = totals.pop("nothing")
    unit = (totals.pop(REFERENCE) - base) / 100
    return {name: round((total - base) / unit, 3) for name, total in totals.items()}


def _total(path: Path) -> int:
    found = re.search(r"^(?:summary|totals): (\d+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"expected a line with the total in {path.name}, got none")
    return int(found[1])


def prepare_and_fork() -> dict[str, int]:
    """Under valgrind: do everything before, then each piece of work in a child; its process ids by name."""
    gc.disable()
    for prepare in SCENARIOS.values():
        for _ in range(WARM):
            prepare()()
    works = {name: prepare() for name, prepare in SCENARIOS.items()}
    gc.freeze()
    children = {}
    for name, work in works.items():
        child = os.fork()
        if not child:
            work()
            os._exit(0)
        os.waitpid(child, 0)
        children[name] = child
    return children


def expected() -> dict[str, float]:
    """The table's figures for this version of Python. Raises `Absent` where there are none."""
    figures: dict[str, dict[str, float]] = json.loads(TABLE.read_text(encoding="utf-8"))
    if VERSION not in figures:
        raise Absent(f"{TABLE.name} has no figures for Python {VERSION}")
    return figures[VERSION]


def dearer(before: dict[str, float], now: dict[str, float]) -> list[str]:
    """What costs more than the table allows, and scenarios that only one side knows."""
    found = [f"{name}: only in the {'table' if name in before else 'run'}" for name in before.keys() ^ now.keys()]
    for name in before.keys() & now.keys():
        if now[name] > before[name] * MOST:
            found.append(f"{name}: expected {before[name]}, got {now[name]} ({now[name] / before[name]:.2f} times)")
    return sorted(found)


def write(figures: dict[str, float]) -> None:
    """Put the figures of this version of Python into the table."""
    table = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    table[VERSION] = figures
    TABLE.write_text(json.dumps(dict(sorted(table.items())), indent=2) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Compare, or write; the exit code is 1 where something is dearer."""
    if CHILD in arguments:
        print(json.dumps(prepare_and_fork()))
        return 0
    try:
        before = {} if "--write" in arguments else expected()
        now = counted()
    except Absent as why:
        print(f"not compared: {why}")
        return 0
    if "--write" in arguments:
        write(now)
    for name, cost in now.items():
        print(f"{name:40} {cost:9.3f}" + (f"  table {before[name]:9.3f}" if name in before else ""))
    found = dearer(before, now) if before else []
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
