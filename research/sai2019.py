"""Sai et al. 2019, Re-evaluating ADEM: tables 3 to 6, for ADEM and AutoJudge trained anew and for other scorers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from rejoinder.auditing import Attack, audit
from rejoinder.auditing.attack import ATTACKS, POOL_ATTACKS
from rejoinder.auditing.fooling import FEWEST
from rejoinder.auditing.layout import PUBLISHED as ADEM
from rejoinder.auditing.layout import SHARE, cone_table, word
from rejoinder.auditing.pool import read_replies
from rejoinder.estimates import Estimate, pick
from rejoinder.example import Example
from rejoinder.judges.adem.judge import AdemJudge, Kind
from rejoinder.judges.protocol import PREDICTED, is_differentiable
from rejoinder.models import load_responder
from rejoinder.models.decoding import Decoding
from rejoinder.report.markdown import escaped
from rejoinder.report.results import Results
from rejoinder.report.written import DASH, interval, number, percent
from rejoinder.responder import answer, request
from rejoinder.scorer import FloatArray, Scorer
from rejoinder.scoring.catalog import load_scorer
from rejoinder.stats.correlation import spearman
from rejoinder.stats.resamples import Sampling
from research.common import (
    CORPORA,
    Encoding,
    Material,
    Page,
    Run,
    collect,
    data_table,
    digest_of,
    encode_all,
    measured,
    named,
    run_script,
    table,
)
from research.fits import QUICK, QUICK_AUTOJUDGE, Judge, Split, best_of, fit, splits
from research.lowe2017 import SETS

TABLE3 = ("reference", "context-repeated", "machine-response", "swapped")
CHANGES = (
    *("no-punctuation", "no-stop-words", "no-common-words", "nouns-and-verbs", "no-entities", "synonyms"),
    *("jumbled", "reversed", "nouns", "words-repeated"),
)
GENERIC = ("generic-repeat", "generic-will-do", "generic-fantastic")
FANTASTIC = GENERIC[-1]
CLIMBED, DRAWN = "climbed", "other-random"
TRAINED: tuple[Kind, ...] = ("adem", "autojudge")
OTHERS = ("rejoinder", "bleu-2", "embedding-greedy")
POOL_OF = ("twitter_care", "topical_chat", "self_dialogue")
LIMIT, POOL, COMPONENTS = 300, 50_000, 50  # replies that are attacked, replies of the pool, both at most; components
CONICITY = 0.59  # of ADEM's vectors of 200,000 responses, as published
_HEADER = ("attack", "ADEM, published")


class Figures(NamedTuple):
    """Scores of the replies of an attack, ours or those of the paper; NaN if the paper has no such number.

    `within` is the share within one standard deviation of the mean, `pearson` and `spearman` correlate with the scores
    of the original replies, `better` is the share that scored better, and `people` the mean rating.
    """

    mean: float
    sd: float = np.nan
    within: float = np.nan
    pearson: float = np.nan
    spearman: float = np.nan
    better: float = np.nan
    people: float = np.nan
    lowest: float = np.nan
    highest: float = np.nan


PUBLISHED = {name: Figures(**row) for name, row in ADEM.items()}


class Attacked(NamedTuple):
    """One attack on one scorer: facts, the share of replies that fool the scorer, and other estimates by statistic."""

    facts: Mapping[str, Any]
    share: Estimate
    rows: Mapping[str, Estimate]

    @property
    def counts(self) -> bool:
        """Whether there are examples enough for a statement."""
        return self.share.n >= FEWEST

    @property
    def fooled(self) -> bool:
        """Whether the scorer is fooled."""
        return word(self.share) == "fooled"

    def value(self, statistic: str) -> float:
        """Return the value of a statistic; NaN without one."""
        return self.rows.get(statistic, Estimate()).value

    def figures(self, prefix: str = "attacked score") -> Figures:
        """Return the scores as a row of the paper's tables."""
        names = ("mean", "sd", "within 1 sd", "lowest", "highest")
        mean, sd, within, lowest, highest = (self.value(f"{prefix}, {name}") for name in names)
        first, second = (self.value(f"{name} with the original score") for name in ("pearson", "spearman"))
        better = self.value("share scored better")
        return Figures(mean, sd, within, first, second, better, lowest=lowest, highest=highest)


