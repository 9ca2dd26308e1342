"""Scales of ratings: yes and no, what lines do not state, several in one pool, the scale that a judge answers in."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run, refused
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Rating
from rejoinder.humans.ceiling import people_of
from rejoinder.humans.rated_set import rated_sets, ratings_of
from rejoinder.io.scales import (
    Span,
    doubtful_code,
    hint,
    require_alike,
    rescaled,
    scale_of,
    scales_said,
    spans_of,
    with_scale,
)
from rejoinder.io.values import yes_or_no
from rejoinder.judges.answers import from_config
from rejoinder.judges.bilinear.fit import FitOptions
from rejoinder.judges.train import train_judge
from rejoinder.scoring.catalog import load_scorer
from samples import bilinear_of, few, panel_of

QUICK = FitOptions(epochs=2)
SCALES = st.tuples(st.integers(-100, 100), st.integers(1, 200)).map(lambda ends: (ends[0], ends[0] + ends[1]))


def rated(low: float = 0, high: float = 2, *, stated: bool = True, dataset: str | None = None) -> list[Example]:
    """The sample of 405 rated lines, whose ratings go from 0 to 2, with these on another scale."""
    return [
        replace(
            one,
            dataset=dataset,
            context_id=f"{dataset} {one.context_key}",
            quality={"overall": rescaled(one.quality["overall"], (0, 2), (low, high))},
            scales={"overall": (low, high)} if stated else {},
        )
        for one in rejoinder.read("@conture")
    ]


def spreadsheet(path: Path, examples: Sequence[Example], ratings: Sequence[object]) -> Path:
    """A table of contexts, responses and stars, without a scale."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["prompt", "answer", "stars"])
        table.writerows(
            [" ".join(one.context), one.response, rating] for one, rating in zip(examples, ratings, strict=True)
        )
    return path


# Yes and no


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("yes", "no"),
        ("Y", "n"),
        ("TRUE", "False"),
        ("thumbs_up", "Thumbs Down"),
        (" thumbs-up ", "thumbs-down"),
        ("👍🏽", "👎"),
        ("👍️", "👎🏿"),
        ("up", "down"),
        ("Like", "dislike"),
        (True, False),
    ],
)
def test_yes_and_no_are_one_and_nothing(tmp_path: Path, yes: object, no: object) -> None:
    assert (yes_or_no(yes), yes_or_no(no)) == (True, False)
    path = tmp_path / "a.jsonl"
    lines = [{"response": "a", "ratings": {"overall": [yes, no, yes]}}, {"response": "a", "quality": {"overall": no}}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    single, mean = rejoinder.read(path)
    assert [one.value for one in single.ratings] == [1, 0, 1] and mean.quality == {"overall": 0}
    assert single.scale() == mean.scale() == (0, 1)


@pytest.mark.parametrize("value", ["good", "yes please", 1, 0, 1.0, None, "", "1", "maybe", "y" * 1000, []])
def test_nothing_else_is_yes_or_no(value: object) -> None:
    assert yes_or_no(value) is None


def test_yes_and_no_in_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("response,thumbs,quality\nfine,up,\nbad,,no\nso so,,0.5\n")
    up, no, half = rejoinder.read(tmp_path / "a.csv", map={"rating": "thumbs"})
    assert (up.rating(), up.scale(), no.rating(), no.scale()) == (1, (0, 1), 0, (0, 1))
    assert (half.rating(), half.scale()) == (0.5, None)


def test_yes_on_a_scale_of_five_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"response": "a", "ratings": {"overall": ["yes"]}, "scale": [1, 5]}\n')
    with pytest.raises(DataError, match=r'a.jsonl:1: field "ratings": overall says yes, but its scale is \[1, 5\]'):
        list(rejoinder.read(path))
    path.write_text('{"response": "a", "ratings": {"overall": ["yes", 3]}}\n')
    with pytest.raises(DataError, match=r"overall is 3, outside its scale \[0, 1\]"):
        list(rejoinder.read(path))


