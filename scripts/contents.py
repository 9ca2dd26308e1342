"""What is in a wheel and a source distribution, and whether it may go out: `contents.py WHEEL SDIST PROJECT`."""

from __future__ import annotations

import gzip
import re
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from packaging.metadata import Metadata

LARGEST = 40 * 10**6  # bytes of a wheel
# Parts of the wheel, by what its paths match; the first that does.
PARTS = {
    "judges": r"rejoinder/assets/(?:(?:judge|plus)/|(?:domain|form)\.json$)",
    "word vectors": r"rejoinder/assets/word_vectors\.npz$",
    "samples": r"rejoinder/assets/\w+\.jsonl\.gz$",
    "licences and metadata": r"rejoinder-[^/]+\.dist-info/|rejoinder/assets/ATTRIBUTION\.md$",
    "code": r"rejoinder/.*\.(py|jinja|css|js|toml|txt|md|json)$|rejoinder/py\.typed$",
}
NEEDED = (
    r"rejoinder/py\.typed",
    r"rejoinder/assets/ATTRIBUTION\.md",
    r"rejoinder/assets/judge/config\.json",
    r"rejoinder/assets/plus/config\.json",
    r"rejoinder/assets/domain\.json",
    r"rejoinder/assets/form\.json",
    r"rejoinder/text/detect\.toml",
    r"rejoinder-[^/]+\.dist-info/licenses/LICENSE",
    r"rejoinder-[^/]+\.dist-info/METADATA",
)
# What only somebody's machine has.
MACHINE = re.compile(rb"(?<![\w.])/(?:home|Users|root|work|workspace)/[\w.-]+")
Files = Mapping[str, bytes]


def of_wheel(path: Path) -> Files:
    """The files of a wheel by their path in it."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def of_sdist(path: Path) -> Files:
    """The files of a source distribution, by their path below its one folder."""
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            if (stream := archive.extractfile(member)) is not None:
                found[str(PurePosixPath(*PurePosixPath(member.name).parts[1:]))] = stream.read()
    return found


def part(name: str) -> str:
    """Which part of the wheel a file belongs to; "" where to none."""
    return next((part for part, pattern in PARTS.items() if re.match(pattern, name)), "")


def sizes(files: Files) -> dict[str, tuple[int, int]]:
    """(files, bytes) of each part of a wheel."""
    found = dict.fromkeys(PARTS, (0, 0))
    for name, content in files.items():
        if held := found.get(part(name)):
            found[part(name)] = (held[0] + 1, held[1] + len(content))
    return found


def faults(wheel: Files, sdist: Files, size: int) -> list[str]:
    """Why these must not go out: a sentence each.

    Args:
        wheel: the files of the wheel.
        sdist: those of the source distribution.
        size: of the wheel, in bytes.
    """
    found = [f"{name}: belongs to no part of the wheel" for name in wheel if not part(name)]
    found += [f"no file of the wheel is {need}" for need in NEEDED if not any(re.fullmatch(need, one) for one in wheel)]
    found += [
        f"{name}: the source distribution lacks it" for name in wheel if _own(name) and f"src/{name}" not in sdist
    ]
    found += [f"{name}: tests are for the repository" for name in sdist if name.startswith("tests/")]
    for name, content in {**sdist, **wheel}.items():
        read = gzip.decompress(content) if name.endswith(".gz") else content
        found += [
            f"{name}: names a place of one machine, {path.decode()}" for path in sorted(set(MACHINE.findall(read)))
        ]
    if size > LARGEST:
        found.append(f"the wheel has {size / 1e6:.1f} MB, and at most {LARGEST / 1e6:.0f} are wanted")
    return found


def _own(name: str) -> bool:
    """Whether a file of the wheel comes from the source, and is not made by the build."""
    return name.startswith("rejoinder/")


def metadata_faults(wheel: Files, changelog: str) -> list[str]:
    """What is wrong with the wheel's metadata, as an index would see it, and with its version.

    Args:
        wheel: its files.
        changelog: of the project; its first heading of a version must be the wheel's.
    """
    (text,) = [content for name, content in wheel.items() if name.endswith(".dist-info/METADATA")]
    try:
        metadata = Metadata.from_email(text, validate=True)
    except ExceptionGroup as refused:
        return [str(one) for one in refused.exceptions]
    top = ", ".join(re.findall(r"^## ([^\s,]+)", changelog, re.MULTILINE)[:1])
    return [] if top == str(metadata.version) else [f"the wheel is {metadata.version}, the changelog begins with {top}"]


def main(wheel: Path, sdist: Path, project: Path) -> int:
    """Say what is in them; what is wrong with them too, and then return 1."""
    inside, source = of_wheel(wheel), of_sdist(sdist)
    changelog = (project / "CHANGELOG.md").read_text(encoding="utf-8")
    for name, (count, size) in sizes(inside).items():
        print(f"{name:<22} {count:>4} files {size / 1e6:>7.2f} MB")
    print(f"{'wheel, packed':<22} {len(inside):>4} files {wheel.stat().st_size / 1e6:>7.2f} MB")
    print(f"{'sdist, packed':<22} {len(source):>4} files {sdist.stat().st_size / 1e6:>7.2f} MB")
    if re.search(r"^## .*unreleased", changelog, re.MULTILINE):
        print("the changelog calls a version unreleased: write its date before the release")
    wrong = faults(inside, source, wheel.stat().st_size) + metadata_faults(inside, changelog)
    for fault in wrong:
        print(f"wrong: {fault}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
