"""Word vectors, read from their files without a download. V words, D numbers for each word.

Formats: word2vec text (a line `V D`, then a word and its numbers on each line; also fastText's `.vec`), word2vec binary
(the same first line, then words and little-endian float32), GloVe text (no first line), each also gzipped, and .npz
(`words` [V] strings, `vectors` [V, D] floats). A repeated word keeps its first row, as in gensim.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
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
_SURPLUS = re.compile(r" [-+]?\d[\d.e+-]*$")  # one number more than expected
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_FORMATS = "Use word2vec (fastText's .vec, not its .bin), GloVe text (unzipped), or .npz with `words` and `vectors`"
_DAMAGED = "The file is damaged: download or write it again"


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Words, their rows in a read-only matrix [V, D], the start of a SHA-256 of both for signatures, and their file."""

    index: Mapping[str, int] = field(repr=False)
    matrix: Rows = field(repr=False)
    digest: str
    source: str

    @property
    def bundled(self) -> bool:
        """Whether these are the bundled vectors, which are English."""
        return self.source == str(VECTORS)

    def coverage(self, tokens: Iterable[str]) -> tuple[int, int]:
        """Return the number of words with a vector, and of all words; a token is a word if it begins with a letter."""
        known = [token in self.index for token in tokens if token[:1].isalpha()]
        return sum(known), len(known)

    def lookup(self, texts: Sequence[Sequence[str]]) -> list[IdArray]:
        """Return, for each of T lists of tokens, the rows of the tokens that have a vector, with repetitions."""
        return [np.array([self.index[token] for token in tokens if token in self.index], np.intp) for tokens in texts]


def word_vectors(words: Sequence[str], matrix: Rows, source: str = "") -> WordVectors:
    """Return the words with the rows of `matrix` [V, D]; a repeated word keeps its first row.

    Raises:
        DataError: there are no words, not as many words as rows, or a number is not finite.
    """
    if matrix.ndim != 2 or len(words) != len(matrix) or 0 in matrix.shape:
        raise DataError(f"{len(words)} words for vectors of shape {matrix.shape}", _FORMATS, where=source)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(matrix.sum(axis=1))
    if not finite.all():
        problem = f"the vector of {words[int(np.argmin(finite))]!r} has a number that is not finite"
        raise DataError(problem, _DAMAGED, where=source)
    index: dict[str, int] = {}
    for row, word in enumerate(words):
        index.setdefault(word, row)
    if len(index) < len(words):
        matrix = matrix[list(index.values())]
        index = {word: row for row, word in enumerate(index)}
    matrix = np.ascontiguousarray(matrix, dtype=np.float64 if matrix.dtype == np.float64 else np.float32)
    matrix.flags.writeable = False
    digest = hashlib.sha256("\n".join(index).encode("utf-8", "surrogatepass"))
    digest.update(f"\n\n{matrix.dtype.name} {matrix.shape}\n".encode())
    digest.update(matrix.data)
    return WordVectors(index, matrix, digest.hexdigest()[:12], source)


def common_words() -> tuple[str, ...]:
    """Return the words of the bundled vectors, the most frequent first."""
    return tuple(read_vectors().index)


def read_vectors(path: str | Path | None = None) -> WordVectors:
    """Read word vectors from a file, by default the bundled vectors; an unchanged file is read only once.

    Raises:
        MissingAsset: the file does not exist, or cannot be opened.
        DataError: the file cannot be used; the message names the line or the word.
    """
    file = VECTORS if path is None else as_path(path).expanduser().absolute()
    try:
        status = file.stat()
        return _read(str(file), status.st_mtime_ns, status.st_size)
    except FileNotFoundError as error:
        remedy = "Reinstall rejoinder" if path is None else "Correct the path, or leave it out for the bundled vectors"
        raise MissingAsset(f"{file}: file of word vectors not found. {remedy}") from error
    except OSError as error:
        raise MissingAsset(f"{file}: cannot read the word vectors ({error.strerror or error})") from error


