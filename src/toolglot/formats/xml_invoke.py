"""Invoke and parameter tags with attributes, and a wrapper that may be missing."""

from .._format import Block, Format
from ._thinking import THINK

XML_INVOKE = Format(
    "xml_invoke",
    call='<invoke name="{name}">\n{params}</invoke>',
    param='<parameter name="{key}">{value:xml}</parameter>\n',
    section=Block("<function_calls>\n", "\n</function_calls>", optional=True),
    reasoning=THINK,
    about={"models": "Claude-like prompts", "source": "the public documentation of that prompt style"},
)

FORMATS = (XML_INVOKE,)
