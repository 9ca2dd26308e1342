"""Corpora: which dialogues train and which are held out, and their vocabulary and tokens, which a run makes once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from rejoinder.data.dialogues import Dialogue, read_dialogues
from rejoinder.data.files import STDIN, OnError, open_bytes
from rejoinder.data.folders import Parts, in_folder
from rejoinder.data.outputs import atomic_file
from rejoinder.data.read import raise_error, silent
from rejoinder.errors import DataError, UsageError
from rejoinder.models.coarse import coarse_text
from rejoinder.models.encoders import PortableEncoder
from rejoinder.models.vocabulary import Vocabulary, train_bpe
from rejoinder.models.weights import text_of
from rejoinder.pretraining.recipe import MrrnnRecipe, OnDialogues
from rejoinder.pretraining.tokens import TokenStore, write_tokens
from rejoinder.scorer import Advance

VOCABULARY, COARSE = "vocabulary.json", "coarse.vocabulary.json"
_BUCKETS = 10_000
_BLOCK = 1 << 20
Log = Callable[[str], None]
Stores = tuple[TokenStore, TokenStore]


@dataclass(frozen=True)
class Source:
    """What a model is made from.

    Attributes:
        files: corpora, or one folder of a teacher's vectors.
        start: a model whose weights to start from, and its folder, for messages.
        encoder: the teacher of a student, or what a selector or moods read.
        keep_judged: whether to use dialogues that people rated, too.
        on_error: what to do with a bad line.
        log: receives a line about each step.
        progress: called with the number of updates done.
    """

    files: Sequence[str | Path]
    start: Parts | None
    start_folder: str | Path
    encoder: PortableEncoder | None
    keep_judged: bool
    on_error: OnError
    log: Log
    progress: Advance

    def dialogues(self) -> Iterator[Dialogue]:
        """Yield all dialogues but those that people rated."""
        return unjudged(read_dialogues(*self.files, on_error=self.on_error), keep_judged=self.keep_judged, log=self.log)

    def split(self, share: float) -> tuple[Iterator[Dialogue], Iterator[Dialogue]]:
        """Return the dialogues to train on and those that are held out (see `split`)."""
        return split(self.files, share, keep_judged=self.keep_judged, on_error=self.on_error, log=self.log)


class Lesson(NamedTuple):
    """What a run trains, on what, and what its model's folder says about it.

    Attributes:
        task: see `loop.Task`.
        batches: see `loop.Batches`.
        config: counts of what it is trained on.
        files: texts that the model needs.
        tensors: returns the tensors of the trained model.
        about: a sentence for its card.
    """

    task: Any
    batches: Any
    config: Mapping[str, Any]
    files: Mapping[str, str]
    tensors: Callable[[], dict[str, Any]]
    about: str


def split(
    files: Sequence[str | Path],
    share: float,
    *,
    keep_judged: bool = False,
    on_error: OnError = raise_error,
    log: Log = silent,
) -> tuple[Iterator[Dialogue], Iterator[Dialogue]]:
    """Return the dialogues of a corpus to train on, and the share that is held out; bad lines are met in the first.

    Args:
        files: see `read_dialogues`.
        share: of the dialogues that is held out.
        keep_judged: whether to yield dialogues that people rated, too.
        on_error: see `read_dialogues`.
        log: see `unjudged`.
    """
    train = unjudged(read_dialogues(*files, on_error=on_error), keep_judged=keep_judged, log=log)
    held_out = unjudged(read_dialogues(*files, on_error=_pass_over), keep_judged=keep_judged)
    return (
        (dialogue for dialogue in train if not is_held_out(dialogue, share)),
        (dialogue for dialogue in held_out if is_held_out(dialogue, share)),
    )


def unjudged(dialogues: Iterable[Dialogue], *, keep_judged: bool, log: Log = silent) -> Iterator[Dialogue]:
    """Yield the dialogues without human ratings, or all; `log` receives the number left out at the end."""
    left_out = 0
    for dialogue in dialogues:
        if keep_judged or not dialogue.judged:
            yield dialogue
        else:
            left_out += 1
    if left_out:
        log(f"left out because people rated them: {left_out:,} dialogues; --keep-judged takes them too")


def is_held_out(dialogue: Dialogue, share: float) -> bool:
    """Return whether a dialogue is for validation: a hash of its opening decides.

    The opening is its first two turns, of two turns the first, lower case and without regard to white space. So copies,
    and dialogues that go on differently after one opening, are on one side; a dialogue of two turns and a longer one
    that begins with it may not be.
    """
    opening = dialogue.turns[:-1][:2]
    text = "\n".join(" ".join(turn.casefold().split()) for turn in opening)
    return crc32(text.encode()) % _BUCKETS < share * _BUCKETS


def digests(files: Sequence[str | Path]) -> list[dict[str, str]]:
    """Return the `name` of each file and the `sha256` of what it holds, its gzip undone (16 digits).

    Raises:
        UsageError: one of them is standard input, which can be read only once.
        MissingAsset: one cannot be read.
    """
    if STDIN in map(str, files):
        raise UsageError("-: a corpus is read several times, standard input only once. Save it as a file")
    corpora = []
    for file in files:
        total = hashlib.sha256()
        with open_bytes(file) as stream:
            for block in iter(partial(stream.read, _BLOCK), b""):
                total.update(block)
        corpora.append({"name": Path(file).name, "sha256": total.hexdigest()[:16]})
    return corpora


@dataclass(frozen=True)
class PreparedCorpus:
    """The vocabulary and the tokens of a run, train and held out; of a MrRNN also those of the coarse sequences."""

    vocabulary: Vocabulary
    stores: Stores
    coarse: Vocabulary | None = None
    coarse_stores: Stores | None = None


def prepared_corpus(recipe: OnDialogues, source: Source, run: Path) -> PreparedCorpus:
    """Return vocabulary and tokens in the run's folder, made unless they are there.

    Raises:
        DataError: a bad dialogue, too few of them, or no vocabulary in the model to start from.
        UsageError: tokens of another vocabulary are in the folder.
    """
    vocabulary, stores = _numbered(recipe, source, run, VOCABULARY, recipe.text.vocabulary)
    if not all(store.pieces for store in stores):
        counts = f"{stores[0].pieces} dialogues to train on, {stores[1].pieces} to validate on"
        raise DataError(counts, f"Give a larger corpus, and remove {run}")
    if not isinstance(recipe, MrrnnRecipe):
        return PreparedCorpus(vocabulary, stores)
    coarse, coarse_stores = _numbered(recipe, source, run, COARSE, recipe.model.coarse_vocabulary)
    return PreparedCorpus(vocabulary, stores, coarse, coarse_stores)


def _numbered(recipe: OnDialogues, source: Source, run: Path, name: str, size: int) -> tuple[Vocabulary, Stores]:
    """Return a vocabulary and the tokens of both parts, of turns or of their coarse sequences."""
    is_coarse, start = name == COARSE, source.start
    quiet = replace(source, on_error=_pass_over, log=silent)

    def parts(reading: Source) -> list[Iterator[Dialogue]]:
        return [map(_coarse, part) if is_coarse else part for part in reading.split(recipe.text.held_out)]

    reports = quiet if is_coarse else source  # bad dialogues are reported in the first pass over the corpus alone
    if start is not None and (name in start.files or not is_coarse):
        with in_folder(source.start_folder):
            vocabulary = Vocabulary.from_json(text_of(start.files, name))
        dialogues = parts(reports)
    else:
        texts = (turn for dialogue in parts(reports)[0] for turn in dialogue.turns)
        vocabulary, dialogues = run_vocabulary(run / name, texts, size, source.log), parts(quiet)
    prefix = "coarse_" if is_coarse else ""
    train, held_out = (
        _store(run / f"{prefix}{part}", vocabulary, dialogues[number], recipe, source.log)
        for number, part in enumerate(("train", "held_out"))
    )
    return vocabulary, (train, held_out)


def run_vocabulary(file: Path, texts: Iterable[str], size: int, log: Log) -> Vocabulary:
    """Return the vocabulary of a run: the one in the file, or a new one.

    Raises:
        DataError: it is damaged, or there is no text.
    """
    if not file.is_file():
        log("training the byte-pair encoding")
        trained = train_bpe(texts, size)
        with atomic_file(file) as partial:  # the run may be killed at any moment
            partial.write_text(trained.to_json(), encoding="utf-8")
    try:
        return Vocabulary.from_json(file.read_text(encoding="utf-8", errors="replace"))
    except DataError as error:
        remedy = "Remove it and call again; it is made again from the corpus"
        raise DataError("this vocabulary is damaged", remedy, where=str(file)) from error


def _store(
    folder: Path, vocabulary: Vocabulary, dialogues: Iterable[Dialogue], recipe: OnDialogues, log: Log
) -> TokenStore:
    """Return the tokens of one part, written unless they are there."""
    if not folder.is_dir():
        log(f"writing the tokens of the {folder.name.replace('_', '-')} part")
        counts = write_tokens(dialogues, vocabulary, folder, recipe.text.longest_turn, recipe.text.most_turns)
        log(
            f"{counts.dialogues:,} dialogues, {counts.tokens:,} tokens; {counts.cut_turns:,} turns cut, "
            f"{counts.unknown:,} tokens unknown"
        )
    store = TokenStore(folder)
    if store.vocabulary != vocabulary.digest:
        remedy = f"Remove {folder.parent}, or choose another -o"
        raise UsageError(f"{folder}: its tokens belong to another vocabulary. {remedy}")
    return store


def _coarse(dialogue: Dialogue) -> Dialogue:
    """Return a dialogue with the coarse sequence of each turn in its place."""
    return replace(dialogue, turns=tuple(map(coarse_text, dialogue.turns)))


def _pass_over(_: DataError) -> None:
    """Do nothing about a bad dialogue that was reported before."""
