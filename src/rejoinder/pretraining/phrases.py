"""What a corpus says of words and phrases: how rare each word is, how usual a whole reply, how likely a word after two.

Counted, not trained: the kind `phrases`, which needs no network. Texts are read in `match_form`. Replies are
kept as hashes, so nothing that somebody said stands in the model word for word, single words and three in a row aside.
Shapes: V tokens, W words, R replies, B bigrams, T trigrams.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.files import OnError
from rejoinder.data.folders import AGAIN, Parts, require_free, value_in, write_folder
from rejoinder.data.outputs import require_apart
from rejoinder.data.read import raise_error, silent
from rejoinder.errors import DataError
from rejoinder.models.weights import Count, tensor, words_of
from rejoinder.pretraining.corpora import digests, part_of
from rejoinder.pretraining.ngrams import Level, NgramModel, fit_witten_bell
from rejoinder.pretraining.recipe import Counts, PhraseRecipe
from rejoinder.text.normalize import match_words

END, UNKNOWN, FIRST = 0, 1, 2  # the tokens that are no words, and the first that is one
_WORDS = "words.json"
_MOST = 2**16 - 3  # words, with two tokens and the start symbol in 16 bits


@dataclass(frozen=True)
class Phrases:
    """What a corpus says of words and phrases.

    Attributes:
        words: W words, the most frequent first.
        idf: [W] how rare each is: the logarithm of turns over turns that have it (and one).
        turns: how many turns there were.
        replies: [R] hashes of usual replies, ascending.
        often: [R] how often each of them was said.
        model: the trigram model over the tokens of `tokens`.
    """

    words: Sequence[str]
    idf: NDArray[np.float32]
    turns: int
    replies: NDArray[np.uint64]
    often: NDArray[np.uint32]
    model: NgramModel

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each word."""
        return {word: place for place, word in enumerate(self.words)}

    @cached_property
    def rarity(self) -> Mapping[str, float]:
        """The idf of each word."""
        return dict(zip(self.words, self.idf.tolist(), strict=True))

    @cached_property
    def rarest(self) -> float:
        """The idf of a word that is not known."""
        return float(np.log(np.float64(max(self.turns, 1))))

    @cached_property
    def _often(self) -> Mapping[int, int]:
        return dict(zip(self.replies.tolist(), self.often.tolist(), strict=True))

    def tokens(self, words: Sequence[str]) -> list[int]:
        """The tokens of a text's words, with the one that ends it."""
        places = self.places
        return [*(places.get(word, UNKNOWN - FIRST) + FIRST for word in words), END]

    def said(self, words: Sequence[str]) -> int:
        """How often a whole turn of these words was said; 0 where that was not usual."""
        return self._often.get(_hash(words), 0)

    @cached_property
    def parts(self) -> Parts:
        """All that `from_parts` needs to make it again."""
        listed_words = json.dumps(list(self.words), ensure_ascii=False) + "\n"
        tensors: dict[str, NDArray[Any]] = {
            "idf": self.idf,
            "replies": self.replies,
            "often": self.often,
            **_packed(self.model),
        }
        return Parts({"kind": "phrases", "turns": self.turns}, tensors, {_WORDS: listed_words})


