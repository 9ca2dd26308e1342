"""The mood of a turn, and the mood that a reply takes it for: two straight lines over an encoder's vectors.

Bad news is answered with sympathy and good news with joy. A reply that begins with "I'm so sorry to hear that" tells
that the turn before it was bad news, one that begins with "That's great" that it was good. Such pairs are few, but they
suffice for straight lines, which then tell what other turns are like: no rating and no list of feelings is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import tanh
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.dialogues import Dialogue
from rejoinder.data.files import OnError
from rejoinder.data.folders import Parts, require_free, value_in, write_folder
from rejoinder.data.outputs import require_apart
from rejoinder.data.read import raise_error, silent
from rejoinder.errors import DataError, UsageError
from rejoinder.models.weights import Object, tensor
from rejoinder.pretraining.corpora import digests, part_of
from rejoinder.pretraining.recipe import MoodRecipe
from rejoinder.scorer import Encoder, FloatArray

KIND = "mood"
TURN, REACTION = "turn", "reaction"
_OPENING = (
    r"^(?:\W|(?:oh|aw+|ah|man|wow|well|ugh|yikes|dang|ouch|gosh|hey|yay|i am|i'?m|so|that'?s|that is|that sounds|sounds"
    r"|how|really|very|pretty|it'?s)\b)*"
)
_SYMPATHY = re.compile(
    rf"^\W*oh,? no\b|{_OPENING}(?:sorry (?:to hear|about|for your|for the)|terrible|horrible|awful|too bad|sad|a shame"
    r"|sucks|that sucks|my condolences|unfortunate|tragic|heartbreaking|rough)\b",
    re.IGNORECASE,
)
_JOY = re.compile(
    rf"{_OPENING}(?:great|awesome|amazing|wonderful|fantastic|cool|nice|congrat\w*|lovely|excellent|exciting|sweet"
    r"|good for you|fun|brilliant|perfect)\b",
    re.IGNORECASE,
)
_FEWEST = 5  # turns of either kind in either part: of fewer nothing can be told


@dataclass(frozen=True)
class Mood:
    """Two straight lines. Shapes: D width of the encoder's vectors.

    Attributes:
        parts: all that `from_parts` needs to make it again: the D weights of each line, and what is added.
    """

    parts: Parts

    @property
    def width(self) -> int:
        """D."""
        return len(self._turn) - 1

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """What decides its numbers, the encoder's vectors given."""
        return {"mood": self.parts.digest}

    def require(self, encoder: Encoder) -> None:
        """Raise where an encoder is not the one that it was fitted over.

        Raises:
            DataError: it is another, or one with other weights.
        """
        own = self.parts.config["encoder"]
        if own != dict(encoder.options) or self.width != encoder.width:
            raise DataError("its moods were fitted over another encoder", "Fit them over this one", field=KIND)

    def of_turn(self, vector: FloatArray) -> float:
        """From -1, which people answer with joy, to 1, with sympathy; NaN of a vector of NaN."""
        return _told(self._turn, vector)

    def of_reaction(self, vector: FloatArray) -> float:
        """From -1, which is joy, to 1, which is sympathy; near 0 where a reply is neither."""
        return _told(self._reaction, vector)

    @cached_property
    def _turn(self) -> FloatArray:
        return self.parts.tensors[TURN].astype(np.float64)

    @cached_property
    def _reaction(self) -> FloatArray:
        return self.parts.tensors[REACTION].astype(np.float64)


def _told(line: FloatArray, vector: FloatArray) -> float:
    """Twice the probability that a straight line gives, less one."""
    return tanh(float((line[:-1] * vector).sum() + line[-1]) / 2)


def from_parts(parts: Parts) -> Mood:
    """The moods whose `parts` these are.

    Raises:
        DataError: a part is missing, or does not fit the others.
    """
    tensors = {name: tensor(parts.tensors, name, (None,), np.float32) for name in (TURN, REACTION)}
    sizes = {len(line) for line in tensors.values()}
    if len(sizes) > 1 or min(sizes) < 2:
        raise DataError("the lines of its moods do not fit each other", "Fit them again", field=KIND)
    return Mood(Parts({"kind": KIND, "encoder": value_in(parts.config, "encoder", Object)}, tensors))


class News(NamedTuple):
    """Turns that somebody answered with sympathy or joy.

    Attributes:
        turns: N texts.
        reactions: [N] how each was answered.
        bad: [N] whether that was with sympathy.
    """

    turns: Sequence[str]
    reactions: Sequence[str]
    bad: NDArray[np.bool_]


