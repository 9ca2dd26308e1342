"""How a report was made: sentences, files, command line, signatures, version and date."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from rejoinder.version import __version__

if TYPE_CHECKING:
    from rejoinder.report.record import Record

_SECRET = re.compile(
    r"(?i)((?:^|[^a-z])(?:api_?)?(?:key|token|password|secret)=)[^&#\s]+|(bearer\s+)\S+|(://)[^/@\s]+(?=@)"
)
_SECRET_OPTION = re.compile(r"(?i)--(?:[a-z-]+-)?(?:key|token|password|secret)")


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
