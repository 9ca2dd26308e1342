"""Scorers: from examples to `Scores`, and the one way to run them.

A scorer is any object with a `card`, an `options` mapping and a `score_batch` method; there is no class to inherit.
`run` is the only caller of `score_batch`: it leaves out examples that lack what the card needs, scores each distinct
input once, and signs the result. Shapes: N examples, K statistics, D width of a
vector.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Protocol, Self, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import MissingExtra, UsageError, shown
from rejoinder.example import FOLLOWED, UNANSWERED, Example
from rejoinder.text.normalize import visible
from rejoinder.version import __version__

FloatArray = NDArray[np.float64]
Advance = Callable[[int], None]
Warnings = Mapping[int, tuple[str, ...]]
ScoreFunction = Callable[[list[Example]], Iterable[SupportsFloat | None]]
"""A function that is a scorer by itself: it returns a number, or None, for each example, in their order."""
Need = Literal["context", "reference", "context or reference", "sources", "vectors", "wordnet"]

SPOKE_LAST = "the user spoke last"
"""The note on a reply of a chat that the user ended: an answer may or may not have been due."""
OUT_OF_DOMAIN = "out of domain"
"""The note on a reply that the scorer cannot judge; other notes on it give the reason."""
FACTS_NOT_CHECKED = "Facts were not checked: this judge reads no sources."
"""The warning on every result of a scorer whose card lists facts as unread."""
SHOWN_GROUPS = 3  # the strongest groups in an explanation; weaker ones rarely matter


def ignore(_done: int) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class Card:
    """The description of a scorer.

    Attributes:
        name: the name it goes by on the command line, `family` or `family/preset`.
        summary: one line about the number it returns.
        kind: `metric` (closed form), `baseline` (trivial on purpose) or `judge` (learned).
        needs: an example that lacks its context, reference or sources is unscored.
        range: lowest and highest possible score; None for no bound.
        source: paper and equation, and the program whose numbers it gives.
        version: goes up when a score changes.
        notes: traps, deviations from the source.
        higher_is_better: the direction; None if no direction is claimed.
        domain: the replies that it can judge, in a few words ("short English chat"); empty if none is declared. Only
            a scorer with a domain marks replies as `OUT_OF_DOMAIN`.
        unread: inputs that it ignores, such as "facts", "sources", "safety".
        reads_line: it reads more of a line than its texts, so equal texts may have different scores. `run` then merges
            and reorders nothing and hands over all examples in one call.
        reads_unanswered: it also scores lines that are marked as without a reply.
        batch_size: most examples in one call, for scorers that are slow for each one.
        explains: it has a method `explain(examples)`, which returns an `Explanation`, or None, for each.
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
    reads_line: bool = False
    reads_unanswered: bool = False
    batch_size: int | None = None
    explains: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """The origin of a score. A mapping first; its text form joins `key:value` with `|`."""

    fields: Mapping[str, Any]

    def __str__(self) -> str:
        """Return the form in one line."""
        return "|".join(f"{key}:{value}" for key, value in self.fields.items())


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of N examples by one scorer, in the order of the examples.

    Attributes:
        values: [N], NaN = unscored.
        reasons: position to the reason why that example is unscored. After `run` every NaN has one.
        signature: the origin of the numbers; `run` fills it in.
        statistics: [N, K] additive statistics, for scorers whose corpus score is not a mean (BLEU); else None.
        combine: from summed statistics [K] to the corpus score, or None for the mean.
        warnings: position to warnings about that example, scored or not. A warning is a few words without numbers, the
            same for all of its kind, so that warnings can be counted.
        low: [N] lower ends of prediction intervals, NaN for a score without one; None if the scorer gives no intervals.
        high: [N] upper ends, like `low`.
        details: position to more about that score, by name.
        index: of the data frame that the examples came in, or their names; else None.
    """

    values: FloatArray
    reasons: Mapping[int, str] = field(default_factory=dict)
    signature: Signature = field(default_factory=lambda: Signature({}))
    statistics: FloatArray | None = None
    combine: Callable[[FloatArray], float] | None = None
    warnings: Warnings = field(default_factory=dict)
    low: FloatArray | None = None
    high: FloatArray | None = None
    details: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    index: Any = None

    @classmethod
    def from_values(cls, values: Iterable[SupportsFloat | str], **more: Any) -> Self:
        """Return the scores of N examples; a text instead of a number is the reason for a missing score."""
        values = list(values)
        numbers = [math.nan if isinstance(value, str) else float(value) for value in values]
        reasons = {row: value for row, value in enumerate(values) if isinstance(value, str)}
        return cls(np.array(numbers, dtype=np.float64), reasons, **more)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """[N], True for each example with a score."""
        return np.isfinite(self.values)

    @property
    def warning_counts(self) -> Counter[str]:
        """The number of examples with each warning."""
        return Counter(chain.from_iterable(self.warnings.values()))

    def corpus(self) -> float:
        """Return the score of all scored examples together, by summed statistics, else the mean; NaN without any."""
        if not self.scored.any():
            return math.nan
        if self.statistics is not None and self.combine is not None:
            return self.combine(self.statistics[self.scored].sum(axis=0))
        return float(self.values[self.scored].mean())

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with `score`, `unscored` (the reason), `warnings`, and `low` and `high` if known.

        The signature is in its `attrs`. The index is that of the frame that was scored, or the ids of the examples if
        rows of it were joined or split.

        Raises:
            MissingExtra: pandas is not installed.
        """
        ends = {name: ends.tolist() for name, ends in (("low", self.low), ("high", self.high)) if ends is not None}
        rows = [
            {"score": value, "unscored": self.reasons.get(row), "warnings": list(self.warnings.get(row, ()))}
            | {name: values[row] for name, values in ends.items()}
            for row, value in enumerate(self.values.tolist())
        ]
        frame = data_frame(rows, signature=str(self.signature))
        return frame if self.index is None else frame.set_axis(self.index)


