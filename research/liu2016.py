"""Liu et al. 2016, How NOT To Evaluate Your Dialogue System: table 2, and our rows beside tables 3 to 5.

Table 2: how near each responder's replies come to the true response, by embedding metrics. The contexts are of
dialogues that the responders never saw: the rule that held dialogues out of their training picks them. Candidates of
retrieval models are responses of the training part, so the true response is not among them unless somebody else said
it too, as in the paper. Shapes: N contexts.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rejoinder.analysis.study import study
from rejoinder.data.folders import read_folder
from rejoinder.data.read import read
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.improve.diversity import distinct
from rejoinder.models import load_responder
from rejoinder.models.decoding import Decoding
from rejoinder.pretraining.corpus import split
from rejoinder.pretraining.pretrain import pretrain
from rejoinder.report.markdown import escaped
from rejoinder.report.written import number
from rejoinder.responder import Responder, answer, request, signature_of
from rejoinder.scorer import FloatArray, Scorer, run
from rejoinder.scoring.catalog import DEFAULT, load_scorer
from rejoinder.stats.resamples import IntArray, Resamples, percentile_interval
from rejoinder.text import tokenizer
from research.common import CORPORA, Page, Run, digest_of, made_up, measured, named, panels, run_script, table, with_p
from research.fits import RESAMPLES, mean_by
from research.published import LIU_TABLE2, LIU_TABLE3, LIU_TABLE4, LIU_TABLE5

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRAINED_ON = (
    *("self_dialogue", "topical_chat", "ubuntu_irc", "synthetic_persona", "multiwoz"),
    *("persuasion", "casino", "taskmaster4", "sgd"),
)
METRICS = ("embedding-average", "embedding-greedy", "embedding-extrema")
NAMES = {**dict(zip(METRICS, ("average", "greedy", "extrema"), strict=True)), DEFAULT: "judge, 1 to 5"}
HUMAN, LENGTH, ALL = "human", "length", "all corpora"
SHARE, FROM_EACH, FEWEST_DIALOGUES = 0.01, 2, 40  # a corpus of fewer held-out dialogues has no table of its own
KS, OTHERS = (1, 2, 5), 9
RATED = "gupta_dailydialog"
NEAR = 6  # words by which the lengths of reply and reference differ at most, in table 5
_QUOTED = 8


@dataclass(frozen=True)
class Contexts:
    """N held-out contexts with their true responses: [N] number of the dialogue, [N] name of the corpus."""

    examples: Sequence[Example]
    dialogues: IntArray
    corpora: Sequence[str]

    def groups(self) -> dict[str, IntArray]:
        """Return the rows of all, and of each corpus with enough dialogues."""
        names = np.array(self.corpora)
        rows = {name: np.flatnonzero(names == name) for name in dict.fromkeys(self.corpora)}
        large = {name: own for name, own in rows.items() if len(set(self.dialogues[own])) >= FEWEST_DIALOGUES}
        return {ALL: np.arange(len(names)), **large}


class Row(NamedTuple):
    """A responder's row: means by group and measure, distinct-1 and -2, perplexity, Recall@k, replies, signature."""

    name: str
    means: Mapping[str, Mapping[str, Estimate]]
    distinct: tuple[float, float]
    perplexity: float
    recall: Sequence[Estimate]
    replies: Sequence[str | None]
    signature: str


def held_out_contexts(files: Sequence[Path], seed: int, share: float = SHARE) -> Contexts:
    """Return two turns, drawn at random, of every held-out dialogue, each with all turns before it.

    Raises:
        DataError: no dialogue is held out.
    """
    rng, examples, numbers, names = np.random.default_rng(seed), [], [], []
    dialogues = ((file.name.partition(".")[0], dialogue) for file in files for dialogue in split([file], share)[1])
    for place, (name, dialogue) in enumerate(dialogues):
        turns = dialogue.turns
        for cut in sorted(rng.choice(np.arange(1, len(turns)), min(FROM_EACH, len(turns) - 1), replace=False)):
            of = {"dialogue_id": place}
            examples.append(Example(turns[:cut], turns[cut], id=f"{place}:{cut}", dataset=name, extra=of))
            numbers.append(place)
            names.append(name)
    if not examples:
        raise DataError(f"no dialogue of {len(files)} corpora is held out", "Give larger corpora")
    return Contexts(examples, np.array(numbers), names)


