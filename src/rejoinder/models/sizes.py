"""Sizes of the networks: what a recipe sets (`...Shape`), and with what the corpus decides (`...Sizes`).

A recipe has the first in its table `model`, a model's folder the second under `sizes` in its config. Both are read
strictly: unknown keys, wrong types and values out of range are errors.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

LARGEST = 10_000_000
"""The largest size of a network."""
Count = Annotated[int, Field(ge=1, le=LARGEST)]
Natural = Annotated[int, Field(ge=0, le=LARGEST)]
Share = Annotated[float, Field(ge=0, lt=1)]
Cell = Literal["lstm", "gru"]
Normalise = Literal["none", "layers", "gates"]


class Table(BaseModel):
    """A table of a recipe, or of a model's config. It is never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class DialogueShape(Table):
    """The shape of an HRED, of a VHRED (`latent` > 0) or of a Seq2Seq (`context` = 0)."""

    embedding: Count = 128
    utterance: Count = 128  # units of the utterance encoder in each direction
    context: Natural = 256  # units of the context encoder; with 0 the last turn alone stands for what came before
    decoder: Count = 256
    latent: Natural = 0
    cell: Cell = "lstm"
    normalise: Normalise = "none"  # where layer normalisation is
    word_drop: Share = 0.25  # share of the previous words that the decoder does not see in training
    bag_of_words: bool = False  # a further loss against the collapse of the latent (Zhao et al. 2017, section 3.3)


class DialogueSizes(DialogueShape):
    """The sizes of an HRED, VHRED or Seq2Seq."""

    vocabulary: Count
    unknown: Natural = 1  # id that replaces a dropped word
    beside: Natural = 0  # width of the extra inputs of the decoder, as in a MrRNN

    @property
    def state(self) -> int:
        """The width of the state that stands for what came before."""
        return self.context or 2 * self.utterance


class LanguageShape(Table):
    """The shape of a language model."""

    embedding: Count = 128
    units: Count = 256
    cell: Cell = "lstm"
    normalise: Normalise = "none"
    word_drop: Share = 0.0


class LanguageSizes(LanguageShape):
    """The sizes of a language model."""

    vocabulary: Count
    unknown: Natural = 1
    end: Natural = 2  # id that ends a turn, and so comes before every turn


class MrrnnShape(Table):
    """The shape of the two hierarchies of a MrRNN, which are alike."""

    coarse_vocabulary: Count  # pieces of coarse sequences
    embedding: Count = 128
    utterance: Count = 128  # units of an utterance encoder, and of the coarse reader, in each direction
    context: Count = 256
    decoder: Count = 256
    cell: Cell = "lstm"
    normalise: Normalise = "none"
    word_drop: Share = 0.0


class MrrnnSizes(MrrnnShape):
    """The sizes of a MrRNN."""

    vocabulary: Count
    unknown: Natural = 1

    def hierarchy(self, vocabulary: int, extra_width: int) -> DialogueSizes:
        """Return the sizes of one hierarchy with `vocabulary` pieces and extra inputs of width `extra_width`."""
        shape = self.model_dump(exclude={"vocabulary", "coarse_vocabulary"})
        return DialogueSizes(**shape, vocabulary=vocabulary, beside=extra_width)


class DualEncoderShape(Table):
    """The shape of a Dual Encoder."""

    embedding: Count = 128
    units: Count = 256
    cell: Cell = "lstm"
    normalise: Normalise = "none"
    negatives: Count = 1  # wrong responses to a right one: 1 in Lowe et al. 2015, 10 in Deriu and Cieliebak 2019
    bilinear: bool = True  # without: the plain product of Deriu and Cieliebak 2019


class DualEncoderSizes(DualEncoderShape):
    """The sizes of a Dual Encoder."""

    vocabulary: Count


class StudentShape(Table):
    """The shape of a student."""

    buckets: Count = 65_536  # rows for pairs of neighbouring pieces, which are hashed
    embedding: Count = 256
    blocks: Natural = 2  # layers of convolution
    reach: Count = 2  # pieces that a convolution reads on each side of a piece
    inner: Count = 512  # units between the two maps of a layer
    positions: Count = 64  # places in a text that are distinguished; all behind them count as the last
    dropout: Share = 0.0  # share of the pairs that are left out in training


class StudentSizes(StudentShape):
    """The sizes of a student."""

    vocabulary: Count
    output: Count  # width of the teacher's vectors


class SelectorShape(Table):
    """The shape of a selector."""

    hidden: Count = 512
    output: Count = 256
    turns: Count = 3  # of a context that are read, the last ones


class SelectorSizes(SelectorShape):
    """The sizes of a selector."""

    width: Count  # of the encoder's vectors


class TweetShape(Table):
    """The shape of a tweet2vec; the defaults are the release's."""

    lookup: Count = 150
    units: Count = 500  # of each direction
    embedding: Count = 500


class TweetSizes(TweetShape):
    """The sizes of a tweet2vec."""

    symbols: Count  # known characters, and one for the unknown
    hashtags: Count
