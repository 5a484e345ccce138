"""The prompt's tail decides where a reply begins: in reasoning, in a message, in its header, or in the text."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot import Parser, parse

HARMONY = "<|start|>assistant<|channel|>"

# format, prompt's tail, reply, then content, reasoning, calls
CASES = [
    ("hermes", "<|im_start|>assistant\n<think>\n", "a</think>yes", "yes", "a", []),
    ("hermes", "what is <think>?<|im_end|>\n<|im_start|>assistant\n", "yes", "yes", "", []),
    ("hermes", "<think>old</think>x<|im_end|>\n<|im_start|>assistant\n<think></think>\n", "yes", "yes", "", []),
    ("hy_v4", "<|hy_eos|><think:x1>", "ok</think:x1>yes", "yes", "ok", []),
    ("gemma4", "<|channel>thought\n", "a<channel|>yes", "yes", "a", []),
    ("kimi_k3", "<|open|>think<|sep|>", "a<|close|>think<|sep|><|open|>response<|sep|>yes", "yes", "a", []),
    ("harmony", HARMONY + "analysis<|message|>", "Hm.<|end|>" + HARMONY + "final<|message|>Hi", "Hi", "Hm.", []),
    ("harmony", HARMONY + "analysis", "<|message|>Hm.<|end|>", "", "Hm.", []),
    ("harmony", "<|end|><|start|>assistant", "<|channel|>analysis<|message|>Hm.<|end|>", "", "Hm.", []),
    (
        "harmony",
        HARMONY + "commentary to=functions.f <|constrain|>json<|message|>",
        '{"a": 1}<|call|>',
        "",
        "",
        [("f", {"a": 1})],
    ),
    ("muse", "<|eot|><|start|>assistant to=self<|message|>", "Hm.<|eom|>", "", "Hm.", []),
    ("functionary_v32", "user text>>>", 'f\n{"a": 1}', "", "", [("f", {"a": 1})]),
]


@pytest.mark.parametrize(("format", "prefix", "reply", "content", "reasoning", "calls"), CASES)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_reply_begins_where_the_prompt_ends(
    format: str, prefix: str, reply: str, content: str, reasoning: str, calls: list[Any], size: int
) -> None:
    parser = Parser(["f"], format=format, prefix=prefix)
    for at in range(0, len(reply), size):
        parser.feed(reply[at : at + size])
    parser.finish()
    result = parser.result
    assert (result.content, result.reasoning) == (content, reasoning)
    assert [(c.name, c.arguments) for c in result.calls] == calls
    assert "".join(s.text for s in result.segments) == reply
    assert result.to_dict() == parse(reply, ["f"], format=format, prefix=prefix).to_dict()
