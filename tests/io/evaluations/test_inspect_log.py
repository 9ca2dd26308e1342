"""Logs of Inspect as examples, with the scores of their judges."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from conftest import GOLDEN, Run
from rejoinder.errors import DataError, MissingExtra
from rejoinder.example import Example
from rejoinder.io.evaluations import archive

LOG = GOLDEN / "evaluations" / "inspect.json"
PACKED = LOG.with_suffix(".eval")


def log() -> dict[str, Any]:
    return dict(json.loads(LOG.read_text()))


def written(folder: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """The log with a change."""
    value, file = log(), folder / "log.json"
    change(value)
    file.write_text(json.dumps(value))
    return file


def packed(folder: Path, members: dict[str, Any], name: str = "log.eval") -> Path:
    file = folder / name
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for member, value in members.items():
            made.writestr(member, value if isinstance(value, (str, bytes)) else json.dumps(value))
    return file


def members() -> dict[str, Any]:
    value = log()
    samples = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in value.pop("samples")}
    return {**samples, "header.json": value}


def check(found: list[Example]) -> None:
    by_name = {(one.extra["dialogue_id"], one.extra["epoch"]): one for one in found}
    assert len(by_name) == len(found) == 6 and len({one.id for one in found}) == 6
    assert {one.dataset for one in found} == {"shop"} and {one.system for one in found} == {"mockllm/model"}
    tea, boots = by_name["tea", 1], by_name["2", 1]
    assert (tea.context, tea.response, tea.references) == (("Tea or coffee?",), "Tea for me.", ("Tea, please.",))
    assert tea.extra["scores"] == {"polite": 0.0, "shape.words": 3.0, "shape.asks": 0.0}
    assert boots.context == ("Hello.", "Good day!", "Do you have boots?") and boots.response == "No."
    assert boots.extra["scores"]["polite"] == 0.0 and boots.extra["edited"] == {
        "polite": 1.0
    }  # the judge's, a person's
    silent = by_name["tea", 2]
    assert silent.extra["scores"]["polite"] is None
    assert silent.extra["unscored"] == {"polite": "the judge gave no grade"}
    assert by_name["broken", 1].extra["unanswered"] == "ValueError('the shop is closed')"


def test_a_log_in_json() -> None:
    check(list(rejoinder.read(LOG)))


def test_a_log_as_inspect_packs_it() -> None:
    pytest.importorskip("zstandard")
    found = list(rejoinder.read(PACKED))
    check(found)
    assert found[0].where == f"{PACKED}:sample 1"


def test_what_unpacks_it_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(MissingExtra, match=r"inspect log convert --to json.*pip install 'rejoinder\[logs\]'"):
        list(rejoinder.read(PACKED))


@pytest.mark.parametrize("name", ["log.eval", "log.zip", "log.xlsx"])
def test_a_zip_is_told_by_what_it_holds(tmp_path: Path, name: str) -> None:
    check(list(rejoinder.read(packed(tmp_path, members(), name))))


def test_the_log_of_a_run_that_did_not_end(tmp_path: Path) -> None:
    cut = members()
    cut["_journal/start.json"] = cut.pop("header.json")
    check(list(rejoinder.read(packed(tmp_path, cut))))


def test_its_judges_are_studied(run: Run) -> None:
    done = run("study", LOG, "--map", "rating=metadata.stars", "--scale", "1,5", "-s", "column:scores.shape.words")
    assert done.code == 0 and "column:scores.shape.words" in done.out
    told = run("score", LOG, "-s", "column:scores.polite")
    assert "the judge gave no grade" in {one["unscored"].get("column:scores.polite") for one in told.records}


def test_long_texts_lie_beside_the_messages(tmp_path: Path) -> None:
    def attach(value: dict[str, Any]) -> None:
        value["samples"] = [one for one in value["samples"] if one["id"] == "tea"][:1]
        (sample,) = value["samples"]
        sample["messages"][0]["content"] = "attachment://a1"
        sample["attachments"] = {"a1": "Tea, coffee, or a long text?"}

    (found,) = rejoinder.read(written(tmp_path, attach))
    assert found.context == ("Tea, coffee, or a long text?",) and found.response == "Tea for me."


def test_what_a_tool_submits_is_the_reply(tmp_path: Path) -> None:
    call = {"id": "1", "function": "submit", "arguments": {"answer": "Tea."}}

    def submit(value: dict[str, Any]) -> None:
        sample = next(one for one in value["samples"] if one["id"] == "tea")
        value["samples"] = [sample]
        sample["messages"][-1:] = [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "Tea."},
        ]
        sample["output"] = {"choices": [{"message": {"role": "assistant", "content": ""}}], "completion": "Tea."}

    (found,) = rejoinder.read(written(tmp_path, submit))
    assert (found.context, found.response) == (("Tea or coffee?",), "Tea.")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda value: value.update(version=1), "a log of Inspect in version 1, expected 2. Write it again"),
        (lambda value: value.update(samples=None), "a log of Inspect without samples (status 'success')"),
        (lambda value: value.update(samples=[7]), "the sample is a number, expected an object"),
        (
            lambda value: value["samples"][0].update(messages=7, input=None),
            'field "messages": a number, expected a list',
        ),
    ],
)
def test_what_cannot_be_used_is_one_line(tmp_path: Path, change: Callable[[dict[str, Any]], Any], said: str) -> None:
    with pytest.raises(DataError) as caught:
        list(rejoinder.read(written(tmp_path, change)))
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_log_that_is_cut_off(tmp_path: Path) -> None:
    file = packed(tmp_path, members())
    file.write_bytes(file.read_bytes()[:-300])
    with pytest.raises(DataError, match="log.eval: no zip file, or one that is cut off"):
        list(rejoinder.read(file))


def test_a_zip_of_another_age(tmp_path: Path) -> None:
    data = bytearray(packed(tmp_path, members()).read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 200  # the version that unpacking needs
    (tmp_path / "log.eval").write_bytes(data)
    with pytest.raises(DataError, match="log.eval: no zip file, or one that is cut off .zip file version 20.0"):
        list(rejoinder.read(tmp_path / "log.eval"))


def test_a_member_that_is_damaged_costs_one_sample(tmp_path: Path) -> None:
    bad: list[DataError] = []
    found = list(rejoinder.read(packed(tmp_path, {**members(), "samples/x.json": "{"}), on_bad=bad.append))
    check(found)
    assert [str(one) for one in bad] == [f"{tmp_path}/log.eval:sample 7: broken JSON in this log. Get the file again"]


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGEST", 1_000_000)
    bomb = packed(tmp_path, {"header.json": members()["header.json"], "samples/a.json": b" " * 5_000_000})
    with pytest.raises(DataError, match="log.eval: unpacks to more than 1,000,000 bytes"):
        list(rejoinder.read(bomb))


def test_names_of_members_lead_nowhere(tmp_path: Path) -> None:
    given = {**members(), "samples/../../../escaped.json": members()["samples/tea_epoch_1.json"], "/etc/evil": "x"}
    inside = tmp_path / "inside"
    inside.mkdir()
    assert len(list(rejoinder.read(packed(inside, given)))) == 7
    assert [one.name for one in tmp_path.rglob("*")] == ["inside", "log.eval"]
