"""Dialogues as numbers on disk, and the batches made of them."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import drawn
from rejoinder.data.dialogues import Dialogue, read_dialogues
from rejoinder.errors import DataError, MissingAsset
from rejoinder.models.vocabulary import END_ID, PAD_ID, UNK_ID, Vocabulary, train_bpe

torch = pytest.importorskip("torch", reason="needs the extra train")

from rejoinder.models.networks.dialogue import Dialogues  # noqa: E402
from rejoinder.pretraining import batches, tokens  # noqa: E402
from rejoinder.pretraining.batches import MOST_PADDING, DialogueBatches, batch_plan, make_batch  # noqa: E402
from rejoinder.pretraining.tokens import FILES, Counts, TokenStore, write_tokens  # noqa: E402


def stream(store: TokenStore, tokens_per_batch: int = 2000, seed: int = 1, epoch: int = 0) -> Iterator[Dialogues]:
    return (make_batch(store, pieces) for pieces in batch_plan(store, tokens_per_batch, seed, epoch))


def padding(batch: Dialogues) -> tuple[int, int]:
    positions = sum(chunk.tokens.numel() for chunk in batch.chunks)
    return positions - sum(int(chunk.lengths.sum()) for chunk in batch.chunks), positions


class Numbers:
    """Stands for a vocabulary: a text is the ids it names."""

    def __init__(self, size: int = 1000) -> None:
        self.size, self.digest = size, "0123456789ab"

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [[int(word) for word in text.split()] for text in texts]


NUMBERS = cast("Vocabulary", Numbers())
Turns = list[list[int]]
turns = st.lists(st.lists(st.integers(3, 999), max_size=12), min_size=2, max_size=20)


def dialogue(said: Turns) -> Dialogue:
    return Dialogue(tuple(" ".join(map(str, turn)) for turn in said), "here")


def chat(count: int, seed: int = 0) -> list[Turns]:
    """Dialogues with lengths like those of people's: few long turns, many short ones; no two turns are equal."""
    generator = np.random.default_rng(seed)
    made: list[Turns] = []
    for number in range(count):
        sizes = np.minimum(1 + generator.geometric(0.08, int(generator.integers(2, 13))), 60)
        made.append([[3 + number % 997, *generator.integers(3, 1000, size - 1).tolist()] for size in sizes])
    return made


def written(folder: Path, said: list[Turns], **limits: int) -> TokenStore:
    write_tokens(map(dialogue, said), NUMBERS, folder / "store", **limits)
    return TokenStore(folder / "store")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> TokenStore:
    return written(tmp_path_factory.mktemp("batches"), chat(3000))


def pieces_of(batch: Any) -> list[list[tuple[int, ...]]]:
    """The turns of each row of a batch, put together again from its chunks."""
    rows = [row[:length] for chunk in batch.chunks for row, length in zip(chunk.tokens, chunk.lengths, strict=True)]
    return [[tuple(rows[place].tolist()) for place in row if place >= 0] for row in batch.rows]


def all_pieces(store: TokenStore) -> list[list[tuple[int, ...]]]:
    return [[tuple(turn.tolist()) for turn in store.turns(piece)] for piece in range(store.pieces)]


# The store


def test_a_store_holds_what_was_said(tmp_path: Path) -> None:
    said = [[[5, 6], [7]], [[8, 9, 10, 11], [12], [UNK_ID], []]]
    counts = write_tokens(map(dialogue, said), NUMBERS, tmp_path / "store", longest_turn=4, most_turns=3)
    assert counts == Counts(dialogues=2, pieces=3, turns=6, tokens=14, cut_turns=1, cut_tokens=1, unknown=1)
    store = TokenStore(tmp_path / "store")
    assert all_pieces(store) == [
        [(5, 6, END_ID), (7, END_ID)],
        [(8, 9, 10, END_ID), (12, END_ID)],
        [(UNK_ID, END_ID), (END_ID,)],
    ]
    assert (store.pieces, store.tokens, store.counts) == (3, 14, counts)
    assert (store.longest_turn, store.most_turns, store.vocabulary) == (4, 3, "0123456789ab")
    assert store.lengths(1).tolist() == [4, 2]
    assert store.ids(0).tolist() == [5, 6, END_ID, 7, END_ID]


def test_a_text_cannot_forge_padding_or_the_end_of_its_turn(tmp_path: Path) -> None:
    store = written(tmp_path, [[[5, END_ID, PAD_ID, 6], [7]]])
    assert all_pieces(store) == [[(5, UNK_ID, UNK_ID, 6, END_ID), (7, END_ID)]]


