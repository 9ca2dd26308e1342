"""What the tests of views share: phrases of a small corpus, examples of all kinds, and what holds of every view."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from hypothesis import strategies as st

from every import ODD_TEXTS
from rejoinder.example import Example
from rejoinder.judges.features.table import FeatureBlock, Features
from rejoinder.models.phrases import Phrases
from rejoinder.pretraining.recipe import Counts
from rejoinder.pretraining.statistics import count_phrases

TURNS = (
    "hello, how are you today?",
    "i am fine, thank you. and you?",
    "i am tired, i did not sleep last night.",
    "why not? is your bed too hard?",
    "no, my neighbour plays the trumpet all night.",
    "did you talk to him about it?",
    "i don't know what to say to him.",
    "we could go to the park and feed the ducks.",
    "hello",
    "hello",
)
SENTENCES = st.lists(
    st.sampled_from([*" ".join(TURNS).split(), "Ducks", "n't", "12", "!!", "中文", "é"]), max_size=25
).map(" ".join)
TEXTS = SENTENCES | st.text(max_size=30) | st.sampled_from(ODD_TEXTS)
EXAMPLES = st.builds(
    Example, st.lists(TEXTS, max_size=5).map(tuple), TEXTS, references=st.lists(TEXTS, max_size=3).map(tuple)
)


@cache
def phrases() -> Phrases:
    """The phrases of `TURNS`."""
    return count_phrases(TURNS, Counts(bigrams=1, trigrams=1, replies=2))


def feature(view: FeatureBlock, example: Example, name: str) -> float:
    """One feature of an example."""
    return float(view.compute([example])[0, view.columns.index(name)])


def features(view: FeatureBlock, example: Example) -> dict[str, float]:
    """The features of an example by name."""
    return dict(zip(view.columns, view.compute([example])[0].tolist(), strict=True))


def require_rows_of_their_own(view: FeatureBlock, examples: Sequence[Example]) -> Features:
    """The features, each row of which is the same alone, in another order and beside copies."""
    found = view.compute(examples)
    assert found.dtype == np.float32 and found.shape == (len(examples), len(view.columns))
    if examples:
        alone = np.concatenate([view.compute([example]) for example in examples])
        np.testing.assert_allclose(alone, found, atol=1e-5)
    np.testing.assert_allclose(
        view.compute([*examples[::-1], *examples]), np.concatenate([found[::-1], found]), atol=1e-5
    )
    return found
