"""`reinforce`: from a trained model, contexts and a judge to a policy that the judge rewards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rejoinder.data.folders import in_folder, read_folder
from rejoinder.data.read import silent
from rejoinder.errors import DataError, UsageError
from rejoinder.improve.reward import reward
from rejoinder.models import require_torch
from rejoinder.pretraining.pretrain import open_run, own_run
from rejoinder.scorer import Advance, ScorerLike, ignore, signature_of
from rejoinder.scoring.catalog import DEFAULT
from rejoinder.scoring.replies import GivenContext, as_examples
from rejoinder.scoring.selftalk import sample_contexts

if TYPE_CHECKING:
    from rejoinder.improve.reinforce import Practice

STARTS = 1000
"""Contexts at most that conversations begin with."""
BUDGETS = ("updates", "minutes", "most_kl")
"""What a run may be given more of when it goes on."""


@dataclass(frozen=True)
class Reinforced:
    """What a run came to.

    Attributes:
        folder: the policy.
        rows: figures of every update.
        why: why it ended.
        unscored: why replies had no reward, counted.
    """

    folder: Path
    rows: Sequence[dict[str, float]]
    why: str
    unscored: dict[str, int]


def reinforce(
    contexts: Iterable[GivenContext],
    start: str | Path,
    out: str | Path,
    scorer: ScorerLike | Iterable[ScorerLike] = DEFAULT,
    *,
    practice: Practice | None = None,
    lower: bool = False,
    bounds: tuple[float, float] | None = None,
    force: bool = False,
    say: Callable[[str], None] = silent,
    advance: Advance = ignore,
) -> Reinforced:
    """Reinforce a trained HRED or Seq2Seq with a judge as reward, in conversations with itself; save it as `out`.

    What a run needs on its way (checkpoint, curves, samples) stands in the folder `OUT.run` beside it. A run that was
    interrupted, or has spent its budget, goes on from its last checkpoint when it is called again with the same
    arguments, or a larger budget.

    Args:
        contexts: what conversations begin with; at most 1,000 different ones, chosen by the seed, are taken.
        start: the folder of the model.
        out: the folder to save the policy in.
        scorer: what rewards, see `reward`; of several the lowest reward counts.
        practice: how, and for how long; None takes the usual way.
        lower: see `reward`.
        bounds: see `reward`.
        force: replace a model of another run that stands at `out`.
        say: takes a line at each checkpoint.
        advance: called with the number of updates done.

    Raises:
        UsageError: the model is of another kind; there is something at `out` that is not to be replaced, or a run with
            other arguments; a scorer cannot reward; a number is out of range.
        DataError: there is no context, or the gradient is not finite.
        MissingAsset: there is no model at `start`.
        MissingExtra: torch is not installed.
        NothingScored: more than half of all replies had no reward.
    """
    own = practice or practice_of()
    from rejoinder.improve.policy import Policy
    from rejoinder.improve.reinforce import Run

    rewarding = reward(scorer, lower=lower, bounds=bounds)
    out = Path(out)
    folder = own_run(out, [start], force=force)
    parts = read_folder(start)
    with in_folder(start):
        policy, origin = (Policy(parts, own.longest) for _ in range(2))
    starts = _starts(contexts, own.seed)
    judges = {name: str(signature_of(one)) for name, one in rewarding.scorers.items()}
    about: dict[str, Any] = {"reward": " and ".join(judges.values()), "start": parts.digest, "lower": lower}
    about |= {"bounds": None if bounds is None else list(bounds), "practice": asdict(own)}
    manner = {name: value for name, value in asdict(own).items() if name not in BUDGETS}
    open_run(folder, {**about, "practice": manner, "contexts": len(starts)})
    run = Run(policy, origin, own, folder)
    why = run.go(starts, lambda asked, said: rewarding(list(map(list, asked)), said), say, advance)
    run.save(out, about)
    return Reinforced(out, run.progress.rows, why, dict(rewarding.unscored.most_common()))


def practice_of(**given: Any) -> Practice:
    """The practice with these fields.

    Raises:
        MissingExtra: torch is not installed.
        UsageError: a number is out of range.
    """
    require_torch("Reinforcing a policy")
    from rejoinder.improve.reinforce import Practice

    return Practice(**given)


def _starts(contexts: Iterable[GivenContext], seed: int) -> list[tuple[str, ...]]:
    """The contexts that conversations begin with.

    Raises:
        DataError: there is none with a word in it.
    """
    usable = (one for one in as_examples(contexts) if any(map(str.strip, one.context)))
    try:
        return [one.context for one in sample_contexts(usable, STARTS, seed)]
    except DataError as error:
        raise UsageError("there is no context to begin with. Give files of dialogues or examples") from error
