"""Pages from the templates beside this file."""

from __future__ import annotations

import re


def render(name: str, **values: object) -> str:
    """The page that the template `name` makes of `values`; texts are shown as they are, whatever they hold."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("rejoinder.report", ".")
    pages = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    pages.filters["kept"] = _kept
    return pages.get_template(name).render(**values)


def _kept(text: str) -> str:
    """`text` with intervals and percentages kept on one line."""
    return re.sub(r"(?<=\d) (?=%)|(?<=[\d,]) (?=-?[\d.]+\])|(?<=\d) (?=\[)", "\u00a0", text)
