"""What is rated: the distinct texts of a file, each bound to its ratings by a digest, and the checks of attention."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from rejoinder.annotation.design import Check, Design, Option
from rejoinder.data.chat import in_turn, spoken
from rejoinder.data.examples import to_record
from rejoinder.data.messages import is_chat
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Pair
from rejoinder.text.normalize import visible

Record = Mapping[str, Any]
_DIGITS = 32  # hexadecimal digits of a digest


@dataclass(frozen=True, slots=True)
class Item:
    """One reply to one context, or two replies to it, as a rater sees them; or a check.

    Attributes:
        number: from 1.
        block: number of the context among the study's; None for a check.
        context: the turns before the reply, oldest first.
        replies: one reply, or two.
        lines: the input lines with these texts, as JSON: an object each, of pairs two.
        passes: of a check, the answers to the first question that pass.
    """

    number: int
    block: int | None
    context: tuple[str, ...]
    replies: tuple[str, ...]
    lines: tuple[Any, ...] = ()
    passes: tuple[int | None, ...] | None = None

    @property
    def digest(self) -> str:
        """What binds ratings to these texts, whatever the file or line they stand in."""
        return texts_digest(self.context, self.replies)


def texts_digest(context: Sequence[str], replies: Sequence[str]) -> str:
    """The digest of a context and the reply, or replies, to it."""
    texts = json.dumps([list(context), *replies], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(texts.encode()).hexdigest()[:_DIGITS]


def answered(lines: Sequence[Example | Pair]) -> list[Example | Pair]:
    """The lines in which there is something to rate: a reply that can be seen, of a pair two."""
    both = ((line, line.replies if isinstance(line, Pair) else (line,)) for line in lines)
    return [line for line, replies in both if not any(reply.unanswered for reply in replies)]


def items_of(lines: Sequence[Example | Pair], *, pairwise: bool) -> list[Item]:
    """The distinct items in lines, in their order; lines of the same texts are one item, those without a reply none.

    Args:
        lines: replies; or pairs of replies.
        pairwise: whether two replies are set against each other; of single replies all pairs to one context.

    Raises:
        UsageError: pairs are to be rated singly.
        DataError: there is nothing to rate.
    """
    if not pairwise and any(isinstance(line, Pair) for line in lines):
        raise UsageError('the lines hold pairs of replies, and the design asks about single ones. Write scale = "pair"')
    if lines and not (lines := answered(lines)):
        raise DataError("no line has a reply, so there is nothing to rate", "Give some that have one")
    blocks: dict[tuple[Any, ...], int] = {}
    found: dict[str, Item] = {}
    for context, replies, record, key in _pairs(lines) if pairwise else _singles(lines):
        item = Item(len(found) + 1, blocks.setdefault(key, len(blocks)), context, replies, (record,))
        known = found.setdefault(item.digest, item)
        if known is not item:
            found[item.digest] = replace(known, lines=(*known.lines, record))
    if not found:
        what = "no context has two different replies" if lines else "no lines"
        remedy = "Give replies of at least two systems" if lines else "Give some"
        raise DataError(f"{what}, so there is nothing to rate", remedy)
    return list(found.values())


Texts = tuple[tuple[str, ...], tuple[str, ...], Any, tuple[Any, ...]]
"""Context, replies, what is kept of the line, and what tells the context from others."""


def _singles(lines: Sequence[Example | Pair]) -> Iterator[Texts]:
    """Every reply."""
    for place, line in enumerate(lines):
        if isinstance(line, Example):
            yield line.context, (line.response,), _kept(line), _context(line, place)


def _pairs(lines: Sequence[Example | Pair]) -> Iterator[Texts]:
    """Every pair of replies, and of single replies every two to one context that differ."""
    together: dict[tuple[Any, ...], list[Example]] = {}
    for place, line in enumerate(lines):
        if isinstance(line, Pair):
            first, second = line.replies
            if first.context != second.context:
                problem = "the two replies answer different conversations, which the page cannot show side by side"
                raise DataError(problem, "Give pairs of replies to one context", where=line.where)
            kept = [{**_kept(reply), "id": line.id} for reply in line.replies]
            yield first.context, (first.response, second.response), kept, _context(first, place)
        else:
            together.setdefault(_context(line, place), []).append(line)
    for key, replies in together.items():
        for first, second in combinations({reply.response: reply for reply in replies}.values(), 2):
            name = f"{first.id}|{second.id}"
            yield (
                first.context,
                (first.response, second.response),
                [{**_kept(one), "id": name} for one in (first, second)],
                key,
            )


def _context(line: Example, place: int) -> tuple[Any, ...]:
    """What tells a context from others: its turns; where it has none, its id; or the line."""
    if any(map(visible, line.context)):
        return (line.dataset, *line.context)
    return (line.dataset, place if line.context_id is None else line.context_id)


def _kept(line: Example) -> dict[str, Any]:
    """A line as JSON, without what was said of it before."""
    return to_record(replace(line, ratings=(), quality={}, scales={}))


def voices_of(item: Item, rated: Sequence[Item]) -> list[int]:
    """Return who says each turn of the context: 0 is whoever replies, others count from 1 as they come.

    Where the lines do not tell, two speakers take turns.

    Args:
        item: what is shown.
        rated: what is rated; a check that was made has its context, and its speakers, from one of these.
    """
    count = len(item.context)
    if not item.lines:
        item = next((one for one in rated if one.context == item.context), item)
    line: Any = item.lines[0] if item.lines else {}
    names = _speakers(line[0] if isinstance(line, list) else line, count)
    numbers = {names[-1]: 0}
    return [numbers.setdefault(name, len(numbers)) for name in names[:-1]]


def _speakers(record: Record, count: int) -> list[str]:
    """Who says each of `count` turns of a context, and behind them who replies."""
    named = record.get("speakers")
    if isinstance(named, list) and all(isinstance(name, str) and name.strip() for name in named):
        names = [name.strip() for name in named]
        if len(names) == count + 1:
            return names
        if len(names) == count and set(names) <= {"user", "assistant"}:
            return [*names, "assistant"]
    if is_chat(record.get("messages")):
        said = spoken(record["messages"], "")
        texts = [text for _, text in said[:count]]
        if texts == list(record.get("context") or ()) and len(texts) == count:
            return [*(role for role, _ in said[:count]), "assistant"]
    return in_turn(count + 1)


def checks_of(design: Design, items: Sequence[Item], each: int, rng: np.random.Generator) -> list[Item]:
    """The checks of a study: those of its design, or replies that ask for a certain answer.

    Args:
        design: says how many, and holds those that the user wrote.
        items: what is rated; made checks stand behind contexts of these.
        each: how many contexts a rater gets.
        rng: chooses contexts and wanted answers.
    """
    wanted = design.checks_of(each)
    own = design.own_checks[:wanted] if wanted else ()
    made = own or tuple(_asking(design, items[int(rng.integers(len(items)))], rng) for _ in range(wanted))
    start = len(items) + 1
    return [
        Item(start + place, None, check.context, check.replies, passes=check.passes) for place, check in enumerate(made)
    ]


def _asking(design: Design, item: Item, rng: np.random.Generator) -> Check:
    """A check whose reply asks for one answer."""
    options = [option for option in design.questions[0].options if not design.pairwise or option.value is not None]
    option = options[int(rng.integers(len(options)))]
    said = f"This is no reply but a check that replies are read. Please answer {_named(option)}"
    asking = f"{said}{' to the first question' if len(design.questions) > 1 else ''}."
    if not design.pairwise:
        return Check(item.context, (asking,), (option.value,))
    asking = "This is no reply but a check that replies are read. Please say that this one is better."
    replies = (asking, item.replies[0]) if option.value == 0 else (item.replies[0], asking)
    return Check(item.context, replies, (option.value,))


def _named(option: Option) -> str:
    """An answer in words."""
    if option.label and not option.label.isdigit() and option.key in ("n", "y"):
        return f"“{option.label}”"
    return f"{option.value} ({option.label})" if option.label else str(option.value)
