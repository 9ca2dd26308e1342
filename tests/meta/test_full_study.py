"""The full study: figures beside the correlations, against published ones and by hand, and all that can be missing."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rejoinder
from rejoinder.example import Example, Pair, Rating
from rejoinder.meta import FullStudy, full_study
from rejoinder.meta.disagreements import on_rating_scale
from rejoinder.meta.findings import Findings
from rejoinder.meta.standings import Standing
from rejoinder.meta.yardsticks import OF_SET, OF_SYSTEM
from rejoinder.documents import study as report
from rejoinder.documents.files import RENDERERS
from rejoinder.scorer import Scores, Signature
from rejoinder.scoring.catalog import SCORERS
from rejoinder.stats.figure import plain, rows_of

SCALE = {"overall": (1.0, 5.0)}


def scores(values: Sequence[float], name: str = "given") -> Scores:
    """Scores of a scorer that nobody knows."""
    missing = {place: "lost" for place, value in enumerate(values) if math.isnan(value)}
    return Scores(np.array(values, dtype=np.float64), missing, Signature({"scorer": name}))


def lines(n: int = 60, seed: int = 0, **keys: object) -> list[Example]:
    """Rated lines, three a context, by three systems of different worth, with three single ratings."""
    rng = np.random.default_rng(seed)
    made = []
    for place in range(n):
        worth = place % 3 + 1 + rng.normal()
        singles = [float(np.clip(round(worth + rng.normal() / 2), 1, 5)) for _ in range(3)]
        spot = {"id": f"line-{place}", "system": "abc"[place % 3], "scales": SCALE, "context": (f"turn {place // 3}",)}
        ratings = tuple(Rating(value) for value in singles)
        response = " ".join(["word"] * int(rng.integers(1, 20)))
        made.append(Example(**{"response": response, "references": ("a b c d",), "ratings": ratings, **spot, **keys}))  # type: ignore[arg-type]
    return made


def rated(examples: Sequence[Example]) -> np.ndarray:
    return np.array([example.rating() for example in examples], dtype=np.float64)


def standing(found: Findings, scorer: str) -> Standing:
    (one,) = (one for one in found.standings if one.scorer == scorer)
    return one


def noisy(examples: Sequence[Example], spread: float, seed: int = 1) -> list[float]:
    """Scores that know the ratings, up to noise."""
    values: list[float] = (rated(examples) + spread * np.random.default_rng(seed).normal(size=len(examples))).tolist()
    return values


def everywhere(found: FullStudy) -> str:
    """The page; all other forms are written too, and must be."""
    document = report.study(found, "rejoinder study a.jsonl")
    forms = {suffix: render(document) for suffix, render in RENDERERS.items()}
    assert all(forms.values())
    json.dumps(found.to_dict(), allow_nan=False)
    return forms[".html"]


def test_usr_personachat_has_its_one_rater_figure_and_its_ceiling(shared: Path) -> None:
    examples = list(rejoinder.read(shared / "data" / "judgements" / "usr_personachat.jsonl.gz"))
    (found,) = full_study(examples, ["bleu-2"], resamples=100).findings
    assert found.people.one_rater.value == pytest.approx(0.71, abs=0.01)
    assert found.people.ceiling.value == pytest.approx(0.92, abs=0.005)
    assert found.people.ceiling.low < found.people.ceiling.value < found.people.ceiling.high
    one = standing(found, "length")
    assert one.pooled.value > 0.2 and abs(one.within.value) < 0.1, "length tells systems apart, not their lines"
    assert one.share.value == pytest.approx(one.pooled.value / found.people.ceiling.value)
    assert standing(found, OF_SYSTEM).pooled.value == pytest.approx(0.7, abs=0.01)


def test_within_systems_is_the_mean_of_three_correlations() -> None:
    examples = lines()
    values = noisy(examples, 1.0)
    (found,) = full_study(examples, {"given": scores(values)}, resamples=100).findings
    expected = [stats.pearsonr(values[start::3], rated(examples)[start::3]).statistic for start in range(3)]
    one = standing(found, "given")
    assert one.within.value == pytest.approx(np.mean(expected)) and one.within.low < one.within.value < one.within.high
    assert one.within.statistic == "pearson inside systems" and one.within.n == 60
    assert standing(found, OF_SYSTEM).within.reason == "tells no line of a system apart"


def test_copies_are_left_out_beside_and_not_instead() -> None:
    examples = [replace(one, references=(one.response,)) if place < 6 else one for place, one in enumerate(lines())]
    values = noisy(examples, 1.0)
    (found,) = full_study(examples, {"given": scores(values)}, resamples=100).findings
    one = standing(found, "given")
    assert (one.pooled.n, one.without_copies.n, found.card.copies) == (60, 54, 6)
    expected = stats.pearsonr(values[6:], rated(examples)[6:]).statistic
    assert one.without_copies.value == pytest.approx(expected)
    untouched = standing(full_study(lines(), {"given": scores(values)}, resamples=100).findings[0], "given")
    assert untouched.without_copies == untouched.pooled


def test_what_knowing_the_system_is_worth_leaves_the_own_context_out() -> None:
    examples = lines(9)
    (found,) = full_study(examples, {"given": scores(noisy(examples, 1.0))}, resamples=0).findings
    ratings = rated(examples)
    expected = [
        ratings[[other for other in range(9) if other % 3 == n % 3 and other // 3 != n // 3]].mean() for n in range(9)
    ]
    np.testing.assert_allclose(found.scores[OF_SYSTEM], expected, atol=1e-8)
    assert OF_SET not in {one.scorer for one in found.standings}


def test_one_system_of_a_set_says_nothing_of_its_lines() -> None:
    examples = [*lines(dataset="one"), *(replace(one, system="a") for one in lines(seed=1, dataset="two"))]
    found = full_study(examples, {"given": scores(noisy(examples, 1.0))}, resamples=0)
    known = [standing(one, OF_SYSTEM) for one in found.findings[:2]]
    assert known[0].pooled.value > 0.3 and (known[1].pooled.n, known[1].pooled.unscored) == (0, 60)


def test_several_sets_give_a_mean_over_them_and_what_knowing_the_set_is_worth() -> None:
    examples = [*lines(dataset="one"), *lines(seed=1, dataset="two")]
    values = noisy(examples, 1.0)
    found = full_study(examples, {"given": scores(values)}, resamples=100)
    assert [one.card.dataset for one in found.findings] == ["one", "two", "pooled"]
    row = next(row for row in found.over_sets if row.scorer == "given")
    inside = [stats.pearsonr(values[part], rated(examples)[part]).statistic for part in (slice(60), slice(60, None))]
    assert row.value == pytest.approx(np.mean(inside)) and row.low < row.value < row.high
    pooled = found.findings[-1]
    assert OF_SET in {one.scorer for one in pooled.standings}
    contrast = next(one for one in pooled.contrasts if (one.first, one.second) == ("given", "length"))
    length = next(row for row in found.over_sets if row.scorer == "length")
    assert contrast.value == pytest.approx(row.value - length.value)
    assert found.answer[0].startswith("given agrees with people: Pearson ")
    assert "the mean over 2 data sets" in found.answer[0]
    assert '<a href="#part-1">Over all data sets</a>' in everywhere(found)


def test_scorers_are_told_apart_and_grouped() -> None:
    examples = lines(120)
    given = {
        "good": scores(noisy(examples, 0.3)),
        "fair": scores(noisy(examples, 1.5, 2)),
        "same": scores(noisy(examples, 1.5, 4)),
    }
    (found,) = full_study(examples, given, resamples=1000).findings
    assert standing(found, "good").cluster == 1
    assert standing(found, "fair").cluster == standing(found, "same").cluster == 2
    assert standing(found, OF_SYSTEM).cluster == 0
    told, untold = (
        next(one for one in found.contrasts if {one.first, one.second} == pair)
        for pair in ({"good", "fair"}, {"fair", "same"})
    )
    assert told.p_adjusted < 0.05 and told.low > 0 and told.p <= told.p_adjusted and 0 < told.p_williams < 0.05
    assert (
        untold.p_adjusted > 0.05 and untold.low < 0 < untold.high and untold.needed is not None and untold.needed > 120
    )
    said = " ".join(found.answer)
    assert said.startswith("good agrees best with people")
    assert "By Pearson it is significantly ahead of every other scorer." in said


def test_many_scorers_can_still_be_told_apart() -> None:
    examples = lines(120)
    given = {f"poor {seed}": scores(noisy(examples, 9.0, seed)) for seed in range(12)}
    (found,) = full_study(examples, {"good": scores(noisy(examples, 0.1)), **given}, resamples=100).findings
    told = [one.p_adjusted for one in found.contrasts if one.first == "good" and one.second in given]
    assert len(told) == 12 and max(told) < 0.05, "105 pairs, so 100 swaps would leave p at 1"


def test_length_splits_at_six_words() -> None:
    examples = lines()
    far = np.array([abs(len(one.response.split()) - 4) > 6 for one in examples])
    (found,) = full_study(examples, {"given": scores(noisy(examples, 1.0))}, resamples=100).findings
    people, given = found.lengths[0], found.lengths[1]
    assert (people.scorer, given.scorer) == ("people", "given")
    assert (people.n_close, people.n_far) == (int((~far).sum()), int(far.sum()))
    assert people.value == pytest.approx(rated(examples)[~far].mean() - rated(examples)[far].mean())
    assert people.p == pytest.approx(stats.mannwhitneyu(rated(examples)[~far], rated(examples)[far]).pvalue)
    assert (
        full_study([replace(one, references=()) for one in examples], ["length"], resamples=0).findings[0].lengths == ()
    )


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_bleu_without_stop_words_stands_beside_bleu(order: int) -> None:
    plain, without = f"bleu-{order}", f"bleu-{order}/no-stop-words"
    examples = [replace(one, response="the cat , of course", references=("the cat",)) for one in lines()]
    examples[0] = replace(examples[0], response="it is the")
    found = full_study(examples, [plain], resamples=0)
    values = found.findings[0].scores[without]
    assert values[1] > found.findings[0].scores[plain][1] and values[0] == 0
    assert "words:no stop words" in str(found.baselines.signatures[without] if found.baselines else "")
    assert without not in full_study(examples, ["length"], resamples=0).findings[0].scores
    assert full_study(examples, [plain, without], resamples=0).asked == (plain, without)


def test_mistakes_are_counted_on_the_scale_of_the_ratings() -> None:
    """People rate 1 to 5 with two bad replies in three; a lenient judge passes half of them."""
    people = [1.0, 1.0, 2.0, 2.0, 5.0, 5.0] * 10
    judge = [1.0, 5.0, 2.0, 4.0, 5.0, 1.0] * 10
    examples = [
        Example((f"about {n}",), f"reply {n}", id=str(n), quality={"overall": rating}, scales={"overall": (1, 5)})
        for n, rating in enumerate(people)
    ]
    (found,) = full_study(examples, {"judge": scores(judge)}, resamples=0).findings
    (count,) = (count for count in found.mistakes if count.scorer == "judge")
    assert (count.rated_bad, count.bad_scored_good) == (40, 20)
    assert (count.rated_good, count.good_scored_bad) == (20, 10)
    assert [abs(case.difference) for case in found.cases if case.scorer == "judge"] == [4, 4, 4, 4]


def test_scores_on_another_scale_are_brought_to_that_of_the_ratings() -> None:
    ratings = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    brought = on_rating_scale(np.array([10.0, 20.0, 30.0, 40.0, 50.0]), ratings, (1, 5))
    assert brought == pytest.approx(ratings)
    assert on_rating_scale(np.array([0.0, 0, 0, 0, 1000]), ratings, (1, 5)).max() == 5
    kept = np.array([1.0, 1, 2, 3, 4])
    assert on_rating_scale(kept, ratings, (1, 5)) is kept


def test_cases_are_those_where_scores_lie_furthest_from_ratings() -> None:
    examples = lines()
    values = rated(examples).copy()
    high, low = int(np.argmin(values)), int(np.argmax(values))
    values[high], values[low] = 9.0, -9.0
    (found,) = full_study(examples, {"given": scores(values.tolist())}, resamples=0).findings
    own = [case for case in found.cases if case.scorer == "given"]
    assert [case.id for case in (own[0], own[2])] == [f"line-{high}", f"line-{low}"]
    assert own[0].score_rank > 0.98 and own[0].rating_rank < 0.3 and own[2].score_rank < 0.02 and len(own) == 4


def test_systems_stand_in_peoples_order() -> None:
    examples = lines(120)
    (found,) = full_study(examples, {"given": scores(noisy(examples, 0.5))}, resamples=200).findings
    assert [row.system for row in found.systems.rows] == ["c", "b", "a"]
    assert [row.cluster for row in found.systems.rows] == [1, 2, 3]
    assert found.systems.rows[0].rating.value == pytest.approx(rated(examples)[2::3].mean())
    assert found.systems.soft_accuracy["given"] > 0.95


def test_the_same_seed_gives_the_same_page() -> None:
    examples = lines()
    given = {"given": scores(noisy(examples, 1.0))}
    first, again = (everywhere(full_study(examples, given, resamples=100)) for _ in range(2))
    assert first == again
    assert everywhere(full_study(examples, given, resamples=100, seed=1)) != first


# what can be missing


def test_constant_scores_have_no_correlation_and_say_so() -> None:
    examples = lines()
    (found,) = full_study(
        examples, {"flat": scores([1.0] * 60), "given": scores(noisy(examples, 1.0))}, resamples=50
    ).findings
    one = standing(found, "flat")
    assert math.isnan(one.pooled.value) and one.pooled.reason == "the score is the same in all 60 pairs (1)"
    assert (one.cluster, one.accuracy.reason) == (0, one.pooled.reason) and not one.share.known
    assert "flat" not in {name for pair in found.contrasts for name in (pair.first, pair.second)}
    page = everywhere(full_study(examples, {"flat": scores([1.0] * 60)}, resamples=50))
    assert "the score is the same in all 60 pairs (1)" in page


def test_equal_ratings_leave_nothing_to_agree_with() -> None:
    examples = [replace(one, ratings=(Rating(3), Rating(3))) for one in lines()]
    found = full_study(examples, {"given": scores(noisy(lines(), 1.0))}, resamples=50)
    assert found.findings[0].people.reason == "all ratings are the same (3)"
    assert found.answer == (
        "No scorer has a correlation with people here: the rating is the same in all 60 pairs (3).",
    )
    assert "the rating is the same in all 60 pairs (3)" in everywhere(found)
    assert {row.cluster for row in found.findings[0].systems.rows} == {1}


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_lines_say_nothing(n: int) -> None:
    examples = lines(n)
    found = full_study(examples, {"given": scores([1.0, 2.0][:n])}, resamples=50)
    reason = f"{n} {'pair' if n == 1 else 'pairs'} of score and rating; three or more are needed"
    assert standing(found.findings[0], "given").pooled.reason == reason
    assert found.answer == (f"No scorer has a correlation with people here: {reason}.",)
    assert reason in everywhere(found)


def test_missing_ratings_and_scores_are_counted() -> None:
    examples = lines()
    examples[0] = replace(examples[0], ratings=())
    examples[1] = replace(examples[1], ratings=(), quality={"relevance": 3.0})
    values = noisy(lines(), 1.0)
    values[2] = math.nan
    found = full_study(examples, {"given": scores(values)}, resamples=50)
    one = standing(found.findings[0], "given")
    assert (found.findings[0].card.rated, one.pooled.n, one.pooled.unscored) == (58, 57, 1)
    assert "60 lines were read, 58 of them rated" in everywhere(found)


def test_each_pair_of_scorers_meets_on_the_lines_that_both_score() -> None:
    examples = lines()
    first, second, whole = (np.array(noisy(examples, 1.0, seed)) for seed in range(3))
    first[30:], second[:30] = np.nan, np.nan
    given = {"first": scores(first.tolist()), "second": scores(second.tolist()), "whole": scores(whole.tolist())}
    (found,) = full_study(examples, given, resamples=50).findings
    met = {frozenset((one.first, one.second)): one for one in found.contrasts}
    apart = met[frozenset(("first", "second"))]
    assert (apart.n, apart.contexts, apart.method) == (0, 0, "none") and math.isnan(apart.value)
    assert apart.reason == "0 lines have both scores, and no correlation"
    assert {met[frozenset((name, "whole"))].n for name in ("first", "second")} == {30}
    for name, values in (("first", first), ("second", second)):
        rows = np.isfinite(values)
        own, other = (stats.pearsonr(some[rows], rated(examples)[rows]).statistic for some in (values, whole))
        one = met[frozenset((name, "whole"))]
        assert abs(one.value) == pytest.approx(abs(own - other)) and one.low < one.value < one.high


def test_means_alone_give_no_ceiling() -> None:
    examples = [replace(one, ratings=(), quality={"overall": one.rating() or 0.0}) for one in lines()]
    found = full_study(examples, {"given": scores(noisy(lines(), 1.0))}, resamples=50)
    assert found.findings[0].people.reason == "the data holds no single ratings, only means"
    assert not standing(found.findings[0], "given").share.known
    assert any("the ceiling, is not known" in sentence for sentence in found.answer)
    page = everywhere(found)
    assert "ceiling: the data holds no single ratings, only means" in page and "ceiling of Pearson" not in page


@pytest.mark.parametrize(("system", "named"), [("a", 1), (None, 0)])
def test_one_system_or_none(system: str | None, named: int) -> None:
    examples = [replace(one, system=system) for one in lines()]
    (found,) = full_study(examples, {"given": scores(noisy(lines(), 1.0))}, resamples=50).findings
    assert (found.systems.rows, found.systems.reason) == ((), f"{named} named; two or more are needed")
    assert standing(found, "given").within.reason == f"{named} systems named; two or more are needed"
    assert OF_SYSTEM not in found.scores


def test_without_resamples_there_are_values_and_no_intervals() -> None:
    examples = lines()
    found = full_study(examples, {"given": scores(noisy(examples, 1.0))}, resamples=0)
    one = standing(found.findings[0], "given")
    assert math.isfinite(one.pooled.value) and math.isnan(one.pooled.low) and math.isfinite(one.within.value)
    assert all(math.isnan(pair.p) and math.isnan(pair.low) for pair in found.findings[0].contrasts)
    assert everywhere(found)


def test_a_judge_that_was_fitted_on_the_data_is_told() -> None:
    examples = list(rejoinder.read("@conture"))[:60]
    found = full_study(examples, ["rejoinder", "length"], resamples=100)
    assert found.fitted == {"rejoinder": ["conture_turn"]}
    assert found.to_dict()["fitted"] == {"rejoinder": ["conture_turn"]}
    assert found.answer[2] == "rejoinder was fitted on lines of conture_turn, these or others: on those it does better."


def test_a_judge_that_nobody_asked_for_is_withheld_from_what_it_was_fitted_on() -> None:
    """By every function that studies, so that they and the command agree."""
    seen = list(rejoinder.read("@conture"))[:60]
    found = full_study(seen, resamples=0)
    assert found.withheld == {"rejoinder": ["conture_turn"]} and found.fitted == {}
    assert found.asked == tuple(name for name in SCORERS if name != "rejoinder")
    assert tuple(rejoinder.study(seen, resamples=0).signatures) == found.asked
    pairs = [Pair((one, replace(one, response="yes")), 0) for one in seen[:6]]
    chosen = rejoinder.study_pairs(pairs, resamples=0)
    assert (chosen.withheld, chosen.asked) == (found.withheld, found.asked)
    assert rejoinder.study_pairs(pairs, ["rejoinder"], resamples=0).fitted == found.withheld
    assert rejoinder.compare(seen, seen, resamples=100).fitted == found.withheld, (
        "it has no other judge to fall back on"
    )


def test_all_scorers_are_asked_about_other_lines() -> None:
    unseen = [replace(one, dataset="mine") for one in list(rejoinder.read("@conture"))[:60]]
    found = full_study(unseen, resamples=0)
    assert found.asked == tuple(SCORERS) and not found.withheld and not found.fitted


def test_every_figure_of_a_study_is_a_row() -> None:
    """A record of each analysis, looked up by what it is about; nobody lists them."""
    examples = [replace(one, references=("a b c d", "word")) for one in lines(120)]
    given = {"given": scores(noisy(examples, 0.5)), "other": scores(noisy(examples, 2.0))}
    found = full_study(examples, given, resamples=50)
    (here,) = found.findings
    rows: dict[tuple[str, ...], dict[str, Any]] = {
        (row["scorer"], row["level"], row["statistic"]): row for row in rows_of(found)
    }
    contrast, effect = here.contrasts[0], here.lengths[0]
    system, share = here.systems.rows[0], standing(here, "given").share
    expected = [
        (here.people.ceiling, "people", "turn", "ceiling of pearson"),
        (here.people.halves, "people", "turn", "pearson, random halves of the raters"),
        (standing(here, "given").within, "given", "turn", "pearson inside systems"),
        (share, "given", "turn", "share of the ceiling"),
        (contrast, f"{contrast.first} less {contrast.second}", "turn", "pearson"),
        (effect, effect.scorer, "turn", "mean near a reference's length less mean far from it"),
        (system.rating, "people", "system", f"mean rating of {system.system}"),
        *((row, row.scorer, row.level, row.statistic) for row in found.agreements),
    ]
    for figure, *about in expected:
        row = rows[tuple(about)]
        assert (row["value"], row["low"], row["high"]) == tuple(map(plain, (figure.value, *figure.ends))), about
        assert row["dataset"] == here.card.dataset and row["method"] and row["seed"] == 0
    assert rows["people", "turn", "ceiling of pearson"]["n"] == here.people.items
