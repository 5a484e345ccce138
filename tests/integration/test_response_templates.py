"""Shipped `response_template`s read replies as transformers reads them, and ours are read by it as we read them.

The replies are written here, in the grammar of each family and by our own hand: thinking, prose, and calls of several
tools with nested arguments. What is compared are names, typed arguments, content and reasoning (without the blanks
around them). Where a rule of transformers loses something, the replies leave it out, and say so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shared import named, same
from toolglot import Format, Messages, ToolglotError, formats, get_format, parse, render
from toolglot._format import written
from toolglot._response_export import to_response_template
from toolglot._response_template import THOUGHTS

from . import response_templates

Json = dict[str, Any]
HF = response_templates.parser()
SHIPPED = response_templates.shipped()
EXAMPLES = 50  # of each; the other parser takes a few milliseconds a reply
UNTYPED = response_templates.shipped(typed=False)

pytestmark = pytest.mark.skipif(HF is None or response_templates.TRL is None, reason=response_templates.ABSENT)

TOOLS: list[Json] = [
    {
        "type": "function",
        "function": {
            "name": "plan_route",
            "parameters": {
                "type": "object",
                "properties": {
                    "start": {"type": "string"},
                    "code": {"type": "string"},
                    "stops": {"type": "integer"},
                    "pace": {"type": "number"},
                    "scenic": {"type": "boolean"},
                    "via": {"type": "array"},
                    "limits": {"type": "object"},
                },
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "note",
            "parameters": {"type": "object", "properties": {"text": {"type": "string"}, "tag": {"type": "string"}}},
        },
    },
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
]

# Words without quotes, brackets or blanks at their ends: those belong to the markers in some of the grammars.
WORDS = st.sampled_from(
    ["Oslo", "Łódź quay", "00713", "3.50", "ring road\nthen left", "a & b", "日本", "true", "x=1; y"]
)
INNER = st.recursive(
    st.integers(-999, 999) | st.sampled_from(["Bergen", "two words", "5"]),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.sampled_from(["km", "via", "n_2"]), v, max_size=2),
    max_leaves=6,
)
NOTES = st.fixed_dictionaries({}, optional={"text": WORDS, "tag": WORDS})
ROUTES = st.fixed_dictionaries(
    {},
    optional={
        "start": WORDS,
        "code": WORDS,
        "stops": st.integers(-(10**9), 10**9),
        "pace": st.sampled_from([0.5, -12.25, 3.0625]),
        "scenic": st.booleans(),
        "via": st.lists(INNER, max_size=3),
        "limits": st.dictionaries(st.sampled_from(["km", "hours"]), INNER, max_size=2),
    },
)
CALL = st.one_of(
    ROUTES.map(lambda a: ("plan_route", a)), NOTES.map(lambda a: ("note", a)), st.just(("now", dict[str, Any]()))
)
CALLS = st.lists(CALL, max_size=3)
PROSE = st.sampled_from(["", "I will look.", "Two things:\n- one\n- two", "Så är det, 100 %."])

Call = tuple[str, Json]
Reply = tuple[str, str]
"""The prompt's tail, and what the model wrote behind it."""


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def joined(content: str, calls: str) -> str:
    return f"{content}\n{calls}" if content and calls else content + calls


def tagged_json(thought: str, content: str, calls: list[Call]) -> Reply:
    blocks = [f"<tool_call>\n{dumps({'name': n, 'arguments': a})}\n</tool_call>" for n, a in calls]
    think = f"<think>\n{thought}\n</think>\n\n" if thought else ""
    return "<|im_start|>assistant\n", f"{think}{joined(content, chr(10).join(blocks))}<|im_end|>"


def function_tags(calls: list[Call]) -> str:
    blocks = []
    for name, arguments in calls:
        params = "".join(f"<parameter={k}>\n{text(v)}\n</parameter>\n" for k, v in arguments.items())
        blocks.append(f"<tool_call>\n<function={name}>\n{params}</function>\n</tool_call>")
    return "\n".join(blocks)


