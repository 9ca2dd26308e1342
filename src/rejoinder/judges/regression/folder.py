"""The heads of a judge as parts of a folder. Every number of a folder is checked: it may come from a stranger."""

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
from rejoinder.judges.learner import Side
from rejoinder.judges.regression.calibration import Calibration
from rejoinder.judges.regression.cloud import TrainingCloud
from rejoinder.judges.regression.correction import from_parts as correction_in
from rejoinder.judges.regression.fitted import SIDES, FittedHead
from rejoinder.judges.regression.head import Head
from rejoinder.judges.regression.kernel import Kernel
from rejoinder.judges.regression.linear import Linear
from rejoinder.judges.regression.trees import Trees
from rejoinder.models.weights import Size, tensor

_Depth = Annotated[int, Interval(ge=0, le=64)]
_TREES = ("roots", "feature", "threshold", "missing_left", "left", "right", "value")
# The names in folders; some are older than those in the code.
_CORRECTION, _VECTOR_LINE, _PROBE = "adaptation", "probe", "contrast"


def with_heads(parts: Parts, feature_set: FeatureSet, heads: Mapping[Side, FittedHead]) -> Parts:
    """Return a judge's parts with its heads."""
    parts = replace(parts, config={**parts.config, "columns": list(feature_set.columns)})
    for side, head in heads.items():
        parts = parts.holding(side, _to_parts(head))
    return parts


def heads_in(parts: Parts, feature_set: FeatureSet) -> dict[Side, FittedHead]:
    """Return the heads that a folder holds for these features.

    Raises:
        DataError: the folder was made with other features, or a number is impossible.
    """
    places = feature_set.places(value_in(parts.config, "columns", list[str]))
    heads = {side: _from_parts(parts.inner(side), len(places)) for side in SIDES if side in parts.config}
    heads = {side: head._replace(columns=places[head.columns]) for side, head in heads.items()}
    if not heads:
        raise DataError("no head in it", AGAIN)
    for fitted in heads.values():
        readers, plain = feature_set.readers[fitted.columns].tolist(), fitted.head.plain
        if readers != [*[0] * plain, RULE, *[VECTOR] * (len(readers) - plain - 1)]:
            raise DataError("its features are not in the order that its head reads them in", AGAIN)
    return heads


def _to_parts(fitted: FittedHead) -> Parts:
    head, calibration, cloud = fitted.head, fitted.calibration, fitted.cloud
    numbers = [head.kernel.base, calibration.centre, calibration.middle, calibration.stretch]
    tensors: dict[str, NDArray[Any]] = {
        "columns": fitted.columns.astype(np.int32),
        **{f"kernel.{name}": getattr(head.kernel, name) for name in ("centre", "spread", "origin", "weights")},
        "kernel.marks": head.kernel.landmarks,
        **{f"trees.{name}": getattr(head.trees, name) for name in _TREES},
        "trees.missing_left": head.trees.missing_left.astype(np.uint8),
        **{f"calibration.{name}": getattr(calibration, name) for name in ("scores", "below", "above")},
        **{f"likeness.{name}": getattr(cloud, name) for name in ("centre", "spread")},
        "numbers": np.array([*numbers, cloud.bound, head.nonsense_penalty]),
    }
    parts = Parts({"lines": fitted.lines, "depth": head.trees.depth}, tensors)
    if head.vector_line is not None:
        parts = parts.holding(_VECTOR_LINE, _linear_parts(head.vector_line))
    for name, probe in zip(_probe_names(), head.probes, strict=False):
        parts = parts.holding(name, _linear_parts(probe))
    return parts if fitted.correction is None else parts.holding(_CORRECTION, fitted.correction.parts)


