"""A selector: its arithmetic, what it is trained on, its training, and what runs it without torch."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from conftest import PROJECT, Run
from rejoinder.data.dialogues import Dialogue
from rejoinder.data.folders import read_folder
from rejoinder.models import load_encoder
from rejoinder.models.selector import Selector, from_parts
from rejoinder.models.sizes import SelectorSizes
from rejoinder.pretraining import pretrain as pretraining
from rejoinder.scorer import FloatArray

torch = pytest.importorskip("torch", reason="needs the extra train")

from rejoinder.models.networks.selector import Choices, SelectorModel  # noqa: E402
from rejoinder.pretraining.pretrain import pretrain  # noqa: E402
from rejoinder.pretraining.recipe import SelectorRecipe, read_recipe  # noqa: E402
from rejoinder.pretraining.selector import SelectorBatches, TurnIndex, index_turns  # noqa: E402
from rejoinder.pretraining.student import TeacherVectors  # noqa: E402
from tiny import student_model  # noqa: E402

TINY = PROJECT / "recipes" / "selector-tiny.toml"
SIZES = SelectorSizes(width=6, hidden=20, output=9)
TOPICS = ("bal", "dok", "fim", "gur", "lep", "nat", "por", "sil")


def encode(texts: Sequence[str]) -> FloatArray:
    """The share that each topic has in a text, and a little of how many words end in a; NaN for a text of no topic."""
    rows = []
    for text in texts:
        words = text.split()
        shares = [sum(word.startswith(topic) for word in words) / len(words) for topic in TOPICS]
        rows.append([*shares, 0.1 * sum(word.endswith("a") for word in words)] if any(shares) else [np.nan] * 9)
    return np.array(rows)


class Topics:
    """An encoder of topics."""

    options: ClassVar[dict[str, str]] = {"encoder": "topics", "weights": "0" * 12}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        return encode(texts)


@pytest.fixture(scope="module", autouse=True)
def topics() -> Iterator[None]:
    """The encoder of the name `topics`."""
    with pytest.MonkeyPatch.context() as patch:
        load = load_encoder
        patch.setattr(pretraining, "load_encoder", lambda name: Topics() if name == "topics" else load(name))
        yield


def recipe() -> SelectorRecipe:
    found = read_recipe(TINY)
    assert isinstance(found, SelectorRecipe)
    return found


def say(source: random.Random, topic: int) -> str:
    """A turn on a topic."""
    return " ".join(source.choices([f"{TOPICS[topic % len(TOPICS)]}{sound}" for sound in "aeiou"], k=3))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dialogues in which each turn goes on to the topic after that of the turn before."""
    source, file = random.Random(0), tmp_path_factory.mktemp("selector") / "corpus.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for _ in range(250):
            first = source.randrange(len(TOPICS))
            turns = [say(source, first + step) for step in range(source.randint(3, 6))]
            lines.write(json.dumps({"turns": [*turns, "?!"] if source.random() < 0.2 else turns}) + "\n")
    return file


@pytest.fixture(scope="module")
def folder(corpus: Path) -> Path:
    """A selector trained for seconds."""
    return pretrain(recipe(), [corpus], corpus.parent / "model", teacher="topics").folder


@pytest.fixture(scope="module")
def selector(folder: Path) -> Selector:
    return from_parts(read_folder(folder))


def random_model() -> SelectorModel:
    """Networks in which every weight counts."""
    torch.manual_seed(1)
    model = SelectorModel(SIZES)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return model.eval()


def units(*shape: int) -> FloatArray:
    drawn = np.random.default_rng(0).normal(size=shape)
    found: FloatArray = drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)
    return found


def test_what_is_chosen_is_counted() -> None:
    """Contexts and replies of one network, so that each vector is nearest to itself."""
    model = random_model()
    model.replies.load_state_dict(
        {
            name: weight[..., :6] if name == "up.weight" else weight
            for name, weight in model.contexts.state_dict().items()
        }
    )
    vectors = torch.cat([torch.from_numpy(units(5, 6)).float(), torch.zeros(1, 6)])
    turns = torch.tensor([[0, -1, -1], [1, -1, -1], [2, -1, -1], [0, -1, -1]])
    batch = Choices(vectors, turns, torch.tensor([0, 1, 3, 0]), torch.tensor([[3, -1], [-1, -1], [4, 2], [3, 4]]))
    with torch.inference_mode():
        found = model.contrastive_loss(batch)
        alone = model.contrastive_loss(batch._replace(others=torch.full((4, 1), -1)))
    assert (int(found.first), int(found.nearer)) == (3, 3)
    assert torch.isfinite(found.loss) and found.loss > alone.loss > 0


def test_a_copy_of_the_reply_is_no_negative() -> None:
    model, vectors = random_model(), torch.from_numpy(units(3, 6)).float()
    vectors[2] = 0
    turns, others = torch.tensor([[0, -1, -1]] * 2), torch.full((2, 1), -1)
    loss = model.contrastive_loss(Choices(vectors, turns, torch.tensor([1, 1]), others)).loss
    assert loss.item() == pytest.approx(0, abs=1e-6)
    torch.autograd.backward(loss)
    assert all(weight.grad is not None and torch.isfinite(weight.grad).all() for weight in model.parameters())


def index() -> TurnIndex:
    """A dialogue of ten turns, and one that repeats two of them."""
    long = Dialogue(tuple(f"turn {number}" for number in range(10)), "here")
    return index_turns([long, Dialogue(("TURN  3", "new", "turn 4"), "there")], 0.0)


