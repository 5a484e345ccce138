"""One JSON object in tags: Hermes, Qwen 2.5 and 3, Granite 4 and many others."""

from .._format import Block, Format
from ._thinking import CHATML_ENDS, THINK

HERMES = Format(
    "hermes",
    call="{call:json}",
    section=Block(
        "<tool_call>\n",
        "\n</tool_call>",
        drift=(("<function_call>\n", "\n</function_call>"), ("<tools>\n", "\n</tools>")),
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

ERNIE45 = Format(
    "ernie45",
    call="{call:json}",
    section=Block("<tool_call>\n", "\n</tool_call>\n", each=True),
    reasoning=THINK,
    ends=("<|im_end|>", "</s>", Block("<response>\n", "\n</response>")),
    about={
        "aliases": "ernie-4.5",
        "models": "ERNIE 4.5 thinking (answer in response tags)",
        "source": "the chat template of ERNIE-4.5-21B-A3B-Thinking",
    },
)

STEP_AUDIO_2 = Format(
    "step_audio_2",
    call="<tool_call>function\n{name}\n{args:json}</tool_call>",
    separator="",
    ends=("<|EOT|>",),
    about={"models": "Step-Audio 2", "source": "the chat template of Step-Audio-2-mini"},
)

GRANITE_20B_FC = Format(
    "granite_20b_fc",
    call="{call:json}",
    section=Block("<function_call> ", "", also=(("<function_call> ", "</function_call>"),), each=True),
    separator="",
    ends=("<|endoftext|>",),
    about={
        "aliases": "granite-20b-fc",
        "models": "granite-20b-functioncalling",
        "source": "the model card of granite-20b-functioncalling",
    },
)

BRACKET = Format(
    "bracket",
    call="name={name};args={args:json}",
    section=Block("[TOOL_CALL]", "[/TOOL_CALL]", each=True),
    about={"models": "any, by prompt", "source": "the documented bracket form of a strict parser"},
)

FORMATS = (HERMES, ERNIE45, STEP_AUDIO_2, GRANITE_20B_FC, BRACKET)
