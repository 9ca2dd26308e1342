"""Deriu and Cieliebak 2019, Towards a Metric for Automated Conversational Dialogue System Evaluation (AutoJudge).

Tables 1 and 3; table 2, re-ranking, and the returns of reinforcement where there are responders. Shapes: N lines, F
folds.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rejoinder.data.folders import read_folder
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.improve.diversity import distinct
from rejoinder.improve.reinforcing import practice_of, reinforce
from rejoinder.judges.adem.optimizer import AdemOptions
from rejoinder.judges.train import train_judge
from rejoinder.report.written import DASH, number, percent
from rejoinder.responder import Responder, answer, request
from rejoinder.scorer import FloatArray, Scorer, run
from rejoinder.scoring.catalog import DEFAULT, load_scorer
from rejoinder.stats.correlation import spearman
from rejoinder.stats.permutation import cluster_means
from rejoinder.stats.resamples import IntArray, Sampling
from rejoinder.stats.splits import fold_groups
from rejoinder.text import tokenizer
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
    encoder_table,
    leave_one_out,
    measured,
    quoted_table,
    run_script,
    split_by_name,
    table,
)
from research.fits import (
    QUICK,
    QUICK_AUTOJUDGE,
    RESAMPLES,
    Appearances,
    Figures,
    Split,
    appearances,
    fit,
    mean_by,
    set_means,
)
from research.liu2016 import TRAINED_ON, held_out_contexts, load_responders, small_corpus, small_responders
from research.lowe2017 import SET_MEAN, is_short
from research.published import DERIU, DERIU_RERANKED, DERIU_RETURNS, DERIU_SYSTEMS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Half of the sets for judges that choose, the other half for judges that measure: they share no conversation.
CHOOSING = (
    *("deriu_dailydialog", "deriu_empathetic", "engage_dailydialog", "grade_dailydialog", "grade_empathetic"),
    *("gupta_dailydialog", "zhao_dailydialog"),
)
MEASURING = ("conture_turn", "deriu_convai2", "fed_turn", "holistic_context", "usr_personachat", "zhao_personachat")
SETS = (
    *("deriu_*", "gupta_*", "usr_personachat", "grade_*", "zhao_*", "fed_turn", "conture_turn"),
    *("engage_dailydialog", "holistic_context"),
)
FOLDS, FEWEST_LINES, FEWEST_SYSTEMS = 10, 50, 3
AUTOJUDGE, WITH_COMPONENTS, CHANCE = "autojudge", "c-adem", "chance"
CONTEXTS, TURNS = 100, 10  # of the dialogues of systems with themselves, as in the paper
UPDATES, EPISODES = 40, 32
_FEWEST_TURNS, _MOST_TURNS = 5, 12
NAN = float("nan")


class Fold(NamedTuple):
    """A fold: what is held out, and the split that holds it out."""

    name: str
    split: Split


# tables 1 and 3


def conversation_folds(material: Material) -> list[Fold]:
    """Return ten folds of conversations; the fold after the one that is held out decides when to stop."""
    rows = material.originals
    fold = fold_groups(material.contexts[rows], FOLDS, np.random.default_rng(0))
    folds = []
    for held_out in range(FOLDS):
        validation = (held_out + 1) % FOLDS
        rest = rows[(fold != held_out) & (fold != validation)]
        split = Split(0, rest, rows[fold == validation], rows[fold == held_out])
        folds.append(Fold(str(held_out + 1), split))
    return folds


def system_folds(material: Material) -> list[Fold]:
    """Return a fold for each system with 50 lines or more; a tenth of the other contexts decides when to stop.

    One name is one system, in whatever data set it is. None if there are fewer than three such systems.
    """
    rows, folds = material.originals, []
    for system, rest, left in leave_one_out(material.systems[rows]):
        if len(left) >= FEWEST_LINES:
            fold = fold_groups(material.contexts[rows[rest]], FOLDS, np.random.default_rng(0))
            folds.append(Fold(system, Split(0, rows[rest[fold > 0]], rows[rest[fold == 0]], rows[left])))
    return folds if len(folds) >= FEWEST_SYSTEMS else []


def judges_of(encodings: Mapping[str, Sequence[Encoding]]) -> Iterator[tuple[str, Encoding, AdemOptions]]:
    """Yield AutoJudge over every encoder, then the same term with components and penalty, over the first."""
    main = next(iter(encodings))
    for name, of_encoder in encodings.items():
        yield AUTOJUDGE if name == main else f"{AUTOJUDGE} over {name}", of_encoder[0], QUICK_AUTOJUDGE
    yield WITH_COMPONENTS, encodings[main][0], QUICK


def fold_scores(
    material: Material, encodings: Mapping[str, Sequence[Encoding]], folds: Sequence[Fold]
) -> dict[str, FloatArray]:
    """Return [F, N] the predictions of each judge if the lines of a fold are held out."""
    scores = {SET_MEAN: np.array([set_means(material, fold.split.train) for fold in folds])}
    for name, encoding, options in judges_of(encodings):
        fitted = (fit(material, encoding, fold.split, "autojudge", options) for fold in folds)
        scores[name] = np.array([judge.predict() for judge in fitted])
    return scores


def table1(name: str, figures: Figures, folds: Sequence[Fold], scores: Mapping[str, FloatArray]) -> list[list[str]]:
    """Return the rows of table 1 for one way of splitting."""
    where, rows = appearances([fold.split.test for fold in folds]), []
    for judge, values in scores.items():
        ranks, linear = figures.both(values, where)
        error, within = figures.error(values, where), figures.within("pearson", values, where)
        printed = [number(value, 3) for value in (DERIU[name] if judge == AUTOJUDGE else (NAN,) * 3)]
        ours = [measured(one) for one in (linear, ranks, error)]
        pairs = [cell for pair in zip(ours, printed, strict=True) for cell in pair]
        rows.append([name, judge, f"{linear.n:,}", *pairs, measured(within)])
    return rows


def by_fold(figures: Figures, folds: Sequence[Fold], scores: FloatArray) -> dict[str, tuple[int, Estimate, Estimate]]:
    """Return lines, Spearman and Pearson of AutoJudge by fold."""
    rows = {}
    for place, fold in enumerate(folds):
        test = fold.split.test
        rows[fold.name] = len(test), *figures.both(scores, Appearances(test, np.full(len(test), place)))
    return rows


def folds_figure(ways: Mapping[str, Mapping[str, tuple[int, Estimate, Estimate]]]) -> Figure:
    """Return the correlation on each fold with its interval, a panel a way of splitting."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(ways), 1 + 0.22 * max(map(len, ways.values()))), layout="constrained")
    for panel, (name, folds) in zip(figure.subplots(1, len(ways), squeeze=False)[0], ways.items(), strict=True):
        for place, (_, _, one) in enumerate(folds.values()):
            panel.plot([one.low, one.high], [place, place], color="C0", linewidth=1)
            panel.plot([one.value], [place], color="C0", marker="o", markersize=4)
        panel.axvline(0, color="grey", linewidth=0.5)
        panel.set_yticks(range(len(folds)), list(folds), fontsize="small")
        panel.invert_yaxis()
        panel.set_title(f"{name} held out", fontsize="medium")
        panel.set_xlabel("Pearson")
    return figure


