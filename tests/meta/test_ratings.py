"""What ratings are worth, from examples to a rated file and a report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.annotation.study import annotate
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Rating
from rejoinder.meta.ratings import ASIDE
from rejoinder.documents.ratings import rating_report
from studies import rate_all, raters, replies

NAMES = ("ann", "bob", "cleo", "dora")


def rated(lines: int = 60, seed: int = 0, noise: tuple[float, ...] = (0.4, 0.5, 0.6, 9.0)) -> list[Example]:
    """Lines of three systems; who has noise 9 answers at random."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(lines):
        true = 1 + 2 * (number % 3)
        given = [
            Rating(
                float(rng.integers(1, 6) if width == 9 else np.clip(round(true + rng.normal(0, width)), 1, 5)),
                rater=name,
            )
            for name, width in zip(NAMES, noise, strict=False)
        ]
        found.append(
            Example(
                (f"about {number // 3}",),
                f"reply {number}",
                id=str(number),
                system="abc"[number % 3],
                ratings=tuple(given),
                scales={"overall": (1, 5)},
            )
        )
    return found


def test_the_mean_of_a_system_with_one_context_has_no_interval() -> None:
    lines = rated()
    lines[5] = replace(lines[5], system="once")
    *_, alone = sorted(rejoinder.ratings(lines, resamples=100).sets[0].systems, key=lambda row: -row.n)
    assert (alone.system, alone.n) == ("once", 1)
    assert np.isnan([alone.low, alone.high]).all() and "there is only one context" in alone.reason


def test_who_met_one_other_alone_is_not_judged_by_that_one() -> None:
    """Ann and bob rate half of the lines, cleo and dora, who answers at random, the other half."""
    lines = [
        replace(line, ratings=line.ratings[:2] if number % 2 else line.ratings[2:])
        for number, line in enumerate(rated())
    ]
    found = rejoinder.ratings(lines, resamples=100).sets[0]
    assert [one.partners for one in found.agreement.by_rater] == [1, 1, 1, 1]
    assert found.excluded == () and found.rated == len(lines)


def upside_down(lines: list[Example], name: str) -> list[Example]:
    """The lines with the ratings of one person turned round."""
    return [
        replace(line, ratings=tuple(replace(r, value=6 - r.value) if r.rater == name else r for r in line.ratings))
        for line in lines
    ]


@pytest.mark.parametrize("aggregation", ["mean", "median", "majority", "z-score"])
@pytest.mark.filterwarnings("error")
def test_one_who_took_the_scale_upside_down_is_named(aggregation: Any) -> None:
    """Of three raters such a one spoils the kappa of all."""
    lines = upside_down(rated(noise=(0.8, 0.9, 0.6)), "cleo")
    found = rejoinder.ratings(lines, aggregation=aggregation, min_kappa=0.2, resamples=100)
    assert len(found.sets[0].excluded) == 3 and found.sets[0].rated == 0
    assert "--min-kappa" in found.answer[0]
    (upside,) = (sentence for sentence in found.answer if sentence.startswith("cleo (Spearman -0."))
    assert "rates higher what others rate lower" in upside
    sound = rejoinder.ratings(rated(), resamples=100)
    assert not any("upside down" in sentence for sentence in sound.answer)


def test_of_many_who_guess_none_is_said_to_rate_upside_down() -> None:
    rng = np.random.default_rng(1)
    lines = []
    for n in range(1500):
        who = rng.choice(60, 3, replace=False)
        given = tuple(Rating(float(rng.integers(1, 6)), rater=f"w{one}") for one in who)
        lines.append(Example((f"about {n}",), "x", id=str(n), ratings=given))
    found = rejoinder.ratings(lines, resamples=100)
    assert any(one.spearman.high < 0 for one in found.sets[0].agreement.by_rater), "of 60 intervals some miss"
    assert not any("upside down" in sentence for sentence in found.answer)


