"""Fixtures that several test files share."""

from __future__ import annotations

import json
import os

# The networks of the tests are too small to share among cores: waiting for each other costs them more than they save.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tests that run on several processes are given a width, by which messages would be broken; each test says its own.
os.environ.pop("COLUMNS", None)

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from rejoinder import cli
from rejoinder.errors import MissingAsset, MissingExtra
from rejoinder.scorer import Scorer
from rejoinder.scoring.catalog import load_scorer
from rejoinder.text.wordnet import find_wordnet

PROJECT = Path(__file__).resolve().parent.parent
# The same examples on every run, however long each takes: a change is judged by what it does, not by what was drawn
# that day or what else the machine had to do.
settings.register_profile(
    "thorough",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    max_examples=100,
)
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=20)
settings.load_profile("quick")

GOLDEN = Path(__file__).resolve().parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")
    parser.addoption("--update-contract", action="store_true", help="record the values of the contract cases anew")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--slow"):
        settings.load_profile("thorough")


def drawn(examples: int) -> settings:
    """So many examples of a property with --slow, and without it the share of them that other properties have too."""
    return settings(max_examples=max(1, examples * settings().max_examples // 100))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow; run with --slow"))


@pytest.fixture
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forests of full size stay small: where fits are many, what is done with them is asked, not how good they are."""
    from rejoinder.judges.regression import head, trees

    def grown(features: Any, targets: Any, weights: Any, options: trees.TreeOptions, *others: Any) -> trees.Trees:
        few = options._replace(trees=min(options.trees, 10), learning_rate=0.3)
        return trees.grow_trees(features, targets, weights, few, *others)

    monkeypatch.setattr(head, "grow_trees", grown)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data (judgements, corpora); tests that need it skip where it is absent."""
    folder = Path(os.environ.get("REJOINDER_SHARED", PROJECT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"needs the rated data sets; none at {folder} (set REJOINDER_SHARED)")
    return folder


def loaded(name: str) -> Scorer:
    """The scorer called `name`; the test skips where what it needs is not installed."""
    try:
        return load_scorer(name)
    except MissingExtra as error:
        pytest.skip(str(error))


def has_wordnet() -> bool:
    """Return whether METEOR and the attack by synonyms find WordNet on this machine."""
    try:
        find_wordnet()
    except MissingAsset:
        return False
    return True


@dataclass(frozen=True)
class Ran:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Standard output with single spaces, because the width of columns is nobody's business."""
        return " ".join(self.out.split())

    @property
    def records(self) -> list[dict[str, Any]]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in this process, the way a user calls it."""

    def command(*arguments: object) -> Ran:
        with pytest.raises(SystemExit) as stop:
            cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(int(stop.value.code or 0), captured.out, captured.err)

    return command


def refused(ran: Ran, code: int, message: str) -> None:
    """Check that a command failed with `code` and said just this, in one line."""
    assert (ran.code, ran.out, ran.err) == (code, "", f"rejoinder: {message}\n")
