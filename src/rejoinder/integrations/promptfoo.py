"""An assertion of promptfoo: a file with `from rejoinder.integrations.promptfoo import get_assert` is one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rejoinder.analysis.quality import require_least
from rejoinder.data.messages import is_chat
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.improve.reward import reward
from rejoinder.integrations.judged import example_of, judged
from rejoinder.scoring.catalog import DEFAULT, load_scorer

_CONFIG = ("at_least", "scorer", "context", "references")


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a reply is good enough, as promptfoo asks.

    The assertion's `config` says `at_least`, the least score that passes, on the scorer's own scale. It may say
    `scorer` (the judge in the box where it does not), and the names of the variables that hold the `context`, where
    that is not the prompt, and the `references`.

    Args:
        output: the reply.
        context: what promptfoo hands over: the prompt, the variables, the assertion's `config`.

    Returns:
        `pass`, `score` from 0 to 1 as promptfoo has it, `reason`, and the scorer's own number among `namedScores`. A
        reply without a score fails, and so does one that is out of the scorer's domain, such as one in another
        language: it has no score, and the reason says what to use instead.

    Raises:
        UsageError: there is no such scorer, or it has no bounds; the config has no `at_least`, or names what is not
            there.
    """
    config = context.get("config") or {}
    if unknown := next((key for key in config if key not in _CONFIG), None):
        raise UsageError(f"the config of the assertion holds {unknown!r}, expected {', '.join(_CONFIG)}")
    scorer = load_scorer(config.get("scorer", DEFAULT))
    at_least: Any = config.get("at_least")
    require_least(scorer, at_least)
    example = _example(output, context, config)
    found = judged(example, scorer)
    if found.value is None:
        return {"pass": False, "score": 0.0, "reason": found.untold}
    worth = reward(scorer, references="references")
    (share,) = worth([example.context], [example.response], references=[example.references])
    named = {scorer.card.name: found.value}
    return {"pass": found.value >= at_least, "score": share, "reason": found.words, "namedScores": named}


def _example(output: Any, context: Mapping[str, Any], config: Mapping[str, Any]) -> Example:
    """The reply with what it answers and what it is compared with."""
    given = context.get("vars") or {}
    asked = _variable(given, config, "context") if "context" in config else context.get("prompt")
    references = _variable(given, config, "references") if "references" in config else None
    return example_of(_messages(asked), output, references)


def _variable(given: Mapping[str, Any], config: Mapping[str, Any], key: str) -> Any:
    """What the variable holds that the config names under `key`."""
    name = config[key]
    if name not in list(given):  # a list: what cannot be hashed is no name either
        found = ", ".join(given) or "none"
        raise UsageError(f"the config says {key}: {name}, but there is no such variable (found: {found}). Name one")
    return given[name]


def _messages(prompt: Any) -> Any:
    """Chat messages where a prompt is JSON of such; anything else as it is."""
    if not isinstance(prompt, str):
        return prompt
    try:
        decoded = json.loads(prompt)
    except ValueError:
        return prompt
    return decoded if is_chat(decoded) else prompt
