"""What `rejoinder` says of itself: all commands by task, and the help of one command."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand

_WIDEST, _GAP = 100, 2  # columns of a line of help; between two columns of it
TASKS = {
    "Score and compare": {
        "inspect": "Show what files hold and what can be done with them.",
        "score": "Score each reply in a file, by the bundled judge, metrics or scorers of your own.",
        "compare": "Compare two systems: which is better, or inconclusive.",
        "estimate": "Estimate mean ratings of systems from few human ratings and scores of all lines.",
    },
    "Study agreement": {
        "study": "Show which scorers agree with human ratings or preferences.",
        "ratings": "Measure how far raters agree, and make one rating of several.",
        "audit": "Find out what fools a scorer, and how often.",
    },
    "Ask people": {
        "annotate": "A web page on which people rate replies.",
    },
    "Train": {
        "fit": "A judge adapted to a few hundred ratings, or choices, of your own.",
        "train": "A judge of your own, from replies that people have rated.",
        "pretrain": "An encoder, or a system that replies, from dialogues.",
        "reinforce": "A system that replies as a judge likes it, by policy gradient.",
        "encode": "Texts to vectors, by such an encoder.",
    },
    "Systems that reply": {
        "respond": "Answer every context in a file.",
        "rerank": "The best of several replies to each context, and whether that made them better.",
        "selftalk": "Let systems talk with themselves or with each other.",
    },
    "Serve": {
        "serve": "Scores over HTTP, for programs in any language.",
    },
    "Look around": {
        "list": "All scorers, judges, encoders and responders, and what each needs.",
        "show": "One scorer or judge: what it reads, where it comes from, how far to trust it.",
        "doctor": "What is installed here, what is missing, how to get it.",
    },
}
COMMANDS = {name: f"rejoinder.cli.{name}" for task in TASKS.values() for name in task}
_FIRST = {
    "rejoinder inspect FILE": "what is in your file? rejoinder FILE is the same",
    "rejoinder study @pandalm -s column:gpt-3.5 -s length": "does GPT-3.5 judge as people do?",
    "rejoinder score @conture": "scores of short English chat",
}
_WHAT = "Finds out whether scores of a chatbot's replies agree with people, and how far to trust them."
_MORE = (
    "rejoinder COMMAND --help tells more of one, rejoinder --version which this is; --debug shows a traceback.",
    "Exit codes: 0 ok, 2 wrong call, 3 bad data, 4 a file or an extra is missing, 5 nothing could be scored, 6 a gate "
    "not passed, 7 an output cannot be written, 130 interrupted.",
)
# What typer calls a value that has no name of its own.
_VALUES = {"str": "TEXT", "int": "N", "float": "X", "path": "PATH", "file": "FILE"}


def overview() -> str:
    """The help of the program: its commands by task, and where to begin."""
    parts = ["Usage: rejoinder COMMAND ...\n", _wrapped(_WHAT)]
    wide = max(map(len, COMMANDS))
    parts += [f"{task}:\n{_columns(commands.items(), wide)}" for task, commands in TASKS.items()]
    parts += [f"Begin with:\n{_columns(_FIRST.items(), wide)}", "".join(map(_wrapped, _MORE))]
    return "\n".join(parts)


class Command(TyperCommand):
    """A command whose help is broken between words, and shows its options by group where they have one."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, what the command does, its arguments and its options."""
        indent = len(f"Usage: {ctx.command_path} ")
        formatter.write(_wrapped(f"Usage: {self.called(ctx)}", indent=indent))
        for paragraph in (self.help or "").split("\n\n"):
            formatter.write("\n" + _wrapped(" ".join(paragraph.split())))
        for title, records in self.groups(ctx).items():
            wide = min(max(len(name) for name, _ in records), 26)
            formatter.write(f"\n{_wrapped(f'{title}:')}{_columns(records, wide)}")

    def called(self, ctx: Any) -> str:
        """How it is called, in one line."""
        return " ".join([ctx.command_path, "[OPTIONS]", *map(_value, filter(_positional, self.params))])

    def groups(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """What it can be told, by group: each argument and option, and what it means."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                title = getattr(param, "rich_help_panel", None) or ("Arguments" if _positional(param) else "Options")
                name = _value(param) if _positional(param) else _plain(record[0])
                groups.setdefault(title, []).append((name, " ".join(record[1].split())))
        return {title: records for title, records in groups.items() if records}


def _value(argument: Any) -> str:
    """The name of an argument, in capitals."""
    return str(argument.metavar or argument.name.upper())


def _positional(param: Any) -> bool:
    """Whether it is an argument, which has no name to be given by."""
    return bool(param.param_type_name == "argument")


def _plain(name: str) -> str:
    """An option with its value, as one would write it: without the types of a programming language."""
    named = re.sub(r" <(\w+)( range)?>$", lambda found: " " + _VALUES.get(found[1], found[1].upper()), name)
    return re.sub(r" <([\w|-]+)>$", r" \1", named)


def _columns(rows: Iterable[tuple[str, str]], wide: int) -> str:
    """Names and what they mean; a name wider than its column has a line to itself."""
    text = ""
    for name, said in rows:
        start = 2 + wide + _GAP
        whole = _wrapped(said, indent=start, first=start)
        text += f"  {name:<{wide}}{whole[2 + wide :]}" if len(name) <= wide else f"  {name}\n{whole}"
    return text


def _wrapped(text: str, *, indent: int = 0, first: int = 0) -> str:
    """`text` in lines that fit the terminal and break no word, `indent` spaces before all but the first."""
    width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)
    wrapper = textwrap.TextWrapper(
        width,
        initial_indent=" " * first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapper.fill(text) + "\n"
