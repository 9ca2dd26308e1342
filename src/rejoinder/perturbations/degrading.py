"""Perturbations that make a bad response. Sources: Sai et al. 2019 and 2020; weaknesses of learned and LLM judges."""

from __future__ import annotations

import re

from rejoinder.example import Example
from rejoinder.perturbations.perturbation import (
    LISTS,
    TRIES,
    WORD,
    Corpus,
    Goal,
    Rng,
    canned,
    choice,
    perturbation,
    shown,
    split_words,
)
from rejoinder.text.parts_of_speech import tagged, tagger_name

SAI3, SAI4 = "Sai et al. 2019, table 3", "Sai et al. 2019, table 4"
SAI2020 = "Sai et al. 2020, DailyDialog++"
REWARD_HACKS = "what a policy said that a judge rewarded, research/archive/reinforce.md"
PURPOSE = "An attack by part of speech"
TAGGER = (("tagger", lambda: tagger_name(PURPOSE)),)
CONSONANTS = "bcdfghjklmnpqrstvwxz"
NOUN, PRONOUN, VERB = ("NN",), ("PRP", "WP"), ("VB", "MD")
SWAPPED = {
    "i am": "you are", "i'm": "you're", "i was": "you were", "you are": "I am", "you're": "I'm", "you were": "I was",
    "i": "you", "you": "I", "me": "you", "my": "your", "your": "my", "mine": "yours", "yours": "mine",
    "myself": "yourself", "yourself": "myself",
}  # fmt: skip
PERSON = re.compile(
    r"\b(?:i am|you are|i was|you were|" + "|".join(one for one in SWAPPED if " " not in one) + r")\b(?!['’])",
    re.IGNORECASE,
)
AUXILIARY = re.compile(
    r"\b(am|is|are|was|were|do|does|did|can|could|will|would|should|have|has|had|must)\b(?!['’])(\s+not\b)?",
    re.IGNORECASE,
)

# The response gone, or nothing in it

canned("empty", "nothing at all", "", silence_is_right=True)
canned("near-empty", "a single letter", "a", "x", "k", silence_is_right=True)
canned("lone-punctuation", "signs and no word", ".", "?", "!", "...", "-", silence_is_right=True)


