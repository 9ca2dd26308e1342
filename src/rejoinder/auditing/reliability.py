"""Evaluator Reliability Error: how far an evaluator is from what is known beforehand in four simple scenarios.

An evaluator says whether a reply is a true one. Two kinds of replies are set against each other, it is trained to tell
them apart, and its accuracy on other dialogues is compared with what an ideal one would have: 50 % where both are
written by people, 50 % where both are made by one machine, 100 % where one answers another dialogue, and 100 % where
one skips a turn (the utterance after the true next one). The error is the mean distance over the four.

Source: Li et al. (2017), Adversarial Learning for Neural Dialogue Generation, section 4; table 2 of Sai et al. (2019).
There the evaluator is a hierarchical network. Here it is a logistic regression, trained anew in each scenario as
there, over what is to be judged: the score of a scorer, which comes to a threshold of its own, or the vectors of an
encoder. Dialogues are cut into halves; each half is judged by what was trained on the other.

Shapes: D dialogues, N replies of a scenario, F features, B resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard, cast

import numpy as np

from rejoinder.errors import DataError
from rejoinder.estimates import NAN, Estimate, estimate_of
from rejoinder.example import Example
from rejoinder.perturbations import Corpus
from rejoinder.perturbations.degrading import machine_response
from rejoinder.report.results import About, Results
from rejoinder.report.written import percent
from rejoinder.responder import Responder, answer, request
from rejoinder.responder import signature_of as responder_signature
from rejoinder.scorer import Advance, Encoder, FloatArray, ScorerLike, Signature, ignore, run
from rejoinder.scoring.catalog import load_responder, load_scorers
from rejoinder.scoring.unscored import nothing_scored
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling, percentile_interval
from rejoinder.stats.shares import share_of_clusters

FEWEST = 20
"""Dialogues, under which nothing is said."""
PUBLISHED_ERROR = 0.193
"""Of the hierarchical evaluator of Li et al. (2017)."""
_TRUE, _NEXT, _OTHER, _MACHINE = range(4)  # the replies of a dialogue
_SHRINKAGE = 0.01  # what a logistic regression over the vectors of an encoder is fitted with; see `_fitted`
_METHOD = "share told right, trained on the other half of the dialogues; Wilson's interval with dialogues as trials"


class _Task(NamedTuple):
    """Two kinds of replies set against each other: N replies with their labels.

    Attributes:
        name: of the scenario.
        ideal: accuracy of an ideal evaluator.
        rows: [N] dialogue of each reply.
        kinds: [N] which reply of it.
        labels: [N] whether it passes for a true one.
    """

    name: str
    ideal: float
    rows: IntArray
    kinds: IntArray
    labels: BoolArray


def reliability_error(
    dialogues: Sequence[Sequence[str]],
    evaluator: ScorerLike | Encoder,
    *,
    machine: str | Responder | None = None,
    resamples: int = 1000,
    seed: int = 0,
    progress: Advance = ignore,
) -> Results:
    """Return the Evaluator Reliability Error of a scorer or of a classifier over an encoder, and five accuracies.

    The error is the mean distance from the ideal accuracy over four scenarios, from 0 to 1/2. The fifth accuracy, of
    machine replies against human ones, is not part of it.

    Args:
        dialogues: turns, oldest first, three or more of each; all but the last two are the context, the last but one is
            the true reply, the last is what skips a turn.
        evaluator: a scorer, in any form that `load_scorer` takes, that reads context and response; or an encoder.
        machine: a responder, in any form that `load_responder` takes; None takes a bigram model of the true replies.
        resamples: of dialogues, behind the interval of the error.
        seed: decides what is drawn, 0 or more.
        progress: called with the number of finished replies.

    Raises:
        DataError: there are fewer than 20 dialogues, or one has fewer than three turns.
        NothingScored: a scenario has too few replies with a score.
        UsageError: there is no such scorer or responder, or a number is out of range.
    """
    sampling = Sampling.checked(resamples, seed)
    _require_turns(dialogues)
    rng = sampling.generator([len(dialogues)], "reliability")
    replies, made_by = _replies(dialogues, machine, sampling, rng)
    features, name, signature = _features(evaluator, replies, progress)
    halves = rng.permutation(len(dialogues)) % 2
    tasks = _tasks(halves, rng)
    right = [_right(task, features, halves) for task in tasks]
    accuracies = [_accuracy(task, flags, name) for task, flags in zip(tasks, right, strict=True)]
    if poor := next((accuracy for accuracy in accuracies if not accuracy.known), None):
        raise nothing_scored(f"{name}: {poor.group}: {poor.reason}")
    error = _error(tasks[:4], right[:4], len(dialogues), sampling)
    labels = {"scorer": name, "level": "dialogue", "n": len(dialogues), "seed": sampling.seed}
    estimate = estimate_of(error, **labels, statistic="evaluator reliability error", contexts=len(dialogues))
    return Results(
        command="reliability error",
        estimates=(estimate, *accuracies),
        answer=(
            f"{name} has an evaluator reliability error of {percent(estimate.value)}; a coin has 25 %, the published "
            f"evaluator {percent(PUBLISHED_ERROR)}.",
        ),
        about=About(
            scorers={name: {"asked": True, "signature": dict(signature.fields)}},
            options={"machine": made_by, "resamples": sampling.resamples, "seed": sampling.seed},
            counts={"dialogues": len(dialogues)},
        ),
    )


def _require_turns(dialogues: Sequence[Sequence[str]]) -> None:
    """Raise where there is too little to tell anything."""
    if len(dialogues) < FEWEST:
        raise DataError(f"{len(dialogues)} dialogues, {FEWEST} are needed", "Give more")
    if short := next((one for one in dialogues if isinstance(one, str) or len(one) < 3), None):
        found = f"a dialogue of {len(short)} turns" if not isinstance(short, str) else "a text instead of turns"
        raise DataError(f"{found}, expected three or more", "Leave short dialogues out")


# the replies, and what is known of them


def _replies(
    dialogues: Sequence[Sequence[str]], machine: str | Responder | None, sampling: Sampling, rng: np.random.Generator
) -> tuple[list[Example], str]:
    """[4 D] the true reply of each dialogue, what follows it, one of another dialogue and one of the machine."""
    true = [Example(tuple(turns[:-2]), turns[-2], id=str(place)) for place, turns in enumerate(dialogues)]
    following = [Example(one.context, turns[-1]) for one, turns in zip(true, dialogues, strict=True)]
    # Round a random circle, so that each reply is given to one other dialogue and to none twice.
    circle = rng.permutation(len(true))
    others = dict(zip(circle.tolist(), np.roll(circle, 1).tolist(), strict=True))
    other = [Example(one.context, true[others[place]].response) for place, one in enumerate(true)]
    if machine is None:
        corpus = Corpus(true)
        made = [replace(one, response=machine_response(one, rng, corpus) or "") for one in true]
        return [*true, *following, *other, *made], "a bigram model of the true replies"
    responder = load_responder(machine)
    asked = [request(one.context, sampling.seed) for one in true]
    texts = [found.replies[0].text if found.replies else "" for found in answer(responder, asked)]
    made = [Example(one.context, text) for one, text in zip(true, texts, strict=True)]
    return [*true, *following, *other, *made], str(responder_signature(responder))


def _features(
    evaluator: ScorerLike | Encoder, replies: Sequence[Example], advance: Advance
) -> tuple[FloatArray, str, Signature]:
    """[4 D, F] what the classifier reads of each reply, NaN where nothing is known; its name and signature."""
    if _is_encoder(evaluator):
        found = _of_vectors(evaluator, replies)
        advance(len(replies))
        return found
    ((name, scorer),) = load_scorers([cast("ScorerLike", evaluator)]).items()
    scores = run(scorer, replies, progress=advance)
    return scores.values[:, None], name, scores.signature


def _is_encoder(evaluator: ScorerLike | Encoder) -> TypeGuard[Encoder]:
    """Whether it makes vectors; else it is a scorer."""
    return hasattr(evaluator, "encode_contexts")


def _of_vectors(encoder: Encoder, replies: Sequence[Example]) -> tuple[FloatArray, str, Signature]:
    """How the vectors of context and reply lie to each other: their cosine, products and distances."""
    contexts = _unit(encoder.encode_contexts([one.context for one in replies]))
    texts = _unit(encoder.encode([one.response for one in replies]))
    products = contexts * texts
    both = np.concatenate([products.sum(axis=1)[:, None], products, np.abs(contexts - texts)], axis=1)
    kind = str(encoder.options.get("encoder", type(encoder).__name__))
    return both, f"a classifier over {kind}", Signature({"evaluator": "logistic regression", **encoder.options})


def _unit(vectors: FloatArray) -> FloatArray:
    """Vectors of length 1; those of length 0 stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: FloatArray = vectors / np.where(lengths > 0, lengths, 1.0)
    return found


