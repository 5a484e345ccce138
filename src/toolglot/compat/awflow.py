"""Tool calls by prompt alone, as AWFlow makes them: a section of the system prompt, the history, and the parser.

The prompt names no family of models, and the parser knows shapes, not models: JSON in `<tool_call>`, `<function_call>`
or `<tools>` tags, closed by any of the three or not at all; a list behind `[TOOL_CALLS]`; `<function=NAME>` with an
object of arguments; a fence without a language, or with `json` or `tool_call`; if none of these is there, the whole
reply.

The rule: a block counts only if every call in it is plain JSON of an offered tool; any other stays in the content as it
was written. Nothing is repaired, thoughts are taken out, and JSON in the midst of prose is never a call.

Where the engine reads more, or refuses more, than the documented patterns do, it is left so:

- A marker inside a string of the JSON ends nothing; a tag inside a fence or inline code is quoted, and prose. A reply
  that is one JSON value is read as that, whatever its strings hold.
- A call whose tag is not closed ends where its JSON ends; another call or prose may follow.
- A fence begins on a line of its own; at the end of the reply its closer may be missing, as a tag's may. JSON in it is
  a call only with a key of arguments. Behind `[TOOL_CALLS]` one call may stand without its list.
- An object with other keys than a call has, but none of arguments, is no call.
- Two JSON values in one block are two calls; known wrappers such as `{"tool_calls": [...]}` are looked into.
- Arguments that are an empty text are `{}`; names are read without the blanks around them.
- `"arguments": null` is `{}`, but beside a second key of arguments it is refused.
- Tokens that end a turn, such as `<|im_end|>`, are not in the content.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from toolglot import Block, Code, Format, Result, ToolglotError, Tools, get_format, parse, prompting, render
from toolglot.prompting import plain_messages, system_prompt

__all__ = [
    "ParsedReply",
    "ToolCall",
    "parse_tool_calls",
    "render_calls",
    "render_messages",
    "render_result",
    "render_results",
    "tools_prompt",
]

Message: TypeAlias = Mapping[str, Any]
Span: TypeAlias = tuple[int, int]


@dataclass(slots=True)
class ToolCall:
    """One call of an offered tool.

    >>> ToolCall("find_row", {"id": 7}).args
    {'id': 7}
    """

    name: str
    args: dict[str, Any]


@dataclass(slots=True)
class ParsedReply:
    """A reply without its thoughts: what is no call, verbatim, and the calls in the order of the text.

    >>> ParsedReply("Hello.", []).content
    'Hello.'
    """

    content: str
    tool_calls: list[ToolCall]


# -- the prompt and the history ------------------------------------------------------------------------------------


def tools_prompt(tools: Any) -> str:
    """The section of the system prompt that offers tools, each as one line of compact JSON; empty without any.

    `tools` may be all that `toolglot.Tools` takes, which also raises `ToolglotError` for what is none: OpenAI,
    Anthropic and MCP definitions, JSON Schemas with a name, functions, names.

    >>> find_row = {"name": "find_row", "description": "Find a row.", "input_schema": {"type": "object"}}
    >>> tools_prompt([find_row]).splitlines()[1]
    '{"name":"find_row","description":"Find a row.","parameters":{"type":"object"}}'
    """
    return system_prompt(tools, style="neutral")


def render_calls(calls: Iterable[Any], content: str = "") -> str:
    """Calls as the prompt asks for them, behind `content`.

    Takes `ToolCall` and all that `toolglot.render` takes, and raises as it does.

    >>> print(render_calls([ToolCall("find_row", {"id": 7})]))
    <tool_call>
    {"name": "find_row", "arguments": {"id": 7}}
    </tool_call>
    """
    named = [{"name": c.name, "args": c.args} if isinstance(c, ToolCall) else c for c in calls]
    return render(named, format="hermes", content=content)


def render_result(content: Any) -> str:
    """What a tool gave back, as the prompt says that it is shown: text as it is, text parts joined, other data as JSON.

    >>> print(render_result({"price": 12}))
    <tool_response>
    {"price": 12}
    </tool_response>
    """
    return render_results([content])


def render_results(contents: Iterable[Any]) -> str:
    """The results of several calls, in the order of the calls.

    >>> render_results(["4", "5"]).count("<tool_response>")
    2
    """
    return prompting.render_results([{"content": content} for content in contents], style="neutral")


def render_messages(messages: Iterable[Message], tools: Any = ()) -> list[dict[str, Any]]:
    """A conversation in OpenAI's shape for a model that knows no tools: `plain_messages` of `toolglot.prompting`.

    >>> asked = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "now", "arguments": "{}"}}]}
    >>> messages = [{"role": "user", "content": "Time?"}, asked, {"role": "tool", "content": "noon"}]
    >>> [message["role"] for message in render_messages(messages, ["now"])]
    ['system', 'user', 'assistant', 'user']
    """
    return plain_messages(messages, tools, style="neutral")


# -- the parser ----------------------------------------------------------------------------------------------------

_THINK = Block("<think>", "</think>")
_ENDS = ("<|im_end|>", "<|eot_id|>", "<|endoftext|>", "</s>")
_NAMES = ("tool_call", "function_call", "tools")
_PAIRS = [(f"<{opener}>\n", f"\n</{closer}>") for opener in _NAMES for closer in _NAMES]
_TAGS = Format(
    "awflow_tags",
    call="{call:json}",
    section=Block(*_PAIRS[0], also=tuple(_PAIRS[1:]), each=True),
    reasoning=_THINK,
    ends=_ENDS,
)
_LIST = Format(
    "awflow_list",
    call="{call:json}",
    section=Block("[TOOL_CALLS] [", "]", also=(("[TOOL_CALLS] [", "][/TOOL_CALLS]"),)),
    separator=", ",
    reasoning=_THINK,
    ends=_ENDS,
)
_FUNCTION = Format("awflow_function", call="<function={name}>{args:json}</function>", reasoning=_THINK, ends=_ENDS)
_FENCE = get_format("fenced_json")
_SHAPES = (_TAGS, _LIST, _FUNCTION, _FENCE)
_LANGUAGES = ("", "json", "tool_call")

# The whole reply is read behind a marker that is put before it, so that nothing else can stand beside it.
_LEAD = "<|reply|>"
_WHOLE = Format(
    "awflow_whole", call="{call:json}", section=Block(_LEAD, "<|end_of_reply|>"), reasoning=_THINK, ends=_ENDS
)
_SHAPES_OF_WHOLE = (_WHOLE,)

_NOBODY = " nobody "
"""A name that no call has, since names are read without the blanks around them: for an empty set of offered names."""

_PLAIN = {
    Code.UNRECOGNIZED, Code.AMBIGUOUS_ARGUMENTS, Code.INVALID_ARGUMENTS, Code.DUPLICATE_KEY,
    Code.REASONING_NOT_OPENED, Code.LIMIT,
}  # fmt: skip
"""What is listed as a repair of plain JSON: no arguments, two keys of them, null, a key that stands twice."""

_CALL_KINDS = {"name", "arguments", "dropped"}
_OPENERS = (*(opener.strip() for opener, _ in _PAIRS), "[TOOL_CALLS]")

_ROUNDS = 8
"""How often a reply is read: each time without the calls that were refused before, and mostly once or twice."""

_MASK = "\ufffd"  # begins no call, marker or line


def parse_tool_calls(text: str, tool_names: Iterable[str]) -> ParsedReply:
    """Read the calls of a reply; `tool_names` are the bound tools. Nothing is raised for any text.

    >>> parse_tool_calls('<think>Which?</think><tools>{"name": "get_row", "args": {"id": 7}}</tool_call>', ["get_row"])
    ParsedReply(content='', tool_calls=[ToolCall(name='get_row', args={'id': 7})])
    >>> parse_tool_calls('<tool_call>{"name": "get_row", "arguments": {"id": 7,}}</tool_call>', ["get_row"]).tool_calls
    []
    """
    if isinstance(tool_names, str):
        raise ToolglotError(f"Expected a set of tool names, got the single string {tool_names!r}.")
    names = Tools(list(dict.fromkeys(tool_names)) or [_NOBODY])
    content, calls, begins = _read(text, names, _SHAPES)
    reply = text[begins:]
    if reply[:1] in ("{", "["):
        data = _json_alone(reply)
        rest, whole, _ = _read(_LEAD + reply, names, _SHAPES_OF_WHOLE) if data or not calls else ("", [], 0)
        if whole and not rest.strip():
            return ParsedReply("", whole)
        if data:
            return ParsedReply(data, [])
    return ParsedReply(content, calls)


def _json_alone(reply: str) -> str:
    """A reply that is one JSON value, so that a marker in it is data, without the tokens at its end; else empty."""
    for end in _ENDS[::-1]:  # each once, the inner ones last
        reply = reply.rstrip().removesuffix(end)
    try:
        json.loads(reply)
    except (ValueError, RecursionError):
        return ""
    return reply


def _read(text: str, names: Tools, shapes: tuple[Any, ...]) -> tuple[str, list[ToolCall], int]:
    """The content, the calls, and where the reply begins behind blanks and thoughts.

    The engine refuses a block that names an unknown tool or cannot be read. One that it reads by a repair is made
    unreadable, in a copy of the text, so that it is refused in the same way; the content is cut from the text itself.
    """
    copy = text
    for _ in range(_ROUNDS):
        result = parse(copy, names, format=shapes, block="all-or-nothing")
        refused = _refused(result, text)
        if not refused:
            content = "".join([text[slice(*s.span)] for s in result.segments if s.kind == "text"])
            return content, [ToolCall(call.name, call.arguments) for call in result.calls], _begins(result)
        copy = _masked(copy, refused)
    return "".join([text[slice(*s.span)] for s in result.segments if s.kind != "reasoning"]), [], len(text)


def _begins(result: Result) -> int:
    """Where the first character of prose stands; the end if a call comes first."""
    for segment in result.segments:
        if segment.kind in _CALL_KINDS:
            break
        if segment.kind == "text" and segment.text.strip():
            return segment.span[0] + len(segment.text) - len(segment.text.lstrip())
    return len(result.text)


def _masked(text: str, spans: list[Span]) -> str:
    parts, at = [], 0
    for start, end in sorted(spans):
        if end > at:
            start = max(start, at)
            parts += [text[at:start], _MASK * (end - start)]
            at = end
    return "".join(parts) + text[at:]


def _refused(result: Result, text: str) -> list[Span]:
    """The places of calls that are cut, needed a repair, or stand in a fence of another language, and of markers with
    no call between them."""
    cut = [call.span for call in result.incomplete]
    return cut + _repaired(result, cut) + _in_other_fences(result, text) + _empty(result)


def _repaired(result: Result, cut: list[Span]) -> list[Span]:
    """The calls whose JSON, or that of their list, was not plain."""
    if not result.calls:
        return []
    starts = [call.span[0] for call in result.calls]
    others = sorted([*cut, *(s.span for s in result.segments if s.kind == "text")])
    before = [start for start, _ in others]
    found = []
    for at in _repairs(result):
        behind = bisect_left(before, at) - 1
        if behind < 0 or at > others[behind][1]:  # else it is said of a block that is refused anyhow
            found.append(result.calls[max(bisect_right(starts, at) - 1, 0)].span)
    return found


def _repairs(result: Result) -> list[int]:
    """Where the JSON of a call was not plain."""
    null = {p.span for p in result.problems if p.code is Code.INVALID_ARGUMENTS and p.repaired}
    return [
        p.span[0]
        for p in result.problems
        if (p.repaired and p.code not in _PLAIN) or (p.code is Code.AMBIGUOUS_ARGUMENTS and p.span in null)
    ]


def _empty(result: Result) -> list[Span]:
    """Markers around nothing."""
    segments = result.segments
    kinds = ["", *(s.kind for s in segments), ""]
    return [
        s.span
        for s, before, behind in zip(segments, kinds, kinds[2:], strict=False)
        if s.kind == "markup" and not _CALL_KINDS & {before, behind} and any(o in s.text for o in _OPENERS)
    ]


def _in_other_fences(result: Result, text: str) -> list[Span]:
    """The calls in fences that say that they hold something else."""
    found = []
    end, other = 0, False
    for call in result.calls:
        if call.format == _FENCE.id:
            opener = text.rfind("```", end, call.span[0])
            if opener >= 0:  # else the fence is that of the call before
                other = text[opener + 3 : text.find("\n", opener)].strip() not in _LANGUAGES
            if other:
                found.append(call.span)
        end = call.span[1]
    return found
