"""The agreement study: against scipy on real ratings, against a literal bootstrap, and all that can be missing."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rejoinder.errors import DataError, NothingScored, UsageError
from rejoinder.example import Example, Rating
from rejoinder.meta import Agreement, Study, study
from rejoinder.scorer import Card, Need, Scores, Signature
from rejoinder.stats.resamples import cluster_counts, expanded_tail

ORACLES = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@dataclass(frozen=True)
class Words:
    """Scores a response with a power of its number of words."""

    name: str = "words"
    power: int = 1
    needs: frozenset[Need] = field(default_factory=frozenset)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def card(self) -> Card:
        return Card(self.name, "number of words", "baseline", self.needs, (0, None), "none")

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        counts = np.array([len(example.response.split()) ** self.power for example in examples], dtype=np.float64)
        empty = {place: "empty response" for place, example in enumerate(examples) if not example.response}
        counts[list(empty)] = np.nan
        return Scores(counts, empty)


def example(place: int, rating: float | None, words: int = 1, **keys: Any) -> Example:
    """A rated line of `words` words in a context of its own."""
    quality = {} if rating is None else {"overall": rating}
    keys = {"context": (f"turn {place}",), "id": f"line-{place}", "where": f"a.jsonl:{place + 1}", **keys}
    return Example(response=" ".join(["word"] * words), quality=quality, **keys)


def lines(n: int = 24, seed: int = 0, **keys: Any) -> list[Example]:
    """Rated lines, three a context, by three systems, whose ratings grow with their length."""
    rng = np.random.default_rng(seed)
    made = []
    for place in range(n):
        words = int(rng.integers(1, 9))
        rating = float(np.clip(round(words / 2 + rng.normal()), 1, 5))
        spot = {"context": (f"turn {place // 3}",), "system": "abc"[place % 3], "scales": {"overall": (1.0, 5.0)}}
        made.append(example(place, rating, words, **{**spot, **keys}))
    return made


def judgements(shared: Path, name: str) -> list[Example]:
    """A rated data set, built without the reader."""
    with gzip.open(shared / "data" / "judgements" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    keys = ("response", "id", "system", "dataset", "context_id", "quality", "scales")
    for row in rows:
        row["scales"] = {key: (low, high) for key, (low, high) in row["scales"].items()}
    known = [{key: row[key] for key in keys} for row in rows]
    return [
        Example(tuple(r["context"]), references=tuple(r["references"]), **k) for r, k in zip(rows, known, strict=True)
    ]


def rows_of(found: Study, **wanted: str) -> dict[str, Agreement]:
    """The rows of a study with these fields, by statistic."""
    rows = [row for row in found.agreements if all(getattr(row, key) == value for key, value in wanted.items())]
    assert len({row.statistic for row in rows}) == len(rows)
    return {row.statistic: row for row in rows}


def numbers(found: Study) -> NDArray[np.float64]:
    """Every value and interval of a study, one row each."""
    return np.array([(row.value, row.low, row.high, row.p) for row in found.agreements])


def scores(values: Sequence[float], reasons: dict[int, str] | None = None, name: str = "given") -> Scores:
    return Scores(np.array(values, dtype=np.float64), reasons or {}, Signature({"scorer": name}))


@pytest.mark.parametrize(("name", "contexts"), [("usr_personachat", 57), ("grade_dailydialog", 146)])
def test_real_ratings_at_turn_level_agree_with_scipy(shared: Path, name: str, contexts: int) -> None:
    examples = judgements(shared, name)
    found = rows_of(study(examples, [Words()], resamples=200), level="turn")
    x = [len(one.response.split()) for one in examples]
    y = [one.quality["overall"] for one in examples]
    for statistic, oracle in ORACLES.items():
        row, expected = found[statistic], oracle(x, y)
        assert row.value == pytest.approx(expected.statistic, abs=1e-9)
        assert row.p == pytest.approx(expected.pvalue, rel=1e-6)
        assert (row.dataset, row.scorer, row.n, row.unscored, row.contexts) == (name, "words", 300, 0, contexts)
        assert row.low < row.value < row.high
        assert 0.1 < row.high - row.low < 0.3
        assert row.method == f"{statistic}; 95% expanded percentile interval, 200 resamples of contexts"


def test_real_ratings_at_system_level_agree_with_scipy(shared: Path) -> None:
    examples = judgements(shared, "usr_personachat")
    found = rows_of(study(examples, [Words()], resamples=200), level="system")
    systems = sorted({one.system or "" for one in examples})
    members = [[one for one in examples if one.system == system] for system in systems]
    x = [np.mean([len(one.response.split()) for one in some]) for some in members]
    y = [np.mean([one.quality["overall"] for one in some]) for some in members]
    for statistic, oracle in ORACLES.items():
        assert found[statistic].value == pytest.approx(oracle(x, y).statistic, abs=1e-9)
        assert (found[statistic].n, found[statistic].contexts) == (5, 57)
        low, high = found[statistic].low, found[statistic].high
        assert low - 1e-12 <= found[statistic].value <= high + 1e-12


def test_pooling_real_ratings_maps_them_by_their_scales(shared: Path) -> None:
    sets = [judgements(shared, name) for name in ("usr_personachat", "fed_turn")]  # 1 to 5, 0 to 4
    found = rows_of(study([*sets[0], *sets[1]], [Words()], resamples=50), dataset="pooled", level="turn")
    x = [len(one.response.split()) for some in sets for one in some]
    y = [round((one.quality["overall"] - low) / 4, 9) for some, low in zip(sets, (1, 0), strict=True) for one in some]
    for statistic, oracle in ORACLES.items():
        assert found[statistic].value == pytest.approx(oracle(x, y).statistic, abs=1e-9)
        assert (found[statistic].n, found[statistic].contexts) == (675, 154)


def test_intervals_equal_a_literal_bootstrap_of_contexts() -> None:
    examples = lines(30, seed=5)
    found = rows_of(study(examples, [Words()], resamples=60, seed=3), level="turn")
    keys = sorted({one.context_key for one in examples})
    generator = np.random.default_rng(np.random.SeedSequence([3, crc32(b"all")]))
    counts = cluster_counts(10, 60, generator)
    for statistic, oracle in ORACLES.items():
        values = []
        for resample in range(60):
            drawn = [
                one for one in examples for _ in range(counts[keys.index(one.context_key), resample])
            ]  # lines as often as their context was drawn
            values.append(oracle([len(o.response.split()) for o in drawn], [o.rating() for o in drawn]).statistic)
        assert (found[statistic].low, found[statistic].high) == pytest.approx(
            tuple(np.quantile(values, [expanded_tail(10), 1 - expanded_tail(10)])), abs=1e-9
        )


def test_same_seed_same_numbers_in_any_order_of_lines_and_scorers() -> None:
    examples = lines(30)
    scorers = [Words(), Words("squares", power=2), Words("cubes", power=3)]
    first = study(examples, scorers, resamples=100)
    assert study(examples, scorers, resamples=100) == first
    turned = study(examples, scorers[::-1], resamples=100)
    assert sorted(turned.agreements, key=repr) == sorted(first.agreements, key=repr)
    shuffled = [examples[place] for place in np.random.default_rng(0).permutation(30)]
    np.testing.assert_allclose(numbers(study(shuffled, scorers, resamples=100)), numbers(first), rtol=0, atol=1e-12)
    other = study(examples, scorers, resamples=100, seed=1)
    assert (numbers(other)[:, 1] != numbers(first)[:, 1]).any()
    assert (numbers(other)[:, 0] == numbers(first)[:, 0]).all()


def test_degenerate_resamples_are_counted_in_the_method() -> None:
    words = [1, 1, 1, 1, 1, 1, 5]  # a resample without the last context has one length only
    examples = [example(place, float(place % 3 + 1), count) for place, count in enumerate(words)]
    row = study(examples, [Words()], resamples=400).agreements[0]
    found = re.fullmatch(
        r"pearson; 95% expanded percentile interval, 400 resamples of contexts, "
        r"(\d+) of them left out for want of a value",
        row.method,
    )
    assert found
    assert int(found[1]) / 400 == pytest.approx((6 / 7) ** 7, abs=0.08)
    assert (row.reason, math.isfinite(row.low)) == ("", True)


def test_mostly_degenerate_resamples_give_no_interval() -> None:
    # each system answered one context of its own: 3! of 3^3 draws, 22 %, have all three
    examples = [replace(one, context=(f"context of {one.system}",)) for one in lines(12)]
    found = study(examples, [Words()], resamples=1000)
    for row in rows_of(found, level="system").values():
        reason = re.fullmatch(r"no interval: (\d+) of 1000 resamples have no correlation", row.reason)
        assert reason
        assert int(reason[1]) == pytest.approx(1000 * 21 / 27, abs=60)
        assert row.method == f"{row.statistic}; no interval"
        assert (math.isfinite(row.value), math.isnan(row.low), math.isnan(row.high)) == (True, True, True)
    assert math.isfinite(rows_of(found, level="turn")["pearson"].low)


@pytest.mark.parametrize(
    ("contexts", "resamples", "reason"),
    [
        (1, 20, "no interval: there is only one context, and contexts are what is resampled"),
        (2, 0, "no interval: no resamples were asked for"),
    ],
)
def test_nothing_to_resample_gives_no_interval(contexts: int, resamples: int, reason: str) -> None:
    examples = [replace(one, context=(f"turn {place % contexts}",)) for place, one in enumerate(lines())]
    for row in study(examples, [Words()], resamples=resamples).agreements:
        assert (row.contexts, math.isfinite(row.value), math.isnan(row.low)) == (contexts, True, True)
        assert (row.reason, row.method) == (reason, f"{row.statistic}; no interval")


def test_unrated_and_unscored_lines_are_counted_and_not_used() -> None:
    examples = [*lines(12), example(12, None, 3), example(13, 4.0, 0), example(14, None, 2)]
    found = study(examples, [Words()], resamples=10)
    assert (found.examples, found.rated, found.copies) == (15, 13, 0)
    turn, system = (rows_of(found, level=level)["pearson"] for level in ("turn", "system"))
    assert (turn.n, turn.unscored, turn.contexts) == (12, 1, 4)
    assert (system.n, system.unscored) == (3, 0)  # the unscored line names no system


def test_a_scorer_without_scores_gets_rows_with_the_reason() -> None:
    found = study(lines(12), [Words(), Words("needy", needs=frozenset({"reference"}))], resamples=10)
    rows = rows_of(found, scorer="needy")
    assert set(rows) == {"pearson", "spearman", "kendall"}
    assert {row.level for row in rows.values()} == {"turn"}
    assert (rows["kendall"].n, rows["kendall"].unscored, rows["kendall"].contexts) == (0, 12, 0)
    assert rows["kendall"].reason == (
        "0 pairs of score and rating; three or more are needed; 12 rated lines unscored, most often: no reference"
    )
    assert math.isfinite(rows_of(found, scorer="words", level="turn")["pearson"].value)


def test_equal_scores_have_no_correlation() -> None:
    rows = study([replace(one, response="two words") for one in lines(12)], [Words()], resamples=10).agreements
    assert [row.reason for row in rows if row.level == "turn"] == ["the score is the same in all 12 pairs (2)"] * 3
    assert [row.reason for row in rows if row.level == "system"] == [
        "the mean score is the same in all 3 pairs (2)"
    ] * 3
    assert np.isnan([(row.value, row.low, row.high, row.p) for row in rows]).all()


def test_copies_of_a_reference_are_counted_and_left_out_on_request() -> None:
    examples = [
        replace(one, references=(one.response.upper(),)) if place < 5 else one for place, one in enumerate(lines())
    ]
    kept, dropped = study(examples, [Words()], resamples=10), study(examples, [Words()], resamples=10, drop_copies=True)
    assert (kept.copies, kept.rated, kept.agreements[0].n) == (5, 24, 24)
    assert (dropped.copies, dropped.rated, dropped.agreements[0].n) == (5, 19, 19)
    alone = study(examples[5:], [Words()], resamples=10)
    assert dropped.agreements == alone.agreements


def test_dimension_chooses_the_ratings() -> None:
    examples = [
        replace(one, ratings=tuple(Rating(value, "fluency") for value in (place % 4, place % 3)))
        for place, one in enumerate(lines(12))
    ]
    row = study(examples, [Words()], dimension="fluency", resamples=0).agreements[0]
    expected = stats.pearsonr([len(o.response.split()) for o in examples], [(p % 4 + p % 3) / 2 for p in range(12)])
    assert row.value == pytest.approx(expected.statistic, abs=1e-9)


def test_the_order_in_which_raters_are_summed_breaks_no_tie() -> None:
    values = (0.1, 0.2, 0.3)
    assert sum(values) != sum(values[::-1])
    examples = [
        replace(one, quality={}, scales={}, ratings=tuple(map(Rating, values if place % 2 else values[::-1])))
        for place, one in enumerate(lines(6))
    ]
    row = study([*examples, replace(example(6, 0.9), scales={})], [Words()], resamples=0).agreements[2]
    assert row.value == pytest.approx(
        stats.kendalltau([len(one.response.split()) for one in examples] + [1], [0.2] * 6 + [0.9]).statistic
    )


@pytest.mark.parametrize(
    ("systems", "reason"),
    [
        ("a", "one system: there is nothing to correlate"),
        ("ab", "two systems: any two points lie on a line, a correlation over them says nothing"),
    ],
)
def test_one_or_two_systems_say_nothing(systems: str, reason: str) -> None:
    examples = [replace(one, system=systems[place % len(systems)]) for place, one in enumerate(lines(12))]
    rows = rows_of(study(examples, [Words()], resamples=10), level="system")
    assert len(rows) == 3
    for row in rows.values():
        assert (row.n, row.reason) == (len(systems), f"{reason}; needs three or more")
        assert row.method == f"{row.statistic}; no interval"
        assert math.isnan(row.value)
        assert math.isnan(row.p)


def test_no_system_no_rows() -> None:
    found = study([replace(one, system=None) for one in lines(12)], [Words()], resamples=10)
    assert [row.level for row in found.agreements] == ["turn"] * 3


def test_systems_are_told_apart_by_data_set_when_pooled() -> None:
    first, second = lines(12, dataset="one"), lines(12, seed=1, dataset="two", scales={"overall": (0.0, 10.0)})
    found = study([*first, *second], [Words()], resamples=20)
    row = rows_of(found, dataset="pooled", level="system")["pearson"]
    means = [
        [np.mean([value(one) for one in some if one.system == system]) for some in (first, second) for system in "abc"]
        for value in (
            lambda one: len(one.response.split()),
            lambda one: (one.rating() - one.scale()[0]) / (one.scale()[1] - one.scale()[0]),
        )
    ]
    assert row.n == 6
    assert row.value == pytest.approx(stats.pearsonr(*means).statistic, abs=1e-9)


def test_data_sets_come_in_order_and_pooled_last() -> None:
    found = study([*lines(9, dataset="z"), *lines(9, seed=1)], [Words()], resamples=10)
    assert list(dict.fromkeys(row.dataset for row in found.agreements)) == ["z", "all", "pooled"]
    assert [(row.level, row.statistic) for row in found.agreements[:6]] == [
        (level, statistic) for level in ("turn", "system") for statistic in ("pearson", "spearman", "kendall")
    ]


def test_a_data_set_without_ratings_has_rows_and_is_not_pooled() -> None:
    unrated = [replace(one, quality={}) for one in lines(9, seed=1, dataset="b")]
    found = study([*lines(9, dataset="a"), *unrated], [Words()], resamples=10)
    assert list(dict.fromkeys(row.dataset for row in found.agreements)) == ["a", "b"]
    row = rows_of(found, dataset="b")["pearson"]
    assert (row.n, row.contexts) == (0, 0)
    assert row.reason == "0 pairs of score and rating; three or more are needed"


def test_without_any_scale_ratings_are_pooled_as_they_are() -> None:
    examples = [*lines(9, dataset="a", scales={}), *lines(9, seed=1, dataset="b", scales={})]
    row = rows_of(study(examples, [Words()], resamples=0), dataset="pooled", level="turn")["pearson"]
    expected = stats.pearsonr([len(one.response.split()) for one in examples], [one.rating() for one in examples])
    assert row.value == pytest.approx(expected.statistic, abs=1e-9)


def test_equal_ratings_of_different_scales_tie_when_pooled() -> None:
    assert (1.1 - 1) / 4 != 0.05 / 2
    first = [
        example(place, rating, dataset="a", scales={"overall": (1, 5)}) for place, rating in enumerate((1.1, 3, 5))
    ]
    second = [replace(one, dataset="b", quality={"overall": 0.05 * place + 0.05}) for place, one in enumerate(first)]
    second = [replace(one, scales={"overall": (0, 2)}) for one in second]
    found = study([*first, *second], {"given": scores([1, 2, 3, 4, 5, 6])}, resamples=0)
    row = rows_of(found, dataset="pooled")["kendall"]
    expected = stats.kendalltau([1, 2, 3, 4, 5, 6], [0.025, 0.5, 1, 0.025, 0.05, 0.075]).statistic
    assert row.value == pytest.approx(expected, abs=1e-12)


def test_a_missing_scale_is_an_error_where_data_sets_are_pooled() -> None:
    examples = [*lines(9, dataset="a"), *lines(9, seed=1, dataset="b", scales={}, where="b.jsonl:1")]
    message = (
        "b.jsonl:1: field \"scale\": a rated line of data set 'b' has no scale, and without one its rating cannot "
        'stand beside those of other scales. Add "scale": [1, 5] (lowest, highest) to its lines, '
        "or say --scale 1,5 for all that state none"
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        study(examples, [Words()])


def test_an_empty_scale_is_an_error_where_scales_differ() -> None:
    examples = [replace(one, quality={"taste": 1.0}, scales={"taste": (0.0, 1.0)}) for one in lines(9)]
    examples[4] = replace(examples[4], scales={"taste": (2.0, 2.0)})
    with pytest.raises(DataError) as caught:
        study(examples, [Words()], dimension="taste")
    assert "a.jsonl:5: field \"scales\": a rated line of data set 'all' has the scale [2.0, 2.0]" in str(caught.value)
    assert 'Add "scales": {"taste": [1, 5]} (lowest, highest)' in str(caught.value)


def test_differing_scales_within_a_data_set_are_brought_together() -> None:
    examples = lines(12)
    wide = [
        replace(one, quality={"overall": (one.quality["overall"] - 1) * 25}, scales={"overall": (0.0, 100.0)})
        if place % 2
        else one
        for place, one in enumerate(examples)
    ]
    np.testing.assert_allclose(
        numbers(study(wide, [Words()], resamples=30)), numbers(study(examples, [Words()], resamples=30)), atol=1e-9
    )


def test_a_data_set_may_not_be_called_pooled() -> None:
    examples = [*lines(9, dataset="pooled"), *lines(9, seed=1, dataset="b")]
    message = (
        "a.jsonl:1: field \"dataset\": a data set is called 'pooled', the name of all data sets together. "
        "Give it another name"
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        study(examples, [Words()])


def test_no_rating_says_which_key_to_add() -> None:
    unrated = [replace(one, quality={}) for one in lines(6)]
    message = (
        'a.jsonl: none of 6 lines has a rating in "overall". '
        'Add to each rated line "quality": {"overall": 3.5} or "ratings": {"overall": [3, 4]}'
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        study(unrated, [Words()])
    with pytest.raises(DataError, match=r'^none of 0 lines has a rating in "overall"\.'):
        study([], [Words()])
    with pytest.raises(DataError, match="Rated are: overall; choose one of these as the dimension, or add to each"):
        study(lines(6), [Words()], dimension="fluency")


def test_copies_alone_cannot_be_studied_without_copies() -> None:
    examples = [replace(one, references=(one.response,)) for one in lines(6)]
    with pytest.raises(
        DataError, match=r"^every rated response copies one of its references, so none is left\. Keep the copies in$"
    ):
        study(examples, [Words()], drop_copies=True)


def test_duplicate_ids_name_both_places() -> None:
    examples = lines(6, dataset="d")
    again = replace(examples[2], where="b.jsonl:9")
    message = (
        "b.jsonl:9: field \"id\": id 'line-2' of data set 'd' was already given at a.jsonl:3, with this reply. "
        "Give each file once; name two systems in a column system; where ids only number the lines of a file, leave "
        "them out of account: --map id="
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        study([*examples, again], [Words()])
    with pytest.raises(DataError, match=r"^example 7: .* already given at example 3"):
        study([replace(one, where="") for one in (*examples, again)], [Words()])
    other = [replace(one, dataset="e") for one in examples]
    assert study([*examples, *other], [Words()], resamples=0).rated == 12
    assert study([replace(one, id="") for one in examples], [Words()], resamples=0).rated == 6


def test_scorers_are_needed_and_told_apart_by_name() -> None:
    with pytest.raises(UsageError, match=r"^no scorer was named; a study needs at least one$"):
        study(lines(6), [])
    with pytest.raises(UsageError, match=r"^the scorer 'words' was named twice. Name each once$"):
        study(lines(6), [Words(), Words()])


def test_judges_of_one_kind_are_named_by_their_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rejoinder.scoring.catalog.load_scorer", lambda asked, vectors: Words("adem"))
    found = study(lines(6), [Path("judges/first"), "judges/second"], resamples=0)
    assert list(found.signatures) == ["judges/first", "judges/second"]
    with pytest.raises(UsageError, match=r"^the scorer 'judges/first' was named twice"):
        study(lines(6), ["judges/first", "judges/first"])


def test_given_scores_must_be_of_these_lines() -> None:
    with pytest.raises(UsageError, match=r"^the scores of 'given' are of 2 lines, the examples are 6$"):
        study(lines(6), {"given": scores([1, 2])})
    found = study(lines(6), {"given": scores([1, 2, 3, 4, math.nan, 6], {4: "lost"})}, resamples=0)
    assert (found.agreements[0].n, found.agreements[0].unscored) == (5, 1)
    assert str(found.signatures["given"]) == "scorer:given"


def test_not_a_single_score_is_an_error() -> None:
    with pytest.raises(
        NothingScored, match=r"^needy: none of 6 lines has a score; most often: no reference. Say which column"
    ):
        study(lines(6), [Words("needy", needs=frozenset({"reference"}))])


def test_seed_and_resamples_may_not_be_negative() -> None:
    with pytest.raises(UsageError, match=r"^seed is -1, expected a whole number, 0 or more$"):
        study(lines(6), [Words()], seed=-1)
    with pytest.raises(UsageError, match=r"^resamples is -1, expected a whole number from 0 to 100,000$"):
        study(lines(6), [Words()], resamples=-1)


def test_scorers_by_name_and_progress() -> None:
    done: list[int] = []
    found = study(lines(12), ["length", Words()], resamples=10, advance=done.append)
    assert set(found.signatures) == {"length", "words"}
    assert sum(done) == 24
    assert study(lines(12), "length", resamples=10).agreements == tuple(
        row for row in found.agreements if row.scorer == "length"
    )


def test_to_dict_is_plain_json() -> None:
    scorer = Words(options={"file": Path("v.npz"), "limit": math.inf, "sizes": (1, 2)})
    found = study([replace(one, system="only") for one in lines(12)], [scorer], resamples=10, seed=7)
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["version"] == 1
    assert plain["counts"] == {"examples": 12, "rated": 12, "copies": 0}
    assert plain["options"] == {"dimension": "overall", "resamples": 10, "seed": 7, "drop_copies": False}
    signature = plain["signature"]["words"]
    assert (signature["file"], signature["limit"], signature["sizes"]) == ("v.npz", None, [1, 2])
    turn, system = plain["results"][0], plain["results"][3]
    assert set(turn) == {
        *("dataset", "scorer", "level", "statistic", "n", "unscored", "contexts"),
        *("value", "low", "high", "p", "method", "seed", "reason"),
    }
    assert (turn["value"], turn["seed"]) == (found.agreements[0].value, 7)
    assert (system["level"], system["value"], system["low"], system["p"]) == ("system", None, None, None)


def test_numbers_are_no_scores() -> None:
    given = lines(12)
    with pytest.raises(UsageError, match="^the scores of 'mine' are a ndarray, expected Scores. Give"):
        study(given, {"mine": np.arange(12.0)})  # type: ignore[dict-item]
