"""The surprisal network in numpy: what torch computes, each reply by itself, and what a context is to it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rejoinder.nn.attending import Before, SurprisalNetwork, Told
from rejoinder.nn.packing import packed, unpacked
from rejoinder.nn.surprisal import Laying, SurprisalModel
from rejoinder.nn.surprising import Laid, SurprisalSizes
from tiny import tensors_of

SIZES = SurprisalSizes(60, width=12, layers=3, heads=3, inner=20, buckets=40, context=14, reply=10, places=6)
Words = list[list[int]]
RNG = np.random.default_rng(0)
CONTEXT: Words = [[5, 6], [7], [8, 9, 10], [11, 12]]
REPLY: Words = [[20, 21], [22], [], [23]]


def random_model(sizes: SurprisalSizes = SIZES) -> SurprisalModel:
    """A network in which every weight counts."""
    torch.manual_seed(1)
    model = SurprisalModel(sizes)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return model.eval()


def network_of(model: SurprisalModel) -> SurprisalNetwork:
    return SurprisalNetwork(tensors_of(model), model.sizes)


def of_torch(model: SurprisalModel, *parts: Laid) -> np.ndarray:
    """[n, 2] what torch tells of pieces, one part behind the other."""
    fields = [torch.from_numpy(np.concatenate(field))[None] for field in zip(*parts, strict=True)]
    length = fields[0].shape[1]
    seen = torch.ones(1, 1, length, length, dtype=torch.bool).tril()
    with torch.inference_mode():
        told: np.ndarray = model(Laying(fields[0], fields[1], fields[2], fields[3], seen))[0].numpy()
    return told


def drawn(words: int) -> Words:
    """Words of one or two pieces."""
    return [RNG.integers(3, 60, RNG.integers(1, 3)).tolist() for _ in range(words)]


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("turns", [0, 1, 5])
def test_numpy_computes_what_torch_does(layers: int, turns: int) -> None:
    model = random_model(SurprisalSizes(**{**vars(SIZES), "layers": layers}))
    network, context = network_of(model), drawn(turns)
    for words in (REPLY, *map(drawn, (1, 3, 12))):
        laid, owners = SIZES.reply_laid(words)
        after = of_torch(model, SIZES.context_laid(context), laid)[-len(owners) :]
        alone = of_torch(model, laid)
        told = network.reply(words, network.context(context))
        for word in range(owners[-1] + 1):
            own = owners == word
            assert told.surprisal[word] == pytest.approx(after[own, 0].sum(), rel=1e-5, abs=1e-5)
            assert told.alone[word] == pytest.approx(alone[own, 0].sum(), rel=1e-5, abs=1e-5)
            assert told.entropy[word] == pytest.approx(after[own, 1][0], rel=1e-5, abs=1e-5)
        assert len(told.surprisal) == owners[-1] + 1 and told.ended == (owners[-1] == len(words))


def told(network: SurprisalNetwork, words: Words, before: Before) -> bytes:
    """All numbers of a reply, bit by bit."""
    found: Told = network.reply(words, before)
    return b"".join(one.tobytes() for one in found[:3])


def test_a_reply_is_the_same_whatever_was_read_before() -> None:
    network = network_of(random_model())
    first = told(network, REPLY, network.context(CONTEXT))
    kept = network.context(CONTEXT)
    others = [told(network, drawn(count), kept) for count in (1, 5, 9)]
    assert len(set(others)) == 3
    assert told(network, REPLY, kept) == first == told(network_of(random_model()), REPLY, kept)


def test_without_a_context_both_readings_are_one() -> None:
    found = network_of(random_model()).reply(REPLY, ())
    np.testing.assert_array_equal(found.surprisal, found.alone)
    assert network_of(random_model()).context([]) == ()


def test_what_is_kept_of_a_context_is_bounded() -> None:
    network = network_of(random_model())
    assert {one.shape for one in network.context([[9] * 5_000] * 9)} == {(14, 24)}
    found = network.reply([[9]] * 5_000, ())
    assert found.surprisal.shape == (10,) and not found.ended


def test_few_bits_are_enough() -> None:
    kept = packed(tensors_of(random_model()))
    assert kept["pairs.weight"].dtype == np.uint8 and kept["pieces.weight"].dtype == np.int8
    networks = SurprisalNetwork(kept, SIZES), SurprisalNetwork(unpacked(kept, SIZES.width), SIZES)
    few, whole = (network.reply(REPLY, network.context(CONTEXT)) for network in networks)
    np.testing.assert_allclose(few.surprisal, whole.surprisal, rtol=1e-5)
    np.testing.assert_allclose(few.entropy, whole.entropy, rtol=1e-5)


def test_large_numbers_stay_finite() -> None:
    """Shares of attention come of differences to the largest, whatever the weights are."""
    tensors = tensors_of(random_model())
    tensors |= {name: 1e4 * one for name, one in tensors.items() if name.endswith("reads.weight")}
    network = SurprisalNetwork(tensors, SIZES)
    assert all(np.isfinite(one).all() for one in network.reply(REPLY, network.context(CONTEXT))[:3])
