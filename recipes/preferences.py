"""Write `docs/results/preferences.md`: the judge in the box against people's choices between two replies.

    python recipes/preferences.py PREFERENCES_FOLDER [--seed 0]

PREFERENCES_FOLDER holds pandalm and hh_harmless as `.jsonl.gz` files of pairs.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import rejoinder
from rejoinder import Pair
from rejoinder.report.markdown import markdown
from rejoinder.report.preferences import preferences

RESULT = Path(__file__).resolve().parent.parent / "docs" / "results" / "preferences.md"
SETS = ("pandalm", "hh_harmless")
INTRODUCTION = """\
Made by `{command}` on {date}. What is counted, and how: [preferences.md](../preferences.md).

`pandalm`: instructions, answered by five language models of 7B of 2023, three votes a pair, pairs on which people
agreed chosen by its authors (PandaLM's test set). `hh_harmless`: conversations in which people try to get something
harmful, the less harmful reply is preferred (the test part of hh-rlhf's harmless-base). Both are other text than the
judge in the box was fitted on, short chat rated reply by reply. `pandalm, no empty reply` leaves out the pairs in which
one reply is empty, where the other one is easily told to be the better.

The first judge in the box (version 1, which read the first 39 pieces of a text) was right in .530 of the 842 pairs of
`pandalm, no empty reply` and in .477 of the 2,303 of `hh_harmless`, worked out in the same way.
"""


def with_text(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The pairs without an empty reply, as a data set of their own."""
    for pair in pairs:
        if all(reply.response.strip() for reply in pair.replies):
            first, second = (replace(reply, dataset=f"{reply.dataset}, no empty reply") for reply in pair.replies)
            yield replace(pair, replies=(first, second))


def main() -> None:
    """Study the pairs and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="PREFERENCES_FOLDER")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    pandalm, harmless = (list(rejoinder.read_pairs(given.folder / f"{name}.jsonl.gz")) for name in SETS)
    study = rejoinder.study_pairs([*pandalm, *with_text(pandalm), *harmless], ["rejoinder"], seed=given.seed)
    command = f"python recipes/preferences.py PREFERENCES_FOLDER --seed {given.seed}"
    head, _, rest = markdown(preferences(study, command)).partition("\n\n")
    date = datetime.datetime.now(tz=datetime.UTC).date()
    RESULT.write_text(f"{head}\n\n{INTRODUCTION.format(command=command, date=date)}\n{rest}", encoding="utf-8")


if __name__ == "__main__":
    main()
