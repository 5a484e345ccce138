"""Tells from a regular expression's parse tree whether it can take more than linear time.

The tree becomes an automaton whose states are the characters of the pattern. A search with backtracking tries the ways
through it one by one; so it is exponential where one loop reads a text in two ways, and polynomial where two loops read
the same text one behind the other (Weber and Seidl, "On the degree of ambiguity of finite automata"). A repeat with an
upper bound is a constant: two rounds of it stand for all, so that one inside a loop still counts. What a look-ahead
asks is left out, which may only find more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

MANY = 1_000  # rounds from which on a repeat has no bound
SAMPLE = [chr(i) for i in range(256)] + list("　東｜▁é\ue000\ue001\U0001f600٣")


@dataclass
class Part:
    """A piece of a pattern: whether it may be empty, and where it begins and ends.

    `last` holds for each state the characters that cannot follow there: a possessive repeat has taken them all.
    """

    empty: bool
    first: set[int]
    last: dict[int, int]


@dataclass
class Automaton:
    """States with the characters that lead to them, as bits of `alphabet`."""

    alphabet: list[str]
    flags: int
    states: list[int] = field(default_factory=list)
    edges: dict[tuple[int, int], int] = field(default_factory=dict)
    doubled: set[tuple[int, int]] = field(default_factory=set)  # steps that can be taken in two ways

    def link(self, last: dict[int, int], first: Iterable[int]) -> None:
        for p, taken in last.items():
            for q in first:
                chars = self.states[q] & ~taken
                if chars:
                    if self.edges.get((p, q), 0) & chars:
                        self.doubled.add((p, q))
                    self.edges[p, q] = self.edges.get((p, q), 0) | chars

    def chars(self, op: Any, value: Any) -> int:
        """The characters that one item of a pattern stands for."""
        return sum(1 << i for i, char in enumerate(self.alphabet) if self._fits(char, op, value))

    def _fits(self, char: str, op: Any, value: Any) -> bool:
        if op is _constants.LITERAL:
            return ord(char) == value
        if op is _constants.NOT_LITERAL:
            return ord(char) != value
        if op is _constants.ANY:
            return char != "\n" or bool(self.flags & re.DOTALL)
        if op is _constants.RANGE:
            return bool(value[0] <= ord(char) <= value[1])
        if op is _constants.CATEGORY:
            kind = str(value).rpartition("_")[2].lower()
            found = re.match({"digit": r"\d", "space": r"\s", "word": r"\w"}[kind], char, self.flags & re.ASCII)
            return bool(found) != ("NOT" in str(value))
        assert op is _constants.IN, op
        negated = value[0][0] is _constants.NEGATE
        return any(self._fits(char, o, v) for o, v in value[negated:]) != negated

    def part(self, items: Iterable[tuple[Any, Any]]) -> Part:
        """A sequence of items."""
        whole = Part(True, set(), {})
        for op, value in items:
            whole = self._behind(whole, self._item(op, value))
        return whole

    def _behind(self, a: Part, b: Part) -> Part:
        self.link(a.last, b.first)
        return Part(
            a.empty and b.empty, a.first | (b.first if a.empty else set()), {**(a.last if b.empty else {}), **b.last}
        )

    def _item(self, op: Any, value: Any) -> Part:
        if op in (_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT, _constants.GROUPREF):
            return Part(True, set(), {})
        if op is _constants.FAILURE:  # what Python 3.13 makes of `(?!)`
            return Part(False, set(), {})
        if op is _constants.SUBPATTERN:
            return self.part(value[3])
        if op is _constants.ATOMIC_GROUP:
            return self.part(value)
        if op is _constants.BRANCH:
            parts = [self.part(items) for items in value[1]]
            lasts = {p: taken for part in parts for p, taken in part.last.items()}
            return Part(any(p.empty for p in parts), set().union(*(p.first for p in parts)), lasts)
        if op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT):
            return self._repeat(*value, possessive=op is _constants.POSSESSIVE_REPEAT)
        self.states.append(self.chars(op, value))
        at = len(self.states) - 1
        return Part(False, {at}, {at: 0})

    def _repeat(self, least: int, most: int, items: Any, *, possessive: bool) -> Part:
        if most < MANY:
            whole = Part(True, set(), {})
            for round in range(min(most, 2)):
                once = self.part(items)
                once.empty = once.empty or round >= least
                whole = self._behind(whole, once)
        else:
            whole = self.part(items)
            self.link(whole.last, whole.first)
            whole.empty = whole.empty or not least
        if possessive and len(items) == 1:
            taken = 0
            for state in whole.first:
                taken |= self.states[state]
            whole.last = dict.fromkeys(whole.last, taken)
        return whole

    # -- what it tells ---------------------------------------------------------------------------------

    def steps(self) -> dict[int, list[tuple[int, int]]]:
        """For each state the next ones, with the characters that lead there."""
        found: dict[int, list[tuple[int, int]]] = {p: [] for p in range(len(self.states))}
        for (p, q), chars in self.edges.items():
            found[p].append((q, chars))
        return found

    def loops(self) -> dict[int, frozenset[int]]:
        """The states that can be reached from each state that can be reached from itself."""
        steps = self.steps()

        def reach(start: int) -> frozenset[int]:
            seen: set[int] = set()
            waiting = [start]
            while waiting:
                for q, _ in steps[waiting.pop()]:
                    if q not in seen:
                        seen.add(q)
                        waiting.append(q)
            return frozenset(seen)

        found = {p: reach(p) for p in range(len(self.states))}
        return {p: reached for p, reached in found.items() if p in reached}

    def faults(self) -> Iterator[str]:
        """Why a search may take more than linear time."""
        loops, steps = self.loops(), self.steps()
        for p, q in self.doubled:
            if p in loops and q in loops and p in loops[q]:
                yield f"exponential: {self.show(self.states[q])} is read in two ways by one loop"
        for p in loops:
            for q in loops:
                if p != q and q in loops[p] and self._same_text(p, q, steps):
                    kind = "exponential" if p in loops[q] else "polynomial"
                    yield f"{kind}: {self.show(self.states[p])} may be read by either of two loops"

    def _same_text(self, p: int, q: int, steps: dict[int, list[tuple[int, int]]]) -> bool:
        """Whether some text leads from p to p, from p to q, and from q to q."""
        start, goal = (p, p, q), (p, q, q)
        seen, waiting = {start}, [start]
        while waiting:
            a, b, c = waiting.pop()
            for a2, first in steps[a]:
                for b2, second in steps[b]:
                    if both := first & second:
                        for c2, third in steps[c]:
                            state = (a2, b2, c2)
                            if both & third and state not in seen:
                                if state == goal:
                                    return True
                                seen.add(state)
                                waiting.append(state)
        return False

    def show(self, chars: int) -> str:
        return repr("".join(c for i, c in enumerate(self.alphabet) if chars >> i & 1)[:20])


def tree(pattern: str, flags: int) -> Any:
    return _parser.parse(pattern, flags)


def unbounded(items: Any) -> bool:
    """Whether a repeat without an upper bound is somewhere in a parse tree."""
    return any(op in REPEATS and value[1] >= MANY for op, value in every(items))


REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)


def every(items: Any) -> Iterator[tuple[Any, Any]]:
    """All items of a parse tree, those in groups too."""
    for op, value in items:
        yield op, value
        for inner in inside(op, value):
            yield from every(inner)


def inside(op: Any, value: Any) -> list[Any]:
    """The sequences that an item holds."""
    if op in REPEATS:
        return [value[2]]
    if op is _constants.SUBPATTERN:
        return [value[3]]
    if op is _constants.BRANCH:
        return list(value[1])
    if op in (_constants.ASSERT, _constants.ASSERT_NOT):
        return [value[1]]
    return [value] if op is _constants.ATOMIC_GROUP else []


def faults(pattern: str, flags: int, *, searched: bool) -> list[str]:
    """Why it may take more than linear time: to search the pattern, or to match it at one place, whole or not."""
    items: Any = tree(pattern, flags)
    if not unbounded(items):
        return []
    literals = {chr(value) for op, value in every(items) if op in (_constants.LITERAL, _constants.NOT_LITERAL)}
    automaton = Automaton(sorted({*SAMPLE, *literals}), flags)
    if searched:  # as if the pattern began with anything
        automaton.states.append((1 << len(automaton.alphabet)) - 1)
        anything = {0: 0}
        automaton.link(anything, anything)
        automaton.link(anything, automaton.part(without_tail(list(items))).first)
    else:
        automaton.part(items)
    return sorted(set(automaton.faults()))


def without_tail(items: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """A sequence less the rounds at its end that need not be: they cannot make it fail, so nothing is tried again."""
    while items:
        op, value = items[-1]
        if op is _constants.SUBPATTERN:
            items = [*items[:-1], *value[3]]
        elif op in REPEATS and value[1] >= MANY and not value[0]:
            items.pop()
        elif op in REPEATS and value[1] >= MANY:
            return [*items[:-1], *list(value[2]) * value[0]]
        else:
            break
    return items


# Attacks: what each repeat reads, over and over, with something behind it that nothing can read.


def sample(items: Any, groups: dict[int, str]) -> str:
    """A short text that a sequence reads."""
    return "".join(_sample(op, value, groups) for op, value in items)


def _sample(op: Any, value: Any, groups: dict[int, str]) -> str:
    if op in REPEATS:
        return sample(value[2], groups) * max(value[0], 1)
    if op is _constants.SUBPATTERN:
        text = sample(value[3], groups)
        if value[0] is not None:
            groups[value[0]] = text
        return text
    if op is _constants.BRANCH:
        return sample(value[1][0], groups)
    if op is _constants.ATOMIC_GROUP:
        return sample(value, groups)
    if op is _constants.GROUPREF:
        return groups.get(value, "")
    if op in (_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT, _constants.FAILURE):
        return ""
    return next(iter(_read_by(op, value)), "")


def _read_by(op: Any, value: Any) -> list[str]:
    automaton = Automaton([*"ax1 \n<", *SAMPLE], 0)
    return [char for char in automaton.alphabet if automaton._fits(char, op, value)]


def attacks(pattern: str, flags: int, size: int) -> Iterator[str]:
    """Texts on which the pattern would be slow if it could be."""
    for before, unit in dict.fromkeys(_pumps(tree(pattern, flags), "")):
        if unit:
            for behind in ("", "\x00", "!", "\n", before):
                yield before + unit * (size // len(unit)) + behind
            yield (before + unit) * (size // len(before + unit))


def _pumps(items: Any, before: str) -> Iterator[tuple[str, str]]:
    groups: dict[int, str] = {}
    for op, value in items:
        if op in REPEATS:
            yield before, sample(value[2], groups)
            for inner, ways in value[2]:  # each of the ways through it
                if inner is _constants.BRANCH:
                    yield before, "".join(sample(way, groups) for way in ways[1])
        for inside_it in inside(op, value):
            yield from _pumps(inside_it, before)
        before += _sample(op, value, groups)
