"""From dialogues to a trained encoder: vocabulary, tokens, training, one folder."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from rejoinder.errors import DataError, MissingExtra, UsageError
from rejoinder.io.atomic import atomic_file
from rejoinder.io.corpus import Dialogue, read_dialogues
from rejoinder.io.folders import Parts, read_folder, require_free, write_folder
from rejoinder.io.lines import STDIN, OnBad, open_bytes, raise_bad
from rejoinder.nn.dan import DanSizes
from rejoinder.scorer import Advance, ignore
from rejoinder.text.bpe import Vocabulary, train_bpe
from rejoinder.training.dan import GRAPH, DanTask, exported
from rejoinder.training.dialogue import DialogueTask, StoreBatches
from rejoinder.training.fit import Fitted, fit, is_first_process
from rejoinder.training.recipe import Recipe
from rejoinder.training.tokens import TokenStore, write_tokens

if TYPE_CHECKING:
    from torch.nn import Module

VOCABULARY = "vocabulary.json"
_BUCKETS = 10_000
_BLOCK = 1 << 20


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


def pretrain(
    recipe: Recipe,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    start: str | Path | None = None,
    keep_judged: bool = False,
    on_bad: OnBad = raise_bad,
    say: Callable[[str], None] = lambda _: None,
    advance: Advance = ignore,
) -> Pretrained:
    """Train an HRED, a VHRED or a dual encoder on the dialogues in `files` and save it as the folder `out`.

    What a run needs on its way (tokens, checkpoints, curves) stands in the folder `OUT.run` beside it. A run that was
    interrupted goes on from its last checkpoint when it is called again with the same recipe and files. With several
    devices the program that calls is started again for each further one; what these find written, they read.

    Args:
        recipe: what and how.
        files: corpora (see `read_dialogues`).
        out: the folder to save the model in.
        start: a trained model whose weights of the same name and shape, and whose vocabulary, this one starts from.
        keep_judged: also train on dialogues that occur in public sets of human judgements.
        on_bad: what to do with a bad dialogue.
        say: takes one line about each step.
        advance: called with the number of updates done.

    Raises:
        UsageError: `OUT.run` holds a run of another recipe or other files, or the loss went out of bounds.
        DataError: a bad dialogue, or too few of them.
    """
    out = Path(out)
    require_free(out)
    run = out.with_name(f"{out.name}.run")
    origin = "" if start is None else read_folder(start).digest
    given = {"corpora": digests(files), "start": origin, "keep_judged": keep_judged}
    claim_run(run, {**recipe.to_dict(), **given})

    def dialogues(bad: OnBad, *, held_out: bool = False) -> Iterator[Dialogue]:
        for dialogue in read_dialogues(*files, on_bad=bad):
            if (keep_judged or not dialogue.judged) and is_held_out(dialogue, recipe.text.held_out) == held_out:
                yield dialogue

    if start is None:
        vocabulary = _vocabulary(run, recipe, dialogues(on_bad), say)
        on_bad = _pass_over  # what is bad was told when the vocabulary was trained
    else:
        vocabulary = Vocabulary.from_json(_start_vocabulary(start))
    train = _tokens(run / "train", recipe, vocabulary, dialogues(on_bad), say)
    held_out = _tokens(run / "held_out", recipe, vocabulary, dialogues(_pass_over, held_out=True), say)
    if not train.pieces or not held_out.pieces:
        found = f"{train.pieces} dialogues to train on, {held_out.pieces} to validate on"
        raise DataError(found, f"Give a larger corpus, and remove {run}")
    task = _task(recipe, vocabulary)
    if start is not None:
        say(f"{_load_matching(task, start)} weights come from {start}")
    say(f"training on {train.tokens:,} tokens, validating on {held_out.tokens:,}")
    source = StoreBatches(train, held_out, recipe.tokens_per_batch, recipe.options.seed)
    fitted = fit(task, source, run, advance)
    if is_first_process():
        sizes = asdict(task.model.sizes)
        counts = {"train": asdict(train.counts), "held_out": asdict(held_out.counts)}
        config = {"kind": recipe.kind, "sizes": sizes, "recipe": recipe.to_dict(), **given, "counts": counts}
        about = f"Pre-trained on {train.tokens:,} tokens of dialogue."
        texts, blobs = {VOCABULARY: vocabulary.to_json()}, {}
        if isinstance(task, DanTask):
            say("exporting the network")
            blobs = {GRAPH: exported(task.model)}
        save_run(run, out, task.model, fitted, config, texts, blobs, recipe.kind.upper(), about)
    return Pretrained(out, fitted.rows, fitted.best, (train.pieces, held_out.pieces))


def _task(recipe: Recipe, vocabulary: Vocabulary) -> DialogueTask | DanTask:
    """What the recipe trains."""
    sizes = replace(recipe.sizes, vocabulary=vocabulary.size)
    if isinstance(sizes, DanSizes):
        for library in ("onnx", "onnxscript"):  # better now than when it is trained and to be exported
            if find_spec(library) is None:
                raise MissingExtra(library, "train", "A dual encoder")
        return DanTask(sizes, recipe.options)
    return DialogueTask(sizes, recipe.options, recipe.annealing)


def digests(files: Sequence[str | Path]) -> list[dict[str, str]]:
    """The `name` of each file of a corpus and the `sha256` of what it holds, its gzip undone (16 digits).

    Raises:
        UsageError: one of them is standard input, which can be read only once.
        MissingAsset: one cannot be read.
    """
    if STDIN in map(str, files):
        raise UsageError("-: a corpus is read several times, standard input only once. Save it as a file")
    found = []
    for file in files:
        total = hashlib.sha256()
        with open_bytes(file) as stream:
            for block in iter(partial(stream.read, _BLOCK), b""):
                total.update(block)
        found.append({"name": Path(file).name, "sha256": total.hexdigest()[:16]})
    return found


def claim_run(run: Path, what: dict[str, Any]) -> None:
    """Make the run's folder, or see that the run in it is the same one; what a killed run left half written goes.

    Raises:
        UsageError: something of another run is there.
    """
    stated = json.dumps(what, indent=2)
    mark = run / "recipe.json"
    run.mkdir(parents=True, exist_ok=True)
    for left in run.glob(".*.partial"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    if any(path != mark for path in run.iterdir()) and mark.is_file() and mark.read_text(encoding="utf-8") != stated:
        raise UsageError(f"{run}: holds a run of another recipe or other files. Remove it, or choose another -o")
    _write_whole(mark, stated)


def save_run(
    run: Path,
    out: Path,
    model: Module,
    fitted: Fitted,
    config: Mapping[str, Any],
    files: Mapping[str, str],
    blobs: Mapping[str, bytes],
    title: str,
    about: str,
) -> None:
    """Write the folder of a model that a run has trained.

    Args:
        run: the run's folder, for its curves.
        out: the folder to write.
        model: the network, its best weights loaded.
        fitted: what the run came to.
        config: what else decides the model.
        files: further text files by name.
        blobs: further files of bytes by name.
        title: of the card.
        about: a sentence for the card.
    """
    tensors = {name: tensor.detach().cpu().numpy() for name, tensor in model.state_dict().items()}
    curves = {name: (run / name).read_text(encoding="utf-8") for name in ("curves.csv", "curves.svg")}
    shown = "\n".join(f"- {name.replace('_', ' ')}: {value:.4g}" for name, value in fitted.best.items())
    card = f"# {title}\n\n{about} At its best validation:\n\n{shown}\n"
    write_folder(out, Parts({**config, "figures": fitted.best}, tensors, {**files, **curves}, blobs), card)


def is_held_out(dialogue: Dialogue, share: float) -> bool:
    """Whether a dialogue is for validation: a hash of its opening decides.

    The opening is its first two turns, of two turns the first, lower case and without regard to white space. So copies,
    and dialogues that go on differently after one opening, fall on one side; a dialogue of two turns and a longer one
    that begins with it may not.
    """
    opening = dialogue.turns[:-1][:2]
    text = "\n".join(" ".join(turn.casefold().split()) for turn in opening)
    return crc32(text.encode()) % _BUCKETS < share * _BUCKETS


def _pass_over(_: DataError) -> None:
    """Meet a bad dialogue that was told of before."""


def _write_whole(path: Path, text: str) -> None:
    """Write a file of the run, which may be killed at any moment."""
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _vocabulary(run: Path, recipe: Recipe, dialogues: Iterator[Dialogue], say: Callable[[str], None]) -> Vocabulary:
    """The vocabulary of the run: the one that is there, or a new one."""
    file = run / VOCABULARY
    if not file.is_file():
        say("training the byte-pair encoding")
        trained = train_bpe((turn for dialogue in dialogues for turn in dialogue.turns), recipe.text.vocabulary)
        _write_whole(file, trained.to_json())
    return Vocabulary.from_json(file.read_text(encoding="utf-8"))


def _start_vocabulary(start: str | Path) -> str:
    """The vocabulary of the model that a run starts from."""
    files = read_folder(start).files
    if VOCABULARY not in files:
        raise DataError(f"no {VOCABULARY} in it", "Name the folder of a pre-trained model", where=str(start))
    return files[VOCABULARY]


def _tokens(
    folder: Path, recipe: Recipe, vocabulary: Vocabulary, dialogues: Iterator[Dialogue], say: Callable[[str], None]
) -> TokenStore:
    """The tokens of one part of the corpus, written unless they are there."""
    if not folder.is_dir():
        say(f"writing the tokens of the {folder.name.replace('_', '-')} part")
        limits = {"longest_turn": recipe.text.longest_turn, "most_turns": recipe.text.most_turns}
        counts = write_tokens(dialogues, vocabulary, folder, **limits)
        say(
            f"{counts.dialogues:,} dialogues, {counts.tokens:,} tokens; {counts.cut_turns:,} turns cut, "
            f"{counts.unknown:,} tokens unknown"
        )
    store = TokenStore(folder)
    if store.vocabulary != vocabulary.digest:
        raise UsageError(f"{folder.parent}: its tokens belong to another vocabulary. Remove it, or choose another -o")
    return store


def _load_matching(task: DialogueTask | DanTask, start: str | Path) -> int:
    """Copy the weights that the two models share, and return how many tensors that were.

    The latent variable comes last in what the decoder is given, so its matrices share all columns before it.
    """
    import torch

    parts, own, shared = read_folder(start), task.model.state_dict(), 0
    wider = getattr(task.model.sizes, "latent", 0) - parts.config["sizes"].get("latent", 0)
    for name, tensor in parts.tensors.items():
        shape = own[name].shape if name in own else None
        if shape == tensor.shape or (
            shape == (len(tensor), *(width + wider for width in tensor.shape[1:])) and wider > 0
        ):
            own[name][..., : tensor.shape[-1]] = torch.from_numpy(tensor)
            shared += 1
    task.model.load_state_dict(own)
    return shared
