"""BLEU and ROUGE-L against the programs they stand for: golden values, live comparison, published figures."""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import GOLDEN, drawn, loaded
from rejoinder.example import Example
from rejoinder.metrics import bleu, ngram_counts, rouge
from rejoinder.scorer import Scores, run
from rejoinder.scoring.catalog import load_scorer
from rejoinder.text import tokenizer
from rejoinder.version import __version__

GOLDEN_VALUES = json.loads((GOLDEN / "overlap_metrics.json").read_text())
PAIRS = GOLDEN_VALUES["pairs"]
NAMES = [pair["name"] for pair in PAIRS]
SMOOTHINGS = {"exp": "exp", "floor(0.1)": "floor", "add-k(1)": "add-k", "none": "none"}

a_text = st.lists(st.sampled_from(["the", "The", "cat", "sat", ".", "on", "mat", "a", "b"]), max_size=9).map(" ".join)
a_reference = st.lists(
    st.sampled_from(["the", "The", "cat", "sat", ".", "on", "mat", "a", "c"]), min_size=1, max_size=9
).map(" ".join)
an_example = st.builds(
    lambda response, references: Example((), response, tuple(references)),
    a_text,
    st.lists(a_reference, min_size=1, max_size=3),
)


def example(pair: dict[str, Any]) -> Example:
    return Example((), pair["response"], (pair["reference"],))


def single(scorer: Any, item: Example) -> float:
    """The score of one example, past `run`, which keeps blank references away from scorers."""
    outcome = scorer.score_batch([item])
    return float(outcome.values[0])


def scores(name: str, examples: Sequence[Example]) -> Scores:
    return run(load_scorer(name), examples)


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_bleu_of_pycocoevalcap(pair: dict[str, Any]) -> None:
    for order, value in enumerate(pair["coco_sentence_bleu"].values(), start=1):
        assert single(load_scorer(f"bleu-{order}/coco"), example(pair)) == pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("method", range(8))
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_bleu_of_nltk(order: int, method: int) -> None:
    values = [pair["nltk_sentence_bleu"][f"method{method}"][f"bleu{order}"] for pair in PAIRS]
    if "raises IndexError" in values:  # nltk's method 6 never works for these orders, so there is no such preset
        assert (order, method) in {(1, 6), (2, 6)}
        assert f"bleu-{order}/nltk-{method}" not in bleu.CARDS
        return
    outcome = load_scorer(f"bleu-{order}/nltk-{method}").score_batch([example(pair) for pair in PAIRS])
    for place, value in enumerate(values):
        if value == "raises AssertionError":
            assert np.isnan(outcome.values[place])
            assert outcome.reasons[place] == "nltk's smoothing method 6 needs a matching trigram"
        else:
            assert outcome.values[place] == pytest.approx(value, rel=1e-9, abs=0), NAMES[place]
    assert len(outcome.reasons) == values.count("raises AssertionError")


@pytest.mark.parametrize("effective_order", [True, False])
@pytest.mark.parametrize("stated", SMOOTHINGS)
def test_bleu_of_sacrebleu(stated: str, effective_order: bool) -> None:
    scorer = bleu.SacreBleu(bleu.CARDS["bleu-4"], 4, "none", SMOOTHINGS[stated], effective_order)
    key = stated + "_effective_order" * effective_order
    for pair in PAIRS:
        value = pair["sacrebleu_sentence_bleu_div100"][key]
        assert single(scorer, example(pair)) == pytest.approx(value, abs=1e-9), pair["name"]


def test_corpus_bleu() -> None:
    examples = [example(pair) for pair in PAIRS if pair["reference"] and pair["response"]]
    golden = GOLDEN_VALUES["corpus"]
    assert len(examples) == golden["pairs_used"]
    for order, value in enumerate(golden["nltk_corpus_bleu"].values(), start=1):
        assert scores(f"bleu-{order}/nltk-0", examples).corpus() == pytest.approx(value, abs=1e-9)
    sacre = bleu.SacreBleu(bleu.CARDS["bleu-4"], 4, "none", "none")
    expected = golden["sacrebleu_corpus_bleu4_none_tokenised_div100"]
    assert run(sacre, examples).corpus() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_rouge(pair: dict[str, Any]) -> None:
    coco = single(load_scorer("rouge-l/coco"), example(pair))
    assert coco == pytest.approx(pair["coco_rouge_l_beta1.2"], abs=1e-9)


@given(an_example)
def test_bleu_is_what_sacrebleu_says(item: Example) -> None:
    import sacrebleu

    for order in bleu.ORDERS:
        scorer = sacrebleu.BLEU(effective_order=True, max_ngram_order=order)
        expected = scorer.sentence_score(item.response, item.references).score / 100
        assert single(load_scorer(f"bleu-{order}"), item) == pytest.approx(expected, abs=1e-12)


