"""Notes: what a scorer cannot judge is said beside the score, in every output, and counted."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run
from rejoinder.example import Example
from rejoinder.judges.adem.optimizer import AdemOptions
from rejoinder.judges.domain import (
    CONTEXT_CUT,
    CONTEXT_NOT_ENGLISH,
    CUT,
    NOT_ENGLISH,
    UNLIKE,
    text_warnings,
    warnings_of,
)
from rejoinder.judges.train import train_judge
from rejoinder.metrics.baselines import words
from rejoinder.models import load_encoder
from rejoinder.models.encoders import AverageEncoder, TruncatingEncoder
from rejoinder.models.vocabulary import train_bpe
from rejoinder.scorer import OUT_OF_DOMAIN, Card, Scores
from rejoinder.scorer import run as run_scorer
from rejoinder.scoring.catalog import load_scorer
from rejoinder.scoring.noted import noted
from rejoinder.scoring.scoring import Summary, score_stream
from rejoinder.scoring.terminal import summary_table
from rejoinder.text.vectors import word_vectors
from sentences import HELD_OUT, SENTENCES


class Noting:
    """Scores every reply 1, and notes of each that ends in a question mark that it does so."""

    card = Card("noting", "one", "judge", frozenset(), (None, None), "here")
    options: dict[str, str] = {}  # noqa: RUF012 - a scorer's options are read, never changed

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        asked = {row: ("a question",) for row, one in enumerate(examples) if one.response.endswith("?")}
        return Scores(np.ones(len(examples)), warnings=asked)


REPLIES = ("why not?", "yes", "who are you, and what do you want?", "why not?", "no")


def lines(extra: Mapping[str, object] | None = None) -> list[Example]:
    return [Example((), text, id=str(place), extra=extra or {}) for place, text in enumerate(REPLIES)]


@pytest.mark.parametrize("batch_size", [1, 2, 512])
def test_notes_come_back_in_order_and_reach_duplicates(batch_size: int) -> None:
    scores = run_scorer(Noting(), lines(), batch_size=batch_size)
    assert list(scores.warnings.items()) == [(place, ("a question",)) for place in (0, 2, 3)]


def scored(given: list[Example]) -> tuple[list[dict[str, object]], Summary]:
    summary = Summary(Noting())
    return list(score_stream(given, {"noting": summary})), summary


def test_an_output_line_has_its_warnings_by_scorer_and_the_summary_counts_them() -> None:
    records, summary = scored(lines())
    assert [record["warnings"] for record in records] == [
        {"noting": ["a question"]} if text.endswith("?") else {} for text in REPLIES
    ]
    assert '3 of 5 replies have the warning "a question" (noting)\n' in summary_table({"noting": summary}, 80)


@pytest.mark.parametrize("key", ["warnings", "notes"])
def test_warnings_of_an_earlier_run_stay_but_for_the_same_scorer(key: str) -> None:
    """Earlier versions called them `notes`: the signatures beside them tell them from notes of the user's."""
    signed = {"signatures": {"noting": "scorer:noting", "other": "scorer:other"}}
    records, _ = scored(lines({key: {"noting": ["old"], "other": ["kept"]}, **signed}))
    assert records[0]["warnings"] == {"noting": ["a question"], "other": ["kept"]}
    assert records[1]["warnings"] == {"other": ["kept"]} and "notes" not in records[0]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_notes_that_an_earlier_version_wrote_become_warnings(run: Run, tmp_path: Path, name: str) -> None:
    line = {"response": "fine", "scores": {"x": 1}, "unscored": {}, "notes": {"x": ["cut"]}, "signatures": {"x": "s"}}
    rejoinder.write([line], tmp_path / name)
    for out in ("b.jsonl", "b.csv"):
        assert run("score", tmp_path / name, "-s", "length", "-o", tmp_path / out).code == 0
        assert "notes" not in (tmp_path / out).read_text()
        (again,) = rejoinder.read(tmp_path / out)
        assert again.extra["warnings"] == {"x": ["cut"]}


@pytest.mark.parametrize("own", ["call again", {"x": ["cut"]}, {"mood": "good"}])
def test_notes_of_the_users_own_stay(run: Run, tmp_path: Path, own: object) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"response": "fine", "notes": own, "signatures": {"y": "s"}}) + "\n")
    (record,) = run("score", path, "-s", "length").records
    assert record["notes"] == own and record["warnings"] == {}


@pytest.mark.parametrize("own", ["call again", ["a"], {"mood": "good"}, 3])
def test_a_key_of_the_users_own_that_is_called_warnings_is_kept(run: Run, tmp_path: Path, own: object) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"response": "fine", "warnings": own}) + "\n")
    (record,) = run("score", path, "-s", "length").records
    assert record["warnings"] == {} and record["input_warnings"] == own


