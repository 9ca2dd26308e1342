"""Study all scorers on the rated sets below, every set left out once, and write `docs/results/study.md`.

    python recipes/study.py JUDGEMENTS_FOLDER [--seed 0] [--page report.html]

JUDGEMENTS_FOLDER holds the sets as `.jsonl.gz` files. The same figures and all others, with the lines of the sets that
scorers get wrong, come from `rejoinder study FILE... --drop-copies --leave-one-out -o report.html`.
"""

from __future__ import annotations

import argparse
import datetime
import textwrap
from pathlib import Path

import rejoinder
from rejoinder.catalogue import SCORERS, fitted_on
from rejoinder.meta import full_study
from rejoinder.report.markdown import markdown_table
from rejoinder.report.over_sets import left_out_table, nearness_table
from rejoinder.report.sections import Table, card_table, over_sets_table
from rejoinder.report.study_files import write_study

RESULT = Path(__file__).resolve().parent.parent / "docs" / "results" / "study.md"
SETS = (
    *("conture_turn", "deriu_convai2", "deriu_dailydialog", "deriu_empathetic", "dstc7", "engage_dailydialog"),
    *("fed_turn", "grade_dailydialog", "grade_empathetic", "gupta_dailydialog", "holistic_context", "holistic_logic"),
    *("usr_personachat", "uss_ccpe", "uss_mwoz", "uss_redial", "uss_sgd", "zhao_dailydialog", "zhao_personachat"),
)


def wrapped(text: str) -> str:
    """`text` in lines of 120 characters."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def as_markdown(table: Table) -> str:
    """Title, caption and table."""
    rows = [[cell.text for cell in row] for row in table.rows]
    return f"## {table.title}\n\n{wrapped(table.caption)}\n\n{markdown_table(list(table.header), rows)}"


def main() -> None:
    """Study, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judgements", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", type=Path, help="the whole study beside it, as .html, .md, .tex, .csv or .json")
    asked = parser.parse_args()
    examples = list(rejoinder.read(*(asked.judgements / f"{name}.jsonl.gz" for name in SETS)))
    known = fitted_on(SCORERS, [example.dataset for example in examples])
    scorers = [name for name in SCORERS if name not in known]
    study = full_study(examples, scorers, leave_one_out=True, drop_copies=True, seed=asked.seed)
    command = f"python recipes/study.py JUDGEMENTS --seed {asked.seed}"
    if asked.page:
        write_study(study, asked.page, command)
    left_out = [left_out_table(study.left_out)] if study.left_out else []
    tables = [nearness_table(study), *left_out, over_sets_table(study), card_table(one.card for one in study.findings)]
    page = _PAGE.format(
        command=command,
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        known=", ".join(known),
        answer="\n\n".join(map(wrapped, study.answer)),
        tables="\n".join(map(as_markdown, tables)),
    )
    RESULT.write_text(page, encoding="utf-8")


_PAGE = """\
# Scorers against people, over all turn-level sets

Made by `{command}` on {date}. Left out: {known}, the judge in the box, because
it was fitted on most of these sets; the judges below were not fitted on what they are tested on. Responses that equal a
reference word for word are left out.

{answer}

{tables}"""


if __name__ == "__main__":
    main()
