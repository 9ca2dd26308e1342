"""tweet2vec: how tweets are read, what the network and its loss do, training, and the encoder that comes out."""

from __future__ import annotations

import json
import math
import os
import shutil
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from conftest import PROJECT, Run
from rejoinder.data.folders import read_folder
from rejoinder.errors import DataError
from rejoinder.models import load_encoder
from rejoinder.models.recurrent_encoders import TweetEncoder
from rejoinder.models.tweets import as_numbers, clean_tweet, hashtags_in, is_retweet, most_frequent, numbered

torch = pytest.importorskip("torch", reason="needs the extra train")


from rejoinder.models.networks.tweet2vec import Tweet2Vec  # noqa: E402
from rejoinder.models.sizes import TweetSizes  # noqa: E402
from rejoinder.pretraining.pretrain import pretrain  # noqa: E402
from rejoinder.pretraining.recipe import Run as RunTable  # noqa: E402
from rejoinder.pretraining.recipe import TweetRecipe, TweetText, read_recipe  # noqa: E402
from rejoinder.pretraining.tweet2vec import (  # noqa: E402
    Tweet,
    TweetBatches,
    TweetTask,
    as_batch,
    best_ranks,
    part_of,
    read_posts,
    tweet_corpus,
    tweet_losses,
)

TINY = PROJECT / "recipes" / "tweet2vec-tiny.toml"
torch.set_num_threads(1)  # models this small only wait for a second one, for minutes where the machine is busy
TOPICS = {
    "cats": ("the cat sleeps", "my kitten purrs", "a cat on the mat"),
    "rain": ("it pours outside", "where is my umbrella", "wet shoes again"),
    "food": ("best pizza in town", "so hungry now", "dinner is served"),
}


def tweets() -> list[str]:
    """240 short tweets on three hashtags, no two alike."""
    return [
        f"{text} {number} @you #{topic}"
        for number in range(80)
        for topic, texts in TOPICS.items()
        for text in [texts[number % 3]]
    ]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("corpus") / "tweets.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in tweets()))
    return file


@pytest.fixture(scope="module")
def recipe() -> TweetRecipe:
    found = read_recipe(TINY)
    assert isinstance(found, TweetRecipe)
    return found


@pytest.fixture(scope="module")
def trained(corpus: Path, recipe: TweetRecipe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("models") / "tweet2vec"
    pretrain(recipe, [corpus], out)
    return out


@pytest.fixture(scope="module")
def encoder(trained: Path) -> TweetEncoder:
    found = load_encoder(trained)
    assert isinstance(found, TweetEncoder)
    return found


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Good  Morning\n World", "good morning world"),
        ("thanks @Anna_B!", "thanks @user!"),
        ("write to anna@home.org", "write to anna@home.org"),
        ("see https://t.co/a1B2?x=1 now", "see !url now"),
        ("www.example.org", "!url"),
        ("<b>bold</b> <br/>move", "bold move"),
        ("i <3 you -> me", "i <3 you -> me"),
        ("so good #Summer #fun_2018", "so good"),
        ("show......#sofarsounds…", "show...... …"),
        ("#can't-stop now", "now"),
        ("We're #1", "we're"),
        ("C# and # alone", "c# and # alone"),
        ("＃full width", "width"),
        ("RT @anna: hi", "rt @user: hi"),
        ("#only #tags", ""),
        ("ÉTÉ 👍🏽", "été 👍🏽"),
        ("", ""),
    ],
)
def test_cleaning(text: str, cleaned: str) -> None:
    assert clean_tweet(text) == cleaned
    assert clean_tweet(cleaned) == cleaned


@pytest.mark.parametrize(
    ("text", "retweet"),
    [("RT @a: hi", True), ("so true rt @a hi", True), ("art @a", False), ("rt if you agree", False), ("@a rt", False)],
)
def test_retweets(text: str, retweet: bool) -> None:
    assert is_retweet(clean_tweet(text)) is retweet


def test_hashtags_are_found_once_in_lower_case() -> None:
    assert hashtags_in("#Love is ##love....#New_York's #2018 #7up a#b") == ["love", "new_york", "7up", "b"]


def test_no_hashtag_survives_cleaning() -> None:
    for text in tweets():
        assert not hashtags_in(clean_tweet(text))


def test_most_frequent_breaks_ties_by_name() -> None:
    assert most_frequent("bbacca", 2) == ["a", "b"]
    assert most_frequent("bbacc", 9, least=2) == ["b", "c"]


def test_unknown_symbols_are_number_0() -> None:
    assert as_numbers("abz", numbered("ba")) == [2, 1, 0]


