"""Ids that several files give: replies of several systems, or lines given twice."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run
from rejoinder.errors import DataError
from rejoinder.example import Example, Rating
from rejoinder.data.shared_ids import refuse_copies, shared_ids_said

REMEDY = (
    "Give each file once; name two systems in a column system; where ids only number the lines of a file, leave them "
)


def file(name: str, *replies: str, rating: float = 3, system: str | None = None) -> list[Example]:
    return [
        Example(
            (f"q {number}",), reply, id=str(number), system=system, ratings=(Rating(rating),), where=f"{name}:{number}"
        )
        for number, reply in enumerate(replies, start=1)
    ]


OLD = file("old.csv", "a", "b", "c")
NEW = file("new.csv", "x", "b", "z")


def test_replies_of_two_systems_are_lines_of_their_own_and_that_is_said() -> None:
    refuse_copies([*OLD, *NEW])
    assert shared_ids_said([*OLD, *NEW]) == (
        "old.csv and new.csv share 3 ids, taken as the replies of two systems: each is a line of its own, 1 of them "
        "said by both (first that of id '2'); a column \"system\" would have the systems compared"
    )
    assert shared_ids_said([*OLD[:1], *file("new.csv", "x", system="v2")]) == (
        "old.csv and new.csv share 1 id, taken as the replies of two systems: each is a line of its own"
    )
    third = file("third.csv", "p", "q", "c")
    assert re.findall(r"(\S+) and (\S+) share", shared_ids_said([*OLD, *NEW, *third])) == [
        ("old.csv", "new.csv"),
        ("old.csv", "third.csv"),
    ]


def test_nothing_is_said_of_files_that_share_nothing() -> None:
    assert shared_ids_said([*OLD, *(replace(one, dataset="other") for one in NEW)]) == ""
    assert shared_ids_said([*OLD, *(replace(one, id=f"n{one.id}") for one in NEW)]) == ""
    assert shared_ids_said([replace(one, id="", where="") for one in (*OLD, *OLD)]) == ""
    assert shared_ids_said([]) == ""


@pytest.mark.parametrize(
    ("again", "place"),
    [
        (file("./old.csv", "a", " b ", "c"), "./old.csv:1"),
        (file("new.csv", "a", "b", "z"), "new.csv:1"),
        (file("new.csv", "x", "b"), "new.csv:2"),
        (file("new.csv", "a", "b", "c", system="v2"), "new.csv:1"),
        (NEW[1:2], "new.csv:2"),
    ],
)
def test_one_line_in_two_files_is_refused(again: list[Example], place: str) -> None:
    number = place[-1]
    with pytest.raises(DataError) as refusal:
        refuse_copies([*OLD, *again])
    problem = f"id '{number}' of data set 'all' was already given at old.csv:{number}, with this reply"
    assert str(refusal.value) == f'{place}: field "id": {problem}. {REMEDY}out of account: --map id='


def test_the_files_of_two_raters_are_refused_with_what_joins_them() -> None:
    with pytest.raises(DataError, match="put the rows of two raters into one file with a column rater; "):
        refuse_copies([*OLD, *file("bob.csv", "a", "b", "c", rating=5)])


def test_in_one_file_an_id_is_of_one_line_of_each_system() -> None:
    named = [*file("a.csv", "a", "b", system="v1"), *file("a.csv", "a", "c", system="v2")]
    assert shared_ids_said(named) == ""
    for again in (file("a.csv", "new"), file("a.csv", "new", system="v2")):
        with pytest.raises(DataError, match=r"^a.csv:1: .*'1' of data set 'all' was already given at a.csv:1. "):
            refuse_copies([*named, *again])
    with pytest.raises(DataError, match=r"^example 4: .* already given at example 1\. "):
        refuse_copies([replace(one, where="") for one in (*OLD, *NEW)])


def test_another_reply_of_a_named_system_is_no_other_system() -> None:
    again = [*file("a.csv", "a", "b", system="m"), *file("b.csv", "c", "d", system="m")]
    with pytest.raises(
        DataError, match=r"^b.csv:1: .*id '1' was already given at a.csv:1, with another reply of the same"
    ):
        refuse_copies(again)


REPLIES = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab")), min_size=1, max_size=9)


@given(REPLIES)
def test_either_most_replies_differ_and_it_is_said_or_it_is_refused(replies: list[tuple[str, str]]) -> None:
    one, other = (file(name, *(pair[side] for pair in replies)) for side, name in enumerate(("a.csv", "b.csv")))
    differing = sum(first != second for first, second in replies)
    for lines in ([*one, *other], [*other, *one]):
        if 2 * differing > len(replies):
            said = shared_ids_said(lines)
            assert f"share {len(replies)} id" in said
            assert (f"{len(replies) - differing} of them said by both" in said) == (differing < len(replies))
        else:
            with pytest.raises(DataError, match="already given"):
                shared_ids_said(lines)
    named = [replace(line, system=line.where[0]) for line in (*one, *other)]
    assert f"share {len(replies)} id" in shared_ids_said(named), "systems that are named may say what they like"


def test_a_study_of_the_files_that_compare_takes(tmp_path: Path, run: Run) -> None:
    for name in ("old", "new"):
        rows = [f"{n},q{n},{name} {'word ' * (n % 4)},{n % 5 + 1}" for n in range(9)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,prompt,answer,rating (1-5)", *rows]))
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    done = run("study", old, new, "-s", "length", "--resamples", "100")
    assert (done.code, "18 of them rated" in done.out) == (0, True)
    assert f"{old} and {new} share 9 ids, taken as the replies of two systems" in " ".join(done.out.split())
    results = rejoinder.study([*rejoinder.read(old), *rejoinder.read(new)], ["length"], resamples=0)
    assert any(line.startswith(f"{old} and {new} share 9 ids") for line in results.warnings)
    (tmp_path / "again.csv").write_text(old.read_text())
    again = tmp_path / "again.csv"
    refusal = run("study", old, again, "-s", "length")
    assert (refusal.code, "already given at" in refusal.err) == (3, True)
    assert run("study", old, again, "-s", "length", "--resamples", "100", "--map", "id=").code == 0, "the remedy is one"


@pytest.mark.parametrize(
    ("extras", "remedy"),
    [
        ([{"by": "ann"}, {"by": "bob"}], "say which column names them: --map rater=by"),
        (
            [{"by": "ann", "n": 1}, {"by": "bob", "n": 2}],
            "say which column names them: --map rater=COLUMN, one of by, n",
        ),
        ([{"by": "ann"}, {"by": "ann"}], "name them in a column rater"),
    ],
)
def test_rows_of_several_raters_are_told_what_names_them(extras: list[dict[str, Any]], remedy: str) -> None:
    lines = [replace(OLD[0], ratings=(Rating(3),), extra=extra) for extra in extras]
    with pytest.raises(DataError) as refusal:
        refuse_copies(lines)
    assert str(refusal.value).endswith(f"Give each line once; where several people rated it, {remedy}")


def test_other_replies_of_one_id_are_told_to_name_their_systems() -> None:
    with pytest.raises(DataError, match=r"name the systems in a column system; where ids only number .* --map id="):
        refuse_copies([OLD[0], replace(OLD[0], response="another")])
