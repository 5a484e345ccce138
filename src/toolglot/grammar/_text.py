"""Text that holds none of some markers, as a machine: the states are what of a marker has been read.

The rule: one code point, one step; so that a grammar which knows only characters can say it. A machine has at most one
state for each code point of its markers.
"""

from __future__ import annotations

from dataclasses import dataclass

from ._nodes import ANY, Chars, Text, Until


@dataclass(frozen=True, slots=True)
class Step:
    """What may come in a state: a character of `chars`, and the state that follows; None is the end of the closer."""

    chars: Chars
    next: str | None


Machine = dict[str, tuple[Step, ...]]


def machine(node: Until | Text) -> Machine:
    """The machine of a text; the first state is the empty one.

    >>> {state: [step.next for step in steps] for state, steps in machine(Until("</a>")).items()}
    {'': ['<', ''], '<': ['<', '</', ''], '</': ['<', '</a', ''], '</a': ['<', None, '']}
    """
    closer = node.closer if isinstance(node, Until) else ""
    patterns = tuple(filter(None, (closer, *node.without)))
    begun = frozenset(pattern[:length] for pattern in patterns for length in range(1, len(pattern) + 1))
    closing = frozenset(closer[:length] for length in range(1, len(closer) + 1))
    letters = "".join(dict.fromkeys("".join(patterns)))
    found: Machine = {}
    waiting = [""]
    while waiting:
        state = waiting.pop(0)
        if state in found:
            continue
        groups: dict[str | None, list[str]] = {}
        dead = []
        for letter in letters:
            text = state + letter
            if closer and text.endswith(closer):
                groups.setdefault(None, []).append(letter)
            elif _refused(state, text, closing, node.without):
                dead.append(letter)
            else:
                groups.setdefault(_longest(text, begun), []).append(letter)
        others = "".join(c for c in letters if c not in groups.get("", ()))
        groups.pop("", None)
        steps = [Step(Chars(tuple((ord(c), ord(c)) for c in found)), then) for then, found in groups.items()]
        if not _covered(state, closing, node.without):
            steps.append(Step(ANY.without(others), ""))
        found[state] = tuple(steps)
        waiting += [step.next for step in steps if step.next is not None]
    return found


def _longest(text: str, begun: frozenset[str]) -> str:
    """The longest end of a text that begins a pattern."""
    return next((text[i:] for i in range(len(text)) if text[i:] in begun), "")


def _covered(state: str, closing: frozenset[str], without: tuple[str, ...]) -> str:
    """What of the closer was read, if a marker lies in it: then only the closer may go on."""
    read = _longest(state, closing)
    return read if any(marker in read for marker in without) else ""


def _refused(state: str, text: str, closing: frozenset[str], without: tuple[str, ...]) -> bool:
    """Whether the last code point of a text makes it hold a marker that is no part of the closer."""
    read = _longest(text, closing)
    covered = _covered(state, closing, without)
    if covered and len(read) != len(covered) + 1:
        return True
    return any(len(marker) > len(read) and text.endswith(marker) for marker in without)