Battery = Mapping[str, Mapping[str, Attacked]]  # by scorer, by attack


def by_attack(results: Results) -> dict[str, Attacked]:
    """Return the attacks of an audit by name."""
    attacks = {}
    for facts in results.about.data:
        rows = {row.statistic: row for row in pick(results.estimates, by="attack", group=facts["attack"])}
        attacks[facts["attack"]] = Attacked(facts, rows.pop(SHARE), rows)
    return attacks


def scorer_of(results: Results) -> str:
    """Return the name of the scorer that was attacked."""
    return next(iter(results.about.scorers))


# judges and attacks


def trained_judge(
    kind: Kind, encodings: Sequence[Encoding], material: Material, split: Split
) -> tuple[AdemJudge, Judge]:
    """Return a judge as its paper has it; validation chooses the state of the encoder and over-sampling."""
    options = [QUICK_AUTOJUDGE]
    if kind != "autojudge":
        width = min(one.encoder.width for one in encodings)
        options = [replace(QUICK, components=min(COMPONENTS, width), oversample=way) for way in (None, "words")]
    tried = [fit(material, one, split, kind, way) for one, way in product(encodings, options)]
    best = tried[best_of(tried)]
    parts = (best.encoding.encoder, best.fit.normalise, best.fit.projection, best.fit.head)
    return AdemJudge(kind, *parts, "mean", {}, PREDICTED), best


def attacked_lines(material: Material, split: Split, sampling: Sampling) -> list[Example]:
    """Return the lines that are attacked: of the test part, no copies of a reference."""
    rows = split.test[~material.copies[split.test]]
    if len(rows) > LIMIT:
        rows = np.sort(sampling.generator([], "paper, lines attacked").choice(rows, LIMIT, replace=False))
    return [material.examples[row] for row in rows]


def pool_of(run: Run, material: Material, sampling: Sampling) -> list[str]:
    """Return the pool, drawn from the replies of the corpora; if `small`, the replies of the made-up lines."""
    if run.small:
        return list(dict.fromkeys(example.response for example in material.examples))
    files = run.files(*POOL_OF, kind=CORPORA)
    texts = list(dict.fromkeys(text for file in files for text in read_replies(file)))
    if len(texts) <= POOL:
        return texts
    rows = sampling.generator([len(texts)], "paper, lines attacked").choice(len(texts), POOL, replace=False)
    return [texts[row] for row in np.sort(rows).tolist()]


def attacks_of(run: Run, examples: Sequence[Example]) -> tuple[list[str | Attack], str]:
    """Return the attacks of the paper, and the responder that gives the machine responses, if one was named."""
    names = [*TABLE3, *CHANGES, *GENERIC, DRAWN, CLIMBED, *POOL_ATTACKS]
    if not run.responders:
        return list(names), ""
    name, place = named(run.responders[0], "--responder")
    contexts = list(dict.fromkeys(one.context for one in examples))
    requests = [request(context, run.seed) for context in contexts]
    answers = answer(load_responder(place, decoding=Decoding()), requests)
    texts = {context: one.replies[0].text for context, one in zip(contexts, answers, strict=True) if one.replies}

    def response(example: Example, *_: object) -> Example | None:
        text = texts.get(example.context, "")
        return replace(example, response=text) if text.strip() else None

    def swapped(example: Example, *_: object) -> Example | None:
        machine, human = response(example), next(filter(str.strip, example.references), "")
        return machine and replace(machine, response=human, references=(machine.response,)) if human else None

    machine = {
        "machine-response": replace(ATTACKS["machine-response"], about=f"what {name} says", transform=response),
        "swapped": replace(ATTACKS["swapped"], about=f"reference and what {name} says swapped", transform=swapped),
    }
    return [machine.get(one, one) for one in names], name


def variance_shares(scores: FloatArray) -> tuple[float, float, float]:
    """Return the shares of rows, columns and their interaction in the variance of `scores` [R, C]; NaN without any."""
    total = float(scores.var())
    if not total:
        return (np.nan,) * 3
    rows, columns = float(scores.mean(axis=1).var()) / total, float(scores.mean(axis=0).var()) / total
    return rows, columns, 1 - rows - columns


