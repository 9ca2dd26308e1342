"""`pretrain`: from a recipe and corpora to a model in one folder: an encoder, a responder, both, or statistics.

The intermediate files of a run (tokens, checkpoints, curves) are in the folder `OUT.run` next to the model.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rejoinder.data.dialogues import corpus_files
from rejoinder.data.files import OnError
from rejoinder.data.folders import Parts, read_folder, require_free, run_folder, write_folder
from rejoinder.data.outputs import atomic_file, require_apart
from rejoinder.data.read import raise_error, silent
from rejoinder.errors import DataError, MissingExtra, UsageError
from rejoinder.models import MODELS, load_encoder
from rejoinder.models.reply_bank import Sample, sample
from rejoinder.models.retrieval import BY_CONTEXT, BY_RESPONSE, RANDOM, retrieval_parts, with_bank
from rejoinder.pretraining.corpus import Lesson, Log, Source, digests
from rejoinder.pretraining.recipe import (
    Candidates,
    DualEncoderRecipe,
    MoodRecipe,
    OnDialogues,
    PhraseRecipe,
    Recipe,
    RetrievalRecipe,
    SelectorRecipe,
    StudentRecipe,
    TfidfRecipe,
    TweetRecipe,
    read_recipe,
)
from rejoinder.pretraining.statistics import mood_parts, phrase_parts
from rejoinder.scorer import Advance, ignore

if TYPE_CHECKING:
    from rejoinder.pretraining.loop import Trained

TEXTS = "texts.json"  # of a teacher's vectors
RECIPE_FILE = "recipe.json"
"""The file of a run's folder that holds what decides the run."""
_TITLES = {"selector": "Selector", "student": "Student", "tweet2vec": "tweet2vec"}
_ABOUT = {
    RANDOM: "Answers any context with a response drawn at random",
    BY_CONTEXT: "Answers a context with the response of the most similar context by TF-IDF (Liu et al. 2016)",
    BY_RESPONSE: "Answers a context with the most similar response by TF-IDF (Liu et al. 2016)",
}
_LOCKED: dict[Path, int] = {}


@dataclass(frozen=True)
class Pretrained:
    """A model that `pretrain` has made.

    Attributes:
        folder: the model.
        kind: which kind of model it is.
        best: figures of the validation whose weights were kept, by name; none of a model without a network.
        rows: the figures of every validation.
    """

    folder: Path
    kind: str
    best: Mapping[str, float] = field(default_factory=dict)
    rows: Sequence[Mapping[str, float]] = ()


def pretrain(
    recipe: str | Path | Recipe,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    start: str | Path | None = None,
    teacher: str | Path | None = None,
    keep_judged: bool = False,
    force: bool = False,
    on_error: OnError = raise_error,
    log: Log = silent,
    progress: Advance = ignore,
) -> Pretrained:
    """Make the model of a recipe from dialogues, or a tweet2vec from tweets, and save it as the folder `out`.

    A run of a network that was interrupted goes on when it is called again with the same recipe and files.

    Args:
        recipe: a TOML file, or what `read_recipe` returns.
        files: corpora, or folders of them; for a student also one folder of a teacher's vectors.
        out: the folder to save the model in.
        start: a trained model whose weights to start from; for networks that read dialogues, and for students.
        teacher: an encoder (see `load_encoder`) whose vectors a student learns, or a selector or moods read.
        keep_judged: whether to use dialogues that people rated, too.
        force: whether to replace a model of another run at `out`.
        on_error: what to do with a bad line.
        log: receives a line about each step.
        progress: called with the number of updates done.

    Raises:
        UsageError: there is something at `out` that is not to be replaced, or a run of another recipe; `out` is, holds
            or is inside something that is read; an option has no meaning for the kind; or the loss is not finite.
        DataError: the recipe or a line is bad, or there are too few dialogues.
        MissingAsset: a file is not there.
        MissingExtra: a library that training needs is not installed.
    """
    recipe, out = read_recipe(recipe) if isinstance(recipe, (str, Path)) else recipe, Path(out)
    is_network = isinstance(recipe, OnDialogues | StudentRecipe | SelectorRecipe | TweetRecipe)
    with _needs_torch():
        if is_network:
            import rejoinder.pretraining.loop  # noqa: F401 - before any work
        has_vectors = isinstance(recipe, StudentRecipe) and any((Path(file) / TEXTS).is_file() for file in files)
        files = files if has_vectors else corpus_files(files)
        _require_options(recipe, files, start, teacher, keep_judged=keep_judged, has_vectors=has_vectors)
        run = own_run(out, [*files, *([start] if start else [])], force=force) if is_network else None
        if run is None:
            require_apart([out], files)
            require_free(out, force=force)
        source = Source(
            files=files,
            start=read_folder(start) if start else None,
            start_folder=start or "",
            encoder=load_encoder(teacher) if teacher else None,
            keep_judged=keep_judged,
            on_error=on_error,
            log=log,
            progress=progress,
        )
        identity = _identity(recipe, source)
        if run is not None:
            return _trained(recipe, source, identity, run, out)
        parts, card, figures = _counted(recipe, source)
        about = {"kind": recipe.kind, "recipe": recipe.to_dict(), **identity}
        write_folder(out, Parts({**parts.config, **about}, parts.tensors, parts.files), card, force=force)
        return Pretrained(out, recipe.kind, figures)


