"""Studies of judges against labels: the headline, the bar and its gate, pass rates, labellers, slices, second look."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Run
from label_files import records, write_records
from rejoinder import estimate, study
from rejoinder.data.read import read
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate, Verdict
from rejoinder.report.results import Results
from worlds import RATES

JUDGE = "column:judge"
Line = dict[str, Any]


def judged(lines: list[Line], scorers: str | list[str] = JUDGE, **options: Any) -> Results:
    return study(lines, scorers, **{"resamples": 200, **options})


def share(results: Results, statistic: str, scorer: str = JUDGE, **labels: str) -> Estimate:
    """Return a share of a judge, of all lines unless labels say otherwise."""
    return results.one(statistic=statistic, scorer=scorer, **{"by": "", **labels})


def replies(labels: Sequence[int | None], verdicts: Sequence[int | None], **more: list[Any]) -> list[Line]:
    """Return lines with labels and verdicts, each missing where it is None."""
    lines: list[Line] = []
    for place, (label, verdict) in enumerate(zip(labels, verdicts, strict=True)):
        line: Line = {
            "id": f"r{place}",
            "context": [f"question {place}"],
            "response": f"reply {place}",
            "scale": [0, 1],
        }
        line |= {} if label is None else {"ratings": {"overall": [label]}}
        line |= {} if verdict is None else {"judge": verdict}
        lines.append(line | {key: values[place] for key, values in more.items()})
    return lines


@pytest.fixture(scope="module")
def world() -> tuple[list[Line], Results]:
    _, lines = records()
    return lines, judged(lines)


def test_the_answer_has_at_most_twelve_lines(world: tuple[list[Line], Results], tmp_path: Path, run: Run) -> None:
    path = write_records(tmp_path / "labels.jsonl", world[0])
    ran = run("study", str(path), "-s", JUDGE)
    assert ran.code == 0
    lines = [line for line in ran.out.splitlines() if line.strip() and not set(line) <= {"─"}]
    assert len(lines) <= 12 and len(lines[0].split()) <= 20
    assert "agrees" not in ran.out and " ".join(lines[2].split()) == "count share [low, high] a second person bar 80 %"


def test_the_pass_rate_holds_the_truth_and_the_difference_is_inconclusive(world: tuple[list[Line], Results]) -> None:
    _, results = world
    for system, truth in zip(("v1", "v2", "v3"), RATES, strict=True):
        row = results.one(statistic="pass rate", scorer=JUDGE, system=system)
        assert row.low < truth < row.high and row.n < 113
    alone = results.one(statistic="difference of pass rate, judge only", system="v3", versus="v1")
    difference = results.one(statistic="difference of pass rate", system="v3", versus="v1")
    assert alone.low > 0 and difference.verdict == Verdict.INCONCLUSIVE
    assert results.about.counts["positive"] == "pass"


def test_better_than_chance_is_no_verdict(world: tuple[list[Line], Results]) -> None:
    for statistic in ("pearson", "kappa"):
        row = world[1].one(statistic=statistic, scorer=JUDGE, level="turn", group="")
        assert row.low > 0.2 and row.verdict == Verdict.UNDEFINED


def test_labellers(world: tuple[list[Line], Results]) -> None:
    lines, results = world
    double = [line["ratings"]["overall"] for line in lines if len(line.get("ratings", {}).get("overall", ())) == 2]
    same = results.one(statistic="agreement of labellers")
    assert same.n == len(double) == 60 and same.value == pytest.approx(np.mean([a == b for a, b in double]))
    of_bob = results.one(statistic="TNR", scorer="raters", rater="bob")
    assert of_bob.value == pytest.approx(np.mean([b == 0 for a, b in double if a == 0]))
    both = results.one(statistic="TNR", scorer="raters", rater="")
    assert both.n == sum(2 - a - b for a, b in double) and both.low < both.value < both.high
    wrong = results.one(statistic="wrong fail labels").value
    assert 0 < wrong < 0.4 and results.one(statistic="TNR of a perfect judge").value == pytest.approx(1 - wrong)


def test_single_labels_say_what_a_perfect_judge_would_catch() -> None:
    results = judged(replies([1] * 90 + [0] * 10, [1] * 90 + [0] * 10))
    good = (0.9 - 0.05) / 0.9
    expected = (1 - good) * 0.95 / ((1 - good) * 0.95 + good * 0.05)
    assert results.one(statistic="TNR of a perfect judge").value == pytest.approx(expected)
    assert any("one person" in sentence for sentence in results.answer)


@pytest.mark.parametrize(
    ("right_good", "right_bad", "verdict", "code"),
    [(60, 60, "above", 0), (60, 20, "below", 6), (60, 52, "inconclusive", 6)],
)
def test_the_gate(right_good: int, right_bad: int, verdict: str, code: int, tmp_path: Path, run: Run) -> None:
    verdicts: Sequence[int | None] = (
        [1] * right_good + [0] * (60 - right_good) + [0] * right_bad + [1] * (60 - right_bad)
    )
    lines = replies([1] * 60 + [0] * 60, verdicts)
    gate = judged(lines, bar=0.8).gate
    assert gate is not None and gate.passed is (code == 0) and verdict in gate.text
    assert judged(lines).gate is None
    path = write_records(tmp_path / "labels.jsonl", lines)
    assert run("study", str(path), "-s", JUDGE, "--bar", ".8").code == code
    row = share(judged(lines), "TNR")
    assert row.verdict == verdict and (row.needed is not None) is (verdict == "inconclusive")


def test_few_labels_of_one_kind_are_never_above_or_below() -> None:
    results = judged(replies([1] * 40 + [0] * 9, [1] * 40 + [1] * 9))
    row = share(results, "TNR")
    assert row.value == 0 and row.verdict == Verdict.INCONCLUSIVE and row.reason.startswith("replies labelled bad: 9")


def test_labels_that_are_all_the_same() -> None:
    results = judged(replies([1] * 30 + [None] * 30, [1, 0] * 30))
    assert "cannot be checked" in results.answer[0] and not share(results, "TNR").known


def test_lines_that_were_not_chosen_by_chance_are_noticed_and_weighted() -> None:
    truth, lines = records(3, people=0, labelled=800, errors=(0, 0))
    for place in set(range(800)).difference(truth.by_verdict(120, np.random.default_rng(3)).tolist()):
        del lines[place]["ratings"], lines[place]["raters"], lines[place]["scale"]
    naive, weighted = judged(lines), judged(lines, chosen="verdict")
    assert naive.one(statistic="pass share of labelled lines").p < 0.001 and "--chosen verdict" in naive.warnings[0]
    assert not any("--chosen" in warning for warning in weighted.warnings)
    caught = 1 - truth.verdicts[truth.truth == 0].mean()
    assert share(naive, "TNR").value > caught + 0.1
    assert share(weighted, "TNR").low < caught < share(weighted, "TNR").high
    assert weighted.one(statistic="pass rate, labels only", system="").reason
    by_label = judged(lines, chosen="label")
    assert share(by_label, "TNR").known and not by_label.pick(statistic="pass rate")
    assert not by_label.pick(scorer=JUDGE, statistic=("kappa", "accuracy", "bad among passed"))


def test_where_a_judge_errs() -> None:
    rng = np.random.default_rng(5)
    long = rng.random(300) < 0.5
    labels = (rng.random(300) < 0.6).astype(int)
    verdicts = np.where(long, 1, labels)
    sizes = np.where(long, 40, 5)
    lines = replies(labels.tolist(), verdicts.tolist(), topic=["tea", "milk"] * 150)
    for line, size in zip(lines, sizes.tolist(), strict=True):
        line["response"] = " ".join(["word"] * size) + line["id"]
    results = judged(lines, by=["topic"])
    row = share(results, "TNR", by="length", group="long")
    assert row.value == 0 and row.p_adjusted < 0.001
    assert share(results, "TNR", by="topic", group="tea").p_adjusted > 0.05
    assert any(sentence.startswith("Worst: length") for sentence in results.answer)
    small = judged(replies([1] * 20 + [0] * 20, [1, 0] * 20, kind=["a"] * 37 + ["b"] * 3), by=["kind"])
    few = share(small, "TNR", by="kind", group="b")
    assert not few.known and few.n == 3 and "of 3" in few.reason


def test_disagreements_and_the_second_look(world: tuple[list[Line], Results], tmp_path: Path) -> None:
    lines, results = world
    wrongly = [case.why for case in results.cases]
    passed, failed = (int(results.one(statistic=name, scorer=JUDGE).value) for name in ("false pass", "false fail"))
    assert wrongly == ["wrongly passed"] * passed + ["wrongly failed"] * failed
    assert {case.values["reason"] for case in results.cases} <= {line["reason"] for line in lines}
    path, page = tmp_path / "relabel.csv", tmp_path / "report.html"
    results.save(path, page)
    text = page.read_text(encoding="utf-8")
    assert text.index("wrongly passed (") < text.index("wrongly failed (")
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    again = {row["id"] for row in rows}
    ties = results.about.counts["labels"]["ties"]
    assert len(rows) == len(again) == 2 * (passed + failed) + ties
    assert {case.values["id"] for case in results.cases} < again
    assert not {"judge", "reason", "ratings", "raters", "system"} & set(rows[0])
    assert [example.response for example in read(path)] == [row["response"] for row in rows]
    text = page.read_text(encoding="utf-8")
    assert 'class="filter"' in text and "Reason of the judge" in text
    with pytest.raises(UsageError, match="label again"):
        study(lines, "length", resamples=0).save(path)


def test_a_cutoff_makes_verdicts_of_numbers() -> None:
    rng = np.random.default_rng(8)
    labels = (rng.random(200) < 0.7).astype(int).tolist()
    scores = (np.array(labels) + rng.normal(0, 0.4, 200)).round(2).tolist()
    lines = replies([label if place < 120 else None for place, label in enumerate(labels)], [None] * 200, points=scores)
    by_number = judged(lines, "column:points", cutoff=0.5)
    expected = np.mean([score >= 0.5 for score, label in zip(scores[:120], labels[:120], strict=True) if label])
    assert share(by_number, "TPR", "column:points").value == pytest.approx(expected)
    best, strict = judged(lines, "column:points", cutoff="best"), judged(lines, "column:points", cutoff="best", cost=5)
    caught = [share(row, "TNR", "column:points").value for row in (best, strict)]
    assert caught[1] > caught[0] > 0.6
    rate = best.one(statistic="pass rate", scorer="column:points", system="")
    assert rate.low < np.mean(labels) < rate.high and "PPI" in rate.method
    assert "agree" in judged(lines, "column:points").answer[0]


def test_ratings_become_labels() -> None:
    lines = replies([None] * 60, [1, 0] * 30)
    for line, values in zip(lines, [[5, 4], [2, 3]] * 30, strict=True):
        line |= {"ratings": {"overall": values}, "scale": [1, 5]}
    results = judged(lines, good=4)
    assert share(results, "TPR").n == 30 and share(results, "TNR").value == 1


@pytest.mark.parametrize("option", [{"bar": 0}, {"bar": 2}, {"cost": 0}, {"cutoff": "high"}, {"chosen": "luck"}])
def test_bad_options(option: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        judged(replies([1, 0] * 10, [1, 0] * 10), **option)


def test_the_answer_is_about_the_test_split() -> None:
    labels = [1, 0] * 30
    verdicts = [1, 0] * 20 + [1, 1] * 10
    results = judged(replies(labels, verdicts, split=["dev"] * 40 + ["test"] * 20))
    assert share(results, "TNR").n == 10 and results.one(statistic="accuracy", scorer=JUDGE).value == 0.5
    assert share(results, "TNR", by="split", group="dev").value == 1


def test_labels_of_one_version_only() -> None:
    results = judged(replies([1, 0] * 20 + [None] * 40, [1, 0] * 40, system=["a"] * 40 + ["b"] * 40))
    assert not results.one(statistic="pass rate", system="b").known
    assert results.one(statistic="pass rate", system="a").value == 0.5
    assert any("No line of b is labelled" in warning for warning in results.warnings)


def test_labels_of_other_replies() -> None:
    rng = np.random.default_rng(9)
    truth = (rng.random(600) < 0.8).astype(int)
    verdicts = np.where(rng.random(600) < 0.9, truth, 1 - truth).tolist()
    log = replies([None] * 400, verdicts[:400])
    others = replies(truth[400:].tolist(), verdicts[400:])
    for line in others:
        line |= {name: f"other {line[name]}" for name in ("id", "response")}
    row = judged(log, rated=others).one(statistic="pass rate", scorer=JUDGE, system="")
    assert "Rogan" in row.method and row.low < 0.8 < row.high
    labelled, judgements = truth[400:], np.array(verdicts[400:])
    caught, passed = 1 - judgements[labelled == 0].mean(), judgements[labelled == 1].mean()
    assert row.value == pytest.approx((np.mean(verdicts[:400]) + caught - 1) / (caught + passed - 1))


def test_a_tie_is_left_out_and_counted(world: tuple[list[Line], Results]) -> None:
    lines, results = world
    ties = sum(line["ratings"]["overall"] in ([0, 1], [1, 0]) for line in lines if "ratings" in line)
    assert ties and results.about.counts["labels"]["ties"] == ties
    assert results.one(statistic="accuracy", scorer=JUDGE).n == 120 - ties
    assert json.loads(results.to_json())["options"]["chosen"] == "chance"


def test_estimate_gives_the_same_pass_rates(world: tuple[list[Line], Results]) -> None:
    lines, results = world
    means = estimate(lines, JUDGE)
    pairs = [("mean rating", "pass rate", system, "") for system in ("v1", "v2", "v3")]
    for name, statistic, system, versus in [*pairs, ("difference", "difference of pass rate", "v3", "v1")]:
        mean = means.one(statistic=name, system=system, versus=versus)
        rate = results.one(statistic=statistic, system=system, versus=versus)
        assert (mean.value, *mean.ends) == pytest.approx((rate.value, *rate.ends))
