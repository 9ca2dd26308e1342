"""OpenTelemetry: spans that follow the conventions for generative AI, as OTLP in JSON or as a span a line.

Shapes: open-telemetry/semantic-conventions-genai `model/gen-ai/gen-ai-{input,output}-messages.json` and
`docs/gen-ai/client-inference.md`; OTLP's JSON encoding. Messages are JSON texts or structured values. Retrieved
documents have ids and scores only, so that the sources are the results of tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import exchange, is_call
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.formats.spans import spans
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError

_CALLS = ("chat", "text_completion", "generate_content")
_IN, _OUT = "gen_ai.input.messages", "gen_ai.output.messages"
_OPENINFERENCE = "openinference.span.kind"


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row holds spans of OTLP, or is a span with messages; OpenInference has a reader of its own."""
    found = [attributes for _, attributes in spans(row)]
    return not any(_OPENINFERENCE in attributes for attributes in found) and (
        "resourceSpans" in row or any(_OUT in attributes for attributes in found)
    )


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield the conversation of each call of a model; an agent's span repeats what the calls inside it said.

    A call that only asks for a tool is left out: the call after it holds the reply.

    Raises:
        DataError: a call with several choices.
    """
    for span, attributes in spans(row):
        if _OUT not in attributes or attributes.get("gen_ai.operation.name", "chat") not in _CALLS:
            continue
        asked, said = (from_cell(attributes.get(key), where, key) or [] for key in (_IN, _OUT))
        if isinstance(said, list) and len(said) > 1:
            problem, remedy = f"{len(said)} choices, expected one", "Ask for one choice, or skip it: --on-error skip"
            raise DataError(problem, remedy, where=where, field=_OUT)
        if isinstance(said, list) and is_call(said, where):
            continue
        context: Any = span.get("context") if isinstance(span.get("context"), Mapping) else span
        kept = {
            "id": _first(context, "spanId", "span_id"),
            "system": _first(attributes, "gen_ai.response.model", "gen_ai.request.model"),
            "dialogue_id": attributes.get("gen_ai.conversation.id") or _first(context, "traceId", "trace_id"),
            "attributes": {key: value for key, value in attributes.items() if key not in (_IN, _OUT)},
        }
        yield {**without_nothing(kept), **exchange(asked, said or None, where)}


def _first(mapping: Mapping[str, Any], *names: str) -> Any:
    """Return the first value under one of these names."""
    return next((mapping[name] for name in names if mapping.get(name)), None)


FORMAT = Format("otel", "OpenTelemetry GenAI spans", keys("resourceSpans", "attributes name"), each(record), confirm)
