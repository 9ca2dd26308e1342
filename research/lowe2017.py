"""Lowe et al. 2017, Towards an Automatic Turing Test: tables 2 to 5, figures 4 and 5, and the supplement's questions.

Shapes: N lines, S splits.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rejoinder.data.read import read
from rejoinder.errors import MissingAsset
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.judges.adem.head import Normalise
from rejoinder.judges.adem.judge import Kind, encode
from rejoinder.judges.adem.optimizer import AdemOptions, Oversample
from rejoinder.judges.protocol import Rows
from rejoinder.judges.rated import normalised_ratings
from rejoinder.report.written import DASH, number, p_value
from rejoinder.scorer import FloatArray, run
from rejoinder.scoring.catalog import cards, load_scorer
from rejoinder.stats.resamples import Sampling
from research.common import (
    Encoding,
    Material,
    Page,
    Run,
    collect,
    data_table,
    digest_of,
    encode_all,
    encoder_table,
    leave_one_out,
    measured,
    panels,
    quoted_table,
    run_script,
    table,
    with_p,
)
from research.fits import (
    QUICK,
    QUICK_AUTOJUDGE,
    Appearances,
    Figures,
    Judge,
    Split,
    appearances,
    best_of,
    fit,
    predictions,
    set_means,
    splits,
)
from research.published import LOWE_SYSTEMS, LOWE_TEST, LOWE_UNSEEN, LOWE_VALIDATION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETS = ("deriu_*", "gupta_*", "usr_personachat", "grade_*", "zhao_*")
SEEDS, SEEDS_SMALL = 5, 3
SET_MEAN = "mean of the set"
COMPONENTS = (7, 20, 50, 100, 150)
NORMALISE: tuple[Normalise, ...] = ("none", "l2")
OVERSAMPLE: tuple[Oversample | None, ...] = (None, "words")
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
FEWEST_LINES, KEPT_AT_RANDOM = 80, 0.75
# Rows that are fitted as AutoJudge is, and the judge whose terms they have.
WHOLE: Mapping[str, Kind] = {"autojudge": "autojudge", "adem, all components": "adem"}
NAN = float("nan")
_SHOWN = 300  # points in a panel of figure 4
_JITTER = 0.3  # what the caption of figure 4 adds to human scores, so that points do not hide each other
_LONGEST = 25  # words of a quoted turn


class Settings(NamedTuple):
    """One way to fit ADEM: state of the encoder, and options."""

    state: str
    options: AdemOptions


@dataclass(frozen=True)
class Search:
    """ADEM fitted with many settings: [settings, S, 2] correlations on validation, and each split's choice."""

    settings: Sequence[Settings]
    validation: FloatArray
    chosen: Sequence[Settings]
    judges: Sequence[Judge]


class Scored(NamedTuple):
    """A scorer's predictions [S, N], its Spearman and Pearson on validation, and its lines a second."""

    scores: FloatArray
    validation: tuple[float, float] = (NAN, NAN)
    speed: float = NAN


class Experiment(NamedTuple):
    """What all tables rest on: `search` is the main encoder's, `test` the test lines without copies of references."""

    figures: Figures
    divided: Sequence[Split]
    search: Search
    test: Appearances

    @property
    def material(self) -> Material:
        """The lines."""
        return self.figures.material


# fitting


def search(material: Material, encodings: Sequence[Encoding], divided: Sequence[Split], kind: Kind = "adem") -> Search:
    """Return a judge over one encoder with every setting, and what the validation part of each split chooses.

    More components than the vectors are wide are not tried.
    """
    by_state = {one.state: one for one in encodings}
    width = min(one.encoder.width for one in encodings)
    sizes = [count for count in COMPONENTS if count <= width] or [width]
    options = [
        replace(QUICK, components=size, normalise=normalise, oversample=way)
        for size, normalise, way in product(sizes, NORMALISE, OVERSAMPLE)
    ]
    settings = [Settings(*pair) for pair in product(by_state, options)]
    validation, places, judges = [], [], []
    for split in divided:
        tried = [fit(material, by_state[state], split, kind, options) for state, options in settings]
        places.append(best_of(tried))
        judges.append(tried[places[-1]])
        validation.append([judge.validation for judge in tried])
    chosen = [settings[place] for place in places]
    return Search(settings, np.array(validation).transpose(1, 0, 2), chosen, judges)


