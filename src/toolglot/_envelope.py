"""Reads calls that stand as JSON objects: name and arguments under keys, alone, in a list, or in a known wrapper.

The envelope is read by the literal reader itself, which tells this module what it meets; only the arguments of a call
that counts are written. The rule: arguments are written live when they stand under the format's own key, behind the
name, and are no copied tool definition; otherwise they are read again when the object is whole.
"""

from __future__ import annotations

import json

from ._calls import CallWriter, Context
from ._errors import Code
from ._events import Problem
from ._format import Compiled
from ._schema import coerce as coerce_value
from ._source import Source
from ._tree import loads
from ._values._literal import ARRAY, DONE, FAIL, OBJECT, Dialect, LiteralReader, Stops, lenient_json

_LIST = "list"
_NAME, _ID, _ARGS, _WRAP, _CALLS, _TYPE, _OTHER = "name", "id", "args", "wrap", "calls", "type", ""
_AROUND = 5  # levels that stand around arguments: a wrapper, its list, an object, its function, a list
_META = frozenset({"type", "id", "call_id", "tool_call_id", "index", "tool_index"})
_ROLES = {
    "id": _ID, "call_id": _ID, "tool_call_id": _ID, "function": _WRAP, "function_call": _WRAP, "tool_calls": _CALLS,
    "type": _TYPE,
}  # fmt: skip
_SCHEMA_KEYS = frozenset({"type", "properties", "required", "description", "title", "$schema", "additionalProperties"})
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_DEFINITION_KEYS = frozenset({"parameters", "input_schema", "inputSchema"})


class _Call:
    """One object that may be a call."""

    __slots__ = ("args", "at", "bad", "container", "done", "extra", "id", "key", "name", "name_span", "whole")

    def __init__(self, at: int) -> None:
        self.at = at
        self.name: str | None = None
        self.name_span = (at, at)
        self.id: str | None = None
        self.key = ""  # the key of the arguments that are being read
        self.args: list[tuple[str, int, int, str | None]] = []  # key, span, the text where it was a string
        self.bad: str | None = None  # what stands where an arguments object was expected
        self.done = False  # the arguments were written live
        self.whole = False  # the object is closed
        self.extra: list[str] = []
        self.container = False


