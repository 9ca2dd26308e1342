"""`rejoinder respond`: contexts from files of every kind, and lines of replies that scoring reads."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run, drawn, refused
from rejoinder.errors import DataError, NothingScored
from rejoinder.example import Example, Rating
from rejoinder.models.responders import FunctionResponder
from rejoinder.pretraining.corpus import split
from rejoinder.responder import Answer, Reply, Request
from rejoinder.scoring.replies import BATCH, Tally, contexts_of, reply_stream, require_answers

BOT = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    last = (asked["context"] or ["nobody"])[-1]
    said = [f"{place}: {last}" for place in range(asked["count"])]
    answer = {"response": None, "reason": "a secret"} if last == "secret" else {"responses": said}
    print(json.dumps(answer))
"""


@pytest.fixture
def bot(tmp_path: Path) -> str:
    """A command that answers with the last turn, and not to `secret`."""
    (tmp_path / "bot.py").write_text(BOT)
    return f"command:{sys.executable} {tmp_path}/bot.py"


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, *lines: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


class Seeded:
    """Answers with what it was asked, seed and withheld response included."""

    name, options = "seeded", {"width": 3}

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        return [
            Answer(tuple(Reply(f"{one.seed} {one.withheld} {place}", -place) for place in range(count)))
            for one in requests
        ]


# Those that training leaves out


def test_held_out_are_just_the_dialogues_that_training_leaves_out(tmp_path: Path) -> None:
    rng = random.Random(0)

    def line(kind: str) -> dict[str, Any]:
        turns = rng.sample(("hi", "How are  you ?", "fine", "bye", "any plans ?", "no", "yes"), rng.randint(2, 5))
        if kind == "example":
            return {"context": turns[:-1], "response": turns[-1]}
        roles = [("assistant", "user")[(len(turns) + place) % 2] for place in range(len(turns))]
        spoken = [{"role": role, "content": text} for role, text in zip(roles, turns, strict=True)]
        return (
            {"turns": turns} if kind == "turns" else {"messages": spoken[: rng.choice((None, max(2, len(spoken) - 1)))]}
        )

    path = write_lines(tmp_path / "c.jsonl", *(line(kind) for kind in ("turns", "messages", "example") * 60))
    out = [one.where for one in split([path], 0.4)[1]]
    assert 40 < len(out) < 120
    assert [one.where for one in contexts_of([path], 0.4)] == out
    cut = contexts_of([path], 0.4, cut=lambda dialogue: 1)
    assert [one.where for one in cut] == out, "where a dialogue is cut does not decide"


def test_a_share_is_asked_for_on_the_command_line(run: Run, bot: str, tmp_path: Path) -> None:
    said = [[f"question {place}", f"answer {place}", "so ?", "bye"] for place in range(40)]
    path = write_lines(tmp_path / "c.jsonl", *({"turns": one} for one in said))
    kept = [list(one.turns) for one in split([path], 0.3)[1]]
    assert 3 < len(kept) < 25
    ran = run("respond", path, "-r", bot, "--unseen", 0.3)
    assert [[*record["context"], *record["references"]] for record in ran.records] == kept
    ran = run("selftalk", path, "-r", bot, "--unseen", 0.3, "--add", 1, "-o", tmp_path / "talk")
    assert f"the files hold {len(kept)} different contexts, fewer than 100" in ran.err
    begun = [line["turns"][:-1] for line in lines_of(tmp_path / "talk" / "dialogues.jsonl")]
    assert all(turns in [one[: len(turns)] for one in kept] for turns in begun)
    assert {len(turns) for turns in begun} <= {1, 2, 3} and len({len(turns) for turns in begun}) > 1
    none = "none of these dialogues is left out by a training with held_out = 1e-05"
    message = f"{none}. Give more dialogues, or the share of the recipe"
    refused(run("respond", path, "-r", bot, "--unseen", 0.00001), 3, message)


# The stream


def replies(examples: Sequence[Example], **options: Any) -> list[dict[str, Any]]:
    return list(reply_stream(examples, {"seeded": Tally(Seeded())}, **options))


