"""The parsers of the two large engines, vLLM and SGLang, called as their own servers call them.

The rule: an adapter adds nothing that costs. A package that is not there raises `ImportError` that says why.
"""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable
from typing import Any, ClassVar

from .adapter import Calls, Joined, Peer, Stream, loads
from .replies import MARKERS, TOOLS


class VLLM(Peer):
    """vLLM's tool parsers, whole and streamed, with a stand-in for the tokenizer."""

    package = "vllm"
    formats: ClassVar[dict[str, str]] = {
        "hermes": "hermes",
        "mistral_v11": "mistral",
        "pythonic": "pythonic",
        "qwen3_xml": "qwen3_coder",
        "deepseek_v31": "deepseek_v31",
        "kimi_k2": "kimi_k2",
    }

    def __init__(self) -> None:
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.tool_parsers import ToolParserManager

        logging.disable(logging.ERROR)
        self.manager = ToolParserManager
        message = {"role": "user", "content": "x"}
        self.request = ChatCompletionRequest(messages=[message], model="m", tools=TOOLS, tool_choice="auto")

    def parser(self, format: str) -> Any:
        return self.manager.get_tool_parser(self.formats[format])(Tokenizer(format), self.request.tools)

    def complete(self, format: str) -> Callable[[str], Any]:
        return lambda text: self.parser(format).extract_tool_calls(text, self.request)

    def calls(self, native: Any) -> Calls:
        return [(c.function.name, loads(c.function.arguments)) for c in native.tool_calls]

    def stream(self, format: str) -> Stream:
        return VLLMStream(self, format)


class VLLMStream(Joined):
    """The serving layer's side: it hands over the text and the ids so far with each delta, as the signature asks."""

    def __init__(self, peer: VLLM, format: str) -> None:
        super().__init__()
        self.parser, self.request, self.vocabulary = peer.parser(format), peer.request, Tokenizer(format).vocabulary
        self.text = ""
        self.before: list[int] = []
        self.ids: list[int] = []

    def feed(self, delta: str) -> None:
        before, self.text = self.text, self.text + delta
        new = [self.vocabulary.get(delta, 1)]
        self.ids.append(new[0])
        read = self.parser.extract_tool_calls_streaming
        self.take(read(before, self.text, delta, self.before, self.ids, new, self.request))
        self.before.append(new[0])

    def finish(self) -> None:
        last = getattr(self.parser, "finish_streaming", None)
        self.take(last() if last else None)

    def take(self, message: Any) -> None:
        for call in (message.tool_calls if message is not None else None) or ():
            made = call.function
            if isinstance(made, dict):
                self.add(call.index, made.get("name"), made.get("arguments"))
            elif made is not None:
                self.add(call.index, made.name, made.arguments)


class Tokenizer:
    """Stands in for a tokenizer: every marker is one token, all other text is one more."""

    def __init__(self, format: str) -> None:
        markers = ["<think>", "</think>", "[THINK]", "[/THINK]", *dict.fromkeys(m for v in MARKERS.values() for m in v)]
        self.vocabulary = {marker: 1_000 + i for i, marker in enumerate(markers)}
        self.words = {i: marker for marker, i in self.vocabulary.items()}
        self.all_special_tokens, self.all_special_ids = list(self.vocabulary), list(self.words)
        self.version, self.eos_token_id, self.name_or_path = 11, 2, "stand-in"
        self.unk_token_id = self.chat_template = None

    def get_vocab(self) -> dict[str, int]:
        return self.vocabulary

    def encode(self, text: str, **_: Any) -> list[int]:
        return [self.vocabulary.get(text, 1)]

    def decode(self, ids: Any, **_: Any) -> str:
        return "".join(self.words.get(i, "?") for i in ([ids] if isinstance(ids, int) else ids))

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        return self.vocabulary.get(tokens) if isinstance(tokens, str) else [self.vocabulary.get(t) for t in tokens]

    def convert_ids_to_tokens(self, ids: Any, **_: Any) -> list[str]:
        return [self.words.get(i, "?") for i in ids]


class SGLang(Peer):
    """SGLang's detectors, as `llm-router-utils` carries them without the engine."""

    package = "llm-router-utils"
    formats: ClassVar[dict[str, str]] = {
        "hermes": "hermes",
        "mistral_v11": "mistral",
        "pythonic": "pythonic",
        "qwen3_xml": "qwen3_coder",
        "deepseek_v31": "deepseekv31",
        "kimi_k2": "kimi_k2",
    }
    root = "llm_router_utils.sglang.srt"

    def __init__(self) -> None:
        self.parser = importlib.import_module(f"{self.root}.function_call.function_call_parser").FunctionCallParser
        tool = importlib.import_module(f"{self.root}.entrypoints.openai.protocol").Tool
        logging.disable(logging.ERROR)
        self.tools = [tool(**t) for t in TOOLS]

    def complete(self, format: str) -> Callable[[str], Any]:
        parser, tools, name = self.parser, self.tools, self.formats[format]
        return lambda text: parser(tools, name).parse_non_stream(text)

    def calls(self, native: Any) -> Calls:
        return [(c.name, loads(c.parameters)) for c in native[1]]

    def stream(self, format: str) -> Stream:
        return SGLangStream(self.parser(self.tools, self.formats[format]), self.tools)


class SGLangStream(Joined):
    """Deltas alone are handed over."""

    def __init__(self, parser: Any, tools: Any) -> None:
        super().__init__()
        self.parser, self.tools, self.chunk = parser, tools, parser.parse_stream_chunk

    def feed(self, delta: str) -> None:
        for call in self.chunk(delta)[1]:
            self.add(call.tool_index, call.name, call.parameters)

    def finish(self) -> None:
        last = getattr(self.parser.detector, "finish", None)
        if last is not None:
            for call in last(self.tools).calls:
                self.add(call.tool_index, call.name, call.parameters)
