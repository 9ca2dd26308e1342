"""The experiment on rewards: policies rewarded by several judges, measured by one that rewards nothing.

    python recipes/reinforce.py --start FOLDER -e vhred=FOLDER:context -e NAME=sentence:FOLDER [--data FOLDER]

The folders were made by `rejoinder pretrain` with recipes/hred-small.toml and recipes/vhred-small.toml; the second
encoder is a model of sentence-transformers, because what measures is to read other vectors than what rewards. What is
done stands in the folder --work: called again, it goes on. Under three hours on two cores.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rejoinder.papers.reinforce import find


def main() -> None:
    """Run what is not done yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("-e", dest="encoders", action="append", required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=Path("reinforce.work"))
    parser.add_argument("-o", dest="out", type=Path, default=Path("docs/results"))
    given = parser.parse_args()
    find(given.work, given.start, given.encoders, given.data, given.seed, say)


def say(line: str) -> None:
    """A line on stderr."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
