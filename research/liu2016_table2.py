"""Liu et al. 2016, table 2: how near each responder's replies come to the true response, by embedding metrics.

The contexts are of dialogues that the responders never saw: the same rule that held dialogues out of their training
picks them. Candidates of retrieval models are responses of the training part, so the true response is not among them
unless somebody else said it too, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from rejoinder.data.dialogues import Dialogue, corpus_files, read_dialogues
from rejoinder.data.files import OnError
from rejoinder.data.folders import read_folder
from rejoinder.data.read import raise_error
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.improve.diversity import distinct
from rejoinder.models import load_responder
from rejoinder.models.decoding import Decoding
from rejoinder.models.reply_bank import Retriever
from rejoinder.pretraining.corpus import is_held_out, unjudged
from rejoinder.responder import Responder, answer, request, signature_of
from rejoinder.scorer import Advance, Scorer, ignore, run
from rejoinder.scoring.catalog import DEFAULT, load_scorer
from rejoinder.stats.resamples import IntArray
from rejoinder.text import tokenizer
from research.asked import Asked, Takes, named
from research.figures import mean_by
from research.recall import Recall, recall_at

METRICS = ("embedding-average", "embedding-greedy", "embedding-extrema")
HUMAN, LENGTH = "human", "length"
ALL = "all corpora"
# A corpus of fewer held-out dialogues has no columns of its own.
FEWEST_DIALOGUES = 40
SHARE, A_DIALOGUE = 0.01, 2
KS = (1, 2, 5)
TAKES = Takes(
    ("files", "responders", "seed"),
    must=("files", "responders"),
    why="asks responders about corpora. Give CORPUS files and -r NAME=FOLDER",
)


@dataclass(frozen=True)
class Questions:
    """The contexts that every responder is asked.

    Attributes:
        examples: each a context with the true response.
        dialogues: [N] number of the dialogue of each.
        corpora: [N] name of the corpus of each.
    """

    examples: Sequence[Example]
    dialogues: IntArray
    corpora: Sequence[str]

    def groups(self) -> dict[str, IntArray]:
        """The rows of all, and of each corpus that has enough dialogues."""
        names = np.array(self.corpora)
        found = {ALL: np.arange(len(names))}
        for name in dict.fromkeys(self.corpora):
            rows = np.flatnonzero(names == name)
            if len(set(self.dialogues[rows].tolist())) >= FEWEST_DIALOGUES:
                found[name] = rows
        return found


class Row(NamedTuple):
    """What a responder comes to.

    Attributes:
        name: of the responder.
        means: by group, then of the metrics, of `rejoinder` (the judge, without references) and `length` (tokens);
            their n are the replies that have a value.
        distinct: distinct-1 and distinct-2 of all replies.
        perplexity: of held-out turns at the end of its training; NaN where it has none.
        recall: Recall@1, 2 and 5 of ten for retrieval models, else none.
        replies: [N] to each context, None where there is none.
        signature: of the responder.
    """

    name: str
    means: Mapping[str, Mapping[str, Estimate]]
    distinct: tuple[float, float]
    perplexity: float
    recall: Sequence[Recall]
    replies: Sequence[str | None]
    signature: str


@dataclass(frozen=True)
class Table2:
    """The table.

    Attributes:
        asked: the contexts.
        rows: one a responder, the human one last.
        share: of the dialogues that is held out.
        seed: decides contexts, replies and resamples.
    """

    asked: Questions
    rows: Sequence[Row]
    share: float
    seed: int


def find(asked: Asked) -> Table2:
    """The table of the responders and corpora that were asked for."""
    given = responders(asked.responders)
    with asked.stage("reading", None):
        questions = contexts(corpus_files(asked.files), asked.seed, on_error=asked.on_error)
    with asked.stage("asking", len(given) * len(questions.examples)) as advance:
        return compute(questions, given, asked.seed, advance=advance)


def responders(places: Iterable[str], share: float = SHARE) -> dict[str, tuple[Responder, float]]:
    """The responders given as NAME=PLACE, each with the perplexity that its training ended with.

    Raises:
        UsageError: two have one name, or one was trained on dialogues that are to be held out; see also
            `load_responder`.
    """
    found: dict[str, tuple[Responder, float]] = {}
    for text in places:
        name, place = named(text, "-r")
        if name in found or name == HUMAN:
            raise UsageError(f"-r {text}: the name is taken. Give each responder its own")
        responder, perplexity = load_responder(place, decoding=Decoding()), nan
        if Path(place).is_dir():
            config = read_folder(place).config
            own = config["recipe"].get("text", config["recipe"]).get("held_out", 0.0)
            if own < share:
                problem = f"{place}: held out {own:g} of its dialogues, and {share:g} are to be asked"
                raise UsageError(f"{problem}. Train it again with held_out = {share:g} or more")
            perplexity = float(config.get("figures", {}).get("perplexity", nan))
        found[name] = responder, perplexity
    return found


def contexts(
    files: Sequence[str | Path], seed: int, share: float = SHARE, on_error: OnError = raise_error
) -> Questions:
    """Two turns, drawn at random, of every held-out dialogue, each with all that came before it.

    Raises:
        DataError: no dialogue is held out.
    """
    rng = np.random.default_rng(seed)
    examples, numbers, names = [], [], []
    for number, (name, dialogue) in enumerate(_held_out(files, share, on_error)):
        turns = dialogue.turns
        for place in sorted(rng.choice(np.arange(1, len(turns)), min(A_DIALOGUE, len(turns) - 1), replace=False)):
            own = {"dialogue_id": number}
            examples.append(Example(turns[:place], turns[place], id=f"{number}:{place}", dataset=name, extra=own))
            numbers.append(number)
            names.append(name)
    if not examples:
        raise DataError(f"no dialogue of {len(files)} corpora is held out", "Give larger corpora")
    return Questions(examples, np.array(numbers), names)


def compute(
    asked: Questions,
    given: Mapping[str, tuple[Responder, float]],
    seed: int,
    share: float = SHARE,
    advance: Advance = ignore,
) -> Table2:
    """Every responder's replies, measured; `advance` is called with the number of contexts answered."""
    scorers = [load_scorer(name) for name in (*METRICS, DEFAULT)]
    rows = []
    for name, (responder, perplexity) in given.items():
        requests = (request(example.context, seed) for example in asked.examples)
        answers = answer(responder, requests, advance=advance)
        replies = [found.replies[0].text if found.replies else None for found in answers]
        retriever = cast("Retriever", responder)
        recall = recall_at(retriever, asked.examples, KS, seed=seed) if hasattr(responder, "rank") else []
        means, varied = _measured(replies, asked, scorers, seed)
        rows.append(Row(name, means, varied, perplexity, recall, replies, str(signature_of(responder))))
    said = [example.response for example in asked.examples]
    means, varied = _measured(
        said, asked, scorers[-1:], seed
    )  # people's own replies are at no distance from themselves
    rows.append(Row(HUMAN, means, varied, nan, [], said, ""))
    return Table2(asked, rows, share, seed)


