"""Gemma: a name and arguments with bare keys and string delimiters of the family's own."""

from .._format import Block, Format

GEMMA4 = Format(
    "gemma4",
    call="<|tool_call>call:{name}{args:gemma}<tool_call|>",
    separator="",
    reasoning=Block("<|channel>thought\n", "<channel|>"),
    ends=("<turn|>", "<|channel>", "<|tool_response>", "<tool_call|>", "<eos>"),
    about={
        "aliases": "gemma-4 gemma4-no-thinking",
        "models": "Gemma 4",
        "source": "the chat template of Gemma 4",
        "notes": "Strings have no escapes: the delimiter cannot stand inside one.",
    },
)

FUNCTIONGEMMA = Format(
    "functiongemma",
    call="<start_function_call>call:{name}{args:escape}<end_function_call>",
    separator="",
    ends=("<end_of_turn>", "<start_function_response>", "<eos>"),
    about={
        "aliases": "function_gemma",
        "models": "FunctionGemma",
        "source": "the chat template of FunctionGemma 270M",
        "notes": "A string may stand for any type: the tool's schema decides.",
    },
)

FORMATS = (GEMMA4, FUNCTIONGEMMA)
