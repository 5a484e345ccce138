"""One JSON object in tags: Hermes, Qwen 2.5 and 3, Granite 4 and many others."""

from .._format import Block, Format
from ._thinking import CHATML_ENDS, THINK

HERMES = Format(
    "hermes",
    call="{call:json}",
    section=Block(
        "<tool_call>\n",
        "\n</tool_call>",
        also=(("<function_call>\n", "\n</function_call>"), ("<tools>\n", "\n</tools>")),
        each=True,
    ),
    reasoning=THINK,
    ends=(*CHATML_ENDS, "</s>"),
    about={
        "aliases": "qwen qwen25 qwen2d5 qwen3 qwen3_json granite4 trinity json_tools qwen3-vl hermes_2_pro",
        "models": "Hermes 2/3, Qwen2.5, QwQ, Qwen3, Granite 4.0, MiMo-VL, Bielik, Reka Edge, Trinity",
        "source": "the chat templates of Hermes 2 Pro and Qwen2.5",
    },
)

FORMATS = (HERMES,)