def news_in(dialogues: Iterable[Dialogue]) -> News:
    """The turns of dialogues that were answered so."""
    found = [
        (turn, reaction, bad)
        for dialogue in dialogues
        for turn, reaction in zip(dialogue.turns, dialogue.turns[1:], strict=False)
        if (bad := is_sympathy(reaction)) is not None
    ]
    turns, reactions, kinds = zip(*found, strict=True) if found else ((), (), ())
    return News(turns, reactions, np.array(kinds, np.bool_))


def is_sympathy(reply: str) -> bool | None:
    """Whether a reply begins with sympathy; None where it begins neither with that nor with joy."""
    if _SYMPATHY.match(reply):
        return True
    return False if _JOY.match(reply) else None


def pretrain_mood(
    recipe: MoodRecipe,
    files: Sequence[str | Path],
    out: str | Path,
    encoder: Encoder | None,
    *,
    keep_judged: bool = False,
    force: bool = False,
    on_error: OnError = raise_error,
    say: Callable[[str], None] = silent,
) -> dict[str, float]:
    """Fit what the recipe says over the vectors of an encoder, and save it as the folder `out`.

    Args:
        recipe: how.
        files: corpora (see `read_dialogues`).
        out: the folder to save it in.
        encoder: whose vectors it stands on; it stays as it is.
        keep_judged: also use dialogues that occur in public sets of human judgements.
        force: replace a model that stands at `out`.
        on_error: what to do with a bad dialogue.
        say: takes one line about each step.

    Returns:
        How often bad news of held-out dialogues stands above good news, by either line (the area under the curve).

    Raises:
        UsageError: no encoder; or something stands at `out` that is not to be replaced, or `out` is, holds or lies in
            one of the files.
        DataError: a bad dialogue, or too few turns that were answered so.
    """
    if encoder is None:
        raise UsageError("moods stand on the vectors of an encoder. Name one with --teacher")
    require_apart([out], files)
    require_free(out, force=force)
    train, kept = (
        news_in(part_of(files, recipe.held_out, held_out=held, keep_judged=keep_judged, on_error=on_error, say=tell))
        for held, tell in ((False, say), (True, silent))
    )
    say(f"{int(train.bad.sum()):,} turns answered with sympathy, {int((~train.bad).sum()):,} with joy")
    lines: dict[str, NDArray[Any]] = {}
    best: dict[str, float] = {}
    for name, texts, others in ((TURN, train.turns, kept.turns), (REACTION, train.reactions, kept.reactions)):
        lines[name], best[f"auc of a {name}"] = _fitted(encoder, (texts, train.bad), (others, kept.bad), recipe.penalty)
    corpora = digests(files)
    config: dict[str, Any] = {
        "kind": KIND,
        "encoder": dict(encoder.options),
        "recipe": recipe.to_dict(),
        "corpora": corpora,
    }
    config |= {"corpora": corpora, "keep_judged": keep_judged, "figures": best}
    names = ", ".join(corpus["name"] for corpus in corpora)
    figures = ", ".join(f"{name} {value:.3f}" for name, value in best.items())
    about = f"Which turns people answer with sympathy and which with joy, from {names}. Held-out turns: {figures}."
    write_folder(out, Parts(config, lines), f"# Mood\n\n{about}\n", force=force)
    return best


_Part = tuple[Sequence[str], NDArray[np.bool_]]


def _fitted(encoder: Encoder, train: _Part, kept: _Part, penalty: float) -> tuple[NDArray[np.float32], float]:
    """[D + 1] the weights of a line and what is added, and the area under its curve on texts that are kept.

    Raises:
        DataError: there are too few texts.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    (vectors, bad), (others, truth) = (_encoded(encoder, *part) for part in (train, kept))
    fewest = min(int(min(kind.sum(), (~kind).sum())) for kind in (bad, truth))
    if fewest < _FEWEST:
        raise DataError(f"too few turns of one kind ({fewest})", "Give a larger corpus of English talk")
    line = LogisticRegression(C=1 / penalty, class_weight="balanced", max_iter=1000, tol=1e-6).fit(vectors, bad)
    found = np.append(line.coef_[0], line.intercept_).astype(np.float32)
    return found, float(roc_auc_score(truth, others @ found[:-1]))


def _encoded(encoder: Encoder, texts: Sequence[str], bad: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """[n, D] the vectors of the texts that have one, and [n] which are bad news."""
    vectors = encoder.encode(list(texts)) if texts else np.zeros((0, encoder.width))
    there = np.isfinite(vectors).all(axis=1)
    return vectors[there], bad[there]
