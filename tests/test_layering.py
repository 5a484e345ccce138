"""Who may import whom: the core the standard library and the layers above, the rest only the public names."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import toolglot

PACKAGE = Path(toolglot.__file__).parent

LAYERS = (
    "_errors",
    "_events",
    "_source",
    "_result",
    "_tree",
    "_values",
    "_schema",
    "_elements",
    "_tools",
    "_calls",
    "_format",
    "_shapes",
    "_validate",
    "_pattern",
    "_response_export",
    "_response_template",
    "_names",
    "_plugins",
    "_format_file",
    "_match",
    "_drift",
    "_envelope",
    "_derived",
    "_places",
    "_value_end",
    "_call",
    "_machine",
    "_messages",
    "_loose",
    "_hot",
    "_scan",
    "_shortcut_values",
    "_shortcut",
    "_shortcut_messages",
    "formats",
    "_registry",
    "_exact",
    "_fork",
    "_parser",
    "_render",
    "_convert",
    "_detect",
)
"""The core. A module imports only those that stand before it; what lies in one folder counts as one."""

EXTRAS = {
    "toolglot._detect.sandbox": {"jinja2"},
    "toolglot._validate.by_rust": {"jsonschema_rs"},
    "toolglot._validate.by_python": {"jsonschema", "jsonschema_specifications", "referencing"},
}
"""What a module of the core may import beside the standard library; it is itself imported inside a function only."""

LATE = {"_format": {"_response_export", "_response_template"}}
"""What a method imports when it is called, though it stands below: it only passes on to it."""

OUTER = (
    "__main__", "_cli", "cli", "prompting", "loop", "grammar", "compat", "_langchain", "langchain", "adapters",
    "server",
)  # fmt: skip
"""Built on the public names alone. A name stands also for the modules that begin with it and `_`."""

DECLARES = {"Format", "Messages", "Block", "register"}
DECLARATION = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr)
LOGIC = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.If,
    ast.IfExp,
    ast.For,
    ast.While,
    ast.Try,
    ast.With,
    ast.Match,
    ast.BoolOp,
    ast.Compare,
    ast.comprehension,
    ast.NamedExpr,
)


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def group(module: str) -> str:
    """The layer or the outer part that a module of the package belongs to."""
    first = [*module.split("."), ""][1]
    return next((name for name in OUTER if first == name or first.startswith(f"{name}_")), first)


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """All imports of a file, those inside functions too, as (module, name); the name is empty for `import module`."""
    package = dotted(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                public = module == "toolglot" and alias.name in toolglot.__all__
                yield (inner, "") if is_module(inner) and not public else (module, alias.name)


def is_module(name: str) -> bool:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return name.startswith("toolglot.") and (path.is_dir() or path.with_suffix(".py").is_file())


def ids(paths: list[Path]) -> list[str]:
    return [dotted(path) for path in paths]


CORE = [path for path in modules() if group(dotted(path)) in LAYERS]
REST = [path for path in modules() if group(dotted(path)) in OUTER]


def test_every_module_has_its_place() -> None:
    assert {group(name) for name in ids(modules())} <= {"", *LAYERS, *OUTER}


@pytest.mark.parametrize("path", CORE, ids=ids(CORE))
def test_core_imports_the_standard_library_and_the_layers_above(path: Path) -> None:
    own = group(dotted(path))
    above = set(LAYERS[: LAYERS.index(own) + 1]) | LATE.get(own, set())
    for module, _ in imported(path):
        if module.split(".")[0] == "toolglot":
            assert group(module) in above, f"{own} imports {module}"
        else:
            allowed = sys.stdlib_module_names | EXTRAS.get(dotted(path), set())
            assert module.split(".")[0] in allowed, f"{own} imports {module}"


@pytest.mark.parametrize("path", REST, ids=ids(REST))
def test_the_rest_imports_public_names_only(path: Path) -> None:
    for module, name in imported(path):
        if module == "toolglot":
            assert name == "" or name in toolglot.__all__, f"{name} is not public"
        elif module.split(".")[0] == "toolglot":
            assert group(module) in OUTER, f"{module} is not public"


FORMATS = sorted(PACKAGE.joinpath("formats").glob("*.py"))


@pytest.mark.parametrize("path", FORMATS, ids=ids(FORMATS))
def test_format_file_only_declares(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    for statement in tree.body:
        assert isinstance(statement, DECLARATION), f"line {statement.lineno}: {type(statement).__name__}"
    for node in ast.walk(tree):
        assert not isinstance(node, LOGIC), f"{type(node).__name__} in {path.name}"
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name) and node.func.id in DECLARES, f"line {node.lineno}"


def test_format_has_at_most_twelve_fields() -> None:
    assert len(inspect.signature(toolglot.Format).parameters) <= 12


def test_import_needs_the_standard_library_only() -> None:
    script = "import sys; old = set(sys.modules); import toolglot, toolglot.cli; print(*set(sys.modules) - old)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    roots = {name.split(".")[0] for name in told.stdout.split()}
    assert roots - {"toolglot"} <= set(sys.stdlib_module_names)
    assert not EXTRAS.keys() & set(told.stdout.split())


def test_public_names_are_sorted_and_there() -> None:
    assert list(toolglot.__all__) == sorted(toolglot.__all__)
    assert all(hasattr(toolglot, name) for name in toolglot.__all__)


def test_no_group_is_repeated_possessively() -> None:
    # Before Python 3.11.5 such a repeat keeps what its last, failed round had taken. One set of characters is safe.
    found = [
        path.name for path in PACKAGE.rglob("*.py") if re.search(r"\)(?:[*+?]|\{[0-9,]+\})\+", path.read_text("utf-8"))
    ]
    assert not found
