"""What a model is told of the calls that were not taken: one refusal a call, in words for a small model.

The rule: short sentences that say what was wrong, where, and what to do; no more of them than help.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolglot import Call, Code, Problem, Result

MOST = 10  # calls, and faults of one call, that are told of
_BEFORE, _BEHIND = 40, 20  # code points that are shown around a place

ADVICE: Mapping[Code, str] = {
    Code.UNKNOWN_TOOL: "Use one of the offered tools.",
    Code.UNREADABLE: "Write the whole call again, in the form that was shown.",
    Code.INVALID_NAME: "Write the whole call again, in the form that was shown.",
    Code.UNRECOGNIZED: "Write the whole call again, in the form that was shown.",
    Code.INVALID_ARGUMENTS: "Write the call again, with arguments that fit.",
    Code.TRUNCATED: "Write the whole call again, but shorter.",
    Code.LIMIT: "Write fewer or shorter calls.",
}
"""What to do, by the problem that a call is refused for: `Code.refuses`."""

_WIDE = (Code.UNREADABLE, Code.TRUNCATED)
"""Problems that span a whole call: what else is wrong inside is theirs."""


@dataclass(slots=True)
class Refusal:
    """A call that is not to be run: `text` says why; `call` is there where it could be read."""

    name: str | None
    text: str
    call: Call | None = None


def refusals(result: Result) -> list[Refusal]:
    """The refused calls of a reply, in its order."""
    lines = [0, *(found.end() for found in re.finditer("\n", result.text))]
    wide = [p for p in result.problems if p.code in _WIDE and not p.repaired]
    starts = [p.span[0] for p in wide]
    calls = {call.span: call for call in result.calls}
    inner: dict[int, Problem] = {}  # by the place of the wide problem: the first that says where
    heads: dict[tuple[int, int, Code], list[Problem]] = {}
    for problem in result.problems:
        if problem.repaired or not problem.code.is_error:
            continue
        at = bisect_right(starts, problem.span[0]) - 1
        if problem.code not in _WIDE and at >= 0 and problem.span[0] <= wide[at].span[1]:
            inner.setdefault(starts[at], problem)
        elif problem.code.refuses:
            heads.setdefault((*problem.span, problem.code), []).append(problem)
    return [_refusal(result, found, inner.get(found[0].span[0]), calls, lines) for found in heads.values()]


def as_results(refused: Iterable[Refusal]) -> list[dict[str, Any]]:
    """Refusals as the results that `render_results` takes; not more than help."""
    items = list(refused)
    results = [{"name": r.name or "unknown", "content": r.text} for r in items[:MOST]]
    if len(items) > MOST:
        results.append({"name": "unknown", "content": f"{len(items) - MOST} more calls were not run either."})
    return results


def _refusal(
    result: Result,
    found: list[Problem],
    inner: Problem | None,
    calls: Mapping[tuple[int, int], Call],
    lines: list[int],
) -> Refusal:
    problem = found[0]
    call = calls.get(problem.span) if problem.code is Code.INVALID_ARGUMENTS else None
    name = call.name if call is not None else None
    if problem.code is Code.UNKNOWN_TOOL:
        name = result.text[slice(*problem.span)]
    elif problem.incomplete is not None:
        name = problem.incomplete.name
    if call is not None:
        said = [f"{p.message}." for p in found[:MOST]]
        if len(found) > MOST:
            said.append(f"There are {len(found) - MOST} more faults.")
    elif problem.code in (Code.UNKNOWN_TOOL, Code.LIMIT):
        said = [f"{problem.message}."]
    elif problem.code is Code.TRUNCATED:
        said = [f"The call was cut off. {problem.message}."]
    else:
        said = [f"{problem.message} ({_where(result.text, _place(problem, inner), lines)})."]
    return Refusal(name, "\n".join([*said, f"The call was not run. {ADVICE[problem.code]}"]), call)


def _place(problem: Problem, inner: Problem | None) -> int:
    """Where a call that cannot be read goes wrong: reading stopped there."""
    if inner is not None:
        return inner.span[0]
    return problem.span[1] if problem.code is Code.UNREADABLE else problem.span[0]


def _where(text: str, at: int, lines: list[int]) -> str:
    """A place in words: line, column (both from 1) and what stands there; `lines` is where each line begins."""
    line = bisect_right(lines, at)
    before = text[max(at - _BEFORE, 0) : at].rpartition("\n")[2]
    behind = text[at : at + _BEHIND].partition("\n")[0]
    return f"line {line}, column {at - lines[line - 1] + 1}, near: {f'{before}{behind}'.strip() or 'the end'}"
