"""Products of matrices run on one thread where their last bits count, and on as many as before afterwards."""

from __future__ import annotations

import threading

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from rejoinder.models.threads import _libraries, one_thread


def threads() -> list[int]:
    assert np.ones(2) @ np.ones(2) == 2
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_products_run_on_one_thread() -> None:
    _libraries.cache_clear()  # what other tests have loaded since it looked is no concern of numpy's products
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with one_thread(), one_thread():
            assert set(threads()) == {1}
        assert threads() == before


def test_every_thread_is_heard() -> None:
    """Newer versions of threadpoolctl hear only the thread that asked first, unless they are told otherwise."""
    _libraries.cache_clear()

    def inside() -> None:
        with one_thread():
            found.append(threads())

    found: list[list[int]] = []
    with threadpool_limits(limits=2, user_api="blas"):
        inside()
        other = threading.Thread(target=inside)
        other.start()
        other.join()
    assert [set(own) for own in found] == [{1}, {1}]
