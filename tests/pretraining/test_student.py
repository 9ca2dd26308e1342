"""The student: its arithmetic, what it is taught, its training, and the encoder that runs it without torch."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import PROJECT, Run, refused
from rejoinder.data.dialogues import Dialogue, read_dialogues
from rejoinder.data.folders import read_folder
from rejoinder.errors import DataError
from rejoinder.models import load_encoder
from rejoinder.models.sizes import StudentSizes
from rejoinder.scorer import FloatArray

torch = pytest.importorskip("torch", reason="needs the extra train")

from rejoinder.models.networks.student import StudentModel  # noqa: E402
from rejoinder.pretraining import student as training  # noqa: E402
from rejoinder.pretraining.pretrain import pretrain  # noqa: E402
from rejoinder.pretraining.recipe import Run as RunTable  # noqa: E402
from rejoinder.pretraining.recipe import StudentRecipe, StudentText, read_recipe  # noqa: E402
from rejoinder.pretraining.student import (  # noqa: E402
    StudentBatches,
    StudentTask,
    TeacherVectors,
    read_vectors,
    student_texts,
    write_vectors,
)
from tiny import STUDENT, student_model  # noqa: E402

TINY = PROJECT / "recipes" / "student-tiny.toml"
TOPICS = {topic: [f"{topic}{sound}" for sound in "aeiou"] for topic in ("bal", "dok", "fim", "gur", "lep", "nat")}


def teach(texts: Sequence[str]) -> FloatArray:
    """The share that each topic has in a text, and whether its first word comes first in the alphabet."""
    rows = []
    for text in texts:
        words = text.split()
        shares = [sum(word.startswith(topic) for word in words) / max(len(words), 1) for topic in TOPICS]
        rows.append([*shares, 0.5 * (words == sorted(words))] if words else [np.nan] * 7)
    return np.array(rows)


def recipe() -> StudentRecipe:
    found = read_recipe(TINY)
    assert isinstance(found, StudentRecipe)
    return found


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dialogues that each keep to two topics."""
    source, file = random.Random(0), tmp_path_factory.mktemp("student") / "corpus.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for _ in range(250):
            words = [word for topic in source.sample(list(TOPICS), 2) for word in TOPICS[topic]]
            turns = [" ".join(source.choices(words, k=source.randint(2, 6))) for _ in range(source.randint(2, 6))]
            lines.write(json.dumps({"turns": turns}) + "\n")
    return file


@pytest.fixture(scope="module")
def vectors(corpus: Path) -> Path:
    """The teacher's vectors of the texts of the corpus."""
    folder = corpus.parent / "vectors"
    write_vectors(folder, lambda: student_texts(read_dialogues(corpus), recipe().text), teach, lambda _: None)
    return folder


@pytest.fixture(scope="module")
def folder(vectors: Path) -> Path:
    """A student trained for seconds."""
    return pretrain(recipe(), [vectors], vectors.parent / "model").folder


