"""The schema follower: types of a place, steps down, coercion of typed values, typing of raw text."""

from __future__ import annotations

import json

import pytest

from tests.shared import lines_run
from toolglot._errors import Code
from toolglot._schema import ANY, Node, coerce, compile_schema, decode, json_string

COERCED, MISMATCH = Code.COERCED, Code.TYPE_MISMATCH
Case = tuple[object, str, str, str, "Code | None"]


def types(schema: object) -> set[str] | None:
    found = compile_schema(schema).types
    return None if found is None else set(found)


ALL = {"null", "boolean", "integer", "number", "string", "array", "object"}
DEFS = {
    "$defs": {
        "Level": {"type": "integer"},
        "Alias": {"$ref": "#/$defs/Level"},
        "a/b~c d": {"type": "boolean"},
        "Loop": {"$ref": "#/$defs/Loop"},
        "Ping": {"$ref": "#/$defs/Pong"},
        "Pong": {"$ref": "#/$defs/Ping"},
    },
    "definitions": {"Old": {"type": "null"}},
}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"type": ("integer", "null")}, {"integer", "null"}),
        ({"type": "dict"}, {"object"}),
        ({"type": "float"}, {"number"}),
        ({"type": "Double"}, {"number"}),
        ({"type": "int"}, {"integer"}),
        ({"type": "LONG"}, {"integer"}),
        ({"type": "str"}, {"string"}),
        ({"type": "text"}, {"string"}),
        ({"type": "Bool"}, {"boolean"}),
        ({"type": "list"}, {"array"}),
        ({"type": "tuple"}, {"array"}),
        ({"type": "List[int]"}, {"array"}),
        ({"type": "OBJECT"}, {"object"}),
        ({"type": "any"}, None),
        ({"type": "unknown"}, None),
        ({"type": ["string", "any"]}, None),
        ({"type": "gizmo"}, None),
        ({"type": []}, None),
        ({"type": 7}, None),
        ({"type": {"type": "string"}}, None),
        ({"enum": ["a", "b"]}, {"string"}),
        ({"enum": [1, "b", None, 2.5, True, [1], {}]}, ALL),
        ({"enum": []}, None),
        ({"enum": "abc"}, None),
        ({"enum": [object()]}, None),
        ({"const": None}, {"null"}),
        ({"const": 3}, {"integer"}),
        ({"type": "string", "enum": [1, 2]}, {"string"}),
        ({"type": ["integer", "string"], "enum": [1, 2]}, {"integer"}),
        ({"type": "string", "nullable": True}, {"string", "null"}),
        ({"nullable": True}, None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"integer", "null"}),
        ({"oneOf": [{"type": "integer"}, {"const": "auto"}]}, {"integer", "string"}),
        ({"anyOf": [{"type": "integer"}, {}]}, None),
        ({"anyOf": [{"type": "integer"}, True]}, None),
        ({"anyOf": []}, None),
        ({"anyOf": "x"}, None),
        ({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"object"}),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": ["integer", "null"]}]}, {"integer"}),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, {"integer"}),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, {"integer"}),
        ({"allOf": [{"description": "x"}, {"type": "string"}]}, {"string"}),
        ({"properties": {"a": {}}}, {"object"}),
        ({"items": {}}, {"array"}),
        ({"prefixItems": []}, {"array"}),
        ({"additionalProperties": {"type": "string"}}, {"object"}),
        ({"additionalProperties": True}, None),
        ({**DEFS, "$ref": "#/$defs/Level"}, {"integer"}),
        ({**DEFS, "$ref": "#/$defs/Alias"}, {"integer"}),
        ({**DEFS, "$ref": "#/definitions/Old"}, {"null"}),
        ({**DEFS, "$ref": "#/$defs/a~1b~0c%20d"}, {"boolean"}),
        ({**DEFS, "$ref": "#/$defs/Level", "nullable": True}, {"integer", "null"}),
        ({"$ref": "#/anyOf/1", "anyOf": [{"type": "string"}, {"type": "null"}]}, {"null"}),
        ({**DEFS, "$ref": "#/$defs/None"}, None),
        ({**DEFS, "$ref": "#/$defs/Loop"}, None),
        ({**DEFS, "$ref": "#/$defs/Ping"}, None),
        ({"$ref": "#"}, None),
        ({"$ref": "#", "type": "object"}, {"object"}),
        ({"$ref": "#anchor"}, None),
        ({"$ref": "http://example.com/schema.json"}, None),
        ({"$ref": 5}, None),
        ({"$ref": "#/allOf/99999999999999999999", "allOf": []}, None),
        (True, None),
        (False, None),
        (None, None),
        ("string", None),
        ([], None),
        ({}, None),
    ],
)
def test_the_types_of_a_place(schema: object, expected: set[str] | None) -> None:
    assert types(schema) == expected


