"""The parsers that we stand beside: one adapter for each, which calls the peer as its own server would.

The rule: an adapter adds nothing that costs. A peer whose package is not there, or does not import, raises
`ImportError` that says why.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from typing import Any, ClassVar

from . import max_stub
from .adapter import Calls, Joined, Peer, Stream, loads
from .engines import VLLM, SGLang
from .replies import MARKERS, TOOLS


class MLX(Peer):
    """mlx-lm's tool parsers; its server cuts the text between the two markers first. Its engine is not imported."""

    package = "mlx-lm"
    formats: ClassVar[dict[str, str]] = {
        "hermes": "json_tools",
        "mistral_v11": "mistral",
        "pythonic": "pythonic",
        "qwen3_xml": "qwen3_coder",
        "kimi_k2": "kimi_k2",
    }

    def __init__(self) -> None:
        spec = importlib.util.find_spec("mlx_lm")
        if spec is None:
            raise ImportError("No module named 'mlx_lm'")
        if "mlx_lm" not in sys.modules:  # the package itself imports the engine; only its folder is needed
            sys.modules["mlx_lm"] = importlib.util.module_from_spec(spec)
        importlib.import_module("mlx_lm.tool_parsers.json_tools")

    def complete(self, format: str) -> Callable[[str], Any]:
        module = importlib.import_module(f"mlx_lm.tool_parsers.{self.formats[format]}")
        opener, closer, read = module.tool_call_start, module.tool_call_end, module.parse_tool_call
        if format == "pythonic":
            return lambda text: read(text, TOOLS)

        def run(text: str) -> Any:
            start = text.find(opener) + len(opener)
            return read(text[start : text.find(closer, start) if closer else len(text)], TOOLS)

        return run

    def calls(self, native: Any) -> Calls:
        return [(c["name"], c["arguments"]) for c in (native if isinstance(native, list) else [native])]


class Beacon(Peer):
    """llm-beacon, a part in Rust; it finds the format by itself."""

    package = "llm-beacon"
    formats: ClassVar[dict[str, str]] = dict.fromkeys(MARKERS, "")

    def __init__(self) -> None:
        self.read = importlib.import_module("beacon").parse_tool_calls

    def complete(self, format: str) -> Callable[[str], Any]:
        return self.read

    def calls(self, native: Any) -> Calls:
        return [(c["name"], c["arguments"]) for c in native]


class AgentToolParser(Peer):
    """agent-tool-parser, a part in Rust; it finds the format by itself."""

    package = "agent-tool-parser"
    formats: ClassVar[dict[str, str]] = dict.fromkeys(MARKERS, "")

    def __init__(self) -> None:
        self.read = importlib.import_module("agent_tool_parser").try_parse_tool_calls

    def complete(self, format: str) -> Callable[[str], Any]:
        return self.read

    def calls(self, native: Any) -> Calls:
        return [(c.name, c.args) for c in native]


class MAX(Peer):
    """Three of MAX's tool parsers, with its engine stubbed."""

    package = "max"
    formats: ClassVar[dict[str, str]] = {"qwen3_xml": "qwen", "kimi_k2": "kimi", "deepseek_v31": "deepseek"}

    def __init__(self) -> None:
        self.parsers = max_stub.parsers()

    def complete(self, format: str) -> Callable[[str], Any]:
        parser = self.parsers[self.formats[format]]
        return lambda text: parser().parse_complete(text)

    def calls(self, native: Any) -> Calls:
        return [(c.name, loads(c.arguments)) for c in native.tool_calls]

    def stream(self, format: str) -> Stream:
        return MAXStream(self.parsers[self.formats[format]]())


class MAXStream(Joined):
    """Deltas alone are handed over; the schemas once before."""

    def __init__(self, parser: Any) -> None:
        super().__init__()
        schemas = {t["function"]["name"]: t["function"]["parameters"] for t in TOOLS}
        if hasattr(parser, "set_streaming_tool_schemas"):
            parser.set_streaming_tool_schemas(schemas)
        self.delta = parser.parse_delta

    def feed(self, delta: str) -> None:
        for call in self.delta(delta) or ():
            self.add(call.index, call.name, call.arguments)

    def finish(self) -> None:
        """It has no end."""


PEERS: dict[str, type[Peer]] = {
    "vLLM": VLLM,
    "SGLang": SGLang,
    "MAX": MAX,
    "mlx-lm": MLX,
    "llm-beacon": Beacon,
    "agent-tool-parser": AgentToolParser,
}