class Scorer(Protocol):
    """Turns examples into scores: a closed-form metric or a learned judge."""

    @property
    def card(self) -> Card:
        """Name, needs, range, direction, source."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """Everything else that decides the numbers (tokenizer, smoothing, weights digest), for the signature."""
        ...

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Score examples that all have what the card needs; the score of one must not depend on the others."""
        ...


class Encoder(Protocol):
    """Turns texts and contexts into vectors."""

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """Everything that decides the vectors (kind, digest), for the signature of scores made from them."""
        ...

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return [N, D] vectors of N texts; a row of NaN for a text that holds nothing the encoder knows."""
        ...

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """Return [N, D] vectors of N contexts (turns, oldest first); a row of NaN as in `encode`."""
        ...


ScorerLike = str | Path | Scorer | ScoreFunction
"""A scorer, or an argument of `load_scorer`: a name, a judge's folder, a function."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The contributions to one score, in the points of the score.

    Attributes:
        base: the score of an average line, before any feature of this example.
        moved: contribution of each group of features, by its name; together with `base` they add up to the score.
    """

    base: float
    moved: Mapping[str, float]

    @property
    def score(self) -> float:
        """The sum of all contributions."""
        return math.fsum((self.base, *self.moved.values()))

    @property
    def words(self) -> str:
        """The strongest groups: `context fit +0.41, repetition -0.20`."""
        strongest = sorted(self.moved.items(), key=lambda item: -abs(item[1]))[:SHOWN_GROUPS]
        return ", ".join(f"{group} {points:+.2f}" for group, points in strongest)


@dataclass(frozen=True, slots=True)
class FunctionMetric:
    """A function of one example as a scorer; `metric` makes it."""

    card: Card
    function: Callable[[Example], SupportsFloat | str]
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, example: Example) -> SupportsFloat | str:
        """Return the score of one example, or the reason for none."""
        return self.function(example)

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Score N examples."""
        return Scores.from_values([self.function(example) for example in examples])


def metric(
    name: str,
    *,
    range: tuple[float | None, float | None],  # noqa: A002 - named as on the card
    source: str,
    needs: Iterable[Need] = (),
    **card: Any,
) -> Callable[[Callable[[Example], SupportsFloat | str]], FunctionMetric]:
    """Turn a function from an `Example` to a number into a scorer; the first line of its docstring is the summary.

    A text instead of a number is the reason for a missing score.

    Args:
        name: see `Card`.
        range: see `Card`.
        source: see `Card`.
        needs: see `Card`; the function is not called for an example without them.
        card: other fields of the `Card`.
    """

    def decorate(function: Callable[[Example], SupportsFloat | str]) -> FunctionMetric:
        summary = (function.__doc__ or name).strip().partition("\n")[0]
        fields = {"summary": summary, "kind": "metric", **card}
        return FunctionMetric(Card(name=name, needs=frozenset(needs), range=range, source=source, **fields), function)

    return decorate


def signature_of(scorer: Scorer) -> Signature:
    """Return the signature of scores by `scorer`."""
    card = scorer.card
    return Signature({"scorer": card.name, "version": card.version, **scorer.options, "rejoinder": __version__})


def missing_need(card: Card, example: Example, *, allow_unanswered: bool = False) -> str | None:
    """Return why a scorer with `card` cannot score `example`, or None if it can."""
    if (why := example.extra.get(UNANSWERED)) and not allow_unanswered:
        return f"no response ({why})"
    needs = card.needs
    if "context" in needs and not any(map(visible, example.context)):
        return "no context"
    if "reference" in needs and not any(map(visible, example.references)):
        return "no reference"
    if "sources" in needs and not any(map(visible, example.sources)):
        return "no sources"
    if "context or reference" in needs and not any(map(visible, (*example.context, *example.references))):
        return "no context and no reference"
    return None


def finish(asked: object) -> None:
    """Let a scorer or responder that runs a program end it, and check that no answer is left over.

    Raises:
        DataError: an answer is left over.
    """
    if callable(end := getattr(asked, "finish_answers", None)):
        end()


