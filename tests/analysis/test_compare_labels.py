"""`compare` with human labels: corrected differences, what a judge says alone, few labels, other ratings, the gate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.data.write import write
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.report.results import Results
from worlds import world

JUDGE = "column:judge"
ERRORS = "Its errors are not known on these replies: label 60 of each."


@pytest.fixture(scope="module")
def sides() -> tuple[list[Example], list[Example]]:
    """Two versions that are equal, with 120 labels of both, by a judge that is lax on the longer replies of B."""
    rng = np.random.default_rng(9)
    drawn = world(rng)
    chosen = set(drawn.by_chance(160, rng).tolist())
    lines: dict[int, list[Example]] = {1: [], 2: []}
    for place, version in enumerate(drawn.versions.tolist()):
        if version in lines:
            quality = {"overall": float(drawn.truth[place])} if place in chosen else {}
            extra = {"judge": int(drawn.verdicts[place]), "topic": "ab"[place % 2], "words": int(drawn.words[place])}
            scales = {"overall": (0.0, 1.0)} if quality else {}
            line = Example((f"question {place}?",), f"reply {place}", id=f"r{place}", extra=extra)
            lines[version].append(replace(line, quality=quality, scales=scales))
    return lines[1], lines[2]


def bare(side: Sequence[Example]) -> list[Example]:
    return [replace(line, quality={}, scales={}) for line in side]


def gap(results: Results, statistic: str = "difference", group: str = "") -> Estimate:
    return results.one(statistic=statistic, group=group)


def labelled(side: Sequence[Example], count: int, value: float | None = None) -> list[Example]:
    """Return the side with its first labels only, all of one value if it is given."""
    kept = [line.id for line in side if line.quality][:count]
    lines = [line if line.id in kept else replace(line, quality={}, scales={}) for line in side]
    if value is None:
        return lines
    return [replace(line, quality={"overall": value}) if line.quality else line for line in lines]


def test_a_lax_judge_is_corrected(sides: tuple[list[Example], list[Example]]) -> None:
    results = rejoinder.compare(*sides, JUDGE, fail_under=0)
    apart, alone = gap(results), gap(results, "difference, scores only")
    assert apart.verdict == "inconclusive" and apart.low < 0 < apart.high and alone.low > 0
    assert results.answer[0].startswith("The comparison is inconclusive by labels and column:judge: ")
    assert any("by column:judge alone the difference is +0." in line for line in results.answer)
    means = results.pick(statistic="mean rating")
    assert [mean.system for mean in means] == ["A", "B"] and sum(mean.n for mean in means) > 100
    assert apart.value == pytest.approx(means[1].value - means[0].value)
    assert results.gate is not None and not results.gate.passed and "by labels and column:judge" in results.gate.text
    least = gap(results, "detectable difference").value
    assert least == pytest.approx((apart.high - apart.low) / 2 * (1.96 + 0.8416) / 1.96, rel=0.001)


def test_the_difference_is_that_of_estimate(sides: tuple[list[Example], list[Example]]) -> None:
    lines = [replace(line, system=name) for name, side in zip("ab", sides, strict=True) for line in side]
    (expected,) = rejoinder.estimate(lines, JUDGE).pick(statistic="difference")
    expected = expected if expected.system == "b" else -expected
    apart = gap(rejoinder.compare(*sides, JUDGE, pair_by="none"))
    assert (apart.value, *apart.ends, apart.p) == pytest.approx((expected.value, *expected.ends, expected.p))
    numbers = gap(rejoinder.compare(*sides, "column:words", pair_by="none"))
    (by_words,) = rejoinder.estimate(lines, "column:words").pick(statistic="difference")
    assert abs(numbers.value) == pytest.approx(abs(by_words.value)) and numbers.p == pytest.approx(by_words.p)


def test_a_judge_without_labels_says_so(sides: tuple[list[Example], list[Example]]) -> None:
    a, b = map(bare, sides)
    results = rejoinder.compare(a, b, JUDGE)
    assert results.answer[0].startswith("By column:judge, B is better: +") and results.answer[0].endswith(ERRORS)
    assert len(results.answer[0].split()) <= 20 and not results.pick(statistic="difference, scores only")
    assert gap(results).verdict == "above"
    both = rejoinder.compare(a, b, [JUDGE, "column:words"])
    assert "The errors of column:judge are not known on these replies: label 60 of each." in both.answer
    numbers = rejoinder.compare(a, b, "column:words")
    assert not any("errors" in line for line in numbers.answer), "errors are those of verdicts"


@pytest.mark.parametrize(
    ("counts", "value", "reason"),
    [
        ((9, 40), None, "9 labels of A, ten of each are needed"),
        ((40, 0), None, "no label of B, ten of each are needed"),
        ((40, 40), 1.0, "all labels are the same"),
    ],
)
def test_labels_that_correct_nothing(
    counts: tuple[int, int], value: float | None, reason: str, sides: tuple[list[Example], list[Example]]
) -> None:
    a, b = (labelled(side, count, value) for side, count in zip(sides, counts, strict=True))
    results = rejoinder.compare(a, b, JUDGE, fail_under=0)
    assert results.answer[0].startswith("By column:judge, B is better: ") and results.answer[0].endswith(ERRORS)
    assert f"The labels do not correct the difference: {reason}." in results.answer
    assert gap(results).verdict == "above" and not results.pick(statistic="difference, scores only")
    assert results.gate is not None and results.gate.passed
    given = [line for line in (*a, *b) if line.quality]
    asked = rejoinder.compare(bare(sides[0]), bare(sides[1]), JUDGE, rated=given, fail_under=0)
    assert asked.gate is not None and not asked.gate.passed, "labels were given for this comparison"
    assert reason in asked.gate.text


def test_labels_of_fails_only_correct_nothing(sides: tuple[list[Example], list[Example]]) -> None:
    a, b = ([line if line.extra["judge"] == 0 else bare([line])[0] for line in _all_labelled(side)] for side in sides)
    results = rejoinder.compare(a, b, JUDGE)
    assert results.answer[0].startswith("By column:judge, B is better: ")
    assert "The labels do not correct the difference: no line that the judge passes is labelled." in results.answer
    estimated = rejoinder.estimate(b, JUDGE)
    assert "No estimate: no line that the judge passes is labelled. Label some of these too." in estimated.warnings


def _all_labelled(side: Sequence[Example]) -> list[Example]:
    """Return the side with a label of every reply; every third is bad."""
    return [
        replace(line, quality={"overall": float(place % 3 > 0)}, scales={"overall": (0.0, 1.0)})
        for place, line in enumerate(side)
    ]


def test_values_of_a_column_are_corrected_where_they_have_labels(sides: tuple[list[Example], list[Example]]) -> None:
    a, b = sides
    few = [line if line.extra["topic"] == "a" else bare([line])[0] for line in b]
    results = rejoinder.compare(a, few, JUDGE, by="topic")
    assert gap(results, group="a").known and not gap(results, group="b").known
    assert gap(results, group="b").reason == "no label of B, ten of each are needed"
    assert gap(results, "difference, scores only", "b").known and gap(results, group="b").verdict == "undefined"


def test_pairs_share_their_contexts() -> None:
    rng = np.random.default_rng(3)
    ease = rng.normal(size=200)
    sides = []
    for shift in (0.0, 0.1):
        good = (ease + 0.5 * rng.normal(size=200) + shift > 0).astype(float)
        judged = np.where(rng.random(200) < 0.9, good, 1 - good).astype(int)
        side = [
            Example((f"question {n}?",), f"reply {n} {shift}", quality={"overall": good[n]}, extra={"judge": judged[n]})
            for n in range(200)
        ]
        sides.append([replace(line, scales={"overall": (0.0, 1.0)}) for line in side])
    a, b = sides
    paired = gap(rejoinder.compare(a, b, JUDGE, pair_by="context"))
    apart = gap(rejoinder.compare(a, b, JUDGE, pair_by="none"))
    assert paired.value == pytest.approx(apart.value)
    assert paired.high - paired.low < 0.9 * (apart.high - apart.low)


def test_ratings_on_a_scale_count_if_they_are_given_for_the_comparison(
    sides: tuple[list[Example], list[Example]],
) -> None:
    stars = [
        [
            replace(line, quality={"overall": 1 + 4 * line.quality["overall"]}, scales={"overall": (1, 5)})
            for line in side
            if line.quality
        ]
        for side in sides
    ]
    a, b = map(bare, sides)
    results = rejoinder.compare(a, b, "column:words", rated=[*stars[0], *stars[1]])
    assert gap(results).method.startswith("prediction-powered mean with power tuning (PPI++), Student's t")
    assert 1 <= results.pick(statistic="mean rating")[0].value <= 5
    among = rejoinder.compare(stars[0], stars[1], "column:words")
    assert not among.pick(statistic="mean rating"), "any metric may be compared on lines that have ratings"


def test_the_command_reads_labels_and_exits_with_6(
    sides: tuple[list[Example], list[Example]], run: Run, tmp_path: Path
) -> None:
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for side, file in zip(sides, files, strict=True):
        write(bare(side), file)
    rows = [
        f"{line.id},{'pass' if line.quality['overall'] else 'fail'}" for side in sides for line in side if line.quality
    ]
    labels = tmp_path / "labels.csv"
    labels.write_text("\n".join(["id,label", *rows]), encoding="utf-8")
    outs = [tmp_path / f"report.{suffix}" for suffix in ("html", "md", "csv")]
    call = ("compare", *files, "--rated", labels, "-s", JUDGE, "--fail-under", 0)
    shown = run(*call, *(word for out in outs for word in ("-o", out)))
    assert shown.code == 6 and shown.out.startswith("The comparison is inconclusive by labels and column:judge: ")
    assert "by the scorer alone" in shown.out and "by the scorer alone" in outs[1].read_text()
    printed = json.loads(run(*call, "--json").out)
    expected = rejoinder.compare(*sides, JUDGE, fail_under=0)
    measured = [row for row in printed["results"] if row["statistic"] == "difference"]
    assert measured[0]["value"] == pytest.approx(gap(expected).value)
