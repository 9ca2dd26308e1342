"""Rated lines encoded once, for however many judges are fitted on them.

Shapes: N rated lines, n of them with all that one kind of judge reads, D width of a vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.encoders import AverageEncoder, PortableEncoder
from rejoinder.errors import DataError
from rejoinder.io.given import examples_of
from rejoinder.io.ratings import Scale, require_inside
from rejoinder.io.scales import Span, hint, require_alike, rescaled, spans_of, with_scale
from rejoinder.judges.bilinear.fit import Fitted
from rejoinder.judges.bilinear.head import HIGHEST, LOWEST, Vectors
from rejoinder.judges.bilinear.judge import TERMS, Kind
from rejoinder.judges.bilinear.oversample import Lengths, Rows
from rejoinder.judges.bilinear.sides import Encoded, References, encode
from rejoinder.judges.conversations import TRACES, traces
from rejoinder.metrics.baselines import words
from rejoinder.records import OVERALL, Example, Given
from rejoinder.scorer import FloatArray
from rejoinder.stats.splits import numbered

# What the release appends to a response before it counts characters: ` </s>`.
_END = 5
FEWEST_KNOWN = 0.5  # of the words in rated lines


class Known(NamedTuple):
    """The n lines that a kind of judge can be fitted on, because every side that it reads has a vector.

    Attributes:
        rows: [n] which of all rated lines they are, ascending.
        raw: vectors [n, D].
        ratings: [n].
        lengths: of the n responses.
    """

    rows: Rows
    raw: Vectors
    ratings: FloatArray
    lengths: Lengths


@dataclass(frozen=True)
class RatedLines:
    """N rated lines, encoded.

    Attributes:
        examples: [N] the lines.
        encoder: what encoded them.
        places: [N] where they stand among the examples that were given.
        unrated: how many of those have no rating.
        traces: [N, 4] what tells conversations, numbered; -1 where a trace would not tell (see `conversations.traces`).
        ratings: [N] on the scale 1 to 5.
        encoded: their vectors.
        given: [N] by side: whether the line has any text there.
        known: by kind: the lines whose sides have vectors.
    """

    examples: Sequence[Example]
    encoder: PortableEncoder
    places: Rows
    unrated: int
    traces: Rows
    ratings: FloatArray
    encoded: Encoded
    given: Mapping[str, NDArray[np.bool_]]
    known: Mapping[Kind, Known]

    @property
    def contexts(self) -> Rows:
        """[N] number of the context."""
        return self.traces[:, 0]

    @cached_property
    def sets(self) -> Mapping[str, Rows]:
        """Ascending rows of each data set, in order of appearance."""
        names = [example.dataset or "" for example in self.examples]
        return {name: np.flatnonzero([other == name for other in names]) for name in dict.fromkeys(names)}

    def readable(self, kind: Kind) -> NDArray[np.bool_]:
        """[N] whether the sides that `kind` reads are there."""
        found: NDArray[np.bool_] = np.all([self.given[side] for side in TERMS[kind]], axis=0)
        return found

    def predicted(self, rows: Rows, fitted: Fitted, kind: Kind, references: References) -> FloatArray:
        """[n] ratings of the ascending `rows` by a fitted judge; NaN where a side has no vector."""
        encoded = self.encoded.of(rows)
        if "reference" not in TERMS[kind]:
            return fitted.predict(encoded.means)
        return encoded.combine(fitted.predict(encoded.pairs()), references)


def encode_rated(
    examples: Given, encoder: PortableEncoder, kinds: Sequence[Kind], scale: Scale | None = None
) -> RatedLines:
    """The rated lines of `examples`, ready for judges of these `kinds`; `scale` is that of lines that state none.

    Raises:
        DataError: a rated line has no scale, or a rating outside of it; or the lines are in another language than the
            encoder's word vectors.
    """
    examples = list(with_scale(examples_of(examples), scale))
    places = [place for place, example in enumerate(examples) if example.rating() is not None]
    rated = [examples[place] for place in places]
    _require_language(encoder, rated)
    ratings, lengths = normalised_ratings(rated), response_lengths(rated)
    encoded = encode(rated, encoder, tuple(dict.fromkeys(side for kind in kinds for side in TERMS[kind])))
    sides = {"context": [one.context for one in rated], "reference": [one.references for one in rated]}
    told = numbered([trace for example in rated for trace in traces(example)])
    return RatedLines(
        examples=rated,
        encoder=encoder,
        places=np.array(places, dtype=np.intp),
        unrated=len(examples) - len(rated),
        traces=np.array(told, dtype=np.intp).reshape(-1, TRACES),
        ratings=ratings,
        encoded=encoded,
        given={side: np.array([any(map(str.strip, one)) for one in texts], bool) for side, texts in sides.items()},
        known={kind: _known(encoded.means, ratings, lengths, kind) for kind in kinds},
    )


def _require_language(encoder: PortableEncoder, examples: Sequence[Example]) -> None:
    """Raise where most words of `examples` have no vector, as of another language than that of the word vectors.

    What would be left to learn from are signs, names and words that two languages happen to share.
    """
    if not isinstance(encoder, AverageEncoder):
        return
    share = encoder.known_share({text for one in examples for text in (*one.context, one.response, *one.references)})
    if share < FEWEST_KNOWN:
        remedy = "Give vectors of this language (--vectors FILE), or a pre-trained encoder (-e FOLDER)"
        english = "The word vectors in the box are English. " * encoder.vectors.boxed
        raise DataError(f"only {share:.0%} of the words in the ratings have a vector", english + remedy)


def _known(raw: Vectors, ratings: FloatArray, lengths: Lengths, kind: Kind) -> Known:
    """The lines of all that `kind` can be fitted on."""
    sides = ("response", *TERMS[kind])
    rows = np.flatnonzero(np.all([np.isfinite(getattr(raw, side)).all(axis=1) for side in sides], axis=0))
    # Raw vectors may be wide: they are copied only where some have to be left out.
    taken = rows if len(rows) < len(ratings) else slice(None)
    nothing = np.empty((len(rows), 0))
    own = Vectors(**{side: getattr(raw, side)[taken] if side in sides else nothing for side in Vectors._fields})
    return Known(rows, own, ratings[rows], Lengths(*(count[rows] for count in lengths)))


def normalised_ratings(examples: Sequence[Example]) -> FloatArray:
    """[N] mean overall ratings mapped linearly from each example's scale to [1, 5].

    Raises:
        DataError: an example is not rated, or its scale is not known.
    """
    mapped = []
    for example in examples:
        rating, scale = example.rating(), example.scale()
        if rating is None:
            raise DataError("not rated", 'Give "quality" and "scale": [1, 5]', where=example.where)
        if scale is None:
            raise _no_scale(examples, example)
        require_inside(rating, scale, OVERALL, example.where, "quality")
        mapped.append(rescaled(rating, scale, (LOWEST, HIGHEST)))
    return np.array(mapped, dtype=np.float64)


def _no_scale(examples: Sequence[Example], first: Example) -> DataError:
    """The error for rated lines of which some, the first of them `first`, state no scale.

    Raises:
        DataError: they look as if they were on several.
    """
    require_alike(examples)
    spans = spans_of(example for example in examples if example.scale() is None)
    problem = f"rated, but without a scale; the ratings that have none are {_listed(spans)}"
    remedy = f'Say what the lowest and the highest can be: --scale {hint(spans)}, or "scale": [1, 5] on each line'
    return DataError(problem, remedy, where=first.where, field="scale")


def _listed(spans: Sequence[Span]) -> str:
    """The first of some spans."""
    return ", ".join(map(str, spans[:3])) + (", ..." if len(spans) > 3 else "")


def response_lengths(examples: Sequence[Example]) -> Lengths:
    """How long the responses of N examples are, as over-sampling counts."""
    counts = [(len(words(example.response)), len(example.response.strip()) + _END) for example in examples]
    return Lengths(*np.array(counts, dtype=np.intp).reshape(-1, 2).T)
