"""The dual encoder of a trained deep averaging network, run by onnxruntime: no torch, a fraction of a millisecond.

Contexts and responses have a network each, whose vectors are compared with each other; a reference is read as a
response. A context is its last turns that have any pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import DataError
from rejoinder.io.folders import Parts
from rejoinder.scorer import FloatArray
from rejoinder.text.bpe import PAD_ID, Vocabulary, as_turn

VOCABULARY, GRAPH = "vocabulary.json", "model.onnx"
_TOGETHER = 64
Numbers = list[list[int]]
"""The turns of a text or of a context, last turn first, each as ids with its end."""


@dataclass(frozen=True)
class DanEncoder:
    """Encodes texts with the exported network.

    Attributes:
        parts: all that `from_parts` needs to make it again.
        vocabulary: its pieces.
    """

    parts: Parts
    vocabulary: Vocabulary

    @property
    def width(self) -> int:
        """O, the length of a vector."""
        return int(self.parts.config["sizes"]["output"])

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors."""
        return {"encoder": "dan", "weights": self.parts.digest}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, O] unit vectors of texts read as responses; NaN for a text without a piece."""
        return self._encode([self._turns((text,)) for text in texts], 0)

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, O] unit vectors of contexts; NaN for a context without a piece."""
        return self._encode([self._turns(context) for context in contexts], 1)

    def _turns(self, context: tuple[str, ...]) -> Numbers:
        """The last turns with pieces, as many as the network reads."""
        found: Numbers = []
        longest = self.parts.config["longest_turn"]
        for text in reversed(context):
            if len(found) > self.parts.config["sizes"]["earlier"]:
                break
            if ids := self.vocabulary.encode(text):
                found.append(as_turn(ids, longest))
        return found

    def _encode(self, items: Sequence[Numbers], side: int) -> FloatArray:
        """[N, O] the network's output `side` (0 as responses, 1 as contexts) for N items."""
        encoded = np.full((len(items), self.width), np.nan)
        # Like lengths together, so that no reading of padding is paid for; a row does not depend on its neighbours.
        usable = sorted(
            (place for place, item in enumerate(items) if item), key=lambda place: max(map(len, items[place]))
        )
        for start in range(0, len(usable), _TOGETHER):
            places = usable[start : start + _TOGETHER]
            encoded[places] = self._session.run(None, self._inputs([items[place] for place in places]))[side]
        return encoded

    def _inputs(self, items: Sequence[Numbers]) -> dict[str, NDArray[np.int64]]:
        """The batch as the graph wants it: turns padded to the longest, and which of them make up each item."""
        turns = [turn for item in items for turn in item]
        lengths = np.array([len(turn) for turn in turns], dtype=np.int64)
        tokens = np.full((len(turns), int(lengths.max())), PAD_ID, dtype=np.int64)
        tokens[np.arange(tokens.shape[1]) < lengths[:, None]] = np.concatenate(turns)
        counts = np.array([len(item) for item in items])
        places = (np.cumsum(counts) - counts)[:, None] + np.arange(1 + self.parts.config["sizes"]["earlier"])
        rows = np.where(np.arange(places.shape[1]) < counts[:, None], places, -1)
        return {"tokens": tokens, "lengths": lengths, "rows": rows}

    @cached_property
    def _session(self) -> Any:
        """The loaded graph; one thread, because the work is too small to share."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(self.parts.blobs[GRAPH], options, providers=["CPUExecutionProvider"])


def from_parts(parts: Parts) -> DanEncoder:
    """The encoder of a trained network's folder, or of what one kept of it.

    Raises:
        DataError: the folder has no exported network.
    """
    if GRAPH not in parts.blobs:
        raise DataError(f"no {GRAPH} in it", "Pre-train it again with this version")
    text = parts.config.get("recipe", {}).get("text", parts.config)
    config = {"kind": "dan", "sizes": dict(parts.config["sizes"]), "longest_turn": text["longest_turn"]}
    kept = Parts(config, {}, {VOCABULARY: parts.files[VOCABULARY]}, {GRAPH: parts.blobs[GRAPH]})
    return DanEncoder(kept, Vocabulary.from_json(parts.files[VOCABULARY]))
