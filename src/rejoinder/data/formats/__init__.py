"""One file a format: how other programs write conversations down."""

from __future__ import annotations

from rejoinder.data.format import Format
from rejoinder.data.formats import (
    argilla,
    completions,
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
    votes,
)

FORMATS: tuple[Format, ...] = (
    argilla.FORMAT,
    completions.FORMAT,
    fed.FORMAT,
    inspect_log.FORMAT,
    label_studio.FORMAT,
    langfuse.FORMAT,
    langfuse_observations.FORMAT,
    langsmith.FORMAT,
    lm_eval.FORMAT,
    mlflow.FORMAT,
    ollama.FORMAT,
    openai_evals.FORMAT,
    openinference.FORMAT,
    otel.FORMAT,
    promptfoo.FORMAT,
    votes.FORMAT,
)
"""All formats; their order means nothing."""
