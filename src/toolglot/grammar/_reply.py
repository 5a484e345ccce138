"""The grammar of a reply, from a format's declaration, the tools, and what the model is to choose.

The rule: everything follows from the declaration's templates, codecs and markers; no format is known by its name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from toolglot import Format, Messages, ToolglotError, Tools, render

from ._nodes import (
    ANY,
    Calls,
    Grammar,
    Literal,
    Node,
    Repeat,
    Reply,
    Seq,
    Tag,
    Text,
    Until,
    Value,
    chars,
    choice,
    optional,
    seq,
)
from ._params import Params, Piece, markers, pieces
from ._schema import Root, members
from ._values import JSON, NOTATIONS, Rules, Values

AnyTool = Any  # a Tool of toolglot.Tools: name, schema

# What the parameters of a declaration are called by xgrammar: the template without its line breaks -> the style.
STYLES = {
    "<parameter={key}>{value:raw}</parameter>": "qwen_xml",
    '<parameter name="{key}">{value:raw}</parameter>': "minimax_xml",
    "<arg_key>{key}</arg_key><arg_value>{value:raw}</arg_value>": "glm_xml",
    '<｜DSML｜parameter name="{key}" string="{type:flag}">{value:raw}</｜DSML｜parameter>': "deepseek_xml",
    '<｜DSML｜ parameter name="{key}" string="{type:flag}">{value:raw}</｜DSML｜ parameter>': "deepseek_v4_1_xml",
    ']<]minimax[>[<{key}>{value:elements}]<]minimax[>[</{key}>': "minimax_m3_xml",
    '<|open|>argument key="{key:xml}" type="{type}"<|sep|>{value:raw}<|close|>argument<|sep|>': "kimi_k3_xml",
}  # fmt: skip

ID = chars("0-9", "A-Z", "a-z")
DIGITS = Repeat(chars("0-9"), 1, 3)


class Wish(NamedTuple):
    """What the model is to do: `text` and `calls` say what it may, `many` that it may call more than once."""

    text: bool
    calls: bool
    many: bool


def reply(tools: Tools, format: Format | Messages, wish: Wish, start_in: str) -> Grammar:
    """The grammar of a reply."""
    rules = Rules()
    writer = _Messages(format, rules) if isinstance(format, Messages) else _Calls(format, rules)
    for name in tools if wish.calls else ():
        if (
            not name.isascii() or not name.isidentifier()
        ):  # a name that the wire cannot carry is refused, with its reason
            render([{"name": name, "arguments": {}}], format=format)
    start = writer.reply(tools, wish, start_in)
    return Grammar(rules.nodes, start).used()


def schema_of(tool: AnyTool) -> Mapping[str, Any]:
    """The schema of a tool's arguments: any object where nothing is known of them."""
    return tool.schema if tool.schema is not None else {"type": "object"}