def refitted(
    material: Material,
    parts: Sequence[Split],
    like: Search,
    kind: Kind = "adem",
    change: Callable[[AdemOptions], AdemOptions] = lambda options: options,
) -> list[Judge]:
    """Return judges on other parts or of another kind, with the settings that each split chose."""
    return [
        fit(material, judge.encoding, split, kind, change(settings.options))
        for split, judge, settings in zip(parts, like.judges, like.chosen, strict=True)
    ]


def judges_of(
    material: Material,
    encodings: Mapping[str, Sequence[Encoding]],
    divided: Sequence[Split],
    searches: dict[str, Search],
) -> dict[str, list[Judge]]:
    """Return the judges of the tables; C-ADEM and R-ADEM take the settings that ADEM chose."""
    main = next(iter(searches))
    judges = {
        f"{name}, untrained": refitted(material, divided, of, change=lambda options: replace(options, epochs=0))
        for name, of in searches.items()
    }
    for kind in ("c-adem", "r-adem"):
        judges[kind] = refitted(material, divided, searches[main], kind)
    judges |= {f"adem over {name}": list(of.judges) for name, of in searches.items() if name != main}
    judges["adem"] = list(searches[main].judges)
    for name, whole in WHOLE.items():  # over the state that the validation part chooses
        judges[name] = []
        for split in divided:
            tried = [fit(material, one, split, whole, QUICK_AUTOJUDGE) for one in encodings[main]]
            judges[name].append(tried[best_of(tried)])
    return judges


def closed_form(material: Material, count: int) -> tuple[dict[str, Scored], dict[str, str]]:
    """Return every scorer that is not fitted, and why others could not run."""
    scored, missing = {}, {}
    for name, card in cards().items():
        if card.kind == "judge" or "/" in name:  # judges of the catalogue may have been fitted on these lines
            continue
        try:
            scorer, start = load_scorer(name), time.perf_counter()
            values = run(scorer, material.examples).values
        except MissingAsset as error:
            missing[name] = str(error)
        else:
            speed = len(values) / (time.perf_counter() - start)
            scored[name] = Scored(np.tile(values, (count, 1)), speed=speed)
    return scored, missing


def scored_by(material: Material, judges: Sequence[Judge]) -> Scored:
    """Return the predictions and figures of judges, one a split."""
    linear, ranks = np.mean([judge.validation for judge in judges], axis=0).tolist()
    return Scored(predictions(judges), (ranks, linear), len(material.ratings) / judges[0].seconds)


# tables


def table2(scored: Mapping[str, Scored], work: Experiment, aliases: Mapping[str, str]) -> str:
    """Return table 2 beside the published one."""
    header = ["scorer", "validation S", "P", "test Spearman [low, high]", "p", "test Pearson [low, high]", "p"]
    header += ["published: validation S", "P", "test S", "P"]
    rows = []
    for name, one in scored.items():
        spearman, pearson = work.figures.both(one.scores, work.test)
        printed = [each.get(aliases.get(name, name), (NAN, NAN)) for each in (LOWE_VALIDATION, LOWE_TEST)]
        rows.append([name, *one.validation, *with_p(spearman), *with_p(pearson), *printed[0], *printed[1]])
    return table(header, rows)


def behind(scored: Mapping[str, Scored], work: Experiment, whole: Appearances) -> tuple[str, str]:
    """Return figures inside data sets, with copies, and paired tests; then how many rows ADEM is ahead of."""
    rows: list[list[str]] = []
    ahead: list[str] = []
    others: list[str] = []
    adem = scored["adem"].scores
    for name, (scores, *_) in scored.items():
        within = work.figures.within("spearman", scores, work.test)
        cells = [DASH] * 4
        if name != "adem":
            both = [work.figures.ahead(how, adem, scores, work.test) for how in ("spearman", "pearson")]
            cells = [text for one in both for text in (_signed(one.value), p_value(one.p))]
            (ahead if both[0].value > 0 and both[0].p < 0.05 else others).append(name)
        copies = measured(work.figures.correlation("spearman", scores, whole))
        rows.append([name, *with_p(within), copies, *cells])
    header = ["scorer", "Spearman inside data sets [low, high]", "p", "Spearman with copies [low, high]"]
    rest = f"; not of {', '.join(others)}" if others else ""
    lead = f"By Spearman with p < .05, ADEM is ahead of {len(ahead)} of the {len(scored) - 1} other rows{rest}."
    return table([*header, "ADEM ahead, S", "p", "ADEM ahead, P", "p"], rows), lead


