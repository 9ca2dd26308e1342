"""Scored lines and what they come to, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from rejoinder.data.scored_keys import EXPLAINED, INTERVALS, WORST, are_explained, are_intervals
from rejoinder.documents.tables import text_table
from rejoinder.scorer import OUT_OF_DOMAIN, Explanation
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.noted import noted
from rejoinder.scoring.scoring import Tally
from rejoinder.scoring.withholding import INSTEAD
from rejoinder.stats.figure import number

SHOWN = 20
_LONGEST, _REASONS, _WORST = 48, 3, 3


def lines_table(records: Iterable[Mapping[str, Any]], scorers: Sequence[str], width: int) -> str:
    """The first twenty scored lines; the rest is scored without being shown.

    What moved their scores and their notes have columns of their own, if any has some.
    """
    stream = iter(records)
    shown = list(islice(stream, SHOWN))
    more = sum(1 for _ in stream)
    if not shown:
        return ""
    rows = [[record["id"], _short(record["response"]), *(_cell(record, name) for name in scorers)] for record in shown]
    header, folded = ["id", "response", *scorers], [1]
    more_columns = {
        **{_of(name, scorers, "moved by"): [_moved(one, name) for one in shown] for name in scorers},
        **{_of(name, scorers, "worst turns"): [_worst(one, name) for one in shown] for name in scorers},
        "notes": [_notes(record["notes"], scorers) for record in shown],
    }
    for name, cells in more_columns.items():
        if any(cells):
            folded.append(len(header))
            header, rows = [*header, name], [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
    table = text_table(header, rows, width, folded=folded)
    return table + (f"... and {more:,} more lines; --format jsonl shows all\n\n" if more else "\n")


def summary_table(tallies: Mapping[str, Tally], width: int) -> str:
    """Return out-of-domain scores counted, a row for each scorer (lines, mean, spread, corpus score), and what follows.

    That is: what was not checked, why lines are unscored, notes and signatures.
    """
    rows = [
        [
            name,
            f"{tally.scored:,}",
            f"{tally.unscored:,}",
            number(tally.mean),
            number(tally.deviation),
            number(tally.corpus),
        ]
        for name, tally in tallies.items()
    ]
    table = text_table(["scorer", "scored", "unscored", "mean", "sd", "corpus"], rows, width)
    scorers: dict[str, list[str]] = {}
    for name, tally in tallies.items():
        others = Counter({reason: count for reason, count in tally.reasons.items() if reason != OUT_OF_DOMAIN})
        for reason, count in others.most_common(_REASONS):
            scorers.setdefault(f"{count:,} unscored: {reason}", []).append(name)
    why = [f"{reason} ({', '.join(names)})" for reason, names in scorers.items()]
    lines = max((tally.scored + tally.unscored for tally in tallies.values()), default=0)
    notes = {
        name: {note: count for note, count in tally.notes.items() if note != OUT_OF_DOMAIN}
        for name, tally in tallies.items()
    }
    why += noted(notes, lines)
    signatures = [str(tally.signature) for tally in tallies.values()]
    warning = facts_warning({name: tally.scorer for name, tally in tallies.items()})
    below = [warning] * bool(warning) + [*why, *signatures]
    domain = "".join(f"{line}\n" for line in domain_lines(tallies))
    return f"{domain}\n" * bool(domain) + table + "\n" + "".join(f"{line}\n" for line in below)


def domain_lines(tallies: Mapping[str, Tally]) -> list[str]:
    """Return a line for each scorer that could not judge some replies: how many, and what to do."""
    lines = []
    for name, tally in tallies.items():
        of = f"{tally.scored + tally.unscored:,} scores"
        domain = f" (it judges {tally.scorer.card.domain})" if tally.scorer.card.domain else ""
        why = f"out of domain, {name} cannot judge these replies{domain}. {INSTEAD}."
        if tally.withheld:
            keep = "--out-of-domain keep writes these scores with this warning."
            lines.append(f"{tally.withheld:,} of {of} withheld: {why} {keep}")
        elif count := tally.notes[OUT_OF_DOMAIN]:
            lines.append(f"{count:,} of {of} with a warning: {why}")
    return lines


def _notes(found: Mapping[str, Sequence[str]], scorers: Sequence[str]) -> str:
    """What the scorers noted of one line, each note once."""
    return ", ".join(dict.fromkeys(note for name in scorers for note in found.get(name, ())))


def _moved(record: Mapping[str, Any], scorer: str) -> str:
    """What moved a score most, in words; "" where that was not asked for."""
    told = record.get(EXPLAINED)
    return Explanation(**told[scorer]).words if are_explained(told) and scorer in told else ""


def _worst(record: Mapping[str, Any], scorer: str) -> str:
    """The worst turns of a conversation, with their scores; "" of a reply."""
    turns = record.get(WORST, {}).get(scorer, ())
    return "; ".join(
        f"{turn['turn']} ({number(turn['score'], 2)}): {_short(turn['response'])}" for turn in turns[:_WORST]
    )


def _of(scorer: str, scorers: Sequence[str], what: str) -> str:
    """The name of a column that each scorer has one of."""
    return f"{scorer}: {what}" if len(scorers) > 1 else what


def _cell(record: Mapping[str, Any], scorer: str) -> str:
    """A score, with its interval where the scorer gives one, or a dash."""
    score, ends = record["scores"][scorer], record.get(INTERVALS)
    said = number(float("nan") if score is None else score)
    if not are_intervals(ends) or scorer not in ends:
        return said
    return f"{said} [{', '.join(number(end, 2) for end in ends[scorer])}]"


def _short(text: str) -> str:
    """A text cut to fit a cell."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 3] + "..."
