"""Random texts of a grammar: walks over toolglot's own nodes, and over what llguidance made of the text.

The rule: a walk knows nothing of formats. Where a text may be anything, it is made of markers and their parts on
purpose, since these are what could be misread.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from toolglot.grammar._nodes import (
    Chars,
    Choice,
    Grammar,
    Literal,
    Node,
    Ref,
    Repeat,
    Seq,
    Text,
    Until,
    children,
)

LETTERS = "abcXYZ019 .,:;_-/\\'\"`{}[]()<>|=&\n\t\u00e9\u4e2d\U0001f6a2\u2028\ufeff"
FAR = 10**6


class Walk:
    """Makes texts of a grammar. `bits` are texts that a free text is made of beside letters."""

    def __init__(self, grammar: Grammar, seed: int, bits: Sequence[str] = ()) -> None:
        self.grammar = grammar.plain().used()
        self.random = random.Random(seed)
        self.bits = [*bits, *(bit[:-1] for bit in bits if len(bit) > 1), *(bit[1:] for bit in bits if len(bit) > 1)]
        self.far = self._distances()

    def text(self) -> str:
        """One text."""
        out: list[str] = []
        self._walk(self.grammar.start, 14, out)
        return "".join(out)

    def _distances(self) -> dict[str, int]:
        """How deep the rules go at the least."""
        far = dict.fromkeys(self.grammar.rules, FAR)
        for _ in far:
            for name, node in self.grammar.rules.items():
                far[name] = min(far[name], self._deep(node, far) + 1)
        return far

    def _deep(self, node: Node, far: dict[str, int] | None = None) -> int:
        known = self.far if far is None else far
        if isinstance(node, Ref):
            return known[node.name]
        if isinstance(node, Repeat) and node.least == 0:
            return 0
        below = [self._deep(child, far) for child in children(node)]
        return (min if isinstance(node, Choice) else max)(below) if below else 0

    def _walk(self, node: Node, budget: int, out: list[str]) -> None:
        if isinstance(node, Literal):
            out.append(node.text)
        elif isinstance(node, Chars):
            out.append(self._character(node))
        elif isinstance(node, Ref):
            self._walk(self.grammar.rules[node.name], budget - 1, out)
        elif isinstance(node, Seq):
            for part in node.parts:
                self._walk(part, budget, out)
        elif isinstance(node, Choice):
            fit = [option for option in node.options if self._deep(option) < budget]
            least = min(node.options, key=self._deep)
            self._walk(self.random.choice(fit) if fit else least, budget, out)
        elif isinstance(node, Repeat):
            for _ in range(self._times(node, budget)):
                self._walk(node.part, budget, out)
        else:
            assert isinstance(node, Until | Text)
            out.append(self._free(node))

    def _times(self, node: Repeat, budget: int) -> int:
        if self._deep(node.part) >= budget:
            return node.least
        most = node.least + self.random.choice((0, 0, 1, 1, 2, 5))
        return most if node.most is None else self.random.randint(node.least, min(most, node.most))

    def _character(self, node: Chars) -> str:
        fit = [letter for letter in LETTERS if letter in node]
        if fit and self.random.random() < 0.9:
            return self.random.choice(fit)
        first, last = self.random.choice(node.ranges)
        return chr(self.random.randint(first, min(last, first + 500)))

    def _free(self, node: Until | Text) -> str:
        """A text that holds none of what it may not, with its closer if it has one."""
        closer = node.closer if isinstance(node, Until) else ""
        for _ in range(200):
            text = "".join(self._bit() for _ in range(self.random.choice((0, 1, 2, 4, 9))))
            held = any(marker in text for marker in node.without)
            if (
                not held
                and (not closer or (text + closer).find(closer) == len(text))
                and not _spoilt(text, closer, node.without)
            ):
                return text + closer
        return closer

    def _bit(self) -> str:
        if self.bits and self.random.random() < 0.4:
            return self.random.choice(self.bits)
        return self.random.choice(LETTERS)


def _spoilt(text: str, closer: str, without: Iterable[str]) -> bool:
    """Whether a marker begins in a text and ends in its closer."""
    whole = text + closer
    return any(0 <= whole.find(marker) < len(text) for marker in without)


def engine_walk(matcher: object, hints: Sequence[bytes], seed: int, longest: int = 1500) -> str | None:
    """One text of a matcher of llguidance over bytes: at each place one of the bytes that it allows.

    `hints` are texts that are tried on purpose where much is allowed, so that strings come to their end. None if the
    text has not ended after `longest` bytes.
    """
    rng = random.Random(seed)
    out = bytearray()
    while len(out) < longest and not matcher.is_stopped():  # type: ignore[attr-defined]
        mask = matcher.compute_bitmask()  # type: ignore[attr-defined]
        allowed = [byte for byte in range(256) if mask[byte // 8] >> byte % 8 & 1]
        if matcher.is_accepting() and (not allowed or rng.random() < 0.3):  # type: ignore[attr-defined]
            return out.decode("utf-8")
        taken = b""
        if len(allowed) > 20 and rng.random() < (0.3 if len(out) < longest // 2 else 0.9):
            hint = rng.choice(hints)
            count = matcher.try_consume_tokens(list(hint))  # type: ignore[attr-defined]
            taken = hint[:count]
        if not taken:
            plain = [byte for byte in allowed if 32 <= byte < 127]
            taken = bytes([rng.choice(plain if plain and rng.random() < 0.85 else allowed)])
            if not matcher.consume_token(taken[0]):  # type: ignore[attr-defined]
                raise AssertionError(matcher.get_error())  # type: ignore[attr-defined]
        out += taken
    return out.decode("utf-8") if matcher.is_accepting() else None  # type: ignore[attr-defined]
