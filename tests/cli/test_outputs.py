"""No command writes over what it reads: every output of every command, and models that stand where one is to go."""

from __future__ import annotations

import inspect
import os
import types
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

import rejoinder
from conftest import PROJECT, Run
from rejoinder.cli import COMMANDS
from rejoinder.cli.places import Writes, marks
from rejoinder.data.outputs import require_apart
from rejoinder.errors import UsageError
from rejoinder.judges.train import train_judge

# Parameters of type text that name neither a file nor a folder. Whatever is not here has to be marked.
PLAIN = {
    ("estimate", "dimension"),
    ("estimate", "plan"),
    ("study", "dimension"),
    ("train", "components"),
    ("audit", "family"),
    ("train", "kind"),
    ("compare", "by"),
    ("compare", "count"),
    ("ratings", "dimension"),
    ("annotate", "database"),
    ("annotate", "host"),
    ("annotate", "url"),
    ("serve", "host"),
    ("score", "by"),
    ("score", "ray"),
    ("study", "ray"),
    ("study", "by"),
    ("study", "cutoff"),
    ("*", "positive"),
    ("*", "columns"),
    ("*", "count"),
    ("*", "scale"),
    ("*", "input_format"),
}
Command = Callable[..., None]


def commands() -> dict[str, Command]:
    return {name: import_module(module).command for name, module in COMMANDS.items()}


def kinds(hint: Any) -> set[Any]:
    """The plain types in an annotation."""
    inner = hint.__origin__ if hasattr(hint, "__metadata__") else hint
    if get_origin(inner) in (Union, types.UnionType, list):
        return set().union(*map(kinds, get_args(inner)))
    return {inner}


def writing() -> Iterator[tuple[str, str]]:
    """Every command with each of its outputs."""
    for name, command in commands().items():
        yield from ((name, key) for key, mark in marks(command).items() if isinstance(mark, Writes))


def pairs() -> Iterator[tuple[str, str, str]]:
    """Every command with each of its outputs and each of its inputs."""
    for name, out in writing():
        yield from ((name, out, key) for key, mark in marks(commands()[name]).items() if not isinstance(mark, Writes))


def call_of(name: str, places: dict[str, Path], folder: Path) -> list[str]:
    """A call of the command with these places, and with something for all else that it asks for."""
    command = commands()[name]
    hints = get_type_hints(command, include_extras=True)
    words, options = list[str](), list[str]()
    for key, parameter in inspect.signature(command).parameters.items():
        if key not in places and parameter.default is not inspect.Parameter.empty:
            continue
        (about,) = (one for one in hints[key].__metadata__ if hasattr(one, "param_decls"))
        plain = "adem" if key == "kind" else "name"
        value = str(places.get(key) or (plain if (name, key) in PLAIN else filler(key, hints[key], folder)))
        flags = [flag for flag in (about.default, *(about.param_decls or ())) if str(flag).startswith("-")]
        if type(about).__name__ == "ArgumentInfo":
            words.append(value)
        else:
            options += [flags[-1] if flags else f"--{key.replace('_', '-')}", value]
    return [name, *words, *options]


def filler(key: str, hint: Any, folder: Path) -> str:
    """Any value for a parameter."""
    (kind,) = kinds(hint) - {type(None)}
    return next(iter(kind)).value if issubclass(kind, Enum) else "1" if kind in (int, float) else str(folder / key)


def written_by(name: str, out: str, given: Path) -> list[Path]:
    """Where the command would write."""
    mark = marks(commands()[name])[out]
    assert isinstance(mark, Writes)
    return mark.places(given, {})


def test_every_parameter_that_may_name_a_file_is_marked() -> None:
    bare = [
        f"{name}: {key}"
        for name, command in commands().items()
        for key, hint in get_type_hints(command, include_extras=True).items()
        if kinds(hint) & {str, Path} and key not in marks(command) and not PLAIN & {(name, key), ("*", key)}
    ]
    assert not bare, "mark them with Reads() or Writes() of rejoinder.cli.places, or name them in PLAIN"


def test_what_is_called_out_is_marked_as_written() -> None:
    found = set(writing())
    assert len(found) >= 9
    for name, command in commands().items():
        for key in inspect.signature(command).parameters:
            assert ((name, key) in found) is (key in ("out", "held_out", "export", "figures")), (name, key)


