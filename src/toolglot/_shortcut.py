"""Reads a well-formed whole reply of a format with JSON arguments without the machine.

The one short cut of the engine: find the marker, let the standard library's scanner read the arguments, find the end.
The rule: anything that the machine would have to think about (a repair, a coercion, a name that is not offered,
reasoning, a quotation, a limit) gives None, and the machine reads the reply from its start. A differential law holds
the two equal.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from ._calls import LIMITS
from ._events import Call
from ._format import Compiled, Format, is_control
from ._machine import Compiles
from ._result import Result, SegmentKind
from ._scan import Grammar
from ._schema import Node
from ._tools import Tool

_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_NAME = r"[^\s<>{}\[\]()\"'`,;=\\]{1,256}"
_MORE = frozenset("[]{},;")
"""What the machine may take for a part of the block, though the block is over."""
_BLANK = r"[ \t\r\n]{0,64}"


class _Unfit(ValueError):
    """The text is not for the short cut."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Unfit
    return members


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _Unfit
    return value


def _constant(text: str) -> None:
    raise _Unfit


_decode = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_float, parse_constant=_constant).raw_decode
_decode_dense = json.JSONDecoder(parse_constant=_constant).raw_decode
_SAMPLE = 2048  # code points that tell whether many small objects follow
_DENSE = 8  # objects in the sample from which on a call for each object costs more than a look at the values
_INFINITIES = (float("inf"), float("-inf"))


def _decoded(text: str, start: int) -> tuple[dict[str, Any], int, int]:
    """The object at start, its end, and how deep it nests (0 where that was not counted).

    Raises ValueError where the machine must decide: no JSON, a key that stands twice, a number that no float can hold.
    """
    if text.count('{"', start, start + _SAMPLE) > _DENSE:
        value, end = _decode_dense(text, start)
        keys, depth = _survey(value)
        # As many colons as keys say that no key stands twice: each key that was written has one.
        if keys == text.count(":", start, end):
            return value, end, depth
    value, end = _decode(text, start)
    return value, end, 0


def _survey(value: dict[str, Any]) -> tuple[int, int]:
    """How many keys a value holds all the way down, and its levels; -1 keys if one of its numbers is infinite."""
    keys = depth = 0
    level: list[Any] = [value]
    while level:
        depth += 1
        below: list[Any] = []
        for container in level:
            if type(container) is dict:
                keys += len(container)
                container = container.values()
            for item in container:
                kind = type(item)
                if kind is dict or kind is list:
                    below.append(item)
                elif kind is float and item in _INFINITIES:
                    return -1, depth
        level = below
    return keys, depth


_PYTHON = {
    "string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,),
    "object": (dict,), "null": (type(None),),
}  # fmt: skip
_ANY = frozenset(kind for kinds in _PYTHON.values() for kind in kinds)


@lru_cache(maxsize=256)
def _kinds(types: frozenset[str]) -> frozenset[type]:
    """The Python types of JSON types."""
    return frozenset(kind for name in types for kind in _PYTHON[name])


def _leaf(node: Node) -> bool:
    """Whether nothing is known of what a value there holds."""
    return not node.declared and node.member("").free and node.item(0).free


_admitted_by: dict[int, tuple[Node, dict[str, frozenset[type]]]] = {}


def _admitted(node: Node) -> dict[str, frozenset[type]]:
    """For the members whose type alone decides: the types that stay as they are. Made once a schema."""
    known = _admitted_by.get(id(node))
    if known is None or known[0] is not node:
        if len(_admitted_by) > 256:
            _admitted_by.clear()
        made: dict[str, frozenset[type]] = {}
        for key in node.declared:
            types = node.member(key).types
            if types is None and node.member(key).free:
                made[key] = _ANY
            elif types is not None and not types & {"array", "object"}:
                made[key] = _kinds(types)
        known = _admitted_by[id(node)] = node, made
    return known[1]


