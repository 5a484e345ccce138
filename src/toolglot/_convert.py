"""From one dialect into another: what a reply holds, read and written again, with a list of what was left behind.

The rule: the new text is read back. A call that would not come back as it was is an error; anything else that the
other dialect has no place for is listed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ._errors import ToolglotError
from ._events import Call
from ._format import AnyFormat, Messages
from ._parser import parse
from ._registry import get_format
from ._render import Part, render_parts, schemas_of
from ._result import Result
from ._tools import Tools
from ._tree import dumps, loads

Kind: TypeAlias = Literal["reasoning", "incomplete", "refused", "repaired", "order", "content", "number", "id"]


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of a reply that its conversion does not hold as it was.

    `kind` is `reasoning` (the dialect has no place for it: left out), `incomplete` (a cut call: left out), `refused`
    (a call that does not count: it stays text, in its old dialect), `repaired` (the call is written as it was read),
    `order` (calls and text stand in another order), `content` (the text reads back otherwise), `number` (a number
    has other digits), or `id` (the calls' ids are left out or changed); `message` says it in words.

    >>> Loss("order", "The text behind the calls stands before them").kind
    'order'
    """

    kind: Kind
    message: str

    def to_dict(self) -> dict[str, Any]:
        """The loss as plain data."""
        return {"kind": self.kind, "message": self.message}


@dataclass(frozen=True, slots=True)
class Conversion:
    """A reply in another dialect: its `text`, the `calls` that it holds, and the `losses` on the way.

    >>> Conversion("Hi", (), ()).losses
    ()
    """

    text: str
    calls: tuple[Call, ...]
    losses: tuple[Loss, ...]

    def to_dict(self) -> dict[str, Any]:
        """The conversion as plain data."""
        return {
            "text": self.text,
            "calls": [call.to_dict() for call in self.calls],
            "losses": [loss.to_dict() for loss in self.losses],
        }


def convert(text: str, *, to: str | AnyFormat, tools: object = (), **options: Any) -> Conversion:
    """Rewrite a reply in the dialect `to`: prose, reasoning and calls, in their order where the dialect allows it.

    `options` are those of `parse`: `format` says what the reply is written in (default: found out). Raises
    `ToolglotError` where a call cannot be carried, which names it; `ParseError` under `strict=True`; and whatever
    `parse` raises for options and tools that are not understood.

    >>> convert('One.<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>', to="mistral_v11").text
    'One.[TOOL_CALLS]f[ARGS]{"a": 1}'
    """
    fmt = get_format(to) if isinstance(to, str) else to
    offered = Tools(tools)
    result = parse(text, offered, **options)
    losses = list(_left_behind(result))
    parts = list(_parts(result))
    if result.reasoning and not _thinks(fmt):
        losses.append(Loss("reasoning", f"{fmt.id} has no place for reasoning: {len(result.reasoning)} code points"))
        parts = [part for part in parts if part[0] != "reasoning"]
    elif result.reasoning:
        try:
            render_parts(fmt, [("reasoning", result.reasoning)])
        except ToolglotError as error:
            losses.append(Loss("reasoning", str(error)))
            parts = [part for part in parts if part[0] != "reasoning"]
    for ordered, shape in ((True, parts), (False, _content_first(parts))):
        written = render_parts(fmt, shape)
        back = _read_back(written, fmt, result)
        if _same_calls(back, result) and (not ordered or back.content.split() == result.content.split()):
            break
    else:
        raise ToolglotError(_uncarried(fmt, result, back))
    if not ordered and shape != parts:
        losses.append(Loss("order", "The text beside the calls stands before them"))
    losses += _changed(back, result)
    return Conversion(written, tuple(back.calls), tuple(losses))


def _parts(result: Result) -> Iterator[Part]:
    """The reply's parts in their order; calls that follow one another are one part."""
    starts = {call.span[0]: call for call in result.calls}
    places = sorted(starts)
    group: list[Call] = []
    for segment in result.segments:
        while places and places[0] < segment.span[1]:
            group.append(starts[places.pop(0)])
        if segment.kind not in ("text", "reasoning") or not (segment.text.strip() or not group):
            continue
        if group:
            yield "calls", group
            group = []
        yield ("text", segment.text) if segment.kind == "text" else ("reasoning", segment.text)
    if group:
        yield "calls", group


def _content_first(parts: list[Part]) -> list[Part]:
    """What every dialect can hold: reasoning, text, calls."""
    reasoning = "".join(value for kind, value in parts if kind == "reasoning" and isinstance(value, str))
    text = "".join(value for kind, value in parts if kind == "text" and isinstance(value, str))
    calls = [call for kind, value in parts if kind == "calls" for call in value]
    return [("reasoning", reasoning), ("text", text), ("calls", calls)]  # type: ignore[list-item]


def _thinks(fmt: AnyFormat) -> bool:
    return bool(fmt.thought) if isinstance(fmt, Messages) else bool(fmt.thinking and fmt.thinking[0].open)


def _read_back(written: str, fmt: AnyFormat, result: Result) -> Result:
    """What a reader of the new dialect finds, with the arguments typed as they are."""
    known = schemas_of((call.name, call.arguments) for call in result.calls)
    return parse(written, known, format=fmt, unknown_tools="refuse")


def _same_calls(back: Result, result: Result) -> bool:
    return [_plain(call) for call in back.calls] == [_plain(call) for call in result.calls]


def _plain(call: Call) -> tuple[str, str]:
    return call.name, dumps(call.arguments, sort_keys=True)


def _uncarried(fmt: AnyFormat, result: Result, back: Result) -> str:
    """Which call does not come back."""
    for index, call in enumerate(result.calls):
        if index >= len(back.calls) or _plain(back.calls[index]) != _plain(call):
            return f"call {index} {call.name!r}: format {fmt.id!r} cannot carry it beside this text"
    return f"format {fmt.id!r} cannot carry this text: it reads back as {len(back.calls)} calls"


def _left_behind(result: Result) -> Iterator[Loss]:
    """What reading left out of the calls and the content, or took for something else."""
    for cut in result.incomplete:
        yield Loss("incomplete", f"A cut call is left out: {cut.text[:60]!r}")
    for problem in result.problems:
        place = f"{problem.message} (code points {problem.span[0]} to {problem.span[1]})"
        if problem.repaired:
            yield Loss("repaired", place)
        elif problem.code.is_error and not any(c.span[0] <= problem.span[0] <= c.span[1] for c in result.incomplete):
            yield Loss("refused", place)


_DIGITS = json.JSONDecoder(parse_float=str)


def _changed(back: Result, result: Result) -> Iterator[Loss]:
    """How the new text reads otherwise."""
    if back.content.split() != result.content.split():
        yield Loss("content", f"The text reads back as {back.content.strip()[:60]!r}")
    if back.reasoning.split() != result.reasoning.split() and back.reasoning:
        yield Loss("reasoning", f"The reasoning reads back as {back.reasoning.strip()[:60]!r}")
    for call, again in zip(result.calls, back.calls, strict=True):
        if loads(call.arguments_json, _DIGITS) != loads(again.arguments_json, _DIGITS):
            yield Loss("number", f"A number in the arguments of {call.name!r} has other digits")
    if [c.id for c in result.calls if c.id] and [c.id for c in result.calls] != [c.id for c in back.calls]:
        yield Loss("id", "The ids of the calls are not those of the reply")
