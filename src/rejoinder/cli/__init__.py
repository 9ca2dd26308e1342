"""The command `rejoinder`: one file a subcommand, imported only when it is called.

Exit codes: 0 ok, 2 usage, 3 data, 4 missing asset or extra, 5 nothing could be scored, 6 a gate not passed, 7 an output
cannot be written, 130 interrupted, 1 the rest.
Results go to standard output, progress and messages to standard error; nothing in them can make a terminal do anything.
"""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from rejoinder.cli.help import COMMANDS as COMMANDS
from rejoinder.cli.help import Command, overview
from rejoinder.cli.places import guard, require_finite, writes_elsewhere
from rejoinder.cli.stops import stops, unstopped
from rejoinder.cli.terminal import TYPED, discard, escaped_streams, ignore_closed_output
from rejoinder.data.outputs import is_full, is_unwritable, remove_unfinished, unwritten
from rejoinder.errors import RejoinderError, UsageError
from rejoinder.version import __version__

_INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; never returns.

    Args:
        arguments: what follows the program's name; None takes the process's own.
    """
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # what goes into a file or a pipe must not depend on the locale
    with escaped_streams():
        try:
            with stops():
                code = _run(given)
        except _Stopped as stop:
            code = _exit_code(stop.reason, debug=debug)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (every fault gets its one line and exit code)
            code = _exit_code(error, debug=debug)
    sys.exit(code)


def _run(given: list[str]) -> int:
    """Do what was asked for; without a command, say what there is. Returns an exit code."""
    if given and given[0] != "--help":
        given = _named(given)
        TYPED.set(tuple(given))
        app = _app(given)
        _require_once(app, given)
        code = int(app(args=given, prog_name="rejoinder", standalone_mode=False) or 0)
        if code == _INTERRUPTED:  # so typer answers an interruption while it reads the arguments
            raise KeyboardInterrupt
        return code
    typer.echo(overview(), nl=False)
    return 0


def _named(given: list[str]) -> list[str]:
    """Return the call, with `inspect` before a file that stands first; the name of a command wins over a file's."""
    first = given[0]
    if first in COMMANDS or (first.startswith("-") and first != "-"):
        return given
    is_file = first == "-" or first.startswith("@") or any(mark in first for mark in "./\\") or Path(first).exists()
    return ["inspect", *given] if is_file else given


def _require_once(app: typer.Typer, given: list[str]) -> None:
    """Refuse an option that takes one value and is given two: the first would be dropped without a word.

    Raises:
        UsageError: so it is.
    """
    command: Any = typer.main.get_command(app)
    command = getattr(command, "commands", {}).get(given[0], command)
    said = given[1 : given.index("--")] if "--" in given else given[1:]
    for option in command.params:
        if option.param_type_name != "option" or option.multiple or option.is_flag or option.count:
            continue
        times = sum(word in option.opts or word.startswith(tuple(f"{name}=" for name in option.opts)) for word in said)
        if times > 1:
            raise UsageError(f"{max(option.opts, key=len)} was given {times} times and takes one value. Give it once")


class _Stopped(Exception):
    """Carries a stop that typer would otherwise answer itself, with other words and codes than ours."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__()
        self.reason = reason


def _carried(command: Callable[..., None]) -> Callable[..., None]:
    """`command`, its outputs guarded, interruption and a closed pipe carried past typer; flushed while it can fail."""

    @wraps(command)
    def call(**kwargs: Any) -> None:
        try:
            try:
                require_finite(command, kwargs)
                guard(command, kwargs)
                if writes_elsewhere(command, kwargs):
                    ignore_closed_output()
                command(**kwargs)
                _finish_programs()
                sys.stdout.flush()
            finally:  # inside, so that an interruption of this is carried too
                _say_spent()
                _say_left_out()
        except (KeyboardInterrupt, BrokenPipeError) as reason:
            raise _Stopped(reason) from reason

    return call


def _finish_programs() -> None:
    """See that no program that was asked has an answer left over.

    Raises:
        DataError: one has.
    """
    asked = sys.modules.get("rejoinder.external.program")
    for program in tuple(asked.RUNNING) if asked else ():  # `list` is a command of this package
        program.finish()


def _say_spent() -> None:
    """What asking endpoints cost, where a scorer did; where the command failed too, for it is paid all the same."""
    asked = sys.modules.get("rejoinder.llm.spent")
    while asked and asked.SPENT:
        name, spent = asked.SPENT.popitem()
        if spent.asked or spent.kept:
            _say(f"{name}: {spent}")


def _say_left_out() -> None:
    """Which options endpoints refused, so that they were asked without these."""
    asked = sys.modules.get("rejoinder.llm.endpoint")
    while asked and asked.REFUSING:
        name, endpoint = asked.REFUSING.popitem()
        if endpoint.left_out:
            _say(f"{name}: does not take {' and '.join(endpoint.left_out)}, and was asked without")


def _exit_code(error: BaseException, *, debug: bool) -> int:
    """Say what stopped the command, in one line, and return its exit code."""
    if isinstance(error, BrokenPipeError):
        discard(sys.stdout)  # the reader of its records is gone (`| head`)
        return 0
    if debug:
        traceback.print_exception(error)
    if isinstance(error, RejoinderError):
        _say(str(error))
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        with unstopped():
            remove_unfinished()
        _say(f"interrupted; {str(error) or 'every output file is whole or as it was'}")
        return _INTERRUPTED
    if isinstance(error, typer.Exit):
        return error.exit_code
    if hasattr(error, "format_message"):  # what typer makes of a wrong call
        said = str(error.format_message()).replace("Value error, ", "")
        end = "" if said.endswith((".", "?")) else "."
        _say(f"{said}{end} See rejoinder --help, rejoinder COMMAND --help")
        return UsageError.exit_code
    if isinstance(error, OSError) and (is_full(error) or is_unwritable(error)):
        discard(sys.stdout)
        stream = "standard output" if is_unwritable(error) else "standard output or a temporary file"
        refused = unwritten(error.filename or stream, error)
        _say(str(refused))
        return refused.exit_code
    fault = "" if isinstance(error, OSError) else ". This is a fault of rejoinder; --debug shows where"
    _say(f"{type(error).__name__}: {error}{fault}")
    return 1


def _app(given: list[str]) -> typer.Typer:
    """The application with the subcommand that is called, or with all of them where what is called is none."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback()(_options)
    called = next((argument for argument in given if not argument.startswith("-")), None)
    for name in [called] if called in COMMANDS else COMMANDS:
        app.command(name, cls=Command)(_carried(import_module(COMMANDS[name]).command))
    return app


def _version(wanted: bool) -> None:
    """Print the version and stop, where `--version` was given."""
    if wanted:
        typer.echo(f"rejoinder {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and stop."
    ),
) -> None:
    """Options that stand before the subcommand."""


def _say(message: str) -> None:
    """One line on standard error, broken between words where it is longer than the terminal is wide."""
    from rejoinder.cli.common import tell

    tell(f"rejoinder: {' '.join(message.split())}", err=True)
