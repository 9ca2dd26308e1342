"""The content of one chat message: visible text, results of tools, calls; and texts of retrieved documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from rejoinder.data.thoughts import without_thoughts

USER, ASSISTANT, TOOL, SYSTEM = "user", "assistant", "tool", "system"
CONTENTS = ("content", "value", "parts", "text", "message")
"""The keys under which a message holds what it says."""
_REASONING = (
    "reasoning",
    "thinking",
    "thought",
    "redacted_thinking",
    "reasoning_text",
    "reasoning_content",
    "summary_text",
)
_RESULTS = ("tool_result", "tool-result", "tool_call_response", "server_tool_call_response", "function_response")
_RESULT_KEYS = ("functionResponse", "function_response", "toolResult", "codeExecutionResult", "code_execution_result")
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "server_tool_call", "function_call")
_CALL_KEYS = ("functionCall", "function_call", "toolUse", "executableCode", "executable_code")
_OUTPUTS = ("output", "result", "response", "content", "value")
_MEDIA_KEYS = ("inlineData", "inline_data", "fileData", "file_data")
_MIME_KEYS = ("mimeType", "mime_type", "mediaType", "media_type")
_DOCUMENT = ("page_content", "pageContent", "content", "text", "document.content", "snippet")


class Content(NamedTuple):
    """The content of a message; `text` is None without any text, `called` says that it calls or answers a tool."""

    text: str | None
    sources: tuple[str, ...] = ()
    called: bool = False


def read_content(content: Any, role: str = ASSISTANT) -> Content:
    """Return what the content of a message says: a text, a part, or parts, as all providers write them.

    Parts of an assistant that follow each other are one text, cut where a citation begins, so they join without a
    blank; a call or a result between them begins a new line, as each part of a user does. An image without text is
    the placeholder `[image]`. Thoughts are left out.
    """
    if isinstance(content, str):
        return Content(without_thoughts(content) if role == ASSISTANT else content)
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return Content(None)
    texts, sources, media = [""], list[str](), list[str]()
    called, has_text = False, not content
    for part in content:
        if _is_thought(part):
            continue
        if (text := part_text(part)) is not None:
            has_text = True
            if role == ASSISTANT:
                texts[-1] += text
            else:
                texts.append(text)
        elif isinstance(part, Mapping):
            results, calls = part_results(part), _is_call(part)
            sources, called = [*sources, *results], called or calls
            if results or calls:
                texts.append("")
            elif name := _medium(part):
                media.append(f"[{name}]")
    if not has_text:
        return Content(" ".join(media) or None, tuple(sources), called)
    whole = "\n".join(text for text in texts if text)
    return Content(without_thoughts(whole) if role == ASSISTANT else whole, tuple(sources), called)


def part_text(part: Any) -> str | None:
    """Return the text of one part; None for an image, a call and the like."""
    if not isinstance(part, Mapping):
        return part if isinstance(part, str) else None
    kind = str(part.get("type", ""))
    if kind in _RESULTS or kind in _CALLS or kind.startswith("tool"):
        return None
    if isinstance(cited := part.get("citationsContent"), Mapping):  # Bedrock
        return "".join(text for held in cited.get("content") or () if (text := part_text(held)))
    text = part.get("text", part.get("refusal", part.get("transcript")))
    if text is None and kind in ("text", "output_text", "input_text"):
        text = part.get("content")
    if isinstance(text, Mapping):  # OpenAI's threads
        text = text.get("value")
    return text if isinstance(text, str) else None


def part_results(part: Mapping[str, Any]) -> list[str]:
    """Return the results of tools in one part of a message, or in one item of OpenAI's responses."""
    kind = str(part.get("type", ""))
    value = next((part[key] for key in _RESULT_KEYS if part.get(key) is not None), None)
    if value is None and (kind in _RESULTS or kind.endswith(("_tool_result", "_call_output"))):
        value = part
    if value is None and (kind.startswith(("tool-", "dynamic-tool", "mcp_call")) or kind.endswith("_search_call")):
        done = part.get("toolInvocation")
        done = done if isinstance(done, Mapping) else part
        value = next((done[key] for key in ("output", "result", "results") if done.get(key)), None)
        return source_texts(value)
    if isinstance(value, Mapping):
        value = next((value[key] for key in _OUTPUTS if value.get(key) is not None), None)
    return [] if value is None else [_result_text(value)]


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list; none of anything else."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def source_texts(value: Any) -> list[str]:
    """Return the texts of retrieved documents or results of tools: of a list each, of an object its text."""
    if isinstance(value, Mapping) and isinstance(held := value.get("documents"), list):
        value = held
    texts = (_document_text(document) for document in (value if isinstance(value, list) else [value]))
    return [text for text in texts if text.strip()]


def _document_text(document: Any) -> str:
    """Return the text of one document."""
    if not isinstance(document, Mapping):
        return "" if document is None else _result_text(document)
    held = document.get("document", document.get("kwargs"))
    if isinstance(held, Mapping):
        return _document_text(held)
    return next((document[key] for key in _DOCUMENT if isinstance(document.get(key), str)), None) or _result_text(
        document
    )


def _result_text(value: Any) -> str:
    """Return what a tool gave back as a text: its texts, else the JSON."""
    if isinstance(value, Mapping) and value.keys() == {"type", "value"}:  # AI SDK
        value = value["value"]
    text = read_content(value, USER).text if isinstance(value, (list, str)) else part_text(value)
    return text if text else json.dumps(value, ensure_ascii=False, default=str)


def _is_thought(part: Any) -> bool:
    """Return whether a part holds what a model thinks."""
    return isinstance(part, Mapping) and (part.get("type") in _REASONING or bool(part.get("thought")))


def _is_call(part: Mapping[str, Any]) -> bool:
    """Return whether a part calls a tool, or is what the tool gave back."""
    kind = str(part.get("type", ""))
    known = kind in _CALLS or kind in _RESULTS or kind.startswith(("tool", "dynamic-tool"))
    return known or not part.keys().isdisjoint((*_CALL_KEYS, *_RESULT_KEYS))


def _medium(part: Mapping[str, Any]) -> str:
    """Return what a part without text shows: image, audio, video or file; "" for marks such as `step-start`."""
    kind = str(part.get("modality") or part.get("type", ""))
    held = next((part[key] for key in _MEDIA_KEYS if isinstance(part.get(key), Mapping)), part)
    mime = str(next((held[key] for key in _MIME_KEYS if held.get(key)), "")).partition("/")[0]
    for name in ("image", "audio", "video"):
        if name in kind or mime == name or name in part:
            return name
    return "file" if held is not part or kind in ("file", "input_file", "document", "blob", "uri") else ""
