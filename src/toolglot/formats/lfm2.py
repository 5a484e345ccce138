"""Lists of Python calls between markers: LFM2 and OLMo 3."""

from .._format import Block, Format
from ._thinking import CHATML_ENDS, THINK

LFM2 = Format(
    "lfm2",
    call="{name}({params})",
    param="{key}={value:python}",
    section=Block("<|tool_call_start|>[", "]<|tool_call_end|>"),
    separator=", ",
    param_separator=", ",
    reasoning=THINK,
    ends=CHATML_ENDS,
    about={"models": "LFM2, LFM2.5", "source": "the chat template of LFM2-1.2B"},
)

OLMO3 = Format(
    "olmo3",
    call="{name}({params})",
    param="{key}={value:python}",
    section=Block("<function_calls>", "</function_calls>"),
    separator="\n",
    param_separator=", ",
    reasoning=THINK,
    ends=CHATML_ENDS,
    about={"aliases": "olmo-3", "models": "OLMo 3", "source": "the chat template of OLMo-3-7B-Instruct"},
)

LLAMA4_PYTHONIC = Format(
    "llama4_pythonic",
    call="{name}({params})",
    param="{key}={value:python}",
    section=Block("<|python_start|>[", "]<|python_end|>", also=(("[", "]"),), optional=True),
    separator=", ",
    param_separator=", ",
    ends=("<|eot|>", "<|eom|>", "<|header_end|>"),
    tier="call",
    about={
        "models": "Llama 4 (start and end markers optional)",
        "source": "the chat template of Llama-4-Scout-17B-16E-Instruct",
    },
)

FORMATS = (LFM2, OLMO3, LLAMA4_PYTHONIC)
