"""Byte-pair encoding: a vocabulary trained on a corpus, texts to numbers and back.

A word keeps the space before it as a visible mark (`▁`), so decoding gives the text back with its spaces. Words,
numbers, runs of signs and placeholders such as `<user>` are never merged with each other. What the vocabulary does not
have becomes `<unk>`; nothing is dropped.

The program released with ADEM split its special tokens like words and dropped unknown pieces without a trace; here
`<pad>`, `<unk>` and `</s>` are single numbers wherever they stand, and `as_turn` keeps a text from forging the end of
its turn.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from rejoinder.errors import DataError, UsageError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PAD, UNK, END = SPECIALS = ("<pad>", "<unk>", "</s>")
PAD_ID, UNK_ID, END_ID = range(3)

_SPACE = "▁"
# A placeholder; a word with inner apostrophes; a number; a run of other signs. Each takes the space before it along.
_WORD = r"[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)*"
_PIECES = rf"{_SPACE}?(?:</?[A-Za-z_]+>|{_WORD}|\p{{N}}+|[^\p{{L}}\p{{N}}{_SPACE}]+)|{_SPACE}"
# The same for texts of printable ASCII characters without a placeholder.
_PLAIN_PIECES = re.compile(rf"{_SPACE}?(?:[A-Za-z]+(?:'[A-Za-z]+)*|[0-9]+|[^A-Za-z0-9{_SPACE}]+)")
_SHORT = 1000  # characters: of longer texts no word is remembered, so that it takes some megabytes at most
# A character seen less often is not worth a number of its own; its uses teach the model what <unk> is like.
_RAREST_CHARACTER = 5
# Of the numbers, at most this share goes to single characters.
_CHARACTER_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Texts to numbers and back. Ids run from 0 to `size` - 1; the first three are `<pad>`, `<unk>` and `</s>`.

    Attributes:
        tokenizer: the `tokenizers.Tokenizer` that does the work; never changed once it is here.
    """

    tokenizer: Tokenizer

    @property
    def size(self) -> int:
        """The number of pieces, special tokens included."""
        return self.tokenizer.get_vocab_size()

    @cached_property
    def _lowers(self) -> bool:
        """Whether texts are lower-cased."""
        return str(self.tokenizer.normalizer.normalize_str("A")) == "a"

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits of the SHA-256 of `to_json()`; equal where the vocabularies are equal."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:12]

    def encode(self, text: str) -> list[int]:
        """The ids of the pieces of `text`, without any special token that is not written in it; none for ""."""
        if len(text) > _SHORT or "<" in text or not (text.isascii() and text.isprintable()):
            return self.tokenizer.encode(text, add_special_tokens=False).ids
        # Of plain texts the rules are few, and their words mostly known: a tenth of the library's time.
        words = (text.lower() if self._lowers else text).split()
        return [number for word in words for number in _known_ids(self, word)]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """What `encode` gives for each of `texts`, on all cores."""
        return [coded.ids for coded in self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, with its spaces; `<unk>` shows, padding and ends of turns do not.

        Raises:
            UsageError: an id is outside the vocabulary.
        """
        wrong = next((number for number in ids if not 0 <= number < self.size), None)
        if wrong is not None:
            raise UsageError(f"id {wrong} is outside the vocabulary, which has 0 to {self.size - 1}")
        shown = [number for number in ids if number not in (PAD_ID, END_ID)]
        return self.tokenizer.decode(shown, skip_special_tokens=False).strip()

    def to_json(self) -> str:
        """The whole vocabulary as JSON, in the form of the tokenizers library."""
        return self.tokenizer.to_str()

    @classmethod
    def from_json(cls, text: str) -> Vocabulary:
        """The vocabulary that `to_json` wrote.

        Raises:
            DataError: `text` is no vocabulary, or its special tokens are not the first three.
        """
        remedy = "Give what Vocabulary.to_json wrote"
        import tokenizers

        try:
            tokenizer = tokenizers.Tokenizer.from_str(text)
        except Exception as error:  # the library raises plain Exception and nothing narrower
            raise DataError(f"not a vocabulary ({error})", remedy) from error
        found = [tokenizer.id_to_token(number) for number in range(len(SPECIALS))]
        if found != list(SPECIALS):
            raise DataError(f"the vocabulary begins with {found}, expected {list(SPECIALS)}", remedy)
        if sorted(tokenizer.get_vocab().values()) != list(range(tokenizer.get_vocab_size())):
            raise DataError("the numbers of the vocabulary's pieces do not count up from 0", remedy)
        # Rules that a stranger wrote could cut or pad texts, draw pieces at random, or never end.
        if _rules(tokenizer) not in (_rules(_untrained(lower=True)), _rules(_untrained(lower=False))):
            raise DataError("the vocabulary has other rules than those of this version", remedy)
        return cls(tokenizer)


@lru_cache(maxsize=1 << 14)
def _known_ids(vocabulary: Vocabulary, word: str) -> tuple[int, ...]:
    """The ids of one word of a plain text."""
    pieces = _PLAIN_PIECES.findall(f"{_SPACE}{word}")
    return tuple(token.id for piece in pieces for token in vocabulary.tokenizer.model.tokenize(piece))


def train_bpe(texts: Iterable[str], size: int, *, lower: bool = True) -> Vocabulary:
    """Return a vocabulary of at most `size` pieces, merged from the characters of `texts` by how often pairs occur.

    The same texts give the same vocabulary. It is smaller than `size` where the texts have no more pairs that occur
    twice. Memory grows with the number of different words only; the texts pass through a temporary file.

    Args:
        texts: the turns of a corpus, passed once.
        size: special tokens included.
        lower: whether texts are lower-cased; the vocabulary keeps that and does it wherever it is used.

    Raises:
        UsageError: `size` leaves no room for characters after the special tokens.
        DataError: the texts are empty.

    Source: Sennrich, Haddow and Birch 2016, section 3.2.
    """
    if size < 32:
        raise UsageError(f"a vocabulary of {size} pieces has no room for an alphabet. Give 32 or more.")
    from tokenizers import trainers

    tokenizer = _untrained(lower=lower)
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as spool:
        seen: Counter[str] = Counter()
        for text in texts:
            normal = tokenizer.normalizer.normalize_str(text)
            seen.update(normal)
            spool.write(f"{normal}\n")
        if not seen:
            raise DataError(
                "no text to train a vocabulary on", "Give a corpus with at least one turn that is not empty"
            )
        alphabet = _alphabet(seen, int(size * _CHARACTER_SHARE))
        trainer = trainers.BpeTrainer(
            vocab_size=size,
            min_frequency=2,
            special_tokens=list(SPECIALS),
            initial_alphabet=alphabet,
            limit_alphabet=len(alphabet),
            show_progress=False,
        )
        spool.seek(0)
        tokenizer.train_from_iterator(spool, trainer)
    return Vocabulary(tokenizer)


def as_turn(ids: Sequence[int], longest: int) -> list[int]:
    """The ids of a text as one turn: at most `longest` ids, the last of them the end; the first pieces are kept.

    A special token that was written in the text becomes `<unk>`: it is no padding and no end of the turn.
    """
    kept = ids[: longest - 1]
    return [UNK_ID if number in (PAD_ID, END_ID) else number for number in kept] + [END_ID]


def _rules(tokenizer: Tokenizer) -> dict[str, Any]:
    """All that a tokenizer does, its pieces aside."""
    rules: dict[str, Any] = json.loads(tokenizer.to_str())
    del rules["added_tokens"]
    rules["model"] = {name: rule for name, rule in rules["model"].items() if name not in ("vocab", "merges")}
    return rules


def _alphabet(seen: Counter[str], most: int) -> list[str]:
    """The characters that get a number: the most frequent, ties in the order of Unicode.

    The library could choose them itself, but breaks ties at random, differently on each run.
    """
    ranked = sorted(seen, key=lambda character: (-seen[character], character))
    frequent = [character for character in ranked if seen[character] >= _RAREST_CHARACTER] or ranked
    return [_SPACE, *(character for character in frequent if not character.isspace())][:most]


def _untrained(*, lower: bool) -> Any:
    """A tokenizer with the rules of this module and no pieces yet."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.BPE(unk_token=UNK, fuse_unk=True))
    steps: list[Any] = [normalizers.Lowercase()] if lower else []
    # Lower-casing can take a character apart, so it is put together after that.
    steps += [normalizers.NFC(), normalizers.Replace("’", "'")]
    steps += [normalizers.Replace(Regex(rf"[\s{_SPACE}]+"), " "), normalizers.Strip()]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement=_SPACE, prepend_scheme="always", split=False),
            pre_tokenizers.Split(Regex(_PIECES), behavior="isolated"),
        ]
    )
    tokenizer.decoder = decoders.Metaspace(replacement=_SPACE, prepend_scheme="always", split=False)
    return tokenizer
