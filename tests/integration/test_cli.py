"""The command, as users run it: in this process through `main`, and as `python -m toolglot` on pipes and terminals."""

from __future__ import annotations

import io
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from toolglot import Event, Parser, Result, formats, parse
from toolglot.cli import main

CALL = '<tool_call>\n{"name": "search", "arguments": {"q": "東京", "n": 2}}\n</tool_call>'
REPLY = f"On it.\n{CALL}"
COMMA = '<tool_call>\n{"name": "search", "arguments": {"q": "x",}}\n</tool_call>'
CUT = 'Wait.\n<tool_call>\n{"name": "search", "arguments": {"q": "x", "n": 1'
TOOL = {
    "type": "function",
    "function": {
        "name": "search",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}},
    },
}
COMMAND = [sys.executable, "-m", "toolglot"]
posix = pytest.mark.skipif(os.name != "posix", reason="needs terminals, signals and resource limits of POSIX")


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(*argv: str | Path, stdin: str | bytes = b"") -> Ran:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        code = main([str(word) for word in argv])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return file


def environment(**changes: str) -> dict[str, str]:
    """The environment without what changes colours, and with the changes."""
    plain = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "TERM")}
    return plain | {"TERM": "xterm"} | changes


def start(*argv: str | Path, **more: Any) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    options: dict[str, Any] = {"stdin": pipe, "stdout": pipe, "stderr": pipe, "bufsize": 0, "env": environment()} | more
    return subprocess.Popen([*COMMAND, *map(str, argv)], **options)


def read_line(process: subprocess.Popen[bytes], seconds: float = 20) -> bytes:
    """A line of the process's output (which is not buffered here), or an assertion where none comes."""
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], seconds)[0], "nothing came"
    return process.stdout.readline()


# parse, for people


def test_parse_shows_segments_calls_and_format(run: Any, file: Any) -> None:
    ran = run("parse", file("reply.txt", REPLY))
    assert ran.code == 0 and ran.err == ""
    assert "text      | On it." in ran.out
    assert "name      | search" in ran.out
    assert "Calls: 1" in ran.out
    row = next(line for line in ran.out.splitlines() if line.startswith("  search"))
    assert '{"q": "東京", "n": 2}' in row and row.split()[-2:] == ["hermes", "no"]


def test_parse_reads_standard_input_without_a_file_and_for_a_dash(run: Any) -> None:
    for argv in (["parse"], ["parse", "-"]):
        assert "Calls: 1" in run(*argv, stdin=REPLY).out


def test_a_problem_is_shown_with_its_line_and_a_caret(run: Any) -> None:
    ran = run("parse", "--format", "hermes", stdin=COMMA)
    lines = ran.out.splitlines()
    at = next(i for i, line in enumerate(lines) if "error trailing_comma at line 2, column" in line)
    assert "(repaired)" in lines[at]
    source, carets = lines[at + 1], lines[at + 2]
    assert source[carets.index("^")] == ","


def test_a_caret_stands_under_its_character_after_tabs_and_wide_characters(run: Any) -> None:
    reply = '<tool_call>{"name": "search", "arguments":\t{"東京東京":\t"京", "n": 1,}}</tool_call>'
    lines = run("parse", "--format", "hermes", stdin=reply).out.splitlines()
    carets = next(line for line in lines if "^" in line)
    source = lines[lines.index(carets) - 1]
    assert "\t" not in source
    wide = source.count("東") + source.count("京")
    assert source[carets.index("^") - wide] == ","


def test_a_long_line_is_cut_around_its_caret(run: Any) -> None:
    reply = '<tool_call>{"name": "search", "arguments": {"q": "' + "x" * 5000 + '", "r": 1,}, "s": "' + "y" * 5000
    lines = run("parse", "--format", "hermes", stdin=reply).out.splitlines()
    at = next(i for i, line in enumerate(lines) if "trailing_comma" in line)
    assert all(len(line) <= 100 for line in lines[at + 1 : at + 3])
    assert lines[at + 1].count("…") == 2
    assert lines[at + 1][lines[at + 2].index("^")] == ","