@perturbation(Goal.WORSE)
def truncated(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """the first half of the words, cut inside a sentence"""
    return first_half(example.response)


@perturbation(Goal.WORSE, source=REWARD_HACKS)
def one_word(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """a word of it alone, or one that fits anywhere"""
    own = [word for word in WORD.findall(example.response) if len(word) >= 5]
    if len(split_words(example.response)[0]) < 3:
        return None
    return f"{choice(own, rng)}." if own and rng.random() < 0.5 else choice(LISTS["single"], rng)


@perturbation(Goal.WORSE)
def gibberish(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """random letters in words of the same length"""
    words, space = split_words(example.response)
    letters = ["".join(CONSONANTS[int(at)] for at in rng.integers(len(CONSONANTS), size=len(word))) for word in words]
    return space.join(letters) or None


# Its words in another order or number


@perturbation(Goal.WORSE, source=SAI4)
def jumbled(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """the words in random order"""
    words, space = split_words(example.response)
    if len(set(words)) < 2:
        return None
    order = words
    while order == words:
        order = [words[place] for place in rng.permutation(len(words))]
    return space.join(order)


@perturbation(Goal.WORSE, source=SAI4)
def reversed_(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """the words from the last to the first"""
    words, space = split_words(example.response)
    return None if words == words[::-1] else space.join(words[::-1])


@perturbation(Goal.WORSE, source=SAI4, tools=TAGGER)
def nouns(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """the nouns alone"""
    return only(example.response, NOUN)


@perturbation(Goal.WORSE, source=SAI4, tools=TAGGER)
def nouns_and_verbs(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """nouns, pronouns and verbs alone"""
    return only(example.response, (*NOUN, *PRONOUN, *VERB))


@perturbation(Goal.WORSE, source=SAI4)
def words_repeated(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """half of the words said twice"""
    words, space = split_words(example.response)
    drawn = set(rng.choice(len(words), len(words) // 2, replace=False).tolist()) if words else set()
    return space.join(word for place, word in enumerate(words) for _ in range(1 + (place in drawn))) if drawn else None


@perturbation(Goal.WORSE)
def said_twice(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """the whole reply said twice"""
    return followed_by(example, example.response)


@perturbation(Goal.WORSE)
def padding(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """200 words of nothing after the reply"""
    return followed_by(example, " ".join(["and so on"] * 67))


# Said by the wrong person, or against itself


@perturbation(Goal.WORSE)
def contradiction(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """the reply, then its negation"""
    negated, changes = AUXILIARY.subn(lambda m: m[1] if m[2] else f"{m[1]} not", example.response, count=1)
    return f"{example.response} {negated}" if changes else None


@perturbation(Goal.WORSE)
def wrong_speaker(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """I for you, and you for I"""
    swapped = PERSON.sub(lambda match: SWAPPED.get(match[0].lower(), match[0]), example.response)
    return swapped if swapped.casefold() != example.response.casefold() else None


@perturbation(Goal.WORSE)
def insult_added(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """an insult after the reply"""
    return followed_by(example, choice(LISTS["insults"], rng))


@perturbation(Goal.WORSE)
def prompt_added(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """a demand for the best score after the reply"""
    return followed_by(example, LISTS["prompt"])


# What was said before


@perturbation(Goal.WORSE, source=SAI3)
def context_repeated(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """the whole context"""
    return shown(" ".join(example.context))


@perturbation(Goal.WORSE)
def parrot_last(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """the last turn"""
    return shown(example.context[-1]) if example.context else None


@perturbation(Goal.WORSE)
def parrot_earlier(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """an earlier turn"""
    return shown(choice(example.context[:-1], rng)) if example.context[:-1] else None


@perturbation(Goal.WORSE)
def parrot_half(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """half of the last turn"""
    return shown(first_half(example.context[-1])) if example.context else None


@perturbation(Goal.WORSE)
def counter_question(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """a question in answer to a question"""
    asked = example.context and example.context[-1].rstrip().endswith(("?", "？", "؟"))
    return choice(LISTS["questions"], rng) if asked else None


# What has nothing to do with it


@perturbation(Goal.WORSE, source=SAI3)
def machine_response(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """what a bigram model of all replies says"""
    words: list[str] = []
    while len(words) < 20:
        word = choice(corpus.bigrams.get(words[-1] if words else "", [""]), rng)
        if not word:
            break
        words.append(word)
    return shown(" ".join(words))


@perturbation(Goal.WORSE)
def other_random(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """the reply to another context"""
    places = rng.permutation(len(corpus.examples))[:TRIES].tolist()
    others = (corpus.examples[place] for place in places)
    return next((shown(other.response) for other in others if corpus.is_other(other, example)), None)


@perturbation(Goal.WORSE)
def other_nearest(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """the reply to another context with the most shared words"""
    return shown(corpus.nearest.get((example.context, example.response)))


@perturbation(Goal.WORSE)
def climbed(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """another context's reply, words changed as the score climbs"""
    return other_random(example, rng, corpus)  # the search of an audit does the rest


@perturbation(Goal.WORSE, source=SAI2020)
def irrelevant_random(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """an irrelevant reply in the line"""
    return from_line(example, "random_negative_responses", rng)


@perturbation(Goal.WORSE, source=SAI2020)
def irrelevant_hard(example: Example, rng: Rng, corpus: Corpus) -> str | None:
    """one that people wrote to mislead"""
    return from_line(example, "adversarial_negative_responses", rng)


canned("generic-repeat", "“I'm sorry, can you repeat?”", "I'm sorry, can you repeat?", source=SAI4)
canned("generic-will-do", "“I will do”", "I will do", source=SAI4)
canned("generic-fantastic", "“fantastic! how are you?”", "fantastic! how are you?", source=SAI4)
canned("dull", "a dull reply", *LISTS["dull"])


@perturbation(Goal.WORSE)
def fixed_sentence(example: Example, rng: Rng, corpus: Corpus) -> str:
    """the same sentence for all contexts, the best of a pool"""
    return choice(common_replies(corpus), rng)  # the search of an audit takes the best


canned("insult", "an insult", *LISTS["insults"])
canned("another-language", "a sentence in another language", *LISTS["foreign"])
canned("prompt-like", "a demand for the best score", LISTS["prompt"])
canned("null-model", "what looks like the end of an evaluation", LISTS["null_model"], source="after Zheng et al. 2025")


def common_replies(corpus: Corpus) -> list[str]:
    """Return usual replies and the most frequent ones of the corpus."""
    return list(dict.fromkeys((*LISTS["generic"], *corpus.frequent)))


def followed_by(example: Example, more: str) -> str | None:
    """Return the response with something after it."""
    return f"{example.response} {more}" if example.response.strip() else None


def first_half(text: str) -> str | None:
    """Return about the first half of the words, cut between two words; None if there is no such place."""
    words, space = split_words(text)
    inside = [at for at in range(1, len(words)) if words[at - 1][-1].isalnum() and words[at][0].isalnum()]
    cut = min(inside, key=lambda at: abs(at - len(words) // 2), default=0)
    return space.join(words[:cut]) if cut else None


def only(text: str, kinds: tuple[str, ...]) -> str | None:
    """Return the words of some parts of speech; None if these are none or all."""
    words = tagged(text, PURPOSE)
    kept = [word.text for word in words if word.kind.startswith(kinds)]
    return " ".join(kept) if kept and len(kept) < len(words) else None


def from_line(example: Example, key: str, rng: Rng) -> str | None:
    """Return one of the replies that the line has under a key."""
    given = example.extra.get(key)
    replies = [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
    return shown(choice(replies, rng)) if replies else None
