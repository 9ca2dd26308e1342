"""How fast the classic metrics are beside other programs.

`python benchmarks/performance.py --only metrics` measures it. All programs score the same pairs of a response and a
reference, of 20 words at most, in one process, one program after the other in every round. No text occurs twice, so
nothing that a program remembers of texts helps it; words do occur again, as they do in every data set. Counted are CPU
seconds of all threads. A first round is not counted.

rejoinder scores through `rejoinder.scorer.run`, with checks, reasons and signature, as in every command, and in another
column by the metric alone. The others are called for one pair after the other, and with all pairs at once if they
support it. Values are compared with those of the program that defines the metric. A program that is not installed is
left out, with a note:

    pip install bleuscore fastchrf rapidrouge rouge-score rouge-score-rs rouge-rust
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from timing import OURS, Row, Section, spread

import rejoinder
from rejoinder.example import Example
from rejoinder.scorer import Scorer, run
from rejoinder.scoring.catalog import load_scorer
from rejoinder.text import tokenizer
from rejoinder.text.wordnet import find_wordnet, load_wordnet

MAX_WORDS, PAIRS = 20, 2500
RATE = 30_000  # pairs a second that are asked for
TOGETHER = ("bleu-4", "chrf", "rouge-l")
BATCH = 512  # as in `run`
Texts = Sequence[str]
Score = Callable[[Texts, Texts], Any]


class Peer(NamedTuple):
    """A program that computes a metric.

    Attributes:
        name: as the table names it.
        package: its name on PyPI.
        make: returns a function of responses and references.
        wanted: how many times its speed rejoinder should have at least; 0 for a program that is only shown.
        exact: its values should be those of rejoinder; others smooth or tokenize in another way.
    """

    name: str
    package: str
    make: Callable[[], Score]
    wanted: float
    exact: bool = True


def each(score: Callable[[str, str], float]) -> Score:
    """Return a function that scores pairs one by one."""
    return lambda responses, references: [score(*pair) for pair in zip(responses, references, strict=True)]


def part(path: str) -> Any:
    """Return an object by its module and name; not every program is installed everywhere."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def sacrebleu_bleu() -> Score:
    """Return sentence BLEU of sacreBLEU."""
    bleu = part("sacrebleu.metrics.bleu.BLEU")(effective_order=True)
    return each(lambda response, reference: bleu.sentence_score(response, [reference]).score / 100)


def nltk_bleu() -> Score:
    """Return sentence BLEU of nltk, smoothed, over white-space tokens."""
    score = part("nltk.translate.bleu_score.sentence_bleu")
    smooth = part("nltk.translate.bleu_score.SmoothingFunction")().method1
    return each(lambda response, reference: score([reference.split()], response.split(), (0.25,) * 4, smooth))


def bleuscore() -> Score:
    """Return BLEU of bleuscore, which is written in Rust; its batch gives corpus BLEU alone."""
    compute = part("bleuscore.compute")
    return each(lambda response, reference: compute(references=[[reference]], predictions=[response])["bleu"])


def sacrebleu_chrf() -> Score:
    """Return sentence chrF of sacreBLEU."""
    chrf = part("sacrebleu.metrics.chrf.CHRF")()
    return each(lambda response, reference: chrf.sentence_score(response, [reference]).score / 100)


def fastchrf() -> Score:
    """Return chrF of fastchrf, which is written in Rust."""
    score = part("fastchrf.pairwise_chrf")
    return each(lambda response, reference: score([[response]], [[reference]])[0][0][0] / 100)


def fastchrf_batch() -> Score:
    """Return chrF of fastchrf, all pairs at once."""
    score = part("fastchrf.pairwise_chrf")
    return lambda responses, references: (
        np.ravel(score([[text] for text in responses], [[text] for text in references])) / 100
    )


def rouge(module: str) -> Score:
    """Return ROUGE-L of a module with the interface of rouge-score."""
    score = part(f"{module}.rouge_scorer.RougeScorer")(["rougeL"]).score
    return each(lambda response, reference: score(reference, response)["rougeL"].fmeasure)


def rouge_score_rs_batch() -> Score:
    """Return ROUGE-L of rouge-score-rs, all pairs at once."""
    score = part("rouge_score_rs.rouge_scorer.RougeScorer")(["rougeL"]).score_batch
    return lambda responses, references: [
        scores["rougeL"].fmeasure for scores in score(list(references), list(responses))
    ]


