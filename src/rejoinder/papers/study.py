"""All scorers that were fitted on none of the rated sets, and panels that never saw the set they are asked about."""

from __future__ import annotations

from typing import cast

from rejoinder.catalogue import DEFAULT, chosen, load_learner
from rejoinder.learner import Learner
from rejoinder.meta import FullStudy, full_study
from rejoinder.papers.asked import Asked, Takes
from rejoinder.papers.kept import KeptLearner, kept

TAKES = Takes(("files", "data", "seed"), keeps=True)
SETS = (
    *("conture_turn", "deriu_convai2", "deriu_dailydialog", "deriu_empathetic", "dstc7", "engage_dailydialog"),
    *("fed_turn", "grade_dailydialog", "grade_empathetic", "gupta_dailydialog", "holistic_context", "holistic_logic"),
    *("usr_personachat", "uss_ccpe", "uss_mwoz", "uss_redial", "uss_sgd", "zhao_dailydialog", "zhao_personachat"),
)


def find(asked: Asked) -> FullStudy:
    """The study of all turn-level sets; the same as `rejoinder study FILE... --drop-copies --leave-one-out`."""
    pieces = kept(asked, asked.files_or(SETS))
    examples = asked.examples(SETS)
    scorers = chosen(None, [example.dataset for example in examples]).scorers
    learner = cast("Learner", KeptLearner(cast("Learner", load_learner(DEFAULT)), pieces))
    with asked.stage("scoring", len(examples) * len(scorers)) as advance:
        return full_study(examples, leave_one_out=learner, drop_copies=True, seed=asked.seed, advance=advance)
