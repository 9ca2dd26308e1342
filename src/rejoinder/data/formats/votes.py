"""Votes: two replies and which is better, in the forms of MT-bench, Chatbot Arena, PandaLM, AlpacaEval, Stanford, TRL.

A line holds `chosen` and `rejected`, a list `responses` of two, or two keys that differ in their mark: `response_a`,
`response_b`. Other keys with such marks belong to that reply: `model_a` is its system, `score_a` its score.

"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any

from rejoinder.data.columns import plain
from rejoinder.data.format import Format, each, without_nothing
from rejoinder.data.formats import pair_forms as forms
from rejoinder.data.formats.pair_forms import CHOSEN, COLUMNS, LISTED, SYSTEMS, VERDICTS, Form, form_of
from rejoinder.data.formats.pair_texts import replies_of
from rejoinder.data.formats.results import peek
from rejoinder.data.formats.verdicts import preferred_of, votes_of

_OWN = {*forms.PROMPTS, *VERDICTS, *COLUMNS, "votes", "id", "dataset", "context_id", "references", "reference", "turn"}


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a pair of replies, and no list of replies without a verdict."""
    form = form_of(row)
    if form is not LISTED:
        return form is not None
    listed = peek(row.get("responses"))
    verdicts = {"votes", *VERDICTS} & {plain(str(key)) for key in row}
    return bool(verdicts) or (isinstance(listed, list) and len(listed) == 2)


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Return the pair that a row holds."""
    form = form_of(row) or CHOSEN
    renamed = {*form.keys, *_OWN} - row.keys()
    line = {
        (name if (name := plain(str(key))) in renamed else str(key)): value
        for key, value in row.items()
        if not (isinstance(value, float) and isnan(value))
    }
    votes = votes_of(line, form, where)
    preferred, verdict_key = preferred_of(line, form, votes, where)
    prompt_key = next((key for key in forms.PROMPTS if line.get(key) not in (None, "")), None)
    replies = replies_of(line, form, prompt_key, where)
    shared, own = _other_keys(line, form, {verdict_key, prompt_key})
    for reply, more in zip(replies, own, strict=True):
        system = next((more[key] for key in SYSTEMS if more.get(key) not in (None, "")), None)
        extra = {key: value for key, value in more.items() if key not in SYSTEMS and key not in reply}
        reply |= without_nothing({**extra, "system": None if system is None else str(system)})
    if isinstance(line.get("reference"), str):
        shared.setdefault("references", [line["reference"]])
    yield {**shared, "pair": replies, "preferred": preferred, "votes": votes}


def _other_keys(
    line: Mapping[str, Any], form: Form, used: set[str | None]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the keys that belong to both replies, and those of each; a mark counts only with its partner."""
    consumed = {*form.keys, *COLUMNS, *used, "votes", "reference", "response"}
    consumed |= {key for key in line if forms.ANNOTATOR.fullmatch(plain(key))}
    consumed |= {key for key in VERDICTS if isinstance(line.get(key), str) and not line[key].strip()}
    names = {plain(str(key)) for key in line}
    shared, own = dict[str, Any](), [dict[str, Any](), dict[str, Any]()]
    for key, value in line.items():
        stem, place = _marked(str(key), names, form)
        pair = peek(value) if form is LISTED else None
        if key in consumed:
            continue
        if place is not None:
            own[place][stem] = value
        elif isinstance(pair, list) and len(pair) == 2 and (key == "systems" or all(map(_is_number, pair))):
            own[0][key], own[1][key] = pair
        else:
            shared["system_prompt" if key == "system" else key] = value
    return shared, own


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _marked(key: str, names: set[str], form: Form) -> tuple[str, int | None]:
    """Return the key without the mark of a reply, and which reply that is."""
    for place, (mark, other) in enumerate((form.marks, form.marks[::-1])):
        size = len(mark) + 1
        before, after = key[:-size], key[size:]
        if plain(key) == f"{plain(before)}_{mark}" and f"{plain(before)}_{other}" in names:
            return before, place
        if plain(key) == f"{mark}_{plain(after)}" and f"{other}_{plain(after)}" in names:
            return after, place
    return key, None


_SETS = [CHOSEN.keys, LISTED.keys, *(form.keys for form in forms.MARKED)]
FORMAT = Format(
    "votes", "Two replies and which is better", tuple(map(frozenset, _SETS)), each(record), confirm, columns=True
)
