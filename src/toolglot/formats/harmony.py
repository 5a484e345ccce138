"""Harmony: messages with a channel and a recipient."""

from .._format import Messages

HARMONY = Messages(
    "harmony",
    starts=("<|start|>", "<|channel|>"),
    body="<|message|>",
    ends=("<|end|>", "<|call|>", "<|return|>"),
    recipient="to=functions.{name}",
    channels={"analysis": "reasoning", "commentary": "text", "final": "text"},
    write="<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{args}<|call|>",
    prose="<|channel|>final<|message|>{text}<|end|>",
    thought="<|channel|>analysis<|message|>{text}<|end|>",
    joint="<|start|>assistant",
    about={
        "aliases": "openai gpt-oss gpt_oss openai_gptoss",
        "models": "gpt-oss",
        "source": "the published Harmony response format",
    },
)

FORMATS = (HARMONY,)
