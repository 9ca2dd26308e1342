"""The panel of judges: who scores what, one split for all, one folder."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from conftest import Run
from rejoinder.data.folders import read_folder
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.adem.panel import MEMBERS, Panel
from rejoinder.judges.conversations import conversations
from rejoinder.judges.learner import members_of
from rejoinder.judges.lines import encode_rated
from rejoinder.judges.train import Trained, fit_member, train_judge
from rejoinder.scoring.catalog import load_scorer, score
from samples import bilinear_learner, panel_of

WORDS = ["music", "film", "book", "game", "dinner", "train", "river", "winter", "garden", "school", "paper", "window"]


def rated(seed: int, *, context: bool, reference: bool, count: int = 120) -> Iterator[Example]:
    """Examples whose rating says how many words the response shares with what was said before or should have been."""
    source = random.Random(seed)
    for number in range(count):
        asked, wanted, response = (source.choices(WORDS, k=4) for _ in range(3))
        shared = sum(word in asked + wanted for word in response)
        yield Example(
            (" ".join(asked),) if context else (),
            " ".join(response),
            (" ".join(wanted),) if reference else (),
            id=f"{seed}-{number}",
            quality={"overall": 1.0 + shared},
            scales={"overall": (1.0, 5.0)},
        )


@pytest.fixture(scope="module")
def trained() -> tuple[Panel, list[Trained]]:
    both, alone, without = (
        rated(0, context=True, reference=True),
        rated(1, context=True, reference=False),
        rated(2, context=False, reference=True),
    )
    done = train_judge([*both, *alone, *without], "panel", seed=3)
    return panel_of(done), list(done.members)


def test_each_example_is_scored_by_the_member_that_reads_all_that_is_there(
    trained: tuple[Panel, list[Trained]],
) -> None:
    panel, _ = trained
    examples = [
        Example(("music and film",), "a book", ("a game",)),
        Example(("music and film",), "a book"),
        Example((), "a book", ("a game",)),
        Example((" ",), "a book", (" ",)),
    ]
    outcome = panel.score_batch(examples)
    for row, kind in enumerate(MEMBERS):
        assert outcome.values[row] == panel.members[kind].score_batch([examples[row]]).values[0]
    assert np.isnan(outcome.values[3])
    assert outcome.reasons == {3: "no context and no reference"}


def test_a_text_without_a_known_word_is_unscored(trained: tuple[Panel, list[Trained]]) -> None:
    scores = score([Example(("music",), "xqzzy"), Example(("music",), "film"), Example(("music",), " ")], trained[0])
    assert scores.reasons == {0: "no known word in the response", 2: "the response is empty"}
    assert np.isfinite(scores.values[1])


def test_no_member_is_tested_on_a_context_that_another_was_fitted_on(trained: tuple[Panel, list[Trained]]) -> None:
    _, members = trained
    seen = {example.context_key for member in members for example in (*member.train, *member.validation)}
    assert len(members) == 3
    assert not seen & {example.context_key for member in members for example in member.test}


def test_it_is_saved_and_loaded_whole(trained: tuple[Panel, list[Trained]], tmp_path: Path) -> None:
    panel, _ = trained
    panel.save(tmp_path / "panel")
    again = load_scorer(tmp_path / "panel")
    examples = [*rated(5, context=True, reference=True, count=5), *rated(6, context=False, reference=True, count=5)]
    np.testing.assert_array_equal(score(examples, again).values, score(examples, panel).values)
    assert again.options == panel.options
    card = (tmp_path / "panel" / "card.md").read_text(encoding="utf-8")
    assert [line for line in card.splitlines() if line.startswith("## ")] == ["## ADEM", "## C-ADEM", "## R-ADEM"]


def test_members_without_enough_examples_are_left_out() -> None:
    panel = panel_of(train_judge([*rated(0, context=True, reference=False)], "panel"))
    assert list(panel.members) == ["c-adem"]
    assert list(panel.absent) == ["adem", "r-adem"]
    assert panel.absent["adem"].startswith(
        "0 rated contexts that adem can learn from, expected 30 or more (120 lines: no "
    )
    assert panel.card.needs == {"context"}
    outcome = panel.score_batch([Example((), "a book", ("a game",))])
    assert outcome.reasons == {0: "no context"}


def test_too_few_for_any_member_are_told() -> None:
    with pytest.raises(DataError, match=r"20 rated contexts that c-adem can learn from, expected 30 or more"):
        train_judge([*rated(0, context=True, reference=False, count=20)], "panel")


def test_a_split_without_lines_for_a_member_is_told() -> None:
    both = list(rated(0, context=True, reference=True, count=60))
    lines = encode_rated(both, bilinear_learner("adem"))
    everything, nothing = np.arange(60), np.arange(0)
    with pytest.raises(DataError, match="the validation part of the split has 0 lines that adem can use, expected 3"):
        fit_member(lines, members_of(lines.learner)[0], [everything, nothing, nothing], np.random.default_rng(0))


def test_conversations_are_told_across_sets_and_turns() -> None:
    long, short = "do you have any plans for the weekend?", "hi!"
    examples = [
        Example((short, long, "yes, a film with friends of mine"), "fine", dataset="a", context_id="1"),
        Example((short, long), "no", dataset="a", context_id="2"),
        Example(("Do you have any plans, for the WEEKEND",), "no", dataset="b"),
        Example((short,), "hi", dataset="a"),
        Example((short,), "hello", dataset="b"),
        Example((), "x", dataset="b", context_id="7"),
        Example((), "y", dataset="b", context_id="7"),
    ]
    assert conversations(examples).tolist() == [0, 0, 0, 1, 1, 2, 2]


@pytest.mark.slow
def test_the_command_tells_of_every_member(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rated.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for example in rated(0, context=True, reference=True):
            line = {"context": example.context, "response": example.response, "references": example.references}
            lines.write(json.dumps({**line, "quality": dict(example.quality), "scale": [1, 5]}) + "\n")
    done = run("train", "panel", file, "-o", tmp_path / "panel", "--held-out", tmp_path / "test.jsonl", "--json")
    assert done.code == 0, done.err
    scorers = json.loads(done.out)["scorers"]
    members = [name for name, facts in scorers.items() if "training" in facts]
    assert members == ["adem", "c-adem", "r-adem"]
    held_out = (tmp_path / "test.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(held_out) == scorers["adem"]["training"]["test"]["n"]
    table = run("train", "panel", file, "-o", tmp_path / "again")
    assert all(f"Fit of {name}" in table.out for name in members)


def test_the_options_of_the_fit_are_those_asked_for(run: Run, tmp_path: Path) -> None:
    options = ("--components", "7", "--penalty", "l1", "--over-sample", "words", "--json")
    done = run("train", "c-adem", "@conture", "-o", tmp_path / "judge", *options)
    assert done.code == 0, done.err
    found = json.loads(done.out)["scorers"]["c-adem"]["training"]
    assert (found["components"], found["penalty"], found["oversample"]) == (7, "l1", "words")
    assert len(read_folder(tmp_path / "judge").tensors["M"]) == 7


def test_a_judge_without_agreement_is_told(run: Run, tmp_path: Path) -> None:
    source, file = random.Random(7), tmp_path / "noise.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for _ in range(150):
            context, response = (" ".join(source.choices(WORDS, k=4)) for _ in range(2))
            line = {"context": [context], "response": response, "quality": {"overall": source.randint(1, 5)}}
            lines.write(json.dumps({**line, "scale": [1, 5]}) + "\n")
    said = "no significant agreement with people on the 22 lines of the test part"
    assert said in run("train", "c-adem", file, "-o", tmp_path / "judge").out
    assert said not in run("train", "r-adem", "@dstc7", "-o", tmp_path / "judge").out
