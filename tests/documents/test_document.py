"""A document in every format: one function is a report, and no text in it breaks what it stands in."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from page import Page
from rejoinder.errors import UsageError, WriteError
from rejoinder.documents.cells import count, measured, p, plain, share
from rejoinder.documents.document import (
    Case,
    Cases,
    Cell,
    Document,
    Gallery,
    KeyFigure,
    Picture,
    Prose,
    Section,
    Table,
    one_line,
)
from rejoinder.documents.files import RENDERERS, require_writable, write_document
from rejoinder.documents.html import html
from rejoinder.documents.latex import latex
from rejoinder.documents.markdown import markdown
from rejoinder.documents.terminal import terminal
from rejoinder.stats.figure import NONE, Figure, interval, number, p_value
from rejoinder.stats.figure import plain as plain_values
from rejoinder.text.normalize import escape_controls


def dummy(text: str = "some words", note: str = "a note") -> Document:
    """A report: this one function is all there is to one."""
    figure = Figure(value=0.1234, low=0.01, high=0.2)
    rows = (
        (Cell(text), measured(figure, note=note), count(1200), p(0.03), Cell(text)),
        (Cell("another"), measured(Figure(), why="too few"), plain(NONE), share(0.5), Cell("", strong=True)),
    )
    table = Table(
        "A table",
        text,
        ("name", "figure [low, high]", "n", "p", text),
        rows,
        spare=("p",),
        folded=(text,),
        notes=[text],
    )
    drawn = '<div role="img" aria-label="nothing to see at all"></div>'
    picture = Picture(drawn, text, {"judge": "a judge"}, {"mark": "a mark"})
    cases = Cases("Cases", {text: [Case("Far above", text, (text, "hello"), (("Response", text), ("Other", "b")))]})
    return Document(
        title=text,
        question=f"What of {text}?",
        answer=[text, "More."],
        about=text,
        keys=[KeyFigure.of(figure, text, note), KeyFigure.of(figure, "share", note, share=True)],
        picture=picture,
        sections=[
            Section(text, [table, Prose([text, "b"]), Prose([text], "Listed", listed=True), cases, picture]),
            Section("Second", [table._replace(title=""), Gallery("Drawings", [picture, picture], text)]),
        ],
        made=[text],
        command=f"rejoinder {text}",
        signatures={"one": text},
        results=[{"name": text, **plain_values(figure)}],
        record={"results": [{"name": text}]},
    )


# Anything but halves of characters and nothing at all; and much of what means something somewhere.
TEXTS = (
    st.text(st.characters(codec="utf-8"), max_size=30)
    | st.text(st.sampled_from("|\\`*_<>&[](){}#%$~^-+=!:;'\"1.) \nab"), max_size=20)
).filter(str.strip)


@given(TEXTS)
def test_no_text_breaks_markdown(text: str) -> None:
    """A Markdown parser finds the elements that were meant, and in the cells the texts that were given."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown(dummy(text)))
    kinds = [token.type for token in tokens if token.nesting == 1]
    plain_kinds = [token.type for token in MarkdownIt("commonmark").enable("table").parse(markdown(dummy("a")))]
    assert kinds.count("table_open") == 2
    assert kinds.count("tr_open") == 6 and kinds.count("th_open") == 10 and kinds.count("td_open") == 20
    assert not {"html_block", "hr", "fence"} & {token.type for token in tokens}
    for kind in ("heading_open", "blockquote_open", "bullet_list_open", "ordered_list_open"):
        found = kinds.count(kind)
        assert found == plain_kinds.count(kind), kind
    cells = [_read(after) for at, after in pairwise(tokens) if at.type in ("td_open", "th_open")]
    assert cells[4] == cells[5] == cells[9] == _visible(text)


def _read(token: Token) -> str:
    """The text of a cell, which holds no markup but its own emphasis."""
    children = token.children or []
    assert {child.type for child in children} <= {"text", "text_special", "strong_open", "strong_close"}
    return "".join(child.content for child in children)


def _visible(text: str) -> str:
    """`text` as Markdown hands it on: a NUL is no character there."""
    return one_line(text).replace("\0", "\ufffd")


@given(TEXTS)
def test_no_text_breaks_html(text: str) -> None:
    page, usual = Page(html(dummy(text, text))), Page(html(dummy("a", "a")))
    assert not page.open
    assert [tag for tag, _, _ in page.elements] == [tag for tag, _, _ in usual.elements]
    titles = [one["title"] for one in page.all("td") if "title" in one]
    assert titles[0] == escape_controls(text)
    assert {name for _, attributes, _ in page.elements for name in attributes} == {
        name for _, attributes, _ in usual.elements for name in attributes
    }
    assert [said for tag, said in page.texts if tag == "title"] == [escape_controls(text)]


def test_a_page_holds_no_character_that_is_obeyed() -> None:
    page = html(dummy("an \x1b[31mescape\x00, \u202eturned\x9b"))
    assert not set(page) & set("\x00\x1b\x9b\u202e")
    assert "an \\u001b[31mescape\\u0000, \\u202eturned\\u009b" in page