def load_responders(places: Sequence[str], share: float = SHARE) -> dict[str, tuple[Responder, float]]:
    """Return the responders, each with the perplexity at the end of its training.

    Raises:
        UsageError: two have one name, or one was trained on dialogues that are to be held out.
    """
    loaded: dict[str, tuple[Responder, float]] = {}
    for text in places:
        name, place = named(text, "--responder")
        if name in loaded or name == HUMAN:
            raise UsageError(f"--responder {text}: the name is taken. Name each responder differently")
        responder, perplexity = load_responder(place, decoding=Decoding()), nan
        if Path(place).is_dir():
            config = read_folder(place).config
            held_out = config["recipe"].get("text", config["recipe"]).get("held_out", 0.0)
            if held_out < share:
                problem = f"{place}: held out {held_out:g} of its dialogues, and {share:g} are used here"
                raise UsageError(f"{problem}. Train it again with held_out = {share:g} or more")
            perplexity = float(config.get("figures", {}).get("perplexity", "nan"))
        loaded[name] = responder, perplexity
    return loaded


# table 2


def table2(contexts: Contexts, responders: Mapping[str, tuple[Responder, float]], run: Run) -> list[Row]:
    """Return the row of each responder, and of people, who are at no distance from themselves."""
    scorers = [load_scorer(name) for name in NAMES]
    rows = []
    for name, (responder, perplexity) in responders.items():
        answers = answer(responder, (request(one.context, run.seed) for one in contexts.examples))
        replies = [one.replies[0].text if one.replies else None for one in answers]
        recall = recall_at(responder, contexts.examples, seed=run.seed) if hasattr(responder, "rank") else []
        means, varied = measure(replies, contexts, scorers, run.seed)
        rows.append(Row(name, means, varied, perplexity, recall, replies, str(signature_of(responder))))
        run.say(f"measured {name}")
    replies = [one.response for one in contexts.examples]
    return [*rows, Row(HUMAN, *measure(replies, contexts, scorers[-1:], run.seed), nan, [], replies, "")]


def measure(
    replies: Sequence[str | None], contexts: Contexts, scorers: Sequence[Scorer], seed: int
) -> tuple[dict[str, dict[str, Estimate]], tuple[float, float]]:
    """Return means of scores and length by group, and distinct-1 and -2. The judge reads the context alone."""
    places = np.array([place for place, reply in enumerate(replies) if reply is not None], dtype=np.intp)
    tokens = [tokenizer("words-1")(reply) for reply in replies if reply is not None]
    values: dict[str, FloatArray] = {}
    for scorer in scorers:
        examples = []
        for place in places:
            one = contexts.examples[place]
            references = () if scorer.card.kind == "judge" else (one.response,)
            examples.append(Example(one.context, str(replies[place]), references))
        values[scorer.card.name] = run_into(run(scorer, examples).values, places, len(replies))
    values[LENGTH] = run_into(np.array([float(len(words)) for words in tokens]), places, len(replies))
    means = {
        group: {name: mean_by(column[rows], contexts.dialogues[rows], seed) for name, column in values.items()}
        for group, rows in contexts.groups().items()
    }
    return means, (distinct(tokens, 1), distinct(tokens, 2))


def run_into(values: FloatArray, places: IntArray, count: int) -> FloatArray:
    """Return [count] the values at their places, NaN elsewhere."""
    column = np.full(count, np.nan)
    column[places] = values
    return column


