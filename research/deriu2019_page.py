"""The page of Deriu and Cieliebak 2019: ours beside the published figures."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.report.layout import Block, Prose
from rejoinder.report.tables import Cell, Table
from research.cells import count, measured, plain, table
from research.deriu2019 import AUTOJUDGE, FEWEST_LINES, Deriu2019, Way
from research.excerpts import Excerpt
from research.fits import QUICK_AUTOJUDGE
from research.page import About, Page, data_table, encoder_table, excerpt_table, paper
from research.plots import folds_figure
from research.published import DERIU

_HELD_OUT = {"conversations": "conversations held out", "systems": "systems held out"}
_HEADER = ["held out", "judge", "n", "Pearson [low, high]", "published", "Spearman [low, high]", "published"]
_HEADER += ["MAE [low, high]", "published"]


def page(found: Deriu2019, about: About) -> Page:
    """The page."""
    rows = [cells for name, way in found.ways.items() for cells in _rows(name, way)]
    none = f"No system was held out: fewer than three have {FEWEST_LINES} lines."
    ours = table([*_HEADER, "Pearson inside data sets"], rows)
    drawn = {_HELD_OUT[name]: [(one.name, one.pearson) for one in way.folds] for name, way in found.ways.items()}
    return paper(
        "deriu2019",
        about,
        {
            "data": data_table(found.material),
            "encoders": encoder_table(found.encoders),
            "table": ours._replace(notes=() if "systems" in found.ways else (none,)),
            "folds": [_folds(name, way) for name, way in found.ways.items()],
            "excerpts": _dialogue(found.excerpts),
        },
        [table(_HEADER, [cells[:-1] for cells in rows])],
        pictures={"folds": folds_figure(drawn)},
        epochs=QUICK_AUTOJUDGE.epochs,
        fewest=FEWEST_LINES,
    )


def _rows(name: str, way: Way) -> list[list[Cell | str]]:
    """Table 1 for one way of splitting."""
    rows = []
    for row in way.rows:
        published = DERIU[name] if row.name == AUTOJUDGE else (float("nan"),) * 3
        cells: list[Cell | str] = [name, row.name, count(row.pearson.n)]
        for ours, printed in zip((row.pearson, row.spearman, row.error), published, strict=True):
            cells += [measured(ours), plain(printed)]
        rows.append([*cells, measured(row.within)])
    return rows


def _folds(name: str, way: Way) -> Table:
    """AutoJudge on each fold."""
    rows = [[one.name, count(one.lines), measured(one.pearson), measured(one.spearman)] for one in way.folds]
    return table([name, "lines", "Pearson [low, high]", "Spearman [low, high]"], rows)


def _dialogue(turns: Sequence[Excerpt]) -> list[Block]:
    """A dialogue, or why there is none."""
    if not turns:
        return [Prose(["None: of the sets given, none may be quoted (ConTurE may; it is not among them)."])]
    source = "One dialogue of ConTurE (Ghazarian et al. 2022, CC BY 4.0), drawn at random"
    return [
        Prose([f"{source}, judged by the AutoJudge of the fold that held it out."]),
        excerpt_table(turns, AUTOJUDGE),
    ]
