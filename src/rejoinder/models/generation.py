"""Responders that write their replies word by word: language model, Seq2Seq, HRED, VHRED, MrRNN.

All read a context as in training: its last turns, each cut to a number of tokens, unknown words as `<unk>`. A blank
context is the beginning of a conversation. `<unk>` never occurs in a reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from rejoinder.data.folders import Parts, value_in
from rejoinder.models import require_torch
from rejoinder.models.coarse import coarse_text
from rejoinder.models.decoding import Decoding
from rejoinder.models.sizes import DialogueSizes, LanguageSizes, MrrnnSizes
from rejoinder.models.vocabulary import END_ID, PAD_ID, UNK_ID, Vocabulary
from rejoinder.responder import Answer, Context, Reply, Request

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from rejoinder.models.networks.decoding import Generated, Step
    from rejoinder.models.networks.dialogue import DialogueModel
    from rejoinder.models.networks.recurrent import State

    Begin = Callable[[Sequence[Context], Decoding, Sequence[torch.Generator]], tuple[Step, State]]

COARSE = "coarse.vocabulary.json"


@dataclass(frozen=True)
class GenerativeResponder:
    """Replies of a trained model; `begin` returns its step and its state after n contexts, each with a generator."""

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
        """Everything that decides the replies."""
        decoding = self.decoding
        names = {"greedy": (), "beam": ("beam",), "sample": ("temperature", "top_p")}[decoding.method]
        chosen = {name: getattr(decoding, name) for name in names}
        common = {"weights": self.parts.digest, "method": decoding.method}
        return {**common, **chosen, "longest": decoding.most, "shortest": decoding.shortest}

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """See `Responder`. A score is the log-probability per token, nats.

        Greedy search has one reply, whatever `count` is; equal samples are one reply.
        """
        import torch

        # Every sample has a latent variable, or a coarse sequence, of its own.
        samples = count if self.decoding.method == "sample" else 1
        contexts = [request.context for request in requests for _ in range(samples)]
        generators = [torch.Generator().manual_seed(request.seed) for request in requests]
        generators = [generator for generator in generators for _ in range(samples)]
        with torch.inference_mode():
            turns = write(*self.begin(contexts, self.decoding, generators), self.decoding, count, generators)
        groups = [turns[start : start + samples] for start in range(0, len(turns), samples)]
        return [self._answer(chain.from_iterable(group), count) for group in groups]

    def _answer(self, turns: Iterable[Generated], count: int) -> Answer:
        """Return the first `count` different texts among turns, best first."""
        scores: dict[str, float] = {}
        for turn in sorted(turns, key=lambda turn: -turn.score):
            if text := self.vocabulary.decode(turn.ids):
                scores.setdefault(text, turn.score)
        replies = tuple(Reply(text, score) for text, score in list(scores.items())[:count])
        return Answer(replies, "" if replies else "the model said nothing")


def write(
    step: Step, state: State, decoding: Decoding, count: int, generators: Sequence[torch.Generator]
) -> list[list[Generated]]:
    """Return turns for each row of the state, best first: a beam has at least `count`, the other methods one."""
    from rejoinder.models.networks.decoding import Limits, beam, greedy, sample

    limits = Limits(END_ID, (PAD_ID, UNK_ID), decoding.most, decoding.shortest)
    if decoding.method == "beam":
        width = max(decoding.beam, count)
        return beam(step, state, limits, width, width)
    if decoding.method == "greedy":
        turns = greedy(step, state, limits)
    else:
        turns = sample(step, state, limits, generators, temperature=decoding.temperature, top_p=decoding.top_p)
    return [[turn] for turn in turns]


def encode_contexts(model: DialogueModel, contexts: Sequence[Sequence[Sequence[int]]]) -> Tensor:
    """Return [n, C] the state of a model after contexts in numbers; zeros after one without a turn, as in training."""
    import torch

    from rejoinder.models.networks.loading import as_dialogues

    states = torch.zeros(len(contexts), model.sizes.state)
    usable = [place for place, context in enumerate(contexts) if context]
    if usable:
        states[usable] = model.encode_dialogues(as_dialogues([contexts[place] for place in usable]))
    return states


def from_parts(parts: Parts, decoding: Decoding) -> GenerativeResponder:
    """Return the responder of the parts of a model. Raises `MissingExtra` or, where they do not fit, `DataError`."""
    require_torch("A trained responder")
    beginning = {"lm": _language_model, "mrrnn": _mrrnn}.get(parts.config["kind"], _dialogue_model)
    vocabulary, begin = beginning(parts)
    return GenerativeResponder(parts, vocabulary, begin, decoding)


def _language_model(parts: Parts) -> tuple[Vocabulary, Begin]:
    """Return how a language model begins: it reads the whole context before it goes on."""
    from rejoinder.models.networks.dialogue import LanguageModel
    from rejoinder.models.networks.loading import build, pad, turn_reader

    sizes = value_in(parts.config, "sizes", LanguageSizes)
    reader, model = turn_reader(parts, sizes.vocabulary), build(lambda: LanguageModel(sizes), parts.tensors)

    def begin(contexts: Sequence[Context], *_: Any) -> tuple[Step, State]:
        return model.step, model.begin(*pad([[*chain.from_iterable(reader.numbers(context))] for context in contexts]))

    return reader.vocabulary, begin


def _dialogue_model(parts: Parts) -> tuple[Vocabulary, Begin]:
    """Return how a Seq2Seq, an HRED, or a VHRED begins, which draws from its prior."""
    import torch

    from rejoinder.models.networks.dialogue import DialogueModel
    from rejoinder.models.networks.loading import build, turn_reader

    sizes = value_in(parts.config, "sizes", DialogueSizes)
    reader, model = turn_reader(parts, sizes.vocabulary), build(lambda: DialogueModel(sizes), parts.tensors)

    def begin(contexts: Sequence[Context], _: Decoding, generators: Sequence[torch.Generator]) -> tuple[Step, State]:
        noise = torch.stack([torch.randn(sizes.latent, generator=generator) for generator in generators])  # [n, Z]
        states = encode_contexts(model, [reader.numbers(context) for context in contexts])
        return model.step, model.begin(model.condition_after(states, noise))

    return reader.vocabulary, begin


def _mrrnn(parts: Parts) -> tuple[Vocabulary, Begin]:
    """Return how a MrRNN begins: it writes a coarse sequence, in the same way as the words that follow from it.

    Only the longest and shortest coarse sequence differ from those of words.
    """
    import torch

    from rejoinder.models.networks.loading import build, pad, turn_reader
    from rejoinder.models.networks.mrrnn import MrRNN

    sizes = value_in(parts.config, "sizes", MrrnnSizes)
    reader = turn_reader(parts, sizes.vocabulary)
    coarse_reader = turn_reader(parts, sizes.coarse_vocabulary, COARSE)
    model = build(lambda: MrRNN(sizes), parts.tensors)

    def begin(
        contexts: Sequence[Context], decoding: Decoding, generators: Sequence[torch.Generator]
    ) -> tuple[Step, State]:
        recent = [
            [turn for turn in context if reader.vocabulary.encode(turn)][-reader.most_turns :] for context in contexts
        ]
        nouns = [coarse_reader.numbers(list(map(coarse_text, turns))) for turns in recent]
        first = model.coarse.begin(encode_contexts(model.coarse, nouns))
        limits = replace(decoding, longest=reader.longest_turn - 1, shortest=1)
        coarse = [turns[0].ids for turns in write(model.coarse.step, first, limits, 1, generators)]
        encoded = model.read(pad([[*ids, END_ID] for ids in coarse]))  # [n, K]
        states = encode_contexts(model.words, [reader.numbers(turns) for turns in recent])
        return model.words.step, model.words.begin(torch.cat([states, encoded], -1))

    return reader.vocabulary, begin