def recall_at(
    responder: Any, examples: Sequence[Example], ks: Sequence[int] = KS, *, seed: int = 0, others: int = OTHERS
) -> list[Estimate]:
    """Return Recall@k of the true response among `others` from other dialogues, with intervals over dialogues.

    Of responses with equal scores each is as likely to come first. Source: Lowe et al. 2015, section 4.1.

    Raises:
        DataError: there are too few different responses in other dialogues.
    """
    dialogues = np.unique([repr(one.context_key) for one in examples], return_inverse=True)[1]
    rng, scores = np.random.default_rng(seed), []
    for start in range(0, len(examples), 64):
        batch = range(start, min(start + 64, len(examples)))
        lists = [[examples[row].response, *_others(examples, dialogues, row, others, rng)] for row in batch]
        requests = [request(examples[row].context, seed, examples[row].response) for row in batch]
        scores.append(responder.rank(requests, lists))
    table_of_scores = np.concatenate(scores)  # [N, 1 + others], the true response first
    ahead, level = (
        compare(table_of_scores[:, 1:], table_of_scores[:, :1]).sum(axis=1) for compare in (np.greater, np.equal)
    )
    resamples = Resamples.draw(dialogues, RESAMPLES, np.random.default_rng(seed))
    chances = [np.clip((k - ahead) / (level + 1), 0.0, 1.0) for k in ks]
    means = [resamples.means(one, np.zeros_like(dialogues))[0] for one in chances]
    return [percentile_interval(mean, len(np.unique(dialogues)), unit="dialogue") for mean in means]


def _others(
    examples: Sequence[Example], dialogues: IntArray, row: int, count: int, rng: np.random.Generator
) -> list[str]:
    """Return so many different responses of other dialogues that are not that of example `row`."""
    chosen: dict[str, None] = {}
    for place in rng.permutation(len(examples)):
        if dialogues[place] != dialogues[row] and examples[place].response != examples[row].response:
            chosen[examples[place].response] = None
            if len(chosen) == count:
                return list(chosen)
    raise DataError(f"{len(chosen)} different responses in other dialogues, expected {count}", "Give more dialogues")


def means_table(rows: Sequence[Row], group: str) -> str:
    """Return the means of each responder in a group."""
    cells = [
        [
            row.name,
            f"{row.means[group][LENGTH].n:,}",
            *(measured(row.means[group].get(key, Estimate())) for key in NAMES),
        ]
        for row in rows
    ]
    return table(["responder", "n", *NAMES.values()], cells, group)


def models_table(rows: Sequence[Row]) -> str:
    """Return what is known of each responder besides."""
    cells = []
    for row in rows:
        length, recalls = row.means[ALL][LENGTH], [*map(measured, row.recall)] or ["–"] * len(KS)
        answered = f"{length.n:,}"
        cells.append([row.name, answered, number(row.perplexity, 1), *recalls, *row.distinct, measured(length, 1)])
    header = ["responder", "answered", "perplexity", *(f"Recall@{k}" for k in KS), "distinct-1", "distinct-2"]
    return table([*header, "mean length"], cells)


