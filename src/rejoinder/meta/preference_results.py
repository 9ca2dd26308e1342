"""The records that a study of preference pairs returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rejoinder.meta.frames import FORMAT_VERSION, results_frame
from rejoinder.scorer import Signature
from rejoinder.stats.figure import NONE, Figure, plain

Kind = Literal["judge", "metric", "baseline", "people"]
Verdict = Literal["above", "below", "inconclusive", "undefined", "out of domain"]
Statistic = Literal[
    "accuracy", "accuracy, longer preferred", "accuracy, shorter preferred", "accuracy less that of the longer reply"
]
ACCURACY: Statistic = "accuracy"
OF_LONGER: Statistic = "accuracy, longer preferred"
OF_SHORTER: Statistic = "accuracy, shorter preferred"
LESS_LENGTH: Statistic = "accuracy less that of the longer reply"
CHANCE = 0.5
LENGTH, OVERLAP, FIRST, PEOPLE = "length", "context-overlap", "the first reply", "one person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference(Figure):
    """How often one scorer takes the reply that people prefer, over n pairs of one data set.

    Accuracies lie in [0, 1], chance is 0.5; differences in [-1, 1], chance is 0. p is two-sided, of chance.

    Attributes:
        dataset: name of the data set.
        scorer: name of the scorer; of what takes the first reply, and of a person, the words for it.
        kind: "judge", "metric", "baseline" (trivial) or "people" (one vote against the others).
        statistic: what `value` is.
        unscored: pairs with a preference that the scorer gave no two scores.
        contexts: contexts of those n pairs; whole contexts are resampled.
        p_adjusted: p by Holm for the number of scorers asked for and able to judge the replies; NaN of the others.
        verdict: whether the value is above or below chance, by `p_adjusted` and the interval; "out of domain" where the
            scorer cannot judge the replies; None for rows that were not asked for.
    """

    dataset: str
    scorer: str
    kind: Kind
    statistic: Statistic
    unscored: int
    contexts: int
    p_adjusted: float = NONE
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class PairCard:
    """What the pairs of a data set are.

    Attributes:
        dataset: its name.
        title: what people call it; see `humans.lines.title_of`.
        pairs: how many; those of several lines, as where people were asked in both orders, count once.
        lines: how many hold them.
        ties: of these, those where people prefer neither; they are in no accuracy.
        contexts: of all pairs.
        votes: single votes.
        longer: pairs whose longer reply, in words, is preferred.
        shorter: pairs whose shorter reply is.
        empty: pairs with a preference of which one reply is empty.
    """

    dataset: str
    title: str
    pairs: int
    lines: int
    ties: int
    contexts: int
    votes: int
    longer: int
    shorter: int
    empty: int


@dataclass(frozen=True, slots=True)
class PairStudy:
    """Scorers against people's choices between two replies.

    Attributes:
        answer: what was found, in sentences.
        results: one per data set, scorer and statistic.
        cards: the data sets.
        asked: the scorers that were asked for.
        fitted: the judges that were fitted on lines of the data sets, and of which of them.
        withheld: those that are not here because nobody asked for them, likewise.
        signatures: where the scores came from, by scorer.
        notes: by scorer, how many replies each note stands at.
        out_of_domain: by data set and scorer that cannot judge its replies, why; the scorer has no verdict there.
        facts: the warning that facts were not checked, or "".
        resamples: number of resamples behind each interval.
        seed: their seed.
    """

    answer: tuple[str, ...]
    results: tuple[Preference, ...]
    cards: tuple[PairCard, ...]
    asked: tuple[str, ...]
    fitted: Mapping[str, Sequence[str]]
    withheld: Mapping[str, Sequence[str]]
    signatures: Mapping[str, Signature]
    notes: Mapping[str, Mapping[str, int]]
    out_of_domain: Mapping[str, Mapping[str, str]]
    facts: str
    resamples: int
    seed: int

    def rows(self, dataset: str, statistic: Statistic = ACCURACY) -> list[Preference]:
        """The results of a data set by one statistic, people first, then the best."""
        found = [one for one in self.results if one.dataset == dataset and one.statistic == statistic and one.n]
        return sorted(found, key=lambda one: (one.kind != "people", -one.value))

    def judged(self, dataset: str) -> list[Preference]:
        """Return the accuracies of the scorers asked for that can judge the replies, the best first.

        Baselines are among them where no other scorer is.
        """
        rows = [row for row in self.rows(dataset) if row.scorer in self.asked and row.verdict != "out of domain"]
        return [row for row in rows if row.kind != "baseline"] or rows

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signatures stand in its `attrs`."""
        return results_frame(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The study as plain JSON values: numbers that do not exist are None, never NaN."""
        return {
            "version": FORMAT_VERSION,
            "answer": list(self.answer),
            "results": [{**plain(one), "level": "pair"} for one in self.results],
            "data": plain(self.cards),
            "signature": {name: plain(signature.fields) for name, signature in self.signatures.items()},
            "notes": {name: dict(notes) for name, notes in self.notes.items()},
            "out_of_domain": {name: dict(reasons) for name, reasons in self.out_of_domain.items() if reasons},
            "options": {"resamples": self.resamples, "seed": self.seed, "scorers": list(self.asked)},
        }
