"""Formats in TOML and JSON files: what they may hold, and what is said of mistakes."""

from __future__ import annotations

import json
import random
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from toolglot import Block, Format, Messages, ToolglotError, formats, load_formats
from toolglot._cli_toml import declarations

CALL = "<a>{name}|{args:json}</a>"


def load(folder: Path, text: str, name: str = "own.toml") -> list[Any]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return load_formats(path)


def said(folder: Path, text: str, name: str = "own.toml") -> str:
    with pytest.raises(ToolglotError) as raised:
        load(folder, text, name)
    message = str(raised.value)
    assert message.startswith(str(folder / name))
    return message.removeprefix(str(folder / name)).lstrip(", :")


def test_every_field_is_read(tmp_path: Path) -> None:
    text = """
        id = "x"
        call = ["<a>{name}\\n{params}</a>", "<a>{name}|{args:json}</a>"]
        param = "<{key}>{value:raw}</>"
        section = { open = "<s>", close = "</s>", also = [["<t>", "</t>"]], optional = true, each = true }
        separator = "\\n\\n"
        reasoning = [["<think>", "</think>"], { open = "[T]", close = "[/T]", optional = true }]
        keys = ["tool", "input"]
        id_rule = "{name}:{index}"
        ends = ["<e>"]
        tier = "tagged"
        aliases = ["y", "my z"]
        models = "M 1"
        [about]
        source = "S"
    """
    assert load(tmp_path, text) == [
        Format(
            "x",
            ("<a>{name}\n{params}</a>", CALL),
            param="<{key}>{value:raw}</>",
            section=Block("<s>", "</s>", also=(("<t>", "</t>"),), optional=True, each=True),
            separator="\n\n",
            reasoning=(Block("<think>", "</think>"), Block("[T]", "[/T]", optional=True)),
            keys=("tool", "input"),
            id_rule="{name}:{index}",
            ends=("<e>",),
        )
    ]
    (format,) = load(tmp_path, text)
    assert (format.aliases, format.models, format.source) == (("y", "my_z"), "M 1", "S")


@pytest.mark.parametrize(
    "reasoning",
    ['["<think>", "</think>"]', '{ open = "<think>", close = "</think>" }', '[["<think>", "</think>"]]'],
)
def test_a_block_is_a_pair_or_a_table_or_a_list_of_them(tmp_path: Path, reasoning: str) -> None:
    (format,) = load(tmp_path, f'id = "x"\ncall = "{CALL}"\nreasoning = {reasoning}')
    assert format.thinking == (Block("<think>", "</think>"),)


def test_registered_formats_are_what_they_are_as_toml_and_as_json(tmp_path: Path) -> None:
    known = formats()
    text = declarations(known)
    for read in (load(tmp_path, text), load(tmp_path, as_json(text), "own.json")):
        assert read == list(known)
        assert [dict(format.about) for format in read] == [dict(format.about) for format in known]


def as_json(text: str) -> str:
    import tomllib

    return json.dumps(tomllib.loads(text), indent=1)


def test_shapes_of_a_json_file(tmp_path: Path) -> None:
    one: dict[str, Any] = {"id": "x", "call": CALL, "section": None}
    for data in (one, [one], {"format": one}, {"format": [one]}):
        assert load(tmp_path, json.dumps(data), "own.json") == [Format("x", CALL)]


def test_messages_are_known_by_their_starts(tmp_path: Path) -> None:
    text = """
        [format]
        id = "m"
        starts = ["<@"]
        body = "@>"
        ends = ["<end>"]
        recipient = "to={name}"
        write = "<@do to={name}@>{args}<end>"
        [format.channels]
        say = "text"
    """
    (format,) = load(tmp_path, text)
    assert isinstance(format, Messages) and format.channels == {"say": "text"}


