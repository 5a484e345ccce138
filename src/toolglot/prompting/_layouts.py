"""The layouts of the families, by the ids of their formats.

Facts of the vendors' chat templates; the sentences between the markers are not theirs. A format that is not listed
takes the neutral layout.
"""

from __future__ import annotations

from collections.abc import Mapping

from ._layout import Layout

_SECTION = "# Tools\n\n{intro}\n<tools>\n{tools}\n</tools>\n\n{how}\n{call}\n\n{rules}"
_AFTER = "\n\n{how}\n{call}\n\n{rules}"


def _turns(template: str, **names: str) -> dict[str, str]:
    """The turns of a family that only differ in the role's name, which stands as `@`."""
    roles = {"system": "system", "user": "user", "assistant": "assistant"} | names
    return {role: template.replace("@", name) for role, name in roles.items()}


_CHATML = "<|im_start|>@\n{content}<|im_end|>\n"
_LLAMA3 = "<|start_header_id|>@<|end_header_id|>\n\n{content}<|eot_id|>"
_LLAMA4 = "<|header_start|>@<|header_end|>\n\n{content}<|eot|>"
_GRANITE = "<|start_of_role|>@<|end_of_role|>{content}<|end_of_text|>\n"
_DEEPSEEK = {
    "system": "{content}",
    "user": "<｜User｜>{content}",
    "assistant": "<｜Assistant｜>{content}<｜end▁of▁sentence｜>",
}

