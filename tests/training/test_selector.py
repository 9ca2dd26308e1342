"""A selector: its arithmetic, what it is trained on, its training, and what runs it without torch."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from conftest import PROJECT, Run, refused
from rejoinder.data.dialogues import Dialogue
from rejoinder.data.folders import read_folder
from rejoinder.errors import DataError
from rejoinder.models.selector import Selector, from_parts
from rejoinder.models.sizes import SelectorSizes
from rejoinder.scorer import FloatArray

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("lightning", reason="needs the extra train")

from rejoinder.models.networks.selector import Choices, SelectorModel  # noqa: E402
from rejoinder.pretraining.pretrain_selector import pretrain_selector  # noqa: E402
from rejoinder.pretraining.pretrain_student import Teacher  # noqa: E402
from rejoinder.pretraining.recipe import SelectorRecipe, read_recipe  # noqa: E402
from rejoinder.pretraining.selector import Said, SelectorBatches, said_in  # noqa: E402
from rejoinder.pretraining.taught import Taught  # noqa: E402
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


ENCODER = Teacher(encode, {"encoder": "topics", "weights": "0" * 12})


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
    pretrain_selector(recipe(), [corpus], corpus.parent / "model", ENCODER)
    return corpus.parent / "model"


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


def said() -> Said:
    """A dialogue of ten turns, and one whose turns were said there too."""
    long = Dialogue(tuple(f"turn {number}" for number in range(10)), "here")
    return said_in([long, Dialogue(("TURN  3", "new", "turn 4"), "there")], 0.0)


def batches(there: Sequence[bool], batch: int = 4) -> SelectorBatches:
    found = said()
    taught = Taught(found.texts, [np.eye(len(found.texts), dtype=np.float16)])
    return SelectorBatches(found, taught, np.array(there), 3, batch, 2, seed=1)


def test_dialogues_become_numbers() -> None:
    found = said()
    assert list(found.texts) == [*(f"turn {number}" for number in range(10)), "new"]
    assert found.turns.tolist() == [*range(10), 3, 10, 4]
    assert (found.starts.tolist(), found.stops.tolist()) == ([0] * 10 + [10] * 3, [10] * 10 + [13] * 3)
    assert not found.held_out.any() and said_in([Dialogue(("a", "b"), "x")], 1.0).held_out.all()


def test_a_batch_holds_contexts_replies_and_others_nearby() -> None:
    source = batches([True] * 11)
    place = {tuple(row): text for text, row in enumerate(np.eye(11).tolist())} | {(0.0,) * 11: -1}
    met = set()
    for batch in source.training(0, 20, 0, 1):
        rows = np.array([place[tuple(row)] for row in batch.vectors.tolist()])
        for turns, reply, others in zip(rows[batch.turns], rows[batch.replies], rows[batch.others], strict=True):
            here = list(range(10)) if 10 not in {reply, *turns} else [3, 10, 4]
            at = here.index(reply)
            assert turns.tolist() == ([*here[:at][::-1], -1, -1])[:3]
            assert others[-1] == turns[0] and reply not in others
            assert all(abs(here.index(other) - at) <= 6 for other in others)
            met |= {(reply, other) for other in others[:2]}
    assert {(5, other) for other in (0, 1, 2, 3, 4, 6, 7, 8)} <= met and (5, 9) not in met


def test_each_pass_has_an_order_of_its_own_and_comes_again() -> None:
    source = batches([True] * 11)
    found = list(source.training(0, 2 * source.a_pass, 0, 1))
    (again,) = source.training(source.a_pass, 1, 0, 1)
    assert all(torch.equal(one, other) for one, other in zip(found[source.a_pass], again, strict=True))
    assert not torch.equal(found[0].vectors[found[0].replies], again.vectors[again.replies])


def test_what_has_no_vector_is_left_out() -> None:
    there = [number != 4 for number in range(11)]
    source = batches(there, batch=9)
    assert source.train.tolist() == [1, 2, 3, 6, 7, 8, 9, 11]
    (batch,) = source.training(0, 1, 0, 1)
    assert not batch.vectors[:, 4].any()


def test_it_learns_what_answers_what(selector: Selector, folder: Path) -> None:
    figures = read_folder(folder).config["figures"]
    assert figures["before_own_others"] > 0.9 and figures["found_first"] > 3 / 64
    source = random.Random(1)
    asked, replies = (encode([say(source, first + step) for first in range(8)]) for step in (0, 1))
    cosines = selector.contexts(asked[:, None])[1] @ selector.replies(replies).T
    assert (cosines.argmax(1) == np.arange(8)).all()


def test_the_folder_tells_what_decided_it(selector: Selector, folder: Path, corpus: Path) -> None:
    config = read_folder(folder).config
    assert config["encoder"] == ENCODER.options and config["corpora"][0]["name"] == corpus.name
    assert config["recipe"] == recipe().to_dict() and config["replies"]["held_out"] > 50
    assert selector.common.shape == (10, 12) and selector.options == {"selector": selector.parts.digest}
    assert all(tensor.dtype == np.float16 for tensor in selector.parts.tensors.values())
    assert from_parts(selector.parts).parts.digest == selector.parts.digest
    np.testing.assert_allclose(np.linalg.norm(selector.common, axis=1), 1, atol=1e-5)


def test_a_broken_run_goes_on_as_if_nothing_had_happened(folder: Path, corpus: Path, tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if done == 50:
            raise Stop

    with pytest.raises(Stop):
        pretrain_selector(recipe(), [corpus], tmp_path / "broken", ENCODER, advance=advance)
    never = Teacher(lambda texts: pytest.fail("its vectors are there"), ENCODER.options)
    pretrain_selector(recipe(), [corpus], tmp_path / "broken", never)
    assert read_folder(tmp_path / "broken").digest == read_folder(folder).digest


def test_the_command_trains_one_over_any_encoder(run: Run, corpus: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.toml"
    short.write_text(TINY.read_text().replace("updates = 80", "updates = 2"))
    student = student_model(tmp_path / "student")
    ran = run("pretrain", short, corpus, "--teacher", student, "-o", tmp_path / "model")
    assert ran.code == 0, ran.err
    assert "found first: " in ran.out
    made = from_parts(read_folder(tmp_path / "model"))
    assert made.parts.config["encoder"]["encoder"] == "student" and made.width == 6


def test_what_a_selector_needs_is_told(run: Run, corpus: Path, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    message = "a selector stands on the vectors of an encoder. Name one with --teacher"
    refused(run("pretrain", TINY, corpus, "-o", out), 2, message)
    started = run("pretrain", TINY, corpus, "--start", folder, "-o", out)
    refused(started, 2, "--start is for networks that read dialogues and for students. Leave it out")
    few = tmp_path / "few.jsonl"
    few.write_text('{"turns": ["bala", "doka"]}\n')
    with pytest.raises(DataError, match="0 replies to train on, 1 to validate on"):
        pretrain_selector(recipe(), [few], out, ENCODER)


def test_mixed_precision_hardly_moves_the_loss() -> None:
    (batch,) = batches([True] * 11, batch=11).training(0, 1, 0, 1)
    model = SelectorModel(SelectorSizes(width=11, hidden=20, output=9))
    plain = model.contrastive_loss(batch).loss
    with torch.autocast("cpu", torch.bfloat16):
        mixed = model.contrastive_loss(batch).loss
    assert mixed.dtype == torch.float32 and mixed.item() == pytest.approx(plain.item(), rel=0.01)
    assert mixed.item() != plain.item()