def arguments_fit(node: Node, arguments: dict[str, Any]) -> bool:
    """Whether arguments are surely left as they stand under a tool's schema."""
    if node.types is not None and "object" not in node.types:
        return False
    admitted = _admitted(node)
    for key, value in arguments.items():
        kinds = admitted.get(key)
        if kinds is None:
            if not fits(node.member(key), value):
                return False
        elif type(value) not in kinds:
            return False
    return True


def fits(node: Node, value: Any) -> bool:
    """Whether a value is surely left as it stands under a schema."""
    types = node.types
    if types is not None:
        kind = _KINDS.get(type(value), "null")
        if kind not in types and not (kind == "integer" and "number" in types):
            return False
    if node.free:
        return True
    if type(value) is dict:
        return all(fits(node.member(k), v) for k, v in value.items())
    if type(value) is list:
        inner = node.item(0)
        if inner is node.item(len(value)) and _leaf(inner):  # all items stand at one place, and their types decide
            return inner.types is None or set(map(type, value)) <= _kinds(inner.types)
        return all(fits(node.item(i), v) for i, v in enumerate(value))
    return True


def _shallow(value: Any, limit: int) -> bool:
    """Whether nesting stays within the limit."""
    level = [value]
    for _ in range(limit):
        level = [v for c in level for v in (c.values() if type(c) is dict else c) if type(v) is dict or type(v) is list]
        if not level:
            return True
    return False