CHATML = Layout(tools=_SECTION, definition="openai", turns=_turns(_CHATML))
LLAMA3 = Layout(
    definition="openai",
    joint="\n\n",
    result="{content}",
    turns=_turns(_LLAMA3, tool="ipython"),
    apart=True,
    begin="<|begin_of_text|>",
)
LLAMA4 = Layout(
    definition="openai",
    joint="\n\n",
    result="{content}",
    turns=_turns(_LLAMA4, tool="ipython"),
    apart=True,
    begin="<|begin_of_text|>",
)
GLM45 = Layout(
    tools=_SECTION,
    definition="openai",
    turns=_turns("<|@|>\n{content}", tool="observation") | {"prompt": "<|assistant|>"},
    begin="[gMASK]<sop>",
)
GLM47 = Layout(
    tools=_SECTION,
    definition="openai",
    result="<tool_response>{content}</tool_response>",
    result_joint="",
    turns=_turns("<|@|>{content}", tool="observation"),
    begin="[gMASK]<sop>",
)
MISTRAL = Layout(
    tools="[AVAILABLE_TOOLS] [{tools}][/AVAILABLE_TOOLS]" + _AFTER,
    definition="openai",
    joint=", ",
    result='[TOOL_RESULTS] {{"content": {json}, "call_id": "{id}"}}[/TOOL_RESULTS]',
    result_joint="",
    turns={
        "system": "{content}\n\n",
        "user": "[INST] {content}[/INST]",
        "assistant": " {content}</s>",
        "tool": "{content}",
    },
    begin="<s>",
)
_MISTRAL_TURNS = {
    "system": "[SYSTEM_PROMPT]{content}[/SYSTEM_PROMPT]",
    "user": "[INST]{content}[/INST]",
    "assistant": "{content}</s>",
    "tool": "{content}",
}
MISTRAL_V11 = Layout(
    tools="[AVAILABLE_TOOLS][{tools}][/AVAILABLE_TOOLS]" + _AFTER,
    definition="openai",
    joint=", ",
    result="[TOOL_RESULTS]{content}[/TOOL_RESULTS]",
    result_joint="",
    turns=_MISTRAL_TURNS,
    begin="<s>",
)
MISTRAL_CALLID = Layout(
    tools="[AVAILABLE_TOOLS][{tools}][/AVAILABLE_TOOLS]" + _AFTER,
    definition="openai",
    joint=", ",
    result="[TOOL_RESULTS]{id}[TOOL_CONTENT]{content}[/TOOL_RESULTS]",
    result_joint="",
    turns=_MISTRAL_TURNS,
    begin="<s>",
)
DEEPSEEK_V3 = Layout(
    tools="## Tools\n\n{intro}\n{tools}" + _AFTER,
    definition="openai",
    result="<｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜>",
    results="<｜tool▁outputs▁begin｜>{results}<｜tool▁outputs▁end｜>",
    turns=_DEEPSEEK | {"tool": "{content}"},
    begin="<｜begin▁of▁sentence｜>",
)
DEEPSEEK_V31 = Layout(
    tools="## Tools\n\n{intro}\n{tools}" + _AFTER,
    definition="openai",
    result="<｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜>",
    result_joint="",
    turns=_DEEPSEEK | {"tool": "{content}"},
    begin="<｜begin▁of▁sentence｜>",
)
DEEPSEEK_V32 = Layout(
    tools="## Tools\n\n{how}\n{call}\n\n{rules}\n\n{intro}\n<functions>\n{tools}\n</functions>",
    definition="function",
    result="<result>{content}</result>",
    results="<function_results>\n{results}\n</function_results>",
    turns=_DEEPSEEK | {"tool": "\n\n{content}"},
    begin="<｜begin▁of▁sentence｜>",
)
DEEPSEEK_V4 = Layout(
    tools="## Tools\n\n{how}\n{call}\n\n{rules}\n\n{intro}\n{tools}",
    definition="function",
    result="<tool_result>{content}</tool_result>",
    turns=_DEEPSEEK,
    begin="<｜begin▁of▁sentence｜>",
)
KIMI_K2 = Layout(
    tools="[{tools}]" + _AFTER,
    definition="openai",
    joint=", ",
    tools_first=True,
    result="## Return of {id}\n{content}",
    turns={
        "tools": "<|im_system|>tool_declare<|im_middle|>{content}<|im_end|>",
        "system": "<|im_system|>system<|im_middle|>{content}<|im_end|>",
        "user": "<|im_user|>user<|im_middle|>{content}<|im_end|>",
        "assistant": "<|im_assistant|>assistant<|im_middle|>{content}<|im_end|>",
        "tool": "<|im_system|>{name}<|im_middle|>{content}<|im_end|>",
    },
    apart=True,
)
HARMONY = Layout(
    tools="# Tools\n\n## functions\n\nnamespace functions {{\n\n{tools}\n\n}} // namespace functions" + _AFTER,
    definition="typescript",
    joint="\n\n",
    result="{content}",
    turns={
        "system": "<|start|>developer<|message|>{content}<|end|>",
        "user": "<|start|>user<|message|>{content}<|end|>",
        "assistant": "<|start|>assistant{content}",
        "tool": "<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{content}<|end|>",
    },
    apart=True,
)
GEMMA4 = Layout(
    tools="{tools}" + _AFTER,
    definition="gemma",
    joint="",
    result='<|tool_response>response:{name}{{value:<|"|>{content}<|"|>}}<tool_response|>',
    result_joint="",
    turns=_turns("<|turn>@\n{content}<turn|>\n", assistant="model") | {"tool": "{content}"},
    begin="<bos>",
)
FUNCTIONGEMMA = Layout(
    tools="{tools}" + _AFTER,
    definition="escape",
    joint="",
    result=("<start_function_response>response:{name}{{value:<escape>{content}<escape>}}<end_function_response>"),
    result_joint="",
    turns=_turns("<start_of_turn>@\n{content}<end_of_turn>\n", system="developer", assistant="model")
    | {"tool": "{content}"},
    begin="<bos>",
)
LFM2 = Layout(
    tools="List of tools: <|tool_list_start|>[{tools}]<|tool_list_end|>" + _AFTER,
    definition="openai",
    joint=", ",
    result="<|tool_response_start|>{content}<|tool_response_end|>",
    turns=_turns(_CHATML, tool="tool"),
    apart=True,
    begin="<|startoftext|>",
)
MINIMAX_M2 = Layout(
    tools="# Tools\n\n{intro}\n<tools>\n{tools}\n</tools>\n\n{how}\n{call}\n\n{rules}",
    definition="function",
    result="<response>{content}</response>",
    turns=_turns("]~b]@\n{content}[e~[\n", assistant="ai", tool="tool"),
    begin="]~!b[",
)
SEED_OSS = Layout(
    definition="openai",
    result="{content}",
    turns=_turns("<seed:bos>@\n{content}<seed:eos>", tool="tool"),
    apart=True,
)
GRANITE = Layout(
    tools="[{tools}]" + _AFTER,
    definition="openai",
    joint=",\n",
    result="{content}",
    turns=_turns(_GRANITE, tools="available_tools", tool="tool"),
    apart=True,
)
COHERE_COMMAND = Layout(
    tools="# Available Tools\n\n{intro}\n```json\n[{tools}]\n```" + _AFTER,
    definition="function",
    joint=",\n",
    result='{{"tool_call_id": "{id}", "results": {{"0": {json}}}, "is_error": null}}',
    result_joint=",\n",
    results="<|START_TOOL_RESULT|>[\n{results}\n]<|END_TOOL_RESULT|>",
    turns=_turns(
        "<|START_OF_TURN_TOKEN|><|@_TOKEN|>{content}<|END_OF_TURN_TOKEN|>",
        system="SYSTEM",
        user="USER",
        assistant="CHATBOT",
        tool="SYSTEM",
    ),
    begin="<BOS_TOKEN>",
)
COMMAND_R = Layout(
    tools="## Available Tools\n\n{intro}\n{tools}" + _AFTER,
    definition="function",
    joint="\n\n",
    result="Document: {index}\n{content}",
    result_joint="\n\n",
    results="<results>\n{results}\n</results>",
    turns=COHERE_COMMAND.turns,
    begin="<BOS_TOKEN>",
)
JAMBA = Layout(
    tools="<tool_definitions>\n{tools}\n</tool_definitions>" + _AFTER,
    definition="openai",
    result="{content}",
    turns=_turns("<|bom|><|@|> {content}<|eom|>", tool="tool"),
    apart=True,
    begin="<|startoftext|>",
)
INTERNLM = Layout(
    tools="[{tools}]" + _AFTER,
    definition="function",
    joint=", ",
    result="{content}",
    turns=_turns(_CHATML, tools="system name=<|plugin|>", tool="environment name=<|plugin|>"),
    apart=True,
    begin="<s>",
)
PHI4_MINI = Layout(
    tools="<|tool|>[{tools}]<|/tool|>" + _AFTER,
    definition="function",
    joint=", ",
    result="{content}",
    turns=_turns("<|@|>{content}<|end|>", tool="tool_response"),
    apart=True,
)
OLMO3 = Layout(
    tools="{intro}\n<functions>[{tools}]</functions>" + _AFTER,
    definition="function",
    joint=", ",
    result="{content}",
    turns=_turns(_CHATML, tool="environment"),
    apart=True,
)
NEMOTRON_JSON = Layout(
    tools="{intro}\n<AVAILABLE_TOOLS>[{tools}]</AVAILABLE_TOOLS>" + _AFTER,
    definition="function",
    joint=", ",
    result="{json}",
    result_joint=", ",
    results="<TOOL_RESPONSE>[{results}]</TOOL_RESPONSE>",
    turns=_turns("<SPECIAL_11>@\n{content}\n", user="User", assistant="Assistant")
    | {"system": "<SPECIAL_10>System\n{content}\n"},
)
XML_INVOKE = Layout(
    tools="{how}\n{call}\n\n{rules}\n\n{intro}\n<functions>\n{tools}\n</functions>",
    definition="function",
    result="<result>\n<tool_name>{name}</tool_name>\n<stdout>\n{content}\n</stdout>\n</result>",
    results="<function_results>\n{results}\n</function_results>",
)
MUSE = Layout(
    tools="{how}\n{call}\n\n{rules}\n\n{intro}\n{tools}",
    definition="function",
    result='<tool_output name="{name}">\n{content}\n</tool_output>',
    turns={
        "system": "<|start|>system<|message|>{content}<|eot|>",
        "user": "<|start|>user<|message|>{content}<|eot|>",
        "assistant": "<|start|>assistant{content}",
        "tool": "<|start|>tool {name}<|message|>{content}<|eot|>",
    },
    apart=True,
)
INKLING = Layout(
    tools="[{tools}]" + _AFTER,
    definition="function",
    joint=", ",
    tools_first=True,
    result="{content}",
    turns={
        "tools": "<|message_system|>tool_declare<|content_xml|>{content}<|end_message|>",
        "system": "<|message_system|><|content_text|>{content}<|end_message|>",
        "user": "<|message_user|><|content_text|>{content}<|end_message|>",
        "assistant": "{content}<|content_model_end_sampling|>",
        "prompt": "<|message_model|>",
        "tool": "<|message_tool|>{name}<|content_text|>{content}<|end_message|>",
    },
    apart=True,
)
ERNIE45 = Layout(
    tools="<tool_list>\n[{tools}]\n</tool_list>" + _AFTER,
    definition="openai",
    joint=",\n",
    result="<tool_output>\n{content}\n</tool_output>",
    turns=_turns(_CHATML, tool="tool"),
)
REACT = Layout(
    definition="function",
    result="Observation: {content}",
    turns={
        "system": "{content}\n\n",
        "user": "Question: {content}\n",
        "assistant": "{content}\n",
        "tool": "{content}\n",
    },
)

