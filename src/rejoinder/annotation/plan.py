"""What stays as it is while a study runs: its design, what is rated, what all raters get; kept in its database."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rejoinder.annotation.design import Design, design_of
from rejoinder.annotation.items import Item, checks_of, items_of
from rejoinder.errors import DataError
from rejoinder.example import Example, Pair
from rejoinder.stats.resamples import Sampling

if TYPE_CHECKING:
    from sqlalchemy import Engine

_VERSION = 1


@dataclass(frozen=True)
class Plan:
    """What stays as it is while a study runs.

    Attributes:
        design: what is asked and how much each rater gets.
        items: what is rated, and behind it the checks; numbered from 1.
        common: places in `contexts` of those that all raters get.
        seed: decides who gets what.
        secret: signs the forms.
    """

    design: Design
    items: tuple[Item, ...]
    common: tuple[int, ...]
    seed: int
    secret: str

    @cached_property
    def contexts(self) -> list[list[int]]:
        """The items of each context, in the order of the contexts' numbers."""
        found: dict[int, list[int]] = {}
        for item in self.rated:
            found.setdefault(item.block or 0, []).append(item.number)
        return [found[block] for block in sorted(found)]

    @cached_property
    def rated(self) -> list[Item]:
        """What is rated, without the checks."""
        return [item for item in self.items if item.block is not None]

    @cached_property
    def checks(self) -> list[Item]:
        """The checks of attention."""
        return [item for item in self.items if item.block is None]

    def item(self, number: int) -> Item:
        """The item of that number."""
        return self.items[number - 1]


def planned(lines: Sequence[Example | Pair], design: Design, seed: int) -> Plan:
    """What stays as it is while the study runs."""
    rng = Sampling(0, seed).generator([0], "assignment")
    items = items_of(lines, pairwise=design.pairwise)
    there = len({item.block for item in items})
    each = design.contexts_of(there)
    common = sorted(int(one) for one in rng.permutation(there)[: min(design.common, each)])
    checks = checks_of(design, items, each, rng)
    return Plan(design, (*items, *checks), tuple(common), seed, secrets.token_hex(32))


def write_plan(engine: Engine, plan: Plan) -> None:
    """Make the tables and fill in what stays as it is, all or nothing."""
    from rejoinder.annotation import database as db

    facts = {
        "version": _VERSION,
        "design": plan.design.to_dict(),
        "common": plan.common,
        "seed": plan.seed,
        "secret": plan.secret,
    }
    with engine.begin() as connection:
        db.make_tables(connection)
        connection.execute(
            db.facts.insert(), [{"name": name, "value": json.dumps(value)} for name, value in facts.items()]
        )
        connection.execute(db.items.insert(), [_row(item) for item in plan.items])


def _row(item: Item) -> dict[str, Any]:
    """An item as a row."""
    content = {"context": item.context, "replies": item.replies, "lines": item.lines, "passes": item.passes}
    return {
        "number": item.number,
        "digest": item.digest,
        "block": item.block,
        "content": json.dumps(content, ensure_ascii=False),
    }


def read_plan(engine: Engine, where: str) -> Plan:
    """The plan in a database.

    Raises:
        DataError: a text is not that which was rated, or the database is of another version.
    """
    from rejoinder.annotation import database as db

    with engine.connect() as connection:
        rows = connection.execute(db.sql.select(db.facts.c.name, db.facts.c.value)).all()
        facts = {name: json.loads(value) for name, value in rows}
        stored = connection.execute(db.sql.select(db.items).order_by(db.items.c.number)).all()
    if facts.get("version") != _VERSION:
        found = f"a study of version {facts.get('version')!r}, expected {_VERSION}"
        raise DataError(found, "Open it with the rejoinder that made it", where=where)
    items = []
    for row in stored:
        content = json.loads(row.content)
        passes = content["passes"] if content["passes"] is None else tuple(content["passes"])
        texts = (tuple(content["context"]), tuple(content["replies"]), tuple(content["lines"]))
        items.append(Item(row.number, row.block, *texts, passes))
        if items[-1].digest != row.digest:
            problem = f"the texts of item {row.number} are not those that were rated"
            raise DataError(problem, "Put the database back as it was", where=where)
    design = design_of(facts["design"], where, strict=False)
    return Plan(design, tuple(items), tuple(facts["common"]), facts["seed"], facts["secret"])
