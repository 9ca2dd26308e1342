"""Tables with a row for each message: which are read, as what conversations, and what is said or refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run
from rejoinder.errors import ColumnError, DataError

HEADER = ["conversation_id", "role", "text"]
TALK = [["7", "user", "Hi!"], ["7", "bot", "Hello."], ["7", "user", "Tea?"], ["7", "bot", "Please."]]


def table(path: Path, *rows: list[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def replies(path: Path, **how: object) -> list[tuple[str, tuple[str, ...], str]]:
    found = rejoinder.read(path, turns="all", **how)  # type: ignore[arg-type]
    return [(one.id, one.context, one.response) for one in found]


@pytest.mark.parametrize(
    "header",
    [
        "conversation_id,speaker,text",
        "conversation id,Role,Content",
        "chat_id,sender_name,message",
        "thread,Message Author,Body",
        "session_id,from,utterance",
        "TicketId,senderType,message text",
        "id,senderType,message",
    ],
)
def test_the_rows_of_a_conversation_are_its_messages(tmp_path: Path, header: str) -> None:
    said = list[str]()
    path = table(tmp_path / "log.csv", header.split(","), *TALK)
    assert replies(path, note=said.append) == [
        ("7#1", ("Hi!",), "Hello."),
        ("7#2", ("Hi!", "Hello.", "Tea?"), "Please."),
    ]
    (last,) = rejoinder.read(path)
    assert (last.id, last.response) == ("7", "Please.")
    of = header.split(",")[0]
    assert said[0] == f"{path}: read 4 rows, one a message, as 1 conversations by {of}, in which bot is judged"


@pytest.mark.parametrize("suffix", ["jsonl", "json", "tsv", "xlsx", "parquet"])
def test_every_format_has_them(tmp_path: Path, suffix: str) -> None:
    records, path = [dict(zip(HEADER, row, strict=True)) for row in TALK], tmp_path / f"log.{suffix}"
    if suffix == "jsonl":
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    elif suffix == "json":
        path.write_text(json.dumps(records))
    elif suffix == "tsv":
        path.write_text("".join("\t".join(row) + "\n" for row in [HEADER, *TALK]))
    elif suffix == "xlsx":
        xlsxwriter = pytest.importorskip("xlsxwriter")
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet()
            for place, row in enumerate([HEADER, *TALK]):
                sheet.write_row(place, 0, row)
    else:
        pytest.importorskip("polars").DataFrame(records).write_parquet(path)
    assert [one[2] for one in replies(path)] == ["Hello.", "Please."]


@given(st.permutations([(chat, turn) for chat in "ab" for turn in range(4)]))
def test_numbers_and_dates_say_the_order(
    tmp_path_factory: pytest.TempPathFactory, order: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("log")
    for column, time in (("turn", "{}"), ("created at", "2026-01-0{} 10:00")):
        rows = [[chat, ("user", "bot")[turn % 2], f"{chat}{turn}", time.format(turn + 1)] for chat, turn in order]
        found = replies(table(folder / "log.csv", [*HEADER, column], *rows))
        assert sorted(found) == [
            (f"{chat}#{number}", tuple(f"{chat}{turn}" for turn in range(2 * number - 1)), f"{chat}{2 * number - 1}")
            for chat in "ab"
            for number in (1, 2)
        ]


def timed(path: Path, rows: list[list[str]], column: str, times: list[str]) -> Path:
    return table(path, [*HEADER, column], *([*row, time] for row, time in zip(rows, times, strict=True)))


def both_ways(folder: Path, times: list[str]) -> list[list[str]]:
    """The replies of a conversation whose rows stand oldest first, and of the same with its newest row first."""
    files = ((TALK, times), ([*reversed(TALK)], [*reversed(times)]))
    return [[one[2] for one in replies(timed(folder / "a.csv", rows, "time", own))] for rows, own in files]


def test_times_that_cannot_be_compared_leave_the_order_of_the_file(tmp_path: Path) -> None:
    for times in (
        *(["9:58", "9:59", "10:00", "10:01"], ["12:58 PM", "12:59 PM", "1:00 PM", "1:01 PM"], ["?"] * 4),
        ["2026-01-01T10:00", "2026-01-01T09:59Z", "2026-01-01T10:02", "2026-01-01T10:03"],
        ["23:58", "23:59", "0:00", "0:01"],
        ["2026-01-01 10:00", "", "2026-01-01 10:02", "2026-01-01 10:03"],
    ):
        path = timed(tmp_path / "a.csv", TALK, "time", times)
        assert [one[2] for one in replies(path)] == ["Hello.", "Please."]


@pytest.mark.parametrize(
    "times",
    [
        ["2026-01-01 9:58", "2026-01-01 9:59", "2026-01-01 10:00", "2026-01-01 10:01"],
        ["2026-01-01T09:58:00Z", "2026-01-01T09:58:00.5Z", "2026-01-01T09:58:00.52Z", "2026-01-01T11:00:00+01:00"],
        ["2026-01-01 11:58 AM", "2026-01-01 12:01 PM", "2026-01-01 1:00 p.m.", "2026-01-02 12:05 AM"],
        ["30.11.2026 23:59", "01.12.2026 0:05", "01.12.2026 14:05", "02.12.2026 9:00"],
        ["11/23/2026, 2:05\u202fPM", "11/23/2026, 11:05\u202fPM", "12/1/2026, 2:05 AM", "12/1/2026, 12:01 PM"],
        ["[23/11/2026, 14:05:12]", "[23/11/2026, 14:05:59]", "[01/12/2026, 00:00:01]", "[01/12/2026, 00:00:02]"],
        ["1/2/2026 9:58 AM", "1/2/2026 12:00 PM", "1/2/2026 12:01 PM", "1/2/2026 1:00 PM"],
        ["30.11.26 23:59", "01.12.26 0:05", "01.12.26 14:05", "02.12.26 9:00"],
        ["26/11/30 23:59", "26/12/01 0:05", "26/12/01 14:05", "26/12/02 9:00"],
        ["2026/1/31 9:58", "2026/1/31 10:00", "2026/2/1 9:58", "2026/10/1 9:58"],
        ["30 Nov 2026 14:05", "1 Dec 2026 09:00", "1 December 2026 10:00", "2 Dec. 2026 9:00"],
        ["Mon, Nov 30, 2026 2:05 PM", "Mon, Nov 30, 2026 11:05 PM", "Dec 1, 2026 2:05 AM", "Dec 1, 2026 2:06 AM"],
        [f"2026-01-01 {time} UTC" for time in ("9:58:00", "9:59:00", "10:00:00", "10:01:00")],
        ["2026-01-01 10:00:00 +0100", "2026-01-01 10:00:30 +0100", "2026-01-01 9:01:00 +0000", "2026-01-01 9:02:00Z"],
        ["2026-01-01 10:00", "2026-01-01 10:00", "2026-01-01 10:01", "2026-01-01 10:01"],
    ],
)
def test_dates_as_people_and_programs_write_them_are_understood(tmp_path: Path, times: list[str]) -> None:
    assert both_ways(tmp_path, times) == [["Hello.", "Please."]] * 2


def test_one_day_beyond_12_tells_the_whole_file(tmp_path: Path) -> None:
    rows = [[*row, time] for row, time in zip(TALK, ["1.2.2026", "2.2.2026", "1.3.2026", "2.3.2026"], strict=True)]
    path = table(tmp_path / "a.csv", [*HEADER, "date"], *reversed(rows), ["8", "bot", "Yes?", "23.2.2026"])
    assert [one[2] for one in replies(path)] == ["Hello.", "Please.", "Yes?"]
    path = table(tmp_path / "b.csv", [*HEADER, "date"], *rows)
    assert [one[2] for one in replies(path)] == ["Hello.", "Please."], "as it stands, it is in order in one way"
    with pytest.raises(ColumnError, match="what is day and what is month in date cannot be told"):
        replies(table(tmp_path / "c.csv", [*HEADER, "date"], *reversed(rows)))
    either = [[*row, time] for row, time in zip(TALK[:2], ["12.1.2026", "1.2.2026"], strict=True)]
    with pytest.raises(ColumnError, match="Write dates as 2026-01-31 9:58"):  # oldest first, or newest first
        replies(table(tmp_path / "d.csv", [*HEADER, "date"], *either))


def test_messages_of_one_numbered_turn_stay_in_their_order(tmp_path: Path) -> None:
    for rows, turns in ((TALK, "1122"), ([*TALK[2:], *TALK[:2]], "2211")):
        assert [one[2] for one in replies(timed(tmp_path / "a.csv", rows, "turn", [*turns]))] == ["Hello.", "Please."]


def test_day_and_hour_may_have_columns_of_their_own(tmp_path: Path) -> None:
    said, times = list[str](), ["9:58", "9:59", "10:00", "10:01"]
    rows = [[*row, "2026-01-01", time] for row, time in zip(TALK, times, strict=True)]
    path = table(tmp_path / "a.csv", [*HEADER, "date", "time"], *reversed(rows))
    assert [one[2] for one in replies(path, note=said.append)] == ["Hello.", "Please."]
    assert said[0].endswith("put 1 of them in order by date and time")
    rows = [[*row, "1/1/2026", time] for row, time in zip(TALK, times, strict=True)]
    assert [one[2] for one in replies(table(path, [*HEADER, "date", "time"], *reversed(rows)))] == ["Hello.", "Please."]
    rows[1][-1] = ""
    with pytest.raises(ColumnError, match="by date and time the messages seem to stand newest first"):
        replies(table(path, [*HEADER, "date", "time"], *reversed(rows)))


def test_what_stands_newest_first_is_put_in_order_or_refused(tmp_path: Path) -> None:
    said, back = list[str](), [*reversed(TALK)]
    path = timed(tmp_path / "a.csv", back, "turn", ["10", "9", "2", "1"])
    assert [one[2] for one in replies(path, note=said.append)] == ["Hello.", "Please."]
    assert "; put 1 of them in order by turn" in said[0]
    for times in (
        *(["10:01", "10:00", "9:59", "9:58"], ["1:01 PM", "1:00 PM", "12:59 PM", "12:58 PM"]),
        *(["0:01", "0:00", "23:59", "23:58", "23:57"], [f"the 23. at 10:0{minute} AM" for minute in (5, 4, 3, 2)]),
        *(["2026-01-01 10:00", "", "2026-01-01 9:58", "2026-01-01 9:57"], ["4", "", "2", "1"]),
    ):
        with pytest.raises(ColumnError, match="by time the messages seem to stand newest first, .* Sort the rows"):
            replies(timed(tmp_path / "b.csv", [*back, TALK[0]][: len(times)], "time", times))


@pytest.mark.parametrize("ids", ["1234", "1213", "abab"])
def test_a_bare_id_of_messages_or_of_people_names_no_conversation(tmp_path: Path, ids: str) -> None:
    rows = [[one, *row[1:]] for one, row in zip(ids, TALK, strict=True)]
    with pytest.raises(DataError, match="looks like one message of a conversation .*which conversation it belongs to"):
        replies(table(tmp_path / "a.csv", ["id", "role", "text"], *rows))
    rows = [["7", *row] for row in rows]
    found = replies(table(tmp_path / "b.csv", ["conversation", "id", "role", "text"], *rows))
    assert [one[2] for one in found] == ["Hello.", "Please."], "the remedy is one"


def test_what_is_the_same_in_all_rows_is_the_conversations(tmp_path: Path) -> None:
    said = list[str]()
    rows = [[*row, str(place), "4" if place else "", "gpt"] for place, row in enumerate(TALK)]
    path = table(tmp_path / "log.csv", [*HEADER, "message_id", "rating", "model"], *rows)
    (one,) = rejoinder.read(path, note=said.append)
    assert one.rating() == 4 and one.system == "gpt" and "; not read: message_id" in said[0]


def test_a_person_who_took_over_is_not_the_bot(tmp_path: Path) -> None:
    rows = [*TALK, ["7", "agent", "I take over."], ["8", "customer", "Hi?"], ["8", "Agent", "Yes?"]]
    said = list[str]()
    found = replies(table(tmp_path / "log.csv", HEADER, *rows), note=said.append)
    assert [one[2] for one in found] == ["Hello.", "Please.", "Yes?"]
    assert said[0].endswith("as 2 conversations by conversation_id, in which bot and Agent is judged")


@pytest.mark.parametrize(
    ("header", "row", "problem"),
    [
        (HEADER, ["7", "Ann", "Hm."], "'Ann' in the column role is no role. Write bot there for who is judged, user"),
        (HEADER, ["7", "", "Hm."], "'' in the column role is no role"),
        (HEADER, [" ", "bot", "Hm."], "a message without a conversation in the column conversation_id"),
        ([*HEADER, "rating"], ["7", "bot", "Hm.", "1"], "rating differs inside a conversation"),
    ],
)
def test_what_would_mix_conversations_up_is_refused(
    tmp_path: Path, header: list[str], row: list[str], problem: str
) -> None:
    rows = [[*one, "5"][: len(header)] for one in TALK]
    with pytest.raises(ColumnError, match=problem):
        list(rejoinder.read(table(tmp_path / "log.csv", header, *rows, row), on_bad=lambda _: None))


@pytest.mark.parametrize("column", ["reply", "answer", "response"])
def test_rows_with_a_reply_are_no_messages(tmp_path: Path, column: str) -> None:
    rows = [[*row, "Yes."] for row in TALK]
    assert len(list(rejoinder.read(table(tmp_path / "a.csv", [*HEADER, column], *rows)))) == 4


def test_whoever_says_what_the_reply_is_has_it(tmp_path: Path) -> None:
    assert len(list(rejoinder.read(table(tmp_path / "a.csv", HEADER, *TALK), map={"response": "text"}))) == 4


def test_a_text_may_be_parts_and_a_cell_may_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    texts: list[object] = [[{"type": "text", "text": "Hi!"}], "Hello.", None, [{"type": "text", "text": "Please."}]]
    records = [dict(zip(HEADER, (*row[:2], text), strict=True)) for row, text in zip(TALK, texts, strict=True)]
    records[-1]["rating"] = 4
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    assert [one[1:] for one in replies(path)] == [(("Hi!",), "Hello."), (("Hi!", "Hello.", ""), "Please.")]
    assert [one.rating() for one in rejoinder.read(path)] == [4]


def test_commands_read_them(tmp_path: Path, run: Run) -> None:
    path = table(tmp_path / "log.csv", HEADER, *TALK)
    ran = run("score", path, "-s", "length", "--turns", "all", "-o", tmp_path / "scored.jsonl")
    assert ran.code == 0 and "read 4 rows, one a message, as 1 conversations" in ran.err
    assert [one.response for one in rejoinder.read(tmp_path / "scored.jsonl")] == ["Hello.", "Please."]
    ran = run("score", path, "-s", "length", "--level", "dialogue")
    assert ran.code == 0
