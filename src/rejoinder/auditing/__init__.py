"""How a scorer can be fooled: attacks, a battery of them, and the card of what they did."""

from rejoinder.auditing.attack import Attack
from rejoinder.auditing.card import Audit
from rejoinder.auditing.relevance import relevance
from rejoinder.auditing.run import audit

__all__ = ["Attack", "Audit", "audit", "relevance"]
