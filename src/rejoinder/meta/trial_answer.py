"""A trial in words: what to use, and how far it is shown."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.meta.trial import Candidate, Trial
from rejoinder.meta.verdict import IF_HIGH_IS_GOOD, TURN_RATINGS
from rejoinder.stats.figure import interval, rounded

_HELP = (
    "What may help: several raters a reply, ratings that spread over the whole scale, another encoder (-e), more rated "
    "conversations."
)


def trial_answer(trial: Trial) -> tuple[str, ...]:
    """The answer as sentences, the recommendation first."""
    if trial.reason:
        return (
            f"Not compared with what is there already: {trial.reason}. Lines held out tell too: --held-out FILE, then "
            "rejoinder study FILE with the new judge and others.",
        )
    return (
        _recommendation(trial),
        *_against(trial),
        *_beside(trial),
        *_trivial(trial),
        *_absent(trial),
        *_copies(trial),
        *filter(None, [trial.note]),
    )


def named(one: Candidate) -> str:
    """What a candidate is called in a sentence."""
    trivial = f"the trivial {one.name}" + " (the lower the better)" * one.lower
    best = {"metric": f"the best metric ({one.name})", "baseline": trivial}
    return {"new": "the new judge", "box": "the judge in the box", **best}[one.role]


def _recommendation(trial: Trial) -> str:
    """What to use."""
    kept = [one for role in trial.recommended if (one := trial.of(role)) is not None]
    if not kept:
        return _nothing(trial)
    care = "" if all(one.beats_trivial for one in kept) else ", if any"
    care += IF_HIGH_IS_GOOD if _runs_against(trial) else ""
    if len(kept) == 1:
        (only,) = kept
        own = f"Spearman {interval(only.spearman, 2)} on {trial.n:,} lines"
        if only.role == "new":
            return f"Use the new judge{care}: on conversations that it was not fitted on, {own}."
        return f"Use {named(only)}{care}, not the new one: {own}."
    figures = _listed([f"{one.spearman.value:z.2f}" for one in kept], "and")
    tell = "" if trial.needed is None else f" About {rounded(trial.needed):,} rated lines would tell."
    names = _listed([named(one) for one in kept], "or")
    return f"Use {names}{care}: cross-validation does not tell them apart (Spearman {figures}).{tell}"


def _runs_against(trial: Trial) -> bool:
    """Whether the judge in the box is shown to be higher where the ratings are lower."""
    box = trial.of("box")
    return box is not None and box.spearman.high < 0


def _against(trial: Trial) -> list[str]:
    """What to make of ratings that run against the judge in the box: they may count from the best down."""
    return [f"The ratings run against the judge in the box. {TURN_RATINGS}."] if _runs_against(trial) else []


def _nothing(trial: Trial) -> str:
    """That nothing can be recommended, and why."""
    trivial = trial.of("baseline")
    if trivial is not None and trivial.agrees:
        return (
            f"Use none of them: {named(trivial)} does as well as any, Spearman {interval(trivial.spearman, 2)}. {_HELP}"
        )
    best = max(trial.candidates, key=lambda one: one.spearman.value)
    found = f"the highest, {named(best)}, has Spearman {interval(best.spearman, 2)}"
    if best.spearman.low > 0:
        found += f", which the highest of {len(trial.candidates)} may reach by chance"
    return f"None is shown to agree with people: {found}. {_HELP}"


def _beside(trial: Trial) -> list[str]:
    """How the new judge stands to each of the others."""
    said = []
    for one in trial.candidates:
        if one.role in ("box", "metric"):
            told = "" if one.behind.excludes(0) else "not shown to be "
            gain = one.behind if one.behind.value >= 0 else -one.behind
            way = "ahead of" if one.behind.value >= 0 else "behind"
            said.append(f"The new judge is {told}{way} {named(one)}: by {interval(gain, 2)}.")
    return said


def _trivial(trial: Trial) -> list[str]:
    """Which of those recommended are not shown to beat the best trivial baseline."""
    trivial = trial.of("baseline")
    level = [one for role in trial.recommended if (one := trial.of(role)) is not None and not one.beats_trivial]
    if trivial is None or not level:
        return []
    names = _listed([named(one) for one in level], "and")
    verb = "is" if len(level) == 1 else "are"
    said = f"{names} {verb} not even shown to beat {named(trivial)}: Spearman {interval(trivial.spearman, 2)}."
    return [said[0].upper() + said[1:]]


def _absent(trial: Trial) -> list[str]:
    """What is missing beside it, of what one would look for."""
    said = []
    if trial.of("box") is None:
        said += [
            f"The judge in the box is left out: {why}." for name, why in trial.absent.items() if name == "rejoinder"
        ]
    if trial.of("metric") is None:
        said.append("No metric stands beside it: metrics need references, and none scores nine in ten of these lines.")
    return said


def _copies(trial: Trial) -> list[str]:
    """That some responses copy a reference, where some do."""
    if not trial.copies:
        return []
    return [f"{trial.copies:,} of the responses copy a reference, which no metric can miss."]


def _listed(names: Sequence[str], word: str) -> str:
    """Names as people write them down: a, b and c."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
