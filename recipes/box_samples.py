"""Cut the samples in the box from rating sets whose licence allows it (see `src/rejoinder/assets/ATTRIBUTION.md`).

    python recipes/box_samples.py DSTC7.jsonl.gz CONTURE.jsonl.gz [--seed 0]

Whole groups are drawn: every system's response to a context of DSTC7, every rated turn of a ConTurE dialogue.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import rejoinder
from rejoinder.example import OVERALL, Example

DATA = Path(__file__).resolve().parent.parent / "src" / "rejoinder" / "data"
LINES = 400
# Dialogues of plain small talk that stand first in the sample of ConTurE: readers look at the first lines.
FIRST = (49, 62, 68)


def cut(source: str, group: Callable[[Example], object], usable: Callable[[Example], bool], seed: int) -> list[Example]:
    """Whole random groups of usable examples, about `LINES` lines, in the order of the source."""
    groups: dict[object, list[Example]] = defaultdict(list)
    for example in rejoinder.read(source):
        groups[group(example)].append(example)
    whole = [members for members in groups.values() if all(map(usable, members))]
    random.Random(seed).shuffle(whole)  # noqa: S311
    kept: list[Example] = []
    while whole and len(kept) < LINES:
        kept += whole.pop()
    return sorted(kept, key=lambda example: example.id)


def lean(example: Example) -> Example:
    """The example without what the sample must or need not carry.

    Some dimensions of ConTurE were added by others, under the GPL; the passage that a DSTC7 conversation was grounded
    in is long, and no scorer reads it.
    """
    kept = (
        example
        if example.dataset == "dstc7"
        else replace(example, quality={OVERALL: example.quality[OVERALL]}, scales={OVERALL: example.scales[OVERALL]})
    )
    return replace(kept, extra={key: value for key, value in kept.extra.items() if key != "knowledge"})


def main() -> None:
    """Write both samples."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dstc7")
    parser.add_argument("conture")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    dstc7 = cut(asked.dstc7, lambda example: example.context_id, lambda example: bool(example.references), asked.seed)
    conture = cut(asked.conture, lambda example: example.extra["dialogue_id"], lambda _: True, asked.seed)
    conture.sort(key=lambda example: example.extra["dialogue_id"] not in FIRST)
    for name, examples in (("dstc7", dstc7), ("conture", conture)):
        print(f"{name}: {rejoinder.write(map(lean, examples), DATA / f'{name}.jsonl.gz')} lines")


if __name__ == "__main__":
    main()