class Shortcut:
    """The short cut of one format."""

    __slots__ = ("_close", "_end", "_ends", "_format", "_head", "_id", "_markers", "_open", "_others")

    def __init__(self, fmt: Format, compiled: Compiled) -> None:
        grammar = Grammar((fmt,))
        self._format = fmt
        self._markers = grammar.markers
        ends = (e for e in fmt.end_tokens if is_control(e))
        self._ends = frozenset(e for e in ends if not grammar.role(e).opens)
        self._id = Compiles.of(compiled).id_pattern
        opening = "".join(re.escape(t) + _BLANK for t in (compiled.opens[0] if compiled.opens else ()))
        closing = "".join(_BLANK + re.escape(t) for t in (compiled.closes[0] if compiled.closes else ()))
        others = "|".join(re.escape(c[0]) for c in compiled.closes[1:] if c)
        self._others = re.compile(f"{_BLANK}(?:{others})") if others else None  # closers of another spelling
        listed = compiled.body.field == "args" and bool(opening)
        head, tail = self._call_patterns(fmt) if compiled.body.field == "call" else self._item_patterns(compiled)
        self._open = re.compile(opening) if listed else None
        self._end = re.compile(closing) if listed else None
        self._head = re.compile(head if listed else f"{opening}{head}")
        self._close = re.compile(tail if listed else f"{tail}{closing}")

    def _call_patterns(self, fmt: Format) -> tuple[str, str]:
        """What stands before and behind the arguments of a JSON call."""
        name, arguments = (re.escape(json.dumps(k)) for k in fmt.keys[:2])
        pieces = ["(?P<item>){", name, ":", f'"(?P<name>{_NAME})"', ",", arguments, ":", ""]
        return _BLANK.join(pieces), f"{_BLANK}}}(?P<item>)"

    def _item_patterns(self, compiled: Compiled) -> tuple[str, str]:
        """The same for a call whose name stands outside of its JSON arguments."""
        pieces = [f"(?P<name>{_NAME})" if s.field else re.escape(s.literal) for s in compiled.steps]
        args = next(i for i, s in enumerate(compiled.steps) if s.field == "args")
        first = "(?P<item>)" + _BLANK.join([*pieces[:args], ""])
        return first, "".join(_BLANK + p for p in pieces[args + 1 :]) + "(?P<item>)"

    def read(self, text: str, tools: dict[str, Tool]) -> Result | None:
        """The result, or None where the machine must read."""
        if len(text) > LIMITS["reply"] or "`" in text:
            return None
        at = 0
        content: list[str] = []
        calls: list[Call] = []
        marks: list[tuple[int, int, SegmentKind]] = []
        while True:
            found = self._markers.find(text, at)
            end = found.start() if found else len(text)
            if end > at:
                content.append(text[at:end])
                marks.append((at, end, "text"))
            if found is not None and found.group() in self._ends:
                at = found.end()
                continue
            if found is None:
                return Result(text, "".join(content), "", calls, [], [], self._format.id if calls else None, marks)
            at = self._block(text, end, tools, calls, marks)
            if at < 0 or _next(text, at) in _MORE or (self._others is not None and self._others.match(text, at)):
                return None
            if at == len(text):
                return Result(text, "".join(content), "", calls, [], [], self._format.id, marks)

    def _block(
        self, text: str, at: int, tools: dict[str, Tool], calls: list[Call], marks: list[tuple[int, int, SegmentKind]]
    ) -> int:
        """Read a block at its opener; returns its end, or -1."""
        if self._open is None or self._end is None:
            return self._call(text, at, tools, calls, marks)
        opened = self._open.match(text, at)
        if opened is None:
            return -1
        at = opened.end()
        while True:
            at = self._call(text, at, tools, calls, marks)
            if at < 0:
                return -1
            closed = self._end.match(text, at)
            if closed is not None:
                return closed.end()
            at = _blank(text, at)

    def _call(
        self, text: str, at: int, tools: dict[str, Tool], calls: list[Call], marks: list[tuple[int, int, SegmentKind]]
    ) -> int:
        head = self._head.match(text, at)
        if head is None or len(calls) >= LIMITS["calls"]:
            return -1
        start = head.end()
        if text[start : start + 1] != "{":
            return -1
        try:
            arguments, end, depth = _decoded(text, start)
        except (ValueError, RecursionError):
            return -1
        name, ident, span = head["name"], None, head.span("name")
        if self._id is not None:
            whole = self._id.fullmatch(name)
            if whole is None:
                return -1
            ident, name = name, whole["name"]
            span = (span[0] + whole.start("name"), span[0] + whole.end("name"))
        tool = tools.get(name)
        if tools and (tool is None or not arguments_fit(tool.node, arguments)):
            return -1
        raw = text[start:end]
        tail = self._close.match(text, end)
        if tail is None or not self._plain(raw, arguments, depth):
            return -1
        marks.append((*span, "name"))
        marks.append((start, end, "arguments"))
        whole_span = (head.start("item"), tail.start("item"))
        calls.append(Call(name, arguments, raw, ident, len(calls), self._format.id, whole_span, False))
        return tail.end()

    def _plain(self, raw: str, arguments: dict[str, Any], depth: int) -> bool:
        """Nothing in the arguments needs the machine's judgement."""
        if len(raw) > LIMITS["arguments"] or ("\\u" in raw and _SURROGATE.search(raw)):
            return False
        if depth > LIMITS["depth"]:
            return False
        nested = not depth and any(type(v) is dict or type(v) is list for v in arguments.values())
        if nested and raw.count("{") + raw.count("[") > LIMITS["depth"] and not _shallow(arguments, LIMITS["depth"]):
            return False
        return not {"type", "properties"} <= arguments.keys()


def _blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _next(text: str, at: int) -> str:
    """The next character that is no blank."""
    at = _blank(text, at)
    return text[at : at + 1]


def shortcut(fmt: object) -> Shortcut | None:
    """The short cut of a format, or None where it has none."""
    return _made(fmt) if isinstance(fmt, Format) else None


@lru_cache(maxsize=256)
def _made(fmt: Format) -> Shortcut | None:
    if fmt.tier != "tagged" or not isinstance(fmt.call, str):
        return None
    compiled = Compiled.of(fmt)
    headers = sum(s.field in ("name", "id") for s in compiled.steps)
    if compiled.body.field == "params" or compiled.alternates or headers > 1 or compiled.body.codec != "json":
        return None
    if compiled.separator not in ("", ",", ";"):
        return None
    return Shortcut(fmt, compiled)
