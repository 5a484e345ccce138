"""What a model is shown in each dialect, beside what the vendors' own chat templates show."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import toolglot
from tests.integration import chat_templates
from tests.shared import ROOT
from toolglot import ToolglotError, formats, parse
from toolglot.prompting import (
    LAYOUTS,
    Layout,
    layout_of,
    messages_to_text,
    plain_messages,
    render_results,
    system_prompt,
)

TIDE = {
    "name": "get_tide",
    "description": "Tells the tide.",
    "parameters": {
        "type": "object",
        "properties": {
            "harbour": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "default": 1},
            "kind": {"enum": ["high", "low"]},
            "at": {"type": ["array", "null"], "items": {"type": "number"}},
        },
        "required": ["harbour"],
    },
}
TOOLS = [{"type": "function", "function": TIDE}, "ping"]
CALLS = [
    {"id": "abcdefgh1", "type": "function", "function": {"name": "get_tide", "arguments": '{"harbour": "Oban"}'}},
    {"id": "abcdefgh2", "type": "function", "function": {"name": "ping", "arguments": {}}},
]
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Tide?"},
    {"role": "assistant", "content": "I look.", "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "abcdefgh1", "name": "get_tide", "content": "high at 14:02"},
    {"role": "tool", "tool_call_id": "abcdefgh2", "name": "ping", "content": [{"type": "text", "text": "pong"}]},
    {"role": "assistant", "content": "At two."},
    {"role": "user", "content": "Thanks."},
]
IDS = [f.id for f in formats()]

TEMPLATES = {
    "hermes": "qwen3",
    "qwen3_xml": "qwen3_5_think",
    "glm45": "glm4moe",
    "lfm2": "lfm2_v2",
    "gemma4": "gemma4_v5",
    "muse_glimmer": "muse_glimmer",
}
"""A real template of a family, by the format."""


vendors = pytest.mark.skipif(chat_templates.TEMPLATE_FOLDER is None, reason="the wheel of trl is not installed")


def theirs(name: str, messages: object) -> str:
    """What a vendor's template makes of a chat with the one tool."""
    return chat_templates.load(name).render(
        messages=messages, tools=[TOOLS[0]], add_generation_prompt=True, bos_token="", eos_token=""
    )


@pytest.mark.parametrize("format", ["auto", *IDS])
def test_a_chat_of_each_format_shows_all_that_was_said(format: str) -> None:
    text = messages_to_text(CHAT, TOOLS, format=format)
    for part in ("Be brief.", "Tide?", "I look.", "high at 14:02", "pong", "At two.", "Thanks.", "get_tide", "Tells"):
        assert part in text
    shown = plain_messages(CHAT, TOOLS, format=format)
    assert [m["role"] for m in shown] == ["system", "user", "assistant", "user", "assistant", "user"]
    read = parse(shown[2]["content"], ["get_tide", "ping"], format="hermes" if format == "auto" else format)
    assert [(c.name, c.arguments) for c in read.calls] == [("get_tide", {"harbour": "Oban"}), ("ping", {})]


@pytest.mark.parametrize("format", ["auto", *IDS])
def test_the_shown_call_reads_back_in_its_format(format: str) -> None:
    section = system_prompt(TOOLS, format=format, style="neutral")
    example = section.split("own arguments:\n")[1].split("\n\nWrite one")[0]
    read = parse(example, ["tool_name"], format="hermes" if format == "auto" else format)
    assert [(c.name, c.arguments) for c in read.calls] == [("tool_name", {"argument_name": "value"})]


@vendors
@pytest.mark.parametrize("format", TEMPLATES)
def test_results_and_turns_are_those_of_the_vendor(format: str) -> None:
    chat = [m | {"content": "".join(p["text"] for p in m["content"])} if isinstance(m["content"], list) else m
            for m in CHAT]  # fmt: skip
    chat[2] = chat[2] | {"tool_calls": [{**c, "function": {**c["function"], "arguments": {}}} for c in CALLS]}
    shown = theirs(TEMPLATES[format], chat)
    results = render_results(CHAT[3:5], format=format)
    assert results in shown
    end = messages_to_text(CHAT[-1:], format=format).removeprefix(layout_of(format).begin)
    assert end in shown


@vendors
@pytest.mark.parametrize("format", ["hermes", "qwen3_xml", "glm45", "lfm2"])
def test_definitions_are_those_of_the_vendor(format: str) -> None:
    shown = theirs(TEMPLATES[format], CHAT[:2])
    line = json.dumps(TOOLS[0], ensure_ascii=False)
    assert line in shown and line in system_prompt(TOOLS, format=format)


