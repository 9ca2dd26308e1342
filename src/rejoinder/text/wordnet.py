"""WordNet's database files: where they are on this machine, and the synonyms in them.

They are read straight from where they lie. nltk's own reader cannot do that with Debian's package: it wants files that
the package leaves out (`lexnames`), refuses folders outside its own data path, and refuses links into it.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rejoinder.errors import DataError, MissingAsset

VARIABLE = "REJOINDER_WORDNET"
DEBIAN_FOLDER = Path("/usr/share/wordnet")
REMEDY = f"Get it: apt-get install wordnet-base, or python -m nltk.downloader wordnet, or set {VARIABLE} to its folder"

# Parts of speech in the order of nltk, with the endings that Morphy takes off and puts on (WordNet's morphy(7)).
ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}


@dataclass(frozen=True, slots=True)
class _Part:
    """The files of one part of speech: lines of the index by lemma, the data file, base forms of irregular words."""

    name: str
    index: Mapping[str, bytes]
    data: bytes
    exceptions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class WordNet:
    """The words of WordNet, by sense.

    Attributes:
        version: the version that the files state, such as `3.0`.
        parts: one for each part of speech.
    """

    version: str
    parts: tuple[_Part, ...]

    def senses(self, word: str) -> list[tuple[str, ...]]:
        """The words of each sense that `word` or a base form of it has, in WordNet's spelling (`motor_vehicle`).

        The same senses, in the same order, as `nltk.corpus.wordnet.synsets(word)`.

        Raises:
            DataError: the index and the data files do not fit together.
        """
        return [
            _words_at(part, offset)
            for part in self.parts
            for form in _base_forms(part, word.lower())
            for offset in _offsets(part.index[form])
        ]


def find_wordnet() -> Path:
    """The folder or zip file that holds WordNet: `$REJOINDER_WORDNET`, else nltk's data, else Debian's package.

    Raises:
        MissingAsset: there is none; the message says where it was looked for and how to get it.
    """
    if stated := os.environ.get(VARIABLE):
        if _holds_wordnet(Path(stated)):
            return Path(stated)
        raise MissingAsset(f"{VARIABLE} is {stated!r}, which holds no WordNet (no data.noun). {REMEDY}")
    for place in _usual_places():
        if _holds_wordnet(place):
            return place
    raise MissingAsset(f"no WordNet in nltk's data folders (corpora/wordnet) nor in {DEBIAN_FOLDER}. {REMEDY}")


@cache
def load_wordnet(place: Path) -> WordNet:
    """The WordNet whose files lie in `place`, a folder or a zip file.

    Raises:
        MissingAsset: a file is not there.
        DataError: `place` is a broken zip file.
    """
    try:
        read = _reader(place)
        parts = tuple(_read_part(name, read) for name in ENDINGS)
    except (KeyError, OSError) as error:
        raise MissingAsset(f"{place}: WordNet is incomplete ({error}). {REMEDY}") from error
    except zipfile.BadZipFile as error:
        raise DataError(f"not a readable zip file ({error})", REMEDY, where=str(place)) from error
    stated = re.search(rb"WordNet (\d+\.\d+)", parts[0].data[:2000])
    return WordNet(stated[1].decode() if stated else "unknown", parts)


def _usual_places() -> Iterator[Path]:
    """Where WordNet lies on most machines, most specific first."""
    import nltk.data

    for folder in map(Path, nltk.data.path):
        yield folder / "corpora" / "wordnet"
        yield folder / "corpora" / "wordnet.zip"
    yield DEBIAN_FOLDER


def _holds_wordnet(place: Path) -> bool:
    return (place / "data.noun").is_file() or zipfile.is_zipfile(place)


def _reader(place: Path) -> Callable[[str], bytes]:
    """The function from the name of one of WordNet's files to what it holds."""
    if place.is_dir():
        return lambda name: (place / name).read_bytes()
    archive = zipfile.ZipFile(place)
    members = {Path(member).name: member for member in archive.namelist()}
    return lambda name: archive.read(members[name])


def _read_part(name: str, read: Callable[[str], bytes]) -> _Part:
    # Lines that begin with a space are the licence at the top of the file.
    lines = [line for line in read(f"index.{name}").splitlines() if not line.startswith(b" ")]
    index = {line.split(b" ", 1)[0].decode(): line for line in lines}
    irregular = [line.decode().split() for line in read(f"{name}.exc").splitlines()]
    return _Part(name, index, read(f"data.{name}"), {form: tuple(bases) for form, *bases in irregular})


def _base_forms(part: _Part, word: str) -> list[str]:
    """`word` and the base forms of it that WordNet has.

    Source: morphy(7), and `_morphy` of nltk 3.10, which applies the endings once.
    """
    bases = part.exceptions.get(word)
    if bases is None:
        endings = ENDINGS[part.name]
        bases = tuple(word.removesuffix(old) + new for old, new in endings if word.endswith(old))
    return [form for form in dict.fromkeys((word, *bases)) if form in part.index]


def _offsets(line: bytes) -> list[int]:
    """Where the senses on a line of an index file begin in the data file."""
    fields = line.split()
    return [int(field) for field in fields[-int(fields[2]) :]]


def _words_at(part: _Part, offset: int) -> tuple[str, ...]:
    """The words of the sense that begins at `offset`, without the marks of where an adjective may stand."""
    fields = part.data[offset : part.data.find(b"\n", offset)].split()
    if not fields or fields[0] != b"%08d" % offset:
        problem = f"data.{part.name} has no sense at byte {offset}, where the index points to"
        raise DataError(problem, "Take all files from one release, with their line endings unchanged", where="WordNet")
    count = int(fields[3], 16)
    return tuple(re.sub(rb"\([^()]*\)$", b"", word).decode() for word in fields[4 : 4 + 2 * count : 2])
