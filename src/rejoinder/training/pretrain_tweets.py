"""From tweets to a trained tweet2vec encoder: corpus, characters, training, one folder."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

from rejoinder.errors import UsageError
from rejoinder.io.folders import Parts, require_free, write_folder
from rejoinder.io.lines import OnBad, raise_bad
from rejoinder.nn.tweet import TweetSizes
from rejoinder.scorer import Advance, ignore
from rejoinder.text.tweets import as_numbers, most_frequent, numbered
from rejoinder.training.fit import fit, is_first_process
from rejoinder.training.pretrain import Pretrained, claim_run
from rejoinder.training.recipe import TweetRecipe
from rejoinder.training.tweet import Tweet, TweetBatches, TweetTask
from rejoinder.training.tweet_corpus import Labelled, TweetCorpus, tweet_corpus

CHARACTERS, HASHTAGS = "characters.json", "hashtags.json"


def pretrain_tweets(
    recipe: TweetRecipe,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    on_bad: OnBad = raise_bad,
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
        on_bad: what to do with a bad line.
        say: takes one line about each step.
        advance: called with the number of updates done.

    Raises:
        UsageError: `OUT.run` holds a run of another recipe, or the loss went out of bounds.
        DataError: a bad line, or too few tweets.
    """
    out = Path(out)
    require_free(out)
    run = out.with_name(f"{out.name}.run")
    claim_run(run, {**recipe.to_dict(), "files": [str(file) for file in files]})
    corpus = tweet_corpus(files, recipe.text, on_bad)
    characters = most_frequent(chain.from_iterable(text for text, _ in corpus.parts["train"]), recipe.text.characters)
    train, held_out = (tweets_in_numbers(corpus.parts[part], characters) for part in ("train", "validation"))
    left_out = ", ".join(f"{reason}: {count:,}" for reason, count in corpus.left_out.items())
    say(f"training on {len(train):,} tweets, validating on {len(held_out):,}, {len(corpus.hashtags):,} hashtags")
    say(f"not used: {left_out}")
    sizes = replace(recipe.sizes, symbols=len(characters) + 1, hashtags=len(corpus.hashtags))
    task = TweetTask(sizes, recipe.options)
    figures = fit(task, TweetBatches(train, held_out, recipe.batch, recipe.options.seed), run, advance)
    if is_first_process():
        _save(task, sizes, recipe, characters, corpus, figures, run, out)
    return Pretrained(out, figures, (len(train), len(held_out)))


def tweets_in_numbers(tweets: Sequence[Labelled], symbols: Sequence[str]) -> list[Tweet]:
    """The tweets as the network reads them."""
    known = numbered(symbols)
    return [Tweet(as_numbers(tweet.text, known), tweet.hashtags) for tweet in tweets]


def _save(
    task: TweetTask,
    sizes: TweetSizes,
    recipe: TweetRecipe,
    characters: Sequence[str],
    corpus: TweetCorpus,
    figures: list[dict[str, float]],
    run: Path,
    out: Path,
) -> None:
    """Write the model's folder."""
    best = min(figures, key=lambda row: row["validation_loss"])
    if not math.isfinite(best["validation_loss"]):
        raise UsageError(f"{run}: the loss went out of bounds. Lower run.learning_rate and remove the run")
    tweets = {part: len(found) for part, found in corpus.parts.items()}
    config = {
        "kind": recipe.kind,
        "sizes": asdict(sizes),
        "recipe": recipe.to_dict(),
        "figures": best,
        "tweets": tweets,
        "left_out": dict(corpus.left_out),
    }
    tensors = {name: tensor.detach().cpu().numpy() for name, tensor in task.model.state_dict().items()}
    files = {CHARACTERS: json.dumps(characters, ensure_ascii=False)}
    files |= {HASHTAGS: json.dumps(list(corpus.hashtags), ensure_ascii=False)}
    files |= {name: (run / name).read_text(encoding="utf-8") for name in ("curves.csv", "curves.svg")}
    shown = "\n".join(f"- {name.replace('_', ' ')}: {value:.4g}" for name, value in best.items())
    about = (
        f"Trained to predict {len(corpus.hashtags):,} hashtags on {tweets['train']:,} tweets. At its best validation:"
    )
    write_folder(out, Parts(config, tensors, files), f"# tweet2vec\n\n{about}\n\n{shown}\n")
