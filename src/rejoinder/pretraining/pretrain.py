"""From dialogues to a trained encoder: vocabulary, tokens, training, one folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from rejoinder.data.files import OnError
from rejoinder.data.folders import Parts, in_folder, read_folder, require_free, run_folder, value_in, write_folder
from rejoinder.data.outputs import require_apart
from rejoinder.data.read import raise_error
from rejoinder.models.sizes import DialogueSizes, DualEncoderSizes, LanguageSizes, MrrnnSizes
from rejoinder.models.weights import Object, Size, Tensors
from rejoinder.pretraining.corpora import digests
from rejoinder.pretraining.curves import write_curves
from rejoinder.pretraining.dialogue import DialogueTask, MrrnnTask, StoreBatches
from rejoinder.pretraining.dual import DualTask
from rejoinder.pretraining.fit import Fitted, fit
from rejoinder.pretraining.prepared import Corpus
from rejoinder.pretraining.processes import MARK, claim_run, is_first_process
from rejoinder.pretraining.recipe import DialogueRecipe, DualEncoderRecipe, LanguageRecipe, MrrnnRecipe, OnDialogues
from rejoinder.scorer import Advance, ignore

if TYPE_CHECKING:
    from torch.nn import Module


@dataclass(frozen=True)
class Pretrained:
    """What a run came to.

    Attributes:
        folder: the trained model.
        figures: those of the validation after each stretch.
        best: those of the stretch whose weights were kept.
        dialogues: how many there were to train on and to validate on.
    """

    folder: Path
    figures: list[dict[str, float]]
    best: dict[str, float]
    dialogues: tuple[int, int]


def pretrain_dialogues(
    recipe: OnDialogues,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    start: str | Path | None = None,
    keep_judged: bool = False,
    force: bool = False,
    on_error: OnError = raise_error,
    say: Callable[[str], None] = lambda _: None,
    advance: Advance = ignore,
) -> Pretrained:
    """Train what the recipe says on the dialogues in `files` and save it as the folder `out`.

    What a run needs on its way (tokens, checkpoints, curves) stands in the folder `OUT.run` beside it. A run that was
    interrupted goes on from its last checkpoint when it is called again with the same recipe and files. With several
    devices the program that calls is started again for each further one; what these find written, they read.

    Args:
        recipe: what and how.
        files: corpora (see `read_dialogues`).
        out: the folder to save the model in.
        start: a trained model whose weights of the same name and shape, and whose vocabularies, this one starts from.
        keep_judged: also train on dialogues that occur in public sets of human judgements.
        force: replace a model of another run that stands at `out`.
        on_error: what to do with a bad dialogue.
        say: takes one line about each step.
        advance: called with the number of updates done.

    Raises:
        UsageError: `OUT.run` holds a run of another recipe or other files, or a model without its run stands at `out`;
            `out` is, holds or lies in something that is read; or the loss went out of bounds.
        DataError: a bad dialogue, or too few of them.
    """
    out = Path(out)
    run = require_own(out, [*files, *([] if start is None else [start])], force=force)
    first = None if start is None else read_folder(start)
    origin = "" if first is None else first.digest
    given: dict[str, Any] = {"corpora": digests(files), "start": origin, "keep_judged": keep_judged}
    claim_run(run, {**recipe.to_dict(), **given})
    corpus = Corpus(recipe, files, keep_judged, run, say, start or "").prepared(first, on_error)
    task = _task(recipe, corpus.vocabulary.size, corpus.coarse.size if corpus.coarse else 0)
    if first is not None:
        with in_folder(start or ""):
            shared = _load_matching(task, first)
        say(f"{shared} weights come from {start}")
    train, held_out = corpus.stores
    say(f"training on {train.tokens:,} tokens, validating on {held_out.tokens:,}")
    source = StoreBatches(train, held_out, recipe.tokens_per_batch, recipe.run.seed, corpus.coarse_stores)
    fitted = fit(task, source, run, advance)
    if is_first_process():
        counts = {"train": asdict(train.counts), "held_out": asdict(held_out.counts)}
        config = {"kind": recipe.kind, "sizes": task.model.sizes.model_dump(), "recipe": recipe.to_dict()}
        names = ", ".join(Path(file).name for file in files)
        about = f"Pre-trained on {train.tokens:,} tokens of dialogue, from {names}."
        config |= {**given, "counts": counts}
        save_run(run, out, tensors_of(task.model), fitted, config, corpus.texts, recipe.kind.upper(), about)
    return Pretrained(out, fitted.rows, fitted.best, (train.pieces, held_out.pieces))


def _task(recipe: OnDialogues, vocabulary: int, coarse: int) -> Any:
    """The task that the recipe trains, with as many pieces as the vocabularies have."""
    if isinstance(recipe, MrrnnRecipe):
        shape = recipe.model.model_dump() | {"coarse_vocabulary": coarse}
        return MrrnnTask(MrrnnSizes(**shape, vocabulary=vocabulary), recipe.run)
    if isinstance(recipe, DualEncoderRecipe):
        return DualTask(DualEncoderSizes(**recipe.model.model_dump(), vocabulary=vocabulary), recipe.run)
    if isinstance(recipe, LanguageRecipe):
        return DialogueTask(LanguageSizes(**recipe.model.model_dump(), vocabulary=vocabulary), recipe.run)
    if isinstance(recipe, DialogueRecipe):
        sizes = DialogueSizes(**recipe.model.model_dump(), vocabulary=vocabulary)
        return DialogueTask(sizes, recipe.run, recipe.annealing)
    raise TypeError(type(recipe))


def require_own(out: Path, inputs: Sequence[str | Path], *, force: bool) -> Path:
    """The folder of the run, where a model can be written to `out`; one whose run is still there may be made again.

    Raises:
        UsageError: see `pretrain`.
    """
    run = run_folder(out)
    require_apart([out, run], inputs)
    require_free(out, force=force or (run / MARK).is_file())
    return run


def save_run(
    run: Path,
    out: Path,
    tensors: Tensors,
    fitted: Fitted,
    config: Mapping[str, Any],
    files: Mapping[str, str],
    title: str,
    about: str,
) -> None:
    """Write the folder of a model that a run has trained.

    Args:
        run: the run's folder, for its curves.
        out: the folder to write.
        tensors: the weights of the best validation.
        fitted: what the run came to.
        config: what else decides the model.
        files: further text files by name.
        title: of the card.
        about: a sentence for the card.
    """
    write_curves(fitted.rows, run)  # anew: a run that ended earlier may have been damaged since
    curves = {name: (run / name).read_text(encoding="utf-8") for name in ("curves.csv", "curves.svg")}
    shown = "\n".join(f"- {name.replace('_', ' ')}: {value:.4g}" for name, value in fitted.best.items())
    card = f"# {title}\n\n{about} At its best validation:\n\n{shown}\n"
    write_folder(out, Parts({**config, "figures": fitted.best}, tensors, {**files, **curves}), card, force=True)


def tensors_of(model: Module) -> dict[str, NDArray[Any]]:
    """The weights of a network as arrays."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in model.state_dict().items()}


def _load_matching(task: Any, parts: Parts) -> int:
    """Copy the weights that the two models share, and return how many tensors that were.

    The latent variable comes last in what the decoder is given, so its matrices share all columns before it.
    """
    import torch

    own, shared, given = task.model.state_dict(), 0, value_in(parts.config, "sizes", Object)
    wider = getattr(task.model.sizes, "latent", 0) - (value_in(given, "latent", Size) if "latent" in given else 0)
    for name in own.keys() & parts.tensors.keys():
        tensor, shape = parts.tensors[name], tuple(own[name].shape)
        if shape == tensor.shape:
            own[name].copy_(torch.from_numpy(tensor))
        elif wider > 0 and tensor.ndim and shape == (len(tensor), *(width + wider for width in tensor.shape[1:])):
            own[name][..., : tensor.shape[-1]] = torch.from_numpy(tensor)
        else:
            continue
        shared += 1
    task.model.load_state_dict(own)
    return shared
