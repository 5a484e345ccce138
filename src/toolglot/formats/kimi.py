"""Kimi K2: the name stands in the call's id."""

from .._format import Block, Format
from ._thinking import THINK_OR_CALL

KIMI_K2 = Format(
    "kimi_k2",
    call="<|tool_call_begin|>{id}<|tool_call_argument_begin|>{args:json}<|tool_call_end|>",
    section=Block(
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_end|>",
        also=(("<|tool_call_section_begin|>", "<|tool_call_section_end|>"),),
    ),
    separator="",
    id_rule="functions.{name}:{index}",
    reasoning=(THINK_OR_CALL,),
    ends=("<|im_end|>",),
    about={
        "aliases": "kimi-k2 kimik2 kimik2_5 kimi_k25",
        "models": "Kimi K2, K2 Thinking, K2.5",
        "source": "the chat template of Kimi-K2-Instruct",
    },
)

FORMATS = (KIMI_K2,)
