"""Parameters that stand one by one: `{params}` of a declaration, each a `param` with its key and value.

The rule: a value without quotes ends where its closer first stands, so it holds no marker of the format.
"""

from __future__ import annotations

import html
import json
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from toolglot import Format, ToolglotError, render

from ._nodes import ANY, Literal, Node, Repeat, Until, choice, optional, seq
from ._schema import KINDS, Root, Shape, further, kind_of, members
from ._values import JSON, NOTATIONS, WORD, WORD_START, Rules, Values, bounds, items, other, run

PLAIN_KEY = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_STRUCTURE = set('{}[],:"') | set(map(chr, range(48, 58))) | set(map(chr, range(65, 123)))


@dataclass(frozen=True)
class Piece:
    """A part of a template: text, or a field with its codec."""

    text: str = ""
    field: str = ""
    codec: str = ""


def pieces(template: str) -> list[Piece]:
    """The parts of a template as they are written."""
    found: list[Piece] = []
    for text, name, codec, _ in Formatter().parse(template):
        if text:
            found.append(Piece(text=Format.written(text)))
        if name is not None:
            found.append(Piece(field=name, codec=codec or ""))
    return found


def markers(text: str) -> list[str]:
    """The markers in a text: what stands between blanks, quotes and brackets that meet, and is no mere word.

    >>> markers('<invoke name="\\n</invoke>\\n</calls>')
    ['<invoke', '</invoke>', '</calls>']
    """
    found = re.split(r"""[\s"']+|(?<=[>\]])(?=[<\[])""", text)
    return [text for text in dict.fromkeys(found) if len(text) > 2 and not text[0].isalnum()]


