"""Bias: what a score correlates with, given the human rating: length, copying, casing and so on.

For each property of a reply: its partial correlation with the score given the rating, within data sets, and the points
of score for one step of it at the same rating. Neither proves a fault by itself: a rating is a noisy measure of
quality, and a property may rightly tell what the rating misses.

Shapes: N examples, G contexts, B resamples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rejoinder.auditing.partial import partial
from rejoinder.estimates import NAN, Estimate, estimate_of
from rejoinder.example import Example
from rejoinder.perturbations.preserving import STOP_WORDS
from rejoinder.scorer import FloatArray
from rejoinder.stats.resamples import IntArray, Sampling, percentile_interval, renumbered

RESAMPLES = 1000
FEWEST = 30
STATISTICS = ("partial correlation given the rating", "points of score for a step")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_FIRST = frozenset("i me my mine myself i'm i've i'll i'd we us our ours ourselves we're we've we'll we'd".split())  # noqa: SIM905 - words
_DIALECT = frozenset(
    "ain't ain gonna wanna gotta finna tryna imma lemme gimme dunno kinda sorta outta y'all yall em 'em cuz coz cos "  # noqa: SIM905 - words
    "nah yep yup yo ya u ur r n k pls plz thx lol lmao omg idk btw bruh bro dude innit aye wee lass bloke naw whatcha "
    "gotcha c'mon goin doin nothin somethin talkin thinkin wit dat dis dem dey da tho thru nite luv".split()
)
# Common first names, without those that are common words too (Will, Mark, Grace, Rose, Hope, Art).
_NAMES = frozenset(
    "james john robert michael william david richard joseph thomas charles daniel matthew anthony steven paul "  # noqa: SIM905 - words
    "andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob gary nicholas "
    "eric jonathan stephen larry justin scott brandon benjamin samuel gregory alexander frank patrick raymond "
    "jack dennis jerry tyler aaron jose adam nathan henry peter kyle mary patricia jennifer linda elizabeth "
    "barbara susan jessica sarah karen lisa nancy betty margaret sandra ashley kimberly emily donna michelle "
    "carol amanda melissa deborah stephanie rebecca sharon laura cynthia kathleen amy angela shirley anna "
    "brenda pamela emma nicole helen samantha katherine christine debra rachel carolyn janet maria catherine "
    "heather diane julie joyce victoria kelly christina joan evelyn lauren judith olivia jamal keisha latoya "
    "tyrone darnell ebony lakisha mohammed ahmed fatima ali omar wei juan carlos luis pedro ana lucia priya "
    "raj anil hiroshi yuki ivan olga sven ingrid tom bob jim mike dave steve joe sam ben alex kate jane alice "
    "lucy sophie harry".split()
)


class Property(NamedTuple):
    """A property of a reply that is not its quality.

    Attributes:
        name: its name.
        about: what is counted.
        value: from an example with at least one word to its value.
        step: the difference that the points of score are for.
        step_text: the same in words.
    """

    name: str
    about: str
    value: Callable[[Example], float]
    step: float
    step_text: str


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, with straight apostrophes."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def _share(condition: Callable[[str], bool]) -> Callable[[Example], float]:
    """Return a function that gives the share of words that meet a condition."""

    def share(example: Example) -> float:
        response = words(example.response)
        return sum(map(condition, response)) / len(response)

    return share


def _copied(example: Example) -> float:
    """Return the share of content words that are in the context; NaN without such words or a context."""
    content = [word for word in words(example.response) if word not in STOP_WORDS]
    context = set(words(" ".join(example.context)))
    return sum(word in context for word in content) / len(content) if content and context else NAN


def _capitals(example: Example) -> float:
    """Return the share of capitals among letters; NaN without letters that have capitals."""
    letters = [sign for sign in example.response if sign.lower() != sign.upper()]
    return sum(map(str.isupper, letters)) / len(letters) if letters else NAN


def _first_speaker(example: Example) -> float:
    """Return 1 if the reply is by the first speaker of the conversation, 0 if not; NaN without a context."""
    return float(len(example.context) % 2 == 0) if example.context else NAN


_TENTH = "a tenth of them"
PROPERTIES: tuple[Property, ...] = (
    Property("length", "words", lambda example: len(words(example.response)), 10, "ten words"),
    Property("generic wording", "share of stop words", _share(STOP_WORDS.__contains__), 0.1, _TENTH),
    Property("copying", "share of the other words that are in the context", _copied, 0.1, _TENTH),
    Property("casing", "share of capitals among letters", _capitals, 0.1, _TENTH),
    Property("first person", "share of words such as I and my", _share(_FIRST.__contains__), 0.1, _TENTH),
    Property("speaker", "whether it is by the first speaker", _first_speaker, 1, "yes for no"),
    Property("dialect", "share of words in dialect or chat spelling", _share(_DIALECT.__contains__), 0.1, _TENTH),
    Property(
        "named persons",
        "whether it has a common first name",
        lambda example: float(any(word in _NAMES for word in words(example.response))),
        1,
        "yes for no",
    ),
)


def biases(
    examples: Sequence[Example],
    scores: FloatArray,
    clusters: IntArray,
    sampling: Sampling,
    sign: int = 1,
    **labels: Any,
) -> list[Estimate]:
    """Return two estimates for each property: partial correlation, and points of score for a step of it.

    Args:
        examples: N examples. Those without a human rating are ignored.
        scores: [N], NaN without a score.
        clusters: [N] context of each, in [0, G).
        sampling: its seed decides the resamples.
        sign: -1 if a lower score is better, which reverses both estimates.
        labels: fields of the estimates, such as the scorer.
    """
    ratings = np.array([_rating(example) for example in examples], dtype=np.float64)
    sets = renumbered(np.array([example.dataset or "" for example in examples]))
    has_words = np.array([bool(words(example.response)) for example in examples], dtype=np.bool_)
    usable = np.isfinite(ratings) & np.isfinite(scores) & has_words
    estimates = []
    for prop in PROPERTIES:
        values = np.full(len(examples), np.nan)
        values[usable] = [prop.value(examples[row]) for row in np.flatnonzero(usable).tolist()]
        labels |= {"by": "property", "group": prop.name}
        estimates += _bias(prop, values, sign * scores, ratings, clusters, sets, sampling, labels)
    return estimates


def _rating(example: Example) -> float:
    """Return the rating as a share of its scale, or as it is without a scale; NaN without a rating."""
    rating, scale = example.rating(), example.scale()
    if rating is None:
        return NAN
    return rating if scale is None or scale[0] == scale[1] else (rating - scale[0]) / (scale[1] - scale[0])


def _bias(
    prop: Property,
    values: FloatArray,
    scores: FloatArray,
    ratings: FloatArray,
    clusters: IntArray,
    sets: IntArray,
    sampling: Sampling,
    labels: Mapping[str, Any],
) -> list[Estimate]:
    """Return the two estimates for a property with `values` [N], NaN for examples that are not used."""
    rows = np.flatnonzero(np.isfinite(values))
    fields = [{**labels, "n": len(rows), "statistic": name} for name in STATISTICS]
    if reason := _why_not(rows, ratings, values):
        return [Estimate(**each, reason=reason) for each in fields]
    centred = _within(sets[rows], values[rows], scores[rows], ratings[rows])
    resamples = Sampling(RESAMPLES, sampling.seed).draw(renumbered(clusters[rows]), "audit", "bias")
    drawn = partial(*centred, np.concatenate([*resamples.weights()], axis=1))
    if np.isnan(drawn.correlation[0]):
        reason = "nothing of it, or of the score, is left given the rating"
        return [Estimate(**each, reason=reason) for each in fields]
    draws = (drawn.correlation, prop.step * drawn.slope)
    return [
        estimate_of(percentile_interval(values, resamples.size), **each, contexts=resamples.size, seed=sampling.seed)
        for values, each in zip(draws, fields, strict=True)
    ]


def _why_not(rows: IntArray, ratings: FloatArray, values: FloatArray) -> str:
    """Return why nothing can be measured on these rows, or ""."""
    if not np.isfinite(ratings).any():
        return "no human ratings"
    if len(rows) < FEWEST:
        return f"{len(rows)} rated replies with a score and this property, {FEWEST} are needed"
    return "it is the same for all of them" if np.ptp(values[rows]) == 0 else ""


def _within(sets: IntArray, *variables: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return three variables [N] minus their means over each data set, whose scales and habits differ."""
    numbers = renumbered(sets)
    size = np.bincount(numbers)
    x, y, z = (values - (np.bincount(numbers, weights=values) / size)[numbers] for values in variables)
    return x, y, z
