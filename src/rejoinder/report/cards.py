"""Cards of scorers, as a table, as text and as JSON values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rejoinder.records import Example
from rejoinder.report.tables import text_table
from rejoinder.scorer import Card, Scorer, Scores, signature_of
from rejoinder.stats.written import number

# What the table ends with; the scorers' cards say nothing of whom they judge.
_RESPONDERS = """\
Who replies (-r of respond and selftalk): the folder of a trained responder, human:FILE, command:'PROGRAM ARGUMENTS'
or openai:URL#MODEL. rejoinder pretrain makes folders. More: docs/responders.md
"""
EXAMPLE = Example(
    context=("do you have any plans for the weekend ?",),
    response="i am going to see a movie with my sister .",
    references=("yes , i am going to the movies with some friends .",),
)


def card_record(card: Card) -> dict[str, Any]:
    """The card as JSON values."""
    return {
        "scorer": card.name,
        "kind": card.kind,
        "summary": card.summary,
        "needs": sorted(card.needs),
        "range": list(card.range),
        "higher_is_better": card.higher_is_better,
        "source": card.source,
        "notes": card.notes,
        "version": card.version,
    }


def cards_table(cards: Iterable[Card], width: int) -> str:
    """One row a plain name, with the presets that go behind its slash."""
    families: dict[str, list[Card]] = {}
    for card in cards:
        families.setdefault(card.name.partition("/")[0], []).append(card)
    rows = [
        [
            card.name,
            card.kind,
            _needs(card),
            _range(card),
            card.summary,
            " ".join(preset.name.partition("/")[2] for preset in presets),
        ]
        for card, *presets in families.values()
    ]
    table = text_table(
        ["scorer", "kind", "needs", "range", "what comes back", "presets (NAME/PRESET)"], rows, width, folded=(2, 4, 5)
    )
    return (
        table
        + "\nThe folder of a trained judge is a scorer name too. More of one: rejoinder show NAME\n"
        + "So are column:KEY and python:MODULE:FUNCTION, for scores made elsewhere: docs/own-scores.md\n"
        + _RESPONDERS
    )


def card_text(scorer: Scorer, score: Callable[[Example], Scores]) -> str:
    """The whole card, with the score of one example.

    Args:
        scorer: whose card.
        score: scores the example.
    """
    card = scorer.card
    scores = score(EXAMPLE)
    value = number(float(scores.values[0])) if scores.scored[0] else f"unscored: {scores.reasons[0]}"
    directions = {True: "higher is better", False: "lower is better", None: "none claimed"}
    fields = {
        "needs": _needs(card),
        "range": _range(card),
        "direction": directions[card.higher_is_better],
        "source": card.source,
        "notes": card.notes,
        "signature": str(signature_of(scorer)),
    }
    example = {
        "context": " / ".join(EXAMPLE.context),
        "reference": EXAMPLE.references[0],
        "response": EXAMPLE.response,
        "score": value,
    }
    parts = [f"{card.name} ({card.kind})", f"  {card.summary}", ""]
    parts += [f"  {key:<10} {text}" for key, text in fields.items() if text]
    parts += ["", "  example", *(f"    {key:<10} {text}" for key, text in example.items()), ""]
    return "\n".join(parts)


def _needs(card: Card) -> str:
    """What must be there, in words."""
    return ", ".join(sorted(card.needs)) or "nothing else"


def _range(card: Card) -> str:
    """Lowest to highest score."""
    low, high = card.range
    return f"{'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'}"
