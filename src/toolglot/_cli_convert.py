"""`toolglot convert` and `toolglot render`: replies from one dialect into another, and messages into text.

The rule: what a dialect cannot carry is told, by line, and makes the command end with 1; the record is then given back
as it came, so that nothing is lost.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, TypeAlias

from toolglot import Format, Loss, Messages, ToolglotError, convert, render

from ._cli_lines import Lines
from ._cli_read import (
    BadRecord,
    UsageError,
    check_readable,
    clause,
    content_of,
    kind_of,
    load_json,
    members,
    name_of,
    no_reply,
    read_object,
    read_text,
    reason,
    tools_of,
)
from ._cli_show import complain, to_json, warn, write_json

Json: TypeAlias = dict[str, Any]
AnyFormat: TypeAlias = Format | Messages
Changed: TypeAlias = tuple[str, tuple[str, ...]]
"""A new text, and the members of the message that it holds now."""

IN_TEXT = ("tool_calls", "reasoning_content", "reasoning")


def run_convert(arguments: argparse.Namespace, to: AnyFormat, tools: list[Any], options: Json) -> int:
    """Whole replies, or with `--jsonl` records; 1 if something could not be carried."""
    check_readable(arguments.files)
    with _report(arguments.report) as tell:
        if arguments.jsonl:
            lines = _Conversions(arguments.files, to, tools, options, tell)
            return _end(lines, lines.losses)
        failed = False
        for path in arguments.files:
            failed = _convert_file(path, arguments, to, tools, options, tell) or failed
    return 1 if failed else 0


def _convert_file(
    path: str, arguments: argparse.Namespace, to: AnyFormat, tools: Any, options: Json, tell: Any
) -> bool:
    """One reply; true if it could not be carried."""
    text = read_text(path, warn)
    try:
        made = convert(text, to=to, tools=tools, **options)
    except ToolglotError as error:
        complain(f"{clause(error)} ({name_of(path)}).")
        tell({"file": path}, "call", str(error))
        return True
    for loss in made.losses:
        warn(f"{loss.kind}: {loss.message} ({name_of(path)})")
        tell({"file": path}, loss.kind, loss.message)
    if arguments.json:
        write_json({**({"file": path} if len(arguments.files) > 1 else {}), **made.to_dict()})
    else:
        sys.stdout.write(made.text if made.text.endswith("\n") else made.text + "\n")
    return False


class _Conversions(Lines):
    """Rewrites each record: its `text` or `content`, or each assistant's message under `messages`."""

    def __init__(
        self, paths: list[str], to: AnyFormat, tools: list[Any], options: Json, tell: Callable[..., None]
    ) -> None:
        super().__init__(paths)
        self._to = to
        self._tools = tools
        self._options = options
        self._tell = tell
        self.losses: Counter[str] = Counter()

    def one(self, line: str, where: Json) -> Json:
        """The record with its replies rewritten, all other members as they are."""
        data = read_object(line)
        tools = tools_of(data)
        tools = self._tools if tools is None else tools

        def change(text: str, message: Json) -> Changed:
            if message.get("tool_calls"):  # the calls stand beside the text already
                return _rendered({**message, "content": text}, self._to), IN_TEXT
            made = convert(text, to=self._to, tools=tools, **self._options)
            self._lose(where, made.losses)
            return made.text, ()

        try:
            return _changed(data, change)
        except BadRecord:
            raise
        except (ToolglotError, TypeError, ValueError) as error:
            self.refused += 1
            self.losses["call"] += 1
            self._tell(where, "call", str(error))
            return {"error": {"message": clause(error), **where}, "record": data}

    def _lose(self, where: Json, losses: tuple[Loss, ...]) -> None:
        for loss in losses:
            self.losses[loss.kind] += 1
            self._tell(where, loss.kind, loss.message)


def run_render(arguments: argparse.Namespace, to: AnyFormat) -> int:
    """Calls or messages as text; 1 if something could not be carried."""
    check_readable(arguments.files)
    if arguments.jsonl:
        return _end(_Renderings(arguments.files, to), Counter())
    failed = False
    for path in arguments.files:
        try:
            data = load_json(read_text(path, warn))
            text = _rendered(data, to)
        except BadRecord as error:
            raise UsageError(f"{error} ({name_of(path)}).") from None
        except ValueError as error:
            raise UsageError(f"Expected calls or a message as JSON, got no JSON: {error} ({name_of(path)}).") from None
        except ToolglotError as error:
            complain(f"{clause(error)} ({name_of(path)}).")
            failed = True
            continue
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
    return 1 if failed else 0


