"""The loop: which weights are kept, when it stops, what a checkpoint holds, and what the tasks weigh and measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from rejoinder.errors import DataError, UsageError

torch = pytest.importorskip("torch", reason="needs the extra train")

from rejoinder.models.networks.dialogue import Dialogues, Losses, Turns  # noqa: E402
from rejoinder.models.sizes import DialogueSizes  # noqa: E402
from rejoinder.pretraining.dialogue import DialogueTask  # noqa: E402
from rejoinder.pretraining.loop import (  # noqa: E402
    BEST,
    LAST,
    AdamTask,
    average_gradients,
    load_checkpoint,
    save_checkpoint,
    train,
)
from rejoinder.pretraining.recipe import Run  # noqa: E402

SIZES = DialogueSizes(vocabulary=20, embedding=4, utterance=4, context=4, decoder=4, latent=4, word_drop=0.0)
BATCH = Dialogues([Turns(torch.tensor([[5, 6, 2], [7, 2, 0]]), torch.tensor([3, 2]))], torch.tensor([[0, 1]]))


class Weight(torch.nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self, _sizes: Any) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))


class Scripted(AdamTask):
    """Validates to the losses of a list; its weight grows with every update."""

    def __init__(self, losses: Sequence[float], comparable_from: int = 0, **run: Any) -> None:
        options = {"updates": len(losses), "stretch": 1, "learning_rate": 0.1, "accelerator": "cpu", **run}
        super().__init__(Weight, None, Run(**options))
        self.losses, self.validated, self.comparable_from = list(losses), 0, comparable_from
        self.noise: list[float] = []

    def loss(self, _batch: Any, _update: int, generator: Any) -> Any:
        self.noise.append(torch.rand((), generator=generator).item())
        return -self.model.weight

    def sums(self, _batch: Any, _generator: Any) -> Mapping[str, Any]:
        return {"updates": torch.tensor(0.0)}

    def figures(self, _totals: Mapping[str, Any]) -> dict[str, float]:
        self.validated += 1
        return {"validation_loss": self.losses[self.validated - 1]}


class Endless:
    def training(self, update: int, _rank: int, _world: int) -> Iterator[Any]:
        while True:
            yield torch.zeros(1)

    def validation(self) -> list[Any]:
        return [torch.zeros(1)]


def trained(task: Scripted, folder: Path) -> Any:
    return train(cast("Any", task), Endless(), task.run, folder)


@pytest.mark.parametrize(
    ("losses", "patience", "comparable_from", "updates", "best"),
    [
        ([3, 2, 1, 2, 3], 5, 0, 5, 3),
        ([3, 2, 2, 3, 1], 2, 0, 4, 2),  # the first of equals; it stops before the better one
        ([1, 4, 3, 5, 6], 2, 2, 5, 3),  # what is not comparable counts neither as best nor against patience
        ([1, 2, 3], 1, 9, 3, 3),  # never comparable: the last weights
    ],
)
def test_the_best_comparable_weights_are_kept(
    tmp_path: Path, losses: list[float], patience: int, comparable_from: int, updates: int, best: int
) -> None:
    task = Scripted(losses, comparable_from, patience=patience)
    result = trained(task, tmp_path)
    assert [row["updates"] for row in result.rows] == list(range(1, updates + 1))
    assert result.best["updates"] == best
    assert task.model.weight.item() == pytest.approx(0.1 * best, rel=1e-3)
    again = Scripted([0.0] * len(losses), comparable_from, patience=patience)
    assert trained(again, tmp_path) == result and again.validated == 0, "a finished run stays finished"


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_leaves_the_folder_as_it_was(tmp_path: Path, bad: float) -> None:
    trained(Scripted([2.0, 1.0]), tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(UsageError, match="after 3 updates the loss is not finite. Lower run.learning_rate"):
        trained(Scripted([bad, 1.0, 1.0], updates=4), tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_noise_follows_from_seed_and_update_alone(tmp_path: Path) -> None:
    def noise(name: str, updates: int, seed: int = 0) -> list[float]:
        task = Scripted([1.0] * 6, updates=updates, seed=seed)
        (tmp_path / name).mkdir(exist_ok=True)
        trained(task, tmp_path / name)
        return task.noise

    whole = noise("whole", 6)
    assert [*noise("parts", 2), *noise("parts", 6)] == whole and len(set(whole)) == 6
    assert noise("other", 6, seed=1) != whole


def test_damaged_and_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    trained(Scripted([2.0, 1.0]), tmp_path)
    for name in (LAST, BEST):
        whole = (tmp_path / name).read_bytes()
        changed = bytearray(whole)
        changed[-1] ^= 1
        for damaged in (bytes(changed), whole[:-3], b"", whole.replace(b'\\"rows\\": [', b'\\"rows\\": [[')):
            (tmp_path / name).write_bytes(damaged)
            with pytest.raises(DataError, match=f"{name}: this checkpoint is damaged .*Remove {LAST} and {BEST}"):
                trained(Scripted([2.0, 1.0]), tmp_path)
        (tmp_path / name).write_bytes(whole)
    (tmp_path / BEST).write_bytes((tmp_path / LAST).read_bytes())
    assert trained(Scripted([2.0, 1.0]), tmp_path).best["updates"] == 2
    other = Scripted([1.0])
    save_checkpoint(tmp_path / BEST, other.model, [{"updates": 1.0, "validation_loss": 2.0}])
    with pytest.raises(DataError, match=f"{BEST}: holds the weights after 1 updates, expected 2"):
        trained(Scripted([2.0, 1.0]), tmp_path)


def test_a_checkpoint_holds_weights_moments_and_figures_to_the_bit(tmp_path: Path) -> None:
    task, rows = DialogueTask(SIZES, Run(updates=9)), [{"updates": 1.0, "validation_loss": 0.1 + 0.2}]
    optimizer = task.optimizer()
    torch.autograd.backward(task.loss(BATCH, 0, torch.Generator()))
    optimizer.step()
    save_checkpoint(tmp_path / LAST, task.model, rows, optimizer)
    other = DialogueTask(SIZES, Run(updates=9, seed=1))
    fresh = other.optimizer()
    assert load_checkpoint(tmp_path / LAST, other.model, fresh) == rows
    for states in (zip(*(one.model.state_dict().values() for one in (task, other)), strict=True),):
        assert all(torch.equal(one, two) for one, two in states)
    first, second = (one.state_dict()["state"] for one in (optimizer, fresh))
    assert all(torch.equal(first[key][name], second[key][name]) for key in first for name in first[key])


def test_gradients_are_clipped_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    norms: list[float] = []
    clip = torch.nn.utils.clip_grad_norm_

    def watched(parameters: Any, most: float) -> Any:
        parameters = list(parameters)
        before = clip(parameters, most)
        norms.append(torch.stack([one.grad.norm() for one in parameters]).norm().item())
        return before

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", watched)
    trained(Scripted([1.0], clip=0.25), tmp_path)
    assert norms == pytest.approx([0.25])


def test_gradients_of_processes_are_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    model = torch.nn.Linear(2, 1)
    model.weight.grad = torch.tensor([[2.0, 4.0]])
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda flat: flat.mul_(3))  # of two others like this one
    average_gradients(model, 2)
    assert model.weight.grad.tolist() == [[3.0, 6.0]] and model.bias.grad is not None
    assert model.bias.grad.tolist() == [0.0], "a part that this batch did not reach"


@pytest.mark.parametrize(("annealing", "weights"), [(10, {0: 0.0, 1: 0.1, 5: 0.5, 10: 1.0, 25: 1.0}), (0, {0: 1.0})])
def test_the_loss_weighs_the_kl_term_by_the_update(annealing: int, weights: dict[int, float]) -> None:
    task = DialogueTask(SIZES, Run(updates=30), annealing)
    losses: Losses = task.model(BATCH, torch.Generator().manual_seed(0))
    for update, weight in weights.items():
        loss = task.loss(BATCH, update, torch.Generator().manual_seed(0))
        expected = (losses.nll + weight * losses.divergence.sum()) / losses.tokens
        assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    assert task.comparable_from == annealing


def test_figures_of_a_dialogue_model_by_hand() -> None:
    task = DialogueTask(SIZES, Run(updates=9))
    totals = {"nll": 20.0, "divergence": 4.0, "tokens": 8.0, "turns": 2.0, "means": [2.0, 0.1], "squares": [4.0, 0.005]}
    row = task.figures({name: torch.tensor(value, dtype=torch.float64) for name, value in totals.items()})
    assert row == {
        "validation_loss": 3.0,
        "perplexity": pytest.approx(math.exp(3)),
        "kl_per_turn": 2.0,
        "active_units": 1.0,  # variances 1 and 0
    }


def test_the_linear_schedule_rises_and_falls() -> None:
    task = DialogueTask(SIZES, Run(updates=3000, schedule="linear"))
    assert [task.rate(update) for update in (0, 99, 199)] == pytest.approx([0.005, 0.4835, 0.9336667], rel=1e-4)
    assert (task.rate(1500), task.rate(2999)) == (0.5, 0.02)
    assert DialogueTask(SIZES, Run(updates=50, schedule="linear")).rate(0) == 0.2, "a tenth of a short run"
    assert DialogueTask(SIZES, Run(updates=50)).rate(49) == 1.0