def rouge_rust() -> Score:
    """Return ROUGE-L of rouge-rust."""
    score = part("fast_rouge.score")
    return each(lambda response, reference: score(reference, response)["rougeL"].fmeasure)


def rouge_rust_batch() -> Score:
    """Return ROUGE-L of rouge-rust, all pairs at once."""
    score = part("fast_rouge.score_batch_flat")
    return lambda responses, references: score(list(references), list(responses)).rougeL_fmeasure


def nltk_meteor() -> Score:
    """Return METEOR of nltk over the tokens and the WordNet of rejoinder."""
    score = part("nltk.translate.meteor_score.meteor_score")
    split, wordnet = tokenizer("words-2"), load_wordnet(find_wordnet())
    return each(lambda response, reference: score([split(reference)], split(response), wordnet=wordnet))


PEERS: Mapping[str, Sequence[Peer]] = {
    "bleu-4": [
        Peer("sacrebleu", "sacrebleu", sacrebleu_bleu, 4),
        Peer("nltk", "nltk", nltk_bleu, 4, exact=False),
        Peer("bleuscore", "bleuscore", bleuscore, 0.95, exact=False),
    ],
    "chrf": [
        Peer("sacrebleu", "sacrebleu", sacrebleu_chrf, 4),
        Peer("fastchrf", "fastchrf", fastchrf, 4),
        Peer("fastchrf, at once", "fastchrf", fastchrf_batch, 4),
    ],
    "rouge-l": [
        Peer("rouge-score", "rouge-score", partial(rouge, "rouge_score"), 4),
        Peer("rapidrouge", "rapidrouge", partial(rouge, "rapidrouge"), 4),
        Peer("rouge-score-rs", "rouge-score-rs", partial(rouge, "rouge_score_rs"), 0.75),
        Peer("rouge-score-rs, at once", "rouge-score-rs", rouge_score_rs_batch, 0.75),
        Peer("rouge-rust", "rouge-rust", rouge_rust, 0),
        Peer("rouge-rust, at once", "rouge-rust", rouge_rust_batch, 0),
    ],
    "meteor": [Peer("nltk", "nltk", nltk_meteor, 1.5)],
}


def ours(scorers: Sequence[Scorer], pairs: Iterable[tuple[str, str]], *, checked: bool = True) -> tuple[float, Any]:
    """Return the CPU seconds of scorers of rejoinder, and the values of the last one.

    Args:
        scorers: the scorers.
        pairs: responses and references.
        checked: through `run`, with checks, reasons and signature; else the metric alone, in the same batches.
    """
    examples = [Example((), response, (reference,)) for response, reference in pairs]
    start = time.process_time()
    for scorer in scorers:
        if checked:
            values = run(scorer, examples).values
        else:
            batches = (examples[first : first + BATCH] for first in range(0, len(examples), BATCH))
            values = np.concatenate([scorer.score_batch(batch).values for batch in batches])
    return time.process_time() - start, values


def pairs_of(seed: int) -> Iterator[tuple[str, str]]:
    """Yield short pairs without end: replies of the bundled samples with references or turns, made new by words."""
    examples = [example for name in ("@conture", "@dstc7") for example in rejoinder.read(name)]
    short = [
        pair
        for example in examples
        for pair in ((example.response, other) for other in (*example.references, *example.context[-1:]))
        if all(0 < len(text.split()) < MAX_WORDS for text in pair)
    ]
    words = sorted({word for pair in short for text in pair for word in text.split()})
    source, met = random.Random(seed), set[str]()  # noqa: S311 - no secret depends on it

    def new(text: str) -> str:
        while text in met:
            place, known = source.randrange(len(text.split()) + 1), text.split()
            text = " ".join([*known[:place], source.choice(words), *known[place:]][-MAX_WORDS:])
        met.add(text)
        return text

    while True:
        response, reference = source.choice(short)
        yield new(response), new(reference)


class Measured(NamedTuple):
    """What rounds of a program show.

    Attributes:
        seconds: CPU seconds of each round.
        ratios: how many times as long as rejoinder it takes.
        alone: the same for the metric of rejoinder alone.
        differences: the largest difference of a value to that of rejoinder.
    """

    seconds: list[float]
    ratios: list[float]
    alone: list[float]
    differences: list[float]


