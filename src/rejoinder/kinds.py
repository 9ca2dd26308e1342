"""The kinds of judges, encoders and responders: what makes each, what it is, how it comes about, what it needs.

Scorers have cards; what is trained has none before it is, so its words stand here, beside its modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Literal, NamedTuple


class Kind(NamedTuple):
    """A kind of trained model, as the config of its folder names it: which modules make what of it, "" for nothing.

    Attributes:
        about: what it is, in a few words; "" where nobody makes one by itself.
        judge: `from_parts(parts)` makes a judge.
        learner: `learner(name, choices)` makes what learns such judges.
        trains: what `rejoinder train` calls these, and what each reads beside the response.
        encoder: `from_parts(parts)` makes an encoder.
        responder: `from_parts(parts, decoding)` makes a responder.
        sizes: the class under `rejoinder.nn` that the table `model` of its recipe fills.
        task: the class under `rejoinder.training` that trains it.
        candidates: whether it is made of a corpus without a network.
        material: `from_parts(parts)` makes what the views of a judge stand on beside an encoder.
        torch: whether what is made of it runs on torch; else that is needed to train it alone.
    """

    about: str = ""
    judge: str = ""
    learner: str = ""
    trains: Mapping[str, str] = {}
    encoder: str = ""
    responder: str = ""
    sizes: str = ""
    task: str = ""
    candidates: bool = False
    material: str = ""
    torch: bool = False


class Named(NamedTuple):
    """What has a name of its own, and no folder.

    Attributes:
        module: `encoder(vectors)` makes the encoder, `load(rest, decoding)` the responder.
        about: what it is, in a few words.
        form: how it is written.
        needs: what else has to be there.
    """

    module: str
    about: str
    form: str
    needs: str = ""


class Entry(NamedTuple):
    """A judge, an encoder, a responder or an attack that there is or may be.

    Attributes:
        name: how it is written; of what is trained, its kind.
        about: what it is, in a few words.
        made: how it comes about; of an attack what it would show.
        needs: what it needs to be made and used, "" for nothing else.
    """

    name: str
    about: str
    made: str
    needs: str


# Encoders that come along.
ENCODERS = {
    "word-vectors": Named("rejoinder.encoders.average", "averaged word vectors", "word-vectors"),
    "rejoinder": Named("rejoinder.judges.boxed", "the sentence encoder of the judge in the box", "rejoinder"),
}
# Encoders that others made, by what stands before the colon in their names; `encoder(rest)` of the module makes one.
NAMED_ENCODERS = {
    "sentence": Named(
        "rejoinder.encoders.sentence",
        "any model of sentence-transformers",
        "sentence:MODEL_OR_FOLDER",
        "the model; the extra encoders",
    ),
}
# Responders that are no trained models, by what stands before the colon in their names.
RESPONDERS = {
    "human": Named("rejoinder.responders.human", "replies that people wrote", "human:FILE", "the file"),
    "command": Named(
        "rejoinder.responders.command", "a program, contexts in and replies out", "command:PROGRAM", "the program"
    ),
    "openai": Named(
        "rejoinder.responders.endpoint", "an endpoint of OpenAI's form", "openai:URL#MODEL", "the network, to that URL"
    ),
}
# The module whose `entries()` lists the attacks of `rejoinder audit`.
ATTACKS = "rejoinder.auditing.battery"
# The module whose `spoilt(examples)` attacks replies for a judge to learn from.
SPOILERS = "rejoinder.auditing.spoiling"
BILINEAR = "rejoinder.judges.bilinear.learner"
_GENERATION, _RETRIEVAL = "rejoinder.responders.generation", "rejoinder.responders.retrieval"
_RECURRENT, _DIALOGUE = "rejoinder.encoders.recurrent", "dialogue.DialogueTask"
# What is trained with the vectors of an encoder, which stays as it is.
TAUGHT = ("student", "selector", "mood")
# Every kind of model that is trained here. A new one is its file and one entry.
KINDS: dict[str, Kind] = {
    "average": Kind(encoder="rejoinder.encoders.average"),
    "sentence": Kind(encoder="rejoinder.encoders.sentence"),
    "random": Kind("a response drawn at random", responder=_RETRIEVAL, candidates=True),
    "c-tfidf": Kind("the response to the most similar context, by TF-IDF", responder=_RETRIEVAL, candidates=True),
    "r-tfidf": Kind("the most similar response, by TF-IDF", responder=_RETRIEVAL, candidates=True),
    "lm": Kind(
        "a language model over the conversation",
        responder=_GENERATION,
        sizes="language.LanguageSizes",
        task=_DIALOGUE,
        torch=True,
    ),
    "seq2seq": Kind(
        "an encoder of the last turn and a decoder",
        responder=_GENERATION,
        sizes="dialogue.Sizes",
        task=_DIALOGUE,
        torch=True,
    ),
    "hred": Kind(
        "a hierarchical recurrent encoder and a decoder",
        encoder=_RECURRENT,
        responder=_GENERATION,
        sizes="dialogue.Sizes",
        task=_DIALOGUE,
        torch=True,
    ),
    "vhred": Kind(
        "an HRED with a latent variable",
        encoder=_RECURRENT,
        responder=_GENERATION,
        sizes="dialogue.Sizes",
        task=_DIALOGUE,
        torch=True,
    ),
    "mrrnn": Kind(
        "an HRED that plans a coarse sequence first",
        responder=_GENERATION,
        sizes="multiresolution.MultiresolutionSizes",
        task="dialogue.MultiresolutionTask",
        torch=True,
    ),
    "dual-encoder": Kind(
        "two encoders that choose a response",
        responder="rejoinder.responders.dual",
        sizes="dual.DualSizes",
        task="dual.DualTask",
        torch=True,
    ),
    "dan": Kind(
        "a dual encoder of averaged words", encoder="rejoinder.encoders.dan", sizes="dan.DanSizes", task="dan.DanTask"
    ),
    "student": Kind(
        "a small encoder that was taught a large one's vectors",
        encoder="rejoinder.encoders.student",
        sizes="convolving.StudentSizes",
        task="student.StudentTask",
    ),
    "tweet2vec": Kind(
        "the characters of a tweet, read both ways",
        encoder="rejoinder.encoders.tweet",
        sizes="tweet.TweetSizes",
        task="tweet.TweetTask",
        torch=True,
    ),
    "phrases": Kind("how usual words and phrases are in a corpus", material="rejoinder.training.phrases"),
    "mood": Kind(
        "what turns are like and what replies take them for, over an encoder's vectors",
        material="rejoinder.training.mood",
    ),
    "selector": Kind(
        "which reply answers which context, over an encoder's vectors",
        material="rejoinder.encoders.selector",
        sizes="selecting.SelectorSizes",
        task="selector.SelectorTask",
    ),
    "bilinear": Kind(
        judge="rejoinder.judges.bilinear.judge",
        learner=BILINEAR,
        trains={
            "adem": "context and reference",
            "c-adem": "context",
            "r-adem": "reference",
            "autojudge": "context, in whole vectors",
        },
    ),
    "views": Kind(
        judge="rejoinder.judges.views.judge",
        learner="rejoinder.judges.views.learner",
        trains={"judge": "context, and references where there are any"},
    ),
    "panel": Kind(
        judge="rejoinder.judges.bilinear.panel",
        learner=BILINEAR,
        trains={"panel": "what is there, by the ADEM that fits"},
    ),
}


def makers(what: Literal["judge", "encoder", "responder", "sizes", "task", "material"]) -> dict[str, str]:
    """What makes a judge, an encoder, ... of each kind of model that can be made one."""
    return {name: place for name, kind in KINDS.items() if (place := getattr(kind, what))}


def learners() -> dict[str, str]:
    """What `rejoinder train` trains, and the module whose `learner(name, choices)` makes the learner."""
    return {name: kind.learner for kind in KINDS.values() for name in kind.trains}


def listing() -> dict[str, list[Entry]]:
    """What can be trained or named, and the attacks, by `judges`, `encoders`, `responders`, `material` and `attacks`.

    What `rejoinder train` or `rejoinder pretrain` makes is a folder, whose path is its name from then on.
    """
    return {
        "judges": [_judge(name, read) for kind in KINDS.values() for name, read in kind.trains.items()],
        "encoders": [
            *map(_named, ENCODERS.values()),
            *map(_named, NAMED_ENCODERS.values()),
            *(_made(name) for name in makers("encoder") if KINDS[name].about),
        ],
        "responders": [*map(_named, RESPONDERS.values()), *map(_made, makers("responder"))],
        "material": [*map(_made, makers("material"))],
        "attacks": list(import_module(ATTACKS).entries()),
    }


def _judge(name: str, read: str) -> Entry:
    """A judge that ratings make."""
    return Entry(name, f"reads the response and {read}", f"rejoinder train {name} FILE... -o FOLDER", "ratings")


def _named(one: Named) -> Entry:
    """What has a name of its own."""
    return Entry(one.form, one.about, "is named so" if one.needs else "comes along", one.needs)


def _made(name: str) -> Entry:
    """A kind that a recipe makes of a corpus."""
    kind = KINDS[name]
    recipe = f"recipes/{name}{'-small' if kind.sizes else ''}.toml"
    corpus = "tweets" if name == "tweet2vec" else "dialogues"
    extra = "" if not kind.sizes else "; the extra train" if kind.torch else "; to train it the extra train"
    teacher = " --teacher NAME" if name in TAUGHT else ""
    return Entry(name, kind.about, f"rejoinder pretrain {recipe} CORPUS...{teacher} -o FOLDER", f"{corpus}{extra}")
