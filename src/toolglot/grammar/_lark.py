"""Writes a grammar as Lark in the dialect of llguidance.

The rule: what may be one lexeme is one, since its lexer is quick and takes the longest match; a text that ends with a
closer is a lazy lexeme, which takes the shortest.
"""

from __future__ import annotations

import json

from ._gbnf import complement
from ._nodes import LAST, Chars, Grammar, Text, Until
from ._writer import Writer


def lark(grammar: Grammar) -> str:
    """The grammar as Lark; the rule to begin with is `start`."""
    return _Writer().write(grammar.used().plain())


class _Writer(Writer):
    root, define = "start", ": "

    def literal(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    def chars(self, node: Chars) -> str:
        return char_class(node)

    def name(self, name: str) -> str:
        return name

    def free(self, node: Until | Text, number: int) -> None:
        any_text = r"/[^\x00]*/"
        held = " | ".join(json.dumps(marker, ensure_ascii=False) for marker in node.without)
        body = rf"{any_text} & ~({any_text} ({held}) {any_text})" if held else any_text
        if isinstance(node, Text):
            self.known[node] = f"TEXT_{number}_END?"
            self.lines.append(rf"TEXT_{number}_END: /[^\x00]+/ & {body}")
        else:
            self.known[node] = f"text_{number}_until"
            self.lines.append(f"text_{number}_until[lazy]: TEXT_{number}_UNTIL")
            self.lines.append(f"TEXT_{number}_UNTIL: ({body}) {json.dumps(node.closer, ensure_ascii=False)}")


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