def walk(schema: object, *path: str | int) -> Node:
    node = compile_schema(schema)
    for step in path:
        node = node.item(step) if isinstance(step, int) else node.member(step)
    return node


TREE = {
    "$ref": "#/$defs/T",
    "$defs": {"T": {"properties": {"kids": {"items": {"$ref": "#/$defs/T"}}, "n": {"type": "integer"}}}},
}
SHAPES = {
    "anyOf": [
        {"properties": {"kind": {"const": "circle"}, "size": {"type": "number"}}},
        {"properties": {"kind": {"const": "box"}, "size": {"type": "array", "items": {"type": "number"}}}},
        {"type": "null"},
    ]
}


@pytest.mark.parametrize(
    ("schema", "path", "expected"),
    [
        ({"properties": {"a": {"type": "string"}}}, ["a"], {"string"}),
        ({"properties": {"a": {"type": "string"}}}, ["b"], None),
        ({"properties": {"a": True, "b": 3}}, ["a"], None),
        ({"properties": {"a": True, "b": 3}}, ["b"], None),
        ({"properties": [1]}, ["a"], None),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}, ["b"], {"integer"}),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}, ["a"], None),
        ({"additionalProperties": False}, ["b"], None),
        ({"patternProperties": {"(a+)+$": {"type": "integer"}}, "additionalProperties": {"type": "null"}}, ["b"], None),
        ({"patternProperties": {"(": {}}, "properties": {"a": {"type": "null"}}}, ["a"], {"null"}),
        ({"items": {"type": "string"}}, [7], {"string"}),
        ({"items": {"type": "string"}}, [10**9], {"string"}),
        ({"prefixItems": [{"type": "string"}, {"type": "null"}], "items": {"type": "integer"}}, [1], {"null"}),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, [5], {"integer"}),
        ({"items": [{"type": "string"}, {"type": "null"}]}, [0], {"string"}),
        ({"items": [{"type": "string"}, {"type": "null"}]}, [2], None),
        ({"items": [{"type": "string"}], "additionalItems": {"type": "integer"}}, [2], {"integer"}),
        ({"items": True}, [0], None),
        ({}, ["a", 0, "b"], None),
        (TREE, ["kids", 0, "kids", 3, "n"], {"integer"}),
        (SHAPES, ["size"], {"number", "array"}),
        (SHAPES, ["size", 0], {"number"}),
        (SHAPES, ["kind"], {"string"}),
        (
            {"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"minLength": 1}}}]},
            ["a"],
            {"string"},
        ),
        ({"allOf": [TREE["$defs"], SHAPES, {"properties": {"b": {"type": "null"}}}]}, ["b"], {"null"}),
        (
            {"anyOf": [{"properties": {"a": {"type": "null"}}}, {"additionalProperties": {"type": "string"}}]},
            ["a"],
            {"null", "string"},
        ),
        ({"anyOf": [{"properties": {"a": {"type": "null"}}}, {"properties": {"a": {}}}]}, ["a"], None),
    ],
)
def test_a_step_down_finds_the_types(schema: object, path: list[str | int], expected: set[str] | None) -> None:
    found = walk(schema, *path).types
    assert (None if found is None else set(found)) == expected


def test_declared_names_come_through_references_and_branches() -> None:
    schema = {
        "properties": {"a": {}, 7: {}},
        "$ref": "#/$defs/R",
        "$defs": {"R": {"properties": {"r": {}}}},
        "allOf": [{"properties": {"b": {}}}],
        "anyOf": [{"properties": {"c": {}}}, True],
        "oneOf": [{"oneOf": [{"properties": {"d": {}}}]}],
    }
    assert compile_schema(schema).declared == {"a", "b", "c", "d", "r"}
    assert ANY.declared == frozenset()


