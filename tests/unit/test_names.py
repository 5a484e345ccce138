"""Names of formats as people and engines spell them."""

import csv

import pytest

from tests.shared import ABSENT, SHARED
from toolglot import ToolglotError, formats, get_format

IDS = SHARED / "formats" / "ids.tsv"

# What engines call a format, beside the names in the table of formats.
SPELT = {
    # vLLM: classes and modules
    "Hermes2ProToolParser": "hermes",
    "DeepSeekV31ToolParser": "deepseek_v31",
    "DeepSeekV3ToolParser": "deepseek_v3",
    "Glm47MoeModelToolParser": "glm47",
    "Glm4MoeModelToolParser": "glm45",
    "Llama3JsonToolParser": "llama3_json",
    "LongcatFlashToolParser": "longcat",
    "MinimaxM2ToolParser": "minimax_m2",
    "Olmo3PythonicToolParser": "olmo3",
    "Phi4MiniJsonToolParser": "phi4_mini_json",
    "Qwen3CoderToolParser": "qwen3_xml",
    "HarmonyParser": "harmony",
    "kimi_k2_tool_parser": "kimi_k2",
    "kimi_k2_engine": "kimi_k2",
    "GraniteEngineToolParser": "granite",
    # SGLang: classes
    "DeepSeekV31Detector": "deepseek_v31",
    "GptOssDetector": "harmony",
    "Qwen25Detector": "hermes",
    "InternlmDetector": "internlm",
    "Glm4MoeDetector": "glm45",
    # llama.cpp: titles
    "Hermes 2 Pro": "hermes",
    "mistral (v11+)": "mistral_v11",
    "Llama 3.x": "llama3_json",
    "Llama 3.x with builtin tools": "llama3_json",
    "Qwen3-Coder XML": "qwen3_xml",
    "DeepSeek V3.1": "deepseek_v31",
    "GLM 4.5": "glm45",
    "MiniMax-M2": "minimax_m2",
    # Ollama: kinds of a model
    "qwen3-vl-instruct": "hermes",
    "qwen3-vl-thinking": "hermes",
    "olmo3-think": "olmo3",
    "lfm2-thinking": "lfm2",
}


@pytest.mark.parametrize(("name", "id"), SPELT.items(), ids=list(SPELT))
def test_name_as_an_engine_spells_it_is_found(name: str, id: str) -> None:
    assert get_format(name).id == id


def test_every_name_of_the_table_of_formats_is_found() -> None:
    if not IDS.exists():
        pytest.skip(ABSENT)
    known = {format.id for format in formats()}
    with IDS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    absent = [row["id"] for row in rows if row["id"] not in known]
    for row in rows:
        for name in [row["id"], *row["aliases"].split(",")]:
            if row["id"] in known:
                assert get_format(name).id == row["id"], name
    if absent:
        pytest.skip(f"not registered yet: {', '.join(absent)}")


def test_exact_name_comes_before_a_looser_reading() -> None:
    """`granite_thinking_parser` is a name of its own; without its suffixes it would be another format's."""
    assert get_format("granite_thinking_parser").id == "qwen3_xml"
    assert get_format("granite_parser").id == "granite"
    assert get_format("deepseek3").id == "deepseek_v31"
    assert get_format("deepseek_v3").id == "deepseek_v3"


def test_every_registered_name_is_its_formats() -> None:
    for format in formats():
        assert all(get_format(name).id == format.id for name in (format.id, *format.aliases))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hermess", "the nearest are hermes"),
        ("Kimi K9", "kimi_k2"),
        ("qwen3_codr_tool_parser", "qwen3_coder"),
        ("zzzzzz", "expected one of hermes, "),
        ("", "got ''"),
        ("ToolParser", "got 'ToolParser'"),
        ("auto", "not one format but all"),
    ],
)
def test_unknown_name_names_the_nearest(name: str, said: str) -> None:
    with pytest.raises(ToolglotError, match="expected a format's name") as raised:
        get_format(name)
    assert said in str(raised.value)
