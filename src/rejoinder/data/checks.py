"""Values out of a model's folder, which may be damaged or a stranger's: each is what it must be, or one clear error.

The digest of a folder tells damage, not intent: whoever writes a folder writes its digest too.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import DataError, MissingAsset
from rejoinder.io.values import is_number, kind_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Kind = TypeVar("Kind", bound=DataclassInstance)
Float = TypeVar("Float", np.float16, np.float32)
Tensors = Mapping[str, NDArray[Any]]
AGAIN = "Copy the whole folder of the model again, or train it again"
LARGEST = 10_000_000
"""No size of a network and no limit of a text is larger."""
_DEEPEST = 40
_BARE = re.compile(r"[\w.-]+(/[\w.-]+)?")


class HasDigest(Protocol):
    """A model whose weights can be told from others."""

    @property
    def digest(self) -> str:
        """What tells them."""
        ...


Digested = TypeVar("Digested", bound=HasDigest)


def inner(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object under `name`."""
    found = config.get(name)
    if not isinstance(found, Mapping):
        raise _wrong(name, found, "an object")
    return found


def choice(config: Mapping[str, Any], name: str, known: Collection[str]) -> Any:
    """The text under `name`, one of those that are known."""
    found = config.get(name)
    if not isinstance(found, str) or found not in known:
        raise _wrong(name, found, f"one of {', '.join(known)}")
    return found


def number(config: Mapping[str, Any], name: str, low: float = -math.inf, high: float = math.inf) -> float:
    """The finite number under `name`, from `low` to `high`."""
    found: Any = config.get(name)
    if not is_number(found) or not low <= found <= high:
        between = "" if low == -math.inf else f" from {low:g}" + ("" if high == math.inf else f" to {high:g}")
        raise _wrong(name, found, f"a finite number{between}")
    return float(found)


def whole(config: Mapping[str, Any], name: str, low: int = 0, high: int = LARGEST) -> int:
    """The whole number under `name`, from `low` to `high`."""
    found = config.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
        raise _wrong(name, found, f"a whole number from {low} to {high}")
    return found


def sizes(kind: type[Kind], config: Mapping[str, Any]) -> Kind:
    """The record under `sizes`: whole numbers, shares from 0 to 1, yes or no, or words, as its fields are."""
    found, hints = inner(config, "sizes"), get_type_hints(kind)
    if unknown := next((name for name in found if name not in hints), None):
        raise DataError("unknown", AGAIN, field=f"sizes.{unknown}")
    wanted = {field.name for field in fields(kind) if field.name in found or field.default is MISSING}
    return kind(**{name: _of_type(found, name, hint) for name, hint in hints.items() if name in wanted})


def _of_type(config: Mapping[str, Any], name: str, hint: Any) -> Any:
    """The value under `name`, of one of the types that a record of sizes has."""
    if hint is int:
        return whole(config, name)
    if hint is float:
        return number(config, name, 0, 1)
    if hint is bool and not isinstance(config.get(name), bool):
        raise _wrong(name, config.get(name), "true or false")
    return config[name] if hint is bool else choice(config, name, get_args(hint))


def text_of(files: Mapping[str, str], name: str) -> str:
    """The text file called `name`."""
    if name not in files:
        raise DataError(f"no {name} in it", AGAIN)
    return files[name]


def listed(files: Mapping[str, str], name: str) -> list[str]:
    """The texts in the JSON list in the file `name`."""
    found = loaded(text_of(files, name), name)
    if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
        raise DataError(f"{name} is {kind_of(found)}, expected a list of texts", AGAIN)
    return found


