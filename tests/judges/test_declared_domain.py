"""What a judge says of its domain and of what it does not read, and the one warning that stands on its results."""

from __future__ import annotations

import pytest

from rejoinder.assets import JUDGE
from rejoinder.data.folders import read_folder
from rejoinder.judges.regression.judge import from_parts
from rejoinder.judges.scales import rescale
from rejoinder.scorer import FACTS_NOT_CHECKED
from rejoinder.scoring.catalog import cards, load_scorer
from rejoinder.scoring.explained import facts_warning

CHAT = "short English chat"


def test_the_bundled_judge_declares_its_domain_and_what_it_does_not_read() -> None:
    judge = load_scorer("rejoinder")
    (rescaled,) = rescale({"rejoinder": judge}, (1, 7)).values()
    for card in (cards()["rejoinder"], judge.card, rescaled.card):
        assert card.domain == CHAT
        assert set(card.unread) == {"facts", "sources", "safety"}


@pytest.mark.parametrize("name", [name for name in cards() if name != "rejoinder"] + ["column:gpt", "command:cat"])
def test_other_scorers_declare_no_domain(name: str) -> None:
    card = cards()[name] if name in cards() else load_scorer(name).card
    assert not card.domain
    assert not card.unread


def test_the_warning_is_given_once_and_names_judges_beside_other_scorers() -> None:
    judge, length = load_scorer("rejoinder"), load_scorer("length")
    assert facts_warning({"length": length}) == ""
    assert facts_warning({}) == ""
    assert facts_warning({"rejoinder": judge}) == FACTS_NOT_CHECKED
    assert facts_warning({"a": judge, "b": judge}) == FACTS_NOT_CHECKED
    mixed = facts_warning({"length": length, "a": judge, "b": judge})
    assert mixed.startswith("a, b: ")
    assert mixed.count(FACTS_NOT_CHECKED) == 1


def test_a_judge_in_a_folder_is_for_replies_like_those_it_was_fitted_on() -> None:
    card = from_parts(read_folder(JUDGE)).card
    assert card.domain not in ("", CHAT)
    assert "facts" in card.unread