def count_phrases(turns: Iterable[str], counts: Counts) -> Phrases:
    """What a corpus of turns says; passed once, it takes about 4 bytes a word and some 100 bytes a turn.

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
        replies[_hash(words)] += 1
    if not rows:
        raise DataError("no word to count", "Give a larger corpus; judged dialogues count with --keep-judged alone")
    flat = np.frombuffer(rows, dtype=np.int32)
    frequent = np.argsort(-np.bincount(flat), kind="stable")[: counts.vocabulary]
    tokens = np.full(len(seen), UNKNOWN)
    tokens[frequent] = np.arange(FIRST, FIRST + len(frequent))
    sequences = (np.append(row, END) for row in np.split(tokens[flat], ends[:-1]))
    names = list(seen)
    usual = sorted((key, count) for key, count in replies.items() if count >= counts.replies)
    return Phrases(
        words=[names[place] for place in frequent],
        idf=np.array([np.log(len(ends) / (having[place] + 1)) for place in frequent.tolist()], dtype=np.float32),
        turns=len(ends),
        replies=np.array([key for key, _ in usual], dtype=np.uint64),
        often=np.array([count for _, count in usual], dtype=np.uint32),
        model=fit_witten_bell(sequences, (counts.bigrams, counts.trigrams), vocabulary_size=FIRST + len(frequent)),
    )


def from_parts(parts: Parts) -> Phrases:
    """The phrases whose `parts` these are.

    Raises:
        DataError: they are damaged.
    """
    words, tensors = words_of(parts.files, _WORDS), parts.tensors
    if len(words) > _MOST or len(set(words)) < len(words):
        raise DataError(f"{_WORDS} holds a word twice, or more than {_MOST:,}", AGAIN)
    idf = tensor(tensors, "idf", (len(words),)).astype(np.float32)
    replies = _whole(tensors, "replies", np.uint64)
    often = _whole(tensors, "often", np.uint32, len(replies))
    model = _unpacked(tensors, FIRST + len(words))
    return Phrases(words, idf, value_in(parts.config, "turns", Count), replies, often, model)


def pretrain_phrases(
    recipe: PhraseRecipe,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    keep_judged: bool = False,
    force: bool = False,
    on_error: OnError = raise_error,
    say: Callable[[str], None] = silent,
) -> None:
    """Count what the recipe says in the dialogues in `files` and save it as the folder `out`.

    Args:
        recipe: how much is kept.
        files: corpora (see `read_dialogues`).
        out: the folder to save it in.
        keep_judged: also count dialogues that occur in public sets of human judgements.
        force: replace a model that stands at `out`.
        on_error: what to do with a bad dialogue.
        say: takes one line about what was counted.

    Raises:
        UsageError: a model stands at `out` and is not to be replaced, or something that is no model does; or `out` is,
            holds or lies in one of the files.
        DataError: a bad dialogue, or no word at all.
    """
    require_apart([out], files)
    require_free(out, force=force)
    dialogues = part_of(files, 0.0, held_out=False, keep_judged=keep_judged, on_error=on_error, say=say)
    found = count_phrases((turn for dialogue in dialogues for turn in dialogue.turns), recipe.counts)
    account, corpora = _account(found), digests(files)
    say(account)
    config = {**found.parts.config, "recipe": recipe.to_dict(), "corpora": corpora, "keep_judged": keep_judged}
    names = ", ".join(corpus["name"] for corpus in corpora)
    card = f"# Phrases\n\nHow usual words, three words in a row and whole replies are.\n\n{account}, from {names}.\n"
    write_folder(out, Parts(config, found.parts.tensors, found.parts.files), card, force=force)


def _account(found: Phrases) -> str:
    """What was counted, in words."""
    bigrams, trigrams = (len(level.grams) for level in found.model.levels[1:])
    return (
        f"{found.turns:,} turns: {len(found.words):,} words, {bigrams:,} pairs of words, {trigrams:,} of three, "
        f"{len(found.replies):,} usual replies"
    )


def _hash(words: Sequence[str]) -> int:
    """What stands for a whole reply."""
    return int.from_bytes(blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _packed(model: NgramModel) -> dict[str, NDArray[Any]]:
    """The levels of a trigram model, 4 bytes an n-gram and 2 a history.

    Of an n-gram stands its last token, and how many n-grams each history has: of a bigram each token and the start
    symbol, of a trigram each bigram that is there. Shares are logarithms to the base 2.
    """
    one, two, three = model.levels
    base = model.vocabulary_size + 1
    tensors: dict[str, NDArray[Any]] = {"unigrams": np.log2(one.shares).astype(np.float32)}
    for name, level, histories in (("bigram", two, np.arange(base)), ("trigram", three, two.grams)):
        places = np.searchsorted(histories, level.grams // base)
        tensors[f"{name}s_after"] = np.bincount(places, minlength=len(histories)).astype(np.uint16)
        tensors[f"{name}s"] = (level.grams % base).astype(np.uint16)
        tensors[f"{name}_shares"] = np.log2(level.shares).astype(np.float16)
    return tensors


def _unpacked(tensors: Mapping[str, NDArray[Any]], tokens: int) -> NgramModel:
    """The trigram model that `_packed` packed."""
    base = tokens + 1
    shares = np.exp2(tensor(tensors, "unigrams", (tokens,)).astype(np.float64))
    levels = [Level.of_shares(np.arange(tokens), shares, base)]
    histories: NDArray[np.int64] = np.arange(base)
    for name in ("bigram", "trigram"):
        after = _whole(tensors, f"{name}s_after", np.uint16, len(histories))
        last = _whole(tensors, f"{name}s", np.uint16, int(after.sum(dtype=np.int64)))
        logs = tensors.get(f"{name}_shares")
        if logs is None or logs.dtype != np.float16 or logs.shape != last.shape or (last >= tokens).any():
            raise DataError(f"the tensors of its {name}s do not fit each other", AGAIN)
        grams = np.repeat(histories, after) * base + last
        if (np.diff(grams) <= 0).any():
            raise DataError(f"the tensor {name}s is not in order", AGAIN)
        levels.append(Level.of_shares(grams, np.exp2(logs.astype(np.float64)), base))
        histories = grams
    return NgramModel(len(levels), tokens, tuple(levels))


def _whole(tensors: Mapping[str, NDArray[Any]], name: str, kind: type[Any], length: int | None = None) -> NDArray[Any]:
    """The whole numbers called `name`."""
    found = tensors.get(name)
    if found is None or found.dtype != kind or found.ndim != 1 or length not in (None, len(found)):
        wanted = "" if length is None else f"{length:,} "
        raise DataError(f"no tensor {name} of {wanted}whole numbers", AGAIN)
    return found
