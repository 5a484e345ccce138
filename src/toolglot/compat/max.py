"""The `ToolParser` protocol of Modular MAX, for every format: a server that speaks to MAX's parsers can speak to it.

The protocol is documented at `max.pipelines.modeling.types.ToolParser`; how it is used, the router of the wheel `max`
26.7.0 says (`max.serve.router.openai_routes`). The one rule here: what the engine says is mapped, never changed. On
the wire, arguments are a growing prefix of strict JSON, and those of a call that the reply cuts are never completed.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal, get_args

from toolglot import (
    ArgumentsDelta,
    CallAbort,
    CallBegin,
    CallEnd,
    Code,
    Event,
    Format,
    Messages,
    ParseError,
    Parser,
    Problem,
    Reasoning,
    Result,
    Text,
    ToolglotError,
    Tools,
    formats,
    get_format,
    parse,
    render,
)

__all__ = ["ParsedToolCall", "ParsedToolCallDelta", "ParsedToolResponse", "ToolParser", "register"]

Arguments = Literal["live", "sure", "whole"]
Thoughts = Literal["content", "drop"]
AnyFormat = str | Format | Messages

# What a reader of raw text knows reasoning by, and what MAX's router writes where it folds reasoning into content.
OPENER, CLOSER = "<think>", "</think>"
SAID = ("text", "reasoning")
MILD = (Code.COERCED, Code.TYPE_MISMATCH, Code.UNKNOWN_TOOL)  # problems of a call that ends as it should
PROBE = 9071
TAIL = 12  # code points at the end of the text by which a call's end mark is known
PATIENCE = 8  # how many times the text may be looked at ahead of the engine


@dataclass
class ParsedToolCall:
    """A whole call; `arguments` is a JSON object as text."""

    id: str
    name: str
    arguments: str


@dataclass
class ParsedToolResponse:
    """What a whole reply holds. `content` is trimmed beside calls, and None where nothing is left of it."""

    content: str | None = None
    tool_calls: list[ParsedToolCall] = field(default_factory=list)


@dataclass
class ParsedToolCallDelta:
    """News of a call, which `index` counts from 0; or of the text beside the calls, which has `content` alone."""

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: str | None = None


class ToolParser:
    """MAX's tool parser for any format.

    `format` and the further options are those of `toolglot.Parser`; the server knows its model, so name the format: in
    `auto`, a call that no marker opens is known at the end only. `tools` are offered to every reply, beside those
    whose schemas the server sets; without any, every well-formed name is a call. A tagged call of another name is
    passed on, as MAX does (`unknown_tools="refuse"` leaves it in the content). A call without marks is one only if its
    name is offered, so schemas must name tools without parameters too, as MAX's router does.

    `arguments` says when arguments are sent:
    "live": as they come. MAX's router takes no calls at the end, so what the engine still holds of a call, since its
    end mark might stand inside a value, is sent when a piece ends with that mark and the call is well-formed so far. A
    call that is cut has sent a prefix that is no JSON, and nothing more. One that turns out unreadable or longer behind
    such an end (a second `name` key, text behind bare JSON, a value that quotes a whole call) has been sent already;
    "sure": the last brace waits until the call has ended, so what was sent is JSON exactly if the call is one. Many
    calls end with the reply, so the server must send what `finish` gives;
    "whole": a call is sent in one piece when it has ended, and one that is cut or unreadable never; the same holds.

    The protocol has no place for reasoning, which MAX takes off before its tool parser sees the text. Where it is left
    in, it is content between `<think>` and `</think>`, whatever the format's own marks; `reasoning="drop"` leaves it
    out. A call inside closed reasoning is none.

    A wire's own call id is kept if no other call of the reply has it; else an id is made, as MAX makes them.

    `coerce_arguments` and `generate_tool_call_grammar`, which the router calls where a parser has them, are not here:
    `set_tool_schemas` types arguments while they are read, and after the former the router writes them anew, which
    rounds numbers; the latter belongs to MAX's engine. So `tool_choice="required"` is not enforced.

    >>> parser = ToolParser("hermes")
    >>> parser.parse_complete('<tool_call>{"name": "tide", "arguments": {"port": "Oban"}}</tool_call> Wait.').content
    'Wait.'
    >>> [parser.parse_delta(piece) for piece in ("So: <tool", '_call>{"name": "tide"', ', "arguments": {"n"')]
    ... # doctest: +ELLIPSIS
    [[ParsedToolCallDelta(index=0, ..., content='So: ')], [], [ParsedToolCallDelta(index=0, id='call_...', ...)...]]
    """

    # What the router and its constrained decoding read. Empty, they leave it to the parser to tell text from calls, and
    # lose no text where a reply cannot be read; `parse_complete` says more of `CALL_BEGIN`.
    SECTION_BEGIN = ""
    SECTION_END = ""
    CALL_BEGIN = ""
    CALL_END = ""
    ENFORCE_TOOL_REGION_TO_EOS = False

    def __init__(
        self,
        format: AnyFormat | Sequence[AnyFormat] = "auto",
        tools: Any = (),
        *,
        arguments: Arguments = "live",
        reasoning: Thoughts = "content",
        **options: Any,
    ) -> None:
        for name, value, choices in (("arguments", arguments, Arguments), ("reasoning", reasoning, Thoughts)):
            if value not in get_args(choices):
                raise ToolglotError(f"option {name}: expected one of {get_args(choices)}, got {value!r}")
        chosen = format if isinstance(format, AnyFormat) else tuple(format)
        self._tools = self._offered = Tools(tools)
        self._options: dict[str, Any] = {"unknown_tools": "keep", **options, "format": chosen}
        self._arguments = arguments
        self._folds = reasoning == "content"
        self._stream = self._opened()

    def parse_complete(self, response: str) -> ParsedToolResponse:
        """Read a whole reply. What a stream has read so far stays untouched.

        Raises `ParseError`, a ValueError with `code`, `position`, `line` and `column`, where no call can be read
        though the reply begins one. Its message holds no text of the reply, since the router logs it.

        The router then shows the reply up to the parser's `CALL_BEGIN`. So that a cut call is not shown, and nothing
        else is lost, `CALL_BEGIN` is then the rest of the reply from that call on; it is empty for every other reply.

        >>> ToolParser("mistral_v11").parse_complete('[TOOL_CALLS]tide[ARGS]{"port": "Ob')
        Traceback (most recent call last):
        toolglot._errors.ParseError: Expected a call that can be read, got truncated (line 1, column 1)
        """
        self.CALL_BEGIN = ""
        result = parse(response, self._offered, **self._options)
        if not result.calls:
            self._refuse(result)
        content = result.content if not result.reasoning else _folded(result, self._folds)
        ids = _Ids()
        calls = [ParsedToolCall(ids.take(call.id), call.name, call.arguments_json) for call in result.calls]
        return ParsedToolResponse((content.strip() or None) if calls else content, calls)

    def _refuse(self, result: Result) -> None:
        """Raise where something was to be a call; a repair or a warning alone is no such sign."""
        wrong = [p for p in result.problems if p.code.is_error and not p.repaired and p.code != Code.LIMIT]
        cut = [problem for problem in wrong if problem.incomplete is not None]
        for problem in (cut or wrong)[:1]:
            if cut:
                said = [s.span[1] for s in result.segments if s.kind in SAID and s.span[0] < problem.span[0]]
                self.CALL_BEGIN = result.text[max(said, default=0) :]
            message = f"Expected a call that can be read, got {problem.code}"
            raise ParseError(problem.code, message, result.text, problem.span[0])

    def parse_delta(self, delta: str) -> list[ParsedToolCallDelta] | None:
        """Read the next piece of a streamed reply.

        A list that is not empty holds all that may be sent now. An empty list says that the piece was taken and
        nothing of it may be shown: it lies inside a call, or is held since it may begin one. None comes for an empty
        piece alone.

        MAX's document gives None for a piece that is held. But its router passes a piece on as content at None, so
        held text would be shown at once, and again when it is released: `[]` is what keeps every character, once. A
        caller that waits at None, as the document says, does the same at `[]`.

        Raises nothing for any text, but with `strict=True`, and `ToolglotError` behind the end of a reply.
        """
        deltas = self._stream.feed(delta)
        return deltas if deltas or delta else None

    def finish(self) -> list[ParsedToolCallDelta]:
        """The reply is whole: what else is to be sent. A server of your own calls this in place of `flush`.

        >>> parser = ToolParser("hermes")
        >>> parser.parse_delta("a <to"), parser.finish()[0].content
        ([ParsedToolCallDelta(index=0, id=None, name=None, arguments=None, content='a ')], '<to')
        """
        return self._stream.finish()

    def flush(self) -> str | None:
        """The reply is whole: the text that was held, or None. This is what MAX's router calls.

        It can take no calls here. One that is only now known to be one comes as its own text, so that it is not lost;
        this can be only in formats without an end mark, in `auto`, and for calls that lack theirs.

        >>> parser = ToolParser("json", ["tide"])
        >>> parser.parse_delta('[{"name": "ti'), parser.flush()
        ([], '[{"name": "ti')
        """
        return self._stream.flush() or None

    def reset(self) -> None:
        """Forget the streamed reply and the schemas that were set for it; `tools` stay."""
        self._offered = self._tools
        self._stream = self._opened()

    def set_streaming_tool_schemas(self, schemas: Mapping[str, dict[str, Any]]) -> None:
        """Offer tools, by name, with the JSON Schemas of their parameters, until `reset`; arguments are typed by them.

        Raises `ToolglotError` for what is no schema, and where the streamed reply has begun already.

        >>> parser = ToolParser("qwen3_xml")
        >>> parser.set_streaming_tool_schemas({"tide": {"properties": {"berth": {"type": "string"}}}})
        >>> text = "<tool_call><function=tide><parameter=berth>12</parameter></function></tool_call>"
        >>> "".join(delta.arguments or "" for delta in parser.parse_delta(text))
        '{"berth": "12"}'
        """
        if self._stream.fed:
            raise ToolglotError("expected schemas before the reply's first piece, got them behind it: reset() first")
        self._offered = Tools({**self._tools, **Tools(schemas)}.values())
        self._stream = self._opened()

    def set_tool_schemas(self, schemas: Mapping[str, dict[str, Any]]) -> None:
        """The same for whole replies, under the name that the router looks for."""
        self.set_streaming_tool_schemas(schemas)

    @property
    def result(self) -> Result:
        """What the engine has read of the streamed reply: its problems, reasoning, cut calls, segments."""
        return self._stream.parser.result

    def _opened(self) -> _Stream:
        live: Literal["live", "whole"] = "whole" if self._arguments == "whole" else "live"
        parser = Parser(self._offered, **{**self._options, "arguments": live})
        ends = _ends(self._options["format"]) if self._arguments == "live" else ()
        return _Stream(parser, self._folds, self._arguments == "sure", ends)


class _Ids:
    """The ids of one reply's calls: no two are alike."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def take(self, wire: str | None) -> str:
        """The wire's id, if there is one that is not taken; else a new one."""
        chosen = wire if wire and wire not in self.taken else f"call_{uuid.uuid4().hex[:24]}"
        self.taken.add(chosen)
        return chosen


