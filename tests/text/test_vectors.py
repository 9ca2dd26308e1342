"""Word vectors: every format gives the same table, every kind of damage one line that says where and what to do."""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import PROJECT
from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.text.vectors import read_vectors, vectors_in_the_box, word_vectors

RECIPE = PROJECT / "recipes" / "word_vectors.py"
WORDS = ["the", "naïve", "don't", "😀"]
ROWS = np.array([[0.5, -1.25, 3.0], [1e-3, 2.0, -7.5], [0.0, 0.0, 1.0], [4.0, 5.0, 6.0]], dtype=np.float32)
FORMATS = "Give word2vec text or binary, GloVe text, or .npz with `words` and `vectors`"
NONE = "this is no file of word vectors: it begins with"
AGAIN = "The file is damaged: fetch or write it again"


def glove() -> bytes:
    return "".join(
        f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, ROWS.tolist(), strict=True)
    ).encode()


def word2vec_text() -> bytes:
    return b"4 3\n" + glove().replace(b"\n", b" \n")


def word2vec_binary(between: bytes = b"\n") -> bytes:
    entries = (word.encode() + b" " + row.tobytes() + between for word, row in zip(WORDS, ROWS, strict=True))
    return b"4 3\n" + b"".join(entries)


CONTENTS: dict[str, Callable[[], bytes]] = {
    "glove.txt": glove,
    "marked.txt": lambda: b"\xef\xbb\xbf" + glove(),
    "windows.txt": lambda: glove().replace(b"\n", b"\r\n"),
    "unended.txt": lambda: glove().rstrip(b"\n"),
    "words.vec": word2vec_text,
    "glove.txt.gz": lambda: gzip.compress(glove()),
    "words.vec.gz": lambda: gzip.compress(word2vec_text()),
    "words.bin": word2vec_binary,
    "gensim.bin": lambda: word2vec_binary(b""),
    "words.bin.gz": lambda: gzip.compress(word2vec_binary()),
    "unnamed": word2vec_binary,
}


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", CONTENTS)
def test_every_format_gives_the_same_table(tmp_path: Path, name: str) -> None:
    found = read_vectors(put(tmp_path, name, CONTENTS[name]()))
    assert list(found.index) == WORDS
    assert found.matrix.dtype == np.float32
    np.testing.assert_array_equal(found.matrix, ROWS)
    assert found.digest == word_vectors(WORDS, ROWS).digest
    assert found.source == str(tmp_path / name)


@pytest.mark.parametrize(("stored", "kept"), [("float16", "float32"), ("float32", "float32"), ("float64", "float64")])
def test_an_archive_keeps_double_precision_and_widens_half(tmp_path: Path, stored: str, kept: str) -> None:
    path = tmp_path / "words.npz"
    np.savez_compressed(path, words=np.array(WORDS), vectors=ROWS.astype(stored))
    found = read_vectors(path)
    assert list(found.index) == WORDS
    assert found.matrix.dtype == kept
    np.testing.assert_allclose(found.matrix, ROWS, rtol=1e-3)


def test_the_text_form_of_a_table_is_short() -> None:
    assert len(repr(word_vectors(WORDS, ROWS, "a.txt"))) < 80


def test_lookup_leaves_unknown_words_out_and_keeps_repetitions() -> None:
    found = word_vectors(WORDS, ROWS)
    np.testing.assert_array_equal(found.lookup(["don't", "never", "the", "don't", "The"]), [2, 0, 2])
    assert found.lookup([]).shape == (0,)
    assert found.lookup([]).dtype == np.intp
    assert found.width == 3


def test_lookups_give_what_lookup_gives_for_each_text() -> None:
    found = word_vectors(WORDS, ROWS)
    texts = [["don't", "never", "the", "don't"], [], ["never"], ["😀"]]
    assert [rows.tolist() for rows in found.lookups(texts)] == [found.lookup(text).tolist() for text in texts]
    assert [rows.tolist() for rows in found.lookups(texts)] == [[2, 0, 2], [], [], [3]]
    assert found.lookups([]) == []


def test_of_a_repeated_word_the_first_row_counts(tmp_path: Path) -> None:
    found = read_vectors(put(tmp_path, "twice.txt", b"a 1 2\nb 3 4\na 5 6\nc 7 8\n"))
    assert dict(found.index) == {"a": 0, "b": 1, "c": 2}
    np.testing.assert_array_equal(found.matrix, [[1, 2], [3, 4], [7, 8]])


def test_words_with_spaces_inside_as_in_glove_840b(tmp_path: Path) -> None:
    found = read_vectors(put(tmp_path, "spaced.txt", b"a 1 2\n. . . 3 4\nat name@domain.com 5 6\n"))
    assert list(found.index) == ["a", ". . .", "at name@domain.com"]


def test_line_separators_of_unicode_do_not_end_a_line(tmp_path: Path) -> None:
    found = read_vectors(put(tmp_path, "odd.txt", "a 1 2\n\u0085 3 4\nb\u2028 5 6\n\n".encode()))
    assert list(found.index) == ["a", "\u0085", "b\u2028"]


