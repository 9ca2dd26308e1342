"""The report of judges against labels: the answer, the tables, every disagreement, and lines for a second look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rejoinder.analysis.labels import COUNTS, Judged, judge_shares, judges_of, labels_table, verdict_of
from rejoinder.analysis.pass_rate import UNUSUAL
from rejoinder.analysis.sample import LOOK, SECOND
from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.analysis.slices import slices_table, worst
from rejoinder.data.examples import to_record
from rejoinder.data.values import under
from rejoinder.estimates import Estimate, one, pick
from rejoinder.example import Example
from rejoinder.external.elsewhere import COLUMN
from rejoinder.report.layout import Block, Case, Cases, KeyFigure, Prose, Section
from rejoinder.report.results import Gate, Results
from rejoinder.report.tables import Column, Table, pivot, table
from rejoinder.report.written import DASH, count, interval, p_value, percent, sentences
from rejoinder.stats.pass_rate import NO_VERDICT

REASONS = ("reason", "explanation", "comment", "rationale")
"""The keys under which a judge's reason is looked for, next to its verdict and in the line."""
WRONGLY = {1: "wrongly passed", 0: "wrongly failed"}
_WORDS = {1: "pass", 0: "fail", NO_VERDICT: "no verdict"}
_SHARES = {"TNR": "bad replies caught", "TPR": "good replies passed"}
_MOST_SYSTEMS = 5  # in the answer


def lead_of(scored: ScoredSet, estimates: Sequence[Estimate]) -> str:
    """Return the judge of the headline: that with the highest mean of the two shares."""
    judges = [name for name in judges_of(scored) if name not in scored.outside] or judges_of(scored)
    return max(judges, key=lambda name: np.nan_to_num([row.value for row in judge_shares(estimates, name)]).sum())


def labels_answer(scored: ScoredSet, estimates: Sequence[Estimate], part: str = "answer") -> tuple[str, ...]:
    """Return the answer for the judge of the headline, or its warnings, in sentences; the first is the headline."""
    lead = lead_of(scored, estimates)
    judge, of_lead = Judged.of(scored, lead), pick(estimates, scorer=lead)

    def measured(statistic: str, scorer: str = lead, **labels: str) -> Estimate:
        whole = {"by": "", "group": "", "system": "", "versus": "", "rater": ""}
        return one(estimates, scorer=scorer, statistic=statistic, **{**whole, **labels})

    shares = judge_shares(estimates, lead)
    rates = [row for row in pick(of_lead, statistic="pass rate") if row.system]
    return sentences(
        "analysis",
        "labels",
        part=part,
        lead=lead,
        shares=shares,
        verdict=verdict_of(shares),
        judging=scored.judging,
        measured=measured,
        counts={name: round(measured(name).value) for name in COUNTS if measured(name).known},
        labelled=len(judge.labels),
        lines=len(judge.lines) or len(judge.labels),
        inside=int((judge.places >= 0).sum()),
        worst=worst(of_lead),
        unlabelled=[row.system for row in rates if not row.n],
        systems=[row for row in rates if row.known][:_MOST_SYSTEMS],
        difference=next(reversed(pick(of_lead, statistic="difference of pass rate")), None),
        needed=[row for row in pick(of_lead, statistic="labels needed") if row.known or row.versus],
        kappa_of_people=one(estimates, scorer=RATERS, statistic="kappa", by="labels"),
        apart=int(judge.wrong.sum()),
        unusual=UNUSUAL,
        dev=scored.rated.splits.count("dev") if "test" in scored.rated.splits else 0,
        second=sum(line.extra.get(LOOK) == SECOND for line in scored.rated.examples),
    )


def labels_gate(scored: ScoredSet, estimates: Sequence[Estimate]) -> Gate:
    """Return whether every judge is above the bar, and why, in a sentence."""
    verdicts = {name: verdict_of(judge_shares(estimates, name)) for name in judges_of(scored)}
    text = "; ".join(f"{name} {verdict}" for name, verdict in verdicts.items())
    passed = all(verdict == "above" for verdict in verdicts.values())
    return Gate(passed, f"gate {'passed' if passed else 'failed'}: bar {percent(scored.judging.bar)}, {text}")


