"""Results in every format: no text in them breaks what it is shown in."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
import unicodedata
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from example_results import results
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from page import Page
from rejoinder.errors import UsageError, WriteError
from rejoinder.estimates import NAN, Estimate
from rejoinder.report.files import csv_text, latex, require_writable
from rejoinder.report.html import fragment, html
from rejoinder.report.layout import Layout, Prose, Section
from rejoinder.report.markdown import markdown, page
from rejoinder.report.record import masked, today
from rejoinder.report.results import Results
from rejoinder.report.tables import table
from rejoinder.report.terminal import terminal
from rejoinder.report.written import interval, number, one_line, p_value
from rejoinder.text.normalize import escape_controls

SUFFIXES = (".html", ".md", ".tex", ".csv", ".json")
HOSTILE = "<script>alert('x')</script>\"'&|\n\\input{x}% =1+1 ${{7*7}} {% raw %}"
# Any characters but halves of pairs, and many of those that mean something in a format.
TEXTS = (
    st.text(st.characters(codec="utf-8"), max_size=30)
    | st.text(st.sampled_from("|\\`*_<>&[](){}#%$~^-+=!:;'\"1.) \nab"), max_size=20)
).filter(str.strip)


@given(TEXTS)
@settings(deadline=None)
def test_no_text_breaks_markdown(text: str) -> None:
    """A Markdown parser finds the elements that were meant, and in the cells the texts that were given."""
    parser = MarkdownIt("commonmark").enable("table")
    tokens, usual = (parser.parse(markdown(results(word))) for word in (text, "a"))
    assert [token.type for token in tokens if token.nesting == 1] == [one.type for one in usual if one.nesting == 1]
    assert not {"html_block", "hr", "fence"} & {token.type for token in tokens}
    cells = [_read(after) for at, after in pairwise(tokens) if at.type in ("td_open", "th_open")]
    shown = one_line(text).replace("\0", "\ufffd")  # Markdown replaces NUL
    assert cells.count(shown) == 4


def _read(token: Token) -> str:
    """Return the text of a cell, which has no markup."""
    children = token.children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    return "".join(child.content for child in children)


@given(TEXTS)
@settings(deadline=None)
def test_no_text_breaks_html(text: str) -> None:
    shown, usual = Page(html(results(text), text)), Page(html(results("a"), "a"))
    assert not shown.open
    assert [tag for tag, _, _ in shown.elements] == [tag for tag, _, _ in usual.elements]
    names = [{name for _, attributes, _ in one.elements for name in attributes} for one in (shown, usual)]
    assert names[0] == names[1]
    assert [said for tag, said in shown.texts if tag == "title"] == [escape_controls(text)]
    assert not Page(f"<body>{fragment(results(text))}</body>").open


def test_a_page_is_alone_and_allows_no_script_but_its_own() -> None:
    text = html(results(HOSTILE, pictures=True), HOSTILE)
    shown = Page(text)
    (script,) = (said for tag, said in shown.texts if tag == "script")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = (one["content"] for one in shown.all("meta") if "http-equiv" in one)
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    for tag, attributes, _ in shown.elements:
        assert tag not in ("link", "img", "iframe", "object", "base"), tag
        assert all((attributes.get(key) or "#").startswith("#") for key in ("src", "href", "action", "xlink:href"))
        assert not any(key.startswith("on") for key in attributes)
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttpRequest", text)
    assert "<script>alert" not in text and any("alert('x')" in said for _, said in shown.texts)


def test_a_page_is_accessible() -> None:
    shown = Page(html(results("a", 5, pictures=True), "x"))
    levels = [int(tag[1]) for tag, _, _ in shown.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1 and all(after <= before + 1 for before, after in pairwise(levels))
    ids = [str(attributes["id"]) for _, attributes, _ in shown.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {str(one["href"])[1:] for one in shown.all("a")}
    assert len(links) == 4 and links <= set(ids)
    regions = [one for one in shown.all("div") if one.get("role") == "region"]
    assert len(shown.all("caption")) == len(shown.all("table")) == len({one["aria-label"] for one in regions}) == 2
    assert all(one.get("scope") in ("col", "row") for one in shown.all("th"))
    assert all(len(str(one["aria-label"])) > 15 and one["role"] == "img" for one in shown.all("svg"))


def test_a_section_without_a_title_is_shown() -> None:
    layout = Layout(sections=[Section("", [Prose(["Words."])]), Section("Empty", [None])])
    shown = html(Results(command="x", estimates=(), answer=(), layout=layout))
    assert "<p>Words.</p>" in shown and "Empty" not in shown and '<h1 class="headline">rejoinder x</h1>' in shown


def test_the_first_screen_has_headline_warnings_key_figures_and_chart_in_this_order() -> None:
    shown = Page(html(results("a", pictures=True)))
    classes = [attributes.get("class") for tag, attributes, path in shown.elements if "header" in path]
    places = [classes.index(name) for name in ("headline", "warnings", "keys", "wide")]
    assert places == sorted(places)
    said = " ".join(said for _, said in shown.texts)
    assert "Gate failed" in said and "How this was made" in said and "scorer:a|version:2" in said


def test_colours_stand_out_in_both_themes() -> None:
    (style,) = (text for tag, text in Page(html(results())).texts if tag == "style")

    def light(color: str) -> float:
        digits = color if len(color) == 6 else "".join(2 * digit for digit in color)
        parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    def contrast(first: str, second: str) -> float:
        dark, bright = sorted((light(first), light(second)))
        return (bright + 0.05) / (dark + 0.05)

    themes = [dict(re.findall(r"--(\w+): #(\w+)", line)) for line in style.splitlines() if "--paper: #" in line]
    assert [light(theme["paper"]) > 0.5 for theme in themes] == [True, False], "a light theme, then a dark one"
    for theme in themes:
        assert all(contrast(theme[name], theme["paper"]) >= 4.5 for name in ("ink", "soft", "link"))
        assert contrast(theme["ink"], theme["faint"]) >= 4.5 and contrast(theme["soft"], theme["faint"]) >= 4.5
        assert all(contrast(theme[name], theme["chance"]) >= 3 for name in ("metric", "judge", "trivial", "reads"))
    assert not re.search(r"(?<![-\w])(color|fill|background|stroke): #", style), "every colour has a name"


@pytest.mark.parametrize("render", [html, latex, terminal])
def test_no_character_controls_its_reader(render: object) -> None:
    """Trap 37: control characters and changes of direction become escapes."""
    text = "an \x1b[31mescape\x00, \u202eturned\x9b"
    shown = terminal(results(text), 80) if render is terminal else render(results(text, pictures=True), text)  # type: ignore[operator]
    assert not set(shown) & set("\x00\x1b\x9b\u202e")
    assert "u202eturned" in shown


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_lone_surrogate_does_not_cost_the_report(tmp_path: Path, suffix: str) -> None:
    """Trap 37, and trap 40: written whole or not at all."""
    path = tmp_path / f"report{suffix}"
    results("words \ud800 and more", pictures=suffix == ".html").save(path)
    shown = path.read_text(encoding="utf-8").replace(r"\textbackslash{}", "\\")
    assert "words \\ud800 and more" in shown
    assert list(tmp_path.iterdir()) == [path]


@given(TEXTS)
@settings(deadline=None)
def test_no_text_breaks_latex(text: str) -> None:
    """Trap 38: also `[` and `*` at the beginning of a row."""
    _, _, *lines = latex(results(text), text).splitlines()
    body = "\n".join(lines)
    assert lines and not any(unicodedata.category(character) == "Cc" for line in lines for character in line)
    bare = re.sub(r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater)\{\}|\\[&%$#_{}]", "", body)
    assert bare.count("{") == bare.count("}") and not re.search(r"[%$#~^]", bare)
    rows = [line for line in lines if line.endswith(r" \\")]
    assert len(rows) == 7
    assert all(len(re.findall(r"(?<!\\)&", row)) in (1, 7) for row in rows), "at most eight columns"
    assert not any(line.startswith(("[", "*")) for line in lines)


def test_a_table_in_latex_drops_spare_columns_first_and_has_a_short_caption() -> None:
    text = latex(results("a"))
    header = next(line for line in text.splitlines() if "scorer" in line)
    assert header == r"scorer & Pearson [low, high] & n0 & n1 & n2 & n3 & n4 & n5 \\"
    assert r"\caption{A table. First sentence.}" in text


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="needs pdflatex: apt-get install texlive-latex-recommended"
)
def test_latex_compiles_in_a_column(tmp_path: Path) -> None:
    body = latex(results("scorer_1 & 50% <x> ~^\\ ±", 5), "rejoinder study x")
    head = r"\documentclass[twocolumn]{article}\usepackage[T1]{fontenc}\usepackage{booktabs,graphicx}\begin{document}"
    (tmp_path / "t.tex").write_text(f"{head}\n{body}\n\\end{{document}}\n", encoding="utf-8")
    call = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull \\hbox" not in done.stdout


@given(TEXTS)
@settings(deadline=None)
def test_no_text_breaks_csv_and_json(text: str) -> None:
    first, *_ = csv.DictReader(io.StringIO(csv_text(results(text)), newline=""))
    assert list(first)[:4] == ["dataset", "scorer", "level", "statistic"]
    assert first["scorer"].removeprefix("'") == text.removeprefix("'")
    assert not re.match(r"[=+@\t\r]|-(?!\d|\.\d)", first["scorer"]), "no formula"
    assert json.loads(results(text).to_json())["results"][0]["scorer"] == text


@given(TEXTS, st.integers(20, 120))
@settings(deadline=None)
def test_a_terminal_shows_every_word_whole(text: str, width: int) -> None:
    """Trap 41: no cell is cut and no number broken; spare columns go first."""
    shown = terminal(results(f"x{text}"), width)
    assert "0.60 [0.52, 0.67]" in shown and "some" not in shown
    assert all(word in shown for word in escape_controls(f"x{text}").split())


def test_a_terminal_drops_spare_columns_first_and_shows_the_named_blocks() -> None:
    assert ".030" in terminal(results("a"), 130) and ".030" not in terminal(results("a"), 100)
    layout = replace(results().layout, brief=[Prose(["Only this."])])
    brief = Results(command="study", estimates=(), answer=("Yes.", "And more."), warnings=("Careful.",), layout=layout)
    assert terminal(brief, 80) == "Yes.\nCareful.\nAnd more.\n\nOnly this.\n"
    assert "A table" in terminal(brief, 80, every=True) and str(brief) == terminal(brief, 100).rstrip()


def test_numbers_are_written_in_one_way() -> None:
    """Trap 39: 1.000 keeps its 1, and no minus sign comes before zero."""
    assert p_value(1.0) == "1.000" and (p_value(0.0001), p_value(0.5), p_value(NAN)) == ("< .001", ".500", "–")
    assert interval(Estimate(value=-0.0001, low=-0.001, high=0.0)) == "0.00 [0.00, 0.00]"
    assert interval(Estimate(value=0.123, low=0.1, high=0.2), share=True) == "12 % [10, 20]"
    assert interval(Estimate(value=0.123, low=0.1, high=0.2), ends=3, signed=True) == "+0.12 [0.100, 0.200]"
    assert interval(Estimate()) == number(NAN) == "–"
    record = Results(command="x", estimates=(Estimate(statistic="pearson"),), answer=()).to_json()
    assert "NaN" not in record and json.loads(record)["results"][0]["value"] is None


def test_a_place_is_checked_before_any_work(tmp_path: Path) -> None:
    """Trap 40."""
    with pytest.raises(UsageError, match=r"unknown format of a report \.jsonl"):
        require_writable(tmp_path / "all.jsonl")
    with pytest.raises(WriteError, match="its folder does not exist"):
        require_writable(tmp_path / "no" / "report.html")
    lines = Results(command="x", estimates=(), answer=(), layout=Layout(lines=iter([{"a": 1}, {"a": 2}])))
    lines.save(tmp_path / "all.jsonl")
    assert (tmp_path / "all.jsonl").read_text() == '{"a": 1}\n{"a": 2}\n'


def test_secrets_are_masked() -> None:
    line = "rejoinder score x.jsonl -s 'openai:https://ann:pw@host/v1?api_key=sk-1&x=1#m' --token t-2 password=p"
    shown = "rejoinder score x.jsonl -s 'openai:https://***@host/v1?api_key=***&x=1#m' --token *** 'password=***'"
    assert masked(line) == shown
    harmless = "rejoinder study a.jsonl -s column:key --tokens=5 -o 'my report.html'"
    assert masked(harmless) == harmless and masked("it's broken token=t") == "it's broken token=***"
    assert "sk-1" not in html(results(), line) + markdown(results(), line) + latex(results(), line)


def test_a_report_has_a_date_that_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert today() == "1970-01-02" and "on 1970-01-02." in markdown(results())
    first, second = (html(results(pictures=True), "x") for _ in range(2))
    assert first == second, "the same bytes each time"


def test_a_page_of_our_own_markdown() -> None:
    words = Prose(["Our *own* words, `code` and [a page](other.md); 1 < 2.", "![Seen.](a.svg)"], marked=True)
    sections = [Section("", [words]), Section("b", [table(("x",), [["1"]])])]
    assert page("t", sections) == (
        "# t\n\nOur *own* words, `code` and [a page](other.md); 1 < 2.\n\n![Seen.](a.svg)\n\n"
        "## b\n\n| x |\n| ---: |\n| 1 |\n"
    )


def test_a_data_frame_has_a_row_for_each_estimate() -> None:
    pytest.importorskip("pandas", reason="needs the extra pandas")
    frame = results().to_frame()
    assert len(frame) == 3 and frame["value"].iloc[0] == pytest.approx(0.6)
    with pytest.raises(UsageError, match="Use 'pandas' or 'polars'"):
        results().to_frame("excel")
