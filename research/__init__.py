"""Experiments of four papers, and the builders of the bundled judges.

An experiment NAME is `NAME.py`, which computes, `NAME_page.py` and `texts/NAME.md`, which make its page in
docs/results. From the clone's root, `python -m research.NAME FILE... -o FOLDER` runs it again, where a hyphen of the
name is an underscore. Frozen pages of other experiments are in `archive/`.
"""

from __future__ import annotations

# Names of the experiments, each with a few words about it.
EXPERIMENTS = {
    "lowe2017": "ADEM",
    "sai2019": "attacks on ADEM",
    "deriu2019": "AutoJudge",
    "liu2016-table2": "responders by embedding metrics",
    "judge": "the bundled judge",
    "plus": "the bundled judge with a language model beside its own views",
}
