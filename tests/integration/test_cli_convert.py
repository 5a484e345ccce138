"""`toolglot convert` and `toolglot render`, through `main`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from toolglot import parse
from toolglot.cli import main

HERMES = '<think>Hm.</think>On it.\n<tool_call>\n{"name": "tide", "arguments": {"at": "Oban"}}\n</tool_call>'
CUT = 'Wait. <tool_call>\n{"name": "tide", "arguments": {"at": "Ob'
CALL = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": '{"at": "Oban"}'}}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(*argv: object, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        code = main([str(word) for word in argv])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return run


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_a_reply_is_rewritten(run: Any) -> None:
    code, out, err = run("convert", "--to", "mistral_v11", stdin=HERMES)
    assert (code, err) == (0, "")
    assert out == '[THINK]Hm.[/THINK]On it.\n[TOOL_CALLS]tide[ARGS]{"at": "Oban"}\n'


def test_what_is_left_behind_is_told(run: Any, tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    code, out, err = run("convert", "--to", "pythonic", "--json", "--report", report, stdin=HERMES + CUT)
    assert code == 0
    assert [loss["kind"] for loss in json.loads(out)["losses"]] == ["incomplete", "reasoning"]
    assert "reasoning: pythonic has no place for reasoning" in err and "standard input" in err
    assert [json.loads(line)["kind"] for line in report.read_text("utf-8").splitlines()] == ["incomplete", "reasoning"]


def test_records_keep_their_other_members(run: Any) -> None:
    chat = [{"role": "user", "content": "Tide?"}, {"role": "assistant", "content": HERMES, "weight": 1}]
    beside = {"role": "assistant", "content": "I look.", "tool_calls": [CALL]}
    stdin = lines({"id": 7, "text": HERMES}, {"messages": [*chat, beside], "split": "train"}, {"content": HERMES})
    code, out, err = run("convert", "--to", "lfm2", "--jsonl", stdin=stdin)
    first, second, third = map(json.loads, out.splitlines())
    text = "<think>Hm.</think>On it.\n<|tool_call_start|>[tide(at='Oban')]<|tool_call_end|>"
    assert (code, err) == (0, "")
    assert first == {"id": 7, "text": text}
    assert second["split"] == "train" and second["messages"][0] == chat[0]
    assert second["messages"][1] == {"role": "assistant", "content": text, "weight": 1}
    assert second["messages"][2]["content"] == "I look.<|tool_call_start|>[tide(at='Oban')]<|tool_call_end|>"
    assert third == {"content": text, "role": "assistant"}


def test_a_record_that_cannot_be_carried_comes_back_as_it_was(run: Any) -> None:
    record = {
        "text": '<tool_call>{"name": "f", "arguments": {"a": "</parameter>\\n</function>\\n</tool_call>"}}</tool_call>'
    }
    code, out, err = run("convert", "--to", "qwen3_xml", "--jsonl", stdin=lines(record, {"text": HERMES}))
    first, second = map(json.loads, out.splitlines())
    assert code == 1 and first["record"] == record and "argument 'a'" in first["error"]["message"]
    assert first["error"]["line"] == 1 and "1 of 2 records could not be carried" in err
    assert parse(second["text"], format="qwen3_xml").calls[0].arguments == {"at": "Oban"}


def test_lines_that_are_no_record_are_told(run: Any) -> None:
    code, out, err = run("convert", "--to", "hermes", "--jsonl", stdin='{"text": 1}\nnonsense\n{"other": 1}\n')
    assert code == 1 and len(out.splitlines()) == 3
    assert 'Expected a string under "text", got a number (standard input, line 1).' in err
    assert "line 2, column 1" in err and 'Expected a member "text", "content" or "messages", got only "other"' in err


def test_calls_and_messages_are_written(run: Any) -> None:
    message = {"role": "assistant", "content": "Look.", "reasoning_content": "Hm.", "tool_calls": [CALL]}
    code, out, err = run("render", "--format", "hermes", stdin=json.dumps(message))
    assert (code, err) == (0, "")
    assert out == '<think>Hm.</think>Look.\n<tool_call>\n{"name": "tide", "arguments": {"at": "Oban"}}\n</tool_call>\n'
    for data in ({"name": "tide", "arguments": {"at": "Oban"}}, [CALL]):
        assert run("render", "--format", "pythonic", stdin=json.dumps(data)) == (0, "[tide(at='Oban')]\n", "")
    stdin = lines({"id": 1, "calls": [CALL]}, {"messages": [message], "n": 1}, {"name": "f", "arguments": {"a": 1}})
    code, out, err = run("render", "--format", "llama3_function_tag", "--jsonl", stdin=stdin)
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 1 and "could not be carried" in err  # its wire has no reasoning
    assert records[0] == {"id": 1, "text": '<function=tide>{"at": "Oban"}</function>'}
    assert records[1]["record"]["n"] == 1 and "cannot carry reasoning" in records[1]["error"]["message"]
    assert records[2] == {"text": '<function=f>{"a": 1}</function>'}


MISTAKES = [
    (("convert", "--to", "nonsense"), "", 2, "nonsense"),
    (("convert", "--to", "hermes", "/no/such/file"), "", 2, "/no/such/file"),
    (("convert",), "", 2, "--to"),
    (("convert", "--to", "hermes", "--report", "/no/such/folder/file"), "", 2, "to write"),
    (("convert", "--to", "hermes", "--strict"), CUT, 1, "no closing quote (line 2, column 38)"),
    (("render", "--format", "hermes"), "{", 2, "got no JSON"),
    (("render", "--format", "hermes"), "3", 2, "got a number"),
    (("render", "--format", "hermes"), '{"role": "user"}', 2, 'got only "role"'),
    (("render", "--format", "hermes"), '[{"name": 1}]', 1, "a mapping with name"),
    (("render", "--format", "hermes"), '[{"name": "f", "arguments": "{"}]', 1, "arguments as JSON"),
    (("render", "--format", "hermes"), '[{"name": "f", "arguments": 3}]', 1, "arguments as a dict"),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_are_told(run: Any, number: int) -> None:
    argv, stdin, wanted, words = MISTAKES[number]
    code, out, err = run(*argv, stdin=stdin)
    assert code == wanted and words in err and out == ""


def test_a_message_with_a_name_is_no_call(run: Any) -> None:
    chat = {"messages": [{"role": "assistant", "name": "bob", "content": "Hi, I am Bob."}]}
    for command in (("render", "--format", "hermes"), ("convert", "--to", "hermes")):
        code, out, _ = run(*command, "--jsonl", stdin=lines(chat))
        assert code == 0 and json.loads(out) == chat


def test_a_number_with_other_digits_is_told(run: Any) -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": 1.10}}</tool_call>'
    code, out, err = run("convert", "--to", "pythonic", stdin=text)
    assert (code, out) == (0, "[f(a=1.1)]\n") and "number: A number in the arguments of 'f' has other digits" in err
    assert run("convert", "--to", "mistral_v11", stdin=text)[2] == ""