def dialogue(material: Material, scores: FloatArray) -> list[tuple[Example, float, float]]:
    """Return the rated turns of one dialogue of ConTurE drawn at random, with rating and score; none without ConTurE.

    Only ConTurE is quoted, because its licence (CC BY 4.0) allows it. The `scores` [N] are those of a judge that was
    not fitted on the line's dialogue.
    """
    rows: dict[str, list[int]] = {}
    for row, example in enumerate(material.examples):
        if example.dataset == "conture_turn" and "dialogue_id" in example.extra:
            rows.setdefault(str(example.extra["dialogue_id"]), []).append(row)
    whole = [
        own
        for own in rows.values()
        if _FEWEST_TURNS <= len(own) <= _MOST_TURNS and all(is_short(material.examples[row]) for row in own)
    ]
    if not whole:
        return []
    drawn = whole[Sampling(0, 0).generator((), "paper, dialogue quoted").integers(len(whole))]
    drawn.sort(key=lambda row: len(material.examples[row].context))
    return [(material.examples[row], float(material.ratings[row]), float(scores[row])) for row in drawn]


# table 2: re-ranking


class Talker:
    """Systems that talk; the reply of each to a context is remembered, since several choices ask for the same one."""

    def __init__(self, systems: Mapping[str, Responder], seed: int) -> None:
        self.systems, self.seed = systems, seed
        self.replies: dict[tuple[str, tuple[str, ...]], str] = {}

    def reply(self, name: str, contexts: Sequence[tuple[str, ...]]) -> list[str]:
        """Return the replies of a system; "" if it has none."""
        new = [context for context in dict.fromkeys(contexts) if (name, context) not in self.replies]
        answers = answer(self.systems[name], (request(context, self.seed) for context in new))
        for context, one in zip(new, answers, strict=True):
            self.replies[name, context] = one.replies[0].text if one.replies else ""
        return [self.replies[name, context] for context in contexts]

    def talk(
        self, starts: Sequence[tuple[str, ...]], turns: int, names: Sequence[str], scorer: Scorer | None
    ) -> list[Example]:
        """Return the turns that are added to each start: at each the reply of one of the systems, chosen by `scorer`.

        Without a scorer the choice is random. The starts are the same for everybody.
        """
        contexts, lines = list(starts), []
        for _ in range(turns):
            replies = {name: self.reply(name, contexts) for name in names}
            candidates = [
                Example(context, replies[name][place], system=name, extra={"start": place})
                for place, context in enumerate(contexts)
                for name in names
            ]
            scores = _at_random(candidates) if scorer is None else run(scorer, candidates).values
            scores = np.nan_to_num(scores, nan=-np.inf).reshape(len(contexts), len(names))
            chosen = [candidates[place * len(names) + best] for place, best in enumerate(scores.argmax(axis=1))]
            lines += chosen
            contexts = [(*one.context, one.response) for one in chosen]
        return lines


