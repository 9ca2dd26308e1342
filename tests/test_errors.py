"""The error tree: what each error says, which exit code it stands for, what it is to plain Python."""

from __future__ import annotations

import inspect

import pytest

from rejoinder import errors
from rejoinder.errors import DataError, MissingAsset, MissingExtra, NothingScored, RejoinderError, UsageError


@pytest.mark.parametrize(
    ("error", "code", "base", "message"),
    [
        (UsageError("no scorer is called 'x'"), 2, ValueError, "no scorer is called 'x'"),
        (DataError("is null", "Write text"), 3, ValueError, "is null. Write text"),
        (DataError("is null", "Write text", where="f:3"), 3, ValueError, "f:3: is null. Write text"),
        (DataError("is null", "Write text", field="id"), 3, ValueError, 'field "id": is null. Write text'),
        (
            DataError("is null", "Write text", where="f:3", field="id"),
            3,
            ValueError,
            'f:3: field "id": is null. Write text',
        ),
        (MissingAsset("v.txt: no such file"), 4, FileNotFoundError, "v.txt: no such file"),
        (
            MissingExtra("polars", "parquet", "Reading Parquet"),
            4,
            ImportError,
            "Reading Parquet needs polars. Install it: pip install 'rejoinder[parquet]'",
        ),
        (
            MissingExtra("deepeval", "", "A metric of deepeval"),
            4,
            ImportError,
            "A metric of deepeval needs deepeval. Install it: pip install deepeval",
        ),
        (NothingScored("adem: none of 3 lines has a score"), 5, RuntimeError, "adem: none of 3 lines has a score"),
    ],
)
def test_what_an_error_says_and_stands_for(
    error: RejoinderError, code: int, base: type[Exception], message: str
) -> None:
    assert str(error) == message
    assert error.exit_code == code
    assert isinstance(error, RejoinderError) and isinstance(error, base)


def test_the_parts_of_a_data_error_can_be_had_one_by_one() -> None:
    error = DataError("is null", "Write text", where="f:3", field="id")
    assert (error.problem, error.remedy, error.where, error.field) == ("is null", "Write text", "f:3", "id")


def test_the_tree_at_the_top_of_the_file_is_the_tree() -> None:
    classes = {
        name: thing
        for name, thing in inspect.getmembers(errors, inspect.isclass)
        if issubclass(thing, RejoinderError) and thing is not RejoinderError
    }
    drawn = {line.split()[0]: line for line in (errors.__doc__ or "").splitlines() if "(exit code" in line}
    assert set(drawn) == set(classes)
    for name, line in drawn.items():
        assert f"(exit code {classes[name].exit_code})" in line
