"""A study of scorers against people, as a document."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.meta import FullStudy
from rejoinder.meta.disagreements import Case as Disagreement
from rejoinder.meta.findings import Findings
from rejoinder.meta.yardsticks import Kind
from rejoinder.documents.agreements import agreement_tables, partly_unscored, unscored
from rejoinder.documents.cells import measured, nothing
from rejoinder.documents.document import Block, Case, Cases, Cell, Document, Prose, Section, Table
from rejoinder.documents.over_sets import left_out_picture, left_out_table, nearness_table, over_sets_table
from rejoinder.documents.study_pictures import blind, key_figures, of_lines, of_scorers, of_set, of_systems
from rejoinder.documents.study_tables import data_table, tables_of
from rejoinder.scoring.noted import noted
from rejoinder.stats.figure import rows_of

_SPARE = ("Spearman [low, high]", "n", "sets")
_AGREES = {
    "agrees": "yes",
    "not shown": "inconclusive",
    "reversed": "the reverse",
    "out of domain": "out of domain",
}


def study(found: FullStudy, command: str = "") -> Document:
    """The document; `command` is the call that made the study."""
    names = ", ".join(one.card.title for one in found.sets)
    brief = _brief(found)
    return Document(
        title=f"Scorers against people: {names}",
        question=f"Which scorers agree with people on {names}?",
        answer=found.answer,
        keys=key_figures(found),
        picture=of_scorers(found),
        sections=_sections(found),
        made=_made(found),
        command=command,
        signatures={**found.study.signatures, **(found.baselines.signatures if found.baselines else {})},
        brief=brief,
        every=[*brief, *agreement_tables(found.study, found.titles), Prose(_notes(found))],
        results=list(rows_of(found)),
        record=found.to_dict(),
    )


# for a terminal


def _brief(found: FullStudy) -> list[Block]:
    """One table of people and of the scorers asked for, and what it rests on."""
    header, rows = _means(found) if found.over_sets else _one_set(found)
    lines = [row for row in found.study.agreements if row.level != "system"]
    notes = [*unscored(lines, found.titles), _lines(found), *partly_unscored(found.study)]
    return [*([Table("", "", header, tuple(rows), _SPARE)] if rows else []), Prose(notes)]


def _one_set(found: FullStudy) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """People, then the scorers, best first."""
    (one,) = found.sets
    people, rows = one.people, list[tuple[Cell, ...]]()
    if not people.reason:
        n, rater = Cell(f"{people.items:,}"), (measured(people.one_rater, 2), measured(people.one_rater_spearman, 2))
        rows.append((Cell("people: ceiling"), n, measured(people.ceiling, 2), nothing(), nothing()))
        rows.append((Cell("people: one rater"), n, *rater, nothing()))
    for row in one.standings:
        if _asked(found, row.scorer, row.kind) and row.pooled.known:
            figures = measured(row.pooled, 2), measured(row.spearman, 2)
            name = _name(row.scorer, row.kind)
            rows.append((name, Cell(f"{row.pooled.n:,}"), *figures, Cell(_AGREES[row.verdict])))
    return ("scorer", "n", "Pearson [low, high]", "Spearman [low, high]", "agreement"), rows


def _means(found: FullStudy) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """People, then the scorers, best first by their mean over data sets."""
    rows: list[tuple[Cell, ...]] = [
        (Cell(f"people: {one.scorer}"), Cell(str(one.sets)), Cell(f"{one.n:,}"), measured(one.pearson, 2), nothing())
        for one in found.nearness
        if one.kind == "people"
    ]
    kinds = {one.scorer: one.kind for one in found.whole.standings}
    for row in found.over_sets:
        if _asked(found, row.scorer, kinds[row.scorer]) and row.known:
            counts = Cell(str(found.sets_of(row.scorer))), Cell(f"{row.n:,}")
            name, verdict = _name(row.scorer, kinds[row.scorer]), Cell(_AGREES[found.verdicts[row.scorer]])
            rows.append((name, *counts, measured(row, 2), verdict))
    return ("scorer", "sets", "n", "Pearson [low, high]", "agreement"), rows


def _asked(found: FullStudy, scorer: str, kind: Kind) -> bool:
    """Whether a scorer was asked for or is a yardstick."""
    return scorer in found.asked or kind == "baseline"


def _name(scorer: str, kind: Kind) -> Cell:
    """The scorer's name; of a yardstick, that it is one."""
    return Cell(f"{scorer} (trivial)" if kind == "baseline" else scorer)


