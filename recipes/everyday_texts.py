"""Make two corpora that the student in the box is taught besides the dialogues: everyday talk, and single sentences.

    python recipes/everyday_texts.py --chitchat dataset.json --wordnet FOLDER --data FOLDER -o FOLDER CORPUS...

`chitchat.jsonl.gz` holds the conversations of the BYU Chit-Chat Dataset (the file of the Python package
`chitchat-dataset`, MIT licence), messages of one person in a row joined. `sentences.jsonl.gz` holds glosses and
examples of WordNet, and turns of the corpora in which content words were exchanged for others of their class, so that a
student meets words in places where no corpus has them. A conversation of which a long turn also stands in a public set
of human judgements, in the folder DATA, is marked as judged, and `pretrain` leaves it out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rejoinder.data.dialogues import read_dialogues

_LONG = 50  # letters from which on a turn tells a conversation from others
_FREQUENT = 8_000  # words that may come in
_SAID = 3  # times that a word must occur to be defined
_EXCHANGED = 150_000  # turns
_SHARE = 0.35  # of the content words of a turn that are exchanged
_FEWEST, _MOST = 4, 25  # words of such a turn
_WORD = re.compile(r"[A-Za-z']+")
_QUOTED = re.compile(r'"([^"]+)"')
_ENDINGS = ("ing", "ed", "ly", "s")
_PARTS = ("noun", "verb", "adj", "adv")


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+")
    for name in ("--chitchat", "--wordnet", "--data", "-o"):
        parser.add_argument(name, type=Path, required=True)
    given = parser.parse_args()
    generator = random.Random(0)  # noqa: S311 - which words are exchanged is no secret
    judged = _long_turns(given.data)
    talks = list(_talks(json.loads(given.chitchat.read_text(encoding="utf-8"))))
    _write(
        given.o / "chitchat.jsonl.gz",
        ({"turns": turns, **({"judged": True} if judged & set(map(_letters, turns)) else {})} for turns in talks),
    )
    turns = [turn for one in read_dialogues(*given.corpora) if not one.judged for turn in one.turns]
    turns += [turn for one in talks for turn in one]
    counted = Counter(word.lower() for turn in turns for word in _WORD.findall(turn))
    sentences = [*_glosses(given.wordnet, counted), *_exchanged(turns, counted, given.wordnet, generator)]
    _write(given.o / "sentences.jsonl.gz", ({"turns": [text]} for text in dict.fromkeys(sentences)))


def _write(file: Path, lines: Iterable[dict[str, Any]]) -> None:
    """JSON lines, numbered."""
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        for number, line in enumerate(lines):
            stream.write(json.dumps({"id": str(number), **line}, ensure_ascii=False) + "\n")


def _talks(release: dict[str, Any]) -> Iterator[list[str]]:
    """The turns of each conversation of two turns or more."""
    for conversation in release.values():
        turns = [" ".join(" ".join(one["text"] for one in turn).split()) for turn in conversation["messages"]]
        turns = [turn for turn in turns if turn]
        if len(turns) > 1:
            yield turns


def _long_turns(folder: Path) -> set[str]:
    """The long turns and replies of the sets of judgements in a folder, letters alone."""
    found = set[str]()
    for file in sorted(folder.glob("judgements/*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            for line in map(json.loads, stream):
                found.update(map(_letters, [*line["context"], line["response"], *line["references"]]))
    return {text for text in found if len(text) >= _LONG}


def _letters(text: str) -> str:
    """The letters of a text, without case."""
    return "".join(filter(str.isalpha, text.casefold()))


def _glosses(wordnet: Path, counted: Counter[str]) -> Iterator[str]:
    """The definitions in WordNet of words that people say, each after its word, and their examples."""
    for part in _PARTS:
        for line in (wordnet / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if line.startswith(" ") or " | " not in line:
                continue
            head, gloss = line.split(" | ", 1)
            word = head.split()[4].replace("_", " ")
            if min(counted[each] for each in word.lower().split()) < _SAID:
                continue
            yield f"{word}: {_QUOTED.sub('', gloss).strip(' ;')}"
            yield from (example for example in _QUOTED.findall(gloss) if len(example.split()) > 1)


def _exchanged(turns: Sequence[str], counted: Counter[str], wordnet: Path, generator: random.Random) -> Iterator[str]:
    """Turns with some of their content words exchanged for frequent ones of their class."""
    classes = _classes(wordnet)
    members = defaultdict[tuple[str, ...], list[str]](list)
    for word, _ in counted.most_common(_FREQUENT):
        if len(word) > 2 and word in classes:
            members[classes[word]].append(word)
    short = [turn for turn in turns if _FEWEST <= len(turn.split()) <= _MOST]
    for turn in generator.sample(short, _EXCHANGED):

        def other(match: re.Match[str]) -> str:
            kind = classes.get(match[0].lower())
            taken = kind is not None and len(match[0]) > 2 and generator.random() < _SHARE
            return generator.choice(members[kind] or [match[0]]) if kind is not None and taken else match[0]

        changed = _WORD.sub(other, turn)
        if changed != turn:
            yield changed


def _classes(wordnet: Path) -> dict[str, tuple[str, ...]]:
    """The parts of speech that WordNet knows a word as, and its ending."""
    found = defaultdict[str, list[str]](list)
    for part in _PARTS:
        for line in (wordnet / f"index.{part}").read_text(encoding="utf-8").splitlines():
            if not line.startswith(" "):
                found[line.split()[0]].append(part)
    kinds = {word: tuple(parts) for word, parts in found.items() if "_" not in word}
    inflected = {
        word + ending: (*parts, ending) for word, parts in kinds.items() for ending in _ENDINGS if len(word) > 2
    }
    return {**inflected, **kinds}


if __name__ == "__main__":
    main()
