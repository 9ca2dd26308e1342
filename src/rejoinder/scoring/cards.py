"""Cards of scorers, as tables, as text and as JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rejoinder.data.folders import read_card, read_config
from rejoinder.example import Example
from rejoinder.judges import written_card
from rejoinder.models import responder_kinds
from rejoinder.registry import Entry
from rejoinder.report.terminal import text_table
from rejoinder.report.written import number
from rejoinder.scorer import Card, Scorer, run, signature_of
from rejoinder.scoring.catalog import load_scorer

# The use of each group, and where to read more.
_GROUPS = {
    "judges": "Judges that you can train. The folder of a trained one is a scorer name. More: docs/train.md",
    "encoders": "Encoders (-e of train and encode), trained ones by their folder. More: docs/howto/pretrain.md",
    "responders": "Responders (-r of respond and selftalk), trained ones by their folder. More: docs/howto/respond.md",
    "material": "Inputs of judges in addition to an encoder's vectors, by their folder. More: docs/howto/pretrain.md",
    "attacks": "Attacks (--family of audit), and what each would show. More: docs/audit.md",
}
_AFTER_SCORERS = """
The folder of a trained judge is a scorer name too. More about one scorer: rejoinder show NAME
External scores: column:KEY, python:MODULE:FUNCTION, command:PROGRAM (examples in, scores out) and
openai:URL#MODEL (a language model behind an endpoint, which texts go to): docs/own-scores.md
plus:smollm2 is the judge with a small language model in addition, on this machine: docs/explain/judge.md
"""
_KEYS = ["kind", "summary", "needs", "range", "higher_is_better", "domain", "unread", "source", "notes", "version"]
EXAMPLE = Example(
    context=("do you have any plans for the weekend ?",),
    response="i am going to see a movie with my sister .",
    references=("yes , i am going to the movies with some friends .",),
)


def card_record(card: Card) -> dict[str, Any]:
    """Return a card as JSON values."""
    lists = {"needs": sorted(card.needs), "range": list(card.range), "unread": list(card.unread)}
    return {"scorer": card.name, **{key: lists.get(key, getattr(card, key)) for key in _KEYS}}


def show(name: str | Path) -> dict[str, Any]:
    """Return what is known about a scorer, a judge or a responder, as JSON values.

    Args:
        name: of a scorer, or a folder with a judge or responder.

    Returns:
        `version`, and `results` with one mapping: the card; for a responder the one in its folder.

    Raises:
        UsageError, MissingAsset, DataError: see `load_scorer`.
    """
    if responder := _responder(name):
        record: dict[str, Any] = {"name": responder, "card": read_card(name)}
    else:
        scorer = load_scorer(name)
        record = {**card_record(scorer.card), "signature": dict(signature_of(scorer).fields)}
    return {"version": 1, "results": [record]}


def show_text(name: str | Path) -> str:
    """Return this as text, with the score of an example, and for a judge the card in its folder."""
    if _responder(name):
        return read_card(name)
    scorer = load_scorer(name)
    text = card_text(scorer)
    return f"{text}\n{written_card(str(name))}" if scorer.card.kind == "judge" else text


def _responder(name: str | Path) -> str:
    """Return the kind of the responder in the folder `name`, or ""."""
    kind = str(read_config(name).model.get("kind")) if Path(name).is_dir() else ""
    return kind if kind in responder_kinds() else ""


def cards_table(cards: Iterable[Card], width: int) -> str:
    """Return a table with a row for each name, and its presets."""
    rows: dict[str, list[str]] = {}
    for card in cards:
        name, _, preset = card.name.partition("/")
        row = rows.setdefault(name, [card.name, card.kind, _needs(card), _range(card), card.summary, ""])
        if card.name != row[0]:
            row[-1] = f"{row[-1]} {preset}".lstrip()
    header = ["scorer", "kind", "needs", "range", "what comes back", "presets (NAME/PRESET)"]
    table = text_table(header, rows.values(), width, folded=(2, 4, 5))
    return f"Scorers (-s of score, compare, study and audit)\n\n{table}{_AFTER_SCORERS}"


def kinds_table(groups: Mapping[str, Sequence[Entry[Any]]], width: int) -> str:
    """Return a table for each group of kinds that can be trained or named."""
    tables = []
    for group, entries in groups.items():
        about = ["what is done", "what it would show"] if group == "attacks" else ["what it is", "how to get it"]
        header = ["name", *about, "needs"]
        rows = [list(map(str, entry.record.values())) for entry in entries]
        tables.append(f"{_GROUPS[group]}\n\n{text_table(header, rows, width, folded=(1, 2, 3))}")
    return "\n".join(tables)


def card_text(scorer: Scorer) -> str:
    """Return the whole card of a scorer, with its score of one example."""
    card, scores = scorer.card, run(scorer, [EXAMPLE])
    directions = {True: "higher is better", False: "lower is better", None: "none claimed"}
    fields = {
        "needs": _needs(card),
        "range": _range(card),
        "direction": directions[card.higher_is_better],
        "domain": card.domain,
        "not read": ", ".join(card.unread),
        "source": card.source,
        "notes": card.notes,
        "signature": str(signature_of(scorer)),
    }
    example = {
        "context": " / ".join(EXAMPLE.context),
        "reference": EXAMPLE.references[0],
        "response": EXAMPLE.response,
        "score": number(float(scores.values[0]), 3) if scores.scored[0] else f"unscored: {scores.reasons[0]}",
    }
    parts = [f"{card.name} ({card.kind})", f"  {card.summary}", ""]
    parts += [f"  {key:<10} {text}" for key, text in fields.items() if text]
    parts += ["", "  example", *(f"    {key:<10} {text}" for key, text in example.items()), ""]
    return "\n".join(parts)


def _needs(card: Card) -> str:
    """Return the fields that an example must have."""
    return ", ".join(sorted(card.needs)) or "nothing else"


def _range(card: Card) -> str:
    """Return the lowest and the highest score."""
    low, high = card.range
    return f"{'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'}"
