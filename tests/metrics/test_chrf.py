"""chrF against sacreBLEU: sentences, corpora and an example worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.example import Example
from rejoinder.scorer import run
from rejoinder.scoring.catalog import load_scorer

LETTERS = st.text(alphabet="aB ,.'(我想é😀\n\u2028", max_size=14)


@given(
    st.lists(
        st.tuples(LETTERS, st.lists(LETTERS.filter(str.strip), min_size=2, max_size=2)),
        min_size=1,
        max_size=4,
    )
)
def test_chrf_is_what_sacrebleu_says(rows: list[tuple[str, list[str]]]) -> None:
    from sacrebleu.metrics.chrf import CHRF

    examples = [Example((), response, tuple(references)) for response, references in rows]
    documents = [[references[place] for _, references in rows] for place in range(2)]
    for name, words in (("chrf", 0), ("chrf/++", 2)):
        program = CHRF(word_order=words)
        found = load_scorer(name).score_batch(examples)
        expected = [program.sentence_score(response, references).score / 100 for response, references in rows]
        assert found.values == pytest.approx(expected, abs=1e-12)
        corpus = program.corpus_score([response for response, _ in rows], documents).score / 100
        assert found.corpus() == pytest.approx(corpus, abs=1e-12)


def test_chrf_by_hand() -> None:
    """ab against abc: two of two and two of three letters, one of one and one of two pairs; no longer run in both."""
    precision, recall = (2 / 2 + 1 / 1) / 2, (2 / 3 + 1 / 2) / 2
    expected = 5 * precision * recall / (4 * precision + recall)
    found = run(load_scorer("chrf"), [Example((), "a b", ("abc", " ", "xyz")), Example((), "", ("abc",))])
    assert found.values.tolist() == [pytest.approx(expected), 0]
    assert found.statistics is not None
    np.testing.assert_array_equal(found.statistics[0][:9], [2, 3, 2, 1, 2, 1, 0, 1, 0])


@pytest.mark.parametrize("name", ["chrf", "chrf/++"])
def test_batches_do_not_decide(name: str) -> None:
    texts = ["I like it.", "我想吃火锅", "", "a", "I like it, (really) " * 300]
    examples = [Example((), text, (other, text[:5] or "x")) for text, other in zip(texts, texts[::-1], strict=True)]
    together = run(load_scorer(name), examples).values
    np.testing.assert_array_equal(together, [run(load_scorer(name), [item]).values[0] for item in examples])