def prefilled(thought: str, content: str, calls: list[Call]) -> Reply:
    """The prompt opens the thinking, or closes it too."""
    prompt = "<|im_start|>assistant\n<think>\n" + ("" if thought else "\n</think>\n\n")
    think = f"{thought}\n</think>\n\n" if thought else ""
    return prompt, f"{think}{joined(content, function_tags(calls))}<|im_end|>"


def prefilled_closed(thought: str, content: str, calls: list[Call]) -> Reply:
    prompt = "<|im_start|>assistant\n<think>" + ("\n" if thought else "</think>")
    return prompt, prefilled(thought, content, calls)[1]


def key_value_tags(thought: str, content: str, calls: list[Call]) -> Reply:
    blocks = []
    for name, arguments in calls:
        lines = "".join(f"<arg_key>{k}</arg_key>\n<arg_value>{text(v)}</arg_value>\n" for k, v in arguments.items())
        blocks.append(f"<tool_call>{name}\n{lines}</tool_call>")
    think = f"<think>{thought}</think>\n" if thought else ""
    return "<|assistant|>\n", f"{think}{joined(content, chr(10).join(blocks))}<|user|>"


def bare_object(thought: str, content: str, calls: list[Call]) -> Reply:
    """One call and nothing else, or prose: the family writes no more, and no thinking."""
    said = dumps({"name": calls[0][0], "parameters": calls[0][1]}) if calls else content
    return "<|start_header_id|>assistant<|end_header_id|>\n\n", f"{said}<|eot_id|>"


def channels(thought: str, content: str, calls: list[Call]) -> Reply:
    """An answer ends the turn, so that there is one or there are calls."""
    parts = [f"<|channel|>analysis<|message|>{thought}<|end|>"] if thought else []
    parts += [f" to=functions.{n}<|channel|>commentary json<|message|>{dumps(a)}<|call|>" for n, a in calls]
    if content and not calls:
        parts.append(f"<|channel|>final<|message|>{content}<|return|>")
    return "<|start|>assistant", "<|start|>assistant".join(parts)


def call_list(thought: str, content: str, calls: list[Call]) -> Reply:
    """Without line breaks and true or false, which this template of trl reads as text (its own comment says so)."""

    def value(v: Any) -> str:
        return f"'{v}'" if isinstance(v, str) else dumps(v) if isinstance(v, dict) else str(v)

    def argument(k: str, v: Any) -> str:
        return f"{k}={value(v)}"

    shown = [f"{n}({', '.join(argument(*i) for i in a.items() if not isinstance(i[1], bool))})" for n, a in calls]
    block = f"<|tool_call_start|>[{', '.join(shown)}]<|tool_call_end|>" if calls else ""
    think = f"<think>\n{thought}\n</think>\n" if thought else ""
    return "<|im_start|>assistant\n", f"{think}{content}{block}<|im_end|>"


def bare_keys(thought: str, content: str, calls: list[Call]) -> Reply:
    def value(v: Any) -> str:
        if isinstance(v, dict):
            return "{" + ",".join(f"{k}:{value(i)}" for k, i in v.items()) + "}"
        if isinstance(v, list):
            return "[" + ",".join(map(value, v)) + "]"
        return f'<|"|>{v}<|"|>' if isinstance(v, str) else dumps(v)

    blocks = "".join(f"<|tool_call>call:{n}{value(a)}<tool_call|>" for n, a in calls)
    think = f"<|channel>thought\n{thought}<channel|>" if thought else ""
    return "<|turn>model\n", f"{think}{content}{blocks}<turn|>"


WRITERS: dict[str, Callable[[str, str, list[Call]], Reply]] = {
    "trl qwen3_template": tagged_json,
    "trl qwen3_5_template": prefilled,
    "trl glm4moe_template": key_value_tags,
    "trl llama3_template": bare_object,
    "trl gptoss_template": channels,
    "trl lfm2_2_5_template": call_list,
    "trl nemotron_3_template": prefilled_closed,
    "trl gemma4_template": bare_keys,
    "transformers qwen2": tagged_json,
    "transformers qwen3_5": prefilled,
    "transformers gemma4": bare_keys,
}
REFUSED = {"trl deepseek_r1_distill_template": "response_template, fields.tool_calls: expected the field of the calls"}


