"""How the command shows a reply to people: coloured segments, tables, and problems with a caret.

The rule: what a model wrote reaches a terminal through `visible` only, so that no reply can steer the terminal.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from toolglot import Call, ParseError, Problem, Result, Segment

# Segment kind -> colour. Text stays plain.
COLOURS = {"text": "", "reasoning": "2", "name": "1;36", "arguments": "32", "markup": "34", "dropped": "31"}
ERROR, WARNING, HEAD, NOTE = "1;31", "33", "1", "2"

WIDTH = 100  # columns, where there is no terminal to ask
SHOWN_PROBLEMS = 50
SHOWN_ROWS = 12  # lines of one call's arguments
TAB = 8

# Control pictures for C0, escapes for what else moves the cursor or turns the writing around.
_HIDDEN = {code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)} | {0x7F: 0x2421}
_ESCAPED = [*range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_VISIBLE: dict[int, int | str] = {**_HIDDEN, **{code: f"\\u{code:04x}" for code in (*_ESCAPED, *range(0xD800, 0xE000))}}


def visible(text: str) -> str:
    """The text with control characters, direction marks and lone surrogates made visible; line ends as `\\n`.

    >>> visible("a\\x1b[31m\\r\\n")
    'a␛[31m\\n'
    """
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def width(text: str) -> int:
    """The columns that a text takes in a terminal.

    >>> width("ab"), width("東京"), width("e\\u0301")
    (2, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def head(text: str, columns: int) -> str:
    """The start of a text that fits."""
    used = 0
    for at, character in enumerate(text):
        used += _columns(character)
        if used > columns:
            return text[:at]
    return text


def tail(text: str, columns: int) -> str:
    """The end of a text that fits."""
    return head(text[::-1], columns)[::-1]


def cut(text: str, columns: int) -> str:
    """The text, or as much as fits before an ellipsis."""
    text = text if len(text) <= 4 * columns else text[: 4 * columns]  # no need to measure a megabyte
    return text if width(text) <= columns else head(text, columns - 1) + "…"


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """The line and column (both from 1, in code points) of a position (from 0)."""
    return text.count("\n", 0, position) + 1, position - (text.rfind("\n", 0, position) + 1) + 1


def snippet(text: str, span: tuple[int, int], columns: int) -> list[str]:
    """The source line of a span and a line of carets under it, cut around the caret to fit.

    Only as much of a long line is looked at as can be shown.

    >>> print("\\n".join(snippet('{"a":\\t1,}', (7, 8), 40)))
      1 | {"a":   1,}
        |          ^
    """
    start = min(span[0], len(text))
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    last = len(text) if last < 0 else last
    stop = max(start, min(span[1], last))
    number = str(line_and_column(text, start)[0])
    room = max(20, columns - len(number) - 5)
    before = _expand(text[max(first, start - room) : start], 0)
    marked = _expand(text[start : min(stop, start + room)], width(before))
    after = _expand(text[stop : min(last, stop + room)].removesuffix("\r"), width(before + marked))

    left = tail(before, max(room // 2, room - width(marked + after)) - 1)
    if left != before or start - first > room:
        left = "…" + left
    right = cut(marked + after, room - width(left))
    carets = max(1, min(width(marked), width(right)))
    gutter = " " * len(number)
    return [f"  {number} | {left}{right}".rstrip(), f"  {gutter} | {' ' * width(left)}{'^' * carets}"]


def _expand(text: str, column: int) -> str:
    """The text as shown from `column` on: tabs to the next stop, control characters visible."""
    parts: list[str] = []
    for at, piece in enumerate(text.split("\t")):
        if at:
            gap = TAB - column % TAB
            parts.append(" " * gap)
            column += gap
        parts.append(visible(piece))
        column += width(parts[-1])
    return "".join(parts)


def wrap(text: str, columns: int) -> list[str]:
    """The text in lines of at most `columns`, the last replaced by a note where there would be too many."""
    lines: list[str] = []
    while len(lines) < SHOWN_ROWS:
        line = head(text, columns)
        lines.append(line)
        text = text[len(line) :]
        if not text:
            return lines
    lines.append(f"… {len(text):,} more; --json has all")
    return lines


class Screen:
    """One output for people: knows whether it may colour, and how wide it is."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.terminal = stream.isatty()
        self.colour = self.terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.columns = max(40, shutil.get_terminal_size((WIDTH, 24)).columns) if self.terminal else WIDTH

    def paint(self, text: str, colour: str) -> str:
        """The text in a colour, where colours are shown; each line by itself, for pagers."""
        if not self.colour or not colour or not text:
            return text
        return "\n".join(f"\x1b[{colour}m{line}\x1b[0m" if line else "" for line in text.split("\n"))

    def line(self, text: str = "") -> None:
        """Write one line. What the stream cannot encode is escaped."""
        encoding = self.stream.encoding or "utf-8"
        self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def show_result(screen: Screen, result: Result) -> None:
    """A whole reply for people: its segments, its calls, its problems."""
    _show_segments(screen, result.segments)
    _show_calls(screen, result)
    if result.incomplete:
        screen.line()
        screen.line(screen.paint(f"Incomplete: {len(result.incomplete)} (cut off, not to be run)", HEAD))
    for cut_call in result.incomplete:
        line, column = line_and_column(result.text, cut_call.span[0])
        name = visible(cut_call.name) if cut_call.name else "(name cut)"
        members = visible(to_json(cut_call.arguments))
        screen.line(cut(f"  {name}  {members}  line {line}, column {column}", screen.columns))
    if result.problems:
        screen.line()
        screen.line(screen.paint(f"Problems: {len(result.problems)}", HEAD))
    for problem in result.problems[:SHOWN_PROBLEMS]:
        show_problem(screen, problem, result.text)
    if len(result.problems) > SHOWN_PROBLEMS:
        screen.line(f"  … {len(result.problems) - SHOWN_PROBLEMS:,} more; --json has all")


def _show_segments(screen: Screen, segments: list[Segment]) -> None:
    """With colours the reply as it is, and a legend; without, each segment behind its kind."""
    if not segments:
        screen.line("(empty reply)")
    elif screen.colour:
        screen.line("".join(screen.paint(visible(s.text), COLOURS[s.kind]) for s in segments).removesuffix("\n"))
        kinds = [kind for kind in COLOURS if any(s.kind == kind for s in segments)]
        screen.line()
        screen.line("Colours: " + ", ".join(screen.paint(kind, COLOURS[kind]) for kind in kinds))
    else:
        for segment in segments:
            kind: str = segment.kind
            for line in _lines(visible(segment.text)):
                screen.line(f"{kind:<9} | {line}".rstrip())
                kind = ""


def _lines(text: str) -> Iterator[str]:
    """The lines of a segment. A closing line break is shown as `⏎`, as it would be an empty line otherwise."""
    lines = text.split("\n")
    if lines[-1] == "" and len(lines) > 1:
        lines.pop()
        lines[-1] += "⏎"
    return iter(lines)


def _show_calls(screen: Screen, result: Result) -> None:
    screen.line()
    if not result.calls:
        screen.line(screen.paint("Calls: none", HEAD))
        return
    screen.line(screen.paint(f"Calls: {len(result.calls)}", HEAD))
    titles = ("name", "arguments", "format", "truncated")
    rows = [
        (visible(c.name), visible(c.arguments_json), c.format, "yes" if c.truncated else "no") for c in result.calls
    ]
    names = min(40, max(width(row[0]) for row in [titles, *rows]))
    formats = max(width(row[2]) for row in [titles, *rows])
    room = max(20, screen.columns - names - formats - len(titles[3]) - 8)
    room = min(room, max(width(row[1][: 2 * room]) for row in [titles, *rows]))
    for at, (name, arguments, format_, truncated) in enumerate([titles, *rows]):
        colour = NOTE if at == 0 else ""
        cells = [wrap(name, names), wrap(arguments.replace("\n", " "), room), [format_], [truncated]]
        for row in _rows(cells, (names, room, formats, 0)):
            screen.line(screen.paint(f"  {row}".rstrip(), colour))


def _rows(cells: list[list[str]], widths: Iterable[int]) -> Iterator[str]:
    """The lines of one row of a table whose cells have several lines."""
    for at in range(max(map(len, cells))):
        parts = [lines[at] if at < len(lines) else "" for lines in cells]
        yield "  ".join(part + " " * (size - width(part)) for part, size in zip(parts, widths, strict=True))


def show_problem(screen: Screen, problem: Problem, text: str) -> None:
    """One problem: what, where, and its source line with a caret."""
    severity = "error" if problem.code.is_error else "warning"
    line, column = line_and_column(text, problem.span[0])
    repaired = " (repaired)" if problem.repaired else ""
    label = screen.paint(f"{severity} {problem.code}", ERROR if severity == "error" else WARNING)
    screen.line(f"  {label} at line {line}, column {column}: {visible(problem.message)}{repaired}")
    _show_snippet(screen, text, problem.span)


def show_refusal(screen: Screen, name: str, error: ParseError, text: str) -> None:
    """Why strict reading refused a reply."""
    label = screen.paint("refused", ERROR)
    screen.line(f"toolglot: {visible(name)}: {label}: {error.code}: {visible(str(error))}")
    if error.position is not None:
        _show_snippet(screen, text, (error.position, error.position))


def _show_snippet(screen: Screen, text: str, span: tuple[int, int]) -> None:
    source, carets = snippet(text, span, screen.columns - 2)
    screen.line(f"  {source}")
    screen.line(f"  {screen.paint(carets, ERROR)}")


def one_line(call: Call) -> str:
    """A call as one line: its name and its arguments."""
    return f"{call.name} {call.arguments_json}"


def to_json(value: Any, encoding: str | None = "utf-8") -> str:
    """The value as one line of JSON, readable where the encoding allows it and escaped where it does not.

    A float past the range of a double becomes null: JSON has no infinity, and `arguments_json` keeps its digits.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        value = _finite(value)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:  # a lone surrogate, or a terminal that is not UTF-8
        return json.dumps(value, allow_nan=False)
    return text


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(member) for member in value]
    return None if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))) else value


