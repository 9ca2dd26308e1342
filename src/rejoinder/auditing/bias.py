"""What a score goes with that people did not reward: length, copying, casing and the like, given the human rating.

For each property of a reply: its partial correlation with the score given the rating, within data sets, and how many
points of score a step of it is worth where the rating stays. Neither is proof of a fault by itself: a rating is a noisy
measure of quality, and what it misses a property may rightly tell.

Shapes: N examples, G contexts, B resamples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rejoinder.auditing.partial import partial
from rejoinder.example import Example
from rejoinder.perturbations.preserving import STOP_WORDS
from rejoinder.scorer import FloatArray
from rejoinder.stats.figure import NONE, NOTHING, Figure
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling, percentile_interval, renumbered

RESAMPLES = 1000
FEWEST = 30
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
    """Something of a reply that is not its quality.

    Attributes:
        name: what it is called.
        about: what is counted.
        of: its value for an example that has a word.
        step: how much of it is looked at.
        said: that in words.
    """

    name: str
    about: str
    of: Callable[[Example], float]
    step: float
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias(Figure):
    """The partial correlation of score and a property of the reply given the rating, over n rated replies.

    Attributes:
        property: its name.
        about: what is counted.
        step: how much of it `points` is about, in words.
        points: points of score for a step more, where the rating stays.
    """

    property: str
    about: str
    step: str
    points: Figure = NOTHING


def words(text: str) -> list[str]:
    """The words of a text in lower case, with straight apostrophes."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def _share(of: Callable[[str], bool]) -> Callable[[Example], float]:
    """The share of words of which something holds."""

    def share(one: Example) -> float:
        own = words(one.response)
        return sum(map(of, own)) / len(own)

    return share


def _copied(one: Example) -> float:
    """The share of words that say something, and stand in the context; NaN without such words or a context."""
    said, before = [word for word in words(one.response) if word not in STOP_WORDS], set(words(" ".join(one.context)))
    return sum(word in before for word in said) / len(said) if said and before else NONE


def _capitals(one: Example) -> float:
    """The share of letters that are capitals; NaN without letters that have them."""
    letters = [sign for sign in one.response if sign.lower() != sign.upper()]
    return sum(map(str.isupper, letters)) / len(letters) if letters else NONE


def _first_speaker(one: Example) -> float:
    """1 where the reply is by who began the conversation, 0 where by the other; NaN without a context."""
    return float(len(one.context) % 2 == 0) if one.context else NONE


_TENTH = "a tenth of them"
PROPERTIES: tuple[Property, ...] = (
    Property("length", "words", lambda one: len(words(one.response)), 10, "ten words"),
    Property("generic wording", "share of stop words", _share(STOP_WORDS.__contains__), 0.1, _TENTH),
    Property("copying", "share of the other words that stand in the context", _copied, 0.1, _TENTH),
    Property("casing", "share of capitals among letters", _capitals, 0.1, _TENTH),
    Property("first person", "share of words such as I and my", _share(_FIRST.__contains__), 0.1, _TENTH),
    Property("speaker", "by who began the conversation", _first_speaker, 1, "yes for no"),
    Property("dialect", "share of words in dialect or chat spelling", _share(_DIALECT.__contains__), 0.1, _TENTH),
    Property(
        "named persons",
        "whether a common first name is said",
        lambda one: float(any(word in _NAMES for word in words(one.response))),
        1,
        "yes for no",
    ),
)


def biases(
    examples: Sequence[Example], scores: FloatArray, clusters: IntArray, sampling: Sampling, sign: int = 1
) -> tuple[Bias, ...]:
    """The bias of scores [N] by each property of the replies to examples.

    Args:
        examples: the examples, of which those that people rated count.
        scores: NaN where there is none.
        clusters: [N] the context of each, in [0, G).
        sampling: its seed decides the resamples.
        sign: -1 where a lower score is the better one, which turns both figures round.
    """
    ratings = np.array([_rating(one) for one in examples], dtype=np.float64)
    sets = renumbered(np.array([one.dataset or "" for one in examples]))
    worded = np.array([bool(words(one.response)) for one in examples], dtype=np.bool_)
    usable = np.isfinite(ratings) & np.isfinite(scores) & worded
    return tuple(_bias(one, examples, sign * scores, ratings, usable, clusters, sets, sampling) for one in PROPERTIES)


def _rating(example: Example) -> float:
    """The rating as a share of its scale, or as it is where nobody states one; NaN where there is none."""
    rating, scale = example.rating(), example.scale()
    if rating is None:
        return NONE
    return rating if scale is None or scale[0] == scale[1] else (rating - scale[0]) / (scale[1] - scale[0])


def _bias(
    one: Property,
    examples: Sequence[Example],
    scores: FloatArray,
    ratings: FloatArray,
    usable: BoolArray,
    clusters: IntArray,
    sets: IntArray,
    sampling: Sampling,
) -> Bias:
    """The bias by one property."""
    values = np.full(len(examples), np.nan)
    values[usable] = [one.of(examples[place]) for place in np.flatnonzero(usable).tolist()]
    places = np.flatnonzero(np.isfinite(values))
    about: dict[str, Any] = {"property": one.name, "about": one.about, "step": one.said}
    if why := _why_not(places, ratings, values):
        return Bias(**about, n=len(places), reason=why)
    own = _within(sets[places], values[places], scores[places], ratings[places])
    contexts = renumbered(clusters[places])
    resamples = Sampling(RESAMPLES, sampling.seed).draw(contexts, "audit", "bias")
    drawn = partial(*own, np.concatenate([*resamples.weights()], axis=1))
    if np.isnan(drawn.correlation[0]):
        return Bias(**about, n=len(places), reason="the rating leaves nothing of it, or of the score")
    told, points = (percentile_interval(draws, resamples.size) for draws in (drawn.correlation, one.step * drawn.slope))
    return Bias.of(told, **about, points=points, n=len(places))


def _why_not(places: IntArray, ratings: FloatArray, values: FloatArray) -> str:
    """Why nothing can be said of the examples at these places, or ""."""
    if not np.isfinite(ratings).any():
        return "nobody rated these replies"
    if len(places) < FEWEST:
        return f"{len(places)} rated replies with a score of which it is known, {FEWEST} are needed"
    return "it is the same for all of them" if np.ptp(values[places]) == 0 else ""


def _within(sets: IntArray, *variables: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Three variables [N] less their means over each data set, whose scales and habits differ."""
    of_set = renumbered(sets)
    size = np.bincount(of_set)
    x, y, z = (values - (np.bincount(of_set, weights=values) / size)[of_set] for values in variables)
    return x, y, z
