"""The image, as far as it can be tried without an engine: what its file says, and the service without torch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PROJECT
from servers import serving

FILE = (PROJECT / "Dockerfile").read_text(encoding="utf-8")
FINAL = FILE.rpartition("\nFROM ")[2]

WITHOUT_TORCH = """
import sys

class Refusing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "torch":
            raise ImportError("torch is not installed")

sys.meta_path.insert(0, Refusing())
"""


def words(instruction: str) -> list[str]:
    """The words of an instruction in its form of a list."""
    (found,) = re.findall(rf"^{instruction}.*?(\[.*?\])$", FINAL.replace("\\\n", ""), re.MULTILINE)
    said = json.loads(found)
    assert isinstance(said, list)
    return said


def test_all_that_the_build_takes_is_let_in() -> None:
    ignored = (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    taken = [name for line in re.findall(r"^COPY (?!--)(.*) \S+$", FILE, re.MULTILINE) for name in line.split()]
    assert taken == ["pyproject.toml", "README.md", "LICENSE", "src"]
    assert {f"!{name}" for name in taken} < set(ignored) and ignored[0] == "*"
    assert all((PROJECT / name).exists() for name in taken)


def test_it_runs_as_nobody_in_particular_and_asks_for_a_token(tmp_path: Path) -> None:
    assert re.search(r"^USER rejoinder$", FINAL, re.MULTILINE) and "torch" not in FINAL
    program, *call = words("ENTRYPOINT")
    done = subprocess.run([sys.executable, "-m", program, *call], capture_output=True, text=True, env={}, cwd=tmp_path)
    assert done.returncode == 2 and "no token is set" in done.stderr


@pytest.mark.slow
def test_the_service_is_well_without_torch(tmp_path: Path) -> None:
    """The call of the image and its health check, with the judge in the box, where torch cannot be imported."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_TORCH)
    host = words("ENTRYPOINT")[2:]
    env = {"REJOINDER_TOKEN": "of the test's own"}
    with serving(tmp_path, *host, scorers=(), patience=20, env=env) as server:
        line = {"context": ["Do you like films?"], "response": "Yes, old ones."}
        status, found = server.ask("POST", "/v1/score", line, Authorization="Bearer of the test's own")
        assert status == 200 and 1 < found["results"][0]["scores"]["rejoinder"] < 5.5
        assert server.ask("POST", "/v1/score", line)[0] == 401
        program, *check = words("HEALTHCHECK")
        assert program == "python"
        asked = [word.replace("8000", str(server.port)) for word in check]
        assert subprocess.run([sys.executable, *asked], check=False).returncode == 0
    assert subprocess.run([sys.executable, *asked], capture_output=True, check=False).returncode == 1
