"""`rejoinder reinforce`: a tiny policy learns what it is rewarded for, is held where it started, and goes on."""

from __future__ import annotations

import json
import math
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Run as Command
from conftest import refused
from rejoinder.errors import DataError, NothingScored, UsageError, WriteError
from rejoinder.example import Example

torch = pytest.importorskip("torch", reason="needs the extra train")

import tiny  # noqa: E402 - needs torch
from rejoinder import load_responder, reinforce, request  # noqa: E402
from rejoinder.data.folders import read_folder  # noqa: E402
from rejoinder.improve.episodes import Episode, advantages, looks, play  # noqa: E402
from rejoinder.improve.policy import Policy  # noqa: E402
from rejoinder.improve.reinforce import Practice, Run  # noqa: E402

CONTEXTS = [("hello you",), ("the cat sat", "on the mat"), ("how are you",)]
QUICK = Practice(updates=4, episodes=8, turns=2, group=4, longest=6, every=100, step=0.02, kl=0.0)


def short(examples: list[Example]) -> list[float]:
    """1 for one letter, less for more: the policy that says least is worth most, but for the one that says nothing."""
    return [1 / max(len(one.response), 1) for one in examples]


def begins(examples: list[Example]) -> list[float]:
    """1 for a reply that begins with t or h."""
    return [float(one.response.startswith(("t", "h"))) for one in examples]


@pytest.fixture
def start(tmp_path: Path) -> Path:
    made: Path = tiny.dialogue_model(tmp_path / "hred")
    return made


def policy(start: Path) -> Policy:
    return Policy(read_folder(start), 6)


# The policy


def test_what_is_told_of_a_reply_is_what_it_was_drawn_with(start: Path) -> None:
    from rejoinder.models.networks.decoding import Limits, sample
    from rejoinder.models.vocabulary import END_ID, PAD_ID, UNK_ID

    own = policy(start)
    replies = own.say(CONTEXTS, torch.Generator().manual_seed(1))
    told = own.tell(CONTEXTS, replies, policy(start))
    with torch.inference_mode():
        state = own.model.begin(own.condition(CONTEXTS))
        generators = [torch.Generator().manual_seed(1)] * len(CONTEXTS)
        written = sample(own.model.step, state, Limits(END_ID, (PAD_ID, UNK_ID), 6), generators)
    counted = [len(one.ids) + (len(one.ids) < 6) for one in written]
    expected = [one.score * pieces for one, pieces in zip(written, counted, strict=True)]
    assert told.logs.tolist() == pytest.approx(expected, abs=1e-4)
    assert told.divergence.tolist() == pytest.approx([0] * 3, abs=1e-5)
    assert all(0 < one < pieces * math.log(120) for one, pieces in zip(told.entropy.tolist(), counted, strict=True))


def test_the_divergence_is_that_of_the_two_policies(start: Path) -> None:
    own, other = policy(start), policy(start)
    with torch.no_grad():
        own.model.decoder.words.bias.add_(torch.linspace(-1, 1, len(own.model.decoder.words.bias)))
    told = own.tell(CONTEXTS, [[], [7, 8], [9]], other)
    assert all(one > 0 for one in told.divergence.tolist())
    logs = [one._logs([CONTEXTS[0]], torch.tensor([[2]]))[0, 0].detach().double() for one in (own, other)]
    assert (logs[0].exp() * (logs[0] - logs[1])).sum().item() == pytest.approx(told.divergence.tolist()[0], abs=1e-4)


