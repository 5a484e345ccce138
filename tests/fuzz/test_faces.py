"""A short run of the mutator's replies through the faces; `FACES` in `faces.py` is the table that another joins."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.faces import FACES, Face, check, trial

TRIALS = 700


@pytest.mark.parametrize("name", FACES)
def test_no_law_of_a_face_is_broken_in_a_short_run(name: str) -> None:
    called = 0
    for number in range(TRIALS):
        text, names, chunks = trial(random.Random(number))
        try:
            check(FACES[name], text, names, chunks)
        except Exception as error:
            raise AssertionError(f"trial {number} of {name}: {text!r}, offered {names}") from error
        called += bool(FACES[name].read(text, names)[1])
    assert called > TRIALS // 20, "hardly any reply had a call"


BROKEN = {
    "raises": Face(lambda text, names: ("", [(names[99], {})])),
    "loses prose": Face(lambda text, names: ("", [])),
    "invents prose": Face(lambda text, names: (text + "!", [])),
    "calls what nobody offered": Face(lambda text, names: (text, [("launch", {})])),
    "streams something else": Face(lambda text, names: (text, []), lambda chunks, names: "".join(chunks)[1:]),
    "loses the first words": Face(lambda text, names: (text[1:], [("ping", {})])),
    "loses the last words": Face(lambda text, names: (text[:-1], [("ping", {})])),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_face_that_breaks_a_law_is_told(name: str) -> None:
    text = "Zuerst eins. Dann <x>.\n\nZuletzt zwei."
    with pytest.raises((AssertionError, IndexError)):
        check(BROKEN[name], text, ["ping"], [text[:9], text[9:]])
