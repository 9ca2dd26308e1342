"""`compare`: which of two systems is better by each scorer, and how sure that is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rejoinder.analysis.baselines import scorer_facts
from rejoinder.analysis.compare_labels import by_labels, ratings_by_side
from rejoinder.analysis.compare_layout import cases_of, layout_of, verdict_of
from rejoinder.analysis.differences import SIDES, Lines, Outcome, conversations_of, measure
from rejoinder.analysis.labelling import counts_of, left_out_said, prompts_of
from rejoinder.analysis.pairing import PairBy, pairing
from rejoinder.analysis.sample import joined, rated_lines
from rejoinder.data.columns import plain as plain_key
from rejoinder.data.examples import to_record
from rejoinder.data.rated import Tie, labelled
from rejoinder.data.rated_lines import UNNAMED, title_of
from rejoinder.data.read import examples_of
from rejoinder.data.values import is_number, under
from rejoinder.errors import DataError, UsageError, shown
from rejoinder.estimates import NAN, Estimate, Verdict, decide, pick, plain
from rejoinder.example import OVERALL, Example, Given
from rejoinder.report.results import About, Gate, Results
from rejoinder.report.written import sentences
from rejoinder.scorer import Advance, Card, Scorer, ScorerLike, Scores, ignore
from rejoinder.scoring.catalog import DEFAULT, columns_of, fitted_on, listed, load_scorers
from rejoinder.scoring.dialogue import as_rated
from rejoinder.scoring.domain import INSTEAD
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.unscored import nothing_scored
from rejoinder.scoring.workers import Asked, Count, Workers, asked_of, opened, scored
from rejoinder.stats.resamples import Sampling
from rejoinder.text.normalize import visible

MIN_SCORED = 0.95
"""The share of pairs, or of the replies of each side, that must have scores for a gate."""
NO_VALUE = "(none)"
"""The value of the `--by` column for lines without one."""
SEVERAL = 1.25  # conversations of each user, on average, that are worth a warning
_USERS = frozenset(f"{who}_id" for who in ("user", "customer", "visitor", "client", "account", "member", "contact"))


def compare(
    a: Given,
    b: Given,
    scorers: Iterable[ScorerLike] | ScorerLike | None = None,
    *,
    rated: Given | None = None,
    tie: Tie | None = None,
    pair_by: PairBy | None = None,
    by: str | None = None,
    fail_under: float | None = None,
    min_scored: float = MIN_SCORED,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    workers: Workers | Count = 1,
    progress: Advance = ignore,
) -> Results:
    """Compare two systems: A, the old one, and B, the new one.

    See `pairing` for which replies belong together. Intervals of pairs come from resampled contexts, p from exchanging
    A and B in random contexts. Without pairs, conversations are resampled and dealt to A and B. Verdicts are adjusted
    for the number of scorers, those on values of a column for the number of all of these (Holm). A scorer has no
    verdict if more than a tenth of its scored replies of either file are out of its domain. An empty reply is the worst
    reply. References count only if both lines of a pair have some, without pairs only if all lines have some.

    Args:
        a: lines of the first system, in any form that `examples_of` takes.
        b: lines of the second.
        scorers: names, folders of judges, scorer objects or functions, or one of them; the bundled judge by default.
        rated: rated lines or labels of replies in `a` and `b`, joined to them by id or by text.
        tie: "fail" or "pass" where as many people give one label as the other; by default the line has no label.
        pair_by: "id", "context" or "none"; None decides by the lines.
        by: a key of the lines; the systems are also compared for each of its values. Dots lead into objects.
        fail_under: a gate: the lowest accepted difference, by the unfavourable end of its interval; 0: no worse.
        min_scored: for the gate: the lowest accepted share of pairs with both scores, or of replies with one.
        resamples: number of resamples and of permutations, 100 or more.
        seed: 0 or more.
        vectors: file of word vectors for scorers that need them; the bundled ones by default.
        workers: how many processes score, or "auto".
        progress: called during scoring with the number of examples done.

    Raises:
        DataError: a side is empty, an id occurs twice, there is no pair, or no line has the key `by`.
        NothingScored: no scorer could compare anything.
        UsageError: no scorer, or two of one name; a number is out of range; a gate for a scorer without a direction.
    """
    sampling = Sampling.checked(resamples, seed, least=100)
    names = listed(DEFAULT if scorers is None else scorers)
    sides = [examples_of(side, name=name, keep=columns_of(names)) for side, name in zip((a, b), SIDES, strict=True)]
    sides, left_out = _labelled(sides, names, rated, tie)
    ratings = ratings_by_side(sides, rated=bool(rated))
    lines = Lines.of(sides, pairing(sides[0], sides[1], pair_by), by or "", _values(sides, by))
    loaded = load_scorers(names, vectors=vectors)
    _require_gate(loaded, fail_under, min_scored)
    outcomes = []
    with opened(workers) as pool:
        for given, (name, scorer) in zip(names, loaded.items(), strict=True):
            scores = _scored(asked_of([given], vectors), {name: scorer}, lines, pool, progress)
            outcomes.append(by_labels(measure(name, scorer, lines, scores, sampling), lines, ratings))
    if not any(outcome.estimates[0].known for outcome in outcomes):
        raise nothing_scored(f"{outcomes[0].name}: {outcomes[0].estimates[0].reason}")
    estimates = _decided(outcomes)
    options = {"by": by, "fail_under": fail_under, "min_scored": min_scored, "resamples": resamples, "seed": seed}
    about = _about(lines, outcomes, fitted_on(names, [line.dataset for side in sides for line in side]), options)
    about = replace(about, counts={**about.counts, **counts_of(left_out)})
    facts = {"lines": lines, "about": about, "estimates": estimates, "outcomes": outcomes, "instead": INSTEAD}
    cases = cases_of(lines, outcomes)
    return Results(
        command="compare",
        estimates=estimates,
        answer=sentences("analysis", "compare", verdict_of=verdict_of, **facts),
        warnings=(
            *left_out_said(left_out),
            *sentences("analysis", "compare_warnings", unread=facts_warning(loaded), users=_users(lines), **facts),
        ),
        cases=cases,
        about=about,
        gate=None if fail_under is None else _gate(fail_under, min_scored, {**facts, "rated": bool(rated)}),
        layout=layout_of(lines, outcomes, estimates, about, cases),
    )


def _labelled(
    sides: Sequence[list[Example]], names: Sequence[ScorerLike], rated: Given | None, tie: Tie | None
) -> tuple[list[list[Example]], dict[str, Any]]:
    """Return the lines of both sides with their labels, and which labels do not count."""
    sample = joined([*sides[0], *sides[1]], rated_lines(rated, columns_of(names)), refuse=lambda _: None)
    first, both = len(sides[0]), len(sides[0]) + len(sides[1])
    unknown = [*sample.unknown, *(line.id for line in sample.lines[both:])]
    labels = labelled(sample.lines, OVERALL, tie=tie, prompts=prompts_of(names), test_only=True, unknown=unknown)
    return [[*labels.lines[:first]], [*labels.lines[first:both]]], labels.facts


def _values(sides: Sequence[Sequence[Example]], by: str | None) -> list[list[str]]:
    """Return by side the value of a key of every line, "" without a key; `DataError` if no line has the key."""
    if not by:
        return [[""] * len(side) for side in sides]
    values: list[list[Any]] = [[under(to_record(line), by) for line in side] for side in sides]
    if all(value in (None, "") for side in values for value in side):
        keys = sorted({key for side in sides for line in side[:100] for key in line.extra})
        raise DataError(f'no line has "{by}"', f"Name one of {', '.join(keys)}" if keys else "Omit --by")

    def text(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    return [[NO_VALUE if value in (None, "") else text(value) for value in side] for side in values]


def _scored(job: Asked, named: dict[str, Scorer], lines: Lines, pool: Workers, progress: Advance) -> list[Scores]:
    """Return by side the scores by a scorer, with references only where both sides have them."""
    ((name, scorer),) = named.items()
    sides = _comparable(lines, scorer.card)
    if any(line.is_dialogue for side in sides for line in side):
        job, named = replace(job, level="rated"), {name: as_rated(scorer, [*sides[0], *sides[1]])}
    return [scored(named, side, job, pool, progress)[name] for side in sides]


def _comparable(lines: Lines, card: Card) -> list[list[Example]]:
    """Return the lines, without references if those of the other side have none: they would raise the scores."""
    sides = [list(side) for side in lines.sides]
    together = list(zip(*lines.places, strict=True)) if lines.pairs.paired else [tuple(map(range, map(len, sides)))]
    if not lines.pairs.paired and "reference" in card.needs:
        return sides
    for places in together:
        rows = [(side, place) for side, of_side in zip(sides, places, strict=True) for place in of_side]
        if not all(any(map(visible, side[place].references)) for side, place in rows):
            for side, place in rows:
                side[place] = replace(side[place], references=())
    return sides


def _decided(outcomes: Sequence[Outcome]) -> tuple[Estimate, ...]:
    """Return all estimates with verdicts: one family of tests for the scorers, one for all values of the column."""
    estimates = [estimate for outcome in outcomes for estimate in outcome.estimates]
    outside = {(outcome.name, group) for outcome in outcomes for group in outcome.outside}
    decided: dict[tuple[str, str], Estimate] = {}
    for is_part in (False, True):
        family = [gap for gap in pick(estimates, statistic="difference") if bool(gap.group) is is_part]
        for gap in decide(family, [NAN if (gap.scorer, gap.group) in outside else gap.p for gap in family]):
            decided[gap.scorer, gap.group] = gap
    rows = [decided[row.scorer, row.group] if row.statistic == "difference" else row for row in estimates]
    no_verdict = Verdict.OUT_OF_DOMAIN
    return tuple(replace(row, verdict=no_verdict) if (row.scorer, row.group) in outside else row for row in rows)


def _require_gate(scorers: Mapping[str, Scorer], fail_under: object, min_scored: object) -> None:
    """Raise `UsageError` without a scorer, for numbers that no gate can have, and for a gate without a direction."""
    if not scorers:
        raise UsageError("no scorer was named; a comparison needs at least one")
    if not (is_number(min_scored) and 0 <= min_scored <= 1):  # type: ignore[operator]
        raise UsageError(f"min_scored is {shown(min_scored)}, expected a number from 0 to 1")
    if fail_under is None:
        return
    if not is_number(fail_under):
        raise UsageError(f"fail_under is {shown(fail_under)}, expected a finite number")
    if vague := [name for name, scorer in scorers.items() if scorer.card.higher_is_better is None]:
        raise UsageError(f"{', '.join(vague)} claims no direction, so it has no gate. Name other scorers")


def _gate(fail_under: float, min_scored: float, facts: Mapping[str, Any]) -> Gate:
    """Return whether by every scorer the difference is at least `fail_under`, by the unfavourable end of its interval.

    A reply of A without a partner counts as a pair without scores: a system that leaves questions out gains nothing.
    """
    lines, outcomes = facts["lines"], facts["outcomes"]
    few, low = [], []
    for outcome in outcomes:
        gap, *_, first, second = pick(facts["estimates"], scorer=outcome.name, group="")
        counts = [("pairs", gap.n, len(lines.pairs.a) + lines.pairs.only_a)]
        if not lines.pairs.paired:
            counts = [("replies of A", first.n, len(lines.sides[0])), ("replies of B", second.n, len(lines.sides[1]))]
        few += [(outcome.name, what, n, of) for what, n, of in counts if n < min_scored * of]
        least = gap.low if outcome.upward else -gap.high
        low += [(outcome.source, least)] if not (least >= fail_under or outcome.outside.get("")) else []
    unjudged = [outcome.outside[""] for outcome in outcomes if "" in outcome.outside]
    # Labels that were given for the comparison, but are too few, let nothing pass by the scorer alone.
    useless = [outcome.uncorrected for outcome in outcomes if facts["rated"] and outcome.uncorrected][:1]
    passed = not (few or low or unjudged or useless)
    reasons = {
        "few": few,
        "low": low,
        "unjudged": unjudged,
        "useless": useless,
        "fail_under": fail_under,
        "min_scored": min_scored,
    }
    return Gate(passed, " ".join(sentences("analysis", "compare_gate", passed=passed, **reasons, **facts)))


def _about(
    lines: Lines, outcomes: Sequence[Outcome], fitted: Mapping[str, Sequence[str]], options: Mapping[str, Any]
) -> About:
    """Return the facts about data and scorers."""
    scorers = {
        outcome.name: {
            **scorer_facts(outcome.card.kind, outcome.scores[0]),
            "higher_is_better": outcome.card.higher_is_better,
            "warnings": {side: dict(scores.warning_counts) for side, scores in zip(SIDES, outcome.scores, strict=True)},
            "unscored": outcome.estimates[0].unscored,
            "worst": plain(outcome.worst),
            "empty_left_out": outcome.spared,
            "values_left_out": list(outcome.left_out),
            "out_of_domain": outcome.outside.get("", ""),
            **({"uncorrected": outcome.uncorrected} if outcome.uncorrected else {}),
            "fitted": list(fitted.get(outcome.name, ())),
        }
        for outcome in outcomes
    }
    pairs, sides = lines.pairs, lines.sides
    titles = [title_of(UNNAMED, side) for side in sides]
    named = {"files": titles, "a": titles[0], "b": titles[1], "pair_by": pairs.by, "why": pairs.why}
    empty = [sum(line.unanswered and not line.is_dialogue for line in side) for side in sides]
    counts: dict[str, Any] = {"pairs": len(pairs.a), "only_a": pairs.only_a, "only_b": pairs.only_b}
    counts |= {"differing": pairs.differing, "replies": [*map(len, sides)], "empty": empty}
    return About(scorers=scorers, options={**named, **options}, counts=counts)


def _users(lines: Lines) -> tuple[int, int, str] | None:
    """Return conversations, users and key if users have several conversations each, which are not independent.

    A key such as `user_id` names users if it has five values or more on each side: the account of a tester does not.
    """
    if lines.pairs.paired:
        return None
    for key in dict.fromkeys(key for side in lines.sides for key in side[0].extra if plain_key(key) in _USERS):
        known = [[line for line in side if line.extra.get(key) not in (None, "")] for side in lines.sides]
        users = [len({str(line.extra[key]) for line in side}) for side in known]
        talks = [len(set(conversations_of(side))) for side in known]
        if min(users) >= 5 and sum(talks) >= SEVERAL * sum(users):
            return sum(talks), sum(users), key
    return None
