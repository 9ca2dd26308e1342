"""Fit the judge in the box anew and put it into its place, src/rejoinder/data/judge.

    python recipes/judge_in_the_box.py ENCODER_FOLDER [--data FOLDER] [--seed 0]

ENCODER_FOLDER was made by `rejoinder pretrain recipes/dan-small.toml`. The judge's card is the page that
`rejoinder reproduce judge -e dan=ENCODER_FOLDER -o docs/results` writes.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path

from rejoinder.judges.boxed import FOLDER
from rejoinder.papers.asked import Asked
from rejoinder.papers.judge import find
from rejoinder.papers.judge_page import page
from rejoinder.papers.page import about
from rejoinder.report.markdown import markdown


def main() -> None:
    """Fit, and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given, start = parser.parse_args(), time.perf_counter()
    found = find(Asked(encoders=[f"dan={given.encoder}"], data=given.data, seed=given.seed))
    command = shlex.join(["python", "recipes/judge_in_the_box.py", given.encoder.name, "--seed", str(given.seed)])
    found.panel.save(FOLDER, force=True)
    (FOLDER / "card.md").write_text(markdown(page(found, about(command, start))), encoding="utf-8")
    print(f"saved in {FOLDER}", file=sys.stderr)


if __name__ == "__main__":
    main()
