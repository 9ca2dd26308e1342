"""From dialogues and an encoder to a trained selector: different turns, their vectors, training, one folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rejoinder.data.dialogues import read_dialogues
from rejoinder.data.files import OnError
from rejoinder.data.folders import Parts
from rejoinder.data.read import raise_error
from rejoinder.errors import DataError, UsageError
from rejoinder.models.selector import COMMON, Selector, tensor_shapes
from rejoinder.models.sizes import SelectorSizes
from rejoinder.pretraining.corpora import digests, unjudged
from rejoinder.pretraining.fit import fit
from rejoinder.pretraining.pretrain import Pretrained, require_own, save_run, tensors_of
from rejoinder.pretraining.pretrain_student import Teacher
from rejoinder.pretraining.processes import claim_run
from rejoinder.pretraining.recipe import SelectorRecipe
from rejoinder.pretraining.selector import Said, SelectorBatches, SelectorTask, said_in
from rejoinder.pretraining.taught import Taught, is_taught, read_taught, write_texts, write_vectors
from rejoinder.scorer import Advance, ignore

VECTORS = "vectors"
_FEWEST = 2
"""Replies without which none can be told from another."""


def pretrain_selector(
    recipe: SelectorRecipe,
    files: Sequence[str | Path],
    out: str | Path,
    encoder: Teacher | None,
    *,
    keep_judged: bool = False,
    force: bool = False,
    on_error: OnError = raise_error,
    say: Callable[[str], None] = lambda _: None,
    advance: Advance = ignore,
) -> Pretrained:
    """Train what the recipe says over the vectors of an encoder, and save it as the folder `out`.

    The different turns and their vectors stand in `OUT.run/vectors` (see `training.taught`), beside checkpoints and
    curves; a run that was interrupted goes on from there.

    Args:
        recipe: what and how.
        files: corpora (see `read_dialogues`).
        out: the folder to save the model in.
        encoder: whose vectors it stands on; it stays as it is.
        keep_judged: also use dialogues that occur in public sets of human judgements.
        force: replace a model of another run that stands at `out`.
        on_error: what to do with a bad dialogue.
        say: takes one line about each step.
        advance: called with the number of updates done.

    Raises:
        UsageError: no encoder; see also `pretrain_dialogues`.
        DataError: a bad dialogue, or too few of them.
    """
    if encoder is None:
        raise UsageError("a selector stands on the vectors of an encoder. Name one with --teacher")
    out, own = Path(out), dict(encoder.options)
    run = require_own(out, files, force=force)
    given: dict[str, Any] = {"corpora": digests(files), "encoder": own, "keep_judged": keep_judged}
    claim_run(run, {**recipe.to_dict(), **given})
    dialogues = unjudged(read_dialogues(*files, on_error=on_error), keep_judged=keep_judged, say=say)
    said = said_in(dialogues, recipe.text.held_out)
    source = _batches(recipe, said, _vectors(run / VECTORS, said, encoder, say))
    say(f"training on {len(source.train):,} replies, validating on {len(source.validate):,}")
    if recipe.threads:
        torch.set_num_threads(recipe.threads)
    task = SelectorTask(SelectorSizes(**recipe.model.model_dump(), width=source.taught.width), recipe.run)
    fitted = fit(task, source, run, advance)
    sizes, replies = task.model.sizes, {"train": len(source.train), "held_out": len(source.validate)}
    config = {"kind": recipe.kind, "sizes": sizes.model_dump(), "recipe": recipe.to_dict(), **given, "replies": replies}
    config["vectors"] = source.taught.digest()
    tensors = kept(tensors_of(task.model), sizes, common_replies(source, recipe.text.common))
    about = f"Learnt which of {len(source.train):,} replies answers which context, over the vectors of an encoder."
    save_run(run, out, tensors, fitted, config, {}, "Selector", about)
    return Pretrained(out, fitted.rows, fitted.best, (replies["train"], replies["held_out"]))


def _vectors(folder: Path, said: Said, encoder: Teacher, say: Callable[[str], None]) -> Taught:
    """The vectors of all texts; those that are on disk already are not asked for again.

    Raises:
        DataError: there is no text.
    """
    if not said.texts:
        raise DataError("no dialogue", "Give a larger corpus")
    if not is_taught(folder):
        write_texts(folder, said.texts)
    write_vectors(folder, encoder.teach, say)
    return read_taught(folder)


def _batches(recipe: SelectorRecipe, said: Said, taught: Taught) -> SelectorBatches:
    """Contexts and their replies as batches.

    Raises:
        DataError: there are too few.
    """
    there = np.zeros(len(said.texts), dtype=np.bool_)
    there[taught.usable()] = True
    options = recipe.run
    source = SelectorBatches(said, taught, there, recipe.model.turns, recipe.batch, recipe.negatives, options.seed)
    if min(len(source.train), len(source.validate)) < _FEWEST:
        found = f"{len(source.train)} replies to train on, {len(source.validate)} to validate on"
        raise DataError(found, "Give a larger corpus")
    return source


def common_replies(source: SelectorBatches, most: int) -> NDArray[np.float32]:
    """[C, D] the encoder's vectors of the replies that are given most often, no two of them the same."""
    counts = np.bincount(source.said.turns[source.train], minlength=len(source.said.texts))
    order = np.argsort(-counts, kind="stable")[: min(2 * most, np.count_nonzero(counts))]
    vectors = source.taught.vectors(order)
    first = np.sort(np.unique(vectors, axis=0, return_index=True)[1])
    return vectors[first[:most]]


def kept(
    tensors: dict[str, NDArray[Any]], sizes: SelectorSizes, common: NDArray[np.float32]
) -> dict[str, NDArray[np.float16]]:
    """What inference needs, in half precision: the weights, and the vectors that they make of common replies."""
    found = {name: tensors[name].astype(np.float16) for name in tensor_shapes(sizes)}
    selector = Selector(Parts({}, found))
    replies = [selector.replies(vector[None]) for vector in common]  # one by one: equal bits on every machine
    return {**found, COMMON: np.concatenate(replies).astype(np.float16)}
