"""`toolglot stream`: the events of one reply as they happen, for people, as JSON, or as chat-completion chunks.

The rule: every line is written and flushed before the next piece is read.
"""

from __future__ import annotations

import argparse
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from toolglot import (
    ArgumentsDelta,
    CallAbort,
    CallBegin,
    CallEnd,
    Event,
    ParseError,
    Parser,
    Problem,
    Reasoning,
    Text,
)

from ._cli_read import check_readable, name_of, read_pieces
from ._cli_show import (
    COLOURS,
    ERROR,
    HEAD,
    WARNING,
    Screen,
    error_to_dict,
    one_line,
    show_refusal,
    to_json,
    visible,
    warn,
    write_json,
)

# Event class -> the word that a line begins with.
WORDS: dict[type, str] = {
    Text: "text",
    Reasoning: "reasoning",
    CallBegin: "call_begin",
    ArgumentsDelta: "arguments_delta",
    CallEnd: "call_end",
    CallAbort: "call_abort",
    Problem: "problem",
}


def event_to_dict(event: Event) -> dict[str, Any]:
    """An event as plain data: its kind under `type`, then its own fields.

    >>> event_to_dict(Text("Hi", (0, 2)))
    {'type': 'text', 'text': 'Hi', 'span': [0, 2]}
    """
    data: dict[str, Any] = {"type": WORDS[type(event)]}
    if isinstance(event, (Text, Reasoning)):
        data["text"] = event.text
    elif isinstance(event, CallBegin):
        data |= {"index": event.index, "name": event.name, "id": event.id}
    elif isinstance(event, ArgumentsDelta):
        data |= {"index": event.index, "text": event.text}
    elif isinstance(event, CallEnd):
        data |= {"index": event.index, "call": event.call.to_dict()}
    elif isinstance(event, CallAbort):
        data |= {"index": event.index, "code": str(event.code), "message": event.message}
    else:
        data |= event.to_dict()
        data["incomplete"] = event.incomplete.to_dict() if event.incomplete else None
    return data | {"span": list(event.span)}


def event_line(screen: Screen, event: Event) -> str:
    """An event as one line for people: its kind, its span, and what it says."""
    word = WORDS[type(event)]
    colour = ""
    if isinstance(event, (Text, Reasoning)):
        colour = COLOURS[word]
        said = to_json(event.text)
    elif isinstance(event, CallBegin):
        colour = COLOURS["name"]
        said = f"#{event.index} {event.name}" + (f" (id {event.id})" if event.id else "")
    elif isinstance(event, ArgumentsDelta):
        colour = COLOURS["arguments"]
        said = f"#{event.index} {to_json(event.text)}"
    elif isinstance(event, CallEnd):
        colour = HEAD
        said = f"#{event.index} {one_line(event.call)}" + (" (truncated)" if event.call.truncated else "")
    elif isinstance(event, CallAbort):
        colour = ERROR
        said = f"#{event.index} {event.code}: {event.message}"
    else:
        colour = ERROR if event.code.is_error else WARNING
        said = f"{event.code}: {event.message}" + (" (repaired)" if event.repaired else "")
    span = f"{event.span[0]}-{event.span[1]}"
    said = visible(said).replace("\n", "⏎").replace("\t", "␉")
    return f"{word:<15}  {span:>11}  {screen.paint(said, colour)}"


class Chunks:
    """Events to chat-completion chunks, in the order that every client assembles.

    A call is sent when it is whole, so that a cut call is never begun on the wire: first its name, id and empty
    arguments, then the arguments. Blanks around the content and around the reasoning are not sent, as in
    `Result.to_openai`.
    """

    def __init__(self, model: str) -> None:
        self._frame = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        self._calls = 0
        self._blanks: dict[str, list[str]] = {}  # member -> blanks held, from its first text on

    def begin(self) -> dict[str, Any]:
        """The first chunk, which gives the role."""
        return self._chunk({"role": "assistant", "content": None})

    def of(self, event: Event) -> Iterator[dict[str, Any]]:
        """The chunks of one event: none, one, or two for a call."""
        if isinstance(event, Text):
            yield from self._prose("content", event.text)
        elif isinstance(event, Reasoning):
            yield from self._prose("reasoning_content", event.text)
        elif isinstance(event, CallEnd):
            call = event.call.to_openai()
            arguments = call["function"]["arguments"]
            call["function"] = {"name": call["function"]["name"], "arguments": ""}
            yield self._call(call)
            yield self._call({"function": {"arguments": arguments}})
            self._calls += 1

    def end(self) -> dict[str, Any]:
        """The last chunk, which gives the reason."""
        return self._chunk({}, "tool_calls" if self._calls else "stop")

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        return self._chunk({"tool_calls": [{"index": self._calls, **call}]})

    def _prose(self, key: str, text: str) -> Iterator[dict[str, Any]]:
        """Blanks wait until more text follows them; those before the first text are never sent."""
        held = self._blanks.setdefault(key, [])
        if not held:
            text = text.lstrip()
        body = text.rstrip()
        if body:
            yield self._chunk({key: "".join(held) + body})
            held[:] = [text[len(body) :]]
        elif held:
            held.append(text)

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        return {**self._frame, "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def run(arguments: argparse.Namespace, tools: list[Any], options: dict[str, Any]) -> int:
    """Show the events of one reply as they happen; 1 if strict reading refused it."""
    check_readable([arguments.file])
    parser = Parser(tools, arguments="whole" if arguments.openai else "live", **options)
    pieces = read_pieces(arguments.file, warn, arguments.chunk)
    if arguments.openai:
        return _stream_chunks(parser, pieces, arguments)
    screen = Screen(sys.stdout)

    def say(event: Event) -> None:
        if arguments.json:
            write_json(event_to_dict(event))
        else:
            screen.line(event_line(screen, event))
            screen.stream.flush()

    try:
        _read(parser, pieces, say)
    except ParseError as error:
        if arguments.json:
            write_json({"type": "error", **error_to_dict(error)})
        return _refuse(parser, arguments.file, error)
    return 0


def _stream_chunks(parser: Parser, pieces: Any, arguments: argparse.Namespace) -> int:
    chunks = Chunks(arguments.model)

    def send(data: Any) -> None:
        text = data if isinstance(data, str) else to_json(data, sys.stdout.encoding)
        sys.stdout.write(f"data: {text}\n\n")
        sys.stdout.flush()

    def say(event: Event) -> None:
        for chunk in chunks.of(event):
            send(chunk)
        if isinstance(event, Problem):
            warn(f"{event.code}: {event.message}")

    send(chunks.begin())
    try:
        _read(parser, pieces, say)
    except ParseError as error:
        send({"error": {"message": str(error), "code": str(error.code)}})
        return _refuse(parser, arguments.file, error)
    send(chunks.end())
    send("[DONE]")
    return 0


def _refuse(parser: Parser, path: str, error: ParseError) -> int:
    sys.stdout.flush()
    show_refusal(Screen(sys.stderr), name_of(path), error, parser.result.text)
    return 1


def _read(parser: Parser, pieces: Iterator[str], say: Callable[[Event], None]) -> None:
    """Read the pieces and say each event at once. `ParseError` passes through."""
    for piece in pieces:
        for event in parser.feed(piece):
            say(event)
    for event in parser.finish():
        say(event)
