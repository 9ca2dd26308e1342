"""`compare` without pairs: logs of different users, what is taken for a design, strata, what got worse, files."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from test_compare import Worth, only, side

from conftest import Run, refused
from rejoinder.errors import DataError, NothingScored
from rejoinder.example import Example
from rejoinder.meta import Contrast, compare
from rejoinder.meta.design import choose
from rejoinder.documents.compare import comparison
from rejoinder.documents.terminal import terminal


def logs(n: int, shift: float, seed: int, *, start: int = 1, easy: float = 0.5, worse: str = "") -> list[Example]:
    """Talks with users of their own: a first line that many share, ids that count, an easy and a hard matter."""
    rng, lines = np.random.default_rng(seed), list[Example]()
    for talk in range(n):
        matter = "easy" if rng.random() < easy else "hard"
        own = rng.normal() + (2 if matter == "easy" else 0) - (2 if matter == worse else 0)
        turns = ["hi" if rng.random() < 0.5 else f"my question {seed}-{talk}"]
        for _ in range(int(rng.integers(1, 5))):
            score = round(own + rng.normal() + shift, 4)
            extra = {"dialogue_id": f"{seed}-{talk}", "ask": {"matter": matter}}
            where = f"log{seed}.jsonl:{len(lines) + 1}"
            lines.append(Example(tuple(turns), str(score), id=str(start + len(lines)), extra=extra, where=where))
            turns += [f"answer {seed}-{talk}", f"more {len(turns)}"]
    return lines


def test_talks_with_different_users_are_no_pairs() -> None:
    a, b = logs(120, 0.0, 1), logs(110, 0.9, 2)
    found = compare(a, b, [Worth()])
    one = only(found)
    assert (found.design, found.aligned, found.pairs) == ("unpaired", None, 0)
    assert (found.only_a, found.only_b) == found.replies == (len(a), len(b)) == (one.n_a, one.n_b)
    assert (one.contexts, one.verdict) == (230, "B is better") and 0 < one.low < one.value < one.high
    assert one.value == pytest.approx(np.mean([float(x.response) for x in b]) - np.mean([float(x.response) for x in a]))
    wins = stats.mannwhitneyu([float(x.response) for x in b], [float(x.response) for x in a]).statistic
    assert one.win.value == pytest.approx(wins / (len(a) * len(b))) and one.win.low < one.win.value < one.win.high
    assert found.answer[0].startswith("B is better than A by worth: mean ") and "have a partner" in found.why
    assert "ids are in both files with different contexts" in found.why
    again = compare(b, a, [Worth()])
    assert only(again).verdict == "A is better" and only(again).win.value == pytest.approx(1 - one.win.value)


def test_a_talk_is_one_piece_of_evidence() -> None:
    a, b = logs(120, 0.0, 1), logs(110, 0.25, 2)
    bare = [[replace(one, extra={}) for one in lines] for lines in (a, b)]
    found, blind = (only(compare(one, other, [Worth()], design="unpaired")) for one, other in ((a, b), bare))
    assert found.contexts == 230 < blind.contexts, "the words alone do not tell all talks"
    assert found.high - found.low > 1.1 * (blind.high - blind.low)


@pytest.mark.parametrize(
    ("change", "design", "why"),
    [
        ({}, "paired", "100 of the 100 lines of A have a partner by id"),
        ({"ids": False}, "paired", "100 of the 100 lines of A have a partner by context"),
        ({"b": 79}, "paired", "79 of the 79 lines of B have a partner by id"),
        ({"other": 20}, "paired", "80 of the 100 lines of A have a partner by context"),
        (
            {"other": 30},
            "unpaired",
            "only 70 by id and 70 by context of the 100 lines of A have a partner, and 30 ids are in both files with "
            "different contexts, as chance brings about",
        ),
        ({"other": 100, "ids": False}, "unpaired", "the files share neither ids nor contexts"),
        (
            {"other": 100},
            "unpaired",
            "100 ids are in both files with different contexts, as chance brings about",
        ),
        (
            {"bare": True},
            "paired",
            "100 of the 100 lines of A have a partner by id, with no context to show that an id means the same twice",
        ),
        (
            {"bare": True, "talks": True},
            "unpaired",
            "100 ids are in both files with different contexts, as chance brings about",
        ),
    ],
)
def test_what_is_taken_for_a_design(change: dict[str, Any], design: str, why: str) -> None:
    def made(name: str, other: int = 0) -> list[Example]:
        lines = []
        for n in range(100):
            context = () if change.get("bare") else (f"turn {n} {name if n < other else ''}",)
            extra = {"dialogue_id": f"{name}-{n}"} if change.get("talks") else {}
            lines.append(Example(context, "x", id=str(n) if change.get("ids", True) else "", extra=extra))
        return lines

    if change.get("other") == 20:
        with pytest.raises(DataError, match="has another context"):
            choose(made("a"), made("b", 20))
        change = {**change, "ids": False}
    found = choose(made("a"), made("b", change.get("other", 0))[: change.get("b", 100)])
    assert (("paired" if found.pairs else "unpaired"), found.why) == (design, why)


def test_conversations_of_one_name_with_other_users_are_no_pairs() -> None:
    a, b = ([Example((f"{name} asks {n}",), "x", extra={"dialogue_id": str(n)}) for n in range(100)] for name in "ab")
    found = choose(a, b)
    assert found.pairs is None
    assert found.why == "100 conversation ids are in both files with other turns of the user, as chance brings about"


@pytest.mark.parametrize("key", ["dialogue_id", "id"])
@pytest.mark.parametrize("opening", ["Get started", "{name} asks {n}"])
def test_chats_of_logs_that_both_count_from_1_are_no_pairs(key: str, opening: str) -> None:
    """Whoever reads the smaller file's numbers as names throws two thirds of the larger one away."""

    def log(name: str, number: int) -> list[Example]:
        said = [(opening.format(name=name, n=n), name, f"{name} goes on {n}") for n in range(number)]
        names = [{"id": str(n)} if key == "id" else {"extra": {key: str(n)}} for n in range(number)]
        lines = [Example(context, "x", **own) for context, own in zip(said, names, strict=True)]
        return [replace(one, extra={**one.extra, "level": "dialogue"}) for one in lines]

    found = choose(log("a", 100), log("b", 300))
    why = "100 of the 100 lines of A share the id of a conversation, but what users said does not show that it means "
    assert (found.pairs, found.why) == (None, f"{why}the same twice")
    assert choose(log("a", 300), log("b", 100)).pairs is None
    assert choose(log("a", 100), log("b", 100)).why.endswith(
        ", with no context to show that an id means the same twice"
    )
    assert choose(log("a", 100), log("a", 300)).pairs is not None or opening == "Get started"


