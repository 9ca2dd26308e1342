"""The dual encoder: its arithmetic, its training, and the encoder that runs it without torch."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from conftest import PROJECT, Run
from rejoinder.data.folders import Parts, read_folder
from rejoinder.errors import DataError
from rejoinder.models.averaging import LEFT, RIGHT, TABLE, AveragingNetwork
from rejoinder.models.dan_encoder import DanEncoder, from_parts
from rejoinder.models.encoders import load_encoder

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("lightning", reason="needs the extra train")

from rejoinder.models.dan import DanModel, DanSizes, context_rows  # noqa: E402
from rejoinder.pretraining.dan import DanTask  # noqa: E402
from rejoinder.pretraining.fit import RunOptions  # noqa: E402
from rejoinder.pretraining.pretrain import pretrain_dialogues  # noqa: E402
from rejoinder.pretraining.recipe import Recipe, read_recipe  # noqa: E402

SMALL = DanSizes(vocabulary=40, buckets=30, embedding=8, hidden=12, output=6)
TOPICS = {topic: [f"{topic}{sound}" for sound in "aeiou"] for topic in ("bal", "dok", "fim", "gur", "lep", "nat")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dual encoder trained for seconds on dialogues that each keep to one of six topics."""
    source, place = random.Random(0), tmp_path_factory.mktemp("dan")
    with (place / "corpus.jsonl").open("w", encoding="utf-8") as lines:
        for _ in range(400):
            words = TOPICS[source.choice(list(TOPICS))]
            turns = [" ".join(source.choices(words, k=source.randint(2, 6))) for _ in range(source.randint(2, 6))]
            lines.write(json.dumps({"turns": turns}) + "\n")
    pretrain_dialogues(recipe(), [place / "corpus.jsonl"], place / "model")
    return place / "model"


def recipe() -> Recipe:
    found = read_recipe(PROJECT / "recipes" / "dan-tiny.toml")
    assert isinstance(found, Recipe)
    return found


def test_a_bag_is_the_scaled_sum_of_pieces_and_pairs() -> None:
    model = DanModel(SMALL)
    table = model.table.weight.detach()
    bag = model.bags(torch.tensor([[5, 7, 2, 0]]), torch.tensor([3]))[0]
    pairs = [(5 * 1_000_003 + 7 * 7_919) % 30 + 40, (7 * 1_000_003 + 2 * 7_919) % 30 + 40]
    expected = (table[5] + table[7] + table[pairs[0]] + table[pairs[1]]) / 2.0
    torch.testing.assert_close(bag, expected)


def test_a_turn_without_pieces_is_zeros() -> None:
    assert not DanModel(SMALL).bags(torch.tensor([[2, 0]]), torch.tensor([1])).any()


def test_word_order_reaches_the_bag() -> None:
    model = DanModel(SMALL)
    bags = model.bags(torch.tensor([[5, 7, 2], [7, 5, 2]]), torch.tensor([3, 3]))
    assert not torch.allclose(bags[0], bags[1])


def test_pairs_are_every_turn_with_those_before_it() -> None:
    responses, rows = context_rows(torch.tensor([[4, 9, 1, 7], [3, 8, -1, -1]]), 2)
    assert responses.tolist() == [9, 1, 7, 8]
    assert rows.tolist() == [[4, -1, -1], [9, 4, -1], [1, 9, 4], [3, -1, -1]]


def test_the_loss_is_both_directions_of_cross_entropy() -> None:
    model = DanModel(replace(SMALL, dropout=0.0))
    bags = torch.randn(5, 8, generator=torch.Generator().manual_seed(1))
    rows = torch.tensor([[0, -1, -1], [1, 0, -1], [2, 1, 0]])
    match = model.match(bags, torch.tensor([1, 3, 4]), rows, None)
    contexts, answers = model.contexts(model.joined(bags, rows)), model.responses(bags[[1, 3, 4]])
    logits = (contexts @ answers.T * model.log_scale.exp()).double()
    losses = -(torch.log_softmax(logits, 1).diagonal() + torch.log_softmax(logits, 0).diagonal()).sum() / 2
    assert match.loss.item() == pytest.approx(losses.item(), rel=1e-5)
    assert match.pairs == 3
    assert int(match.first) == int((logits.argmax(1) == torch.arange(3)).sum())


def test_copies_of_the_true_response_are_no_negatives() -> None:
    model = DanModel(replace(SMALL, dropout=0.0))
    bags = torch.randn(4, 8, generator=torch.Generator().manual_seed(2))
    bags[3] = bags[2]
    rows = torch.tensor([[0, -1, -1], [1, -1, -1]])
    match = model.match(bags, torch.tensor([2, 3]), rows, None)
    assert match.loss.item() == pytest.approx(0.0, abs=1e-6), "each pair is alone with its copy"


def test_the_step_size_rises_and_falls() -> None:
    task = DanTask(SMALL, RunOptions(updates=2000, schedule="linear"))
    assert task.rate(0) == pytest.approx(1 / 200)
    assert task.rate(199) == pytest.approx(1 - 199 / 2000)
    assert task.rate(1000) == pytest.approx(0.5)
    assert task.rate(1999) == pytest.approx(0.02)
    assert DanTask(SMALL, RunOptions(updates=2000)).rate(1000) == 1.0


