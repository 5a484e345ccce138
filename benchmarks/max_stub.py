"""Loads three tool parser modules out of MAX's wheel without its engine, which a parser does not need.

The rule: what a parser module imports is either the wheel's own file or an empty module under its name.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

ROOT = "max.pipelines"
EMPTY = (
    "max",
    "max.pipelines",
    "max.pipelines.architectures",
    "max.pipelines.architectures.kimik2_5",
    "max.pipelines.context",
    "max.pipelines.lib",
    "max.pipelines.lib.pipeline_variants",
    "max.pipelines.modeling",
    "max.pipelines.weights",
)
KIMI = {
    "TOOL_CALLS_SECTION_BEGIN": "<|tool_calls_section_begin|>",
    "TOOL_CALLS_SECTION_END": "<|tool_calls_section_end|>",
    "TOOL_CALL_BEGIN": "<|tool_call_begin|>",
    "TOOL_CALL_ARGUMENT_BEGIN": "<|tool_call_argument_begin|>",
    "TOOL_CALL_END": "<|tool_call_end|>",
}


def parsers() -> dict[str, Any]:
    """The parser classes by family."""
    spec = importlib.util.find_spec("max")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("No module named 'max'")
    folder = Path(next(iter(spec.submodule_search_locations))).parent
    for name in EMPTY:
        _empty(name)
    _load(folder, f"{ROOT}.modeling.types", "modeling/types/tool_parsing.py").PipelineTokenizer = object
    _empty(f"{ROOT}.context.exceptions", InputError=ValueError)
    structured = f"{ROOT}.lib.pipeline_variants.structured_output_backend"
    _empty(structured, build_xgrammar_tool_grammar=None, __getattr__=lambda name: None)
    _empty(f"{ROOT}.weights.hf_utils", HuggingFaceRepo=object)
    _empty("huggingface_hub")
    _empty("huggingface_hub.errors", EntryNotFoundError=OSError)
    _empty(f"{ROOT}.architectures.kimik2_5.tokenizer", **KIMI)
    registry = _load(folder, f"{ROOT}.lib.tool_parsing", "lib/tool_parsing.py")._TOOL_PARSERS
    for family in ("qwen3_5", "kimik2_5", "deepseekV3"):
        _load(folder, f"{ROOT}.architectures.{family}.tool_parser", f"architectures/{family}/tool_parser.py")
    found = {}
    for name, parser in sorted(registry.items()):
        low = name.lower()
        if "deepseek" not in low or any(part in low for part in ("3_1", "3.1", "v31")):
            found.update({family: parser for family in ("qwen", "kimi", "deepseek") if family in low})
    return found


def _empty(name: str, **members: Any) -> None:
    module = types.ModuleType(name)
    module.__path__ = []
    module.__dict__.update(members)
    sys.modules[name] = module


def _load(folder: Path, name: str, path: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, folder / "max" / "pipelines" / path)
    if spec is None or spec.loader is None:
        raise ImportError(f"No module named {name!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
