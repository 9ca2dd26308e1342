"""Tweets as tweet2vec reads them, and the hashtags it learns to predict.

Source: Dhingra et al. 2016 and the preprocessing script released with it. Intended differences: no spaces are put
between words and signs, so the network sees the original text; only text that begins like an HTML tag is one, so `<3`
stays; a mention must begin a word, so e-mail addresses stay; and a hashtag is also found after other signs
(`....#summer`), where the script leaves it in the text and so gives the answer away.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

LONGEST = 145
"""Characters of a tweet that are read, as in the release."""
UNKNOWN = 0
"""Number of a character that is not among the known ones; padding has it too."""

_HTML = re.compile(r"</?[a-z][^<>]*>")
_URL = re.compile(r"(?:https?://|www\.)\S+")
_MENTION = re.compile(r"(?<!\w)@\w+")
_HASHTAG = re.compile(r"(?<![#＃])[#＃]+(\w+)(?:[\w'’-]*\w)?")
_RETWEET = re.compile(r"(?<!\S)rt @user\b")


def clean_tweet(text: str) -> str:
    """`text` in lower case, without HTML tags and hashtags, with `@user` for mentions and `!url` for addresses.

    White space becomes single spaces. What is left may be empty.
    """
    cleaned = _URL.sub("!url", _HTML.sub(" ", text.lower()))
    cleaned = _HASHTAG.sub(" ", _MENTION.sub("@user", cleaned))
    return " ".join(cleaned.split())


def is_retweet(cleaned: str) -> bool:
    """Whether a tweet, cleaned, passes on another's: `rt` before a mention."""
    return _RETWEET.search(cleaned) is not None


def hashtags_in(text: str) -> list[str]:
    """The hashtags in `text`, each once, lower case, without the sign; digits alone are none (`#1`)."""
    found = dict.fromkeys(_HASHTAG.findall(text.lower()))
    return [hashtag for hashtag in found if not hashtag.isdigit()]


def most_frequent(items: Iterable[str], most: int, least: int = 1) -> list[str]:
    """At most `most` different items that occur `least` times or more, most frequent first, then by name."""
    counts = Counter(items)
    kept = [item for item, count in counts.items() if count >= least]
    return sorted(kept, key=lambda item: (-counts[item], item))[:most]


def as_numbers(symbols: Iterable[str], known: Mapping[str, int]) -> list[int]:
    """The numbers of symbols (the characters of a text), `UNKNOWN` for one that is not known."""
    return [known.get(symbol, UNKNOWN) for symbol in symbols]


def numbered(symbols: Iterable[str]) -> dict[str, int]:
    """Return the number of each symbol, counted from 1 in the given order; 0 is `UNKNOWN`."""
    return {symbol: number for number, symbol in enumerate(symbols, start=1)}
