"""The values that a JSON Schema admits, in the notations in which formats write values.

The rule: one walk over the schema for all notations; a notation is a row of a table, and says only how a string, a
key, a constant and the marks between members are written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ._nodes import ANY, Chars, Literal, Node, Ref, Repeat, Seq, Until, chars, choice, optional, seq
from ._schema import KINDS, Root, Shape, further, members

MOST_REPEATS = 256  # of a bound that is written out; a larger one is relaxed

HEX = chars("0-9", "a-f", "A-F")
CONTROLS = "".join(map(chr, range(1, 32)))
WORD = chars("A-Z", "a-z", "0-9", "_")
WORD_START = chars("A-Z", "a-z", "_")
CONSTANTS: Mapping[bool | None, str] = {True: "true", False: "false", None: "null"}


class Rules:
    """The rules of a grammar, each made once. A name in capitals marks what may be one lexeme."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._names: dict[object, str] = {}
        self._taken: set[str] = set()

    def add(self, key: object, hint: str, make: Callable[[], Node]) -> Ref:
        """A reference to the rule of a key; `make` is called once, and may ask for the same rule again."""
        name = self._names.get(key)
        if name is None:
            name = hint if hint not in self._taken else f"{hint}_{len(self._taken)}"
            self._names[key] = name
            self._taken.add(name)
            self.nodes[name] = make()
        return Ref(name)


class Notation(NamedTuple):
    """How nested values are written. `quotes` are what strings stand between; `escapes` of which kind, if any."""

    id: str
    quotes: tuple[str, ...]
    escapes: str = ""
    colon: str = ":"
    comma: str = ","
    blanks: bool = False
    bare_keys: bool = False
    constants: Mapping[bool | None, str] = CONSTANTS


JSON = Notation("json", ('"',), "json", blanks=True)
PYTHON = Notation(
    "python", ('"', "'"), "python", ": ", ", ", constants={True: "True", False: "False", None: "None"}
)  # fmt: skip
NOTATIONS = {
    "json": JSON,
    "python": PYTHON,
    "gemma": Notation("gemma", ('<|"|>',), bare_keys=True),
    "escape": Notation("escape", ("<escape>",), bare_keys=True),
}


