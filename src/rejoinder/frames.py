"""Results as plain JSON values, and as data frames of pandas for those who have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rejoinder.errors import MissingExtra

FORMAT_VERSION = 1


def to_pandas(rows: Sequence[Mapping[str, Any]], **about: Any) -> Any:
    """A `pandas.DataFrame` with a row a mapping.

    Args:
        rows: columns are the keys, in the order in which they first come.
        about: what holds for all rows; stands in the frame's `attrs`.

    Raises:
        MissingExtra: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingExtra("pandas", "pandas", "A data frame") from error
    frame = pandas.DataFrame.from_records(list(rows))
    frame.attrs.update(about)
    return frame


def results_frame(found: Mapping[str, Any]) -> Any:
    """The frame of what `to_dict` of a study or comparison gives: a row a result, the signatures in `attrs`."""
    return to_pandas(found["results"], signature=found["signature"])