@drawn(50)
@given(st.lists(turns, min_size=1, max_size=8), st.integers(3, 6), st.integers(1, 40))
def test_dialogues_are_cut_into_pieces_and_nothing_is_lost(said: list[Turns], most: int, at_once: int) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_CHARACTERS_AT_ONCE", at_once)
        store = written(Path(folder), said, most_turns=most)
        pieces = all_pieces(store)
        assert all((store.lengths(piece) == list(map(len, turns))).all() for piece, turns in enumerate(pieces))
    assert all(2 <= len(piece) <= most for piece in pieces)
    assert len(pieces) == sum(-(-len(turns) // most) for turns in said)
    assert [turn for piece in pieces for turn in piece] == [(*turn, END_ID) for turns in said for turn in turns]


def test_large_vocabularies_take_four_bytes(tmp_path: Path) -> None:
    for size, width in ((2**16, 2), (2**16 + 1, 4)):
        large = cast("Vocabulary", Numbers(size))
        write_tokens([dialogue([[size - 1], [5]])], large, tmp_path / "store")
        store = TokenStore(tmp_path / "store")
        assert store.ids(0).itemsize == width
        assert store.ids(0).tolist() == [size - 1, END_ID, 5, END_ID]


def test_an_empty_store(tmp_path: Path) -> None:
    store = written(tmp_path, [])
    assert (store.pieces, store.tokens) == (0, 0)
    assert list(stream(store)) == []


def test_a_store_is_whole_or_not_there(tmp_path: Path) -> None:
    def breaking() -> Iterator[Dialogue]:
        yield dialogue([[5], [6]])
        raise DataError("broken", "Mend it")

    with pytest.raises(DataError, match="broken. Mend it"):
        write_tokens(breaking(), NUMBERS, tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_CHARACTERS_AT_ONCE", 20_000)
    said = [dialogue(turns) for turns in chat(200)]

    def peak(copies: int) -> int:
        tracemalloc.start()
        write_tokens((one for _ in range(copies) for one in said), NUMBERS, tmp_path / "store")
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1)
    assert peak(10) < 1.1 * peak(1)


def test_a_store_travels_as_the_name_of_its_folder(store: TokenStore) -> None:
    packed = pickle.dumps(store)
    assert len(packed) < 1000
    assert pickle.loads(packed).ids(5).tolist() == store.ids(5).tolist()


def test_messages_of_the_store(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with pytest.raises(MissingAsset) as absent:
        TokenStore(folder)
    remedy = f"Remove {folder} and call again; it is made again from the corpus"
    assert str(absent.value) == f"{folder}: holds no token store (store.json cannot be read). {remedy}"
    about, good = folder / "store.json", written(tmp_path, [[[5], [6]]])
    text = about.read_text()
    for name, size in (("tokens.bin", 8), ("turns.bin", 8), ("pieces.bin", 32)):
        data = (good.folder / name).read_bytes()
        for other, problem in (
            (data[:-1], f"{size - 1} bytes, expected {size}"),
            (data + b"more", f"{size + 4} bytes, expected {size}"),
            (b"\xff" + data[1:], "is not as it was written"),
        ):
            (folder / name).write_bytes(other)
            with pytest.raises(DataError) as damaged:
                TokenStore(folder)
            assert str(damaged.value) == f"{folder / name}: {problem}. {remedy}"
        (folder / name).unlink()
        with pytest.raises(MissingAsset) as gone:
            TokenStore(folder)
        assert str(gone.value) == f"{folder / name}: is not there, but belongs to the token store. {remedy}"
        (folder / name).write_bytes(data)
    for wrong, message in (
        ("{", "broken JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
        ("[]", "format None, expected 1"),
        ('{"format": 2}', "format 2, expected 1"),
        ('{"format": 1}', "no token store (KeyError('counts'))"),
        (
            json.dumps({**json.loads(text), "ids": 3}),
            "no token store (TypeError(\"Cannot interpret '3' as a data type\"))",
        ),
    ):
        about.write_text(wrong)
        with pytest.raises(DataError) as damaged:
            TokenStore(folder)
        assert str(damaged.value) == f"{about}: {message}. {remedy}"
    about.write_text(json.dumps({key: value for key, value in json.loads(text).items() if key != "digests"}))
    assert TokenStore(folder).tokens == 4, "a store of an older version is read as it is"
    assert {path.name for path in folder.iterdir()} == set(FILES)


# Batches


def test_a_batch_worked_by_hand(tmp_path: Path) -> None:
    store = written(tmp_path, [[[5] * 9, [6]], [[7] * 8, [8, 8], [9, 9]]])
    batch = make_batch(store, np.array([1, 0]))
    assert [chunk.lengths.tolist() for chunk in batch.chunks] == [[10, 9], [3, 3, 2]]
    assert batch.chunks[1].tokens.tolist() == [[8, 8, END_ID], [9, 9, END_ID], [6, END_ID, PAD_ID]]
    assert batch.rows.tolist() == [[1, 2, 3], [0, 4, -1]]
    assert padding(batch) == (2, 29)


@pytest.mark.parametrize("world", [1, 3])
def test_processes_share_passes_in_which_every_piece_comes_once(store: TokenStore, world: int) -> None:
    source = DialogueBatches(store, store, 2000, seed=1)
    whole = [pieces_of(batch) for batch in stream(store)]
    count = len(whole) // world
    parts = [
        [pieces_of(batch) for batch in islice(source.training(0, rank, world), count + 1)] for rank in range(world)
    ]
    assert [batch for turn in zip(*parts, strict=True) for batch in turn][: count * world] == whole[: count * world]
    assert parts[0][count] == pieces_of(next(stream(store, epoch=1))), "the next pass"
    assert sorted(piece for batch in whole for piece in batch) == sorted(all_pieces(store))
    again = source.training(count, world - 1, world)
    assert pieces_of(next(again)) == parts[-1][count], "a run that is resumed"


def test_batches_have_the_promised_form(store: TokenStore) -> None:
    mixed = 0
    found = list(stream(store))
    for batch in found:
        padded, positions = padding(batch)
        assert positions <= 2000
        assert padded <= MOST_PADDING * positions
        assert batch.rows.dtype == torch.int64
        count = sum(len(chunk.lengths) for chunk in batch.chunks)
        assert sorted(batch.rows[batch.rows >= 0].tolist()) == list(range(count))
        lengths = torch.cat([chunk.lengths for chunk in batch.chunks])
        assert (lengths.diff() <= 0).all()
        mixed += int((batch.rows < 0).any())
        for chunk in batch.chunks:
            assert chunk.tokens.dtype == chunk.lengths.dtype == torch.int64
            assert chunk.tokens.shape == (len(chunk.lengths), chunk.lengths[0])
            inside = torch.arange(chunk.tokens.shape[1]) < chunk.lengths[:, None]
            assert (chunk.tokens[~inside] == PAD_ID).all()
            assert (chunk.tokens[inside] != PAD_ID).all()
    # Numbers of turns meet only where one batch ends a group and begins the next: ten times in a bucket at most.
    assert mixed <= 10 * -(-len(found) // 90)


def test_the_order_is_that_of_seed_and_epoch(store: TokenStore) -> None:
    def order(seed: int, epoch: int) -> list[list[list[tuple[int, ...]]]]:
        return [pieces_of(batch) for batch in stream(store, seed=seed, epoch=epoch)]

    first = order(1, 0)
    assert order(1, 0) == first
    assert order(1, 1) != first
    assert order(2, 0) != first
    # Batches of many turns must not all come first or last.
    sizes = [len(batch[0]) for batch in first]
    assert abs(np.corrcoef(sizes, np.arange(len(sizes)))[0, 1]) < 0.3


def test_buckets_change_who_meets_whom_and_not_what_comes(store: TokenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCHES_A_BUCKET", 3)
    found = list(stream(store))
    assert sorted(piece for batch in found for piece in pieces_of(batch)) == sorted(all_pieces(store))


@drawn(200)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=80))
def test_chunks_are_as_few_as_can_be(lengths: list[int]) -> None:
    ordered = np.array(sorted(lengths, reverse=True))

    def positions(cuts: list[int]) -> int:
        return sum(int(part[0]) * len(part) for part in np.split(ordered, cuts))

    cuts = batches._cuts(ordered)
    enough = ordered.sum() / (1 - MOST_PADDING)
    assert cuts == sorted(set(cuts) - {0, len(ordered)})
    assert positions(cuts) <= enough
    # No cut taken away or moved by one leaves a better way with one chunk fewer.
    assert all(positions(cuts[:place] + cuts[place + 1 :]) > enough for place in range(len(cuts)))


def test_chunks_are_the_best_of_all_cuts() -> None:
    ordered = np.array([9, 9, 7, 5, 4, 4, 2, 1])
    cuts = batches._cuts(ordered)
    every = [[a, b, c] for a in range(1, 8) for b in range(a + 1, 8) for c in range(b + 1, 8)]
    cost = {tuple(way): sum(int(part[0]) * len(part) for part in np.split(ordered, way)) for way in every}
    assert len(cuts) == 3
    assert cost[tuple(cuts)] == min(cost.values())


def test_a_piece_that_is_too_large_comes_alone(tmp_path: Path) -> None:
    store = written(tmp_path, [[[5] * 30, [6] * 30], [[7], [8]], [[9], [10]]])
    found = [pieces_of(batch) for batch in stream(store, 20)]
    assert sorted(map(len, found)) == [1, 2]


def test_a_corpus_of_fewer_batches_than_processes_is_refused(tmp_path: Path) -> None:
    store = written(tmp_path, [[[5], [6]]])
    with pytest.raises(DataError, match=r"fewer batches than processes \(2\)"):
        next(DialogueBatches(store, store, 100, seed=0).training(0, 0, 2))


@pytest.mark.slow
def test_little_of_a_real_corpus_is_padding(tmp_path: Path, shared: Path) -> None:
    def dialogues() -> Iterator[Dialogue]:
        return read_dialogues(shared / "data/corpora/casino.jsonl.gz")

    vocabulary = train_bpe((turn for dialogue in dialogues() for turn in dialogue.turns), 2000)
    counts = write_tokens(dialogues(), vocabulary, tmp_path / "store")
    store = TokenStore(tmp_path / "store")
    found = np.array([padding(batch) for batch in stream(store, 6000)])
    assert found[:, 1].sum() - found[:, 0].sum() == counts.tokens
    assert found[:, 0].sum() < 0.1 * found[:, 1].sum()
    assert counts.unknown < 0.001 * counts.tokens
