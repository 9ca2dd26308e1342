"""What Sai et al. (2019) measured of ADEM, family by family, to stand beside a scorer of today.

Source: Sai, Gupta, Khapra and Srinivasan (2019), Re-evaluating ADEM, tables 3 to 6. ADEM as released, on the
training part of the Microsoft Social Media Conversation Corpus (Twitter, three turns, replies that people rated 4 or
higher of 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Row(NamedTuple):
    """A row of the published tables; None where a table has no such figure.

    Attributes:
        mean: of ADEM's scores, from 1 to 5.
        sd: their standard deviation.
        within: share of them within one standard deviation of their mean.
        pearson: correlation with the scores of the original replies.
        spearman: the same of ranks.
        better: share that scored better than the original.
        people: mean rating by people, of 150 of them (of table 6: of 250).
        lowest: the lowest score.
        highest: the highest.
    """

    mean: float
    sd: float | None = None
    within: float | None = None
    pearson: float | None = None
    spearman: float | None = None
    better: float | None = None
    people: float | None = None
    lowest: float | None = None
    highest: float | None = None


CONICITY = 0.59
"""Of ADEM's vectors of 200,000 responses."""
PUBLISHED: Mapping[str, Row] = {
    "reference": Row(2.75, 0.34, 0.7165, lowest=1.44, highest=4.19),
    "context-repeated": Row(3.03),
    "machine-response": Row(2.64),
    "swapped": Row(2.60),
    "no-punctuation": Row(2.85, 0.31, 0.7165, 0.55, 0.50, 0.6441, 4.83),
    "no-stop-words": Row(2.69, 0.33, 0.7060, 0.78, 0.76, 0.3792, 4.2),
    "no-common-words": Row(2.80, 0.24, 0.6908, 0.60, 0.57, 0.6033, 4.6),
    "nouns-and-verbs": Row(2.80, 0.36, 0.6896, 0.52, 0.49, 0.5671, 2.78),
    "no-entities": Row(2.74, 0.35, 0.7060, 0.98, 0.97, 0.1120),
    "synonyms": Row(2.83, 0.32, 0.7036, 0.79, 0.75, 0.6803),
    "jumbled": Row(2.73, 0.33, 0.72, 0.68, 0.64, 0.4702),
    "reversed": Row(2.75, 0.33, 0.6884, 0.52, 0.49, 0.4866),
    "nouns": Row(2.73, 0.39, 0.6826, 0.29, 0.26, 0.5064),
    "words-repeated": Row(2.70, 0.36, 0.7141, 0.91, 0.90, 0.3757),
    "generic-repeat": Row(2.65, 0.34, 0.6943),
    "generic-will-do": Row(2.69, 0.34, 0.70),
    "generic-fantastic": Row(3.18, 0.40, 0.694, 0.34, 0.32, 0.8693),
    "white-box": Row(3.62, 0.29, lowest=3.24, highest=4.30),
    "pool-best": Row(3.93, 0.24, people=1.9, lowest=3.39, highest=4.70),
}
