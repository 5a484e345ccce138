"""Llama 3: bare JSON with `parameters`, perhaps behind a token, and built-in tools in call syntax behind it."""

from .._format import Block, Format
from ._thinking import LLAMA_ENDS

LLAMA3_JSON = Format(
    "llama3_json",
    call=("{call:json}", "{name}({params})"),
    param="{key}={value:python}",
    section=Block("<|python_tag|>", optional=True),
    separator="; ",
    param_separator=", ",
    keys=("name", "parameters"),
    id_rule="{name}.call",
    ends=LLAMA_ENDS,
    tier="json",
    about={
        "aliases": "llama_3.x llama4_json llama3 llama llama-3.1",
        "models": "Llama 3.1, 3.2, 3.3, Llama 4 JSON",
        "source": "the chat template of Llama 3.1",
    },
)

FORMATS = (LLAMA3_JSON,)
