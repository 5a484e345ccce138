"""MAX's own tool parsers and the router that drives them, taken out of its wheel without the engine.

What a file takes from the engine is an empty module under its name, or a stand-in. The rule: the parsers and the
router's code are the wheel's own; what stands in for the rest decides nothing about calls and text.
"""

from __future__ import annotations
import __future__

import ast
import asyncio
import builtins
import dataclasses
import importlib.util
import json
import logging
import sys
import types
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from .chat_templates import package_folder

Json = dict[str, Any]

WHEEL = package_folder("max", "pipelines")
ABSENT = "the wheel of max is not installed: pip install --no-deps --no-compile --group test-max"

EMPTY = (
    "max",
    "max.pipelines",
    "max.pipelines.architectures",
    "max.pipelines.context",
    "max.pipelines.lib",
    "max.pipelines.lib.pipeline_variants",
    "max.pipelines.modeling",
    "max.pipelines.weights",
    "max.serve",
    "max.serve.parser",
    "huggingface_hub",
)
MEMBERS: dict[str, Json] = {
    "max.pipelines.context.exceptions": {"InputError": ValueError},
    "max.pipelines.lib.pipeline_variants.structured_output_backend": {"build_xgrammar_tool_grammar": None},
    "max.pipelines.weights.hf_utils": {"HuggingFaceRepo": object},
    "huggingface_hub.errors": {"EntryNotFoundError": OSError},
}
TOKENIZERS = {
    "kimik2_5": ("TOOL_CALLS_SECTION_BEGIN", "TOOL_CALLS_SECTION_END", "TOOL_CALL_BEGIN", "TOOL_CALL_ARGUMENT_BEGIN",
                 "TOOL_CALL_END"),
    "gemma4": ("SpecialToken",),
    "inkling": ("TOOL_CALL_JSON_MARKER",),
}  # fmt: skip
"""What the parsers take from tokenizer files, which need the engine."""
FOLDERS = ("kimik2_5", "qwen3_5", "minimax_m2", "deepseekV3", "deepseekV4", "glm5_1", "gemma4", "laguna", "inkling",
           "muse_glimmer")  # fmt: skip


@contextmanager
def wheel() -> Iterator[Any]:
    """The module of the registry, with every parser registered; what is imported inside finds the wheel's parts."""
    assert WHEEL is not None, ABSENT
    before = dict(sys.modules)
    try:
        yield _load_all(WHEEL)
    finally:
        for name in set(sys.modules) - set(before):
            if name.split(".")[0] in ("max", "huggingface_hub"):
                del sys.modules[name]
        sys.modules.update(before)


def _load_all(folder: Path) -> Any:
    for name in (*EMPTY, *(f"max.pipelines.architectures.{family}" for family in FOLDERS)):
        _empty(name)
    for name, members in MEMBERS.items():
        _empty(name, **members)
    _load("max.pipelines.modeling.types", folder / "modeling/types/tool_parsing.py").PipelineTokenizer = dict
    registry = _load("max.pipelines.lib.tool_parsing", folder / "lib/tool_parsing.py")
    for family in FOLDERS:
        own = f"max.pipelines.architectures.{family}"
        if family in TOKENIZERS:
            source = folder / "architectures" / family / "tokenizer.py"
            _empty(f"{own}.tokenizer", **lifted(source, TOKENIZERS[family]))
        encoding = folder / "architectures" / family / "encoding_dsv4.py"
        if encoding.is_file():
            _load(f"{own}.encoding_dsv4", encoding)
        _load(f"{own}.tool_parser", folder / "architectures" / family / "tool_parser.py")
    for name in ("json_utils", "llama_tool_parser"):
        if name != "json_utils" or importlib.util.find_spec("regex") is not None:
            _load(f"max.serve.parser.{name}", folder.parent / "serve/parser" / f"{name}.py")
    return registry


def _empty(name: str, **members: Any) -> None:
    module = types.ModuleType(name)
    module.__path__ = []
    module.__dict__.update(members)
    sys.modules[name] = module


def _load(name: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def lifted(path: Path, names: Iterable[str], **given: Any) -> Json:
    """Some definitions of a file, without the rest of it; names that they use and nobody gives become mocks."""
    wanted = set(names)
    body = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if _defines(node) & wanted]
    space: Json = {"__name__": __name__, "Enum": __import__("enum").Enum, **given}
    for node in ast.walk(ast.Module(body, [])):
        if isinstance(node, ast.Name) and node.id not in wanted and not hasattr(builtins, node.id):
            space.setdefault(node.id, MagicMock(name=node.id))
    exec(compile(ast.Module(body, []), str(path), "exec", __future__.annotations.compiler_flag), space)
    return {name: space[name] for name in wanted}


def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        overloads = [d for d in node.decorator_list if isinstance(d, ast.Name) and d.id == "overload"]
        return set() if overloads else {node.name}
    return set()


# The router.


class Record(types.SimpleNamespace):
    """Stands in for the router's data classes: it holds what it is given."""

    def model_dump_json(self, **_: Any) -> Record:
        return self


