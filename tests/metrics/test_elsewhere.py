"""Scores made elsewhere: a column of the input, and Python functions."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run, refused
from rejoinder import Card, Example, Rating, RejoinderError
from rejoinder.errors import UsageError
from rejoinder.scorer import ScoreFunction, Scores, run, signature_of


def line(**keys: Any) -> dict[str, Any]:
    return {"context": ["hi"], "response": "same words", **keys}


def saved(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def reason(value: Any) -> str:
    (said,) = rejoinder.score([Example((), "a", extra={"x": value})], "column:x").reasons.values()
    return said


def test_equal_texts_keep_their_own_numbers() -> None:
    lines = [Example(("hi",), "same", extra={"gpt4": number}) for number in (3, 1, 2)]
    assert rejoinder.score(lines, "column:gpt4").values.tolist() == [3, 1, 2]
    assert rejoinder.score(lines, "column:-gpt4").values.tolist() == [-3, -1, -2]


@given(st.lists(st.one_of(st.none(), st.floats(), st.integers()), max_size=30))
def test_every_line_has_its_number_or_a_reason(numbers: list[float | None]) -> None:
    lines = [Example((), "word " * (place % 5), extra={"x": number}) for place, number in enumerate(numbers)]
    scores = rejoinder.score(lines, "column:x")
    for place, number in enumerate(numbers):
        try:
            known = number is not None and math.isfinite(number)
        except OverflowError:
            known = False
        assert (place in scores.reasons) != known
        assert not known or scores.values[place] == number


def test_a_path_leads_into_objects_and_a_key_with_dots_comes_first() -> None:
    nested = Example((), "a", extra={"scores": {"adem": 2, "bleu.2": 7}, "a.b": 5, "a": {"b": 6}, "c": {"d": {"e": 8}}})
    for path, number in (("scores.adem", 2), ("scores.bleu.2", 7), ("a.b", 5), ("c.d.e", 8)):
        assert rejoinder.score([nested], f"column:{path}").values.tolist() == [number]
    assert rejoinder.score([nested], "column:c.d").reasons == {0: '"c.d" is an object, not a finite number'}


def test_what_is_no_number_is_said() -> None:
    assert reason("great") == '"x" is a word, but none for pass or fail (study takes --positive WORD)'
    assert reason([1, 2]) == '"x" is a list, not a finite number'
    assert reason("inf") == '"x" is text, not a finite number'
    assert reason(None) == 'no "x"'
    (hint,) = rejoinder.score([Example((), "a", extra={"gpt4_score": 1})], "column:gpt4score").reasons.values()
    assert hint == 'no "gpt4score", but "gpt4_score"'


def test_the_signature_says_the_column() -> None:
    fields = signature_of(rejoinder.load_scorer("column:-ter")).fields
    assert (fields["scorer"], fields["column"]) == ("column:-ter", "-ter")


def test_a_column_in_every_command(run: Run, tmp_path: Path) -> None:
    rated = saved(tmp_path / "a.jsonl", [line(id=n, gpt4=n, quality={"overall": n % 4}) for n in range(1, 9)])
    better = saved(tmp_path / "b.jsonl", [line(id=n, gpt4=n + 1) for n in range(1, 9)])
    found = json.loads(run("study", rated, "-s", "column:gpt4", "--json", "--resamples", "100").out)
    (pearson,) = (
        one
        for one in found["results"]
        if (one["scorer"], one["statistic"], one["level"]) == ("column:gpt4", "pearson", "turn")
    )
    expected = np.corrcoef(range(1, 9), [n % 4 for n in range(1, 9)])[0, 1]
    assert pearson["value"] == pytest.approx(expected)
    assert [one["scores"] for one in run("score", rated, "-s", "column:gpt4", "--format", "jsonl").records] == [
        {"column:gpt4": n} for n in range(1, 9)
    ]
    contrast = _difference(run("compare", rated, better, "-s", "column:gpt4", "--json").out)
    assert contrast["value"] == 1
    contrast = _difference(run("compare", rated, better, "-s", "column:-gpt4", "--json").out)
    assert contrast["value"] == -1


def _difference(text: str) -> Any:
    """Return the row of the difference in the JSON of a comparison."""
    (row,) = [row for row in json.loads(text)["results"] if row["statistic"] == "difference"]
    return row


def test_a_column_of_a_table(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["context", "response", "comet"], ["hi", "a", "0.5"], ["hi", "a", ""]])
    first, second = run("score", tmp_path / "a.csv", "-s", "column:comet", "--format", "jsonl").records
    assert first["scores"] == {"column:comet": 0.5}
    assert second["unscored"] == {"column:comet": 'no "comet"'}


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        *(("2,5", 2.5), (" -0,25 ", -0.25), ("2.5", 2.5), ("1e-3", 0.001), ("3", 3), (np.float32(1.5), 1.5)),
        *((True, 1), ("good", 1), ("fail", 0), ("3/5", 3)),
    ],
)
def test_a_number_may_stand_as_text_with_a_decimal_comma(cell: Any, number: float) -> None:
    assert rejoinder.score([Example((), "a", extra={"x": cell})], "column:x").values.tolist() == [number]


@pytest.mark.parametrize(
    "text", ["1,234.5", "1,234", "-12,345", "1,234,567", "1.234,5", "2,5,1", ",", "nan", "2,5 points"]
)
def test_a_text_that_is_no_plain_number_is_no_score(text: str) -> None:
    assert reason(text) == '"x" is text, not a finite number'


def test_a_study_says_which_rated_lines_have_no_score(run: Run, tmp_path: Path) -> None:
    cells = ["1,5", "2", "poor", "3,5", "poor", "4", ""]
    with (tmp_path / "de.csv").open("w", newline="") as stream:
        table = csv.writer(stream, delimiter=";")
        table.writerow(["prompt", "response", "stars", "gpt"])
        table.writerows([f"q{place}", "a", f"{place % 5},5", cell] for place, cell in enumerate(cells))
    why = '"gpt" is a word, but none for pass or fail (study takes --positive WORD)'
    said = f"a score, most often: {why} (column:gpt)."
    for every in ((), ("--all",)):
        out = run("study", tmp_path / "de.csv", "-s", "column:gpt", "-s", "length", "--resamples", "100", *every).out
        assert f"3 of 7 rated lines without {said}" in " ".join(out.split())
    found = json.loads(run("study", tmp_path / "de.csv", "-s", "column:gpt", "--json", "--resamples", "100").out)
    about = found["scorers"]["column:gpt"]
    assert (about["unscored"], about["unscored_reason"]) == (3, why)


def test_a_column_that_no_line_has(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "a.jsonl", [line(gpt4=1, quality={"overall": n}) for n in (1, 2, 3)])
    ran = run("study", path, "-s", "column:gpt5")
    refused(ran, 5, 'column:gpt5: none of 3 lines has a score; most often: no "gpt5", but "gpt4"')
    refused(run("study", path, "-s", "column:"), 2, _no_column("column:"))
    refused(run("score", path, "-s", "column:-"), 2, _no_column("column:-"))


def _no_column(name: str) -> str:
    return f"{name} names no column. Write column:KEY, or column:-KEY where lower is better"


def questions(examples: list[Example]) -> list[float]:
    """How many questions the reply asks."""
    return [example.response.count("?") for example in examples]


def test_a_function_is_a_scorer_in_every_call() -> None:
    """The ten lines: a function of one's own, studied, compared and scored."""
    rated = list(rejoinder.read("@conture"))[:80]
    study = rejoinder.study(rated, [questions, "length"], resamples=100)
    assert {"questions", "length"} <= set(study.about.scorers)
    signature = rejoinder.study(rated, questions, resamples=100).about.signatures["questions"]
    assert signature["function"] == "test_elsewhere:questions"
    found = rejoinder.compare(rated, rated, [questions], resamples=100)
    assert found.one(statistic="difference").value == 0
    assert rejoinder.score(rated, questions).values.tolist() == questions(rated)


