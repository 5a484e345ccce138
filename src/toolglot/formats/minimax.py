"""MiniMax M3: a tree of elements, each tag behind a token of its own."""

from .._format import GAP, JOIN, Block, Format

_NS = f"]{JOIN}<]{JOIN}minimax[>{JOIN}[{GAP}"

MINIMAX_M3 = Format(
    "minimax_m3",
    call=f'{_NS}<invoke name="{{name}}">{{params}}{_NS}</invoke>',
    param=f"{_NS}<{{key}}>{{value:elements}}{_NS}</{{key}}>",
    section=Block(f"{_NS}<tool_call>\n", f"\n{_NS}</tool_call>", joint=""),
    reasoning=Block("<mm:think>", "</mm:think>"),
    ends=("[e~[",),
    about={
        "aliases": "minimax-m3 minimax_m3_nom",
        "models": "MiniMax M3 (element tree)",
        "source": "the chat template of MiniMax-M3",
        "notes": "Lists are item elements; a name that stands again makes a list; text beside elements is under $text. "
        "Without a schema an empty list or object cannot be told from an empty text.",
    },
)

FORMATS = (MINIMAX_M3,)
