"""Self-talk: conversations that grow by themselves, their loops and ends, and the lines they leave."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_replies import lines_of, write_lines

from conftest import Run, refused
from rejoinder.data.dialogues import Dialogue, read_dialogues
from rejoinder.data.read import read
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.models.responders import FunctionResponder
from rejoinder.responder import Answer, Context, Reply, Request
from rejoinder.scoring.selftalk import LOOP, Talk, conversations, random_cut, sample_contexts, self_talk

BOT = """
import json, sys
for line in sys.stdin:
    turns = json.loads(line)["context"]
    said = None if len(turns) > int(sys.argv[2]) else sys.argv[1] + str(len(turns))
    print(json.dumps({"response": said, "reason": "no more"}))
"""


def speaker(name: str) -> FunctionResponder:
    """Says its name and how many turns there were before."""
    return FunctionResponder(lambda context: f"{name}{len(context)}", name)


class Dice:
    """Answers with the seed of the request, and counts the requests of each call."""

    name, options = "dice", dict[str, Any]()

    def __init__(self) -> None:
        self.asked: list[int] = []

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        self.asked.append(len(requests))
        return [Answer((Reply(str(one.seed)),)) for one in requests]


def counting(*contexts: Context, **options: Any) -> list[Talk]:
    return self_talk(speaker("a"), contexts, turns=3, **options)


# Talking


def test_a_responder_talks_with_itself() -> None:
    assert counting(("hi",), ()) == [
        Talk(("hi",), ("a1", "a2", "a3")),
        Talk((), ("a0", "a1", "a2")),
    ]


def test_two_responders_take_turns() -> None:
    assert counting(("hi", "ho"), second=speaker("b")) == [Talk(("hi", "ho"), ("a2", "b3", "a4"))]


def test_all_conversations_grow_together() -> None:
    dice, done = Dice(), list[int]()
    talks = self_talk(dice, [("a",), ("b",), ("c",)], turns=4, advance=done.append)
    assert dice.asked == [3, 3, 3, 3] and sum(done) == 12
    assert all(len(set(talk.replies)) == 4 for talk in talks), "another seed each turn"


def test_a_conversation_follows_from_its_context_and_the_seed_alone() -> None:
    contexts: list[Context] = [("a",), ("b", "c"), ()]
    together = self_talk(Dice(), contexts, seed=5)
    assert together == [self_talk(Dice(), [context], seed=5)[0] for context in contexts]
    assert together == self_talk(Dice(), contexts[::-1], seed=5)[::-1]
    assert together[0].replies != self_talk(Dice(), contexts, seed=6)[0].replies


def test_a_loop_ends_a_conversation_only_if_asked() -> None:
    said = {1: "Fine .", 2: "and you ?", 3: "fine  ."}
    responder = FunctionResponder(lambda context: said.get(len(context), "never"), "looping")
    (on,) = self_talk(responder, [("hi",)], turns=5)
    assert on == Talk(("hi",), ("Fine .", "and you ?", "fine  .", "never", "never"))
    done: list[int] = []
    (off,) = self_talk(responder, [("hi",)], turns=5, stop_on_loop=True, advance=done.append)
    assert off == Talk(("hi",), ("Fine .", "and you ?", "fine  ."), LOOP) and sum(done) == 5
    echo = FunctionResponder(lambda context: context[-1], "echo")
    assert self_talk(echo, [("hi",)], stop_on_loop=True) == [Talk(("hi",), ("hi",), LOOP)], "the context counts"


def test_a_context_without_an_answer_ends_its_conversation() -> None:
    def short(context: Context) -> str | None:
        return None if len(context) > 2 else "so"

    done: list[int] = []
    talks = self_talk(FunctionResponder(short, "short"), [("a",), ("a", "b", "c"), ()], turns=3, advance=done.append)
    reason = "the function has no reply"
    assert talks == [
        Talk(("a",), ("so", "so"), reason),
        Talk(("a", "b", "c"), (), reason),
        Talk((), ("so", "so", "so")),
    ]
    assert sum(done) == 9


def test_no_turn_is_refused() -> None:
    with pytest.raises(UsageError, match="turns is expected to be 1 or more"):
        self_talk(Dice(), [("a",)], turns=0)


# What they begin with


def test_a_sample_of_contexts_does_not_depend_on_order_and_grows() -> None:
    examples = [Example((str(place % 50),), "", id=str(place)) for place in range(200)]
    ten = sample_contexts(examples, 10, seed=1)
    assert len({one.context for one in ten}) == 10
    assert [one.context for one in sample_contexts(examples[::-1], 10, seed=1)] == [one.context for one in ten]
    assert sample_contexts(examples, 20, seed=1)[:10] == ten
    assert sample_contexts(examples, 10, seed=2) != ten
    assert len(sample_contexts(examples, 100, seed=1)) == 50
    with pytest.raises(DataError, match="no line is left to begin with. Correct those that were skipped"):
        sample_contexts([], 10, seed=1)


def test_dialogues_are_cut_anywhere_but_before_their_first_turn_and_each_place_is_as_likely() -> None:
    cut = random_cut(3)
    places = Counter(cut(Dialogue((f"hi {number}", "ho", "so", "bye"), "")) for number in range(3000))
    assert sorted(places) == [1, 2, 3] and all(900 < number < 1100 for number in places.values())
    one = Dialogue(tuple("abcdefghij"), "here")
    assert cut(one) == cut(Dialogue(one.turns, "there")), "the place in the file does not decide"
    assert len({random_cut(seed)(one) for seed in range(50)}) == 9, "the seed does"


def test_self_talk_begins_in_the_middle_of_dialogues_and_takes_other_contexts_whole(
    run: Run, bot: str, tmp_path: Path
) -> None:
    long = [{"turns": [f"hi {place}", *(f"turn {place}" for place in range(8)), "bye"]} for place in range(30)]
    path = write_lines(tmp_path / "c.jsonl", *long, {"context": ["a", "b", "c"]})
    run("selftalk", path, "-r", f"{bot} a 99", "-o", tmp_path / "talk", "--add", 1)
    begun = [line["turns"][:-1] for line in lines_of(tmp_path / "talk" / "dialogues.jsonl")]
    assert len(begun) == 31 and ["a", "b", "c"] in begun
    assert len({len(turns) for turns in begun}) > 5 and all("bye" not in turns for turns in begun)


# Lines


def test_the_lines_of_conversations() -> None:
    names = {"a": speaker("a"), "b": speaker("b")}
    start = Example(("hi",), "old", id="s", references=("true",))
    (dialogue, turns), other = conversations(names, [start], turns=2)
    assert dialogue == {"id": "a/1", "turns": ["hi", "a1", "a2"], "system": "a", "context_turns": 1, "start_id": "s"}
    about = {"dialogue_id": "a/1", "start_id": "s", "responder": "responder:a|rejoinder:0.1.0", "system": "a"}
    assert turns == [
        {"id": "a/1/1", "context": ["hi"], "response": "a1", "turn": 1, **about},
        {"id": "a/1/2", "context": ["hi", "a1"], "response": "a2", "turn": 2, **about},
    ]
    assert other[0]["turns"] == ["hi", "b1", "b2"]
    ((dialogue, turns),) = conversations(names, [start], turns=3, partner="b")
    assert (dialogue["id"], dialogue["system"], dialogue["partner"]) == ("a with b/1", "a", "b")
    assert [(one["system"], one["response"]) for one in turns] == [("a", "a1"), ("b", "b2"), ("a", "a3")]
    assert turns[1]["responder"] == "responder:b|rejoinder:0.1.0"


# The command


@pytest.fixture
def contexts(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "c.jsonl", *({"turns": [f"hi {place}", "ho"]} for place in range(6)))


@pytest.fixture
def bot(tmp_path: Path) -> str:
    """A command to be given a name and how many turns a context may have."""
    (tmp_path / "bot.py").write_text(BOT)
    return f"command:{sys.executable} {tmp_path}/bot.py"


def test_several_systems_talk_from_one_command(run: Run, bot: str, contexts: Path, tmp_path: Path) -> None:
    out = tmp_path / "talk"
    a, b = f"{bot} a 99", f"{bot} b 99"
    ran = run("selftalk", contexts, "-r", a, "-r", b, "-o", out, "--contexts", 4, "--add", 3)
    said = f"8 dialogues, 24 turns in {out}; score them: rejoinder score {out}/turns.jsonl\n"
    assert (ran.code, ran.out, ran.err) == (0, said, "")
    dialogues = list(read_dialogues(out / "dialogues.jsonl"))
    assert [one.turns[1:] for one in dialogues] == [("a1", "a2", "a3")] * 4 + [("b1", "b2", "b3")] * 4
    assert [one.turns[0] for one in dialogues[:4]] == [one.turns[0] for one in dialogues[4:]]
    examples = list(read(out / "turns.jsonl"))
    assert len({one.id for one in examples}) == 24 and len({one.context_key for one in examples}) == 8
    scored = run("score", out / "turns.jsonl", "-s", "length", "--format", "jsonl")
    assert [one["scores"]["length"] for one in scored.records] == [1.0] * 24
    before = (out / "turns.jsonl").read_bytes()
    run("selftalk", contexts, "-r", a, "-r", b, "-o", out, "--contexts", 4, "--add", 3)
    assert (out / "turns.jsonl").read_bytes() == before, "an older folder is replaced, by the same"


def test_systems_talk_with_a_partner(run: Run, bot: str, contexts: Path, tmp_path: Path) -> None:
    out = tmp_path / "talk"
    ran = run("selftalk", contexts, "-r", f"{bot} a 99", "--with", f"{bot} b 3", "-o", out, "--add", 9)
    assert ran.out.startswith("6 dialogues, 18 turns in ")
    assert ran.err == ("the files hold 6 different contexts, fewer than 100\nended early: 6 of 6 dialogues (no more)\n")
    assert [one["turns"][1:] for one in lines_of(out / "dialogues.jsonl")] == [["a1", "b2", "a3"]] * 6


def test_dialogues_that_end_early_are_told(run: Run, bot: str, contexts: Path, tmp_path: Path) -> None:
    out = tmp_path / "talk"
    ran = run("selftalk", contexts, "-r", f"{bot} a 2", "-o", out, "--contexts", 6, "--add", 9)
    assert (ran.code, ran.err) == (0, "ended early: 6 of 6 dialogues (no more)\n")
    assert {one["ended"] for one in lines_of(out / "dialogues.jsonl")} == {"no more"}
    assert len(lines_of(out / "turns.jsonl")) == 12
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    ran = run("selftalk", contexts, "-r", f"{bot} a 0", "-o", out, "--contexts", 6)
    assert ran.code == 5
    said = "rejoinder: not a single turn was said, so nothing was written: no more\n"
    assert ran.err == f"ended early: 6 of 6 dialogues (no more)\n{said}"
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before, "the older folder stays"


def test_loops_end_dialogues_on_the_command_line(run: Run, contexts: Path, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "h.jsonl", *({"context": [f"hi {place}"], "response": "Hi 1"} for place in range(6)))
    out = tmp_path / "talk"
    ran = run("selftalk", contexts, "-r", f"human:{path}", "-o", out, "--contexts", 6, "--stop-on-loop")
    assert (
        ran.err
        == "ended early: 5 of 6 dialogues (no human response to this context)\nended early: 1 of 6 dialogues (loop)\n"
    )
    assert sorted(tuple(one["turns"]) for one in lines_of(out / "dialogues.jsonl"))[1] == ("hi 1", "Hi 1")


def test_wrong_calls_of_selftalk_are_refused(run: Run, bot: str, contexts: Path, tmp_path: Path) -> None:
    own = tmp_path / "mine"
    own.mkdir()
    (own / "thesis.tex").write_text("dear")
    refused(
        run("selftalk", contexts, "-r", f"{bot} a 9", "-o", own),
        2,
        f"{own}: exists and holds what rejoinder did not write there (thesis.tex), so it is not replaced. "
        "Choose another name.",
    )
    refused(
        run("selftalk", contexts, "-r", f"{bot} a 9", "--with", f"{bot} a 9", "-o", tmp_path / "talk"),
        2,
        f"the responder {f'{bot} a 9'!r} was named twice. Name each once",
    )
    bad = tmp_path / "bad.jsonl"
    bad.write_text(contexts.read_text() + json.dumps({"turns": ["x"]}) + "\n")
    message = f"{bad}:7: one turn, a dialogue has two or more. Delete the line, or give all its turns"
    refused(run("selftalk", bad, "-r", f"{bot} a 9", "-o", tmp_path / "talk"), 3, message)
    assert not (tmp_path / "talk").exists()
    ran = run(
        "selftalk",
        bad,
        "-r",
        f"{bot} a 9",
        "-o",
        tmp_path / "talk",
        "--on-error",
        "skip",
        "--contexts",
        6,
        "--add",
        1,
    )
    assert (ran.code, ran.err) == (0, f"skipped 1:\n  {message}\n")


def test_an_empty_reply_ends_a_conversation() -> None:
    """No corpus has a turn without a word, and the dialogues are to be one."""
    replies = {1: "yes", 2: " "}
    (talk,) = self_talk(FunctionResponder(lambda context: replies[len(context)], "curt"), [("hi",)], turns=4)
    assert (talk.replies, talk.ended) == (("yes",), "an empty reply")


def test_a_file_that_is_not_there_is_told_as_that(tmp_path: Path, run: Run) -> None:
    ran = run("selftalk", tmp_path / "no.jsonl", "-r", "command:true", "-o", tmp_path / "talk")
    assert (ran.code, ran.out) == (4, "") and ran.err.startswith(f"rejoinder: {tmp_path / 'no.jsonl'}: ")
    assert not (tmp_path / "talk").exists()