# Scales given to lines without


def test_a_scale_is_given_where_lines_state_none() -> None:
    lines = [*rated(1, 5, stated=False)[:2], *rated(0, 2)[:2], Example((), "not rated")]
    assert [one.scale() for one in with_scale(lines, (1, 5))] == [(1, 5), (1, 5), (0, 2), (0, 2), None]
    assert list(with_scale(lines, None)) == lines


def test_a_rating_outside_the_scale_is_told_with_its_line() -> None:
    lines = [Example((), "a", quality={"overall": 3}, where="a.csv:2"), Example((), "b", ratings=(Rating(9),))]
    with pytest.raises(DataError, match=r'^field "rating": overall is 9, outside its scale \[1, 5\]'):
        list(with_scale(lines, (1, 5)))
    bad: list[DataError] = []
    assert [one.response for one in with_scale(lines, (4, 5), bad.append)] == []
    assert str(bad[0]).startswith('a.csv:2: field "rating": overall is 3, outside its scale [4, 5]')


@pytest.mark.parametrize("text", ["", "5", "5,1", "1,1", "a,b", "1,2,3", "nan,5", "1,inf", "1e300,2e300"])
def test_what_is_no_scale_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="expected the lowest rating and the highest, such as 1,5"):
        scale_of(text)


@given(SCALES, SCALES, st.floats(-1e3, 1e3))
def test_bringing_to_a_scale_and_back_changes_nothing(one: tuple[int, int], other: tuple[int, int], x: float) -> None:
    assert rescaled(rescaled(x, one, other), other, one) == pytest.approx(x, abs=1e-6)
    assert rescaled(np.array(one, dtype=np.float64), one, other) == pytest.approx(other)


@given(st.lists(st.floats(-5, 200), min_size=1))
def test_the_scale_that_is_proposed_holds_all_ratings(values: list[float]) -> None:
    spans = spans_of([Example((), "a", quality={"overall": value}) for value in values])
    low, high = scale_of(hint(spans))
    assert low <= float(f"{min(values):g}") and float(f"{max(values):g}") <= high


# Several scales in one pool


def test_files_that_look_unlike_are_not_pooled(run: Run, tmp_path: Path) -> None:
    stars = spreadsheet(tmp_path / "stars.csv", rated()[:60], [1 + place % 5 for place in range(60)])
    points = spreadsheet(tmp_path / "points.csv", rated()[60:120], [place * 100 / 59 for place in range(60)])
    message = (
        f"the ratings of {stars} (1 to 5) and {points} (0 to 100) look as if they were on different scales, and no "
        'line states one. Add "scale": [lowest, highest] to the lines of each; or, if all are on one, --scale 0,100'
    )
    for command in (("study", stars, points, "-s", "length"), ("train", "c-adem", stars, points, "-o", tmp_path / "j")):
        ran = run(*command)
        assert (ran.code, ran.out) == (3, "") and ran.err.endswith(f"rejoinder: {message}\n")
        assert "are taken to be on one" not in ran.err
    assert run("study", stars, points, "-s", "length", "--scale", "0,100", "--resamples", 100).code == 0


@pytest.mark.parametrize("named", [True, False])
def test_sets_without_scales_are_not_pooled_raw(named: bool) -> None:
    one, other = (rated(0, top, stated=False, dataset=f"to {top}" if named else None)[:40] for top in (2, 100))
    other = [replace(line, id=f"b{line.id}", where=f"b.csv:{place}") for place, line in enumerate(other)]
    with pytest.raises(DataError, match="look as if they were on different scales"):
        rejoinder.study([*one, *other], ["length"], resamples=0)
    alike = [*one, *(replace(line, quality=mate.quality) for line, mate in zip(other, one, strict=True))]
    assert rejoinder.study(alike, ["length"], resamples=0).rated == 80
    assert scales_said(alike).startswith("no line states its scale; the ratings of ")