def decided_by(scorer: Scorer, examples: Sequence[Example]) -> tuple[float, float, float] | None:
    """Return what decides the scores of these replies, each to all these contexts: context, reply, both together.

    None if a scorer shows no vectors.
    """
    if not is_differentiable(scorer):
        return None
    space = max(scorer.spaces(examples), key=lambda one: len(one.rows))  # the judge that scores most of the examples
    scores = space.scores(space.project(space.sides["response"].vectors))
    scores = scores[:, np.isfinite(scores).any(axis=0)]
    return variance_shares(scores[np.isfinite(scores).all(axis=1)])


# tables 3 to 6


def attack_table(
    by: Battery, names: Sequence[str], shown: Callable[[Figures], str], audits: Sequence[Results] = ()
) -> str:
    """Return a row an attack: the published figures of ADEM, then a column a scorer.

    Args:
        by: all results.
        names: the attacks.
        shown: what a cell holds.
        audits: those whose scores of the original replies make a first row.
    """
    rows = [["the replies as they were", DASH, *(shown(unchanged(one)) for one in audits)]] if audits else []
    for name in names:
        cells = [_cell(attacks.get(name), shown) for attacks in by.values()]
        rows.append([_about(by, name), shown(PUBLISHED[name]) if name in PUBLISHED else DASH, *cells])
    return table([*_HEADER, *by], rows)


def _about(by: Battery, name: str) -> str:
    """Return what an attack does."""
    return next((str(attacks[name].facts["about"]) for attacks in by.values() if name in attacks), name)


def _cell(attack: Attacked | None, shown: Callable[[Figures], str]) -> str:
    """Return a cell; a dash if an attack was left out, or had too little to attack."""
    return shown(attack.figures()) if attack is not None and attack.counts else DASH


def unchanged(results: Results) -> Figures:
    """Return the scores of the original replies."""
    facts = next(iter(results.about.scorers.values()))
    return Figures(facts["mean"], facts["spread"])


def _spread(one: Figures) -> str:
    """Return mean and standard deviation."""
    return number(one.mean) if np.isnan(one.sd) else f"{number(one.mean)} ± {number(one.sd)}"


def _banded(one: Figures) -> str:
    """Return the same, and the share within one standard deviation."""
    return _spread(one) if np.isnan(one.within) else f"{_spread(one)}, {percent(one.within)}"


def _ranged(one: Figures) -> str:
    """Return mean and standard deviation, the lowest and the highest."""
    ends = ("" if np.isnan(end) else number(end) for end in (one.lowest, one.highest))
    return f"{_spread(one)} [{', '.join(ends)}]"


def _related(one: Figures) -> str:
    """Return Pearson's and Spearman's correlation with the original scores, and the share that scores better."""
    return f"{number(one.pearson)}, {number(one.spearman)}; {percent(one.better)}"


def searches_table(by: Battery) -> str:
    """Return table 6 and hill climbing: good replies before the attack, then after it."""
    before = [_ranged(attacks["pool-best"].figures("original score")) for attacks in by.values()]
    first = [["good replies as they were", _ranged(PUBLISHED["reference"]), *before]]
    searches = attack_table(by, (*POOL_ATTACKS, CLIMBED, DRAWN), _ranged)
    return table([*_HEADER, *by], first) + "".join(searches.splitlines(keepends=True)[2:])


def fooled_table(by: Battery) -> str:
    """Return the share of replies on which each attack fooled each scorer."""
    rows = []
    for name in dict.fromkeys(name for attacks in by.values() for name in attacks):
        cells = []
        for attacks in by.values():
            attack = attacks.get(name)
            text = measured(attack.share, share=True) if attack and attack.counts else DASH
            cells.append(f"{text}, fooled" if attack and attack.counts and attack.fooled else text)
        rows.append([_about(by, name), *cells])
    return table(["attack", *by], rows)


