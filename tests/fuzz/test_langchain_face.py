"""The laws of the faces for `toolglot.langchain`: it never raises, calls offered tools only, streams what it says."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.faces import trial

pytest.importorskip("langchain_core", reason="comes with the group test-peers")

from tests.integration.langchain_scripted import added, chunks_of, model_of, view

TRIALS = 150


def test_no_law_is_broken_in_a_short_run() -> None:
    called = refused = 0
    for number in range(TRIALS):
        text, names, _ = trial(random.Random(number))
        tools = [{"type": "function", "function": {"name": n, "parameters": {"type": "object"}}} for n in names]
        model = model_of(text, size=1 + number % 7)
        whole = model.invoke("Hello", tools=tools)
        assert {call["name"] for call in whole.tool_calls} <= set(names), (number, text)
        assert all(call["id"] for call in (*whole.tool_calls, *whole.invalid_tool_calls)), (number, text)
        assert view(added(chunks_of(model, tools=tools))) == view(whole), (number, text)
        called += bool(whole.tool_calls)
        refused += bool(whole.invalid_tool_calls)
    assert called > TRIALS // 20 and refused > TRIALS // 20
