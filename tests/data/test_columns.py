"""Names of columns: what fills which field, what is refused, and `--map`."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from reading_tables import read_from
from rejoinder.data.columns import is_known, mapping, plain, plan
from rejoinder.errors import ColumnError, DataError, UsageError

PLANS: list[tuple[str, dict[str, Any], dict[str, tuple[str, ...]]]] = [
    # names, how, our field to names
    ("prompt answer stars topic", {}, {"context": ("prompt",), "response": ("answer",), "rating": ("stars",)}),
    ("Prompt botReply Model", {}, {"context": ("Prompt",), "response": ("botReply",), "system": ("Model",)}),
    ("history query reply", {}, {"context": ("history", "query"), "response": ("reply",)}),
    ("chat_history message response", {}, {"context": ("chat_history", "message"), "response": ("response",)}),
    ("instruction input output", {}, {"context": ("instruction", "input"), "response": ("output",)}),
    ("user assistant", {}, {"context": ("user",), "response": ("assistant",)}),
    ("prompt user answer", {}, {"context": ("prompt",), "response": ("answer",)}),
    ("context response bot", {}, {"context": ("context",), "response": ("response",), "system": ("bot",)}),
    ("messages completion", {}, {"messages": ("messages",), "response": ("completion",)}),
    ("messages bot", {}, {"messages": ("messages",), "system": ("bot",)}),
    ("conversations system", {}, {"messages": ("conversations",), "system_prompt": ("system",)}),
    (
        "question answer retrieved_contexts ground_truth",
        {},
        {
            "context": ("question",),
            "response": ("answer",),
            "sources": ("retrieved_contexts",),
            "references": ("ground_truth",),
        },
    ),
    ("response rater1 rater2", {}, {"response": ("response",), "rating": ("rater1", "rater2")}),
    ("response rating_a rating_b", {}, {"response": ("response",), "rating": ("rating_a", "rating_b")}),
    ("response ratings rating stars", {}, {"response": ("response",), "ratings": ("ratings",)}),
    ("response rating ratings", {}, {"response": ("response",), "ratings": ("ratings",)}),
    ("response rating.tone", {}, {"response": ("response",), "rating.tone": ("rating.tone",)}),
    ("response rating.tone.agent", {}, {"response": ("response",)}),
    ("response mean_rating", {}, {"response": ("response",), "quality": ("mean_rating",)}),
    ("response score grade vote judge", {}, {"response": ("response",)}),
    ("response label", {}, {"response": ("response",)}),
    ("response label", {"labels": True}, {"response": ("response",), "rating": ("label",)}),
    ("response label rating", {"labels": True}, {"response": ("response",), "rating": ("rating",)}),
    ("human bot", {"labels": True}, {"context": ("human",), "response": ("bot",)}),
    (
        "prompt response human",
        {"labels": True},
        {"context": ("prompt",), "response": ("response",), "rating": ("human",)},
    ),
    ("response stars rating", {"keep": ["rating"]}, {"response": ("response",), "rating": ("stars",)}),
    ("context input response", {"adapted": True}, {"context": ("context",), "response": ("response",)}),
    (
        "answer prediction",
        {"mapped": {"response": ("prediction",), "references": ("answer",)}},
        {"response": ("prediction",), "references": ("answer",)},
    ),
    ("response rating", {"mapped": {"rating": ()}}, {"response": ("response",), "rating": ()}),
]


@pytest.mark.parametrize(("names", "how", "wanted"), PLANS, ids=[names for names, _, _ in PLANS])
def test_names_fill_fields_in_any_order(names: str, how: dict[str, Any], wanted: dict[str, tuple[str, ...]]) -> None:
    keys = names.split()
    for seed in range(5):
        found = plan(keys, how.get("mapped", {}), "a.csv:1", **{key: how[key] for key in how if key != "mapped"})
        assert {ours: set(theirs) for ours, theirs in found.sources.items()} == {
            ours: set(theirs) for ours, theirs in wanted.items()
        }
        Random(seed).shuffle(keys)


@pytest.mark.parametrize(
    ("names", "field"),
    [
        ("answer prediction", "prediction"),
        ("prompt question answer", "question"),
        ("context question response", "question"),
        ("response rating stars_1 stars_2", "rating"),
        ("response model prompt_version", "prompt_version"),
        ("conversation bot", "bot"),
        ("sender message bot", "bot"),
        ("context message response", "message"),
        ("response rating(1-5) quality[0-100]", "quality[0-100]"),
        ("response rater_1(1-5) rater_2(0-10)", "rater_2(0-10)"),
        ("user human response", "human"),
    ],
)
def test_two_columns_for_one_field_stop(names: str, field: str) -> None:
    with pytest.raises(ColumnError) as caught:
        plan(names.split(), {}, "a.csv:7")
    assert (caught.value.where, caught.value.field) == ("a.csv:7", field)
    assert "--map" in caught.value.remedy


def test_two_labels_stop() -> None:
    with pytest.raises(ColumnError):
        plan(["response", "label", "human_label"], {}, "a:1", labels=True)


@pytest.mark.parametrize("name", ["Prompt", "Bot Reply", "Human rating (1-5)", "rater_2", "Input.prompt", "bot"])
def test_known_names(name: str) -> None:
    assert is_known(name)


@pytest.mark.parametrize("name", ["topic", "rating (2024)x", "judge", "column 1"])
def test_unknown_names(name: str) -> None:
    assert not is_known(name)


def test_names_have_one_form() -> None:
    assert {plain(name) for name in ("Bot reply", "bot-reply", "botReply", "Answer.bot_reply")} == {"bot_reply"}


def test_the_text_of_map() -> None:
    assert mapping(["context=a,b,rating=ann+bob", "system="]) == {
        "context": ("a,b",),
        "rating": ("ann", "bob"),
        "system": (),
    }
    for wrong in (["context"], ["contxt=a"], ["context=a,context=b"], ["context=a", "response=a"]):
        with pytest.raises(UsageError):
            mapping(wrong)


MAPPED: list[tuple[str, Any, dict[str, Any], list[dict[str, Any]]]] = [
    (
        "a.csv",
        "Frage,Antwort,Ann,Bob,Ton,rating\nTee?,Nein.,2,3,1,PG-13\n",
        {"context": "Frage", "response": "Antwort", "rating": ["Ann", "Bob"], "rating.tone": "Ton"},
        [
            {
                "context": ["Tee?"],
                "response": "Nein.",
                "ratings": {"overall": [2, 3], "tone": [1]},
                "raters": {"overall": ["Ann", "Bob"]},
                "rating": "PG-13",
            }
        ],
    ),
    (
        "a.csv",
        "response,prediction\nOld.,New.\n",
        {"response": "prediction"},
        [{"context": [], "response": "New.", "original_response": "Old."}],
    ),
    (
        "a.jsonl",
        [{"inputs": {"q": "Tea?"}, "outputs": {"a": ["No."]}}],
        {"context": "inputs.q", "response": "outputs.a.0"},
        [{"context": ["Tea?"], "response": "No.", "inputs": {"q": "Tea?"}, "outputs": {"a": ["No."]}}],
    ),
    (
        "a.csv",
        'data\n"{""q"": ""Tea?"", ""a"": ""No.""}"\n',
        {"context": "data.q", "response": "data.a"},
        [{"context": ["Tea?"], "response": "No.", "data": '{"q": "Tea?", "a": "No."}'}],
    ),
    (
        "a.jsonl",
        [{"context": "Paris.", "question": "Where?", "response": "There."}],
        {"context": "question", "sources": "context"},
        [{"context": ["Where?"], "response": "There.", "sources": ["Paris."]}],
    ),
    (
        "a.jsonl",
        [{"context": "Paris.", "question": "Where?", "response": "There."}],
        {"context": ["context", "question"]},
        [{"context": ["Paris.", "Where?"], "response": "There."}],
    ),
    (
        "a.jsonl",
        [{"response": "A.", "meta": {"stars": 3}}, {"response": "B."}],
        {"rating": "meta.stars"},
        [
            {"context": [], "response": "A.", "ratings": {"overall": [3]}, "meta": {"stars": 3}},
            {"context": [], "response": "B."},
        ],
    ),
]


@pytest.mark.parametrize(("name", "content", "mapped", "wanted"), MAPPED)
def test_map_decides(
    name: str, content: Any, mapped: dict[str, Any], wanted: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert read_from(tmp_path, name, content, map=mapped) == wanted


@pytest.mark.parametrize(("name", "content"), [("a.jsonl", [{"response": "A."}]), ("a.csv", "response,b\nA.,B\n")])
def test_a_mapped_name_that_is_nowhere_stops(name: str, content: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read_from(tmp_path, name, content, map={"rating": "stars"})


def test_a_near_miss_of_a_field_is_a_bad_line(tmp_path: Path) -> None:
    skipped: list[DataError] = []
    content = [{"respnse": "A."}, {"response": "B."}]
    assert len(read_from(tmp_path, "a.jsonl", content, on_error=skipped.append)) == 1
    assert [error.field for error in skipped] == ["respnse"]


def test_what_was_understood_is_noted_once_for_each_set_of_columns(tmp_path: Path) -> None:
    notes: list[str] = []
    lines = [{"prompt": "a", "answer": "b", f"key{n}": n} for n in range(50)]
    read_from(tmp_path, "a.jsonl", lines, note=notes.append)
    assert len(notes) == 1
    names = [f"n{n}" for n in range(8)]
    lines = [{"context": ["a"], "response": "b", "score": 1, **dict.fromkeys(names[:n], 1)} for n in range(8)]
    assert len(read_from(tmp_path, "b.jsonl", lines, note=notes.append)) == 8
    assert len(notes) == 2
    systems = [{"response": "b", "system": name} for name in ("GPT-4 ", "gpt-4", "GPT-4")]
    assert [one["system"] for one in read_from(tmp_path, "c.jsonl", systems, note=notes.append)] == [
        "GPT-4",
        "gpt-4",
        "GPT-4",
    ]
    assert "GPT-4, gpt-4" in notes[-1]
