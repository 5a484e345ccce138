"""Detection: from templates of our own, hostile ones too, from names, configurations, replies, and by the command."""

from __future__ import annotations

import importlib
import io
import json
import re
import sys
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from toolglot import Format, ToolglotError, _registry, detect, get_format, register
from toolglot._detect import names, rules, sandbox
from toolglot.cli import main
from toolglot.formats import ORDER

OWN = {format.id for name in ORDER for format in importlib.import_module(f"toolglot.formats.{name}").FORMATS}

TURN = "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}{% for c in m.tool_calls or [] %}CALL{% endfor %}"
REST = "<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
JSON_CALL = '<tool_call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</tool_call>'


def template(call: str, turn: str = TURN, rest: str = REST) -> str:
    """A chat template that writes a call so."""
    return turn.replace("CALL", call) + rest


def ids(**given: Any) -> list[str]:
    return [found.format for found in detect(**given)]


# Chat templates.


def test_a_template_is_found_by_what_it_writes() -> None:
    best = detect(chat_template=template(JSON_CALL))[0]
    assert (best.format, best.source, best.start_in, best.prompt) == ("hermes", "rendering", "text", "<|assistant|>")
    assert "2 probe calls reads back exactly" in best.reason


def test_a_template_whose_markers_are_put_together_is_found() -> None:
    """No marker stands in the source, so only a rendering tells."""
    call = (
        "{{ '<tool' ~ '_call>' }}" + JSON_CALL[len("<tool_call>") : -len("</tool_call>")] + "{{ '</tool_c' + 'all>' }}"
    )
    assert ids(chat_template=template(call))[0] == "hermes"


def test_a_marker_in_the_instructions_does_not_mislead() -> None:
    source = "Never write <|tool_calls_section_begin|> or <|tool_call_begin|>." + template(JSON_CALL)
    assert ids(chat_template=source)[0] == "hermes"


@pytest.mark.parametrize(
    ("between", "expected"), [("\n", "glm45"), ("", "glm47")], ids=["with line breaks", "without line breaks"]
)
def test_formats_that_differ_in_blank_space_are_told_apart(between: str, expected: str) -> None:
    pair = "<arg_key>{{ k }}</arg_key>NL<arg_value>{{ v if v is string else v | tojson }}</arg_value>NL"
    call = "<tool_call>{{ c.function.name }}NL{% for k, v in c.function.arguments.items() %}" + pair
    call = (call + "{% endfor %}</tool_call>").replace("NL", "{{ '\\n' }}" if between else "")
    assert ids(chat_template=template(call))[0] == expected


def test_an_open_thought_of_the_prompt_is_told() -> None:
    source = template(JSON_CALL, rest=REST.replace("<|assistant|>", "<|assistant|><think>\n"))
    best = detect(chat_template=source)[0]
    assert (best.format, best.start_in, best.prompt) == ("hermes", "reasoning", "<|assistant|><think>\n")
    closed = detect(chat_template=source.replace("<think>\n", "<think></think>"))[0]
    assert closed.start_in == "text"


REFUSALS = {
    "arguments as an object": "{% if c.function.arguments is mapping %}{{ raise_exception('text only') }}{% endif %}",
    "ids that are not of nine letters": "{% if c.id | length != 9 %}{{ raise_exception('nine') }}{% endif %}",
    "two calls": "{% if m.tool_calls | length > 1 %}{{ raise_exception('one only') }}{% endif %}",
    "content beside calls": "{% if m.content is not none %}{{ raise_exception('no content') }}{% endif %}",
    "nulls": "{% if none in c.function.arguments.values() %}{{ raise_exception('no null') }}{% endif %}",
}


@pytest.mark.parametrize("what", REFUSALS)
def test_a_template_that_refuses_some_messages_is_found(what: str) -> None:
    text = "{{ c.function.arguments if c.function.arguments is string else c.function.arguments | tojson }}"
    call = REFUSALS[what] + JSON_CALL.replace("{{ c.function.arguments | tojson }}", text)
    best = detect(chat_template=template(call))[0]
    assert (best.format, best.source) == ("hermes", "rendering")


