"""Responders that write their replies word by word: language model, Seq2Seq, HRED, VHRED, MrRNN.

All read a context as in training: its last turns, each cut to so many tokens, words they do not know as `<unk>`. A
context without a word is the beginning of a conversation, which they open. `<unk>` is never said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rejoinder.data.folders import Parts
from rejoinder.models.batching import (
    as_dialogues,
    limits,
    numbered_turns,
    padded,
    require_torch,
    vocabulary_of,
    with_weights,
)
from rejoinder.models.coarse import coarse_text
from rejoinder.models.decoding import Decoding
from rejoinder.models.vocabulary import END_ID, PAD_ID, UNK_ID, Vocabulary
from rejoinder.models.weights import sizes
from rejoinder.responder import Answer, Context, Reply, Request

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from rejoinder.models.networks.decoding import Step, Written
    from rejoinder.models.networks.dialogue import DialogueModel
    from rejoinder.models.networks.language import LanguageModel
    from rejoinder.models.networks.multiresolution import Multiresolution
    from rejoinder.models.networks.recurrent import State

    Begin = Callable[[Sequence[Context], Decoding, Sequence[torch.Generator]], tuple[Step, State]]

VOCABULARY, COARSE = "vocabulary.json", "coarse.vocabulary.json"


class Limits(NamedTuple):
    """How much of a context is read: tokens of a turn, its end included, and turns."""

    longest_turn: int
    most_turns: int


class Vocabularies(NamedTuple):
    """Pieces of turns, and of coarse sequences where the model has these."""

    words: Vocabulary
    coarse: Vocabulary | None = None


@dataclass(frozen=True)
class GenerativeResponder:
    """Replies of a trained model.

    Attributes:
        parts: all of the model.
        vocabulary: its pieces.
        begin: the step of its network and its first state after n contexts, each of which draws from its own generator.
        decoding: how it chooses words.
    """

    parts: Parts
    vocabulary: Vocabulary
    begin: Begin
    decoding: Decoding

    @property
    def name(self) -> str:
        """The kind of the model."""
        return str(self.parts.config["kind"])

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the replies."""
        own = self.decoding
        chosen: dict[str, Any] = {"weights": self.parts.digest, "method": own.method}
        if own.method == "beam":
            chosen["beam"] = own.beam
        if own.method == "sample":
            chosen |= {"temperature": own.temperature, "top_p": own.top_p}
        return {**chosen, "longest": own.most, "shortest": own.shortest}

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """See `Responder`. A score is the log-probability per token, nats.

        Greedy search has one reply, whatever `count` is; samples that come out alike are one reply.
        """
        import torch

        generators = [torch.Generator().manual_seed(request.seed) for request in requests]
        contexts = [request.context for request in requests]
        with torch.inference_mode():
            written = self._written(contexts, count, generators)
        return [_answer(self.vocabulary, turns, count) for turns in written]

    def _written(
        self, contexts: Sequence[Context], count: int, generators: Sequence[torch.Generator]
    ) -> list[list[Written]]:
        """The turns written after each context, best first."""
        own = self.decoding
        if own.method != "sample":
            return write(*self.begin(contexts, own, generators), own, count, generators)
        # Every sample has a latent variable, or a coarse sequence, of its own.
        repeated = [context for context in contexts for _ in range(count)]
        sources = [generator for generator in generators for _ in range(count)]
        flat = write(*self.begin(repeated, own, sources), own, 1, sources)
        groups = [flat[start : start + count] for start in range(0, len(flat), count)]
        return [sorted((turns[0] for turns in group), key=lambda turn: -turn.score) for group in groups]


def write(
    step: Step, state: State, decoding: Decoding, count: int, generators: Sequence[torch.Generator]
) -> list[list[Written]]:
    """Turns for each row of the state, best first: as many as the beam is wide, `count` at least, else one."""
    import torch

    from rejoinder.models.networks import decoding as generate

    limits = generate.Limits(END_ID, (PAD_ID, UNK_ID), decoding.most, decoding.shortest)
    if decoding.method == "beam":
        width = max(decoding.beam, count)
        return generate.beam(step, state, limits, width, width)
    if decoding.method == "greedy":
        return [[turn] for turn in generate.greedy(step, state, limits)]
    draws = torch.stack([torch.rand(decoding.most, generator=generator) for generator in generators])
    options = {"temperature": decoding.temperature, "top_p": decoding.top_p}
    return [[turn] for turn in generate.sample(step, state, limits, draws, **options)]


def begin_hierarchy(
    model: DialogueModel,
    vocabularies: Vocabularies,
    limits: Limits,
    contexts: Sequence[Context],
    _: Decoding,
    generators: Sequence[torch.Generator],
) -> tuple[Step, State]:
    """Seq2Seq, HRED, or VHRED, which draws from its prior."""
    turns = [numbered_turns(vocabularies.words, context, *limits) for context in contexts]
    noise = _noise(model.sizes.latent, generators)
    return model.step, model.begin(model.condition_after(states(model, turns), noise))


