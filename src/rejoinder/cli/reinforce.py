"""`rejoinder reinforce`: a trained system and a judge to a system that the judge rewards."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rejoinder.cli.common import (
    Files,
    Force,
    JudgeNames,
    OnError,
    OnErrorFlag,
    Seed,
    progress,
    reporting,
    resumable,
    tell,
)
from rejoinder.cli.decoding import Longest, Unseen
from rejoinder.cli.inputs import Columns, InputFormat, how
from rejoinder.cli.places import Given, Reads, Writes

if TYPE_CHECKING:
    from rejoinder.improve.reinforcing import Reinforced


def _with_run(out: Path, _others: Given) -> list[Path]:
    """The model's folder, and the one beside it that a run works in."""
    from rejoinder.data.folders import run_folder

    return [out, run_folder(out)]


class Baseline(StrEnum):
    """What is taken from a return."""

    NONE = "none"
    BATCH = "batch"
    GROUP = "group"
    CRITIC = "critic"


Start = Annotated[Path, typer.Option("--start", help="Model whose weights to start from.", metavar="FOLDER"), Reads()]
Out = Annotated[
    Path,
    typer.Option("-o", "--out", help="Where to: a folder to save the policy in.", metavar="FOLDER"),
    Writes(_with_run),
]
Lower = Annotated[bool, typer.Option("--lower", help="Reward by the lower end of a judge's interval.")]
Updates = Annotated[int, typer.Option(min=1, help="Updates of the policy at most.")]
Minutes = Annotated[float | None, typer.Option("--minutes", help="Stop after so long.", metavar="M")]
MostKl = Annotated[
    float | None, typer.Option("--most-kl", help="Stop so many nats per reply from the start.", metavar="NATS")
]
Episodes = Annotated[int, typer.Option(min=1, help="Conversations of one update.")]
Group = Annotated[int, typer.Option(min=1, help="Conversations from one context.")]
BaselineFlag = Annotated[
    Baseline,
    typer.Option("--baseline", help="What a return is set against: others from its context, all, a critic."),
]
Kl = Annotated[float, typer.Option("--kl", help="What a nat of distance from the start costs.", metavar="W")]
Entropy = Annotated[float, typer.Option("--entropy", help="What a nat of entropy is worth.", metavar="W")]
Step = Annotated[float, typer.Option("--step", help="Adam's step.", metavar="S")]
Add = Annotated[int, typer.Option(min=1, help="How many turns to add.")]


def command(
    files: Files,
    start: Start,
    out: Out,
    scorers: JudgeNames = None,
    lower: Lower = False,
    updates: Updates = 100,
    minutes: Minutes = None,
    most_kl: MostKl = None,
    episodes: Episodes = 32,
    group: Group = 8,
    baseline: BaselineFlag = Baseline.GROUP,
    kl: Kl = 0.05,
    entropy: Entropy = 0.0,
    step: Step = 1e-4,
    add: Add = 4,
    longest: Longest = 30,
    unseen: Unseen = None,
    seed: Seed = 0,
    force: Force = False,
    columns: Columns = None,
    input_format: InputFormat = None,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Reinforce a trained HRED or Seq2Seq: it talks to itself, a judge rewards each reply, it learns to be rewarded.

    A policy learns what the judge overrates too: measure it with a judge that rewarded nothing, and read samples. Of
    several scorers the lowest reward counts. Interrupted, it goes on where it was when called again; with a larger
    budget too.

    FOLDER.run holds the checkpoint, the curves and samples.jsonl while it runs.
    """
    from rejoinder.improve.reinforcing import practice_of, reinforce
    from rejoinder.scoring.catalog import DEFAULT
    from rejoinder.scoring.replies import contexts_of
    from rejoinder.scoring.selftalk import random_cut

    given: dict[str, Any] = {"updates": updates, "minutes": minutes, "most_kl": most_kl, "episodes": episodes}
    given |= {"group": group, "baseline": baseline.value, "kl": kl, "entropy": entropy, "step": step, "turns": add}
    practice = practice_of(**given, longest=longest, seed=seed)
    with resumable(), reporting(on_error) as report_error, progress("reinforcing", updates) as advance:
        found = reinforce(
            contexts_of(files, unseen, cut=random_cut(seed), on_error=report_error, **how(columns, input_format)),
            start,
            out,
            scorers or [DEFAULT],
            practice=practice,
            lower=lower,
            force=force,
            say=partial(tell, err=True),
            advance=advance,
        )
    _say(found)


def _say(found: Reinforced) -> None:
    """What came of it."""
    first, last = found.rows[0], found.rows[-1]
    if found.unscored:
        why, times = max(found.unscored.items(), key=lambda one: one[1])
        tell(f"{sum(found.unscored.values()):,} replies had no reward; most often: {why} ({times:,})", err=True)
    change = f"return {first['return']:.2f} at first, {last['return']:.2f} at last"
    looks = f"{last['degenerate']:.0%} of the last replies degenerate, {last['different']:.0%} different"
    tell(f"{found.why}; {change}, {last['kl']:.2f} nats per reply from the start; {looks}")
    tell(f"saved in {found.folder}; answer with it: rejoinder respond FILE -r {found.folder}")