def test_a_template_that_takes_contents_as_parts_is_found() -> None:
    turn = TURN.replace("{{ m.content or '' }}", "{% for p in m.content %}{{ p['text'] }}{% endfor %}")
    assert ids(chat_template=template(JSON_CALL, turn))[0] == "hermes"


def test_what_transformers_gives_a_template_is_there() -> None:
    source = (
        "{{ strftime_now('%d %b') }}{% set ns = namespace(n=0) %}{% for t in tools %}{% set ns.n = ns.n + 1 %}"
        "{% if ns.n > 1 %}{% break %}{% endif %}{{ t | tojson(indent=2) }}{% endfor %}{% generation %}"
        f"{template(JSON_CALL)}{{% endgeneration %}}"
    )
    assert detect(chat_template=source)[0].source == "rendering"


def test_json_is_written_as_transformers_writes_it() -> None:
    assert sandbox.Renderer().load("{{ x | tojson }}")({"x": {"b": "<é>", "a": 1}}) == '{"b": "<é>", "a": 1}'


def test_a_template_without_calls_is_judged_by_its_markers() -> None:
    source = template("") + "{# [TOOL_CALLS] [ARGS] #}"
    best = detect(chat_template=source)[0]
    assert (best.format, best.source, best.prompt) == ("mistral_v11", "substring", "<|assistant|>")
    assert '"[TOOL_CALLS]" and "[ARGS]"; its rendering holds no call' in best.reason


def test_a_template_that_tells_nothing_gives_nothing() -> None:
    assert detect(chat_template="{{ messages[0].content }}") == []
    assert detect(chat_template="") == []


def test_the_template_for_tools_goes_before_the_others() -> None:
    other = template("[TOOL_CALLS]{{ c.function.name }}[ARGS]{{ c.function.arguments | tojson }}")
    both = {"default": other, "tool_use": template(JSON_CALL)}
    assert ids(chat_template=both)[0] == "hermes"
    assert ids(chat_template=[{"name": n, "template": t} for n, t in both.items()])[0] == "hermes"
    assert ids(chat_template={"default": other, "rag": template(JSON_CALL)})[0] == "mistral_v11"


def test_a_users_own_format_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_FORMATS", "_ALIASES", "_all", "_bare"):  # the other tests do not see it
        monkeypatch.setattr(_registry, name, copy(getattr(_registry, name)))
    register(Format("detected_star", call="*{name}* {args:json} !"), replace=True)
    found = detect(chat_template=template("*{{ c.function.name }}* {{ c.function.arguments | tojson }} !"))
    assert found[0].format == "detected_star"


def test_without_jinja_the_markers_are_asked_and_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "toolglot._detect.sandbox", raising=False)
    best = detect(chat_template=template(JSON_CALL))[0]
    assert (best.format, best.source, best.start_in) == ("hermes", "substring", None)
    assert "install toolglot[detect]" in best.reason


# Hostile templates.