@contextmanager
def _needs_torch() -> Iterator[None]:
    """Explain how to get a library of the block that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or "torch").partition(".")[0], "train", "Pre-training") from error


def _require_options(
    recipe: Recipe, files: Sequence[str | Path], start: Any, teacher: Any, *, keep_judged: bool, has_vectors: bool
) -> None:
    """Raise `UsageError` if an option has no meaning for the kind of model, or one is missing."""
    kind = recipe.kind
    if has_vectors and (len(files) > 1 or teacher):
        raise UsageError("a folder of a teacher's vectors is given. Give it alone, and no teacher")
    if teacher and not MODELS[kind].teacher:
        raise UsageError(f"--teacher is for a student, a selector or moods, a {kind} has none. Remove it")
    if isinstance(recipe, StudentRecipe) and not teacher and not has_vectors:
        raise UsageError("a student needs a teacher. Name it with --teacher, or give a folder of its vectors as corpus")
    if isinstance(recipe, SelectorRecipe | MoodRecipe) and not teacher:
        raise UsageError(f"a {kind} reads the vectors of an encoder. Name one with --teacher")
    if start and not isinstance(recipe, OnDialogues | StudentRecipe):
        raise UsageError(f"--start is for networks that read dialogues, and students, not for a {kind}. Remove it")
    if keep_judged and isinstance(recipe, TweetRecipe):
        raise UsageError("--keep-judged is for dialogues, and tweet2vec reads tweets. Remove it")


def _identity(recipe: Recipe, source: Source) -> dict[str, Any]:
    """Return what a model is made from, as its folder says it; with the recipe it tells one run from another."""
    encoder = dict(source.encoder.options) if source.encoder else None
    is_vectors = isinstance(recipe, StudentRecipe) and encoder is None
    folder = Path(source.files[0])
    corpora = [{**digests([folder / TEXTS])[0], "name": folder.name}] if is_vectors else digests(source.files)
    if isinstance(recipe, TweetRecipe):
        return {"corpora": corpora}
    identity: dict[str, Any] = {"corpora": corpora, "keep_judged": source.keep_judged}
    if isinstance(recipe, StudentRecipe):
        identity |= {"teacher": encoder} | ({"start": source.start.digest} if source.start else {})
    elif isinstance(recipe, SelectorRecipe | MoodRecipe):
        identity["encoder"] = encoder
    elif isinstance(recipe, OnDialogues):
        identity["start"] = source.start.digest if source.start else ""
    return identity


# Networks -----------------------------------------------------------------------------------------------------------


def _trained(recipe: Any, source: Source, identity: Mapping[str, Any], run: Path, out: Path) -> Pretrained:
    """Train a network in the folder of its run, and save it."""
    from rejoinder.pretraining import loop

    with loop.process_group(recipe.run.accelerator):
        with loop.first_process_first():
            lesson = _prepared(recipe, source, identity, run)
        trained = loop.train(lesson.task, lesson.batches, recipe.run, run, source.progress)
        if loop.process()[0] == 0:
            _save(recipe, source, identity, lesson, trained, run, out)
    return Pretrained(out, recipe.kind, trained.best, trained.rows)


def _prepared(recipe: Recipe, source: Source, identity: Mapping[str, Any], run: Path) -> Lesson:
    """Open the run and return what it trains; the folder of a new run whose data are bad is removed."""
    is_new = not run.exists()
    open_run(run, {**recipe.to_dict(), **identity})
    try:
        return _lesson(recipe, source, run)
    except DataError:
        if is_new:
            shutil.rmtree(run)
            if (opened := _LOCKED.pop(run.resolve(), None)) is not None:
                os.close(opened)
        raise


def _lesson(recipe: Recipe, source: Source, run: Path) -> Lesson:
    """Return what a recipe trains."""
    if isinstance(recipe, TweetRecipe):
        from rejoinder.pretraining.tweet2vec import tweet_lesson

        return tweet_lesson(recipe, source)
    if isinstance(recipe, StudentRecipe):
        from rejoinder.pretraining.student import student_lesson

        return student_lesson(recipe, source, run)
    if isinstance(recipe, SelectorRecipe):
        from rejoinder.pretraining.selector import selector_lesson

        return selector_lesson(recipe, source, run)
    if isinstance(recipe, OnDialogues):
        from rejoinder.pretraining.dialogue import dialogue_lesson

        return dialogue_lesson(recipe, source, run)
    raise TypeError(type(recipe))


def _save(
    recipe: Recipe, source: Source, identity: Mapping[str, Any], lesson: Lesson, trained: Trained, run: Path, out: Path
) -> None:
    """Write a trained model to its folder; a Dual Encoder also gets its candidates."""
    curves = {name: (run / name).read_text(encoding="utf-8") for name in ("curves.csv", "curves.svg")}
    config = {"kind": recipe.kind, "sizes": lesson.task.model.sizes.model_dump(), "recipe": recipe.to_dict()}
    config |= {**identity, **lesson.config, "figures": trained.best}
    parts = Parts(config, lesson.tensors(), {**lesson.files, **curves})
    figures = "\n".join(f"- {name.replace('_', ' ')}: {value:.4g}" for name, value in trained.best.items())
    card = f"# {_TITLES.get(recipe.kind, recipe.kind.upper())}\n\n{lesson.about} At its best validation:\n\n{figures}\n"
    if isinstance(recipe, DualEncoderRecipe):
        candidates = _candidates(recipe.candidates, recipe.text.held_out, source, on_error=_pass_over, log=silent)
        source.log(f"{_count(candidates)}; encoding them")
        parts, card = with_bank(parts, candidates.bank), f"{card}\n{_section(candidates, source)}"
    write_folder(out, parts, card, force=True)


def own_run(out: Path, inputs: Sequence[str | Path], *, force: bool) -> Path:
    """Return the folder of the run of a model, if that can be written to `out`; see `pretrain` for what it raises."""
    run = run_folder(out)
    require_apart([out, run], inputs)
    require_free(out, force=force or (run / RECIPE_FILE).is_file())
    return run


def open_run(run: Path, identity: Mapping[str, Any]) -> None:
    """Make the run's folder, or check that it holds the same run; remove what a killed run left half written.

    Args:
        run: the folder. Other calls are kept out of it until this process ends, where the system can lock.
        identity: decides the run, JSON values.

    Raises:
        UsageError: something of another run is there, or another call is at work there.
    """
    text, file = json.dumps(identity, indent=2), run / RECIPE_FILE
    try:
        run.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{run}: no folder can be made here ({error.strerror}). Choose another -o") from error
    if os.environ.get("RANK", "0") == "0" and run.resolve() not in _LOCKED:
        _lock(run)
    unfinished = list(run.glob(".*.partial" if file.is_file() else f".{RECIPE_FILE}.*.partial"))
    if any(path != file and path not in unfinished for path in run.iterdir()):
        if not file.is_file():
            raise UsageError(
                f"{run}: exists, but holds no run ({RECIPE_FILE} is missing). Remove it, or choose another -o"
            )
        if file.read_text(encoding="utf-8", errors="replace") != text:
            raise UsageError(f"{run}: holds a run of another recipe or other files. Remove it, or choose another -o")
    for path in unfinished:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    with atomic_file(file) as partial:  # the run may be killed at any moment
        partial.write_text(text, encoding="utf-8")


def _lock(run: Path) -> None:
    """Keep other calls out of a run's folder until this process ends. Raises `UsageError` if one is at work there."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    opened = os.open(run, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(opened)
        raise UsageError(f"{run}: another call trains there now. Wait until it ends, or choose another -o") from error
    except OSError:  # a file system without locks
        os.close(opened)
    else:
        _LOCKED[run.resolve()] = opened


