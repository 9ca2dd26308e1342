"""A new judge and the scorers that exist already: no leaks between folds, figures by hand, honest sentences."""

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

import rejoinder
from conftest import Run
from rejoinder.analysis import train as module
from rejoinder.analysis.train import cross_validate, seconds_for, steps, train
from rejoinder.analysis.train_layout import recommended, text
from rejoinder.analysis.verdicts import agreed
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate, Verdict, pick
from rejoinder.example import Example
from rejoinder.judges import crossval
from rejoinder.judges.adem.learner import AdemLearner
from rejoinder.judges.adem.optimizer import AdemOptions, fit_adem
from rejoinder.judges.crossval import conversation_folds
from rejoinder.judges.protocol import Rows
from rejoinder.judges.rated import RatedLines, rated_lines
from rejoinder.models import load_encoder
from rejoinder.report.results import About, Results
from samples import adem_learner

WORDS = ["music", "film", "book", "game", "dinner", "train", "river", "winter", "garden", "school", "paper", "window"]
QUICK = AdemOptions(epochs=40, learning_rate=0.02)
Rate = Callable[[Example, random.Random], float]


def rated(rate: Rate, count: int = 300, *, seed: int = 5, words: int = 1) -> list[Example]:
    """Lines of random words, each of a conversation of its own, rated by a rule."""

    def lines() -> Iterator[Example]:
        source = random.Random(seed)
        for number in range(count):
            reference = source.sample(WORDS, 4)
            response = source.sample(reference, 4) if words == 4 else source.choices(WORDS, k=words)
            context = (source.choice(WORDS), " ".join(f"{number:b}"))  # the second turn distinguishes conversations
            example = Example(context, " ".join(response), (" ".join(reference),), id=str(number))
            example = replace(example, context_id=f"c{number}", scales={"overall": (1, 5)})
            yield replace(example, quality={"overall": min(5.0, max(1.0, rate(example, source)))})

    return list(lines())


def partner(example: Example, source: random.Random) -> float:
    """High if the response is the word that belongs to the context: a judge can learn it, no metric sees it."""
    place = WORDS.index(example.context[0])
    return source.gauss(4.2 if example.response in (WORDS[place - 1], WORDS[place - 2], WORDS[place - 3]) else 1.8, 0.3)


def order(example: Example, source: random.Random) -> float:
    """High if the words come in the order of the reference: BLEU-2 sees it, no average of word vectors does."""
    pairs = [words.split() for words in (example.response, example.references[0])]
    shared = len(set(zip(pairs[0], pairs[0][1:], strict=False)) & set(zip(pairs[1], pairs[1][1:], strict=False)))
    return source.gauss(1.5 + shared, 0.3)


def noise(_: Example, source: random.Random) -> float:
    """Random."""
    return source.uniform(1, 5)


def short(example: Example, source: random.Random) -> float:
    """High if the response is short."""
    return source.gauss(5.5 - len(example.response.split()), 0.3)


def by_role(results: Results) -> dict[str, str]:
    return {facts["role"]: name for name, facts in results.about.scorers.items() if "role" in facts}


def used(results: Results) -> list[str]:
    return [facts["role"] for facts in results.about.scorers.values() if facts.get("recommended")]


def tried(examples: list[Example], **more: Any) -> Results:
    return train(examples, "c-adem", **{"options": QUICK, "resamples": 100, **more})[1]


# Nothing leaks

LEARNER = AdemLearner("c-adem", load_encoder("word-vectors"), QUICK)


@pytest.fixture(scope="module")
def lines() -> RatedLines:
    return rated_lines(rated(partner), LEARNER)


def reversed_at(lines: RatedLines, rows: Rows) -> RatedLines:
    """The same lines with the ratings of `rows` reversed."""
    ratings = lines.ratings.copy()
    ratings[rows] = 6 - ratings[rows]
    return replace(lines, ratings=ratings)


