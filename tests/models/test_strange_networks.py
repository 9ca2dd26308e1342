"""Networks and candidates from a stranger: what does not fit is refused, and before memory is taken for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import drawn
from every import made
from rejoinder.data.folders import Parts, read_folder, write_folder
from rejoinder.errors import DataError
from rejoinder.models import load_encoder, load_responder
from rejoinder.models.decoding import Decoding
from rejoinder.models.reply_bank import PART
from rejoinder.responder import request

KINDS = ("hred", "vhred", "tweet2vec", "lm", "mrrnn", "seq2seq", "dual-encoder", "r-tfidf", "c-tfidf", "random")
WITHOUT_TORCH = ("r-tfidf", "c-tfidf", "random")
FEW = drawn(60)


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(request.param, tmp_path_factory.mktemp(request.param) / "model")


def use(folder: Path) -> None:
    """Let the model do what it is for."""
    if read_folder(folder).config["kind"] in ("hred", "vhred", "tweet2vec"):
        encoder = load_encoder(folder)
        assert encoder.encode(["hello you", ""]).shape == (2, encoder.width)
        assert encoder.encode_contexts([("hello", "the cat"), ()]).shape == (2, encoder.width)
        return
    responder = load_responder(folder, decoding=Decoding(longest=3))
    for found in responder.respond_batch([request(("hello", "the cat"), 0), request((), 1)], 2):
        assert found.replies or found.reason


def use_or_be_told(folder: Path, parts: Parts) -> None:
    write_folder(folder, parts, "", force=True)
    try:
        use(folder)
    except DataError as error:
        assert "\n" not in str(error) and str(folder) in str(error)


def test_the_sound_model_can_be_used(model: Path) -> None:
    use(model)


WRONG: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 0, 1, 7, 10**7, 10**9, 10**30, 0.5, 1e300, "x", "", [], {}, ["lstm"], "gru", "gates"]
)


@FEW
@given(data=st.data())
def test_any_number_of_its_config_is_refused_or_harmless(model: Path, tmp_path: Path, data: st.DataObject) -> None:
    parts = read_folder(model)
    config = {**parts.config, "new": {}}
    section = data.draw(st.sampled_from(sorted({"sizes", "recipe", "new", PART, "kind"} & {*config})))
    if isinstance(config[section], dict) and config[section]:
        inside = config[section].get("text", config[section])
        key = data.draw(st.sampled_from([*inside, "new"]))
        changed = {**inside, key: data.draw(WRONG)}
        config[section] = {"text": changed} if "text" in config[section] else changed
    else:
        config[section] = data.draw(WRONG)
    use_or_be_told(tmp_path / "model", replace(parts, config=config))


@FEW
@given(data=st.data())
def test_any_tensor_is_refused_or_harmless(model: Path, tmp_path: Path, data: st.DataObject) -> None:
    parts = read_folder(model)
    name = data.draw(st.sampled_from(sorted(parts.tensors)))
    tensors = dict(parts.tensors)
    old = tensors.pop(name)
    kind = data.draw(
        st.sampled_from(["gone", "renamed", "whole", "half", "double", "turned", "cut", "number", "nan", "far"])
    )
    if kind == "renamed":
        tensors[f"{name}.x"] = old
    elif kind == "far":
        tensors[name] = np.full_like(old, 60_000)
    elif kind == "nan" and old.dtype.kind == "f":
        tensors[name] = np.full_like(old, np.nan)
    elif kind in ("whole", "half", "double"):
        tensors[name] = old.astype({"whole": np.int32, "half": np.float16, "double": np.float64}[kind])
    elif kind == "turned":
        tensors[name] = np.ascontiguousarray(old.T[::-1])
    elif kind == "cut":
        tensors[name] = old[: len(old) // 2] if old.ndim else old.reshape(1)
    elif kind == "number":
        tensors[name] = np.float32(3.0) * np.ones((), dtype=np.float32)
    use_or_be_told(tmp_path / "model", replace(parts, tensors=tensors))


@pytest.mark.parametrize("key", ["vocabulary", "embedding", "utterance", "context"])
def test_sizes_take_no_memory_before_they_are_seen_to_fit(tmp_path: Path, key: str) -> None:
    """Ten million rows or columns would be gigabytes."""
    resource = pytest.importorskip("resource")
    folder = made("hred", tmp_path / "model")
    use(folder)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    parts = read_folder(folder)
    write_folder(
        folder, replace(parts, config={**parts.config, "sizes": {**parts.config["sizes"], key: 10**7}}), "", force=True
    )
    with pytest.raises(DataError, match="the tensor .* is float32 of shape"):
        use(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


@pytest.mark.parametrize("name", ["rows", "columns"])
@pytest.mark.parametrize("value", [-1, 10**6, 2**31 - 1])
def test_places_outside_the_index_are_refused(tmp_path: Path, name: str, value: int) -> None:
    """They would be read from whatever lies there in memory."""
    folder = made("c-tfidf", tmp_path / "model")
    parts = read_folder(folder)
    wrong = parts.tensors[name].copy()
    wrong[-1] = value
    write_folder(folder, replace(parts, tensors={**parts.tensors, name: wrong}), "", force=True)
    with pytest.raises(DataError, match="rows, columns and values are no matrix"):
        use(folder)
