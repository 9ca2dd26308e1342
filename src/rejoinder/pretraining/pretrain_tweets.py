"""From tweets to a trained tweet2vec encoder: corpus, characters, training, one folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from rejoinder.data.files import OnError
from rejoinder.data.read import raise_error
from rejoinder.models.sizes import TweetSizes
from rejoinder.models.tweets import as_numbers, most_frequent, numbered
from rejoinder.pretraining.corpora import digests
from rejoinder.pretraining.fit import fit
from rejoinder.pretraining.pretrain import Pretrained, require_own, save_run, tensors_of
from rejoinder.pretraining.processes import claim_run, is_first_process
from rejoinder.pretraining.recipe import TweetRecipe
from rejoinder.pretraining.tweet import Tweet, TweetBatches, TweetTask
from rejoinder.pretraining.tweet_corpus import Labelled, tweet_corpus
from rejoinder.scorer import Advance, ignore

CHARACTERS, HASHTAGS = "characters.json", "hashtags.json"


def pretrain_tweets(
    recipe: TweetRecipe,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    force: bool = False,
    on_error: OnError = raise_error,
    say: Callable[[str], None] = lambda _: None,
    advance: Advance = ignore,
) -> Pretrained:
    """Train tweet2vec on the tweets in `files` and save it as the folder `out`.

    Checkpoints and curves stand in the folder `OUT.run` beside it. A run that was interrupted goes on from its last
    checkpoint when it is called again with the same recipe and files. The tweets are held in memory.

    Args:
        recipe: what and how.
        files: tweets (see `read_posts`).
        out: the folder to save the model in.
        force: replace a model of another run that stands at `out`.
        on_error: what to do with a bad line.
        say: takes one line about each step.
        advance: called with the number of updates done.

    Raises:
        UsageError: see `pretrain`.
        DataError: a bad line, or too few tweets.
    """
    out = Path(out)
    run = require_own(out, files, force=force)
    corpora = digests(files)
    claim_run(run, {**recipe.to_dict(), "corpora": corpora})
    corpus = tweet_corpus(files, recipe.text, on_error)
    characters = most_frequent(chain.from_iterable(text for text, _ in corpus.parts["train"]), recipe.text.characters)
    train, held_out = (tweets_in_numbers(corpus.parts[part], characters) for part in ("train", "validation"))
    left_out = ", ".join(f"{reason}: {count:,}" for reason, count in corpus.left_out.items())
    say(f"training on {len(train):,} tweets, validating on {len(held_out):,}, {len(corpus.hashtags):,} hashtags")
    say(f"not used: {left_out}")
    sizes = TweetSizes(**recipe.model.model_dump(), symbols=len(characters) + 1, hashtags=len(corpus.hashtags))
    task = TweetTask(sizes, recipe.run, l2=recipe.l2)
    fitted = fit(task, TweetBatches(train, held_out, recipe.batch, recipe.run.seed), run, advance)
    if is_first_process():
        tweets = {part: len(found) for part, found in corpus.parts.items()}
        config = {"kind": recipe.kind, "sizes": sizes.model_dump(), "recipe": recipe.to_dict(), "corpora": corpora}
        config |= {"tweets": tweets, "left_out": dict(corpus.left_out)}
        symbols = {CHARACTERS: characters, HASHTAGS: list(corpus.hashtags)}
        lists = {name: json.dumps(kept, ensure_ascii=False) for name, kept in symbols.items()}
        about = f"Trained to predict {len(corpus.hashtags):,} hashtags on {tweets['train']:,} tweets."
        save_run(run, out, tensors_of(task.model), fitted, config, lists, "tweet2vec", about)
    return Pretrained(out, fitted.rows, fitted.best, (len(train), len(held_out)))


def tweets_in_numbers(tweets: Sequence[Labelled], symbols: Sequence[str]) -> list[Tweet]:
    """The tweets as the network reads them."""
    known = numbered(symbols)
    return [Tweet(as_numbers(tweet.text, known), tweet.hashtags) for tweet in tweets]
