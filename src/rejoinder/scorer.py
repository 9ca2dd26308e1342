"""What a scorer is, what it returns, and the one way to run it.

A scorer is any object with a `card`, an `options` mapping and a `score_batch` method; there is no class to inherit.
`run` is the only caller of `score_batch`: it leaves out examples that lack what the card needs, scores each distinct
input once, orders by length, restores the order, and signs the result. Shapes: N examples, K statistics, D width of a
vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import FOLLOWED, UNANSWERED, Example
from rejoinder.frames import to_pandas
from rejoinder.outcomes import sound
from rejoinder.text.normalize import visible
from rejoinder.version import __version__

FloatArray = NDArray[np.float64]
Advance = Callable[[int], None]
Notes = Mapping[int, tuple[str, ...]]
ScoreFunction = Callable[[list[Example]], Iterable[SupportsFloat | None]]
"""What becomes a scorer by itself: a number, or None, for each example, in their order."""
Need = Literal["context", "reference", "context or reference", "vectors", "wordnet"]

SPOKE_LAST = "the user spoke last"
"""The note on a reply of a chat that the user ended: nobody knows whether an answer was due."""

OUT_OF_DOMAIN = "out of domain"
"""The note on a reply that the scorer cannot judge; other notes beside it say why."""

FACTS_NOT_CHECKED = "Facts were not checked: this judge reads no sources."
"""The warning on every result of a scorer whose card counts facts among what it does not read; see `facts_warning`."""


def ignore(_done: int) -> None:
    """Show no progress: the default of every `advance`."""


@dataclass(frozen=True, slots=True)
class Card:
    """What a user should know of a scorer before believing it.

    Attributes:
        name: the name it goes by on the command line, `family` or `family/preset`.
        summary: one line, what number comes back.
        kind: `metric` (closed form), `baseline` (trivial on purpose) or `judge` (learned).
        needs: what must be there; an example that lacks its context or reference is unscored.
        range: lowest and highest possible score; None where there is no bound.
        source: paper and equation, and the program whose numbers it gives.
        version: goes up when a score changes.
        notes: traps, deviations from the source.
        higher_is_better: the direction; None where no direction is claimed.
        domain: the replies that it can judge, in a few words ("short English chat"); empty where none is declared. Only
            a scorer with a domain notes replies as `OUT_OF_DOMAIN`.
        unread: what it does not read, such as "facts", "sources", "safety".
    """

    name: str
    summary: str
    kind: Literal["metric", "baseline", "judge"]
    needs: frozenset[Need]
    range: tuple[float | None, float | None]
    source: str
    version: int = 1
    notes: str = ""
    higher_is_better: bool | None = True
    domain: str = ""
    unread: tuple[str, ...] = ()


class Turn(NamedTuple):
    """A turn of a conversation with its score.

    Attributes:
        turn: its place among all turns, from 1.
        response: what was said.
        score: its score as a reply to the turns before it.
    """

    turn: int
    response: str
    score: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What `score_batch` returns for N examples.

    Attributes:
        values: [N] scores; NaN marks an unscored example.
        reasons: position in the batch to the reason why it is unscored. Every NaN has one.
        statistics: [N, K] additive statistics, for scorers whose corpus score is not a mean (BLEU); else None.
        notes: position in the batch to what the scorer cannot judge about that example, scored or not. A note is a few
            words without figures, the same for all of its kind, so that notes can be counted: "noted as ...".
        low: [N] what the scorer says its score is hardly below, where it says how sure it is of each; else None. NaN
            where the value is, and where it does not say it of this one.
        high: [N] what it is hardly above; there where `low` is.
        worst: position in the batch to the worst turns, where the score is of a conversation.
    """

    values: FloatArray
    reasons: Mapping[int, str] = field(default_factory=dict)
    statistics: FloatArray | None = None
    notes: Notes = field(default_factory=dict)
    low: FloatArray | None = None
    high: FloatArray | None = None
    worst: Mapping[int, tuple[Turn, ...]] = field(default_factory=dict)


