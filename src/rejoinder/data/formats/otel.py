"""OpenTelemetry: spans of OTLP in JSON that follow the conventions for generative AI.

Sources: open-telemetry/semantic-conventions-genai model/gen-ai/gen-ai-{input,output}-messages.json (the conventions
moved there from semantic-conventions); OTLP's JSON encoding (`resourceSpans`, attributes as key and typed value).
`gen_ai.retrieval.documents` holds ids and scores alone, so that sources are the results of tools.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rejoinder.data.chat import turns
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.values import from_cell

_INFERENCE = ("chat", "text_completion", "generate_content")
_IN, _OUT = "gen_ai.input.messages", "gen_ai.output.messages"


def confirm(row: Mapping[str, Any]) -> bool:
    """OTLP lines may hold no span that spoke; they are ours unless they are OpenInference's."""
    return not any("openinference.span.kind" in attributes for _, attributes in spans(row)) and (
        "resourceSpans" in row or _OUT in row["attributes"]
    )


def spans(row: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Each span with its attributes as plain values."""
    if "resourceSpans" not in row:
        yield row, dict(row["attributes"]) if isinstance(row["attributes"], Mapping) else {}
        return
    for resource in row["resourceSpans"]:
        for scope in resource.get("scopeSpans", ()):
            for span in scope.get("spans", ()):
                yield span, {one["key"]: plain(one.get("value", {})) for one in span.get("attributes", ())}


def plain(value: Any) -> Any:
    """A typed value of OTLP as JSON has it."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    ((kind, held),) = value.items()
    if kind == "arrayValue":
        return [plain(one) for one in held.get("values", ())]
    if kind == "kvlistValue":
        return {one["key"]: plain(one.get("value", {})) for one in held.get("values", ())}
    return int(held) if kind == "intValue" else held


def record(row: Mapping[str, Any], where: str) -> Iterable[Mapping[str, Any]]:
    for span, attributes in spans(row):
        if _OUT not in attributes or attributes.get("gen_ai.operation.name", "chat") not in _INFERENCE:
            continue  # an agent's span repeats what the calls inside it said
        asked, said = (from_cell(attributes.get(key), where, key) or [] for key in (_IN, _OUT))
        before = turns(asked, where) if asked else []
        reply = turns(said[:1], where) if said else []
        if said and not any(turn.text for turn in reply):
            continue  # a call of a tool: the span after it has the reply
        found = {
            "id": span.get("spanId") or span.get("span_id"),
            "system": attributes.get("gen_ai.response.model") or attributes.get("gen_ai.request.model"),
            "dialogue_id": attributes.get("gen_ai.conversation.id") or span.get("traceId") or span.get("trace_id"),
            "sources": [text for turn in before for text in turn.sources],
        }
        yield without_nothing(found) | {
            "context": [turn.text for turn in before if turn.text is not None],
            "response": "".join(turn.text or "" for turn in reply),
        }


FORMAT = Format(
    "otel", "OpenTelemetry GenAI spans (OTLP in JSON)", keys("resourceSpans", "attributes name"), each(record), confirm
)
