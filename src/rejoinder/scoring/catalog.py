"""All scorers and responders by name, and `score` and `explain`, which take a name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rejoinder.errors import UsageError, require_one_of
from rejoinder.example import NO_SET
from rejoinder.external import EXTERNAL
from rejoinder.judges import BUNDLED, LEARNERS, NAMED, load_judge
from rejoinder.judges import DEFAULT as DEFAULT
from rejoinder.llm import ENDPOINTS
from rejoinder.metrics import METRICS
from rejoinder.registry import Entry, Registry

if TYPE_CHECKING:
    from rejoinder.example import Example, Given
    from rejoinder.models.decoding import Decoding
    from rejoinder.responder import Responder
    from rejoinder.scorer import Card, Explanation, Scorer, ScorerLike, Scores
    from rejoinder.scoring.domain import OutOfDomain

SCORERS: Registry[Scorer] = Registry("scorer", BUNDLED, METRICS.values())
PREFIXES: Registry[Scorer] = Registry("scorer", EXTERNAL, ENDPOINTS, NAMED)
"""Scorers named `PREFIX:...`."""
PLUS = "plus"


def cards() -> dict[str, Card]:
    """Return the cards of all scorers with a name without a prefix, presets included, in the order of the tables."""
    return SCORERS.cards()


def list_entries() -> dict[str, list[Entry[Any]]]:
    """Return everything that can be trained or named: `judges`, `encoders`, `responders` and `material`.

    The path of the folder that `rejoinder train` or `rejoinder pretrain` makes is the name of the model.
    """
    from rejoinder.models import ENCODERS, MODELS, RESPONDERS

    kinds: list[Entry[Any]] = [
        Entry(name, kind.about, dict, *kind.made(name)) for name, kind in MODELS.items() if kind.about
    ]
    return {
        "judges": [*LEARNERS.values()],
        "encoders": [*ENCODERS.values(), *(entry for entry in kinds if MODELS[entry.name].encoder)],
        "responders": [*RESPONDERS.values(), *(entry for entry in kinds if MODELS[entry.name].responder)],
        "material": [entry for entry in kinds if MODELS[entry.name].is_material],
    }


def load_scorer(name: ScorerLike, *, vectors: str | Path | None = None) -> Scorer:
    """Return the scorer with this name; a scorer object comes back as it is, a function as a scorer.

    Args:
        name: a name from `cards()`, the path of a trained judge, `column:KEY` for numbers in the lines,
            `python:MODULE:FUNCTION`, `command:PROGRAM ARGUMENTS`, `openai:URL#MODEL`, or a function
            `f(examples) -> list[float]`.
        vectors: file of word vectors for scorers that need them; by default the bundled ones.

    Raises:
        UsageError: there is no scorer of that name; an object is no scorer.
        MissingAsset: the vectors or the judge's files are missing.
        DataError: they are damaged.
    """
    if not isinstance(name, (str, Path)):
        from rejoinder.external.elsewhere import own

        return own(name)
    if entry := PREFIXES.entry(str(name)):
        return entry.load(str(name))
    if entry := SCORERS.entry(str(name)):
        return entry.load(str(name), vectors)
    if _is_folder(name):
        return load_judge(name)
    raise UsageError(_unknown(str(name)))


def load_scorers(names: Iterable[ScorerLike] | ScorerLike, *, vectors: str | Path | None = None) -> dict[str, Scorer]:
    """Return the scorers in `names`, see `load_scorer`, or a single one, by their names (see `label_of`).

    Raises:
        UsageError: two have the same name; or none of them reads the `vectors`; see also `load_scorer`.
    """
    scorers: dict[str, Scorer] = {}
    for name in listed(names):
        scorer = load_scorer(name, vectors=vectors)
        label = label_of(name, scorer)
        if label in scorers:
            raise UsageError(f"the scorer {label!r} was named twice. Name each once")
        scorers[label] = scorer
    if vectors is not None and not any("vectors" in scorer.card.needs for scorer in scorers.values()):
        raise UsageError(f"{vectors}: none of {', '.join(scorers)} reads word vectors. Leave them out")
    return scorers


def label_of(name: ScorerLike, scorer: Scorer) -> str:
    """Return the name of a scorer in results: its name in the call, or that of its card for endpoints and objects."""
    text = str(name) if isinstance(name, (str, Path)) else str(getattr(name, "called", ""))
    return text if text and text.partition(":")[0] not in PREFIXES else scorer.card.name


def listed(names: Iterable[ScorerLike] | ScorerLike) -> list[ScorerLike]:
    """Return the scorers in a list; a single one is a list of one."""
    return list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]


def columns_of(names: Iterable[ScorerLike] | ScorerLike | None) -> list[str]:
    """Return the keys of the input that scorers read themselves: the `KEY` of each `column:KEY`."""
    texts = [str(name) for name in listed(() if names is None else names) if isinstance(name, (str, Path))]
    paths = [text.removeprefix("column:").lstrip("-") for text in texts if text.startswith("column:")]
    return [key for path in paths for key in (path, path.partition(".")[0])]


def fitted_on(names: Iterable[ScorerLike], datasets: Iterable[str | None]) -> dict[str, list[str]]:
    """Return the judges among `names` that were fitted on lines of some of `datasets`, with these data sets."""
    present, fitted = {name or NO_SET for name in datasets}, dict[str, list[str]]()
    for name in names:
        bundled = str(name).partition(":")[0] in (DEFAULT, PLUS)
        if isinstance(name, (str, Path)) and not bundled and not _is_folder(name):
            continue
        scorer = load_scorer(name)
        if sets := sorted(getattr(scorer, "trained_on", frozenset[str]()) & present):
            fitted[label_of(name, scorer)] = sets
    return fitted


class ScorerChoice(NamedTuple):
    """The scorers of a study, and the judges that were fitted on lines of its data sets, with these data sets."""

    scorers: list[ScorerLike]
    fitted: dict[str, list[str]]  # judges among the scorers
    withheld: dict[str, list[str]]  # judges that would be among them if the call named them


def choose_scorers(names: Iterable[ScorerLike] | ScorerLike | None, datasets: Iterable[str | None]) -> ScorerChoice:
    """Return the scorers of a study of `datasets`: those in `names`, else all of `SCORERS`.

    A judge agrees better with people on lines that it was fitted on than on other lines, so it would look like the best
    scorer of all. It takes part only if the call names it, and the result reports that.
    """
    scorers = listed(SCORERS if names is None else names)
    fitted = fitted_on(scorers, datasets)
    if names is not None:
        return ScorerChoice(scorers, fitted, {})
    return ScorerChoice([name for name in scorers if name not in fitted], {}, fitted)


def score(
    examples: Given,
    scorer: ScorerLike = DEFAULT,
    *,
    scale: tuple[float, float] | None = None,
    vectors: str | Path | None = None,
    level: Literal["turn", "dialogue"] = "turn",
    out_of_domain: OutOfDomain = "withhold",
) -> Scores:
    """Return the scores of `examples` by `scorer`: a name, a judge's folder, a scorer object or a function.

    Args:
        examples: the lines to score; see `examples_of` for accepted types.
        scorer: see `load_scorer`; the bundled judge by default.
        scale: the lowest and highest rating that a judge answers with; None keeps the scale of its ratings.
        vectors: see `load_scorer`.
        level: `dialogue` scores whole conversations, by every turn of the judged speaker.
        out_of_domain: `withhold` leaves out scores of replies that the scorer cannot judge, with the reason
            `out of domain`; `keep` returns them. The warnings are there in both cases.

    Raises:
        UsageError: `examples`, `scale`, `level` or `out_of_domain` is none of these; see also `load_scorer`.
        DataError: `examples` cannot be read.
    """
    from rejoinder.data.examples import index_of
    from rejoinder.scorer import run
    from rejoinder.scoring.dialogue import of_dialogues
    from rejoinder.scoring.domain import require_choice, withhold

    require_one_of("level", level, ("turn", "dialogue"))
    require_choice(out_of_domain)
    loaded, lines = _loaded(examples, scorer, scale, vectors)
    scores = run(of_dialogues(loaded, every=True) if level == "dialogue" else loaded, lines)
    scores = withhold(scores) if out_of_domain == "withhold" else scores
    index = index_of(examples, lines)
    return scores if index is None else replace(scores, index=index)


def explain(
    examples: Given,
    scorer: ScorerLike = DEFAULT,
    *,
    scale: tuple[float, float] | None = None,
    vectors: str | Path | None = None,
    out_of_domain: OutOfDomain = "withhold",
) -> list[Explanation | None]:
    """Return the explanation of the score of each of `examples`; None for an example without a score.

    Args:
        examples: see `score`.
        scorer: see `score`.
        scale: see `score`; explanations are in points of it.
        vectors: see `score`.
        out_of_domain: see `score`; a withheld score has no explanation.

    Raises:
        UsageError: the scorer does not explain its scores; see also `score`, and for other errors.
    """
    from rejoinder.scorer import run
    from rejoinder.scoring.domain import require_choice, withhold
    from rejoinder.scoring.explained import explanations, require_explained

    require_choice(out_of_domain)
    loaded, lines = _loaded(examples, scorer, scale, vectors)
    (explained,) = require_explained({loaded.card.name: loaded}).values()
    results = explanations(explained, lines)
    if out_of_domain == "withhold":
        scored = withhold(run(explained, lines)).scored
        results = [result if has_score else None for result, has_score in zip(results, scored, strict=True)]
    return results


def _loaded(
    examples: Given, scorer: ScorerLike, scale: tuple[float, float] | None, vectors: str | Path | None
) -> tuple[Scorer, list[Example]]:
    """Return the scorer with its answers on the scale of the call, and the examples."""
    from rejoinder.data.read import examples_of

    lines = examples_of(examples, keep=columns_of(scorer))
    loaded = load_scorer(scorer, vectors=vectors)
    if scale is not None:
        from rejoinder.judges.scales import rescale

        loaded = rescale({loaded.card.name: loaded}, scale)[loaded.card.name]
    return loaded, lines


def load_responders(
    names: Sequence[str | Path | Responder], *, decoding: Decoding | None = None
) -> dict[str, Responder]:
    """Return the responders in `names`, see `load_responder`, by their names; of equal names, by that in the call.

    Raises:
        UsageError: a responder was named twice, or two objects have the same name; see also `load_responder`.
    """
    from rejoinder.models import load_responder

    responders = [load_responder(name, decoding=decoding) for name in names]
    names_of = [responder.name for responder in responders]
    labels = [
        str(name) if isinstance(name, (str, Path)) and names_of.count(label) > 1 else label
        for name, label in zip(names, names_of, strict=True)
    ]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise UsageError(f"the responder {twice!r} was named twice. Name each once")
    return dict(zip(labels, responders, strict=True))


def _is_folder(name: str | Path) -> bool:
    """Return whether this is a folder."""
    return os.path.isdir(name)  # noqa: PTH112 - Path.is_dir raises OSError for a name that is too long


def _unknown(name: str) -> str:
    """Return the message for a name that is neither a scorer nor a folder."""
    if name in LEARNERS:
        return f"{name} has to be trained first: rejoinder train {name} FILE -o FOLDER. Then name the folder"
    return f"no scorer and no folder is called {name!r}.{SCORERS.hint(name)} All of them: rejoinder list"
