"""How a language model's chat template writes conversations, learned from it once.

A template is a program, and may come from a stranger: it is run once for each number of messages, in a process with
little memory and time, over marks in place of texts. What is kept are the pieces between the marks, so that later no
text can make it run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rejoinder.errors import UnusableModel
from rejoinder.llm import template_process

MAX_TURNS = 5  # turns of a context; their number is odd
_WAIT = 60  # seconds; its time on the processor ends before
_INHERITED = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "LANG")
_SPACE = "\u2003"  # no template writes this space, so whether it is there tells whether the template trims texts
_MARK = re.compile(f"({_SPACE}?)REJOINDER([0-9])MESSAGE({_SPACE}?)")
_ROLES = ("user", "assistant")

Messages = list[dict[str, str]]


class Slot(NamedTuple):
    """Where a message is written.

    Attributes:
        message: which message.
        before: whether the space before it is kept.
        after: whether the space after it is kept.
    """

    message: int
    before: bool
    after: bool


@dataclass(frozen=True)
class ChatForm:
    """Conversations as a model was taught to read them.

    Attributes:
        pieces: by the number of messages, and whether the assistant is to go on: texts, and slots between them.
    """

    pieces: Mapping[tuple[int, bool], Sequence[str | Slot]]

    def written(self, messages: Messages, *, ask: bool = False) -> str:
        """The messages as one text; with `ask`, up to where the assistant begins."""
        return "".join(
            piece if isinstance(piece, str) else _trimmed(messages[piece.message]["content"], piece)
            for piece in self.pieces[len(messages), ask]
        )

    def end(self, count: int) -> str:
        """The text that ends the last of `count` messages."""
        return self.between(count, count - 1)

    def between(self, count: int, index: int) -> str:
        """The text between the message at `index` of `count` and the next."""
        pieces = self.pieces[count, False]
        place = next(place for place, piece in enumerate(pieces) if isinstance(piece, Slot) and piece.message == index)
        following = pieces[place + 1]
        return following if isinstance(following, str) else ""


def _trimmed(text: str, slot: Slot) -> str:
    """A message without the spaces that a template takes away."""
    text = text if slot.before else text.lstrip()
    return text if slot.after else text.rstrip()


def chat_form(template: str, tokens: Mapping[str, str], called: str) -> ChatForm:
    """The form that a chat template writes.

    Args:
        template: in the language of jinja2; "" for a plain form.
        tokens: the special tokens that it may name.
        called: the model's name in messages.

    Raises:
        UnusableModel: the template raises, does not end, writes too much, or leaves messages out.
    """
    kinds = [(count, True) for count in range(1, MAX_TURNS + 1, 2)]
    kinds += [(count, False) for count in range(2, MAX_TURNS + 3)]
    marked = [
        [{"role": _ROLES[index % 2], "content": f"{_SPACE}REJOINDER{index}MESSAGE{_SPACE}"} for index in range(count)]
        for count, _ in kinds
    ]
    conversations = [(messages, ask) for messages, (_, ask) in zip(marked, kinds, strict=True)]
    texts = _rendered(template, tokens, conversations, called) if template else [_plain(*one) for one in conversations]
    form = ChatForm({kind: _split(text) for kind, text in zip(kinds, texts, strict=True)})
    for count, ask in kinds:
        needed = [count - 1] if ask or count == 2 else [count - 2, count - 1]
        indices = [piece.message for piece in form.pieces[count, ask] if isinstance(piece, Slot)]
        if indices[-len(needed) :] != needed or any(indices.count(index) != 1 for index in needed):
            raise _refusal(called, "leaves out messages, or writes them twice")
    for count in range(2, MAX_TURNS + 2, 2):
        if not form.between(count + 1, count - 1).startswith(form.end(count)):
            raise _refusal(called, "ends a reply in another way when more is said")
    return form


def _split(text: str) -> list[str | Slot]:
    """The texts between marks, with a slot for each mark."""
    first, *rest = _MARK.split(text)
    pieces: list[str | Slot] = [first]
    for place in range(0, len(rest), 4):
        before, index, after, following = rest[place : place + 4]
        pieces += [Slot(int(index), bool(before), bool(after)), following]
    return pieces


def _plain(messages: Messages, ask: bool) -> str:
    """The messages as a transcript, for a model that has no template."""
    turns = "".join(f"{'A' if one['role'] == 'user' else 'B'}: {one['content']}\n" for one in messages)
    return turns + "B: " * ask


def _rendered(template: str, tokens: Mapping[str, str], conversations: Any, called: str) -> list[str]:
    """What a template writes of conversations, by a process that has limits."""
    task = {
        "path": [path for path in sys.path if Path(path).is_absolute()],
        "template": template,
        "tokens": tokens,
        "conversations": conversations,
    }
    try:
        done = subprocess.run(  # noqa: S603 (this Python, and a file of this package)
            [sys.executable, "-I", "-B", str(Path(template_process.__file__)), str(template_process.SECONDS)],
            input=json.dumps(task),
            capture_output=True,
            encoding="utf-8",
            timeout=_WAIT,
            check=False,
            env={name: os.environ[name] for name in _INHERITED if name in os.environ},
        )
        result = json.loads(done.stdout) if done.returncode == 0 else {}
    except (OSError, subprocess.TimeoutExpired, ValueError):
        result = {}
    if "texts" not in result:
        problem = result.get(
            "problem", f"does not end within {template_process.SECONDS} seconds, or takes too much memory"
        )
        raise _refusal(called, problem)
    texts: list[str] = result["texts"]
    return texts


def _refusal(called: str, problem: str) -> UnusableModel:
    """The error that says what a template does."""
    return UnusableModel(f"{called}: its chat template {problem}. Take a model whose template is sound")