def quoted(contexts: Contexts, rows: Sequence[Row]) -> str:
    """Return contexts, evenly spread, with every reply to them."""
    parts = []
    for place in range(0, len(contexts.examples), max(1, len(contexts.examples) // _QUOTED)):
        before = escaped(" / ".join(contexts.examples[place].context[-2:]))
        replies = [[row.name, "no reply" if row.replies[place] is None else row.replies[place]] for row in rows]
        parts += [f"After: {before}\n", table(["responder", "reply"], replies)]
    return "\n".join(parts)


def means_figure(rows: Sequence[Row]) -> Figure:
    """Return the mean of each responder with its interval, a panel a measure."""
    figure, axes = panels(len(NAMES), sharey=True, size=2.4)
    figure.set_size_inches(2.4 * len(NAMES) + 1, 0.8 + 0.25 * len(rows))
    for panel, (key, name) in zip(axes, NAMES.items(), strict=True):
        for place, row in enumerate(rows):
            mean = row.means[ALL].get(key, Estimate())
            if mean.known:
                panel.plot([mean.low, mean.high], [place, place], color="C0", linewidth=1)
                panel.plot([mean.value], [place], color="C0", marker="o", markersize=4)
        panel.set_yticks(range(len(rows)), [row.name for row in rows], fontsize="small")
        panel.set_title(name, fontsize="medium")
    axes[0].invert_yaxis()
    return figure


# tables 3 to 5


def agreement_table(examples: Sequence[Example], printed: Mapping[str, Sequence[float]], header: str, seed: int) -> str:
    """Return the agreement of metrics with ratings, beside the published figures."""
    results, rows = study(examples, tuple(printed), seed=seed, drop_copies=True), []
    for name, figures in printed.items():
        rows.append([name])
        for statistic in ("spearman", "pearson"):
            estimate = next(iter(results.pick(level="turn", statistic=statistic, group="", scorer=name)), Estimate())
            rows[-1] += with_p(estimate)
        rows[-1] += [number(figure, 3) for figure in figures]
    return table(["metric", "Spearman [low, high]", "p", "Pearson [low, high]", "p", *header.split("|")], rows)


def table5(examples: Sequence[Example]) -> str:
    """Return mean scores of replies whose length is near that of the reference, and of others."""
    kept = [one for one in examples if one.references and not one.copies_reference]
    words = tokenizer("words-2")
    apart = np.array([abs(len(words(one.response)) - len(words(one.references[0]))) for one in kept])
    single = [Example(one.context, one.response, one.references[:1]) for one in kept]
    rows = []
    for name, printed in LIU_TABLE5.items():
        values = np.array([one.rating() for one in kept]) if name == HUMAN else run(load_scorer(name), single).values
        means = [float(np.nanmean(values[own])) if own.any() else nan for own in (apart <= NEAR, apart > NEAR)]
        rows.append([name, *means, *printed])
    header = [f"mean score, {NEAR} words or fewer apart (n = {(apart <= NEAR).sum()})"]
    header += [f"more (n = {(apart > NEAR).sum()})", "published: near", "far", "p"]
    return table(["metric", *header], rows)


def small_corpus(folder: Path) -> list[Path]:
    """Write made-up dialogues."""
    file = folder / "made_up.jsonl.gz"
    with gzip.open(file, "wt", encoding="utf-8") as lines:
        for one in made_up(600)[::3]:
            lines.write(json.dumps({"turns": [*one.context, *one.references, one.response]}) + "\n")
    return [file]


def small_responders(folder: Path) -> list[str]:
    """Make two responders of the made-up dialogues."""
    recipes, files = Path(__file__).parents[1] / "recipes", small_corpus(folder)
    for kind in ("random", "r-tfidf"):
        pretrain(recipes / f"{kind}.toml", files, folder / kind)
    return [f"{kind}={folder / kind}" for kind in ("random", "r-tfidf")]


def make(run: Run) -> Page:
    """Return the page."""
    with tempfile.TemporaryDirectory() as folder:
        if run.small:
            files, share, places = small_corpus(Path(folder)), 0.1, run.responders or small_responders(Path(folder))
        else:
            files, share, places = run.files(*TRAINED_ON, kind=CORPORA), SHARE, run.responders
        contexts = held_out_contexts(files, run.seed, share)
        rows = table2(contexts, load_responders(places, 0.0 if run.small else share), run)
    examples = list(read(*run.files(RATED))) if not run.small else made_up()
    run.say("studies metrics")
    printed = ["responder", *(f"{corpus}: {NAMES[key]}" for corpus in ("Ubuntu", "Twitter") for key in METRICS)]
    values = {
        "tables": "\n".join(means_table(rows, group) for group in contexts.groups()),
        "published": table(printed, [[name, *first, *second] for name, (first, second) in LIU_TABLE2.items()]),
        "models": models_table(rows),
        "table3": agreement_table(examples, LIU_TABLE3, "Twitter: Spearman|Pearson|Ubuntu: Spearman|Pearson", run.seed),
        "table4": agreement_table(examples, LIU_TABLE4, "published: Spearman|Pearson", run.seed),
        "table5": table5(examples),
        "quoted": quoted(contexts, rows),
        "signatures": table(["responder", "signature"], [[row.name, row.signature] for row in rows if row.signature]),
        "share": f"{share:.0%}",
        "contexts": f"{len(contexts.examples):,}",
        "a_dialogue": FROM_EACH,
        "dialogues": f"{len(set(contexts.dialogues.tolist())):,}",
        "near": NEAR,
        "lines": f"{len(examples):,}",
    }
    return Page(values, {"means": means_figure(rows)}, digest_of(contexts.examples))


if __name__ == "__main__":
    run_script("liu2016", "Ask the questions of Liu et al. 2016 of other responders and ratings.", make, "responder")
