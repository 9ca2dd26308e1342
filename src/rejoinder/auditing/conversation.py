"""Attacks with what else was said: the context, the references, replies to other contexts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from rejoinder.auditing.attack import Rng, Transformation
from rejoinder.auditing.words import half
from rejoinder.example import Example
from rejoinder.stats.resamples import blocks

_LONGEST = 20  # words that the bigram model says
_AT_ONCE = 2**22  # similarities in one working array
_END = ""


def whole_context(example: Example, rng: Rng) -> Example | None:  # noqa: ARG001 - every attack takes a generator
    """All turns before it, in the place of the reply."""
    return _said(example, " ".join(example.context))


def last_turn(example: Example, rng: Rng) -> Example | None:  # noqa: ARG001
    """The last turn, in the place of the reply."""
    return _said(example, example.context[-1]) if example.context else None


def earlier_turn(example: Example, rng: Rng) -> Example | None:
    """A turn before the last."""
    earlier = example.context[:-1]
    return _said(example, earlier[int(rng.integers(len(earlier)))]) if earlier else None


def half_of_last_turn(example: Example, rng: Rng) -> Example | None:  # noqa: ARG001
    """The first half of the last turn."""
    return _said(example, half(example.context[-1]) or "") if example.context else None


def reference(example: Example, rng: Rng) -> Example | None:
    """One of the references, a person's reply."""
    told = [text for text in example.references if text.strip()]
    return _said(example, told[int(rng.integers(len(told)))]) if told else None


def swapped(example: Example, rng: Rng) -> Example | None:
    """A reference as the reply, and the reply as the reference."""
    found = reference(example, rng)
    return None if found is None or not example.response.strip() else replace(found, references=(example.response,))


def given(key: str) -> Transformation:
    """One of the replies that stand in the line under a key, made by people to be irrelevant."""

    def one_of_them(example: Example, rng: Rng) -> Example | None:
        told = example.extra.get(key)
        replies = [one for one in told if isinstance(one, str)] if isinstance(told, list) else []
        return _said(example, replies[int(rng.integers(len(replies)))]) if replies else None

    return one_of_them


def counter_question(*questions: str) -> Transformation:
    """One of these, where the last turn asks something."""

    def asked(example: Example, rng: Rng) -> Example | None:
        if not example.context or not example.context[-1].rstrip().endswith(("?", "？", "؟")):
            return None
        return _said(example, questions[int(rng.integers(len(questions)))])

    return asked


def random_other(examples: Sequence[Example]) -> list[Transformation]:
    """The reply to another context, drawn at random."""

    def other(example: Example, rng: Rng) -> Example | None:
        for place in rng.permutation(len(examples))[:_TRIES]:
            if _is_other(examples[int(place)], example):
                return _said(example, examples[int(place)].response)
        return None

    return [other]


_TRIES = 50


def _is_other(one: Example, example: Example) -> bool:
    """Whether the reply of one answers another context than the example's, and is none of its own replies."""
    own = {text.casefold().strip() for text in (example.response, *example.references)}
    return one.context_key != example.context_key and one.response.casefold().strip() not in own


def nearest_other(examples: Sequence[Example]) -> list[Transformation]:
    """The reply to another context that shares the most words with this one, weighed by how rare they are.

    Without a context it is the reply most like this one. Adversarial irrelevant replies made by people share words with
    the context too (Sai et al. 2020, DailyDialog++).
    """
    nearest = _nearest(examples)

    def other(example: Example, rng: Rng) -> Example | None:  # noqa: ARG001
        place = nearest().get(_key(example))
        return None if place is None else _said(example, examples[place].response)

    return [other]


def _key(example: Example) -> tuple[tuple[str, ...], str]:
    """What tells an example from others here."""
    return example.context, example.response


def _nearest(examples: Sequence[Example]) -> Callable[[], dict[tuple[tuple[str, ...], str], int]]:
    """A function that gives the place of the nearest other reply to each example; worked out when first asked for."""
    found: dict[tuple[tuple[str, ...], str], int] = {}

    def all_of_them() -> dict[tuple[tuple[str, ...], str], int]:
        if not found and len(examples) > 1:
            found.update(_all_nearest(examples))
        return found

    return all_of_them


def _all_nearest(examples: Sequence[Example]) -> dict[tuple[tuple[str, ...], str], int]:
    """The place of the nearest other reply; an example that shares no word with another is left out."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    asked = [" ".join(one.context) if any(map(str.strip, one.context)) else one.response for one in examples]
    vectorizer = TfidfVectorizer(token_pattern=r"\w+")  # noqa: S106 - no password
    try:
        replies = vectorizer.fit_transform([one.response for one in examples])
    except ValueError:  # no reply holds a word
        return {}
    contexts = vectorizer.transform(asked)
    found = {}
    for part in blocks(len(examples), len(examples), _AT_ONCE):
        similar = (contexts[part] @ replies.T).toarray()
        for row, place in enumerate(range(part.start, min(part.stop, len(examples)))):
            for other in np.argsort(-similar[row], kind="stable")[:_TRIES].tolist():
                if similar[row, other] > 0 and _is_other(examples[other], examples[place]):
                    found[_key(examples[place])] = other
                    break
    return found


def bigram_reply(examples: Sequence[Example]) -> list[Transformation]:
    """What a bigram model of all replies says: word after word as they follow each other there, whatever was asked."""
    follows: dict[str, list[str]] = {}
    for one in examples:
        words = one.response.split()
        for word, after in zip((_END, *words), (*words, _END), strict=True):
            follows.setdefault(word, []).append(after)

    def reply(example: Example, rng: Rng) -> Example | None:
        said: list[str] = []
        while len(said) < _LONGEST:
            after = follows.get(said[-1] if said else _END, [_END])
            word = after[int(rng.integers(len(after)))]
            if word == _END:
                break
            said.append(word)
        return _said(example, " ".join(said))

    return [reply]


def common_replies(examples: Sequence[Example], known: Sequence[str], most: int = 5) -> list[str]:
    """Replies that fit nearly everywhere: those known, and the commonest of those here that answer several contexts."""
    contexts: dict[str, set[tuple[str, ...]]] = {}
    for one in examples:
        contexts.setdefault(one.response.strip(), set()).add(one.context_key)
    own = sorted(
        (text for text, keys in contexts.items() if text and len(keys) > 1),
        key=lambda text: (-len(contexts[text]), text),
    )
    return list(dict.fromkeys((*known, *own[:most])))


def _said(example: Example, text: str) -> Example | None:
    """The example with another reply, where that is one."""
    return replace(example, response=text) if text.strip() else None
