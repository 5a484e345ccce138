"""What `auto` makes of raw replies of real small models, most of them drifted."""

import pytest

from tests import reply_runner as runner
from tests.corpus_runner import unlike
from tests.shared import ABSENT

REPLIES = runner.load()

pytestmark = pytest.mark.skipif(not REPLIES, reason=ABSENT)

Rows = list[tuple[runner.Reply, str, str]]


@pytest.fixture(scope="module")
def rows() -> Rows:
    return runner.judged(REPLIES)


def told(rows: Rows, kind: str, said: str) -> list[str]:
    return [line for reply, verdict, line in rows if reply["class"] == kind and verdict == said]


def test_rescued_and_made_up_calls_are_counted(rows: Rows, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n" + runner.table(rows))
    assert len(rows) > 200


def test_well_formed_and_nearly_well_formed_replies_are_read_as_meant(rows: Rows) -> None:
    wrong = [line for reply, verdict, line in rows if runner.must_be_right(reply) and verdict != "right"]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("kind", "most"), [("hallucinated", 0), ("cut", 0), ("no-call", 2)])
def test_no_call_is_made_up(rows: Rows, kind: str, most: int) -> None:
    wrong = told(rows, kind, "made up")
    assert len(wrong) <= most, "\n".join(wrong)


@pytest.mark.parametrize("size", [1, 4])
def test_streamed_reply_is_the_whole_reply(size: int) -> None:
    wrong = {reply["id"]: unlike(runner.read(reply), runner.stream(reply, size)) for reply in REPLIES}
    assert not {name: lines for name, lines in wrong.items() if lines}