def tensor(tensors: Tensors, name: str, shape: Sequence[int | None]) -> NDArray[Any]:
    """The floats called `name` of that shape, None for any length."""
    found = tensors.get(name)
    if found is None:
        raise DataError(f"no tensor {name} in it", AGAIN)
    fits = found.ndim == len(shape) and all(
        length == wanted or (wanted is None and length) for length, wanted in zip(found.shape, shape, strict=True)
    )
    if not fits or found.dtype.kind != "f":
        expected = f"floats of shape ({', '.join('any' if wanted is None else str(wanted) for wanted in shape)})"
        raise DataError(f"the tensor {name} is {found.dtype} of shape {found.shape}, expected {expected}", AGAIN)
    return found


def held_in(kind: type[Float], found: NDArray[Any], name: str) -> NDArray[Float]:
    """The floats of the tensor called `name` in another precision.

    Raises:
        DataError: one is too large for it.
    """
    with np.errstate(over="ignore"):
        kept: NDArray[Float] = found.astype(kind)
    require_finite({name: kept})
    return kept


def named_again(config: Mapping[str, Any], kind: str, find: Callable[[str], Digested]) -> Digested:
    """The model of others that a folder names under `model`, if it still has the digest under `weights`.

    A folder may come from a stranger, so it names a model and never a place.

    Args:
        config: of the folder's part that is that model.
        kind: what stands before the name where a user names it.
        find: finds a model by its name, which is no path; what it raises comes through.
    """
    name, weights = config.get("model"), config.get("weights")
    if not isinstance(name, str) or not is_bare_name(name):
        problem = f"is {name!r:.60}, expected the name of a model, such as someone/model, and no path"
        raise DataError(problem, "Train it again with this version", field="model")
    try:
        found = find(name)
    except MissingAsset as error:
        raise MissingAsset(f"{error}; the judge was fitted with it") from error
    if found.digest != weights:
        problem = f"{kind}:{name} has the weights {found.digest}, expected {weights!r:.20}"
        raise DataError(problem, "Put the model back that it was trained with, or train it again", field="model")
    return found


def is_bare_name(name: str) -> bool:
    """Whether a text is the name of a model in the cache of Hugging Face, and no path that leads elsewhere."""
    return bool(_BARE.fullmatch(name)) and not {".", ".."} & {*name.split("/")}


def require_finite(tensors: Tensors) -> None:
    """Raise `DataError` where a tensor holds NaN or infinity, or things that are no numbers."""
    for name, found in tensors.items():
        if found.dtype.kind not in "fiu":
            raise DataError(f"the tensor {name} is {found.dtype}, expected numbers", AGAIN)
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise DataError(f"the tensor {name} holds NaN or infinity", AGAIN)


def loaded(text: str | bytes, name: str) -> Any:
    """The value of the JSON file `name`: finite numbers, no deeper than is ever needed."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        what = "too deep" if isinstance(error, RecursionError) else str(error)
        raise DataError(f"{name} is damaged ({what:.100})", AGAIN) from error
    _require_shallow(value, name)
    return value


def _require_shallow(value: Any, name: str) -> None:
    """Raise where lists and objects stand inside each other too often, or a number is infinite."""
    level = [value]
    for _ in range(_DEEPEST):
        if any(isinstance(one, float) and math.isinf(one) for one in level):  # 1e999
            raise DataError(f"{name} is damaged (an infinite number)", AGAIN)
        level = [part for one in level if isinstance(one, (dict, list)) for part in _inside(one)]
    if level:
        raise DataError(f"{name} is damaged (too deep)", AGAIN)


def _inside(one: dict[str, Any] | list[Any]) -> Collection[Any]:
    """The values in a list or object."""
    return one.values() if isinstance(one, dict) else one


def _refuse(name: str) -> float:
    """Meet a number that JSON does not have."""
    raise ValueError(f"{name} is no JSON")


def _wrong(field: str, found: Any, expected: str) -> DataError:
    """The error of a value that is not what it must be."""
    shown = f"{found!r:.60}" if isinstance(found, (str, int, float, bool)) else kind_of(found)
    return DataError(f"is {'missing' if found is None else shown}, expected {expected}", AGAIN, field=field)
