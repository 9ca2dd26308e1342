"""ROUGE-L against rouge-score and pycocoevalcap, and the texts that it cannot read."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import GOLDEN
from rejoinder.example import Example
from rejoinder.metrics import rouge
from rejoinder.scorer import Scores, run
from rejoinder.scoring.catalog import load_scorer
from rejoinder.text import tokenizer
from rejoinder.version import __version__

GOLDEN_VALUES = json.loads((GOLDEN / "overlap_metrics.json").read_text())
TEXT = st.text("abAB1 .,'\n\té我İK", max_size=25)


def scores(name: str, examples: Sequence[Example]) -> Scores:
    return run(load_scorer(name), examples)


def pair(response: str, *references: str) -> Example:
    return Example((), response, references)


def test_pycocoevalcap() -> None:
    examples = [pair(row["response"], row["reference"]) for row in GOLDEN_VALUES["pairs"]]
    golden = [row["coco_rouge_l_beta1.2"] for row in GOLDEN_VALUES["pairs"]]
    assert load_scorer("rouge-l/coco").score_batch(examples).values == pytest.approx(golden, abs=1e-9)
    # Precision 1 is of the first reference, recall 1 of the second.
    assert scores("rouge-l/coco", [pair("a b c d", "a b c d e f g h", "a")]).values == pytest.approx(1)
    assert tokenizer("space-1")("") == [""]  # an empty text is one token


@given(st.lists(st.builds(pair, TEXT, TEXT, TEXT), min_size=1, max_size=4))
def test_rouge_is_what_rouge_score_says(examples: list[Example]) -> None:
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenize import tokenize

    program = RougeScorer(["rougeL"])
    found = load_scorer("rouge-l").score_batch(examples)
    for row in np.flatnonzero(found.scored):
        response, references = examples[row].response, examples[row].references
        readable = [text for text in references if rouge._is_read(text)]
        values = [program.score(text, response)["rougeL"].fmeasure for text in readable]
        assert found.values[row] == pytest.approx(max(values), abs=1e-12)
    texts = [text for example in examples for text in (example.response, *example.references)]
    assert [[word.decode() for word in words] for words in rouge.rouge_words(texts)] == [
        tokenize(text, None) for text in texts
    ]


@pytest.mark.parametrize("name", ["rouge-l", "rouge-l/words", "rouge-l/coco"])
def test_the_better_reference_decides_and_batches_do_not(name: str) -> None:
    examples = [
        pair("i like red cars", "no", "i like red cars", "i like blue cars"),
        pair("i like", "i like red cars", " "),
        pair("i like", "i like red cars"),
        pair("", "yes"),
        pair("yes", "no"),
    ]
    together = scores(name, examples).values
    assert together[0] == pytest.approx(1) and together[1] == together[2]
    assert together[3:].tolist() == [0, 0]
    np.testing.assert_array_equal(together, [scores(name, [item]).values[0] for item in examples])


def test_texts_that_rouge_score_cannot_read_are_unscored() -> None:
    pairs = [("yes", "👍"), ("👍 да", "yes"), ("yes", "👍", "Yes"), ("", "yes"), (" \n", "yes"), ("...", "yes")]
    found = scores("rouge-l", [pair(*texts) for texts in pairs])
    np.testing.assert_array_equal(found.values, [np.nan, np.nan, 1, 0, 0, np.nan])
    unread = "rouge-score reads a-z and digits alone, and {} in these: use rouge-l/words"
    response = unread.format("the response is not")
    assert found.reasons == {0: unread.format("no reference is"), 1: response, 5: response}


def test_one_name_in_a_text_does_not_decide() -> None:
    found = scores(
        "rouge-l", [pair("我想吃KFC", "天气KFC"), pair("ok", "天气KFC", "OK"), pair("Il a été vu", "vu hier")]
    )
    assert set(found.reasons) == {0}
    assert found.values[1] == 1
    assert scores("rouge-l/words", [pair("我想吃KFC", "天气KFC")]).values[0] == pytest.approx(2 / 7)
    assert scores("rouge-l/words", [pair("ok", "\u200b")]).reasons == {0: "no reference"}


@pytest.mark.parametrize("name", ["rouge-l", "rouge-l/words", "rouge-l/coco"])
def test_very_long_texts_are_unscored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = scores(name, [pair("a " * 5999 + "b", "short", "c " * 6499 + "d"), pair("a b", "a b")])
    np.testing.assert_array_equal(found.values, [np.nan, 1])
    assert found.reasons == {
        0: "too long for rouge-score: 6,000 words in the response times 6,500 in a reference is more than 4,000,000, "
        "and it keeps a table of all pairs"
    }
    for most, scored in ((12, True), (11, False)):
        monkeypatch.setattr(rouge, "MAX_CELLS", most)
        assert scores(name, [pair("a b c", "a b c d")]).scored.tolist() == [scored]


def test_signatures() -> None:
    program = f"rouge-score {GOLDEN_VALUES['versions']['rouge-score']}"
    expected = {
        "rouge-l": f"tokenizer:rouge-score|stemmer:no|references:best|program:{program}",
        "rouge-l/coco": f"tokenizer:space-1|beta:1.2|references:best-precision-and-best-recall|program:{program}",
    }
    for name, options in expected.items():
        assert str(scores(name, []).signature) == f"scorer:{name}|version:2|{options}|rejoinder:{__version__}"
