"""Recipes: what is to be pre-trained and how, as a TOML file that a person can read."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Set
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from rejoinder.errors import DataError, MissingAsset
from rejoinder.nn.dan import DanSizes
from rejoinder.nn.dialogue import Sizes
from rejoinder.nn.tweet import TweetSizes
from rejoinder.text.bpe import UNK_ID
from rejoinder.training.fit import RunOptions
from rejoinder.training.tweet_corpus import TweetText

Kind = Literal["hred", "vhred", "dan"]
TweetKind = Literal["tweet2vec"]
TWEET2VEC: TweetKind = "tweet2vec"
_REMEDY = "Correct the recipe"
_SHARES = frozenset({"dropout", "held_out", "test", "validation", "word_drop"})
_MAY_BE_ZERO = frozenset({"annealing", "dropout", "l2", "latent", "seed", "test", "word_drop"})


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
class Recipe:
    """Everything that decides what comes out of a corpus.

    Attributes:
        kind: `hred`, `vhred` or `dan`.
        text: see `Text`.
        sizes: shape of the model, its vocabulary and unknown piece aside.
        options: see `RunOptions`.
        tokens_per_batch: about how many tokens a batch holds.
        annealing: updates over which the KL term gains its full weight.
    """

    kind: Kind
    text: Text
    sizes: Sizes | DanSizes
    options: RunOptions
    tokens_per_batch: int = 4000
    annealing: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The recipe as JSON values."""
        return asdict(self)


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
    kind: TweetKind = TWEET2VEC

    def to_dict(self) -> dict[str, Any]:
        """The recipe as JSON values."""
        return asdict(self)


def read_recipe(path: str | Path) -> Recipe | TweetRecipe:
    """The recipe in a TOML file with the tables `text`, `model` and `run` and the keys of `Recipe` or `TweetRecipe`.

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
        raise DataError(f"not TOML ({error})", _REMEDY, where=str(path)) from error
    at = _Place(str(path))
    if table.get("kind") == TWEET2VEC:
        return _tweet_recipe(table, at)
    plain = {"kind": Literal[Kind, TweetKind], "tokens_per_batch": int, "annealing": int}
    at.check(table, {**plain, "text": dict, "model": dict, "run": dict}, needed={"kind", "run"})
    made = {name: table[name] for name in plain if name in table}
    text: Text = at.made(Text, table.get("text", {}), "text")
    model = table.get("model", {})
    options = at.made(RunOptions, table["run"], "run")
    if table["kind"] == "dan":
        return Recipe(
            text=text, sizes=at.made(DanSizes, model, "model", vocabulary=text.vocabulary), options=options, **made
        )
    latent = model.get("latent", 0)
    sizes: Sizes = at.made(Sizes, model, "model", vocabulary=text.vocabulary, unknown=UNK_ID)
    if (table["kind"] == "vhred") != bool(latent):
        at.refuse(
            f"is {latent} in a {table['kind']}", "A vhred has a latent variable, an hred has none", "model.latent"
        )
    if sizes.bag_of_words and not latent:
        at.refuse(f"is true in a {table['kind']}", "It is for the latent variable of a vhred", "model.bag_of_words")
    return Recipe(text=text, sizes=sizes, options=options, **made)


def _tweet_recipe(table: Mapping[str, Any], at: _Place) -> TweetRecipe:
    """The recipe of a tweet2vec in a table."""
    plain = {"kind": TweetKind, "batch": int, "l2": float}
    at.check(table, {**plain, "text": dict, "model": dict, "run": dict}, needed={"run"})
    return TweetRecipe(
        at.made(TweetText, table.get("text", {}), "text"),
        at.made(TweetSizes, table.get("model", {}), "model", symbols=0, hashtags=0),
        at.made(RunOptions, table["run"], "run"),
        **{name: table[name] for name in plain if name in table},
    )


@dataclass(frozen=True)
class _Place:
    """The file whose values are checked, for messages."""

    where: str

    def refuse(self, problem: str, remedy: str, field: str) -> NoReturn:
        """Raise the error of a key."""
        raise DataError(problem, remedy, where=self.where, field=field)

    def made(self, made: type[Any], table: Mapping[str, Any], name: str, **given: Any) -> Any:
        """The dataclass `made` from a table of the recipe and from values that no recipe sets."""
        own = [field for field in fields(made) if field.name not in given]
        kinds = get_type_hints(made)
        needed = {field.name for field in own if field.default is MISSING}
        self.check(table, {field.name: kinds[field.name] for field in own}, needed, f"{name}.")
        return made(**table, **given)

    def check(self, table: Mapping[str, Any], kinds: Mapping[str, Any], needed: Set[str], prefix: str = "") -> None:
        """Raise for a key that is unknown or missing, or whose value is of another type or out of range."""
        for key, value in table.items():
            if key not in kinds:
                near = difflib.get_close_matches(key, kinds, n=1)
                remedy = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(sorted(kinds))}"
                self.refuse("unknown", remedy, f"{prefix}{key}")
            expected = _fault(key, value, kinds[key])
            if expected:
                self.refuse(f"is {value!r:.40}, expected {expected}", _REMEDY, f"{prefix}{key}")
        for key in sorted(needed - set(table)):
            self.refuse("missing", "Add it", f"{prefix}{key}")


def _fault(key: str, value: Any, kind: Any) -> str:
    """What the value of a key should have been; "" where it is that."""
    if get_origin(kind) is Literal:
        return "" if value in get_args(kind) else " or ".join(get_args(kind))
    if kind is dict:
        return "" if isinstance(value, dict) else "a table"
    if kind is bool:
        return "" if isinstance(value, bool) else "true or false"
    # A truth value is a number in Python, but not in a recipe.
    if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else kind):
        return "a number" if kind is float else "a whole number"
    most = 1.0 if key in _SHARES else float("inf")
    if 0 < value < most or (value == 0 and key in _MAY_BE_ZERO):
        return ""
    least = "0 or more" if key in _MAY_BE_ZERO else "more than 0"
    return f"{least} and less than 1" if key in _SHARES else least
