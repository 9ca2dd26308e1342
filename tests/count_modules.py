"""Count the modules that data passes in a command: `python tests/count_modules.py score lines.jsonl -o out.jsonl`.

A module counts where a frame of it holds an Example, or a row of the input, among its arguments or variables. The
command should have few lines: every call is looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from rejoinder import cli
from rejoinder.example import Example

_DEPTH = 2  # lists of lists of examples count, deeper nests do not


def holds_data(value: Any, depth: int = _DEPTH) -> bool:
    """Return whether a value is an Example, a row with a response, or a sequence that begins with one."""
    if isinstance(value, Example):
        return True
    if isinstance(value, dict):
        return "response" in value
    if depth and isinstance(value, (list, tuple)) and value:
        return holds_data(value[0], depth - 1)
    return False


def modules_of(call: list[str]) -> list[str]:
    """Return the modules of rejoinder that data passes in a command, in the order in which it first reaches them."""

    def command() -> None:
        with suppress(SystemExit):
            cli.main(call)

    return modules_passed(command)


def modules_passed(work: Callable[[], object], holds: Callable[[Any], bool] = holds_data) -> list[str]:
    """Return the modules of rejoinder with a frame that holds data during `work`, in the order of their first one."""
    passed: dict[str, None] = {}

    def look(frame: FrameType, _event: str, _argument: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("rejoinder.") and name not in passed and any(map(holds, list(frame.f_locals.values()))):
            passed[name] = None

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return list(passed)


if __name__ == "__main__":
    names = modules_of(sys.argv[1:])
    sys.stdout.write("\n".join([*names, f"{len(names)} modules", ""]))
