"""Recipes: what to train and how, TOML files with one schema for each kind of model.

An unknown key, a missing one, a wrong type or a value out of range is an error that names file, key and what is
expected. Lines below give the meaning of each key and its default.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from rejoinder.errors import DataError, MissingAsset, shown
from rejoinder.models.sizes import (
    Count,
    DialogueShape,
    DualEncoderShape,
    LanguageShape,
    MrrnnShape,
    Natural,
    SelectorShape,
    Share,
    StudentShape,
    Table,
    TweetShape,
)

HeldOut = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
_REMEDY = "Correct the recipe"
_SEVERAL_DEVICES = (
    "Start one process for each device instead: torchrun --nproc-per-node 2 -m rejoinder pretrain RECIPE CORPUS -o OUT"
)


class Run(Table):
    """How training goes."""

    updates: Annotated[int, Field(gt=0)]  # most updates of the weights
    stretch: Count = 200  # updates between two validations; a checkpoint is written after each
    patience: Count = 5  # validations without a lower loss before the run stops
    learning_rate: Positive = 1e-3
    schedule: Literal["constant", "linear"] = "constant"  # linear: rises over 200 updates, then falls to a fiftieth
    clip: Positive = 1.0  # largest global norm of the gradients
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    precision: Literal["32-true", "bf16-mixed"] = "32-true"
    seed: Seed = 0  # decides data order, dropped words and noise


class Text(Table):
    """How dialogues become tokens."""

    vocabulary: Annotated[Count, Field(ge=32)] = 4000  # pieces of the byte-pair encoding
    longest_turn: Annotated[Count, Field(ge=2)] = 60  # tokens kept of a turn, its end included
    most_turns: Annotated[Count, Field(ge=3)] = 12  # longer dialogues become several pieces
    held_out: HeldOut = 0.02  # share of the dialogues that is for validation


class Candidates(Table):
    """What a retrieval model chooses from: pairs of context and response in dialogues that are not held out."""

    most: Count = 100_000  # pairs; a sample where the corpus has more
    seed: Seed = 0  # decides the sample


class Recipe(Table):
    """All that decides what comes out of a corpus."""

    kind: str

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as JSON values, by the keys of models' folders, without candidates: they train nothing."""
        keys = {"model": "sizes", "run": "options"}
        return {keys.get(key, key): value for key, value in self.model_dump(exclude={"candidates"}).items()}


class OnDialogues(Recipe):
    """A network that reads dialogues."""

    text: Text = Text()
    run: Run
    tokens_per_batch: Count = 4000  # most tokens of a batch, padding included


class DialogueRecipe(OnDialogues):
    """HRED, VHRED or Seq2Seq."""

    kind: Literal["hred", "vhred", "seq2seq"]
    model: DialogueShape = DialogueShape()
    annealing: Natural = 0  # updates over which the KL term gains its full weight

    @model_validator(mode="after")
    def _shape_fits_kind(self) -> DialogueRecipe:
        """Raise an error if the shape is that of another kind."""
        model, kind = self.model, self.kind
        wrong = {
            "latent": (kind == "vhred") != bool(model.latent) and "0 unless kind is vhred, and more than 0 there",
            "context": (kind == "seq2seq") == bool(model.context) and "0 in a seq2seq, and more than 0 elsewhere",
            "bag_of_words": model.bag_of_words and not model.latent and "false unless kind is vhred",
        }
        for key, expected in wrong.items():
            if expected:
                about = {"keys": ["model", key], "expected": expected, "value": getattr(model, key)}
                raise PydanticCustomError("shape", "Input should be {expected}", about)
        return self


class LanguageRecipe(OnDialogues):
    """A language model."""

    kind: Literal["lm"]
    model: LanguageShape = LanguageShape()


class MrrnnRecipe(OnDialogues):
    """A MrRNN."""

    kind: Literal["mrrnn"]
    model: MrrnnShape


class DualEncoderRecipe(OnDialogues):
    """A Dual Encoder."""

    kind: Literal["dual-encoder"]
    model: DualEncoderShape = DualEncoderShape()
    candidates: Candidates = Candidates()


class StudentText(Table):
    """Which texts a student learns, and how it reads them."""

    vocabulary: Annotated[Count, Field(ge=32)] = 12_000
    longest: Count = 128  # pieces read of a text in training
    fewest_words: Natural = 2  # turns of fewer words are left out,
    most_words: Count = 60  # and turns of more
    contexts: NotNegative = 0.2  # most contexts of three turns, joined by spaces, for each turn
    aside: Count = 2_000  # texts that are for validation
    seed: Seed = 1  # decides the contexts, and the order


class StudentRecipe(Recipe):
    """A student, which learns the vectors of its teacher."""

    kind: Literal["student"]
    text: StudentText = StudentText()
    model: StudentShape = StudentShape()
    run: Run
    pieces_per_batch: Count = 3072
    alone: Natural = 0  # the first updates, in which the table of pieces learns alone
    threads: Natural = 0  # of torch; 0 leaves them to it


class SelectorText(Table):
    """Which of the dialogues a selector is trained on, and what it keeps of them."""

    held_out: HeldOut = 0.02
    common: Count = 300  # replies, the most frequent ones, whose vectors are kept for comparison


