"""Tool definitions of every shape become names with schemas; anything else is a clear error."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, TypedDict, Union

import pytest

from toolglot._errors import ToolglotError
from toolglot._schema import ANY
from toolglot._tools import Tool, load_tools

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Model:
    """Looks like a pydantic model class."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return {
            "title": "Model",
            "description": "A city.",
            "$defs": {"P": {"type": "integer"}},
            "type": "object",
            "properties": {"p": {"$ref": "#/$defs/P"}},
        }


def only(item: object) -> Tool:
    loaded = load_tools([item])
    assert len(loaded) == 1
    (name,) = loaded
    assert loaded[name].name == name
    return loaded[name]


@pytest.mark.parametrize(
    "item",
    [
        {"type": "function", "function": {"name": "f", "description": "Does f.", "parameters": SCHEMA, "strict": True}},
        {"function": {"name": "f", "description": "Does f.", "parameters": SCHEMA}},
        {"type": "function", "name": "f", "description": "Does f.", "parameters": SCHEMA},
        {"name": "f", "description": "Does f.", "input_schema": SCHEMA},
        {"name": "f", "description": "Does f.", "inputSchema": SCHEMA, "annotations": {}},
        SimpleNamespace(name="f", description="Does f.", inputSchema=SCHEMA),
        SimpleNamespace(name="f", description="Does f.", args_schema=SCHEMA),
        SimpleNamespace(name="f", description="Does f.", args_schema=None, parameters=SCHEMA),
        SimpleNamespace(type="function", function=SimpleNamespace(name="f", description="Does f.", parameters=SCHEMA)),
        Tool("f", "Does f.", SCHEMA),
    ],
)
def test_every_shape_gives_the_same_tool(item: object) -> None:
    tool = only(item)
    assert (tool.name, tool.description, tool.schema) == ("f", "Does f.", SCHEMA)
    assert tool.node.member("city").types == {"string"}


@pytest.mark.parametrize(
    ("item", "name", "schema"),
    [
        ("ping", "ping", None),
        ({"name": "ping"}, "ping", None),
        ({"type": "function", "name": "ping"}, "ping", None),
        ({"type": "function", "function": {"name": "ping"}}, "ping", None),
        ({"type": "function", "function": {"name": "ping", "parameters": None}}, "ping", None),
        ({"type": "bash_20250124", "name": "bash"}, "bash", None),
        ({"name": "ping", "parameters": {}}, "ping", {}),
        ({"name": "f", "parameters": Model}, "f", Model.model_json_schema()),
        (SimpleNamespace(name="f", args_schema=Model), "f", Model.model_json_schema()),
        (SimpleNamespace(name="f", args_schema=None), "f", None),
        (Model, "Model", Model.model_json_schema()),
    ],
)
def test_a_missing_schema_means_that_nothing_is_known(item: object, name: str, schema: object) -> None:
    tool = only(item)
    assert (tool.name, tool.schema) == (name, schema)
    assert schema or tool.node is ANY


@pytest.mark.parametrize(
    "item",
    [
        {"name": "f", **SCHEMA},
        {"title": "f", **SCHEMA},
        {"title": "f", "type": "dict"},
        {"title": "f", "properties": {}},
        {"name": "f", "title": "Another", "anyOf": [SCHEMA]},
    ],
)
def test_a_bare_schema_is_named_by_its_name_or_title(item: Mapping[str, Any]) -> None:
    tool = only(item)
    assert (tool.name, tool.schema) == ("f", item)


def test_a_parameter_called_parameters_is_no_schema_key() -> None:
    item = {"name": "f", "type": "object", "properties": {"parameters": {"type": "integer"}}}
    assert only(item).node.member("parameters").types == {"integer"}


def test_tools_keep_their_order_and_any_iterable_will_do() -> None:
    assert list(load_tools(name for name in ("b", "a", "c"))) == ["b", "a", "c"]
    assert load_tools(()) == {}
    loaded = load_tools(["b", {"name": "a"}])
    assert load_tools(loaded) == loaded
    assert list(load_tools(loaded.values())) == ["b", "a"]


def test_a_mapping_gives_names_and_schemas() -> None:
    loaded = load_tools({"f": SCHEMA, "g": None, "h": walk_to, "i": {"type": "object", "description": "I."}})
    assert list(loaded) == ["f", "g", "h", "i"]
    assert loaded["f"].schema == SCHEMA and loaded["g"].schema is None
    assert loaded["h"].node.declared == {"place", "steps"}
    assert loaded["i"].description == "I."


def test_the_node_is_made_once_and_late() -> None:
    tool = only({"name": "f", "parameters": SCHEMA})
    assert tool._node is None
    assert tool.node is tool.node


class Point(TypedDict):
    x: float
    label: NotRequired[str]


class Tree(TypedDict):
    left: Tree
    right: Tree


UserId = NewType("UserId", int)


def walk_to(place: str, steps: int = 3) -> None:
    """Walks to a place.

    More words.
    """


