"""A full study as tables that HTML, Markdown and LaTeX are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from typing import NamedTuple

from rejoinder.humans.rated_set import PEOPLE
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.conclusions import Conclusion, SystemMean
from rejoinder.meta.contrasts import ScorerContrast
from rejoinder.meta.data_card import DataCard
from rejoinder.meta.findings import Findings
from rejoinder.meta.full_study import FullStudy
from rejoinder.meta.standings import Standing
from rejoinder.stats.figure import Figure
from rejoinder.stats.written import interval, number, p_value


class Cell(NamedTuple):
    """What a table shows at one place.

    Attributes:
        text: as it is read.
        note: how the figure came about, for hovering and for readers of the page's source; "" where that is plain.
        value: what the column is sorted by where it is a number; None sorts by text.
    """

    text: str
    note: str = ""
    value: float | None = None


class Table(NamedTuple):
    """A table with its caption.

    Attributes:
        key: short name without spaces, unlike that of any other table of its data set.
        title: its heading.
        caption: what it shows and how its figures were worked out.
        header: column names; the first column names the row.
        rows: cells, as many as there are columns.
    """

    key: str
    title: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def numeric(self, column: int) -> bool:
        """Whether a column holds figures, or dashes where there are none."""
        cells = [row[column] for row in self.rows]
        return any(cell.value is not None for cell in cells) and all(
            cell.value is not None or cell.text in ("", "–") for cell in cells
        )


def tables_of(found: Findings) -> list[Table]:
    """The tables of one data set, those that have no rows left out."""
    made = [
        _standings(found),
        _people(found),
        _contrasts(found),
        *_duel(found),
        _systems(found),
        _conclusions(found),
        _lengths(found),
        card_table([found.card]),
    ]
    return [table for table in made if table.rows]


def over_sets_table(study: FullStudy) -> Table:
    """The mean over data sets, with the correlation in each beside it; no rows where there is one set."""
    single = [one for one in study.findings if one is not study.findings[-1]] if study.over_sets else []
    known = {(one.card.dataset, row.scorer): row.pooled for one in single for row in one.standings}
    rows = tuple(
        (
            Cell(row.scorer),
            figure(row),
            _chance(study.chance[row.scorer]),
            _count(study.sets_of(row.scorer)),
            _count(row.n),
            *(_place(known, one, row.scorer) for one in single),
        )
        for row in study.over_sets
        if not math.isnan(row.value)
    )
    caption = (
        "Pearson correlation with people inside each data set, and its mean over the sets that have one. Means over "
        "different sets are not alike: look at the columns. [low, high]: 95 % interval from resampled contexts. By "
        "chance: where 95 % of scorers that have nothing to do with the ratings would fall."
    )
    header = (
        "scorer",
        "mean over data sets [low, high]",
        "by chance",
        "sets",
        "n",
        *(one.card.title for one in single),
    )
    return Table("sets", "Inside each data set", caption, header, rows)


def card_table(cards: Iterable[DataCard]) -> Table:
    """What the data are, one row a set."""
    header = ("data set", "rated", "contexts", "systems", "with reference", "copies of a reference")
    rows = tuple(
        (
            Cell(card.title),
            *map(_count, (card.rated, card.contexts, card.systems, card.with_references, card.copies)),
            Cell("not stated or several" if card.scale is None else f"{card.scale[0]:g} to {card.scale[1]:g}"),
            _plain(card.mean_rating, 2),
            _plain(card.deviation, 2),
            _plain(card.words, 1),
        )
        for card in cards
    )
    caption = "The rated lines that were used. Lines without a rating are not among them."
    return Table(
        "data", "Data", caption, (*header, "scale", "mean rating", "standard deviation", "words a response"), rows
    )


def figure(row: Agreement) -> Cell:
    """A correlation with its interval; where there is none, why."""
    if math.isnan(row.value):
        return Cell("–", row.reason or row.method)
    note = f"n = {row.n:,}, {row.contexts:,} contexts; {row.method}" + (f"; {row.reason}" if row.reason else "")
    return Cell(_interval(row.value, row.low, row.high), note, row.value)


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
    rows = tuple(map(_standing, found.standings))
    return Table("scorers", "Scorers", caption, (*header, "inside systems", "without copies", "pairs", "group"), rows)


def _standing(one: Standing) -> tuple[Cell, ...]:
    """The row of one scorer."""
    share = Cell("–", "no ceiling is known, or no correlation")
    if one.share.known:
        note = "Pearson over the ceiling, which is taken as known"
        share = Cell(interval(one.share, share=True), note, one.share.value)
    pairs = _plain(one.accuracy.value, 3) if not one.accuracy.reason else Cell("–", one.accuracy.reason)
    return (
        Cell(one.scorer),
        Cell(one.kind),
        Cell(f"{one.pooled.n:,}", f"{one.pooled.unscored:,} rated lines unscored", one.pooled.n),
        figure(one.pooled),
        _chance(one.chance.high),
        _p(one.pooled.p),
        share,
        figure(one.spearman),
        figure(one.within),
        figure(one.without_copies),
        pairs,
        _count(one.cluster) if one.cluster else Cell("–", "not ranked"),
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
    rows = [(Cell(name), Cell(interval(one), "", one.value), Cell(what)) for name, (one, what) in figures.items()]
    caption = f"{people.ratings:,} single ratings of {people.items:,} responses. {people.method}; seed {people.seed}."
    return Table("people", "People", caption, ("figure", "value", "what it is"), () if people.reason else tuple(rows))


def _contrasts(found: Findings) -> Table:
    """Scorers against each other."""
    header = ("pair", "n", "difference [low, high]", "p, Holm", "p", "p, Williams", "responses needed")
    caption = (
        "Difference of the Pearson correlations over the lines that both score. p: scorers swapped in random contexts; "
        "Holm: adjusted for the number of pairs. Williams' test takes lines as independent. Responses needed: rated "
        "responses in all on which a difference like this one would be told with probability 0.8."
    )
    rows = tuple(_contrast(one) for one in found.contrasts)
    return Table("pairs", "Which differences are real", caption, header, rows)


def _contrast(one: ScorerContrast) -> tuple[Cell, ...]:
    """The row of one pair."""
    needed = Cell("–", "cannot be forecast") if one.needed is None else _count(one.needed)
    return (
        Cell(f"{one.first} less {one.second}"),
        _count(one.n),
        _difference(one),
        _p(one.p_adjusted),
        _p(one.p),
        _p(one.p_williams),
        needed,
    )


def _systems(found: Findings) -> Table:
    """The systems, and how well scorers rank them."""
    scorers = list(found.systems.rows[0].scores) if found.systems.rows else []
    means = {(one.scorer, system.system): system for one in found.conclusions for system in one.systems}
    how = "mean rating; 95% expanded percentile interval over resamples of contexts"
    rows = [
        (
            Cell(row.system),
            _count(row.rating.n),
            Cell(_interval(row.rating.value, *row.rating.ends, 2), how, row.rating.value),
            _count(row.cluster),
            *(_system_mean(row.scores[name], means.get((name, row.system))) for name in scorers),
        )
        for row in found.systems.rows
    ]
    if rows:
        pearson = {row.scorer: row for row in found.systems.agreements}
        blank = Cell("")
        soft = [_plain(found.systems.soft_accuracy[name], 3) for name in scorers]
        rows.append(
            (
                Cell("Pearson over systems"),
                *[blank] * 3,
                *(figure(pearson[n]) if n in pearson else Cell("–") for n in scorers),
            )
        )
        rows.append((Cell("soft pairwise accuracy"), *[blank] * 3, *soft))
    caption = (
        "Mean rating and mean scores of the systems, best first by people. Systems of one group are not shown to "
        "differ (paired permutation over contexts, 5 %). Soft pairwise accuracy: how alike scores and ratings are in "
        "how sure they make us which of two systems is better; 0.5 is chance."
    )
    return Table("systems", "Systems", caption, ("system", "n", "rating [low, high]", "group", *scorers), tuple(rows))


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
            _count(one.n_close),
            _count(one.n_far),
            _plain(one.mean_close, 3),
            _plain(one.mean_far, 3),
            _difference(one),
            _p(one.p),
        )
        for one in found.lengths
    )
    return Table("length", "Length", caption, header, rows)


def _system_mean(value: float, known: SystemMean | None) -> Cell:
    """The mean score of a system, with its interval where there is one."""
    note = f"95% interval {known.mean.low:z.3f} to {known.mean.high:z.3f}, n = {known.mean.n:,}" if known else ""
    return _plain(value, 3)._replace(note=note)


def _duel(found: Findings) -> list[Table]:
    """Judge against metric: how often, on what lines, and some of these lines."""
    duel = found.duel
    if duel is None or not duel.known:
        return []
    first, second = duel.first, duel.second
    ties = duel.n - duel.n_first - duel.n_second
    caption = (
        f"{first} against {second}: {duel.chosen}. Of {duel.n:,} lines {first} is nearer to people's rating on "
        f"{duel.n_first:,}, {second} on {duel.n_second:,}, both are as near on {ties:,}: a share of "
        f"{interval(duel, share=True)} for {first}. {duel.method[:1].upper()}{duel.method[1:]}."
    )
    if duel.extremes:
        good, second_bad, first_good, first_bad, second_good = astuple(duel.extremes)
        caption += (
            f" Of {good:,} responses that people find good (top quarter of the scale), {second} finds {second_bad:,} "
            f"bad (bottom quarter; scores with the ratings' mean and variance), {first_good:,} of which {first} finds "
            f"good; {first} finds {first_bad:,} bad, {second_good:,} of which {second} finds good."
        )
    header = ("mean of", f"n, {first} nearer", f"n, {second} nearer", f"{first} nearer", f"{second} nearer")
    rows = tuple(
        (
            Cell(one.what),
            _count(one.n_first),
            _count(one.n_second),
            _plain(one.mean_first, 2),
            _plain(one.mean_second, 2),
            _difference(one.apart, 2),
        )
        for one in duel.traits
    )
    nearer = Table(
        "nearer", "Which is nearer to people, line by line", caption, (*header, "difference [low, high]"), rows
    )
    columns = ("line", "nearer", "rated", first, second, "response", "last turn", "reference", "system")
    lines = tuple(
        (
            *map(Cell, (one.id or "–", one.scorer)),
            *(_plain(value, 2) for value in (one.rating, one.first, one.second)),
            *(Cell(text or "–") for text in (one.response, one.last_turn, one.reference, one.system)),
        )
        for one in duel.examples
    )
    where = "Lines where one of the two is nearer by most. Scores are on the scale of the ratings, as above."
    return [nearer, Table("won", "Lines that one of them gets right", where, columns, lines)]


def _conclusions(found: Findings) -> Table:
    """What each scorer alone would say of the systems."""
    caption = (
        "What one would conclude from the means of each scorer alone (Liu et al. 2016, section 4.3). Two systems are "
        "told apart where the 95 % interval of the difference of their means leaves 0 out (contexts resampled, each "
        "pair by itself); people by the same lines. Best first; “>” where neighbours are told apart."
    )
    header = ("by", "n", "systems", "pairs", "as people", "neither", "only by it", "only by people", "reversed")
    rows = tuple(
        (
            Cell(one.scorer),
            Cell(f"{one.n:,}", one.method, one.n),
            Cell(_order(one.systems) or "–"),
            *map(_count, (one.pairs, one.same, one.neither, one.only_scorer, one.only_people, one.reversed)),
            Cell(_conclusion(one)),
        )
        for one in found.conclusions
    )
    return Table("alone", "Systems by one scorer alone", caption, (*header, "in words"), rows)


def _order(systems: Sequence[SystemMean]) -> str:
    """The systems, best first."""
    last = len(systems) - 1
    return "".join(
        one.system + ("" if place == last else " > " if one.ahead else ", ") for place, one in enumerate(systems)
    )


def _conclusion(one: Conclusion) -> str:
    """What follows from one scorer, in words."""
    if one.reason:
        return f"Nothing follows: {one.reason}."
    told = one.same + one.only_scorer + one.reversed
    if one.scorer == PEOPLE:
        return f"People tell {told} of {one.pairs} pairs of systems apart."
    said = f"{one.scorer} alone tells {told} of {one.pairs} pairs of systems apart"
    people = {"confirm": one.same, "see no difference in": one.only_scorer, "see the reverse in": one.reversed}
    if told:
        said += "; people " + ", ".join(f"{what} {count}" for what, count in people.items() if count)
    return said + (f". It misses {one.only_people} that people tell apart." if one.only_people else ".")


def _chance(level: float) -> Cell:
    """The chance band of a correlation."""
    return Cell("–") if math.isnan(level) else Cell(f"±{level:.2f}", "", level)


def _difference(one: Figure, digits: int = 3) -> Cell:
    """A difference with its interval; where there is none, why."""
    if math.isnan(one.value):
        return Cell("–", one.reason)
    return Cell(_interval(one.value, one.low, one.high, digits), one.method, one.value)


def _place(known: Mapping[tuple[str, str], Agreement], found: Findings, scorer: str) -> Cell:
    """The correlation of a scorer on a data set, or a dash."""
    row = known.get((found.card.dataset, scorer))
    return figure(row) if row else Cell("–", "not worked out inside a data set")


def _interval(value: float, low: float, high: float, digits: int = 3) -> str:
    """A value and its interval, without minus signs before zeros."""
    ends = "" if math.isnan(low) else f" [{low:z.2f}, {high:z.2f}]"
    return f"{value:z.{digits}f}{ends}"


def _plain(value: float, digits: int) -> Cell:
    """A number, or a dash."""
    return Cell(number(value, digits), "", None if math.isnan(value) else value)


def _count(value: int) -> Cell:
    """A whole number."""
    return Cell(f"{value:,}", "", value)


def _p(p: float) -> Cell:
    """A p-value, or a dash."""
    return Cell(p_value(p), "", None if math.isnan(p) else p)
