"""Training models that predict turns: batches as tensors, the loss with its annealed KL term, the figures.

These are HRED, VHRED, Seq2Seq, the language model and MrRNN.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice

import torch

from rejoinder.errors import DataError
from rejoinder.models.networks.dialogue import DialogueModel, Dialogues, LanguageModel, Losses, Turns
from rejoinder.models.networks.mrrnn import MrRNN, WordsAndCoarse
from rejoinder.models.sizes import DialogueSizes, LanguageSizes, MrrnnSizes
from rejoinder.pretraining.batches import Batch, Ints, batch_count, make_batch, piece_stream
from rejoinder.pretraining.fit import Task
from rejoinder.pretraining.recipe import Run
from rejoinder.pretraining.tokens import TokenStore

# A latent dimension is active where its posterior mean varies by more than this over turns (Burda et al. 2016).
ACTIVE = 0.01


@dataclass(frozen=True)
class StoreBatches:
    """The batches of two token stores; the training part is passed over as often as the run needs.

    Attributes:
        train: tokens to train on.
        held_out: tokens to validate on.
        tokens_per_batch: about how many tokens a batch holds.
        seed: decides the order.
        coarse: the coarse sequences of both parts, turn by turn, where they are wanted.
    """

    train: TokenStore
    held_out: TokenStore
    tokens_per_batch: int
    seed: int
    coarse: tuple[TokenStore, TokenStore] | None = None

    def training(self, first: int, count: int, rank: int, world: int) -> Iterator[Dialogues | WordsAndCoarse]:
        """See `BatchSource`."""
        pieces = islice(self._passes(first, rank, world), count)
        return (self._batch(self.train, 0, own) for own in pieces)

    def validation(self, rank: int, world: int) -> Iterator[Dialogues | WordsAndCoarse]:
        """See `BatchSource`."""
        budget = self.tokens_per_batch
        pieces = piece_stream(self.held_out, tokens_per_batch=budget, seed=0, epoch=0, rank=rank, world=world)
        return (self._batch(self.held_out, 1, own) for own in pieces)

    def _batch(self, store: TokenStore, part: int, pieces: Ints) -> Dialogues | WordsAndCoarse:
        """The batch of some pieces of a part, with their coarse sequences where there are any."""
        words = as_tensors(make_batch(store, pieces))
        return (
            words if self.coarse is None else WordsAndCoarse(words, as_tensors(make_batch(self.coarse[part], pieces)))
        )

    def _passes(self, first: int, rank: int, world: int) -> Iterator[Ints]:
        """Batches without end, from number `first` on: pass after pass over the corpus, each in an order of its own."""
        budget, seed = self.tokens_per_batch, self.seed
        for epoch in itertools.count():
            here = self._counted(epoch, world)
            if not here:
                raise DataError(f"fewer batches than processes ({world})", "Give a larger corpus, or smaller batches")
            if first < here:
                yield from piece_stream(
                    self.train, tokens_per_batch=budget, seed=seed, epoch=epoch, rank=rank, world=world, first=first
                )
            first = max(first - here, 0)

    @cached_property
    def _counted(self) -> Callable[[int, int], int]:
        """The number of batches of a pass, kept: every stretch asks for all passes before it."""
        budget, seed = self.tokens_per_batch, self.seed
        return cache(
            lambda epoch, world: batch_count(self.train, tokens_per_batch=budget, seed=seed, epoch=epoch, world=world)
        )


def as_tensors(batch: Batch) -> Dialogues:
    """The batch as tensors."""
    chunks = [Turns(torch.from_numpy(chunk.tokens), torch.from_numpy(chunk.lengths)) for chunk in batch.chunks]
    return Dialogues(chunks, torch.from_numpy(batch.rows))


class DialogueTask(Task):
    """HRED, VHRED, Seq2Seq or the language model in training.

    Args:
        sizes: the model's.
        options: the run's.
        annealing: updates over which the weight of the KL term rises from 0 to 1 (60,000 in the paper).
    """

    def __init__(self, sizes: DialogueSizes | LanguageSizes, options: Run, annealing: int = 0) -> None:
        super().__init__(options)
        with torch.random.fork_rng():
            torch.manual_seed(options.seed)
            self.model = DialogueModel(sizes) if isinstance(sizes, DialogueSizes) else LanguageModel(sizes)
        self.annealing = annealing

    @property
    def settled(self) -> int:
        """The update at which annealing is over; the bound before it counts a KL term that was not yet paid for."""
        return self.annealing if getattr(self.model.sizes, "latent", 0) else 0

    def kl_weight(self, update: int) -> float:
        """The weight of the KL term at an update, 0 to 1: linear over `annealing` updates."""
        return min(1.0, update / self.annealing) if self.annealing else 1.0

    def loss(self, batch: Dialogues, generator: torch.Generator) -> torch.Tensor:
        """Bound on the negative log-likelihood per token, nats, its KL term weighted by how far annealing is.

        Where the model has a bag of words, its loss comes on top.
        """
        losses: Losses = self.model(batch, generator)
        weight = self.kl_weight(self.global_step)
        return (losses.nll + losses.bag + weight * losses.divergence.sum()) / losses.tokens

    def tally(self, batch: Dialogues, generator: torch.Generator) -> dict[str, torch.Tensor]:
        """Sums over a batch."""
        losses: Losses = self.model(batch, generator)
        means = losses.posterior_means.cpu().double()  # not every device knows double precision
        return {
            "nll": losses.nll.cpu().double(),
            "divergence": losses.divergence.cpu().double().sum(),
            "tokens": torch.tensor(losses.tokens, dtype=torch.float64, device=means.device),
            "turns": torch.tensor(losses.turns, dtype=torch.float64, device=means.device),
            "means": means.sum(0),
            "squares": means.square().sum(0),
        }

    def figures(self, totals: Mapping[str, torch.Tensor]) -> dict[str, float]:
        """Bound and perplexity per token (of a VHRED: an upper bound on it), KL per turn, active latent units."""
        tokens, turns = float(totals["tokens"]), float(totals["turns"])
        bound = float(totals["nll"] + totals["divergence"]) / tokens
        variances = totals["squares"] / turns - (totals["means"] / turns).square()
        found = {"validation_loss": bound, "perplexity": perplexity(bound)}
        if len(variances):
            found |= {
                "kl_per_turn": float(totals["divergence"]) / turns,
                "active_units": float((variances > ACTIVE).sum()),
            }
        return found


class MrrnnTask(Task):
    """MrRNN in training: the joint likelihood of words and coarse sequences.

    Args:
        sizes: the model's.
        options: the run's.
    """

    def __init__(self, sizes: MrrnnSizes, options: Run) -> None:
        super().__init__(options)
        with torch.random.fork_rng():
            torch.manual_seed(options.seed)
            self.model = MrRNN(sizes)

    def loss(self, batch: WordsAndCoarse, generator: torch.Generator) -> torch.Tensor:
        """Negative log-likelihood of words and coarse tokens per word token, nats."""
        words, coarse = self.model(batch, generator)
        joint: torch.Tensor = (words.nll + coarse.nll) / words.tokens
        return joint

    def tally(self, batch: WordsAndCoarse, generator: torch.Generator) -> dict[str, torch.Tensor]:
        """Sums over a batch."""
        words, coarse = self.model(batch, generator)
        return {
            name: torch.as_tensor(value).cpu().double()
            for name, value in (
                ("words", words.nll),
                ("coarse", coarse.nll),
                ("tokens", words.tokens),
                ("coarse_tokens", coarse.tokens),
            )
        }

    def figures(self, totals: Mapping[str, torch.Tensor]) -> dict[str, float]:
        """Joint loss per word token; perplexities of words given the true coarse sequences, of these, and the bound.

        `perplexity` is of words and coarse sequences together, per word token: what may stand beside that of a model
        without coarse sequences, since the likelihood of the words is at least the joint one.
        """
        words, coarse, tokens, coarse_tokens = (
            float(totals[name]) for name in ("words", "coarse", "tokens", "coarse_tokens")
        )
        joint = (words + coarse) / tokens
        return {
            "validation_loss": joint,
            "perplexity": perplexity(joint),
            "perplexity_given_coarse": perplexity(words / tokens),
            "coarse_perplexity": perplexity(coarse / coarse_tokens),
        }


def perplexity(loss: float) -> float:
    """The perplexity of a loss in nats per token, bounded where a run went wrong."""
    return math.exp(min(loss, 50.0))
