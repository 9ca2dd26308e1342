"""What tools hold, made into an example; a score in words."""

from __future__ import annotations

from typing import Any

import pytest

import rejoinder
from rejoinder.catalogue import load_scorer
from rejoinder.errors import DataError
from rejoinder.integrations.judged import example_of, judged
from rejoinder.records import Example
from rejoinder.streams.dialogue import of_dialogues

CHAT = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("asked", "context"),
    [
        ("hi", ("hi",)),
        ("User: a\nBot: b\nUser: c", ("a", "b", "c")),
        (["a", "b"], ("a", "b")),
        (CHAT, ("hi",)),
        ({"messages": CHAT, "temperature": 0.1}, ("hi",)),
        ({"question": "hi", "k": 3}, ("hi",)),
        ({"whatever": "hi"}, ("hi",)),
        (None, ()),
    ],
)
def test_what_was_asked_has_many_forms(asked: Any, context: tuple[str, ...]) -> None:
    found = example_of(asked, "ho")
    assert (found.context, found.response, found.references) == (context, "ho", ())


@pytest.mark.parametrize("replied", ["ho", {"role": "assistant", "content": "ho"}, {"answer": "ho", "sources": [1]}])
def test_what_was_replied_has_many_forms(replied: Any) -> None:
    assert example_of({"question": "hi"}, replied).response == "ho"


def test_references_are_one_or_several() -> None:
    assert example_of("hi", "ho", "he").references == ("he",)
    assert example_of("hi", "ho", ["he", "hu"]).references == ("he", "hu")


def test_what_is_no_reply_is_refused() -> None:
    with pytest.raises(DataError, match="given:item 1"):
        example_of("hi", 3)


def test_a_score_in_words() -> None:
    scorer = load_scorer("rejoinder")
    example = Example(
        ("Give three tips for staying healthy.",), "1. Sleep enough. 2. Eat vegetables. 3. Exercise regularly."
    )
    found = judged(example, scorer)
    assert found.value == rejoinder.score([example]).values[0]
    assert found.words.startswith(f"{found.value:.2f} [") and found.words.endswith(
        "; noted: out of domain, unlike what it was fitted on"
    )
    assert found.beside == {"low": found.score.low, "high": found.score.high, "notes": list(found.notes)}
    assert found.untold == ""
    nothing = judged(Example((), "hi"), scorer)
    assert nothing.words == nothing.untold == "no score: no context and no reference"
    code = judged(Example(("do you have any pets ?",), "def pets():\n    return dogs[0].name == 'Rex'\n"), scorer)
    assert code.untold == f"cannot tell: the scorer cannot judge what is code; {code.words}"


def test_a_conversation_names_its_worst_turn() -> None:
    scorer = of_dialogues(load_scorer("rejoinder"), every=True)
    said = Example(("do you like tea ?", "of of of of", "what ?"), "i said that i like green tea .")
    assert "; the worst turn, 2 (" in judged(said, scorer).words and "): of of of of" in judged(said, scorer).words
