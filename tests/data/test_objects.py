"""What Python programs hold: records, chat messages and data frames; and examples back to records."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reading_tables import chat
from rejoinder.data.examples import both_replies, example_of, index_of, to_record
from rejoinder.data.read import examples_of, lines_of, pairs_of
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Pair, Rating

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

ROWS = {"prompt": ["Tea?", "Why?"], "answer": ["No.", "So."], "stars": [3, None]}
FULL = Example(
    context=("Hi!", "Hello.", "Tea?"),
    response="No.",
    references=("Yes.",),
    sources=("Tea is a drink.",),
    id="7",
    system="m",
    dataset="d",
    context_id="c",
    ratings=(Rating(2, rater="ann"), Rating(3, rater="bob"), Rating(5, "tone")),
    quality={"overall": 2.5},
    scales={"overall": (1, 5), "tone": (1, 7)},
    extra={"topic": "drinks", "n": 3},
)

FORMS: list[tuple[Any, int]] = [
    ([{"prompt": "Tea?", "answer": "No."}], 1),
    ({"prompt": "Tea?", "answer": "No."}, 1),
    (iter([{"prompt": "Tea?", "answer": "No."}]), 1),
    (chat("Tea?", "No."), 1),
    ([chat("Tea?", "No."), chat("Tea?", "No.")], 2),
    (FULL, 1),
    ([FULL, {"response": "No."}], 2),
    (pandas.DataFrame(ROWS), 2),
    (polars.DataFrame(ROWS), 2),
    (polars.LazyFrame(ROWS), 2),
    ([], 0),
]


@pytest.mark.parametrize(("data", "count"), FORMS, ids=range(len(FORMS)))
def test_examples_of_anything(data: Any, count: int) -> None:
    found = examples_of(data)
    assert len(found) == count
    assert [one.response for one in found[:1]] == ["No."] * min(count, 1)


def test_examples_come_back_as_they_are() -> None:
    assert examples_of([FULL])[0] is FULL
    assert example_of(to_record(FULL), "a") == FULL
    assert to_record(example_of(to_record(FULL), "a")) == to_record(FULL)


def test_a_frame_gives_numbers_lists_and_missing_cells() -> None:
    frame = pandas.DataFrame(
        {
            "context": [np.array(["Hi!", "Tea?"]), ["Why?"]],
            "response": ["No.", "So."],
            "rating": [np.float64(3), np.nan],
            "ratings.note": [None, pandas.NaT],
        }
    )
    first, second = examples_of(frame)
    assert (first.context, first.rating(), second.rating()) == (("Hi!", "Tea?"), 3, None)
    assert first.where == "examples:row 1"


def test_the_index_of_a_frame_goes_to_its_scores() -> None:
    frame = pandas.DataFrame(ROWS, index=[7, 9])
    assert [*index_of(frame, examples_of(frame))] == [7, 9]
    joined = pandas.DataFrame({"response": ["A.", "A."], "rater": ["x", "y"], "rating": [1, 2]})
    assert index_of(joined, examples_of(joined)) == ["examples:row 1"]
    assert index_of([1], []) is None


@pytest.mark.parametrize("data", [3, [3], ["text"], pandas.Series(["A."]), b"text"])
def test_anything_else_is_refused(data: Any) -> None:
    with pytest.raises(UsageError):
        examples_of(data)


@pytest.mark.parametrize(
    "data",
    [
        [{"prompt": "Tea?"}],
        [{"response": 3}],
        [{"response": None}],
        pandas.DataFrame({"response": [None]}),
        pandas.DataFrame([[1, 2]], columns=["response", "response"]),
        [{"prompt": "Tea?", "chosen": "A.", "rejected": "B."}],
    ],
)
def test_a_record_without_one_reply_is_refused(data: Any) -> None:
    with pytest.raises(DataError) as caught:
        examples_of(data)
    assert caught.value.where.startswith("examples")


@pytest.mark.parametrize("how", [{"maps": {}}, {"turns": "each"}, {"input_format": "docx"}, {"map": {"x": "y"}}])
def test_wrong_calls_are_usage_errors(how: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        examples_of([], **how)


def test_files_and_objects_are_read_alike(tmp_path: Path) -> None:
    frame = pandas.DataFrame(ROWS)
    frame.to_csv(tmp_path / "a.csv", index=False)
    texts = [(one.context, one.response, one.rating()) for one in examples_of(tmp_path / "a.csv")]
    assert texts == [(one.context, one.response, one.rating()) for one in examples_of(frame)]


def test_pairs_of_records() -> None:
    data = [{"id": "p", "prompt": "Tea?", "chosen": "A.", "rejected": "B."}]
    (pair,) = pairs_of(data)
    assert (pair.id, pair.preferred, [reply.response for reply in pair.replies]) == ("p", 0, ["A.", "B."])
    assert [(one.id, one.extra["preferred"], one.extra["pair"]) for one in both_replies(pair)] == [
        ("p/0", True, "p"),
        ("p/1", False, "p"),
    ]
    assert pairs_of([pair]) == [pair]
    assert [type(line) for line in lines_of([*data, {"response": "C."}])] == [Pair, Example]
    with pytest.raises(DataError):
        pairs_of([{"response": "C."}])
