"""Formats declared in a TOML or JSON file: tables whose members are the fields of `Format` and `Messages`.

The rule: this module knows no field by name but those of `about`. What a field may hold follows from its type, so a new
field of a declaration is read here without a change. Every mistake names the file, the line and the field.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, TypeAlias, Union, get_args, get_origin, get_type_hints

from ._errors import ToolglotError
from ._format import AnyFormat, Block, Format, Messages

Path: TypeAlias = tuple[str | int, ...]

# Members of `about` that may stand among the fields -> what joins them where they are a list.
ABOUT = {"aliases": " ", "models": ", ", "source": ", ", "notes": " "}
SEARCHED = 1_000  # lines of a file in which the line of a mistake is looked for
_FIELD = re.compile(r"format '.*?', (\w+)")
_PLACE = re.compile(r"(.*?) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_BLANKS = re.compile(r"[ \t\r\n]*")


def load_formats(path: str | os.PathLike[str]) -> list[AnyFormat]:
    """The formats that a TOML or JSON file declares, in order.

    The file holds one format, or several under `format` (`[[format]]` in TOML). Members are the fields of `Format`, or
    of `Messages` where `starts` is among them. A `Block` is a table of its fields or a pair of markers, a tuple is
    a list. `aliases`, `models`, `source` and `notes` may stand outside of `about`.

    Raises `ToolglotError` that names the file, and the line and field of the mistake.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "ship.toml")
    >>> _ = file.write_text('id = "ship"\\ncall = "<<{name}>>{args:json}<</>>"')
    >>> load_formats(file)[0].call
    '<<{name}>>{args:json}<</>>'
    """
    document = _read(os.fspath(path))
    formats: list[AnyFormat] = []
    for at, table in _tables(document):
        format = _Table(document, at, table).format()
        if any(format.id == other.id for other in formats):
            document.fail((*at, "id"), f"format {format.id!r}, id: expected another id, got one of this file again")
        formats.append(format)
    return formats


# -- the document ------------------------------------------------------------------------------------


class _Document:
    """A file's name, its text and what it holds."""

    def __init__(self, name: str, text: str, data: Any) -> None:
        self.name = name
        self.text = text
        self.data = data

    def fail(self, path: Path, message: str) -> NoReturn:
        """Raise with the file and the line of what is under `path`, or of what holds it."""
        find = _json_line if self.name.lower().endswith(".json") else _toml_line
        line = next((found for end in range(len(path), 0, -1) if (found := find(self.text, path[:end]))), None)
        raise ToolglotError(f"{self.name}{f', line {line}' if line else ''}: {message}")


