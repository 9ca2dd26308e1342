"""Files that were once misread: each is read as its `expect.json` says, or refused where that says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from rejoinder.data.examples import to_record
from rejoinder.data.read import read_lines
from rejoinder.errors import DataError
from rejoinder.example import Pair

CASES = [
    (expect.parent / name, wanted)
    for expect in sorted((Path(__file__).parent / "cases").glob("*/expect.json"))
    for name, wanted in json.loads(expect.read_text()).items()
]


def record_of(line: Any) -> dict[str, Any]:
    """Return the record of an example or a pair."""
    if not isinstance(line, Pair):
        return to_record(line)
    return {"pair": [to_record(reply) for reply in line.replies], "preferred": line.preferred}


def is_within(wanted: Any, found: Any) -> bool:
    """Return whether all that is wanted was found; further keys are free."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(is_within(value, found.get(key)) for key, value in wanted.items())
    if isinstance(wanted, list) and any(isinstance(item, dict) for item in wanted):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(is_within, wanted, found))
    return bool(wanted == found)


@pytest.mark.parametrize(("path", "wanted"), CASES, ids=[f"{path.parent.name}/{path.name}" for path, _ in CASES])
def test_a_case_is_read_right_or_refused(path: Path, wanted: dict[str, Any]) -> None:
    try:
        lines = list(read_lines(path, map=wanted.get("map") or {}, turns=wanted.get("turns", "last")))
    except DataError as error:
        assert wanted["or_refused"], str(error)
        assert error.where.startswith(str(path))
        assert error.remedy
    else:
        assert wanted["records"] is not None
        assert is_within(wanted["records"], [record_of(line) for line in lines])
