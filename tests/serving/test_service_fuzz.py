"""The service against its own description: whatever a client sends, none of its answers is 500."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from servers import Server, serving

schemathesis = pytest.importorskip("schemathesis")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
EXAMPLES = 60
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
]
ROUTES = [
    "POST /v1/score",
    "POST /v1/score/stream",
    "POST /v1/turns",
    "POST /v1/compare",
    "POST /v1/audit",
    "GET /v1/scorers",
    "GET /health",
    "GET /metrics",
]


@schemathesis.serializer("application/x-ndjson")  # type: ignore[untyped-decorator]
def as_lines(_context: Any, value: Any) -> bytes:
    """What was drawn for a body of JSON lines, as it is."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("fuzzed"), scorers=("length", "context-overlap"), patience=20) as server:
        yield server


def test_every_route_is_asked(server: Server) -> None:
    _, described = server.ask("GET", "/openapi.json")
    found = {f"{method.upper()} {path}" for path, one in described["paths"].items() for method in one}
    assert found == set(ROUTES)


@pytest.mark.parametrize(
    ("mode", "route"),
    [("positive", route) for route in ROUTES] + [("negative", route) for route in ROUTES if route.startswith("POST")],
)
def test_no_answer_is_a_fault_and_each_is_described(server: Server, mode: str, route: str) -> None:
    method, path = route.split()
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/openapi.json")
    operation = schema[path][method]
    wanted = schemathesis.checks.CHECKS.get_by_names(CHECKS)

    @given(case=operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode)))
    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def asked(case: object) -> None:
        case.call_and_validate(checks=wanted)  # type: ignore[attr-defined]

    asked()