def test_the_score_of_a_fold_does_not_depend_on_its_ratings(lines: RatedLines) -> None:
    folds = conversation_folds(lines, lines.usable["c-adem"], 1)
    assert sorted(np.concatenate([fold.scored for fold in folds])) == list(range(300))
    assert not any(set(fold.train) & set(fold.scored) for fold in folds)
    before = crossval.cross_validate(lines, folds, seed=1)
    after = crossval.cross_validate(reversed_at(lines, folds[2].scored), folds, seed=1)
    np.testing.assert_array_equal(before[folds[2].scored], after[folds[2].scored])
    assert not np.allclose(before[folds[0].scored], after[folds[0].scored])


def test_metric_and_baseline_are_chosen_on_the_other_folds() -> None:
    """In one fold the ratings are reversed, so a choice that used them would differ there."""
    lines = rated_lines(rated(order, words=4), LEARNER)
    rows = conversation_folds(lines, lines.usable["c-adem"], 1)[2].scored
    plain, odd = (
        cross_validate(data, "c-adem", [LEARNER], seed=1, resamples=100) for data in (lines, reversed_at(lines, rows))
    )
    values, chosen = [], []
    for estimates, scorers, *_ in (plain, odd):
        by_role = {facts.get("role"): name for name, facts in scorers.items()}
        chosen.append([scorers[by_role[role]]["chosen"][2] for role in ("best metric", "best baseline")])
        values.append(pick(estimates, scorer=by_role["best metric"], statistic="spearman")[0].value)
    assert chosen[0] == chosen[1]
    assert values[0] > values[1] + 0.2, "the reversed fold counts against the choice"


def test_conversations_stay_whole() -> None:
    examples = [replace(line, context_id=f"c{number // 6}") for number, line in enumerate(rated(partner))]
    lines = rated_lines(examples, LEARNER)
    for fold in conversation_folds(lines, np.arange(300), 0):
        assert not set(lines.ties.contexts[fold.train]) & set(lines.ties.contexts[fold.scored])