def batches(batch: int = 4, without: Sequence[int] = ()) -> SelectorBatches:
    turns = index()
    rows = np.eye(len(turns.texts), dtype=np.float16)
    rows[list(without)] = np.nan
    return SelectorBatches(turns, TeacherVectors(turns.texts, [rows]), 3, batch, 2, seed=1)


def test_dialogues_become_numbers() -> None:
    turns = index()
    assert list(turns.texts) == [*(f"turn {number}" for number in range(10)), "new"]
    assert turns.turns.tolist() == [*range(10), 3, 10, 4]
    assert (turns.starts.tolist(), turns.stops.tolist()) == ([0] * 10 + [10] * 3, [10] * 10 + [13] * 3)
    assert not turns.held_out.any() and index_turns([Dialogue(("a", "b"), "x")], 1.0).held_out.all()


def test_a_batch_holds_contexts_replies_and_others_nearby() -> None:
    place = {tuple(row): text for text, row in enumerate(np.eye(11).tolist())} | {(0.0,) * 11: -1}
    met = set()
    for batch in islice(batches().training(0, 0, 1), 20):
        rows = np.array([place[tuple(row)] for row in batch.vectors.tolist()])
        for turns, reply, others in zip(rows[batch.turns], rows[batch.replies], rows[batch.others], strict=True):
            here = list(range(10)) if 10 not in {reply, *turns} else [3, 10, 4]
            at = here.index(reply)
            assert turns.tolist() == ([*here[:at][::-1], -1, -1])[:3]
            assert others[-1] == turns[0] and reply not in others
            assert all(abs(here.index(other) - at) <= 6 for other in others)
            met |= {(reply, other) for other in others[:2]}
    assert {(5, other) for other in (0, 1, 2, 3, 4, 6, 7, 8)} <= met and (5, 9) not in met


def test_each_pass_has_its_own_order_and_comes_again() -> None:
    source, size = batches(), 2
    drawn = list(islice(source.training(0, 0, 1), 2 * size + 1))
    assert len(source.train) // 4 == size
    again = next(source.training(size, 0, 1))
    assert all(torch.equal(one, other) for one, other in zip(drawn[size], again, strict=True))
    assert torch.equal(next(source.training(1, 1, 2)).vectors, drawn[3].vectors)
    assert not torch.equal(drawn[0].vectors[drawn[0].replies], again.vectors[again.replies])


def test_texts_without_a_vector_are_left_out() -> None:
    source = batches(9, without=[4])
    assert source.train.tolist() == [1, 2, 3, 6, 7, 8, 9, 11]
    assert not next(source.training(0, 0, 1)).vectors[:, 4].any()


def test_it_learns_what_answers_what(selector: Selector, folder: Path) -> None:
    figures = read_folder(folder).config["figures"]
    assert figures["before_own_others"] > 0.9 and figures["found_first"] > 3 / 64
    source = random.Random(1)
    asked, replies = (encode([say(source, first + step) for first in range(8)]) for step in (0, 1))
    cosines = selector.contexts(asked[:, None])[1] @ selector.replies(replies).T
    assert (cosines.argmax(1) == np.arange(8)).all()


def test_the_folder_tells_what_decided_it(selector: Selector, folder: Path, corpus: Path) -> None:
    config = read_folder(folder).config
    assert config["encoder"] == Topics.options and config["corpora"][0]["name"] == corpus.name
    assert config["recipe"] == recipe().to_dict() and config["replies"]["held_out"] > 50
    assert selector.common.shape == (10, 12) and selector.options == {"selector": selector.parts.digest}
    assert all(tensor.dtype == np.float16 for tensor in selector.parts.tensors.values())
    assert from_parts(selector.parts).parts.digest == selector.parts.digest
    np.testing.assert_allclose(np.linalg.norm(selector.common, axis=1), 1, atol=1e-5)


def test_the_command_trains_one_over_any_encoder(run: Run, corpus: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.toml"
    short.write_text(TINY.read_text().replace("updates = 80", "updates = 2"))
    student = student_model(tmp_path / "student")
    ran = run("pretrain", short, corpus, "--teacher", student, "-o", tmp_path / "model")
    assert ran.code == 0, ran.err
    assert "found first: " in ran.out
    made = from_parts(read_folder(tmp_path / "model"))
    assert made.parts.config["encoder"]["encoder"] == "student" and made.width == 6


def test_a_corpus_that_is_too_small_is_refused(run: Run, folder: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text('{"turns": ["bala", "doka"]}\n')
    ran = run("pretrain", TINY, few, "--teacher", "topics", "-o", tmp_path / "model")
    assert ran.code == 3 and "0 replies to train on, 1 to validate on. Give a larger corpus" in ran.err
    assert [file.name for file in tmp_path.iterdir()] == ["few.jsonl"]


def test_mixed_precision_hardly_moves_the_loss() -> None:
    batch = next(batches(11).training(0, 0, 1))
    model = SelectorModel(SelectorSizes(width=11, hidden=20, output=9))
    plain = model.contrastive_loss(batch).loss
    with torch.autocast("cpu", torch.bfloat16):
        mixed = model.contrastive_loss(batch).loss
    assert mixed.dtype == torch.float32 and mixed.item() == pytest.approx(plain.item(), rel=0.01)
    assert mixed.item() != plain.item()
