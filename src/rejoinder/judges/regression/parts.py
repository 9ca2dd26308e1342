"""A judge over views as parts of a folder, and back: every number of a stranger's folder is checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count, takewhile
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from rejoinder.data.folders import AGAIN, Parts, value_in
from rejoinder.errors import DataError
from rejoinder.judges.features.table import RULE, VECTOR, FeatureSet
from rejoinder.judges.regression.adapt import from_parts as adaptation_of
from rejoinder.judges.regression.calibration import Calibration
from rejoinder.judges.regression.fit import WAYS, Part, Way
from rejoinder.judges.regression.head import Head
from rejoinder.judges.regression.kernel import Kernel
from rejoinder.judges.regression.likeness import Likeness
from rejoinder.judges.regression.linear import Linear
from rejoinder.judges.regression.trees import Trees
from rejoinder.models.weights import Size, tensor

_Depth = Annotated[int, Interval(ge=0, le=64)]
_KERNEL = ("centre", "spread", "origin")
_ADAPTATION, _PROBE, _CONTRAST = "adaptation", "probe", "contrast"


def with_heads(parts: Parts, views: FeatureSet, heads: Mapping[Way, Part]) -> Parts:
    """A judge's parts, and its heads."""
    parts = replace(parts, config={**parts.config, "columns": list(views.columns)})
    for way, part in heads.items():
        parts = parts.holding(way, _written(part))
    return parts


def heads_in(parts: Parts, views: FeatureSet) -> dict[Way, Part]:
    """The heads that a folder holds for these views.

    Raises:
        DataError: the folder was made with other features, or a number in it is none that a head can have.
    """
    places = views.places(value_in(parts.config, "columns", list[str]))
    found = {way: _read(parts.inner(way), len(places)) for way in WAYS if way in parts.config}
    found = {way: part._replace(columns=places[part.columns]) for way, part in found.items()}
    if not found:
        raise DataError("no head in it", AGAIN)
    for part in found.values():
        readers = views.readers[part.columns].tolist()
        if readers != [*[0] * part.head.plain, RULE, *[VECTOR] * (len(readers) - part.head.plain - 1)]:
            raise DataError("its features do not stand in the order that its head reads them in", AGAIN)
    return found


def _written(part: Part) -> Parts:
    """One head."""
    calibration, likeness = part.calibration, part.likeness
    tensors: dict[str, NDArray[Any]] = {
        "columns": part.columns.astype(np.int32),
        **{f"kernel.{name}": getattr(part.head.kernel, name) for name in _KERNEL},
        "kernel.marks": part.head.kernel.marks,
        "kernel.weights": part.head.kernel.weights,
        "trees.roots": part.head.trees.roots,
        "trees.feature": part.head.trees.feature,
        "trees.threshold": part.head.trees.threshold,
        "trees.missing_left": part.head.trees.missing_left.astype(np.uint8),
        "trees.left": part.head.trees.left,
        "trees.right": part.head.trees.right,
        "trees.value": part.head.trees.value,
        "calibration.scores": calibration.scores,
        "calibration.below": calibration.below,
        "calibration.above": calibration.above,
        "likeness.centre": likeness.centre,
        "likeness.spread": likeness.spread,
        "numbers": np.array(
            [
                part.head.kernel.base,
                calibration.centre,
                calibration.middle,
                calibration.stretch,
                likeness.bound,
                part.head.nonsense,
            ]
        ),
    }
    parts = Parts({"lines": part.lines, "depth": part.head.trees.depth}, tensors)
    if part.head.probe is not None:
        parts = parts.holding(_PROBE, _line(part.head.probe))
    for name, contrast in zip(_contrast_names(), part.head.contrasts, strict=False):
        parts = parts.holding(name, _line(contrast))
    return parts if part.adaptation is None else parts.holding(_ADAPTATION, part.adaptation.parts)


