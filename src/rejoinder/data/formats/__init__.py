"""Adapters, one file a format: conversations, replies and ratings as other programs write them."""

from __future__ import annotations

from rejoinder.data.format import Format
from rejoinder.data.formats import (
    argilla,
    completions,
    deepeval,
    fed,
    inspect_log,
    label_studio,
    langfuse,
    langsmith,
    lm_eval,
    mlflow,
    ollama,
    openai_evals,
    openinference,
    otel,
    promptfoo,
    rated_pairs,
    reply_sets,
    votes,
)

_CALLS = (completions, langfuse, langsmith, mlflow, ollama, openai_evals, openinference, otel)
_RESULTS = (argilla, deepeval, fed, inspect_log, label_studio, lm_eval, promptfoo, rated_pairs, reply_sets, votes)
FORMATS: tuple[Format, ...] = (*(module.FORMAT for module in (*_CALLS, *_RESULTS)), langfuse.OBSERVATIONS)
"""All formats; their order has no meaning."""
