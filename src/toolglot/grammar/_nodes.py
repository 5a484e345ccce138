"""The tree that every grammar is written from: a few kinds of nodes, and the parts of a reply above them.

The rule: a node says what texts there are, and nothing of how a notation writes it. `plain` turns the upper kinds
(`Calls`, `Reply`) into the lower ones, so that a writer need know only these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

LAST = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)


@dataclass(frozen=True, slots=True)
class Literal:
    """This text."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One code point of these ranges, both ends included."""

    ranges: tuple[tuple[int, int], ...]

    def without(self, characters: str) -> Chars:
        """The same set without some characters.

        >>> Chars(((97, 122),)).without("c").ranges
        ((97, 98), (100, 122))
        """
        ranges = list(self.ranges)
        for at in map(ord, characters):
            cut = [((a, at - 1), (at + 1, b)) if a <= at <= b else ((a, b),) for a, b in ranges]
            ranges = [(a, b) for pair in cut for a, b in pair if a <= b]
        return Chars(tuple(ranges))

    def __contains__(self, character: str) -> bool:
        return any(a <= ord(character) <= b for a, b in self.ranges)


def chars(*ranges: str) -> Chars:
    """The set of single characters and of ranges such as `a-z`."""
    return Chars(tuple((ord(r[0]), ord(r[-1])) for r in ranges))


# NUL is left out: engines in C end a text there, and no model means it.
ANY = Chars(((1, SURROGATES[0] - 1), (SURROGATES[1] + 1, LAST)))


@dataclass(frozen=True, slots=True)
class Seq:
    """One after another."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of them."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """At least `least` times, at most `most` (None: any number)."""

    part: Node
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Ref:
    """A rule of the grammar. A rule in capitals holds no reference to one that is not: it may be one lexeme."""

    name: str


@dataclass(frozen=True, slots=True)
class Until:
    """A text that holds none of `without`, and then `closer`, where it first stands."""

    closer: str
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """A text that holds none of `without`, to the end of the reply."""

    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """What a JSON Schema admits: for engines that read schemas by themselves, and in plain nodes for the others.

    `style` is the notation as xgrammar names it, or empty where it knows none.
    """

    schema: Mapping[str, Any] = field(hash=False)
    style: str
    part: Node


@dataclass(frozen=True, slots=True)
class Tag:
    """One call of one tool: `begin` and `end` are text, what stands between may be anything."""

    begin: str
    content: Node
    end: str


@dataclass(frozen=True, slots=True)
class Calls:
    """One call or more (`many`), with a separator, inside the markers of the section."""

    tags: tuple[Tag, ...]
    separator: str
    many: bool
    open: str = ""
    close: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The whole reply: what may stand first, then calls, or text with calls behind it.

    `text` is None where calls must follow. `trigger` is the marker that ends the text and begins the calls, behind a
    line break if it must begin a line; without one the reply is either text or calls. `bare` are the calls without
    the markers of their section.
    """

    lead: Node | None
    calls: Calls | None
    text: Node | None
    trigger: str = ""
    bare: Calls | None = None


Node: TypeAlias = "Literal | Chars | Seq | Choice | Repeat | Ref | Until | Text | Value | Tag | Calls | Reply"  #


@dataclass
class Grammar:
    """Rules by name, and the node that a reply begins with."""

    rules: dict[str, Node]
    start: Node

    def plain(self) -> Grammar:
        """The same with the lower kinds alone."""
        return Grammar({name: plain(node) for name, node in self.rules.items()}, plain(self.start))

    def used(self) -> Grammar:
        """The same without the rules that nothing refers to."""
        kept: dict[str, Node] = {}
        waiting = [self.start]
        while waiting:
            for name in dict.fromkeys(refs(waiting.pop())):
                if name not in kept:
                    kept[name] = self.rules[name]
                    waiting.append(self.rules[name])
        return replace(self, rules={name: node for name, node in self.rules.items() if name in kept})


