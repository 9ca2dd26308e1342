"""`rejoinder.estimate` and its command: means, differences, ratings saved, and what is refused."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from conftest import Run, refused
from rated_systems import parted, replies, truth
from rejoinder.data.write import write
from rejoinder.errors import DataError, NothingScored, UsageError
from rejoinder.estimates import Estimate, one
from rejoinder.example import Example
from rejoinder.report.results import Results


@pytest.fixture(scope="module")
def results() -> Results:
    bare, rated = parted(replies(), 100)
    return rejoinder.estimate(bare, "column:guess", rated=rated, plan=0.2)


def means(results: Results) -> list[Estimate]:
    """The mean ratings of the systems; of all lines only where no line names a system."""
    every = results.pick(statistic="mean rating")
    return [mean for mean in every if mean.system] or every


def measured(results: Results, statistic: str, system: str, versus: str = "") -> Estimate:
    return results.one(statistic=statistic, system=system, versus=versus)


def width(estimate: Estimate) -> float:
    return estimate.high - estimate.low


def without_ratings(lines: Sequence[Example]) -> list[Example]:
    return [replace(line, quality={}, scales={}) for line in lines]


def test_means_and_their_difference(results: Results) -> None:
    assert [mean.system for mean in means(results)] == ["good", "poor"]
    counts = results.about.counts
    assert (counts["ratings"], counts["lines"], counts["rated"], counts["matched"]) == (100, 800, 100, 100)
    for mean in means(results):
        assert mean.low < truth(replies(), mean.system) < mean.high
        assert width(mean) < 0.75 * width(measured(results, "mean rating, ratings only", mean.system))
        assert measured(results, "effective ratings", mean.system).value > 1.7 * mean.n
        assert measured(results, "power", mean.system).value == pytest.approx(0.01, abs=0.004)
        assert measured(results, "mean score", mean.system).n == 400
    (difference,) = results.pick(statistic="difference")
    assert (difference.system, difference.versus, difference.verdict) == ("good", "poor", "above")
    assert difference.low < truth(replies(), "good") - truth(replies(), "poor") < difference.high
    assert difference.p_adjusted == difference.p < 0.001


def test_the_answer_begins_with_the_result(results: Results) -> None:
    first, second, overall, saved, *plans = results.answer
    assert first.startswith("good has a higher mean rating than poor: ") and len(first.split()) <= 20
    assert second.startswith("The difference is significant: good - poor +1.") and "p < .001" in second
    assert overall.startswith("Over all lines the mean rating is 3.")
    assert saved.startswith("These means use 100 ratings of 800 lines and the scores of column:guess, which saved ")
    assert len(plans) == 3 and all(plan.startswith("An interval of ± 0.2 needs ") for plan in plans)
    assert results.warnings == ()


def test_an_inconclusive_difference_names_no_higher_system() -> None:
    bare, rated = parted(replies(), 100)
    mixed = [replace(line, system="ab"[int((line.id or "").partition("-")[2]) % 2]) for line in bare]
    systems = {line.id: line.system for line in mixed}
    renamed = [replace(line, system=systems[line.id]) for line in rated]
    results = rejoinder.estimate(mixed, "column:guess", rated=renamed)
    assert results.one(statistic="difference").verdict == "inconclusive"
    assert results.answer[0].startswith("No significant difference: the mean rating of ")


def test_the_plan_needs_fewer_ratings_with_the_scorer(results: Results) -> None:
    for mean in means(results):
        scored = measured(results, "ratings needed", mean.system).value
        assert 20 < scored < 0.8 * measured(results, "ratings needed, ratings only", mean.system).value


def test_ratings_among_the_lines_and_another_order_give_the_same(results: Results) -> None:
    bare, rated = parted(replies(), 100)
    by_id = {line.id: line for line in rated}
    among = rejoinder.estimate([by_id.get(line.id, line) for line in bare], "column:guess", plan=0.2)
    assert among.estimates == results.estimates and among.about.counts["rated"] == 0
    backwards = rejoinder.estimate(bare[::-1], "column:guess", rated=rated[::-1], plan=0.2)
    for estimate, other in zip(backwards.estimates, results.estimates, strict=True):
        assert (estimate.value, *estimate.ends) == pytest.approx((other.value, *other.ends), nan_ok=True)


def test_a_poor_scorer_does_no_harm() -> None:
    bare, rated = parted(replies(), 100)
    for scorer in ("length", lambda lines: [float(len(line.id)) for line in lines]):
        results = rejoinder.estimate(bare, scorer, rated=rated)
        for mean in means(results):
            assert width(mean) < 1.05 * width(measured(results, "mean rating, ratings only", mean.system))
        assert "saved no ratings" in results.answer[3]


def test_a_scorer_whose_low_scores_are_good_helps_equally(results: Results) -> None:
    bare, rated = parted(replies(), 100)
    down = rejoinder.estimate(bare, lambda lines: [-7 * float(line.extra["guess"]) for line in lines], rated=rated)
    for mean, other in zip(means(results), means(down), strict=True):
        assert mean.ends == pytest.approx(other.ends)
        power = measured(results, "power", mean.system).value
        assert power == pytest.approx(-7 * measured(down, "power", mean.system).value)


def test_rated_lines_that_are_not_among_the_lines() -> None:
    lines = replies()
    results = rejoinder.estimate(without_ratings(lines[100:]), "column:guess", rated=lines[:100])
    counts = results.about.counts
    assert (counts["rated"], counts["matched"], counts["ratings"], counts["lines"]) == (100, 0, 100, 800)
    for mean in means(results):
        assert mean.low < truth(lines, mean.system) < mean.high
        assert measured(results, "effective ratings", mean.system).value > mean.n


def test_a_system_with_rated_lines_only_is_its_own_population() -> None:
    lines = replies(30)
    good, poor = ([line for line in lines if line.system == name] for name in ("good", "poor"))
    results = rejoinder.estimate(without_ratings(good), "column:guess", rated=[*good[:20], *poor])
    mean = one(means(results), system="poor")
    assert mean.value == pytest.approx(truth(lines, "poor")) and mean.n == 30


def test_lines_selected_by_hand_are_noticed() -> None:
    lines = replies()
    best = sorted(lines, key=lambda line: -float(line.extra["guess"]))[:100]
    results = rejoinder.estimate(without_ratings(lines), "column:guess", rated=best)
    assert "good" in results.about.counts["differing"]
    assert any("more than a random sample explains" in warning for warning in results.warnings)


def test_three_systems_are_compared_in_pairs() -> None:
    bare, rated = parted(replies(200, means={"a": 4.0, "b": 3.9, "c": 2.0}), 120)
    results = rejoinder.estimate(bare, "column:guess", rated=rated)
    differences = results.pick(statistic="difference")
    assert means(results)[2].system == "c" and len(differences) == 3
    assert all(difference.p_adjusted >= difference.p for difference in differences)
    assert " is significantly higher than c; the difference from " in results.answer[1]


def test_pairs_of_systems_that_are_not_shown_count_as_tested() -> None:
    bare, rated = parted(replies(40, means={f"s{number:02}": 2 + number / 10 for number in range(22)}), 300)
    results = rejoinder.estimate(bare, "column:guess", rated=rated)
    differences = results.pick(statistic="difference")
    assert len(differences) == 21 and {difference.system for difference in differences} == {means(results)[0].system}
    smallest = min(differences, key=lambda difference: difference.p)
    assert smallest.p_adjusted == pytest.approx(min(1, 22 * 21 / 2 * smallest.p))


def test_all_lines_count_by_the_lines_of_each_system() -> None:
    lines = [line for number, line in enumerate(replies()) if line.system == "good" or number % 8 == 1]
    of = {name: [line for line in lines if line.system == name] for name in ("good", "poor")}
    chosen = [*of["good"][:50], *of["poor"][:50]]
    results = rejoinder.estimate(without_ratings(lines), "column:guess", rated=chosen)
    overall = measured(results, "mean rating", "")
    expected = sum(line.quality["overall"] for line in lines) / len(lines)
    assert len(of["poor"]) == 100 and overall.n == 100 and overall.low < expected < overall.high
    alone = measured(results, "mean rating, ratings only", "").value
    assert alone == pytest.approx(sum(len(of[one]) * truth(chosen, one) for one in of) / 500)
    unrated = rejoinder.estimate(without_ratings(lines), "column:guess", rated=of["good"][:50])
    assert not one(unrated.estimates, statistic="mean rating", system="").known, "no rating of one system"


def labelled(count: int, *, bad: int, caught: int, systems: str = "") -> list[Example]:
    """Lines with a judge's verdict, of which the first `count` have a label."""
    lines = []
    for number in range(4 * count):
        good = number % count >= bad
        verdict = number % count >= caught
        extra = {"judge": int(verdict), "number": verdict + number % 7 / 9}
        quality = {"overall": float(good)} if number < count else {}
        system = systems[number % len(systems)] if systems else None
        line = Example(("hi",), f"reply {number}", id=f"{number}", system=system, quality=quality, extra=extra)
        lines.append(replace(line, scales={"overall": (0.0, 1.0)} if quality else {}, context=(f"question {number}",)))
    return lines


