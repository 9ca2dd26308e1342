"""WordNet through nltk's reader: usual places, and files that are missing or damaged."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import nltk.data
import pytest

from rejoinder.errors import DataError, MissingAsset
from rejoinder.text import wordnet
from rejoinder.text.wordnet import FILES, VARIABLE, find_wordnet, load_wordnet

LICENCE = "  1 This software and database is being provided to you\n  2 WordNet 9.9 Copyright\n"
START = f"{len(LICENCE):08d}"
LINES = {
    "data.noun": f"{START} 06 n 02 Mouse 0 computer_mouse 0 000 | a device\n",
    "index.noun": f"mouse n 1 1 @ 1 0 {START}  \ncomputer_mouse n 1 1 @ 1 0 {START}  \n",
    "data.adj": f"{START} 00 a 02 galore(ip) 0 plenty 0 000 | much\n",
    "index.adj": f"galore a 1 1 & 1 0 {START}\n",
}


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make a machine without WordNet; return an empty folder that nltk looks into."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(wordnet, "DEBIAN_FOLDER", tmp_path / "debian")
    return tmp_path


def write_small(folder: Path, **changed: str) -> Path:
    """Write a WordNet of two nouns and two adjectives, with the files that Debian has."""
    folder.mkdir(parents=True)
    for name in FILES:
        text = {"noun.exc": "mice mouse\n"}.get(name, "" if name.endswith("exc") else LICENCE + LINES.get(name, ""))
        (folder / name).write_text(changed.get(name.replace(".", "_"), text))
    return folder


def check(place: Path) -> None:
    assert find_wordnet() == place
    reader = load_wordnet(place)
    assert reader.get_version() == "9.9"
    senses = {word: [sense.lemma_names() for sense in reader.synsets(word)] for word in ("MICE", "galore", "plenty")}
    assert senses == {"MICE": [["Mouse", "computer_mouse"]], "galore": [["galore", "plenty"]], "plenty": []}


def test_the_usual_places_the_most_specific_first(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingAsset, match=VARIABLE):
        find_wordnet()
    debian = write_small(nowhere / "debian")
    check(debian)
    check(Path(shutil.make_archive(str(nowhere / "corpora" / "wordnet"), "zip", nowhere, "debian")))
    check(write_small(nowhere / "corpora" / "wordnet"))
    linked = nowhere / "linked"
    linked.symlink_to(debian)
    monkeypatch.setenv(VARIABLE, str(linked))
    check(linked)
    monkeypatch.setenv(VARIABLE, str(nowhere / "elsewhere"))
    with pytest.raises(MissingAsset, match="elsewhere"):
        find_wordnet()


def test_missing_and_damaged_files(nowhere: Path) -> None:
    (write_small(nowhere / "missing") / "verb.exc").unlink()
    with pytest.raises(MissingAsset, match=r"verb\.exc"):
        load_wordnet(nowhere / "missing")
    (nowhere / "wordnet.zip").write_bytes(b"PK no zip")
    with zipfile.ZipFile(nowhere / "empty.zip", "w"):
        pass
    broken = write_small(nowhere / "broken", index_noun=f"{LICENCE}mouse n one\n")
    for place in (nowhere / "wordnet.zip", nowhere / "empty.zip", broken):
        with pytest.raises(DataError, match=str(place)):
            load_wordnet(place)
    mixed = load_wordnet(write_small(nowhere / "mixed", index_noun=LICENCE + "mouse n 1 1 @ 1 0 00000007\n"))
    with pytest.warns(UserWarning), pytest.raises(DataError, match="mixed"):
        mixed.synsets("mouse")
