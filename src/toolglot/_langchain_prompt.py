"""What the wrapped model is given: LangChain messages as a model without tools understands them.

The rule: the model sees system, human and AI text only. The tools stand in the system message, earlier calls and
results stand in the text, in the dialect that the model is asked to write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeAlias

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    get_buffer_string,
)
from langchain_core.utils.function_calling import convert_to_openai_tool

from toolglot import Format, Messages, ToolglotError, render
from toolglot.prompting import CallIds, layout_of, render_results, system_prompt

Dialect: TypeAlias = str | Format | Messages
Content: TypeAlias = str | list[str | dict[str, Any]]

MERGED = (SystemMessage, HumanMessage, AIMessage)
RESULTS = (ToolMessage, FunctionMessage)
MEDIA = frozenset({"image", "image_url", "audio", "input_audio", "video", "file"})
CUT = "not a call: "
"""Stands before a refused block that begins as a JSON object does; see `sealed`."""


class Choice(NamedTuple):
    """What `tool_choice` asks for: calls as the model likes, at least one, or none; and of which tool, if it says."""

    mode: Literal["auto", "required", "none"] = "auto"
    name: str | None = None


WORDS: Mapping[Any, Choice] = {
    None: Choice(),
    False: Choice(),
    True: Choice("required"),
    "auto": Choice(),
    "any": Choice("required"),
    "required": Choice("required"),
    "none": Choice("none"),
}


def choice_of(tool_choice: Any, names: Sequence[str]) -> Choice:
    """The meaning of LangChain's `tool_choice`: a word, a bool, a name, or a dict of OpenAI's or Anthropic's.

    Raises `ValueError` for a name that is not among `names`, and for anything else.
    """
    name = tool_choice
    if isinstance(tool_choice, Mapping):
        inner = tool_choice.get("function", tool_choice)
        name = inner.get("name") if isinstance(inner, Mapping) else None
        if name is None:
            name = tool_choice.get("type", "")
        elif name in names:
            return Choice("required", name)
    if name is None or isinstance(name, bool | str):
        if name in WORDS:
            return WORDS[name]
        if name in names:
            return Choice("required", str(name))
    raise ValueError(
        f"tool_choice: expected auto, any, required, none, a bool, or one of {', '.join(names) or 'no tools'}; "
        f"got {tool_choice!r}"
    )


def definitions(tools: Iterable[Any]) -> list[dict[str, Any]]:
    """Tools of every kind that LangChain takes, as OpenAI definitions; one that is there twice counts once.

    Raises `ValueError` for what only a provider's own server can run, and for two tools of one name.
    """
    found: dict[str, dict[str, Any]] = {}
    for tool in tools:
        made = convert_to_openai_tool(tool)
        name = made.get("function", {}).get("name")
        if not isinstance(name, str):
            raise ValueError(f"tools: expected a tool with a name and a schema, got {tool!r:.80}")
        if _keys(found.setdefault(name, made)) != _keys(made):
            raise ValueError(f"tools: expected each name once, got two tools {name!r}")
    return list(found.values())


def _keys(tool: Mapping[str, Any]) -> set[str]:
    """The arguments' names: two definitions of one tool may differ in titles."""
    return set((tool["function"].get("parameters") or {}).get("properties") or {})


def given(
    messages: Sequence[BaseMessage], tools: Sequence[Mapping[str, Any]], dialect: Dialect, demand: str = ""
) -> list[BaseMessage]:
    """The messages for a model without tools: no tool roles, no two of one role in a row."""
    names = {call["id"]: call["name"] for m in messages if isinstance(m, AIMessage) for call in m.tool_calls}
    plain: list[BaseMessage] = []
    ids = CallIds(dialect)
    for are_results, group in groupby(messages, lambda message: isinstance(message, RESULTS)):
        if are_results:
            plain.append(_results(list(group), names, dialect, ids))
        else:
            plain += [_turn(message, dialect, ids) for message in group]
    merged = _merged(plain)
    if not tools:
        return merged
    told = merged.pop(0) if merged and isinstance(merged[0], SystemMessage) else SystemMessage("")
    section = system_prompt(list(tools), format=dialect)
    return [told.model_copy(update={"content": _with_section(told.content, section, dialect, demand)}), *merged]


