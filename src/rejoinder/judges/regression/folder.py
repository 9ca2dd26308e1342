"""The heads of a judge as parts of a folder. Every number of a folder is checked: it may come from a stranger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, takewhile
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from rejoinder.data.folders import AGAIN, Parts, value_in
from rejoinder.errors import DataError
from rejoinder.judges.domain import TrainingCloud
from rejoinder.judges.features.table import RULE, VECTOR, FeatureSet
from rejoinder.judges.protocol import Side
from rejoinder.judges.regression.calibration import Calibration
from rejoinder.judges.regression.correction import RAW_TEXT_FEATURES, Correction
from rejoinder.judges.regression.head import SIDES, FittedHead, Head
from rejoinder.judges.regression.kernel import Kernel
from rejoinder.judges.regression.linear import Linear
from rejoinder.judges.regression.trees import Trees
from rejoinder.models.weights import Size, Tensors, tensor

_Depth = Annotated[int, Interval(ge=0, le=64)]
_CLOUD, _ENDS = ("centre", "spread"), ("below", "above")
_KERNEL, _LINEAR = (*_CLOUD, "origin"), (*_CLOUD, "weights")
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
    head, calibration = fitted.head, fitted.calibration
    level = [calibration.centre, calibration.middle, calibration.stretch]
    tensors = {
        "columns": fitted.columns.astype(np.int32),
        **_arrays("kernel.", head.kernel, (*_KERNEL, "weights")),
        "kernel.marks": head.kernel.landmarks,
        **_arrays("trees.", head.trees, _TREES),
        "trees.missing_left": head.trees.missing_left.astype(np.uint8),
        **_arrays("calibration.", calibration, ("scores", *_ENDS)),
        **_arrays("likeness.", fitted.cloud, _CLOUD),
        "numbers": np.array([head.kernel.base, *level, fitted.cloud.bound, head.nonsense_penalty]),
    }
    parts = Parts({"lines": fitted.lines, "depth": head.trees.depth}, tensors)
    if head.vector_line is not None:
        parts = parts.holding(_VECTOR_LINE, _linear_parts(head.vector_line))
    for name, probe in zip(_probe_names(), head.probes, strict=False):
        parts = parts.holding(name, _linear_parts(probe))
    if fitted.correction is not None:
        linear, cloud = fitted.correction.linear, fitted.correction.cloud
        own = {**_linear_parts(linear, cloud.bound).tensors, **_arrays("likeness.", cloud, _CLOUD)}
        parts = parts.holding(_CORRECTION, Parts({"raw": list(RAW_TEXT_FEATURES)}, own))
    return parts


def _from_parts(parts: Parts, features: int) -> FittedHead:
    """Return a head over `features` features."""
    tensors = parts.tensors
    columns = _whole_numbers(tensors, "columns", features - 1)
    line = _linear_in(parts.inner(_VECTOR_LINE)) if _VECTOR_LINE in parts.config else None
    vector = len(line.weights) if line else 0
    width = len(columns) - 1 - vector
    if width < 1:
        raise DataError("its probe reads more features than there are", AGAIN)
    names = takewhile(lambda name: name in parts.config, _probe_names())
    probes = tuple(_linear_in(parts.inner(name), width + vector) for name in names)
    read = width + len(probes)
    base, centre, middle, stretch, bound, nonsense_penalty = tensor(tensors, "numbers", (6,)).tolist()
    landmarks = tensor(tensors, "kernel.marks", (None, read)).astype(np.float32)
    weights = tensor(tensors, "kernel.weights", (len(landmarks),))
    kernel = Kernel(**_floats(tensors, "kernel.", _KERNEL, read), landmarks=landmarks, weights=weights, base=base)
    scores = tensor(tensors, "calibration.scores", (None,))
    ends = _floats(tensors, "calibration.", _ENDS, len(scores))
    if (np.diff(scores) < 0).any() or (ends["below"] > 0).any() or (ends["above"] < 0).any() or stretch < 0:
        raise DataError("a number of its calibration is impossible", AGAIN)
    trees = _trees_in(tensors, value_in(parts.config, "depth", _Depth), read)
    return FittedHead(
        columns=columns.astype(np.intp),
        head=Head(kernel, trees, line, nonsense_penalty, probes),
        calibration=Calibration(centre, middle, stretch, scores, **ends),
        cloud=TrainingCloud(**_floats(tensors, "likeness.", _CLOUD, width), bound=bound),
        lines=value_in(parts.config, "lines", Size),
        correction=_correction_in(parts.inner(_CORRECTION), width) if _CORRECTION in parts.config else None,
    )


def _correction_in(parts: Parts, width: int) -> Correction:
    """Return the correction of a head over F = `width` features."""
    if parts.config.get("raw") != list(RAW_TEXT_FEATURES):
        raise DataError("it was fitted with other features of the text than this version has", "Fit it again")
    linear = _linear_in(parts, 1 + width + len(RAW_TEXT_FEATURES), 2)
    bound = float(parts.tensors["numbers"][1])
    return Correction(linear, TrainingCloud(**_floats(parts.tensors, "likeness.", _CLOUD, width), bound=bound))


def _probe_names() -> Iterator[str]:
    """Yield the names of probes in a folder, in order."""
    return (f"{_PROBE}_{place}" for place in count(1))


def _linear_parts(linear: Linear, *numbers: float) -> Parts:
    return Parts({}, {**_arrays("", linear, _LINEAR), "numbers": np.array([linear.base, *numbers])})


def _linear_in(parts: Parts, width: int | None = None, numbers: int = 1) -> Linear:
    """Return a linear function of `width` features; its base is the first entry of a tensor of `numbers` entries."""
    width = len(tensor(parts.tensors, "centre", (width,)))
    base = float(tensor(parts.tensors, "numbers", (numbers,))[0])
    return Linear(**_floats(parts.tensors, "", _LINEAR, width), base=base)


def _trees_in(tensors: Tensors, depth: int, width: int) -> Trees:
    """Return trees over `width` features; raise `DataError` if a path would leave the trees."""
    value = tensor(tensors, "trees.value", (None,))
    nodes, last = len(value), len(value) - 1
    most = {"roots": last, "feature": width - 1, "missing_left": 1, "left": last, "right": last}
    whole = {
        name: _whole_numbers(tensors, f"trees.{name}", high, None if name == "roots" else nodes)
        for name, high in most.items()
    }
    whole["missing_left"] = whole["missing_left"].astype(np.bool_)
    return Trees(**whole, threshold=tensor(tensors, "trees.threshold", (nodes,)), value=value, depth=depth)


def _arrays(prefix: str, record: object, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    return {f"{prefix}{name}": getattr(record, name) for name in names}


def _floats(tensors: Tensors, prefix: str, names: Sequence[str], length: int) -> dict[str, Any]:
    """Return the named vectors of one length; a spread is over 0."""
    floats = {name: tensor(tensors, f"{prefix}{name}", (length,)) for name in names}
    if "spread" in floats and (floats["spread"] <= 0).any():
        raise DataError(f"the tensor {prefix}spread is not over 0", AGAIN)
    return floats


def _whole_numbers(tensors: Tensors, name: str, high: int, length: int | None = None) -> NDArray[Any]:
    """Return the list of whole numbers with this name, all from 0 to `high`."""
    numbers = tensors.get(name, np.empty(0))
    is_list = numbers.ndim == 1 and numbers.dtype.kind in "iu" and len(numbers) and length in (None, len(numbers))
    if not is_list or numbers.min() < 0 or numbers.max() > high:
        raise DataError(f"the tensor {name} is not a list of whole numbers from 0 to {high}", AGAIN)
    return numbers if numbers.dtype.itemsize < 8 else numbers.astype(np.int64)