def test_questions_that_many_users_ask_are_no_test_set() -> None:
    rng = np.random.default_rng(0)
    a, b = ([Example((f"question {n}",), "x") for n in np.minimum(rng.geometric(0.25, 300), 12)] for _ in "ab")
    found = choose(a, b)
    assert found.pairs is None
    assert found.why == (
        "300 of the 300 lines of A share a context, but some recur as users' questions do, as chance brings about"
    )
    twice = [Example((f"question {n}",), "x") for n in range(50) for _ in range(2)]
    once = [Example((f"question {n}",), "x") for n in range(50)]
    assert choose(twice, once).pairs and choose(once, twice).pairs, "several answers to each are a design"


@pytest.mark.parametrize("context_id", [None, "opening"])
def test_whole_chats_that_begin_alike_are_conversations_of_their_own(context_id: str | None) -> None:
    a, b = (
        [
            Example(("Hi!",), "x " * (n % 5 + more), context_id=context_id, extra={"level": "dialogue"})
            for n in range(20)
        ]
        for more in (1, 4)
    )
    found = compare(a, b, ["length"])
    (one,) = found.contrasts
    assert found.design == "unpaired"
    assert one.low < one.value < one.high
    assert "(40 replies of 40 conversations)" in found.answer[0]


def test_users_with_several_conversations_are_told() -> None:
    def of_users(side: list[Example], users: int) -> list[Example]:
        named = [{**one.extra, "user_id": f"u{int(one.extra['dialogue_id'].split('-')[1]) % users}"} for one in side]
        return [replace(one, extra=extra) for one, extra in zip(side, named, strict=True)]

    a, b = logs(60, 0.0, 1), logs(60, 0.0, 2)
    several = compare(of_users(a, 20), of_users(b, 20), [Worth()]).answer[-1]
    assert several.startswith(
        "120 conversations are of 40 users by user_id, and those of one user are not independent: "
    )
    assert several.endswith("--map dialogue_id=user_id makes a user one piece of evidence.")
    for users in (1, 60):
        assert "users by" not in " ".join(compare(of_users(a, users), of_users(b, users), [Worth()]).answer)


