"""What Python programs hold is taken wherever examples are, and results go back into data frames."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import rejoinder
from rejoinder.errors import DataError, MissingExtra, RejoinderError, UsageError
from rejoinder.records import Example, Rating

RECORDS: list[dict[str, Any]] = [
    {"prompt": f"question {number}?", "answer": "word " * (number % 7 + 1), "stars": number % 5 + 1, "model": "v1"}
    for number in range(12)
]
TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]


def columns() -> dict[str, list[Any]]:
    return {key: [record[key] for record in RECORDS] for key in RECORDS[0]}


def file(folder: Path) -> Path:
    pandas.DataFrame(columns()).to_csv(folder / "a.csv", index=False)
    return folder / "a.csv"


FORMS: dict[str, Callable[[Path], Any]] = {
    "dicts": lambda _: RECORDS,
    "a generator of dicts": lambda _: iter(RECORDS),
    "a frame of pandas": lambda _: pandas.DataFrame(columns()),
    "a frame of pandas with gaps": lambda _: pandas.DataFrame({**columns(), "note": [None, np.nan] * 6}),
    "a frame of polars": lambda _: polars.DataFrame(columns()),
    "a lazy frame of polars": lambda _: polars.LazyFrame(columns()),
    "a file": file,
    "the name of a file": lambda folder: str(file(folder)),
    "examples": lambda _: rejoinder.examples_of(RECORDS),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_is_the_same_examples(tmp_path: Path, form: Callable[[Path], Any]) -> None:
    found = rejoinder.examples_of(form(tmp_path))
    assert [example.context for example in found] == [(record["prompt"],) for record in RECORDS]
    assert [example.response for example in found] == [record["answer"] for record in RECORDS]
    assert [example.ratings for example in found] == [(Rating(record["stars"]),) for record in RECORDS]
    assert {example.system for example in found} == {"v1"}
    assert not any(example.extra for example in found)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_call_takes_every_form(tmp_path: Path, form: Callable[[Path], Any]) -> None:
    values = rejoinder.score(form(tmp_path), "length").values
    assert values.tolist() == [number % 7 + 1 for number in range(12)]
    assert rejoinder.study(form(tmp_path), ["length"], resamples=0).rated == 12
    assert rejoinder.full_study(form(tmp_path), ["length"], resamples=100).study.rated == 12
    assert rejoinder.compare(form(tmp_path), form(tmp_path), ["length"], resamples=100).pairs == 12
    with pytest.raises(DataError, match="without a scale|contexts that c-adem can learn from"):
        rejoinder.train_judge(form(tmp_path), "c-adem")
    with pytest.raises(DataError, match="12 rated contexts that c-adem can learn from"):
        rejoinder.train(form(tmp_path), "c-adem", scale=(1, 5))


def test_chat_messages_one_conversation_or_many() -> None:
    (alone,) = rejoinder.examples_of(TALK)
    assert (alone.context, alone.response, alone.where) == (("hi",), "ho", "examples:item 1")
    assert len(rejoinder.examples_of([TALK, {"messages": TALK}])) == 2
    (by_itself,) = rejoinder.examples_of({"context": "hi", "response": "ho"})
    assert by_itself.response == "ho"
    found = rejoinder.examples_of([*TALK, *TALK], turns="all")
    assert [example.id for example in found] == ["examples:item 1#1", "examples:item 1#2"]


def test_lists_and_numbers_of_numpy_in_a_frame() -> None:
    frame = pandas.DataFrame({"response": ["a", "b"], "rating_1": [1, 2], "rating_2": [3.5, np.nan]})
    frame["context"] = [np.array(["x", "y"]), ["z"]]
    first, second = rejoinder.examples_of(frame)
    assert (first.context, second.context) == (("x", "y"), ("z",))
    assert [rating.value for rating in (*first.ratings, *second.ratings)] == [1, 3.5, 2]
    listed = polars.DataFrame({"response": ["a"], "context": [["x", "y"]], "references": [None]})
    assert rejoinder.examples_of(listed)[0].context == ("x", "y")


def test_a_missing_rater_is_unnamed_and_a_float_is_the_whole_number(tmp_path: Path) -> None:
    rows = [{"item": 7, "response": "a", "rater": rater, "rating": 3} for rater in (1.0, math.nan, 2)]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    pandas.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    beside = {"ratings": {"overall": [3, 3, 3]}, "raters": {"overall": [1.0, math.nan, 2]}}
    for given in (rows, pandas.DataFrame(rows), tmp_path / "a.jsonl", tmp_path / "a.csv", [{"response": "a"} | beside]):
        (example,) = rejoinder.examples_of(given)
        assert [rating.rater for rating in example.ratings] == ["1", None, "2"]
    with pytest.raises(DataError, match='item 1: field "rater": is 1.5, expected a name. Write text or a whole number'):
        rejoinder.examples_of([{**rows[0], "rater": 1.5}])


def test_a_frame_with_a_row_a_rater_is_joined() -> None:
    frame = pandas.DataFrame(
        {"item": [1, 1, 2], "response": ["a", "a", "b"], "rater": ["x", "y", "x"], "rating": [1, 2, 3]}
    )
    said: list[str] = []
    first, second = rejoinder.examples_of(frame, note=said.append)
    assert (first.id, [rating.value for rating in first.ratings]) == ("1", [1, 2])
    assert second.ratings == (Rating(3, rater="x"),)
    assert said[0] == "examples: read item as id"


def test_columns_of_other_names_are_mapped() -> None:
    frame = polars.DataFrame({"frage": ["hi"], "antwort": ["ho"], "note": [2]})
    (example,) = rejoinder.examples_of(frame, map={"context": "frage", "response": "antwort", "rating": "note"})
    assert (example.context, example.response, example.rating()) == (("hi",), "ho", 2)
    with pytest.raises(UsageError, match="no 'punkte'. There are: frage, antwort, note"):
        rejoinder.examples_of(frame, map={"rating": "punkte"})


def test_rows_of_two_frames_are_paired_by_context_not_by_place() -> None:
    a = pandas.DataFrame({"prompt": ["p", "q", "r"], "response": ["one", "one two", "one two three"]})
    found = rejoinder.compare(a, a.iloc[::-1], ["length"], resamples=100)
    assert (found.aligned, found.contrasts[0].value) == ("context", 0)


def test_examples_pass_as_they_are_and_mix() -> None:
    own = Example(("hi",), "ho", id="1", where="f:1")
    assert rejoinder.examples_of([own])[0] is own
    assert [example.response for example in rejoinder.examples_of([own, {"response": "hey"}])] == ["ho", "hey"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (5, "examples are given as int, expected a list of Example or of dicts, a data frame, chat messages, or the"),
        ([5], "examples:item 1: int, expected a list of Example or of dicts"),
        (pandas.Series(["a"]), "examples are given as Series, expected a list"),
        ([{"text": "a"}], 'examples:item 1: field "response": missing (found: text), expected text'),
        ([{"chosen": "a", "rejected": "b"}], "examples:item 1: a pair of replies (chosen and rejected), expected one"),
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "examples: two columns have one name. Rename one"),
        ("nowhere.csv", "nowhere.csv: no such file"),
    ],
)
def test_what_cannot_be_examples(given: Any, message: str) -> None:
    with pytest.raises(RejoinderError) as caught:
        rejoinder.score(given, "length")
    assert str(caught.value).startswith(message)


def test_pairs_too_are_taken_from_dicts_and_frames() -> None:
    pairs = [{"prompt": f"q{number}", "chosen": "a b", "rejected": "c"} for number in range(5)]
    for given in (pairs, pandas.DataFrame(pairs), rejoinder.pairs_of(polars.DataFrame(pairs))):
        found = rejoinder.study_pairs(given, ["length"], resamples=100)
        assert next(one for one in found.results if one.scorer == "length").value == 1


# Out again


def test_results_become_frames() -> None:
    scores = rejoinder.score([*RECORDS[:2], {"response": "x"}], "context-overlap").to_pandas()
    assert list(scores.columns) == ["score", "unscored", "notes"]
    assert scores["unscored"].tolist()[2] == "no context" and np.isnan(scores["score"][2])
    assert scores.attrs["signature"].startswith("scorer:context-overlap")
    study = rejoinder.study(RECORDS, ["length"], resamples=100)
    frame = study.to_pandas()
    assert len(frame) == len(study.agreements) and set(frame["scorer"]) == {"length"}
    assert frame["value"].tolist() == pytest.approx([one.value for one in study.agreements], nan_ok=True)
    assert frame.attrs["signature"]["length"]["scorer"] == "length"
    compared = rejoinder.compare(RECORDS, RECORDS, ["length"], resamples=100).to_pandas()
    assert compared["verdict"].tolist() == ["not separable"]
    assert len(rejoinder.full_study(RECORDS, ["length"], resamples=100).to_pandas()) == len(frame)


def test_without_pandas_it_is_told_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = rejoinder.score(RECORDS, "length")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"A data frame needs pandas. Install it: pip install 'rejoinder\[pandas\]'"):
        scores.to_pandas()


def test_writing_takes_every_form_and_streams_examples(tmp_path: Path) -> None:
    assert rejoinder.write(RECORDS, tmp_path / "a.jsonl") == 12
    assert next(rejoinder.read(tmp_path / "a.jsonl")).context == ("question 0?",)
    with pytest.raises(UsageError, match=r"a dict, expected Example. Make examples of it: rejoinder.examples_of"):
        rejoinder.write(iter(RECORDS), tmp_path / "b.jsonl")
    assert not (tmp_path / "b.jsonl").exists()