def test_stated_scales_are_brought_together_and_said(run: Run, tmp_path: Path) -> None:
    for name, top in (("a", 5), ("b", 100)):
        rejoinder.write(rated(1, top, dataset=name), tmp_path / f"{name}.jsonl")
    said = "ratings on 2 scales are brought together: 1 to 5 (a); 1 to 100 (b)"
    ran = run("study", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "-s", "length", "--resamples", 100)
    assert (ran.code, ran.err) == (0, f"{said}\n")
    ran = run("train", "c-adem", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "-o", tmp_path / "j", "--epochs", 1)
    assert (ran.code, ran.err) == (0, f"{said}; the judge answers from 1 to 5\n")


def test_a_data_set_on_two_scales_gives_the_figures_of_one() -> None:
    """Each line's rating and each rater's is brought to [0, 1]; nothing is worked out from the raw numbers."""

    def lines(tops: Sequence[int]) -> list[Example]:
        rng = np.random.default_rng(0)
        made = []
        for place, one in enumerate(rated()[:90]):
            top = tops[place % len(tops)]
            given = [Rating(top * float(value), rater=str(who)) for who, value in enumerate(rng.integers(0, 5, 3) / 4)]
            made.append(replace(one, ratings=tuple(given), quality={}, scales={"overall": (0, top)}, dataset="set"))
        return made

    one, several = lines([1]), lines([1, 5, 100])
    tables = [rejoinder.study(given, ["length", "context-overlap"], resamples=50) for given in (one, several)]
    assert [row.value for row in tables[0].agreements] == pytest.approx([row.value for row in tables[1].agreements])
    people = [
        people_of(rated_sets(given, ratings_of(given, "overall"), "overall").sets[0], 0) for given in (one, several)
    ]
    first, second = ((one.ceiling.value, one.one_rater.value) for one in people)
    assert first == pytest.approx(second)
    cards = [rejoinder.full_study(given, ["length"], resamples=50).findings[0].card for given in (one, several)]
    assert [card.scale for card in cards] == [(0, 1), (0, 1)]
    assert cards[0].mean_rating == pytest.approx(cards[1].mean_rating)


def test_a_set_of_which_some_lines_state_a_scale_is_refused() -> None:
    mixed = [*rated(0, 2)[:30], *rated(0, 5, stated=False)[30:60]]
    with pytest.raises(DataError, match=r"has no scale.*or say --scale 1,5 for all that state none"):
        rejoinder.study(mixed, ["length"], resamples=0)
    inside = [*rated(0, 2)[:30], *rated(0, 2, stated=False)[30:60]]
    assert rejoinder.study(inside, ["length"], resamples=0).rated == 60


# The scale that a judge answers in


@pytest.mark.parametrize("scale", [(0, 100), (1, 7), (0, 1), (-1, 1)])
def test_a_judge_answers_in_the_scale_of_its_ratings(tmp_path: Path, scale: tuple[float, float]) -> None:
    usual, own = (train_judge(rated(*ends), "c-adem", options=QUICK).judge for ends in ((1, 5), scale))
    assert (usual.scale, own.scale) == ((1, 5), scale)
    lines = rated()[:20]
    values = rejoinder.score(lines, own).values
    assert rescaled(values, scale, (1, 5)) == pytest.approx(rejoinder.score(lines, usual).values)
    own.save(tmp_path / "judge")
    assert rejoinder.score(lines, tmp_path / "judge").values == pytest.approx(values)
    low, high = scale
    assert f"overall rating, {low} to {high}, from" in (tmp_path / "judge" / "card.md").read_text()
    assert f"from {low} to {high}" in own.card.summary and f"Nominally {low} to {high}" in own.card.notes


def test_a_panel_answers_in_the_scale_of_its_ratings(tmp_path: Path) -> None:
    scale, usual = scale_of("0,100"), scale_of("1,5")
    panel = panel_of(train_judge(rated(0, 100), "panel", options=QUICK))
    assert panel.scale == scale and all(judge.scale == usual for judge in panel.members.values())
    panel.save(tmp_path / "panel")
    lines = rated()[:20]
    whole = rejoinder.score(lines, tmp_path / "panel").values
    (member,) = panel.members.values()
    assert whole == pytest.approx(rescaled(rejoinder.score(lines, member).values, (1, 5), (0, 100)))
    assert np.nanmean(whole) > 20