def run(
    scorer: Scorer,
    examples: Sequence[Example],
    *,
    batch_size: int = 512,
    progress: Advance = ignore,
    last: bool = True,
) -> Scores:
    """Return the scores of N examples by `scorer`, in the order of the examples.

    A score does not depend on batch size, order or duplicates. See `Card.reads_line` for the exception.

    Args:
        scorer: the scorer.
        examples: the examples.
        batch_size: distinct inputs in one call of `score_batch`.
        progress: called after each batch with the number of examples that it finished.
        last: whether no more examples follow, see `finish`.

    Raises:
        UsageError: the scorer returns something else than `Scores` of these examples.
        DataError: a program wrote more answers than it was asked for.
    """
    card = scorer.card
    distinct, reasons = _distinct(card, examples)
    progress(len(reasons))
    batch_size = max(len(distinct), 1) if card.reads_line else min(batch_size, card.batch_size or batch_size)
    by_position: dict[str, dict[int, Any]] = {"reasons": reasons, "warnings": {}, "details": {}}
    arrays: dict[str, FloatArray] = {"values": np.full(len(examples), np.nan)}
    combine = None
    for start in range(0, len(distinct), batch_size):
        groups = distinct[start : start + batch_size]
        scores = checked(scorer.score_batch([examples[group[0]] for group in groups]), len(groups), card.name)
        positions = list(chain.from_iterable(groups))
        rows = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        for name in ("values", "statistics", "low", "high"):
            if (array := getattr(scores, name)) is not None:
                # Statistics of unscored examples are 0, so that sums ignore them; a missing end is NaN.
                empty = np.full((len(examples), *array.shape[1:]), 0.0 if name == "statistics" else np.nan)
                arrays.setdefault(name, empty)[positions] = array[rows]
        for name, merged in by_position.items():
            for row, value in getattr(scores, name).items():
                merged.update(dict.fromkeys(groups[row], value))
        combine = scores.combine or combine
        progress(len(positions))
    if last:
        finish(scorer)
    notes = by_position["warnings"]
    for position, example in enumerate(examples):
        if isinstance(example.extra.get(FOLLOWED), list):
            notes[position] = (*notes.get(position, ()), SPOKE_LAST)
    ordered = {name: dict(sorted(merged.items())) for name, merged in by_position.items()}
    return Scores(signature=signature_of(scorer), combine=combine, **ordered, **arrays)  # type: ignore[arg-type]


def _distinct(card: Card, examples: Sequence[Example]) -> tuple[list[list[int]], dict[int, str]]:
    """Return the positions of each distinct input that can be scored, and the reasons why the rest cannot."""
    reasons: dict[int, str] = {}
    places: dict[Hashable, list[int]] = {}
    for position, example in enumerate(examples):
        if (reason := missing_need(card, example, allow_unanswered=card.reads_unanswered)) is not None:
            reasons[position] = reason
        else:
            texts = (example.context, example.response, example.references, example.sources)
            places.setdefault(position if card.reads_line else texts, []).append(position)
    return list(places.values()), reasons


def checked(scores: object, n: int, name: str) -> Scores:
    """Return the `Scores` of N examples by the scorer `name`, with a reason for every value that is not finite.

    Raises:
        UsageError: these are no `Scores`, or of another number of examples.
    """
    if not isinstance(scores, Scores):
        remedy = "Return rejoinder.Scores(values), values an array with a number or NaN for each example"
        raise UsageError(f"{name}: score_batch gave {shown(scores)}, expected Scores. {remedy}")
    try:
        values = np.asarray(scores.values, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim != 1:
        problem = f"the values of Scores are {shown(scores.values)}, expected one number for each example"
        raise UsageError(f"{name}: {problem}. Return an array of numbers")
    arrays: dict[str, Any] = {"values": values}
    for key in ("statistics", "low", "high"):
        if (array := getattr(scores, key)) is not None:
            arrays[key] = np.atleast_1d(array)
    for key, array in arrays.items():
        if len(array) != n:
            kind = "scores" if key == "values" else key
            raise UsageError(f"{name}: score_batch gave {len(array)} {kind} for {n} examples. Return one for each")
    reasons = {row: f"{name} gave {values[row]}" for row in np.flatnonzero(~np.isfinite(values)).tolist()}
    reasons |= {row: why for row, why in dict(scores.reasons or {}).items() if row in range(n)}
    arrays["values"] = np.where(np.isfinite(values), values, np.nan)
    return replace(scores, reasons=reasons, **arrays)


def data_frame(rows: Sequence[Mapping[str, Any]], **about: Any) -> Any:
    """Return a `pandas.DataFrame` of these rows; `about` goes to its `attrs`.

    Raises:
        MissingExtra: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingExtra("pandas", "pandas", "A data frame") from error
    frame = pandas.DataFrame.from_records(list(rows))
    frame.attrs.update(about)
    return frame
