"""Which formats a model writes, by its name: one table, what is special before what is general.

A name is looked at in small letters, with `-` for every run of other signs than letters, digits and dots: so
`Qwen/Qwen3-Coder-30B-A3B-Instruct`, `qwen3-coder:30b` and `Qwen3_Coder-30B.Q4_K_M.gguf` are found alike. A name says
what its maker trained, not what a quantiser put into the template: it is the last thing that `detect` asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

# A pattern, searched from the start of a word; the formats, likeliest first (none where a family's model writes what
# no format reads); the words for the reason.
NAMES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    # What was made of another family's model, whose name it bears too.
    (r"deepseek-r1-distill|r1-distill", ("deepseek_v3",), "DeepSeek R1 and its distills"),
    (r"hermes-?[234](?!\d)|nous-hermes|deephermes|openhermes", ("hermes",), "Hermes"),
    (r"llama.*toolace|toolace", ("pythonic",), "ToolACE"),
    (r"watt-tool", ("pythonic",), "watt-tool"),
    (r"xlam", ("xlam",), "xLAM"),
    (r"functionary.*v3\.?2", ("functionary_v32",), "Functionary v3.2"),
    (r"functionary.*v3\.?1", ("llama3_function_tag",), "Functionary v3.1"),
    (r"functionary", ("functionary_v32", "llama3_function_tag"), "Functionary"),
    (r"firefunction", ("phi4_mini_json",), "FireFunction v2"),
    (r"cogito.*671b|cogito-v2-preview-deepseek", ("deepseek_v3",), "Cogito on DeepSeek"),
    (r"cogito", ("hermes", "deepseek_v3"), "Cogito"),
    (r"apriel", ("apriel",), "Apriel"),
    (r"ultravox", ("pythonic",), "Ultravox"),
    (r"trinity", ("hermes",), "Trinity"),
    (r"bielik", ("hermes",), "Bielik"),
    (r"reka-edge", ("hermes",), "Reka Edge"),
    (r"nemotron.*nano.*v2|nemotron-nano-(9b|12b)", ("nemotron_json",), "Nemotron Nano v2"),
    (r"nemotron-?3|nemotron.*(nano|super|ultra|cascade).*-a\d+b", ("qwen3_xml",), "Nemotron 3"),
    (r"llama-?[\d.]*-nemotron|nemotron-(super|ultra|nano)|nemotron-4", ("nemotron_json",), "Llama-Nemotron"),
    (r"nemotron", ("qwen3_xml", "nemotron_json"), "Nemotron"),
    (r"step-?audio-?2", ("step_audio_2",), "Step-Audio 2"),
    (r"step-?3[.p]5|step-?5|stepfun-?3\.5", ("qwen3_xml",), "Step 3.5 and 5"),
    (r"step-?3", ("step3",), "Step-3"),
    (r"granite-?20b-functioncalling|granite-20b-fc", ("granite_20b_fc",), "granite-20b-functioncalling"),
    (r"granite-?4\.[2-9]", ("qwen3_xml",), "Granite 4.2"),
    (r"granite-?4", ("hermes",), "Granite 4.0 and 4.1"),
    (r"granite-?(3|\d+b)", ("granite",), "Granite 3"),
    (r"granite", ("granite", "hermes", "granite_pythonic"), "Granite"),
    # DeepSeek.
    (r"deepseek-?v4\.1", ("deepseek_v41",), "DeepSeek V4.1"),
    (r"deepseek-?v4", ("deepseek_v4",), "DeepSeek V4"),
    (r"deepseek-?v3\.2", ("deepseek_v32",), "DeepSeek V3.2"),
    (r"deepseek-?v3\.1", ("deepseek_v31",), "DeepSeek V3.1"),
    (r"deepseek-?(v3|r1|v2)|deepseek-chat|deepseek-reasoner", ("deepseek_v3",), "DeepSeek V3 and R1"),
    (r"deepseek", ("deepseek_v31", "deepseek_v3"), "DeepSeek"),
    # Qwen.
    (r"qwen-?3(\.\d+)?-coder", ("qwen3_xml",), "Qwen3-Coder"),
    (r"qwen-?3\.[5-9]", ("qwen3_xml",), "Qwen3.5 and later"),
    (r"qwen-?2\.5-coder", ("hermes", "json"), "Qwen2.5-Coder"),
    (r"qwen-?(2\.5|2|3)|qwq|qvq", ("hermes",), "Qwen2.5, QwQ and Qwen3"),
    (r"qwen", ("hermes", "qwen3_xml"), "Qwen"),
    # Llama.
    (r"llama-?4", ("llama4_pythonic", "llama3_json"), "Llama 4"),
    (r"llama-?3\.2", ("llama3_json", "pythonic"), "Llama 3.2"),
    (r"(?:code)?llama-?3", ("llama3_json",), "Llama 3.1 and 3.3"),
    (r"cwm", ("cwm",), "CWM"),
    # Mistral.
    (r"mistral-small-?3\.2|mistral-small-?.*2506", ("mistral_callid", "mistral_v11"), "Mistral Small 3.2"),
    (r"devstral.*2505|devstral:24b", ("mistral_v11",), "Devstral"),
    (r"mistral-small-?3\.1|mistral-small.*250[13]", ("mistral", "mistral_v11"), "Mistral Small 3"),
    (r"mistral-large-?3|mistral-large.*2512|mistral-medium|mistral-small-?4", ("mistral_v11",), "Mistral 3"),
    (
        r"ministral-?3|ministral.*2512|magistral|devstral|codestral-?2|leanstral",
        ("mistral_v11",),
        "Ministral 3, Magistral, Devstral",
    ),
    (
        r"mistral-?nemo|mixtral|ministral|mistral-7b|mistral-large|pixtral|mathstral|codestral",
        ("mistral",),
        "Mistral to 2024",
    ),
    (r"mistral", ("mistral", "mistral_v11"), "Mistral"),
    # Google.
    (r"function-?gemma", ("functiongemma",), "FunctionGemma"),
    (r"gemma-?4|diffusion-?gemma", ("gemma4",), "Gemma 4"),
    (r"gemma", ("json", "fenced_json", "python_call"), "Gemma 1 to 3, which were trained on no format"),
    # OpenAI.
    (r"gpt-?oss", ("harmony",), "gpt-oss"),
    # Zhipu and followers.
    (r"glm-?z1|glm-?4.*0414|glm-?4-(9b|32b)", ("glm4_0414",), "GLM-4-0414"),
    (r"glm-?4\.(7|8|9)|glm-?5", ("glm47",), "GLM 4.7 and 5"),
    (r"glm-?4\.[56]v?", ("glm45",), "GLM 4.5 and 4.6"),
    (r"glm", ("glm47", "glm45", "glm4_0414"), "GLM"),
    (r"spark-?x?[\d.]*2\.5|iflytek-?spark|spark-?3", ("glm47",), "Spark 2.5"),
    (r"ling-?3|ring-?3|bailing.*v3", ("ling3",), "Ling 3"),
    (r"laguna|poolside", ("poolside_v1",), "Laguna"),
    (r"(hunyuan|hy)-?(v|t)?4", ("hy_v4",), "Hunyuan 4"),
    (r"(hunyuan|hy)-?(v|t)?3", ("hy_v3",), "Hunyuan 3"),
    (r"hunyuan", ("hunyuan_a13b",), "Hunyuan-A13B"),
    (r"k2-horizon|k2-think-?v?3", ("k2_horizon",), "K2 Horizon"),
    (r"iquest-coder", ("iquest_coder",), "IQuest Coder"),
    (r"iquest", ("iquest_q1",), "IQuest Q1"),
    (r"xingchen-?4|xing-?4|telechat-?4", ("xing4",), "Xingchen 4 and TeleChat 4"),
    (r"solar-?open-?2", ("solar_open2",), "Solar Open 2"),
    (r"solar-?open", ("solar_open",), "Solar Open"),
    # The 14B writes a list behind ` -> tool/function_call` in the role, which no format reads.
    (r"hyperclova-?x[\w.-]*-14b", (), "HyperCLOVA X SEED Think 14B"),
    (r"hyperclova-?x", ("hyperclovax",), "HyperCLOVA X"),
    # Kimi, MiniMax, Cohere, and the rest by name.
    (r"kimi-?k3", ("kimi_k3",), "Kimi K3"),
    (r"kimi", ("kimi_k2",), "Kimi K2 and K2.5"),
    (r"minimax-?m3", ("minimax_m3",), "MiniMax M3"),
    (r"minimax-?m2", ("minimax_m2",), "MiniMax M2"),
    (r"minimax-?(m1|text)", ("minimax_m1",), "MiniMax M1"),
    (r"minimax", ("minimax_m2", "minimax_m1"), "MiniMax"),
    (
        r"command-?a|command-?r7b|c4ai-command-(a|r7b)|north-|cohere2?-?moe",
        ("cohere_command",),
        "Command A, R7B, North",
    ),
    (r"command-?r", ("command_r",), "Command R and R+"),
    (r"aya(?![a-z])|cohere", ("cohere_command", "command_r"), "Cohere"),
    (r"longcat", ("longcat",), "LongCat-Flash"),
    (r"ernie", ("ernie45",), "ERNIE 4.5"),
    (r"intern-?s2", ("qwen3_xml",), "Intern-S2"),
    (r"intern-?(lm|s1|vl)", ("internlm",), "InternLM 2.5 and Intern-S1"),
    (r"gigachat-?3\.5", ("gigachat35",), "GigaChat 3.5"),
    (r"gigachat", ("gigachat3",), "GigaChat 3"),
    (r"inkling", ("inkling",), "Inkling"),
    (r"jamba", ("jamba",), "Jamba"),
    (r"phi-?4-?mini", ("phi4_mini_json",), "Phi-4-mini"),
    (r"phi(?![a-z])", ("json", "phi4_mini_json"), "Phi"),
    (r"apertus", ("apertus",), "Apertus"),
    (r"pangu|openpangu", ("pangu",), "openPangu"),
    (r"sarashina", ("sarashina",), "Sarashina"),
    (r"plamo", ("plamo3",), "PLaMo"),
    (r"olmo", ("olmo3",), "OLMo 3"),
    (r"lfm-?\d", ("lfm2",), "LFM2"),
    (r"seed-?oss", ("seed_oss",), "Seed-OSS"),
    (r"mimo-?vl", ("hermes",), "MiMo-VL"),
    (r"mimo", ("mimo", "hermes"), "MiMo"),
    (r"dots(?![a-z])", ("dots",), "dots"),
    (r"muse-?glimmer|glimmer", ("muse_glimmer",), "Muse Glimmer"),
    (r"muse", ("muse", "muse_glimmer"), "Muse"),
    (r"minicpm-?5", ("minicpm5",), "MiniCPM5"),
    (r"minicpm-?v|minicpm-?o", ("qwen3_xml",), "MiniCPM-V"),
    (r"beam(?![a-z])", ("beam",), "Beam"),
    (r"rwkv", ("rwkv",), "RWKV"),
    (r"nanbeige|berrylm|ornith", ("qwen3_xml",), "Nanbeige, BerryLM and Ornith"),
    (r"smollm-?3", ("hermes", "xml_invoke"), "SmolLM3"),
    (r"claude", ("xml_invoke",), "Claude"),
    (r"gemini-nano|prompt-?api", ("prompt_api",), "the Prompt API"),
    (r"hermes", ("hermes",), "Hermes"),
)

# Formats that belong to no model: shapes that any of them may answer in.
WITHOUT_NAME = ("bracket", "react", "granite_pythonic")


_LONGEST = 256  # code points of a name that are looked at: its end, where it is a path


def by_name(model: str) -> Iterator[tuple[str, str]]:
    """Formats with the words for the family, likeliest first; nothing for an unknown name.

    >>> list(by_name("unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF"))
    [('qwen3_xml', 'Qwen3-Coder')]
    """
    name = re.sub(r"[^a-z0-9.]+", "-", model[-_LONGEST:].lower())
    for pattern, formats, family in NAMES:
        if _pattern(pattern).search(name):
            yield from ((format, family) for format in formats)
            return


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """From the start of a word, and to the end of a number: `phi` is no part of `dolphin`, nor `qwen3` of `qwen32`."""
    return re.compile(rf"(?<![a-z0-9])(?:{pattern})(?!(?<=[0-9])[0-9])")
