"""Evaluator Reliability Error: the distance of an evaluator from the known answers of four simple scenarios.

An evaluator is trained to distinguish two kinds of replies, and its accuracy on other dialogues is compared with that
of an ideal one: 50 % if both kinds are written by people, 50 % if both are made by one machine, 100 % if one kind
answers another dialogue, and 100 % if one kind skips a turn (the utterance after the true reply). The error is the mean
distance over the four.

Source: Li et al. (2017), Adversarial Learning for Neural Dialogue Generation, section 4; table 2 of Sai et al. (2019).
There the evaluator is a hierarchical network. Here it is a logistic regression over the score of a scorer, or over the
vectors of an encoder, trained again in each scenario, on each half of the dialogues for the other half.

Shapes: D dialogues, N replies of a scenario, F features, B resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from rejoinder.errors import DataError
from rejoinder.estimates import NAN, Estimate, estimate_of
from rejoinder.example import Example
from rejoinder.models import load_responder
from rejoinder.perturbations import Corpus
from rejoinder.perturbations.degrading import machine_response
from rejoinder.report.results import About, Results
from rejoinder.report.written import percent
from rejoinder.responder import Responder, answer, request
from rejoinder.responder import signature_of as responder_signature
from rejoinder.scorer import Advance, Encoder, FloatArray, ScorerLike, Signature, ignore, run
from rejoinder.scoring.catalog import load_scorers
from rejoinder.scoring.unscored import nothing_scored
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling, percentile_interval
from rejoinder.stats.shares import share_of_clusters

FEWEST = 20
"""The fewest dialogues, and the fewest replies of a scenario."""
PUBLISHED_ERROR = 0.193
"""The error of the hierarchical evaluator of Li et al. (2017)."""
_TRUE, _NEXT, _OTHER, _MACHINE = range(4)  # the replies of a dialogue
_METHOD = "accuracy, trained on the other half of the dialogues; Wilson's interval with dialogues as trials"


class _Scenario(NamedTuple):
    """Two kinds of N replies to distinguish, with the accuracy of an ideal evaluator.

    `rows` [N] has the dialogue of each reply, `kinds` [N] which reply of it, `labels` [N] whether it counts as true.
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
        dialogues: turns, oldest first, three or more of each; the last but one is the true reply, the last is the reply
            that skips a turn, and those before are the context.
        evaluator: a scorer of context and response, in any form that `load_scorer` takes, or an encoder.
        machine: a responder, in any form that `load_responder` takes; a bigram model of the true replies by default.
        resamples: of dialogues, for the interval of the error.
        seed: decides what is drawn, 0 or more.
        progress: called with the number of finished replies.

    Raises:
        DataError: there are fewer than 20 dialogues, or one has fewer than three turns.
        NothingScored: a scenario has too few replies with a score.
        UsageError: there is no such scorer or responder, or a number is out of range.
    """
    sampling, count = Sampling.checked(resamples, seed), len(dialogues)
    if count < FEWEST:
        raise DataError(f"{count} dialogues, {FEWEST} are needed", "Give more")
    if short := next((turns for turns in dialogues if isinstance(turns, str) or len(turns) < 3), None):
        problem = "a text instead of turns" if isinstance(short, str) else f"a dialogue of {len(short)} turns"
        raise DataError(f"{problem}, expected three or more", "Leave short dialogues out")
    rng = sampling.generator([count], "reliability")
    replies, made_by = _replies(dialogues, machine, sampling, rng)
    features, name, signature = _features(evaluator, replies, progress)
    halves = rng.permutation(count) % 2
    scenarios = _scenarios(halves, rng)
    right = [_right(scenario, features, halves) for scenario in scenarios]
    accuracies = [_accuracy(scenario, flags, name) for scenario, flags in zip(scenarios, right, strict=True)]
    if poor := next((accuracy for accuracy in accuracies if not accuracy.known), None):
        raise nothing_scored(f"{name}: {poor.group}: {poor.reason}")
    error = _error(scenarios[:4], right[:4], count, sampling)
    labels = {"scorer": name, "level": "dialogue", "n": count, "seed": sampling.seed}
    estimate = estimate_of(error, **labels, statistic="evaluator reliability error", contexts=count)
    answers = (
        f"{name} has an evaluator reliability error of {percent(estimate.value)}; a coin has 25 %, the published "
        f"evaluator {percent(PUBLISHED_ERROR)}.",
    )
    about = About(
        scorers={name: {"asked": True, "signature": dict(signature.fields)}},
        options={"machine": made_by, "resamples": sampling.resamples, "seed": sampling.seed},
        counts={"dialogues": count},
    )
    return Results(command="reliability error", estimates=(estimate, *accuracies), answer=answers, about=about)


def _replies(
    dialogues: Sequence[Sequence[str]], machine: str | Responder | None, sampling: Sampling, rng: np.random.Generator
) -> tuple[list[Example], str]:
    """Return [4 D] the true replies, the next turns, replies of other dialogues and of the machine, and its name."""
    true = [Example(tuple(turns[:-2]), turns[-2], id=str(place)) for place, turns in enumerate(dialogues)]
    following = [Example(example.context, turns[-1]) for example, turns in zip(true, dialogues, strict=True)]
    # Round a random circle, so that each reply is given to one other dialogue and to none twice.
    circle = rng.permutation(len(true))
    others = dict(zip(circle.tolist(), np.roll(circle, 1).tolist(), strict=True))
    other = [Example(example.context, true[others[place]].response) for place, example in enumerate(true)]
    if machine is None:
        corpus, made_by = Corpus(true), "a bigram model of the true replies"
        texts = [machine_response(example, rng, corpus) or "" for example in true]
    else:
        responder = load_responder(machine)
        answers = answer(responder, [request(example.context, sampling.seed) for example in true])
        texts = [each.replies[0].text if each.replies else "" for each in answers]
        made_by = str(responder_signature(responder))
    made = [replace(example, response=text) for example, text in zip(true, texts, strict=True)]
    return [*true, *following, *other, *made], made_by


def _features(
    evaluator: ScorerLike | Encoder, replies: Sequence[Example], progress: Advance
) -> tuple[FloatArray, str, Signature]:
    """Return [4 D, F] the features of each reply, NaN for unknown ones; name and signature of the evaluator.

    With an encoder: the cosine of the vectors of context and reply, their products and distances.
    """
    if not hasattr(evaluator, "encode_contexts"):
        ((name, scorer),) = load_scorers([evaluator]).items()
        scores = run(scorer, replies, progress=progress)
        return scores.values[:, None], name, scores.signature
    encoder = cast("Encoder", evaluator)
    contexts = _unit(encoder.encode_contexts([example.context for example in replies]))
    texts = _unit(encoder.encode([example.response for example in replies]))
    products = contexts * texts
    features = np.concatenate([products.sum(axis=1)[:, None], products, np.abs(contexts - texts)], axis=1)
    kind = str(encoder.options.get("encoder", type(encoder).__name__))
    progress(len(replies))
    signature = Signature({"evaluator": "logistic regression", **encoder.options})
    return features, f"a classifier over {kind}", signature


def _unit(vectors: FloatArray) -> FloatArray:
    """Return vectors of length 1; those of length 0 stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: FloatArray = vectors / np.where(lengths > 0, lengths, 1.0)
    return units


