"""How judges of the ADEM family are learnt. Shapes: N rated lines, D width of a vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from rejoinder.data.scales import Scale
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.judges.adem.head import Encoded, References, Terms
from rejoinder.judges.adem.judge import TERMS, AdemJudge, Kind, encode
from rejoinder.judges.adem.optimizer import PRESETS, AdemFit, AdemOptions, Lengths, fit_adem
from rejoinder.judges.protocol import LearnerOptions, Rows
from rejoinder.metrics.baselines import words
from rejoinder.models import WORD_VECTORS, load_encoder
from rejoinder.models.encoders import AverageEncoder, PortableEncoder
from rejoinder.scorer import Advance, FloatArray, ignore

UNTRAINED = "untrained"
_OF_TRAINING = ("epochs", "batch_size", "learning_rate", "penalty", "penalty_weight")
FEWEST_KNOWN = 0.5  # of the words in rated lines
# Seconds of one core of 2026: a step of Adam, each number of the matrices in it, each product of a line in an epoch.
_STEP, _UPDATE, _PRODUCT = 8e-5, 2e-8, 3e-10
_RELEASE_END = 5  # characters of the ` </s>` that the release appends


class Lines(NamedTuple):
    """N lines as judges of the family read them: vectors, and lengths of the responses."""

    encoded: Encoded
    lengths: Lengths


@dataclass(frozen=True)
class FittedAdem:
    """A fit of a learner; `lines` counts its training lines before over-sampling."""

    learner: AdemLearner
    fit: AdemFit
    lines: int

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """Options, and how the fit went."""
        fit = self.fit
        return {
            **asdict(self.learner.recipe),
            "components": None if fit.projection is None else len(fit.projection.components),
            "fitted_rows": len(fit.rows),
            "over_sampling_left_out": self.lines - len(np.unique(fit.rows)),
            "best_epoch": fit.best_epoch,
        }

    @property
    def account(self) -> Sequence[str]:
        """Describe the fit in sentences."""
        recipe, components, epoch = self.learner.recipe, self.record["components"], self.fit.best_epoch
        weight, lost = recipe.penalty_weight, self.record["over_sampling_left_out"]
        penalty = f"{recipe.penalty} norm times {weight:g}" if weight else "no penalty"
        sentences = [
            f"fitted with {'all' if components is None else components} components"
            f"{', vectors of length 1' * (recipe.normalise == 'l2')}, {penalty}, step {recipe.learning_rate:g}, batch "
            f"{recipe.batch_size}; best epoch by validation error: {epoch} of {recipe.epochs}"
        ]
        if recipe.oversample is not None:
            short = f"; {lost:,} training lines are too short or too long for it and were left out" if lost else ""
            sentences.append(f"over-sampled to {len(self.fit.rows):,} lines{short}")
        if recipe.epochs and epoch == recipe.epochs:
            sentences.append(
                "the validation error was still falling at the last epoch: more --epochs or a longer --step may help"
            )
        elif recipe.epochs and not epoch:
            sentences.append(
                "best epoch 0: no step of the training lowered the validation error, so what is saved is the head as "
                "it was before training and has learnt nothing from these ratings. What may help: ratings that spread "
                "over the whole scale, another encoder (-e), a smaller --step, another --penalty-weight, more rated "
                "lines"
            )
        return sentences

    def predict(self, encoded: Lines, rows: Rows) -> FloatArray:
        """See `Fitted.predict`."""
        vectors = encoded.encoded.at(rows)
        if "reference" not in self.learner.needs:
            return self.fit.predict(vectors.means)
        return vectors.combine(self.fit.predict(vectors.pairs()), self.learner.references)

    def judge(self, training: Mapping[str, Any], scale: Scale) -> AdemJudge:
        """Return the judge."""
        made, parts = self.learner, (self.fit.normalise, self.fit.projection, self.fit.head)
        return AdemJudge(made.name, made.encoder, *parts, made.references, training, scale)


@dataclass(frozen=True)
class AdemLearner:
    """Learns one kind of judge over an encoder; `references` is how its judges score against several of them."""

    name: Kind
    encoder: PortableEncoder
    recipe: AdemOptions
    references: References = "mean"

    @property
    def needs(self) -> Terms:
        """The terms of equation 1 that count."""
        return TERMS[self.name]

    @property
    def options(self) -> Mapping[str, Any]:
        """Encoder and the sizes of the fit: these alone, so that signatures of earlier studies do not change."""
        sizes = {"epochs": self.recipe.epochs, "batch": self.recipe.batch_size, "step": self.recipe.learning_rate}
        return {**self.encoder.options, **sizes}

    @property
    def steps(self) -> int:
        """Epochs."""
        return self.recipe.epochs

    def encode(self, examples: Sequence[Example]) -> Lines:
        """See `encode_lines`; every side that counts."""
        return encode_lines(self.encoder, examples, self.needs)

    def unreadable(self, encoded: Lines) -> list[str]:
        """Return [N] which side has no word that the encoder knows."""
        return [side and f"no known word in the {side}" for side in encoded.encoded.unknown_sides(self.needs)]

    def seconds(self, lines: float) -> float:
        """Return a forecast of how long a fit takes."""
        width = min(self.recipe.components or self.encoder.width, self.encoder.width)
        steps = -(-lines // self.recipe.batch_size)
        return self.recipe.epochs * (steps * (_STEP + _UPDATE * width**2) + lines * _PRODUCT * width**2)

    def fit(
        self,
        encoded: Lines,
        ratings: FloatArray,
        train: Rows,
        validation: Rows,
        rng: np.random.Generator,
        advance: Advance = ignore,
    ) -> FittedAdem:
        """See `Learner.fit`."""
        vectors, lengths = encoded.encoded.means, encoded.lengths
        fit = fit_adem(vectors, ratings, lengths, train, validation, self.needs, self.recipe, rng, advance)
        return FittedAdem(self, fit, len(train))


def learners(kinds: Sequence[Kind], name: str, choices: LearnerOptions) -> list[AdemLearner]:
    """Return the learners of some kinds over one encoder (averaged word vectors by default), for the judge `name`.

    The options, an `AdemOptions` or the fields that differ from the recipe, follow the first kind.

    Raises:
        UsageError: a choice does not exist or would have no effect.
        DataError, MissingAsset, MissingExtra: the encoder cannot be loaded (see `load_encoder`).
    """
    choices.only(name, "encoder", "state", "vectors", "references", "preset", "options")
    references = choices.references or "mean"
    if references not in get_args(References):
        raise UsageError(f"references count by {' or '.join(get_args(References))}, not by {references!r}")
    if choices.references and not any("reference" in TERMS[kind] for kind in kinds):
        raise UsageError(f"{name} reads no references, so counting them by {references!r} would have no effect")
    encoder = choices.encoder or WORD_VECTORS
    if isinstance(encoder, (str, Path)):
        encoder = load_encoder(encoder, cast("Any", choices.state), vectors=choices.vectors)
    encoder = cast("PortableEncoder", encoder)
    recipe = choices.options
    if not isinstance(recipe, AdemOptions):
        changes = recipe or {}
        recipe = recipe_of(kinds[0], choices.preset, changes)
        if (changes.get("components") or 0) > encoder.width:
            problem = f"{recipe.components} components of vectors that have {encoder.width} dimensions"
            raise UsageError(f"{problem}. Ask for {encoder.width} or fewer, or for all")
    recipe = replace(recipe, epochs=0) if name == UNTRAINED else recipe
    return [
        AdemLearner(kind, encoder, recipe, cast("References", references) if "reference" in TERMS[kind] else "mean")
        for kind in kinds
    ]


def learner(name: str, choices: LearnerOptions) -> AdemLearner:
    """Return the learner of one kind (see `learners`)."""
    return learners((cast("Kind", name),), name, choices)[0]


def recipe_of(kind: Kind, preset: str | None, changes: Mapping[str, Any]) -> AdemOptions:
    """Return the options of a kind, or a preset, with single fields changed.

    Raises:
        UsageError: there is no such preset, a value is out of its range, or an option would have no effect.
    """
    if kind == UNTRAINED and (idle := [name for name in changes if name in _OF_TRAINING]):
        raise UsageError(f"{kind} is ADEM before training, so {', '.join(idle)} would have no effect")
    start = AdemOptions() if kind != "autojudge" else PRESETS["deriu2019"]
    recipe = replace(start if preset is None else AdemOptions.preset(preset), **changes)
    if "penalty" in changes and not recipe.penalty_weight:
        problem = f"the penalty {recipe.penalty} would have no effect: its weight is 0"
        raise UsageError(f"{problem}. Give --penalty-weight (penalty_weight) over 0 too, or leave the penalty out")
    return recipe


def encode_lines(encoder: PortableEncoder, examples: Sequence[Example], sides: Terms) -> Lines:
    """Return the vectors of the given sides, and the lengths of the responses.

    Raises `DataError` if most words have no vector, as of another language than that of the word vectors: what would
    be left to learn from are signs, names and words that two languages share.
    """
    if isinstance(encoder, AverageEncoder):
        texts = {text for one in examples for text in (*one.context, one.response, *one.references)}
        if (share := encoder.known_share(texts)) < FEWEST_KNOWN:
            remedy = "Give vectors of this language (--vectors FILE), or a pre-trained encoder (-e FOLDER)"
            english = "The word vectors in the box are English. " * encoder.vectors.bundled
            raise DataError(f"only {share:.0%} of the words in the ratings have a vector", english + remedy)
    counts = [(len(words(one.response)), len(one.response.strip()) + _RELEASE_END) for one in examples]
    lengths = Lengths(*np.array(counts, dtype=np.intp).reshape(-1, 2).T)
    return Lines(encode(examples, encoder, sides), lengths)
