"""The page of Lowe et al. 2017: ours beside the published figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from rejoinder.report.layout import Prose
from rejoinder.report.tables import Cell, Table
from rejoinder.report.written import DASH
from rejoinder.scorer import FloatArray
from rejoinder.stats.figure import Figure
from research.cells import count, measured, nothing, p, plain, table, with_p
from research.fits import QUICK, Sweep
from research.lowe2017 import ADEM, SET_MEAN, Lowe2017, Row
from research.page import About, Page, data_table, encoder_table, excerpt_table, paper
from research.plots import Line, labels_figure, scatter_figure, systems_figure
from research.published import LOWE_SYSTEMS, LOWE_TEST, LOWE_UNSEEN, LOWE_VALIDATION, Published
from research.unseen import FEWEST_LINES, Unseen

NAME = "lowe2017"
_SHOWN = 300  # points in a panel of figure 4
_SCATTERED = ("bleu-2", "rouge-l", ADEM)
_OF_SYSTEMS = (ADEM, "bleu-2", "bleu-4", "rouge-l")


def page(found: Lowe2017, about: About) -> Page:
    """The page."""
    names = {row.name: row for row in found.rows}
    aliases = _aliases(found)
    first = found.splits[0].test
    first = first[~found.material.copies[first]]
    rng = np.random.default_rng(0)
    shown = rng.permutation(first)[:_SHOWN]
    drawn = {
        "scores": scatter_figure(
            found.material.ratings[shown],
            {name: found.scores[name][shown] for name in _SCATTERED if name in found.scores},
            rng,
        ),
        "systems": systems_figure({name: names[name].systems for name in _OF_SYSTEMS if name in names}),
        "labels": labels_figure(*_curves(found)),
    }
    return paper(
        NAME,
        about,
        {
            "data": data_table(found.material),
            "encoders": encoder_table(found.encoders),
            "agreement": _agreement(found.rows, aliases),
            "behind": _behind(found.rows),
            "missing": Prose([f"{name} is not in the tables: {why}" for name, why in found.missing.items()]),
            "systems": _systems(found.rows),
            "unseen": _unseen(found.unseen),
            "unseen_published": _unseen_published(),
            "points": _points(found),
            "sweeps": [_sweep(name, sweep) for name, sweep in found.sweeps.items()],
            "excerpts": excerpt_table(found.excerpts, "c-adem"),
            "speed": _speed(found.rows, len(found.material.ratings)),
        },
        [_summary(found.rows, aliases)],
        pictures=drawn,
        lines=_lines(found),
        seeds=len(found.splits),
        fit=QUICK,
        main=next(iter(found.encoders)),
        n=f"{names[ADEM].spearman.n:,}",
        lead=_lead(found.rows),
        set_mean=SET_MEAN,
        count=max(len(row.systems.names) for row in found.rows),
        fewest=FEWEST_LINES,
        shown=len(shown),
    )


def _aliases(found: Lowe2017) -> dict[str, str]:
    """The name under which a row was published, by ours: a user may call encoders what he likes."""
    aliases = {row.name: row.name for row in found.rows}
    for name, (encoding, *_) in found.encoders.items():
        aliases |= {
            f"{name}, untrained": f"{encoding.kind}, untrained",
            f"adem over {name}": f"adem over {encoding.kind}",
        }
    return aliases


def _cells(published: Published | None) -> list[Cell]:
    """Two printed figures."""
    return [nothing(), nothing()] if published is None else [plain(published.spearman), plain(published.pearson)]


def _lines(found: Lowe2017) -> str:
    """How many lines the parts have, mean over the splits."""
    parts = [[len(split.train), len(split.validation)] for split in found.splits]
    train, validation = np.mean(parts, axis=0)
    test = np.mean([(~found.material.copies[split.test]).sum() for split in found.splits])
    return f"{train:,.0f} to train, {validation:,.0f} to validate, {test:,.0f} to test"


def _agreement(rows: Sequence[Row], aliases: dict[str, str]) -> Table:
    """Table 2."""
    header = ["scorer", "validation S", "P", "test Spearman [low, high]", "p", "test Pearson [low, high]", "p"]
    header += ["published: validation S", "P", "test S", "P"]
    cells = [
        [
            row.name,
            *map(plain, row.validation),
            *with_p(row.spearman),
            *with_p(row.pearson),
            *_cells(LOWE_VALIDATION.get(aliases[row.name])),
            *_cells(LOWE_TEST.get(aliases[row.name])),
        ]
        for row in rows
    ]
    return table(header, cells)


def _behind(rows: Sequence[Row]) -> Table:
    """What stands behind table 2: inside data sets, with copies, and the paired tests."""
    header = ["scorer", "Spearman inside data sets [low, high]", "p", "Spearman with copies [low, high]"]
    header += ["ADEM ahead, S", "p", "ADEM ahead, P", "p"]
    cells = []
    for row in rows:
        ahead = [nothing()] * 4
        if row.behind is not None:
            ahead = [cell for one in row.behind for cell in (measured(Figure(value=one.value), signed=True), p(one.p))]
        cells.append([row.name, *with_p(row.within), measured(row.copies), *ahead])
    return table(header, cells)


def _lead(rows: Sequence[Row]) -> str:
    """How many of the others ADEM is ahead of, in one sentence."""
    others = [row for row in rows if row.behind is not None]
    ahead = [row.name for row in others if row.behind and row.behind[0].value > 0 and row.behind[0].p < 0.05]
    open_ = [row.name for row in others if row.name not in ahead]
    rest = f"; not of {', '.join(open_)}" if open_ else ""
    return f"By Spearman with p < .05, ADEM is ahead of {len(ahead)} of the {len(others)} other rows{rest}."


def _systems(rows: Sequence[Row]) -> Table:
    """Table 3."""
    cells = [
        [row.name, *with_p(row.systems), *with_p(row.systems_within), plain(LOWE_SYSTEMS.get(row.name, float("nan")))]
        for row in rows
    ]
    header = ["scorer", "Pearson [low, high]", "p", "set means taken off [low, high]", "p", "published, 4 systems"]
    return table(header, cells)


def _unseen(unseen: Sequence[Unseen]) -> Table:
    """Table 4, ours, with the mean over the systems."""
    header = ["left out", "lines", "share of training", "all test S [low, high]", "P"]
    header += ["its test lines S [low, high]", "P", "the same, seen in training S", "P"]
    rows = [_unseen_row(one) for one in unseen]
    systems = [one for one in unseen if one.removed is not None]
    if systems:
        means = [
            np.nanmean([[one.value for one in pair] for pair in pairs], axis=0)
            for pairs in ([getattr(one, name) for one in systems] for name in ("full", "removed", "seen"))
        ]
        share = np.mean([one.share for one in systems])
        rows.insert(len(systems), ["mean", "", f"{share:.1%}", *(plain(value) for pair in means for value in pair)])
    return table(header, rows)


def _unseen_row(one: Unseen) -> list[Cell | str]:
    """One system, or the lines left out at random."""
    lines = count(one.lines) if one.system else ""
    cells: list[Cell | str] = [one.system or "at random", lines, f"{one.share:.1%}"]
    for pair in (one.full, one.removed, one.seen):
        cells += [nothing(), nothing()] if pair is None else [measured(pair[0]), plain(pair[1].value)]
    return cells


def _unseen_published() -> Table:
    """Table 4 as printed."""
    rows = [[one.name, *_cells(one.full), *_cells(one.removed)] for one in LOWE_UNSEEN]
    return table(["left out", "all test S", "P", "its test lines S", "P"], rows)


def _points(found: Lowe2017) -> Table:
    """How the agreement grows with the labels."""
    rows = [
        [f"{one.share:.0%}", f"{one.lines:,.0f}", *with_p(one.spearman), *with_p(one.pearson)] for one in found.points
    ]
    return table(["labels", "lines", "test Spearman [low, high]", "p", "test Pearson [low, high]", "p"], rows)


def _curves(found: Lowe2017) -> tuple[FloatArray, list[Line]]:
    """Validation error over epochs, mean over the splits, and correlations over shares of labels."""
    judgements = found.sweeps[next(iter(found.sweeps))].judgements
    errors = np.mean([one.fitted.validation_errors for one in judgements], axis=0)
    x = [one.share for one in found.points]
    return errors, [
        Line("Spearman", x, [one.spearman for one in found.points]),
        Line("Pearson", x, [one.pearson for one in found.points]),
    ]


def _sweep(name: str, sweep: Sweep) -> Table:
    """What was tried over one encoder, best first."""
    chosen = Counter(sweep.chosen)
    means = sweep.validation.mean(axis=1)
    rows = [
        [
            sweep.settings[place].state or DASH,
            str(sweep.settings[place].components),
            sweep.settings[place].normalise,
            sweep.settings[place].oversample or "no",
            plain(means[place, 0]),
            plain(sweep.validation[place, :, 0].std()),
            plain(means[place, 1]),
            str(chosen[sweep.settings[place]]),
        ]
        for place in np.argsort(-np.nan_to_num(means[:, 0], nan=-np.inf), kind="stable")
    ]
    header = ["state", "n", "length", "over-sampled", "validation Pearson", "sd over splits", "Spearman", "chosen by"]
    return table(header, rows, name)


def _speed(rows: Sequence[Row], lines: int) -> Table:
    """Lines a second."""
    found = [[row.name, f"{row.speed:,.0f}", f"{lines / row.speed:,.2f}"] for row in rows if not np.isnan(row.speed)]
    return table(["scorer", "lines a second", "seconds for all"], found)


def _summary(rows: Sequence[Row], aliases: dict[str, str]) -> Table:
    """The heart of table 2 for a terminal."""
    printed = {row.name: _cells(LOWE_TEST.get(aliases[row.name])) for row in rows}
    cells = [
        [
            row.name,
            count(row.spearman.n),
            measured(row.spearman),
            printed[row.name][0],
            measured(row.pearson),
            printed[row.name][1],
        ]
        for row in rows
    ]
    header = ["scorer", "n", "Spearman [low, high]", "published", "Pearson [low, high]", "published"]
    return table(header, cells)
