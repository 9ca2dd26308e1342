"""An attacked reply as a line of JSON."""

from __future__ import annotations

from typing import Any

from rejoinder.auditing.results import Attacked
from rejoinder.data.examples import to_record
from rejoinder.stats.figure import plain


def attacked_line(one: Attacked, scorer: str) -> dict[str, Any]:
    """An attacked reply as a line that `rejoinder score` reads, with its score and what was done to it."""
    record = to_record(one.attacked)
    own = {"scores": {**(record.get("scores") or {}), scorer: plain(one.after)}}
    told = {name: plain(getattr(one, name)) for name in ("before", "after", "fooled")}
    attack = {"family": one.family, "goal": one.goal, "id": one.original.id, "original": one.original.response, **told}
    return {**record, "id": f"{one.original.id}#{one.family}", **own, "attack": attack}
