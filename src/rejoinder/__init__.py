"""rejoinder judges replies: given a conversation and a response, how good would a person find that response?

The names below load on first use, so that `import rejoinder` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rejoinder.version import __version__

if TYPE_CHECKING:
    from rejoinder.catalogue import load_scorer, score
    from rejoinder.errors import RejoinderError
    from rejoinder.io import read, write
    from rejoinder.judges.train import train_judge
    from rejoinder.meta import compare, full_study, study
    from rejoinder.records import Example, Rating
    from rejoinder.scorer import Card, Encoder, Scorer, Scores

_HOME = {
    "Card": "rejoinder.scorer",
    "Encoder": "rejoinder.scorer",
    "Example": "rejoinder.records",
    "Rating": "rejoinder.records",
    "RejoinderError": "rejoinder.errors",
    "Scorer": "rejoinder.scorer",
    "Scores": "rejoinder.scorer",
    "compare": "rejoinder.meta",
    "full_study": "rejoinder.meta",
    "load_scorer": "rejoinder.catalogue",
    "read": "rejoinder.io",
    "score": "rejoinder.catalogue",
    "study": "rejoinder.meta",
    "train_judge": "rejoinder.judges.train",
    "write": "rejoinder.io",
}

__all__ = [
    "Card",
    "Encoder",
    "Example",
    "Rating",
    "RejoinderError",
    "Scorer",
    "Scores",
    "__version__",
    "compare",
    "full_study",
    "load_scorer",
    "read",
    "score",
    "study",
    "train_judge",
    "write",
]


def __getattr__(name: str) -> Any:
    """Load `name` from its home on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'rejoinder' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__
