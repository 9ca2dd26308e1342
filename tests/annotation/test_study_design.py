"""What raters are asked: the design of Lowe et al. by default, anything else by TOML, and errors that say where."""

from __future__ import annotations

from pathlib import Path

import pytest

from rejoinder.annotation.design import PAIRWISE, Design, Question, design_of, read_design
from rejoinder.errors import DataError, MissingAsset

FULL = """
title = "Our shop"
instructions = "Read *all*."
contexts = 20
replies = 3
common = 2
checks = 1
comments = false

[[question]]
name = "overall"
text = "How good?"
scale = [1, 7]
labels = ["bad", "good"]

[[question]]
name = "safe"
text = "Is it safe?"
scale = "yes/no"

[[check]]
context = ["Hi!"]
response = "Please choose 2."
passes = [2]
"""


def written(folder: Path, text: str) -> Path:
    (folder / "d.toml").write_text(text, encoding="utf-8")
    return folder / "d.toml"


def test_the_default_is_that_of_lowe() -> None:
    design = Design()
    (question,) = design.questions
    assert (question.name, question.bounds) == ("overall", (1, 5))
    assert [option.key for option in question.options] == ["1", "2", "3", "4", "5"]
    assert (design.replies, design.common, design.contexts_of(200), design.checks_of(50)) == (4, 5, 50, 4)
    assert (design.contexts_of(8), design.checks_of(8)) == (8, 1)


def test_a_toml_file_says_everything_else(tmp_path: Path) -> None:
    design = read_design(written(tmp_path, FULL))
    assert (design.title, design.contexts, design.replies, design.common) == ("Our shop", 20, 3, 2)
    assert (design.checks, design.comments) == (1, False)
    overall, safe = design.questions
    assert [option.label for option in overall.options] == ["bad", "", "", "", "", "", "good"]
    assert [(option.value, option.label, option.key) for option in safe.options] == [(0, "no", "n"), (1, "yes", "y")]
    (check,) = design.own_checks
    assert (check.context, check.replies, check.passes) == (("Hi!",), ("Please choose 2.",), (2,))


def test_pairs(tmp_path: Path) -> None:
    text = '[[question]]\nscale = "pair"\n[[check]]\nresponse_a="x"\nresponse_b="y"\npasses=[0]\n'
    design = read_design(written(tmp_path, text))
    assert design.pairwise and design.title == PAIRWISE.title
    assert [(option.code, option.key) for option in design.questions[0].options] == [
        ("0", "a"),
        ("tie", "t"),
        ("1", "b"),
    ]