def test_the_design_can_be_forced() -> None:
    a, b = logs(60, 0.0, 1), logs(60, 0.0, 2)
    bare = [[replace(one, id="") for one in lines] for lines in (a, b)]
    forced = compare(bare[0], bare[1], [Worth()], design="paired")
    assert (forced.design, forced.aligned, forced.pairs) == ("paired", "context", 1), "all that share it said hi"
    assert forced.why.startswith("as was asked for; ")
    pairs = side([1, 2, 3, 4, 5])
    free = compare(pairs, pairs, [Worth()], design="unpaired")
    assert (free.design, free.why, only(free).value) == ("unpaired", "as was asked for", 0.0)


def test_like_is_compared_with_like() -> None:
    """B answers more of the easy matters, and each kind a little worse."""
    a, b = logs(250, 0.0, 1, easy=0.2), logs(250, -0.5, 2, easy=0.8)
    assert only(compare(a, b, [Worth()])).verdict == "B is better"
    found = compare(a, b, [Worth()], by="ask.matter")
    one = only(found)
    assert (one.verdict, [kind.name for kind in one.strata]) == ("A is better", ["easy", "hard"])
    assert one.value == pytest.approx(sum(kind.weight * kind.value for kind in one.strata))
    assert sum(kind.weight for kind in one.strata) == pytest.approx(1)
    assert one.n == sum(kind.n for kind in one.strata) == len(a) + len(b)
    assert all(kind.p_adjusted >= kind.p for kind in one.strata)


def test_the_field_says_where_it_got_worse() -> None:
    found = compare(logs(200, 0.0, 1), logs(200, 0.0, 2, worse="hard"), [Worth()], by="ask.matter")
    hard = next(kind for kind in only(found).strata if kind.name == "hard")
    assert (hard.verdict, hard.needed) == ("A is better", None)
    (said,) = [line for line in found.answer if line.startswith("By ask.matter: ")]
    assert said == f"By ask.matter: B is worse for hard ({hard.value:+.3f}); no difference is shown for the other 1."
    shown = terminal(comparison(found, ("a", "b")), 120)
    assert shown.index("hard") < shown.index("easy")
    several = compare(logs(200, 0.0, 1), logs(200, 0.0, 2), [Worth(), Worth("twin")], by="ask.matter")
    assert [kind.p_adjusted for kind in several.contrasts[0].strata] == pytest.approx(
        [min(1, 4 * several.contrasts[0].strata[0].p), min(1, 4 * several.contrasts[0].strata[1].p)], rel=0.6
    )


def test_rare_values_are_left_out_and_told() -> None:
    a, b = logs(60, 0.0, 1), logs(60, 0.0, 2)
    odd = [replace(one, extra={**one.extra, "ask": {"matter": "rare"}}) if n < 3 else one for n, one in enumerate(a)]
    found = compare(odd, b, [Worth()], by="ask.matter")
    one = only(found)
    assert one.left_out == ("rare",) and {kind.name for kind in one.strata} == {"easy", "hard"}
    assert one.unscored == 3 and "Left out: a value of ask.matter with under five conversations on a side (rare)." in (
        found.answer
    )
    assert " for 2 of 3 values of ask.matter: mean " in found.answer[0], "the first sentence is often the only one read"
    several = compare(odd, b, [Worth(), Worth("twin")], by="ask.matter")
    assert several.answer[0].endswith(", for those values of ask.matter that are not left out.")
    assert "values" not in compare(a, b, [Worth()], by="ask.matter").answer[0]
    why = "could not be compared by worth, those of left-out values of ask.matter included."
    assert any(said.startswith("3 of ") and said.endswith(why) for said in found.answer)
    every = [replace(one, extra={**one.extra, "n": n}) for n, one in enumerate(a)]
    with pytest.raises(NothingScored, match="^worth: no value of the field has five conversations on both sides$"):
        compare(every, b, [Worth()], by="n")
    with pytest.raises(DataError, match=r'^no line has "intent"\. Name one of ask, dialogue_id$'):
        compare(a, b, [Worth()], by="intent")


