"""Invoke and parameter tags with attributes, and a wrapper that may be missing."""

from .._format import Block, Format
from ._thinking import THINK, THINK_OR_CALL

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

FORMATS = (XML_INVOKE, MINIMAX_M2)
