"""The view `mood`: whether a reply takes a turn as people do, bad news with sympathy and good news with joy.

Shapes: N examples, F features, D width of the encoder's vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rejoinder.example import Example
from rejoinder.judges.features.meaning import joined
from rejoinder.judges.features.table import Features, Group
from rejoinder.judges.features.view import Column, groups_of, names_of, table
from rejoinder.judges.protocol import Side
from rejoinder.models.mood import Mood
from rejoinder.scorer import Encoder, FloatArray

LONGEST = 40
"""Words of a turn or a reply; of those that moods are learnt from 96 and 98 % have no more. What an essay feels like as
a whole says nothing of how it takes what was said."""


class Moods(NamedTuple):
    """The moods of an example, from -1 to 1 as in `Mood`.

    Attributes:
        turn: of the last turn.
        context: of the last three turns as one text.
        reply: of the reply, as if it were a turn.
        reaction: what the reply takes the turn for.
    """

    turn: float
    context: float
    reply: float
    reaction: float


COLUMNS: tuple[Column[Moods], ...] = (
    Column("turn", "context fit", lambda moods: moods.turn),
    Column("context", "context fit", lambda moods: moods.context),
    Column("reply", "context fit", lambda moods: moods.reply),
    Column("reaction", "context fit", lambda moods: moods.reaction),
    Column("reaction_to_turn", "context fit", lambda moods: moods.turn * moods.reaction),
    Column("reaction_to_context", "context fit", lambda moods: moods.context * moods.reaction),
    Column("reply_to_turn", "context fit", lambda moods: moods.turn * moods.reply),
)


@dataclass(frozen=True)
class MoodView:
    """What turn, context and reply are like, and whether that goes together.

    Attributes:
        mood: tells it of vectors.
        encoder: whose vectors it reads; the one that it was fitted over.
        name: what the view is called.

    Raises:
        DataError: the encoder is another.
    """

    mood: Mood
    encoder: Encoder
    name: str = "mood"
    needs: tuple[Side, ...] = ("context",)
    columns: tuple[str, ...] = names_of(COLUMNS)
    groups: tuple[Group, ...] = groups_of(COLUMNS)

    def __post_init__(self) -> None:
        """See that the two belong together."""
        self.mood.require(self.encoder)

    @property
    def options(self) -> Mapping[str, str]:
        """What decides the features, and the version of the columns."""
        return {f"{self.name}_{key}": value for key, value in {**self.mood.options, "version": 1}.items()}

    def compute(self, examples: Sequence[Example]) -> Features:
        """[N, F]; NaN where the reply or all of the context is blank, where a text has no vector, and of long ones."""
        turns = [[turn for turn in example.context if turn.strip()] for example in examples]
        rows = [row for row, own in enumerate(turns) if own and _short(own[-1]) and _short(examples[row].response)]
        texts = [(turns[row][-1], joined(turns[row]), examples[row].response) for row in rows]
        distinct = list(dict.fromkeys(text for own in texts for text in own))
        vectors = dict(zip(distinct, self.encoder.encode(distinct) if distinct else (), strict=True))
        found = np.full((len(examples), len(COLUMNS)), np.nan, dtype=np.float32)
        found[rows] = table(COLUMNS, (self._moods(*(vectors[text] for text in own)) for own in texts))
        return found

    def _moods(self, turn: FloatArray, context: FloatArray, reply: FloatArray) -> Moods:
        """Of three vectors [D]."""
        as_turn, as_context, as_reply = self.mood.of_turn(np.stack([turn, context, reply])).tolist()
        return Moods(as_turn, as_context, as_reply, float(self.mood.of_reaction(reply)))


def _short(text: str) -> bool:
    """Whether there are words, and no more than people say in a turn."""
    return 0 < len(text.split(None, LONGEST)) <= LONGEST