class Scorer(Protocol):
    """Turns examples into scores: a closed-form metric or a learned judge."""

    @property
    def card(self) -> Card:
        """Name, needs, range, direction, source."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """What else decides the numbers (tokenizer, smoothing, weights digest); goes into the signature."""
        ...

    def score_batch(self, examples: Sequence[Example]) -> Outcome:
        """Score examples that all have what the card needs; the score of one must not depend on the others."""
        ...


class CorpusScorer(Scorer, Protocol):
    """A scorer whose corpus score is a function of summed statistics instead of a mean of scores."""

    def corpus_score(self, totals: FloatArray) -> float:
        """The corpus score from `totals` [K], the sum of the statistics of the examples."""
        ...


class WholeScorer(Scorer, Protocol):
    """A scorer that may read all of an example, not its texts alone.

    Examples of equal texts may then have different scores, so `run` merges none, reorders none, and hands them over in
    one call. Where its `silence` is true too it is asked about lines without a reply as well: it speaks of the whole.
    """

    @property
    def whole(self) -> bool:
        """True."""
        ...


class SlowScorer(Scorer, Protocol):
    """A scorer that takes long for each example: `run` hands it few at a time, so that progress is seen."""

    @property
    def portion(self) -> int:
        """How many examples it takes in one call at most."""
        ...


class Encoder(Protocol):
    """Turns texts and contexts into vectors."""

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors (kind, digest); goes into the signature of what stands on them."""
        ...

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, D] vectors of N texts; a row of NaN where a text holds nothing the encoder knows."""
        ...

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, D] vectors of N contexts (turns, oldest first); a row of NaN as in `encode`."""
        ...


ScorerLike = str | Path | Scorer | ScoreFunction
"""A scorer, or what `catalogue.load_scorer` makes one of: a name, a judge's folder, a function."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Where a score came from. A mapping first; its text form joins `key:value` with `|`."""

    fields: Mapping[str, Any]

    def __str__(self) -> str:
        """The one-line form."""
        return "|".join(f"{key}:{value}" for key, value in self.fields.items())


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of N examples by one scorer, in the order of the examples.

    Attributes:
        values: [N], NaN = unscored.
        reasons: position to the reason why that example is unscored.
        signature: where the numbers came from.
        statistics: [N, K] additive statistics or None.
        combine: from summed statistics [K] to the corpus score, or None where that is the mean.
        notes: position to what the scorer cannot judge about that example; an example without any is left out.
        low: [N] the lower end of each score's interval, NaN where it has none; None where the scorer gives none.
        high: [N] the upper end.
        worst: position to the worst turns of that example, the worst first, where scores are of conversations.
        index: of the data frame that the examples came in, or what names them; None where they came otherwise.
    """

    values: FloatArray
    reasons: Mapping[int, str]
    signature: Signature
    statistics: FloatArray | None = None
    combine: Callable[[FloatArray], float] | None = None
    notes: Notes = field(default_factory=dict)
    low: FloatArray | None = None
    high: FloatArray | None = None
    worst: Mapping[int, tuple[Turn, ...]] = field(default_factory=dict)
    index: Any = None

    @property
    def scored(self) -> NDArray[np.bool_]:
        """[N], True where there is a score."""
        return np.isfinite(self.values)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with `score`, `unscored` (why there is none) and `notes`, a row an example, in order.

        Where the scorer gives intervals, also with `low` and `high`. The signature stands in its `attrs`. The index is
        that of the frame that was scored, or the ids of the examples where rows of it were joined or taken apart.

        Raises:
            MissingExtra: pandas is not installed.
        """
        rows = [
            {"score": value, "unscored": self.reasons.get(row), "notes": list(self.notes.get(row, ()))}
            for row, value in enumerate(self.values.tolist())
        ]
        for name, ends in (("low", self.low), ("high", self.high)):
            if ends is not None:
                rows = [{**row, name: end} for row, end in zip(rows, ends.tolist(), strict=True)]
        frame = to_pandas(rows, signature=str(self.signature))
        return frame if self.index is None else frame.set_axis(self.index)

    @property
    def noted(self) -> Counter[str]:
        """How many examples each note stands at."""
        return Counter(chain.from_iterable(self.notes.values()))

    def corpus(self) -> float:
        """The score of all scored examples together, by summed statistics, else the mean; NaN without any."""
        if not self.scored.any():
            return float("nan")
        if self.statistics is not None and self.combine is not None:
            return self.combine(self.statistics[self.scored].sum(axis=0))
        return float(self.values[self.scored].mean())


def signature_of(scorer: Scorer) -> Signature:
    """The signature that scores of `scorer` carry."""
    card = scorer.card
    return Signature({"scorer": card.name, "version": card.version, **scorer.options, "rejoinder": __version__})


def facts_warning(scorers: Mapping[str, Scorer]) -> str:
    """Return the warning that facts were not checked, once for one answer about all these scorers; else "".

    The scorers that read no facts are named where others do not declare that.
    """
    names = [name for name, scorer in scorers.items() if "facts" in scorer.card.unread]
    if not names or len(names) == len(scorers):
        return FACTS_NOT_CHECKED if names else ""
    return f"{', '.join(names)}: {FACTS_NOT_CHECKED}"