@vendors
def test_types_are_written_as_harmony_writes_them() -> None:
    shown = theirs("gptoss", CHAT[:2])
    ours = system_prompt([TIDE], format="harmony")
    for line in ("// Tells the tide.", "type get_tide = (_: {", "harbour: string,", "}) => any;"):
        assert line in shown and line in ours
    assert (
        'kind?: "high" | "low",' in ours and "at?: number[] | null," in ours and "days?: number, // default: 1" in ours
    )


FAMILIES = {word.lower() for format in formats() for word in re.findall(r"\b[A-Z][\w.-]{3,}", format.models)}
FAMILIES |= {re.split(r"[\d_.-]", format.id)[0] for format in formats() if format.tier == "tagged"}
FAMILIES -= {"json", "python", "bracket", "xml"}


def test_the_neutral_prompt_names_no_family() -> None:
    assert {"qwen3", "mistral", "hermes", "llama", "granite", "gemma"} <= FAMILIES
    words = {word for w in re.findall(r"\w+", system_prompt(["ping"]).lower()) for word in (w, *w.split("_"))}
    assert not words & FAMILIES


def test_the_page_lists_the_layouts() -> None:
    page = (ROOT / "docs" / "prompting.md").read_text("utf-8").partition("family's layout: ")[2].partition(". Those")[0]
    assert re.findall(r"`(\w+)`", page) == sorted(LAYOUTS)


def test_layouts_are_of_known_formats() -> None:
    assert set(LAYOUTS) <= set(IDS)
    assert layout_of("hermes_2_pro") is layout_of("hermes")
    assert layout_of("hermes", "neutral") is layout_of("auto")


def test_without_tools_there_is_no_section() -> None:
    assert system_prompt([]) == ""
    assert plain_messages([{"role": "user", "content": "Hi"}]) == [{"role": "user", "content": "Hi"}]
    assert plain_messages([{"role": "user", "content": "Hi"}], ["ping"])[0]["role"] == "system"


def test_a_layout_of_ones_own() -> None:
    own = Layout(result="= {name}: {content}", results="({results})", turns=Layout().turns | {"tool": "[{content}]"})
    assert (
        render_results([{"name": "f", "content": 1}, {"name": "g", "content": None}], layout=own) == "[(= f: 1\n= g: )]"
    )
    assert render_results([{"name": "f", "content": "{x}"}], layout=own, turns=False) == "(= f: {x})"
    assert render_results([]) == ""


def test_each_result_has_a_turn_of_its_own_where_the_family_does_so() -> None:
    text = messages_to_text(CHAT, TOOLS, format="lfm2")
    assert "14:02<|tool_response_end|><|im_end|>\n<|im_start|>tool\n<|tool_response_start|>pong" in text
    assert messages_to_text(CHAT[1:2], TOOLS, format="kimi_k2").startswith("<|im_system|>tool_declare")


