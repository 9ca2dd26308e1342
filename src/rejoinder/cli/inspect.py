"""`rejoinder inspect`: what files hold, as rejoinder understands them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rejoinder.cli.common import AsJson, Files, OnError, OnErrorFlag, progress, reporting, tell
from rejoinder.cli.inputs import Columns, InputFormat, RatingScale, Turns, TurnsFlag, how, typed
from rejoinder.cli.places import STDOUT, Writes
from rejoinder.errors import UsageError
from rejoinder.example import Example, Pair

if TYPE_CHECKING:
    from rejoinder.data.summary import FileSummary

SHOWN, TURNS = 300, 4
"""Characters of a text, and turns of a context, that are printed."""
FIELDS = (
    *("id", "dataset", "context", "response", "responses", "references", "sources", "system", "systems"),
    *("ratings", "raters", "quality", "scale", "scales", "preferred", "votes"),
)
COUNTS = ("examples", "pairs", "rated", "labelled", "with_references", "with_sources", "skipped")
SYSTEMS = 8
"""Names of systems that are printed."""

Out = Annotated[
    Path | None,
    typer.Option("-o", "--out", help="Where to: all lines in the form of rejoinder, as .jsonl.", metavar="FILE"),
    Writes(),
]


def command(
    files: Files,
    out: Out = None,
    as_json: AsJson = False,
    scale: RatingScale = None,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Show what files hold: the first examples as understood, counts, and commands to run next.

    With -o all lines are written in the form of rejoinder, which every command reads without a --map. `rejoinder FILE`
    is the same as `rejoinder inspect FILE`.
    """
    from rejoinder.data.summary import describe
    from rejoinder.data.write import format_of, open_writer

    if out is not None and format_of(out) != "jsonl":
        raise UsageError(f"{out}: inspect writes JSON lines. Name a file that ends in .jsonl")
    if as_json and str(out) == STDOUT:
        raise UsageError("-o - and --json both write to standard output. Name a file after -o")
    reading = how(columns, input_format, turns)
    del reading["note"]
    reading["scale"] = scale
    with (
        reporting(on_error) as report_error,
        progress("reading", streaming=str(out) == STDOUT) as advance,
        ExitStack() as end,
    ):
        put = None if out is None else end.enter_context(open_writer(out, "jsonl"))

        def each(line: Example | Pair) -> None:
            advance(1)
            if put is not None:
                put(record(line))

        summary = describe(files, each=each, on_error=report_error, **reading)
    flags = typed(columns, input_format, turns, on_error)
    calls = summary.calls
    if scale is not None:  # these two take none
        flags += ["--scale", scale]
        calls = tuple(call for call in calls if call.split()[1] not in ("annotate", "compare"))
    summary = replace(summary, calls=tuple(" ".join([call, *map(shlex.quote, flags)]) for call in calls))
    if as_json:
        typer.echo(json.dumps(data(summary), indent=2, ensure_ascii=False))
        return
    tell("\n".join(text(summary)) + (f"\nsaved in {out}" if out else ""), err=str(out) == STDOUT)


def record(line: Example | Pair) -> dict[str, Any]:
    """Return the JSON object of a line; a pair has its replies under `responses`."""
    from rejoinder.data.examples import to_record

    if isinstance(line, Example):
        return to_record(line)
    first, second = (to_record(reply) for reply in line.replies)
    shared = {key: value for key, value in first.items() if key in second and second[key] == value}
    apart = [key for key in dict.fromkeys([*first, *second]) if key not in (*shared, "id", "response", "system")]
    own = {f"{key}_{mark}": one[key] for key in apart for mark, one in (("a", first), ("b", second)) if key in one}
    named = {"systems": [reply.system for reply in line.replies]} if any(r.system for r in line.replies) else {}
    votes = {"votes": list(line.votes)} if line.votes else {}
    replies = {"responses": [reply.response for reply in line.replies], "preferred": line.preferred}
    return {"id": line.id, **shared, **own, **replies, **votes, **named}


def data(summary: FileSummary) -> dict[str, Any]:
    """Return the summary as a JSON object."""
    counts = {key: getattr(summary, key) for key in COUNTS}
    first = [record(line) for line in summary.first]
    rest = {"systems": list(summary.systems), "notes": list(summary.notes), "calls": list(summary.calls)}
    return {"version": 1, "format": summary.format, **counts, **rest, "first": first}


def text(summary: FileSummary) -> Iterator[str]:
    """Yield the lines that describe the files to a person."""
    yield from summary.notes
    counts = {key.replace("_", " "): getattr(summary, key) for key in COUNTS if getattr(summary, key)}
    words = [f"{count:,} {key}" for key, count in counts.items()]
    single = {"1 examples": "1 example", "1 pairs": "1 pair"}
    yield ", ".join(single.get(word, word) for word in words) or "No examples"
    if not summary.rated and not summary.pairs:
        yield "No ratings were read. If a column holds them: --map rating=COLUMN"
    if systems := summary.systems:
        more = f" and {len(systems) - SYSTEMS:,} more" if len(systems) > SYSTEMS else ""
        yield f"Systems: {', '.join(systems[:SYSTEMS])}{more}"
    for number, line in enumerate(summary.first, 1):
        yield f"\nExample {number}"
        yield from shown(line)
    if summary.calls:
        yield "\nNext:"
        yield from (f"  {call}" for call in summary.calls)


def shown(line: Example | Pair) -> Iterator[str]:
    """Yield a row for each field of a line: of a long context its end, of a long text its beginning."""
    fields = record(line)
    for key in [key for key in FIELDS if key in fields]:
        value = fields.pop(key)
        values = value if isinstance(value, list) and all(isinstance(item, str) for item in value) else [value]
        from_turn = max(0, len(values) - TURNS) if key == "context" else 0
        if from_turn:
            yield f"  context: {from_turn:,} earlier turn{'s' if from_turn > 1 else ''}"
        for number, item in enumerate(values[from_turn:], from_turn + 1):
            words = " ".join((item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)).split())
            rest = f" ... ({len(words):,} characters)" if len(words) > SHOWN else ""
            yield f"  {f'{key} {number}' if len(values) > 1 else key}: {words[:SHOWN]}{rest}"
    if fields:
        yield f"  kept as it is: {', '.join(fields)}"
