"""Label Studio: tasks of its JSON export; the texts under `data`, stars, numbers and choices by control and annotator.

Source: HumanSignal/label-studio docs/source/guide/export.md (Label Studio JSON format of annotated tasks).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.columns import ALIASES, plain
from rejoinder.data.format import Format, each, keys

_OVERALL = frozenset(("overall", "rating", "quality", "score", *" ".join(ALIASES["rating"]).split()))


def confirm(row: Mapping[str, Any]) -> bool:
    return isinstance(row["data"], Mapping) and isinstance(row["annotations"], list)


def record(task: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    ratings: dict[str, list[Any]] = {}
    raters: dict[str, list[Any]] = {}
    seen = set()
    for annotation in task["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        who = annotation.get("completed_by")
        who = (who.get("email") or who.get("id")) if isinstance(who, Mapping) else who
        for one in annotation.get("result") or ():
            value = (one.get("value") or {}).get(one.get("type"))
            value = value[0] if one.get("type") == "choices" and isinstance(value, list) and len(value) == 1 else value
            if one.get("type") in ("rating", "number", "choices") and not isinstance(value, (list, dict, type(None))):
                name = "overall" if plain(str(one.get("from_name"))) in _OVERALL else str(one.get("from_name"))
                if who is not None and (str(who), name, str(value)) in seen:
                    continue  # the same annotation exported again
                seen.add((str(who), name, str(value)))
                ratings.setdefault(name, []).append(value)
                raters.setdefault(name, []).append(None if who is None else str(who))
    yield {
        "id": str(task["id"]) if "id" in task else None,
        **task["data"],
        **({"ratings": ratings, "raters": raters} if ratings else {}),
    }


FORMAT = Format("label-studio", "Tasks of Label Studio", keys("data annotations"), each(record), confirm)