@lru_cache(maxsize=2)
def _read(path: str, *_: int) -> WordVectors:
    """Read a file; time of change and size are arguments so that a changed file is read again."""
    with Path(path).open("rb") as file:
        magic = file.peek(2)[:2]
        try:
            if magic == b"PK":
                return word_vectors(*_from_archive(file, path), path)
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if magic == b"\x1f\x8b" else file
            return word_vectors(*_from_stream(stream, path), path)
        except (EOFError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile) as error:
            raise DataError(f"the archive is damaged ({error})", _DAMAGED, where=path) from error


def _from_archive(file: BinaryIO, path: str) -> tuple[list[str], Rows]:
    """Return words and matrix of an .npz archive."""
    try:
        with np.load(file, allow_pickle=False) as archive:
            words, matrix = archive["words"], archive["vectors"]
    except (KeyError, ValueError) as error:
        raise DataError(f"not an .npz archive with `words` and `vectors` ({error})", _FORMATS, where=path) from error
    if words.ndim != 1 or words.dtype.kind != "U" or matrix.dtype.kind != "f":
        problem = f"`words` are {words.dtype} of shape {words.shape}, `vectors` {matrix.dtype}"
        raise DataError(problem, _FORMATS, where=path)
    return words.tolist(), matrix if matrix.dtype == np.float64 else matrix.astype(np.float32)


def _from_stream(stream: BinaryIO, path: str) -> tuple[list[str], Rows]:
    """Return words and matrix of a text or a word2vec binary."""
    start = stream.read(1 << 16)
    mark = 3 * start.startswith(b"\xef\xbb\xbf")
    line = start[mark:].partition(b"\n")[0]
    header = _HEADER.fullmatch(line)
    stream.seek(mark + (len(line) + 1 if header else 0))
    binary = path.removesuffix(".gz").endswith(".bin") or _CONTROL.search(start) is not None
    count, width = (int(header[1]), int(header[2])) if header else (-1, line.rstrip(b" \t\r").count(b" "))
    if count == 0 or width == 0 or (binary and not header):
        raise DataError(
            f"not a file of word vectors: it begins with {line[:40].decode(errors='replace')!r}", _FORMATS, where=path
        )
    words: list[str] = []

    def rows() -> Iterator[Sequence[float] | NDArray[np.float32]]:
        entries = _binary_entries(stream, width, path, count) if binary else _text_entries(stream, width, path, header)
        for word, row in entries:
            words.append(word)
            yield row

    with np.errstate(over="ignore"):
        matrix = np.fromiter(rows(), np.dtype((np.float32, width)))
    if header and (len(words) != count or stream.read(64).strip()):
        raise DataError(f"the first line announces {count} words, the file has other contents", _DAMAGED, where=path)
    return words, cast(Rows, matrix)


def _text_entries(stream: BinaryIO, width: int, path: str, header: object) -> Iterator[Entry]:
    """Yield word and numbers of each line, split from the right: words of GloVe 840B have spaces (". . .")."""
    for number, line in enumerate(stream, start=2 if header else 1):
        if line.strip():
            try:
                word, *numbers = line.decode().rstrip(" \t\r\n").rsplit(" ", width)
                row = list(map(float, numbers))
                if len(row) != width or not word or _SURPLUS.search(word):
                    raise ValueError(f"got {line.decode().strip():.60}")
            except ValueError as error:
                problem = f"expected a word and {width} numbers ({error})"
                raise DataError(problem, _FORMATS, where=f"{path}:{number}") from error
            yield word, row


def _binary_entries(stream: BinaryIO, width: int, path: str, count: int) -> Iterator[Entry]:
    """Yield word and numbers of each entry; some writers put a line break between entries."""
    for number in range(1, count + 1):
        name = bytearray()
        while (letter := stream.read(1)).strip(b" "):  # neither the space nor the end of the file
            name += letter
        try:
            entry = name.lstrip(b"\n").decode(), np.frombuffer(stream.read(4 * width), "<f4", width)
        except ValueError as error:
            where = f"{path}: word {number} of {count}"
            raise DataError(f"expected a word and {width} numbers ({error})", _DAMAGED, where=where) from error
        yield entry