class Values:
    """Writes values in a notation. Strings hold none of `avoid`, which their escapes can still say."""

    def __init__(self, notation: Notation, root: Root, rules: Rules, avoid: str = "") -> None:
        self.notation = notation
        self.root = root
        self.rules = rules
        self.avoid = avoid
        self._id = (notation.id, avoid)

    def value(self, schema: Any) -> Node:
        """Every value that a schema admits."""
        shapes = self.root.shapes(schema)
        return choice(self.shape(shape) for shape in shapes) if shapes else self.any()

    def shape(self, shape: Shape) -> Node:
        """The values of one shape."""
        if shape.values:
            return choice(self._one(value) for value in shape.values)
        kind = shape.kind
        if kind in ("array", "object"):
            make = self._array if kind == "array" else self._object
            key = (self._id, self.root.key, kind, json.dumps(shape.schema, sort_keys=True, default=str))
            return self.rules.add(key, kind, lambda: make(shape.schema))
        if kind == "string":
            return self.string(shape.schema)
        if kind in ("integer", "number"):
            return number(self.rules, shape)
        constants = self.notation.constants
        if kind == "boolean":
            return choice([Literal(constants[True]), Literal(constants[False])])
        return Literal(constants[None]) if kind == "null" else self.any()

    def any(self) -> Node:
        """Any value."""
        return self.rules.add((self._id, "any"), "value", lambda: choice(self.shape(Shape(kind, {})) for kind in KINDS))

    def literal(self, value: Any) -> str:
        """One value as it is written."""
        notation = self.notation
        if isinstance(value, Mapping):
            pairs = (self.key_text(str(k)) + notation.colon + self.literal(v) for k, v in value.items())
            return "{" + notation.comma.join(pairs) + "}"
        if isinstance(value, list | tuple):
            return "[" + notation.comma.join(map(self.literal, value)) + "]"
        if isinstance(value, bool) or value is None:
            return notation.constants[value]
        return self._quoted(value) if isinstance(value, str) else json.dumps(value)

    def _one(self, value: Any) -> Node:
        """One value, with blanks and quotes as the notation may have them."""
        if isinstance(value, str) and self.notation.escapes == "python":
            return choice([Literal(repr(value)), Literal(json.dumps(value, ensure_ascii=False))])
        if isinstance(value, Mapping):
            colon = Literal(self.notation.colon)
            parts = [seq(self._key(str(k)), colon, self.blank(), self._one(v)) for k, v in value.items()]
            return self._between("{", run(self.rules, [(part, True) for part in parts], self._joint(), None), "}")
        if isinstance(value, list | tuple):
            entries = [(self._one(item), True) for item in value]
            return self._between("[", run(self.rules, entries, self._joint(), None), "]")
        return Literal(self.literal(value))

    def _between(self, begin: str, inside: Node, end: str) -> Node:
        return seq(Literal(begin), self.blank(), inside, self.blank(), Literal(end))

    def key_text(self, key: str) -> str:
        """A key as it is written."""
        return key if self.notation.bare_keys else self._quoted(key)

    def _quoted(self, text: str) -> str:
        if self.notation.escapes == "python":
            return repr(text)
        if not self.notation.escapes:
            return f"{self.notation.quotes[0]}{text}{self.notation.quotes[0]}"
        written = json.dumps(text, ensure_ascii=False)
        for character in self.avoid:
            written = written.replace(character, f"\\u{ord(character):04x}")
        return written

    # -- strings ------------------------------------------------------------------------------------

    def string(self, schema: Mapping[str, Any]) -> Node:
        """Any string; its length is kept where the notation quotes and the bounds are small."""
        notation = self.notation
        if not notation.escapes:
            mark = notation.quotes[0]
            return self.rules.add((self._id, "string"), "string", lambda: seq(Literal(mark), Until(mark)))
        least, most = bounds(schema, "minLength", "maxLength")
        key = (self._id, "string", least, most)
        return self.rules.add(key, "STRING", lambda: choice(self._string(q, least, most) for q in notation.quotes))

    def _string(self, quote: str, least: int, most: int | None) -> Node:
        escapes = _ESCAPES[self.notation.escapes]
        one = choice([ANY.without(CONTROLS + "\\" + quote + self.avoid), *escapes])
        return seq(Literal(quote), Repeat(one, least, most), Literal(quote))

    def _other_key(self, declared: Sequence[str]) -> Node:
        """A key that is none of those declared."""
        if self.notation.bare_keys:
            return self.rules.add((self._id, "key", *declared), "KEY", lambda: other(declared, WORD, WORD_START))
        inside = ANY.without(CONTROLS + "\\\"'" + self.avoid)
        options = [seq(Literal(q), other(declared, inside), Literal(q)) for q in self.notation.quotes]
        return self.rules.add((self._id, "key", *declared), "KEY", lambda: choice(options))

    # -- containers ---------------------------------------------------------------------------------

    def blank(self) -> Node:
        """Blank space where a notation may have it: one space, or a line break with its indent."""
        if not self.notation.blanks:
            return Literal("")
        indent = Repeat(chars(" ", "\t"), 0, 20)
        return optional(self.rules.add("blank", "BLANK", lambda: choice([Literal(" "), seq(Literal("\n"), indent)])))

    def _joint(self) -> Node:
        return seq(Literal(self.notation.comma), self.blank())

    def _object(self, schema: Mapping[str, Any]) -> Node:
        entries = [
            (self._entry(self._key(member.key), member.schema), member.required)
            for member in members(schema)
            if member.schema is not False
        ]
        rest = further(schema)
        declared = tuple(member.key for member in members(schema))
        more = None if rest is None else self._entry(self._other_key(declared), rest)
        inside = run(self.rules, entries, self._joint(), more)
        return self._between("{", inside, "}")

    def _key(self, key: str) -> Node:
        return Literal(key) if self.notation.bare_keys else self._one(key)

    def _entry(self, key: Node, schema: Any) -> Node:
        return seq(key, Literal(self.notation.colon), self.blank(), self.value(schema))

    def _array(self, schema: Mapping[str, Any]) -> Node:
        first, rest = items(schema)
        least, most = bounds(schema, "minItems", "maxItems")
        one = None if rest is False else self.value(rest)
        if first:
            inside = run(self.rules, [(self.value(s), True) for s in first], self._joint(), one)
        elif one is None or most == 0:
            inside = Literal("")
        else:
            more = Repeat(seq(self._joint(), one), max(least - 1, 0), None if most is None else most - 1)
            inside = seq(one, more) if least else optional(seq(one, more))
        return self._between("[", inside, "]")


