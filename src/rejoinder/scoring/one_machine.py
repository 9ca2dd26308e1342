"""A Ray cluster of one machine keeps to it: it listens at the loopback address, asks no other, and leaves nothing.

Ray has one process that asks the addresses where clouds tell a machine what it is (169.254.169.254 and the name
metadata.google.internal), whether or not its report of its use is on, and no switch for that. What it asks with goes
through a proxy where the environment names one, so Ray's processes get one that nobody is behind. The processes that
score get back what was there: a scorer may be a program that asks something of its own.
"""

from __future__ import annotations

import ipaddress
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rejoinder.errors import RejoinderError

NOWHERE = "http://127.0.0.1:9"  # nothing listens there: whoever asks is refused at once
_OWN = "127.0.0.1,localhost,::1"  # what Ray's processes ask of each other needs no proxy
_PROXIES = {"http_proxy": NOWHERE, "https_proxy": NOWHERE, "all_proxy": NOWHERE, "no_proxy": _OWN}
_TOKEN, _MODE = "RAY_AUTH_TOKEN", "RAY_AUTH_MODE"
_BEFORE = "REJOINDER_BEFORE_RAY"  # carries to the processes that score what the proxies were
# The first is Ray's own word for "one machine only": all that it starts then listens on the loopback address. By the
# second, workers here stand behind nobody: Ray gives way to whatever else runs, which on a shared machine stops them.
_HERE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_worker_niceness": "0"}


@contextmanager
def one_machine(ray: Any) -> Iterator[None]:
    """What Ray starts within the block keeps to this machine; the environment is as it was afterwards.

    The environment is that of the whole process: a thread that asks something through a proxy meanwhile is refused.

    Args:
        ray: the library.
    """
    proxies = {each: value for name, value in _PROXIES.items() for each in (name, name.upper())}
    before = {name: os.environ.get(name) for name in proxies}
    constants = ray._private.ray_constants
    among_others = constants.ENABLE_RAY_CLUSTER  # Ray read `_HERE` as it was imported, which may be long ago
    constants.ENABLE_RAY_CLUSTER = False
    try:
        with _environment({**_HERE, **proxies, _BEFORE: json.dumps(before)}):
            yield
    finally:
        constants.ENABLE_RAY_CLUSTER = among_others


@contextmanager
def own_token(ray: Any) -> Iterator[None]:
    """A cluster that starts within the block is entered by a token that is gone afterwards.

    Ray else makes one that it keeps in the home folder. It has to hold for as long as the cluster does.

    Args:
        ray: the library.
    """
    try:
        with _environment({_TOKEN: secrets.token_hex(32), _MODE: os.environ.get(_MODE)}):
            _read_token_again(ray)
            yield
    finally:
        _read_token_again(ray)


def _read_token_again(ray: Any) -> None:
    """Have Ray forget the token that it has read, and whether one is asked for; an older Ray knows none."""
    if loader := getattr(ray._raylet, "AuthenticationTokenLoader", None):
        loader.instance().reset_cache()
        ray._raylet.Config.initialize("")


def require_loopback(ray: Any) -> None:
    """Raise where other machines can reach the cluster that was started, as a Ray to come may bring about.

    Raises:
        RejoinderError: they can.
    """
    address = ray.util.get_node_ip_address()
    if not ipaddress.ip_address(address).is_loopback:
        raise RejoinderError(
            f"Ray {ray.__version__} listens at {address}, where other machines reach it. Install ray==2.60"
        )


def give_back() -> None:
    """In a process that Ray started within `one_machine`, put the proxies back that were there; else do nothing."""
    if before := os.environ.pop(_BEFORE, None):
        _put(json.loads(before))


@contextmanager
def _environment(changes: Mapping[str, str | None]) -> Iterator[None]:
    """Variables of the environment for the block; None takes one away."""
    before = {name: os.environ.get(name) for name in changes}
    _put(changes)
    try:
        yield
    finally:
        _put(before)


def _put(changes: Mapping[str, str | None]) -> None:
    """Set variables of the environment, and take those away that are None."""
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