class _Prose:
    """Text and reasoning, piece by piece, as one content. Reasoning that goes on where it stopped is one block."""

    def __init__(self, folds: bool) -> None:
        self.folds = folds
        self.open_to: int | None = None  # where the open block ends so far

    def text(self, text: str) -> str:
        """A piece of the reply's text."""
        return self.close() + text

    def reasoning(self, text: str, start: int) -> str:
        """A piece of reasoning that stands at `start`."""
        if not self.folds:
            return ""
        before = "" if self.open_to == start else self.close() + OPENER
        self.open_to = start + len(text)
        return before + text

    def close(self) -> str:
        """The closer of an open block."""
        was, self.open_to = self.open_to, None
        return "" if was is None else CLOSER

    def end(self, size: int) -> str:
        """At the end of the reply: a block that goes to its very end was cut, and stays open."""
        return "" if self.open_to == size else self.close()


def _folded(result: Result, folds: bool) -> str:
    """The content of a whole reply with its reasoning."""
    prose = _Prose(folds)
    parts: list[str] = []
    for segment in result.segments:
        if segment.kind == "text":
            parts.append(prose.text(segment.text))
        elif segment.kind == "reasoning":
            parts.append(prose.reasoning(segment.text, segment.span[0]))
    return "".join(parts) + prose.end(len(result.text))


