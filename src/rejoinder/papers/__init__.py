"""The experiments of papers, and others whose results the documents show: each a pair of modules.

Of each the module of its name works something out, and the one with `_page` behind it makes the page.
"""

from __future__ import annotations

# What each is called, and in a few words what it is.
EXPERIMENTS = {
    "lowe2017": "ADEM",
    "sai2019": "what fools ADEM",
    "deriu2019": "AutoJudge",
    "deriu2019-rerank": "the best of five systems",
    "liu2016-table2": "responders by embedding metrics",
    "agreement": "metrics beside published figures, and the first ADEM",
    "judge": "the judge in the box",
    "nested": "how much of the judge's figure is luck of choosing its settings",
    "plus": "the judge with a language model beside its own views",
    "fit": "what a few ratings of one's own buy",
    "estimate": "few ratings and a scorer",
    "dialogue": "scores of whole conversations",
    "preferences": "people's choices between two replies",
    "pretraining": "sequence models beside n-grams",
    "raters": "people who rated, models of them, and whether the judge may stand in for one",
    "selftalk": "systems that talk to themselves",
    "study": "scorers over all rated sets",
    "tweet2vec": "tweet2vec beside word models",
}
