"""What an adaptation bought, as a document."""

from __future__ import annotations

from rejoinder.meta.fitting_figures import WITHIN
from rejoinder.meta.fitting_results import Fit
from rejoinder.documents.cells import count, measured, plain
from rejoinder.documents.document import Cell, Document, Section, Table


def fitting(found: Fit) -> Document:
    """The document."""
    tables = [_gains(found), *([_curve(found)] if found.curve else [])]
    record = found.to_dict()
    return Document(
        title="An adapted judge",
        question="Did the ratings make the judge better?" if found.kind == "ratings" else "Did the choices?",
        answer=found.answer,
        sections=[Section("Before and after", tables)],
        brief=tables,
        results=record["results"],
        record=record,
    )


def _gains(found: Fit) -> Table:
    """A row a figure."""
    share = found.kind == "choices"
    rows = [
        (
            Cell(one.name if share else one.name[0].upper() + one.name[1:]),
            count(one.n),
            measured(one.before, 2, share=share),
            measured(one.after, 2, share=share),
            measured(one.gain, 2, share=share, signed=True),
        )
        for one in sorted(found.gains, key=lambda one: WITHIN not in one.name)
    ]
    lost = [f"left out, {reason}: {lines:,}" for reason, lines in found.left_out.items()]
    methods = dict.fromkeys(one.method.partition(";")[0] for one in found.gains)
    _, _, interval = found.gains[0].method.partition("; ")
    notes = [f"{'; '.join(methods)}; {interval}; each conversation judged without it; seed {found.seed}.", *lost]
    return Table("", "", ("cross-validation", "lines", "before", "after", "gain"), tuple(rows), notes=notes)


def _curve(found: Fit) -> Table:
    """A row a size."""
    rows = tuple((Cell(f"{one.items:,}"), plain(one.value, 2)) for one in found.curve)
    return Table("", "", ("fitted on", found.gains[0].name), rows)