HOSTILE = {
    "a long loop": "{% for i in range(10 ** 9) %}x{% endfor %}",
    "loops in loops": "{% for i in range(9999) %}{% for j in range(9999) %}{{ j }}{% endfor %}{% endfor %}",
    "a loop that passes over all": "{% for i in range(99999) if false %}{% endfor %}" * 50,
    "loops nested deeply": "{% for i in [1] %}" * 200 + "{% endfor %}" * 200,
    "a long text": "{{ 'a' * 10 ** 9 }}",
    "a long list": "{{ [1] * 10 ** 9 }}",
    "a large number": "{{ 10 ** (10 ** 10) }}",
    "a text that doubles": "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}"
    "{% endfor %}",
    "a block that doubles": "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set b %}{{ n.x }}{{ n.x }}"
    "{% endset %}{% set n.x = b %}{% endfor %}",
    "a tree that doubles": "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}"
    "{% endfor %}{{ n.x }}",
    "a namespace in itself": "{% set n = namespace() %}{% set n.x = n %}{{ n }}",
    "namespaces that double": "{% set r = namespace(a=1) %}{% for i in range(60) %}"
    "{% set r.a = namespace(x=r.a, y=r.a) %}{% endfor %}{{ r.a | string }}",
    "a list in itself": "{% set l = [1] %}{{ l.append(l) }}{{ l }}",
    "macros that call themselves": "{% macro m(n) %}{{ m(n) }}{{ m(n) }}{% endmacro %}{{ m(1) }}",
    "macros that fan out": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(50) }}",
    "a block in itself": "{% block a %}{{ self.a() }}{% endblock %}",
    "a recursive loop": "{% for x in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}",
    "center": "{{ 'a' | center(10 ** 9) }}",
    "center as a method": "{{ 'a'.center(10 ** 9) }}",
    "ljust": "{{ 'a'.ljust(10 ** 9) }}",
    "center by map": "{{ ['a'] | map('center', 10 ** 9) | list }}",
    "indent": "{{ 'a\nb' | indent(10 ** 9) }}",
    "indented JSON": "{{ [1] | tojson(indent=10 ** 9) }}",
    "separators": "{{ [1, 2] | tojson(separators=('a' * 150000, 'b')) }}",
    "a wide field of %": "{{ '%1000000000d' % 1 }}",
    "a field as wide as it is told": "{{ '%*d' % (10 ** 9, 1) }}",
    "a wide field of format": "{{ '{:>1000000000}'.format(1) }}",
    "a field of format as wide as it is told": "{{ '{:>{}}'.format(1, 10 ** 9) }}",
    "the filter format": "{{ '%1000000000d' | format(1) }}",
    "replace": "{{ ('a' * 100000).replace('a', 'a' * 100000) }}",
    "the filter replace": "{{ ('a' * 100000) | replace('a', 'a' * 100000) }}",
    "join": "{{ range(9999) | join('a' * 100000) }}",
    "join as a method": "{{ ('a' * 100000).join('b' * 100000) }}",
    "batch": "{{ [1] | batch(10 ** 9, 'x') | list }}",
    "round": "{{ 1.5 | round(10 ** 9) }}",
    "lipsum": "{{ lipsum(n=10 ** 9) }}",
    "a wide date": "{{ strftime_now('%1000000000d') }}",
    "much work a turn": "{% for i in range(9999) %}{{ range(9999) | list | tojson | length }}{% endfor %}",
    "much output": "{% for i in range(9999) %}" + "a" * 9000 + "{% endfor %}",
    "a class": "{{ ''.__class__.__mro__ }}",
    "a class by a filter": "{{ '' | attr('__class__') }}",
    "a class by a format": "{{ '{0.__class__}'.format('') }}",
    "globals": "{{ raise_exception.__globals__ }}{{ namespace.__init__.__globals__ }}",
    "a file": "{% include '/etc/passwd' %}",
    "a module": "{% import 'os' as os %}",
    "many brackets": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "many filters": "{{ 'a'" + " | upper" * 5000 + " }}",
    "many blocks": "{% if 1 %}" * 2500 + "{% endif %}" * 2500,
    "many signs": "{{" * 40_000,
    "a long source": "x" * 1_000_000,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_template_ends_by_its_steps_and_is_judged_by_its_markers(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "SECONDS", 1e9)  # the bounds in steps and sizes hold without the clock
    assert sandbox.Renderer().load(HOSTILE[what])({"messages": []}) in (None, "")
    found = detect(chat_template=HOSTILE[what] + template(JSON_CALL))
    assert [(d.format, d.source) for d in found[:1]] in ([("hermes", "substring")], [("hermes", "rendering")])


def test_one_allowance_of_time_serves_all_renderings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "SECONDS", 0.0)
    assert sandbox.Renderer().load("x")({}) is None
    assert detect(chat_template=template(JSON_CALL))[0].source == "substring"


def test_the_probes_are_not_changed_by_a_template() -> None:
    source = "{% set _ = messages.append(1) %}{% set _ = tools.pop() %}" + template(JSON_CALL)
    assert detect(chat_template=source) == detect(chat_template=source)


# Names.

