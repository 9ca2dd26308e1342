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
# The same paper, table 3: Spearman and Pearson with ratings of single responses on Twitter, then on Ubuntu.
LIU_TABLE3 = {
    "embedding-greedy": (0.2119, 0.1994, 0.0528, 0.0205),
    "embedding-average": (0.2259, 0.1971, -0.1387, -0.1631),
    "embedding-extrema": (0.2103, 0.1842, 0.0924, -0.0029),
    "meteor": (0.1887, 0.1927, 0.0631, 0.1419),
    "bleu-1": (0.1665, 0.1288, -0.0255, 0.0193),
    "bleu-2": (0.3576, 0.3874, 0.0382, 0.0586),
    "bleu-3": (0.3423, 0.1443, 0.0878, 0.1116),
    "bleu-4": (0.3417, 0.1392, 0.1218, 0.1132),
    "rouge-l": (0.1235, 0.0971, 0.0541, 0.0640),
}
# Table 4: the same on Twitter without stop words and punctuation.
LIU_TABLE4 = {"bleu-1/no-stop-words": (0.1580, 0.2074), "bleu-2/no-stop-words": (0.2030, 0.1300)}
# Table 5: mean scores on Twitter where the lengths differ by at most six words (n = 47) and by six or more (n = 53).
LIU_TABLE5 = {
    "bleu-1": (0.1724, 0.1009, "< .01"),
    "bleu-2": (0.0744, 0.0418, "< .01"),
    "embedding-average": (0.6587, 0.6246, ".25"),
    "meteor": (0.2386, 0.2073, "< .01"),
    "human": (2.66, 2.57, ".73"),
}

# Deriu and Cieliebak 2019, table 2: what people gave whole dialogues of each system.
DERIU_SYSTEMS = {"seq2seq": 3.31, "hred": 2.78, "vhred": 3.20, "mrrnn": 2.37, "dual-encoder": 2.02}
# The same table: of dialogues in which AutoJudge chose among the five at each turn.
DERIU_RERANKED = 3.47
# What the return of reinforcement rose to over 80 episodes (section 4): at the start, and at the end.
DERIU_RETURNS = (21.74, 37.41)
