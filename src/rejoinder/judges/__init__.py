"""Learned scorers: text to score, fit, save, load. The tables of judges and of what learns them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rejoinder.errors import DataError, UsageError
from rejoinder.registry import Entry, Registry

if TYPE_CHECKING:
    from rejoinder.judges.protocol import AnyLearner, LearnerOptions, PortableJudge
    from rejoinder.scorer import Scorer

DEFAULT = "rejoinder"
"""The bundled judge, which scores unless another scorer is named."""
READS = "reads the response and "


def _load(module: str, function: str) -> Callable[..., Any]:
    """Return a call of a function of this package whose module is imported when it is called."""
    return lambda *arguments: getattr(import_module(f"rejoinder.judges.{module}"), function)(*arguments)


BUNDLED: tuple[Entry[Scorer], ...] = (
    Entry(
        DEFAULT,
        "the bundled judge",
        lambda *_: _load("bundled", "bundled_judge")(),
        cards=lambda: import_module("rejoinder.judges.bundled").CARDS,
    ),
)
NAMED: tuple[Entry[Scorer], ...] = (
    Entry(
        "plus:MODEL",
        "the bundled judge with a small language model",
        lambda name: _load("bundled", "plus_judge")(name.partition(":")[2]),
        needs="the model",
    ),
)
KINDS: Registry[PortableJudge] = Registry(
    "kind of judge",
    (
        Entry("bilinear", "a bilinear form of vectors", _load("adem.judge", "from_parts")),
        Entry("views", "trees and ridge regression over features", _load("regression.judge", "from_parts")),
        Entry("panel", "several judges, by what a line has", _load("adem.panel", "from_parts")),
    ),
)
"""Trained judges by the kind that their folder names; `load(parts)` makes one."""


def _learner(name: str, reads: str, module: str = "adem.learner") -> Entry[AnyLearner]:
    command = f"rejoinder train {name} FILE... -o FOLDER"
    return Entry(name, f"{READS}{reads}", _load(module, "learner"), command, "ratings")


LEARNERS: Registry[AnyLearner] = Registry(
    "judge",
    (
        _learner("adem", "context and reference"),
        _learner("c-adem", "context"),
        _learner("r-adem", "reference"),
        _learner("autojudge", "context, in whole vectors"),
        _learner("judge", "context, and references where there are any", "regression.learner"),
        _learner("panel", "what is there, by the ADEM that fits", "adem.panel"),
        _learner("untrained", "context and reference, as ADEM before training"),
    ),
)
"""Judges that `rejoinder train` makes; `load(name, options)` makes the learner."""


def load_learner(name: str | AnyLearner, options: LearnerOptions | None = None) -> AnyLearner:
    """Return the learner of the judge with this name; a learner object comes back as it is.

    Args:
        name: one of `LEARNERS`, or `rejoinder`, for judges like the bundled one.
        options: of the learner, none for an object; None leaves all to the learner.

    Raises:
        UsageError: there is no such judge, or an option that it does not accept.
        DataError, MissingAsset, MissingExtra: a part of it cannot be loaded.
    """
    from rejoinder.judges.protocol import LearnerOptions

    options = options or LearnerOptions()
    if not isinstance(name, str):
        options.only(name.name, "vectors")
        return name
    if name == DEFAULT:
        learner: AnyLearner = _load("bundled", "learner")(name, options)
        return learner
    if name not in LEARNERS:
        raise UsageError(f"no judge is called {name!r}. There are: {', '.join(LEARNERS)}")
    return LEARNERS[name].load(name, options)


def load_judge(folder: str | Path) -> PortableJudge:
    """Return the trained judge in a folder.

    Raises:
        MissingAsset: the folder holds no judge, or a part of it is missing.
        MissingExtra: a library that its encoder needs is not installed.
        DataError: a part is damaged, or the folder holds no judge that this version knows.
    """
    from rejoinder.data.folders import in_folder, read_folder
    from rejoinder.models import MODELS

    parts = read_folder(folder)
    kind = str(parts.config.get("kind"))
    if kind in KINDS:
        with in_folder(folder):
            return KINDS[kind].load(parts)
    problem = f"a model of kind {kind!r}, expected {' or '.join(KINDS)}"
    remedy = "Update rejoinder, or train the judge again"
    if kind in MODELS and MODELS[kind].encoder:
        problem = f"a pre-trained encoder ({kind}), not a judge"
        remedy = f"Train a judge over it: rejoinder train adem FILE -e {folder} -o FOLDER"
    elif kind in MODELS and MODELS[kind].responder:
        problem = f"a responder ({kind}), not a judge"
        remedy = f"Let it answer, and score what it says: rejoinder respond FILE -r {folder} -o REPLIES.jsonl"
    raise DataError(problem, remedy, where=str(folder))


def written_card(name: str) -> str:
    """Return the card of a judge, given by its name or folder; "" if it has none."""
    from rejoinder.assets import JUDGE
    from rejoinder.data.folders import read_card
    from rejoinder.judges import bundled

    if name.startswith(f"{bundled.PREFIX}:"):
        return read_card(bundled.PLUS_FOLDER)
    return read_card(JUDGE if name == DEFAULT else name)
