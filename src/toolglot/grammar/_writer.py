"""What the notations of grammars share: how a tree of nodes becomes rules, a line each.

The rule: a notation says how it writes a leaf; sequences, choices and repeats are written here, alike for all.
"""

from __future__ import annotations

from ._nodes import Chars, Choice, Grammar, Literal, Node, Ref, Repeat, Seq, Text, Until


class Writer:
    """Writes one grammar; a notation overrides what it writes in its own way."""

    root: str
    """The name of the rule to begin with."""
    define: str
    """What stands between a rule's name and what it is."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.known: dict[Until | Text, str] = {}  # texts that have rules of their own, by what stands for them

    def write(self, grammar: Grammar) -> str:
        """The whole grammar; a text's own rules come behind the first one."""
        self.lines = [""]
        self.lines[0] = f"{self.root}{self.define}{self.text(grammar.start)}"
        for name, node in grammar.rules.items():
            self.lines.append(f"{self.name(name)}{self.define}{self.text(node)}")
        return "\n".join(self.lines) + "\n"

    def text(self, node: Node, inside: bool = False) -> str:
        """A node; in brackets where it stands inside another and needs them."""
        if isinstance(node, Literal):
            return self.literal(node.text)
        if isinstance(node, Chars):
            return self.chars(node)
        if isinstance(node, Ref):
            return self.name(node.name)
        if isinstance(node, Repeat):
            return f"{self.text(node.part, True)}{count(node)}"
        if isinstance(node, Until | Text):
            if node not in self.known:
                self.free(node, len(self.known) + 1)
            return self.known[node]
        assert isinstance(node, Seq | Choice)
        if isinstance(node, Seq):
            whole = " ".join(self.text(part, isinstance(part, Choice)) for part in node.parts)
        else:
            whole = " | ".join(self.text(option) for option in node.options)
        return f"({whole})" if inside else whole

    def literal(self, text: str) -> str:
        """A fixed text."""
        raise NotImplementedError

    def chars(self, node: Chars) -> str:
        """One character of a set."""
        raise NotImplementedError

    def name(self, name: str) -> str:
        """A rule's name."""
        raise NotImplementedError

    def free(self, node: Until | Text, number: int) -> None:
        """Write the rules of a text without markers, and note in `known` what stands for it."""
        raise NotImplementedError


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
