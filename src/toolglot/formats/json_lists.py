"""A JSON object or a list of them behind an opener of the family's own."""

from .._format import SUFFIX, Block, Format
from ._thinking import CHATML_ENDS, THINK

JAMBA = Format(
    "jamba",
    call="{call:json}",
    section=Block("<tool_calls>[\n    ", "\n]</tool_calls>", joint=""),
    separator=",\n    ",
    ends=("<|eom|>", "<|endoftext|>"),
    about={"models": "AI21 Jamba 1.5", "source": "the chat template of Jamba 1.5"},
)

NEMOTRON_JSON = Format(
    "nemotron_json",
    call="{call:json}",
    section=Block("<TOOLCALL>[", "]</TOOLCALL>"),
    separator=", ",
    reasoning=THINK,
    ends=("<SPECIAL_12>",),
    about={
        "aliases": "nemotron_deci nemotron-v2",
        "models": "Nemotron Nano v2, Llama-Nemotron",
        "source": "the chat template of Nemotron Nano v2",
    },
)

GRANITE = Format(
    "granite",
    call="{call:json}",
    section=Block("<|tool_call|>[", "]", also=(("<tool_call>[", "]"),)),
    separator=", ",
    reasoning=(
        THINK,
        Block(
            "Here is my thought process:",
            "Here is my response:",
            also=(("Here's my thought process:", "Here's my response:"),),
        ),
    ),
    ends=("<|end_of_text|>",),
    about={"aliases": "granite-3.3", "models": "Granite 3.0 to 3.3", "source": "the chat template of Granite 3.3"},
)

PHI4_MINI_JSON = Format(
    "phi4_mini_json",
    call="{call:json}",
    section=Block("functools[", "]"),
    separator=", ",
    ends=("<|end|>", "<|tool_call|>", "<|eot_id|>"),
    about={
        "aliases": "phi4_mini phi4 firefunction-v2 functools",
        "models": "Phi-4-mini, FireFunction v2",
        "source": "the chat template of FireFunction v2",
    },
)

INTERNLM = Format(
    "internlm",
    call="{call:json}",
    section=Block("<|action_start|><|plugin|>\n", "<|action_end|>", each=True),
    keys=("name", "parameters"),
    reasoning=THINK,
    ends=CHATML_ENDS,
    about={
        "aliases": "internlm2 interns1 intern-s1",
        "models": "InternLM 2.5, Intern-S1",
        "source": "the chat template of InternLM 2.5",
    },
)

LONGCAT = Format(
    "longcat",
    call=("{call:json}", "{name}\n{params}"),
    param="<longcat_arg_key>{key}</longcat_arg_key>\n<longcat_arg_value>{value:raw}</longcat_arg_value>\n",
    section=Block("<longcat_tool_call>\n", "\n</longcat_tool_call>", each=True),
    reasoning=Block("<longcat_think>", "</longcat_think>"),
    ends=("</longcat_s>",),
    about={"models": "LongCat-Flash", "source": "the chat template of LongCat-Flash-Chat"},
)

HUNYUAN_A13B = Format(
    "hunyuan_a13b",
    call="{call:json}",
    section=Block("<tool_calls>[", "]</tool_calls>"),
    separator=", ",
    reasoning=THINK,
    ends=("<|eos|>", Block("<answer>\n", "\n</answer>")),
    about={
        "models": "Hunyuan-A13B (answer in answer tags)",
        "source": "the chat template of Hunyuan-A13B-Instruct",
    },
)

APRIEL = Format(
    "apriel",
    call="{call:json}",
    section=Block("<tool_calls>[", "]</tool_calls>"),
    separator=", ",
    keys=("name", "arguments", "id"),
    reasoning=(
        Block("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n"),
        Block("<thinking>", "</thinking>"),
    ),
    ends=("[END FINAL RESPONSE]", "<|end|>"),
    about={"models": "Apriel 1.5, 1.6", "source": "the chat template of Apriel-1.6-15b-Thinker"},
)

MINIMAX_M1 = Format(
    "minimax_m1",
    call="{call:json}",
    section=Block("<tool_calls>\n", "\n</tool_calls>"),
    reasoning=THINK,
    ends=("<end_of_sentence>",),
    about={
        "aliases": "minimax minimax-m1",
        "models": "MiniMax M1 (one object a line)",
        "source": "the chat template of MiniMax-M1-80k",
    },
)

COHERE_COMMAND = Format(
    "cohere_command",
    call="{call:json}",
    section=Block("<|START_ACTION|>[\n    ", "\n]<|END_ACTION|>"),
    separator=",\n    ",
    keys=("tool_name", "parameters", "tool_call_id"),
    id_rule="{index}",
    reasoning=Block("<|START_THINKING|>", "<|END_THINKING|>"),
    ends=(
        "<|END_OF_TURN_TOKEN|>",
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
        "<|START_TEXT|>",
        "<|END_TEXT|>",
        Block("<co>", f"</co{SUFFIX}>"),
    ),
    about={
        "aliases": "cohere_command3 cohere_command4 cohere cohere-command cohere2moe cohere-moe command-r7b",
        "models": "Command R7B, Command A, A+, North",
        "source": "the chat template of Command R7B",
        "notes": "Citations around parts of the answer are no content.",
    },
)

APERTUS = Format(
    "apertus",
    call='{{"{name}": {args:json}}}',
    section=Block("<|tools_prefix|>[", "]<|tools_suffix|>"),
    separator=", ",
    reasoning=Block("<|inner_prefix|>", "<|inner_suffix|>"),
    ends=("<|assistant_end|>",),
    about={
        "aliases": "apertus2509",
        "models": "Apertus (the name is the key)",
        "source": "the chat template of Apertus-8B-Instruct-2509",
        "notes": "One object for each call, whose only key is the name.",
    },
)

PANGU = Format(
    "pangu",
    call="{call:json}",
    section=Block("[unused11][", "][unused12]", also=(("<|tool_call_start|>[", "]<|tool_call_end|>"),)),
    separator=", ",
    reasoning=Block("[unused16]", "[unused17]"),
    ends=("[unused10]",),
    about={"models": "openPangu", "source": "the chat template of openPangu-Embedded-7B"},
)

SARASHINA = Format(
    "sarashina",
    call="{call:python}",
    section=Block("<|tool_calls|>[", "]", optional=True),
    separator=", ",
    ends=("</s>",),
    tier="json",
    about={
        "models": "Sarashina (Python literals)",
        "source": "the chat template of Sarashina 2.2",
        "notes": "Without the marker a list at a line's start is read too.",
    },
)

FORMATS = (
    JAMBA,
    NEMOTRON_JSON,
    GRANITE,
    PHI4_MINI_JSON,
    INTERNLM,
    LONGCAT,
    HUNYUAN_A13B,
    APRIEL,
    MINIMAX_M1,
    COHERE_COMMAND,
    APERTUS,
    PANGU,
    SARASHINA,
)
