"""Results of promptfoo, deepeval and lm-eval as examples, with the scores of their judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from conftest import GOLDEN, Run
from rejoinder.errors import DataError
from rejoinder.example import Rating

RUN = GOLDEN / "evaluations" / "deepeval.json"
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "content": "Good day!"},
    {"role": "user", "content": "Tea?"},
]


def write(path: Path, *values: Any) -> Path:
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values))
    return path


def part(kind: str, score: float, **more: Any) -> dict[str, Any]:
    return {"pass": score > 0.5, "score": score, "reason": "so", "assertion": {"type": kind, **more}}


def result(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "r1",
        "promptIdx": 0,
        "testIdx": 0,
        "provider": {"id": "echo", "label": ""},
        "prompt": {"raw": "Tea?", "label": "short"},
        "vars": {"question": "Tea?", "stars": 4},
        "response": {"output": "Tea."},
        "gradingResult": {"pass": True, "score": 0.75, "reason": "so", "componentResults": list(parts)},
        "score": 0.75,
        **more,
    }


def of_promptfoo(*results: Any, version: int = 3) -> dict[str, Any]:
    return {"evalId": "e", "results": {"version": version, "results": list(results), "stats": {}}, "config": {}}


def test_promptfoo(tmp_path: Path) -> None:
    parts = part("contains", 1), part("contains", 0), part("llm-rubric", 0.5, metric="tone")
    chat = result(id="r2", prompt={"raw": json.dumps(MESSAGES)}, response={"output": {"tea": True}})
    failed = result(id="r3", response={"error": "no key"}, error="API error: no key", vars={"question": "Why?"})
    file = write(tmp_path / "results.json", of_promptfoo(result(*parts), chat, failed))
    one, two, three = rejoinder.read(file)
    assert (one.context, one.response, one.system, one.id) == (("Tea?",), "Tea.", "echo", "r1")
    assert one.extra["scores"] == {"contains": 1.0, "contains.2": 0.0, "tone": 0.5, "score": 0.75}
    assert one.extra["prompt_label"] == "short"
    assert one.extra["vars"]["stars"] == 4 and one.where == f"{file}:result 1"
    assert two.context == ("Hello.", "Good day!", "Tea?") and two.response == '{"tea": true}'
    assert one.context_key == two.context_key != three.context_key  # one test, however it was asked
    assert three.extra["unanswered"] == "API error: no key" and "scores" not in three.extra
    (line,) = rejoinder.read(write(tmp_path / "results.jsonl", result(*parts)))
    assert line.extra["scores"] == one.extra["scores"]


@pytest.mark.parametrize("name", ["promptfoo.json", "promptfoo.jsonl"])
def test_what_promptfoo_writes(name: str) -> None:
    tea, tea_in_chat, boots, _ = rejoinder.read(GOLDEN / "evaluations" / name, map={"rating": "vars.stars"})
    assert (tea.context, tea.response, tea.system) == (("Tea or coffee?",), "Tea or coffee?", "echo")
    assert tea_in_chat.context == ("Hello.", "Good day!", "Tea or coffee?")
    assert tea.extra["scores"] == {"length": 0.14, "contains": 1.0, "contains.2": 0.0, "score": pytest.approx(0.38)}
    assert boots.extra["scores"] == {"length": 0.18, "score": 0.18} and boots.ratings == (Rating(2),)
    assert tea.context_key == tea_in_chat.context_key != boots.context_key


def test_a_persons_verdict_is_a_rating(tmp_path: Path) -> None:
    file = write(tmp_path / "results.json", of_promptfoo(result(part("llm-rubric", 0.2), part("human", 1), score=1)))
    (found,) = rejoinder.read(file)
    assert found.ratings == (Rating(1.0),) and found.extra["scores"] == {"llm-rubric": 0.2}  # the sum is the person's


def test_deepeval() -> None:
    tea, coffee, boots = rejoinder.read(RUN, map={"rating": "metadata.stars"})
    assert (tea.context, tea.response, tea.references) == (("Tea or coffee?",), "Tea for me.", ("Tea, please.",))
    assert tea.extra["scores"] == {"Words": 0.3} and tea.ratings == (Rating(4),) and not coffee.ratings
    assert coffee.extra["unscored"] == {"Words": "ValueError: the judge gave no grade"}
    assert boots.context == ("Do you have boots?",)  # what deepeval calls context are facts
    assert boots.extra["documents"] == ["We sell boots in every size."]


def test_a_conversation_of_deepeval(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Tea?", "order": 0}, {"role": "assistant", "content": "Yes.", "order": 1}]
    case = {"name": "a", "turns": turns, "metricsData": [{"name": "Tone", "score": 0.5}]}
    file = write(tmp_path / "run.json", {"testRunData": {"testCases": [], "conversationalTestCases": [case]}})
    (found,) = rejoinder.read(file)
    assert (found.context, found.response) == (("Tea?",), "Yes.")
    assert found.extra["level"] == "dialogue" and found.extra["scores"] == {"Tone": 0.5}


def sample(name: str, score: float | None, **more: Any) -> dict[str, Any]:
    return {
        "doc_id": 0,
        "doc": {"question": "Tea?", "stars": 4},
        "target": "Tea.",
        "arguments": {"gen_args_0": {"arg_0": "Tea?", "arg_1": {"until": ["\n"]}}},
        "resps": [["Tea, I think."]],
        "filtered_resps": ["think"],
        "filter": name,
        "metrics": ["exact_match"],
        "exact_match": score,
        **more,
    }


def test_lm_eval_has_a_line_for_each_filter(tmp_path: Path) -> None:
    chat = json.dumps(MESSAGES)
    other = {"doc_id": 1, "arguments": {"gen_args_0": {"arg_0": chat}}, "resps": [["Yes."]]}
    lines = [sample("none", 1.0), sample("none", None, **other), sample("last", 0.0), sample("last", 0.5, **other)]
    file = write(tmp_path / "samples_shop.jsonl", *lines)
    tea, talk = rejoinder.read(file)
    assert (tea.context, tea.response, tea.references) == (("Tea?",), "Tea, I think.", ("Tea.",))
    assert tea.extra["scores"] == {"exact_match": 1.0, "exact_match,last": 0.0} and tea.where == f"{file}:1"
    assert talk.context == ("Hello.", "Good day!", "Tea?")
    assert talk.extra["scores"] == {"exact_match": None, "exact_match,last": 0.5}
    assert talk.extra["unscored"] == {"exact_match": "null in place of a number"}


def test_what_lm_eval_writes() -> None:
    tea, boots = rejoinder.read(GOLDEN / "evaluations" / "samples_shop.jsonl", map={"rating": "doc.stars"})
    assert (tea.context, boots.context) == (("Tea or coffee?",), ("Do you have boots?",))
    assert tea.extra["scores"] == {"exact_match,whole": 0.0, "exact_match,last-word": 0.0}
    assert (tea.ratings, boots.references) == ((Rating(4),), ("yes",))


def test_what_python_holds_is_read_too() -> None:
    (found,) = rejoinder.examples_of(of_promptfoo(result()))
    assert found.response == "Tea." and found.where == "examples:result 1"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (of_promptfoo(), "results of promptfoo without an output. Run promptfoo eval -o again"),
        (of_promptfoo(result(), version=2), "results of promptfoo in version 2, expected 3"),
        (of_promptfoo(7), "result 1: the result is a number without its prompt"),
        ({"testCases": [], "metricsScores": []}, "a test run of deepeval without test cases"),
        ({"testCases": [7], "metricsScores": []}, "case 1: the test case is a number, expected an object"),
        (sample("none", 1, resps=[[[-1.5, False]]]), "no reply in text: the task compares likelihoods"),
        ({"testCases": 7, "metricsScores": []}, "a test run of deepeval without test cases"),
        (sample("none", 1, resps=[["a", "b"]], filtered_resps=[[0.5]]), "no reply in text"),
    ],
)
def test_what_cannot_be_used_is_one_line(tmp_path: Path, value: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        list(rejoinder.read(write(tmp_path / "a.json", value)))
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_what_is_odd_about_a_judge_costs_its_score_alone(tmp_path: Path) -> None:
    odd = result(gradingResult={"componentResults": 7}, score="n/a")
    (found,) = rejoinder.read(write(tmp_path / "a.json", of_promptfoo(odd)))
    assert found.extra["unscored"] == {"score": "'n/a' is no number"}
    (line,) = rejoinder.read(write(tmp_path / "a.jsonl", sample("none", 1.0, metrics=[["exact_match"], "exact_match"])))
    assert line.extra["scores"] == {"exact_match": 1.0}


def test_their_judges_are_scorers(tmp_path: Path, run: Run) -> None:
    told = run("score", RUN, "-s", "column:scores.Words")
    assert [one["scores"]["column:scores.Words"] for one in told.records] == [0.3, None, 0.1]
    done = run("study", RUN, "--map", "rating=metadata.stars", "--scale", "1,5", "-s", "column:scores.Words")
    assert done.code == 0 and "column:scores.Words" in done.out
