"""Calls without markers: JSON in any of the usual shapes, a list of Python calls, and bare call syntax."""

from .._format import GAP, NBSP, Block, Format
from ._thinking import CHATML_ENDS, LLAMA_ENDS, THINK

JSON = Format(
    "json",
    call="{call:json}",
    ends=(*CHATML_ENDS, *LLAMA_ENDS, "</s>", "<eos>", "<end_of_turn>"),
    tier="json",
    about={"aliases": "bare_json json-generic default", "models": "any", "source": "the APIs of OpenAI and Anthropic"},
)

FENCED_JSON = Format(
    "fenced_json",
    call="{call:json}",
    section=Block("```json\n", "\n```", each=True),
    ends=(*CHATML_ENDS, *LLAMA_ENDS, "</s>", "<eos>", "<end_of_turn>"),
    tier="json",
    about={
        "models": "any: the fence is the wrapper",
        "source": "the habit of chat models",
        "notes": "Any language behind the fence, or none.",
    },
)

PROMPT_API = Format(
    "prompt_api",
    call="{call:json}",
    ends=(
        "</s>",
        *CHATML_ENDS,
        Block(f'{{{GAP}"type":{GAP}"message",{GAP}"text":{GAP}"', '"}'),
    ),
    tier="json",
    about={
        "models": "any: a typed reply object (tool_call or message)",
        "source": "the prompt of browser tool calling",
        "notes": "The text of a message is given as it is written, escapes and all.",
    },
)

XLAM = Format(
    "xlam",
    call="{call:json}",
    section=Block("[", "]", also=(("<tool_call>", "</tool_call>"), ("[TOOL_CALLS]", "")), optional=True),
    separator=", ",
    reasoning=THINK,
    ends=(*CHATML_ENDS, *LLAMA_ENDS, "</s>"),
    tier="json",
    about={"models": "xLAM 1, 2", "source": "the chat template of xLAM-2"},
)

REACT = Format(
    "react",
    call=f"Action: {{name}}\nAction{NBSP}Input: {{args:json}}",
    ends=(*CHATML_ENDS, *LLAMA_ENDS, "</s>"),
    tier="json",
    about={
        "models": "any, by ReAct prompting",
        "source": "the ReAct prompt of agent frameworks",
        "notes": "What is written behind Action Input must be JSON; other text stays text.",
    },
)

COMMAND_R = Format(
    "command_r",
    call="{call:json}",
    section=Block("Action: ```json\n[\n    ", "\n]\n```"),
    separator=",\n    ",
    keys=("tool_name", "parameters"),
    ends=("<|END_OF_TURN_TOKEN|>",),
    tier="json",
    about={
        "aliases": "command-r-plus",
        "models": "Command R, R+ (Action heading and fence)",
        "source": "the chat template of Command R+",
        "notes": "directly-answer is the model's way to say that no tool is needed: it counts only if it is offered.",
    },
)

RWKV = Format(
    "rwkv",
    call="{call:json}",
    section=Block(f"**Tool{NBSP}Call:**\n```json\n", "\n```", each=True),
    tier="json",
    about={"models": "RWKV (heading and fence)", "source": "the chat template of RWKV World"},
)

GLM4_0414 = Format(
    "glm4_0414",
    call="{name}\n{args:json}",
    ends=("<|assistant|>", "<|user|>", "<|observation|>", "<|endoftext|>"),
    tier="json",
    about={
        "models": "GLM-4-0414 (name on a line, then JSON)",
        "source": "the chat template of GLM-4-32B-0414",
        "notes": "A call may have a turn of its own. Under auto the name must be offered, and the object must have "
        "declared keys only.",
    },
)

PYTHONIC = Format(
    "pythonic",
    call="{name}({params})",
    param="{key}={value:python}",
    section=Block("[", "]"),
    separator=", ",
    param_separator=", ",
    ends=(*LLAMA_ENDS, *CHATML_ENDS),
    tier="call",
    about={"models": "Llama 3.2, ToolACE, Ultravox", "source": "the prompt format of Llama 3.2"},
)

PYTHON_CALL = Format(
    "python_call",
    call="{name}({params})",
    param="{key}={value:python}",
    param_separator=", ",
    ends=CHATML_ENDS,
    tier="call",
    about={"aliases": "python call_syntax", "models": "any", "source": "the call syntax of Python"},
)

GRANITE_PYTHONIC = Format(
    "granite_pythonic",
    call="{name}({params})",
    param="{key}={value:python}",
    param_separator=", ",
    ends=("<|end_of_text|>",),
    tier="call",
    about={
        "models": "Granite call lines without a wrapper",
        "source": "the call lines of Granite's function-calling models",
    },
)

FORMATS = (
    JSON,
    FENCED_JSON,
    PROMPT_API,
    XLAM,
    REACT,
    COMMAND_R,
    RWKV,
    GLM4_0414,
    PYTHONIC,
    PYTHON_CALL,
    GRANITE_PYTHONIC,
)
