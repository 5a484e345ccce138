"""Tags that carry the name and the keys, with raw values: Qwen3-Coder and its followers."""

from .._format import GAP, Block, Format
from ._thinking import CHATML_ENDS, THINK_OR_CALL

QWEN3_XML = Format(
    "qwen3_xml",
    call="<tool_call>\n<function={name}>\n{params}</function>\n</tool_call>",
    param="<parameter={key}>\n{value:raw}\n</parameter>\n",
    reasoning=THINK_OR_CALL,
    ends=CHATML_ENDS,
    about={
        "aliases": "qwen3_coder qwen3coder qwen_xml qwen_coder qwen3_5 qwen3.5 step3p5 step5 nanbeige berrylm "
        "nemotron_v3 nemotron_nano nemotron-3-nano nemotron-3.5-nano ornith interns2-preview granite_thinking_parser "
        "minicpmv",
        "models": "Qwen3-Coder, Qwen3.5, Nemotron 3, Step 3.5/5, Granite 4.2, MiniCPM-V",
        "source": "the chat template of Qwen3-Coder",
    },
)

SEED_OSS = Format(
    "seed_oss",
    call="<function={name}>\n{params}</function>",
    param=f"<parameter={{key}}>{GAP}{{value:raw}}{GAP}</parameter>\n",
    section=Block("<seed:tool_call>\n", "\n</seed:tool_call>", each=True, joint="\n\n"),
    reasoning=Block("<seed:think>", "</seed:think>"),
    ends=("<seed:eos>",),
    about={
        "aliases": "seed-oss",
        "models": "Seed-OSS",
        "source": "the chat template of Seed-OSS-36B-Instruct",
        "notes": "One line break on each side of a value is framing.",
    },
)

MIMO = Format(
    "mimo",
    call="<tool_call>\n<function={name}>\n{params}</function>\n</tool_call>",
    param="<parameter={key}>{value:raw}</parameter>\n",
    reasoning=THINK_OR_CALL,
    ends=CHATML_ENDS,
    about={"models": "MiMo V2 (values verbatim)", "source": "the chat template of MiMo-V2-Flash"},
)

FORMATS = (QWEN3_XML, SEED_OSS, MIMO)
