"""The score of a whole conversation, from its turns, with the turns that lost it.

Every turn of the speaker who is judged is scored as a reply to what came before it. The conversation's score is halfway
between the mean of these turns and the mean of the worst quarter of them: people forgive a dull turn, but one that is
nonsense stays in their minds, so a plain mean is too kind to a good talker with lapses, and the worst turn alone hangs
on one score and falls with the length of the talk. The rule was set by this sense, not fitted to ratings. Where the
speaker says nothing the turn counts as the worst end of the scale: who falls silent is no better for it.

A conversation is out of the scorer's domain if more than half of its judged turns are. Otherwise all turns count, but a
turn out of the domain is not shown among the worst, because the scorer cannot judge it; a note says that there is one.
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
    """A turn of a conversation with its score.

    Attributes:
        turn: its place among all turns, from 1.
        response: its text.
        score: its score as a reply to the turns before it.
    """

    turn: int
    response: str
    score: float


class Replies(NamedTuple):
    """What is judged of one line.

    Attributes:
        places: which turns of the conversation, from 1.
        examples: each as a reply to what came before.
        reason: why there is none, or "".
    """

    places: list[int]
    examples: list[Example]
    reason: str = ""


@dataclass(frozen=True)
class DialogueScorer:
    """A scorer of replies as one of conversations; lines that are no conversations it scores as before.

    Attributes:
        scorer: what scores the turns.
        every: whether all lines are conversations; else those that say `"level": "dialogue"`.
    """

    scorer: Scorer
    every: bool = False

    @property
    def card(self) -> Card:
        """The scorer's own for the speaker's turns: it reads who speaks, and a conversation may end without a reply."""
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
        """The scorer's own, and how turns come together."""
        return {**self.scorer.options, LEVEL: "mean of all turns and of the worst quarter, silence at the low end"}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """The score of each conversation, and its worst turns."""
        found = [self._replies(example) for example in examples]
        scores = run(self.scorer, list(chain.from_iterable(one.examples for one in found)))
        ends = np.cumsum([len(one.examples) for one in found]).tolist()
        values, reasons, notes, details = np.full(len(examples), np.nan), {}, {}, {}
        plain: dict[int, int] = {}  # the lines that are no conversation, with the place of their one reply
        for row, (one, end) in enumerate(zip(found, ends, strict=True)):
            own = range(end - len(one.examples), end)
            values_of = [float(value) for value in scores.values[own.start : own.stop]]
            if self._whole(examples[row]):
                values_of = self._with_silence(one.examples, values_of)
            turns = [
                Turn(place, reply.response, value)
                for place, reply, value in zip(one.places, one.examples, values_of, strict=True)
                if math.isfinite(value)
            ]
            if not turns:
                alone = not self._whole(examples[row])
                reasons[row] = scores.reasons[own.start] if alone else one.reason or _why(scores, own)
                continue
            values[row] = self._sign * score_of([self._sign * turn.score for turn in turns])
            if noted := _notes(scores, own):
                notes[row] = noted
            if self._whole(examples[row]):
                outside = {place for place, at in zip(one.places, own, strict=True) if _is_outside(scores, at)}
                shown = [turn for turn in turns if turn.turn not in outside]
                details[row] = {WORST: worst_of(shown, self._sign)}
            else:
                plain[row] = end - 1
        ends_of = {name: _placed(getattr(scores, name), plain, len(examples)) for name in ("low", "high")}
        return Scores(values, reasons, warnings=notes, details=details, low=ends_of["low"], high=ends_of["high"])

    @property
    def _sign(self) -> int:
        """1 where higher scores are better, or where nobody says; -1 where lower ones are."""
        return -1 if self.scorer.card.higher_is_better is False else 1

    def _with_silence(self, replies: Sequence[Example], values: Sequence[float]) -> list[float]:
        """The scores of turns, NaN where there is none, with the worst where the speaker says nothing.

        That is the worst end of the scorer's scale, or the worst score of another turn where this lies beyond; a
        scorer without a direction knows no worst. Where a reference is missing that it needs, nothing has a score.
        """
        card, sign = self.scorer.card, self._sign
        ends = getattr(self.scorer, "scale", None) or card.range
        end = ends[0] if sign > 0 else ends[1]
        silent = [reply.unanswered and missing_need(card, reply) is None for reply in replies]
        said = [value for mute, value in zip(silent, values, strict=True) if not mute]
        known = [sign * float(value) for value in (*said, math.nan if end is None else end) if math.isfinite(value)]
        if card.higher_is_better is None or not known:
            return list(values)
        return [sign * min(known) if mute else value for mute, value in zip(silent, values, strict=True)]

    def _replies(self, example: Example) -> Replies:
        """What is judged of a line: every turn of a speaker, or the reply."""
        if self._whole(example):
            return replies_of(example)
        return Replies([len(example.context) + 1], [example])

    def _whole(self, example: Example) -> bool:
        """Whether a line is judged as a conversation."""
        return self.every or example.is_dialogue