def random_model(sizes: StudentSizes = STUDENT) -> StudentModel:
    """A network in which every weight counts."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = StudentModel(sizes)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.3)
    return model.eval()


def by_torch(model: StudentModel, ids: Sequence[int]) -> Any:
    with torch.inference_mode():
        return model(torch.tensor([ids]), torch.tensor([len(ids)]))[0].numpy()


def test_the_table_alone_is_a_weighted_sum() -> None:
    model = random_model()
    vectors, weights = model.pieces.weight.detach(), model.weights.weight.detach()[:, 0].clamp(-4, 4).exp()
    bag = (weights[5] * vectors[5] + weights[7] * vectors[7]) / 2**0.5
    expected = torch.nn.functional.normalize(model.bag(bag), dim=0)
    torch.testing.assert_close(model(torch.tensor([[5, 7, 0]]), torch.tensor([2]), alone=True)[0], expected)


def test_what_is_added_to_the_table_begins_at_zero() -> None:
    model, tokens, lengths = StudentModel(STUDENT), torch.tensor([[5, 7, 9]]), torch.tensor([3])
    torch.testing.assert_close(model(tokens, lengths), model(tokens, lengths, alone=True))


def test_padding_changes_no_vector() -> None:
    model = random_model()
    with torch.inference_mode():
        both = model(torch.tensor([[3, 4, 5, 0, 0, 0, 0], [6, 7, 8, 9, 10, 11, 12]]), torch.tensor([3, 7])).numpy()
    np.testing.assert_allclose(both[0], by_torch(model, [3, 4, 5]), atol=1e-6)
    np.testing.assert_allclose(both[1], by_torch(model, range(6, 13)), atol=1e-6)


def test_word_order_counts() -> None:
    model = random_model()
    assert np.abs(by_torch(model, [5, 7, 9]) - by_torch(model, [9, 7, 5])).max() > 0.01


def test_the_loss_is_the_distance_and_that_of_the_cosines() -> None:
    task = StudentTask(STUDENT, RunTable(updates=10))
    batch = next(small_batches(6, pieces=100).training(0, 0, 1))
    with torch.no_grad():
        found, loss = task.model(batch.tokens, batch.lengths), task.loss(batch, 0, torch.Generator())
    gram = found @ found.T - batch.vectors @ batch.vectors.T
    expected = (1 - (found * batch.vectors).sum(1)).mean() + 5 * (gram**2).mean()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_first_the_pieces_learn_alone() -> None:
    task = StudentTask(STUDENT, RunTable(updates=10), alone=5)
    batch = next(small_batches(6, pieces=100).training(0, 0, 1))
    torch.autograd.backward(task.loss(batch, 0, torch.Generator()))
    learning = {name for name, weight in task.model.named_parameters() if weight.grad is not None}
    assert learning == {"pieces.weight", "weights.weight", "bag.weight", "bag.bias"}


def test_every_weight_learns() -> None:
    task = StudentTask(STUDENT, RunTable(updates=10))
    task.model.load_state_dict(random_model().state_dict())
    batch = next(small_batches(6, pieces=100).training(0, 0, 1))
    torch.autograd.backward(task.loss(batch, 0, torch.Generator()))
    silent = [name for name, weight in task.model.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert silent == []


def test_rare_pieces_begin_with_more_weight() -> None:
    shares = np.zeros(40)
    shares[3], shares[4] = 0.999, 0.001
    begun = StudentTask(STUDENT, RunTable(updates=10), shares=shares).model.weights.weight.exp()[:, 0]
    assert begun[[2, 3, 4]].tolist() == pytest.approx([1.0, 0.001, 0.5], rel=1e-3)


def test_learning_rates_rise_and_fall_in_both_parts() -> None:
    task = StudentTask(STUDENT, RunTable(updates=3000), alone=1000)
    rates = np.array([task.rate(update) for update in (0, 500, 1000, 2000, 2999)])  # of the tables, of all else
    assert rates[:, 1].tolist() == pytest.approx([0.01, 0.5, 0.01, 0.5, 0.01])
    assert (rates[:, 0] / rates[:, 1]).tolist() == pytest.approx([2, 2, 0.5, 0.5, 0.5])


def test_left_out_pairs_follow_from_the_generator() -> None:
    model = random_model(STUDENT.model_copy(update={"dropout": 0.5}))
    tokens, lengths = torch.arange(30)[None], torch.tensor([30])
    drawn = [model(tokens, lengths, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)]
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
    assert not torch.equal(drawn[0], model(tokens, lengths))


def small_batches(texts: int, pieces: int = 200, aside: int = 0) -> StudentBatches:
    """Texts of 1 to 9 pieces, the first of which tells them apart."""
    vectors = np.random.default_rng(0).normal(size=(texts, 6)).astype(np.float16)
    taught = TeacherVectors([str(number) for number in range(texts)], [vectors[:50], vectors[50:]])
    ids = [np.array([number, *[1] * (number * 7 % 9)], dtype=np.int32) for number in range(texts)]
    places = np.arange(texts)
    return StudentBatches(taught, ids, places[aside:], places[:aside], pieces, seed=1)


def test_each_pass_holds_every_text_once_in_its_own_order() -> None:
    source = small_batches(500, pieces=64)
    size = len(source._cuts) + 1
    batches = list(islice(source.training(0, 0, 1), 2 * size))
    for one in (batches[:size], batches[size:]):
        rows = np.concatenate([batch.vectors.numpy() for batch in one])
        assert len(np.unique(rows.round(4), axis=0)) == len(rows) == 500
        assert all(int(batch.lengths.max() - batch.lengths.min()) <= 2 and len(batch.lengths) >= 64 for batch in one)
    assert size > 3 and not np.array_equal(batches[0].vectors, batches[size].vectors)
    np.testing.assert_array_equal(next(source.training(size, 0, 1)).vectors, batches[size].vectors)
    np.testing.assert_array_equal(next(source.training(1, 1, 2)).vectors, batches[3].vectors)


def test_vectors_stay_with_their_texts() -> None:
    source = small_batches(120, aside=120)
    (batch,) = source.validation()
    np.testing.assert_array_equal(batch.vectors, source.teacher.vectors(batch.tokens[:, 0].numpy()))
    assert [source.ids[place].tolist() for place in batch.tokens[:, 0]] == [
        tokens[:length].tolist() for tokens, length in zip(batch.tokens, batch.lengths, strict=True)
    ]


def test_texts_are_turns_and_contexts() -> None:
    long = [Dialogue(tuple(f"turn {number} of {name}" for number in range(12)), "here") for name in ("a", "b", "c")]
    odd = Dialogue(("yes", "Turn 1 of A", "word " * 61), "here")
    found = student_texts([*long, odd], StudentText(contexts=0.1))
    contexts = [text for text in found if text.count("turn") in (2, 3)]
    assert len(contexts) == 3 and len(found) == 36 + 3
    assert sorted(set(found) - set(contexts)) == sorted(turn for one in long for turn in one.turns)
    assert student_texts([*long, odd], StudentText(contexts=0.1)) == found


def test_a_folder_of_vectors_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    (tmp_path / "texts.json").write_text(json.dumps([f"text {number}" for number in range(100)]))
    rows = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float16)
    rows[7], rows[33] = np.nan, 0
    for number, part in ((0, rows[:20]), (1, rows[20:40]), (3, rows[40:])):
        np.save(tmp_path / f"v{number:03}.npy", part)
    taught = read_vectors(tmp_path)
    assert (len(taught.texts), taught.width) == (40, 4)
    assert sorted(set(range(40)) - set(taught.usable().tolist())) == [7, 33]
    expected = rows[[25, 3]].astype(np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(taught.vectors(np.array([25, 3])), expected, atol=1e-6)
    assert len(read_vectors(tmp_path, 25).texts) == 25
    assert read_vectors(tmp_path, 25).digest() != taught.digest() == read_vectors(tmp_path).digest()


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.zeros((3, 2, 2)), "float64 of shape (3, 2, 2), expected floats of two dimensions"),
        (np.zeros((3, 2), dtype=int), "int64 of shape (3, 2), expected floats of two dimensions"),
        (None, "no vectors"),
    ],
)
def test_a_folder_of_something_else_is_told(tmp_path: Path, vectors: Any, message: str) -> None:
    (tmp_path / "texts.json").write_text(json.dumps(["a b", "c d", "e f"]))
    if vectors is not None:
        np.save(tmp_path / "v000.npy", vectors)
    with pytest.raises(DataError) as error:
        read_vectors(tmp_path)
    assert message in str(error.value)


def test_it_learns_what_it_is_taught(folder: Path) -> None:
    assert read_folder(folder).config["figures"]["cosine"] > 0.9
    encoder = load_encoder(folder)
    texts = [" ".join(words[:3]) for words in TOPICS.values()]
    assert (encoder.encode(texts)[:, :6].argmax(1) == np.arange(6)).all()


def test_the_folder_is_packed_and_says_what_decided_it(folder: Path, vectors: Path) -> None:
    parts = read_folder(folder)
    assert parts.tensors["pairs.weight"].dtype == np.uint8
    assert parts.config["corpora"][0]["name"] == vectors.name and parts.config["teacher"] is None
    assert parts.config["recipe"] == recipe().to_dict()
    assert set(parts.config["texts"]) == {"train", "held_out"}
    assert load_encoder(folder).parts.tensors.keys() == parts.tensors.keys()


def brief(updates: int = 2, alone: int = 0, **run: Any) -> StudentRecipe:
    """The tiny recipe with fewer updates."""
    table = recipe().run.model_copy(update={"updates": updates, "stretch": max(updates // 2, 1), **run})
    return recipe().model_copy(update={"run": table, "alone": alone})


def test_it_starts_where_another_student_ended(folder: Path, vectors: Path, tmp_path: Path) -> None:
    on = pretrain(brief(), [vectors], tmp_path / "on", start=folder)
    anew = pretrain(brief(), [vectors], tmp_path / "anew")
    assert on.rows[0]["cosine"] > 0.9 > anew.rows[0]["cosine"] + 0.2
    assert read_folder(tmp_path / "on").config["start"] == read_folder(folder).digest
    assert "start" not in read_folder(tmp_path / "anew").config
    model = brief().model
    wide = brief().model_copy(update={"model": model.model_copy(update={"inner": model.inner + 1})})
    with pytest.raises(DataError, match="it is no student, or one of other sizes than the recipe says"):
        pretrain(wide, [vectors], tmp_path / "wide", start=folder)


def test_it_also_learns_in_mixed_precision(vectors: Path, tmp_path: Path) -> None:
    first, last = pretrain(brief(40, alone=20, precision="bf16-mixed"), [vectors], tmp_path / "model").rows
    assert last["cosine"] > first["cosine"] + 0.1


def test_vectors_that_come_later_do_not_change_a_run(vectors: Path, tmp_path: Path) -> None:
    whole, some = read_vectors(vectors), tmp_path / "vectors"
    some.mkdir()
    (some / "texts.json").write_text(json.dumps(whole.texts))
    rows = np.concatenate(whole.chunks)
    np.save(some / "v000.npy", rows[:300])
    pretrain(brief(), [some], tmp_path / "model")
    np.save(some / "v001.npy", rows[300:])
    pretrain(brief(), [some], tmp_path / "model")
    assert read_folder(tmp_path / "model").config["texts"] == {"train": 260, "held_out": 40}
    (tmp_path / "model.run" / "taught.json").write_text("{}")
    with pytest.raises(DataError, match="taught.json: this file is damaged"):
        pretrain(brief(), [some], tmp_path / "model")


def test_a_teacher_is_called_once_for_each_text(
    run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "_AT_ONCE", 100)
    short = tmp_path / "short.toml"
    short.write_text(TINY.read_text().replace("updates = 100", "updates = 50"))
    teacher, out = student_model(tmp_path / "teacher"), tmp_path / "pupil"
    ran = run("pretrain", short, corpus, "--teacher", teacher, "-o", out)
    assert ran.code == 0, ran.err
    assert "the teacher has read 100 of " in ran.err
    assert read_folder(out).config["teacher"]["encoder"] == "student"
    again = run("pretrain", short, corpus, "--teacher", teacher, "-o", out)
    assert again.code == 0 and "the teacher has read" not in again.err


def test_a_folder_of_vectors_is_given_alone(run: Run, vectors: Path, tmp_path: Path) -> None:
    ran = run("pretrain", TINY, vectors, vectors, "-o", tmp_path / "model")
    refused(ran, 2, "a folder of a teacher's vectors is given. Give it alone, and no teacher")
    few = tmp_path / "few"
    few.mkdir()
    (few / "texts.json").write_text('["a b", "c d"]')
    np.save(few / "v000.npy", np.eye(2, dtype=np.float16))
    ran = run("pretrain", TINY, few, "-o", tmp_path / "model")
    assert ran.code == 3 and "2 texts with vectors, 40 of them to validate on. Give more" in ran.err
    assert not (tmp_path / "model.run").exists()
