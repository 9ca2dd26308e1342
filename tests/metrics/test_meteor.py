"""METEOR and the WordNet it stands on: hand-worked values, nltk's own reader, and what happens without WordNet."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import nltk.data
import numpy as np
import pytest

from rejoinder.errors import DataError, MissingAsset
from rejoinder.example import Example
from rejoinder.scorer import run
from rejoinder.scoring.catalog import load_scorer
from rejoinder.text import wordnet
from rejoinder.text.wordnet import ENDINGS, VARIABLE, WordNet, find_wordnet, load_wordnet

REMEDY = "apt-get install wordnet-base"
LICENCE = "  1 This software and database is being provided to you\n  2 WordNet 9.9 Copyright\n"


@pytest.fixture(scope="module")
def place() -> Path:
    try:
        return find_wordnet()
    except MissingAsset as error:
        pytest.skip(str(error))


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without WordNet; comes back with an empty folder that nltk looks into."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(wordnet, "DEBIAN_FOLDER", tmp_path / "debian")
    return tmp_path


def write_small(folder: Path) -> Path:
    """A WordNet of two nouns and one adjective, in the real format."""
    folder.mkdir(parents=True)
    for part in ENDINGS:
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            (folder / name).write_text("" if name.endswith("exc") else LICENCE)
    at = f"{len(LICENCE):08d}"
    (folder / "data.noun").write_text(f"{LICENCE}{at} 06 n 02 Mouse 0 computer_mouse 0 000 | a device\n")
    (folder / "index.noun").write_text(f"{LICENCE}mouse n 1 1 @ 1 0 {at}  \ncomputer_mouse n 1 1 @ 1 0 {at}  \n")
    (folder / "noun.exc").write_text("mice mouse\n")
    (folder / "data.adj").write_text(f"{LICENCE}{at} 00 s 02 galore(ip) 0 plenty 0 000 | much\n")
    (folder / "index.adj").write_text(f"{LICENCE}galore a 1 1 & 1 0 {at}\n")
    return folder


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


@pytest.mark.slow
def test_nltk_says_the_same_with_its_own_reader(place: Path, nltk_reader: object) -> None:
    from nltk.translate.meteor_score import meteor_score

    responses = ["the quick boys ran to their autos", "I bought big children a house !", "he purchased gifts galore"]
    references = ["a fast boy runs to the car", "i buy a large child one home !", "she bought presents galore"]
    for response in responses:
        expected = [meteor_score([one.split()], response.split(), wordnet=nltk_reader) for one in references]
        np.testing.assert_allclose([meteor(response, one) for one in references], expected, atol=1e-12)


def test_senses_are_those_of_nltk(place: Path, nltk_reader: object) -> None:
    ours = load_wordnet(place)
    words = [word for part in ours.parts for word in list(part.index)[::997] + list(part.exceptions)[::197]]
    words += [word + ending for word in words[::3] for ending in ("s", "es", "ed", "ing", "er", "men")]
    words += ["Dogs", "film", "galore", "nonesuchx", "s", "", "naïve", "don't"]
    for word in words:
        expected = [tuple(sense.lemma_names()) for sense in nltk_reader.synsets(word)]  # type: ignore[attr-defined]
        assert ours.senses(word) == expected, word


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


def test_without_wordnet_nothing_is_scored_and_the_reason_says_how_to_get_it(nowhere: Path) -> None:
    found = run(load_scorer("meteor"), [Example((), "yes", ("yes",)), Example((), "yes")])
    assert np.isnan(found.values).all()
    assert found.reasons[0].startswith("no WordNet in nltk's data folders (corpora/wordnet) nor in ")
    assert REMEDY in found.reasons[0]
    assert found.reasons[1] == "no reference"
    assert f"|wordnet:none|references:best|program:nltk {version('nltk')}|" in str(found.signature)


def test_variable_that_points_nowhere_is_not_passed_over(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_small(nowhere / "corpora" / "wordnet")
    monkeypatch.setenv(VARIABLE, str(nowhere / "elsewhere"))
    with pytest.raises(
        MissingAsset, match=r"REJOINDER_WORDNET is '.*elsewhere', which holds no WordNet \(no data.noun\)"
    ):
        find_wordnet()


def check_small(found: WordNet) -> None:
    assert found.version == "9.9"
    assert found.senses("MICE") == [("Mouse", "computer_mouse")]
    assert found.senses("galore") == [("galore", "plenty")]
    assert found.senses("plenty") == []


def test_wordnet_is_found_in_each_usual_place(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    debian = write_small(nowhere / "debian")
    assert find_wordnet() == debian
    archive = nowhere / "corpora" / "wordnet.zip"
    archive.parent.mkdir()
    with zipfile.ZipFile(archive, "w") as zipped:
        for file in sorted(debian.iterdir()):
            zipped.write(file, f"wordnet/{file.name}")
    assert find_wordnet() == archive
    check_small(load_wordnet(archive))
    folder = write_small(nowhere / "corpora" / "wordnet")
    assert find_wordnet() == folder
    check_small(load_wordnet(folder))
    linked = nowhere / "linked"
    linked.symlink_to(debian)
    monkeypatch.setenv(VARIABLE, str(linked))
    assert find_wordnet() == linked
    check_small(load_wordnet(linked))


def test_incomplete_wordnet(nowhere: Path) -> None:
    folder = write_small(nowhere / "debian")
    (folder / "verb.exc").unlink()
    with pytest.raises(MissingAsset, match=r"WordNet is incomplete .*verb\.exc.*" + REMEDY):
        load_wordnet(folder)
    reason = run(load_scorer("meteor"), [Example((), "yes", ("yes",))]).reasons[0]
    assert "verb.exc" in reason


def test_broken_zip_file(nowhere: Path) -> None:
    (nowhere / "wordnet.zip").write_bytes(b"PK no zip")
    with pytest.raises(DataError, match=r"wordnet\.zip: not a readable zip file .*" + REMEDY):
        load_wordnet(nowhere / "wordnet.zip")


def test_files_of_different_releases(nowhere: Path) -> None:
    folder = write_small(nowhere / "debian")
    index = folder / "index.noun"
    index.write_text(index.read_text().replace(f"{len(LICENCE):08d}", "00000007"))
    with pytest.raises(DataError, match=r"WordNet: data\.noun has no sense at byte 7, where the index points to"):
        load_wordnet(folder).senses("mouse")
