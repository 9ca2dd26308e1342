"""The page of Deriu and Cieliebak 2019: ours beside the published figures."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.papers.deriu2019 import AUTOJUDGE, FEWEST_LINES, Deriu2019, Way
from rejoinder.papers.excerpts import Excerpt
from rejoinder.papers.fits import QUICK_AUTOJUDGE
from rejoinder.papers.page import (
    About,
    Page,
    data_table,
    encoder_table,
    excerpt_table,
    written,
)
from rejoinder.papers.plots import folds_figure
from rejoinder.papers.published import DERIU
from rejoinder.report.markdown import markdown_table
from rejoinder.report.tables import text_table
from rejoinder.stats.written import interval, number

_HELD_OUT = {"conversations": "conversations held out", "systems": "systems held out"}
_HEADER = ["held out", "judge", "n", "Pearson [low, high]", "published", "Spearman [low, high]", "published"]
_HEADER += ["MAE [low, high]", "published"]


def page(found: Deriu2019, about: About) -> Page:
    """The page, its figure, and a table for the terminal."""
    rows = [cells for name, way in found.ways.items() for cells in _rows(name, way)]
    table = markdown_table([*_HEADER, "Pearson inside data sets"], rows)
    if "systems" not in found.ways:
        table += f"\nNo system was held out: fewer than three have {FEWEST_LINES} lines.\n"
    text = written(
        "deriu2019",
        about,
        data=data_table(found.material),
        encoders=encoder_table(found.encoders),
        epochs=QUICK_AUTOJUDGE.epochs,
        fewest=FEWEST_LINES,
        table=table,
        folds="\n".join(_folds(name, way) for name, way in found.ways.items()),
        excerpts=_dialogue(found.excerpts),
    )
    drawn = {_HELD_OUT[name]: [(one.name, one.pearson) for one in way.folds] for name, way in found.ways.items()}
    summary = text_table(_HEADER, [cells[:-1] for cells in rows], 130)
    return Page(text, {"folds": folds_figure(drawn)}, summary)


def _rows(name: str, way: Way) -> list[list[str]]:
    """Table 1 for one way of splitting."""
    rows = []
    for row in way.rows:
        published = DERIU[name] if row.name == AUTOJUDGE else (float("nan"),) * 3
        cells = [name, row.name, f"{row.pearson.n:,}"]
        for ours, printed in zip((row.pearson, row.spearman, row.error), published, strict=True):
            cells += [interval(ours), number(printed)]
        rows.append([*cells, interval(row.within)])
    return rows


def _folds(name: str, way: Way) -> str:
    """AutoJudge on each fold."""
    rows = [[one.name, f"{one.lines:,}", interval(one.pearson), interval(one.spearman)] for one in way.folds]
    return markdown_table([name, "lines", "Pearson [low, high]", "Spearman [low, high]"], rows)


def _dialogue(turns: Sequence[Excerpt]) -> str:
    """A dialogue, or why there is none."""
    if not turns:
        return "None: of the sets given, none may be quoted (ConTurE may; it is not among them).\n"
    source = "One dialogue of ConTurE (Ghazarian et al. 2022, CC BY 4.0), drawn at random"
    return f"{source}, judged by the AutoJudge of the fold that held it out.\n\n{excerpt_table(turns, AUTOJUDGE)}"
