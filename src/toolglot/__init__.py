"""toolglot reads tool calls out of the raw text that language models write, and writes them back."""

from ._convert import Conversion, Loss, convert
from ._detect import Detection, detect
from ._errors import Code, ParseError, ToolglotError
from ._events import (
    ArgumentsDelta,
    Call,
    CallAbort,
    CallBegin,
    CallEnd,
    Event,
    Problem,
    Reasoning,
    Text,
)
from ._format import Block, Format, Messages
from ._format_file import load_formats
from ._parser import Parser, ProseFilter, parse, parse_one
from ._registry import formats, get_format, register
from ._render import render
from ._result import Result, Segment
from ._tools import Tools
from ._validate import SchemaError, validate

__all__ = [
    "ArgumentsDelta",
    "Block",
    "Call",
    "CallAbort",
    "CallBegin",
    "CallEnd",
    "Code",
    "Conversion",
    "Detection",
    "Event",
    "Format",
    "Loss",
    "Messages",
    "ParseError",
    "Parser",
    "Problem",
    "ProseFilter",
    "Reasoning",
    "Result",
    "SchemaError",
    "Segment",
    "Text",
    "ToolglotError",
    "Tools",
    "convert",
    "detect",
    "formats",
    "get_format",
    "load_formats",
    "parse",
    "parse_one",
    "register",
    "render",
    "validate",
]
__version__ = "0.1.0"