def _from_parts(parts: Parts, features: int) -> FittedHead:
    """Return a head over so many features."""
    tensors = parts.tensors
    columns = _whole_numbers(tensors, "columns", 0, features - 1)
    line = _linear_in(parts.inner(_VECTOR_LINE)) if _VECTOR_LINE in parts.config else None
    vector = len(line.weights) if line else 0
    width = len(columns) - 1 - vector
    if width < 1:
        raise DataError("its probe reads more features than there are", AGAIN)
    names = takewhile(lambda name: name in parts.config, _probe_names())
    probes = tuple(_linear_in(parts.inner(name), width + vector) for name in names)
    read = width + len(probes)
    base, centre, middle, stretch, bound, nonsense_penalty = tensor(tensors, "numbers", (6,)).tolist()
    kernel = {name: tensor(tensors, f"kernel.{name}", (read,)) for name in ("centre", "spread", "origin")}
    landmarks = tensor(tensors, "kernel.marks", (None, read)).astype(np.float32)
    weights = tensor(tensors, "kernel.weights", (len(landmarks),))
    scores = tensor(tensors, "calibration.scores", (None,))
    ends = {name: tensor(tensors, f"calibration.{name}", (len(scores),)) for name in ("below", "above")}
    is_wrong = (np.diff(scores) < 0).any() or (ends["below"] > 0).any() or (ends["above"] < 0).any() or stretch < 0
    cloud = {name: tensor(tensors, f"likeness.{name}", (width,)) for name in ("centre", "spread")}
    if is_wrong or (kernel["spread"] <= 0).any() or (cloud["spread"] <= 0).any():
        raise DataError("a number of its calibration or a spread is impossible", AGAIN)
    trees = _trees_in(tensors, value_in(parts.config, "depth", _Depth), read)
    return FittedHead(
        columns=columns.astype(np.intp),
        head=Head(
            Kernel(**kernel, landmarks=landmarks, weights=weights, base=base), trees, line, nonsense_penalty, probes
        ),
        calibration=Calibration(centre, middle, stretch, scores, **ends),
        cloud=TrainingCloud(**cloud, bound=bound),
        lines=value_in(parts.config, "lines", Size),
        correction=correction_in(parts.inner(_CORRECTION), width) if _CORRECTION in parts.config else None,
    )


def _probe_names() -> Iterator[str]:
    """Yield the names of probes in a folder, in order."""
    return (f"{_PROBE}_{place}" for place in count(1))


def _linear_parts(linear: Linear) -> Parts:
    tensors = {name: getattr(linear, name) for name in ("centre", "spread", "weights")}
    return Parts({}, {**tensors, "numbers": np.array([linear.base])})


def _linear_in(parts: Parts, width: int | None = None) -> Linear:
    centre = tensor(parts.tensors, "centre", (width,))
    spread, weights = (tensor(parts.tensors, name, (len(centre),)) for name in ("spread", "weights"))
    if (spread <= 0).any():
        raise DataError("a spread of a linear function in it is not over 0", AGAIN)
    return Linear(centre, spread, weights, tensor(parts.tensors, "numbers", (1,)).item())


def _trees_in(tensors: Mapping[str, NDArray[Any]], depth: int, width: int) -> Trees:
    """Return trees over so many features; every path stays inside them."""
    value = tensor(tensors, "trees.value", (None,))
    nodes, last = len(value), len(value) - 1
    return Trees(
        roots=_whole_numbers(tensors, "trees.roots", 0, last),
        feature=_whole_numbers(tensors, "trees.feature", 0, width - 1, nodes),
        threshold=tensor(tensors, "trees.threshold", (nodes,)),
        missing_left=_whole_numbers(tensors, "trees.missing_left", 0, 1, nodes).astype(np.bool_),
        left=_whole_numbers(tensors, "trees.left", 0, last, nodes),
        right=_whole_numbers(tensors, "trees.right", 0, last, nodes),
        value=value,
        depth=depth,
    )


def _whole_numbers(
    tensors: Mapping[str, NDArray[Any]], name: str, low: int, high: int, length: int | None = None
) -> NDArray[Any]:
    """Return the whole numbers with this name, all from `low` to `high`."""
    numbers = tensors.get(name)
    is_list = numbers is not None and numbers.ndim == 1 and numbers.dtype.kind in "iu" and len(numbers)
    if (
        numbers is None
        or not is_list
        or length not in (None, len(numbers))
        or numbers.min() < low
        or numbers.max() > high
    ):
        raise DataError(f"the tensor {name} is not whole numbers from {low} to {high}", AGAIN)
    return numbers if numbers.dtype.itemsize < 8 else numbers.astype(np.int64)