class _Stream:
    """One streamed reply: the engine's events as deltas.

    A call's opener waits for the first of its arguments, so a call that is refused before is never on the wire, and
    indices are counted by what is.
    """

    def __init__(self, parser: Parser, folds: bool, sure: bool, ends: tuple[str, ...]) -> None:
        self.parser = parser
        self.sure = sure
        self.prose = _Prose(folds)
        self.ids = _Ids()
        self.call: CallBegin | None = None  # the one that has begun and not ended
        self.opener: CallBegin | None = None  # the same, until it is on the wire
        self.sent = 0  # openers on the wire
        self.brace = ""  # what may be the last of the call's arguments
        self.ended = False
        # To send what the engine holds of a call that may be over.
        self.ends = ends  # what a call ends with
        self.tail = ""  # of the text
        self.fed = self.read = 0  # code points: in all, and up to the last event
        self.patience = 0  # code points that may still be looked at
        self.given: set[tuple[int, int]] = set()  # the places of calls sent in full before they ended

    def feed(self, delta: str) -> list[ParsedToolCallDelta]:
        """What the next piece brings."""
        if self.ended:
            raise ToolglotError("expected no piece behind the end of the reply, got one: reset() first")
        made = self.deltas(self.parser.feed(delta))
        self.fed += len(delta)
        if self.ends:
            self.tail = (self.tail + delta)[-2 * TAIL :]  # blanks may stand behind the mark
            self.patience += PATIENCE * len(delta)
            if (self.call or self.sent) and self.read < self.fed and self.tail.rstrip().endswith(self.ends):
                self._give(made)
        return made

    def finish(self) -> list[ParsedToolCallDelta]:
        """What the end brings."""
        if self.ended:
            return []
        self.ended = True
        deltas = self.deltas(self.parser.finish())
        _say(deltas, self.prose.end(self.fed))
        return deltas

    def flush(self) -> str:
        """What the end brings as text: prose, and calls that are not on the wire as they stand in the reply."""
        if self.ended:
            return ""
        self.ended = True
        parts: list[str] = []
        for event in self.parser.finish():
            if isinstance(event, Text):
                parts.append(self.prose.text(event.text))
            elif isinstance(event, Reasoning):
                parts.append(self.prose.reasoning(event.text, event.span[0]))
            elif isinstance(event, CallBegin):
                self._begin(event)
            elif isinstance(event, CallEnd | CallAbort):
                if self.opener is not None and isinstance(event, CallEnd):
                    parts.append(self.prose.text(self.parser.result.text[slice(*event.span)]))
                self.opener = None
        return "".join(parts) + self.prose.end(self.fed)

    def deltas(self, events: list[Event]) -> list[ParsedToolCallDelta]:
        """Events as deltas; problems are left to `result`."""
        made: list[ParsedToolCallDelta] = []
        for event in events:
            if isinstance(event, ArgumentsDelta):
                if self.call is not None and self.call.span not in self.given:
                    self._send(made, event.text)
            elif isinstance(event, Text):
                _say(made, self.prose.text(event.text))
            elif isinstance(event, Reasoning):
                _say(made, self.prose.reasoning(event.text, event.span[0]))
            elif isinstance(event, CallBegin):
                _say(made, self.prose.close())
                self._begin(event)
            elif isinstance(event, CallEnd | CallAbort):
                self._end(made, isinstance(event, CallEnd))
            self.read = max(self.read, event.span[1])
        return made

    def _begin(self, event: CallBegin) -> None:
        self.call = event
        self.opener = None if event.span in self.given else event

    def _send(self, made: list[ParsedToolCallDelta], text: str) -> None:
        """The next of a call's arguments, behind the opener."""
        text = self.brace + text
        self.brace = "}" if self.sure and text.endswith("}") else ""
        text = text[: len(text) - len(self.brace)]
        if not text:
            return
        if self.opener is not None:
            made.append(ParsedToolCallDelta(self.sent, id=self.ids.take(self.opener.id), name=self.opener.name))
            self.opener = None
            self.sent += 1
        made.append(ParsedToolCallDelta(self.sent - 1, arguments=text))

    def _end(self, made: list[ParsedToolCallDelta], whole: bool) -> None:
        """The call has ended; of one that is none, nothing more is sent."""
        if whole and self.brace:
            made.append(ParsedToolCallDelta(self.sent - 1, arguments=self.brace))
        self.brace = ""
        self.call = self.opener = None

    def _give(self, made: list[ParsedToolCallDelta]) -> None:
        """Send what is left of the calls that are whole if the reply ends here.

        What this looks at is a multiple of the text at the most, so that a value full of end marks costs no more.
        """
        held = self.fed - self.read
        if held > self.patience:
            return
        self.patience -= held
        events = self.parser.fork().finish()
        if any(isinstance(event, Problem) and event.code not in MILD for event in events):
            return  # it would be one for want of anything better: an end mark inside a value looks like that
        call, rest = self.call, ""
        for event in events:
            if isinstance(event, CallBegin):
                call, rest = event, ""
            elif isinstance(event, ArgumentsDelta):
                rest += event.text
            elif isinstance(event, CallEnd) and call is not None and call.span not in self.given:
                if call is not self.call:
                    self.opener = call
                self._send(made, rest)
                self.given.add(call.span)


