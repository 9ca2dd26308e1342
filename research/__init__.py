"""Experiments of four papers, and the builders of the bundled judges.

From the clone's root, `python -m research.NAME --data FOLDER -o docs/results` makes the page NAME.md of a paper:
lowe2017, liu2016, deriu2019 or sai2019. Its text is the template NAME.md.jinja. Frozen pages of other experiments are
in `archive/`.
"""

from __future__ import annotations

# Names of the experiments of the builders, each with a few words about it.
EXPERIMENTS = {
    "judge": "the bundled judge",
    "plus": "the bundled judge with a language model beside its own views",
}