def test_posts_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "hi #A"}\n\n{"turns": ["yo"], "hashtags": ["#B", "b", "c"], "id": 3}\n')
    assert list(read_posts(file)) == [("hi #A", ["a"]), ("yo", ["b", "b", "c"])]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{", ""),
        ("[]", ""),
        ("[" * 1_000_000, ""),
        ("{}", "text"),
        ('{"text": 3}', "text"),
        ('{"turns": ["a", "b"]}', "turns"),
        ('{"turns": []}', "turns"),
        ('{"text": "a", "hashtags": "b"}', "hashtags"),
    ],
)
def test_bad_posts_are_refused_or_skipped(tmp_path: Path, line: str, field: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(f'{{"text": "x"}}\n{line}\n{{"text": "y"}}\n')
    skipped: list[DataError] = []
    assert [text for text, _ in read_posts(file, on_error=skipped.append)] == ["x", "y"]
    assert [(error.where, error.field) for error in skipped] == [(f"{file}:2", field)]
    with pytest.raises(DataError):
        list(read_posts(file))


def test_a_long_text_is_cut_when_it_is_cleaned(tmp_path: Path) -> None:
    file, link = tmp_path / "a.jsonl", f"https://example.org/{'x' * 100_000}"
    lines = [f"{number} {link} {link} end #often" for number in range(60)]
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in lines))
    texts = [tweet.text for part in tweet_corpus([file], TweetText(longest=12)).parts.values() for tweet in part]
    assert sorted(texts) == sorted(f"{number} !url !url"[:12].rstrip() for number in range(60))


def test_the_corpus_is_joined_counted_and_split(tmp_path: Path) -> None:
    lines = [f"text {number} #often" for number in range(60)]
    lines += ["text 1 #rare #Often", "text 2 #other #often", "rt @a x #often", "#often", "lonely #rare"]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in lines))
    how = TweetText(least=2, validation=0.2, test=0.2)
    found = tweet_corpus([file], how)
    assert list(found.hashtags) == ["often", "rare"]
    assert found.left_out == {
        "re-tweet": 1,
        "nothing but hashtags": 1,
        "reads like another": 2,
        "no frequent hashtag": 0,
    }
    together = [tweet for part in found.parts.values() for tweet in part]
    assert len(together) == len({tweet.text for tweet in together}) == 61
    assert dict(together)["text 1"] == (0, 1)
    assert dict(together)["text 2"] == (0,)
    for part, inside in found.parts.items():
        assert inside
        assert {part_of(tweet.text, how) for tweet in inside} == {part}


def test_a_corpus_without_hashtags_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "hi #a"}\n')
    with pytest.raises(DataError, match="0 tweets to train on, 0 to validate on, with 0 hashtags on 20 tweets or more"):
        tweet_corpus([file], TweetText())


SIZES = TweetSizes(symbols=20, hashtags=6, lookup=4, units=5, embedding=3)


def test_padding_changes_no_vector() -> None:
    model = Tweet2Vec(SIZES)
    symbols = torch.tensor([[3, 4, 5, 0, 0], [6, 7, 8, 9, 10]])
    padded = model.encode(symbols, torch.tensor([3, 5]))
    torch.testing.assert_close(padded[:1], model.encode(symbols[:1, :3], torch.tensor([3])))
    torch.testing.assert_close(padded[1:], model.encode(symbols[1:], torch.tensor([5])))


def test_the_network_is_that_of_the_paper() -> None:
    model = Tweet2Vec(SIZES)
    symbols = torch.tensor([[3, 4, 5]])
    embedded = model.lookup(symbols)
    there, _ = model.forwards(embedded)
    back, _ = model.backwards(embedded.flip(1))
    expected = there[:, -1] @ model.from_forwards.weight.T + back[:, -1] @ model.from_backwards.weight.T
    torch.testing.assert_close(model.encode(symbols, torch.tensor([3])), expected)
    assert model(symbols, torch.tensor([3])).exp().sum().item() == pytest.approx(1.0)
    assert not [name for name, _ in model.named_parameters() if name.startswith("from_") and name.endswith("bias")]


def test_loss_and_ranks_by_hand() -> None:
    scores = torch.log(torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.4, 0.4, 0.2]]))
    hashtags = torch.tensor([[1, -1], [0, 2], [1, -1]])
    losses = tweet_losses(scores, hashtags)
    expected = [-math.log(0.3), -(math.log(0.1) + math.log(0.3)) / 2, -math.log(0.4)]
    assert losses.tolist() == pytest.approx(expected)
    assert best_ranks(scores, hashtags).tolist() == [2, 2, 2]  # the last is tied for the first place
    assert best_ranks(torch.full((1, 3), torch.nan), hashtags[:1]).tolist() == [3]


