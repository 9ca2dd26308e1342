"""Products of matrices run on one thread where their last bits count, and on as many as before afterwards."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from rejoinder.encoders.threads import _libraries, one_thread


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
