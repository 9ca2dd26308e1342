"""Raters of a data set: who rated what, how much they agree, who is left out, and one rating from their ratings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conftest import GOLDEN
from rejoinder.analysis.aggregation import AGGREGATIONS, aggregate
from rejoinder.analysis.agreement_of_raters import agreement, suspects
from rejoinder.analysis.raters import (
    CHECK,
    NO_RATER,
    Attention,
    Raters,
    attention_of,
    below_kappa,
    missed_checks,
    unified_names,
)
from rejoinder.data.rated import rated_sets, ratings_of
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate, one, pick
from rejoinder.example import Example, Rating
from rejoinder.stats.resamples import Sampling

SAMPLING = Sampling(100, 0)
NAMES = ("ann", "bob", "cleo", "dora")
RNG = np.random.default_rng(0)


def line(number: int, given: Sequence[tuple[str | None, float]], **more: Any) -> Example:
    ratings = [Rating(value, rater=name) for name, value in given]
    return Example((f"about {number // 2}",), "yes", id=str(number), ratings=tuple(ratings), **more)


def raters_of(lines: Sequence[Example]) -> Raters:
    (rated,) = rated_sets(lines, ratings_of(lines, "overall"), "overall").sets
    return Raters.of(rated)


def panel(noise: Sequence[float], lines: int = 60) -> Raters:
    """Return raters of known noise on lines whose truth is 1 to 5; one of noise 9 answers at random."""
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, lines)
    rows = []
    for number, true in enumerate(truth):
        given = []
        for name, width in zip(NAMES, noise, strict=False):
            value = rng.integers(1, 6) if width == 9 else np.clip(round(true + rng.normal(0, width)), 1, 5)
            given.append((name, float(value)))
        rows.append(line(number, given, scales={"overall": (1, 5)}))
    return raters_of(rows)


def of_all(rows: Sequence[Estimate], statistic: str) -> Estimate:
    return one(rows, statistic=statistic, rater="")


# who rated what


def test_who_rated_what() -> None:
    raters = raters_of([line(0, [("bob", 2), ("ann", 3)]), line(1, [("cleo", 4)]), line(2, [("ann", 5), ("bob", 1)])])
    assert raters.names == ("ann", "bob", "cleo") and raters.named
    assert raters.raters.tolist() == [[1, 0], [2, NO_RATER], [0, 1]]
    assert raters.counts.tolist() == [2, 2, 1]
    assert raters.table[0].tolist()[:2] == [3, 2] and np.isnan(raters.table[0, 2])
    assert [column.tolist() for column in raters.pairs] == [[0, 2], [0, 0], [1, 1], [3, 5], [2, 1]]
    assert len(raters.pairs.both_ways.lines) == 4


def test_a_repeated_rating_and_one_without_a_rater_are_counted_and_left_out() -> None:
    raters = raters_of([line(0, [("ann", 2), ("ann", 5), (None, 3), ("bob", 4)])])
    assert (raters.repeated, raters.nameless) == (1, 1)
    assert raters.ratings[0, [0, 3]].tolist() == [2, 4] and np.isnan(raters.ratings[0, 1:3]).all()


def test_without_names_places_count_as_raters() -> None:
    raters = raters_of([line(number, [(None, number % 5), (None, (number + 1) % 5)]) for number in range(20)])
    assert (raters.named, raters.names) == (False, ("rating 1", "rating 2"))
    rows = agreement(raters, SAMPLING)
    assert of_all(rows, "kappa").known and not any(row.rater for row in rows)


def test_a_shuffle_keeps_the_ratings_of_each_line() -> None:
    raters = panel((0.5, 0.8, 1.2)).without({"bob": ""})
    mixed = raters.shuffled(np.random.default_rng(1))
    assert (np.sort(mixed.ratings, axis=1)[:, :2] == np.sort(raters.ratings, axis=1)[:, :2]).all()
    assert (np.isnan(mixed.ratings) == np.isnan(raters.ratings)).all() and (mixed.ratings != raters.ratings).any()


def test_names_that_differ_in_case_or_blanks_only_are_one_rater() -> None:
    lines = [line(0, [("Anna", 2), ("bob", 3)]), line(1, [("anna ", 4)]), line(2, [("ANNA", 5), ("bob", 1)])]
    unified, joined, kept = unified_names([*lines, line(3, [("Anna", 1)])])
    assert [rating.rater for each in unified for rating in each.ratings] == [
        "Anna",
        "bob",
        *["Anna"] * 2,
        "bob",
        "Anna",
    ]
    assert (joined, kept) == ([["ANNA", "Anna", "anna "]], [])
    assert unified_names(unified) == (unified, [], [])


def test_names_that_differ_in_blanks_only_are_one_rater_on_one_line_too() -> None:
    (unified,), joined, _ = unified_names([line(0, [("ann", 2), ("ann ", 3), ("bob", 1), (" ann", 4)])])
    assert len({rating.rater for rating in unified.ratings}) == 2 and joined == [[" ann", "ann", "ann "]]


def test_two_raters_of_one_line_are_two_whatever_their_names() -> None:
    lines = [line(0, [("aB", 2), ("ab", 3)]), line(1, [("AB", 4)])]
    assert unified_names(lines) == (lines, [], [["AB", "aB", "ab"]])


# agreement


def test_raters_who_always_agree_have_values_of_one() -> None:
    rows = agreement(panel((0, 0, 0)), SAMPLING)
    for name in ("kappa", "kappa linear", "kappa quadratic", "spearman", "alpha nominal", "alpha ordinal"):
        row = of_all(rows, name)
        assert (row.value, row.low, row.high) == pytest.approx((1, 1, 1)), name
    for name in ("alpha interval", "ICC(1)", "ICC(1,k)", "ICC(2,1)", "ICC(2,k)", "ICC(3,1)", "ICC(3,k)"):
        assert of_all(rows, name).value == pytest.approx(1), name
    assert of_all(rows, "pearson of halves").value == pytest.approx(1)
    assert (of_all(rows, "kappa").n, of_all(rows, "alpha interval").n, of_all(rows, "kappa").contexts) == (3, 60, 30)


def test_intervals_hold_the_values() -> None:
    rows = agreement(panel((0.5, 0.8, 1.2)), Sampling(300, 0))
    for row in rows:
        if row.has_interval:
            assert row.low < row.value < row.high, row
    assert {row.n for row in pick(rows, statistic="kappa quadratic", versus="") if row.rater} == {120}
    assert {row.n for row in pick(rows, statistic="mean rating")} == {60}
    assert [(row.rater, row.versus) for row in pick(rows, statistic="kappa") if row.versus] == [
        ("ann", "bob"),
        ("ann", "cleo"),
        ("bob", "cleo"),
    ]


def test_a_median_over_pairs_is_that_of_the_golden_panel() -> None:
    golden = json.loads((GOLDEN / "kappa.json").read_text())["panel_of_five"]
    table = np.array(golden["ratings_raters_by_items"], dtype=float).T
    rows = [line(2 * place, [(f"r{who}", value) for who, value in enumerate(row)]) for place, row in enumerate(table)]
    raters = raters_of(rows)
    estimates = agreement(raters, SAMPLING)
    for name, key in (("kappa", "unweighted"), ("kappa linear", "linear"), ("kappa quadratic", "quadratic")):
        median = of_all(estimates, name)
        assert median.value == pytest.approx(golden[key]["median_over_all_pairs"], abs=1e-12)
        assert median.low < median.value < median.high, "the interval is moved to the median of the data"
        out = below_kappa(raters, 0.2, key)  # type: ignore[arg-type]
        kept = [who for who in range(table.shape[1]) if f"r{who}" not in out]
        assert kept == golden[key]["kept_at_threshold_0.2_on_mean"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [([("ann", None)], "three are needed"), ([("ann", 3), ("bob", 3)], "all ratings are the same (3)")],
)
def test_one_rater_or_one_value_has_a_reason(given: list[tuple[str, float | None]], reason: str) -> None:
    lines = [line(n, [(name, n % 5 if value is None else value) for name, value in given]) for n in range(9)]
    rows = agreement(raters_of(lines), SAMPLING)
    assert reason in rows[0].reason and {row.statistic for row in rows if row.known} == {
        "mean rating",
        "spread of ratings",
    }


def test_ratings_that_are_not_categories_have_no_kappa() -> None:
    rng = np.random.default_rng(0)
    rows = agreement(raters_of([line(n, [("ann", rng.random()), ("bob", rng.random())]) for n in range(80)]), SAMPLING)
    assert "categories" in of_all(rows, "kappa").reason and "categories" in of_all(rows, "alpha interval").reason
    assert of_all(rows, "ICC(1)").known and of_all(rows, "spearman").known


# who is left out


def test_the_rule_leaves_out_a_rater_who_answers_at_random() -> None:
    out = below_kappa(panel((0.5, 0.5, 0.5, 9)), 0.2)
    assert list(out) == ["dora"] and "below 0.2" in out["dora"]
    assert below_kappa(panel((0.5, 0.5, 0.5, 9)), None) == {}


def test_kappa_leaves_out_only_raters_of_ten_pairs_and_two_others() -> None:
    assert below_kappa(panel((9, 9, 9), lines=4), 0.2) == {} == below_kappa(panel((9, 9)), 0.2)
    assert len(below_kappa(panel((9, 9, 9)), 0.2)) == 3


def test_one_missed_check_is_enough() -> None:
    checks = [
        line(0, [("ann", 1), ("bob", 5)], extra={CHECK: 1}),
        line(1, [("ann", 2), ("bob", 2)], extra={CHECK: [1, 2]}),
    ]
    attention = attention_of(checks, "overall")
    assert attention == {"ann": Attention(0, 2), "bob": Attention(1, 2)}
    assert missed_checks(panel((0, 0)), attention) == {"bob": "missed 1 of 2 attention checks"}


@pytest.mark.parametrize("check", ["yes", [2, 1], [1, 2, 3], None, True])
def test_a_check_that_states_no_rating_is_refused(check: object) -> None:
    with pytest.raises(DataError, match='field "check"'):
        attention_of([line(0, [("ann", 1)], extra={CHECK: check})], "overall")


# suspects


def test_a_rater_who_answers_at_random_is_a_suspect() -> None:
    rows = suspects(panel((0.5, 0.5, 0.5, 9)), SAMPLING)
    assert [(row.rater, row.n, str(row.verdict)) for row in rows] == [
        ("ann", 60, "inconclusive"),
        ("bob", 60, "inconclusive"),
        ("cleo", 60, "inconclusive"),
        ("dora", 60, "above"),
    ]
    assert rows[3].p == pytest.approx(1 / 2001) and rows[3].p_adjusted == pytest.approx(4 / 2001)
    assert rows == suspects(panel((0.5, 0.5, 0.5, 9)), SAMPLING) and rows[3].reason == ""


def test_a_distance_by_hand() -> None:
    """Ann is 3 from the mean of bob and cleo on each of ten lines; these are 1.5 from the mean of the other two."""
    rows = suspects(raters_of([line(n, [("ann", 5), ("bob", 2), ("cleo", 2)]) for n in range(10)]), SAMPLING)
    assert [row.value for row in rows] == pytest.approx([9, 2.25, 2.25])
    assert rows[0].p == pytest.approx(1 / 2001, abs=2 / 2001) and rows[1].p == 1, "by chance 3 ** -10"


@pytest.mark.parametrize("noise", [(0.5, 9), (0.5, 0.5, 9)])
def test_suspects_need_ten_lines_of_three_ratings(noise: tuple[float, ...]) -> None:
    assert suspects(panel(noise, lines=9), SAMPLING) == []
    assert bool(suspects(panel(noise, lines=10), SAMPLING)) == (len(noise) == 3)
    unnamed = raters_of([line(n, [(None, 1), (None, 2), (None, n % 5)]) for n in range(20)])
    assert suspects(unnamed, SAMPLING) == []


def test_distances_do_not_depend_on_the_scale() -> None:
    raters = panel((0.5, 0.8, 1.2))
    rows, larger = suspects(raters, SAMPLING), suspects(replace(raters, ratings=raters.ratings * 1e150), SAMPLING)
    assert [row.p for row in rows] == [row.p for row in larger]
    assert max(row.value for row in larger) > 1e299


# one rating a line


def test_mean_median_and_majority() -> None:
    given = ([("ann", 1), ("bob", 5), ("cleo", 5)], [("ann", 2), ("bob", 4)], [("ann", 3), ("bob", 3), ("cleo", 4)])
    raters = raters_of([line(number, row, scales={"overall": (1, 5)}) for number, row in enumerate(given)])
    values = {name: aggregate(raters, name, rng=RNG).values.tolist() for name in ("mean", "median", "majority")}
    assert values["mean"] == pytest.approx([11 / 3, 3, 10 / 3])
    assert (values["median"], values["majority"]) == ([5, 3, 3], [5, 3, 3])


def test_z_scores_remove_strictness_and_a_rater_of_one_value_adds_nothing() -> None:
    truth = np.random.default_rng(0).normal(3, 1, 50)
    rows = [line(number, [("ann", true - 1) if number % 2 else ("bob", true + 1)]) for number, true in enumerate(truth)]
    raters = raters_of(rows)
    assert np.corrcoef(aggregate(raters, "z-score", rng=RNG).values, truth)[0, 1] > 0.95
    assert np.corrcoef(aggregate(raters, rng=RNG).values, truth)[0, 1] < 0.85
    constant = raters_of([line(number, [("ann", 3)]) for number in range(4)])
    assert aggregate(constant, "z-score", rng=RNG).values.tolist() == [3] * 4


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_every_aggregation_gives_the_truth_of_raters_who_know_it(name: Any) -> None:
    raters = panel((0, 0, 9)).without({"cleo": ""})
    made = aggregate(raters, name, rng=np.random.default_rng(0))
    assert made.values == pytest.approx(raters.ratings[:, 0], abs=1e-6) and made.uncertain == 0
    if name in ("mace", "dawid-skene"):
        assert set(made.competence) == {"ann", "bob"} and min(made.competence.values()) > 0.9


def test_the_least_certain_lines_get_no_rating() -> None:
    raters = panel((0.5, 0.8, 9))
    every, some = (aggregate(raters, "mace", rng=np.random.default_rng(0), share=share) for share in (1.0, 0.75))
    kept = np.isfinite(some.values)
    assert (some.uncertain, (~kept).sum()) == (15, 15) and (some.values[kept] == every.values[kept]).all()
    spread = raters.ratings.std(axis=1)
    assert spread[kept].mean() < spread[~kept].mean()


@pytest.mark.parametrize(("name", "share"), [("most", 1.0), ("mace", 0.0), ("mace", 1.1), ("mean", 0.5)])
def test_an_unknown_aggregation_or_share_is_refused(name: Any, share: float) -> None:
    with pytest.raises(UsageError):
        aggregate(panel((0, 0)), name, rng=RNG, share=share)


def test_a_model_needs_ratings_of_few_values() -> None:
    with pytest.raises(DataError, match="no ratings"):
        aggregate(panel((0, 0)).without({"ann": "", "bob": ""}), "mace", rng=RNG)
    with pytest.raises(DataError, match="120 values"):
        aggregate(replace(panel((0, 0)), ratings=np.arange(120.0).reshape(60, 2)), "dawid-skene", rng=RNG)
