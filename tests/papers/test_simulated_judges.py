"""The collection of AutoJudge from end to end, with simulated judges: self-talk, ratings, labels by MACE, a judge."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from conftest import PROJECT, Run

RECIPE = PROJECT / "recipes" / "simulated_judges.py"


@pytest.mark.slow
def test_from_self_talk_to_a_judge(run: Run, tmp_path: Path) -> None:
    recipe = PROJECT / "recipes" / "c-tfidf.toml"
    bot = run("pretrain", recipe, "@conture", "--keep-judged", "--on-error", "skip", "-o", tmp_path / "tfidf")
    assert bot.code == 0, bot.err
    talk = run("selftalk", "@conture", "-r", tmp_path / "tfidf", "--contexts", 40, "--add", 6, "-o", tmp_path / "talk")
    assert talk.code == 0, talk.err
    rated = tmp_path / "rated.jsonl"
    done = subprocess.run(
        [sys.executable, RECIPE, tmp_path / "talk" / "turns.jsonl", rated, "--judges", "8", "--spammers", "2"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "no person rated any" in done.stdout
    lines = list(rejoinder.read(rated))
    assert all(line.extra["simulated"] and len(line.ratings) == 3 for line in lines) and len(lines) >= 200
    assert all(one.rater is not None and one.rater.startswith("simulated") for one in lines[0].ratings)
    labels = tmp_path / "labels.jsonl"
    made = run("ratings", rated, "--aggregate", "mace", "--min-kappa", -1, "--resamples", 100, "-o", labels)
    assert made.code == 0, made.err
    labelled = list(rejoinder.read(labels))
    right = np.mean([line.quality["overall"] == line.extra["true_rating"] for line in labelled])
    assert right > 0.7, "labels are those of judges who know"
    trained = run("train", "autojudge", labels, "--epochs", 3, "-o", tmp_path / "judge")
    assert trained.code == 0, trained.err
    assert np.isfinite(rejoinder.score(labelled[:5], tmp_path / "judge").values).all()
