"""The encoder of a pre-trained HRED or VHRED: what ADEM stands on.

Two states can stand for a text. `context` is the context encoder's state after the text was read as a dialogue (the
paper's words); `utterance` is the utterance encoder's state of the last turn (what the released ADEM probably used).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from rejoinder.data.folders import Parts, value_in
from rejoinder.errors import UsageError
from rejoinder.models.batching import (
    as_dialogues,
    encode_batches,
    is_cut,
    limits,
    numbered_turns,
    require_torch,
    vocabulary_of,
    with_weights,
)
from rejoinder.models.vocabulary import Vocabulary, as_turn
from rejoinder.models.weights import sizes
from rejoinder.scorer import FloatArray

if TYPE_CHECKING:
    from torch import Tensor

    from rejoinder.models.networks.dialogue import DialogueModel

StateOf = Literal["context", "utterance"]
STATES = get_args(StateOf)
"""The first is taken where none is named."""
VOCABULARY = "vocabulary.json"


@dataclass(frozen=True)
class RecurrentEncoder:
    """Encodes texts with a trained model.

    Attributes:
        parts: all that `from_parts` needs to make it again.
        model: the network, in evaluation mode.
        vocabulary: its pieces.
        state: which state stands for a text.
        longest_turn: tokens kept of a turn, the end included, as in training.
        most_turns: the last so many turns of a context are read, as in training.
    """

    parts: Parts
    model: DialogueModel
    vocabulary: Vocabulary
    state: StateOf
    longest_turn: int
    most_turns: int

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        sizes = self.model.sizes
        return sizes.context if self.state == "context" else 2 * sizes.utterance

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors."""
        return {"encoder": self.parts.config["kind"], "state": self.state, "weights": self.parts.digest}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, D] states of texts, each read as a dialogue of one turn; NaN for a text without a word."""
        return self.encode_contexts([(text,) for text in texts])

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, D] states of contexts; NaN for a context without a word."""
        turns = [self._turns(context) for context in contexts]
        return encode_batches(turns, self.width, lambda turns: (len(turns), max(map(len, turns))), self._states)

    def silence(self) -> FloatArray:
        """[D] the state of a dialogue whose only turn ends at once."""
        (found,) = encode_batches([[as_turn([], self.longest_turn)]], self.width, len, self._states)
        return np.asarray(found)

    def cuts(self, texts: Sequence[str]) -> list[int]:
        """The positions of texts whose end is not read."""
        return self.cuts_contexts([(text,) for text in texts])

    def cuts_contexts(self, contexts: Sequence[tuple[str, ...]]) -> list[int]:
        """The positions of contexts of which first turns, or the end of a turn, are not read."""
        limits = (self.longest_turn, self.most_turns)
        return [place for place, context in enumerate(contexts) if is_cut(self.vocabulary, context, *limits)]

    def _turns(self, context: tuple[str, ...]) -> list[list[int]]:
        """The numbers of the last turns of a context that have any."""
        return numbered_turns(self.vocabulary, context, self.longest_turn, self.most_turns)

    def _states(self, contexts: Sequence[Sequence[Sequence[int]]]) -> Tensor:
        """[n, D] states of contexts given as numbers."""
        dialogues = as_dialogues(contexts)
        if self.state == "context":
            return self.model.encode_dialogues(dialogues)
        (turns,), rows = dialogues
        last = rows.gather(1, (rows >= 0).sum(1, keepdim=True) - 1)[:, 0]
        return self.model.encode_turns(turns._replace(tokens=turns.tokens[last], lengths=turns.lengths[last]))


def with_state(config: Mapping[str, Any], state: str | None) -> dict[str, Any]:
    """The config of a model with a state: the one of the call, else its own, else the first.

    Raises:
        UsageError: there is no such state.
    """
    if state is not None and state not in STATES:
        raise UsageError(f"no state is called {state!r}. There are: {', '.join(STATES)}")
    return {"state": STATES[0], **config, **({"state": state} if state else {})}


def from_parts(parts: Parts) -> RecurrentEncoder:
    """The encoder whose `parts` these are; also those of a pre-trained model, with `state` in its config.

    Raises:
        MissingExtra: torch or tokenizers is not installed.
        DataError: there is no such state, or a part is missing or does not fit the others.
    """
    config = parts.config
    state: StateOf = value_in(config, "state", StateOf)
    require_torch()
    from rejoinder.models.networks.dialogue import DialogueModel
    from rejoinder.models.sizes import DialogueSizes

    shape = sizes(DialogueSizes, config)
    vocabulary = vocabulary_of(parts, shape.vocabulary)
    # The curves of its training go along with the model, but decide nothing.
    kept = Parts(config, parts.tensors, {VOCABULARY: parts.files[VOCABULARY]})
    model = with_weights(lambda: DialogueModel(shape), parts.tensors)
    return RecurrentEncoder(kept, model, vocabulary, state, *limits(config))
