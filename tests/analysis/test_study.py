"""`study`: its figures against scipy and by hand, and what happens to odd data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import rejoinder
from count_modules import modules_passed
from rated_lines import SCALE, given, lines, noisy, plain_lines, ratings_of
from rejoinder.analysis.analyses import WITHOUT_COPIES
from rejoinder.analysis.verdicts import beyond_chance
from rejoinder.analysis.within import SYSTEM_MEAN, SYSTEMS
from rejoinder.errors import DataError, NothingScored, RejoinderError, UsageError
from rejoinder.estimates import Estimate, Verdict, pick
from rejoinder.example import Example, Rating
from rejoinder.report.results import Results
from rejoinder.scorer import FloatArray
from rejoinder.scoring.catalog import SCORERS
from scored_sets import scored_sets


def study(examples: object, scorers: object = ("length",), **options: object) -> Results:
    """Return a study with few resamples."""
    return rejoinder.study(examples, scorers, **{"resamples": 50, **options})  # type: ignore[arg-type]


def numbers(results: Results, **labels: object) -> list[tuple[object, ...]]:
    """Return labels, values and intervals, but for p of contrasts: they need more swaps for more scorers."""
    return sorted(
        (
            *(row.dataset, row.scorer, row.versus, row.system, row.level, row.group, row.statistic),
            *(round(value, 12) for value in (row.value, row.low, row.high) if not math.isnan(value)),
        )
        for row in results.pick(**labels)
    )


# agreement


@pytest.mark.parametrize("name", ["usr_personachat", "grade_empathetic"])
def test_correlations_of_real_ratings_are_those_of_scipy(shared: Path, name: str) -> None:
    examples = list(rejoinder.read(shared / "data" / "judgements" / f"{name}.jsonl.gz"))
    results = study(examples, resamples=0)
    scores, ratings = rejoinder.score(examples, "length").values, ratings_of(examples).round(9)
    for statistic, expected in (
        ("pearson", stats.pearsonr(scores, ratings)),
        ("spearman", stats.spearmanr(scores, ratings)),
        ("kendall", stats.kendalltau(scores, ratings)),
    ):
        row = results.one(scorer="length", level="turn", statistic=statistic)
        assert row.value == pytest.approx(expected.statistic, abs=1e-9) and row.n == len(examples)
    chance = results.one(scorer="length", statistic="pearson by chance")
    assert chance.p == results.one(scorer="length", level="turn", statistic="pearson").p, "that of the verdict"


def test_systems_are_correlated_by_their_means() -> None:
    examples = [replace(one, system="abcd"[place % 4]) for place, one in enumerate(lines())]
    values = noisy(examples, 1.0)
    row = study(examples, {"given": given(values)}).one(scorer="given", level="system", statistic="pearson")
    means = [[np.mean(array[place::4]) for place in range(4)] for array in (np.array(values), ratings_of(examples))]
    expected = stats.pearsonr(*means)
    assert (row.value, row.p) == pytest.approx((expected.statistic, expected.pvalue)) and row.n == 4
    assert not row.has_interval and row.reason == "no interval: 4 systems, ten are needed"


def test_ten_systems_have_an_interval_over_systems_and_contexts() -> None:
    examples = [replace(one, system="abcdefghij"[place % 10]) for place, one in enumerate(lines(200))]
    row = study(examples, {"given": given(noisy(examples, 1.0))}, resamples=200).one(
        scorer="given", level="system", statistic="pearson"
    )
    assert row.low < row.value < row.high and (row.n, row.contexts) == (10, len({one.context for one in examples}))


@pytest.mark.parametrize(("systems", "reason"), [("a", "one system"), ("ab", "two systems")])
def test_one_or_two_systems_have_no_correlation(systems: str, reason: str) -> None:
    examples = [replace(one, system=systems[place % len(systems)]) for place, one in enumerate(lines())]
    row = study(examples).one(scorer="length", level="system", statistic="pearson")
    assert not row.known and row.reason.startswith(reason)


def less_means(values: FloatArray, parts: NDArray[np.int64]) -> FloatArray:
    centred: FloatArray = values - np.array([values[parts == part].mean() for part in parts])
    return centred


def test_within_systems_and_contexts_scores_and_ratings_are_centred() -> None:
    """The last line is the only one of its system."""
    examples = [*lines(), replace(lines(61)[60], system="alone")]
    values = noisy(examples, 1.0)
    results = study(examples, {"given": given(values)})
    systems, ratings = np.arange(60) % 3, ratings_of(examples)
    row = results.one(scorer="given", statistic=SYSTEMS)
    both = [less_means(np.array(own)[:60], systems) for own in (values, ratings)]
    assert row.value == pytest.approx(stats.pearsonr(*both).statistic) and row.low < row.value < row.high
    assert row.n == 60 and row.verdict == Verdict.ABOVE
    contexts = np.array([hash(one.context) for one in examples])
    several = np.array([(contexts == context).sum() > 1 for context in contexts])
    row = results.one(scorer="given", statistic="pearson within contexts")
    both = [less_means(np.array(own)[several], contexts[several]) for own in (values, ratings)]
    assert row.value == pytest.approx(stats.pearsonr(*both).statistic) and row.n == several.sum()
    alone = [replace(one, context=(str(place),)) for place, one in enumerate(examples)]
    assert not study(alone).pick(statistic="pearson within contexts")


def test_a_scorer_that_knows_systems_alone_has_nothing_within() -> None:
    examples = lines()
    row = study(examples, {"flat": given([float(place % 3) for place in range(60)])}).one(
        scorer="flat", statistic=SYSTEMS
    )
    assert not row.known and "score within systems is the same in all 60 pairs" in row.reason


def test_the_ceiling_within_systems_is_lower() -> None:
    results = study(lines(90), resamples=100)
    over_all, inside = (results.one(statistic=f"ceiling of pearson{part}") for part in ("", " within systems"))
    assert inside.low < inside.value < inside.high and inside.value < over_all.value


def test_copies_of_a_reference_have_a_row_without_them() -> None:
    examples = [replace(one, references=(one.response,)) if place < 6 else one for place, one in enumerate(lines())]
    values = noisy(examples, 1.0)
    results = study(examples, {"given": given(values)})
    without = results.one(scorer="given", statistic="pearson", level="turn", **WITHOUT_COPIES)
    assert without.value == pytest.approx(stats.pearsonr(values[6:], ratings_of(examples)[6:]).statistic)
    assert (without.n, results.about.data[0]["copies"], results.about.counts["copies"]) == (54, 6, 6)
    left_out = study(examples, {"given": given(values)}, drop_copies=True)
    assert left_out.one(scorer="given", statistic="pearson", level="turn", group="").n == 54
    assert not study(lines()).pick(by="lines")


def test_intervals_rest_on_the_contexts_that_have_a_score() -> None:
    """One draw of all contexts serves every scorer, also those that miss contexts."""
    examples, values = lines(), noisy(lines(), 1.0)
    values[:30] = [math.nan] * 30
    row = study(examples, {"half": given(values)}).one(scorer="half", statistic="pearson", level="turn")
    assert (row.n, row.unscored, row.contexts) == (30, 30, 10) and row.low < row.value < row.high


def test_figures_do_not_depend_on_other_scorers_lines_or_data_sets() -> None:
    examples = lines(dataset="one")
    scores = {"first": given(noisy(examples, 1.0)), "second": given(noisy(examples, 2.0, 2))}
    alone = study(examples, {"first": scores["first"]})
    both = study(examples, scores)
    ranks = {"statistic": {row.statistic for row in alone.estimates} - {"rank group"}}
    assert numbers(alone, scorer=("first", "raters"), versus="", **ranks) == numbers(
        both, scorer=("first", "raters"), versus="", **ranks
    )
    order = np.random.default_rng(0).permutation(60)
    shuffled = study(
        [examples[place] for place in order], {name: given(one.values[order]) for name, one in scores.items()}
    )
    # a rater of each line is drawn in the order of the lines
    drawn = {
        "statistic": {
            row.statistic
            for row in both.estimates
            if not row.statistic.endswith(("one rater", "halves", "same others"))
        }
    }
    assert numbers(shuffled, **drawn) == numbers(both, **drawn)
    twice = [*examples, *(replace(one, dataset="two") for one in examples)]
    doubled = {name: given([*one.values, *one.values]) for name, one in scores.items()}
    assert numbers(study(twice, doubled), dataset="one") == numbers(both, dataset="one")
    assert numbers(study(examples, scores, seed=1)) != numbers(both)


def test_without_resamples_there_are_values_and_no_intervals() -> None:
    row = study(lines(), resamples=0).one(scorer="length", statistic="pearson", level="turn")
    assert row.known and not row.has_interval and "no resamples" in row.reason


# raters


def test_usr_personachat_has_its_published_agreement_of_raters(shared: Path) -> None:
    results = study(list(rejoinder.read(shared / "data" / "judgements" / "usr_personachat.jsonl.gz")), resamples=100)
    assert results.one(statistic="pearson of one rater").value == pytest.approx(0.71, abs=0.01)
    ceiling = results.one(statistic="ceiling of pearson")
    assert ceiling.value == pytest.approx(0.92, abs=0.005) and ceiling.low < ceiling.value < ceiling.high
    pearson = results.one(scorer="length", statistic="pearson", level="turn")
    assert results.one(scorer="length", statistic="share of the ceiling").value == pytest.approx(
        pearson.value / ceiling.value
    )
    assert results.one(scorer="raters", statistic=SYSTEM_MEAN).value == pytest.approx(0.71, abs=0.01)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ratings": (), "quality": {"overall": 3.0}}, "only means"),
        ({"ratings": (Rating(3.0),)}, "0 items have two ratings"),
        ({"ratings": (Rating(3.0), Rating(3.0))}, "all ratings are the same"),
    ],
)
def test_the_ceiling_is_missing_with_a_reason(change: dict[str, object], reason: str) -> None:
    results = study([replace(one, **change) for one in lines()])  # type: ignore[arg-type]
    ceiling = results.one(statistic="ceiling of pearson")
    assert not ceiling.known and reason in ceiling.reason
    assert not results.pick(statistic="share of the ceiling")


# baselines


def test_the_system_mean_is_the_root_of_its_share_of_the_variance() -> None:
    """Without systems that speak in two contexts there is none; of a pool it is the mean of the data sets."""
    examples = [replace(one, context=(str(place),)) for place, one in enumerate(lines())]
    values = ratings_of(examples).reshape(20, 3)
    within, between = values.var(axis=0, ddof=1).mean(), 20 * values.mean(axis=0).var(ddof=1)
    spread = (between - within) / 20 * 2 / 3
    row = study(examples).one(scorer="raters", statistic=SYSTEM_MEAN)
    assert row.value == pytest.approx(math.sqrt(spread / (spread + within))) and row.low < row.value < row.high
    once = [replace(one, system=str(place)) for place, one in enumerate(examples)]
    assert not study(once).pick(statistic=SYSTEM_MEAN)
    two = study([*lines(dataset="one"), *lines(dataset="two", seed=1)])
    sets = [two.one(dataset=name, statistic=SYSTEM_MEAN).value for name in ("one", "two")]
    assert two.one(dataset="mean over data sets", statistic=SYSTEM_MEAN).value == pytest.approx(np.mean(sets))
    assert two.one(dataset="pooled", statistic="pearson of the data set mean").known


def test_baselines_without_a_score_are_left_out() -> None:
    one_system = [replace(one, system="a", context=()) for one in lines()]
    results = study(one_system, {"given": given(noisy(one_system, 1.0))})
    assert set(results.about.scorers) == {"given", "length"}


@pytest.mark.parametrize("order", [2, 4])
def test_bleu_without_stop_words_is_measured_with_bleu(order: int) -> None:
    name = f"bleu-{order}/no-stop-words"
    examples = [replace(one, references=("a word of mouth",)) for one in lines()]
    assert name in study(examples, [f"bleu-{order}"]).about.scorers
    assert name not in study(examples).about.scorers


# verdicts


def test_scorers_asked_for_and_others_are_two_families() -> None:
    examples = plain_lines(120)
    names = ("a", "b", "c", "d")
    (scored,), _ = scored_sets(examples, {name: np.zeros(120) for name in names}, asked=("a", "b"))
    rows = [Estimate(scorer=name, value=0.2, low=0.1, high=0.3, n=120) for name in names]
    decided = beyond_chance(rows, dict.fromkeys(names, Estimate(low=-0.18, high=0.18)), scored)
    p = math.erfc(stats.norm.ppf(0.975) * 0.2 / 0.18 / math.sqrt(2))
    assert [row.p_adjusted for row in decided] == pytest.approx([2 * p] * 4) and p < 0.05 < 2 * p
    assert {row.verdict for row in decided} == {Verdict.INCONCLUSIVE}
    (alone,) = beyond_chance(rows[:1], {"a": Estimate(low=-0.18, high=0.18)}, scored)
    assert alone.verdict == Verdict.ABOVE and alone.needed is None
    (alone,) = beyond_chance(rows[:1], {"a": Estimate(low=-0.18, high=0.18, p=0.2)}, scored)
    assert (alone.p, alone.verdict) == (0.2, Verdict.INCONCLUSIVE)


def test_only_a_single_scorer_whose_interval_excludes_0_has_a_forecast() -> None:
    """The best of several seems better than it is, and more lines of few systems may not be enough."""
    examples = plain_lines(120)
    band = Estimate(low=-0.12, high=0.12)
    open_row = Estimate(scorer="a", value=0.11, low=0.01, high=0.21, n=120, contexts=120)
    (scored,), _ = scored_sets(examples, {"a": np.zeros(120), "b": np.zeros(120)}, asked=("a", "b"))
    (alone,) = beyond_chance([open_row], {"a": band}, scored)
    assert alone.verdict == Verdict.INCONCLUSIVE and alone.needed is not None and alone.needed > 120
    assert alone.p == pytest.approx(math.erfc(stats.norm.ppf(0.975) * 0.11 / 0.12 / math.sqrt(2)))
    assert beyond_chance([replace(open_row, low=-0.01)], {"a": band}, scored)[0].needed is None
    several = beyond_chance([open_row, replace(open_row, scorer="b")], dict.fromkeys("ab", band), scored)
    assert [row.needed for row in several] == [None, None]
    of_systems = [replace(example, system="xy"[place % 2]) for place, example in enumerate(examples)]
    (scored,), _ = scored_sets(of_systems, {"a": np.zeros(120)}, asked=("a",))
    assert beyond_chance([open_row], {"a": band}, scored)[0].needed is None


@pytest.mark.parametrize("sets", [1, 2])
def test_agreement_takes_both_correlations(sets: int) -> None:
    """Scores far above the others in a few lines take Pearson's correlation away, and leave Spearman's."""
    rng = np.random.default_rng(0)
    examples = [replace(line, dataset=f"set {place % sets}", system=None) for place, line in enumerate(lines(240))]
    scores = ratings_of(examples) + rng.normal(size=240)
    far = scores + np.where(rng.permutation(240) < 4, 1000.0, 0.0)
    for values, verdict in ((scores, "above"), (far, "inconclusive")):
        results = study(examples, {"mine": given(values.tolist())}, resamples=200)
        rows = [
            results.one(scorer="mine", dataset=name, level="turn", statistic=statistic, group="")
            for name in (["set 0"] if sets == 1 else ["set 0", "set 1", "mean over data sets"])
            for statistic in ("pearson", "spearman")
        ]
        assert {row.verdict for row in rows} == {verdict}
        assert all(row.p_adjusted < 0.05 and row.low > 0 for row in rows if row.statistic == "spearman")


# length, pairs


def test_length_bias_is_what_the_ratings_do_not_explain() -> None:
    """A scorer that follows ratings that follow length has no bias; one that adds length to them has."""
    size, rng = 240, np.random.default_rng(0)
    words = np.tile(np.arange(1.0, 13.0), 20)
    ratings = ratings_of(lines(size))
    examples = [
        replace(line, response=" ".join(["w"] * int(n)), ratings=(Rating(float(rating)),))
        for line, n, rating in zip(lines(size), words, ratings, strict=True)
    ]
    fair, long = ratings + rng.normal(size=size), ratings + 0.3 * words + rng.normal(size=size)
    results = study(examples, {"fair": given(fair.tolist()), "long": given(long.tolist())}, resamples=200)
    effect = results.one(scorer="long", statistic="length effect")
    assert effect.value == pytest.approx(np.corrcoef(long, words)[0, 1]) and effect.low < effect.value < effect.high
    residuals = [values - np.polyval(np.polyfit(ratings, values, 1), ratings) for values in (fair, words)]
    biases = {row.scorer: row for row in results.pick(statistic="partial correlation given the rating")}
    assert biases["fair"].value == pytest.approx(np.corrcoef(residuals[0], residuals[1])[0, 1])
    assert (biases["fair"].verdict, biases["long"].verdict) == ("inconclusive", "above")
    assert "length" not in biases and results.one(scorer="raters", statistic="length effect").known
    alike = [replace(line, response="all the same") for line in examples]
    assert not study(alike, {"fair": given(fair.tolist())}).pick(statistic="length effect")


def test_pair_accuracy_stops_at_two_thousand_lines() -> None:
    row = study(plain_lines(2001), resamples=0).one(scorer="length", statistic="pair accuracy")
    assert not row.known and "2,000" in row.reason


# systems


def test_systems_have_means_and_groups() -> None:
    results = study(lines(90), {"given": given(noisy(lines(90), 0.5))}, resamples=200)
    means = {row.system: row for row in results.pick(scorer="raters", statistic="mean rating", level="system")}
    assert sorted(means, key=lambda name: -means[name].value) == ["c", "b", "a"]
    groups = {row.system: row.value for row in results.pick(scorer="raters", statistic="rank group")}
    assert groups == {"c": 1, "b": 2, "a": 3}
    assert results.one(scorer="given", statistic="soft pairwise accuracy").value > 0.9
    assert all(row.low < row.value < row.high for row in means.values())


# odd data


def test_constant_scores_and_constant_ratings_have_a_reason() -> None:
    row = study(lines(), {"flat": given([1.0] * 60)}).one(scorer="flat", statistic="pearson", level="turn")
    assert not row.known and "the score is the same in all 60 pairs" in row.reason and row.verdict == Verdict.UNDEFINED
    equal = study([replace(one, ratings=(Rating(3.0),) * 2) for one in lines()])
    assert "the rating is the same" in equal.one(scorer="length", statistic="pearson", level="turn").reason
    assert "No scorer has a correlation with human ratings" in equal.answer[0]


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_lines_have_no_correlation(n: int) -> None:
    results = study(lines(n), {"given": given([1.0, 2.0][:n])})
    assert "three or more are needed" in results.one(scorer="given", statistic="pearson", level="turn").reason


def test_one_context_has_no_interval() -> None:
    one_context = [replace(one, context=("hi",)) for one in lines()]
    row = study(one_context).one(scorer="length", statistic="pearson", level="turn")
    assert row.known and not row.has_interval and "1 context, 4 are needed" in row.reason
    assert row.verdict == Verdict.INCONCLUSIVE


def test_unrated_lines_stay_as_the_population() -> None:
    examples = [replace(one, ratings=()) if place < 6 else one for place, one in enumerate(lines())]
    kept: list[tuple[int, int]] = []

    def sizes(scored: object) -> list[Estimate]:
        rated = scored.rated  # type: ignore[attr-defined]
        kept.append((len(rated), int((rated.population.rows < 0).sum())))
        assert len(scored.of_all["length"]) == len(rated.population.lines) == 60  # type: ignore[attr-defined]
        return []

    results = study(examples, analyses=[(sizes, None)])
    assert kept == [(54, 6)] and results.about.counts == {"examples": 60, "rated": 54, "copies": 0}


def test_equal_ratings_of_different_scales_are_equal_when_pooled() -> None:
    one = [
        Example(("a",), str(n), id=str(n), dataset="one", quality={"overall": 1 + n % 5}, scales=SCALE)
        for n in range(12)
    ]
    two = [
        replace(line, dataset="two", scales={"overall": (1.0, 9.0)}, quality={"overall": 1 + 2 * (n % 5)})
        for n, line in enumerate(one)
    ]
    scores = [float(n % 5) for n in range(12)] * 2
    assert (
        study([*one, *two], {"given": given(scores)})
        .one(dataset="pooled", scorer="given", statistic="pearson", level="turn")
        .value
        == 1.0
    )


def _fails(examples: Sequence[Example], scorers: object = ("length",), **options: object) -> RejoinderError:
    with pytest.raises(RejoinderError) as failure:
        study(examples, scorers, **options)
    return failure.value


def test_bad_input_is_one_error_with_its_place() -> None:
    unrated = [replace(one, ratings=(), where="a.jsonl:1") for one in lines(3)]
    assert isinstance(error := _fails(unrated), DataError) and '"quality": {"overall": 3.5}' in str(error)
    twice = [replace(one, id="x", where=f"a.jsonl:{place + 1}") for place, one in enumerate(lines(2, system="a"))]
    error = _fails(twice)
    assert isinstance(error, DataError) and error.where == "a.jsonl:2" and "a.jsonl:1" in str(error)
    no_scale = [*lines(3, dataset="one"), *lines(3, dataset="two", scales={}, where="b.jsonl:1")]
    assert isinstance(error := _fails(no_scale), DataError) and error.where == "b.jsonl:1"
    assert isinstance(error := _fails([*lines(3), *lines(3, dataset="pooled")]), DataError) and error.field == "dataset"
    copies = [replace(one, references=(one.response,)) for one in lines(3)]
    assert isinstance(_fails(copies, drop_copies=True), DataError)
    assert isinstance(_fails(lines(3), {"given": given([math.nan] * 3)}), NothingScored)
    for scorers in ([], ["length", "length"], {"given": given([1.0])}, {"given": [1.0] * 3}):
        assert isinstance(_fails(lines(3), scorers), UsageError)
    for options in ({"resamples": -1}, {"seed": -1}, {"leave_one_out": True}):
        assert isinstance(_fails(lines(3), **options), UsageError)
    assert isinstance(_fails([]), DataError)


def test_judges_are_fitted_before_anything_is_scored() -> None:
    def never(examples: list[Example]) -> list[float]:
        raise AssertionError("scored")

    examples = [*lines(30, dataset="one"), *lines(30, dataset="two", scales={}, seed=1)]
    assert isinstance(_fails(examples, [never], leave_one_out=True), DataError)


def test_a_judge_that_was_fitted_on_the_data_is_left_out_unless_named() -> None:
    examples = list(rejoinder.read("@dstc7"))[:40]
    results = study(examples, None, resamples=0)
    assert "rejoinder" not in results.about.scorers and any("rejoinder" in line for line in results.warnings)
    named = study(examples, ["rejoinder", "length"], resamples=0)
    assert named.about.scorers["rejoinder"]["fitted_on"] == ["dstc7"]
    other = [replace(one, dataset="mine") for one in examples]
    assert "rejoinder" in study(other, None, resamples=0).about.scorers and set(SCORERS) >= {"rejoinder"}


def test_examples_pass_at_most_eight_modules_of_data_analysis_and_report() -> None:
    examples = [*lines(30, dataset="one"), *lines(30, dataset="two", seed=1)]
    study(examples, ["bleu-2"], resamples=10)  # modules are imported, tables cached
    passed = modules_passed(lambda: study(examples, ["bleu-2", "length"], resamples=10))
    counted = [name for name in passed if name.split(".")[1] in ("data", "analysis", "report")]
    assert len(counted) <= 8, counted


def test_progress_counts_every_scorer_and_baseline() -> None:
    done: list[int] = []
    results = study(lines(), ["length", "bleu-2"], progress=done.append)
    run = list(results.about.scorers)
    assert sum(done) == 60 * 4 and set(run) <= {"length", "bleu-2", "bleu-2/no-stop-words", "context-overlap"}
    assert pick(results.estimates, scorer="length")
