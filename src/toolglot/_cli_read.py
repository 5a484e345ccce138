"""What the command reads: replies, records and tools files. Every failure here is a `UsageError` or a `BadRecord`.

The rule: bytes become text in one place, `Utf8`, which replaces what is not UTF-8 and says so on stderr.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from toolglot import ToolglotError

PIECE = 65_536  # bytes asked for at once


class UsageError(ToolglotError):
    """The command was called wrongly; exit code 2."""


class BadRecord(ToolglotError):
    """A line of a JSONL input that holds no reply; `column` counts from 1, or is None."""

    def __init__(self, message: str, column: int | None = None) -> None:
        self.column = column
        super().__init__(message)


@dataclass(slots=True)
class Record:
    """One reply of a JSONL input, its own tools if it has any, and the members to give back with it."""

    text: str
    tools: Any
    kept: dict[str, Any]


class Utf8:
    """Bytes to text, piece by piece: what is not UTF-8 becomes U+FFFD, with one warning an input.

    A second, strict decoder runs beside the forgiving one until it fails, for the place of the first bad byte.
    """

    def __init__(self, name: str, warn: Any) -> None:
        self._name = name
        self._warn = warn
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._watch: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder("utf-8")("strict")
        self._done = 0

    def decode(self, data: bytes, final: bool = False) -> str:
        """The text that `data` completes."""
        if self._watch is not None:
            self._look(data, final)
        self._done += len(data)
        return self._decoder.decode(data, final)

    def _look(self, data: bytes, final: bool) -> None:
        assert self._watch is not None
        held = len(self._watch.getstate()[0])
        try:
            self._watch.decode(data, final)
        except UnicodeDecodeError as error:
            at = self._done - held + error.start
            byte = error.object[error.start]
            self._warn(f"{self._name}: expected UTF-8, got byte 0x{byte:02x} (byte {at + 1}); read as U+FFFD")
            self._watch = None


def name_of(path: str) -> str:
    """How messages call an input."""
    return "standard input" if path == "-" else path


def check_readable(paths: list[str]) -> None:
    """Refuse a missing file before anything is written.

    Nothing is opened here: opening a pipe such as `/dev/fd/63` twice would lose what it holds.
    """
    for path in paths:
        if path == "-":
            continue
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            raise UsageError(f"Expected a file at {path!r}, got: {reason(error)}.") from None
        if stat.S_ISDIR(mode):
            raise UsageError(f"Expected a file at {path!r}, got a directory.")
        if not os.access(path, os.R_OK):
            raise UsageError(f"Expected a readable file at {path!r}, got: permission denied.")


def reason(error: OSError | ValueError) -> str:
    """The system's own words for what went wrong."""
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).lower()


@contextlib.contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, or of standard input for `-`."""
    if path == "-":
        if sys.stdin is None:
            raise UsageError("Expected a reply on standard input, got a closed one.")
        yield sys.stdin.buffer
        return
    try:
        stream = open(path, "rb")  # noqa: SIM115 - closed below; only the opening may be a usage error
    except OSError as error:
        raise UsageError(f"Expected a readable file at {path!r}, got: {reason(error)}.") from None
    with stream:
        yield stream


def read_text(path: str, warn: Any) -> str:
    """A whole reply, line ends as they are."""
    with opened(path) as stream:
        return Utf8(name_of(path), warn).decode(stream.read(), final=True)


def read_pieces(path: str, warn: Any, chunk: int | None) -> Iterator[str]:
    """A reply as it comes: one piece for what one read of the system gives, or pieces of `chunk` characters."""
    utf8 = Utf8(name_of(path), warn)
    held = ""
    with opened(path) as stream:
        # `read1` asks the system once: it returns what a slow pipe has, and does not wait for more.
        read = getattr(stream, "read1", stream.read)
        while data := read(PIECE):
            held += utf8.decode(data)
            if chunk is None:
                if held:
                    yield held
                held = ""
                continue
            whole = len(held) - len(held) % chunk
            for at in range(0, whole, chunk):
                yield held[at : at + chunk]
            held = held[whole:]
    held += utf8.decode(b"", final=True)
    for at in range(0, len(held), chunk or len(held) or 1):
        yield held[at : at + (chunk or len(held))]


def size_of(paths: list[str]) -> int | None:
    """The bytes of all inputs together, or None where a pipe does not tell."""
    total = 0
    for path in paths:
        try:
            info = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
        except (OSError, ValueError, AttributeError):  # a standard input that is no file at all
            return None
        if not stat.S_ISREG(info.st_mode):
            return None
        total += info.st_size
    return total


def load_json(text: str) -> Any:
    """A JSON document; `ValueError` for text that is none, or that is nested deeper than Python reads."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_tools(path: str, warn: Any) -> list[Any]:
    """The tools of a tools file: a list, one definition, or an object with `tools` (as MCP lists them)."""
    check_readable([path])
    text = read_text(path, warn)
    try:
        data = load_json(text)
    except json.JSONDecodeError as error:
        where = f"{path}, line {error.lineno}, column {error.colno}"
        raise UsageError(f"Expected a JSON list of tools, got no JSON: {lowered(error.msg)} ({where}).") from None
    except ValueError as error:
        raise UsageError(f"Expected a JSON list of tools, got no JSON: {error} ({path}).") from None
    if isinstance(data, dict):
        data = data["tools"] if "tools" in data and "name" not in data else [data]
    if not isinstance(data, list):
        raise UsageError(f"Expected a JSON list of tools, got {kind_of(data)} ({path}).")
    return data


