"""The results of an audit: sentences, gate, tables, charts and quoted replies."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rejoinder.auditing.attack import BAD, GOALS, GOOD, SAME, Attack, Goal
from rejoinder.auditing.bias import PROPERTIES
from rejoinder.auditing.bias import STATISTICS as BIAS
from rejoinder.auditing.fooling import DROP, FEWEST, MOVE
from rejoinder.auditing.published import PUBLISHED
from rejoinder.estimates import LEVEL, Estimate, Verdict, one, pick
from rejoinder.example import Example
from rejoinder.judges.notes import NOT_ENGLISH
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Block, Case, Cases, Chart, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About, Gate, Results
from rejoinder.report.tables import Cell, Column, Table, pivot, table
from rejoinder.report.written import DASH, count, interval, number, percent, pluralize, sentences
from rejoinder.scoring.domain import advice, without_domain
from rejoinder.scoring.noted import noted

SHARE = "share fooled"
_FIRST = 12  # attacks in the chart of the first screen
_NAMED = 4  # names in a sentence
_SHOWN = 3  # replies on a terminal
_WIDTH = 70  # characters of a reply in a line
_AGAINST = -0.3  # a correlation that judges have with reversed ratings, and length hardly ever
_TITLES: Mapping[Goal, str] = {
    BAD: "Bad replies that score as good ones",
    GOOD: "Good replies that lose score",
    SAME: "Changes of nothing that move the score",
}
_WORDS = {
    Verdict.ABOVE: "fooled",
    Verdict.BELOW: "holds",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.UNDEFINED: "inconclusive",
    Verdict.OUT_OF_DOMAIN: "out of domain",
}


def word(share: Estimate) -> str:
    """Return the verdict of an attack as people read it."""
    return _WORDS[share.verdict]


def percent_interval(estimate: Estimate) -> str:
    """Return a share with its interval in percent."""
    return interval(estimate, share=True)


def attack_case(attack: Attack, original: Example, attacked: Example, before: float, after: float) -> Case:
    """Return a reply that fooled the scorer, as a quoted line."""
    replies = [(name, text.strip() or "(empty)") for name, text in _both(original, attacked)]
    values = {"attack": attack.name, "id": original.id, "original": original.response, "attacked": attacked.response}
    return Case(
        f"{number(before, 3)} → {number(after, 3)}",
        original.id or "a reply",
        original.context,
        replies,
        group=f"{attack.name}: {attack.about}",
        values={**values, "before": before, "after": after},
    )


def _both(original: Example, attacked: Example) -> list[tuple[str, str]]:
    """Return the two replies with their names."""
    return [("Original", original.response), ("Attacked", attacked.response)]


def audit_results(
    scorer: str,
    estimates: Sequence[Estimate],
    cases: Sequence[Case],
    about: About,
    lines: Iterable[Mapping[str, Any]],
    *,
    gate: bool,
) -> Results:
    """Return the results of an audit.

    Args:
        scorer: its name.
        estimates: of attacks, bias and geometry.
        cases: the replies that fooled the scorer most.
        about: see `About`; `data` has the facts about each attack.
        lines: every attacked reply as a record.
        gate: whether a gate was asked for.
    """
    shares = pick(estimates, statistic=SHARE)
    facts = about.scorers[scorer]
    outside = facts["out_of_domain"]
    shown = [case for case in cases if _verdict_of(case, shares) not in (Verdict.BELOW, Verdict.OUT_OF_DOMAIN)]
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


def _verdict_of(case: Case, shares: Sequence[Estimate]) -> Verdict:
    """Return the verdict of the attack that a case belongs to."""
    return one(shares, group=case.values["attack"]).verdict


def _gate(shares: Sequence[Estimate], allowed: float, outside: str) -> Gate:
    """Return whether no attack fools the scorer on more replies than are allowed.

    A gate without any decided verdict is not passed. Nor is one on replies that the scorer cannot judge.
    """
    reasons = [
        f"{share.group} fools it {percent(share.value)} of the time" for share in pick(shares, verdict=Verdict.ABOVE)
    ]
    undecided = {Verdict.INCONCLUSIVE, Verdict.UNDEFINED}
    if all(share.verdict in undecided for share in shares):
        reasons.append("no attack has a verdict")
    if outside:
        reasons.append(advice(outside).removesuffix("."))
    text = f"gate {percent(allowed)}: {'not passed' if reasons else 'passed'}"
    return Gate(not reasons, f"{text} ({'; '.join(reasons)})" if reasons else text)


# sentences


def _answer(scorer: str, estimates: Sequence[Estimate], about: About) -> tuple[str, ...]:
    """Return the sentences of the answer."""
    shares, facts = pick(estimates, statistic=SHARE), about.scorers[scorer]
    undecided = [share for share in shares if share.verdict in (Verdict.INCONCLUSIVE, Verdict.UNDEFINED)]
    few = sum(share.n < FEWEST for share in undecided)
    related = one(estimates, statistic="pearson", group="")
    against = facts["directed"] and related.known and related.value < _AGAINST and related.p < LEVEL
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
        directed=facts["directed"],
        spread=facts["spread"],
        not_english=2 * warnings.get(NOT_ENGLISH, 0) > replies,
        shortened=_shortened,
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
    steps = {prop.name: prop.step_text for prop in PROPERTIES}
    shown = [estimate for estimate in pick(estimates, statistic=BIAS[0]) if estimate.excludes()]
    return [
        f"{estimate.group} ({number(estimate.value)}; "
        f"{number(one(estimates, statistic=BIAS[1], group=estimate.group).value)} points for {steps[estimate.group]})"
        for estimate in sorted(shown, key=lambda estimate: -abs(estimate.value))
    ]


def _shortened(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _warnings(scorer: str, about: About) -> tuple[str, ...]:
    """Return what to know before you trust the answer."""
    facts = about.scorers[scorer]
    fitted = ", ".join(facts["fitted"])
    counted = without_domain({scorer: facts["warnings"]}, [scorer] if facts["out_of_domain"] else [])
    return (
        *filter(None, [facts["facts"]]),
        *([f"{scorer} was fitted on lines of {fitted}. On other data it may do worse."] if fitted else []),
        *(f"{line}." for line in noted(counted, about.counts["replies"])),
    )


# the page


def _layout(
    scorer: str, estimates: Sequence[Estimate], cases: Sequence[Case], about: About, lines: Iterable[Mapping[str, Any]]
) -> Layout:
    """Return tables and charts."""
    shares, outside = pick(estimates, statistic=SHARE), about.scorers[scorer]["out_of_domain"]
    ordered = sorted(shares, key=lambda share: (not share.known, -share.value))
    facts = {each["attack"]: each for each in about.data}
    overview = _attacks_table(ordered, facts, ("what is done", "goal", "replies", "verdict"), spare=("goal",))
    about_scores = [] if outside else [*_bias_section(estimates), *_geometry_section(estimates)]
    sections = [
        *(
            Section(
                _TITLES[goal], _goal_blocks([share for share in ordered if facts[share.group]["goal"] == goal], facts)
            )
            for goal in GOALS
            if any(each["goal"] == goal for each in about.data)
        ),
        Section("Scores", [_scores_table(estimates), _adem_table(estimates, facts)]),
        *about_scores,
        *([Section("Worst replies", [Cases("", cases)])] if cases else []),
        *_inconclusive_section(shares, about),
    ]
    made = _made(scorer, about)
    return Layout(
        title=f"What fools {scorer}",
        keys=[] if outside else _key_figures(scorer, shares, about),
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


def _key_figures(scorer: str, shares: Sequence[Estimate], about: About) -> list[KeyFigure]:
    """Return how many attacks fool the scorer, which one most, and the number of replies."""
    fooled = pick(shares, verdict=Verdict.ABOVE)
    figures = [KeyFigure(f"{len(fooled)} of {len(shares)}", "", "attacks fool it", f"by the scores of {scorer}")]
    if fooled:
        most = max(fooled, key=lambda share: share.value)
        text = next(facts["about"] for facts in about.data if facts["attack"] == most.group)
        figures.append(KeyFigure.of(most, most.group, text, share=True))
    replies, contexts = about.counts["replies"], about.counts["contexts"]
    what = "reply" if replies == 1 else "replies"
    return [*figures, KeyFigure(count(replies), "", what, f"to {pluralize(contexts, 'context')}")]


def _chart(shares: Sequence[Estimate], name: str, caption: str) -> Chart | None:
    """Return a chart with a row for each attack."""
    kinds = {share.group: word(share) for share in shares}
    return intervals(name, shares, row="group", kinds=kinds, xlabel="Share of replies that fool it", caption=caption)


def _goal_blocks(shares: Sequence[Estimate], facts: Mapping[str, Mapping[str, Any]]) -> list[Block | None]:
    """Return the chart and the table of the attacks with one goal."""
    goal: Goal = facts[shares[0].group]["goal"]
    caption = "Skipped: replies that the attack could not change. Failed: replies without a score."
    columns = ("what is done", "ideal", "replies", "verdict", "skipped", "failed")
    grid = _attacks_table(shares, facts, columns, spare=("ideal", "failed", "skipped"), caption=caption)
    chart = _chart(
        [share for share in shares if share.verdict is not Verdict.OUT_OF_DOMAIN], goal.replace(" ", "-"), ""
    )
    return [Prose([f"Each makes {GOALS[goal]}."]), chart, grid]


def _attacks_table(
    shares: Sequence[Estimate],
    facts: Mapping[str, Mapping[str, Any]],
    columns: Sequence[str],
    *,
    spare: Sequence[str],
    caption: str = "",
) -> Table:
    """Return a table with a row for each attack and the columns that were asked for."""

    def row(share: Estimate) -> list[Cell | str]:
        about = facts[share.group]
        cells: dict[str, Cell | str] = {
            "what is done": about["about"],
            "goal": about["goal"],
            "ideal": about["ideal"],
            "replies": Cell(count(share.n), value=share.n),
            "verdict": Cell(word(share), share.reason),
            "skipped": Cell(count(about["skipped"]), value=about["skipped"]),
            "failed": Cell(count(about["failed"]), about["why_failed"], about["failed"]),
        }
        share_cell = (
            Cell(percent_interval(share), share.method, share.value) if share.known else Cell(DASH, share.reason)
        )
        chosen = [cells[name] for name in columns]
        place = columns.index("replies") + 1
        return [Cell(share.group, about["source"]), *chosen[:place], share_cell, *chosen[place:]]

    place = columns.index("replies") + 1
    header = ("attack", *columns[:place], "fooled [low, high]", *columns[place:])
    return table(header, map(row, shares), caption=caption)._replace(spare=tuple(spare))


def _scores_table(estimates: Sequence[Estimate]) -> Table | None:
    """Return the scores before and after each attack."""

    def three(estimate: Estimate) -> str:
        return number(estimate.value, 3)

    def share(estimate: Estimate) -> str:
        return percent(estimate.value)

    columns = [
        Column("replies", {"statistic": SHARE}, lambda estimate: count(estimate.n)),
        Column("before", {"statistic": "original score, mean"}, three),
        Column("SD before", {"statistic": "original score, sd"}, three, spare=True),
        Column("after", {"statistic": "attacked score, mean"}, three),
        Column("SD", {"statistic": "attacked score, sd"}, three),
        Column("lowest", {"statistic": "attacked score, lowest"}, three, spare=True),
        Column("highest", {"statistic": "attacked score, highest"}, three, spare=True),
        Column("within 1 SD", {"statistic": "attacked score, within 1 sd"}, share, spare=True),
        Column("Pearson", {"statistic": "pearson with the original score"}, lambda estimate: number(estimate.value)),
        Column(
            "Spearman",
            {"statistic": "spearman with the original score"},
            lambda estimate: number(estimate.value),
            spare=True,
        ),
        Column("better", {"statistic": "share scored better"}, share),
        Column("AUC", {"statistic": "AUC"}, three, spare=True),
    ]
    measured = [estimate for estimate in estimates if estimate.by == "attack" and estimate.n]
    return pivot(
        measured,
        "group",
        columns,
        title="Before and after",
        heading="attack",
        in_order=True,
        caption="Mean and standard deviation of the original and the attacked scores, the lowest and highest attacked "
        "score, the share of them within one standard deviation of their mean, the correlation of both, and the share "
        "that scores better than the original. AUC: how often an original scores better than an attacked reply.",
    )


def _adem_table(estimates: Sequence[Estimate], facts: Mapping[str, Mapping[str, Any]]) -> Table | None:
    """Return the attacks of Sai et al. next to the published results for ADEM; None without any."""
    rows: list[list[Cell | str]] = []
    for share in pick(estimates, statistic=SHARE):
        published = PUBLISHED.get(share.group)
        if published is None or not share.n:
            continue
        names = ("attacked score, mean", "attacked score, sd", "pearson with the original score", "share scored better")
        *ours, better = (one(estimates, statistic=name, group=share.group).value for name in names)
        theirs = [published.mean, published.sd, published.pearson]
        rows.append(
            [
                share.group,
                facts[share.group]["ideal"],
                *map(number, ours),
                percent(better),
                *(DASH if value is None else number(value) for value in theirs),
                DASH if published.better is None else percent(published.better),
                DASH if published.people is None else number(published.people),
            ]
        )
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

    steps = {prop.name: prop.step_text for prop in PROPERTIES}
    columns = [
        Column("replies", {"statistic": BIAS[0]}, lambda estimate: count(estimate.n), spare=True),
        Column("partial correlation [low, high]", {"statistic": BIAS[0]}, signed),
        Column("points [low, high]", {"statistic": BIAS[1]}, signed),
        Column("for", {"statistic": BIAS[1]}, lambda estimate: steps[estimate.group]),
    ]
    caption = (
        "Partial correlation of the score with a property of the reply, given the human rating, within data sets; and "
        "points of score for a step more of it at the same rating. 95 % intervals over resampled contexts. A property "
        "may rightly tell what the rating misses."
    )
    return [Section("Bias", [pivot(measured, "group", columns, heading="property", in_order=True, caption=caption)])]


def _geometry_section(estimates: Sequence[Estimate]) -> list[Section]:
    """Return the band of the scores and the cones of the vectors; nothing without either."""
    blocks = [block for block in (band_sentence(estimates), cone_table(estimates)) if block is not None]
    return [Section("Geometry", blocks)] if blocks else []


def cone_table(estimates: Sequence[Estimate]) -> Table | None:
    """Return the table of cones; None for a scorer without vectors."""
    columns = [
        Column("n", {"statistic": "conicity"}, lambda estimate: count(estimate.n)),
        Column("conicity [low, high]", {"statistic": "conicity"}),
        Column("spread", {"statistic": "spread of vectors"}, lambda estimate: number(estimate.value, 3), spare=True),
        Column("length", {"statistic": "length of vectors"}, lambda estimate: number(estimate.value, 3), spare=True),
    ]
    caption = (
        "Conicity: mean cosine of the vectors with their mean, 1 if all point in one direction (ADEM's responses: "
        "0.59, Sai et al. 2019); spread: variance of these cosines; length: mean length. A linear head hardly "
        "distinguishes vectors that all point in one direction."
    )
    measured = [estimate for estimate in estimates if estimate.by == "vectors"]
    return pivot(measured, "group", columns, title="Vectors", heading="vectors", in_order=True, caption=caption)


def band_sentence(estimates: Sequence[Estimate]) -> Prose | None:
    """Return how far scores spread compared with ratings, in a sentence; None without ratings."""
    ratio = one(estimates, statistic="ratio of spreads")
    if not ratio.known:
        return None
    scores = one(estimates, statistic="sd of scores, share of the scale").value
    ratings = one(estimates, statistic="sd of ratings, share of the scale").value
    related = one(estimates, statistic="pearson", group="").value
    text = (
        f"The standard deviation of the scores is {interval(ratio)} times that of the ratings ({percent(scores)} and "
        f"{percent(ratings)} of their scales)"
    )
    more = f"; a least-squares prediction with the correlation {number(related)} has {number(max(related, 0.0))} times"
    return Prose([f"{text}{more if related == related else ''}."])


def _inconclusive_section(shares: Sequence[Estimate], about: About) -> list[Section]:
    """Return the attacks without a verdict, and why."""
    reasons = [f"{share.group}: {share.reason}" for share in shares if word(share) == "inconclusive"]
    reasons += [f"{name}: {why}" for name, why in about.options["left_out"].items()]
    return [Section("Inconclusive, and why", [Prose(reasons, listed=True)])] if reasons else []


def _worst_lines(shares: Sequence[Estimate], cases: Sequence[Case]) -> Prose | None:
    """Return the worst reply of each attack that fools the scorer most, for a terminal."""
    first = {case.values["attack"]: case for case in reversed(cases)}
    worst = [first[share.group] for share in shares if share.verdict is Verdict.ABOVE and share.group in first]
    lines = [
        f"  {case.why}  {case.values['attack']}: "
        f"{_quoted(case.values['original'])} → {_quoted(case.values['attacked'])}"
        for case in worst[:_SHOWN]
    ]
    return Prose(lines, "Worst replies:") if lines else None


def _quoted(text: str) -> str:
    """Return a text in quotes, shortened to a line of a terminal."""
    short = textwrap.shorten(text, _WIDTH, placeholder=" ...") if text.strip() else ""
    return f'"{short}"' if short else "(empty)"


def _made(scorer: str, about: About) -> list[str]:
    """Return how the numbers were computed, in sentences."""
    counts, options = about.counts, about.options
    available = counts["lines"] - counts["empty"]
    drawn = f", drawn from {count(available)} lines" if counts["replies"] < available else ""
    replies = f"{pluralize(counts['replies'], 'reply', 'replies')} to {pluralize(counts['contexts'], 'context')}"
    if not counts["rated"]:
        good = "count as good"
    else:
        scale = " and of the scale" if counts["scaled"] else ""
        good = f"are in the upper half of ratings{scale}" + (
            ", or unrated" if counts["rated"] < counts["replies"] else ""
        )
    return [
        f"{replies}{drawn}; bad replies are compared with {count(counts['good'])} that {good}. Seed {options['seed']}.",
        "Fooled: a bad reply scores higher than the good one (an equal score counts half); a good one loses more than "
        f"{DROP:g} spread; a change of nothing moves the score by more than {MOVE:g}. A spread is the standard "
        f"deviation of the scores, here {number(about.scorers[scorer]['spread'], 3)}.",
        "[low, high]: Wilson's 95 % interval with contexts as trials. Verdict: fooled if the whole interval is above "
        f"{percent(options['allowed'])}, holds if it is not above; inconclusive with fewer than {FEWEST} replies.",
    ]
