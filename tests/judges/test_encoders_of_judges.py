"""Judges over any encoder: the encoder in the judge's folder, references, scales, the options of `train`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run, refused
from rejoinder.data.folders import Parts
from rejoinder.data.scales import rescaled
from rejoinder.errors import DataError, MissingExtra, UsageError
from rejoinder.example import Example
from rejoinder.judges.adem.fit import FitOptions, fit_bilinear
from rejoinder.judges.adem.head import Vectors
from rejoinder.judges.adem.judge import BilinearJudge, Kind
from rejoinder.judges.adem.learner import FittedBilinear
from rejoinder.judges.adem.oversample import Lengths
from rejoinder.judges.adem.recipes import DERIU2019, options_of
from rejoinder.judges.adem.sides import Encoded, References, encode
from rejoinder.judges.lines import normalised_ratings
from rejoinder.judges.train import train_judge
from rejoinder.models import encoder_of, load_encoder
from rejoinder.models.encoders import AverageEncoder, PortableEncoder, fit_projection
from rejoinder.scorer import FloatArray, run
from rejoinder.text.vectors import read_vectors, word_vectors
from samples import bilinear_of, few

QUICK = FitOptions(components=3, epochs=2)
NUMBERS = st.floats(-100, 100)
KINDS = ("hred-context", "vhred-utterance", "tweet2vec")


def rated() -> list[Example]:
    """Rated lines with context and reference; that they were never together does not matter for how a judge works."""
    examples = [replace(example, context=example.context[-1:]) for example in list(rejoinder.read("@conture"))[1:62]]
    return [
        replace(example, references=(other.response,), context_id=example.id) for example, other in pairwise(examples)
    ]


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("tokenizers", reason="needs the extra train")
    import tiny

    place = tmp_path_factory.mktemp("encoder") / request.param
    if request.param == "tweet2vec":
        return tiny.tweet_model(place)
    return tiny.dialogue_model(place, latent=4 if request.param.startswith("vhred") else 0)


@pytest.fixture
def encoder(folder: Path) -> PortableEncoder:
    return load_encoder(folder, "utterance" if "utterance" in folder.name else None)


# The encoder and its parts

TEXTS = st.dictionaries(st.text("ab.", min_size=1), st.text(), max_size=3)


@given(TEXTS, TEXTS, TEXTS)
def test_parts_inside_parts_come_out_as_they_went_in(config: dict[str, str], own: Any, other: Any) -> None:
    outer = Parts({"kind": "judge"}, {"M": np.eye(2)}, {f"own-{name}": text for name, text in own.items()})
    inner = Parts(config, {name: np.ones(1) for name in own}, other)
    held = outer.holding("encoder", inner)
    assert held.inner("encoder").digest == inner.digest
    assert set(held.files) == set(outer.files) | {f"encoder.{name}" for name in other}
    assert held.config == {"kind": "judge", "encoder": config}


def test_an_encoder_is_made_again_from_its_parts(encoder: PortableEncoder) -> None:
    again = encoder_of(encoder.parts)
    texts = ["hello you", "the cat sat", "", "bye"]
    np.testing.assert_array_equal(again.encode(texts), encoder.encode(texts))
    assert (again.options, again.parts.digest) == (encoder.options, encoder.parts.digest)
    assert not [name for name in encoder.parts.files if name in ("curves.csv", "hashtags.json")]


def test_averaged_word_vectors_are_made_again_from_their_parts() -> None:
    encoder = AverageEncoder(read_vectors())
    again = encoder_of(encoder.parts)
    np.testing.assert_array_equal(again.encode(["good day", "?"]), encoder.encode(["good day", "?"]))
    assert again.options == encoder.options


def test_another_kind_of_parts_is_told() -> None:
    with pytest.raises(DataError) as refusal:
        encoder_of(Parts({"kind": "oracle"}, {}), "here")
    assert str(refusal.value).startswith("here: a model of kind 'oracle', expected one of average, sentence, hred, ")


# Judges over it


@pytest.mark.parametrize("kind", ["adem", "autojudge"])
def test_a_judge_takes_its_encoder_along(folder: Path, kind: Kind, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "encoder")
    trained = train_judge(rated(), kind, load_encoder(copy), replace(options_of(kind), epochs=2))
    trained.judge.save(tmp_path / "judge")
    shutil.rmtree(copy)
    loaded = rejoinder.load_scorer(tmp_path / "judge")
    before, after = run(trained.judge, rated()), run(loaded, rated())
    np.testing.assert_array_equal(before.values, after.values)
    assert before.signature == after.signature
    assert set(before.reasons.values()) <= {"no known word in the context"} and before.scored.sum() >= 59
    config = json.loads((tmp_path / "judge" / "config.json").read_text())
    assert config["model"]["encoder"]["sizes"]
    card = (tmp_path / "judge" / "card.md").read_text()
    assert f"{bilinear_of(trained).encoder.width} dimensions" in card and "Word order" not in card


def test_a_judges_own_encoder_keeps_its_state(encoder: PortableEncoder, tmp_path: Path) -> None:
    train_judge(rated(), "c-adem", encoder, QUICK).judge.save(tmp_path / "judge")
    assert load_encoder(tmp_path / "judge").options == encoder.options
    if "state" in encoder.options:
        assert load_encoder(tmp_path / "judge", "context").options["state"] == "context"


def test_training_again_gives_the_same_judge(encoder: PortableEncoder) -> None:
    first, again = (train_judge(rated(), "adem", encoder, QUICK).judge for _ in range(2))
    assert first.options["model"] == again.options["model"]


def test_a_changed_encoder_inside_is_told(encoder: PortableEncoder, tmp_path: Path) -> None:
    train_judge(rated(), "c-adem", encoder, QUICK).judge.save(tmp_path / "judge")
    (inside,) = (tmp_path / "judge").glob("encoder.*.json")
    inside.write_text(inside.read_text().replace("a", "b", 1))
    with pytest.raises(DataError, match="its files are not those it was saved with"):
        rejoinder.load_scorer(tmp_path / "judge")


def test_a_missing_library_is_told(encoder: PortableEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_judge(rated(), "c-adem", encoder, QUICK).judge.save(tmp_path / "judge")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="A pre-trained encoder needs torch"):
        rejoinder.load_scorer(tmp_path / "judge")


def test_an_encoder_is_no_judge(folder: Path) -> None:
    with pytest.raises(DataError) as refusal:
        rejoinder.load_scorer(folder)
    assert "a pre-trained encoder (" in str(refusal.value)
    assert str(refusal.value).endswith(f"Train a judge over it: rejoinder train adem FILE -e {folder} -o FOLDER")


def test_scoring_over_word_vectors_needs_no_training_libraries(tmp_path: Path) -> None:
    train_judge(rated(), options=QUICK).judge.save(tmp_path / "judge")
    code = (
        "import sys, rejoinder; examples = list(rejoinder.read('@conture'));"
        f"assert rejoinder.score(examples, {str(tmp_path / 'judge')!r}).reasons;"
        "print([name for name in ('torch', 'tokenizers', 'sklearn', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class Counting:
    """An encoder that notes what it was asked to read."""

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
    encoder, examples = Counting(), rated()
    encode(examples + examples, encoder, ("context",))
    assert max(encoder.read[example.context] for example in examples) == 1
    encoder = Counting()
    train_judge(examples + examples, "r-adem", encoder, QUICK)
    # A text may be both a response and a reference.
    assert max(encoder.read.values()) <= 2


# References

VECTORS = word_vectors(["good", "bad", "day"], np.array([[1.0, 0.2], [0.1, 1.0], [0.5, 0.4]]))
WORDS = st.sampled_from(["good", "bad", "day", "good day", "bad bad day", "xyzzy"])


@pytest.fixture(scope="module")
def judges() -> dict[str, BilinearJudge]:
    words = ("good", "bad", "day")
    examples = [
        Example(
            context=(f"{words[number % 3]} day {number}",),
            response=words[number % 3] + f" {words[number // 3 % 3]}",
            references=("good day", "bad"),
            quality={"overall": 1.0 + number % 5},
            scales={"overall": (1, 5)},
        )
        for number in range(60)
    ]
    encoder = AverageEncoder(VECTORS)
    plain, l2 = FitOptions(epochs=2), FitOptions(epochs=2, normalise="l2")
    return {
        "best": bilinear_of(train_judge(examples, "adem", encoder, plain, references="best")),
        "mean": bilinear_of(train_judge(examples, "adem", encoder, plain)),
        "best l2": bilinear_of(train_judge(examples, "adem", encoder, l2, references="best")),
        "mean l2": bilinear_of(train_judge(examples, "adem", encoder, l2)),
    }


@pytest.mark.parametrize("normalise", ["", " l2"])
@given(references=st.lists(WORDS, min_size=1, max_size=4), response=WORDS)
def test_several_references(
    judges: dict[str, BilinearJudge], normalise: str, references: list[str], response: str
) -> None:
    example = Example(("good day",), response, tuple(references))
    single = run(judges[f"mean{normalise}"], [replace(example, references=(one,)) for one in references]).values
    best, mean = (float(run(judges[f"{way}{normalise}"], [example]).values[0]) for way in ("best", "mean"))
    if response == "xyzzy" or set(references) == {"xyzzy"}:
        assert np.isnan([best, mean]).all()
        return
    known = single[np.isfinite(single)]
    assert best == pytest.approx(known.max())
    assert mean == pytest.approx(known.mean())
    assert best >= mean - 1e-9


def test_how_references_count_is_kept_and_told(judges: dict[str, BilinearJudge], tmp_path: Path) -> None:
    judges["best"].save(tmp_path / "judge")
    loaded = rejoinder.load_scorer(tmp_path / "judge")
    assert loaded.card.notes.endswith("Several references: the best of the scores against each.")
    assert cast("BilinearJudge", loaded).references == "best"
    assert judges["best"].options["model"] != judges["mean"].options["model"]


@given(st.lists(st.lists(NUMBERS | st.just(float("nan")), max_size=4), min_size=1, max_size=6))
def test_best_is_no_worse_than_mean(values: list[list[float]]) -> None:
    owner = np.repeat(np.arange(len(values)), [len(own) for own in values])
    nothing = np.zeros((len(values), 1))
    encoded = Encoded(nothing, np.zeros((len(owner), 1)), owner, nothing)
    flat = np.array([value for own in values for value in own], dtype=float)
    best, mean = (encoded.combine(flat, way) for way in cast("tuple[References, ...]", ("best", "mean")))
    empty = np.array([not np.isfinite(own).any() for own in values])
    assert (np.isnan(best) == empty).all() and (np.isnan(mean) == empty).all()
    assert (best[~empty] >= mean[~empty] - 1e-9).all()


def test_the_mean_vector_is_that_of_the_known_references() -> None:
    example = Example(("day",), "good", ("good", "xyzzy", "bad"))
    raw = encode([example, replace(example, references=("xyzzy",))], AverageEncoder(VECTORS), ("reference",)).means
    assert raw.reference[0] == pytest.approx([0.55, 0.6])
    assert np.isnan(raw.reference[1]).all()


# Options


def test_autojudge_fits_the_whole_matrix() -> None:
    judge = bilinear_of(train_judge(rated(), "autojudge", options=replace(DERIU2019, epochs=1)))
    assert options_of("autojudge") == DERIU2019
    assert judge.head.M.shape == (judge.encoder.width,) * 2
    assert judge.projection is None and judge.training["components"] is None
    assert judge.card.source == "Deriu and Cieliebak 2019"


def test_autojudge_moves_by_its_step() -> None:
    raw, rows = Vectors(*np.random.default_rng(0).normal(size=(3, 300, 3))), np.arange(300)
    ratings, lengths = np.array([1.0 + row % 5 for row in rows]), Lengths(rows, rows)
    options = replace(DERIU2019, epochs=1)
    fit = fit_bilinear(raw, ratings, lengths, rows, rows, ("context",), options, np.random.default_rng(0))
    # One batch an epoch, and the first step of Adam moves every entry by the step.
    assert (fit.best_epoch, fit.projection) == (1, None)
    assert np.abs(fit.head.M - np.eye(3)) == pytest.approx(0.001, rel=1e-3)


def test_vhred_is_adem_before_training() -> None:
    trained = train_judge(rated(), "vhred")
    judge, (fit,) = bilinear_of(trained), trained.fits
    identity = np.eye(len(judge.head.M))
    assert (identity == judge.head.M).all() and (identity == judge.head.N).all()
    assert isinstance(fit, FittedBilinear)
    assert (fit.course.best_epoch, len(fit.course.validation_errors)) == (0, 1)
    assert judge.card.name == "vhred"


@given(st.lists(st.floats(0.1, 10), min_size=30, max_size=30))
def test_normalised_vectors_have_a_direction_only(factors: list[float]) -> None:
    rng = np.random.default_rng(0)
    raw = Vectors(*rng.normal(size=(3, 30, 4)))
    longer = Vectors(*(side * np.array(factors)[:, None] for side in raw))
    rows, lengths = np.arange(30), Lengths(np.ones(30, dtype=np.intp), np.ones(30, dtype=np.intp))
    options = FitOptions(components=2, epochs=2, normalise="l2")
    first, second = (
        fit_bilinear(
            sides,
            np.array([1.0 + row % 5 for row in range(30)]),
            lengths,
            rows,
            rows,
            ("context",),
            options,
            np.random.default_rng(0),
        ).predict(sides)
        for sides in (raw, longer)
    )
    assert first == pytest.approx(second)


def test_principal_components_are_those_of_scikit_learn() -> None:
    from sklearn.decomposition import PCA

    for shape in ((60, 8), (6, 20)):
        rows = np.random.default_rng(1).normal(size=shape) * np.linspace(1, 3, shape[1])
        found, expected = fit_projection([rows], 4), PCA(4, svd_solver="full").fit(rows)
        signs = np.sign((found.components * expected.components_).sum(axis=1))
        np.testing.assert_allclose(found.components, expected.components_ * signs[:, None], atol=1e-9)
        assert found.explained == pytest.approx(expected.explained_variance_ratio_.sum())
        assert (found.components.max(axis=1) == np.abs(found.components).max(axis=1)).all()


def test_names_that_do_not_exist_are_told() -> None:
    with pytest.raises(UsageError) as refusal:
        train_judge(rated(), "ADEM")
    assert str(refusal.value) == "no judge is called 'ADEM'. There are: adem, c-adem, r-adem, autojudge, judge, panel"
    with pytest.raises(UsageError) as refusal:
        train_judge(rated(), "adem", references="median")
    assert str(refusal.value) == "references count by best or mean, not by 'median'"


# Scales

SCALES = st.tuples(NUMBERS, st.floats(0.5, 100)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(SCALES, SCALES, st.floats(0, 1))
def test_a_rating_goes_to_another_scale_and_back(
    scale: tuple[float, float], other: tuple[float, float], share: float
) -> None:
    value = scale[0] + share * (scale[1] - scale[0])
    there = rescaled(value, scale, other)
    assert rescaled(there, other, scale) == pytest.approx(value, abs=1e-6)
    assert other[0] - 1e-6 <= there <= other[1] + 1e-6
    assert (rescaled(scale[0], scale, other), rescaled(scale[1], scale, other)) == pytest.approx(other)


def test_ratings_of_different_scales_meet() -> None:
    examples = [
        Example((), "", quality={"overall": 1.0}, scales={"overall": (0, 2)}),
        Example((), "", quality={"overall": 5.0}, scales={"overall": (1, 5)}),
    ]
    assert normalised_ratings(examples).tolist() == [3.0, 5.0]
    with pytest.raises(DataError) as refusal:
        normalised_ratings([Example((), "", where="a.jsonl:1")])
    assert str(refusal.value) == 'a.jsonl:1: not rated. Give "quality" and "scale": [1, 5]'


# The command line


def test_the_command_trains_over_an_encoder(run: Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "judge"
    rejoinder.write(rated(), tmp_path / "rated.jsonl")
    state = () if folder.name == "tweet2vec" else ("--state", "utterance")
    ran = run("train", "autojudge", tmp_path / "rated.jsonl", "-e", folder, *state, "-o", out, "--json")
    assert (ran.code, ran.err) == (0, "")
    result = json.loads(ran.out)["scorers"]["autojudge"]["training"]
    assert (result["components"], result["batch_size"]) == (None, 512)
    scored = run("score", tmp_path / "rated.jsonl", "-s", out)
    assert (scored.code, sum(not record["unscored"] for record in scored.records) >= 59) == (0, True)
    shown = run("show", out).out
    assert "autojudge" in shown and ("state:utterance" in shown) == (folder.name != "tweet2vec")


@pytest.mark.slow
def test_the_command_keeps_how_references_count(run: Run, tmp_path: Path) -> None:
    lines = few("@dstc7", 200, tmp_path)
    ran = run("train", "r-adem", lines, "--references", "best", "-o", tmp_path / "judge", "--epochs", 2)
    assert ran.code == 0
    assert "the best of the scores against each" in " ".join(run("show", tmp_path / "judge").out.split())


def test_flags_that_do_not_go_together(run: Run, tmp_path: Path) -> None:
    start, encoder = ("train", "c-adem", "@conture", "-o", tmp_path / "judge"), tmp_path / "encoder"
    refused(
        run(*start, "-e", encoder, "--vectors", "v.npz"),
        2,
        f"the encoder {encoder} takes the place of word vectors. Leave v.npz out, or the encoder",
    )
    refused(
        run(*start, "--state", "context"),
        2,
        "the encoder word-vectors has one state only. Leave the state context out",
    )
    assert run(*start, "-e", tmp_path / "gone").code == 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rejoinder", "word-vectors"])
def test_an_encoder_that_comes_along_goes_by_its_name(run: Run, tmp_path: Path, name: str) -> None:
    lines = few("@conture", 100, tmp_path)
    ran = run("train", "c-adem", lines, "-e", name, "-o", tmp_path / "judge", "--epochs", "5")
    assert (ran.code, ran.err) == (0, "")
    judge, own = rejoinder.load_scorer(tmp_path / "judge"), load_encoder(name)
    assert own.options.items() <= judge.options.items()
    assert (own.options["encoder"] == "student") == (name == "rejoinder")
    examples = list(rejoinder.read(lines))
    again = train_judge(examples, "c-adem", name, FitOptions(epochs=5)).judge
    assert again.options == judge.options, "the Python call takes the same names"

    inside = load_encoder(tmp_path / "judge")
    assert inside.options == own.options, "a judge's folder holds its encoder"
    encoded = run("encode", lines, "-e", name, "-o", tmp_path / "vectors.npz")
    assert encoded.code == 0, encoded.err
    vectors = np.load(tmp_path / "vectors.npz")["response"]
    assert np.allclose(vectors, own.encode([example.response for example in examples]), atol=1e-6, equal_nan=True)


def test_an_output_may_be_called_as_an_encoder_is(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("train", "c-adem", "@conture", "-e", "rejoinder", "-o", "rejoinder", "--epochs", "1").code == 0
    ran = run("train", "c-adem", "@conture", "-e", "rejoinder/", "-o", "rejoinder", "--epochs", "1", "--force")
    assert (ran.code, ran.out) == (2, ""), "with a slash it is the folder"
