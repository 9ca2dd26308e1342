"""Adapters: functions, human responses, commands and chat endpoints as responders."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loopback import Endpoint, Handler, completion, serving
from rejoinder.errors import DataError, MissingAsset, RejoinderError, UsageError
from rejoinder.external.responder import CommandResponder
from rejoinder.llm.endpoint import KEY
from rejoinder.llm.responder import EndpointResponder
from rejoinder.models import RESPONDERS, load_responder
from rejoinder.models.decoding import Decoding
from rejoinder.models.responders import FunctionResponder
from rejoinder.responder import Answer, Context, Reply, Responder, answer, request, signature_of
from rejoinder.scoring.catalog import load_responders

GREEDY = Decoding("greedy")
SAMPLED: dict[str, Any] = {"sample": True, "temperature": 0.5, "top_p": 0.9, "longest": 20}


def asked(responder: Responder, *contexts: Context, count: int = 1, withheld: str | None = None) -> list[Answer]:
    """The answers of a responder to contexts."""
    requests = [request(context, 3, withheld) for context in contexts]
    return list(answer(responder, requests, count=count))


def texts(found: Answer) -> list[str]:
    """The texts of the replies."""
    return [reply.text for reply in found.replies]


def said(kind: type[RejoinderError], responder: Responder, *contexts: Context, count: int = 1) -> str:
    """The error of `kind`, one line, that asking brings."""
    with pytest.raises(kind) as caught:
        asked(responder, *(contexts or [("hi",)]), count=count)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# Functions


def test_a_function_is_a_responder() -> None:
    responder = FunctionResponder(lambda context: context[-1].upper() if context else None, "shout", {"voice": 2})
    assert asked(responder, ("a", "b"), (), count=3) == [
        Answer((Reply("B"),)),
        Answer((), "the function has no reply"),
    ]
    assert str(signature_of(responder)).startswith("responder:shout|voice:2|rejoinder:")
    assert load_responder(responder) is responder


def test_a_function_that_returns_no_text_is_named() -> None:
    wrong: Any = lambda context: 5  # noqa: E731
    assert said(UsageError, FunctionResponder(wrong, "five")) == (
        "five returned a int, expected a text. Return the reply alone"
    )


# Names


def test_names_that_are_no_responder_are_refused() -> None:
    with pytest.raises(UsageError) as caught:
        load_responder("hred")
    assert str(caught.value) == (
        "no responder is called 'hred'. Use the path of a trained one, or human:..., command:..., openai:..."
    )
    nothing: Any = 5
    with pytest.raises(UsageError, match="a responder is a name, a folder or an object with respond_batch, not a int"):
        load_responder(nothing)


def test_responders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    names = []
    for place in ("one", "two"):
        (tmp_path / f"{place}.jsonl").write_text('{"context": ["hi"], "response": "ho"}\n')
        names.append(f"human:{tmp_path}/{place}.jsonl")
    assert list(load_responders(names)) == names
    assert list(load_responders(names[:1])) == ["human"]
    with pytest.raises(UsageError, match="the responder 'human:.*' was named twice. Name each once"):
        load_responders([names[0], names[0]])


# Human responses


@pytest.fixture
def people(tmp_path: Path) -> Path:
    lines = [
        {"context": ["hi"], "response": "hello", "system": "human"},
        {"context": ["hi"], "response": "good day", "references": ["not I"], "system": "human"},
        {"context": ["hi"], "response": "<unk>", "system": "hred"},
        {"context": ["bye"], "references": ["see you", " "], "system": "human"},
    ]
    path = tmp_path / "people.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_people_answer_the_contexts_they_met(people: Path) -> None:
    human = load_responder(f"human:{people}#human")
    met, other, unmet, longer = asked(human, ("hi",), ("bye",), ("Hi",), ("ho", "hi"), count=5)
    assert (texts(met), texts(other)) == (["hello", "good day"], ["see you"])
    assert unmet == longer == Answer((), "no human response to this context")
    assert [texts(found) for found in asked(human, ("hi",))] == [["hello"]]
    assert human.name == "human" and len(human.options["digest"]) == 12


def test_people_do_not_repeat_the_true_response(people: Path) -> None:
    human = load_responder(f"human:{people}#human")
    assert [texts(found) for found in asked(human, ("hi",), withheld="hello")] == [["good day"]]
    assert asked(human, ("bye",), withheld="see you") == [Answer((), "no other human response to this context")]


def test_the_last_turn_of_a_dialogue_is_a_human_response(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("hi\thow are you ?\tfine\n")
    human = load_responder(f"human:{tmp_path}/talk.txt")
    assert [texts(found) for found in asked(human, ("hi", "how are you ?"))] == [["fine"]]


def test_a_file_of_several_systems_is_refused(people: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        load_responder(f"human:{people}")
    assert str(caught.value) == (
        f"{people}: responses of several systems (hred, human). Name the one that is human: human:{people}#NAME"
    )
    with pytest.raises(DataError, match="no response of 'humans'. Give a file of human responses"):
        load_responder(f"human:{people}#humans")
    (tmp_path / "bare.jsonl").write_text('{"context": ["hi"]}\n')
    with pytest.raises(DataError, match="bare.jsonl: no response. Give a file of human responses"):
        load_responder(f"human:{tmp_path}/bare.jsonl")
    with pytest.raises(MissingAsset, match="nowhere.jsonl: "):
        load_responder("human:nowhere.jsonl")


# Commands


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., CommandResponder]:
    """Makes a responder of a program in Python, given the body of its loop over questions `q`."""

    def make(body: str, *, before: str = "", patience: float = 20.0) -> CommandResponder:
        path = tmp_path / "a bot.py"
        path.write_text(
            f"import json, os, sys, time\n{before}\nfor line in sys.stdin:\n    q = json.loads(line)\n    {body}\n"
        )
        return CommandResponder(f"'{sys.executable}' '{path}'", patience=patience)

    return make


def test_a_command_is_a_responder(command: Callable[..., CommandResponder]) -> None:
    responder = command(
        "print(json.dumps({'response': '%s %s %s %s' % (q['context'], q['seed'], q['count'], os.getpid())}))"
    )
    context = ("a\nb", "ü")
    first, second = (texts(found)[0] for found in asked(responder, context, (), count=2))
    pid = first.split()[-1]
    assert first == f"{list(context)} {request(context, 3).seed} 2 {pid}"
    assert second == f"[] {request((), 3).seed} 2 {pid}", "one process for both"
    assert texts(asked(responder, ("c",))[0])[0].split()[-1] == pid, "and for the next batch"
    assert responder.name.endswith("a bot.py'")


@pytest.mark.parametrize(
    ("said_", "expected"),
    [
        ("{'responses': ['x', 'y', 'x', 'z']}", Answer((Reply("x"), Reply("y")))),
        ("{'response': ''}", Answer((Reply(""),))),
        ("{'response': None, 'reason': 'too rude'}", Answer((), "too rude")),
        ("{'response': None}", Answer((), "the command has no reply")),
        ("{'responses': []}", Answer((), "the command has no reply")),
    ],
)
def test_what_a_command_may_answer(command: Callable[..., CommandResponder], said_: str, expected: Answer) -> None:
    assert asked(command(f"print(json.dumps({said_}))"), ("hi",), count=2) == [expected]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("print('Loading ...')", "'Loading ...'"),
        ("print()", "a blank line"),
        ("print('[1]')", "'[1]'"),
        ("print(json.dumps({'reply': 'x'}))", """'{"reply": "x"}'"""),
        ("print(json.dumps({'response': 5}))", """'{"response": 5}'"""),
        ("print(json.dumps({'responses': 'x'}) + 'y')", """'{"responses": "x"}y'"""),
        ("os.write(1, b'\\xff\\n')", "'\ufffd'"),
    ],
)
def test_a_line_that_is_no_answer_is_shown(command: Callable[..., CommandResponder], body: str, found: str) -> None:
    responder = command(body)
    assert said(DataError, responder) == (
        f'{responder.name}: answer 1: {found}, expected {{"response": "..."}} or {{"responses": ["...", "..."]}}. '
        "What is no answer belongs on standard error"
    )


def test_a_command_that_ends_is_told_with_its_last_words(command: Callable[..., CommandResponder]) -> None:
    responder = command("print('{\"response\": \"x\"}'); raise SystemExit('no more\\n')")
    assert said(DataError, responder, ("a",), ("b",)) == (
        f"{responder.name}: ended with exit code 1 after 1 answer; it said last: no more. "
        "It must go on until its standard input ends"
    )
    assert [texts(found) for found in asked(responder, ("c",))] == [["x"]], "it is started again"


def test_a_command_that_is_silent_is_stopped(command: Callable[..., CommandResponder]) -> None:
    responder = command("time.sleep(60)", patience=0.5)
    assert said(DataError, responder) == (
        f"{responder.name}: no answer in 0.5 s, after 0 answers. It must write and flush one line for each it reads"
    )


def test_commands_that_cannot_be_started_are_named() -> None:
    assert said(MissingAsset, CommandResponder("no-such-program --fast")) == (
        "no-such-program --fast: cannot be started (No such file or directory). "
        "Check the name; it is run without a shell, in the current folder"
    )
    with pytest.raises(UsageError, match="bot 'x: not a command \\(No closing quotation\\). Quote it as for a shell"):
        load_responder("command:bot 'x")
    with pytest.raises(UsageError, match="no command after command:. Write command:PROGRAM ARGUMENTS"):
        load_responder("command: ")


def test_no_shell_reads_a_command(tmp_path: Path, command: Callable[..., CommandResponder]) -> None:
    responder = command("print(json.dumps({'responses': sys.argv[1:]}))")
    both = CommandResponder(f"{responder.name} '$HOME' ; touch {tmp_path}/made")
    assert texts(asked(both, ("hi",), count=9)[0]) == ["$HOME", ";", "touch", f"{tmp_path}/made"]
    assert not (tmp_path / "made").exists()


# Endpoints


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv(KEY, raising=False)
    with serving() as server:
        yield server


def chat(endpoint: Endpoint, **options: Any) -> EndpointResponder:
    return EndpointResponder(endpoint.address, "tiny", **options)


def test_an_endpoint_is_a_responder(endpoint: Endpoint) -> None:
    endpoint.script = [completion(" fine, and you?\n")]
    responder = load_responder(f"openai:{endpoint.address}/#tiny", decoding=Decoding("beam", longest=12))
    assert asked(responder, ("hi", "hello", "how are you?")) == [Answer((Reply("fine, and you?"),))]
    ((path, headers, body),) = endpoint.heard
    assert path == "/v1/chat/completions" and headers["Content-Type"] == "application/json"
    assert "Authorization" not in headers
    assert body == {
        "model": "tiny",
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hello"},
            {"role": "user", "content": "how are you?"},
        ],
        "temperature": 0.0,
        "max_tokens": 12,
    }
    assert responder.name == "tiny"
    assert dict(responder.options) == {"endpoint": endpoint.address, "temperature": 0.0, "max_tokens": 12}


def test_sampling_sends_what_decides_it(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "secret")
    endpoint.script = [completion("a", "b", "a", None)]
    assert [texts(found) for found in asked(chat(endpoint, **SAMPLED), ("x", "y"), count=3)] == [["a", "b"]]
    ((_, headers, body),) = endpoint.heard
    assert headers["Authorization"] == "Bearer secret"
    assert [message["role"] for message in body.pop("messages")] == ["assistant", "user"]
    seed = request(("x", "y"), 3).seed % 2**31
    assert body == {"model": "tiny", "temperature": 0.5, "top_p": 0.9, "max_tokens": 20, "seed": seed, "n": 3}


def test_answers_come_in_the_order_of_the_requests(endpoint: Endpoint) -> None:
    endpoint.answering = lambda body: completion(body["messages"][-1]["content"] + "!")
    found = asked(chat(endpoint), *((str(place),) for place in range(20)))
    assert [texts(one) for one in found] == [[f"{place}!"] for place in range(20)]


def test_contexts_and_answers_without_text_have_a_reason(endpoint: Endpoint) -> None:
    endpoint.script = [completion(None)]
    assert asked(chat(endpoint), (), (" ",), ("hi",)) == [
        Answer((), "no context"),
        Answer((), "no context"),
        Answer((), "the endpoint has no reply"),
    ]
    assert len(endpoint.heard) == 1


def test_a_busy_endpoint_is_waited_for(endpoint: Endpoint) -> None:
    endpoint.script = [
        (429, {"Retry-After": "7"}, b""),
        (429, {"Retry-After": "9000"}, b""),
        (503, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, b"{}"),
        completion("at last"),
    ]
    pauses: list[float] = []
    assert [texts(found) for found in asked(chat(endpoint, pause=pauses.append), ("hi",))] == [["at last"]]
    assert pauses == [7.0, 60.0, 4.0]


def test_patience_ends(endpoint: Endpoint) -> None:
    endpoint.script = [(500, {}, b"<html>")]
    pauses: list[float] = []
    assert said(MissingAsset, chat(endpoint, pause=pauses.append)) == (
        f"{endpoint.address}: answered 500 (Internal Server Error). Look at the endpoint's own log"
    )
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0]


@pytest.mark.parametrize(
    ("code", "content", "message"),
    [
        (401, b'{"error": {"message": "no key"}}', f"401 (no key). Set the environment variable {KEY}"),
        (
            403,
            b'{"error": "not yours"}',
            f"403 (not yours). Set the environment variable {KEY} to a key that may use the model",
        ),
        (404, b"[]", "404 (Not Found). Check the address, which ends before /chat/completions, and the model"),
        (
            400,
            b'{"error": {"message": "max_tokens\\n too large"}}',
            "400 (max_tokens too large). Check what the model allows; --longest and --method decide what is asked",
        ),
    ],
)
def test_a_refusal_is_told_at_once(endpoint: Endpoint, code: int, content: bytes, message: str) -> None:
    endpoint.script = [(code, {}, content)]
    assert said(MissingAsset, chat(endpoint)) == f"{endpoint.address}: answered {message}"
    assert len(endpoint.heard) == 1


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'{"choices": [', "'{\"choices\": ['"),
        (b"", "nothing"),
        (b"{}", "'{}'"),
        (b"[1]", "'[1]'"),
        (b'{"choices": [{"text": "x"}]}', '\'{"choices": [{"text": "x"}]}\''),
    ],
)
def test_what_is_no_completion_is_shown(endpoint: Endpoint, content: bytes, found: str) -> None:
    endpoint.script = [(200, {}, content)]
    assert said(DataError, chat(endpoint)) == (
        f"{endpoint.address}: answered {found}, expected a chat completion. Is this an OpenAI-compatible endpoint?"
    )


def test_an_endpoint_out_of_reach_is_told(endpoint: Endpoint) -> None:
    with socket.socket() as silent:  # it holds its port and does not listen, so nobody else can answer there
        silent.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        assert said(MissingAsset, EndpointResponder(address, "tiny")) == (
            f"{address}: cannot be reached (Connection refused). Check the address; does the server run?"
        )
    released = threading.Event()
    endpoint.RequestHandlerClass = type("Slow", (Handler,), {"do_POST": lambda _: released.wait(5)})
    message = said(MissingAsset, chat(endpoint, patience=0.2))
    released.set()
    assert message == f"{endpoint.address}: no answer in 0.2 s. Is the model still loading?"


def test_the_key_does_not_follow_a_redirection(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "secret")
    heard: list[dict[str, str]] = []

    def note(handler: Handler) -> None:
        heard.append(dict(handler.headers))
        handler.answer(*completion("from elsewhere"))

    endpoint.RequestHandlerClass = type("Elsewhere", (Handler,), {"do_GET": note})
    endpoint.script = [(302, {"Location": f"http://localhost:{endpoint.server_port}/other"}, b"")]
    asked(chat(endpoint), ("hi",))
    assert len(heard) == 1 and "Authorization" not in heard[0]


def test_several_replies_need_sampling(endpoint: Endpoint) -> None:
    assert said(UsageError, chat(endpoint), count=2) == (
        "tiny: an endpoint has several replies only where it samples. Add --method sample"
    )


@pytest.mark.parametrize(
    "rest", ["", "http://here/v1", "http://#m", "here/v1#m", "file:///etc#m", "http://me:pw@here/v1#m", "http://[x#m"]
)
def test_what_is_no_endpoint_is_refused(rest: str) -> None:
    with pytest.raises(UsageError) as caught:
        RESPONDERS["openai"].load(rest, GREEDY)
    assert str(caught.value) == (
        f"{rest}: not an endpoint. Write openai:URL#MODEL, such as openai:http://localhost:8000/v1#llama3"
    )
