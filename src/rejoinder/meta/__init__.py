"""Scores and ratings to statements: how far scorers agree with people, and which of two systems they prefer."""

from rejoinder.meta.agreement import Agreement, Study
from rejoinder.meta.compare import compare
from rejoinder.meta.comparison import Comparison, Contrast
from rejoinder.meta.gap import Stratum

__all__ = [
    "Agreement",
    "Comparison",
    "Contrast",
    "Stratum",
    "Study",
    "compare",
]
