"""What a reader says while it reads: whole values, in the order of the text.

The rule: an event is made once, with all its fields, and is never taken back. Spans are half-open, in code
points of the whole reply. Plain slots dataclasses: frozen ones cost several times as much to make.
"""

from __future__ import annotations

from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, TypeAlias

from ._errors import Code

Span: TypeAlias = tuple[int, int]

Members: TypeAlias = list[tuple[str, str, bool]]
"""The members of an object: a key as JSON with its colon; the value; whether that is a text and not yet JSON."""


def members_json(members: Members) -> str:
    """The JSON text of an object.

    >>> members_json([('"a": ', "x", True), ('"b": ', "1.50", False)])
    '{"a": "x", "b": 1.50}'
    """
    parts = ["{"]
    for key, value, text in members:  # long values are copied once
        parts += (key, encode_basestring(value) if text else value, ", ")
    parts[-1] = "}" if members else "{}"
    return "".join(parts)


class _Spelled:
    """A call whose `arguments_json` is made of `_members` when it is asked for: the short cut leaves it unset."""

    __slots__ = ("_members",)
    _members: Members

    if not TYPE_CHECKING:  # a type checker would take any attribute for known

        def __getattr__(self, name: str) -> str:
            if name != "arguments_json":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            made = self.arguments_json = members_json(self._members)
            return made


@dataclass(slots=True)
class Call(_Spelled):
    """One tool call.

    `arguments` is the decoded object, `arguments_json` the JSON text it was read from, with numbers as they
    were written; `id` is the wire's own id or None; `index` counts the calls of the reply from 0; `truncated`
    says that the text was cut inside the arguments and was closed on request.

    >>> from toolglot import parse
    >>> parse('<tool_call>{"name": "f", "arguments": {"n": 1.50}}</tool_call>').calls[0].arguments_json
    '{"n": 1.50}'
    """

    name: str
    arguments: dict[str, Any]
    arguments_json: str
    id: str | None
    index: int
    format: str
    span: Span
    truncated: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The call as plain data."""
        return {
            "name": self.name,
            "arguments": self.arguments,
            "arguments_json": self.arguments_json,
            "id": self.id,
            "index": self.index,
            "format": self.format,
            "span": list(self.span),
            "truncated": self.truncated,
        }

    def to_openai(self) -> dict[str, Any]:
        """The call as an entry of an OpenAI message's `tool_calls`; an id is made where the wire has none."""
        return {
            "id": self.id or f"call_{self.index}",
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments_json},
        }


@dataclass(slots=True)
class Incomplete:
    """A call that the text cuts inside its arguments: never run it.

    `name` is None where the cut is inside the name; `arguments` holds the top-level members already complete;
    `text` is the raw text of the call as far as it goes.
    """

    name: str | None
    arguments: dict[str, Any]
    text: str
    span: Span

    def to_dict(self) -> dict[str, Any]:
        """The cut call as plain data."""
        return {"name": self.name, "arguments": self.arguments, "text": self.text, "span": list(self.span)}


@dataclass(slots=True)
class Text:
    """Prose for the user: `text` is the reply's own text at `span`."""

    text: str
    span: Span


@dataclass(slots=True)
class Reasoning:
    """The model's reasoning: `text` is the reply's own text at `span`."""

    text: str
    span: Span


@dataclass(slots=True)
class CallBegin:
    """A call of an offered tool begins; `span` is its name's place."""

    index: int
    name: str
    id: str | None
    span: Span


@dataclass(slots=True)
class ArgumentsDelta:
    """The next piece of a call's arguments; the pieces join to strict JSON."""

    index: int
    text: str
    span: Span


@dataclass(slots=True)
class CallEnd:
    """The call is whole; `span` is the place of the whole call."""

    index: int
    call: Call
    span: Span


@dataclass(slots=True)
class CallAbort:
    """A call that had begun is cut or unreadable: what was streamed of it must not be run.

    `code` is `truncated`, `unreadable` or `limit`.
    """

    index: int
    code: Code
    message: str
    span: Span


@dataclass(slots=True)
class Problem:
    """Something was wrong at `span`; `repaired` says that the reading went on as if it were right.

    A problem `truncated` carries the cut call, as far as it goes, in `incomplete`. `name` is the tool's name where a
    call is refused because of it or of its arguments (`unknown_tool`, and of JSON calls `invalid_arguments`).

    >>> from toolglot import parse
    >>> parse('<tool_call>{"name": "fly", "arguments": {}}</tool_call>', ["ping"]).problems[0].name
    'fly'
    """

    code: Code
    message: str
    repaired: bool
    span: Span
    incomplete: Incomplete | None = None
    name: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The problem as plain data."""
        return {
            "code": str(self.code),
            "message": self.message,
            "repaired": self.repaired,
            "span": list(self.span),
        }


Event: TypeAlias = Text | Reasoning | CallBegin | ArgumentsDelta | CallEnd | CallAbort | Problem
