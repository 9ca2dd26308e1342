"""The panel of judges: which member scores a reply, one split for all, one folder."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from conftest import Run
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.adem.panel import MEMBERS, Panel
from rejoinder.judges.train import TrainedJudge, train_judge
from rejoinder.scoring.catalog import load_scorer, score
from samples import panel_of

WORDS = ["music", "film", "book", "game", "dinner", "train", "river", "winter", "garden", "school", "paper", "window"]


def rated(seed: int, *, context: bool = True, reference: bool = True, count: int = 120) -> Iterator[Example]:
    """Yield examples whose rating is how many words the response shares with context and reference."""
    source = random.Random(seed)
    for number in range(count):
        before, wanted, response = (source.choices(WORDS, k=4) for _ in range(3))
        yield Example(
            (" ".join(before),) if context else (),
            " ".join(response),
            (" ".join(wanted),) if reference else (),
            id=f"{seed}-{number}",
            quality={"overall": 1.0 + sum(word in before + wanted for word in response)},
            scales={"overall": (1.0, 5.0)},
        )


@pytest.fixture(scope="module")
def trained() -> TrainedJudge:
    return train_judge([*rated(0), *rated(1, reference=False), *rated(2, context=False)], "panel", seed=3)


def test_an_example_is_scored_by_the_member_that_reads_all_that_is_there(trained: TrainedJudge) -> None:
    panel, context, reference = panel_of(trained), ("music and film",), ("a game",)
    examples = [
        Example(context, "a book", reference),
        Example(context, "a book"),
        Example((), "a book", reference),
        Example((" ",), "a book", (" ",)),
    ]
    outcome = panel.score_batch(examples)
    for row, kind in enumerate(MEMBERS):
        assert outcome.values[row] == panel.members[kind].score_batch([examples[row]]).values[0]
    assert outcome.reasons == {3: "no context and no reference"}
    reasons = score(
        [Example(("music",), "xqzzy"), Example(("music",), "film"), Example(("music",), " ")], panel
    ).reasons
    assert reasons == {0: "no known word in the response", 2: "the response is empty"}


def test_no_member_is_tested_on_a_context_that_another_was_fitted_on(trained: TrainedJudge) -> None:
    members = trained.members
    seen = {example.context_key for member in members for example in (*member.train, *member.validation)}
    assert len(members) == 3
    assert not seen & {example.context_key for member in members for example in member.test}


def test_folder_gives_the_same_panel(trained: TrainedJudge, tmp_path: Path) -> None:
    panel = panel_of(trained)
    panel.save(tmp_path / "panel")
    again = load_scorer(tmp_path / "panel")
    examples = [*rated(5, count=5), *rated(6, context=False, count=5)]
    np.testing.assert_array_equal(score(examples, again).values, score(examples, panel).values)
    assert again.options == panel.options
    card = (tmp_path / "panel" / "card.md").read_text(encoding="utf-8")
    assert [line for line in card.splitlines() if line.startswith("## ")] == ["## ADEM", "## C-ADEM", "## R-ADEM"]


def test_scale_of_a_panel(trained: TrainedJudge) -> None:
    panel = panel_of(trained)
    wide = Panel(panel.members, panel.absent, scale=(0.0, 100.0))
    values = panel.score_batch(list(rated(5, count=5))).values
    np.testing.assert_allclose(wide.score_batch(list(rated(5, count=5))).values, 25 * (values - 1))
    assert wide.parts.config["scale"] == [0.0, 100.0] and "scale" not in wide.parts.inner("adem").config


def test_members_without_enough_examples_are_left_out() -> None:
    panel = panel_of(train_judge(rated(0, reference=False), "panel"))
    assert list(panel.members) == ["c-adem"] and list(panel.absent) == ["adem", "r-adem"]
    assert panel.absent["adem"].startswith("0 rated contexts that adem can learn from, expected 30 or more (120 lines")
    assert panel.card.needs == {"context"}
    assert panel.score_batch([Example((), "a book", ("a game",))]).reasons == {0: "no context"}
    with pytest.raises(DataError, match=r"20 rated contexts that c-adem can learn from, expected 30 or more"):
        train_judge(rated(0, reference=False, count=20), "panel")


@pytest.mark.slow
def test_the_command_shows_every_member(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rated.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for example in rated(0):
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