class SelectorRecipe(Recipe):
    """A selector, over the vectors of an encoder."""

    kind: Literal["selector"]
    text: SelectorText = SelectorText()
    model: SelectorShape = SelectorShape()
    run: Run
    batch: Count = 1024  # contexts of a batch; each is to find its reply among those of all others
    negatives: Count = 2  # further wrong replies, from its own dialogue
    threads: Natural = 0


class TweetText(Table):
    """How tweets become examples."""

    characters: Count = 300  # known characters, the most frequent ones
    least: Count = 20  # tweets that a hashtag is on, or it is not learned
    most: Count = 6000  # hashtags, as in the release
    longest: Count = 145  # characters kept of a cleaned tweet, as in the release
    validation: HeldOut = 0.05
    test: Share = 0.05  # share that is left out, to measure the result on


class TweetRecipe(Recipe):
    """A tweet2vec."""

    kind: Literal["tweet2vec"]
    text: TweetText = TweetText()
    model: TweetShape = TweetShape()
    run: Run
    batch: Count = 64  # tweets, as in the release
    l2: NotNegative = 0.0  # weight of the sum of the squared weights in the loss (1e-4 in the release)


class RetrievalText(Table):
    """Which dialogues give no candidates."""

    held_out: HeldOut = 0.02  # share; the same dialogues as in `Text`


class RetrievalRecipe(Recipe):
    """A retrieval model without a network."""

    text: RetrievalText = RetrievalText()
    candidates: Candidates = Candidates()

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as JSON values, by the keys of models' folders."""
        return {**self.model_dump(exclude={"text"}), "held_out": self.text.held_out}


class RandomRecipe(RetrievalRecipe):
    """A response drawn at random."""

    kind: Literal["random"]


class TfidfRecipe(RetrievalRecipe):
    """C-TF-IDF or R-TF-IDF."""

    kind: Literal["c-tfidf", "r-tfidf"]
    smooth_idf: bool = False  # words weighed as by scikit-learn, and by the program of Lowe et al. 2015


class Counts(Table):
    """How much is kept of what is counted."""

    vocabulary: Annotated[Count, Field(le=2**16 - 3)] = 30_000  # words; two tokens and a start symbol come on top
    longest_turn: Count = 60  # words read of a turn
    bigrams: Count = 2  # how often a pair of words has to occur to be kept
    trigrams: Count = 2  # how often three words in a row have to occur to be kept
    replies: Count = 3  # how often a whole turn has to occur to be a usual reply


class PhraseRecipe(Recipe):
    """How usual words and phrases are."""

    kind: Literal["phrases"]
    counts: Counts = Counts()


class MoodRecipe(Recipe):
    """Two linear probes over the vectors of an encoder."""

    kind: Literal["mood"]
    held_out: HeldOut = 0.1  # share of the dialogues that they are measured on
    penalty: Positive = 1.0  # weight of the L2 penalty, which is added to the loss of all pairs


_SCHEMAS: tuple[type[Recipe], ...] = (
    DialogueRecipe,
    LanguageRecipe,
    MrrnnRecipe,
    DualEncoderRecipe,
    StudentRecipe,
    SelectorRecipe,
    TweetRecipe,
    RandomRecipe,
    TfidfRecipe,
    PhraseRecipe,
    MoodRecipe,
)
SCHEMAS = {kind: schema for schema in _SCHEMAS for kind in get_args(schema.model_fields["kind"].annotation)}
"""The schema of each kind."""


def read_recipe(path: str | Path) -> Recipe:
    """Return the recipe in a TOML file.

    Raises:
        MissingAsset: there is no such file.
        DataError: it is not TOML, or a key or a value is wrong.
    """
    file = Path(path)
    if not file.is_file():
        raise MissingAsset(f"{path}: no such recipe. The project has some under recipes/")
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"not TOML ({error})", _REMEDY, where=str(path)) from error
    schema = _schema_of(table.get("kind"), str(path))
    try:
        return schema.model_validate(table)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        field = ".".join(map(str, (*wrong["loc"], *wrong.get("ctx", {}).get("keys", ()))))
        raise DataError(*_explained(schema, wrong), where=str(path), field=field) from error


def _schema_of(kind: object, where: str) -> type[Recipe]:
    """Return the schema of the kind that a recipe names. Raises `DataError`."""
    if kind is None:
        raise DataError("missing", "Add it", where=where, field="kind")
    if not isinstance(kind, str) or kind not in SCHEMAS:
        raise DataError(f"is {shown(kind)}", _near(str(kind), SCHEMAS), where=where, field="kind")
    return SCHEMAS[kind]


def _explained(schema: type[Table], wrong: Any) -> tuple[str, str]:
    """Return problem and remedy of an error of pydantic."""
    *tables, key = wrong["loc"] or [""]
    if wrong["type"] == "missing":
        return "missing", "Add it"
    if wrong["type"] == "extra_forbidden":
        for name in tables:
            schema = cast(type[Table], schema.model_fields[name].annotation)
        return "unknown", _SEVERAL_DEVICES if key == "devices" else _near(key, schema.model_fields)
    expected = "Input should be a table" if wrong["type"] == "model_type" else wrong["msg"]
    value = wrong.get("ctx", {}).get("value", wrong["input"])
    return f"{expected}, found {shown(value)}", _REMEDY


def _near(word: str, known: Iterable[str]) -> str:
    """Return a question after the known word that is most like `word`, or all of them."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"Did you mean {near[0]}?" if near else f"Known: {', '.join(sorted(known))}"
