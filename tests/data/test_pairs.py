"""Pairs of replies: votes of several rows, names of raters, and what belongs to each reply."""

from pathlib import Path
from typing import Any

import pytest

from reading_tables import read_from
from rejoinder.data.read import read_pairs
from rejoinder.errors import DataError

PAIR = {"prompt": "T?", "response_a": "A.", "response_b": "B."}
BOTH = [[["T?"], "A.", None], [["T?"], "B.", None]]

READ: list[tuple[str, Any, dict[str, Any], list[Any]]] = [
    # what it is, lines, how they are read, (pair, preferred, votes) of each
    ("one row", [{**PAIR, "preferred": "a"}], {}, [(BOTH, 0, [])]),
    (
        "rows of one id by our name of raters",
        [{**PAIR, "id": "1", "rater": name, "preferred": to} for name, to in zip("xyz", "aba", strict=True)],
        {},
        [(BOTH, 0, [0, 1, 0])],
    ),
    ("the same rater again", [{**PAIR, "id": "1", "rater": "x", "preferred": to} for to in "ab"], {}, [(BOTH, 0, [0])]),
    (
        "another name of raters, where texts name the pair",
        [{**PAIR, "annotator": name, "preferred": to} for name, to in zip("xy", "ab", strict=True)],
        {},
        [(BOTH, None, [0, 1])],
    ),
    ("another name of raters, one row", [{**PAIR, "annotator": "x", "preferred": "b"}], {}, [(BOTH, 1, [])]),
    ("a judge is no rater", [{**PAIR, "judge": "x", "preferred": "b"}] * 2, {}, [(BOTH, 1, []), (BOTH, 1, [])]),
    (
        "a prompt that the user names",
        [{"frage": "T?", "response_a": "A.", "response_b": "B.", "label": "b"}],
        {"map": {"context": "frage"}},
        [(BOTH, 1, [])],
    ),
    (
        "a rater that the user names",
        [{**PAIR, "who": name, "preferred": "a"} for name in "xy"],
        {"map": {"rater": "who"}},
        [(BOTH, 0, [0, 0])],
    ),
]


@pytest.mark.parametrize(("lines", "how", "wanted"), [case[1:] for case in READ], ids=[case[0] for case in READ])
def test_rows_of_pairs(lines: Any, how: dict[str, Any], wanted: list[Any], tmp_path: Path) -> None:
    found = read_from(tmp_path, "a.jsonl", lines, **how)
    assert [(one["pair"], one["preferred"], one["votes"]) for one in found] == wanted


def test_what_is_known_of_each_reply(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"id": "p", "dataset": "d", "topic": "x", "context": ["T?"], "response_a": "A.", "response_b": "B.", '
        '"model_a": "m", "model_b": "n", "score_a": 1, "score_b": 2, "winner": "model_b"}\n'
    )
    (pair,) = read_pairs(path)
    assert (pair.id, pair.preferred, pair.dataset) == ("p", 1, "d")
    assert [(one.id, one.system, one.extra["score"], one.extra["topic"]) for one in pair.replies] == [
        ("p/0", "m", 1, "x"),
        ("p/1", "n", 2, "x"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        '{"response": "A."}',
        '{"chosen": "A.", "rejected": 3}',
        '{"responses": [{"prompt": "a"}], "preferred": 0}',
        '{"chosen": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], '
        '"rejected": [{"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}]}',
    ],
)
def test_what_is_no_pair_is_a_bad_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{line}\n{{"chosen": "A.", "rejected": "B."}}\n')
    skipped: list[DataError] = []
    assert len(list(read_pairs(path, on_error=skipped.append))) == 1
    assert [error.where[-2:] for error in skipped] == [":1"]
