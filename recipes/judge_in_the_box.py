"""Train the judge in the box and write `docs/results/judge.md`: what it scores on what it never saw, what fools it.

    python recipes/judge_in_the_box.py ENCODER_FOLDER JUDGEMENTS_FOLDER [--seed 0]

ENCODER_FOLDER was made by `rejoinder pretrain recipes/dan-small.toml`; JUDGEMENTS_FOLDER holds the rated sets below as
`.jsonl.gz` files. The judge is written to src/rejoinder/data/judge.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rejoinder
from rejoinder.encoders import load_encoder
from rejoinder.encoders.dan import DanEncoder
from rejoinder.io.folders import read_folder
from rejoinder.judges.bilinear.fit import FitOptions
from rejoinder.judges.bilinear.panel import MEMBERS, Panel, train_panel
from rejoinder.judges.boxed import FOLDER
from rejoinder.judges.conversations import conversations
from rejoinder.judges.left_out import rated_lines, unseen_scores
from rejoinder.judges.lines import normalised_ratings
from rejoinder.judges.train import Trained
from rejoinder.meta import Study
from rejoinder.meta.agreement import Agreement
from rejoinder.records import Example
from rejoinder.report.markdown import markdown_table
from rejoinder.scorer import Scores, Signature
from rejoinder.stats.bootstrap import cluster_counts, percentile_interval
from rejoinder.stats.correlation import pearson, spearman
from rejoinder.stats.written import number

RESULT = Path(__file__).resolve().parent.parent / "docs" / "results" / "judge.md"
# The licence of the repository that each set was released in.
SETS = {
    "dstc7": "O-UDA 1.0",
    "conture_turn": "CC BY 4.0",
    "engage_dailydialog": "MIT (its dialogues: CC BY-NC-SA 4.0)",
    "zhao_dailydialog": "GPL-3.0 and MIT (its dialogues: CC BY-NC-SA 4.0)",
    "zhao_personachat": "GPL-3.0",
    "gupta_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "usr_personachat": "none stated",
    "grade_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "grade_empathetic": "none stated (its dialogues: CC BY-NC 4.0)",
    "deriu_convai2": "none stated",
    "deriu_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "deriu_empathetic": "none stated (its dialogues: CC BY-NC 4.0)",
    "fed_turn": "none stated",
    "holistic_context": "none stated",
}
# The licences of the corpora that the encoder may be trained on.
CORPORA = {
    "self_dialogue": "BSD-3-Clause",
    "topical_chat": "CDLA-Sharing-1.0",
    "ubuntu_irc": "CC BY 4.0",
    "synthetic_persona": "CC BY 4.0",
    "multiwoz": "MIT, Apache-2.0",
    "persuasion": "Apache-2.0",
    "casino": "CC BY 4.0",
    "taskmaster4": "CC BY 4.0",
    "sgd": "CC BY-SA 4.0",
}
# Over this encoder the best epoch comes early; chosen on validation.
OPTIONS = FitOptions(epochs=40, batch_size=64)
DULL = "I don't know."
BESIDE = ["embedding-greedy", "rouge-l", "bleu-2", "length", "context-overlap"]


class Attack(NamedTuple):
    """A way to change a response, and what a good judge should do."""

    name: str
    expected: str
    responses: list[str]


def unseen_table(sets: dict[str, list[Example]], encoder: DanEncoder, seed: int) -> tuple[str, dict[str, float]]:
    """For each set the judge that was fitted on all others; and the means over the sets."""
    examples = [example for own in sets.values() for example in own]
    lines = rated_lines(examples, encoder)
    values = np.full(len(examples), np.nan)
    values[lines.places] = unseen_scores(lines, OPTIONS, seed=seed)
    unscored = dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), "read by no judge")
    given = {"panel": Scores(values, unscored, Signature({"scorer": "panel"}))}
    panels = turn_level(rejoinder.study(examples, given, seed=seed, drop_copies=True))
    others = turn_level(rejoinder.study(examples, BESIDE, seed=seed, drop_copies=True, resamples=0))
    rows, means = [], []
    for name in sets:
        found = panels[name, "panel"]
        others_found = [others[name, scorer]["spearman"].value for scorer in BESIDE]
        means.append([found["pearson"].value, found["spearman"].value, *others_found])
        cells = [figure(found[statistic]) for statistic in ("pearson", "spearman")]
        rows.append([name, str(found["pearson"].n), *cells, *map(number, others_found)])
    mean = np.nanmean(means, axis=0)
    rows.append(["mean of the sets", "", *map(number, mean)])
    header = ["set, unseen", "n", "Pearson", "Spearman", *BESIDE]
    return markdown_table(header, rows), {"pearson": mean[0], "spearman": mean[1]}


def turn_level(study: Study) -> dict[tuple[str, str], dict[str, Agreement]]:
    """The turn-level rows of a study by data set and scorer, then by statistic."""
    found: dict[tuple[str, str], dict[str, Agreement]] = {}
    for row in study.agreements:
        if row.level == "turn":
            found.setdefault((row.dataset, row.scorer), {})[row.statistic] = row
    return found


def figure(row: Agreement) -> str:
    """A correlation with its interval."""
    return f"{number(row.value)} [{number(row.low, 2)}, {number(row.high, 2)}]"


def members_table(members: Sequence[Trained]) -> str:
    """What each member reaches on its own test part, copies of a reference left out."""
    rows = []
    for trained in members:
        own = [example for example in trained.test if not example.copies_reference]
        found = pearson(rejoinder.score(own, trained.judge).values, normalised_ratings(own))
        ranked = spearman(rejoinder.score(own, trained.judge).values, normalised_ratings(own))
        sides = " and ".join(sorted(trained.judge.head.terms))
        fitted = str(trained.judge.training["lines"]["train"])
        rows.append(
            [trained.judge.kind.upper(), sides, fitted, str(found.n), number(found.value), number(ranked.value)]
        )
    return markdown_table(["member", "reads the response and", "fitted on", "n", "Pearson", "Spearman"], rows)


def attacks(examples: Sequence[Example], seed: int) -> list[Attack]:
    """Changed responses to the same contexts."""
    rng = np.random.default_rng(seed)
    words = [example.response.split() for example in examples]
    others = [_response_elsewhere(example, examples, rng) for example in examples]
    return [
        Attack("words in random order", "lower", [" ".join(rng.permutation(split)) for split in words]),
        Attack("words in reverse order", "lower", [" ".join(split[::-1]) for split in words]),
        Attack("said twice", "lower", [f"{example.response} {example.response}" for example in examples]),
        Attack("the last turn of the context again", "lower", [example.context[-1] for example in examples]),
        Attack("another context's response", "lower", others),
        Attack(f'"{DULL}"', "lower", [DULL] * len(examples)),
        Attack("without punctuation", "about as before", ["".join(_letters(example)) for example in examples]),
    ]


def _response_elsewhere(example: Example, examples: Sequence[Example], rng: np.random.Generator) -> str:
    """A response to another context."""
    while True:
        other = examples[int(rng.integers(len(examples)))]
        if other.context_key != example.context_key:
            return other.response


def _letters(example: Example) -> list[str]:
    return [letter for letter in example.response if letter.isalnum() or letter.isspace() or letter == "'"]


def attack_table(panel: Panel, examples: Sequence[Example], seed: int) -> str:
    """How the score moves under each attack, over the same contexts."""
    chosen = [replace(example, references=()) for example in examples if example.context and example.response.strip()]
    before = rejoinder.score(chosen, panel).values
    rows = []
    for attack in attacks(chosen, seed):
        changed = [replace(example, response=text) for example, text in zip(chosen, attack.responses, strict=True)]
        after = rejoinder.score(changed, panel).values
        different = np.array([new.response != old.response for new, old in zip(changed, chosen, strict=True)])
        both = np.isfinite(before) & np.isfinite(after) & different
        moved = (after - before)[both]
        _, contexts = np.unique(conversations([chosen[row] for row in np.flatnonzero(both)]), return_inverse=True)
        counts = cluster_counts(int(contexts.max()) + 1, 1000, np.random.default_rng(seed))[contexts].astype(float)
        interval = percentile_interval((moved @ counts) / counts.sum(0), len(counts))
        rows.append(
            [
                attack.name,
                attack.expected,
                str(len(moved)),
                f"{moved.mean():+.2f} [{interval.low:+.2f}, {interval.high:+.2f}]",
                f"{100 * (moved > 0).mean():.0f} %",
            ]
        )
    return markdown_table(["response", "should be", "n", "change of the mean score", "scored higher than before"], rows)


def main() -> None:
    """Train, write the folder, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("judgements", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    encoder = load_encoder(asked.encoder)
    if not isinstance(encoder, DanEncoder):
        parser.error(f"{asked.encoder} is no dual encoder")
    config = read_folder(asked.encoder).config
    corpora = [corpus["name"].removesuffix(".jsonl.gz") for corpus in config["corpora"]]
    if unknown := set(corpora) - set(CORPORA):
        parser.error(f"the licence of {', '.join(unknown)} is not known here")
    sets = {name: list(rejoinder.read(asked.judgements / f"{name}.jsonl.gz")) for name in SETS}
    panel, members = train_panel(
        [example for own in sets.values() for example in own], encoder, OPTIONS, seed=asked.seed
    )
    unseen, means = unseen_table(sets, encoder, asked.seed)
    page = _PAGE.format(
        encoder=asked.encoder.name,
        seed=asked.seed,
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        tokens=config["counts"]["train"]["tokens"],
        corpora="\n".join(f"- {name}: {CORPORA[name]}" for name in corpora),
        sets="\n".join(f"- {name}: {licence}" for name, licence in SETS.items()),
        unseen=unseen,
        members=members_table(members),
        attacks=attack_table(panel, members[MEMBERS.index("c-adem")].test, asked.seed),
        **means,
    )
    panel.save(FOLDER, force=True)
    (FOLDER / "card.md").write_text(f"# The judge in the box\n\n{page}", encoding="utf-8")
    RESULT.write_text(f"# The judge in the box: agreement with people, and what fools it\n\n{page}", encoding="utf-8")


_PAGE = """\
Made by `python recipes/judge_in_the_box.py {encoder} JUDGEMENTS --seed {seed}` on {date}.

What it is: ADEM, C-ADEM and R-ADEM (Lowe et al. 2017, equation 1 and its halves; 50 principal components) over one dual
encoder (Henderson et al. 2017), run by numpy. An example goes to the member that reads all that is there. Scores
are predicted mean ratings, 1 to 5, not clipped.

Encoder: trained on {tokens:,} tokens to tell which response answers which context. Corpora, without the dialogues that
occur in public sets of human judgements, with the licence of each:

{corpora}

Rated sets that the members are fitted on, with the licence that each repository states. None of their text is in the
folder, only the matrices fitted to the ratings.

{sets}

## On sets that it never saw

For each set a judge fitted in the same way on all other sets, without those of their lines that share a conversation
with it, and what it scores there: correlation with the mean rating, interval 95 % (contexts resampled, 1,000 times),
responses that equal a reference left out. Mean over the sets: Pearson {pearson:.3f}, Spearman {spearman:.3f}. Beside it
the Spearman of scorers that need no ratings, a dash where a set lacks what they need (means are over the rest). The
judges never saw the set in question, but the kind of encoder and the number of components were chosen in sight of these
sets (docs/lab-notes.md).

{unseen}
## On unseen contexts of the sets it was fitted on

70 % of the conversations for fitting, 15 % to stop, 15 % here; one split for all three members. Responses that equal a
reference are fitted on, and left out here. Part of this agreement is knowing the style of a set or of a system.

{members}
## What fools it

C-ADEM's test part: the same contexts with changed responses, without references; responses that a change leaves as they
are do not count; intervals resample conversations.

{attacks}
Do not use it as the only guard against bad replies: where a row above says that a change it should punish is scored
higher in half of the cases, it cannot see that change. It reads the last three turns of a context. It knows no facts,
and no language but English.
"""


if __name__ == "__main__":
    main()
