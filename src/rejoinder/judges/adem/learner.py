"""How bilinear judges are learnt: ADEM, its halves, AutoJudge, and the panel of the first three.

Shapes: N rated lines, n of them with all that one kind of judge reads, D width of a vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from rejoinder.data.scales import Scale
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.judges.adem.account import account_of
from rejoinder.judges.adem.fit import BilinearFit, FitOptions, fit_bilinear
from rejoinder.judges.adem.head import Terms, Vectors
from rejoinder.judges.adem.judge import TERMS, BilinearJudge, Kind, unknown_sides
from rejoinder.judges.adem.oversample import Lengths, response_lengths
from rejoinder.judges.adem.panel import MEMBERS, Panel
from rejoinder.judges.adem.recipes import fit_options, options_of
from rejoinder.judges.adem.sides import Encoded, References, encode
from rejoinder.judges.learner import Choices, PortableJudge, Rows
from rejoinder.models import WORD_VECTORS, load_encoder
from rejoinder.models.encoders import AverageEncoder, PortableEncoder
from rejoinder.scorer import Advance, FloatArray, ignore

PANEL = "panel"
FEWEST_KNOWN = 0.5  # of the words in rated lines
# Seconds of one core of 2026: a step of Adam, each number of the matrices in it, each product of a line in an epoch.
_STEP, _UPDATE, _PRODUCT = 8e-5, 2e-8, 3e-10


class Known(NamedTuple):
    """The n lines that a kind of judge can be fitted on, because every side that it reads has a vector.

    Attributes:
        rows: [n] which of all lines they are, ascending.
        raw: vectors [n, D].
        lengths: of the n responses.
    """

    rows: Rows
    raw: Vectors
    lengths: Lengths


@dataclass(frozen=True)
class Lines:
    """N lines as bilinear judges read them.

    Attributes:
        encoded: their vectors.
        lengths: of their responses.
        known: by terms, what `of` has picked out before.
    """

    encoded: Encoded
    lengths: Lengths
    known: dict[Terms, Known] = field(default_factory=dict)

    def of(self, terms: Terms) -> Known:
        """The lines of all that a judge with `terms` can be fitted on, picked out once."""
        if terms not in self.known:
            self.known[terms] = self._picked(terms)
        return self.known[terms]

    def _picked(self, terms: Terms) -> Known:
        """The lines whose sides have vectors."""
        raw, sides = self.encoded.means, ("response", *terms)
        rows = np.flatnonzero(np.all([np.isfinite(getattr(raw, side)).all(axis=1) for side in sides], axis=0))
        # Raw vectors may be wide: they are copied only where some have to be left out.
        taken = rows if len(rows) < len(raw.response) else slice(None)
        nothing = np.empty((len(rows), 0))
        own = Vectors(**{side: getattr(raw, side)[taken] if side in sides else nothing for side in Vectors._fields})
        return Known(rows, own, Lengths(*(count[rows] for count in self.lengths)))


@dataclass(frozen=True)
class FittedBilinear:
    """A fitted judge, before it is one.

    Attributes:
        learner: what fitted it.
        course: head, projection, and how the fitting went.
        lines: how many lines it was fitted on, before any was repeated.
    """

    learner: BilinearLearner
    course: BilinearFit
    lines: int

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """Options, and how the fitting went."""
        fit = self.course
        return {
            **asdict(self.learner.options_of_fit),
            "components": None if fit.projection is None else len(fit.projection.components),
            "fitted_rows": len(fit.rows),
            "over_sampling_left_out": self.lines - len(np.unique(fit.rows)),
            "best_epoch": fit.best_epoch,
        }

    @property
    def account(self) -> Sequence[str]:
        """The same in words."""
        return account_of(self.record)

    def predict(self, encoded: Lines, rows: Rows) -> FloatArray:
        """[n] ratings of the ascending `rows`; NaN where a side has no vector."""
        own = encoded.encoded.of(rows)
        if "reference" not in self.learner.needs:
            return self.course.predict(own.means)
        return own.combine(self.course.predict(own.pairs()), self.learner.references)

    def judge(self, training: Mapping[str, Any], scale: Scale) -> BilinearJudge:
        """The judge."""
        learner, fit = self.learner, self.course
        return BilinearJudge(
            kind=learner.name,
            encoder=learner.encoder,
            normalise=fit.normalise,
            projection=fit.projection,
            head=fit.head,
            references=learner.references,
            training=training,
            scale=scale,
        )


@dataclass(frozen=True)
class BilinearLearner:
    """Learns one kind of bilinear judge over an encoder.

    Attributes:
        name: the kind.
        encoder: texts to vectors.
        options_of_fit: how it is fitted.
        references: how its judges score against several references.
    """

    name: Kind
    encoder: PortableEncoder
    options_of_fit: FitOptions
    references: References = "mean"

    @property
    def needs(self) -> Terms:
        """The terms of equation 1 that count."""
        return TERMS[self.name]

    @property
    def options(self) -> Mapping[str, Any]:
        """Encoder and the sizes of the fit."""
        fit = self.options_of_fit
        # These three alone: what stands in the signatures of studies that were made before is not to change.
        return {**self.encoder.options, "epochs": fit.epochs, "batch": fit.batch_size, "step": fit.learning_rate}

    @property
    def steps(self) -> int:
        """Epochs."""
        return self.options_of_fit.epochs

    def encode(self, examples: Sequence[Example]) -> Lines:
        """Vectors of every side that counts.

        Raises:
            DataError: the examples are in another language than the encoder's word vectors.
        """
        return encode_lines(self.encoder, examples, self.needs)

    def unusable(self, encoded: Lines) -> list[str]:
        """[N] which side holds no word that the encoder knows."""
        encoded.of(self.needs)  # picked out here and not by several fits at a time
        sides = unknown_sides(encoded.encoded.means, self.needs)
        return [side and f"no known word in the {side}" for side in sides]

    def seconds(self, lines: float) -> float:
        """About how long a fit takes."""
        options = self.options_of_fit
        width = min(options.components or self.encoder.width, self.encoder.width)
        steps = -(-lines // options.batch_size)
        return options.epochs * (steps * (_STEP + _UPDATE * width**2) + lines * _PRODUCT * width**2)

    def fit(
        self,
        encoded: Lines,
        ratings: FloatArray,
        train: Rows,
        validation: Rows,
        rng: np.random.Generator,
        advance: Advance = ignore,
    ) -> FittedBilinear:
        """See `Learner.fit`."""
        known = encoded.of(self.needs)
        # The fit sees the known lines alone and takes their places among these.
        own, other = (np.searchsorted(known.rows, rows) for rows in (train, validation))
        fit = fit_bilinear(
            known.raw, ratings[known.rows], known.lengths, own, other, self.needs, self.options_of_fit, rng, advance
        )
        return FittedBilinear(self, fit, len(train))


@dataclass(frozen=True)
class PanelLearner:
    """Learns ADEM, C-ADEM and R-ADEM over one encoder, for a panel.

    Attributes:
        members: one a kind, of one encoder.
        name: what the panel is called.
    """

    members: tuple[BilinearLearner, ...]
    name: str = PANEL

    @property
    def options(self) -> Mapping[str, Any]:
        """Those of a member: all are fitted alike."""
        return self.members[0].options

    def encode(self, examples: Sequence[Example]) -> Lines:
        """Vectors of every side, once for all members.

        Raises:
            DataError: the examples are in another language than the encoder's word vectors.
        """
        sides = tuple(dict.fromkeys(side for member in self.members for side in member.needs))
        return encode_lines(self.members[0].encoder, examples, sides)

    def together(self, judges: Mapping[str, PortableJudge], absent: Mapping[str, str], scale: Scale) -> Panel:
        """The panel."""
        own = {cast("Kind", name): judge for name, judge in judges.items() if isinstance(judge, BilinearJudge)}
        return Panel(own, {cast("Kind", name): why for name, why in absent.items()}, scale=scale)


def learner(name: str, choices: Choices) -> BilinearLearner | PanelLearner:
    """The learner of the kind `name`: one of `TERMS`, or a panel.

    Args:
        name: the kind.
        choices: encoder (averaged word vectors where none is named), references, preset, and as options a `FitOptions`
            or the fields of one that are to be other than the recipe has them.

    Raises:
        UsageError: something that was chosen does not exist or would have no effect.
        DataError, MissingAsset, MissingExtra: the encoder cannot be loaded (see `load_encoder`).
    """
    choices.only(name, "encoder", "state", "vectors", "references", "preset", "options")
    kinds = MEMBERS if name == PANEL else (cast("Kind", name),)
    references = _references(kinds, choices.references)  # before the encoder is loaded, which takes a while
    encoder = choices.encoder or WORD_VECTORS
    if isinstance(encoder, (str, Path)):
        encoder = load_encoder(encoder, cast("Any", choices.state), vectors=choices.vectors)
    encoder = cast("PortableEncoder", encoder)
    if isinstance(choices.options, FitOptions):
        options = choices.options
    else:
        options = fit_options(kinds[0], choices.preset, choices.options, width=encoder.width)
    options = options_of(kinds[0], options)
    members = tuple(
        BilinearLearner(kind, encoder, options, references if "reference" in TERMS[kind] else "mean") for kind in kinds
    )
    return PanelLearner(members) if name == PANEL else members[0]


def _references(kinds: Sequence[Kind], asked: str | None) -> References:
    """How several references count."""
    if asked is None:
        return "mean"
    if asked not in get_args(References):
        raise UsageError(f"references count by {' or '.join(get_args(References))}, not by {asked!r}")
    if not any("reference" in TERMS[kind] for kind in kinds):
        raise UsageError(f"{kinds[0]} reads no references, so counting them by {asked!r} would have no effect")
    return cast("References", asked)


def encode_lines(encoder: PortableEncoder, examples: Sequence[Example], sides: Terms) -> Lines:
    """The vectors of examples on the given sides."""
    _require_language(encoder, examples)
    return Lines(encode(examples, encoder, sides), response_lengths(examples))


def _require_language(encoder: PortableEncoder, examples: Sequence[Example]) -> None:
    """Raise where most words of `examples` have no vector, as of another language than that of the word vectors.

    What would be left to learn from are signs, names and words that two languages happen to share.
    """
    if not isinstance(encoder, AverageEncoder):
        return
    share = encoder.known_share({text for one in examples for text in (*one.context, one.response, *one.references)})
    if share < FEWEST_KNOWN:
        remedy = "Give vectors of this language (--vectors FILE), or a pre-trained encoder (-e FOLDER)"
        english = "The word vectors in the box are English. " * encoder.vectors.bundled
        raise DataError(f"only {share:.0%} of the words in the ratings have a vector", english + remedy)
