"""What tools hold, made into an example; a score in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

import rejoinder
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.integrations.judged import example_of, judged
from rejoinder.scorer import FACTS_NOT_CHECKED, OUT_OF_DOMAIN, Card, Scores
from rejoinder.scoring.catalog import load_scorer
from rejoinder.scoring.dialogue import of_dialogues
from rejoinder.scoring.domain import INSTEAD

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


GOOD = "yes , i have two dogs ."
GERMAN = "Ja, ich habe zwei Hunde und eine Katze."
CODE = "def pets():\n    return dogs[0].name == 'Rex'\n"
MARKDOWN = "Here is how:\n\n" + "1. **Open** the settings and look for the section about your devices there.\n" * 15


class Marking:
    """Scores a reply by its words; one with a `!` is out of its domain."""

    card = Card("marking", "words", "judge", frozenset(), (0, 9), "a test", domain="calm words", unread=("facts",))
    options: ClassVar[dict[str, Any]] = {}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return the number of words, with an interval."""
        values = np.array([float(len(example.response.split())) for example in examples])
        notes = {row: (OUT_OF_DOMAIN, "loud") for row, one in enumerate(examples) if "!" in one.response}
        return Scores(values, warnings=notes, low=values - 1, high=values + 1)


def test_a_score_in_words() -> None:
    scorer = load_scorer("rejoinder")
    example = Example(("do you have any pets ?",), GOOD)
    found = judged(example, scorer)
    assert found.value == rejoinder.score([example]).values[0]
    assert found.words.startswith(f"{found.value:.2f} [") and found.words.endswith(f". {FACTS_NOT_CHECKED}")
    assert found.beside == {"low": found.score.low, "high": found.score.high, "warnings": list(found.warnings)}
    assert found.untold == ""
    nothing = judged(Example((), "hi"), scorer)
    assert nothing.words == nothing.untold == "no score: no context and no reference"


def test_a_metric_declares_nothing_that_it_did_not_check() -> None:
    assert judged(Example((), GOOD), load_scorer("length")).words == "5.00"


def test_a_reply_out_of_the_domain_has_no_score_and_a_reason() -> None:
    found = judged(Example((), "a b c !"), Marking())
    assert found.value is None and not found.score.has_interval and found.why == ""
    assert found.untold == f"cannot tell: out of domain (loud): marking judges calm words. {INSTEAD}"
    assert found.words == f"no score: out of domain (loud): marking judges calm words. {INSTEAD}"
    assert found.beside == {"warnings": [OUT_OF_DOMAIN, "loud"]}


@pytest.mark.parametrize("text", [GERMAN, CODE, MARKDOWN], ids=["German", "code", "markdown"])
def test_the_shipped_judge_gives_no_score_out_of_its_domain(text: str) -> None:
    found = judged(Example(("do you have any pets ?",), text), load_scorer("rejoinder"))
    assert found.value is None and found.untold.startswith("cannot tell: out of domain (")
    assert "short English chat" in found.untold and INSTEAD in found.untold


def test_a_conversation_names_its_worst_turn() -> None:
    scorer = of_dialogues(Marking(), every=True)
    said = Example(("tea ?", "a b c", "what ?", "a", "so ?"), "a b !")
    found = judged(said, scorer)
    assert "; the worst turn, 4 (1.00): a" in found.words and found.words.endswith(FACTS_NOT_CHECKED)
    assert judged(Example(("tea ?", "a !", "what ?"), "b !"), scorer).untold.startswith("cannot tell: out of domain")