def _tasks(halves: IntArray, rng: np.random.Generator) -> list[_Task]:
    """The four scenarios, and the machine's replies against true ones."""
    count = len(halves)
    every, twice = np.arange(count), np.tile(np.arange(count), 2)

    def alone(name: str, kind: int) -> _Task:
        # As many of either label in each half: who learns from one half which is the commoner errs on the other.
        labels = np.zeros(count, dtype=np.bool_)
        for half in (0, 1):
            own = np.flatnonzero(halves == half)
            labels[own] = rng.permutation(len(own)) % 2 == 1
        return _Task(name, 0.5, every, np.full(count, kind), labels)

    def against(name: str, kind: int, ideal: float = 1.0) -> _Task:
        return _Task(name, ideal, twice, np.repeat([_TRUE, kind], count), np.repeat([True, False], count))

    return [
        alone("human / human", _TRUE),
        alone("machine / machine", _MACHINE),
        against("human / random", _OTHER),
        against("human / skipped", _NEXT),
        against("human / machine", _MACHINE, NAN),
    ]


# training and testing


def _right(task: _Task, features: FloatArray, halves: IntArray) -> FloatArray:
    """[N] 1 where a reply is told right by what was trained on the other half; NaN where nothing is known of it."""
    own = features[task.kinds * len(halves) + task.rows]
    known, half = np.isfinite(own).all(axis=1), halves[task.rows]
    right = np.full(len(own), np.nan)
    for side in (0, 1):
        train, test = known & (half != side), known & (half == side)
        if test.any() and len(set(task.labels[train].tolist())) == 2:
            right[test] = _fitted(own[train], task.labels[train], own[test]) == task.labels[test]
    return right