def test_a_cut_call_is_listed_as_incomplete(run: Any) -> None:
    ran = run("parse", "--format", "hermes", stdin=CUT)
    assert ran.code == 0
    assert "Calls: none" in ran.out
    assert 'search  {"q": "x"}' in ran.out.split("Incomplete: 1")[1]


def test_long_arguments_are_wrapped_in_their_column(run: Any) -> None:
    reply = '<tool_call>{"name": "save", "arguments": {"body": "' + "京" * 300 + '"}}</tool_call>'
    table = run("parse", stdin=reply).out.split("Calls: 1")[1]
    assert table.count("京") == 300
    assert all(len(line) + line.count("京") <= 100 for line in table.splitlines())


def test_several_files_are_shown_one_after_another(run: Any, file: Any) -> None:
    one, two = file("one.txt", REPLY), file("two.txt", "No call here.")
    ran = run("parse", one, two)
    assert ran.out.index(f"=== {one}") < ran.out.index("Calls: 1") < ran.out.index(f"=== {two}")
    assert "Calls: none" in ran.out


def test_an_empty_reply_is_no_error(run: Any) -> None:
    ran = run("parse", stdin="")
    assert ran.code == 0 and "(empty reply)" in ran.out


def test_control_characters_of_a_reply_do_not_reach_the_terminal(run: Any) -> None:
    reply = 'a\x1b[2Jb\x9bc\x07\u202ed\r\n<tool_call>{"name": "f\x1b", "arguments": {"x": "\\u001b\x7f"}}</tool_call>'
    for argv in (["parse"], ["stream"], ["parse", "--strict"]):
        ran = run(*argv, "--unknown-tools", "keep", stdin=reply)
        shown = ran.out + ran.err
        assert not any(mark in shown for mark in ("\x1b", "\x9b", "\x07", "\u202e", "\r", "\x7f")), argv


# parse, as JSON


def test_json_is_one_object_a_reply(run: Any, file: Any) -> None:
    path = file("reply.txt", REPLY)
    (result,) = run("parse", "--json", path).json
    assert "file" not in result
    assert result["content"] == "On it.\n" and result["format"] == "hermes"
    assert result["calls"][0]["arguments"] == {"q": "東京", "n": 2}
    both = run("parse", "--json", path, file("other.txt", "Nothing.")).json
    assert [Path(result["file"]).name for result in both] == ["reply.txt", "other.txt"]
    assert "".join(segment["text"] for segment in both[0]["segments"]) == REPLY


