"""Responders that write their replies: what they read, what decides what they say, and what they come from."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import rejoinder
from conftest import PROJECT
from rejoinder.data.folders import read_folder
from rejoinder.errors import MissingExtra
from rejoinder.models import load_responder
from rejoinder.models.decoding import Decoding, Method
from rejoinder.responder import Answer, Request, answer, request, signature_of

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("textblob", reason="needs the extra train")

import tiny  # noqa: E402
from rejoinder.models.generation import GenerativeResponder, from_parts  # noqa: E402
from rejoinder.pretraining.pretrain import pretrain  # noqa: E402
from rejoinder.pretraining.recipe import read_recipe  # noqa: E402
from rejoinder.text.parts_of_speech import tagger  # noqa: E402

KINDS = ("lm", "seq2seq", "hred", "vhred", "mrrnn")
METHODS = get_args(Method)
CONTEXTS = [
    ("hello how are you",),
    (),
    ("the cat sat on the mat", "the dog ran", "thanks"),
    ("", "  ", "\n"),
    ("bye",),
    ("the bird ran", "the bird ran"),
]


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.generator(tmp_path_factory.mktemp("generator") / request.param, request.param)


def load(folder: Path, method: Method = "greedy", **options: float) -> GenerativeResponder:
    return from_parts(read_folder(folder), Decoding(method, longest=6, **options))  # type: ignore[arg-type]


def replies(
    responder: GenerativeResponder, contexts: Sequence[tuple[str, ...]], count: int = 1, size: int = 64, seed: int = 0
) -> list[Answer]:
    return list(answer(responder, [request(context, seed) for context in contexts], count=count, batch_size=size))


def same(found: Sequence[Answer], expected: Sequence[Answer]) -> bool:
    """Whether answers have the same texts and, but for rounding, the same scores."""

    def flat(answers: Sequence[Answer]) -> tuple[list[list[str]], list[float]]:
        texts = [[reply.text for reply in one.replies] for one in answers]
        return texts, [reply.score or math.nan for one in answers for reply in one.replies]

    (texts, scores), (others, theirs) = flat(found), flat(expected)
    return texts == others and scores == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_reply_depends_on_neither_batch_nor_order(folder: Path, method: Method) -> None:
    responder = load(folder, method)
    together = replies(responder, CONTEXTS, count=3)
    assert same(replies(responder, CONTEXTS, count=3, size=1), together)
    assert same(replies(responder, CONTEXTS[::-1], count=3, size=4)[::-1], together)
    assert same(replies(load(folder, method), CONTEXTS, count=3), together), "nor on what was asked before"
    assert all(math.isfinite(reply.score or math.nan) for one in together for reply in one.replies)
    assert len({one.replies[0].text for one in together}) > 1


@pytest.mark.parametrize("method", METHODS)
def test_more_replies_than_the_beam_is_wide(folder: Path, method: Method) -> None:
    for found in replies(load(folder, method, beam=2), CONTEXTS, count=7):
        texts = [reply.text for reply in found.replies]
        assert len(texts) == len(set(texts))
        assert len(texts) == 1 if method == "greedy" else 5 <= len(texts) <= 7
        scores = [reply.score or 0.0 for reply in found.replies]
        assert scores == sorted(scores, reverse=True)


def test_the_seed_decides_what_is_random_and_nothing_else(folder: Path) -> None:
    kind = read_folder(folder).config["kind"]
    sampling, greedy, beam = (load(folder, method) for method in ("sample", "greedy", "beam"))
    assert not same(replies(sampling, CONTEXTS, seed=1), replies(sampling, CONTEXTS, seed=2))
    for responder in (greedy, beam):  # of these only the latent variable of a VHRED is random
        differ = not same(replies(responder, CONTEXTS, seed=1), replies(responder, CONTEXTS, seed=2))
        assert differ == (kind == "vhred")
    assert same(replies(sampling, CONTEXTS, seed=1), replies(sampling, CONTEXTS, seed=1))


def test_an_empty_context_is_the_beginning_of_a_conversation(folder: Path) -> None:
    none, blank, tabs = load(folder).respond_batch([Request(context, 3) for context in ((), ("",), (" ", "\t"))], 1)
    assert none.replies[0].text
    assert same([blank, tabs], [none, none])
    assert replies(load(folder), [()])[0].replies, "alone in its batch"


def test_words_it_does_not_know_are_read_and_not_said(folder: Path) -> None:
    responder = load(folder, "beam")
    (found,) = replies(responder, [("quux 漢字 🦖 <unk> </s> <pad>",)], count=3)
    assert len(found.replies) == 3
    assert all("<unk>" not in reply.text for reply in found.replies)
    unlike = replies(responder, [("漢",), ("🦖",)])
    assert unlike[0].replies[0].text == unlike[1].replies[0].text or read_folder(folder).config["kind"] == "vhred"


def test_of_a_long_context_the_end_is_read(folder: Path) -> None:
    """Turns beyond the limit, and tokens of a turn beyond it, change nothing."""
    words = " ".join(tiny.WORDS * 50)
    recent = ("hello", "the cat", words, "you")[-tiny.MOST_TURNS :]
    long = (*["something else"] * 300, *recent)
    longer = (*long[:-2], f"{words} and on", recent[-1])
    asked = [Request(context, seed=5) for context in (recent, long, longer)]
    first, second, third = load(folder).respond_batch(asked, 1)
    assert same([second, third], [first, first])
    other = load(folder).respond_batch([Request((*recent[:-1], "the bird"), seed=5)], 1)
    assert not same(other, [first])


def test_replies_have_the_length_asked_for(folder: Path) -> None:
    vocabulary = load(folder).vocabulary
    for method in METHODS:
        for found in replies(load(folder, method, shortest=6), CONTEXTS[:3]):
            # Pieces that were said one by one may be written with fewer; a first one gets a space before it.
            assert 1 <= len(vocabulary.encode(found.replies[0].text)) <= 7
    assert same(replies(load(folder, "beam", beam=1), CONTEXTS), replies(load(folder), CONTEXTS))


def test_decoding_and_weights_go_into_the_signature(folder: Path) -> None:
    kind, digest = read_folder(folder).config["kind"], read_folder(folder).digest
    for method, chosen in (
        ("greedy", {}),
        ("beam", {"beam": 5}),
        ("sample", {"temperature": 1.0, "top_p": 1.0}),
    ):
        responder = load(folder, method)  # type: ignore[arg-type]
        expected = {"weights": digest, "method": method, **chosen, "longest": 6, "shortest": 1}
        assert (responder.name, responder.options) == (kind, expected)
        assert str(signature_of(responder)).startswith(f"responder:{kind}|weights:{digest}|method:{method}")


def test_a_model_that_says_nothing_gives_the_reason(folder: Path) -> None:
    parts = read_folder(folder)
    name = next(name for name in parts.tensors if name.endswith("words.bias") and not name.startswith("coarse"))
    tensors = {**parts.tensors, name: parts.tensors[name].copy()}
    tensors[name][2] = 1e4
    silent = from_parts(replace(parts, tensors=tensors), Decoding("greedy", shortest=0))
    assert replies(silent, CONTEXTS[:1]) == [Answer((), "the model said nothing")]
    assert replies(from_parts(replace(parts, tensors=tensors), Decoding("beam", shortest=0)), CONTEXTS[:1])[0].replies


def test_a_missing_library_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if read_folder(folder).config["kind"] == "mrrnn":
        with monkeypatch.context() as without:
            for name in ["textblob.en", *(name for name in sys.modules if name.split(".")[0] == "textblob")]:
                without.setitem(sys.modules, name, None)
            tagger.cache_clear()
            with pytest.raises(MissingExtra) as textblob:
                replies(load(folder), CONTEXTS[:1])
        assert str(textblob.value) == "A MrRNN needs textblob. Install it: pip install 'rejoinder[train]'"
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra) as refusal:
        load_responder(folder)
    assert str(refusal.value) == "A trained responder needs torch. Install it: pip install 'rejoinder[train]'"


def test_a_mrrnn_writes_coarse_sequences_within_limits_of_their_own(tmp_path: Path) -> None:
    folder = tiny.generator(tmp_path / "mrrnn", "mrrnn")
    short, long = (from_parts(read_folder(folder), Decoding("greedy", longest=longest)) for longest in (2, 6))
    for context in CONTEXTS:
        cut, whole = (one.respond_batch([Request(context)], 1)[0].replies[0].text for one in (short, long))
        assert whole.replace(" ", "").startswith(cut.replace(" ", "")), "the same coarse sequence before both"


def recipe_of(kind: str, **options: Any) -> Any:
    """The tiny recipe of a kind with other options of the run."""
    recipe: Any = read_recipe(PROJECT / "recipes" / f"{kind}-tiny.toml")
    return recipe.model_copy(update={"run": recipe.run.model_copy(update=dict(accelerator="cpu", **options))})


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Some short dialogues from the sample in the box."""
    file = tmp_path / "corpus.jsonl"
    said = [[*example.context[-2:], example.response] for example in rejoinder.read("@conture") if example.context]
    file.write_text("".join(json.dumps({"turns": turns}) + "\n" for turns in said[:60]), encoding="utf-8")
    return file


