"""FED: annotated turns of chatbots, `User:` and `System:` before each turn.

Source: DSincerity/FED_Replication fed_data.json (from shikib/fed): context, response, system, annotations.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.format import Format, each, keys
from rejoinder.errors import DataError

_LABEL = re.compile(r"^(?:User|System): ?", re.MULTILINE)


def confirm(row: Mapping[str, Any]) -> bool:
    return (
        isinstance(row["annotations"], Mapping)
        and isinstance(row["context"], str)
        and bool(_LABEL.match(row["context"]))
    )


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    if not isinstance(row.get("response"), str):
        raise DataError(
            "a whole conversation, expected one reply",
            "Leave it out, or say --on-error skip",
            where=where,
            field="response",
        )
    ratings = {
        name: [one for one in values if isinstance(one, (int, float))] for name, values in row["annotations"].items()
    }
    ratings = {"overall" if name == "Overall" else name: values for name, values in ratings.items() if values}
    turns = [turn.strip() for turn in _LABEL.split(row["context"]) if turn.strip()]
    yield {
        "context": turns,
        "response": _LABEL.sub("", row["response"], count=1),
        "system": row.get("system"),
        "ratings": ratings,
    }


FORMAT = Format("fed", "FED's annotated turns", keys("context system annotations"), each(record), confirm)
