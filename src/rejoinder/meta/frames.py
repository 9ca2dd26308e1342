"""Results as data frames of pandas, for those who have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rejoinder.scorer import data_frame

FORMAT_VERSION = 1


def results_frame(results: Mapping[str, Any]) -> Any:
    """Return the frame of what `to_dict` of a study or comparison gives: a row for each result, signatures in `attrs`.

    Raises:
        MissingExtra: pandas is not installed.
    """
    return data_frame(results["results"], signature=results["signature"])
