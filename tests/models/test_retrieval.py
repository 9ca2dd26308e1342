"""Retrieval models: which responses they find, what is withheld, what they say where they find none, Recall@k."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import PROJECT, Run, refused
from rejoinder.data.dialogues import Dialogue, read_dialogues
from rejoinder.data.folders import Parts, write_folder
from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.models import load_responder, retrieval
from rejoinder.models.decoding import Decoding
from rejoinder.models.reply_bank import Retriever, Sample, sample, top
from rejoinder.models.retrieval import TOKENIZER
from rejoinder.models.vocabulary import Vocabulary, train_bpe
from rejoinder.pretraining.corpus import is_held_out
from rejoinder.pretraining.pretrain import pretrain
from rejoinder.pretraining.recipe import RandomRecipe, RetrievalText
from rejoinder.responder import Answer, Context, Request, answer, request
from rejoinder.scorer import FloatArray
from rejoinder.text.tokenizers import tokenizer
from research.liu2016 import recall_at

HERE = PROJECT / "recipes"
KINDS = ("random", "c-tfidf", "r-tfidf", "dual-encoder")
TINY = [("a b", "c"), ("a d", "e"), ("b b f", "a")]
L15, L3 = math.log(3 / 2), math.log(3)


def dialogues(*turns: Sequence[str]) -> list[Dialogue]:
    return [Dialogue(tuple(said), "here") for said in turns]


def tfidf(kind: str, said: Sequence[Dialogue], most: int = 1000, *, smooth: bool = False) -> Retriever:
    parts = retrieval.retrieval_parts({"kind": kind}, sample(said, most, 0), smooth=smooth)
    return retrieval.from_parts(parts, Decoding())


def only(responder: Retriever, context: Context, count: int = 1, withheld: str | None = None) -> Answer:
    (found,) = answer(responder, [Request(context, 0, withheld)], count=count)
    return found


def texts(found: Answer) -> list[str]:
    return [reply.text for reply in found.replies]


@pytest.fixture(scope="module")
def conture() -> list[Dialogue]:
    """Those of five turns or more."""
    return [one for one in read_dialogues("@conture", on_error=lambda _: None) if len(one.turns) > 4]


@pytest.fixture(scope="module")
def vocabulary(conture: list[Dialogue]) -> Vocabulary:
    return train_bpe((turn for dialogue in conture for turn in dialogue.turns), 200)


def folder_of(kind: str, sampled: Sample, place: Path, vocabulary: Vocabulary) -> Path:
    """A saved responder of a kind."""
    if kind == "dual-encoder":
        pytest.importorskip("torch", reason="needs the extra train")
        from tiny import dual_parts

        parts = retrieval.with_bank(dual_parts(vocabulary), sampled.bank)
    else:
        parts = retrieval.retrieval_parts({"kind": kind}, sampled)
    write_folder(place, parts, "# A card\n")
    return place


@pytest.fixture(scope="module")
def folders(
    conture: list[Dialogue], vocabulary: Vocabulary, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """A saved responder of each kind over 300 pairs."""
    sampled, place = sample(conture, 300, 0), tmp_path_factory.mktemp("responders")
    return {kind: folder_of(kind, sampled, place / kind, vocabulary) for kind in KINDS}


def loaded(folder: Path) -> Any:
    return load_responder(folder)


# The pool


def test_pairs_are_grouped_by_response() -> None:
    pool, contexts, seen = sample(dialogues(("a", "Yes", "b"), ("c", "yes "), ("A", "yes")), 10, 0)
    assert seen == 4 and pool.pairs == 3  # the last is a copy of the first, case aside
    assert sorted(text.casefold().strip() for text in pool.texts) == ["b", "yes"]
    group = pool.group("YES")
    assert group is not None and sorted(contexts[group]) in ([("A",), ("c",)], [("a",), ("c",)])
    assert pool.single_source("yes") is None and pool.single_source("b") is not None and pool.group("no") is None


def test_a_sample_depends_on_seed_and_words_alone(conture: list[Dialogue]) -> None:
    first, again = sample(conture, 50, 0), sample([*conture[::-1], *conture[:9]], 50, 0)
    assert first.bank.pairs == 50 and first.bank.texts == again.bank.texts and first.contexts == again.contexts
    assert sample(conture, 50, 1).bank.texts != first.bank.texts
    assert set(first.bank.texts) <= {turn for dialogue in conture for turn in dialogue.turns[1:]}


def test_every_pair_is_as_likely_to_be_sampled() -> None:
    said = dialogues(*(("q", f"r{number}") for number in range(20)), *[("q", "r0")] * 50)
    drawn = [text for seed in range(400) for text in sample(said, 5, seed).bank.texts]
    counts = [drawn.count(f"r{number}") for number in range(20)]
    assert sum(counts) == 2000 and min(counts) > 65 and max(counts) < 140  # 100 expected, the copied one too


@given(st.lists(st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 2.0]), min_size=1, max_size=30), st.integers(1, 40))
def test_the_best_are_found(scores: list[float], count: int) -> None:
    ordered = sorted((place for place, score in enumerate(scores) if score > -math.inf), key=lambda at: -scores[at])
    assert top(np.array(scores), count).tolist() == ordered[:count]


# TF-IDF


def test_c_tfidf_by_hand() -> None:
    # a stands in every pair and weighs nothing; b in two of three; f in one.
    found = only(tfidf("c-tfidf", dialogues(*TINY)), ("b f",), 5)
    long = (2 * L15**2 + L3**2) / math.hypot(L15, L3) / math.hypot(2 * L15, L3)
    assert texts(found) == ["a", "c"]
    assert [reply.score for reply in found.replies] == pytest.approx([long, L15 / math.hypot(L15, L3)])


def test_r_tfidf_by_hand() -> None:
    found = only(tfidf("r-tfidf", dialogues(*TINY)), ("c e", "e a"), 5)
    assert texts(found) == ["e", "c"]
    assert [reply.score for reply in found.replies] == pytest.approx([2 / math.sqrt(5), 1 / math.sqrt(5)])


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("kind", ["c-tfidf", "r-tfidf"])
def test_tfidf_agrees_with_scikit_learn(kind: str, smooth: bool, conture: list[Dialogue]) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    sampled = sample(conture, 200, 0)
    pool, contexts = sampled.bank, ["\n".join(context) for context in sampled.contexts]
    responses = [pool.texts[place] for place in np.searchsorted(pool.starts, np.arange(200), side="right") - 1]
    vectoriser = TfidfVectorizer(analyzer=tokenizer(TOKENIZER), smooth_idf=smooth)
    vectoriser.fit([f"{context}\n{response}" for context, response in zip(contexts, responses, strict=True)])
    if not smooth:
        vectoriser.idf_ = vectoriser.idf_ - 1  # which adds 1 to the paper's
    asked = [dialogue.turns[:3] for dialogue in conture[:20]]
    side = vectoriser.transform(contexts if kind == "c-tfidf" else responses)
    cosines = (vectoriser.transform(["\n".join(context) for context in asked]) @ side.T).toarray()
    responder = tfidf(kind, conture, 200, smooth=smooth)
    for row, found in zip(cosines, answer(responder, [Request(one) for one in asked], count=3), strict=True):
        by_text: dict[str, float] = {}
        for response, cosine in zip(responses, row, strict=True):
            by_text[response] = max(cosine, by_text.get(response, 0))
        assert [reply.score for reply in found.replies] == pytest.approx(sorted(by_text.values())[::-1][:3], rel=1e-5)
        assert [by_text[text] for text in texts(found)] == pytest.approx([reply.score for reply in found.replies])


def test_what_is_withheld_by_context() -> None:
    said = dialogues(("red apple", "yes"), ("green pear", "yes"), ("red plum", "no"), ("blue", "maybe"))
    responder = tfidf("c-tfidf", said)
    asked = ("red apple",)
    assert texts(only(responder, asked, 3)) == ["yes", "no"]
    assert texts(only(responder, asked, 3, "YES")) == ["no"]  # the pair of pears shares no word with it
    assert texts(only(responder, ("green pear red",), 3, "yes")) == ["yes", "no"]  # without pears, apples are left
    assert texts(only(responder, asked, 3, "something else")) == ["yes", "no"]


@pytest.mark.parametrize("kind", ["random", "r-tfidf", "dual-encoder"])
def test_one_occurrence_is_withheld(kind: str, vocabulary: Vocabulary, tmp_path: Path) -> None:
    said = dialogues(("what do you think", "it is good"), ("and now", "it is good"), ("well", "it is bad"))
    responder = loaded(folder_of(kind, sample(said, 9, 0), tmp_path / "r", vocabulary))
    asked = ("is it good or bad",)
    assert set(texts(only(responder, asked, 9))) == {"it is good", "it is bad"}
    assert set(texts(only(responder, asked, 9, "it is good"))) == {"it is good", "it is bad"}
    assert texts(only(responder, asked, 9, "it is bad")) == ["it is good"]


@pytest.mark.parametrize("kind", ["random", "dual-encoder"])
def test_nothing_may_be_left(kind: str, vocabulary: Vocabulary, tmp_path: Path) -> None:
    sampled = sample(dialogues(("what is it", "it is good")), 9, 0)
    responder = loaded(folder_of(kind, sampled, tmp_path / "r", vocabulary))
    assert only(responder, ("what is it",), 2, "it is good") == Answer((), "no candidate is left")


def test_random_draws_by_pairs() -> None:
    said = dialogues(*((f"q{number}", "yes") for number in range(9)), ("q", "no"))
    responder = retrieval.RandomResponder(sample(said, 99, 0).bank)
    drawn = [texts(found)[0] for found in answer(responder, [Request((), seed) for seed in range(500)])]
    assert 25 < drawn.count("no") < 80  # 50 expected
    assert drawn == [texts(found)[0] for found in answer(responder, [Request((), seed) for seed in range(500)])]


# What no answer is found for, or is too long


@pytest.mark.parametrize("kind", KINDS)
def test_contexts_without_a_known_word(kind: str, folders: dict[str, Path]) -> None:
    responder = loaded(folders[kind])
    asked = [(), (" ", ""), ("☃☃ ☃",), ("hello , how are you today ?",)]
    found = list(answer(responder, [request(context, 0) for context in asked], count=2))
    if kind == "random":
        assert [len(one.replies) for one in found] == [2, 2, 2, 2]
        return
    assert [one.reason for one in found] == ["the context is empty"] * 2 + ["no word of the context is known", ""]
    assert [len(one.replies) for one in found] == [0, 0, 0, 2]
    first, second = (reply.score or 0.0 for reply in found[3].replies)
    assert len(set(texts(found[3]))) == 2 and first > second


def test_a_known_word_that_no_candidate_has() -> None:
    found = only(tfidf("r-tfidf", dialogues(*TINY)), ("d",))
    assert found == Answer((), "no candidate shares a word with the context")


def test_the_dual_encoder_reads_the_end_of_a_context(folders: dict[str, Path]) -> None:
    responder = loaded(folders["dual-encoder"])
    end = ("i like it", "me too", "why " * 40)
    asked = [("hello there", *end), ("what ?", "no", *end), end, (*end[:2], "why " * 400), end[1:]]
    found = [[reply.score for reply in one.replies] for one in answer(responder, map(Request, asked), count=3)]
    assert found[1] == found[2] == found[3] == pytest.approx(found[0])
    assert found[4] != found[2]


# The Dual Encoder


def test_the_dual_encoder_agrees_with_brute_force(folders: dict[str, Path], conture: list[Dialogue]) -> None:
    responder = loaded(folders["dual-encoder"])
    asked = [Request(dialogue.turns[:3], 0, dialogue.turns[3]) for dialogue in conture[:150]]
    ranked = responder.rank(asked, [responder.bank.texts] * len(asked))
    for row, one, found in zip(ranked, asked, answer(responder, asked, count=4, batch_size=100), strict=True):
        places = [place for place in np.argsort(-row) if place != responder.bank.single_source(one.withheld)][:4]
        # Half precision moves a logit by a thousandth, so two that are closer may change places.
        assert [reply.score for reply in found.replies] == pytest.approx(row[places], abs=0.02)
        assert len(found.replies) == 4 and len({reply.text for reply in found.replies}) == 4
    alone = [only(responder, one.context, 4, one.withheld) for one in asked[:20]]
    together = list(answer(responder, asked[:20], count=4))
    assert [texts(one) for one in alone] == [texts(one) for one in together]


def test_candidates_without_a_word_do_not_stop_the_dual_encoder(folders: dict[str, Path]) -> None:
    responder = loaded(folders["dual-encoder"])
    scores = responder.rank([Request(("hello there",)), Request(())], [["hi you", "", "hi you"]] * 2)
    assert scores[0, 0] == scores[0, 2] != 0 and scores[0, 1] == 0 and scores[1].tolist() == [0, 0, 0]


# Saved and loaded


def test_no_checkpoint(tmp_path: Path, folders: dict[str, Path]) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(MissingAsset) as missing:
        loaded(tmp_path / "none")
    assert str(missing.value).startswith(f"{tmp_path / 'none'}: no trained model here (config.json is missing). Check")
    write_folder(tmp_path / "judge", Parts({"kind": "tweet2vec"}, {}), "# x\n")
    with pytest.raises(DataError) as other:
        loaded(tmp_path / "judge")
    assert str(other.value).startswith(f"{tmp_path / 'judge'}: a model of kind 'tweet2vec', expected one of random, ")
    assert str(other.value).endswith(". Name a folder with a responder; rejoinder pretrain makes them")
    with pytest.raises(UsageError, match="gone"):
        loaded(tmp_path / "gone")


def test_candidates_that_are_missing(tmp_path: Path, vocabulary: Vocabulary) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    from tiny import dual_parts

    write_folder(tmp_path / "d", dual_parts(vocabulary), "# x\n")
    with pytest.raises(DataError) as missing:
        loaded(tmp_path / "d")
    message = "it has no candidates to choose from. Call rejoinder pretrain again, as it was called"
    assert str(missing.value) == f"{tmp_path / 'd'}: {message}"


# From a corpus to a folder


def test_what_is_held_out_is_no_candidate(tmp_path: Path) -> None:
    said = [(f"question {number}", f"answer {number}") for number in range(60)]
    file = tmp_path / "c.jsonl"
    file.write_text("".join(json.dumps({"turns": turns, "judged": turns == said[0]}) + "\n" for turns in said))
    train = {turns[1] for turns, one in zip(said, dialogues(*said), strict=True) if not is_held_out(one, 0.3)}
    assert "answer 0" in train and 30 < len(train) < 55
    for keep in (True, False):
        pretrain(
            RandomRecipe(kind="random", text=RetrievalText(held_out=0.3)),
            [file],
            tmp_path / "r",
            keep_judged=keep,
            force=True,
        )
        assert set(loaded(tmp_path / "r").bank.texts) == (train if keep else train - {"answer 0"})


def test_pretrain_makes_a_responder(run: Run, tmp_path: Path) -> None:
    recipe, out = tmp_path / "r.toml", tmp_path / "r"
    recipe.write_text('kind = "r-tfidf"\n[candidates]\nmost = 100\n', encoding="utf-8")
    ran = run("pretrain", recipe, "@conture", "-o", out, "--keep-judged", "--on-error", "skip")
    assert (ran.code, ran.out) == (0, f"saved in {out}; answer with it: rejoinder respond FILE -r {out}\n")
    assert ran.err.startswith("100 pairs of context and response of ")
    card = run("show", out)
    assert card.out.startswith("# R-TFIDF\n") and "from @conture. They are in this folder word for word" in card.out
    assert json.loads(run("show", out, "--json").out)["results"] == [{"name": "r-tfidf", "card": card.out}]
    assert len(only(loaded(out), ("how are you today ?",), 3).replies) == 3
    remedy = f"Let it answer, and score what it says: rejoinder respond FILE -r {out} -o REPLIES.jsonl"
    refused(run("score", "@conture", "-s", out), 3, f"{out}: a responder (r-tfidf), not a judge. {remedy}")
    message = "--start is for networks that read dialogues, and students, not for a r-tfidf. Remove it"
    refused(run("pretrain", recipe, "@conture", "-o", tmp_path / "s", "--start", out), 2, message)


@pytest.mark.slow
def test_pretrain_gives_a_dual_encoder_its_candidates(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "d"
    ran = run("pretrain", HERE / "dual-encoder-tiny.toml", "@conture", "-o", out, "--keep-judged", "--on-error", "skip")
    assert ran.code == 0 and ran.out.endswith(f"saved in {out}; answer with it: rejoinder respond FILE -r {out}\n")
    assert "; encoding them\n" in ran.err
    assert run("show", out).out.startswith("# DUAL-ENCODER\n")
    assert len(only(loaded(out), ("how are you today ?",), 3).replies) == 3


# Recall@k


@dataclass(frozen=True)
class Told:
    """Prefers the responses that it was told of, the earlier the more; the rest are level."""

    order: Sequence[str]
    name: str = "told"
    options: Any = None

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        raise NotImplementedError

    def rank(self, requests: Sequence[Request], candidates: Sequence[Sequence[str]]) -> FloatArray:
        places = {text: -place for place, text in enumerate(self.order)}
        return np.array([[places.get(text, -len(places)) for text in given] for given in candidates], dtype=float)


def four() -> list[Example]:
    """Four contexts of three dialogues, each with a response of its own."""
    told = [("x", "one"), ("y", "two"), ("y", "three"), ("z", "four")]
    return [Example((f"in {at}",), text, context_id=at) for at, text in told]


def test_recall_by_hand() -> None:
    # Beside each stand two of other dialogues. `one` is ahead of all; `four` and `two` are level behind it; so is
    # `three`, but beside it stand `one` and `four` alone.
    found = recall_at(Told(["one"]), four(), [1, 2], others=2)
    beside = [recall_at(Told(["one"]), four(), [1], seed=seed, others=2)[0].value for seed in range(60)]
    assert found[0].value in (0.25, pytest.approx((1 + 1 / 3) / 4)) and found[0].value < found[1].value
    # two and three: one is ahead of both, always. four: one is beside it, or two and three are, level with it.
    assert {round(value, 6) for value in beside} == {0.25, round((1 + 1 / 3) / 4, 6)}
    assert all(not one.has_interval for one in found)  # three dialogues are too few


def test_recall_of_one_that_cannot_tell() -> None:
    assert [one.value for one in recall_at(Told([]), four(), [1, 2], others=2)] == pytest.approx([1 / 3, 2 / 3])


def test_recall_of_ten(conture: list[Dialogue], folders: dict[str, Path]) -> None:
    examples = [
        Example(dialogue.turns[:place], dialogue.turns[place], context_id=dialogue.where)
        for dialogue in conture[:40]
        for place in range(1, 5)
    ]

    def recall(responder: Any) -> list[Estimate]:
        return recall_at(responder, examples, seed=1)

    chance, tfidfs = recall(loaded(folders["random"])), recall(loaded(folders["r-tfidf"]))
    assert [one.low < k / 10 < one.high for k, one in zip((1, 2, 5), chance, strict=True)] == [True] * 3
    assert tfidfs[0].value > chance[0].high
    assert chance == recall(loaded(folders["random"])) and chance != recall_at(loaded(folders["random"]), examples)
    assert all(0 < one.value < 1 for kind in ("c-tfidf", "dual-encoder") for one in recall(loaded(folders[kind])))


def test_recall_that_cannot_be_measured() -> None:
    with pytest.raises(DataError, match="3 different responses in other dialogues, expected 9. Give more dialogues"):
        recall_at(Told([]), four())
