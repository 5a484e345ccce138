"""Formats from installed packages, each tried in a process of its own: a folder on the path is a package's home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

GOOD = """
from toolglot import Format
ONE = Format("plug_one", call="<<one {name}>>{args:json}<</one>>", about={"aliases": "plug-uno"})
def several():
    return (Format("plug_two", call="<<two {name}>>{args:json}<</two>>"),)
"""
IDS = "import toolglot; print([f.id for f in toolglot.formats() if f.id.startswith('plug')])"


def install(home: Path, name: str, source: str, **points: str) -> Path:
    """A package as an installer leaves it: a module, and what says its entry points."""
    home.mkdir(exist_ok=True)
    home.joinpath(f"{name}.py").write_text(source, encoding="utf-8")
    info = home / f"{name}-1.0.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"{key} = {value}" for key, value in points.items()]
    info.joinpath("entry_points.txt").write_text("\n".join(["[toolglot.formats]", *lines]), encoding="utf-8")
    return home


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(home), os.environ.get("PYTHONPATH")]))
    own = os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, env=own, check=False)


def test_formats_of_a_package_are_read_by_name_and_by_auto(tmp_path: Path) -> None:
    home = install(tmp_path / "home", "plug_good", GOOD, one="plug_good:ONE", two="plug_good:several")
    assert run(home, "-c", IDS).stdout.strip() == "['plug_one', 'plug_two']"
    script = """
import toolglot
print(toolglot.get_format("Plug Uno").id, toolglot.parse("<<two f>>{}<</two>>").format)
print(toolglot.render([{"name": "f"}], format="plug_one"))
"""
    told = run(home, "-c", script)
    assert told.stdout.split() == ["plug_one", "plug_two", "<<one", "f>>{}<</one>>"] and not told.stderr


def test_plugins_are_not_loaded_before_a_format_of_theirs_may_be_asked_for(tmp_path: Path) -> None:
    home = install(tmp_path / "home", "plug_loud", f"print('loaded')\n{GOOD}", one="plug_loud:ONE")
    own = "import toolglot; toolglot.parse('Hi', format='hermes'); toolglot.get_format('qwen3-coder')"
    assert run(home, "-c", own).stdout == ""
    assert run(home, "-c", f"{own}; toolglot.formats(); toolglot.formats()").stdout == "loaded\n"
    assert run(home, "-c", f"{own}; toolglot.get_format('plug_one')").stdout == "loaded\n"


def test_a_broken_plugin_gives_a_warning_and_the_others_load(tmp_path: Path) -> None:
    home = install(tmp_path / "home", "plug_good", GOOD, one="plug_good:ONE")
    install(home, "plug_bad", "raise RuntimeError('no luck')", a_bad="plug_bad:X")
    install(home, "plug_exit", "raise SystemExit(3)", exit="plug_exit:X")
    install(home, "plug_absent", "", absent="plug_absent:X", gone="plug_no_such_module:X")
    install(home, "plug_wrong", "X = 3\nY = ['x']\nZ = print\n", x="plug_wrong:X", y="plug_wrong:Y", z="plug_wrong:Z")
    install(home, "plug_mistake", "from toolglot import Format\nX = Format('x', call='{nmae}')", typo="plug_mistake:X")
    told = run(home, "-c", IDS)
    assert told.returncode == 0 and told.stdout.strip() == "['plug_one']", told.stderr
    for said in (
        "the plug-in 'a_bad' (plug_bad:X) of plug_bad is left out: RuntimeError: no luck",
        "'exit' (plug_exit:X) of plug_exit is left out: SystemExit: 3",
        "'absent' (plug_absent:X) of plug_absent is left out: AttributeError: ",
        "'gone' (plug_no_such_module:X) of plug_absent is left out: ModuleNotFoundError: ",
        "'x' (plug_wrong:X) of plug_wrong is left out: TypeError: expected a Format, Messages or a list of",
        "'y' (plug_wrong:Y) of plug_wrong is left out: TypeError: expected a Format or Messages in the list, got str",
        "'z' (plug_wrong:Z) of plug_wrong is left out: TypeError: expected a Format, Messages or a list of",
        "'typo' (plug_mistake:X) of plug_mistake is left out: ToolglotError: format 'x', call, column 1: ",
    ):
        assert f"RuntimeWarning: the plug-in {said.removeprefix('the plug-in ')}" in told.stderr


def test_a_plugin_takes_no_taken_name(tmp_path: Path) -> None:
    source = """
from toolglot import Format
X = [Format("hermes", call="<x>{name}|{args:json}</x>"), Format("plug_x", call="<x>{name}|{args:json}</x>")]
Y = Format("plug_y", call="<y>{name}|{args:json}</y>", about={"aliases": "qwen3"})
"""
    home = install(tmp_path / "home", "plug_thief", source, x="plug_thief:X", y="plug_thief:Y")
    told = run(home, "-c", f"{IDS}; print(toolglot.get_format('hermes').call)")
    assert told.stdout.splitlines() == ["['plug_x']", "{call:json}"]
    assert "'x' (plug_thief:X) of plug_thief: format 'hermes' is registered already" in told.stderr
    assert (
        "'y' (plug_thief:Y) of plug_thief: format 'plug_y': the name 'qwen3' belongs to format 'hermes'" in told.stderr
    )


def test_a_plugin_may_use_the_library_while_it_loads(tmp_path: Path) -> None:
    source = """
import toolglot
X = toolglot.Format("plug_x", call="<x>{name}|{args:json}</x>")
toolglot.register(X)
assert toolglot.parse('<x>f|{}</x>').format == "plug_x"
"""
    home = install(tmp_path / "home", "plug_busy", source, x="plug_busy:X")
    told = run(home, "-c", IDS)
    assert told.stdout.strip() == "['plug_x']" and not told.stderr


def test_the_command_says_a_plugins_warning_in_its_own_words(tmp_path: Path) -> None:
    home = install(tmp_path / "home", "plug_bad", "raise RuntimeError('no luck')", bad="plug_bad:X")
    for options in ((), ("-W", "error")):
        told = run(home, *options, "-m", "toolglot", "formats", "hermes", "--toml")
        assert told.returncode == 0 and told.stdout.startswith('id = "hermes"')
    told = run(home, "-W", "error", "-m", "toolglot", "formats", "--json")
    assert told.returncode == 0
    assert (
        told.stderr
        == "toolglot: warning: the plug-in 'bad' (plug_bad:X) of plug_bad is left out: RuntimeError: no luck\n"
    )
