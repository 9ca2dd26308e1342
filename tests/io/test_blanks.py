"""Cells that say that they are empty, as pandas and SQL write them: no bot said `NaN`."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

import rejoinder
from conftest import Run
from rejoinder.errors import DataError


@pytest.mark.parametrize("sign", ["nan", "NaN", "NULL", "null", "<NA>", "#N/A", r"\N", "(null)", " NaN "])
def test_a_sign_of_nothing_is_an_empty_cell_in_a_table(tmp_path: Path, sign: str) -> None:
    path, said = tmp_path / "a.csv", list[str]()
    rows = ["prompt,answer,stars,model,topic", f"Tea?,{sign},1,{sign},{sign}", f"{sign},Yes.,4,m,t", "Why?,No.,2,m,t"]
    path.write_text("\n".join(rows) + "\n")
    first, second, third = rejoinder.read(path, note=said.append)
    assert (first.context, first.response, first.system) == (("Tea?",), "", None)
    assert (second.context, second.response) == ((), "Yes.")
    assert third.response == "No."
    assert first.extra["topic"] == sign  # what means nothing here is kept as it is
    counts = "1 under model, 1 under answer, 1 under prompt"
    assert f"{path}: cells with {sign.strip()!r} are read as empty: " in said[-1]
    assert sorted(said[-1].rpartition(": ")[2].split(", ")) == sorted(counts.split(", "))


def test_what_a_bot_may_say_is_kept_and_said(tmp_path: Path) -> None:
    path, said = tmp_path / "a.csv", list[str]()
    path.write_text("response,rating\nNone,1\nNone,2\nN/A,1\nNone of them.,3\nNan,4\n")
    assert [one.response for one in rejoinder.read(path, note=said.append)] == [
        *("None", "None", "N/A", "None of them.", "Nan")
    ]
    remedy = "Where the bot said nothing, leave the text empty"
    assert said == [f"{path}: 3 replies are the text 'None' or 'N/A', read as what the bot said. {remedy}"]


def test_json_has_null_so_that_a_text_is_a_text(tmp_path: Path) -> None:
    path, said = tmp_path / "a.jsonl", list[str]()
    path.write_text('{"response": "nan"}\n{"response": "Yes."}\n')
    assert [one.response for one in rejoinder.read(path, note=said.append)] == ["nan", "Yes."]
    assert [line.partition(". ")[0] for line in said] == [
        f"{path}: 1 reply is the text 'nan', read as what the bot said"
    ]


def test_a_reply_of_a_pair_may_be_empty(tmp_path: Path, run: Run) -> None:
    path, said = tmp_path / "a.csv", list[str]()
    path.write_text("Prompt,Response A,Response B,preferred\nTea?,NaN,Yes.,B\nTea?,No.,,A\n")
    first, second = rejoinder.read_pairs(path, note=said.append)
    assert [one.response for one in (*first.replies, *second.replies)] == ["", "Yes.", "No.", ""]
    assert said == [f"{path}: cells with 'NaN' are read as empty: 1 under Response A"]
    assert run("score", str(path), "-s", "length", "--format", "jsonl").code == 0


def test_each_file_counts_its_own(tmp_path: Path) -> None:
    paths, said = [tmp_path / "a.csv", tmp_path / "b.csv"], list[str]()
    for path in paths:
        path.write_text("response,rating\nNaN,1\nYes.,2\n")
    assert len(list(rejoinder.read(*paths, note=said.append))) == 4
    assert said == [f"{path}: cells with 'NaN' are read as empty: 1 under response" for path in paths]


def test_a_reply_that_a_spreadsheet_lost_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("prompt,answer\nTea?,#NAME?\n")
    with pytest.raises(rejoinder.RejoinderError, match='field "response": .* the text is lost. Enter it again'):
        list(rejoinder.read(path))


@pytest.mark.parametrize("header", ["prompt,Response A,response_b,preferred", "prompt,chosen,rejected,topic"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_so_is_a_lost_text_of_a_pair(tmp_path: Path, header: str, place: int) -> None:
    path, cells, bad = tmp_path / "a.csv", ["Tea?", "No.", "Yes.", "A"], list[DataError]()
    lost = [*cells[:place], "#NAME?", *cells[place + 1 :]]
    path.write_text("\n".join([header, ",".join(cells), ",".join(lost)]) + "\n")
    assert len(list(rejoinder.read_pairs(path, on_bad=bad.append))) == 1
    assert [(one.where, one.field) for one in bad] == [(f"{path}:3", header.split(",")[place])]
    assert bad[0].problem.endswith("the text is lost")


@pytest.mark.parametrize(
    ("rows", "field"),
    [
        (["prompt,answer", "#NAME?,No."], "context"),
        (["history,prompt,answer", "Hi!,#REF!,No."], "context"),
        (["prompt,answer,reference", "Tea?,No.,#NAME?"], "references"),
        (["chat,sender,text", "7,user,Tea?", "7,bot,#NAME?"], "messages"),
    ],
)
def test_so_is_all_that_a_reply_is_judged_by(tmp_path: Path, rows: list[str], field: str) -> None:
    path, bad = tmp_path / "a.csv", list[DataError]()
    path.write_text("\n".join(rows) + "\n")
    assert not list(rejoinder.read(path, on_bad=bad.append))
    assert [(one.where, one.field) for one in bad] == [(f"{path}:2", field)]
    assert bad[0].problem.endswith("the text is lost")


def test_a_name_that_a_spreadsheet_lost_names_nothing(tmp_path: Path) -> None:
    """Else all lines that lost theirs would be of one system, of one conversation and by one rater."""
    path, said = tmp_path / "a.csv", list[str]()
    path.write_text("id,system,session_id,rater,prompt,answer,rating\n#REF!,#REF!,#REF!,#REF!,Tea?,No.,3\n")
    (one,) = rejoinder.read(path, note=said.append)
    assert (one.id, one.system, one.ratings[0].rater, one.extra) == (f"{path}:2", None, None, {})
    assert any("cells with '#REF!' are read as empty" in line for line in said)


def test_formulas_that_were_filled_down_below_a_table_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("prompt,answer,rating,topic\nTea?,No.,3,#N/A\n,,#DIV/0!,\n,,#DIV/0!,#N/A\n")
    assert [one.response for one in rejoinder.read(path)] == ["No."]
    path.write_text("answer\n#DIV/0!\n")
    with pytest.raises(DataError, match="the text is lost"):
        list(rejoinder.read(path))


def test_each_part_of_a_folder_counts_its_own(tmp_path: Path) -> None:
    said = list[str]()
    for name, replies in (("a", ["nan", "None"]), ("b", ["Yes."]), ("c", ["nan", "No."])):
        polars.DataFrame({"response": replies}).write_parquet(tmp_path / f"{name}.parquet")
    assert len(list(rejoinder.read(tmp_path, note=said.append))) == 5
    assert [line.partition(", read as")[0] for line in said] == [
        f"{tmp_path / 'a.parquet'}: cells with 'nan' are read as empty: 1 under response",
        f"{tmp_path / 'a.parquet'}: 1 reply is the text 'None'",
        f"{tmp_path / 'c.parquet'}: cells with 'nan' are read as empty: 1 under response",
    ]
