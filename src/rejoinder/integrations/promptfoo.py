"""An assertion of promptfoo: a file with `from rejoinder.integrations.promptfoo import get_assert` is one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rejoinder.catalogue import DEFAULT, load_scorer
from rejoinder.improve.reward import reward
from rejoinder.integrations.judged import example_of, judged
from rejoinder.io.chat import is_conversation
from rejoinder.records import Example


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a reply is good enough, as promptfoo asks.

    The assertion's `config` may say `scorer` (the judge in the box where it does not), `at_least`, the least score that
    passes, on the scorer's own scale, and the names of the variables that hold the `context`, where that is not the
    prompt, and the `references`.

    Args:
        output: the reply.
        context: what promptfoo hands over: the prompt, the variables, the assertion's `config`.

    Returns:
        `pass`, `score` from 0 to 1 as promptfoo has it, `reason`, and the scorer's own number among `namedScores`. A
        reply without a score fails.

    Raises:
        UsageError: there is no such scorer, or it has no bounds.
    """
    config = context.get("config") or {}
    scorer = load_scorer(config.get("scorer", DEFAULT))
    example = _example(output, context, config)
    found = judged(example, scorer)
    if found.value is None:
        return {"pass": False, "score": 0.0, "reason": found.words}
    worth = reward(scorer, references="references")
    (share,) = worth([example.context], [example.response], references=[example.references])
    return {
        "pass": found.value >= config.get("at_least", found.value),
        "score": share,
        "reason": found.words,
        "namedScores": {scorer.card.name: found.value},
    }


def _example(output: Any, context: Mapping[str, Any], config: Mapping[str, Any]) -> Example:
    """The reply with what it answers and what it is compared with."""
    given = context.get("vars") or {}
    asked = given.get(config["context"]) if "context" in config else context.get("prompt")
    return example_of(_messages(asked), output, given.get(config.get("references")))


def _messages(prompt: Any) -> Any:
    """Chat messages where a prompt is JSON of such; anything else as it is."""
    if not isinstance(prompt, str):
        return prompt
    try:
        decoded = json.loads(prompt)
    except ValueError:
        return prompt
    return decoded if is_conversation(decoded) else prompt
