"""Texts as a reader sees them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.auditing.surface import looking_alike, tagged_speaker, with_unseen
from rejoinder.text.seen import seen

SENTENCE = "Peace at last, happy Tom! ACE BOX, café naïve?"


@pytest.mark.parametrize("change", [looking_alike, with_unseen, tagged_speaker])
def test_what_a_reader_does_not_see_is_gone(change: Callable[[str], str | None]) -> None:
    changed = change(SENTENCE) or ""
    assert changed != SENTENCE and seen(changed) == SENTENCE


@pytest.mark.parametrize(
    "text", ["я не знаю, что сказать", "δεν ξέρω", "time: 5 o'clock", "a", "b:", "hello\nyou", "日本語です", "über"]
)
def test_what_means_something_stays(text: str) -> None:
    assert seen(text) == text


@given(st.text(max_size=60))
def test_nothing_unseen_is_left_of_any_text(text: str) -> None:
    once = seen(text)
    assert len(once) <= len(unicodedata.normalize("NFKC", text))
    assert all(sign.isspace() or unicodedata.category(sign) not in {"Cf", "Cc"} for sign in once)


def test_accents_apart_or_together_are_the_same() -> None:
    assert seen(unicodedata.normalize("NFD", SENTENCE)) == SENTENCE == seen(SENTENCE)
