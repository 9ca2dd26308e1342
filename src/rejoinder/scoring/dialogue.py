"""The score of a whole conversation, from its turns, with the worst of these turns.

Every turn of the judged speaker is scored as a reply to the turns before it. The conversation's score is halfway
between the mean of these turns and the mean of the worst quarter of them: people forgive a dull turn, but remember one
that is nonsense. A plain mean is too kind to a good talker with lapses, and the worst turn alone depends on one score
and falls with the length of the talk. The rule was set by this reasoning, not fitted to ratings. A turn without words
counts as the worst end of the scale, so that silence is no advantage.

A conversation is out of the scorer's domain if more than half of its judged turns are. Otherwise all turns count, but a
turn out of the domain is not shown among the worst, because the scorer cannot judge it; a warning reports it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from rejoinder.data.chat import in_turn, spoken
from rejoinder.data.messages import is_chat
from rejoinder.data.scored_keys import WORST
from rejoinder.example import LEVEL, Example
from rejoinder.scorer import OUT_OF_DOMAIN, Card, FloatArray, Scorer, Scores, missing_need, run

TAIL = 0.25  # share of the turns that count once more: the worst
SOME_OUTSIDE = "some turns out of domain"
NO_TURN = "no turn of the judged speaker has a score"


class Turn(NamedTuple):
    """A turn of a conversation, by its place among all turns from 1 on, with its score as a reply to those before."""

    turn: int
    response: str
    score: float


class Replies(NamedTuple):
    """The judged turns of a line: their places from 1 on, and each as a reply to the turns before it."""

    places: list[int]
    examples: list[Example]
    reason: str = ""  # why there is none


@dataclass(frozen=True)
class DialogueScorer:
    """A scorer of replies as a scorer of conversations; other lines it scores as before.

    Attributes:
        scorer: scores the turns.
        every: whether all lines are conversations; else those with `"level": "dialogue"`.
    """

    scorer: Scorer
    every: bool = False

    @property
    def card(self) -> Card:
        """The scorer's card with the needs of conversations: it reads the speakers, and the reply may be missing."""
        return replace(
            self.scorer.card,
            needs=frozenset(),
            reads_line=True,
            reads_unanswered=True,
            batch_size=None,
            explains=False,
        )

    @property
    def options(self) -> Mapping[str, Any]:
        """The scorer's options, and the rule for a conversation."""
        return {**self.scorer.options, LEVEL: "mean of all turns and of the worst quarter, silence at the low end"}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return the score of each conversation, and its worst turns."""
        judged = [self._replies(example) for example in examples]
        scores = run(self.scorer, list(chain.from_iterable(replies.examples for replies in judged)))
        values, reasons, warnings, details = np.full(len(examples), np.nan), {}, {}, {}
        single: dict[int, int] = {}  # the lines that are no conversation, with the place of their reply
        end = 0
        for row, (example, replies) in enumerate(zip(examples, judged, strict=True)):
            places = range(end, end + len(replies.examples))
            end = places.stop
            turn_values = [float(scores.values[at]) for at in places]
            if self._whole(example):
                turn_values = self._with_silence(replies.examples, turn_values)
            turns = [
                Turn(place, reply.response, value)
                for place, reply, value in zip(replies.places, replies.examples, turn_values, strict=True)
                if math.isfinite(value)
            ]
            if not turns:
                whole = self._whole(example)
                reasons[row] = replies.reason or _why(scores, places) if whole else scores.reasons[places.start]
                continue
            values[row] = self._sign * score_of([self._sign * turn.score for turn in turns])
            if texts := _warnings(scores, places):
                warnings[row] = texts
            if self._whole(example):
                pairs = zip(replies.places, places, strict=True)
                outside = {place for place, at in pairs if OUT_OF_DOMAIN in scores.warnings.get(at, ())}
                details[row] = {WORST: worst_of([turn for turn in turns if turn.turn not in outside], self._sign)}
            else:
                single[row] = places.start
        low, high = (_placed(ends, single, len(examples)) for ends in (scores.low, scores.high))
        return Scores(values, reasons, warnings=warnings, details=details, low=low, high=high)

    @property
    def _sign(self) -> int:
        """1 if higher scores are better, or if the scorer has no direction; -1 if lower ones are."""
        return -1 if self.scorer.card.higher_is_better is False else 1

    def _with_silence(self, replies: Sequence[Example], values: Sequence[float]) -> list[float]:
        """Return the scores of turns, with the worst for a turn without words.

        That is the worst end of the scorer's scale, or the worst score of another turn if this is even worse; a scorer
        without a direction has no worst. A turn that lacks a reference which the scorer needs has no score.
        """
        card, sign = self.scorer.card, self._sign
        ends = getattr(self.scorer, "scale", None) or card.range
        end = ends[0] if sign > 0 else ends[1]
        silent = [reply.unanswered and missing_need(card, reply) is None for reply in replies]
        spoken_values = [value for mute, value in zip(silent, values, strict=True) if not mute]
        known = [sign * value for value in (*spoken_values, math.nan if end is None else end) if math.isfinite(value)]
        if card.higher_is_better is None or not known:
            return list(values)
        return [sign * min(known) if mute else value for mute, value in zip(silent, values, strict=True)]

    def _replies(self, example: Example) -> Replies:
        """Return the judged turns of a line: every turn of a speaker, or the reply."""
        return replies_of(example) if self._whole(example) else Replies([len(example.context) + 1], [example])

    def _whole(self, example: Example) -> bool:
        """Return whether a line is judged as a conversation."""
        return self.every or example.is_dialogue


def of_dialogues(scorer: Scorer, *, every: bool = False) -> Scorer:
    """Return the scorer, of conversations; a scorer that reads the line's columns stays as it is."""
    return scorer if scorer.card.reads_line else DialogueScorer(scorer, every)


