"""The judge in the box: what scores where nothing else is said."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import GOLDEN, PROJECT, Run
from rejoinder.io.folders import read_folder
from rejoinder.judges.bilinear.panel import Panel
from rejoinder.judges.boxed import FOLDER
from rejoinder.nn.averaging import LEFT, RIGHT, TABLE, AveragingNetwork
from rejoinder.records import Example

BOTH = Example(("any plans for the weekend?",), "i will see a movie.", ("a film with friends.", "nothing much."))


@cache
def in_the_box() -> Panel:
    loaded = rejoinder.load_scorer("rejoinder")
    assert isinstance(loaded, Panel)
    return loaded


@pytest.fixture
def judge() -> Panel:
    return in_the_box()


def test_it_scores_where_nothing_else_is_said(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text('{"context": ["how are you?"], "response": "fine, and you?"}\n', encoding="utf-8")
    (line,) = run("score", file).out.splitlines()
    found = json.loads(line)
    assert list(found["scores"]) == ["rejoinder"]
    assert 1 < found["scores"]["rejoinder"] < 5
    assert found["signatures"]["rejoinder"].startswith("scorer:rejoinder|version:2|encoder:dan|weights:")


def test_it_takes_what_is_there(judge: Panel) -> None:
    without = [BOTH, replace(BOTH, references=()), replace(BOTH, context=()), replace(BOTH, context=(), references=())]
    scores = rejoinder.score(without, judge)
    assert scores.scored.tolist() == [True, True, True, False]
    assert scores.reasons == {3: "no context and no reference"}
    one = [rejoinder.score([replace(BOTH, references=(text,))], judge).values[0] for text in BOTH.references]
    assert scores.values[0] == pytest.approx(np.mean(one), abs=1e-6)


def test_a_copy_of_the_reference_is_better_than_another_response(judge: Panel) -> None:
    copy, other = replace(BOTH, response="a film with friends."), replace(BOTH, response="the bus was late.")
    values = rejoinder.score([copy, other], judge).values
    assert values[0] > values[1]


def test_it_needs_no_torch() -> None:
    code = (
        "import sys\n"
        "for name in ('torch', 'lightning', 'matplotlib'): sys.modules[name] = None\n"
        "import rejoinder\n"
        "print(rejoinder.score(rejoinder.read('@conture'), 'rejoinder').scored.mean())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) > 0.99


def test_scores_equal_those_of_torch(judge: Panel) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    from rejoinder.nn.dan import DanModel, DanSizes

    parts = judge.members["adem"].encoder.parts
    weights = {name: torch.from_numpy(tensor).float() for name, tensor in parts.tensors.items()}
    model = DanModel(DanSizes(**parts.config["sizes"])).eval()
    missing = model.load_state_dict(weights, strict=False)
    assert missing.missing_keys == ["log_scale"], "only training needs the scale"
    examples = list(rejoinder.read("@conture"))[:60]
    expected = rejoinder.score(examples, judge).values

    class Torch:
        width = judge.members["adem"].encoder.width
        options: Mapping[str, str] = {}

        def encode(self, texts: list[str]) -> np.ndarray:
            return np.concatenate([self.run((text,))[0] for text in texts])

        def encode_contexts(self, contexts: list[tuple[str, ...]]) -> np.ndarray:
            return np.concatenate([self.run(context)[1] for context in contexts])

        def run(self, context: tuple[str, ...]) -> list[np.ndarray]:
            vocabulary = judge.members["adem"].encoder.vocabulary  # type: ignore[attr-defined]
            turns = [[*vocabulary.encode(text), 2] for text in reversed(context) if text.strip()][:3]
            bags = torch.cat([model.bags(torch.tensor([turn]), torch.tensor([len(turn)])) for turn in turns])
            rows = torch.tensor([[place if place < len(turns) else -1 for place in range(3)]])
            with torch.inference_mode():
                found = model.responses(bags[:1]), model.contexts(model.joined(bags, rows))
            return [side.numpy().astype(float) for side in found]

    member = replace(judge.members["c-adem"], encoder=Torch())  # type: ignore[arg-type]
    np.testing.assert_allclose(member.score_batch(examples).values, expected, atol=1e-5)


def test_vectors_equal_those_of_another_runtime(judge: Panel) -> None:
    golden = json.loads((GOLDEN / "dual_encoder.json").read_text(encoding="utf-8"))
    responses, contexts = judge.encoder.encode(golden["texts"]), judge.encoder.encode_contexts(golden["contexts"])
    np.testing.assert_allclose(responses[:, ::8], golden["responses"], atol=1e-6)
    np.testing.assert_allclose(contexts[:, ::8], golden["context_vectors"], atol=1e-6)


SAMPLE = [*rejoinder.read("@conture"), *rejoinder.read("@dstc7")][::8]


@given(places=st.lists(st.integers(0, len(SAMPLE) - 1), min_size=1, max_size=80))
def test_a_score_is_the_same_bit_by_bit_in_every_batch(places: list[int]) -> None:
    judge = in_the_box()
    alone = np.array([judge.score_batch([SAMPLE[place]]).values[0] for place in places])
    together = judge.score_batch([SAMPLE[place] for place in places]).values
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("side", ["context", "response", "references"])
def test_a_text_is_read_to_its_end(judge: Panel, side: str) -> None:
    words = " ".join(["we talked about the film and the weather ."] * 250)  # 2,000 words and more
    texts = {"response": words} if side == "response" else {side: (words,)}
    longer = {"response": f"{words} no"} if side == "response" else {side: (f"{words} no",)}
    values = rejoinder.score([replace(BOTH, **texts), replace(BOTH, **longer)], judge).values
    assert np.isfinite(values).all()
    assert values[0] != values[1], "the last word counts"


def test_the_last_pieces_of_a_long_text_count_as_the_first() -> None:
    rng = np.random.default_rng(0)
    network = AveragingNetwork({TABLE: rng.normal(size=(50, 8)).astype(np.float32)}, 30)
    ids = rng.integers(3, 30, 10_000).tolist()
    pairs = [(left * LEFT + right * RIGHT) % 20 + 30 for left, right in pairwise(ids)]
    expected = network.tensors[TABLE].astype(float)[[*ids[:-1], *pairs]].sum(0) / np.sqrt(len(pairs) * 2)
    np.testing.assert_allclose(network.bag(ids), expected, rtol=1e-3, atol=1e-4)


def test_it_is_small_and_says_what_it_is(run: Run) -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 30e6
    shown = run("show", "rejoinder").out
    for part in ("On sets that it never saw", "What fools it", "Corpora", "- conture_turn: CC BY 4.0"):
        assert part in shown


def test_its_folder_is_sound() -> None:
    assert read_folder(FOLDER).config["members"] == ["adem", "c-adem", "r-adem"]


def test_its_encoder_is_that_of_the_recipe() -> None:
    recipe = tomllib.loads((PROJECT / "recipes" / "dan-small.toml").read_text(encoding="utf-8"))
    encoder = read_folder(FOLDER).inner("encoder").config
    assert {name: encoder["sizes"][name] for name in recipe["model"]} == recipe["model"]
