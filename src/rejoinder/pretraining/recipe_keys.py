"""The keys of a recipe, checked: each is known and has a value of its type, or one clear error names it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Set
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from rejoinder.errors import DataError

REMEDY = "Correct the recipe"
_SHARES = frozenset({"dropout", "held_out", "test", "validation", "word_drop"})
_MAY_BE_ZERO = frozenset(
    {"alone", "annealing", "context", "dropout", "l2", "latent", "seed", "test", "threads", "word_drop"}
)


@dataclass(frozen=True)
class Place:
    """The file whose values are checked, for messages."""

    where: str

    def refuse(self, problem: str, remedy: str, field: str) -> NoReturn:
        """Raise the error of a key."""
        raise DataError(problem, remedy, where=self.where, field=field)

    def made(self, made: type[Any], table: Mapping[str, Any], name: str, **given: Any) -> Any:
        """The dataclass `made` from a table of the recipe and from values that no recipe sets."""
        own = [field for field in fields(made) if field.name not in given]
        kinds = get_type_hints(made)
        needed = {field.name for field in own if field.default is MISSING}
        self.check(table, {field.name: kinds[field.name] for field in own}, needed, f"{name}.")
        return made(**table, **given)

    def check(self, table: Mapping[str, Any], kinds: Mapping[str, Any], needed: Set[str], prefix: str = "") -> None:
        """Raise for a key that is unknown or missing, or whose value is of another type or out of range."""
        for key, value in table.items():
            if key not in kinds:
                near = difflib.get_close_matches(key, kinds, n=1)
                remedy = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(sorted(kinds))}"
                self.refuse("unknown", remedy, f"{prefix}{key}")
            expected = _fault(key, value, kinds[key])
            if expected:
                self.refuse(f"is {value!r:.40}, expected {expected}", REMEDY, f"{prefix}{key}")
        for key in sorted(needed - set(table)):
            self.refuse("missing", "Add it", f"{prefix}{key}")


def _fault(key: str, value: Any, kind: Any) -> str:
    """What the value of a key should have been; "" where it is that."""
    if known := kind if isinstance(kind, tuple) else get_args(kind) if get_origin(kind) is Literal else ():
        return "" if value in known else " or ".join(known)
    if kind is dict:
        return "" if isinstance(value, dict) else "a table"
    if kind is bool:
        return "" if isinstance(value, bool) else "true or false"
    # A truth value is a number in Python, but not in a recipe.
    if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else kind):
        return "a number" if kind is float else "a whole number"
    most = 1.0 if key in _SHARES else float("inf")
    if 0 < value < most or (value == 0 and key in _MAY_BE_ZERO):
        return ""
    least = "0 or more" if key in _MAY_BE_ZERO else "more than 0"
    return f"{least} and less than 1" if key in _SHARES else least
