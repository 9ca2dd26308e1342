"""`rejoinder audit`: what fools a scorer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.common import (
    AsJson,
    Figures,
    Files,
    OnError,
    OnErrorFlag,
    Seed,
    Vectors,
    present,
    progress,
    reporting,
    require_places,
)
from rejoinder.cli.inputs import Columns, InputFormat, RatingScale, Turns, TurnsFlag, how, on_scale
from rejoinder.cli.places import Reads, Writes, in_scorer
from rejoinder.errors import UsageError

if TYPE_CHECKING:
    from rejoinder.report.results import Results

ScorerName = Annotated[
    str,
    typer.Option(
        "-s",
        "--scorer",
        help="A scorer, the folder of a judge, column:KEY, command:PROGRAM or openai:URL#MODEL; it must score "
        "replies that it never saw, so no column. Default: rejoinder, the bundled judge.",
        metavar="NAME",
        show_default=False,
    ),
    Reads(in_scorer),
]
Out = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--out",
        help="Where to: the results as .html, .md, .tex, .csv or .json, the attacked replies with their scores as "
        ".jsonl; repeat for more.",
        metavar="FILE",
    ),
    Writes(),
]
Families = Annotated[
    list[str] | None,
    typer.Option(
        "--family", help="An attack; repeat for more. Default: all that `rejoinder list` shows.", metavar="NAME"
    ),
]
Limit = Annotated[int, typer.Option(min=1, help="The most replies that are attacked, drawn by the seed.")]
IntoCard = Annotated[
    bool,
    typer.Option("--card", help="Also add the results to the card of the judge, a folder; `rejoinder show` prints it."),
]
FailOver = Annotated[
    float | None,
    typer.Option(
        help="A gate: exit with 6 if an attack fools the scorer on more than this share of replies, or no attack has a "
        "verdict. Default: no gate; 0.1 for the verdicts.",
        metavar="SHARE",
    ),
]

PoolFile = Annotated[
    Path | None,
    typer.Option(
        "--pool",
        help="Replies to search for those that fool most: a text file with one reply a line, or a corpus of dialogues. "
        "Adds the attacks pool-best, pool-fixed and, for a judge over an encoder, white-box.",
        metavar="FILE",
    ),
    Reads(),
]


def command(
    files: Files,
    scorer: ScorerName = "rejoinder",
    out: Out = None,
    family: Families = None,
    limit: Limit = 500,
    pool: PoolFile = None,
    fail_over: FailOver = None,
    card: IntoCard = False,
    figures: Figures = None,
    as_json: AsJson = False,
    vectors: Vectors = None,
    seed: Seed = 0,
    columns: Columns = None,
    scale: RatingScale = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Find out what fools a scorer, and how often: attacks on the replies of a file.

    Some attacks make a bad reply that should score lower than the good one, some an equally good reply that should not,
    some change nothing. Rated replies tell the most: bad ones are compared with those that people rated good.
    """
    from rejoinder.auditing.run import audit
    from rejoinder.data.read import read

    require_places(out, figures, lines=True)
    if card and not Path(scorer).is_dir():
        raise UsageError(f"{scorer} is not a judge's folder and has no card. Leave --card out; -o writes to a file")
    with reporting(on_error) as report_error:
        reading = how(columns, input_format, turns, [scorer], scale=scale)
        examples = list(on_scale(read(*files, on_error=report_error, **reading), scale, report_error))
    with progress("scoring") as bar:
        results = audit(
            examples,
            scorer,
            families=family or None,
            limit=limit,
            fail_over=fail_over,
            seed=seed,
            vectors=vectors,
            pool=pool,
            progress=bar,
            expect=bar.expect,
        )
    if card:
        _add_to_card(results, scorer)
    present(results, out, as_json=as_json, figures=figures, files=files)


def _add_to_card(results: Results, folder: str) -> None:
    """Add the results to the card of a judge, replacing an older audit."""
    from rejoinder.auditing.layout import card_blocks
    from rejoinder.data.folders import write_section
    from rejoinder.report.layout import Section
    from rejoinder.report.markdown import page

    title = "What fools it"
    _, _, text = page(title, [Section("", card_blocks(results))]).partition("\n")
    write_section(folder, title, text)
