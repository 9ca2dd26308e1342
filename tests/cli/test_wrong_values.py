"""Wrong values through the Python API: one clear line each, never a traceback of a library."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run
from rejoinder.errors import DataError, RejoinderError, UsageError
from rejoinder.example import Example, Rating
from rejoinder.stats.resamples import MOST_DRAWS, MOST_RESAMPLES, Resamples

NAN = float("nan")
RATED = [
    Example((f"q {number}",), "word " * (number % 5), quality={"overall": number % 4}, id=str(number))
    for number in range(12)
]


def made(**fields: Any) -> Callable[[], Any]:
    return lambda: Example(**{"context": ("hi",), "response": "hello", **fields})


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no response": (made(response=None), 'response is None, expected a text. Write ""'),
    "response NaN": (made(response=NAN), 'response is nan, expected a text. Write ""'),
    "response bytes": (made(response=b"a"), 'response is a bytes, expected a text. Write ""'),
    "context None": (
        made(context=None),
        "context is None, expected a tuple of texts. Write context=() for none",
    ),
    "context text": (made(context="hi"), "context is a text, expected a tuple of texts. Write context=('hi',)"),
    "context holds None": (
        made(context=("hi", None)),
        "a text of context is None, expected a text. Omit it, or write str(...)",
    ),
    "context holds messages": (
        made(context=[{"role": "user"}]),
        "a text of context is a dict, expected a text. Omit it, or write str(...)",
    ),
    "references None": (
        made(references=None),
        "references is None, expected a tuple of texts. Write references=() for none",
    ),
    "references hold NaN": (
        made(references=[NAN]),
        "a text of references is nan, expected a text. Omit it, or write str(...)",
    ),
    "id a number": (made(id=7), "id is 7, expected a text. Omit it, or write str(...)"),
    "system NaN": (made(system=NAN), "system is nan, expected a text. Omit it, or write str(...)"),
    "quality NaN": (
        made(quality={"overall": NAN}),
        "quality of 'overall' is nan, expected a finite number. Omit a missing rating",
    ),
    "quality a number": (
        made(quality=4),
        "quality is 4, expected a mapping. Write quality={...} or omit it",
    ),
    "quality None": (
        made(quality={"overall": None}),
        "quality of 'overall' is None, expected a finite number. Omit a missing rating",
    ),
    "rating NaN": (
        lambda: Rating(NAN),
        "value of a rating is nan, expected a finite number. Omit a missing rating",
    ),
    "rating text": (
        lambda: Rating("4"),  # type: ignore[arg-type]
        "value of a rating is '4', expected a finite number. Omit a missing rating",
    ),
    "rating true": (
        lambda: Rating(True),
        "value of a rating is True, expected a finite number. Omit a missing rating",
    ),
    "rating infinite": (
        lambda: Rating(float("inf")),
        "value of a rating is inf, expected a finite number. Omit a missing rating",
    ),
    "ratings are numbers": (
        made(ratings=[4, 5]),
        "ratings hold 4, expected Rating. Write ratings=[Rating(4), Rating(5)]",
    ),
    "ratings None": (made(ratings=None), "ratings hold None, expected Rating. Write ratings=[Rating(4), Rating(5)]"),
    "scale of one": (
        made(scales={"overall": 5}),
        "the scale of 'overall' is 5, expected (lowest, highest). Write (1, 5)",
    ),
    "scale turned": (
        made(scales={"overall": (5, 1)}),
        "the scale of 'overall' is (5, 1), expected the lowest rating first",
    ),
    "scale NaN": (
        made(scales={"overall": (1, NAN)}),
        "a bound of the scale of 'overall' is nan, expected a finite number. Omit a missing rating",
    ),
    "resamples a text": (
        lambda: rejoinder.study(RATED, ["length"], resamples="x"),  # type: ignore[arg-type]
        "resamples is 'x', expected a whole number from 0 to 100,000",
    ),
    "resamples too many": (
        lambda: rejoinder.study(RATED, ["length"], resamples=10**11),
        "resamples is 100000000000, expected a whole number from 0 to 100,000",
    ),
    "resamples a fraction": (
        lambda: rejoinder.compare(RATED, RATED, ["length"], resamples=1e3),  # type: ignore[arg-type]
        "resamples is 1000.0, expected a whole number from 100 to 100,000",
    ),
    "resamples NaN": (
        lambda: rejoinder.study(RATED, ["length"], resamples=NAN),  # type: ignore[arg-type]
        "resamples is nan, expected a whole number from 0 to 100,000",
    ),
    "seed a text": (
        lambda: rejoinder.study(RATED, ["length"], seed="x"),  # type: ignore[arg-type]
        "seed is 'x', expected a whole number, 0 or more",
    ),
    "no file": (
        lambda: list(rejoinder.read(None)),  # type: ignore[arg-type]
        "None is given as the name of a file or folder, expected a text or a path",
    ),
    "a file with a NUL": (
        lambda: list(rejoinder.read("a\0b.jsonl")),
        "'a\\x00b.jsonl'... is no name of a file or folder: too long, or with a NUL in it",
    ),
    "vectors a number": (
        lambda: rejoinder.score(RATED, "embedding-average", vectors=7),  # type: ignore[arg-type]
        "7 is given as the name of a file or folder, expected a text or a path",
    ),
    "nowhere to write": (
        lambda: rejoinder.write(RATED, None),  # type: ignore[arg-type]
        "None is given as the name of a file or folder, expected a text or a path",
    ),
    "a format that is none": (
        lambda: rejoinder.write(RATED, "a.jsonl", format="xml"),  # type: ignore[arg-type]
        "unknown format 'xml'. Use one of jsonl, csv, tsv, parquet, xlsx, chat",
    ),
    "no examples": (
        lambda: rejoinder.score(None, "length"),
        "examples are of type NoneType, expected a list of Example or of dicts, a data frame, chat messages, "
        "or the name of a file",
    ),
    "half a character": (
        made(response="a \ud800"),
        "response holds \\ud800, half a character. Write the whole character or none",
    ),
    "seed None": (
        lambda: rejoinder.compare(RATED, RATED, ["length"], seed=None),  # type: ignore[arg-type]
        "seed is None, expected a whole number, 0 or more",
    ),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG)
def test_one_clear_line(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value) == message


ODD = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=3)
ANY = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(ODD, inner, max_size=2), max_leaves=4
)


@given(
    fields=st.dictionaries(
        st.sampled_from(
            [
                "context",
                "response",
                "references",
                "id",
                "system",
                "dataset",
                "context_id",
                "ratings",
                "quality",
                "scales",
                "extra",
            ]
        ),
        ANY,
        max_size=4,
    )
)
def test_an_example_is_made_or_refused_and_what_is_made_can_be_used(fields: dict[str, Any]) -> None:
    try:
        example = Example(**{"context": ("hi",), "response": "hello", **fields})
    except RejoinderError:
        return
    assert rejoinder.score([example], "length").values.shape == (1,)
    assert isinstance(example.context_key, tuple)


@pytest.mark.parametrize("value", [np.float32(3.5), np.int64(3), 3])
def test_numbers_of_numpy_are_ratings(value: Any) -> None:
    assert Example((), "a", ratings=[Rating(value)], quality={"overall": value}).rating() == value  # type: ignore[arg-type]


def test_memory_of_resamples_is_bounded() -> None:
    with pytest.raises(
        UsageError, match=r"^100,000 resamples of 20,000 contexts would take 4 GB and more. Ask for 53,687 or fewer$"
    ):
        Resamples.draw(np.arange(20_000), 100_000, np.random.default_rng(0))
    assert MOST_DRAWS >= 1_000_000 * 1000, "the default takes a million contexts"


@pytest.mark.parametrize("command", ["study {0} -s length", "compare {0} {0} -s length"])
@pytest.mark.parametrize("resamples", [10**11, MOST_RESAMPLES + 1])
def test_too_many_resamples_are_refused_at_once(run: Run, tmp_path: Path, command: str, resamples: int) -> None:
    rejoinder.write(RATED, tmp_path / "a.jsonl")
    done = run(*command.format(tmp_path / "a.jsonl").split(), "--resamples", resamples)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(
        f"resamples is {resamples}, expected a whole number from {'100' if 'compare' in command else '0'} to 100,000\n"
    )


def test_no_traceback_reaches_the_shell() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rejoinder", "study", "@conture", "-s", "length", "--resamples", "1e11"],
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert " ".join(done.stderr.split()).startswith(
        "rejoinder: Invalid value for '--resamples': Input should be a valid"
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("value", [object(), float("nan"), "\ud800", {"a": {1}}], ids=["object", "nan", "half", "set"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_what_no_json_can_hold_is_told(tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(
        DataError, match=r"^7: no JSON can hold it \(.*\)\. Give texts, finite numbers, lists and objects"
    ):
        rejoinder.write([Example((), "a", id="7", extra={"x": value})], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_numpy_are_written(tmp_path: Path) -> None:
    given: dict[str, Any] = {"quality": {"overall": np.float32(0.5)}, "extra": {"x": np.int64(3)}}
    rejoinder.write([Example((), "a", **given)], tmp_path / "a.jsonl")
    (found,) = rejoinder.read(tmp_path / "a.jsonl")
    assert (found.rating(), found.extra) == (0.5, {"x": 3})


NAME = "x" * 300


@pytest.mark.parametrize(
    "command",
    [
        "score {0}",
        "score @conture -s {0}",
        "score @conture -s length -o {0}.csv",
        "train c-adem @conture -o {0}",
        "show {0}",
    ],
)
def test_a_name_that_no_file_can_have_is_told(run: Run, command: str) -> None:
    told = f"rejoinder: '{NAME[:40]}'... is no name of a file or folder: too long, or with a NUL in it\n"
    done = run(*command.format(NAME).split())
    assert (done.code, done.out, done.err) == (2, "", told)
