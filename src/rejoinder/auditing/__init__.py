"""Attacks on a scorer, a battery of them, and what they show."""

from rejoinder.auditing.attack import Attack
from rejoinder.auditing.run import audit

__all__ = ["Attack", "audit"]
