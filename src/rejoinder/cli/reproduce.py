"""`rejoinder reproduce`: the experiments of a paper, run anew on rated examples."""

from __future__ import annotations

import datetime
import os
import shlex
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from rejoinder.cli.common import OnError, OnErrorFlag, Seed, progress, reporting, tell
from rejoinder.cli.inputs import say
from rejoinder.cli.places import Given, Reads, Writes, in_named


def _pages(out: Path, given: Given) -> list[Path]:
    """The page in the folder, and figures of earlier runs, which are replaced too."""
    return [out / f"{given['name']}.md", *out.glob(f"{given['name']}-*.svg")]


def command(
    name: Annotated[
        str,
        typer.Argument(help="lowe2017 (ADEM), deriu2019 (AutoJudge) or liu2016-table2 (responders).", metavar="NAME"),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder for NAME.md and its figures.", metavar="FOLDER"), Writes(_pages)
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Rated examples; for liu2016-table2 the corpora that the responders were trained on. Default: what "
            "--data has of the paper's kind.",
            metavar="FILE",
        ),
        Reads(),
    ] = None,
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            "-e",
            "--encoder",
            help="A pre-trained encoder and its name in the tables; the first is the main one. Without a state, HRED "
            "and VHRED are tried with both. Averaged word vectors always come last.",
            metavar="NAME=FOLDER[:STATE]",
        ),
        Reads(in_named),
    ] = None,
    responder: Annotated[
        list[str] | None,
        typer.Option(
            "-r",
            "--responder",
            help="For liu2016-table2: a responder and its name in the table.",
            metavar="NAME=FOLDER",
        ),
        Reads(in_named),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder that holds judgements/*.jsonl.gz. Default: data in $REJOINDER_SHARED.", metavar="FOLDER"
        ),
        Reads(),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Random splits (lowe2017: 5), or rounds of ten folds (deriu2019: 1).")
    ] = None,
    seed: Seed = 0,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Run the experiments of a paper anew: a page with our figures beside the published ones, with intervals."""
    from rejoinder.errors import UsageError
    from rejoinder.papers import TABLE2, experiment
    from rejoinder.papers.page import About, require_figures, write_page

    start = time.perf_counter()
    asks = name == TABLE2
    if not asks:
        experiment(name)  # that there is one comes before all else that can be wrong
    if not out.is_dir():
        raise UsageError(f"{out}: no such folder. Make it first: mkdir -p {out}")
    if (asks and (encoder or data or seeds)) or (not asks and (responder or seed)):
        raise UsageError(
            f"{TABLE2} takes -r and --seed, the others -e, --data and --seeds. Leave out what does not fit"
        )
    if files and data is not None:
        raise UsageError("FILES and --data were both given. Give one of them")
    require_figures()
    if asks:
        found, rounds = _asked(files, responder, seed, on_error), 1
    else:
        found, rounds = _fitted(name, files, encoder, data, seeds, on_error)
    about = About(
        _typed(
            name,
            out,
            files,
            {"-e": encoder, "-r": responder},
            {"--seeds": seeds, "--seed": seed if asks else None, "--on-error": _unless_stop(on_error)},
        ),
        datetime.date.today().isoformat(),
        rounds,
        time.perf_counter() - start,
        os.cpu_count() or 1,
    )
    page = import_module(f"rejoinder.papers.{name.replace('-', '_')}_page").page(found, about)
    write_page(page, out, name)
    tell(f"{page.summary}\nsaved in {out / name}.md")


def _fitted(
    name: str,
    files: list[str] | None,
    encoder: list[str] | None,
    data: Path | None,
    seeds: int | None,
    on_error: OnError,
) -> tuple[Any, int]:
    """What an experiment with judges found, and its rounds."""
    from rejoinder.io import read
    from rejoinder.papers import experiment, files_of, source
    from rejoinder.papers.encodings import prepare

    paper, sources = experiment(name), [source(text) for text in encoder or []]
    with reporting(on_error) as on_bad:
        examples = list(read(*(files or files_of(paper.SETS, data)), on_bad=on_bad, note=say))
    rounds = seeds or paper.SEEDS
    with progress("encoding"):
        prepared = prepare(examples, sources, paper.NEEDS)
    with progress("fitting", paper.steps(prepared, rounds)) as advance:
        return paper.compute(prepared, rounds, advance), rounds


def _asked(files: list[str] | None, responder: list[str] | None, seed: int, on_error: OnError) -> Any:
    """What responders said, measured."""
    from rejoinder.errors import UsageError
    from rejoinder.io.corpus import corpus_files
    from rejoinder.papers.liu2016_table2 import compute, contexts, responders

    if not files or not responder:
        raise UsageError("liu2016-table2 asks responders about corpora. Give CORPUS files and -r NAME=FOLDER")
    given = responders(responder)
    with reporting(on_error) as on_bad, progress("reading"):
        asked = contexts(corpus_files(files), seed, on_bad=on_bad)
    with progress("asking", len(given) * len(asked.examples)) as advance:
        return compute(asked, given, seed, advance=advance)


def _typed(
    name: str,
    out: Path,
    files: list[str] | None,
    sources: Mapping[str, list[str] | None],
    values: Mapping[str, int | str | None],
) -> str:
    """The call for the page, without the places on this machine."""
    parts = ["rejoinder", "reproduce", name, *(Path(file).name for file in files or [])]
    for flag, given in sources.items():
        for text in given or []:
            called, _, place = text.partition("=")
            # A command and an address are no places on this machine.
            parts += [flag, text if place.startswith(("command:", "openai:")) else f"{called}={_bare(place)}"]
    for flag, value in values.items():
        parts += [flag, str(value)] if value is not None else []
    return shlex.join([*parts, "-o", out.name if out.is_absolute() else str(out)])


def _unless_stop(on_error: OnError) -> str | None:
    """What the call has to say of bad lines, so that it does not stop at one that this run passed over."""
    return None if on_error is OnError.STOP else on_error.value


def _bare(place: str) -> str:
    """The name of a file or folder without the folders around it; `human:` before it stays."""
    return f"{'human:' * place.startswith('human:')}{Path(place.removeprefix('human:')).name}"
