"""What a study says of one data set, as tables: one an analysis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.contrasts import ScorerContrast
from rejoinder.meta.data_card import DataCard
from rejoinder.meta.findings import Findings
from rejoinder.meta.standings import Standing
from rejoinder.documents.cells import count, measured, nothing, p, plain
from rejoinder.documents.document import Cell, Table
from rejoinder.stats.figure import Figure


def tables_of(found: Findings) -> list[Table]:
    """The tables of one data set, those that have no rows left out."""
    return [table for analysis in ANALYSES if (table := analysis(found)).rows]


def data_table(cards: Iterable[DataCard]) -> Table:
    """What the data are, one row a set."""
    header: tuple[str, ...] = ("data set", "rated", "contexts", "systems", "with reference", "copies of a reference")
    rows = tuple(
        (
            Cell(card.title),
            *map(count, (card.rated, card.contexts, card.systems, card.with_references, card.copies)),
            Cell("not stated or several" if card.scale is None else f"{card.scale[0]:g} to {card.scale[1]:g}"),
            plain(card.mean_rating, 2),
            plain(card.deviation, 2),
            plain(card.words, 1),
        )
        for card in cards
    )
    caption = "The rated lines that were used. Lines without a rating are not among them."
    header += ("scale", "mean rating", "standard deviation", "words a response")
    return Table("", caption, header, rows)


def figure(row: Agreement) -> Cell:
    """A correlation with its interval; where there is none, why."""
    note = f"n = {row.n:,}, {row.contexts:,} contexts; {row.method}" + (f"; {row.reason}" if row.reason else "")
    return measured(row, note=note, why=row.reason or row.method)


def named(scorer: str, found: Findings) -> Cell:
    """Return the cell with a scorer's name, which says where it cannot judge the lines."""
    outside = found.out_of_domain.get(scorer, "")
    return Cell(f"{scorer} (out of domain)", outside) if outside else Cell(scorer)


def _standings(found: Findings) -> Table:
    """The scorers."""
    header = (
        "scorer",
        "kind",
        "n",
        "Pearson [low, high]",
        "by chance",
        "p",
        "share of the ceiling",
        "Spearman [low, high]",
    )
    caption = (
        "Agreement with people line by line, best first. [low, high]: 95 % interval from resampled contexts; p: "
        "two-sided, takes lines as independent. By chance: where 95 % of scorers that have nothing to do with the "
        "ratings would fall on the same lines, contexts taken as wholes. Inside systems: mean of the correlations "
        "inside each system, so that knowing who spoke is worth nothing. Pairs: share of pairs of responses put in "
        "people's order, with ties (calibrated on these lines). Group: a new one begins where all above are shown to "
        "be ahead of all below (Holm, 5 %). Baselines that read ratings know people's ratings of other contexts and "
        "not a word of the response."
    )
    rows = tuple((named(one.scorer, found), *_standing(one)) for one in found.standings)
    return Table("Scorers", caption, (*header, "inside systems", "without copies", "pairs", "group"), rows)


def _standing(one: Standing) -> tuple[Cell, ...]:
    """The figures of one scorer."""
    note, why = "Pearson over the ceiling, which is taken as known", "no ceiling is known, or no correlation"
    return (
        Cell(one.kind),
        count(one.pooled.n, f"{one.pooled.unscored:,} rated lines unscored"),
        figure(one.pooled),
        chance_band(one.chance.high),
        p(one.pooled.p),
        measured(one.share, note=note, why=why, share=True),
        figure(one.spearman),
        figure(one.within),
        figure(one.without_copies),
        nothing(one.accuracy.reason) if one.accuracy.reason else plain(one.accuracy.value),
        count(one.cluster) if one.cluster else nothing("not ranked"),
    )


