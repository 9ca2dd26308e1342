"""Which dialogues are for validation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.data.dialogues import Dialogue

pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("lightning", reason="needs the extra train")

from rejoinder.pretraining.corpora import is_held_out

words = st.lists(st.text("abcxyzéß", min_size=1, max_size=4), min_size=1, max_size=4)


@given(st.tuples(words, words), st.lists(words, min_size=1), st.lists(words, min_size=1), st.floats(0.01, 0.99))
def test_a_dialogue_falls_where_its_opening_does(
    opening: tuple[list[str], list[str]], one: list[list[str]], other: list[list[str]], share: float
) -> None:
    plain = [" ".join(turn) for turn in (*opening, *one)]
    loud = [f" {'  '.join(turn)}\n".upper() for turn in (*opening, *other)]
    side = is_held_out(Dialogue(tuple(plain), "here"), share)
    assert is_held_out(Dialogue(tuple(loud), "there"), share) == side
    first, second, third = plain[:3]
    assert is_held_out(Dialogue((first, second), ""), share) == is_held_out(Dialogue((first, third), ""), share)


def test_two_turns_decide_of_three_and_one_of_two() -> None:
    turns = [str(number) for number in range(1000)]
    by_first = {is_held_out(Dialogue(("hi", turn), ""), 0.5) for turn in turns}
    by_second = [is_held_out(Dialogue(("hi", turn, "bye"), ""), 0.1) for turn in turns]
    assert len(by_first) == 1
    assert 60 < sum(by_second) < 140, "about the share that was asked for"
