"""Files of docs/tutorials/llm-bot.md: `python tests/llm_bot.py` writes them again; the texts are of our making.

400 replies of three versions of a support bot, the verdicts of a judge that is lax on long replies, labels of 120
replies and a second look at some. Truth, lengths and verdicts are those of a world (`worlds.py`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rejoinder
from worlds import SIZES, world

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "tutorials" / "llm-bot"
SEED = 942
"""Chosen among 1,500, so that the true rates are typical and the judge is below the bar."""
COUNTS = (100, 150, 150)
LABELLED, FIRST_LOOK, BOTH = 120, 20, 50
ERRORS = {"ana": 0.03, "ben": 0.06}
"""How often each labeller is wrong."""
LOGS = ("v1.csv", "v2.csv", "v3.csv")
LABELS, SECOND = "labels.csv", "relabelled.csv"

CASES = (
    (
        "Where is my order {n}?",
        "Order {n} left our warehouse on {d} May. The carrier needs two to four working days.",
        "Order {n} arrives today at noon, I promise.",
    ),
    (
        "I sent back order {n}. When do I get my money?",
        "Your refund for order {n} was started on {d} May. Banks need three to five working days.",
        "Your money for order {n} is already in your account.",
    ),
    (
        "The frame of my bike from order {n} has a crack. What now?",
        "Please stop riding. The frame is covered for five years: send us a photo of the crack and we will replace it.",
        "A small crack is normal, so you can go on riding.",
    ),
    (
        "Can I return the helmet of order {n}? I wore it once.",
        "Yes, within 30 days if it shows no wear. The label for the parcel is in your account.",
        "Yes, you can return any helmet at any time, even after a fall.",
    ),
    (
        "Please change the address of order {n}.",
        "Order {n} has not left yet, so you can change the address under My orders until tonight.",
        "Our addresses are on the website.",
    ),
    (
        "Does the light of order {n} fit a rack with two holes?",
        "Yes, its holder has two holes, 50 mm apart. A rack with 80 mm needs the adapter.",
        "It is a very bright light with great reviews!",
    ),
)
"""What customers write, a good reply and a bad one."""
PADDING = (
    "You can follow every step in your account under My orders.",
    "If anything is still unclear, just reply to this message and we will look at it again.",
    "Please keep the packaging until everything is settled.",
    "We are sorry for the trouble that this has caused you.",
    "Our phones are open on weekdays from nine to five.",
    "You will also receive an email with all the details.",
    "There is nothing else that you need to do for the moment.",
    "Thank you for your patience and for being our customer.",
    "We know how much you look forward to your next ride.",
    "The same holds for all other orders that you placed this month.",
    "You will find the form that you need at the foot of every page.",
    "Many customers have the same question, so you are not alone.",
    "Our workshop will be glad to help you in person as well.",
    "We hope that this answers your question in full.",
    "Have a wonderful day and a safe ride.",
)
REASONS = {
    1: ("Answers the question and names the next step.", "Correct and polite.", "Complete, with clear details."),
    0: (
        "Does not solve the problem of the customer.",
        "Promises something that the shop does not offer.",
        "Too short; the customer has to ask again.",
    ),
}
WORDS = ("fail", "pass")


class Bot(NamedTuple):
    """The files, as rows.

    Attributes:
        lines: the replies, with a version under `system`.
        truth: by id, 1 for a good reply.
        labels: of 120 replies.
    """

    lines: list[dict[str, Any]]
    truth: dict[str, int]
    labels: list[dict[str, Any]]


def bot(seed: int = SEED) -> Bot:
    """Make the replies and the labels."""
    rng = np.random.default_rng(seed)
    drawn = world(rng)
    starts = np.cumsum([0, *SIZES[:-1]])
    rows = np.concatenate([np.arange(start, start + count) for start, count in zip(starts, COUNTS, strict=True)])
    lines, truth = [], {}
    for number, row in enumerate(rows.tolist(), start=1):
        good, passed = int(drawn.truth[row]), int(drawn.verdicts[row])
        question, *replies = CASES[rng.integers(len(CASES))]
        facts = {"n": int(rng.integers(1000, 9999)), "d": int(rng.integers(2, 29))}
        line = {"id": f"r{number:03}", "system": f"v{drawn.versions[row] + 1}", "question": question.format(**facts)}
        reply = _padded(replies[1 - good].format(**facts), 0.7 * int(drawn.words[row]), rng)
        reason = REASONS[passed][rng.integers(len(REASONS[passed]))]
        lines.append(line | {"reply": reply, "judge": WORDS[passed], "reason": reason})
        truth[line["id"]] = good
    return Bot(lines, truth, _labels(truth, rng))


def _padded(reply: str, words: float, rng: np.random.Generator) -> str:
    """Return a reply of about so many words."""
    for sentence in rng.permutation(np.array(PADDING)):
        if len(reply.split()) + len(sentence.split()) / 2 >= words:
            break
        reply = f"{reply} {sentence}"
    return reply


def _labels(truth: dict[str, int], rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return labels of replies drawn by chance: the first are for a first look, the others for the test."""
    rows: list[dict[str, Any]] = []
    for place, name in enumerate(rng.permutation(np.array([*truth]))[:LABELLED].tolist()):
        people = list(ERRORS) if place < FIRST_LOOK + BOTH else [list(ERRORS)[place % 2]]
        for person in people:
            label = truth[name] ^ int(rng.random() < ERRORS[person])
            split = "dev" if place < FIRST_LOOK else "test"
            rows.append({"id": name, "labeller": person, "label": WORDS[label], "split": split})
    return rows


def write_files(folder: Path, made: Bot) -> None:
    """Write the replies of each version and the labels."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in LOGS:
        _write(folder / name, [line for line in made.lines if line["system"] == Path(name).stem])
    _write(folder / LABELS, made.labels)


def write_second_look(folder: Path, made: Bot) -> None:
    """Write the labels of a second look, by both together and without errors, at the lines that `study` names."""
    study = rejoinder.study(made.lines, ["column:judge"], rated=folder / LABELS)
    again = folder / "relabel.csv"
    study.save(again)
    with again.open(encoding="utf-8", newline="") as stream:
        ids = [row["id"] for row in csv.DictReader(stream)]
    again.unlink()
    _write(folder / SECOND, [{"id": name, "label": WORDS[made.truth[name]], "look": "second"} for name in ids])


def _write(path: Path, rows: Sequence[dict[str, Any]] | Iterable[dict[str, Any]]) -> None:
    rows = list(rows)
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, [*rows[0]], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    made = bot()
    write_files(FOLDER, made)
    write_second_look(FOLDER, made)
