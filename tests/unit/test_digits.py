"""Integers beside the limit of digits that Python was given."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

from toolglot import Code, parse

TOOL = {"name": "count", "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
LEAST = 640  # that can be set


@pytest.fixture
def least_digits() -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(LEAST)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("least_digits")
@pytest.mark.parametrize(
    ("format", "template"),
    [
        ("hermes", '<tool_call>{{"name": "count", "arguments": {{"n": {}}}}}</tool_call>'),
        ("hermes", '<tool_call>{{"name": "count", "arguments": {{"n": "{}"}}}}</tool_call>'),
        ("lfm2", "<|tool_call_start|>[count(n={})]<|tool_call_end|>"),
        ("qwen3_xml", "<tool_call>\n<function=count>\n<parameter=n>\n{}\n</parameter>\n</function>\n</tool_call>"),
    ],
)
def test_an_integer_past_pythons_limit_is_no_integer(format: str, template: str) -> None:
    fits = parse(template.format("9" * LEAST), [TOOL], format=format)
    assert fits.calls[0].arguments == {"n": 10**LEAST - 1}
    assert json.dumps(fits.to_dict())
    longer = parse(template.format("9" * (LEAST + 1)), [TOOL], format=format)
    assert not any(isinstance(call.arguments["n"], int) for call in longer.calls)
    assert longer.problems[0].code in (Code.NUMBER_OUT_OF_RANGE, Code.UNREADABLE, Code.TYPE_MISMATCH)


@pytest.mark.usefixtures("least_digits")
def test_a_hexadecimal_number_past_pythons_limit_is_no_number() -> None:
    reply = "<|tool_call_start|>[count(n=0x{})]<|tool_call_end|>"
    assert parse(reply.format("f" * 530), [TOOL], format="lfm2").calls[0].arguments == {"n": 16**530 - 1}
    assert not parse(reply.format("f" * 540), [TOOL], format="lfm2").calls
