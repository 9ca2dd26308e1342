"""The answer of a study in words: what it may name, what it may claim, and that it is the same wherever it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.example import Example
from rejoinder.meta import FullStudy, full_study
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.verdict import needed, verdicts_of
from rejoinder.scorer import Scores, Signature
from samples import few

Call = tuple[object, ...]
WITHOUT = "bleu-2/no-stop-words"


def lines(n: int = 200, seed: int = 0, **keys: object) -> list[Example]:
    """Rated lines, two a context, whose length says nothing."""
    rng = np.random.default_rng(seed)
    plain = Example(context=("hi",), response="")
    return [
        replace(
            plain,
            context=(f"turn {place // 2}",),
            response="word " * int(rng.integers(1, 20)),
            references=("word of mouth",),
            id=str(place),
            quality={"overall": float(rng.normal())},
            scales={"overall": (-9.0, 9.0)},
            **keys,  # type: ignore[arg-type]
        )
        for place in range(n)
    ]


def scores(values: Sequence[float] | np.ndarray) -> Scores:
    return Scores(np.array(values, dtype=np.float64), {}, Signature({"scorer": "given"}))


def like(examples: Sequence[Example], share: float, seed: int = 1) -> Scores:
    """Scores that correlate with the ratings by about `share`."""
    ratings = np.array([one.rating() for one in examples], dtype=np.float64)
    noise = np.random.default_rng(seed).normal(size=len(examples))
    return scores(share * ratings + math.sqrt(1 - share**2) * noise)


def said(study: FullStudy) -> str:
    return " ".join(study.answer)


@pytest.mark.parametrize(
    ("studies", "size", "resamples"), [(8, 60, 100), pytest.param(30, 100, 150, marks=pytest.mark.slow)]
)
def test_noise_is_not_crowned(studies: int, size: int, resamples: int) -> None:
    """Of a dozen scorers that have nothing to do with the ratings the best looks well; crowned it is but rarely."""
    crowned = tempted = 0
    for seed in range(studies):
        examples = lines(size, seed)
        noise = np.random.default_rng(1000 + seed).normal(size=(12, size))
        study = full_study(
            examples, {f"noise {place}": scores(row) for place, row in enumerate(noise)}, resamples=resamples
        )
        crowned += not study.answer[0].startswith("No scorer is shown to agree with people: the best, noise ")
        tempted += max(row.low for row in study.study.agreements if row.statistic == "pearson") > 0

    assert tempted > studies / 6 and crowned <= max(2, studies / 10), (
        f"{tempted} of {studies} had an interval above zero"
    )


def test_a_weak_correlation_is_no_agreement_and_says_what_would_tell() -> None:
    examples = lines()
    study = full_study(examples, {"weak": like(examples, 0.05, 3)}, resamples=200)
    row = next(one for one in study.study.agreements if one.statistic == "pearson")
    assert 0 < row.value < 0.15 and row.low < 0
    assert study.answer[0].startswith(
        "weak is not shown to agree with people: Pearson 0."
    ) and "% of the ceiling" not in said(study)
    assert study.answer[1].startswith("If it is as high as it looks, about ")
    assert study.verdicts["weak"] == "not shown"


def test_systems_that_do_not_differ_are_not_said_to_tell_the_reverse() -> None:
    """What a system got in the other contexts is the lower, the more it got in this one."""
    examples = [replace(one, system="ab"[place % 2]) for place, one in enumerate(lines())]
    study = full_study(examples, {"weak": like(examples, 0.05, 3)}, resamples=100)
    assert "Knowing only which system spoke tells nothing." in said(study)
    apart = [
        replace(one, quality={"overall": (one.rating() or 0) + 3 * (one.system == "a")}, scales={"overall": (-20, 20)})
        for one in examples
    ]
    found = said(full_study(apart, {"weak": like(apart, 0.05, 3)}, resamples=100))
    assert "Knowing only which system spoke gives 0.8" in found


def agreement(**figure: Any) -> Agreement:
    """What a scorer called "given" reaches on a data set called "a"."""
    return Agreement(dataset="a", scorer="given", level="turn", statistic="pearson", **figure)


def test_the_forecast_is_one_that_holds() -> None:
    """With as many lines as were forecast, a correlation as high as supposed is shown about four times in five."""
    row = agreement(n=100, contexts=100, value=0.1, low=-0.1, high=0.3, p=0.3)
    count = needed(row, 1.96 / 10, 1)
    assert count is not None and 700 < count < 900
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 1000, count))
    y = 0.1 * x + math.sqrt(0.99) * noise
    found = [float(np.corrcoef(one, other)[0, 1]) for one, other in zip(x, y, strict=True)]
    assert 0.76 < np.mean(np.array(found) > 1.96 / math.sqrt(count)) < 0.84
    assert (needed(row, 1.96 / 10, 12) or 0) > 1.5 * count, "the best of a dozen takes more"
    assert needed(replace(row, value=1e-17), 0.2, 1) is None, "nobody rates 10^33 lines"
    assert needed(replace(row, value=-0.1), 0.2, 1) is None and needed(replace(row, value=0.9), 0.2, 1) is None


def test_one_good_scorer_agrees_best() -> None:
    examples = lines()
    study = full_study(examples, {"good": like(examples, 0.9), "poor": like(examples, 0.1)}, resamples=200)
    assert study.answer[0].startswith("good agrees best with people: Pearson 0.9")
    assert "By Pearson it is significantly ahead of every other scorer." in study.answer


def test_a_scorer_ahead_by_pearson_alone_is_not_the_best() -> None:
    """Ratings with a long tail: one scorer follows the tail, the other the order of all lines."""
    rng = np.random.default_rng(3)
    ratings = np.where(np.arange(200) % 5 == 0, rng.uniform(10, 20, 200), rng.uniform(0, 1, 200))
    examples = [
        Example((f"about {n}",), f"reply {n}", id=str(n), quality={"overall": float(value)})
        for n, value in enumerate(ratings)
    ]
    tail = scores((ratings + rng.normal(0, 0.6, 200)).tolist())
    order = scores((np.argsort(np.argsort(ratings)) + rng.normal(0, 3, 200)).tolist())
    study = full_study(examples, {"tail": tail, "order": order}, resamples=200)
    assert study.answer[0].startswith("tail agrees with people: Pearson ")
    assert "By Pearson it is significantly ahead of every other scorer; by Spearman order is higher." in study.answer


def test_two_that_cannot_be_told_apart_have_no_winner() -> None:
    examples = lines()
    study = full_study(examples, {"one": like(examples, 0.6), "two": like(examples, 0.6, 2)}, resamples=200)
    assert " agrees with people: Pearson " in study.answer[0] and "best" not in said(study)
    assert "By Pearson not significantly behind it: " in said(study)


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (0.0, "given agrees with people, but the trivial length is shown to be nearer to them: "),
        (1.7, "given agrees with people, but is not shown to beat the trivial length: "),
    ],
)
def test_a_scorer_that_does_no_better_than_length_says_so_at_once(noise: float, expected: str) -> None:
    examples, rng = lines(), np.random.default_rng(3)
    longer = [
        replace(one, response="word " * max(1, round(40 + 6 * ((one.rating() or 0.0) + noise * rng.normal()))))
        for one in examples
    ]
    study = full_study(longer, {"given": like(longer, 0.5)}, resamples=200)
    assert study.answer[0].startswith(expected)
    assert study.verdicts == {**study.verdicts, "given": "agrees", "length": "agrees"}


def test_what_goes_against_people_is_no_agreement() -> None:
    examples = lines()
    study = full_study(examples, {"upside": scores(-like(examples, 0.8).values)}, resamples=200)
    assert study.answer[0].startswith("upside is not shown to agree with people: Pearson -0.8")
    assert study.verdicts["upside"] == "reversed"
    assert study.answer[1].startswith(
        "What upside scores higher people rate lower. Where low ratings are the good ones"
    )
    column = full_study(examples, {"column:wer": scores(-like(examples, 0.8).values)}, resamples=200)
    assert column.answer[1].endswith("Where low scores are, say -s column:-wer.")
    both = full_study(
        examples, {"upside": scores(-like(examples, 0.8).values), "good": like(examples, 0.8, 3)}, resamples=200
    )
    assert "What upside scores higher people rate lower." in both.answer, "ratings that one agrees with are sound"


def test_the_headline_names_only_what_was_asked_for() -> None:
    """BLEU-2 without stop words comes along with BLEU-2; where it does best, it is still nobody's question."""
    examples = [
        replace(
            one,
            response=["bad show", "good film"][place % 2] + " the of and",
            references=("good film the",),
            quality={"overall": good},
        )
        for place, one in enumerate(lines(seed=3))
        for good in [float(place % 2 + np.random.default_rng(place).normal() / 4)]
    ]
    for sets in (("a", "a"), ("a", "b")):
        named = [replace(one, dataset=sets[place // 2 % 2]) for place, one in enumerate(examples)]
        study = full_study(named, {"bleu-2": _bleu(named)}, resamples=200)
        rows = study.over_sets or [one.pooled for one in study.findings[0].standings]
        values = {row.scorer: row.value for row in rows}
        assert values[WITHOUT] > values["bleu-2"]
        assert study.answer[0].startswith("bleu-2 ") and WITHOUT not in said(study)
        assert study.asked == ("bleu-2",)


def _bleu(examples: Sequence[Example]) -> Scores:
    """BLEU-2, spoiled."""
    found = rejoinder.score(list(examples), "bleu-2")
    return replace(found, values=found.values + np.random.default_rng(0).normal(size=len(examples)))


def test_baselines_lead_only_among_themselves() -> None:
    examples = lines()
    study = full_study(examples, ["length"], resamples=100)
    assert study.answer[0].startswith("length is not shown to agree with people: ")
    alone = [replace(one, references=(), quality={"overall": len(one.response.split())}) for one in examples]
    constant = full_study(alone, ["bleu-2", "length"], resamples=100)
    assert constant.answer[0].startswith("length agrees with people: ")
    assert "length is a trivial baseline: what does no better should not be believed on these data." in constant.answer


def test_several_sets_have_verdicts_too() -> None:
    examples = [*lines(dataset="one"), *lines(seed=1, dataset="two")]
    study = full_study(examples, {"good": like(examples, 0.7), "noise": like(examples, 0.0)}, resamples=200)
    assert study.answer[0].startswith("good agrees best with people: Pearson 0.") and "2 data sets" in study.answer[0]
    assert study.verdicts["good"] == "agrees" and study.verdicts["noise"] == "not shown"
    weak = full_study(examples, {"noise": like(examples, 0.0)}, resamples=200)
    assert weak.answer[0].startswith("noise is not shown to agree with people: Pearson ")
    assert [found.answer[0].split()[0] for found in study.findings[:-1]] == ["good", "good"]


@pytest.mark.parametrize("value", [0.0, 0.3, -0.3])
def test_no_interval_shows_nothing(value: float) -> None:
    row = agreement(n=400, contexts=2, value=value, p=0.01, reason="two contexts")
    assert verdicts_of([row], {"given": 0.1}) == {"given": "not shown"}


# the same words wherever they are read


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    """A study of a few lines of a sample."""
    lines = few("@dstc7", 100, tmp_path_factory.mktemp("few"))
    return ("study", lines, "-s", "bleu-2", "-s", "rouge-l", "--resamples", 100)


@pytest.mark.slow
def test_the_same_answer_from_every_door(run: Run, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    expected = full_study(list(rejoinder.read(str(call[1]))), ["bleu-2", "rouge-l"], resamples=100).answer
    assert expected[0].startswith("No scorer is shown to agree with people: the best, ")
    assert run(*call).out.startswith("\n".join(expected) + "\n")
    told = json.loads(run(*call, "--json").out)
    assert tuple(told["answer"]) == expected == tuple(told["findings"][0]["answer"])
    for suffix in (".html", ".md"):
        path = tmp_path / f"report{suffix}"
        assert run(*call, "-o", path).out.startswith("\n".join(expected) + "\n")
        text = unescape(path.read_text(encoding="utf-8")).replace("\\", "").replace("\u00a0", " ")
        assert all(sentence in text for sentence in expected)


def test_the_terminal_begins_with_the_answer_and_shows_one_table(
    run: Run, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")  # too narrow for the three statistics beside each other
    ran = run(*call)
    assert ran.err == "" and ran.out.count("agreement") == ran.out.count("───") // ran.out.count("───") == 1
    assert "people: ceiling" in ran.out and "length (trivial)" in ran.out and "Kendall" not in ran.out
    assert WITHOUT not in ran.out
    every = run(*call, "--all").out
    assert every.startswith(ran.out.partition("More:")[0]) and every.count("dstc7, turn level") == 3
    assert every.count("dstc7, system level") == 3


def test_the_table_over_sets_has_a_row_a_scorer(run: Run, tmp_path: Path) -> None:
    sets = few("@dstc7", 60, tmp_path), few("@conture", 60, tmp_path)
    out = run("study", *sets, "-s", "bleu-2", "-s", "length", "--resamples", "100").out
    assert "Pearson [low, high]" in out and out.count("\nbleu-2 ") == 1 and "the mean over" in out
    assert "people: one rater" in out
