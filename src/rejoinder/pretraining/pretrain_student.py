"""From a teacher's vectors of texts to a trained student: texts, vectors, pieces, training, one folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rejoinder.data.dialogues import read_dialogues
from rejoinder.data.files import OnError
from rejoinder.data.folders import Parts, in_folder, read_folder
from rejoinder.data.outputs import atomic_file
from rejoinder.data.read import raise_error
from rejoinder.errors import DataError, UsageError
from rejoinder.models.sizes import StudentSizes
from rejoinder.models.student import pack, unpack
from rejoinder.models.vocabulary import END_ID, PAD_ID, UNK_ID, Vocabulary, train_bpe
from rejoinder.models.weights import text_of
from rejoinder.pretraining.corpora import digests, unjudged
from rejoinder.pretraining.fit import fit
from rejoinder.pretraining.prepared import vocabulary_in
from rejoinder.pretraining.pretrain import Pretrained, require_own, save_run, tensors_of
from rejoinder.pretraining.processes import claim_run
from rejoinder.pretraining.recipe import StudentRecipe
from rejoinder.pretraining.student import StudentBatches, StudentTask
from rejoinder.pretraining.taught import (
    TEXTS,
    Taught,
    Teach,
    is_taught,
    read_taught,
    texts_of,
    write_texts,
    write_vectors,
)
from rejoinder.scorer import Advance, ignore
from rejoinder.text.normalize import detokenize

VOCABULARY, TEACHER, PINNED = "vocabulary.json", "teacher", "taught.json"
_AT_ONCE = 20_000
_FEWEST = 64
"""Texts to train on without which there is no run."""


@dataclass(frozen=True)
class Teacher:
    """What knows the vectors that a student is taught.

    Attributes:
        teach: N texts to vectors [N, O].
        options: what decides them.
    """

    teach: Teach
    options: Mapping[str, Any]


def pretrain_student(
    recipe: StudentRecipe,
    files: Sequence[str | Path],
    out: str | Path,
    teacher: Teacher | None = None,
    *,
    start: str | Path | None = None,
    keep_judged: bool = False,
    force: bool = False,
    on_error: OnError = raise_error,
    say: Callable[[str], None] = lambda _: None,
    advance: Advance = ignore,
) -> Pretrained:
    """Teach a student what the recipe says and save it as the folder `out`.

    Texts of the corpora and the teacher's vectors stand in `OUT.run/teacher`, beside checkpoints and curves; a run that
    was interrupted goes on from there. Where `files` is such a folder there is nobody to ask.

    Args:
        recipe: what and how.
        files: corpora (see `read_dialogues`), or one folder of texts and vectors (see `training.taught`). What has
            vectors when a run begins is what it trains on, even if more come later.
        out: the folder to save the model in.
        teacher: whom to ask; None where `files` is a folder of vectors.
        start: a student of the same sizes whose pieces and weights this one starts from; `alone` is best 0 then.
        keep_judged: also use dialogues that occur in public sets of human judgements.
        force: replace a model of another run that stands at `out`.
        on_error: what to do with a bad dialogue.
        say: takes one line about each step.
        advance: called with the number of updates done.

    Raises:
        UsageError: nobody to ask, or nobody who needs to be; see also `pretrain_dialogues`.
        DataError: a bad dialogue, a damaged folder, or too few texts.
    """
    out = Path(out)
    run = require_own(out, [*files, *([] if start is None else [start])], force=force)
    first = None if start is None else read_folder(start)
    given = _given(files, teacher, keep_judged=keep_judged) | ({} if first is None else {"start": first.digest})
    claim_run(run, {**recipe.to_dict(), **given})
    if teacher is not None:
        _ask(run / TEACHER, teacher, recipe, files, keep_judged=keep_judged, on_error=on_error, say=say)
    taught = _pinned(run, Path(files[0]) if teacher is None else run / TEACHER)
    lesson = _Lesson(recipe, taught, _vocabulary(run, taught, recipe.text.vocabulary, say, first))
    source = lesson.batches()
    say(f"training on {len(source.train):,} texts, validating on {len(source.held_out):,}")
    if recipe.threads:
        torch.set_num_threads(recipe.threads)
    task = StudentTask(lesson.sizes, recipe.run, recipe.alone, lesson.shares(source))
    with in_folder(start or ""):
        _begin(task, first)
    fitted = fit(task, source, run, advance)
    config = {"kind": recipe.kind, "sizes": lesson.sizes.model_dump(), "recipe": recipe.to_dict(), **given}
    config |= {"texts": {"train": len(source.train), "held_out": len(source.held_out)}, "vectors": taught.digest()}
    about = f"Taught the vectors of {len(source.train):,} texts."
    kept = {VOCABULARY: lesson.vocabulary.to_json()}
    save_run(run, out, pack(tensors_of(task.model)), fitted, config, kept, "Student", about)
    return Pretrained(out, fitted.rows, fitted.best, (len(source.train), len(source.held_out)))


def _given(files: Sequence[str | Path], teacher: Teacher | None, *, keep_judged: bool) -> dict[str, Any]:
    """What tells this run's texts and vectors from others.

    Raises:
        UsageError: nobody to ask, or nobody who needs to be.
    """
    folders = [file for file in files if is_taught(file)]
    if folders and (len(files) > 1 or teacher is not None):
        raise UsageError(f"{folders[0]}: holds a teacher's vectors. Give it alone, and no teacher")
    if not folders and teacher is None:
        raise UsageError(
            "a student needs a teacher. Name one with --teacher, or give a folder of its vectors as corpus"
        )
    told = {"teacher": None if teacher is None else dict(teacher.options), "keep_judged": keep_judged}
    corpora = [{**one, "name": Path(folders[0]).name} for one in digests([Path(folders[0]) / TEXTS])] if folders else []
    return {"corpora": corpora or digests(files), **told}


def _ask(
    folder: Path,
    teacher: Teacher,
    recipe: StudentRecipe,
    files: Sequence[str | Path],
    *,
    keep_judged: bool,
    on_error: OnError,
    say: Callable[[str], None],
) -> None:
    """Make the texts of the corpora and ask the teacher for the vectors that are not there yet."""
    if not is_taught(folder):
        dialogues = unjudged(read_dialogues(*files, on_error=on_error), keep_judged=keep_judged, say=say)
        write_texts(folder, texts_of(dialogues, recipe.text))
    write_vectors(folder, teacher.teach, say)


def _pinned(run: Path, folder: Path) -> Taught:
    """The texts and vectors that the run began with, even where there are more by now."""
    file = run / PINNED
    most = _most(file) if file.is_file() else None
    taught = read_taught(folder, most)
    if most is None:
        with atomic_file(file) as partial:
            partial.write_text(json.dumps({"texts": len(taught.texts)}), encoding="utf-8")
    return taught


def _most(file: Path) -> int:
    """How many texts the run began with.

    Raises:
        DataError: the file that says so is damaged.
    """
    try:
        return int(json.loads(file.read_text(encoding="utf-8"))["texts"])
    except (ValueError, KeyError, TypeError) as error:
        remedy = "Remove it, last.ckpt and best.ckpt beside it, and call again"
        raise DataError("this file is damaged", remedy, where=str(file)) from error


def _begin(task: StudentTask, first: Parts | None) -> None:
    """Give a student the weights of another, where there is one to start from.

    Raises:
        DataError: that is no student, or one of other sizes.
    """
    if first is None:
        return
    ours = tensors_of(task.model)
    kept = unpack(first.tensors, task.model.sizes.embedding) if first.config.get("kind") == "student" else {}
    if {name: one.shape for name, one in kept.items()} != {name: one.shape for name, one in ours.items()}:
        raise DataError("it is no student, or one of other sizes than the recipe says", "Start from one of these sizes")
    task.model.load_state_dict({name: torch.from_numpy(one) for name, one in kept.items()})


def _vocabulary(
    run: Path, taught: Taught, size: int, say: Callable[[str], None], first: Parts | None = None
) -> Vocabulary:
    """The vocabulary of the run: the one that is there, that of the student to start from, or a new one."""
    file = run / VOCABULARY
    if not file.is_file():
        if first is None:
            say("training the byte-pair encoding")
            text = train_bpe(map(detokenize, taught.texts), size).to_json()
        else:
            text = text_of(first.files, VOCABULARY)
        with atomic_file(file) as partial:
            partial.write_text(text, encoding="utf-8")
    return vocabulary_in(file)


@dataclass(frozen=True)
class _Lesson:
    """Texts and vectors, and the pieces to read them with."""

    recipe: StudentRecipe
    taught: Taught
    vocabulary: Vocabulary

    @property
    def sizes(self) -> StudentSizes:
        """The network's."""
        shape = self.recipe.model.model_dump()
        return StudentSizes(**shape, vocabulary=self.vocabulary.size, output=self.taught.width)

    def batches(self) -> StudentBatches:
        """The texts as batches: the first are for validation, which are the same however many there are.

        Raises:
            DataError: there are too few.
        """
        ids, text = list(self._ids()), self.recipe.text
        usable = np.array([place for place in self.taught.usable() if len(ids[place])], dtype=np.int64)
        held_out, train = usable[: text.aside], usable[text.aside :]
        if len(train) < _FEWEST:
            raise DataError(f"{len(usable)} texts with vectors, {text.aside} of them to validate on", "Give more")
        return StudentBatches(self.taught, ids, train, held_out, self.recipe.pieces_per_batch, self.recipe.run.seed)

    def shares(self, source: StudentBatches) -> NDArray[np.float64]:
        """[vocabulary] of all pieces of the texts to train on, the share that each has."""
        counts = np.bincount(
            np.concatenate([source.ids[place] for place in source.train]), minlength=self.vocabulary.size
        )
        shares: NDArray[np.float64] = counts / counts.sum()
        return shares

    def _ids(self) -> Iterator[NDArray[np.int32]]:
        """The first pieces of each text."""
        texts, longest = self.taught.texts, self.recipe.text.longest
        for start in range(0, len(texts), _AT_ONCE):
            for ids in self.vocabulary.encode_batch([detokenize(text) for text in texts[start : start + _AT_ONCE]]):
                yield _as_read(ids[:longest])


def _as_read(ids: list[int]) -> NDArray[np.int32]:
    """The pieces of a text; marks that are written in it are no padding."""
    found = np.array(ids, dtype=np.int32)
    found[(found == PAD_ID) | (found == END_ID)] = UNK_ID
    return found