def _at_random(examples: Sequence[Example]) -> FloatArray:
    """Return a number for each reply that follows from context and reply alone, and tells nothing of either."""
    texts = ("\n".join((*one.context, one.response)).encode() for one in examples)
    return np.array([int.from_bytes(hashlib.sha256(text).digest()[:6]) / 2**48 for text in texts])


def judges_for_choosing(
    run_: Run, examples: Sequence[Example], encodings: Mapping[str, Sequence[Encoding]]
) -> tuple[dict[str, Scorer], dict[str, Scorer], list[list[Any]]]:
    """Return the judges that choose, the judges that measure, fitted on other sets, and a row of a table for each."""
    sets = split_by_name([replace(one, references=()) for one in examples])
    sides = (
        {"chooses": CHOOSING, "measures": MEASURING}
        if not run_.small
        else {"chooses": ("first",), "measures": ("second",)}
    )
    lines = {side: [one for name in names for one in sets.get(name, ())] for side, names in sides.items()}
    encoders = [of_encoder[0].encoder for of_encoder in encodings.values()]
    judges: dict[str, dict[str, Scorer]] = {side: {} for side in sides}
    for side, encoder in zip(sides, (encoders[0], encoders[-1]), strict=True):
        judges[side][AUTOJUDGE] = train_judge(lines[side], AUTOJUDGE, encoder, QUICK_AUTOJUDGE, seed=run_.seed).judge
        judges[side]["features"] = train_judge(lines[side], DEFAULT, seed=run_.seed).judge
    unseen = {"chooses": lines["measures"], "measures": lines["chooses"]}
    rows = [
        [name, side, len(sides[side]), _agreement(judge, unseen[side])]
        for side, by_name in judges.items()
        for name, judge in by_name.items()
    ]
    bundled = load_scorer(DEFAULT)
    rows.append([DEFAULT, "chooses", len(getattr(bundled, "trained_on", ())), NAN])
    return {**judges["chooses"], DEFAULT: bundled}, judges["measures"], rows


def _agreement(judge: Scorer, lines: Sequence[Example]) -> float:
    """Return the mean over data sets of Spearman's correlation with ratings."""
    values = []
    for own in split_by_name([one for one in lines if one.context and one.rating() is not None]).values():
        scores, ratings = run(judge, own).values, np.array([one.rating() for one in own], float)
        known = np.isfinite(scores)
        values.append(spearman(scores[known], ratings[known]).value)
    return float(np.nanmean(values))


