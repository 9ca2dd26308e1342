"""Every data set left out once: what each judge is fitted on, estimates by hand, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import rejoinder
from rejoinder.analysis.analyses import analyse
from rejoinder.analysis.leave_one_out import (
    LEFT_OUT,
    SAME_SET,
    left_out,
    left_out_scores,
    left_out_section,
)
from rejoinder.analysis.pooled import over_sets
from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.analysis.standings import OVER_SETS, SAME_LINES
from rejoinder.data.rated import ratings_of
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate, one, pick
from rejoinder.example import Example, Rating
from rejoinder.judges.adem.optimizer import AdemOptions
from rejoinder.judges.crossval import cross_validate, others, same_set_folds, set_folds
from rejoinder.judges.protocol import AnyLearner
from rejoinder.judges.rated import RatedLines, conversations, rated_lines
from rejoinder.judges.train import train_judge
from rejoinder.models.encoders import AverageEncoder
from rejoinder.report.layout import Chart
from rejoinder.report.tables import Table
from rejoinder.stats.resamples import mean_of_independent
from rejoinder.stats.splits import fold_groups
from rejoinder.text.vectors import read_vectors
from samples import adem_learner, panel_of
from scored_sets import scored_sets

WORDS = [
    "yes",
    "film",
    "dog",
    "house",
    "rain",
    "work",
    "music",
    "food",
    "friend",
    "game",
    "school",
    "car",
    "book",
    "water",
]
OPTIONS = AdemOptions(components=8, epochs=3)

pytestmark = pytest.mark.usefixtures("few_trees")


def sets(sizes: dict[str, int] | None = None, seed: int = 0) -> list[Example]:
    """Rated lines of several sets, two a context; good replies take a word up. Each second line has a reference."""
    rng = np.random.default_rng(seed)
    made = []
    for name, size in (sizes or {"one": 140, "two": 150, "three": 160}).items():
        for place in range(size):
            if place % 2 == 0:
                context = (" ".join(rng.choice(WORDS, 8)),)
            rating = int(rng.integers(1, 6))
            words = [*rng.choice(context[0].split(), rating), *rng.choice(WORDS, 5 - rating)]
            references = (" ".join(rng.choice(WORDS, 4)),) if place % 2 else ()
            keys = {"id": f"{name}-{place}", "dataset": name, "scales": {"overall": (1.0, 5.0)}}
            quality = {"overall": float(rating)}
            made.append(Example(context, " ".join(words), references, quality=quality, **keys))  # type: ignore[arg-type]
    return made


@pytest.fixture(scope="module")
def encoder() -> AverageEncoder:
    return AverageEncoder(read_vectors())


@pytest.fixture(scope="module")
def learner(encoder: AverageEncoder) -> AnyLearner:
    return adem_learner("panel", encoder, OPTIONS)


@pytest.fixture(scope="module")
def lines(learner: AnyLearner) -> RatedLines:
    return rated_lines(sets(), learner)


def test_the_unseen_judge_is_the_panel_of_the_rest(lines: RatedLines, learner: AnyLearner) -> None:
    examples = sets()
    found = cross_validate(lines, set_folds(lines), seed=3)
    for name in ("one", "three"):
        rest = [one for one in examples if one.dataset != name]
        panel = panel_of(train_judge(rest, learner, seed=3))
        own = [place for place, one in enumerate(examples) if one.dataset == name]
        expected = rejoinder.score([examples[place] for place in own], panel).values
        np.testing.assert_allclose(found[own], expected, atol=1e-6)
        assert np.ptp(expected) > 0.5 and set(panel.members) == {"adem", "c-adem", "r-adem"}


def test_the_seen_judge_knows_the_other_folds(lines: RatedLines, learner: AnyLearner) -> None:
    examples, found = sets(), cross_validate(lines, same_set_folds(lines, 0))
    own = [place for place, one in enumerate(examples) if one.dataset == "two"]
    groups = conversations([examples[place] for place in own])
    held = {own[row] for row in np.flatnonzero(fold_groups(groups, 5, np.random.default_rng(0)) == 2)}
    rest = [one for place, one in enumerate(examples) if place not in held]
    panel = panel_of(train_judge(rest, learner, seed=0))
    expected = rejoinder.score([examples[place] for place in sorted(held)], panel).values
    np.testing.assert_allclose(found[sorted(held)], expected, atol=1e-6)


def test_lines_of_a_shared_conversation_are_not_fitted_on(learner: AnyLearner) -> None:
    examples = sets()
    place = next(place for place, one in enumerate(examples) if one.dataset == "two")
    examples[place] = replace(examples[place], context=(examples[4].context[0].upper() + " !",))
    found = rated_lines(examples, learner)
    rest = others(found, found.sets["one"]).tolist()
    assert place not in rest and place + 1 in rest and 4 not in rest
    assert {4, 5} & set(others(found, found.sets["two"]).tolist()) == set()
    assert not np.isin(found.ties.all_of(np.array(rest)), found.ties.all_of(np.arange(140))).any()


def test_unrated_lines_are_passed_over(learner: AnyLearner) -> None:
    examples = sets()
    examples[0] = replace(examples[0], quality={})
    found = rated_lines(examples, learner)
    assert found.places.tolist() == list(range(1, 450)) and len(found.sets["one"]) == 139


def test_ratings_of_whole_dialogues_are_passed_over_with_a_reason(learner: AnyLearner) -> None:
    examples = sets()
    whole = {place for place, one in enumerate(examples) if one.dataset == "three"} | {0}
    for place in whole:
        examples[place] = replace(examples[place], extra={"level": "dialogue"})
    scores = left_out_scores(examples, learner)[LEFT_OUT]
    assert {scores.reasons[place] for place in whole} == {"a rating of a whole dialogue"}
    assert np.isfinite(np.delete(scores.values, sorted(whole))).all()
    rest = left_out_scores([one for place, one in enumerate(examples) if place not in whole], learner)[LEFT_OUT]
    np.testing.assert_array_equal(np.delete(scores.values, sorted(whole)), rest.values)
    with pytest.raises(UsageError, match="1 data set with ratings"):
        left_out_scores([one for one in examples if one.dataset != "two"], learner)


def test_too_few_others_leave_lines_without_a_judge(learner: AnyLearner) -> None:
    found = rated_lines(sets({"one": 40, "two": 140}), learner)
    unseen = cross_validate(found, set_folds(found))
    assert np.isfinite(unseen[:40]).all() and np.isnan(unseen[40:]).all(), "20 contexts are too few to fit on"


def measured(
    examples: list[Example], unseen: np.ndarray, seen: np.ndarray, resamples: int = 200
) -> tuple[tuple[ScoredSet, ...], list[Estimate]]:
    """The data sets, and all estimates of them and of both judges."""
    members, pool = scored_sets(examples, {LEFT_OUT: unseen}, resamples=resamples)
    assert pool is not None
    inside = [estimate for member in members for estimate in analyse(member)]
    gained = left_out(members, seen)
    return members, [*inside, *over_sets(pool, inside, also={SAME_SET: seen[pool.rated.places]}), *gained]


def with_raters(examples: list[Example], names: tuple[str, ...]) -> list[Example]:
    """The same lines, in some data sets with three single ratings around the mean."""
    return [
        replace(one, ratings=tuple(Rating(one.quality["overall"] + step * (place % 3 - 1)) for step in (-1.0, 0, 1)))
        if one.dataset in names
        else one
        for place, one in enumerate(examples)
    ]


def test_estimates_by_hand() -> None:
    examples = with_raters(sets(), ("one", "three"))
    ratings = ratings_of(examples, "overall")
    rng = np.random.default_rng(1)
    unseen, seen = (ratings + spread * rng.normal(size=len(ratings)) for spread in (4.0, 1.0))
    members, estimates = measured(examples, unseen, seen)
    rows = {"one": slice(140), "two": slice(140, 290), "three": slice(290, 450)}
    for name, own in rows.items():
        for statistic, correlate in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
            expected = [correlate(values[own], ratings[own]).statistic for values in (unseen, seen)]
            same = one(estimates, dataset=name, scorer=SAME_SET, statistic=statistic)
            gain = one(estimates, dataset=name, scorer=SAME_SET, statistic=f"difference of {statistic}")
            assert same.value == pytest.approx(expected[1]) and gain.versus == LEFT_OUT
            assert gain.value == pytest.approx(expected[1] - expected[0]) and gain.low < gain.value < gain.high

    def of(dataset: str, statistic: str, scorer: str = SAME_SET) -> float:
        return one(estimates, dataset=dataset, scorer=scorer, statistic=statistic, group="").value

    shares = [(of(name, "pearson"), of(name, "ceiling of pearson", RATERS)) for name in ("one", "three")]
    assert of("one", "share of the ceiling") == pytest.approx(shares[0][0] / shares[0][1])
    assert of(OVER_SETS, "share of the ceiling") == pytest.approx(np.divide(*np.mean(shares, axis=0)))
    assert not one(estimates, dataset="two", scorer=SAME_SET, statistic="share of the ceiling").known
    mean = one(estimates, dataset=OVER_SETS, scorer=SAME_SET, statistic="difference of pearson")
    gains = pick(estimates, dataset=rows, scorer=SAME_SET, statistic="difference of pearson")
    assert mean.value == pytest.approx(np.mean([gain.value for gain in gains])) and (mean.n, mean.contexts) == (
        450,
        225,
    )
    assert mean.high - mean.low == pytest.approx(np.sqrt(sum((g.high - g.low) ** 2 for g in gains)) / 3, rel=0.15)
    same = one(estimates, dataset=OVER_SETS, scorer=SAME_SET, statistic="pearson", group=SAME_LINES["group"])
    assert same.n == 450 and same.value == pytest.approx(
        one(estimates, dataset=OVER_SETS, scorer=SAME_SET, statistic="pearson", group="").value
    )
    chart, table = left_out_section(members, estimates).blocks
    assert isinstance(table, Table) and [row[0] for row in table.texts] == ["one", "two", "three", OVER_SETS]
    assert table.header[4] == "Pearson, difference" and table.texts[-1][4].startswith(f"+{mean.value:.2f} [")
    assert isinstance(chart, Chart) and OVER_SETS in chart.label


def test_constant_scores_have_no_difference_but_a_reason() -> None:
    examples = sets({"one": 40, "two": 40})
    ratings = ratings_of(examples, "overall")
    _, estimates = measured(examples, np.r_[np.ones(40), ratings[40:]], ratings)
    gain = one(estimates, dataset="one", scorer=SAME_SET, statistic="difference of pearson")
    assert "the same in all 40 pairs" in gain.reason and not gain.known
    mean = one(estimates, dataset=OVER_SETS, scorer=SAME_SET, statistic="pearson", group="")
    assert mean.value == 1.0 and mean.n == 40
    _, nothing = measured(examples, np.full(80, np.nan), ratings)
    gain = one(nothing, dataset=OVER_SETS, scorer=SAME_SET, statistic="difference of pearson")
    assert gain.reason == "no data set has a correlation"


def test_the_interval_of_a_mean_of_independent_estimates() -> None:
    first, second = Estimate(value=1.0, low=0.7, high=1.3), Estimate(value=3.0, low=2.6, high=3.4)
    mean = mean_of_independent([first, second])
    assert (mean.value, *mean.ends) == pytest.approx((2.0, 1.75, 2.25))
    mean = mean_of_independent([first, replace(second, low=math.nan)])
    assert mean.value == 2.0 and math.isnan(mean.low) and mean.high == pytest.approx(2.25)


def test_one_data_set_and_other_dimensions_are_refused() -> None:
    with pytest.raises(UsageError, match="1 data set with ratings"):
        left_out_scores(sets({"one": 40}))
    with pytest.raises(UsageError, match="judges are fitted on overall ratings"):
        left_out_scores(sets(), dimension="relevance")


def test_the_judge_is_a_scorer_of_the_study(learner: AnyLearner) -> None:
    results = rejoinder.study(sets({"one": 140, "two": 150}), ["length"], leave_one_out=learner, resamples=20)
    judge = results.one(dataset="one", scorer=LEFT_OUT, statistic="pearson", level="turn", group="")
    same = results.one(dataset="one", scorer=SAME_SET, statistic="pearson", group="")
    gain = results.one(dataset="one", scorer=SAME_SET, statistic="difference of pearson")
    assert judge.n == same.n == gain.n == 140 and gain.value == pytest.approx(same.value - judge.value)
    assert results.about.scorers[LEFT_OUT]["asked"] and SAME_SET not in results.about.scorers
    common = results.pick(scorer=(LEFT_OUT, SAME_SET), group=SAME_LINES["group"])
    assert len(common) == 2 and {row.n for row in common} == {290}
    assert "One data set left out" in [section.title for section in results.layout.sections]
    assert any("a difference of" in sentence for sentence in results.answer)