LAYOUTS: Mapping[str, Layout] = {
    **dict.fromkeys(("hermes", "qwen3_xml", "mimo", "xlam", "hunyuan_a13b"), CHATML),
    **dict.fromkeys(("llama3_json", "pythonic", "llama3_function_tag", "functionary_v32"), LLAMA3),
    "llama4_pythonic": LLAMA4,
    "glm45": GLM45,
    "glm47": GLM47,
    "mistral": MISTRAL,
    "mistral_v11": MISTRAL_V11,
    "mistral_callid": MISTRAL_CALLID,
    "deepseek_v3": DEEPSEEK_V3,
    "deepseek_v31": DEEPSEEK_V31,
    "deepseek_v32": DEEPSEEK_V32,
    **dict.fromkeys(("deepseek_v4", "deepseek_v41"), DEEPSEEK_V4),
    "kimi_k2": KIMI_K2,
    "harmony": HARMONY,
    "gemma4": GEMMA4,
    "functiongemma": FUNCTIONGEMMA,
    "lfm2": LFM2,
    "minimax_m2": MINIMAX_M2,
    "seed_oss": SEED_OSS,
    "granite": GRANITE,
    "cohere_command": COHERE_COMMAND,
    "command_r": COMMAND_R,
    "jamba": JAMBA,
    "internlm": INTERNLM,
    "phi4_mini_json": PHI4_MINI,
    "olmo3": OLMO3,
    "nemotron_json": NEMOTRON_JSON,
    "xml_invoke": XML_INVOKE,
    **dict.fromkeys(("muse", "muse_glimmer"), MUSE),
    "inkling": INKLING,
    "ernie45": ERNIE45,
    "react": REACT,
}
"""By format id."""
