"""Replies of chat endpoints that are cut off, refused, in parts or behind thoughts, and options that they refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from conftest import Run
from loopback import Endpoint, Entry, serving
from rejoinder.errors import MissingAsset
from rejoinder.example import Example
from rejoinder.llm.endpoint import KEY
from rejoinder.llm.responder import EndpointResponder
from rejoinder.responder import Answer, Reply, answer, request
from rejoinder.scorer import run as score
from rejoinder.scoring.catalog import load_scorer


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv(KEY, raising=False)
    with serving() as server:
        yield server


def message(finish: str | None = "stop", **message: Any) -> Entry:
    choices = [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}]
    return 200, {}, json.dumps({"choices": choices}).encode()


def refusal(text: str, param: str | None = None, code: int = 400) -> Entry:
    return code, {}, json.dumps({"error": {"message": text, "param": param}}).encode()


def asked(endpoint: Endpoint, **options: Any) -> Answer:
    responder = EndpointResponder(endpoint.address, "tiny", **options)
    return next(iter(answer(responder, [request(("Tea?",), 1)])))


THINKS = "<think>They want tea.</think>\n\n"
PARTS = [{"type": "text", "text": "Tea"}, {"type": "image_url"}, {"type": "text", "text": "it is."}]


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (message(content=f"{THINKS}Tea it is."), Answer((Reply("Tea it is."),))),
        (message(content="They want tea.\n</think>\n\nTea it is."), Answer((Reply("Tea it is."),))),
        (message(content="Well. <thinking>Tea?</thinking> Tea."), Answer((Reply("Well. Tea."),))),
        (message(content="Tea it is.", reasoning_content="They want tea."), Answer((Reply("Tea it is."),))),
        (message(content="Tea it is.", reasoning="They want tea."), Answer((Reply("Tea it is."),))),
        (message(content=[{"type": "thinking", "thinking": "Tea?"}, *PARTS]), Answer((Reply("Tea\nit is."),))),
        (message(content=[{"type": "reasoning", "text": "Tea?"}, *PARTS]), Answer((Reply("Tea\nit is."),))),
        (message(content=None, refusal="I cannot."), Answer((Reply("I cannot."),))),
        (message(content="", refusal="I cannot."), Answer((Reply("I cannot."),))),
        (message(refusal="I cannot."), Answer((Reply("I cannot."),))),
        (message(content=[{"type": "refusal", "refusal": "I cannot."}]), Answer((Reply("I cannot."),))),
        (message(content="Yes.", refusal=None), Answer((Reply("Yes."),))),
        (message(content=""), Answer((Reply(""),))),
        (message(content=None), Answer((), "the endpoint has no reply")),
        (message(reasoning_content="Tea?"), Answer((), "the endpoint has no reply")),
        (message("content_filter", content=""), Answer((), "the endpoint withheld the reply (content_filter)")),
        (message(content=THINKS), Answer((), "the endpoint has thoughts and no reply")),
    ],
)
def test_what_a_model_says(endpoint: Endpoint, entry: Entry, found: Answer) -> None:
    endpoint.script = [entry]
    assert asked(endpoint) == found


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "incomplete", "model_length"])
def test_a_cut_reply_is_marked_and_an_empty_one_is_none(endpoint: Endpoint, finish: str) -> None:
    endpoint.script = [message(finish, content=f"{THINKS}Tea it")]
    assert asked(endpoint) == Answer((Reply("Tea it", cut=True),))
    for content in ("", None, "<think>They want", THINKS):
        endpoint.script = [message(finish, content=content)]
        assert asked(endpoint) == Answer((), "cut off before the reply began")


@pytest.mark.parametrize("finish", ["content_filter", "SAFETY", "error", "abort"])
def test_a_reply_that_a_filter_or_a_fault_ends_is_marked_as_cut(endpoint: Endpoint, finish: str) -> None:
    endpoint.script = [message(finish, content="Tea it")]
    assert asked(endpoint) == Answer((Reply("Tea it", cut=True),))


def test_of_several_replies_only_those_that_were_cut_are_marked(endpoint: Endpoint) -> None:
    choices = [
        {"index": place, "message": {"content": text}, "finish_reason": finish}
        for place, (text, finish) in enumerate([("Whole.", "stop"), ("Ha", "length"), ("", "length")])
    ]
    endpoint.script = [(200, {}, json.dumps({"choices": choices}).encode())]
    responder = EndpointResponder(endpoint.address, "tiny", sample=True)
    (found,) = answer(responder, [request(("Tea?",), 1)], count=3)
    assert found.replies == (Reply("Whole."), Reply("Ha", cut=True))


def strict(body: dict[str, Any]) -> Entry:
    """Refuses what newer models refuse, as they do."""
    if "max_tokens" in body:
        return refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens")
    if body.get("temperature", 1) != 1:
        return refusal("Unsupported value: 'temperature' does not support 0. Only the default (1) is.", "temperature")
    return message(content="4")


@pytest.mark.parametrize(
    ("words", "param", "code", "gone"),
    [
        ("Unsupported parameter: 'temperature'", "temperature", 400, {"temperature"}),
        ("temperature: Extra inputs are not permitted", None, 422, {"temperature"}),
        ("unknown field `top_p`", None, 400, {"top_p"}),
        ("`temperature` and `top_p` cannot both be specified for this model", None, 400, {"top_p"}),
        ("This model does not support seed", None, 400, {"seed"}),
    ],
)
def test_an_option_that_is_refused_is_left_out(
    endpoint: Endpoint, words: str, param: str | None, code: int, gone: set[str]
) -> None:
    endpoint.answering = lambda body: refusal(words, param, code) if gone <= body.keys() else message(content="Yes.")
    assert asked(endpoint, sample=True) == Answer((Reply("Yes."),))
    first, second = (body for _, _, body in endpoint.heard)
    assert first.keys() - second.keys() == gone


def test_it_is_remembered_and_named(endpoint: Endpoint) -> None:
    endpoint.answering = strict
    responder = EndpointResponder(endpoint.address, "tiny", longest=7)
    found = list(answer(responder, [request((f"{n}?",), 1) for n in range(8)]))
    assert found == [Answer((Reply("4"),))] * 8
    assert dict(responder.options) == {"endpoint": endpoint.address, "max_completion_tokens": 7}
    before = len(endpoint.heard)
    assert list(answer(responder, [request(("more?",), 1)])) == [Answer((Reply("4"),))]
    assert len(endpoint.heard) == before + 1


def test_a_judge_is_asked_so_too(endpoint: Endpoint) -> None:
    endpoint.answering = strict
    found = score(load_scorer(f"openai:{endpoint.address}#tiny"), [Example(("a",), "b"), Example(("a",), "c")])
    assert found.values.tolist() == [4, 4]
    assert "temperature" not in found.signature.fields and found.signature.fields["max_completion_tokens"] == 512
    endpoint.answering = lambda _: message(content=f"{THINKS}[[3]]")
    assert score(load_scorer(f"openai:{endpoint.address}#tiny"), [Example(("a",), "b")]).values.tolist() == [3]


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens is too large: 5000. This model supports at most 4096 tokens",
        "temperature must be between 0 and 2",
        "This model's maximum context length is 4097 tokens; reduce max_tokens",
        "messages: no content",
    ],
)
def test_a_value_that_is_refused_is_told(endpoint: Endpoint, words: str) -> None:
    endpoint.script = [refusal(words)]
    with pytest.raises(MissingAsset, match="answered 400"):
        asked(endpoint)
    assert len(endpoint.heard) == 1


def by_context(body: dict[str, Any]) -> Entry:
    last = body["messages"][-1]["content"]
    if "cut" in last:
        return message("length", content="It stops in the")
    if "spent" in last:
        return message("length", content="")
    return message(content=f"{THINKS}Fine.")


def test_respond_counts_and_marks(endpoint: Endpoint, run: Run, tmp_path: Path) -> None:
    endpoint.answering = by_context
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    old = {"cut_off": True, "response": "old"}
    file.write_text("".join(f"{json.dumps({'context': [f'Say {w}.'], **old})}\n" for w in ("cut", "spent", "x")))
    done = run("respond", file, "-r", f"openai:{endpoint.address}#tiny", "-o", out)
    assert done.code == 0, done.err
    cut, spent, plain = map(json.loads, out.read_text().splitlines())
    assert (cut["response"], cut["cut_off"]) == ("It stops in the", True)
    assert (spent["response"], spent["unanswered"]) == ("", "cut off before the reply began")
    assert plain["response"] == "Fine." and "cut_off" not in {**spent, **plain}
    assert "1 of 2 replies were cut off" in done.err and "no answer to 1 of 3 contexts" in done.err
    assert {body["max_tokens"] for _, _, body in endpoint.heard} == {1024}
    assert run("respond", file, "-r", f"openai:{endpoint.address}#tiny", "-o", out, "--longest", 7).code == 0
    assert endpoint.heard[-1][2]["max_tokens"] == 7


def test_selftalk_passes_no_thoughts_on(endpoint: Endpoint, run: Run, tmp_path: Path) -> None:
    endpoint.answering = lambda body: (
        by_context({"messages": [{"content": f"cut {len(body['messages'])}"}]})
        if (len(body["messages"]) == 2)
        else message(content=f"{THINKS}Fine {len(body['messages'])}.")
    )
    file = tmp_path / "in.jsonl"
    file.write_text('{"context": ["Hi."]}\n')
    done = run("selftalk", file, "-r", f"openai:{endpoint.address}#tiny", "--add", 3, "-o", tmp_path / "talk")
    assert done.code == 0, done.err
    turns = [json.loads(line) for line in (tmp_path / "talk" / "turns.jsonl").read_text().splitlines()]
    assert [turn["response"] for turn in turns] == ["Fine 1.", "It stops in the", "Fine 3."]
    assert ["cut_off" in turn for turn in turns] == [False, True, False]
    assert "1 of 3 turns were cut off" in done.err
    assert "think" not in json.dumps([body for _, _, body in endpoint.heard])


def test_options_left_out_are_said(endpoint: Endpoint, run: Run, tmp_path: Path) -> None:
    endpoint.answering = strict
    file = tmp_path / "in.jsonl"
    file.write_text('{"context": ["Hi."]}\n')
    done = run("respond", file, "-r", f"openai:{endpoint.address}#tiny", "-o", tmp_path / "out.jsonl")
    assert done.code == 0 and "does not take temperature" in done.err
    line = json.loads((tmp_path / "out.jsonl").read_text())
    assert "temperature" not in line["responder"] and "max_completion_tokens:1024" in line["responder"]


def test_a_candidate_that_was_cut_stays_marked(endpoint: Endpoint) -> None:
    endpoint.answering = by_context
    responder = EndpointResponder(endpoint.address, "tiny")
    (line,) = rejoinder.rerank(
        [["Say cut."]], [responder], lambda lines: [len(line.response) for line in lines], at_least=0
    )
    assert (line["response"], line["cut_off"]) == ("It stops in the", True)
