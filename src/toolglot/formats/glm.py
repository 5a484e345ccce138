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

FORMATS = (GLM45,)
