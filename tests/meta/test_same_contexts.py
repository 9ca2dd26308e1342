"""Two files that write the same contexts otherwise are paired all the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace

import pytest

from rejoinder.example import Example
from rejoinder.meta.design import choose

LINES = [
    Example(
        (f"Où est la gare, « {number} » ?", "Là-bas.", f"C'est loin? ({number})"),
        "Après le café.",
        id=str(number),
    )
    for number in range(24)
]
FORMS: dict[str, Callable[[str], str]] = {
    "accents apart": lambda text: unicodedata.normalize("NFD", text),
    "line ends": lambda text: f"{text}\r\n",
    "blanks around": lambda text: f" {text} ",
    "two blanks for one": lambda text: text.replace(" ", "  "),
    "no-break spaces": lambda text: text.replace(" ", "\xa0"),
    "entities": lambda text: text.replace("'", "&#39;"),
    "paragraphs": lambda text: f"<p>{text}</p>",
    "end tokens": lambda text: f"{text}</s>",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("named", [True, False])
def test_contexts_are_compared_as_a_reader_sees_them(form: str, named: bool) -> None:
    change = FORMS[form]
    other = [replace(one, context=tuple(map(change, one.context)), response="Tout droit.") for one in LINES]
    sides = (
        [one if named else replace(one, id="") for one in LINES],
        [one if named else replace(one, id="") for one in other],
    )
    assert sides[0][0].context != sides[1][0].context
    found = choose(*sides)
    assert found.pairs is not None
    assert found.pairs.aligned == ("id" if named else "context")
    assert [list(one) for one in found.pairs.a] == [list(one) for one in found.pairs.b] == [[n] for n in range(24)]


def test_other_contexts_under_one_id_are_still_refused() -> None:
    other = [replace(one, context=(*one.context[:-1], f"Another question? {one.id}")) for one in LINES]
    assert choose(LINES, other).pairs is None
