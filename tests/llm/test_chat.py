"""A language model behind an endpoint as a scorer."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import rejoinder
from conftest import Run
from loopback import Endpoint, Entry, completion, serving
from rejoinder.errors import DataError, MissingAsset, UsageError, WriteError
from rejoinder.example import Example
from rejoinder.llm import spent
from rejoinder.llm.chat import Asking, ChatJudge
from rejoinder.llm.endpoint import KEY
from rejoinder.llm.endpoint import Endpoint as Asked
from rejoinder.scorer import run
from rejoinder.scoring.catalog import load_scorer


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv(KEY, raising=False)
    spent.SPENT.clear()
    with serving() as server:
        yield server
    spent.SPENT.clear()


def reply_in(body: dict[str, Any]) -> str:
    """The reply that is asked about."""
    line = next(line for line in body["messages"][0]["content"].splitlines() if line.startswith('{"context"'))
    return str(json.loads(line)["response"])


def by_length(body: dict[str, Any]) -> Entry:
    """Scores the reply by its length."""
    usage = {"prompt_tokens": 100, "completion_tokens": 5}
    return completion(f'{{"score": {min(len(reply_in(body)), 5)}}}', usage=usage)


def named(endpoint: Endpoint, more: str = "") -> ChatJudge:
    return cast("ChatJudge", load_scorer(f"openai:{endpoint.address}#tiny{more}"))


def replies(*texts: str) -> list[Example]:
    return [Example(("hi",), text) for text in texts]


def test_a_model_is_a_scorer(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "secret-key")
    endpoint.answering = by_length
    judge = named(endpoint)
    found = run(judge, replies("abc", "a", "abcde", "abc"))
    assert found.values.tolist() == [3, 1, 5, 3] and found.low is None
    assert len(endpoint.heard) == 3  # each distinct input once
    path, headers, body = endpoint.heard[0]
    assert path == "/v1/chat/completions" and headers["Authorization"] == "Bearer secret-key"
    assert {name: body[name] for name in body if name != "messages"} == {
        "model": "tiny",
        "temperature": 0.0,
        "max_tokens": 512,
    }
    assert judge.card.range == (1.0, 5.0) and endpoint.address in judge.card.notes
    fields = found.signature.fields
    assert (fields["endpoint"], fields["model"], fields["repeats"]) == (endpoint.address, "tiny", 1)
    assert "secret-key" not in f"{found.signature}{judge.card}{judge.spent}"
    assert str(judge.spent) == "3 answers asked for (300 tokens read, 15 written), 0 kept from before"


def test_several_answers_make_a_mean_and_a_spread(endpoint: Endpoint) -> None:
    endpoint.answering = lambda body: completion(str(2 + body["seed"]) if reply_in(body) == "b" else "no")
    found = run(named(endpoint, ",repeats=3"), replies("b", "c"))
    assert found.low is not None and found.high is not None
    assert (found.values[0], found.low[0], found.high[0]) == (3.0, 2.0, 4.0)
    assert np.isnan([found.values[1], found.low[1], found.high[1]]).all()
    assert found.reasons == {1: "the answer holds no score"}
    assert {body["temperature"] for _, _, body in endpoint.heard} == {1.0}


def test_answers_are_kept(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.answering = by_length
    cache = f",cache={tmp_path / 'kept.db'}"
    first = run(named(endpoint, cache), replies("abc", "a"))
    spent.SPENT.clear()
    judge = named(endpoint, cache)
    again = run(judge, replies("abc", "a", "ab"))
    assert again.values.tolist() == [3, 1, 2] and again.values[:2].tolist() == first.values.tolist()
    assert len(endpoint.heard) == 3
    assert (judge.spent.asked, judge.spent.kept, judge.spent.read) == (1, 2, 100)
    run(named(endpoint, f"{cache},temperature=0.5"), replies("abc"))
    assert len(endpoint.heard) == 4  # another question
    assert b"hi" not in (tmp_path / "kept.db").read_bytes()  # no conversation lies there


def test_a_run_that_was_cut_short_goes_on_where_it_was(endpoint: Endpoint, tmp_path: Path) -> None:
    given, paid = replies(*("x" * n for n in range(1, 9))), 0

    def until_the_money_ends(body: dict[str, Any]) -> Entry:
        nonlocal paid
        if paid == 5:
            return 402, {}, b'{"error": "no credit"}'
        paid += 1
        return by_length(body)

    endpoint.answering = until_the_money_ends
    name = f",at-once=1,cache={tmp_path / 'kept.db'}"
    assert run(named(endpoint, name), given).scored.sum() == 5
    endpoint.answering = by_length
    before = len(endpoint.heard)
    assert run(named(endpoint, name), given).scored.all()
    assert len(endpoint.heard) - before == 3


def test_the_cost_and_how_far_answers_agree_are_told(endpoint: Endpoint) -> None:
    spread = {"a": 2.0, "bb": 3.0, "ccc": 4.0}

    def answering(body: dict[str, Any]) -> Entry:
        score = spread[reply_in(body)] + body["seed"] - 0.5
        return completion(str(score), usage={"prompt_tokens": 1000, "completion_tokens": 100})

    endpoint.answering = answering
    judge = named(endpoint, ",name=tiny judge,repeats=2,price=2+5")
    run(judge, replies(*spread))
    assert judge.card.name == "tiny judge"
    assert judge.spent.cost == pytest.approx(6 * (1000 * 2 + 100 * 5) / 1e6)
    same = judge.spent.repeatability
    assert same is not None and same.replies == 3
    assert same.apart == pytest.approx(np.sqrt(0.5))  # one answer is 0.5 lower, the other 0.5 higher
    assert same.single == pytest.approx(2 / 3) and same.mean == pytest.approx(0.8)
    assert str(judge.spent) == (
        "6 answers asked for (6,000 tokens read, 600 written), 0 kept from before; "
        "at the price given 0.015, 5 per 1,000 replies; answers to one question lie 0.71 apart (standard deviation): "
        "one answer is reliable by 0.67, the mean of 2 by 0.80 (ICC, 3 replies)"
    )


def test_a_name_stands_in_the_tables(endpoint: Endpoint, run: Run, tmp_path: Path) -> None:
    endpoint.answering = by_length
    file = tmp_path / "in.jsonl"
    file.write_text('{"context": ["hi"], "response": "abc"}\n')
    done = run("score", file, "-s", f"openai:{endpoint.address}#tiny,name=gpt")
    (line,) = done.records
    assert line["scores"] == {"gpt": 3.0} and endpoint.address in line["signatures"]["gpt"]
    assert done.err.startswith("rejoinder: gpt: 1 answers asked for")


def test_what_cannot_be_read_is_asked_again(endpoint: Endpoint, tmp_path: Path) -> None:
    said = iter(["I had rather not.", '{"score": 9}', '{"score": 4}'])
    endpoint.answering = lambda body: completion(next(said))
    cache = f",cache={tmp_path / 'kept.db'}"
    found = [run(named(endpoint, cache), replies("abc")).values[0] for _ in range(4)]
    np.testing.assert_array_equal(found, [np.nan, np.nan, 4, 4])
    assert len(endpoint.heard) == 3


def test_the_scale_it_is_asked_for_stands_in_the_signature(endpoint: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("Rate {response}.")
    judges = [named(endpoint, f",prompt={tmp_path / 'own.txt'}{more}") for more in ("", ",low=0,high=10")]
    assert [one.options["asks_for"] for one in judges] == ["1..5", "0..10"]


def test_what_is_cut_off_or_empty_is_not_kept(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script = [
        completion("Let me think", choice={"finish_reason": "length"}),
        completion(None),
        completion("4"),
    ]
    judge = named(endpoint, f",cache={tmp_path / 'kept.db'},longest=3")
    reasons = [run(judge, replies("abc")).reasons for _ in range(3)]
    assert reasons == [
        {0: "the answer was cut off at 3 tokens; longest= allows more"},
        {0: "the endpoint has no answer"},
        {},
    ]


def test_a_file_that_cannot_keep_answers_is_told(endpoint: Endpoint, tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("no database at all, but a text that is long enough")
    with pytest.raises(DataError, match="no file of answers"):
        named(endpoint, f",cache={file}")
    with pytest.raises(WriteError, match="no answers can be kept there"):
        named(endpoint, f",cache={tmp_path / 'no' / 'where.db'}")


def test_a_file_that_is_gone_bad_meanwhile_is_told(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.answering = by_length
    file = tmp_path / "kept.db"
    judge = named(endpoint, f",cache={file}")
    with sqlite3.connect(file) as other:
        other.execute("DROP TABLE answers")
    with pytest.raises(WriteError, match=r"no answers can be kept there \(no such table: answers\)"):
        run(judge, replies("abc"))


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (completion("I will not judge that."), "the answer holds no score"),
        (completion("9"), "a score outside 1 to 5"),
        ((200, {}, b"<html>"), "answered '<html>', expected a chat completion"),
        ((401, {}, b'{"error": {"message": "no key"}}'), "answered 401 (no key). Set the environment variable"),
        ((400, {}, b'{"error": "too long"}'), "answered 400 (too long). Check what the model allows; temperature="),
    ],
)
def test_a_failure_is_a_reason(endpoint: Endpoint, entry: Entry, reason: str) -> None:
    endpoint.answering = lambda body: entry if reply_in(body) == "bad" else by_length(body)
    found = run(named(endpoint), replies("bad", "good"))
    assert found.values[1] == 4 and list(found.reasons) == [0] and reason in found.reasons[0]


def test_silence_has_an_end(endpoint: Endpoint) -> None:
    released = threading.Event()

    def slow(body: dict[str, Any]) -> Entry:
        if reply_in(body) == "slow":
            released.wait(5)
        return by_length(body)

    endpoint.answering = slow
    found = run(named(endpoint, ",patience=0.3"), replies("slow", "abc"))
    released.set()
    assert found.values[1] == 3 and "no answer in 0.3 s" in found.reasons[0]


def test_an_endpoint_that_is_not_there_is_given_up() -> None:
    asked: list[float] = []
    judge = ChatJudge("openai:gone", Asked("http://127.0.0.1:9/v1", "tiny", pause=asked.append), Asking(at_once=1))
    found = run(judge, replies(*(f"reply {number}" for number in range(20))))
    assert not found.scored.any() and "cannot be reached" in found.reasons[0]
    reasons = list(found.reasons.values())
    assert sum(one.startswith("http://127.0.0.1:9/v1: cannot") for one in reasons) == 5
    assert sum(one.startswith("not asked after 5 failures in a row: http") for one in reasons) == 15


def test_an_endpoint_that_was_given_up_is_asked_again_after_a_pause(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = named(endpoint, ",at-once=1")
    endpoint.answering = lambda body: (402, {}, b'{"error": "no credit"}')
    assert not run(judge, replies(*("x" * n for n in range(1, 9)))).scored.any()
    endpoint.answering = by_length
    assert "not asked after 5 failures" in run(judge, replies("abc")).reasons[0]
    monkeypatch.setattr("rejoinder.llm.chat._PAUSE", 0.0)
    assert run(judge, replies("abc")).values.tolist() == [3]
    monkeypatch.undo()
    assert run(judge, replies("ab")).values.tolist() == [2]


def test_a_request_that_is_bad_is_not_the_endpoints_fault(endpoint: Endpoint) -> None:
    bad: Entry = (400, {}, b'{"error": "too long"}')
    endpoint.answering = lambda body: bad if reply_in(body).startswith("x") else by_length(body)
    found = run(named(endpoint, ",at-once=1"), replies(*(f"x{n}" for n in range(9)), "good one"))
    assert len(found.reasons) == 9 and found.values[-1] == 5


def test_a_busy_endpoint_is_waited_for(endpoint: Endpoint) -> None:
    endpoint.script = [(429, {"Retry-After": "2"}, b""), completion("4")]
    pauses: list[float] = []
    judge = ChatJudge("openai:busy", Asked(endpoint.address, "tiny", pause=pauses.append))
    assert run(judge, replies("x")).values.tolist() == [4.0] and pauses == [2.0]


def test_who_interrupts_does_not_wait_for_a_busy_endpoint(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint.script = [(429, {"Retry-After": "30"}, b"")]
    judge, began = named(endpoint), time.monotonic()
    heard = threading.Event()
    monkeypatch.setattr(ChatJudge, "_asked", _interrupting(heard, ChatJudge._asked))
    with pytest.raises(KeyboardInterrupt):
        run(judge, replies("first", "a busy one"))
    assert time.monotonic() - began < 5


def _interrupting(heard: threading.Event, asked: Any) -> Any:
    """Asks, but the first reply, which stops everything once the other is being waited for."""

    def either(self: ChatJudge, question: str, repeat: int) -> Any:
        if "busy" in question:
            heard.set()
            return asked(self, question, repeat)
        heard.wait(5)
        time.sleep(0.1)
        raise KeyboardInterrupt

    return either


def test_no_more_questions_are_open_than_allowed(endpoint: Endpoint) -> None:
    lock, open_, most = threading.Lock(), [0], [0]

    def watching(body: dict[str, Any]) -> Entry:
        with lock:
            open_[0] += 1
            most[0] = max(most[0], open_[0])
        time.sleep(0.01)
        with lock:
            open_[0] -= 1
        return by_length(body)

    endpoint.answering = watching
    run(named(endpoint, ",at-once=3"), replies(*(f"r{n}" for n in range(12))))
    assert 2 <= most[0] <= 3


def test_a_prompt_and_a_scale_of_ones_own(endpoint: Endpoint, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("From 0 to 100, how good is {response}?")
    endpoint.script = [completion("75")]
    judge = named(endpoint, f",prompt={file},low=0,high=100,temperature=,longest=")
    assert run(judge, replies("x")).values.tolist() == [75.0] and judge.card.range == (0.0, 100.0)
    ((_, _, body),) = endpoint.heard
    assert body == {"model": "tiny", "messages": [{"role": "user", "content": 'From 0 to 100, how good is "x"?'}]}
    assert rejoinder.score(replies("x"), judge, scale=(1, 5)).values.tolist() == [4.0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (",repeat=3", "no option is called 'repeat'. There are: prompt, low"),
        (",repeats=0", "repeats is '0', expected a whole number, 1 or more"),
        (",temperature=hot", "temperature is 'hot', expected a number, 0 or more"),
        (",low=0,high=10", "asks for 1 to 5. Another scale needs a prompt=FILE"),
        (",low=5,high=1", "low is 5 and high is 1, expected the lower first"),
        (",patience=0", "patience is '0', expected a number"),
        (",price=3", "price is '3', expected READ+WRITTEN of a million tokens, such as 0.15+0.60"),
        (",price=3+x", "written is 'x', expected a number, 0 or more"),
        (",name=", "name= is '', expected a name that can be seen"),
    ],
)
def test_wrong_names(more: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_scorer(f"openai:http://localhost:1/v1#tiny{more}")
    assert said in str(caught.value)


def test_names_that_are_no_endpoint() -> None:
    for name in ("openai:", "openai:http://here/v1", "openai:file:///etc#m"):
        with pytest.raises(UsageError, match="not an endpoint. Write openai:URL#MODEL"):
            load_scorer(name)
    with pytest.raises(MissingAsset, match="nowhere.txt: cannot be read"):
        load_scorer("openai:http://localhost:1/v1#m,prompt=nowhere.txt")


def test_the_command_line_says_the_cost_and_never_the_key(
    endpoint: Endpoint, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "secret-key")
    endpoint.answering = by_length
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps({"context": ["hi"], "response": "x" * n}) + "\n" for n in range(1, 6)))
    name, cache = f"openai:{endpoint.address}#tiny", tmp_path / "kept.db"
    done = run("score", file, "-s", f"{name},cache={cache}", "-o", tmp_path / "out.jsonl")
    assert done.code == 0
    cost = f"{name},cache={cache}: 5 answers asked for (500 tokens read, 25 written), 0 kept from before"
    assert done.err == f"rejoinder: {cost}\n"
    assert [len(one["response"]) for one in map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())] == [
        *range(1, 6)
    ]
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"secret-key" not in written and "secret-key" not in done.out + done.err
    refused = run("score", file, "-s", f"{name},cache={cache}", "-o", cache)
    assert refused.code == 2 and "kept.db" in refused.err  # answers that were paid for are no output
    endpoint.answering = lambda _: (401, {}, b"{}")
    failed = run("score", file, "-s", name, "-o", tmp_path / "out.jsonl")
    assert failed.code == 5 and KEY in failed.err and "secret-key" not in failed.out + failed.err
