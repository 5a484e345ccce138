"""Makes a finding small: the shortest text, the fewest options and the simplest cut that break the same law.

Plain delta debugging: ever smaller stretches of the text are left out for as long as the law stays broken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.mutator import Trial, cut_text

Fails = Callable[[Trial], bool]


def shrunk(trial: Trial, fails: Fails, most: int = 3_000) -> Trial:
    """The smallest trial found that still fails, after at most so many tries."""
    left = most

    def still(other: Trial) -> bool:
        nonlocal left
        left -= 1
        return left > 0 and fails(other)

    before = None
    while before != trial and left > 0:
        before = trial
        trial = _text(trial, still)
        for other in _simpler(trial):
            if still(other):
                trial = other
    return trial


def _text(trial: Trial, still: Fails) -> Trial:
    """Leave out stretches of the text, from halves down to single characters."""
    size = max(len(trial.text) // 2, 1)
    while True:
        at = 0
        while at < len(trial.text):
            other = replace(trial, text=trial.text[:at] + trial.text[at + size :])
            if still(other):
                trial = other
            else:
                at += size
        if size == 1:
            return trial
        size //= 2


def _simpler(trial: Trial) -> Iterator[Trial]:
    """The trial with one of its other parts simpler."""
    for name in trial.options:
        yield replace(trial, options={key: value for key, value in trial.options.items() if key != name})
    for tools in ("none", "ping", "names", "all"):
        if tools != trial.tools and not (trial.tools == "none" or (trial.tools == "all" and tools != "none")):
            yield replace(trial, tools=tools)
    if trial.digits:
        yield replace(trial, digits=0)
    for format in trial.format.split("+"):
        if format != trial.format:
            yield replace(trial, format=format)
    if trial.cut != ("size", (1,)) and trial.cut[0] != "at":
        yield replace(trial, cut=("size", (1,)))
    if trial.cut[0] != "at":
        at, places = 0, []
        for chunk in cut_text(trial.text, trial.cut)[:-1]:
            at += len(chunk)
            places.append(at)
        if len(places) <= 12:
            yield replace(trial, cut=("at", tuple(places)))
    elif len(trial.cut[1]) > 1:
        for skip in range(len(trial.cut[1])):
            yield replace(trial, cut=("at", trial.cut[1][:skip] + trial.cut[1][skip + 1 :]))
    plain = "".join("a" if c.isalpha() and not c.isascii() else c for c in trial.text)
    if plain != trial.text:
        yield replace(trial, text=plain)
