"""The student in numpy: equal to torch, to itself in any batch, and to what its folder holds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from rejoinder.data.folders import Parts
from rejoinder.errors import DataError
from rejoinder.models import load_encoder
from rejoinder.models.sizes import StudentSizes
from rejoinder.models.student import StudentEncoder, StudentNetwork, from_parts, pack, tensor_shapes, unpack
from rejoinder.text.normalize import detokenize

torch = pytest.importorskip("torch", reason="needs the extra train")

from rejoinder.models.networks.student import StudentModel  # noqa: E402
from tiny import STUDENT, student_model, tensors_of  # noqa: E402

ODD = ["the", "B", "漢字 かな", "👍🏽🇩🇪", "<pad> </s>", "the cat " * 1500, "Привет мир", "\u200b", "?!", "1 2 3"]


def random_model(sizes: StudentSizes = STUDENT) -> StudentModel:
    """A network in which every weight counts."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = StudentModel(sizes)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.3)
    return model.eval()


def by_torch(model: StudentModel, ids: Sequence[int]) -> Any:
    with torch.inference_mode():
        return model(torch.tensor([ids]), torch.tensor([len(ids)]))[0].numpy()


def test_numpy_gives_what_torch_gives_in_any_batch() -> None:
    lengths = [1, 2, 3, 4, 9, 255, 256, 257, 1023, 1024, 1025, 2500, 7, 1]
    texts = [np.random.default_rng(length).integers(40, size=length).tolist() for length in lengths]
    model, stored = random_model(), random_model()
    packed = pack(tensors_of(model))
    unpacked = {name: torch.from_numpy(values) for name, values in unpack(packed, STUDENT.embedding).items()}
    stored.load_state_dict(unpacked)
    for torch_model, network in ((model, StudentNetwork(tensors_of(model))), (stored, StudentNetwork(packed))):
        expected = [by_torch(torch_model, ids) for ids in texts]
        np.testing.assert_allclose(network.vectors(texts), expected, atol=1e-5)
        for ids, vector in zip(texts, expected, strict=True):
            np.testing.assert_allclose(network.vectors([ids])[0], vector, atol=1e-5)


@pytest.mark.parametrize("width", [6, 7])
@pytest.mark.parametrize(("name", "kind", "most"), [("pieces", np.int8, 127), ("pairs", np.uint8, 7)])
def test_a_packed_table_is_off_by_half_a_step_at_most(name: str, kind: type, most: int, width: int) -> None:
    rows = np.random.default_rng(0).normal(size=(20, width)).astype(np.float32)
    rows[3] = 0
    packed = pack({f"{name}.weight": rows})
    again, table = pack(packed), unpack(packed, width)[f"{name}.weight"]
    assert packed[f"{name}.weight"].dtype == kind and packed[f"{name}.scale"].shape == (20,)
    assert all(np.array_equal(again[key], packed[key]) for key in packed) and not table[3].any()
    assert (np.abs(table - rows) <= 0.51 * np.abs(rows).max(axis=1, keepdims=True) / most).all()


def test_sizes_know_the_shapes_of_the_network() -> None:
    assert tensor_shapes(STUDENT) == {name: values.shape for name, values in tensors_of(StudentModel(STUDENT)).items()}


def test_weights_of_pieces_count_their_length() -> None:
    model = random_model()
    network = StudentNetwork(pack(tensors_of(model)))
    expected = model.weights.weight.detach()[:, 0].clamp(-4, 4).exp() * model.pieces.weight.detach().norm(dim=1)
    np.testing.assert_allclose(network.counts * network.lengths, expected.numpy(), rtol=0.02)
    np.testing.assert_allclose(network.pieces, model.pieces.weight.detach().numpy(), atol=0.01)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> StudentEncoder:
    loaded = load_encoder(student_model(tmp_path_factory.mktemp("student") / "model"))
    assert isinstance(loaded, StudentEncoder)
    return loaded


