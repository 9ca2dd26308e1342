"""`relevance`: whether a scorer tells replies that fit from replies that do not, on lines that bring both.

Three figures for each kind of irrelevant reply. *Pairs*: the share of pairs of a relevant and an irrelevant reply to
one context in which the relevant one scores higher; an equal score counts half. *AUC*: the same over all pairs of all
contexts, so that scores have to mean the same everywhere. *Single replies*: how often a yes or no is right, score over
threshold, where the threshold for one half of the contexts is the best one on the other half; that is nearest to what
was published of DEB (Sai et al. 2020), whose threshold came with its training.

Only a scorer that cannot do without is given references, the relevant replies but one: itself where it is relevant, so
that all have equally many.

Shapes: S sets, N replies, P relevant and Q irrelevant ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.auditing.relevance_results import KINDS, PUBLISHED, STATISTICS, Kind, Relevance, Statistic, Told, answer
from rejoinder.auditing.reply_sets import reply_sets_of
from rejoinder.auditing.results import Case
from rejoinder.auditing.run import ALLOWED, LIMIT, require_range
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Given, ReplySet
from rejoinder.data.rated_lines import numbered
from rejoinder.meta.agreement import most_frequent
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.scorer import Advance, FloatArray, ScorerLike, Scores, Signature, ignore, run
from rejoinder.scoring.catalog import DEFAULT, columns_of, load_scorers
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.unscored import nothing_scored
from rejoinder.stats.figure import NONE, Figure
from rejoinder.stats.resamples import IntArray, Sampling, number_of, renumbered
from rejoinder.stats.shares import auc_of_clusters, best_cutoff, share_of_clusters

_WORST = 3


def apart(lines: Iterable[Example | ReplySet]) -> tuple[list[Example], list[ReplySet]]:
    """The single replies and the sets of replies among what was read; one of the two is empty.

    Raises:
        DataError: there are both.
    """
    given = list(lines)
    examples = [one for one in given if isinstance(one, Example)]
    sets = [one for one in given if isinstance(one, ReplySet)]
    if examples and sets:
        found = f"a set of replies, and {examples[0].where} is a single one; an audit takes one or the other"
        raise DataError(found, "Call audit once for each", where=sets[0].where)
    return examples, sets


class _Replies(NamedTuple):
    """The replies of all sets in one row, [N].

    Attributes:
        examples: to be scored.
        kinds: "relevant" or the kind of irrelevant reply.
        sets: the number of the set of each.
        clusters: the number of its context; several sets may have one.
    """

    examples: Sequence[Example]
    kinds: NDArray[np.str_]
    sets: IntArray
    clusters: IntArray


def relevance(
    sets: Given,
    scorer: ScorerLike = DEFAULT,
    *,
    limit: int = LIMIT,
    allowed: float = ALLOWED,
    seed: int = 0,
    vectors: str | Path | None = None,
    advance: Advance = ignore,
    expect: Advance = ignore,
) -> Relevance:
    """How well a scorer tells replies that fit from replies that do not, with 95 % intervals over contexts.

    Args:
        sets: lines with `context`, `positive_responses`, and `random_negative_responses` or
            `adversarial_negative_responses`, as those of DailyDialog++: `ReplySet`s, dicts or the name of a file.
        scorer: a name, a judge's folder, a scorer object or a function.
        limit: how many of the lines are taken at most, drawn by the seed.
        allowed: the share of pairs, from 0 to 1, that a gate lets pass wrong.
        seed: decides what is drawn, 0 or more.
        vectors: file of word vectors for scorers that need them; None takes those in the box.
        advance: called during scoring with the number of replies done.
        expect: called before it with the number of replies to come.

    Raises:
        DataError: a line holds no such replies, or there is none.
        NothingScored: the scorer cannot score a single pair.
        UsageError: a number is out of range; the scorer reads a column, which says nothing of several replies.
    """
    sampling = Sampling.checked(0, seed)
    require_range(limit, allowed)
    given = _given(sets, scorer)
    ((name, loaded),) = load_scorers([scorer], vectors=vectors).items()
    replies = _replies(_drawn(given, limit, sampling), referring="reference" in loaded.card.needs)
    expect(len(replies.examples))
    scores = run(loaded, replies.examples, progress=advance)
    values = -scores.values if loaded.card.higher_is_better is False else scores.values
    kinds = [kind for kind in KINDS if (replies.kinds == kind).any()]
    results = tuple(one for kind in kinds for one in _told(kind, values, replies))
    if not any(one.known for one in results):
        raise nothing_scored(f"{name}: no relevant and irrelevant reply have scores; {_why(scores)}")
    relevant = np.flatnonzero(replies.kinds == "relevant").tolist()
    found = Relevance(
        answer=(),
        scorer=name,
        results=results,
        out_of_domain=out_of_domain(name, loaded.card, domain_share(scores, loaded, relevant)),
        facts=facts_warning({name: loaded}),
        shorter={kind: _shorter(kind, replies) for kind in kinds},
        worst={kind: _worst(kind, values, scores.values, replies) for kind in kinds},
        signature=Signature({**scores.signature.fields, "seed": sampling.seed}),
        sets=number_of(replies.sets),
        given=len(given),
        replies=len(values),
        unscored=int((~scores.scored).sum()),
        why_unscored=_why(scores),
        directed=loaded.card.higher_is_better is not None,
        allowed=allowed,
        limit=limit,
        seed=sampling.seed,
    )
    return replace(found, answer=tuple(answer(found)))


def _given(sets: Given, scorer: ScorerLike) -> list[ReplySet]:
    """The sets, of which there is one at least, where the scorer can say something of their replies."""
    if columns_of(scorer):
        raise UsageError(f"{scorer} is a column of the lines and says nothing of single replies. Name what made it")
    found = reply_sets_of(sets)
    if not found:
        raise DataError("no line is left", "Correct those that were skipped")
    return found


def _why(scores: Scores) -> str:
    """The most frequent reason for a missing score, "" where none is missing."""
    return most_frequent(scores.reasons.values()) or ""


def _drawn(sets: Sequence[ReplySet], limit: int, sampling: Sampling) -> list[ReplySet]:
    """At most `limit` sets, in their order."""
    if len(sets) <= limit:
        return list(sets)
    rng = sampling.generator([len(sets), limit], "audited lines")
    return [sets[place] for place in np.sort(rng.choice(len(sets), limit, replace=False)).tolist()]


def _replies(sets: Sequence[ReplySet], *, referring: bool) -> _Replies:
    """The replies of all sets, with references or without."""
    rows = [(number, kind, one) for number, own in enumerate(sets) for kind, one in _examples(own, referring=referring)]
    return _Replies(
        [one for _, _, one in rows],
        np.array([kind for _, kind, _ in rows]),
        np.array([number for number, _, _ in rows], dtype=np.int64),
        numbered([one.context_key for _, _, one in rows]),
    )


def _examples(own: ReplySet, *, referring: bool) -> list[tuple[str, Example]]:
    """The replies of one set, each with the kind it is of."""
    by_kind = {"relevant": own.relevant, "random": own.random, "misleading": own.misleading}
    told = own.relevant if referring else ()
    return [
        (kind, Example(own.context, text, _all_but(told, place), id=own.id, where=own.where))
        for kind, texts in by_kind.items()
        for place, text in enumerate(texts)
    ]


def _all_but(texts: tuple[str, ...], place: int) -> tuple[str, ...]:
    """The texts without one of them."""
    place %= max(len(texts), 1)
    return texts[:place] + texts[place + 1 :]


# figures


def _told(kind: Kind, values: FloatArray, replies: _Replies) -> list[Told]:
    """The three figures of one kind of irrelevant replies; `values` [N] are such that higher is better."""
    scored = np.isfinite(values)
    good, bad = np.flatnonzero(scored & (replies.kinds == "relevant")), np.flatnonzero(scored & (replies.kinds == kind))
    if not len(good) or not len(bad):
        why = "no relevant reply has a score" if not len(good) else "no such reply has a score"
        return [Told(irrelevant=kind, statistic=name, reason=why, method=how) for name, how in STATISTICS.items()]
    clusters = replies.clusters
    pairs, pairs_in = _pairs(good, bad, values, replies)
    sides, thresholds = _sides(good, bad, values, clusters)
    both = np.concatenate([good, bad])
    fewer = min(len(np.unique(clusters[good])), len(np.unique(clusters[bad])))
    figures: dict[Statistic, tuple[Figure, int]] = {
        "pairs": (share_of_clusters(pairs, renumbered(pairs_in)), len(pairs)),
        "auc": (auc_of_clusters(values[good], values[bad], clusters[good], clusters[bad]), len(both)),
        "single replies": (share_of_clusters(sides, renumbered(clusters[both]), fewer), len(both)),
    }
    return [
        Told.of(
            figure,
            irrelevant=kind,
            statistic=name,
            n=n,
            method=STATISTICS[name],
            published=PUBLISHED.get((kind, name), NONE),
            thresholds=thresholds if name == "single replies" else (),
        )
        for name, (figure, n) in figures.items()
    ]


def _pairs(good: IntArray, bad: IntArray, values: FloatArray, replies: _Replies) -> tuple[FloatArray, IntArray]:
    """Of each pair of relevant and irrelevant reply in one set: 1 where the first scores higher, and its context."""
    bad = bad[np.argsort(replies.sets[bad], kind="stable")]
    start, end = (np.searchsorted(replies.sets[bad], replies.sets[good], side) for side in ("left", "right"))
    # Only the pairs themselves are written down: a table of all replies by all would not fit into memory.
    one = np.repeat(good, end - start)
    other = bad[np.concatenate([np.arange(0), *map(np.arange, start, end)])]
    return 0.5 + 0.5 * np.sign(values[one] - values[other]), replies.clusters[one]


def _shorter(kind: Kind, replies: _Replies) -> Figure:
    """The share of pairs in which the relevant reply is the shorter one, which a scorer may go by."""
    values = np.array([-float(len(one.response.split())) for one in replies.examples])
    good, bad = (np.flatnonzero(replies.kinds == name) for name in ("relevant", kind))
    shorter, contexts = _pairs(good, bad, values, replies)
    return share_of_clusters(shorter, renumbered(contexts))


def _sides(
    good: IntArray, bad: IntArray, values: FloatArray, clusters: IntArray
) -> tuple[FloatArray, tuple[float, ...]]:
    """[P + Q] 1 where a reply is on the right side of the threshold that the other half of the contexts gives."""
    ends = []
    for half in (0, 1):
        others = [part[clusters[part] % 2 != half] for part in (good, bad)]
        learnt = others if all(map(len, others)) else [good, bad]
        ends.append(best_cutoff(values[learnt[0]], values[learnt[1]]))
    limits = np.array(ends)
    right = [values[good] > limits[clusters[good] % 2], values[bad] <= limits[clusters[bad] % 2]]
    return np.concatenate(right).astype(np.float64), tuple(ends)


def _worst(kind: Kind, values: FloatArray, shown: FloatArray, replies: _Replies) -> list[Case]:
    """The irrelevant replies that score farthest over the best relevant one of their set."""
    found = []
    for number in range(number_of(replies.sets)):
        own = np.flatnonzero((replies.sets == number) & np.isfinite(values))
        good, bad = own[replies.kinds[own] == "relevant"], own[replies.kinds[own] == kind]
        if len(good) and len(bad):
            best, wrong = good[np.argmax(values[good])], bad[np.argmax(values[bad])]
            found.append((values[wrong] - values[best], best, wrong))
    cases = []
    for gained, best, wrong in sorted(found, key=lambda one: -one[0])[:_WORST]:
        one, other = replies.examples[best], replies.examples[wrong]
        if gained > 0:
            cases.append(
                Case(one.id, one.context, one.response, other.response, float(shown[best]), float(shown[wrong]))
            )
    return cases
