"""The lazy name tables: which scorers, responders and kinds of model there are, and how to get one by its name.

Adding a scorer takes its file, its test, and one line of `SCORERS`. The module named there has two names:
`CARDS`, a mapping from scorer name to `Card` (the presets included), and `load(name, vectors)`, which makes the scorer.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from rejoinder.errors import UsageError, require_one_of
from rejoinder.example import NO_SET
from rejoinder.kinds import BILINEAR, RESPONDERS, learners

if TYPE_CHECKING:
    from rejoinder.example import Example, Given
    from rejoinder.judges.learner import AnyLearner, Choices
    from rejoinder.responder import Decoding, Responder
    from rejoinder.scorer import Card, Explanation, Scorer, ScorerLike, Scores

SCORERS: dict[str, str] = {
    "rejoinder": "rejoinder.judges.boxed",
    "bleu-1": "rejoinder.metrics.bleu",
    "bleu-2": "rejoinder.metrics.bleu",
    "bleu-3": "rejoinder.metrics.bleu",
    "bleu-4": "rejoinder.metrics.bleu",
    "chrf": "rejoinder.metrics.chrf",
    "rouge-l": "rejoinder.metrics.rouge",
    "meteor": "rejoinder.metrics.meteor",
    "embedding-average": "rejoinder.metrics.embedding",
    "embedding-greedy": "rejoinder.metrics.embedding",
    "embedding-extrema": "rejoinder.metrics.embedding",
    "length": "rejoinder.metrics.baselines",
    "context-overlap": "rejoinder.metrics.baselines",
}

# What stands before the colon in the name of a scorer that needs what is made or stands elsewhere, and the module whose
# `load(name)` makes it.
ELSEWHERE = "rejoinder.external.elsewhere"
PREFIXES = {
    "column": ELSEWHERE,
    "python": ELSEWHERE,
    "command": "rejoinder.external.command",
    "openai": "rejoinder.llm.chat",
    "plus": "rejoinder.judges.plus",
}

# The module that makes examples of what a program holds.
GIVEN = "rejoinder.io.given"
# What scores where nothing else is said, and what has it with a language model of the user's beside it.
DEFAULT, PLUS = "rejoinder", "plus"
# The module whose `load(folder)` makes a scorer of a trained judge.
JUDGES = "rejoinder.judges"
# The module whose `answering(scorers, scale)` brings the answers of judges to a scale.
ANSWERS = "rejoinder.judges.answers"
DIALOGUES = "rejoinder.scoring.dialogue"
# The module whose `withhold(scores)` leaves out scores of replies that a scorer cannot judge.
WITHHOLDING = "rejoinder.scoring.withholding"
# The module whose `load(folder, decoding)` makes a responder of a trained model.
MODELS = "rejoinder.responders"

# What no command trains by its name: ADEM before training, for the tables of papers; judges like the one in the box, to
# leave data sets out one by one.
_MORE_LEARNERS = {"vhred": BILINEAR, DEFAULT: "rejoinder.judges.boxed"}


def cards() -> dict[str, Card]:
    """The cards of all scorers that have a name of their own, presets included, by name, in the table's order."""
    return {
        name: card
        for family, module in SCORERS.items()
        for name, card in import_module(module).CARDS.items()
        if name.partition("/")[0] == family
    }


def load_scorer(name: ScorerLike, *, vectors: str | Path | None = None) -> Scorer:
    """The scorer called `name`; a scorer object comes back as it is, a function as a scorer.

    Args:
        name: a name from `cards()`, the folder of a trained judge, `column:KEY` for numbers that stand in the lines,
            `python:MODULE:FUNCTION`, `command:PROGRAM ARGUMENTS`, `openai:URL#MODEL`, or a function
            `f(examples) -> list[float]`.
        vectors: file of word vectors for scorers that need them; None takes those in the box.

    Raises:
        UsageError: there is no scorer of that name, and the message holds the nearest ones; an object is none.
        MissingAsset: the vectors or the judge's files are not there.
        DataError: they are damaged.
    """
    if not isinstance(name, (str, Path)):
        own: Scorer = import_module(ELSEWHERE).own(name)
        return own
    prefix, colon, _ = str(name).partition(":")
    if colon and prefix in PREFIXES:
        outside: Scorer = import_module(PREFIXES[prefix]).load(str(name))
        return outside
    module = SCORERS.get(str(name).partition("/")[0])
    if module is not None and str(name) in import_module(module).CARDS:
        scorer: Scorer = import_module(module).load(str(name), vectors)
        return scorer
    if _is_folder(name):
        judge: Scorer = import_module(JUDGES).load(Path(name))
        return judge
    raise UsageError(_unknown(str(name)))