def test_pairs_have_strata_too() -> None:
    a = [replace(one, extra={"kind": n % 3}) for n, one in enumerate(side(range(30)))]
    b = [
        replace(one, response=str(float(one.response) + (-2 if one.extra["kind"] == 0 else 0.1 * n)))
        for n, one in enumerate(a)
    ]
    found = compare(a, b, [Worth()], by="kind")
    one = only(found)
    assert [kind.name for kind in one.strata] == ["0", "1", "2"] and one.left_out == ()
    assert one.value == pytest.approx(sum(kind.weight * kind.value for kind in one.strata))
    assert [kind.n for kind in one.strata] == [10, 10, 10]
    assert math.isnan(only(compare(a[:6], b[:6], [Worth()], by="kind")).strata[0].low)


# empty replies and what got worse


def test_empty_replies_lose_every_pair() -> None:
    a, b = logs(60, 0.0, 1), logs(60, 0.0, 2)
    silent = [replace(one, response="") if n % 10 else one for n, one in enumerate(b)]
    found = compare(a, silent, [Worth()])
    one = only(found)
    assert (one.verdict, one.unscored) == ("A is better", 0) and not found.gate(0).passed
    said = [n for n, line in enumerate(silent) if not line.unanswered]
    beaten = [float(x.response) < float(silent[n].response) for n in said for x in a]
    assert one.win.value == pytest.approx(np.mean(beaten) * len(said) / len(b))
    (first, *_) = found.compared.worse("worth", 1, 5)
    assert (first.b, first.times) == ("", found.empty[1])
    everywhere = compare([replace(x, response="") for x in a], silent, [Worth()])
    assert only(everywhere).win.value == pytest.approx(0.5 + len(said) / len(b) / 2)


def spotty(n: int, seed: int, *, scored: float, empty: float = 0.0) -> list[dict[str, Any]]:
    """Lines of which a share is empty, and a share of the others has a score of somebody's."""
    rng, lines = np.random.default_rng(seed), []
    for place in range(n):
        line: dict[str, Any] = {"context": [f"{seed} asks {place}"], "response": "" if rng.random() < empty else "yes"}
        if line["response"] and rng.random() < scored:
            line["mine"] = 3 + int(rng.integers(0, 3))
        lines.append({**line, "topic": "ab"[place % 2]})
    return lines


@pytest.mark.parametrize("by", [None, "topic"])
def test_empty_replies_weigh_no_more_than_others_of_which_few_have_a_score(by: str | None) -> None:
    a, b = spotty(1000, 1, scored=0.1), spotty(1000, 2, scored=0.1, empty=0.2)
    found = compare(a, b, ["column:mine"], by=by)
    one = only(found)
    scores = [line["mine"] for line in b if "mine" in line]
    empty = found.empty[1] - one.spared
    assert empty == pytest.approx(found.empty[1] * len(scores) / (1000 - found.empty[1]), abs=1)
    assert one.n_b == len(scores) + empty
    if by is None:
        assert one.mean_b == pytest.approx((sum(scores) + 3 * empty) / (len(scores) + empty))
    assert f"{one.spared} of them are left out by column:mine, to weigh no more than" in " ".join(found.answer)


