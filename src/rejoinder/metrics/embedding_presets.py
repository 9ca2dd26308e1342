"""The names of the embedding metrics, their cards, and the rules behind each name.

Liu et al. 2016 print formulae (section 3.2) and released a script (`Evaluation/embedding_metrics.py` of
julianser/hed-dlg-truncated) that departs from them. Both are here under names of their own:

    plain name    the formulae, with words cut as the vectors in the box were made; what we recommend
    /paper        the formulae to the letter, tokens cut at single spaces
    /liu2016      the script with the gensim of its day, which scaled every vector to length 1 on loading
    /liu2016-raw  the script with gensim from 0.12.4 on, which does not; greedy matching then has no upper bound
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rejoinder.scorer import Card

Kind = Literal["average", "greedy", "extrema"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides an embedding metric, given the vectors.

    Attributes:
        kind: which of the three.
        tokenizer: name of the tokenizer.
        least_known: the share of a text's words that must have a vector. Fewer are what the other languages share with
            that of the vectors: names, "in", "die".
        unit: scale every word vector to length 1 first. Greedy matching is then a cosine, else a dot product.
        ties: which of the largest and smallest number of a dimension is the extreme where both are as far from zero.
        released: follow the script at the edges: no similarity of greedy matching is below 0 (its matrix starts with a
            column of zeros); a response without a usable vector scores 0, in greedy matching a reference too.
    """

    kind: Kind
    tokenizer: str = "words-2"
    least_known: float = 0.5
    unit: bool = False
    ties: Literal["max", "min"] = "max"
    released: bool = False


# In a tie of extrema the formula takes the minimum, the script the maximum. The published numbers are the script's, so
# the plain name follows it. The formulae of average and extrema take vectors as they are; so does the plain name.
_RULES = {
    "average": {
        "": Rules("average"),
        "/paper": Rules("average", "space-1", 0.0),
        "/liu2016": Rules("average", "space-1", 0.0, unit=True, released=True),
        "/liu2016-raw": Rules("average", "space-1", 0.0, released=True),
    },
    "greedy": {
        "": Rules("greedy", unit=True),
        "/paper": Rules("greedy", "space-1", 0.0, unit=True),
        "/liu2016": Rules("greedy", "space-1", 0.0, unit=True, released=True),
        "/liu2016-raw": Rules("greedy", "space-1", 0.0, released=True),
    },
    "extrema": {
        "": Rules("extrema"),
        "/paper": Rules("extrema", "space-1", 0.0, ties="min"),
        "/liu2016": Rules("extrema", "space-1", 0.0, unit=True, released=True),
        "/liu2016-raw": Rules("extrema", "space-1", 0.0, released=True),
    },
}
RULES: dict[str, Rules] = {
    f"embedding-{kind}{preset}": rules for kind, presets in _RULES.items() for preset, rules in presets.items()
}

_SUMMARIES = {
    "average": "cosine between the summed word vectors of response and reference",
    "greedy": "mean similarity of each word to the nearest word on the other side, both directions averaged",
    "extrema": "cosine between the most extreme numbers of each dimension of the word vectors",
}
_PRESETS = {
    "": "",
    "/paper": "; the printed formula, tokens cut at single spaces",
    "/liu2016": "; as the released script gives it on vectors of length 1",
    "/liu2016-raw": "; as the released script gives it on vectors as they are",
}
_EDGES = {
    "plain": "A text of which fewer than half of the words have a vector is unscored: it may be in another "
    "language than the vectors. A word counts as it is written, or in lower case where the vectors hold it so; a "
    "script without spaces is cut into the longest words that have a vector.",
    "unscored": "A text without a usable vector is unscored.",
    "greedy": "A text without a usable vector scores 0.",
    "other": "A response without a usable vector scores 0; a reference without one is left out.",
}


def _card(name: str, rules: Rules) -> Card:
    """The card of the metric called `name`."""
    preset = name.removeprefix(f"embedding-{rules.kind}")
    greedy = rules.kind == "greedy"
    edges = _EDGES[
        "plain" if rules.least_known else "unscored" if not rules.released else "greedy" if greedy else "other"
    ]
    program = "; julianser/hed-dlg-truncated, Evaluation/embedding_metrics.py, 2cfa08e" if rules.released else ""
    return Card(
        name=name,
        summary=_SUMMARIES[rules.kind] + _PRESETS[preset],
        kind="metric",
        needs=frozenset({"reference", "vectors"}),
        range=(0.0 if greedy and rules.released else -1.0, None if greedy and not rules.unit else 1.0),
        source=f"Liu et al. 2016, section 3.2{program}",
        version=2 if rules.least_known else 1,
        notes=f"Words without a vector are ignored. Of several references the best counts. {edges}"
        + " Unscored where the words of both texts multiply to more than 25,000,000." * greedy,
    )


CARDS: dict[str, Card] = {name: _card(name, rules) for name, rules in RULES.items()}