@given(st.lists(an_example, min_size=1, max_size=4))
@drawn(50)
def test_corpus_bleu_is_what_sacrebleu_says(examples: list[Example]) -> None:
    import sacrebleu

    most = max(len(item.references) for item in examples)
    references = [[(*item.references, *[None] * most)[place] for item in examples] for place in range(most)]
    expected = sacrebleu.corpus_bleu([item.response for item in examples], references).score / 100  # type: ignore[arg-type]
    assert scores("bleu-4", examples).corpus() == pytest.approx(expected, abs=1e-12)


@given(st.lists(an_example, min_size=1, max_size=3), st.sampled_from(bleu.ORDERS), st.integers(0, 7))
@drawn(200)
def test_bleu_is_what_nltk_says(examples: list[Example], order: int, method: int) -> None:
    from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu

    name = f"bleu-{order}/nltk-{method}"
    if name not in bleu.CARDS:
        return
    smooth, weights = getattr(SmoothingFunction(), f"method{method}"), (1 / order,) * order
    responses = [item.response.split() for item in examples]
    references = [[reference.split() for reference in item.references] for item in examples]
    found = scores(name, examples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in range(len(examples)):
            if place not in found.reasons:
                value = sentence_bleu(references[place], responses[place], weights, smooth)
                assert found.values[place] == pytest.approx(value, rel=1e-9, abs=0)
        if method in bleu.SUMMABLE_METHODS:
            assert found.corpus() == pytest.approx(corpus_bleu(references, responses, weights, smooth), rel=1e-9, abs=0)
        elif found.scored.any():
            assert found.corpus() == pytest.approx(found.values[found.scored].mean())


@pytest.mark.parametrize("name", sorted({**bleu.CARDS, **rouge.CARDS}))
@given(examples=st.lists(an_example, min_size=1, max_size=3))
@drawn(15)
def test_range_batch_and_empty_response(name: str, examples: list[Example]) -> None:
    scorer = loaded(name)
    low, high = scorer.card.range
    together = scores(name, examples)
    alone = np.array([single(scorer, item) for item in examples])
    np.testing.assert_array_equal(together.values, alone)
    assert low == 0
    assert (together.values[together.scored] >= low).all()
    assert high is None or (together.values[together.scored] <= high).all()
    assert single(scorer, Example((), "", ("the cat", "a"))) == 0


@pytest.mark.parametrize("name", ["bleu-2", "bleu-2/coco", "bleu-2/nltk-1", "rouge-l", "rouge-l/coco"])
def test_the_better_reference_decides_and_a_blank_one_does_not_count(name: str) -> None:
    item = Example((), "i like red cars", ("no", "i like red cars", "i like blue cars"))
    assert single(load_scorer(name), item) == pytest.approx(1)
    with_blank = Example((), "i like", ("i like red cars", " "))
    assert single(load_scorer(name), with_blank) == single(
        load_scorer(name), Example((), "i like", ("i like red cars",))
    )


def test_counts_of_a_worked_example() -> None:
    """Tokens the the the cat / references the cat sat down, the the: two clipped matches of the, one of cat."""
    item = Example((), "the the the cat", ("the cat sat down", "the the"))
    np.testing.assert_array_equal(ngram_counts.count_ngrams([item], 2, "none"), [[4, 4, 3, 2, 4, 3]])


def test_coco_rouge_takes_precision_and_recall_from_different_references() -> None:
    item = Example((), "a b c d", ("a b c d e f g h", "a"))
    precision, recall = 1.0, 1.0  # of the first reference, of the second
    expected = (1 + 1.44) * precision * recall / (recall + 1.44 * precision)
    assert single(load_scorer("rouge-l/coco"), item) == pytest.approx(expected)


def test_rouge_leaves_what_it_cannot_read_unscored() -> None:
    pairs = [
        ("yes", ("👍",)),
        ("👍 да", ("yes",)),
        ("yes", ("👍", "Yes")),
        ("", ("yes",)),
        (" \n", ("yes",)),
        ("...", ("yes",)),
    ]
    found = scores("rouge-l", [Example((), response, references) for response, references in pairs])
    np.testing.assert_array_equal(found.values, [np.nan, np.nan, 1, 0, 0, np.nan])
    unread = "rouge-score reads a-z and digits alone, and the response is not in these: use rouge-l/words"
    assert found.reasons == {
        0: "rouge-score reads a-z and digits alone, and no reference is in these: use rouge-l/words",
        1: unread,
        5: unread,
    }


@pytest.mark.parametrize("name", ["rouge-l", "rouge-l/coco"])
def test_rouge_leaves_texts_that_would_fill_memory_unscored(name: str) -> None:
    many = Example((), "a " * 5999 + "b", ("short", "c " * 6499 + "d"))
    found = scores(name, [many, Example((), "a b", ("a b",))])
    np.testing.assert_array_equal(found.values, [np.nan, 1])
    assert found.reasons == {
        0: "too long for rouge-score: 6,000 words in the response times 6,500 in a reference is more than 4,000,000, "
        "and it keeps a table of all pairs"
    }


@pytest.mark.parametrize("name", ["rouge-l", "rouge-l/coco"])
@pytest.mark.parametrize(("most", "scored"), [(12, True), (11, False)])
def test_rouge_scores_up_to_its_limit(name: str, most: int, scored: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rouge, "MOST_CELLS", most)
    assert scores(name, [Example((), "a b c", ("a b c d",))]).scored.tolist() == [scored]


def test_bleu_leaves_no_text_in_the_memory_of_sacrebleu() -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    assert scores("bleu-2", [Example((), "one text", ("one word",))]).values[0] > 0
    for kind in (Tokenizer13a, TokenizerRegexp):
        assert kind.__call__.cache_info().currsize == 0


def test_a_tokenizer_that_remembers_nothing_is_left_alone() -> None:
    remembered: list[str] = []

    class Plain:
        __slots__ = ()

        def __call__(self, text: str) -> str:
            remembered.append(text)
            return text

    ngram_counts.forget(Plain())
    assert remembered == []


def test_signatures() -> None:
    def fields(name: str) -> str:
        return str(scores(name, []).signature)

    sacrebleu, nltk, program = (f"{name} {version(name)}" for name in ("sacrebleu", "nltk", "rouge-score"))
    expected = {
        "bleu-2": f"tokenizer:13a|smoothing:exp|effective-order:yes|references:native|program:{sacrebleu}",
        "bleu-2/coco": f"tokenizer:whitespace|smoothing:1e-15/1e-09|references:native|program:{sacrebleu}",
        "bleu-2/nltk-3": f"tokenizer:whitespace|smoothing:method3|references:native|program:{nltk}|counts:{sacrebleu}",
        "rouge-l": f"tokenizer:rouge-score|stemmer:no|references:best|program:{program}",
        "rouge-l/coco": f"tokenizer:space-1|beta:1.2|references:best-precision-and-best-recall|program:{program}",
    }
    for name, options in expected.items():
        assert fields(name) == f"scorer:{name}|version:2|{options}|rejoinder:{__version__}"


PUBLISHED = [  # Yeh et al. 2021 (DialEvalMetrics): data set, scorer, examples with a reference, Pearson, Spearman
    ("usr_personachat", "bleu-4/coco", 240, 0.135, 0.090),
    ("usr_personachat", "rouge-l/coco", 240, 0.066, 0.038),
    ("grade_dailydialog", "bleu-4/coco", 300, 0.075, 0.184),
    ("grade_dailydialog", "rouge-l/coco", 300, 0.154, 0.147),
    ("grade_empathetic", "bleu-4/coco", 300, -0.051, 0.002),
    ("grade_empathetic", "rouge-l/coco", 300, 0.029, -0.013),
]


@pytest.mark.parametrize(("dataset", "name", "size", "pearson", "spearman"), PUBLISHED)
def test_published_correlations(
    shared: Path, dataset: str, name: str, size: int, pearson: float, spearman: float
) -> None:
    from scipy import stats

    with gzip.open(shared / "data" / "judgements" / f"{dataset}.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [record for record in map(json.loads, lines) if record["references"]]
    examples = [Example((), record["response"], tuple(record["references"])) for record in records]
    quality = [record["quality"]["overall"] for record in records]
    values = scores(name, examples).values
    assert len(values) == size
    assert stats.pearsonr(values, quality).statistic == pytest.approx(pearson, abs=0.001)
    assert stats.spearmanr(values, quality).statistic == pytest.approx(spearman, abs=0.001)


def test_an_empty_text_is_one_token_between_spaces() -> None:
    assert tokenizer("space-1")("") == [""]


def test_bleu_without_stop_words_is_bleu_of_the_words_that_are_left() -> None:
    item = Example((), "The cat, of course: it sat!", ("the cats were there", "I saw the CAT that sat down"))
    bare = Example((), "cat course sat", ("cats", "saw cat sat"))
    for order in bleu.ORDERS:
        found = scores(f"bleu-{order}/no-stop-words", [item])
        expected = scores(f"bleu-{order}", [bare])
        assert found.values[0] == pytest.approx(expected.values[0], abs=1e-12)
        assert found.corpus() == pytest.approx(expected.corpus(), abs=1e-12)


def test_bleu_without_stop_words_says_where_nothing_is_left() -> None:
    found = scores(
        "bleu-2/no-stop-words", [Example((), "the cat", ("it is the", " ")), Example((), "it is", ("a cat",))]
    )
    assert found.reasons == {0: "no reference holds a word that is no stop word"}
    assert found.values[1] == 0
    assert "|words:no stop words (scikit-learn), no punctuation|" in str(found.signature)
