"""Scores and ratings to statements: how far scorers agree with people, and which of two systems they prefer."""

from rejoinder.meta.agreement import Agreement, Study
from rejoinder.meta.full_study import FullStudy
from rejoinder.meta.preference_results import PairStudy, Preference
from rejoinder.meta.preferences import study_pairs
from rejoinder.meta.study import full_study, study

__all__ = [
    "Agreement",
    "FullStudy",
    "PairStudy",
    "Preference",
    "Study",
    "full_study",
    "study",
    "study_pairs",
]
