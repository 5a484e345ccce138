"""What a model must be shown: its tools, what it called, and what came back, in the dialect of any format.

The rule: everything follows from a format's declaration and its layout; no model is asked, and no family is named in
words. A format whose family's layout is not known takes the neutral one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from toolglot import Call, Format, Messages, Result, ToolglotError, Tools, get_format, render

from ._definitions import definition
from ._feedback import as_results, refusals
from ._layout import NEUTRAL, PLAIN, Definition, Layout, fields_of
from ._layouts import LAYOUTS
from ._sentences import HOW, INTRO, RULES

__all__ = [
    "LAYOUTS",
    "NEUTRAL",
    "PLAIN",
    "CallIds",
    "Definition",
    "Layout",
    "Style",
    "feedback",
    "layout_of",
    "messages_to_text",
    "plain_messages",
    "render_results",
    "system_prompt",
]

Style: TypeAlias = Literal["family", "neutral"]
"""Whether the markers are those of the format's family, or those that suit any model."""

AnyFormat: TypeAlias = str | Format | Messages
Message: TypeAlias = Mapping[str, Any]

EXAMPLE = {"name": "tool_name", "arguments": {"argument_name": "value"}}


def layout_of(format: AnyFormat = "auto", style: Style = "family") -> Layout:
    """The layout that a format is shown in: its family's, or the neutral one where that is not known.

    Raises `ToolglotError` for a format that is not known.

    >>> layout_of("lfm2").result
    '<|tool_response_start|>{content}<|tool_response_end|>'
    """
    if style not in ("family", "neutral"):
        raise ToolglotError(f"expected style 'family' or 'neutral', got {style!r}")
    id = _written(format) if isinstance(format, str) else format.id
    return LAYOUTS.get(id, NEUTRAL) if style == "family" and format != "auto" else NEUTRAL


def system_prompt(
    tools: object, *, format: AnyFormat = "auto", style: Style = "family", layout: Layout | None = None
) -> str:
    """The section of the system prompt that tells a model of its tools and how to call them; empty without tools.

    `tools` is what `parse` takes. The call is shown as `format` writes it, the rest as the family's chat template
    lays it out, or, with `style="neutral"` and under `auto`, in a way that names no family. The sentences are ours.
    Raises `ToolglotError` for tools or a format that are not understood.

    >>> print(system_prompt(["ping"], format="mistral_v11").splitlines()[0])
    [AVAILABLE_TOOLS][{"type": "function", "function": {"name": "ping"}}][/AVAILABLE_TOOLS]
    """
    offered = Tools(tools)
    if not offered:
        return ""
    shown = layout or layout_of(format, style)
    texts = (_entry(shown, t.name, t.description, t.schema) for t in offered.values())
    # Only an element around the result is worth a word: a role block speaks for itself.
    wrapper = shown.result.partition(">")[0] + ">" if shown.result.startswith("<") and "tool" not in shown.turns else ""
    return _fill(
        shown.tools,
        intro=INTRO,
        tools=shown.joint.join(texts),
        how=HOW,
        call=render([EXAMPLE], format=_written(format) if isinstance(format, str) else format),
        rules=_fill(RULES, result=f", each behind {wrapper}" if wrapper else ""),
    )


def _entry(shown: Layout, name: str, description: str, schema: Mapping[str, Any] | None) -> str:
    """One tool in the section."""
    lines = [line for line in shown.entry.split("\n") if description or "{description}" not in line]
    text = definition(shown.definition, name, description, schema, shown.indent)
    before = next((line.partition("{definition}")[0] for line in lines if "{definition}" in line), "")
    if not before.strip(" "):
        text = text.replace("\n", f"\n{before}")
    return _fill("\n".join(lines), definition=text, name=name, description=description)


def render_results(
    results: Iterable[Message],
    *,
    format: AnyFormat = "auto",
    style: Style = "family",
    layout: Layout | None = None,
    turns: bool = True,
) -> str:
    """The results of calls as the family's template shows them.

    A result is a mapping with `content` (text, a list of text parts, or anything that JSON can hold) and, where the
    family shows them, `name` and `id` (or `tool_call_id`); a chat message of role `tool` is one. With `is_error` the
    content says that it is an error. Where the family has
    a role of its own for results its markers stand around, unless `turns` is false; what only the role would have
    marked as a result is then marked neutrally.
    Raises `ToolglotError` for a result that is none.

    >>> render_results([{"name": "get_tide", "content": "high at 14:02"}], format="hermes")
    '<tool_response>\\nhigh at 14:02\\n</tool_response>'
    >>> render_results([{"name": "f", "id": "f:0", "content": {"ok": True}}], format="kimi_k2")
    '<|im_system|>f<|im_middle|>## Return of f:0\\n{"ok": true}<|im_end|>'
    """
    shown = layout or layout_of(format, style)
    items = [_result_fields(result, index) for index, result in enumerate(results)]
    if not items:
        return ""
    role = shown.turns.get("tool", "{content}") if turns else "{content}"
    bare = not turns and shown.result == "{content}"
    texts = [_fill(NEUTRAL.result if bare else shown.result, **item) for item in items]
    if shown.apart and turns:
        return "".join(_fill(role, **{**item, "content": text}) for item, text in zip(items, texts, strict=True))
    return _fill(role, content=_fill(shown.results, results=shown.result_joint.join(texts)), name=items[0]["name"])


