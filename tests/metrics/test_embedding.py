"""Embedding metrics: the released script's numbers, the printed formulae, and independence of the batch."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import GOLDEN, drawn
from rejoinder.example import Example
from rejoinder.metrics import embedding, metric_cards
from rejoinder.metrics.counting import clear_caches
from rejoinder.metrics.embedding import EmbeddingMetric, EmbeddingOptions, load
from rejoinder.scorer import run, signature_of
from rejoinder.text.vectors import WordVectors, word_vectors

CARDS = {name: card for name, card in metric_cards().items() if name.startswith("embedding")}
KINDS = ("greedy", "average", "extrema")
SETS = {
    "as_released_unit_vectors": "/liu2016",
    "as_released_raw_vectors": "/liu2016-raw",
    "paper_formula": "/paper",
}


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((GOLDEN / "embedding_metrics.json").read_text(encoding="utf-8"))
    return content


@pytest.fixture(scope="module")
def vectors(golden: dict[str, Any]) -> WordVectors:
    return word_vectors(list(golden["vectors"]), np.array(list(golden["vectors"].values())))


def metric(name: str, vectors: WordVectors) -> EmbeddingMetric:
    return EmbeddingMetric(CARDS[name], EmbeddingOptions.of(name), vectors)


def pair(response: str, *references: str) -> Example:
    return Example((), response, references)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", SETS)
def test_golden_pairs(golden: dict[str, Any], vectors: WordVectors, source: str, kind: str) -> None:
    examples = [pair(row["response"], row["reference"]) for row in golden["pairs"]]
    outcome = metric(f"embedding-{kind}{SETS[source]}", vectors).score_batch(examples)
    expected = [row[kind] for row in golden[source]["per_pair"]]
    for row, value, wanted in zip(golden["pairs"], outcome.values.tolist(), expected, strict=True):
        if wanted is None:
            assert math.isnan(value), row
        else:
            assert value == pytest.approx(wanted, abs=1e-9), row
    assert sorted(outcome.reasons) == [place for place, wanted in enumerate(expected) if wanted is None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", ["as_released_unit_vectors", "as_released_raw_vectors"])
def test_golden_corpus_figures(golden: dict[str, Any], vectors: WordVectors, source: str, kind: str) -> None:
    examples = [pair(row["response"], row["reference"]) for row in golden["pairs"]]
    values = metric(f"embedding-{kind}{SETS[source]}", vectors).score_batch(examples).values
    kept, wanted = values[np.isfinite(values)], golden[source]["corpus"][kind]
    assert kept.mean() == pytest.approx(wanted["mean"], abs=1e-9)
    assert kept.std() == pytest.approx(wanted["std_population"], abs=1e-9)
    as_coded = 1.96 * kept.std() / len(kept)
    assert as_coded == pytest.approx(wanted["ci95_halfwidth_as_coded_std_over_n"], abs=1e-9)


def test_greedy_by_hand() -> None:
    table = word_vectors(["x", "y", "d"], np.array([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]]))
    # Response "x x y" against "d": each word's best cosine is sqrt(1/2); back, d's best is sqrt(1/2) too.
    # Response "x d" against "x y": 1, sqrt(1/2) forth; x 1, y sqrt(1/2) back.
    half = math.sqrt(0.5)
    values = metric("embedding-greedy", table).score_batch([pair("x x y", "d"), pair("x d", "x y")]).values
    np.testing.assert_allclose(values, [half, (1 + half) / 2], atol=1e-12)


def test_plain_average_and_extrema_by_hand() -> None:
    table = word_vectors(["up", "right", "down"], np.array([[1.0, 2.0], [3.0, -1.0], [-4.0, -2.0]]))
    response, reference = "Up RIGHT, right", "down"
    average = metric("embedding-average", table).score_batch([pair(response, reference)]).values[0]
    extrema = metric("embedding-extrema", table).score_batch([pair(response, reference)]).values[0]
    assert average == pytest.approx((7 * -4 + 0 * -2) / (7 * math.sqrt(20)), abs=1e-12)  # sum (7, 0)
    assert extrema == pytest.approx((3 * -4 + 2 * -2) / (math.sqrt(13) * math.sqrt(20)), abs=1e-12)  # (3, 2)


def test_a_tie_of_extremes_goes_to_the_maximum_but_in_the_paper() -> None:
    table = word_vectors(["p", "n", "one"], np.array([[1.0, 0.5], [-1.0, 0.5], [1.0, 0.0]]))
    tie = [pair("p n", "one")]
    assert metric("embedding-extrema", table).score_batch(tie).values[0] == pytest.approx(1 / math.sqrt(1.25))
    assert metric("embedding-extrema/paper", table).score_batch(tie).values[0] == pytest.approx(-1 / math.sqrt(1.25))


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_reference_counts(vectors: WordVectors, kind: str) -> None:
    chosen = metric(f"embedding-{kind}", vectors)
    one, other = "w003 w004", "w005 w001"
    single = chosen.score_batch([pair("w001 w002", one), pair("w001 w002", other)]).values
    both = chosen.score_batch([pair("w001 w002", one, "", "unknown", other)]).values
    assert both[0] == pytest.approx(single.max(), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_no_usable_word_leaves_the_pair_unscored_and_names_the_side(vectors: WordVectors, kind: str) -> None:
    examples = [pair("", "w001"), pair("nothing known", "w001"), pair("w001", "nothing known", "?"), pair("w001")]
    outcome = metric(f"embedding-{kind}", vectors).score_batch(examples)
    assert np.isnan(outcome.values).all()
    assert outcome.reasons == {
        0: "no word of the response has a vector",
        1: "no word of the response has a vector",
        2: "no word of the reference has a vector",
        3: "no word of the reference has a vector",
    }


@pytest.mark.parametrize(("response", "reference", "side"), [("p n", "p", "response"), ("p", "p n", "reference")])
def test_a_sum_of_nothing_is_unscored(response: str, reference: str, side: str) -> None:
    table = word_vectors(["p", "n"], np.array([[1.0, -2.0], [-1.0, 2.0]]))
    outcome = metric("embedding-average", table).score_batch([pair(response, reference)])
    assert np.isnan(outcome.values[0])
    assert outcome.reasons == {0: f"the word vectors of the {side} add up to nothing"}


def test_run_leaves_empty_references_out_before_the_script_would_score_them(vectors: WordVectors) -> None:
    scores = run(metric("embedding-greedy/liu2016", vectors), [pair("w001", " "), pair("w001", "w001")])
    assert scores.reasons == {0: "no reference"}
    assert scores.values[1] == pytest.approx(1.0)


WORD = st.sampled_from([f"w{number:03}" for number in range(30)] + ["unknown", "zero", "tie_pos", "tie_neg"])
TEXT = st.lists(WORD, max_size=12).map(" ".join)
PAIR = st.builds(
    lambda response, references: Example((), response, tuple(references)), TEXT, st.lists(TEXT, max_size=3)
)


@drawn(25)
@given(examples=st.lists(PAIR, min_size=1, max_size=20), name=st.sampled_from(sorted(CARDS)))
def test_a_score_depends_on_its_pair_alone(vectors: WordVectors, examples: list[Example], name: str) -> None:
    chosen = metric(name, vectors)
    together = chosen.score_batch(examples)
    alone = [chosen.score_batch([example]) for example in examples]
    np.testing.assert_allclose(together.values, [outcome.values[0] for outcome in alone], rtol=0, atol=1e-9)
    assert together.reasons == {place: one.reasons[0] for place, one in enumerate(alone) if one.reasons}
    low, high = CARDS[name].range
    for value in together.values[np.isfinite(together.values)]:
        assert low is not None
        assert low - 1e-9 <= value <= (math.inf if high is None else high + 1e-9)


@drawn(30)
@given(one=TEXT, other=TEXT, kind=st.sampled_from(KINDS))
def test_the_plain_metrics_are_symmetric(vectors: WordVectors, one: str, other: str, kind: str) -> None:
    values = metric(f"embedding-{kind}", vectors).score_batch([pair(one, other), pair(other, one)]).values
    np.testing.assert_allclose(values[0], values[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", sorted(CARDS))
def test_small_steps_of_the_arithmetic_change_nothing(
    vectors: WordVectors, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = np.random.default_rng(3)
    texts = [" ".join(f"w{n:03}" for n in source.integers(0, 200, size)) for size in source.integers(1, 60, 80)]
    examples = [pair(one, other) for one, other in zip(texts[::2], texts[1::2], strict=True)]
    whole = metric(name, vectors).score_batch(examples).values
    monkeypatch.setattr(embedding, "STEP_NUMBERS", 64)
    np.testing.assert_allclose(metric(name, vectors).score_batch(examples).values, whole, rtol=0, atol=1e-9)
    assert np.isfinite(whole).all()


def test_very_long_texts(vectors: WordVectors) -> None:
    long = " ".join(f"w{number % 200:03}" for number in range(5000))
    for kind in KINDS:
        values = metric(f"embedding-{kind}", vectors).score_batch([pair(long, long), pair(long, "w001 w002")]).values
        assert values[0] == pytest.approx(1.0, abs=1e-9)
        assert -1.0 <= values[1] < 1.0


def test_greedy_matching_leaves_texts_with_too_many_pairs_of_words_unscored(vectors: WordVectors) -> None:
    long = " ".join(f"w{number % 200:03}" for number in range(50_000))
    examples = [pair(long, "w001", long), pair(long, "w001 w002"), pair("w001", "w001")]
    for name in ("embedding-greedy", "embedding-greedy/liu2016"):
        outcome = metric(name, vectors).score_batch(examples)
        assert np.isfinite(outcome.values).tolist() == [False, True, True]
        assert outcome.reasons == {
            0: "too long for greedy matching: 50,000 words in the response and 50,000 in a reference are more than "
            "25,000,000 pairs of words"
        }
    for kind in ("average", "extrema"):
        assert metric(f"embedding-{kind}", vectors).score_batch(examples[:1]).values[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("most", "scored"), [(6, True), (5, False)])
def test_greedy_matching_scores_up_to_its_limit(
    vectors: WordVectors, most: int, scored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "MAX_PAIRS", most)
    outcome = metric("embedding-greedy", vectors).score_batch([pair("w001 w002 w003", "w001 unknown w002")])
    assert np.isfinite(outcome.values).tolist() == [scored]


def test_a_text_is_cut_once_for_the_three_metrics(vectors: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[str] = []

    def split(text: str) -> list[str]:
        cut.append(text)
        return text.split()

    clear_caches()
    monkeypatch.setattr(embedding, "tokenizer", lambda _name, _table: split)
    for kind in KINDS:
        metric(f"embedding-{kind}", vectors).score_batch([pair("w001 w002", "w003")])
    clear_caches()
    assert cut == ["w001 w002", "w003"]


def test_no_examples(vectors: WordVectors) -> None:
    for name in CARDS:
        outcome = metric(name, vectors).score_batch([])
        assert outcome.values.shape == (0,)
        assert outcome.reasons == {}


def test_the_signature_tells_apart_what_differs(vectors: WordVectors) -> None:
    signatures = {str(signature_of(metric(name, vectors))) for name in CARDS}
    assert len(signatures) == len(CARDS)
    options = metric("embedding-extrema/liu2016", vectors).options
    assert options == {
        "tokenizer": "space-1",
        "vectors": vectors.digest,
        "scaling": "unit",
        "ties": "max",
        "edges": "released",
        "references": "best",
    }


def test_vectors_of_the_box_like_what_is_alike() -> None:
    reference = "I will have dinner at the restaurant on Friday."
    examples = [pair("Let's eat at a pub on Thursday!", reference), pair("Ubuntu needs a driver for it.", reference)]
    for kind in KINDS:
        near, far = run(load(f"embedding-{kind}", None), examples).values
        assert far < near < 1.0
