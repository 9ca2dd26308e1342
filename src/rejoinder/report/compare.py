"""Two systems compared, as a table and in words."""

from __future__ import annotations

import math

from rejoinder.meta.comparison import Comparison, Contrast, Gate
from rejoinder.meta.noted import noted
from rejoinder.report.tables import number, p_value, text_table


def compare_text(found: Comparison, files: tuple[str, str], width: int) -> str:
    """The comparison for a terminal: one row a scorer, the verdict in words, and what to read it by."""
    rows = [
        [
            one.scorer,
            f"{one.n:,}",
            number(one.mean_a),
            number(one.mean_b),
            _difference(one),
            p_value(one.p_adjusted),
            verdict(one),
        ]
        for one in found.contrasts
    ]
    header = ["scorer", "n", "mean A", "mean B", "B less A [low, high]", "p", "verdict"]
    return text_table(header, rows, width, folded=(6,)) + "\n" + "".join(f"{note}\n" for note in _notes(found, files))


def verdict(one: Contrast) -> str:
    """The verdict, and where there is none, what would bring one."""
    if one.verdict != "not separable":
        return one.verdict
    if one.reason:
        return f"not separable: {one.reason}"
    if one.value == 0:
        return "not separable: no difference at all"
    if one.more is None:
        return "not separable; no number of pairs can be forecast"
    return f"not separable; about {_round(one.more):,} more pairs would tell"


def _round(count: int) -> int:
    """A forecast to two digits, because it knows no more."""
    return count if count < 100 else int(float(f"{count:.1e}"))


def _difference(one: Contrast) -> str:
    """The difference and its interval."""
    if math.isnan(one.low):
        return number(one.value)
    return f"{number(one.value)} [{number(one.low)}, {number(one.high)}]"


def gate_text(gate: Gate) -> str:
    """Whether a gate was passed, and why not."""
    said = f"gate {gate.threshold:+g}: {'passed' if gate.passed else 'not passed, exit code 6'}"
    return f"{said} ({'; '.join(gate.reasons)})" if gate.reasons else said


def _empty_text(found: Comparison) -> str:
    """How many replies are empty, and what they count as."""
    shares = " and ".join(
        f"{empty:,} of {replies:,} of {side}"
        for side, empty, replies in zip("AB", found.empty, found.replies, strict=True)
    )
    worst = ", ".join(f"{number(one.worst)} by {one.scorer}" for one in found.contrasts if not math.isnan(one.worst))
    return f"Empty replies: {shares}; each counts as the worst reply" + (f" ({worst})." if worst else ".")


def _noted(found: Comparison) -> list[str]:
    """What the scorers cannot judge, counted for each side."""
    sides = [{name: both[side] for name, both in found.notes.items()} for side in (0, 1)]
    return [
        f"{line}."
        for side, counts, replies in zip("AB", sides, found.replies, strict=True)
        for line in noted(counts, replies, f"of {side}")
    ]


def _notes(found: Comparison, files: tuple[str, str]) -> list[str]:
    """What was paired, and how the figures came about."""
    holm = f", by Holm for {len(found.contrasts)} scorers" if len(found.contrasts) > 1 else ""
    alone = f"; without a partner: {found.only_a:,} of A, {found.only_b:,} of B" if found.only_a + found.only_b else ""
    unscored = [f"{one.unscored:,} pairs unscored by {one.scorer}" for one in found.contrasts if one.unscored]
    empty = [_empty_text(found)] if any(found.empty) else []
    return [
        f"A: {files[0]}; B: {files[1]}; {found.pairs:,} pairs by {found.aligned}{alone}.",
        *empty,
        *unscored,
        *_noted(found),
        "Better is what a scorer says; how far it agrees with people on such replies: rejoinder study.",
        f"[low, high]: 95 % expanded percentile interval over {found.resamples:,} resamples of contexts, "
        f"seed {found.seed}; p: two-sided, A and B exchanged in random contexts{holm}.",
        *(str(signature) for signature in found.signatures.values()),
    ]
