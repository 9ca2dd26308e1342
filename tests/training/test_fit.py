"""The loop, and the task of dialogue models: what is weighed, measured, compared and kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("lightning", reason="needs the extra train")

from rejoinder.models.networks.dialogue import Dialogues, Losses, Turns  # noqa: E402
from rejoinder.models.sizes import DialogueSizes  # noqa: E402
from rejoinder.pretraining.dialogue import DialogueTask  # noqa: E402
from rejoinder.pretraining.fit import Task, fit  # noqa: E402
from rejoinder.pretraining.recipe import Run  # noqa: E402

SIZES = DialogueSizes(vocabulary=20, embedding=4, utterance=4, context=4, decoder=4, latent=4, word_drop=0.0)
BATCH = Dialogues([Turns(torch.tensor([[5, 6, 2], [7, 2, 0]]), torch.tensor([3, 2]))], torch.tensor([[0, 1]]))


def dialogue_task(annealing: int = 0, latent: int = 4) -> DialogueTask:
    return DialogueTask(SIZES.model_copy(update={"latent": latent}), Run(updates=10), annealing)


@pytest.mark.parametrize(
    ("annealing", "weights"),
    [(10, {0: 0.0, 1: 0.1, 5: 0.5, 9: 0.9, 10: 1.0, 25: 1.0}), (0, {0: 1.0, 3: 1.0})],
)
def test_the_loss_weighs_the_kl_term_by_the_update(
    annealing: int, weights: dict[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = dialogue_task(annealing)
    losses: Losses = task.model(BATCH, torch.Generator().manual_seed(1))
    assert losses.divergence.sum() > 0.01
    for update, weight in weights.items():
        assert task.kl_weight(update) == pytest.approx(weight)
        monkeypatch.setattr(DialogueTask, "global_step", update)
        found = task.loss(BATCH, torch.Generator().manual_seed(1))
        torch.testing.assert_close(found, (losses.nll + weight * losses.divergence.sum()) / 5)


def test_the_bag_of_words_is_the_words_told_from_the_condition_alone() -> None:
    """With weights of zero every word of the vocabulary is as likely as any other."""
    task = DialogueTask(SIZES.model_copy(update={"bag_of_words": True}), Run(updates=10), 0)
    for parameter in cast("Any", task.model.bag).parameters():
        torch.nn.init.zeros_(parameter)
    losses: Losses = task.model(BATCH, torch.Generator().manual_seed(1))
    assert losses.bag.item() == pytest.approx(losses.tokens * math.log(SIZES.vocabulary), rel=1e-5)
    loss = task.loss(BATCH, torch.Generator().manual_seed(1))
    expected = (losses.nll + losses.bag + losses.divergence.sum()) / losses.tokens
    torch.testing.assert_close(loss, expected)
    with torch.inference_mode():
        figures = task.figures(task.tally(BATCH, torch.Generator().manual_seed(1)))
    without = (losses.nll + losses.divergence.sum()) / losses.tokens
    assert figures["validation_loss"] == pytest.approx(without.item()), "the bound does not count it"


def test_figures_by_hand() -> None:
    totals = {
        "nll": torch.tensor(60.0),
        "divergence": torch.tensor(6.0),
        "tokens": torch.tensor(30.0),
        "turns": torch.tensor(4.0),
        "means": torch.zeros(4),
        "squares": torch.zeros(4),
    }
    figures = {"validation_loss": 2.2, "perplexity": math.exp(2.2), "kl_per_turn": 1.5, "active_units": 0.0}
    assert dialogue_task().figures(totals) == pytest.approx(figures)
    plain = {name: torch.zeros(0) if name in ("means", "squares") else value for name, value in totals.items()}
    figures = {"validation_loss": 2.2, "perplexity": math.exp(2.2)}
    assert dialogue_task(latent=0).figures(plain) == pytest.approx(figures)


def test_units_are_active_where_the_posterior_mean_varies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over four turns in two batches: one unit stays at 0, one at 5, two have variances of .0081 and .0121."""
    task = dialogue_task()
    # Inside a batch the last unit does not vary.
    means = torch.tensor([[0, 5, 0.09, 0.11], [0, 5, -0.09, 0.11], [0, 5, 0.09, -0.11], [0, 5, -0.09, -0.11]])
    sums: dict[str, Any] = {}
    for rows in means.split(2):
        losses = Losses(torch.tensor(3.0), torch.tensor(0.0), torch.tensor([0.1, 0.2, 0.3, 0.4]), 10, 2, rows)
        monkeypatch.setattr(task.model, "forward", lambda *_, found=losses: found)
        found = task.tally(BATCH, torch.Generator())
        sums = {name: value + sums.get(name, 0) for name, value in found.items()}
    figures = task.figures(sums)
    assert figures["active_units"] == 1.0
    assert figures["kl_per_turn"] == pytest.approx(0.5)
    assert figures["validation_loss"] == pytest.approx(8.0 / 20)


def test_a_vhred_settles_when_annealing_is_over() -> None:
    assert (dialogue_task(30).settled, dialogue_task(30, latent=0).settled, dialogue_task().settled) == (30, 0, 0)


class Scripted(Task):
    """One weight that grows by a tenth an update; the validation losses are written beforehand."""

    def __init__(self, losses: Sequence[float], settled: int, patience: int) -> None:
        super().__init__(Run(updates=len(losses), stretch=1, patience=patience, learning_rate=0.1, accelerator="cpu"))
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.losses, self.from_update = losses, settled

    @property
    def settled(self) -> int:
        return self.from_update

    def loss(self, batch: Any, generator: Any) -> Any:
        return -self.weight

    def tally(self, batch: Any, generator: Any) -> dict[str, Any]:
        return {}

    def figures(self, totals: Any) -> dict[str, float]:
        return {"validation_loss": self.losses[self.global_step - 1]}


class Nothing:
    """Batches of nothing."""

    def training(self, first: int, count: int, rank: int, world: int) -> Iterator[Any]:
        return iter([0] * count)

    def validation(self, rank: int, world: int) -> Iterator[Any]:
        return iter([0])


@pytest.mark.parametrize(
    ("losses", "settled", "patience", "updates", "best"),
    [
        ([5.0, 1.0, 4.0, 3.0, 6.0], 0, 5, 5, 2),
        ([5.0, 1.0, 4.0, 3.0, 6.0], 3, 5, 5, 4),  # the lowest comes too early
        ([5.0, 1.0, 4.0, 3.0, 6.0], 9, 5, 5, 5),  # it never settles: the last
        ([4.0, 5.0, 6.0, 7.0, 5.0, 6.0, 3.0], 0, 1, 2, 1),
        ([4.0, 5.0, 6.0, 7.0, 5.0, 6.0, 3.0], 4, 1, 6, 5),  # patience begins with the fourth
    ],
)
def test_losses_are_compared_from_when_the_task_has_settled(
    tmp_path: Path, losses: list[float], settled: int, patience: int, updates: int, best: int
) -> None:
    task = Scripted(losses, settled, patience)
    found = fit(task, Nothing(), tmp_path)
    assert [row["updates"] for row in found.rows] == list(range(1, updates + 1))
    assert (found.best["updates"], found.best["validation_loss"]) == (best, losses[best - 1])
    assert cast("float", task.weight.item()) == pytest.approx(0.1 * best, rel=1e-4)