def test_a_place_is_made_once_also_in_a_recursive_schema() -> None:
    node = compile_schema(TREE)
    assert node.member("kids") is node.member("kids")
    assert node.member("kids").item(0).member("kids") is node.member("kids")
    joined = compile_schema({"allOf": [{"items": {"minimum": 1}}, {"items": {"type": "integer"}}]})
    assert joined.item(0) is joined.item(1)


def test_unknown_keys_are_not_kept() -> None:
    node = compile_schema({"properties": {"a": {}}, "additionalProperties": {"type": "string"}})
    assert node.member("x1") is node.member("x2")
    assert node._members == {}


def test_the_node_without_constraints_is_one() -> None:
    assert all(compile_schema(schema) is ANY for schema in ({}, True, None, "x", []))
    assert ANY.member("a") is ANY and ANY.item(0) is ANY and ANY.text and ANY.free


@pytest.mark.parametrize(
    ("schema", "free", "text"),
    [
        ({}, True, True),
        ({"description": "anything"}, True, True),
        ({"type": "any"}, True, True),
        ({"$ref": "#/nowhere"}, True, True),
        ({"$ref": "#"}, True, True),
        ({"type": "string"}, False, True),  # a number here becomes a string
        ({"type": "object"}, False, False),  # a string here may spell an object
        ({"type": ["integer", "string"]}, False, True),
        ({"type": "integer"}, False, False),
        ({"properties": {"a": {"type": "integer"}}}, False, False),
        ({"anyOf": [{}, {"properties": {"a": {"type": "integer"}}}]}, False, True),
        (TREE, False, False),
    ],
)
def test_free_and_text(schema: object, free: bool, text: bool) -> None:
    node = compile_schema(schema)
    assert (node.free, node.text) == (free, text)


MOST_LINES = 2_000_000
"""Lines of Python for hostile schemas: twice what the worst of them takes. Without the bounds it would be 2 ** 30."""


@pytest.mark.parametrize("size", [1, 4])
def test_hostile_schemas_cost_no_more_than_their_size(size: int) -> None:
    doubling: dict[str, object] = {"$defs": {}, "$ref": "#/$defs/0"}
    defs = doubling["$defs"]
    assert isinstance(defs, dict)
    for i in range(30 * size):
        below = {"$ref": f"#/$defs/{i + 1}"}
        defs[str(i)] = {"allOf": [below, below], "anyOf": [below, {"properties": {"a": below}}]}
    deep: dict[str, object] = {"type": "string"}
    for _ in range(1000 * size):
        deep = {"anyOf": [deep]}
    wide = {"anyOf": [{"properties": {"a": {"minimum": i}}} for i in range(100 * size)]}

    def work() -> None:
        for schema in (doubling, deep, wide):
            node = compile_schema(schema)
            for _ in range(10):
                assert coerce(node, "string", '"x"')[0] == '"x"'
                node = node.member("a")

    count = lines_run(work)
    assert count < MOST_LINES, f"{count:,} lines"


INTEGER, NUMBER, STRING, BOOLEAN = ({"type": t} for t in ("integer", "number", "string", "boolean"))
OBJECT, ARRAY, NULL = ({"type": t} for t in ("object", "array", "null"))
POINT = {"properties": {"x": NUMBER, "tags": {"items": STRING}}}
NESTED = {"properties": {"p": POINT}}
LISTS = {"additionalProperties": {"items": INTEGER}}

