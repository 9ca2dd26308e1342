"""The view `selection`: how well a reply answers its context, by a selector over an encoder's vectors.

Columns are cosines of unit vectors, and what they are beside those of replies that are given in any context.
Shapes: N examples, F features, D width of the encoder's vectors, O of the selector's own, C common replies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rejoinder.example import Example
from rejoinder.judges.features.table import Features, Group
from rejoinder.judges.features.view import Column, groups_of, names_of, table
from rejoinder.judges.protocol import Side
from rejoinder.models.selector import Selector
from rejoinder.models.student import Floats
from rejoinder.scorer import Encoder, FloatArray


def _cosine(one: Floats, other: Floats) -> float:
    """Return the cosine of two unit vectors, from -1 to 1; NaN where one of them is NaN."""
    return float(np.clip(one @ other, -1.0, 1.0))


class Asked(NamedTuple):
    """A context as a selector reads it, once for all replies to it.

    Attributes:
        whole: [O] all turns that are read.
        last: [O] the last turn alone.
        said: [O] the last turn and the one before, each as if it were a reply; NaN where there is none.
        common: [C] the cosines of the context with common replies.
        usual: the mean of these.
    """

    whole: Floats
    last: Floats
    said: tuple[Floats, Floats]
    common: Floats
    usual: float

    @classmethod
    def of(cls, selector: Selector, turns: Sequence[FloatArray]) -> Asked:
        """A context, of the encoder's vectors [D] of its last turn, of the one before and so on."""
        last, whole = (rows[0] for rows in selector.contexts(np.array(turns)[None]))
        common = np.clip(selector.common @ whole, -1.0, 1.0)
        said = selector.replies(np.array(turns[:2]))
        before = said[1] if len(turns) > 1 else np.full_like(whole, np.nan)
        return cls(whole, last, (said[0], before), common, float(common.mean()))


class Choice(NamedTuple):
    """A context, and a reply to it.

    Attributes:
        asked: the context.
        reply: [O] the vector of the reply.
        cosine: that of the two.
    """

    asked: Asked
    reply: Floats
    cosine: float

    @classmethod
    def of(cls, asked: Asked, reply: Floats) -> Choice:
        """A reply to a context."""
        return cls(asked, reply, _cosine(asked.whole, reply))

    @property
    def better(self) -> int:
        """How many common replies fit better."""
        return int(np.count_nonzero(self.asked.common > self.cosine))


COLUMNS: tuple[Column[Choice], ...] = (
    Column("answers_context", "context fit", lambda choice: choice.cosine),
    Column("answers_last", "context fit", lambda choice: _cosine(choice.asked.last, choice.reply)),
    Column("like_last", "context overlap", lambda choice: _cosine(choice.asked.said[0], choice.reply)),
    Column("like_before_last", "context overlap", lambda choice: _cosine(choice.asked.said[1], choice.reply)),
    Column("beyond_common", "context fit", lambda choice: choice.cosine - choice.asked.usual),
    Column("common_that_fit_better", "context fit", lambda choice: choice.better / len(choice.asked.common)),
)


@dataclass(frozen=True)
class SelectionView:
    """How well a reply answers its context, by a selector.

    Attributes:
        selector: which reply answers which context.
        encoder: whose vectors it reads; the one that it was trained over.
        name: what the view is called.

    Raises:
        DataError: the encoder is another.
    """

    selector: Selector
    encoder: Encoder
    name: str = "selection"
    needs: tuple[Side, ...] = ("context",)
    columns: tuple[str, ...] = names_of(COLUMNS)
    groups: tuple[Group, ...] = groups_of(COLUMNS)

    def __post_init__(self) -> None:
        """See that the two belong together."""
        self.selector.require(self.encoder)

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the features, and the version of the columns."""
        return {f"{self.name}_{key}": value for key, value in {**self.selector.options, "version": 1}.items()}

    def compute(self, examples: Sequence[Example]) -> Features:
        """[N, F]; NaN where the reply or the last turn has no vector, and of the turn before where there is none."""
        turns = [self._turns(example) for example in examples]
        vectors = self._vectors([*(example.response for example in examples), *(text for own in turns for text in own)])
        rows = [row for row, own in enumerate(turns) if own and {own[0], examples[row].response} <= vectors.keys()]
        absent = np.full(self.encoder.width, np.nan)
        asked = {
            own: Asked.of(self.selector, [vectors.get(text, absent) for text in own])
            for own in {turns[row] for row in rows}
        }
        found = np.full((len(examples), len(COLUMNS)), np.nan, dtype=np.float32)
        replies = self.selector.replies(np.array([vectors[examples[row].response] for row in rows])) if rows else ()
        found[rows] = table(
            COLUMNS, (Choice.of(asked[turns[row]], reply) for row, reply in zip(rows, replies, strict=True))
        )
        return found

    def _turns(self, example: Example) -> tuple[str, ...]:
        """The turns that are read, the last first; blank ones are none."""
        return tuple(turn for turn in reversed(example.context) if turn.strip())[: self.selector.turns]

    def _vectors(self, texts: Sequence[str]) -> dict[str, FloatArray]:
        """The vectors [D] of the texts that have one."""
        kinds = [text for text in dict.fromkeys(texts) if text.strip()]
        encoded = self.encoder.encode(kinds)
        there = np.flatnonzero(np.isfinite(encoded).all(axis=1)).tolist()
        return {kinds[row]: encoded[row] for row in there}
