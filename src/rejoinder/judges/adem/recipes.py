"""How a judge is fitted: what each kind takes unasked, the papers' recipes, and what a call changes of them.

Lowe et al. 2017 (ADEM): paper and released program disagree, and where they do `LOWE2017` is the program, because it
made the published judge.

| | paper | released program | `lowe2017` |
| --- | --- | --- | --- |
| penalty | squared norm (equation 2) | norm, not squared, times .075 | the program's, whose weight goes with it |
| data term | sum of squared errors | mean | mean, here always |
| Adam's step | .01 (supplement) | .001 | .001 |
| batch, epochs | not printed | 32, 200; the best by validation error | the program's |
| components | 50 | 50 | 50 |
| over-sampling | by words | by characters; 1 to 20 and over 140 left out of training | the program's |
| length of vectors | as they are | as they are | as they are |

Not taken over are the program's batches of nearly one score (see `fit_head`) and its components that are fitted on
over-sampled lines (see `fit_projection`). Deriu and Cieliebak 2019 (AutoJudge) print step and batch of `DERIU2019`,
neither penalty nor components, and say neither for how long they train nor when they stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rejoinder.errors import UsageError
from rejoinder.judges.adem.fit import FitOptions
from rejoinder.judges.adem.judge import Kind

LOWE2017 = FitOptions(
    components=50,
    epochs=200,
    batch_size=32,
    learning_rate=0.001,
    penalty="frobenius",
    penalty_weight=0.075,
    oversample="release",
    normalise="none",
)
DERIU2019 = FitOptions(components=None, batch_size=512, learning_rate=0.001, penalty_weight=0.0)
PRESETS: Mapping[str, FitOptions] = {"lowe2017": LOWE2017, "deriu2019": DERIU2019}


def options_of(kind: Kind, options: FitOptions | None = None) -> FitOptions:
    """How a judge of this kind is fitted where `options` are asked for, or none."""
    options = options or (DERIU2019 if kind == "autojudge" else FitOptions())
    return replace(options, epochs=0) if kind == "vhred" else options


def fit_options(
    kind: Kind, preset: str | None = None, asked: Mapping[str, Any] | None = None, *, width: int | None = None
) -> FitOptions:
    """A recipe with single options changed.

    Args:
        kind: of the judge; without a preset its own recipe is taken.
        preset: one of `PRESETS`.
        asked: fields of `FitOptions` that win over the recipe.
        width: D of the encoder, where it is known.

    Raises:
        UsageError: there is no such preset, a value is out of its range, or an option would have no effect.
    """
    if preset is not None and preset not in PRESETS:
        raise UsageError(f"no preset is called {preset!r}. There are: {', '.join(PRESETS)}")
    asked = asked or {}
    options = replace(options_of(kind) if preset is None else PRESETS[preset], **asked)
    if "penalty" in asked and not options.penalty_weight:
        found = f"the penalty {options.penalty} would have no effect: its weight is 0"
        raise UsageError(f"{found}. Give --penalty-weight (penalty_weight) over 0 too, or leave the penalty out")
    if width is not None and (asked.get("components") or 0) > width:
        found = f"{options.components} components of vectors that have {width} dimensions"
        raise UsageError(f"{found}. Ask for {width} or fewer, or for all")
    return options
