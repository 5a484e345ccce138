"""The layouts of the families, by the ids of their formats.

Facts of the vendors' chat templates; the sentences between the markers are not theirs. A format that is not listed
takes the neutral layout.

The rule for reasoning, the same for all families: whether to think is left to the model. No turn and no prompt holds a
marker of thoughts, open (`<think>`) or empty, nor a switch for them (`detailed thinking on`), though most vendors'
templates write one by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ._layout import Layout

_SECTION = "# Tools\n\n{intro}\n<tools>\n{tools}\n</tools>\n\n{how}\n{call}\n\n{rules}"
_AFTER = "\n\n{how}\n{call}\n\n{rules}"


def _turns(template: str, **names: str) -> dict[str, str]:
    """The turns of a family that only differ in the role's name, which stands as `@`."""
    roles = {"system": "system", "user": "user", "assistant": "assistant"} | names
    return {role: template.replace("@", name) for role, name in roles.items()}


def _inner(template: str, role: str, inner: str) -> str:
    """A turn of a role whose content stands in more than the turn's own markers."""
    return template.replace("@", role).replace("{content}", inner)


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
    indent=4,
    joint="\n\n",
    tools_first=True,
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
    tools_first=True,
    turns=_turns("<|@|>\n{content}", tools="system", tool="observation") | {"prompt": "<|assistant|>"},
    begin="[gMASK]<sop>",
)
GLM47 = Layout(
    tools=_SECTION,
    definition="openai",
    result="<tool_response>{content}</tool_response>",
    result_joint="",
    tools_first=True,
    turns=_turns("<|@|>{content}", tools="system", tool="observation"),
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
    result_joint="\n\n",
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
_K3 = '<|open|>message role="@"<|sep|>{content}<|close|>message<|sep|><|end_of_msg|>'
_K3_RESPONSE = "<|open|>response<|sep|>@<|close|>response<|sep|>"
KIMI_K3 = Layout(
    tools="# Tools\n{intro}\n\n```json\n[{tools}]\n```" + _AFTER,
    definition="sorted",
    joint=",",
    tools_first=True,
    result="{content}",
    turns=_turns(_K3, tools='system" type="tool-declare', tool='tool" tool="{name}" index="{number}')
    | {
        "assistant": _inner(_K3, "assistant", _K3_RESPONSE.replace("@", "{content}")),
        "calls": _inner(_K3, "assistant", _K3_RESPONSE.replace("@", "{text}") + "{calls}"),
        "prompt": '<|open|>message role="assistant"<|sep|>',
    },
    apart=True,
)
HARMONY = Layout(
    heading="# Instructions\n\n",
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
    system_joint="",
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
    system_joint="\n",
    result="<|tool_response_start|>{content}<|tool_response_end|>",
    turns=_turns(_CHATML, tool="tool"),
    apart=True,
    begin="<|startoftext|>",
)
MINIMAX_M1 = Layout(
    tools="{intro}\n<tools>\n{tools}\n</tools>" + _AFTER,
    definition="openai",
    result="tool result: {content}\n\n",
    turns=_turns(
        "<beginning_of_sentence>@\n{content}<end_of_sentence>\n",
        system="system ai_setting=assistant",
        tools="system tool_setting=tools",
        user="user name=user",
        assistant="ai name=assistant",
        tool="tool name=tools",
    ),
    apart=True,
    begin="<begin_of_document>",
)
MINIMAX_M2 = Layout(
    tools="# Tools\n{intro}\n\n<tools>\n{tools}\n</tools>" + _AFTER,
    definition="function",
    entry="<tool>{definition}</tool>",
    result="<response>{content}</response>",
    turns=_turns("]~b]@\n{content}[e~[\n", assistant="ai", tool="tool"),
    begin="]~!b[",
)
MINIMAX_M3 = replace(  # without the vendor's own first turn
    MINIMAX_M2, turns=_turns("]~b]@\n{content}[e~[\n", system="developer", assistant="ai", tool="tool")
)
SEED_OSS = Layout(
    tools="{tools}" + _AFTER,
    definition="seed_oss",
    entry="Function:\n{definition}",
    joint="\n\n",
    result="{content}",
    turns=_turns("<seed:bos>@\n{content}<seed:eos>", tool="tool"),
    apart=True,
)
GRANITE = Layout(
    tools="[\n{tools}\n]" + _AFTER,
    definition="openai",
    indent=4,
    entry="    {definition}",
    joint=",\n",
    result="{content}",
    turns=_turns(_GRANITE, tools="available_tools", tool="tool"),
    apart=True,
)
GRANITE_20B_FC = Layout(
    tools="<|function_call_library|>\n{tools}" + _AFTER,
    definition="function",
    result="<function_response> {content}",
    result_joint="",
    turns={
        "system": "SYSTEM: {content}\n",
        "user": "\nUSER: {content}\n",
        "assistant": "\nASSISTANT: {content} <|endoftext|>\n",
        "calls": "\nASSISTANT:\n{calls}\n<|endoftext|>\n",
        "tool": "{content}",
        "prompt": "\nASSISTANT:",
    },
)
_COHERE = "<|START_OF_TURN_TOKEN|><|@_TOKEN|>{content}<|END_OF_TURN_TOKEN|>"
_COHERE_TURNS = _turns(_COHERE, system="SYSTEM", user="USER", assistant="CHATBOT", tool="SYSTEM")
COHERE_COMMAND = Layout(
    tools="## Available Tools\n{intro}\n\n```json\n[\n{tools}\n]\n```" + _AFTER,
    definition="responses",
    entry="    {definition}",
    joint=",\n",
    tools_first=True,
    heading="# Developer Preamble\n",
    result='    {{\n        "tool_call_id": "{id}",\n        "results": {{\n            "0": {json}\n        }},\n'
    '        "is_error": null\n    }}',
    result_joint=",\n",
    results="<|START_TOOL_RESULT|>[\n{results}\n]<|END_TOOL_RESULT|>",
    turns=_COHERE_TURNS
    | {
        "assistant": _inner(_COHERE, "CHATBOT", "<|START_RESPONSE|>{content}<|END_RESPONSE|>"),
        "calls": _COHERE.replace("@", "CHATBOT"),
        "prompt": "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    },
    begin="<BOS_TOKEN>",
)
COMMAND_R = Layout(
    heading="# User Preamble\n",
    tools="## Available Tools\n\n{tools}" + _AFTER,
    definition="command_r",
    entry="```python\n{definition}\n```",
    joint="\n\n",
    result="<results>\n{content}</results>",
    turns=_COHERE_TURNS | {"calls": "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{content}\n"},
    apart=True,
    begin="<BOS_TOKEN>",
)
JAMBA = Layout(
    tools="<tool_definitions>\n# Tools\n\n## Functions\n\n{tools}\n</tool_definitions>" + _AFTER,
    definition="function",
    indent=2,
    joint="\n\n",
    result="{content}",
    turns=_turns("<|bom|><|@|> {content}<|eom|>")
    | {"tool": "<|bom|><|tool|> ({name}){content}<|eom|>", "prompt": "<|bom|><|assistant|>"},
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
    definition="openai",
    joint=", ",
    result="{content}",
    turns=_turns(_CHATML, tool="environment"),
    apart=True,
)
NEMOTRON_JSON = Layout(
    tools="{intro}\n<AVAILABLE_TOOLS>[{tools}]</AVAILABLE_TOOLS>" + _AFTER,
    definition="function",
    joint=", ",
    result="{content}",
    result_joint=", ",
    results="<TOOL_RESPONSE>[{results}]</TOOL_RESPONSE>",
    turns={
        "system": "<SPECIAL_10>System\n{content}\n\n",
        "user": "<SPECIAL_11>User\n{content}\n",
        "assistant": "<SPECIAL_11>Assistant\n{content}\n<SPECIAL_12>\n",
        "tool": "<SPECIAL_11>User\n{content}",
    },
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
_ERNIE = "<|im_start|>@\n{content}<|im_end|>\n\n"
ERNIE45 = Layout(
    tools="<tool_list>\n[{tools}]\n</tool_list>" + _AFTER,
    definition="openai",
    joint=",\n",
    result="<tool_output>\n{content}\n</tool_output>",
    turns=_turns(_ERNIE, tool="tool")
    | {
        "assistant": _inner(_ERNIE, "assistant", "<response>\n{content}\n</response>\n"),
        "calls": _ERNIE.replace("@", "assistant"),
        "prompt": "<|im_start|>assistant\n",
    },
)
STEP_AUDIO_2 = Layout(
    tools="[{tools}]" + _AFTER,
    definition="openai",
    joint=", ",
    result="{content}",
    turns=_turns("<|BOT|>@\n{content}<|EOT|>", user="human", tools="tool_json_schemas")
    | {"tool": "<|BOT|>function_output\n{name}\n{content}<|EOT|>"},
    apart=True,
)
K2_HORIZON = Layout(
    tools="# Tools\n{intro}\n\n<ifm|tools>\n{tools}\n</ifm|tools>" + _AFTER,
    definition="openai",
    tools_first=True,
    result="{content}",
    turns=_turns("<|ifm|im_start|>@\n{content}<|ifm|im_end|>", tool="tool"),
    apart=True,
    begin="<|ifm|begin_of_text|>",
)
LING3 = Layout(
    tools=_SECTION,
    definition="openai",
    system_joint="\n",
    turns=_turns("<role>@</role>{content}<|role_end|>", system="SYSTEM", user="HUMAN", assistant="ASSISTANT")
    | {"tool": "<role>OBSERVATION</role>\n{content}<|role_end|>"},
)
LAGUNA = Layout(  # the models XS.2 and M.1; the later S-2.1 has no breaks inside the tags, nor in its calls
    tools="### Tools\n\n{intro}\n<available_tools>\n{tools}\n</available_tools>" + _AFTER,
    definition="openai",
    turns=_turns("<@>\n{content}\n</@>\n") | {"system": "<system>\n\n{content}\n</system>\n", "tool": "{content}\n"},
    begin="〈|EOS|〉",
)
IQUEST_Q1 = Layout(
    tools="# Tools\n\n<tools>\n{tools}\n</tools>" + _AFTER,
    definition="iquest",
    tools_first=True,
    result="<tool_response>{content}</tool_response>",
    result_joint="",
    turns=_turns("<|iquest_@|>{content}<|iquest_end|>", tool="tool")
    | {"tools": "<|iquest_system|>\n{content}<|iquest_end|>"},
)
XING4 = Layout(
    tools=_SECTION,
    definition="openai",
    system_joint="\n",
    result="<tool_response>{content}</tool_response>",
    result_joint="",
    turns={
        "system": "<_system>{content}",
        "user": "<_user>{content}",
        "assistant": "<_bot>{content}<_end>\n",
        "tool": "<_observation>{content}",
    },
)
SOLAR_OPEN = Layout(
    heading="## System Prompt\n\n",
    tools="## Tools\n\n### Tool Call Instruction\n{intro}\n\n### Available Tools\n"
    "<|tools:begin|>{tools}<|tools:end|>\n\n### Tool Call Format\n{how}\n{call}\n\n{rules}",
    definition="function",
    entry="<|tool:begin|>{definition}<|tool:end|>",
    joint="",
    result="<|tool_response:begin|>{id}<|tool_response:name|>{name}<|tool_response:result|>{content}"
    "<|tool_response:end|>",
    result_joint="",
    turns=_turns("<|begin|>@<|content|>{content}<|end|>")
    | {
        "calls": "<|begin|>assistant{calls}",
        "tool": "<|begin|>tool<|tool_response|>{content}<|end|>",
        "prompt": "<|begin|>assistant",
    },
)
SOLAR_OPEN2 = Layout(
    heading="## System Prompt\n\n",
    tools="## Tools\n{intro}\n\n### Available Tools\n{tools}\n\n### Tool Call Instruction\n{how}\n{call}\n\n{rules}",
    definition="function",
    entry="<|tool:start|>{definition}<|tool:end|>",
    result="<|tool_response:start|>{content}<|tool_response:end|>",
    turns=_turns("<|im:start|>@<|im:content|>{content}<|im:end|>\n")
    | {
        "calls": "<|im:start|>assistant<|im:content|>{content}\n<|im:end|>\n",
        "tool": "<|im:start|>tool<|im:content|>{content}\n<|im:end|>\n",
    },
)
HYPERCLOVAX = Layout(  # the vendor's template has nothing between the definitions
    tools=_SECTION,
    definition="openai",
    joint="",
    result="<tool_response>{name}\n{content}\n</tool_response>",
    turns=_turns(_CHATML, tool="tool"),
)
HUNYUAN_A13B = Layout(
    tools="{intro}\n\n[{tools}]" + _AFTER,
    definition="openai",
    joint=", ",
    tools_first=True,
    system_joint="\n\n额外要求：\n",
    result="<tool_response>{content}</tool_response>",
    turns={
        "system": "{content}<|extra_4|>",
        "user": "用户：{content}<|extra_0|>",
        "assistant": "助手：{content}<|eos|>",
        "calls": "{content}<|eos|>",
        "tool": "{content}<|extra_0|>",
        "prompt": "",
    },
    apart=True,
    begin="<|startoftext|>",
)
HY_V3 = Layout(  # the tokens of the preview, which the format writes too
    tools=_SECTION,
    definition="openai",
    result="<tool_response>\n{content}\n</tool_response>",
    results="<tool_responses>\n{results}\n</tool_responses>",
    turns={
        "system": "{content}",
        "user": "<｜hy_User｜>{content}",
        "assistant": "<｜hy_Assistant｜>{content}<｜hy_eos｜>",
        "tool": "{content}",
    },
    begin="<｜hy_begin▁of▁sentence｜>",
)
_GIGACHAT = "@<|role_sep|>\n{content}<|message_sep|>\n\n"
GIGACHAT3 = Layout(
    tools="namespace functions {{\n{tools}\n\n}} // namespace functions" + _AFTER,
    definition="gigachat",
    joint="\n\n",
    result="{content}",
    turns=_turns(_GIGACHAT, tool="function result", tools="function descriptions"),
    apart=True,
)
GIGACHAT35 = replace(GIGACHAT3, result='<function_response name="{name}">{content}</function_response>', apart=False)
CWM = Layout(
    definition="parameters",
    indent=2,
    entry="<tool: {name}>\n[json params]\n</tool>\n{description}\n\n{definition}",
    joint="\n\n",
    result="{content}",
    turns=_turns(_LLAMA3, tools="system", tool="tool: {name}"),
    apart=True,
    begin="<|begin_of_text|>",
)
RWKV = Layout(
    tools="{tools}\n{how}\n{call}\n{rules}",
    definition="parameters",
    indent=2,
    entry="### `{name}`\n**Description:** {description}\n**Parameters:**\n```json\n{definition}\n```",
    system_joint="\n",
    result="```json\n{json}\n```",
    turns=_turns("### @\n{content}\n", system="System", user="User", assistant="Assistant", tool="Tool Output"),
    apart=True,
)
GLM4_0414 = Layout(
    tools="# 可用工具\n\n{tools}" + _AFTER,
    definition="function",
    indent=4,
    entry="## {name}\n\n{definition}",
    joint="\n\n",
    tools_first=True,
    result="{content}",
    turns=_turns("<|@|>\n{content}", tool="observation", tools="system")
    | {"calls": "<|assistant|>{calls}", "prompt": "<|assistant|>"},
    apart=True,
    begin="[gMASK]<sop>",
)
APRIEL = Layout(  # 1.6; 1.5 has other turns
    tools="{intro}\n<available_tools>\n{tools}\n</available_tools>" + _AFTER,
    definition="repr",
    joint="",
    system_joint="\n",
    result="{content}",
    turns={
        "system": "<|begin_system|>\n{content}\n",
        "user": "<|begin_user|>\n{content}",
        "assistant": "\n<|begin_assistant|>\n{content}\n<|end|>\n",
        "tool": "<|begin_tool_result|>\n{content}\n\n\n",
    },
    apart=True,
)
APERTUS = Layout(
    tools="Tool Capabilities:\n{tools}" + _AFTER,
    definition="apertus",
    result="{content}",
    result_joint=", ",
    results="[{results}]",
    turns=_turns("<|@_start|>{content}<|@_end|>", tools="developer") | {"tool": "{content}"},
)
FUNCTIONARY_V32 = Layout(
    tools="namespace functions {{\n\n{tools}\n\n}} // namespace functions" + _AFTER,
    definition="functionary",
    joint="\n\n",
    tools_first=True,
    result="{content}",
    turns=_turns(_LLAMA3, tools="system", tool="tool")
    | {"assistant": "<|start_header_id|>assistant<|end_header_id|>\n\n>>>{content}<|eot_id|>"},
    apart=True,
    begin="<|begin_of_text|>",
)
DOTS = Layout(
    tools=_SECTION,
    definition="openai",
    result="<dots_function_response>\n{content}\n</dots_function_response>",
    turns=_turns("<|@|>{content}<|endof@|>") | {"tool": "<|user|>\n{content}<|endofuser|>"},
)
PANGU = Layout(
    tools="{intro}\n<tools>\n{tools}\n</tools>" + _AFTER,
    definition="openai",
    result="{content}",
    turns=_turns("[unused9]@：{content}[unused10]", system="系统", user="用户", assistant="助手", tool="工具"),
    apart=True,
    begin="<s>",
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
    **dict.fromkeys(("hermes", "qwen3_xml", "mimo", "xlam", "minicpm5"), CHATML),
    **dict.fromkeys(("llama3_json", "pythonic", "llama3_function_tag"), LLAMA3),
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
    "step_audio_2": STEP_AUDIO_2,
    "granite_20b_fc": GRANITE_20B_FC,
    "k2_horizon": K2_HORIZON,
    "ling3": LING3,
    "iquest_q1": IQUEST_Q1,
    "xing4": XING4,
    "solar_open": SOLAR_OPEN,
    "solar_open2": SOLAR_OPEN2,
    "hyperclovax": HYPERCLOVAX,
    "hunyuan_a13b": HUNYUAN_A13B,
    "hy_v3": HY_V3,
    "kimi_k3": KIMI_K3,
    "gigachat3": GIGACHAT3,
    "gigachat35": GIGACHAT35,
    "minimax_m1": MINIMAX_M1,
    "minimax_m3": MINIMAX_M3,
    "cwm": CWM,
    "rwkv": RWKV,
    "glm4_0414": GLM4_0414,
    "apriel": APRIEL,
    "apertus": APERTUS,
    "functionary_v32": FUNCTIONARY_V32,
    "dots": DOTS,
    "pangu": PANGU,
    "poolside_v1": LAGUNA,
}
"""By format id."""