class _Calls:
    """The calls of a `Format`, and the text around them."""

    def __init__(self, format: Format, rules: Rules) -> None:
        self.format = format
        self.rules = rules
        self.template = format.call if isinstance(format.call, str) else format.call[0]
        self.open = self.close = ""
        if format.section is not None:
            self.open, self.close = Format.written(format.section.open), Format.written(format.section.close)
        self.each = format.section is not None and format.section.each
        spelt = [Format.written(mark) for pair in (format.section.pairs if format.section else ()) for mark in pair]
        texts = [*spelt, *(p.text for template in (self.template, format.param) for p in pieces(template))]
        self.markers = tuple(markers("\n".join(texts)))

    # -- one call -----------------------------------------------------------------------------------

    def tag(self, tool: AnyTool, name: str | None = None) -> Tag:
        """One call of a tool; `name` is what stands for its name, if not that."""
        parts = [self._part(piece, tool, tool.name if name is None else name) for piece in pieces(self.template)]
        if self.each:
            parts = [Literal(self.open), *parts, Literal(self.close)]
        return _tag(parts)

    def _part(self, piece: Piece, tool: AnyTool, name: str) -> Node:
        fields: Mapping[str, Callable[[], Node]] = {
            "": lambda: Literal(piece.text),
            "name": lambda: Literal(name),
            "id": lambda: self._id(name),
            "index": lambda: DIGITS,
            "args": lambda: self._arguments(piece.codec, tool),
            "call": lambda: self._object(piece.codec, tool, name),
            "params": lambda: self._params(tool),
        }
        return fields[piece.field]()

    def _id(self, name: str) -> Node:
        """An id as the format's rule makes it."""
        rule = self.format.id_rule
        if rule.isdigit():
            return Repeat(ID, int(rule), int(rule))
        if not rule:
            return Repeat(ID, 1, 40)
        made = [Literal(p.text) if p.text else Literal(name) if p.field == "name" else DIGITS for p in pieces(rule)]
        return seq(*made)

    def _arguments(self, codec: str, tool: AnyTool) -> Node:
        schema = schema_of(tool)
        values = Values(NOTATIONS.get(codec, JSON), Root(schema), self.rules)
        whole = values.value({"type": "object", "allOf": [schema]})
        if codec == "raw" and [member.key for member in members(schema)] == [self.format.keys[1]]:
            closer = pieces(self.template)[-1].text.strip()
            plain = ANY.without("{ \t\r\n" + closer[:1])
            return choice([whole, seq(plain, Repeat(ANY.without(closer[:1])))]) if closer else whole
        return Value(schema, "json" if codec in ("json", "raw") else "", whole)

    def _object(self, codec: str, tool: AnyTool, name: str) -> Node:
        """An object that holds the name and the arguments."""
        keys = self.format.keys
        show = repr if codec == "python" else _json
        parts: list[Node] = [Literal(f"{{{show(keys[0])}: {show(name)}, {show(keys[1])}: ")]
        parts.append(self._arguments(codec, tool))
        if len(keys) > 2 and self.format.id_rule:
            parts += [Literal(f', {show(keys[2])}: "'), self._id(name), Literal('"')]
        return seq(*parts, Literal("}"))

    def _params(self, tool: AnyTool) -> Node:
        schema = Root(schema_of(tool)).resolved(schema_of(tool))
        params = Params(self.format, tool.name, Root(schema_of(tool)), self.rules, self.markers)
        part = self.rules.add(("params", tool.name), "params", lambda: params.node(schema))
        style = STYLES.get(Format.written(self.format.param).replace("\n", ""), "")
        return Value(schema_of(tool), style if members(schema) else "", part)

    def calls(self, tools: Tools, many: bool, open: str | None = None, close: str = "") -> Calls:
        """The calls in their section; `open` and `close` for other markers of it."""
        tags = tuple(self.tag(tool) for tool in tools.values())
        separator = Format.written(self.format.separator)
        if self.each:
            return Calls(tags, separator, many)
        if open is None:
            open, close = self.open, self.close
        return Calls(tags, separator, many, open, close)

    # -- the reply ----------------------------------------------------------------------------------

    def reply(self, tools: Tools, wish: Wish, start_in: str) -> Reply:
        thinking = [pair for block in self.format.thinking for pair in block.pairs]
        lead = self._lead(thinking, start_in, wish.text)
        calls = self.calls(tools, wish.many) if wish.calls else None
        trigger = self._trigger()
        text = Text(self._unheld(tools, trigger, [o for o, _ in thinking])) if wish.text else None
        bare = None
        if calls is not None and self._may_be_bare():
            bracketed = self.open.rstrip().endswith("[")
            bare = self.calls(tools, wish.many, "[" if bracketed else "", "]" if bracketed else "")
        return Reply(lead, calls, text, trigger, bare)

    def _lead(self, thinking: Sequence[tuple[str, str]], start_in: str, text: bool) -> Node | None:
        """Reasoning, where the format has markers for it; a line break or two may part it from a call."""
        pairs = [(Format.written(o), Format.written(c)) for o, c in thinking]
        blank = Literal("") if text else Repeat(chars(" ", "\n"), 0, 4)
        # A call's marker inside reasoning could be read as a call, and another pair's as reasoning's end.
        marks = [mark.strip() for pair in pairs for mark in pair] if len(pairs) > 1 else []
        without = (*(self.format.openers if self.format.tier == "tagged" else ()), *marks)
        if start_in == "reasoning":
            if not pairs:
                raise ToolglotError(
                    f"format {self.format.id!r}, start_in: expected 'text', since the format has no reasoning markers, "
                    "got 'reasoning'"
                )
            return seq(_thought(pairs[0][1], without), blank)
        options = [seq(Literal(o), _thought(c, without), blank) for o, c in pairs]
        return optional(choice(options)) if options else None

    def _trigger(self) -> str:
        """The marker that begins the calls, if they have one of their own; plain words begin a line."""
        begin = self.open or pieces(self.template)[0].text
        found = max((o for o in self.format.openers if begin.startswith(o)), key=len, default="")
        return found if self.format.tier == "tagged" or found[:1] in ("<", "[") else found and f"\n{found}"

    def _may_be_bare(self) -> bool:
        section = self.format.section
        optional_one = section is not None and section.optional and not section.each
        return optional_one and self.format.tier != "tagged" and len(self.open.strip()) > 1

    def _unheld(self, tools: Tools, trigger: str, openers: Sequence[str]) -> tuple[str, ...]:
        """What text before a call may not hold: what begins a call, or reasoning."""
        found = [trigger, *self.format.openers]
        if self.format.tier != "tagged":
            lead = "[" if self.open.rstrip().endswith("[") else ""
            found += [lead + self._head(tool) for tool in tools.values()]
        found += [Format.written(o).strip() for o in openers]
        return tuple(dict.fromkeys(filter(None, found)))

    def _head(self, tool: AnyTool) -> str:
        """What a call without a marker begins with, to behind its name; of an object, to behind the name's key."""
        parts = pieces(self.template)
        if parts[0].field == "call":
            return "{" + (repr if parts[0].codec == "python" else _json)(self.format.keys[0])
        begin = self.tag(tool).begin
        return begin.removeprefix(self.open if self.each else "").rstrip()