MODELS = {
    "Qwen/Qwen2.5-7B-Instruct": "hermes",
    "Qwen/Qwen3-30B-A3B-Instruct-2507": "hermes",
    "qwen3:8b": "hermes",
    "Qwen/QwQ-32B": "hermes",
    "Qwen/Qwen3-Coder-30B-A3B-Instruct": "qwen3_xml",
    "Qwen3-Coder-480B-A35B-Instruct-Q4_K_M.gguf": "qwen3_xml",
    "unsloth/Qwen3.5-4B-GGUF": "qwen3_xml",
    "mlx-community/Qwen3.6-27B-4bit": "qwen3_xml",
    "NousResearch/Hermes-2-Pro-Mistral-7B": "hermes",
    "NousResearch/Hermes-3-Llama-3.1-8B": "hermes",
    "ibm-granite/granite-4.0-h-small": "hermes",
    "ibm-granite/granite-3.3-8b-instruct": "granite",
    "granite3.2:8b": "granite",
    "ibm-granite/granite-20b-functioncalling": "granite_20b_fc",
    "meta-llama/Llama-3.1-8B-Instruct": "llama3_json",
    "meta-llama/Meta-Llama-3.1-70B-Instruct-AWQ": "llama3_json",
    "llama3.2:3b": "llama3_json",
    "llama-3.3-70b-versatile": "llama3_json",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": "llama4_pythonic",
    "Team-ACE/ToolACE-2-Llama-3.1-8B": "pythonic",
    "fixie-ai/ultravox-v0_5-llama-3_2-1b": "pythonic",
    "Salesforce/Llama-xLAM-2-8b-fc-r": "xlam",
    "meetkai/functionary-medium-v3.1": "llama3_function_tag",
    "meetkai/functionary-small-v3.2": "functionary_v32",
    "fireworks-ai/llama-3-firefunction-v2": "phi4_mini_json",
    "microsoft/Phi-4-mini-instruct": "phi4_mini_json",
    "nvidia/Llama-3_3-Nemotron-Super-49B-v1": "nemotron_json",
    "nvidia/NVIDIA-Nemotron-Nano-9B-v2": "nemotron_json",
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "qwen3_xml",
    "deepseek-ai/DeepSeek-V3-0324": "deepseek_v3",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B": "deepseek_v3",
    "deepseek-r1:14b": "deepseek_v3",
    "deepseek-ai/DeepSeek-R1-0528-Qwen3-8B": "deepseek_v3",
    "deepseek-ai/DeepSeek-V3.1": "deepseek_v31",
    "deepseek-ai/DeepSeek-V3.2-Exp": "deepseek_v32",
    "deepseek-ai/DeepSeek-V4-Flash": "deepseek_v4",
    "mistralai/Mistral-7B-Instruct-v0.3": "mistral",
    "mistral-nemo:12b": "mistral",
    "mistralai/Mixtral-8x22B-Instruct-v0.1": "mistral",
    "mistralai/Mistral-Large-Instruct-2407": "mistral",
    "mistralai/Ministral-8B-Instruct-2410": "mistral",
    "mistralai/Ministral-3-14B-Reasoning-2512": "mistral_v11",
    "mistralai/Devstral-Small-2507": "mistral_v11",
    "mistralai/Magistral-Small-2509": "mistral_v11",
    "mistralai/Mistral-Small-3.2-24B-Instruct-2506": "mistral_callid",
    "openai/gpt-oss-120b": "harmony",
    "gpt-oss:20b": "harmony",
    "zai-org/GLM-4.5-Air": "glm45",
    "zai-org/GLM-4.6-FP8": "glm45",
    "zai-org/GLM-4.7-Flash": "glm47",
    "zai-org/GLM-5": "glm47",
    "THUDM/GLM-4-32B-0414": "glm4_0414",
    "poolside/Laguna-XS.2": "poolside_v1",
    "inclusionAI/Ling-3.0-flash": "ling3",
    "tencent/Hunyuan-A13B-Instruct": "hunyuan_a13b",
    "tencent/Hy3": "hy_v3",
    "moonshotai/Kimi-K2-Instruct": "kimi_k2",
    "moonshotai/Kimi-K2.5": "kimi_k2",
    "moonshotai/Kimi-K3": "kimi_k3",
    "MiniMaxAI/MiniMax-M1-80k": "minimax_m1",
    "MiniMaxAI/MiniMax-M2.1": "minimax_m2",
    "MiniMaxAI/MiniMax-M3": "minimax_m3",
    "CohereForAI/c4ai-command-r7b-12-2024": "cohere_command",
    "CohereLabs/c4ai-command-a-03-2025": "cohere_command",
    "CohereForAI/c4ai-command-r-plus": "command_r",
    "command-r:35b": "command_r",
    "google/gemma-4-31B-it": "gemma4",
    "google/functiongemma-270m-it": "functiongemma",
    "google/gemma-3-27b-it": "json",
    "gemma3:27b": "json",
    "phi4-mini:3.8b": "phi4_mini_json",
    "ai21labs/AI21-Jamba-1.5-Mini": "jamba",
    "ai21labs/Jamba-v0.1": "jamba",
    "internlm/internlm2_5-7b-chat": "internlm",
    "internlm/Intern-S1": "internlm",
    "ServiceNow-AI/Apriel-1.5-15b-Thinker": "apriel",
    "swiss-ai/Apertus-8B-Instruct-2509": "apertus",
    "LiquidAI/LFM2-1.2B": "lfm2",
    "LiquidAI/LFM2.5-8B-A1B": "lfm2",
    "allenai/Olmo-3-7B-Instruct": "olmo3",
    "ByteDance-Seed/Seed-OSS-36B-Instruct": "seed_oss",
    "stepfun-ai/step3": "step3",
    "stepfun-ai/Step-3.5-Flash": "qwen3_xml",
    "stepfun-ai/Step-Audio-2-mini": "step_audio_2",
    "XiaomiMiMo/MiMo-VL-7B-RL": "hermes",
    "XiaomiMiMo/MiMo-V2-Flash": "mimo",
    "baidu/ERNIE-4.5-21B-A3B-Thinking": "ernie45",
    "meituan-longcat/LongCat-Flash-Chat": "longcat",
    "upstage/Solar-Open-100B": "solar_open",
    "openbmb/MiniCPM5-1B": "minicpm5",
    "facebook/cwm": "cwm",
    "ai-sage/GigaChat3-10B-A1.8B": "gigachat3",
    "ai-sage/GigaChat3.5-10B": "gigachat35",
    "pfnet/plamo-3-nict-8b-base": "plamo3",
    "speakleash/Bielik-11B-v3.0-Instruct": "hermes",
    "naver-hyperclovax/HyperCLOVAX-SEED-Think-32B": "hyperclovax",
    "naver-hyperclovax/HyperCLOVAX-SEED-Omni-8B": "hyperclovax",
    "claude-sonnet-4-5": "xml_invoke",
}


