"""The tables of a study and the way to them: SQLite in its folder, or any database that SQLAlchemy reaches."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from rejoinder.errors import DataError, MissingExtra, UsageError, WriteError

try:
    import sqlalchemy as sql
    from sqlalchemy import exc as exc
except ImportError as error:
    raise MissingExtra("sqlalchemy", "annotate", "Collecting ratings") from error

__all__ = ["sql"]
WAIT = 30  # seconds for another writer
_POOL = 10  # connections that stay open; the pages are answered by fewer threads
_tables = sql.MetaData()
facts = sql.Table(
    "rejoinder_facts",
    _tables,
    sql.Column("name", sql.String(40), primary_key=True),
    sql.Column("value", sql.Text, nullable=False),
)
"""Design, seed and secret, as JSON."""
items = sql.Table(
    "rejoinder_items",
    _tables,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("digest", sql.String(32), nullable=False),
    sql.Column("block", sql.Integer),
    sql.Column("content", sql.Text, nullable=False),
)
"""What is rated, and checks; texts and input lines as JSON."""
raters = sql.Table(
    "rejoinder_raters",
    _tables,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("name", sql.String(100), nullable=False, unique=True),
    sql.Column("token", sql.String(64), unique=True),
    sql.Column("checks", sql.Text),
)
"""Who rates. Raters whose answers were imported have no token, and as JSON how many checks they passed and failed."""
tasks = sql.Table(
    "rejoinder_tasks",
    _tables,
    sql.Column("rater", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("place", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("item", sql.Integer, nullable=False),
    sql.Column("flipped", sql.Boolean, nullable=False),
    sql.UniqueConstraint("rater", "item"),
)
"""What each rater gets, in order; `flipped`: of two replies the second stands first."""
answers = sql.Table(
    "rejoinder_answers",
    _tables,
    sql.Column("rater", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("item", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("answers", sql.Text, nullable=False),
    sql.Column("seconds", sql.Float),
    sql.Column("at", sql.Float, nullable=False),
    sql.Column("comment", sql.Text, nullable=False),
)
"""The answers of a rater to an item by question, as JSON: one row however often they are sent."""


def connect(url: str) -> sql.Engine:
    """A way to a database.

    Raises:
        UsageError: `url` names no database, or one whose driver is not installed.
    """
    try:
        if sql.make_url(url).get_backend_name() != "sqlite":
            return sql.create_engine(url, pool_size=_POOL, pool_pre_ping=True)
        engine = sql.create_engine(url, connect_args={"timeout": WAIT}, pool_size=_POOL)
    except sql.exc.ArgumentError as error:
        raise UsageError(f"--database: {error}. Write postgresql+psycopg://user@host/name") from error
    except ImportError as error:
        raise UsageError(
            f"--database: its driver {error.name} is missing. Install it: pip install {error.name}"
        ) from error
    sql.event.listen(engine, "connect", _settle)
    return engine


def _settle(connection: object, _record: object) -> None:
    """Let what is written be in the one file and on the disk, so that a copy of the file holds every answer.

    A database of an earlier version, whose last answers may stand in a second file, is brought to that, unless somebody
    else has it open.
    """
    cursor = connection.cursor()  # type: ignore[attr-defined]
    if cursor.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        cursor.execute("PRAGMA busy_timeout=0")
        with suppress(sqlite3.OperationalError):
            cursor.execute("PRAGMA journal_mode=DELETE")
        cursor.execute(f"PRAGMA busy_timeout={1000 * WAIT}")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def begun(engine: sql.Engine) -> bool:
    """Whether the database holds a study.

    Raises:
        WriteError: it cannot be reached.
        DataError: it is none.
    """
    try:
        return sql.inspect(engine).has_table(facts.name)
    except sql.exc.OperationalError as error:
        raise unreachable(engine, error) from error
    except sql.exc.DatabaseError as error:
        raise DataError(f"damaged ({error.orig})", "Put it back as it was", where=str(engine.url.database)) from error


def unreachable(engine: sql.Engine, error: Exception) -> WriteError:
    """The error of a database that does not answer."""
    said = " ".join(str(getattr(error, "orig", error)).split())
    return WriteError(
        f"{engine.url.render_as_string()}: cannot be reached ({said}). Start it, or name another: --database"
    )


def make_tables(connection: sql.Connection) -> None:
    """Make the tables."""
    _tables.create_all(connection)
