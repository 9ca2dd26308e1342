"""Sai et al. 2019 from end to end on made-up ratings, its figures worked out anew."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from conftest import Run, refused
from every import made
from made_up import made_up, row
from rejoinder.auditing.attack import ATTACKS
from rejoinder.example import Example
from rejoinder.perturbations import Corpus
from research import sai2019
from research.asked import Asked
from research.attacks import by_attack, scorer_of
from research.fits import QUICK, QUICK_AUTOJUDGE
from research.page import About
from research.sai2019 import Sai2019
from research.sai2019_page import page

# Whether the judges are any good is of no account here.
_SMALL = {
    "OTHERS": ("bleu-2",),
    "POOL": 40,
    "LIMIT": 40,
    "QUICK": replace(QUICK, epochs=2),
    "QUICK_AUTOJUDGE": replace(QUICK_AUTOJUDGE, epochs=2),
}
ABOUT = About("python -m research.sai2019", "2026-01-01", 1.0, 1)


def packed(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of data with made-up ratings and a corpus."""
    folder = tmp_path_factory.mktemp("data")
    plain = folder / "rated.jsonl"
    rejoinder.write([replace(one, dataset=f"deriu_{one.dataset}") for one in made_up()], plain)
    packed(folder / "judgements" / "deriu_made.jsonl.gz", plain.read_text(encoding="utf-8"))
    turns = [one.response for one in made_up()]
    packed(
        folder / "corpora" / "topical_chat.jsonl.gz",
        "".join(json.dumps({"turns": turns[at : at + 5]}) + "\n" for at in range(0, 100, 5)),
    )
    return folder


@pytest.fixture(scope="module")
def found(data: Path) -> Sai2019:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _SMALL.items():
            patch.setattr(sai2019, name, value)
        return sai2019.find(Asked(data=data, seed=2))


def attacked(found: Sai2019) -> Sequence[Example]:
    """The lines of the test part that are no copies: made-up data has fewer than are attacked at most."""
    rows = found.split.test[~found.material.copies[found.split.test]]
    return [found.material.examples[place] for place in rows]


def test_judges_are_trained_as_their_papers_have_them(found: Sai2019) -> None:
    adem, autojudge = (one.judge for one in found.trained.values())
    assert (adem.kind, autojudge.kind) == ("adem", "autojudge") and adem.normalise == "none"
    assert adem.projection is not None and autojudge.projection is None
    assert [scorer_of(audit) for audit in found.audits] == ["adem", "autojudge", "bleu-2"]
    assert set(found.crossed) == {"adem", "autojudge"} and found.pool == 40


def test_no_line_that_is_attacked_was_trained_on(found: Sai2019) -> None:
    test = {one.context for one in attacked(found)}
    trained = {found.material.examples[place].context for place in (*found.split.train, *found.split.validation)}
    assert not test & trained and found.audits[0].about.counts["replies"] == len(attacked(found)) <= 40


def test_figures_are_those_of_an_audit(found: Sai2019) -> None:
    own = rejoinder.audit(attacked(found), "bleu-2", families=["swapped", "generic-will-do"], seed=2)
    said = page(found, ABOUT).text
    found_there = by_attack(found.audits[2])
    for name, attack in by_attack(own).items():
        assert repr(found_there[name]) == repr(attack)
    changed, _ = by_attack(own).values()
    assert changed.n >= 30
    told = said[said.index("## Table 3") : said.index("## Table 4")]
    assert row(told, changed.about)[-1] == "{:.2f} ± {:.2f}".format(
        *(changed.value(f"attacked score, {key}") for key in ("mean", "sd"))
    )


def test_the_page(found: Sai2019) -> None:
    said = page(found, ABOUT).text
    for title in ("Table 3", "Table 4", "Table 5", "Table 6", "Fooled", "Why: the geometry"):
        assert f"## {title}" in said
    about = {name: one.about for name, one in ATTACKS.items()}
    later = said[said.index("## Table 4") :]
    assert row(later, about["reversed"])[1] == "2.75 ± 0.33, 69 %", "published stands beside ours"
    assert "a bigram model of the attacked replies" in said and "conicity" in said and "0.59" in said
    adem = found.crossed["adem"]
    assert f"{adem.rows:.0%}".replace("%", " %") in said and sum(adem) == pytest.approx(1)
    few = next(attack for attack in by_attack(found.audits[0]).values() if attack.n < 30)
    assert set(row(said, few.about)[1:]) == {"–"}, "too few to say anything"


def test_machine_responses_come_from_a_responder(data: Path, tmp_path: Path) -> None:
    folder = made("random", tmp_path / "random")
    examples = made_up()[:6]
    families, name = sai2019._families(Asked(responders=[f"drawn={folder}"], data=data), examples)
    machine, swapped = (one for one in families if not isinstance(one, str))
    rng = np.random.default_rng(0)
    corpus = Corpus(examples)
    for example in examples:
        ours, other = machine.apply(example, rng, corpus), swapped.apply(example, rng, corpus)
        assert (
            ours is not None
            and other is not None
            and ours.response
            in ("the cat sat", "the dog sat", "the bird sat", "thanks cat", "thanks dog", "thanks bird", "bye")
        )
        assert (other.response, other.references) == (example.references[0], (ours.response,))
    assert name == "drawn" and "drawn" in machine.about


def test_as_a_user_calls_it(experiment: Run, data: Path, tmp_path: Path) -> None:
    refused(
        experiment("sai2019", "@conture", "-o", tmp_path),
        2,
        "sai2019 takes -e, -r, --data, --seed, not FILES. Leave out what does not fit",
    )
    (empty := tmp_path / "data").mkdir()
    (out := tmp_path / "out").mkdir()
    told = experiment("sai2019", "--data", empty, "-o", out)
    assert told.code == 4 and "none of twitter_care, topical_chat, self_dialogue is here" in told.err


def test_what_rows_columns_and_both_add_to_the_variance() -> None:
    rows, columns = np.array([[0.0], [2.0], [7.0]]), np.array([[1.0, 5.0]])
    assert sai2019.two_way(rows + columns).both == pytest.approx(0, abs=1e-12)
    assert sai2019.two_way(rows + 0 * columns)[:2] == pytest.approx((1, 0))
    assert sai2019.two_way(0 * rows + columns)[:2] == pytest.approx((0, 1))
    rng = np.random.default_rng(0)
    assert sai2019.two_way(rng.normal(size=(300, 300))).both > 0.98
    shares = sai2019.two_way(rng.normal(size=(4, 5)))
    assert sum(shares) == pytest.approx(1) and min(shares) > 0
    assert np.isnan(sai2019.two_way(np.ones((2, 2)))).all()
