"""The service as a process: how it ends, and what clients that misbehave can do to it."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from servers import PATIENCE, SCORER, Server, serving

pytestmark = pytest.mark.slow
HEAD = b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\n"
STREAM = b"POST /v1/score/stream HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server
        assert server.ask("GET", "/health")[0] == 200, "whatever was done to it, it is well"
        code, said = server.end()
        assert (code, said) == (130, "rejoinder: interrupted; every request that was taken has its answer\n")


def test_clients_at_once_get_their_own_answers(server: Server) -> None:
    def client(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        for turn in range(10):
            lines = [{"id": f"{number}.{turn}.{n}", "response": "x" * (number + turn + n)} for n in range(1 + turn % 3)]
            connection.request("POST", "/v1/score", json.dumps(lines))
            found = json.loads(connection.getresponse().read())["results"]
            assert [one["id"] for one in found] == [line["id"] for line in lines]
            assert [one["scores"][SCORER] for one in found] == [len(line["response"]) for line in lines]
        connection.close()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(client, range(16)))


def test_a_stream_answers_while_lines_still_come(server: Server) -> None:
    with server.connected() as connection, connection.makefile("rb") as answers:
        connection.sendall(STREAM)
        for number in range(3):
            line = json.dumps({"id": f"n{number}", "response": "a"}).encode() + b"\n"
            connection.sendall(b"%x\r\n%s\r\n" % (len(line), line))
            while not (said := answers.readline()).startswith(b'{"id"'):
                assert said, "the connection was closed"
            assert json.loads(said)["id"] == f"n{number}"
        connection.sendall(b"0\r\n\r\n")


def test_a_body_that_comes_too_slowly_is_refused(server: Server) -> None:
    with server.connected() as connection:
        connection.sendall(HEAD + b"Content-Length: 1000\r\n\r\n{")
        begun = time.monotonic()
        said = http.client.HTTPResponse(connection)  # the head and the body may come apart
        said.begin()
        assert said.status == 408 and b"the body did not come within 2 seconds" in said.read()
        assert PATIENCE - 0.5 < time.monotonic() - begun < PATIENCE + 5


def test_a_stream_that_stops_is_told(server: Server) -> None:
    with server.connected() as connection, connection.makefile("rb") as answers:
        connection.sendall(STREAM + b"1\r\n{\r\n")
        assert b"no more came within 2 seconds" in answers.read()


@pytest.mark.parametrize("sent", [b"", HEAD, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" + HEAD])
def test_connections_on_which_nothing_comes_are_closed(server: Server, sent: bytes) -> None:
    """Half-open ones, those with half a head, and those with half a second head; they are in nobody's way meanwhile."""
    held = [server.connected() for _ in range(300)]
    for one in held:
        one.sendall(sent)
    begun = time.monotonic()
    assert server.dawdle(0)[0] == 200
    assert time.monotonic() - begun < PATIENCE
    for one in held:
        while one.recv(4096):
            pass
        one.close()
    assert time.monotonic() - begun < PATIENCE + 10


def test_a_client_that_does_not_read_is_cut_off(server: Server) -> None:
    line = json.dumps({"response": "x" * 90_000}).encode() + b"\n"
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE + 20)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(STREAM)
        with pytest.raises(OSError, match="reset|[Bb]roken pipe"):
            for _ in range(1_200):
                connection.sendall(b"%x\r\n%s\r\n" % (len(line), line))
    assert server.dawdle(0)[0] == 200


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_100_megabytes_is_not_taken(server: Server, chunked: bool) -> None:
    before = server.memory()
    part = b"x" * 1_000_000
    with server.connected() as connection:
        how = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 100000000"
        connection.sendall(HEAD + how + b"\r\n\r\n")
        try:
            for _ in range(100):
                connection.sendall(b"%x\r\n%s\r\n" % (len(part), part) if chunked else part)
            said = connection.recv(4096)
        except OSError:
            said = b""  # it was told and cut off; what was told is lost where more was sent than was read
        assert not said or b" 413 " in said
    assert server.memory() - before < 30
    status, told = server.ask("POST", "/v1/score", b"x" * 1_200_000)
    assert status == 413 and told["error"]["message"].startswith("the body has more than 1,048,576 bytes")


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\xff" * 5000 + b"\r\n\r\n"]
)
def test_what_is_no_http_is_answered_and_closed(server: Server, sent: bytes) -> None:
    with server.connected() as connection:
        connection.sendall(sent)
        said = connection.recv(65536)
        assert b" 400 " in said


def test_what_was_taken_is_finished_after_sigterm(tmp_path: Path) -> None:
    with serving(tmp_path) as server, ThreadPoolExecutor(2) as pool:
        idle = server.connected()
        taken = pool.submit(server.dawdle, 1.0)
        time.sleep(0.5)
        ended = pool.submit(server.end)
        time.sleep(0.3)
        with pytest.raises(OSError, match="refused|reset"):
            server.ask("GET", "/health")
        status, found = taken.result()
        assert status == 200 and found["results"][0]["scores"] == {SCORER: 3.0}
        assert ended.result()[0] == 130
        idle.close()


def test_a_second_interruption_ends_it_at_once(tmp_path: Path) -> None:
    with serving(tmp_path, patience=60) as server, ThreadPoolExecutor(1) as pool:
        taken = pool.submit(server.dawdle, 60)
        time.sleep(0.5)
        server.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert server.process.poll() is None
        assert server.end(signal.SIGINT, within=30)[0] == 130, "long before the minute is over"
        with suppress(OSError, http.client.HTTPException):  # most often there is none
            assert taken.result()[0] == 500, "not an answer"


def test_after_a_kill_clients_know_and_it_can_begin_anew(tmp_path: Path) -> None:
    with serving(tmp_path) as server, ThreadPoolExecutor(1) as pool:
        taken = pool.submit(server.dawdle, 1.5)
        time.sleep(0.5)
        assert server.end(signal.SIGKILL)[0] == -signal.SIGKILL
        with pytest.raises((OSError, http.client.HTTPException)):
            taken.result()
    with serving(tmp_path, "--port", str(server.port)) as again:
        assert again.port == server.port and again.dawdle(0)[0] == 200


def test_the_token_of_the_environment_is_asked_for_and_texts_are_written_nowhere(tmp_path: Path) -> None:
    token = "a token of some length"
    with serving(tmp_path, env={"REJOINDER_TOKEN": token}) as server:
        line = {"response": "SECRET WORDS", "seconds": "boom"}
        assert server.ask("POST", "/v1/score", line)[0] == 401
        _, told = server.ask("POST", "/v1/score", line, Authorization=f"Bearer {token}")
        assert "dawdle" in json.dumps(told) and "SECRET" not in json.dumps(told), "what failed, and not on what"
        assert server.ask("POST", "/v1/score", b'{"SECRET', Authorization=f"Bearer {token}")[0] == 422
        command = Path(f"/proc/{server.process.pid}/cmdline").read_text()
        assert token not in command
        _, said = server.end()
        assert "SECRET" not in said and token not in said


def test_memory_does_not_grow_with_requests(server: Server) -> None:
    def load(number: int) -> None:
        lines = [{"response": f"reply {number} {n}", "id": f"{number}.{n}", f"key{number}.{n}": n} for n in range(50)]
        assert server.ask("POST", "/v1/score", lines)[0] == 200

    sizes = []
    for batch in range(3):
        for number in range(40):
            load(1000 * batch + number)
        sizes.append(server.memory())
    assert all(after - before <= 4 for before, after in list(pairwise(sizes))[1:]), sizes