def seq(*parts: Node) -> Node:
    """The parts one after another: nested sequences are opened, neighbouring literals joined.

    >>> seq(Literal("a"), seq(Literal("b"), Repeat(Literal("c"))))
    Seq(parts=(Literal(text='ab'), Repeat(part=Literal(text='c'), least=0, most=None)))
    """
    flat: list[Node] = []
    for part in parts:
        for one in part.parts if isinstance(part, Seq) else (part,):
            if isinstance(one, Literal) and flat and isinstance(flat[-1], Literal):
                flat[-1] = Literal(flat[-1].text + one.text)
            elif one != Literal(""):
                flat.append(one)
    return flat[0] if len(flat) == 1 else Seq(tuple(flat)) if flat else Literal("")


def choice(options: Iterable[Node]) -> Node:
    """One of the options, each once."""
    flat = [one for option in options for one in (option.options if isinstance(option, Choice) else (option,))]
    unique = tuple(dict.fromkeys(flat))
    return unique[0] if len(unique) == 1 else Choice(unique)


def optional(part: Node) -> Node:
    """The part, or nothing."""
    return Repeat(part, 0, 1)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below, of the lower kinds."""
    if isinstance(node, Seq):
        return node.parts
    if isinstance(node, Choice):
        return node.options
    return (node.part,) if isinstance(node, Repeat | Value) else ()


def refs(node: Node) -> Iterable[str]:
    """The names of the rules that a node refers to."""
    if isinstance(node, Ref):
        yield node.name
    for below in children(plain(node)):
        yield from refs(below)


# -- the upper kinds as the lower ones ---------------------------------------------------------------


def plain(node: Node) -> Node:
    """The node with `Tag`, `Calls` and `Reply` written out, and a `Value` as its plain nodes."""
    lower = _LOWER.get(type(node))
    return lower(node) if lower else node


def _seq(node: Seq) -> Node:
    return seq(*map(plain, node.parts))


def _choice(node: Choice) -> Node:
    return choice(map(plain, node.options))


def _repeat(node: Repeat) -> Node:
    return Repeat(plain(node.part), node.least, node.most)


def _value(node: Value) -> Node:
    return plain(node.part)


def _tag(node: Tag) -> Node:
    return seq(Literal(node.begin), plain(node.content), Literal(node.end))


def _calls(node: Calls) -> Node:
    one = choice(map(plain, node.tags))
    more: Node = Repeat(ahead(one, node.separator)) if node.many else Literal("")
    return seq(ahead(one, node.open), more, Literal(node.close))


def _reply(node: Reply) -> Node:
    lead = plain(node.lead) if node.lead is not None else Literal("")
    options: list[Node] = []
    line = "\n" if node.trigger.startswith("\n") else ""
    if node.calls is not None and (node.text is None or line or not node.trigger):
        options.append(plain(node.calls))
    if node.bare is not None:
        options.append(plain(node.bare))
    if node.text is not None:
        if node.calls is not None and node.trigger:
            assert isinstance(node.text, Text)
            before = tuple(w for w in node.text.without if w != node.trigger)
            options.append(seq(Until(node.trigger, before), behind(ahead(plain(node.calls), line), node.trigger)))
        options.append(plain(node.text))
    return seq(lead, choice(options))


_LOWER: Mapping[type, Callable[[Any], Node]] = {
    Seq: _seq, Choice: _choice, Repeat: _repeat, Value: _value, Tag: _tag, Calls: _calls, Reply: _reply,
}  # fmt: skip


def behind(node: Node, prefix: str) -> Node:
    """What follows a prefix that every text of the node begins with."""
    if isinstance(node, Literal):
        assert node.text.startswith(prefix)
        return Literal(node.text[len(prefix) :])
    if isinstance(node, Seq):
        return seq(behind(node.parts[0], prefix), *node.parts[1:])
    assert isinstance(node, Choice)
    return choice(behind(option, prefix) for option in node.options)


def ahead(node: Node, prefix: str) -> Node:
    """The node behind a prefix, which stands in one literal with what each option begins with.

    A lexer that takes the longest match must not have to choose after the prefix alone.
    """
    if isinstance(node, Choice) and prefix:
        return choice(ahead(option, prefix) for option in node.options)
    if isinstance(node, Seq) and prefix:
        return seq(ahead(node.parts[0], prefix), *node.parts[1:])
    return seq(Literal(prefix), node)
