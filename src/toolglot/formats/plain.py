"""Calls without markers: JSON in any of the usual shapes, a list of Python calls, and bare call syntax."""

from .._format import Block, Format
from ._thinking import CHATML_ENDS, LLAMA_ENDS

JSON = Format(
    "json",
    call="{call:json}",
    ends=(*CHATML_ENDS, *LLAMA_ENDS, "</s>", "<eos>", "<end_of_turn>"),
    tier="json",
    about={"aliases": "bare_json json-generic default", "models": "any", "source": "the APIs of OpenAI and Anthropic"},
)

PYTHONIC = Format(
    "pythonic",
    call="{name}({params})",
    param="{key}={value:python}",
    section=Block("[", "]"),
    separator=", ",
    param_separator=", ",
    ends=(*LLAMA_ENDS, *CHATML_ENDS),
    tier="call",
    about={"models": "Llama 3.2, ToolACE, Ultravox", "source": "the prompt format of Llama 3.2"},
)

PYTHON_CALL = Format(
    "python_call",
    call="{name}({params})",
    param="{key}={value:python}",
    param_separator=", ",
    ends=CHATML_ENDS,
    tier="call",
    about={"aliases": "python call_syntax", "models": "any", "source": "the call syntax of Python"},
)

FORMATS = (JSON, PYTHONIC, PYTHON_CALL)
