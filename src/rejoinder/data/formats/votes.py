"""Votes: two replies and which is better, in the forms of MT-bench, Chatbot Arena, PandaLM, AlpacaEval, Stanford, TRL.

A line holds `chosen` and `rejected`, a list `responses` of two, or two keys that differ in their mark: `response_a`,
`response_b`. Other keys with such marks belong to that reply: `model_a` is its system, `score_a` its score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.columns import plain, words
from rejoinder.data.format import Format, each, without_nothing
from rejoinder.data.formats import verdicts
from rejoinder.data.formats.pair_texts import replies_of
from rejoinder.data.formats.results import peek
from rejoinder.data.formats.verdicts import CHOSEN, COLUMNS, LISTED, MARKED, VERDICTS, Form, form_of
from rejoinder.data.values import is_number

PROMPTS = words("context prompt question instruction query history conversation conversations messages input")
_OWN = {*PROMPTS, *VERDICTS, *COLUMNS, *words("votes id dataset context_id references reference turn")}


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a pair of replies, and no list of replies without a verdict."""
    form = form_of(row)
    if form is not LISTED:
        return form is not None
    listed = peek(row.get("responses"))
    is_judged = not {"votes", *VERDICTS}.isdisjoint(plain(str(key)) for key in row)
    return is_judged or (isinstance(listed, list) and len(listed) == 2)


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield the pair that a row holds."""
    form = form_of(row) or CHOSEN
    renamed = {*form.keys, *_OWN} - row.keys()
    line = {
        (name if (name := plain(key)) in renamed else key): value for key, value in row.items() if value == value
    }  # NaN is not equal to itself
    votes = verdicts.votes_of(line, form, where)
    preferred, verdict_key = verdicts.preferred_of(line, form, votes, where)
    prompt_key = next((key for key in PROMPTS if line.get(key) not in (None, "")), None)
    replies = replies_of(line, form, prompt_key, where)
    shared, own = _other_keys(line, form, {verdict_key, prompt_key})
    for reply, more in zip(replies, own, strict=True):
        system = next((str(more[key]) for key in verdicts.SYSTEMS if more.get(key) not in (None, "")), None)
        extra = {key: value for key, value in more.items() if key not in verdicts.SYSTEMS and key not in reply}
        reply |= without_nothing({**extra, "system": system})
    if isinstance(line.get("reference"), str):
        shared.setdefault("references", [line["reference"]])
    yield {**shared, "pair": replies, "preferred": preferred, "votes": votes}


def _other_keys(
    line: Mapping[str, Any], form: Form, used: set[str | None]
) -> tuple[dict[str, Any], tuple[dict[str, Any], dict[str, Any]]]:
    """Return the keys that belong to both replies, and those of each."""
    used |= {*form.keys, *COLUMNS, "votes", "reference", "response"}
    names = set(map(plain, line))
    shared, own = dict[str, Any](), (dict[str, Any](), dict[str, Any]())
    for key, value in line.items():
        is_empty_verdict = key in VERDICTS and isinstance(value, str) and not value.strip()
        if key in used or is_empty_verdict or verdicts.ANNOTATOR.fullmatch(plain(key)):
            continue
        stem, place = _marked(key, names, form)
        pair = peek(value) if form is LISTED else None
        if place is not None:
            own[place][stem] = value
        elif isinstance(pair, list) and len(pair) == 2 and (key == "systems" or all(map(is_number, pair))):
            own[0][key], own[1][key] = pair
        else:
            shared["system_prompt" if key == "system" else key] = value
    return shared, own


def _marked(key: str, names: set[str], form: Form) -> tuple[str, int | None]:
    """Return the key without the mark of a reply, and which reply that is; a mark counts only with its partner."""
    for place, (mark, other) in enumerate((form.marks, form.marks[::-1])):
        size = len(mark) + 1
        before, after = key[:-size], key[size:]
        if plain(key) == f"{plain(before)}_{mark}" and f"{plain(before)}_{other}" in names:
            return before, place
        if plain(key) == f"{mark}_{plain(after)}" and f"{other}_{plain(after)}" in names:
            return after, place
    return key, None


_SETS = tuple(frozenset(form.keys) for form in (CHOSEN, LISTED, *MARKED))
FORMAT = Format("votes", "Two replies and which is better", _SETS, each(record), confirm, columns=True)
