"""Judges of the ADEM family: training, folders, several references, and how scores move with vectors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from made_up import made_up
from rejoinder.data.folders import Parts, write_folder
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.judges.adem.head import Normalise, References
from rejoinder.judges.adem.judge import TERMS, AdemJudge, Kind, encode
from rejoinder.judges.adem.learner import recipe_of
from rejoinder.judges.adem.optimizer import AdemOptions
from rejoinder.judges.protocol import Differentiable
from rejoinder.judges.train import train_judge
from rejoinder.models import load_encoder
from rejoinder.models.encoders import AverageEncoder
from rejoinder.scorer import FloatArray, run
from rejoinder.text.vectors import word_vectors
from samples import adem_of, small_panel

KINDS: tuple[Kind, ...] = get_args(Kind)
QUICK = AdemOptions(epochs=5)
WORDS = ("good", "bad", "day")
ENCODER = AverageEncoder(word_vectors(WORDS, np.array([[1, 0.2], [0.1, 1], [0.5, 0.4]])))
STEP = 1e-5


def dialogues(count: int, **changes: Any) -> list[Example]:
    """Made-up rated examples in which good replies have good words; two to a context."""
    examples = []
    for number in range(count):
        response = " ".join(WORDS[(number + step) % 3] for step in range(number % 4 + 1))
        examples.append(
            Example(
                context=(f"{WORDS[number // 2 % 3]} day number {number // 2}",),
                response=response,
                references=("good day", "bad"),
                id=str(number),
                quality={"overall": 1.0 + 4 * (response.count("good") / (number % 4 + 1))},
                scales={"overall": (1, 5)},
                dataset="made-up",
            )
        )
    return [replace(example, **changes) for example in examples]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("normalise", "references"), [("none", "mean"), ("l2", "best")])
def test_folder_gives_the_same_judge(kind: Kind, normalise: Normalise, references: References, tmp_path: Path) -> None:
    examples, recipe = dialogues(90), recipe_of(kind, None, {})
    options = replace(recipe, epochs=min(recipe.epochs, 3), normalise=normalise)
    counted = references if "reference" in TERMS[kind] else None
    trained = train_judge(examples, kind, ENCODER, options, references=counted)
    trained.judge.save(tmp_path / "judge")
    loaded = rejoinder.load_scorer(tmp_path / "judge")
    before, after = run(trained.judge, examples), run(loaded, examples)
    np.testing.assert_array_equal(before.values, after.values)
    assert before.signature == after.signature
    assert (loaded.card.needs, loaded.card.name) == (frozenset(TERMS[kind]), kind)
    names = {path.name for path in (tmp_path / "judge").iterdir()}
    assert names == {"config.json", "weights.safetensors", "encoder.words.json", "card.md"}
    card = (tmp_path / "judge" / "card.md").read_text()
    assert "averaged word vectors (2 dimensions), " in card and "Word order does not reach it" in card
    assert ("not projected" in card) == (kind == "autojudge")


def test_untrained_judge_is_adem_before_training(tmp_path: Path) -> None:
    judge = adem_of(train_judge(dialogues(90), "untrained", ENCODER))
    identity = np.eye(len(judge.head.M))
    assert (identity == judge.head.M).all() and (identity == judge.head.N).all()
    assert judge.training["best_epoch"] == judge.training["epochs"] == 0
    judge.save(tmp_path / "judge")
    stored = json.loads((tmp_path / "judge" / "config.json").read_text())["model"]["name"]
    assert stored == "vhred", "the name in folders of earlier versions"


def test_training_learns_what_people_like() -> None:
    trained = train_judge(dialogues(300), encoder=ENCODER, options=AdemOptions(epochs=60, learning_rate=0.02))
    assert trained.judge.training["test"]["spearman"] > 0.6
    contexts = [{example.context_key for example in part} for part in (trained.train, trained.validation, trained.test)]
    assert not contexts[0] & contexts[1] | contexts[0] & contexts[2] | contexts[1] & contexts[2]


def test_seed_decides_the_judge() -> None:
    first, again, other = (
        train_judge(dialogues(90), encoder=ENCODER, options=QUICK, seed=seed).judge for seed in (1, 1, 2)
    )
    assert first.options["model"] == again.options["model"] != other.options["model"]


def test_reasons_of_unscored_replies() -> None:
    judge, example = train_judge(dialogues(90), encoder=ENCODER, options=QUICK).judge, dialogues(1)[0]
    missing: tuple[dict[str, Any], ...] = (
        {"response": "xyzzy"},
        {"references": ("xyzzy",)},
        {"context": ("xyzzy",)},
        {"context": ()},
        {"references": ()},
    )
    scores = run(judge, [replace(example, **changes) for changes in missing])
    sides = "no known word in the response", "no known word in the reference", "no known word in the context"
    assert list(scores.reasons.values()) == [*sides, "no context", "no reference"]


@pytest.mark.parametrize(
    ("examples", "kind", "message"),
    [
        (dialogues(20), "adem", r"10 rated contexts that adem can learn from, expected 30 or more \(none left out\)"),
        (dialogues(90, references=()), "adem", r"90 lines: no reference.*rejoinder train c-adem, or autojudge"),
        (dialogues(90, context=()), "c-adem", r"90 lines: no context.*rejoinder train r-adem"),
        (dialogues(90, quality={}), "adem", r"90 lines: not rated.*--map rating=NAME"),
        (dialogues(90, extra={"level": "dialogue"}), "adem", r"90 lines: a rating of a whole dialogue"),
        (dialogues(90, quality={"overall": 3.0}), "adem", "all ratings are equal"),
        (dialogues(90, scales={}), "adem", "rated, but without a scale; .* made-up .1 to 5."),
        (dialogues(90, context=("day",), response="good"), "c-adem", "1 rated contexts|all examples the same score"),
    ],
)
def test_bad_data_is_refused_with_a_reason(examples: list[Example], kind: Kind, message: str) -> None:
    with pytest.raises(DataError, match=message):
        train_judge(examples, kind, ENCODER, QUICK)


def test_names_that_do_not_exist_are_refused() -> None:
    kinds = "adem, c-adem, r-adem, autojudge, judge, panel, untrained"
    with pytest.raises(UsageError, match=f"^no judge is called 'ADEM'. There are: {kinds}$"):
        train_judge(dialogues(90), "ADEM")
    with pytest.raises(UsageError, match="^references count by best or mean, not by 'median'$"):
        train_judge(dialogues(90), "adem", references="median")


def test_beta_of_zero_is_refused(tmp_path: Path) -> None:
    parts = train_judge(dialogues(90), encoder=ENCODER, options=QUICK).judge.parts
    write_folder(tmp_path / "changed", replace(parts, config={**parts.config, "beta": 0.0}), "")
    with pytest.raises(DataError, match='field "beta"'):
        rejoinder.load_scorer(tmp_path / "changed")


def test_scoring_over_word_vectors_needs_no_training_libraries(tmp_path: Path) -> None:
    train_judge(dialogues(90), options=QUICK).judge.save(tmp_path / "judge")
    code = (
        "import sys, rejoinder; examples = list(rejoinder.read('@conture'));"
        f"assert rejoinder.score(examples, {str(tmp_path / 'judge')!r}).reasons;"
        "print([name for name in ('torch', 'tokenizers', 'sklearn', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_vectors_in_single_precision_are_read_in_double() -> None:
    """The bundled encoder gives single precision; components are fitted on the bits of doubles."""
    encoded = encode(made_up()[:2], load_encoder("rejoinder"), ("context", "reference"))
    assert {side.dtype for side in encoded.means} == {np.dtype(np.float64)}
    assert train_judge(made_up(), "adem", "rejoinder", AdemOptions(epochs=1)).judge.scale == (1, 5)


def test_a_score_does_not_depend_on_the_batch() -> None:
    judge, examples = train_judge(dialogues(90), encoder=ENCODER, options=QUICK).judge, dialogues(9)
    together = run(judge, examples).values
    assert together.tolist() == [run(judge, [example]).values[0] for example in examples]


class Counting:
    """An encoder that counts what it reads."""

    width = 3
    options: Mapping[str, Any] = {"encoder": "counting"}
    parts = Parts({"kind": "counting"}, {})

    def __init__(self) -> None:
        self.read: Counter[Any] = Counter()

    def encode(self, texts: Sequence[str]) -> FloatArray:
        self.read.update(texts)
        return np.array([[len(text), text.count("e"), 1.0] for text in texts]).reshape(-1, 3)

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        self.read.update(contexts)
        return self.encode([" ".join(context) for context in contexts])


def test_each_text_is_encoded_once() -> None:
    encoder = Counting()
    vectors = encode(dialogues(30) * 2, encoder, ("context",))
    assert max(encoder.read[example.context] for example in dialogues(30)) == 1
    assert not vectors.means.reference.any(), "a side that is not used"


# several references


@pytest.fixture(scope="module")
def by_references() -> dict[References, AdemJudge]:
    judge = adem_of(train_judge(dialogues(90), "adem", ENCODER, AdemOptions(epochs=2, normalise="l2")))
    return {"best": replace(judge, references="best"), "mean": judge}


TEXTS = st.sampled_from(["good", "bad", "day", "good day", "bad bad day", "xyzzy"])


@given(references=st.lists(TEXTS, min_size=1, max_size=4), response=TEXTS)
def test_several_references(by_references: dict[References, AdemJudge], references: list[str], response: str) -> None:
    example = Example(("good day",), response, tuple(references))
    single = run(by_references["mean"], [replace(example, references=(text,)) for text in references]).values
    best, mean = (float(run(by_references[way], [example]).values[0]) for way in ("best", "mean"))
    known = single[np.isfinite(single)]
    if not len(known):
        assert np.isnan([best, mean]).all()
        return
    assert [best, mean] == pytest.approx([known.max(), known.mean()])


def test_the_fit_sees_the_mean_of_the_known_references() -> None:
    example = Example(("day",), "good", ("good", "xyzzy", "bad"))
    raw = encode([example, replace(example, references=("xyzzy",))], ENCODER, ("reference",)).means
    assert raw.reference[0] == pytest.approx([0.55, 0.6])
    assert np.isnan(raw.reference[1]).all()


# gradients and spaces


def examples_to_attack() -> list[Example]:
    """Examples with all sides, several references, none, and a response without a known word."""
    replies = [example.response for example in rejoinder.read("@conture")][:12]
    made = [
        Example((replies[row - 1],), replies[row], tuple(replies[row - 2 : row]) if row % 3 else ())
        for row in range(2, 12)
    ]
    return [*made, Example(("hello",), "xqzzyx", ("yes",)), Example((), "good", ("good day",))]


def check_gradients(judge: Differentiable, examples: list[Example]) -> None:
    """Compare gradients with differences to both sides, and values with the scores."""
    slopes = judge.slopes(examples)
    scored = np.isfinite(slopes.values)
    assert scored.any() and not np.isfinite(slopes.gradients[~scored]).any()
    assert np.abs(slopes.gradients[scored]).max() > 0.01
    np.testing.assert_allclose(slopes.values[scored], judge.score_batch(examples).values[scored], rtol=1e-9)
    numeric = np.empty_like(slopes.vectors)
    for column in range(slopes.vectors.shape[1]):
        moved = np.zeros(slopes.vectors.shape[1])
        moved[column] = STEP
        up, down = (judge.slopes(examples, slopes.vectors + side * moved).values for side in (1, -1))
        numeric[:, column] = (up - down) / (2 * STEP)
    np.testing.assert_allclose(slopes.gradients, numeric, rtol=1e-5, atol=1e-6)


@pytest.fixture(scope="module")
def judges() -> dict[Normalise, AdemJudge]:
    rated = [replace(one, references=one.context[-1:]) for one in rejoinder.read("@conture")]
    ways: tuple[Normalise, ...] = ("none", "l2")
    return {
        way: adem_of(train_judge(rated, "adem", options=AdemOptions(components=6, epochs=3, normalise=way)))
        for way in ways
    }


@pytest.mark.parametrize(("normalise", "references"), [("none", "mean"), ("l2", "best"), ("l2", "mean")])
def test_gradients_and_spaces(judges: dict[Normalise, AdemJudge], normalise: Normalise, references: References) -> None:
    judge, examples = replace(judges[normalise], references=references, scale=(0.0, 100.0)), examples_to_attack()
    check_gradients(judge, examples)
    others = ["how are you", "see you in the film", "xqzzyx", "good day"]
    (space,) = judge.spaces(examples)
    assert space.name == "adem" and space.rows.tolist() == [*range(len(examples))]
    owners = [row for row, example in enumerate(examples) for _ in example.references]
    assert space.sides["reference"].rows.tolist() == owners
    compared = space.project(judge.encoder.encode(others))
    grid = space.scores(compared)
    expected = [judge.score_batch([replace(one, response=text) for one in examples]).values for text in others]
    np.testing.assert_allclose(grid, np.array(expected).T, rtol=1e-9)
    rows = np.array([1, 2, len(examples) - 1])
    np.testing.assert_allclose(space.scores(compared, rows), grid[rows], rtol=1e-9)


def test_gradients_without_components(judges: dict[Normalise, AdemJudge]) -> None:
    judge = judges["none"]
    width = judge.encoder.width
    head = replace(judge.head, M=np.eye(width), N=2 * np.eye(width))
    check_gradients(replace(judge, projection=None, head=head), examples_to_attack())


def test_gradients_and_spaces_of_a_panel() -> None:
    panel, examples = replace(small_panel(), scale=(0.0, 10.0)), examples_to_attack()
    check_gradients(panel, examples)
    spaces = panel.spaces(examples)
    assert sorted(np.concatenate([space.rows for space in spaces]).tolist()) == [*range(len(examples))]
    vectors = panel.encoder.encode(["good day"])
    for space in spaces:
        changed = [replace(examples[row], response="good day") for row in space.rows]
        scores = panel.score_batch(changed).values
        np.testing.assert_allclose(space.scores(space.project(vectors))[:, 0], scores, rtol=1e-9)
        assert set(space.sides["response"].rows) == set(space.rows)