def test_a_scale_that_was_asked_for_wins() -> None:
    lines = [*rated(1, 5, stated=False), *rated(0, 100, dataset="b")]
    for examples, scale in ((lines, scale_of("1,5")), (rated(0, 2), scale_of("0,10"))):
        assert train_judge(examples, "c-adem", options=QUICK, scale=scale).judge.scale == scale
    with pytest.raises(DataError, match=r"overall is 5, outside its scale \[1, 4\]"):
        train_judge(rated(1, 5, stated=False), "c-adem", options=QUICK, scale=(1, 4))


def test_a_folder_with_no_scale_in_its_place_is_told(tmp_path: Path) -> None:
    judge = bilinear_of(train_judge(rated(0, 100), "c-adem", options=QUICK))
    for odd in ("1,5", [5, 1], [1], 3, [None, 2]):
        with pytest.raises(DataError, match="expected the lowest and the highest rating"):
            from_config({"scale": odd})
    assert from_config({}) == (1, 5) and judge.own_parts.config["scale"] == [0, 100]


@pytest.mark.parametrize("scale", ["1,7", "0,1", "0,100"])
def test_score_answers_in_the_users_scale(run: Run, tmp_path: Path, scale: str) -> None:
    lines = few("@conture", 40, tmp_path)
    plain = run("score", lines, "--out-of-domain", "keep").records
    ran = run("score", lines, "--scale", scale, "--out-of-domain", "keep")
    ends, records = scale_of(scale), ran.records
    assert ran.code == 0 and len(records) == len(plain) == 40
    for one, other in zip(plain, records, strict=True):
        assert other["scores"]["rejoinder"] == pytest.approx(rescaled(one["scores"]["rejoinder"], (1, 5), ends))
        assert other["signatures"]["rejoinder"].split("|scale:")[1].startswith(f"{ends[0]}..{ends[1]}|")
        assert "scale:" not in one["signatures"]["rejoinder"]
    python = rejoinder.score(list(rejoinder.read(lines)), "rejoinder", scale=ends, out_of_domain="keep").values
    assert [record["scores"]["rejoinder"] for record in records] == pytest.approx(python.tolist())


def test_metrics_have_no_scale(run: Run, tmp_path: Path) -> None:
    lines = few("@conture", 20, tmp_path)
    refused(
        run("score", lines, "-s", "length", "--scale", "1,7"),
        2,
        "the scale is for the ratings that judges predict, and length predicts none. Leave it out",
    )
    ran = run("score", lines, "-s", "length", "-s", "rejoinder", "--scale", "1,7", "--out-of-domain", "keep")
    assert (ran.code, ran.err) == (0, "--scale leaves length as it is: what it gives is no rating\n")
    assert ran.records[0]["scores"]["length"] == run("score", lines, "-s", "length").records[0]["scores"]["length"]


@pytest.mark.slow
def test_stars_in_a_spreadsheet_become_a_judge(run: Run, tmp_path: Path) -> None:
    path = spreadsheet(tmp_path / "a.csv", rated(), [round(one.quality["overall"] * 50) for one in rated()])
    ran = run("train", "c-adem", path, "-o", tmp_path / "j", "--epochs", 1)
    assert ran.code == 3
    assert ran.err.endswith(
        f'rejoinder: {path}:2: field "scale": rated, but without a scale; the ratings that have none are {path} '
        '(0 to 100). Say what the lowest and the highest can be: --scale 0,100, or "scale": [1, 5] on each line\n'
    )
    held_out = ["--held-out", tmp_path / "t.jsonl"]
    ran = run("train", "c-adem", path, "-o", tmp_path / "j", "--epochs", 1, "--scale", "0,100", *held_out)
    assert ran.code == 0 and "the judge answers from 0 to 100\n" in ran.out
    assert all(one.scale() == (0, 100) for one in rejoinder.read(tmp_path / "t.jsonl"))
    scores = [record["scores"][str(tmp_path / "j")] for record in run("score", path, "-s", tmp_path / "j").records]
    assert 20 < np.nanmean([np.nan if score is None else score for score in scores]) < 80


