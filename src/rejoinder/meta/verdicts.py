"""The records of a full study that say which of two scorers is nearer to people, and what each says of systems."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trait:
    """What lines have in common where one of two scorers is nearer to people.

    Attributes:
        what: which property of a line.
        n_first: lines where the first is nearer and that have the property.
        n_second: lines where the second is.
        mean_first: mean over the former.
        mean_second: mean over the latter.
        value: `mean_first` less `mean_second`; NaN where either is missing.
        low: lower end of its 95 % interval.
        high: upper end.
        reason: why figures are missing, else "".
    """

    what: str
    n_first: int
    n_second: int
    mean_first: float
    mean_second: float
    value: float
    low: float
    high: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Won:
    """A line where one of two scorers is much nearer to people than the other.

    Attributes:
        scorer: the nearer one.
        id: of the line.
        system: who responded.
        last_turn: the turn before the response.
        response: the response.
        reference: the first human response, or "".
        rating: mean rating.
        first: score of the first scorer on the scale of the ratings.
        second: that of the second.
    """

    scorer: str
    id: str
    system: str | None
    last_turn: str
    response: str
    reference: str
    rating: float
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class Extremes:
    """Responses that people find good and one scorer bad, and how many of them the other finds good.

    Scores have the mean and the variance of the ratings here; good is the top quarter of the scale, bad the bottom one.

    Attributes:
        good: responses that people find good.
        second_bad: those of them that the second scorer finds bad.
        first_good: those of these that the first finds good.
        first_bad: those of `good` that the first scorer finds bad.
        second_good: those of these that the second finds good.
    """

    good: int
    second_bad: int
    first_good: int
    first_bad: int
    second_good: int


@dataclass(frozen=True, slots=True)
class Duel:
    """Two scorers on the same lines: which is nearer to people's rating, how often, and on what lines.

    Attributes:
        first: the best judge, or the leading scorer where judge or metric is missing.
        second: the best metric, or the scorer that comes next.
        chosen: why these two.
        n: lines that both score.
        contexts: contexts they come from.
        n_first: lines where the first is nearer.
        n_second: lines where the second is.
        share: share of lines where the first is nearer, in [0, 1], lines where both are as near counted half.
        low: lower end of its 95 % interval.
        high: upper end.
        traits: what the lines have in common.
        extremes: counts on responses that people find good; None where the scale is not known.
        examples: lines where one is much nearer, both ways.
        method: how the figures were worked out.
        seed: seed of the resampling.
        reason: why figures are missing (NaN), else "".
    """

    first: str
    second: str
    chosen: str
    n: int
    contexts: int
    n_first: int
    n_second: int
    share: float
    low: float
    high: float
    traits: tuple[Trait, ...]
    extremes: Extremes | None
    examples: tuple[Won, ...]
    method: str
    seed: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SystemMean:
    """The mean of one system by one scorer.

    Attributes:
        system: its name.
        n: lines.
        mean: mean score.
        low: lower end of its 95 % interval.
        high: upper end.
        ahead: whether it is told apart from the system that comes next.
    """

    system: str
    n: int
    mean: float
    low: float
    high: float
    ahead: bool


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What one would conclude about systems from one scorer's means alone, and what people say of that.

    Two systems are told apart where the 95 % interval of the difference of their means leaves 0 out.

    Attributes:
        scorer: its name; "people" for the ratings.
        n: lines with a score, of a named system.
        contexts: contexts they come from.
        systems: best first by this scorer; none where data sets are taken together.
        pairs: pairs of systems.
        same: pairs that the scorer and people tell apart, in the same direction.
        neither: pairs that neither tells apart.
        only_scorer: pairs that only the scorer tells apart.
        only_people: pairs that only people tell apart.
        reversed: pairs that both tell apart, in opposite directions.
        method: how the figures were worked out.
        seed: seed of the resampling.
        reason: why there are none, else "".
    """

    scorer: str
    n: int
    contexts: int
    systems: tuple[SystemMean, ...]
    pairs: int
    same: int
    neither: int
    only_scorer: int
    only_people: int
    reversed: int
    method: str
    seed: int
    reason: str = ""
