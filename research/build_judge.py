"""Fit the bundled judge anew, and measure it: on data sets that it never saw, attacked, and how sure it is.

    python -m research.build_judge --data FOLDER [--encoder phrases=FOLDER --encoder student=FOLDER
        --encoder selector=FOLDER --encoder mood=FOLDER] -o OUT

The folders are made by `rejoinder pretrain` with recipes/phrases.toml, student-wide.toml, selector-small.toml and
mood.toml; without any the new judge reads those of the old one. OUT gets the folder `judge`, whose card is the page
judge.md beside it; what judges predict for left-out sets is kept in `OUT/judge.fits`, so that a run can go on. Shapes:
N rated lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rejoinder.analysis.analyses import agreement
from rejoinder.analysis.study import study
from rejoinder.auditing.run import LIMIT, audit
from rejoinder.data.folders import Parts, read_folder
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.judges.augmentation import AugmentedExample, augment, written
from rejoinder.judges.crossval import others
from rejoinder.judges.features.resources import Resources, default_resources
from rejoinder.judges.protocol import Rows
from rejoinder.judges.rated import RatedLines, rated_lines
from rejoinder.judges.regression.learner import AugmentedRows, FeatureLearner, FittedHeads, TrainingLines
from rejoinder.judges.regression.trees import DEFAULT, TreeOptions
from rejoinder.judges.train import fit_judge
from rejoinder.models import load_encoder
from rejoinder.models.mood import from_parts as mood_of
from rejoinder.models.phrases import from_parts as phrases_of
from rejoinder.models.selector import from_parts as selector_of
from rejoinder.models.student import StudentEncoder
from rejoinder.report.results import Results
from rejoinder.report.written import percent
from rejoinder.scorer import FloatArray, Scorer, Scores, Signature
from rejoinder.stats.correlation import CORRELATIONS, mean_correlation, spearman
from rejoinder.stats.resamples import Resamples
from rejoinder.stats.splits import fold_groups
from research.common import RELEVANCE, Page, Run, digest_of, measured, named, run_script, table
from research.domain import domain_tables
from research.relevance import read_reply_sets, relevance, relevance_table
from research.sai2019 import by_attack

# The licence of the repository that each set was released in.
SETS = {
    "dstc7": "O-UDA 1.0",
    "conture_turn": "CC BY 4.0",
    "engage_dailydialog": "MIT (its dialogues: CC BY-NC-SA 4.0)",
    "zhao_dailydialog": "GPL-3.0 and MIT (its dialogues: CC BY-NC-SA 4.0)",
    "zhao_personachat": "GPL-3.0",
    "gupta_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "usr_personachat": "none stated",
    "grade_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "grade_empathetic": "none stated (its dialogues: CC BY-NC 4.0)",
    "deriu_convai2": "none stated",
    "deriu_dailydialog": "none stated (its dialogues: CC BY-NC-SA 4.0)",
    "deriu_empathetic": "none stated (its dialogues: CC BY-NC 4.0)",
    "fed_turn": "none stated",
    "holistic_context": "none stated",
}
# Metrics that need a reference, on the same lines; those over word vectors read the ones in the box.
BESIDE = ("bleu-2", "bleu-4", "rouge-l", "meteor", "chrf", "embedding-average", "embedding-greedy", "embedding-extrema")
ATTACKED = ("conture_turn", "gupta_dailydialog")
TAUGHT, RELEVANT = "dailydialogpp_dev", "dailydialogpp_test"
MOST_CONTEXTS = 10_000  # all of them
RESAMPLES = 1000
AGREEMENT = ((agreement, None),)
FOLDS = 5
NOBODY: Rows = np.zeros(0, np.intp)
SMALL = TreeOptions(trees=5, learning_rate=0.3, min_leaf=5)
MADE_OF = ("phrases", "student", "selector", "mood")
WANTED = f"It stands on four models of `rejoinder pretrain`: {' '.join(f'--encoder {name}=FOLDER' for name in MADE_OF)}"
# The licences of the corpora that the encoder may be trained on.
CORPORA = {
    "self_dialogue": "BSD-3-Clause",
    "topical_chat": "CDLA-Sharing-1.0",
    "ubuntu_irc": "CC BY 4.0",
    "synthetic_persona": "CC BY 4.0",
    "multiwoz": "MIT, Apache-2.0",
    "persuasion": "Apache-2.0",
    "casino": "CC BY 4.0",
    "chitchat": "MIT",
    "taskmaster4": "CC BY 4.0",
    "sgd": "CC BY-SA 4.0",
}
NOT_IN_THE_BOX = ("sgd",)  # see ATTRIBUTION.md on share-alike licences


@dataclass(frozen=True)
class LeftOut:
    """[N] predictions for each line by judges that never saw its data set, the ends of their intervals, and flags.

    `fit` fits a judge without a set again.
    """

    scores: FloatArray
    low: FloatArray
    high: FloatArray
    out_of_domain: NDArray[np.bool_]
    lines: RatedLines
    encoded: TrainingLines
    seed: int

    def fit(self, name: str) -> FittedHeads:
        """Return what is fitted without a set, and without lines that share a conversation with it."""
        rows = others(self.lines, self.lines.sets[name])
        return _fitted(self.lines, self.encoded, rows, self.seed)


def resources_of(encoders: Sequence[str]) -> tuple[Resources, list[str]]:
    """Return what the features are made of, and the names of its corpora; without encoders, what is bundled.

    Raises:
        UsageError: one of `MADE_OF` is missing, or is something else.
    """
    if not encoders:
        return default_resources(), [name for name in CORPORA if name not in NOT_IN_THE_BOX]
    folders = dict(named(text, "--encoder") for text in encoders)
    if missing := [name for name in MADE_OF if name not in folders]:
        raise UsageError(f"--encoder {missing[0]}=FOLDER is missing. {WANTED}")
    student = load_encoder(folders["student"])
    if not isinstance(student, StudentEncoder):
        raise UsageError(f"{folders['student']} is no student. Train one by recipes/student-wide.toml")
    parts = {name: read_folder(folders[name]) for name in MADE_OF}
    # The student's folder names what it was taught, which may be vectors; the others read the same corpora.
    corpora = dict.fromkeys(name for one in MADE_OF if one != "student" for name in _corpora(parts[one]))
    selector, mood = selector_of(parts["selector"]), mood_of(parts["mood"])
    return Resources(phrases_of(parts["phrases"]), student, selector, mood), list(corpora)


def _corpora(parts: Parts) -> list[str]:
    """Return the names of the corpora that a model was made of."""
    return [str(corpus["name"]).removesuffix(".jsonl.gz") for corpus in parts.config.get("corpora", ())]


def taught(run: Run, examples: Sequence[Example], every: int = 1) -> list[AugmentedExample]:
    """Return replies that people wrote to fit or not to fit contexts of no example; of each `every`-th context."""
    if run.small or not run.has(TAUGHT, RELEVANCE):
        run.say(f"no {RELEVANCE}/{TAUGHT}.jsonl.gz: judges learn from no reply written not to fit")
        return []
    return written(read_reply_sets(*run.files(TAUGHT, kind=RELEVANCE)), examples, every)


# what a judge may see


def blind(lines: TrainingLines) -> TrainingLines:
    """Return the lines without their references."""
    return replace(lines, reference=np.zeros_like(lines.reference))


def with_references(lines: TrainingLines) -> TrainingLines:
    """Return the lines so that those without a reference are not read."""
    return replace(lines, context=np.zeros_like(lines.context))


def undefended(lines: TrainingLines) -> TrainingLines:
    """Return the lines without augmented replies."""
    return replace(lines, augmented=AugmentedRows._make(column[:0] for column in lines.augmented))


# judges that never saw a set


def left_out(run: Run, lines: RatedLines, encoded: TrainingLines) -> LeftOut:
    """Return each data set by the judge that was fitted on all others; read from `OUT/judge.fits` if it is there."""
    count = len(lines.ratings)
    columns = [np.full(count, np.nan), np.full(count, np.nan), np.full(count, np.nan), np.zeros(count)]
    folder = run.out / f"{run.name}.fits"
    folder.mkdir(exist_ok=True)
    digest = hashlib.sha256(f"{run.seed} {digest_of(lines.examples)}".encode())
    for array in (encoded.features, encoded.context, encoded.reference, *encoded.augmented):
        digest.update(np.ascontiguousarray(array).tobytes())
    for name, own in lines.sets.items():
        file, rest = folder / f"{digest.hexdigest()[:16]}-{name}.npz", others(lines, own)
        if not file.exists():
            predicted = np.full((4, len(own)), np.nan)
            if all((encoded.context | encoded.reference)[rows].any() for rows in (own, rest)):
                fitted = _fitted(lines, encoded, rest, run.seed)
                for part, rows in fitted.shared(encoded, own):
                    features = encoded.features[np.ix_(rows, part.columns)]
                    answers = *part.calibration.answers(part.head.predict(features)), part.out_of_domain(features)
                    predicted[:, np.searchsorted(own, rows)] = answers
            np.savez(file, predicted=predicted)
            run.say(f"fitted without {name}")
        for column, values in zip(columns, np.load(file)["predicted"], strict=True):
            column[own] = values
    scores, low, high, outside = columns
    return LeftOut(scores, low, high, outside == 1, lines, encoded, run.seed)


def seen(run: Run, lines: RatedLines, encoded: TrainingLines) -> FloatArray:
    """Return [N] predictions by judges that saw other conversations of the same set: five folds of conversations."""
    groups = lines.ties.clusters().numbers
    fold = fold_groups(groups, FOLDS, np.random.default_rng(run.seed))
    scores = np.full(len(fold), np.nan)
    for place in range(FOLDS):
        rows = np.flatnonzero(fold == place)
        scores[rows] = _fitted(lines, encoded, np.flatnonzero(fold != place), run.seed).predict(encoded, rows)
    return scores


def _fitted(lines: RatedLines, encoded: TrainingLines, rows: Rows, seed: int) -> FittedHeads:
    """Return a judge fitted on some rows."""
    learner = cast("FeatureLearner", lines.learner)
    return learner.fit(encoded, lines.ratings, rows, NOBODY, np.random.default_rng(seed))


# figures


def mean_over_sets(lines: RatedLines, scores: FloatArray, seed: int) -> Estimate:
    """Return the mean over data sets of Spearman's correlation inside each; copies of a reference are left out."""
    kept = np.isfinite(scores) & [not example.copies_reference for example in lines.examples]
    sets = np.unique([example.dataset or "" for example in lines.examples], return_inverse=True)[1][kept]
    contexts = np.unique(lines.ties.contexts[kept], return_inverse=True)[1]
    resamples = Resamples.draw(contexts, RESAMPLES, np.random.default_rng(seed))
    return mean_correlation("spearman", scores[kept], lines.ratings[kept], sets.astype(np.int64), resamples)


