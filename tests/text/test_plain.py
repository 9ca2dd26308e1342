"""Texts that came through different tokenizers are one text again."""

from __future__ import annotations

import timeit
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from every import ODD_TEXTS
from rejoinder.text.plain import plain

CHARACTERS = st.text(alphabet="aAsStTnNmM'’`´\"“ \t?!.,()[]é中🙂", max_size=40)
TEXTS = CHARACTERS | st.sampled_from(ODD_TEXTS)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Do n't you ?", "don't you?"),
        ("do n ' t you  ?", "don't you?"),
        ("It 's fine , I 'll go !", "it's fine, i'll go!"),
        ("It ’ s here", "it's here"),
        ("we ' re ( all ) [ here ] ;", "we're (all) [here];"),
        ("<s> hello there . </s>", "hello there."),
        ("`` so ''", '" so "'),
        ("A\tfew\n\nlines", "a few lines"),
        ("he said ' see you '", "he said ' see you '"),
        ("", ""),
    ],
)
def test_what_tokenizers_put_apart_is_joined(written: str, meant: str) -> None:
    assert plain(written) == meant


@given(TEXTS)
@example("n 't")
@example("' s's")
def test_what_is_plain_stays(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@given(CHARACTERS)
def test_no_letter_is_lost(text: str) -> None:
    assert [c for c in plain(text) if c.isalpha()] == [c for c in text.lower() if c.isalpha()]


def test_time_grows_with_the_length_alone() -> None:
    for piece in (" ", "' ", "n ' t ", "< ", "( "):
        short, long = (min(timeit.repeat(partial(plain, piece * n), number=1, repeat=3)) for n in (5_000, 50_000))
        assert long < 40 * short + 0.01, piece
