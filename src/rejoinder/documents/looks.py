"""How scorers look in pictures: one look a kind, the same in every report (`page.css` draws them)."""

from __future__ import annotations

KINDS = {
    "judge": "learned judge",
    "metric": "metric",
    "baseline": "trivial baseline",
    "reads": "knows ratings of other contexts, reads no reply",
}
