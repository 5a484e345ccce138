"""Invoke and parameter tags with attributes, and a wrapper that may be missing."""

from .._format import Block, Format
from ._thinking import CHATML_ENDS, THINK, THINK_OR_CALL

XML_INVOKE = Format(
    "xml_invoke",
    call='<invoke name="{name}">\n{params}</invoke>',
    param='<parameter name="{key}">{value:xml}</parameter>\n',
    section=Block("<function_calls>\n", "\n</function_calls>", optional=True),
    reasoning=THINK,
    about={"models": "Claude-like prompts", "source": "the public documentation of that prompt style"},
)

MINIMAX_M2 = Format(
    "minimax_m2",
    call='<invoke name="{name}">\n{params}</invoke>',
    param='<parameter name="{key}">{value:raw}</parameter>\n',
    section=Block("<minimax:tool_call>\n", "\n</minimax:tool_call>"),
    reasoning=THINK_OR_CALL,
    ends=("[e~[",),
    about={"aliases": "minimax-m2", "models": "MiniMax M2", "source": "the chat template of MiniMax-M2"},
)

DOTS = Format(
    "dots",
    call=('<invoke name="{name}">\n{params}</invoke>', "{call:json}"),
    param='<parameter name="{key}">{value:raw}</parameter>\n',
    section=Block("<dots_function_call>\n", "\n</dots_function_call>"),
    ends=("<|endofassistant|>", "<|endofresponse|>"),
    about={
        "models": "dots",
        "source": "the chat template of dots.llm",
        "notes": "One JSON object may stand in place of the invoke tags.",
    },
)

STEP3 = Format(
    "step3",
    call='<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{name}">{params}</steptml:invoke>'
    "<｜tool_call_end｜>",
    param='<steptml:parameter name="{key}">{value:raw}</steptml:parameter>',
    section=Block("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"),
    separator="",
    reasoning=THINK,
    ends=("<|EOT|>",),
    about={"models": "Step-3", "source": "the chat template of Step-3"},
)

MINICPM5 = Format(
    "minicpm5",
    call='<function name="{name}">{params}</function>',
    param='<param name="{key}">{value:cdata}</param>',
    reasoning=THINK,
    ends=CHATML_ENDS,
    about={
        "models": "MiniCPM5",
        "source": "the chat template of MiniCPM5",
        "notes": "A value may stand in a CDATA section, which is no part of it.",
    },
)

FORMATS = (XML_INVOKE, MINIMAX_M2, DOTS, STEP3, MINICPM5)
