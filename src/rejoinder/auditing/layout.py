"""The results of an audit: sentences, gate, tables, charts and quoted replies."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rejoinder.auditing.attack import GOALS, Attack
from rejoinder.auditing.bias import PROPERTIES
from rejoinder.auditing.bias import STATISTICS as BIAS
from rejoinder.auditing.fooling import DROP, FEWEST, MOVE
from rejoinder.estimates import LEVEL, NAN, Estimate, Verdict, one, pick
from rejoinder.example import Example
from rejoinder.judges.domain import NOT_ENGLISH
from rejoinder.perturbations import Goal
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Block, Case, Cases, Chart, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About, Gate, Results
from rejoinder.report.tables import Cell, Column, Table, pivot, table
from rejoinder.report.written import DASH, count, interval, number, percent, pluralize, sentences
from rejoinder.scoring.domain import advice, without_domain
from rejoinder.scoring.noted import noted

SHARE = "share fooled"
_FOOLED = "fooled [low, high]"
Facts = Mapping[str, Mapping[str, Any]]  # about each attack, by name
Lines = Iterable[Mapping[str, Any]]
_FIRST = 12  # attacks in the chart of the first screen
_SHOWN = 3  # replies on a terminal
_WIDTH = 70  # characters of a reply in a line
_AGAINST = -0.3  # a correlation that judges have with reversed ratings, and length almost never
_TITLES: Mapping[Goal, str] = {
    Goal.WORSE: "Bad replies that score as good ones",
    Goal.NOT_WORSE: "Good replies that lose score",
    Goal.SAME: "Changes of nothing that move the score",
}
_STEPS = {prop.name: prop.step_text for prop in PROPERTIES}
_UNDECIDED = (Verdict.INCONCLUSIVE, Verdict.UNDEFINED)
_WORDS = {
    Verdict.ABOVE: "fooled",
    Verdict.BELOW: "holds",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.UNDEFINED: "inconclusive",
    Verdict.OUT_OF_DOMAIN: "out of domain",
}
PUBLISHED: Facts = json.loads((Path(__file__).parent / "sai2019.json").read_text(encoding="utf-8"))
"""Scores that ADEM gave to the replies of each attack, from 1 to 5; `better` is the share that scored better than the
original, `people` a mean rating of 150 replies. Source: tables 3 to 6 of Sai, Gupta, Khapra and Srinivasan (2019),
Re-evaluating ADEM: the released model on the training part of the Microsoft Social Media Conversation Corpus (Twitter,
three turns, replies that people rated 4 or higher)."""


def word(share: Estimate) -> str:
    """Return the verdict of an attack as people read it."""
    return _WORDS[share.verdict]


def attack_case(attack: Attack, original: Example, attacked: Example, before: float, after: float) -> Case:
    """Return a quoted reply that fooled the scorer."""
    texts = {"original": original.response, "attacked": attacked.response}
    replies = [(name.capitalize(), text.strip() or "(empty)") for name, text in texts.items()]
    values = {"attack": attack.name, "id": original.id, **texts, "before": before, "after": after}
    why, group = f"{number(before, 3)} → {number(after, 3)}", f"{attack.name}: {attack.about}"
    return Case(why, original.id or "a reply", original.context, replies, group=group, values=values)


def audit_results(
    scorer: str, estimates: Sequence[Estimate], cases: Sequence[Case], about: About, lines: Lines, *, gate: bool
) -> Results:
    """Return the results of an audit; `about.data` has the facts about each attack."""
    shares = pick(estimates, statistic=SHARE)
    outside = about.scorers[scorer]["out_of_domain"]
    hidden = {share.group for share in shares if share.verdict in (Verdict.BELOW, Verdict.OUT_OF_DOMAIN)}
    shown = [case for case in cases if case.values["attack"] not in hidden]
    return Results(
        command="audit",
        estimates=tuple(estimates),
        answer=_answer(scorer, estimates, about),
        warnings=_warnings(scorer, about),
        cases=tuple(shown),
        about=about,
        gate=_gate(shares, about.options["allowed"], outside) if gate else None,
        layout=_layout(scorer, estimates, shown, about, lines),
    )


def _gate(shares: Sequence[Estimate], allowed: float, outside: str) -> Gate:
    """Return whether no attack fools the scorer on more replies than are allowed.

    A gate without any decided verdict is not passed. Nor is one on replies that the scorer cannot judge.
    """
    reasons = [
        f"{share.group} fools it {percent(share.value)} of the time" for share in pick(shares, verdict=Verdict.ABOVE)
    ]
    if all(share.verdict in _UNDECIDED for share in shares):
        reasons.append("no attack has a verdict")
    if outside:
        reasons.append(advice(outside).removesuffix("."))
    text = f"gate {percent(allowed)}: {'not passed' if reasons else 'passed'}"
    return Gate(not reasons, f"{text} ({'; '.join(reasons)})" if reasons else text)


# sentences


def _answer(scorer: str, estimates: Sequence[Estimate], about: About) -> tuple[str, ...]:
    """Return the sentences of the answer."""
    shares, facts = pick(estimates, statistic=SHARE), about.scorers[scorer]
    undecided = pick(shares, verdict=_UNDECIDED)
    few = sum(share.n < FEWEST for share in undecided)
    related = one(estimates, statistic="pearson", group="")
    against = facts["higher_is_better"] is not None and related.known and related.value < _AGAINST and related.p < LEVEL
    warnings, replies = facts["warnings"], about.counts["replies"]
    return sentences(
        "auditing",
        "audit",
        scorer=scorer,
        outside=advice(facts["out_of_domain"]) if facts["out_of_domain"] else "",
        shares=shares,
        fooled=pick(shares, verdict=Verdict.ABOVE),
        holds=pick(shares, verdict=Verdict.BELOW),
        undecided=undecided,
        few=f"; {pluralize(few, 'attack')} had fewer than {FEWEST} replies" if few else "",
        goals=_goals(shares, about),
        biased=_biased(estimates),
        properties=sum(estimate.known for estimate in pick(estimates, statistic=BIAS[0])),
        counts=about.counts,
        options=about.options,
        against=related if against else Estimate(),
        directed=facts["higher_is_better"] is not None,
        spread=facts["spread"],
        not_english=2 * warnings.get(NOT_ENGLISH, 0) > replies,
    )


def _goals(shares: Sequence[Estimate], about: About) -> list[tuple[str, int, list[str], list[str]]]:
    """Return for each goal its title, the number of attacks, those that fool the scorer, and those that do not."""
    goal_of = {facts["attack"]: facts["goal"] for facts in about.data}
    goals = []
    for goal, title in _TITLES.items():
        of_goal = [share for share in shares if goal_of[share.group] == goal]
        fooled = sorted(pick(of_goal, verdict=Verdict.ABOVE), key=lambda share: -share.value)
        names = [f"{share.group} ({percent(share.value)})" for share in fooled]
        if of_goal:
            goals.append((title, len(of_goal), names, [share.group for share in pick(of_goal, verdict=Verdict.BELOW)]))
    return goals


def _biased(estimates: Sequence[Estimate]) -> list[str]:
    """Return the properties that the score goes with, the strongest first."""
    shown = [estimate for estimate in pick(estimates, statistic=BIAS[0]) if estimate.excludes()]
    points = {estimate.group: number(estimate.value) for estimate in pick(estimates, statistic=BIAS[1])}
    return [
        f"{prop.group} ({number(prop.value)}; {points[prop.group]} points for {_STEPS[prop.group]})"
        for prop in sorted(shown, key=lambda estimate: -abs(estimate.value))
    ]


def _warnings(scorer: str, about: About) -> tuple[str, ...]:
    """Return what to know before you trust the answer."""
    facts = about.scorers[scorer]
    fitted = ", ".join(facts["fitted_on"])
    counted = without_domain({scorer: facts["warnings"]}, [scorer] if facts["out_of_domain"] else [])
    return (
        *filter(None, [facts["facts"]]),
        *([f"{scorer} was fitted on lines of {fitted}. On other data it may do worse."] if fitted else []),
        *(f"{line}." for line in noted(counted, about.counts["replies"])),
    )


# the page


def _layout(scorer: str, estimates: Sequence[Estimate], cases: Sequence[Case], about: About, lines: Lines) -> Layout:
    """Return tables and charts."""
    shares, outside = pick(estimates, statistic=SHARE), about.scorers[scorer]["out_of_domain"]
    ordered = sorted(shares, key=lambda share: (not share.known, -share.value))
    facts: Facts = {each["attack"]: each for each in about.data}
    by_goal = {goal: [share for share in ordered if facts[share.group]["goal"] == goal] for goal in GOALS}
    sections = [
        *(Section(_TITLES[goal], _goal_blocks(goal, of_goal, facts)) for goal, of_goal in by_goal.items() if of_goal),
        Section("Scores", [_scores_table(estimates), _adem_table(estimates, facts)]),
        *([] if outside else [*_bias_section(estimates), *_geometry_section(estimates)]),
        *([Section("Worst replies", [Cases("", cases)])] if cases else []),
        *_inconclusive_section(shares, about),
    ]
    overview = _attacks_table(ordered, facts, ("what is done", "goal", "replies", _FOOLED, "verdict"), spare=("goal",))
    counts, spread = about.counts, about.scorers[scorer]["spread"]
    limits = {"drop": DROP, "move": MOVE, "fewest": FEWEST, "options": about.options}
    made = [*sentences("auditing", "made", counts=counts, spread=spread, **limits)]
    return Layout(
        title=f"What fools {scorer}",
        keys=[] if outside else _key_figures(scorer, shares, facts, counts),
        chart=None if outside else _chart(ordered[:_FIRST], "attacks", "The attacks that fool it most."),
        sections=sections,
        brief=[overview, _worst_lines(ordered, cases), Prose(made)],
        made=made,
        lines=lines,
    )


def card_blocks(results: Results) -> list[Block | None]:
    """Return what goes into the card of a judge."""
    layout = results.layout
    sections = [section for section in layout.sections if section.title in ("Bias", "Geometry")]
    blocks = [block for section in sections for block in section.blocks]
    return [Prose([*results.answer, *results.warnings]), layout.brief[0], *blocks, Prose(layout.made)]


def _key_figures(scorer: str, shares: Sequence[Estimate], facts: Facts, counts: Mapping[str, int]) -> list[KeyFigure]:
    """Return how many attacks fool the scorer, which one most, and the number of replies."""
    fooled = pick(shares, verdict=Verdict.ABOVE)
    figures = [KeyFigure(f"{len(fooled)} of {len(shares)}", "", "attacks fool it", f"by the scores of {scorer}")]
    if fooled:
        most = max(fooled, key=lambda share: share.value)
        figures.append(KeyFigure.of(most, most.group, facts[most.group]["about"], share=True))
    what = "reply" if counts["replies"] == 1 else "replies"
    return [*figures, KeyFigure(count(counts["replies"]), "", what, f"to {pluralize(counts['contexts'], 'context')}")]


def _chart(shares: Sequence[Estimate], name: str, caption: str) -> Chart | None:
    """Return a chart with a row for each attack."""
    kinds = {share.group: word(share) for share in shares}
    return intervals(name, shares, row="group", kinds=kinds, xlabel="Share of replies that fool it", caption=caption)


def _goal_blocks(goal: Goal, shares: Sequence[Estimate], facts: Facts) -> list[Block | None]:
    """Return the chart and the table of the attacks with one goal."""
    caption = "Skipped: replies that the attack could not change. Failed: replies without a score."
    columns = ("what is done", "ideal", "replies", _FOOLED, "verdict", "skipped", "failed")
    grid = _attacks_table(shares, facts, columns, spare=("ideal", "failed", "skipped"), caption=caption)
    in_domain = [share for share in shares if share.verdict is not Verdict.OUT_OF_DOMAIN]
    return [Prose([f"Each makes {GOALS[goal]}."]), _chart(in_domain, goal.replace(" ", "-"), ""), grid]


def _attacks_table(
    shares: Sequence[Estimate], facts: Facts, columns: Sequence[str], *, spare: Sequence[str], caption: str = ""
) -> Table:
    """Return a table with a row for each attack and the columns that were asked for."""

    def row(share: Estimate) -> list[Cell | str]:
        about = facts[share.group]
        cells: dict[str, Cell | str] = {
            "what is done": about["about"],
            "goal": about["goal"],
            "ideal": about["ideal"],
            "replies": Cell(count(share.n), value=share.n),
            _FOOLED: Cell(DASH, share.reason),
            "verdict": Cell(word(share), share.reason),
            "skipped": Cell(count(about["skipped"]), value=about["skipped"]),
            "failed": Cell(count(about["failed"]), about["why_failed"], about["failed"]),
        }
        if share.known:
            cells[_FOOLED] = Cell(interval(share, share=True), share.method, share.value)
        return [Cell(share.group, about["source"]), *(cells[name] for name in columns)]

    return table(("attack", *columns), map(row, shares), caption=caption)._replace(spare=tuple(spare))


def _column(title: str, statistic: str, style: str = "0.12", *, spare: bool = False) -> Column:
    """Return a column of a pivot; `style` is "0.12", "0.123", "12 %" or "n"."""
    writers: dict[str, Callable[[Estimate], str]] = {
        "0.12": lambda estimate: number(estimate.value),
        "0.123": lambda estimate: number(estimate.value, 3),
        "12 %": lambda estimate: percent(estimate.value),
        "n": lambda estimate: count(estimate.n),
    }
    return Column(title, {"statistic": statistic}, writers[style], spare)


def _scores_table(estimates: Sequence[Estimate]) -> Table | None:
    """Return the scores before and after each attack."""
    columns = [
        _column("replies", SHARE, "n"),
        _column("before", "original score, mean", "0.123"),
        _column("SD before", "original score, sd", "0.123", spare=True),
        _column("after", "attacked score, mean", "0.123"),
        _column("SD", "attacked score, sd", "0.123"),
        _column("lowest", "attacked score, lowest", "0.123", spare=True),
        _column("highest", "attacked score, highest", "0.123", spare=True),
        _column("within 1 SD", "attacked score, within 1 sd", "12 %", spare=True),
        _column("Pearson", "pearson with the original score"),
        _column("Spearman", "spearman with the original score", spare=True),
        _column("better", "share scored better", "12 %"),
        _column("AUC", "AUC", "0.123", spare=True),
    ]
    caption = (
        "Mean and standard deviation of the original and the attacked scores, the lowest and highest attacked score, "
        "the share of them within one standard deviation of their mean, the correlation of both, and the share that "
        "scores better than the original. AUC: how often an original scores better than an attacked reply."
    )
    measured = [estimate for estimate in estimates if estimate.by == "attack" and estimate.n]
    title = "Before and after"
    return pivot(measured, "group", columns, title=title, heading="attack", in_order=True, caption=caption)


def _adem_table(estimates: Sequence[Estimate], facts: Facts) -> Table | None:
    """Return the attacks of Sai et al. next to the published results for ADEM; None without any."""
    statistics = ("attacked score, mean", "attacked score, sd", "pearson with the original score")
    rows = []
    for share in pick(estimates, statistic=SHARE):
        if (adem := PUBLISHED.get(share.group)) is None or not share.n:
            continue
        ours = {estimate.statistic: estimate.value for estimate in pick(estimates, by="attack", group=share.group)}
        cells = [
            *(number(ours.get(name, NAN)) for name in statistics),
            percent(ours.get("share scored better", NAN)),
            *(number(adem.get(name, NAN)) for name in ("mean", "sd", "pearson")),
            percent(adem.get("better", NAN)),
            number(adem.get("people", NAN)),
        ]
        rows.append([share.group, facts[share.group]["ideal"], *cells])
    columns = ("mean", "SD", "Pearson", "better")
    header = ("attack", "ideal", *columns, *(f"ADEM {name}" for name in columns), "people")
    caption = (
        "ADEM: Sai et al. (2019), tables 3 to 5, the released model on Twitter, scores from 1 to 5; people: mean "
        "rating of 150 such replies. Replies and scale differ, so compare correlations and shares only."
    )
    grid = table(header, rows, title="Compared with ADEM, as published", caption=caption)
    return grid._replace(spare=("ADEM SD", "SD", "people")) if rows else None


def _bias_section(estimates: Sequence[Estimate]) -> list[Section]:
    """Return the table of bias; nothing without any value."""
    measured = [estimate for estimate in estimates if estimate.by == "property"]
    if not any(estimate.known for estimate in measured):
        return []

    def signed(estimate: Estimate) -> str:
        return interval(estimate, signed=True)

    columns = [
        _column("replies", BIAS[0], "n", spare=True),
        Column("partial correlation [low, high]", {"statistic": BIAS[0]}, signed),
        Column("points [low, high]", {"statistic": BIAS[1]}, signed),
        Column("for", {"statistic": BIAS[1]}, lambda estimate: _STEPS[estimate.group]),
    ]
    caption = (
        "Partial correlation of the score with a property of the reply, given the human rating, within data sets; and "
        "points of score for a step more of it at the same rating. 95 % intervals over resampled contexts. A property "
        "may measure quality that the rating misses."
    )
    return [Section("Bias", [pivot(measured, "group", columns, heading="property", in_order=True, caption=caption)])]


def _geometry_section(estimates: Sequence[Estimate]) -> list[Section]:
    """Return the band of the scores and the cones of the vectors; nothing without either."""
    blocks: list[Block | None] = []
    ratio, related = one(estimates, statistic="ratio of spreads"), one(estimates, statistic="pearson", group="")
    if ratio.known:
        names = {"scores": "sd of scores, share of the scale", "ratings": "sd of ratings, share of the scale"}
        spreads = {key: one(estimates, statistic=name).value for key, name in names.items()}
        blocks.append(Prose([*sentences("auditing", "band", ratio=ratio, related=related, **spreads)]))
    if cones := cone_table(estimates):
        blocks.append(cones)
    return [Section("Geometry", blocks)] if blocks else []


def cone_table(estimates: Sequence[Estimate]) -> Table | None:
    """Return the table of cones; None for a scorer without vectors."""
    columns = [
        _column("n", "conicity", "n"),
        Column("conicity [low, high]", {"statistic": "conicity"}),
        _column("spread", "spread of vectors", "0.123", spare=True),
        _column("length", "length of vectors", "0.123", spare=True),
    ]
    caption = (
        "Conicity: mean cosine of the vectors with their mean, 1 if all point in one direction (ADEM's responses: "
        "0.59, Sai et al. 2019); spread: variance of these cosines; length: mean length. A linear head can barely "
        "distinguish vectors that all point in one direction."
    )
    measured = [estimate for estimate in estimates if estimate.by == "vectors"]
    return pivot(measured, "group", columns, title="Vectors", heading="vectors", in_order=True, caption=caption)


def _inconclusive_section(shares: Sequence[Estimate], about: About) -> list[Section]:
    """Return the attacks without a verdict, and why."""
    reasons = [f"{share.group}: {share.reason}" for share in shares if word(share) == "inconclusive"]
    reasons += [f"{name}: {why}" for name, why in about.options["left_out"].items()]
    return [Section("Inconclusive, and why", [Prose(reasons, listed=True)])] if reasons else []


def _worst_lines(shares: Sequence[Estimate], cases: Sequence[Case]) -> Prose | None:
    """Return the worst reply of each attack that fools the scorer most, for a terminal."""
    first = {case.values["attack"]: case for case in reversed(cases)}
    worst = [first[share.group] for share in shares if share.verdict is Verdict.ABOVE and share.group in first]
    lines = []
    for case in worst[:_SHOWN]:
        texts = (textwrap.shorten(case.values[name], _WIDTH, placeholder=" ...") for name in ("original", "attacked"))
        original, attacked = (f'"{text}"' if text else "(empty)" for text in texts)
        lines.append(f"  {case.why}  {case.values['attack']}: {original} → {attacked}")
    return Prose(lines, "Worst replies:") if lines else None