def test_an_interruption_does_not_wait_for_the_other_fits(lines: RatedLines, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    interrupted = threading.Event()

    def counted(*arguments: Any) -> Any:
        begun.append(1)
        if len(begun) > 2:
            interrupted.wait(60)
        return fit_adem(*arguments)

    def interrupt(_: int) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    monkeypatch.setattr("rejoinder.judges.adem.learner.fit_adem", counted)
    folds = conversation_folds(lines, lines.usable["c-adem"], 1)
    with pytest.raises(KeyboardInterrupt):
        crossval.cross_validate(lines, folds, seed=1, advance=interrupt)
    assert len(begun) < len(folds)


# The verdict


def test_a_judge_that_learns_what_no_other_scorer_sees_is_recommended() -> None:
    results = tried(rated(partner), resamples=300)
    assert used(results) == ["new judge"] and results.answer[0].startswith("Use the new judge: Spearman 0.")
    new, bundled = (
        results.one(scorer="c-adem", statistic="spearman"),
        results.one(scorer="rejoinder", statistic="spearman"),
    )
    gap = results.one(scorer="c-adem", versus="rejoinder", statistic="difference of spearman")
    assert new.verdict == gap.verdict == "above" and new.low > 0.2
    assert gap.value == pytest.approx(new.value - bundled.value)
    counts = results.about.counts
    assert (counts["lines"], counts["contexts"], counts["folds"]) == (300, 300, 5)


def test_a_metric_that_sees_more_is_recommended() -> None:
    results = tried(rated(order, words=4), resamples=300)
    metric = by_role(results)["best metric"]
    assert used(results) == ["best metric"] and metric in results.answer[0]
    assert results.one(scorer="c-adem", versus=metric, statistic="difference of spearman").verdict == "below"


def test_noise_agrees_with_no_scorer() -> None:
    results = tried(rated(noise))
    rows = results.pick(statistic="spearman")
    assert used(results) == [] and {row.verdict for row in rows} == {"inconclusive"}
    assert results.answer[0].startswith("No scorer shows significant agreement")


def test_no_scorer_is_recommended_if_a_baseline_is_better() -> None:
    examples = [replace(line, response=" ".join([line.response] * (1 + n % 4))) for n, line in enumerate(rated(noise))]
    source = random.Random(2)
    examples = [
        replace(line, quality={"overall": short(line, source)}, scales={"overall": (0, 6)}) for line in examples
    ]
    results = tried(examples, resamples=300)
    assert used(results) == [] and results.answer[0].startswith("Use none of the scorers")
    facts = results.about.scorers["length"]
    assert (facts["role"], facts["reversed"]) == ("best baseline", True)
    assert results.one(scorer="length", statistic="spearman").low > 0.5


@pytest.mark.parametrize(("dataset", "compared"), [("dstc7", False), ("mine", True)])
def test_the_bundled_judge_is_left_out_of_data_that_it_was_fitted_on(dataset: str, compared: bool) -> None:
    results = tried([replace(line, dataset=dataset) for line in rated(partner)])
    assert ("bundled judge" in by_role(results)) == compared
    assert ("left_out" in results.about.scorers["rejoinder"]) != compared
    assert {row.dataset for row in results.pick(statistic="spearman")} == {dataset}


def test_the_bundled_judge_is_left_out_of_replies_that_it_cannot_judge() -> None:
    lines = rated(partner)
    long = [replace(line, response=f"{line.response} {'and so on ' * 60}") for line in lines[:31]]
    results = tried([*long, *lines[31:]])
    assert (
        "bundled judge" not in by_role(results) and "of 300 replies" in results.about.scorers["rejoinder"]["left_out"]
    )


def test_metrics_are_left_out_without_references() -> None:
    results = tried([replace(line, references=()) for line in rated(partner)])
    assert "best metric" not in by_role(results) and "left_out" in results.about.scorers["bleu-2"]


def test_copies_of_references_are_counted() -> None:
    examples = rated(partner)
    examples[:9] = [replace(line, references=(line.response,)) for line in examples[:9]]
    assert tried(examples).about.counts["copies"] == 9


def test_to_know_the_data_set_is_no_agreement() -> None:
    examples = rated(noise)
    for place in range(150):
        quality = {"overall": 1 + examples[place].quality["overall"] / 10}
        examples[place] = replace(examples[place], dataset="low", context=("music",), quality=quality)
    results = tried(examples)
    assert used(results) == [] and {row.dataset for row in results.pick(statistic="spearman")} == {"pooled"}


# No comparison


def test_too_few_lines_for_folds() -> None:
    results = tried(rated(partner, 34))
    (row,) = results.estimates
    assert not row.known and "34 lines" in row.reason and len(results.answer) == 2
    assert results.about.scorers["c-adem"]["training"]["test"]["n"] > 0


def test_ratings_that_do_not_differ_inside_folds() -> None:
    """Two data sets, each with one rating throughout: a judge can be fitted, and there is no correlation."""
    examples = [replace(line, quality={"overall": 2.0}, dataset="low") for line in rated(noise, 150)]
    examples += [
        replace(line, context_id=f"d{line.id}", quality={"overall": 4.0}) for line in rated(noise, 150, seed=6)
    ]
    results = tried(examples)
    assert [row.known for row in results.estimates] == [False] and "no correlation" in results.answer[1]


def test_a_comparison_over_a_minute_is_skipped(lines: RatedLines, monkeypatch: pytest.MonkeyPatch) -> None:
    assert seconds_for(lines, [replace(LEARNER, recipe=AdemOptions())]) < 10 < module.LONGEST == 60
    long = [replace(LEARNER, recipe=AdemOptions(epochs=100_000))]
    (skipped,), *_ = cross_validate(lines, "c-adem", long, resamples=100)
    assert "300 lines" in skipped.reason and not skipped.known
    monkeypatch.setattr(module, "LONGEST", 0.01)
    assert cross_validate(lines, "c-adem", [LEARNER], seed=1, resamples=100)[0][0].reason


def test_too_few_resamples_are_refused() -> None:
    with pytest.raises(UsageError):
        tried(rated(partner, 40), resamples=0)


# The command


@pytest.mark.slow
def test_the_command_gives_the_same_as_python(run: Run, tmp_path: Path) -> None:
    path, test = tmp_path / "mine.jsonl", tmp_path / "test.jsonl"
    rejoinder.write(rated(partner), path)
    call = ("train", "c-adem", path, "--epochs", "40", "--step", ".02")
    table = run(*call, "-o", tmp_path / "first", "--held-out", test)
    assert (table.code, table.err) == (0, "") and table.words.startswith("Use the new judge: Spearman 0.")
    places = [table.out.index(text) for text in ("new judge: c-adem", "bundled judge: rejoinder", "part ", "saved")]
    assert places == sorted(places)
    printed = json.loads(run(*call, "-o", tmp_path / "second", "--json").out)
    _, again = rejoinder.train(list(rejoinder.read(path)), "c-adem", options=QUICK)
    assert printed == json.loads(again.to_json())
    assert (printed["version"], printed["command"]) == (2, "train")
    training = printed["scorers"]["c-adem"]["training"]
    assert training["lines"]["test"] == len(list(rejoinder.read(test)))


class Counting:
    """An encoder that keeps the texts that it was given."""

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
    examples = [replace(line, response=f"{line.response} {line.id}") for line in rated(partner)]
    encoder: Any = Counting()
    _, results = train(examples, kind, encoder, replace(QUICK, epochs=2), resamples=100)
    assert [encoder.seen.count(line.response) for line in examples] == [1] * len(examples)
    assert len(encoder.seen) == len(set(encoder.seen))
    assert by_role(results)["new judge"] == kind
    members = [name for name, facts in results.about.scorers.items() if "training" in facts]
    assert len(members) == (3 if kind == "panel" else 1)


@pytest.mark.parametrize("kind", ["c-adem", "panel"])
def test_progress_comes_to_its_end(kind: Any) -> None:
    counted: list[int] = []
    options = AdemOptions(epochs=5)
    train(rated(partner), kind, options=options, resamples=100, progress=counted.append)
    assert sum(counted) == steps(adem_learner(kind, options=options))


# The sentences

NAMES = {"c-adem": "new judge", "rejoinder": "bundled judge", "bleu-2": "best metric", "length": "best baseline"}


def verdict(value: float, half: float) -> Verdict:
    return Verdict.INCONCLUSIVE if abs(value) <= half else Verdict.ABOVE if value > 0 else Verdict.BELOW


def told(values: dict[str, float], half: float = 0.06, **pearson: float) -> tuple[list[str], Any]:
    """The recommendation and the answer for correlations whose differences have intervals of +- `half`.

    The intervals of the correlations are +- .1; `pearson` has what differs from `values`, which are Spearman's.
    """
    both = {"spearman": values, "pearson": {**values, **{k.replace("_", "-"): v for k, v in pearson.items()}}}
    each: dict[str, list[Estimate]] = {name: [] for name in both}
    gaps: dict[str, list[Estimate]] = {name: [] for name in both}
    for statistic, of in both.items():
        for place, (name, value) in enumerate(of.items()):
            about: dict[str, Any] = {"n": 300, "low": value - 0.1, "high": value + 0.1, "verdict": verdict(value, 0.1)}
            about["p_adjusted"] = 0.9 if about["verdict"] == "inconclusive" else 0.01
            each[statistic].append(Estimate(scorer=name, statistic=statistic, value=value, **about))
            for other in list(of)[place + 1 :]:
                gap = value - of[other]
                about = {"low": gap - half, "high": gap + half, "verdict": verdict(gap, half)}
                labels: dict[str, Any] = {"scorer": name, "versus": other, "statistic": f"difference of {statistic}"}
                gaps[statistic].append(Estimate(value=gap, **labels, **about))
    rows = [row for family in (each, gaps) for rows in agreed(*family.values()) for row in rows]
    use = recommended(rows, ["length"])
    scorers: dict[str, dict[str, Any]] = {"rejoinder": {"left_out": ""}}
    scorers |= {name: {"role": NAMES[name], "recommended": name in use, "reversed": False} for name in values}
    what = About(scorers=scorers, options={"scale": (1, 5), "seed": 0}, counts={"copies": 0})
    sentences = text("answer", rows, what)
    assert len(sentences[0].split()) <= 20
    return use, sentences


def test_recommended_is_the_highest_and_all_that_it_is_not_ahead_of() -> None:
    use, sentences = told({"c-adem": 0.2, "rejoinder": 0.35, "bleu-2": 0.25, "length": 0.05})
    assert use == ["rejoinder"] and sentences[0].startswith("Use the bundled judge, not the new judge: Spearman 0.35")
    use, sentences = told({"c-adem": 0.35, "rejoinder": 0.33, "bleu-2": 0.2, "length": 0.05})
    assert use == ["c-adem", "rejoinder"] and "More ratings may or may not distinguish them." in sentences
    use, sentences = told({"c-adem": 0.35, "rejoinder": 0.33, "bleu-2": 0.31, "length": 0.05})
    assert use == ["c-adem", "rejoinder", "bleu-2"]


def test_a_scorer_without_significant_agreement_stays_if_the_highest_is_not_ahead_of_it() -> None:
    use, sentences = told({"c-adem": 0.12, "rejoinder": 0.08, "length": 0.0})
    assert use == ["c-adem", "rejoinder"] and sentences[0].startswith("Use the new judge or the bundled judge")
    agreement = "the new judge 0.12 [0.02, 0.22] (agrees), the bundled judge 0.08 [-0.02, 0.18] (inconclusive)"
    assert f"Spearman on 300 lines: {agreement}." in sentences


def test_a_scorer_is_not_called_better_than_one_that_only_a_baseline_is_ahead_of() -> None:
    use, sentences = told({"c-adem": 0.2, "rejoinder": 0.24, "length": 0.27})
    assert use == ["rejoinder"] and "not the new judge" not in sentences[0]


def test_to_agree_and_to_be_ahead_takes_both_correlations() -> None:
    values = {"c-adem": 0.5, "rejoinder": 0.35, "length": 0.05}
    assert told(values)[0] == ["c-adem"]
    assert told(values, rejoinder=0.48)[0] == ["c-adem", "rejoinder"]
    use, sentences = told({"c-adem": 0.12, "length": 0.0}, c_adem=0.05)
    assert use == [] and sentences[1] == "Only Spearman's correlation is significant, not Pearson's."


def test_a_judge_that_does_not_beat_a_baseline_is_not_praised() -> None:
    use, sentences = told({"c-adem": 0.3, "length": 0.27})
    assert use == ["c-adem"] and "with care" in sentences[0]
    use, sentences = told({"c-adem": 0.3, "rejoinder": 0.29, "bleu-2": 0.28, "length": 0.27})
    assert len(use) == 3 and "with care" in sentences[0]


def test_reversed_ratings_are_mentioned() -> None:
    use, sentences = told({"c-adem": 0.4, "rejoinder": -0.4, "length": 0.0})
    assert use == ["c-adem"] and "if high ratings are good" in sentences[0] and "run against" in sentences[1]


def test_the_highest_of_several_by_chance() -> None:
    use, sentences = told({"c-adem": 0.09, "rejoinder": 0.05, "length": 0.0})
    assert use == [] and sentences[0].startswith("No scorer shows significant agreement with people: the best, c-adem")
