"""What Python programs hold is taken wherever examples are, and results go back into data frames."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import rejoinder
from rejoinder.errors import DataError, MissingExtra, RejoinderError, UsageError
from rejoinder.example import Example, Rating

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


@pytest.mark.parametrize("number", [np.int64(3), np.float32(3), np.array(3), Decimal(3), Decimal("3.0")])
def test_numbers_of_other_libraries_are_ratings(number: Any) -> None:
    for rated in ({"rating": number}, {"ratings": {"overall": [number]}}, {"quality": {"overall": number}}):
        (one,) = rejoinder.examples_of([{"response": "a", **rated}])
        assert type(one.rating()) in (int, float) and one.rating() == 3
    (one,) = rejoinder.examples_of(pandas.DataFrame({"response": ["a"], "rating": [Decimal(3)]}))
    assert one.rating() == 3


def test_a_missing_rater_is_unnamed_and_a_float_is_the_whole_number(tmp_path: Path) -> None:
    rows = [{"item": 7, "response": "a", "rater": rater, "rating": 3} for rater in (1.0, math.nan, 2)]
    missing = [{**rows[0], "rater": one} for one in (pandas.NA, np.float32("nan"), None, "")]
    assert [one.rater for one in rejoinder.examples_of(missing)[0].ratings] == [None] * 4
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
        (
            pandas.DataFrame({"prompt": ["a", "b"], "reply": ["c", None]}),
            'examples:row 2: field "response": is null, expected text. Write "" for an empty reply (in a data fr',
        ),
        ([{"response": "a", "rating": math.inf}], 'examples:item 1: field "rating": infinite or too large, expected a'),
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "examples: two columns have one name. Rename one"),
        ("nowhere.csv", "nowhere.csv: no such file"),
    ],
)
def test_what_cannot_be_examples(given: Any, message: str) -> None:
    with pytest.raises(RejoinderError) as caught:
        rejoinder.score(given, "length")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"turns": "All"}, "turns is 'All', expected one of last, all"),
        ({"turn": "all"}, "reading takes no turn. What it takes: map, input_format, turns, note, keep, without"),
        ({"on_error": "skip", "format": "csv"}, "reading takes no format, on_error. What it takes: map"),
        ({"input_format": "exe"}, "input_format is 'exe', expected one of jsonl, json, csv"),
        ({"map": "response=answer"}, "map is 'response=answer', expected a dict such as"),
        ({"map": {"response": 3}}, "map says that response is 3, expected a name, or a list of names, as text"),
        ({"map": {"response": None}}, "map says that response is None, expected a name"),
    ],
)
def test_how_to_read_is_said_in_known_words_or_refused(how: dict[str, Any], message: str) -> None:
    calls: list[Callable[..., Any]] = [rejoinder.read, rejoinder.read_pairs]
    for call in [*calls, rejoinder.examples_of, rejoinder.pairs_of, rejoinder.reply_sets_of]:
        for given in ["nowhere.jsonl"] if call in calls else ["nowhere.jsonl", [Example((), "a")], [{"response": "a"}]]:
            with pytest.raises(UsageError) as caught:
                call(given, **how)
            assert str(caught.value).startswith(message)


def test_pairs_are_sent_where_they_are_taken() -> None:
    pairs = [{"prompt": "hi", "chosen": "a b", "rejected": "b", "id": str(n)} for n in range(4)]
    with pytest.raises(DataError, match="Pairs go into the commands study and score, in Python into rejoinder.study_p"):
        rejoinder.score(pairs, "length")
    assert rejoinder.study_pairs(pairs, "length", resamples=0).answer


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


def test_scores_of_a_frame_go_back_to_its_rows() -> None:
    frame = pandas.DataFrame(
        {"prompt": ["Tea?", "Why?", "Hm?"], "answer": ["No.", "I do not know at all.", "Yes I do"]}, index=[7, 7, "x"]
    )
    for given in (frame, frame.sort_values("answer", ascending=False), frame[1:]):
        scored = given.join(rejoinder.score(given, "length").to_pandas()) if given.index.is_unique else None
        found = rejoinder.score(given, "length").to_pandas()
        assert found.index.tolist() == given.index.tolist()
        assert found["score"].tolist() == [float(len(text.split())) for text in given["answer"]]
        assert scored is None or scored["score"].tolist() == found["score"].tolist()


def test_scores_of_joined_rows_go_to_none_of_them() -> None:
    rated = {"prompt": ["Tea?"] * 4, "answer": ["No."] * 2 + ["Yes I do."] * 2, "annotator": ["ann", "bob"] * 2}
    frame = pandas.DataFrame({**rated, "stars": [1, 2, 3, 4]})
    found = rejoinder.score(frame, "length").to_pandas()
    assert found["score"].tolist() == [1, 3] and found.index.tolist() == ["examples:row 1", "examples:row 3"]
    assert frame.assign(score=found["score"])["score"].isna().all()


def test_scores_in_a_frame_are_not_taken_for_ratings() -> None:
    asked = [("Tea?", "No."), ("Any plans?", "I will see a film."), ("Who?", "I am Anna, and you?"), ("Hm?", "of")]
    frame = pandas.DataFrame([(f"{a} {n}", b) for n in range(5) for a, b in asked], columns=["prompt", "answer"])
    scored = frame.join(rejoinder.score(frame, out_of_domain="keep").to_pandas())
    with pytest.raises(DataError, match="none of 20 lines has a rating"):
        rejoinder.estimate(scored)
    named = frame.assign(score=scored["score"])
    own = "to the last digit. If scores were taken for people's ratings, say where those are: --map rating=NAME."
    answer = rejoinder.full_study(named, ["rejoinder"], resamples=100).answer
    assert f"20 ratings are what rejoinder said, {own}" in answer
    found = rejoinder.estimate(named)
    assert (found.own, found.answer[1]) == (20, f"20 ratings are what rejoinder said, {own}")


def test_ratings_that_agree_with_a_scorer_in_all_are_people_s_still() -> None:
    lines = [{"prompt": f"{n}?", "answer": "yes " * (n % 2 + 1), "rating": n % 2, "scale": [0, 1]} for n in range(12)]
    answer = rejoinder.full_study(lines, ["length"], resamples=100).answer
    assert "Pearson 1.00" in answer[0] and not any("to the last digit" in one for one in answer)


def test_values_of_numpy_and_pandas_stay_what_they_are() -> None:
    record = {"response": "No.", "a": np.int64(3), "b": np.arange(2), "c": pandas.NA, "d": np.bool_(False)}
    (found,) = rejoinder.examples_of([{**record, "unanswered": np.bool_(False)}])
    assert found.extra == {"a": 3, "b": [0, 1], "c": None, "d": False, "unanswered": False}


@pytest.mark.parametrize(
    ("said", "missing"),
    [("no", False), ("0", False), ("0.0", False), (False, False), (pandas.NA, False), ("time out", True), (1, True)],
)
def test_a_record_may_say_whether_it_was_answered(said: object, missing: bool) -> None:
    (found,) = rejoinder.examples_of([{"response": "No.", "unanswered": said}])
    assert found.unanswered is missing


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
