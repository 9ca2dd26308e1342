"""A command whose help shows its options by group: those with a `rich_help_panel` under that title."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class Grouped(TyperCommand):
    """A command with grouped help; without a panel on any option it looks like every other."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options without a group, then group by group in order of appearance."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                usual = "Arguments" if param.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(param, "rich_help_panel", None) or usual, []).append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
