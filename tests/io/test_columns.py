"""Other people's columns and keys: what is understood, what is said, what is refused, and `--map` for the rest."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run, refused
from rejoinder.errors import ColumnError, DataError, UsageError
from rejoinder.example import Example, Rating
from rejoinder.humans.lines import unnamed_raters_said
from rejoinder.io.columns import Names
from rejoinder.io.names import plain


def table(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def one(path: Path, **how: Any) -> tuple[Example, list[str]]:
    """The one example of a file, and what was said of its names."""
    said: list[str] = []
    (example,) = rejoinder.read(path, note=said.append, **how)
    return example, [line.removeprefix(f"{path}: ") for line in said]


UNDERSTOOD: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"prompt": "hi", "response": "ho"}, {"context": ("hi",)}, "read prompt as context"),
    ({"question": "hi", "answer": "ho"}, {"context": ("hi",)}, "read answer as response, question as context"),
    ({"input": "hi", "output": "ho"}, {"context": ("hi",)}, "read output as response, input as context"),
    (
        {"instruction": "do", "input": "it", "output": "ho"},
        {"context": ("do\n\nit",)},
        "instruction and input as context",
    ),
    ({"instruction": "do", "input": "", "output": "ho"}, {"context": ("do",)}, "instruction and input as context"),
    (
        {"history": ["a", "b"], "query": "c", "reply": "ho"},
        {"context": ("a", "b", "c")},
        "history and query as context",
    ),
    ({"query": "c", "history": [["a", "b"]], "reply": "ho"}, {"context": ("a", "b", "c")}, "history and query as"),
    ({"history": ["a", "b"], "message": "c", "reply": "ho"}, {"context": ("a", "b", "c")}, "history and message as"),
    ({"user": "c", "history": ["a", "b"], "bot": "ho"}, {"context": ("a", "b", "c")}, "history and user as context"),
    ({"human": "c", "chatHistory": [["a", "b"]], "ai": "ho"}, {"context": ("a", "b", "c")}, "chatHistory and human as"),
    (
        {"history": ["a", "b"], "dialogue": "so it goes", "response": "ho"},
        {"context": ("a", "b"), "extra": {"dialogue": "so it goes"}},
        "read history as context",
    ),
    ({"user": "hi", "assistant": "ho"}, {"context": ("hi",)}, "read assistant as response, user as context"),
    ({"User message": "hi", "Bot reply": "ho"}, {"context": ("hi",)}, "read Bot reply as response, User message as"),
    ({"userInput": "hi", "modelOutput": "ho"}, {"context": ("hi",)}, "read modelOutput as response, userInput as"),
    ({"response": "ho", "ground_truth": "x"}, {"references": ("x",)}, "read ground_truth as references"),
    ({"response": "ho", "expected_output": "x"}, {"references": ("x",)}, "read expected_output as references"),
    ({"response": "ho", "target": ["x", "y"]}, {"references": ("x", "y")}, "read target as references"),
    ({"response": "ho", "model": "v2"}, {"system": "v2"}, "read model as system"),
    ({"user": "hi", "bot": "ho"}, {"context": ("hi",)}, "read bot as response, user as context"),
    ({"response": "ho", "bot": "v2"}, {"system": "v2"}, "read bot as system"),
    ({"response": "ho", "stars": 4}, {"ratings": (Rating(4),)}, "read stars as rating"),
    ({"response": "ho", "human_score": "3,5"}, {"ratings": (Rating(3.5),)}, "read human_score as rating"),
    ({"response": "ho", "mean_rating": 3.5}, {"quality": {"overall": 3.5}}, "read mean_rating as quality"),
    ({"response": "ho", "score": 4}, {"ratings": (Rating(4),)}, "read score as rating"),
    ({"response": "ho", "score": "n/a"}, {"extra": {"score": "n/a"}}, "read score as rating"),
    ({"response": "ho", "conversation_id": 7}, {"extra": {"dialogue_id": 7}}, "read conversation_id as dialogue_id"),
    (
        {"prompt": "hi", "response": "ho", "conversation": "Chat 7"},
        {"context": ("hi",), "extra": {"dialogue_id": "Chat 7"}},
        "conversation as dialogue_id",
    ),
    (
        {"chat": "c-7", "user": "hi", "bot": "ho"},
        {"context": ("hi",), "extra": {"dialogue_id": "c-7"}},
        "chat as dialogue",
    ),
    (
        {"context": ["hi"], "response": "ho", "dialogue": 7},
        {"extra": {"dialogue_id": 7}},
        "read dialogue as dialogue_id",
    ),
    ({"chat": "c-7", "response": "ho"}, {"context": ("c-7",)}, "read chat as context"),
    (
        {"prompt": "hi", "response": "ho", "chat": "c-7", "session_id": "s"},
        {"extra": {"chat": "c-7", "dialogue_id": "s"}},
        "session_id as dialogue_id",
    ),
    ({"prompt": "hi", "response": "ho", "chat": "true"}, {"extra": {"chat": "true"}}, "read prompt as context"),
    ({"response": "ho", "prompt_id": 7}, {"context_id": "7"}, "read prompt_id as context_id"),
    ({"response": "ho", "item": 7}, {"id": "7"}, "read item as id"),
    (
        {"response": "ho", "rating_1": 4, "rating_2": 5},
        {"ratings": (Rating(4, rater="rating_1"), Rating(5, rater="rating_2"))},
        "rating_1 and rating_2 as rating",
    ),
    ({"response": "ho", "rating.fluency": 2}, {"ratings": (Rating(2, "fluency"),)}, ""),
    ({"response": "ho", "rating": [4, 5]}, {"ratings": (Rating(4), Rating(5))}, ""),
    ({"response": "ho", "Quality": {"overall": 4}}, {"quality": {"overall": 4}}, ""),
    ({"response": "ho", "Rating": 4}, {"ratings": (Rating(4),)}, ""),
    ({"Response": "ho", "contextId": "c"}, {"context_id": "c"}, ""),
]


@pytest.mark.parametrize(("record", "expected", "said"), UNDERSTOOD, ids=lambda value: str(value)[:50])
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_common_names_are_understood_and_said(
    tmp_path: Path, record: dict[str, Any], expected: dict[str, Any], said: str, suffix: str
) -> None:
    path = tmp_path / f"a.{suffix}"
    if suffix == "jsonl":
        path.write_text(json.dumps(record))
    else:
        cells = [value if isinstance(value, str) else json.dumps(value) for value in record.values()]
        if any(isinstance(value, list) and not isinstance(value[0], str) for value in record.values()):
            pytest.skip("lists of these stand in JSON only")
        rejoinder_csv(path, list(record), cells)
        expected = {**expected, "extra": {key: str(value) for key, value in expected.get("extra", {}).items()}}
    example, told = one(path)
    assert example.response == "ho"
    for name, value in expected.items():
        assert getattr(example, name) == value
    assert len(told) == bool(said) and all(said in line for line in told)


def rejoinder_csv(path: Path, header: list[str], *rows: list[str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])


def test_what_is_understood_is_said_once_on_stderr(tmp_path: Path, run: Run) -> None:
    path = table(tmp_path / "a.csv", "prompt,response,stars", *(f"hi,ho {number},{number % 5}" for number in range(9)))
    done = run("score", path, "-s", "length")
    assert (done.code, len(done.records)) == (0, 9)
    assert done.err == f"{path}: read prompt as context, stars as rating\n"
    assert done.records[0]["context"] == ["hi"] and done.records[3]["ratings"] == {"overall": [3]}


@pytest.mark.parametrize("name", ["Conversation ID", "dialogue_id"])
def test_ids_of_conversations_that_are_missing_are_said(tmp_path: Path, name: str) -> None:
    """A spreadsheet with merged cells has the id in the first row of each conversation alone."""
    path = table(tmp_path / "a.csv", f"{name},prompt,response", "c1,hi,ho", ",so,la", ",so,lo")
    told: list[str] = []
    assert [one.extra.get("dialogue_id") for one in rejoinder.read(path, note=told.append)] == ["c1", None, None]
    said = f"{path}: rows without a conversation's id are taken for conversations of their own. If cells were merged, "
    assert [one for one in told if "own" in one] == [f"{said}fill the id in on every row"]


def test_each_file_says_only_what_is_new(tmp_path: Path) -> None:
    first = table(tmp_path / "a.csv", "prompt,response", "hi,ho")
    second = table(tmp_path / "b.csv", "prompt,response,stars", "hi,ho,3")
    said: list[str] = []
    assert len(list(rejoinder.read(first, second, note=said.append))) == 2
    assert said == [f"{first}: read prompt as context", f"{second}: read stars as rating"]


AMBIGUOUS = [
    (
        "question,answer,prediction",
        "answer and prediction could each be the response. Say which: --map response=prediction",
    ),
    ("prompt,question,answer", "prompt and question could each be the context. Say which: --map context=question"),
    ("context,question,answer", "context and question could each be the context. Say which: --map context=question"),
    ("history,message,user,answer", "history, message and user could each be the context. Say which: --map context="),
    (
        "response,gold,reference",
        "gold and reference could each be the references. Say which: --map references=reference",
    ),
    (
        "response,stars,human_rating",
        "stars and human_rating could each be the rating. Say which: --map rating=human_rating",
    ),
    (
        "response,rating_1,rating_2,score_1,score_2",
        "rating_1, rating_2, score_1 and score_2 could each be the rating. Say",
    ),
    ("response,rating,rating_1,rating_2", "rating_1, rating_2 and rating could each be the rating. Say which: --map"),
]


@pytest.mark.parametrize(("header", "message"), AMBIGUOUS)
def test_what_could_be_two_things_is_refused_with_the_remedy(
    tmp_path: Path, header: str, message: str, run: Run
) -> None:
    path = table(tmp_path / "a.csv", header, ",".join("3" for _ in header.split(",")))
    done = run("score", path, "-s", "length", "--on-error", "skip")
    assert done.code == 2 and done.err.startswith(f"rejoinder: {path}: {message}")
    remedies = re.findall(r"--map (\w+)=([\w+]+)", done.err)
    assert remedies
    for ours, theirs in remedies:
        assert len(list(rejoinder.read(path, map={ours: theirs.split("+")}))) == 1, "the remedy is one"


@pytest.mark.parametrize("name", ["question", "prompt", "instruction", "user_input", "message", "history"])
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_what_was_asked_is_not_lost_beside_a_context(tmp_path: Path, name: str, suffix: str) -> None:
    record = {"context": "Paris lies on the Seine.", name: "Where is Paris?", "response": "In France."}
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        rejoinder_csv(path, list(record), list(record.values()))
    else:
        path.write_text(json.dumps(record))
    with pytest.raises(UsageError, match=f"context and {name} could each be the context. Say which: --map context="):
        one(path)
    asked, document = record[name], record["context"]
    assert one(path, map={"context": name})[0].context == (asked,)
    assert one(path, map={"context": ["context", name]})[0].context == (document, asked)
    kept, _ = one(path, map={"context": "context"})
    assert (kept.context, kept.extra) == ((document,), {name: asked})


def test_a_number_beside_a_history_is_no_turn() -> None:
    (example,) = rejoinder.examples_of([{"history": ["a", "b"], "user": 17, "response": "ho"}])
    assert (example.context, example.extra) == (("a", "b"), {"user": 17})


def test_whoever_stands_beside_a_context_is_left_and_what_may_have_been_said_is_named(tmp_path: Path) -> None:
    record = {"context": ["hi"], "response": "ho", "user": "U17", "conversation": "long"}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record))
    assert one(path)[1] == []
    path.write_text(json.dumps({**record, "user": "Tea, please?"}))
    example, said = one(path)
    remedy = "If that is what was said last, say --map context=context+user"
    assert example.context == ("hi",) and said == [f"context is read and user is not. {remedy}"]
    assert one(path, map={"context": ["context", "user"]})[0].context == ("hi", "Tea, please?")


def test_what_was_left_aside_when_lines_were_first_read_is_left_aside_again(tmp_path: Path, run: Run) -> None:
    path, out = table(tmp_path / "a.csv", "doc,question,answer", "some text,Tea?,No."), tmp_path / "out.csv"
    assert run("score", path, "-s", "length", "--map", "context=doc", "-o", out).code == 0
    (again,) = rejoinder.read(out, map={"context": "doc"})
    assert (again.context, again.extra["question"]) == (("some text",), "Tea?")
    assert run("score", path, "-s", "length", "--map", "context=doc", "-o", tmp_path / "out.jsonl").code == 0
    (again,) = rejoinder.read(tmp_path / "out.jsonl")
    assert (again.context, again.extra["question"]) == (("some text",), "Tea?")


def test_two_columns_that_only_may_be_ratings_are_said_and_not_read(tmp_path: Path) -> None:
    example, said = one(table(tmp_path / "a.csv", "response,score,label", "ho,4,5"))
    assert (example.ratings, example.extra) == ((), {"score": "4", "label": "5"})
    assert said == ["score and label may each be the rating, none is read as one. Say which: --map rating=label"]


def test_map_says_what_columns_are(tmp_path: Path, run: Run) -> None:
    path = table(tmp_path / "a.csv", "frage,antwort,note,response", "hi,ho,4,old")
    how = "context=frage,response=antwort,rating=note"
    (record,) = run("score", path, "-s", "length", "--map", how).records
    assert (record["context"], record["response"], record["ratings"]) == (["hi"], "ho", {"overall": [4]})
    assert record["original_response"] == "old", "what stood there is kept"
    example, said = one(
        path, map={"context": ["frage", "note"], "response": "antwort", "rating.tone": "note"} | {"context": "frage"}
    )
    assert (example.ratings, said) == ((Rating(4, "tone"),), [])


def test_map_joins_columns(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "a,b,response,ann,bob,x,y", "hi,ho,hey,3,,u,v")
    columns = {"context": ["a", "b"], "rating": ["ann", "bob"], "references": ["x", "y"]}
    example, _ = one(path, map=columns)
    assert (example.context, example.references) == (("hi", "ho"), ("u", "v"))
    assert example.ratings == (Rating(3, rater="ann"),), "an empty cell is no rating"


def test_map_to_nothing_leaves_a_column_alone(tmp_path: Path, run: Run) -> None:
    path = table(tmp_path / "a.csv", "response,rating", "ho,PG-13")
    refused(
        run("score", path, "-s", "length"),
        3,
        f"{path}:2: field \"rating\": 'PG-13', expected a number. Write a number (3, 3/5, 60%), yes or no, and leave "
        "empty what is not rated; --on-error skip leaves such lines out; if rating is no rating at all, say "
        "--map rating=",
    )
    (record,) = run("score", path, "-s", "length", "--map", "rating=").records
    assert record["rating"] == "PG-13" and "ratings" not in record


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("stars", "--map stars: has no =. Write --map context=prompt,rating=stars"),
        ("rating=a,rating=b", "--map rating=b: is given twice. Write --map context=prompt,rating=stars"),
        ("points=a", "--map points=...: no field of ours. Before the = stands one of id, dataset, context,"),
        ("rating=a,context=a", "--map gives 'a' two meanings. Give it one"),
        ("rating=stars", "{path}:2: no 'stars'. There are: response, points"),
    ],
)
def test_a_map_that_cannot_be_followed(tmp_path: Path, run: Run, asked: str, message: str) -> None:
    path = table(tmp_path / "a.csv", "response,points", "ho,3")
    done = run("score", path, "-s", "length", "--map", asked)
    assert done.code == 2 and done.err.startswith(f"rejoinder: {message.format(path=path)}")


def test_a_key_that_no_line_has(tmp_path: Path) -> None:
    path = table(tmp_path / "a.jsonl", '{"response": "a"}', '{"response": "b", "points": 3}')
    rated = list(rejoinder.read(path, map={"rating": "points"}))
    assert [example.ratings for example in rated] == [(), (Rating(3),)]
    with pytest.raises(UsageError, match="^no line has 'stars'. Correct --map"):
        list(rejoinder.read(path, map={"rating": "stars"}))


def test_column_names_with_commas_and_blanks(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "a.csv"
    rejoinder_csv(path, ["what, then?", "the answer it gave"], ["hi", "ho"])
    done = run("score", path, "-s", "length", "--map", "context=what, then?,response=the answer it gave")
    assert done.records[0]["context"] == ["hi"]


def test_a_column_that_is_a_scorer_is_not_read_as_a_rating(tmp_path: Path, run: Run) -> None:
    rows = [f"q{number},word,{number % 4},{number % 5}" for number in range(20)]
    path = table(tmp_path / "a.csv", "prompt,answer,score,label", *rows)
    done = run("study", path, "-s", "column:score", "--json")
    assert done.code == 0, done.err
    assert done.err == f"{path}: read answer as response, prompt as context, label as rating\n"
    assert json.loads(done.out)["counts"]["rated"] == 20
    frame = [{"prompt": f"q{n}", "answer": "x", "stars": n % 3, "rating": n % 4} for n in range(9)]
    assert rejoinder.study(frame, ["column:stars"], resamples=0).agreements[0].n == 9


def test_a_study_without_ratings_names_the_columns_that_are_left(tmp_path: Path, run: Run) -> None:
    path = table(tmp_path / "a.csv", "prompt,answer,Bewertung,Thema", "hi,ho,4,x")
    done = run("study", path, "-s", "length")
    assert done.code == 3
    assert done.err.endswith("or say where it stands, --map rating=NAME, with one of Bewertung, Thema\n")
    assert run("study", path, "-s", "length", "--map", "rating=Bewertung").err.count("has a rating") == 0


def test_a_spreadsheet_of_prompts_answers_and_stars_comes_back_as_one(tmp_path: Path, run: Run) -> None:
    path = table(tmp_path / "a.csv", "Prompt,Answer,Stars,Topic", "Tea?,No.,4,drinks", "[laughs] hi,Hm,2.5,")
    assert run("score", path, "-s", "length", "-o", tmp_path / "out.csv").code == 0
    (first, second) = csv.DictReader((tmp_path / "out.csv").read_text().splitlines())
    wanted = ("Prompt", "Answer", "Stars", "Topic", "scores.length")
    assert [first[name] for name in wanted] == ["Tea?", "No.", "4", "drinks", "1.0"]
    assert [second[name] for name in wanted] == ["[laughs] hi", "Hm", "2.5", "", "1.0"]
    again = list(rejoinder.read(tmp_path / "out.csv"))
    assert [example.context for example in again] == [("Tea?",), ("[laughs] hi",)]
    assert [example.ratings for example in again] == [(Rating(4),), (Rating(2.5),)]


def test_map_says_what_columns_of_pairs_are_and_takes_no_more(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "frage,response_a,response_b,label", "hi,ho,hey,b")
    (pair,) = rejoinder.read_pairs(path, map={"context": "frage"})
    assert (pair.replies[0].context, pair.preferred) == (("hi",), 1)
    example, _ = one(path, map={"context": "frage", "response": "response_a"})
    assert (example.response, example.extra["response_b"]) == ("ho", "hey"), "one reply of a pair can be asked for"


# Raters


def test_a_row_a_rater_is_joined_and_said(tmp_path: Path) -> None:
    path = table(
        tmp_path / "a.csv",
        "item,prompt,response,rater,rating,when",
        "1,hi,ho,ann,4,mon",
        "2,hi,hey,ann,2,mon",
        "1,hi,ho,bob,5,tue",
        "2,,,bob,3,tue",
        "1,hi,ho,cy,,tue",
    )
    said: list[str] = []
    first, second = rejoinder.read(path, note=said.append)
    assert (first.id, first.ratings) == ("1", (Rating(4, rater="ann"), Rating(5, rater="bob")))
    assert (second.response, second.ratings) == ("hey", (Rating(2, rater="ann"), Rating(3, rater="bob")))
    assert first.extra == {}, "a key that differs between raters is of none of them"
    assert said[-1] == f"{path}: one rating a line; lines of one id are joined, all held in memory"


def test_rows_that_ids_only_number_are_joined_by_their_texts(tmp_path: Path) -> None:
    rows = [f"{number},hi,{'ho' if number < 3 else 'hey'},{'ab'[number % 2]},{number}" for number in range(1, 5)]
    path = table(tmp_path / "a.csv", "id,prompt,response,annotator,stars", *rows)
    assert [example.ratings for example in rejoinder.read(path)] == [
        (Rating(1, rater="b"), Rating(2, rater="a")),
        (Rating(3, rater="b"), Rating(4, rater="a")),
    ]


def test_one_id_with_two_responses_is_refused_or_skipped(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "id,response,rater,rating", "1,ho,ann,4", "1,hey,bob,5", "1,ho,cy,3")
    skipped: list[DataError] = []
    (example,) = rejoinder.read(path, on_bad=skipped.append)
    assert [rating.rater for rating in example.ratings] == ["ann", "cy"]
    assert str(skipped[0]) == (
        f"{path}:3: field \"id\": the id '1' stands for another response at {path}:2. Give every reply its own id, or "
        "leave ids out of account: --map id="
    )
    assert len(list(rejoinder.read(path, map={"id": ""}))) == 2


def test_wide_columns_may_name_their_raters_beside(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "response,rater1,rating1,rater2,rating2", "ho,ann,4,bob,")
    example, _ = one(path)
    assert example.ratings == (Rating(4, rater="ann"),)


@pytest.mark.parametrize("names", [("score_A", "score_B"), ("Score 1", "Score 2"), ("Rating A", "Rating B")])
def test_columns_that_may_be_no_people_are_said(tmp_path: Path, names: tuple[str, str]) -> None:
    example, said = one(table(tmp_path / "a.csv", f"prompt,answer,{names[0]},{names[1]}", "hi,ho,2,5"))
    assert example.ratings == (Rating(2, rater=names[0]), Rating(5, rater=names[1]))
    both = f"{names[0]} and {names[1]} are read as ratings of one reply by 2 people"
    assert said[-1] == f"{both}. If not, say which counts: --map rating={names[0]}"
    people, said = one(table(tmp_path / "a.csv", "prompt,answer,rating_1,rating_2", "hi,ho,2,5"))
    assert len(people.ratings) == 2 and len(said) == 1


def test_what_may_be_another_rating_beside_one_is_said(tmp_path: Path) -> None:
    example, said = one(table(tmp_path / "a.csv", "response,rating,rating_2", "ho,2,5"))
    assert example.ratings == (Rating(2),)
    assert said == ["rating is read as the rating, rating_2 not. If all are, say --map rating=rating+rating_2"]
    example, said = one(table(tmp_path / "b.csv", "response,rating,quality", "ho,2,5"))
    assert example.rating() == 5
    remedy = "If it is of something else, say --map quality="
    assert said == [f"quality is read as the mean rating, and counts where rating says another. {remedy}"]
    assert one(tmp_path / "b.csv", map={"quality": ""})[0].rating() == 2


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.integers(1, 5)), min_size=1, max_size=20),
    st.randoms(use_true_random=False),
)
def test_no_rating_is_lost_in_whatever_order_rows_come(rows: list[tuple[int, str, int]], order: random.Random) -> None:
    def rated(rows: list[tuple[int, str, int]]) -> dict[str, list[tuple[str | None, float]]]:
        given = [{"item": item, "response": f"r{item}", "rater": rater, "rating": value} for item, rater, value in rows]
        found = rejoinder.examples_of(given)
        return {one.response: sorted((rating.rater or "", rating.value) for rating in one.ratings) for one in found}

    before = rated(rows)
    assert sum(map(len, before.values())) == len(set(rows)), "rows that repeat another are left out"
    order.shuffle(rows)
    assert rated(rows) == before


NAME = st.text(st.sampled_from("aB_- .1é"), min_size=1, max_size=8)


@given(NAME)
def test_a_plain_name_stays_plain(name: str) -> None:
    assert plain(plain(name)) == plain(name)
    assert plain(f" {name.upper()} ") == plain(name.upper())


@given(st.dictionaries(NAME.map(lambda name: f"x{name}"), st.text(max_size=5), max_size=4))
def test_keys_that_mean_nothing_are_kept_as_they_are(extra: dict[str, str]) -> None:
    record = {"context": ["a"], "response": "b", **extra}
    assert Names().understood(record, "f:1") is record


@pytest.mark.parametrize(
    "name", ["coder", "Coder ID", "rated by", "grader", "participant", "Respondent ID", "labeller"]
)
def test_who_rated_goes_by_many_names(tmp_path: Path, name: str) -> None:
    path = table(tmp_path / "a.csv", f"id,response,{name},rating", "1,ho,ann,4", "1,ho,bob,5")
    example, _ = one(path)
    assert [rating.rater for rating in example.ratings] == ["ann", "bob"]


def test_who_took_part_is_the_rater_only_where_nobody_else_is(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "id,response,participant,coder,rating", "1,ho,p7,ann,4", "1,ho,p7,bob,5")
    example, _ = one(path)
    assert [rating.rater for rating in example.ratings] == ["ann", "bob"] and example.extra == {"participant": "p7"}


def test_rows_of_one_id_are_joined_system_by_system(tmp_path: Path) -> None:
    rows = ["1,ho,v1,ann,4", "1,hey,v2,ann,2", "1,ho,v1,bob,5", "1,hey,v2,bob,1"]
    found = list(rejoinder.read(table(tmp_path / "a.csv", "id,response,system,rater,rating", *rows)))
    assert [(one.system, [rating.value for rating in one.ratings]) for one in found] == [
        ("v1", [4, 5]),
        ("v2", [2, 1]),
    ]


@pytest.mark.parametrize("version", ["prompt_version", "Version", "variant", "experiment"])
def test_two_columns_that_could_be_the_system_stop_the_run(tmp_path: Path, version: str) -> None:
    path = table(tmp_path / "log.csv", f"prompt,answer,model,{version},rating", "hi,ho,m,v1,3", "hi,hu,m,v2,4")
    with pytest.raises(ColumnError) as error:
        list(rejoinder.read(path))
    assert f"--map system={version}" in str(error.value) and "--map system=model" in str(error.value)
    first, second = rejoinder.read(path, map={"system": version})
    assert (first.system, second.system) == ("v1", "v2")
    assert next(iter(rejoinder.read(path, map={"system": "model"}))).system == "m"


def test_a_version_alone_is_no_system(tmp_path: Path) -> None:
    example, _ = one(table(tmp_path / "log.csv", "prompt,answer,version", "hi,ho,v1"))
    assert example.system is None and example.extra["version"] == "v1"


def test_a_column_of_a_judge_is_no_rater(tmp_path: Path) -> None:
    rows = ["prompt,answer,rating,judge", "hi,ho,3,gpt-4", "hi,ho,4,claude"]
    examples = list(rejoinder.read(table(tmp_path / "rated.csv", *rows)))
    assert len(examples) == 2 and [example.ratings[0].rater for example in examples] == [None, None]
    assert "judge" not in unnamed_raters_said(examples)
    many = table(tmp_path / "wide.csv", "prompt,answer,judge_1,judge_2", "hi,ho,3,4")
    assert one(many)[0].ratings == ()
