"""The page as it is sent: what a browser may do with it, what its words cover, and what its examples show."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import get_args

import pytest
from fastapi.testclient import TestClient

import rejoinder
from page import Page
from rejoinder.data.strict import AGAIN
from rejoinder.example import Example
from rejoinder.judges import domain
from rejoinder.judges.features.table import Group
from rejoinder.scorer import FACTS_NOT_CHECKED, run
from rejoinder.scoring.catalog import load_scorer, load_scorers
from rejoinder.serving.app import make_app
from rejoinder.serving.limits import Limits
from rejoinder.serving.page import GROUPS, SAMPLES, WARNINGS, WORDS

TOKEN = "a token of some length"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(make_app(load_scorers("length"), token=TOKEN, limits=Limits(body=1000))) as client:
        yield client


def test_a_browser_may_run_and_load_nothing_but_its_files(client: TestClient) -> None:
    front = client.get("/")
    policy = dict(part.split(" ", 1) for part in front.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    page = Page(front.text)
    assert all(script.keys() == {"src", "type"} for script in page.all("script"))
    assert page.all("style") == []
    attributes = [name for _, given, _ in page.elements for name in given]
    assert not [name for name in attributes if name.startswith("on") or name == "style"]


def test_its_files_are_there_and_no_others(client: TestClient) -> None:
    page = Page(client.get("/").text)
    links = [given["src"] for given in page.all("script")] + [given["href"] for given in page.all("link")]
    for link in (one for one in links if one and not one.startswith("data:")):
        found = client.get(f"/{link}")
        assert found.status_code == 200 and found.headers["x-content-type-options"] == "nosniff"
    for name in ("page.py", "page.html.jinja", "..%2Fpage.py", "nothing.js"):
        assert client.get(f"/static/{name}").status_code == 404


def test_the_page_needs_no_token_and_what_it_asks_does(client: TestClient) -> None:
    assert client.get("/").status_code == client.get("/static/page.js").status_code == 200
    assert client.head("/").status_code == 200, "what watches a service asks so"
    assert client.post("/v1/turns", content="A: Hi\nB: Ho").status_code == 401


def test_a_pasted_dialogue_comes_back_as_turns(client: TestClient) -> None:
    known = {"Authorization": f"Bearer {TOKEN}"}
    answer = client.post("/v1/turns", content=b"A: Hi\nB: Ho", headers=known)
    assert answer.json() == {"context": ["Hi"], "replies": ["Ho"], "references": [], "sure": True}
    unclear = client.post("/v1/turns", content=b'{"answer": "a", "prediction": "b"}', headers=known)
    assert unclear.status_code == 422 and "answer and prediction" in unclear.json()["error"]["message"]
    assert client.post("/v1/turns", content=b"\xff", headers=known).status_code == 422
    assert client.post("/v1/turns", content=b"a" * 1001, headers=known).status_code == 413


def test_every_part_of_an_explanation_and_every_note_has_words(client: TestClient) -> None:
    assert set(GROUPS) == set(get_args(Group))
    own = {value for name, value in vars(domain).items() if name.isupper() and isinstance(value, str)}
    own -= {domain.SHORT_CHAT, domain.FITTED_LINES, AGAIN}
    assert own <= set(WARNINGS)
    (body,) = Page(client.get("/").text).all("body")
    assert json.loads(body["data-groups"] or "") == GROUPS
    assert json.loads(body["data-warnings"] or "") == WARNINGS
    assert json.loads(body["data-words"] or "") == WORDS and WORDS["facts"] == FACTS_NOT_CHECKED


def test_the_examples_show_what_they_say(client: TestClient) -> None:
    buttons = [given for given in Page(client.get("/").text).all("button") if "data-sample" in given]
    assert [json.loads(given["data-sample"] or "")["name"] for given in buttons] == [one.name for one in SAMPLES]
    examples = [Example(one.turns, reply) for one in SAMPLES for reply in one.replies]
    scores = rejoinder.score(examples)
    assert scores.scored.all(), "the judge can judge each of them"
    values = iter(scores.values.tolist())
    good, off, compared, lapse, facts = ([next(values) for _ in one.replies] for one in SAMPLES)
    assert good[0] > 4 > 2 > off[0]
    assert compared[0] > compared[1]
    assert abs(facts[0] - facts[1]) < 0.5, "it knows no facts, so it cannot tell them apart"
    talk = SAMPLES[3].turns
    turns = [Example(talk[:end], talk[end]) for end in range(1, len(talk), 2)]
    assert run(load_scorer("rejoinder"), turns).values.argmin() == 2 and lapse[0] > 3
