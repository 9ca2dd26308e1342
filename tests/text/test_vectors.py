"""Word vectors: each format gives the same table, damage stops with the place."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import PROJECT
from rejoinder.assets import VECTORS
from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.text.vectors import read_vectors, word_vectors

WORDS = ["the", "naïve", "don't", "😀", ". . ."]
ROWS = np.array([[0.5, -1.25, 3], [1e-3, 2, -7.5], [0, 0, 1], [4, 5, 6], [7, 8, 9]], dtype=np.float32)
GLOVE = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, ROWS.tolist(), strict=True)).encode()
BINARY = b"4 3\n" + b"".join(
    word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(WORDS[:4], ROWS, strict=False)
)
ZIPPED = gzip.compress(GLOVE, mtime=0)
CONTENTS = {
    "glove.txt": GLOVE,
    "marked.txt": b"\xef\xbb\xbf" + GLOVE,
    "windows.txt": GLOVE.replace(b"\n", b"\r\n"),
    "unended.txt": GLOVE.rstrip(b"\n"),
    "blank.txt": GLOVE + b"\n",
    "words.vec": b"5 3\n" + GLOVE.replace(b"\n", b" \n"),
    "glove.txt.gz": ZIPPED,
    "words.bin": BINARY,
    "unnamed": BINARY,
    "words.bin.gz": gzip.compress(BINARY),
    "gensim.bin": b"1 3\nthe " + ROWS[0].tobytes(),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_each_format_gives_the_same_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(CONTENTS[name])
    vectors = read_vectors(path)
    count = len(vectors.index)
    assert list(vectors.index) == WORDS[:count] and count == (5 if ".bin" not in name and name != "unnamed" else count)
    np.testing.assert_array_equal(vectors.matrix, ROWS[:count])
    assert vectors.digest == word_vectors(WORDS[:count], ROWS[:count]).digest
    assert vectors.source == str(path) and not vectors.matrix.flags.writeable and vectors.matrix.dtype == np.float32


@pytest.mark.parametrize(("stored", "kept"), [("float16", "float32"), ("float32", "float32"), ("float64", "float64")])
def test_an_archive_keeps_double_precision(tmp_path: Path, stored: str, kept: str) -> None:
    np.savez_compressed(tmp_path / "words.npz", words=np.array(WORDS), vectors=ROWS.astype(stored))
    vectors = read_vectors(tmp_path / "words.npz")
    assert list(vectors.index) == WORDS and vectors.matrix.dtype == kept


def test_lookup_and_coverage_skip_unknown_words_and_keep_repetitions() -> None:
    vectors = word_vectors(WORDS, ROWS)
    texts = [["don't", "never", "the", "don't", "The"], [], ["never"], ["😀"]]
    assert [rows.tolist() for rows in vectors.lookup(texts)] == [[2, 0, 2], [], [], [3]]
    assert vectors.coverage(["the", "never", "😀", "."]) == (1, 2)
    assert len(repr(vectors)) < 80


def test_a_repeated_word_keeps_its_first_row_and_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "twice.txt"
    path.write_bytes(b"a 1 2\nb 3 4\na 5 6\nc 7 8\n")
    vectors = read_vectors(path)
    assert vectors.matrix.tolist() == [[1, 2], [3, 4], [7, 8]] and read_vectors(str(path)) is vectors
    path.write_bytes(b"a 1 3\n")
    os.utime(path, ns=(1, 1))
    assert read_vectors(path).matrix.tolist() == [[1, 3]]


def test_the_bundled_vectors() -> None:
    vectors = read_vectors()
    assert vectors.bundled and vectors.source == str(VECTORS) and vectors.matrix.shape == (12_000, 50)
    monday, thursday, movie = (vectors.matrix[vectors.index[word]] for word in ("monday", "thursday", "movie"))
    assert monday @ thursday > monday @ movie


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.txt", b"", ""),
        ("a.txt", b"a 1 2\nb 3\n", ":2"),
        ("a.txt", b"a 1 2\nb 3 4 5\n", ":2"),
        ("a.txt", b"a 1 2\n 3 4\n", ":2"),
        ("a.txt", b"a 1 2\nb 3 four\n", ":2"),
        ("a.txt", b"a 1 2\nb nan 4\n", ""),
        ("a.txt", b"a 1 2\nb 1e99 4\n", ""),
        ("a.txt", b"Hello\n", ""),
        ("a.jsonl", b'{"response": "how are you", "quality": 1}\n', ":1"),
        ("a.png", b"\x89PNG\r\n\x1a\n\x00\x00", ""),
        ("a.txt", "a 1 2\nnaïve 3 4\n".encode("latin-1"), ":2"),
        ("a.txt", b"0 2\n", ""),
        ("a.vec", b"3 2\na 1 2\nb 3 4\n", ""),
        ("a.vec", b"1 2\na 1 2\nb 3 4\n", ""),
        ("a.bin", BINARY[:-6], ": word 4 of 4"),
        ("a.bin", BINARY + b"more", ""),
        ("a.bin", b"1 1\n\xff 1234", ": word 1 of 1"),
        ("a.bin", b"abc def\n", ""),
        ("a.npz", b"words", ""),
        ("a.npz", b"PK\x03\x04 no archive", ""),
        ("a.txt.gz", ZIPPED[:-9], ""),
        ("a.txt.gz", b"\x1f\x8b" + b"rubbish" * 5, ""),
    ],
)
def test_damage_stops_with_the_place(tmp_path: Path, name: str, content: bytes, place: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_vectors(path)
    assert caught.value.where == f"{path}{place}"


@pytest.mark.parametrize(
    ("words", "vectors"),
    [(["a"], None), (["a"], np.ones((1, 2), int)), (["a", "b"], np.ones((1, 2))), (["a"], np.ones(2)), ([b"a"], ROWS)],
)
def test_an_archive_with_other_contents(tmp_path: Path, words: list[str], vectors: np.ndarray | None) -> None:
    arrays = {"words": np.array(words)} | ({} if vectors is None else {"vectors": vectors})
    np.savez(tmp_path / "a.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(DataError) as caught:
        read_vectors(tmp_path / "a.npz")
    assert caught.value.where == str(tmp_path / "a.npz")


def test_a_missing_file_and_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(MissingAsset, match=str(path)):
            read_vectors(path)
    with pytest.raises(UsageError):
        read_vectors(tmp_path / ("a" * 5000))
    monkeypatch.setattr("rejoinder.text.vectors.VECTORS", tmp_path / "gone.npz")
    with pytest.raises(MissingAsset, match="Reinstall"):
        read_vectors()


@pytest.mark.slow
def test_the_recipe_leaves_judged_dialogues_out_and_repeats_itself(tmp_path: Path) -> None:
    draws = random.Random(0)
    dialogues = [{"turns": [" ".join(draws.choices("abcdefgh", k=9)) for _ in range(4)]} for _ in range(60)]
    lines = [json.dumps(dialogue) for dialogue in (*dialogues, {"turns": ["secret words"] * 20, "judged": True})]
    corpus = tmp_path / "corpus.jsonl.gz"
    corpus.write_bytes(gzip.compress("\n".join(lines).encode()))
    outputs = [tmp_path / "first.npz", tmp_path / "second.npz"]
    for output in outputs:
        recipe = PROJECT / "recipes" / "word_vectors.py"
        subprocess.run([sys.executable, recipe, corpus, "-o", output, "--dimensions", "3"], check=True)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert set(read_vectors(outputs[0]).index) == set("abcdefgh")
