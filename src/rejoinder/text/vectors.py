"""Word vectors from the files they come in, read without a download and without a list of Python numbers in memory.

Formats, told apart by what the file begins with (and by the suffix `.bin`), the text and binary forms also gzipped:

    word2vec text    a line `words numbers`, then a line a word: the word, a space, its numbers (fastText's `.vec` too)
    word2vec binary  the same first line, then for each word: the word, a space, its numbers as little-endian float32
    GloVe text       word2vec text without the first line
    .npz             `words` [V] strings and `vectors` [V, D] floats

Of a word that occurs twice the first row counts, as in gensim. Shapes: V words, D numbers a word.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from rejoinder.assets import VECTORS, as_path
from rejoinder.errors import DataError, MissingAsset

IdArray = NDArray[np.intp]
Rows = NDArray[np.floating[Any]]
Entry = tuple[str, Sequence[float] | NDArray[np.float32]]

_HEADER = re.compile(rb"\s*(\d+) +(\d+)\s*")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_FASTTEXT = b"\xba\x16\x4f\x2f"  # what a model file of fastText begins with
_FORMATS = "Give word2vec text or binary, GloVe text, or .npz with `words` and `vectors`"
_AGAIN = "The file is damaged: fetch or write it again"


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Words and their vectors.

    Attributes:
        index: word to its row.
        matrix: [V, D] float32 or float64, read-only.
        digest: twelve hexadecimal digits of the SHA-256 of words and numbers; goes into signatures.
        source: the file they were read from, for messages.
    """

    index: Mapping[str, int] = field(repr=False)
    matrix: Rows = field(repr=False)
    digest: str
    source: str

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        return int(self.matrix.shape[1])

    @property
    def boxed(self) -> bool:
        """Whether these are the vectors in the box, which are English."""
        return self.source == str(vectors_in_the_box())

    def known(self, tokens: Iterable[str]) -> tuple[int, int]:
        """How many of the words among `tokens` have a vector, and how many there are; a word begins with a letter."""
        found = [token in self.index for token in tokens if token[:1].isalpha()]
        return sum(found), len(found)

    def lookup(self, tokens: Iterable[str]) -> IdArray:
        """[K] rows of those `tokens` that have a vector, in their order, repetitions kept; the others are left out."""
        return self.lookups([list(tokens)])[0]

    def lookups(self, texts: Sequence[Sequence[str]]) -> list[IdArray]:
        """What `lookup` gives for each of T lists of tokens, all at once, which is quicker for many short ones."""
        rows = np.array([*map(self.index.get, chain.from_iterable(texts), repeat(-1))], dtype=np.intp)
        known = rows >= 0
        before = np.concatenate([[0], np.cumsum(known)])  # how many known tokens come before each
        ends = before[np.cumsum([0, *map(len, texts)])]
        rows = rows[known]
        return [rows[begin:end] for begin, end in pairwise(ends.tolist())]


def word_vectors(words: Sequence[str], matrix: Rows, source: str = "") -> WordVectors:
    """The `words` with the rows of `matrix` [V, D]; of a word that occurs twice the first row.

    Raises:
        DataError: there is no word, there are not as many words as rows, or a number is not finite.
    """
    if matrix.ndim != 2 or len(words) != len(matrix) or 0 in matrix.shape:
        raise DataError(f"{len(words)} words for vectors of shape {matrix.shape}", _FORMATS, where=source)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(matrix.sum(axis=1))
    if not finite.all():
        word = words[int(np.argmin(finite))]
        raise DataError(f"the vector of {word!r} holds a number that is not finite", _AGAIN, where=source)
    first: dict[str, int] = {}
    for row, word in enumerate(words):
        first.setdefault(word, row)
    if len(first) < len(words):
        matrix = matrix[list(first.values())]
        first = {word: row for row, word in enumerate(first)}
    matrix = np.ascontiguousarray(matrix, dtype=np.float64 if matrix.dtype == np.float64 else np.float32)
    matrix.flags.writeable = False
    digest = hashlib.sha256("\n".join(first).encode("utf-8", "surrogatepass"))
    digest.update(f"\n\n{matrix.dtype.name} {matrix.shape}\n".encode())
    digest.update(matrix.data)
    return WordVectors(first, matrix, digest.hexdigest()[:12], source)


def vectors_in_the_box() -> Path:
    """The file of the word vectors that come with the package."""
    return VECTORS