def _signed(value: float) -> str:
    """Return a difference with its sign."""
    return measured(Estimate(value=value), signed=True)


def table3(scored: Mapping[str, Scored], work: Experiment) -> tuple[str, int, dict[str, tuple[FloatArray, FloatArray]]]:
    """Return table 3, the number of systems, and the means of systems by scorer."""
    rows, means, count = [], {}, 0
    for name, (scores, *_) in scored.items():
        plain, centred = (work.figures.systems(scores, work.test, centred=centred) for centred in (False, True))
        printed = LOWE_SYSTEMS.get(name, NAN)
        rows.append([name, *with_p(plain.estimate), *with_p(centred.estimate), printed])
        means[name], count = (plain.ratings, plain.scores), max(count, len(plain.scores))
    header = ["scorer", "Pearson [low, high]", "p", "set means taken off [low, high]", "p", "published, 4 systems"]
    return table(header, rows), count, means


def table4(work: Experiment) -> str:
    """Return ADEM without each system with 80 lines or more, most lines first, and without a quarter at random."""
    material, divided, seen = work.material, work.divided, predictions(work.search.judges)
    known = material.systems[material.originals]
    names, counts = np.unique(known[known != ""], return_counts=True)
    parts = {name: (rest, left) for name, rest, left in leave_one_out(material.systems)}
    rows, figures = [], []
    for place in np.lexsort((names, -counts)):
        if counts[place] < FEWEST_LINES:
            continue
        rest, name = parts[str(names[place])][0], str(names[place])
        reduced = [_only(split, rest) for split in divided]
        scores = predictions(refitted(material, reduced, work.search))
        theirs = work.test.where(material.systems == name)
        pairs = [work.figures.both(*one) for one in ((scores, work.test), (scores, theirs), (seen, theirs))]
        share = _left_out(divided, reduced)
        figures.append([share, *(one.value for pair in pairs for one in pair)])
        cells = [text for first, second in pairs for text in (measured(first), number(second.value, 3))]
        rows.append([name, f"{counts[place]:,}", f"{share:.1%}", *cells])
    if figures:
        share, *means = np.nanmean(figures, axis=0).tolist()
        rows.append(["mean", "", f"{share:.1%}", *(number(value, 3) for value in means)])
    reduced = [split._replace(train=_kept_at_random(split)) for split in divided]
    first, second = work.figures.both(predictions(refitted(material, reduced, work.search)), work.test)
    last = ["at random", "", f"{_left_out(divided, reduced):.1%}", measured(first), number(second.value, 3)]
    header = ["left out", "lines", "share of training", "all test S [low, high]", "P"]
    header += ["its test lines S [low, high]", "P", "the same, seen in training S", "P"]
    return table(header, [*rows, [*last, *[DASH] * 4]])


def _only(split: Split, rows: Rows) -> Split:
    """Return the split with training and validation cut to `rows`."""
    return split._replace(train=np.intersect1d(split.train, rows), validation=np.intersect1d(split.validation, rows))


def _kept_at_random(split: Split) -> Rows:
    """Return three quarters of the training lines: single lines, whatever their context (table 4, last row)."""
    rng = Sampling(0, split.seed).generator((), "paper, kept at random")
    return np.sort(rng.choice(split.train, size=round(KEPT_AT_RANDOM * len(split.train)), replace=False))


def _left_out(divided: Sequence[Split], reduced: Sequence[Split]) -> float:
    """Return the share of the training lines that was left out, mean over the splits."""
    pairs = zip(divided, reduced, strict=True)
    return float(np.mean([1 - len(less.train) / len(split.train) for split, less in pairs]))


def labels_curve(work: Experiment) -> list[tuple[float, float, Estimate, Estimate]]:
    """Return share of the labels, lines, Spearman and Pearson of ADEM with growing shares of the contexts."""
    points = []
    for share in SHARES:
        parts = [
            split._replace(
                train=_growing(work.material, split.train, share, split.seed),
                validation=_growing(work.material, split.validation, share, split.seed),
            )
            for split in work.divided
        ]
        # As many steps for few lines as for many; else the judge of few would be one that was stopped too soon.
        longer = refitted(work.material, parts, work.search, change=partial(_longer, share))
        lines = float(np.mean([len(part.train) + len(part.validation) for part in parts]))
        points.append((share, lines, *work.figures.both(predictions(longer), work.test)))
    return points


