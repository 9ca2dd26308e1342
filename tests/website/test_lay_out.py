"""The pages of the site before they are built: where they stand, where links lead, what they show of the program."""

from __future__ import annotations

import re
from inspect import getdoc, isfunction, signature
from itertools import pairwise
from pathlib import Path, PurePosixPath

import lay_out
import pytest
from commands import commands

import rejoinder
from conftest import PROJECT, Run
from rejoinder.cli.help import COMMANDS


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("docs/train.md", "train.md"),
        ("docs/results/README.md", "results/index.md"),
        ("benchmarks/results/plus_speed.md", "speed/plus_speed.md"),
        ("CONTRIBUTING.md", "contributing.md"),
        ("website/assets/site.css", "assets/site.css"),
    ],
)
def test_files_of_the_project_have_a_place(source: str, target: str) -> None:
    assert lay_out.places()[PurePosixPath(source)] == PurePosixPath(target)


def test_links_lead_from_where_the_page_is() -> None:
    text = "[a](../formats.md#scales), [b](README.md), [c](https://example.org/x.md), [d](#here)"
    here = lay_out.linked(text, PurePosixPath("docs/results/fit.md"), PurePosixPath("results/fit.md"))
    assert here == "[a](../formats.md#scales), [b](index.md), [c](https://example.org/x.md), [d](#here)"


def test_a_link_to_what_the_site_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="docs/fit.md links to src/rejoinder/kinds.py, which is not on the site"):
        lay_out.linked("[x](../src/rejoinder/kinds.py)", PurePosixPath("docs/fit.md"), PurePosixPath("fit.md"))


def test_a_block_keeps_its_text_and_shows_the_name_of_its_file() -> None:
    page = lay_out.page(PurePosixPath("docs/tutorials/llm-bot.md"))
    assert '\n```toml title="question.toml"\ninstructions = ' in page
    assert "\n```console\n$ rejoinder inspect v1.csv v2.csv v3.csv\n```\n" in page


def test_a_list_begins_after_a_blank_line() -> None:
    """Elsewhere it is a list without that as well; the program that builds the site makes one paragraph of it."""
    item = re.compile(r"^ *(?:[-*]|\d+\.) ")
    for source in lay_out.places():
        if source.suffix == ".md":
            prose = lay_out.FENCED.sub("", (PROJECT / source).read_text(encoding="utf-8"))
            lines = prose.splitlines()
            for before, line in pairwise(lines):
                begun = before.strip() and not item.match(before) and not before.startswith((" ", "#"))
                assert not (begun and item.match(line)), f"{source}: {line}"


def test_every_page_has_a_place_in_the_navigation() -> None:
    lines = (PROJECT / "website" / "mkdocs.yml").read_text(encoding="utf-8").splitlines()
    named = [found[1] for line in lines if (found := lay_out.PAGE.match(line))]
    pages = {str(target) for target in lay_out.places().values() if target.suffix == ".md"} | {"commands.md"}
    assert pages - set(named) == set()
    assert len(named) == len(set(named))


def described() -> list[str]:
    """The names that the reference describes, without `rejoinder.`."""
    pages = sorted((PROJECT / "website" / "reference").glob("*.md"))
    return [name for page in pages for name in re.findall(r"^::: rejoinder\.(\S+)$", page.read_text(), re.MULTILINE)]


def test_every_public_name_is_described_once() -> None:
    """By its name, or by where it lives: a module of the same name would be described in its place."""
    for name in sorted(set(rejoinder.__all__) - {"__version__"}):
        home = f"{getattr(rejoinder, name).__module__}.{name}".removeprefix("rejoinder.")
        assert described().count(name) + described().count(home) == 1, name
    assert len(described()) == len(set(described()))


def test_what_public_calls_return_is_described() -> None:
    known = {name.split(".")[-1] for name in described()}
    for name in rejoinder.__all__:
        if isfunction(call := getattr(rejoinder, name)):
            returned = call.__annotations__["return"]
            own = set(re.findall(r"[A-Z]\w+", returned)) - {
                "Any",
                "Callable",
                "Iterator",
                "None",
                "NDArray",
                "SupportsFloat",
            }
            assert own <= known, f"{name} returns {returned}"


def test_public_calls_say_what_they_take_and_when_they_refuse() -> None:
    """Their docstrings name every parameter, and those that take something say what they raise."""
    for name in rejoinder.__all__:
        call = getattr(rejoinder, name)
        if isfunction(call) and call.__code__.co_varnames[: call.__code__.co_argcount]:
            said = getdoc(call) or ""
            missing = [
                one for one in signature(call).parameters if not re.search(rf"^    {one}\b.*:", said, re.MULTILINE)
            ]
            assert not missing, f"{name}: {missing}"
            assert "Raises:" in said or name in ("metric", "request"), name


def test_the_page_of_commands_says_what_help_says(run: Run) -> None:
    page = commands()
    assert re.findall(r"^### (\w+)$", page, re.MULTILINE) == list(COMMANDS)
    for name in ("score", "study", "train"):
        helped = run(name, "--help").words
        section = re.split(r"^###? ", page, flags=re.MULTILINE)
        (mine,) = [part for part in section if part.startswith(f"{name}\n")]
        for option, meaning in re.findall(r"^\| `(.+?)` \| (.+) \|$", mine, re.MULTILINE):
            plain = re.sub(r"\\(.)", r"\1", meaning)
            assert f"{option} {plain}" in helped, f"{name} {option}"
    assert "| `--format table|jsonl|csv` | Default: table on a terminal" in page


def test_what_is_not_there_is_not_in_the_navigation(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Home\n")
    lines = lay_out.configuration(tmp_path).splitlines()
    assert "  - Home: index.md" in lines
    assert not [line for line in lines if "llm-bot.md" in line]
