"""Judge against metric, systems by one scorer alone, and what a correlation comes to by chance: by hand, and told."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace

import numpy as np
import pytest

from rejoinder.humans.rated_set import RatedSet
from rejoinder.meta import FullStudy, full_study
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.conclusions import Conclusion, conclusions_of
from rejoinder.meta.duel import Duel, duel_of
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.meta.yardsticks import Kind
from rejoinder.records import Example
from rejoinder.report import study as report
from rejoinder.report.chart import Point, chart
from rejoinder.report.data import csv_text, json_text
from rejoinder.report.html import html
from rejoinder.report.latex import latex
from rejoinder.report.markdown import markdown
from rejoinder.report.svg import systems
from rejoinder.scorer import Scores, Signature
from rejoinder.stats.calibration import calibrated, matched
from rejoinder.stats.chance import chance_band
from rejoinder.stats.figure import Figure
from rejoinder.stats.sampling import Sampling

NONE = math.nan
KINDS: dict[str, Kind] = {"judge": "judge", "metric": "metric", "length": "baseline"}
COUNTS = ("pairs", "same", "neither", "only_scorer", "only_people", "reversed")


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def rated(
    lines: Sequence[Example], ratings: Sequence[float], contexts: Sequence[int], systems: Sequence[int] | None = None
) -> RatedSet:
    n = len(ratings)
    named = [-1] * n if systems is None else systems
    return RatedSet(
        name="one",
        dimension="overall",
        examples=tuple(lines[:n]),
        places=np.arange(n),
        ratings=array(*ratings),
        contexts=np.array(contexts),
        systems=np.array(named),
        sets=np.zeros(n, dtype=np.int64),
    )


def scored(one: RatedSet, scores: Mapping[str, np.ndarray], resamples: int, order: Sequence[str] = ()) -> ScoredSet:
    """Scores of a set, by scorers that agree with people in this order."""
    rows = tuple(
        Agreement(dataset="one", scorer=name, level="turn", statistic="pearson", value=0.9 - place / 10)
        for place, name in enumerate(order)
    )
    kinds = {name: KINDS.get(name, "metric") for name in scores}
    return ScoredSet(one, scores, kinds, rows, tuple(scores), Sampling(resamples, 0))


# calibration


def test_a_line_through_the_other_clusters_by_hand() -> None:
    found = calibrated(array(0, 1, 2, 3), array(1, 2, 3, 5), np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(found, [-1, 1, 3, 4])  # 2 x - 1 from the second cluster, x + 1 from the first


def test_a_scorer_that_says_nothing_or_the_reverse_gives_the_mean_of_the_others() -> None:
    clusters = np.array([0, 0, 1, 1])
    for scores in (array(7, 7, 7, 7), array(3, 2, 1, 0)):
        np.testing.assert_allclose(calibrated(scores, array(1, 2, 3, 5), clusters), [4, 4, 1.5, 1.5])
    assert np.isnan(calibrated(array(1, 2), array(1, 2), np.array([5, 5]))).all()


def test_matched_scores_have_the_mean_and_the_variance_of_the_ratings() -> None:
    np.testing.assert_allclose(matched(array(0, 1, 2), array(5, 1, 3)), [1, 3, 5])


# judge against metric


RESPONSES = ("a", "a b", "a b c", "x x x x x x x x")
LINES = [
    Example(("one two",) if n < 2 else ("one two three", "four"), RESPONSES[n], references=("a b",), id=f"line-{n}")
    for n in range(4)
]
FIRST, SECOND = array(0, 2, 1, 5), array(1, 3, 1, 3)


def duel(scale: tuple[float, float] | None = None, order: Sequence[str] = ("metric", "judge")) -> Duel:
    scores = {"judge": FIRST, "metric": SECOND, "length": SECOND}
    return held(LINES, scores, [1, 3, 2, 4], scale=scale, order=order, resamples=500)


def held(
    lines: Sequence[Example],
    scores: Mapping[str, np.ndarray],
    ratings: Sequence[float],
    contexts: Sequence[int] = (0, 0, 1, 1),
    scale: tuple[float, float] | None = None,
    order: Sequence[str] = ("judge", "metric"),
    resamples: int = 50,
) -> Duel:
    on_scale = [replace(one, scales={"overall": scale} if scale else {}) for one in lines]
    found = duel_of(scored(rated(on_scale, ratings, contexts), scores, resamples, order))
    assert found is not None
    return found


def test_the_nearer_of_two_by_hand() -> None:
    """Distances of the judge .5, .5, 0, 2 and of the metric 1, 1, 1, 1."""
    found = duel()
    assert (found.first, found.second) == ("judge", "metric")
    assert found.chosen == "the best judge against the best metric"
    assert (found.n, found.contexts, found.n_first, found.n_second, found.value) == (4, 2, 3, 1, 0.75)
    assert (found.low, found.high) == (0.5, 1.0), "all of one context, half of the other"
    assert "fitted to the other contexts" in found.method and not found.reason and found.extremes is None


def test_no_score_lies_outside_the_scale() -> None:
    found = duel((1, 5))
    assert (found.n_first, found.n_second, found.value) == (3, 0, 0.875), "6 becomes 5, as near as 3: counted half"


def test_what_the_lines_have_in_common_by_hand() -> None:
    traits = {one.what: one for one in duel().traits}
    figures = {what: (one.mean_first, one.mean_second, one.apart.value) for what, one in traits.items()}
    assert figures["words in the response"] == (2.0, 8.0, -6.0)
    assert figures["words in the context"] == pytest.approx((8 / 3, 4, -4 / 3))
    assert figures["words shared with a reference, F1"] == pytest.approx((37 / 45, 0, 37 / 45))
    assert figures["rating"] == (2.0, 4.0, -2.0)
    assert all((one.n_first, one.n_second) == (3, 1) for one in traits.values())
    nowhere = {one.what: one for one in duel((1, 5)).traits}["rating"]
    assert (
        not nowhere.apart.known
        and nowhere.apart.reason == "3 lines on one side and 0 on the other; one of each is needed"
    )


def test_lines_without_a_reference_share_no_words_with_one() -> None:
    bare = [replace(one, references=(), context=()) for one in LINES]
    found = held(bare, {"judge": FIRST, "metric": SECOND}, [1, 3, 2, 4])
    reasons = {one.what: one.apart.reason for one in found.traits if one.apart.reason}
    assert set(reasons) == {"words shared with a reference, F1", "words in the context"}
    assert set(reasons.values()) == {"0 lines on one side and 0 on the other; one of each is needed"}


def test_the_lines_that_one_gets_right_come_both_ways() -> None:
    shown = [(one.scorer, one.id, one.rating, round(one.first, 9), round(one.second, 9)) for one in duel().examples]
    assert shown[0] == ("judge", "line-2", 2.0, 2.0, 1.0) and shown[-1] == ("metric", "line-3", 4.0, 6.0, 3.0)
    assert {one[1] for one in shown[1:3]} == {"line-0", "line-1"} and len(shown) == 4


def test_good_responses_that_one_finds_bad() -> None:
    right, wrong = array(0, 1, 0, 1), array(1, 0, 1, 0)
    for judge, metric, expected in ((right, wrong, (2, 2, 2, 0, 0)), (wrong, right, (2, 0, 0, 2, 2))):
        found = held(LINES, {"judge": judge, "metric": metric}, [1, 5, 1, 5], scale=(1, 5))
        assert found.extremes is not None and astuple(found.extremes) == expected


def test_without_a_judge_the_leading_two_stand() -> None:
    found = duel(order=("metric", "length"))
    assert (found.first, found.second) == ("metric", "length")
    assert found.chosen == "no judge with a correlation here, so the leading two scorers" and found.value == 0.5
    assert duel(order=("length", "judge")).chosen.startswith("no metric with a correlation here")


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (["judge"], "scorers that have a correlation with people: 1; two are needed"),
        ([], "scorers that have a correlation with people: 0; two are needed"),
    ],
)
def test_one_scorer_has_nobody_to_be_nearer_than(order: list[str], reason: str) -> None:
    found = duel(order=order)
    assert found.reason == reason and math.isnan(found.value) and (found.examples, found.traits) == ((), ())


@pytest.mark.parametrize(("contexts", "lost"), [([0, 0, 0, 0], 0), ([0, 0, 1, 1], 2)])
def test_few_lines_or_one_context(contexts: list[int], lost: int) -> None:
    judge = FIRST.copy()
    judge[:lost] = NONE
    found = held(LINES, {"judge": judge, "metric": SECOND}, [1, 3, 2, 4], contexts)
    assert found.reason == f"both score {4 - lost} lines of 1 contexts; three lines and two contexts are needed"


# systems by one scorer alone


TURNS = 10
SWING = np.tile([1.0, -1.0], TURNS // 2)
MADE = np.array([np.full(TURNS, 1.0), np.full(TURNS, 2.0), np.full(TURNS, 3.0), 3 + SWING])  # people, a to d
SPOKEN = [Example((f"turn {n % TURNS}",), "r", system="abcd"[n // TURNS]) for n in range(4 * TURNS)]
SYSTEMS = rated(SPOKEN, MADE.ravel().tolist(), [*range(TURNS)] * 4, np.repeat(range(4), TURNS).tolist())
OWN = np.array([np.full(TURNS, 2.0), np.full(TURNS, 1.0), 1 + SWING / 2, np.zeros(TURNS)]).ravel()


def counts(found: Conclusion) -> tuple[int, ...]:
    return tuple(getattr(found, name) for name in COUNTS)


def conclusions(resamples: int = 300, **scores: np.ndarray) -> dict[str, Conclusion]:
    found = conclusions_of(scored(SYSTEMS, scores, resamples))
    return {one.scorer: one for one in found}


def test_conclusions_from_one_scorer_by_hand() -> None:
    found = conclusions(own=OWN, like=MADE.ravel())
    assert list(found) == ["people", "own", "like"]
    assert counts(found["people"]) == counts(found["like"]) == (6, 5, 1, 0, 0, 0), "c and d stay open"
    # a b, a c, a d, b d reversed; c d only by the scorer; b c only by people
    assert counts(found["own"]) == (6, 0, 0, 1, 1, 4)
    order = [(one.system, one.mean.value, one.ahead) for one in found["own"].systems]
    assert order == [("a", 2, True), ("b", 1, False), ("c", 1, True), ("d", 0, False)]
    third = found["own"].systems[2].mean
    assert 0.5 <= third.low < 1 < third.high <= 1.5 and third.n == TURNS


def test_people_are_asked_about_the_lines_that_the_scorer_scored() -> None:
    found = conclusions(some=np.where(SYSTEMS.systems == 3, NONE, OWN))["some"]
    assert (found.n, counts(found)) == (30, (3, 0, 0, 0, 1, 2))


@pytest.mark.parametrize(
    ("resamples", "scores", "reason"),
    [
        (300, np.full(40, 2.0), "the score is the same on all 40 lines (2)"),
        (300, np.full(40, NONE), "0 lines of 0 systems and 0 contexts, 300 resamples; "),
        (300, np.array([1.0, 2.0, *[NONE] * 38]), "2 lines of 1 systems and 2 contexts, 300 resamples; "),
        (0, OWN, "40 lines of 4 systems and 10 contexts, 0 resamples; "),
    ],
)
def test_nothing_follows_where_nothing_can(resamples: int, scores: np.ndarray, reason: str) -> None:
    found = conclusions(resamples, own=scores)["own"]
    need = "three lines, two systems, two contexts and resamples are needed"
    assert found.reason == (reason + need if reason.endswith("; ") else reason)
    assert counts(found) == (0,) * 6 and found.systems == ()


def test_without_two_named_systems_there_is_no_conclusion() -> None:
    one = rated(SPOKEN, [1.0, 2.0, 3.0], [0, 1, 2], [0, 0, 0])
    for here in (one, replace(one, systems=np.full(3, -1))):
        assert conclusions_of(scored(here, {"own": array(1, 2, 3)}, 50)) == ()


# chance


def test_the_chance_level_is_the_critical_value_of_the_tables() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 27))
    assert chance_band(x, y, np.arange(27)).high == pytest.approx(0.381, abs=5e-4)
    nine = np.repeat(np.arange(9), 3)
    assert chance_band(x[nine], y[nine], nine).high == pytest.approx(0.666, abs=5e-4), "nine contexts and no more"
    assert chance_band(x, y[nine], np.arange(27)).high == pytest.approx(0.381, abs=5e-4)
    assert math.isnan(chance_band(np.ones(27), y, nine).high) and math.isnan(chance_band(x[:2], y[:2], nine[:2]).high)


def test_unrelated_scorers_leave_the_chance_band_once_in_twenty_times() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 12, size=40)
    clusters = np.repeat(np.arange(40), sizes)
    outside, naive, draws = 0, 0, 500
    for _ in range(draws):
        x, y = (rng.normal(size=40)[clusters] + rng.normal(size=len(clusters)) for _ in range(2))
        found = abs(float(np.corrcoef(x, y)[0, 1]))
        outside += found > chance_band(x, y, clusters).high
        naive += found > 1.96 / math.sqrt(len(x))
    assert 0.03 <= outside / draws <= 0.075, "95 % are inside"
    assert naive / draws > 0.12, "lines are not independent, and a band that takes them so is too narrow"


# told


def study(n: int = 60, sets: Sequence[str] = ("one",), system: str = "abc") -> FullStudy:
    rng = np.random.default_rng(0)
    lines = [
        Example(
            (f"turn {place // 3}",),
            "word " * int(rng.integers(1, 9)),
            references=("word",),
            id=f"{name}-{place}",
            dataset=name,
            system=system[place % len(system)] if system else None,
            quality={"overall": float(np.clip(place % 3 + 2 + rng.normal(), 1, 5))},
            scales={"overall": (1, 5)},
        )
        for name in sets
        for place in range(n)
    ]
    ratings = array(*(one.quality["overall"] for one in lines))
    given = {"wise": Signature({"scorer": "wise"}), "bleu-2": Signature({"scorer": "bleu-2"})}
    noise = {"wise": 0.5, "bleu-2": 3.0}
    scores = {
        name: Scores(ratings + noise[name] * rng.normal(size=len(lines)), {}, signature)
        for name, signature in given.items()
    }
    return full_study(lines, scores, resamples=100)


def test_every_form_tells_all_of_it() -> None:
    found = study()
    (here,) = found.findings
    document = report.study(found, "x")
    page, words = html(document), markdown(document)
    for title in ("Which is nearer to people, line by line", "Lines that one of them gets right"):
        assert all(title in text for text in (page, words, latex(document)))
    assert "Systems by one scorer alone" in words and "by chance" in words
    assert "have nothing to do with the ratings" in page
    assert "People tell 3 of 3 pairs of systems apart." in words
    assert page.count('<i class="chance"') == sum(one.chance.known for one in here.standings) == 5
    assert page.count('class="ideal"') == 4 and "1 c, 2 b, 3 a." in page, (
        "all but the constant overlap with the context"
    )
    assert any(
        one.startswith("Line by line the judge wise is nearer to people than the metric bleu-2 on")
        for one in found.answer
    )
    told = json.loads(json_text(document))["findings"][0]
    assert told["duel"]["first"] == "wise" and told["conclusions"][0]["scorer"] == "people"
    assert 0.2 < told["standings"][0]["chance"] < 0.3
    rows = {(row["scorer"], row["statistic"]): row for row in csv.DictReader(io.StringIO(csv_text(document)))}
    assert here.duel is not None
    assert float(rows["wise", "share of lines nearer to people than bleu-2"]["value"]) == here.duel.value > 0.5
    assert rows["people", "share of pairs of systems: same"]["n"] == "3"
    assert float(rows["wise", "pearson by chance"]["high"]) == told["standings"][0]["chance"]
    assert found.chance == {}, "that of means over data sets"


def test_several_sets_add_their_pairs_and_halve_their_chance() -> None:
    found = study(sets=("one", "two", "three", "four"))
    *single, pooled = found.findings
    own = {one.scorer: one for one in pooled.conclusions}
    assert (own["people"].pairs, own["wise"].systems, pooled.duel) == (12, (), None)
    assert own["wise"].same == sum(two.same for one in single for two in one.conclusions if two.scorer == "wise")
    inside = [two.chance.high for one in single for two in one.standings if two.scorer == "wise"]
    assert found.chance["wise"] == pytest.approx(math.sqrt(sum(one * one for one in inside)) / 4)
    assert found.to_dict()["findings"][-1]["duel"] is None and "±" in markdown(report.study(found))


@pytest.mark.parametrize("system", ["ab", ""])
def test_a_plot_of_systems_needs_three(system: str) -> None:
    found = study(system=system)
    page = html(report.study(found))
    assert 'class="ideal"' not in page and ("Systems by one scorer alone" in page) == bool(system)


def test_two_lines_say_why_nobody_is_nearer() -> None:
    found = study(2)
    reason = "scorers that have a correlation with people: 0; two are needed"
    assert found.findings[0].duel is not None and found.findings[0].duel.reason == reason
    assert f"judge against metric: {reason}" in html(report.study(found))
    assert "Which is nearer" not in markdown(report.study(found))


def test_the_band_and_the_diagonal_are_drawn() -> None:
    drawn = chart(
        "t",
        [Point("a", Figure(value=0.5), "metric", "", 0.25), Point("b", Figure(value=0, low=0, high=0), "judge", "")],
    )
    assert drawn.count("chance") == 1 and "nan" not in drawn
    panel = systems("t", ["best", "lost", "mid", "last"], array(4, 3, 2, 0), array(8, NONE, 6, 4))
    assert panel.count("<circle") == 3 and ">1</b>" in panel and "2 lost" not in panel
    assert 'cx="50.0" cy="50.0"' in panel, "rated in the middle of those shown, scored in the middle: on the diagonal"
