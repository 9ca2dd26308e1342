"""The pages of a rater, asked for without a browser: what is shown, what is kept, and what is refused."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from conftest import Run
from rejoinder.annotation.answers import Rater, all_answers, next_place, task_at
from rejoinder.annotation.design import PAIRWISE, Design, Question
from rejoinder.annotation.study import Study, annotate
from rejoinder.example import Example
from rejoinder.pages.app import make_app
from rejoinder.pages.guard import LARGEST_FORM, shown_at, stamped
from studies import raters, replies


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return annotate(replies(), tmp_path / "study", design=Design(checks=0))


@pytest.fixture
def client(study: Study) -> Iterator[TestClient]:
    with TestClient(make_app(study)) as client:
        yield client


@pytest.fixture
def rater(study: Study) -> Rater:
    return raters(study)[0]


def mark(page: str) -> str:
    (found,) = re.findall(r'name="mark" value="([^"]+)"', page)
    return str(found)


def rate(client: TestClient, rater: Rater, place: int, answer: str = "4", **more: str) -> str:
    """Answer at a place as a browser would; where it leads."""
    shown = client.get(f"/r/{rater.token}/{place}").text
    data = {"mark": mark(shown), "answer-0": answer, **more}
    sent = client.post(f"/r/{rater.token}/{place}", data=data, follow_redirects=False)
    assert sent.status_code == 303, sent.text
    return sent.headers["location"]


def test_a_rater_goes_from_the_first_to_thanks(client: TestClient, study: Study, rater: Rater) -> None:
    begin = client.get(f"/r/{rater.token}").text
    assert "Begin" in begin and "There are 12 to rate" in begin
    shown = client.get(f"/r/{rater.token}/next")
    assert shown.url.path.endswith("/1") and "1 of 12" in shown.text
    for place in range(1, 13):
        assert rate(client, rater, place) == f"/r/{rater.token}/{place + 1 if place < 12 else 'done'}"
    assert "all 12 are done" in client.get(f"/r/{rater.token}/next").text
    assert len(all_answers(study)) == 12


def test_no_system_is_named(client: TestClient, rater: Rater) -> None:
    for place in range(1, 13):
        assert "system-" not in client.get(f"/r/{rater.token}/{place}").text


def test_an_answer_is_shown_again_and_can_be_changed(client: TestClient, study: Study, rater: Rater) -> None:
    rate(client, rater, 1, "2", comment="Hm.\x00")
    again = client.get(f"/r/{rater.token}/1").text
    assert re.search(r'value="2"[^>]* checked', again) and ">Hm.</textarea>" in again
    rate(client, rater, 1, "5")
    (answer,) = all_answers(study)
    assert (answer.values, answer.comment) == ({"overall": 5}, "")


def test_time_is_what_was_seen_but_no_more_than_went_by(client: TestClient, study: Study, rater: Rater) -> None:
    for place, said in ((1, "1000"), (2, "-3"), (3, "nan"), (4, "x"), (5, "0.001")):
        rate(client, rater, place, seconds=said)
    by_item = {answer.item: answer.seconds for answer in all_answers(study)}
    tasks = [task_at(study, rater, place) for place in range(1, 6)]
    seconds = [by_item[task.item.number] for task in tasks if task]
    assert all(one is not None and 0 <= one < 5 for one in seconds) and seconds[4] == 0


@pytest.mark.parametrize(("answer", "said"), [("", "Please choose"), ("6", "Please choose"), ("tie", "Please choose")])
def test_an_answer_that_is_none_is_asked_for_again(
    client: TestClient, study: Study, rater: Rater, answer: str, said: str
) -> None:
    shown = client.get(f"/r/{rater.token}/1").text
    data = {"mark": mark(shown), "answer-0": answer, "comment": "stays <here>"}
    sent = client.post(f"/r/{rater.token}/1", data=data)
    assert sent.status_code == 422 and said in sent.text and "stays &lt;here&gt;</textarea>" in sent.text
    assert all_answers(study) == []


def test_a_comment_that_is_too_long_is_not_cut_in_silence(client: TestClient, study: Study, rater: Rater) -> None:
    data = {"mark": mark(client.get(f"/r/{rater.token}/1").text), "answer-0": "3", "comment": "x" * 2001}
    sent = client.post(f"/r/{rater.token}/1", data=data)
    assert sent.status_code == 422 and "Please shorten the comment to 2,000 characters" in sent.text
    assert re.search(r'value="3"[^>]* checked', sent.text) and all_answers(study) == []


@pytest.mark.parametrize("path", ["/r/x", "/r/x/1", "/r/x/next", "/r/{}/99", "/r/{}/0", "/r/{}/x", "/nothing", "/docs"])
def test_what_is_not_there(client: TestClient, rater: Rater, path: str) -> None:
    answer = client.get(path.format(rater.token))
    assert answer.status_code == 404 and "There is no such page" in answer.text


def test_the_link_of_another_rater_cannot_be_guessed_nor_used(client: TestClient, study: Study) -> None:
    mine, other, _ = raters(study)
    nearly = mine.token[:-1] + ("A" if mine.token[-1] != "A" else "B")
    assert client.get(f"/r/{nearly}/1").status_code == 404
    form = mark(client.get(f"/r/{mine.token}/1").text)
    for path in (f"/r/{other.token}/1", f"/r/{mine.token}/2"):
        sent = client.post(path, data={"mark": form, "answer-0": "3"})
        assert sent.status_code == 403 and "not one that was shown to you" in sent.text
    assert all_answers(study) == []
    assert other.token not in client.get(f"/r/{mine.token}/1").text


@pytest.mark.parametrize("given", ["", "1.2", "x", "é.é", "١.x"])
def test_a_form_that_was_not_shown_is_refused(client: TestClient, study: Study, rater: Rater, given: str) -> None:
    assert client.post(f"/r/{rater.token}/1", data={"mark": given, "answer-0": "3"}).status_code == 403
    assert all_answers(study) == []


def test_a_mark_tells_when_and_for_whom_a_form_was_shown() -> None:
    now = time.time()
    made = stamped("secret", now, "ann", 3)
    assert shown_at("secret", made, "ann", 3) == pytest.approx(now, abs=0.001)
    assert shown_at("other", made, "ann", 3) is shown_at("secret", made, "bob", 3) is None
    assert shown_at("secret", f"{int(made.split('.')[0]) - 5000}.{made.split('.')[1]}", "ann", 3) is None


@pytest.mark.parametrize("known_length", [True, False])
def test_a_form_that_is_too_large_is_refused(client: TestClient, rater: Rater, known_length: bool) -> None:
    body = b"comment=" + b"x" * LARGEST_FORM
    parts = body if known_length else iter([body[:1000], body[1000:]])
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post(f"/r/{rater.token}/1", content=parts, headers=kind)
    assert answer.status_code == 413 and "too much at once" in answer.text


def test_every_answer_forbids_what_the_page_does_not_need(client: TestClient, rater: Rater) -> None:
    for path in ("/", f"/r/{rater.token}", f"/r/{rater.token}/1", "/static/rate.js", "/nothing", "/admin"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["referrer-policy"], headers["cache-control"]) == ("no-referrer", "no-store")
        assert (headers["x-content-type-options"], headers["x-frame-options"]) == ("nosniff", "DENY")


def test_texts_are_inert(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\" onload='x' {{ 7 * 7 }}"
    design = Design(title=evil, instructions=f"{evil} [x](javascript:alert(1)) ![y](http://z)", checks=0)
    study = annotate([Example((evil,), evil, id="1")], tmp_path / "study", raters=1, design=design)
    (rater,) = raters(study)
    with TestClient(make_app(study)) as client:
        for path in (f"/r/{rater.token}", f"/r/{rater.token}/1"):
            text = client.get(path).text
            assert "<script>alert" not in text and "{{ 7 * 7 }}" in text
            assert 'href="javascript' not in text and "<img" not in text


def test_another_name_for_this_machine_is_refused(study: Study) -> None:
    with TestClient(make_app(study, ["localhost"]), base_url="http://evil.example") as client:
        assert client.get("/").status_code == 400


def test_two_replies_stand_in_either_order_and_the_answer_is_about_the_reply(tmp_path: Path) -> None:
    study = annotate(replies(8, 2), tmp_path / "study", raters=1, design=PAIRWISE)
    (rater,) = raters(study)
    seen = set()
    with TestClient(make_app(study)) as client:
        while (place := next_place(study, rater)) is not None:
            text = client.get(f"/r/{rater.token}/{place}").text
            task = task_at(study, rater, place)
            assert task is not None
            if task.item.passes is None:
                shown = re.findall(r"Reply of kind (\d)", text)
                assert sorted(shown) == ["0", "1"]
                seen.add(tuple(shown))
                code = re.findall(r'value="(\w+)" data-key="a"', text)[0]  # that the reply that stands first is better
                assert code == shown[0]
            rate(client, rater, place, "tie" if task.item.passes is None else "0")
    assert seen == {("0", "1"), ("1", "0")}


def test_every_question_wants_an_answer(tmp_path: Path) -> None:
    design = Design(questions=(Question(), Question("safe", "Is it safe?", "yes/no", ())), checks=0)
    study = annotate(replies(1), tmp_path / "study", raters=1, design=design)
    (rater,) = raters(study)
    with TestClient(make_app(study)) as client:
        data = {"mark": mark(client.get(f"/r/{rater.token}/1").text), "answer-0": "3"}
        assert "Please answer every question" in client.post(f"/r/{rater.token}/1", data=data).text
        rate(client, rater, 1, "3", **{"answer-1": "1"})
    (answer,) = all_answers(study)
    assert answer.values == {"overall": 3, "safe": 1}


def sides(page: str) -> list[str]:
    return re.findall(r'<li class="(\w+)"', page)


TALK = [
    {"role": "assistant", "content": "Welcome."},
    {"role": "user", "content": "Is there parking?"},
    {"role": "user", "content": "For two cars."},
    {"role": "assistant", "content": "Yes."},
]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"messages": TALK}, ["theirs", "mine", "mine"]),
        ({"context": TALK[:3], "response": "Yes."}, ["theirs", "mine", "mine"]),
        ({"context": "Bot: a\nUser: b\nBot: c\nUser: d", "response": "e"}, ["theirs", "mine", "theirs", "mine"]),
        ({"context": ["a", "b"], "response": "c", "speakers": ["Ann", "Bob", "Bob"]}, ["mine", "theirs"]),
        ({"context": ["a", "b"], "response": "c", "speakers": ["Ann", "Ann", "Bob"]}, ["mine", "mine"]),
        ({"context": ["a", "b"], "response": "c", "speakers": ["assistant", "user"]}, ["theirs", "mine"]),
        ({"context": ["a", "b"], "response": "c", "speakers": ["Ann"]}, ["theirs", "mine"]),
        ({"context": ["a", "b"], "response": "c", "speakers": "Ann"}, ["theirs", "mine"]),
        ({"context": ["a", "b"], "response": "c"}, ["theirs", "mine"]),
        ({"context": TALK[:3], "response_a": "x", "response_b": "y", "preferred": "a"}, ["theirs", "mine", "mine"]),
    ],
)
def test_who_speaks_is_seen(tmp_path: Path, line: dict[str, Any], expected: list[str]) -> None:
    study = annotate([line], tmp_path / "study", raters=1)  # with a check, which has the same conversation
    (rater,) = raters(study)
    with TestClient(make_app(study)) as client:
        for place in (1, 2):
            assert sides(client.get(f"/r/{rater.token}/{place}").text) == expected


def test_several_speakers_are_told_apart_without_their_names(tmp_path: Path) -> None:
    line = {"context": ["a", "b", "c"], "response": "d", "speakers": ["gpt-x", "Ann", "Bob", "gpt-x"]}
    study = annotate([line], tmp_path / "study", raters=1, design=Design(checks=0))
    with TestClient(make_app(study)) as client:
        shown = client.get(f"/r/{raters(study)[0].token}/1").text
    assert sides(shown) == ["theirs", "mine", "mine"]
    assert re.findall(r'<b class="who">(\w)</b>', shown) == ["A", "B", "C"] and "gpt-x" not in shown


@pytest.mark.parametrize("root", ["/chatstudy", "/a/b-c"])
@pytest.mark.parametrize("taken_off", [True, False])
def test_pages_below_a_path(tmp_path: Path, root: str, taken_off: bool) -> None:
    study = annotate(replies(1, 1), tmp_path / "study", raters=1, design=Design(checks=0))
    (rater,) = raters(study)
    before = "" if taken_off else root
    with TestClient(make_app(study, url=f"https://example.org{root}/"), base_url="https://example.org") as client:
        for place in ("", "/1"):
            shown = client.get(f"{before}/r/{rater.token}{place}").text
            links = re.findall(r'(?:href|src|action)="(/[^"]*)"', shown)
            assert links and all(link.startswith(f"{root}/") for link in links)
        assert client.get(f"{before}/static/rate.js").status_code == 200
        sent = client.post(
            f"{before}/r/{rater.token}/1", data={"mark": mark(shown), "answer-0": "4"}, follow_redirects=False
        )
        assert sent.headers["location"] == f"{root}/r/{rater.token}/done"
        assert client.get(f"{before}/r/{rater.token}/done").status_code == 200
        assert f'action="{root}/admin/login"' in client.get(f"{before}/admin").text
        entered = client.post(f"{before}/admin/login", data={"password": study.password}, follow_redirects=False)
        assert entered.headers["location"] == f"{root}/admin"
        assert f"Path={root}/admin" in entered.headers["set-cookie"]


@pytest.mark.parametrize(
    "url", ["example.org/x", "ftp://a.org", "https://", "https://a.org/x?y=1", "https://a.org/../x", 'https://a.org/"x']
)
def test_an_address_that_cannot_be_is_refused(run: Run, tmp_path: Path, url: str) -> None:
    (tmp_path / "in.jsonl").write_text('{"context": ["a"], "response": "b"}\n')
    done = run("annotate", tmp_path / "in.jsonl", "-o", tmp_path / "study", "--url", url, "--prepare")
    assert done.code == 2 and len(done.err.strip().splitlines()) == 1 and not (tmp_path / "study").exists()