def within_systems(lines: RatedLines, scores: FloatArray, rows: Rows, fewest: int = 30) -> float:
    """Return the mean Spearman over systems of so many lines, people aside; NaN if there is no such system."""
    systems, values = np.array([lines.examples[row].system or "" for row in rows.tolist()], np.str_), []
    for system in np.unique(systems[systems != ""]):
        own = rows[(systems == system) & np.isfinite(scores[rows])]
        if len(own) >= fewest and not any(word in system.lower() for word in ("human", "ground")):
            values.append(spearman(scores[own], lines.ratings[own]).value)
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def agreements(lines: RatedLines, scores: FloatArray, seed: int) -> dict[str, dict[str, Estimate]]:
    """Return the correlations with ratings of the scores that are there, by data set, then by statistic."""
    places = np.flatnonzero(np.isfinite(scores)).tolist()
    own = Scores(scores[places], {}, Signature({"scorer": "judge"}))
    examples = [lines.examples[place] for place in places]
    results = study(examples, {"judge": own}, seed=seed, drop_copies=True, analyses=AGREEMENT)
    return {name: figures for (name, _), figures in turn_level(results).items() if name in lines.sets}


def turn_level(results: Results) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Return the turn-level correlations of a study by data set and scorer, then by statistic."""
    estimates: dict[tuple[str, str], dict[str, Estimate]] = {}
    for row in results.pick(level="turn", statistic=CORRELATIONS, group=""):
        estimates.setdefault((row.dataset, row.scorer), {})[row.statistic] = row
    return estimates


def attacked(judges: LeftOut, name: str, families: Sequence[str] | None = None, limit: int = LIMIT) -> Results:
    """Return what the attacks do to the judge that never saw a set, on its replies without references."""
    judge = judges.fit(name).judge({}, (1.0, 5.0))
    rows = judges.lines.sets[name].tolist()
    examples = [replace(judges.lines.examples[row], references=()) for row in rows]
    return audit(examples, judge, families=families, limit=limit, seed=judges.seed)


def relevance_of(run: Run, judge: Scorer, limit: int = MOST_CONTEXTS) -> str:
    """Return how well a judge distinguishes replies that fit from others; an empty table without the data."""
    if run.small or not run.has(RELEVANT, RELEVANCE):
        return relevance_table([])
    sets = read_reply_sets(*run.files(RELEVANT, kind=RELEVANCE))
    return relevance_table(relevance(sets, judge, limit=limit, seed=run.seed))


# tables


def unseen_table(judges: LeftOut, seed: int) -> tuple[str, dict[str, float]]:
    """Return figures on sets that no judge had seen, without references, and their means."""
    lines, scores, rows, columns = judges.lines, judges.scores, [], []
    for name, figures in agreements(lines, scores, seed).items():
        own = lines.sets[name][np.isfinite(scores[lines.sets[name]])]
        ratings = lines.ratings[own]
        held = ((judges.low[own] <= ratings) & (ratings <= judges.high[own])).mean()
        spread, outside = scores[own].std() / ratings.std(), judges.out_of_domain[own].mean()
        first, second = figures["spearman"], figures["pearson"]
        columns.append([second.value, within_systems(lines, scores, own), held, spread, outside])
        cells = columns[-1][1], *map(percent, columns[-1][2:])
        rows.append([name, str(first.n), measured(first), measured(second), *cells])
    means = np.nanmean(columns, axis=0).tolist()
    mean = mean_over_sets(lines, scores, seed)
    rows.append(["mean of the sets", str(mean.n), measured(mean), means[0], means[1], *map(percent, means[2:])])
    header = [
        "set, unseen",
        "n",
        "Spearman",
        "Pearson",
        "within systems",
        "ratings in the interval",
        "spread",
        "unlike",
    ]
    return table(header, rows), {"held": means[2], "spread": means[3], "unlike": means[4]}


def references_table(judges: LeftOut, seed: int) -> tuple[str, int, int]:
    """Return the judge with references beside metrics, on how many sets it is ahead of all, and how many there are."""
    places = np.flatnonzero(np.isfinite(judges.scores)).tolist()
    examples = [judges.lines.examples[place] for place in places]
    metrics = turn_level(study(examples, BESIDE, seed=seed, drop_copies=True, resamples=0, analyses=AGREEMENT))
    rows, won = [], 0
    for name, figures in agreements(judges.lines, judges.scores, seed).items():
        beside = [metrics.get((name, one), {}).get("spearman", Estimate()).value for one in BESIDE]
        won += figures["spearman"].value > np.nanmax(beside)
        rows.append([name, str(figures["spearman"].n), measured(figures["spearman"]), *beside])
    return table(["set, unseen", "n", "judge", *BESIDE], rows), int(won), len(rows)


def attacks_table(attacks: Mapping[str, Results]) -> str:
    """Return what every attack did, a column for each data set that the judge had not seen."""
    by_set = {name: by_attack(results) for name, results in attacks.items()}
    rows = []
    for family in dict.fromkeys(family for by in by_set.values() for family in by):
        known = [by[family] for by in by_set.values() if family in by and by[family].share.has_interval]
        if known:
            cells = [measured(by[family].share, 2) if family in by else "–" for by in by_set.values()]
            rows.append([family, known[0].facts["goal"], *cells])
    return table(["attack", "would show", *(f"fooled, {name}" for name in by_set)], rows)


def bullets(licences: Mapping[str, str], names: Sequence[str]) -> str:
    """Return a list of names, each with its licence."""
    return "\n".join(f"- {name}: {licences.get(name, 'made up')}" for name in names)


def make(run: Run) -> Page:
    """Fit the judge, save it, and return its page.

    Raises:
        UsageError: a part is not named, or the licence of a corpus or of a set is not known here.
    """
    resources, corpora = resources_of(run.encoders)
    examples = run.examples(*SETS)
    sets = {str(example.dataset) for example in examples}
    if unknown := [*({*corpora} - {*CORPORA}), *(sets - {*SETS} if not run.small else ())]:
        raise UsageError(f"the licence of {', '.join(sorted(unknown))} is not known. Add it to SETS or CORPORA")
    apart = taught(run, examples)
    trees = SMALL if run.small else DEFAULT
    learner = FeatureLearner(resources, lambda lines: [*augment(lines), *apart], trees=trees)
    lines = rated_lines(examples, learner)
    run.say("read the lines")
    judge = fit_judge(lines, seed=run.seed).judge
    encoded = cast("TrainingLines", lines.encoded)
    plain, weak = left_out(run, lines, blind(encoded)), left_out(run, lines, undefended(blind(encoded)))
    referring = left_out(run, lines, with_references(encoded))
    names, families = (("first",), ["jumbled"]) if run.small else (ATTACKED, None)
    attacks = {name: attacked(plain, name, families) for name in names if name in lines.sets}
    run.say("attacked")
    ways = {
        "as it ships": plain.scores,
        "without attacked replies and DailyDialog++ to learn from": weak.scores,
        "fitted on other conversations of the same sets too": seen(run, lines, blind(encoded)),
    }
    means = {way: mean_over_sets(lines, scores, run.seed) for way, scores in ways.items()}
    unseen, shares = unseen_table(plain, run.seed)
    with_them, won, of = references_table(referring, run.seed)
    counts = judge.training["lines"]
    values: dict[str, Any] = {
        "corpora": bullets(CORPORA, corpora),
        "sets": bullets(SETS, list(judge.training["datasets"])),
        "unseen": unseen,
        "means": table(
            ["no references read", "mean Spearman over sets"], [[way, measured(one)] for way, one in means.items()]
        ),
        "referring": with_them,
        "attacks": attacks_table(attacks),
        "relevance": relevance_of(run, judge),
        "written": f"{len(apart):,}",
        "lines": f"{counts['train'] + counts['validation']:,}",
        "spearman": f"{means['as it ships'].value:.2f}",
        "won": won,
        "of": of,
        **{name: f"{share:.0%}" for name, share in shares.items()},
        **domain_tables(run),
    }
    page = Page(values, {}, digest_of(examples))
    judge.save(run.out / "judge", force=True)
    (run.out / "judge" / "card.md").write_text(page.text(run), encoding="utf-8")
    return page


if __name__ == "__main__":
    run_script("judge", "Fit the bundled judge anew, and measure it.", make, "encoder", module="build_judge")
