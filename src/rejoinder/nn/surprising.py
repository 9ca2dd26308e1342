"""What the surprisal network reads and how large it is: pieces of a context and of replies, laid out in numbers.

Its arithmetic and its training read the same layout. A context is its last turns, each with an end behind it; a reply
is its words, with an end as the last of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.nn.averaging import LEFT, RIGHT

UNKNOWN, END = 1, 2  # in every vocabulary of `text.bpe`, as is padding, which is 0
TURNS = 4
"""Turns of a context that are read, the last ones."""
LAST_TURN, ODD_TURN, EVEN_TURN, REPLY = range(4)
"""What a piece is part of: of the turns before the last, every other one is the same speaker's."""

Ints = NDArray[np.int64]


class Laid(NamedTuple):
    """n pieces as the network reads them, each field [n].

    Attributes:
        ids: of the pieces.
        previous: the piece before each; an end before the first.
        places: of a reply's pieces counted from its beginning; of a context's from its end, behind all of these.
        roles: `LAST_TURN`, `ODD_TURN`, `EVEN_TURN` or `REPLY`.
    """

    ids: Ints
    previous: Ints
    places: Ints
    roles: Ints


@dataclass(frozen=True)
class SurprisalSizes:
    """What decides the shape of the network, and how much it reads.

    Attributes:
        vocabulary: pieces.
        width: of the vectors of pieces, D.
        layers: of attention.
        heads: of a layer; they share D.
        inner: units between the two maps of a layer.
        buckets: rows for pairs of neighbouring pieces, which are hashed.
        context: pieces of a context that are read, the last ones.
        reply: pieces of a reply that are read, its end among them; a word that does not fit is not read.
        places: that are told apart; all behind them are like the last.
    """

    vocabulary: int
    width: int = 128
    layers: int = 3
    heads: int = 4
    inner: int = 384
    buckets: int = 65_536
    context: int = 80
    reply: int = 80
    places: int = 64

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor of the network, by the names that `SurprisalModel` has for them."""
        width = self.width
        found: dict[str, tuple[int, ...]] = {
            "pieces.weight": (self.vocabulary, width),
            "pairs.weight": (self.buckets, width),
            "places.weight": (2 * self.places, width),
            "roles.weight": (REPLY + 1, width),
            "piece_says.weight": (self.vocabulary, 2),
            "pair_says.weight": (self.buckets, 2),
            **_map("told", 2, width),
            **_norm("last", width),
        }
        for name in (f"layers.{number}" for number in range(self.layers)):
            found |= _norm(f"{name}.before", width) | _norm(f"{name}.after", width)
            found |= _map(f"{name}.reads", 3 * width, width) | _map(f"{name}.writes", width, width)
            found |= _map(f"{name}.up", self.inner, width) | _map(f"{name}.down", width, self.inner)
        return found

    def context_laid(self, turns: Sequence[Sequence[int]]) -> Laid:
        """A context, given as the pieces of each of its turns, oldest first; of none, nothing."""
        ids: list[int] = []
        roles: list[int] = []
        for back, turn in reversed(list(enumerate(reversed(turns[-TURNS:])))):
            ids += [*map(_plain, turn), END]
            role = LAST_TURN if not back else ODD_TURN if back % 2 else EVEN_TURN
            roles += [role] * (len(turn) + 1)
        kept = np.array(ids[-self.context :], dtype=np.int64)
        places = self.places + np.minimum(np.arange(len(kept))[::-1], self.places - 1)
        return Laid(kept, _shifted(kept), places, np.array(roles[-self.context :], dtype=np.int64))

    def reply_laid(self, words: Sequence[Sequence[int]]) -> tuple[Laid, Ints]:
        """A reply, given as the pieces of each of its words, and [n] the place of the word that each piece is of.

        Its end is the word behind the last, where all of them are read. Of a first word that is too long by itself the
        beginning is read.
        """
        ids: list[int] = []
        owners: list[int] = []
        read = [[*map(_plain, word)] or [UNKNOWN] for word in words]
        for place, pieces in enumerate([*read, [END]]):
            if ids and len(ids) + len(pieces) > self.reply:
                break
            ids += pieces[: self.reply]
            owners += [place] * len(pieces[: self.reply])
        kept = np.array(ids, dtype=np.int64)
        places = np.minimum(np.arange(len(kept)), self.places - 1)
        return Laid(kept, _shifted(kept), places, np.full(len(kept), REPLY)), np.array(owners, dtype=np.int64)

    def pairs(self, laid: Laid) -> Ints:
        """[n] the rows of the pairs that the pieces are the second of."""
        return (laid.previous * LEFT + laid.ids * RIGHT) % self.buckets


def _shifted(ids: Ints) -> Ints:
    """[n] the piece before each."""
    return np.concatenate(([END], ids[:-1])) if len(ids) else ids


def _plain(piece: int) -> int:
    """A piece of a text: marks that are written in it are no padding and no end."""
    return UNKNOWN if piece in (0, END) else piece


def _map(name: str, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
    """The shapes of a linear map."""
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str, width: int) -> dict[str, tuple[int, ...]]:
    """The shapes of a normalisation."""
    return {f"{name}.{part}": (width,) for part in ("weight", "bias")}