@pytest.mark.parametrize("name", MODELS)
def test_a_name_tells_its_format(name: str) -> None:
    told = [format for format, _ in names.by_name(name)]
    assert told[:1] == [MODELS[name]]
    if MODELS[name] in OWN:
        assert ids(model=name)[0] == MODELS[name]


@pytest.mark.parametrize("name", ["foo/bar", "", "gpt-4o", "dolphin-7b", "phind-34b", "x" * 100_000, "東京"])
def test_an_unknown_name_tells_nothing(name: str) -> None:
    assert detect(model=name) == []


@pytest.mark.parametrize(
    "name", ["naver-hyperclovax/HyperCLOVAX-SEED-Think-14B", "hyperclova-x_seed_think_14b.Q4_K_M.gguf"]
)
def test_a_model_whose_wire_no_format_reads_tells_nothing_though_its_family_is_known(name: str) -> None:
    assert detect(model=name) == []


def test_every_format_has_a_name_or_none_by_design() -> None:
    named = {format for _, formats, _ in names.NAMES for format in formats}
    assert named | set(names.WITHOUT_NAME) >= OWN


def test_the_tables_name_formats_as_they_are_called() -> None:
    """An id that is not declared is passed over; one that is declared is no alias and no slip."""
    listed = {format for _, formats, _ in names.NAMES for format in formats}
    listed |= {format for rule in (*rules.RULES, *rules.TOKENS) for format in rule.formats}
    listed |= {format for formats in rules.PARSER_TYPES.values() for format in formats}
    for id in sorted(listed):
        try:
            assert get_format(id).id == id
        except ToolglotError:
            assert re.fullmatch(r"[a-z0-9_]+", id)