def numbers(count: int) -> list[Tweet]:
    """Tweets of many lengths, each told by its first symbol."""
    return [Tweet([number, *[1] * (number * 7 % 50)], [number % 3]) for number in range(count)]


def firsts(source: TweetBatches, first: int, count: int, rank: int = 0, world: int = 1) -> list[list[int]]:
    return [batch.symbols[:, 0].tolist() for batch in islice(source.training(first, rank, world), count)]


def test_each_pass_holds_every_tweet_once_in_its_own_order() -> None:
    source = TweetBatches(numbers(103), numbers(10), 8, seed=1)
    passes = [firsts(source, start, 13) for start in (0, 13)]
    for found in passes:
        assert sorted(place for batch in found for place in batch) == list(range(103))
    assert passes[0] != passes[1]
    assert firsts(source, 5, 15) == [*passes[0], *passes[1]][5:20]
    assert firsts(replace(source, seed=2), 0, 13) != passes[0]


def test_processes_share_the_batches() -> None:
    source = TweetBatches(numbers(103), numbers(10), 8, seed=1)
    alone = firsts(source, 0, 20)
    assert [firsts(source, 0, 10, rank, 2) for rank in (0, 1)] == [alone[::2], alone[1::2]]
    assert sum(len(batch.lengths) for batch in source.validation()) == 10


def test_little_is_padded() -> None:
    source = TweetBatches(numbers(1000), numbers(10), 16, seed=0)
    batches = list(islice(source.training(0, 0, 1), 63))
    positions = sum(batch.symbols.numel() for batch in batches)
    assert 1 - sum(int(batch.lengths.sum()) for batch in batches) / positions < 0.05