MISTAKES = [
    (lambda: system_prompt("ping"), "iterable of tools"),
    (lambda: system_prompt(["ping"], format="nonsense"), "nonsense"),
    (lambda: system_prompt(["ping"], style="loud"), "style"),  # type: ignore[arg-type]
    (lambda: render_results([{"name": "f"}]), r"results\[0\]"),
    (lambda: render_results(["text"]), "mapping with content"),  # type: ignore[list-item]
    (lambda: Layout(result="{contents}"), r"\{contents\}"),
    (lambda: Layout(turns={"user": "{content}"}), "assistant, system"),
    (lambda: Layout(definition="yaml"), "yaml"),  # type: ignore[arg-type]
    (lambda: Layout(entry="{tools}"), "in entry"),
    (lambda: Layout(indent=2, definition="typescript"), "indent"),
    (lambda: Layout(indent=-1), "indent"),
    (lambda: Layout(tools_first="no"), "tools_first"),  # type: ignore[arg-type]
    (lambda: Layout(system_joint=None), "system_joint"),  # type: ignore[arg-type]
    (lambda: Layout(turns=Layout().turns | {"calls": "{text}"}), "calls"),
    (lambda: Layout(turns=Layout().turns | {"calls": "{calls}{json}"}), r"\{json\}"),
    (lambda: plain_messages([{"role": "assistant", "tool_calls": 5}]), r"tool_calls .* 5 \(messages\[0\]\)"),
    (lambda: messages_to_text([{"role": "assistant", "tool_calls": {"name": "f"}}]), r"tool_calls .*\[0\]"),
    (lambda: plain_messages([{"role": "robot", "content": ""}]), r"messages\[0\]"),
    (lambda: plain_messages(["text"]), "as a mapping"),  # type: ignore[list-item]
    (lambda: plain_messages([{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "{"}]}]), "as JSON"),
    (lambda: plain_messages([{"role": "assistant", "tool_calls": [{"arguments": {}}]}]), "name and arguments"),
]


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"entry": "{name"}, "in entry"),
    ({"entry": "}"}, "in entry"),
    ({"entry": 5}, "entry as text"),
    ({"entry": "{name!x}"}, "in entry"),
    ({"entry": "{name:{x}}"}, "in entry"),
    ({"entry": "{name.x}"}, "in entry"),
    ({"entry": "no field at all"}, "in entry"),
    ({"tools": None}, "tools as text"),
    ({"result": b"{content}"}, "result as text"),
    ({"results": "{results:d}"}, "in results"),
    ({"indent": "x", "definition": "function"}, "indent"),
    ({"indent": 1.5, "definition": "function"}, "indent"),
    ({"indent": True, "definition": "function"}, "indent"),
    ({"definition": []}, "definition"),
    ({"turns": None}, "turns as a mapping"),
    ({"turns": 5}, "turns as a mapping"),
]
BROKEN_TURNS: list[tuple[dict[Any, Any], str]] = [
    ({"calls": 5}, r"turns\['calls'\] as text"),
    ({"calls": "{content"}, r"turns\['calls'\]"),
    ({"calls": "{content!x}"}, r"turns\['calls'\]"),
    ({"calls": "{content:d}"}, r"turns\['calls'\]"),
    ({"system": None}, r"turns\['system'\] as text"),
    ({"system": "{name}: {content}"}, r"turns\['system'\]"),
    ({"tool": "{id}: {content}"}, r"turns\['tool'\]"),
    ({"prompt": "{content}"}, r"turns\['prompt'\]"),
    ({"tols": "{content}"}, "turns among .* 'tols'"),
    ({1: "{content}"}, "turns among .* 1"),
]
BROKEN += [({"turns": {**Layout().turns, **turns}}, words) for turns, words in BROKEN_TURNS]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_a_mistake_in_a_layout_is_named_when_it_is_made(number: int) -> None:
    fields, words = BROKEN[number]
    with pytest.raises(ToolglotError, match=f"^layout: .*{words}"):
        Layout(**fields)


def test_braces_are_written_and_fields_may_be_formatted() -> None:
    own = Layout(
        result="{content!r:>6}", turns=Layout().turns | {"assistant": "{{a}} {content}", "tool": "{id}: {content}"},
        apart=True,
    )  # fmt: skip
    assert render_results([{"name": "f", "content": "x", "id": "i"}], layout=own) == "i:    'x'"
    assert messages_to_text([], layout=own) == "{a} "
    assert messages_to_text([], layout=Layout(turns=Layout().turns | {"prompt": "{{"})) == "{"


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_are_named(number: int) -> None:
    attempt, words = MISTAKES[number]
    with pytest.raises(ToolglotError, match=words):
        attempt()


def test_prompting_is_no_part_of_the_core() -> None:
    assert "system_prompt" not in toolglot.__all__


def test_results_carry_the_ids_of_their_calls_in_their_order() -> None:
    late = [CHAT[0], CHAT[1], CHAT[2], CHAT[4], CHAT[3]]
    text = messages_to_text(late, TOOLS, format="kimi_k2")
    assert "functions.get_tide:0" in text and "functions.ping:1" in text
    assert text.index("## Return of functions.get_tide:0\nhigh") < text.index("## Return of functions.ping:1\npong")
    again = messages_to_text([*late, *late[2:]], TOOLS, format="kimi_k2")
    assert "## Return of functions.get_tide:2" in again, "ids count on through the conversation"
    shown = messages_to_text(late, TOOLS, format="mistral")
    assert shown.count('"id": "abcdefgh2"') == 1 and '"call_id": "abcdefgh2"' in shown
    assert messages_to_text([m for m in late if m["role"] != "tool"], format="hermes") != text


def test_an_image_stays_and_no_role_is_swallowed() -> None:
    image = {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}
    assert plain_messages([image]) == [image]
    for value in ({"a": 10**5000}, [[1]]):
        try:
            render_results([{"content": value}])
        except ToolglotError as error:
            assert "JSON can hold" in str(error)
    with pytest.raises(ToolglotError, match="end"):
        plain_messages([{"role": "end", "content": "lost"}])


@vendors
def test_elements_are_written_as_a_vendor_writes_them() -> None:
    keys = ("harbour", "days")
    parameters = TIDE["parameters"] | {"properties": {key: TIDE["parameters"]["properties"][key] for key in keys}}
    tool = {"type": "function", "function": TIDE | {"parameters": parameters}}
    shown = chat_templates.load("nemotron_3_nano").render(messages=CHAT[:2], tools=[tool])
    element = shown.partition("<tools>\n")[2].partition("\n</tools>")[0]
    assert element.startswith("<function>") and element in system_prompt([tool], layout=Layout(definition="xml"))
