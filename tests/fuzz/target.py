"""The target for atheris: `python -m tests.fuzz.target [--runs N] [folder of the corpus] [options of libFuzzer]`.

The package is instrumented, so that what reaches new code is kept; the input is a trial as JSON, and the mutator of
`mutator.py` changes it, so that every input is a reply with its options. `--runs` counts trials; each makes several
executions, which are told on the way. What reaches new code is kept in the folder, for `python -m tests.fuzz --near`.
"""

from __future__ import annotations

import functools
import random
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["toolglot"]):
    from toolglot import _parser  # instrumented here, before anything else imports it

from tests.fuzz.driver import Run
from tests.fuzz.mutator import Trial, mutated_trial, random_format, random_trial, seed_trials, spliced_trial, valid

RUN = Run(0)
TOLD = 1_000  # trials from one line to the next

# A guided fuzzer jumps between more formats than the library keeps ready; to make them anew takes longer than to read.
_parser._compiled = functools.lru_cache(maxsize=1024)(_parser._compiled.__wrapped__)  # type: ignore[assignment]


def read(data: bytes) -> Trial | None:
    """The trial of an input, if it is one."""
    trial = Trial.loads(data)
    return trial if trial is not None and valid(trial) else None


def try_one(data: bytes) -> None:
    """Hold the trial of an input to all laws; a finding is printed, and new kinds are counted."""
    trial = read(data)
    if trial is None:
        return
    RUN.trials += 1
    if RUN.trials % TOLD == 0:
        print(RUN.line(), flush=True)
    broken = RUN.bench.holds(trial)
    if broken is not None:
        RUN.found(RUN.trials, trial, broken)


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Another input near this one."""
    chance = random.Random(seed)
    trial = read(data)
    changed = random_trial(chance, random_format(chance)) if trial is None else mutated_trial(chance, trial)
    made = changed.dumps()
    return made if len(made) <= max_size else data[:max_size]


def splice(data: bytes, other: bytes, max_size: int, seed: int) -> bytes:
    """An input of two."""
    chance = random.Random(seed)
    one, two = read(data), read(other)
    if one is None or two is None:
        return mutate(data, max_size, seed)
    made = spliced_trial(chance, one, two).dumps()
    return made if len(made) <= max_size else data[:max_size]


def sow(folder: Path) -> None:
    """Write the seeds where libFuzzer looks for them."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, trial in enumerate(seed_trials(most=15)):
        path = folder / f"seed-{number:05}"
        if not path.exists():
            path.write_bytes(trial.dumps())


def main(argv: list[str]) -> None:
    """The command; libFuzzer ends the process."""
    translated = []
    arguments = iter(argv[1:])
    for argument in arguments:
        if argument == "--runs":
            translated.append(f"-runs={next(arguments)}")
        elif argument.startswith("--runs="):
            translated.append(f"-runs={argument[7:]}")
        else:
            translated.append(argument)
    for folder in translated:
        if not folder.startswith("-"):
            sow(Path(folder))
            break
    if not any(a.startswith("-max_len") for a in translated):
        translated.append("-max_len=8192")
    atheris.Setup([argv[0], *translated], try_one, custom_mutator=mutate, custom_crossover=splice)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv)