ADMITTED = [
    ({}, "string", '"5"'),
    (STRING, "string", '"5"'),
    (STRING, "string", '"{\\"a\\": 1}"'),
    ({"type": ["integer", "string"]}, "string", '"42"'),
    ({"type": ["string", "null"]}, "string", '"null"'),
    ({"enum": ["low", "true"]}, "string", '"true"'),
    ({"enum": ["low"]}, "string", '"medium"'),  # the type is right; nothing to coerce
    ({"type": "integer", "enum": ["1", "2"]}, "string", '"1"'),
    ({"type": "string", "enum": [1, 2]}, "number", "1"),
    ({"type": "string", "const": 1}, "number", "1.0"),
    ({"type": "string", "enum": [None, "a"], "nullable": False}, "null", "null"),
    (INTEGER, "number", "5"),
    (INTEGER, "number", "5.0"),
    (INTEGER, "number", "5e0"),
    (INTEGER, "number", "50e-1"),
    (INTEGER, "number", "0.5e1"),
    (INTEGER, "number", "-0"),
    (INTEGER, "number", "0.0e-9"),
    (INTEGER, "number", "1e99999999999999999999"),
    (NUMBER, "number", "5"),
    (NUMBER, "number", "12.50"),
    (NUMBER, "number", "1e999"),
    (BOOLEAN, "boolean", "true"),
    (BOOLEAN, "true", "true"),
    (NULL, "null", "null"),
    (OBJECT, "object", "{}"),
    (ARRAY, "array", "[1]"),
    ({"items": STRING}, "array", "[1]"),  # members have nodes of their own
]


@pytest.mark.parametrize(("schema", "kind", "text"), ADMITTED)
def test_an_admitted_value_stays_as_written(schema: object, kind: str, text: str) -> None:
    assert coerce(compile_schema(schema), kind, text) == (text, None)


@pytest.mark.parametrize(
    ("schema", "kind", "text", "expected"),
    [
        (INTEGER, "string", '"5"', "5"),
        (INTEGER, "string", '" 5\\n"', "5"),
        (INTEGER, "string", '"5.0"', "5.0"),
        (INTEGER, "string", '"' + "9" * 4300 + '"', "9" * 4300),
        (NUMBER, "string", '"1.50"', "1.50"),
        (NUMBER, "string", '"-1e-05"', "-1e-05"),
        (BOOLEAN, "string", '"true"', "true"),
        (BOOLEAN, "string", '"False"', "false"),
        (NULL, "string", '"None"', "null"),
        ({"type": ["null", "boolean", "integer"]}, "string", '"null"', "null"),
        ({"type": ["null", "boolean", "integer"]}, "string", '"True"', "true"),
        ({"type": ["null", "boolean", "integer"]}, "string", '"1"', "1"),
        ({"anyOf": [NUMBER, NULL]}, "string", '"0.5"', "0.5"),
        ({"enum": [1, 2]}, "string", '"2"', "2"),
        ({"const": True}, "string", '"true"', "true"),
        (OBJECT, "string", '"{\\"hard\\": true}"', '{"hard": true}'),
        (ARRAY, "string", '" [3, 5.10] "', "[3, 5.10]"),
        (POINT, "string", json_string('{"x": "1.50", "tags": [1.0, null]}'), '{"x": 1.50, "tags": ["1.0", null]}'),
        (POINT, "string", json_string('{"y": "2", "tags": ["a"]}'), '{"y": "2", "tags": ["a"]}'),
        (NESTED, "string", json_string(json.dumps({"p": json.dumps({"x": "7"})})), '{"p": {"x": 7}}'),
        (STRING, "number", "12.50", '"12.50"'),
        (STRING, "number", "1" * 40, '"' + "1" * 40 + '"'),
        ({"enum": ["1", "2"]}, "number", "2", '"2"'),
        ({"type": ["integer", "string"]}, "number", "5.5", '"5.5"'),
        (STRING, "boolean", "true", '"true"'),
        ({"type": ["string", "null"]}, "boolean", "false", '"false"'),
    ],
)  # fmt: skip
def test_a_value_takes_the_declared_type(schema: object, kind: str, text: str, expected: str) -> None:
    assert coerce(compile_schema(schema), kind, text) == (expected, COERCED)