def everything(
    a: str,
    b: Annotated[int, "How many"],
    c: Optional[float],  # noqa: UP045
    d: list[int],
    e: dict[str, bool],
    f: Literal["x", 1],
    g: tuple[int, str],
    h: tuple[int, ...],
    i: Point,
    j: UserId,
    k: Model,
    l: Any,  # noqa: E741
    m,  # type: ignore[no-untyped-def]
    n: Sequence[str],
    o: Mapping[str, int],
    p: Callable[[int], int],
    q: typing.List,  # type: ignore[type-arg]  # noqa: UP006
    r: tuple,  # type: ignore[type-arg]
    s: Tree,
    t: set[int],
    u: Union[int, None] = 5,  # noqa: UP007
    v: int = None,  # type: ignore[assignment]  # noqa: RUF013
    w: str | None = None,
    *args: int,
    x: None = None,
    **more: int,
) -> None: ...


def test_a_function_gives_its_schema_by_signature_and_hints() -> None:
    tool = only(everything)
    tree = {"type": "object"}
    assert tool.schema == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "integer", "description": "How many"},
            "c": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "d": {"type": "array", "items": {"type": "integer"}},
            "e": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "f": {"enum": ["x", 1]},
            "g": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
            "h": {"type": "array", "items": {"type": "integer"}},
            "i": {
                "type": "object",
                "properties": {"x": {"type": "number"}, "label": {"type": "string"}},
                "required": ["x"],
            },
            "j": {"type": "integer"},
            "k": {key: value for key, value in Model.model_json_schema().items() if key != "$defs"},
            "l": {},
            "m": {},
            "n": {"type": "array", "items": {"type": "string"}},
            "o": {"type": "object", "additionalProperties": {"type": "integer"}},
            "p": {},
            "q": {"type": "array"},
            "r": {"type": "array"},
            "s": {"type": "object", "properties": {"left": tree, "right": tree}, "required": ["left", "right"]},
            "t": {"type": "array", "items": {"type": "integer"}},
            "u": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "v": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "w": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "x": {"type": "null"},
        },
        "additionalProperties": {"type": "integer"},
        "required": list("abcdefghijklmnopqrst"),
        "$defs": {"P": {"type": "integer"}},
    }
    assert tool.node.member("k").member("p").types == {"integer"}


class Lamp:
    """A lamp."""

    def __init__(self, watts: int) -> None: ...

    def switch(self, on: bool) -> None:
        """Switches it."""

    def __call__(self, level: float = 1) -> None: ...


def unresolved(a: int, b: Missing, c: str) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("item", "name", "description", "properties"),
    [
        (walk_to, "walk_to", "Walks to a place.", {"place": {"type": "string"}, "steps": {"type": "integer"}}),
        (functools.partial(walk_to, steps=1), "walk_to", "Walks to a place.", None),
        (Lamp(5).switch, "switch", "Switches it.", {"on": {"type": "boolean"}}),
        (Lamp.switch, "switch", "Switches it.", {"on": {"type": "boolean"}}),
        (Lamp(5), "Lamp", "A lamp.", {"level": {"type": "number"}}),
        (Lamp, "Lamp", "A lamp.", {"watts": {"type": "integer"}}),
        (unresolved, "unresolved", "", {"a": {"type": "integer"}, "b": {}, "c": {"type": "string"}}),
    ],
)
def test_any_callable_with_a_signature_will_do(item: object, name: str, description: str, properties: object) -> None:
    tool = only(item)
    assert (tool.name, tool.description) == (name, description)
    assert tool.schema is not None
    assert properties is None or tool.schema["properties"] == properties


def test_a_default_makes_a_parameter_optional() -> None:
    assert (only(walk_to).schema or {})["required"] == ["place"]


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ("ping", ["single string 'ping'", "list"]),
        (b"ping", ["single string", "list"]),
        (None, ["iterable", "None"]),
        (5, ["iterable", "int 5"]),
        (walk_to, ["iterable", "function"]),
        (Model, ["iterable", "type"]),
        ({"type": "function", "function": {"name": "f"}}, ["single definition", "list"]),
        ({"name": "f", "parameters": SCHEMA}, ["single definition", "list"]),
        ({"f": "text"}, ["str 'text'", "tools['f']"]),
        ({5: SCHEMA}, ["int 5", "tools[5]"]),
        (["a", 5], ["int 5", "tools[1]"]),
        ([None], ["None", "tools[0]"]),
        ([["a"]], ["list ['a']", "tools[0]"]),
        ([""], ["tool name", "str ''", "tools[0]"]),
        ([{}], ["dict {}", "no name", "tools[0]"]),
        ([SCHEMA], ["dict", "no name", "tools[0]"]),
        ([{"name": 5}], ["int 5", "tools[0]"]),
        ([{"name": "f", "parameters": "x" * 5000}], ["mapping", "str 'x", "tools[0], 'parameters'"]),
        ([{"function": "f"}], ["'function'", "str 'f'", "tools[0]"]),
        ([SimpleNamespace(name="f")], ["SimpleNamespace", "tools[0]"]),
        ([SimpleNamespace(name="f", parameters=5)], ["int 5", "tools[0]"]),
        ([lambda x: x], ["name", "function", "tools[0]"]),
        (["f", {"name": "f"}], ["'f' twice", "tools[0]", "tools[1]"]),
    ],
)
def test_anything_else_is_a_clear_error(tools: object, words: list[str]) -> None:
    with pytest.raises(ToolglotError) as caught:
        load_tools(tools)
    message = str(caught.value)
    assert message.startswith("Expected ") and message.endswith(".") and len(message) < 250
    assert [word for word in words if word not in message] == []