def _lines(found: FullStudy) -> str:
    """What the lines were."""
    lines = found.study
    copies = "left out" if lines.drop_copies else "counted in"
    said = f"; {lines.copies:,} responses that equal a reference word for word are {copies}" if lines.copies else ""
    return f"{lines.examples:,} lines, {lines.rated:,} of them rated and used{said}."


def _notes(found: FullStudy) -> list[str]:
    """What to read the tables of all statistics by, beside what stands under the first table."""
    lines = found.study
    return [
        *unscored([row for row in lines.agreements if row.level == "system"], found.titles),
        *(f"{line}." for line in noted(lines.notes, lines.examples)),
        f"[low, high]: 95 % expanded percentile interval over {lines.resamples:,} resamples of contexts, "
        f"seed {lines.seed}; p: two-sided, takes lines as independent.",
    ]


# for a page


def _sections(found: FullStudy) -> list[Section]:
    """All data sets together, each, and what they are."""
    several = bool(found.over_sets)
    over = [Section("Over all data sets", [nearness_table(found), over_sets_table(found)])] if several else []
    if found.left_out:
        blocks = [left_out_picture(found.left_out), left_out_table(found.left_out)]
        over.append(Section("One data set left out", [block for block in blocks if block]))
    data = Section("Data", [data_table(one.card for one in found.findings)])
    return [*over, *(_section(one, found, several=several) for one in found.findings), data]


def _section(one: Findings, found: FullStudy, *, several: bool) -> Section:
    """All that is said of one data set; where it is the only one, answer and picture stand on the first screen."""
    cases: dict[str, list[Case]] = {row.scorer: [] for row in blind(one)}
    for case in one.cases:
        if case.scorer in cases:
            cases[case.scorer].append(_case(case))
    shown = {name: own for name, own in cases.items() if own}
    missing = _missing(one)
    blocks: list[Block | None] = [
        Prose(one.answer) if several and one.answer else None,
        of_set(one, found) if several else None,
        *tables_of(one),
        Prose(missing, "Not there, and why", listed=True) if missing else None,
        of_lines(one),
        of_systems(one),
        Prose([str(count) for count in one.mistakes if count.scorer in shown and str(count)]) if shown else None,
        Cases("Where scorers and people disagree most", shown) if shown else None,
    ]
    return Section(one.card.title, [block for block in blocks if block is not None])


def _missing(one: Findings) -> list[str]:
    """What is not said of a data set, and why."""
    reasons: dict[str, list[str]] = {}
    for row in one.standings:
        for figure in (row.pooled, row.within):
            if figure.reason:
                reasons.setdefault(f"{figure.statistic}: {figure.reason}", []).append(row.scorer)
    said = [f"{reason} ({', '.join(names)})" for reason, names in reasons.items()]
    other = {
        "ceiling": one.people.reason,
        "systems": one.systems.reason,
    }
    return [*said, *(f"{what}: {reason}" for what, reason in other.items() if reason)]


def _case(one: Disagreement) -> Case:
    """A line that a scorer gets wrong."""
    many = f" (first of {len(one.references)})" if len(one.references) > 1 else ""
    return Case(
        "Scored far above people" if one.difference > 0 else "Scored far below people",
        f"rated {one.rating:.2f} (above {100 * one.rating_rank:.0f} % of lines), score {one.score:.3f} (above "
        f"{100 * one.score_rank:.0f} %)"
        + (f", moved from {one.explained.base:.2f} by {one.explained.words}" if one.explained else "")
        + f". {one.id}"
        + (f", {one.system}" if one.system else ""),
        one.context,
        [("Response", one.response), *((f"Reference{many}", text) for text in one.references[:1])],
    )


def _made(found: FullStudy) -> Sequence[str]:
    """What was read, and how figures came about."""
    lines = found.study
    copies = "left out" if lines.drop_copies else "counted in"
    return [
        f"{lines.examples:,} lines were read, {lines.rated:,} of them rated in “{lines.dimension}” and used; "
        f"{lines.copies:,} responses that equal a reference word for word are {copies}. Intervals: 95 % expanded "
        f"percentile intervals over {lines.resamples:,} resamples of whole contexts, seed {lines.seed}; expanded: the "
        "fewer contexts, the further out the quantiles (Hesterberg 2015). Ratings are means over raters. Correlations "
        "over all lines of a data set mix what is between systems with what is inside them.",
        *partly_unscored(lines),
    ]
