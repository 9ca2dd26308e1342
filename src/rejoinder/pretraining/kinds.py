"""The kinds of models that recipes train, and the command that makes each."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of model that `rejoinder pretrain` makes.

    Attributes:
        about: a short description.
        sizes: the class under `rejoinder.models` that the table `model` of its recipe fills; "" for none.
        task: the class under `rejoinder.pretraining` that trains it.
        candidates: whether it is made of a corpus without a network.
        material: whether judges read it next to an encoder's vectors.
        torch: whether the result runs on torch; else only training needs it.
    """

    about: str
    sizes: str = ""
    task: str = ""
    candidates: bool = False
    material: bool = False
    torch: bool = False


# Kinds that are trained with the vectors of an encoder, which does not change.
TAUGHT = ("student", "selector", "mood")
_DIALOGUE = "dialogue.DialogueTask"
KINDS: dict[str, Kind] = {
    "random": Kind("a response drawn at random", candidates=True),
    "c-tfidf": Kind("the response to the most similar context, by TF-IDF", candidates=True),
    "r-tfidf": Kind("the most similar response, by TF-IDF", candidates=True),
    "lm": Kind("a language model over the conversation", "networks.language.LanguageSizes", _DIALOGUE, torch=True),
    "seq2seq": Kind("an encoder of the last turn and a decoder", "networks.dialogue.Sizes", _DIALOGUE, torch=True),
    "hred": Kind("a hierarchical recurrent encoder and a decoder", "networks.dialogue.Sizes", _DIALOGUE, torch=True),
    "vhred": Kind("an HRED with a latent variable", "networks.dialogue.Sizes", _DIALOGUE, torch=True),
    "mrrnn": Kind(
        "an HRED that plans a coarse sequence first",
        "networks.multiresolution.MultiresolutionSizes",
        "dialogue.MultiresolutionTask",
        torch=True,
    ),
    "dual-encoder": Kind("two encoders that choose a response", "networks.dual.DualSizes", "dual.DualTask", torch=True),
    "dan": Kind("a dual encoder of averaged words", "dan.DanSizes", "dan.DanTask"),
    "student": Kind(
        "a small encoder that was taught a large one's vectors", "convolving.StudentSizes", "student.StudentTask"
    ),
    "tweet2vec": Kind(
        "the characters of a tweet, read both ways", "networks.tweet.TweetSizes", "tweet.TweetTask", torch=True
    ),
    "phrases": Kind("how usual words and phrases are in a corpus", material=True),
    "mood": Kind("what turns are like and what replies take them for, over an encoder's vectors", material=True),
    "selector": Kind(
        "which reply answers which context, over an encoder's vectors",
        "selecting.SelectorSizes",
        "selector.SelectorTask",
        material=True,
    ),
}


def making(name: str) -> tuple[str, str]:
    """Return the command that makes a kind of model, and what it needs."""
    kind = KINDS[name]
    recipe = f"recipes/{name}{'-small' if kind.sizes else ''}.toml"
    corpus = "tweets" if name == "tweet2vec" else "dialogues"
    extra = "" if not kind.sizes else "; the extra train" if kind.torch else "; to train it the extra train"
    teacher = " --teacher NAME" if name in TAUGHT else ""
    return f"rejoinder pretrain {recipe} CORPUS...{teacher} -o FOLDER", f"{corpus}{extra}"
