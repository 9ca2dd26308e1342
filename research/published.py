"""The figures that the papers print, to stand beside ours."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """Two printed correlations."""

    spearman: float
    pearson: float


# Lowe et al. 2017, table 2, on their test part of 616 responses. Not there: BLEU-1 and BLEU-3 are from the earlier
# submission of the same paper (ICLR 2017); the tweet2vec row repeats the figures of the full data to the last digit.
LOWE_TEST = {
    "bleu-1": Published(0.036, 0.074),
    "bleu-2": Published(0.051, 0.120),
    "bleu-3": Published(0.051, 0.073),
    "bleu-4": Published(0.063, 0.073),
    "rouge-l": Published(0.096, 0.147),
    "meteor": Published(0.013, 0.021),
    "tweet2vec, untrained": Published(0.140, 0.141),
    "vhred, untrained": Published(-0.091, -0.010),
    "c-adem": Published(0.366, 0.363),
    "r-adem": Published(0.352, 0.360),
    "adem over tweet2vec": Published(0.280, 0.287),
    "adem": Published(0.428, 0.436),
}
# The same table's validation part.
LOWE_VALIDATION = {
    "c-adem": Published(0.338, 0.355),
    "r-adem": Published(0.404, 0.404),
    "adem over tweet2vec": Published(0.252, 0.265),
    "adem": Published(0.410, 0.418),
}
# Table 3: Pearson's correlation over 4 systems.
LOWE_SYSTEMS = {
    "bleu-1": -0.079,
    "bleu-2": 0.308,
    "bleu-3": -0.537,
    "bleu-4": -0.536,
    "rouge-l": 0.268,
    "adem": 0.954,
}


class PublishedSystem(NamedTuple):
    """A row of table 4: on the full test part, and on the responses of the system that was left out."""

    name: str
    full: Published
    removed: Published | None


LOWE_UNSEEN = (
    PublishedSystem("TF-IDF", Published(0.406, 0.409), Published(0.186, 0.196)),
    PublishedSystem("dual encoder", Published(0.364, 0.373), Published(0.026, 0.027)),
    PublishedSystem("HRED", Published(0.393, 0.396), Published(0.151, 0.148)),
    PublishedSystem("human", Published(0.292, 0.298), Published(0.216, 0.148)),
    PublishedSystem("average", Published(0.364, 0.369), Published(0.145, 0.130)),
    PublishedSystem("25 % at random", Published(0.378, 0.384), None),
)


class PublishedError(NamedTuple):
    """A row of Deriu and Cieliebak 2019, table 1."""

    pearson: float
    spearman: float
    error: float


DERIU = {"conversations": PublishedError(0.573, 0.577, 0.928), "systems": PublishedError(0.544, 0.530, 0.984)}

# Liu et al. 2016, table 2: average, greedy and extrema on the Ubuntu Dialogue Corpus, then on Twitter.
LIU_TABLE2 = {
    "R-TFIDF": ((0.536, 0.370, 0.342), (0.483, 0.356, 0.340)),
    "C-TFIDF": ((0.571, 0.373, 0.353), (0.531, 0.362, 0.353)),
    "DE": ((0.650, 0.413, 0.376), (0.597, 0.384, 0.365)),
    "LSTM": ((0.130, 0.097, 0.089), (0.593, 0.439, 0.420)),
    "HRED": ((0.580, 0.418, 0.384), (0.599, 0.439, 0.422)),
}


class PublishedAgreement(NamedTuple):
    """Turn-level correlations on the lines of a data set that have a reference."""

    dataset: str
    scorer: str
    pearson: float
    spearman: float


AGREEMENT = (
    PublishedAgreement("usr_personachat", "bleu-4/coco", 0.135, 0.090),
    PublishedAgreement("usr_personachat", "rouge-l/coco", 0.066, 0.038),
    PublishedAgreement("grade_dailydialog", "bleu-4/coco", 0.075, 0.184),
    PublishedAgreement("grade_dailydialog", "rouge-l/coco", 0.154, 0.147),
    PublishedAgreement("grade_empathetic", "bleu-4/coco", -0.051, 0.002),
    PublishedAgreement("grade_empathetic", "rouge-l/coco", 0.029, -0.013),
)

# Deriu and Cieliebak 2019, table 2: what people gave whole dialogues of each system.
DERIU_SYSTEMS = {"seq2seq": 3.31, "hred": 2.78, "vhred": 3.20, "mrrnn": 2.37, "dual-encoder": 2.02}
# The same table: of dialogues in which AutoJudge chose among the five at each turn.
DERIU_RERANKED = 3.47
