"""Training networks that read dialogues: HRED, VHRED, Seq2Seq, the language model, MrRNN and the Dual Encoder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rejoinder.data.folders import Parts, in_folder, value_in
from rejoinder.models.networks.dialogue import DialogueModel, Dialogues, LanguageModel, Losses
from rejoinder.models.networks.dual_encoder import DualEncoder, Pairs
from rejoinder.models.networks.mrrnn import MrRNN, WordsAndCoarse
from rejoinder.models.sizes import DialogueSizes, DualEncoderSizes, LanguageSizes, MrrnnSizes
from rejoinder.models.weights import Object, Size
from rejoinder.pretraining.batches import DialogueBatches
from rejoinder.pretraining.corpus import COARSE, VOCABULARY, Lesson, PreparedCorpus, Source, prepared_corpus
from rejoinder.pretraining.loop import AdamTask, Row, tensors_of
from rejoinder.pretraining.recipe import (
    DialogueRecipe,
    DualEncoderRecipe,
    LanguageRecipe,
    MrrnnRecipe,
    OnDialogues,
    Run,
)

# A latent dimension is active where its posterior mean varies by more than this over turns (Burda et al. 2016).
ACTIVE = 0.01
# Recall is measured on one right response among ten, as in Lowe et al. 2015.
OTHERS = 9


class DialogueTask(AdamTask):
    """HRED, VHRED, Seq2Seq or the language model in training.

    Args:
        sizes: the model's.
        run: the recipe's.
        annealing: updates over which the weight of the KL term rises from 0 to 1 (60,000 in the paper).
    """

    def __init__(self, sizes: DialogueSizes | LanguageSizes, run: Run, annealing: int = 0) -> None:
        super().__init__(DialogueModel if isinstance(sizes, DialogueSizes) else LanguageModel, sizes, run)
        self.annealing = annealing
        # Before annealing is over, the bound counts a KL term that was not yet paid for.
        self.comparable_from = annealing if isinstance(sizes, DialogueSizes) and sizes.latent else 0

    def loss(self, batch: Dialogues, update: int, generator: torch.Generator) -> Tensor:
        """Return the bound on the negative log-likelihood per token, nats, its KL term weighted; and that of a bag."""
        losses: Losses = self.model(batch, generator)
        weight = min(1.0, update / self.annealing) if self.annealing else 1.0
        return (losses.nll + losses.bag + weight * losses.divergence.sum()) / losses.tokens

    def sums(self, batch: Dialogues, generator: torch.Generator) -> dict[str, Tensor]:
        """See `loop.Task`."""
        losses: Losses = self.model(batch, generator)
        means = losses.posterior_means.cpu().double()
        return {
            "nll": losses.nll.cpu().double(),
            "divergence": losses.divergence.cpu().double().sum(),
            "tokens": torch.tensor(losses.tokens, dtype=torch.float64),
            "turns": torch.tensor(losses.turns, dtype=torch.float64),
            "means": means.sum(0),
            "squares": means.square().sum(0),
        }

    def figures(self, totals: Mapping[str, Tensor]) -> Row:
        """Return bound and perplexity per token (an upper bound for a VHRED), KL per turn, active latent units."""
        tokens, turns = float(totals["tokens"]), float(totals["turns"])
        bound = float(totals["nll"] + totals["divergence"]) / tokens
        variances = totals["squares"] / turns - (totals["means"] / turns).square()
        row = {"validation_loss": bound, "perplexity": perplexity(bound)}
        if len(variances):
            active = float((variances > ACTIVE).sum())
            row |= {"kl_per_turn": float(totals["divergence"]) / turns, "active_units": active}
        return row


class MrrnnTask(AdamTask):
    """MrRNN in training: the joint likelihood of words and coarse sequences."""

    def __init__(self, sizes: MrrnnSizes, run: Run) -> None:
        super().__init__(MrRNN, sizes, run)

    def loss(self, batch: WordsAndCoarse, update: int, generator: torch.Generator) -> Tensor:  # noqa: ARG002
        """Return the negative log-likelihood of words and coarse tokens per word token, nats."""
        words, coarse = self.model(batch, generator)
        joint: Tensor = (words.nll + coarse.nll) / words.tokens
        return joint

    def sums(self, batch: WordsAndCoarse, generator: torch.Generator) -> dict[str, Tensor]:
        """See `loop.Task`."""
        words, coarse = self.model(batch, generator)
        sums = {"words": words.nll, "coarse": coarse.nll, "tokens": words.tokens, "coarse_tokens": coarse.tokens}
        return {name: torch.as_tensor(value).cpu().double() for name, value in sums.items()}

    def figures(self, totals: Mapping[str, Tensor]) -> Row:
        """Return the joint loss per word token; perplexities of words given the true coarse sequences, and of these.

        `perplexity` is of words and coarse sequences together, per word token: comparable with that of a model without
        coarse sequences, since the likelihood of the words is at least the joint one.
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


