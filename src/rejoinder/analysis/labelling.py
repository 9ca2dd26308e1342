"""Which labels an analysis does not count: the facts for its results and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rejoinder.report.written import sentences
from rejoinder.scorer import ScorerLike


def prompts_of(scorers: Iterable[ScorerLike] | None) -> list[str]:
    """Return the prompts in files that scorers name.

    Raises:
        MissingAsset, DataError, UsageError: a prompt cannot be read or used.
    """
    names = [name for name in scorers or () if isinstance(name, str) and name.startswith("openai:")]
    if not names:
        return []
    from rejoinder.llm.chat import files_in
    from rejoinder.llm.prompt import prompt_in

    return [prompt_in(file).text for name in names for file in files_in(name, "prompt")]


def counts_of(facts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return how many labels do not count, by reason, and what ties count as; for `About.counts`."""
    counts = {name: len(ids) for name, ids in facts.items() if isinstance(ids, list)}
    return {"labels": {**counts, "tied_as": facts["tied_as"]}} if any(counts.values()) else {}


def left_out_said(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what to know of labels that do not count, in sentences."""
    return sentences("analysis", "labels_read", **facts)
