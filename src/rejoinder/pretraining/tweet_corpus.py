"""A corpus of tweets made ready: cleaned, joined where they read the same, split by text, hashtags chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple
from zlib import crc32

from rejoinder.data.files import OnError
from rejoinder.data.read import raise_error
from rejoinder.errors import DataError
from rejoinder.models.tweets import clean_tweet, hashtags_in, is_retweet, most_frequent
from rejoinder.pretraining.recipe import TweetText
from rejoinder.pretraining.tweet_posts import read_posts

Part = Literal["train", "validation", "test"]
_BUCKETS = 10_000


class Labelled(NamedTuple):
    """A cleaned tweet, and the numbers of its hashtags."""

    text: str
    hashtags: tuple[int, ...]


@dataclass(frozen=True)
class TweetCorpus:
    """Examples in three parts.

    Attributes:
        hashtags: their names, most frequent first.
        parts: the tweets of each part that have one or more of them.
        left_out: how many tweets were not used, by reason.
    """

    hashtags: Sequence[str]
    parts: Mapping[Part, Sequence[Labelled]]
    left_out: Mapping[str, int]


def tweet_corpus(files: Sequence[str | Path], how: TweetText, on_error: OnError = raise_error) -> TweetCorpus:
    """The examples in `files`; it holds them in memory.

    Tweets that read the same once they are cleaned are one, with the hashtags of all, as in the release. A hash of the
    cleaned text decides the part, so that no text is in two. Hashtags are counted over all parts.

    Raises:
        DataError: a bad line (see `read_posts`), or no tweet to train on or to validate on.
    """
    joined, left_out = _joined(files, how.longest, on_error)
    names = most_frequent((name for stated in joined.values() for name in stated), how.most, how.least)
    numbers = {name: number for number, name in enumerate(names)}
    parts: dict[Part, list[Labelled]] = {"train": [], "validation": [], "test": []}
    for text, stated in joined.items():
        hashtags = tuple(sorted(numbers[name] for name in stated if name in numbers))
        if hashtags:
            parts[part_of(text, how)].append(Labelled(text, hashtags))
        else:
            left_out["no frequent hashtag"] += 1
    if not parts["train"] or not parts["validation"]:
        found = f"{len(parts['train'])} tweets to train on, {len(parts['validation'])} to validate on"
        raise DataError(f"{found}, with {len(names)} hashtags on {how.least} tweets or more", "Give a larger corpus")
    return TweetCorpus(names, parts, left_out)


def part_of(text: str, how: TweetText) -> Part:
    """The part that a cleaned text belongs to."""
    share = crc32(text.encode()) % _BUCKETS / _BUCKETS
    if share < how.test:
        return "test"
    return "validation" if share < how.test + how.validation else "train"


def _joined(files: Sequence[str | Path], longest: int, on_error: OnError) -> tuple[dict[str, set[str]], dict[str, int]]:
    """The hashtags of each cleaned text, cut to its length, and how many tweets are no example, by reason."""
    joined: dict[str, set[str]] = {}
    left_out = {"re-tweet": 0, "nothing but hashtags": 0, "reads like another": 0, "no frequent hashtag": 0}
    for post in read_posts(*files, on_error=on_error):
        text = clean_tweet(post.text)[:longest].rstrip()
        if not text:
            left_out["nothing but hashtags"] += 1
        elif is_retweet(text):
            left_out["re-tweet"] += 1
        else:
            left_out["reads like another"] += text in joined
            joined.setdefault(text, set()).update(hashtags_in(post.text) if post.hashtags is None else post.hashtags)
    return joined, left_out