def test_no_rule_stands_behind_one_that_hides_it() -> None:
    for at, rule in enumerate(rules.RULES):
        text = "\n".join([*rule.has, *rule.some[:1]])
        assert next(r for r in rules.RULES if r.fits(text)) is rule, f"rule {at}: {rule.formats}"


# Configurations and replies.


def test_a_configuration_is_asked_in_the_order_of_trust() -> None:
    config = {
        "tool_parser_type": "pythonic",
        "chat_template": template(JSON_CALL),
        "added_tokens_decoder": {"7": {"content": "[TOOL_CALLS]"}, "8": {"content": "[ARGS]"}},
        "name_or_path": "zai-org/GLM-4.7",
    }
    found = detect(tokenizer_config=config)
    assert found[0].format == "lfm2"  # what mlx-lm calls pythonic
    assert "names the parser 'pythonic'" in found[0].reason
    order = [d.format for d in found if d.format in ("lfm2", "hermes", "glm47", "mistral_v11")]
    assert order == ["lfm2", "hermes", "glm47", "mistral_v11"]
    assert len({d.format for d in found}) == len(found)


def test_what_the_template_tells_is_told_of_a_format_that_was_named() -> None:
    source = template(JSON_CALL, rest=REST.replace("<|assistant|>", "<|assistant|><think>"))
    best = detect(tokenizer_config={"tool_parser_type": "json_tools", "chat_template": source})[0]
    assert (best.format, best.source, best.start_in) == ("hermes", "tokenizer_config", "reasoning")


@pytest.mark.parametrize("id", ["hermes", "qwen3_xml", "glm45", "gemma4", "harmony", "lfm2"])
def test_a_response_template_gives_the_format_that_reads_the_same(id: str) -> None:
    template = get_format(id).to_response_template()
    best = detect(tokenizer_config={"response_template": template})[0]
    assert (best.format, best.source) == (id, "tokenizer_config"), best.reason


def test_a_response_template_is_asked_for_its_markers() -> None:
    template = {"fields": {"tool_calls": {"open": "<|tool_calls_section_begin|>", "item": "<\\|tool_call_begin\\|>"}}}
    best = detect(tokenizer_config={"response_template": template})[0]
    assert (best.format, best.source) == ("kimi_k2", "tokenizer_config")


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"tool_parser_type": 5, "chat_template": 7, "added_tokens_decoder": [1], "name_or_path": None},
        {"tool_parser_type": "no_such", "chat_template": [1, {"name": "a"}], "added_tokens_decoder": {"1": "a"}},
        {"response_template": {"a": [[1, None]]}, "chat_template": {"default": 1}},
    ],
)
def test_an_odd_configuration_tells_nothing(config: dict[str, Any]) -> None:
    assert detect(tokenizer_config=config) == []


def test_a_reply_tells_what_auto_finds() -> None:
    best = detect(text='Hm.</think>\n<tool_call>{"name": "f", "arguments": {}}</tool_call>')[0]
    assert (best.format, best.source, best.start_in) == ("hermes", "text", "reasoning")
    best = detect(text='<think>Hm.</think><tool_call>{"name": "f", "arguments": {}}</tool_call>')[0]
    assert best.start_in == "text"
    assert detect(text="Hello.") == []


@pytest.mark.parametrize("given", [{}, {"model": 5}, {"chat_template": 5}, {"tokenizer_config": "a"}, {"text": b"a"}])
def test_wrong_use_raises(given: dict[str, Any]) -> None:
    with pytest.raises(ToolglotError, match=r"^detect.*: expected"):
        detect(**given)


