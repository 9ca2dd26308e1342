"""`rejoinder.estimate` and its command: means and differences, what the scorer was worth, and what cannot be."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from conftest import Run, refused
from rated_systems import parted, replies, truth
from rejoinder.data.write import write
from rejoinder.errors import DataError, NothingScored, UsageError
from rejoinder.meta.estimates import Estimates


@pytest.fixture(scope="module")
def found() -> Estimates:
    bare, rated = parted(replies(), 100)
    return rejoinder.estimate(bare, "column:guess", rated=rated, plan=0.2)


def test_means_and_their_difference(found: Estimates) -> None:
    good, poor = found.systems
    assert (good.system, poor.system, found.ratings, found.lines) == ("good", "poor", 100, 800)
    for one in found.systems:
        assert one.low < truth(replies(), one.system) < one.high
        assert one.high - one.low < 0.75 * (one.alone.high - one.alone.low)
        assert one.worth > 1.7 * one.n and one.power == pytest.approx(0.01, abs=0.004)
    (apart,) = found.differences
    assert (apart.system, apart.minus, apart.verdict) == ("good", "poor", "higher")
    assert apart.low < truth(replies(), "good") - truth(replies(), "poor") < apart.high
    assert apart.p_adjusted == apart.p < 0.001


def test_the_answer_says_it_first(found: Estimates) -> None:
    first, shown, worth, *plans = found.answer
    assert first.startswith("People would rate good highest, ") and "on average (1 to 5)" in first
    assert shown.startswith("good is shown to be higher than poor: +1.") and shown.endswith("p < .001.")
    assert worth.startswith("That rests on 100 ratings of 800 lines and on what column:guess says of all, which was ")
    assert worth.endswith("in place of 100 to know as much.")
    assert len(plans) == 2 and plans[0].startswith("For an interval of ± 0.2 ")


def test_what_is_not_shown_to_differ_has_no_highest_first() -> None:
    bare, rated = parted(replies(), 100)
    alike = [replace(line, system="ab"[int((line.id or "").partition("-")[2]) % 2]) for line in bare]
    named = {line.id: line.system for line in alike}
    found = rejoinder.estimate(alike, "column:guess", rated=[replace(line, system=named[line.id]) for line in rated])
    assert found.differences[0].verdict == ""
    assert found.answer[0].startswith(f"Not shown to differ: {found.systems[0].system}, by estimate the highest, ")


def test_the_plan_needs_fewer_with_the_scorer(found: Estimates) -> None:
    for one in (*found.systems, *found.differences):
        assert one.plan is not None and one.plan.alone is not None and one.plan.scored is not None
        assert 20 < one.plan.scored < 0.8 * one.plan.alone


def test_ratings_among_the_lines_are_the_same(found: Estimates) -> None:
    bare, rated = parted(replies(), 100)
    chosen = {line.id: line for line in rated}
    among = rejoinder.estimate([chosen.get(line.id, line) for line in bare], "column:guess", plan=0.2)
    assert among.systems == found.systems and among.differences == found.differences
    assert (among.given, found.given, found.matched) == (0, 100, 100)


def test_the_order_of_lines_changes_nothing(found: Estimates) -> None:
    bare, rated = parted(replies(), 100)
    turned = rejoinder.estimate(bare[::-1], "column:guess", rated=rated[::-1], plan=0.2)
    for one, other in zip(turned.systems, found.systems, strict=True):
        assert (one.value, *one.ends) == pytest.approx((other.value, *other.ends))


def test_a_poor_scorer_does_no_harm() -> None:
    bare, rated = parted(replies(), 100)
    for name in ("length", lambda lines: [float(len(line.id)) for line in lines]):
        found = rejoinder.estimate(bare, name, rated=rated)
        for one in found.systems:
            assert one.high - one.low < 1.05 * (one.alone.high - one.alone.low)
        assert "was worth no rating here" in found.answer[2]


def test_a_scorer_that_counts_down_helps_as_much() -> None:
    bare, rated = parted(replies(), 100)
    up = rejoinder.estimate(bare, "column:guess", rated=rated)
    down = rejoinder.estimate(bare, lambda lines: [-7 * float(line.extra["guess"]) for line in lines], rated=rated)
    for one, other in zip(up.systems, down.systems, strict=True):
        assert one.ends == pytest.approx(other.ends) and one.power == pytest.approx(-7 * other.power)


def test_rated_lines_that_are_not_among_the_lines() -> None:
    lines = replies()
    rated, rest = lines[:100], [replace(line, quality={}, scales={}) for line in lines[100:]]
    found = rejoinder.estimate(rest, "column:guess", rated=rated)
    assert (found.given, found.matched, found.ratings, found.lines) == (100, 0, 100, 800)
    assert all(one.low < truth(lines, one.system) < one.high and one.worth > one.n for one in found.systems)


def test_a_scorer_that_scores_no_rated_line_is_not_said_to_disagree() -> None:
    bare, rated = parted(replies(), 100)
    apart = [replace(line, id=f"r{n}", response=f"{line.response} {n}", extra={}) for n, line in enumerate(rated)]
    with pytest.raises(NothingScored, match=r'^column:guess: none of 100 rated lines has a score \(no "guess"\)$'):
        rejoinder.estimate(bare, "column:guess", rated=apart)


def test_lines_chosen_by_hand_are_noticed() -> None:
    lines = replies()
    bare, best = parted(lines, 0)[0], sorted(lines, key=lambda line: -float(line.extra["guess"]))[:100]
    found = rejoinder.estimate(bare, "column:guess", rated=best)
    assert "good" in found.unlike
    assert any("score unlike the others, as chance would hardly choose them" in said for said in found.answer)


def test_three_systems_are_compared_pair_by_pair() -> None:
    bare, rated = parted(replies(200, means={"a": 4.0, "b": 3.9, "c": 2.0}), 120)
    found = rejoinder.estimate(bare, "column:guess", rated=rated)
    assert [one.system for one in found.systems][2] == "c" and len(found.differences) == 3
    assert all(one.p_adjusted >= one.p for one in found.differences)
    assert "is shown to be higher than c, and not shown to be higher than " in found.answer[1]


def test_of_many_systems_the_highest_is_compared_with_each() -> None:
    bare, rated = parted(replies(40, means={f"s{number:02}": 2 + number / 10 for number in range(22)}), 300)
    found = rejoinder.estimate(bare, "column:guess", rated=rated)
    assert len(found.differences) == 21 and {one.system for one in found.differences} == {found.systems[0].system}


def test_lines_without_systems_are_one() -> None:
    bare, rated = ([replace(line, system=None) for line in side] for side in parted(replies(), 100))
    found = rejoinder.estimate(bare, "column:guess", rated=rated)
    (one,) = found.systems
    assert (one.system, one.n, found.differences) == ("all lines", 100, ())
    assert found.answer[0].startswith("People would rate these replies 3.")
    some = rejoinder.estimate([*bare[:9], *parted(replies(), 0)[0][9:]], "column:guess", rated=rated)
    assert some.nameless == 9 and "9 lines without a system left out." in some.answer


def test_a_system_without_a_rating_has_no_estimate() -> None:
    bare, rated = parted(replies(), 200)
    found = rejoinder.estimate(bare, "column:guess", rated=[line for line in rated if line.system == "good"])
    assert [(one.system, one.known) for one in found.systems] == [("good", True), ("poor", False)]
    assert found.differences == () and "Without a rating, and so without an estimate: poor." in found.answer


def test_too_few_ratings_for_an_interval_are_said_to_be() -> None:
    bare, rated = parted(replies(), 200)
    found = rejoinder.estimate(bare, "column:guess", rated=[line for line in rated if line.system == "good"][:2])
    said = "good: no interval: ratings of fewer than three conversations, or nearly all of one."
    assert said in found.answer and not found.systems[0].has_interval


def test_empty_and_unscored_lines_count() -> None:
    lines = [replace(line, response="") if place % 9 == 0 else line for place, line in enumerate(replies())]
    lines = [replace(one, extra={}) if place % 7 == 0 else one for place, one in enumerate(lines)]
    bare, rated = parted(lines, 100)
    found = rejoinder.estimate(bare, "column:guess", rated=rated)
    assert found.lines == 800 and sum(found.unscored.values()) == 115
    assert any("115 lines without a score counted as middling ones" in said for said in found.answer)
    assert all(one.low < truth(lines, one.system) < one.high for one in found.systems)


def test_weights_are_read() -> None:
    """The good lines of each system rated four times as often, as their weights say."""
    lines, rng = replies(2000), random.Random(7)
    rated = []
    for line in lines:
        chance = 0.2 if line.quality["overall"] > 3 else 0.05
        if rng.random() < chance:
            rated.append(replace(line, extra={**line.extra, "rating_weight": 0.05 / chance}))
    bare = [replace(line, quality={}) for line in lines]
    found = rejoinder.estimate(bare, "column:guess", rated=rated)
    plain = rejoinder.estimate(bare, "length", rated=[replace(line, extra={}) for line in rated])
    assert all(one.low < truth(lines, one.system) < one.high for one in found.systems)
    assert all(one.low > truth(lines, one.system) for one in plain.systems)


def test_scales_are_brought_together() -> None:
    lines = replies()
    wide = [
        replace(line, quality={"overall": 25.0 * (line.quality["overall"] - 1)}, scales={"overall": (0, 100)})
        if number % 2
        else line
        for number, line in enumerate(lines)
    ]
    found = rejoinder.estimate(wide, "column:guess")
    assert found.scale == (0.0, 1.0)
    assert {one.system: one.value for one in found.systems}["good"] == pytest.approx((truth(lines, "good") - 1) / 4)


def test_no_interval_leaves_the_scale() -> None:
    """All but one of few ratings are the best: the mean is 4.9, and no interval goes beyond 5."""
    lines = [replace(line, quality={"overall": 4.0 if number < 2 else 5.0}) for number, line in enumerate(replies(20))]
    for one in rejoinder.estimate(lines, "length").systems:
        assert 1 <= one.low < one.value < one.high == 5
        assert one.alone.high == 5
    open_ended = [replace(line, scales={}) for line in lines]
    assert all(one.high > 5 for one in rejoinder.estimate(open_ended, "length").systems)


def test_half_points_of_people_are_not_taken_for_scores() -> None:
    lines = [
        replace(line, quality={"overall": number % 8 / 2 + 1}, extra={"guess": number % 8 / 2 + 1})
        for number, line in enumerate(replies(20))
    ]
    assert rejoinder.estimate(lines, "column:guess").own == 0


def test_ratings_of_whole_conversations_are_set_beside_scores_of_these() -> None:
    lines = [replace(line, context=("hi", "a b c", "and?"), extra={"level": "dialogue"}) for line in replies(30)]
    found = rejoinder.estimate(lines, "length")
    turns = rejoinder.estimate([replace(line, extra={}) for line in lines], "length")
    assert str(found.signature) != str(turns.signature) and found.ratings == 60


def test_what_cannot_be() -> None:
    bare, rated = parted(replies(20), 10)
    with pytest.raises(DataError, match="none of 40 lines has a rating. Give rated lines: --rated FILE"):
        rejoinder.estimate(bare, "length")
    with pytest.raises(UsageError, match="plan is 0, expected how far an interval may reach"):
        rejoinder.estimate(bare, "length", rated=rated, plan=0)
    with pytest.raises(UsageError, match="plan is '0.1', expected how far an interval may reach"):
        rejoinder.estimate(bare, "length", rated=rated, plan="0.1")  # type: ignore[arg-type]
    with pytest.raises(
        NothingScored,
        match="bleu-2: none of 40 lines has a score .no reference.. Say which column holds a good reply",
    ):
        rejoinder.estimate(bare, "bleu-2", rated=rated)


# the command


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    bare, rated = parted(replies(), 100)
    write(bare, tmp_path / "lines.jsonl")
    write(rated, tmp_path / "rated.jsonl")
    return tmp_path / "lines.jsonl", tmp_path / "rated.jsonl"


def test_the_command_says_what_python_says(run: Run, files: tuple[Path, Path], found: Estimates) -> None:
    call = ("estimate", files[0], "--rated", files[1], "-s", "column:guess", "--plan", 0.2)
    told = run(*call, "--json")
    assert (told.code, told.err) == (0, "")
    record: dict[str, Any] = json.loads(told.out)
    assert record == json.loads(json.dumps(found.to_dict()))
    assert [one["statistic"] for one in record["results"]] == ["mean", "mean", "difference"]
    assert record["results"][0].keys() == record["results"][2].keys()
    shown = run(*call)
    assert shown.out.startswith(found.answer[0]) and "by ratings alone" in shown.out
    assert "Of 100 rated lines 100 are among the lines." in shown.words


def test_reports(run: Run, files: tuple[Path, Path], tmp_path: Path) -> None:
    outs = [tmp_path / f"report.{suffix}" for suffix in ("html", "md", "tex", "csv", "json")]
    given = [word for out in outs for word in ("-o", out)]
    assert run("estimate", files[0], "--rated", files[1], "-s", "column:guess", *given).code == 0
    page = outs[0].read_text()
    assert "good, ratings alone" in page and "The scorer narrows the interval of 2 of 2." in page
    assert len(outs[3].read_text().splitlines()) == 4, "two means and a difference"
    assert json.loads(outs[4].read_text())["counts"]["ratings"] == 100


def test_the_command_refuses(run: Run, files: tuple[Path, Path], tmp_path: Path) -> None:
    refused(
        run("estimate", files[0], "--rated", files[1], "-s", "length", "--plan", -1),
        2,
        "plan is -1.0, expected how far an interval may reach, a number over 0",
    )
    (tmp_path / "empty.jsonl").write_text("")
    assert run("estimate", files[0], "--rated", tmp_path / "empty.jsonl", "-s", "length").code == 3
    (tmp_path / "study.json").write_text("{}")
    assert run("estimate", files[0], "--rated", tmp_path, "-s", "length").code == 2
