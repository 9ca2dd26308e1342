"""A study with people: made once, opened again whenever it goes on, never overwritten."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rejoinder.annotation.assignment import dealt, with_checks
from rejoinder.annotation.design import PAIRWISE, Design, design_of, read_design
from rejoinder.annotation.items import items_of
from rejoinder.annotation.plan import Plan, planned, read_plan, write_plan
from rejoinder.data.outputs import atomic_folder, require_replaceable
from rejoinder.data.read import lines_of
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Given, Pair
from rejoinder.stats.resamples import Sampling

if TYPE_CHECKING:
    from sqlalchemy import Engine

CONFIG, DATABASE = "study.json", "study.sqlite"
RATERS = 3
_MOST_RATERS = 1000
_VERSION = 1
_PASSWORD, _TOKEN = 12, 18  # bytes


@dataclass(frozen=True)
class Study:
    """A study that is open, until `close` or the end of a `with` block.

    Attributes:
        folder: where it lives.
        plan: what stays as it is.
        engine: the way to its database.
        password: opens the page of whoever runs it.
    """

    folder: Path
    plan: Plan
    engine: Engine
    password: str

    @property
    def design(self) -> Design:
        """What is asked and how much each rater gets."""
        return self.plan.design

    def close(self) -> None:
        """Close the connections to the database."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        """The study."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()


def annotate(
    given: Given | None,
    out: str | Path,
    *,
    raters: int | None = None,
    design: str | Path | Design | None = None,
    database: str | None = None,
    seed: int = 0,
) -> Study:
    """A study in which people rate replies: a new one, or that which stands in `out`, with all its answers.

    Show its pages with `rejoinder.pages.show`, read its ratings with `rejoinder.load_study`.

    Args:
        given: replies, or pairs of replies, in any form that `examples_of` takes; None goes on with what is there.
        out: folder of the study.
        raters: how many people rate; 3 in a new study; more than there are adds some.
        design: what they are asked and how much each gets, or a TOML file of it; None is that of Lowe et al. 2017.
        database: URL of a database, as SQLAlchemy writes it; None is SQLite in the folder.
        seed: decides who gets what in which order.

    Raises:
        UsageError: the folder holds something else, or a study of other lines or another design.
        DataError: there is nothing to rate, or the design cannot be used.
        MissingExtra: sqlalchemy is not installed.
        WriteError: folder or database cannot be written.
    """
    if raters is not None and not 1 <= raters <= _MOST_RATERS:
        raise UsageError(f"raters is {raters}, expected a whole number from 1 to {_MOST_RATERS:,}")
    out = Path(out)
    lines = None if given is None else lines_of(given)
    asked = read_design(design) if isinstance(design, (str, Path)) else design
    if (out / CONFIG).exists():
        study = opened(out)
        _require_same(study, lines, asked, database)
    elif lines is None:
        raise UsageError(f"{out}: no study stands there. Name the file with the replies to rate")
    else:
        study = _made(lines, out, asked, database, Sampling.checked(0, seed).seed)
    there = rater_count(study)
    if raters is not None and raters < there:
        raise UsageError(f"{out}: has {there} raters, and none is taken away. Leave --raters out, or ask for more")
    add_raters(study, (raters or there or RATERS) - there)
    return study


def opened(folder: str | Path) -> Study:
    """The study in a folder.

    Raises:
        UsageError: there is none.
        DataError: its files are damaged.
        WriteError: its database cannot be reached.
    """
    from rejoinder.annotation.database import begun, connect

    folder = Path(folder)
    config = _config(folder)
    own = folder / DATABASE
    if config["database"] is None and not own.is_file():
        raise DataError(f"{DATABASE} is missing", "Put it back; it holds the answers", where=str(folder))
    engine = connect(config["database"] or _url(own))
    if not begun(engine):
        raise DataError("its database holds no study", "Name the right one in study.json", where=str(folder))
    return Study(folder, read_plan(engine, str(folder)), engine, config["password"])


def add_raters(study: Study, more: int) -> None:
    """Let so many more people rate: each gets a share, and a link that cannot be guessed."""
    while more > 0 and not _added(study, more):
        pass


def rater_count(study: Study) -> int:
    """How many people have a link."""
    from rejoinder.annotation import database as db

    with study.engine.connect() as connection:
        wanted = db.sql.select(db.sql.func.count()).where(db.raters.c.token.is_not(None))
        return int(connection.execute(wanted).scalar_one())


def unassigned(study: Study) -> int:
    """How many of what is to be rated no rater with a link gets."""
    from rejoinder.annotation import database as db

    with study.engine.connect() as connection:
        given = set(connection.execute(db.sql.select(db.tasks.c.item).distinct()).scalars())
    return sum(item.number not in given for item in study.plan.rated)


