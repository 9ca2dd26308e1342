"""The page of scorers over all turn-level sets."""

from __future__ import annotations

from dataclasses import replace

from rejoinder.meta import FullStudy
from rejoinder.papers.page import About, paper
from rejoinder.report.document import Document, Section
from rejoinder.report.over_sets import left_out_table, nearness_table, over_sets_table
from rejoinder.report.study import study
from rejoinder.report.study_tables import data_table


def page(found: FullStudy, about: About) -> Document:
    """The report of the study, of its parts only what is over all sets."""
    words = paper("study", about, {}, (), known=", ".join(found.withheld) or "none")
    sections = [
        Section("How near to people", [nearness_table(found)._replace(title="")]),
        *([Section("One data set left out", [left_out_table(found.left_out)])] if found.left_out else []),
        Section("Inside each data set", [over_sets_table(found)._replace(title="")]),
        Section("Data", [data_table(one.card for one in found.findings)]),
    ]
    return replace(study(found, about.command), title=words.title, sections=[*words.sections, *sections])