def test_json_stays_json_for_surrogates_and_numbers_past_a_double(run: Any) -> None:
    reply = '<tool_call>{"name": "f", "arguments": {"s": "\\ud800", "x": 1e999, "n": ' + "9" * 5000 + "}}</tool_call>"
    ran = run("parse", "--json", stdin=reply)
    sys.set_int_max_str_digits(0)
    try:
        (result,) = (
            json.loads(line, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
            for line in ran.out.splitlines()
        )
    finally:
        sys.set_int_max_str_digits(4300)
    assert ran.code == 0
    assert "".join(segment["text"] for segment in result["segments"]) == reply


def test_carriage_returns_are_kept(run: Any, file: Any) -> None:
    (result,) = run("parse", "--json", file("reply.txt", b"a\r\nb\rc")).json
    assert result["content"] == "a\r\nb\rc"


def test_bytes_that_are_no_utf8_are_replaced_with_a_warning(run: Any, file: Any) -> None:
    ran = run("parse", "--json", file("reply.txt", b"caf\xc3\xa9 \xff!"))
    assert ran.code == 0 and ran.json[0]["content"] == "café \ufffd!"
    assert "expected UTF-8, got byte 0xff (byte 7)" in ran.err
    ran = run("stream", "--json", stdin=b"\xe6\x9d\xb1\xe6")
    assert "".join(event["text"] for event in ran.json) == "東\ufffd"
    assert "expected UTF-8, got byte 0xe6 (byte 4)" in ran.err


def test_options_reach_the_parser(run: Any, file: Any) -> None:
    tools = file("tools.json", json.dumps([TOOL]))
    other = '<tool_call>{"name": "other", "arguments": {}}</tool_call>'
    assert run("parse", "--json", "--tools", tools, stdin=other).json[0]["calls"] == []
    kept = run("parse", "--json", "--tools", tools, "--unknown-tools", "keep", stdin=other).json[0]
    assert kept["calls"][0]["name"] == "other"
    closed = run("parse", "--json", "--truncated", "close", stdin=CUT).json[0]
    assert closed["calls"][0]["truncated"] is True
    five = '<tool_call>{"name": "search", "arguments": {"n": "5"}}</tool_call>'
    assert run("parse", "--json", "--tools", tools, stdin=five).json[0]["calls"][0]["arguments"] == {"n": 5}
    raw = run("parse", "--json", "--tools", tools, "--no-coerce", stdin=five).json[0]
    assert raw["calls"][0]["arguments"] == {"n": "5"}
    thought = run("parse", "--json", "--start-in", "reasoning", "--format", "hermes", stdin=f"Hm.</think>{CALL}").json[
        0
    ]
    assert thought["reasoning"] == "Hm." and len(thought["calls"]) == 1
    prefix = run("parse", "--json", "--prefix", "<think>\n", "--format", "hermes", stdin=f"Hm.</think>{CALL}").json[0]
    assert prefix["reasoning"] == "Hm."
    inside = f"<think>{CALL}</think>"
    assert run("parse", "--json", stdin=inside).json[0]["calls"] == []
    assert len(run("parse", "--json", "--calls-in-reasoning", "parse", stdin=inside).json[0]["calls"]) == 1
    listed = '<tool_call>[{"name": "search", "arguments": {}}, {"name": "other", "arguments": {}}]</tool_call>'
    block = run("parse", "--json", "--tools", tools, "--block", "all-or-nothing", stdin=listed).json[0]
    assert block["calls"] == []
    several = run("parse", "--json", "--format", "mistral,hermes", "--format", "lfm2", stdin=REPLY).json[0]
    assert several["format"] == "hermes"


@pytest.mark.parametrize("shape", [[TOOL], TOOL, {"tools": [TOOL]}, ["search"]])
def test_a_tools_file_is_a_list_one_tool_or_an_object_with_tools(run: Any, file: Any, shape: Any) -> None:
    tools = file("tools.json", json.dumps(shape))
    assert len(run("parse", "--json", "--tools", tools, stdin=REPLY).json[0]["calls"]) == 1


# parse --jsonl


def test_jsonl_reads_texts_messages_and_conversations(run: Any) -> None:
    records = [
        {"text": REPLY, "id": 7},
        {"role": "assistant", "content": REPLY},
        {"content": [{"type": "text", "text": "On it.\n"}, {"type": "text", "text": CALL}]},
        {
            "messages": [
                {"role": "assistant", "content": "no"},
                {"role": "assistant", "content": REPLY},
                {"role": "tool"},
            ]
        },
        {"text": REPLY, "tools": ["other"]},
        {"text": REPLY, "tools": json.dumps([TOOL])},
    ]
    ran = run("parse", "--jsonl", stdin="\n".join(map(json.dumps, records)) + "\n\n")
    assert ran.code == 0 and ran.err == ""
    assert [len(result["calls"]) for result in ran.json] == [1, 1, 1, 1, 0, 1]
    assert ran.json[0]["id"] == 7 and "id" not in ran.json[1]


def test_a_bad_line_gives_a_message_and_an_error_record_and_the_rest_is_read(run: Any, file: Any) -> None:
    bad = [
        '{"text": "a",}',
        "[1]",
        '{"reply": "a"}',
        '{"content": null}',
        '{"messages": []}',
        '{"text": 5}',
        '{"text": "a", "tools": 3}',
        "[" * 100_000,
        '{"text": "cut off',
    ]
    path = file("records.jsonl", "\n".join([json.dumps({"text": REPLY}), *bad, json.dumps({"text": REPLY})]))
    ran = run("parse", "--jsonl", path)
    assert ran.code == 1
    assert len(ran.json) == 2 + len(bad)
    assert len(ran.json[0]["calls"]) == len(ran.json[-1]["calls"]) == 1
    for number, (line, output) in enumerate(zip(bad, ran.json[1:-1], strict=True), 2):
        assert output["error"]["line"] == number and output["record"] == line
        assert output["error"]["message"].startswith("Expected ")
    messages = ran.err.splitlines()
    assert len(messages) == len(bad)
    assert f"({path}, line 2, column 14)" in messages[0]


def test_jsonl_reports_what_strict_refuses_and_keeps_its_text(run: Any) -> None:
    ran = run("parse", "--jsonl", "--strict", stdin="\n".join(json.dumps({"text": t}) for t in (COMMA, REPLY)))
    assert ran.code == 1
    refused, fine = ran.json
    assert refused["error"]["code"] == "trailing_comma" and refused["error"]["line"] == 2
    assert refused["text"] == COMMA
    assert len(fine["calls"]) == 1
    assert "1 of 2 replies refused" in ran.err


def test_jsonl_of_several_files_names_the_file(run: Any, file: Any) -> None:
    one, two = (file(name, json.dumps({"text": name})) for name in ("a.jsonl", "b.jsonl"))
    assert [result["file"] for result in run("parse", "--jsonl", one, two).json] == [str(one), str(two)]


def test_jsonl_ends_lines_at_line_feeds_only(run: Any) -> None:
    record = json.dumps({"text": "a\u2028b\x85c"}, ensure_ascii=False)
    ran = run("parse", "--jsonl", stdin=f"\ufeff{record}\r\n{record}")
    assert [json.loads(line)["content"] for line in ran.out.split("\n") if line] == ["a\u2028b\x85c"] * 2


@posix
def test_jsonl_takes_constant_memory() -> None:
    def peak(records: int) -> int:
        program = (
            "import resource, sys; from toolglot.cli import main; code = main(['parse', '--jsonl']);"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdin and process.stdout and process.stderr
        line = json.dumps({"text": "x" * 8000 + CALL}).encode() + b"\n"
        lines = [0]

        def drain() -> None:
            assert process.stdout
            lines[0] = sum(1 for _ in process.stdout)

        reader = threading.Thread(target=drain)
        reader.start()
        for _ in range(records):
            process.stdin.write(line)
        process.stdin.close()
        reader.join()
        report = process.stderr.read()
        process.stdout.close()
        process.stderr.close()
        assert process.wait() == 0 and lines[0] == records
        return int(report) // (1024 if sys.platform == "darwin" else 1)

    few, many = peak(100), peak(5000)  # 40 MB more go through
    assert many - few < 12_000, f"{few} kB for 100 records, {many} kB for 5,000"


# stream


def test_stream_shows_events_one_a_line(run: Any) -> None:
    lines = run("stream", "--chunk", "7", stdin=REPLY).out.splitlines()
    words = [line.split()[0] for line in lines]
    assert words[0] == "text"
    assert words.index("call_begin") < words.index("arguments_delta") < words.index("call_end")
    assert '#0 search {"q": "東京", "n": 2}' in lines[words.index("call_end")]


def test_stream_as_json_gives_the_result_that_parse_gives(run: Any) -> None:
    whole = run("parse", "--json", stdin=REPLY + CUT).json[0]
    for chunk in ("1", "3", "1000"):
        events = run("stream", "--json", "--chunk", chunk, stdin=REPLY + CUT).json
        assert "".join(e["text"] for e in events if e["type"] == "text") == whole["content"]
        assert [e["call"] for e in events if e["type"] == "call_end"] == whole["calls"]
        pieces = "".join(e["text"] for e in events if e["type"] == "arguments_delta" and e["index"] == 0)
        assert pieces == whole["calls"][0]["arguments_json"]
        assert [e["incomplete"] for e in events if e.get("incomplete")] == whole["incomplete"]
        assert all(len(e["span"]) == 2 for e in events)


def chunks(out: str) -> list[Any]:
    """The chunks of a server-sent stream; checks its frame."""
    *events, rest = out.split("\n\n")
    assert rest == "" and events[-1] == "data: [DONE]"
    assert all(event.startswith("data: ") and "\n" not in event for event in events)
    return [json.loads(event.removeprefix("data: ")) for event in events[:-1]]


def test_openai_chunks_come_in_the_order_that_clients_assemble(run: Any) -> None:
    reply = f"<think>\nHm.\n</think>\n\n{REPLY}\n{CALL} Done.\n"
    seen = chunks(run("stream", "--openai", "--chunk", "5", "--model", "m", stdin=reply).out)
    assert {(c["id"], c["object"], c["created"], c["model"]) for c in seen} == {
        (seen[0]["id"], "chat.completion.chunk", seen[0]["created"], "m")
    }
    assert all(len(c["choices"]) == 1 and c["choices"][0]["index"] == 0 for c in seen)
    deltas = [c["choices"][0]["delta"] for c in seen]
    assert deltas[0] == {"role": "assistant", "content": None}
    assert deltas[-1] == {}
    assert [c["choices"][0]["finish_reason"] for c in seen] == [None] * (len(seen) - 1) + ["tool_calls"]
    assert "".join(d.get("reasoning_content", "") for d in deltas) == "Hm."
    content = "".join(d.get("content") or "" for d in deltas)
    assert content.startswith("On it.") and content.endswith("Done.") and "tool_call" not in content
    calls = [d["tool_calls"] for d in deltas if "tool_calls" in d]
    assert all(len(entry) == 1 for entry in calls)
    assert [entry[0]["index"] for entry in calls] == sorted(entry[0]["index"] for entry in calls)
    for index in (0, 1):
        first, *pieces = [entry[0] for entry in calls if entry[0]["index"] == index]
        assert first["type"] == "function" and first["id"]
        assert first["function"] == {"name": "search", "arguments": ""}
        assert all(
            piece.keys() == {"index", "function"} and piece["function"].keys() == {"arguments"} for piece in pieces
        )
        assert json.loads("".join(piece["function"]["arguments"] for piece in pieces)) == {"q": "東京", "n": 2}


def test_openai_chunks_of_a_call_without_arguments_hold_an_empty_object(run: Any) -> None:
    seen = chunks(run("stream", "--openai", stdin='<tool_call>{"name": "ping", "arguments": {}}</tool_call>').out)
    calls = [c["choices"][0]["delta"].get("tool_calls") for c in seen]
    assert "".join(call[0]["function"]["arguments"] for call in calls if call) == "{}"


def test_openai_chunks_never_begin_a_cut_call(run: Any) -> None:
    for chunk in ("1", "1000"):
        ran = run("stream", "--openai", "--chunk", chunk, stdin=CUT)
        seen = chunks(ran.out)
        assert not any("tool_calls" in c["choices"][0]["delta"] for c in seen)
        assert seen[-1]["choices"][0]["finish_reason"] == "stop"
        assert "warning: truncated" in ran.err


def test_openai_stream_that_strict_refuses_ends_with_an_error(run: Any) -> None:
    ran = run("stream", "--openai", "--strict", stdin=COMMA)
    assert ran.code == 1
    last = ran.out.split("\n\n")[-2].removeprefix("data: ")
    assert json.loads(last)["error"]["code"] == "trailing_comma"


@posix
def test_stream_shows_what_a_slow_pipe_has_sent(tmp_path: Path) -> None:
    process = start("stream", "--json", "--format", "hermes")
    assert process.stdin and process.stdout
    process.stdin.write("Grüße ".encode())
    process.stdin.flush()
    assert json.loads(read_line(process))["text"].startswith("Gr")
    process.stdin.write(b"\xe6\x9d")  # half a character
    process.stdin.flush()
    process.stdin.write(b"\xb1 now. " + CALL.encode())
    process.stdin.flush()
    seen = ""
    while '"call_end"' not in seen:
        seen += read_line(process).decode()
    assert "東" in seen and "\ufffd" not in seen
    _, err = process.communicate()
    assert (process.returncode, err) == (0, b"")


# formats


def test_formats_lists_every_format_with_an_example_that_reads_back(run: Any) -> None:
    rows = run("formats", "--json").json[0]
    assert [row["id"] for row in rows] == [format.id for format in formats()]
    for row in rows:
        assert row.keys() == {"id", "aliases", "models", "source", "tier", "grammar", "example"}
        assert row["grammar"], row["id"]
        (result,) = run("parse", "--json", "--format", row["id"], stdin=row["example"]).json
        assert [(c["name"], c["arguments"]) for c in result["calls"]] == [("get_weather", {"city": "Oslo", "days": 3})]
    shown = run("formats")
    assert shown.code == 0
    assert all(row["id"] in shown.out for row in rows)
    assert "[TOOL_CALLS]{name}[ARGS]{args:json}" in shown.out
    assert "<parameter={key}>\\n{value:raw}\\n</parameter>" in shown.out


# check

OWN_FORMATS = """
from toolglot import Block, Format, register

CURLY = Format("curly_cli_test", call="<<call>>{name}<<with>>{args:json}<<end>>")
OTHERS = [Format("square_cli_test", section=Block("<calls>", "</calls>"), call="{call:json}")]
"""
# A bare key can hold no blank; and a reply cannot tell a call from a thought that begins in the same way.
HALF_FORMATS = """
from toolglot import Block, Format

BARE = Format("bare_cli_test", call="<c>{name} {params}</c>", param="{key}={value:json}", param_separator=" ")
ALIKE = Format("alike_cli_test", call="<c>{name} {args:json}</c>", reasoning=Block("<c>", "</c>"))
"""


# One of each kind; the laws hold all of them to more.
@pytest.mark.parametrize("name", ["hermes", "lfm2", "glm45", "harmony"])
def test_registered_formats_pass_the_check(run: Any, name: str) -> None:
    ran = run("check", name)
    assert ran.code == 0, ran.out
    assert f"{name}: passed" in ran.out


def test_check_reads_a_file_of_formats(run: Any, file: Any) -> None:
    path = file("mine.py", OWN_FORMATS)
    ran = run("check", path)
    assert ran.code == 0, ran.out
    assert "curly_cli_test: passed" in ran.out and "square_cli_test: passed" in ran.out


def test_check_shows_what_fails_and_what_is_skipped(run: Any, file: Any) -> None:
    ran = run("check", file("mine.py", HALF_FORMATS))
    assert ran.code == 1
    assert "bare_cli_test: passed" in ran.out and "skipped key 'with space': " in ran.out
    assert "alike_cli_test: FAILED" in ran.out and "FAILED round trip: one call" in ran.out


def test_check_finds_a_reader_that_loses_a_character_at_a_split(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Parser):
        def feed(self, text: str) -> list[Event]:
            return super().feed(text.removeprefix("s"))

    monkeypatch.setattr("toolglot._cli_check.Parser", Broken)
    ran = run("check", "hermes")
    assert ran.code == 1
    assert "FAILED chunking: one call, one character at a time" in ran.out
    failure = ran.out.split("FAILED chunking")[1]
    assert "    text      '<tool_call>" in failure
    assert "    expected  " in failure and "    got       " in failure


def test_check_finds_a_reader_that_gives_other_arguments(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str, *more: Any, **options: Any) -> Result:
        return parse(text.replace("Oslo", "Rome"), *more, **options)

    monkeypatch.setattr("toolglot._cli_check.parse", broken)
    ran = run("check", "hermes")
    assert ran.code == 1
    assert "FAILED round trip: one call" in ran.out
    assert "expected  get_weather({'city': 'Oslo'})" in ran.out
    assert "got       get_weather({'city': 'Rome'})" in ran.out


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\n", "got none"),
        ("def f(:\n", "line 1"),
        ("import toolglot\nraise RuntimeError('boom')\n", "RuntimeError: boom (mine.py, line 2)"),
        ("from toolglot import Format\n\nFormat('bad', call='{nmae}')\n", "line 3"),
        ("raise SystemExit(0)\n", "SystemExit"),
    ],
)
def test_check_says_what_is_wrong_with_a_file(
    run: Any, file: Any, monkeypatch: pytest.MonkeyPatch, source: str, said: str
) -> None:
    path = file("mine.py", source)
    monkeypatch.chdir(path.parent)
    ran = run("check", "mine.py")
    assert ran.code == 2 and ran.out == ""
    assert ran.err.startswith("toolglot: Expected ") and said in ran.err


