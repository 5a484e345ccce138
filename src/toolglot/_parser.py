"""`parse`, `parse_one`, `Parser` and `ProseFilter`: the one place that raises.

`parse(text)` is `feed`, `finish` and `result`, so that whole and streamed reading cannot disagree; a well-formed reply
of one named format may take the short cut, which a law holds equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NoReturn, Self, TypedDict, Unpack

from ._calls import LIMITS, Context
from ._errors import Code, ParseError, ToolglotError
from ._events import Call, Event, Problem, Text
from ._exact import ExactReader
from ._fork import fork
from ._format import AnyFormat, Format, Messages
from ._hot import Gathered, Hot
from ._match import Markers, unsuffixed
from ._registry import formats, get_format
from ._result import Collector, Result
from ._scan import Grammar, Scanner, StartIn
from ._shortcut_messages import shortcut
from ._tools import Tool, Tools, kept_tools
from ._validate import checked, prepare, problems_of

_CHOICES: dict[str, tuple[str, ...]] = {
    "unknown_tools": ("refuse", "keep"),
    "block": ("each", "all-or-nothing"),
    "truncated": ("report", "close"),
    "calls_in_reasoning": ("ignore", "parse"),
    "start_in": ("text", "reasoning", "detect"),
    "arguments": ("live", "whole"),
}


class Options(TypedDict, total=False):
    """The keyword options of `parse` and `Parser`; see `Parser`."""

    format: str | AnyFormat | Sequence[str | AnyFormat]
    strict: bool | Literal["exact"]
    unknown_tools: Literal["refuse", "keep"]
    block: Literal["each", "all-or-nothing"]
    truncated: Literal["report", "close"]
    calls_in_reasoning: Literal["ignore", "parse"]
    start_in: Literal["text", "reasoning", "detect"]
    prefix: str
    coerce: bool
    arguments: Literal["live", "whole"]
    max_hold: int
    limits: Mapping[str, int] | None
    validate: bool


class Parser:
    """Reads a reply as it comes: `feed` each piece, then `finish`; both give events, `result` the whole.

    `tools` are the offered tools: OpenAI or Anthropic definitions, MCP tools, JSON Schemas with a name, Python
    functions, or names; with tools only their names become calls, without any every well-formed name does.

    `format` is a format's id or alias, a `Format`, several of them in order of preference, or "auto" for all.
    `strict` raises `ParseError` at the first error instead of repairing it.
    `unknown_tools="keep"` lets calls of names that were not offered through, flagged by a problem.
    `block="all-or-nothing"` refuses a block of calls whole when one of them is refused.
    `truncated="close"` closes a call that the text cuts, and marks it.
    `calls_in_reasoning="parse"` reads calls inside reasoning too.
    `start_in="reasoning"` says that the prompt opened reasoning; "detect" holds the text until that is decided;
    `prefix`, the prompt's tail, decides it by its markers.
    `coerce=False` leaves typed values as they were written.
    `arguments="whole"` gives each call's arguments once, when they are known to be complete.
    `max_hold` bounds, in code points, how long text without markers waits for an offered name.
    `limits` replaces some of reply, depth, arguments, calls, held (code points, levels, calls).
    `validate` checks each call against its tool's schema as `toolglot.validate` does: what is wrong is listed as
    problems `invalid_arguments` whose span is the call's, right before its end. The call stays and is not to be run.

    A parser belongs to one thread at a time; formats, tools and every function of the package may be used by several.

    >>> parser = Parser(format="hermes")
    >>> parser.feed('Hi <tool')
    [Text(text='Hi ', span=(0, 3))]
    >>> [type(e).__name__ for e in parser.feed('_call>{"name": "f", "arguments": {"a": 1}}</tool_call>')]
    ['CallBegin', 'ArgumentsDelta', 'CallEnd']
    >>> parser.finish()
    []
    """

    def __init__(
        self,
        tools: Any = (),
        *,
        format: str | AnyFormat | Sequence[str | AnyFormat] = "auto",
        strict: bool | Literal["exact"] = False,
        unknown_tools: Literal["refuse", "keep"] = "refuse",
        block: Literal["each", "all-or-nothing"] = "each",
        truncated: Literal["report", "close"] = "report",
        calls_in_reasoning: Literal["ignore", "parse"] = "ignore",
        start_in: Literal["text", "reasoning", "detect"] = "text",
        prefix: str = "",
        coerce: bool = True,
        arguments: Literal["live", "whole"] = "live",
        max_hold: int = 4096,
        limits: Mapping[str, int] | None = None,
        validate: bool = False,
    ) -> None:
        _check_options(
            unknown_tools=unknown_tools, block=block, truncated=truncated, calls_in_reasoning=calls_in_reasoning,
            start_in=start_in, arguments=arguments,
        )  # fmt: skip
        _check_limits(limits)
        if strict == "exact":
            raise ToolglotError(
                "option strict: expected True or False, got 'exact', which reads whole replies: use parse"
            )
        if not isinstance(prefix, str):
            raise ToolglotError(f"option prefix: expected text, got {type(prefix).__name__}")
        if not isinstance(max_hold, int) or max_hold < 0:
            raise ToolglotError(f"option max_hold: expected a number of code points, got {max_hold!r}")
        self._strict = bool(strict)
        self._finished = False
        self._hot: Hot | None = None
        self._full = False  # the reply's limit was reached: the rest is text
        self._late: list[Event] = []  # events that a look at the result brought about
        self._collector = Collector()
        self._validate = validate
        offered = kept_tools(tools)
        if validate:
            prepare(offered)
        self._context = Context(
            offered,
            unknown_tools=unknown_tools,
            block=block,
            truncated=truncated,
            coerce=coerce,
            arguments=arguments,
            max_hold=max_hold,
            limits=limits,
        )
        chosen = _choose(format)
        grammar = _grammar(chosen)
        opened = _open_message(prefix, grammar) if prefix else None
        if prefix and opened is None:
            start_in = _start_after(prefix, grammar, start_in)
        self._scanner = Scanner(
            grammar, self._context, named=len(chosen) == 1, start_in=start_in, calls_in_reasoning=calls_in_reasoning,
            opened=opened,
        )  # fmt: skip

    def feed(self, text: str) -> list[Event]:
        """Read the next piece of the reply and give the events that it settles.

        Raises `ToolglotError` after `finish`, and with strict `ParseError` at the first error.
        """
        hot = self._hot
        if hot is not None and type(text) is str:
            events = hot.push(text)
            if events is not None:
                return events
        return self._feed(text)

    def _feed(self, text: str) -> list[Event]:
        """The machine reads the piece."""
        if not isinstance(text, str):
            raise TypeError(f"expected text as str, got {type(text).__name__}")
        if self._finished:
            raise ToolglotError("expected no text after finish(), got feed()")
        hot = self._hot
        if type(hot) is Gathered:
            if hot.read(text):
                return self._take()
            text = ""
        self._read(text)
        events = self._take()
        self._hot = self._scanner.hot(self._collector, not self._strict)
        return events

    def _read(self, text: str) -> None:
        """The machine reads what the short path left, and the text behind it."""
        known = 0
        hot = self._hot
        if hot is not None:
            self._hot = None
            text, known = hot.leave(text)
            if hot.long:
                self._scanner.dense = 0
        history = self._context.history
        room = self._context.limits["reply"] - history.size
        if self._full or len(text) - known > room:
            self._read_over(text, known, max(room, 0))
        else:
            history.push(text[known:] if known else text)
            self._scanner.feed(text)

    def _read_over(self, text: str, known: int, room: int) -> None:
        """Past the limit of a reply the rest is text."""
        history = self._context.history
        rest = text if self._full else text[known + room :]
        if not self._full:
            head = text[: known + room]
            history.push(head[known:])
            self._scanner.feed(head)
            self._scanner.finish()
            self._full = True
            at = history.size
            message = f"The reply is longer than {self._context.limits['reply']}: the rest is text"
            self._scanner.out.append(Problem(Code.LIMIT, message, False, (at, at)))
        if rest:
            at = history.size
            history.push(rest)
            self._scanner.out.append(Text(rest, (at, at + len(rest))))

    def finish(self) -> list[Event]:
        """The reply is whole: give the last events. A second call gives none."""
        if self._finished:
            return []
        self._finished = True
        if self._hot is not None:
            self._read("")
        if not self._full:
            self._scanner.finish()
        return self._take()

    def fork(self) -> Self:
        """An independent parser in the same state, for a reply that may go on in several ways (beams, n > 1).

        Neither parser ever affects the other. What cannot change is shared: the text so far, formats, tools, and the
        calls that are whole already. So the cost does not follow the length of the reply (tens of microseconds).
        `copy.copy` and `copy.deepcopy` do the same. A parser cannot be pickled; its `result` can.

        >>> parser = Parser(format="mistral_v11")
        >>> _ = parser.feed('[TOOL_CALLS]go[ARGS]{"to": "O')
        >>> other = parser.fork()
        >>> [p.feed(rest)[-1].call.arguments for p, rest in ((parser, 'ban"}'), (other, 'slo"}'))]
        [{'to': 'Oban'}, {'to': 'Oslo'}]
        """
        return fork(self)

    def __copy__(self) -> Self:
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.fork()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Parser cannot be pickled: expected its result, or the text to feed to a new one")

    @property
    def result(self) -> Result:
        """What was read so far."""
        if self._hot is not None:
            if self._hot.waits:
                self._late = self._feed("")
                if self._late and self._hot is not None:  # what is late goes out before anything on a short path
                    self._read("")
                    self._late = self._take()
            if self._hot is not None:
                self._hot.settle()
        return self._collector.result(self._context.history.text())

    def _take(self) -> list[Event]:
        late, self._late = self._late, []
        events = self._taken()
        return late + events if late else events

    def _taken(self) -> list[Event]:
        """The events of the machine, folded into the result."""
        scanner = self._scanner
        events = scanner.out
        if events:
            fresh: list[Event] = []
            if scanner.sink is events:
                scanner.sink = fresh
            if scanner.reader is not None and scanner.reader.writer.sink is events:
                scanner.reader.writer.sink = fresh
            scanner.out = fresh
            if self._validate:
                events = checked(events, self._context.tools)
            collector = self._collector
            for event in events:
                collector.add(event)
            if self._strict:
                self._refuse(events)
            return events
        return []

    def _refuse(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Problem) and event.code.is_error:
                raise ParseError(event.code, event.message, self._context.history.text(), event.span[0])


def _check_options(**options: str) -> None:
    for name, value in options.items():
        if value not in _CHOICES[name]:
            expected = " or ".join(repr(c) for c in _CHOICES[name])
            raise ToolglotError(f"option {name}: expected {expected}, got {value!r}")


def _check_limits(limits: Mapping[str, int] | None) -> None:
    if limits is not None and not isinstance(limits, Mapping):
        raise ToolglotError(f"option limits: expected a mapping, got {type(limits).__name__}")
    for name, value in (limits or {}).items():
        if name not in LIMITS:
            raise ToolglotError(f"option limits: expected one of {', '.join(LIMITS)}, got {name!r}")
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ToolglotError(f"option limits: expected a positive number for {name}, got {value!r}")


def _choose(format: str | AnyFormat | Sequence[str | AnyFormat]) -> tuple[AnyFormat, ...]:
    """The formats that are read, in order of preference."""
    if not isinstance(format, str | Format | Messages | Sequence):
        raise ToolglotError(f"option format: expected a name, a Format or several, got {type(format).__name__}")
    if format == "auto":  # a bare word as header would make a header of any text
        return _auto(formats())
    if isinstance(format, str):
        return (get_format(format),)
    if isinstance(format, Format | Messages):
        return (format,)
    chosen: list[AnyFormat] = []
    for item in format:
        chosen += _choose(item)
    if not chosen:
        raise ToolglotError("option format: expected a name or formats, got none")
    return tuple(dict.fromkeys(chosen))


_last: tuple[tuple[AnyFormat, ...], tuple[AnyFormat, ...], Grammar | None] = ((), (), None)


def _auto(known: tuple[AnyFormat, ...]) -> tuple[AnyFormat, ...]:
    """The formats that `auto` looks for, chosen once as long as no other is registered."""
    global _last
    last = _last
    if last[0] is not known:
        chosen = tuple(f for f in known if f.tier == "tagged" or not isinstance(f, Messages))
        joints = tuple(f.joint for f in known if isinstance(f, Messages) and f not in chosen and f.joint.strip())
        last = _last = (known, chosen, Grammar(chosen, joints))
    return last[1]


def _grammar(chosen: tuple[AnyFormat, ...]) -> Grammar:
    """The markers of formats, compiled once."""
    last = _last
    return last[2] if chosen is last[1] and last[2] is not None else _compiled(chosen)


@lru_cache(maxsize=64)
def _compiled(chosen: tuple[AnyFormat, ...]) -> Grammar:
    return Grammar(chosen)


def _start_after(prefix: str, grammar: Grammar, start_in: StartIn) -> StartIn:
    """Whether the prompt's tail leaves reasoning open; an end-of-turn token before the tail closes all."""
    openers = {o for block in grammar.thoughts for o, _ in block.pairs}
    closers = {c for block in grammar.thoughts for _, c in block.pairs}
    marks = Markers((*openers, *closers, *grammar.ends.markers))
    state = start_in
    found = marks.find(prefix, 0)
    while found is not None:
        marker = found.group()
        if openers & {marker, unsuffixed(marker)}:
            state = "reasoning"
        else:
            state = "text" if closers & {marker, unsuffixed(marker)} else start_in
        found = marks.find(prefix, found.end())
    return state


