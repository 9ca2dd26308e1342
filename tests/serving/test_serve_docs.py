"""Every call of curl in docs/serve.md is answered by the service as it says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PROJECT
from servers import serving
from test_docs import blocks, lay_out

DOCUMENT = PROJECT / "docs" / "serve.md"
TOKEN = "as long as it has to be"


@pytest.mark.slow
def test_the_calls_of_the_document_are_answered(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    lay_out(DOCUMENT, tmp_path)
    calls = [line for block in blocks(DOCUMENT, "sh") for line in block.splitlines()]
    assert len(calls) >= 8 and all(call.startswith("curl ") for call in calls)
    said = {}
    with serving(tmp_path, scorers=("rejoinder", "length"), patience=60) as server:
        for call in calls:
            typed = call.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}").replace("curl", "curl -sS --fail")
            done = subprocess.run(
                ["bash", "-c", typed], cwd=tmp_path, capture_output=True, text=True, env={"REJOINDER_TOKEN": TOKEN}
            )
            assert done.returncode == 0 and done.stdout, f"{call}\n{done.stderr}"
            said[re.findall(r":8000(/[a-z0-9/]+)", call)[0]] = done.stdout
    found = json.loads(said["/v1/score"])["results"]
    assert [one["id"] for one in found] == ["a1", "b1"] and set(found[0]["scores"]) == {"rejoinder", "length"}
    assert set(found[0]["explained"]) == {"rejoinder"}
    assert [json.loads(line)["scores"]["length"] for line in said["/v1/score/stream"].splitlines()] == [6, 3]
    for path in ("/v1/compare", "/v1/audit"):
        assert json.loads(said[path])["answer"]
    assert re.search(
        r'^rejoinder_requests_total\{path="/v1/score",status="200"\} 2\.0$', said["/metrics"], re.MULTILINE
    )
