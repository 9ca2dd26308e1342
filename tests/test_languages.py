"""Languages: what each metric makes of texts that are not English, and what it says where it cannot read them."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import GOLDEN, Run, loaded, refused
from rejoinder.catalogue import cards, load_scorer
from rejoinder.errors import MissingExtra
from rejoinder.metrics import bleu, chrf
from rejoinder.records import Example
from rejoinder.scorer import Scores
from rejoinder.scorer import run as score
from rejoinder.text import uncut

CONTENT = json.loads((GOLDEN / "languages.json").read_text(encoding="utf-8"))
TEXTS: list[dict[str, Any]] = CONTENT["texts"]
NAMES = {name.removesuffix("/13a"): values for name, values in CONTENT["scores"].items()}


def example(text: dict[str, Any]) -> Example:
    return Example((), text["reply"], tuple(text["references"]))


def pair(response: str, *references: str, context: str = "?") -> Example:
    return Example((context,), response, references)


def scores(name: str, *examples: Example) -> Scores:
    return score(load_scorer(name), examples)


@pytest.mark.parametrize("name", NAMES)
def test_every_sentence_scores_as_by_sacrebleu_or_is_unscored(name: str) -> None:
    outcome = loaded(name).score_batch([example(text) for text in TEXTS])
    for place, (text, value) in enumerate(zip(TEXTS, NAMES[name]["sentence"], strict=True)):
        if place not in outcome.reasons:
            assert outcome.values[place] == pytest.approx(value / 100, abs=1e-12), text
    read = {text["language"] for place, text in enumerate(TEXTS) if place not in outcome.reasons}
    assert read == READ[name.partition("/")[2] if name.startswith("bleu") else "char"]


SPACED = {"ar", "he", "hi", "ko", "ru", "de", "en"}
READ = {
    "": SPACED,
    "intl": SPACED | {"emoji"},
    "zh": SPACED | {"zh", "ja"},
    "char": SPACED | {"zh", "ja", "th", "emoji"},
    "ja-mecab": SPACED | {"zh", "ja"},
}


@pytest.mark.parametrize("name", [name for name in NAMES if "char" in name or "chrf" in name])
def test_the_corpus_scores_as_by_sacrebleu(name: str) -> None:
    found = scores(name, *map(example, TEXTS))
    assert not found.reasons
    assert found.corpus() == pytest.approx(NAMES[name]["corpus"] / 100, abs=1e-12)


LETTERS = st.text(alphabet="aB ,.我想é😀\n", max_size=12)


@given(response=LETTERS, references=st.lists(LETTERS.filter(str.strip), min_size=1, max_size=3))
def test_chrf_is_what_sacrebleu_says(response: str, references: list[str]) -> None:
    from sacrebleu.metrics.chrf import CHRF

    for name, words in (("chrf", 0), ("chrf/++", 2)):
        expected = CHRF(word_order=words).sentence_score(response, references).score / 100
        outcome = load_scorer(name).score_batch([pair(response, *references)])
        assert outcome.values[0] == pytest.approx(expected, abs=1e-12)
        assert 0 <= outcome.values[0] <= 1


@given(st.lists(st.builds(pair, LETTERS, LETTERS.filter(str.strip), LETTERS.filter(str.strip)), min_size=1, max_size=4))
def test_corpus_chrf_is_what_sacrebleu_says(examples: list[Example]) -> None:
    from sacrebleu.metrics.chrf import CHRF

    documents = [[item.references[place] for item in examples] for place in range(2)]
    expected = CHRF().corpus_score([item.response for item in examples], documents).score / 100
    assert scores("chrf", *examples).corpus() == pytest.approx(expected, abs=1e-12)


def test_chrf_by_hand() -> None:
    """ab against abc: two of two and two of three letters, one of one and one of two pairs; no longer run in both."""
    precision, recall = (2 / 2 + 1 / 1) / 2, (2 / 3 + 1 / 2) / 2
    expected = 5 * precision * recall / (4 * precision + recall)
    found = scores("chrf", pair("a b", "abc", " ", "xyz"), pair("", "abc"))
    assert found.values.tolist() == [pytest.approx(expected), 0]
    assert found.statistics is not None
    np.testing.assert_array_equal(found.statistics[0][:9], [2, 3, 2, 1, 2, 1, 0, 1, 0])
    assert set(chrf.CARDS) == {"chrf", "chrf/++"}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("我想吃火锅。", "Chinese"),
        ("我用iPhone拍的照片", "Chinese"),
        ("今天，天气，很好", "Chinese"),  # signs of its own script cut nothing at white space
        ("没关系", "Chinese"),
        ("我 想 吃 火锅 。", None),
        ("好的", None),
        ("The word 你好吗 means how are you", None),
        ("ラーメンを食べたいです。", "Japanese"),
        ("ありがとう ござい ます", None),
        ("อยากกินผัดไทย", "Thai"),
        ("อยาก กิน ผัดไทย", None),
        ("ខ្ញុំចង់ញ៉ាំបាយ", "Khmer"),
        ("ຂ້ອຍຢາກກິນເຂົ້າ", "Lao"),
        ("ကျွန်တော်ထမင်းစားချင်တယ်", "Burmese"),
        ("😀😀🍕", "emoji"),
        ("👍🏽👍🏽!", "emoji"),
        ("👍🏽 👨‍👩‍👧", None),
        ("ok 😀😀", None),
        ("김치찌개를 먹고 싶어요.", None),
        ("ー", None),
        ("。", None),
        ("", None),
    ],
)
def test_what_stands_without_spaces(text: str, what: str | None) -> None:
    assert uncut(text) == what


@given(st.text())
def test_any_text_is_looked_at(text: str) -> None:
    assert uncut(text) in {"Japanese", "Chinese", "Thai", "Lao", "Khmer", "Burmese", "emoji", None}
    assert uncut(" ".join(text)) in {"emoji", None}


WHOLE = [name for name in bleu.CARDS if name.partition("/")[2][:4] in ("", "coco", "nltk", "intl")]


@pytest.mark.parametrize("name", WHOLE)
def test_bleu_leaves_sentences_that_it_would_take_for_words_unscored(name: str) -> None:
    order = name[:6]
    found = scores(
        name,
        pair("我想吃火锅。", "我想吃火锅。"),
        pair("ラーメンが食べたいです。", "ラーメンが食べたいです。"),
        pair("อยากกินผัดไทย", "อยากกินผัดไทย"),
        pair("OK", "我想吃火锅。"),
        pair("我 想 吃 火锅 。", "我 想 吃 火锅 。"),
        pair("", "我想吃火锅。"),
    )
    chinese = f"Chinese without spaces between words: use {order}/zh"
    assert found.reasons == {
        0: chinese,
        1: f"Japanese without spaces between words: use {order}/ja-mecab",
        2: f"Thai without spaces between words: use {order}/char",
        3: chinese,
    }
    assert found.values[4] > 0.99
    assert found.values[5] == 0


def test_a_cut_text_counts_in_the_corpus_and_a_whole_one_does_not() -> None:
    cut = pair("我 想 吃", "我 想 吃 火锅")
    assert scores("bleu-2", cut, pair("我想吃火锅", "天气很好")).corpus() == scores("bleu-2", cut).corpus()


def test_japanese_tells_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bleu, "find_spec", lambda name: None if name == "MeCab" else find_spec(name))
    message = (
        "bleu-4/ja-mecab, BLEU over Japanese words, needs mecab-python3 with ipadic. "
        "Install it: pip install 'rejoinder[ja]'"
    )
    with pytest.raises(MissingExtra):
        load_scorer("bleu-4/ja-mecab")
    refused(run("score", "@dstc7", "-s", "bleu-4/ja-mecab"), 4, message)
    assert "bleu-4/ja-mecab" in cards()
