"""Labels before an analysis: one for each line of several people's, and none that the judge may have seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from rejoinder.data.clusters import is_telling, normalized
from rejoinder.data.rated_lines import DEV, TEST, TRAIN, split_of
from rejoinder.data.scales import BINARY, values_of
from rejoinder.errors import require_one_of
from rejoinder.example import Example, majority
from rejoinder.report.written import sentences
from rejoinder.scorer import ScorerLike

Tie = Literal["fail", "pass"]
"""What counts where as many people say pass as fail."""


class Labelled(NamedTuple):
    """Lines with one label each, or rating.

    Attributes:
        lines: [N] in order.
        ties: lines without a label, because people were divided evenly, with the labels of each.
        facts: what a warning names, as ids of lines.
    """

    lines: tuple[Example, ...]
    ties: tuple[Example, ...]
    facts: dict[str, Any]

    @property
    def counts(self) -> dict[str, dict[str, Any]]:
        """How many labels do not count, by reason, and what ties count as; for `About.counts`."""
        counts = {name: len(ids) for name, ids in self.facts.items() if isinstance(ids, list)}
        return {"labels": {**counts, "tied_as": self.facts["tied_as"]}} if any(counts.values()) else {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know of labels that do not count, in sentences."""
        return sentences("analysis", "labels_read", **self.facts)


def labelled(
    lines: Sequence[Example],
    dimension: str,
    *,
    tie: Tie | None = None,
    scorers: Iterable[ScorerLike] | None = (),
    test_only: bool = False,
    unknown: Sequence[str] = (),
) -> Labelled:
    """Return lines with the label of most people where all ratings of a data set are 0 or 1.

    Labels do not count of lines of the split train, if others are of dev or test, and of replies that stand word for
    word in the prompt of a scorer.

    Args:
        lines: N lines, some of them rated.
        dimension: which ratings.
        tie: what counts where people are divided evenly; by default nothing.
        scorers: whose prompts to search.
        test_only: whether labels of dev do not count either, if there are some of test.
        unknown: ids of labels that belong to none of the lines, for the warning.

    Raises:
        UsageError: `tie` is another word; a prompt cannot be used.
        MissingAsset, DataError: a prompt cannot be read.
    """
    if tie is not None:
        require_one_of("tie", tie, ("fail", "pass"))
    facts: dict[str, Any] = {"unknown": [*unknown], "train": [], "dev": [], "in_prompt": [], "differing": []}
    splits = [split_of(line) if line.rating(dimension) is not None else "" for line in lines]
    left_out = {TRAIN} & {*splits} if {DEV, TEST} & {*splits} else set()
    left_out |= {DEV} & {*splits} if test_only and TEST in splits else set()
    prompts = _prompts(scorers)
    kept = []
    for line, split in zip(lines, splits, strict=True):
        words = normalized(line.response) if prompts and line.rating(dimension) is not None else ""
        leak = split if split in left_out else ""
        if is_telling(words) and any(words in prompt for prompt in prompts):
            leak = "in_prompt"
        facts.setdefault(leak, []).append(line.id)
        kept.append(_unlabelled(line, dimension) if leak else line)
    facts.pop("", None)
    facts["differing"] = [line.id for line in kept if _contradicts_itself(line, dimension)]
    by_set = defaultdict[str | None, list[int]](list)
    for place, line in enumerate(kept):
        by_set[line.dataset].append(place)
    ties: list[Example] = []
    for places in by_set.values():
        if not _are_labels([kept[place] for place in places], dimension):
            continue
        for place in places:
            votes = [int(rating.value) for rating in kept[place].counted(dimension)]
            if len(votes) < 2 or dimension in kept[place].quality:
                continue
            label = majority(votes)  # type: ignore[arg-type]
            ties += [kept[place]] if label is None else []
            label = int(tie == "pass") if label is None and tie else label  # type: ignore[assignment]
            line = kept[place] if label is not None else _unlabelled(kept[place], dimension)
            kept[place] = line if label is None else replace(line, quality={**line.quality, dimension: label})
    facts |= {"ties": [line.id for line in ties], "tied_as": tie or ""}
    return Labelled(tuple(kept), () if tie else tuple(ties), facts)


def _prompts(scorers: Iterable[ScorerLike] | None) -> list[str]:
    """Return the words of the prompts that scorers name."""
    names = [name for name in scorers or () if isinstance(name, str) and name.startswith("openai:")]
    if not names:
        return []
    from rejoinder.llm.chat import files_in
    from rejoinder.llm.prompt import prompt_in

    return [normalized(prompt_in(file).text) for name in names for file in files_in(name, "prompt")]


def _unlabelled(line: Example, dimension: str) -> Example:
    """Return a line without ratings in a dimension."""
    quality = {name: mean for name, mean in line.quality.items() if name != dimension}
    return replace(line, ratings=tuple(one for one in line.ratings if one.dimension != dimension), quality=quality)


def _are_labels(lines: Sequence[Example], dimension: str) -> bool:
    """Return whether all ratings are 0 or 1, on the scale from 0 to 1 or, with both of them, on none."""
    values = {value for line in lines for value in values_of(line, dimension)}
    scales = {line.scale(dimension) for line in lines if values_of(line, dimension)}
    return values <= {0, 1} and scales <= {BINARY, None} and (None not in scales or len(values) == 2)


def _contradicts_itself(line: Example, dimension: str) -> bool:
    """Return whether one person gave a line two different ratings, of which the first counts."""
    given = {(rating.rater, rating.value) for rating in line.ratings if rating.dimension == dimension and rating.rater}
    return len(given) > len({rater for rater, _ in given})