def load_learner(name: str | AnyLearner, choices: Choices | None = None) -> AnyLearner:
    """The learner of the judge called `name`; a learner object comes back as it is.

    Args:
        name: one of `kinds.learners()`; `vhred`, ADEM before training; or `rejoinder`, for judges like the one in the
            box.
        choices: what it is to be made with, of an object nothing any more; None leaves all to the learner.

    Raises:
        UsageError: there is no such judge, or it has no use for something that was chosen.
        DataError, MissingAsset, MissingExtra: what it is made with cannot be loaded.
    """
    from rejoinder.judges.learner import Choices

    choices = choices or Choices()
    if not isinstance(name, str):
        choices.only(name.name, "vectors")
        return name
    known = learners() | _MORE_LEARNERS
    if name not in known:
        raise UsageError(f"no judge is called {name!r}. There are: {', '.join(learners())}")
    found: AnyLearner = import_module(known[name]).learner(name, choices)
    return found


def load_scorers(names: Iterable[ScorerLike] | ScorerLike, *, vectors: str | Path | None = None) -> dict[str, Scorer]:
    """The scorers in `names`, each under the name it was asked for by; an object or function under its own.

    Args:
        names: see `load_scorer`; one alone will do.
        vectors: see `load_scorer`.

    Raises:
        UsageError: two have the same name; or `vectors` was given and none of them reads word vectors; see also
            `load_scorer`.
    """
    scorers: dict[str, Scorer] = {}
    for asked in listed(names):
        scorer = load_scorer(asked, vectors=vectors)
        label = called(asked, scorer)
        if label in scorers:
            raise UsageError(f"the scorer {label!r} was named twice. Name each once")
        scorers[label] = scorer
    if vectors is not None and not any("vectors" in scorer.card.needs for scorer in scorers.values()):
        raise UsageError(f"{vectors}: none of {', '.join(scorers)} reads word vectors. Leave them out")
    return scorers


def called(asked: ScorerLike, scorer: Scorer) -> str:
    """What a scorer is called: as it was asked for; endpoints may be given a name, and objects have their own."""
    text = str(asked) if isinstance(asked, (str, Path)) else str(getattr(asked, "called", ""))
    return text if text and text.partition(":")[0] not in PREFIXES else scorer.card.name


def listed(names: Iterable[ScorerLike] | ScorerLike) -> list[ScorerLike]:
    """The scorers that were named; one by itself is a list of one."""
    return list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]


def columns_of(names: Iterable[ScorerLike] | ScorerLike | None) -> list[str]:
    """The keys of the input that scorers among `names` read by themselves: the `KEY` of each `column:KEY`."""
    named = [str(name) for name in listed(() if names is None else names) if isinstance(name, (str, Path))]
    paths = [name.removeprefix("column:").lstrip("-") for name in named if name.startswith("column:")]
    return [key for path in paths for key in (path, path.partition(".")[0])]


def fitted_on(names: Iterable[ScorerLike], datasets: Iterable[str | None]) -> dict[str, list[str]]:
    """The judges among `names` that were fitted on lines of some of `datasets`, and of which; metrics are never."""
    given, found = {name or NO_SET for name in datasets}, dict[str, list[str]]()
    for name in names:
        boxed = str(name).partition(":")[0] in (DEFAULT, PLUS)
        if isinstance(name, (str, Path)) and not boxed and not _is_folder(name):
            continue
        scorer = load_scorer(name)
        if sets := sorted(getattr(scorer, "trained_on", frozenset[str]()) & given):
            found[called(name, scorer)] = sets
    return found


class Chosen(NamedTuple):
    """The scorers that a study takes.

    Attributes:
        scorers: those that were named, or all there are without those that are withheld.
        fitted: the judges among them that were fitted on lines of the data sets, and of which.
        withheld: the judges that nobody named and that were fitted on lines of the data sets, and of which.
    """

    scorers: list[ScorerLike]
    fitted: dict[str, list[str]]
    withheld: dict[str, list[str]]


def chosen(named: Iterable[ScorerLike] | ScorerLike | None, datasets: Iterable[str | None]) -> Chosen:
    """The scorers that a study of `datasets` takes: those that were `named`, else all of `SCORERS`.

    A judge agrees better with people on lines that it was fitted on than on those of a user, who would take it for the
    best of all. So it is there only where it was asked for, and then that is said.
    """
    scorers = listed(SCORERS if named is None else named)
    fitted = fitted_on(scorers, datasets)
    if named is not None:
        return Chosen(scorers, fitted, {})
    return Chosen([name for name in scorers if name not in fitted], {}, fitted)


def score(
    examples: Given,
    scorer: ScorerLike = DEFAULT,
    *,
    scale: tuple[float, float] | None = None,
    vectors: str | Path | None = None,
    level: Literal["turn", "dialogue"] = "turn",
    out_of_domain: Literal["withhold", "keep"] = "withhold",
) -> Scores:
    """The scores of `examples` by `scorer`: a name, a judge's folder, a scorer object or a function.

    Args:
        examples: what to score, in the order the scores come back in; see `examples_of` for what is taken.
        scorer: see `load_scorer`; the judge in the box where none is given.
        scale: the lowest and highest rating that a judge answers with; None leaves it its own.
        vectors: see `load_scorer`.
        level: `dialogue` scores whole conversations, by every turn of the speaker who is judged.
        out_of_domain: `withhold` leaves out scores of replies that the scorer cannot judge, with the reason
            `out of domain`; `keep` returns them. The notes are there either way.

    Raises:
        UsageError: what was given is no example, `scale` no scale, `level` no level, `out_of_domain` another word; see
            also `load_scorer`.
        DataError: what was given cannot be read as examples.
    """
    from rejoinder.scorer import run

    withholding = import_module(WITHHOLDING)
    require_one_of("level", level, ("turn", "dialogue"))
    withholding.require_choice(out_of_domain)
    loaded, given = _asked(examples, scorer, scale, vectors)
    asked = import_module(DIALOGUES).of_dialogues(loaded, every=True) if level == "dialogue" else loaded
    scores = run(asked, given)
    if out_of_domain == "withhold":
        scores = withholding.withhold(scores)
    return cast("Scores", import_module(GIVEN).labelled(scores, examples, given))