def test_more_words_than_the_matrix_first_holds(tmp_path: Path) -> None:
    rows = np.arange(5000 * 2, dtype=np.float32).reshape(5000, 2)
    text = "".join(f"w{number} {row[0]} {row[1]}\n" for number, row in enumerate(rows.tolist()))
    found = read_vectors(put(tmp_path, "many.txt", text.encode()))
    np.testing.assert_array_equal(found.matrix, rows)
    assert found.index["w4999"] == 4999


def test_a_file_is_read_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "words.txt", b"a 1 2\n")
    first = read_vectors(path)
    assert read_vectors(str(path)) is first
    monkeypatch.chdir(tmp_path)
    assert read_vectors("words.txt") is first
    path.write_bytes(b"a 1 3\n")
    os.utime(path, ns=(1, 1))
    changed = read_vectors(path)
    assert changed.matrix.tolist() == [[1, 3]]
    assert changed.digest != first.digest


def test_the_matrix_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        word_vectors(WORDS, ROWS).matrix[0, 0] = 1.0


def test_the_digest_tells_words_numbers_and_precision_apart() -> None:
    tables: list[tuple[list[str], NDArray[np.floating[Any]]]] = [
        (WORDS, ROWS),
        (WORDS[::-1], ROWS),
        (WORDS, ROWS + 1),
        (WORDS, ROWS.astype(np.float64)),
    ]
    digests = {word_vectors(words, matrix).digest for words, matrix in tables}
    assert len(digests) == 4
    assert all(len(digest) == 12 for digest in digests)


def test_vectors_in_the_box() -> None:
    found = read_vectors()
    assert found.source == str(vectors_in_the_box())
    assert found is read_vectors(None)
    assert found.matrix.shape == (12_000, 50)
    assert np.linalg.norm(found.matrix, axis=1).mean() == pytest.approx(1.0, abs=1e-3)
    unit = found.matrix / np.linalg.norm(found.matrix, axis=1, keepdims=True)

    def likeness(one: str, other: str) -> float:
        return float(unit[found.index[one]] @ unit[found.index[other]])

    assert likeness("monday", "thursday") > 0.8 > 0.3 > likeness("monday", "movie")
    assert likeness("dog", "dogs") > likeness("dog", "linux")


DAMAGE: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.txt", b"", f"{{path}}: the file is empty. {FORMATS}"),
    "short row": ("a.txt", b"a 1 2\nb 3\n", f"{{path}}:2: expected a word and 2 numbers, found 'b 3'. {AGAIN}"),
    "long row": ("a.txt", b"a 1 2\nb 3 4 5\n", f"{{path}}:2: expected a word and 2 numbers, found 'b 3 4 5'. {AGAIN}"),
    "no word": ("a.txt", b"a 1 2\n 3 4\n", f"{{path}}:2: expected a word and 2 numbers, found '3 4'. {AGAIN}"),
    "no number": ("a.txt", b"a 1 2\nb 3 four\n", f"{{path}}:2: 'four' is not a number. {AGAIN}"),
    "not finite": (
        "a.txt",
        b"a 1 2\nb nan 4\n",
        f"{{path}}: the vector of 'b' holds a number that is not finite. {AGAIN}",
    ),
    "beyond float32": (
        "a.txt",
        b"a 1 2\nb 1e99 4\n",
        f"{{path}}: the vector of 'b' holds a number that is not finite. {AGAIN}",
    ),
    "prose": ("a.txt", b"Hello\n", f"{{path}}: {NONE} 'Hello'. {FORMATS}"),
    "JSON lines": (
        "a.jsonl",
        b'{"response": "how are you", "quality": 1}\n' * 2,
        f'{{path}}: {NONE} \'{{{{"response": "how are you", "quality": 1}}}}\'. {FORMATS}',
    ),
    "picture": ("a.png", b"\x89PNG\r\n\x1a\n\x00\x00", f"{{path}}: {NONE} '\ufffdPNG'. {FORMATS}"),
    "first line in another encoding": (
        "a.txt",
        "naïve 3 4\n".encode("latin-1"),
        f"{{path}}:1: byte 3 of the line is not UTF-8. {FORMATS}, in UTF-8 (iconv -t utf-8)",
    ),
    "encoding": (
        "a.txt",
        "a 1 2\nnaïve 3 4\n".encode("latin-1"),
        f"{{path}}:2: byte 3 of the line is not UTF-8. {FORMATS}, in UTF-8 (iconv -t utf-8)",
    ),
    "promise of none": ("a.txt", b"0 2\n", f"{{path}}:1: the first line promises 0 words of 2 numbers. {FORMATS}"),
    "text too short": (
        "a.vec",
        b"3 2\na 1 2\nb 3 4\n",
        f"{{path}}: the file ends after 2 of the 3 words that its first line promises. {AGAIN}",
    ),
    "text too long": (
        "a.vec",
        b"1 2\na 1 2\nb 3 4\n",
        f"{{path}}:3: a line beyond the 1 words that the first line promises. {AGAIN}",
    ),
    "binary cut": (
        "a.bin",
        word2vec_binary()[:-6],
        f"{{path}}: word 4 of 4: the file ends before the entry does. {AGAIN}",
    ),
    "binary longer": (
        "a.bin",
        word2vec_binary() + b"more",
        f"{{path}}: bytes beyond the 4 words that the first line promises. {AGAIN}",
    ),
    "binary word": (
        "a.bin",
        b"1 1\n\xff " + struct.pack("<f", 1.0),
        f"{{path}}: word 1 of 1: byte 1 of the line is not UTF-8. {FORMATS}, in UTF-8 (iconv -t utf-8)",
    ),
    "binary without numbers": (
        "a.bin",
        b"abc def\n",
        "{path}: a word2vec binary begins with a line of two whole numbers, words and numbers a word; this one with"
        f" 'abc def'. {FORMATS}",
    ),
    "no archive": ("a.npz", b"words", f"{{path}}: the file is no .npz archive. {FORMATS}"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told_in_one_line(tmp_path: Path, kind: str) -> None:
    name, content, message = DAMAGE[kind]
    path = put(tmp_path, name, content)
    with pytest.raises(DataError) as caught:
        read_vectors(path)
    assert str(caught.value) == message.format(path=path)


@pytest.mark.parametrize(
    "content", [gzip.compress(glove(), mtime=0)[:-9], b"\x1f\x8b" + b"rubbish" * 5], ids=["cut", "rubbish"]
)
def test_a_damaged_gzip_archive(tmp_path: Path, content: bytes) -> None:
    path = put(tmp_path, "a.txt.gz", content)
    with pytest.raises(DataError, match="the gzip archive breaks off or is damaged") as caught:
        read_vectors(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).endswith(AGAIN)


@pytest.mark.parametrize(
    "arrays",
    [
        {"words": np.array(["a"])},
        {"words": np.array(["a"], dtype=object), "vectors": np.ones((1, 2))},
        {"words": np.array([b"a"]), "vectors": np.ones((1, 2))},
        {"words": np.array(["a"]), "vectors": np.ones((1, 2), dtype=int)},
        {"words": np.array(["a", "b"]), "vectors": np.ones((1, 2))},
        {"words": np.array(["a"]), "vectors": np.ones(2)},
        {"words": np.array([], dtype=str), "vectors": np.ones((0, 2))},
    ],
)
def test_an_archive_with_other_contents(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]
    with pytest.raises(DataError) as caught:
        read_vectors(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).endswith(FORMATS)
    assert "\n" not in str(caught.value)


def test_a_cut_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, words=np.array(WORDS), vectors=ROWS)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"not an \.npz archive with `words` and `vectors`"):
        read_vectors(path)


