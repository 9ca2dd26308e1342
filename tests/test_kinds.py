"""One table of the kinds of model: every entry leads somewhere, and a new kind is its module and one entry."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder import judges
from rejoinder.data.folders import Parts, write_folder
from rejoinder.example import Example
from rejoinder.judges.train import train_judge
from rejoinder.models import ENCODERS, MODELS, RESPONDERS, ModelKind, load_encoder, load_responder
from rejoinder.models.decoding import Decoding
from rejoinder.pretraining.recipe import SCHEMAS
from rejoinder.registry import Registry
from rejoinder.responder import Answer, Reply, Request
from rejoinder.scorer import FloatArray


@pytest.mark.parametrize("table", [judges.KINDS, judges.LEARNERS, ENCODERS, RESPONDERS])
def test_every_loader_finds_its_module(table: Registry[Any]) -> None:
    for entry in table.values():
        with contextlib.suppress(rejoinder.RejoinderError, AttributeError, KeyError, TypeError, ValueError):
            entry.load(Parts({}, {}), None)


@pytest.mark.parametrize("name", list(MODELS))
def test_every_kind_of_model_finds_its_module(name: str) -> None:
    kind = MODELS[name]
    assert not kind.about or name in SCHEMAS
    assert kind.encoder or kind.responder or kind.is_material
    parts = Parts({"kind": name}, {})
    with contextlib.suppress(rejoinder.RejoinderError, KeyError):
        if kind.encoder:
            kind.encoder(parts)
    with contextlib.suppress(rejoinder.RejoinderError, KeyError):
        if kind.responder:
            kind.responder(parts, Decoding())


def test_modules_are_named_by_a_string_in_these_places_only() -> None:
    source = Path(str(rejoinder.__file__)).parent
    places = [
        path.relative_to(source).as_posix() for path in source.rglob("*.py") if "import_module" in path.read_text()
    ]
    assert sorted(places) == [
        "__init__.py",  # the public names
        "cli/__init__.py",  # the commands
        "external/elsewhere.py",  # the user's own python:MODULE:FUNCTION
        "judges/__init__.py",  # the loaders of the tables, in this package alone
        "metrics/__init__.py",  # the loaders of the table of metrics
        "models/__init__.py",  # the loaders of the table, in this package alone
    ]


def test_public_names_are_those_that_type_checkers_see() -> None:
    (block,) = (node for node in ast.parse(Path(str(rejoinder.__file__)).read_text()).body if isinstance(node, ast.If))
    seen = {name.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert seen == rejoinder._HOME
    assert sorted(["__version__", *seen]) == rejoinder.__all__


@dataclass(frozen=True)
class Letters:
    """Encodes a text as how often each of three letters stands in it."""

    parts: Parts
    width: int = 3

    @property
    def options(self) -> Mapping[str, Any]:
        return {"encoder": "letters", "weights": self.parts.digest}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        return np.array([[text.count(letter) for letter in "aeo"] for text in texts], dtype=np.float64).reshape(-1, 3)

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        return self.encode([" ".join(context) for context in contexts])


@dataclass(frozen=True)
class Echo:
    """Says the last turn again."""

    name: str = "echo"

    @property
    def options(self) -> Mapping[str, Any]:
        return {}

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        return [Answer((Reply(one.context[-1], 0.0),), "") for one in requests]


def test_a_new_encoder_is_one_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Run) -> None:
    monkeypatch.setitem(MODELS, "letters", ModelKind("a test", encoder=Letters))
    write_folder(tmp_path / "letters", Parts({"kind": "letters"}, {}), "# Letters\n")
    encoder = load_encoder(tmp_path / "letters")
    assert encoder.encode(["aloe", "tree"]).tolist() == [[1, 1, 1], [0, 2, 0]]
    judge = train_judge(list(rejoinder.read("@conture")), "c-adem", tmp_path / "letters").judge
    judge.save(tmp_path / "judge")
    given = [Example(("hello you",), "good day"), Example(("hello",), "a tree")]
    again = rejoinder.score(given, tmp_path / "judge")
    np.testing.assert_array_equal(again.values, rejoinder.score(given, judge).values)
    assert again.signature.fields["encoder"] == "letters" and "letters" in run("list").words


def test_a_new_responder_is_one_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Run) -> None:
    def from_parts(parts: Parts, decoding: Decoding) -> Echo:
        return Echo()

    monkeypatch.setitem(MODELS, "echo", ModelKind("a test", responder=from_parts))
    write_folder(tmp_path / "echo", Parts({"kind": "echo"}, {}), "# Echo\n")
    assert load_responder(tmp_path / "echo").name == "echo"
    file = tmp_path / "in.jsonl"
    rejoinder.write([Example(("how are you",), "")], file)
    assert [one["response"] for one in run("respond", file, "-r", tmp_path / "echo").records] == ["how are you"]
    assert "Echo" in run("show", tmp_path / "echo").out and "echo" in run("list").words
