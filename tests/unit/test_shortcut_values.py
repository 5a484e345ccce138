"""Values that the short cut reads in ways of its own: it says what the machine says, or it leaves them."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from toolglot import Parser, Result, parse
from toolglot._registry import get_format
from toolglot._shortcut_messages import shortcut
from toolglot._tools import kept_tools

M3 = "]<]minimax[>["


def short(text: str, format: str, tools: Any = ("f",)) -> Result | None:
    cut = shortcut(get_format(format))
    assert cut is not None
    return cut.read(text, kept_tools(tools))


def by_machine(text: str, format: str, tools: Any = ("f",)) -> Result:
    parser = Parser(tools, format=format)
    parser.feed(text)
    parser.finish()
    return parser.result


def hermes(arguments: str) -> str:
    return f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>'


def gemma(arguments: str) -> str:
    return f"<|tool_call>call:f{arguments}<tool_call|>"


def m3(value: str) -> str:
    return f'{M3}<tool_call>\n{M3}<invoke name="f">{M3}<a>{value}{M3}</a>{M3}</invoke>\n{M3}</tool_call>'


ROWS = ", ".join(f'{{"id": {n}, "e": "node{n}00", "x": 1.5e3}}' for n in range(40))

TAKEN = [
    (hermes(f'{{"rows": [{ROWS}]}}'), "hermes"),
    (hermes(f'{{"rows": [{ROWS}], "n": {"7" * 290}}}'), "hermes"),
    (gemma('{a:[{id:1,kind:<|"|>b{u}oy<|"|>,deep:{k:[<|"|>]<|"|>,null,true]}},{}],b:<|"|>x<|"|>}'), "gemma4"),
    (gemma("{a:{},b:[],c:[[1,-2.5e3]]}"), "gemma4"),
    (m3(f"{M3}<item>{M3}<id>1{M3}</id>{M3}<k>x{M3}</k>{M3}</item>{M3}<item>2{M3}</item>"), "minimax_m3"),
    (r"[f(a='it\'s \"so\"\n', b='a\\')]", "pythonic"),
    (r"""[f(a="it's \"so\"", b='C:\\')]""", "pythonic"),
]

LEFT = [
    (hermes(f'{{"rows": [{ROWS}], "n": 1e400}}'), "hermes"),
    (hermes(f'{{"rows": [{ROWS}], "n": -1.5E+999}}'), "hermes"),
    (hermes(f'{{"rows": [{ROWS}], "n": {"7" * 310}.0}}'), "hermes"),
    (hermes(f'{{"rows": [{ROWS}], "n": {"7" * 210}e99}}'), "hermes"),
    (hermes(f'{{"rows": [{ROWS}], "n": {"7" * 250}.5E+99}}'), "hermes"),
    (hermes(f'{{"rows": [{ROWS}, {{"id": 1, "id": 2}}]}}'), "hermes"),
    (gemma('{a:[<|"|>x<|"|> ,1]}'), "gemma4"),
    (gemma('{a:{<|"|>k<|"|>:1}}'), "gemma4"),
    (gemma("{a:[1,,2]}"), "gemma4"),
    (gemma("{a:{k:1,k:2}}"), "gemma4"),
    (gemma('{a:[<|"|>x]}'), "gemma4"),
    (m3(f"{M3}<id>1{M3}</no>"), "minimax_m3"),
    (m3(f"{M3}<id>1{M3}</invoke>{M3}</id>"), "minimax_m3"),
    (r"[f(a='\x41')]", "pythonic"),
    (r"[f(a='\/')]", "pythonic"),
    (r"[f(a='\u0041')]", "pythonic"),
    ("[f(a='one\ntwo')]", "pythonic"),
    (r"[f(a='never closed\')]", "pythonic"),
]


@pytest.mark.parametrize(("text", "format"), TAKEN)
def test_what_is_taken_reads_as_the_machine_reads_it(text: str, format: str) -> None:
    found, expected = short(text, format), by_machine(text, format)
    assert found is not None
    assert found == expected and expected.calls and not expected.problems
    assert [c.arguments_json for c in found.calls] == [c.arguments_json for c in expected.calls]


def test_the_json_text_of_raw_values_is_made_when_it_is_asked_for() -> None:
    def value(key: str, text: str) -> str:
        return f"<parameter={key}>\n{text}\n</parameter>\n"

    properties = {"a": {"type": "string"}, "n": {"type": "integer"}, "o": {"type": "object"}}
    tools = [{"name": "f", "parameters": {"type": "object", "properties": properties}}]
    body = value("a", 'say "hi"\n\té') + value("n", "7") + value("o", '{"k": [1.50]}')
    text = f"<tool_call>\n<function=f>\n{body}</function>\n</tool_call>"
    result = parse(text, tools, format="qwen3_xml")
    assert short(text, "qwen3_xml", tools) is not None
    again = pickle.loads(pickle.dumps(result))
    copied = copy.deepcopy(result.calls[0])
    result.calls[0].arguments["a"] = "changed"
    assert result.calls[0].arguments_json == '{"a": "say \\"hi\\"\\n\\té", "n": 7, "o": {"k": [1.50]}}'
    assert again.calls[0].arguments_json == copied.arguments_json == result.calls[0].arguments_json
    with pytest.raises(AttributeError, match="'Call' object has no attribute 'nothing'"):
        getattr(result.calls[0], "nothing")  # noqa: B009 - that the attribute is missing is what is tested


@pytest.mark.parametrize(("text", "format"), LEFT)
def test_what_needs_a_thought_is_left_to_the_machine(text: str, format: str) -> None:
    assert short(text, format) is None


@pytest.mark.parametrize("schema", [{"type": "string"}, {"enum": ["a"]}, {"const": "x"}])
def test_tags_in_a_text_are_left_to_the_machine(schema: Any) -> None:
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}}
    assert short(m3(f"{M3}<c>1{M3}</c>"), "minimax_m3", [tool]) is None
    assert short(m3("plain"), "minimax_m3", [tool]) == by_machine(m3("plain"), "minimax_m3", [tool])


ROW_SCHEMAS = [
    ({"type": "array", "items": {"type": "object"}}, [{"k": 1}], [1]),
    ({"type": "array", "items": {"type": "number"}}, [1, 2.5], [True]),
    ({"type": "array"}, [1, "x", None], 3),
    ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}, ["x", 1], [1, 1]),
    (
        {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        [{"n": 1}],
        [{"n": "x"}],
    ),
]


@pytest.mark.parametrize(("schema", "fits", "misfits"), ROW_SCHEMAS)
def test_lists_are_taken_where_their_schema_leaves_them_as_they_stand(schema: Any, fits: Any, misfits: Any) -> None:
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"rows": schema}}}
    taken = hermes(json.dumps({"rows": fits}))
    for _ in range(2):  # what was learnt of the schema holds the second time
        assert short(taken, "hermes", [tool]) == by_machine(taken, "hermes", [tool])
        assert short(taken, "hermes", [tool]) is not None
        assert short(hermes(json.dumps({"rows": misfits})), "hermes", [tool]) is None


def test_a_tuple_whose_places_share_a_schema_object_is_not_taken_for_a_list() -> None:
    text = {"type": "string"}
    rows = {"type": "array", "prefixItems": [text, {"type": "integer"}], "items": text}
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"rows": rows}}}
    assert short(hermes('{"rows": ["a", "b", "c"]}'), "hermes", [tool]) is None
    assert short(hermes('{"rows": ["a", 1, "c"]}'), "hermes", [tool]) is not None