def test_a_missing_file_is_never_fetched(tmp_path: Path) -> None:
    with pytest.raises(MissingAsset) as caught:
        read_vectors(tmp_path / "none.txt")
    assert str(caught.value) == (
        f"{tmp_path / 'none.txt'}: there is no file of word vectors. Leave the path out to use those in the box, or"
        " fetch some (GloVe: https://nlp.stanford.edu/projects/glove/) and give their path"
    )


def test_a_folder_is_no_file_of_vectors(tmp_path: Path) -> None:
    with pytest.raises(MissingAsset) as caught:
        read_vectors(tmp_path)
    assert str(caught.value) == f"{tmp_path}: this is a folder, not a file of word vectors. Give the path of the file"


def test_a_file_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "locked.txt", b"a 1 2\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(MissingAsset) as caught:
        read_vectors(path)
    assert str(caught.value) == f"{path}: the word vectors cannot be read (Permission denied)"
    with pytest.raises(UsageError, match="is no name of a file or folder: too long"):
        read_vectors(tmp_path / ("a" * 5000))


def test_missing_vectors_of_the_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rejoinder.text.vectors.vectors_in_the_box", lambda: tmp_path / "gone.npz")
    with pytest.raises(MissingAsset, match=r"the vectors of the package are gone\. Install it again: pip install"):
        read_vectors()


def test_the_glove_vectors_of_the_shared_data(shared: Path) -> None:
    found = read_vectors(shared / "data" / "vectors" / "glove_twitter_12k_25d.npz")
    assert found.matrix.shape == (11_925, 25)
    assert found.matrix.dtype == np.float32


@pytest.mark.slow
def test_the_recipe_leaves_judged_dialogues_out_and_repeats_itself(tmp_path: Path) -> None:
    source = random.Random(0)
    dialogues: list[dict[str, Any]] = [
        {"turns": [" ".join(source.choices("abcdefgh", k=9)) for _ in range(4)]} for _ in range(60)
    ]
    dialogues += [{"turns": ["secret words"] * 20, "judged": True}]
    corpus = put(tmp_path, "corpus.jsonl.gz", gzip.compress("\n".join(map(json.dumps, dialogues)).encode()))
    outputs = [tmp_path / "one.npz", tmp_path / "two.npz"]
    for output in outputs:
        command = [sys.executable, str(RECIPE), str(corpus), "-o", str(output), "--dimensions", "3"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout == done.stderr == ""
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    found = read_vectors(outputs[0])
    assert set(found.index) == set("abcdefgh")
    assert found.width == 3
