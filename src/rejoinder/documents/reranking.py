"""What re-ranking came to, as a document."""

from __future__ import annotations

from rejoinder.improve.result import Reranking, System
from rejoinder.documents.cells import count, measured
from rejoinder.documents.document import Cell, Document, Section, Table


def reranking(found: Reranking) -> Document:
    """The document."""
    systems = _systems(found)
    record = found.to_dict()
    return Document(
        title="Re-ranked replies",
        question="Are the chosen replies better?",
        answer=found.answer,
        sections=[Section("By system", [systems])],
        signatures=found.signatures,
        brief=[systems],
        results=record["results"],
        record=record,
    )


def _systems(found: Reranking) -> Table:
    """A row a system, most wins first."""
    by = ["mean", "chosen less it"] if _measured(found) else []
    rows = [_row(one, found) for one in found.systems]
    if _measured(found):
        rows.append((Cell("chosen"), *(Cell("") for _ in range(4)), measured(found.chosen, 2), Cell("")))
    return Table(
        "",
        "",
        ("system", "contexts", "won", "by its first", "share", *by),
        tuple(rows),
        notes=_notes(found),
    )


def _row(one: System, found: Reranking) -> tuple[Cell, ...]:
    """The row of one system."""
    outside = found.out_of_domain.get(found.scorer, "")
    share = Cell("out of domain", outside) if outside else measured(one.share, share=True)
    counts = (Cell(one.name), count(one.offered), count(one.won), count(one.kept), share)
    if not _measured(found):
        return counts
    return (*counts, measured(one.mean, 2, note=one.mean.method), measured(one.gain, 2, signed=True))


def _notes(found: Reranking) -> list[str]:
    """How the figures came about."""
    if not _measured(found):
        return []
    return [
        f"Mean: by {found.measured_by}, of what a system said first, in contexts with a chosen reply. [low, high]: "
        f"95 % expanded percentile interval over {found.resamples:,} resamples of contexts, seed {found.seed}; "
        "of the share Wilson's."
    ]


def _measured(found: Reranking) -> bool:
    """Whether a scorer that did not choose measured the replies, and can judge them."""
    return found.measured_by is not None and found.measured_by not in found.out_of_domain