def begin_language(
    model: LanguageModel,
    vocabularies: Vocabularies,
    limits: Limits,
    contexts: Sequence[Context],
    _: Decoding,
    __: Sequence[torch.Generator],
) -> tuple[Step, State]:
    """The language model, which reads the whole context before it goes on."""
    turns = [numbered_turns(vocabularies.words, context, *limits) for context in contexts]
    tokens, lengths = padded([[number for turn in context for number in turn] for context in turns], PAD_ID)
    return model.step, model.begin(tokens, lengths)


def begin_multiresolution(
    model: Multiresolution,
    vocabularies: Vocabularies,
    limits: Limits,
    contexts: Sequence[Context],
    decoding: Decoding,
    generators: Sequence[torch.Generator],
) -> tuple[Step, State]:
    """MrRNN: a coarse sequence is written first, in the same way as the words that then follow from it.

    Only its length has limits of its own.
    """
    import torch

    from rejoinder.models.networks.dialogue import Turns

    assert vocabularies.coarse is not None  # noqa: S101 - its folder has one
    recent = [_spoken(vocabularies.words, context)[-limits.most_turns :] for context in contexts]
    nouns = [numbered_turns(vocabularies.coarse, list(map(coarse_text, turns)), *limits) for turns in recent]
    first = model.coarse.begin(states(model.coarse, nouns))
    own = replace(decoding, longest=limits.longest_turn - 1, shortest=1)
    chosen = [turns[0].ids for turns in write(model.coarse.step, first, own, 1, generators)]
    read = model.read(Turns(*padded([[*ids, END_ID] for ids in chosen], PAD_ID)))
    turns = [numbered_turns(vocabularies.words, context, *limits) for context in recent]
    return model.words.step, model.words.begin(torch.cat([states(model.words, turns), read], -1))


def _spoken(vocabulary: Vocabulary, context: Context) -> list[str]:
    """The turns of a context that have any words."""
    return [turn for turn in context if vocabulary.encode(turn)]


def states(model: DialogueModel, contexts: Sequence[Sequence[Sequence[int]]]) -> Tensor:
    """[n, C] the state of a model after contexts given as numbers; zeros after one without a turn, as in training."""
    import torch

    found = torch.zeros(len(contexts), model.sizes.state)
    usable = [place for place, context in enumerate(contexts) if context]
    if usable:
        found[usable] = model.encode_dialogues(as_dialogues([contexts[place] for place in usable]))
    return found


def from_parts(parts: Parts, decoding: Decoding) -> GenerativeResponder:
    """The responder that a pre-trained model's parts make.

    Raises:
        MissingExtra: torch is not installed.
        DataError: a part is missing, or does not fit the others.
    """
    require_torch("A trained responder")
    begin = _BEGINNINGS.get(parts.config["kind"], _hierarchy)(parts, Limits(*limits(parts.config)))
    return GenerativeResponder(parts, Vocabulary.from_json(parts.files[VOCABULARY]), begin, decoding)


def _language(parts: Parts, limits: Limits) -> Begin:
    """How a language model begins."""
    from rejoinder.models.networks.language import LanguageModel
    from rejoinder.models.sizes import LanguageSizes

    shape = sizes(LanguageSizes, parts.config)
    words = Vocabularies(vocabulary_of(parts, shape.vocabulary))
    return partial(begin_language, with_weights(lambda: LanguageModel(shape), parts.tensors), words, limits)


def _multiresolution(parts: Parts, limits: Limits) -> Begin:
    """How an MrRNN begins."""
    from rejoinder.models.networks.multiresolution import Multiresolution
    from rejoinder.models.sizes import MrrnnSizes

    shape = sizes(MrrnnSizes, parts.config)
    words, coarse = vocabulary_of(parts, shape.vocabulary), vocabulary_of(parts, shape.coarse_vocabulary, COARSE)
    both = with_weights(lambda: Multiresolution(shape), parts.tensors)
    return partial(begin_multiresolution, both, Vocabularies(words, coarse), limits)


def _hierarchy(parts: Parts, limits: Limits) -> Begin:
    """How a Seq2Seq, an HRED or a VHRED begins."""
    from rejoinder.models.networks.dialogue import DialogueModel
    from rejoinder.models.sizes import DialogueSizes

    shape = sizes(DialogueSizes, parts.config)
    words = Vocabularies(vocabulary_of(parts, shape.vocabulary))
    return partial(begin_hierarchy, with_weights(lambda: DialogueModel(shape), parts.tensors), words, limits)


_BEGINNINGS: dict[str, Callable[[Parts, Limits], Begin]] = {"lm": _language, "mrrnn": _multiresolution}


def _answer(vocabulary: Vocabulary, turns: Sequence[Written], count: int) -> Answer:
    """The first `count` different texts among turns, best first."""
    replies: dict[str, float] = {}
    for turn in turns:
        if text := vocabulary.decode(turn.ids):
            replies.setdefault(text, turn.score)
    found = tuple(Reply(text, score) for text, score in list(replies.items())[:count])
    return Answer(found, "" if found else "the model said nothing")


def _noise(width: int, generators: Sequence[torch.Generator]) -> Tensor:
    """[n, width] standard normal numbers, each row from its own generator."""
    import torch

    return torch.stack([torch.randn(width, generator=generator) for generator in generators])
