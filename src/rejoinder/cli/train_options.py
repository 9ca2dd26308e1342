"""The options of `rejoinder train`, by group."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import State
from rejoinder.cli.places import Reads, in_encoder, in_view

References = StrEnum("References", "MEAN BEST")
Penalty = StrEnum("Penalty", "FROBENIUS L2_SQUARED L1")
OverSample = StrEnum("OverSample", "WORDS RELEASE NONE")
Normalise = StrEnum("Normalise", "L2 NONE")
Preset = StrEnum("Preset", "LOWE2017 DERIU2019")
_READING, _FITTING = "What it reads", "How it is fitted (what is left out: the judge's own recipe, or the preset's)"
Encoder = Annotated[
    str | None,
    typer.Option(
        "-e",
        "--encoder",
        help="What turns texts into vectors: rejoinder (the encoder of the bundled judge), sentence:MODEL (of "
        "sentence-transformers), or the folder of a pre-trained model or of a judge. Default: word-vectors, which are "
        "averaged.",
        metavar="NAME",
        rich_help_panel=_READING,
    ),
    Reads(in_encoder),
]
Views = Annotated[
    list[str] | None,
    typer.Option(
        "--view",
        help="For the kind judge, repeatable: what it reads besides its built-in features. sentence:MODEL (of "
        "sentence-transformers), lm:MODEL (a causal language model of transformers), the folder of a pre-trained "
        "encoder, a metric, or column:KEY (another scorer's numbers in the lines).",
        metavar="NAME",
        rich_help_panel=_READING,
    ),
    Reads(in_view),
]
StateOf = Annotated[
    State | None,
    typer.Option(help="Which state of an HRED or VHRED stands for a text. Default: context.", rich_help_panel=_READING),
]
OwnVectors = Annotated[
    Path | None,
    typer.Option(
        "--vectors", help="Word vectors. Default: the bundled ones.", metavar="FILE", rich_help_panel=_READING
    ),
    Reads(),
]
Several = Annotated[
    References | None,
    typer.Option(
        help="Several references: the mean of the scores against each (default), or the best, which rises with each "
        "more. Not for c-adem and autojudge, which read none.",
        rich_help_panel=_READING,
    ),
]
Recipe = Annotated[
    Preset | None,
    typer.Option(
        help="lowe2017: ADEM as its release trains it (50 components, frobenius norm times .075, step .001, batch 32, "
        "200 epochs, over-sampling as the release does); deriu2019: what autojudge uses by default (all components, no "
        "penalty, step .001, batch 512). Other options override it.",
        rich_help_panel=_FITTING,
    ),
]
Components = Annotated[
    str | None,
    typer.Option(
        help="Principal components of the vectors, a number or all. Default: 50; autojudge: all.",
        metavar="N",
        rich_help_panel=_FITTING,
    ),
]
Normalised = Annotated[
    Normalise | None,
    typer.Option("--normalise", help="l2: every vector gets length 1 first. Default: none.", rich_help_panel=_FITTING),
]
Repeated = Annotated[
    OverSample | None,
    typer.Option(
        help="Repeat training lines so that length predicts nothing: by words, or as the release does, which leaves "
        "out responses of under 16 and over 135 characters. Default: none.",
        rich_help_panel=_FITTING,
    ),
]
Norm = Annotated[
    Penalty | None,
    typer.Option(
        help="Norm of the matrices that is the penalty: of ADEM's release (default), its paper, or its first version.",
        rich_help_panel=_FITTING,
    ),
]
Weight = Annotated[
    float | None,
    typer.Option(
        help="How much the norm counts; 0: no penalty. Default: .003; autojudge: 0.",
        metavar="W",
        rich_help_panel=_FITTING,
    ),
]
Step = Annotated[
    float | None,
    typer.Option(help="Adam's step. Default: .003; autojudge: .001.", metavar="S", rich_help_panel=_FITTING),
]
Epochs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Passes over the training part; the best by validation error is kept. Default: 200.",
        metavar="N",
        rich_help_panel=_FITTING,
    ),
]
Batch = Annotated[
    int | None,
    typer.Option(min=1, help="Lines a step. Default: 32; autojudge: 512.", metavar="N", rich_help_panel=_FITTING),
]