class Envelope(LiteralReader):
    """Reads one JSON value that holds calls."""

    __slots__ = (
        "_args_at",
        "_args_depth",
        "_args_key",
        "_call",
        "_ctx",
        "_fmt",
        "_live",
        "_name_keys",
        "_role",
        "_tags",
        "_undecided",
        "_writer",
        "shaped",
    )  # fmt: skip

    def __init__(self, fmt: Compiled, ctx: Context, writer: CallWriter, stops: Stops | None) -> None:
        dialect: Dialect = "python" if fmt.body.codec == "python" else "json"
        super().__init__(dialect, None, coerce_value, stops=stops, depth_limit=ctx.limits["depth"] + _AROUND)
        self.watch = True
        self.writing = False
        self._fmt = fmt
        self._ctx = ctx
        self._writer = writer
        self._name_keys = fmt.name_keys
        self._tags: list[_Call | str | None] = []
        self._call: _Call | None = None
        self._role = _OTHER
        self._args_key = ""
        self._args_depth = 0  # how many containers are open inside the arguments that are read
        self._args_at = 0
        self._live = False
        self._undecided = False
        self.shaped = False  # a name key of a call was seen: what is wrong is wrong with a call

    # -- reading ---------------------------------------------------------------------------------------

    def read(self, src: Source) -> int:
        """Read on; what was read of live arguments is written as events."""
        status = super().read(src)
        self.flush(src.at)
        if status == FAIL and self._salvage():
            return DONE
        return status

    @property
    def in_list(self) -> bool:
        """Whether a call of a list is being read."""
        return len(self._tags) > 1 and self._tags[0] == _LIST

    @property
    def live(self) -> bool:  # type: ignore[override]
        """Whether arguments are being written as they come."""
        return self._live

    def flush(self, end: int) -> None:
        """Say what has been read so far."""
        if self._live and self.out:
            self._writer.delta(self.take(), end)
        if self.problems:
            self._say_problems()

    def _say_problems(self) -> None:
        if self._writer.tagged or self._writer.relevant:
            self._writer.sink += self.problems
            self.problems = []

    def _refused_now(self) -> bool:
        return self.error is not None

    def _salvage(self) -> bool:
        """Arguments that are whole make a call, though what stands around them is not closed: ruling 11."""
        call = self._call
        if call is None or self._args_depth or self.error is None:
            return False
        code, _, at = self.error
        if code != Code.EXPECTED_COMMA:
            return False
        if call.whole:
            if self._writer.tagged:
                self.error = None
                self._writer.problem(Code.UNCLOSED, "Expected ']' after the calls, got something else", at, at, True)
            return self._writer.tagged
        if not self._settled(call):
            return False
        self.error = None
        self._item_end(call, at)
        if self._refused_now():
            return False
        self._writer.problem(Code.UNCLOSED, "Expected '}' after the arguments, got something else", at, at, True)
        return True

    def _settled(self, call: _Call) -> bool:
        return call.done or (call.name is not None and bool(call.args))

    # -- what the literal reader meets -------------------------------------------------------------------

    def on_open(self, kind: int, at: int) -> None:
        """A container opens: a call, a list of calls, a wrapper, arguments, or data."""
        tags = self._tags
        around = tags[-1] if tags else None
        role, self._role = self._role, _OTHER
        tag: _Call | str | None = None
        if not tags or around == _LIST:
            if kind == OBJECT:
                tag = self._call = _Call(at)
                self._writer.item(at)
            elif not tags and kind == ARRAY:
                tag = _LIST
            else:
                self._odd(at)
        elif isinstance(around, _Call):
            if role == _WRAP and kind == OBJECT:
                tag = around
            elif role == _CALLS and kind == ARRAY:
                tag = _LIST
                around.container = True
            elif role == _ARGS:
                if kind == OBJECT:
                    self._arguments(around, at)
                else:
                    around.bad = "a list"
            elif role in (_NAME, _ID):
                around.bad = around.bad or ("a container" if role == _NAME else None)
        tags.append(tag)

    def _odd(self, at: int) -> None:
        self.error = (Code.UNRECOGNIZED, "Expected an object with name and arguments in the list", at)

    def _arguments(self, call: _Call, at: int) -> None:
        self._args_depth = len(self.frames)
        self.depth_limit = self._args_depth - 1 + self._ctx.limits["depth"]
        self._args_at = at
        call.key = self._args_key
        own = self._args_key == self._fmt.argument_keys[0]
        self._undecided = own and bool(call.name) and not (call.done or call.args or call.bad)

    def on_key(self, key: str, at: int) -> None:
        """A key of a call object, or the first key of its arguments."""
        if self._undecided and len(self.frames) == self._args_depth:
            self._decide(key, at)
            return
        call = self._tags[-1]
        if not isinstance(call, _Call):
            return
        self._args_key = key
        if call.done and (key in self._name_keys or key == self._fmt.argument_keys[0]):
            self.error = (Code.DUPLICATE_KEY, f"Expected no second {key!r} behind the arguments, got one", at)
        if key in self._name_keys:
            self._role = _NAME
            self.shaped = True
        elif key in self._fmt.argument_keys or key in _DEFINITION_KEYS:
            self._role = _ARGS
        else:
            self._role = _ROLES.get(key, _OTHER)
            if self._role in (_OTHER, _WRAP) and key not in _META:
                call.extra.append(key)

    def _decide(self, key: str, at: int) -> None:
        """The first key of the arguments is known: they go out live unless they look like a tool definition."""
        self._undecided = False
        call = self._call
        assert call is not None and call.name is not None
        declared = self._ctx.declared(call.name)
        if key in _SCHEMA_KEYS and not (declared is not None and key in declared):
            return
        self._say_problems()
        if not self._writer.begin(call.name, call.id, call.name_span, self._args_at):
            return
        self._live = self.writing = True
        self.watch = False
        self.floor = self._args_depth
        opening = self._ctx.history.slice(self._args_at, at)
        self.write("{" if opening[1:].strip(" \t\r\n") else opening)  # its blanks are kept, comments are not
        node = self._ctx.node(call.name)
        if node is not None and not node.free:
            self.frames[-1].node = node
            self.node = node.member(key)

    def on_close(self, kind: int, end: int) -> None:
        """A container closes."""
        tag = self._tags.pop()
        if self._args_depth and len(self.frames) == self._args_depth - 1:
            self._args_depth = 0
            self.depth_limit = self._ctx.limits["depth"] + _AROUND
            call = self._call
            assert call is not None
            if self._live:
                self._writer.delta(self.take(), end)
                self._live = self.writing = False
                self.watch = True
                self.floor = 0
                self.node = None
                call.done = True
            else:
                call.args.append((call.key, self._args_at, end, None))
            self._undecided = False
            return
        if isinstance(tag, _Call) and not (self._tags and self._tags[-1] is tag):
            tag.whole = True
            if not tag.container:
                self._item_end(tag, end)

    def holds_string(self) -> bool:
        """Names, ids and arguments in string form are wanted whole."""
        return bool(self._tags) and isinstance(self._tags[-1], _Call) and self._role in (_NAME, _ID, _ARGS, _TYPE)

    def on_scalar(self, kind: str, text: str, start: int, end: int) -> None:
        """A string, number or constant."""
        role, self._role = self._role, _OTHER
        if not self._tags:
            self.error = (Code.INVALID_ARGUMENTS, "Expected an object or a list of calls", start)
            return
        call = self._tags[-1]
        if call == _LIST:
            self._odd(start)
        if not isinstance(call, _Call):
            return
        if role == _NAME:
            if kind == "string":
                call.name = _string(text).strip()
                call.name_span = (start + 1, end - 1)
                if self._writer.offered(call.name):
                    self._writer.seen(end)
            else:
                call.bad = f"a {kind} as name"
        elif role == _TYPE:
            self._writer.explicit = self._writer.explicit or text == '"tool_call"'
        elif role == _ID:
            call.id = _string(text) if kind == "string" else text
        elif role == _ARGS:
            if kind == "string":
                call.args.append((self._args_key, start, end, _string(text)))
            elif kind == "null":
                call.args.append((self._args_key, start, end, ""))
            else:
                call.bad = f"a {kind}"

    # -- one object is whole -------------------------------------------------------------------------------

    def _item_end(self, call: _Call, end: int) -> None:
        self._say_problems()
        writer = self._writer
        if call.done:
            if call.args or call.bad:
                self._ambiguous(call)
            writer.end(end, call.id)
            return
        if writer.refused:  # its name was refused when its arguments began
            writer.item_end(end)
            return
        refusal = self._refusal(call)
        if refusal is None:
            refusal = self._write(call, end)
        if refusal is None:
            return
        code, message = refusal
        if not writer.tagged and not (writer.relevant and code not in (Code.TOOL_ECHO, Code.UNRECOGNIZED)):
            self.error = (code, message, call.at)  # data, not a call
            return
        writer.refuse(code, message, call.at, call.at + 1, call.name)
        writer.item_end(end)

    def _ambiguous(self, call: _Call) -> None:
        message = "The arguments stand under two keys: the first counts"
        self._writer.problem(Code.AMBIGUOUS_ARGUMENTS, message, call.at, call.at + 1, True)

    def _refusal(self, call: _Call) -> tuple[Code, str] | None:
        """Why the object is no call, as far as its keys tell."""
        if call.bad is not None and not call.args:
            if call.bad.endswith("name") or call.bad == "a container":
                return Code.INVALID_NAME, "Expected a string as name"
            return Code.INVALID_ARGUMENTS, f"Arguments for {call.name!r} must be a JSON object, got {call.bad}"
        if call.name is None:
            return Code.UNRECOGNIZED, "Expected an object with name and arguments"
        if not call.name:
            return Code.INVALID_NAME, "Expected a name, got an empty string"
        strict_shape = not self._writer.tagged and not self._ctx.tools
        if (not call.args or strict_shape) and call.extra:
            return Code.UNRECOGNIZED, f"Expected an arguments key, got {call.extra[0]!r}"
        if not call.args and not self._writer.tagged:
            return Code.UNRECOGNIZED, "Expected an arguments key, got none"
        return None

    def _write(self, call: _Call, end: int) -> tuple[Code, str] | None:
        """Write the call whose object is whole; returns why it is none."""
        writer = self._writer
        assert call.name is not None
        text, start, stop = "{}", end, end
        problems: list[Problem] = []
        if call.args:
            order = self._fmt.argument_keys
            # The first key of the order counts, and of one that stands twice the last.
            keys = [a[0] for a in call.args]
            first = min(keys, key=lambda k: order.index(k) if k in order else len(order))
            key, start, stop, string = next(a for a in reversed(call.args) if a[0] == first)
            raw = string if string is not None else self._ctx.history.slice(start, stop)
            if string is not None and not string.strip():
                if string == "" and self._ctx.history.slice(start, stop) != '""':
                    writer.problem(
                        Code.INVALID_ARGUMENTS, "Arguments are null, taken as {}", call.at, call.at + 1, True
                    )
                raw = "{}"
            read = lenient_json(raw, self._ctx.node(call.name), coerce_value, start, self._ctx.limits["depth"])
            if read is not None and not read[0]:
                return Code.LIMIT, f"The arguments of {call.name!r} nest deeper than the limit"
            if read is None or not read[0].startswith("{"):
                got = repr(raw[:40])
                return Code.INVALID_ARGUMENTS, f"Arguments for {call.name!r} must be a JSON object, got {got}"
            if self._echo(call.name, key, read[2], read[0]) or self._schemas(call.name, key, read[0]):
                return Code.TOOL_ECHO, f"The definition of {call.name!r} is copied, not called"
            text = read[0]
            typed = (Code.COERCED, Code.TYPE_MISMATCH)  # other repairs were said when the object was first read
            problems = [p for p in read[1] if string is not None or p.code in typed]
        if not writer.begin(call.name, call.id, call.name_span, start):
            writer.item_end(end)
            return None
        if call.args:
            writer.sink += problems
            if len(call.args) > 1:
                self._ambiguous(call)
        else:
            message = "The call has no arguments key: taken as {}"
            writer.problem(Code.UNRECOGNIZED, message, call.at, call.at + 1, True)
        writer.delta(text, stop)
        writer.end(end, call.id)
        return None

    def _echo(self, name: str, key: str, keys: set[str], text: str) -> bool:
        """Whether the arguments are a JSON Schema: a tool definition copied from the prompt."""
        declared = self._ctx.declared(name)
        if keys == {"type"}:  # of a tool without parameters
            known = declared is not None and "type" in declared
            return key != "arguments" and not known and loads(text) == {"type": "object"}
        if not {"type", "properties"} <= keys:
            return False
        if declared is None:
            return key != "arguments"
        return not {"type", "properties"} <= declared

    def _schemas(self, name: str, key: str, text: str) -> bool:
        """Whether each argument is a schema where the tool wants none: a definition copied in short."""
        node = self._ctx.node(name)
        if key not in _DEFINITION_KEYS or node is None or '"type"' not in text:
            return False
        members: dict[str, object] = loads(text)
        for member, value in members.items():
            types = node.member(member).types
            schema = isinstance(value, dict) and value.get("type") in _TYPES
            if not schema or types is None or "object" in types:
                return False
        return bool(members)

    # -- the end of the text --------------------------------------------------------------------------------

    def finish(self, src: Source) -> bool:
        """The text ends inside the object. True if a call stands nevertheless (or was reported as cut)."""
        end = src.base + len(src.buf)
        rest = src.buf[src.pos :]
        src.pos = len(src.buf)
        call = self._call
        writer = self._writer
        if call is not None and call.whole:
            writer.problem(Code.UNCLOSED, "Expected ']' after the calls, got end of text", end, end, True)
            return True
        if call is not None and (call.done or (not self._args_depth and self._settled(call))):
            self._item_end(call, end)
            if self.error is None:
                writer.problem(Code.UNCLOSED, "Expected '}' after the arguments, got end of text", end, end, True)
                return True
            return False
        self.cut(end)
        if not (writer.tagged or self._relevant(call, rest)):
            return False
        writer.sink += self.problems
        self.problems = []
        if call is None or call.name is None or (writer.tagged and not self._args_depth and not call.args):
            if not writer.tagged:
                return False
            self._cut_early(call, end)
            return True
        if not self._args_depth:
            return False
        if not writer.open and not writer.refused:
            writer.begin(call.name, call.id, call.name_span, self._args_at)
        members, closed = self._partial(call, end)
        if self.runs_on(self._ctx.history.slice(self.begun_at, end)):
            closed = ""
        writer.cut(end, members, closed, True)
        return True

    def _cut_early(self, call: _Call | None, end: int) -> None:
        """The text ends before the arguments."""
        writer = self._writer
        name = call.name if call is not None else None
        if name is not None and not writer.offered(name):
            writer.begin(name, None, call.name_span if call else (end, end), end)
        writer.name = name
        writer.cut(end, "{}", "{}", name is not None)

    def _partial(self, call: _Call, end: int) -> tuple[str, str]:
        """The arguments as far as they go: their whole members, and everything closed."""
        src = Source(self._ctx.history.slice(self._args_at, end), final=True)
        reader = self._ctx.literal("json", call.name, None)
        reader.read(src)
        text = reader.take()
        return text[: reader.member_length] + "}" if reader.member_length else "{}", text + reader.close(
            src.buf[src.pos :]
        )

    def _relevant(self, call: _Call | None, rest: str) -> bool:
        """Whether a cut object of no markup was going to be a call: its name is offered, or begins one that is."""
        if call is None or not self.shaped:
            return False
        if call.name is None:
            start = "".join(self.held) + rest
            return not self._ctx.tools or any(t.startswith(start) for t in self._ctx.tools)
        return self._writer.relevant


def _string(text: str) -> str:
    value = json.loads(text)
    assert isinstance(value, str)
    return value
