"""rejoinder judges replies: given a conversation and a response, how good would a person find that response?

The names below load on first use, so that `import rejoinder` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rejoinder.version import __version__

if TYPE_CHECKING:
    from rejoinder.annotation.collected import load_study
    from rejoinder.annotation.study import annotate
    from rejoinder.auditing import Attack, audit, relevance
    from rejoinder.catalogue import cards, explain, load_responder, load_scorer, score
    from rejoinder.encoders import encode, load_encoder
    from rejoinder.errors import RejoinderError
    from rejoinder.example import Example, Pair, Rating, ReplySet
    from rejoinder.improve.reinforcing import reinforce
    from rejoinder.improve.reranking import rerank
    from rejoinder.improve.reward import reward
    from rejoinder.io import examples_of, pairs_of, read, read_pairs, reply_sets_of, write
    from rejoinder.judges.train import train_judge
    from rejoinder.kinds import listing
    from rejoinder.meta import compare, full_study, study, study_pairs
    from rejoinder.meta.estimate import estimate
    from rejoinder.meta.fitting import fit
    from rejoinder.meta.next_lines import next_lines
    from rejoinder.meta.ratings import ratings
    from rejoinder.meta.training import train
    from rejoinder.report.cards import show
    from rejoinder.report.doctor import doctor
    from rejoinder.responder import Answer, Decoding, Reply, Request, Responder, answer, request
    from rejoinder.responders.pretrain import pretrain
    from rejoinder.scorer import Card, Encoder, Explanation, Scorer, Scores
    from rejoinder.scoring.replies import contexts_of, respond
    from rejoinder.scoring.scoring import score_stream
    from rejoinder.scoring.selftalk import selftalk
    from rejoinder.serving.run import serve

_HOME = {
    "Answer": "rejoinder.responder",
    "Attack": "rejoinder.auditing",
    "Card": "rejoinder.scorer",
    "Decoding": "rejoinder.responder",
    "Encoder": "rejoinder.scorer",
    "Example": "rejoinder.example",
    "Explanation": "rejoinder.scorer",
    "Pair": "rejoinder.example",
    "Rating": "rejoinder.example",
    "RejoinderError": "rejoinder.errors",
    "Reply": "rejoinder.responder",
    "ReplySet": "rejoinder.example",
    "Request": "rejoinder.responder",
    "Responder": "rejoinder.responder",
    "Scorer": "rejoinder.scorer",
    "Scores": "rejoinder.scorer",
    "annotate": "rejoinder.annotation.study",
    "answer": "rejoinder.responder",
    "audit": "rejoinder.auditing",
    "cards": "rejoinder.catalogue",
    "compare": "rejoinder.meta",
    "contexts_of": "rejoinder.scoring.replies",
    "doctor": "rejoinder.report.doctor",
    "encode": "rejoinder.encoders",
    "estimate": "rejoinder.meta.estimate",
    "examples_of": "rejoinder.io",
    "explain": "rejoinder.catalogue",
    "fit": "rejoinder.meta.fitting",
    "full_study": "rejoinder.meta",
    "listing": "rejoinder.kinds",
    "load_encoder": "rejoinder.encoders",
    "load_responder": "rejoinder.catalogue",
    "load_scorer": "rejoinder.catalogue",
    "load_study": "rejoinder.annotation.collected",
    "next_lines": "rejoinder.meta.next_lines",
    "pairs_of": "rejoinder.io",
    "pretrain": "rejoinder.responders.pretrain",
    "ratings": "rejoinder.meta.ratings",
    "read": "rejoinder.io",
    "read_pairs": "rejoinder.io",
    "reinforce": "rejoinder.improve.reinforcing",
    "relevance": "rejoinder.auditing",
    "reply_sets_of": "rejoinder.io",
    "rerank": "rejoinder.improve.reranking",
    "reward": "rejoinder.improve.reward",
    "request": "rejoinder.responder",
    "respond": "rejoinder.scoring.replies",
    "score": "rejoinder.catalogue",
    "score_stream": "rejoinder.scoring.scoring",
    "selftalk": "rejoinder.scoring.selftalk",
    "serve": "rejoinder.serving.run",
    "show": "rejoinder.report.cards",
    "study": "rejoinder.meta",
    "study_pairs": "rejoinder.meta",
    "train": "rejoinder.meta.training",
    "train_judge": "rejoinder.judges.train",
    "write": "rejoinder.io",
}

__all__ = [
    "Answer",
    "Attack",
    "Card",
    "Decoding",
    "Encoder",
    "Example",
    "Explanation",
    "Pair",
    "Rating",
    "RejoinderError",
    "Reply",
    "ReplySet",
    "Request",
    "Responder",
    "Scorer",
    "Scores",
    "__version__",
    "annotate",
    "answer",
    "audit",
    "cards",
    "compare",
    "contexts_of",
    "doctor",
    "encode",
    "estimate",
    "examples_of",
    "explain",
    "fit",
    "full_study",
    "listing",
    "load_encoder",
    "load_responder",
    "load_scorer",
    "load_study",
    "next_lines",
    "pairs_of",
    "pretrain",
    "ratings",
    "read",
    "read_pairs",
    "reinforce",
    "relevance",
    "reply_sets_of",
    "request",
    "rerank",
    "respond",
    "reward",
    "score",
    "score_stream",
    "selftalk",
    "serve",
    "show",
    "study",
    "study_pairs",
    "train",
    "train_judge",
    "write",
]


def __getattr__(name: str) -> Any:
    """Load `name` from its home on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'rejoinder' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__