def test_thumbs_become_a_judge_that_answers_from_nothing_to_one(run: Run, tmp_path: Path) -> None:
    thumbs = ["👍" if one.quality["overall"] > 0 else "👎" for one in rated()]
    path = spreadsheet(tmp_path / "a.csv", rated(), thumbs)
    ran = run("train", "c-adem", path, "-o", tmp_path / "j", "--epochs", 1, "--json")
    assert ran.code == 0 and json.loads(ran.out)["scale"] == [0, 1]
    assert load_scorer(tmp_path / "j").scale == (0, 1)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        *[(5, 5, True), (4, 5, True), (5, 6, True), (5, 7, False), (7, 10, False), (1, 2, False), (10, 100, False)],
        *[(0, 0, True), (0, 1, False), (-1, -3, True), (-1, 2, False)],
    ],
)
def test_how_far_apart_ratings_may_be(one: float, other: float, alike: bool) -> None:
    lines = [Example((), "a", dataset=str(top), quality={"overall": top}) for top in (one, other)]
    lines.append(Example((), "b", dataset="stated", quality={"overall": 1000}, scales={"overall": (0, 1000)}))
    if alike:
        require_alike(lines)
    else:
        with pytest.raises(DataError, match="look as if they were on different scales"):
            require_alike(lines)


def test_lines_outside_the_scale_can_be_left_out(run: Run, tmp_path: Path) -> None:
    path = spreadsheet(tmp_path / "a.csv", rated()[:40], [9, *(1 + place % 5 for place in range(39))])
    said = f'{path}:2: field "rating": overall is 9, outside its scale [1, 5]. Correct the rating or the scale'
    ran = run("study", path, "-s", "length", "--scale", "1,5", "--resamples", 100)
    assert (ran.code, ran.out) == (3, "") and ran.err.endswith(f"rejoinder: {said}\n")
    ran = run("study", path, "-s", "length", "--scale", "1,5", "--resamples", 100, "--on-error", "skip")
    assert ran.code == 0 and f"skipped 1:\n  {said}\n" in ran.err and "39 lines" in ran.words


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 2, 3, 4, 5] * 16 + [55], "1 of 81 ratings is 55, all others lie between 1 and 5: if that is a slip, say"),
        ([1, 2, 3, 4, 5] * 40 + [-7, -7], "2 of 202 ratings are -7, all others lie between 1 and 5"),
        ([1, 2, 3, 4, 5] * 16 + [7], ""),
        ([1, 2, 3, 4, 5, 3, 4, 50], "1 of 8 ratings is 50, all others lie between 1 and 5: if that is a slip, say"),
        ([1, 2, 3, 4, 5, 10], ""),
        ([1, 2, 3, 4, 55], ""),
        ([1, 2, 3, 4, 5, 50, 50], ""),
        ([3] * 80 + [5], ""),
        ([], ""),
    ],
)
def test_a_rating_that_looks_mistyped_is_told(values: list[float], said: str) -> None:
    assert scales_said([Example(("hi",), "ho", quality={"overall": value}) for value in values]).startswith(said or "")
    assert bool(scales_said([Example(("hi",), "ho", quality={"overall": value}) for value in values])) == bool(said)


