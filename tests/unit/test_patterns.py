"""No regular expression of the package takes more than linear time: each is looked at, and attacked."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from tests.shared import ROOT
from tests.unit.patterns import attacks, faults, tree, unbounded

PASSED_ON = ("toolglot._pattern", "toolglot._response_template")
"""Modules that compile what a template of another library says, to see that it can be: it is not run here."""

AT_ONE_PLACE = {
    # Matched where the cursor stands, once, and whole: no text is tried again from the next place on.
    "toolglot._values._literal": (r"-?(?:0|[1-9]", r"(?P<sign>"),
    "toolglot._values._exact": (r"-?(?:0|[1-9]", r"-(?![0-9])|"),
    "toolglot._schema": (r"(-?)(0|[1-9]", r'"[^"\\]*'),
    "toolglot._derived": (r"(?:functions\.)?(?P<name>.+?)", r"(?P<name>.+?)"),
    "toolglot._scan": (r"[ \t]*(?P<run>",),
    "toolglot._messages": (r"\s*([\w-]+)",),
    "toolglot._exact": (
        r"([A-Za-z_][A-Za-z0-9_]*+)[ ",
        r"[ \t]*+[,;]?",
        r"(?<![A-Za-z0-9_.])",  # searched for, but from no place inside of a name, which the automaton does not know
    ),
    # At a line's start only, which the automaton does not know.
    "toolglot._shortcut": (r"[{\[(`]|~~~|^[ \t]*",),
    # Errors of this package and of the standard library's TOML reader.
    "toolglot._format_file": ("format '.*?'", r"(.*?) \(at "),
}
"""The beginnings of patterns that would be slow to search for, but are not searched for in a reply."""

SHORT = {
    "toolglot._detect.names": "a model's name, of which 256 code points are looked at",
    "toolglot._format": "the markers of a declaration",
    "toolglot._pattern": "a template of a tokenizer",
    "toolglot._detect.sandbox": "the pattern of a date, whose length is checked first",
    "toolglot._response_template": "a template of a tokenizer",
    "toolglot.grammar._params": "the markers of a declaration",
}
"""Modules whose patterns see short texts alone, none of them a reply's."""

HANGS = 120  # seconds: an attack that takes so long has found something; nothing is measured