def _with_section(told: Content, section: str, dialect: Dialect, demand: str) -> Content:
    """The system's turn, in the order and with the joint of the family; a demand stands behind all of it."""
    layout = layout_of(dialect)
    first, second = (section, told) if layout.tools_first else (told, section)
    content = _joined(first, second, layout.system_joint)
    return _joined(content, demand, "\n\n" if layout.tools_first and told else "\n")


def _turn(message: BaseMessage, dialect: Dialect, ids: CallIds) -> BaseMessage:
    """A turn without tool calls of its own; text alone becomes a string."""
    if not isinstance(message, AIMessage):
        return message.model_copy(update={"content": _simple(message.content)})
    text = str(message.text)
    lost = [(call["args"] or "").removeprefix(CUT) for call in message.invalid_tool_calls]
    calls = ids.calls([{"name": c["name"], "arguments": c["args"], "id": c["id"]} for c in message.tool_calls])
    shown = _rendered(calls, dialect, text) if calls else text
    return AIMessage("\n".join([shown, *(raw for raw in lost if raw not in text)]), name=message.name)


def _rendered(calls: list[Mapping[str, Any]], dialect: Dialect, text: str) -> str:
    """The calls in the dialect, or in the neutral one where the dialect cannot carry them."""
    try:
        return render(calls, format="hermes" if dialect == "auto" else dialect, content=text)
    except ToolglotError:
        return render(calls, format="hermes", content=text)


def _results(
    messages: Sequence[BaseMessage], names: Mapping[str | None, str], dialect: Dialect, ids: CallIds
) -> HumanMessage:
    """The results of one step as one message; what is no text (an image) comes behind it as it is."""
    told: list[dict[str, Any]] = []
    rest: list[str | dict[str, Any]] = []
    for message in messages:
        ident = message.tool_call_id if isinstance(message, ToolMessage) else None
        is_error = isinstance(message, ToolMessage) and message.status == "error"
        name = message.name or names.get(ident) or "unknown"
        told.append({"name": name, "content": _told(message.content), "id": ident, "is_error": is_error})
        rest += [block for block in _blocks(message.content) if _is_media(block)]
    text = render_results(ids.results(told), format=dialect, turns=False)
    return HumanMessage([{"type": "text", "text": text}, *rest] if rest else text)


def _told(content: Content) -> str:
    """A result's content as text; a block that is neither text nor media is told as JSON."""
    if isinstance(content, str):
        return content
    parts = [block for block in content if not _is_media(block)]
    return "\n".join(str(_simple([part])) if _is_text(part) else _dumped(part) for part in parts)


def _dumped(block: Any) -> str:
    return json.dumps(block, ensure_ascii=False, default=str)


def _is_media(block: str | Mapping[str, Any]) -> bool:
    return not isinstance(block, str) and block.get("type") in MEDIA


def _is_text(block: str | Mapping[str, Any]) -> bool:
    return isinstance(block, str) or block.get("type") == "text"


def _blocks(content: str | Sequence[str | dict[str, Any]]) -> list[str | dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)


def _simple(content: Content) -> Content:
    """A list of text blocks as a string, since small models take nothing else; other blocks stay in their list."""
    if isinstance(content, str) or not all(map(_is_text, content)):
        return content
    return "".join(block if isinstance(block, str) else str(block.get("text", "")) for block in content)


def _merged(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """Turns of one speaker in a row as one turn: many chat templates refuse two."""
    merged: list[BaseMessage] = []
    for message in messages:
        last = merged[-1] if merged else None
        if isinstance(message, MERGED) and last is not None and _speaker(last) == _speaker(message):
            merged[-1] = last.model_copy(update={"content": _joined(last.content, message.content)})
        else:
            merged.append(message)
    return merged


def _speaker(message: BaseMessage) -> tuple[type[BaseMessage], str | None]:
    return type(message), message.name


def _joined(first: Content, second: Content, joint: str = "\n\n") -> Content:
    if isinstance(first, str) and isinstance(second, str):
        return joint.join(filter(None, [first, second]))
    return [*_blocks(first), *_blocks(second)]


def prompt_text(messages: Sequence[BaseMessage]) -> str:
    """The messages as one text for a completion model, in LangChain's own plain form, with the AI's turn opened."""
    return f"{get_buffer_string(messages)}\nAI:"


def refuse_media(messages: Sequence[BaseMessage]) -> None:
    """A completion model takes text alone."""
    for message in messages:
        for block in _blocks(message.content):
            if not _is_text(block):
                raise ValueError(f"expected text for a completion model, got {_dumped(block):.80}")