def _read(parts: Parts, features: int) -> Part:
    """One head over so many features."""
    given = parts.tensors
    columns = _whole(given, "columns", 0, features - 1)
    probe = _line_of(parts.inner(_PROBE)) if _PROBE in parts.config else None
    width = len(columns) - 1 - (len(probe.weights) if probe else 0)
    if width < 1:
        raise DataError("its probe reads more features than there are", AGAIN)
    contrasts = tuple(
        _line_of(parts.inner(name), len(columns) - 1)
        for name in takewhile(lambda name: name in parts.config, _contrast_names())
    )
    read = width + len(contrasts)
    base, centre, middle, stretch, bound, nonsense = tensor(given, "numbers", (6,)).tolist()
    own = {name: tensor(given, f"kernel.{name}", (read,)) for name in _KERNEL}
    marks = tensor(given, "kernel.marks", (None, read)).astype(np.float32)
    kernel = Kernel(**own, marks=marks, weights=tensor(given, "kernel.weights", (len(marks),)), base=base)
    scores = tensor(given, "calibration.scores", (None,))
    ends = {name: tensor(given, f"calibration.{name}", (len(scores),)) for name in ("below", "above")}
    wrong = (np.diff(scores) < 0).any() or (ends["below"] > 0).any() or (ends["above"] < 0).any() or stretch < 0
    if wrong or (own["spread"] <= 0).any():
        raise DataError("a calibration or a spread in it is none", AGAIN)
    cloud = Likeness(
        tensor(given, "likeness.centre", (width,)),
        tensor(given, "likeness.spread", (width,)),
        bound,
    )
    depth = value_in(parts.config, "depth", _Depth)
    return Part(
        columns=columns.astype(np.intp),
        head=Head(kernel, _trees(given, depth, read), probe, nonsense, contrasts),
        calibration=Calibration(centre, middle, stretch, scores, **ends),
        likeness=cloud,
        lines=value_in(parts.config, "lines", Size),
        adaptation=adaptation_of(parts.inner(_ADAPTATION), width) if _ADAPTATION in parts.config else None,
    )


def _contrast_names() -> Iterator[str]:
    """The names of contrasts, in order."""
    return (f"{_CONTRAST}_{place}" for place in count(1))


def _line(linear: Linear) -> Parts:
    """A probe, or a contrast."""
    tensors = {name: getattr(linear, name) for name in ("centre", "spread", "weights")}
    return Parts({}, {**tensors, "numbers": np.array([linear.base])})


def _line_of(parts: Parts, width: int | None = None) -> Linear:
    """What `_line` wrote down, over so many features."""
    centre = tensor(parts.tensors, "centre", (width,))
    spread, weights = (tensor(parts.tensors, name, (len(centre),)) for name in ("spread", "weights"))
    if (spread <= 0).any():
        raise DataError("a spread of a straight line in it is not over 0", AGAIN)
    return Linear(centre, spread, weights, tensor(parts.tensors, "numbers", (1,)).item())


def _trees(given: Mapping[str, NDArray[Any]], depth: int, width: int) -> Trees:
    """Trees over so many features, none of whose paths leads out of them."""
    value = tensor(given, "trees.value", (None,))
    last = len(value) - 1
    missing = _whole(given, "trees.missing_left", 0, 1, len(value))
    return Trees(
        roots=_whole(given, "trees.roots", 0, last),
        feature=_whole(given, "trees.feature", 0, width - 1, len(value)),
        threshold=tensor(given, "trees.threshold", (len(value),)),
        missing_left=missing.astype(np.bool_),
        left=_whole(given, "trees.left", 0, last, len(value)),
        right=_whole(given, "trees.right", 0, last, len(value)),
        value=value,
        depth=depth,
    )


def _whole(
    given: Mapping[str, NDArray[Any]], name: str, low: int, high: int, length: int | None = None
) -> NDArray[Any]:
    """The whole numbers called `name`, all from `low` to `high`."""
    found = given.get(name)
    fits = found is not None and found.ndim == 1 and found.dtype.kind in "iu" and len(found) == (length or len(found))
    if found is None or not fits or not len(found) or found.min() < low or found.max() > high:
        raise DataError(f"the tensor {name} is not whole numbers from {low} to {high}", AGAIN)
    return found if found.dtype.itemsize < 8 else found.astype(np.int64)  # numpy takes no index of 64 bits unsigned
