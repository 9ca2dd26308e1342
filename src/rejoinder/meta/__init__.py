"""Scores and ratings to statements: how far scorers agree with people, and which of two systems they prefer."""

from rejoinder.meta.compare import compare
from rejoinder.meta.comparison import Comparison, Contrast, Stratum
from rejoinder.meta.findings import FullStudy
from rejoinder.meta.full_study import full_study
from rejoinder.meta.preference_results import PairStudy, Preference
from rejoinder.meta.preferences import study_pairs
from rejoinder.meta.results import Agreement, Study
from rejoinder.meta.study import study

__all__ = [
    "Agreement",
    "Comparison",
    "Contrast",
    "FullStudy",
    "PairStudy",
    "Preference",
    "Stratum",
    "Study",
    "compare",
    "full_study",
    "study",
    "study_pairs",
]
