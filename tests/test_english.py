"""Plain English: pages, help, messages, docstrings, comments and templates hold none of the phrases in odd_phrases.txt.

`odd_phrases_allowed.json` holds the hits that each package still has. A number in it may only fall; packages in
`REWRITTEN` have none. `python tests/test_english.py` prints each hit; with `--update` it lowers the numbers.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from architecture import BASE_MODULES, CORE, REWRITTEN

TESTS = Path(__file__).resolve().parent
PROJECT = TESTS.parent
SOURCE = PROJECT / "src" / "rejoinder"
ALLOWED = TESTS / "odd_phrases_allowed.json"
PHRASES = TESTS.joinpath("odd_phrases.txt").read_text(encoding="utf-8").splitlines()
ODD = re.compile("|".join(f"(?:{phrase})" for phrase in PHRASES if phrase), re.IGNORECASE)
NOT_PROSE = re.compile(r"^```.*?^```|`[^`\n]*`|\"[^\"\n]*\"|^    .*$", re.MULTILINE | re.DOTALL)
FIRST_WORD = re.compile(r"\s*(?:What|How|Which|Where|Why|Whose|Who|One|Those|That)\b")
MESSAGES = {"help", "remedy", "hint"}


class Hit(NamedTuple):
    """An odd phrase with its place.

    Attributes:
        package: the package of the file, or `docs`.
        place: `file:line`.
        phrase: the words.
    """

    package: str
    place: str
    phrase: str


def pages() -> Iterator[Path]:
    """Yield the pages that people read, but for the change log and pages of measured results."""
    yield from (PROJECT / "README.md", PROJECT / "CONTRIBUTING.md")
    for path in sorted((PROJECT / "docs").rglob("*.md")):
        if "results" not in path.parts and path.name != "lab-notes.md":
            yield path


def prose_of_page(path: Path) -> str:
    """Return the running text of a page or template, without code, quotations and indented lines."""
    return " ".join(NOT_PROSE.sub(" ", path.read_text(encoding="utf-8")).split())


def prose_of_module(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of each docstring, message and comment of a module."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), " ".join(text.split())
        elif isinstance(node, ast.Raise) or (isinstance(node, ast.keyword) and node.arg in MESSAGES):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def package_of(path: Path) -> str:
    """Return the package of a module; `core` for a module at the top and for the bundled files."""
    name, *inside = path.relative_to(SOURCE).parts
    return name if inside and name not in BASE_MODULES else CORE


def hits() -> Iterator[Hit]:
    """Yield every odd phrase of the project."""
    for path in pages():
        for match in ODD.finditer(prose_of_page(path)):
            yield Hit("docs", str(path.relative_to(PROJECT)), match[0])
    for path in sorted(SOURCE.rglob("*.py")):
        for line, text in prose_of_module(path):
            for match in ODD.finditer(text):
                yield Hit(package_of(path), f"{path.relative_to(PROJECT)}:{line}", match[0])
    for path in sorted(SOURCE.rglob("*.jinja")):
        for match in ODD.finditer(prose_of_page(path)):
            yield Hit(package_of(path), str(path.relative_to(PROJECT)), match[0])


def counts() -> dict[str, int]:
    """Return the number of hits of each package that has some."""
    return dict(sorted(Counter(hit.package for hit in hits()).items()))


def test_odd_phrases_only_become_fewer() -> None:
    allowed = json.loads(ALLOWED.read_text(encoding="utf-8"))
    more = {package: count for package, count in counts().items() if count > allowed.get(package, 0)}
    new = [hit for hit in hits() if hit.package in more]
    assert not more, f"python tests/test_english.py lists them: {more}, among them {new[:5]}"


def test_the_numbers_of_odd_phrases_are_those_of_today() -> None:
    """A number that fell is lowered in the file, so that it cannot rise again."""
    assert json.loads(ALLOWED.read_text(encoding="utf-8")) == counts(), "python tests/test_english.py --update"


def test_rewritten_packages_have_no_odd_phrase() -> None:
    assert [hit for hit in hits() if hit.package in REWRITTEN] == []


def test_docstrings_of_rewritten_packages_begin_plainly() -> None:
    odd = [
        f"{path.relative_to(PROJECT)}:{node.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        if package_of(path) in REWRITTEN
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and FIRST_WORD.match(ast.get_docstring(node) or "")
    ]
    assert odd == []


def test_a_phrase_is_found_in_each_kind_of_text(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""The sample in the box."""\n# the sample in the box\ndef f(help: str = "") -> None:\n'
        '    """Whom to believe."""\n    raise ValueError("whom to believe")\n',
        encoding="utf-8",
    )
    texts = [text for _, text in prose_of_module(module)]
    assert sum(len(ODD.findall(text)) for text in texts) == 4
    page = tmp_path / "page.md"
    page.write_text("Whom to believe.\n```\nwhom to believe\n```\n`whom to believe`\n", encoding="utf-8")
    assert len(ODD.findall(prose_of_page(page))) == 1


if __name__ == "__main__":
    if "--update" in sys.argv:
        before = json.loads(ALLOWED.read_text(encoding="utf-8")) if ALLOWED.exists() else {}
        now = counts()
        if raised := {name: count for name, count in now.items() if before and count > before.get(name, 0)}:
            sys.exit(f"these rose, and may only fall: {raised}")
        ALLOWED.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    else:
        sys.stdout.writelines(f"{hit.place}: {hit.phrase}\n" for hit in hits())
