"""A full study as a file: a page that anyone can read, hostile text that stays text, and the other formats."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from conftest import Run, refused
from page import Page
from rejoinder.example import Example, Rating
from rejoinder.meta import FullStudy, full_study
from rejoinder.documents.chart import Mark, Point, chart
from rejoinder.documents.data import csv_text, json_text
from rejoinder.documents.files import RENDERERS
from rejoinder.documents.html import html
from rejoinder.documents.latex import latex
from rejoinder.documents.markdown import markdown
from rejoinder.documents.study import study as report
from rejoinder.documents.svg import scatter
from rejoinder.scorer import Scores, Signature
from rejoinder.stats.figure import Figure
from samples import few

HOSTILE = "<script>alert('x')</script>\"'&|\n\\input{x}% =1+1 ${{7*7}} {% raw %}"


def examples(name: str = "a", system: str = "s", n: int = 30) -> list[Example]:
    rng = np.random.default_rng(len(name))
    return [
        Example(
            (f"turn {place // 3}", name),
            f"{name} " * int(rng.integers(1, 12)),
            references=(name,),
            id=f"{name}-{place}",
            system=f"{system}{place % 3}",
            dataset=name,
            ratings=tuple(Rating(int(value)) for value in rng.integers(1, 6, size=3)),
            scales={"overall": (1, 5)},
        )
        for place in range(n)
    ]


def found(name: str = "a", system: str = "s", scorer: str = "given") -> FullStudy:
    lines = examples(name, system)
    values = np.random.default_rng(0).normal(size=len(lines))
    return full_study(lines, {scorer: Scores(values, {}, Signature({"scorer": scorer}))}, resamples=50)


def two() -> FullStudy:
    return full_study([*examples("a"), *examples("bb")], ["length", "bleu-2"], resamples=50)


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(html(report(two(), "rejoinder study a.jsonl")))


def test_the_page_stands_alone(page: Page) -> None:
    assert not page.open, "every element is closed"
    for tag, attributes, _ in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "base"), tag
        for key in ("src", "href", "action"):
            assert (attributes.get(key) or "#").startswith("#"), attributes
        assert not any(key.startswith("on") for key in attributes)
    text = html(report(two(), "x"))
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest", text)


def test_the_page_is_accessible_and_fits_a_phone(page: Page) -> None:
    assert page.all("html") == [{"lang": "en"}]
    assert any(
        one.get("name") == "viewport" and "width=device-width" in str(one["content"]) for one in page.all("meta")
    )
    titles = [text for tag, text in page.texts if tag == "title"]
    assert titles[0] == "Scorers against people: a, bb"
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {str(one["href"])[1:] for one in page.all("a")}
    assert links and links <= set(map(str, ids))
    assert len(page.all("caption")) == len(page.all("table")) > 5
    assert all(one.get("scope") in ("col", "row") for one in page.all("th"))
    regions = [one for one in page.all("div") if one.get("role") == "region"]
    assert len(regions) == len(page.all("table")) == len({one["aria-label"] for one in regions})
    pictures = [one for one in page.all("div") if one.get("role") == "img"]
    assert len(pictures) > 4 and all(str(one["aria-label"]).count(" ") > 4 for one in pictures)


def test_the_colours_of_words_stand_out(page: Page) -> None:
    (style,) = (text for tag, text in page.texts if tag == "style")

    def light(colour: str) -> float:
        digits = colour if len(colour) == 6 else "".join(2 * one for one in colour)
        parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    def contrast(one: str, other: str) -> float:
        dark, bright = sorted((light(one), light(other)))
        return (bright + 0.05) / (dark + 0.05)

    themes = [dict(re.findall(r"--(\w+): #(\w+)", line)) for line in style.splitlines() if "--paper: #" in line]
    assert [light(theme["paper"]) > 0.5 for theme in themes] == [True, False], "a light theme, then a dark one"
    for theme in themes:
        assert len(theme) == 14
        assert all(contrast(theme[name], theme["paper"]) >= 4.5 for name in ("ink", "soft", "link"))
        assert contrast(theme["ink"], theme["faint"]) >= 4.5 and contrast(theme["soft"], theme["faint"]) >= 4.5
        assert all(contrast(theme[name], theme["chance"]) >= 3 for name in ("metric", "judge", "trivial", "reads"))
    assert not re.search(r"(?<![-\w])(color|fill|background|stroke): #", style), (
        "every colour has a name in both themes"
    )


def test_the_first_screen_has_words_and_a_picture_then_the_tables(page: Page) -> None:
    tags = [tag for tag, _, path in page.elements if "header" in path]
    assert (
        [one["class"] for one in page.all("div") if one.get("role") == "img"][:1] == ["chart"]
        and tags.count("p") >= 3
        and "table" not in tags
    )
    said = " ".join(text for _, text in page.texts)
    assert " not shown to agree with people: " in said and "rejoinder study a.jsonl" in said
    assert "scorer:length|version:2" in said
    cells = [attributes for tag, attributes, _ in page.elements if tag == "td" and "title" in attributes]
    assert any(re.search(r"n = \d+, \d+ contexts; pearson; 95% expanded", str(cell["title"])) for cell in cells)


@pytest.mark.parametrize("place", ["name", "system", "scorer"])
def test_hostile_text_stays_text(place: str) -> None:
    study = found(**{place: HOSTILE})
    document = report(study, HOSTILE)
    text = html(document)
    page = Page(text)
    assert not page.open and len(page.all("script")) == 1 and "alert('x')" not in text
    assert any("alert('x')" in said for _, said in page.texts), "it is shown"
    assert "${{7*7}}" in "".join(said for _, said in page.texts)
    for line in markdown(document).splitlines():
        code = line.startswith(("    ", "- `"))
        assert code or ("<script" not in line and not line.startswith(("\\input", "=1"))), line
    tex = latex(document)
    assert r"\input{x}" not in "\n".join(line for line in tex.splitlines() if not line.startswith("%"))
    assert json.loads(json_text(document))["version"] == 1


def test_a_spreadsheet_takes_no_name_for_a_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(report(found(scorer="=1+1"))))))
    assert {row["scorer"] for row in rows} >= {"'=1+1", "length"}
    correlations = [row for row in rows if row["statistic"].startswith(("pearson", "spearman", "kendall"))]
    assert all(row["value"] == "" or -1 <= float(row["value"]) <= 1 for row in correlations)


def test_markdown_and_latex_have_every_table() -> None:
    document = report(two(), "rejoinder study a.jsonl")
    text = markdown(document)
    assert text.count("\n### ") >= 8 and "    rejoinder study a.jsonl" in text
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1
    tex = latex(document)
    tables = sum(len(section.tables) for section in document.sections)
    assert tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") == text.count("\n| --") == tables
    assert not re.search(r"(?<!\\)[%#_$]", tex.partition("\n")[2])


def test_pictures_of_few_and_of_many_points() -> None:
    rng = np.random.default_rng(0)
    many = scatter("t", rng.normal(size=5000), rng.normal(size=5000), rng)
    assert many.count("h0") == 400 and "400 of 5,000 lines" in many and len(many) < 10_000
    assert scatter("t", np.array([1.0]), np.array([2.0]), rng).count("h0") == 1
    drawn = chart("t", [Point("<a>", Figure(value=-0.5), "metric", '"')], [Mark("ceiling", Figure(value=0.9))])
    assert "&lt;a&gt;" in drawn and "ceiling 0.90" in drawn and "nan" not in drawn


# on the command line


@pytest.mark.slow
def test_a_study_is_saved_as_what_its_name_says(run: Run, tmp_path: Path) -> None:
    lines = few("@dstc7", 60, tmp_path)
    call = ("study", lines, "-s", "bleu-2", "--resamples", "100")
    for suffix in RENDERERS:
        path = tmp_path / f"report{suffix}"
        ran = run(*call, "-o", path)
        assert (ran.code, ran.err) == (0, "") and ran.out.endswith(f"saved in {path}\n")
        assert "bleu-2" in path.read_text(encoding="utf-8")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"rejoinder study {lines} -s bleu-2 --resamples 100 --seed 0 -o {tmp_path}/report.html" in page
    whole = json.loads((tmp_path / "report.json").read_text())
    told = run(*call, "--json", "-o", tmp_path / "again.json")
    assert json.loads(told.out) == whole == json.loads((tmp_path / "again.json").read_text())
    assert set(whole["findings"][0]) >= {"card", "people", "standings", "contrasts", "lengths", "systems", "cases"}


def test_a_place_that_cannot_take_the_study_is_refused_before_any_work(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "report.doc"
    refused(
        run("study", tmp_path / "gone.jsonl", "-o", path),
        2,
        f"{path}: unknown format of a report .doc. Known: .html, .md, .tex, .csv, .json",
    )
    assert "its folder does not exist" in run("study", "@dstc7", "-o", tmp_path / "no" / "report.html").err
    assert list(tmp_path.iterdir()) == []


def test_a_response_with_markup_is_shown_as_it_is() -> None:
    lines = [replace(one, response=f"<b>{HOSTILE}</b>") for one in examples()]
    values = np.arange(len(lines), dtype=np.float64)
    text = html(report(full_study(lines, {"given": Scores(values, {}, Signature({}))}, resamples=50)))
    assert "&lt;b&gt;&lt;script&gt;" in text and "<b><script>" not in text
