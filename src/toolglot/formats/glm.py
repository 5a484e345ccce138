"""Key and value tags behind the name: GLM."""

from .._format import GAP, SUFFIX, Block, Format
from ._thinking import CHATML_ENDS, THINK, THINK_OR_CALL

GLM45 = Format(
    "glm45",
    call="<tool_call>{name}\n{params}</tool_call>",
    param="<arg_key>{key}</arg_key>\n<arg_value>{value:raw}</arg_value>\n",
    reasoning=THINK_OR_CALL,
    ends=("<|endoftext|>", "<|user|>", "<|observation|>"),
    about={
        "aliases": "glm glm-4.5 glm4 glm45_moe",
        "models": "GLM 4.5, 4.6",
        "source": "the chat template of GLM-4.5",
    },
)

GLM47 = Format(
    "glm47",
    call="<tool_call>{name}{params}</tool_call>",
    param="<arg_key>{key}</arg_key><arg_value>{value:raw}</arg_value>",
    separator="",
    reasoning=THINK_OR_CALL,
    ends=("<|endoftext|>", "<|user|>", "<|observation|>"),
    about={
        "aliases": "glm47_moe glm-4.7 spark25 spark3",
        "models": "GLM 4.7, 5.x, Spark 2.5",
        "source": "the chat template of GLM-4.7",
    },
)

LING3 = Format(
    "ling3",
    call="<tool_call>{name}\n{params}\n</tool_call>",
    param="<arg_key>{key}</arg_key>\n<arg_value>{value:raw}</arg_value>",
    reasoning=THINK_OR_CALL,
    ends=("<|role_end|>",),
    about={"aliases": "ling-3", "models": "Ling 3, Bailing V3", "source": "the chat template of Ling-3"},
)

POOLSIDE_V1 = Format(
    "poolside_v1",
    call="<tool_call>{name}\n{params}</tool_call>",
    param=f"<arg_key>{{key}}</arg_key>\n<arg_value>{GAP}{{value:raw}}{GAP}</arg_value>\n",
    reasoning=THINK_OR_CALL,
    ends=("</assistant>",),
    about={
        "aliases": "laguna",
        "models": "Poolside v1, Laguna",
        "source": "the chat template of Laguna XS",
        "notes": "One line break on each side of a value is framing.",
    },
)

IQUEST_Q1 = Format(
    "iquest_q1",
    call="<iquest_tool_call>{name}{params}</iquest_tool_call>",
    param="<arg_key>{key}</arg_key><arg_value>{value:raw}</arg_value>",
    separator="",
    reasoning=THINK,
    ends=("<|iquest_end|>", *CHATML_ENDS),
    about={"models": "IQuest Q1", "source": "the chat template of IQuest-Q1"},
)

IQUEST_CODER = Format(
    "iquest_coder",
    call="<iquestcoder_tool_call>{name}\n{params}</iquestcoder_tool_call>",
    param="<arg_key>{key}</arg_key>\n<arg_value>{value:raw}</arg_value>\n",
    reasoning=THINK,
    ends=CHATML_ENDS,
    about={"models": "IQuest Coder", "source": "the chat template of IQuest-Coder-V1"},
)

XING4 = Format(
    "xing4",
    call=("{name}{params}", "{name} {args:json}", "{call:json}"),
    param="<param_key>{key}</param_key><param_value>{value:raw}</param_value>",
    section=Block("<tool_call>", "</tool_call>", each=True),
    separator="",
    reasoning=THINK,
    ends=("<_end>",),
    about={
        "aliases": "xing4_0 telechat4 xingchen4",
        "models": "Xingchen 4, TeleChat 4",
        "source": "the chat template of TeleChat 4",
        "notes": "The name may be followed by JSON, and the body may be one JSON object.",
    },
)

