"""Statistics of a corpus for `models/phrases.py` and `models/mood.py`: counts of phrases, and probes of moods.

Moods are learnt from openings: bad news is answered with sympathy and good news with joy. A reply that begins with
"I'm so sorry to hear that" shows that the turn before it was bad news, one that begins with "That's great" that it was
good. Such pairs are rare, but they suffice for linear probes: no rating and no list of feelings is needed.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.dialogues import Dialogue
from rejoinder.data.folders import Parts
from rejoinder.errors import DataError
from rejoinder.models.mood import REACTION, TURN
from rejoinder.models.phrases import END, FIRST, UNKNOWN, Ints, Level, NgramModel, Phrases, ngrams, pad, reply_hash
from rejoinder.pretraining.corpus import Source
from rejoinder.pretraining.recipe import Counts, MoodRecipe, PhraseRecipe
from rejoinder.scorer import Encoder
from rejoinder.text.normalize import match_words

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
_FEWEST = 5  # turns of either kind in either part: fewer decide nothing


def count_phrases(turns: Iterable[str], counts: Counts) -> Phrases:
    """Count the phrases of a corpus; `turns` is passed once. Takes about 4 bytes a word and some 100 bytes a turn.

    Raises:
        DataError: there is no word in it.
    """
    seen: dict[str, int] = {}
    rows, ends, having, replies = array("i"), array("q"), Counter[int](), Counter[int]()
    for turn in turns:
        words = match_words(turn)[: counts.longest_turn]
        row = [seen.setdefault(word, len(seen)) for word in words]
        rows.extend(row)
        ends.append(len(rows))
        having.update(set(row))
        replies[reply_hash(words)] += 1
    if not rows:
        raise DataError("no word to count", "Give a larger corpus; judged dialogues count with --keep-judged alone")
    flat = np.frombuffer(rows, dtype=np.int32)
    frequent = np.argsort(-np.bincount(flat), kind="stable")[: counts.vocabulary]
    tokens = np.full(len(seen), UNKNOWN)
    tokens[frequent] = np.arange(FIRST, FIRST + len(frequent))
    names = list(seen)
    usual = sorted((key, count) for key, count in replies.items() if count >= counts.replies)
    return Phrases(
        words=[names[place] for place in frequent],
        idf=np.array([np.log(len(ends) / (having[place] + 1)) for place in frequent.tolist()], dtype=np.float32),
        turns=len(ends),
        replies=np.array([key for key, _ in usual], dtype=np.uint64),
        counts=np.array([count for _, count in usual], dtype=np.uint32),
        model=fit_witten_bell(
            np.insert(tokens[flat], ends, END),
            np.diff(ends, prepend=0) + 1,
            (counts.bigrams, counts.trigrams),
            vocabulary_size=FIRST + len(frequent),
        ),
    )


def fit_witten_bell(tokens: Ints, lengths: Ints, least: Sequence[int], *, vocabulary_size: int) -> NgramModel:
    """Return a small n-gram model: each level has the n-grams that occur often enough.

    The share of a token after a history is c / (n + t): how often it came, among the n tokens and t different ones that
    did. What the n-grams that are kept leave goes to the level below. The lowest has every token, each counted once in
    ten more often than it occurs.

    Args:
        tokens: the tokens of all texts one after the other, one or more, each text ending with its end.
        lengths: tokens of each text.
        least: how often an n-gram of 2, 3 ... tokens has to occur to be kept, not falling.
        vocabulary_size: V; tokens are 0 to V - 1.

    Source: Witten and Bell 1991, method C, interpolated as in Chen and Goodman 1999, section 2.6.
    """
    base, order = vocabulary_size + 1, len(least) + 1
    padded, places = pad(tokens, lengths, order, vocabulary_size)
    often = np.bincount(tokens, minlength=vocabulary_size) + 0.1
    levels = [Level.of_shares(np.arange(vocabulary_size), often / often.sum(), base)]
    for length, enough in enumerate(least, start=2):
        grams = ngrams(padded, places, length, base)
        # Two start symbols predict no better than one, and the level below has that.
        begins_twice = grams // base ** (length - 2) == vocabulary_size * base + vocabulary_size
        kinds, counts = np.unique(grams[~begins_twice], return_counts=True)
        _, first, sizes = np.unique(kinds // base, return_index=True, return_counts=True)
        totals = np.repeat(np.add.reduceat(counts, first) + sizes, sizes) if len(kinds) else counts
        kept = counts >= enough
        levels.append(Level.of_shares(kinds[kept], (counts / totals)[kept], base))
    return NgramModel(vocabulary_size, tuple(levels))


class AnsweredTurns(NamedTuple):
    """Turns that were answered with sympathy or joy.

    Attributes:
        turns: N texts.
        reactions: [N] how each was answered.
        bad: [N] whether that was with sympathy.
    """

    turns: Sequence[str]
    reactions: Sequence[str]
    bad: NDArray[np.bool_]


def answered_turns(dialogues: Iterable[Dialogue]) -> AnsweredTurns:
    """Return the turns of dialogues that were answered with sympathy or joy."""
    rows = [
        (turn, reaction, bad)
        for dialogue in dialogues
        for turn, reaction in zip(dialogue.turns, dialogue.turns[1:], strict=False)
        if (bad := is_sympathy(reaction)) is not None
    ]
    turns, reactions, kinds = zip(*rows, strict=True) if rows else ((), (), ())
    return AnsweredTurns(turns, reactions, np.array(kinds, np.bool_))


def is_sympathy(reply: str) -> bool | None:
    """Return whether a reply begins with sympathy; None if it begins neither with sympathy nor with joy."""
    if _SYMPATHY.match(reply):
        return True
    return False if _JOY.match(reply) else None


def fit_mood(
    train: AnsweredTurns, held_out: AnsweredTurns, encoder: Encoder, penalty: float
) -> tuple[dict[str, NDArray[np.float32]], dict[str, float]]:
    """Return the weights [D + 1] of each probe, bias last, and the area under its curve on held-out turns.

    Raises:
        DataError: there are too few texts.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    probes: dict[str, NDArray[np.float32]] = {}
    figures: dict[str, float] = {}
    for name, texts, others in ((TURN, train.turns, held_out.turns), (REACTION, train.reactions, held_out.reactions)):
        (vectors, bad), (other_vectors, truth) = (
            _encoded(encoder, *part) for part in ((texts, train.bad), (others, held_out.bad))
        )
        fewest = min(int(min(kind.sum(), (~kind).sum())) for kind in (bad, truth))
        if fewest < _FEWEST:
            raise DataError(f"too few turns of one kind ({fewest})", "Give a larger corpus of English talk")
        probe = LogisticRegression(C=1 / penalty, class_weight="balanced", max_iter=1000, tol=1e-6).fit(vectors, bad)
        probes[name] = np.append(probe.coef_[0], probe.intercept_).astype(np.float32)
        figures[f"auc of a {name}"] = float(roc_auc_score(truth, other_vectors @ probes[name][:-1]))
    return probes, figures