def breadth_table(audits: Sequence[Results]) -> str:
    """Return how far scores spread compared with ratings."""
    rows = []
    for one in audits:
        spreads = (one.one(statistic=f"sd of {name}, share of the scale").value for name in ("scores", "ratings"))
        ratio, related = one.one(statistic="ratio of spreads"), one.one(statistic="pearson")
        rows.append([scorer_of(one), *map(percent, spreads), measured(ratio), related.value])
    return table(["scorer", "SD of scores", "SD of ratings", "ratio [low, high]", "Pearson with people"], rows)


# what the tables show


def reading(by: Battery, audits: Sequence[Results], crossed: Mapping[str, tuple[float, float, float]]) -> list[str]:
    """Return where ours and theirs agree, and where not, in sentences."""
    counts = []
    for name, attacks in by.items():
        told = [one for one in attacks.values() if one.counts]
        counts.append(f"{name} by {sum(one.fooled for one in told)} of {len(told)}")
    adem = {name: one for name, one in by["adem"].items() if one.counts}
    lines = [f"Attacks that fool: {', '.join(counts)}. The paper counts none so, and finds ADEM wanting in nearly all."]
    lines += [_band(audits[0]), *_orders(adem), *_generic(adem), *_gains(adem)]
    return lines + [_decided(one, crossed[scorer_of(one)], by) for one in audits if scorer_of(one) in crossed]


def conicity(results: Results, kind: str) -> Estimate:
    """Return the conicity of the vectors of responses: of the encoder, or projected."""
    cones = results.pick(statistic="conicity")
    return next((row for row in cones if row.group.endswith(f": response, {kind}")), Estimate())


def _band(adem: Results) -> str:
    """Return how narrow the bands and cones are."""
    ratio, related = adem.one(statistic="ratio of spreads"), adem.one(statistic="pearson")
    return (
        f"Our ADEM gives the original replies {_spread(unchanged(adem))} (published, of references: "
        f"{_spread(PUBLISHED['reference'])}), spread {interval(ratio, 2)} times as widely as the ratings, where its "
        f"correlation with them explains {number(related.value, 2)}. Its responses have a conicity of "
        f"{interval(conicity(adem, 'encoder'), 2)} as encoded and {interval(conicity(adem, 'projected'), 2)} as the "
        f"head sees them (published {CONICITY}; in which space is not said)."
    )


def _orders(adem: Mapping[str, Attacked]) -> list[str]:
    """Return how alike the columns of table 5 are over its attacks."""
    both = [(adem[name].figures(), PUBLISHED[name]) for name in (*CHANGES, FANTASTIC) if name in adem]
    parts = []
    for column, what in (("pearson", "correlation with the original's scores"), ("better", "share that scores better")):
        ours, theirs = (np.array([getattr(pair[place], column) for pair in both], float) for place in (0, 1))
        rank = spearman(ours, theirs)
        if rank.known:
            parts.append(f"{number(rank.value)} (p {number(rank.p, 3)}) by their {what}")
    start = f"Order of the {len(both)} attacks of table 5, Spearman's correlation with the paper's:"
    return [f"{start} {', '.join(parts)}."] if parts else []


def _generic(adem: Mapping[str, Attacked]) -> list[str]:
    """Return how well the universal answer of the paper scores."""
    if FANTASTIC not in adem:
        return []
    ours, theirs = adem[FANTASTIC], PUBLISHED[FANTASTIC]
    best = max((adem[name] for name in GENERIC if name in adem), key=lambda one: one.value("share scored better"))
    text = f"“fantastic! how are you?” scores better than {percent(ours.value('share scored better'))} of good replies"
    text += f" (published {percent(theirs.better)})"
    if best is not ours:
        share = percent(best.value("share scored better"))
        text += f"; of the three the best is {best.facts['about']}, with {share}"
    return [f"{text}."]


def _gains(adem: Mapping[str, Attacked]) -> list[str]:
    """Return what the searches gain."""
    parts = []
    for name, what in (("white-box", "along the gradient"), ("pool-best", "by brute force")):
        if name in adem:
            gain = adem[name].value("attacked score, mean") - adem[name].value("original score, mean")
            published = PUBLISHED[name].mean - PUBLISHED["reference"].mean
            parts.append(f"{number(gain)} points {what} (published {number(published)})")
    return (
        [f"In place of good replies, those found in the pool score higher by {' and '.join(parts)}."] if parts else []
    )