def theirs(template: Json, prompt: str, reply: str, tools: list[Json]) -> Json:
    """What transformers reads."""
    message = HF.parse_response(reply, template, prefix=prompt, tools=tools)
    calls = [dict(c["function"]) for c in message.get("tool_calls", [])]
    thought = next((message[k] for k in THOUGHTS if k in message), "")
    return {"calls": calls, "content": message.get("content", "").strip(), "reasoning": thought.strip()}


def ours(format: Format | Messages, prompt: str, reply: str, tools: list[Json]) -> Json:
    result = parse(reply, tools, format=format, prefix=prompt)
    return {
        "calls": named(result.calls),
        "content": result.content.strip(),
        "reasoning": result.reasoning.strip(),
    }


def test_every_shipped_template_is_in_a_table() -> None:
    assert SHIPPED.keys() == WRITERS.keys() | REFUSED.keys()


@pytest.mark.parametrize("name", REFUSED)
def test_template_that_no_format_can_say_is_refused(name: str) -> None:
    with pytest.raises(ToolglotError, match=REFUSED[name]):
        Format.from_response_template(SHIPPED[name])


@pytest.mark.parametrize("name", WRITERS)
@given(PROSE, PROSE, CALLS)
@settings(deadline=None, max_examples=EXAMPLES)
def test_shipped_template_reads_as_transformers_does(name: str, thought: str, content: str, calls: list[Call]) -> None:
    agree(name, SHIPPED[name], TOOLS, thought, content, calls)


# Without a schema ours takes a value for JSON where it is JSON; this template takes it for text.
TEXT_ALONE = {"transformers qwen3_5"}


@pytest.mark.parametrize("name", sorted(WRITERS.keys() - TEXT_ALONE))
@given(PROSE, PROSE, CALLS)
@settings(deadline=None, max_examples=EXAMPLES)
def test_it_does_so_without_tools(name: str, thought: str, content: str, calls: list[Call]) -> None:
    agree(name, UNTYPED[name], [], thought, content, calls)


def agree(name: str, template: Json, tools: list[Json], thought: str, content: str, calls: list[Call]) -> None:
    format = Format.from_response_template(template, id="shipped")
    prompt, reply = WRITERS[name](thought, content, calls)
    expected = theirs(template, prompt, reply, tools)
    assert len(expected["calls"]) == len(calls[:1] if name == "trl llama3_template" else calls)
    got = ours(format, prompt, reply, tools)
    assert same(got, expected), (reply, got, expected)


# -- and the other way ---------------------------------------------------------------------------------


def exported() -> dict[str, Json]:
    """The templates of the registered formats that one can say."""
    found: dict[str, Json] = {}
    for format in formats():
        try:
            found[format.id] = to_response_template(format)
        except ToolglotError:
            continue
    return found


EXPORTED = exported()


@pytest.mark.parametrize("name", EXPORTED)
@given(PROSE, PROSE, CALLS)
@settings(deadline=None, max_examples=EXAMPLES)
def test_transformers_reads_an_exported_template_as_we_read_its_format(
    name: str, thought: str, content: str, calls: list[Call]
) -> None:
    format = get_format(name)
    said = [{"name": n, "arguments": a} for n, a in calls]
    try:
        reply = render(said, format=format, content=content)
    except ToolglotError:
        return  # the wire cannot carry a value
    if thought and isinstance(format, Format) and format.thinking:
        reply = written(f"{format.thinking[0].open}{thought}{format.thinking[0].close}") + reply
    expected = ours(format, "", reply, TOOLS)
    assert same(theirs(EXPORTED[name], "", reply, TOOLS), expected), reply


@pytest.mark.parametrize("name", EXPORTED)
def test_an_exported_template_sees_the_thinking_that_the_prompt_opens(name: str) -> None:
    format = get_format(name)
    if isinstance(format, Messages) or not format.thinking:
        return
    opener, closer = written(format.thinking[0].open), written(format.thinking[0].close)
    reply = f"Hm, hm.{closer}Yes."
    for prompt in (f"<user>Why?{opener}no{closer}<bot>{opener}", f"<bot>{opener}\n"):
        read = theirs(EXPORTED[name], prompt, reply, [])
        assert read == {"calls": [], "content": "Yes.", "reasoning": "Hm, hm."}
