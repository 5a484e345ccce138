"""Writes calls as events: which names count, what is said when, and what becomes of a refused call's text.

One `CallWriter` serves one block (a section, a fence, a list). The rule: the text of a refused call stays text; the
block's markers are markup as soon as one of its calls counts, and text when none does (rulings 5 and 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from ._errors import Code
from ._events import (
    ArgumentsDelta,
    Call,
    CallAbort,
    CallBegin,
    CallEnd,
    Event,
    Incomplete,
    Problem,
    Span,
    Text,
)
from ._schema import Node
from ._schema import coerce as coerce_value
from ._source import History, add_piece
from ._tools import Tool
from ._tree import loads
from ._values._delimited import DELIMITERS, DelimitedReader
from ._values._literal import Dialect, LiteralReader, Stops
from ._values._raw import Scan
from ._values._whole import MOST_LEVELS

UnknownTools: TypeAlias = Literal["refuse", "keep"]
BlockRule: TypeAlias = Literal["each", "all-or-nothing"]
Truncated: TypeAlias = Literal["report", "close"]
Arguments: TypeAlias = Literal["live", "whole"]

LIMITS: Mapping[str, int] = {
    "reply": 16 * 1024 * 1024,
    "depth": MOST_LEVELS,
    "arguments": 8 * 1024 * 1024,
    "calls": 1024,
    "held": 64 * 1024,
}
"""Ruling 25: code points of a reply, nesting, code points of one call's arguments, calls a reply, held text."""


