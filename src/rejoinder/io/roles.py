"""Names of roles: who speaks in chat messages, and whose turns are judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

USER, ASSISTANT = SIDES = ("user", "assistant")
_BOTS = frozenset(
    (
        *("assistant", "gpt", "chatgpt", "model", "bot", "chatbot", "ai"),
        *("virtual assistant", "virtual agent", "ai assistant", "ai agent"),
    )
)
_STAFF = frozenset(
    (
        *("agent", "support", "operator", "representative", "advisor"),
        *("admin", "teammate", "human agent", "live agent", "support agent"),
    )
)
"""Who answers where no bot does; beside one they are people who took over."""
_ROLES = {
    **dict.fromkeys(("user", "human", "prompter", "customer", "client", "visitor", "caller"), "user"),
    **dict.fromkeys(("end user", "end-user", "guest", "lead", "contact", "shopper", "patient"), "user"),
    **dict.fromkeys((*_BOTS, *_STAFF), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(
        ("tool", "function", "function_call", "function_response", "tool_call", "tool_response", "observation"), "tool"
    ),
}


def role_of(name: Any) -> str | None:
    """What a name of a role comes to: `user`, `assistant`, `system`, `tool`; None of any other name."""
    return _ROLES.get(name.strip().lower()) if isinstance(name, str) else None


def judged_in(names: Iterable[str]) -> list[str]:
    """Which of the names of roles in a conversation are judged."""
    known = {name.strip().lower(): name for name in names}
    staff = staff_in(known)
    return [name for plain, name in known.items() if role_of(plain) == ASSISTANT and plain not in staff]


def staff_in(names: Iterable[str | None]) -> frozenset[str]:
    """Which of the names in a conversation are of people who took over from a bot."""
    return frozenset() if _BOTS.isdisjoint(known := set(names)) else _STAFF & known
