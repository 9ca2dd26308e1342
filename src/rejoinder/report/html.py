"""Results as one HTML page that works offline, without scripts and on a phone."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rejoinder.report.charts import NARROW, WIDE, inline_svg
from rejoinder.report.layout import Chart
from rejoinder.report.record import Made, made
from rejoinder.report.written import environment
from rejoinder.text.normalize import escape_controls

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from rejoinder.report.record import Record


def html(results: Record, command_line: str = "") -> str:
    """Return the page of `results`."""
    layout = results.layout
    return page(
        "page",
        title=layout.title or f"rejoinder {results.command}",
        made=made(results, command_line),
        results=results,
        layout=layout,
        parts=[section for section in layout.sections if any(section.blocks)],
    )


def page(template: str, *, script: str = "", title: str, made: Made, **facts: Any) -> str:
    """Return a page by a template of the folder `templates` that extends `base.html.jinja`, with our style sheet.

    Its content security policy allows nothing but its own style sheet and the scripts of this package, by their hashes.
    `template` is the name of the file without `.html.jinja`; it fills the blocks `header` and `main` and uses `facts`
    and the macros of `blocks.html.jinja`. `script` is the name of a second script there, such as "scores.js".
    """
    scripts = [_file("page.js"), *([_file(script)] if script else [])]
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    text = templates().get_template(f"{template}.html.jinja").render(
        title=title, made=made, style=_file("page.css"), scripts=scripts, hashes=hashes, **facts
    )  # fmt: skip
    return escape_controls(text)


def fragment(results: Record) -> str:
    """Return the answer, the warnings and the tables for a notebook."""
    text = templates().get_template("fragment.html.jinja").render(results=results, tables=results.layout.tables)
    return escape_controls(text)


def _file(name: str) -> str:
    """Return a file of the folder `templates`."""
    return files("rejoinder.report").joinpath("templates", name).read_text(encoding="utf-8")


def templates() -> Environment:
    """Return the environment of the templates of pages."""
    pages = environment("report", "templates")
    pages.filters |= {"kept": _kept, "drawn": _drawn}
    return pages


def _drawn(chart: Chart) -> Markup:
    """Return a chart as SVG for a page and, where it is drawn differently there, for a phone."""
    from markupsafe import Markup

    wide, narrow = chart.draw(WIDE), chart.draw(NARROW)
    if wide.get_figwidth() == narrow.get_figwidth():
        return Markup(inline_svg(wide, chart.label, chart.name))  # noqa: S704 - our own SVG
    both = (inline_svg(figure, chart.label, f"{chart.name} {figure.get_figwidth()}") for figure in (wide, narrow))
    return Markup('<div class="wide">{}</div><div class="narrow">{}</div>').format(*map(Markup, both))


def _kept(text: str) -> str:
    """Return `text` with intervals and percentages kept on one line."""
    return re.sub(r"(?<=\d) (?=%)|(?<=\[low,) (?=high\])|(?<=[\d,]) (?=-?[\d.]+\])|(?<=\d) (?=\[)", "\u00a0", text)
