"""The page of people's choices between two replies."""

from __future__ import annotations

from dataclasses import replace

from rejoinder.meta.preference_results import PairStudy
from rejoinder.papers.page import About, paper
from rejoinder.report.document import Document
from rejoinder.report.preferences import preferences


def page(found: PairStudy, about: About) -> Document:
    """The report of the study, with what its sets are before its parts."""
    report, words = preferences(found, about.command), paper("preferences", about, {}, ())
    return replace(report, sections=[*words.sections, *report.sections])