def complain(message: str) -> None:
    """One message on stderr, with the program's name."""
    with contextlib.suppress(OSError):  # where stderr is gone too, nobody is left to tell
        Screen(sys.stderr).line(f"toolglot: {visible(message)}")
        sys.stderr.flush()


def warn(message: str) -> None:
    """One warning on stderr."""
    complain(f"warning: {message}")


def write_json(value: Any) -> None:
    """One line of JSON, at once: whoever reads the pipe may be waiting for it."""
    sys.stdout.write(to_json(value, sys.stdout.encoding) + "\n")
    sys.stdout.flush()


def error_to_dict(error: ParseError) -> dict[str, Any]:
    """What strict reading refused. `line` and `column` count inside the reply."""
    return {
        "code": str(error.code),
        "message": error.message,
        "position": error.position,
        "line": error.line,
        "column": error.column,
    }


class Bar:
    """A progress bar on a terminal's stderr; nothing elsewhere.

    `clear` before anything else is written; drawn at most ten times a second.
    """

    def __init__(self, total: int | None) -> None:
        stream = sys.stderr
        self._stream = stream if stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb" else None
        self._total = total
        self._next = 0.0
        self._drawn = False

    def step(self, done: int, replies: int, refused: int) -> None:
        """Draw how far the work is: bytes done, replies read, replies refused or unreadable."""
        if self._stream is None or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 0.1
        counts = f"{replies:,} replies" + (f", {refused:,} not read" if refused else "")
        if self._total:
            share = min(1.0, done / self._total)
            counts = f"[{'#' * int(share * 30):<30}] {share:4.0%}  {counts}"
        columns = shutil.get_terminal_size((80, 24)).columns
        self._stream.write(f"\r\x1b[K{counts[: columns - 1]}")
        self._stream.flush()
        self._drawn = True

    def clear(self) -> None:
        """Take the bar off the line."""
        if self._stream is not None and self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False
