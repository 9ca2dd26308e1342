"""`rejoinder rerank`: candidates from every place, the chosen replies, and whether they are better."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run, refused
from judges_of_domain import NarrowJudge
from rejoinder.errors import DataError, NothingScored, UsageError
from rejoinder.example import Example
from rejoinder.improve.choosing import choose
from rejoinder.improve.pools import Pool
from rejoinder.improve.reranking import CHUNK, Reranked, rerank
from rejoinder.models.responders import FunctionResponder
from rejoinder.report.results import Results
from rejoinder.scorer import FACTS_NOT_CHECKED, Card, Scores


class Lengths:
    """Scores a reply by its letters; counts references as letters too where there are any."""

    def __init__(self, name: str = "letters", *, higher: bool | None = True, needs: Iterable[Any] = ()) -> None:
        self.card = Card(name, "", "baseline", frozenset(needs), (0, None), "", higher_is_better=higher)
        self.options: dict[str, Any] = {}
        self.seen: list[Example] = []

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        self.seen += examples
        return Scores(np.array([len(one.response) + 100.0 * len(one.references) for one in examples]))


def vowels(examples: list[Example]) -> list[float | None]:
    """Vowels of a reply; None of one that says nothing about itself."""
    return [None if "?" in one.response else float(sum(map(one.response.count, "aeiou"))) for one in examples]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, *lines: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a scorer that counts letters, for the command line."""
    (tmp_path / "counting.py").write_text(
        "def letters(examples):\n    return [len(one.response) for one in examples]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "counting", raising=False)
    return "python:counting:letters"


def listed(*candidates: Any, **more: Any) -> dict[str, Any]:
    return {"id": "a", "context": ["hi"], "candidates": list(candidates), **more}


# Candidates


@pytest.mark.parametrize(
    ("contexts", "said"),
    [
        ("@conture", r"of type str, expected a list .*\. For a file use rejoinder.contexts_of\('@conture'\)"),
        (Path("a.jsonl"), r"For a file use rejoinder.contexts_of\('a.jsonl'\)"),
        (pandas.DataFrame([listed("ho")]), r"of type DataFrame, .*\. For a data frame use rejoinder.examples_of"),
        (listed("ho"), "of type dict, expected a list of examples, dicts or turns. Put it into a list"),
        (None, "of type NoneType, expected a list"),
        ([3], "context 1 is of type int, expected an example, a dict or turns"),
    ],
)
def test_what_are_no_contexts_is_refused_in_a_line(contexts: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        list(rerank(contexts, scorer=Lengths()))


def test_dicts_with_other_names_are_refused_with_what_reads_them() -> None:
    rows = [{"prompt": "hi", "answer": text, "model": name} for text, name in (("ho", "a"), ("hello", "b"))]
    with pytest.raises(DataError, match="found: prompt, answer, model.*; rejoinder.examples_of reads other names"):
        list(rerank(rows, scorer=Lengths()))
    for held in (rows, pandas.DataFrame(rows)):
        (line,) = rerank(rejoinder.examples_of(held), scorer=Lengths())
        assert (line["context"], line["response"], line["system"]) == (["hi"], "hello", "b")


def test_respond_takes_dicts_too() -> None:
    echo = FunctionResponder(lambda context: f"{context[-1]}!", "echo")
    replies = rejoinder.respond([{"context": ["hi"]}], echo)
    assert [(line["context"], line["response"]) for line in replies] == [(["hi"], "hi!")]
    with pytest.raises(UsageError, match="Put it into a list"):
        rejoinder.respond({"context": ["hi"]}, echo)


def test_results_exist_after_lines_were_read() -> None:
    reranked = rerank([listed("ho", "hello")], scorer=Lengths())
    with pytest.raises(UsageError, match="no line was read yet, so nothing was chosen. Read the lines first"):
        _ = reranked.results
    assert len(list(reranked)) == reranked.results.about.counts["contexts"] == 1


def test_the_best_of_a_list_is_the_response() -> None:
    found = rerank([listed("ho", {"response": "hello", "system": "b", "mood": "good"}, "hey")], scorer=Lengths())
    (line,) = found
    assert line == {
        "id": "a",
        "context": ["hi"],
        "response": "hello",
        "system": "b",
        "mood": "good",
        "scores": {"letters": 5.0},
        "signatures": line["signatures"],
    }
    assert line["signatures"]["letters"].startswith("scorer:letters|")


def candidates(outside: int) -> list[dict[str, Any]]:
    """Ten lists of two replies, of which the first ones are out of the domain of a `NarrowJudge`."""
    texts = [f"{place}{' support' * (place < outside)}" for place in range(20)]
    replies = [{"response": text, "system": "ab"[place % 2]} for place, text in enumerate(texts)]
    return [{"context": [f"turn {place}"], "candidates": replies[2 * place : 2 * place + 2]} for place in range(10)]


def results_of_candidates(outside: int, scorer: Any, measure_by: Any = None) -> Results:
    reranked = rerank(candidates(outside), scorer=scorer, measure_by=measure_by, resamples=100)
    assert len(list(reranked)) == 10
    return reranked.results


def test_no_winner_among_candidates_that_the_scorer_cannot_judge() -> None:
    results = results_of_candidates(3, NarrowJudge())
    assert "3 of 20 replies" in results.answer[0] and results.warnings[0] == FACTS_NOT_CHECKED
    assert {share.verdict for share in results.pick(statistic="share won")} == {"out of domain"}
    assert "Shares of" not in " ".join(results.answer) and results.about.counts["out_of_domain"].keys() == {"narrow"}
    assert "out of domain" in str(results)
    judged = results_of_candidates(2, NarrowJudge())
    assert judged.answer[0] == "narrow chose a reply in 10 of 10 contexts." and not judged.about.counts["out_of_domain"]
    assert judged.warnings[0] == FACTS_NOT_CHECKED and "Shares of the chosen replies" in " ".join(judged.answer)
    assert results_of_candidates(0, NarrowJudge(), Lengths()).warnings[0] == f"narrow: {FACTS_NOT_CHECKED}"


def test_a_scorer_measures_no_replies_that_it_cannot_judge() -> None:
    results = results_of_candidates(20, Lengths(), NarrowJudge())
    assert "narrow cannot judge these replies" in results.answer[0]
    assert {difference.verdict for difference in results.pick(statistic="difference")} == {"out of domain"}
    assert not any(word in str(results) for word in ("better", "worse", "difference")) and results.layout.chart is None


def test_what_respond_writes_is_a_list(run: Run, tmp_path: Path) -> None:
    said = [{"response": "a", "score": -1.0, "good": 1}, {"response": "abc", "score": -2.0, "good": 1}]
    file = write_lines(
        tmp_path / "in.jsonl", {"context": ["hi"], "response": "a", "replies": said, "system": "bot", "responder": "x"}
    )
    assert run("rerank", file, "-s", "column:good", "-o", tmp_path / "out.jsonl").code == 0
    (line,) = lines_of(tmp_path / "out.jsonl")
    assert (line["response"], line["system"]) == ("a", "bot")  # of equals the first
    assert not {"replies", "score"} & line.keys()
    assert run("rerank", file, "-s", "column:score", "-o", tmp_path / "out.jsonl").code == 0
    assert lines_of(tmp_path / "out.jsonl")[0]["scores"] == {"column:score": -1.0}


def test_lines_of_one_context_are_candidates_wherever_they_stand() -> None:
    rows = [
        {"id": f"{number}/{system}", "context": [f"hi {number}"], "response": text, "system": system, "stars": number}
        for system, texts in (("a", ["x", "xyz"]), ("b", ["xy", ""]))
        for number, text in enumerate(texts)
    ]
    reranked = rerank(rows, scorer=Lengths(), every=True)
    lines = list(reranked)
    assert [(line["id"], line["response"], line["stars"]) for line in lines] == [("0/b", "xy", 0), ("1/a", "xyz", 1)]
    assert list(reranked.results.about.data) == [
        {"system": name, "offered": 2, "won": 1, "kept": 1} for name in ("a", "b")
    ]


def test_responders_are_asked(run: Run, tmp_path: Path, letters: str) -> None:
    echo = "    print(json.dumps({'response': json.loads(line)['context'][-1]}))\n"
    (tmp_path / "bot.py").write_text(f"import json, sys\nfor line in sys.stdin:\n{echo}")
    file = write_lines(
        tmp_path / "in.jsonl",
        *({"context": [f"turn {n}"], "references": ["so it is said"], "response": "so it is said"} for n in range(4)),
    )
    call = ["rerank", file, "-r", f"command:{sys.executable} {tmp_path}/bot.py", "-r", f"human:{file}", "-s", letters]
    done = run(*call, "--candidates", "-o", tmp_path / "out.jsonl")
    assert done.code == 0, done.err
    out = lines_of(tmp_path / "out.jsonl")
    assert [line["response"] for line in out] == ["so it is said"] * 4
    assert out[0]["system"] == "human" and "responder" in out[0] and out[0]["references"] == ["so it is said"]
    assert [one["response"] for one in out[0]["candidates"]] == ["so it is said", "turn 0"]
    assert "Shares of the chosen replies: human 100 %, " in done.out
    assert done.out.splitlines()[-1].startswith("4 replies in ")


def test_only_the_replies_of_responders_count_where_there_are_some() -> None:
    systems = [FunctionResponder(lambda _: "x", "a"), FunctionResponder(lambda _: "xy", "b")]
    found = rerank([listed("much longer", response="the old one")], systems, Lengths(), every=True)
    (line,) = found
    assert [one["response"] for one in line["candidates"]] == ["xy", "x"]
    assert {name: tally.answered for name, tally in found.tallies.items()} == {"a": 1, "b": 1}


def test_cells_hold_lists_too(run: Run, tmp_path: Path, letters: str) -> None:
    (tmp_path / "in.csv").write_text('context,candidates\nhi,"[""ho"", ""hello you""]"\n')
    assert run("rerank", tmp_path / "in.csv", "-s", letters, "-o", tmp_path / "out.csv").code == 0
    assert "hello you" in (tmp_path / "out.csv").read_text()


# Choosing


def test_references_are_hidden_from_what_can_do_without() -> None:
    chooser, other = Lengths(), Lengths("other", needs=["reference"])
    line = listed("ho", "hello", references=["hey"])
    list(rerank([line], scorer=chooser))
    assert {one.references for one in chooser.seen} == {()}
    found = rerank([line], scorer=other)
    assert [one["references"] for one in found] == [["hey"]]
    assert {one.references for one in other.seen} == {("hey",)}
    assert any("which a chatbot does not have" in warning for warning in found.results.warnings)


def test_the_lowest_is_best_where_lower_is_better() -> None:
    (line,) = rerank([listed("hello", "ho")], scorer=Lengths(higher=False), at_least=3)
    assert line["response"] == "ho"
    (line,) = rerank([listed("hello", "hallo")], scorer=Lengths(higher=False), at_least=3)
    assert line["unanswered"] == "no candidate has a score of 3 or better"


@given(st.lists(st.text(alphabet="ab ", max_size=4), min_size=2, max_size=9))
def test_no_eligible_candidate_beats_the_chosen_one_and_none_before_it_equals_it(texts: list[str]) -> None:
    pool = Pool(Example(("hi",), ""), tuple(Example(("hi",), text) for text in texts))
    (choice,) = choose(Lengths(), [pool])
    eligible = [place for place, text in enumerate(texts) if text.strip()]
    if choice.place is None:
        assert not eligible and choice.reason == "no candidate has a score (an empty reply, which is never chosen)"
        return
    lengths = [len(text) for text in texts]
    assert choice.place == max(eligible, key=lambda place: (lengths[place], -place))
    assert sorted(choice.order) == list(range(len(texts))) and choice.order[0] == choice.place


def test_below_the_bar_a_line_is_unanswered_as_respond_writes_it() -> None:
    found = rerank([listed("hello", "ho"), listed("ho", "he", id="b")], scorer=Lengths(), at_least=3, every=True)
    first, second = found
    assert first["response"] == "hello" and "unanswered" not in first
    assert (second["response"], second["unanswered"]) == ("", "no candidate has a score of 3 or better")
    assert "scores" not in second and [one["score"] for one in second["candidates"]] == [2.0, 2.0]
    assert rejoinder.examples_of([second])[0].unanswered
    results = found.results
    assert results.about.counts["unanswered"] == {"no candidate has a score of 3 or better": 1}
    assert "1 context without a chosen reply (no candidate has a score of 3 or better: 1)." in results.warnings


def test_one_candidate_is_a_choice_only_under_a_bar() -> None:
    assert len(list(rerank([listed("hello")], scorer=Lengths(), at_least=3))) == 1
    with pytest.raises(DataError, match=r"no context has two candidates \(1 in 1 contexts\)"):
        list(rerank([listed("hello")], scorer=Lengths()))


def test_a_scorer_that_fails_half_the_time_is_counted() -> None:
    lines = [listed("why?", "because", id=str(number)) for number in range(4)] + [listed("a?", "b?", id="x")]
    found = rerank(lines, scorer=vowels)
    assert [line["response"] for line in found] == ["because"] * 4 + [""]
    about = found.results.about
    assert about.scorers["vowels"]["unscored_reasons"] == {"vowels gave None": 6}
    assert about.counts["unanswered"] == {"no candidate has a score (vowels gave None)": 1}
    with pytest.raises(NothingScored, match="none of 2 candidates can be chosen by vowels: vowels gave None"):
        list(rerank([listed("a?", "b?")], scorer=vowels))


def test_the_scorer_is_asked_for_a_chunk_at_a_time() -> None:
    calls = []

    def counted(examples: list[Example]) -> list[int]:
        calls.append(len(examples))
        return [1] * len(examples)

    taken = []

    def lines() -> Iterator[dict[str, Any]]:
        for number in range(3 * CHUNK // 8):
            taken.append(number)
            yield listed(*"abcdefg", id=str(number))

    found = iter(rerank(lines(), scorer=counted))
    next(found)
    assert len(taken) == CHUNK // 8  # as many contexts were read as are scored together
    assert len(list(found)) == len(taken) - 1 and len(calls) == 3


# Measuring


def measured(count: int = 12) -> Reranked:
    lines = [
        listed(
            {"response": "bcd" * (number % 3 + 1), "system": "a"},
            {"response": "aaaa" * 4, "system": "b"},
            {"response": "i", "system": "c"},
            id=str(number),
            context=[f"hi {number}"],
        )
        for number in range(count)
    ]
    return rerank(lines, scorer=Lengths(), measure_by=vowels)


def test_the_difference_is_from_the_best_single_system() -> None:
    reranked = measured()
    lines = list(reranked)
    assert lines[0]["scores"] == {"letters": 16.0, "vowels": 16.0}
    results = reranked.results
    means = results.pick(statistic="mean score", group="first reply")
    assert {mean.system: mean.value for mean in means} == {"b": 16.0, "a": 0.0, "c": 1.0}
    differences = {difference.versus: difference for difference in results.pick(statistic="difference")}
    assert {name: difference.value for name, difference in differences.items()} == {"b": 0.0, "a": 16.0, "c": 15.0}
    assert [differences[name].verdict for name in "abc"] == ["above", "inconclusive", "above"]
    chosen = results.one(statistic="mean score", group="chosen")
    assert (chosen.value, chosen.n, differences["a"].low) == (16.0, 12, 16.0)
    assert results.one(statistic="share won", system="b").value == 1
    assert results.answer[0].startswith("The chosen replies are not significantly better by vowels: +0.00")
    assert len(results.answer[0].split()) <= 20 and results.layout.chart is not None


@pytest.mark.parametrize(("texts", "word"), [(("xy", "aaa"), "better"), (("aa", "xyz"), "worse")])
def test_the_verdict_follows_the_interval(texts: tuple[str, str], word: str) -> None:
    lines = [listed(*texts, id=str(number), context=[f"hi {number}"]) for number in range(9)]
    reranked = rerank(lines, scorer=Lengths(), measure_by=vowels)
    list(reranked)
    assert reranked.results.answer[0].startswith(f"The chosen replies are {word} by vowels: ")
    assert reranked.results.answer[-1] == "The chosen reply is the first in its list in 0 % of them."


def test_lines_of_one_context_are_resampled_together() -> None:
    lines = [listed("xy", "aaa", id=str(number), context=["hi"]) for number in range(9)]
    reranked = rerank(lines, scorer=Lengths(), measure_by=vowels)
    list(reranked)
    difference = reranked.results.one(statistic="difference")
    assert difference.n == 9 and not difference.has_interval and difference.verdict == "inconclusive"


def test_figures_do_not_depend_on_order_or_chunks() -> None:
    lines = [listed("a" * (n % 5 + 1), "e" * (n % 3 + 1), id=str(n), context=[f"hi {n}"]) for n in range(40)]
    one, two = (rerank(given, scorer=Lengths(), measure_by=vowels) for given in (lines, lines[::-1]))
    assert sorted(line["id"] for line in one) == sorted(line["id"] for line in two)
    assert one.results.to_dict() == two.results.to_dict()


def test_what_was_not_measured_is_counted() -> None:
    lines = [listed("xy", "abcd?" if n % 2 else "abcde", id=str(n), context=[f"hi {n}"]) for n in range(8)]
    found = rerank(lines, scorer=Lengths(), measure_by=vowels)
    list(found)
    results = found.results
    assert results.one(statistic="mean score", group="chosen").n == 4
    assert results.about.scorers["vowels"]["unscored_reasons"] == {"vowels gave None": 4}
    assert "4 chosen replies were not measured; most frequent reason: vowels gave None." in results.warnings


def test_what_chose_does_not_measure(run: Run, tmp_path: Path, letters: str) -> None:
    file = write_lines(tmp_path / "in.jsonl", listed("a", "b c"))
    refused(
        run("rerank", file, "-s", letters, "--measure-by", letters),
        2,
        f"{letters} chose the replies, and finds them better for that. Measure by another scorer",
    )
    refused(
        run("rerank", file, "-s", "context-overlap"),
        2,
        "context-overlap does not say whether higher is better, so it cannot choose. Name another",
    )


def test_judges_that_were_fitted_on_the_same_sets_are_told() -> None:
    one, two = Lengths("one"), Lengths("two")
    for scorer in (one, two):
        scorer.trained_on = frozenset({"dstc7", scorer.card.name})  # type: ignore[attr-defined]
    found = rerank([listed("a", "bc")], scorer=one, measure_by=two)
    list(found)
    assert "Both scorers were fitted on dstc7, so they may overrate the same replies." in found.results.warnings


# Bad input, and the command


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (listed(3, "a"), 'field "candidates": holds a number, expected texts'),
        (listed({"text": "a"}, "b"), 'field "candidates": holds an object without a "response", expected texts'),
        ({"id": "a", "context": ["hi"], "candidates": "a, b"}, 'field "candidates": is text that holds no JSON list'),
        ({"id": "a", "context": ["hi"], "candidates": {"a": 1}}, 'field "candidates": is an object, expected a list'),
    ],
)
def test_a_bad_list_is_told_with_its_place(
    line: dict[str, Any], said: str, run: Run, tmp_path: Path, letters: str
) -> None:
    file = write_lines(tmp_path / "in.jsonl", listed("a", "b c"), line)
    done = run("rerank", file, "-s", letters, "-o", tmp_path / "out.jsonl")
    assert done.code == 3 and f"in.jsonl:2: {said}" in done.err and not (tmp_path / "out.jsonl").exists()


def test_a_bad_list_can_be_skipped(run: Run, tmp_path: Path, letters: str) -> None:
    file = write_lines(tmp_path / "in.jsonl", listed("a", "b c"), listed(3, "a"), listed("d", "e f", id="c"))
    done = run("rerank", file, "-s", letters, "-o", tmp_path / "out.jsonl", "--on-error", "skip")
    assert done.code == 0 and len(lines_of(tmp_path / "out.jsonl")) == 2
    assert 'in.jsonl:2: field "candidates"' in done.err


def test_an_empty_list_and_a_context_alone_are_unanswered() -> None:
    lines = [listed(), {"id": "b", "context": ["ho"]}, listed("a", "bc", id="c")]
    assert {line["id"]: line.get("unanswered") for line in rerank(lines, scorer=Lengths())} == {
        "a": "the list of candidates is empty",
        "b": "no candidate in the line",
        "c": None,
    }


def test_nothing_at_all_is_an_error() -> None:
    with pytest.raises(DataError, match="no line is left to choose in"):
        list(rerank([], scorer=Lengths()))


def test_a_bar_is_a_number() -> None:
    with pytest.raises(UsageError, match="at_least is nan, expected a finite number"):
        rerank([listed("a", "b")], at_least=float("nan"))


def test_json_and_lines_do_not_go_to_one_place(run: Run, tmp_path: Path, letters: str) -> None:
    file = write_lines(
        tmp_path / "in.jsonl",
        *(
            listed({"response": "a", "m": 1}, {"response": "b c", "m": n}, id=str(n), context=[f"hi {n}"])
            for n in range(5)
        ),
    )
    done = run("rerank", file, "-s", letters, "--json")
    assert done.code == 2 and "Name a file for the lines: -o FILE" in done.err
    done = run("rerank", file, "-s", letters, "--measure-by", "column:m", "-o", tmp_path / "o.jsonl", "--json")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert record["counts"]["answered"] == 5 and record["options"]["measured_by"] == "column:m"
    assert {(row["statistic"], row["group"], row["n"]) for row in record["results"]} == {
        ("share won", "", 5),
        ("mean score", "chosen", 5),
        ("mean score", "first reply", 5),
        ("difference", "chosen", 5),
    }


def test_lines_go_to_standard_output_and_the_answer_beside_them(run: Run, tmp_path: Path, letters: str) -> None:
    file = write_lines(tmp_path / "in.jsonl", listed("a", "b c"))
    done = run("rerank", file, "-s", letters)
    assert [line["response"] for line in done.records] == ["b c"]
    assert done.err.startswith(f"{letters} chose a reply in 1 of 1 context.\n")
