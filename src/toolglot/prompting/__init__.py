"""What a model must be shown: its tools, what it called, and what came back, in the dialect of any format.

The rule: everything follows from a format's declaration and its layout; no model is asked, and no family is named in
words. A format whose family's layout is not known takes the neutral one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from toolglot import Format, Messages, Result, ToolglotError, Tools, get_format, render

from ._definitions import definition
from ._feedback import as_results, refusals
from ._layout import NEUTRAL, PLAIN, Definition, Layout
from ._layouts import LAYOUTS
from ._sentences import HOW, INTRO, RULES

__all__ = [
    "LAYOUTS",
    "NEUTRAL",
    "PLAIN",
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
    [AVAILABLE_TOOLS][{"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}}][/AVAILABLE_TOOLS]
    """  # noqa: E501
    offered = Tools(tools)
    if not offered:
        return ""
    shown = layout or layout_of(format, style)
    texts = (definition(shown.definition, t.name, t.description, t.schema) for t in offered.values())
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
    family shows them, `name` and `id` (or `tool_call_id`); a chat message of role `tool` is one. Where the family has
    a role of its own for results its markers stand around, unless `turns` is false.
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
    texts = [_fill(shown.result, **item) for item in items]
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
) -> list[dict[str, str]]:
    """A conversation with tools for a chat model that knows none: only roles system, user and assistant, only text.

    Takes OpenAI's chat messages, with calls as `tool_calls` or as `name` and `arguments`. The tools' section stands
    behind the first system message, or is one. Calls stand in the assistant's text as the format writes them; results
    are the user's, as the format's family shows them; messages of one role that follow one another become one.
    Raises `ToolglotError` for a message that is not understood.

    >>> call = {"name": "f", "arguments": {}}
    >>> chat = [{"role": "assistant", "content": "", "tool_calls": [call]}, {"role": "tool", "content": "4"}]
    >>> [m["content"] for m in plain_messages(chat, format="mistral_v11", style="neutral")]
    ['[TOOL_CALLS]f[ARGS]{}', '<tool_response>\\n4\\n</tool_response>']
    """
    shown = layout or layout_of(format, style)
    section = system_prompt(tools, format=format, layout=shown)
    out: list[dict[str, str]] = []
    for role, texts in _turns(messages, section, format, shown, blocks=False):
        if out and out[-1]["role"] == role:
            out[-1]["content"] += "\n\n" + texts
        else:
            out.append({"role": role, "content": texts})
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
    for role, text in _turns(messages, section, format, shown, blocks=True):
        parts.append(text if role == "tool" else _fill(shown.turns[role], content=text, name="", id=""))
    if add_generation_prompt:
        parts.append(shown.turns.get("prompt") or shown.turns["assistant"].partition("{content}")[0])
    text = "".join(parts)
    return text.rstrip(" ") if shown.turns is PLAIN else text


def _turns(
    messages: Iterable[Message], section: str, format: AnyFormat, shown: Layout, *, blocks: bool
) -> Iterator[tuple[str, str]]:
    """The turns as (role, text); results of one turn together, the section behind the first system message.

    With `blocks` results come in the role blocks of the family, where it has any, as role `tool`.
    """
    apart = blocks and "tools" in shown.turns
    if section and apart:
        yield "tools", section
        section = ""
    waiting: list[Message] = []
    for index, message in enumerate([*messages, {"role": "end"}]):
        role = _role(message, index)
        if waiting and role != "tool":
            yield (
                ("tool" if blocks and "tool" in shown.turns else "user"),
                render_results(waiting, layout=shown, turns=blocks),
            )
            waiting = []
        if index == 0 and section and role != "system":
            yield "system", section
            section = ""
        if role == "tool":
            waiting.append(message)
        elif role == "system":
            yield role, "\n\n".join(filter(None, (_text(message.get("content")), section)))
            section = ""
        elif role == "user":
            yield role, _text(message.get("content"))
        elif role == "assistant":
            yield role, _assistant(message, format)


_ROLES = {"developer": "system", "function": "tool", "ipython": "tool", "human": "user", "ai": "assistant"}


def _role(message: Message, index: int) -> str:
    if not isinstance(message, Mapping):
        raise ToolglotError(f"expected a message as a mapping, got {type(message).__name__} (messages[{index}])")
    role = message.get("role")
    role = _ROLES.get(role, role) if isinstance(role, str) else role
    if role not in ("system", "user", "assistant", "tool", "end"):
        raise ToolglotError(f"expected role 'system', 'user', 'assistant' or 'tool', got {role!r} (messages[{index}])")
    return role


def _assistant(message: Message, format: AnyFormat) -> str:
    """An assistant's turn as the model would have written it."""
    content = _text(message.get("content"))
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    if not calls and not isinstance(format, Messages) and not isinstance(_known(format), Messages):
        return content
    return render(calls, format=_written(format) if isinstance(format, str) else format, content=content)


def _call(call: Message) -> dict[str, Any]:
    """A call of a chat message, whose arguments are JSON text or data."""
    inner = call.get("function", call)
    arguments = inner.get("arguments", inner.get("args", {}))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            raise ToolglotError(f"call {inner.get('name')!r}: expected its arguments as JSON: {error}") from None
    return {"name": inner.get("name"), "arguments": arguments, "id": call.get("id")}


def _result_fields(result: Message, index: int) -> dict[str, str]:
    if not isinstance(result, Mapping) or "content" not in result:
        raise ToolglotError(f"expected a result as a mapping with content, got {result!r:.80} (results[{index}])")
    content = _text(result["content"])
    ident = result.get("id") or result.get("tool_call_id") or f"call_{index}"
    return {
        "content": content,
        "json": json.dumps(content, ensure_ascii=False),
        "name": str(result.get("name") or ""),
        "id": str(ident),
        "index": str(index),
    }


def _text(content: Any) -> str:
    """A message's content as text: parts that are text are joined, what is no text is written as JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence) and all(isinstance(part, str) or _is_text(part) for part in content):
        return "".join(part if isinstance(part, str) else part["text"] for part in content)
    try:
        return json.dumps(content, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(content)


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def _written(format: str) -> str:
    """The id of the format that is written: any model is asked for tags around JSON."""
    return "hermes" if format == "auto" else get_format(format).id


def _known(format: AnyFormat) -> Format | Messages:
    return get_format(_written(format)) if isinstance(format, str) else format


def _fill(template: str, **fields: str) -> str:
    return template.format_map(fields)