def _decided(results: Results, shares: tuple[float, float, float], by: Battery) -> str:
    """Return whether one reply pleases a judge over vectors everywhere, or another in each context."""
    judge, projected = scorer_of(results), conicity(results, "projected")
    cone = projected if projected.known else conicity(results, "encoder")
    names = {DRAWN: "one drawn from elsewhere", FANTASTIC: "“fantastic! ...”", "pool-best": "the best of the pool"}
    names["pool-fixed"] = "one of the pool for all contexts"
    better = [
        f"{what} beats {percent(by[judge][name].value('share scored better'))} of good replies"
        for name, what in names.items()
        if name in by[judge] and by[judge][name].counts
    ]
    return (
        f"{judge}: its head compares responses of conicity {number(cone.value)}; of the scores of all replies to all "
        f"contexts the reply alone decides {percent(shares[1])}, how both go together {percent(shares[2])}. "
        f"A reply that was not made for the context: {', '.join(better)}."
    )


def make(run: Run) -> Page:
    """Return the page."""
    material = collect(run.examples(*SETS), ("context", "reference"))
    encoders = () if run.small else run.encoders[:1]
    encodings = encode_all(material.examples, encoders, ("context", "reference"))
    main, (split,) = next(iter(encodings)), splits(material, 1)
    trained = {kind: trained_judge(kind, encodings[main], material, split) for kind in TRAINED}
    run.say("trained judges")
    sampling = Sampling(0, run.seed)
    examples = attacked_lines(material, split, sampling)
    attacks, responder = attacks_of(run, examples)
    pool = pool_of(run, material, sampling)
    audits, crossed = [], {}
    for scorer in (*(judge for judge, _ in trained.values()), *map(load_scorer, OTHERS)):
        audits.append(audit(examples, scorer, families=attacks, pool=pool, limit=LIMIT, seed=run.seed))
        name = scorer_of(audits[-1])
        if (shares := decided_by(scorer, examples)) is not None:
            crossed[name] = shares
        run.say(f"attacked {name}")
    by = {scorer_of(one): by_attack(one) for one in audits}
    rows = []
    for kind, (judge, best) in trained.items():
        components = DASH if judge.projection is None else len(judge.projection.components)
        rows.append([kind, main, best.encoding.state or DASH, judge.encoder.width, components, *best.validation])
    shares_of = [[name, *map(percent, (shares[1], shares[0], shares[2]))] for name, shares in crossed.items()]
    cones = [(scorer_of(one), cone_table(one.estimates)) for one in audits]
    about = audits[0].about
    values = {
        "data": data_table(material),
        "trained": table(
            ["judge", "encoder", "state", "numbers", "components", "Pearson, validation", "Spearman"], rows
        ),
        "reading": "\n".join(f"- {escaped(line)}" for line in reading(by, audits, crossed)),
        "fooled": fooled_table(by),
        "table3": attack_table(by, TABLE3, _spread, audits),
        "table4": attack_table(by, ("reference", *CHANGES, *GENERIC), _banded),
        "table5": attack_table(by, (*CHANGES, FANTASTIC), _related),
        "table6": searches_table(by),
        "geometry": "\n".join(table(cone.header, cone.texts, name) for name, cone in cones if cone is not None),
        "breadth": breadth_table(audits),
        "crossed": table(["scorer", "the reply", "the context and reference", "how they go together"], shares_of),
        "lines": f"{about.counts['replies']:,}",
        "contexts": f"{about.counts['contexts']:,}",
        "good": f"{about.counts['good']:,}",
        "train": f"{len(split.train):,}",
        "validation": f"{len(split.validation):,}",
        "encoder": main,
        "conicity": CONICITY,
        "fewest": FEWEST,
        "pool": f"{len(pool):,}",
        "machine": f"the responder {responder}" if responder else "a bigram model of the attacked replies",
        "allowed": percent(about.options["allowed"]),
    }
    return Page(values, {}, digest_of(material.examples))


if __name__ == "__main__":
    run_script("sai2019", "Attack ADEM as Sai et al. 2019 do, and other scorers.", make, "encoder responder")