def _ends(format: AnyFormat | tuple[AnyFormat, ...]) -> tuple[str, ...]:
    """What a call ends with in the formats that are read now: a name may be registered anew."""
    named = format if isinstance(format, tuple) else (format,)
    known = [f for item in named for f in (formats() if item == "auto" else (_format(item),))]
    return tuple(dict.fromkeys(end for item in known for end in _end_of(item)))


def _format(format: AnyFormat) -> Format | Messages:
    return get_format(format) if isinstance(format, str) else format


@lru_cache(maxsize=256)
def _end_of(format: Format | Messages) -> tuple[str, ...]:
    """What a call ends with, as `render` writes it."""
    try:
        text = render([{"name": "f", "arguments": {"a": PROBE}}], format=format)
    except ToolglotError:  # a format that is only read
        return ()
    return tuple(word[-TAIL:] for word in text.rpartition(str(PROBE))[2].split()[-1:])


def _say(made: list[ParsedToolCallDelta], text: str) -> None:
    """Content as a delta of its own; text that follows text is one with it."""
    if text and made and made[-1].content is not None:
        made[-1].content += text
    elif text:
        made.append(ParsedToolCallDelta(0, content=text))


def register(
    name: str, format: AnyFormat | Sequence[AnyFormat] = "auto", tools: Any = (), **options: Any
) -> type[ToolParser]:
    """Make a parser known to MAX under a name, for its option `tool_parser`, and give its class.

    MAX makes a parser for each request, without arguments, so all that `ToolParser` takes is given here. The router
    ends a stream with `flush` only for parsers that derive from its own base class; the class is told to be one,
    though it inherits nothing. Only attributes of results are read, so they need no classes of MAX.

    Raises ImportError where the package `max` is not installed, and as `ToolParser` does.
    """
    tool_parsing = import_module("max.pipelines.lib.tool_parsing")

    class Registered(ToolParser):
        def __init__(self) -> None:
            super().__init__(format, tools, **options)

    Registered()  # what is wrong with an option is said now
    Registered.__name__ = Registered.__qualname__ = f"ToolParser_{name}"
    tool_parsing.StructuralTagToolParser.register(Registered)
    tool_parsing.register(name)(Registered)
    return Registered
