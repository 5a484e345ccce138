"""LFM2: a list of Python calls between two control tokens."""

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

FORMATS = (LFM2,)