# The command.


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "model"


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    code = main(["detect", "--json", *arguments])
    told = capsys.readouterr()
    return code, [json.loads(line) for line in told.out.splitlines()], told.err


def first(rows: list[dict[str, Any]]) -> str:
    return str(rows[0]["found"][0]["format"])


def test_command_takes_a_name_and_shows_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detect", "qwen3:8b", "gpt-oss:20b"]) == 0
    told = capsys.readouterr().out
    assert told == (
        "=== qwen3:8b\nhermes  The name is one of Qwen2.5, QwQ and Qwen3.\n\n"
        "=== gpt-oss:20b\nharmony  The name is one of gpt-oss.\n"
    )


def test_command_takes_a_template_and_shows_how_the_reply_begins(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(folder / "a.jinja", template(JSON_CALL, rest=REST.replace("<|assistant|>", "<|assistant|><think>")))
    assert main(["detect", path]) == 0
    told = capsys.readouterr().out
    assert told.startswith("hermes ")
    assert 'begins inside reasoning, behind the prompt "<|assistant|><think>".' in told


def test_command_takes_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mistral = template("[TOOL_CALLS]{{ c.function.name }}[ARGS]{{ c.function.arguments | tojson }}")
    write(folder / "tokenizer_config.json", json.dumps({"chat_template": mistral}))
    assert first(run(capsys, str(folder))[1]) == "mistral_v11"
    write(folder / "chat_template.jinja", template(JSON_CALL))  # goes before the configuration's own
    assert first(run(capsys, str(folder))[1]) == "hermes"
    write(folder / "additional_chat_templates" / "tool_use.jinja", mistral)
    assert first(run(capsys, str(folder))[1]) == "mistral_v11"


def test_command_asks_the_tokens_and_the_name_of_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokens = [{"id": 1, "content": "<seed:tool_call>"}]
    write(folder / "tokenizer.json", json.dumps({"added_tokens": tokens}))
    assert first(run(capsys, str(folder))[1]) == "seed_oss"
    cached = folder / "models--Qwen--Qwen3-8B" / "snapshots" / "abc"
    write(cached / "config.json", "{}")
    assert first(run(capsys, str(cached))[1]) == "hermes"


def test_command_takes_files_of_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = [{"name": "default", "template": template("")}, {"name": "tool_use", "template": template(JSON_CALL)}]
    for name in ("tokenizer_config.json", "chat_template.json"):
        code, rows, _ = run(capsys, write(folder / name, json.dumps({"chat_template": named})))
        assert (code, first(rows)) == (0, "hermes")


def test_command_takes_replies(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = '[TOOL_CALLS]f[ARGS]{"a": 1}'
    code, rows, _ = run(capsys, write(folder / "reply.txt", reply), "--text", write(folder / "reply.json", reply))
    assert code == 0
    assert [row["found"][0]["source"] for row in rows] == ["text", "text"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(reply.encode())))
    assert first(run(capsys, "-")[1]) == "mistral_v11"


def test_command_says_what_it_did_not_find(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, rows, err = run(capsys, "foo/bar", write(folder / "a.jinja", "{{ 1 }}"), "qwen3:8b")
    assert code == 1
    assert [len(row["found"]) for row in rows] == [0, 0, 1]
    assert "foo/bar: no format found in the name." in err
    assert "no format found in the chat template." in err


@pytest.mark.parametrize(
    ("name", "text"), [("a.json", "{"), ("a.json", "[1]"), ("a.json", "[" * 100_000), ("a.json", "\ud800")]
)
def test_command_refuses_what_is_no_configuration(
    name: str, text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.mkdir()
    (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    code, rows, err = run(capsys, str(folder / name))
    assert (code, rows) == (2, [])
    assert err.startswith("toolglot: Expected ")


@pytest.mark.parametrize(
    "arguments", [[], [""], ["./none.jinja"], ["none.json"], ["/none"], ["--text", "/none"], ["--none"], ["a\0.jinja"]]
)
def test_command_refuses_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detect", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err