def _open_message(prefix: str, grammar: Grammar) -> tuple[Messages, str] | None:
    """The message that the prompt's tail opened, where its header says more than who speaks."""
    for fmt in grammar.formats:
        if isinstance(fmt, Messages):
            end = max((prefix.rfind(e) + len(e) for e in fmt.ends if e in prefix), default=0)
            starts = [at for at in (prefix.find(s, end) for s in fmt.starts) if at >= 0]
            said = prefix[min(starts) :] if starts else ""
            if any(marker in said for marker in (*fmt.starts[1:], *fmt.bodies)):
                return fmt, said
    return None


def parse(text: str, tools: Any = (), **options: Unpack[Options]) -> Result:
    """Read a whole reply.

    Options as for `Parser`. Raises `ParseError` with `strict`, never for a text without it.

    `strict="exact"` reads by the letter of the named formats, and goes with `format`, `tools` and `limits` alone:
    nothing is repaired, a marker counts wherever it stands outside of reasoning, JSON and call syntax count anywhere in
    the prose, the first tier (markers, JSON, call syntax) that finds anything wins, and an error's code and place are
    those of the grammar (RFC 8259 for JSON), which `ParseError.grammar` names. Formats must be of JSON, call syntax or
    XML, without a section around calls that have markers of their own.

    >>> try:
    ...     _ = parse('<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>', format="hermes", strict="exact")
    ... except ParseError as error:
    ...     print(error.grammar, error.code, error.position)
    json trailing_comma 46

    >>> tool = {"name": "add", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    >>> result = parse('Adding. {"name": "add"}' + chr(10) + '{"name": "add", "arguments": {"a": "2"}}', [tool])
    >>> result.calls[0].arguments, result.problems[0].code
    ({'a': 2}, <Code.COERCED: 'coerced'>)
    """
    format = options.get("format")
    if options.get("strict") == "exact":
        return _exactly(text, tools, options)
    if format is not None and (len(options) == 1 or options.keys() <= _SHORT) and type(text) is str:
        if type(format) is str:
            short = shortcut(get_format(format)) if format != "auto" else None
        else:
            short = shortcut(format)
        if short is not None:
            offered = tools if type(tools) is Tools else kept_tools(tools)
            try:
                found = short.read(text, offered)
            except RecursionError:  # deep arguments below a caller that stands deep itself: the machine needs no stack
                found = None
            if found is not None and not (options.get("validate") and _has_faults(found, offered)):
                return found
    parser = Parser(tools, **options)
    parser.feed(text)
    parser.finish()
    return parser.result