def test_a_line_keeps_what_is_true_of_the_new_response() -> None:
    old = Example(
        context=("hi",),
        response="old",
        references=("hello", "hey"),
        id="a",
        system="old one",
        dataset="d",
        context_id="c",
        ratings=(Rating(3, rater="ann"),),
        quality={"overall": 3},
        scales={"overall": (1, 5)},
        extra={"topic": 7, "scores": {"length": 1}, "unanswered": "no", "messages": [], "dialogue_id": "x"}
        | {"followed_by": ["Bye"]},
    )
    (record,) = replies([old], count=2, withhold=True)
    seed = record["response"].split()[0]
    assert record == {
        "id": "a",
        "dataset": "d",
        "context": ["hi"],
        "response": f"{seed} hello 0",
        "references": ["hello", "hey"],
        "system": "seeded",
        "context_id": "c",
        "topic": 7,
        "dialogue_id": "x",
        "replies": [
            {"response": f"{seed} hello 0", "score": 0},
            {"response": f"{seed} hello 1", "score": -1},
        ],
        "responder": "responder:seeded|width:3|rejoinder:0.1.0",
    }
    (alone,) = replies([old])
    assert alone["response"] == f"{seed} None 0" and "replies" not in alone


@drawn(25)
@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=6), st.integers(0, 3))
def test_a_reply_follows_from_context_and_seed_alone(turns: list[str], seed: int) -> None:
    examples = [Example((turn,), "", id=str(place)) for place, turn in enumerate(turns)]
    together = [record["response"] for record in replies(examples, seed=seed)]
    assert together == [replies([example], seed=seed)[0]["response"] for example in examples]
    assert together[::-1] == [record["response"] for record in replies(examples[::-1], seed=seed)]
    assert together != [record["response"] for record in replies(examples, seed=seed + 1)]


def test_a_batch_is_in_memory_at_a_time() -> None:
    taken, done = [], list[int]()

    def examples() -> Any:
        for place in range(2 * BATCH + 1):
            taken.append(place)
            yield Example((str(place),), "", id=str(place))

    stream = reply_stream(examples(), {"seeded": Tally(Seeded())}, advance=done.append)
    assert next(stream)["id"] == "0" and len(taken) == BATCH
    assert len(list(stream)) == 2 * BATCH and done == [BATCH, BATCH, 1]


def test_several_responders_stand_side_by_side() -> None:
    tallies = {
        "shout": Tally(FunctionResponder(lambda context: context[-1].upper(), "shout")),
        "mute": Tally(FunctionResponder(lambda _: None, "mute")),
    }
    found = list(reply_stream([Example(("a",), "", id="1"), Example(("b",), "", id="2")], tallies, count=3))
    assert [(one["id"], one["system"], one["response"]) for one in found] == [
        ("1/shout", "shout", "A"),
        ("1/mute", "mute", ""),
        ("2/shout", "shout", "B"),
        ("2/mute", "mute", ""),
    ]
    assert "unanswered" not in found[0]
    assert (found[1]["unanswered"], found[1]["replies"]) == ("the function has no reply", [])
    assert tallies["mute"].reasons == {"the function has no reply": 2} and tallies["shout"].answered == 2
    require_answers(list(tallies.values()))
    with pytest.raises(NothingScored) as caught:
        require_answers([tallies["mute"]])
    assert str(caught.value) == "none of 2 contexts has an answer: the function has no reply"


def test_nothing_to_answer_is_an_error() -> None:
    with pytest.raises(DataError, match="no line is left to answer. Correct those that were skipped"):
        replies([])


# The command


def test_replies_are_input_of_score(run: Run, bot: str, tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "talk.jsonl",
        {"id": "a", "turns": ["hi", "how are you?", "fine"]},
        {"id": "b", "context": ["so?"], "response": "old", "references": ["true"], "ratings": {"overall": [3]}},
    )
    for name in ("out.jsonl.gz", "out.csv"):
        ran = run("respond", path, "-r", bot, "-o", tmp_path / name)
        said = f"2 by {bot[8:]} in {tmp_path / name}; score them: rejoinder score {tmp_path / name}\n"
        assert (ran.code, ran.out, ran.err) == (0, said, "")
        scored = run("score", tmp_path / name, "-s", "length", "--format", "jsonl")
        assert [(one["id"], one["response"], one["references"]) for one in scored.records] == [
            ("a", "0: how are you?", ["fine"]),
            ("b", "0: so?", ["true"]),
        ]
        assert all(one["system"] == bot[8:] and "ratings" not in one for one in scored.records)