class Params:
    """The parameters of one tool."""

    def __init__(self, format: Format, tool: str, root: Root, rules: Rules, without: Sequence[str]) -> None:
        self.format = format
        self.tool = tool
        self.root = root
        self.rules = rules
        self.parts = pieces(format.param)
        self.codec = next(part.codec for part in self.parts if part.field == "value")
        self.typed = next((part for part in self.parts if part.field == "type"), None)
        closer = self._close("k")
        self.without = tuple(w for w in without if w != closer)
        mark = next((c for c in closer.strip() if c not in _STRUCTURE and not c.isspace()), "")
        self.nested = Values(
            NOTATIONS.get(self.codec, JSON), root, rules, "" if self.codec in NOTATIONS else mark + "&"
        )

    def node(self, schema: Mapping[str, Any]) -> Node:
        """All parameters, in the order in which the schema declares them."""
        entries = []
        for member in members(schema):
            if member.schema is False or not self._carried(member.key, member.required):
                continue
            entries.append((self._param(Literal(self._key(member.key)), member.key, member.schema), member.required))
        rest = further(schema)
        more = None
        if rest is not None:
            if any(part.field == "key" for part in self.parts[self._value_at() :]):
                if not entries:
                    raise ToolglotError(
                        f"format {self.format.id!r}, tool {self.tool!r}: expected declared properties, since each "
                        "closer repeats its key, got a schema of any"
                    )
            else:
                declared = [member.key for member in members(schema)]
                more = self._param(other(declared, WORD, WORD_START), "", rest)
        joint = Literal(Format.written(self.format.param_separator))
        return run(self.rules, entries, joint, more)

    def _value_at(self) -> int:
        return next(index for index, part in enumerate(self.parts) if part.field == "value")

    def _carried(self, key: str, required: bool) -> bool:
        """Whether the wire can carry a parameter of that key. Raises `ToolglotError` if it cannot and must."""
        if PLAIN_KEY.fullmatch(key) and not keyword.iskeyword(key):
            return True
        try:
            render([{"name": "f", "arguments": {key: 0}}], format=self.format)
        except ToolglotError:
            if not required:
                return False
            raise ToolglotError(
                f"format {self.format.id!r}, tool {self.tool!r}: expected required properties that the format can "
                f"carry, got {key!r}"
            ) from None
        return True

    def _key(self, key: str) -> str:
        codec = next(part.codec for part in self.parts if part.field == "key")
        return html.escape(key) if codec == "xml" else key

    def _close(self, key: str) -> str:
        """What follows a value."""
        return "".join(part.text or key for part in self.parts[self._value_at() + 1 :])

    def _param(self, key: Node, name: str, schema: Any) -> Node:
        """One parameter with any value of its schema."""
        shapes = self.root.shapes(schema)
        if self.typed is None:
            return self._filled(key, "", self.value(shapes, self._close(name)))
        if any(shape.kind == "any" for shape in shapes):
            shapes = [Shape(kind, {}) for kind in KINDS]
        options = []
        for told in dict.fromkeys(self._told(shape.kind) for shape in shapes):
            alike = [shape for shape in shapes if self._told(shape.kind) == told]
            options.append(self._filled(key, told, self.value(alike, self._close(name))))
        return choice(options)

    def _told(self, kind: str) -> str:
        """What the wire says of a type."""
        assert self.typed is not None
        return str(kind == "string").lower() if self.typed.codec == "flag" else kind

    def _filled(self, key: Node, told: str, value: Node) -> Node:
        fields: dict[str, Node] = {"key": key, "type": Literal(told), "value": value}
        parts = self.parts[: self._value_at() + 1]
        return seq(*(fields[part.field] if part.field else Literal(part.text) for part in parts))

    # -- values, each with what closes it ------------------------------------------------------------

    def value(self, shapes: list[Shape], closer: str) -> Node:
        """A value of one of the shapes, and what follows it."""
        if self.codec in ("json", "python"):
            return seq(choice(self.nested.shape(shape) for shape in shapes or [Shape("any", {})]), Literal(closer))
        if any(shape.kind in ("string", "any") and not shape.values for shape in shapes) or not shapes:
            return self._text(closer)
        options = [node for shape in shapes for node in self._values(shape, closer)]
        if not options:
            raise ToolglotError(
                f"format {self.format.id!r}, tool {self.tool!r}: expected listed values without the format's markers, "
                f"got {[value for shape in shapes for value in shape.values]!r:.80}"
            )
        return choice(options)

    def _text(self, closer: str) -> Node:
        """Any text."""
        if self.codec not in ("xml", "cdata"):
            return Until(closer, self._unheld(closer))
        entity = [Literal(f"&{name};") for name in ("lt", "gt", "amp", "quot", "apos")] if self.codec == "xml" else []
        plain = Repeat(choice([ANY.without("<&"), *entity]))
        text = seq(
            optional(self.rules.add(("text", self.codec), "TEXT", lambda: Repeat(plain.part, 1))), Literal(closer)
        )
        if self.codec == "xml":
            return text
        return choice([text, seq(Literal("<![CDATA["), Until("]]>"), Literal(closer))])

    def _unheld(self, closer: str) -> tuple[str, ...]:
        """What a text may not hold: the format's markers, and its own closer without its blanks."""
        bare = closer.strip()
        return tuple(dict.fromkeys(w for w in (bare, *self.without) if w != closer and w))

    def _values(self, shape: Shape, closer: str) -> list[Node]:
        if shape.values:
            texts = [value if kind_of(value) == "string" else self.nested.literal(value) for value in shape.values]
            held = self._unheld(closer)
            fit = [text for text in texts if not any(marker in text for marker in (closer, *held))]
            if self.codec in ("xml", "cdata"):
                fit = [
                    html.escape(text, quote=False) for text in fit if self.codec == "xml" or not set(text) & set("<&")
                ]
            return [seq(Literal(text), Literal(closer)) for text in fit]
        if self.codec == "elements" and shape.kind in ("array", "object"):
            node = self._list(shape) if shape.kind == "array" else self._tree(shape)
            return [seq(node, Literal(closer))]
        return [seq(self.nested.shape(shape), Literal(closer))]

    # -- a tree of elements -------------------------------------------------------------------------

    def _element(self, key: str, schema: Any) -> Node:
        before = "".join(part.text or key for part in self.parts[: self._value_at()])
        return seq(Literal(before), self.value(self.root.shapes(schema), self._close(key)))

    def _list(self, shape: Shape) -> Node:
        def make() -> Node:
            first, rest = items(shape.schema)
            least, most = bounds(shape.schema, "minItems", "maxItems")
            if first:
                return seq(*(self._element("item", schema) for schema in first))
            return Repeat(self._element("item", rest), least, most) if rest is not False else Literal("")

        return self.rules.add(self._place(shape), "list", make)

    def _tree(self, shape: Shape) -> Node:
        """An object as elements; as JSON text if its members are not declared, since each closer repeats a key."""
        declared = [member for member in members(shape.schema) if member.schema is not False]
        if not declared:
            return self.nested.shape(shape)

        def make() -> Node:
            entries = [(self._element(member.key, member.schema), member.required) for member in declared]
            return run(self.rules, entries, Literal(""), None)

        return self.rules.add(self._place(shape), "tree", make)

    def _place(self, shape: Shape) -> tuple[object, ...]:
        return ("elements", self.root.key, shape.kind, json.dumps(shape.schema, sort_keys=True, default=str))
