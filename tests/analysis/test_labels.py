"""A judge against labels: counts, rates and kappa, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from rejoinder.analysis.labels import ALWAYS_PASS, AT_CUTOFF, COUNTS, confusion, labels, labels_table, rates
from rejoinder.data.read import read
from rejoinder.estimates import Verdict, one, pick
from rejoinder.example import Example
from rejoinder.external.elsewhere import load
from rejoinder.stats.resamples import Resamples
from scored_sets import scored_sets


def labelled(truth: list[float] | np.ndarray, scale: tuple[float, float] = (0.0, 1.0)) -> list[Example]:
    """Replies with labels, two in a context."""
    return [
        Example((f"context {place // 2}",), f"reply {place}", quality={"overall": label}, scales={"overall": scale})
        for place, label in enumerate(map(float, truth))
    ]


def test_counts_and_rates_equal_those_of_scikit_learn_in_every_resample() -> None:
    rng = np.random.default_rng(1)
    truth = (rng.random(400) < 0.7).astype(float)
    verdicts = np.where(rng.random(400) < 0.8, truth, 1 - truth)
    resamples = Resamples.draw(np.unique(rng.integers(0, 120, 400), return_inverse=True)[1], 20, rng)
    counts = confusion(truth, verdicts, resamples)
    measured = rates(counts)
    for column in range(21):
        weights = resamples.counts[resamples.clusters, column].astype(float)
        expected = {
            "accuracy": metrics.accuracy_score(truth, verdicts, sample_weight=weights),
            "TPR": metrics.recall_score(truth, verdicts, sample_weight=weights),
            "TNR": metrics.recall_score(1 - truth, 1 - verdicts, sample_weight=weights),
            "balanced accuracy": metrics.balanced_accuracy_score(truth, verdicts, sample_weight=weights),
            "F1": metrics.f1_score(truth, verdicts, sample_weight=weights),
            "kappa": metrics.cohen_kappa_score(truth, verdicts, sample_weight=weights),
        }
        assert {name: values[column] for name, values in measured.items()} == pytest.approx(expected, abs=1e-12)
        matrix = metrics.confusion_matrix(truth, verdicts, sample_weight=weights)
        assert counts[:, column].tolist() == [matrix[1, 1], matrix[0, 1], matrix[1, 0], matrix[0, 0]]


def test_a_line_without_a_verdict_is_never_a_fail() -> None:
    truth = np.array([1, 1, 1, 0, 0, 0, 1, 0] * 5, dtype=float)
    verdicts = np.array([1, 1, 0, 0, 0, 1, np.nan, np.nan] * 5, dtype=float)
    ((scored,), _) = scored_sets(labelled(truth), {"judge": verdicts})
    estimates = labels(scored)
    values = {row.statistic: row.value for row in pick(estimates, scorer="judge", by="")}
    assert [values[name] for name in (*COUNTS, "no verdict")] == [10, 5, 5, 10, 10]
    assert values["TPR"] == values["TNR"] == values["accuracy"] == pytest.approx(2 / 3)
    bad = one(estimates, statistic="TNR")
    assert (bad.n, bad.unscored) == (15, 10) and 0 < bad.low < bad.value < bad.high < 1
    assert [row.value for row in pick(estimates, statistic="no verdict", by="label")] == [5, 5]
    assert [one(estimates, statistic=name).value for name in ("bad among passed", "good among failed")] == [1 / 3] * 2
    assert one(estimates, statistic="break-even cost").value == 0.5
    kappa = one(estimates, statistic="kappa", scorer="judge")
    assert kappa.value == pytest.approx(1 / 3) and kappa.low < kappa.value < kappa.high and kappa.n == 30
    table = labels_table(estimates)
    assert table is not None
    row = dict(zip(table.header, next(row for row in table.texts if row[0] == "judge"), strict=True))
    assert [row[name] for name in (*COUNTS, "no verdict")] == ["10", "5", "5", "10", "10"]


def test_the_auc_equals_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random(300) < 0.4).astype(float)
    scores = {"judge": np.round(truth + rng.normal(size=300), 1), "length": rng.normal(size=300)}
    scores["judge"][:7] = np.nan
    ((scored,), _) = scored_sets(labelled(truth), scores)
    estimates = labels(scored)
    judge, length = pick(estimates, statistic="AUC")
    assert judge.value == pytest.approx(metrics.roc_auc_score(truth[7:], scores["judge"][7:]), abs=1e-12)
    assert length.value == pytest.approx(metrics.roc_auc_score(truth, scores["length"]), abs=1e-12)
    assert 0.5 < judge.low < judge.value < judge.high < 1 and (judge.n, judge.unscored) == (293, 7)
    table = labels_table(estimates)
    assert table is not None and sorted(row[0] for row in table.texts) == [ALWAYS_PASS, "judge", "length"]
    cutoff, caught = one(estimates, statistic="cutoff"), one(estimates, statistic="TNR", **AT_CUTOFF)
    known = scores["judge"][7:]
    best = max(np.unique(known), key=lambda limit: ((known >= limit) == truth[7:]).sum())
    assert known[known < cutoff.value].max() < best <= known[known >= cutoff.value].min()
    assert caught.n == int((truth[7:] == 0).sum()) and "other contexts" in caught.method


def test_shares_of_one_have_an_interval() -> None:
    truth = np.array([1, 0] * 15, dtype=float)
    ((scored,), _) = scored_sets(labelled(truth), {"judge": truth})
    share = one(labels(scored), statistic="TPR")
    assert share.value == share.high == 1 and 0.7 < share.low < 0.9


def test_only_verdicts_are_counted_and_only_against_labels() -> None:
    truth = np.array([1, 0, 1, 1, 0, 1] * 4, dtype=float)
    scores = {"numbers": truth / 2, "verdicts": truth, "length": truth}
    ((scored,), _) = scored_sets(labelled(truth), scores, outside={"verdicts": "out of its domain"})
    others = {row.scorer for row in labels(scored) if row.statistic != "AUC" and row.group != AT_CUTOFF["group"]}
    assert others == {"verdicts", "numbers", ALWAYS_PASS}
    assert {row.statistic for row in pick(labels(scored), scorer="numbers", by="")} == {"AUC", "cutoff"}
    assert {row.scorer for row in pick(labels(scored), statistic="AUC")} == {"numbers"}
    assert {row.verdict for row in pick(labels(scored), scorer="verdicts")} == {Verdict.OUT_OF_DOMAIN}
    for ratings, scale in (([1.0, 1.0, 1.0], (1.0, 5.0)), ([1.0, 0.7, 0.0], (0.0, 1.0))):
        ((rated,), _) = scored_sets(labelled(ratings, scale), {"verdicts": np.ones(3)})
        assert labels(rated) == []


def test_labels_of_one_kind_leave_a_rate_without_a_value_and_a_reason() -> None:
    ((scored,), _) = scored_sets(labelled(np.ones(12)), {"judge": np.ones(12)})
    missing = [row for row in labels(scored) if not row.known]
    undefined = ["TNR", "good among failed", "break-even cost", "balanced accuracy", "kappa"]
    assert [row.statistic for row in missing] == undefined and all(row.reason for row in missing)
    assert {row.value for row in pick(labels(scored), statistic=("accuracy", "TPR"))} == {1.0}


def test_verdicts_in_words_are_read_as_0_and_1(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "verdicts.csv"
    words = ["pass", "Fail", "yes", "no", "good", "bad", "true", "FALSE", "thumbs up", "1", "0", "unclear", ""]
    path.write_text(
        "context,response,rating,v\n" + "".join(f"hello {n},reply {n},1,{word}\n" for n, word in enumerate(words))
    )
    values = load("column:v").score_batch(list(read(path))).values
    assert values[:11].tolist() == [1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0]
    assert np.isnan(values[11:]).all()
