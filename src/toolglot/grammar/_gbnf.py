"""Writes a grammar as GBNF, as llama.cpp reads it; xgrammar reads the same.

The rule: GBNF knows characters only, so a text without markers is written as the machine that reads it, a rule for
each state, and every rule that goes on does so at its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import hexdigits

from ._nodes import LAST, SURROGATES, Chars, Grammar, Text, Until
from ._text import machine
from ._writer import Writer

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}

_NUMBERED = re.compile(r"\\[xuU][0-9A-F]+\Z")


def gbnf(grammar: Grammar) -> str:
    """The grammar as GBNF; the rule to begin with is `root`."""
    return _Writer().write(grammar.used().plain())


class _Writer(Writer):
    root, define = "root", " ::= "

    def literal(self, text: str) -> str:
        return literal(text)

    def chars(self, node: Chars) -> str:
        return char_class(node)

    def name(self, name: str) -> str:
        return _name(name)

    def free(self, node: Until | Text, number: int) -> None:
        name = self.known[node] = f"text-{number}"
        states = machine(node)
        names = {state: f"{name}-{index}" if index else name for index, state in enumerate(states)}
        for state, steps in states.items():
            options = [
                char_class(step.chars) + (f" {names[step.next]}" if step.next is not None else "") for step in steps
            ]
            if isinstance(node, Text):
                options.append('""')
            self.lines.append(f"{names[state]} ::= {' | '.join(options)}")


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
