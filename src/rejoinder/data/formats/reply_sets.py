"""DailyDialog++: contexts with replies that fit and replies that do not, as replies labelled 1 and 0.

Source: Sai et al. (2020), Improving Dialog Evaluation with a Multi-reference Adversarial Dataset and Large Scale
Pretraining. The column `kind` says which reply is relevant, random, or adversarial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.format import Format, each, keys

RELEVANT = "positive_responses"
KINDS = {RELEVANT: "relevant", "random_negative_responses": "random", "adversarial_negative_responses": "adversarial"}


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether the row has no reply of its own, and lists of replies."""
    return "response" not in row and all(isinstance(row.get(key, []), list) for key in KINDS)


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield each reply with its label; the other relevant replies are its references."""
    kept = {key: value for key, value in row.items() if key not in KINDS}
    for key, kind in KINDS.items():
        for number, response in enumerate(row.get(key, []), start=1):
            references = [text for text in row[RELEVANT] if key != RELEVANT or text is not response]
            label = {"quality": {"overall": int(key == RELEVANT)}, "kind": kind}
            line_id = f"{row.get('id', where)}-{kind}-{number}"
            yield {**kept, "id": line_id, "response": response, "references": references, **label}


FORMAT = Format(
    "reply-sets",
    "Contexts with relevant and irrelevant replies (DailyDialog++)",
    keys(*(f"context {RELEVANT} {key}" for key in KINDS if key != RELEVANT)),
    each(record),
    confirm,
)
