"""Preference pairs: every form they are released in is read, the rest refused in one line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run, refused
from rejoinder import Pair
from rejoinder.errors import ColumnError, DataError
from rejoinder.io.pairs import form_of, parse_pair
from rejoinder.io.read import read_pairs

USER, GOOD, BAD = (
    {"role": "user", "content": "Tea or coffee?"},
    {"role": "assistant", "content": "Tea, please."},
    {"role": "assistant", "content": "No."},
)
TEXTS = {"prompt": "Tea or coffee?", "response_a": "Tea, please.", "response_b": "No."}


def pair_of(record: dict[str, Any]) -> Pair:
    form = form_of(record)
    assert form is not None
    return parse_pair(record, form, "f:1")


def refusal(record: dict[str, Any]) -> str:
    with pytest.raises(DataError) as caught:
        pair_of(record)
    return str(caught.value)


def saved(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


FORMS: dict[str, dict[str, Any]] = {
    "texts": {"prompt": "Tea or coffee?", "chosen": "Tea, please.", "rejected": "No."},
    "TRL, messages with the prompt": {"chosen": [USER, GOOD], "rejected": [USER, BAD]},
    "TRL, messages beside the prompt": {"prompt": [USER], "chosen": [GOOD], "rejected": [BAD]},
    "UltraFeedback": {
        "prompt": "Tea or coffee?",
        "chosen": [USER, GOOD],
        "rejected": [USER, BAD],
        "messages": [USER, GOOD],
        "score_chosen": 8.0,
        "score_rejected": 5.5,
    },
    "one message each": {"question": "Tea or coffee?", "chosen": GOOD, "rejected": BAD},
    "hh-rlhf": {
        "chosen": "\n\nHuman: Tea or coffee?\n\nAssistant: Tea, please.",
        "rejected": "\n\nHuman: Tea or coffee?\n\nAssistant: No.",
    },
    "hh-rlhf with its prompt": {
        "prompt": "\n\nHuman: Tea or coffee?\n\nAssistant:",
        "response": "Tea, please.",
        "chosen": "Tea, please.",
        "rejected": "No.",
    },
    "arena": {
        "conversation_a": [USER, GOOD],
        "conversation_b": [USER, BAD],
        "model_a": "koala",
        "model_b": "dolly",
        "winner": "model_a",
    },
    "arena, the winner's name": {**TEXTS, "model_a": "koala", "model_b": "dolly", "winner": "koala"},
    "a column for each verdict": {**TEXTS, "winner_model_a": 1, "winner_model_b": 0, "winner_tie": 0},
    "AlpacaEval": {"instruction": "Tea or coffee?", "output_1": "Tea, please.", "output_2": "No.", "preference": 1},
    "SafeRLHF": {
        "prompt": "Tea or coffee?",
        "response_0": "Tea, please.",
        "response_1": "No.",
        "better_response_id": 0,
    },
    "SHP": {"history": "Tea or coffee?", "human_ref_A": "Tea, please.", "human_ref_B": "No.", "labels": 1},
    "ours": {"context": ["Tea or coffee?"], "responses": ["Tea, please.", "No."], "preferred": 0, "votes": [0, 0, 1]},
    "ours, votes alone": {"context": ["Tea or coffee?"], "responses": ["Tea, please.", "No."], "votes": [0, None, 0]},
}


@pytest.mark.parametrize("record", FORMS.values(), ids=FORMS)
def test_every_form_says_the_same(record: dict[str, Any]) -> None:
    pair = pair_of(record)
    assert [(reply.context, reply.response) for reply in pair.replies] == [
        (("Tea or coffee?",), "Tea, please."),
        (("Tea or coffee?",), "No."),
    ]
    assert (pair.preferred, pair.id) == (0, "f:1")
    assert [reply.id for reply in pair.replies] == ["f:1/0", "f:1/1"]


# One message alone, an object, is in no table of anybody's.
IN_TABLES = {name: record for name, record in FORMS.items() if not isinstance(record.get("chosen"), dict)}


@pytest.mark.parametrize("record", IN_TABLES.values(), ids=IN_TABLES)
def test_every_form_is_read_from_json_lines_and_from_a_table(record: dict[str, Any], tmp_path: Path) -> None:
    (lines,) = rejoinder.read_pairs(saved(tmp_path / "a.jsonl", [record]))
    cells = {key: json.dumps(value) if isinstance(value, (list, dict)) else value for key, value in record.items()}
    with (tmp_path / "a.csv").open("w", newline="") as stream:
        table = csv.DictWriter(stream, [*cells])
        table.writeheader()
        table.writerow(cells)
    (row,) = rejoinder.read_pairs(tmp_path / "a.csv")
    assert [(one.context, one.response) for one in row.replies] == [
        (one.context, one.response) for one in lines.replies
    ]
    assert (row.preferred, row.votes) == (lines.preferred, lines.votes)


@pytest.mark.parametrize(
    ("keys", "verdict", "preferred"),
    [
        ("response_a response_b winner", "model_b", 1),
        ("response_a response_b winner", "B", 1),
        ("response_a response_b winner", "tie (bothbad)", None),
        ("response_a response_b winner", "response_a", 0),
        ("output_1 output_2 preference", 2, 1),
        ("output_1 output_2 preference", 2.0, 1),
        ("output_1 output_2 preference", "1", 0),
        ("output_1 output_2 preference", 1.5, None),
        ("output_1 output_2 preference", 0, None),
        ("output_1 output_2 preference", 1.9, 1),
        ("output_1 output_2 preference", "1.9998", 1),
        ("output_1 output_2 preference", "1,9", 1),
        ("output_1 output_2 preference", "1.2", 0),
        ("output_1 output_2 preference", "1,5", None),
        ("output_1 output_2 votes", [1, 2, 2], 1),
        ("response_1 response_2 label", "2.0", 1),
        ("response_1 response_2 label", "Output 1 is better", 0),
        ("output_1 output_2 winner", "output_2", 1),
        ("response_0 response_1 preference", 1, 1),
        ("answer_A answer_B choice", "second", 1),
        ("human_ref_A human_ref_B labels", 0, 1),
        ("chosen rejected votes", [0, 0, 1], 0),
    ],
)
def test_verdicts(keys: str, verdict: Any, preferred: int | None) -> None:
    assert pair_of(dict(zip(keys.split(), ("x", "y", verdict), strict=True))).preferred == preferred


# What a number or a text with numbers says is the same in JSON and in a table, or it is refused in both.
NOT_PLAIN = [
    ("output_1 output_2 preference", -1),
    ("output_1 output_2 preference", 2.1),
    ("output_1 output_2 preference", 0.5),
    ("output_1 output_2 winner", 1.9),
    ("response_0 response_1 preference", 0.9),
    ("response_0 response_1 preference", 1.5),
    ("response_1 response_2 label", 0),
    ("response_1 response_2 choice", 1.5),
    ("response_a response_b winner", 1),
    ("human_ref_A human_ref_B labels", 2),
    ("output_1 output_2 winner", "1:3"),
    ("output_1 output_2 winner", "1.9 points"),
    ("output_1 output_2 winner", "at -1"),
]


@pytest.mark.parametrize(("keys", "verdict"), NOT_PLAIN)
def test_a_number_that_is_no_verdict_is_not_read_as_one(keys: str, verdict: Any) -> None:
    for said in (verdict, str(verdict)):
        found = refusal(dict(zip(keys.split(), ("x", "y", said), strict=True)))
        assert f'field "{keys.split()[2]}": {said!r}, expected "preferred": ' in found


def test_0_where_replies_are_numbered_from_1_is_refused_with_a_remedy() -> None:
    assert refusal({"response_1": "x", "response_2": "y", "label": "0"}) == (
        'f:1: field "label": \'0\', expected "preferred": "1", "2" or "tie". '
        "It can be the first of two counted from 0, or a tie: write 1 and 2, or tie"
    )
    assert refusal({"output_1": "x", "output_2": "y", "votes": [1, 0]}).startswith('f:1: field "votes": 0, expected')


def test_a_column_with_0s_is_not_read_by_its_1s_alone(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "lab.csv"
    file.write_text("prompt,response_1,response_2,label\nhi,hello there,no,1\nhi there,hello you,no,0\n")
    skipped: list[DataError] = []
    with pytest.raises(ColumnError, match=r"lab\.csv:3: field \"label\": '0', expected"):
        list(read_pairs(file, on_bad=skipped.append))
    assert not skipped
    ran = run("study", file, "-s", "length", "--on-error", "skip")
    assert ran.code == 3 and "It can be the first of two counted from 0, or a tie" in ran.err and not ran.out


def test_a_system_that_wins_is_told_by_its_name() -> None:
    def won(first: Any, second: Any, winner: Any, marks: str = "ab") -> int | None:
        replies = {f"response_{mark}": text for mark, text in zip(marks, "xy", strict=True)}
        systems = {f"Model {mark}": name for mark, name in zip(marks, (first, second), strict=True)}
        return pair_of({**replies, **systems, "winner": winner}).preferred

    assert won("gpt", "both-bot", "both-bot") == 1
    assert won("Claude-2", "claude-1", "claude-2 ", "12") == 0
    assert won("claude-2", "claude-1", "claude-1", "12") == 1
    assert won(7, 8, "8") == 1
    assert won("a", "b", "b") == 1
    for first, second, winner, marks, also in (
        ("gpt", "gpt", "gpt", "ab", "both systems"),
        ("gpt", "tie", "tie", "ab", "a system, and can say something else"),
        ("b", "a", "b", "ab", "a system, and can say something else"),
        ("model_b", "gpt", "model_b", "ab", "a system, and can say something else"),
        ("2", "1", "2", "12", "a system, and can say something else"),
    ):
        with pytest.raises(DataError, match=f"field \"winner\": '{winner}' is the name of {also}. Write "):
            won(first, second, winner, marks)


def test_a_column_for_each_verdict_may_hold_numbers_with_a_point() -> None:
    columns = {"winner_model_a": "0.0", "winner_model_b": "1.0", "winner_tie": "0.0"}
    assert pair_of({**TEXTS, **columns}).preferred == 1


@given(st.lists(st.sampled_from([0, 1, None]), min_size=1, max_size=9))
def test_without_a_verdict_the_votes_decide(votes: list[int | None]) -> None:
    counts = [votes.count(choice) for choice in (0, 1, None)]
    alone = counts.count(max(counts)) == 1
    pair = pair_of({"responses": ["x", "y"], "votes": votes})
    assert pair.votes == tuple(votes)
    assert pair.preferred == ((0, 1, None)[counts.index(max(counts))] if alone else None)


def test_a_null_is_a_tie_in_our_form_alone() -> None:
    assert pair_of({"responses": ["x", "y"], "preferred": None}).preferred is None
    assert refusal({**TEXTS, "winner": None}).startswith('f:1: field "winner": None, expected "preferred": "a", "b"')


def test_what_is_said_of_one_reply_goes_with_it() -> None:
    first, second = pair_of({**FORMS["arena"], "score_a": 7, "score_b": 3, "system": "Be kind.", "turn": 1}).replies
    assert (first.system, second.system) == ("koala", "dolly")
    assert first.extra == {"score": 7, "system_prompt": "Be kind.", "turn": 1}
    assert second.extra == {"score": 3, "system_prompt": "Be kind.", "turn": 1}
    first, second = pair_of(FORMS["UltraFeedback"]).replies
    assert (first.extra["score"], second.extra["score"]) == (8.0, 5.5)
    assert pair_of({**FORMS["texts"], "label": "tea", "input": "x"}).replies[1].extra == {"label": "tea", "input": "x"}
    first, second = pair_of({**FORMS["ours"], "gpt4": [4, 2], "systems": ["koala", "dolly"], "plan_0": 1}).replies
    assert (first.extra, second.system) == ({"gpt4": 4, "plan_0": 1}, "dolly")


def test_names_are_known_in_any_case() -> None:
    record = {"Prompt": "Tea or coffee?", "Response A": "Tea, please.", "ResponseB": "No.", "Winner": "Model A"}
    first, second = pair_of({**record, "GPT4 A": 9, "gpt4 B": 3, "Topic": "tea"}).replies
    assert (first.context, first.response, second.response) == (("Tea or coffee?",), "Tea, please.", "No.")
    assert first.extra == {"GPT4": 9, "Topic": "tea"} and second.extra == {"gpt4": 3, "Topic": "tea"}


def test_conversations_that_part_early_share_their_beginning() -> None:
    more = {"role": "user", "content": "Why?"}
    pair = pair_of({"chosen": [USER, GOOD, more, BAD], "rejected": [USER, BAD, more, GOOD]})
    assert pair.shared_turns == ("Tea or coffee?",)
    assert pair.replies[0].context == ("Tea or coffee?", "Tea, please.", "Why?")
    assert pair.context_key == pair_of(FORMS["texts"]).context_key


def test_what_is_no_pair_to_judge() -> None:
    other = {"role": "user", "content": "Milk?"}
    assert refusal({"chosen": [USER, GOOD], "rejected": [other, BAD]}) == (
        'f:1: field "rejected": the two replies answer different prompts. Give both the same prompt'
    )
    assert refusal({"responses": ["a", "b", "c"], "preferred": 0}) == (
        'f:1: field "responses": a list of 3, expected a list of two replies. Write "responses": ["...", "..."]'
    )
    assert refusal({**TEXTS}) == (
        'f:1: field "preferred": missing, and there are no votes, so nothing says which reply is preferred. '
        'Write "preferred": "a", "b" or "tie"'
    )
    assert refusal({**TEXTS, "winner": "model_c"}) == (
        'f:1: field "winner": \'model_c\', expected "preferred": "a", "b" or "tie". Correct it, or leave the line out'
    )
    assert refusal({"chosen": 3, "rejected": "a"}).startswith('f:1: field "chosen": is a number, expected text')
    assert refusal({**TEXTS, "winner": "a", "prompt": 3}) == (
        'f:1: field "prompt": a number, expected a list of messages. Write [{"role": ..., "content": ...}]'
    )
    assert refusal({"chosen": [USER], "rejected": [USER, BAD]}).startswith(
        'f:1: field "chosen": no turn of the assistant'
    )
    assert refusal({"responses": ["x", "y"], "votes": 3}).startswith('f:1: field "votes": is a number, expected a list')


def test_the_judgements_of_the_shared_sets_are_pairs(shared: Path) -> None:
    found = list(rejoinder.read_pairs(shared / "data/preferences/pandalm.jsonl.gz"))
    assert len(found) == 999 and sum(pair.preferred is None for pair in found) == 105
    assert {len(pair.votes) for pair in found} == {3} and found[0].dataset == "pandalm"


def test_a_command_that_wants_single_replies_refuses_pairs(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "pairs.jsonl", [FORMS["texts"]])
    said = (
        f"{path}:1: a pair of replies (chosen and rejected), expected one reply. "
        "Pairs go into the commands study and score, in Python into rejoinder.study_pairs"
    )
    for command in (
        ("train", "c-adem", path, "-o", tmp_path / "j"),
        ("compare", path, path),
    ):
        refused(run(*command), 3, said)
    refused(run("respond", path, "-r", "command:cat"), 3, said)
    answered = saved(tmp_path / "ours.jsonl", [FORMS["ours"]])  # its context is a context to answer
    echo = """sh -c 'while read -r line; do echo "{\\"response\\": \\"Both.\\"}"; done'"""
    assert run("respond", answered, "-r", f"command:{echo}").records[0]["context"] == ["Tea or coffee?"]
    single = saved(tmp_path / "single.jsonl", [{"response": "a"}])
    with pytest.raises(DataError, match="no pair of replies .found: response.. Write"):
        list(rejoinder.read_pairs(single))


def test_rows_of_several_raters_are_one_pair_with_all_their_votes(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    rows = [
        {**TEXTS, "id": name, "winner": said, "rater": rater, "seconds": 2.5}
        for name, said, rater in (
            ("p", "a", "ann"),
            ("q", "b", "ann"),
            ("p", "b", "bob"),
            ("p", "a", "cy"),
            ("q", "a", "cy"),
        )
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    one, other = rejoinder.read_pairs(file)
    assert (one.id, one.votes, one.preferred) == ("p", (0, 1, 0), 0)
    assert (other.id, other.votes, other.preferred) == ("q", (1, 0), None)
    assert "rater" not in one.replies[0].extra and one.replies[0].extra["seconds"] == 2.5
    file.write_text("".join(json.dumps(row) + "\n" for row in [rows[0], {**rows[2], "response_b": "Never."}]))
    with pytest.raises(DataError, match="the id 'p' stands for another response at .*rows.jsonl:1"):
        list(rejoinder.read_pairs(file))


@pytest.mark.parametrize("name", ["rater", "Annotator", "worker_id"])
@pytest.mark.parametrize("numbered", [False, True])
def test_rows_of_raters_are_joined_by_their_texts_where_no_id_comes_twice(
    name: str, numbered: bool, tmp_path: Path
) -> None:
    said: list[str] = []
    rows = [
        {**({"id": str(place)} if numbered else {}), **TEXTS, "prompt": prompt, name: rater, "winner": winner}
        for place, (prompt, rater, winner) in enumerate(
            [
                ("Tea?", "ann", "a"),
                ("Milk?", "ann", "b"),
                ("Tea?", "bob", "b"),
                ("Milk?", "bob", "tie"),
                ("Tea?", "", "a"),
            ]
        )
    ]
    with (tmp_path / "rows.csv").open("w", newline="") as stream:
        table = csv.DictWriter(stream, [*rows[0]])
        table.writeheader()
        table.writerows(rows)
    one, other = rejoinder.read_pairs(tmp_path / "rows.csv", note=said.append)
    assert (one.shared_turns, one.votes, one.preferred) == (("Tea?",), (0, 1, 0), 0)
    assert (other.shared_turns, other.votes, other.preferred) == (("Milk?",), (1, None), None)
    assert said == [f"{tmp_path / 'rows.csv'}: one vote a line; lines of one pair are joined, all held in memory"]


def test_an_id_that_is_the_questions_keeps_pairs_of_other_replies_apart(tmp_path: Path) -> None:
    """As published: one row a pair, `annotator` or `judge` a model, the id that of the question."""
    rows = [{**TEXTS, "response_b": said, "id": "q0", "winner": "a"} for said in ("Never.", "Seldom.")]
    for name in ("annotator", "judge"):
        file = saved(tmp_path / "rows.jsonl", [{**row, name: "a model"} for row in rows])
        one, other = rejoinder.read_pairs(file)
        assert (one.votes, other.votes) == ((), ()) and one.id == other.id == "q0"
    file = saved(tmp_path / "rows.jsonl", [{**rows[0], "annotator": who} for who in ("ann", "bob")])
    assert [pair.votes for pair in rejoinder.read_pairs(file)] == [(0, 0)]
    assert [pair.votes for pair in rejoinder.read_pairs(file, map={"rater": ""})] == [(), ()]


def test_a_rater_that_the_user_names_has_votes(tmp_path: Path) -> None:
    rows = [{**TEXTS, "who": who, "winner": "a"} for who in ("ann", "bob")]
    file = saved(tmp_path / "rows.jsonl", rows)
    assert len(list(rejoinder.read_pairs(file))) == 2
    (pair,) = rejoinder.read_pairs(file, map={"rater": "who"})
    assert pair.votes == (0, 0)


def test_systems_keep_pairs_of_the_same_texts_apart(tmp_path: Path) -> None:
    rows = [{**TEXTS, "model_a": one, "model_b": "x", "rater": "ann", "winner": "a"} for one in ("koala", "dolly")]
    assert len(list(rejoinder.read_pairs(saved(tmp_path / "rows.jsonl", rows)))) == 2


@pytest.mark.parametrize("name", ["empty.csv", "empty.xlsx"])
def test_an_empty_cell_for_the_verdict_is_said_to_be_empty(name: str, tmp_path: Path) -> None:
    header = ["prompt", "response_a", "response_b", "Winner", "label"]
    rows = [header, ["Tea?", "x", "y", "a", ""], ["Milk?", "x", "y", "", ""], ["Jam?", "x", "y", "", "b"]]
    if name.endswith(".csv"):
        with (tmp_path / name).open("w", newline="") as stream:
            csv.writer(stream).writerows(rows)
    else:
        with xlsxwriter.Workbook(tmp_path / name) as book:
            sheet = book.add_worksheet()
            for place, row in enumerate(rows):
                sheet.write_row(place, 0, row)
    bad: list[DataError] = []
    one, other = rejoinder.read_pairs(tmp_path / name, on_bad=bad.append)
    assert (one.preferred, other.preferred) == (0, 1)
    assert "label" not in one.replies[0].extra
    assert str(bad[0]).endswith(
        '3: field "winner": empty, so nothing says which reply is preferred. '
        'Write "a", "b" or "tie", or leave the line out'
    )


def test_votes_decide_where_the_verdict_is_empty() -> None:
    assert pair_of({**TEXTS, "winner": " ", "votes": ["b", "b"]}).preferred == 1
    assert refusal({**TEXTS, "winner": ""}).startswith('f:1: field "winner": empty, so nothing says')