def _longer(share: float, options: AdemOptions) -> AdemOptions:
    """Return options with more epochs, so that a share of the lines makes as many steps."""
    return replace(options, epochs=round(options.epochs / share))


def _growing(material: Material, rows: Rows, share: float, seed: int) -> Rows:
    """Return a share of the contexts of `rows`; smaller shares are inside larger ones."""
    contexts = material.contexts[rows]
    order = Sampling(0, seed).generator((), "paper, growing shares").permutation(np.unique(contexts))
    return rows[np.isin(contexts, order[: max(1, round(share * len(order)))])]


def settings_table(name: str, of: Search) -> str:
    """Return what was tried over one encoder, best first."""
    chosen, means = Counter(of.chosen), of.validation.mean(axis=1)
    rows = []
    for place in np.argsort(-np.nan_to_num(means[:, 0], nan=-np.inf), kind="stable"):
        state, options = of.settings[place]
        spread = of.validation[place, :, 0].std()
        cells = state or DASH, options.components, options.normalise, options.oversample or "no"
        figures = float(means[place, 0]), float(spread), float(means[place, 1])
        rows.append([*cells, *figures, chosen[of.settings[place]]])
    header = ["state", "n", "length", "over-sampled", "validation Pearson", "sd over splits", "Spearman", "chosen by"]
    return f"**{name}**\n\n" + table(header, rows)


def excerpts(judge: Judge) -> list[tuple[Example, float, float]]:
    """Return replies of the bundled ConTurE sample with rating and score: two rated low, two between, two high.

    Only ConTurE is quoted, because its licence (CC BY 4.0) allows it. The judge reads context and response alone.
    """
    short = [one for one in read("@conture") if is_short(one)]
    ratings = normalised_ratings(short)
    rng = Sampling(0, 0).generator((), "paper, lines quoted")
    bands = ((1, 2), (2.5, 3.5), (4, 5))
    drawn = [
        place
        for low, high in bands
        for place in rng.choice(np.flatnonzero((ratings >= low) & (ratings <= high)), 2, replace=False).tolist()
    ]
    chosen = [short[place] for place in drawn]
    scores = judge.fit.predict(encode(chosen, judge.encoding.encoder, ("context",)).means)
    return list(zip(chosen, ratings[drawn].tolist(), scores.tolist(), strict=True))


def is_short(example: Example) -> bool:
    """Return whether a response and the turn before it fit a line of a table."""
    turns = (example.context[-1], example.response) if example.context else ()
    return bool(turns) and max(len(turn.split()) for turn in turns) <= _LONGEST


# figures


def scatter_figure(material: Material, scores: Mapping[str, FloatArray], test: Rows) -> tuple[Figure, int]:
    """Return scores against ratings with noise, a panel a scorer, and how many points each panel has."""
    rng = np.random.default_rng(0)
    shown = rng.permutation(test)[:_SHOWN]
    noisy = material.ratings[shown] + rng.normal(0, _JITTER, len(shown))
    figure, axes = panels(len(scores), sharex=True)
    for panel, (name, values) in zip(axes, scores.items(), strict=True):
        panel.plot(noisy, values[shown], linestyle="", marker=".", markersize=2.5, alpha=0.5)
        panel.set_title(name, fontsize="medium")
        panel.set_xlabel("people")
    axes[0].set_ylabel("score")
    return figure, len(shown)


def systems_figure(means: Mapping[str, tuple[FloatArray, FloatArray]]) -> Figure:
    """Return the mean score of each system, scaled to 0 to 1, against its mean rating, a panel a scorer."""
    figure, axes = panels(len(means), sharex=True, sharey=True)
    for panel, (name, (ratings, scores)) in zip(axes, means.items(), strict=True):
        span = np.ptp(scores) if len(scores) else 0.0
        if span > 0:
            panel.plot(ratings, (scores - scores.min()) / span, linestyle="", marker="o", markersize=4)
        panel.set_title(name, fontsize="medium")
        panel.set_xlabel("people")
    axes[0].set_ylabel("mean score, scaled")
    return figure


