"""The page of scorers over all turn-level sets."""

from __future__ import annotations

from rejoinder.meta import FullStudy
from rejoinder.papers.page import About, Page, written
from rejoinder.report.markdown import markdown_table
from rejoinder.report.over_sets import left_out_table, nearness_table
from rejoinder.report.sections import Table, card_table, over_sets_table
from rejoinder.report.study import answer_text


def page(study: FullStudy, about: About) -> Page:
    """The page: the answer, and the tables that are over all sets."""
    left_out = [left_out_table(study.left_out)] if study.left_out else []
    tables = [nearness_table(study), *left_out, over_sets_table(study), card_table(one.card for one in study.findings)]
    text = written(
        "study",
        about,
        known=", ".join(study.withheld) or "none",
        answer="\n\n".join(study.answer),
        tables="\n\n".join(map(_markdown, tables)),
    )
    return Page(text, {}, answer_text(study, 110))


def _markdown(table: Table) -> str:
    """Title, caption and table."""
    rows = [[cell.text for cell in row] for row in table.rows]
    return f"## {table.title}\n\n{table.caption}\n\n{markdown_table(list(table.header), rows)}"
