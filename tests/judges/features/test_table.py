"""All features: their ranges whatever the texts are, their order, and that a row does not depend on its batch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from every import ODD_TEXTS
from examples_for_views import EXAMPLES
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.features.resources import default_resources
from rejoinder.judges.features.table import NONSENSE, RULE, FeatureSet

FEATURES = default_resources().features
TABLE = [(block, feature) for block in FEATURES.blocks for feature in block.features]
ALWAYS = ("lexical", "language")  # blocks that need nothing but a response, which may be empty


def check(examples: list[Example]) -> None:
    """Compute all features of some examples and compare them with their ranges."""
    values = FEATURES.compute(examples)
    assert values.dtype == np.float32 and values.shape == (len(examples), len(TABLE))
    for (block, feature), column in zip(TABLE, values.T, strict=True):
        known = column[~np.isnan(column)]
        assert len(known) == len(examples) or block.name not in ALWAYS, feature.name
        assert ((known >= feature.low - 1e-5) & (known <= feature.high + 1e-5)).all(), (block.name, feature.name)
        assert np.isfinite(known).all(), feature.name
    reference = np.array([any(map(str.strip, example.references)) for example in examples], np.bool_)
    needs = np.array([block.needs_reference and feature.name != "references" for block, feature in TABLE])
    assert np.isnan(values[np.ix_(~reference, needs)]).all()
    context = np.array([any(map(str.strip, example.context)) for example in examples], np.bool_)
    of_context = np.array([block.name in ("alignment", "meaning", "selection", "mood") for block, _ in TABLE])
    assert np.isnan(values[np.ix_(~context, of_context)]).all()


def test_odd_texts_give_values_in_range() -> None:
    odd = [text for text in ODD_TEXTS if len(text) < 5000]
    check([Example((text, before), text, (before,)) for text, before in pairwise(odd)])
    check([Example((), text, ("hello you",)) for text in odd])
    check([Example((text,), "i like my dog", ("hello", text)) for text in odd])


@given(st.lists(EXAMPLES, max_size=4))
@settings(max_examples=20)
def test_values_are_in_range_and_do_not_depend_on_the_batch(examples: list[Example]) -> None:
    check(examples)
    together = FEATURES.compute([*examples[::-1], *examples])
    for row, example in zip(together[len(examples) :], examples, strict=True):
        # The share of common replies that fit better counts ties, which the last bit decides.
        np.testing.assert_allclose(row, FEATURES.compute([example])[0], rtol=1e-5, atol=2e-3)


def test_names_are_found_in_any_order() -> None:
    assert len(set(FEATURES.columns)) == len(FEATURES.columns) == len(FEATURES.groups) == 123
    assert FEATURES.places(FEATURES.columns[::-1]).tolist() == list(range(122, -1, -1))
    with pytest.raises(DataError, match="no feature 'lexical.gone'"):
        FEATURES.places(["lexical.gone"])


def test_features_that_need_no_reference_and_the_rule() -> None:
    left_out = set(FEATURES.columns) - {FEATURES.columns[place] for place in FEATURES.plain}
    assert left_out == {name for name in FEATURES.columns if name.startswith("reference")}
    assert [FEATURES.columns[place] for place in np.flatnonzero(FEATURES.readers == RULE)] == [NONSENSE]


def test_a_set_without_a_block_has_its_other_features() -> None:
    fewer = FeatureSet(FEATURES.blocks[1:], FEATURES.pieces)
    example = Example(("hello",), "hi there")
    expected = FEATURES.compute([example])[:, len(FEATURES.blocks[0].features) :]
    np.testing.assert_array_equal(fewer.compute([example]), expected)