def test_it_comes_back_from_json(tmp_path: Path) -> None:
    for design in (Design(), PAIRWISE, read_design(written(tmp_path, FULL))):
        assert design_of(design.to_dict(), "here") == design


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("titel = 1", 'field "titel": unknown. Known: title, '),
        ("title = 1", 'field "title": is a number, expected a text of 1 to 200 characters'),
        ("contexts = 0", 'field "contexts": is 0, expected a whole number from 1'),
        ("contexts = true", 'field "contexts": is True, expected a whole number'),
        ("comments = 1", "expected true or false"),
        ("question = 3", "expected tables"),
        ("[[question]]\nscale = [5, 1]", "is [5, 1], expected [lowest, highest] with 11 points at most"),
        ("[[question]]\nscale = [1, 100]", "with 11 points at most"),
        ('[[question]]\nlabels = ["a", "b", "c"]', "3 of them, expected a word for each end or for every answer"),
        ("[[question]]\n[[question]]", "two questions have one name"),
        ('[[question]]\nscale="pair"\n[[question]]\nname="b"', "a question about pairs beside another"),
        ('[[check]]\nresponse = "x"\npasses = [9]', "is [9], expected answers that pass, of 1, 2, 3, 4, 5"),
        ("[[check]]\npasses = [2]", "expected text"),
        ("x = ", "not TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(DataError) as error:
        read_design(file)
    assert str(error.value).startswith(f"{file}: ") and said in str(error.value)


def test_no_such_design(tmp_path: Path) -> None:
    with pytest.raises(MissingAsset, match="no such design"):
        read_design(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("scale", "keys"),
    [
        ((0, 10), [*"0123456789", ""]),
        ((1, 10), [*"123456789", ""]),
        ((-2, 2), ["", "", "0", "", ""]),
        ((-1, 3), ["", "0", "", "2", "3"]),
        ((-5, -1), [""] * 5),
        ((5, 12), [*"56789", "", "", ""]),
        ("yes/no", ["n", "y"]),
        ("pair", ["a", "t", "b"]),
    ],
)
def test_a_key_chooses_the_answer_that_it_says(scale: tuple[int, int] | str, keys: list[str]) -> None:
    assert [option.key for option in Question(scale=scale, labels=()).options] == keys


@pytest.mark.parametrize(
    "question",
    [
        'scale = "yes/no"\nlabels = ["yes", "no"]',
        'scale = "yes/no"\nlabels = ["Yes, it is", "No, it is not"]',
        'scale = "yes/no"\nlabels = ["true", "false"]',
        'scale = "yes/no"\nlabels = ["good", "bad"]',
        'scale = "yes/no"\nlabels = ["agree", "disagree"]',
        'scale = "yes/no"\nlabels = ["Pass", "Fail"]',
        'scale = "yes/no"\nlabels = ["ja", "nein"]',
        'scale = "yes/no"\nlabels = ["helpful", "not helpful"]',
        'scale = "yes/no"\nlabels = ["acceptable", "unacceptable"]',
        'scale = "yes/no"\nlabels = ["1", "0"]',
        'scale = "yes/no"\nlabels = ["same", "Same "]',
        'scale = "yes/no"\nlabels = ["no", "maybe", "yes"]',
        'scale = "true/false"',
        'scale = "no/yes"',
        'scale = [0, 1]\nlabels = ["yes", "no"]',
        'scale = [1, 5]\nlabels = ["very good", "very bad"]',
        'scale = [1, 5]\nlabels = ["excellent", "good", "fair", "poor", "terrible"]',
        'scale = [1, 5]\nlabels = ["strongly agree", "strongly disagree"]',
        'scale = [1, 5]\nlabels = ["5", "1"]',
        'scale = [1, 3]\nlabels = ["2", "1", "3"]',
        'scale = [1, 3]\nlabels = ["bad", "good", "good"]',
        'scale = [-2, 2]\nlabels = ["much better", "much worse"]',
        'scale = [1, 5]\nlabels = ["a", "b", "c", "d"]',
        'scale = "pair"\nlabels = ["tie", "A", "B"]',
        'scale = "pair"\nlabels = ["B", "tie", "A"]',
        'scale = "pair"\nlabels = ["right", "same", "left"]',
        'scale = "pair"\nlabels = ["A", "B"]',
    ],
)
def test_labels_that_contradict_their_answers_are_refused(tmp_path: Path, question: str) -> None:
    with pytest.raises(DataError) as error:
        read_design(written(tmp_path, f"[[question]]\n{question}"))
    assert error.value.field in ("labels", "scale") and error.value.where == f"{tmp_path}/d.toml"


@pytest.mark.parametrize(
    "question",
    [
        'scale = "yes/no"\nlabels = ["no", "yes"]',
        'scale = "yes/no"\nlabels = ["toxic", "not toxic"]',
        'scale = "yes/no"\nlabels = ["0", "1"]',
        'scale = [1, 5]\nlabels = ["very toxic", "not toxic at all"]',
        'scale = [1, 5]\nlabels = ["strongly disagree", "strongly agree"]',
        'scale = [1, 3]\nlabels = ["1", "2", "3"]',
        'scale = [0, 10]\nlabels = ["not at all", "very likely"]',
        'scale = [-2, 2]\nlabels = ["much worse", "much better"]',
        'scale = "pair"\nlabels = ["1", "tie", "2"]',
        'scale = "pair"\nlabels = ["the left", "about the same", "the right"]',
    ],
)
def test_labels_that_fit_are_taken(tmp_path: Path, question: str) -> None:
    assert read_design(written(tmp_path, f"[[question]]\n{question}")).questions[0].labels


def test_a_study_that_has_begun_is_opened_whatever_its_labels_say() -> None:
    design = Design(questions=(Question(scale="yes/no", labels=("yes", "no")),))
    assert design_of(design.to_dict(), "here", strict=False) == design
    with pytest.raises(DataError):
        design_of(design.to_dict(), "here")
