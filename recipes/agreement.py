"""Write `docs/results/agreement.md`: the metrics against published figures, and the first ADEM beside every metric.

    python recipes/agreement.py JUDGEMENTS_FOLDER [--vectors FILE] [--seed 0]

JUDGEMENTS_FOLDER holds usr_personachat, grade_*, deriu_* and gupta_dailydialog as `.jsonl.gz` files of rated examples.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path
from typing import NamedTuple

import rejoinder
from rejoinder.catalogue import DEFAULT, SCORERS
from rejoinder.encoders import AverageEncoder
from rejoinder.io.vectors import read_vectors
from rejoinder.judges.train import Trained
from rejoinder.meta import Study
from rejoinder.records import Example
from rejoinder.report.markdown import markdown_table
from rejoinder.report.study import study_markdown
from rejoinder.stats.written import number

RESULT = Path(__file__).resolve().parent.parent / "docs" / "results" / "agreement.md"
SPLITS = 5
METRICS = [name for name in SCORERS if name != DEFAULT]  # the judge in the box was fitted on these sets
TRAINED_ON = ("deriu_*", "gupta_*", "usr_personachat", "grade_*")


class Published(NamedTuple):
    """A figure of the literature: turn-level Pearson and Spearman on the lines that have a reference."""

    dataset: str
    scorer: str
    pearson: float
    spearman: float


PUBLISHED = (
    Published("usr_personachat", "bleu-4/coco", 0.135, 0.090),
    Published("usr_personachat", "rouge-l/coco", 0.066, 0.038),
    Published("grade_dailydialog", "bleu-4/coco", 0.075, 0.184),
    Published("grade_dailydialog", "rouge-l/coco", 0.154, 0.147),
    Published("grade_empathetic", "bleu-4/coco", -0.051, 0.002),
    Published("grade_empathetic", "rouge-l/coco", 0.029, -0.013),
)


def published_table(folder: Path, seed: int) -> str:
    """Ours beside the published figures, with n and intervals."""
    studies = {
        name: rejoinder.study(
            list(rejoinder.read(folder / f"{name}.jsonl.gz")), ["bleu-4/coco", "rouge-l/coco"], seed=seed
        )
        for name in dict.fromkeys(row.dataset for row in PUBLISHED)
    }
    rows = []
    for row in PUBLISHED:
        found = {
            a.statistic: a for a in studies[row.dataset].agreements if a.scorer == row.scorer and a.level == "turn"
        }
        pearson, spearman = found["pearson"], found["spearman"]
        rows.append(
            [
                row.dataset,
                row.scorer,
                str(pearson.n),
                f"{number(pearson.value)} [{number(pearson.low, 2)}, {number(pearson.high, 2)}]",
                number(row.pearson),
                f"{number(spearman.value)} [{number(spearman.low, 2)}, {number(spearman.high, 2)}]",
                number(row.spearman),
            ]
        )
    header = ["dataset", "scorer", "n", "Pearson, ours", "published", "Spearman, ours", "published"]
    return markdown_table(header, rows)


def judge_section(examples: list[Example], name: str, vectors: Path | None, seed: int) -> str:
    """ADEM trained without copies of references, on its own test contexts beside every metric, without and with."""
    own = [example for example in examples if not example.copies_reference]
    encoder = AverageEncoder(read_vectors(vectors))
    splits = [rejoinder.train_judge(own, "adem", encoder, seed=other) for other in range(seed, seed + SPLITS)]
    studies = [rejoinder.study(split.test, [*METRICS, split.judge], vectors=vectors, seed=seed) for split in splits]
    contexts = {example.context_key for example in splits[0].test}
    with_copies = [example for example in examples if example.references and example.context_key in contexts]
    other = rejoinder.study(with_copies, [*METRICS, splits[0].judge], vectors=vectors, seed=seed)
    return _SECTION.format(
        name=name,
        course=_course(splits[0]),
        without=study_markdown(studies[0], dataset="pooled", level="turn"),
        spread=_spread(studies),
        copies=study_markdown(other, dataset="pooled", level="turn"),
    )


def _course(trained: Trained) -> str:
    """One sentence on the training."""
    record = trained.judge.training
    lines, errors = record["lines"], trained.fit.validation_errors
    left_out = ", ".join(f"{count} {reason}" for reason, count in record["left_out"].items())
    return (
        f"{lines['train']} lines to train, {lines['validation']} to stop, {lines['test']} to test, contexts disjoint; "
        f"left out: {left_out}. Best epoch {record['best_epoch']} of {record['epochs']}; validation error (root mean "
        f"square, rating points of 1 to 5) {errors[0]:.3f} before training, {min(errors):.3f} at best. Validation "
        f"Pearson {record['validation']['pearson']:.3f}, Spearman {record['validation']['spearman']:.3f}."
    )


def _spread(studies: list[Study]) -> str:
    """How the figures of every scorer vary with the split: mean, lowest and highest."""
    rows = []
    for scorer in studies[0].signatures:
        cells = [scorer]
        for statistic in ("pearson", "spearman"):
            values = [_figure(study, scorer, statistic) for study in studies]
            cells.append(f"{sum(values) / len(values):.3f} [{min(values):.3f}, {max(values):.3f}]")
        rows.append(cells)
    rows.sort(key=lambda cells: -float(cells[2].split()[0]))
    return markdown_table(["scorer", "Pearson, mean [lowest, highest]", "Spearman, mean [lowest, highest]"], rows)


def _figure(study: Study, scorer: str, statistic: str) -> float:
    """The pooled turn-level correlation of one scorer."""
    return next(
        a.value
        for a in study.agreements
        if (a.dataset, a.level, a.scorer, a.statistic) == ("pooled", "turn", scorer, statistic)
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    files = [file for pattern in TRAINED_ON for file in sorted(asked.folder.glob(f"{pattern}.jsonl.gz"))]
    examples = list(rejoinder.read(*files))
    today, table = datetime.date.today().isoformat(), published_table(asked.folder, asked.seed)
    copies = sum(example.copies_reference for example in examples)
    with_reference = sum(bool(example.references) for example in examples)
    parts = [
        _HEAD.format(seed=asked.seed, date=today, table=table),
        _JUDGE.format(lines=len(examples), copies=copies, with_reference=with_reference),
        judge_section(examples, "The word vectors in the box", None, asked.seed),
    ]
    if asked.vectors is not None:
        parts.append(judge_section(examples, asked.vectors.name, asked.vectors, asked.seed))
    RESULT.write_text("\n".join(parts), encoding="utf-8")


_HEAD = """\
# Agreement with people: classic metrics and the first ADEM

