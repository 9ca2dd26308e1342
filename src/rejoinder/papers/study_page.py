"""The page of scorers over all turn-level sets."""

from __future__ import annotations

from rejoinder.meta import FullStudy
from rejoinder.papers.page import About, Page, written
from rejoinder.report.document import Section
from rejoinder.report.markdown import body
from rejoinder.report.over_sets import left_out_table, nearness_table, over_sets_table
from rejoinder.report.study import study
from rejoinder.report.study_tables import data_table
from rejoinder.report.terminal import terminal


def page(found: FullStudy, about: About) -> Page:
    """The page: the answer, and the tables that are over all sets."""
    sections = [
        Section("How near to people", [nearness_table(found)._replace(title="")]),
        *([Section("One data set left out", [left_out_table(found.left_out)])] if found.left_out else []),
        Section("Inside each data set", [over_sets_table(found)._replace(title="")]),
        Section("Data", [data_table(one.card for one in found.findings)]),
    ]
    text = written(
        "study",
        about,
        known=", ".join(found.withheld) or "none",
        answer="\n\n".join(found.answer),
        tables=body(sections),
    )
    return Page(text, {}, terminal(study(found, about.command), 110))
