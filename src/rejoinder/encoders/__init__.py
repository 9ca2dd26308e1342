"""Texts to vectors, and the projection of vectors."""

from rejoinder.encoders.average import AverageEncoder
from rejoinder.encoders.projection import Projection, fit_projection

__all__ = ["AverageEncoder", "Projection", "fit_projection"]
