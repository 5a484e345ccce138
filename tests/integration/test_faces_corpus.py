"""The shared cases through the faces, each with what its system makes of them.

A case is read as the corpus expects, or stands in the face's table under the way in which the system differs; what the
system then makes of it is given by that way, and a case that stands there needlessly fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.corpus_runner import Case
from tests.shared import ABSENT, SHARED, named, records, same
from toolglot import parse
from toolglot.compat import awflow, webmcp

Reading = tuple[list[dict[str, Any]], str]
"""Calls as names and arguments, and prose."""


def names(case: Case) -> list[str]:
    return [tool["function"]["name"] for tool in case["tools"]]


def by_webmcp(case: Case) -> Reading:
    result = webmcp.parse_tool_calls(case["text"], names(case))
    return named(result.calls), result.text


def by_awflow(case: Case) -> Reading:
    reply = awflow.parse_tool_calls(case["text"], names(case))
    return [{"name": call.name, "arguments": call.args} for call in reply.tool_calls], reply.content


def untyped(case: Case) -> Reading:
    """The systems look at no schema: values stay as they were written."""
    result = parse(case["text"], names(case), format=case["format"])
    return named(result.calls), result.content


def closed(case: Case) -> Reading:
    """JSON that is cut is closed, and makes a call."""
    result = parse(case["text"], names(case), format=case["format"], truncated="close")
    return named(result.calls), result.content


def offered_only(case: Case) -> Reading:
    """A name that is not offered is never a call, and no option changes that."""
    result = parse(case["text"], names(case) or ["nobody"], format=case["format"])
    return named(result.calls), result.content


def stays_text(case: Case) -> Reading:
    """No call is made, and the reply stays as it is."""
    return [], case["text"]


Way = Callable[[Case], Reading]

WEBMCP: Mapping[str, tuple[Way, str]] = {
    "hermes-big-int-as-string": (untyped, "no schema"),
    "hermes-coerce-both-ways": (untyped, "no schema"),
    "hermes-nested-double-encoded": (untyped, "no schema"),
    "hermes-strings-for-numbers": (untyped, "no schema"),
    "hermes-union-keeps-valid-string": (untyped, "no schema"),
    "hermes-cut-in-list": (closed, "cut JSON is closed"),
    "hermes-cut-in-number": (closed, "cut JSON is closed"),
    "hermes-cut-in-string": (closed, "cut JSON is closed"),
    "hermes-cut-with-brace-in-string": (closed, "cut JSON is closed"),
    "hermes-no-tools-given": (offered_only, "no names are no tools"),
    "hermes-unknown-among-parallel": (offered_only, "the case keeps unknown tools on request"),
    "hermes-mixed-offered-and-unknown-array": (offered_only, "the case refuses blocks whole on request"),
    "hermes-function-call-tag": (stays_text, "not one of its tags"),
    "json-bare-after-prose": (stays_text, "JSON counts as the whole reply only"),
    "json-own-line-between-prose": (stays_text, "JSON counts as the whole reply only"),
}
AWFLOW: Mapping[str, tuple[Way, str]] = {
    "hermes-big-int-as-string": (untyped, "no schema"),
    "hermes-coerce-both-ways": (untyped, "no schema"),
    "hermes-nested-double-encoded": (untyped, "no schema"),
    "hermes-strings-for-numbers": (untyped, "no schema"),
    "hermes-union-keeps-valid-string": (untyped, "no schema"),
    "hermes-no-tools-given": (offered_only, "no names are no tools"),
    "hermes-unknown-among-parallel": (offered_only, "the case keeps unknown tools on request"),
    "hermes-block-one-refused": (stays_text, "a block counts whole or not at all"),
    "mistral-block-one-refused": (stays_text, "a block counts whole or not at all"),
    "hermes-comment-in-json": (stays_text, "no repair"),
    "hermes-extra-brace": (stays_text, "no repair"),
    "hermes-invalid-escapes": (stays_text, "no repair"),
    "hermes-missing-comma": (stays_text, "no repair"),
    "hermes-python-repr": (stays_text, "no repair"),
    "hermes-raw-newline-in-string": (stays_text, "no repair"),
    "hermes-single-quotes": (stays_text, "no repair"),
    "hermes-unescaped-quotes-prose": (stays_text, "no repair"),
    "hermes-unquoted-keys": (stays_text, "no repair"),
    "hermes-cut-in-list": (stays_text, "cut JSON is malformed: its text stays"),
    "hermes-cut-in-number": (stays_text, "cut JSON is malformed: its text stays"),
    "hermes-cut-in-string": (stays_text, "cut JSON is malformed: its text stays"),
    "hermes-cut-list-closed": (stays_text, "cut JSON is malformed: its text stays"),
    "hermes-cut-string-closed": (stays_text, "cut JSON is malformed: its text stays"),
    "hermes-cut-with-brace-in-string": (stays_text, "cut JSON is malformed: its text stays"),
    "json-cut-nested": (stays_text, "cut JSON is malformed: its text stays"),
    "mistral-cut-array": (stays_text, "only an end marker may be missing"),
    "mistral-cut-in-second-call": (stays_text, "a block counts whole or not at all"),
    "json-bare-after-prose": (stays_text, "JSON counts as the whole reply only"),
    "json-own-line-between-prose": (stays_text, "JSON counts as the whole reply only"),
    "prompt-api-message": (stays_text, "a typed message is another system's"),
}

FACES: Mapping[str, tuple[Way, tuple[str, ...], Mapping[str, tuple[Way, str]]]] = {
    "webmcp": (by_webmcp, ("hermes", "lfm2", "fenced_json", "prompt_api", "json"), WEBMCP),
    "awflow": (
        by_awflow,
        ("hermes", "fenced_json", "prompt_api", "json", "mistral", "llama3_function_tag"),
        AWFLOW,
    ),
}


def cases(formats: tuple[str, ...]) -> list[Case]:
    return [case for format in formats for case in records(SHARED / "corpus" / f"{format}.jsonl")]


def as_expected(expect: Mapping[str, Any], reading: Reading) -> bool:
    """Whether calls and prose are those of the corpus."""
    calls, prose = reading
    return (
        same(expect.get("calls", calls), calls)
        and (expect.get("content", prose) or "").strip() == prose.strip()
        and all(piece in prose for piece in expect.get("content_has", ()))
    )


@pytest.mark.skipif(not (SHARED / "corpus").is_dir(), reason=ABSENT)
@pytest.mark.parametrize("name", FACES)
def test_shared_cases_are_read_as_the_system_reads_them(name: str) -> None:
    read, formats, different = FACES[name]
    wrong, met = [], set()
    for case in cases(formats):
        ident, reading = case["id"], read(case)
        if ident not in different:
            if not as_expected(case["expect"], reading):
                wrong.append(f"{ident}: expected {case['expect']}, got {reading}")
            continue
        met.add(ident)
        way, why = different[ident]
        calls, prose = way(case)
        if as_expected(case["expect"], reading):
            wrong.append(f"{ident}: stands in the table ({why}), but is read as the corpus expects")
        elif not as_expected({"calls": calls, "content": prose}, reading):
            wrong.append(f"{ident} ({why}): expected {(calls, prose)}, got {reading}")
    assert not wrong, "\n".join(wrong)
    assert met == different.keys(), f"not met: {different.keys() - met}"
