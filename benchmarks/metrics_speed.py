"""How fast the classic metrics are next to other programs: a section of docs/results/performance.md.

Usage: python benchmarks/metrics_speed.py [--pairs 2500] [--rounds 9] [--seed 0] [--write]

All programs score the same pairs of a response and a reference, of 20 words at most, in one process, one program after
the other in every round. No text occurs twice, so nothing that a program remembers of texts helps it; words do occur
again, as they do in every data set. Counted are CPU seconds of all threads. A ratio is taken within a round; shown is
the median of all rounds, with the lowest and the highest. A first round is not counted.

rejoinder scores through `rejoinder.scorer.run`, with checks, reasons and signature, as in every command, and in another
column by the metric alone. The others are called for one pair after the other, and with all pairs at once if they
support it. Values are compared with those of the
program that defines the metric. A program that is not installed is left out, with a note:

    pip install bleuscore fastchrf rapidrouge rouge-score rouge-score-rs rouge-rust

`--write` replaces the section of docs/results/performance.md.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import os
import platform
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
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rejoinder
from rejoinder.example import Example
from rejoinder.report.markdown import markdown_table
from rejoinder.scorer import Scorer, run
from rejoinder.scoring.catalog import load_scorer
from rejoinder.text import tokenizer
from rejoinder.text.wordnet import find_wordnet, load_wordnet

PAGE = Path(__file__).parents[1] / "docs" / "results" / "performance.md"
TITLE = "## Metrics next to other programs"
MAX_WORDS = 20
WANTED_RATE = 30_000
TOGETHER = ("bleu-4", "chrf", "rouge-l")
OURS = "rejoinder"
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


def spread(numbers: Sequence[float]) -> str:
    """Return the median of rounds with the lowest and the highest."""
    return f"{statistics.median(numbers):.2f} [{min(numbers):.2f}, {max(numbers):.2f}]" if numbers else ""


def row_of(metric: str, peer: Peer | None, own: Measured, count: int) -> list[str]:
    """Return the row of a program, without one that of rejoinder."""
    time_of_pair = f"{1e6 * statistics.median(own.seconds) / count:.2f}"
    if peer is None:
        return [metric, OURS, time_of_pair, "", spread(own.alone), "", "", ""]
    reached = "**no**"
    if statistics.median(own.ratios) >= peer.wanted:
        reached = "yes"
    elif statistics.median(own.alone) >= peer.wanted:
        reached = "metric alone"
    return [
        metric,
        f"{peer.name} {version(peer.package)}",
        time_of_pair,
        spread(own.ratios),
        spread(own.alone),
        f"{peer.wanted:g}" if peer.wanted else "",
        reached if peer.wanted else "",
        f"{max(own.differences):.0e}" if peer.exact else "other definition",
    ]


def installed(peer: Peer) -> bool:
    """Return whether a program is installed; say so if it is not."""
    try:
        version(peer.package)
    except PackageNotFoundError:
        print(f"{peer.package} is not installed and is left out: pip install {peer.package}", file=sys.stderr)
        return False
    return True


def main() -> None:
    """Measure, print, and with --write put the section into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for option, default in {"pairs": 2500, "rounds": 9, "seed": 0}.items():
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--write", action="store_true", help=f"replace the section of {PAGE.name}")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    pairs = pairs_of(options.seed)
    rows = []
    for metric, known in PEERS.items():
        peers = [peer for peer in known if installed(peer)]
        made = {peer.name: peer.make() for peer in peers}
        measured = measure(metric, made, pairs, options.pairs, options.rounds)
        rows += [row_of(metric, peer, measured[peer.name if peer else OURS], options.pairs) for peer in (None, *peers)]
        print(*rows[-1 - len(peers) :], sep="\n", file=sys.stderr, flush=True)
    scorers, rates = [load_scorer(name) for name in TOGETHER], []
    for _ in range(options.rounds):
        gc.collect()
        gc.freeze()
        rates.append(options.pairs / ours(scorers, islice(pairs, options.pairs))[0])
    rate = f"{statistics.median(rates):,.0f} [{min(rates):,.0f}, {max(rates):,.0f}]"
    header = (
        *("metric", "program", "µs a pair", "rejoinder is faster by", "its metric alone"),
        *("aim", "reached", "largest difference"),
    )
    text = section(markdown_table(header, rows), rate, options)
    print(text)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(TITLE)
        _, mark, after = rest.partition("\n## ")
        PAGE.write_text(before.rstrip() + "\n\n" + text + ("\n## " + after if mark else ""), encoding="utf-8")


def section(table: str, rate: str, options: argparse.Namespace) -> str:
    """Return the section of the page."""
    words = {
        "title": TITLE,
        "words": MAX_WORDS,
        "today": datetime.datetime.now(datetime.UTC).date(),
        "aim": WANTED_RATE,
    }
    made = f"rejoinder {rejoinder.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores"
    return SECTION.format(table=table.strip(), rate=rate, made=made, **words, **vars(options))


SECTION = """{title}

All programs scored the same {pairs:,} pairs in each of {rounds} rounds: a response of at most {words} words and one \
reference. They ran one after the other in one process, and no text occurs twice. Times are CPU times of all threads.

"rejoinder is faster by" is the ratio of the times in a round: the median, with the lowest and the highest round in \
brackets. Above 1, rejoinder is faster. The times of rejoinder include the work of every command: it checks the input, \
scores equal inputs once, and gives reasons and signatures. "its metric alone" is the ratio without this work, which \
the other programs do not do. An aim that only this ratio reaches is marked "metric alone".

The other programs are called once per pair, or with all pairs "at once" if they support it. The last column is the \
largest difference between the values of both programs; nltk smooths in another way, and so does bleuscore.

{table}

BLEU-4, chrF and ROUGE-L together: {rate} pairs a second on one core (aim: {aim:,}).

Measured on {today} with {made}:

    python benchmarks/metrics_speed.py --write
"""


if __name__ == "__main__":
    main()
