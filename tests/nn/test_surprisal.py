"""The surprisal network: how texts are laid out for it, and what its pieces see of each other."""

from __future__ import annotations

import pytest
import torch

from rejoinder.nn.surprisal import Laying, SurprisalModel
from rejoinder.nn.surprising import END, UNKNOWN, Laid, SurprisalSizes
from rejoinder.text.bpe import END_ID, UNK_ID

SIZES = SurprisalSizes(30, width=8, layers=2, heads=2, inner=12, buckets=40, context=9, reply=6, places=4)


def random_model() -> SurprisalModel:
    """A network in which every weight counts."""
    torch.manual_seed(1)
    model = SurprisalModel(SIZES)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return model.eval()


def read(model: SurprisalModel, *parts: Laid) -> torch.Tensor:
    """[n, 2] what is told of a context and a reply, one behind the other."""
    fields = [torch.cat([torch.from_numpy(one) for one in field])[None] for field in zip(*parts, strict=True)]
    length = fields[0].shape[1]
    seen = torch.ones(1, 1, length, length, dtype=torch.bool).tril()
    with torch.inference_mode():
        told: torch.Tensor = model(Laying(fields[0], fields[1], fields[2], fields[3], seen))
    return told[0]


def test_sizes_tell_the_shape_of_every_tensor() -> None:
    assert {name: tuple(one.shape) for name, one in random_model().state_dict().items()} == SIZES.shapes()


def test_a_context_is_its_last_turns_with_their_ends() -> None:
    assert (UNKNOWN, END) == (UNK_ID, END_ID)
    found = SIZES.context_laid([[9, 9], [3], [4, 5], [0, END, 6], [7]])
    assert found.ids.tolist() == [END, 4, 5, END, 1, 1, 6, END, 7, END][1:]
    assert found.previous.tolist() == [END, 4, 5, END, 1, 1, 6, END, 7]
    assert found.places.tolist() == [7, 7, 7, 7, 7, 7, 6, 5, 4]
    assert found.roles.tolist() == [2, 2, 2, 1, 1, 1, 1, 0, 0]
    assert SIZES.context_laid([[3], [], [4], [5]]).roles.tolist() == [1, 1, 2, 1, 1, 0, 0]
    assert all(not len(field) for field in SIZES.context_laid([]))


def test_a_reply_is_its_words_and_an_end() -> None:
    found, owners = SIZES.reply_laid([[3, 4], [], [END, 5]])
    assert found.ids.tolist() == [3, 4, 1, 1, 5, END] and owners.tolist() == [0, 0, 1, 2, 2, 3]
    assert found.previous.tolist() == [END, 3, 4, 1, 1, 5]
    assert found.places.tolist() == [0, 1, 2, 3, 3, 3] and set(found.roles.tolist()) == {3}
    assert SIZES.reply_laid([])[0].ids.tolist() == [END]


def test_a_word_that_does_not_fit_is_not_read() -> None:
    found, owners = SIZES.reply_laid([[3, 4, 5], [6, 7, 8, 9], [3]])
    assert found.ids.tolist() == [3, 4, 5] and owners.tolist() == [0, 0, 0]
    found, owners = SIZES.reply_laid([[3] * 9])
    assert found.ids.tolist() == [3] * 6 and owners.tolist() == [0] * 6


def test_a_piece_sees_what_stands_before_it_alone() -> None:
    model, context = random_model(), SIZES.context_laid([[3, 4], [5]])
    one, other = (SIZES.reply_laid(words)[0] for words in ([[6], [7]], [[6], [8]]))
    first, second = read(model, context, one), read(model, context, other)
    torch.testing.assert_close(first[:6], second[:6])
    assert (first[6:] != second[6:]).all() and (first > 0).all()
    assert (read(model, one)[0] != first[5]).all()


def test_pairs_are_hashed_as_the_network_does() -> None:
    model, (laid, _) = random_model(), SIZES.reply_laid([[3, 4], [5]])
    changed = random_model()
    with torch.no_grad():
        changed.pair_says.weight[SIZES.pairs(laid)[2]] += 1.0
    assert (read(model, laid) != read(changed, laid)).any(1).tolist() == [False, False, True, False]


@pytest.mark.parametrize("name", ["pairs", "piece_says", "pair_says"])
def test_what_is_said_without_the_others_begins_with_nothing(name: str) -> None:
    assert not SurprisalModel(SIZES).state_dict()[f"{name}.weight"].any()