class Generator:
    """Stands in for the base class of the router's generator."""

    def __class_getitem__(cls, _: Any) -> type[Generator]:
        return cls

    def __init__(self, pipeline: Any) -> None:
        self.pipeline = pipeline
        self.logger = logging.getLogger("max_parts")


RECORDS = (
    "ChatCompletionLogprobs",
    "ChatCompletionMessageToolCall",
    "ChatCompletionMessageToolCallFunction",
    "ChatCompletionResponseChoice",
    "ChatCompletionResponseMessage",
    "ChatCompletionStreamResponseChoice",
    "ChatCompletionStreamResponseDelta",
    "ChoiceDeltaToolCall",
    "ChoiceDeltaToolCallFunction",
    "CompletionTokensDetails",
    "CompletionUsage",
    "CreateChatCompletionResponse",
    "CreateChatCompletionStreamResponse",
    "Error",
    "ErrorResponse",
    "PromptTokensDetails",
)
ROUTER = (
    "OpenAIChatResponseGenerator",
    "_MergedToolCall",
    "_content_before_tool_call_marker",
    "_merge_tool_call_deltas",
)


@dataclasses.dataclass
class Reply:
    """What a client of the server gets: the whole of the content, and of the calls by index."""

    content: str = ""
    calls: list[Json] = dataclasses.field(default_factory=list)
    finish_reason: str | None = None


class Router:
    """The router's own code for chat completions, around any tool parser."""

    def __init__(self, registry: Any) -> None:
        assert WHEEL is not None
        given: Json = {
            **dict.fromkeys(RECORDS, Record),
            "OpenAIResponseGenerator": Generator,
            "StructuralTagToolParser": registry.StructuralTagToolParser,
            "maybe_name_from_tool": registry.maybe_name_from_tool,
            "_process_chat_log_probabilities": lambda outputs: Record(content=[]),
            "get_finish_reason_from_status": _finish_reason,
            "InputError": ZeroDivisionError,
            "JSONDecodeError": json.JSONDecodeError,
            "dataclass": dataclasses.dataclass,
            "field": dataclasses.field,
            "json": json,
            "logging": logging,
        }
        parts = lifted(WHEEL.parent / "serve/router/openai_routes.py", ROUTER, **given)
        self.generator = parts["OpenAIChatResponseGenerator"]

    def stream(self, parser: Any, pieces: Iterable[str], tools: Iterable[Json] = ()) -> Reply:
        """What a client makes of the stream: contents joined, calls merged by index."""
        generator = self.generator(None, parser=parser, parse_tool_calls=True, tools=list(tools))

        async def run() -> list[Any]:
            chunks = generator._stream(_request(), _chunks(list(pieces)), MagicMock())
            return [chunk async for chunk in chunks]

        *sent, done = asyncio.run(run())
        assert done == "[DONE]", done
        reply = Reply()
        for choice in (choice for response in sent for choice in response.choices):
            reply.content += choice.delta.content or ""
            reply.finish_reason = choice.finish_reason or reply.finish_reason
            for part in getattr(choice.delta, "tool_calls", None) or ():
                if part.id is not None:
                    assert part.index == len(reply.calls), f"call {part.index} begins behind {len(reply.calls)}"
                    reply.calls.append({"id": part.id, "name": part.function.name, "arguments": ""})
                reply.calls[part.index]["arguments"] += part.function.arguments or ""
        return reply

    def complete(self, parser: Any, text: str, tools: Iterable[Json] = ()) -> Reply:
        """What a client gets of a whole reply."""
        pipeline = MagicMock()

        async def all_tokens(_: Any) -> list[Any]:
            return [chunk async for chunk in _chunks([text])]

        pipeline.all_tokens = all_tokens
        generator = self.generator(pipeline, parser=parser, parse_tool_calls=True, tools=list(tools))
        (choice,) = asyncio.run(generator.complete([_request()])).choices
        calls = [
            {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
            for call in choice.message.tool_calls or ()
        ]
        return Reply(choice.message.content, calls, choice.finish_reason)


def _finish_reason(status: Any, allow_none: bool = True, *, has_tool_calls: bool = False) -> str | None:
    if not status.is_done:
        assert allow_none
        return None
    return "tool_calls" if has_tool_calls else "stop"


def _request() -> Any:
    return types.SimpleNamespace(request_id="r", timestamp_ns=0, model_name="m", request_path="/", messages=[])


async def _chunks(pieces: list[str]) -> AsyncIterator[Any]:
    """Chunks of decoded tokens; the last one carries no text, as after an end token."""
    for at, piece in enumerate([*pieces, None]):
        yield types.SimpleNamespace(
            batch_id=None,
            cached_token_count=None,
            decoded_reasoning_tokens=None,
            decoded_tokens=piece,
            prompt_token_count=None,
            prompt_token_ids=None,
            reasoning_token_count=0,
            status=types.SimpleNamespace(is_done=at == len(pieces)),
            stop_sequence=None,
            token_count=1,
            token_ids=None,
        )
