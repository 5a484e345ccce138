"""Kimi K2: the name stands in the call's id."""

from .._format import JOIN, NBSP, Block, Format
from ._thinking import THINK_OR_CALL

KIMI_K2 = Format(
    "kimi_k2",
    call="<|tool_call_begin|>{id}<|tool_call_argument_begin|>{args:json}<|tool_call_end|>",
    section=Block(
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_end|>",
        drift=(("<|tool_call_section_begin|>", "<|tool_call_section_end|>"),),
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

_OPEN = f"<|open|>{JOIN}"
_CLOSE = f"<|close|>{JOIN}"
_SEP = f"{JOIN}<|sep|>"

KIMI_K3 = Format(
    "kimi_k3",
    call=f'{_OPEN}call{NBSP}tool="{{name}}" index="{{index}}"{_SEP}{{params}}{_CLOSE}call{_SEP}',
    param=f'{_OPEN}argument{NBSP}key="{{key:xml}}" type="{{type}}"{_SEP}{{value:raw}}{_CLOSE}argument{_SEP}',
    section=Block(f"{_OPEN}tools{_SEP}", f"{_CLOSE}tools{_SEP}"),
    separator="",
    reasoning=Block("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    ends=(
        "<|open|>response<|sep|>",
        "<|close|>response<|sep|>",
        "<|close|>message<|sep|>",
        "<|end_of_msg|>",
    ),
    about={
        "aliases": "kimi-k3",
        "models": "Kimi K3",
        "source": "the chat template of Kimi-K3",
    },
)

FORMATS = (KIMI_K2, KIMI_K3)