def test_only_kinds_whose_words_decide_can_be_reinforced(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a model of kind 'vhred' cannot be reinforced, expected one of hred, seq2seq"):
        Policy(read_folder(tiny.dialogue_model(tmp_path / "vhred", latent=3)), 6)


# Episodes


def test_an_episode_is_a_conversation_with_itself(start: Path) -> None:
    seen: list[Any] = []

    def rewards(contexts: Any, texts: Any) -> list[float | None]:
        seen.extend(zip(contexts, texts, strict=True))
        return [float(number) for number in range(len(texts))]

    episodes = play(policy(start), CONTEXTS[:2], 3, torch.Generator().manual_seed(0), rewards)
    for number, (one, context) in enumerate(zip(episodes, CONTEXTS, strict=False)):
        assert one.said[: len(context)] == list(context) and len(one.said) == len(context) + 3
        assert one.contexts == [tuple(one.said[: len(context) + turn]) for turn in range(3)]
        assert seen[3 * number : 3 * number + 3] == list(zip(one.contexts, one.said[-3:], strict=True))
        assert one.worth == sum(range(3 * number, 3 * number + 3))


def test_advantages() -> None:
    worth = np.array([1.0, 3.0, 10.0, 10.0])
    assert advantages(worth, "none", 2).tolist() == [1, 3, 10, 10]
    assert advantages(worth, "batch", 2).tolist() == [-5, -3, 4, 4]
    assert advantages(worth, "group", 2) == pytest.approx([-1, 1, 0, 0], abs=1e-5)


def test_looks_need_no_judge() -> None:
    said = ["hi", "it is so", "", "it is so"]
    contexts: list[Any] = [tuple(said[:turn]) for turn in (1, 2, 3)]
    one = Episode(said, contexts, [[5, 6], [], [5, 6]], [0.5, None, 0.25])
    found = looks([one])
    assert (found["return"], found["reward"], found["unrewarded"]) == (0.75, 0.375, 1)
    assert (found["length"], found["empty"], found["different"]) == pytest.approx((4 / 3, 1 / 3, 2 / 3))


def test_the_rewards_to_come() -> None:
    assert Episode([], rewards=[0.5, None, 0.25]).to_go == [0.75, 0.25, 0.25]


# A run


def test_a_policy_learns_what_it_is_rewarded_for(start: Path, tmp_path: Path) -> None:
    practice = replace(QUICK, updates=12, episodes=16, step=0.1)
    found = reinforce(CONTEXTS, start, tmp_path / "out", begins, bounds=(0, 1), practice=practice)
    first, last = (float(np.mean([row["return"] for row in rows])) for rows in (found.rows[:3], found.rows[-3:]))
    assert first < 0.6 and last > 1.5 and found.why == "all 12 updates are done"
    responder = load_responder(tmp_path / "out")
    assert responder.respond_batch([request(CONTEXTS[0], 0)], 1)[0].replies
    about = read_folder(tmp_path / "out").config["reinforced"]
    assert about["start"] == read_folder(start).digest and about["reward"].startswith("scorer:begins|")


def test_a_divergence_that_costs_holds_the_policy_back(start: Path, tmp_path: Path) -> None:
    far, near = (
        reinforce(CONTEXTS, start, tmp_path / f"{kl}", short, bounds=(0, 1), practice=replace(QUICK, updates=10, kl=kl))
        for kl in (0.0, 10.0)
    )
    assert 0 < near.rows[-1]["kl"] < 0.5 * far.rows[-1]["kl"]


def test_entropy_that_is_worth_something_keeps_it_up(start: Path, tmp_path: Path) -> None:
    low, high = (
        reinforce(
            CONTEXTS,
            start,
            tmp_path / f"{worth}",
            short,
            bounds=(0, 1),
            practice=replace(QUICK, updates=10, entropy=worth),
        )
        for worth in (0.0, 10.0)
    )
    per_piece = [rows[-1]["entropy"] / (rows[-1]["length"] + 1) for rows in (low.rows, high.rows)]
    assert per_piece[1] > per_piece[0]


@pytest.mark.parametrize("baseline", ["none", "batch"])
def test_the_published_gradient_runs(start: Path, tmp_path: Path, baseline: Any) -> None:
    practice = replace(QUICK, updates=1, baseline=baseline, group=1)
    assert len(reinforce(CONTEXTS, start, tmp_path / "out", short, bounds=(0, 1), practice=practice).rows) == 1


def test_the_gradient_is_that_of_the_log_probabilities_times_the_return(start: Path, tmp_path: Path) -> None:
    own, practice = policy(start), replace(QUICK, baseline="none", group=1, step=1e-3)
    run = Run(own, policy(start), practice, tmp_path)
    episodes = [
        Episode(["hi"], [CONTEXTS[0], CONTEXTS[1]], [[7], [8, 9]], [0.5, 0.25]),
        Episode(["hi"], [CONTEXTS[2], CONTEXTS[0]], [[9], []], [1.0, None]),
    ]
    expected = policy(start)
    told = expected.tell([CONTEXTS[0], CONTEXTS[1], CONTEXTS[2]], [[7], [8, 9], [9]], expected)
    loss = (
        -(0.75 * (told.logs[0] + told.logs[1]) + 1.0 * told.logs[2]) / 2
    )  # without a reward a reply counts for nothing
    torch.autograd.backward(loss)
    torch.nn.utils.clip_grad_norm_(expected.network.parameters(), 1.0)
    run._update(episodes)
    for one, other in zip(own.network.parameters(), expected.network.parameters(), strict=True):
        if other.grad is not None:
            assert torch.allclose(one.grad, other.grad, atol=1e-5)


def test_with_a_critic_each_reply_counts_by_the_rewards_from_it_on(start: Path, tmp_path: Path) -> None:
    run = Run(policy(start), policy(start), replace(QUICK, baseline="critic", group=1), tmp_path)
    one = Episode(["hi"], [CONTEXTS[0], CONTEXTS[1]], [[7], [8]], [0.5, 0.25])
    assert run._gains([one, one]) == [[0.75, 0.25]] * 2  # a critic that knows nothing expects nothing
    for _ in range(30):
        run._gains([one, one])
    assert run._gains([one, one]) == [pytest.approx([0, 0], abs=0.02)] * 2


@pytest.mark.slow
def test_a_policy_learns_with_a_critic(start: Path, tmp_path: Path) -> None:
    practice = replace(QUICK, updates=12, episodes=16, step=0.1, baseline="critic", group=1)
    found = reinforce(CONTEXTS, start, tmp_path / "out", begins, bounds=(0, 1), practice=practice)
    first, last = (float(np.mean([row["return"] for row in rows])) for rows in (found.rows[:3], found.rows[-3:]))
    assert last > first + 0.5


@pytest.mark.parametrize("baseline", ["group", pytest.param("critic", marks=pytest.mark.slow)])
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(start: Path, tmp_path: Path, baseline: Any) -> None:
    often = replace(QUICK, every=2, baseline=baseline)
    whole = reinforce(CONTEXTS, start, tmp_path / "whole", short, bounds=(0, 1), practice=often)

    def stop(line: str) -> None:
        raise KeyboardInterrupt(line)

    with pytest.raises(KeyboardInterrupt, match="update 2: return"):
        reinforce(CONTEXTS, start, tmp_path / "cut", short, bounds=(0, 1), practice=often, say=stop)
    assert not (tmp_path / "cut").exists()
    steps = list[int]()
    cut = reinforce(CONTEXTS, start, tmp_path / "cut", short, bounds=(0, 1), practice=often, advance=steps.append)
    assert steps == [2, 1, 1] and cut.rows == whole.rows
    assert read_folder(tmp_path / "cut").digest == read_folder(tmp_path / "whole").digest
    samples = [json.loads(line) for line in (tmp_path / "cut.run" / "samples.jsonl").read_text().splitlines()]
    assert [one["updates"] for one in samples] == [2, 2, 4, 4] and len(samples[0]["turns"]) > 2
    more = reinforce(CONTEXTS, start, tmp_path / "cut", short, bounds=(0, 1), practice=replace(often, updates=6))
    assert len(more.rows) == 6 and more.rows[:4] == whole.rows
    with pytest.raises(UsageError, match="holds a run of another recipe or other files"):
        reinforce(CONTEXTS, start, tmp_path / "cut", short, bounds=(0, 1), practice=replace(often, kl=1.0))


def test_budgets_stop_a_run(start: Path, tmp_path: Path) -> None:
    practice = replace(QUICK, updates=50)
    timed = reinforce(CONTEXTS, start, tmp_path / "a", short, bounds=(0, 1), practice=replace(practice, minutes=1e-9))
    assert (len(timed.rows), timed.why) == (1, "1e-09 minutes are over")
    held = reinforce(CONTEXTS, start, tmp_path / "b", short, bounds=(0, 1), practice=replace(practice, most_kl=0.01))
    assert 1 < len(held.rows) < 50 and "nats per reply from where it started" in held.why
    assert (tmp_path / "b.run" / "curves.csv").read_text().count("\n") == len(held.rows) + 1


def test_rewards_that_are_none_are_counted_and_too_many_stop_the_run(start: Path, tmp_path: Path) -> None:
    def some(examples: list[Example]) -> list[float]:
        return [math.nan if len(one.response) % 4 == 1 else 0.5 for one in examples]

    found = reinforce(CONTEXTS, start, tmp_path / "a", some, bounds=(0, 1), practice=replace(QUICK, updates=1))
    assert sum(found.unscored.values()) == found.rows[0]["unrewarded"]
    with pytest.raises(NothingScored, match="completions have no reward; most often: broken gave nan"):
        reinforce(CONTEXTS, start, tmp_path / "b", broken, bounds=(0, 1), practice=replace(QUICK, episodes=32))


def broken(examples: list[Example]) -> list[float]:
    """Nothing but NaN."""
    return [math.nan] * len(examples)


def test_a_gradient_that_is_not_finite_is_an_error(start: Path, tmp_path: Path) -> None:
    run = Run(policy(start), policy(start), replace(QUICK, baseline="none"), tmp_path)
    with pytest.raises(DataError, match="the gradient is not finite"):
        run._update([Episode(["hi"], [CONTEXTS[0]] * 2, [[7], [8]], [math.inf, 0.0])] * 4)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"updates": 0}, "updates is 0, expected 1 or more"),
        ({"episodes": 8, "group": 3}, "8 episodes in groups of 3: expected groups of two or more that leave none over"),
        ({"group": 1}, "32 episodes in groups of 1: expected groups of two or more"),
        ({"kl": -1.0}, "kl is -1.0, expected a number of 0 or more"),
        ({"step": 0.0}, "step is 0.0, expected a number over 0"),
        ({"baseline": "coin"}, "baseline is 'coin', expected one of none, batch, group, critic"),
    ],
)
def test_a_practice_that_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Practice(**given)