def test_labels_have_intervals_of_pass_rates() -> None:
    from rejoinder.stats.pass_rate import pass_rate

    lines = labelled(100, bad=5, caught=8)
    (mean,) = means(rejoinder.estimate(lines, "column:judge"))
    verdicts = np.array([line.extra["judge"] for line in lines])
    labels, places = np.array([line.quality["overall"] for line in lines[:100]]), np.arange(400)
    expected = pass_rate(labels, verdicts[:100], places[:100], verdicts, places).estimate
    assert (mean.value, *mean.ends) == pytest.approx((expected.value, *expected.ends))
    (by_number,) = means(rejoinder.estimate(lines, "column:number"))
    assert by_number.value - by_number.low > by_number.high - by_number.value, "a share near 1 may rather be lower"
    assert 0.97 < by_number.high < 1
    alone = rejoinder.estimate(lines, "column:judge").one(statistic="mean rating, ratings only")
    assert alone.low < 0.91 and alone.high < 1


def test_labels_that_are_all_good_have_an_interval() -> None:
    for scorer in ("column:judge", "column:number"):
        (mean,) = means(rejoinder.estimate(labelled(50, bad=0, caught=4), scorer))
        assert mean.value == 1 and 0.9 < mean.low < 0.98 and mean.high == 1


