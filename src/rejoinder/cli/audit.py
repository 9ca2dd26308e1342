"""`rejoinder audit`: what fools a scorer."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rejoinder.cli.common import (
    AsJson,
    Files,
    OnError,
    OnErrorFlag,
    Seed,
    Vectors,
    progress,
    reporting,
    tell,
    width,
)
from rejoinder.cli.inputs import Columns, InputFormat, RatingScale, Turns, TurnsFlag, how, on_scale
from rejoinder.cli.places import Reads, Writes, in_scorer
from rejoinder.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rejoinder.auditing.card import Audit
    from rejoinder.auditing.relevance_results import Relevance
    from rejoinder.example import Example, ReplySet
    from rejoinder.documents.document import Document

GATE_CLOSED = 6

ScorerName = Annotated[
    str,
    typer.Option(
        "-s",
        "--scorer",
        help="A scorer, the folder of a judge, column:KEY, command:PROGRAM or openai:URL#MODEL; here one that answers "
        "for replies it never saw, so no column. Default: rejoinder, the judge in the box.",
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
        help="Where to: the card as .html, .md, .tex, .csv or .json, the attacked replies with their scores as "
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
Limit = Annotated[int, typer.Option(min=1, help="How many replies are attacked at most, drawn by the seed.")]
IntoCard = Annotated[
    bool,
    typer.Option("--card", help="Also into the card of the judge, a folder, where `rejoinder show` finds it."),
]
FailOver = Annotated[
    float | None,
    typer.Option(
        help="A gate on what fools: exit with 6 where an attack is shown to fool on more than this share of replies, "
        "or nothing could be told. Default: no gate; 0.1 for the verdicts.",
        metavar="SHARE",
    ),
]

PoolFile = Annotated[
    Path | None,
    typer.Option(
        "--pool",
        help="Replies to look among for those that fool most: a text file with one a line, or a corpus of dialogues. "
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
    as_json: AsJson = False,
    vectors: Vectors = None,
    seed: Seed = 0,
    columns: Columns = None,
    scale: RatingScale = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """What fools a scorer, how often and how: attacks on the replies of a file, as a card.

    Some make a bad reply that should score lower than the good one it stands for, some a reply as good that should not,
    some change nothing. Rated replies tell the most: bad ones are held against those that people found good.

    Of lines with replies that fit and replies that do not (DailyDialog++): how well it tells the one from the other.
    """
    from rejoinder.auditing.relevance import apart
    from rejoinder.auditing.reply_sets import read_audited
    from rejoinder.auditing.run import ALLOWED
    from rejoinder.documents.files import require_writable, write_document

    for path in out or []:
        require_writable(path, lines=True)
    if card and not Path(scorer).is_dir():
        raise UsageError(f"{scorer} is no folder of a judge and has no card. Leave --card out; -o writes to a file")
    with reporting(on_error) as report_error:
        asked = how(columns, input_format, turns, [scorer], scale=scale)
        examples, sets = apart(read_audited(*files, on_error=report_error, **asked))
        examples = list(on_scale(examples, scale, report_error))
    allowed = ALLOWED if fail_over is None else fail_over
    options = {"limit": limit, "allowed": allowed, "seed": seed, "vectors": vectors}
    if sets:
        for path in out or []:
            require_writable(path)
        _refuse({"family": family, "pool": pool, "card": card, "scale": scale}, sets[0].where)
    attacks = {"families": family or None, "pool": pool}
    found = _of_sets(sets, scorer, options) if sets else _of_replies(examples, scorer, {**options, **attacks})
    if card:
        _into_card(found, scorer, files)
    named = _named(family, pool)
    for path in out or []:
        write_document(_document(found, files, _typed(files, scorer, named, fail_over, found, path)), path)
    _say(found, files, fail_over, out, as_json=as_json)
    if fail_over is not None and not found.gate().passed:
        raise typer.Exit(GATE_CLOSED)


def _of_replies(examples: list[Example], scorer: str, options: Mapping[str, Any]) -> Audit:
    """Attacks on single replies."""
    from rejoinder.auditing import audit

    with progress("scoring") as advance:
        return audit(examples, scorer, **options, advance=advance, expect=advance.expect)


def _of_sets(sets: list[ReplySet], scorer: str, options: Mapping[str, Any]) -> Relevance:
    """Relevant replies against irrelevant ones."""
    from rejoinder.auditing import relevance

    with progress("scoring") as advance:
        return relevance(sets, scorer, **options, advance=advance, expect=advance.expect)


def _refuse(flags: Mapping[str, object], where: str) -> None:
    """Raise for a flag that means nothing of sets of replies."""
    if given := next((name for name, value in flags.items() if value), None):
        raise UsageError(f"--{given} is for attacks, and {where} brings its own irrelevant replies. Leave it out")


def _document(found: Audit | Relevance, files: list[str], command: str = "") -> Document:
    """The report."""
    from rejoinder.auditing.card import Audit
    from rejoinder.documents.audit import audit_document
    from rejoinder.documents.relevance import relevance_document

    if isinstance(found, Audit):
        return audit_document(found, files, command)
    return relevance_document(found, files, command)


def _into_card(found: Audit | Relevance, folder: str, files: list[str]) -> None:
    """An audit into the card of a judge; sets of replies never come here."""
    from rejoinder.auditing.card import Audit
    from rejoinder.documents.audit import write_into_card

    if isinstance(found, Audit):
        write_into_card(found, folder, files)


def _say(
    found: Audit | Relevance, files: list[str], fail_over: float | None, out: list[Path] | None, *, as_json: bool
) -> None:
    """The card for people, or as JSON."""
    from rejoinder.documents.audit import gate_text
    from rejoinder.documents.terminal import terminal

    if as_json:
        told = {} if fail_over is None else {"gate": found.gate()._asdict()}
        typer.echo(json.dumps({**found.to_dict(), **told}, ensure_ascii=False))
        return
    tell(terminal(_document(found, files), width()))
    if fail_over is not None:
        tell(gate_text(found.gate()))
    if out:
        tell(f"saved in {', '.join(map(str, out))}")


def _named(family: list[str] | None, pool: Path | None) -> list[str]:
    """What was said of the attacks, for the page."""
    named = [word for name in family or [] for word in ("--family", name)]
    return [*named, *([] if pool is None else ["--pool", pool.name])]


def _typed(
    files: list[str],
    scorer: str,
    named: Sequence[str],
    fail_over: float | None,
    found: Audit | Relevance,
    out: Path,
) -> str:
    """The call, for the page."""
    gate = [] if fail_over is None else ["--fail-over", str(fail_over)]
    options = ["--limit", str(found.limit), *gate, "--seed", str(found.seed)]
    return shlex.join(["rejoinder", "audit", *files, "-s", scorer, *named, *options, "-o", str(out)])