HEAD = 'id = "x"\ncall = "<a>{name}|{args:json}</a>"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # What is no TOML.
        ('id = "x', "line 1, column 8: expected TOML, got: "),
        ("id = 1\nid = 2", "line 2, column 7: expected TOML, got: cannot overwrite a value"),
        # Fields that are not there, or not known.
        ("", "expected a format, got none"),
        ('call = "x"', "format, id: expected a string, got none"),
        ('id = "x"', "format 'x', call: expected a string or a list (a string each), got none"),
        (HEAD + "sectoin = 1", "line 3: format 'x', sectoin: expected a field, got 'sectoin': the nearest is 'sect"),
        (HEAD + "section = { opne = '<' }", "line 3: format 'x', section.opne: expected a field, got 'opne': the near"),
        (HEAD + "[section]\nclose = '<'", "line 3: format 'x', section.open: expected a string, got none"),
        (HEAD + "[section]\nopen = '<'\nclose = 3", "line 5: format 'x', section.close: expected a string, got"),
        # Values of a wrong kind.
        (HEAD + "section = '<a>'", "line 3: format 'x', section: expected a pair of markers or a table with"),
        (HEAD + "keys = 'name'", "line 3: format 'x', keys: expected a list (a string each), got 'name'"),
        (HEAD + "keys = ['name', 2]", "line 3: format 'x', keys[1]: expected a string, got a number"),
        (HEAD + "tier = 'tag'", "line 3: format 'x', tier: expected one of 'tagged', 'json', 'call', got 'tag'"),
        (HEAD + "separator = 1979-05-27", "line 3: format 'x', separator: expected a string, got a date or time"),
        (HEAD + "about = { models = 3 }", "line 3: format 'x', about.models: expected a string, got a number"),
        (HEAD + "models = 'M'\nabout = { models = 'M' }", "line 3: format 'x', models: expected it once, got it in"),
        # Mistakes in a template.
        ('id = "x"\n\ncall = "<a>{nmae}"', "line 3: format 'x', call, column 4: expected one of {name}, "),
        ('id = "x"\n# call = 1\ncall = """\n<a>{name\n"""', "line 3: format 'x', call, column 4: "),
        ('id = "x"\ncall = "<a>{name}{params}</a>"', "format 'x', param: expected a template, since call has {params}"),
        ('id = "x y"\ncall = "<a>{name}|{args:json}</a>"', "line 1: format 'x y', id: expected letters, digits"),
        # Several formats.
        ("[[format]]\n" + HEAD + "[[format]]\nid = 'y'\ncall = '<a>'", "line 6: format 'y', call: expected one of "),
        ("[[format]]\n" + HEAD + "[[format]]\n" + HEAD, "line 5: format 'x', id: expected another id"),
        ("[[format]]\n" + HEAD + "[formt]\nid = 'y'", "line 4: expected 'formt' inside a format, got it beside 'for"),
        ("format = 3", "line 1: expected the fields of a format, got a number"),
    ],
)  # fmt: skip
def test_mistake_in_toml_is_told_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    assert said(tmp_path, text).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "x" 3}', "line 1, column 12: expected JSON, got: "),
        ("3", "expected the fields of a format, got a number"),
        ("[]", "expected a format, got none"),
        ("[[]]", "line 1: expected the fields of a format, got a list"),
        ('{"id": "x", "id": "y"}', "expected each member once, got 'id' again"),
        ('{"id": "x",\n "call": "<a>{nmae}"}', "line 2: format 'x', call, column 4: expected one of "),
        ('[{"id": "x", "call": "<a>{name}|{args:json}</a>",\n "section": {"open": "<",\n "clos": 1}}]',
         "line 3: format 'x', section.clos: expected a field, got 'clos': the nearest is 'close'"),
        ('{"format": [{"id": "x", "call": "<a>{name}|{args:json}</a>"},\n {"id": "y", "cal": ""}]}',
         "line 2: format 'y', cal: expected a field, got 'cal': the nearest is 'call'"),
    ],
)  # fmt: skip
def test_mistake_in_json_is_told_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    assert said(tmp_path, text, "own.json").startswith(message)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert said(tmp_path, "", "own.yaml") == "expected a file that ends in .toml or .json, got '.yaml'"
    assert said(tmp_path, "[" * 100_000, "own.json").startswith("expected a declaration, got one that is nested")
    with pytest.raises(ToolglotError, match="no such file"):
        load_formats(tmp_path / "none.toml")
    path = tmp_path / "latin.toml"
    path.write_bytes(b'id = "\xe9"')
    with pytest.raises(ToolglotError, match="readable file in UTF-8"):
        load_formats(path)
    path.write_bytes(b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode())
    assert load_formats(path)[0].id == "x"


def test_no_value_of_any_field_gives_another_error(tmp_path: Path) -> None:
    """Random values in random fields: a format, or a `ToolglotError`."""
    chance = random.Random(7)
    values: list[Any] = [None, True, 0, -1.5, "", "x", "{", "{name}", "<a>{name}|{args:json}</a>", [], [""], ["a", "b"]]
    values += [
        [["a", "b"]],
        {},
        {"open": "<"},
        {"open": 1},
        {"a": "text"},
        [{}],
        [[[]]],
        {"open": "<", "also": [["a"]]},
    ]
    names = sorted({field.name for kind in (Format, Messages) for field in fields(kind)} | {"aliases", "notes"})
    made = 0
    for _ in range(1500):
        data: dict[str, Any] = {"id": "x", "call": CALL}
        if chance.random() < 0.3:
            data = {"id": "x", "starts": ["<@"], "body": ">", "ends": [], "recipient": "{name}", "write": ""}
            data["channels"] = {}
        data |= {chance.choice(names): chance.choice(values) for _ in range(chance.randint(1, 3))}
        try:
            load(tmp_path, json.dumps(data), "own.json")
            made += 1
        except ToolglotError as error:
            assert "own.json" in str(error)
    assert made > 50
