"""Recipes: what is to be pre-trained and how, as a TOML file that a person can read."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rejoinder.errors import DataError, MissingAsset
from rejoinder.models import MODELS
from rejoinder.models.bpe import END_ID, UNK_ID
from rejoinder.models.convolving import StudentSizes
from rejoinder.models.selecting import SelectorSizes
from rejoinder.pretraining.recipe_keys import REMEDY, Place
from rejoinder.pretraining.statistics import Counts, MoodRecipe, PhraseRecipe
from rejoinder.pretraining.taught import StudentText
from rejoinder.pretraining.tweet_corpus import TweetText

if TYPE_CHECKING:  # modules that load torch, which the recipes of TF-IDF do not need
    from rejoinder.models.networks.dialogue import Sizes
    from rejoinder.models.networks.dual import DualSizes
    from rejoinder.models.networks.language import LanguageSizes
    from rejoinder.models.networks.multiresolution import MultiresolutionSizes
    from rejoinder.models.networks.tweet import TweetSizes
    from rejoinder.pretraining.fit import RunOptions

    AnySizes = Sizes | LanguageSizes | MultiresolutionSizes | DualSizes

TWEET2VEC = "tweet2vec"
STUDENT = "student"
SELECTOR = "selector"
DUAL_ENCODER = "dual-encoder"
RETRIEVAL = ("random", "c-tfidf", "r-tfidf")
_SIZES = {
    "lm": "networks.language.LanguageSizes",
    **dict.fromkeys(("seq2seq", "hred", "vhred"), "networks.dialogue.Sizes"),
    "mrrnn": "networks.multiresolution.MultiresolutionSizes",
    "dual-encoder": "networks.dual.DualSizes",
    "tweet2vec": "networks.tweet.TweetSizes",
}
"""The classes of sizes that need torch, under `rejoinder.models`."""
PRETRAINED = tuple(sorted((name for name in MODELS if MODELS[name].about), key=lambda name: not MODELS[name].trained))
# What no recipe sets, where the sizes have it: ids of the byte-pair encoding, and what a MrRNN alone gives its decoder.
_SET = {"unknown": UNK_ID, "end": END_ID, "beside": 0}


@dataclass(frozen=True)
class Text:
    """How the corpus becomes tokens.

    Attributes:
        vocabulary: pieces of the byte-pair encoding.
        longest_turn: tokens kept of a turn.
        most_turns: turns of a piece; longer dialogues become several.
        held_out: share of the dialogues that is for validation.
    """

    vocabulary: int = 4000
    longest_turn: int = 60
    most_turns: int = 12
    held_out: float = 0.02


@dataclass(frozen=True)
class Candidates:
    """What a retrieval model chooses from: pairs of context and response in the dialogues that are not held out.

    Attributes:
        most: pairs; of a corpus that has more, a sample.
        seed: decides the sample.
    """

    most: int = 100_000
    seed: int = 0


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what comes out of a corpus.

    Attributes:
        kind: what is trained.
        text: see `Text`.
        sizes: shape of the model, its vocabulary and unknown piece aside.
        options: see `RunOptions`.
        tokens_per_batch: about how many tokens a batch holds.
        annealing: updates over which the KL term gains its full weight.
        candidates: what a dual-encoder chooses from when it is trained.
    """

    kind: str
    text: Text
    sizes: AnySizes
    options: RunOptions
    tokens_per_batch: int = 4000
    annealing: int = 0
    candidates: Candidates = field(default_factory=Candidates)

    def to_dict(self) -> dict[str, Any]:
        """The recipe as JSON values, without the candidates, on which no training depends."""
        values = asdict(self)
        del values["candidates"]
        return values


@dataclass(frozen=True)
class TweetRecipe:
    """Everything that decides what tweet2vec comes out of a corpus.

    Attributes:
        text: see `TweetText`.
        sizes: shape of the network; how many characters and hashtags it has, the corpus decides.
        options: see `RunOptions`.
        batch: tweets of a batch (64 in the release).
        l2: weight of the sum of the squared weights in the loss (1e-4 in the release).
        kind: `tweet2vec`.
    """

    text: TweetText
    sizes: TweetSizes
    options: RunOptions
    batch: int = 64
    l2: float = 0.0
    kind: str = TWEET2VEC

    def to_dict(self) -> dict[str, Any]:
        """The recipe as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class StudentRecipe:
    """Everything that decides what student comes out of a teacher's vectors.

    Attributes:
        text: see `StudentText`.
        sizes: shape of the network; how wide its vectors are, the teacher decides.
        options: see `RunOptions`; the step size always rises and falls.
        pieces_per_batch: about how many pieces a batch holds.
        alone: updates, the first of a run, in which the table of pieces learns alone.
        threads: of torch; 0 leaves them to it.
        kind: `student`.
    """

    text: StudentText
    sizes: StudentSizes
    options: RunOptions
    pieces_per_batch: int = 3072
    alone: int = 0
    threads: int = 0
    kind: str = STUDENT

    def to_dict(self) -> dict[str, Any]:
        """The recipe as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class SelectorText:
    """Which of the dialogues a selector is trained on, and what it keeps of them.

    Attributes:
        held_out: share that is for validation; as in `Text`, and the same dialogues.
        common: replies, the most frequent ones, whose vectors are kept for comparison.
    """

    held_out: float = Text.held_out
    common: int = 300