def judged_results(results: Results, scored: ScoredSet) -> Results:
    """Return the results of a study with its judges and their labels first."""
    judges, estimates = judges_of(scored), pick(results.estimates, dataset=scored.name)
    lead, cases = lead_of(scored, estimates), labels_cases(scored)
    blocks: list[Block | None] = [
        *(shares_table(scored, estimates, name) for name in judges),
        *(matrix_table(estimates, name) for name in judges),
        rates_table(estimates),
        differences_table(estimates),
        slices_table(estimates),
    ]
    disagreements = [Cases("Disagreements with the labels", cases)] if cases else []
    keys = [
        KeyFigure.of(row, _SHARES[row.statistic], f"by {lead}: {row.verdict} the bar", share=True)
        for row in judge_shares(estimates, lead)
    ]
    rate = one(estimates, scorer=lead, statistic="pass rate", system="")
    keys += [KeyFigure.of(rate, "pass rate", "that these labellers would give", share=True)] if rate.known else []
    layout, about = results.layout, results.about
    layout = replace(
        layout,
        keys=[*keys, *layout.keys[-1:]],
        chart=None,
        sections=[Section("Judges against labels", [*blocks, *disagreements]), *layout.sections],
        first=shares_table(scored, estimates, lead)._replace(title=""),
        brief=[
            labels_table(estimates) if len(judges) > 1 else None,
            *(row for row in layout.brief if isinstance(row, Prose)),
        ],
        every=[*blocks, *layout.every],
        lines=second_look(scored),
    )
    return replace(
        results,
        answer=labels_answer(scored, estimates),
        warnings=(*labels_answer(scored, estimates, "warnings"), *results.warnings),
        cases=cases,
        layout=layout,
        gate=labels_gate(scored, estimates) if about.options["bar"] is not None else None,
        about=replace(about, counts={**about.counts, "positive": "pass"}),
    )


# tables


def shares_table(scored: ScoredSet, estimates: Sequence[Estimate], name: str) -> Table:
    """Return the two shares of a judge with counts, a second person and the bar."""
    rows = []
    for share in judge_shares(estimates, name):
        statistic = "true fail" if share.statistic == "TNR" else "true pass"
        counted = one(estimates, scorer=name, statistic=statistic)
        right = f"{round(counted.value)}/{share.n}" if counted.known else DASH
        people = _second_person(pick(estimates, scorer=RATERS, statistic=share.statistic))
        verdict = DASH if share.verdict == "undefined" else share.verdict.value
        rows.append([_SHARES[share.statistic], right, interval(share, share=True), people, verdict])
    header = ["", "count", "share [low, high]", "a second person", f"bar {percent(scored.judging.bar)}"]
    caption = "A second person: the same shares of one labeller, with the label of another as the truth."
    return table(header, rows, title=name, caption=caption)


def _second_person(rows: Sequence[Estimate]) -> str:
    """Return the share of a second person: the range of two named people, else that of all."""
    shares = sorted(row.value for row in rows if row.rater and row.known)
    if len(shares) == 2 and round(100 * shares[0]) < round(100 * shares[1]):
        return f"{100 * shares[0]:.0f}-{percent(shares[1])}"
    return next((percent(row.value) for row in rows if not row.rater and row.known), DASH)


def matrix_table(estimates: Sequence[Estimate], name: str) -> Table:
    """Return the counts of good and bad replies by verdict."""

    def size(statistic: str, group: str = "") -> str:
        row = one(estimates, scorer=name, statistic=statistic, group=group)
        return count(round(row.value)) if row.known else DASH

    rows = [
        ["labelled good", size("true pass"), size("false fail"), size("no verdict", "good")],
        ["labelled bad", size("false pass"), size("true fail"), size("no verdict", "bad")],
    ]
    return table(["", "passed", "failed", "no verdict"], rows, title=f"Labels and verdicts of {name}")


