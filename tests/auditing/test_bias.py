"""What a score goes with that people did not reward."""

from __future__ import annotations

import numpy as np
import pytest

import rejoinder
from rejoinder.auditing.bias import PROPERTIES, STATISTICS, biases, partial
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.stats.resamples import Sampling

OF = {prop.name: prop.value for prop in PROPERTIES}


def lines(count: int = 300, dataset: str = "one") -> list[Example]:
    """Rated replies whose length, names, capitals and speakers have nothing to do with their ratings."""
    rng = np.random.default_rng(3)
    made = []
    for number in range(count):
        words = ["planet", "river", "stone"][: 1 + int(rng.integers(3))] * int(rng.integers(1, 6))
        words += (
            ["Sarah"] * int(rng.integers(2)) + ["gonna"] * int(rng.integers(2)) + ["I", "the"] * int(rng.integers(2))
        )
        text = " ".join(words)
        made.append(
            Example(
                ("a stone ?", "no .", "yes .")[: 1 + number % 3],
                text.upper() if rng.random() < 0.3 else text,
                id=str(number),
                dataset=dataset,
                context_id=str(number // 3),
                quality={"overall": float(rng.integers(1, 6))},
                scales={"overall": (1.0, 5.0)},
            )
        )
    return made


def found(scores: np.ndarray, given: list[Example], sign: int = 1) -> dict[str, tuple[Estimate, Estimate]]:
    """Return correlation and points by property."""
    clusters = np.arange(len(given)) // 3
    estimates = biases(given, scores, clusters, Sampling(0, 0), sign)
    assert [estimate.statistic for estimate in estimates] == [*STATISTICS] * len(PROPERTIES)
    return {first.group: (first, second) for first, second in zip(estimates[::2], estimates[1::2], strict=True)}


@pytest.mark.parametrize(
    ("name", "response", "context", "value"),
    [
        ("length", "Well, don't go!", (), 3),
        ("generic wording", "that is a river", (), 0.75),
        ("copying", "the River is wide", ("a river ?",), 0.5),
        ("copying", "the river", (), np.nan),
        ("copying", "it is", ("a river ?",), np.nan),
        ("casing", "Ab CD", (), 0.75),
        ("casing", "你好", (), np.nan),
        ("first person", "I’m sure my dog is", (), 0.4),
        ("speaker", "yes", ("a", "b"), 1.0),
        ("speaker", "yes", ("a",), 0.0),
        ("speaker", "yes", (), np.nan),
        ("dialect", "y'all gonna see it", (), 0.5),
        ("named persons", "ask sarah .", (), 1.0),
        ("named persons", "ask her .", (), 0.0),
    ],
)
def test_properties(name: str, response: str, context: tuple[str, ...], value: float) -> None:
    assert OF[name](Example(context, response)) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize("name", list(OF))
def test_a_judge_that_pays_for_a_property_is_found_out(name: str) -> None:
    """What it pays for goes with the score, whatever else it reads; what goes with neither does not."""
    given = lines()
    ratings = np.array([one.rating() for one in given], dtype=np.float64)
    values = np.array([OF[name](one) for one in given])
    paid = 3 * np.nan_to_num(values) / np.nanstd(values)
    got, points = found(ratings + paid, given)[name]
    assert got.value > 0.95 and got.excludes() and points.excludes()
    step = next(one.step for one in PROPERTIES if one.name == name)
    assert points.value == pytest.approx(3 * step / np.nanstd(values), rel=0.05)


def test_points_are_those_of_ten_words() -> None:
    given = lines()
    ratings = np.array([one.rating() for one in given], dtype=np.float64)
    lengths = np.array([len(one.response.split()) for one in given])
    got, points = found(2 * ratings + 0.07 * lengths, given)["length"]
    assert points.value == pytest.approx(0.7) and got.value == pytest.approx(1.0)
    _, turned = found(-(2 * ratings + 0.07 * lengths), given, -1)["length"]
    assert turned.value == pytest.approx(0.7)


def test_what_people_reward_is_no_bias() -> None:
    """A judge that gives just the rating pays for nothing, though ratings go with length here."""
    given = lines()
    lengths = np.array([len(one.response.split()) for one in given], dtype=np.float64)
    noise = np.random.default_rng(0).normal(size=len(given))
    ratings = np.clip(1 + lengths / 5 + noise / 3, 1, 5)
    rated = [
        Example(one.context, one.response, dataset="one", quality={"overall": float(rating)})
        for one, rating in zip(given, ratings, strict=True)
    ]
    got, _ = found(ratings + np.random.default_rng(1).normal(size=len(given)) / 10, rated)["length"]
    assert np.corrcoef(lengths, ratings)[0, 1] > 0.8 and abs(got.value) < 0.15 and not got.excludes()


def test_data_sets_are_told_apart() -> None:
    """Long replies and high scores of one set say nothing of either within it."""
    first = lines()
    second = [
        Example(one.context, f"{one.response} {'more ' * 30}", dataset="two", quality=one.quality, scales=one.scales)
        for one in lines()
    ]
    noise = np.random.default_rng(0).normal(size=600)
    got, _ = found(np.repeat([0.0, 50.0], 300) + noise, [*first, *second])["length"]
    assert abs(got.value) < 0.15


def test_what_cannot_be_said_has_a_reason() -> None:
    unrated = [Example(one.context, one.response) for one in lines()]
    got = found(np.ones(300), unrated)
    assert {one.reason for both in got.values() for one in both} == {"no human ratings"}
    few, _ = found(np.arange(29.0), lines(29))["length"]
    assert few.reason == "29 rated replies with a score and this property, 30 are needed"
    constant, _ = found(np.ones(300), lines())["length"]
    assert constant.reason == "nothing of it, or of the score, is left given the rating" and not constant.known
    same = [Example(("a",), "one two", quality={"overall": float(n % 5)}) for n in range(40)]
    assert found(np.arange(40.0), same)["length"][0].reason == "it is the same for all of them"
    odd = [Example((), text, quality={"overall": 1.0}) for text in ("", "!", "👍", " ")]
    assert found(np.arange(4.0), odd)["length"][0].n == 0


def test_the_audit_reports_it() -> None:
    def lengthy(examples: list[Example]) -> list[float]:
        return [(one.rating() or 3) + 0.1 * len(one.response.split()) for one in examples]

    audit = rejoinder.audit(lines(), lengthy, families=["upper-case"])
    assert any("its score still goes with length (" in sentence for sentence in audit.answer)
    length, points = (audit.one(statistic=name, group="length") for name in STATISTICS)
    assert points.value == pytest.approx(1.0, abs=0.1) and length.low > 0.5
    (table,) = [table for table in audit.layout.tables if table.title == "Bias"]
    assert [row[0].text for row in table.rows] == list(OF)


# partial correlation and slope


def draw(seed: int, n: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    x = 100 + z + rng.normal(size=n)
    return x, 0.3 * x - 2 * z + rng.normal(size=n), z


def by_residuals(x: np.ndarray, y: np.ndarray, z: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """The definition: correlate what weighted least squares on `z` leaves of both."""
    root = np.sqrt(weights)
    design = root[:, None] * np.stack([np.ones_like(z), z], axis=1)
    left = [root * one - design @ np.linalg.lstsq(design, root * one, rcond=None)[0] for one in (x, y)]
    product = float(left[0] @ left[1])
    return product / float(np.sqrt((left[0] ** 2).sum() * (left[1] ** 2).sum())), product / float((left[0] ** 2).sum())


@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_residuals_say(seed: int) -> None:
    x, y, z = draw(seed)
    weights = np.random.default_rng(seed).integers(0, 3, (80, 5)).astype(np.float64)
    correlations, slopes = partial(x, y, z, weights)
    for column in range(5):
        correlation, slope = by_residuals(x, y, z, weights[:, column])
        assert correlations[column] == pytest.approx(correlation)
        assert slopes[column] == pytest.approx(slope)


def test_a_constant_explains_nothing() -> None:
    x, y, _ = draw(0)
    (correlation,), _ = partial(x, y, np.full(80, 0.1), np.ones((80, 1)))
    assert correlation == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_where_nothing_is_left_there_is_no_value() -> None:
    x, y, z = draw(0)
    ones = np.ones((80, 1))
    for given in ((z * 3 + 1, y, z), (x, z, z), (np.full(80, 2.0), y, z)):
        assert np.isnan(partial(*given, ones)).all()