@dataclass(frozen=True)
class SelectorRecipe:
    """Everything that decides what selector comes out of dialogues and an encoder.

    Attributes:
        text: see `SelectorText`.
        sizes: shape of the networks; how wide the encoder's vectors are, that decides.
        options: see `RunOptions`.
        batch: contexts of a batch, each of whose replies is told from all others.
        negatives: other turns of its own dialogue that a reply is told from.
        threads: of torch; 0 leaves them to it.
        kind: `selector`.
    """

    text: SelectorText
    sizes: SelectorSizes
    options: RunOptions
    batch: int = 1024
    negatives: int = 2
    threads: int = 0
    kind: str = SELECTOR

    def to_dict(self) -> dict[str, Any]:
        """The recipe as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class RetrievalRecipe:
    """Everything that decides what retrieval model without a network comes out of a corpus.

    Attributes:
        kind: a response at `random`; that of the most similar context (`c-tfidf`); the most similar one (`r-tfidf`).
        held_out: share of the dialogues that gives no candidates; as in `Text`, and the same dialogues.
        candidates: see `Candidates`.
        smooth_idf: weighs words as scikit-learn does, and with it the program released with Lowe et al. 2015,
            instead of as Liu et al. 2016 write.
    """

    kind: str
    held_out: float = Text.held_out
    candidates: Candidates = field(default_factory=Candidates)
    smooth_idf: bool = False


AnyRecipe = Recipe | TweetRecipe | StudentRecipe | SelectorRecipe | RetrievalRecipe | PhraseRecipe | MoodRecipe


def read_recipe(path: str | Path) -> AnyRecipe:
    """The recipe in a TOML file.

    It has the tables `text`, `model` and `run`, for retrieval models `candidates`, for phrases `counts` alone, and the
    keys of `Recipe`, `TweetRecipe`, `StudentRecipe`, `SelectorRecipe`, `RetrievalRecipe` or `MoodRecipe`.

    Raises:
        MissingAsset: there is no such file.
        DataError: it is not TOML, or a key or a value is not known.
    """
    file = Path(path)
    if not file.is_file():
        raise MissingAsset(f"{path}: no such recipe. The project has some under recipes/")
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"not TOML ({error})", REMEDY, where=str(path)) from error
    at = Place(str(path))
    if table.get("kind") == TWEET2VEC:
        return _tweet_recipe(table, at)
    if table.get("kind") == STUDENT:
        return _student_recipe(table, at)
    if table.get("kind") == SELECTOR:
        return _selector_recipe(table, at)
    if table.get("kind") in RETRIEVAL:
        return _retrieval_recipe(table, at)
    if table.get("kind") == PhraseRecipe.kind:
        at.check(table, {"kind": (PhraseRecipe.kind,), "counts": dict}, set())
        return PhraseRecipe(at.made(Counts, table.get("counts", {}), "counts"))
    if table.get("kind") == MoodRecipe.kind:
        return _mood_recipe(table, at)
    plain = {"kind": PRETRAINED, "tokens_per_batch": int, "annealing": int}
    tables = dict.fromkeys(("text", "model", "run", *(["candidates"] * (table.get("kind") == DUAL_ENCODER))), dict)
    at.check(table, {**plain, **tables}, needed={"kind", "run"})
    made = {name: table[name] for name in plain if name in table}
    text: Text = at.made(Text, table.get("text", {}), "text")
    model = table.get("model", {})
    options = _options(table["run"], at)
    place = _SIZES[table["kind"]]
    shape = _network(place)
    given = {name: value for name, value in _SET.items() if name in {field.name for field in fields(shape)}}
    sizes = at.made(shape, model, "model", vocabulary=text.vocabulary, **given)
    if place == "networks.dialogue.Sizes":
        _check_kind(table["kind"], sizes, at)
    candidates = at.made(Candidates, table.get("candidates", {}), "candidates")
    return Recipe(text=text, sizes=sizes, options=options, candidates=candidates, **made)


def _network(place: str) -> type[Any]:
    """The class of a network's sizes, named `module.Class`."""
    module, _, name = place.rpartition(".")
    found: type[Any] = getattr(import_module(f"rejoinder.models.{module}"), name)
    return found


