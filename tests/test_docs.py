"""What the README and the docstrings show is run, and must print what they show."""

import contextlib
import inspect
import io
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


def test_readme_lists_every_format() -> None:
    """In a process of its own, since other tests register formats."""
    script = "import toolglot; print(*[format.id for format in toolglot.formats()])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    table = README.read_text(encoding="utf-8").partition("## Formats")[2].partition("## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == told.stdout.split()


DOCTESTS = """
import doctest, importlib, pkgutil, sys, toolglot
names = [module.name for module in pkgutil.walk_packages(toolglot.__path__, "toolglot.")]
tried = [doctest.testmod(importlib.import_module(name)) for name in ["toolglot", *names] if "__main__" not in name]
print(sum(result.attempted for result in tried), "examples tried")
sys.exit(sum(result.failed for result in tried) > 0)
"""


def test_docstring_examples_print_what_they_show() -> None:
    """In a process of its own, since the examples register formats."""
    told = subprocess.run([sys.executable, "-c", DOCTESTS], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    assert not told.stdout.startswith("0 ")


def documented() -> list[str]:
    """The public classes and functions."""
    public = {name: getattr(toolglot, name) for name in toolglot.__all__}
    return [name for name, value in public.items() if inspect.isclass(value) or inspect.isfunction(value)]


@pytest.mark.parametrize("name", documented())
def test_public_name_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(toolglot, name))