def test_the_command(start: Path, tmp_path: Path, run: Command) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps({"turns": [*context, "bye"]}) + "\n" for context in CONTEXTS))
    call = ["reinforce", file, "--start", start, "-s", "rejoinder", "-o", tmp_path / "out", "--updates", 2]
    call += ["--episodes", 4, "--group", 2, "--add", 2, "--longest", 5, "--baseline", "group"]
    done = run(*call)
    assert done.code == 0, done.err
    assert done.out.startswith("all 2 updates are done; return ") and "saved in" in done.out
    answered = run("respond", file, "-r", tmp_path / "out")
    assert answered.code == 0 and len(answered.records) == 3
    refused(
        run(*call[:-2], "--baseline", "none"),
        2,
        f"{tmp_path}/out.run: holds a run of another recipe or other files. Remove it, or choose another -o",
    )
    nothing = tmp_path / "none.jsonl"
    nothing.write_text('{"context": []}\n')
    call[1] = nothing
    call[call.index("-o") + 1] = tmp_path / "other"
    refused(run(*call), 2, "there is no context to begin with. Give files of dialogues or examples")


# What fails


def test_a_scorer_that_has_no_score_for_half_is_counted_and_more_stops_the_run(start: Path, tmp_path: Path) -> None:
    asked = [0]

    def every(share: int) -> Any:
        def sometimes(examples: list[Example]) -> list[float]:
            asked[0] += len(examples)
            return [math.nan if number % share else 0.5 for number in range(len(examples))]

        return sometimes

    practice = replace(QUICK, updates=1, episodes=32, group=8)
    found = reinforce(CONTEXTS, start, tmp_path / "half", every(2), bounds=(0, 1), practice=practice)
    assert 0 < found.rows[0]["unrewarded"] <= 32 and asked[0] > 0
    with pytest.raises(NothingScored, match=r"of 64 completions have no reward; most often: sometimes gave nan"):
        reinforce(CONTEXTS, start, tmp_path / "most", every(4), bounds=(0, 1), practice=practice)


