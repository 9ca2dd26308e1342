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
    langfuse_observations,
    langsmith,
    lm_eval,
    mlflow,
    ollama,
    openai_evals,
    openinference,
    otel,
    promptfoo,
    rated_pairs,
    votes,
)

FORMATS: tuple[Format, ...] = tuple(
    module.FORMAT
    for module in (
        argilla,
        completions,
        deepeval,
        fed,
        inspect_log,
        label_studio,
        langfuse,
        langfuse_observations,
        langsmith,
        lm_eval,
        mlflow,
        ollama,
        openai_evals,
        openinference,
        otel,
        promptfoo,
        rated_pairs,
        votes,
    )
)
"""All formats; their order has no meaning."""
