"""What a study says: a winner only if there is one, and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import rejoinder
from judges_of_domain import NarrowJudge, replies
from rated_lines import given, like, lines, noisy, plain_lines, ratings_of
from rejoinder.example import Example, Rating
from rejoinder.report.results import Results
from rejoinder.scorer import FACTS_NOT_CHECKED, OUT_OF_DOMAIN, Scores, run


def study(examples: Sequence[Example], scorers: object, resamples: int = 200) -> Results:
    """Return a study; every headline has at most 20 words."""
    results = rejoinder.study(examples, scorers, resamples=resamples)  # type: ignore[arg-type]
    assert len(results.answer[0].split()) <= 20, results.answer[0]
    return results


def told(results: Results) -> str:
    return " ".join(results.answer)


@pytest.mark.parametrize(
    ("studies", "size", "resamples"), [(8, 60, 100), pytest.param(30, 100, 150, marks=pytest.mark.slow)]
)
def test_noise_has_no_winner(studies: int, size: int, resamples: int) -> None:
    """The best of a dozen scorers that are unrelated to the ratings looks good, and is seldom declared to agree."""
    winners = tempting = 0
    for seed in range(studies):
        examples = plain_lines(size, seed)
        noise = np.random.default_rng(1000 + seed).normal(size=(12, size))
        results = study(examples, {f"noise-{place}": given(row) for place, row in enumerate(noise)}, resamples)
        winners += not results.answer[0].startswith(
            "No scorer agrees significantly with human ratings: the best, noise-"
        )
        tempting += max(row.low for row in results.pick(statistic="pearson", level="turn")) > 0
    assert tempting > studies / 6 and winners <= max(2, studies / 10)


def test_a_weak_correlation_is_no_agreement_and_gets_no_forecast() -> None:
    examples = plain_lines()
    results = study(examples, {"weak": like(examples, 0.05, 3)})
    row = results.one(scorer="weak", statistic="pearson", level="turn")
    assert 0 < row.value < 0.15 and row.low < 0 and row.verdict == "inconclusive" and row.needed is None
    assert results.answer[0].startswith("weak shows no significant agreement with human ratings: Pearson 0.")
    assert results.answer[1] == "More ratings may or may not confirm an agreement." and "noise ceiling of" not in told(
        results
    )


def test_one_good_scorer_agrees_best() -> None:
    examples = plain_lines()
    results = study(examples, {"good": like(examples, 0.9), "poor": like(examples, 0.1)})
    assert results.answer[0].startswith("good agrees best with human ratings: Pearson 0.")
    assert "significantly ahead of every other scorer, by Pearson and by Spearman" in told(results)
    groups = {row.scorer: row.value for row in results.pick(statistic="rank group", level="turn")}
    assert groups["good"] == 1 < groups["poor"]


def test_a_scorer_ahead_by_pearson_alone_is_not_the_best() -> None:
    """Ratings with a long tail: one scorer follows the tail, the other the order of all lines."""
    rng = np.random.default_rng(3)
    ratings = np.where(np.arange(200) % 5 == 0, rng.uniform(10, 20, 200), rng.uniform(0, 1, 200))
    examples = [
        Example((f"about {n}",), f"reply {n}", id=str(n), quality={"overall": float(value)})
        for n, value in enumerate(ratings)
    ]
    tail = given(ratings + rng.normal(0, 0.6, 200))
    order = given(np.argsort(np.argsort(ratings)) + rng.normal(0, 3, 200))
    results = study(examples, {"tail": tail, "order": order})
    pearson = results.one(scorer="tail", versus="order", statistic="difference of pearson")
    spearman = results.one(scorer="tail", versus="order", statistic="difference of spearman")
    assert pearson.verdict == "above" and spearman.verdict != "above"
    assert "agrees best" not in results.answer[0] and "Not significantly behind tail: order" in told(results)


def test_two_equal_scorers_have_no_winner() -> None:
    examples = plain_lines()
    results = study(examples, {"one": like(examples, 0.6), "two": like(examples, 0.6, 2)})
    lead = results.answer[0].split()[0]
    assert "agrees with human ratings" in results.answer[0] and f"Not significantly behind {lead}: " in told(results)
    assert "You would need" not in told(results), "the interval of their difference holds 0"


def test_a_scorer_that_does_not_beat_length_says_so_first() -> None:
    rng = np.random.default_rng(0)
    examples = [
        replace(one, quality={"overall": len(one.response) / 9 + rng.normal() * 1.5}, scales={"overall": (-9.0, 30.0)})
        for one in plain_lines()
    ]
    close = given(ratings_of(examples) + np.random.default_rng(1).normal(size=200) * 1.5)
    assert "does not beat every baseline" in study(examples, {"close": close}).answer[0]
    far = study(examples, {"far": like(examples, 0.4)})
    assert "agrees significantly better" in far.answer[
        0
    ] and "Significantly ahead of far: the trivial baseline length." in told(far)
    alone = study(examples, ["length"])
    assert alone.answer[0].startswith("length agrees with human ratings") and "is a trivial baseline" in told(alone)


def test_the_headline_names_only_scorers_that_were_asked_for() -> None:
    examples = [replace(one, references=("word of mouth the and",)) for one in plain_lines()]
    results = study(examples, ["bleu-2"])
    assert (
        "no-stop-words" not in told(results)
        and results.one(scorer="bleu-2/no-stop-words", statistic="kendall", level="turn").n
    )


def test_what_the_system_mean_predicts() -> None:
    """It predicts nothing only if the upper end of its interval is under .1."""
    examples = [replace(one, system="ab"[place % 2]) for place, one in enumerate(plain_lines(1000))]
    assert "mean alone predicts nothing" in told(study(examples, {"weak": like(examples, 0.05, 3)}))
    examples = examples[:200]
    assert "mean alone reaches 0.00 [0.00, 0.1" in told(study(examples, {"weak": like(examples, 0.05, 3)}))
    apart = [
        replace(
            one, quality={"overall": (one.rating() or 0) + 3 * (one.system == "a")}, scales={"overall": (-20.0, 20.0)}
        )
        for one in examples
    ]
    assert "Predicting each system's mean alone reaches 0.8" in told(study(apart, {"weak": like(apart, 0.05, 3)}))


def test_the_headline_names_the_level_of_the_agreement() -> None:
    examples = [replace(one, system="abcdefghij"[place % 10]) for place, one in enumerate(plain_lines(400))]
    means = np.arange(400) % 10 / 3
    apart = [
        replace(one, quality={"overall": (one.rating() or 0) + mean}, scales={"overall": (-30.0, 30.0)})
        for one, mean in zip(examples, means, strict=True)
    ]
    skill = ratings_of(examples) + np.random.default_rng(0).normal(size=400)
    both = study(apart, {"both": given(skill + means)})
    assert both.answer[0].startswith("both agrees with human ratings, also within systems: Pearson 0.")
    between = study(apart, {"between": given(means + np.random.default_rng(1).normal(size=400))}).answer[0]
    assert between.startswith("between agrees with human ratings across these 10 systems; within systems it is incon")
    few = [replace(one, system="ab"[place % 10 < 5]) for place, one in enumerate(apart)]
    by_chance = study(few, {"between": given([float(one.system == "a") for one in few] + 0.1 * means)})
    assert by_chance.one(scorer="between", statistic="pearson", level="turn").low > 0
    assert by_chance.answer[0].startswith("between shows no significant agreement")
    assert by_chance.answer[1].startswith("With 2 systems a scorer that is unrelated to the ratings may reach that")


def test_a_lower_correlation_that_agrees_is_named_beside_a_higher_one_that_does_not() -> None:
    """The higher one knows the system alone."""
    examples = [replace(one, system="ab"[place % 2]) for place, one in enumerate(plain_lines())]
    apart = [
        replace(one, quality={"overall": (one.rating() or 0) + 3 * (one.system == "a")}, scales={"overall": (-9, 20)})
        for one in examples
    ]
    skill = given(ratings_of(examples) + 0.3 * np.random.default_rng(0).normal(size=200))
    results = study(apart, {"system": given([float(one.system == "a") for one in apart]), "skill": skill})
    rows = {row.scorer: row for row in results.pick(statistic="pearson", level="turn", group="")}
    assert rows["system"].value > rows["skill"].value and rows["system"].verdict == "inconclusive"
    assert results.answer[0].startswith("skill agrees with human ratings, Pearson 0.")
    assert results.answer[0].endswith("; system is higher, but inconclusive.")


def test_the_ceiling_one_rater_and_systems_are_in_the_answer() -> None:
    examples = lines(90)
    text = told(study(examples, {"given": given(noisy(examples, 0.5))}))
    for part in (
        "of the noise ceiling of",
        "A single rater reaches",
        "Within systems the correlation of given is",
        "the noise ceiling there is",
        "rated bad, given scores",
    ):
        assert part in text
    means = [replace(one, ratings=(), quality={"overall": one.rating() or 0.0}) for one in examples]
    assert "The noise ceiling is unknown: the data has no single ratings" in told(study(means, ["length"]))


def test_several_data_sets_are_answered_by_their_mean() -> None:
    examples = [*plain_lines(dataset="one"), *plain_lines(seed=1, dataset="two")]
    results = study(examples, {"good": like(examples, 0.7), "noise": like(examples, 0.0)})
    assert results.answer[0].startswith("good agrees best with human ratings: Pearson 0.")
    assert results.answer[0].endswith("on these 2 data sets.") and "significantly above chance in 2" in told(results)
    assert study(examples, {"noise": like(examples, 0.0)}).answer[0].endswith("on these 2 data sets.")
    half = given([*like(examples, 0.7).values[:200], *[float("nan")] * 200])
    one_set = study(examples, {"half": half, "noise": like(examples, 0.0)})
    assert one_set.answer[0].startswith("No scorer agrees significantly with human ratings: the best, noise,")
    assert any(line == "Not ranked, because scored on too few of the lines: half (50 %)." for line in one_set.answer)


def test_the_highest_of_several_has_a_wider_interval_and_a_note_without_one() -> None:
    examples = plain_lines()
    scores = {f"scorer-{place}": like(examples, 0.2, place) for place in range(8)}
    results = study(examples, scores)
    highest = results.one(statistic="highest pearson")
    own = results.one(scorer=highest.scorer, statistic="pearson", level="turn")
    assert own.value == max(row.value for row in results.pick(statistic="pearson", scorer=scores))
    assert highest.value == pytest.approx(own.value)
    assert highest.high - highest.low > own.high - own.low
    assert f"Pearson {highest.value:.2f} [{highest.low:.2f}, {highest.high:.2f}]" in results.answer[0]
    key = results.layout.keys[0]
    assert key.interval == f"[{highest.low:.2f}, {highest.high:.2f}]" and key.note.startswith("highest of 8, ")
    without = study(examples, scores, resamples=0)
    assert "This is the highest of 8 correlations, so likely less." in without.answer
    assert not study(examples, {"alone": like(examples, 0.2)}).pick(statistic="highest pearson")


# warnings


def test_scores_read_as_ratings_are_pointed_out() -> None:
    examples = plain_lines()
    results = study(examples, {"same": given(ratings_of(examples)), "length": given([1.0, 2.0] * 100)})
    assert any("200 ratings equal the scores of same exactly" in line for line in results.warnings)
    whole = [replace(one, quality={"overall": float(round(one.rating() or 0))}) for one in examples]
    assert not any("equal" in line for line in study(whole, {"same": given(ratings_of(whole))}).warnings)


def test_reversed_ratings_are_pointed_out_only_if_nothing_agrees() -> None:
    examples = plain_lines()
    results = study(examples, {"upside": given(-like(examples, 0.8).values)})
    assert results.one(scorer="upside", statistic="pearson", level="turn").verdict == "below"
    assert results.answer[0].startswith("upside shows no significant agreement")
    assert "Where upside scores higher, human ratings are lower." in results.warnings
    assert any("If low ratings are the good ones" in line for line in results.warnings)
    column = study(examples, {"column:wer": given(-like(examples, 0.8).values)})
    assert any("-s column:-wer" in line for line in column.warnings)
    both = study(examples, {"up": like(examples, 0.8), "down": given(-like(examples, 0.8, 2).values)})
    assert not any("If low ratings" in line for line in both.warnings)
    assert any(line.startswith("Where down scores higher") for line in both.warnings)


def test_shared_ids_and_counted_warnings() -> None:
    first = [replace(one, where=f"old.jsonl:{place}", system=None) for place, one in enumerate(lines(30))]
    second = [replace(one, where=f"new.jsonl:{place}", response=one.response + " x") for place, one in enumerate(first)]
    results = study([*first, *second], ["length"])
    assert any("old.jsonl and new.jsonl share 30 ids" in line for line in results.warnings)


# out of domain


def rated(outside: int, dataset: str | None = None) -> list[Example]:
    """Return 80 lines whose ratings follow the scores of the narrow judge."""
    rng = np.random.default_rng(0)
    values = rng.normal(3, 1, 80).clip(1, 5)
    ratings = (values + 0.2 * rng.normal(size=80)).clip(1, 5)
    return [
        replace(
            one,
            id=f"{dataset}-{place}",
            context=(f"{dataset} {place}",),
            dataset=dataset,
            system="xy"[place % 2],
            quality={"overall": float(ratings[place])},
            scales={"overall": (1.0, 5.0)},
        )
        for place, one in enumerate(replies([f"{value:.4f}" for value in values], outside))
    ]


def test_a_study_has_no_verdict_on_replies_out_of_domain() -> None:
    results = study(rated(9), [NarrowJudge()])
    row = results.one(scorer="narrow", statistic="pearson", level="turn")
    assert row.verdict == "out of domain" and row.value > 0.9
    assert "9 of 80 (11 %) are out of its domain" in results.answer[0] and "rejoinder fit" in results.answer[1]
    assert results.warnings[0] == FACTS_NOT_CHECKED and "agrees with" not in told(results)
    assert not results.pick(scorer="narrow", statistic=("rank group", "difference of pearson"))
    assert results.one(scorer="narrow", statistic="share out of domain").value == 9 / 80
    assert "out of domain" in str(results) and "  yes" not in str(results)
    assert not any("narrow" in key.what for key in results.layout.keys)
    assert results.about.data[0]["out_of_domain"]["narrow"].startswith("narrow cannot judge")


def test_at_most_a_tenth_may_be_out_of_domain() -> None:
    results = study(rated(8), [NarrowJudge()])
    assert results.answer[0].startswith("narrow agrees with human ratings")


def test_the_scorer_that_can_judge_is_named_first() -> None:
    wide = NarrowJudge("wide", domain="", unread=())
    results = study(rated(80), [NarrowJudge(), wide])
    assert results.answer[0].startswith("wide agrees with human ratings")
    assert results.warnings[0] == f"narrow: {FACTS_NOT_CHECKED}"
    assert sum("out of its domain" in line for line in results.answer) == 1
    assert "80 of 80" in study(rated(80), [NarrowJudge(), "length"]).answer[0]


def test_data_sets_count_alike_in_the_share_of_a_mean() -> None:
    few = study([*rated(0, "a"), *rated(0, "b"), *rated(12, "c")], [NarrowJudge()])
    verdicts = {
        row.dataset: row.verdict for row in few.pick(scorer="narrow", statistic="pearson", level="turn", group="")
    }
    assert (
        verdicts["a"] == verdicts["b"] == verdicts["mean over data sets"] == "above"
        and verdicts["c"] == "out of domain"
    )
    assert any("The mean of narrow includes c," in line for line in few.answer)
    small = study([*rated(80, "a")[:7], *rated(0, "b")], [NarrowJudge()])  # 7 of 87 lines, and half of the mean
    assert "on average over 2 data sets, 50 %" in small.answer[0]
    assert not any("narrow agrees" in line or "includes a" in line for line in small.answer)


def test_given_scores_are_judged_by_their_warnings() -> None:
    examples = rated(40)
    scores = run(NarrowJudge(), examples)
    values = np.where([row in scores.warnings for row in range(80)], np.nan, scores.values)
    withheld: Scores = replace(scores, values=values, reasons=dict.fromkeys(scores.warnings, OUT_OF_DOMAIN))
    for one in (scores, withheld):
        results = study(examples, {"narrow": one}, 50)
        assert results.one(scorer="narrow", statistic="pearson", level="turn").verdict == "out of domain"


def test_the_first_rating_of_a_person_counts() -> None:
    first = [
        replace(one, ratings=(Rating(place % 5, rater="ann"), Rating(place % 3, rater="bob")))
        for place, one in enumerate(lines(40, scales={}))
    ]
    twice = [replace(one, ratings=(*one.ratings, Rating(4, rater="ann"))) for one in first]
    one, other = (study(examples, ["length"], 50) for examples in (first, twice))
    assert one.pick(scorer="raters") == other.pick(scorer="raters") and one.about.data[0]["single_ratings"] == 80
