"""The ADEM family: the head against golden values, its gradient, fitting, splitting, saving and loading."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

import rejoinder
from conftest import GOLDEN
from rejoinder.data.folders import Parts, write_folder
from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.example import Example
from rejoinder.judges.adem.fit import FitOptions, Normalise, fit_head
from rejoinder.judges.adem.head import Head, Penalty, Vectors, gradient, initial_head
from rejoinder.judges.adem.judge import TERMS, BilinearJudge, Kind
from rejoinder.judges.adem.recipes import options_of
from rejoinder.judges.adem.sides import References, encode
from rejoinder.judges.train import train_judge
from rejoinder.models.encoders import AverageEncoder, fit_projection
from rejoinder.scorer import FloatArray, run
from rejoinder.stats.splits import split_groups
from rejoinder.text.vectors import word_vectors
from samples import bilinear_of

KINDS: tuple[Kind, ...] = ("adem", "c-adem", "r-adem")
ALL_KINDS: tuple[Kind, ...] = (*KINDS, "autojudge", "vhred")
PENALTIES: tuple[Penalty, ...] = ("frobenius", "l2_squared", "l1")
TITLES = {
    "adem": "ADEM",
    "c-adem": "C-ADEM",
    "r-adem": "R-ADEM",
    "autojudge": "AutoJudge",
    "vhred": "Untrained ADEM",
}
QUICK = FitOptions(epochs=5)


def penalty(head: Head, kind: Penalty) -> float:
    matrices = (head.M, head.N)
    if kind == "frobenius":
        return float(sum(np.linalg.norm(matrix) for matrix in matrices))
    if kind == "l2_squared":
        return float(sum(np.square(matrix).sum() for matrix in matrices))
    return float(sum(np.abs(matrix).sum() for matrix in matrices))


def objective(head: Head, vectors: Vectors, ratings: FloatArray, kind: Penalty, weight: float) -> float:
    return float(np.square(head(vectors) - ratings).mean()) + weight * penalty(head, kind)


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads((GOLDEN / "adem_head.json").read_text()))


def golden_vectors(golden: dict[str, Any]) -> Vectors:
    return Vectors(*(np.array(golden[side]) for side in ("context", "reference", "response")))


@pytest.mark.parametrize("kind", KINDS)
def test_head_gives_the_golden_values(golden: dict[str, Any], kind: Kind) -> None:
    vectors, expected = golden_vectors(golden), golden["cases"][kind.replace("-", "_")]
    first = initial_head(vectors, TERMS[kind])
    assert first.alpha == pytest.approx(expected["alpha"], abs=1e-9)
    assert first.beta == pytest.approx(expected["beta"], abs=1e-9)
    assert first(vectors) == pytest.approx(expected["scores_at_identity"], abs=1e-9)
    # The released program stores the transpose of the published M and N.
    trained = replace(first, M=np.array(expected["M_code_orientation"]).T, N=np.array(expected["N_code_orientation"]).T)
    assert trained(vectors) == pytest.approx(expected["scores_with_M_N"], abs=1e-9)
    names = ("penalty_released_code_unsquared_frobenius_sum", "penalty_paper_squared", "penalty_iclr_l1")
    for norm, name in zip(PENALTIES, names, strict=True):
        assert penalty(trained, norm) == pytest.approx(expected[name], abs=1e-9)
    ratings = np.array(golden["human"], dtype=float)
    assert objective(trained, vectors, ratings, "frobenius", 0.0) == pytest.approx(expected["mse"], abs=1e-9)
    whole = objective(trained, vectors, ratings, "frobenius", 0.075)
    assert whole == pytest.approx(expected["objective_released_code_gamma_0.075"], abs=1e-9)


@pytest.mark.parametrize("norm", PENALTIES)
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_is_the_slope_of_the_objective(golden: dict[str, Any], kind: Kind, norm: Penalty) -> None:
    vectors, ratings = golden_vectors(golden), np.array(golden["human"], dtype=float)
    rng = np.random.default_rng(3)
    start = replace(initial_head(vectors, TERMS[kind]), M=rng.normal(size=(4, 4)), N=rng.normal(size=(4, 4)))

    def at(flat: np.ndarray[Any, Any]) -> Head:
        return replace(start, M=flat[:16].reshape(4, 4), N=flat[16:].reshape(4, 4))

    flat = np.concatenate([start.M.ravel(), start.N.ravel()])
    numeric = optimize.approx_fprime(flat, lambda x: objective(at(x), vectors, ratings, norm, 0.1), 1e-7)
    analytic = np.concatenate([slope.ravel() for slope in gradient(start, vectors, ratings, norm, 0.1)])
    used = np.repeat(["context" in TERMS[kind], "reference" in TERMS[kind]], 16)
    assert analytic[used] == pytest.approx(numeric[used], abs=1e-5)
    # The term that does not count is not touched, not even by its penalty.
    assert not analytic[~used].any()


def test_head_without_spread_is_refused() -> None:
    same = np.ones((3, 2))
    with pytest.raises(DataError, match="all examples look alike to the judge"):
        initial_head(Vectors(same, same, same), TERMS["adem"])


def test_fit_recovers_a_planted_head() -> None:
    rng = np.random.default_rng(0)
    vectors = Vectors(*rng.normal(size=(3, 600, 4)))
    planted = Head(rng.normal(size=(4, 4)), rng.normal(size=(4, 4)), -3.0 * 4, 4.0, TERMS["adem"])
    ratings = planted(vectors)
    train, validation = (Vectors(*(side[rows] for side in vectors)) for rows in (slice(0, 400), slice(400, 600)))
    options = FitOptions(learning_rate=0.02, penalty_weight=0.0, epochs=150)
    result = fit_head(train, ratings[:400], validation, ratings[400:], TERMS["adem"], options, rng)
    # alpha is not fitted, so a constant part of the error remains; the order of the examples is recovered.
    assert np.corrcoef(result.head(validation), ratings[400:])[0, 1] > 0.999
    assert result.validation_errors[result.best_epoch] == min(result.validation_errors)
    assert len(result.validation_errors) == options.epochs + 1


def test_fit_keeps_the_untrained_head_where_training_only_hurts() -> None:
    rng = np.random.default_rng(1)
    vectors = Vectors(*rng.normal(size=(3, 40, 3)))
    first = initial_head(vectors, TERMS["adem"])
    wrong = 6.0 - first(vectors)
    result = fit_head(vectors, wrong, vectors, first(vectors), TERMS["adem"], FitOptions(epochs=3), rng)
    assert result.best_epoch == 0
    assert (np.eye(3) == result.head.M).all()


@given(st.lists(st.integers(0, 30), min_size=1, max_size=80), st.integers(0, 5))
def test_split_keeps_groups_whole(groups: list[int], seed: int) -> None:
    numbers = np.array(groups, dtype=np.intp)
    parts = split_groups(numbers, (0.7, 0.15, 0.15), np.random.default_rng(seed))
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(groups)))
    inside = [set(numbers[part].tolist()) for part in parts]
    assert not (inside[0] & inside[1] or inside[0] & inside[2] or inside[1] & inside[2])


def test_split_has_the_shares_asked_for() -> None:
    parts = split_groups(np.repeat(np.arange(100), 3), (0.7, 0.15, 0.15), np.random.default_rng(0))
    assert [len(part) for part in parts] == [210, 45, 45]
    with pytest.raises(ValueError, match="sum to 0.9"):
        split_groups(np.arange(3), (0.5, 0.4), np.random.default_rng(0))


VECTORS = word_vectors(["good", "bad", "day"], np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))


def test_average_encoder() -> None:
    encoder = AverageEncoder(VECTORS)
    encoded = encoder.encode(["Good day!", "good GOOD bad", "unheard of", ""])
    assert encoded[:2].tolist() == [[1.0, 0.5], [2 / 3, 1 / 3]]
    assert np.isnan(encoded[2:]).all()
    assert encoder.encode_contexts([("good", "bad")]).tolist() == [[0.5, 0.5]]


def test_projection_is_that_of_distinct_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 4))
    once = fit_projection([rows], 2)
    twice = fit_projection([rows, rows[:20], np.full((1, 4), np.nan)], 2)
    assert np.allclose(once(rows), twice(rows))
    assert once(rows).mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert 0 < once.explained < 1
    assert fit_projection([rows], 99).components.shape == (4, 4)


def dialogues(count: int, **changes: Any) -> list[Example]:
    """Made-up rated examples in which good replies have good words; two to a context."""
    words = ("good", "bad", "day")
    examples = []
    for number in range(count):
        response = " ".join(words[(number + step) % 3] for step in range(number % 4 + 1))
        examples.append(
            Example(
                context=(f"{words[number // 2 % 3]} day number {number // 2}",),
                response=response,
                references=("good day",),
                id=str(number),
                quality={"overall": 1.0 + 4 * (response.count("good") / (number % 4 + 1))},
                scales={"overall": (1, 5)},
                dataset="made-up",
            )
        )
    return [replace(example, **changes) for example in examples]


@pytest.fixture
def encoder() -> AverageEncoder:
    return AverageEncoder(word_vectors(["good", "bad", "day"], np.array([[1, 0.2], [0.1, 1], [0.5, 0.4]])))


@pytest.mark.parametrize("references", ["best", "mean"])
@pytest.mark.parametrize("normalise", ["none", "l2"])
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_judge_is_the_same_after_saving_and_loading(
    kind: Kind, normalise: Normalise, references: References, encoder: AverageEncoder, tmp_path: Path
) -> None:
    examples = dialogues(90, references=("good day", "bad"))
    options = replace(options_of(kind), epochs=3, normalise=normalise)
    counted = references if "reference" in TERMS[kind] else None
    trained = train_judge(examples, kind, encoder, options, references=counted)
    trained.judge.save(tmp_path / "judge")
    loaded = rejoinder.load_scorer(tmp_path / "judge")
    before, after = run(trained.judge, examples), run(loaded, examples)
    assert (before.values == after.values).all()
    assert before.signature == after.signature
    assert loaded.card.needs == frozenset(TERMS[kind])
    assert {path.name for path in (tmp_path / "judge").iterdir()} == {
        "config.json",
        "weights.safetensors",
        "encoder.words.json",
        "card.md",
    }
    card = (tmp_path / "judge" / "card.md").read_text()
    assert card.startswith(f"# {TITLES[kind]} judge\n")
    assert "averaged word vectors (2 dimensions), " in card and "Word order does not reach it" in card
    assert ("not projected" in card) == (kind == "autojudge")


def test_training_learns_what_people_like(encoder: AverageEncoder) -> None:
    trained = train_judge(dialogues(300), encoder=encoder, options=FitOptions(epochs=60, learning_rate=0.02))
    assert trained.judge.training["test"]["spearman"] > 0.7
    contexts = [{example.context_key for example in part} for part in (trained.train, trained.validation, trained.test)]
    assert not contexts[0] & contexts[1] | contexts[0] & contexts[2] | contexts[1] & contexts[2]


def test_same_seed_same_judge(encoder: AverageEncoder) -> None:
    first, again, other = (
        train_judge(dialogues(90), encoder=encoder, options=QUICK, seed=seed).judge for seed in (1, 1, 2)
    )
    assert first.options["model"] == again.options["model"] != other.options["model"]


def test_judge_says_why_it_cannot_score(encoder: AverageEncoder) -> None:
    judge = train_judge(dialogues(90), encoder=encoder, options=QUICK).judge
    example = dialogues(1)[0]
    scores = run(
        judge,
        [
            replace(example, response="xyzzy"),
            replace(example, references=("xyzzy",)),
            replace(example, context=("xyzzy",)),
            replace(example, context=()),
            replace(example, references=()),
        ],
    )
    assert list(scores.reasons.values()) == [
        "no known word in the response",
        "no known word in the reference",
        "no known word in the context",
        "no context",
        "no reference",
    ]


@pytest.mark.parametrize(
    ("examples", "kind", "message"),
    [
        (dialogues(20), "adem", r"10 rated contexts that adem can learn from, expected 30 or more \(none left out\)"),
        (
            dialogues(90, references=()),
            "adem",
            r"90 lines: no reference.*needs no reference: rejoinder train c-adem, or autojudge",
        ),
        (dialogues(90, context=()), "c-adem", r"90 lines: no context.*rejoinder train r-adem"),
        (dialogues(90, context=()), "adem", r"90 lines: no context.*needs no context: rejoinder train r-adem"),
        (dialogues(90, quality={}), "adem", r"90 lines: not rated.*say where the ratings stand: --map rating=NAME"),
        (
            dialogues(90, extra={"level": "dialogue"}),
            "adem",
            r"90 lines: a rating of a whole dialogue.*learn from ratings of single replies",
        ),
        (dialogues(90, quality={"overall": 3.0}), "adem", "all ratings are equal"),
        (
            dialogues(90, scales={}),
            "adem",
            "rated, but without a scale; the ratings that have none are made-up .1 to 5.",
        ),
    ],
)
def test_bad_data_is_refused_with_a_reason(
    examples: list[Example], kind: Kind, message: str, encoder: AverageEncoder
) -> None:
    with pytest.raises(DataError, match=message):
        train_judge(examples, kind=kind, encoder=encoder, options=QUICK)


def saved(folder: Path, encoder: AverageEncoder) -> BilinearJudge:
    judge = bilinear_of(train_judge(dialogues(90), encoder=encoder, options=QUICK))
    judge.save(folder)
    return judge


def test_damaged_folders_are_told(tmp_path: Path, encoder: AverageEncoder) -> None:
    folder = tmp_path / "judge"
    saved(folder, encoder)
    config = json.loads((folder / "config.json").read_text())

    def write(changed: dict[str, Any]) -> None:
        (folder / "config.json").write_text(json.dumps({**config, **changed}))

    write({"format": 99})
    with pytest.raises(DataError, match='field "format"'):
        rejoinder.load_scorer(folder)
    write({"model": {**config["model"], "alpha": 7.0}})
    with pytest.raises(DataError, match="its files are not those it was saved with"):
        rejoinder.load_scorer(folder)
    (folder / "config.json").write_text(json.dumps({"format": 1}))
    with pytest.raises(DataError, match='field "digest"'):
        rejoinder.load_scorer(folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(DataError, match="damaged"):
        rejoinder.load_scorer(folder)
    write({})
    words = (folder / "encoder.words.json").read_text()
    (folder / "encoder.words.json").write_text(json.dumps(json.loads(words)[::-1]))
    with pytest.raises(DataError, match="its files are not those it was saved with"):
        rejoinder.load_scorer(folder)
    (folder / "encoder.words.json").unlink()
    with pytest.raises(MissingAsset, match=r"words.json"):
        rejoinder.load_scorer(folder)
    (folder / "encoder.words.json").write_text(words)
    (folder / "weights.safetensors").write_bytes(b"no tensors")
    with pytest.raises(DataError, match="damaged"):
        rejoinder.load_scorer(folder)
    (folder / "weights.safetensors").unlink()
    with pytest.raises(MissingAsset, match=r"weights.safetensors"):
        rejoinder.load_scorer(folder)
    (folder / "config.json").unlink()
    with pytest.raises(MissingAsset, match="no trained model here"):
        rejoinder.load_scorer(folder)


def test_models_of_another_kind_are_told(tmp_path: Path) -> None:
    write_folder(tmp_path / "oracle", Parts({"kind": "oracle"}, {"w": np.zeros(1)}), "card")
    with pytest.raises(
        DataError, match="a model of kind 'oracle', expected bilinear or views or panel. Update rejoinder"
    ):
        rejoinder.load_scorer(tmp_path / "oracle")


def test_a_word_without_a_vector_of_its_own_scores_alike_in_any_company() -> None:
    four = word_vectors(["good", "bad", "day", "nil"], np.array([[1, 0.2], [0.1, 1], [0.5, 0.4], [0, 0]]))
    judge = train_judge(dialogues(90), encoder=AverageEncoder(four), options=QUICK).judge
    lone = replace(dialogues(1)[0], response="nil", references=("nil",), context=("nil",))
    alone, together = run(judge, [lone]), run(judge, [lone, *dialogues(4)])
    assert alone.values[0] == pytest.approx(together.values[0])


def test_examples_that_all_look_alike_are_refused(encoder: AverageEncoder) -> None:
    alike = [replace(example, context=("day",), context_id=example.id, response="good") for example in dialogues(90)]
    with pytest.raises(DataError, match="all examples look alike to the judge. Give responses whose words differ"):
        train_judge(alike, encoder=encoder, options=QUICK)


def test_a_strangers_folder_is_not_replaced(tmp_path: Path, encoder: AverageEncoder) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.txt").write_text("years of work")
    with pytest.raises(UsageError, match=r"chapter1.txt\), so it is not replaced"):
        saved(tmp_path / "thesis", encoder)
    assert (tmp_path / "thesis" / "chapter1.txt").read_text() == "years of work"
    judge = saved(tmp_path / "judge", encoder)
    judge.save(tmp_path / "judge", force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["judge", "thesis"]


def test_unused_sides_are_zero(encoder: AverageEncoder) -> None:
    vectors = encode(dialogues(4), encoder, ("context",)).means
    assert not vectors.reference.any()
    assert vectors.context.any()
