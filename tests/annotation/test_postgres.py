"""The same study in a real server of PostgreSQL, from Debian's package."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from rejoinder.annotation.answers import Answer, all_answers, assigned, counts, save
from rejoinder.annotation.collected import collected
from rejoinder.annotation.rows import export_rows, import_rows
from rejoinder.annotation.study import CONFIG, DATABASE, Study, add_raters, annotate, opened
from rejoinder.errors import UsageError, WriteError
from rejoinder.example import Example
from studies import rate_all, raters, replies

pytest.importorskip("psycopg", reason="needs the extra dev-all")
pytestmark = pytest.mark.slow
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
OWNER = "postgres"  # the server refuses to run as root


@pytest.fixture(autouse=True)
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every study is closed when its test ends."""
    made: list[Study] = []
    begin = Study.__init__

    def note(self: Study, *given: Any, **named: Any) -> None:
        begin(self, *given, **named)
        made.append(self)

    monkeypatch.setattr(Study, "__init__", note)
    yield
    for study in made:
        study.close()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of a server of our own, without the name of a database."""
    if not PROGRAMS:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="rejoinder-postgres-"))
    user = OWNER if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    if os.getuid() == 0:
        shutil.chown(folder, OWNER)

    def call(program: str, *arguments: object) -> None:
        given = [str(PROGRAMS[-1] / program), *map(str, arguments)]
        extra = {"user": OWNER} if os.getuid() == 0 else {}
        subprocess.run(given, check=True, capture_output=True, cwd=folder, timeout=60, **extra)  # type: ignore[call-overload]

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    call("initdb", "-D", folder / "data", "-A", "trust", "-U", user, "--no-sync")
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    call("pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log", "-o", options, "start")
    try:
        for name in ("one", "two", "three"):
            call("createdb", "-h", "127.0.0.1", "-p", port, "-U", user, name)
        yield f"postgresql+psycopg://{user}@127.0.0.1:{port}"
    finally:
        call("pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(folder)


def test_raters_at_once_lose_nothing(server: str, tmp_path: Path) -> None:
    study = annotate(replies(5), tmp_path / "study", raters=6, database=f"{server}/one")
    assert [path.name for path in study.folder.iterdir()] == [CONFIG] and not (study.folder / DATABASE).exists()
    threads = [Thread(target=rate_all, args=(study, rater)) for rater in raters(study)]
    threads += [Thread(target=add_raters, args=(opened(study.folder), 2)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tasks = assigned(study)
    assert sorted(tasks) == [*range(1, 13)]
    given = Counter(answer.rater for answer in all_answers(study))
    assert given == {rater: tasks[rater] for rater in range(1, 7)}
    for line in collected(opened(study.folder)).lines:
        assert isinstance(line, Example) and len(line.ratings) == 6
    other = annotate(replies(5), tmp_path / "other", raters=1)
    export_rows(study, tmp_path / "rows.csv")
    (tmp_path / "renamed.csv").write_text((tmp_path / "rows.csv").read_text().replace("rater-", "person-"))
    assert import_rows(other, tmp_path / "renamed.csv") == import_rows(study, tmp_path / "renamed.csv") == 60


def test_the_same_answer_from_many_at_once_is_one(server: str, tmp_path: Path) -> None:
    study = annotate(replies(1), tmp_path / "study", raters=1, database=f"{server}/two")
    (rater,) = raters(study)
    answer = Answer(rater.number, 1, {"overall": 3}, 1.0, 5.0, "odd: \u2028 ' \" \\ %s {}")
    threads = [Thread(target=save, args=(study, answer)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all_answers(study) == [answer] and counts(study, rater) == (1, 3)


def test_a_folder_that_was_lost_is_made_again_over_its_database(server: str, tmp_path: Path) -> None:
    study = annotate(replies(), tmp_path / "study", database=f"{server}/three")
    rate_all(study, raters(study)[0])
    again = annotate(replies(), tmp_path / "again", database=f"{server}/three")
    assert raters(again) == raters(study) and len(all_answers(again)) == 13
    with pytest.raises(UsageError, match="holds a study of other lines"):
        annotate(replies(2), tmp_path / "wrong", database=f"{server}/three")


def test_a_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(WriteError, match="cannot be reached .* Start it, or name another: --database"):
        annotate(replies(), tmp_path / "study", database=f"postgresql+psycopg://me:secret@127.0.0.1:{port}/x")
    assert not (tmp_path / "study").exists()