def as_rated(scorer: Scorer, examples: Sequence[Example]) -> Scorer:
    """Return the scorer, of conversations if some of these lines are rated as such."""
    return of_dialogues(scorer) if any(example.is_dialogue for example in examples) else scorer


def replies_of(example: Example) -> Replies:
    """Return every turn of the judged speaker, each as a reply to the turns before it.

    The judged speaker is `rated_speaker`, if `speakers` names one for each turn; in chat messages it is the assistant;
    else turns alternate and the response is by the judged speaker.
    """
    turns = (*example.context, "" if example.unanswered else example.response)
    speakers = _speakers(example)
    if len(speakers) != len(turns):
        return Replies([], [], f"the speakers of {len(turns)} turns are not all named")
    judged = example.extra.get("rated_speaker", speakers[-1]) if "speakers" in example.extra else speakers[-1]
    places = [place for place, speaker in enumerate(speakers) if speaker == judged]
    last = len(turns) - 1
    examples = [
        Example(turns[:place], turns[place], references=example.references if place == last else ()) for place in places
    ]
    return Replies([place + 1 for place in places], examples, "" if places else "the judged speaker says nothing")


def score_of(turns: Sequence[float]) -> float:
    """Return half the mean of the turns and half that of the worst quarter, which is the lowest."""
    ordered = sorted(turns)
    tail = ordered[: math.ceil(TAIL * len(ordered))]
    return (math.fsum(ordered) / len(ordered) + math.fsum(tail) / len(tail)) / 2


def worst_of(turns: Sequence[Turn], sign: int = 1) -> tuple[Turn, ...]:
    """Return the worst quarter of the turns, the worst first, equal ones in order. With -1 lower scores are better."""
    return tuple(sorted(turns, key=lambda turn: sign * turn.score)[: math.ceil(TAIL * len(turns))])


def _speakers(example: Example) -> Sequence[Any]:
    """Return the speaker of each turn."""
    count = len(example.context) + 1
    named, messages = example.extra.get("speakers"), example.extra.get("messages")
    if named is not None:
        return named if isinstance(named, Sequence) and not isinstance(named, str) else ()
    if is_chat(messages):
        pairs = spoken(messages, example.where)[:count]
        roles, texts = [role for role, _ in pairs], [text for _, text in pairs]
        if texts == [*example.context, example.response]:
            return roles
        if texts == list(example.context):  # they wait for the response
            return [*roles, "assistant"]
    return in_turn(count)


def _placed(ends: FloatArray | None, places: Mapping[int, int], count: int) -> FloatArray | None:
    """Return [N] ends of intervals, each from its place; NaN for a conversation, which the ends of turns do not fit."""
    if ends is None or not places:
        return None
    placed = np.full(count, np.nan)
    placed[list(places)] = ends[list(places.values())]
    return placed


def _why(scores: Scores, places: range) -> str:
    """Return why no turn has a score."""
    most = Counter(scores.reasons[at] for at in places if at in scores.reasons).most_common(1)
    return f"{NO_TURN}: {most[0][0]}" if most else NO_TURN


def _warnings(scores: Scores, places: range) -> tuple[str, ...]:
    """Return the warnings of more than half of the turns, and whether fewer are out of domain."""
    counts = Counter(text for at in places for text in scores.warnings.get(at, ()))
    warnings = [text for text, count in counts.items() if 2 * count > len(places)]
    if counts[OUT_OF_DOMAIN] and OUT_OF_DOMAIN not in warnings:
        warnings.append(SOME_OUTSIDE)
    return tuple(sorted(warnings, key=lambda text: text != OUT_OF_DOMAIN))  # it comes first
