"""WordNet: its files on this machine, and nltk's reader of them.

nltk cannot open Debian's package by itself: the package has no `lexnames`, and nltk refuses folders and links outside
its data path. The reader gets the contents of the files from here instead.
"""

from __future__ import annotations

import io
import os
import warnings
import zipfile
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

from rejoinder.errors import DataError, MissingAsset

VARIABLE = "REJOINDER_WORDNET"
DEBIAN_FOLDER = Path("/usr/share/wordnet")
REMEDY = f"Install it: apt-get install wordnet-base, or python -m nltk.downloader wordnet, or set {VARIABLE}"
FILES = [name.format(kind) for name in ("index.{}", "data.{}", "{}.exc") for kind in ("adj", "adv", "noun", "verb")]


def find_wordnet() -> Path:
    """Return the folder or zip file of WordNet: `$REJOINDER_WORDNET`, else nltk's data, else Debian's package.

    Raises:
        MissingAsset: there is no WordNet in these places.
    """
    import nltk.data

    usual = [Path(folder, "corpora", name) for folder in nltk.data.path for name in ("wordnet", "wordnet.zip")]
    places = [Path(os.environ[VARIABLE])] if os.environ.get(VARIABLE) else [*usual, DEBIAN_FOLDER]
    for place in places:
        if (place / "data.noun").is_file() or zipfile.is_zipfile(place):
            return place
    raise MissingAsset(f"no WordNet in {', '.join(map(str, places))}. {REMEDY}")


@cache
def load_wordnet(place: Path) -> Any:
    """Return nltk's `WordNetCorpusReader` of the files in a folder or zip file.

    Raises:
        MissingAsset: a file is missing.
        DataError: a file is damaged.
    """
    from nltk.corpus.reader.wordnet import WordNetCorpusReader, WordNetError
    from nltk.data import PathPointer

    lock = RLock()

    class Reader(WordNetCorpusReader):  # type: ignore[misc]
        def open(self, file: str) -> io.TextIOBase:
            if file == "lexnames":
                return io.StringIO("".join(f"{number:02d} - -\n" for number in range(45)))
            return io.TextIOWrapper(io.BytesIO(contents[file]), encoding="utf-8", newline="\n")

        def map_wn(self, version: str = "wordnet") -> None:
            """Load no maps to other versions of WordNet, which only other languages need."""

        def get_version(self) -> str:
            with lock:  # the threads share open files
                return super().get_version() or "unknown"

        def synset_from_pos_and_offset(self, pos: str, offset: int) -> Any:
            with lock:
                if (synset := super().synset_from_pos_and_offset(pos, offset)) is not None:
                    return synset
            raise DataError(f"no sense at byte {offset} of data ({pos})", REMEDY, where=str(place))

    try:
        folder = place if place.is_dir() else next(zipfile.Path(place).iterdir())
        contents = {name: (folder / name).read_bytes() for name in FILES}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nltk says that there are no other languages
            return Reader(type("Root", (PathPointer,), dict.fromkeys(("open", "file_size", "join")))(), None)
    except (KeyError, OSError) as error:
        raise MissingAsset(f"{place}: WordNet is incomplete ({error}). {REMEDY}") from error
    except (zipfile.BadZipFile, WordNetError, ValueError, StopIteration) as error:
        raise DataError(f"WordNet is damaged ({error})", REMEDY, where=str(place)) from error