class DualEncoderTask(AdamTask):
    """The Dual Encoder in training: right responses against wrong ones."""

    def __init__(self, sizes: DualEncoderSizes, run: Run) -> None:
        super().__init__(DualEncoder, sizes, run)
        self.negatives = sizes.negatives

    def loss(self, batch: Dialogues, update: int, generator: torch.Generator) -> Tensor:  # noqa: ARG002
        """Return the cross-entropy of a right response and its wrong ones, nats a pair."""
        pairs: Pairs = self.model(batch, generator, self.negatives)
        return pairs.loss / max(len(pairs.right), 1)

    def sums(self, batch: Dialogues, generator: torch.Generator) -> dict[str, Tensor]:
        """See `loop.Task`; each response among nine others of its batch."""
        pairs: Pairs = self.model(batch, generator, OTHERS)
        ahead = (pairs.wrong >= pairs.right[:, None]).sum(1)
        sums = {"loss": pairs.loss.cpu().double(), "pairs": torch.tensor(len(pairs.right), dtype=torch.float64)}
        return sums | {f"within_{k}": (ahead < k).sum().cpu().double() for k in (1, 2, 5)}

    def figures(self, totals: Mapping[str, Tensor]) -> Row:
        """Return the loss a pair, with nine negatives, and Recall@1, 2 and 5 of ten."""
        pairs = float(totals["pairs"]) or math.nan
        recalls = {f"recall_at_{k}": float(totals[f"within_{k}"]) / pairs for k in (1, 2, 5)}
        return {"validation_loss": float(totals["loss"]) / pairs, **recalls}


def perplexity(loss: float) -> float:
    """Return the perplexity of a loss in nats per token, bounded if a run went wrong."""
    return math.exp(min(loss, 50.0))


def dialogue_lesson(recipe: OnDialogues, source: Source, run: Path) -> Lesson:
    """Return what a run trains on dialogues; it begins with the weights of the model to start from."""
    corpus = prepared_corpus(recipe, source, run)
    task = _task(recipe, corpus)
    if source.start is not None:
        with in_folder(source.start_folder):
            shared = load_matching(task.model, source.start)
        source.log(f"{shared} weights come from {source.start_folder}")
    train, held_out = corpus.stores
    source.log(f"training on {train.tokens:,} tokens, validating on {held_out.tokens:,}")
    files = {VOCABULARY: corpus.vocabulary.to_json()} | ({COARSE: corpus.coarse.to_json()} if corpus.coarse else {})
    names = ", ".join(Path(file).name for file in source.files)
    return Lesson(
        task,
        DialogueBatches(train, held_out, recipe.tokens_per_batch, recipe.run.seed, corpus.coarse_stores),
        {"counts": {"train": asdict(train.counts), "held_out": asdict(held_out.counts)}},
        files,
        partial(tensors_of, task.model),
        f"Pre-trained on {train.tokens:,} tokens of dialogue, from {names}.",
    )


def _task(recipe: OnDialogues, corpus: PreparedCorpus) -> DialogueTask | MrrnnTask | DualEncoderTask:
    """Return the task of a recipe, with as many pieces as the vocabularies have."""
    pieces = corpus.vocabulary.size
    if isinstance(recipe, MrrnnRecipe) and corpus.coarse:
        shape = recipe.model.model_dump() | {"coarse_vocabulary": corpus.coarse.size}
        return MrrnnTask(MrrnnSizes(**shape, vocabulary=pieces), recipe.run)
    if isinstance(recipe, DualEncoderRecipe):
        return DualEncoderTask(DualEncoderSizes(**recipe.model.model_dump(), vocabulary=pieces), recipe.run)
    if isinstance(recipe, LanguageRecipe):
        return DialogueTask(LanguageSizes(**recipe.model.model_dump(), vocabulary=pieces), recipe.run)
    if isinstance(recipe, DialogueRecipe):
        sizes = DialogueSizes(**recipe.model.model_dump(), vocabulary=pieces)
        return DialogueTask(sizes, recipe.run, recipe.annealing)
    raise TypeError(type(recipe))


def load_matching(model: Any, parts: Parts) -> int:
    """Copy the weights that two models share, and return how many tensors that were.

    The latent variable comes last in what the decoder reads, so its matrices share all columns before it.
    """
    weights, shared, sizes = model.state_dict(), 0, value_in(parts.config, "sizes", Object)
    wider = getattr(model.sizes, "latent", 0) - (value_in(sizes, "latent", Size) if "latent" in sizes else 0)
    for name in weights.keys() & parts.tensors.keys():
        tensor, shape = parts.tensors[name], tuple(weights[name].shape)
        if shape == tensor.shape:
            weights[name].copy_(torch.from_numpy(tensor))
        elif wider > 0 and tensor.ndim and shape == (len(tensor), *(width + wider for width in tensor.shape[1:])):
            weights[name][..., : tensor.shape[-1]] = torch.from_numpy(tensor)
        else:
            continue
        shared += 1
    model.load_state_dict(weights)
    return shared
