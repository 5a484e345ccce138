"""GigaChat: one JSON call behind a marker, and from 3.5 tags whose attribute says whether the value is a string."""

from .._format import Block, Format
from ._thinking import THINK

GIGACHAT3 = Format(
    "gigachat3",
    call="{call:json}",
    section=Block(
        "<|function_call|>",
        "",
        also=(("<|message_sep|>\n\nfunction call<|role_sep|>\n", ""),),
        each=True,
    ),
    separator="",
    ends=("<|message_sep|>", "</s>"),
    about={
        "aliases": "gigachat-3 gigachat-3.1 gigachat_v3",
        "models": "GigaChat 3, 3.1",
        "source": "the chat templates of GigaChat 3 and 3.1",
        "notes": "3.0 writes the call as a message of its own, 3.1 behind one token.",
    },
)

GIGACHAT35 = Format(
    "gigachat35",
    call=(
        '<｜GCML｜invoke name="{name}">\n{params}</｜GCML｜invoke>',
        '<｜GCML｜invoke name="{name}">\n{args:json}\n</｜GCML｜invoke>',
    ),
    param='<｜GCML｜parameter name="{key}" string="{type:flag}">{value:raw}</｜GCML｜parameter>\n',
    section=Block("<｜GCML｜tool_calls>\n", "\n</｜GCML｜tool_calls>", joint="\n\n"),
    reasoning=THINK,
    ends=("<|message_sep|>", "</s>"),
    about={"models": "GigaChat 3.5", "source": "the chat template of GigaChat 3.5"},
)

FORMATS = (GIGACHAT3, GIGACHAT35)