Made by `python recipes/agreement.py JUDGEMENTS_FOLDER --vectors glove_twitter_12k_25d.npz --seed {seed}` on {date}.
Intervals: 95 % expanded percentile bootstrap, 1,000 resamples of contexts. p: two-sided, takes lines as independent.

## The same figures as published

Turn level, lines that have a reference, COCO flavours of the metrics.

{table}
"""

_JUDGE = """\
## The first ADEM on its own test part

ADEM (Lowe et al. 2017, equation 1) over averaged word vectors, fitted on deriu_*, gupta_dailydialog, usr_personachat
and grade_* ({lines} lines, {with_reference} of them with a reference). {copies} responses equal a reference word for
word, mostly of retrieval systems in deriu_*; people rate them high and every reference metric gives them full marks, so
word overlap looks better with them than it is. The headline leaves them out, in training and in testing. Published for
comparison, on other dialogues (Twitter): ADEM over VHRED, test Pearson .436, Spearman .428.

Averaging word vectors is the weakest encoder that ADEM can stand on: it loses word order, and a context of several
turns is one bag of words. What else to know before believing a figure: on one split of about 400 test lines they move
a lot (the five splits say how much); step and weight of the fitting were picked in a small trial on splits 0 to 3 of
these same sets, in which the test figures were printed beside the validation errors (docs/lab-notes.md), so the
figures of ADEM are not those of an untouched test; the settings of the vectors in the box were chosen by agreement on
deriu_* and grade_empathetic, among others (word_vectors.md). Where the sets come from: their papers are Deriu et al.
2022, Gupta et al. 2019, Mehri and Eskenazi 2020 (USR), Huang et al. 2020 (GRADE); the GloVe file is the 25-number
Twitter release cut to 11,925 frequent words.
"""


_SECTION = """\
### {name}

{course}

Without responses that equal a reference:

{without}
Over five random splits, each scorer on the same lines:

{spread}
The same judge on the same test contexts, responses that equal a reference among them:

{copies}"""


if __name__ == "__main__":
    main()
