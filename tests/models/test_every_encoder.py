"""What every encoder must pass: a vector depends on its own text alone, and survives being saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import rejoinder
from conftest import Run
from every import ODD_TEXTS, RECURRENT, made
from rejoinder.data.folders import write_folder
from rejoinder.example import Example
from rejoinder.models import ENCODERS, MODELS, load_encoder
from rejoinder.models.encoders import PortableEncoder, encode_distinct
from rejoinder.scorer import FloatArray

# The names that come along, a folder of every kind, and the other state of those that have two.
NAMED = [key for key, entry in ENCODERS.items() if key == entry.name]
NAMES = [*NAMED, *(name for name, kind in MODELS.items() if kind.encoder), *(f"{kind}:utterance" for kind in RECURRENT)]
TEXTS = ["hello you", "the cat sat on the mat", "bye", "how are you ?", "thanks", "the dog ran under the bird and sat"]
CONTEXTS = [tuple(TEXTS[:number]) for number in (1, 2, 3, 4)] + [("bye", "hello you"), ("thanks",)]
# Networks compute in single precision, and sums of another order differ in their last digits.
TOLERANCE = 1e-5


class Loaded(NamedTuple):
    """An encoder, and what it is called by."""

    place: str
    state: str | None
    encoder: PortableEncoder


@pytest.fixture(scope="module", params=NAMES)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    kind, _, state = str(request.param).partition(":")
    if kind in NAMED:
        return Loaded(kind, None, load_encoder(kind))
    place = tmp_path_factory.mktemp("encoder") / kind
    if kind == "average":  # nobody trains one by itself: it stands in judges, whose folders hold its parts
        write_folder(place, load_encoder("word-vectors").parts, "a card")
    else:
        made(kind, place)
    return Loaded(str(place), state or None, load_encoder(place, state or None))  # type: ignore[arg-type]


def test_the_order_does_not_matter(loaded: Loaded) -> None:
    encoder = loaded.encoder
    close(encoder.encode(TEXTS[::-1])[::-1], encoder.encode(TEXTS))
    close(encoder.encode_contexts(CONTEXTS[::-1])[::-1], encoder.encode_contexts(CONTEXTS))


@pytest.mark.parametrize("size", [1, 4])
def test_the_batch_does_not_matter(loaded: Loaded, size: int) -> None:
    encoder = loaded.encoder
    parts = [encoder.encode(TEXTS[start : start + size]) for start in range(0, len(TEXTS), size)]
    close(np.concatenate(parts), encoder.encode(TEXTS))
    parts = [encoder.encode_contexts(CONTEXTS[start : start + size]) for start in range(0, len(CONTEXTS), size)]
    close(np.concatenate(parts), encoder.encode_contexts(CONTEXTS))


def test_duplicates_are_encoded_alike(loaded: Loaded) -> None:
    encoder = loaded.encoder
    for doubled in (encoder.encode([*TEXTS, *TEXTS]), encoder.encode_contexts([*CONTEXTS, *CONTEXTS])):
        close(doubled[: len(TEXTS)], doubled[len(TEXTS) :])
    once = encode_distinct(encoder.encode, [*TEXTS, *TEXTS])
    assert np.array_equal(once[: len(TEXTS)], once[len(TEXTS) :]) and once.shape == (2 * len(TEXTS), encoder.width)


def test_encoding_again_gives_the_same(loaded: Loaded) -> None:
    encoder = loaded.encoder
    assert np.array_equal(encoder.encode(TEXTS), encoder.encode(TEXTS))
    assert np.array_equal(encoder.encode_contexts(CONTEXTS), encoder.encode_contexts(CONTEXTS))


def test_texts_are_told_apart(loaded: Loaded) -> None:
    assert len(np.unique(loaded.encoder.encode(TEXTS), axis=0)) == len(TEXTS)
    assert len(np.unique(loaded.encoder.encode_contexts(CONTEXTS), axis=0)) > 1


def test_odd_texts_have_a_vector_or_none(loaded: Loaded) -> None:
    encoder = loaded.encoder
    contexts = [(), *((text,) for text in ODD_TEXTS), *(("hello", text) for text in ODD_TEXTS)]
    for found, asked in ((encoder.encode(ODD_TEXTS), ODD_TEXTS), (encoder.encode_contexts(contexts), contexts)):
        assert found.shape == (len(asked), encoder.width)
        assert (np.isnan(found).any(axis=1) == np.isnan(found).all(axis=1)).all(), "a vector with holes"
        assert not np.isinf(found).any()
    assert np.isfinite(encoder.encode(["hello you"])).all()


def test_odd_texts_do_not_change_others(loaded: Loaded) -> None:
    encoder = loaded.encoder
    close(encoder.encode([*ODD_TEXTS, *TEXTS])[len(ODD_TEXTS) :], encoder.encode(TEXTS))


def test_nothing_to_encode_is_no_rows(loaded: Loaded) -> None:
    assert loaded.encoder.encode([]).shape == loaded.encoder.encode_contexts([]).shape == (0, loaded.encoder.width)


def test_what_was_saved_encodes_the_same(loaded: Loaded, tmp_path: Path) -> None:
    write_folder(tmp_path / "again", loaded.encoder.parts, "a card")
    again = load_encoder(tmp_path / "again")
    assert np.array_equal(again.encode(TEXTS), loaded.encoder.encode(TEXTS), equal_nan=True)
    assert np.array_equal(again.encode_contexts(CONTEXTS), loaded.encoder.encode_contexts(CONTEXTS), equal_nan=True)
    assert again.options == loaded.encoder.options and again.parts.digest == loaded.encoder.parts.digest


def test_what_decides_the_vectors_is_told(loaded: Loaded) -> None:
    options = loaded.encoder.options
    assert options["encoder"] == loaded.encoder.parts.config["kind"] and json.dumps(dict(options))
    assert any(len(str(value)) == 12 for value in options.values()), "no digest"


def test_the_command_gives_what_python_gives(loaded: Loaded, run: Run, tmp_path: Path) -> None:
    examples = [
        Example(context, text, tuple(TEXTS[:number]), id=str(number))
        for number, (context, text) in enumerate(zip(CONTEXTS, TEXTS, strict=True))
    ]
    rejoinder.write(examples, tmp_path / "in.jsonl")
    state = [] if loaded.state is None else ["--state", loaded.state]
    done = run("encode", tmp_path / "in.jsonl", "-e", loaded.place, *state, "-o", tmp_path / "out.npz")
    assert done.code == 0, done.err
    expected = rejoinder.encode(examples, loaded.encoder)
    with np.load(tmp_path / "out.npz") as found:
        assert set(found.files) == set(expected)
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)


def close(found: FloatArray, expected: FloatArray) -> None:
    np.testing.assert_allclose(found, expected, atol=TOLERANCE, rtol=TOLERANCE)