def test_vectors_depend_on_no_batch_order_or_number_of_threads() -> None:
    encoder = load_encoder("rejoinder")
    texts = [f"the cat number {number} sat on the mat and ran {'again ' * (number % 40)}" for number in range(80)] + ODD
    together = encoder.encode(texts)
    alone = np.concatenate([encoder.encode([text]) for text in texts[::-1]])[::-1]
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(encoder.encode(texts[::-1])[::-1], together, atol=1e-6)
    with threadpool_limits(limits=1, user_api="blas"):
        np.testing.assert_allclose(encoder.encode(texts), together, atol=1e-6)
    known = together[~np.isnan(together[:, 0])]
    assert together.dtype == np.float32 and len(known) >= len(texts) - 2
    np.testing.assert_allclose(np.linalg.norm(known, axis=1), 1.0, atol=1e-5)


def test_a_text_is_read_to_its_end_and_a_context_as_three_turns(encoder: StudentEncoder) -> None:
    one, other = encoder.encode(["the cat " * 1500 + "sat on", "the cat " * 1500 + "bye you"])
    assert np.abs(one - other).max() > 1e-4
    np.testing.assert_array_equal(
        encoder.encode_contexts([("bye", "the", " ", "cat", "sat")]), encoder.encode(["the cat sat"])
    )
    assert np.isnan(encoder.encode(["", " \n", "<s>"])).all() and encoder.encode([]).shape == (0, 6)


def test_pieces_are_rows_of_the_table(encoder: StudentEncoder) -> None:
    ids = list(encoder.pieces("The cat </s>"))
    assert encoder.table[ids].shape == (len(ids), 8) and encoder.weights.shape == (len(encoder.table),)
    assert 2 not in ids and (encoder.weights >= 0).all()


def test_pairs_in_whole_bytes_are_read_too(encoder: StudentEncoder) -> None:
    halves = encoder.parts.tensors["pairs.weight"]
    numbers = np.concatenate((halves & 15, halves >> 4), axis=1).astype(np.int8) - np.int8(8)
    again = from_parts(
        Parts(encoder.parts.config, {**encoder.parts.tensors, "pairs.weight": numbers}, encoder.parts.files)
    )
    assert again.parts.tensors["pairs.weight"].dtype == np.int8
    np.testing.assert_array_equal(again.encode(["the cat sat"]), encoder.encode(["the cat sat"]))


@pytest.mark.parametrize(
    ("sizes", "tensors", "message"),
    [
        ({"buckets": 0}, {}, "sizes.buckets"),
        ({"embedding": 17}, {}, "the tensor pieces.weight is int8 of shape"),
        ({}, {"pairs.weight": np.zeros((30, 8), dtype=np.int64)}, "the tensor pairs.weight is int64"),
        ({}, {"pieces.scale": np.zeros(3, dtype=np.float16)}, "the tensor pieces.scale is float16 of shape"),
        ({"blocks": 3}, {}, "no tensor blocks.2.kernel in it"),
        ({"blocks": 400_000}, {}, "sizes.blocks"),
        ({"vocabulary": 5}, {}, "sizes.vocabulary"),
        ({}, {"gate.weight": np.full((1, 8), 1e6, dtype=np.float32)}, "the tensor gate.weight holds NaN or infinity"),
    ],
)
def test_damaged_parts_are_refused(
    encoder: StudentEncoder, sizes: dict[str, int], tensors: dict[str, Any], message: str
) -> None:
    parts = encoder.parts
    config = {**parts.config, "sizes": {**parts.config["sizes"], **sizes}}
    with pytest.raises(DataError) as error:
        from_parts(Parts(config, {**parts.tensors, **tensors}, parts.files))
    assert message in str(error.value)


def test_student_and_selector_run_without_torch(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import rejoinder\n"
        "print(rejoinder.load_encoder('rejoinder').encode(['hello']).shape)\n"
        "print(rejoinder.score([rejoinder.Example(('hi',), 'hello')]).values)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("(1, 384)"), done.stderr


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("I do n't know , really .", "I don't know, really."),
        ("it 's  fine ( i think )", "it's fine (i think)"),
        ("that’s `it`", "that's 'it'"),
        ("we ' ll see </s>", "we'll see"),
        ("already fine: don't touch (it)!", "already fine: don't touch (it)!"),
    ],
)
def test_spaces_of_tokenizers_are_undone(written: str, meant: str) -> None:
    assert detokenize(written) == meant
