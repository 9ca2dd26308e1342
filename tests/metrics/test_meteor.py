"""METEOR: values worked by hand, nltk with its own reader of files, and no score without WordNet."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nltk.data
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.errors import MissingAsset
from rejoinder.example import Example
from rejoinder.scorer import run
from rejoinder.scoring.catalog import load_scorer
from rejoinder.text.wordnet import VARIABLE, find_wordnet, load_wordnet


@pytest.fixture(scope="module")
def place() -> Path:
    try:
        return find_wordnet()
    except MissingAsset as error:
        pytest.skip(str(error))


def meteor(response: str, *references: str) -> float:
    return float(run(load_scorer("meteor"), [Example((), response, references)]).values[0])


@pytest.mark.parametrize(
    ("response", "references", "value"),
    [
        ("Yes", ("yes",), 0.5),  # one match in one chunk: penalty 0.5
        ("we like red cars", ("we like red cars",), 1 - 0.5 / 4**3),
        ("my car", ("my auto",), 1 - 0.5 / 2**3),  # synonyms
        ("my cars", ("my car",), 1 - 0.5 / 2**3),  # stems
        ("my film", ("my movie",), 0.5 * 0.5),  # synonyms that do not meet, since the stem of movie is movi
        ("b a", ("a b",), 0.5),  # two chunks in two matches
        ("a b", ("a b c d",), (1 - 0.5 / 2**3) * 0.5 / (0.9 * 1 + 0.1 * 0.5)),  # recall weighs nine times as much
        ("a b", ("x", "a b"), 1 - 0.5 / 2**3),  # the best reference
        ("zzz", ("yes",), 0.0),
        ("", ("yes",), 0.0),
        ("👍", ("👍",), 0.5),
    ],
)
def test_worked_values(place: Path, response: str, references: tuple[str, ...], value: float) -> None:
    assert meteor(response, *references) == pytest.approx(value)


VOCABULARY = ("the", "a", "car", "cars", "auto", "run", "runs", "fast", "quick", "large", "home", "house", "!")
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=9)


@given(response=WORDS, references=st.lists(WORDS.filter(bool), min_size=1, max_size=3))
def test_meteor_is_what_nltk_says(place: Path, response: list[str], references: list[list[str]]) -> None:
    from nltk.translate.meteor_score import meteor_score

    expected = meteor_score(references, response, wordnet=load_wordnet(place))
    assert meteor(" ".join(response), *map(" ".join, references)) == pytest.approx(expected, abs=1e-12)


def test_senses_are_those_of_nltk(place: Path, nltk_reader: Any) -> None:
    reader = load_wordnet(place)
    words = [*reader.all_lemma_names()][::997]
    words += [word + ending for word in words[::3] for ending in ("s", "es", "ed", "ing", "er", "men")]
    words += ["Dogs", "film", "galore", "mice", "better", "nonesuchx", "s", "", "naïve", "don't"]
    for word in words:
        senses = [sense.lemma_names() for sense in reader.synsets(word)]
        assert senses == [sense.lemma_names() for sense in nltk_reader.synsets(word)], word


@pytest.fixture(scope="module")
def nltk_reader(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """nltk's reader on the same files, with the two files that Debian leaves out made up."""
    if not place.is_dir():
        pytest.skip(f"{place}: the comparison copies a folder")
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    root = tmp_path_factory.mktemp("nltk_data")
    folder = root / "corpora" / "wordnet"
    shutil.copytree(place, folder)
    (folder / "lexnames").write_text("".join(f"{number:02d}\tname{number}\t1\n" for number in range(45)))
    (folder / "index.sense").touch()
    nltk.data.path.append(str(root))
    with pytest.warns(UserWarning, match="multilingual functions are not available"):
        reader = WordNetCorpusReader(nltk.data.FileSystemPathPointer(str(folder)), None)
    yield reader
    nltk.data.path.remove(str(root))


def test_without_wordnet_nothing_is_scored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    scores = run(load_scorer("meteor"), [Example((), "yes", ("yes",)), Example((), "yes")])
    assert np.isnan(scores.values).all()
    assert "apt-get install wordnet-base" in scores.reasons[0] and str(tmp_path) in scores.reasons[0]
    assert scores.reasons[1] == "no reference"
    assert "|wordnet:none|references:best|program:nltk 3.10.4|" in str(scores.signature)
