"""Raters of a data set: who rated what, how far they agree, who is left out, and what becomes of their ratings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conftest import GOLDEN
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Rating
from rejoinder.humans.aggregation import AGGREGATIONS, aggregate, surest
from rejoinder.humans.agreeing import agreement_of
from rejoinder.humans.exclusion import CHECK, Rule, Watched, excluded, watched
from rejoinder.data.rated import RatedSet, rated_sets, ratings_of
from rejoinder.humans.raters import NOBODY, Raters, one_spelling, raters_of
from rejoinder.stats.resamples import Sampling

SAMPLING = Sampling(100, 0)
NAMES = ("ann", "bob", "cleo", "dora")


def line(number: int, given: Sequence[tuple[str | None, float]], **more: Any) -> Example:
    ratings = [Rating(value, rater=name) for name, value in given]
    return Example((f"about {number // 2}",), "yes", id=str(number), ratings=tuple(ratings), **more)


def set_of(lines: Sequence[Example]) -> RatedSet:
    (found,) = rated_sets(lines, ratings_of(lines, "overall"), "overall").sets
    return found


def panel(noise: Sequence[float], lines: int = 60, seed: int = 0) -> Raters:
    """Raters of known noise on lines whose truth is 1 to 5; who has noise 9 answers at random."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, lines)
    rows = []
    for number, true in enumerate(truth):
        given = []
        for name, width in zip(NAMES, noise, strict=False):
            value = rng.integers(1, 6) if width == 9 else np.clip(round(true + rng.normal(0, width)), 1, 5)
            given.append((name, float(value)))
        rows.append(line(number, given, scales={"overall": (1, 5)}))
    return raters_of(set_of(rows))


def test_who_rated_what() -> None:
    found = raters_of(
        set_of([line(0, [("bob", 2), ("ann", 3)]), line(1, [("cleo", 4)]), line(2, [("ann", 5), ("bob", 1)])])
    )
    assert found.names == ("ann", "bob", "cleo") and found.named
    assert found.raters.tolist() == [[1, 0], [2, NOBODY], [0, 1]]
    assert found.count().tolist() == [2, 2, 1]
    assert found.table[0].tolist()[:2] == [3, 2] and np.isnan(found.table[0, 2])
    met = found.meetings
    assert (met.lines.tolist(), met.first.tolist(), met.second.tolist()) == ([0, 2], [0, 0], [1, 1])
    assert (met.one.tolist(), met.other.tolist()) == ([3, 5], [2, 1])
    assert len(met.both_ways.lines) == 4


def test_a_rating_given_again_and_one_of_nobody_are_counted_and_left_out() -> None:
    found = raters_of(set_of([line(0, [("ann", 2), ("ann", 5), (None, 3), ("bob", 4)])]))
    assert (found.again, found.nameless) == (1, 1)
    assert found.ratings[0, [0, 3]].tolist() == [2, 4] and np.isnan(found.ratings[0, 1:3]).all()


def test_where_nobody_is_named_places_stand_for_raters() -> None:
    found = raters_of(set_of([line(number, [(None, number % 5), (None, (number + 1) % 5)]) for number in range(20)]))
    assert (found.named, found.names) == (False, ("rating 1", "rating 2"))
    agreed = agreement_of(found, SAMPLING)
    assert agreed.kappa.known and not agreed.by_rater and not agreed.by_pair and not agreed.named


def test_raters_who_always_agree_have_figures_of_one() -> None:
    agreed = agreement_of(panel((0, 0, 0)), SAMPLING)
    for name in ("kappa", "kappa_linear", "kappa_quadratic", "spearman", "alpha_nominal", "alpha_ordinal"):
        figure = getattr(agreed, name)
        assert (figure.value, figure.low, figure.high) == pytest.approx((1, 1, 1)), name
    for name in ("alpha_interval", "icc_1", "icc_1k", "icc_2", "icc_2k", "icc_3", "icc_3k", "halves"):
        assert getattr(agreed, name).value == pytest.approx(1), name
    assert (agreed.raters, agreed.lines, agreed.ratings, agreed.pairs) == (3, 60, 180, 3)


def test_intervals_hold_the_figures() -> None:
    agreed = agreement_of(panel((0.5, 0.8, 1.2)), Sampling(300, 0))
    for name in ("kappa_quadratic", "spearman", "alpha_interval", "icc_1", "icc_2", "halves"):
        figure = getattr(agreed, name)
        assert figure.low < figure.value < figure.high, name
    for rater in agreed.by_rater:
        assert rater.kappa_quadratic.low < rater.kappa_quadratic.value < rater.kappa_quadratic.high
        assert rater.n == 120 and rater.ratings == 60