@pytest.mark.parametrize(
    ("schema", "kind", "text"),
    [
        (BOOLEAN, "string", '"yes"'),
        (BOOLEAN, "string", '"1"'),
        (BOOLEAN, "string", '"TRUE"'),
        (BOOLEAN, "number", "1"),
        (BOOLEAN, "null", "null"),
        (INTEGER, "string", '"5.5"'),
        (INTEGER, "string", '"007"'),
        (INTEGER, "string", '"+5"'),
        (INTEGER, "string", '"0x10"'),
        (INTEGER, "string", '"1_000"'),
        (INTEGER, "string", '"\u0665"'),
        (INTEGER, "string", '""'),
        (INTEGER, "string", '"five"'),
        (INTEGER, "string", '"\\"5\\""'),
        (INTEGER, "string", '"' + "9" * 4301 + '"'),
        (INTEGER, "number", "5.5"),
        (INTEGER, "boolean", "true"),
        (NUMBER, "string", '"NaN"'),
        (NUMBER, "string", '"Infinity"'),
        (NUMBER, "string", '"1e999"'),
        (STRING, "object", "{}"),
        (STRING, "array", "[]"),
        (STRING, "null", "null"),
        (OBJECT, "string", '"[1]"'),
        (OBJECT, "string", '"{\\"a\\": 1} and more"'),
        (OBJECT, "string", '"{\\"a\\": NaN}"'),
        (OBJECT, "array", "[]"),
        (ARRAY, "string", '"a, b"'),
        (ARRAY, "string", json_string("[" * 513 + "]" * 513)),
        (ARRAY, "string", json_string("[" * 100_000)),
        (ARRAY, "number", "1"),
        ({"enum": [1, 2]}, "string", '"two"'),
    ],
)
def test_nothing_is_guessed(schema: object, kind: str, text: str) -> None:
    assert coerce(compile_schema(schema), kind, text) == (text, MISMATCH)


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        (ARRAY, "['a', True, None]", ["a", True, None]),
        (OBJECT, "{'a': 'b\"c'}", {"a": 'b"c'}),
        (POINT, "{'x': '2', 'tags': [3]}", {"x": 2, "tags": ["3"]}),
    ],
)
def test_a_string_that_spells_a_python_literal_is_one(schema: object, text: str, expected: object) -> None:
    pytest.importorskip("toolglot._values._literal")
    read, code = coerce(compile_schema(schema), "string", json_string(text))
    assert (json.loads(read), code) == (expected, COERCED)


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        (STRING, "  12 \n", '"  12 \\n"'),
        (STRING, "null", '"null"'),
        (STRING, 'é "q" \U0001f600', '"é \\"q\\" \U0001f600"'),
        ({"enum": ["1", "2"]}, "2", '"2"'),
        ({"enum": ["low", "true"]}, "true", '"true"'),
        (INTEGER, "20", "20"),
        (INTEGER, "\n 20 ", "20"),
        (INTEGER, "5.0", "5.0"),
        (INTEGER, "9" * 4300, "9" * 4300),
        (NUMBER, "1.0", "1.0"),
        (NUMBER, "1.50", "1.50"),
        (NUMBER, "8", "8"),
        (BOOLEAN, "True", "true"),
        (BOOLEAN, "false", "false"),
        (NULL, "None", "null"),
        ({"type": ["string", "null"]}, "null", "null"),
        ({"type": ["string", "null"]}, "None", "null"),
        ({"type": ["string", "null"]}, "auto ", '"auto "'),
        ({"type": ["string", "null"]}, '"quoted"', '"\\"quoted\\""'),
        ({"type": ["integer", "string"]}, "42", "42"),
        ({"type": ["integer", "string"]}, "4.2", '"4.2"'),
        ({"type": ["number", "string"]}, "007", '"007"'),
        ({"type": ["string", "array"]}, "[1, 2]", "[1, 2]"),
        ({"type": ["string", "array"]}, "[1, 2", '"[1, 2"'),
        ({"type": ["string", "array"]}, '{"a": 1}', '"{\\"a\\": 1}"'),
        ({"enum": ["1", 2]}, "1", '"1"'),
        ({"enum": ["1", 2]}, "2", "2"),
        ({"enum": ["true", True]}, "true", "true"),
        ({"type": "integer", "enum": ["one"]}, "one", '"one"'),
        ({"items": STRING}, '["active", "True", "false"]', '["active", "True", "false"]'),
        ({"items": STRING}, "[1, 2.50]", '["1", "2.50"]'),
        (POINT, '{"x": "1.50",\n "tags": []}', '{"x": 1.50,\n "tags": []}'),
        ({"properties": {"a\n": INTEGER}}, '{"a\\n": "1", "b": {"a\\n": "1"}}', '{"a\\n": 1, "b": {"a\\n": "1"}}'),
        ({"prefixItems": [INTEGER, STRING]}, '["1", 2, "3"]', '[1, "2", "3"]'),
        (LISTS, '{"a": ["1"], "b": [], "c": ["2", "x"]}', '{"a": [1], "b": [], "c": [2, "x"]}'),
        ({}, "12", "12"),
        ({}, " 0.50\n", "0.50"),
        ({}, "[true, null]", "[true, null]"),
        ({}, '"quoted"', '"quoted"'),
        ({}, "hello there", '"hello there"'),
        ({}, " padded ", '" padded "'),
        ({}, "007", '"007"'),
        ({}, "True", '"True"'),
        ({}, "NaN", '"NaN"'),
        ({}, "[NaN]", '"[NaN]"'),
        ({}, "-Infinity", '"-Infinity"'),
        ({}, "1e999", '"1e999"'),
        ({}, "[1e999]", '"[1e999]"'),
        ({}, "9" * 4301, '"' + "9" * 4301 + '"'),
        ({}, '{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ({}, "{'a': 1}", "\"{'a': 1}\""),
        ({}, '["\\ud800"]', '"[\\"\\\\ud800\\"]"'),
        ({}, '["\\ud83d\\ude00"]', '["\\ud83d\\ude00"]'),
        ({}, "", '""'),
        ({}, "[" * 512 + "]" * 512, "[" * 512 + "]" * 512),
        ({}, "[" * 513 + "]" * 513, '"' + "[" * 513 + "]" * 513 + '"'),
        ({}, "[" * 100_000, '"' + "[" * 100_000 + '"'),
        ({"anyOf": [{}, {"properties": {"a": INTEGER}}]}, '{"a": "1"}', '{"a": 1}'),
    ],
)  # fmt: skip
def test_raw_text_is_typed_by_the_schema(schema: object, text: str, expected: str) -> None:
    assert decode(compile_schema(schema), text) == (expected, None)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (INTEGER, "2026-01-15"),
        (INTEGER, "5.5"),
        (INTEGER, '"5"'),
        (INTEGER, ""),
        (INTEGER, "9" * 4301),
        (BOOLEAN, "yes"),
        (BOOLEAN, "1"),
        (NUMBER, "1e999"),
        (NUMBER, "nan"),
        (ARRAY, '__import__("os").getcwd()'),
        (ARRAY, '{"a": 1}'),
        (OBJECT, "{broken"),
        (NULL, "nothing"),
    ],
)
def test_raw_text_of_no_declared_type_is_kept_and_reported(schema: object, text: str) -> None:
    assert decode(compile_schema(schema), text) == (json_string(text), MISMATCH)


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        ({"items": INTEGER}, "['1', 2]", [1, 2]),
        (ARRAY, "(1, 2)", [1, 2]),
        (OBJECT, "{'a': None, 'b': [True]}", {"a": None, "b": [True]}),
        (NUMBER, ".5", 0.5),
        (INTEGER, "+5", 5),
        ({"type": ["string", "object"]}, "{'a': f()}", "{'a': f()}"),
    ],
)
def test_raw_text_is_read_as_a_python_literal_too(schema: object, text: str, expected: object) -> None:
    pytest.importorskip("toolglot._values._literal")
    read, code = decode(compile_schema(schema), text)
    assert (json.loads(read), code) == (expected, None)


def test_deep_members_are_coerced_without_recursion() -> None:
    schema = {"$defs": {"T": {"anyOf": [{"type": "integer"}, {"items": {"$ref": "#/$defs/T"}}]}}, "$ref": "#/$defs/T"}
    text = "[" * 512 + '"7"' + "]" * 512
    assert decode(compile_schema(schema), text) == (text.replace('"', ""), None)


@pytest.mark.parametrize(
    "text", ["{", "[1,", '"', "{'a':", "\\", "\x00", "\ud800", "tru", "-", "1e", "[1] x", "((", "{]"]
)
@pytest.mark.parametrize("schema", [{}, STRING, INTEGER, ARRAY, POINT, {"type": ["null", "object", "string"]}])
def test_any_text_gives_strict_json(schema: object, text: str) -> None:
    read, _ = decode(compile_schema(schema), text)
    assert json.loads(read) == text
