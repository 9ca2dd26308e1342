"""The encoder of a pre-trained HRED or VHRED: what ADEM stands on.

Two states can stand for a text. `context` is the context encoder's state after the text was read as a dialogue (the
paper's words); `utterance` is the utterance encoder's state of the last turn (what the released ADEM probably used).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rejoinder.errors import DataError, MissingExtra, UsageError
from rejoinder.io.folders import read_folder
from rejoinder.scorer import FloatArray
from rejoinder.text.bpe import PAD_ID, Vocabulary, as_turn

if TYPE_CHECKING:
    from rejoinder.nn.dialogue import DialogueModel

StateOf = Literal["context", "utterance"]
KINDS = ("hred", "vhred")
_TOGETHER = 64


@dataclass(frozen=True)
class RecurrentEncoder:
    """Encodes texts with a trained model.

    Attributes:
        model: the network, in evaluation mode.
        vocabulary: its pieces.
        state: which state stands for a text.
        longest_turn: tokens kept of a turn, the end included, as in training.
        most_turns: the last so many turns of a context are read, as in training.
        weights: digest of the weights.
    """

    model: DialogueModel
    vocabulary: Vocabulary
    state: StateOf
    longest_turn: int
    most_turns: int
    weights: str

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        sizes = self.model.sizes
        return sizes.context if self.state == "context" else 2 * sizes.utterance

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors."""
        return {"encoder": self.weights, "state": self.state, "vocabulary": self.vocabulary.digest}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, D] states of texts, each read as a dialogue of one turn; NaN for a text without a word."""
        return self.encode_contexts([(text,) for text in texts])

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, D] states of contexts; NaN for a context without a word."""
        turns = [self._turns(context) for context in contexts]
        encoded = np.full((len(contexts), self.width), np.nan)
        usable = [place for place, context in enumerate(turns) if context]
        # Like shapes together, so that no reading of padding is paid for; a row does not depend on its neighbours.
        usable.sort(key=lambda place: (len(turns[place]), max(map(len, turns[place]))))
        for start in range(0, len(usable), _TOGETHER):
            places = usable[start : start + _TOGETHER]
            encoded[places] = self._states([turns[place] for place in places])
        return encoded

    def _turns(self, context: tuple[str, ...]) -> list[list[int]]:
        """The numbers of the last turns of a context that have any."""
        turns = [as_turn(ids, self.longest_turn) for text in context if (ids := self.vocabulary.encode(text))]
        return turns[-self.most_turns :]

    def _states(self, contexts: Sequence[Sequence[Sequence[int]]]) -> FloatArray:
        """[n, D] states of contexts given as numbers."""
        import torch

        from rejoinder.nn.dialogue import Dialogues, Turns

        turns = [turn for context in contexts for turn in context]
        lengths = torch.tensor([len(turn) for turn in turns])
        tokens = torch.full((len(turns), int(lengths.max())), PAD_ID)
        for row, turn in enumerate(turns):
            tokens[row, : len(turn)] = torch.tensor(turn)
        rows = torch.full((len(contexts), max(map(len, contexts))), -1)
        start = 0
        for row, context in enumerate(contexts):
            rows[row, : len(context)] = torch.arange(start, start + len(context))
            start += len(context)
        with torch.inference_mode():
            if self.state == "context":
                states = self.model.encode_dialogues(Dialogues([Turns(tokens, lengths)], rows))
            else:
                last = rows.gather(1, (rows >= 0).sum(1, keepdim=True) - 1)[:, 0]
                states = self.model.encode_turns(Turns(tokens[last], lengths[last]))
        found: FloatArray = states.double().numpy()
        return found


def load_recurrent(folder: str | Path, state: StateOf = "context") -> RecurrentEncoder:
    """The encoder of the model in `folder`.

    Raises:
        MissingAsset: there is no model.
        MissingExtra: torch is not installed.
        DataError: the folder holds something else.
        UsageError: there is no such state.
    """
    if state not in ("context", "utterance"):
        raise UsageError(f"no state is called {state!r}. There are: context, utterance")
    parts = read_folder(folder)
    config = parts.config
    if config.get("kind") not in KINDS:
        found = f"a model of kind {config.get('kind')!r}, expected {' or '.join(KINDS)}"
        raise DataError(found, "Name the folder of a pre-trained model", where=str(folder))
    try:
        import torch
    except ImportError as error:
        raise MissingExtra("torch", "train", "A pre-trained encoder") from error
    from rejoinder.nn.dialogue import DialogueModel, Sizes

    model = DialogueModel(Sizes(**config["sizes"]))
    model.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in parts.tensors.items()})
    text = config["recipe"]["text"]
    vocabulary = Vocabulary.from_json(parts.files["vocabulary.json"])
    return RecurrentEncoder(model.eval(), vocabulary, state, text["longest_turn"], text["most_turns"], parts.digest)
