"""Reasoning markers and end-of-turn tokens that several families share."""

from .._format import Block

THINK = Block("<think>", "</think>")
THINK_OR_CALL = Block("<think>", "</think>", optional=True)
CHATML_ENDS = ("<|im_end|>", "<|endoftext|>")
LLAMA_ENDS = ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>")
