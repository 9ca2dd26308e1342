"""A language model as judge whose faults are known, behind an endpoint on loopback; and replies that people rated.

What a reply is worth is what people said of it in the sample. Raters and judge see that with noise of their own; the
judge likes length too, and of a reply that it never saw it thinks what it thinks of the nearest one, whatever order its
words stand in.
"""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np

import rejoinder
from loopback import Entry, completion
from rejoinder.example import Example

LENGTH_BIAS, USUAL = 0.04, 12
"""What each word more than the usual number adds to the judge's score."""
NOISE, OWN_NOISE = 0.4, 0.6
"""Standard deviations: of what the judge says of a reply whenever it is asked, and of each answer by itself."""
RATER_NOISE = 0.9
REFUSED = 40
"""One answer in so many cannot be read; one question in four times so many is first answered with 429."""
LINES = 300


def drawn(*what: object) -> float:
    """A number from the standard normal distribution that follows from `what` alone."""
    return random.Random(hashlib.sha256(repr(what).encode()).digest()[:8]).gauss(0, 1)


def sample() -> list[Example]:
    """Replies of the sample in the box."""
    return list(rejoinder.read("@conture"))[:LINES]


def worth(line: Example) -> float:
    """What a reply is worth, from 2 to 4; the sample has it from 0 to 2."""
    return 2 + line.quality["overall"]


class Judge:
    """What the endpoint answers; it counts what that costs."""

    def __init__(self) -> None:
        self.known: dict[str, list[tuple[str, float]]] = {}
        for line in sample():
            self.known.setdefault(" ".join(line.context), []).append((line.response, worth(line)))
        self.busy: set[str] = set()
        self.asked = self.read = self.written = 0

    def lasting(self, context: str, response: str) -> float:
        """The judge's opinion of a reply, which each answer gives with noise of its own."""
        words = response.split()
        nearest, value = max(self.known.get(context, [("", 2.0)]), key=lambda one: overlap(one[0], response))
        value = 1 + (value - 1) * overlap(nearest, response)
        return value + LENGTH_BIAS * (len(words) - USUAL) + NOISE * drawn("of the reply", context, nearest)

    def __call__(self, body: dict[str, Any]) -> Entry:
        """The answer to the body of a request."""
        question = body["messages"][0]["content"]
        line = next(line for line in question.splitlines() if line.startswith('{"context"'))
        given, answer = json.loads(line), body.get("seed", 0)
        context, response = " ".join(given["context"]), given["response"]
        luck = int(hashlib.sha256(f"{answer}{line}".encode()).hexdigest(), 16)
        if luck % (4 * REFUSED) == 1 and line not in self.busy:
            self.busy.add(line)
            return 429, {"Retry-After": "0"}, b"{}"
        score = self.lasting(context, response) + OWN_NOISE * drawn(answer, context, response)
        said = json.dumps({"score": round(min(5.0, max(1.0, score)), 1)})
        usage = {"prompt_tokens": len(question) // 4, "completion_tokens": 8}
        self.asked += 1
        self.read += usage["prompt_tokens"]
        self.written += usage["completion_tokens"]
        return completion("I would rather not judge this." if luck % REFUSED == 0 else said, usage=usage)

    def reliability(self, answers: int) -> float:
        """The share of the variance of a mean of so many answers that lies between the replies of the sample."""
        between = float(np.var([self.lasting(" ".join(line.context), line.response) for line in sample()]))
        return between / (between + OWN_NOISE**2 / answers)


def overlap(one: str, other: str) -> float:
    """The share of the words of one text that the other has."""
    words = set(one.lower().split())
    return len(words & set(other.lower().split())) / max(1, len(words))


def write_rated(folder: Path) -> None:
    """What docs/llm-judge.md takes for granted: replies with the ratings of three people, all of them and a few.

    `rated.jsonl` holds all, `few.jsonl` 60 of these lines, drawn by chance, and `replies.jsonl` all without ratings.
    """
    rng = random.Random(3)
    bare = [
        {
            "id": line.id,
            "dataset": line.dataset,
            "context": line.context,
            "response": line.response,
            "dialogue_id": line.extra["dialogue_id"],
        }
        for line in sample()
    ]
    rated = [{**record, **_ratings(line, rng)} for record, line in zip(bare, sample(), strict=True)]
    for name, lines in (("replies", bare), ("rated", rated), ("few", rng.sample(rated, 60))):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def _ratings(line: Example, rng: random.Random) -> dict[str, Any]:
    """What three people say of a reply."""
    stars = [min(5, max(1, round(rng.gauss(worth(line), RATER_NOISE)))) for _ in range(3)]
    return {"scale": [1, 5], "ratings": {"overall": stars}, "raters": ["ann", "bob", "cleo"]}
