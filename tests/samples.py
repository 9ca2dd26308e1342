"""Small data that several test files write: rated lines, preference pairs, logs, word vectors."""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import rejoinder
from rejoinder.judges import load_learner
from rejoinder.judges.adem.judge import AdemJudge
from rejoinder.judges.adem.optimizer import AdemOptions
from rejoinder.judges.adem.panel import Panel
from rejoinder.judges.protocol import AnyLearner, LearnerOptions
from rejoinder.judges.train import TrainedJudge, train_judge
from rejoinder.models.encoders import PortableEncoder

WORDS = {"我": (1, 0), "想吃": (0, 1), "火锅": (1, 1), "天气": (-1, 0), "Haus": (0, 2), "das": (1, 0), "كباب": (0, -1)}
GERMAN = {
    "who": ("Ich", "Er", "Sie", "Wir", "Die Kinder", "Meine Freundin"),
    "verb": ("möchte", "kann", "muss", "sollte"),
    "what": ("das Brot", "die Straße", "Äpfel", "das Auto", "den Hund"),
    "does": ("kaufen.", "sehen.", "finden.", "verlieren."),
}


def few(sample: str, count: int, folder: Path) -> Path:
    """Some lines of a sample in the box, from all over it, as a file: a command with less to do tells as much."""
    path, lines = folder / f"{sample.removeprefix('@')}.jsonl", list(rejoinder.read(sample))
    rejoinder.write(lines[:: len(lines) // count][:count], path)
    return path


def records(count: int) -> list[dict[str, Any]]:
    """Pairs in which the longer reply is preferred twice of three times; every fifth is a tie."""
    return [
        {
            "context": [f"prompt {number}"],
            "responses": ["a " * (number % 7 + 2), "a " * (number % 7 + 1)],
            "preferred": None if number % 5 == 0 else int(number % 3 == 0),
            "votes": [0, 0, number % 2],
            "gpt4": [number % 2, 0.5],
        }
        for number in range(1, count + 1)
    ]


def write_weeks(folder: Path) -> None:
    """What docs/compare.md takes for granted: two weeks of a product's log; in the second few words about refunds."""
    talks: dict[str, list[rejoinder.Example]] = {}
    for one in rejoinder.read("@conture"):
        talks.setdefault(str(one.extra["dialogue_id"]), []).append(one)
    rng = random.Random(1)
    for number, week in enumerate(("week1", "week2")):
        with (folder / f"{week}.csv").open("w", encoding="utf-8", newline="") as stream:
            table = csv.writer(stream)
            table.writerow(["conversation_id", "intent", "prompt", "answer", "judged"])
            for talk, lines in enumerate(list(talks.values())[number::2] * 2):
                intent, patience = rng.choice(["refund", "delivery", "account"]), rng.gauss(0, 1)
                for line in lines:
                    short = number == 1 and intent == "refund" and rng.random() < 0.4
                    reply = rng.choice(["Sorry.", ""]) if short else line.response
                    judged = round(min(10, max(1, (3 if short else 7) + patience + rng.gauss(0, 1)))) if reply else ""
                    table.writerow([f"{week}-{talk}", intent, line.context[-1], reply, judged])


def write_vectors(path: Path, words: Mapping[str, tuple[float, ...]] = WORDS) -> Path:
    """The vectors as word2vec text or binary, GloVe text or archive, by the file's name."""
    rows = np.array(list(words.values()), dtype=np.float32)
    head = f"{rows.shape[0]} {rows.shape[1]}\n".encode()
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, rows.tolist(), strict=True)]
    if path.suffix == ".npz":
        np.savez(path, words=np.array(list(words)), vectors=rows)
    elif path.suffix == ".bin":
        entries = (word.encode() + b" " + row.tobytes() for word, row in zip(words, rows, strict=True))
        path.write_bytes(head + b"".join(entries))
    else:
        path.write_bytes(head * (path.suffix == ".vec") + "".join(lines).encode())
    return path


def rated(parts: dict[str, tuple[str, ...]], join: str) -> list[dict[str, Any]]:
    """Rated lines whose replies people like for their first words, in a language made of these parts."""
    rng = np.random.default_rng(5)

    def sentence(first: int) -> str:
        return join.join([parts["who"][first], *(str(rng.choice(parts[key])) for key in ("verb", "what", "does"))])

    lines = []
    for _ in range(90):
        first = int(rng.integers(len(parts["who"])))
        context = [sentence(0), sentence(1)]
        lines.append({"context": context, "response": sentence(first), "quality": {"overall": 1 + first % 4}})
    return [{**line, "references": [sentence(2)], "scale": [1, 4]} for line in lines]


def adem_of(trained: TrainedJudge) -> AdemJudge:
    """The judge, which is a bilinear one."""
    assert isinstance(trained.judge, AdemJudge)
    return trained.judge


def panel_of(trained: TrainedJudge) -> Panel:
    """The judge, which is a panel."""
    assert isinstance(trained.judge, Panel)
    return trained.judge


def adem_learner(kind: str, encoder: PortableEncoder | str = "word-vectors", options: Any = None) -> AnyLearner:
    """What learns such a judge."""
    return load_learner(kind, LearnerOptions(encoder=encoder, options=options))


@cache
def small_panel() -> Panel:
    """A panel of all three members over averaged words, fitted for a moment."""
    lines = [
        replace(one, references=one.context[-1:] if row % 3 else ())
        for row, one in enumerate(rejoinder.read("@conture"))
    ]
    spare = [replace(one, context=(), id=f"{one.id} alone") for one in lines if one.references]
    return panel_of(train_judge([*lines, *spare], "panel", options=AdemOptions(components=6, epochs=2)))
