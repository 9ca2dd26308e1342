"""Texts that came through different tokenizers are one text again."""

from __future__ import annotations

import time
import timeit
from functools import partial

import pytest
from hypothesis import given
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
def test_how_a_text_is_spaced_and_cased_does_not_matter(text: str) -> None:
    assert plain(f" {text.replace(' ', '  ')}\n") == plain(text) == plain(text.lower())


@given(st.lists(st.sampled_from("we don't know it's late , i'll go ( or not ) !".split()), max_size=12))  # noqa: SIM905 - words
def test_what_is_plain_stays(words: list[str]) -> None:
    assert plain(plain(" ".join(words))) == plain(" ".join(words))


@given(CHARACTERS)
def test_no_letter_is_lost(text: str) -> None:
    assert [c for c in plain(text) if c.isalpha()] == [c for c in text.lower() if c.isalpha()]


@pytest.mark.parametrize("piece", [" ", "' ", "n ' t ", "< ", "( ", "\t"])
def test_time_grows_with_the_length_alone(piece: str) -> None:
    taken = timeit.timeit(partial(plain, piece * 20_000), timer=time.process_time, number=1)
    assert taken < 1  # where it grew with the square it would be half a minute
