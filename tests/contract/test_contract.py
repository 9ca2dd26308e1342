"""The contract of every command: a folder with input files, the call, and the values that the call must give.

A case is `cases/COMMAND/NAME/` with `call.txt` (the command line), its input files (`stdin.txt` is standard input), and
`expect.json`:

    {"exit": 0, "out": {...}, "files": {"scores.jsonl": [...]}}
    {"exit": 3, "error": {"file": "broken.jsonl", "line": 2, "field": "stars"}}

Only what `expect.json` names is compared. Numbers agree to 1e-6; `low`, `high` and `p` of a row, which are drawn, to a
tenth of the width of its interval. Estimates are found by their labels, so their order does not count. Sentences
are never compared. `pytest tests/contract --update-contract` records the values anew: review the difference.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from rejoinder import cli
from rejoinder.estimates import LABELS

CASES = sorted(path.parent for path in (Path(__file__).parent / "cases").glob("*/*/call.txt"))
TOLERANCE = 1e-6
SHARE_OF_WIDTH = 0.1
DRAWN = {"low", "high", "p", "p_adjusted"}
# Sentences and provenance. A number under one of these names is recorded.
NOT_RECORDED = {
    *("about", "answer", "method", "notes", "out_of_domain", "reason", "summary", "text", "why", "why_failed"),
    *("cases", "signature", "signatures", "source"),
}
PLACE = re.compile(r'^rejoinder: (?P<file>[^\s:]+?)(?::(?P<line>\d+))?: (?:field "(?P<field>[^"]*)": )?')


def differences(expected: Any, actual: Any, path: str = "$") -> list[str]:
    """Return the places where `actual` lacks what `expected` names."""
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return [f"{path}: expected an object, not {actual!r:.60}"]
        return [line for key, value in expected.items() for line in _value(key, value, actual, expected, path)]
    if isinstance(expected, list):
        return _list_differences(expected, actual, path)
    if isinstance(expected, float) and isinstance(actual, (int, float)):
        same = math.isclose(expected, actual, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        return [] if same else [f"{path}: {expected} != {actual}"]
    return [] if expected == actual else [f"{path}: {expected!r:.60} != {actual!r:.60}"]


def _value(key: str, expected: Any, actual: dict[str, Any], row: dict[str, Any], path: str) -> list[str]:
    """Return the differences of one value of an object, drawn ones within a share of the interval."""
    found, low, high = actual.get(key), row.get("low"), row.get("high")
    drawn = key in DRAWN and isinstance(expected, float) and isinstance(found, (int, float))
    if drawn and isinstance(low, float) and isinstance(high, float):
        within = abs(expected - found) <= max(TOLERANCE, SHARE_OF_WIDTH * (high - low))
        return [] if within else [f"{path}.{key}: {expected} and {found} are too far apart"]
    return differences(expected, found, f"{path}.{key}")


def _list_differences(expected: list[Any], actual: Any, path: str) -> list[str]:
    """Return the differences of a list: rows with labels are found by these, others by their place."""
    if not isinstance(actual, list):
        return [f"{path}: expected a list, not {actual!r:.60}"]
    if expected and all(labels(row) for row in expected):
        return [line for row in expected for line in _row_differences(row, actual, path)]
    if len(expected) != len(actual):
        return [f"{path}: expected {len(expected)} items, not {len(actual)}"]
    pairs = enumerate(zip(expected, actual, strict=True))
    return [line for place, (wanted, given) in pairs for line in differences(wanted, given, f"{path}[{place}]")]


def labels(row: Any) -> tuple[str, ...]:
    """Return what tells a row from others: the labels of an estimate, the name of a scorer; nothing for other rows."""
    if not isinstance(row, dict):
        return ()
    if "statistic" in row:
        return tuple(row.get(name, "") for name in LABELS)
    return (row["scorer"],) if isinstance(row.get("scorer"), str) else ()


def _row_differences(row: dict[str, Any], actual: list[Any], path: str) -> list[str]:
    """Return the differences of a row from the one row of `actual` that has its labels."""
    named = labels(row)
    rows = [other for other in actual if labels(other) == named]
    if len(rows) != 1:
        return [f"{path}: {len(rows)} rows with {named}"]
    return differences(row, rows[0], f"{path}[{','.join(filter(None, named))}]")


def recorded(value: Any) -> Any:
    """Return JSON values without sentences and provenance, as they are kept in `expect.json`."""
    if isinstance(value, dict):
        kept = {key: recorded(item) for key, item in value.items() if not _left_out(key, item)}
        return {key: item for key, item in kept.items() if item not in (None, {}, [], "")}
    if isinstance(value, float):
        return float(f"{value:.10g}")
    return [recorded(item) for item in value] if isinstance(value, list) else value


def _left_out(key: str, value: Any) -> bool:
    """Return whether a value is a sentence or provenance; `warnings` are sentences, those of a scorer are counts."""
    if isinstance(value, str) and "|rejoinder:" in value:
        return True
    return (key in NOT_RECORDED and not isinstance(value, (int, float))) or (
        key == "warnings" and isinstance(value, list)
    )


def lines_of(path: Path) -> list[Any]:
    """Return the lines of a written file: objects of JSON lines, rows of a table with numbers as numbers."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as stream:
            return [{key: _cell(cell) for key, cell in row.items()} for row in csv.DictReader(stream)]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _cell(text: str) -> str | float:
    """Return a cell as a number where it is one."""
    try:
        return float(text)
    except ValueError:
        return text


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_contract(
    case: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    shutil.copytree(case, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    if (typed := tmp_path / "stdin.txt").exists():
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(typed.read_bytes()), encoding="utf-8"))
    with pytest.raises(SystemExit) as stop:
        cli.main(shlex.split((case / "call.txt").read_text(encoding="utf-8")))
    printed = capsys.readouterr()
    code = int(stop.value.code or 0)
    expectation = case / "expect.json"
    if request.config.getoption("--update-contract"):
        expectation.write_text(_rows_on_lines(_result(code, printed.out, printed.err, case, tmp_path)))
        return
    expected = json.loads(expectation.read_text(encoding="utf-8"))
    assert code == expected["exit"], printed.err
    if "out" in expected:
        assert differences(expected["out"], json.loads(printed.out)) == []
    if "error" in expected:
        assert differences(expected["error"], place_of(printed.err)) == []
    for name, lines in expected.get("files", {}).items():
        assert differences(lines, lines_of(tmp_path / name)) == []
    for name, columns in expected.get("columns", {}).items():
        assert (tmp_path / name).read_text(encoding="utf-8").splitlines()[0] == columns


