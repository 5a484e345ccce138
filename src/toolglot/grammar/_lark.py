"""Writes a grammar as Lark in the dialect of llguidance.

The rule: what may be one lexeme is one, since its lexer is quick and takes the longest match; a text that ends with a
closer is a lazy lexeme, which takes the shortest.
"""

from __future__ import annotations

import json

from ._gbnf import complement, count
from ._nodes import LAST, Chars, Choice, Grammar, Literal, Node, Ref, Repeat, Seq, Text, Until


def lark(grammar: Grammar) -> str:
    """The grammar as Lark; the rule to begin with is `start`."""
    return _Writer().write(grammar.used().plain())


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.texts: dict[Until | Text, str] = {}

    def write(self, grammar: Grammar) -> str:
        self.lines = [""]  # a text's own rules come behind
        self.lines[0] = f"start: {self.text(grammar.start)}"
        for name, node in grammar.rules.items():
            self.lines.append(f"{name}: {self.text(node)}")
        return "\n".join(self.lines) + "\n"

    def text(self, node: Node, inside: bool = False) -> str:
        """A node; in brackets where it stands inside another and needs them."""
        if isinstance(node, Literal):
            return json.dumps(node.text, ensure_ascii=False)
        if isinstance(node, Chars):
            return char_class(node)
        if isinstance(node, Ref):
            return node.name
        if isinstance(node, Repeat):
            return f"{self.text(node.part, True)}{count(node)}"
        if isinstance(node, Until | Text):
            return self._text(node)
        assert isinstance(node, Seq | Choice)
        if isinstance(node, Seq):
            whole = " ".join(self.text(part, isinstance(part, Choice)) for part in node.parts)
        else:
            whole = " | ".join(self.text(option) for option in node.options)
        return f"({whole})" if inside else whole

    def _text(self, node: Until | Text) -> str:
        known = self.texts.get(node)
        if known is not None:
            return known
        number = len(self.texts) + 1
        any_text = r"/[^\x00]*/"
        held = " | ".join(json.dumps(marker, ensure_ascii=False) for marker in node.without)
        body = rf"{any_text} & ~({any_text} ({held}) {any_text})" if held else any_text
        if isinstance(node, Text):
            self.texts[node] = f"TEXT_{number}_END?"
            self.lines.append(rf"TEXT_{number}_END: /[^\x00]+/ & {body}")
        else:
            self.texts[node] = f"text_{number}_until"
            self.lines.append(f"text_{number}_until[lazy]: TEXT_{number}_UNTIL")
            self.lines.append(f"TEXT_{number}_UNTIL: ({body}) {json.dumps(node.closer, ensure_ascii=False)}")
        return self.texts[node]


def char_class(node: Chars) -> str:
    """A set of characters as a regular expression; as what it leaves out, where that is shorter."""
    left_out = complement(node)
    if left_out[-1][1] < LAST:
        return f"/[^{''.join(_range(a, b) for a, b in left_out)}]/"
    return f"/[{''.join(_range(a, b) for a, b in sorted(node.ranges))}]/"


def _range(first: int, last: int) -> str:
    return _character(first) if first == last else f"{_character(first)}-{_character(last)}"


def _character(at: int) -> str:
    return chr(at) if at < 0x80 and chr(at).isalnum() else f"\\x{{{at:X}}}"