def test_plans_for_the_judge_and_for_a_difference() -> None:
    lines = labelled(250, bad=45, caught=28, systems="ab")
    results = rejoinder.estimate(lines, "column:judge", plan={"caught": 0.1361, "difference": 0.2})
    caught, difference = (results.one(statistic="ratings needed", group=of) for of in ("caught", "difference"))
    assert caught.value == pytest.approx(250, abs=3) and 25 < difference.value < 50
    assert results.answer[-2].startswith("The share of bad replies caught to ± 0.1361 needs 250 labels; there are 250")
    assert " of each to be shown with probability .8." in results.answer[-1]
    too_small = rejoinder.estimate(lines, "column:number", plan={"caught": 0.1, "difference": 0.01})
    assert not any(row.known for row in too_small.pick(statistic="ratings needed"))
    assert too_small.answer[-2].endswith("only labels and a judge of verdicts say how many bad replies it catches.")
    assert "cannot be shown with the 500 replies of each that there are" in too_small.answer[-1]
    good = rejoinder.estimate(labelled(50, bad=0, caught=4), "column:judge", plan={"caught": 0.1, "difference": 0.1})
    assert good.answer[-2].endswith("cannot be planned: no reply is labelled bad.")
    assert good.answer[-1] == "A difference cannot be planned: ratings of two systems are needed."
    with pytest.raises(UsageError, match="expected one of rate, caught, difference"):
        rejoinder.estimate(lines, "column:judge", plan={"kappa": 0.1})


def test_lines_without_systems_are_one_group() -> None:
    bare, rated = ([replace(line, system=None) for line in side] for side in parted(replies(), 100))
    results = rejoinder.estimate(bare, "column:guess", rated=rated)
    (mean,) = means(results)
    assert (mean.system, mean.n, results.pick(statistic="difference")) == ("", 100, [])
    assert results.answer[0].startswith("The mean rating of these replies is 3.") and "all lines" in str(results)
    some = rejoinder.estimate([*bare[:9], *parted(replies(), 0)[0][9:]], "column:guess", rated=rated)
    assert some.about.counts["without_system"] == 9 and "9 lines without a system left out." in some.warnings