def _encoded(encoder: Encoder, texts: Sequence[str], bad: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return [n, D] the vectors of the texts that have one, and [n] which are bad news."""
    vectors = encoder.encode(list(texts)) if texts else np.zeros((0, encoder.width))
    has_vector = np.isfinite(vectors).all(axis=1)
    return vectors[has_vector], bad[has_vector]


def phrase_parts(recipe: PhraseRecipe, source: Source) -> tuple[Parts, str, Mapping[str, float]]:
    """Return parts and card of what a recipe counts in the dialogues of `source`."""
    dialogues, _ = source.split(0.0)
    counted = count_phrases((turn for dialogue in dialogues for turn in dialogue.turns), recipe.counts)
    bigrams, trigrams = (len(level.grams) for level in counted.model.levels[1:])
    summary = (
        f"{counted.turns:,} turns: {len(counted.words):,} words, {bigrams:,} pairs of words, {trigrams:,} of three, "
        f"{len(counted.replies):,} usual replies"
    )
    source.log(summary)
    about = "How usual words, three words in a row and whole replies are."
    return counted.parts, f"# Phrases\n\n{about}\n\n{summary}, from {_names(source)}.\n", {}


def mood_parts(recipe: MoodRecipe, source: Source) -> tuple[Parts, str, Mapping[str, float]]:
    """Return parts, card and figures of the probes that a recipe fits over the vectors of the encoder of `source`."""
    assert source.encoder is not None  # noqa: S101 - the caller looked
    train, held_out = map(answered_turns, source.split(recipe.held_out))
    source.log(f"{int(train.bad.sum()):,} turns answered with sympathy, {int((~train.bad).sum()):,} with joy")
    probes, figures = fit_mood(train, held_out, source.encoder, recipe.penalty)
    about = "Which turns people answer with sympathy and which with joy; held-out turns: "
    about += ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
    return Parts({"figures": figures}, probes), f"# Mood\n\n{about}, from {_names(source)}.\n", figures


def _names(source: Source) -> str:
    """Return the names of the corpora."""
    return ", ".join(Path(file).name for file in source.files)
