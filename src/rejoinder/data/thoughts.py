"""Thoughts that a language model writes before or between its replies; they are no part of the reply."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_NAMES = (
    "antthinking|thinking|think|inner_thoughts|thoughts|thought|reasoning|analysis|reflection|scratchpad"
    "|inner_monologue|chain_of_thought|cot"
)
_PAIRS = (  # opening and closing tag, as models and servers write them
    (rf"<[|｜]?(?:\w+:)?(?:{_NAMES})(?:\s[^<>]{{0,200}})?[|｜]?>", rf"<[|｜]?/(?:\w+:)?(?:{_NAMES})\s*[|｜]?>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"◁think▷", r"◁/think▷"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|channel>thought\b", r"<channel\|>"),
    (r'<details\s+type="reasoning"[^<>]{0,200}>', r"</details>"),
)
_FLAGS = re.IGNORECASE | re.DOTALL
_TAG = re.compile("|".join(f"(?P<open{n}>{a})|(?P<close{n}>{b})" for n, (a, b) in enumerate(_PAIRS)), _FLAGS)
_OPENS_AT_THE_END = re.compile(rf"\s*(?:{'|'.join(start for start, _ in _PAIRS[:5])})\s*\Z", _FLAGS)
_NAME = re.compile(_NAMES, _FLAGS)
_NEVER_ALONE = "close6"  # `</details>` without its opening tag closes something else
_QUOTES = frozenset("`'\"“‘")
# The channels of gpt-oss, and their rest when a server drops the special tokens.
_CHANNEL = re.compile(r"\A\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>", _FLAGS)
_FINAL = re.compile(r"<\|channel\|>\s*final\b.{0,60}?<\|message\|>", _FLAGS)
_END = re.compile(r"<\|(?:end|return|call|start)\|>.*\Z", _FLAGS)
_BARE_CHANNELS = re.compile(r"\Aanalysis(?=\S).*?assistant\s?final(?=\S|\Z)", re.DOTALL)
_ENVELOPE = re.compile(  # around the reply that follows the thoughts
    r"\A\s*(?:<answer>(.*?)(?:</answer>|\Z)|<response>(.*?)(?:</response>|\Z)"
    r"|<\|begin_of_solution\|>(.*?)(?:<\|end_of_solution\|>|\Z)"
    r"|<\|START_RESPONSE\|>(.*?)(?:<\|END_RESPONSE\|>|\Z))\s*\Z",
    _FLAGS,
)


class _Thought(NamedTuple):
    """The place of a thought in a text, and whether a closing tag ends it."""

    start: int
    end: int
    closed: bool = True


def without_thoughts(text: str, *, anywhere: bool = False) -> str:
    """Return a text without the thoughts of the model that wrote it; a text without thoughts stays as it is.

    Thoughts are between tags that begin the text or a line. A closing tag alone ends thoughts whose opening tag was in
    the prompt. Thoughts at the beginning that never end leave an empty text.

    Args:
        text: a whole message.
        anywhere: whether tags inside a line count too, as in fresh output of a model. In other texts somebody may
            write about the tags.
    """
    if not (text.startswith("analysis") or any(mark in text for mark in "<[◁")):
        return text
    if _CHANNEL.match(text):
        final = list(_FINAL.finditer(text))
        return _END.sub("", text[final[-1].end() :]).strip() if final else ""
    if channels := _BARE_CHANNELS.match(text):
        return text[channels.end() :].strip()
    kept, at = list[str](), 0
    for thought in _thoughts(text):
        before = text[at : thought.start]
        first = not kept and not before.strip()
        begins_line = before.rstrip(" \t").endswith("\n") or not (before.strip(" \t") or first)
        if not (first or (begins_line and (thought.closed or anywhere)) or (anywhere and thought.closed)):
            continue
        if not first:
            kept.append(before)
        at = thought.end
        while text[at : at + 1].isspace() and (first or begins_line or text[at] in " \t"):
            at += 1
    spoken = "".join((*kept, text[at:]))
    if at and (envelope := _ENVELOPE.match(spoken)):
        return next(part for part in envelope.groups() if part is not None).strip()
    return spoken


def without_opening_tag(text: str) -> str:
    """Return a prompt without the tag at its end that makes a model begin with thoughts."""
    return _OPENS_AT_THE_END.sub("", text)


def _thoughts(text: str) -> Iterator[_Thought]:
    """Yield the thoughts of a text in one pass; quoted tags and tags in code do not count."""
    opened: tuple[int, str] | None = None
    met, fences, at = False, 0, 0
    for tag in _TAG.finditer(text):
        fences, at = fences + text.count("```", at, tag.start()), tag.end()
        kind, quoted = tag.lastgroup or "", text[tag.start() - 1 : tag.start()] in _QUOTES
        if quoted or (opened is None and fences % 2):
            continue
        if kind.startswith("open"):
            opened = opened or (tag.start(), _pair(tag))
        elif opened is not None and opened[1] == _pair(tag):
            yield _Thought(opened[0], tag.end())
            opened, fences = None, 0
        elif opened is None and not met and kind != _NEVER_ALONE:
            yield _Thought(0, tag.end())
        met = True
    if opened is not None:
        yield _Thought(opened[0], len(text), closed=False)


def _pair(tag: re.Match[str]) -> str:
    """Return a key that an opening tag shares with its closing tag."""
    pair = (tag.lastgroup or "")[-1]
    name = _NAME.search(tag.group()) if pair == "0" else None
    return f"{pair}{name.group().lower() if name else ''}"
