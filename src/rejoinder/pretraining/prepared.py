"""A corpus made ready for a run: vocabularies and tokens, in the run's folder, made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rejoinder.data.dialogues import Dialogue
from rejoinder.data.files import OnError
from rejoinder.data.folders import Parts, in_folder
from rejoinder.data.outputs import atomic_file
from rejoinder.data.read import silent
from rejoinder.errors import DataError, UsageError
from rejoinder.models.coarse import coarse_text
from rejoinder.models.vocabulary import Vocabulary, train_bpe
from rejoinder.pretraining.corpora import part_of
from rejoinder.pretraining.recipe import MrrnnRecipe, OnDialogues
from rejoinder.pretraining.tokens import TokenStore, write_tokens

VOCABULARY, COARSE = "vocabulary.json", "coarse.vocabulary.json"
Stores = tuple[TokenStore, TokenStore]


@dataclass(frozen=True)
class Prepared:
    """What a run trains on.

    Attributes:
        vocabulary: the pieces.
        stores: tokens to train on and to validate on.
        coarse: the pieces of the coarse sequences that a MrRNN also reads, or None.
        coarse_stores: the tokens of these.
    """

    vocabulary: Vocabulary
    stores: Stores
    coarse: Vocabulary | None = None
    coarse_stores: Stores | None = None

    @property
    def texts(self) -> dict[str, str]:
        """The vocabularies as files of the model."""
        found = {VOCABULARY: self.vocabulary.to_json()}
        return found if self.coarse is None else {**found, COARSE: self.coarse.to_json()}


@dataclass(frozen=True)
class Corpus:
    """Dialogues in files, and the folder of the run that reads them.

    Attributes:
        recipe: what is trained and how.
        files: see `read_dialogues`.
        keep_judged: also dialogues that occur in public sets of human judgements.
        run: the folder.
        say: takes one line about each step.
        start: the folder of the model that it starts from, for messages.
    """

    recipe: OnDialogues
    files: Sequence[str | Path]
    keep_judged: bool
    run: Path
    say: Callable[[str], None]
    start: str | Path = ""

    def prepared(self, first: Parts | None, on_error: OnError) -> Prepared:
        """Vocabularies and tokens, those of a model to start from where there is a `first` one.

        Raises:
            DataError: a bad dialogue, too few of them, or no vocabulary in the first model.
            UsageError: tokens of another vocabulary stand in the folder.
        """
        if first is None:
            vocabulary = self._vocabulary(VOCABULARY, self.recipe.text.vocabulary, self._dialogues(on_error))
            on_error = _pass_over  # what is bad was told when the vocabulary was trained
        else:
            if VOCABULARY not in first.files:
                remedy = "Name the folder of a pre-trained model"
                raise DataError(f"no {VOCABULARY} in it", remedy, where=str(self.start))
            with in_folder(self.start):
                vocabulary = Vocabulary.from_json(first.files[VOCABULARY])
        stores = (
            self._tokens("train", vocabulary, self._dialogues(on_error)),
            self._tokens("held_out", vocabulary, self._dialogues(_pass_over, held_out=True)),
        )
        if not all(store.pieces for store in stores):
            found = f"{stores[0].pieces} dialogues to train on, {stores[1].pieces} to validate on"
            raise DataError(found, f"Give a larger corpus, and remove {self.run}")
        if not isinstance(self.recipe, MrrnnRecipe):
            return Prepared(vocabulary, stores)
        return self._with_coarse(Prepared(vocabulary, stores), self.recipe.model.coarse_vocabulary, first)

    def _with_coarse(self, prepared: Prepared, size: int, first: Parts | None) -> Prepared:
        """With the coarse sequence of each turn beside the turn."""

        def sequences(*, held_out: bool = False) -> Iterator[Dialogue]:
            return map(_coarse, self._dialogues(_pass_over, held_out=held_out))

        if first is not None and COARSE in first.files:
            coarse = Vocabulary.from_json(first.files[COARSE])
        else:
            coarse = self._vocabulary(COARSE, size, sequences())
        train = self._tokens("coarse_train", coarse, sequences())
        held_out = self._tokens("coarse_held_out", coarse, sequences(held_out=True))
        return replace(prepared, coarse=coarse, coarse_stores=(train, held_out))

    def _dialogues(self, bad: OnError, *, held_out: bool = False) -> Iterator[Dialogue]:
        """The dialogues of one part."""
        share = self.recipe.text.held_out
        say = silent if bad is _pass_over else self.say
        return part_of(self.files, share, held_out=held_out, keep_judged=self.keep_judged, on_error=bad, say=say)

    def _vocabulary(self, name: str, size: int, dialogues: Iterator[Dialogue]) -> Vocabulary:
        """The vocabulary of the run: the one that is there, or a new one."""
        file = self.run / name
        if not file.is_file():
            self.say("training the byte-pair encoding")
            trained = train_bpe((turn for dialogue in dialogues for turn in dialogue.turns), size)
            with atomic_file(file) as partial:  # the run may be killed at any moment
                partial.write_text(trained.to_json(), encoding="utf-8")
        return vocabulary_in(file)

    def _tokens(self, name: str, vocabulary: Vocabulary, dialogues: Iterator[Dialogue]) -> TokenStore:
        """The tokens of one part, written unless they are there."""
        folder, text = self.run / name, self.recipe.text
        if not folder.is_dir():
            self.say(f"writing the tokens of the {name.replace('_', '-')} part")
            limits = {"longest_turn": text.longest_turn, "most_turns": text.most_turns}
            counts = write_tokens(dialogues, vocabulary, folder, **limits)
            self.say(
                f"{counts.dialogues:,} dialogues, {counts.tokens:,} tokens; {counts.cut_turns:,} turns cut, "
                f"{counts.unknown:,} tokens unknown"
            )
        store = TokenStore(folder)
        if store.vocabulary != vocabulary.digest:
            raise UsageError(f"{self.run}: its tokens belong to another vocabulary. Remove it, or choose another -o")
        return store


def vocabulary_in(file: Path) -> Vocabulary:
    """The vocabulary that a run has written.

    Raises:
        DataError: it is damaged.
    """
    try:
        return Vocabulary.from_json(file.read_text(encoding="utf-8", errors="replace"))
    except DataError as error:
        remedy = "Remove it and call again; it is made again from the corpus"
        raise DataError("this vocabulary is damaged", remedy, where=str(file)) from error


def _coarse(dialogue: Dialogue) -> Dialogue:
    """The same dialogue with the coarse sequence of each turn in its place."""
    return replace(dialogue, turns=tuple(map(coarse_text, dialogue.turns)))


def _pass_over(_: DataError) -> None:
    """Meet a bad dialogue that was told of before."""