def run(rules: Rules, entries: list[tuple[Node, bool]], joint: Node, more: Node | None) -> Node:
    """Members in their order, those that are not required perhaps, with a joint between them; then any of `more`.

    The size is linear in the number of members: what may follow the first one written is a rule for each.
    """
    if joint == Literal(""):
        parts = [entry if required else optional(entry) for entry, required in entries]
        return seq(*parts, *([Repeat(more)] if more is not None else []))
    tail: list[Node] = [Repeat(seq(joint, more)) if more is not None else Literal("")]
    firsts = next((i for i, (_, required) in enumerate(entries) if required), len(entries))
    for index in range(len(entries) - 1, 0, -1):
        entry, required = entries[index]
        joined = seq(joint, entry)
        node = seq(joined if required else optional(joined), tail[0])
        tail.insert(0, node if index > firsts else rules.add(("tail", node), "tail", lambda node=node: node))  # type: ignore[misc]
    options = [seq(entry, tail[index]) for index, (entry, _) in enumerate(entries[: firsts + 1])]
    if firsts < len(entries):
        return choice(options)
    if more is not None:
        options.append(seq(more, Repeat(seq(joint, more))))
    return optional(choice(options)) if options else Literal("")


def other(declared: Sequence[str], inside: Chars, first: Chars | None = None, at: int = 0) -> Node:
    """A text of one character or more that is none of the declared ones."""
    begin = first or inside
    heads = {key[at] for key in declared if len(key) > at}
    options: list[Node] = [seq(begin.without("".join(heads)), Repeat(inside))]
    for head in sorted(heads):
        if head in begin:
            below = [key for key in declared if len(key) > at and key[at] == head]
            ended = any(len(key) == at + 1 for key in below)
            longer = other(below, inside, None, at + 1)
            options.append(seq(Literal(head), longer if ended else optional(longer)))
    return choice(options)


def number(rules: Rules, shape: Shape) -> Node:
    """An integer of at most 16 digits, or a number with at most as many behind the point and a small exponent."""
    low = shape.schema.get("minimum", shape.schema.get("exclusiveMinimum"))
    unsigned = isinstance(low, int | float) and not isinstance(low, bool) and low >= 0
    sign: Node = Literal("") if unsigned else optional(Literal("-"))
    digit = chars("0-9")
    some = seq(sign, chars("1-9"), Repeat(digit, 0, 15))
    key = "natural" if unsigned else "signed"
    if shape.kind == "integer":
        return rules.add((key, "integer"), "INTEGER", lambda: choice([Literal("0"), some]))
    point = optional(seq(Literal("."), Repeat(digit, 1, 16)))
    power = optional(seq(chars("e", "E"), optional(chars("+", "-")), Repeat(digit, 1, 2)))
    return rules.add((key, "number"), "NUMBER", lambda: seq(choice([seq(sign, Literal("0")), some]), point, power))


def bounds(schema: Mapping[str, Any], low: str, high: str) -> tuple[int, int | None]:
    """How often at least and at most; what is too large to be written out is relaxed."""
    least, most = (schema.get(word) for word in (low, high))
    least = least if isinstance(least, int) and not isinstance(least, bool) and least > 0 else 0
    most = most if isinstance(most, int) and not isinstance(most, bool) and 0 <= most <= MOST_REPEATS else None
    least = min(least, MOST_REPEATS)
    return least, None if most is None else max(most, least)


def items(schema: Mapping[str, Any]) -> tuple[list[Any], Any]:
    """The schemas of the first items, each at its place, and of those behind them (False: there are none)."""
    told = schema.get("items", True)
    if isinstance(told, list):  # the notation of older drafts
        return told, schema.get("additionalItems", True)
    first = schema.get("prefixItems")
    return (first if isinstance(first, list) else []), told


_HEX2 = Repeat(HEX, 2, 2)
_ESCAPES: Mapping[str, tuple[Node, ...]] = {
    "json": (
        seq(Literal("\\"), chars('"', "\\", "/", "b", "f", "n", "r", "t")),
        # A half of a pair alone is no text, so the second follows the first.
        seq(Literal("\\u"), chars("0-9", "a-c", "A-C", "e", "E", "f", "F"), Repeat(HEX, 3, 3)),
        seq(Literal("\\u"), chars("d", "D"), chars("0-7"), _HEX2),
        Seq(
            (
                *(Literal("\\u"), chars("d", "D"), chars("8", "9", "a", "b", "A", "B"), _HEX2),
                *(Literal("\\u"), chars("d", "D"), chars("c-f", "C-F"), _HEX2),
            )
        ),
    ),
    "python": (seq(Literal("\\"), chars("\\", "'", '"', "n", "r", "t")),),
}