_SHORT = frozenset({"format", "strict", "validate"})
_EXACT = frozenset({"format", "strict", "limits"})


def _has_faults(result: Result, offered: Mapping[str, Tool]) -> bool:
    """Whether a schema finds fault with a call of the short cut: then the machine says it in its place."""
    prepare(offered)
    return any(problems_of(call, offered) for call in result.calls)


def _exactly(text: str, tools: Any, options: Options) -> Result:
    """Read a whole reply by the letter."""
    if not isinstance(text, str):
        raise TypeError(f"expected text as str, got {type(text).__name__}")
    others = sorted(options.keys() - _EXACT)
    if others:
        raise ToolglotError(
            f"option strict: expected 'exact' with format and limits alone, got {', '.join(others)} too"
        )
    format, limits = options.get("format", "auto"), options.get("limits")
    _check_limits(limits)
    if format == "auto":
        raise ToolglotError("option strict: expected 'exact' with a named format, got 'auto'")
    context = Context(kept_tools(tools), arguments="whole", coerce=False, limits=limits)
    reader = ExactReader(text, _choose(format), context)
    collector = Collector()
    for event in reader.read():
        collector.add(event)
    if reader.fault is not None:
        fault = reader.fault
        raise ParseError(fault.code, fault.message, text, fault.at, fault.grammar)
    return collector.result(text)


