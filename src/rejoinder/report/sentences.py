"""Sentences of results: text templates next to the analysis, rendered once and used by every format."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from rejoinder.estimates import one, pick
from rejoinder.report import written

if TYPE_CHECKING:
    from jinja2 import Environment

FILTERS = ("count", "interval", "listed", "number", "percent", "pluralize", "rounded")


@cache
def _environment(package: str) -> Environment:
    """Return the environment for the templates in the folder `answers` of a package."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(f"rejoinder.{package}", "answers")
    environment = Environment(
        loader=loader,
        autoescape=False,  # noqa: S701 - these are plain sentences; the renderers escape them
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {name: getattr(written, name) for name in FILTERS} | {"p": written.p_value}
    environment.globals |= {"one": one, "pick": pick}
    return environment


def sentences(package: str, template: str, **facts: Any) -> tuple[str, ...]:
    """Return the sentences that a template makes of `facts`: one for each line that is not empty.

    Args:
        package: of the analysis, such as "analysis".
        template: name of the file in its folder `answers`, without `.txt.jinja`.
        facts: what the template uses. Everything it names must be there.
    """
    text = _environment(package).get_template(f"{template}.txt.jinja").render(**facts)
    return tuple(line for line in (written.one_line(line) for line in text.splitlines()) if line)