@pytest.mark.parametrize(
    "made", [lambda: questions, lambda: (one for one in [questions]), lambda: {questions: 1}.keys()]
)
def test_one_function_or_any_iterable_of_scorers(made: Callable[[], Any]) -> None:
    rated = list(rejoinder.read("@conture"))[:60]
    scorers = rejoinder.study(rated, made(), resamples=0).about.scorers
    assert [name for name, about in scorers.items() if about["asked"]] == ["questions"]
    assert [*rejoinder.compare(rated, rated, made(), resamples=100).about.scorers] == ["questions"]
    several = [
        Example((str(n),), "?" * n, ratings=(Rating(n % 5, rater="a"), Rating(n % 5, rater="b"))) for n in range(20)
    ]
    assert [*rejoinder.ratings(several, made(), min_kappa=-1, resamples=0).about.signatures] == ["questions"]


def test_one_name_or_folder_may_be_compared_by(tmp_path: Path) -> None:
    rated = list(rejoinder.read("@conture"))[:20]
    assert [*rejoinder.compare(rated, rated, "length", resamples=100).about.scorers] == ["length"]
    with pytest.raises(RejoinderError, match="no trained model here"):
        rejoinder.compare(rated, rated, tmp_path, resamples=100)


def test_a_function_gets_all_examples_once_and_in_their_order() -> None:
    lines = [Example((), "word " * random.Random(n).randrange(9), id=str(n % 3)) for n in range(1500)]
    calls = []

    def numbered(examples: list[Example]) -> range:
        calls.append(examples)
        return range(len(examples))

    assert rejoinder.score(lines, numbered).values.tolist() == [*range(1500)]
    assert calls == [lines]


def test_a_function_may_leave_examples_unscored() -> None:
    lines = [Example((), text) for text in "abcd"]
    scores = rejoinder.score(lines, lambda _: [1, None, float("nan"), np.float32(2)])
    assert scores.reasons == {1: "<lambda> gave None", 2: "<lambda> gave nan"}
    assert scores.values[scores.scored].tolist() == [1, 2]


