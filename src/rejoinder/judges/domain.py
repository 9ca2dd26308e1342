"""What a learned judge cannot judge, as warnings with its scores: language, code, no words, length, form.

The bundled judges are for short English chat, which a linear rule over `FORM` separates from assistants' replies;
its weights are stored with the judge and made by `research.domain`. A judge that users train has another domain, its
own lines, and no such rule; a warning that its training lines often had is not given: a judge of German replies does
not warn that a reply is not English. Shapes: N examples, F features.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from math import log1p
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.assets import DOMAIN
from rejoinder.assets import FORM as FORM_WORDS
from rejoinder.data.strict import AGAIN
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.protocol import Side
from rejoinder.judges.regression.linear import moments, standardize
from rejoinder.models.encoders import TruncatingEncoder
from rejoinder.scorer import OUT_OF_DOMAIN, Encoder, FloatArray, Warnings
from rejoinder.text.detect import AMBIGUOUS_WORDS, is_code, is_foreign, is_long, is_wordless
from rejoinder.text.normalize import visible, written_text
from rejoinder.text.vectors import common_words

SHORT_CHAT, FITTED_LINES = "short English chat", "replies like those it was fitted on"
"""The domains of the bundled judges, and of a judge that a user fitted."""
NEVER_READ = ("facts", "sources", "safety")
"""What no judge of this package reads."""
NO_WORDS, CODE, NOT_ENGLISH = "no words", "code", "not English"
UNLIKE_CHAT, UNLIKE = "unlike short chat", "unlike what it was fitted on"
CONTEXT_NOT_ENGLISH = "context not English"
CUT, CONTEXT_CUT = "not read to the end", "context not read whole"
OUTSIDE = frozenset({CODE, NOT_ENGLISH, NO_WORDS, UNLIKE_CHAT, UNLIKE})
"""Warnings that place a reply outside the domain of the judge."""
FORM_WARNINGS = frozenset({UNLIKE_CHAT})
"""Warnings that place a reply outside short chat by its form alone."""
COMMON = 0.05
"""A warning that a larger share of the training lines had is not given."""
INSIDE = 0.95
"""The share of further lines that lie within the bound of a cloud."""
_COMMON_WORDS = 4000  # rarer words are half the proof of a language: names and loans are among them
_LAST_TURNS = 3  # they show the language of a context
_CLIP = 3.0  # standard deviations that a feature of the form counts at most


def text_warnings(examples: Sequence[Example], sides: Sequence[Side]) -> Warnings:
    """Return warnings on the texts that any judge reads, by row; rows without warnings are left out."""
    by_row = {row: tuple(dict.fromkeys(_of_texts(example, sides))) for row, example in enumerate(examples)}
    return {row: warnings for row, warnings in by_row.items() if warnings}


def _of_texts(example: Example, sides: Sequence[Side]) -> Iterator[str]:
    reply, english = example.response, english_words()
    if not visible(reply):
        pass
    elif is_wordless(reply):
        yield NO_WORDS
    elif is_code(reply):
        yield CODE
    elif is_foreign(reply, english):
        yield NOT_ENGLISH
    if is_long(reply):
        yield UNLIKE_CHAT
    if "context" in sides and example.context:
        if is_foreign(" ".join(example.context[-_LAST_TURNS:]), english):
            yield CONTEXT_NOT_ENGLISH
        # An empty reply is never out of domain, whatever it answers.
        if visible(reply) and (is_long(example.context[-1]) or is_code(example.context[-1])):
            yield UNLIKE_CHAT


def warnings_of(
    examples: Sequence[Example], sides: Sequence[Side], encoder: Encoder, common: Container[str]
) -> Warnings:
    """Return the warnings of a judge that reads `sides`: those on texts, and what a `TruncatingEncoder` cuts.

    Warnings on texts that are `common` among the lines that it was fitted on are not given.
    """
    # Warn of each cut by an encoder, even if cuts are common: the judge was not fitted on the part that is cut.
    by_row = {
        row: [warning for warning in warnings if warning not in common]
        for row, warnings in text_warnings(examples, sides).items()
    }
    if isinstance(encoder, TruncatingEncoder):
        cut = {CUT: encoder.truncated([example.response for example in examples])}
        if "context" in sides:
            cut[CONTEXT_CUT] = encoder.truncated_contexts([example.context for example in examples])
        for warning, rows in cut.items():
            for row in rows:
                by_row.setdefault(row, []).append(warning)
    return {row: with_domain(by_row[row]) for row in sorted(by_row) if by_row[row]}


def with_domain(warnings: Sequence[str]) -> tuple[str, ...]:
    """Return the warnings on one reply, with `out of domain` first if any of them places it there."""
    return (OUT_OF_DOMAIN, *warnings) if not OUTSIDE.isdisjoint(warnings) else tuple(warnings)


def shares(warnings: Warnings, lines: int) -> dict[str, float]:
    """Return the share of the `lines` that have each warning."""
    counts = Counter(chain.from_iterable(warnings.values()))
    return {warning: count / lines for warning, count in sorted(counts.items())}


def common_warnings(noted: Mapping[str, float]) -> frozenset[str]:
    """Return the warnings that a judge does not give, from their shares among its training lines."""
    return frozenset(warning for warning, share in noted.items() if share > COMMON)


def smoothed_share(share: float, lines: int) -> float:
    """Return a share of few lines by the rule of succession, so that 3 of 60 are more than `COMMON`."""
    return (share * lines + 1) / (lines + 2)


@lru_cache(maxsize=1)
def english_words() -> Mapping[str, float]:
    """Return words of English dialogues, and halves of those with an apostrophe: 1 for a common one, else 0.5."""
    halves = dict.fromkeys(half for word in common_words() for half in word.split("'") if half[:1].isalpha())
    ranked = {word: 1.0 if rank < _COMMON_WORDS else 0.5 for rank, word in enumerate(halves)}
    return {word: weight for word, weight in ranked.items() if word not in AMBIGUOUS_WORDS}


@dataclass(frozen=True)
class TrainingCloud:
    """The lines that a judge was fitted on, as one cloud."""

    centre: FloatArray  # [F] means
    spread: FloatArray  # [F] standard deviations
    bound: float = np.inf  # a line at a larger distance is out of domain

    def distances(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N] means of squared standardised features, about 1 for a line of the cloud; missing ones are 0.

        Correlations are left out: with them (Mahalanobis) fewer texts of other kinds are found (docs/lab-notes.md).
        """
        return np.asarray(np.square(standardize(features, self.centre, self.spread)).mean(axis=1))

    def out_of_domain(self, features: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Return [N] whether the distance of a line exceeds the bound."""
        return self.distances(features) > self.bound


def fit_cloud(features: NDArray[np.floating]) -> TrainingCloud:
    """Return the cloud of [N, F] features, without a bound."""
    return TrainingCloud(*moments(features, np.full(len(features), 1 / len(features))))


# The form of a reply and of the turns before it: counts of words, sentences, lines, lists, links and words of
# vocabularies (`assets/form.json`). Case and spaces before a full stop are ignored: they depend on the data set.

_READ, _READ_EARLIER = 500, 300  # characters of the reply and of the turn it answers; of each turn before
_TURNS = 3  # before the last turn

_DATA = json.loads(FORM_WORDS.read_text(encoding="utf-8"))
VOCABULARIES: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _DATA["vocabularies"].items()
}
COUNTED: Sequence[str] = _DATA["counted"]
"""Vocabularies of which the number of words is a feature too, not only their share."""
_EARLIER = (*COUNTED, *(f"any {name}" for name in COUNTED), "first person", "second person", "refusal")
_WE, _I = frozenset(_DATA["we"].split()), frozenset(_DATA["I"].split())
_OWNED = frozenset().union(*(VOCABULARIES[name] for name in ("orders", "money", "contracts", "technical", "service")))
_IMPERATIVES = VOCABULARIES["instructions"] | set(_DATA["imperatives"].split())
_BEFORE_IMPERATIVES = frozenset(_DATA["before imperatives"].split()) | {"\n"}

_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)*")
_TOKEN = re.compile(r"[a-z]+(?:['’][a-z]+)*|[.!?:,\n]")
_CAPITAL = re.compile(r"[A-Z]")
_NUMBER = re.compile(r"\d+")
_MONEY = re.compile(r"[€£$]\s?\d|\d\s?[€£$%]")
_LONG_NUMBER = re.compile(r"\d{4}")
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")
_LIST_LINE = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)
_LINK = re.compile(r"https?:|www\.|<url>|\burl\b|\blinks?\b")
_REQUEST, _QUESTION = re.compile(_DATA["request"]), re.compile(_DATA["question"])


def _index(items: Iterable[tuple[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """Return the values of each key."""
    index: dict[str, tuple[Any, ...]] = {}
    for key, value in items:
        index[key] = (*index.get(key, ()), value)
    return index


_INSIDE = _index((word, name) for name, words in VOCABULARIES.items() for word in words)
_PHRASES = _index(
    (words[0], (name, words[1:])) for name, phrases in _DATA["phrases"].items() for words in map(str.split, phrases)
)


def _phrases(words: Sequence[str]) -> dict[str, float]:
    """Count phrases of chat, of assistants and of customers in a text; `my order` is a customer's."""
    counts = dict.fromkeys(_DATA["phrases"], 0)
    for place, word in enumerate(words):
        for name, rest in _PHRASES.get(word, ()):
            counts[name] += not rest or words[place + 1 : place + 1 + len(rest)] == rest
        if word in ("my", "your"):
            counts["trouble"] += not _OWNED.isdisjoint(words[place + 1 : place + 3])
    return {name: log1p(count) for name, count in counts.items()}


def _vocabularies(words: Sequence[str]) -> dict[str, float]:
    """Return the share of the words in each vocabulary, and for `COUNTED` their number."""
    counts = dict.fromkeys(VOCABULARIES, 0)
    for word in words:
        for name in _INSIDE.get(word, ()):
            counts[name] += 1
    total = len(words) or 1
    return {
        **{name: count / total for name, count in counts.items()},
        **{f"any {name}": log1p(counts[name]) for name in COUNTED},
    }


def _texture(text: str, low: str, words: Sequence[str]) -> dict[str, float]:
    """Return the features of a reply and of the turn that it answers."""
    count = len(words) or 1
    ends = max(1, len(_SENTENCE_END.findall(text)))
    lengths = [len(word) for word in words]
    return {
        "words": log1p(len(words)),
        "sentences": log1p(ends),
        "words a sentence": log1p(len(words) / ends),
        "letters a word": sum(lengths) / count,
        "long words": sum(length > 8 for length in lengths) / count,
        "different words": len(set(words)) / count,
        "numbers": log1p(len(_NUMBER.findall(text))),
        "commas": text.count(",") / count,
        "brackets": float("(" in text),
        "colon": float(":" in text),
        "quotes": float('"' in text or "“" in text),
        "asks": float("?" in text),
        "exclaims": float("!" in text),
        "capital first": float(text[:1].isupper()),
        "capitals": len(_CAPITAL.findall(text)) / (len(text) or 1),
        "money": float(bool(_MONEY.search(text))),
        "long numbers": float(bool(_LONG_NUMBER.search(text))),
        "lines": log1p(text.count("\n")),
        "link": float(bool(_LINK.search(low))),
        "question at the end": float(text[-1:] == "?"),
        **_vocabularies(words),
        **_phrases(words),
    }


def _reply(text: str) -> dict[str, float]:
    """Return the features of a reply."""
    low = text.lower()
    tokens = _TOKEN.findall(low)
    words = [token for token in tokens if token[0].isalpha()]
    # Verbs that ask for something to be done: at the start of a sentence, or after `please`.
    imperatives = sum(
        token in _IMPERATIVES and last in _BEFORE_IMPERATIVES
        for last, token in zip(["\n", *tokens], tokens, strict=False)
    )
    return {
        **_texture(text, low, words),
        "paragraphs": float("\n\n" in text),
        "list lines": log1p(len(_LIST_LINE.findall(text))),
        "full stop": float(text[-1:] == "."),
        "imperatives": log1p(imperatives),
        "please": float("please" in words),
        "we": float(not _WE.isdisjoint(words)),
        "your": float("your" in words),
        "I": float(not _I.isdisjoint(words)),
        "short words": sum(len(word) < 4 for word in words) / (len(words) or 1),
        "contractions": sum("'" in word or "’" in word for word in words) / (len(words) or 1),
    }


def _prompt(text: str) -> dict[str, float]:
    """Return the features of the turn that the reply answers."""
    low = text.lower()
    words = _WORD.findall(low)
    return {
        **_texture(text, low, words),
        "request": float(bool(_REQUEST.match(low))),
        "question": float(bool(_QUESTION.match(low))),
        "I": float(not _I.isdisjoint(words)),
        "my": float("my" in words),
        "your": float("your" in words),
    }


def _earlier(turns: Sequence[str]) -> dict[str, float]:
    """Return the features of the turns before that turn."""
    texts = [turn[:_READ_EARLIER].lower() for turn in turns]
    words_by_turn = [_WORD.findall(text) for text in texts]
    words = [word for turn in words_by_turn for word in turn]
    vocabularies = _vocabularies(words)
    return {
        "words a turn": log1p(len(words) / (len(turns) or 1)),
        "longest turn": log1p(max(map(len, words_by_turn), default=0)),
        "lines": log1p(sum(text.count("\n") for text in texts)),
        "list lines": log1p(sum(len(_LIST_LINE.findall(text)) for text in texts)),
        **_phrases(words),
        "requests": log1p(sum(bool(_REQUEST.match(text)) for text in texts)),
        **{name: vocabularies[name] for name in _EARLIER},
    }


def _sides(context: Sequence[str], reply: str) -> dict[str, dict[str, float]]:
    """Return the features by name of the reply, of the turn that it answers and of the turns before that."""
    reply, last = (text.replace("\r\n", "\n").strip()[:_READ].strip() for text in (reply, "".join(context[-1:])))
    return {"reply": _reply(reply), "prompt": _prompt(last), "earlier": _earlier(context[-1 - _TURNS : -1])}


FORM = (*(f"{side}: {name}" for side, names in _sides((), "").items() for name in names), "turns")
"""Names of the features of `forms_of`."""


@dataclass(frozen=True)
class FormRule:
    """A linear rule over the form of a reply and its context."""

    centre: FloatArray  # [F] means of the features
    spread: FloatArray  # [F] their standard deviations
    weights: FloatArray  # [F] what a standard deviation adds
    bound: float = 0.0  # a reply with a larger sum is out of domain

    def sums(self, forms: FloatArray) -> FloatArray:
        """Return [N] weighted sums of [N, F] features."""
        standard = np.clip((forms - self.centre) / self.spread, -_CLIP, _CLIP)
        return np.asarray((standard * self.weights).sum(axis=1))  # each row by itself, whatever its neighbours

    def outside(self, examples: Sequence[Example]) -> NDArray[np.bool_]:
        """Return [N] whether the rule places a reply out of the domain; an empty reply never is."""
        replied = np.array([visible(example.response) for example in examples], np.bool_)
        return replied & (self.sums(forms_of(examples)) > self.bound)


def forms_of(examples: Sequence[Example]) -> FloatArray:
    """Return [N, F] features of the form of examples, as a reader sees them."""
    sides = [_sides([*map(written_text, line.context)], written_text(line.response)).values() for line in examples]
    rows = [
        [*chain.from_iterable(side.values() for side in several), log1p(len(line.context))]
        for several, line in zip(sides, examples, strict=True)
    ]
    return np.array(rows, np.float64).reshape(len(examples), len(FORM))


def outside_by_text(examples: Sequence[Example]) -> NDArray[np.bool_]:
    """Return [N] whether a warning on the texts places a reply out of the domain."""
    warnings = text_warnings(examples, ("context",))
    return np.array([not OUTSIDE.isdisjoint(warnings.get(row, ())) for row in range(len(examples))], np.bool_)


@cache
def bundled_rule() -> FormRule:
    """Return the rule of the bundled judges; raises `DataError` if its file is not the one of this version."""
    return read_rule(DOMAIN)


def read_rule(path: Path) -> FormRule:
    """Return the rule in a file; raises `DataError` if it is not there, or not of this version."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        rows, bound = content["features"], float(content["bound"])
        table = np.array([rows[name] for name in FORM], np.float64)
        if table.shape != (len(rows), 3) or not np.isfinite(table).all() or (table[:, 1] <= 0).any():
            raise ValueError(table.shape)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError("is no rule for the domain of this version", AGAIN, where=str(path)) from error
    return FormRule(table[:, 0], table[:, 1], table[:, 2], bound)


def write_rule(rule: FormRule, path: Path) -> None:
    """Write a rule, a feature a line, in six digits."""
    rows = zip(FORM, rule.centre, rule.spread, rule.weights, strict=True)
    lines = (f"    {json.dumps(name)}: {json.dumps([float(f'{value:.6g}') for value in row])}" for name, *row in rows)
    about = json.dumps("made by python -m research.domain: centre, spread and weight of each feature")
    features = ",\n".join(lines)
    text = f'{{\n  "about": {about},\n  "bound": {rule.bound:.6g},\n  "features": {{\n{features}\n  }}\n}}\n'
    path.write_text(text, encoding="utf-8")
