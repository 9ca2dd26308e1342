"""A cluster on this machine keeps to it: watched by strace, after a call to another machine's cluster has failed."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rejoinder.errors import RejoinderError
from rejoinder.scoring.one_machine import give_back, one_machine, own_token, require_loopback

STRACE = shutil.which("strace")
FOLLOWING = ("-f", "--seccomp-bpf")  # by the second, calls that are not watched cost nothing
# What a program does that was refused by one cluster and then starts its own, until it is told to end.
PROGRAM = """
import os, sys
from rejoinder.errors import MissingAsset
from rejoinder.example import Example
from rejoinder.scoring.on_ray import on_ray
from rejoinder.scoring.parts import Asked, elsewhere
from rejoinder.scoring.scoring import Tally, score_stream

before = dict(os.environ)

def changed():
    return [name for name in {*before, *os.environ} if before.get(name) != os.environ.get(name)]

try:
    with on_ray("127.0.0.1:1"):
        raise SystemExit("something answers there")
except MissingAsset:
    pass
asked = Asked(("python:seen:score",))
with on_ray(workers=1) as workers:
    scorers = asked.load()
    given = [Example(("hi",), "hello")]
    scoring = elsewhere(workers, asked, scorers)
    list(score_stream(given, {name: Tally(one) for name, one in scorers.items()}, scoring=scoring))
    print(*sorted(changed()), flush=True)
    sys.stdin.read()
with on_ray(workers=1):
    print("another")
print(*sorted(changed()))
"""
# A scorer that writes down what its process would ask other machines with.
SEEN = """
import json, os, pathlib

def score(examples):
    pathlib.Path("seen.json").write_text(json.dumps({k: v for k, v in os.environ.items() if "proxy" in k.lower()}))
    return [1] * len(examples)
"""
# What people have who work at a company, or in a cloud.
PROXIES = {"http_proxy": "http://10.0.0.1:3128", "NO_PROXY": "169.254.169.254,metadata.google.internal"}
AT = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
LISTENING = re.compile(r"listen\(\d+<TCP(?:v6)?:\[(.+):\d+\]>")
TO_NOWHERE = "htons(9), "


def is_loopback(address: str) -> bool:
    found = ipaddress.ip_address(address.strip("[]"))
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


def watched(place: Path) -> tuple[str, str, str]:
    """What the program says while its cluster runs, what afterwards, and the calls to the network that are made.

    It is told to end when Ray has asked where it asks, which it does some seconds after all else.
    """
    assert STRACE is not None
    calls = place / "calls"
    watching = [
        STRACE,
        *FOLLOWING,
        "-qq",
        "-yy",
        "-e",
        "trace=connect,listen,sendto,sendmsg,sendmmsg",
        "-o",
        str(calls),
    ]
    environment = {"PATH": os.environ["PATH"], "HOME": str(place / "home"), "TMPDIR": str(place / "tmp"), **PROXIES}
    with subprocess.Popen(
        [*watching, sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=place,
        env={**environment, "PYTHONPATH": str(place)},
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        said = process.stdout.readline()
        until = time.monotonic() + 60
        while calls.read_text().count(TO_NOWHERE) < 3 and time.monotonic() < until:  # Azure's, Google's, Amazon's
            time.sleep(0.1)
        process.stdin.close()
        later = process.stdout.read()
        assert process.wait(60) == 0
    return said, later, calls.read_text()


@pytest.mark.slow
def test_nothing_is_asked_of_other_machines_and_none_can_ask(tmp_path: Path) -> None:
    if find_spec("ray") is None or STRACE is None:
        pytest.skip("needs the extra ray, and strace")
    if subprocess.run([STRACE, *FOLLOWING, "-o", os.devnull, "true"], capture_output=True, check=False).returncode:
        pytest.skip("strace may not watch processes here")
    (tmp_path / "seen.py").write_text(SEEN)
    for folder in ("home", "tmp"):
        (tmp_path / folder).mkdir()
    said, later, calls = watched(tmp_path)
    addresses = {one or other for one, other in AT.findall(calls)}
    assert [one for one in sorted(addresses) if not is_loopback(one)] == []
    assert calls.count(TO_NOWHERE) >= 3, "Ray asks nobody what machine this is: the proxies have become needless"
    listening = LISTENING.findall(calls)
    assert len(listening) >= 5, "Ray's processes listen to each other, or nothing was seen"
    assert [one for one in listening if not is_loopback(one)] == []
    assert [name for name in said.split() if "proxy" in name.lower() or name.endswith("OSX_CLUSTER")] == []
    assert later.startswith("another\n") and "AUTH" not in later, "each cluster has its own token"
    assert [*(tmp_path / "home").iterdir(), *(tmp_path / "tmp").iterdir()] == []
    assert json.loads((tmp_path / "seen.json").read_text()) == PROXIES, "a scorer asks as it would without Ray"


def library(address: str = "127.0.0.1") -> Any:
    """As much of Ray as is asked."""
    constants = SimpleNamespace(ENABLE_RAY_CLUSTER=True)
    util = SimpleNamespace(get_node_ip_address=lambda: address)
    private = SimpleNamespace(ray_constants=constants)
    return SimpleNamespace(_private=private, _raylet=SimpleNamespace(), util=util, __version__="9.9")


def test_the_environment_is_another_for_the_block_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in PROXIES.items():
        monkeypatch.setenv(name, value)
    before, ray = dict(os.environ), library()
    with pytest.raises(KeyError), one_machine(ray):
        assert not ray._private.ray_constants.ENABLE_RAY_CLUSTER
        assert os.environ["http_proxy"] == os.environ["HTTP_PROXY"] == "http://127.0.0.1:9"
        assert "169.254" not in os.environ["no_proxy"] + os.environ["NO_PROXY"]
        inside = dict(os.environ)
        raise KeyError
    assert ray._private.ray_constants.ENABLE_RAY_CLUSTER
    assert dict(os.environ) == before

    for name, value in inside.items():  # as a process is that Ray starts
        monkeypatch.setenv(name, value)
    give_back()
    assert {name: value for name, value in os.environ.items() if "proxy" in name.lower()} == {
        name: value for name, value in before.items() if "proxy" in name.lower()
    }
    after = dict(os.environ)
    give_back()
    assert dict(os.environ) == after


def test_a_token_is_there_for_the_block_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "mine")
    ray = library()
    read: list[str | None] = []
    loader = SimpleNamespace(reset_cache=lambda: read.append(os.environ["RAY_AUTH_TOKEN"]))
    ray._raylet.AuthenticationTokenLoader = SimpleNamespace(instance=lambda: loader)
    ray._raylet.Config = SimpleNamespace(initialize=lambda _: read.append(os.environ.get("RAY_AUTH_MODE")))
    with pytest.raises(KeyError), own_token(ray):
        token = os.environ["RAY_AUTH_TOKEN"]
        os.environ["RAY_AUTH_MODE"] = "token"  # as Ray does
        raise KeyError
    assert read == [token, None, "mine", None]
    assert len(token) == 64
    with own_token(library()):  # one of before there were tokens
        assert os.environ["RAY_AUTH_TOKEN"] not in {token, "mine"}
    assert (os.environ["RAY_AUTH_TOKEN"], os.environ.get("RAY_AUTH_MODE")) == ("mine", None)


def test_a_cluster_that_others_could_reach_is_refused() -> None:
    require_loopback(library("127.0.0.1"))
    require_loopback(library("::1"))
    with pytest.raises(RejoinderError, match=r"Ray 9.9 listens at 10\.0\.0\.7, where other machines reach it"):
        require_loopback(library("10.0.0.7"))
