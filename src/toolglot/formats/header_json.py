"""The name behind one marker, the JSON arguments behind another."""

from .._format import Block, Format
from ._thinking import LLAMA_ENDS

PLAMO3 = Format(
    "plamo3",
    call="<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{name}<|plamo:end_tool_name:plamo|>"
    "<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{args:json}"
    "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
    section=Block("<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>"),
    separator="",
    reasoning=Block("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
    ends=("<|plamo:tag|>",),
    about={"models": "PLaMo 3", "source": "the chat template of PLaMo 3"},
)

SOLAR_OPEN = Format(
    "solar_open",
    call="<|tool_call:begin|>{id}<|tool_call:name|>{name}<|tool_call:args|>{args:json}<|tool_call:end|>",
    section=Block("<|tool_calls|>", "<|calls|>"),
    separator="",
    id_rule="10",
    reasoning=Block("<|think|>", "<|end|>"),
    ends=("<|content|>", "<|end|>", "<|flush|>", "<|begin|>assistant"),
    about={"models": "Solar Open", "source": "the chat template of Solar-Open-100B", "aliases": "solar-open"},
)

LLAMA3_FUNCTION_TAG = Format(
    "llama3_function_tag",
    call="<function={name}>{args:json}</function>",
    separator="",
    ends=LLAMA_ENDS,
    about={
        "aliases": "functionary-v3.1 function_tag",
        "models": "Functionary v3.1, Llama 3.1 custom calls",
        "source": "the prompt format of Llama 3.1 and the chat template of Functionary v3.1",
    },
)

FORMATS = (PLAMO3, SOLAR_OPEN, LLAMA3_FUNCTION_TAG)
