"""Train the word vectors that come with the package: counts of neighbours, PMI, a truncated SVD.

Usage: python recipes/word_vectors.py CORPUS... -o FILE [--dimensions 50] [--words 12000] [--seed 0]

A corpus is a file of dialogues, gzipped or not, one JSON object a line with `turns`. Lines marked `judged` are left
out, so that no dialogue that people rated has shaped the vectors. The method is that of Levy, Goldberg & Dagan 2015,
"Improving Distributional Similarity with Lessons Learned from Word Embeddings":

    1. count pairs of words at most WINDOW apart within a turn, a pair at distance d weighing (WINDOW - d + 1) / WINDOW
    2. PPMI(w, c) = max(0, log(P(w, c) / (P(w) P(c)^0.75))), the context's share smoothed by the power 0.75
    3. truncated SVD, PPMI = U S V^T; the vectors are the rows of U, scaled so that the mean length is 1

Leaving S out (the paper's p = 0) agreed better with people than U S^0.5 and U S for every window (3, 5, 10) and shift
(1, 3) tried, on the six rated sets that research/archive/word_vectors.md lists as those the settings were chosen on.

The same corpora in the same order, the same libraries and the same seed give the same file. It takes about 15 seconds
on one core for the seven corpora behind the file in the package.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from rejoinder.data.outputs import atomic_file
from rejoinder.text import tokenizer

WINDOW = 5
SMOOTHING = 0.75
LEAST = 4  # a rarer word has too few neighbours for a vector

Ids = NDArray[np.int32]
Matrix = NDArray[np.float64]


def turns(path: Path) -> Iterator[str]:
    """The turns of the dialogues in `path` on which no human judgement stands."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            dialogue = json.loads(line)
            if not dialogue.get("judged"):
                yield from dialogue["turns"]


def numbered(paths: Iterable[Path]) -> tuple[list[str], list[Ids]]:
    """All words in the order they turn up, and each turn as their numbers."""
    split = tokenizer("words-1")
    numbers: dict[str, int] = {}
    found: list[Ids] = []
    for path in paths:
        found += [
            np.array([numbers.setdefault(word, len(numbers)) for word in split(turn)], dtype=np.int32)
            for turn in turns(path)
        ]
        say(f"{path.name}: {len(found):,} turns so far")
    return list(numbers), found


def frequent(words: Sequence[str], found: Sequence[Ids], size: int) -> tuple[list[str], list[Ids]]:
    """The `size` most frequent words, most frequent first, and the turns in their numbers; other words become -1."""
    counts = np.bincount(np.concatenate(found), minlength=len(words))
    order = sorted(range(len(words)), key=lambda number: (-counts[number], words[number]))
    kept = [number for number in order[:size] if counts[number] >= LEAST]
    renumber = np.full(len(words), -1, dtype=np.int32)
    renumber[kept] = np.arange(len(kept))
    return [words[number] for number in kept], [renumber[turn] for turn in found]


def cooccurrence(found: Sequence[Ids], size: int) -> sparse.csr_matrix:
    """[size, size] weighted counts of neighbours, symmetric. Rare words keep their place, so distances are true."""
    gap = np.full(WINDOW, -1, dtype=np.int32)  # keeps neighbouring turns apart
    stream = np.concatenate([part for turn in found for part in (turn, gap)])
    total = sparse.csr_matrix((size, size))
    for distance in range(1, WINDOW + 1):
        left, right = stream[:-distance], stream[distance:]
        known = (left >= 0) & (right >= 0)
        weights = np.full(int(known.sum()), (WINDOW - distance + 1) / WINDOW)
        total = total + sparse.csr_matrix((weights, (left[known], right[known])), shape=(size, size))
        say(f"distance {distance}: {total.nnz:,} different pairs so far")
    return (total + total.T).tocsr()


def positive_pmi(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """The positive PMI of a matrix of counts."""
    pairs = counts.tocoo()
    word = np.asarray(counts.sum(axis=1)).ravel()
    context = np.asarray(counts.sum(axis=0)).ravel() ** SMOOTHING
    share = pairs.data * context.sum() / (word[pairs.row] * context[pairs.col])
    values = np.maximum(np.log(share), 0.0)
    found = sparse.csr_matrix((values, (pairs.row, pairs.col)), shape=counts.shape)
    found.eliminate_zeros()
    return found


def factors(ppmi: sparse.csr_matrix, dimensions: int, seed: int) -> Matrix:
    """[words, dimensions] left singular vectors, with a mean length of 1."""
    left, _, _ = randomized_svd(ppmi, n_components=dimensions, n_iter=5, random_state=seed)
    vectors: Matrix = left / np.linalg.norm(left, axis=1).mean()
    return vectors


def save(path: Path, words: Sequence[str], vectors: Matrix) -> None:
    """Write the .npz `path`. Its bytes hold no time of day, so the same vectors give the same file."""
    with atomic_file(path) as draft, zipfile.ZipFile(draft, "w") as archive:
        for name, array in (("words", np.array(words)), ("vectors", vectors.astype(np.float16))):
            content = BytesIO()
            np.save(content, array)
            entry = zipfile.ZipInfo(f"{name}.npy")
            archive.writestr(entry, content.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=9)


def say(line: str) -> None:
    """Say on stderr where the work stands, if a person is watching."""
    if sys.stderr.isatty():
        print(line, file=sys.stderr)


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    parser.add_argument("--dimensions", type=int, default=50)
    parser.add_argument("--words", type=int, default=12_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    words, found = numbered(given.corpus)
    words, found = frequent(words, found, given.words)
    vectors = factors(positive_pmi(cooccurrence(found, len(words))), given.dimensions, given.seed)
    save(given.output, words, vectors)


if __name__ == "__main__":
    main()