class Context:
    """What all readers of one reply share: the offered tools, the options, the text so far, the calls so far."""

    __slots__ = ("arguments", "block", "calls", "coerce", "history", "limits", "max_hold", "scans", "tools",
                 "truncated", "unknown_tools")  # fmt: skip

    def __init__(
        self,
        tools: dict[str, Tool],
        *,
        unknown_tools: UnknownTools = "refuse",
        block: BlockRule = "each",
        truncated: Truncated = "report",
        coerce: bool = True,
        arguments: Arguments = "live",
        max_hold: int = 4096,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        self.tools = tools
        self.unknown_tools = unknown_tools
        self.block = block
        self.truncated = truncated
        self.coerce = coerce
        self.arguments = arguments
        self.max_hold = max_hold
        self.limits: Mapping[str, int] = {**LIMITS, **limits} if limits else LIMITS
        self.history = History()
        self.calls = 0
        self.scans: dict[tuple[object, ...], Scan] = {}  # by what ends a raw value

    def node(self, name: str | None) -> Node | None:
        """The schema of a tool's arguments, or None where nothing is coerced."""
        tool = self.tools.get(name) if name is not None else None
        return tool.node if tool is not None and self.coerce else None

    def declared(self, name: str | None) -> frozenset[str] | None:
        """The argument keys that a tool declares, or None where any key may come."""
        tool = self.tools.get(name) if name is not None else None
        return tool.node.declared if tool is not None and tool.schema is not None else None

    def expected(self, name: str | None) -> frozenset[str] | None:
        """The keys that tell a parameter from text that looks like one, or None where the schema lets any key come."""
        tool = self.tools.get(name) if name is not None else None
        return None if tool is not None and tool.node.open else self.declared(name)

    def literal(self, codec: str, name: str | None, stops: Stops | None) -> LiteralReader:
        """A reader for the arguments object of a tool."""
        node = self.node(name)
        if codec in DELIMITERS:
            coerce = coerce_value if codec == "gemma" else _untyped
            return DelimitedReader(DELIMITERS[codec], node, coerce, stops=stops, depth_limit=self.limits["depth"])
        dialect: Dialect = "python" if codec == "python" else "json"
        return LiteralReader(dialect, node, coerce_value, stops=stops, depth_limit=self.limits["depth"])

    def text(self, start: int, end: int) -> Text:
        """The reply's own text as prose."""
        return Text(self.history.slice(start, end), (start, end))


def _untyped(node: Node, kind: str, json_text: str) -> tuple[str, Code | None]:
    """Fit a value of a wire whose strings may stand for any type: that is no repair."""
    text, code = coerce_value(node, kind, json_text)
    return text, None if code is Code.COERCED else code


class CallWriter:
    """Turns what the readers find in one block into events; `sink` takes them."""

    __slots__ = (
        "_args_end", "_ident", "_name_span", "_parts", "_pending", "accepted", "args_at", "begun", "ctx",
        "ever", "explicit", "format_id", "index", "item_at", "length", "name", "open", "refusals", "refused",
        "relevant_at", "settled", "sink", "start", "tagged", "unknown",
    )  # fmt: skip

    def __init__(self, ctx: Context, format_id: str, start: int, tagged: bool, sink: list[Event]) -> None:
        self.ctx = ctx
        self.format_id = format_id
        self.start = start
        self.tagged = tagged
        self.sink = sink
        self.accepted = 0  # calls of this block that count
        self.relevant_at = -1  # where a name that counts was first seen
        self.refusals = 0
        self.unknown: list[Problem] = []
        self.ever = False  # a call that counts was begun
        self.explicit = False  # the text says itself that it is a tool call, though no markers do
        self.settled = False  # text of the block was said
        self._pending: list[Span] = []  # refused calls before the first one that counts
        self.index = 0
        self.item(start)

    def item(self, at: int) -> None:
        """A call's own text begins at `at`."""
        self.item_at = at
        self.name: str | None = None
        self._name_span: Span = (at, at)
        self._ident: str | None = None
        self.args_at = self._args_end = at
        self._parts: list[str] = []
        self.length = 0
        self.begun = False  # CallBegin is said
        self.open = False  # a call that counts is being read
        self.refused = False

    def problem(self, code: Code, message: str, start: int, end: int, repaired: bool = False) -> None:
        """Say what was wrong."""
        self.sink.append(Problem(code, message, repaired, (start, end)))

    def seen(self, at: int) -> None:
        """A name that counts ends at `at`."""
        if self.relevant_at < 0:
            self.relevant_at = at

    @property
    def relevant(self) -> bool:
        """Whether a name that counts was seen."""
        return self.relevant_at >= 0

    def offered(self, name: str) -> bool:
        """Whether a call of that name counts."""
        return not self.ctx.tools or name in self.ctx.tools

    # -- one call ------------------------------------------------------------------------------------

    def begin(self, name: str, ident: str | None, span: Span, args_at: int) -> bool:
        """A call of `name` begins, its arguments at `args_at`; False if it does not count."""
        ctx = self.ctx
        self.name = name
        if not self.offered(name):
            known = ", ".join(ctx.tools)
            problem = Problem(Code.UNKNOWN_TOOL, f"Unknown tool {name!r}. Offered: {known}", False, span, None, name)
            keep = ctx.unknown_tools == "keep" and self.tagged
            if keep:
                problem.repaired = True
            if self.tagged or self.accepted:
                self.sink.append(problem)
            else:
                self.unknown.append(problem)
            if not keep:
                return self._refuse()
        self.seen(span[1])
        if ctx.calls >= ctx.limits["calls"]:
            self.problem(Code.LIMIT, f"More than {ctx.limits['calls']} calls in one reply", *span)
            return self._refuse()
        self._ident = ident
        self._name_span = span
        self.args_at = self._args_end = args_at
        self.open = self.ever = True
        self.index = ctx.calls
        ctx.calls += 1
        self._flush_refused()
        if self.unknown:
            self.sink += self.unknown
            self.unknown = []
        if ctx.arguments == "live":
            self._say_begin()
        return True

    def _refuse(self) -> bool:
        self.refused = True
        self.refusals += 1
        return False

    @property
    def written(self) -> str:
        """The JSON of the arguments so far."""
        return "".join(self._parts)

    def _flush_refused(self) -> None:
        """A call of the block counts: its markers are markup, and what was refused before is text."""
        for start, end in self._pending:
            self.sink.append(self.ctx.text(start, end))
            self.settled = True
        self._pending = []

    def _say_begin(self) -> None:
        self.begun = True
        assert self.name is not None
        self.sink.append(CallBegin(self.index, self.name, self._ident, self._name_span))

    def delta(self, text: str, end: int) -> None:
        """The next piece of the arguments, read up to `end`. Past the limit the call is refused."""
        if not self.open or not text:
            return
        room = max(self.ctx.limits["arguments"] - self.length, 0)
        piece = text if len(text) <= room else text[:room]
        add_piece(self._parts, piece)
        self.length += len(piece)
        self._args_end = end
        if self.begun and piece:
            self.sink.append(ArgumentsDelta(self.index, piece, (self.args_at, end)))
            self.args_at = end
        if len(text) > room:
            self._over()

    def _over(self) -> None:
        limit = self.ctx.limits["arguments"]
        message = f"The arguments of {self.name!r} are longer than {limit}"
        self.problem(Code.LIMIT, message, *self._name_span)
        if self.begun:
            self.sink.append(CallAbort(self.index, Code.LIMIT, message, self._name_span))
        else:
            self.ctx.calls -= 1
        self.open = self.begun = False
        self._parts = []
        self._refuse()

    def take(self, literal: LiteralReader, end: int) -> None:
        """Say what a value's reader has found up to `end`."""
        self.take_problems(literal)
        if literal.out:
            self.delta(literal.take(), end)

    def take_problems(self, literal: LiteralReader) -> None:
        """Say what was wrong with a value so far."""
        if literal.problems:
            self.sink += literal.problems
            literal.problems = []

    def passed(self, text: str, end: int) -> None:
        """Pieces that were said already, on the short path."""
        add_piece(self._parts, text)
        self.length += len(text)
        self.args_at = end

    def end(self, end: int, ident: str | None = None, truncated: bool = False) -> None:
        """The call is whole; its own text ends at `end`."""
        if not self.open:
            self.item_end(end)
            return
        text = "".join(self._parts)
        assert self.name is not None
        call = Call(
            self.name, loads(text), text, ident or self._ident, self.index, self.format_id, (self.item_at, end),
            truncated,
        )  # fmt: skip
        if not self.begun:
            self._say_begin()
            self.sink.append(ArgumentsDelta(self.index, text, (self.args_at, self._args_end)))
        self.sink.append(CallEnd(self.index, call, (self.item_at, end)))
        self.accepted += 1
        self.item_at = end  # what may come behind it in the block is not its own
        self.open = False
        self.begun = False

    def refuse(self, code: Code, message: str, start: int, end: int, name: str | None = None) -> None:
        """The item is no call that counts: its text stays. `name` is the one it gives, if it does."""
        self.sink.append(Problem(code, message, False, (start, end), None, name))
        self._refuse()

    def item_end(self, end: int) -> None:
        """The text of an item that was not ended as a call ends."""
        if self.refused and end > self.item_at:
            if self.accepted or self.settled:
                self.sink.append(self.ctx.text(self.item_at, end))
            else:
                self._pending.append((self.item_at, end))
            self.item_at = end
        self.refused = False

    # -- what goes wrong -------------------------------------------------------------------------------

    def cut(self, end: int, members: str, closed: str, named: bool) -> None:
        """The text ends inside the call: ruling 12. `members` is the JSON of the whole top-level members, `closed` that
        of everything closed, empty where that would be a guess; `named` says whether the name is known."""
        if self.refused:
            self.item_end(end)
            return
        text = self.ctx.history.slice(self.item_at, end)
        if self.open and self.ctx.truncated == "close" and closed:
            written = "".join(self._parts)
            self.delta(closed[len(written) :], end)
            self.problem(
                Code.TRUNCATED, f"The text ends inside the arguments of {self.name!r}: closed", self.item_at, end, True
            )
            self.end(end, truncated=True)
            return
        name = self.name if named else None
        message = f"The text ends inside the arguments of {name!r}" if name else "The text ends inside a call's name"
        if not self.accepted:  # what was refused before is text, as beside a call that counts
            self._flush_refused()
        if self.begun:
            self.sink.append(CallAbort(self.index, Code.TRUNCATED, message, (self.item_at, end)))
        elif self.open:
            self.ctx.calls -= 1
        self.accepted += 1  # the block's markers are markup
        incomplete = Incomplete(name, loads(members), text, (self.item_at, end))
        self.sink.append(Problem(Code.TRUNCATED, message, False, (self.item_at, end), incomplete))
        self.open = False
        self.begun = False

    def fail(self, error: tuple[Code, str, int], end: int) -> None:
        """The call cannot be read: its text up to `end` stays, and the block's with it if no call counts."""
        code, message, at = error
        if code is not Code.UNREADABLE:
            self.problem(code, message, at, min(at + 1, max(end, at)))
        if code.is_error:
            self.problem(Code.UNREADABLE, f"The call cannot be read: {message}", min(self.item_at, at), max(end, at))
        if self.begun:
            span = (self.item_at, end)
            self.sink.append(CallAbort(self.index, Code.UNREADABLE, message, span))
        elif self.open:
            self.ctx.calls -= 1
        self.open = False
        self.begun = False
        self._refuse()

    def block_end(self, end: int) -> None:
        """The block ends: when none of its calls counts, all of it is text."""
        if not self.accepted and not self.settled and self._pending:
            self.sink.append(self.ctx.text(self.start, end))
            self._pending = []