def _fitted(train: FloatArray, labels: BoolArray, test: FloatArray) -> BoolArray:
    """What a logistic regression over standardised features says of others; of one feature it is hardly held back."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    strength = 1.0 if train.shape[1] == 1 else _SHRINKAGE
    model = make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=1000))
    found: BoolArray = model.fit(train, labels).predict(test)
    return found


def _accuracy(task: _Task, right: FloatArray, name: str) -> Estimate:
    """Return the accuracy in one scenario."""
    known = np.isfinite(right)
    n = int(known.sum())
    labels = {"scorer": name, "by": "scenario", "group": task.name, "statistic": "accuracy", "n": n}
    if n < FEWEST:
        return Estimate(**labels, reason=f"{n} replies with a score, {FEWEST} are needed")  # type: ignore[arg-type]
    dialogues = np.unique(task.rows[known], return_inverse=True)[1].astype(np.int64)
    figure = share_of_clusters(right[known], dialogues)
    return estimate_of(figure, **labels, unscored=len(right) - n, contexts=len(np.unique(dialogues)), method=_METHOD)


def _error(tasks: Sequence[_Task], right: Sequence[FloatArray], count: int, sampling: Sampling) -> Any:
    """Return the mean distance from the ideal, with an interval over dialogues, which all scenarios share.

    On resamples distances keep the sign that they were found with, else those near 0 could only grow.
    """
    resamples = sampling.draw(np.arange(count), [count, 1], "reliability")
    drawn = []
    for task, own in zip(tasks, right, strict=True):
        known = np.isfinite(own)
        sums, items = resamples.at(task.rows[known]).sums(np.stack([own[known], np.ones(int(known.sum()))]))
        with np.errstate(invalid="ignore"):
            distances = sums / items - task.ideal
        drawn.append(distances * (1 if distances[0] >= 0 else -1))
    return percentile_interval(np.mean(drawn, axis=0), count, unit="dialogue")