def labels_figure(errors: FloatArray, points: Sequence[tuple[float, float, Estimate, Estimate]]) -> Figure:
    """Return the validation error over epochs, and correlations over shares of the labels."""
    figure, (left, right) = panels(2)
    left.plot(range(len(errors)), errors)
    left.set_xlabel("epoch")
    left.set_ylabel("validation error")
    shares = [share for share, *_ in points]
    for name, estimates in (("Spearman", [one[2] for one in points]), ("Pearson", [one[3] for one in points])):
        right.plot(shares, [one.value for one in estimates], marker=".", label=name)
        right.fill_between(shares, [one.low for one in estimates], [one.high for one in estimates], alpha=0.15)
    right.axhline(0, color="grey", linewidth=0.5)
    right.set_xlabel("share of the labels")
    right.set_ylabel("correlation, test")
    right.legend(fontsize="small")
    return figure


def make(run: Run) -> Page:
    """Return the page."""
    material = collect(run.examples(*SETS), ("context", "reference"))
    encodings = encode_all(material.examples, () if run.small else run.encoders, ("context", "reference"))
    divided = splits(material, SEEDS_SMALL if run.small else SEEDS)
    run.say(f"encoded {len(material.ratings):,} lines")
    searches = {name: search(material, of_encoder, divided) for name, of_encoder in encodings.items()}
    main = next(iter(searches))
    run.say("chose settings")
    scored, missing = closed_form(material, len(divided))
    scored[SET_MEAN] = Scored(np.array([set_means(material, split.train) for split in divided]))
    judges = judges_of(material, encodings, divided, searches)
    scored |= {name: scored_by(material, of_name) for name, of_name in judges.items()}
    run.say("fitted judges")
    whole = appearances([split.test for split in divided])
    work = Experiment(Figures.of(material), divided, searches[main], whole.where(~material.copies))
    kinds = {name: of[0].encoder.parts.config["kind"] for name, of in encodings.items()}
    aliases = {f"{name}, untrained": f"{kind}, untrained" for name, kind in kinds.items()}
    aliases |= {f"adem over {name}": f"adem over {kind}" for name, kind in kinds.items()}
    systems, count, means = table3(scored, work)
    behind_table, lead = behind(scored, work, whole)
    run.say("compared scorers")
    points = labels_curve(work)
    test = divided[0].test[~material.copies[divided[0].test]]
    scatter, shown = scatter_figure(
        material, {name: scored[name].scores[0] for name in ("bleu-2", "rouge-l", "adem")}, test
    )
    train, validation = np.mean([[len(split.train), len(split.validation)] for split in divided], axis=0)
    tested = len(work.test.rows) / len(divided)
    speeds = [(name, one.speed) for name, one in scored.items() if one.speed > 0]
    values = {
        "data": data_table(material),
        "encoders": encoder_table(encodings),
        "agreement": table2(scored, work, aliases),
        "behind": behind_table,
        "missing": missing,
        "systems": systems,
        "unseen": table4(work),
        "unseen_published": table(
            ["left out", "all test S", "P", "its test lines S", "P"],
            [[one.name, *one.full, *(one.removed or (NAN, NAN))] for one in LOWE_UNSEEN],
        ),
        "points": table(
            ["labels", "lines", "test Spearman [low, high]", "p", "test Pearson [low, high]", "p"],
            [[f"{share:.0%}", f"{lines:,.0f}", *with_p(s), *with_p(p)] for share, lines, s, p in points],
        ),
        "settings": "\n".join(settings_table(name, of) for name, of in searches.items()),
        "excerpts": quoted_table(excerpts(judges["c-adem"][0]), "c-adem"),
        "speed": table(
            ["scorer", "lines a second", "seconds for all"],
            [[name, f"{speed:,.0f}", f"{len(material.ratings) / speed:,.2f}"] for name, speed in speeds],
        ),
        "lines": f"{train:,.0f} to train, {validation:,.0f} to validate, {tested:,.0f} to test",
        "seeds": len(divided),
        "fit": QUICK,
        "main": main,
        "n": f"{len(work.test.rows):,}",
        "lead": lead,
        "set_mean": SET_MEAN,
        "count": count,
        "fewest": FEWEST_LINES,
        "shown": shown,
    }
    errors = np.mean([judge.fit.validation_errors for judge in work.search.judges], axis=0)
    figures = {
        "scores": scatter,
        "systems": systems_figure({name: means[name] for name in ("adem", "bleu-2", "bleu-4", "rouge-l")}),
        "labels": labels_figure(errors, points),
    }
    return Page(values, figures, digest_of(material.examples))


if __name__ == "__main__":
    run_script("lowe2017", "Ask the questions of Lowe et al. 2017 (ADEM) of other rated dialogues.", make, "encoder")