def rates_table(estimates: Sequence[Estimate]) -> Table | None:
    """Return the pass rates, overall and by system."""
    share = partial(interval, share=True)
    rows = [row for row in estimates if row.statistic.startswith("pass rate")]
    return pivot(
        rows,
        lambda row: f"{row.scorer}, {row.system or 'all lines'}",
        [
            Column("pass rate [low, high]", {"statistic": "pass rate"}, share),
            Column("labels", {"statistic": "pass rate"}, lambda row: count(row.n)),
            Column("labels alone", {"statistic": "pass rate, labels only"}, share),
            Column("judge alone", {"statistic": "pass rate, judge only"}, share),
        ],
        title="Pass rate that these labellers would give",
        caption="Labels weighted by the verdicts on all lines. Judge alone: the share that it passes.",
        heading="lines",
        in_order=True,
    )


def differences_table(estimates: Sequence[Estimate]) -> Table | None:
    """Return the differences of systems in the pass rate, by labels and judge, and by the judge alone."""
    signed = partial(interval, share=True, signed=True)
    name = "difference of pass rate"
    rows = pick(estimates, statistic=(name, f"{name}, judge only"))
    return pivot(
        rows,
        lambda row: f"{row.scorer}, {row.system} - {row.versus}",
        [
            Column("difference [low, high]", {"statistic": name}, signed),
            Column("p", {"statistic": name}, lambda row: p_value(row.p_adjusted)),
            Column("judge alone", {"statistic": f"{name}, judge only"}, signed),
        ],
        title="Differences of systems",
        caption="p adjusted (Holm). Judge alone: not corrected for its errors, which may differ between systems.",
        heading="systems",
        in_order=True,
    )


# lines


def labels_cases(scored: ScoredSet) -> tuple[Case, ...]:
    """Return every line on which a judge and the label differ, those wrongly passed first."""
    cases = []
    for name in judges_of(scored):
        judge = Judged.of(scored, name)
        for verdict in WRONGLY:
            wrong = judge.rows[judge.wrong & (judge.verdicts == verdict)]
            cases += [_case(scored, name, scored.rated.examples[row], verdict) for row in wrong.tolist()]
    return tuple(cases)


def _case(scored: ScoredSet, name: str, example: Example, verdict: int) -> Case:
    """Return a disagreement: question, reply, labels, and the judge's reason."""
    given = example.counted(scored.rated.dimension)
    labels = [f"{label.rater or 'label'} {_WORDS[int(label.value)]}" for label in given] or [_WORDS[1 - verdict]]
    reason = reason_of(example, name)
    replies = [("Response", example.response), *([("Reason of the judge", reason)] if reason else [])]
    values = {key: getattr(example, key) for key in ("id", "system", "context", "response")}
    values |= {"dataset": scored.name, "scorer": name, "verdict": verdict, "labels": labels, "reason": reason}
    about = ", ".join(filter(None, [example.id, example.system]))
    facts = ". ".join(filter(None, [", ".join(labels), about]))
    return Case(WRONGLY[verdict], facts, example.context, replies, group=f"{name}: {WRONGLY[verdict]}", values=values)


def reason_of(example: Example, name: str) -> str:
    """Return the reason of a judge's verdict, or ""."""
    record: Mapping[str, Any] = to_record(example)
    path = name.removeprefix(f"{COLUMN}:").lstrip("-").rpartition(".")[0] if name.startswith(f"{COLUMN}:") else ""
    keys = [*(f"{path}.{key}" for key in REASONS if path), *REASONS]
    return next((str(value) for key in keys if (value := under(record, key))), "")


def second_look(scored: ScoredSet) -> list[dict[str, Any]]:
    """Return disagreements with any judge, as many other lines and ties, shuffled, without verdicts and labels."""
    differ = np.zeros(len(scored.rated), dtype=bool)
    for name in judges_of(scored):
        judge = Judged.of(scored, name)
        differ[judge.rows[judge.wrong]] = True
    rng = scored.sampling.generator(scored.name, "second look")
    others = rng.permutation(np.flatnonzero(~differ))[: int(differ.sum())]
    rows = np.concatenate([np.flatnonzero(differ), others]).tolist()
    lines = [*(scored.rated.examples[row] for row in rows), *scored.rated.ties]
    blank: dict[str, Any] = {"ratings": (), "quality": {}, "scales": {}, "extra": {LOOK: SECOND}, "system": None}
    return [to_record(replace(lines[place], **blank)) for place in rng.permutation(len(lines)).tolist()]
