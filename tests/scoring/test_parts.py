"""Scoring in parts by somebody else: what comes back is what one process says of the whole."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

import rejoinder
from conftest import Run, refused
from rejoinder.errors import DataError, MissingExtra, NothingScored, UsageError
from rejoinder.example import Example
from rejoinder.scorer import Scores, run
from rejoinder.scoring.catalog import SCORERS, load_scorer
from rejoinder.scoring.parts import Asked, Judged, Scoring, asked_of, elsewhere, here, in_parts, joined, judge, scored
from rejoinder.scoring.scoring import Tally, score_stream

SAMPLE = list(rejoinder.read("@dstc7"))[:60]


class Pickled:
    """Workers in this process: all that goes to them and comes from them goes through bytes."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def scoring(self, asked: Asked, expected: Mapping[str, str]) -> Scoring:
        self.asked.append(asked)

        def score(parts: Iterable[list[Example]]) -> Iterator[Judged]:
            scorers = pickle.loads(pickle.dumps(asked)).load()
            for part in parts:
                found = judge(scorers, pickle.loads(pickle.dumps(part)), explain=asked.explain)
                yield Judged(part, *pickle.loads(pickle.dumps((found.scores, found.told))))

        return score


@pytest.mark.parametrize("size", [1, 7, 60, 100])
def test_parts_are_the_whole(size: int) -> None:
    read = list(in_parts(iter(SAMPLE), size))
    assert [one for part in read for one in part] == SAMPLE
    assert {len(part) for part in read[:-1]} <= {size}


@pytest.mark.parametrize("name", [name for name in SCORERS if name != "meteor"])
def test_scores_of_parts_are_those_of_the_whole_bit_for_bit(name: str) -> None:
    scorer = load_scorer(name)
    given = [*SAMPLE, Example((), ""), Example(("hi",), "hello"), *SAMPLE[:3]]
    whole = run(scorer, given)
    parts = [run(scorer, part) for part in in_parts(given, 9)]
    found = joined(parts, scorer)
    for kind in ("values", "statistics", "low", "high"):
        one, other = getattr(found, kind), getattr(whole, kind)
        assert (one is None and other is None) or np.array_equal(one, other, equal_nan=True), kind
    for kind in ("reasons", "warnings", "details", "signature", "combine"):
        assert getattr(found, kind) == getattr(whole, kind), kind
    assert found.corpus() == whole.corpus()


def test_a_part_without_intervals_leaves_the_others_theirs() -> None:
    def of(values: list[float], low: list[float] | None) -> Scores:
        ends = None if low is None else np.array(low)
        return replace(run(scorer, SAMPLE[: len(values)]), values=np.array(values), low=ends, high=ends)

    scorer = load_scorer("length")
    found = joined([of([1, 2], None), of([3], [2.5])], scorer)
    assert found.low is not None and np.array_equal(found.low, [np.nan, np.nan, 2.5], equal_nan=True)
    assert joined([], scorer).values.shape == (0,)


@pytest.mark.parametrize("level", ["turn", "dialogue"])
def test_records_from_elsewhere_are_the_same(level: str) -> None:
    asked = Asked(("rejoinder", "bleu-2"), scale=(0, 10), level="turn" if level == "turn" else "dialogue")
    asked = replace(asked, explain=level == "turn")
    scorers = asked.load()

    def records(scoring: Scoring | None) -> list[str]:
        tallies = {name: Tally(one) for name, one in scorers.items()}
        found = score_stream(SAMPLE, tallies, explain=asked.explain, chunk=25, scoring=scoring)
        lines = [json.dumps(one) for one in found]
        return [*lines, *(repr((one.scored, one.total, one.corpus)) for one in tallies.values())]

    assert records(elsewhere(Pickled(), asked, scorers)) == records(None)


def test_a_study_with_workers_is_the_same() -> None:
    workers, moved = Pickled(), list[int]()
    here_done = rejoinder.full_study(SAMPLE, ["length", "bleu-2"], resamples=100)
    there = rejoinder.full_study(SAMPLE, ["length", "bleu-2"], resamples=100, workers=workers, advance=moved.append)
    assert there.to_dict() == here_done.to_dict()
    assert workers.asked == [Asked(("length", "bleu-2"))] and sum(moved) == 2 * len(SAMPLE)


def test_a_study_of_pairs_with_workers_is_the_same() -> None:
    given = [
        {"id": str(n), "context": ["hi"], "responses": [one.response, "no"], "preferred": n % 2}
        for n, one in enumerate(SAMPLE[:20])
    ]
    here_done = rejoinder.study_pairs(given, ["length", "bleu-2", "rejoinder"], resamples=100)
    there = rejoinder.study_pairs(given, ["length", "bleu-2", "rejoinder"], resamples=100, workers=Pickled())
    assert repr(there) == repr(here_done)


def test_conversations_are_scored_as_such_elsewhere_too() -> None:
    whole = [replace(one, extra={**one.extra, "level": "dialogue"}) for one in SAMPLE]
    asked = asked_of(["length"], None, whole)
    assert asked.level == "rated" and asked_of(["length"], None, SAMPLE).level == "turn"
    scorers = asked.load()
    found = scored(scorers, whole, elsewhere(Pickled(), asked, scorers))["length"]
    assert found.details and np.array_equal(found.values, scored(scorers, whole)["length"].values)


def test_what_has_no_name_stays_here() -> None:
    with pytest.raises(UsageError, match="a function, and other processes load scorers by name. Name it"):
        rejoinder.study(SAMPLE, [lambda given: [1.0] * len(given)], workers=Pickled())


def test_an_endpoint_is_asked_from_one_process() -> None:
    asked = Asked(("openai:http://127.0.0.1:9/v1#m",))
    with pytest.raises(UsageError, match="an endpoint is asked from one process, which waits for it. Leave --ray out"):
        elsewhere(Pickled(), asked, {})


def test_here_scores_part_by_part() -> None:
    scorer = load_scorer("length")
    found = list(here({"length": scorer}, explain=False)(in_parts(SAMPLE, 50)))
    assert [len(one.examples) for one in found] == [50, 10] and found[0].told == {}


@pytest.mark.parametrize(
    "error",
    [
        DataError("is null", "Write text", where="f:3", field="id"),
        MissingExtra("polars", "parquet", "Reading Parquet"),
        NothingScored("adem: none of 3 lines has a score"),
    ],
)
def test_an_error_comes_from_elsewhere_as_it_was(error: Exception) -> None:
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error) and str(found) == str(error) and found.__dict__ == error.__dict__


def test_without_ray_one_line_says_how_to_get_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    expected = "Scoring on a cluster needs ray. Install it: pip install 'rejoinder[ray]'"
    refused(run("score", "@dstc7", "-s", "length", "--ray", "local"), 4, expected)
    refused(run("study", "@dstc7", "-s", "length", "--ray", "local"), 4, expected)
