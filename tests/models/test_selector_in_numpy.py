"""The selector in numpy: equal to torch, to itself in any batch, and to what its folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rejoinder.data.folders import Parts, read_folder
from rejoinder.errors import DataError
from rejoinder.models import load_encoder
from rejoinder.models.encoders import PortableEncoder
from rejoinder.models.selector import Selector, from_parts, tensor_shapes
from rejoinder.models.sizes import SelectorSizes

torch = pytest.importorskip("torch", reason="needs the extra train")

from rejoinder.models.networks.selector import SelectorModel  # noqa: E402
from tiny import selector_model, student_model, tensors_of  # noqa: E402

SIZES = SelectorSizes(width=6, hidden=20, output=9)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> PortableEncoder:
    return load_encoder(student_model(tmp_path_factory.mktemp("selector") / "student"))


@pytest.fixture(scope="module")
def selector(tmp_path_factory: pytest.TempPathFactory, encoder: PortableEncoder) -> Selector:
    return from_parts(read_folder(selector_model(tmp_path_factory.mktemp("selector") / "model", encoder)))


def test_numpy_gives_what_torch_gives_in_any_batch() -> None:
    torch.manual_seed(1)
    model = SelectorModel(SIZES).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    tensors = tensors_of(model)
    assert {name: values.shape for name, values in tensors.items() if name != "log_scale"} == tensor_shapes(SIZES)
    vectors = np.random.default_rng(0).normal(size=(8, 3, 6))
    vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
    vectors[:4, 2], vectors[:2, 1] = 0, 0
    given = torch.from_numpy(vectors).float()
    with torch.inference_mode():
        wholes, lasts = (
            model.contexts(turns.flatten(1)).numpy() for turns in (given, given * torch.eye(3)[0][:, None])
        )
        replies = model.replies(given[:, 0]).numpy()
    selector = Selector(Parts({"sizes": {"turns": 3}}, tensors))
    missing = np.where(vectors == 0, np.nan, vectors * 7)
    for rows in (slice(None), *(slice(row, row + 1) for row in range(8)), slice(0, 3)):
        np.testing.assert_allclose(selector.replies(vectors[rows, 0] * 7), replies[rows], atol=1e-5)
        for turns in (vectors[rows], missing[rows]):
            last, whole = selector.contexts(turns)
            np.testing.assert_allclose(last, lasts[rows], atol=1e-5)
            np.testing.assert_allclose(whole, wholes[rows], atol=1e-5)
    np.testing.assert_allclose(selector.contexts(vectors[:2, :1])[1], wholes[:2], atol=1e-5)


def test_a_folder_holds_common_replies(selector: Selector, encoder: PortableEncoder) -> None:
    selector.require(encoder)
    assert selector.common.shape == (5, 7) and selector.options == {"selector": selector.parts.digest}
    np.testing.assert_allclose(np.linalg.norm(selector.common, axis=1), 1, atol=1e-5)
    assert from_parts(selector.parts).parts.digest == selector.parts.digest


def test_another_encoder_is_refused(selector: Selector, encoder: PortableEncoder) -> None:
    sizes = {**selector.parts.config["sizes"], "width": 9}
    wider = Selector(Parts({**selector.parts.config, "sizes": sizes}, selector.parts.tensors))
    with pytest.raises(DataError, match="of width 9, not encoder student, weights .* of width 6"):
        wider.require(encoder)
    with pytest.raises(DataError, match="not encoder average"):
        selector.require(load_encoder("word-vectors"))


@pytest.mark.parametrize(
    ("sizes", "tensors", "message"),
    [
        ({"hidden": 0}, {}, "sizes.hidden"),
        ({"output": 5}, {}, "the tensor contexts.down.weight is float16 of shape (7, 10)"),
        ({"turns": 4}, {}, "the tensor contexts.up.weight is float16 of shape (10, 18)"),
        ({}, {"common": None}, "no tensor common in it"),
        ({}, {"replies.up.bias": None}, "no tensor replies.up.bias in it"),
        ({}, {"replies.up.bias": np.full(10, 1e6, np.float32)}, "the tensor replies.up.bias holds NaN or infinity"),
    ],
)
def test_damaged_parts_are_refused(
    selector: Selector, sizes: dict[str, Any], tensors: dict[str, Any], message: str, tmp_path: Path
) -> None:
    config = {**selector.parts.config, "sizes": {**selector.parts.config["sizes"], **sizes}}
    changed = {name: values for name, values in {**selector.parts.tensors, **tensors}.items() if values is not None}
    with pytest.raises(DataError) as error:
        from_parts(Parts(config, changed))
    assert message in str(error.value)
