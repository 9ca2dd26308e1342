"""Lay out the pages of the site: `python website/lay_out.py FOLDER` writes FOLDER/pages and FOLDER/mkdocs.yml.

The pages stand where links on the project's page lead (docs/, and a few at its top). Here they get the places that they
have on the site, their links follow, and what is made from the program (the commands) joins them. No plugin does this,
so that the site can be built by any program that reads Markdown and mkdocs.yml.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path, PurePosixPath

from commands import commands

PROJECT = Path(__file__).resolve().parent.parent
WEBSITE = PROJECT / "website"
# Files of the project and where they are on the site; a folder stands for all that is in it.
PLACES = {
    "docs/results/README.md": "results/index.md",
    "docs": ".",
    "benchmarks/results": "speed",
    "website/reference": "reference",
    "website/assets": "assets",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "src/rejoinder/assets/ATTRIBUTION.md": "attribution.md",
}
FENCE = re.compile(r"^(`{3,})(\w+) ([^\s=]+)$", re.MULTILINE)
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")
PAGE = re.compile(r"^ *- (?:.*: )?(\S+\.md)$")


def lay_out(folder: Path) -> None:
    """Write the pages of the site and its configuration, in place of what was there.

    Raises:
        ValueError: a page links to what the site does not have.
    """
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    for source, target in places().items():
        (pages / target).parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            (pages / target).write_text(page(source), encoding="utf-8")
        else:
            shutil.copyfile(PROJECT / source, pages / target)
    (pages / "commands.md").write_text(commands(), encoding="utf-8")
    (folder / "mkdocs.yml").write_text(configuration(pages), encoding="utf-8")


def places() -> dict[PurePosixPath, PurePosixPath]:
    """Every file that the site takes from the project, by its path there: its path on the site."""
    found: dict[PurePosixPath, PurePosixPath] = {}
    for source, target in PLACES.items():
        path = PROJECT / source
        files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        for file in files:
            inside = (
                PurePosixPath(target, file.relative_to(path).as_posix()) if path.is_dir() else PurePosixPath(target)
            )
            found.setdefault(PurePosixPath(file.relative_to(PROJECT).as_posix()), inside)
    del found[PurePosixPath("README.md")]  # docs/index.md says it to those who come by the site
    return found


def page(source: PurePosixPath) -> str:
    """A page as the site has it: its links lead to other pages, the name of a file stands over its block.

    Raises:
        ValueError: it links to what the site does not have.
    """
    text = (PROJECT / source).read_text(encoding="utf-8")
    here = placed(source)
    parts, at = [], 0
    for fenced in FENCED.finditer(text):
        parts += [linked(text[at : fenced.start()], source, here), FENCE.sub(r'\1\2 title="\3"', fenced[0])]
        at = fenced.end()
    return "".join([*parts, linked(text[at:], source, here)])


def linked(text: str, source: PurePosixPath, here: PurePosixPath) -> str:
    """Prose of the page `source`, which the site has at `here`, with links that lead from there."""

    def lead(found: re.Match[str]) -> str:
        if "://" in found[0] or found[0].startswith("mailto:"):
            return found[0]
        meant = PurePosixPath(os.path.normpath(source.parent / found[0]))
        return os.path.relpath(placed(meant, by=source), here.parent)

    return LINK.sub(lead, text)


def placed(source: PurePosixPath, *, by: PurePosixPath | None = None) -> PurePosixPath:
    """Where the site has a file of the project.

    Raises:
        ValueError: nowhere, and the page `by` links to it.
    """
    for folder, target in PLACES.items():
        if source == PurePosixPath(folder):
            return PurePosixPath(target)
        if source.is_relative_to(folder):
            return PurePosixPath(target) / source.relative_to(folder)
    raise ValueError(f"{by} links to {source}, which is not on the site. Name it without a link, or add it to PLACES")


def configuration(pages: Path) -> str:
    """The configuration, without the pages that are not there."""
    lines = (WEBSITE / "mkdocs.yml").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not (named := PAGE.match(line)) or (pages / named[1]).exists())


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]))
