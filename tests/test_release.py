"""What may go out as a release, and what may not."""

from __future__ import annotations

import gzip
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import contents
import pytest

from conftest import PROJECT

METADATA = b"Metadata-Version: 2.4\nName: rejoinder\nVersion: 0.1.0\nRequires-Dist: numpy>=1.26\n\nWords.\n"
WHEEL = {
    "rejoinder/__init__.py": b"",
    "rejoinder/py.typed": b"",
    "rejoinder/assets/ATTRIBUTION.md": b"Where it comes from",
    "rejoinder/assets/conture.jsonl.gz": gzip.compress(b"{}"),
    "rejoinder/assets/judge/config.json": b"{}",
    "rejoinder/assets/plus/config.json": b"{}",
    "rejoinder/assets/domain.json": b"{}",
    "rejoinder/assets/form.json": b"{}",
    "rejoinder/text/detect.toml": b"",
    "rejoinder-0.1.0.dist-info/METADATA": METADATA,
    "rejoinder-0.1.0.dist-info/licenses/LICENSE": b"Apache",
}
SDIST = {f"src/{name}": content for name, content in WHEEL.items() if name.startswith("rejoinder/")}


def test_what_is_whole_may_go_out() -> None:
    assert contents.faults(WHEEL, SDIST, 10**6) == []
    assert contents.metadata_faults(WHEEL, "# Changelog\n\n## 0.1.0, unreleased\n\n## 0.0.9\n") == []
    assert contents.sizes(WHEEL)["samples"] == (1, len(WHEEL["rejoinder/assets/conture.jsonl.gz"]))


@pytest.mark.parametrize(
    ("added", "fault"),
    [
        ({"rejoinder/assets/corpus.jsonl": b"{}"}, "rejoinder/assets/corpus.jsonl: belongs to no part of the wheel"),
        ({"tests/test_x.py": b""}, "tests/test_x.py: belongs to no part of the wheel"),
        ({"rejoinder/new.py": b""}, "rejoinder/new.py: the source distribution lacks it"),
        ({"rejoinder/__init__.py": b"# /home/ann/x"}, "names a place of one machine, /home/ann"),
        (
            {"rejoinder/assets/conture.jsonl.gz": gzip.compress(b"/Users/ann/chats.jsonl")},
            "rejoinder/assets/conture.jsonl.gz: names a place of one machine, /Users/ann",
        ),
    ],
    ids=["data", "test", "not in the sdist", "machine", "machine, packed"],
)
def test_what_does_not_belong_is_named(added: dict[str, bytes], fault: str) -> None:
    assert any(fault in one for one in contents.faults({**WHEEL, **added}, SDIST, 10**6))


def test_what_is_missing_is_named() -> None:
    lacking = {name: content for name, content in WHEEL.items() if "LICENSE" not in name}
    assert [one for one in contents.faults(lacking, SDIST, 10**6) if "LICENSE" in one]
    assert contents.faults(WHEEL, {**SDIST, "tests/test_x.py": b""}, 10**6) == [
        "tests/test_x.py: tests are for the repository"
    ]


def test_a_large_wheel_is_refused() -> None:
    assert contents.faults(WHEEL, SDIST, 40_100_000) == ["the wheel has 40.1 MB, and at most 40 are wanted"]


def test_version_and_changelog_agree() -> None:
    assert contents.metadata_faults(WHEEL, "## 0.2.0, unreleased\n") == [
        "the wheel is 0.1.0, the changelog begins with 0.2.0"
    ]
    broken = {**WHEEL, "rejoinder-0.1.0.dist-info/METADATA": METADATA.replace(b"numpy>=1.26", b"numpy>>1")}
    (refused,) = contents.metadata_faults(broken, "## 0.1.0\n")
    assert "numpy>>1" in refused


def test_the_files_of_both_are_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "one.whl", "w") as archive:
        archive.writestr("rejoinder/__init__.py", "x = 1\n")
    with tarfile.open(tmp_path / "one.tar.gz", "w:gz") as packed:
        (tmp_path / "x.py").write_text("x = 1\n")
        packed.add(tmp_path / "x.py", "rejoinder-0.1.0/src/rejoinder/__init__.py")
    assert contents.of_wheel(tmp_path / "one.whl") == {"rejoinder/__init__.py": b"x = 1\n"}
    assert contents.of_sdist(tmp_path / "one.tar.gz") == {"src/rejoinder/__init__.py": b"x = 1\n"}


@pytest.mark.slow
def test_a_release_is_built_twice_to_the_same_bits(tmp_path: Path) -> None:
    """scripts/release of a clone, without the fresh environment, which CI's own installation stands for."""
    clone = tmp_path / "rejoinder"
    subprocess.run(["git", "clone", "--quiet", str(PROJECT), str(clone)], check=True)
    called = [str(clone / "scripts" / "release"), "--quick"]
    done = subprocess.run(called, env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True)
    if "No matching distribution found" in done.stderr or "Could not find a version" in done.stderr:
        pytest.skip("needs build and hatchling from an index")
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,), (sdist,) = (clone / "dist").glob("*.whl"), (clone / "dist").glob("*.tar.gz")
    assert wheel.stat().st_size < contents.LARGEST
    assert "Nothing was uploaded" in done.stdout
    inside = contents.of_wheel(wheel)
    assert contents.faults(inside, contents.of_sdist(sdist), wheel.stat().st_size) == []
    assert not [name for name in inside if name.startswith("tests/")]
