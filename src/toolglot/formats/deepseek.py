"""DeepSeek: control tokens around a name and JSON arguments."""

from .._format import Block, Format
from ._thinking import THINK, THINK_OR_CALL

DEEPSEEK_V31 = Format(
    "deepseek_v31",
    call="<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{args:json}<｜tool▁call▁end｜>",
    section=Block("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    separator="",
    reasoning=THINK,
    ends=("<｜end▁of▁sentence｜>",),
    about={
        "aliases": "deepseekv31 deepseek_v3_1 deepseekv3_1 deepseekv3.1 deepseek31 deepseek3 deepseek-v3.1",
        "models": "DeepSeek V3.1",
        "source": "the chat template of DeepSeek-V3.1",
    },
)

# Distilled models spell the section's opener in ordinary tokens.
_SPELT = (
    ("<｜tool_calls_begin｜>", "<｜tool▁calls▁end｜>"),
    ("<｜tool calls begin｜>", "<｜tool▁calls▁end｜>"),
    ("<｜tool\\_calls\\_begin｜>", "<｜tool▁calls▁end｜>"),
    ("<｜tool▁calls｜>", "<｜tool▁calls▁end｜>"),
)

DEEPSEEK_V3 = Format(
    "deepseek_v3",
    call="<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{args:json}\n```<｜tool▁call▁end｜>",
    section=Block("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", drift=_SPELT),
    separator="\n",
    reasoning=THINK,
    ends=("<｜end▁of▁sentence｜>",),
    about={
        "aliases": "deepseekv3 deepseek deepseek-r1 cogito",
        "models": "DeepSeek V3, V3-0324, R1 and distills, Cogito",
        "source": "the chat templates of DeepSeek-V3 and DeepSeek-R1",
        "notes": "Distilled models spell the first marker in ordinary letters: that is read, and listed as a drift.",
    },
)

DEEPSEEK_V32 = Format(
    "deepseek_v32",
    call=(
        '<｜DSML｜invoke name="{name}">\n{params}</｜DSML｜invoke>',
        '<｜DSML｜invoke name="{name}">\n{args:json}\n</｜DSML｜invoke>',
    ),
    param='<｜DSML｜parameter name="{key}" string="{type:flag}">{value:raw}</｜DSML｜parameter>\n',
    section=Block("<｜DSML｜function_calls>\n", "\n</｜DSML｜function_calls>"),
    reasoning=THINK_OR_CALL,
    ends=("<｜end▁of▁sentence｜>",),
    about={
        "aliases": "deepseekv32 deepseek_v3_2 deepseek-v3.2 deepseek32",
        "models": "DeepSeek V3.2",
        "source": "the chat encoding of DeepSeek-V3.2",
        "notes": "The attribute says whether a value is a string. One JSON object may stand for the parameters.",
    },
)

DEEPSEEK_V4 = Format(
    "deepseek_v4",
    call=(
        '<｜DSML｜invoke name="{name}">\n{params}</｜DSML｜invoke>',
        '<｜DSML｜invoke name="{name}">\n{args:json}\n</｜DSML｜invoke>',
    ),
    param='<｜DSML｜parameter name="{key}" string="{type:flag}">{value:raw}</｜DSML｜parameter>\n',
    section=Block(
        "<｜DSML｜tool_calls>\n",
        "\n</｜DSML｜tool_calls>",
        drift=(
            ("<｜DSML｜toolcalls>\n", "\n</｜DSML｜tool_calls>"),
            ("<｜DSML｜tool>\n", "\n</｜DSML｜tool_calls>"),
        ),
    ),
    reasoning=THINK_OR_CALL,
    ends=("<｜end▁of▁sentence｜>",),
    about={
        "aliases": "deepseekv4 deepseek-v4",
        "models": "DeepSeek V4",
        "source": "the chat template of DeepSeek-V4",
        "notes": "The opener is also read as toolcalls or tool, which models are seen to write.",
    },
)

DEEPSEEK_V41 = Format(
    "deepseek_v41",
    call=(
        '<｜DSML｜ invoke name="{name}">\n{params}</｜DSML｜ invoke>',
        '<｜DSML｜ invoke name="{name}">\n{args:json}\n</｜DSML｜ invoke>',
    ),
    param='<｜DSML｜ parameter name="{key}" string="{type:flag}">{value:raw}</｜DSML｜ parameter>\n',
    section=Block("<｜DSML｜ calls>\n", "\n</｜DSML｜ calls>"),
    reasoning=THINK_OR_CALL,
    ends=("<｜end▁of▁sentence｜>",),
    about={"aliases": "deepseekv41", "models": "DeepSeek V4.1", "source": "the chat encoding of DeepSeek-V4.1"},
)

FORMATS = (DEEPSEEK_V31, DEEPSEEK_V3, DEEPSEEK_V32, DEEPSEEK_V4, DEEPSEEK_V41)
