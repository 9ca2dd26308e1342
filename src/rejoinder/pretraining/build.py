"""From a corpus to a retrieval model in one folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rejoinder.data.files import OnError
from rejoinder.data.folders import read_card, read_folder, require_free, write_folder
from rejoinder.data.joins import Note
from rejoinder.data.outputs import require_apart
from rejoinder.data.read import raise_error, silent
from rejoinder.errors import DataError
from rejoinder.models.reply_bank import Sample, sample
from rejoinder.models.retrieval import BY_CONTEXT, BY_RESPONSE, RANDOM, retrieval_parts, with_bank
from rejoinder.pretraining.corpora import digests, part_of
from rejoinder.pretraining.recipe import Candidates, DualEncoderRecipe, RetrievalRecipe, TfidfRecipe

_ABOUT = {
    RANDOM: "Answers any context with a response drawn at random",
    BY_CONTEXT: "Answers a context with the response of the most similar context by TF-IDF (Liu et al. 2016)",
    BY_RESPONSE: "Answers a context with the most similar response by TF-IDF (Liu et al. 2016)",
}


def build_retrieval(
    recipe: RetrievalRecipe,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    keep_judged: bool = False,
    force: bool = False,
    on_error: OnError = raise_error,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Make the retrieval model that the recipe says from the dialogues in `files` and save it as the folder `out`.

    Args:
        recipe: what and how.
        files: corpora (see `read_dialogues`).
        out: the folder to save it in.
        keep_judged: also take responses from dialogues that occur in public sets of human judgements.
        force: replace a model that stands at `out`.
        on_error: what to do with a bad dialogue.
        say: takes one line about each step.

    Raises:
        UsageError: a model stands at `out` and is not to be replaced, or something that is no model does; or `out` is,
            holds or lies in one of the files.
        DataError: a bad dialogue, or none.
    """
    require_apart([out], files)
    require_free(out, force=force)
    given = {"corpora": digests(files), "keep_judged": keep_judged}
    found = _sample(recipe.candidates, recipe.text.held_out, files, keep_judged, on_error, say)
    say(_counted(found))
    smooth = isinstance(recipe, TfidfRecipe) and recipe.smooth_idf
    if isinstance(recipe, TfidfRecipe):
        say("weighing words")
    whole = retrieval_parts({"kind": recipe.kind, "recipe": recipe.to_dict(), **given}, found, smooth=smooth)
    card = f"# {recipe.kind.upper()}\n\n{_ABOUT[recipe.kind]}.\n\n{_section(found, given['corpora'])}"
    write_folder(out, whole, card, force=force)


def add_candidates(
    folder: str | Path,
    recipe: DualEncoderRecipe,
    files: Sequence[str | Path],
    *,
    keep_judged: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Put the candidates that the recipe says, encoded, into the folder of a dual encoder that it has trained.

    Args:
        folder: the trained model.
        recipe: what it was trained with.
        files: what it was trained on; bad dialogues are passed over.
        keep_judged: see `build_retrieval`.
        say: takes one line about each step.
    """
    found = _sample(recipe.candidates, recipe.text.held_out, files, keep_judged, _pass_over)
    say(f"{_counted(found)}; encoding them")
    parts = with_bank(read_folder(folder), found.bank)
    card = read_card(folder)
    write_folder(folder, parts, f"{card}\n{_section(found, parts.config['corpora'])}", force=True)


def _sample(
    candidates: Candidates,
    held_out: float,
    files: Sequence[str | Path],
    keep_judged: bool,
    on_error: OnError,
    say: Note = silent,
) -> Sample:
    """The candidates among the dialogues that are not held out."""
    dialogues = part_of(files, held_out, held_out=False, keep_judged=keep_judged, on_error=on_error, say=say)
    return sample(dialogues, candidates.most, candidates.seed)


def _counted(found: Sample) -> str:
    """How many candidates there are, in words."""
    bank = found.bank
    return f"{bank.pairs:,} pairs of context and response of {found.seen:,}, {len(bank.texts):,} different responses"


def _section(found: Sample, corpora: Any) -> str:
    """What the card says of the candidates."""
    names = ", ".join(corpus["name"] for corpus in corpora)
    return (
        f"Candidates: {_counted(found)}, from {names}. They stand in this folder word for word, under the "
        "licences of these files, which rejoinder does not know.\n"
    )


def _pass_over(_: DataError) -> None:
    """Meet a bad dialogue that was told of in training."""