# Exit codes and messages


def test_strict_refuses_with_exit_code_1_and_a_caret(run: Any, file: Any) -> None:
    path = file("reply.txt", COMMA)
    ran = run("parse", "--strict", path)
    assert ran.code == 1 and ran.out == ""
    message, source, carets = ran.err.splitlines()
    assert message.startswith(f"toolglot: {path}: refused: trailing_comma: ") and "line 2, column" in message
    assert source[carets.index("^")] == ","
    ran = run("parse", "--strict", "--json", path, file("fine.txt", REPLY))
    assert ran.code == 1
    assert ran.json[0]["error"]["code"] == "trailing_comma" and len(ran.json[1]["calls"]) == 1
    assert run("stream", "--strict", path).code == 1
    assert run("parse", "--strict", stdin=REPLY).code == 0


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["parse", "no/such/file"], "Expected a file at 'no/such/file', got: no such file or directory."),
        (["stream", "no/such/file"], "no such file"),
        (["parse", "."], "got a directory"),
        (["parse", "a\0b"], "Expected a file"),
        (["parse", "--format", "nonesuch", "-"], "nonesuch"),
        (["parse", "--format", "hermes,nonesuch", "-"], "nonesuch"),
        (["parse", "--tools", "no/such/file", "-"], "no such file"),
        (["check", "no_such_file.py"], "no such file"),
        (["check", "nonesuch"], "nonesuch"),
        (["stream", "--chunk", "0"], "expected a number from 1, got '0'"),
        (["stream", "--chunk", "x"], "expected a number from 1, got 'x'"),
        (["stream", "--json", "--openai"], "not allowed with"),
        (["parse", "--block", "some"], "invalid choice"),
        (["parse", "--no-such-flag"], "unrecognized arguments"),
        (["nonesuch"], "invalid choice"),
        ([], "required: COMMAND"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_message(run: Any, argv: list[str], said: str) -> None:
    ran = run(*argv)
    assert ran.code == 2 and ran.out == ""
    assert said in ran.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[{"name": "f",\n  "x": ,}]', "line 2, column 8"),
        ("", "line 1, column 1"),
        ("5", "got a number"),
        ('"f"', "got a string"),
        ("[5]", "tools.json"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_an_unreadable_tools_file_is_wrong_usage(run: Any, file: Any, content: str, said: str) -> None:
    ran = run("parse", "--tools", file("tools.json", content), stdin=REPLY)
    assert ran.code == 2 and ran.out == ""
    assert said in ran.err


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_wrong_usage(run: Any, file: Any) -> None:
    path = file("reply.txt", REPLY)
    path.chmod(0)
    assert "permission denied" in run("parse", path).err


def test_version_and_help(run: Any) -> None:
    ran = run("--version")
    assert ran.code == 0 and ran.out.startswith("toolglot ")
    for argv in (["--help"], ["parse", "--help"], ["stream", "--help"], ["formats", "--help"], ["check", "--help"]):
        ran = run(*argv)
        assert ran.code == 0 and ran.out.startswith("usage: toolglot")


# As a process


def test_the_module_runs_as_a_command() -> None:
    done = subprocess.run([*COMMAND, "parse", "--json"], input=REPLY.encode(), capture_output=True, env=environment())
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(json.loads(done.stdout)["calls"]) == 1
    done = subprocess.run([*COMMAND, "parse", "no/such/file"], capture_output=True, env=environment())
    assert (done.returncode, done.stdout) == (2, b"")
    done = subprocess.run([*COMMAND, "parse", "--strict"], input=COMMA.encode(), capture_output=True, env=environment())
    assert done.returncode == 1 and b"Traceback" not in done.stderr


@pytest.mark.parametrize("argv", [["parse"], ["parse", "--json"], ["stream"], ["stream", "--openai"], ["formats"]])
def test_an_output_that_is_not_unicode_gets_escapes(argv: list[str]) -> None:
    env = environment(PYTHONIOENCODING="ascii")
    done = subprocess.run([*COMMAND, *argv], input=REPLY.encode(), capture_output=True, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()


@posix
def test_a_reader_that_leaves_early_gets_no_traceback(file: Any) -> None:
    records = file("records.jsonl", (json.dumps({"text": REPLY}) + "\n") * 3000)
    prose = file("prose.txt", "Plain words. " * 8000)
    for argv in (["parse", "--jsonl", records], ["stream", "--chunk", "5", prose], ["parse", prose, prose]):
        process = start(*argv, "--format", "hermes")
        assert process.stdout and process.stderr
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141
        process.stderr.close()
        process.stdin.close()


@posix
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_one_message() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "parse"], input=REPLY.encode(), stdout=full, stderr=subprocess.PIPE, env=environment()
        )
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1 and b"No space left" in done.stderr


@posix
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_standard_streams_give_no_traceback(closed: str, tmp_path: Path) -> None:
    script = f'"$0" -m toolglot parse --strict {closed}'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable], input=COMMA.encode(), capture_output=True, env=environment()
    )
    assert done.returncode == (2 if closed == "<&-" else 1)
    assert b"Traceback" not in done.stderr


