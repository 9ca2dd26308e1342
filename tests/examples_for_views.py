"""What the tests of features share: phrases of a small corpus, examples of all kinds, features by name."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from every import ODD_TEXTS
from rejoinder.example import Example
from rejoinder.judges.features.table import FeatureBlock
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


def names_of(block: FeatureBlock) -> list[str]:
    """The names of the features of a block."""
    return [feature.name for feature in block.features]


def feature(block: FeatureBlock, example: Example, name: str) -> float:
    """One feature of an example."""
    return float(block.compute([example])[0, names_of(block).index(name)])


def features(block: FeatureBlock, example: Example) -> dict[str, float]:
    """The features of an example by name."""
    return dict(zip(names_of(block), block.compute([example])[0].tolist(), strict=True))
