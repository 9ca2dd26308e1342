"""Out-of-domain scores in the outputs: withheld unless asked for, at every door of `score`; never in an analysis."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.analysis.quality import quality
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.scorer import FACTS_NOT_CHECKED, OUT_OF_DOMAIN, Card, Explanation, Scores
from rejoinder.scoring import domain, scoring
from rejoinder.scoring.domain import INSTEAD
from rejoinder.scoring.scoring import Summary, score_stream

GERMAN = "Ja, ich habe zwei Hunde und eine Katze zu Hause."
CODE = "def pets():\n    return dogs[0].name == 'Rex'\n"
MARKDOWN = "Here is what you can do:\n\n" + "".join(
    f"{place}. **Open** the settings page and look for the section about your account and its devices.\n"
    for place in range(1, 13)
)
ASKED, GOOD = "do you have any pets ?", "yes , i have two dogs . they love to play in the park ."


class Marking:
    """Scores a reply by its words; one with a `!` is out of its domain."""

    card = Card(
        "marking",
        "words",
        "judge",
        frozenset(),
        (0, 99),
        "a test",
        domain="calm words",
        unread=("facts",),
        explains=True,
    )
    options: ClassVar[dict[str, Any]] = {}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return the number of words, with an interval, and the statistics that sum to the corpus score."""
        values = np.array([float(len(example.response.split())) for example in examples])
        notes = {row: (OUT_OF_DOMAIN, "loud") for row, one in enumerate(examples) if "!" in one.response}
        sums = {"statistics": values[:, None], "combine": lambda totals: float(totals[0])}
        return Scores(values, warnings=notes, low=values - 1, high=values + 1, **sums)  # type: ignore[arg-type]

    def explain(self, examples: Sequence[Example]) -> list[Explanation | None]:
        """Return what adds up to the score."""
        return [Explanation(0.0, {"form": float(len(example.response.split()))}) for example in examples]