def test_empty_replies_of_pairs_weigh_no_more_than_others() -> None:
    a = [{**line, "mine": 4} if n % 10 == 0 else line for n, line in enumerate(spotty(600, 1, scored=0))]
    b = [{**line, "response": "" if n % 3 else "no"} for n, line in enumerate(a)]
    b = [{key: value for key, value in line.items() if key != "mine" or line["response"]} for line in b]
    found = compare(a, b, ["column:mine"])
    assert (found.design, found.empty) == ("paired", (0, 400))
    assert (only(found).n, only(found).spared) == (20 + 40, 0), "each of these questions has a score of A"
    mute = [{key: value for key, value in line.items() if key != "mine"} | {"response": ""} for line in b[:300]]
    both = only(compare([*mute, *a[300:]], [*mute, *b[300:]], ["column:mine"]))
    assert (both.n, both.spared) == (10 + 20 + 30, 270), "of pairs of two empty replies a tenth too"
    assert "270 pairs with one are left out" in " ".join(
        compare([*mute, *a[300:]], [*mute, *b[300:]], ["column:mine"]).answer
    )


def test_the_lowest_replies_are_told_once_each() -> None:
    a, b = logs(40, 0.0, 1), logs(40, 0.0, 2)
    same = [replace(one, response="-9") if n < 7 else one for n, one in enumerate(b)]
    found = compare(a, same, [Worth()])
    first, second, *_ = found.compared.worse("worth", 1, 5)
    assert (first.b, first.times, first.score_b) == ("-9", 7, -9.0) and second.score_b > -9 and second.times == 1
    assert 'B: "-9" (7 times)' in terminal(comparison(found, ("a", "b")), 100)
    highest = found.compared.worse("worth", -1, 1)[0]
    assert highest.score_b == max(float(one.response) for one in same)


def test_the_pairs_that_lost_most_come_first() -> None:
    a, b = side([5, 5, 5, 5]), side([4, 6, 1, 5])
    found = compare(a, b, [Worth()])
    assert [(one.score_a, one.score_b) for one in found.compared.worse("worth", 1, 9)] == [(5, 1), (5, 4)]
    assert [(one.score_a, one.score_b) for one in found.compared.worse("worth", -1, 9)] == [(5, 6)]
    assert "lost by most" in terminal(comparison(found, ("a", "b")), 100)
    assert "lost by most" not in terminal(comparison(compare(a, b, [Worth(higher=None)]), ("a", "b")), 100)


# gate


def test_a_gate_without_pairs_asks_for_scores_on_each_side() -> None:
    a, b = logs(60, 0.0, 1), logs(60, 2.0, 2)
    assert compare(a, b, [Worth()]).gate(0).passed
    few = [replace(one, response="?") if n < len(b) / 10 else one for n, one in enumerate(b)]
    gate = compare(a, few, [Worth()]).gate(0)
    assert not gate.passed and "replies of B, under 95 %" in gate.reasons[0]


@given(st.integers(1, 4), st.integers(1, 4))
def test_no_sizes_break_it(first: int, second: int) -> None:
    a = [Example((f"a{n}",), str(n)) for n in range(first)]
    b = [Example((f"b{n}",), str(n)) for n in range(second)]
    found = compare(a, b, [Worth()], resamples=100)
    one = only(found)
    assert math.isnan(one.low) is (min(first, second) < 3)
    assert one.reason == ("" if min(first, second) > 2 else one.reason) and found.answer
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["counts"]["design"] == "unpaired"
    terminal(comparison(found, ("a", "b")), 60)


def test_a_verdict_needs_the_interval_too() -> None:
    found = compare(logs(60, 0.0, 1), logs(60, 0.0, 2), [Worth()])

    def told(low: float, high: float) -> Contrast:
        from rejoinder.meta.compare import _judged

        return _judged([replace(only(found), p=0.01, low=low, high=high, value=0.5)])[0]

    assert told(0.1, 0.9).verdict == "B is better" and told(-0.1, 0.9).verdict == "not separable"


# the command and its files


@pytest.fixture
def products(tmp_path: Path) -> tuple[Path, Path]:
    """Two weeks of a product's log."""
    paths = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    for path, lines in zip(paths, (logs(80, 0.0, 1), logs(80, -1.0, 2)), strict=True):
        records: Sequence[dict[str, Any]] = [
            {"id": one.id, "context": one.context, "response": f"well <b>{n}</b>", "worth": one.response, **one.extra}
            for n, one in enumerate(lines)
        ]
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return paths