def feedback(
    result: Result,
    *,
    format: AnyFormat = "auto",
    style: Style = "family",
    layout: Layout | None = None,
    turns: bool = True,
) -> str:
    """What was wrong with each call of a reply that is not to be run, for the model to do better; empty without any.

    Told are tools that were not offered, calls that cannot be read (with line, column and what stands there), calls
    that the text cuts, arguments that do not fit their schema (where `parse` was called with `validate=True`), and
    limits. Each refused call is shown as a result is; the other options are those of `render_results`.

    >>> from toolglot import parse
    >>> result = parse('<tool_call>{"name": "get_tides", "arguments": {}}</tool_call>', ["get_tide", "ping"])
    >>> print(feedback(result))
    <tool_response>
    Unknown tool 'get_tides'. Offered: get_tide, ping.
    The call was not run. Use one of the offered tools.
    </tool_response>
    """
    refused = as_results(refusals(result))
    return render_results(refused, format=format, style=style, layout=layout, turns=turns)


def plain_messages(
    messages: Iterable[Message],
    tools: object = (),
    *,
    format: AnyFormat = "auto",
    style: Style = "family",
    layout: Layout | None = None,
) -> list[dict[str, Any]]:
    """A conversation with tools for a chat model that knows none: only roles system, user and assistant.

    Takes OpenAI's chat messages, with calls of any shape that `render` takes. The tools' section stands behind the
    first system message (before its text, where the family has it so), or is one. Calls stand in the assistant's text
    as the format writes them; results are the user's, as the format's family shows them; a text of the user behind
    them is in the same message. Other keys, and content that is more than text (images), stay as they are; the given
    messages are not changed.
    Raises `ToolglotError` for a message that is not understood.

    >>> call = {"name": "f", "arguments": {}}
    >>> chat = [{"role": "assistant", "content": "", "tool_calls": [call]}, {"role": "tool", "content": "4"}]
    >>> [m["content"] for m in plain_messages(chat, format="mistral_v11", style="neutral")]
    ['[TOOL_CALLS]f[ARGS]{}', '<tool_response>\\n4\\n</tool_response>']
    """
    shown = layout or layout_of(format, style)
    section = system_prompt(tools, format=format, layout=shown)
    out: list[dict[str, Any]] = []
    results = False  # the last message holds results of tools
    for turn in _turns(messages, section, format, shown, blocks=False):
        made = {**turn.rest, "role": turn.role, "content": turn.content}
        texts = isinstance(turn.content, str)
        if results and turn.role == "user" and texts and not turn.rest:
            out[-1]["content"] += f"\n\n{turn.content}"
        else:
            out.append(made)
        results = turn.results
    return out


def messages_to_text(
    messages: Iterable[Message],
    tools: object = (),
    *,
    format: AnyFormat = "auto",
    style: Style = "family",
    layout: Layout | None = None,
    add_generation_prompt: bool = True,
) -> str:
    """A conversation with tools as the text that a completion model goes on from; for models without a template.

    Takes what `plain_messages` takes. Turns are marked as the family marks them, or with `User:` and `Assistant:`
    where that is not known, under `auto`, and with `style="neutral"`. The text ends where the assistant begins, unless
    `add_generation_prompt` is false. Raises as `plain_messages` does.

    >>> print(messages_to_text([{"role": "user", "content": "Hi"}]))
    User: Hi
    <BLANKLINE>
    Assistant:
    >>> messages_to_text([{"role": "user", "content": "Hi"}], format="hermes")
    '<|im_start|>user\\nHi<|im_end|>\\n<|im_start|>assistant\\n'
    """
    shown = layout or layout_of(format, style)
    section = system_prompt(tools, format=format, layout=shown)
    parts = [shown.begin]
    for turn in _turns(messages, section, format, shown, blocks=True):
        text = _text(turn.content)
        # Results and turns of calls come in their role's markers.
        parts.append(text if turn.role in ("tool", "calls") else _fill(shown.turns[turn.role], content=text))
    if add_generation_prompt:
        parts.append(_fill(shown.turns.get("prompt", shown.turns["assistant"].partition("{content}")[0])))
    text = "".join(parts)
    return text.rstrip(" ") if shown.turns == PLAIN else text


