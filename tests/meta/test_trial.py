"""A new judge on trial: folds that nothing leaks through, figures as by hand, and a verdict that holds."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run
from rejoinder.encoders import load_encoder
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.judges.bilinear.fit import FitOptions, fit_bilinear
from rejoinder.judges.bilinear.learner import BilinearLearner
from rejoinder.judges.learner import Rows
from rejoinder.judges.lines import RatedLines, encode_rated
from rejoinder.judges.many import Manner, folds_of, scores_of
from rejoinder.meta import trial as trials
from rejoinder.meta.alternatives import Role
from rejoinder.meta.training import steps, train
from rejoinder.meta.trial import Candidate, Trial, trial_of
from rejoinder.meta.trial_answer import trial_answer
from rejoinder.stats.correlation import CORRELATIONS, Statistic, mean_correlation, mean_correlations
from rejoinder.stats.figure import NOTHING, Figure
from rejoinder.stats.resamples import Resamples
from samples import bilinear_learner

WORDS = ["music", "film", "book", "game", "dinner", "train", "river", "winter", "garden", "school", "paper", "window"]
QUICK = FitOptions(epochs=40, learning_rate=0.02)
Rate = Callable[[Example, random.Random], float]


def rated(rate: Rate, count: int = 300, *, seed: int = 5, words: int = 1) -> list[Example]:
    """Lines of random words, each of a conversation of its own, rated by a rule."""

    def lines() -> Iterator[Example]:
        source = random.Random(seed)
        for number in range(count):
            reference = source.sample(WORDS, 4)
            response = source.sample(reference, 4) if words == 4 else source.choices(WORDS, k=words)
            context = (source.choice(WORDS), " ".join(f"{number:b}"))  # the second turn tells conversations apart
            example = Example(context, " ".join(response), (" ".join(reference),), id=str(number))
            example = replace(example, context_id=f"c{number}", scales={"overall": (1, 5)})
            yield replace(example, quality={"overall": min(5.0, max(1.0, rate(example, source)))})

    return list(lines())


def partner(example: Example, source: random.Random) -> float:
    """High where the response is the word that goes with the context: learnt from ratings, found by no metric."""
    place = WORDS.index(example.context[0])
    return source.gauss(4.2 if example.response in (WORDS[place - 1], WORDS[place - 2], WORDS[place - 3]) else 1.8, 0.3)


def order(example: Example, source: random.Random) -> float:
    """High where the words come in the order of the reference: seen by BLEU-2, by no average of word vectors."""
    pairs = [words.split() for words in (example.response, example.references[0])]
    shared = len(set(zip(pairs[0], pairs[0][1:], strict=False)) & set(zip(pairs[1], pairs[1][1:], strict=False)))
    return source.gauss(1.5 + shared, 0.3)


def noise(_: Example, source: random.Random) -> float:
    """Whatever."""
    return source.uniform(1, 5)


def short(example: Example, source: random.Random) -> float:
    """High where the response is short."""
    return source.gauss(5.5 - len(example.response.split()), 0.3)


# The figures


@given(st.integers(0, 10**6), st.sampled_from(["pearson", "spearman"]))
def test_of_one_part_it_is_the_correlation_and_columns_go_together(seed: int, statistic: Statistic) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    ratings, scores = rng.integers(1, 6, n).astype(float), rng.normal(size=(n, 2)).round(1)
    clusters = rng.integers(0, 6, n)
    resamples = Resamples.draw(np.append(clusters, 5), 20, rng).at(np.arange(n))
    table = np.column_stack([scores, scores[:, 0]])
    found = mean_correlations(statistic, table, ratings, np.zeros(n, dtype=np.int64), resamples)
    for place in range(3):
        assert found[0, place] == pytest.approx(CORRELATIONS[statistic](table[:, place], ratings).value, nan_ok=True)
    np.testing.assert_array_equal(found[:, 0], found[:, 2])
    once = np.repeat(np.arange(n), resamples.counts[resamples.clusters, 4])  # the fourth resample, drawn line by line
    by_hand = CORRELATIONS[statistic](table[once, 1], ratings[once]).value
    if np.isfinite(by_hand) and np.isfinite(found[4, 1]):
        assert found[4, 1] == pytest.approx(by_hand, abs=1e-9)


def test_parts_count_by_their_lines_and_alike_for_all() -> None:
    rng = np.random.default_rng(3)
    sizes = (30, 60, 10)
    parts = np.repeat(np.arange(3), sizes)
    ratings, scores = rng.normal(size=100), rng.normal(size=(100, 2))
    once = Resamples.once(np.arange(100))
    found = mean_correlations("spearman", scores, ratings, parts, once)[0]
    single = [
        [CORRELATIONS["spearman"](column[parts == part], ratings[parts == part]).value for part in range(3)]
        for column in scores.T
    ]
    assert found == pytest.approx([np.average(values, weights=sizes) for values in single])
    alone = mean_correlation("spearman", scores[:30, 0], ratings[:30], parts[:30], once.at(np.arange(30)))
    assert single[0][0] == pytest.approx(alone.value)
    scores[parts == 1, 1] = 7.0  # constant there, so that part counts for neither
    found = mean_correlations("spearman", scores, ratings, parts, once)[0]
    assert found == pytest.approx([np.average(values[::2], weights=sizes[::2]) for values in single])


# Nothing leaks


@pytest.fixture(scope="module")
def lines() -> RatedLines:
    return encode_rated(rated(partner), LEARNER)


def other_ratings(lines: RatedLines, rows: Rows) -> RatedLines:
    """The same lines with the ratings of `rows` turned round."""
    ratings = lines.ratings.copy()
    ratings[rows] = 6 - ratings[rows]
    return replace(lines, ratings=ratings)


LEARNER = BilinearLearner("c-adem", load_encoder("word-vectors"), QUICK)
MANNER = Manner([LEARNER], seed=1)


def test_the_score_of_a_fold_does_not_depend_on_its_ratings(lines: RatedLines) -> None:
    tasks = folds_of(lines, lines.usable["c-adem"], 1)
    assert sorted(np.concatenate([task.asked for task in tasks])) == list(range(300))
    for task in tasks:
        assert not set(task.rows) & set(task.asked)
    before = scores_of(lines, tasks, MANNER)
    after = scores_of(other_ratings(lines, tasks[2].asked), tasks, MANNER)
    np.testing.assert_array_equal(before[tasks[2].asked], after[tasks[2].asked])
    assert not np.allclose(before[tasks[0].asked], after[tasks[0].asked])


def test_a_metric_is_chosen_on_the_other_folds() -> None:
    """In one fold the ratings go against order, so that whoever looked at them would choose otherwise there."""
    lines = encode_rated(rated(order, words=4), LEARNER)
    tasks = folds_of(lines, lines.usable["c-adem"], 1)
    plain, odd = (
        trial_of(given, "c-adem", MANNER, resamples=100) for given in (lines, other_ratings(lines, tasks[2].asked))
    )
    metrics = [one.of("metric") for one in (plain, odd)]
    assert metrics[0] is not None and metrics[1] is not None
    assert metrics[0].chosen[2] == metrics[1].chosen[2]
    assert metrics[0].spearman.value > metrics[1].spearman.value + 0.2, (
        "the fold that goes against it counts against it"
    )


def test_conversations_are_not_torn_apart() -> None:
    examples = [replace(one, context_id=f"c{number // 6}") for number, one in enumerate(rated(partner))]
    lines = encode_rated(examples, LEARNER)
    for task in folds_of(lines, np.arange(300), 0):
        assert not set(lines.contexts[task.rows]) & set(lines.contexts[task.asked])


def test_an_interruption_does_not_wait_for_the_other_fits(lines: RatedLines, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    interrupted = threading.Event()

    def counted(*arguments: Any) -> Any:
        begun.append(1)
        if len(begun) > 2:
            interrupted.wait(60)
        return fit_bilinear(*arguments)

    def interrupt(_: int) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    monkeypatch.setattr("rejoinder.judges.bilinear.learner.fit_bilinear", counted)
    tasks = folds_of(lines, lines.usable["c-adem"], 1)
    with pytest.raises(KeyboardInterrupt):
        scores_of(lines, tasks, MANNER, interrupt)
    assert len(begun) < len(tasks)
    begun.clear()
    scores_of(lines, tasks, MANNER)
    assert len(begun) == len(tasks)


# The verdict


def judged(rate: Rate, *, words: int = 1, dataset: str | None = None, kind: Any = "c-adem") -> rejoinder.Training:
    examples = [replace(one, dataset=dataset) for one in rated(rate, words=words)]
    return train(examples, kind, options=QUICK, resamples=300)


def test_a_judge_that_learns_what_nothing_else_sees_is_recommended() -> None:
    done = judged(partner)
    assert done.trial.recommended == ("new",)
    new, box = done.trial.of("new"), done.trial.of("box")
    assert new is not None and box is not None
    assert new.agrees and new.beats_trivial and new.spearman.low > 0.2 and box.behind.low > 0
    assert box.behind.value == pytest.approx(new.spearman.value - box.spearman.value)
    assert done.answer[0].startswith("Use the new judge: on conversations that it was not fitted on, Spearman 0.")
    assert done.answer[1].startswith("The new judge is ahead of the judge in the box: by 0.")
    assert done.trial.n == 300 == done.trial.contexts and done.trial.folds == 5


def test_a_metric_that_sees_more_is_recommended() -> None:
    done = judged(order, words=4)
    metric = done.trial.of("metric")
    assert done.trial.recommended == ("metric",) and metric is not None and metric.behind.high < 0
    assert done.answer[0].startswith(f"Use the best metric ({metric.name}), not the new one: Spearman 0.")
    assert f"The new judge is behind the best metric ({metric.name}): by 0." in " ".join(done.answer)


def test_noise_is_none_to_agree_with() -> None:
    done = judged(noise)
    assert done.trial.recommended == () and not any(one.agrees for one in done.trial.candidates)
    assert done.answer[0].startswith("None is shown to agree with people: the highest, ")
    assert "What may help: several raters a reply, ratings that spread over the whole scale" in done.answer[0]


def test_what_a_trivial_baseline_does_better_is_not_recommended() -> None:
    examples = [replace(one, response=" ".join([one.response] * (1 + n % 4))) for n, one in enumerate(rated(noise))]
    source = random.Random(2)
    examples = [replace(one, quality={"overall": short(one, source)}, scales={"overall": (0, 6)}) for one in examples]
    done = train(examples, "c-adem", options=QUICK, resamples=300)
    assert done.trial.recommended == ()
    trivial = done.trial.of("baseline")
    assert trivial is not None and (trivial.name, trivial.lower) == ("length", True) and trivial.spearman.low > 0.5
    assert done.answer[0].startswith("Use none of them: the trivial length (the lower the better) does as well as any")


def test_the_box_is_left_out_where_it_was_fitted_on_the_same_set() -> None:
    done = judged(partner, dataset="dstc7")
    assert done.trial.of("box") is None
    assert "The judge in the box is left out: it was fitted on lines of dstc7, these or others." in done.answer
    assert judged(partner, dataset="mine").trial.of("box") is not None


def test_the_box_is_left_out_of_replies_that_it_cannot_judge() -> None:
    lines = rated(partner)
    long = [replace(one, response=f"{one.response} {'and so on ' * 60}") for one in lines[:31]]
    done = train([*long, *lines[31:]], "c-adem", options=QUICK, resamples=100)
    assert done.trial.of("box") is None
    (said,) = (said for said in done.answer if said.startswith("The judge in the box is left out: "))
    assert "of 300 replies" in said


def test_metrics_without_references_do_not_stand_beside_it() -> None:
    examples = [replace(one, references=()) for one in rated(partner)]
    done = train(examples, "c-adem", options=QUICK, resamples=100)
    assert done.trial.of("metric") is None
    assert (
        "No metric stands beside it: metrics need references, and none scores nine in ten of these lines."
        in done.answer
    )


def test_copies_of_references_are_told() -> None:
    examples = rated(partner)
    examples[:9] = [replace(one, references=(one.response,)) for one in examples[:9]]
    done = train(examples, "c-adem", options=QUICK, resamples=100)
    assert done.answer[-1] == "9 of the responses copy a reference, which no metric can miss."


def test_inside_data_sets() -> None:
    """Knowing which of two data sets is rated higher is worth nothing."""
    examples = rated(noise)
    for place in range(150):
        quality = {"overall": 1 + examples[place].quality["overall"] / 10}
        examples[place] = replace(examples[place], dataset="low", context=("music",), quality=quality)
    assert train(examples, "c-adem", options=QUICK, resamples=100).trial.recommended == ()


# Where there is none


def test_too_few_lines_for_folds() -> None:
    done = train(rated(partner, 34), "c-adem", options=QUICK, resamples=100)
    assert done.trial.reason == "four fifths of 34 lines are too few to fit the judge on"
    (said,) = done.answer
    assert said.startswith("Not compared with what is there already: four fifths of 34 lines") and "--held-out" in said
    assert done.to_dict()["cross_validation"]["candidates"] == []


def test_ratings_that_do_not_differ_inside_folds() -> None:
    """Two data sets, each with one rating throughout: there is a rating to learn, and no correlation to have."""
    examples = [replace(one, quality={"overall": 2.0}, dataset="low") for one in rated(noise, 150)]
    examples += [replace(one, context_id=f"d{one.id}", quality={"overall": 4.0}) for one in rated(noise, 150, seed=6)]
    done = train(examples, "c-adem", options=QUICK, resamples=100)
    assert done.trial.reason == "there is no correlation inside the folds" and not done.trial.candidates


def test_what_would_take_over_a_minute_is_left_out(lines: RatedLines, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        trials.seconds_for(lines, Manner([replace(LEARNER, options_of_fit=FitOptions())])) < 10 < trials.LONGEST == 60
    )
    long = Manner([replace(LEARNER, options_of_fit=FitOptions(epochs=100_000))])
    found = trial_of(lines, "c-adem", long, resamples=100)
    assert found.reason.startswith("with 300 lines it would take about ") and not found.candidates
    monkeypatch.setattr(trials, "LONGEST", 0.01)
    assert trial_of(lines, "c-adem", MANNER, resamples=100).reason.endswith(" seconds; over 0 it is left out")


def test_too_few_resamples_are_refused() -> None:
    with pytest.raises(UsageError, match="^resamples is 0, expected 100 or more$"):
        train(rated(partner, 40), "c-adem", resamples=0)


# As people call it


@pytest.mark.slow
def test_the_command_says_it_first_and_python_the_same(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    rejoinder.write(rated(partner), file)
    call = ("train", "c-adem", file, "--epochs", "40", "--step", ".02")
    table = run(*call, "-o", tmp_path / "one")
    assert (table.code, table.err) == (0, "")
    assert table.words.startswith("Use the new judge: on conversations that it was not fitted on, Spearman 0.")
    marks = ("part ", "cross-validation ", "new judge: c-adem", "in the box: rejoinder", "saved")
    places = [table.out.index(text) for text in marks]
    assert places == sorted(places)
    found = json.loads(run(*call, "-o", tmp_path / "two", "--json").out)
    tried = found["cross_validation"]
    assert tried["recommended"] == ["new"] and " ".join(tried["answer"]) in table.words
    assert [one["role"] for one in tried["candidates"]] == ["new", "box", "metric", "baseline"]
    assert tried["candidates"][0]["behind"] == {"value": None, "low": None, "high": None}
    again = rejoinder.train(list(rejoinder.read(file)), "c-adem", options=QUICK)
    assert json.loads(json.dumps(again.to_dict())) == found, "the same figures, and the same on every run"


class Counting:
    """An encoder that keeps what it was asked for."""

    def __init__(self) -> None:
        self.inner = load_encoder("word-vectors")
        self.seen: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def encode(self, texts: Any) -> Any:
        self.seen += texts
        return self.inner.encode(texts)

    def encode_contexts(self, contexts: Any) -> Any:
        self.seen += contexts
        return self.inner.encode_contexts(contexts)


@pytest.mark.parametrize("kind", ["c-adem", "panel"])
def test_everything_is_encoded_once_for_all_fits(kind: Any) -> None:
    examples = [replace(one, response=f"{one.response} {one.id}") for one in rated(partner)]
    encoder: Any = Counting()
    train(examples, kind, encoder, replace(QUICK, epochs=2), resamples=100)
    texts = [one.response for one in examples]
    assert [encoder.seen.count(text) for text in texts] == [1] * len(texts)
    assert len(encoder.seen) == len(set(encoder.seen)), "nor anything else twice"


def test_a_panel_is_tried_too(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    rejoinder.write(rated(partner), file)
    done = json.loads(run("train", "panel", file, "-o", tmp_path / "one", "--epochs", "10", "--json").out)
    assert done["cross_validation"]["candidates"][0]["name"] == "panel"
    assert len(done["results"]) == 3


def test_progress_comes_to_its_end() -> None:
    options = FitOptions(epochs=5)
    for kind, examples in (("c-adem", rated(partner)), ("panel", rated(partner))):
        counted: list[int] = []
        train(examples, kind, options=options, resamples=100, advance=counted.append)
        assert sum(counted) == steps(bilinear_learner(kind, options=options))


# The words

ALIKE = ": cross-validation does not tell them apart (Spearman"


def candidate(role: Role, value: float, behind: Figure = NOTHING, **changes: Any) -> Candidate:
    names: dict[Role, str] = {"new": "c-adem", "box": "rejoinder", "metric": "bleu-2", "baseline": "length"}
    own = Figure(value=value, low=value - 0.1, high=value + 0.1)
    given = Candidate(names[role], role, own, own, 0.01, value > 0.1, value > 0.1, behind, behind)
    return replace(given, **changes)


@pytest.mark.parametrize(
    ("recommended", "changes", "first"),
    [
        (("box",), {}, "Use the judge in the box, not the new one: Spearman 0.30 [0.20, 0.40] on 300 lines."),
        (
            ("new", "box"),
            {"needed": 1234},
            f"Use the new judge or the judge in the box{ALIKE} 0.35 and 0.30). About 1,200 rated lines would tell.",
        ),
        (
            ("new", "box", "metric"),
            {},
            f"Use the new judge, the judge in the box or the best metric (bleu-2){ALIKE} 0.35, 0.30 and 0.20).",
        ),
    ],
)
def test_the_recommendation_in_words(recommended: tuple[Role, ...], changes: dict[str, Any], first: str) -> None:
    beside = Figure(value=0.05, low=-0.02, high=0.12)
    four = (
        candidate("new", 0.35),
        candidate("box", 0.30, beside),
        candidate("metric", 0.20, Figure(value=-0.15, low=-0.2, high=-0.1)),
        candidate("baseline", 0.05, Figure(value=0.3, low=0.2, high=0.4)),
    )
    said = trial_answer(Trial(four, recommended, 300, **changes))
    assert said == (
        first,
        "The new judge is not shown to be ahead of the judge in the box: by 0.05 [-0.02, 0.12].",
        "The new judge is behind the best metric (bleu-2): by 0.15 [0.10, 0.20].",
    )


def test_a_judge_that_does_not_beat_a_trivial_baseline_is_not_praised() -> None:
    two = (
        candidate("new", 0.3, beats_trivial=False),
        candidate("baseline", 0.25, Figure(value=0.05, low=-0.1, high=0.2), lower=True),
    )
    said = trial_answer(Trial(two, ("new",), 300))
    assert said[0].startswith("Use the new judge, if any: ")
    assert said[1] == (
        "The new judge is not even shown to beat the trivial length (the lower the better): Spearman 0.25 [0.15, 0.35]."
    )


def test_ratings_that_run_against_the_judge_in_the_box_may_be_upside_down() -> None:
    """A new judge learns school grades as they are, and gives the worst replies the highest scores."""
    two = (candidate("new", 0.4), candidate("box", -0.4, Figure(value=0.8, low=0.7, high=0.9)))
    said = trial_answer(Trial(two, ("new",), 300))
    assert said[0].startswith("Use the new judge, if high ratings are the good ones: ")
    assert said[1].startswith("The ratings run against the judge in the box. Where low ratings are the good ones")


def test_the_highest_of_several_by_chance() -> None:
    two = (
        candidate("new", 0.12, agrees=False, p=0.06),
        candidate("box", 0.05, Figure(value=0.07, low=-0.1, high=0.2), agrees=False),
    )
    first, *_ = trial_answer(Trial(two, (), 300))
    assert (
        "the highest, the new judge, has Spearman 0.12 [0.02, 0.22], which the highest of 2 may reach by chance"
        in first
    )