@given(TEXTS)
def test_no_text_breaks_latex(text: str) -> None:
    _, *lines = latex(dummy(text)).splitlines()
    body = "\n".join(lines)
    assert lines and not any(unicodedata.category(character) == "Cc" for line in lines for character in line)
    bare = re.sub(r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater)\{\}|\\[&%$#_{}]", "", body)
    assert bare.count("{") == bare.count("}") and not re.search(r"[%$#~^]", bare)
    assert set(re.findall(r"\\[a-zA-Z]+", bare)) <= {
        *(r"\begin", r"\end", r"\caption", r"\toprule", r"\midrule", r"\bottomrule", r"\textbf"),
    }
    rows = [line for line in lines if line.endswith(r" \\")]
    assert len(rows) == 6
    assert all(len(re.findall(r"(?<!\\)&", row)) == 4 for row in rows)
    assert not any(line.startswith(("[", "*")) for line in lines), "would be an argument of what stands before it"


@given(TEXTS)
def test_no_text_breaks_csv_and_json(text: str) -> None:
    (row,) = csv.DictReader(io.StringIO(RENDERERS[".csv"](dummy(text)), newline=""))
    assert list(row) == ["name", "value", "low", "high"] and row["name"].removeprefix("'") == text.removeprefix("'")
    assert not re.match(r"[=+@\t\r]|-(?!\d|\.\d)", row["name"]), "no formula"
    assert json.loads(RENDERERS[".json"](dummy(text)))["results"] == [{"name": text}]


@given(TEXTS, st.integers(20, 120))
def test_a_terminal_shows_every_word_and_obeys_none(text: str, width: int) -> None:
    shown = terminal(dummy(f"x{text}"), width)
    assert "0.123 [0.01, 0.20]" in shown and "some" not in shown
    assert all(word in shown for word in escape_controls(f"x{text}").split())


def test_a_terminal_drops_what_can_be_spared_and_shows_what_was_named() -> None:
    document = dummy()
    assert ".030" in terminal(document, 60) and ".030" not in terminal(document, 50)
    assert "1,200" in terminal(document, 50)
    sections = dummy().sections
    brief = Document(title="t", question="q", answer=["Yes."], sections=sections, brief=[Prose(["Only this."])])
    assert terminal(brief, 80) == "Yes.\n\nOnly this.\n" and "A table" in terminal(brief, 80, every=True)


@pytest.mark.parametrize("suffix", RENDERERS)
def test_a_report_is_one_function(tmp_path: Path, suffix: str) -> None:
    """What returns a document is written in all formats, half characters and all."""
    path = tmp_path / f"report{suffix}"
    write_document(dummy("words \ud800 and more"), path)
    assert "words \\ud800 and more" in path.read_text(encoding="utf-8")


def test_a_drawing_stands_beside_a_page_in_markdown_and_inside_one_in_html(tmp_path: Path) -> None:
    drawing = Picture("<svg xmlns='http://www.w3.org/2000/svg'></svg>", "What is | to be seen.", file="page-one.svg")
    words = Prose(["Our *own* words, `code` and [a page](other.md); 1 < 2."], marked=True)
    document = Document(title="t", question="q?", answer=[], sections=[Section("", [words]), Section("b", [drawing])])
    write_document(document, tmp_path / "page.md")
    assert (tmp_path / "page-one.svg").read_text() == drawing.drawn
    assert (tmp_path / "page.md").read_text() == (
        f"# t\n\n{words.said[0]}\n\n## b\n\n![What is | to be seen.](page-one.svg)\n"
    )
    page = html(document)
    assert '<h1 class="headline">q?</h1>' in page and drawing.drawn in page and "<h2" in page
    assert '<em>own</em> words, <code>code</code> and <a href="other.md">a page</a>; 1 &lt; 2.' in page
    assert page.count("<h2") == 1, "what stands before all parts has no heading"


def test_numbers_in_tables_are_results_where_there_are_no_others() -> None:
    document = replace(dummy("a name"), results=[], record={})
    record = json.loads(RENDERERS[".json"](document))
    assert record["answer"] == ["a name", "More."] and len(record["results"]) == 2 * 4
    first = record["results"][0]
    assert (first["section"], first["table"], first["row"]) == ("a name", "A table", "a name")
    assert (first["column"], first["value"], first["low"]) == ("figure [low, high]", 0.1234, 0.01)
    rows = list(csv.DictReader(io.StringIO(RENDERERS[".csv"](document))))
    assert [float(row["value"]) for row in rows] == [one["value"] for one in record["results"]]
    assert list(rows[0]) == ["section", "table", "row", "column", "note", "value", "low", "high"]


def test_lines_are_written_where_there_are_some(tmp_path: Path) -> None:
    document = Document(title="t", question="q", answer=["Yes."], sections=[], lines=iter([{"a": 1}, {"a": 2}]))
    write_document(document, tmp_path / "all.jsonl")
    assert (tmp_path / "all.jsonl").read_text() == '{"a": 1}\n{"a": 2}\n'
    with pytest.raises(UsageError, match=r"unknown format of a report \.jsonl\. Known: \.html"):
        require_writable(tmp_path / "all.jsonl")
    with pytest.raises(WriteError, match="its folder does not exist"):
        require_writable(tmp_path / "no" / "report.html")


def test_figures_are_written_in_one_way() -> None:
    assert interval(Figure(value=0.1234, low=0.012, high=0.2)) == "0.123 [0.01, 0.20]"
    assert interval(Figure(value=-0.0001, low=-0.001, high=0.0)) == "0.000 [0.00, 0.00]", "no minus sign before zero"
    assert interval(Figure(value=0.5)) == "0.500" and interval(Figure()) == "–"
    assert interval(Figure(value=0.123, low=0.1, high=0.2), share=True) == "12 % [10, 20]"
    assert interval(Figure(value=0.123, low=0.1, high=0.2), 2, ends=3, signed=True) == "+0.12 [0.100, 0.200]"
    assert interval(Figure(value=-0.123), signed=True) == "-0.123"
    assert (number(NONE), number(2.0, 1), p_value(0.0001), p_value(0.5)) == ("–", "2.0", "< .001", ".500")
