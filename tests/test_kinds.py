"""One table of the kinds of model: every entry leads somewhere, and a new kind is its module and one entry."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.catalogue import load_responder
from rejoinder.data.folders import Parts, write_folder
from rejoinder.encoders import load_encoder
from rejoinder.example import Example
from rejoinder.judges.train import train_judge
from rejoinder.kinds import KINDS, Kind
from rejoinder.responder import Answer, Decoding, Reply, Request
from rejoinder.scorer import FloatArray


@pytest.mark.parametrize("name", list(KINDS))
def test_every_entry_leads_somewhere(name: str) -> None:
    kind = KINDS[name]
    makers = {kind.judge: "from_parts", kind.learner: "learner", kind.encoder: "from_parts"}
    for module, function in {**makers, kind.responder: "from_parts", kind.material: "from_parts"}.items():
        assert not module or callable(getattr(import_module(module), function))
    if kind.sizes:
        pytest.importorskip("lightning", reason="needs the extra train")
        for package, place in (("nn", kind.sizes), ("training", kind.task)):
            module, _, made = place.partition(".")
            assert isinstance(getattr(import_module(f"rejoinder.{package}.{module}"), made), type)
    assert any((kind.judge, kind.encoder, kind.responder, kind.material))


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


def entry(monkeypatch: pytest.MonkeyPatch, name: str, what: str, from_parts: Any) -> None:
    """Give a new kind its module and its entry."""
    module = ModuleType(f"new_{name}")
    module.from_parts = from_parts  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(KINDS, name, Kind("a test")._replace(**{what: module.__name__}))  # type: ignore[arg-type]


def test_a_new_encoder_is_one_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Run) -> None:
    entry(monkeypatch, "letters", "encoder", Letters)
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

    entry(monkeypatch, "echo", "responder", from_parts)
    write_folder(tmp_path / "echo", Parts({"kind": "echo"}, {}), "# Echo\n")
    assert load_responder(tmp_path / "echo").name == "echo"
    file = tmp_path / "in.jsonl"
    rejoinder.write([Example(("how are you",), "")], file)
    assert [one["response"] for one in run("respond", file, "-r", tmp_path / "echo").records] == ["how are you"]
    assert "Echo" in run("show", tmp_path / "echo").out and "echo" in run("list").words
