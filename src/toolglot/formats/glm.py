"""Key and value tags behind the name: GLM."""

from .._format import Format
from ._thinking import THINK_OR_CALL

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

FORMATS = (GLM45, GLM47)