def test_a_system_without_a_rating_has_no_estimate() -> None:
    bare, rated = parted(replies(), 200)
    results = rejoinder.estimate(bare, "column:guess", rated=[line for line in rated if line.system == "good"])
    assert [(mean.system, mean.known) for mean in means(results)] == [("good", True), ("poor", False)]
    assert results.pick(statistic="difference") == []
    assert "No estimate for systems without a rated line: poor." in results.warnings


def test_two_ratings_give_no_interval() -> None:
    bare, rated = parted(replies(), 200)
    results = rejoinder.estimate(bare, "column:guess", rated=[line for line in rated if line.system == "good"][:2])
    assert not means(results)[0].has_interval and any("no interval" in warning for warning in results.warnings)
    assert math.isnan(measured(results, "effective ratings", "good").value)


def test_only_lines_without_a_system_are_rated() -> None:
    bare, rated = parted(replies(10), 4)
    nameless = [replace(line, system=None, id=f"x{place}", response="other") for place, line in enumerate(rated)]
    results = rejoinder.estimate(bare, "column:guess", rated=nameless)
    assert results.answer[0] == "No system has a rated line."


def test_empty_and_unscored_lines_count() -> None:
    lines = [replace(line, response="") if place % 9 == 0 else line for place, line in enumerate(replies())]
    lines = [replace(line, extra={}) if place % 7 == 0 else line for place, line in enumerate(lines)]
    bare, rated = parted(lines, 100)
    results = rejoinder.estimate(bare, "column:guess", rated=rated)
    assert results.about.scorers["column:guess"]["unscored"] == 115
    assert results.one(statistic="mean score", system="").unscored == 115
    assert any(warning.startswith("115 lines without a score got the mean score") for warning in results.warnings)
    assert all(mean.low < truth(lines, mean.system) < mean.high for mean in means(results))


def test_weights_are_read() -> None:
    lines, rng = replies(2000), random.Random(7)
    rated = []
    for line in lines:  # lines with good ratings are rated four times as often
        chance = 0.2 if line.quality["overall"] > 3 else 0.05
        if rng.random() < chance:
            rated.append(replace(line, extra={**line.extra, "rating_weight": 0.05 / chance}))
    weighted = rejoinder.estimate(without_ratings(lines), "column:guess", rated=rated)
    plain = rejoinder.estimate(without_ratings(lines), "length", rated=[replace(line, extra={}) for line in rated])
    assert all(mean.low < truth(lines, mean.system) < mean.high for mean in means(weighted))
    assert all(mean.low > truth(lines, mean.system) for mean in means(plain))


def test_several_scales_are_brought_to_0_to_1() -> None:
    lines = replies()
    wide = [
        replace(line, quality={"overall": 25.0 * (line.quality["overall"] - 1)}, scales={"overall": (0, 100)})
        if number % 2
        else line
        for number, line in enumerate(lines)
    ]
    results = rejoinder.estimate(wide, "column:guess")
    assert results.about.options["scale"] == (0.0, 1.0)
    assert one(means(results), system="good").value == pytest.approx((truth(lines, "good") - 1) / 4)


def test_intervals_stay_inside_the_scale_of_the_ratings() -> None:
    lines = [replace(line, quality={"overall": 4.0 if number < 2 else 5.0}) for number, line in enumerate(replies(20))]
    results = rejoinder.estimate(lines, "length")
    for mean in means(results):
        assert 1 <= mean.low < mean.value < mean.high == 5
        assert measured(results, "mean rating, ratings only", mean.system).high == 5
    open_ended = rejoinder.estimate([replace(line, scales={}) for line in lines], "length")
    assert all(mean.high > 5 for mean in means(open_ended)) and open_ended.layout.chart is None


def test_scores_read_as_ratings_are_noticed() -> None:
    lines = [replace(line, quality={"overall": 1.0123 + number / 17}) for number, line in enumerate(replies(20))]
    copied = [replace(line, extra={"guess": line.quality["overall"]}, scales={}) for line in lines]
    results = rejoinder.estimate(copied, "column:guess")
    assert results.about.counts["copied"] > 30 and "--map rating=NAME" in results.warnings[0]
    halves = [replace(line, quality={"overall": number % 8 / 2 + 1}) for number, line in enumerate(copied)]
    halves = [replace(line, extra={"guess": line.quality["overall"]}) for line in halves]
    assert rejoinder.estimate(halves, "column:guess").about.counts["copied"] == 0, "raters may give half points"