def of_dialogues(scorer: Scorer, *, every: bool = False) -> Scorer:
    """The scorer, of conversations; one that reads a line's own columns says itself what it is of."""
    return scorer if scorer.card.reads_line else DialogueScorer(scorer, every)


def as_rated(scorer: Scorer, examples: Sequence[Example]) -> Scorer:
    """The scorer as these lines are to be scored: of conversations where some say that they are such."""
    return of_dialogues(scorer) if any(example.is_dialogue for example in examples) else scorer


def replies_of(example: Example) -> Replies:
    """Every turn of the judged speaker, each as a reply to what came before it.

    Who is judged says `rated_speaker`, where `speakers` names one for each turn; in chat messages it is the assistant;
    else turns alternate and the response is the judged speaker's.
    """
    turns = (*example.context, "" if example.unanswered else example.response)
    speakers = _speakers(example)
    if len(speakers) != len(turns):
        return Replies([], [], f"the speakers of {len(turns)} turns are not all named")
    judged = example.extra.get("rated_speaker", speakers[-1]) if "speakers" in example.extra else speakers[-1]
    places = [place for place, speaker in enumerate(speakers) if speaker == judged]
    if not places:
        return Replies([], [], "the judged speaker says nothing")
    last = len(turns) - 1
    return Replies(
        [place + 1 for place in places],
        [
            Example(turns[:place], turns[place], references=example.references if place == last else ())
            for place in places
        ],
    )


def score_of(turns: Sequence[float]) -> float:
    """The score of a conversation: half the mean of its turns, half that of the worst, which is the lowest, quarter."""
    ordered = sorted(turns)
    tail = ordered[: math.ceil(TAIL * len(ordered))]
    return (math.fsum(ordered) / len(ordered) + math.fsum(tail) / len(tail)) / 2


def worst_of(turns: Sequence[Turn], sign: int = 1) -> tuple[Turn, ...]:
    """The worst quarter of the turns, the worst first; of equal ones the first said. By -1 lower scores are better."""
    return tuple(sorted(turns, key=lambda turn: sign * turn.score)[: math.ceil(TAIL * len(turns))])


def _speakers(example: Example) -> Sequence[Any]:
    """Who said each turn."""
    count = len(example.context) + 1
    named, messages = example.extra.get("speakers"), example.extra.get("messages")
    if named is not None:
        return named if isinstance(named, Sequence) and not isinstance(named, str) else ()
    if is_chat(messages):
        said = spoken(messages, example.where)[:count]
        roles, texts = [role for role, _ in said], [text for _, text in said]
        if texts == [*example.context, example.response]:
            return roles
        if texts == list(example.context):  # they wait for the response
            return [*roles, "assistant"]
    return in_turn(count)


def _placed(ends: FloatArray | None, places: Mapping[int, int], count: int) -> FloatArray | None:
    """[N] ends of intervals, each from its place; NaN for a conversation: those of turns are none of a whole."""
    if ends is None or not places:
        return None
    found = np.full(count, np.nan)
    found[list(places)] = ends[list(places.values())]
    return found


def _why(scores: Scores, own: range) -> str:
    """Why no turn has a score."""
    most = Counter(scores.reasons[at] for at in own if at in scores.reasons).most_common(1)
    return f"{NO_TURN}: {most[0][0]}" if most else NO_TURN


def _notes(scores: Scores, own: range) -> tuple[str, ...]:
    """What is noted of more than half of the turns, and whether fewer are out of domain: one odd turn makes no more."""
    counts = Counter(note for at in own for note in scores.warnings.get(at, ()))
    notes = [note for note, count in counts.items() if 2 * count > len(own)]
    if counts[OUT_OF_DOMAIN] and OUT_OF_DOMAIN not in notes:
        notes.append(SOME_OUTSIDE)
    return tuple(sorted(notes, key=lambda note: note != OUT_OF_DOMAIN))  # it comes first


def _is_outside(scores: Scores, at: int) -> bool:
    """Return whether a turn is out of the scorer's domain."""
    return OUT_OF_DOMAIN in scores.warnings.get(at, ())