def _read(name: str) -> _Document:
    ending = os.path.splitext(name)[1].lower()
    if ending not in (".toml", ".json"):
        raise ToolglotError(f"{name}: expected a file that ends in .toml or .json, got {ending or 'no ending'!r}")
    try:
        with open(name, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except (OSError, ValueError) as error:  # UnicodeDecodeError, or a NUL in the name
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ToolglotError(f"{name}: expected a readable file in UTF-8, got: {_lowered(said)}") from None
    try:
        return _Document(name, text, _load_json(name, text) if ending == ".json" else _load_toml(name, text))
    except RecursionError:
        raise ToolglotError(f"{name}: expected a declaration, got one that is nested too deeply") from None


def _load_toml(name: str, text: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.match(str(error))
        said, line, column = found.groups() if found else (str(error), None, None)
        if line is None:
            line, column = str(text.count("\n") + 1), str(len(text) - text.rfind("\n"))
        raise ToolglotError(f"{name}, line {line}, column {column}: expected TOML, got: {_lowered(said)}") from None


def _load_json(name: str, text: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise ToolglotError(f"{name}: expected each member once, got {twice!r} again")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ToolglotError(f"{name}, {where}: expected JSON, got: {_lowered(error.msg)}") from None


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]


def _tables(document: _Document) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The tables that declare a format, each with its path."""
    data = document.data
    at: Path = ()
    if isinstance(data, dict) and "format" in data:
        others = [key for key in data if key != "format"]
        if others:
            document.fail((others[0],), f"expected {others[0]!r} inside a format, got it beside 'format'")
        data, at = data["format"], ("format",)
    several = [((*at, index), item) for index, item in enumerate(data)] if isinstance(data, list) else [(at, data)]
    if not several or not data:
        document.fail(at, "expected a format, got none")
    for path, table in several:
        if not isinstance(table, dict):
            document.fail(path, f"expected the fields of a format, got {_kind(table)}")
        yield path, table


# -- one declaration ---------------------------------------------------------------------------------


class _Table:
    """One format's table on its way to a `Format` or `Messages`."""

    def __init__(self, document: _Document, path: Path, table: dict[str, Any]) -> None:
        self._document = document
        self._path = path
        self._table = table
        given = table.get("id")
        self._title = f"format {given!r}" if isinstance(given, str) else "format"

    def format(self) -> AnyFormat:
        """The format that the table declares."""
        kind: type[Format] | type[Messages] = Messages if "starts" in self._table else Format
        made: AnyFormat = self._make(kind, self._table, ())
        return made

    def fail(self, where: Path, message: str) -> NoReturn:
        field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where).lstrip(".")
        self._document.fail((*self._path, *where), f"{self._title}{', ' if field else ''}{field}: {message}")

    def _make(self, kind: Any, table: dict[str, Any], where: Path) -> Any:
        """An instance of a dataclass from a table of its fields."""
        hints = get_type_hints(kind)
        known = [field for field in fields(kind) if field.init]
        names = [field.name for field in known]
        if "about" in names:
            table = self._with_about(table, names, where)
        for name in table:
            if name not in names:
                tables = () if where or self._path else ("format",)
                self._refuse(name, [*names, *(ABOUT if "about" in names else ()), *tables], where)
        for field in known:
            if field.name not in table and field.default is MISSING and field.default_factory is MISSING:
                self.fail((*where, field.name), f"expected {_in_words(hints[field.name])}, got none")
        values = {name: self._value(value, hints[name], (*where, name)) for name, value in table.items()}
        try:
            return kind(**values)
        except ToolglotError as error:
            found = _FIELD.match(str(error))
            field_name = (found[1],) if found and found[1] in table else ()
            self._document.fail((*self._path, *where, *field_name), str(error))
        except (TypeError, ValueError) as error:
            self.fail(where, str(error))

    def _with_about(self, table: dict[str, Any], names: list[str], where: Path) -> dict[str, Any]:
        """The table with the members of `about` gathered in it, lists of them joined."""
        about = table.get("about", {})
        if not isinstance(about, dict):
            self.fail((*where, "about"), f"expected a table, got {_kind(about)}")
        about = dict(about)
        rest = dict(table)
        for name in ABOUT:
            if name in rest and name not in names:
                if name in about:
                    self.fail((*where, name), "expected it once, got it in 'about' too")
                about[name] = rest.pop(name)
            several = about.get(name)
            if isinstance(several, list) and all(isinstance(item, str) for item in several):
                items = [item.replace(" ", "_") for item in several] if name == "aliases" else several
                about[name] = ABOUT[name].join(items)
        return {**rest, "about": about} if about else rest

    def _refuse(self, name: str, names: list[str], where: Path) -> NoReturn:
        import difflib

        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f": the nearest is {near[0]!r}" if near else f": expected one of {', '.join(names)}"
        self.fail((*where, name), f"expected a field, got {name!r}{hint}")

    # -- values --------------------------------------------------------------------------------------

    def _value(self, value: Any, hint: Any, where: Path) -> Any:
        """The value as its field's type wants it."""
        origin = get_origin(hint)
        if origin in (Union, UnionType):
            return self._value(value, self._branch(value, get_args(hint), hint, where), where)
        if origin is Literal and value in get_args(hint):
            return value
        if origin is tuple and isinstance(value, list):
            return self._tuple(value, get_args(hint), hint, where)
        if _is_mapping(origin) and isinstance(value, dict):
            return {key: self._value(item, get_args(hint)[1], (*where, key)) for key, item in value.items()}
        if is_dataclass(hint) and isinstance(value, dict):
            return self._make(hint, value, where)
        if hint is Block and _is_pair(value):
            return Block(*value)
        if hint is Any or type(value) is hint:
            return value
        self.fail(where, f"expected {_in_words(hint)}, got {_kind(value)}")

    def _tuple(self, value: list[Any], items: tuple[Any, ...], hint: Any, where: Path) -> tuple[Any, ...]:
        if items[-1:] == (...,):
            items = (items[0],) * len(value)
        if len(items) != len(value):
            self.fail(where, f"expected {_in_words(hint)}, got a list of {len(value)}")
        both = zip(value, items, strict=True)
        return tuple(self._value(item, kind, (*where, at)) for at, (item, kind) in enumerate(both))

    def _branch(self, value: Any, branches: tuple[Any, ...], hint: Any, where: Path) -> Any:
        """The member of a union that the value is meant for, by its shape alone."""
        for branch in branches:
            if branch is Block and _is_pair(value):
                return branch
        for branch in branches:
            origin = get_origin(branch)
            if isinstance(value, dict):
                fits = is_dataclass(branch) or _is_mapping(origin)
            elif isinstance(value, list):
                fits = origin is tuple
            else:
                fits = type(value) is branch or (origin is Literal and value in get_args(branch))
            if fits:
                return branch
        self.fail(where, f"expected {_in_words(hint)}, got {_kind(value)}")


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) in (1, 2) and all(isinstance(item, str) for item in value)