def test_a_scorer_that_breaks_is_an_error_and_the_run_goes_on_later(start: Path, tmp_path: Path) -> None:
    calls = [0]

    def faltering(examples: list[Example]) -> list[float]:
        calls[0] += 1
        if calls[0] == 3:
            raise ConnectionError("gone")
        return short(examples)

    often = replace(QUICK, every=1)
    with pytest.raises(UsageError, match=r"the function faltering failed on \d+ examples \(ConnectionError: gone\)"):
        reinforce(CONTEXTS, start, tmp_path / "out", faltering, bounds=(0, 1), practice=often)
    found = reinforce(CONTEXTS, start, tmp_path / "out", faltering, bounds=(0, 1), practice=often)
    whole = reinforce(CONTEXTS, start, tmp_path / "whole", short, bounds=(0, 1), practice=often)
    assert found.rows == whole.rows


def test_a_full_disk_is_an_error_and_the_run_goes_on_later(start: Path, tmp_path: Path) -> None:
    often = replace(QUICK, every=2)
    with (
        pytest.raises(WriteError, match=r"last\.ckpt: cannot be written \(File too large\)\. Make room"),
        at_most(1000),
    ):
        reinforce(CONTEXTS, start, tmp_path / "out", short, bounds=(0, 1), practice=often)
    assert not (tmp_path / "out").exists() and not list((tmp_path / "out.run").glob("*.ckpt*"))
    assert len(reinforce(CONTEXTS, start, tmp_path / "out", short, bounds=(0, 1), practice=often).rows) == 4


def test_a_damaged_checkpoint_is_told(start: Path, tmp_path: Path) -> None:
    found = reinforce(CONTEXTS, start, tmp_path / "out", short, bounds=(0, 1), practice=QUICK)
    last = tmp_path / "out.run" / "last.ckpt"
    last.write_bytes(last.read_bytes()[:500])
    with pytest.raises(DataError, match=r"last.ckpt: this checkpoint is damaged. Remove it, and call again: the run"):
        reinforce(CONTEXTS, start, tmp_path / "out", short, bounds=(0, 1), practice=QUICK)
    last.unlink()
    assert reinforce(CONTEXTS, start, tmp_path / "out", short, bounds=(0, 1), practice=QUICK).rows == found.rows


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """Let this process write files of at most `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
