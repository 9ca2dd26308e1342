"""rejoinder judges replies: given a conversation and a response, how good would a person find that response?

The names below load on first use, so that `import rejoinder` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rejoinder.version import __version__

if TYPE_CHECKING:
    from rejoinder.analysis.compare import compare
    from rejoinder.analysis.estimate import estimate
    from rejoinder.analysis.fit import fit
    from rejoinder.analysis.ratings import ratings
    from rejoinder.analysis.sample import next_lines
    from rejoinder.analysis.study import study
    from rejoinder.analysis.train import train
    from rejoinder.annotation.collected import load_study
    from rejoinder.annotation.study import annotate
    from rejoinder.auditing.attack import Attack, listing
    from rejoinder.auditing.run import audit
    from rejoinder.data.read import examples_of, pairs_of, read, read_pairs
    from rejoinder.data.summary import describe
    from rejoinder.data.write import write
    from rejoinder.errors import RejoinderError
    from rejoinder.example import Example, Pair, Rating
    from rejoinder.improve.reinforcing import reinforce
    from rejoinder.improve.reranking import rerank
    from rejoinder.improve.reward import reward
    from rejoinder.judges.adem.optimizer import AdemOptions
    from rejoinder.judges.protocol import Learner
    from rejoinder.judges.train import train_judge
    from rejoinder.models import encode, load_encoder, load_responder
    from rejoinder.models.decoding import Decoding
    from rejoinder.models.responders import FunctionResponder
    from rejoinder.pretraining.pretrain import pretrain
    from rejoinder.responder import Answer, Reply, Request, Responder, answer, request
    from rejoinder.scorer import Card, Encoder, Explanation, Scorer, Scores, metric
    from rejoinder.scoring.cards import show
    from rejoinder.scoring.catalog import cards, explain, load_scorer, score
    from rejoinder.scoring.doctor import doctor
    from rejoinder.scoring.replies import contexts_of, respond
    from rejoinder.scoring.scoring import score_stream
    from rejoinder.scoring.selftalk import selftalk
    from rejoinder.serving.run import serve

_MODULES = {
    "analysis.compare": "compare",
    "analysis.estimate": "estimate",
    "analysis.fit": "fit",
    "analysis.sample": "next_lines",
    "analysis.ratings": "ratings",
    "analysis.study": "study",
    "analysis.train": "train",
    "annotation.collected": "load_study",
    "annotation.study": "annotate",
    "auditing.attack": "Attack listing",
    "auditing.run": "audit",
    "data.read": "examples_of pairs_of read read_pairs",
    "data.summary": "describe",
    "data.write": "write",
    "models": "encode load_encoder load_responder",
    "errors": "RejoinderError",
    "example": "Example Pair Rating",
    "improve.reinforcing": "reinforce",
    "improve.reranking": "rerank",
    "improve.reward": "reward",
    "judges.adem.optimizer": "AdemOptions",
    "judges.protocol": "Learner",
    "judges.train": "train_judge",
    "responder": "Answer Reply Request Responder answer request",
    "models.decoding": "Decoding",
    "models.responders": "FunctionResponder",
    "pretraining.pretrain": "pretrain",
    "scorer": "Card Encoder Explanation Scorer Scores metric",
    "scoring.cards": "show",
    "scoring.catalog": "cards explain load_scorer score",
    "scoring.doctor": "doctor",
    "scoring.replies": "contexts_of respond",
    "scoring.scoring": "score_stream",
    "scoring.selftalk": "selftalk",
    "serving.run": "serve",
}
_HOME = {name: f"rejoinder.{module}" for module, names in _MODULES.items() for name in names.split()}
# fmt: off
__all__ = [
    "AdemOptions", "Answer", "Attack", "Card", "Decoding", "Encoder", "Example", "Explanation", "FunctionResponder",
    "Learner", "Pair", "Rating", "RejoinderError", "Reply", "Request", "Responder", "Scorer", "Scores", "__version__",
    "annotate", "answer", "audit", "cards", "compare", "contexts_of", "describe", "doctor", "encode", "estimate",
    "examples_of", "explain", "fit", "listing", "load_encoder", "load_responder", "load_scorer", "load_study",
    "metric", "next_lines", "pairs_of", "pretrain", "ratings", "read", "read_pairs", "reinforce", "request", "rerank",
    "respond", "reward", "score", "score_stream", "selftalk", "serve", "show", "study", "train", "train_judge",
    "write",
]
# fmt: on


def __getattr__(name: str) -> Any:
    """Load `name` from its module on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'rejoinder' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