def rerank(
    run_: Run,
    starts: Sequence[tuple[str, ...]],
    systems: Mapping[str, Responder],
    choosing: Mapping[str, Scorer],
    measuring: Mapping[str, Scorer],
    turns: int,
) -> dict[str, str]:
    """Return table 2, what needs no judge, and whose replies were chosen."""
    talker, singles = Talker(systems, run_.seed), list(systems)
    lines = {name: talker.talk(starts, turns, [name], None) for name in singles}
    for name, scorer in {**choosing, CHANCE: None}.items():
        lines[f"chosen by {name}"] = talker.talk(starts, turns, singles, scorer)
        run_.say(f"{name} chose")
    dialogues = np.array([one.extra["start"] for one in lines[singles[0]]])
    scores = {by: {name: run(judge, own).values for name, own in lines.items()} for by, judge in measuring.items()}
    best = {by: singles[int(np.argmax([np.nanmean(of[name]) for name in singles]))] for by, of in scores.items()}
    chance, rows, plain, won = f"chosen by {CHANCE}", [], [], []
    for name, own in lines.items():
        cells = []
        for by, of in scores.items():
            cells.append(measured(mean_by(of[name], dialogues, run_.seed), 2))
            for other in (best[by], chance):
                is_compared = name not in singles and other != name
                cells.append(_gain(of[name], of[other], dialogues, run_.seed) if is_compared else DASH)
        published = DERIU_RERANKED if name == f"chosen by {AUTOJUDGE}" else DERIU_SYSTEMS.get(name, NAN)
        rows.append([name, *cells, number(published)])
        tokens = [tokenizer("words-1")(one.response) for one in own]
        again = percent(float(np.mean([one.response in one.context for one in own])))
        plain.append([name, again, distinct(tokens, 2), number(float(np.mean([*map(len, tokens)])), 1)])
        if name not in singles:
            counts = Counter(one.system for one in own)
            won.append([name, f"{len(own):,}", *(percent(counts[system] / len(own)) for system in singles)])
    header = [f"{what} ({by})" for by in scores for what in ("mean", "over the best single", "over chance")]
    first = next(iter(choosing))
    quoted = [one.response for one in lines[f"chosen by {first}"] if one.extra["start"] == 0]
    return {
        "table2": table(["system", *header, "people, published"], rows),
        "best": ", ".join(f"by {by} {name}" for by, name in best.items()),
        "plain": table(["system", "said before", "distinct-2", "length"], plain),
        "won": table(["choice", "turns", *singles], won),
        "first_dialogue": " / ".join([*starts[0][-1:], *quoted]),
    }


def _gain(first: FloatArray, second: FloatArray, dialogues: IntArray, seed: int) -> str:
    """Return how much higher the first scores are, with an interval over the contexts that dialogues began with."""
    size = dialogues.max() + 1
    means = []
    for values in (first, second):
        known = np.isfinite(values)
        with np.errstate(invalid="ignore"):
            totals = np.bincount(dialogues[known], values[known], size)
            means.append(totals / np.bincount(dialogues[known], minlength=size))
    rng = Sampling(RESAMPLES, seed).generator((), "paper")
    gains = cluster_means((means[0] - means[1])[None], np.arange(size), np.zeros(1), RESAMPLES, rng)
    return measured(gains[0], 2, signed=True)


# returns of reinforcement