SOLAR_OPEN2 = Format(
    "solar_open2",
    call="<|tool_call:start|>{name}\n{params}<|tool_call:end|>",
    param="<|tool_arg:start|>{key}<|tool_arg:value|>{value:raw}<|tool_arg:end|>\n",
    reasoning=Block("<|think:start|>", "<|think:end|>"),
    ends=("<|im:end|>", "<|endoftext|>"),
    about={"models": "Solar Open 2", "source": "the chat template of Solar Open 2"},
)

HYPERCLOVAX = Format(
    "hyperclovax",
    call=("{name}\n{params}", "{call:json}"),
    param="<arg_key>{key}</arg_key>\n<arg_value>{value:raw}</arg_value>\n",
    section=Block("<tool_call>", "</tool_call>", each=True),
    reasoning=THINK,
    ends=CHATML_ENDS,
    about={"models": "HyperCLOVA X", "source": "the chat template of HyperCLOVAX-SEED-Think-32B"},
)

HY_V3 = Format(
    "hy_v3",
    call=f"<tool_call{SUFFIX}>{{name}}<tool_sep{SUFFIX}>\n{{params}}</tool_call{SUFFIX}>",
    param=f"<arg_key{SUFFIX}>{{key}}</arg_key{SUFFIX}>\n<arg_value{SUFFIX}>{{value:raw}}</arg_value{SUFFIX}>\n",
    section=Block(f"<tool_calls{SUFFIX}>\n", f"\n</tool_calls{SUFFIX}>", joint=""),
    reasoning=Block(f"<think{SUFFIX}>", f"</think{SUFFIX}>"),
    ends=("<｜hy_eos｜>", "<｜hy_eos:opensource｜>", "<|hy_eos|>"),
    about={
        "aliases": "hunyuan hunyuan-v3",
        "models": "Hunyuan 3 (each tag may carry a suffix, such as :opensource)",
        "source": "the chat template of Hy3",
        "notes": "The ending is any, and need not be known.",
    },
)

HY_V4 = Format(
    "hy_v4",
    call=f"<tool_call{SUFFIX}>{{name}}{{params}}</tool_call{SUFFIX}>",
    param=f"<arg_key{SUFFIX}>{{key}}</arg_key{SUFFIX}><arg_value{SUFFIX}>{{value:raw}}</arg_value{SUFFIX}>",
    section=Block(f"<tool_calls{SUFFIX}>", f"</tool_calls{SUFFIX}>"),
    separator="",
    reasoning=Block(f"<think{SUFFIX}>", f"</think{SUFFIX}>"),
    ends=("<｜hy_end｜>", "<｜hy_end:opensource｜>", "<|hy_eos|>"),
    about={
        "models": "Hunyuan 4 (each tag may carry the suffix of its checkpoint)",
        "source": "the chat template of Hy4",
    },
)

K2_HORIZON = Format(
    "k2_horizon",
    call=("<ifm|tool_call>{name}\n{params}</ifm|tool_call>", "<ifm|tool_call>{call:json}</ifm|tool_call>"),
    param="<ifm|arg_key>{key}</ifm|arg_key>\n<ifm|arg_type>{type}</ifm|arg_type>\n"
    "<ifm|arg_value>{value:raw}</ifm|arg_value>\n",
    section=Block("<ifm|tool_calls>\n", "\n</ifm|tool_calls>"),
    reasoning=Block(
        "<ifm|think>",
        "</ifm|think>",
        also=(
            ("<ifm|think_fast>", "</ifm|think_fast>"),
            ("<ifm|think_faster>", "</ifm|think_faster>"),
        ),
    ),
    ends=("<|ifm|im_end|>", "<ifm|end>"),
    about={
        "models": "K2 Horizon (tags, tags with types, or a JSON body)",
        "source": "the chat template of K2-Horizon",
        "notes": "A chat-template option chooses tags, tags with types, or a JSON body.",
    },
)

FORMATS = (
    K2_HORIZON,
    GLM45,
    GLM47,
    LING3,
    POOLSIDE_V1,
    IQUEST_Q1,
    IQUEST_CODER,
    XING4,
    SOLAR_OPEN2,
    HYPERCLOVAX,
    HY_V3,
    HY_V4,
)
