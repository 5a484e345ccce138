"""Writes a grammar as GBNF, as llama.cpp reads it; xgrammar reads the same.

The rule: GBNF knows characters only, so a text without markers is written as the machine that reads it, a rule for
each state, and every rule that goes on does so at its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import hexdigits

from ._nodes import LAST, SURROGATES, Chars, Choice, Grammar, Literal, Node, Ref, Repeat, Seq, Text, Until
from ._text import machine

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}

_NUMBERED = re.compile(r"\\[xuU][0-9A-F]+\Z")


def gbnf(grammar: Grammar) -> str:
    """The grammar as GBNF; the rule to begin with is `root`."""
    return _Writer().write(grammar.used().plain())


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.machines: dict[Until | Text, str] = {}

    def write(self, grammar: Grammar) -> str:
        self.lines = [""]  # a text's own rules come behind
        self.lines[0] = f"root ::= {self.text(grammar.start)}"
        for name, node in grammar.rules.items():
            self.lines.append(f"{_name(name)} ::= {self.text(node)}")
        return "\n".join(self.lines) + "\n"

    def text(self, node: Node, inside: bool = False) -> str:
        """A node; in brackets where it stands inside another and needs them."""
        if isinstance(node, Literal):
            return literal(node.text)
        if isinstance(node, Chars):
            return char_class(node)
        if isinstance(node, Ref):
            return _name(node.name)
        if isinstance(node, Repeat):
            return f"{self.text(node.part, True)}{count(node)}"
        if isinstance(node, Until | Text):
            return self._machine(node)
        assert isinstance(node, Seq | Choice)
        if isinstance(node, Seq):
            whole = " ".join(self.text(part, isinstance(part, Choice)) for part in node.parts)
        else:
            whole = " | ".join(self.text(option) for option in node.options)
        return f"({whole})" if inside else whole

    def _machine(self, node: Until | Text) -> str:
        known = self.machines.get(node)
        if known is not None:
            return known
        name = self.machines[node] = f"text-{len(self.machines) + 1}"
        states = machine(node)
        names = {state: f"{name}-{index}" if index else name for index, state in enumerate(states)}
        for state, steps in states.items():
            options = [
                char_class(step.chars) + (f" {names[step.next]}" if step.next is not None else "") for step in steps
            ]
            if isinstance(node, Text):
                options.append('""')
            self.lines.append(f"{names[state]} ::= {' | '.join(options)}")
        return name


def count(node: Repeat) -> str:
    """How often, as GBNF and Lark write it.

    >>> count(Repeat(Literal("a"), 1)), count(Repeat(Literal("a"), 0, 1)), count(Repeat(Literal("a"), 2, 2))
    ('+', '?', '{2}')
    """
    named = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((node.least, node.most))
    if named:
        return named
    most = "" if node.most is None else node.most
    return f"{{{node.least}}}" if node.least == node.most else f"{{{node.least},{most}}}"


def literal(text: str) -> str:
    """A text between quotes."""
    return '"' + _joined(_NAMED.get(c) or (c if c.isprintable() else code(ord(c))) for c in text) + '"'


def _joined(pieces: Iterable[str]) -> str:
    r"""The pieces one behind another. Some readers take every hexadecimal digit behind `\x` as a part of the number.

    >>> print(_joined([r"\x00", "A-F", "G"]))
    \x00\x41-FG
    """
    out: list[str] = []
    for piece in pieces:
        numbered = bool(out) and _NUMBERED.search(out[-1]) is not None
        out.append(code(ord(piece[0])) + piece[1:] if numbered and piece[0] in hexdigits else piece)
    return "".join(out)


def code(at: int) -> str:
    """One code point by its number."""
    return f"\\x{at:02X}" if at < 0x80 else f"\\u{at:04X}" if at <= 0xFFFF else f"\\U{at:08X}"


def char_class(node: Chars) -> str:
    """A set of characters; as what it leaves out, where that is shorter."""
    left_out = complement(node)
    if left_out[-1][1] < LAST:
        return f"[^{_joined(_range(a, b) for a, b in left_out)}]"
    return f"[{_joined(_range(a, b) for a, b in sorted(node.ranges))}]"


def complement(node: Chars) -> list[tuple[int, int]]:
    """The ranges that a set leaves out, without the surrogates, which are no characters."""
    found: list[tuple[int, int]] = []
    at = 0
    for first, last in sorted((*node.ranges, SURROGATES)):
        if first > at:
            found.append((at, first - 1))
        at = max(at, last + 1)
    return found if at > LAST else [*found, (at, LAST)]


def _range(first: int, last: int) -> str:
    return _character(first) if first == last else f"{_character(first)}-{_character(last)}"


def _character(at: int) -> str:
    character = chr(at)
    if character in _NAMED:
        return _NAMED[character]
    return character if (character.isalnum() and at < 0x80) or character in "<>{},:. " else code(at)


def _name(name: str) -> str:
    return name.lower().replace("_", "-") + ("-lexeme" if name.isupper() else "")