def test_raters_of_one_file_on_several_scales_are_told(run: Run, tmp_path: Path) -> None:
    def table(*columns: Sequence[float]) -> Path:
        rows = [",".join(["prompt", "response", *(f"rater{n + 1}" for n in range(len(columns)))])]
        rows += [
            f"q {n},a {n}," + ",".join(f"{value:g}" for value in row)
            for n, row in enumerate(zip(*columns, strict=True))
        ]
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.csv"
        file.write_text("\n".join(rows))
        return file

    worth = [n % 5 for n in range(40)]
    percent, stars, harsh = [25 * one for one in worth], [1 + one for one in worth], [1 + (one > 3) for one in worth]
    ran = run("study", table(percent, stars), "-s", "length")
    assert ran.code == 3 and (
        "the ratings of the raters rater2 (1 to 5) and rater1 (0 to 100) look as if they were on different scales. "
        "Bring all raters to one scale, or leave one out"
    ) in " ".join(ran.err.split())
    assert run("study", table(stars, harsh, [1] * 40), "-s", "length").code == 0
    assert run("study", table(percent[:19], stars[:19]), "-s", "length").code == 0, "so few tell no scale"


def test_systems_of_one_file_on_several_scales_are_told() -> None:
    worth = [n % 5 for n in range(40)]
    stars = [Example(("hi",), f"{n}", system="a", quality={"overall": 1 + one}) for n, one in enumerate(worth)]
    percents = [Example(("hi",), f"{n}", system="b", quality={"overall": 25 * one}) for n, one in enumerate(worth)]
    with pytest.raises(
        DataError, match=r"the systems a \(1 to 5\) and b \(0 to 100\) look as if they were on different"
    ):
        require_alike([*stars, *percents])
    require_alike([*(replace(one, scales={"overall": (1, 5)}) for one in stars), *percents])
    require_alike([*(replace(one, quality={"overall": 4 * one.quality["overall"]}) for one in stars), *percents])
    require_alike([*stars[:19], *percents])


@pytest.mark.parametrize("whose", ["systems", "raters"])
def test_minus_two_to_two_beside_one_to_five_is_told(whose: str) -> None:
    def rated(values: Sequence[float], name: str) -> list[Example]:
        if whose == "systems":
            return [Example(("hi",), "ho", system=name, quality={"overall": value}) for value in values]
        return [Example(("hi",), "ho", ratings=(Rating(value, rater=name),)) for value in values]

    centred, stars = rated([n % 5 - 2 for n in range(40)], "a"), rated([n % 5 + 1 for n in range(40)], "b")
    said = rf"the {whose} a \(-2 to 2\) and b \(1 to 5\) look as if they were on different scales"
    with pytest.raises(DataError, match=said):
        require_alike([*centred, *stars])
    require_alike([*centred, *rated([n % 2 + 1 for n in range(40)], "good")])
    require_alike([*centred, *rated([n % 6 for n in range(40)], "from 0 on, as of -5 to 5")])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1, 5, "1,5"),
        (8, 100, "0,100"),
        (0, 4, "0,5"),
        (-2, 2, "-2,2"),
        (-1, 2, "-2,2"),
        (-2, 5, "-5,5"),
        (-7, 1, "-7,7"),
    ],
)
def test_the_scale_that_a_message_proposes(low: float, high: float, expected: str) -> None:
    assert hint([Span("ratings", low, high)]) == expected


# Codes for no answer


def of(values: Sequence[float], rater: bool = False) -> list[Example]:
    """Lines with these ratings, without a scale."""
    return [
        Example(("hi",), "ho", ratings=(Rating(3), Rating(value)) if rater else (), quality={"overall": value})
        for value in values
    ]


@pytest.mark.parametrize("code", [99, 999, -99, -9, 88, -1])
@pytest.mark.parametrize("count", [1, 30])
def test_a_code_for_no_answer_is_refused(code: float, count: int) -> None:
    with pytest.raises(DataError, match=f"are|is {code}, all others lie between 1 and 5: {code} looks like a code"):
        require_alike(of([1, 2, 3, 4, 5] * 8 + [code] * count, rater=True))
    require_alike(with_scale(of([1, 2, 3, 4, 5] * 8 + [code] * count), (-9999, 9999)))  # type: ignore[arg-type]


