"""The experiment on rewards: the estimate of the best of n, what rates and rewards, and a run that goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

import tiny  # noqa: E402 - needs torch
from rejoinder.improve.policy import Policy  # noqa: E402
from rejoinder.improve.reinforce import Practice  # noqa: E402
from rejoinder.io.folders import read_folder  # noqa: E402
from rejoinder.papers.page import About  # noqa: E402
from rejoinder.papers.reinforce import Found  # noqa: E402
from rejoinder.papers.reinforce_judges import Fitted  # noqa: E402
from rejoinder.papers.reinforce_page import outcome, page  # noqa: E402
from rejoinder.papers.reinforce_pool import best_of, divergence, pool, rated_pool  # noqa: E402
from rejoinder.papers.reinforce_runs import Measures, Way, rated, rewards, run_of  # noqa: E402
from rejoinder.report.markdown import markdown  # noqa: E402

CONTEXTS = [("hello you",), ("the cat sat", "on the mat"), ("how are you",)]
PRACTICE = Practice(updates=4, episodes=8, turns=1, group=4, longest=6, every=2, step=0.02, kl=0.0)


def short(contexts: Any, texts: Any) -> Any:
    """5 for a letter, less for more, none for nothing."""
    return np.array([5 / len(text) if text else np.nan for text in texts])


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_best_of_n_is_the_mean_over_all_subsets(n: int) -> None:
    rng = np.random.default_rng(3)
    reward, measured = rng.normal(size=(2, 4, 6))
    expected = [
        np.mean([gold[max(chosen, key=own.__getitem__)] for chosen in combinations(range(6), n)])
        for own, gold in zip(reward, measured, strict=True)
    ]
    assert best_of(reward, measured, n) == pytest.approx(expected)


def test_best_of_all_of_a_large_pool_is_the_best() -> None:
    reward = np.random.default_rng(0).normal(size=(2, 1024))
    assert best_of(reward, reward, 1024) == pytest.approx(reward.max(axis=1))
    assert best_of(reward, reward, 1) == pytest.approx(reward.mean(axis=1))


def test_the_divergence_of_the_best_of_n() -> None:
    assert (divergence(1), divergence(2)) == pytest.approx((0, np.log(2) - 0.5))


def test_each_pair_is_rated_once_and_one_without_a_rating_is_the_worst() -> None:
    seen = []

    def ratings(contexts: Any, texts: Any) -> dict[str, Any]:
        seen.extend(texts)
        return {"short": short(contexts, texts)}

    found = rated(ratings, [CONTEXTS[0]] * 4, ["a", "", "a", "bb"])
    assert found["short"].tolist() == [5, 1, 5, 2.5] and seen == ["a", "", "bb"]


def test_rewards_lie_between_0_and_1_unless_they_are_taken_as_they_are() -> None:
    texts = ["a", "aa", "", "a" * 10]
    contexts: list[Any] = [CONTEXTS[0]] * 4
    assert rewards(short, bounded=True)(contexts, texts) == [1, (2.5 - 1) / 4, 0, 0]
    assert rewards(short, bounded=False)(contexts, texts) == [5, 2.5, None, 0.5]
    assert rewards(short, bounded=True, floor=True)(contexts[:2], ["ab cd ef", "ab"]) == [0, 0]
    assert rewards(lambda *_: np.array([4.0, 4.0]), bounded=True, floor=True)(contexts[:2], ["a b c", "a"]) == [0.75, 0]


def test_a_run_that_was_cut_goes_on_and_one_that_is_done_is_left_alone(tmp_path: Path) -> None:
    start = tiny.dialogue_model(tmp_path / "hred")

    def several(contexts: Any, texts: Any) -> dict[str, Any]:
        return {"gold": short(contexts, texts)}

    measures = Measures(CONTEXTS, several, Policy(read_folder(start), 6))
    loaded = []

    def load() -> Any:
        loaded.append(1)
        return short

    way = Way("short", load, PRACTICE)
    whole = run_of(way, 0, tmp_path / "whole", start, CONTEXTS, measures)
    assert [row["updates"] for row in whole] == [0, 2, 4] and whole[0]["kl"] == pytest.approx(0, abs=1e-5)
    assert whole[-1]["kl"] > 0 and 0 < whole[-1]["gold"] <= 5
    half = way._replace(practice=replace(PRACTICE, updates=2))
    run_of(half, 0, tmp_path / "cut", start, CONTEXTS, measures)
    assert not (tmp_path / "cut" / "last.ckpt").exists()
    assert run_of(way, 0, tmp_path / "whole", start, CONTEXTS, measures) == whole and len(loaded) == 2
    shown = json.loads((tmp_path / "whole" / "shown.json").read_text())
    assert [one["updates"] for one in shown] == [0, 2, 4] and shown[-1]["said"][0][0] == "hello you"


def test_a_run_stops_where_it_is_far_from_its_start(tmp_path: Path) -> None:
    start = tiny.dialogue_model(tmp_path / "hred")
    measures = Measures(CONTEXTS, lambda _, texts: {"gold": short(_, texts)}, Policy(read_folder(start), 6))
    way = Way("short", lambda: short, replace(PRACTICE, step=0.2, most_kl=0.01, every=40, updates=40))
    found = run_of(way, 0, tmp_path / "run", start, CONTEXTS, measures)
    assert found[-1]["ended"] == 1 and found[-1]["updates"] < 40
    assert run_of(way, 0, tmp_path / "run", start, CONTEXTS, measures) == found


def test_a_pool_that_was_cut_goes_on(tmp_path: Path) -> None:
    policy = Policy(read_folder(tiny.dialogue_model(tmp_path / "hred")), 6)
    replies = pool(policy, CONTEXTS, 5, seed=0)
    assert [len(one) for one in replies] == [5, 5, 5] and pool(policy, CONTEXTS, 5, seed=0) == replies
    asked: list[Any] = []

    def ratings(contexts: Any, texts: Any) -> dict[str, Any]:
        asked.append(contexts[0])
        if len(asked) == 2:
            raise KeyboardInterrupt
        return {"gold": short(contexts, texts)}

    with pytest.raises(KeyboardInterrupt):
        rated_pool(tmp_path / "pool.npz", CONTEXTS, lambda: replies, ratings)
    found = rated_pool(tmp_path / "pool.npz", CONTEXTS, lambda: replies, ratings)
    assert found["gold"].shape == (3, 5) and asked == [CONTEXTS[0], *CONTEXTS[1:2] * 2, CONTEXTS[2]]
    assert (
        rated_pool(tmp_path / "pool.npz", CONTEXTS, lambda: replies, ratings)["gold"].tolist() == found["gold"].tolist()
    )


# The page


def run(*gold: float, kind: str = "short", degenerate: float = 0.0, judges: dict[str, float] | None = None) -> Any:
    """Figures of a policy, a row a time that it was measured."""
    kinds = dict.fromkeys(("empty", "short", "parrot", "repeated", "favourite"), 0.0)
    rest = {"autojudge": 3.0, "c-adem": 3.0, "views": 3.0, "rejoinder": 3.0, "views-other": 3.0} | (judges or {})
    rest |= {"all four defences": 3.0, "distinct_2": 0.5}
    return [
        {"updates": place * 20.0, "kl": float(place), "gold": one, **rest, **kinds}
        | dict.fromkeys((kind, "degenerate"), degenerate * (place > 0))
        for place, one in enumerate(gold)
    ]


def test_a_policy_holds_that_keeps_its_peak_above_its_start_with_hardly_a_degenerate_reply() -> None:
    assert outcome(run(3.0, 3.3, 3.2, degenerate=0.01)).holds
    assert not outcome(run(3.0, 3.3, 3.2, degenerate=0.02)).holds
    assert not outcome(run(3.0, 4.0, 3.2)).holds
    assert not outcome(run(3.0, 2.99)).holds


def test_the_page_says_what_was_found() -> None:
    names: tuple[str, ...] = ("AutoJudge without an end",)
    names += (
        "AutoJudge as published",
        "autojudge",
        "c-adem",
        "views",
        "all four defences",
        "second round",
        "rejoinder",
    )
    names += tuple(f"without the {what}" for what in ("members", "lower end", "price of distance"))
    runs = {name: [run(3.0, 3.2, 3.1, degenerate=0.5)] for name in (*names, "without attacked rows", "without any")}
    runs["second round with a floor"] = [run(3.0, 3.2)] * 3 + [run(3.0, 3.2, 2.9)]
    update = dict.fromkeys(("empty", "short", "parrot", "repeated", "favourite", "degenerate"), 0.25)
    update |= {"updates": 1.0, "return": 14.2, "length": 9.0, "distinct_2": 0.5}
    rng = np.random.default_rng(0)
    judges = ("gold", "views-other", "autojudge", "c-adem", "views", "rejoinder", "all four defences")
    found = Found(
        [Fitted("gold", True, 100, ["a", "b"], 0.25)],
        runs,
        [update, {**update, "updates": 10.0, "return": 17.5}],
        {"views": [{"updates": number, "said": [["hi", "yeah!"]]} for number in (0, 20, 40)]},
        (3.04, 3.64),
        {name: rng.normal(size=(2, 1024)) for name in judges},
        (200, 48),
    )
    text = " ".join(markdown(page(found, About("a command", "2026-11-22", 1.0, 2))).split())
    assert "holds in 0 of 1 and in 3 of 4 seeds" in text and "The return rises from 14.2 to 17.5" in text
    assert (
        "| autojudge | 1 |" in text
        and "short (50.0 %)" in text
        and "| second round with a floor | 3 | 2.0 |" in text
        and "views, update 40" in text
    )