def explain(
    examples: Given,
    scorer: ScorerLike = DEFAULT,
    *,
    scale: tuple[float, float] | None = None,
    vectors: str | Path | None = None,
    out_of_domain: Literal["withhold", "keep"] = "withhold",
) -> list[Explanation | None]:
    """What moved the score of each of `examples`, and by how much; None where it has no score.

    Args:
        examples: what was scored; see `score`.
        scorer: see there.
        scale: see there; what moved a score is in its points.
        vectors: see there.
        out_of_domain: see there; a score that is withheld has no explanation.

    Raises:
        UsageError: the scorer does not say what moves its scores; see also `score`, and for other errors.
    """
    from rejoinder.scorer import explanations, require_explained, run

    withholding = import_module(WITHHOLDING)
    withholding.require_choice(out_of_domain)
    loaded, given = _asked(examples, scorer, scale, vectors)
    (telling,) = require_explained({loaded.card.name: loaded}).values()
    explained = explanations(telling, given)
    if out_of_domain == "withhold":
        scored = withholding.withhold(run(telling, given)).scored
        explained = [one if has_score else None for one, has_score in zip(explained, scored, strict=True)]
    return explained


def _asked(
    examples: Given, scorer: ScorerLike, scale: tuple[float, float] | None, vectors: str | Path | None
) -> tuple[Scorer, list[Example]]:
    """The scorer with its answers on the scale that was asked for, and the examples."""
    given: list[Example] = import_module(GIVEN).examples_of(examples, keep=columns_of(scorer))
    loaded = load_scorer(scorer, vectors=vectors)
    if scale is not None:
        loaded = import_module(ANSWERS).answering({loaded.card.name: loaded}, scale)[loaded.card.name]
    return loaded, given


def load_responder(name: str | Path | Responder, *, decoding: Decoding | None = None) -> Responder:
    """The responder called `name`; a responder object comes back as it is.

    Args:
        name: the folder of a trained model, `human:FILE`, `command:PROGRAM ARGUMENTS` or `openai:URL#MODEL`.
        decoding: how a model that writes replies word by word chooses the words; None takes the usual way.

    Raises:
        UsageError: there is no such responder.
        MissingAsset: a file that it needs is not there.
        DataError: one of them is damaged.
    """
    from rejoinder.responder import Decoding

    if not isinstance(name, (str, Path)):
        if not hasattr(name, "respond_batch"):
            kind = type(name).__name__
            raise UsageError(f"a responder is a name, a folder or an object with respond_batch, not a {kind}")
        return name
    prefix, mark, rest = str(name).partition(":")
    if _is_folder(name):
        prefix, rest = "", str(name)
    elif not mark or prefix not in RESPONDERS:
        known = ", ".join(f"{prefix}:..." for prefix in RESPONDERS)
        raise UsageError(f"no responder is called {str(name)!r}. Name the folder of a trained one, or {known}")
    found: Responder = import_module(RESPONDERS[prefix].module if prefix else MODELS).load(rest, decoding or Decoding())
    return found


def load_responders(
    names: Sequence[str | Path | Responder], *, decoding: Decoding | None = None
) -> dict[str, Responder]:
    """The responders in `names`, each under its own name, or what it was asked for by where another is called so.

    Args:
        names: see `load_responder`.
        decoding: see `load_responder`.

    Raises:
        UsageError: one was named twice, or two objects have the same name; see also `load_responder`.
    """
    found = [load_responder(name, decoding=decoding) for name in names]
    own = [responder.name for responder in found]
    labels = [
        str(asked) if isinstance(asked, (str, Path)) and own.count(name) > 1 else name
        for asked, name in zip(names, own, strict=True)
    ]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise UsageError(f"the responder {twice!r} was named twice. Name each once")
    return dict(zip(labels, found, strict=True))


def _is_folder(name: str | Path) -> bool:
    """Whether a folder is called so; a name that no file can have is none."""
    return os.path.isdir(name)  # noqa: PTH112 - a path's own way raises where the name is too long


def _unknown(name: str) -> str:
    """The message for a name that is neither a scorer nor a folder."""
    if name in learners():
        return f"{name} has to be trained first: rejoinder train {name} FILE -o FOLDER. Then name the folder"
    names = [known for known in cards() if ("/" in known) == ("/" in name)]
    near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.6)
    hint = f" Nearest: {', '.join(near)}." if near else ""
    return f"no scorer and no folder is called {name!r}.{hint} All of them: rejoinder list"
