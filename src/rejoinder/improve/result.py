"""What re-ranking came to: how often each system won, and by how much the replies became better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rejoinder.meta.frames import FORMAT_VERSION, results_frame
from rejoinder.scorer import Signature
from rejoinder.stats.figure import Figure, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One system whose replies there were to choose among.

    Attributes:
        name: of the system; of replies that nobody is named for, what the first of a list is called.
        offered: contexts in which it has a reply.
        won: contexts in which one of its replies was chosen.
        kept: contexts in which its first reply was, which it would have said by itself.
        share: of the contexts with a chosen reply that it won.
        mean: measured score of its first replies, where chosen and first reply have one.
        gain: by how much the chosen replies are above them, there.
    """

    name: str
    offered: int
    won: int
    kept: int
    share: Figure
    mean: Figure
    gain: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranking:
    """What was chosen, counted and measured.

    Attributes:
        answer: what was found, in sentences.
        scorer: what chose.
        measured_by: what measured, or None.
        higher_is_better: the direction of what measured.
        contexts: how many there were.
        several: those with two candidates or more.
        candidates: in all of them.
        answered: contexts with a chosen reply.
        unanswered: why the others have none, counted.
        unscored: why candidates could not be chosen, counted.
        unmeasured: why chosen replies have no measured score, counted.
        noted: what the scorer that chose cannot judge of the chosen replies, counted.
        out_of_domain: by scorer that cannot judge the candidates, or what it measured, why; nothing follows from it.
        facts: the warning that facts were not checked, or "".
        systems: most wins first.
        chosen: measured score of the chosen replies.
        shared: data sets that both what chose and what measured were fitted on.
        references: whether what chose compares with references.
        signatures: of both, by name.
        resamples: of contexts.
        seed: of the resamples.
    """

    answer: tuple[str, ...]
    scorer: str
    measured_by: str | None
    higher_is_better: bool | None
    contexts: int
    several: int
    candidates: int
    answered: int
    unanswered: Mapping[str, int]
    unscored: Mapping[str, int]
    unmeasured: Mapping[str, int]
    noted: Mapping[str, int]
    out_of_domain: Mapping[str, str]
    facts: str
    systems: tuple[System, ...]
    chosen: Figure
    shared: tuple[str, ...]
    references: bool
    signatures: Mapping[str, Signature]
    resamples: int
    seed: int

    @property
    def best_single(self) -> System | None:
        """The system that does best by itself, of those with a reply in at least half of the measured contexts."""
        sign = -1 if self.higher_is_better is False else 1
        known = [one for one in self.systems if one.gain.known and 2 * one.gain.n >= self.chosen.n]
        return min(known, key=lambda one: sign * one.gain.value, default=None)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; keys: `version`, `answer`, `results` (one mapping a figure), `systems`, counts."""
        return {
            "version": FORMAT_VERSION,
            "answer": list(self.answer),
            "results": self._results(),
            "systems": [
                {"name": one.name, "offered": one.offered, "won": one.won, "kept": one.kept} for one in self.systems
            ],
            "counts": {
                name: plain(getattr(self, name))
                for name in ("contexts", "several", "candidates", "answered", "unanswered", "unscored", "unmeasured")
            },
            "notes": {self.scorer: dict(self.noted)},
            "out_of_domain": dict(self.out_of_domain),
            "signature": {name: plain(signature.fields) for name, signature in self.signatures.items()},
            "options": {
                "scorer": self.scorer,
                "measured_by": self.measured_by,
                "resamples": self.resamples,
                "seed": self.seed,
            },
            "fitted_on_by_both": list(self.shared),
        }

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signatures stand in its `attrs`."""
        return results_frame(self.to_dict())

    def _results(self) -> list[dict[str, Any]]:
        """Every figure with what it is about."""
        figures = [("", self.measured_by, "mean of the chosen", self.chosen)] if self.measured_by else []
        for one in self.systems:
            figures.append((one.name, self.scorer, "share won", one.share))
            if self.measured_by:
                figures.append((one.name, self.measured_by, "mean", one.mean))
                figures.append((one.name, self.measured_by, "gain", one.gain))
        return [
            {
                "system": system,
                "scorer": scorer,
                "level": "turn",
                "statistic": statistic,
                **{part: plain(getattr(one, part)) for part in ("n", "value", "low", "high", "p", "method", "reason")},
                "seed": self.seed,
            }
            for system, scorer, statistic, one in figures
        ]
