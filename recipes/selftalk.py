"""Write `docs/results/selftalk.md`: what the judge in the box makes of systems that talk to themselves.

rejoinder selftalk CORPUS... --held-out 0.01 --on-error skip -r FOLDER... --contexts 100 --turns 10 -o TALK
python recipes/selftalk.py TALK [--seed 0]
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import rejoinder
from rejoinder.meta.diversity import distinct
from rejoinder.records import Example
from rejoinder.report.markdown import markdown_table
from rejoinder.stats.bootstrap import cluster_counts
from rejoinder.stats.paired import mean_of_parts
from rejoinder.stats.written import number
from rejoinder.text import tokenizer

RESULT = Path(__file__).resolve().parent.parent / "docs" / "results" / "selftalk.md"
# Deriu and Cieliebak 2019, table 2: what people gave whole dialogues of each system.
PUBLISHED = {"seq2seq": 3.31, "hred": 2.78, "vhred": 3.20, "mrrnn": 2.37, "dual-encoder": 2.02}
RESAMPLES, SHOWN = 1000, 2
Line = Mapping[str, Any]


def mean(values: np.ndarray[Any, Any], starts: Sequence[str], seed: int) -> str:
    """The mean of values with a 95 % interval over the contexts that the dialogues began with."""
    _, clusters = np.unique(starts, return_inverse=True)
    counts = cluster_counts(int(clusters.max()) + 1, RESAMPLES, np.random.default_rng([seed, 0]))
    found = mean_of_parts(values, np.zeros(len(values), dtype=np.int64), clusters, counts)
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def row(name: str, lines: Sequence[Line], seed: int) -> list[str]:
    """What a system's turns come to."""
    examples = [Example(tuple(line["context"]), line["response"]) for line in lines]
    scores = rejoinder.score(examples, "rejoinder").values
    starts = np.array([line["start_id"] for line in lines])
    turns = np.array([line["turn"] for line in lines])
    scored = np.isfinite(scores)
    early, late = (scored & (turns <= 3), scored & (turns > turns.max() - 3))
    again = np.mean([example.response in example.context for example in examples])
    tokens = [tokenizer("words-1")(example.response) for example in examples]
    return [
        name,
        f"{scored.sum():,}",
        mean(scores[scored], starts[scored].tolist(), seed),
        mean(scores[early], starts[early].tolist(), seed),
        mean(scores[late], starts[late].tolist(), seed),
        f"{again:.0%}",
        number(distinct(tokens, 2)),
        number(float(np.mean([len(words) for words in tokens])), 1),
        number(PUBLISHED.get(name, float("nan")), 2),
    ]


def dialogue(lines: Sequence[Line]) -> str:
    """One dialogue as a list, the context's last turn first."""
    said = [lines[0]["context"][-1], *(line["response"] for line in lines)]
    return "\n".join(f"- {' '.join(turn.split())}" for turn in said).replace("<", "&lt;").replace("*", "\\*")


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("talk", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    systems: dict[str, list[Line]] = defaultdict(list)
    for text in (given.talk / "turns.jsonl").read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        systems[line["system"]].append(line)
    header = ["system", "turns", "judge", "first three turns", "last three", "said before", "distinct-2", "length"]
    table = markdown_table(
        [*header, "people, published"], [row(name, lines, given.seed) for name, lines in systems.items()]
    )
    shown = []
    for name, lines in systems.items():
        first = lines[0]["dialogue_id"]
        shown.append(f"### {name}\n\n{dialogue([line for line in lines if line['dialogue_id'] == first])}\n")
    page = PAGE.format(
        seed=given.seed,
        date=datetime.date.today().isoformat(),
        dialogues=sum(len({line["dialogue_id"] for line in lines}) for lines in systems.values()),
        turns=f"{sum(map(len, systems.values())):,}",
        table=table,
        shown="\n".join(shown),
    )
    RESULT.write_text(page, encoding="utf-8")
    print(table)


PAGE = """\
# Self-talk: five systems that talk to themselves

Made by `rejoinder selftalk CORPUS... --held-out 0.01 --on-error skip -r seq2seq-small -r hred-small -r vhred-small
-r mrrnn-small -r dual-encoder -o TALK` and `python recipes/selftalk.py TALK --seed {seed}` on {date}.

The setting of Deriu and Cieliebak 2019: 100 contexts of dialogues that none of the systems was trained on, ten
turns added to each by each system, which plays both sides. {dialogues} dialogues, {turns} turns, all of them scored
by the judge in the box (1 to 5, from the context alone). Intervals are 95 %, over contexts. *Said before*: the turn
stands word for word in its context. *People, published*: what people gave whole dialogues of the systems of that
paper (its table 2), which were larger, trained on other dialogues, and rated in another way; for orientation only.

{table}
The judge is easily fooled by turns that repeat the context ([judge.md](judge.md)), and self-talk is full of these: read
its column together with *said before*. Whether it ranks these systems as people would is not known, since nobody has
rated them.

## The first dialogue of each, unedited

{shown}"""


if __name__ == "__main__":
    main()
