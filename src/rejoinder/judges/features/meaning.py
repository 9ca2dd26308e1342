"""Features of sentence vectors: nearness in meaning, whether a reply answers its context, how it takes news.

Shapes: N examples, P examples that have what a feature needs, D width of an encoder's vectors, K contexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.judges.features.table import FeatureBlock, Features, joint_features
from rejoinder.models.encoders import PortableEncoder
from rejoinder.models.mood import Mood
from rejoinder.models.selector import Selector
from rejoinder.scorer import Encoder, FloatArray

_TURNS = 6  # turns that `meaning` compares one by one
_JOINED_TURNS = 3  # turns that are read as one text
SHORT_WORDS = 40
"""Words of a turn whose mood is read: of those that moods are fitted on 96 % have no more. Essays have no one mood."""


def meaning_block(encoder: PortableEncoder, name: str = "meaning") -> FeatureBlock:
    """Return cosines of the reply with the turns before it; NaN if a text has no vector.

    `context` is that with the last three turns as one text, `nearest` the highest and `mean` the mean over the last six
    turns, `drift` the cosine of the last turn with the one before, which does not depend on the reply.
    """
    features = (
        *joint_features("context fit", -1, 1, "last", "before_last"),
        *joint_features("context overlap", -1, 1, "two_before_last"),
        *joint_features("context fit", -1, 1, "context"),
        *joint_features("context overlap", -1, 1, "nearest"),
        *joint_features("context fit", -1, 1, "mean", "drift"),
    )
    return FeatureBlock(name, features, partial(_meaning, encoder))


def reference_meaning_block(encoder: PortableEncoder, name: str = "reference_meaning") -> FeatureBlock:
    """Return the highest and the mean cosine of the reply with its references; NaN without any."""
    features = joint_features("reference fit", -1, 1, "best", "mean")
    return FeatureBlock(name, features, partial(_reference_meaning, encoder), needs_reference=True)


def selection_block(selector: Selector, encoder: Encoder) -> FeatureBlock:
    """Return cosines of a selector, and how they compare with those of replies that are given in any context.

    Raises:
        DataError: the encoder is not the one that the selector was trained over.
    """
    selector.require(encoder)
    features = (
        *joint_features("context fit", -1, 1, "answers_context", "answers_last"),
        *joint_features("context overlap", -1, 1, "like_last", "like_before_last"),
        *joint_features("context fit", -2, 2, "beyond_common"),
        *joint_features("context fit", 0, 1, "common_that_fit_better"),
    )
    return FeatureBlock("selection", features, partial(_selection, selector, encoder))


def mood_block(mood: Mood, encoder: Encoder) -> FeatureBlock:
    """Return the moods of turn, context and reply from -1 to 1, and products that show whether they go together.

    Raises:
        DataError: the encoder is not the one that the moods were fitted over.
    """
    mood.require(encoder)
    names = ("turn", "context", "reply", "reaction", "reaction_to_turn", "reaction_to_context", "reply_to_turn")
    return FeatureBlock("mood", joint_features("context fit", -1, 1, *names), partial(_mood, mood, encoder))


def _meaning(encoder: PortableEncoder, examples: Sequence[Example]) -> Features:
    """Return [N, 7] features."""
    features = np.full((len(examples), 7), np.nan, np.float32)
    turns = [*map(_turns, examples)]
    rows = [row for row, example in enumerate(examples) if turns[row] and example.response.strip()]
    if not rows:
        return features
    texts = [(*turns[row][-_TURNS:], _joined(turns[row]), examples[row].response) for row in rows]
    places, vectors = _encode(encoder, (text for several in texts for text in several), unit=True)
    at = np.full((len(rows), _TURNS + 2), len(places))  # [P, 8] turns, the last one in column 5; context; reply
    for row, several in zip(at, texts, strict=True):
        row[-len(several) :] = [places[text] for text in several]
    cosines = _cosines(vectors[at[:, :-1]], vectors[at[:, -1], None])
    each, present = cosines[:, :_TURNS], at[:, :_TURNS] < len(places)
    columns = (
        *each.T[-1:-4:-1],
        cosines[:, -1],
        np.where(present, each, -np.inf).max(axis=1),
        np.where(present, each, 0.0).sum(axis=1) / present.sum(axis=1),
        _cosines(vectors[at[:, _TURNS - 1]], vectors[at[:, _TURNS - 2]]),
    )
    features[rows] = np.array(columns).T
    return features


def _reference_meaning(encoder: PortableEncoder, examples: Sequence[Example]) -> Features:
    """Return [N, 2] features; a reference without a vector does not count."""
    features = np.full((len(examples), 2), np.nan, np.float32)
    texts = [(row, text) for row, example in enumerate(examples) for text in example.references if text.strip()]
    if not texts:
        return features
    owners = np.array([row for row, _ in texts])
    replies = [examples[row].response for row, _ in texts]
    places, vectors = _encode(encoder, (*replies, *(text for _, text in texts)), unit=True)
    sides = ([places[text] for text in side] for side in (replies, [text for _, text in texts]))
    cosines = _cosines(*(vectors[side] for side in sides))
    known = ~np.isnan(cosines)
    if known.any():
        rows, starts, counts = np.unique(owners[known], return_index=True, return_counts=True)
        features[rows, 0] = np.maximum.reduceat(cosines[known], starts)
        features[rows, 1] = np.add.reduceat(cosines[known], starts) / counts
    return features


def _selection(selector: Selector, encoder: Encoder, examples: Sequence[Example]) -> Features:
    """Return [N, 6] features; NaN where the reply or the last turn has no vector."""
    features = np.full((len(examples), 6), np.nan, np.float32)
    turns = [tuple(_turns(example)[: -1 - selector.turns : -1]) for example in examples]  # the last one first
    texts = [text for row, example in enumerate(examples) for text in (example.response, *turns[row]) if text.strip()]
    places, vectors = _encode(encoder, texts)
    known = {text for text, place in places.items() if np.isfinite(vectors[place, 0])}
    rows = [row for row, several in enumerate(turns) if several and {several[0], examples[row].response} <= known]
    if not rows:
        return features
    numbers = {several: number for number, several in enumerate(dict.fromkeys(turns[row] for row in rows))}
    read = np.full((len(numbers), max(selector.turns, 2)), len(places))  # [K, T]
    for row, several in zip(read, numbers, strict=True):
        row[: len(several)] = [places[text] for text in several]
    last, whole = selector.contexts(vectors[read[:, : selector.turns]])
    context = np.array([numbers[turns[row]] for row in rows])
    replies = np.array([[places[examples[row].response] for row in rows], *read[context, :2].T])
    is_reply = np.zeros(len(vectors), np.bool_)
    is_reply[replies] = True
    reply, *turns_as_replies = selector.replies(vectors[is_reply])[(np.cumsum(is_reply) - 1)[replies]]
    common = np.clip(whole @ selector.common.T, -1.0, 1.0)
    cosines = _cosines(np.array([whole[context], last[context], *turns_as_replies]), reply)
    columns = (
        *cosines,
        cosines[0] - common.mean(axis=1)[context],
        (common[context] > cosines[0, :, None]).mean(axis=1),
    )
    features[rows] = np.array(columns).T
    return features


def _mood(mood: Mood, encoder: Encoder, examples: Sequence[Example]) -> Features:
    """Return [N, 7] features; NaN if a text is blank, has no vector, or is long."""
    features = np.full((len(examples), 7), np.nan, np.float32)
    turns = [*map(_turns, examples)]
    rows = [
        row for row, several in enumerate(turns) if several and _short(several[-1]) and _short(examples[row].response)
    ]
    if not rows:
        return features
    texts = [(turns[row][-1], _joined(turns[row]), examples[row].response) for row in rows]
    places, vectors = _encode(encoder, (text for several in texts for text in several))
    at = np.array([[places[text] for text in several] for several in texts])
    turn, context, reply = mood.of_turn(vectors)[at.T]
    reaction = mood.of_reaction(vectors)[at[:, 2]]
    columns = (turn, context, reply, reaction, turn * reaction, context * reaction, turn * reply)
    features[rows] = np.array(columns).T
    return features


def _turns(example: Example) -> list[str]:
    """Return the turns that are not blank."""
    return [turn for turn in example.context if turn.strip()]


def _joined(turns: Sequence[str]) -> str:
    """Return the last three turns as one text."""
    return " ".join(turns[-_JOINED_TURNS:])


def _short(text: str) -> bool:
    """Return whether there are words, and no more than people say in a turn."""
    return 0 < len(text.split(None, SHORT_WORDS)) <= SHORT_WORDS


def _encode(encoder: Encoder, texts: Iterable[str], *, unit: bool = False) -> tuple[dict[str, int], FloatArray]:
    """Return the row of each text, and the vectors [.., D] of the distinct texts and, last of all, NaN."""
    places: dict[str, int] = {}
    for text in texts:
        places.setdefault(text, len(places))
    encoded = encoder.encode(list(places))
    vectors = np.full((len(places) + 1, encoder.width), np.nan, encoded.dtype)
    vectors[:-1] = encoded
    if unit:
        norms = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
        vectors /= np.where(norms > 0, norms, np.nan)[:, None]
    return places, vectors


def _cosines(first: NDArray[np.floating], second: NDArray[np.floating]) -> FloatArray:
    """Return [...] cosines of unit vectors [..., D], from -1 to 1; NaN of a vector of NaN."""
    # The last bits of a cosine of 1 depend on the processor.
    cosines: FloatArray = np.clip(np.einsum("...d,...d->...", first, second), -1.0, 1.0)
    return cosines
