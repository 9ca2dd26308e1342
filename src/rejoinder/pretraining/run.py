"""From a recipe and corpora to a model in one folder: an encoder, a system that replies, both, or what was counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rejoinder.data.dialogues import corpus_files
from rejoinder.data.files import OnError
from rejoinder.data.read import raise_error, silent
from rejoinder.errors import MissingExtra, UsageError
from rejoinder.models import MODELS, load_encoder
from rejoinder.pretraining.build import add_candidates, build_retrieval
from rejoinder.pretraining.processes import is_first_process
from rejoinder.pretraining.recipe import (
    DualEncoderRecipe,
    MoodRecipe,
    OnDialogues,
    PhraseRecipe,
    Recipe,
    RetrievalRecipe,
    SelectorRecipe,
    StudentRecipe,
    TweetRecipe,
    read_recipe,
)
from rejoinder.pretraining.statistics import pretrain_mood, pretrain_phrases
from rejoinder.pretraining.taught import is_taught
from rejoinder.scorer import Advance, ignore


class Made(NamedTuple):
    """What a recipe came to.

    Attributes:
        folder: the model.
        kind: which kind of model it is.
        best: figures of the validation whose weights were kept, by name; none of a model without a network.
    """

    folder: Path
    kind: str
    best: Mapping[str, float]


class Given(NamedTuple):
    """The arguments of `pretrain`, folders of corpora replaced by the files in them."""

    files: Sequence[str | Path]
    out: Path
    start: str | Path | None
    teacher: str | Path | None
    keep_judged: bool
    force: bool
    on_error: OnError
    say: Callable[[str], None]
    advance: Advance


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
    say: Callable[[str], None] = silent,
    advance: Advance = ignore,
) -> Made:
    """Make the model that a recipe says from dialogues, or a tweet2vec from tweets, and save it as the folder `out`.

    Networks are trained: what a run needs on its way stands in the folder `OUT.run` beside it, and a run that was
    interrupted goes on when it is called again with the same recipe and files.

    Args:
        recipe: a TOML file, or what `read_recipe` makes of it.
        files: corpora, or folders of them.
        out: the folder to save the model in.
        start: a trained model whose weights to start from; for networks that read dialogues, and for students.
        teacher: an encoder (see `load_encoder`) whose vectors a student learns, or a selector or moods stand on; a
            student needs none where `files` is a folder of a teacher's vectors (see `rejoinder.pretraining.taught`).
        keep_judged: also use dialogues that occur in public sets of human judgements.
        force: replace a model of another run that stands at `out`.
        on_error: what to do with a bad line.
        say: takes one line about each step.
        advance: called with the number of updates done.

    Raises:
        UsageError: there is something at `out` that is not to be replaced, or a run of another recipe; `out` is, holds
            or lies in something that is read; an option has no meaning for the kind; or the loss went out of bounds.
        DataError: the recipe or a line is bad, or there are too few dialogues.
        MissingAsset: a file is not there.
        MissingExtra: a library that training needs is not installed.
    """
    with _training():
        plan = read_recipe(recipe) if isinstance(recipe, (str, Path)) else recipe
        if not MODELS[plan.kind].teacher and teacher is not None:
            raise UsageError(f"--teacher is for a student, a selector or moods, a {plan.kind} has none. Leave it out")
        files = files if isinstance(plan, StudentRecipe) and any(map(is_taught, files)) else corpus_files(files)
        given = Given(files, Path(out), start, teacher, keep_judged, force, on_error, say, advance)
        return Made(Path(out), plan.kind, _made(plan, given))


def updates_of(recipe: str | Path) -> int | None:
    """How many updates the recipe in a file trains for at most; None where there is no network to train.

    Raises:
        MissingAsset, DataError: see `read_recipe`.
        MissingExtra: a library that training needs is not installed.
    """
    with _training():
        plan = read_recipe(recipe)
        run = getattr(plan, "run", None)
        return None if run is None else int(run.updates)


@contextmanager
def _training() -> Iterator[None]:
    """Say how to get a library of the block that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or "torch").partition(".")[0], "train", "Pre-training") from error