def _people(found: Findings) -> Table:
    """How far people agree."""
    people = found.people
    figures: Mapping[str, tuple[Figure, str]] = {
        "ceiling of Pearson": (people.ceiling, "root of the reliability of the mean rating"),
        "one rater against the others, Pearson": (people.one_rater, "what a person reaches where a scorer stands"),
        "one rater against the others, Spearman": (people.one_rater_spearman, ""),
        "two random halves of the raters, Pearson": (people.halves, "not stepped up to all raters"),
        "two random halves of the raters, Spearman": (people.halves_spearman, ""),
        "reliability of the mean rating": (people.mean, "ICC(1, k)"),
        "reliability of one rating": (people.single, "ICC(1)"),
    }
    rows = [(Cell(name), measured(one), Cell(what)) for name, (one, what) in figures.items()]
    caption = f"{people.ratings:,} single ratings of {people.items:,} responses. {people.method}; seed {people.seed}."
    return Table("People", caption, ("figure", "value", "what it is"), () if people.reason else tuple(rows))


def _contrasts(found: Findings) -> Table:
    """Scorers against each other."""
    header = ("pair", "n", "difference [low, high]", "p, Holm", "p", "p, Williams", "responses needed")
    caption = (
        "Difference of the Pearson correlations over the lines that both score. p: scorers swapped in random contexts; "
        "Holm: adjusted for the number of pairs. Williams' test takes lines as independent. Responses needed: rated "
        "responses in all on which a difference like this one would be told with probability 0.8."
    )
    rows = tuple(_contrast(one) for one in found.contrasts)
    return Table("Which differences are real", caption, header, rows)


def _contrast(one: ScorerContrast) -> tuple[Cell, ...]:
    """The row of one pair."""
    needed = nothing("cannot be forecast") if one.needed is None else count(one.needed)
    return (
        Cell(f"{one.first} less {one.second}"),
        count(one.n),
        _difference(one),
        p(one.p_adjusted),
        p(one.p),
        p(one.p_williams),
        needed,
    )


def _systems(found: Findings) -> Table:
    """The systems, and how well scorers rank them."""
    scorers = list(found.systems.rows[0].scores) if found.systems.rows else []
    how = "mean rating; 95% expanded percentile interval over resamples of contexts"
    rows = [
        (
            Cell(row.system),
            count(row.rating.n),
            measured(row.rating, 2, how),
            count(row.cluster),
            *(plain(row.scores[name]) for name in scorers),
        )
        for row in found.systems.rows
    ]
    if rows:
        pearson = {row.scorer: row for row in found.systems.agreements}
        blank = Cell("")
        soft = [plain(found.systems.soft_accuracy[name]) for name in scorers]
        rows.append(
            (
                Cell("Pearson over systems"),
                *[blank] * 3,
                *(figure(pearson[name]) if name in pearson else nothing() for name in scorers),
            )
        )
        rows.append((Cell("soft pairwise accuracy"), *[blank] * 3, *soft))
    caption = (
        "Mean rating and mean scores of the systems, best first by people. Systems of one group are not shown to "
        "differ (paired permutation over contexts, 5 %). Soft pairwise accuracy: how alike scores and ratings are in "
        "how sure they make us which of two systems is better; 0.5 is chance."
    )
    return Table("Systems", caption, ("system", "n", "rating [low, high]", "group", *scorers), tuple(rows))


def _lengths(found: Findings) -> Table:
    """The effect of length."""
    header = ("scores by", "n within", "n beyond", "mean within", "mean beyond", "difference [low, high]", "p")
    caption = (
        "Responses within six words of the nearest reference's length, and those beyond (Liu et al. 2016, table 5). "
        "p: Mann-Whitney, takes lines as independent. A scorer that punishes what people do not punish is led by "
        "length."
    )
    rows = tuple(
        (
            Cell(one.scorer),
            count(one.n_close),
            count(one.n_far),
            plain(one.mean_close),
            plain(one.mean_far),
            _difference(one),
            p(one.p),
        )
        for one in found.lengths
    )
    return Table("Length", caption, header, rows)


def chance_band(level: float) -> Cell:
    """The chance band of a correlation."""
    return nothing() if math.isnan(level) else Cell(f"±{level:.2f}", "", level)


def _difference(one: Figure) -> Cell:
    """A difference with its interval; where there is none, why."""
    return measured(one, 3, one.method, one.reason)


# The analyses of one data set, in the order in which they are told; a new one is a function and its place here.
ANALYSES: tuple[Callable[[Findings], Table], ...] = (
    _standings,
    _people,
    _contrasts,
    _systems,
    _lengths,
)