def _scenarios(halves: IntArray, rng: np.random.Generator) -> list[_Scenario]:
    """Return the four scenarios, and the machine's replies against true ones."""
    count = len(halves)

    def same(name: str, kind: int) -> _Scenario:
        # Equally many of both labels in each half: else the majority of one half is the minority of the other.
        labels = np.zeros(count, dtype=np.bool_)
        for half in (0, 1):
            rows = np.flatnonzero(halves == half)
            labels[rows] = rng.permutation(len(rows)) % 2 == 1
        return _Scenario(name, 0.5, np.arange(count), np.full(count, kind), labels)

    def different(name: str, kind: int, ideal: float = 1.0) -> _Scenario:
        rows = np.tile(np.arange(count), 2)
        return _Scenario(name, ideal, rows, np.repeat([_TRUE, kind], count), np.repeat([True, False], count))

    return [
        same("human / human", _TRUE),
        same("machine / machine", _MACHINE),
        different("human / random", _OTHER),
        different("human / skipped", _NEXT),
        different("human / machine", _MACHINE, NAN),
    ]


def _right(scenario: _Scenario, features: FloatArray, halves: IntArray) -> FloatArray:
    """Return [N] whether a logistic regression on the other half of the dialogues is right; NaN without features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features = features[scenario.kinds * len(halves) + scenario.rows]
    known, half = np.isfinite(features).all(axis=1), halves[scenario.rows]
    strength = 1.0 if features.shape[1] == 1 else 0.01  # one feature needs little regularisation
    right = np.full(len(features), np.nan)
    for side in (0, 1):
        train, test = known & (half != side), known & (half == side)
        if test.any() and len(set(scenario.labels[train].tolist())) == 2:
            model = make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=1000))
            model.fit(features[train], scenario.labels[train])
            right[test] = model.predict(features[test]) == scenario.labels[test]
    return right


def _accuracy(scenario: _Scenario, right: FloatArray, name: str) -> Estimate:
    """Return the accuracy in one scenario."""
    known = np.isfinite(right)
    estimate = Estimate(scorer=name, by="scenario", group=scenario.name, statistic="accuracy", n=int(known.sum()))
    if estimate.n < FEWEST:
        return replace(estimate, reason=f"{estimate.n} replies with a score, {FEWEST} are needed")
    dialogues = np.unique(scenario.rows[known], return_inverse=True)[1].astype(np.int64)
    share, contexts = share_of_clusters(right[known], dialogues), len(np.unique(dialogues))
    ends = {"value": share.value, "low": share.low, "high": share.high, "reason": share.reason}
    return replace(estimate, **ends, unscored=len(right) - estimate.n, contexts=contexts, method=_METHOD)  # type: ignore[arg-type]


def _error(scenarios: Sequence[_Scenario], right: Sequence[FloatArray], count: int, sampling: Sampling) -> Estimate:
    """Return the mean distance from the ideal, with an interval over dialogues, which all scenarios share.

    In resamples a distance keeps the sign that it has in the data, or those near 0 could only grow.
    """
    resamples = sampling.draw(np.arange(count), [count, 1], "reliability")
    drawn = []
    for scenario, flags in zip(scenarios, right, strict=True):
        known = np.isfinite(flags)
        sums, items = resamples.at(scenario.rows[known]).sums(np.stack([flags[known], np.ones(int(known.sum()))]))
        with np.errstate(invalid="ignore"):
            distances = sums / items - scenario.ideal
        drawn.append(distances * (1 if distances[0] >= 0 else -1))
    return percentile_interval(np.mean(drawn, axis=0), count, unit="dialogue")
