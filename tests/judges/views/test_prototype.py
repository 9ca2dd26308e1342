"""The columns of words and likelihoods are those of the prototype they were chosen with, on lines that people rated."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np

from conftest import GOLDEN
from rejoinder.data.read import read
from rejoinder.judges.features.language import LanguageView
from rejoinder.judges.features.lexical import LexicalView
from rejoinder.pretraining.corpus import split
from rejoinder.pretraining.recipe import Counts
from rejoinder.pretraining.statistics import count_phrases

# What the prototype calls the columns that mean the same.
NAMES = {
    "len": "words",
    "loglen": "log_words",
    "short": "few_words",
    "long": "many_words",
    "chars": "word_length",
    "idf_mean": "idf_mean",
    "idf_max": "idf_max",
    "idf_sum": "idf_sum",
    "ncont": "content_words",
    "contshare": "content_share",
    "oov": "unknown_words",
    "freq": "usual_reply",
    "lm": "likely_mean",
    "lmnorm": "likely_gain",
    "lmmin": "likely_least",
    "lmsum": "likely_sum",
    "lmlow": "likely_lowest_gains",
    "uni": "usual_words",
    "d1": "repeated_words",
    "d2": "repeated_pairs",
    "rep3": "repeated_threes",
    "dup": "doubled_words",
    "crep": "repeated_content",
    "halves": "equal_halves",
    "ov_last": "topics_of_last",
    "ov_c3": "topics_of_three",
    "ov_all": "topics_of_all",
    "nov": "shared_topics",
    "has_ov": "shares_a_topic",
    "ov_raw": "words_of_three",
    "ov_last_raw": "words_of_last",
    "lcs_last": "in_order_of_last",
    "lcs_rev": "last_in_order",
    "lcs_prev": "in_order_of_before",
    "bg_last": "pairs_of_last",
    "bg_all": "pairs_of_earlier",
    "same": "is_copy",
    "lq": "last_asks",
    "rq": "asks",
    "q2q": "asks_back",
    "yes": "begins_as_answer",
    "qyes": "answers_question",
    "I": "first_person",
    "you": "second_person",
    "youI": "first_person_to_you",
    "idk": "does_not_know",
    "excl": "exclamations",
    "punct": "signs",
    "end": "ends_sentence",
    "comma": "commas",
    "hi": "greets",
    "sorry": "sorry",
    "thank": "thanks",
    "start_wh": "begins_as_question",
    "nctx": "context_turns",
    "llen": "last_words",
    "ratio": "length_ratio",
    "lidf": "last_idf_mean",
}
TURNED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "d1": lambda column: 1 - column,
    "d2": lambda column: 1 - column,
}
"""Shares of different words became shares of repeated ones."""
WIDER = {"badend"}
"""The words that a sentence goes on after are more here."""


def test_the_columns_are_those_of_the_prototype(shared: Path) -> None:
    golden = json.loads((GOLDEN / "plain_features.json").read_text(encoding="utf-8"))
    assert set(golden["columns"]) == set(NAMES) | WIDER
    corpus = split([shared / "data" / "corpora" / "casino.jsonl.gz"], 0.0)[0]
    turns = [turn for dialogue in islice(corpus, 100) for turn in dialogue.turns]
    phrases = count_phrases(turns, Counts(bigrams=1, trigrams=1, replies=2))
    examples = list(read(shared / "data" / "judgements" / "zhao_dailydialog.jsonl.gz"))[::18][:50]
    mine: dict[str, np.ndarray] = {}
    for view in (LexicalView(phrases), LanguageView(phrases)):
        mine |= dict(zip(view.columns, view.compute(examples).T, strict=True))
    for name, column in zip(golden["columns"], np.array(golden["rows"]).T, strict=True):
        if name in NAMES:
            expected = TURNED.get(name, np.asarray)(column)
            np.testing.assert_allclose(mine[NAMES[name]], expected, rtol=1e-3, atol=2e-3, err_msg=name)
