"""`toolglot parse`: whole replies for people or as JSON, and records of a JSONL input one after another.

The rule: every input gives its output, in order: a result, or an error that says what and where.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from toolglot import ParseError, Result, ToolglotError, parse

from ._cli_read import BadRecord, Record, Utf8, check_readable, clause, name_of, opened, read_record, read_text, size_of
from ._cli_show import HEAD, Bar, Screen, complain, error_to_dict, show_refusal, show_result, visible, warn, write_json


def run(arguments: argparse.Namespace, tools: list[Any], options: dict[str, Any]) -> int:
    """Read whole replies; 1 if strict reading refused one."""
    paths: list[str] = arguments.files
    check_readable(paths)
    if arguments.jsonl:
        return _read_lines(paths, tools, options)
    refused = 0
    for at, path in enumerate(paths):
        text = read_text(path, warn)
        head = {"file": path} if len(paths) > 1 else {}
        try:
            result = parse(text, tools, **options)
        except ParseError as error:
            refused += 1
            sys.stdout.flush()
            if arguments.json:
                write_json({**head, "error": error_to_dict(error)})
            show_refusal(Screen(sys.stderr), name_of(path), error, text)
            continue
        if arguments.json:
            write_json({**head, **result.to_dict()})
        else:
            _show(result, path if head else None, first=at == 0)
    return 1 if refused else 0


def _show(result: Result, title: str | None, first: bool) -> None:
    screen = Screen(sys.stdout)
    if not first:
        screen.line()
    if title is not None:
        screen.line(screen.paint(f"=== {visible(title)}", HEAD))
    show_result(screen, result)


class _Lines:
    """Reads records and writes results, one line after another: nothing of a line is kept after it."""

    def __init__(self, tools: list[Any], options: dict[str, Any], bar: Bar) -> None:
        self._tools = tools
        self._options = options
        self._bar = bar
        self._done = 0
        self.replies = 0
        self.bad = 0
        self.refused = 0

    def read(self, path: str, head: dict[str, Any]) -> None:
        """Every record of one input."""
        utf8 = Utf8(name_of(path), self._warn)
        with opened(path) as stream:
            for number, data in enumerate(stream, 1):
                line = utf8.decode(data, final=not data.endswith(b"\n"))
                self._done += len(data)
                if line.strip():  # a blank line, as at the end of many files, is no record
                    self._one(line, path, number, head)

    def _one(self, line: str, path: str, number: int, head: dict[str, Any]) -> None:
        self.replies += 1
        try:
            record = read_record(line)
            output = {**head, **record.kept, **self._parse(record)}
        except BadRecord as error:
            self.bad += 1
            self._bar.clear()
            column = f", column {error.column}" if error.column else ""
            complain(f"{error} ({name_of(path)}, line {number}{column}).")
            where = {"file": path, "line": number, "column": error.column}
            output = {**head, "error": {"message": str(error), **where}, "record": line.rstrip("\r\n")}
        if sys.stdout.isatty():
            self._bar.clear()
        write_json(output)
        self._bar.step(self._done, self.replies, self.bad + self.refused)

    def _parse(self, record: Record) -> dict[str, Any]:
        tools = self._tools if record.tools is None else record.tools
        try:
            return parse(record.text, tools, **self._options).to_dict()
        except ParseError as error:
            self.refused += 1
            return {"error": error_to_dict(error), "text": record.text}
        except (ToolglotError, TypeError, ValueError) as error:
            if record.tools is None:
                raise
            raise BadRecord(f'Expected a list of tools under "tools", got: {clause(error)}') from None

    def _warn(self, message: str) -> None:
        self._bar.clear()
        warn(message)


def _read_lines(paths: list[str], tools: list[Any], options: dict[str, Any]) -> int:
    bar = Bar(size_of(paths))
    lines = _Lines(tools, options, bar)
    try:
        for path in paths:
            lines.read(path, {"file": path} if len(paths) > 1 else {})
    finally:
        bar.clear()
    if lines.refused:
        complain(f"{lines.refused:,} of {lines.replies:,} replies refused.")
    return 1 if lines.bad or lines.refused else 0
