"""What users of a browser's local agent know as `parseToolCalls` and `createProseFilter`, in Python.

Read are, in the order in which one wins over the next where a reply holds several: Python calls or JSON between
`<|tool_call_start|>` and `<|tool_call_end|>`, and JSON between `<tool_call>` tags (both together, in the order of the
text); JSON alone in a fence; the whole reply as JSON: a typed message, or calls (with a type or without).
Repairs: a tag that is not closed runs to the next call or the end, JSON that is cut is closed, commas and quotes are
mended, `parameters` is read where `arguments` is missing, arguments in a string are read as JSON.

The rule: parser and filter are one reading, so the pieces of the filter join to the parser's `text` for every split. No
text is lost: what is no call, no markup of one and no thought is in `text`, and so is what was refused.

Where the documentation is silent or contradicts itself, it is read like this:

- A call of a name that is not offered, and one that cannot be read, is an error, and its text stays in `text`.
- A call that is cut before its arguments begin is an error; what was written of it stays, without its opener.
- A thought that is not closed hides all that follows; no call in it is made.
- A tag inside a fence or inline code is quoted: prose. The filter hides calls in fences and whole replies too.
- A reply that is one JSON object or list, or the beginning of one, is read as that: a tag inside its strings is text.
- A fence begins on a line of its own, as Markdown has it.
- The limit of 32 KB counts code points: 32,768 of them, so that no character is cut and the filter stops at the same
  place. What lies behind it is prose. A call that the limit cuts is not closed but an error, since its arguments go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any

from toolglot import (
    Block,
    CallEnd,
    Code,
    Event,
    Format,
    Parser,
    Problem,
    Reasoning,
    Result,
    Text,
    ToolglotError,
    get_format,
    parse,
)

__all__ = ["ParseResult", "ParsedCall", "ProseFilter", "create_prose_filter", "parse_tool_calls"]

LIMIT = 32 * 1024
"""Code points of a reply that are read."""

_THINK = Block("<think>", "</think>")
_ENDS = ("<|im_end|>", "<|endoftext|>", "</s>")
_LFM = Format(
    "webmcp_lfm",
    call=("{name}({params})", "{call:json}"),
    param="{key}={value:python}",
    section=Block("<|tool_call_start|>[", "]<|tool_call_end|>"),
    separator=", ",
    param_separator=", ",
    reasoning=_THINK,
    ends=_ENDS,
)
_TAGS = Format(
    "webmcp_tags",
    call="{call:json}",
    section=Block("<tool_call>\n", "\n</tool_call>", each=True),
    reasoning=_THINK,
    ends=_ENDS,
)
_FENCE = get_format("fenced_json")
_SHAPES = (_LFM, _TAGS, _FENCE)

# Made-up markers before a text say what it is to be read as: the arguments of one call, or a fence that is a call.
_OBJECT = Format("webmcp_object", call="<|reply|>{name}<|is|>{args:json}", ends=_ENDS)
_OBJECT_LEAD = "<|reply|>message<|is|>"
_CALL = Format("webmcp_call", call="{call:json}", section=Block("```json\n", "\n```", each=True))

_CUT = {Code.TRUNCATED, Code.UNTERMINATED_STRING, Code.UNEXPECTED_END}
"""What is wrong with JSON that is only cut."""

_IN_LIST = '"{[]-0123456789'
"""What a list that holds JSON begins with."""

_NOBODY = " nobody "
"""A name that no call has, since names are read without the blanks around them: for an empty set of offered names."""

_UNREAD = {
    Code.UNREADABLE, Code.UNRECOGNIZED, Code.INVALID_NAME, Code.INVALID_ARGUMENTS, Code.TOOL_ECHO, Code.TRUNCATED,
}  # fmt: skip
_UNREADABLE = "The call cannot be read: "  # begins the engine's message, and says what our sentence says


@dataclass(slots=True)
class ParsedCall:
    """One valid call: the tool's name, and its arguments as a dict.

    >>> ParsedCall("ping", {"times": 2}).arguments
    {'times': 2}
    """

    name: str
    arguments: dict[str, Any]


@dataclass(slots=True)
class ParseResult:
    """What a reply holds: the prose, the calls of offered tools, and sentences to tell the model what it got wrong.

    >>> ParseResult("Hello.", [], []).text
    'Hello.'
    """

    text: str
    calls: list[ParsedCall]
    errors: list[str]


def parse_tool_calls(raw: str, tool_names: Iterable[str]) -> ParseResult:
    """Read the calls of a reply, of which the first 32,768 code points count; the rest is prose.

    `tool_names` are the tools offered in this step. Errors are listed as sentences, and nothing is raised for any text;
    `ToolglotError` is raised for names that are none. No schema is looked at: values stay as they were written.

    >>> result = parse_tool_calls('Sure.<tool_call>{"name": "add_stop", "parameters": {"at": "Ems",}}', {"add_stop"})
    >>> result.text, result.calls, result.errors
    ('Sure.', [ParsedCall(name='add_stop', arguments={'at': 'Ems'})], [])
    >>> parse_tool_calls('<tool_call>{"name": "fly", "arguments": {}}</tool_call>', ["add_stop", "go"]).errors
    ['Unknown tool "fly". Available now: add_stop, go']
    """
    if tool_names is None:
        raise ToolglotError("Expected a set of tool names, got None.")
    reading = ProseFilter(tool_names)
    text = reading.push(raw) + reading.flush()
    return ParseResult(text, reading._calls(), reading._errors())


def create_prose_filter(*, tool_names: Iterable[str] | None = None) -> ProseFilter:
    """A filter that passes on the prose of a reply as it comes, and hides calls, their markup and thoughts.

    Without `tool_names` any name counts as offered, so a call of an unknown tool is hidden, which the parser leaves in
    its text; with them the pieces join to exactly `parse_tool_calls(raw, tool_names).text`.

    >>> prose = create_prose_filter()
    >>> prose.push("Right away <|tool_"), prose.push('call_start|>[stop()]<|tool_call_end|>, done'), prose.flush()
    ('Right away ', ', done', '')
    """
    return ProseFilter(tool_names)


class ProseFilter:
    """Passes on prose; made by `create_prose_filter`. It reads one reply.

    What may still become a marker is held, and so is a reply that begins as JSON, until more than JSON is seen. It is
    made from the engine's `Parser`, whose events also tell what was cut, as `toolglot.ProseFilter` does not.

    >>> ProseFilter(["ping"]).push("Hello <thin")
    'Hello '
    """

    def __init__(self, tool_names: Iterable[str] | None = None) -> None:
        self._names = _names(tool_names)
        self._offered = [_NOBODY] if tool_names is not None and not self._names else self._names
        self._parser = Parser(
            self._offered, format=_SHAPES, truncated="close", arguments="whole", limits={"reply": LIMIT}
        )
        self._size = 0
        self._cut: set[int] = set()  # calls that the limit cuts, by their index
        self._front: list[str] | None = []  # the reply so far, until it is known whether it begins as JSON
        self._whole: _Whole | None = None
        self._held: list[str] = []  # prose that is not said if the whole reply turns out to be JSON
        self._read: Result | None = None  # what the whole reply is as JSON, once that is known
        self._data = ""  # the whole reply, if it is JSON but no call and no message

    def push(self, delta: str) -> str:
        """The prose that is safe to show now."""
        self._size += len(delta)
        if self._front is not None:
            self._front.append(delta)
        whole = self._whole
        said = self._said(self._parser.feed(delta))
        if whole is not None:
            whole.feed(delta)
        return self._pass(said)

    def flush(self) -> str:
        """What is left at the end of the reply."""
        said = self._said(self._parser.finish())
        whole = self._whole
        self._whole = None
        if whole is None or self._size > LIMIT:
            return self._release() + said
        self._held.append(said)
        self._read = whole.finish()
        self._data = whole.data
        return self._release() if self._read is None else whole.text

    def _pass(self, said: str) -> str:
        """Prose is said, or held while the whole reply may be JSON."""
        if self._whole is not None and (self._whole.failed or self._size > LIMIT):
            self._whole = None
        if self._whole is None:
            return self._release() + said
        self._held.append(said)
        return ""

    def _release(self) -> str:
        held, self._held = self._held, []
        return "".join(held)

    def _said(self, events: list[Event]) -> str:
        """The prose of events: also what was written of calls that are cut before they were any."""
        said = []
        for event in events:
            self._look(event)
            if isinstance(event, Text):
                said.append(event.text)
            elif isinstance(event, Problem) and event.incomplete is not None:
                said.append(event.incomplete.text)
            elif isinstance(event, CallEnd) and event.call.truncated and self._size > LIMIT:
                self._cut.add(event.index)
                said.append(self._parser.result.text[slice(*event.span)])
        return "".join(said)

    def _look(self, event: Event) -> None:
        """Whether the reply, behind its thoughts, begins as JSON does: decided by the first prose or call."""
        blank = isinstance(event, Reasoning | Problem) or (isinstance(event, Text) and not event.text.strip())
        if self._front is None or blank:
            return
        reply, self._front = "".join(self._front), None
        if isinstance(event, Text):
            blanks = event.text[: len(event.text) - len(event.text.lstrip())]
            at = event.span[0] + len(blanks)
            if reply[at] in "{[":
                self._whole = _Whole(self._offered, blanks, reply[at])
                self._whole.feed(reply[at:])

    def _calls(self) -> list[ParsedCall]:
        result = self._read or self._parser.result
        return [ParsedCall(c.name, c.arguments) for c in result.calls if c.index not in self._cut]

    def _errors(self) -> list[str]:
        """A sentence for each call that the model got wrong, each once."""
        if self._read is not None:
            return list(dict.fromkeys(self._unmarked_errors(self._data)))
        result = self._parser.result
        found = [self._sentence(p) for p in result.problems]
        if self._cut:
            found.append(f"Couldn't read a tool call: It goes on behind the first {LIMIT} characters")
        if not any(c.format != _FENCE.id for c in result.calls):
            found += self._unmarked_errors(result.content[:LIMIT])
        return list(dict.fromkeys(filter(None, found)))

    def _sentence(self, problem: Problem) -> str:
        code, name = problem.code, problem.name
        if name is not None and code in (Code.UNKNOWN_TOOL, Code.INVALID_ARGUMENTS):
            if name not in self._names:
                return f'Unknown tool "{name}". Available now: {", ".join(self._names) or "none"}'
            return f'Arguments for "{name}" must be a JSON object.'
        too_many = code is Code.LIMIT and problem.span[0] < problem.span[1]
        if problem.repaired or not (code in _UNREAD or too_many):
            return ""
        return f"Couldn't read a tool call: {problem.message.removeprefix(_UNREADABLE)}"

    def _unmarked_errors(self, prose: str) -> list[str]:
        """The same for calls in a fence or as the whole reply, of which the engine takes the unknown ones for data:
        an object with nothing but a name and arguments is a call, of whatever name."""
        if prose.lstrip()[:1] in ("{", "["):
            prose = f"```json\n{prose}\n```"
        if "```" not in prose:
            return []
        calls = parse(prose, format=_FENCE).calls
        refused = parse(prose, self._offered, format=_CALL).problems
        found = [Problem(Code.UNKNOWN_TOOL, "", False, c.span, None, c.name) for c in calls]
        found += [p for p in refused if p.code is Code.INVALID_ARGUMENTS and not p.repaired]
        return [self._sentence(p) for p in found if p.code is not Code.UNKNOWN_TOOL or p.name not in self._names]


class _Whole:
    """Reads a reply that begins as JSON, as a call and as a typed message; `failed` once it is neither."""

    def __init__(self, offered: list[str], blanks: str, root: str) -> None:
        self._call = Parser(offered, format="json", truncated="close", arguments="whole")
        self._object = Parser(format=_OBJECT, truncated="close", arguments="whole")
        self._is_list = root == "["  # then it stands in an object, since arguments are one
        self._object.feed(_OBJECT_LEAD + ('{"reply": ' if self._is_list else ""))
        self._begun = False  # what stands first in the list is known
        self._reply: list[str] = []
        self._alive = [self._call, self._object]
        self.text = blanks  # those before it are prose
        self.data = ""

    def feed(self, delta: str) -> None:
        self._reply.append(delta)
        if self._is_list and not self._begun:
            inside = "".join(self._reply)[1:].lstrip()[:1]
            self._begun = bool(inside)
            if inside and inside not in _IN_LIST:  # `[docs](x)` is prose
                self._alive = []
        self._alive = [p for p in self._alive if not _has_prose(p.feed(delta))]

    @property
    def failed(self) -> bool:
        """Whether there is other text than JSON."""
        return not self._alive

    def finish(self) -> Result | None:
        """What the reply is as a whole, with its prose in `text`; None if it is not JSON alone. A marker inside of it
        is in a string, also where it is cut. JSON that is neither a call nor a message is `data`, and prose."""
        if self._is_list and self._object in self._alive:
            self._object.feed("}")
        alive = [p for p in self._alive if not _has_prose(p.finish())]
        for parser in alive:
            result = parser.result
            if not result.calls:
                continue
            if parser is self._call:
                return result
            call = result.calls.pop()
            message = call.arguments
            if self._is_list:
                self.data = "".join(self._reply)
                self.text += self.data
                return result
            typed = message.keys() == {"type", "text"} and message["type"] == "message"
            if typed and isinstance(message["text"], str):  # with other keys it is data, and nothing of it is lost
                self.text += message["text"]
                return result
            if not any(p.code.is_error and p.code not in _CUT for p in result.problems):
                self.data = result.text[len(_OBJECT_LEAD) : call.span[1]] + result.content
                self.text += self.data
                return result
        return None


def _has_prose(events: list[Event]) -> bool:
    return any(isinstance(e, Text) and not e.text.isspace() for e in events)


def _names(tool_names: Iterable[str] | None) -> list[str]:
    """The offered names in their order, or sorted where they have none."""
    if tool_names is None:
        return []
    if isinstance(tool_names, str):
        raise ToolglotError(f"Expected a set of tool names, got the single string {tool_names!r}.")
    return sorted(tool_names) if isinstance(tool_names, Set) else list(dict.fromkeys(tool_names))
