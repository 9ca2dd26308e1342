"""Scores and ratings to statements: how far scorers agree with people, and which of two systems they prefer."""

from rejoinder.meta.agreement import Agreement, Study
from rejoinder.meta.compare import compare
from rejoinder.meta.comparison import Comparison, Contrast
from rejoinder.meta.gap import Stratum
from rejoinder.meta.preference_results import PairStudy, Preference
from rejoinder.meta.preferences import study_pairs

__all__ = [
    "Agreement",
    "Comparison",
    "Contrast",
    "PairStudy",
    "Preference",
    "Stratum",
    "Study",
    "compare",
    "study_pairs",
]