def missing_need(card: Card, example: Example, *, silence: bool = False) -> str | None:
    """Why `example` cannot be scored by a scorer with `card`, or None where it can; with `silence` also unanswered."""
    if (why := example.extra.get(UNANSWERED)) and not silence:
        return f"no response ({why})"
    if "context" in card.needs and not any(map(visible, example.context)):
        return "no context"
    if "reference" in card.needs and not any(map(visible, example.references)):
        return "no reference"
    texts = (*example.context, *example.references)
    if "context or reference" in card.needs and not any(map(visible, texts)):
        return "no context and no reference"
    return None


def finish(asked: object) -> None:
    """Let a scorer or responder that runs a program end it, and see that it has no answer left over.

    Raises:
        DataError: it has.
    """
    if callable(end := getattr(asked, "finish_answers", None)):
        end()


def run(
    scorer: Scorer,
    examples: Sequence[Example],
    *,
    batch_size: int = 512,
    advance: Advance = ignore,
    last: bool = True,
) -> Scores:
    """The scores of `examples` by `scorer`, in their order.

    A score does not depend on batch size, order or duplicates: each distinct input is scored once, batches are filled
    in order of length, results go back to where they belong. A `WholeScorer` gets all examples as they come.

    Args:
        scorer: what scores.
        examples: N examples.
        batch_size: how many distinct inputs go into one call of `score_batch`.
        advance: called after each batch with the number of examples that are done through it, for progress bars.
        last: whether no more examples follow, see `finish`.

    Raises:
        UsageError: the scorer returns something else than an `Outcome` of these examples.
        DataError: a program wrote more answers than it was asked for.
    """
    whole, silence = getattr(scorer, "whole", False), getattr(scorer, "silence", False)
    batch_size = min(batch_size, getattr(scorer, "portion", batch_size))
    distinct, reasons = _distinct(scorer.card, examples, whole=whole, silence=silence)
    advance(len(reasons))
    if whole:
        batch_size = max(len(distinct), 1)
    else:
        distinct.sort(key=lambda positions: len(examples[positions[0]].response))
    values = np.full(len(examples), np.nan)
    notes: dict[int, tuple[str, ...]] = {}
    worst: dict[int, tuple[Turn, ...]] = {}
    beside: dict[str, FloatArray] = {}
    for start in range(0, len(distinct), batch_size):
        groups = distinct[start : start + batch_size]
        given = scorer.score_batch([examples[group[0]] for group in groups])
        outcome: Outcome = sound(given, len(groups), scorer.card.name)
        positions = list(chain.from_iterable(groups))
        rows = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        values[positions] = outcome.values[rows]
        for name in ("statistics", "low", "high"):
            if (found := getattr(outcome, name)) is not None:
                # Sums take no notice of the unscored, whose statistics are 0; an end that is not there is NaN.
                empty = np.full((len(examples), *found.shape[1:]), 0.0 if name == "statistics" else np.nan)
                beside.setdefault(name, empty)[positions] = found[rows]
        for row, reason in outcome.reasons.items():
            reasons.update(dict.fromkeys(groups[row], reason))
        for row, noted in outcome.notes.items():
            notes.update(dict.fromkeys(groups[row], noted))
        for row, turns in outcome.worst.items():
            worst.update(dict.fromkeys(groups[row], turns))
        advance(len(positions))
    if last:
        finish(scorer)
    for position, example in enumerate(examples):
        if isinstance(example.extra.get(FOLLOWED), list):
            notes[position] = (*notes.get(position, ()), SPOKE_LAST)
    return Scores(
        values,
        dict(sorted(reasons.items())),
        signature_of(scorer),
        combine=getattr(scorer, "corpus_score", None),
        notes=dict(sorted(notes.items())),
        worst=dict(sorted(worst.items())),
        **beside,
    )


def _distinct(
    card: Card, examples: Sequence[Example], *, whole: bool, silence: bool
) -> tuple[list[list[int]], dict[int, str]]:
    """The positions of each distinct input that can be scored, together; and why the rest cannot be."""
    reasons: dict[int, str] = {}
    places: dict[Hashable, list[int]] = {}
    for position, example in enumerate(examples):
        if (reason := missing_need(card, example, silence=silence)) is not None:
            reasons[position] = reason
        else:
            texts = (example.context, example.response, example.references)
            places.setdefault(position if whole else texts, []).append(position)
    return list(places.values()), reasons