def _made(recipe: Recipe, given: Given) -> Mapping[str, float]:
    """Make what the recipe says; the figures of the validation whose weights were kept."""
    if isinstance(recipe, RetrievalRecipe | PhraseRecipe | MoodRecipe):
        return _without_a_network(recipe, given)
    if isinstance(recipe, StudentRecipe | SelectorRecipe):
        return _over_an_encoder(recipe, given)
    if isinstance(recipe, TweetRecipe):
        return _tweets(recipe, given)
    if isinstance(recipe, OnDialogues):
        return _dialogues(recipe, given)
    raise TypeError(type(recipe))


def _without_a_network(recipe: RetrievalRecipe | PhraseRecipe | MoodRecipe, given: Given) -> Mapping[str, float]:
    """A retrieval model, what is counted in a corpus, or straight lines over the vectors of an encoder."""
    if given.start is not None:
        raise UsageError(f"--start is for networks, a {recipe.kind} has none. Leave it out")
    chosen: dict[str, Any] = {
        "keep_judged": given.keep_judged,
        "force": given.force,
        "on_error": given.on_error,
        "say": given.say,
    }
    if isinstance(recipe, MoodRecipe):
        encoder = None if given.teacher is None else load_encoder(given.teacher)
        return pretrain_mood(recipe, given.files, given.out, encoder, **chosen)
    if isinstance(recipe, PhraseRecipe):
        pretrain_phrases(recipe, given.files, given.out, **chosen)
    else:
        build_retrieval(recipe, given.files, given.out, **chosen)
    return {}


def _tweets(recipe: TweetRecipe, given: Given) -> Mapping[str, float]:
    """A tweet2vec."""
    from rejoinder.pretraining.pretrain_tweets import pretrain_tweets

    if given.start is not None or given.keep_judged:
        raise UsageError("--start and --keep-judged are for dialogues, a tweet2vec knows neither. Leave them out")
    return pretrain_tweets(
        recipe,
        given.files,
        given.out,
        force=given.force,
        on_error=given.on_error,
        say=given.say,
        advance=given.advance,
    ).best


def _over_an_encoder(recipe: StudentRecipe | SelectorRecipe, given: Given) -> Mapping[str, float]:
    """A student, and its teacher where there is one to ask; or a selector."""
    from rejoinder.pretraining.pretrain_selector import pretrain_selector
    from rejoinder.pretraining.pretrain_student import Teacher, pretrain_student

    encoder = None if given.teacher is None else load_encoder(given.teacher)
    teacher = None if encoder is None else Teacher(encoder.encode, encoder.options)
    chosen: dict[str, Any] = {
        "keep_judged": given.keep_judged,
        "force": given.force,
        "on_error": given.on_error,
        "say": given.say,
        "advance": given.advance,
    }
    if isinstance(recipe, SelectorRecipe):
        if given.start is not None:
            raise UsageError("--start is for networks that read dialogues and for students. Leave it out")
        return pretrain_selector(recipe, given.files, given.out, teacher, **chosen).best
    return pretrain_student(recipe, given.files, given.out, teacher, start=given.start, **chosen).best


def _dialogues(recipe: OnDialogues, given: Given) -> Mapping[str, float]:
    """A network that reads dialogues; a dual encoder gets its candidates."""
    from rejoinder.pretraining.pretrain import pretrain_dialogues

    best = pretrain_dialogues(
        recipe,
        given.files,
        given.out,
        start=given.start,
        keep_judged=given.keep_judged,
        force=given.force,
        on_error=given.on_error,
        say=given.say,
        advance=given.advance,
    ).best
    if isinstance(recipe, DualEncoderRecipe) and is_first_process():
        add_candidates(given.out, recipe, given.files, keep_judged=given.keep_judged, say=given.say)
    return best
