"""`study`: how far scorers agree with the people who rated the same lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.catalogue import Chosen, chosen, columns_of, load_scorers
from rejoinder.errors import DataError, TooManyUnscored, UsageError
from rejoinder.frames import FORMAT_VERSION, results_frame
from rejoinder.humans.lines import refuse_duplicates
from rejoinder.humans.rated_set import RatedSets, rated_sets, ratings_of
from rejoinder.io.given import examples_of
from rejoinder.meta.agreement import Agreement, agreements, most_frequent
from rejoinder.records import OVERALL, Example, Given
from rejoinder.scorer import Advance, ScorerLike, Scores, Signature, ignore, run
from rejoinder.stats.figure import plain
from rejoinder.stats.sampling import Sampling


@dataclass(frozen=True, slots=True)
class Study:
    """The agreement of scorers with people.

    Attributes:
        agreements: one per data set, scorer, level and statistic, in that order.
        signatures: where the scores came from, by scorer.
        dimension: the dimension of the ratings.
        resamples: number of resamples behind each interval.
        seed: seed of the resampling.
        drop_copies: whether responses that copy a reference were left out.
        examples: number of lines given.
        rated: lines with a rating that were used (copies left out are not among them).
        copies: lines whose response equals one of its references word for word.
        notes: by scorer, how many lines each note stands at.
    """

    agreements: tuple[Agreement, ...]
    signatures: Mapping[str, Signature]
    dimension: str
    resamples: int
    seed: int
    drop_copies: bool
    examples: int
    rated: int
    copies: int
    notes: Mapping[str, Mapping[str, int]]

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signatures stand in its `attrs`."""
        return results_frame(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The study as plain JSON values: numbers that do not exist are None, never NaN.

        Keys: `version` of this form, `results` (one mapping an agreement), `signature` (a mapping by scorer),
        `options`, `counts` and `notes`.
        """
        return {
            "version": FORMAT_VERSION,
            "results": plain(self.agreements),
            "signature": {name: plain(signature.fields) for name, signature in self.signatures.items()},
            "options": {
                "dimension": self.dimension,
                "resamples": self.resamples,
                "seed": self.seed,
                "drop_copies": self.drop_copies,
            },
            "counts": {"examples": self.examples, "rated": self.rated, "copies": self.copies},
            "notes": {name: dict(notes) for name, notes in self.notes.items()},
        }


def study(
    examples: Given,
    scorers: Sequence[ScorerLike] | Mapping[str, Scores] | None = None,
    *,
    dimension: str = OVERALL,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    drop_copies: bool = False,
    advance: Advance = ignore,
) -> Study:
    """The agreement of each scorer with people: Pearson, Spearman and Kendall with 95 % intervals.

    Per data set (`Example.dataset`, "all" where none is named) and, where several have ratings, over all of them as
    "pooled", with ratings brought to [0, 1] by their scales. At turn level lines are correlated; at system level, where
    systems are known, the mean scores of systems with their mean ratings. Intervals come from resampled contexts (see
    `rejoinder.stats.bootstrap`); the same seed gives the same numbers, in whatever order lines and scorers come.

    Args:
        examples: N examples in any form that `examples_of` takes, of which some are rated. Lines without a rating are
            counted and not used.
        scorers: names, folders of judges, scorer objects or functions; or scores of these same examples, by name. None
            takes all in the box but for judges that were fitted on lines of these data sets (`catalogue.chosen`).
        dimension: which ratings to agree with.
        resamples: number of resamples; 0 gives no intervals.
        seed: seed of the resampling, 0 or more.
        vectors: file of word vectors for scorers that need them; None takes those in the box.
        drop_copies: leave out responses that equal one of their references word for word.
        advance: called during scoring with the number of examples done, `len(examples)` in all for each scorer.

    Raises:
        DataError: no line is rated; an id is given twice; ratings of different scales would be put together and a scale
            is missing.
        TooManyUnscored: not one of the scorers could score a single line.
        UsageError: no scorer, or two of one name; scores of other lines; a negative seed or number of resamples.
    """
    sampling = Sampling.checked(resamples, seed)
    examples = examples_of(examples, keep=columns_of(scorers))
    ratings = usable_ratings(examples, dimension, drop_copies=drop_copies)
    sets = rated_sets(examples, ratings, dimension)
    scores, _ = scores_of(examples, scorers, vectors, advance)
    return study_of(examples, sets, scores, sampling, drop_copies=drop_copies)


def study_of(
    examples: Sequence[Example], sets: RatedSets, scores: Mapping[str, Scores], sampling: Sampling, *, drop_copies: bool
) -> Study:
    """The agreement of `scores` of all examples with the ratings of the sets made of them."""
    every = (*sets.sets, *([sets.pool] if sets.pool else []))
    return Study(
        agreements=tuple(
            row for one in every for name, found in scores.items() for row in agreements(one, name, found, sampling)
        ),
        signatures={name: found.signature for name, found in scores.items()},
        dimension=sets.dimension,
        resamples=sampling.resamples,
        seed=sampling.seed,
        drop_copies=drop_copies,
        examples=len(examples),
        rated=sum(map(len, sets.sets)),
        copies=sum(example.copies_reference for example in examples),
        notes={name: found.noted for name, found in scores.items()},
    )


def usable_ratings(examples: Sequence[Example], dimension: str, *, drop_copies: bool) -> NDArray[np.float64]:
    """[N] ratings, NaN on lines that a study does not use.

    Raises:
        DataError: an id is given twice; no line is rated, or none but those that copy a reference.
    """
    refuse_duplicates(examples)
    ratings = ratings_of(examples, dimension)
    _require_ratings(examples, ratings, dimension)
    if drop_copies:
        ratings = np.where([example.copies_reference for example in examples], np.nan, ratings)
        _require_others(ratings)
    return ratings


def _require_ratings(examples: Sequence[Example], ratings: NDArray[np.float64], dimension: str) -> None:
    """Raise `DataError` where no line is rated in `dimension`."""
    if np.isfinite(ratings).any():
        return
    rated = {name for example in examples for name in (*example.quality, *(one.dimension for one in example.ratings))}
    other = f"Rated are: {', '.join(sorted(rated))}; choose one of these as the dimension, or add" if rated else "Add"
    files = dict.fromkeys(example.where.rpartition(":")[0] for example in examples if example.where)
    unknown = list(dict.fromkeys(key for example in examples[:100] for key in example.extra))
    named = f"; or say where it stands, --map rating=NAME, with one of {', '.join(unknown[:8])}" if unknown else ""
    raise DataError(
        f'none of {len(examples)} lines has a rating in "{dimension}"',
        f'{other} to each rated line "quality": {{"{dimension}": 3.5}} or "ratings": {{"{dimension}": [3, 4]}}{named}',
        where=", ".join(files),
    )


def _require_others(ratings: NDArray[np.float64]) -> None:
    """Raise `DataError` where no rated line is left besides the copies."""
    if not np.isfinite(ratings).any():
        raise DataError("every rated response copies one of its references, so none is left", "Keep the copies in")


def scores_of(
    examples: Sequence[Example],
    scorers: Sequence[ScorerLike] | Mapping[str, Scores] | None,
    vectors: str | Path | None,
    advance: Advance,
) -> tuple[dict[str, Scores], Chosen]:
    """The scores of all examples by scorer, worked out unless given, and how the scorers were chosen.

    Arguments and errors as for `study`.
    """
    if isinstance(scorers, Mapping):
        choice, found = Chosen([], {}, {}), dict(scorers)
    else:
        choice = chosen(scorers, [example.dataset for example in examples])
        loaded = load_scorers(choice.scorers, vectors=vectors)
        found = {name: run(scorer, examples, advance=advance) for name, scorer in loaded.items()}
    if not found:
        raise UsageError("no scorer was named; a study needs at least one")
    for name, scores in found.items():
        if len(scores.values) != len(examples):
            raise UsageError(
                f"the scores of {name!r} are of {len(scores.values)} lines, the examples are {len(examples)}"
            )
    if not any(scores.scored.any() for scores in found.values()):
        name, scores = next(iter(found.items()))
        reason = most_frequent(scores.reasons.values()) or "no reason given"
        raise TooManyUnscored(f"{name}: none of {len(examples)} lines has a score; most often: {reason}")
    return found, choice