class _Renderings(Lines):
    """Writes the calls of each record."""

    def __init__(self, paths: list[str], to: AnyFormat) -> None:
        super().__init__(paths)
        self._to = to

    def one(self, line: str, where: Json) -> Json:
        """The record's id and text, or the whole record with its messages as text."""
        data = read_object(line)
        to = self._to
        try:
            if "messages" in data:
                return _changed(data, lambda text, message: (_rendered({**message, "content": text}, to), IN_TEXT))
            kept = {"id": data["id"]} if "id" in data else {}
            return {**kept, "text": _rendered(data, to)}
        except BadRecord:
            raise
        except ToolglotError as error:
            self.refused += 1
            return {"error": {"message": clause(error), **where}, "record": data}


def _rendered(data: Any, to: AnyFormat) -> str:
    """A call, a list of calls, or an assistant's message (`content`, `reasoning_content`, `tool_calls`)."""
    if isinstance(data, list):
        return render(data, format=to)
    if not isinstance(data, dict):
        raise BadRecord(f"Expected a call, a list of calls or a message, got {kind_of(data)}")
    is_message = bool({"role", "content", "tool_calls", "calls"} & data.keys())  # which may have a name too
    if not is_message and ("name" in data or "function" in data):
        return render([data], format=to)
    if not {"content", "tool_calls", "calls"} & data.keys():
        raise BadRecord(f'Expected a member "name", "content", "tool_calls" or "calls", got {members(data)}')
    content = data.get("content")
    thought = data.get("reasoning_content") or data.get("reasoning")
    return render(
        _calls(data.get("tool_calls") or data.get("calls") or []),
        format=to,
        content=content_of(content, "content") if content else "",
        reasoning=thought if isinstance(thought, str) else "",
    )


def _calls(calls: Any) -> list[Any]:
    if not isinstance(calls, list):
        raise BadRecord(f'Expected a list under "tool_calls", got {kind_of(calls)}')
    return calls


def _changed(data: Json, change: Callable[[str, Json], Changed]) -> Json:
    """A record with each reply of it changed; the calls are then in the text."""
    if data.get("text") is not None:
        return {**data, "text": change(content_of(data["text"], "text"), {})[0]}
    if "messages" in data:
        return {**data, "messages": [_message(m, at, change) for at, m in enumerate(_list(data["messages"]))]}
    if data.get("content") is not None or data.get("tool_calls"):
        return _message({"role": "assistant", **data}, 0, change) | {"role": data.get("role", "assistant")}
    raise no_reply(data)


def _message(message: Any, at: int, change: Callable[[str, Json], Changed]) -> Json:
    if not isinstance(message, dict):
        raise BadRecord(f"Expected a message as an object, got {kind_of(message)} (messages[{at}])")
    if message.get("role") != "assistant":
        return message
    content = message.get("content")
    text = content_of(content, f"messages[{at}].content") if content else ""
    changed, gone = change(text, message)
    return {key: value for key, value in message.items() if key not in gone} | {"content": changed}


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadRecord(f'Expected a list under "messages", got {kind_of(value)}')
    return value


def _end(lines: Lines, losses: Counter[str]) -> int:
    lines.run()
    if lines.refused:
        complain(
            f"{lines.refused:,} of {lines.records:,} records could not be carried; they stand beside their errors."
        )
    told = ", ".join(f"{number:,} {kind}" for kind, number in losses.most_common() if kind != "call")
    if told:
        warn(f"not carried as it was: {told}")
    return 1 if lines.bad or lines.refused else 0


@contextmanager
def _report(path: str | None) -> Iterator[Callable[[Json, str, str], None]]:
    """Writes each loss as one JSON line."""
    if path is None:
        yield lambda where, kind, message: None
        return
    try:
        stream: IO[str] = open(path, "w", encoding="utf-8")  # noqa: SIM115 - closed below
    except OSError as error:
        raise UsageError(f"Expected a file to write at {path!r}, got: {reason(error)}.") from None
    with stream:
        yield lambda where, kind, message: print(to_json({**where, "kind": kind, "message": message}), file=stream)
