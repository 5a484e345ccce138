"""What the benchmarks measure, without a clock: every reply they time is read rightly, whole and streamed."""

import pytest

from benchmarks import page, replies
from benchmarks.compare import Comparison
from benchmarks.replies import SIX, SIZES, TOOLS
from benchmarks.rows import Row
from benchmarks.whole import short_replies
from toolglot import Parser, Text, formats, get_format

EVERY = [f.id for f in formats()]
SHAPES: tuple[replies.Shape, ...] = ("text", "rows")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("format", EVERY)
def test_every_reply_is_read_rightly(format: str, shape: replies.Shape) -> None:
    for size in ("200 B", "2 KB"):
        given = replies.reply(format, shape, SIZES[size])
        assert replies.read_whole(given), size
        assert replies.read_streamed(given), size


@pytest.mark.parametrize("format", SIX)
def test_a_longer_reply_of_the_compared_formats_is_read_rightly(format: str) -> None:
    given = replies.reply(format, "text", SIZES["64 KB"])
    assert replies.read_whole(given)
    assert replies.read_streamed(given, size=64)
    assert replies.read_whole(given, "auto")


@pytest.mark.parametrize("format", SIX)
def test_replies_are_of_the_size_that_they_are_said_to_be(format: str) -> None:
    for shape in SHAPES:
        for size in ("2 KB", "64 KB"):
            assert len(replies.reply(format, shape, SIZES[size]).text.encode()) == pytest.approx(SIZES[size], abs=80)


@pytest.mark.parametrize("format", EVERY)
def test_short_replies_differ_and_are_read_rightly(format: str) -> None:
    given = short_replies(format, 20)
    assert len({g.text for g in given}) == 20
    assert all(map(replies.read_whole, given))


@pytest.mark.parametrize("format", [*EVERY, "auto"])
def test_prose_holds_no_call(format: str) -> None:
    text = replies.prose(2_000)
    parser = Parser(TOOLS, format=format)
    events = [e for delta in replies.cut(text) for e in parser.feed(delta)] + parser.finish()
    assert "".join(e.text for e in events if isinstance(e, Text)) == text


def test_deltas_join_to_the_reply_and_keep_its_markers_whole() -> None:
    for format in SIX:
        text, markers = replies.reply(format, "text", SIZES["2 KB"]).text, replies.MARKERS[format]
        for pieces in (replies.cut(text), replies.cut(text, markers)):
            assert "".join(pieces) == text
            assert all(piece in markers or 0 < len(piece) <= replies.DELTA for piece in pieces)
        assert all(marker in replies.cut(text, markers) for marker in markers)


def test_every_kind_of_format_is_measured() -> None:
    assert {replies.kind(f) for f in EVERY} == set(replies.KINDS)
    assert {replies.kind(f) for f in SIX} == set(replies.KINDS)
    assert all(get_format(f).id == f for f in SIX)


def test_the_worst_value_decides_a_row() -> None:
    row = Row("figure", 2)
    row.add("good", 1)
    row.add("bad", 3)
    assert row.cells() == ["figure", "2", "3 (bad)", "2", "not reached by 1 of 2"]
    row.wrong.append("ugly")
    assert "wrong" in row.verdict
    assert Row.from_dict(row.to_dict()) == row


def test_the_page_tells_goals_peers_and_what_could_not_be_measured() -> None:
    row = Row("whole reply", 2.5)
    row.add("hermes", 1.2)
    good = Comparison("vLLM", "hermes", {"200 B": 3.5, "2 KB": 120.4}, ["2 KB"], 86.2, 1.0, False, [[100, 900, 20]])
    slow = Comparison("SGLang", "hermes", {"200 B": 2.0}, [], 400.0, 0.25, error="no answer within 240 s")
    text = page.written(
        [row, *page.peer_rows([good, slow])], [good, slow], {"MAX": "not there"}, {"formats": 78, "spike": 3}
    )
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    assert ["whole reply", "2.5", "1.2 (hermes)", "1.2", "reached"] in cells
    assert ["vLLM", "hermes", "3.5", "✗ 120", "–", "–"] in cells
    assert ["vLLM", "hermes", "86", "100%", "right"] in cells
    assert ["SGLang", "hermes", "400", "25%", "–"] in cells
    assert "SGLang, hermes: no answer within 240 s" in text
    assert "was not measured: not there" in text
    assert "0.5 (SGLang, hermes, 200 B)" in text  # a wrong answer is nobody's goal
