"""What people's ratings are worth, as a document: agreement, raters, systems, pace, lines to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rejoinder.data.examples import to_record
from rejoinder.humans.agreement import OfRater, Pairwise, RaterAgreement
from rejoinder.meta.rating_results import Disagreement, RatingStudy, SetRatings
from rejoinder.meta.replacement import Alternative
from rejoinder.documents.cells import count, measured, nothing, p, plain, share
from rejoinder.documents.chart import Mark, Point, chart
from rejoinder.documents.document import Block, Case, Cases, Cell, Document, KeyFigure, Picture, Prose, Section, Table
from rejoinder.stats.figure import Figure, pluralize

PAIRS = 30  # rows of a table of pairs
_RATERS = 50  # rows of a table of raters that a scorer is set against
_QUESTION = "How far do the people who rated agree?"
_STATISTICS = {
    "alpha_interval": "Krippendorff's alpha, interval",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "kappa_quadratic": "median pairwise kappa, quadratic",
    "kappa_linear": "median pairwise kappa, linear",
    "kappa": "median pairwise kappa, unweighted",
    "spearman": "median pairwise Spearman",
    "icc_1": "ICC(1, 1), one rating",
    "icc_1k": "ICC(1, k), mean of a line",
    "icc_2": "ICC(2, 1), agreement, one rating",
    "icc_2k": "ICC(2, k), agreement, mean of all raters",
    "icc_3": "ICC(3, 1), consistency, one rating",
    "icc_3k": "ICC(3, k), consistency, mean of all raters",
    "halves": "random halves, Pearson",
    "halves_spearman": "random halves, Spearman",
}
_PAIRWISE = {
    "kappa_quadratic": "kappa, quadratic",
    "kappa_linear": "kappa, linear",
    "kappa": "kappa, unweighted",
    "spearman": "Spearman",
}
_SPARE = ("kappa, unweighted", "kappa, linear", "spread", "Spearman")


def rating_report(found: RatingStudy, command: str = "") -> Document:
    """The document; `command` is the call that made the study."""
    names = ", ".join(one.title for one in found.sets)
    record, notes = found.to_dict(), notes_of(found)
    several = len(found.sets) > 1
    return Document(
        title=f"{_QUESTION[:-1]} on {names}?",
        question=_QUESTION,
        answer=found.answer,
        keys=_keys(found.sets[0]),
        picture=_picture(found.sets[0]),
        sections=[
            Section(f"{one.title}: {title}" if several else title, blocks)
            for one in found.sets
            for title, blocks in _parts(one)
        ],
        made=notes,
        command=command,
        signatures=found.signatures,
        brief=[*(table for one in found.sets for table in _brief(one, several=several)), Prose(notes)],
        results=record["results"],
        record=record,
        lines=map(to_record, found.lines),
    )


def notes_of(found: RatingStudy) -> list[str]:
    """What was counted, what was not, and how."""
    said = list(found.names)
    if found.checks:
        verb = "checks attention and is" if found.checks == 1 else "check attention and are"
        said.append(f"{pluralize(found.checks, 'line')} {verb} in no figure.")
    if found.unrated:
        said.append(f"{pluralize(found.unrated, 'line')} without a single rating.")
    for one in found.sets:
        agreed = one.agreement
        if agreed.again:
            said.append(
                f"{one.title}: {pluralize(agreed.again, 'rating')} left out, of lines that their rater had rated."
            )
        if agreed.nameless:
            said.append(
                f"{one.title}: {pluralize(agreed.nameless, 'rating')} without a rater left out beside named ones."
            )
        if not agreed.named and not agreed.reason:
            said.append(f"{one.title}: raters are not named; the ratings of one place in the lines stand for one.")
    return [
        *said,
        f"[low, high]: 95 % expanded percentile interval over {found.resamples:,} resamples of contexts "
        f"(ICC and halves: at most 200), seed {found.seed}. Kappa of a rater: with all others, over shared lines; "
        "pairs: of two raters who share ten lines or more.",
    ]


# the first screen


def _keys(one: SetRatings) -> list[KeyFigure]:
    """Agreement, the reliability of a mean, and what that rests on."""
    agreed = one.counting
    keys = []
    if agreed.alpha_interval.known:
        keys.append(KeyFigure.of(agreed.alpha_interval, "Krippendorff's alpha", "0 is chance, 1 full agreement"))
    if agreed.icc_1k.known:
        keys.append(KeyFigure.of(agreed.icc_1k, "reliability of a line's mean", "ICC(1, k)"))
    people = "raters" if agreed.named else "ratings of a line at most"
    keys.append(KeyFigure(f"{agreed.raters:,}", "", people, f"{agreed.ratings:,} ratings of {agreed.lines:,} lines"))
    if one.excluded:
        keys.append(KeyFigure(f"{len(one.excluded):,}", "", "raters left out", "by rule; listed below"))
    return keys


def _picture(one: SetRatings) -> Picture | None:
    """The kappa of each rater with the others; None where nobody is named."""
    rows = sorted((row for row in one.agreement.by_rater if row.kappa_quadratic.known), key=_by_kappa)
    if not rows:
        return None
    out = {who.rater for who in one.excluded}
    points = [
        Point(row.rater, row.kappa_quadratic, "baseline" if row.rater in out else "judge", _told(row))
        for row in rows[:40]
    ]
    drawn = chart("Raters", points, [Mark("chance", Figure(value=0.0))], axis="Quadratic kappa with the other raters")
    return Picture(
        drawn,
        f"{pluralize(len(rows), 'rater')}, of whom {len(out)} do not count.",
        {"judge": "counts", "baseline": "left out"},
        {"mark": "agreement by chance"},
    )


def _by_kappa(row: OfRater) -> float:
    """Best first."""
    return -row.kappa_quadratic.value


def _told(row: OfRater) -> str:
    """What is said of a rater."""
    return f"{row.ratings:,} ratings, {row.n:,} beside those of others"


# tables


def _parts(one: SetRatings) -> Iterator[tuple[str, list[Block]]]:
    """The sections of a data set."""
    yield "Agreement", [_agreement(one)]
    if one.agreement.by_rater:
        yield "Raters", [_raters(one), *([_excluded(one)] if one.excluded else [])]
    if one.agreement.by_pair:
        yield "Pairs of raters", [_pairs(one.agreement)]
    if one.systems:
        yield "Systems", [_systems(one)]
    if one.alternatives:
        yield "May a scorer stand in for a rater?", [_alternatives(one), *map(_against, one.alternatives)]
    if one.pace:
        yield "Pace", [_pace(one)]
    if one.disagreements:
        yield "Lines on which raters are far apart", [Cases("", {"": [_case(row) for row in one.disagreements]})]


def _brief(one: SetRatings, *, several: bool) -> list[Table]:
    """The tables of a terminal."""
    tables = [_agreement(one), *([_raters(one)] if one.agreement.by_rater else [])]
    tables += [_excluded(one)] if one.excluded else []
    tables += [_systems(one)] if one.systems else []
    tables += [_alternatives(one)] if one.alternatives else []
    return [table._replace(title=f"{one.title}: {table.title}") if several else table for table in tables]


def _agreement(one: SetRatings) -> Table:
    """The figures of all raters, and of those who count."""
    groups = [("all raters", one.agreement), *([("those who count", one.kept)] if one.kept else [])]
    rows = tuple(
        (Cell(said), *(_figure(getattr(agreed, name), agreed) for _, agreed in groups))
        for name, said in _STATISTICS.items()
        if any(getattr(agreed, name).known for _, agreed in groups)
    )
    counts = (
        (Cell("raters"), *(count(agreed.raters) for _, agreed in groups)),
        (Cell("lines"), *(count(agreed.lines) for _, agreed in groups)),
        (Cell("ratings"), *(count(agreed.ratings) for _, agreed in groups)),
    )
    missing = dict.fromkeys(
        figure.reason for name in _STATISTICS if (figure := getattr(one.counting, name)).reason and not figure.known
    )
    notes = [f"Two-way ICC: {why}." for why in missing if "rated by all" in why]
    return Table(
        "Agreement",
        "How far people agree beyond chance: 0 is chance, 1 full agreement.",
        ("", *(name for name, _ in groups)),
        rows + counts,
        notes=notes,
    )


def _figure(figure: Figure, agreed: RaterAgreement) -> Cell:
    """A figure with its interval."""
    return measured(figure, note=f"n = {figure.n:,}; {figure.method}", why=figure.reason or agreed.reason)


def _raters(one: SetRatings) -> Table:
    """One row a rater, best first."""
    out = {who.rater for who in one.excluded}
    trust = bool(one.competence)
    rows = tuple(
        (
            Cell(row.rater),
            count(row.ratings),
            plain(row.mean, 2),
            plain(row.spread, 2),
            *_pairwise(row),
            *([plain(one.competence[row.rater]) if row.rater in one.competence else nothing()] if trust else []),
            Cell("no" if row.rater in out else "yes", strong=row.rater in out),
        )
        for row in sorted(one.agreement.by_rater, key=lambda row: (not row.kappa_quadratic.known, _by_kappa(row)))
    )
    header = ("rater", "ratings", "mean", "spread", *_PAIRWISE.values(), *(["competence"] if trust else []), "counts?")
    caption = "Each with all others, over lines that they share; Spearman: with the mean of the line's other ratings."
    return Table("Raters", caption, header, rows, _SPARE)


def _pairwise(row: Pairwise) -> Iterable[Cell]:
    """The figures of a rater, or of two."""
    figures = (getattr(row, name) for name in _PAIRWISE)
    return [measured(one, note=f"n = {one.n:,}", why=one.reason, digits=2) for one in figures]


def _excluded(one: SetRatings) -> Table:
    """Whose ratings stand aside."""
    rows = tuple((Cell(who.rater), count(who.ratings), Cell(who.why)) for who in one.excluded)
    return Table("Left out", "Ratings stay in the file, aside.", ("rater", "ratings", "why"), rows, folded=("why",))


def _pairs(agreed: RaterAgreement) -> Table:
    """Two raters a row, those with most shared lines first."""
    pairs = sorted(agreed.by_pair, key=lambda pair: -pair.n)
    rows = tuple((Cell(pair.rater), Cell(pair.other), count(pair.n), *_pairwise(pair)) for pair in pairs[:PAIRS])
    more = [f"{len(pairs) - PAIRS:,} more pairs stand in the JSON."] if len(pairs) > PAIRS else []
    caption = "Two raters who share ten lines or more."
    return Table("", caption, ("rater", "other", "lines", *_PAIRWISE.values()), rows, _SPARE, notes=more)


def _systems(one: SetRatings) -> Table:
    """One row a system, best first."""
    rows = tuple(
        (
            Cell(row.system),
            count(row.n),
            measured(row, digits=2),
            plain(row.spread, 2),
            *(share(part) for part in row.shares),
        )
        for row in one.systems
    )
    values = tuple(f"{value:g}" for value in one.values)
    caption = "Mean over lines of the rating that was made of each; below the values: their share of single ratings."
    return Table("Systems", caption, ("system", "lines", "mean", "spread", *values), rows, tuple(reversed(values)))


def _alternatives(one: SetRatings) -> Table:
    """One row a scorer, last the mean rating of other contexts."""
    rows = tuple(
        (
            Cell(found.scorer),
            count(found.winning.n),
            share(found.winning.value),
            measured(found.advantage, why=found.reason),
            Cell("not known" if found.reason else "yes" if found.passes else "no", found.reason),
        )
        for found in one.alternatives
    )
    caption = (
        "The alternative annotator test (Calderon et al. 2025): the share of raters that a scorer beats, with an "
        f"epsilon of {one.alternatives[0].epsilon:g}, and how often it lies as near to the other raters of a line, or "
        "nearer. Scores are made ratings by a straight line fitted on other contexts. It means little "
        "where the mean rating of other contexts, which knows nothing of a reply, passes too."
    )
    return Table("Stand-ins", caption, ("scorer", "raters", "beaten", "advantage [low, high]", "may stand in?"), rows)


def _against(found: Alternative) -> Table:
    """A scorer against each rater."""
    rows = tuple(
        (
            Cell(row.rater),
            count(row.n),
            measured(row),
            plain(row.rater_share),
            p(row.p_adjusted, f"not adjusted {row.p:.3g}"),
            Cell("yes" if row.beaten else "no"),
        )
        for row in found.by_rater[:_RATERS]
    )
    more = (
        [f"{len(found.by_rater) - _RATERS:,} more raters stand in the JSON."] if len(found.by_rater) > _RATERS else []
    )
    header = ("rater", "lines", "scorer as near or nearer", "rater as near or nearer", "p", "beaten?")
    caption = "p: of the rater being ahead by epsilon or more, by Benjamini and Yekutieli for the number of raters."
    return Table(f"{found.scorer} against each rater", caption, header, rows, notes=more)


def _pace(one: SetRatings) -> Table:
    """One row a rater, the quickest first."""
    rows = tuple(
        (Cell(row.rater), count(row.n), plain(row.median, 1), plain(row.quickest, 1))
        for row in sorted(one.pace, key=lambda row: row.median)
    )
    caption = "Seconds a reply; a tenth of a rater's replies took the last column's or less."
    return Table("", caption, ("rater", "replies", "median", "quickest tenth"), rows)


def _case(one: Disagreement) -> Case:
    """A line to read."""
    given = ", ".join(f"{rater} {value:g}" for rater, value in one.given)
    return Case(
        f"{one.given[0][1]:g} to {one.given[-1][1]:g}", given, one.context, [(one.system or "reply", one.response)]
    )
