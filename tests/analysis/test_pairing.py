"""Which replies of two systems belong together, and what it costs to be wrong about it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rejoinder.analysis.compare import compare
from rejoinder.analysis.pairing import pairing
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example


def side(name: str, count: int = 100, *, other: int = 0, ids: bool = True, **keys: Any) -> list[Example]:
    """Lines with ids and contexts of their own; the first `other` contexts differ from file to file."""
    return [
        Example(
            (f"turn {n} {name if n < other else ''}",),
            "x",
            id=f"{n}" if ids else "",
            where=f"{name}.jsonl:{n + 1}",
            **keys,
        )
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("a", "b", "by", "pairs"),
    [
        (side("a"), side("b"), "id", 100),
        (side("a"), side("b", 79), "id", 79),
        (side("a"), side("b", other=20), "id", 100),
        (side("a"), side("b", other=21), "none", 0),
        (side("a", ids=False), side("b", other=20, ids=False), "context", 80),
        (side("a", ids=False), side("b", other=21, ids=False), "none", 0),
        (side("a"), side("b", other=100), "none", 0),
        ([replace(one, context=()) for one in side("a")], [replace(one, context=()) for one in side("b")], "none", 0),
        (
            [replace(one, context=(), references=(one.id,)) for one in side("a")],
            [replace(one, context=(), references=(one.id,)) for one in side("b")],
            "id",
            100,
        ),
    ],
)
def test_what_is_paired_by_default(a: list[Example], b: list[Example], by: str, pairs: int) -> None:
    found = pairing(a, b)
    assert (found.by, len(found.a)) == (by, pairs) and bool(found.why) is (by == "none")
    assert (found.only_a, found.only_b) == (len(a) - pairs, len(b) - pairs)


def test_questions_that_many_users_ask_are_no_test_set() -> None:
    rng = np.random.default_rng(0)
    a, b = ([Example((f"question {n}",), "x") for n in np.minimum(rng.geometric(0.25, 300), 12)] for _ in "ab")
    assert "more lines in one file" in pairing(a, b).why
    assert len(pairing(a, b, "context").a) == 12
    several = [Example((f"question {n}",), "x") for n in range(50) for _ in range(2)]
    assert [len(places) for places in pairing(several, several).a] == [2] * 50


def test_conversations_that_begin_with_one_greeting_are_not_one_pair() -> None:
    for extra in ({}, {"level": "dialogue"}):
        lines = [Example(("Hi!",), f"{n}", extra=extra) for n in range(20)]
        assert pairing(lines, lines).by == "none"


def test_you_may_decide() -> None:
    a, b = side("a"), side("b", other=100)
    by_id, by_none = pairing(a, b, "id"), pairing(a, side("b"), "none")
    assert (len(by_id.a), by_id.differing) == (100, 100)
    assert (by_none.by, by_none.why) == ("none", "as requested")
    with pytest.raises(DataError, match=r"^a.jsonl, b.jsonl: the files share no context"):
        pairing(a, b, "context")
    with pytest.raises(UsageError, match="^pair_by is 'ids', expected one of id, context, none$"):
        pairing(a, b, "ids")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="^B: no line is left"):
        pairing(a, [])


@pytest.mark.parametrize("by", ["id", "context", "none", None])
def test_an_id_that_occurs_twice_is_an_error_with_both_places(by: Any) -> None:
    twice = [*side("a"), replace(side("a")[4], where="a.jsonl:101")]
    with pytest.raises(
        DataError, match=r"^a.jsonl:101: .*'4'.* already given at a.jsonl:5.*--map dialogue_id=id"
    ) as no:
        pairing(side("b"), twice, by)
    assert no.value.exit_code == 3
    named = [replace(one, system=system) for one in side("a", 10) for system in ("x", "y")]
    assert [len(places) for places in pairing(named, side("b", 10)).a] == [2] * 10, "two systems may share an id"


LINES = [
    Example((f"Où est la gare, « {n} » ?", "Là-bas.", f"C'est loin? ({n})"), "Après le café.", id=str(n))
    for n in range(24)
]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: f" {text}\r\n",
        lambda text: text.replace(" ", "\xa0"),
        lambda text: text.replace("'", "&#39;"),
        lambda text: f"<p>{text}</p>",
        lambda text: f"{text}</s>",
    ],
    ids=["accents", "blanks", "no-break spaces", "entities", "paragraphs", "end tokens"],
)
def test_contexts_are_compared_as_a_reader_sees_them(change: Callable[[str], str]) -> None:
    other = [replace(one, context=tuple(map(change, one.context))) for one in LINES]
    assert (pairing(LINES, other).by, pairing(LINES, other).differing) == ("id", 0)
    a, b = ([replace(one, id="") for one in lines] for lines in (LINES, other))
    assert pairing(a, b).by == "context"


def log(rng: np.random.Generator, name: str) -> list[Example]:
    """A log that numbers its lines from 1: 30 conversations of 5 replies, whose scores depend on the user."""
    lines: list[Example] = []
    for talk in range(30):
        mood = rng.normal(scale=2)
        for turn in range(5):
            context = (f"user {talk} of {name} asks {turn}",)
            extra = {"dialogue_id": f"{name}{talk}"}
            lines.append(Example(context, str(mood + rng.normal()), id=str(len(lines) + 1), extra=extra))
    return lines


def number(examples: Sequence[Example]) -> list[float]:
    return [float(one.response) for one in examples]


def test_logs_that_number_their_lines_are_not_paired() -> None:
    """There is no difference: pairs by number claim one in about 35 % of the draws, the default in about 5 %."""
    rng, alarms = np.random.default_rng(0), {"id": 0, "none": 0}
    for _ in range(40):
        a, b = log(rng, "a"), log(rng, "b")
        first, second = ([replace(one, extra={}) for one in lines] for lines in (a, b))
        by_id = compare(first, second, [number], pair_by="id", resamples=200)
        for results in (by_id, compare(a, b, [number], resamples=200)):
            alarms[results.about.options["pair_by"]] += results.one(statistic="difference").excludes(0)
    assert alarms["id"] >= 9 and alarms["none"] <= 5
