"""The samples of docs/formats.md and their results; `python tests/formats_page.py` writes the results again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from rejoinder.cli.inspect import record
from rejoinder.data.columns import FIELDS, mapping
from rejoinder.data.files import Row, rows
from rejoinder.data.format import detect
from rejoinder.data.read import How, raise_error, read_lines
from rejoinder.errors import RejoinderError

PATH = Path(__file__).parents[1] / "docs" / "formats.md"
SAMPLE = re.compile(
    r"^(?P<head>(?:\*\*`(?P<name>[\w-]+)`[^\n]*\n\n)?```(?P<suffix>csv|jsonl|json)\n(?P<text>.*?)^```\n\n```result\n)"
    r"(?P<result>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
OF_TOOLS = "## Files of other tools"
SHOWN = {*FIELDS, "scores", "responses", "preferred", "votes", "systems"}
FORMAT_NOTE = re.compile(r"\d+ records?, ")


def filled(page: str) -> str:
    """Return the page with the results that its samples give now."""
    tools = page.index(OF_TOOLS)
    return SAMPLE.sub(lambda sample: f"{sample['head']}{result(sample, of_tool=sample.start() > tools)}```", page)


def result(sample: re.Match[str], *, of_tool: bool) -> str:
    """Return the result of a sample: its options, the notes, and each line in our own form.

    Notes that name the format are left out, and of a file of a tool the keys that are no fields.
    """
    options = [line.split(" ", 1) for line in sample["result"].splitlines() if line.startswith("--")]
    notes: list[str] = []
    how: How = {"note": notes.append}
    for flag, value in options:
        if flag == "--map":
            how["map"] = mapping([value])
        else:
            how[flag.removeprefix("--")] = value  # type: ignore[literal-required]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"sample.{sample['suffix']}"
        path.write_text(sample["text"], encoding="utf-8")
        try:
            records = [record(line) for line in read_lines(path, **how)]
        except RejoinderError as error:
            return f"error: {str(error).removeprefix(f'{path}:')}\n"
    for number, line in enumerate(records):
        dropped = {"messages", "request"} | ({*line} - SHOWN if of_tool else set())
        dropped |= {"id"} if str(line.get("id", "")).startswith(str(path)) else set()
        records[number] = {key: value for key, value in line.items() if key not in dropped}
    said = [note.removeprefix(f"{path}: ") for note in notes]
    return "".join(
        f"{line}\n"
        for line in (
            *map(" ".join, options),
            *(f"said: {note}" for note in said if not FORMAT_NOTE.match(note)),
            *(json.dumps(line, ensure_ascii=False) for line in records),
        )
    )


def format_of(sample: re.Match[str], folder: Path) -> str:
    """Return the name of the format of a sample."""
    path = folder / f"sample.{sample['suffix']}"
    path.write_text(sample["text"], encoding="utf-8")
    (first, *_) = rows(path, raise_error)
    assert isinstance(first, Row)
    kind = detect(first)
    return kind.name if kind else ""


if __name__ == "__main__":
    PATH.write_text(filled(PATH.read_text(encoding="utf-8")), encoding="utf-8")