def returns(run_: Run, starts: Sequence[tuple[str, ...]], policy: Path, judge: Scorer) -> str:
    """Return how the reward by AutoJudge changes while a policy is reinforced, on the scale of the paper."""
    small = run_.small
    practice = practice_of(
        updates=2 if small else UPDATES, episodes=4 if small else EPISODES, group=2 if small else 8, seed=run_.seed
    )
    with tempfile.TemporaryDirectory() as folder:
        rows = reinforce(starts, policy, Path(folder) / "policy", judge, practice=practice, bounds=(1.0, 5.0)).rows
    table_rows = []
    for place in sorted({0, len(rows) // 4, len(rows) // 2, 3 * len(rows) // 4, len(rows) - 1}):
        row = rows[place]
        rating = 1 + 4 * row["return"] / practice.turns
        kl, length = number(row["kl"], 1), number(row["length"], 1)
        table_rows.append([place + 1, number(rating), number(TURNS * rating), kl, length, percent(row["degenerate"])])
    for when, value in zip(("published, start", "published, after 80 episodes"), DERIU_RETURNS, strict=True):
        table_rows.append([when, number(value / TURNS), number(value), DASH, DASH, DASH])
    header = ["update", "mean rating", f"return of {TURNS} replies", "KL, nats a reply", "length", "degenerate"]
    return table(header, table_rows)


def talking(run_: Run, examples: Sequence[Example], encodings: Mapping[str, Sequence[Encoding]]) -> dict[str, Any]:
    """Return the values of table 2 and of reinforcement; nothing without responders."""
    if not run_.responders and not run_.small:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        if run_.small:
            files, places = small_corpus(Path(folder)), run_.responders or small_responders(Path(folder))
        else:
            files, places = run_.files(*TRAINED_ON, kind=CORPORA), run_.responders
        share = 0.1 if run_.small else 0.01
        systems = {name: one for name, (one, _) in load_responders(places, 0.0 if run_.small else share).items()}
        if len(systems) < 2:
            raise UsageError("re-ranking needs two responders. Give --responder NAME=FOLDER twice")
        contexts = list(dict.fromkeys(one.context for one in held_out_contexts(files, run_.seed, share).examples))
        rng = Sampling(0, run_.seed).generator((), "paper, lines attacked")
        count = min(len(contexts), 10 if run_.small else CONTEXTS)
        starts = [contexts[place] for place in np.sort(rng.choice(len(contexts), count, replace=False))]
        choosing, measuring, rows = judges_for_choosing(run_, examples, encodings)
        header = ["judge", "does", "data sets", "Spearman on the other side's"]
        values: dict[str, Any] = {"judges": table(header, rows), "starts": len(starts), "turns": TURNS}
        values |= rerank(run_, starts, systems, choosing, measuring, 2 if run_.small else TURNS)
        folders = [Path(text.partition("=")[2]) for text in places]
        policy = next((one for one in folders if one.is_dir() and read_folder(one).config["kind"] == "hred"), None)
        values["returns"] = policy and returns(run_, contexts, policy, choosing[AUTOJUDGE])
    return values


def make(run: Run) -> Page:
    """Return the page. Copies of references are left out: with humans held out a judge would have seen them."""
    examples = run.examples(*SETS)
    material = collect(examples, ("context",))
    encodings = encode_all(material.examples, () if run.small else run.encoders, ("context",))
    run.say(f"encoded {len(material.ratings):,} lines")
    figures, rows, folds_of, ways = Figures.of(material), [], {}, {}
    unseen = np.full(len(material.ratings), np.nan)
    for name, folds in (("conversations", conversation_folds(material)), ("systems", system_folds(material))):
        if not folds:
            continue
        scores = fold_scores(material, encodings, folds)
        rows += table1(name, figures, folds, scores)
        ways[name] = by_fold(figures, folds, scores[AUTOJUDGE])
        cells = [[fold, f"{n:,}", measured(p), measured(s)] for fold, (n, s, p) in ways[name].items()]
        folds_of[name] = table([name, "lines", "Pearson [low, high]", "Spearman [low, high]"], cells)
        if name == "conversations":
            for fold, predicted in zip(folds, scores[AUTOJUDGE], strict=True):
                unseen[fold.split.test] = predicted[fold.split.test]
        run.say(f"held out {name}")
    header = ["held out", "judge", "n", "Pearson [low, high]", "published", "Spearman [low, high]", "published"]
    turns = dialogue(material, unseen)
    values = {
        "data": data_table(material),
        "encoders": encoder_table(encodings),
        "table": table([*header, "MAE [low, high]", "published", "Pearson inside data sets"], rows),
        "systems_held_out": "systems" in ways,
        "folds": "\n".join(folds_of.values()),
        "excerpts": quoted_table(turns, AUTOJUDGE) if turns else "",
        "epochs": QUICK_AUTOJUDGE.epochs,
        "fewest": FEWEST_LINES,
        "talk": talking(run, examples, encodings),
    }
    return Page(values, {"folds": folds_figure(ways)}, digest_of(material.examples))


if __name__ == "__main__":
    run_script(
        "deriu2019", "Ask the questions of Deriu and Cieliebak 2019 (AutoJudge) anew.", make, "encoder responder"
    )
