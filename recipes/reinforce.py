"""The experiment on rewards: policies rewarded by several judges, measured by judges that reward nothing; its page.

    python recipes/reinforce.py --start FOLDER -e NAME=FOLDER:context -e NAME=sentence:FOLDER [--data FOLDER]

The start was made by `rejoinder pretrain` with recipes/hred-small.toml. The first encoder is that of the published
designs, by recipes/vhred-small.toml; the second is a model of sentence-transformers, because what measures is to read
other vectors than what rewards. What is done stands in the folder --work: called again after a kill, it goes on. Under
three hours on two cores.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from rejoinder.papers.page import about
from rejoinder.papers.reinforce import find
from rejoinder.papers.reinforce_page import page
from rejoinder.report.files import write_document


def main() -> None:
    """Run what is not done yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("-e", dest="encoders", action="append", required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=Path("reinforce.work"))
    parser.add_argument("-o", dest="out", type=Path, default=Path("docs/results"))
    given, start = parser.parse_args(), time.perf_counter()
    given.work.mkdir(parents=True, exist_ok=True)
    found = find(given.work, given.start, given.encoders, given.data, given.seed, say)
    command = "python recipes/reinforce.py --start hred-small -e vhred=vhred-small:context -e NAME=sentence:FOLDER"
    write_document(page(found, about(command, start)), given.out / "reinforce.md")


def say(line: str) -> None:
    """A line on stderr."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