def test_ratings_of_whole_conversations_use_scores_of_whole_conversations() -> None:
    lines = [replace(line, context=("hi", "a b c", "and?"), extra={"level": "dialogue"}) for line in replies(30)]
    dialogues = rejoinder.estimate(lines, "length")
    turns = rejoinder.estimate([replace(line, extra={}) for line in lines], "length")
    assert dialogues.about.signatures != turns.about.signatures and dialogues.about.counts["ratings"] == 60


def test_refused() -> None:
    bare, rated = parted(replies(20), 10)
    with pytest.raises(DataError, match="none of 40 lines has a rating"):
        rejoinder.estimate(bare, "length")
    for plan in (0, "0.1"):
        with pytest.raises(UsageError, match="expected half the width of an interval"):
            rejoinder.estimate(bare, "length", rated=rated, plan=plan)  # type: ignore[arg-type]
    with pytest.raises(NothingScored, match="bleu-2: none of 40 lines has a score .no reference.. Say which column"):
        rejoinder.estimate(bare, "bleu-2", rated=rated)
    others = [replace(line, id=f"r{n}", response=f"{line.response} {n}", extra={}) for n, line in enumerate(rated)]
    with pytest.raises(NothingScored, match=r'^column:guess: none of 10 rated lines has a score \(no "guess"\)$'):
        rejoinder.estimate(bare, "column:guess", rated=others)


# the command


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    bare, rated = parted(replies(), 100)
    write(bare, tmp_path / "lines.jsonl")
    write(rated, tmp_path / "rated.jsonl")
    return tmp_path / "lines.jsonl", tmp_path / "rated.jsonl"


def test_the_command_gives_the_same(run: Run, files: tuple[Path, Path], results: Results) -> None:
    call = ("estimate", files[0], "--rated", files[1], "-s", "column:guess", "--plan", 0.2)
    printed = run(*call, "--json")
    assert (printed.code, printed.err) == (0, "")
    assert json.loads(printed.out) == json.loads(json.dumps(results.to_dict()))
    shown = run(*call)
    assert shown.out.startswith(results.answer[0]) and "ratings only" in shown.out
    assert "100 of 100 rated lines are among the lines." in shown.words


def test_plans_on_the_command_line(run: Run, files: tuple[Path, Path]) -> None:
    call = ("estimate", files[0], "--rated", files[1], "-s", "column:guess")
    printed = run(*call, "--plan", 0.2, "--plan", "difference=0.5", "--json")
    bare, rated = parted(replies(), 100)
    expected = rejoinder.estimate(bare, "column:guess", rated=rated, plan={"rate": 0.2, "difference": 0.5})
    assert json.loads(printed.out) == json.loads(json.dumps(expected.to_dict()))
    for word in ("much", "kappa=0.1", "caught=0"):
        assert run(*call, "--plan", word).code == 2


def test_reports_and_figures(run: Run, files: tuple[Path, Path], tmp_path: Path) -> None:
    outs = [tmp_path / f"report.{suffix}" for suffix in ("html", "md", "tex", "csv", "json")]
    words = [word for out in outs for word in ("-o", out)]
    call = ("estimate", files[0], "--rated", files[1], "-s", "column:guess", *words, "--figures", tmp_path / "charts")
    assert run(*call).code == 0
    assert "effective ratings" in outs[0].read_text() and "has a higher mean rating than" in outs[1].read_text()
    rows = outs[3].read_text().splitlines()
    assert len(rows) == 1 + 3 * 5 + 4, "five rows a system and for all lines, four a difference"
    assert json.loads(outs[4].read_text())["counts"]["ratings"] == 100
    assert {path.suffix for path in (tmp_path / "charts").iterdir()} == {".svg", ".png", ".pdf"}


def test_the_command_refuses(run: Run, files: tuple[Path, Path], tmp_path: Path) -> None:
    refused(
        run("estimate", files[0], "--rated", files[1], "-s", "length", "--plan", -1),
        2,
        "plan is -1.0, expected half the width of an interval, a number over 0",
    )
    (tmp_path / "empty.jsonl").write_text("")
    assert run("estimate", files[0], "--rated", tmp_path / "empty.jsonl", "-s", "length").code == 3
    (tmp_path / "study.json").write_text("{}")
    assert run("estimate", files[0], "--rated", tmp_path, "-s", "length").code == 2