def read_record(line: str) -> Record:
    """One line of a JSONL input: `text`, or a chat message's `content`, or `messages`; `BadRecord` for others."""
    data = read_object(line)
    kept = {"id": data["id"]} if "id" in data else {}
    return Record(_reply_of(data), tools_of(data), kept)


def read_object(line: str) -> dict[str, Any]:
    """One line of a JSONL input; `BadRecord` for what is no JSON object."""
    try:
        data = load_json(line)
    except json.JSONDecodeError as error:
        raise BadRecord(f"Expected a JSON object, got no JSON: {lowered(error.msg)}", error.colno) from None
    except ValueError as error:
        raise BadRecord(f"Expected a JSON object, got no JSON: {error}") from None
    if not isinstance(data, dict):
        raise BadRecord(f"Expected a JSON object, got {kind_of(data)}", 1)
    return data


def _reply_of(data: dict[str, Any]) -> str:
    if data.get("text") is not None:
        return _string(data["text"], "text")
    if data.get("content") is not None:
        return content_of(data["content"], "content")
    if "messages" not in data:
        raise no_reply(data)
    messages = data["messages"]
    if not isinstance(messages, list):
        raise BadRecord(f'Expected a list under "messages", got {kind_of(messages)}')
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if isinstance(message, dict) and message.get("role") == "assistant":
            if message.get("content") is None and message.get("tool_calls"):
                return ""  # its calls stand beside the text
            return content_of(message.get("content"), f"messages[{at}].content")
    raise BadRecord('Expected a message of the role "assistant" under "messages", got none')


def no_reply(data: dict[str, Any]) -> BadRecord:
    """A record without a reply."""
    empty = next((key for key in ("text", "content") if key in data), None)
    got = f'null under "{empty}"' if empty else members(data)
    return BadRecord(f'Expected a member "text", "content" or "messages", got {got}')


def content_of(value: Any, where: str) -> str:
    """A message's content: a string, or the text parts of a list."""
    if not isinstance(value, list):
        return _string(value, where)
    parts = [part for part in value if isinstance(part, dict) and part.get("type") in ("text", "output_text")]
    if not parts:
        raise BadRecord(f'Expected a part of the type "text" under "{where}", got none')
    return "".join(_string(part.get("text"), f"{where}[].text") for part in parts)


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise BadRecord(f'Expected a string under "{where}", got {kind_of(value)}')
    return value


def tools_of(data: dict[str, Any]) -> Any:
    """The record's own tools, or None. Data sets often keep them as JSON text in a string."""
    tools = data.get("tools")
    if isinstance(tools, str):
        try:
            tools = load_json(tools)
        except ValueError as error:
            raise BadRecord(f'Expected a list of tools under "tools", got no JSON: {error}') from None
    if tools is not None and not isinstance(tools, list):
        raise BadRecord(f'Expected a list of tools under "tools", got {kind_of(tools)}')
    return tools


def members(data: dict[str, Any]) -> str:
    """The members of an object, for a message: the first eight names, each cut at 40 characters."""
    names = [json.dumps(name[:40], ensure_ascii=False) for name in list(data)[:8]]
    return f"only {', '.join(names)}" if names else "an empty object"


def lowered(message: str) -> str:
    """A message of the standard library, for the middle of a sentence."""
    return message[:1].lower() + message[1:]


def clause(error: Exception) -> str:
    """What an error says, for a sentence that goes on."""
    return str(error).removesuffix(".")


def kind_of(value: Any) -> str:
    """What JSON calls a value."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