@pytest.mark.parametrize("kind", ["lm", "seq2seq", "mrrnn"])
def test_a_trained_model_replies(kind: str, corpus: Path, tmp_path: Path) -> None:
    done = pretrain(recipe_of(kind, updates=2, stretch=1), [corpus], tmp_path / kind)
    assert done.rows[1]["validation_loss"] < done.rows[0]["validation_loss"]
    extra = {"perplexity_given_coarse", "coarse_perplexity"} if kind == "mrrnn" else set()
    expected = {"updates", "training_loss", "validation_loss", "perplexity", *extra}
    assert all(set(row) == expected and all(map(math.isfinite, row.values())) for row in done.rows)
    assert done.best["perplexity"] == pytest.approx(math.exp(done.best["validation_loss"]), rel=1e-4)
    assert all(found.replies for found in replies(load(done.folder, "sample"), CONTEXTS))


def test_a_mrrnn_starts_from_another_with_its_vocabularies(corpus: Path, tmp_path: Path) -> None:
    start = tiny.generator(tmp_path / "start", "mrrnn")
    first = read_folder(start)
    recipe = recipe_of("mrrnn", updates=1, stretch=1, learning_rate=1e-30)
    shape = {name: first.config["sizes"][name] for name in ("embedding", "utterance", "context", "decoder")}
    recipe = recipe.model_copy(update={"model": recipe.model.model_copy(update=shape)})
    found = read_folder(pretrain(recipe, [corpus], tmp_path / "model", start=start).folder)
    for name in ("vocabulary.json", "coarse.vocabulary.json"):
        assert found.files[name] == first.files[name]
    for name, tensor in first.tensors.items():
        np.testing.assert_allclose(found.tensors[name], tensor, atol=1e-20, err_msg=name)
