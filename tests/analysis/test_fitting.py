"""`rejoinder.fit` and its command: how much better the adapted judge is, and what cannot be fitted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Run
from judges_over_views import made_material, quick_judge, rated
from rejoinder.analysis.fit import DRAWS, STEPS, correlations, fit, is_kept, layout, text
from rejoinder.data.examples import to_record
from rejoinder.data.write import write
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example, Pair
from rejoinder.judges.regression.adaptation import AdaptationInput
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.report.results import About
from rejoinder.report.tables import Table
from rejoinder.stats.resamples import Sampling

Line = dict[str, Any]
OLD, NEW = {"scorer": "judge"}, {"scorer": "adapted judge", "versus": "", "by": ""}


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> FeatureJudge:
    return quick_judge(made_material(tmp_path_factory.mktemp("student")))


@pytest.fixture(scope="module")
def folder(judge: FeatureJudge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("saved") / "judge"
    judge.save(place)
    return place


def turned(count: int = 120) -> list[Example]:
    """Ratings from 0 to 100 by a user who likes short replies."""
    return [
        replace(line, quality={"overall": 25.0 * (5 - (line.rating() or 0.0))}, scales={"overall": (0.0, 100.0)})
        for line in rated("user", count, references=False)
    ]


@pytest.mark.slow
def test_a_gain_is_measured_and_recorded(judge: FeatureJudge) -> None:
    steps: list[int] = []
    adapted, results = fit(turned(), judge, resamples=100, progress=steps.append)
    before, after = results.one(statistic="spearman", **OLD), results.one(statistic="spearman", **NEW)
    gain = results.one(statistic="gain in spearman")
    assert before.value < -0.7 and after.value > 0.7 and gain.low > 1
    assert gain.value == pytest.approx(after.value - before.value)
    assert (before.verdict, after.verdict, gain.verdict) == ("below", "above", "above")
    assert after.n == 120 and after.dataset == "user" and results.about.scorers["adapted judge"]["corrected"]
    assert adapted.scale == (0.0, 100.0)
    assert adapted.training["adapted"]["spearman"]["after"]["value"] == after.value
    points, (last,) = results.pick(by="lines", versus=""), results.pick(by="lines", versus="adapted judge")
    assert [row.group for row in points] == ["25", "50", "100"] and sum(steps) == STEPS
    assert (last.statistic, last.group) == ("gain from more lines", "100") and last.has_interval
    assert any(line.endswith("more may or may not help.") for line in results.answer) == (last.verdict != "above")
    assert len(results.answer[0].split()) <= 20 and "if high ratings are good" in results.answer[0]


def test_ratings_of_whole_dialogues_are_left_out_and_counted(judge: FeatureJudge) -> None:
    whole = [replace(line, extra={"level": "dialogue"}) for line in rated("other", 40)]
    _, results = fit([*turned(60), *whole], judge, resamples=0, sizes=())
    assert results.about.counts["lines"] == 60 and not results.pick(by="lines")
    assert results.about.counts["left_out"] == {"a rating of a whole dialogue": 40}
    with pytest.raises(DataError, match=r"^0 rated lines"):
        fit(whole, judge)


def test_the_same_seed_gives_the_same_judge(judge: FeatureJudge) -> None:
    first, second = (fit(turned(60), judge, resamples=100, seed=3) for _ in range(2))
    assert first[1].to_dict() == second[1].to_dict() and first[0].options == second[0].options


@pytest.mark.parametrize(
    ("value", "low", "high", "kept"),
    [(-0.1, -0.3, 0.1, True), (0.1, -0.1, 0.3, True), (0.2, 0.1, 0.3, True), (-0.2, -0.3, -0.1, False)],
)
def test_a_correction_is_kept_unless_it_is_shown_to_lose(value: float, low: float, high: float, kept: bool) -> None:
    assert is_kept(Estimate(value=value, low=low, high=high)) == kept
    assert is_kept(Estimate(value=value)) and not is_kept(Estimate())


def test_a_judge_that_would_lose_stays_as_it_was(judge: FeatureJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = rated("user", 60, references=False)
    monkeypatch.setattr("rejoinder.analysis.fit.is_kept", lambda gain: False)
    adapted, results = fit(lines, judge, resamples=100, sizes=())
    assert not results.about.scorers["adapted judge"]["corrected"]
    correction = adapted.heads["context"].correction
    assert correction is not None and not correction.linear.weights[1:].any()


@pytest.mark.parametrize(("count", "expected"), [(45, 5), (90, 9), (120, 10)])
def test_folds_and_samples_hold_whole_conversations(
    judge: FeatureJudge, monkeypatch: pytest.MonkeyPatch, count: int, expected: int
) -> None:
    """Five to ten folds; each sample of the learning curve is of whole conversations but for the last."""
    folds: list[int] = []
    torn: list[int] = []
    lines = [replace(line, context=(f"What is number {place // 3}?",)) for place, line in enumerate(turned(count))]
    inner = AdaptationInput.left_out

    def spy(self: Any, fold: Any, rng: Any, kept: Any = None) -> Any:
        folds.append(int(fold.max()) + 1)
        assert all(len(set(fold[self.groups == group])) == 1 for group in set(self.groups.tolist()))
        if kept is not None:
            counts = np.bincount(self.groups[kept], minlength=int(self.groups.max()) + 1)
            torn.append(int(((counts > 0) & (counts < 3)).sum()))
        return inner(self, fold, rng, kept)

    monkeypatch.setattr(AdaptationInput, "left_out", spy)
    fit(lines, judge, resamples=0, sizes=(25,))
    assert set(folds) == {expected} and len(torn) == DRAWS and max(torn) <= 1


def test_pairs_are_measured_by_length_too(judge: FeatureJudge) -> None:
    lines = rated("user", 80, references=False)
    longer = [f"{line.response} and so on and on" for line in lines]
    pairs = [
        Pair((line, replace(line, response=other)), 0 if number % 4 else 1, id=line.id)
        for number, (line, other) in enumerate(zip(lines, longer, strict=True))
    ]
    _, results = fit([*pairs, Pair(pairs[0].replies, None)], judge, resamples=100)
    for scorer in ("judge", "adapted judge"):
        total, *parts = (
            results.one(scorer=scorer, statistic="accuracy", by=by, group=group)
            for by, group in (("", ""), ("preferred reply", "longer"), ("preferred reply", "shorter"))
        )
        assert (total.n, parts[0].n, parts[1].n, total.level) == (80, 20, 60, "pair")
        assert total.value == pytest.approx((20 * parts[0].value + 60 * parts[1].value) / 80)
    assert results.about.counts["left_out"] == {"a tie": 1} and results.about.options["fitted_to"] == "choices"
    with pytest.raises(UsageError, match="--scale"):
        fit(pairs, judge, scale=(1, 5))
    with pytest.raises(DataError, match="a pair of replies"):
        fit([*pairs, *lines], judge)


def test_only_a_judge_over_features_can_be_adapted() -> None:
    with pytest.raises(UsageError, match="^length"):
        fit(turned(40), "length")


def few(lines: list[Line]) -> list[Line]:
    return lines[:20]


def constant(lines: list[Line]) -> list[Line]:
    return [{**line, "quality": {"overall": 3}} for line in lines]


def no_scale(lines: list[Line]) -> list[Line]:
    return [{key: value for key, value in line.items() if key not in {"scale", "scales"}} for line in lines]


def not_a_number(lines: list[Line]) -> list[Line]:
    return [{**lines[0], "quality": {"overall": float("nan")}}, *lines[1:]]


def one_conversation(lines: list[Line]) -> list[Line]:
    return [{**line, "context": lines[0]["context"]} for line in lines]


def empty_replies(lines: list[Line]) -> list[Line]:
    return [{**line, "response": " "} for line in lines]


@pytest.mark.parametrize("change", [few, constant, no_scale, not_a_number, one_conversation, empty_replies])
def test_lines_that_cannot_be_fitted_stop_with_one_line(
    run: Run, folder: Path, tmp_path: Path, change: Callable[[list[Line]], list[Line]]
) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in change([to_record(line) for line in turned(40)])))
    ran = run("fit", path, "-s", folder, "-o", tmp_path / "out")
    assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)
    assert not (tmp_path / "out").exists()


def test_the_command_saves_a_judge_that_scores(run: Run, folder: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "lines.jsonl", tmp_path / "out"
    write(turned(60), path)
    ran = run("fit", path, "-s", folder, "-o", out)
    assert ran.code == 0 and f"rejoinder score FILE -s {out}" in ran.out
    assert run("score", path, "-s", out, "-o", tmp_path / "scored.jsonl").code == 0
    again = run("fit", path, "-s", folder, "-o", out)
    assert again.code == 2 and "--force" in again.err
    printed = json.loads(run("fit", path, "-s", folder, "-o", out, "--force", "--json").out)
    assert (printed["version"], printed["command"]) == (2, "fit")
    assert printed["scorers"]["adapted judge"] == {"kind": "judge", "corrected": True, "scale": [0, 100]}
    assert {"spearman", "pearson", "gain in spearman"} <= {row["statistic"] for row in printed["results"]}


def test_ratings_on_two_scales_are_converted(run: Run, folder: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    write(turned(40), first)
    write(rated("second", 40, references=False), second)
    ran = run("fit", first, second, "-s", folder, "-o", tmp_path / "out", "--json")
    assert ran.code == 0 and "2 scales" in ran.err
    assert json.loads(ran.out)["scorers"]["adapted judge"]["scale"] == [1, 5]
    assert {row["dataset"] for row in json.loads(ran.out)["results"]} == {"pooled"}


@pytest.mark.slow
def test_lines_that_the_judge_was_fitted_on_give_a_warning(judge: FeatureJudge) -> None:
    known = sorted(judge.trained_on)[0]
    (_, new), (_, seen) = (
        fit([replace(line, dataset=name) for line in turned()], judge, resamples=20, sizes=()) for name in ("x", known)
    )
    assert not new.warnings and known in seen.warnings[0]


def of_systems(*, named: bool, count: int = 240) -> tuple[tuple[Estimate, ...], About]:
    """Estimates of an adapted judge that learned the quality of each of six systems, and little about their replies."""
    rng = np.random.default_rng(0)
    systems = np.arange(count) % 6
    ratings = 0.8 * systems + rng.normal(size=count)
    before, after = 0.15 * ratings + rng.normal(size=count), 2.0 * systems + 0.15 * ratings + rng.normal(size=count)
    folds, contexts = np.arange(count) // 6 % 10, np.arange(count) // 6
    numbers = systems if named else np.full(count, -1)
    estimates = correlations(
        ratings, np.zeros(count, np.int64), contexts, numbers, before, after, folds, Sampling(200, 0)
    )
    about = About(
        scorers={"judge": {}, "adapted judge": {"corrected": True, "scale": (1.0, 5.0)}},
        options={"fitted_to": "ratings", "seed": 0},
        counts={"lines": count, "contexts": 40, "left_out": {}},
    )
    return tuple(estimates), about


def test_agreement_and_gain_take_both_correlations() -> None:
    """Four scores far above the others take Pearson's correlation away, and leave Spearman's."""
    rng = np.random.default_rng(1)
    ratings, none = rng.normal(size=100), np.zeros(100, np.int64)
    after = ratings + rng.normal(size=100)
    after[:4] = 60
    before, lines = rng.normal(size=100), np.arange(100)
    rows = list(correlations(ratings, none, lines, none - 1, before, after, lines % 2, Sampling(200, 0)))
    spearman, pearson = ([row for row in rows if name in row.statistic][1:] for name in ("spearman", "pearson"))
    assert all(row.excludes() and row.p_adjusted < 0.05 for row in spearman)
    assert not any(row.excludes() for row in pearson)
    assert {row.verdict for row in rows} == {"inconclusive"}


def test_with_several_systems_the_figure_within_them_leads() -> None:
    estimates, about = of_systems(named=True)
    by_name = {row.statistic: row for row in estimates if row.scorer == "adapted judge"}
    total, within = by_name["gain in spearman"], by_name["gain in spearman within systems"]
    assert total.verdict == "above" and within.verdict == "inconclusive"
    sentences = text("answer", estimates, about)
    assert f"{within.value:+.2f}" in sentences[0] and "better:" not in sentences[0]
    (table,) = (block for block in layout(estimates, about).tables if isinstance(block, Table))
    assert [row[0].text for row in table.rows] == [
        "spearman within systems",
        "pearson within systems",
        "spearman",
        "pearson",
    ]


def test_without_systems_the_figure_over_all_lines_leads() -> None:
    estimates, about = of_systems(named=False)
    assert {row.statistic for row in estimates} == {"spearman", "pearson", "gain in spearman", "gain in pearson"}
    sentences = text("answer", estimates, about)
    assert sentences[0].startswith("The adapted judge is better:") and not any("systems" in line for line in sentences)
