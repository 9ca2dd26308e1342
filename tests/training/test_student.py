"""The student: its arithmetic, what it is taught, its training, and the encoder that runs it without torch."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import PROJECT, Run, refused
from rejoinder.data.dialogues import Dialogue
from rejoinder.data.folders import read_folder
from rejoinder.errors import DataError, UsageError
from rejoinder.models import load_encoder
from rejoinder.models.sizes import StudentSizes
from rejoinder.scorer import FloatArray

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("lightning", reason="needs the extra train")

from rejoinder.models.networks.student import StudentModel  # noqa: E402
from rejoinder.pretraining.pretrain_student import Teacher, pretrain_student  # noqa: E402
from rejoinder.pretraining.recipe import Run as RunTable  # noqa: E402
from rejoinder.pretraining.recipe import StudentRecipe, StudentText, read_recipe  # noqa: E402
from rejoinder.pretraining.student import StudentBatches, StudentTask  # noqa: E402
from rejoinder.pretraining.taught import Taught, read_taught, texts_of, write_texts  # noqa: E402
from tiny import STUDENT  # noqa: E402

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


TEACHER = Teacher(teach, {"encoder": "topics", "weights": "0" * 12})


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
def folder(corpus: Path) -> Path:
    """A student trained for seconds."""
    pretrain_student(recipe(), [corpus], corpus.parent / "model", TEACHER)
    return corpus.parent / "model"


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
    (batch,) = small_batches(6, pieces=100).training(0, 1, 0, 1)
    with torch.no_grad():
        found, loss = task.model(batch.tokens, batch.lengths), task.loss(batch, torch.Generator())
    gram = found @ found.T - batch.vectors @ batch.vectors.T
    expected = (1 - (found * batch.vectors).sum(1)).mean() + 5 * (gram**2).mean()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_first_the_pieces_learn_alone() -> None:
    task = StudentTask(STUDENT, RunTable(updates=10), alone=5)
    (batch,) = small_batches(6, pieces=100).training(0, 1, 0, 1)
    torch.autograd.backward(task.loss(batch, torch.Generator()))
    learning = {name for name, weight in task.model.named_parameters() if weight.grad is not None}
    assert learning == {"pieces.weight", "weights.weight", "bag.weight", "bag.bias"}


def test_every_weight_learns() -> None:
    task = StudentTask(STUDENT, RunTable(updates=10))
    task.model.load_state_dict(random_model().state_dict())
    (batch,) = small_batches(6, pieces=100).training(0, 1, 0, 1)
    torch.autograd.backward(task.loss(batch, torch.Generator()))
    silent = [name for name, weight in task.model.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert silent == []


def test_rare_pieces_begin_with_more_weight() -> None:
    shares = np.zeros(40)
    shares[3], shares[4] = 0.999, 0.001
    begun = StudentTask(STUDENT, RunTable(updates=10), shares=shares).model.weights.weight.exp()[:, 0]
    assert begun[[2, 3, 4]].tolist() == pytest.approx([1.0, 0.001, 0.5], rel=1e-3)


def test_step_sizes_rise_and_fall_in_both_parts() -> None:
    task = StudentTask(STUDENT, RunTable(updates=3000), alone=1000)
    assert [task.rate(update) for update in (0, 500, 1000, 2000)] == pytest.approx([0.01, 0.5, 0.01, 0.5])
    assert task.rate(2999) == 0.01
    assert task.table_rate(500) / task.rate(500) == 2 and task.table_rate(2000) / task.rate(2000) == 0.5


def test_left_out_pairs_follow_from_the_generator() -> None:
    model = random_model(STUDENT.model_copy(update={"dropout": 0.5}))
    tokens, lengths = torch.arange(30)[None], torch.tensor([30])
    drawn = [model(tokens, lengths, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)]
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
    assert not torch.equal(drawn[0], model(tokens, lengths))


def small_batches(texts: int, pieces: int = 200, aside: int = 0) -> StudentBatches:
    """Texts of 1 to 9 pieces, the first of which tells them apart."""
    vectors = np.random.default_rng(0).normal(size=(texts, 6)).astype(np.float16)
    taught = Taught([str(number) for number in range(texts)], [vectors[:50], vectors[50:]])
    ids = [np.array([number, *[1] * (number * 7 % 9)], dtype=np.int32) for number in range(texts)]
    places = np.arange(texts)
    return StudentBatches(taught, ids, places[aside:], places[:aside], pieces, seed=1)


def test_each_pass_holds_every_text_once_in_its_own_order() -> None:
    source = small_batches(500, pieces=64)
    passes = [list(source.training(start, source.a_pass, 0, 1)) for start in (0, source.a_pass)]
    assert source.a_pass > 3
    for found in passes:
        vectors = np.concatenate([batch.vectors.numpy() for batch in found])
        assert len(np.unique(vectors.round(4), axis=0)) == len(vectors) == 500
        assert all(int(batch.lengths.max() - batch.lengths.min()) <= 2 for batch in found)
        assert all(len(batch.lengths) >= 64 for batch in found)
    assert not np.array_equal(passes[0][0].vectors, passes[1][0].vectors)
    (again,) = source.training(source.a_pass, 1, 0, 1)
    np.testing.assert_array_equal(again.vectors, passes[1][0].vectors)


def test_vectors_stay_with_their_texts() -> None:
    source = small_batches(120, aside=120)
    (batch,) = source.validation(0, 1)
    np.testing.assert_array_equal(batch.vectors, source.taught.vectors(batch.tokens[:, 0].numpy()))
    assert [source.ids[place].tolist() for place in batch.tokens[:, 0]] == [
        tokens[:length].tolist() for tokens, length in zip(batch.tokens, batch.lengths, strict=True)
    ]


def test_texts_are_turns_and_contexts() -> None:
    long = [Dialogue(tuple(f"turn {number} of {name}" for number in range(12)), "here") for name in ("a", "b", "c")]
    odd = Dialogue(("yes", "Turn 1 of A", "word " * 61), "here")
    found = texts_of([*long, odd], StudentText(contexts=0.1))
    contexts = [text for text in found if text.count("turn") in (2, 3)]
    assert len(contexts) == 3 and len(found) == 36 + 3
    assert sorted(set(found) - set(contexts)) == sorted(turn for one in long for turn in one.turns)
    assert texts_of([*long, odd], StudentText(contexts=0.1)) == found


def test_a_folder_of_vectors_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    write_texts(tmp_path, [f"text {number}" for number in range(100)])
    rows = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float16)
    rows[7], rows[33] = np.nan, 0
    for number, part in ((0, rows[:20]), (1, rows[20:40]), (3, rows[40:])):
        np.save(tmp_path / f"v{number:03}.npy", part)
    taught = read_taught(tmp_path)
    assert (len(taught.texts), taught.width) == (40, 4)
    assert sorted(set(range(40)) - set(taught.usable().tolist())) == [7, 33]
    expected = rows[[25, 3]].astype(np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(taught.vectors(np.array([25, 3])), expected, atol=1e-6)
    assert len(read_taught(tmp_path, 25).texts) == 25
    assert read_taught(tmp_path, 25).digest() != taught.digest() == read_taught(tmp_path).digest()


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.zeros((3, 2, 2)), "float64 of shape (3, 2, 2), expected floats of two dimensions"),
        (np.zeros((3, 2), dtype=int), "int64 of shape (3, 2), expected floats of two dimensions"),
        (None, "no vectors"),
    ],
)
def test_a_folder_of_something_else_is_told(tmp_path: Path, vectors: Any, message: str) -> None:
    write_texts(tmp_path, ["a b", "c d", "e f"])
    if vectors is not None:
        np.save(tmp_path / "v000.npy", vectors)
    with pytest.raises(DataError) as error:
        read_taught(tmp_path)
    assert message in str(error.value)


def test_it_learns_what_it_is_taught(folder: Path) -> None:
    assert read_folder(folder).config["figures"]["cosine"] > 0.9
    encoder = load_encoder(folder)
    texts = [" ".join(words[:3]) for words in TOPICS.values()]
    assert (encoder.encode(texts)[:, :6].argmax(1) == np.arange(6)).all()


def test_the_folder_is_packed_and_tells_what_decided_it(folder: Path, corpus: Path) -> None:
    parts = read_folder(folder)
    assert parts.tensors["pairs.weight"].dtype == np.uint8
    assert parts.config["corpora"][0]["name"] == corpus.name and parts.config["teacher"] == TEACHER.options
    assert parts.config["recipe"] == recipe().to_dict()
    assert set(parts.config["texts"]) == {"train", "held_out"}
    assert load_encoder(folder).parts.tensors.keys() == parts.tensors.keys()


@pytest.mark.slow
def test_a_broken_run_goes_on_as_if_nothing_had_happened(folder: Path, corpus: Path, tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if done == 75:
            raise Stop

    with pytest.raises(Stop):
        pretrain_student(recipe(), [corpus], tmp_path / "broken", TEACHER, advance=advance)
    never = Teacher(lambda texts: pytest.fail("its vectors are there"), TEACHER.options)
    pretrain_student(recipe(), [corpus], tmp_path / "broken", never)
    assert read_folder(tmp_path / "broken").digest == read_folder(folder).digest


def test_a_folder_of_vectors_needs_no_teacher(run: Run, folder: Path, tmp_path: Path) -> None:
    vectors = folder.parent / "model.run" / "teacher"
    ran = run("pretrain", TINY, vectors, "-o", tmp_path / "model")
    assert ran.code == 0, ran.err
    assert "cosine: 0.9" in ran.out
    own, again = read_folder(folder), read_folder(tmp_path / "model")
    assert all(np.array_equal(own.tensors[name], again.tensors[name]) for name in own.tensors)
    assert again.config["vectors"] == own.config["vectors"] and again.config["teacher"] is None


def test_it_starts_where_another_student_ended(folder: Path, tmp_path: Path) -> None:
    vectors, short = (
        folder.parent / "model.run" / "teacher",
        recipe().run.model_copy(update={"updates": 2, "stretch": 1}),
    )
    brief = recipe().model_copy(update={"run": short, "alone": 0})
    on = pretrain_student(brief, [vectors], tmp_path / "on", start=folder)
    anew = pretrain_student(brief, [vectors], tmp_path / "anew")
    assert on.figures[0]["cosine"] > 0.9 > anew.figures[0]["cosine"] + 0.2
    assert read_folder(tmp_path / "on").config["start"] == read_folder(folder).digest
    assert "start" not in read_folder(tmp_path / "anew").config
    wide = brief.model_copy(update={"model": brief.model.model_copy(update={"inner": brief.model.inner + 1})})
    with pytest.raises(DataError, match="it is no student, or one of other sizes than the recipe says"):
        pretrain_student(wide, [vectors], tmp_path / "wide", start=folder)


def test_it_also_learns_in_mixed_precision(folder: Path, tmp_path: Path) -> None:
    options = recipe().run.model_copy(update={"updates": 40, "stretch": 20, "precision": "bf16-mixed"})
    mixed = recipe().model_copy(update={"run": options, "alone": 20})
    first, last = pretrain_student(mixed, [folder.parent / "model.run" / "teacher"], tmp_path / "model").figures
    assert last["cosine"] > first["cosine"] + 0.1


def test_gradients_are_clipped() -> None:
    task = StudentTask(STUDENT, RunTable(updates=10, clip=0.01))
    (batch,) = small_batches(6, pieces=100).training(0, 1, 0, 1)
    torch.autograd.backward(task.loss(batch, torch.Generator()))
    task.configure_gradient_clipping(task.configure_optimizers()["optimizer"], 0.01, "norm")
    norms = [weight.grad.norm() for weight in task.parameters() if weight.grad is not None]
    assert torch.stack(norms).norm().item() == pytest.approx(0.01, rel=1e-3)


def test_vectors_that_come_later_do_not_change_a_run(folder: Path, tmp_path: Path) -> None:
    made = read_taught(folder.parent / "model.run" / "teacher")
    write_texts(tmp_path / "vectors", made.texts)
    rows = np.concatenate(made.chunks)
    np.save(tmp_path / "vectors" / "v000.npy", rows[:300])
    once = recipe().model_copy(update={"run": recipe().run.model_copy(update={"updates": 1, "stretch": 1}), "alone": 0})
    first = pretrain_student(once, [tmp_path / "vectors"], tmp_path / "model")
    np.save(tmp_path / "vectors" / "v001.npy", rows[300:])
    assert pretrain_student(once, [tmp_path / "vectors"], tmp_path / "model").dialogues == first.dialogues == (260, 40)


def test_any_encoder_is_a_teacher(run: Run, folder: Path, corpus: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.toml"
    short.write_text(TINY.read_text().replace("updates = 100", "updates = 50"))
    ran = run("pretrain", short, corpus, "--teacher", folder, "-o", tmp_path / "pupil")
    assert ran.code == 0, ran.err
    assert read_folder(tmp_path / "pupil").config["teacher"]["encoder"] == "student"


def test_a_student_without_a_teacher_is_refused(run: Run, corpus: Path, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    message = "a student needs a teacher. Name one with --teacher, or give a folder of its vectors as corpus"
    refused(run("pretrain", TINY, corpus, "-o", out), 2, message)
    with pytest.raises(UsageError, match="holds a teacher's vectors. Give it alone, and no teacher"):
        pretrain_student(recipe(), [folder.parent / "model.run" / "teacher"], out, TEACHER)
    other = run("pretrain", PROJECT / "recipes" / "vhred-tiny.toml", corpus, "--teacher", folder, "-o", out)
    refused(other, 2, "--teacher is for a student, a selector or moods, a vhred has none. Leave it out")
