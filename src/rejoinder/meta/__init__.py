"""Scores and ratings to statements: how far scorers agree with people."""

from rejoinder.meta.results import Agreement, Study
from rejoinder.meta.study import study

__all__ = ["Agreement", "Study", "study"]
