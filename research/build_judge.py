"""Fit the judge in the box anew and put it into its place, src/rejoinder/assets/judge.

    python -m research.build_judge [-e phrases=FOLDER -e student=FOLDER -e selector=FOLDER -e mood=FOLDER]
        [--data FOLDER]

The folders were made by `rejoinder pretrain` with recipes/phrases.toml, student-wide.toml, selector-small.toml and
mood.toml; without any the new judge stands on those of the old one. Its card is the page that
`python -m research.judge` writes.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from rejoinder.assets import JUDGE
from research.asked import RELEVANCE, Asked, typed
from research.judge import TAKES, TAUGHT, find, there
from research.judge_page import page
from research.page import about


def main() -> None:
    """Fit, and write the folder and the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-e", dest="encoders", action="append", default=[])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", type=Path, default=Path("docs/results/judge.md"))
    given, start = parser.parse_args(), time.perf_counter()
    asked = Asked(encoders=given.encoders, data=given.data, seed=given.seed)
    if not there(asked, TAUGHT, RELEVANCE):
        sys.exit(f"relevance/{TAUGHT}.jsonl.gz is not among the data, and without it this would be another judge")
    found = find(asked)
    command = typed("judge", asked, TAKES.may, Path("docs/results"), skipping=False)
    found.trained.judge.save(JUDGE, force=True)
    text = page(found, about(command, start)).text
    for file in (JUDGE / "card.md", given.page):
        file.write_text(text, encoding="utf-8")
    print(f"saved in {JUDGE}", file=sys.stderr)


if __name__ == "__main__":
    main()
