"""How much of the judge's mean over sets that it never saw is luck of choosing its settings in sight of these sets.

For each data set the settings are chosen among the other sets alone; then the set is asked about. Shapes: N rated
lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rejoinder.auditing.spoiling import spoilt
from rejoinder.errors import UsageError
from rejoinder.judges.left_out import others
from rejoinder.judges.lines import RatedLines, encode_rated
from rejoinder.judges.views.fit import FEWEST, columns_of, head_over
from rejoinder.judges.views.head import TREES, Head
from rejoinder.judges.views.learner import ViewsLearner, boxed_material
from rejoinder.judges.views.lines import ViewLines
from rejoinder.judges.views.views import Views
from rejoinder.learner import Rows
from rejoinder.meta.agreement import Agreement
from rejoinder.papers.asked import RELEVANCE, Asked, Takes
from rejoinder.papers.fit import LIGHT
from rejoinder.papers.judge import SETS, TAUGHT, agreements, ahead_over_sets, mean_over_sets, ranked, taught, there
from rejoinder.papers.judge_folds import blind, mean_within, undefended
from rejoinder.papers.kept import kept
from rejoinder.papers.plus import TOO_MANY
from rejoinder.scorer import Advance, FloatArray
from rejoinder.stats.correlation import spearman
from rejoinder.stats.figure import Figure
from rejoinder.stats.splits import fold_groups
from rejoinder.text.normalize import visible

TAKES = Takes(("files", "data", "seed"), keeps=True)
DEFENCES = (1.0, 0.0, 0.5, 2.0)  # the first of each is how the judge ships, which wins where others are no better
MIXTURES = (TREES, 0.25, 0.75)
DOUBTED = ("alignment", "selection")
FOLDS = 3


class Settings(NamedTuple):
    """What is chosen.

    Attributes:
        defence: what attacked rows and those of DailyDialog++ weigh, as a factor on what they weigh in the judge in the
            box; 0 leaves them out.
        trees: what the trees weigh, the smooth part having the rest.
        without: the view that is not read; "" where all are.
    """

    defence: float = DEFENCES[0]
    trees: float = MIXTURES[0]
    without: str = ""


SHIPPED = Settings()


class OfSet(NamedTuple):
    """A data set, asked of judges that were fitted on all others.

    Attributes:
        name: of the set.
        chosen: settings that were chosen among the others.
        nested: Spearman of the judge with these.
        shipped: of that with the settings of the judge in the box.
    """

    name: str
    chosen: Settings
    nested: Agreement
    shipped: Agreement


class Found(NamedTuple):
    """All that was found.

    Attributes:
        sets: one a data set.
        nested: mean Spearman over sets, of judges with settings that were chosen among the other sets.
        shipped: of judges with the settings of the judge in the box.
        gain: the first less the second.
        within: the means over sets of the mean Spearman within systems, of both.
        lines: rated lines.
        written: replies that people wrote to fit or not to fit, of DailyDialog++.
    """

    sets: Sequence[OfSet]
    nested: Figure
    shipped: Figure
    gain: Figure
    within: tuple[float, float]
    lines: int
    written: int


def find(asked: Asked) -> Found:
    """What judges say of sets that neither they nor their settings saw.

    Raises:
        UsageError: there are too few data sets to choose settings without one, or too few lines in them.
    """
    names = [name for name in SETS if name != TOO_MANY]
    pieces = kept(asked, [*asked.files_or(names), *there(asked, TAUGHT, RELEVANCE)])
    given = asked.examples(names)
    examples = [example for example in given if any(map(visible, example.context))]
    apart = taught(asked, examples)
    learner = ViewsLearner(boxed_material(), lambda given: [*spoilt(given), *apart], LIGHT)
    with asked.stage("reading", None):
        lines = encode_rated(examples, learner)
    lines = replace(lines, encoded=blind(cast("ViewLines", lines.encoded)))
    if len(lines.sets) <= FOLDS:
        few = f"{len(lines.sets)} data sets with ratings of replies to contexts"
        raise UsageError(f"{few}; to choose settings without one takes {FOLDS + 1} or more. Name more files")
    nested, shipped = (np.full(len(lines.ratings), np.nan) for _ in range(2))
    chosen: dict[str, Settings] = {}
    with asked.stage("choosing and leaving out", STEPS * len(lines.sets)) as advance:
        judges = Judges(lines, asked.seed, advance)
        for name, own in lines.sets.items():
            if pieces.has(name):
                advance(STEPS)
            of_set = pieces.piece(name, partial(_asked_of, judges, name))
            chosen[name] = Settings(*(of_set[key].item() for key in Settings._fields))
            nested[own], shipped[own] = of_set["nested"], of_set["shipped"]
    return _found(lines, chosen, nested, shipped, asked.seed, len(apart))


def _asked_of(judges: Judges, name: str) -> dict[str, NDArray[Any]]:
    """What is chosen for a data set, and what both judges say of its lines."""
    chosen, own = choose(judges, name), judges.lines.sets[name]
    rest = others(judges.lines, own)
    said = {"nested": judges.said(chosen, rest, own), "shipped": judges.said(SHIPPED, rest, own)}
    return said | {key: np.array(value) for key, value in chosen._asdict().items()}


# Judges that are asked for of a set: in each fold with each defence and without each view, and two at its end.
STEPS = FOLDS * (len(DEFENCES) + len(DOUBTED)) + 2


@dataclass(frozen=True)
class Judges:
    """Judges with any settings, fitted on any of the lines; each is fitted once.

    Attributes:
        lines: rated lines, of a `ViewsLearner`.
        seed: decides what is random, of every judge alike.
        advance: called with 1 after each that is asked for.
        heads: those that were fitted, by what they read and the rows that they were fitted on.
    """

    lines: RatedLines
    seed: int
    advance: Advance
    heads: dict[tuple[float, str, bytes], Head] = field(default_factory=dict)

    def said(self, settings: Settings, rows: Rows, asked: Rows) -> FloatArray:
        """[n] what a judge that was fitted on the ascending `rows` says of the `asked` lines."""
        return self.mixed(settings, (settings.trees,), rows, asked)[0]

    def mixed(self, settings: Settings, mixtures: Sequence[float], rows: Rows, asked: Rows) -> list[FloatArray]:
        """[n] the same with each of some mixtures of trees and smooth part, which one fit serves."""
        learner, encoded = cast("ViewsLearner", self.lines.learner), cast("ViewLines", self.lines.encoded)
        columns = columns_without(learner.views, settings.without)
        key = settings.defence, settings.without, rows.tobytes()
        if key not in self.heads:
            if len(rows) < FEWEST:
                few = f"{len(rows)} lines of other conversations are left to fit on, and {FEWEST} are needed"
                raise UsageError(f"without some data sets {few}. Name more files")
            self.heads[key] = head_over(
                defended(encoded, settings.defence),
                self.lines.ratings,
                rows,
                learner.views,
                columns,
                learner.growth,
                np.random.default_rng(self.seed),
            )
        self.advance(1)
        return self.heads[key].mixed(encoded.features[np.ix_(asked, columns)], mixtures)


def choose(judges: Judges, name: str) -> Settings:
    """The settings that do best among the data sets but one: defence and mixture first, then with these the views.

    Args:
        judges: with any settings.
        name: of the data set none of whose lines is looked at.
    """
    folds = inner_folds(judges.lines, name, judges.seed)
    grid = [[SHIPPED._replace(defence=one, trees=share) for share in MIXTURES] for one in DEFENCES]
    best = _best({one: value for own in grid for one, value in _means(judges, own, folds).items()})
    fewer = [best[0]._replace(without=view) for view in DOUBTED]
    values = [best, *(pair for one in fewer for pair in _means(judges, [one], folds).items())]
    return _best(dict(values))[0]


class Fold(NamedTuple):
    """Some data sets, left out.

    Attributes:
        rows: ascending lines that judges are fitted on.
        asked: by data set, lines that they are asked about.
    """

    rows: Rows
    asked: Sequence[Rows]


def inner_folds(lines: RatedLines, name: str, seed: int) -> list[Fold]:
    """Folds of whole data sets without that of this `name`; no line of it, or of a conversation of it, is in any.

    All sets are dealt out at once, whichever is left out, so that judges fitted without a whole fold serve all its
    sets.
    """
    names = list(lines.sets)
    dealt = fold_groups(np.arange(len(names)), FOLDS, np.random.default_rng(seed))
    outside = others(lines, lines.sets[name])
    told = outside[ranked(lines)[outside]]
    found = []
    for number in range(FOLDS):
        inside = [lines.sets[names[place]] for place in np.flatnonzero(dealt == number).tolist()]
        left = np.concatenate([lines.sets[name], *inside])
        asked = [own for rows in inside if len(own := np.intersect1d(rows, told))]
        if asked:
            found.append(Fold(others(lines, np.unique(left)), asked))
    return found


def _means(judges: Judges, settings: Sequence[Settings], folds: Sequence[Fold]) -> dict[Settings, float]:
    """The mean Spearman over data sets by settings that differ in the mixture alone."""
    values: list[list[float]] = []
    for fold in folds:
        said = judges.mixed(settings[0], [one.trees for one in settings], fold.rows, np.concatenate(fold.asked))
        ends = np.cumsum([len(rows) for rows in fold.asked])[:-1]
        each = [np.split(scores, ends) for scores in said]
        for place, rows in enumerate(fold.asked):
            values.append([spearman(scores[place], judges.lines.ratings[rows]).value for scores in each])
    table = np.array(values).reshape(len(values), len(settings))
    known = table[np.isfinite(table).all(axis=1)]
    if not len(known):
        raise UsageError("no other data set has conversations of its own and ratings that differ. Name more files")
    means = known.mean(axis=0)
    return dict(zip(settings, means.tolist(), strict=True))


def _best(values: Mapping[Settings, float]) -> tuple[Settings, float]:
    """The settings with the highest value, the first of them where several have it."""
    return max(values.items(), key=lambda pair: pair[1])


def defended(encoded: ViewLines, factor: float) -> ViewLines:
    """The lines with what attacked rows and those of DailyDialog++ weigh multiplied; without them where that is 0."""
    if not factor:
        return undefended(encoded)
    return replace(encoded, added=encoded.added._replace(weights=encoded.added.weights * factor))


def columns_without(views: Views, view: str) -> NDArray[np.intp]:
    """What a head without references reads, but for the features of one view."""
    columns = columns_of(views, "context")
    return columns[[not views.columns[column].startswith(f"{view}.") for column in columns.tolist()]]


def _found(
    lines: RatedLines,
    chosen: Mapping[str, Settings],
    nested: FloatArray,
    shipped: FloatArray,
    seed: int,
    written: int,
) -> Found:
    """What both kinds of judges say, beside people."""
    told = agreements(lines, {"nested": nested, "shipped": shipped}, seed)
    sets = [
        OfSet(name, one, told[name, "nested"]["spearman"], told[name, "shipped"]["spearman"])
        for name, one in chosen.items()
        if (name, "nested") in told and (name, "shipped") in told
    ]
    return Found(
        sets,
        mean_over_sets(lines, nested, seed),
        mean_over_sets(lines, shipped, seed),
        ahead_over_sets(lines, nested, shipped, seed),
        (mean_within(lines, nested), mean_within(lines, shipped)),
        len(lines.ratings),
        written,
    )