def _measured(
    replies: Sequence[str | None], asked: Questions, scorers: Sequence[Scorer], seed: int
) -> tuple[dict[str, dict[str, Estimate]], tuple[float, float]]:
    """The means of what scorers and length say of replies, by group, and how varied the replies are."""
    there = np.array([place for place, reply in enumerate(replies) if reply is not None], dtype=np.intp)
    tokens = [tokenizer("words-1")(reply) for reply in replies if reply is not None]
    values = {key: np.full(len(replies), nan) for key in (*(scorer.card.name for scorer in scorers), LENGTH)}
    values[LENGTH][there] = [len(words) for words in tokens]
    for scorer in scorers:
        # A judge reads the context alone, as it has to where people reply.
        judged = scorer.card.kind == "judge"
        examples = [
            Example(
                asked.examples[place].context, str(replies[place]), () if judged else (asked.examples[place].response,)
            )
            for place in there
        ]
        values[scorer.card.name][there] = run(scorer, examples).values
    means = {
        group: {key: mean_by(found[rows], asked.dialogues[rows], seed) for key, found in values.items()}
        for group, rows in asked.groups().items()
    }
    return means, (distinct(tokens, 1), distinct(tokens, 2))


def _held_out(files: Sequence[str | Path], share: float, on_error: OnError) -> Iterator[tuple[str, Dialogue]]:
    """The held-out dialogues of each corpus, with its name."""
    for file in files:
        for dialogue in unjudged(read_dialogues(file, on_error=on_error), keep_judged=False):
            if is_held_out(dialogue, share):
                yield Path(file).name.partition(".")[0], dialogue


if __name__ == "__main__":
    from research.run import main

    main("liu2016-table2")