@pytest.mark.parametrize(("name", "out", "read"), list(pairs()))
@pytest.mark.parametrize("way", ["itself", "link", "link to the folder", "hard link", "inside", "around"])
def test_an_output_never_takes_the_place_of_an_input(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, out: str, read: str, way: str
) -> None:
    monkeypatch.setattr(import_module(COMMANDS[name]), "reporting", None)  # what begins to work fails in another way
    (tmp_path / "place").mkdir()
    given = tmp_path / "place" / "out.npz"
    (place,) = written_by(name, out, given)[:1]
    source = tmp_path / "source.jsonl"
    if way == "itself":
        source = place
    elif way == "link to the folder":
        (tmp_path / "door").symlink_to(tmp_path / "place", target_is_directory=True)
        source = tmp_path / "door" / place.relative_to(tmp_path / "place")
    elif way == "inside":
        source = tmp_path / "place"
    elif way == "around":
        source = place / "deep" / "source.jsonl"
    if way != "inside":
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text('{"response": "yes"}\n')
    if way in ("link", "hard link"):
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(source) if way == "link" else os.link(source, place)
    before = contents(tmp_path)
    ran = run(*call_of(name, {out: given, read: source}, tmp_path))
    assert (ran.code, ran.out) == (2, ""), ran.err
    said = {"inside": "lies inside the input", "around": "holds the input"}.get(way, "is an input too")
    assert said in ran.err and str(place) in ran.err and ran.err.count("\n") == 1
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", [name for name in COMMANDS if [n for n, _ in writing()].count(name) > 1])
def test_two_outputs_never_share_a_place(run: Run, tmp_path: Path, name: str) -> None:
    outs = [out for command, out in writing() if command == name]
    for first, second in combinations(outs, 2):
        for inner in ("same.jsonl", "same.jsonl/inside.jsonl"):
            ran = run(*call_of(name, {first: tmp_path / "same.jsonl", second: tmp_path / inner}, tmp_path))
            assert ran.code == 2 and "two outputs in one place" in ran.err
    assert contents(tmp_path) == {}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with what it holds."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("responder", ["human:{source}", "command:python {source} --loud", "{source}"])
def test_what_a_responder_reads_is_an_input(run: Run, tmp_path: Path, responder: str) -> None:
    source, contexts = tmp_path / "bot.jsonl", tmp_path / "contexts.jsonl"
    source.write_text("x"), contexts.write_text("x")
    ran = run("respond", contexts, "-r", responder.format(source=source), "-o", source)
    assert ran.code == 2 and "is an input too" in ran.err and source.read_text() == "x"


def test_a_scorer_is_no_folder_that_is_called_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("length").mkdir()
    assert run("score", "@conture", "-s", "length", "-o", "length/out.jsonl").code == 0


def test_streams_and_devices_hold_nothing_to_lose(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    require_apart(["-", tmp_path / "pipe", "/dev/null"], ["-", tmp_path / "pipe", "/dev/null", tmp_path / "gone"])


def test_places_apart(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("x")
    require_apart([tmp_path / "b.jsonl", tmp_path / "in.csv", tmp_path / "in" / "b.jsonl"], [tmp_path / "in/a.jsonl"])
    with pytest.raises(UsageError, match=r"b.jsonl: is an input too \(.*a.jsonl\) and would be replaced"):
        (tmp_path / "b.jsonl").symlink_to(tmp_path / "in" / "a.jsonl")
        require_apart([tmp_path / "b.jsonl"], [tmp_path / "in" / "a.jsonl"])


# a model where one is to go


@pytest.mark.slow
def test_a_judge_is_replaced_only_by_force(run: Run, tmp_path: Path) -> None:
    judge = tmp_path / "judge"
    call = ("train", "c-adem", "@conture", "-o", judge, "--components", "2")
    assert run(*call).code == 0
    before = contents(tmp_path)
    ran = run(*call, "--seed", "1")
    assert (ran.code, ran.out) == (2, "") and contents(tmp_path) == before
    assert ran.err == (
        f"rejoinder: {judge}: a trained model is there already. Choose another name, or replace it with --force "
        "(in Python, force=True)\n"
    )
    assert run(*call, "--seed", "1", "--force").code == 0 and contents(tmp_path) != before


def test_python_replaces_a_judge_only_by_force(tmp_path: Path) -> None:
    judge = train_judge(list(rejoinder.read("@conture")), "c-adem").judge
    judge.save(tmp_path / "judge")
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="a trained model is there already"):
        judge.save(tmp_path / "judge")
    assert contents(tmp_path) == before
    judge.save(tmp_path / "judge", force=True)


def test_a_responder_is_replaced_only_by_force(run: Run, tmp_path: Path) -> None:
    recipe = PROJECT / "recipes" / "r-tfidf.toml"
    call = ("pretrain", recipe, "@conture", "-o", tmp_path / "bot", "--keep-judged", "--on-error", "skip")
    assert run(*call).code == 0
    before = contents(tmp_path)
    ran = run(*call)
    assert ran.code == 2 and "a trained model is there already" in ran.err and contents(tmp_path) == before
    assert run(*call, "--force").code == 0
