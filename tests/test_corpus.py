"""Every case of the corpus, in every mode that it has; the runner itself is `corpus_runner`."""

from typing import Any

import pytest

from tests import corpus_runner as runner
from tests.shared import ABSENT

CASES = runner.load()
KNOWN = runner.declared()
READINGS = [
    pytest.param(mode, case, id=f"{case['format']}-{case['id']}-{mode.replace(' ', '-')}")
    for case in CASES
    if case["format"] in KNOWN
    for mode, (_, has) in runner.MODES.items()
    if has(case)
]


@pytest.mark.parametrize(("mode", "case"), READINGS)
def test_case_is_read_as_expected(mode: str, case: dict[str, Any]) -> None:
    check, _ = runner.MODES[mode]
    wrong = check(case)
    assert not wrong, "\n".join([f"{case['note']}: {case['text']!r}", *wrong])


def test_every_case_has_its_format() -> None:
    assert not runner.pending(CASES)


def test_shared_corpus_is_here() -> None:
    if not runner.FOLDERS[0].is_dir():
        pytest.skip(ABSENT)
    assert len(READINGS) > 500


def test_case_ids_are_unique() -> None:
    ids = [case["id"] for case in CASES]
    assert len(ids) == len(set(ids))