@pytest.mark.slow
def test_it_learns_which_topic_answers_which(folder: Path) -> None:
    encoder = load_encoder(folder)
    contexts = encoder.encode_contexts([(" ".join(words[:2]), " ".join(words[2:])) for words in TOPICS.values()])
    responses = encoder.encode([" ".join(words[1:4]) for words in TOPICS.values()])
    assert ((contexts @ responses.T).argmax(1) == np.arange(len(TOPICS))).all()


def test_numpy_gives_what_torch_gives(folder: Path) -> None:
    encoder, parts = load_encoder(folder), read_folder(folder)
    assert isinstance(encoder, DanEncoder)
    model = DanModel(DanSizes(**parts.config["sizes"])).eval()
    model.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in parts.tensors.items()})
    contexts = [("bala bale", "doka", "fimu fima fimi"), ("gura",), ("lepa lepe", "nata")]
    for context in contexts:
        turns = [[*encoder.vocabulary.encode(text), 2] for text in reversed(context)]
        bags = torch.cat([model.bags(torch.tensor([turn]), torch.tensor([len(turn)])) for turn in turns])
        rows = torch.tensor([[place if place < len(turns) else -1 for place in range(3)]])
        expected = model.contexts(model.joined(bags, rows)).detach().numpy()
        np.testing.assert_allclose(encoder.encode_contexts([context]), expected, atol=1e-3)
        answer = model.responses(bags[:1]).detach().numpy()
        np.testing.assert_allclose(encoder.encode(context[-1:]), answer, atol=1e-3)


def test_vectors_do_not_depend_on_the_batch(folder: Path) -> None:
    encoder = load_encoder(folder)
    texts = [" ".join(words[:count]) for words in TOPICS.values() for count in (1, 2, 3, 4, 5)] * 3
    together = encoder.encode(texts)
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)


def test_a_text_without_a_piece_has_no_vector(folder: Path) -> None:
    encoder = load_encoder(folder)
    assert np.isnan(encoder.encode(["", "  "])).all()
    found = encoder.encode_contexts([(), ("", "bala"), ("bala", " ")])
    assert np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1], found[2])


def test_turns_before_the_last_three_are_not_read(folder: Path) -> None:
    encoder = load_encoder(folder)
    long, short = encoder.encode_contexts([("gura", "bala", "bale", "bali"), ("bala", "bale", "bali")])
    np.testing.assert_array_equal(long, short)


def test_an_encoder_runs_without_torch(folder: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from rejoinder.models.encoders import load_encoder\n"
        f"print(load_encoder({str(folder)!r}).encode(['bala']).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["(1,", "16)"]


def test_a_run_starts_from_all_the_weights_of_another(folder: Path, tmp_path: Path) -> None:
    said: list[str] = []
    once = replace(recipe(), options=replace(recipe().options, updates=1, stretch=1))
    pretrain_dialogues(once, [folder.parent / "corpus.jsonl"], tmp_path / "more", start=folder, say=said.append)
    assert f"{len(read_folder(folder).tensors)} weights come from {folder}" in said


def test_a_folder_with_a_graph_of_an_older_version_is_told(folder: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(folder, old)
    about = json.loads((old / "config.json").read_text(encoding="utf-8"))
    (old / "config.json").write_text(json.dumps({**about, "blobs": ["model.onnx"]}), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load_encoder(old)
    assert caught.value.field == "blobs"


def test_weights_too_large_for_their_precision_are_told(folder: Path) -> None:
    parts = read_folder(folder)
    for name, value in (("table.weight", 1e6), ("contexts.second.bias", 1e300)):
        large = np.full(parts.tensors[name].shape, value)
        with pytest.raises(DataError, match=f"the tensor {name} holds NaN or infinity"):
            from_parts(Parts(parts.config, {**parts.tensors, name: large}, parts.files))


def test_a_judge_stands_on_it(run: Run, folder: Path, tmp_path: Path) -> None:
    source, rated = random.Random(1), tmp_path / "rated.jsonl"
    with rated.open("w", encoding="utf-8") as lines:
        for _ in range(120):
            asked, said = (source.choice(list(TOPICS)) for _ in range(2))
            context, response = (" ".join(source.choices(TOPICS[topic], k=3)) for topic in (asked, said))
            overall = 5 if asked == said else 1
            line = {"context": [context], "response": response, "quality": {"overall": overall}, "scale": [1, 5]}
            lines.write(json.dumps(line) + "\n")
    done = run("train", "c-adem", rated, "-e", folder, "-o", tmp_path / "judge", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)["scorers"]["c-adem"]["training"]
    assert found["test"]["pearson"] > 0.4, "chance gives 0"


def test_the_last_pieces_of_a_long_text_count_as_the_first() -> None:
    rng = np.random.default_rng(0)
    network = AveragingNetwork({TABLE: rng.normal(size=(50, 8)).astype(np.float32)}, 30)
    ids = rng.integers(3, 30, 10_000).tolist()
    pairs = [(left * LEFT + right * RIGHT) % 20 + 30 for left, right in pairwise(ids)]
    expected = network.tensors[TABLE].astype(float)[[*ids[:-1], *pairs]].sum(0) / np.sqrt(len(pairs) * 2)
    np.testing.assert_allclose(network.bag(ids), expected, rtol=1e-3, atol=1e-4)