def parse_one(text: str, tools: Any = (), **options: Unpack[Options]) -> Call:
    """Read the one call that a reply holds.

    Raises `ParseError` with code `not_found` or `multiple` where it is not exactly one, and with `validate=True` also
    with `invalid_arguments`: a call alone could not say what is wrong with it.

    >>> parse_one('<tool_call>{"name": "f", "arguments": {}}</tool_call>').name
    'f'
    """
    result = parse(text, tools, **options)
    if not result.calls:
        raise ParseError(Code.NOT_FOUND, "Expected one call, got none", text, None)
    if len(result.calls) > 1:
        raise ParseError(Code.MULTIPLE, f"Expected one call, got {len(result.calls)}", text, None)
    if options.get("validate"):
        for problem in problems_of(result.calls[0], kept_tools(tools)):
            raise ParseError(problem.code, problem.message, text, problem.span[0])
    return result.calls[0]


class ProseFilter:
    """Passes on the prose of a streamed reply and hides calls, markers and reasoning.

    What could still become a marker is held; `flush` gives what is left. For every split of a text the pieces join
    to `parse(text).content`.

    >>> prose = ProseFilter()
    >>> prose.push("Sure <tool_"), prose.push('call>{"name": "f", "arguments": {}}</tool_call> done'), prose.flush()
    ('Sure ', ' done', '')
    """

    def __init__(self, tools: Any = (), **options: Unpack[Options]) -> None:
        self._parser = Parser(tools, **options)

    def push(self, delta: str) -> str:
        """The prose that is safe to show now."""
        return _prose(self._parser.feed(delta))

    def flush(self) -> str:
        """The rest, at the end of the reply."""
        return _prose(self._parser.finish())

    def fork(self) -> Self:
        """An independent filter in the same state; see `Parser.fork`."""
        return fork(self)

    def __copy__(self) -> Self:
        return self.fork()


def _prose(events: list[Event]) -> str:
    return "".join(e.text for e in events if isinstance(e, Text))
