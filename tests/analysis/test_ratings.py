"""`ratings` from examples to estimates, rated lines and a report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.analysis.ratings import ASIDE
from rejoinder.annotation.study import annotate
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Rating
from rejoinder.report.results import Results
from studies import rate_all, raters, replies

NAMES = ("ann", "bob", "cleo", "dora")


def rated(lines: int = 60, seed: int = 0, noise: tuple[float, ...] = (0.4, 0.5, 0.6, 9.0)) -> list[Example]:
    """Return lines of three systems; a rater of noise 9 answers at random."""
    rng = np.random.default_rng(seed)
    examples = []
    for number in range(lines):
        true = 1 + 2 * (number % 3)
        given = [
            Rating(
                float(rng.integers(1, 6) if width == 9 else np.clip(round(true + rng.normal(0, width)), 1, 5)),
                rater=name,
            )
            for name, width in zip(NAMES, noise, strict=False)
        ]
        examples.append(
            Example(
                (f"about {number // 3}",),
                f"reply {number}",
                id=str(number),
                system="abc"[number % 3],
                ratings=tuple(given),
                scales={"overall": (1, 5)},
            )
        )
    return examples


def lines_of(results: Results) -> list[Example]:
    return list(rejoinder.examples_of(list(results.layout.lines or ())))


def left_out(results: Results) -> dict[str, str]:
    return {rater["rater"]: rater["why"] for data in results.about.data for rater in data["left_out"]}


def test_the_mean_of_a_system_with_one_context_has_no_interval() -> None:
    lines = rated()
    lines[5] = replace(lines[5], system="once")
    row = rejoinder.ratings(lines, resamples=100).one(system="once", statistic="mean rating")
    assert (row.n, row.has_interval) == (1, False) and "1 context, 4 are needed" in row.reason


def test_kappa_needs_two_other_raters() -> None:
    """Ann and bob rate half of the lines, cleo and dora, who answers at random, the other half."""
    lines = [
        replace(line, ratings=line.ratings[:2] if number % 2 else line.ratings[2:])
        for number, line in enumerate(rated())
    ]
    results = rejoinder.ratings(lines, min_kappa=0.2, resamples=100)
    assert left_out(results) == {} and results.about.data[0]["rated"] == len(lines)
    assert results.one(statistic="kappa", rater="dora", versus="").method.startswith("with 1 other rater;")


@pytest.mark.parametrize("aggregation", ["mean", "median", "majority", "z-score"])
@pytest.mark.filterwarnings("error")
def test_a_rater_who_read_the_scale_upside_down_is_named(aggregation: Any) -> None:
    """Of three raters such a one lowers the kappa of all."""
    lines = [
        replace(line, ratings=tuple(replace(r, value=6 - r.value) if r.rater == "cleo" else r for r in line.ratings))
        for line in rated(noise=(0.8, 0.9, 0.6))
    ]
    results = rejoinder.ratings(lines, aggregation=aggregation, min_kappa=0.2, resamples=100)
    assert len(left_out(results)) == 3 and results.about.data[0]["rated"] == 0
    assert results.answer[0].startswith("3 raters show") and "3 raters with a kappa below 0.2" in results.answer[2]
    assert any(sentence.startswith("cleo (Spearman -0.") for sentence in results.answer)
    assert not any("upside down" in sentence for sentence in rejoinder.ratings(rated(), resamples=100).answer)


def test_of_many_who_guess_nobody_is_said_to_read_the_scale_upside_down() -> None:
    rng = np.random.default_rng(1)
    lines = []
    for n in range(1500):
        given = tuple(Rating(float(rng.integers(1, 6)), rater=f"w{who}") for who in rng.choice(60, 3, replace=False))
        lines.append(Example((f"about {n}",), "x", id=str(n), ratings=given))
    results = rejoinder.ratings(lines, resamples=100)
    assert any(row.high < 0 for row in results.pick(statistic="spearman", versus="")), "of 60 intervals some miss"
    assert not any("upside down" in sentence for sentence in results.answer)


def test_an_interval_of_two_raters_depends_on_their_common_lines_only() -> None:
    lines = [replace(line, context=(f"about {number}",)) for number, line in enumerate(rated(400, 2, (1.5, 1.5)))]
    apart = [replace(line, ratings=line.ratings[:1]) for line in lines[10:]]
    widths = []
    for rest in ([], apart):
        row = rejoinder.ratings([*lines[:10], *rest]).one(statistic="spearman", rater="ann", versus="bob")
        widths.append(row.high - row.low)
        assert row.contexts == 10
    assert widths[1] > 0.93 * widths[0]


def test_lines_without_a_scale_count_as_on_the_only_one() -> None:
    lines = [replace(line, scales={}) if number % 2 else line for number, line in enumerate(rated())]
    half, whole = (rejoinder.ratings(given, resamples=100) for given in (lines, rated()))
    assert [line.quality for line in lines_of(half)] == [line.quality for line in lines_of(whole)]


def test_a_rater_who_disagrees_is_left_out_if_asked_and_nothing_is_deleted() -> None:
    lines = rated()
    results = rejoinder.ratings(lines, min_kappa=0.2, resamples=100)
    assert list(left_out(results)) == ["dora"]
    headline, others = (results.one(statistic="alpha interval", group=group) for group in ("", "left"))
    assert others.value > headline.value + 0.2
    assert headline == rejoinder.ratings(lines, resamples=100).one(statistic="alpha interval", group="")
    assert results.one(statistic="raters left out", group="").value == 1
    for line, made in zip(lines, lines_of(results), strict=True):
        assert [rating.rater for rating in made.ratings] == ["ann", "bob", "cleo"]
        assert made.quality["overall"] == pytest.approx(np.mean([rating.value for rating in line.ratings[:3]]))
        (aside,) = made.extra[ASIDE]["overall"]
        assert (aside["rater"], aside["value"]) == ("dora", line.ratings[3].value) and "kappa" in aside["why"]
    means = results.pick(statistic="mean rating", level="system")
    assert [row.system for row in means] == ["c", "b", "a"] and all(row.low < row.value < row.high for row in means)
    assert sum(row.value for row in results.pick(statistic="share of ratings", system="a")) == pytest.approx(1)
    worst = results.cases[0].values["ratings"]
    assert max(worst.values()) - min(worst.values()) >= 1 and set(worst) == {"ann", "bob", "cleo"}


def test_nobody_is_left_out_for_disagreeing_by_default() -> None:
    results = rejoinder.ratings(rated(), resamples=100)
    assert left_out(results) == {} and not results.pick(by="raters")
    assert [row.rater for row in results.pick(statistic="distance to the others", verdict="above")] == ["dora"]
    assert any("is a suspect, further from the others than chance explains (dora; " in line for line in results.answer)
    assert all(len(line.ratings) == 4 for line in lines_of(results))


def test_a_rule_by_kappa_shows_its_effect_by_chance_alone() -> None:
    """Thirty equally good raters: the rule leaves out half of them, and nearly as many after a shuffle."""
    rng = np.random.default_rng(4)
    lines = []
    for number in range(300):
        values = np.clip(np.round(3 + rng.normal() + rng.normal(0, 2, 3)), 1, 5)
        names = rng.choice(30, 3, replace=False)
        given = tuple(Rating(float(value), rater=f"r{name}") for value, name in zip(values, names, strict=True))
        lines.append(Example((f"about {number}",), "x", id=str(number), ratings=given))
    results = rejoinder.ratings(lines, min_kappa=0.2, resamples=0)
    chance = results.one(statistic="raters left out", group="by chance")
    alpha = {group: results.one(statistic="alpha interval", group=group).value for group in ("", "left", "by chance")}
    assert 8 <= len(left_out(results)) <= 25
    assert chance.value == pytest.approx(len(left_out(results)), abs=6)
    assert alpha["by chance"] == pytest.approx(alpha["left"], abs=0.1) and alpha["by chance"] > alpha[""] + 0.05
    assert any(sentence.startswith("By chance alone this rule leaves out about ") for sentence in results.answer)


def test_other_commands_read_the_written_lines(tmp_path: Path) -> None:
    results = rejoinder.ratings(rated(), aggregation="median", resamples=100)
    results.save(tmp_path / "one.jsonl")
    again = list(rejoinder.read(tmp_path / "one.jsonl"))
    assert [line.rating() for line in again] == [line.quality["overall"] for line in lines_of(results)]
    assert len(again) == 60


def test_uncertain_lines_have_no_rating_and_keep_theirs_aside() -> None:
    results = rejoinder.ratings(rated(), aggregation="mace", share=0.8, min_kappa=0.2, resamples=100)
    without = [line for line in lines_of(results) if not line.quality]
    assert len(without) == results.about.data[0]["uncertain"] == 12
    assert all(line.rating() is None and len(line.extra[ASIDE]["overall"]) == 4 for line in without)
    assert {row.rater for row in results.pick(statistic="competence")} == {"ann", "bob", "cleo"}


def test_checks_and_lines_without_ratings_are_counted_and_not_analysed() -> None:
    check = Example(("c",), "r", id="x", ratings=(Rating(5, rater="bob"),), extra={"check": [1, 2]})
    bare = Example(("c",), "r", id="y", quality={"overall": 3})
    results = rejoinder.ratings([*rated(), check, bare], resamples=100)
    assert results.about.counts == {"examples": 61, "checks": 1, "unrated": 1}
    assert left_out(results) == {"bob": "missed 1 of 1 attention check"}
    assert (
        results.one(statistic="alpha interval", group="all").known and results.about.data[0]["passing"]["raters"] == 3
    )
    assert lines_of(results)[-1].quality == {"overall": 3} and len(lines_of(results)) == 61


def test_a_missed_check_counts_with_too_few_lines_for_agreement() -> None:
    check = Example(("c",), "r", id="x", ratings=(Rating(5, rater="bob"),), extra={"check": 1})
    results = rejoinder.ratings([*rated(2), check], resamples=100)
    assert list(left_out(results)) == ["bob"]
    assert results.answer[0].startswith("The agreement of the raters is unknown: ")


def test_other_dimensions_stay_as_they_are() -> None:
    lines = [
        Example(
            (f"c{number}",),
            "r",
            id=str(number),
            ratings=(Rating(number % 5, rater="ann"), Rating(number % 5, rater="bob"), Rating(1, "fluent", "ann")),
            quality={"fluent": 1.0},
        )
        for number in range(20)
    ]
    made = lines_of(rejoinder.ratings(lines, resamples=100))
    assert all(line.quality["fluent"] == 1.0 and len(line.ratings) == 3 for line in made)


def test_data_sets_and_scales_are_kept_apart() -> None:
    first = [replace(line, dataset="one") for line in rated(30)]
    second = [
        replace(line, dataset="two", scales={"overall": (0, 10)} if number % 2 else {"overall": (1, 5)})
        for number, line in enumerate(rated(30, seed=1))
    ]
    results = rejoinder.ratings([*first, *second], resamples=100)
    assert [data["dataset"] for data in results.about.data] == ["one", "two"]
    for line, made in zip([*first, *second], lines_of(results), strict=True):
        assert made.quality["overall"] == pytest.approx(np.mean([rating.value for rating in line.ratings]), abs=1e-6)
    assert all(sentence.startswith(("one: ", "two: ")) for sentence in results.answer)


def test_the_same_call_gives_the_same_numbers_in_any_order_of_lines() -> None:
    first, again, reversed_ = (
        rejoinder.ratings(lines, aggregation="mace", resamples=100, seed=3)
        for lines in (rated(), rated(), rated()[::-1])
    )
    assert first.to_dict() == again.to_dict()
    assert first.pick(statistic="alpha interval") == reversed_.pick(statistic="alpha interval")


@pytest.mark.parametrize("lines", [[], [Example(("c",), "r", quality={"overall": 3})]])
def test_single_ratings_are_needed(lines: list[Example]) -> None:
    with pytest.raises(DataError, match="single rating"):
        rejoinder.ratings(lines)


@pytest.mark.parametrize(
    "option",
    [("aggregation", "most"), ("share", 0.5), ("min_kappa", 2), ("min_kappa", float("nan")), ("kappa", "cubic")],
)
def test_options_out_of_range_are_refused(option: tuple[str, Any]) -> None:
    with pytest.raises(UsageError):
        rejoinder.ratings(rated(9), **dict([option]))


def test_a_rating_whose_square_has_no_value_is_refused() -> None:
    lines = [replace(line, scales={}) for line in rated(9)]
    lines[3] = replace(lines[3], ratings=(Rating(1e300, rater="ann"),))
    with pytest.raises(DataError, match="beyond"):
        rejoinder.ratings(lines)


def test_an_id_is_of_one_line_of_each_system() -> None:
    lines = [replace(line, id=str(number // 3)) for number, line in enumerate(rated())]
    assert rejoinder.ratings(lines, resamples=100).about.data[0]["rated"] == 60
    with pytest.raises(DataError, match="already given"):
        rejoinder.ratings([*lines, lines[0]], resamples=100)


def test_agreement_on_three_lines_is_not_significant() -> None:
    few = [
        Example((f"about {number}",), f"reply {number}", ratings=(Rating(one, rater="ann"), Rating(other, rater="bob")))
        for number, (one, other) in enumerate([(4, 5), (2, 1), (3, 3)])
    ]
    assert rejoinder.ratings(few).answer[0].startswith("2 raters show no significant agreement beyond chance: ")
    headline = rejoinder.ratings(rated(), resamples=100).answer[0]
    assert "agreement beyond chance" in headline and len(headline.split()) <= 20


def test_several_spellings_of_a_rater_are_one_and_a_warning_lists_them() -> None:
    lines = rated(noise=(0.4, 0.5))
    spelt = [
        replace(line, ratings=tuple(replace(rating, rater=f"{rating.rater} ".title()) for rating in line.ratings))
        for line in lines[::2]
    ]
    results = rejoinder.ratings([*spelt, *lines[1::2]], resamples=100)
    assert results.about.data[0]["raters"] == 2
    assert results.warnings[0].endswith("taken as one rater: 'Ann ' and 'ann'; 'Bob ' and 'bob'.")


# the command


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rejoinder.write(rated(), tmp_path / "rated.jsonl")
    return tmp_path / "rated.jsonl"


def test_the_command_gives_what_the_function_gives(run: Run, file: Path) -> None:
    done = run("ratings", file, "--resamples", 100, "--json", "-o", file.parent / "one.jsonl")
    assert done.code == 0, done.err
    results = rejoinder.ratings(file, resamples=100)
    assert json.loads(done.out) == json.loads(results.to_json())
    results.save(file.parent / "two.jsonl")
    assert (file.parent / "one.jsonl").read_bytes() == (file.parent / "two.jsonl").read_bytes()


def test_the_terminal_shows_answer_and_tables(run: Run, file: Path) -> None:
    done = run("ratings", file, "--resamples", 100, "--aggregate", "mace", "--min-kappa", 0.2)
    assert done.code == 0, done.err
    assert "moderate agreement beyond chance" in done.out and "1 rater with a kappa below 0.2" in done.out
    assert "competence" in done.out and "Left out" in done.out and "Systems" in done.out


@pytest.mark.parametrize("suffix", ["html", "md", "tex", "csv", "json"])
def test_a_report_in_every_format(run: Run, file: Path, suffix: str) -> None:
    out = file.parent / f"report.{suffix}"
    assert run("ratings", file, "--resamples", 100, "-o", out).code == 0
    assert "dora" in out.read_text() and "alpha" in out.read_text()


def test_a_page_quotes_the_lines_on_which_raters_disagree() -> None:
    results = rejoinder.ratings(rated(), resamples=100)
    assert "Lines on which raters disagree most" in [section.title for section in results.layout.sections]
    assert results.layout.chart is not None and results.to_dict()["cases"][0]["ratings"].keys() == set(NAMES)


def test_a_rating_project_brings_checks_and_times(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    project = annotate(replies(contexts=30), tmp_path / "study", raters=3)
    for number, rater in enumerate(raters(project)):
        rate_all(project, rater, 2 + number, heed=number < 2)
    results = rejoinder.ratings(tmp_path / "study", resamples=100)
    assert list(left_out(results).values()) == ["missed 3 of 3 attention checks"]
    assert {row.value for row in results.pick(statistic="seconds")} == {1.5} and results.about.data[0]["raters"] == 3
    done = run("ratings", tmp_path / "study", "--resamples", 100, "--json")
    assert json.loads(done.out) == json.loads(results.to_json()), done.err
    assert run("ratings", tmp_path / "study", tmp_path / "study", "--json").code == 2


def test_data_without_ratings_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plain.jsonl").write_text('{"context": ["a"], "response": "b"}\n')
    done = run("ratings", tmp_path / "plain.jsonl")
    assert done.code == 3 and done.err.count("\n") == 1 and "single rating" in done.err
