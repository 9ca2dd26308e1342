"""A judge as a reward function, in the form that libraries for reinforcement learning call: TRL's trainers and others.

Shapes: N completions, S scorers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rejoinder.data.chat import read_content, spoken
from rejoinder.data.examples import as_turns
from rejoinder.data.scales import required
from rejoinder.data.thoughts import without_opening_tag, without_thoughts
from rejoinder.data.values import kind_of
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.improve.choosing import require_direction
from rejoinder.judges.protocol import is_judge
from rejoinder.scorer import Card, FloatArray, Scorer, ScorerLike, Scores, run
from rejoinder.scoring.catalog import DEFAULT, load_scorers
from rejoinder.scoring.unscored import nothing_scored
from rejoinder.stats.resamples import BoolArray

Completion = str | Sequence[Mapping[str, Any]]
"""A text, or chat messages."""
Prompt = Completion | Sequence[str]
"""These, or turns, oldest first."""
FEWEST = 32
"""Completions before the share of those without a reward counts."""


class Reward:
    """Rewards from 0 to 1 by scorers; call it, or hand it to whoever calls reward functions.

    It can be pickled where its scorers can.

    Attributes:
        scorers: what judges, by name; of several the lowest reward counts.
        asked: completions that it was called with.
        unscored: why some have no reward, counted.
    """

    def __init__(
        self,
        scorers: Mapping[str, Scorer],
        bounds: Mapping[str, tuple[float, float]],
        *,
        lower: bool,
        references: str | None,
        most_unscored: float,
    ) -> None:
        self.__name__ = f"reward_{'_'.join(scorers)}"  # what trainers call it in their logs
        self.scorers = scorers
        self.asked = 0
        self.unscored: Counter[str] = Counter()
        self._bounds, self._lower, self._references, self._most = bounds, lower, references, most_unscored

    def __call__(
        self, prompts: Sequence[Prompt], completions: Sequence[Completion], **columns: Any
    ) -> list[float | None]:
        """A reward from 0 to 1 for each completion, in their order; None where a scorer has no score for it.

        An empty completion, None and NaN too, is the worst one: its reward is 0, whatever a scorer would say. A prompt
        that is None has no turns, a reference that is None is none.

        Args:
            prompts: texts, each one turn (or several with speakers before them), chat messages, or lists of turns.
            completions: N texts, or chat messages, of which those of the assistant count.
            columns: what else the caller hands over; only the references are read, where they were named.

        Raises:
            UsageError: there are not as many completions as prompts, or as references; a prompt, a completion or a
                reference is none of these.
            NothingScored: more completions than are allowed have had no reward so far.
        """
        if len(prompts) != len(completions):
            raise UsageError(f"{len(prompts)} prompts and {len(completions)} completions, expected one for each")
        references = self._references_of(columns, len(prompts))
        examples = [
            Example(_turns(prompt), _text(completion), references=own)
            for prompt, completion, own in zip(prompts, completions, references, strict=True)
        ]
        empty = np.array([one.unanswered for one in examples], dtype=bool)
        rewards = np.where(empty, 0.0, self._rewards(examples, empty))
        self._require_enough(len(examples))
        return [None if math.isnan(one) else one for one in rewards.tolist()]

    def _rewards(self, examples: Sequence[Example], empty: BoolArray) -> FloatArray:
        """[N] the lowest reward by any scorer; NaN where one of them has none."""
        lowest = np.ones(len(examples))
        for name, scorer in self.scorers.items():
            scores = run(scorer, examples, last=False)
            self.unscored.update(why for row, why in scores.reasons.items() if not empty[row])
            lowest = np.minimum(lowest, self._bounded(name, scorer.card, scores))
        return lowest

    def _bounded(self, name: str, card: Card, scores: Scores) -> FloatArray:
        """[N] scores brought from the bounds to 0 to 1, higher is better; NaN stays."""
        low, high = self._bounds[name]
        values = scores.values
        if self._lower:
            unfavourable = scores.low if card.higher_is_better else scores.high
            if unfavourable is None:
                raise UsageError(
                    f"{name} does not say how sure it is of its scores. Leave lower out, or name a judge that does"
                )
            values = unfavourable
        shares = np.clip((values - low) / (high - low), 0.0, 1.0)
        return shares if card.higher_is_better else 1.0 - shares

    def _references_of(self, columns: Mapping[str, Any], count: int) -> Sequence[tuple[str, ...]]:
        """The references of each completion."""
        if self._references is None:
            return [()] * count
        given = columns.get(self._references)
        if given is None or len(given) != count:
            found = "none" if given is None else f"{len(given)} of them"
            raise UsageError(f"{count} completions and no references under {self._references!r} for each, but {found}")
        return [_references(one) for one in given]

    def _require_enough(self, count: int) -> None:
        """Count what was asked, and raise where too much of it has no reward."""
        self.asked += count
        lost = self.unscored.total()
        if self.asked >= FEWEST and lost > self._most * self.asked * len(self.scorers):
            why, _ = self.unscored.most_common(1)[0]
            raise nothing_scored(f"{lost:,} of {self.asked:,} completions have no reward; most often: {why}")


def reward(
    scorer: ScorerLike | Iterable[ScorerLike] = DEFAULT,
    *,
    bounds: tuple[float, float] | None = None,
    lower: bool = False,
    references: str | None = None,
    most_unscored: float = 0.5,
) -> Reward:
    """A reward function, `(prompts, completions, **columns) -> list[float | None]`, as TRL's trainers call it.

    Rewards lie between 0 and 1, so that no completion is worth any price; a completion that cannot be scored has None,
    which such trainers leave out.

    Args:
        scorer: what judges, see `load_scorer`; of several the lowest reward counts.
        bounds: the scores that are worth 0 and 1, for every scorer; None takes a judge's scale, or a metric's range.
        lower: whether the unfavourable end of a judge's interval counts and not its score, so that what it is unsure of
            is worth little.
        references: the column with the references of each completion; None hides them.
        most_unscored: the share of completions without a reward at which to stop, once there were some.

    Raises:
        UsageError: there is no such scorer, or it claims no direction, or it reads nothing but references and none were
            named, or it has no bounds and none were given; a number is out of range.
    """
    loaded = load_scorers(scorer)
    if not loaded:
        raise UsageError("no scorer was named; a reward needs one or more")
    if not 0 <= most_unscored <= 1:
        raise UsageError(f"most_unscored is {most_unscored}, expected a share from 0 to 1")
    for name, one in loaded.items():
        require_direction(one, "reward")
        if "reference" in one.card.needs and references is None:
            raise UsageError(f"{name} compares with references. Say which column has them: references='NAME'")
    between = {name: required(bounds) if bounds else _bounds_of(name, one) for name, one in loaded.items()}
    return Reward(loaded, between, lower=lower, references=references, most_unscored=most_unscored)


_BENT = 0.05  # of the scale: where `calibration.bent` puts a prediction of an end of the scale


def _bounds_of(name: str, scorer: Scorer) -> tuple[float, float]:
    """Return the scores of a judge that are worth 0 and 1, or the range of a metric.

    A judge with views bends its scores into its scale, and they never reach its ends: what it predicts to be the
    highest rating has a score a twentieth of the scale below it.
    """
    low, high = scorer.card.range
    if is_judge(scorer):
        ends = scorer.scale
        inside = _BENT * (ends[1] - ends[0]) if (low, high) == ends else 0.0
        return ends[0] + inside, ends[1] - inside
    if low is None or high is None:
        raise UsageError(f"{name} has no lowest and highest score. Say what is worth 0 and 1: bounds=(1, 5)")
    return low, high


def _is_missing(given: Any) -> bool:
    """Whether there is nothing: None, or NaN as in a column of pandas."""
    return given is None or (isinstance(given, float) and math.isnan(given))


def _turns(prompt: Prompt | None) -> tuple[str, ...]:
    """The turns of a prompt; none of a missing one."""
    if _is_missing(prompt):
        return ()
    if not isinstance(prompt, (str, Iterable)):
        raise UsageError(f"a prompt is {kind_of(prompt)}, expected a text, chat messages or turns")
    return tuple(as_turns(without_opening_tag(prompt) if isinstance(prompt, str) else list(prompt), "prompts"))


def _references(given: Any) -> tuple[str, ...]:
    """The references of a completion: a text or several, missing ones left out."""
    several = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    found = tuple(one for one in several if not _is_missing(one))
    if odd := next((one for one in found if not isinstance(one, str)), None):
        raise UsageError(f"a reference is {kind_of(odd)}, expected a text or several")
    return found


def _text(completion: Completion | None) -> str:
    """What a completion says: a text, or all that the assistant says in its messages; nothing where it is missing.

    Thoughts are no part of it, wherever they stand; text beside a call of a tool is.
    """
    if isinstance(completion, str):
        return without_thoughts(completion, anywhere=True)
    if completion is None or _is_missing(completion):
        return ""
    if not isinstance(completion, Iterable) or not all(isinstance(message, Mapping) for message in completion):
        raise UsageError("a completion is neither a text nor chat messages")
    if not any(read_content(message.get("content")).text or message.get("refusal") for message in completion):
        return ""
    said = (text for role, text in spoken(list(completion), "completions") if role == "assistant")
    return "\n".join(without_thoughts(text, anywhere=True) for text in said)