def fails(_examples: list[Example]) -> list[float]:
    raise KeyError("gpt4")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda _: [1, 2], "the function <lambda> gave 2 scores for 1 examples. Return a list with a number"),
        (lambda _: 1, "the function <lambda> gave an object of type int. Return"),
        (lambda _: {"a": 1}, "the function <lambda> gave an object of type dict. Return"),
        (lambda _: ["good"], "the function <lambda> gave 'good' among its scores. Return"),
        (lambda _: [[1]], "the function <lambda> gave [1] among its scores. Return"),
        (lambda lines: (1 / 0 for _ in lines), "the function <lambda> failed on 1 examples (ZeroDivisionError"),
        (fails, "the function fails failed on 1 examples (KeyError: 'gpt4'). Mend it"),
    ],
)
def test_what_a_function_does_wrong_is_told_in_one_line(function: ScoreFunction, message: str) -> None:
    with pytest.raises(RejoinderError) as caught:
        rejoinder.score([Example((), "a")], function)
    assert str(caught.value).startswith(message)


def test_a_function_is_told_from_a_scorer_and_from_anything_else() -> None:
    with pytest.raises(RejoinderError, match="a scorer is a name, a folder, a function or an object with score_batch"):
        rejoinder.score([], 3)  # type: ignore[arg-type]
    assert rejoinder.load_scorer(scorer := rejoinder.load_scorer("length")) is scorer
    assert run(rejoinder.load_scorer(questions), []).values.size == 0


class Given:
    """A scorer object that gives what it is told to."""

    card = Card("given", "a number", "metric", frozenset(), (None, None), "a test")
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, given: Any) -> None:
        self.given = given

    def score_batch(self, _examples: Sequence[Example]) -> Any:
        return self.given


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0, 2.0], "given: score_batch gave a list, expected Scores. Return rejoinder.Scores(values)"),
        (np.ones(2), "given: score_batch gave a ndarray, expected Scores"),
        (None, "given: score_batch gave None, expected Scores"),
        (Scores(np.ones(1)), "given: score_batch gave 1 scores for 2 examples. Return one for each"),
        (Scores(np.ones(3)), "given: score_batch gave 3 scores for 2 examples. Return one for each"),
        (Scores(np.ones(2), low=np.ones(3)), "given: score_batch gave 3 low for 2 examples"),
        (Scores(np.ones((2, 1))), "given: the values of Scores are a ndarray, expected one number for each"),
        (Scores("ab"), "given: the values of Scores are 'ab', expected one number"),  # type: ignore[arg-type]
    ],
)
def test_what_an_object_does_wrong_is_told_in_one_line(given: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        rejoinder.score([Example((), "a"), Example((), "bb")], Given(given))
    assert str(caught.value).startswith(message)


def test_what_is_not_finite_is_unscored_with_a_reason() -> None:
    lines = [Example((), "a" * n) for n in range(1, 5)]
    outcome = Scores([1, math.inf, math.nan, -math.inf], {3: "too long"})  # type: ignore[arg-type]
    scores = rejoinder.score(lines, Given(outcome))
    assert scores.reasons == {1: "given gave inf", 2: "given gave nan", 3: "too long"}
    assert scores.values[0] == 1
    assert np.isnan(scores.values[1:]).all()


def test_an_object_without_a_card_and_a_class_are_told_so() -> None:
    bare = type("Bare", (), {"score_batch": lambda _self, examples: examples})
    with pytest.raises(UsageError, match="^a Bare has score_batch, but not the card and the options of a scorer. Give"):
        rejoinder.score([], bare())
    with pytest.raises(UsageError, match=r"^Given is a class, expected a scorer. Give an object of it: Given\(\)$"):
        rejoinder.score([], Given)  # type: ignore[arg-type]


def test_a_function_by_its_import_path(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_own_scores.py").write_text(
        "X = 3\ndef short(examples):\n    return [-len(e.response) for e in examples]\n"
    )
    (tmp_path / "my_own_fault.py").write_text("raise OSError('no key')\n")
    path = saved(tmp_path / "a.jsonl", [line(), line(response="a")])
    monkeypatch.chdir(tmp_path)
    name = "python:my_own_scores:short"
    assert [one["scores"][name] for one in run("score", path, "-s", name, "--format", "jsonl").records] == [-10, -1]
    for odd, said in (
        ("python:my_own_scores", "python:my_own_scores names no function. Write python:MODULE:FUNCTION"),
        (
            "python:my_own_scores:X",
            "python:my_own_scores:X: X is of type int, no function, in my_own_scores. Name a function",
        ),
        ("python:my_own_scores:y", "python:my_own_scores:y: y is no name in my_own_scores. Name a function"),
        ("python:my_own_fault:f", "python:my_own_fault:f: my_own_fault cannot be imported (OSError: no key). Name a"),
    ):
        ran = run("score", path, "-s", odd)
        assert ran.code == 2 and ran.err.startswith(f"rejoinder: {said}"), ran.err