@pytest.mark.parametrize(("code", "high"), [(9, 5), (9, 7), (9, 4), (0, 5)])
def test_a_code_that_may_be_a_rating_is_said(code: float, high: int) -> None:
    values = [*range(1, high + 1)] * 8
    require_alike(of([*values, code, code]))
    told = f"2 of {len(values) + 2} ratings are {code}, all others lie between 1 and {high}: if {code} stands for no"
    assert scales_said(of([*values, code, code])).startswith(told)
    assert "--scale 1,5 names them" in doubtful_code(of([1, 2, 3, 4, 5] * 8 + [0]))


@pytest.mark.parametrize(
    "scale", [(0, 100), (1, 100), (1, 10), (0, 10), (1, 5), (1, 7), (-3, 3), (-1, 1), (0, 4), (0, 1), (1, 3), (0, 3)]
)
def test_sound_ratings_hold_no_code(scale: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    for a, b in ((1, 1), (4, 1), (1, 4), (0.3, 0.3)):
        for count in (20, 60, 300):
            drawn = scale[0] + np.round((scale[1] - scale[0]) * rng.beta(a, b, size=count))
            require_alike(of(list(drawn)))
            assert not doubtful_code(of(list(drawn)))


# What people write in place of a number


def words(path: Path, *cells: str, name: str = "rating") -> tuple[list[Example], list[str]]:
    """The examples of a table with these cells as ratings, and what was said of it."""
    said: list[str] = []
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["prompt", "answer", name])
        table.writerows(["Tea?", f"No {number}.", cell] for number, cell in enumerate(cells))
    return list(rejoinder.read(path, note=said.append)), [line.removeprefix(f"{path}: ") for line in said]


@pytest.mark.parametrize(
    ("cells", "values", "scale"),
    [
        (["3/5", "4 / 5", "1 out of 5", "2 of 5 stars"], [3, 4, 1, 2], (1, 5)),
        (["0/5", "4,5/5"], [0, 4.5], (0, 5)),
        (["85/100", "7/100"], [85, 7], (0, 100)),
        (["7/10", "10/10", "9"], [7, 10, 9], (1, 10)),
        (["50%", "12,5 %", "100 percent"], [50, 12.5, 100], (0, 100)),
        (["★★★", "★", "⭐⭐⭐⭐⭐", "**"], [3, 1, 5, 2], None),
        (["★★★☆☆", "★☆☆☆☆"], [3, 1], (1, 5)),
        (["3 stars", "1 star", "4 points"], [3, 1, 4], None),
        (["3 (good)", "1 - very bad", "5: Excellent", "4 = fine", "2. poor", "Good (4)"], [3, 1, 5, 4, 2, 4], None),
        (["Strongly Disagree", "neutral", "Agree", "strongly  agree"], [1, 3, 4, 5], (1, 5)),
        (["Somewhat disagree", "Neither agree nor disagree", "Strongly agree"], [2, 3, 5], (1, 5)),
        (["disagree", "somewhat disagree", "agree", "neutral"], [2, 3, 6, 4], (1, 7)),
        (["bad", "poor", "good", "excellent"], [1, 2, 4, 5], (1, 5)),
        (["poor", "good", "very good", "excellent"], [1, 3, 4, 5], (1, 5)),
        (["Not at all helpful", "Somewhat helpful", "Extremely helpful"], [1, 3, 5], (1, 5)),
        (["", "very satisfied", "dissatisfied"], [None, 5, 2], (1, 5)),
        (["Good", "bad"], [1, 0], (0, 1)),
        (["correct", "Incorrect"], [1, 0], (0, 1)),
    ],
)
def test_what_stands_for_a_number_is_read(
    tmp_path: Path, cells: list[str], values: list[float | None], scale: tuple[float, float] | None
) -> None:
    found, _ = words(tmp_path / "a.csv", *cells)
    assert [one.rating() for one in found] == values
    assert {one.scale() for one in found if one.rating() is not None} == {scale}


