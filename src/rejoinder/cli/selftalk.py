"""`rejoinder selftalk`: systems that carry conversations on by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.common import Files, OnError, OnErrorFlag, Seed, progress, reporting, tell
from rejoinder.cli.decoding import (
    MORE_TOKENS,
    Beam,
    Longest,
    Method,
    MethodFlag,
    ResponderNames,
    Shortest,
    Temperature,
    TopP,
    Unseen,
    decoding_of,
)
from rejoinder.cli.inputs import Columns, InputFormat, how
from rejoinder.cli.places import Reads, Writes, in_responder

if TYPE_CHECKING:
    from rejoinder.scoring.selftalk import Conversation

DIALOGUES, TURNS = "dialogues.jsonl", "turns.jsonl"


Out = Annotated[Path, typer.Option("-o", "--out", help="Where to: a folder.", metavar="FOLDER"), Writes()]
Partner = Annotated[
    str | None,
    typer.Option("--with", help="Whom each talks with, in turn. Default: with itself.", metavar="NAME"),
    Reads(in_responder),
]
Contexts = Annotated[int, typer.Option(min=1, help="How many contexts to begin with, chosen by --seed.")]
Add = Annotated[int, typer.Option(min=1, help="How many turns to add.")]
StopOnLoop = Annotated[
    bool, typer.Option("--stop-on-loop", help="End a dialogue with a turn that was said in it before.")
]


def command(
    files: Files,
    responders: ResponderNames,
    out: Out,
    partner: Partner = None,
    contexts: Contexts = 100,
    add: Add = 10,
    stop_on_loop: StopOnLoop = False,
    unseen: Unseen = None,
    method: MethodFlag = Method.BEAM,
    beam: Beam = None,
    temperature: Temperature = 1.0,
    top_p: TopP = 1.0,
    longest: Longest = None,
    shortest: Shortest = 1,
    seed: Seed = 0,
    columns: Columns = None,
    input_format: InputFormat = None,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Let systems talk: each carries the contexts in the files on, with itself or with a partner.

    A dialogue is cut at a turn that --seed draws, since its end would be thanks and goodbye; other contexts stay whole.
    FOLDER/dialogues.jsonl gets a line a dialogue; FOLDER/turns.jsonl a line a turn that was added, with what was said
    before as its context, ready for `rejoinder score` and for raters.
    """
    from rejoinder.data.outputs import atomic_folder
    from rejoinder.errors import NothingScored
    from rejoinder.scoring.replies import contexts_of
    from rejoinder.scoring.selftalk import random_cut, sample_contexts, selftalk

    decoding = decoding_of(method, beam, temperature, top_p, longest, shortest)
    with atomic_folder(out, ours=(DIALOGUES, TURNS)) as folder:
        with reporting(on_error) as report_error:
            read = contexts_of(files, unseen, cut=random_cut(seed), on_error=report_error, **how(columns, input_format))
            starts = sample_contexts(read, contexts, seed)
        talks = len(responders) * len(starts)
        with progress("talking", talks * add) as advance:
            found = selftalk(
                starts,
                responders,
                partner=partner,
                turns=add,
                stop_on_loop=stop_on_loop,
                decoding=decoding,
                seed=seed,
                advance=advance,
            )
            if len(starts) < contexts:
                tell(f"the files hold {len(starts)} different contexts, fewer than {contexts}", err=True)
            ended, said, cut = _write(found, folder)
        for reason, number in ended.most_common():
            tell(f"ended early: {number:,} of {talks:,} dialogues ({reason})", err=True)
        if cut:
            tell(f"{cut:,} of {said:,} turns were cut off. {MORE_TOKENS}", err=True)
        if not said:  # while what stands at `out` is still there
            raise NothingScored(f"not a single turn was said, so nothing was written: {', '.join(ended)}")
    tell(f"{talks:,} dialogues, {said:,} turns in {out}; score them: rejoinder score {out / TURNS}")


def _write(found: Iterable[Conversation], folder: Path) -> tuple[Counter[str], int, int]:
    """Write conversations as they come; why some ended early, counted, how many turns were added, and cut off."""
    from rejoinder.data.write import open_writer
    from rejoinder.scoring.replies import CUT_OFF

    ended, said, cut = Counter[str](), 0, 0
    with open_writer(folder / DIALOGUES) as put_dialogue, open_writer(folder / TURNS) as put_turn:
        for dialogue, turns in found:
            put_dialogue(dialogue)
            for turn in turns:
                put_turn(turn)
            said += len(turns)
            cut += sum(CUT_OFF in turn for turn in turns)
            ended.update([dialogue["ended"]] if "ended" in dialogue else [])
    return ended, said, cut
