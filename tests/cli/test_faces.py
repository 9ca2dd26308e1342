"""Each command is a thin face of a public function, which says what each of its parameters means."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from rejoinder.cli import COMMANDS

# What a command calls if that has another name: `list` would hide Python's own.
FACES = {"list": "listing", "inspect": "describe"}
LONGEST = 80


def source(command: str) -> ast.Module:
    return ast.parse(Path(str(import_module(COMMANDS[command]).__file__)).read_text(encoding="utf-8"))


def called(command: str) -> set[str]:
    """The public functions that the file of a command imports."""
    found = set()
    for node in ast.walk(source(command)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rejoinder."):
            for one in node.names:
                own = getattr(import_module(str(node.module)), one.name, None)
                if one.name in rejoinder.__all__ and own is getattr(rejoinder, one.name):
                    found.add(one.name)
    return found


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {"score"}))  # it writes the lines of `score_stream` itself
def test_a_command_calls_its_public_function(command: str) -> None:
    face = FACES.get(command, command)
    assert face in called(command), f"rejoinder.{face} is not what the command {command} calls"
    assert callable(getattr(rejoinder, face))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_thin(command: str) -> None:
    for node in ast.walk(source(command)):
        if isinstance(node, ast.FunctionDef):
            assert int(node.end_lineno or 0) - node.lineno < LONGEST, f"{command}: {node.name}"


def functions() -> list[tuple[str, Any]]:
    return [(name, found) for name in rejoinder.__all__ if inspect.isfunction(found := getattr(rejoinder, name))]


@pytest.mark.parametrize(("name", "function"), functions(), ids=[name for name, _ in functions()])
def test_a_public_function_says_what_its_parameters_mean(name: str, function: Any) -> None:
    said = inspect.getdoc(function) or ""
    parameters = inspect.signature(function).parameters
    missing = [one for one in parameters if not re.search(rf"^    {one}(, \\w+)*: ", said, re.MULTILINE)]
    assert said and not missing, f"{name} does not say what {', '.join(missing)} means"
