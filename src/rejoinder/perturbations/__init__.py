"""Perturbations: small functions that make a response worse, keep it as good, or change nothing that a reader sees."""

from rejoinder.perturbations import degrading, preserving  # noqa: F401 - they fill the table
from rejoinder.perturbations.perturbation import PERTURBATIONS, Corpus, Goal, Perturbation

__all__ = ["PERTURBATIONS", "Corpus", "Goal", "Perturbation"]
