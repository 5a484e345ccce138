"""Which format a chat template or a tokenizer speaks of, by the markers in its text: tables only.

Ids that are not registered are passed over where the tables are read.
"""

from __future__ import annotations

from typing import NamedTuple

FENCE = "```json"


class Rule(NamedTuple):
    """A text that holds all of `has`, one of `some` (if any) and none of `lacks` speaks of these formats."""

    formats: tuple[str, ...]
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    some: tuple[str, ...] = ()

    def fits(self, text: str) -> bool:
        """Whether the text holds what the rule asks for."""
        has = all(marker in text for marker in self.has) and not any(marker in text for marker in self.lacks)
        return has and (not self.some or any(marker in text for marker in self.some))


# The first that fits wins, so what is special stands before what is general.
RULES = (
    Rule(("beam",), ("<|channel|>", "<|message|>", "<rfl:parameter")),
    Rule(("inkling",), ("<|message_model|>",), some=("<|content_invoke_tool_json|>", "content_invoke_tool")),
    Rule(("harmony",), ("<|channel|>", "<|message|>", "<|start|>")),
    Rule(("muse_glimmer", "muse"), ("<atem:function_calls>", "<|eom|>")),
    Rule(("functionary_v32",), (">>>all", ">>>${recipient}")),
    Rule(("kimi_k2",), ("<|tool_calls_section_begin|>", "<|tool_call_begin|>")),
    Rule(("kimi_k3",), ("<|open|>", "<|close|>", "<|end_of_msg|>")),
    Rule(("minimax_m3",), ("]<]minimax[>[", "<invoke name=")),
    Rule(("minimax_m2",), ("<minimax:tool_call>",)),
    Rule(("dots",), ("<dots_function_call>",)),
    Rule(("step3",), ("<steptml:invoke",)),
    Rule(("gigachat35",), ("GCML",)),
    Rule(("deepseek_v32",), ("DSML", "function_calls")),
    Rule(("deepseek_v41",), ("DSML｜ calls",)),
    Rule(("deepseek_v4",), ("DSML", "tool_calls")),
    Rule(("gemma4",), ("<|tool_call>call:",)),
    Rule(("functiongemma",), ("<start_function_call>",)),
    Rule(("solar_open2",), ("<|tool_arg:start|>",)),
    Rule(("k2_horizon",), ("ifm|tool_call",)),
    Rule(("iquest_coder",), ("<iquestcoder_tool_call>",)),
    Rule(("iquest_q1",), ("<iquest_tool_call>",)),
    Rule(("hy_v3",), ("<tool_sep", "<arg_key")),
    Rule(("hy_v4",), ("<tool_calls", "<arg_key")),
    Rule(("longcat",), ("<longcat_tool_call>",)),
    Rule(("ling3",), ("<role>ASSISTANT</role>", "<arg_key>")),
    Rule(("poolside_v1",), ("<arg_key>", "<arg_value>", "<assistant>")),
    Rule(("glm45", "glm47"), ("<arg_key>", "<arg_value>"), some=("</arg_key>\n", "</arg_key>\\n")),
    Rule(("glm47", "glm45"), ("<arg_key>", "<arg_value>")),
    Rule(("seed_oss",), ("<seed:tool_call>",)),
    Rule(("qwen3_xml",), ("<tool_call>", "<function=", "<parameter=")),
    Rule(("minicpm5",), ('<function name="', '<param name="')),
    Rule(("solar_open",), ("<|tool_call:begin|>", "<|tool_call:args|>")),
    Rule(("mistral_callid",), ("[TOOL_CALLS]", "[CALL_ID]", "[ARGS]")),
    Rule(("mistral_v11",), ("[TOOL_CALLS]", "[ARGS]")),
    Rule(("mistral",), ("[TOOL_CALLS]",)),
    Rule(("deepseek_v31",), ("tool▁call▁begin",), (FENCE,)),
    Rule(("deepseek_v3",), ("tool▁call▁begin", FENCE)),
    Rule(("cohere_command",), ("<|START_ACTION|>",)),
    Rule(("command_r",), ("directly-answer", "tool_name")),
    Rule(("apertus",), ("<|tools_prefix|>",)),
    Rule(("plamo3",), ("plamo:begin_tool_request",)),
    Rule(("lfm2",), some=("<|tool_list_start|>", "List of tools: [", "<|tool_call_start|>")),
    Rule(("gigachat3",), ("<|role_sep|>",), some=("<|message_sep|>", "<|function_call|>")),
    Rule(("nemotron_json",), ("<TOOLCALL>",)),
    Rule(("granite",), ("<|tool_call|>", "<|start_of_role|>")),
    Rule(("granite_20b_fc",), ("<function_call>", "function_call_library")),
    Rule(("phi4_mini_json",), some=("functools", "<|/tool|>")),
    Rule(("internlm",), ("<|action_start|>", "<|plugin|>")),
    Rule(("sarashina",), ("<|tool_calls|>",)),
    Rule(("pangu",), ("[unused11]",)),
    Rule(("olmo3",), ("<function_calls>", "<functions>")),
    Rule(("llama3_function_tag",), ("<function=", "</function>", "<|python_tag|>")),
    Rule(("minimax_m1",), ("<tool_calls>", "<beginning_of_sentence>")),
    Rule(("hunyuan_a13b",), ("<tool_calls>", "<answer>")),
    Rule(("apriel",), ("<tool_calls>[",)),
    Rule(("jamba",), ("<tool_calls>",)),
    Rule(("llama4_pythonic",), ("<|header_start|>", "<|python_start|>")),
    Rule(("llama3_json",), ("<|python_tag|>", '"name": ')),
    Rule(("cwm",), ("<tool: ",)),
    Rule(("rwkv",), ("**Tool Call:**",)),
    Rule(("xml_invoke",), ("<invoke name=", "<parameter name=")),
    Rule(("ernie45",), ("<tool_call>", "<response>")),
    Rule(("step_audio_2",), ("<tool_call>function\n",)),
    Rule(("hermes",), ("<tool_call>",)),
    Rule(("llama3_json",), ('"parameters": ', '"name": ')),
)

# Tokens that a tokenizer has of its own, where no rule above fits: each alone tells less than a template.
TOKENS = (
    Rule(("harmony",), ("<|channel|>", "<|call|>")),
    Rule(("glm45", "glm47"), ("<arg_key>",)),
    Rule(("gemma4",), ("<|tool_call>", "<tool_call|>")),
    Rule(("hermes", "qwen3_xml"), ("<tool_call>",)),
    Rule(("llama4_pythonic",), ("<|python_start|>",)),
    Rule(("llama3_json",), ("<|python_tag|>",)),
)

# mlx-lm's names in `tool_parser_type`, where they are no alias of the format that they mean: its "pythonic" reads
# LFM2's lists, and its "mistral" the names before [ARGS].
PARSER_TYPES = {
    "pythonic": ("lfm2", "pythonic"),
    "mistral": ("mistral_v11",),
    "glm47": ("glm47",),
    "json_tools": ("hermes",),
}
