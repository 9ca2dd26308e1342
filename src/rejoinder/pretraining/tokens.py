"""A corpus as numbers on disk: written once in a stream, read piece by piece, so that its size costs no memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.dialogues import Dialogue
from rejoinder.data.outputs import atomic_folder
from rejoinder.errors import DataError, MissingAsset
from rejoinder.models.vocabulary import UNK_ID, Vocabulary, as_turn

FORMAT = 1
_TOKENS, _TURNS, _PIECES, _STORE = FILES = ("tokens.bin", "turns.bin", "pieces.bin", "store.json")
_LENGTH, _START = np.dtype("<u4"), np.dtype("<i8")
# Characters that are turned into numbers at once: enough to keep all cores busy, and a bound on the memory it takes.
_CHARACTERS_AT_ONCE = 500_000


@dataclass(slots=True)
class Counts:
    """What became of a corpus.

    Attributes:
        dialogues: dialogues read.
        pieces: pieces they were cut into; as many as dialogues where none was too long.
        turns: turns of all pieces.
        tokens: ids of all turns, ends included.
        cut_turns: turns that were longer than the store keeps.
        cut_tokens: ids that were cut off them.
        unknown: ids that are `<unk>`.
    """

    dialogues: int = 0
    pieces: int = 0
    turns: int = 0
    tokens: int = 0
    cut_turns: int = 0
    cut_tokens: int = 0
    unknown: int = 0


def write_tokens(
    dialogues: Iterable[Dialogue], vocabulary: Vocabulary, folder: Path, longest_turn: int = 60, most_turns: int = 12
) -> Counts:
    """Write a corpus as numbers into `folder`, whole or not at all, and return what became of it.

    A dialogue of too many turns becomes several pieces of nearly equal numbers of turns, two or more each. No dialogue
    gives a store of no piece.

    Args:
        dialogues: any iterable; it is not held in memory.
        vocabulary: turns the texts into ids.
        folder: where to; an earlier store there is replaced.
        longest_turn: ids of a turn, its end included, 2 or more; of a longer one the first are kept.
        most_turns: turns of a piece, 3 or more.
    """
    counts = Counts()
    ids = np.dtype("<u2" if vocabulary.size <= 2**16 else "<u4")
    with atomic_folder(Path(folder), ours=FILES) as partial:
        with ExitStack() as stack:
            tokens, turns, pieces = (stack.enter_context((partial / name).open("wb")) for name in FILES[:3])
            pieces.write(_bytes([[0, 0]], _START))
            for group in _groups(dialogues):
                coded = _coded(group, vocabulary, longest_turn, counts)
                sizes = [size for dialogue in group for size in _piece_sizes(len(dialogue.turns), most_turns)]
                last_turns = np.cumsum(sizes)
                last_tokens = np.cumsum([len(turn) for turn in coded])
                starts = np.column_stack([counts.turns + last_turns, counts.tokens + last_tokens[last_turns - 1]])
                tokens.write(_bytes([number for turn in coded for number in turn], ids))
                turns.write(_bytes([len(turn) for turn in coded], _LENGTH))
                pieces.write(_bytes(starts, _START))
                counts.dialogues += len(group)
                counts.pieces += len(sizes)
                counts.turns += len(coded)
                counts.tokens += int(last_tokens[-1])
        limits = {"longest_turn": longest_turn, "most_turns": most_turns}
        store = {"format": FORMAT, "ids": ids.str, "vocabulary": vocabulary.digest, **limits, "counts": asdict(counts)}
        store["digests"] = {name: _digest(partial / name) for name in FILES[:3]}
        (partial / _STORE).write_text(json.dumps(store, indent=1) + "\n", encoding="utf-8")
    return counts


class TokenStore:
    """A corpus of P pieces of dialogues as numbers, read from the folder that `write_tokens` wrote.

    Pieces are read when they are asked for, and only where the pieces begin is mapped into memory. Mapping the ids too
    would count every page that was ever touched as the process's memory, in the end the whole corpus.

    Args:
        folder: that folder.

    Attributes:
        folder: the same.
        pieces: P.
        tokens: ids of all turns, ends included.
        counts: what became of the corpus when it was written.
        vocabulary: digest of the vocabulary that the ids belong to.
        longest_turn: the most ids that a turn has, its end included.
        most_turns: the most turns that a piece has.
        starts: `[P + 1, 2]`, where each piece begins among the turns and among the ids, and the numbers of both.

    Raises:
        MissingAsset: a file is not there.
        DataError: the files do not fit together, or one is not as it was written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        about = _read_about(self.folder)
        try:
            self.counts = Counts(**about["counts"])
            self.vocabulary: str = about["vocabulary"]
            self.longest_turn: int = about["longest_turn"]
            self.most_turns: int = about["most_turns"]
            self._kind = np.dtype(about["ids"])
        except (KeyError, TypeError) as error:
            raise DataError(f"no token store ({error!r})", _remedy(folder), where=str(self.folder / _STORE)) from error
        self.pieces, self.tokens = self.counts.pieces, self.counts.tokens
        _require_size(self.folder / _TOKENS, self.tokens * self._kind.itemsize)
        _require_size(self.folder / _TURNS, self.counts.turns * _LENGTH.itemsize)
        _require_size(self.folder / _PIECES, (self.pieces + 1) * 2 * _START.itemsize)
        _require_digests(self.folder, about.get("digests", {}))
        self.starts: NDArray[np.int64] = np.memmap(
            self.folder / _PIECES, dtype=_START, mode="r", shape=(self.pieces + 1, 2)
        )

    def __reduce__(self) -> tuple[type[TokenStore], tuple[Path]]:
        """Let another process open the folder itself; a pickled mapped array would be copied."""
        return TokenStore, (self.folder,)

    def lengths(self, piece: int) -> NDArray[np.int64]:
        """The number of ids of each turn of a piece, ends included."""
        first, last = self.starts[piece : piece + 2, 0].tolist()
        return self._read(_TURNS, _LENGTH, first, last - first).astype(np.int64)

    def ids(self, piece: int) -> NDArray[Any]:
        """The ids of all turns of a piece, one turn after the other; each ends with the end of the turn."""
        first, last = self.starts[piece : piece + 2, 1].tolist()
        return self._read(_TOKENS, self._kind, first, last - first)

    def turns(self, piece: int) -> list[NDArray[Any]]:
        """The ids of each turn of a piece."""
        return np.split(self.ids(piece), np.cumsum(self.lengths(piece))[:-1])

    def _read(self, name: str, kind: np.dtype[Any], first: int, count: int) -> NDArray[Any]:
        return np.fromfile(self.folder / name, dtype=kind, count=count, offset=first * kind.itemsize)


