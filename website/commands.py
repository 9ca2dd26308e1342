"""The page of all commands, from what the command line says of itself."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import typer

from rejoinder.cli.help import TASKS, Command

_HEAD = """# Commands

What `rejoinder COMMAND --help` tells, of every command. Results go to standard output, progress and messages to
standard error; `-` is standard input or output. Exit codes: [what is read, written and sent](safety.md#outputs).
"""


def commands() -> str:
    """The page in Markdown: a section a task, in it one a command, with its arguments and options in tables."""
    parts = [_HEAD]
    for task, named in TASKS.items():
        parts += [f"## {task}\n", *(_section(name, said) for name, said in named.items())]
    return "\n".join(parts)


def _section(name: str, said: str) -> str:
    """One command: what it is for, how it is called, what it does, what it can be told."""
    command = made(name)
    context = typer.Context(command, info_name=f"rejoinder {name}")
    parts = [f"### {name}\n\n{said}\n", f"```text\n{command.called(context)}\n```\n"]
    parts += [f"{_inert(' '.join(paragraph.split()))}\n" for paragraph in (command.help or "").split("\n\n")]
    for title, records in command.groups(context).items():
        rows = "".join(f"| `{option}` | {_inert(meaning)} |\n" for option, meaning in records)
        parts.append(f"| {title} | |\n| --- | --- |\n{rows}")
    return "\n".join(parts)


def made(name: str) -> Any:
    """The command `name` as the program makes it."""
    app = typer.Typer(add_completion=False)
    app.command(name, cls=Command)(import_module(f"rejoinder.cli.{name}").command)
    return typer.main.get_command(app)


def _inert(text: str) -> str:
    """`text`, in which nothing is markup but what stands in backquotes."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*_<|\[\]\\])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)