# Models without a network -------------------------------------------------------------------------------------------


def _counted(recipe: Recipe, source: Source) -> tuple[Parts, str, Mapping[str, float]]:
    """Return parts, card and figures of a model that is counted or sampled, not trained."""
    if isinstance(recipe, PhraseRecipe):
        return phrase_parts(recipe, source)
    if isinstance(recipe, MoodRecipe):
        return mood_parts(recipe, source)
    if not isinstance(recipe, RetrievalRecipe):
        raise TypeError(type(recipe))
    candidates = _candidates(recipe.candidates, recipe.text.held_out, source, on_error=source.on_error, log=source.log)
    source.log(_count(candidates))
    smooth = isinstance(recipe, TfidfRecipe) and recipe.smooth_idf
    parts = retrieval_parts({"kind": recipe.kind}, candidates, smooth=smooth)
    card = f"# {recipe.kind.upper()}\n\n{_ABOUT[recipe.kind]}.\n\n{_section(candidates, source)}"
    return parts, card, {}


def _candidates(candidates: Candidates, held_out: float, source: Source, on_error: OnError, log: Log) -> Sample:
    """Return the candidates in the dialogues that are not held out."""
    dialogues, _ = replace(source, on_error=on_error, log=log).split(held_out)
    return sample(dialogues, candidates.most, candidates.seed)


def _count(candidates: Sample) -> str:
    """Return a summary of the number of candidates."""
    bank = candidates.bank
    return (
        f"{bank.pairs:,} pairs of context and response of {candidates.seen:,}, {len(bank.texts):,} different responses"
    )


def _section(candidates: Sample, source: Source) -> str:
    """Return what the card says about the candidates."""
    names = ", ".join(Path(file).name for file in source.files)
    return (
        f"Candidates: {_count(candidates)}, from {names}. They are in this folder word for word, under the "
        "licences of these files, which rejoinder does not know.\n"
    )


def _pass_over(_: DataError) -> None:
    """Do nothing about a bad dialogue that training has reported."""
