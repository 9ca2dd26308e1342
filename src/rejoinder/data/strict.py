"""JSON that a stranger may have written: each value is what it must be, by pydantic's strict rules, or one error."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any

from rejoinder.errors import DataError, shown

AGAIN = "Copy the whole folder of the model again, or train it again"
_DEEPEST = 40


def json_value(text: str | bytes, name: str) -> Any:
    """Return the value of JSON text. Raises `DataError` for NaN, infinity, a key that occurs twice, or deep nesting."""
    try:
        value = json.loads(text, object_pairs_hook=_once)
        level = [value]
        for _ in range(_DEEPEST):
            if any(isinstance(item, float) and not math.isfinite(item) for item in level):
                raise ValueError("a number is not finite")
            inside = [[*item.values()] if isinstance(item, dict) else item for item in level]
            level = [item for items in inside if isinstance(items, list) for item in items]
        if level:
            raise ValueError("nested too deep")
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name} is damaged ({error!s:.100})", AGAIN) from error
    return value


def value_in(config: Mapping[str, Any], name: str, kind: Any) -> Any:
    """Return the value under `name`. Raises `DataError` if it is missing, or not a `kind` (see `require`)."""
    if config.get(name) is None:
        raise DataError("is missing", AGAIN, field=name)
    return require(kind, config[name], name)


def require(kind: Any, value: Any, name: str = "") -> Any:
    """Return a JSON value as `kind`: a type, with bounds of annotated_types, a dataclass or a model of pydantic.

    Raises `DataError` that names the field under `name`.
    """
    from pydantic import ValidationError

    validator = _validator(kind)
    try:
        # Strictly, a dataclass is read from JSON text only; values of Python keep all digits.
        return validator.validate_json(json.dumps(value)) if is_dataclass(kind) else validator.validate_python(value)
    except ValidationError as error:
        wrong = error.errors()[0]
        field = ".".join(map(str, (*filter(None, [name]), *wrong["loc"]))).encode("unicode_escape").decode()
        raise DataError(f"{wrong['msg']}, found {shown(wrong['input'])}", AGAIN, field=field[:80]) from error


@cache
def _validator(kind: Any) -> Any:
    """Return the validator of a type. To import pydantic takes a tenth of a second, so it is imported here only."""
    from pydantic import BaseModel, ConfigDict, TypeAdapter, with_config

    strict = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    if isinstance(kind, type) and is_dataclass(kind):
        checked: Any = with_config(strict)(kind)
        return TypeAdapter(checked)
    return TypeAdapter(kind, config=None if isinstance(kind, type) and issubclass(kind, BaseModel) else strict)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(values := dict(pairs)) < len(pairs):
        raise ValueError("a key occurs twice")
    return values
