"""An audit as a document: the verdict in words, a bar a family of attacks, its figures, and the worst examples."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rejoinder.auditing.answer import replies_to
from rejoinder.auditing.attack import GOALS, Goal
from rejoinder.auditing.card import Audit, Gate
from rejoinder.auditing.results import DROP, FEWEST, MOVE, OUTSIDE, UNTOLD, Result
from rejoinder.data.folders import write_section
from rejoinder.errors import UsageError
from rejoinder.documents.audit_bias import bias_table
from rejoinder.documents.audit_geometry import geometry
from rejoinder.documents.audit_lines import attacked_line
from rejoinder.documents.cells import count, measured, nothing, plain, share
from rejoinder.documents.chart import Point, chart
from rejoinder.documents.document import Block, Case, Cases, Cell, Document, KeyFigure, Picture, Prose, Section, Table
from rejoinder.documents.markdown import body
from rejoinder.stats.figure import Figure, interval, number, percent, pluralize

_KINDS = {"judge": "it is fooled", "metric": "it holds", "baseline": "cannot be told"}
_LOOKS = {"fooled": "judge", "holds": "metric"}
_LIMITS = {"limit": "what is let pass"}
_FIRST = 12  # attacks on the first screen of a page
_EXAMPLES = 2  # of an attack, on a page
_SHOWN = 3  # examples on a terminal
_SAID = 70  # characters of a text in a line
_NAMES: dict[Goal, str] = {
    "bad scores high": "Bad replies that score as good ones",
    "good scores low": "Good replies that lose score",
    "no change": "Changes of nothing",
}
# What a row of CSV leaves to JSON.
_NESTED = ("worst", "published", "chosen")


def audit_document(found: Audit, files: Sequence[str] = (), command: str = "") -> Document:
    """The document.

    Args:
        found: the audit.
        files: what was attacked.
        command: the call that made it.
    """
    record = found.to_dict()
    goals = [goal for goal in GOALS if any(one.goal == goal for one in found.results)]
    sections = [
        *(Section(_NAMES[goal], _of_goal(found, goal)) for goal in goals),
        Section("Scores", [_scores(found), *_beside_adem(found)]),
        *_of_scores(found),
        Section("Worst examples", _examples(found)),
        Section("Not told, and why", _missing(found)),
    ]
    made, on = _made(found), f", on {', '.join(files)}" if files else ""
    return Document(
        title=f"What fools {found.scorer}{on}",
        question=f"What fools {found.scorer}?",
        answer=found.answer,
        about="; ".join(files),
        keys=_key_figures(found),
        picture=_picture(found, _most_fooled(found)[:_FIRST], "The attacks that fool it most."),
        sections=[section for section in sections if section.blocks],
        made=made,
        command=command,
        signatures={found.scorer: found.signature},
        brief=[_overview(found), *_worst_lines(found), Prose([*made, str(found.signature)])],
        results=[{key: value for key, value in one.items() if key not in _NESTED} for one in record["results"]],
        record=record,
        lines=(attacked_line(one, found.scorer) for one in found.attacked),
    )


def _of_scores(found: Audit) -> list[Section]:
    """What the scores go with and how they are spread; nothing where the scorer cannot judge the replies."""
    if found.out_of_domain:
        return []
    return [
        Section("Bias", bias_table(found.biases)),
        Section("Geometry", geometry(found.cones, found.breadth)),
    ]


def write_into_card(found: Audit, folder: str | Path, files: Sequence[str] = ()) -> None:
    """Put the answer and a row an attack into the card of the judge in `folder`, in the place of an older audit.

    Raises:
        UsageError: there is no such folder.
        MissingAsset, DataError, WriteError: it holds no judge, or its card cannot be written.
    """
    if not Path(folder).is_dir():
        raise UsageError(f"{folder} is no folder of a judge, so it has no card. Write the audit to a file: -o audit.md")
    blocks: list[Block] = [
        Prose([*found.answer, *([f"Attacked: {', '.join(files)}."] if files else [])]),
        _overview(found),
        *(block for section in _of_scores(found) for block in section.blocks),
        Prose(_made(found)),
    ]
    write_section(folder, "What fools it", body([Section("", blocks)]))


def gate_text(gate: Gate) -> str:
    """Whether the gate was passed, and why not."""
    said = f"gate {percent(gate.allowed)}: {'passed' if gate.passed else 'not passed, exit code 6'}"
    return f"{said} ({'; '.join(gate.reasons)})" if gate.reasons else said


def _made(found: Audit) -> list[str]:
    """How the figures came about, in sentences."""
    drawn = f", {found.examples:,} drawn of {found.given:,} lines" if found.examples < found.given - found.empty else ""
    return [
        f"{replies_to(found.examples, found.contexts)}{drawn}; bad replies stand beside {found.good:,} "
        f"that are {_good(found)}. Seed {found.seed}.",
        "Fooled: a bad reply scores higher than the good one (as high counts half); a good one loses more than "
        f"{DROP:g} spread; a change of nothing moves the score by more than {MOVE:g}. A spread is the standard "
        f"deviation of the scorer's scores, here {number(found.spread)}.",
        f"[low, high]: Wilson's 95 % interval with contexts as trials. Verdict: fooled where all of it is over "
        f"{percent(found.allowed)}, holds where none is; none with fewer than {FEWEST} replies.",
    ]


def _good(found: Audit) -> str:
    """Which replies bad ones are held against."""
    if not found.rated:
        return "taken to be good"
    scale = " and scale" if found.scaled == found.rated else f" and, of {found.scaled:,}, of the scale"
    unrated = ", or not rated" if found.rated < found.examples else ""
    return f"in the upper half of ratings{scale if found.scaled else ''}{unrated}"


# the first screen


def _key_figures(found: Audit) -> list[KeyFigure]:
    """How many attacks fool it, which most, and what that rests on."""
    if found.out_of_domain:
        return []
    fooled = [one for one in found.results if one.verdict == "fooled"]
    figures = [
        KeyFigure(f"{len(fooled)} of {len(found.results)}", "", "attacks fool it", f"by {found.scorer}'s scores")
    ]
    if fooled:
        most = max(fooled, key=lambda one: one.value)
        figures.append(KeyFigure.of(most, most.family, most.about, share=True))
    said = "reply" if found.examples == 1 else "replies"
    return [*figures, KeyFigure(f"{found.examples:,}", "", said, f"to {pluralize(found.contexts, 'context')}")]


def _most_fooled(found: Audit) -> list[Result]:
    """The attacks with a share, the highest first."""
    return sorted((one for one in found.results if one.known), key=lambda one: -one.value)


def _picture(found: Audit, results: Sequence[Result], seen: str) -> Picture | None:
    """A row an attack."""
    points = [
        Point(
            one.family,
            one,
            _LOOKS.get(one.verdict, "baseline"),
            f"{one.about}: {interval(one, share=True)} of {one.n:,}",
            limit=found.allowed,
        )
        for one in results
        if one.verdict != OUTSIDE
    ]
    if not points:
        return None
    drawn = chart("How often attacks fool it", points, axis="Share of replies that fool it", percent=True)
    return Picture(drawn, seen, _KINDS, _LIMITS)


# tables


def _of_goal(found: Audit, goal: Goal) -> list[Block]:
    """What the attacks of one goal did: words, a bar each, a row each."""
    own = [one for one in found.results if one.goal == goal]
    picture = _picture(
        found, [one for one in _most_fooled(found) if one.goal == goal], "The share of replies with its interval."
    )
    return [Prose([f"Each makes {GOALS[goal]}."]), *([picture] if picture else []), _table(own)]


def _table(results: Sequence[Result]) -> Table:
    """One row an attack, in the order of the battery."""
    return Table(
        "",
        "Skipped: replies that the attack could not change. Failed: replies without a score.",
        ("attack", "what is done", "ideal", "replies", "fooled [low, high]", "verdict", "skipped", "failed"),
        tuple(
            (
                Cell(one.family, one.source),
                Cell(one.about),
                Cell(one.ideal),
                count(one.n),
                _fooled(one),
                _verdict(one),
                count(one.skipped),
                count(one.failed, one.why_failed),
            )
            for one in results
        ),
        spare=("ideal", "failed", "skipped"),
        folded=("what is done",),
    )


def _fooled(one: Result) -> Cell:
    """The share, or why there is none."""
    return measured(one, note=one.method, why=one.reason, share=True)


def _verdict(one: Result) -> Cell:
    """The verdict, and why there is none."""
    return Cell(one.verdict, one.reason, strong=one.verdict == "fooled")


def _overview(found: Audit) -> Table:
    """What fits a terminal: all attacks, the one that fools most first, those that have no share last."""
    ordered = [*_most_fooled(found), *(one for one in found.results if not one.known)]
    rows = tuple(
        (Cell(one.family), Cell(one.about), Cell(one.goal), count(one.n), _fooled(one), _verdict(one))
        for one in ordered
    )
    header = ("attack", "what is done", "goal", "replies", "fooled [low, high]", "verdict")
    return Table("", "", header, rows, spare=("goal",), folded=("what is done",))


def _scores(found: Audit) -> Table:
    """What the scores did, attack by attack."""
    return Table(
        "Before and after",
        "Mean and standard deviation of the scores of the replies as they were, and of the attacked ones, with the "
        "lowest and highest of these; share of them within one standard deviation of their mean; correlation of both; "
        "share that scores better than the original; AUC: how often any original scores better than any attacked one.",
        (
            "attack",
            "replies",
            "before",
            "SD before",
            "after",
            "SD",
            "lowest",
            "highest",
            "within 1 SD",
            "Pearson",
            "Spearman",
            "better",
            "AUC",
        ),
        tuple(
            (
                Cell(one.family),
                count(one.n),
                plain(one.original_mean),
                plain(one.original_sd),
                plain(one.mean),
                plain(one.sd),
                plain(one.lowest),
                plain(one.highest),
                share(one.within),
                _correlation(one.pearson),
                _correlation(one.spearman),
                share(one.better),
                plain(one.auc),
            )
            for one in found.results
            if one.n
        ),
        spare=("SD before", "lowest", "highest", "within 1 SD", "Spearman", "AUC"),
    )


def _correlation(one: Figure) -> Cell:
    """A correlation, or why there is none."""
    return plain(one.value, 2) if one.known else nothing(one.reason)


def _beside_adem(found: Audit) -> list[Block]:
    """The families of Sai et al., with what they found of ADEM."""
    both = [(one, one.published) for one in found.results if one.published and one.n]
    if not both:
        return []
    columns = ("mean", "SD", "Pearson", "better")
    rows = tuple(
        (
            Cell(one.family),
            Cell(one.ideal),
            *(plain(value, 2) for value in (one.mean, one.sd, one.pearson.value)),
            share(one.better),
            *(nothing() if value is None else plain(value, 2) for value in (row.mean, row.sd, row.pearson)),
            nothing() if row.better is None else share(row.better),
            nothing() if row.people is None else plain(row.people, 2),
        )
        for one, row in both
    )
    header = ("attack", "ideal", *columns, *(f"ADEM {name}" for name in columns), "people")
    return [
        Table(
            "Beside ADEM, as published",
            "ADEM: Sai et al. (2019), tables 3 to 5, the released model on Twitter, scores from 1 to 5; people: mean "
            "rating of 150 such replies there. Other replies and another scale: what compares are correlations and "
            "shares.",
            header,
            rows,
            spare=("ADEM SD", "SD", "people"),
        )
    ]


# examples


def _examples(found: Audit) -> list[Block]:
    """The worst examples of each attack that fools the scorer."""
    groups = {
        f"{one.family}: {one.about}": [case_of(case) for case in one.worst[:_EXAMPLES]]
        for one in found.results
        if one.worst and one.verdict not in ("holds", OUTSIDE)
    }
    return [Cases("", groups)] if groups else []


def case_of(case: Any, names: tuple[str, str] = ("As it was", "Attacked")) -> Case:
    """An example as a quoted conversation; `names` is what its two replies are called."""
    return Case(
        f"{number(case.before)} → {number(case.after)}",
        case.id or "a reply",
        case.context,
        [(name, text.strip() or "(empty)") for name, text in zip(names, (case.original, case.attacked), strict=True)],
    )


def _worst_lines(found: Audit) -> list[Prose]:
    """The worst examples of the attacks that fool most, for a terminal."""
    worst = [one for one in _most_fooled(found) if one.verdict == "fooled" and one.worst][:_SHOWN]
    if not worst:
        return []
    lines = [
        f"  {number(case.before)} → {number(case.after)}  {name}: {_short(case.original)} → {_short(case.attacked)}"
        for name, case in ((one.family, one.worst[0]) for one in worst)
    ]
    return [Prose(["Worst examples:", *lines])]


def _short(text: str) -> str:
    """A text in quotes, cut for a line of a terminal."""
    said = textwrap.shorten(text, _SAID, placeholder=" ...") if text.strip() else ""
    return f'"{said}"' if said else "(empty)"


def _missing(found: Audit) -> list[Block]:
    """The attacks without a verdict, and why."""
    said = [f"{one.family}: {one.reason}" for one in found.results if one.verdict == UNTOLD]
    said += [f"{name}: {why}" for name, why in found.left_out.items()]
    return [Prose(said, listed=True)] if said else []
