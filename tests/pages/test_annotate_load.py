"""The load benchmark, smaller: many raters at once, a kill in the middle, and no answer lost or doubled."""

from __future__ import annotations

import random
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from conftest import PROJECT
from rejoinder.annotation.study import annotate
from studies import replies

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def load() -> Any:
    spec = spec_from_file_location("annotate_load", PROJECT / "benchmarks" / "annotate_load.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look for it there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kill", [False, True], ids=["undisturbed", "killed in the middle"])
def test_no_answer_is_lost_or_doubled(load: Any, tmp_path: Path, kill: bool) -> None:
    annotate(replies(3, 4), tmp_path / "study", raters=20).close()
    rng = random.Random(1)
    log, _ = load.run(tmp_path / "study", lambda: rng.uniform(0, 0.2), kill=kill)
    assert load.check(tmp_path / "study", log) == 20 * 13
    assert (log.retries > 0) is kill


def test_a_lost_answer_is_found(load: Any, tmp_path: Path) -> None:
    annotate(replies(1, 1), tmp_path / "study", raters=1).close()
    log = load.run(tmp_path / "study", lambda: 0.0, kill=False)[0]
    assert load.check(tmp_path / "study", log) == 2
    (key, value), *_ = log.accepted.items()
    with pytest.raises(SystemExit, match="1 answers were accepted and are not there"):
        load.check(tmp_path / "study", load.Log(accepted={key: "5" if value != "5" else "1"}))
