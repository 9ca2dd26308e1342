"""Tables of cases for the tests of reading: a file, how it is read, and what comes of it."""

import json
from pathlib import Path
from typing import Any

from rejoinder.data.examples import to_record
from rejoinder.data.read import read_lines
from rejoinder.example import Pair


def chat(*texts: str) -> list[dict[str, str]]:
    """Return messages of user and assistant in turn."""
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def written(folder: Path, name: str, content: Any) -> Path:
    """Write a text, or records as JSON lines, and return the path."""
    path = folder / name
    path.write_text(
        content if isinstance(content, str) else "".join(f"{json.dumps(record)}\n" for record in content),
        encoding="utf-8",
    )
    return path


def read_from(folder: Path, name: str, content: Any, **how: Any) -> list[dict[str, Any]]:
    """Return what a file is read as; without ids that name lines, and without messages."""
    found = []
    for line in read_lines(written(folder, name, content), **how):
        record = (
            {"pair": [[list(reply.context), reply.response, reply.system] for reply in line.replies]}
            | {"preferred": line.preferred, "votes": list(line.votes)}
            if isinstance(line, Pair)
            else to_record(line)
        )
        record.pop("messages", None)
        if str(record.get("id", "")).startswith(str(folder)):
            del record["id"]
        found.append(record)
    return found