def test_what_two_raters_share_is_as_sure_as_those_lines_alone() -> None:
    lines = [replace(line, context=(f"about {number}",)) for number, line in enumerate(rated(400, 2, (1.5, 1.5)))]
    apart = [replace(line, ratings=line.ratings[:1]) for line in lines[10:]]
    pairs = [
        rejoinder.ratings([*lines[:10], *rest], resamples=1000).sets[0].agreement.by_pair[0] for rest in ((), apart)
    ]
    alone, beside = (pair.spearman.high - pair.spearman.low for pair in pairs)
    assert beside > 0.93 * alone


def test_lines_without_a_scale_count_as_on_the_one_stated() -> None:
    lines = [replace(line, scales={}) if number % 2 else line for number, line in enumerate(rated())]
    found, whole = (rejoinder.ratings(given, resamples=100, min_kappa=-1) for given in (lines, rated()))
    assert found.sets[0].rated == len(lines)
    assert [line.quality for line in found.lines] == [line.quality for line in whole.lines]


def test_who_does_not_agree_is_left_out_and_nothing_is_deleted() -> None:
    lines = rated()
    found = rejoinder.ratings(lines, min_kappa=0.2, resamples=100)
    (one,) = found.sets
    assert [who.rater for who in one.excluded] == ["dora"]
    assert one.kept is not None and one.kept.alpha_interval.value > one.agreement.alpha_interval.value + 0.2
    assert one.counting is one.kept and one.rated == 60
    for line, made in zip(lines, found.lines, strict=True):
        assert [rating.rater for rating in made.ratings] == ["ann", "bob", "cleo"]
        assert made.quality["overall"] == pytest.approx(np.mean([rating.value for rating in line.ratings[:3]]))
        (aside,) = made.extra[ASIDE]["overall"]
        assert (aside["rater"], aside["value"]) == ("dora", line.ratings[3].value) and "kappa" in aside["why"]
    assert [row.system for row in one.systems] == ["c", "b", "a"]
    assert all(row.low < row.value < row.high for row in one.systems)
    assert all(sum(row.shares) == pytest.approx(1) for row in one.systems)
    worst = one.disagreements[0]
    assert worst.given[-1][1] - worst.given[0][1] >= 1 and {name for name, _ in worst.given} == {"ann", "bob", "cleo"}


def test_nobody_is_left_out_for_disagreeing_unless_that_is_asked_for() -> None:
    (found,) = rejoinder.ratings(rated(), resamples=100).sets
    assert found.excluded == () and found.kept is None and found.chance is None


def test_a_rule_by_kappa_says_what_it_does_by_chance_alone() -> None:
    """Thirty raters who are exactly alike: the rule leaves out half of them, and nearly as many after a shuffle."""
    rng = np.random.default_rng(4)
    lines = []
    for number in range(300):
        true = rng.normal()
        values = np.clip(np.round(3 + true + rng.normal(0, 2, 3)), 1, 5)
        names = rng.choice(30, 3, replace=False)
        given = tuple(Rating(float(value), rater=f"r{name}") for value, name in zip(values, names, strict=True))
        lines.append(Example((f"about {number}",), "x", id=str(number), ratings=given))
    found = rejoinder.ratings(lines, min_kappa=0.2, resamples=0)
    (one,) = found.sets
    assert one.kept is not None and one.chance is not None and one.chance.shuffles == 20
    assert 8 <= len(one.excluded) <= 25
    assert one.chance.raters == pytest.approx(len(one.excluded), abs=6)
    assert one.chance.alpha == pytest.approx(one.kept.alpha_interval.value, abs=0.1)
    assert one.chance.alpha > one.agreement.alpha_interval.value + 0.05
    assert any("By chance alone" in sentence for sentence in found.answer)


def test_lines_written_are_read_by_the_others(tmp_path: Path) -> None:
    found = rejoinder.ratings(rated(), aggregation="median", resamples=100)
    rejoinder.write(found.lines, tmp_path / "one.jsonl")
    again = list(rejoinder.read(tmp_path / "one.jsonl"))
    assert [line.rating() for line in again] == [line.quality["overall"] for line in found.lines]
    assert rejoinder.study(again, ["length"], resamples=0).estimates[0].n == 60