def read_vectors(path: str | Path | None = None) -> WordVectors:
    """The word vectors in the file `path`; None gives those in the box.

    A file is read once for as long as it does not change; asking again gives the same object.

    Raises:
        MissingAsset: there is no such file, or it cannot be opened. Nothing is ever downloaded.
        DataError: the file cannot be used; the message holds the line or the word at fault.
    """
    file = vectors_in_the_box() if path is None else as_path(path).expanduser().absolute()
    try:
        if not file.is_file():
            raise MissingAsset(_missing(file, in_the_box=path is None))
        status = file.stat()
        return _read(str(file), status.st_mtime_ns, status.st_size)
    except MissingAsset:
        raise
    except OSError as error:
        raise MissingAsset(f"{file}: the word vectors cannot be read ({error.strerror or error})") from error


@lru_cache(maxsize=1)
def common_words() -> tuple[str, ...]:
    """The words and signs in the box, most frequent in English dialogues first, lower case.

    Raises:
        MissingAsset: the file is not there.
    """
    file = vectors_in_the_box()
    if not file.is_file():
        raise MissingAsset(_missing(file, in_the_box=True))
    with np.load(file) as held:
        return tuple(held["words"].tolist())


def _missing(file: Path, *, in_the_box: bool) -> str:
    """The message for what is no file."""
    if in_the_box:
        return f"{file}: the vectors of the package are gone. Install it again: pip install --force-reinstall rejoinder"
    if file.is_dir():
        return f"{file}: this is a folder, not a file of word vectors. Give the path of the file"
    return (
        f"{file}: there is no file of word vectors. Leave the path out to use those in the box, or fetch some"
        " (GloVe: https://nlp.stanford.edu/projects/glove/) and give their path"
    )


@lru_cache(maxsize=2)
def _read(path: str, changed: int, size: int) -> WordVectors:  # noqa: ARG001 - `changed` tells a new file of the same name
    """The vectors in the file `path`."""
    if size == 0:
        raise DataError("the file is empty", _FORMATS, where=path)
    with Path(path).open("rb") as stream:
        magic = stream.read(4)
        stream.seek(0)
        if magic.startswith(b"PK"):
            return _from_archive(stream, path)
        if path.endswith(".npz"):
            raise DataError("the file is no .npz archive", _FORMATS, where=path)
        if not magic.startswith(b"\x1f\x8b"):
            return _from_stream(stream, path)
        try:
            with gzip.GzipFile(fileobj=stream) as unpacked:
                return _from_stream(cast(BinaryIO, io.BufferedReader(unpacked)), path)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"the gzip archive breaks off or is damaged ({error})", _AGAIN, where=path) from error


def _from_archive(stream: BinaryIO, path: str) -> WordVectors:
    """The vectors in an .npz archive."""
    try:
        with np.load(stream, allow_pickle=False) as archive:
            words, matrix = archive["words"], archive["vectors"]
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        if not path.endswith(".npz"):
            raise DataError("a .zip archive", "Unpack it, and give the file of word vectors", where=path) from error
        raise DataError(f"not an .npz archive with `words` and `vectors` ({error})", _FORMATS, where=path) from error
    if words.ndim != 1 or words.dtype.kind != "U" or matrix.dtype.kind != "f":
        raise DataError(
            f"`words` is {words.dtype} of shape {words.shape}, `vectors` is {matrix.dtype}; expected one row of strings"
            " and floats",
            _FORMATS,
            where=path,
        )
    return word_vectors(words.tolist(), matrix if matrix.dtype == np.float64 else matrix.astype(np.float32), path)


def _from_stream(stream: BinaryIO, path: str) -> WordVectors:
    """The vectors in a text or a word2vec binary."""
    start = stream.read(1 << 16)
    if start.startswith(_FASTTEXT):
        raise DataError("a model of fastText (.bin)", "Give its vectors in the text form (.vec)", where=path)
    mark = 3 if start.startswith(b"\xef\xbb\xbf") else 0
    line = start[mark:].partition(b"\n")[0]
    header = _HEADER.fullmatch(line)
    stream.seek(mark + len(line) + 1 if header else mark)
    named_binary = path.removesuffix(".gz").endswith(".bin")
    if header is None:
        if named_binary:
            problem = "a word2vec binary begins with a line of two whole numbers, words and numbers a word"
            raise DataError(f"{problem}; this one with {_short(line)}", _FORMATS, where=path)
        width = _fields(line, path)
        return _collect(_text_entries(stream, width, None, path), width, path)
    count, width = int(header[1]), int(header[2])
    if count == 0 or width == 0:
        raise DataError(f"the first line promises {count} words of {width} numbers", _FORMATS, where=f"{path}:1")
    entries = _binary_entries if named_binary or _CONTROL.search(start) else _text_entries
    return _collect(entries(stream, width, count, path), width, path)


