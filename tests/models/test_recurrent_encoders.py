"""The encoder of a pre-trained HRED or VHRED: its states, what it cuts, what it does not depend on, the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from conftest import Run
from rejoinder.data.dialogues import Dialogue
from rejoinder.data.folders import Parts, write_folder
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.models import encode, load_encoder

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("tokenizers", reason="needs the extra train")

from rejoinder.models.recurrent_encoders import RecurrentEncoder, StateOf  # noqa: E402
from rejoinder.pretraining.batches import make_batch  # noqa: E402
from rejoinder.pretraining.tokens import TokenStore, write_tokens  # noqa: E402
from tiny import LONGEST_TURN, MOST_TURNS, WORDS, dialogue_model  # noqa: E402

WIDTHS: dict[StateOf, int] = {"context": 7, "utterance": 10}
STATES = tuple(WIDTHS)
CONTEXTS = [
    ("hello",),
    ("hello", "how are you"),
    ("the cat sat on the mat", "the dog ran", "hello you", "bye"),
    ("bye", "a bird sat under a tree thanks"),
    ("fine thanks", "how are you", "bye"),
]


@pytest.fixture(scope="module", params=[0, 4], ids=["hred", "vhred"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dialogue_model(tmp_path_factory.mktemp("encoder") / "model", request.param)


@pytest.fixture(params=STATES)
def encoder(request: pytest.FixtureRequest, folder: Path) -> RecurrentEncoder:
    return load(folder, request.param)


def load(folder: Path, state: StateOf = "context") -> RecurrentEncoder:
    found = load_encoder(folder, state)
    assert isinstance(found, RecurrentEncoder)
    return found


def test_width_and_shape(encoder: RecurrentEncoder) -> None:
    assert encoder.width == WIDTHS[encoder.state]
    for found in (encoder.encode(WORDS), encoder.encode_contexts([(word,) for word in WORDS])):
        assert (found.shape, found.dtype.name) == ((len(WORDS), encoder.width), "float64")
        assert np.isfinite(found).all()
    assert len(np.unique(encoder.encode(WORDS), axis=0)) == len(WORDS)
    assert encoder.encode([]).shape == (0, encoder.width)


def test_states_differ_in_their_options(folder: Path) -> None:
    options = [load_encoder(folder, state).options for state in STATES]
    assert [option["state"] for option in options] == list(STATES)
    assert [option["encoder"] for option in options] == [load(folder).parts.config["kind"]] * 2
    assert len({option["weights"] for option in options}) == 2
    assert options == [load_encoder(folder, state).options for state in STATES]


def test_a_text_without_a_word_is_nan(encoder: RecurrentEncoder) -> None:
    found = encoder.encode(["", "hello", "  \n\t"])
    assert np.isnan(found).all(axis=1).tolist() == [True, False, True]
    contexts = encoder.encode_contexts([(), ("",), ("", "hello", " "), ("hello",)])
    assert np.isnan(contexts).all(axis=1).tolist() == [True, True, False, False]
    np.testing.assert_allclose(contexts[2], contexts[3], atol=1e-6, err_msg="empty turns are passed over")


def test_an_unknown_word_is_not_dropped(encoder: RecurrentEncoder) -> None:
    known, other = encoder.encode(["hello", "hello Ω"])
    assert np.abs(known - other).max() > 1e-4


def test_texts_are_read_as_in_training(folder: Path, tmp_path: Path) -> None:
    encoder = load(folder)
    contexts = [context for context in CONTEXTS if len(context) > 1]
    contexts.append(("the cat sat on the mat and a dog ran under the tree", "hello"))
    dialogues = [Dialogue(context, "") for context in contexts]
    limits = {"longest_turn": LONGEST_TURN, "most_turns": MOST_TURNS}
    counts = write_tokens(dialogues, encoder.reader.vocabulary, tmp_path / "tokens", **limits)
    assert (counts.cut_turns > 0, counts.pieces) == (True, len(contexts))
    batch = make_batch(TokenStore(tmp_path / "tokens"), np.arange(len(contexts)))
    with torch.inference_mode():
        expected = encoder.model.encode_dialogues(batch).double().numpy()
    np.testing.assert_allclose(encoder.encode_contexts(contexts), expected, atol=1e-6)


def test_long_texts_and_contexts_are_cut(encoder: RecurrentEncoder) -> None:
    long = "hello " * 50
    kept = "hello " * (LONGEST_TURN - 1)
    np.testing.assert_allclose(encoder.encode([long]), encoder.encode([kept]), atol=1e-6)
    turns = tuple(WORDS[:9])
    np.testing.assert_allclose(
        encoder.encode_contexts([turns]), encoder.encode_contexts([turns[-MOST_TURNS:]]), atol=1e-6
    )


def test_the_order_of_turns_matters(folder: Path) -> None:
    turns = ("hello", "how are you", "bye")
    other = ("how are you", "hello", "bye")
    for state, differs in (("context", True), ("utterance", False)):
        found = load_encoder(folder, cast("StateOf", state)).encode_contexts([turns, other])
        assert bool(np.abs(found[0] - found[1]).max() > 1e-4) is differs, (
            "an utterance's state sees the last turn alone"
        )


def test_examples_are_encoded_with_all_their_references(encoder: RecurrentEncoder) -> None:
    examples = [
        Example(("hello", "how are you"), "fine", ("thanks", "bye"), id="one"),
        Example((), "hello", (), id="two"),
        Example(("bye",), "bye", ("",), id="three"),
    ]
    found = encode(examples, encoder)
    assert {name: array.shape for name, array in found.items()} == {
        "ids": (3,),
        "context": (3, encoder.width),
        "response": (3, encoder.width),
        "reference": (3, encoder.width),
        "reference_row": (3,),
    }
    assert (found["ids"].tolist(), found["reference_row"].tolist()) == (["one", "two", "three"], [0, 0, 2])
    assert np.isnan(found["context"]).all(axis=1).tolist() == [False, True, False]
    assert np.isnan(found["reference"]).all(axis=1).tolist() == [False, False, True]
    np.testing.assert_allclose(found["context"][2], found["response"][2], atol=1e-6)
    assert encode(examples[1:2], encoder)["reference"].shape == (0, encoder.width)


def test_a_state_that_does_not_exist_is_told(folder: Path) -> None:
    with pytest.raises(UsageError) as refusal:
        load_encoder(folder, cast("StateOf", "decoder"))
    assert str(refusal.value) == "no state is called 'decoder'. There are: context, utterance"


def test_another_kind_of_model_is_told(tmp_path: Path) -> None:
    write_folder(tmp_path / "judge", Parts({"kind": "adem"}, {}), "")
    with pytest.raises(DataError) as refusal:
        load_encoder(tmp_path / "judge")
    assert str(refusal.value).startswith(
        f"{tmp_path / 'judge'}: a model of kind 'adem', expected one of average, sentence, hred, vhred"
    )
    assert str(refusal.value).endswith(". Name the folder of a pre-trained model")
    write_folder(tmp_path / "dan", Parts({"kind": "dan"}, {}), "")
    with pytest.raises(DataError, match="no such models any more. Train it again over another encoder"):
        load_encoder(tmp_path / "dan")


# The command line


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    file = tmp_path / "lines.jsonl"
    records = [
        {"id": "a", "context": ["hello"], "response": "bye", "references": ["thanks", "fine"]},
        {"id": "b", "context": ["hello", "you"], "response": "the cat"},
    ]
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return file


@pytest.mark.parametrize("state", STATES)
def test_encode_writes_the_vectors(run: Run, folder: Path, lines: Path, tmp_path: Path, state: StateOf) -> None:
    out = tmp_path / "out.npz"
    ran = run("encode", lines, "-e", folder, "-o", out, "--state", state)
    assert (ran.code, ran.out) == (0, f"2 lines encoded in {out}\n"), ran.err
    encoder = load_encoder(folder, state)
    with np.load(out) as found:
        assert set(found) == {"ids", "context", "response", "reference", "reference_row"}
        assert (found["ids"].tolist(), found["reference_row"].tolist()) == (["a", "b"], [0, 0])
        np.testing.assert_allclose(found["context"], encoder.encode_contexts([("hello",), ("hello", "you")]), atol=1e-6)
        np.testing.assert_allclose(found["response"], encoder.encode(["bye", "the cat"]), atol=1e-6)
        np.testing.assert_allclose(found["reference"], encoder.encode(["thanks", "fine"]), atol=1e-6)


def test_encode_refuses_what_it_cannot_do(run: Run, folder: Path, lines: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.npz"
    named = tmp_path / "out.npy"
    ran = run("encode", lines, "-e", folder, "-o", named)
    assert (ran.code, ran.out) == (2, "") and ran.err.startswith(f"rejoinder: {named}: ")
    ran = run("encode", lines, "-e", folder, "-o", out, "--state", "decoder")
    assert (ran.code, "'decoder' is not one of 'context', 'utterance'" in ran.err) == (2, True)
    (tmp_path / "empty").mkdir()
    assert run("encode", lines, "-e", tmp_path / "empty", "-o", out).code == 4
    lines.write_text("{\n", encoding="utf-8")
    assert run("encode", lines, "-e", folder, "-o", out).code == 3
    assert not out.exists()


def test_silence_has_a_state_of_its_own(folder: Path) -> None:
    encoder = cast("RecurrentEncoder", load_encoder(folder, "context"))
    silence = encoder.silence()
    assert silence.shape == (encoder.width,) and np.isfinite(silence).all()
    assert np.abs(silence - encoder.encode(["hello you"])[0]).max() > 1e-4
