"""The `response_template`s that the wheels of `transformers` and `trl` hold, and the parser of `transformers`.

Neither package is imported, since their dependencies are heavy: the templates are evaluated from the assignments in
their files, and the parser's own three files, which need `regex` alone, are loaded by their paths.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import logging
import sys
import types
from pathlib import Path
from typing import Any

from .chat_templates import package_folder

TRANSFORMERS = package_folder("transformers", "utils", "chat_parsing")
TRL = package_folder("trl")
ABSENT = "the wheels of transformers, regex and trl are not installed: pip install --no-deps --group test-hf"


def parser() -> Any:
    """The module that holds `parse_response` of transformers, or None where it or `regex` is not installed."""
    if TRANSFORMERS is None or importlib.util.find_spec("regex") is None:
        return None
    name = "transformers_parts.utils.chat_parsing"
    if name not in sys.modules:
        for package in ("transformers_parts", "transformers_parts.utils"):
            module = sys.modules[package] = types.ModuleType(package)
            module.__path__ = []
        # What the three files take from the rest of the package.
        utils = sys.modules["transformers_parts.utils"]
        utils.logging = types.SimpleNamespace(get_logger=logging.getLogger)  # type: ignore[attr-defined]
        tools = sys.modules["transformers_parts.utils.chat_template_utils"] = types.ModuleType("chat_template_utils")
        tools.get_json_schema = None  # type: ignore[attr-defined]
        spec = importlib.util.spec_from_file_location(
            name, TRANSFORMERS / "__init__.py", submodule_search_locations=[str(TRANSFORMERS)]
        )
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


def shipped(*, typed: bool = True) -> dict[str, dict[str, Any]]:
    """Every shipped template by a name of its own; `typed=False` is for calls that no tool's schema types.

    trl has two sorts, for with and without `tools=` of `parse_response`.
    """
    found: dict[str, dict[str, Any]] = {}
    if TRL is not None:
        names = {"_SUPPORTS_PARSE_RESPONSE_TOOLS": typed}
        for name, value in _assigned(TRL / "chat_template_utils.py", names).items():
            if isinstance(value, dict) and "fields" in value:
                found[f"trl {name}"] = value
    if TRANSFORMERS is not None:
        serving = TRANSFORMERS.parent.parent / "cli" / "serving" / "utils.py"
        fallbacks = _assigned(serving, {}).get("_RESPONSE_TEMPLATE_FALLBACKS", {})
        for models, value in fallbacks.items():
            found[f"transformers {models[0]}"] = value
    return found


def _assigned(path: Path, names: dict[str, Any]) -> dict[str, Any]:
    """The module's assignments that need nothing but each other."""
    given = dict(names)
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign | ast.For):
            if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") in given:
                continue
            code = compile(ast.Module([statement], []), str(path), "exec")
            try:
                exec(code, {"range": range, "__builtins__": {}, **names}, scope := dict(names))
            except (NameError, TypeError, AttributeError):
                continue
            names.update(scope)
    return names