def test_every_weight_learns() -> None:
    task = TweetTask(SIZES, RunTable(updates=10))
    torch.autograd.backward(task.loss(as_batch(numbers(5)), 0, torch.Generator()))
    silent = [name for name, weight in task.model.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert silent == []


def test_the_l2_term_by_hand() -> None:
    plain, held = (TweetTask(SIZES, RunTable(updates=10), l2=l2) for l2 in (0.0, 0.01))
    for task in (plain, held):
        for name, weight in task.model.named_parameters():
            torch.nn.init.constant_(weight, 3.0 if "bias" in name else 0.5)
    # Lookup, two GRU layers, two maps and the head; biases are not counted.
    weights = 20 * 4 + 2 * 3 * (4 + 5) * 5 + 2 * 5 * 3 + 3 * 6
    batch, noise = as_batch(numbers(5)), torch.Generator()
    added = held.loss(batch, 0, noise) - plain.loss(batch, 0, noise)
    assert added.item() == pytest.approx(0.01 * weights * 0.25, rel=1e-5)
    assert held.sums(batch, noise) == plain.sums(batch, noise)


def test_the_recipe_decides_the_l2_term(corpus: Path, recipe: TweetRecipe, tmp_path: Path) -> None:
    (tmp_path / "l2.toml").write_text(TINY.read_text().replace("batch = 16", "batch = 16\nl2 = 1e-4"))
    read = read_recipe(tmp_path / "l2.toml")
    assert isinstance(read, TweetRecipe)
    assert (read.l2, recipe.l2) == (1e-4, 0.0)
    heavy = recipe.model_copy(update={"l2": 10.0, "run": recipe.run.model_copy(update={"updates": 1})})
    (row,) = pretrain(heavy, [corpus], tmp_path / "model").rows
    assert row["training_loss"] > 100
    assert row["validation_loss"] < 2, "the term is no part of it"


@pytest.mark.slow
def test_training_learns_and_says_so(trained: Path) -> None:
    figures = read_folder(trained).config["figures"]
    # Three hashtags that are equally frequent: chance is a loss of log 3, a precision of a third and a rank of 2.
    assert figures["validation_loss"] < 0.8 * math.log(3)
    assert figures["precision_at_1"] > 0.6
    assert 1.0 <= figures["mean_rank"] < 1.5


def test_the_folder_is_whole(trained: Path) -> None:
    parts = read_folder(trained)
    assert parts.config["kind"] == "tweet2vec"
    assert sorted(json.loads(parts.files["hashtags.json"])) == sorted(TOPICS)
    assert "t" in json.loads(parts.files["characters.json"])
    assert set(parts.files) == {"characters.json", "hashtags.json", "curves.csv", "curves.svg"}
    assert parts.files["curves.csv"].startswith("updates,")
    assert (trained / "card.md").read_text().startswith("# tweet2vec\n\nTrained to predict 3 hashtags on ")


def test_the_folder_tells_what_decided_it_and_no_path(trained: Path, corpus: Path, recipe: TweetRecipe) -> None:
    config = read_folder(trained).config
    digest = sha256(corpus.read_bytes()).hexdigest()[:16]
    assert config["corpora"] == [{"name": "tweets.jsonl", "sha256": digest}]
    assert config["recipe"] == recipe.to_dict()
    assert sum(config["tweets"].values()) == 240
    assert set(config["left_out"].values()) == {0}
    assert os.sep not in json.dumps(config) + (trained / "card.md").read_text()


def test_a_corpus_that_only_moved_is_gone_on_with(
    corpus: Path, recipe: TweetRecipe, trained: Path, tmp_path: Path
) -> None:
    moved = tmp_path / corpus.name
    shutil.copy(corpus, moved)
    before = read_folder(trained).digest
    done: list[int] = []
    pretrain(recipe, [moved], trained, progress=done.append)
    assert (done, read_folder(trained).digest) == ([40], before)


@pytest.mark.slow
def test_the_command_trains_the_same_model_and_encodes(corpus: Path, run: Run, trained: Path, tmp_path: Path) -> None:
    ran = run("pretrain", TINY, corpus, "-o", tmp_path / "model")
    assert ran.code == 0, ran.err
    assert "precision at 1: " in ran.out
    assert "training on " in ran.err
    assert read_folder(tmp_path / "model").digest == read_folder(trained).digest
    lines = [{"context": ["hello", "the rain"], "response": "my cat"}, {"context": ["a"], "response": "#cats"}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = run("encode", tmp_path / "in.jsonl", "-e", tmp_path / "model", "-o", tmp_path / "out.npz")
    assert ran.code == 0, ran.err
    arrays = np.load(tmp_path / "out.npz")
    assert arrays["response"].shape == (2, 10)
    assert np.isnan(arrays["response"]).all(1).tolist() == [False, True]
    assert not np.isnan(arrays["context"]).any()


TEXTS = ["the cat sleeps", "a", "It POURS outside @anna", "dinner " * 400, "pizza 🍕 now", "wet shoes again"]


def test_order_and_batch_do_not_matter(encoder: TweetEncoder) -> None:
    whole = encoder.encode(TEXTS)
    np.testing.assert_allclose(encoder.encode(TEXTS[::-1])[::-1], whole, atol=1e-6)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(alone, whole, atol=1e-6)
    np.testing.assert_allclose(encoder.encode(TEXTS * 30)[-6:], whole, atol=1e-6)
    assert whole.shape == (6, encoder.width)
    assert whole.dtype == np.float64
    assert len(np.unique(whole.round(6), axis=0)) == 6


def test_texts_without_a_known_character_are_nan(encoder: TweetEncoder) -> None:
    odd = ["", " ", "\n\t", "👍🏽🇩🇪", "漢字", "#cats", "\u200b", "<b>", "a"]
    assert np.isnan(encoder.encode(odd)).all(1).tolist() == [True] * 8 + [False]
    contexts: list[tuple[str, ...]] = [(), ("",), ("#cats", "👍🏽"), ("", "a")]
    assert np.isnan(encoder.encode_contexts(contexts)).all(1).tolist() == [True, True, True, False]
    assert encoder.encode([]).shape == (0, encoder.width)


def test_what_cleaning_removes_changes_nothing(encoder: TweetEncoder) -> None:
    one, other = encoder.encode(["The  CAT @anna #cats", "the cat @bert"])
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_texts_are_read_from_the_start_and_contexts_to_the_end(encoder: TweetEncoder) -> None:
    long = "the cat sleeps " * 20
    whole, beginning = encoder.encode([long, long[:145]])
    np.testing.assert_allclose(whole, beginning, atol=1e-6)
    whole, end = encoder.encode_contexts([("rain", long), (long.strip()[-145:],)])
    np.testing.assert_allclose(whole, end, atol=1e-6)
    np.testing.assert_allclose(
        encoder.encode_contexts([("the cat", "", "sleeps")]), encoder.encode(["the cat sleeps"]), atol=1e-6
    )


def test_the_encoder_says_where_it_comes_from(encoder: TweetEncoder, trained: Path) -> None:
    assert encoder.options == {"encoder": "tweet2vec", "weights": encoder.parts.digest}
    assert set(encoder.parts.files) == {"characters.json"} < set(read_folder(trained).files)


def test_the_real_corpus_gives_away_no_hashtag(shared: Path) -> None:
    posts = islice(read_posts(shared / "data" / "corpora" / "hashtag_tweets.jsonl.gz"), 5000)
    given_away = [text for text, hashtags in posts if any(f"#{hashtag}" in clean_tweet(text) for hashtag in hashtags)]
    assert given_away == []
