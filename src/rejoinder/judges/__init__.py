"""Learned scorers: text to score, fit, save, load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rejoinder.errors import DataError, UsageError
from rejoinder.registry import Entry, Registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rejoinder.data.folders import Parts
    from rejoinder.judges.learner import AnyLearner, Choices, PortableJudge
    from rejoinder.scorer import Card, Scorer

DEFAULT = "rejoinder"
"""The bundled judge, which scores unless another scorer is named."""
READS = "reads the response and "


def _bundled(_name: str = DEFAULT, _vectors: str | Path | None = None) -> Scorer:
    from rejoinder.judges.boxed import bundled_judge

    return bundled_judge()


def _bundled_cards() -> Mapping[str, Card]:
    from rejoinder.judges.boxed import CARDS

    return CARDS


def _plus(name: str) -> Scorer:
    from rejoinder.judges.plus import load

    return load(name)


def _adem_learner(name: str, choices: Choices) -> AnyLearner:
    from rejoinder.judges.adem.learner import learner

    return learner(name, choices)


def _panel_learner(name: str, choices: Choices) -> AnyLearner:
    from rejoinder.judges.adem.panel import learner

    return learner(name, choices)


def _views_learner(name: str, choices: Choices) -> AnyLearner:
    from rejoinder.judges.regression.learner import learner

    return learner(name, choices)


def _bundled_learner(name: str, choices: Choices) -> AnyLearner:
    from rejoinder.judges.boxed import learner

    return learner(name, choices)


def _bilinear(parts: Parts) -> PortableJudge:
    from rejoinder.judges.adem.judge import from_parts

    return from_parts(parts)


def _views(parts: Parts) -> PortableJudge:
    from rejoinder.judges.regression.judge import from_parts

    return from_parts(parts)


def _panel(parts: Parts) -> PortableJudge:
    from rejoinder.judges.adem.panel import from_parts

    return from_parts(parts)


BUNDLED: tuple[Entry[Scorer], ...] = (Entry(DEFAULT, "the bundled judge", _bundled, cards=_bundled_cards),)
NAMED: tuple[Entry[Scorer], ...] = (
    Entry("plus:MODEL", "the bundled judge with a small language model", _plus, needs="the model"),
)
KINDS: Registry[PortableJudge] = Registry(
    "kind of judge",
    (
        Entry("bilinear", "a bilinear form of vectors", _bilinear),
        Entry("views", "trees and ridge regression over features", _views),
        Entry("panel", "several judges, by what a line has", _panel),
    ),
)
"""Trained judges by the kind that their folder names; `load(parts)` makes one."""


def _learner(name: str, reads: str, load: Any) -> Entry[AnyLearner]:
    return Entry(name, f"{READS}{reads}", load, f"rejoinder train {name} FILE... -o FOLDER", "ratings")


LEARNERS: Registry[AnyLearner] = Registry(
    "judge",
    (
        _learner("adem", "context and reference", _adem_learner),
        _learner("c-adem", "context", _adem_learner),
        _learner("r-adem", "reference", _adem_learner),
        _learner("autojudge", "context, in whole vectors", _adem_learner),
        _learner("judge", "context, and references where there are any", _views_learner),
        _learner("panel", "what is there, by the ADEM that fits", _panel_learner),
        _learner("untrained", "context and reference, as ADEM before training", _adem_learner),
    ),
)
"""Judges that `rejoinder train` makes; `load(name, choices)` makes the learner."""
# Judges like the bundled one, to leave data sets out one by one.
_MORE_LEARNERS: Registry[AnyLearner] = Registry("judge", (Entry(DEFAULT, "", _bundled_learner),))


def load_learner(name: str | AnyLearner, choices: Choices | None = None) -> AnyLearner:
    """Return the learner of the judge with this name; a learner object comes back as it is.

    Args:
        name: one of `LEARNERS`, or `rejoinder`, for judges like the bundled one.
        choices: options of the learner, none for an object; None leaves all to the learner.

    Raises:
        UsageError: there is no such judge, or a choice that it does not accept.
        DataError, MissingAsset, MissingExtra: a part of it cannot be loaded.
    """
    from rejoinder.judges.learner import Choices

    choices = choices or Choices()
    if not isinstance(name, str):
        choices.only(name.name, "vectors")
        return name
    entry = LEARNERS.get(name) or _MORE_LEARNERS.get(name)
    if entry is None:
        raise UsageError(f"no judge is called {name!r}. There are: {', '.join(LEARNERS)}")
    return entry.load(name, choices)


def load_judge(folder: str | Path) -> PortableJudge:
    """Return the trained judge in a folder.

    Raises:
        MissingAsset: the folder holds no judge, or a part of it is missing.
        MissingExtra: a library that its encoder needs is not installed.
        DataError: a part is damaged, or the folder holds no judge that this version knows.
    """
    from rejoinder.data.folders import in_folder, read_folder

    parts = read_folder(folder)
    kind = str(parts.config.get("kind"))
    if kind not in KINDS:
        raise DataError(*_no_judge(kind, folder), where=str(folder))
    with in_folder(folder):
        return KINDS[kind].load(parts)


def _no_judge(kind: str, folder: str | Path) -> tuple[str, str]:
    """Return the problem with a folder that holds another kind of model, and the remedy."""
    from rejoinder.models import MODELS

    if kind in MODELS and MODELS[kind].encoder:
        remedy = f"Train a judge over it: rejoinder train adem FILE -e {folder} -o FOLDER"
        return f"a pre-trained encoder ({kind}), not a judge", remedy
    if kind in MODELS and MODELS[kind].responder:
        remedy = f"Let it answer, and score what it says: rejoinder respond FILE -r {folder} -o REPLIES.jsonl"
        return f"a responder ({kind}), not a judge", remedy
    found = f"a model of kind {kind!r}, expected {' or '.join(KINDS)}"
    return found, "Update rejoinder, or train the judge again"


def written_card(name: str) -> str:
    """Return the card in the folder of a judge, by its name or folder; "" if it has none."""
    from rejoinder.data.folders import read_card
    from rejoinder.judges import boxed, plus

    if name.startswith(f"{plus.PREFIX}:"):
        return read_card(plus.FOLDER)
    return read_card(boxed.FOLDER if name == DEFAULT else name)