class _Turn(NamedTuple):
    role: str
    content: Any
    rest: dict[str, Any] = {}  # noqa: RUF012 - never changed
    results: bool = False


class CallIds:
    """The ids of the calls of one conversation, as a format writes them, and the results that they belong to.

    Where the wire has a rule for ids (`functions.f:0`), one that does not follow it is replaced, in the calls and in
    their results alike; results come in the order of their calls.

    >>> ids = CallIds("kimi_k2")
    >>> ids.calls([{"name": "f", "arguments": {}, "id": "call_a"}])
    [{'name': 'f', 'arguments': {}, 'id': 'functions.f:0'}]
    >>> ids.results([{"tool_call_id": "call_a", "content": "4"}])
    [{'tool_call_id': 'functions.f:0', 'content': '4', 'name': 'f', 'id': 'functions.f:0'}]
    """

    def __init__(self, format: AnyFormat = "auto") -> None:
        known = get_format(_written(format)) if isinstance(format, str) else format
        self._rule = known.id_rule if isinstance(known, Format) else ""
        self._number = 0
        self._known: dict[str, tuple[int, str, str]] = {}  # by the id given: order, the id written, the tool's name

    def calls(self, calls: Iterable[Call | Message]) -> list[Message]:
        """The calls of a turn with the ids to write; of any shape that `render` takes."""
        return [self._call(call) for call in calls]

    def _call(self, call: Call | Message) -> Message:
        plain: Message = {"name": call.name, "arguments": call.arguments, "id": call.id} if isinstance(
            call, Call
        ) else call  # fmt: skip
        inner = plain.get("function", plain) if isinstance(plain, Mapping) else None
        if not isinstance(inner, Mapping):
            return plain  # what `render` then says is no call
        given, name = plain.get("id"), str(inner.get("name"))
        ident = self._written(given if isinstance(given, str) else None, name)
        if isinstance(given, str):
            self._known[given] = (self._number, ident or given, name)
        self._number += 1
        return {**plain, "id": ident} if ident else plain

    def _written(self, given: str | None, name: str) -> str | None:
        """The id that stands in a turn's text."""
        rule = self._rule
        if "{" in rule:
            return rule.replace("{name}", name).replace("{index}", str(self._number))
        if rule.isdigit() and not (given and len(given) == int(rule) and given.isalnum()):
            return f"{self._number:0{int(rule)}d}"
        return given

    def results(self, results: Iterable[Message]) -> list[Message]:
        """The results of a turn: with the ids that their calls were written with, in the order of these."""
        items = [self._result(result) for result in results]
        if all(place is not None for place, _ in items):
            items.sort(key=lambda item: item[0] or 0)
        return [result for _, result in items]

    def _result(self, result: Message) -> tuple[int | None, Message]:
        given = (result.get("id") or result.get("tool_call_id")) if isinstance(result, Mapping) else None
        known = self._known.get(given) if isinstance(given, str) else None
        if known is None:
            return None, result
        number, ident, name = known
        named = {"name": result.get("name") or name, "id": ident}
        return number, {**result, **({"tool_call_id": ident} if "tool_call_id" in result else {}), **named}


def _turns(
    messages: Iterable[Message], section: str, format: AnyFormat, shown: Layout, *, blocks: bool
) -> Iterator[_Turn]:
    """The turns; results of one turn together, the section in or beside that of the first system message.

    With `blocks` results, and calls that have a template of their own, come in the markers of the family, as roles
    `tool` and `calls`.
    """
    own = blocks and "tools" in shown.turns
    if section and own and shown.tools_first:
        yield _Turn("tools", section)
        section = ""
    waiting: list[Message] = []
    ids = CallIds(format)
    for index, message in enumerate([*messages, _END]):
        role = "end" if message is _END else _role(message, index)
        if role == "tool":
            waiting.append(message)
            continue
        if waiting:
            text = render_results(ids.results(waiting), layout=shown, turns=blocks)
            yield _Turn("tool" if blocks and "tool" in shown.turns else "user", text, results=True)
            waiting = []
        if section and role != "system":
            yield _Turn("tools" if own else "system", section)
            section = ""
        if role == "assistant":
            yield from _assistant(message, index, format, ids, shown, blocks=blocks)
        elif role != "end":
            heading = shown.heading if blocks and role == "system" else ""
            yield _turn(role, message, "" if own else section, heading, shown)
            if section and own:
                yield _Turn("tools", section)
            section = ""