@cache
def patterns() -> list[tuple[str, int, str]]:
    """Every pattern that the package compiles, with its flags and the module that did."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.unit.test_patterns"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return [(pattern, flags, module) for pattern, flags, module in json.loads(told.stdout)]


def collect() -> list[tuple[str, int, str]]:
    """Note what is compiled while all modules are imported, and all formats compiled, detected, read and written."""
    found: dict[tuple[str, int, str], None] = {}
    compiler: Any = re._compiler  # type: ignore[attr-defined]
    compile_ = compiler.compile

    def noted(pattern: Any, flags: Any = 0) -> Any:
        frame = sys._getframe(1)
        while frame.f_globals["__name__"].partition(".")[0] in ("re", "functools") and frame.f_back is not None:
            frame = frame.f_back
        module = frame.f_globals["__name__"]
        made = compile_(pattern, flags)
        if module.partition(".")[0] == "toolglot":
            found[made.pattern, made.flags, module] = None
        return made

    compiler.compile = noted
    import toolglot

    run_all(toolglot)
    compiler.compile = compile_
    own = [vars(module) for name, module in sys.modules.items() if name.partition(".")[0] == "toolglot"]
    constants = {(v.pattern, v.flags) for names in own for v in names.values() if isinstance(v, re.Pattern)}
    found.update(dict.fromkeys((p, re.compile(p).flags, m) for p, _, m in written() if m not in PASSED_ON))
    return [key for key in found if key[2] not in PASSED_ON or key[:2] in constants]


def run_all(toolglot: Any) -> None:
    """Do what makes the package compile patterns."""
    import importlib
    import io
    import pkgutil
    from contextlib import redirect_stdout, suppress

    for module in pkgutil.walk_packages(toolglot.__path__, "toolglot."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError as error:  # an extra that is not installed; what it compiles stands in `written`
                if (error.name or "").startswith("toolglot"):
                    raise
    from tests.properties.strategies import INVENTED
    from toolglot._elements import decode_elements
    from toolglot._schema import ANY
    from toolglot.cli import main

    with redirect_stdout(io.StringIO()):
        for way in ("--markdown", "--toml"):
            main(["formats", way])

    tools = [{"name": "f", "input_schema": {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}}]
    for format in (*toolglot.formats(), *INVENTED):
        call = toolglot.render([{"name": "f", "arguments": {"a": "x", "b": 1}}], format=format)
        for text in (call, call[:-3], call.replace("x", "<y"), f"<think>x</think>`{call}` ```\n{call}\n```"):
            for read in (format, "auto"):
                toolglot.parse(text, tools, format=read)
                parser = toolglot.Parser(tools, format=read, prefix="<think>")
                for char in text:
                    parser.feed(char)
                parser.finish()
        toolglot.detect(text=call)
        toolglot.detect(model=format.id)
        decode_elements(ANY, "!<a>1!</a>", "!")
        with suppress(toolglot.ToolglotError):  # what a template cannot say
            toolglot.Format.from_response_template(format.to_response_template(), id="again")


def written() -> list[tuple[str, int, str]]:
    """The patterns that stand in the source where a function of `re` is called, whether that is run here or not."""
    found = []
    for path in sorted((ROOT / "src" / "toolglot").rglob("*.py")):
        module = "toolglot." + ".".join(path.relative_to(ROOT / "src" / "toolglot").with_suffix("").parts)
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("re.") and call.args:
                first = call.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.append((first.value, 0, module))
    return found


def test_all_patterns_are_seen() -> None:
    seen = {module for _, _, module in patterns()}
    assert {"toolglot._scan", "toolglot._value_end", "toolglot._drift", "toolglot._detect.names"} <= seen
    texts = {pattern for pattern, _, _ in patterns()}
    assert {pattern for pattern, _, _ in written()} <= texts and len(texts) > 400


def places(searched: bool) -> list[str]:
    """What is wrong with patterns that see replies."""
    return [
        f"{module}: {pattern!r}: {fault}"
        for pattern, flags, module in patterns()
        if module not in SHORT and not (searched and pattern.startswith(AT_ONE_PLACE.get(module, "\0")))
        for fault in faults(pattern, flags, searched=searched)
    ]


def test_no_pattern_reads_a_text_in_two_ways() -> None:
    assert places(searched=False) == []


def test_no_pattern_that_is_searched_for_is_tried_again_over_the_same_text() -> None:
    assert places(searched=True) == []


def test_the_exceptions_are_needed() -> None:
    for module, beginnings in AT_ONE_PLACE.items():
        for beginning in beginnings:
            found = [(p, f) for p, f, m in patterns() if m == module and p.startswith(beginning)]
            assert any(faults(p, f, searched=True) for p, f in found), (module, beginning)
    assert {module for _, _, module in patterns()} >= set(SHORT)


SLOW = {
    r"(?:a*)*b": "exponential",
    r"(?:a+)+b": "exponential",
    r"(?:a|aa)*b": "exponential",
    r"(?:<[^<>]*>|\S)+x": "exponential",
    r"(?:a?){0,9}(?:a{0,9})*b": "exponential",
    r"(?:ab?|b?a)*c": "exponential",
    r"a*a*b": "polynomial",
    r"\s*x?\s*y": "polynomial",
    r"~{3,}[^`]*\Z": "polynomial",
    r'"[^"]*[^,]*"': "polynomial",
}
FAST = (
    r"(?:[^<]++|<(?=[^/<]))*",
    r"(?:ab)*c",
    r"a*b*c",
    r'"[^"\\]*(?:\\.[^"\\]*)*"',
    r"a{0,64}a{0,64}b",
    r"(?:a++b)*c",
    r"a*+a",
)


@pytest.mark.parametrize("pattern", SLOW)
def test_a_slow_pattern_is_known(pattern: str) -> None:
    assert any(SLOW[pattern] in fault for fault in faults(pattern, 0, searched=False))


@pytest.mark.parametrize("pattern", FAST)
def test_a_fast_pattern_is_known(pattern: str) -> None:
    assert faults(pattern, 0, searched=False) == []


@pytest.mark.parametrize("pattern", [r"\s+x", r"\w+=", r".*x", r"`+x", r"<a\w*"])
def test_what_is_slow_to_search_for_is_known(pattern: str) -> None:
    assert bool(faults(pattern, 0, searched=True)) == (not pattern.startswith("<"))


def test_attacks_on_every_pattern_come_to_an_end() -> None:
    assert attacks(r"a(?:b+|c)*d", 0, 9)
    script = "from tests.unit.test_patterns import attack_all; attack_all()"
    subprocess.run(
        [sys.executable, "-c", script], check=True, cwd=ROOT, timeout=HANGS, input=json.dumps(patterns()), text=True
    )


def attack_all() -> None:
    """Match, whole and not, and search for each pattern in texts made against it. Reads the patterns from the input."""
    for pattern, flags, module in json.load(sys.stdin):
        compiled = re.compile(pattern, flags)
        loops = unbounded(tree(pattern, flags))
        for text in attacks(pattern, flags, 200 if module in SHORT else 2_000 if loops else 300):
            compiled.match(text)
            compiled.fullmatch(text)
            compiled.search(text)


if __name__ == "__main__":
    print(json.dumps(collect()))