def test_lines_that_are_not_sure_have_no_rating_and_keep_theirs_aside() -> None:
    found = rejoinder.ratings(rated(), aggregation="mace", share=0.8, min_kappa=0.2, resamples=100)
    without = [line for line in found.lines if not line.quality]
    assert len(without) == found.sets[0].unsure == 12
    assert all(line.rating() is None and len(line.extra[ASIDE]["overall"]) == 4 for line in without)
    assert found.sets[0].competence.keys() == {"ann", "bob", "cleo"}


def test_checks_and_lines_without_ratings_are_counted_and_in_no_figure() -> None:
    check = Example(("c",), "r", id="x", ratings=(Rating(5, rater="bob"),), extra={"check": [1, 2]})
    bare = Example(("c",), "r", id="y", quality={"overall": 3})
    found = rejoinder.ratings([*rated(), check, bare], resamples=100)
    assert (found.checks, found.unrated) == (1, 1)
    assert {who.rater: who.why for who in found.sets[0].excluded}["bob"] == "missed 1 of 1 attention check"
    assert found.lines[-1] is bare and len(found.lines) == 61


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
    found = rejoinder.ratings(lines, resamples=100)
    assert all(line.quality["fluent"] == 1.0 and len(line.ratings) == 3 for line in found.lines)


def test_several_sets_and_scales_are_told_apart() -> None:
    first = [replace(line, dataset="one") for line in rated(30)]
    second = [
        replace(line, dataset="two", scales={"overall": (0, 10)} if number % 2 else {"overall": (1, 5)})
        for number, line in enumerate(rated(30, seed=1))
    ]
    found = rejoinder.ratings([*first, *second], resamples=100, min_kappa=-1)
    assert [one.dataset for one in found.sets] == ["one", "two"]
    for line, made in zip([*first, *second], found.lines, strict=True):
        assert made.quality["overall"] == pytest.approx(np.mean([rating.value for rating in line.ratings]), abs=1e-6)
    assert all(sentence.startswith(("one: ", "two: ")) for sentence in found.answer)


def test_the_same_call_gives_the_same_figures() -> None:
    first, again = (rejoinder.ratings(rated(), aggregation="mace", resamples=100, seed=3).to_dict() for _ in range(2))
    assert first == again
    turned = rejoinder.ratings(rated()[::-1], aggregation="mace", resamples=100, seed=3).to_dict()
    assert turned["sets"][0]["agreement"]["alpha_interval"] == first["sets"][0]["agreement"]["alpha_interval"]


@pytest.mark.parametrize("lines", [[], [Example(("c",), "r", quality={"overall": 3})]])
def test_ratings_are_needed_one_by_one(lines: list[Example]) -> None:
    with pytest.raises(DataError, match="single rating"):
        rejoinder.ratings(lines)


def test_options_that_are_none_are_refused() -> None:
    options: list[dict[str, Any]] = [{"aggregation": "most"}, {"share": 0.5}, {"min_kappa": 2}, {"resamples": -1}]
    for option in options:
        with pytest.raises(UsageError):
            rejoinder.ratings(rated(9), **option)


def test_every_figure_is_a_row_with_its_interval() -> None:
    found = rejoinder.ratings(rated(), resamples=100)
    rows = {row["statistic"]: row for row in found.to_dict()["results"]}
    assert {"alpha interval", "kappa quadratic", "icc 1k", "mean rating of c"} <= rows.keys()
    assert all(row["low"] <= row["value"] <= row["high"] for name, row in rows.items() if row["low"] is not None)
    assert rows["alpha interval"]["dataset"] == "all" and rows["alpha interval"]["scorer"] == "people"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rejoinder.write(rated(), tmp_path / "rated.jsonl")
    return tmp_path / "rated.jsonl"


