"""`rejoinder.fit`, and the command: what an adaptation bought, in words and figures, and what cannot be fitted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run
from judges_over_views import made_material, quick_judge, rated
from rejoinder.data.examples import to_record
from rejoinder.data.write import write
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Pair
from rejoinder.judges.views.judge import ViewsJudge
from rejoinder.meta.fitting import STEPS, _how_many_folds, _is_kept, fit
from rejoinder.meta.fitting_answer import fitting_answer
from rejoinder.meta.fitting_figures import NOBODY, of_correlations
from rejoinder.meta.fitting_results import Fit
from rejoinder.documents.document import Table
from rejoinder.documents.fitting import fitting
from rejoinder.stats.figure import Figure
from rejoinder.stats.resamples import Sampling

Line = dict[str, Any]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> ViewsJudge:
    return quick_judge(made_material(tmp_path_factory.mktemp("student")))


@pytest.fixture(scope="module")
def folder(judge: ViewsJudge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("saved") / "judge"
    judge.save(place)
    return place


def turned(count: int = 120) -> list[Example]:
    """A user who likes short replies, from 0 to 100."""
    return [
        replace(one, quality={"overall": 25.0 * (5 - (one.rating() or 0.0))}, scales={"overall": (0.0, 100.0)})
        for one in rated("user", count, references=False)
    ]


@pytest.mark.slow
def test_what_was_gained_is_shown(judge: ViewsJudge) -> None:
    steps: list[int] = []
    found = fit(turned(), judge, resamples=100, advance=steps.append)
    spearman, pearson = found.gains
    assert spearman.before.value < -0.7 and spearman.after.value > 0.7 and spearman.gain.low > 1
    assert pearson.after.low < pearson.after.value < pearson.after.high
    assert found.corrected and found.n == 120
    assert found.judge.scale == (0.0, 100.0)
    high = "if high ratings are the good ones"
    assert found.answer[0].startswith(f"The adapted judge is better, {high}: Spearman inside folds 0.")
    assert found.answer[1].startswith(
        "The ratings run against the judge as it was. Where low ratings are the good ones"
    )
    assert "It answers from 0 to 100" in found.answer[-1]
    assert [point.items for point in found.curve] == [25, 50, 100] and sum(steps) == STEPS
    assert found.judge.training["adapted"]["spearman"]["after"]["value"] == spearman.after.value


def test_ratings_of_whole_dialogues_are_left_out_and_counted(judge: ViewsJudge) -> None:
    whole = [replace(one, extra={"level": "dialogue"}) for one in rated("other", 40)]
    found = fit([*turned(60), *whole], judge, resamples=0, sizes=())
    assert found.n == 60 and not found.curve and found.left_out == {"a rating of a whole dialogue": 40}
    with pytest.raises(DataError, match=r"0 rated lines, expected 30 .*40 left out: a rating of a whole dialogue"):
        fit(whole, judge)


def test_the_same_seed_gives_the_same_judge(judge: ViewsJudge) -> None:
    one, other = (fit(turned(60), judge, resamples=100, seed=3) for _ in range(2))
    assert one.to_dict() == other.to_dict() and one.judge.options == other.judge.options


def test_where_nothing_was_bought_that_is_said(judge: ViewsJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    lines = rated("user", 60, references=False)  # as the judge was fitted: there is nothing to add but noise
    lines = [replace(one, quality={"overall": float(rng.integers(1, 6))}) for one in lines]
    tried = [fit(lines, judge, resamples=100, seed=seed) for seed in range(3)]
    nothing = next(one for one in tried if one.gains[0].gain.value <= 0)
    assert nothing.corrected and nothing.answer[0].startswith("These ratings bought nothing that shows: ")
    monkeypatch.setattr("rejoinder.meta.fitting._is_kept", lambda gain: False)
    found = fit(lines, judge, resamples=100)
    assert found.answer[0].startswith("These ratings bought nothing: ")
    assert "The folder holds the judge as it was" in found.answer[0] and "not shown to agree" in found.answer[1]
    adaptation = found.judge.heads["context"].adaptation
    assert adaptation is not None and not adaptation.linear.weights[1:].any()


def test_what_was_learnt_is_kept_unless_it_is_shown_to_lose() -> None:
    gains = [(-0.1, -0.3, 0.1), (0.1, -0.1, 0.3), (0.2, 0.1, 0.3), (-0.2, -0.3, -0.1)]
    assert [_is_kept(Figure(value=value, low=low, high=high)) for value, low, high in gains] == [
        True,
        True,
        True,
        False,
    ]
    assert not _is_kept(Figure())
    assert [_how_many_folds(items) for items in (30, 60, 99, 100, 500)] == [5, 6, 9, 10, 10]


def test_pairs_are_fitted_and_told_by_length(judge: ViewsJudge) -> None:
    lines = rated("user", 80, references=False)
    longer = [f"{one.response} and so on and on" for one in lines]
    pairs = [
        Pair((one, replace(one, response=other)), 0 if number % 4 else 1, id=one.id)
        for number, (one, other) in enumerate(zip(lines, longer, strict=True))
    ]
    found = fit([*pairs, Pair(pairs[0].replies, None)], judge, resamples=100)
    accuracy, of_longer, of_shorter = found.gains
    assert (accuracy.n, of_longer.n, of_shorter.n) == (80, 20, 60)
    assert found.left_out == {"a tie": 1} and found.kind == "choices"
    for when in ("before", "after"):
        whole, longer_share, shorter_share = (getattr(one, when).value for one in found.gains)
        assert whole == pytest.approx((20 * longer_share + 60 * shorter_share) / 80)
    assert any("with the shorter preferred" in sentence for sentence in found.answer)
    with pytest.raises(UsageError, match="--scale is for ratings"):
        fit(pairs, judge, scale=(1, 5))
    with pytest.raises(DataError, match="Call fit once for each"):
        fit([*pairs, *lines], judge)


def test_a_judge_of_another_kind_says_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"length is no judge over views.*rejoinder train"):
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


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (few, "20 rated lines, expected 30 or more"),
        (constant, "all ratings are equal"),
        (no_scale, "without a scale"),
        (not_a_number, "NaN"),
        (one_conversation, "1 conversations, expected 10 or more"),
        (empty_replies, "0 rated lines, expected 30 or more (40 left out: no reply"),
    ],
)
def test_what_cannot_be_fitted_is_one_line(
    run: Run, folder: Path, tmp_path: Path, spoil: Callable[[list[Line]], list[Line]], said: str
) -> None:
    given = tmp_path / "lines.jsonl"
    lines = spoil([to_record(one) for one in turned(40)])
    given.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    ran = run("fit", given, "-s", folder, "-o", tmp_path / "out")
    assert (ran.code, ran.out) == (3, "") and said in ran.err and ran.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_command_saves_a_judge_that_scores(run: Run, folder: Path, tmp_path: Path) -> None:
    given, out = tmp_path / "lines.jsonl", tmp_path / "out"
    write(turned(60), given)
    ran = run("fit", given, "-s", folder, "-o", out)
    assert ran.code == 0, ran.err
    assert (
        ran.out.startswith("The adapted judge is better, if high ratings are the good ones: ")
        and f"rejoinder score FILE -s {out}" in ran.out
    )
    scored = run("score", given, "-s", out, "-o", tmp_path / "scored.jsonl")
    assert scored.code == 0, scored.err
    again = run("fit", given, "-s", folder, "-o", out)
    assert again.code == 2 and "--force" in again.err
    told = json.loads(run("fit", given, "-s", folder, "-o", out, "--force", "--json").out)
    assert told["corrected"] and told["scale"] == [0, 100]
    assert {row["name"] for row in told["results"]} == {"spearman", "pearson"}


def test_two_scales_are_brought_together_and_said(run: Run, folder: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    write(turned(40), one)
    write(rated("second", 40, references=False), other)
    ran = run("fit", one, other, "-s", folder, "-o", tmp_path / "out")
    assert ran.code == 0 and "ratings on 2 scales are brought together" in ran.err
    assert rejoinder.load_scorer(tmp_path / "out").scale == (1.0, 5.0)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_lines_that_the_judge_was_fitted_on_are_told(judge: ViewsJudge) -> None:
    known = sorted(judge.trained_on)[0]
    unseen, seen = (fit([replace(one, dataset=name) for one in turned()], judge, resamples=20) for name in ("x", known))
    assert not any("was fitted on lines of" in said for said in unseen.answer)
    assert seen.answer[1].startswith(f"The judge was fitted on lines of {known} before")


def of_systems(spread: float, count: int = 240, seed: int = 0) -> Callable[..., Fit]:
    """What `fit` says where the adapted judge learnt how good each of six systems is, and little of their replies."""
    rng = np.random.default_rng(seed)
    systems = np.arange(count) % 6
    ratings = spread * systems + rng.normal(size=count)
    before, after = 0.15 * ratings + rng.normal(size=count), 2.0 * systems + 0.15 * ratings + rng.normal(size=count)
    folds, contexts = np.arange(count) // 6 % 10, np.arange(count) // 6

    def made(numbers: Any) -> Fit:
        measure = of_correlations(ratings, np.zeros(count, np.int64), contexts, numbers)
        gains = measure(before, after, folds, Sampling(200, 0))
        judge = SimpleNamespace(scale=(1.0, 5.0))
        return Fit((), judge, "ratings", count, 40, {}, gains, (), corrected=True, seed=0)  # type: ignore[arg-type]

    return lambda *, named: made(systems if named else np.full(count, NOBODY))


def test_with_several_systems_the_figure_within_them_leads() -> None:
    fits = of_systems(spread=0.8)
    found = fits(named=True)
    names = [gain.name for gain in found.gains]
    assert names == ["spearman", "pearson", "spearman within systems", "pearson within systems"]
    over_all, within = found.gains[0], found.gains[2]
    assert over_all.gain.low > 0.2 and within.gain.low < 0 < within.gain.high and over_all.after.value > 0.6
    verdict, warning, *_ = fitting_answer(found)
    assert verdict.index(f"{within.after.value:.2f}") < verdict.index(f"{over_all.after.value:.2f}")
    assert "The adapted judge is better" not in verdict and "systems apart" in warning
    table = fitting(found).brief[0]
    assert isinstance(table, Table)
    assert [row[0].text for row in table.rows][:2] == ["Spearman within systems", "Pearson within systems"]


def test_without_systems_the_figure_over_all_leads_and_keys_stay() -> None:
    found = of_systems(spread=0.8)(named=False)
    assert [gain.name for gain in found.gains] == ["spearman", "pearson"]
    assert fitting_answer(found)[0].startswith("The adapted judge is better")
    assert not any("systems" in sentence for sentence in fitting_answer(found))
