"""The domain of the bundled judges: short English chat, told from assistants' replies by their form.

The rule is linear over `judges.form.FORM`; its weights lie beside the judge and are made by `papers.domain`.
A judge that users train or adapt has another domain, its own lines, and no such rule.
Shapes: N examples, F features.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rejoinder.assets import DOMAIN
from rejoinder.data.strict import AGAIN
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.form import FORM, form_of
from rejoinder.judges.notes import OUTSIDE, text_notes
from rejoinder.scorer import FloatArray
from rejoinder.text.normalize import visible, written_text

_FURTHEST = 3.0  # standard deviations that a feature counts at most


@dataclass(frozen=True)
class FormRule:
    """A linear rule over the form of a reply and its context.

    Attributes:
        centre: [F] means of the features.
        spread: [F] their standard deviations.
        weights: [F] what a standard deviation adds.
        bound: the sum from which on a reply is out of domain.
    """

    centre: FloatArray
    spread: FloatArray
    weights: FloatArray
    bound: float = 0.0

    def sums(self, forms: FloatArray) -> FloatArray:
        """Return [N] weighted sums of [N, F] features."""
        standard = np.clip((forms - self.centre) / self.spread, -_FURTHEST, _FURTHEST)
        # Each row is added up by itself, so that a reply does not depend on its neighbours.
        return np.asarray((standard * self.weights).sum(axis=1))

    def outside(self, examples: Sequence[Example]) -> NDArray[np.bool_]:
        """Return [N] whether the rule places a reply out of the domain; an empty reply never is."""
        replied = np.array([visible(example.response) for example in examples], np.bool_)
        return replied & (self.sums(forms_of(examples)) > self.bound)


def forms_of(examples: Sequence[Example]) -> FloatArray:
    """Return [N, F] features of the form of examples, as a reader sees them."""
    forms = [form_of(list(map(written_text, example.context)), written_text(example.response)) for example in examples]
    return np.array(forms, np.float64).reshape(len(examples), len(FORM))


def flagged_by_notes(examples: Sequence[Example]) -> NDArray[np.bool_]:
    """Return [N] whether one of the notes on texts places a reply out of the domain."""
    notes = text_notes(examples, ("context",))
    return np.array([not OUTSIDE.isdisjoint(notes.get(row, ())) for row in range(len(examples))], np.bool_)


@cache
def bundled_rule() -> FormRule:
    """Read the rule of the bundled judges.

    Raises:
        DataError: the file is not the one of this version.
    """
    return read_rule(DOMAIN)


def read_rule(path: Path) -> FormRule:
    """Read a rule from its file.

    Raises:
        DataError: the file is not there, or is not the one of this version.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        rows, bound = content["features"], float(content["bound"])
        table = np.array([rows[name] for name in FORM], np.float64)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError("is no rule for the domain of this version", AGAIN, where=str(path)) from error
    if (
        table.shape != (len(FORM), 3)
        or len(rows) != len(FORM)
        or not np.isfinite(table).all()
        or (table[:, 1] <= 0).any()
    ):
        raise DataError("is no rule for the domain of this version", AGAIN, where=str(path))
    return FormRule(table[:, 0], table[:, 1], table[:, 2], bound)


def write_rule(rule: FormRule, path: Path) -> None:
    """Write a rule, a feature a line, in six digits."""
    rows = {
        name: [float(f"{value:.6g}") for value in values]
        for name, *values in zip(FORM, rule.centre, rule.spread, rule.weights, strict=True)
    }
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(values)}" for name, values in rows.items())
    about = "made by python -m research.domain: centre, spread and weight of each feature"
    text = f'{{\n  "about": {json.dumps(about)},\n  "bound": {rule.bound:.6g},\n  "features": {{\n{lines}\n  }}\n}}\n'
    path.write_text(text, encoding="utf-8")