def _added(study: Study, more: int) -> bool:
    """Add raters; False where another process did so meanwhile, which changes what these should get."""
    from rejoinder.annotation import database as db

    try:
        with study.engine.begin() as connection:
            rows = connection.execute(db.sql.select(db.tasks.c.rater, db.tasks.c.item)).all()
            last = connection.execute(db.sql.select(db.sql.func.max(db.raters.c.number))).scalar() or 0
            people, tasks = _dealt(study.plan, rows, last, more)
            connection.execute(db.raters.insert(), people)
            connection.execute(db.tasks.insert(), tasks)
    except db.sql.exc.IntegrityError:
        return False
    return True


def _dealt(plan: Plan, rows: Sequence[Any], last: int, more: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of so many raters more, and of what they get."""
    earlier: dict[int, list[int]] = {}
    for rater, item in rows:
        if plan.item(item).block is not None:
            earlier.setdefault(rater, []).append(item)
    rng = Sampling(0, plan.seed).generator([last + 1], "assignment")
    each = plan.design.contexts_of(len(plan.contexts))
    kept = {"each": each, "replies": plan.design.replies}
    shares = dealt(plan.contexts, list(earlier.values()), more, **kept, common=plan.common, rng=rng)
    people, tasks = [], []
    for number, share in enumerate(shares, start=last + 1):
        people.append({"number": number, "name": f"rater-{number}", "token": secrets.token_urlsafe(_TOKEN)})
        items = [item for block in with_checks(share, [check.number for check in plan.checks], rng) for item in block]
        flips = rng.integers(2, size=len(items)) * plan.design.pairwise
        tasks += [
            {"rater": number, "place": place, "item": item, "flipped": bool(flip)}
            for place, (item, flip) in enumerate(zip(items, flips, strict=True), start=1)
        ]
    return people, tasks


def _made(lines: Sequence[Example | Pair], out: Path, asked: Design | None, database: str | None, seed: int) -> Study:
    """A new study."""
    from rejoinder.annotation.database import begun, connect

    if asked is not None:
        design_of(asked.to_dict(), "design")  # a design from Python is held to the same rules as a file
    design = asked or (PAIRWISE if any(isinstance(line, Pair) for line in lines) else Design())
    plan = planned(lines, design, seed)
    elsewhere = connect(database) if database else None
    require_replaceable(out, ())
    there = "somebody else has just begun a study there. Call again to open it"
    with atomic_folder(out, ours=(), there=there) as partial:
        engine = elsewhere or connect(_url(partial / DATABASE))
        if not begun(engine):
            write_plan(engine, plan)
        engine.dispose()
        config = {"version": _VERSION, "database": database, "password": secrets.token_urlsafe(_PASSWORD)}
        (partial / CONFIG).write_text(f"{json.dumps(config, indent=1)}\n", encoding="utf-8")
        for file in partial.iterdir():
            file.chmod(0o600)  # links and password are nobody else's
    study = opened(out)
    _require_same(study, lines, asked, None)  # a database may have held a study before
    return study


def _require_same(
    study: Study, lines: Sequence[Example | Pair] | None, asked: Design | None, database: str | None
) -> None:
    """Raise where a study that is there is of other lines, another design or another database than was asked for."""
    remedy = "Leave it out to go on with the study, or choose another folder"
    if asked is not None and asked != study.design:
        raise UsageError(f"{study.folder}: holds a study of another design. {remedy}")
    if database is not None and database != _config(study.folder)["database"]:
        raise UsageError(f"{study.folder}: holds a study in another database. {remedy}")
    if lines is not None:
        theirs = {item.digest for item in items_of(lines, pairwise=study.design.pairwise)}
        if theirs != {item.digest for item in study.plan.rated}:
            raise UsageError(f"{study.folder}: holds a study of other lines. {remedy}")


def _config(folder: Path) -> Mapping[str, Any]:
    """The settings in a study's folder.

    Raises:
        UsageError: there are none.
        DataError: they are damaged.
    """
    file = folder / CONFIG
    if not file.is_file():
        raise UsageError(f"{folder}: no study. Make one: rejoinder annotate FILE... -o {folder}")
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
        database, password = config["database"], config["password"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError("damaged", "Put it back as it was", where=str(file)) from error
    if not isinstance(database, (str, type(None))) or not isinstance(password, str) or not password:
        raise DataError("damaged", "Put it back as it was", where=str(file))
    return {"database": database, "password": password}


def _url(file: Path) -> str:
    """The URL of a file of SQLite."""
    return f"sqlite:///{file.absolute()}"