def _is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _in_words(hint: Any) -> str:
    """What a field may hold, for a message."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_in_words(branch) for branch in get_args(hint)))
    if origin is Literal:
        return f"one of {', '.join(map(repr, get_args(hint)))}"
    if origin is tuple:
        items = get_args(hint)
        if items[-1:] == (...,):
            return f"a list ({_in_words(items[0])} each)"
        return f"a list of {len(items)} ({', '.join(dict.fromkeys(map(_in_words, items)))} each)"
    if hint is Block:
        return "a pair of markers or a table with 'open' and 'close'"
    names = {str: "a string", bool: "true or false", int: "a whole number", NoneType: "nothing"}
    return names.get(hint, "a table")


def _kind(value: Any) -> str:
    """What TOML and JSON call a value."""
    if isinstance(value, str):
        return repr(value) if len(value) <= 40 else f"{value[:40]!r}…"
    names = {dict: "a table", list: "a list", bool: "a boolean", NoneType: "null", int: "a number", float: "a number"}
    return names.get(type(value), "a date or time")


# -- the line of a mistake ---------------------------------------------------------------------------


def _toml_line(text: str, path: Path) -> int | None:
    """The line (from 1) of the statement that makes what is under `path`; None where no line begins with it.

    The standard library gives no places. A line is the one if the text before it has no such thing, and the text with
    the line's key has: quadratic, for the message of a mistake only, and in the head of a file only.
    """
    import tomllib

    name = next((step for step in reversed(path) if isinstance(step, str)), "[")
    lines = text.replace("\r\n", "\n").split("\n")[:SEARCHED]
    for number, line in enumerate(lines, 1):
        if name not in line:
            continue
        before = "\n".join(lines[: number - 1])
        statement = line if line.lstrip().startswith("[") else f"{line.partition('=')[0]}= 0"
        try:
            if _has(tomllib.loads(f"{before}\n{statement}"), path) and not _has(tomllib.loads(before), path):
                return number
        except (tomllib.TOMLDecodeError, RecursionError):  # the line stands inside a value of several lines
            continue
    return None


def _has(data: Any, path: Path) -> bool:
    for step in path:
        inside = step in data if isinstance(data, dict) else isinstance(data, list) and step in range(len(data))
        if not inside:
            return False
        data = data[step]
    return True


def _json_line(text: str, path: Path) -> int | None:
    """The line (from 1) of what is under `path`, a member's at its name; None where there is no such thing."""
    at = _blanks(text, 0)
    for step in path:
        found = _member(text, at, step) if text[at] == "{" and isinstance(step, str) else None
        if text[at] == "[" and isinstance(step, int):
            found = _item(text, at, step)
        if found is None:
            return None
        line, at = text.count("\n", 0, found[0]) + 1, found[1]
    return line if path else None


def _member(text: str, at: int, name: str) -> tuple[int, int] | None:
    """Where a member's name and its value begin in the object at `at`."""
    decoder = json.JSONDecoder()
    at = _blanks(text, at + 1)
    while text[at] != "}":
        key, end = decoder.raw_decode(text, at)
        value = _blanks(text, _blanks(text, end) + 1)
        if key == name:
            return at, value
        at = _blanks(text, decoder.raw_decode(text, value)[1])
        at = _blanks(text, at + 1) if text[at] == "," else at
    return None


def _item(text: str, at: int, index: int) -> tuple[int, int]:
    """Where an item of the list at `at` begins, twice."""
    decoder = json.JSONDecoder()
    at = _blanks(text, at + 1)
    for _ in range(index):
        at = _blanks(text, _blanks(text, decoder.raw_decode(text, at)[1]) + 1)
    return at, at


def _blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at
