"""The record of results, without the formats that show them: numbers, sentences, layout, and how they were made."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from rejoinder import estimates as estimates_module
from rejoinder.estimates import LABELS, Estimate, pick, plain, rows
from rejoinder.report.layout import Case, Layout
from rejoinder.version import __version__

FORMAT_VERSION = 2
_SECRET = re.compile(
    r"(?i)((?:^|[^a-z])(?:api_?)?(?:key|token|password|secret)=)[^&#\s]+|(bearer\s+)\S+|(://)[^/@\s]+(?=@)"
)
_SECRET_OPTION = re.compile(r"(?i)--(?:[a-z-]+-)?(?:key|token|password|secret)")


class Gate(NamedTuple):
    """The outcome of a gate that was asked for: whether it was passed, and why, in a sentence."""

    passed: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What an analysis was made of.

    `data` has `dataset`, `rated`, `contexts`, `systems`, `scale` and so on for each data set. `scorers` has by name
    `kind`, `asked`, `signature` (a mapping), `warnings` (a count for each), `unscored`, `fitted` and so on; `options`
    are such as `resamples`, `seed` and `dimension`; `counts` are of lines read, rated and so on.
    """

    data: Sequence[Mapping[str, Any]] = ()
    scorers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def signatures(self) -> dict[str, Mapping[str, Any]]:
        """The signatures of the scorers that have one."""
        return {name: facts["signature"] for name, facts in self.scorers.items() if facts.get("signature")}


@dataclass(frozen=True, kw_only=True)
class Record:
    """The results of one analysis.

    Attributes:
        command: the command that gives the same: "study", "compare" and so on.
        estimates: every measured number.
        answer: sentences; the first has at most 20 words.
        warnings: what to know before you trust the answer.
        cases: quoted lines.
        about: data, scorers and options.
        gate: the outcome of a gate; None without one.
        layout: tables and charts.
    """

    command: str
    estimates: tuple[Estimate, ...]
    answer: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()
    about: About = field(default_factory=About)
    gate: Gate | None = None
    layout: Layout = field(default_factory=Layout)

    def __post_init__(self) -> None:
        """Refuse statistics that are not in the closed list, and two estimates with the same labels."""
        seen = set()
        for estimate in self.estimates:
            if estimate.statistic not in estimates_module.STATISTICS:
                raise LookupError(f"statistic {estimate.statistic!r} is not in STATISTICS. Add it to the list")
            labels = tuple(getattr(estimate, name) for name in LABELS)
            if labels in seen:
                raise LookupError(f"two estimates have the labels {dict(zip(LABELS, labels, strict=True))}")
            seen.add(labels)

    def pick(self, **labels: Any) -> list[Estimate]:
        """Return the estimates with these labels, in order; a label may be a collection of values."""
        return pick(self.estimates, **labels)

    def one(self, **labels: str) -> Estimate:
        """Return the only estimate with these labels, or an empty one with a reason; several raise LookupError."""
        return estimates_module.one(self.estimates, **labels)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values: numbers that do not exist are None."""
        return {
            "version": FORMAT_VERSION,
            "command": self.command,
            "answer": list(self.answer),
            "warnings": list(self.warnings),
            "results": rows(self.estimates),
            "signature": plain(self.about.signatures),
            "scorers": {
                name: {key: plain(value) for key, value in facts.items() if key != "signature"}
                for name, facts in self.about.scorers.items()
            },
            "options": plain(self.about.options),
            "counts": plain(self.about.counts),
            "data": plain(self.about.data),
            "cases": [{"why": case.why, **plain(case.values)} for case in self.cases],
            "gate": self.gate and self.gate._asdict(),
        }

    def to_json(self) -> str:
        """Return `to_dict` as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False) + "\n"


class Made(NamedTuple):
    """How a report was made: sentences, the command without secrets, and the signatures of the scorers by name."""

    sentences: Sequence[str] = ()
    command_line: str = ""
    signatures: Mapping[str, str] = {}


def made(results: Record, command_line: str = "") -> Made:
    """Return how `results` were made. `about.options["files"]` holds the names of the files that were read."""
    read = [f"Files: {', '.join(map(str, files))}." for files in [results.about.options.get("files")] if files]
    last = f"Made by rejoinder {__version__} on {today()}."
    signatures = {name: "|".join(map("{0[0]}:{0[1]}".format, signature.items()))
                  for name, signature in results.about.signatures.items()}  # fmt: skip
    return Made([*results.layout.made, *read, last], masked(command_line), signatures)


def today() -> str:
    """Return the date of a report: that of SOURCE_DATE_EPOCH if it is set, which makes reports reproducible."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now().astimezone()
    return moment.date().isoformat()


def masked(command_line: str) -> str:
    """Return a command line without keys, tokens, passwords and the user parts of addresses."""
    try:
        words = shlex.split(command_line)
    except ValueError:  # a quotation mark without its partner
        return _SECRET.sub(_mask, command_line)
    for place, word in enumerate(words):
        after_option = place and _SECRET_OPTION.fullmatch(words[place - 1])
        words[place] = "***" if after_option else _SECRET.sub(_mask, word)
    return shlex.join(words).replace("'***'", "***")


def _mask(match: re.Match[str]) -> str:
    """Return what comes before a secret, and a mask."""
    return f"{match[1] or match[2] or match[3]}***"