def measure(
    metric: str, peers: Mapping[str, Score], pairs: Iterator[tuple[str, str]], count: int, rounds: int
) -> dict[str, Measured]:
    """Return what is measured of rejoinder and its peers, by name.

    Args:
        metric: the metric.
        peers: functions that score, by name.
        pairs: new pairs without end.
        count: pairs of a round.
        rounds: how many rounds.
    """
    scorer = load_scorer(metric)
    measured = {name: Measured([], [], [], []) for name in (OURS, *peers)}
    for turn in range(rounds + 1):
        same, others = list(islice(pairs, count)), list(islice(pairs, count))
        responses, references = zip(*same, strict=True)
        gc.collect()
        gc.freeze()  # the collector would go through the objects of all libraries during a measurement
        alone, _ = ours([scorer], others, checked=False)
        seconds, values = ours([scorer], same)
        if turn:
            measured[OURS].seconds.append(seconds)
            measured[OURS].alone.append(seconds / alone)
        for name, score in peers.items():
            start = time.process_time()
            scores = score(responses, references)
            took = time.process_time() - start
            if turn:
                difference = float(np.nanmax(np.abs(np.asarray(scores) - values)))
                for numbers, number in zip(
                    measured[name], (took, took / seconds, took / alone, difference), strict=True
                ):
                    numbers.append(number)
    return measured


def row_of(metric: str, peer: Peer | None, own: Measured, count: int) -> Row:
    """Return the row of a program; without one, that of rejoinder."""
    time_of_pair = f"{1e6 * statistics.median(own.seconds) / count:.2f}"
    if peer is None:
        return Row((metric, OURS, time_of_pair, "", spread(own.alone), ""))
    difference = f"{max(own.differences):.0e}" if peer.exact else "other definition"
    cells = (metric, f"{peer.name} {version(peer.package)}", time_of_pair, spread(own.ratios), spread(own.alone))
    return Row((*cells, difference), statistics.median(own.ratios), peer.wanted)


def installed(peer: Peer) -> bool:
    """Return whether a program is installed; say so if it is not."""
    try:
        version(peer.package)
    except PackageNotFoundError:
        print(f"{peer.package} is not installed and is left out: pip install {peer.package}", file=sys.stderr)
        return False
    return True


def together(pairs: Iterator[tuple[str, str]], count: int, rounds: int) -> Row:
    """Return the row of the metrics of `TOGETHER`, one after the other."""
    scorers, rates = [load_scorer(name) for name in TOGETHER], list[float]()
    for _ in range(rounds):
        gc.collect()
        gc.freeze()
        rates.append(count / ours(scorers, islice(pairs, count))[0])
    rate = statistics.median(rates)
    pairs_a_second = f"{rate:,.0f} pairs a second; {RATE:,} asked for"
    return Row((" + ".join(TOGETHER), OURS, f"{1e6 / rate:.2f}", pairs_a_second, "", ""), rate / RATE, 1)


def section(options: argparse.Namespace) -> Section:
    """Measure, and return the section."""
    warnings.simplefilter("ignore")
    pairs, count, rows = pairs_of(0), max(1, int(PAIRS * options.scale)), list[Row]()
    for metric, known in PEERS.items():
        peers = [peer for peer in known if installed(peer)]
        measured = measure(metric, {peer.name: peer.make() for peer in peers}, pairs, count, options.rounds)
        rows += [row_of(metric, peer, measured[peer.name if peer else OURS], count) for peer in (None, *peers)]
    gc.unfreeze()
    return Section("Classic metrics", TEXT, HEADER, [*rows, together(pairs, count, options.rounds)])


HEADER = ("metric", "program", "µs a pair", "rejoinder is faster by", "its metric alone", "largest difference")
TEXT = f"""
{PAIRS:,} new pairs in every round: a response of at most {MAX_WORDS} words and one reference. Times are CPU times of \
all threads. The times of rejoinder include the work of every command: it checks the input, scores equal inputs once, \
and gives reasons and signatures. "its metric alone" is the ratio without this work, which the other programs do not \
do. They are called once per pair, or with all pairs "at once" if they support it. The last number is the largest \
difference between the values of both programs; nltk and bleuscore smooth in another way.
"""
