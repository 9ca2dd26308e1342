"""A study lives in its folder: made once, opened again, never overwritten, and read as rated lines."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

import rejoinder
from conftest import Run, refused
from rejoinder.analysis.raters import Attention, project_ratings
from rejoinder.annotation import database as db
from rejoinder.annotation.answers import Answer, all_answers, assigned, counts, next_place, rater_of, save, task_at
from rejoinder.annotation.design import PAIRWISE, Design, Question
from rejoinder.annotation.study import CONFIG, DATABASE, Study, add_raters, annotate, opened
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Pair, Rating
from studies import rate_all, raters, replies


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return annotate(replies(), tmp_path / "study")


def test_three_raters_get_everything_of_a_small_file_and_a_check(study: Study) -> None:
    assert [rater.name for rater in raters(study)] == ["rater-1", "rater-2", "rater-3"]
    assert assigned(study) == {1: 13, 2: 13, 3: 13}
    assert len({rater.token for rater in raters(study)}) == 3
    assert all(len(rater.token) >= 24 for rater in raters(study))


def test_what_was_said_comes_back_as_ratings(study: Study) -> None:
    first, second, _ = raters(study)
    assert rate_all(study, first, 4) == 13
    rate_all(study, second, 2, heed=False)
    lines, records = rejoinder.load_study(study.folder)
    assert len(lines) == 12
    for line in lines:
        assert isinstance(line, Example)
        assert line.ratings == (Rating(4, rater="rater-1"), Rating(2, rater="rater-2"))
        assert line.scale() == (1, 5)
    assert [(one.answered, one.assigned, one.passed, one.failed) for one in records] == [
        (12, 12, 1, 0),
        (12, 12, 0, 1),
        (0, 12, 0, 0),
    ]
    assert records[0].seconds == (1.5,) * 12


@pytest.mark.parametrize("name", [".", "study.sqlite"])
def test_every_command_reads_a_project(
    study: Study, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for place, rater in enumerate(raters(study)):
        rate_all(study, rater, place + 1, heed=place != 1)
    lines, records = rejoinder.load_study(study.folder)
    known = {one.name: Attention(one.failed, one.passed + one.failed, one.seconds) for one in records}
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    project = study.folder / name
    found = rejoinder.examples_of(project)
    assert [replace(line, where="") for line in found] == [replace(line, where="") for line in lines]
    assert project_ratings(project) == (found, known)
    done = run("ratings", project, "-o", tmp_path / "rated.jsonl")
    assert done.code == 0 and len((tmp_path / "rated.jsonl").read_text().splitlines()) == 12
    assert run("score", project, "-s", "length").code == 0
    assert [run("ratings", project, project).code, run("estimate", project, "-s", "length").code] == [2, 2]


def test_ratings_of_the_file_do_not_mix_with_those_of_the_study(tmp_path: Path) -> None:
    before = Example(("Tea?",), "No.", id="1", ratings=(Rating(5),), quality={"overall": 5}, extra={"topic": "drinks"})
    study = annotate([before], tmp_path / "study", raters=1)
    rate_all(study, raters(study)[0], 2)
    (line,) = rejoinder.load_study(study.folder).lines
    assert isinstance(line, Example)
    assert line.rating() == 2 and line.extra == {"topic": "drinks"}


def test_lines_of_the_same_texts_are_rated_once(tmp_path: Path) -> None:
    lines = [Example(("Tea?",), "No.", id="a", system="x"), Example(("Tea?",), "No.", id="b", system="y")]
    study = annotate(lines, tmp_path / "study", raters=1, design=Design(checks=0))
    assert rate_all(study, raters(study)[0], 3) == 1
    found = rejoinder.load_study(study.folder).lines
    assert [(line.id, isinstance(line, Example) and line.rating()) for line in found] == [("a", 3), ("b", 3)]


def test_nobody_is_asked_about_a_line_without_a_reply(tmp_path: Path, run: Run) -> None:
    lines = [Example(("Tea?",), "No.", id="a"), Example(("Tea?",), " ", id="b"), Example(("Why?",), "So.", id="c")]
    study = annotate(lines, tmp_path / "study", raters=1, design=Design(checks=0))
    assert [item.replies for item in study.plan.rated] == [("No.",), ("So.",)]
    first, second = (replace(lines[0], id=f"d/{place}") for place in (0, 1))
    pairs = [Pair((first, replace(second, response="Yes.")), None, id="d"), Pair((first, lines[1]), None, id="e")]
    assert len(annotate(pairs, tmp_path / "pairs", raters=1, design=PAIRWISE).plan.rated) == 1
    with pytest.raises(DataError, match="no line has a reply, so there is nothing to rate"):
        annotate(lines[1:2], tmp_path / "none", raters=1)
    file = tmp_path / "lines.csv"
    file.write_text("prompt,answer\nTea?,No.\nTea?,\nWhy?,NaN\n")
    done = run("annotate", file, "-o", tmp_path / "told", "--raters", 1, "--prepare")
    assert "2 of 3 lines have no reply, or of two only one: nobody is asked about them\n" in done.err


def test_an_answer_that_is_sent_again_is_one_answer(study: Study) -> None:
    rater = raters(study)[0]
    for value in (3, 5):
        save(study, Answer(rater.number, 1, {"overall": value}, 1.0, 5.0, "changed"))
    (answer,) = all_answers(study)
    assert (answer.values, answer.comment) == ({"overall": 5}, "changed")
    assert counts(study, rater) == (1, 13)


def test_many_raters_at_once_lose_nothing(tmp_path: Path) -> None:
    study = annotate(replies(5), tmp_path / "study", raters=8)
    threads = [Thread(target=rate_all, args=(study, rater)) for rater in raters(study)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(answer.rater for answer in all_answers(study)) == assigned(study)


def test_the_folder_is_opened_again_with_all_answers(study: Study) -> None:
    rate_all(study, raters(study)[0])
    again = annotate(replies(), study.folder)
    assert raters(again) == raters(study) and again.password == study.password
    assert next_place(again, raters(again)[0]) is None
    assert len(all_answers(annotate(None, study.folder))) == 13


def test_raters_can_be_added_but_not_taken_away(study: Study) -> None:
    rate_all(study, raters(study)[0])
    again = annotate(None, study.folder, raters=5)
    assert len(raters(again)) == 5 and len(all_answers(again)) == 13
    with pytest.raises(UsageError, match="has 5 raters, and none is taken away"):
        annotate(None, study.folder, raters=2)


def test_raters_are_added_by_two_at_once(study: Study) -> None:
    threads = [Thread(target=add_raters, args=(opened(study.folder), 3)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(assigned(study)) == [*range(1, 13)]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"given": replies(3)}, "holds a study of other lines"),
        ({"design": Design(common=1)}, "holds a study of another design"),
        ({"database": "sqlite:///other.sqlite"}, "holds a study in another database"),
    ],
)
def test_a_study_is_not_mixed_with_another(study: Study, changed: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        annotate(**{"given": replies(), "out": study.folder, **changed})  # type: ignore[arg-type]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds what rejoinder did not write there"):
        annotate(replies(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_no_study_and_no_lines(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no study stands there"):
        annotate(None, tmp_path / "none")
    with pytest.raises(UsageError, match="no study. Make one"):
        rejoinder.load_study(tmp_path / "none")
    with pytest.raises(DataError, match="no lines, so there is nothing to rate"):
        annotate([], tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("number", [0, -1, 1001])
def test_a_number_of_raters_that_is_none(tmp_path: Path, number: int) -> None:
    with pytest.raises(UsageError, match="expected a whole number from 1 to 1,000"):
        annotate(replies(), tmp_path / "study", raters=number)


def test_links_and_password_are_nobody_elses(study: Study) -> None:
    assert {path.stat().st_mode & 0o077 for path in study.folder.iterdir()} == {0}


def test_texts_are_bound_to_their_ratings(study: Study) -> None:
    with sqlite3.connect(study.folder / DATABASE) as connection:
        connection.execute("update rejoinder_items set content = replace(content, 'kind 1', 'kind 7')")
    with pytest.raises(DataError, match="the texts of item 2 are not those that were rated"):
        opened(study.folder)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"database": 1, "password": "x"}', '{"database": null, "password": ""}']
)
def test_damaged_settings_are_one_line(study: Study, text: str) -> None:
    (study.folder / CONFIG).write_text(text)
    with pytest.raises(DataError, match="study.json: damaged"):
        opened(study.folder)


def test_a_lost_database_is_said(study: Study) -> None:
    study.engine.dispose()
    (study.folder / DATABASE).unlink()
    with pytest.raises(DataError, match="study.sqlite is missing"):
        opened(study.folder)


def test_a_token_that_is_none(study: Study) -> None:
    assert rater_of(study, "x") is None
    assert rater_of(study, raters(study)[1].token) == raters(study)[1]
    assert task_at(study, raters(study)[1], 99) is None


def test_the_seed_decides_who_gets_what(tmp_path: Path) -> None:
    made = [annotate(replies(20), tmp_path / str(place), seed=place // 2) for place in range(4)]
    orders = []
    for study in made:
        tasks = [task_at(study, raters(study)[0], place) for place in range(1, 20)]
        orders.append([task.item.number for task in tasks if task])
    assert orders[0] == orders[1] != orders[2] == orders[3]


def test_further_questions_are_further_dimensions(tmp_path: Path) -> None:
    design = Design(questions=(Question(), Question("safe", "Is it safe?", "yes/no", ())))
    study = annotate(replies(1), tmp_path / "study", raters=1, design=design)
    rate_all(study, raters(study)[0], 1)
    line, _ = rejoinder.load_study(study.folder).lines
    assert isinstance(line, Example)
    assert line.ratings == (Rating(1, rater="rater-1"), Rating(1, "safe", "rater-1"))
    assert line.scales == {"overall": (1, 5), "safe": (0, 1)}


def test_single_replies_to_one_context_make_pairs(tmp_path: Path) -> None:
    study = annotate(replies(2, 3), tmp_path / "study", raters=2, design=PAIRWISE)
    assert len(study.plan.rated) == 6
    rate_all(study, raters(study)[0], 1)
    rate_all(study, raters(study)[1], 1)
    for pair in rejoinder.load_study(study.folder).lines:
        assert isinstance(pair, Pair)
        assert (pair.preferred, pair.votes) == (1, (1, 1))
        assert {reply.system for reply in pair.replies} < {"system-0", "system-1", "system-2"}


def test_pairs_of_a_file_are_judged_as_pairs(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps({"id": "p", "prompt": "Tea?", "response_a": "No.", "response_b": "Yes.", "winner": "a"}))
    study = annotate(str(file), tmp_path / "study", raters=1)
    assert study.design.pairwise
    (unrated,) = rejoinder.load_study(study.folder).lines
    assert isinstance(unrated, Pair) and (unrated.id, unrated.preferred, unrated.votes) == ("p", None, ())
    with pytest.raises(UsageError, match='the design asks about single ones. Write scale = "pair"'):
        annotate(str(file), tmp_path / "other", design=Design())


def test_pairs_need_two_replies_to_a_context(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no context has two different replies"):
        annotate(replies(3, 1), tmp_path / "study", design=PAIRWISE)


# which lines


def test_the_lines_that_tell_most_are_chosen_and_say_what_they_stand_for(run: Run, tmp_path: Path) -> None:
    lines = [
        Example((f"q {number}",), "word " * (number % 20 + 1), id=f"{name}-{number}", system=name)
        for name in "ab"
        for number in range(40)
    ]
    rejoinder.write(lines, tmp_path / "lines.jsonl")
    made = run(
        "annotate", tmp_path / "lines.jsonl", "-o", tmp_path / "study", "--next", 12, "-s", "length", "--prepare"
    )
    assert made.code == 0, made.err
    chosen = [one for one in rejoinder.load_study(tmp_path / "study").lines if isinstance(one, Example)]
    asked = rejoinder.next_lines(lines, 12, "length")
    stood = [{one.id: one.extra["rating_weight"] for one in some} for some in (chosen, asked)]
    assert len(chosen) == 12 and stood[0] == stood[1]


def test_what_cannot_be_chosen_among(run: Run, tmp_path: Path) -> None:
    pair = {"context": ["q"], "responses": ["a", "b"], "preferred": 1}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair))
    out = ("-o", tmp_path / "study", "--prepare")
    refused(
        run("annotate", tmp_path / "pairs.jsonl", "--next", 3, *out),
        2,
        "--next chooses among single replies, and FILE holds pairs of replies. Name others, or leave it out",
    )
    refused(
        run("annotate", tmp_path / "pairs.jsonl", "-s", "length", *out),
        2,
        "-s is for --next, which chooses by a scorer. Say how many, or leave it out",
    )


def test_a_database_that_is_none_is_said_to_be(run: Run, tmp_path: Path) -> None:
    annotate(replies(1), tmp_path / "study").close()
    file = tmp_path / "study" / "study.sqlite"
    for rest in ("-wal", "-shm"):
        file.with_name(file.name + rest).unlink(missing_ok=True)
    file.write_text("no database at all, whatever it is called\n" * 50)
    said = f"{file}: damaged (file is not a database). Put it back as it was"
    refused(run("annotate", "-o", tmp_path / "study", "--prepare"), 3, said)


def test_a_copy_of_the_database_holds_every_answer(tmp_path: Path) -> None:
    study = annotate(replies(), tmp_path / "study", raters=2)
    one, other = raters(study)
    given = rate_all(study, one) + rate_all(study, other)
    with study.engine.connect() as reading:  # while somebody reads
        reading.execute(db.sql.select(db.items)).fetchone()
        copy = tmp_path / "copy.sqlite"
        copy.write_bytes((tmp_path / "study" / "study.sqlite").read_bytes())
    with sqlite3.connect(copy) as connection:
        assert connection.execute("select count(*) from rejoinder_answers").fetchone() == (given,)
    study.close()


def test_a_study_of_an_earlier_version_is_brought_into_one_file(tmp_path: Path) -> None:
    file = tmp_path / "study" / "study.sqlite"
    with annotate(replies(), tmp_path / "study", raters=1):
        pass
    with sqlite3.connect(file) as connection:
        assert connection.execute("pragma journal_mode=wal").fetchone() == ("wal",)
        with annotate(None, tmp_path / "study") as study:  # it is open elsewhere
            rate_all(study, raters(study)[0])
    connection.close()
    with annotate(None, tmp_path / "study") as study, study.engine.connect() as own:
        assert own.exec_driver_sql("pragma journal_mode").scalar() == "delete"
        assert len(all_answers(study)) > 0


def test_a_design_from_python_is_held_to_the_same_rules(tmp_path: Path) -> None:
    design = Design(questions=(Question(scale="yes/no", labels=("yes", "no")),))
    with pytest.raises(DataError, match="labels"):
        annotate(replies(), tmp_path / "study", design=design)
    assert not (tmp_path / "study").exists()
