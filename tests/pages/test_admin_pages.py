"""The page of whoever runs a study: closed without its password, and what it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import rejoinder
from rejoinder.annotation.answers import Answer, save
from rejoinder.annotation.study import Study, annotate
from rejoinder.pages import admin
from rejoinder.pages.app import make_app
from studies import rate_all, raters, replies


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return annotate(replies(), tmp_path / "study")


@pytest.fixture
def client(study: Study, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    admin._failed.clear()
    with TestClient(make_app(study)) as client:
        yield client


def enter(client: TestClient, study: Study) -> str:
    """The page behind the password."""
    return client.post("/admin/login", data={"password": study.password}).text


def test_without_the_password_nothing_is_shown(client: TestClient, study: Study) -> None:
    shown = client.get("/admin").text
    assert "Password of the study" in shown and not any(rater.token in shown for rater in raters(study))
    assert client.post("/admin/login", data={"password": "guess"}).status_code == 403
    for cookie in ("", "x", "9999999999.x", f"9999999999.{study.password}", "é.é"):
        headers = {b"Cookie": f"session={cookie}".encode()}
        assert "Password of the study" in client.get("/admin", headers=headers).text
        assert client.get("/admin/rows.csv", headers=headers).status_code == 403
        assert client.post("/admin/raters", data={"mark": "x"}, headers=headers).status_code == 403
    assert len(raters(study)) == 3


def test_guessing_is_slowed_down(client: TestClient, study: Study) -> None:
    codes = [client.post("/admin/login", data={"password": str(guess)}).status_code for guess in range(12)]
    assert codes == [403] * 10 + [429] * 2
    assert client.post("/admin/login", data={"password": study.password}).status_code == 429


def test_progress_links_agreement_and_comments(client: TestClient, study: Study) -> None:
    first, second, _ = raters(study)
    rate_all(study, first, 4)
    rate_all(study, second, 4, heed=False)
    save(study, Answer(second.number, 1, {"overall": 2}, 7.0, 2000.0, "Not <b>good</b>."))
    shown = " ".join(re.sub(r"<[^>]+>", " ", enter(client, study)).split())
    assert "26 of 39 answers are in." in shown
    assert "rater-1 13 of 13 1 of 1 1.5 s" in shown and "rater-2 13 of 13 0 of 1" in shown
    assert f"http://testserver/r/{first.token}" in shown
    assert "12 replies with 2 ratings." in shown
    assert "Not &lt;b&gt;good&lt;/b&gt;." in shown
    assert re.search(r"overall -?\d\.\d\d \d\.\d\d 24 12", shown), shown


def test_raters_who_all_say_the_same_have_no_alpha(client: TestClient, study: Study) -> None:
    for rater in raters(study):
        rate_all(study, rater, 4)
    assert "not yet: all ratings are the same" in enter(client, study)


def test_no_answer_yet(client: TestClient, study: Study) -> None:
    shown = enter(client, study)
    assert "0 of 39 answers are in." in shown and "12 replies with 0 ratings." in shown and "not yet: " in shown


def test_a_rater_is_added_by_a_form_of_this_page_alone(client: TestClient, study: Study) -> None:
    (mark,) = re.findall(r'name="mark" value="(\w+)"', enter(client, study))
    assert client.post("/admin/raters", data={"mark": "x"}).status_code == 403
    assert client.post("/admin/raters", data={"mark": mark}).status_code == 200
    assert len(raters(study)) == 4


def test_the_cookie_is_kept_from_scripts_and_other_sites(client: TestClient, study: Study) -> None:
    sent = client.post("/admin/login", data={"password": study.password}, follow_redirects=False)
    said = sent.headers["set-cookie"].lower()
    assert "httponly" in said and "samesite=strict" in said and "path=/admin" in said


def test_rows_are_downloaded(client: TestClient, study: Study, tmp_path: Path) -> None:
    rate_all(study, raters(study)[0])
    enter(client, study)
    for suffix in ("csv", "jsonl"):
        sent = client.get(f"/admin/rows.{suffix}")
        assert sent.headers["content-disposition"] == f'attachment; filename="rows.{suffix}"'
        (tmp_path / f"got.{suffix}").write_bytes(sent.content)
        assert len(list(rejoinder.read(tmp_path / f"got.{suffix}"))) == 12
    assert client.get("/admin/rows.exe").status_code == 404