def test_a_products_two_weeks(run: Run, products: tuple[Path, Path]) -> None:
    ran = run("compare", *products, "-s", "column:worth", "--by", "ask.matter")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("A is better than B by column:worth: mean ")
    assert "Compared as two independent samples" in ran.words and "By ask.matter, column:worth" in ran.words
    assert "The lowest replies of B" in ran.words
    closed = run("compare", *products, "-s", "column:worth", "--threshold", "0")
    assert closed.code == 6 and "gate +0: not passed" in closed.out
    assert "has another context" in run("compare", *products, "-s", "column:worth", "--design", "paired").err


def test_a_comparison_goes_to_files(run: Run, products: tuple[Path, Path], tmp_path: Path) -> None:
    suffixes = ("html", "md", "tex", "csv", "json", "jsonl")
    outs = [word for suffix in suffixes for word in ("-o", tmp_path / f"ab.{suffix}")]
    ran = run("compare", *products, "-s", "column:worth", "-s", "length", "--by", "ask.matter", *outs)
    assert ran.code == 0, ran.err
    found = {suffix: (tmp_path / f"ab.{suffix}").read_text(encoding="utf-8") for suffix in suffixes}
    asked = json.loads(
        run("compare", *products, "-s", "column:worth", "-s", "length", "--by", "ask.matter", "--json").out
    )
    assert json.loads(found["json"]) == asked and asked["answer"][0].startswith("By ")
    for suffix in ("html", "md"):
        assert asked["answer"][1].split(":")[0] in found[suffix] and "rejoinder compare" in found[suffix]
    assert "<b>" not in found["html"].split("<main>")[1] and "&lt;b&gt;" in found["html"]
    assert "<b>" not in found["md"]
    rows = list(csv.DictReader(io.StringIO(found["csv"])))
    assert [(row["scorer"], row["stratum"]) for row in rows] == [
        (scorer, stratum) for scorer in ("column:worth", "length") for stratum in ("", "easy", "hard")
    ]
    assert float(rows[0]["value"]) == asked["results"][0]["value"]
    assert found["tex"].count(r"\begin{table}") == found["md"].count("\n### ") == found["html"].count("<table>")
    lines = [json.loads(line) for line in found["jsonl"].splitlines()]
    assert len(lines) == sum(asked["counts"]["replies"])
    assert {"side", "conversation", "stratum", "scores"} <= set(lines[0]) and lines[-1]["side"] == "B"


def test_rows_of_pairs(run: Run, tmp_path: Path) -> None:
    for name, values in (("a", (3, 4, 5)), ("b", (2, 4, 9))):
        lines = [{"id": str(n), "context": [f"turn {n}"], "response": "yes", "worth": v} for n, v in enumerate(values)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = tmp_path / "rows.jsonl"
    assert run("compare", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "-s", "column:worth", "-o", out).code == 0
    first, *_ = [json.loads(line) for line in out.read_text().splitlines()]
    assert first == {
        "id": "0",
        "context": ["turn 0"],
        "a": ["yes"],
        "b": ["yes"],
        "scores_a": {"column:worth": 3.0},
        "scores_b": {"column:worth": 2.0},
        "difference": {"column:worth": -1.0},
    }


def test_files_that_cannot_be_written(run: Run, products: tuple[Path, Path], tmp_path: Path) -> None:
    call = ("compare", *products, "-s", "column:worth")
    known = ".html, .md, .tex, .csv, .json, .jsonl"
    doc = tmp_path / "ab.doc"
    refused(run(*call, "-o", doc), 2, f"{doc}: unknown format of a report .doc. Known: {known}")
    assert run(*call, "-o", tmp_path / "no" / "ab.html").code == 7
    twice = run(*call, "-o", tmp_path / "ab.html", "-o", tmp_path / "ab.html")
    assert twice.code == 2 and "two outputs in one place" in twice.err
    assert not (tmp_path / "ab.html").exists()