def test_a_median_over_pairs_is_that_of_the_golden_panel() -> None:
    golden = json.loads((GOLDEN / "kappa.json").read_text())["panel_of_five"]
    table = np.array(golden["ratings_raters_by_items"], dtype=float).T
    rows = [line(2 * place, [(f"r{who}", value) for who, value in enumerate(row)]) for place, row in enumerate(table)]
    agreed = agreement_of(raters_of(set_of(rows)), SAMPLING)
    for name, key in (("kappa", "unweighted"), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")):
        assert getattr(agreed, name).value == pytest.approx(golden[key]["median_over_all_pairs"], abs=1e-12)
        rule = Rule(0.2, key)  # type: ignore[arg-type]
        out = {one.rater for one in excluded(agreed.by_rater, {}, rule)}
        kept = [who for who in range(table.shape[1]) if f"r{who}" not in out]
        assert kept == golden[key]["kept_at_threshold_0.2_on_mean"]


def test_one_rater_or_one_value_is_told() -> None:
    alone = agreement_of(raters_of(set_of([line(number, [("ann", number % 5)]) for number in range(9)])), SAMPLING)
    assert "three are needed" in alone.reason and not alone.kappa.known
    alike = agreement_of(raters_of(set_of([line(n, [("ann", 3), ("bob", 3)]) for n in range(9)])), SAMPLING)
    assert alike.reason == "all ratings are the same (3)"


def test_ratings_that_are_no_categories_have_no_kappa() -> None:
    rng = np.random.default_rng(0)
    rows = [line(number, [("ann", rng.random()), ("bob", rng.random())]) for number in range(80)]
    agreed = agreement_of(raters_of(set_of(rows)), SAMPLING)
    assert "no categories" in agreed.kappa.reason and "no categories" in agreed.alpha_interval.reason
    assert agreed.icc_1.known and agreed.spearman.known


def test_the_rule_leaves_out_who_answers_at_random() -> None:
    agreed = agreement_of(panel((0.5, 0.5, 0.5, 9)), SAMPLING)
    (out,) = excluded(agreed.by_rater, {}, Rule(0.2))
    assert out.rater == "dora" and "below 0.2" in out.why and out.ratings == 60
    assert excluded(agreed.by_rater, {}, Rule(-1.0)) == ()


def test_who_shares_too_little_is_not_judged() -> None:
    for raters in (panel((9, 9, 9), lines=4), panel((9, 9))):
        assert excluded(agreement_of(raters, SAMPLING).by_rater, {}, Rule(0.2)) == ()
    assert len(excluded(agreement_of(panel((9, 9, 9)), SAMPLING).by_rater, {}, Rule(0.2))) == 3


def test_a_missed_check_is_enough() -> None:
    checks = [
        line(0, [("ann", 1), ("bob", 5)], extra={CHECK: 1}),
        line(1, [("ann", 2), ("bob", 3)], extra={CHECK: [1, 2]}),
    ]
    known = watched(checks, "overall")
    assert known == {"ann": Watched(0, 2), "bob": Watched(2, 2)}
    (out,) = excluded(agreement_of(panel((0, 0)), SAMPLING).by_rater, known, Rule(0.2))
    assert (out.rater, out.why) == ("bob", "missed 2 of 2 attention checks")


@pytest.mark.parametrize("check", ["yes", [2, 1], [1, 2, 3], None, True])
def test_a_check_that_says_no_rating_is_refused(check: object) -> None:
    with pytest.raises(DataError, match='field "check"'):
        watched([line(0, [("ann", 1)], extra={CHECK: check})], "overall")


@pytest.mark.parametrize(("least", "weighting"), [(1.5, "linear"), (float("nan"), "linear"), (0.2, "cubic")])
def test_a_rule_that_is_none_is_refused(least: float, weighting: Any) -> None:
    with pytest.raises(UsageError):
        Rule(least, weighting)


def test_plain_aggregations_are_what_they_say() -> None:
    rows = [
        line(0, [("ann", 1), ("bob", 5), ("cleo", 5)], scales={"overall": (1, 5)}),
        line(1, [("ann", 2), ("bob", 4)], scales={"overall": (1, 5)}),
        line(2, [("ann", 3), ("bob", 3), ("cleo", 4)], scales={"overall": (1, 5)}),
    ]
    found = {
        name: aggregate(raters_of(set_of(rows)), name, rng=np.random.default_rng(0)).values.tolist()
        for name in ("mean", "median", "majority")
    }
    assert found["mean"] == pytest.approx([11 / 3, 3, 10 / 3])
    assert (found["median"], found["majority"]) == ([5, 3, 3], [5, 3, 3])


def test_z_scores_take_out_who_is_stricter() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(3, 1, 50)
    rows = []
    for number, true in enumerate(truth):
        strict, mild = ("ann", true - 1), ("bob", true + 1)
        rows.append(line(number, [strict if number % 2 else mild]))
    found = aggregate(raters_of(set_of(rows)), "z-score", rng=rng)
    assert np.corrcoef(found.values, truth)[0, 1] > 0.95
    assert np.corrcoef(aggregate(raters_of(set_of(rows)), rng=rng).values, truth)[0, 1] < 0.85


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_every_aggregation_finds_the_truth_of_raters_who_know(name: Any) -> None:
    raters = panel((0, 0, 0))
    found = aggregate(raters, name, rng=np.random.default_rng(0))
    assert found.values == pytest.approx(raters.ratings[:, 0], abs=1e-6) and found.unsure == 0
    if name in ("mace", "dawid-skene"):
        assert set(found.competence) == {"ann", "bob", "cleo"} and min(found.competence.values()) > 0.9


def test_who_is_left_out_is_in_no_aggregation() -> None:
    raters = panel((0, 0, 9)).without([2])
    for name in AGGREGATIONS:
        found = aggregate(raters, name, rng=np.random.default_rng(0))
        assert found.values == pytest.approx(raters.ratings[:, 0], abs=1e-6), name
        assert "cleo" not in found.competence


def test_the_least_sure_lines_go_without_a_rating() -> None:
    raters = panel((0.5, 0.8, 9))
    every = aggregate(raters, "mace", rng=np.random.default_rng(0))
    some = aggregate(raters, "mace", rng=np.random.default_rng(0), share=0.75)
    assert (some.unsure, np.isnan(some.values).sum()) == (15, 15)
    assert every.entropy[np.isnan(some.values)].min() >= every.entropy[np.isfinite(some.values)].max()
    assert surest(np.array([0.3, np.nan, 0.1, 0.2]), 0.5).tolist() == [False, False, True, True]


@pytest.mark.parametrize(("name", "share"), [("most", 1.0), ("mace", 0.0), ("mace", 1.1), ("mean", 0.5)])
def test_an_aggregation_that_is_none_is_refused(name: Any, share: float) -> None:
    with pytest.raises(UsageError):
        aggregate(panel((0, 0)), name, rng=np.random.default_rng(0), share=share)


def test_a_model_of_nobody_or_of_no_categories_is_refused() -> None:
    with pytest.raises(DataError, match="nobody"):
        aggregate(panel((0, 0)).without([0, 1]), "mace", rng=np.random.default_rng(0))
    fine = panel((0, 0))
    with pytest.raises(DataError, match="120 values"):
        numbers = np.arange(120.0).reshape(60, 2)
        aggregate(replace(fine, ratings=numbers), "dawid-skene", rng=np.random.default_rng(0))


def test_names_that_differ_in_case_or_blanks_alone_are_one_rater() -> None:
    lines = [line(0, [("Anna", 2), ("bob", 3)]), line(1, [("anna ", 4)]), line(2, [("ANNA", 5), ("bob", 1)])]
    found, told = one_spelling([*lines, line(3, [("Anna", 1)])])
    assert [one.rater for each in found for one in each.ratings] == ["Anna", "bob", "Anna", "Anna", "bob", "Anna"]
    assert told == ["Names that differ in case or blanks alone were taken as one rater: 'ANNA' and 'Anna' and 'anna '."]
    assert one_spelling(found) == (found, [])


def test_names_that_differ_in_blanks_alone_are_one_person_in_one_line_too() -> None:
    twice = line(0, [("ann", 2), ("ann ", 3), ("bob", 1), (" ann", 4)])
    assert [one.value for one in twice.counted("overall")] == [2, 1]
    (found,), told = one_spelling([twice])
    assert [one.rater for one in found.ratings] == [found.ratings[0].rater] * 2 + ["bob", found.ratings[0].rater]
    assert len(told) == 1 and "one rater" in told[0]


def test_two_who_rated_one_line_are_two_whatever_their_names() -> None:
    lines = [line(0, [("aB", 2), ("ab", 3)]), line(1, [("AB", 4)])]
    found, told = one_spelling(lines)
    assert found == lines
    assert told == [
        "Names that differ in case or blanks alone were taken as several raters, who rated the same lines: "
        "'AB' and 'aB' and 'ab'."
    ]
