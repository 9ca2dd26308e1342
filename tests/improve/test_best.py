"""Several responders and a scorer as one responder."""

from __future__ import annotations

import pytest

from rejoinder import answer, load_scorer, request
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.external.elsewhere import of_function
from rejoinder.improve.best import BestOf
from rejoinder.responders.plain import FunctionResponder
from rejoinder.scoring.selftalk import self_talk


def letters(examples: list[Example]) -> list[float]:
    return [float(len(one.response)) for one in examples]


def parrot(context: tuple[str, ...]) -> str:
    return context[-1]


def best() -> BestOf:
    responders = {
        "parrot": FunctionResponder(parrot, "parrot"),
        "short": FunctionResponder(lambda _: "well .", "short"),
    }
    return BestOf(responders, of_function(letters))


def test_each_reply_is_the_best_of_theirs_whatever_it_is_asked_together_with() -> None:
    contexts = [("hi",), ("how are you ?",), ("ho",)]
    system = best()
    found = list(answer(system, [request(context, 0) for context in contexts]))
    assert [one.replies[0].text for one in found] == ["well .", "how are you ?", "well ."]
    assert [one.replies[0].score for one in found] == [6.0, 13.0, 6.0]
    assert system.won == {"short": 2, "parrot": 1}
    alone = [next(answer(best(), [request(context, 0)])) for context in contexts]
    assert alone == found


def test_as_many_as_are_asked_for_the_best_first() -> None:
    (found,) = answer(best(), [request(("how are you ?",), 0)], count=5)
    assert [one.text for one in found.replies] == ["how are you ?", "well ."]


def test_it_talks_with_itself() -> None:
    (talk,) = self_talk(best(), [("hi",)], turns=3)
    assert talk.replies == ("well .",) * 3


def test_where_nobody_says_anything_it_says_why() -> None:
    silent = BestOf({"none": FunctionResponder(lambda _: None, "none")}, of_function(letters))
    (found,) = answer(silent, [request(("hi",), 0)])
    assert not found.replies and found.reason
    unscored = BestOf(
        {"short": FunctionResponder(lambda _: "x", "x")}, of_function(lambda given: [None] * len(given), "f")
    )
    (found,) = answer(unscored, [request(("hi",), 0)])
    assert found.reason == "no candidate has a score (f gave None)"


def test_its_signature_holds_everyone() -> None:
    options = best().options
    assert options["scorer"].startswith("scorer:letters|") and len(options["responders"]) == 2


def test_what_cannot_choose_is_refused() -> None:
    with pytest.raises(UsageError, match="no responder was named"):
        BestOf({}, of_function(letters))
    with pytest.raises(UsageError, match="does not say whether higher is better"):
        BestOf(best().responders, load_scorer("length"))