def _groups(dialogues: Iterable[Dialogue]) -> Iterator[list[Dialogue]]:
    """The dialogues in groups of about half a million characters."""
    group: list[Dialogue] = []
    characters = 0
    for dialogue in dialogues:
        group.append(dialogue)
        characters += sum(map(len, dialogue.turns))
        if characters >= _CHARACTERS_AT_ONCE:
            yield group
            group, characters = [], 0
    if group:
        yield group


def _coded(group: list[Dialogue], vocabulary: Vocabulary, longest: int, counts: Counts) -> list[list[int]]:
    """The ids of all turns of a group, each with its end; adds what was cut or unknown to `counts`."""
    turns = []
    for ids in vocabulary.encode_batch([turn for dialogue in group for turn in dialogue.turns]):
        turn = as_turn(ids, longest)
        cut = len(ids) + 1 - len(turn)
        counts.cut_turns += cut > 0
        counts.cut_tokens += cut
        counts.unknown += turn.count(UNK_ID)
        turns.append(turn)
    return turns


def _piece_sizes(turns: int, most: int) -> list[int]:
    """How many turns each piece of a dialogue has: as few pieces as can be, as equal as can be, the larger first."""
    pieces = -(-turns // most)
    return [turns // pieces + (place < turns % pieces) for place in range(pieces)]


def _bytes(numbers: Any, kind: np.dtype[Any]) -> bytes:
    return np.asarray(numbers, dtype=kind).tobytes()


def _read_about(folder: Path) -> dict[str, Any]:
    """What `store.json` says."""
    try:
        about: dict[str, Any] = json.loads((folder / _STORE).read_text(encoding="utf-8"))
    except OSError as error:
        raise MissingAsset(f"{folder}: holds no token store ({_STORE} cannot be read). {_remedy(folder)}") from error
    except ValueError as error:
        raise DataError(f"broken JSON ({error})", _remedy(folder), where=str(folder / _STORE)) from error
    found = about.get("format") if isinstance(about, dict) else None
    if found != FORMAT:
        raise DataError(f"format {found}, expected {FORMAT}", _remedy(folder), where=str(folder / _STORE))
    return about


def _require_size(path: Path, expected: int) -> None:
    """Raise an error if a file of the store is missing or cut off."""
    if not path.is_file():
        raise MissingAsset(f"{path}: is not there, but belongs to the token store. {_remedy(path.parent)}")
    if path.stat().st_size != expected:
        raise DataError(f"{path.stat().st_size} bytes, expected {expected}", _remedy(path.parent), where=str(path))


def _require_digests(folder: Path, known: Any) -> None:
    """Raise an error if a file of the store has changed; stores of older versions have no digests to compare."""
    for name in FILES[:3] if known else ():
        if not isinstance(known, dict) or known.get(name) != _digest(folder / name):
            raise DataError("is not as it was written", _remedy(folder), where=str(folder / name))


def _digest(path: Path) -> str:
    """What tells a file from others; it is read piece by piece."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _remedy(folder: str | Path) -> str:
    """What to do about a store that cannot be read."""
    return f"Remove {folder} and call again; it is made again from the corpus"
