"""What the README and the docstrings show is run, and must print what they show."""

import contextlib
import doctest
import importlib
import inspect
import io
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import toolglot
from tests.shared import ROOT

README = ROOT / "README.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = FENCE.findall(README.read_text(encoding="utf-8"))
COMMAND = "$ toolglot "


def test_readme_python_blocks_print_what_follows_them() -> None:
    names: dict[str, Any] = {}
    shown = 0
    for (kind, code), (next_kind, output) in zip(BLOCKS, [*BLOCKS[1:], ("", "")], strict=True):
        if kind != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(README), "exec"), names)
        expected = output if next_kind == "text" else ""
        assert printed.getvalue().strip() == expected.strip()
        shown += next_kind == "text"
    assert shown, "the README shows no output"


def commands() -> list[tuple[str, str]]:
    """The commands that the README shows, each with its output."""
    sessions = "\n".join(text for kind, text in BLOCKS if kind == "console")
    parts = re.split(rf"^{re.escape(COMMAND)}", sessions, flags=re.MULTILINE)[1:]
    return [(line, output) for line, _, output in (part.partition("\n") for part in parts)]


@pytest.mark.parametrize(("line", "output"), commands(), ids=[line for line, _ in commands()])
def test_readme_command_prints_what_follows_it(line: str, output: str) -> None:
    script = Path(sys.executable).parent / "toolglot"
    told = subprocess.run([script, *shlex.split(line)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert told.stdout.strip() == output.strip(), told.stderr


def modules() -> list[str]:
    found = pkgutil.walk_packages(toolglot.__path__, "toolglot.")
    return ["toolglot", *(module.name for module in found if not module.name.endswith("__main__"))]


@pytest.mark.parametrize("name", modules())
def test_docstring_examples_print_what_they_show(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def documented() -> list[str]:
    """The public classes and functions."""
    public = {name: getattr(toolglot, name) for name in toolglot.__all__}
    return [name for name, value in public.items() if inspect.isclass(value) or inspect.isfunction(value)]


@pytest.mark.parametrize("name", documented())
def test_public_name_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(toolglot, name))
