"""The judge in the box: what `rejoinder score` scores with where nothing else is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rejoinder.encoders import PortableEncoder, load_encoder
from rejoinder.io.box import JUDGE
from rejoinder.io.folders import read_folder
from rejoinder.judges.bilinear.fit import FitOptions
from rejoinder.judges.bilinear.learner import BilinearLearner, PanelLearner
from rejoinder.judges.bilinear.panel import MEMBERS, Panel, from_parts
from rejoinder.learner import Choices
from rejoinder.scorer import Card

NAME = "rejoinder"
# Larger batches, longer steps and fewer epochs than the judge in the box was fitted with: four times quicker, and the
# validation error of the members is the same within .005 rating points (docs/lab-notes.md).
QUICK = FitOptions(epochs=15, batch_size=256, learning_rate=0.01)
VERSION = 2  # texts are read to their end
FOLDER = JUDGE

CARDS = {
    NAME: Card(
        name=NAME,
        summary="The judge in the box: the rating from 1 to 5 that people would give, predicted",
        kind="judge",
        needs=frozenset({"context or reference"}),
        range=(None, None),
        version=VERSION,
        source="ADEM (Lowe et al. 2017, equation 1) over a dual encoder (Henderson et al. 2017)",
        notes=(
            "Reads the context, and references where there are any, or these alone. Nominally 1 to 5, not clipped. "
            "What it was trained on, how far it agrees with people, what fools it: rejoinder show rejoinder."
        ),
    )
}


def load(name: str, vectors: str | Path | None) -> Panel:  # noqa: ARG001 - every scorer is loaded so
    """The judge in the box."""
    # Its own name and version, because a signature must tell it from a panel of the user's.
    return replace(from_parts(read_folder(FOLDER)), name=name, version=VERSION)


def learner(name: str, choices: Choices) -> PanelLearner:
    """What learns judges like the one in the box, over its encoder, quickly enough to leave each data set out."""
    choices.only(name)
    own = load_encoder(FOLDER)
    return PanelLearner(tuple(BilinearLearner(kind, own, QUICK) for kind in MEMBERS))


def encoder(vectors: str | Path | None) -> PortableEncoder:  # noqa: ARG001 - every encoder is made so
    """The encoder of the judge in the box; it has seen dialogues and no rating."""
    return load_encoder(FOLDER)