def _options(table: Mapping[str, Any], at: Place) -> RunOptions:
    """How a run goes, from its table."""
    from rejoinder.pretraining.fit import RunOptions

    options: RunOptions = at.made(RunOptions, table, "run")
    return options


def _check_kind(kind: str, sizes: Sizes, at: Place) -> None:
    """Raise where the sizes are those of another kind."""
    if (kind == "vhred") != bool(sizes.latent):
        remedy = "A vhred has a latent variable, the others have none"
        at.refuse(f"is {sizes.latent} in a {kind}", remedy, "model.latent")
    if (kind == "seq2seq") == bool(sizes.context):
        remedy = "A seq2seq reads the last turn alone and has 0, the others have more"
        at.refuse(f"is {sizes.context} in a {kind}", remedy, "model.context")
    if sizes.bag_of_words and not sizes.latent:
        at.refuse(f"is true in a {kind}", "It is for the latent variable of a vhred", "model.bag_of_words")


def _tweet_recipe(table: Mapping[str, Any], at: Place) -> TweetRecipe:
    """The recipe of a tweet2vec in a table."""
    plain = {"kind": (TWEET2VEC,), "batch": int, "l2": float}
    at.check(table, {**plain, "text": dict, "model": dict, "run": dict}, needed={"run"})
    return TweetRecipe(
        at.made(TweetText, table.get("text", {}), "text"),
        at.made(_network(_SIZES[TWEET2VEC]), table.get("model", {}), "model", symbols=0, hashtags=0),
        _options(table["run"], at),
        **{name: table[name] for name in plain if name in table},
    )


def _student_recipe(table: Mapping[str, Any], at: Place) -> StudentRecipe:
    """The recipe of a student in a table."""
    plain = {"kind": (STUDENT,), "pieces_per_batch": int, "alone": int, "threads": int}
    at.check(table, {**plain, "text": dict, "model": dict, "run": dict}, needed={"run"})
    options = _on_one_device(table["run"], at, "student")
    text: StudentText = at.made(StudentText, table.get("text", {}), "text")
    return StudentRecipe(
        text,
        at.made(StudentSizes, table.get("model", {}), "model", vocabulary=text.vocabulary, output=0),
        options,
        **{name: table[name] for name in plain if name in table},
    )


def _selector_recipe(table: Mapping[str, Any], at: Place) -> SelectorRecipe:
    """The recipe of a selector in a table."""
    plain = {"kind": (SELECTOR,), "batch": int, "negatives": int, "threads": int}
    at.check(table, {**plain, "text": dict, "model": dict, "run": dict}, needed={"run"})
    return SelectorRecipe(
        at.made(SelectorText, table.get("text", {}), "text"),
        at.made(SelectorSizes, table.get("model", {}), "model", width=0),
        _on_one_device(table["run"], at, "selector"),
        **{name: table[name] for name in plain if name in table},
    )


def _mood_recipe(table: Mapping[str, Any], at: Place) -> MoodRecipe:
    """The recipe of moods in a table."""
    at.check(table, {"kind": (MoodRecipe.kind,), "held_out": float, "penalty": float}, set())
    return MoodRecipe(**table)


def _on_one_device(table: Mapping[str, Any], at: Place, kind: str) -> RunOptions:
    """How a run goes that has one process."""
    options = _options(table, at)
    if options.devices > 1:
        at.refuse(f"is {options.devices}", f"A {kind} is trained on one device", "run.devices")
    return options


def _retrieval_recipe(table: Mapping[str, Any], at: Place) -> RetrievalRecipe:
    """The recipe of a retrieval model without a network in a table."""
    plain: dict[str, Any] = {"kind": RETRIEVAL} | ({} if table["kind"] == "random" else {"smooth_idf": bool})
    at.check(table, {**plain, "text": dict, "candidates": dict}, needed={"kind"})
    text = table.get("text", {})
    at.check(text, {"held_out": float}, set(), "text.")
    candidates = at.made(Candidates, table.get("candidates", {}), "candidates")
    return RetrievalRecipe(candidates=candidates, **text, **{name: table[name] for name in plain if name in table})
