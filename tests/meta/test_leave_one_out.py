"""Every data set left out once: who judges what, the figures by hand, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import rejoinder
from conftest import Run, refused
from rejoinder.encoders import AverageEncoder
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.data.rated import rated_sets, ratings_of
from rejoinder.judges.bilinear.fit import FitOptions
from rejoinder.judges.conversations import conversations
from rejoinder.judges.learner import AnyLearner
from rejoinder.judges.left_out import others, rated_lines, seen_scores, unseen_scores
from rejoinder.judges.lines import RatedLines
from rejoinder.judges.train import train_judge
from rejoinder.meta import full_study
from rejoinder.meta.leave_one_out import SEEN, UNSEEN, left_out_of, left_out_scores
from rejoinder.documents import study as report
from rejoinder.documents.files import RENDERERS
from rejoinder.documents.markdown import markdown
from rejoinder.scorer import Scores, Signature
from rejoinder.stats.figure import NOTHING, Figure
from rejoinder.stats.resamples import Sampling, mean_of_independent
from rejoinder.stats.splits import fold_groups
from rejoinder.text.vectors import read_vectors
from samples import bilinear_learner, panel_of

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
OPTIONS = FitOptions(components=8, epochs=3)

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
    return bilinear_learner("panel", encoder, OPTIONS)


@pytest.fixture(scope="module")
def lines(learner: AnyLearner) -> RatedLines:
    return rated_lines(sets(), learner)


def test_the_unseen_judge_is_the_panel_of_the_rest(lines: RatedLines, learner: AnyLearner) -> None:
    examples = sets()
    found = unseen_scores(lines, seed=3)
    for name in ("one", "three"):
        rest = [one for one in examples if one.dataset != name]
        panel = panel_of(train_judge(rest, learner, seed=3))
        own = [place for place, one in enumerate(examples) if one.dataset == name]
        expected = rejoinder.score([examples[place] for place in own], panel).values
        np.testing.assert_allclose(found[own], expected, atol=1e-6)
        assert np.ptp(expected) > 0.5 and set(panel.members) == {"adem", "c-adem", "r-adem"}


def test_the_seen_judge_knows_the_other_folds(lines: RatedLines, learner: AnyLearner) -> None:
    examples, found = sets(), seen_scores(lines, seed=0)
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


def test_ratings_of_whole_dialogues_are_passed_over_and_said(learner: AnyLearner) -> None:
    examples = sets()
    whole = {place for place, one in enumerate(examples) if one.dataset == "three"} | {0}
    for place in whole:
        examples[place] = replace(examples[place], extra={"level": "dialogue"})
    found = left_out_scores(examples, learner)[UNSEEN]
    assert {found.reasons[place] for place in whole} == {"a rating of a whole dialogue"}
    assert np.isfinite(np.delete(found.values, sorted(whole))).all()
    study = full_study(examples, ["length"], leave_one_out=learner, resamples=10)
    assert study.left_out is not None and study.left_out.correlated == 2
    assert study.left_out.sets[2].reason.endswith("160 rated lines unscored, most often: a rating of a whole dialogue")
    rest = left_out_scores([one for place, one in enumerate(examples) if place not in whole], learner)[UNSEEN]
    np.testing.assert_array_equal(np.delete(found.values, sorted(whole)), rest.values)
    with pytest.raises(UsageError, match="1 data set with ratings"):
        rated_lines([one for one in examples if one.dataset != "two"], learner)


def test_too_few_others_leave_lines_without_a_judge(learner: AnyLearner) -> None:
    found = rated_lines(sets({"one": 40, "two": 140}), learner)
    unseen = unseen_scores(found)
    assert np.isfinite(unseen[:40]).all() and np.isnan(unseen[40:]).all(), "20 contexts are too few to fit on"


def scored(values: np.ndarray) -> Scores:
    return Scores(values, {}, Signature({"scorer": "given"}))


def test_figures_by_hand() -> None:
    examples = sets()
    ratings = ratings_of(examples, "overall")
    rng = np.random.default_rng(1)
    unseen, seen = (ratings + spread * rng.normal(size=len(ratings)) for spread in (4.0, 1.0))
    rated = rated_sets(examples, ratings, "overall")
    given = {UNSEEN: scored(unseen), SEEN: scored(seen)}
    found = left_out_of(rated.sets, given, {"one": 0.8, "two": math.nan, "three": 0.5}, Sampling(200, 0))
    rows = {"one": slice(140), "two": slice(140, 290), "three": slice(290, 450)}
    for one in found.sets:
        own = rows[one.dataset]
        for gap, correlate in ((one.pearson, stats.pearsonr), (one.spearman, stats.spearmanr)):
            expected = [correlate(values[own], ratings[own]).statistic for values in (unseen, seen)]
            assert [gap.unseen.value, gap.seen.value] == pytest.approx(expected)
            assert gap.gap.value == pytest.approx(expected[1] - expected[0])
            assert gap.gap.low < gap.gap.value < gap.gap.high and gap.unseen.high < gap.seen.high
    first = found.sets[0]
    assert first.share.seen.value == pytest.approx(first.pearson.seen.value / 0.8)
    assert first.share.gap.low == pytest.approx(first.pearson.gap.low / 0.8)
    assert math.isnan(found.sets[1].share.seen.value)
    assert (found.correlated, found.ceilings, found.mean.n, found.mean.ceiling) == (3, 2, 450, 0.65)
    assert found.mean.pearson.gap.value == pytest.approx(np.mean([one.pearson.gap.value for one in found.sets]))
    shares = [found.sets[place].share.unseen.value for place in (0, 2)]
    assert found.mean.share.unseen.value == pytest.approx(np.mean(shares))
    widths = [one.pearson.gap.high - one.pearson.gap.low for one in found.sets]
    mean = found.mean.pearson.gap
    assert mean.high - mean.low == pytest.approx(np.sqrt(np.square(widths).sum()) / 3, rel=0.15)


def test_constant_scores_have_no_gap_and_say_why() -> None:
    examples = sets({"one": 40, "two": 40})
    ratings = ratings_of(examples, "overall")
    given = {UNSEEN: scored(np.r_[np.ones(40), ratings[40:]]), SEEN: scored(ratings)}
    found = left_out_of(rated_sets(examples, ratings, "overall").sets, given, {"one": 0.9, "two": 0.9}, Sampling(50, 0))
    assert "the same in all 40 pairs" in found.sets[0].reason and math.isnan(found.sets[0].pearson.gap.value)
    assert found.correlated == 1 and found.mean.pearson.unseen.value == 1.0


def test_the_interval_of_a_mean_of_independent_figures() -> None:
    one, other = Figure(value=1.0, low=0.7, high=1.3), Figure(value=3.0, low=2.6, high=3.4)
    mean = mean_of_independent([one, other])
    assert (mean.value, *mean.ends) == pytest.approx((2.0, 1.75, 2.25))
    assert mean_of_independent([]) == NOTHING
    mean = mean_of_independent([one, replace(other, low=math.nan)])
    assert mean.value == 2.0 and math.isnan(mean.low) and mean.high == pytest.approx(2.25)


@pytest.mark.slow
@pytest.mark.usefixtures("few_trees")
def test_the_study_has_the_judge_the_gap_and_the_main_finding(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "rated.jsonl"
    rows = [
        {
            "id": one.id,
            "dataset": one.dataset,
            "context": list(one.context),
            "response": one.response,
            "references": list(one.references),
            "quality": dict(one.quality),
            "scale": [1, 5],
        }
        for one in sets({"one": 140, "two": 150})
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = tmp_path / "page.html"
    ran = run("study", path, "-s", "bleu-2", "--leave-one-out", "--resamples", "100", "-o", page, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert [one["dataset"] for one in found["left_out"]["sets"]] == ["one", "two"]
    one = found["left_out"]["sets"][0]
    unseen = next(
        row
        for row in found["results"]
        if (row["scorer"], row["dataset"], row["level"], row["statistic"]) == (UNSEEN, "one", "turn", "pearson")
    )
    assert one["pearson"]["unseen"]["value"] == pytest.approx(unseen["value"]) and one["n"] == unseen["n"] == 140
    assert found["signature"][UNSEEN]["meaning_encoder"] == "student"
    near = {row["scorer"]: row for row in found["nearness"]}
    assert near[UNSEEN]["sets"] == near[SEEN]["sets"] == 2 and near[UNSEEN]["kind"] == "judge"
    assert near[SEEN]["pearson"]["value"] == found["left_out"]["mean"]["pearson"]["seen"]["value"]
    assert near["bleu-2"]["common"]["value"] == pytest.approx(near["bleu-2"]["pearson"]["value"])
    assert found["common"] == ["one", "two"]
    text = page.read_text()
    assert "One data set left out" in text and "How near to people" in text
    assert "--leave-one-out" in text and "A judge on data sets that it saw other conversations of" in text
    assert "rejoinder, seen less rejoinder, unseen" not in text


@pytest.mark.slow
def test_every_form_of_the_study_holds_it() -> None:
    found = full_study(sets({"one": 140, "two": 150}), ["length"], leave_one_out=True, resamples=0)
    forms = {suffix: render(report.study(found, "rejoinder study")) for suffix, render in RENDERERS.items()}
    assert all("rejoinder, unseen" in text for text in forms.values())
    assert "rejoinder, seen less rejoinder, unseen" in forms[".csv"]
    assert "| mean over data sets | 290 |" in forms[".md"]


def test_what_is_refused(run: Run, tmp_path: Path) -> None:
    one = "1 data set with ratings; to leave one out takes two or more. Name more files"
    refused(run("study", "@conture", "-s", "length", "--leave-one-out", "--json"), 2, one)
    other = "judges are fitted on overall ratings, so no set is left out for 'relevance'"
    ran = run("study", "@dstc7", "@conture", "-s", "length", "--leave-one-out", "--json", "--dimension", "relevance")
    refused(ran, 2, other)


@pytest.mark.slow
def test_sets_that_share_no_side_leave_nothing_to_compare() -> None:
    examples = [*list(rejoinder.read("@dstc7"))[:120], *list(rejoinder.read("@conture"))[:120]]
    found = full_study(examples, ["length"], leave_one_out=True, resamples=0)
    assert found.left_out and found.left_out.correlated == 0 and "0 pairs" in found.left_out.sets[0].reason
    assert UNSEEN not in {row.scorer for row in found.nearness}
    assert "cannot be told from" in " ".join(markdown(report.study(found)).split())
