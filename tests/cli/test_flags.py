"""A flag means one thing, in whatever command it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from types import NoneType
from typing import Any, NamedTuple, get_args, get_type_hints

import pytest

from rejoinder.cli import COMMANDS

# Where a result goes is a file or a folder, as the command makes one or the other.
ANY_FORM = {"--out"}


class Flag(NamedTuple):
    """One flag of one command: what it is called, what it means, and what form its value has."""

    command: str
    name: str
    short: tuple[str, ...]
    meaning: str
    form: str


def flags() -> list[Flag]:
    """All flags of all commands."""
    return [flag for command in COMMANDS for flag in of_command(command)]


def of_command(command: str) -> Iterator[Flag]:
    hints = get_type_hints(import_module(COMMANDS[command]).command, include_extras=True)
    for key, hint in hints.items():
        for mark in getattr(hint, "__metadata__", ()):
            if type(mark).__name__ == "OptionInfo":
                given = [one for one in (mark.default, *(mark.param_decls or ())) if str(one).startswith("-")]
                name = next((str(one) for one in given if str(one).startswith("--")), f"--{key.replace('_', '-')}")
                # What a flag means stands before the first stop or colon of its help; the rest is of the command.
                meaning = re.split(r"[.:;]( |$)", mark.help)[0]
                short = tuple(str(one) for one in given if not str(one).startswith("--"))
                yield Flag(command, name, short, meaning, form(hint.__origin__, mark.metavar))


def form(hint: Any, metavar: str | None) -> str:
    """What the value looks like: its choices, or what it is called; NAME stands for all that begins with a name."""
    (kind,) = set(get_args(hint) or (hint,)) - {NoneType}
    kind = (get_args(kind) or (kind,))[0]
    if issubclass(kind, Enum):
        return "|".join(str(one.value) for one in kind)
    return (metavar or kind.__name__).partition("=")[0]


def clashes(found: list[Flag]) -> list[str]:
    """The flags that mean two things, with both."""
    first: dict[str, Flag] = {}
    said = []
    for flag in found:
        known = first.setdefault(flag.name, flag)
        same_form = flag.form == known.form or flag.name in ANY_FORM
        if flag.meaning != known.meaning or not same_form or flag.short != known.short:
            said.append(f"{flag.name}: {known.command}: {known[2:]}; {flag.command}: {flag[2:]}")
    return said


def test_a_flag_means_one_thing() -> None:
    found = flags()
    assert len({flag.command for flag in found}) == len(COMMANDS) and len(found) > 80
    for name in sorted({flag.name for flag in found}):
        print(name, sorted({(flag.meaning, flag.form) for flag in found if flag.name == name}))  # noqa: T201 - what each flag means, for whoever runs this with -s
    assert clashes(found) == []


def test_a_letter_stands_for_one_flag() -> None:
    named = {(short, flag.name) for flag in flags() for short in flag.short}
    assert len(named) == len({short for short, _ in named})


@pytest.mark.parametrize(
    "other",
    [
        Flag("b", "--held-out", (), "Only dialogues that training leaves out", "SHARE"),
        Flag("b", "--held-out", (), "Also write the test part", "SHARE"),
        Flag("b", "--held-out", ("-h",), "Also write the test part", "FILE"),
    ],
)
def test_a_flag_of_two_meanings_is_found(other: Flag) -> None:
    (said,) = clashes([Flag("a", "--held-out", (), "Also write the test part", "FILE"), other])
    assert said.startswith("--held-out: a: ") and "; b: " in said


def test_every_command_says_what_each_of_its_flags_means() -> None:
    assert [flag for flag in flags() if not flag.meaning] == []
