"""What every responder must pass: an answer depends on its own request alone, and survives being moved."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

import rejoinder
from conftest import Run
from every import ODD_TEXTS, made
from rejoinder.example import Example
from rejoinder.models import RESPONDERS, responder_kinds
from rejoinder.models.decoding import Decoding
from rejoinder.responder import Answer, Request, Responder, answer, request, signature_of

CONTEXTS = [
    ("hello you",),
    ("hello you", "the cat sat"),
    ("hello bye",),
    ("thanks", "hello", "the dog sat"),
    ("the cat",),
]
# Short, so that models that write are done soon; the same in the command.
DECODING = Decoding(longest=6, beam=3)
FLAGS = ("--longest", 6, "--beam", 3)
# Says back what it was told; as many times as it is asked for.
BOT = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    last = (asked["context"] or ["nothing"])[-1]
    print(json.dumps({"responses": [f"{last} {number}" for number in range(asked["count"])]}))
"""


class Echo(BaseHTTPRequestHandler):
    """An endpoint that says back the last turn."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        last = asked["messages"][-1]["content"]
        said = [
            {"message": {"role": "assistant", "content": f"{last} {number}"}} for number in range(asked.get("n", 1))
        ]
        body = json.dumps({"choices": said}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Loaded(NamedTuple):
    """A responder, and what it is called by."""

    place: str
    responder: Responder

    @property
    def most(self) -> int:
        """Replies to ask for: an endpoint has several only where it samples, and then others each time."""
        return 1 if self.place.startswith("openai:") else 3


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"openai:http://127.0.0.1:{server.server_port}/v1#echo"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module", params=[*RESPONDERS, *responder_kinds()])
def loaded(request: pytest.FixtureRequest, endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = tmp_path_factory.mktemp("responder")
    if request.param == "human":
        said = [Example(context, f"{context[-1]} too", id=str(row)) for row, context in enumerate(CONTEXTS)]
        rejoinder.write(said, folder / "people.jsonl")
        place = f"human:{folder / 'people.jsonl'}"
    elif request.param == "command":
        (folder / "bot.py").write_text(BOT, encoding="utf-8")
        place = f"command:{sys.executable} {folder / 'bot.py'}"
    else:
        place = endpoint if request.param == "openai" else str(made(request.param, folder / request.param))
    return Loaded(place, rejoinder.load_responder(place, decoding=DECODING))


def asked(responder: Responder, requests: Sequence[Request], count: int = 1, batch_size: int = 64) -> list[Answer]:
    return list(answer(responder, requests, count=count, batch_size=batch_size))


def requests() -> list[Request]:
    return [request(context, 5) for context in CONTEXTS]


def same(found: Sequence[Answer], expected: Sequence[Answer]) -> None:
    """The same texts in the same order; what networks compute in single precision may differ in its last digits."""
    for one, other in zip(found, expected, strict=True):
        assert [reply.text for reply in one.replies] == [reply.text for reply in other.replies]
        assert one.reason == other.reason
        for ours, theirs in zip(one.replies, other.replies, strict=True):
            assert ours.score == (None if theirs.score is None else pytest.approx(theirs.score, abs=1e-4))


def test_the_order_does_not_matter(loaded: Loaded) -> None:
    given = requests()
    same(asked(loaded.responder, given[::-1])[::-1], asked(loaded.responder, given))


@pytest.mark.parametrize("size", [1, 2])
def test_the_batch_does_not_matter(loaded: Loaded, size: int) -> None:
    same(asked(loaded.responder, requests(), batch_size=size), asked(loaded.responder, requests()))


def test_asking_again_gives_the_same(loaded: Loaded) -> None:
    one, other = (asked(loaded.responder, requests(), loaded.most) for _ in range(2))
    assert one == other


def test_there_are_answers(loaded: Loaded) -> None:
    """Retrieval by words has none to a context that shares none with what it chooses from."""
    found = [one for one in asked(loaded.responder, requests()) if one.replies]
    assert len(found) > 1 and all(one.replies[0].text.strip() for one in found)


def test_several_replies_differ_and_the_best_comes_first(loaded: Loaded) -> None:
    for found in asked(loaded.responder, requests(), loaded.most):
        texts = [reply.text for reply in found.replies]
        assert bool(texts) != bool(found.reason) and len(texts) == len(set(texts)) <= loaded.most
        scores = [reply.score for reply in found.replies if reply.score is not None]
        assert scores == sorted(scores, reverse=True) and len(scores) in (0, len(texts))


def test_odd_contexts_have_an_answer_or_a_reason(loaded: Loaded) -> None:
    contexts = [(), *((text,) for text in ODD_TEXTS), *(("hello", text) for text in ODD_TEXTS)]
    for found in asked(loaded.responder, [request(context, 5) for context in contexts]):
        assert bool(found.replies) != bool(found.reason), found
        assert "\n" not in found.reason


def test_odd_contexts_do_not_change_others(loaded: Loaded) -> None:
    odd = [request((text,), 5) for text in ODD_TEXTS]
    same(asked(loaded.responder, [*odd, *requests()])[len(odd) :], asked(loaded.responder, requests()))


def test_loaded_again_from_elsewhere_it_says_the_same(loaded: Loaded, tmp_path: Path) -> None:
    place = loaded.place
    if Path(place).is_dir():
        place = str(shutil.copytree(place, tmp_path / "moved"))
    again = rejoinder.load_responder(place, decoding=DECODING)
    assert asked(again, requests()) == asked(loaded.responder, requests())
    assert signature_of(again) == signature_of(loaded.responder)
    assert str(tmp_path) not in str(signature_of(again))


def test_what_decides_the_replies_is_told(loaded: Loaded) -> None:
    signature = signature_of(loaded.responder)
    assert str(signature).startswith(f"responder:{loaded.responder.name}|") and json.dumps(dict(signature.fields))
    assert loaded.responder.options


def test_the_command_gives_what_python_gives(loaded: Loaded, run: Run, tmp_path: Path) -> None:
    examples = [Example(context, "", id=str(row)) for row, context in enumerate(CONTEXTS)]
    rejoinder.write(examples, tmp_path / "in.jsonl")
    done = run("respond", tmp_path / "in.jsonl", "-r", loaded.place, "--count", loaded.most, "--seed", 7, *FLAGS)
    assert done.code == 0, done.err
    found = rejoinder.respond(examples, loaded.place, decoding=DECODING, count=loaded.most, seed=7)
    assert done.records == [json.loads(json.dumps(line)) for line in found]
    tally = found.tallies[loaded.responder.name]
    assert tally.answered + tally.reasons.total() == len(CONTEXTS)
    assert [line["response"] for line in done.records] == [
        line["response"] for line in rejoinder.respond(CONTEXTS, loaded.responder, count=loaded.most, seed=7)
    ]


def test_selftalk_by_command_and_by_python_is_the_same(loaded: Loaded, run: Run, tmp_path: Path) -> None:
    examples = [Example(context, "", id=str(row)) for row, context in enumerate(CONTEXTS)]
    rejoinder.write(examples, tmp_path / "in.jsonl")
    out = tmp_path / "talk"
    done = run("selftalk", tmp_path / "in.jsonl", "-r", loaded.place, "--contexts", 3, "--add", 2, *FLAGS, "-o", out)
    assert done.code == 0, done.err
    talks = list(rejoinder.selftalk(examples, loaded.place, count=3, turns=2, decoding=DECODING))
    lines = {name: [json.loads(line) for line in (out / name).read_text().splitlines()] for name in LINES}
    assert lines["dialogues.jsonl"] == [talk.dialogue for talk in talks]
    assert lines["turns.jsonl"] == [turn for talk in talks for turn in talk.turns]


LINES = ("dialogues.jsonl", "turns.jsonl")
