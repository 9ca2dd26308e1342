"""The lazy name table: which scorers there are, and how to get one by its name.

Adding a scorer takes its file, its test, and one line of `SCORERS`. The module named there has two names:
`CARDS`, a mapping from scorer name to `Card` (the presets included), and `load(name, vectors)`, which makes the scorer.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rejoinder.errors import UsageError

if TYPE_CHECKING:
    from rejoinder.records import Example
    from rejoinder.scorer import Card, Scorer, Scores

SCORERS: dict[str, str] = {
    "bleu-1": "rejoinder.metrics.bleu",
    "bleu-2": "rejoinder.metrics.bleu",
    "bleu-3": "rejoinder.metrics.bleu",
    "bleu-4": "rejoinder.metrics.bleu",
    "rouge-l": "rejoinder.metrics.rouge",
    "meteor": "rejoinder.metrics.meteor",
    "embedding-average": "rejoinder.metrics.embedding",
    "embedding-greedy": "rejoinder.metrics.embedding",
    "embedding-extrema": "rejoinder.metrics.embedding",
    "length": "rejoinder.metrics.baselines",
    "context-overlap": "rejoinder.metrics.baselines",
}

# The module whose `load(folder)` makes a scorer of a trained judge.
JUDGES = "rejoinder.judges"


def cards() -> dict[str, Card]:
    """The cards of all scorers that have a name of their own, presets included, by name, in the table's order."""
    return {
        name: card
        for family, module in SCORERS.items()
        for name, card in import_module(module).CARDS.items()
        if name.partition("/")[0] == family
    }


def load_scorer(name: str | Path | Scorer, *, vectors: str | Path | None = None) -> Scorer:
    """The scorer called `name`; a scorer object comes back as it is.

    Args:
        name: a name from `cards()`, or the folder of a trained judge.
        vectors: file of word vectors for scorers that need them; None takes those in the box.

    Raises:
        UsageError: there is no scorer of that name; the message holds the nearest ones.
        MissingAsset: the vectors or the judge's files are not there.
        DataError: they are damaged.
    """
    if not isinstance(name, (str, Path)):
        return name
    module = SCORERS.get(str(name).partition("/")[0])
    if module is not None and str(name) in import_module(module).CARDS:
        scorer: Scorer = import_module(module).load(str(name), vectors)
        return scorer
    if Path(name).is_dir():
        judge: Scorer = import_module(JUDGES).load(Path(name))
        return judge
    raise UsageError(_unknown(str(name)))


def score(examples: Sequence[Example], scorer: str | Path | Scorer, **resources: Any) -> Scores:
    """The scores of `examples` by `scorer`, a name, a judge's folder or a scorer object.

    Args:
        examples: what to score, in the order the scores come back in.
        scorer: see `load_scorer`.
        resources: passed on to `load_scorer` (`vectors=...`).
    """
    from rejoinder.scorer import run

    return run(load_scorer(scorer, **resources), examples)


def _unknown(name: str) -> str:
    """The message for a name that is neither a scorer nor a folder."""
    names = list(cards())
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5) or [known for known in names if "/" not in known]
    looks_like_path = "/" in name and name.partition("/")[0] not in SCORERS
    folder = f"; there is no folder {name!r} either" if looks_like_path else ""
    return f"no scorer is called {name!r}{folder}. Nearest: {', '.join(near)}. All of them: rejoinder list"