def test_the_command_says_what_the_function_says(run: Run, file: Path) -> None:
    done = run("ratings", file, "--resamples", 100, "--json", "-o", file.parent / "one.jsonl")
    assert done.code == 0, done.err
    found = rejoinder.ratings(file, resamples=100)
    assert json.loads(done.out) == json.loads(json.dumps(found.to_dict()))
    assert list(rejoinder.read(file.parent / "one.jsonl")) == list(found.lines)


def test_the_terminal_says_it_in_words_and_tables(run: Run, file: Path) -> None:
    done = run("ratings", file, "--resamples", 100, "--aggregate", "mace", "--min-kappa", 0.2)
    assert done.code == 0, done.err
    assert "almost perfect agreement beyond chance" in done.out and "left out by rule (dora)" in done.out
    assert "competence" in done.out and "Left out" in done.out and "Systems" in done.out


@pytest.mark.parametrize("suffix", ["html", "md", "tex", "csv", "json"])
def test_a_report_in_every_format(run: Run, file: Path, suffix: str) -> None:
    out = file.parent / f"report.{suffix}"
    assert run("ratings", file, "--resamples", 100, "-o", out).code == 0
    assert ("dora" in out.read_text()) == (suffix != "csv") and "alpha" in out.read_text()


def test_a_page_quotes_lines_on_which_raters_are_apart() -> None:
    found = rejoinder.ratings(rated(), resamples=100)
    document = rating_report(found)
    assert "Lines on which raters are far apart" in [section.title for section in document.sections]


def test_a_study_brings_its_raters_along(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    study = annotate(replies(contexts=30), tmp_path / "study", raters=3)
    for number, rater in enumerate(raters(study)):
        rate_all(study, rater, 2 + number, heed=number < 2)
    found = rejoinder.ratings(tmp_path / "study", min_kappa=-1, resamples=100)
    (one,) = found.sets
    assert "missed" in one.excluded[0].why and len(one.excluded) == 1
    assert [row.median for row in one.pace] == [1.5, 1.5, 1.5] and one.agreement.raters == 3
    done = run("ratings", tmp_path / "study", "--resamples", 100, "--min-kappa", -1, "--json")
    assert json.loads(done.out) == json.loads(json.dumps(found.to_dict())), done.err
    beside = run("ratings", tmp_path / "study", tmp_path / "study", "--json")
    assert beside.code == 2


def test_what_is_no_ratings_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plain.jsonl").write_text('{"context": ["a"], "response": "b"}\n')
    done = run("ratings", tmp_path / "plain.jsonl")
    assert done.code == 3 and done.err.count("\n") == 1 and "single rating" in done.err


def test_agreement_on_a_handful_of_lines_is_not_shown() -> None:
    few = [
        Example((f"about {number}",), f"reply {number}", ratings=(Rating(one, rater="ann"), Rating(other, rater="bob")))
        for number, (one, other) in enumerate([(4, 5), (2, 1), (3, 3)])
    ]
    assert rejoinder.ratings(few).answer[0].startswith("2 raters are not shown to agree beyond chance: ")
    assert rejoinder.ratings(rated(), resamples=100).answer[0].split(":")[0].endswith("agreement beyond chance")


def test_one_rater_of_several_spellings_counts_once_and_is_said() -> None:
    lines = rated(noise=(0.4, 0.5))
    spelt = [
        replace(one, ratings=tuple(replace(own, rater=f"{own.rater} ".title()) for own in one.ratings))
        for one in lines[::2]
    ]
    found = rejoinder.ratings([*spelt, *lines[1::2]], resamples=100)
    assert found.sets[0].agreement.raters == 2
    assert found.names[0].startswith("Names that differ in case or blanks alone were taken as one rater: 'Ann ' and")
    assert found.names[0] in rating_report(found, "").made and found.to_dict()["names"] == list(found.names)


def test_an_id_is_of_one_line_of_each_system() -> None:
    lines = [replace(one, id=str(number // 3)) for number, one in enumerate(rated())]
    assert rejoinder.ratings(lines, resamples=100).sets[0].rated == 60
    with pytest.raises(DataError, match="already given"):
        rejoinder.ratings([*lines, lines[0]], resamples=100)