@posix
def test_an_interrupt_ends_with_130() -> None:
    # A shell's background job ignores the signal, and what it starts does too: here it is heeded again.
    heeded = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = start("stream", "--format", "hermes", preexec_fn=heeded)
    assert process.stdin and process.stdout
    process.stdin.write(b"Hello. ")
    process.stdin.flush()
    read_line(process)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    assert process.communicate()[1] == b""


# On a terminal


def on_terminal(*argv: str | Path, also_err: bool = False, **changes: str) -> str:
    """What the command writes to a terminal."""
    import pty

    ours, theirs = pty.openpty()
    streams = {"stdout": subprocess.DEVNULL, "stderr": theirs} if also_err else {"stdout": theirs}
    process = start(
        *argv, stdin=subprocess.DEVNULL, **{"stderr": subprocess.DEVNULL} | streams, env=environment(**changes)
    )
    os.close(theirs)
    parts = list(_read_all(ours))
    os.close(ours)
    assert process.wait() == 0
    return b"".join(parts).decode()


def _read_all(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(descriptor, 65_536)
        except OSError:  # Linux: the other end is closed
            return
        if not data:
            return
        yield data


@posix
def test_a_terminal_gets_colours_by_segment(file: Any) -> None:
    path = file("reply.txt", f"<think>Hm.</think>{REPLY}")
    shown = on_terminal("parse", path)
    assert "\x1b[2mHm.\x1b[0m" in shown  # reasoning is dim
    assert "\x1b[1;36msearch\x1b[0m" in shown
    assert "\x1b[32m{" in shown
    assert "On it." in shown and "text      |" not in shown
    assert "\x1b[" in on_terminal("stream", path)
    assert "\x1b[" in on_terminal("formats")


@posix
@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colours_gets_the_labelled_form(file: Any, changes: dict[str, str]) -> None:
    shown = on_terminal("parse", file("reply.txt", REPLY), **changes)
    assert "\x1b" not in shown and "text      | On it." in shown


@posix
def test_an_empty_no_color_does_not_count(file: Any) -> None:
    assert "\x1b[" in on_terminal("parse", file("reply.txt", REPLY), NO_COLOR="")


@posix
def test_the_progress_bar_is_drawn_on_a_terminal_only_and_cleared(file: Any) -> None:
    path = file("records.jsonl", (json.dumps({"text": REPLY}) + "\n") * 200)
    shown = on_terminal("parse", "--jsonl", path, also_err=True)
    assert "replies" in shown and "%" in shown
    assert shown.endswith("\r\x1b[K")
    done = subprocess.run([*COMMAND, "parse", "--jsonl", path], capture_output=True, env=environment())
    assert done.stderr == b""


def test_validate_lists_what_does_not_fit_the_schema(run: Any, tmp_path: Path) -> None:
    strict = {**TOOL["function"], "parameters": {**TOOL["function"]["parameters"], "required": ["q", "page"]}}
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"type": "function", "function": strict}]), encoding="utf-8")
    for argv, expected in ((("--validate",), ["invalid_arguments"]), ((), [])):
        told = run("parse", "--json", "--tools", tools, *argv, stdin=CALL)
        assert told.code == 0 and [c["name"] for c in told.json[0]["calls"]] == ["search"]
        assert [p["code"] for p in told.json[0]["problems"]] == expected
