"""What goes in and comes out, for the description at /openapi.json. What is sent is read by `bodies`, as files are."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from rejoinder.scoring.domain import OutOfDomain

JSON = "application/json"
MOST_SEED = 2**32 - 1
_EXAMPLE: JsonDict = {"context": ["Do you like films?"], "response": "Yes, above all old ones.", "id": "a1"}


class Line(BaseModel):
    """One reply with its conversation, as a line of a file (docs/formats.md).

    Other names of the usual logs are understood. Keys that are not known come back as they were.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [_EXAMPLE]})

    response: str = Field(description="The reply to judge.")
    context: list[str] = Field(default_factory=list, description="The turns before it, oldest first.")
    references: list[str] = Field(default_factory=list, description="Replies by people to the same context.")
    id: str | None = Field(default=None, description="Names the line in the answer.")
    system: str | None = Field(default=None, description="Who replied.")


class Explained(BaseModel):
    """What moved a score: base and moves add up to it."""

    base: float = Field(description="The score of an average line.")
    moved: dict[str, float] = Field(description="What each group of features added.")


class Scored(BaseModel):
    """A line with its scores, by scorer: what `rejoinder score` writes. The line's own keys come along."""

    model_config = ConfigDict(extra="allow")

    id: str
    scores: dict[str, float | None] = Field(description="null where there is none; `unscored` says why.")
    unscored: dict[str, str]
    warnings: dict[str, list[str]] = Field(description="What to know before you trust the score.")
    intervals: dict[str, tuple[float, float]] | None = Field(
        default=None, description="Of scorers that say how sure they are."
    )
    explained: dict[str, Explained] | None = Field(default=None, description="Where `explain` asks for it.")
    signatures: dict[str, str] = Field(description="Where each score comes from.")


class Results(BaseModel):
    """One result for each line, in the order in which they were sent."""

    results: list[Scored]


class Error(BaseModel):
    """What is wrong, in the words of the command line."""

    message: str
    where: str | None = Field(description="The place in the body, such as `body:item 3`.")
    line: int | None = Field(description="The number of the line, from 1.")
    field: str | None = Field(description="The key at fault.")


class Problem(BaseModel):
    """The answer where something could not be done."""

    error: Error


class ServedScorer(BaseModel):
    """One of the scorers that can be asked for."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(description="What to ask for: `?scorer=NAME`.")
    kind: str
    summary: str
    needs: list[str]
    range: list[float | None]
    scale: tuple[float, float] | None = Field(description="The lowest and highest rating that a judge predicts.")
    higher_is_better: bool | None
    domain: str = Field(description="The replies that it can judge; empty where none is declared.")
    unread: list[str] = Field(description="What it does not read, such as facts.")
    explains: bool = Field(description="Whether it says what moved its scores.")
    signature: dict[str, Any]


class Scorers(BaseModel):
    """All scorers that can be asked for, the default first."""

    version: int
    results: list[ServedScorer]


class Health(BaseModel):
    """Whether the service is alive, and whether it takes requests now."""

    live: bool
    ready: bool
    waiting: int = Field(description="Lines that wait to be scored.")
    oldest_seconds: float = Field(description="How long the oldest of them has waited, or has been scored.")
    version: str


class ScoreQuery(BaseModel):
    """What is asked of lines."""

    model_config = ConfigDict(extra="forbid")

    scorer: list[str] = Field(
        default_factory=list, description="A scorer of /v1/scorers; repeat for more. Default: the first of them."
    )
    explain: bool = Field(default=False, description="Also say what moved each score, and by how much.")
    out_of_domain: OutOfDomain = Field(
        default="withhold",
        description="Scores of replies that a judge cannot judge: left out (`out of domain`), or written.",
    )


class CompareQuery(BaseModel):
    """How two systems are compared."""

    model_config = ConfigDict(extra="forbid")

    scorer: list[str] = Field(
        default_factory=list, description="A scorer of /v1/scorers; repeat for more. Default: the first of them."
    )
    pair_by: Literal["id", "context", "none"] | None = Field(
        default=None, description="Which replies belong together. Default: decided by the lines."
    )
    by: str | None = Field(default=None, description="A key of the lines: also compare under each of its values.")
    resamples: int = Field(default=1_000, ge=100, le=10_000, description="Behind each interval and each p.")
    seed: int = Field(default=0, ge=0, le=MOST_SEED, description="Decides every random choice.")


class AuditQuery(BaseModel):
    """How a scorer is audited."""

    model_config = ConfigDict(extra="forbid")

    scorer: str | None = Field(default=None, description="A scorer of /v1/scorers. Default: the first of them.")
    family: list[str] = Field(default_factory=list, description="An attack; repeat for more. Default: all.")
    limit: int = Field(default=50, ge=1, le=200, description="How many replies are attacked at most.")
    seed: int = Field(default=0, ge=0, le=MOST_SEED, description="Decides every random choice.")


class Record(BaseModel):
    """What was found: the answer in words, then the figures behind it."""

    model_config = ConfigDict(extra="allow")

    version: int
    answer: list[str]
    results: list[dict[str, Any]]


def takes(schema: dict[str, Any], media: str = JSON) -> dict[str, Any]:
    """The part of a description that says what a body holds."""
    return {"requestBody": {"required": True, "content": {media: {"schema": schema}}}}


LINES: dict[str, Any] = {
    "anyOf": [
        {"$ref": "#/components/schemas/Line"},
        {"type": "array", "items": {"$ref": "#/components/schemas/Line"}, "minItems": 1},
    ]
}
"""One line or several."""
SIDES: dict[str, Any] = {
    "type": "object",
    "properties": {"a": LINES, "b": LINES},
    "required": ["a", "b"],
    "additionalProperties": False,
}
"""The lines of two systems."""

_SAID = {
    400: "The call is wrong: no such scorer or parameter.",
    401: "No token, or not the right one.",
    408: "The body did not come in time.",
    413: "The body is too large, or holds too many lines, or a line is too long.",
    415: "The body is packed.",
    422: "The body cannot be used.",
    501: "A scorer needs what is not installed here.",
    503: "Too much is asked for at once; `Retry-After` says when to come back.",
    504: "The request took longer than the time limit by itself.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The part of a description that says how a request can fail."""
    return {status: {"model": Problem, "description": _SAID[status]} for status in statuses}
