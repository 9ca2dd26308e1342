"""The score of a whole conversation: whose turns, how they come together, which lost it; and in a study."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import rejoinder
from conftest import Run
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.scorer import Card, Scores
from rejoinder.scorer import run as scored
from rejoinder.scoring.dialogue import DialogueScorer, Turn, of_dialogues, replies_of, score_of
from rejoinder.scoring.scoring import Summary, score_stream

# By length (in words) the turns of "bot" score 1, 3, 2 and 6.
TURNS = ("hi", "a", "b b b b", "c c c", "d", "e e", "f", "g g g g g g")


class Sure:
    """Scores a reply by its words, and says that it may be off by that and half."""

    card = Card("sure", "words", "judge", frozenset(), (None, None), "a test")
    options: ClassVar[dict[str, Any]] = {}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        values = np.array([float(len(one.response.split())) for one in examples])
        return Scores(values, low=values / 2, high=values * 2)


def dialogue(**extra: Any) -> Example:
    return Example(TURNS[:-1], TURNS[-1], id="talk", extra={"level": "dialogue", **extra})


def test_turns_alternate_and_the_response_is_of_the_judged_speaker() -> None:
    found = replies_of(dialogue())
    assert found.places == [2, 4, 6, 8]
    assert [(len(one.context), one.response) for one in found.examples] == [
        (1, "a"),
        (3, "c c c"),
        (5, "e e"),
        (7, TURNS[7]),
    ]


def test_who_is_judged_is_who_the_line_says() -> None:
    named = dialogue(speakers=[0, 1, 0, 1, 0, 1, 0, 1], rated_speaker=0)
    assert replies_of(named).places == [1, 3, 5, 7]
    twice = dialogue(speakers=["u", "b", "b", "u", "u", "b", "u", "u"], rated_speaker="b")
    assert replies_of(twice).places == [2, 3, 6]
    roles = ["user", "assistant", "assistant"]
    messages = [{"role": role, "content": text} for role, text in zip(roles, TURNS, strict=False)]
    (chat,) = rejoinder.examples_of([messages])
    assert replies_of(chat).places == [2, 3]


# The bot speaks first, then the user twice; the response is the bot's.
SPOKEN = [("assistant", "how are you"), ("user", "no"), ("user", "when"), ("assistant", "wait a bit"), ("user", "ok")]
MESSAGES = [{"role": role, "content": text} for role, text in SPOKEN]
LABELLED = "Bot: how are you\nUser: no\nBot: wait a bit"


@pytest.mark.parametrize(
    "line",
    [
        {"messages": MESSAGES, "completion": "it comes"},
        {"context": MESSAGES, "response": "it comes"},
        {"context": [text for _, text in SPOKEN], "response": "it comes", "speakers": list("bhhbhb")},
    ],
)
def test_whoever_the_line_says_is_the_bot_is_judged(run: Run, tmp_path: Path, line: dict[str, Any]) -> None:
    path, table, chat = tmp_path / "a.jsonl", tmp_path / "a.csv", tmp_path / "chat.jsonl"
    path.write_text(json.dumps({**line, "id": "1"}))
    found = list(rejoinder.read(path))
    rejoinder.write(found, table)
    rejoinder.write(found, chat, format="chat")
    for (one,) in (found, list(rejoinder.read(table)), list(rejoinder.read(chat))):
        assert [reply.response for reply in replies_of(one).examples] == ["how are you", "wait a bit", "it comes"]
    (record,) = run("score", path, "-s", "length", "--level", "dialogue").records
    assert record["worst_turns"] == {"length": [{"turn": 6, "response": "it comes", "score": 2.0}]}


def test_cells_say_who_speaks_as_lines_of_json_do(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = f'"{LABELLED}",,it comes\n"{LABELLED}\nUser: a\nBot: b\nUser: c",ok,it comes\n'
    path.write_text(f'history,query,response\n{rows}"User: hi\nBot: ho\nUser: ok",,it comes\n')
    first, second, third = rejoinder.read(path)
    assert replies_of(first).places == [1, 3, 4] and first.context == ("how are you", "no", "wait a bit")
    assert replies_of(second).places == [1, 3, 5, 8] and second.context[-2:] == ("c", "ok")
    assert "speakers" not in third.extra, "turns that alternate are as they always were"


def test_the_worst_quarter_counts_half() -> None:
    assert score_of([6.0, 2.0, 3.0, 1.0]) == (3.0 + 1.0) / 2
    assert score_of([1.0, 2.0, 3.0, 4.0, 5.0]) == (3.0 + 1.5) / 2
    assert score_of([2.5]) == 2.5


def test_a_conversation_has_a_score_and_its_worst_turns() -> None:
    found = rejoinder.score([dialogue()], "length", level="dialogue")
    assert found.values.tolist() == [2.0]
    assert [turn._asdict() for turn in found.details[0]["worst_turns"]] == [{"turn": 2, "response": "a", "score": 1.0}]
    assert "level:" in str(found.signature)


def test_a_turn_that_cannot_be_scored_is_left_out_and_none_says_why() -> None:
    opens = dialogue(speakers=[0, 1, 0, 1, 0, 1, 0, 1], rated_speaker=0)
    found = rejoinder.score([opens, Example((), "hello")], "context-overlap", level="dialogue")
    assert np.isfinite(found.values[0]) and 1 not in [turn.turn for turn in found.details[0]["worst_turns"]]
    assert found.reasons == {1: "no turn of the judged speaker has a score: no context"}
    lost = [dialogue(speakers=[0, 1]), dialogue(speakers=[0] * 8, rated_speaker=2), dialogue(speakers="abcdefgh")]
    reasons = rejoinder.score(lost, "length", level="dialogue").reasons
    assert "not all named" in reasons[0] and "says nothing" in reasons[1] and "not all named" in reasons[2]


def test_where_the_speaker_is_silent_the_turn_counts_as_the_low_end() -> None:
    class Needy(Sure):
        card = replace(Sure.card, range=(-1.0, None))

        def score_batch(self, examples: Sequence[Example]) -> Scores:
            values = np.array([float(len(one.response.split())) or np.nan for one in examples])
            return Scores(values, dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), "empty"))

    class Unbound(Needy):
        card = Sure.card

    class Undirected(Needy):
        card = replace(Needy.card, higher_is_better=None)

    class Generous(Needy):
        def score_batch(self, examples: Sequence[Example]) -> Scores:
            return Scores(np.array([float(len(one.response.split())) or 5.0 for one in examples]))

    silent = Example(("hi", "a a", "so", "", "there?"), "", extra={"level": "dialogue"})
    assert scored(DialogueScorer(Generous()), [silent]).values.tolist() == [score_of([2, -1, -1])], "whatever it says"
    for scorer, least in ((Needy(), -1), (Unbound(), 2)):
        found = scored(DialogueScorer(scorer), [silent])
        assert found.values.tolist() == [score_of([2, least, least])]
    assert found.details == {0: {"worst_turns": (Turn(2, "a a", 2.0),)}}, "of equal ones the first"
    assert scored(DialogueScorer(Undirected()), [silent]).values.tolist() == [2]
    mute = Example(("hi",), "", extra={"level": "dialogue"})
    assert scored(DialogueScorer(Needy()), [mute]).values.tolist() == [-1]
    assert scored(DialogueScorer(Unbound()), [mute]).reasons == {0: "no turn of the judged speaker has a score: empty"}


def test_a_conversation_that_is_marked_as_without_a_reply_ends_in_silence() -> None:
    """As `compare` takes it: who falls silent has a score, and a worse one."""
    said = ("hi", "a a", "so", "b b", "there?")
    for response in ("", "Error 504"):
        marked = Example(said, response, extra={"level": "dialogue", "unanswered": "timed out"})
        found = rejoinder.score([marked, replace(marked, extra={})], "length", level="dialogue")
        assert found.values[0] == score_of([2, 2, 0]) and found.details[0]["worst_turns"] == (Turn(6, "", 0.0),)
    alone = replace(marked, extra={"unanswered": "timed out"})
    assert scored(DialogueScorer(Sure()), [alone]).reasons == {0: "no response (timed out)"}, "no conversation"


def test_of_a_scorer_that_is_better_the_lower_the_highest_turns_are_the_worst() -> None:
    class Errors(Sure):
        card = replace(Sure.card, higher_is_better=False)

    found = scored(DialogueScorer(Errors()), [dialogue()])  # 1, 3, 2 and 6
    assert found.values.tolist() == [(3 + 6) / 2] and [turn.score for turn in found.details[0]["worst_turns"]] == [6]


def test_a_score_does_not_depend_on_neighbours() -> None:
    lines = [dialogue(), dialogue(speakers=[0] * 8), Example(("x",), "y y"), dialogue()]
    scorer = of_dialogues(rejoinder.load_scorer("context-overlap"))
    together = scored(scorer, lines).values
    alone = [scored(scorer, [line]).values[0] for line in lines]
    assert together.tobytes() == np.array(alone).tobytes()


def test_lines_that_are_no_conversations_are_scored_as_before() -> None:
    lines = [Example(("a",), "b b", id="one"), dialogue()]
    found = scored(of_dialogues(rejoinder.load_scorer("length")), lines)
    assert found.values.tolist() == [2.0, 2.0] and list(found.details) == [1]


def test_an_interval_stays_with_a_line_that_is_no_conversation() -> None:
    lines = [Example(("a",), "b b", id="one"), dialogue()]
    plain = scored(Sure(), lines[:1])
    found = scored(of_dialogues(Sure()), lines)
    assert found.low is not None and found.high is not None and plain.low is not None
    assert found.low[0] == plain.low[0] == 1 and found.high[0] == 4
    assert np.isnan(found.low[1]) and np.isnan(found.high[1]) and np.isfinite(found.values).all()
    records = list(score_stream(lines, {"sure": Summary(of_dialogues(Sure()))}))
    assert records[0]["intervals"] == {"sure": [1.0, 4.0]} and "intervals" not in records[1]
    assert scored(of_dialogues(Sure()), lines[1:]).low is None


def test_a_column_of_the_line_stays_what_it_is() -> None:
    column = rejoinder.load_scorer("column:theirs")
    assert of_dialogues(column) is column and isinstance(of_dialogues(rejoinder.load_scorer("length")), DialogueScorer)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    rejoinder.write([dialogue()], path)
    return path


def test_score_writes_the_worst_turns(run: Run, file: Path, tmp_path: Path) -> None:
    (record,) = run("score", file, "-s", "length", "--level", "dialogue").records
    worst = {"length": [{"turn": 2, "response": "a", "score": 1.0}]}
    assert record["scores"] == {"length": 2.0} and record["worst_turns"] == worst
    table = tmp_path / "out.csv"
    assert run("score", file, "-s", "length", "--level", "dialogue", "-o", table).code == 0
    assert next(iter(rejoinder.read(table))).extra["worst_turns"] == worst
    shown = run("score", file, "-s", "length", "--level", "dialogue", "--format", "table").words
    assert "worst turns" in shown and "2 (1.00): a" in shown


def test_a_last_turn_is_not_passed_off_as_a_conversation(run: Run, file: Path) -> None:
    plain = run("score", file, "-s", "length")
    assert plain.records[0]["scores"] == {"length": 6.0} and "--level dialogue scores them whole" in plain.err
    assert "--level" not in run("score", file, "-s", "length", "--level", "dialogue").err
    for flag in (("--turns", "all"), ("--explain",)):
        assert run("score", file, "-s", "length", "--level", "dialogue", *flag).code == 2


def test_a_key_of_the_users_own_stays(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"context": ["x"], "response": "a b", "worst_turns": "none"}) + "\n")
    assert run("score", path, "-s", "length").records[0]["worst_turns"] == "none"
    mine = run("score", path, "-s", "length", "--level", "dialogue").records[0]
    assert mine["input_worst_turns"] == "none" and list(mine["worst_turns"]) == ["length"]


def test_a_study_compares_conversations_with_their_ratings() -> None:
    rng = np.random.default_rng(0)
    lines = []
    for number in range(30):
        words = int(rng.integers(1, 9))
        turns = ["x" if place % 2 == 0 else " ".join("w" * words) for place in range(6)] + ["x"]
        extra = {"level": "dialogue", "speakers": ["u", "b"] * 3 + ["u"], "rated_speaker": "b"}
        rating = {"overall": float(words)}
        lines.append(Example(tuple(turns[:-1]), turns[-1], id=str(number), quality=rating, extra=extra))
    found = rejoinder.study(lines, ["length", "context-overlap"], resamples=0)
    rows = {(row.scorer, row.statistic): row for row in found.estimates}
    assert rows["length", "spearman"].value == pytest.approx(1.0), "the last turn of each is of one word, by the user"
    assert {row.level for row in rows.values()} == {"dialogue"}
    assert found.estimates[0].scorer == "length" and "length" in found.answer[0]


@pytest.mark.parametrize("level", ["dialog", "Dialogue", "conversation", None])
def test_a_level_is_one_of_two(level: Any) -> None:
    with pytest.raises(UsageError, match=f"^level is {level!r}, expected one of turn, dialogue$"):
        rejoinder.score([dialogue()], "length", level=level)


def test_a_note_of_half_the_turns_is_none_of_the_conversation() -> None:
    class Odd(Sure):
        """Notes "x" at every reply with an e in it."""

        def score_batch(self, examples: Sequence[Example]) -> Scores:
            odd = {row: ("x",) for row, one in enumerate(examples) if "e" in one.response or "g" in one.response}
            return replace(super().score_batch(examples), warnings=odd)

    assert scored(DialogueScorer(Odd()), [dialogue()]).warnings == {}
    assert scored(DialogueScorer(Odd()), [replace(dialogue(), context=("hi", "g", *TURNS[2:-1]))]).warnings == {
        0: ("x",)
    }
