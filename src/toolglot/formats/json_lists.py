"""A JSON object or a list of them behind an opener of the family's own."""

from .._format import Block, Format
from ._thinking import CHATML_ENDS, THINK

JAMBA = Format(
    "jamba",
    call="{call:json}",
    section=Block("<tool_calls>[", "]</tool_calls>"),
    separator=", ",
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
    section=Block("<|action_start|> <|plugin|>\n", "<|action_end|>", each=True),
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

FORMATS = (JAMBA, NEMOTRON_JSON, GRANITE, PHI4_MINI_JSON, INTERNLM, LONGCAT)