class _Messages:
    """A reply that is a run of messages, each with a header."""

    def __init__(self, format: Messages, rules: Rules) -> None:
        self.format = format
        self.rules = rules
        self.without = tuple(dict.fromkeys((*format.starts, *format.bodies, *format.ends)))
        self.inner = _Calls(format.call, rules) if format.call is not None else None

    def reply(self, tools: Tools, wish: Wish, start_in: str) -> Reply:
        if start_in == "reasoning":
            raise ToolglotError(
                f"format {self.format.id!r}, start_in: expected 'text', since a message's header says what it is, "
                "got 'reasoning'"
            )
        joint = self.format.joint
        before = [self.format.thought, *([self.format.prose] if wish.text else [])]
        frames = [self._frame(template, joint) for template in before if template]
        calls = Calls(tuple(self._tag(t) for t in tools.values()), joint, wish.many) if wish.calls else None
        last = self._last(self.format.prose) if wish.text else None
        return Reply(Repeat(choice(frames)) if frames else None, calls, last)

    def _frame(self, template: str, joint: str) -> Node:
        """A message of text, and what parts it from the next."""
        before, _, after = template.partition("{text}")
        closer = after or joint
        return seq(Literal(before), Until(closer, self._unheld(closer)), Literal(joint if after else ""))

    def _last(self, template: str) -> Node:
        """The last message of text: its end may be left to the model's end of turn."""
        before, _, after = template.partition("{text}")
        ended = [Until(after, self._unheld(after))] if after else []
        return seq(Literal(before), choice([*ended, Text(self.without)]))

    def _unheld(self, closer: str) -> tuple[str, ...]:
        return tuple(w for w in self.without if w != closer and w.strip())

    def _tag(self, tool: AnyTool) -> Tag:
        """One call's message."""
        parts: list[Node] = []
        for piece in pieces(self.format.write):
            if piece.field == "args":
                values = Values(JSON, Root(schema_of(tool)), self.rules)
                whole = values.value({"type": "object", "allOf": [schema_of(tool)]})
                parts.append(Value(schema_of(tool), "json", whole))
            elif piece.field == "call":
                parts.append(self._inner(tool))
            else:
                parts.append(Literal(tool.name if piece.field else piece.text))
        return _tag(parts)

    def _inner(self, tool: AnyTool) -> Node:
        """The call in the body; the header has said its name where the body does not begin with one."""
        assert self.inner is not None
        headed = pieces(self.inner.template)[0].field == "name"
        tag = self.inner.tag(tool, "" if headed else None)
        around = ("", "") if self.inner.each else (self.inner.open, self.inner.close)
        return seq(Literal(around[0] + tag.begin), tag.content, Literal(tag.end + around[1]))


def _tag(parts: Sequence[Node]) -> Tag:
    """A call whose parts are these."""
    whole = seq(*parts)
    inner = list(whole.parts) if isinstance(whole, Seq) else [whole]
    begin = inner.pop(0) if isinstance(inner[0], Literal) else Literal("")
    end = inner.pop() if inner and isinstance(inner[-1], Literal) else Literal("")
    assert isinstance(begin, Literal) and isinstance(end, Literal)
    return Tag(begin.text, seq(*inner), end.text)


def _thought(closer: str, without: Sequence[str]) -> Until:
    return Until(closer, tuple(mark for mark in dict.fromkeys(without) if mark != closer.strip()))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
