"""The lines of JSONL inputs, one after another: each gives one line of output, a result or an error.

The rule: nothing of a line is kept after it.
"""

from __future__ import annotations

import sys
from typing import Any

from ._cli_read import BadRecord, Utf8, name_of, opened, size_of
from ._cli_show import Bar, complain, warn, write_json


class Lines:
    """Reads records and writes what `one` makes of each; `bad` counts those that are no record, `refused` those that
    `one` says it could not do."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = paths
        self._bar = Bar(size_of(paths))
        self._done = 0
        self.records = 0
        self.bad = 0
        self.refused = 0

    def one(self, line: str, where: dict[str, Any]) -> dict[str, Any]:
        """The output for one line; raises `BadRecord`. `where` is the line's place: `file` and `line`."""
        raise NotImplementedError

    def run(self) -> None:
        """Every record of every input."""
        try:
            for path in self._paths:
                self._read(path, {"file": path} if len(self._paths) > 1 else {})
        finally:
            self._bar.clear()

    def _read(self, path: str, head: dict[str, Any]) -> None:
        utf8 = Utf8(name_of(path), self.warn)
        with opened(path) as stream:
            for number, data in enumerate(stream, 1):
                line = utf8.decode(data, final=not data.endswith(b"\n"))
                self._done += len(data)
                if line.strip():  # a blank line, as at the end of many files, is no record
                    self._write(line, {"file": path, "line": number}, head)

    def _write(self, line: str, where: dict[str, Any], head: dict[str, Any]) -> None:
        self.records += 1
        try:
            output = {**head, **self.one(line, where)}
        except BadRecord as error:
            self.bad += 1
            self._bar.clear()
            column = f", column {error.column}" if error.column else ""
            complain(f"{error} ({name_of(where['file'])}, line {where['line']}{column}).")
            told = {"message": str(error), **where, "column": error.column}
            output = {**head, "error": told, "record": line.rstrip("\r\n")}
        if sys.stdout.isatty():
            self._bar.clear()
        write_json(output)
        self._bar.step(self._done, self.records, self.bad + self.refused)

    def warn(self, message: str) -> None:
        """A warning, beside the bar."""
        self._bar.clear()
        warn(message)