@pytest.mark.parametrize("sign", ["N/A", "n/a", "NA", "-", "--", "none", "Skip", "?", "–", "not rated", "nan", "#N/A"])
def test_a_sign_of_no_rating_is_counted_and_said(tmp_path: Path, sign: str) -> None:
    found, said = words(tmp_path / "a.csv", "4", sign, "2", sign)
    assert [one.rating() for one in found] == [4, None, 2, None]
    assert said[-1] == f"2 times {sign!r} where a rating could be: read as not rated"


def test_a_sign_of_no_rating_takes_its_rater_along(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"response": "a", "ratings": {"overall": [3, "n/a", "4/5"]}, "raters": ["ann", "bob", "cleo"]}\n')
    (line,) = rejoinder.read(path)
    assert line.ratings == (Rating(3, "overall", "ann"), Rating(4, "overall", "cleo")) and line.scale() == (1, 5)
    (tmp_path / "a.csv").write_text("response,rater1,rater2\nho,2,-\nhm,agree,neutral\n")
    with pytest.raises(DataError, match="overall is text, expected a number"):
        list(rejoinder.read(tmp_path / "a.csv"))


def test_what_words_are_worth_is_said(tmp_path: Path, run: Run) -> None:
    found, said = words(tmp_path / "a.csv", "agree", "disagree", "agree")
    assert [one.rating() for one in found] == [4, 2, 4]
    assert said[-1] == "read the words of the overall rating on a scale of 1 to 5: 'disagree' as 2, 'agree' as 4"


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        (["agree", "good"], "the overall ratings are words of no order that is known: 'agree', 'good'"),
        (["fair", "good"], "the overall ratings are words that may be more than one order: 'fair', 'good'"),
        (["agree", "4"], "overall is text, expected a number"),
        (["4", "agree"], "overall is text, expected a number"),
        (["3/5", "7/10"], "the overall ratings are out of 5 and out of 10"),
        (["3 (of 4)"], "'3 (of 4)', expected a number"),
        (["3/4/2024"], "'3/4/2024', expected a number"),
        (["7/5"], "'7/5', expected a number"),
        (["meh"], "'meh', expected a number"),
        (["☆☆☆"], "'☆☆☆', expected a number"),
    ],
)
def test_what_is_not_clear_is_refused(tmp_path: Path, cells: list[str], problem: str) -> None:
    with pytest.raises(DataError) as caught:
        words(tmp_path / "a.csv", *cells)
    assert problem in str(caught.value)


def test_another_scale_than_the_stated_one_is_refused(tmp_path: Path) -> None:
    found, _ = words(tmp_path / "a.csv", "3/5", name="Rating (1-5)")
    assert found[0].scale() == (1, 5)
    with pytest.raises(DataError, match=r"written on a scale of \[1, 5\], but \[1, 7\] is stated"):
        words(tmp_path / "a.csv", "3/5", name="Rating (1-7)")


def test_words_in_a_column_that_only_may_be_a_rating_are_said_and_not_read(tmp_path: Path) -> None:
    found, said = words(tmp_path / "a.csv", "neutral", "positive", name="label")
    assert [one.extra["label"] for one in found] == ["neutral", "positive"]
    assert said[-1] == "words under label are not read as ratings. If they are the ratings, say --map rating=label"
    found, _ = words(tmp_path / "a.csv", "3/5", "n/a", name="label")
    assert [one.rating() for one in found] == [3, None]


@pytest.mark.parametrize(
    ("scale", "found"),
    [("1,5", "'1,5'"), ("15", "'15'"), ((1,), "[1]"), ((5, 1), "[5, 1]"), (3, "3"), ([1, 2, 3], "[1, 2, 3]")],
)
def test_a_scale_in_python_is_two_numbers(scale: Any, found: str) -> None:
    rated = [{"response": "a b", "rating": 3}]
    for call in (rejoinder.score, rejoinder.fit):
        with pytest.raises(UsageError) as caught:
            call(rated, scale=scale)
        expected = "expected the lowest rating and the highest, such as (1, 5)"
        assert str(caught.value) == f"the scale {found}: {expected}"
