"""Attacks on a scorer: how often they fool it, what its score goes with, and how reliable it is."""

from rejoinder.auditing.attack import Attack
from rejoinder.auditing.reliability import reliability_error
from rejoinder.auditing.run import audit

__all__ = ["Attack", "audit", "reliability_error"]
