"""Scorers against people's choices between two replies."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run, refused
from rejoinder import Example, Pair
from rejoinder.example import Choice
from rejoinder.meta import PairStudy, Preference
from rejoinder.meta.preference_results import FIRST, LESS_LENGTH, OF_LONGER, OF_SHORTER, PEOPLE, Statistic
from rejoinder.documents.preferences import notes_of
from rejoinder.stats.permutation import cluster_means
from samples import records


def made(
    number: int, scores: Sequence[float | None], preferred: Choice | None, words: Sequence[int] = (2, 1), **keys: Any
) -> Pair:
    first, second = (
        Example((f"prompt {number}",), "word " * count, id=f"{number}/{place}", extra={"x": score})
        for place, (count, score) in enumerate(zip(words, scores, strict=True))
    )
    return Pair((first, second), preferred, id=str(number), **keys)


def drawn(count: int, seed: int, right: float) -> list[Pair]:
    """Pairs of which a scorer is right on about the share `right`."""
    rng = random.Random(seed)
    pairs = []
    for number in range(count):
        preferred: Choice = 1 if rng.random() < 0.5 else 0
        best = preferred if rng.random() < right else 1 - preferred
        pairs.append(made(number, (1 - best, best), preferred, (rng.randrange(1, 9), rng.randrange(1, 9))))
    return pairs


def row(study: PairStudy, scorer: str = "column:x", statistic: Statistic = "accuracy") -> Preference:
    (found,) = (one for one in study.results if (one.scorer, one.statistic) == (scorer, statistic))
    return found


def figures(found: Preference) -> list[float]:
    return [found.n, found.value, found.low, found.high, found.p, found.p_adjusted]


def mirrored(pair: Pair) -> Pair:
    turn: dict[Choice | None, Choice | None] = {0: 1, 1: 0, None: None}
    return replace(
        pair,
        replies=(pair.replies[1], pair.replies[0]),
        preferred=turn[pair.preferred],
        votes=tuple(turn[vote] for vote in pair.votes),
    )


def saved(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_accuracy_by_hand() -> None:
    pairs = [
        made(1, (3, 1), 0),  # right, the longer
        made(2, (3, 1), 1),  # wrong, the shorter
        made(3, (2, 2), 1, (1, 2)),  # half, the longer
        made(4, (0, 9), 1, (1, 1)),  # right, of one length
        made(5, (9, 0), None),  # a tie
        made(6, (9, None), 0),  # unscored
    ]
    study = rejoinder.study_pairs(pairs, ["column:x"], resamples=100)
    found = row(study)
    assert (found.value, found.n, found.unscored, found.contexts) == (2.5 / 4, 4, 1, 4)
    assert found.reason == '1 pair without two scores, most often: no "x"'
    assert (row(study, statistic=OF_LONGER).value, row(study, statistic=OF_LONGER).n) == (0.75, 2)
    assert (row(study, statistic=OF_SHORTER).value, row(study, statistic=OF_SHORTER).n) == (0, 1)
    assert row(study, "length").value == (1 + 0 + 1 + 0.5 + 1) / 5
    assert row(study, statistic=LESS_LENGTH).value == (0 + 0 - 0.5 + 0.5) / 4
    (card,) = study.cards
    assert (card.pairs, card.ties, card.longer, card.shorter, card.empty) == (6, 1, 3, 1, 0)


def test_an_empty_reply_is_the_worse_one() -> None:
    pairs = [made(n, (None, 1), 1, (0, 3)) for n in range(4)] + [made(9, (None, 1), 1, (2, 3))]
    found = row(rejoinder.study_pairs(pairs, ["column:x"], resamples=100))
    assert (found.value, found.n, found.unscored) == (1, 4, 1)


@pytest.mark.parametrize(
    ("votes", "right"),
    [
        ((0, 0, 0), 1),
        ((0, 0, 1), (0.5 + 0.5 + 0) / 3),  # the two see the others split, the third is alone
        ((0, 0, 0, None), 3.5 / 4),  # a tie is half right
        ((0, 1), 0),
        ((0, None), 0.5),  # the vote meets a tie, which is nobody's preference; the tie meets the vote
        ((None, None, None), None),
        ((0,), None),
        ((), None),
    ],
)
def test_a_person_is_measured_against_the_others(votes: tuple[Choice | None, ...], right: float | None) -> None:
    pairs = [made(1, (1, 0), 0, votes=(1, 1)), made(2, (1, 0), 0, votes=votes)]
    found = row(rejoinder.study_pairs(pairs, ["column:x"], resamples=100), PEOPLE)
    assert found.n == (1 if right is None else 2)
    assert found.value == pytest.approx(1 if right is None else (1 + right) / 2)


@given(st.integers(0, 10**6), st.sampled_from([0.3, 0.5, 0.9]))
def test_what_must_not_matter_does_not(seed: int, right: float) -> None:
    pairs = drawn(30, seed, right)
    study = rejoinder.study_pairs(pairs, ["column:x", "column:-x"], resamples=100)
    shuffled = [mirrored(pair) for pair in random.Random(seed).sample(pairs, 30)]
    again = rejoinder.study_pairs(shuffled, ["column:-x", "column:x"], resamples=100)
    assert len(again.results) == len(study.results)
    for one in study.results:
        if one.scorer != FIRST:
            assert np.allclose(figures(row(again, one.scorer, one.statistic)), figures(one), equal_nan=True)
    assert row(again, FIRST).value == pytest.approx(1 - row(study, FIRST).value)
    assert row(study).value + row(study, "column:-x").value == pytest.approx(1)


def test_the_headline_says_only_what_is_shown() -> None:
    by_chance = rejoinder.study_pairs(drawn(60, 1, 0.5), ["column:x"]).answer[0]
    assert by_chance.startswith("column:x is not shown to agree with people's choices: it takes the reply that they")
    good = rejoinder.study_pairs(drawn(200, 2, 0.9), ["column:x"])
    assert good.answer[0].startswith("column:x agrees with people's choices: it takes the reply")
    assert good.answer[1].endswith("and column:x is shown to be ahead of that.")
    bad = rejoinder.study_pairs(drawn(200, 3, 0.1), ["column:x"])
    assert bad.answer[0].startswith("column:x goes against people's choices")
    several = rejoinder.study_pairs(drawn(60, 1, 0.5), ["column:x", "column:-x"]).answer[0]
    assert several.startswith("No scorer is shown to agree with people's choices: the best, column:")
    longer = [made(n, (int(n % 9 > 0), 0), 0, (4, 2)) for n in range(90)]
    unbeaten = rejoinder.study_pairs(longer, ["column:x"])
    assert unbeaten.answer[0].startswith(
        "column:x agrees with people's choices, but is not shown to beat taking the longer"
    )
    assert unbeaten.answer[1].endswith("and column:x is shown to be behind that.")
    trivial = rejoinder.study_pairs(longer, ["length"])
    assert trivial.answer[1].startswith("length is a trivial baseline")


@pytest.mark.parametrize("context", [[], ["Tea?"]])
def test_a_pair_asked_about_in_both_orders_is_one_piece_of_evidence(context: list[str]) -> None:
    once: list[dict[str, Any]] = [
        {"context": [*context, str(n)] if context else [], "responses": ["a " * n, "b"], "preferred": n % 3 % 2}
        for n in range(2, 40)
    ]
    turned = [{**one, "responses": one["responses"][::-1], "preferred": 1 - int(one["preferred"])} for one in once]
    single, both = (rejoinder.study_pairs(given, ["length"]) for given in (once, [*once, *turned]))
    assert (single.cards[0].contexts, both.cards[0].contexts) == (38, 38)
    first, second = (found.rows("all")[0] for found in (single, both))
    assert (first.n, second.n) == (38, 38) and second.value == first.value
    assert (both.cards[0].pairs, both.cards[0].lines) == (38, 76)
    assert " of 38 pairs, where chance takes 50 %" in both.answer[0]
    several = "76 lines hold them: what several say of one pair is averaged"
    assert f"38 pairs of 38 contexts; {several}." in notes_of(both)
    assert second.low == pytest.approx(first.low, abs=0.02) and second.high == pytest.approx(first.high, abs=0.02)


def test_where_the_better_reply_is_always_first_taking_the_first_says_nothing() -> None:
    always = rejoinder.study_pairs([made(n, (1, 0), 0) for n in range(9)], ["column:x"], resamples=100)
    assert FIRST not in {one.scorer for one in always.results}
    assert FIRST in {one.scorer for one in rejoinder.study_pairs(drawn(9, 0, 0.5), ["column:x"]).results}


def test_what_cannot_be_studied() -> None:
    with pytest.raises(rejoinder.RejoinderError, match="none of 1 pairs has a preferred reply. Say of some"):
        rejoinder.study_pairs([made(1, (1, 0), None)], ["length"])
    with pytest.raises(rejoinder.RejoinderError, match="pairs:item 1: no pair of replies"):
        rejoinder.study_pairs([Example((), "a")], ["length"])
    with pytest.raises(rejoinder.RejoinderError, match="id '1' of data set 'all' was already given"):
        rejoinder.study_pairs([made(1, (1, 0), 0)] * 2, ["length"])
    with pytest.raises(rejoinder.RejoinderError, match="column:y: none of 1 pairs has two scores; most often: no .y."):
        rejoinder.study_pairs([made(1, (1, 0), 0)], ["column:y"])
    with pytest.raises(rejoinder.RejoinderError, match="expected a whole number"):
        rejoinder.study_pairs([made(1, (1, 0), 0)], ["length"], resamples=-1)


def test_means_over_clusters() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0.3, 1, (2, 12))
    values[1, 3:7] = np.nan
    clusters = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    first, second = cluster_means(values, clusters, np.zeros(2), 2000, rng)
    assert [first.value, second.value] == pytest.approx([values[0].mean(), np.nanmean(values[1])])
    assert [(one.n, one.clusters) for one in (first, second)] == [(12, 6), (8, 5)]
    sums = np.bincount(clusters, weights=values[0])
    flips = [abs(np.dot(signs, sums)) for signs in product((1, -1), repeat=6)]
    assert first.p == pytest.approx(np.mean(np.array(flips) >= abs(sums.sum()) - 1e-9), abs=0.05)
    (nothing,) = cluster_means(np.full((1, 3), np.nan), np.arange(3), np.zeros(1), 100, rng)
    assert nothing.n == 0 and nothing.reason and math.isnan(nothing.p)


def test_intervals_hold_what_they_should_and_chance_is_seldom_called_a_find() -> None:
    held, found = 0, 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        clusters = np.repeat(np.arange(40), 3)
        values = (rng.random(40) < 0.5).astype(float)[clusters][None]  # the three of a cluster are one draw
        (mean,) = cluster_means(values, clusters, np.array([0.5]), 400, rng)
        held += mean.low <= 0.5 <= mean.high
        found += mean.p < 0.05
    assert held >= 90 and found <= 10


def test_study_of_a_file_of_pairs(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "pairs.jsonl", records(30))
    ran = run("study", path, "-s", "column:gpt4", "--resamples", "100")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("column:gpt4 is not shown to agree with people's choices: it takes the reply that they")
    assert "30 pairs of 30 contexts; 6 of them, ties between people, not counted." in ran.out
    for name in ("one person", "length", "baseline", "(other measure)", "context-overlap", "chance"):
        assert name in ran.words
    assert "Against chance and against the longer reply" not in ran.out
    assert "Against chance and against the longer reply" in run("study", path, "-s", "column:gpt4", "--all").out


def test_study_of_pairs_for_machines(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "pairs.jsonl", records(30))
    found = json.loads(run("study", path, "-s", "column:gpt4", "--json", "--resamples", "100", "--seed", "3").out)
    assert found["version"] == 1 and found["options"]["scorers"] == ["column:gpt4"]
    (accuracy,) = (one for one in found["results"] if (one["scorer"], one["statistic"]) == ("column:gpt4", "accuracy"))
    assert (accuracy["level"], accuracy["n"], accuracy["seed"]) == ("pair", 24, 3)
    assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]
    study = rejoinder.study_pairs(rejoinder.read_pairs(path), ["column:gpt4"], resamples=100, seed=3)
    assert row(study, "column:gpt4").value == accuracy["value"] and list(study.answer) == found["answer"]


@pytest.mark.parametrize("suffix", ["html", "md", "tex", "csv", "json"])
def test_study_of_pairs_as_a_file(run: Run, tmp_path: Path, suffix: str) -> None:
    path, out = saved(tmp_path / "pairs.jsonl", records(30)), tmp_path / f"study.{suffix}"
    ran = run("study", path, "-s", "column:gpt4", "--resamples", "100", "-o", out)
    assert ran.code == 0 and ran.out.endswith(f"saved in {out}\n")
    text = out.read_text()
    assert "column:gpt4" in text
    if suffix == "csv":
        assert {line["scorer"] for line in csv.DictReader(text.splitlines())} >= {"column:gpt4", "length", PEOPLE}
    elif suffix == "html":
        assert "<script src" not in text and "http" not in text.replace("http://www.w3.org", "")


def test_pairs_and_ratings_are_told_apart(run: Run, tmp_path: Path) -> None:
    pairs = saved(tmp_path / "pairs.jsonl", records(3))
    rated = saved(tmp_path / "rated.jsonl", [{"response": "a", "quality": {"overall": 1}}])
    said = (
        f"{pairs}:1: a pair of replies, and {rated}:1 is a single one; a study takes pairs or ratings. Call study once"
    )
    refused(run("study", pairs, rated, "-s", "length"), 3, f"{said} for each")
    refused(run("study", rated, pairs, "-s", "length"), 3, f"{said} for each")
    for option in (("--drop-copies",), ("--leave-one-out",), ("--dimension", "fun")):
        ran = run("study", pairs, "-s", "length", *option)
        refused(ran, 2, f"{option[0]} is for ratings, and {pairs}:1 is a pair. Leave it out")


def test_nothing_is_left_to_study(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "pairs.jsonl", [{"chosen": "a", "rejected": 3}])
    ran = run("study", path, "-s", "length", "--on-error", "skip")
    assert ran.code == 3
    assert ran.err.endswith("rejoinder: no line is left to study. Correct those that were skipped\n")


def test_score_scores_both_replies(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "pairs.jsonl", [{**records(1)[0], "id": "p"}])
    first, second = run("score", path, "-s", "length", "--format", "jsonl").records
    assert (first["id"], first["scores"], first["pair"], first["preferred"]) == ("p/0", {"length": 3}, "p", True)
    assert (second["id"], second["scores"], second["gpt4"], second["preferred"]) == ("p/1", {"length": 2}, 0.5, False)


@pytest.mark.slow
def test_the_shared_sets_give_the_figures_of_their_datasheet(shared: Path) -> None:
    files = [shared / f"data/preferences/{name}.jsonl.gz" for name in ("pandalm", "hh_harmless")]
    study = rejoinder.study_pairs(rejoinder.read_pairs(*files), ["length"], resamples=100)
    found = {one.dataset: one for one in study.results if (one.scorer, one.statistic) == ("length", "accuracy")}
    value = found["pandalm"]  # 894 lines with a choice are of 784 pairs
    assert value.value == pytest.approx(0.67, abs=0.01) and value.n == 784
    assert found["hh_harmless"].value == pytest.approx(0.44, abs=0.005) and found["hh_harmless"].n == 2303
