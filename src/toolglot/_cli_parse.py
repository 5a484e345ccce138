"""`toolglot parse`: whole replies for people or as JSON, and records of a JSONL input one after another.

The rule: every input gives its output, in order: a result, or an error that says what and where.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from toolglot import ParseError, Result, ToolglotError, parse

from ._cli_lines import Lines
from ._cli_read import BadRecord, Record, check_readable, clause, name_of, read_record, read_text
from ._cli_show import HEAD, Screen, complain, error_to_dict, show_refusal, show_result, visible, warn, write_json


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


class _Replies(Lines):
    """Reads the reply of each record."""

    def __init__(self, paths: list[str], tools: list[Any], options: dict[str, Any]) -> None:
        super().__init__(paths)
        self._tools = tools
        self._options = options

    def one(self, line: str, where: dict[str, Any]) -> dict[str, Any]:
        """What a reply holds, or the error of strict reading."""
        record = read_record(line)
        return {**record.kept, **self._parse(record)}

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


def _read_lines(paths: list[str], tools: list[Any], options: dict[str, Any]) -> int:
    lines = _Replies(paths, tools, options)
    lines.run()
    if lines.refused:
        complain(f"{lines.refused:,} of {lines.records:,} replies refused.")
    return 1 if lines.bad or lines.refused else 0