def _fields(line: bytes, path: str) -> int:
    """How many numbers stand behind the word on the first line of a GloVe text."""
    numbers = line.decode("utf-8", "replace").rstrip(" \t\r\n").split(" ")[1:]
    if not numbers or not all(map(_is_number, numbers)):
        raise DataError(f"this is no file of word vectors: it begins with {_short(line)}", _FORMATS, where=path)
    return len(numbers)


def _collect(entries: Iterator[Entry], width: int, path: str) -> WordVectors:
    """The vectors that `entries` yields, in one matrix that doubles when it is full."""
    words: list[str] = []
    matrix = np.empty((1024, width), dtype=np.float32)
    with np.errstate(over="ignore"):
        for word, row in entries:
            if len(words) == len(matrix):
                matrix.resize((2 * len(matrix), width), refcheck=False)
            matrix[len(words)] = row
            words.append(word)
    matrix.resize((len(words), width), refcheck=False)
    return word_vectors(words, matrix, path)


def _text_entries(stream: BinaryIO, width: int, count: int | None, path: str) -> Iterator[Entry]:
    """Word and numbers of each line; `count` lines where a first line promised as many."""
    found = 0
    for number, line in enumerate(stream, start=1 if count is None else 2):
        if not line.strip():
            continue
        found += 1
        if found - 1 == count:
            raise DataError(
                f"a line beyond the {count} words that the first line promises", _AGAIN, where=f"{path}:{number}"
            )
        yield _text_entry(line, width, f"{path}:{number}")
    if count is not None and found < count:
        raise DataError(
            f"the file ends after {found} of the {count} words that its first line promises", _AGAIN, where=path
        )


def _text_entry(line: bytes, width: int, where: str) -> Entry:
    """Word and numbers of one line. Split from the right, since some words of GloVe 840B hold spaces (". . .")."""
    word, *numbers = _decoded(line, where).rsplit(" ", width)
    surplus = " " in word and _is_number(word.rpartition(" ")[2])
    if len(numbers) != width or surplus or not word:
        raise DataError(f"expected a word and {width} numbers, found {_short(line)}", _AGAIN, where=where)
    try:
        return word, list(map(float, numbers))
    except ValueError:
        wrong = next(number for number in numbers if not _is_number(number))
        raise DataError(f"{wrong[:40]!r} is not a number", _AGAIN, where=where) from None


def _binary_entries(stream: BinaryIO, width: int, count: int, path: str) -> Iterator[Entry]:
    """Word and numbers of each of the `count` entries of a word2vec binary."""
    for number in range(1, count + 1):
        where = f"{path}: word {number} of {count}"
        name, packed = _until_space(stream), stream.read(4 * width)
        if len(packed) < 4 * width:
            raise DataError("the file ends before the entry does", _AGAIN, where=where)
        yield _decoded(name, where), np.frombuffer(packed, dtype="<f4")
    if stream.read(64).strip():
        raise DataError(f"bytes beyond the {count} words that the first line promises", _AGAIN, where=path)


def _until_space(stream: BinaryIO) -> bytes:
    """The bytes up to the next space, without the line break that some writers put between entries."""
    letters = bytearray()
    while (letter := stream.read(1)) not in (b" ", b""):
        letters += letter
    return bytes(letters.lstrip(b"\n"))


def _decoded(line: bytes, where: str) -> str:
    """`line` as text, without the white space at its end."""
    try:
        return line.decode("utf-8").rstrip(" \t\r\n")
    except UnicodeDecodeError as error:
        raise DataError(
            f"byte {error.start + 1} of the line is not UTF-8", f"{_FORMATS}, in UTF-8 (iconv -t utf-8)", where=where
        ) from error


def _is_number(text: str) -> bool:
    """Whether `float` reads `text`."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _short(line: bytes) -> str:
    """The first characters of `line`, quoted, for a message."""
    text = line.decode("utf-8", "replace").strip()
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
