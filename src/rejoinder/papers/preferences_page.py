"""The page of people's choices between two replies."""

from __future__ import annotations

from rejoinder.meta.preference_results import PairStudy
from rejoinder.papers.page import About, Page, written
from rejoinder.report.markdown import markdown
from rejoinder.report.preferences import preferences
from rejoinder.report.terminal import terminal


def page(found: PairStudy, about: About) -> Page:
    """The page of the study, with what its sets are below its title."""
    document = preferences(found, about.command)
    title, _, rest = markdown(document).partition("\n\n")
    text = written("preferences", about).rstrip()
    return Page(f"{title}\n\n{text}\n\n{rest}", {}, terminal(document, 110))