def _turn(role: str, message: Message, section: str, heading: str, shown: Layout) -> _Turn:
    """One message of the system or the user."""
    content, rest = message.get("content"), _rest(message)
    if _is_more(content) and not (role == "system" and section):
        return _Turn(role, content, rest)
    text = _text(content)
    parts = (text and heading + text, section)
    parts = parts[::-1] if shown.tools_first else parts
    return _Turn(role, shown.system_joint.join(filter(None, parts)), rest)


_END: Message = {}
_WRITTEN_KEYS = ("role", "content", "tool_calls", "function_call")
_ROLES = {"developer": "system", "function": "tool", "ipython": "tool", "human": "user", "ai": "assistant"}


def _role(message: Message, index: int) -> str:
    if not isinstance(message, Mapping):
        raise ToolglotError(f"expected a message as a mapping, got {type(message).__name__} (messages[{index}])")
    role = message.get("role")
    role = _ROLES.get(role, role) if isinstance(role, str) else role
    if role not in ("system", "user", "assistant", "tool"):
        raise ToolglotError(f"expected role 'system', 'user', 'assistant' or 'tool', got {role!r} (messages[{index}])")
    return role


def _assistant(
    message: Message, index: int, format: AnyFormat, ids: CallIds, shown: Layout, *, blocks: bool
) -> Iterator[_Turn]:
    """An assistant's turn as the model would have written it; two, where its calls stand in one of their own."""
    content, rest = message.get("content"), _rest(message)
    given = message.get("tool_calls") or ()
    if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
        raise ToolglotError(f"expected tool_calls as a list of calls, got {given!r:.80} (messages[{index}])")
    calls = list(given)
    if message.get("function_call"):
        calls.append(message["function_call"])
    if _is_more(content) and not calls:
        yield _Turn("assistant", content, rest)
        return
    text, written = _text(content), ids.calls(calls)
    template = shown.turns.get("calls") if blocks and calls else None
    if template is None:
        yield _Turn("assistant", _reply(text, written, format), rest)
        return
    if text and not {"content", "text"} & fields_of(template):
        yield _Turn("assistant", _reply(text, [], format))
    fields = {"content": _reply(text, written, format), "calls": _reply("", written, format), "text": text}
    yield _Turn("calls", _fill(template, **fields), rest)


def _reply(text: str, calls: list[Message], format: AnyFormat) -> str:
    """A reply with calls; one without is its text, but where the format marks what is the answer."""
    target = _written(format) if isinstance(format, str) else format
    if not calls and not isinstance(get_format(target) if isinstance(target, str) else target, Messages):
        return text
    return render(calls, format=target, content=text)


def _rest(message: Message) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in _WRITTEN_KEYS}


def _is_more(content: Any) -> bool:
    """Whether a content is more than text (images)."""
    parts = isinstance(content, Sequence) and not isinstance(content, str)
    return parts and not all(isinstance(part, str) or _is_text(part) for part in content)


def _result_fields(result: Message, index: int) -> dict[str, str]:
    if not isinstance(result, Mapping) or "content" not in result:
        raise ToolglotError(f"expected a result as a mapping with content, got {result!r:.80} (results[{index}])")
    content = _text(result["content"])
    if result.get("is_error") and not content.startswith("Error"):
        content = f"Error: {content}"
    ident = result.get("id") or result.get("tool_call_id") or f"call_{index}"
    return {
        "content": content,
        "json": json.dumps(content, ensure_ascii=False),
        "name": str(result.get("name") or ""),
        "id": str(ident),
        "index": str(index),
        "number": str(index + 1),
    }


def _text(content: Any) -> str:
    """A message's content as text: text parts are joined, data is written as JSON, anything else as Python does."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = list(content) if isinstance(content, list | tuple) else []
    if parts and all(isinstance(part, str) or _is_text(part) for part in parts):
        return "".join(part if isinstance(part, str) else part["text"] for part in parts)
    try:
        if not isinstance(content, Mapping | list | tuple | bool):
            return str(content)
        return json.dumps(content, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:  # keys that are no text, a value inside itself
        raise ToolglotError(f"expected content that JSON can hold, got {type(content).__name__}: {error}") from None


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def _written(format: str) -> str:
    """The id of the format that is written: any model is asked for tags around JSON."""
    return "hermes" if format == "auto" else get_format(format).id


def _fill(template: str, **fields: str) -> str:
    return template.format_map(fields)