def test_contexts_without_an_answer_keep_their_line(run: Run, bot: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "c.jsonl", {"context": ["secret"]}, {"context": ["hi"]}, {"context": []})
    ran = run("respond", path, "-r", bot, "--count", 2)
    assert ran.code == 0
    assert [(one["response"], one.get("unanswered"), len(one["replies"])) for one in ran.records] == [
        ("", "a secret", 0),
        ("0: hi", None, 2),
        ("0: nobody", None, 2),
    ]
    assert ran.err == f"{bot[8:]}: no answer to 1 of 3 contexts (a secret: 1)\n"
    alone = run("respond", write_lines(tmp_path / "s.jsonl", {"context": ["secret"]}), "-r", bot)
    assert alone.code == 5 and alone.err.endswith("\nrejoinder: none of 1 contexts has an answer: a secret\n")


def test_human_responses_stand_beside_a_system(run: Run, bot: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "c.jsonl", {"turns": ["hi", "hello"]}, {"turns": ["hi", "good day"]})
    ran = run("respond", path, "-r", bot, "-r", f"human:{path}", "--withhold")
    assert [(one["system"], one["response"], one["references"]) for one in ran.records] == [
        (bot[8:], "0: hi", ["hello"]),
        ("human", "good day", ["hello"]),
        (bot[8:], "0: hi", ["good day"]),
        ("human", "hello", ["good day"]),
    ]


def test_bad_lines_stop_or_are_skipped(run: Run, bot: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "c.jsonl", {"context": ["hi"]}, {"text": "?"})
    out = tmp_path / "out.jsonl"
    message = f'{path}:2: field "context": missing (found: text). Give every line a "context", "turns" or "messages"'
    refused(run("respond", path, "-r", bot, "-o", out), 3, message)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "bot.py", path], "no half a file is left"
    ran = run("respond", path, "-r", bot, "-o", out, "--on-error", "skip")
    assert (ran.code, ran.err) == (0, f"skipped 1:\n  {message}\n") and len(lines_of(out)) == 1


def test_wrong_calls_of_respond_are_refused(run: Run, bot: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "c.jsonl", {"context": ["hi"]})
    before = path.read_bytes()
    refused(
        run("respond", path, "-r", bot, "-o", path),
        2,
        f"{path}: is an input too and would be replaced. Choose another place for the output",
    )
    refused(
        run("respond", path, "-r", tmp_path / "hred"),
        2,
        f"no responder is called '{tmp_path}/hred'. Use the path of a trained one, or human:..., command:..., "
        "openai:...",
    )
    ran = run("respond", path, "-r", tmp_path)
    assert ran.code == 4 and f"{tmp_path}: no trained model here (config.json is missing)" in ran.err
    assert "unknown output format .doc" in run("respond", path, "-r", bot, "-o", tmp_path / "x.doc").err
    assert run("respond", path, "-r", bot, "--top-p", 0).code == 2
    assert "Missing option '-r'" in run("respond", path).err
    assert path.read_bytes() == before


def test_the_flags_of_decoding_reach_the_responder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rejoinder.models.decoding import Decoding
    from rejoinder.scoring import replies

    met = []

    def note(_names: Any, *, decoding: Decoding) -> dict[str, Any]:
        met.append(decoding)
        return {"seeded": Seeded()}

    monkeypatch.setattr(replies, "load_responders", note)
    path = write_lines(tmp_path / "c.jsonl", {"context": ["hi"]})
    flags = ["--method", "sample", "--temperature", 0.5, "--top-p", 0.8, "--longest", 9, "--shortest", 2, "--beam", 3]
    one, other = run("respond", path, "-r", "x", "--seed", 4), run("respond", path, "-r", "x", *flags)
    run("respond", path, "-r", "x", "--count", 8)
    assert met == [Decoding(), Decoding("sample", 3, 0.5, 0.8, 9, 2), Decoding(beam=8)]
    assert one.records[0]["response"] != other.records[0]["response"], "another seed"
