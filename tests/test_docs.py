"""What the README, the pages and the docstrings show is run, and must print what they show."""

import importlib.util
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

import toolglot
from tests.shared import ROOT

README = ROOT / "README.md"
OWN = ROOT / "docs" / "add-a-format.md"
LOOP = ROOT / "docs" / "loop.md"
FORMATS = ROOT / "docs" / "formats.md"
LANGCHAIN = ROOT / "docs" / "langchain.md"
FACES = ROOT / "docs" / "faces.md"
GRAMMARS = ROOT / "docs" / "grammars.md"
PROMPTING = ROOT / "docs" / "prompting.md"
PAGES = (README, OWN, LOOP, LANGCHAIN, FACES, GRAMMARS, PROMPTING)
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = "$ toolglot "
SCRIPT = Path(sys.executable).parent / "toolglot"


class Block(NamedTuple):
    kind: str
    file: str  # the name of the file that the block shows, if it is one
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in FENCE.findall(page.read_text(encoding="utf-8"))]


def folder(page: Path, path: Path) -> Path:
    """Where a page's examples run: the project for the README, else a folder with the files that the page shows."""
    if page == README:
        return ROOT
    for block in blocks(page):
        if block.file:
            path.joinpath(block.file).write_text(block.text, encoding="utf-8")
    return path


def tell(argv: list[str | Path], where: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program with its standard streams in UTF-8."""
    own = os.environ | {"PYTHONIOENCODING": "utf-8", **variables}
    return subprocess.run(argv, capture_output=True, text=True, encoding="utf-8", cwd=where, env=own, check=False)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_python_blocks_print_what_follows_them(page: Path, tmp_path: Path) -> None:
    """In a process of their own, since the examples register formats."""
    if page == LANGCHAIN and importlib.util.find_spec("langchain_core") is None:
        pytest.skip("the extra langchain is not installed")
    found = [block for block in blocks(page) if not block.file]
    pairs = [(block, after) for block, after in zip(found, [*found[1:], None], strict=True) if block.kind == "python"]
    script = "\nprint('\\f', end='')\n".join(block.text for block, _ in pairs)
    told = tell([sys.executable, "-c", script], folder(page, tmp_path))
    assert told.returncode == 0, told.stderr
    for printed, (_, after) in zip(told.stdout.split("\f"), pairs, strict=True):
        assert printed.strip() == (after.text.strip() if after is not None and after.kind == "text" else "")
    assert any(after is not None and after.kind == "text" for _, after in pairs), "the page shows no output"


def commands() -> list[tuple[Path, str, str]]:
    """The commands that the pages show, each with its output."""
    found: list[tuple[Path, str, str]] = []
    for page in PAGES:
        sessions = "\n".join(block.text for block in blocks(page) if block.kind == "console")
        parts = re.split(rf"^{re.escape(COMMAND)}", sessions, flags=re.MULTILINE)[1:]
        found += [(page, line, output) for line, _, output in (part.partition("\n") for part in parts)]
    return found


@pytest.mark.parametrize(("page", "line", "output"), commands(), ids=[line for _, line, _ in commands()])
def test_command_prints_what_follows_it(page: Path, line: str, output: str, tmp_path: Path) -> None:
    told = tell([SCRIPT, *shlex.split(line)], folder(page, tmp_path))
    assert comparable(line, told.stdout) == comparable(line, output), told.stderr


def comparable(line: str, output: str) -> str:
    """The output without the counts of `check`, which grow with its probes."""
    return re.sub(r" +[\d,]+ ", " N ", output.strip()) if line.startswith("check") else output.strip()


def test_page_of_formats_is_what_the_declarations_say() -> None:
    """`make docs` writes the page anew."""
    told = tell([sys.executable, "-m", "toolglot", "formats", "--markdown"], ROOT)
    assert told.stdout == FORMATS.read_text(encoding="utf-8"), "run `make docs`"


def test_readme_names_registered_formats_only() -> None:
    table = README.read_text(encoding="utf-8").partition("## Formats")[2].partition("## ")[0]
    named = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))
    known = re.findall(r"^## `(.+)`$", FORMATS.read_text(encoding="utf-8"), re.MULTILINE)
    assert named and set(named) <= set(known)


def test_links_between_the_pages_lead_somewhere() -> None:
    for page in (*PAGES, FORMATS):
        for target in re.findall(r"\]\(([\w./-]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_own_formats_of_the_page_pass_the_check(tmp_path: Path) -> None:
    names = [b.file for b in blocks(OWN) if b.kind == "toml" and b.file not in ("wrong.toml", "pyproject.toml")]
    assert names
    for name in names:
        told = tell([SCRIPT, "check", name], folder(OWN, tmp_path))
        assert told.returncode == 0, told.stdout + told.stderr


def test_templates_of_the_page_write_what_they_read(tmp_path: Path) -> None:
    """The rows of the table of shapes."""
    rows = [
        re.findall(r"`((?:call|param|section|separator|param_separator) = .*?)`", line)
        for line in OWN.read_text(encoding="utf-8").splitlines()
        if line[:1] == "|"
    ]
    shapes = [fields for fields in rows if fields]
    assert len(shapes) > 5
    for before, fields in zip([[], *shapes], shapes, strict=False):
        if fields[0].startswith("param"):  # "the same with"
            fields = [before[0], *fields, 'param_separator = ", "']
        file = tmp_path / "shape.toml"
        tier = "" if re.search(r'call = "[^{]|section', "".join(fields)) else 'tier = "call"'
        file.write_text("\n".join(['id = "shape"', *fields, tier]), encoding="utf-8")
        (shape,) = toolglot.load_formats(file)
        text = toolglot.render([{"name": "row", "arguments": {"hours": 1, "to": "Oban"}}], format=shape)
        assert toolglot.parse(text, format=shape).calls[0].arguments == {"hours": 1, "to": "Oban"}


def test_example_of_the_loop_is_shown_with_its_output() -> None:
    (shown, after) = blocks(LOOP)[:2]
    script = ROOT / "examples" / "loop.py"
    assert shown.text == script.read_text(encoding="utf-8")
    told = tell([sys.executable, script], ROOT)
    assert told.returncode == 0, told.stderr
    assert told.stdout == after.text


def test_plugin_package_of_the_page_gives_its_format(tmp_path: Path) -> None:
    where = folder(OWN, tmp_path)
    project = tomllib.loads((where / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = where / "harbour_formats-1.0.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0\n")
    ((group, points),) = project["entry-points"].items()
    info.joinpath("entry_points.txt").write_text(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()))
    own = os.pathsep.join(filter(None, [str(where), os.environ.get("PYTHONPATH")]))
    told = tell([SCRIPT, "formats", "harbour", "--json"], ROOT, PYTHONPATH=own)
    assert json.loads(told.stdout)[0]["id"] == "harbour", told.stderr


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