def test_a_column_of_the_users_own_that_is_called_warnings_is_kept(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("response,warnings\nfine,{call again\nyes,\nno,[1]\n")
    records = run("score", path, "-s", "length").records
    assert [record.get("input_warnings") for record in records] == ["{call again", None, "[1]"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.parquet"])
def test_warnings_survive_every_format(tmp_path: Path, name: str) -> None:
    given = [Example((), "a", id="1", extra={"warnings": {"x": ["cut", "not English"]}})]
    rejoinder.write(given, tmp_path / name)
    assert list(rejoinder.read(tmp_path / name)) == given


def test_notes_in_words() -> None:
    counts = {"a": {"code": 1, "cut": 1200}, "b": {"cut": 1200}}
    assert noted(counts, 3000, "of A") == [
        '1,200 of 3,000 replies of A have the warning "cut" (a, b)',
        '1 of 3,000 replies of A has the warning "code" (a)',
    ]


# Notes of learned judges


ODD = {
    "👍🏽": ("no words",),
    "ich weiss nicht wo die schluessel sind": ("not English",),
    "x = f(3); print(x);": ("code",),
    "on and on " * 50: ("unlike short chat",),
    "- мы не знаем\n- где ключи": ("not English", "unlike short chat"),
    "I am fine , thanks .": (),
}


def test_the_judge_in_the_box_notes_what_it_cannot_judge() -> None:
    given = [Example(("hello , how are you today ?",), text) for text in ODD]
    scores = rejoinder.score(given, "rejoinder")
    assert [of_texts(scores.warnings.get(place, ())) for place in range(len(given))] == list(ODD.values())
    assert [rejoinder.score([one], "rejoinder").warnings.get(0) for one in given] == [
        scores.warnings.get(place) for place in range(len(given))
    ]


def of_texts(notes: Sequence[str]) -> tuple[str, ...]:
    """The notes that do not hang on what the judge was fitted on."""
    return tuple(note for note in notes if note not in (UNLIKE, OUT_OF_DOMAIN))


def test_a_context_is_noted_where_the_judge_reads_it() -> None:
    turns = ("Wie geht es dir heute?", "Mir geht es heute nicht so gut")
    long = ("Rewrite this. " + "It is too long. " * 40,)
    given = [Example(context, "ok", ("fine",)) for context in (turns, long)]
    assert text_warnings(given, ("context",)) == {0: ("context not English",), 1: ("unlike short chat",)}
    assert text_warnings(given, ("reference",)) == {}


def test_the_command_says_what_was_noted(run: Run, tmp_path: Path) -> None:
    lines = [json.dumps({"id": text[:3], "context": ["hello"], "response": text}) for text in ODD]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    ran = run("score", tmp_path / "a.jsonl", "-o", tmp_path / "out.csv")
    assert (ran.code, ran.err) == (0, "")
    assert '2 of 6 replies have the warning "not English" (rejoinder)' in ran.out
    assert '1 of 6 replies has the warning "code" (rejoinder)' in ran.out
    table = run("score", tmp_path / "a.jsonl", "--format", "table").words
    assert "id response rejoinder warnings " in table and " code" in table
    written = list(rejoinder.read(tmp_path / "out.csv"))
    assert [of_texts(one.extra["warnings"].get("rejoinder", [])) for one in written] == list(ODD.values())


def german(count: int) -> list[Example]:
    """Rated lines in German; a rating follows from the length, so that there is something to learn."""
    texts = SENTENCES["German"] + HELD_OUT["German"]
    pairs = [(first, second) for first in texts for second in texts if first != second]
    return [
        Example((f"{first} {second}",), second, quality={"overall": len(second) % 5 + 1}, scales={"overall": (1, 5)})
        for first, second in pairs[:count]
    ]


def test_a_judge_does_not_note_what_it_was_fitted_on(tmp_path: Path) -> None:
    texts = {word: None for one in german(90) for text in (*one.context, one.response) for word in words(text)}
    rng = np.random.default_rng(0)
    encoder = AverageEncoder(word_vectors(list(texts), rng.normal(size=(len(texts), 4))))
    judge = train_judge(german(90), "c-adem", encoder, AdemOptions(components=2, epochs=2)).judge
    assert judge.training["noted"]["not English"] > 0.9
    judge.save(tmp_path / "judge")
    given = [Example(("Wie geht es dir heute?",), text) for text in ODD]
    for one in (judge, load_scorer(tmp_path / "judge")):
        found = run_scorer(one, given).warnings
        notes = {0: ("no words",), 2: ("code",), 3: ("unlike short chat",), 4: ("unlike short chat",)}
        assert found == {row: (OUT_OF_DOMAIN, *each) for row, each in notes.items()}


@pytest.mark.parametrize("model", ["dialogue_model", "tweet_model"])
def test_what_an_encoder_cuts_is_noted(tmp_path: Path, model: str) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    import tiny

    encoder = load_encoder(getattr(tiny, model)(tmp_path / "model"))
    assert isinstance(encoder, TruncatingEncoder)
    limit = getattr(encoder, "longest", None) or tiny.LONGEST_TURN
    whole, cut = ("the cat sat", "the cat sat on the mat " * limit)
    given = [Example((context,), reply) for context in (whole, cut) for reply in (whole, cut)]
    wanted: list[set[str]] = [set(), {CUT}, {CONTEXT_CUT}, {CUT, CONTEXT_CUT}]
    found = warnings_of(given, ("context",), encoder, common=())
    assert [{CUT, CONTEXT_CUT}.intersection(found.get(place, ())) for place in range(4)] == wanted
    assert not any(CONTEXT_CUT in notes for notes in warnings_of(given, ("reference",), encoder, common=()).values())


@given(st.integers(1, 12))
def test_a_text_is_cut_where_the_encoder_sees_no_more_of_it(size: int) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    vocabulary = train_bpe(["a b c d e f g h"] * 5, 60)
    text = " ".join("abcdefgh"[place % 8] for place in range(size))
    from rejoinder.models.networks.loading import TurnReader

    reader = TurnReader(vocabulary, 8, 2)
    (kept,) = reader.numbers([text])
    assert reader.truncates([text]) == (kept[:-1] != vocabulary.encode(text))
    assert reader.truncates(["a"] * size) == (len(reader.numbers(["a"] * size)) < size)


# Notes in what is worked out from scores


def foreign(share: int) -> list[Example]:
    """120 rated replies, of which the first so many are German."""
    lines = [one for one in rejoinder.read("@conture") if not text_warnings([one], ("context",))][:120]
    return [
        replace(one, response=HELD_OUT["German"][place % 4]) if place < share else one
        for place, one in enumerate(lines)
    ]


def test_compare_counts_notes_for_each_side(run: Run, tmp_path: Path) -> None:
    for name, share in (("a", 0), ("b", 12)):
        rejoinder.write(foreign(share), tmp_path / f"{name}.jsonl")
    ran = run("compare", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--resamples", 100)
    assert '12 of 120 replies of B have the warning "not English" (rejoinder).' in ran.words
    assert ran.words.count('"not English"') == 1
    found = json.loads(run("compare", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--json").out)
    counted = {
        side: {note: n for note, n in notes.items() if note not in (UNLIKE, OUT_OF_DOMAIN)}
        for side, notes in found["scorers"]["rejoinder"]["warnings"].items()
    }
    assert counted == {"A": {}, "B": {"not English": 12}}


@pytest.mark.parametrize("out", [None, "page.html", "page.md", "study.json"])
def test_a_study_counts_notes(run: Run, tmp_path: Path, out: str | None) -> None:
    rejoinder.write(foreign(7), tmp_path / "a.jsonl")
    written = [] if out is None else ["-o", tmp_path / out]
    ran = run("study", tmp_path / "a.jsonl", "-s", "rejoinder", "--resamples", 100, *written)
    text = ran.out if out is None else (tmp_path / out).read_text(encoding="utf-8")
    text = html.unescape(text).replace('\\"', '"')
    assert '7 of 120 replies have the warning "not English" (rejoinder).' in " ".join(text.split())
    assert ran.code == 0


def test_a_study_has_its_notes_by_scorer() -> None:
    found = rejoinder.study(foreign(7), ["rejoinder", "length"], resamples=10).to_dict()
    counts = {name: found["scorers"][name]["warnings"] for name in ("rejoinder", "length")}
    assert counts["rejoinder"]["not English"] == 7 and counts["length"] == {}


def share_of_notes(lines: Sequence[Example], *kinds: str) -> float:
    """Return the share of lines with a note, of these kinds if there are some."""
    notes = text_warnings(lines, ("context", "reference")).values()
    return sum(not kinds or any(kind in of_line for kind in kinds) for of_line in notes) / len(lines)


@pytest.mark.parametrize("name", ["@dstc7", "@conture"])
def test_few_lines_of_english_chat_have_notes(name: str) -> None:
    assert share_of_notes(list(rejoinder.read(name))) <= 0.01


@pytest.mark.slow
def test_rated_chats_are_recognised_as_english(shared: Path) -> None:
    for path in sorted((shared / "data" / "judgements").glob("*.jsonl.gz")):
        if not path.name.startswith(("halueval", "tulu1", "dices")):  # replies of assistants, to any request
            examples = list(islice(rejoinder.read(path), 800))
            assert share_of_notes(examples, NOT_ENGLISH) <= 0.01, path.name
            assert share_of_notes(examples, CONTEXT_NOT_ENGLISH) <= 0.01, path.name