class Undeclared(Marking):
    """The same scorer without a note."""

    card = Card("undeclared", "words", "judge", frozenset(), (0, None), "a test", explains=True)

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return the number of words."""
        return replace(super().score_batch(examples), warnings={})


EXAMPLES = [Example((), text, id=str(row)) for row, text in enumerate(["a b", "a b c !", "a", "! !"])]


def marking(examples: Sequence[Example]) -> Scores:
    return Marking().score_batch(examples)


# Python


def test_scores_out_of_the_domain_are_missing_with_a_reason() -> None:
    scores = rejoinder.score(EXAMPLES, Marking())
    assert scores.scored.tolist() == [True, False, True, False]
    assert scores.reasons == {1: OUT_OF_DOMAIN, 3: OUT_OF_DOMAIN}
    assert scores.warnings == {1: (OUT_OF_DOMAIN, "loud"), 3: (OUT_OF_DOMAIN, "loud")}
    assert scores.low is not None and scores.high is not None
    assert np.isfinite(scores.low).tolist() == np.isfinite(scores.high).tolist() == scores.scored.tolist()
    assert scores.corpus() == 3, "the corpus score leaves them out"
    assert scores.to_pandas()["unscored"].dropna().to_dict() == {1: OUT_OF_DOMAIN, 3: OUT_OF_DOMAIN}


def test_scores_out_of_the_domain_are_kept_where_asked_for() -> None:
    scores = rejoinder.score(EXAMPLES, Marking(), out_of_domain="keep")
    assert scores.values.tolist() == [2, 4, 1, 2] and scores.reasons == {} and scores.corpus() == 9
    assert scores.warnings[1] == (OUT_OF_DOMAIN, "loud")


def test_a_scorer_without_a_domain_withholds_nothing() -> None:
    assert rejoinder.score(EXAMPLES, Undeclared()).values.tolist() == [2, 4, 1, 2]


def test_explanations_of_withheld_scores_are_withheld() -> None:
    explained = rejoinder.explain(EXAMPLES, Marking())
    assert [one is None for one in explained] == [False, True, False, True]
    assert None not in rejoinder.explain(EXAMPLES, Marking(), out_of_domain="keep")


@pytest.mark.parametrize("call", [rejoinder.score, rejoinder.explain])
def test_another_word_is_refused(call: Any) -> None:
    with pytest.raises(UsageError, match="out_of_domain is 'drop', expected one of withhold, keep"):
        call(EXAMPLES, Marking(), out_of_domain="drop")


def test_another_word_is_refused_in_a_stream() -> None:
    with pytest.raises(UsageError, match="out_of_domain is 'drop'"):
        list(score_stream(EXAMPLES, {"marking": Summary(Marking())}, out_of_domain="drop"))  # type: ignore[arg-type]


def test_a_stream_withholds_and_its_means_leave_withheld_scores_out() -> None:
    summary = Summary(Marking())
    records = list(score_stream(EXAMPLES, {"marking": summary}, explain=True))
    assert [record["scores"]["marking"] for record in records] == [2, None, 1, None]
    assert [record["unscored"] for record in records] == [{}, {"marking": OUT_OF_DOMAIN}] * 2
    assert ["marking" in record.get("intervals", {}) for record in records] == [True, False, True, False]
    assert ["marking" in record.get("explained", {}) for record in records] == [True, False, True, False]
    assert records[1]["warnings"] == {"marking": [OUT_OF_DOMAIN, "loud"]}
    assert (summary.scored, summary.unscored, summary.withheld, summary.mean, summary.corpus) == (2, 2, 2, 1.5, 3)


def test_a_stream_keeps_scores_where_asked_for() -> None:
    summary = Summary(Marking())
    records = list(score_stream(EXAMPLES, {"marking": summary}, out_of_domain="keep"))
    assert [record["scores"]["marking"] for record in records] == [2, 4, 1, 2]
    assert (summary.scored, summary.withheld, summary.mean) == (4, 0, 2.25)


# The shipped judge, at the command line


REPLIES = {"chat": GOOD, "german": GERMAN, "code": CODE, "markdown": MARKDOWN, "empty": ""}
OUTSIDE = ["german", "code", "markdown"]


def written(path: Path, *names: str) -> Path:
    """Write lines with these replies."""
    lines = [json.dumps({"id": name, "context": [ASKED], "response": REPLIES[name]}) for name in names or REPLIES]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_command_withholds_by_default(run: Run, tmp_path: Path) -> None:
    ran = run("score", written(tmp_path / "a.jsonl"))
    records = {record["id"]: record for record in ran.records}
    assert ran.code == 0
    for name in OUTSIDE:
        assert records[name]["scores"] == {"rejoinder": None}
        assert records[name]["unscored"] == {"rejoinder": OUT_OF_DOMAIN}
        warnings = records[name]["warnings"]["rejoinder"]
        assert warnings[0] == OUT_OF_DOMAIN and len(warnings) > 1
        assert "rejoinder" not in records[name].get("intervals", {})
    assert records["chat"]["scores"]["rejoinder"] > 1 and "rejoinder" in records["chat"]["intervals"]
    assert records["empty"]["unscored"] == {"rejoinder": "the response is empty"}, (
        "an empty reply is never out of domain"
    )
    assert "3 of 5 scores" in ran.err and INSTEAD in ran.err, (
        "standard output holds the scores, standard error the count"
    )


def test_the_command_keeps_scores_where_asked_for(run: Run, tmp_path: Path) -> None:
    ran = run("score", written(tmp_path / "a.jsonl"), "--out-of-domain", "keep", "--explain")
    records = {record["id"]: record for record in ran.records}
    for name in OUTSIDE:
        assert math.isfinite(records[name]["scores"]["rejoinder"]) and "rejoinder" in records[name]["intervals"]
        assert "rejoinder" in records[name]["explained"]
        assert records[name]["unscored"] == {} and records[name]["warnings"]["rejoinder"][0] == OUT_OF_DOMAIN


def test_the_summary_counts_withheld_scores_first(run: Run, tmp_path: Path) -> None:
    ran = run("score", written(tmp_path / "a.jsonl"), "-o", tmp_path / "out.csv")
    first, *rest = ran.out.splitlines()
    assert first.startswith("3 of 5 scores withheld: ") and "--out-of-domain keep" in first
    assert "rejoinder fit" in first and "language model" in first
    assert rest.count(FACTS_NOT_CHECKED) == 1
    assert not any("out of domain" in line for line in rest), "they are counted once"
    row = next(line.split() for line in rest if line.startswith("rejoinder "))
    (chat, *_) = csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text()))
    assert row[1:3] == ["1", "4"] and float(row[3]) == pytest.approx(float(chat["scores.rejoinder"]), abs=0.01)


def test_the_summary_says_what_was_kept(run: Run, tmp_path: Path) -> None:
    ran = run("score", written(tmp_path / "a.jsonl"), "-o", tmp_path / "out.csv", "--out-of-domain", "keep")
    first, *rest = ran.out.splitlines()
    assert first.startswith("3 of 5 scores with a warning: ") and INSTEAD in first
    assert next(line.split() for line in rest if line.startswith("rejoinder "))[1:3] == ["4", "1"]


def test_a_table_shows_no_withheld_score(run: Run, tmp_path: Path) -> None:
    out = run("score", written(tmp_path / "a.jsonl", "german", "chat"), "--format", "table").out
    (german,) = [line for line in out.splitlines() if line.startswith("german ")]
    assert not any(sign.isdigit() for sign in german) and OUT_OF_DOMAIN in german


def test_a_metric_says_nothing_of_domains_and_facts(run: Run, tmp_path: Path) -> None:
    ran = run("score", written(tmp_path / "a.jsonl"), "-s", "length", "-o", tmp_path / "out.jsonl")
    assert "domain" not in ran.out and FACTS_NOT_CHECKED not in ran.out


def test_only_the_judge_withholds_beside_a_metric(run: Run, tmp_path: Path) -> None:
    ran = run("score", written(tmp_path / "a.jsonl", *OUTSIDE), "-s", "rejoinder", "-s", "length")
    assert ran.code == 0
    assert [record["scores"]["rejoinder"] for record in ran.records] == [None] * 3
    assert all(record["scores"]["length"] > 0 for record in ran.records)


@pytest.mark.parametrize("out", ["-", "new.jsonl", "older.jsonl"])
def test_where_all_is_withheld_nothing_was_scored(run: Run, tmp_path: Path, out: str) -> None:
    (tmp_path / "older.jsonl").write_text("kept\n")
    place = out if out == "-" else tmp_path / out
    ran = run("score", written(tmp_path / "a.jsonl", *OUTSIDE), "-o", place)
    assert ran.code == 5
    assert (
        "3 lines" in ran.err and OUT_OF_DOMAIN in ran.err and INSTEAD in ran.err and "--out-of-domain keep" in ran.err
    )
    assert (tmp_path / "older.jsonl").read_text() == "kept\n"
    assert run("score", tmp_path / "a.jsonl", "-o", place, "--out-of-domain", "keep").code == 0


def test_another_word_is_refused_at_the_command_line(run: Run, tmp_path: Path) -> None:
    assert run("score", written(tmp_path / "a.jsonl"), "--out-of-domain", "drop").code == 2


def test_withheld_scores_can_be_scored_again(run: Run, tmp_path: Path) -> None:
    """What an earlier run withheld is replaced by a run that keeps."""
    run("score", written(tmp_path / "a.jsonl", "german", "chat"), "-o", tmp_path / "one.jsonl")
    (german, _) = run("score", tmp_path / "one.jsonl", "--out-of-domain", "keep").records
    assert german["scores"]["rejoinder"] > 0 and german["unscored"] == {}


def test_a_table_scored_before_keeps_no_interval_of_a_score_that_is_withheld(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f'context,response\n{ASKED},"{GERMAN}"\n{ASKED},"{GOOD}"\n')
    again = ("--out-of-domain", "keep", "--explain")
    assert run("score", tmp_path / "a.csv", *again, "-o", tmp_path / "b.csv").code == 0
    assert run("score", tmp_path / "b.csv", "-o", tmp_path / "c.csv").code == 0
    with (tmp_path / "c.csv").open(newline="") as stream:
        german, good = csv.DictReader(stream)
    figures = [key for key in german if key.startswith(("scores.", "low.", "high.", "explained."))]
    assert len(figures) > 3 and not any(german[key] for key in figures)
    assert float(good["low.rejoinder"]) < float(good["scores.rejoinder"]) and not good["explained.rejoinder.base"]


# Whole conversations


def talk(*replies: str) -> dict[str, Any]:
    """Return a conversation in which the bot says these."""
    turns = [text for reply in replies for text in (ASKED, reply)]
    return {"context": turns[:-1], "response": turns[-1], "level": "dialogue"}


def spoken(*replies: str) -> Example:
    """Return a conversation in which the bot says these."""
    line = talk(*replies)
    return Example(tuple(line["context"]), line["response"])


def test_a_conversation_is_out_of_domain_where_more_than_half_of_its_turns_are() -> None:
    lines = [spoken("a", "b !", "c !"), spoken("a", "b !"), spoken("a b c d", "b !", "c d", "e f g")]
    scores = rejoinder.score(lines, Marking(), level="dialogue")
    assert scores.scored.tolist() == [False, True, True] and scores.reasons == {0: OUT_OF_DOMAIN}
    some = ("some turns out of domain",)
    assert scores.warnings == {0: (OUT_OF_DOMAIN, "loud"), 1: some, 2: some}
    worst = {row: [turn.turn for turn in more["worst_turns"]] for row, more in scores.details.items()}
    assert worst == {
        1: [2],
        2: [6],
    }
    kept = rejoinder.score(lines, Marking(), level="dialogue", out_of_domain="keep")
    assert kept.scored.all() and kept.values[1:].tolist() == scores.values[1:].tolist()


def test_the_command_withholds_conversations(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, [talk(GERMAN, CODE, GERMAN), talk(GOOD)])))
    german, good = run("score", tmp_path / "a.jsonl", "--level", "dialogue").records
    assert german["scores"] == {"rejoinder": None} and german["unscored"] == {"rejoinder": OUT_OF_DOMAIN}
    assert german["warnings"]["rejoinder"][0] == OUT_OF_DOMAIN and "worst_turns" not in german
    assert good["scores"]["rejoinder"] > 0 and "worst_turns" in good
    (kept, _) = run("score", tmp_path / "a.jsonl", "--level", "dialogue", "--out-of-domain", "keep").records
    assert kept["scores"]["rejoinder"] > 0


# No analysis withholds


WORDS = ("no", "yes I do", "well , yes !", "I like it", "we talked about it at home", "never !")
RATED = [
    Example((f"what about {place} ?",), WORDS[place % 6], id=str(place), quality={"overall": float(place % 5 + 1)})
    for place in range(40)
]
SCALED = [replace(example, scales={"overall": (1, 5)}) for example in RATED]
HALF_RATED = [replace(one, quality={}, scales={}) if row % 2 else one for row, one in enumerate(SCALED)]


@pytest.mark.parametrize(
    "analysis",
    [
        lambda scorer: rejoinder.study(SCALED, [scorer], resamples=100).estimates,
        lambda scorer: rejoinder.compare(SCALED, SCALED[::-1], scorer, resamples=100).estimates,
        lambda scorer: rejoinder.estimate(HALF_RATED, scorer=scorer).answer,
        lambda scorer: rejoinder.next_lines(HALF_RATED, 5, scorer=scorer),
        lambda scorer: rejoinder.audit(SCALED, scorer, families=["empty"], limit=5),
        lambda scorer: quality(SCALED, 2, scorer).estimates,
        lambda scorer: rejoinder.reward(scorer)(prompts=["tea ?"], completions=["yes !"]),
        lambda scorer: list(
            rejoinder.rerank([{"context": ["tea ?"], "replies": ["no", "yes !"]}], scorer=scorer).lines
        ),
    ],
    ids=["study", "compare", "estimate", "next_lines", "audit", "quality", "reward", "rerank"],
)
def test_no_analysis_withholds(monkeypatch: pytest.MonkeyPatch, analysis: Any) -> None:
    """Every analysis takes the scorer's own values, and judges by the share of replies out of its domain."""

    def refuse(_: object) -> None:
        raise AssertionError("an analysis withheld scores")

    for module in (domain, scoring):
        monkeypatch.setattr(module, "withhold", refuse)
    assert analysis(Marking())