def _rows_on_lines(result: dict[str, Any]) -> str:
    """Return a result as JSON, each row on a line of its own, so that a difference can be reviewed."""
    text = json.dumps(result, indent=1)
    return re.sub(r"\{[^{}\[\]]*\}", lambda row: re.sub(r"\n\s*", " ", row[0]), text) + "\n"


def place_of(message: str) -> dict[str, Any]:
    """Return file, line and field that the last error line names; a part that it lacks is left out."""
    match = PLACE.match(message.splitlines()[-1]) if message else None
    place = {key: value for key, value in match.groupdict().items() if value is not None} if match else {}
    return {**place, "line": int(place["line"])} if "line" in place else place


def _result(code: int, out: str, err: str, case: Path, folder: Path) -> dict[str, Any]:
    """Return what a case gave, as `expect.json` keeps it."""
    result: dict[str, Any] = {"exit": code}
    if code not in (0, 6):
        return {**result, "error": place_of(err)}
    if out.startswith("{"):
        result["out"] = recorded(json.loads(out))
    given = {path.relative_to(case) for path in case.rglob("*")}
    written = [path for path in sorted(folder.rglob("*")) if path.relative_to(folder) not in given]
    for path in written:
        name = str(path.relative_to(folder))
        if path.suffix in (".jsonl", ".csv"):
            result.setdefault("files", {})[name] = recorded(lines_of(path))
        if path.suffix == ".csv":
            result.setdefault("columns", {})[name] = path.read_text(encoding="utf-8").splitlines()[0]
    return result


def test_a_wrong_value_is_seen() -> None:
    first = {"scorer": "a", "statistic": "pearson", "value": 0.5, "low": 0.4, "high": 0.6}
    rows = [first, {"scorer": "a", "statistic": "pearson", "group": "long", "value": 0.1}]
    assert differences({"results": rows}, {"results": rows[::-1]}) == [], "rows are found by their labels"
    near = [{**rows[0], "low": 0.41}, rows[1]]
    assert differences(rows, near) == [], "ends of intervals are drawn"
    assert len(differences(rows, [{**rows[0], "low": 0.43}, rows[1]])) == 1
    assert len(differences(rows, [{**rows[0], "value": 0.51}, rows[1]])) == 1
    assert len(differences(rows, rows[:1])) == 1
    assert len(differences([1, 2], [1])) == 1 and len(differences({"a": 1}, {})) == 1


def test_the_place_of_an_error() -> None:
    assert place_of('rejoinder: a.jsonl:2: field "stars": is 9. Correct it\n') == {
        "file": "a.jsonl",
        "line": 2,
        "field": "stars",
    }
    assert place_of("rejoinder: a.csv: two columns. Say which\n") == {"file": "a.csv"}
    assert place_of("") == {}
