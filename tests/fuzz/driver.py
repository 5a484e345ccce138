"""Runs the fuzzer without any help: trials from numbers, findings shrunk and printed as cases of the corpus.

The rule: a trial is named by the run's seed and its number, so that a finding comes again with
`python -m tests.fuzz --seed S --first N --trials 1`. Executions are counted where they are made (see `laws.py`);
those that the shrinker makes are counted apart.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from tests.fuzz.laws import Bench, Broken
from tests.fuzz.mutator import OFFERED, Trial, known_formats, mutated_trial, random_format, random_trial, valid
from tests.fuzz.shrink import shrunk

BATCH = 64
"""Trials in a row of one format: the formats' compiled markers are kept for a few formats only."""
ALIKE = 2  # findings of one kind and format that are shrunk and printed
ALIKE_ANYWHERE = 6  # of one kind in all formats


@dataclass(slots=True)
class Finding:
    """A trial that breaks a law, made small."""

    number: int
    trial: Trial
    broken: Broken

    def case(self) -> dict[str, Any]:
        """The finding as a case of the corpus; what to expect is for a person to say."""
        trial = self.trial
        name = hashlib.sha256(trial.dumps()).hexdigest()[:8]
        made: dict[str, Any] = {
            "id": f"{trial.format}-fuzz-{name}",
            "format": trial.format,
            "tools": list(OFFERED[trial.tools]),
            "text": trial.text,
        }
        if trial.options:
            made["options"] = trial.options
        if len(trial.chunks()) > 1:
            made["chunks"] = trial.chunks()
        note = f"{self.broken}"[:600]
        return {**made, "expect": {}, "tags": ["fuzz"], "note": note}


@dataclass(slots=True)
class Run:
    """A run of the fuzzer: how far it is, and what it found."""

    seed: int
    formats: tuple[str, ...] = ()
    near: tuple[Trial, ...] = ()  # trials near which to look: what a guided run has kept
    out: TextIO = field(default_factory=lambda: sys.stdout)
    bench: Bench = field(default_factory=Bench)
    shrinker: Bench = field(default_factory=Bench)
    trials: int = 0
    findings: list[Finding] = field(default_factory=list)
    kinds: Counter[tuple[str, ...]] = field(default_factory=Counter)
    told: Counter[tuple[str, ...]] = field(default_factory=Counter)
    started: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.perf_counter() - self.started

    def trial(self, number: int) -> Trial:
        """The trial of this run with this number."""
        batch = random.Random(self.seed << 40 | number // BATCH)
        format = batch.choice(self.formats) if self.formats else random_format(batch)
        chance = random.Random(self.seed << 40 | 1 << 39 | number)
        if not self.near:
            return random_trial(chance, format)
        kept = self.near[number // BATCH * 7 % len(self.near)]
        trial = mutated_trial(chance, kept)
        return mutated_trial(chance, trial) if chance.random() < 0.5 else trial

    def run(self, executions: int, *, first: int = 0, trials: int = 0, seconds: float = 0.0) -> None:
        """Try until there were so many executions, trials or seconds."""
        number = first
        while self.bench.executions < executions:
            if (trials and self.trials >= trials) or (seconds and self.seconds > seconds):
                return
            trial = self.trial(number)
            self.trials += 1
            broken = self.bench.holds(trial)
            if broken is not None:
                self.found(number, trial, broken)
            number += 1
            if self.trials % 20_000 == 0:
                print(self.line(), file=self.out, flush=True)

    def found(self, number: int, trial: Trial, broken: Broken) -> None:
        """Count a finding; shrink and print the first of its kind."""
        self.kinds[broken.key] += 1
        kind = (*broken.key, trial.format)
        if self.told[kind] >= ALIKE or self.told[broken.key] >= ALIKE_ANYWHERE:
            return
        self.told[kind] += 1
        self.told[broken.key] += 1

        def fails(other: Trial) -> bool:
            again = self.shrinker.holds(other)
            return again is not None and again.key[:2] == broken.key[:2] and _part(again) == _part(broken)

        small = shrunk(trial, fails)
        finding = Finding(number, small, self.shrinker.holds(small) or broken)
        self.findings.append(finding)
        print(f"# trial {number} of seed {self.seed}: {'; '.join(broken.key)}", file=self.out)
        if small.digits:
            print(f"# with at most {small.digits} digits an integer", file=self.out)
        print(json.dumps(finding.case()), file=self.out, flush=True)

    def line(self) -> str:
        """How far the run is."""
        spent = self.seconds
        return (
            f"{self.bench.executions} executions in {spent:.0f} s ({self.bench.executions / max(spent, 1e-9):.0f} a"
            f" second), {self.trials} trials, {self.bench.characters / max(self.bench.executions, 1):.0f} characters"
            f" each; {sum(self.kinds.values())} broken laws of {len(self.kinds)} kinds"
        )

    def summary(self) -> None:
        """What the run found, by kind, and the slowest executions."""
        print(self.line(), file=self.out)
        print(f"the shrinker made {self.shrinker.executions} more", file=self.out)
        for kind, count in self.kinds.most_common():
            print(f"{count:>7} {'; '.join(kind)}", file=self.out)
        for took, trial in sorted(self.bench.slow, key=lambda pair: -pair[0])[:5]:
            print(
                f"slow: {took:.3f} s for {len(trial.text)} characters of {trial.format}: {trial!r:.500}", file=self.out
            )


def _part(broken: Broken) -> str:
    """For laws of comparison: which part of the result differs."""
    return str(broken.error).split(":", 1)[0][:20] if isinstance(broken.error, AssertionError) else broken.where


def kept_trials(folder: Path) -> Iterator[Trial]:
    """The trials in the files of a folder, in the order of their names."""
    for path in sorted(folder.iterdir()):
        trial = Trial.loads(path.read_bytes())
        if trial is not None and valid(trial):
            yield trial


def main(argv: list[str] | None = None) -> int:
    """The command."""
    arguments = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    arguments.add_argument("--executions", type=int, default=10_000_000, help="how many at the most")
    arguments.add_argument("--seconds", type=float, default=0, help="how long at the most")
    arguments.add_argument("--seed", type=int, default=0, help="of the run")
    arguments.add_argument("--first", type=int, default=0, help="the number of the first trial")
    arguments.add_argument("--trials", type=int, default=0, help="how many at the most")
    arguments.add_argument("--format", default="", help="only these formats, with commas between")
    arguments.add_argument("--near", type=Path, help="a folder of trials to change, as the guided fuzzer keeps them")
    options = arguments.parse_args(argv)
    only = tuple(name for name in options.format.split(",") if name)
    unknown = [name for item in only for name in item.split("+") if name not in known_formats()]
    if unknown:
        arguments.error(f"no such format: {', '.join(unknown)}")
    run = Run(options.seed, only, tuple(kept_trials(options.near)) if options.near else ())
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        run.run(options.executions, first=options.first, trials=options.trials, seconds=options.seconds)
    run.summary()
    return 1 if run.kinds else 0
