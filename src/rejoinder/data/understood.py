"""Notes at the end of a file: formats, columns that were read, and texts that may hold more than they were read as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rejoinder.data import columns
from rejoinder.data.chat import unsplit_mark
from rejoinder.data.columns import Plan, plain
from rejoinder.data.formats.results import peek
from rejoinder.data.joins import Note
from rejoinder.data.values import under
from rejoinder.example import Example

_LINES, _LOOKED_AT = 5, 200
_MAY_BE_SYSTEM, _MOST_SYSTEMS = ("metadata.prompt_version", "prompt_version", "prompt_id", "version"), 20


@dataclass
class Understood:
    """The formats, columns and systems of one file, for the notes at its end; `labels`: whether it may hold labels."""

    labels: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    read: dict[tuple[str, ...], dict[str, None]] = field(default_factory=dict)
    systems: dict[str, set[str]] = field(default_factory=dict)
    looked_at: int = 0
    doubts: Counter[tuple[str, str]] = field(default_factory=Counter)
    versions: dict[str, set[str]] = field(default_factory=dict)

    def offer_system(self, data: Mapping[str, Any]) -> None:
        """Remember what may name the system of a line that has none."""
        for name in _MAY_BE_SYSTEM if self.labels else ():
            if isinstance(value := under(data, name), (str, int)) and len(self.versions.get(name, ())) <= _MOST_SYSTEMS:
                self.versions.setdefault(name, set()).add(str(value))

    def doubt(self, record: Mapping[str, Any], example: Example, plan: Plan) -> None:
        """Count texts of a plain file that may hold more than they were read as."""
        if self.looked_at >= _LOOKED_AT:
            return
        self.looked_at += 1
        for ours in ("context", "response"):
            text = record.get(ours)
            name = next(iter(plan.sources.get(ours, ())), ours)
            if isinstance(text, str) and text.lstrip()[:1] in ("[", "{") and isinstance(peek(text), (list, dict)):
                if ours == "response" or len(example.context) == 1:
                    self.doubts[f"{name} holds JSON", f"if the text is inside it: --map {ours}={name}.KEY"] += 1
            elif ours == "context" and isinstance(text, str) and len(example.context) == 1 and unsplit_mark(text):
                problem = f"{name} holds {unsplit_mark(text)!r} and was read as one turn"
                self.doubts[problem, "if it separates turns: write a list of turns"] += 1

    def tell(self, name: str, note: Note) -> None:
        """Give `note` at most five lines: formats, columns, names of systems."""
        counts = [(count, about) for about, count in self.counts.items() if count]
        lines = [f"{count:,} record{'s' if count > 1 else ''}, {about}" for count, about in counts]
        if self.left_out:
            lines.append(f"calls without a reply, which only call a tool, left out: {self.left_out:,}")
        for read, unread in self.read.items():
            names = ", ".join([*unread][:8]) + (f" and {len(unread) - 8} more" if len(unread) > 8 else "")
            parts = [f"read {', '.join(read)}"] if read else []
            maybe = next((one for one in unread if plain(one) in columns.MAY_BE_RATINGS), None)
            parts += [f"not read: {names}"] if unread else []
            hint = f" (if {maybe} is the rating: --map rating={maybe})" if maybe else ""
            lines += [f"{'; '.join(parts)}{hint}"] if parts else []
        for spellings in self.systems.values():
            if len(spellings) > 1:
                lines.append(f"systems that differ in case only: {', '.join(sorted(spellings))}")
        offered = [name for name, values in self.versions.items() if 1 < len(values) <= _MOST_SYSTEMS]
        if offered and not self.systems:
            lines.append(f"no line names its system; if {offered[0]} does: --map system={offered[0]}")
        for (problem, remedy), count in self.doubts.items():
            if count * 2 >= self.looked_at:
                lines.append(f"{problem} ({remedy})")
        for line in lines[:_LINES]:
            note(f"{name}: {line}")
        if len(lines) > _LINES:
            note(f"{name}: and {len(lines) - _LINES:,} more such lines")
