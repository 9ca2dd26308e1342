"""A new kind of judge is one file and one entry of the table of kinds: nothing else here knows the one that follows."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run, refused
from rejoinder.analysis.leave_one_out import LEFT_OUT, SAME_SET, left_out_scores
from rejoinder.data.folders import Parts, write_folder
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.judges import KINDS, LEARNERS, load_learner
from rejoinder.judges.protocol import LearnerOptions, Rows
from rejoinder.judges.train import train_judge
from rejoinder.registry import Entry
from rejoinder.scorer import Advance, Card, FloatArray, Scores
from rejoinder.scoring.catalog import load_scorer

# The file


@dataclass(frozen=True)
class Stump:
    """Says one rating of short replies and another of long ones, and how far people's ratings of each spread.

    Attributes:
        longest: words of the longest reply that is short.
        ratings: [2] of short ones and long ones.
        spread: [2] of the ratings around these.
        scale: the lowest and the highest rating of its answers.
        training: how it was fitted.
    """

    longest: float
    ratings: FloatArray
    spread: FloatArray
    scale: tuple[float, float]
    training: Mapping[str, Any]

    @property
    def card(self) -> Card:
        return Card("stump", "a rating by length", "judge", frozenset(), (None, None), "a test")

    @property
    def options(self) -> Mapping[str, Any]:
        return {"model": self.parts.digest}

    @property
    def trained_on(self) -> frozenset[str]:
        return frozenset(self.training["datasets"])

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        side = (counted(examples) > self.longest).astype(int)
        stretch = (self.scale[1] - self.scale[0]) / 4
        values, spread = self.scale[0] + stretch * (self.ratings[side] - 1), stretch * self.spread[side]
        return Scores(values, low=values - spread, high=values + spread)

    @property
    def parts(self) -> Parts:
        config = {"kind": "stump", "scale": list(self.scale), "training": dict(self.training)}
        tensors = {"longest": np.array([self.longest]), "ratings": self.ratings, "spread": self.spread}
        return Parts(config, tensors)

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        write_folder(folder, self.parts, "# Stump\n", force=force)


@dataclass(frozen=True)
class FittedStump:
    """A stump, but for scale and record."""

    longest: float
    ratings: FloatArray
    spread: FloatArray

    @property
    def record(self) -> Mapping[str, Any]:
        return {"longest": self.longest}

    @property
    def account(self) -> Sequence[str]:
        return [f"fitted with one cut after {self.longest:g} words"]

    def predict(self, encoded: FloatArray, rows: Rows) -> FloatArray:
        found: FloatArray = self.ratings[(encoded[rows] > self.longest).astype(int)]
        return found

    def judge(self, training: Mapping[str, Any], scale: tuple[float, float]) -> Stump:
        return Stump(self.longest, self.ratings, self.spread, scale, training)


@dataclass(frozen=True)
class StumpLearner:
    """Tries every cut and keeps the one with the least error on validation."""

    name: str = "stump"
    needs: tuple[()] = ()
    steps: int = 1

    @property
    def options(self) -> Mapping[str, Any]:
        return {"learner": "stump"}

    def encode(self, examples: Sequence[Example]) -> FloatArray:
        return counted(examples)

    def unreadable(self, encoded: FloatArray) -> list[str]:
        return ["" if count else "no word in the response" for count in encoded]

    def seconds(self, lines: float) -> float:
        return 1e-6 * lines

    def fit(
        self,
        encoded: FloatArray,
        ratings: FloatArray,
        train: Rows,
        validation: Rows,
        rng: np.random.Generator,
        advance: Advance,
    ) -> FittedStump:
        tried = [self._cut(encoded[train], ratings[train], cut) for cut in np.unique(encoded[train])[:-1].tolist()]
        errors = [np.square(one.predict(encoded, validation) - ratings[validation]).mean() for one in tried]
        advance(1)
        return tried[int(np.argmin(errors))]

    @staticmethod
    def _cut(words: FloatArray, ratings: FloatArray, cut: float) -> FittedStump:
        parts = [ratings[words <= cut], ratings[words > cut]]
        return FittedStump(cut, np.array([part.mean() for part in parts]), np.array([part.std() for part in parts]))


def counted(examples: Sequence[Example]) -> FloatArray:
    """[N] words of each response."""
    return np.array([len(example.response.split()) for example in examples], dtype=np.float64)


def learner(name: str, choices: LearnerOptions) -> StumpLearner:
    choices.only(name)
    return StumpLearner()


def from_parts(parts: Parts) -> Stump:
    scale, tensors = parts.config["scale"], parts.tensors
    ends = (float(scale[0]), float(scale[1]))
    return Stump(float(tensors["longest"][0]), tensors["ratings"], tensors["spread"], ends, parts.config["training"])


# The line


@pytest.fixture(autouse=True)
def one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "stump", Entry("stump", "a test", from_parts))
    monkeypatch.setitem(LEARNERS, "stump", Entry("stump", "a test", learner, "rejoinder train stump", "ratings"))


# What comes of it


def rated(dataset: str = "", count: int = 200, seed: int = 0) -> list[Example]:
    """Replies of one to eight words, those of over four rated high; each has a context of its own."""
    source = random.Random(f"{dataset}{seed}")
    made = []
    for number in range(count):
        words = source.randint(1, 8)
        rating = min(5.0, max(1.0, source.gauss(4.2 if words > 4 else 1.9, 0.4)))
        context = (" ".join(source.choices("abcdefgh", k=12)),)
        scales, quality = {"overall": (1.0, 5.0)}, {"overall": rating}
        response = " ".join(source.choices(["music", "film", "book"], k=words))
        made.append(
            Example(context, response, id=f"{dataset}{number}", dataset=dataset or None, quality=quality, scales=scales)
        )
    return made


def test_it_is_trained_tried_saved_and_scores(run: Run, tmp_path: Path) -> None:
    file, folder = tmp_path / "rated.jsonl", tmp_path / "judge"
    rejoinder.write(rated(), file)
    done = run("train", "stump", file, "-o", folder, "--json")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    assert printed["scorers"]["stump"]["training"]["longest"] == 4
    assert printed["results"][0]["scorer"] == "stump" and printed["results"][0]["value"] > 0.7
    told = run("train", "stump", file, "-o", folder, "--force")
    assert "fitted with one cut after 4 words" in told.words and "Cross" not in told.err
    scored = run("score", file, "-s", folder).records
    values = [record["scores"][str(folder)] for record in scored]
    assert values == rejoinder.score(rated(), train_judge(rated(), "stump").judge).values.tolist()
    assert len(set(values)) == 2


def test_what_it_has_no_use_for_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rated.jsonl"
    rejoinder.write(rated(), file)
    asked = ("train", "stump", file, "-o", tmp_path / "judge")
    ran = run(*asked, "--components", "5", "--preset", "lowe2017")
    refused(ran, 2, "stump does not accept preset, components. Leave them out")
    refused(run(*asked, "-e", "rejoinder"), 2, "stump does not accept encoder. Leave it out")
    with pytest.raises(UsageError, match="stump does not accept references"):
        train_judge(rated(), StumpLearner(), references="best")


def test_a_learner_itself_will_do() -> None:
    own, named = (rejoinder.train(rated(), kind, resamples=100) for kind in (StumpLearner(), "stump"))
    assert own[1].to_dict() == named[1].to_dict() and own[1].estimates[0].scorer == "stump"


def test_lines_that_it_cannot_use_are_counted() -> None:
    trained = train_judge(
        [*rated(), *(Example((f"x {number}",), "", quality={"overall": 1.0}) for number in range(5))],
        "stump",
        scale=(1, 5),
    )
    assert trained.judge.training["left_out"] == {"no word in the response": 5}


def test_data_sets_are_left_out_one_by_one() -> None:
    examples = [*rated("one"), *rated("two")]
    scores = left_out_scores(examples, "stump")
    for dataset, rest in (("one", rated("two")), ("two", rated("one"))):
        own = [place for place, example in enumerate(examples) if example.dataset == dataset]
        judge = train_judge(rest, "stump").judge
        np.testing.assert_array_equal(
            scores[LEFT_OUT].values[own], judge.score_batch([examples[row] for row in own]).values
        )
    found = rejoinder.study(examples, ["length"], leave_one_out="stump", resamples=0)
    rows = found.pick(scorer=SAME_SET, statistic="spearman", group="")
    assert [row.dataset for row in rows] == ["one", "two", "mean over data sets"]
    assert found.one(dataset="mean over data sets", scorer=LEFT_OUT, statistic="spearman").value > 0.7
    assert found.about.scorers[LEFT_OUT]["signature"]["learner"] == "stump"
    assert found.pick(scorer=SAME_SET, group="lines that all score")


def test_its_judge_comes_back_from_its_folder(tmp_path: Path) -> None:
    judge = train_judge(rated(), "stump").judge
    judge.save(tmp_path / "judge")
    again = load_scorer(tmp_path / "judge")
    first, second = (rejoinder.score(rated(seed=1), one) for one in (judge, again))
    np.testing.assert_array_equal(first.values, second.values)
    assert first.signature == second.signature and isinstance(load_learner("stump"), StumpLearner)
