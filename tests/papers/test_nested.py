"""Settings chosen without a set: what is looked at, what wins, what is fitted then, and the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from conftest import Run
from judges_over_views import made_material, rated
from rejoinder.auditing.spoiling import spoilt
from rejoinder.errors import UsageError
from rejoinder.io import write
from rejoinder.judges.left_out import others
from rejoinder.judges.lines import RatedLines, encode_rated
from rejoinder.judges.views.assembly import Material
from rejoinder.judges.views.fit import columns_of
from rejoinder.judges.views.learner import ViewsLearner
from rejoinder.judges.views.lines import ViewLines
from rejoinder.judges.views.trees import Growth
from rejoinder.learner import Rows
from rejoinder.papers import nested
from rejoinder.papers.asked import Asked
from rejoinder.papers.judge_folds import blind
from rejoinder.papers.nested import DEFENCES, DOUBTED, FOLDS, SHIPPED, Judges, Settings
from rejoinder.papers.run import reproduce
from rejoinder.scorer import FloatArray, ignore

NAMES = ("fed_turn", "holistic_context", "usr_personachat", "conture_turn")
TINY = Growth(trees=4, step=0.4, fewest=5)


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    return made_material(tmp_path_factory.mktemp("material"))


@pytest.fixture(scope="module")
def lines(material: Material) -> RatedLines:
    """Four sets; the second took some conversations from the first."""
    sets = {name: rated(name, 64) for name in NAMES}
    taken = [replace(one, dataset=NAMES[1], id=f"taken {one.id}") for one in sets[NAMES[0]][:6]]
    given = [one for own in (sets[NAMES[0]], [*sets[NAMES[1]], *taken], *map(sets.get, NAMES[2:])) for one in own or ()]
    found = encode_rated(given, ViewsLearner(material, lambda given: spoilt(given, each=1), TINY))
    return replace(found, encoded=blind(cast("ViewLines", found.encoded)))


def test_inner_folds_see_nothing_of_a_set_and_ask_of_every_other(lines: RatedLines) -> None:
    own = lines.sets[NAMES[0]]
    folds = nested.inner_folds(lines, NAMES[0], 0)
    told = set(lines.ties.all_of(own).tolist())
    everything = []
    for fold in folds:
        asked = np.concatenate(fold.asked)
        assert not np.isin(fold.rows, asked).any()
        for rows in (fold.rows, asked):
            assert not np.isin(rows, own).any()
            assert not told & set(lines.ties.all_of(rows).tolist())
        both = [set(lines.ties.all_of(rows).tolist()) for rows in (fold.rows, asked)]
        assert not both[0] & both[1], "conversations are apart"
        everything += [{lines.examples[row].dataset for row in rows} for rows in fold.asked]
    assert sorted(map(tuple, everything)) == [(name,) for name in sorted(NAMES[1:])], "each whole set once"


def test_folds_of_sets_that_were_dealt_out_together_are_fitted_once(lines: RatedLines) -> None:
    fitted = {fold.rows.tobytes() for name in NAMES for fold in nested.inner_folds(lines, name, 0)}
    assert len(fitted) < sum(len(nested.inner_folds(lines, name, 0)) for name in NAMES)


@pytest.mark.slow
def test_ratings_and_attacked_replies_of_a_set_do_not_move_what_is_chosen_for_it(
    lines: RatedLines, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Mapping[Settings, float]] = []
    best = nested._best

    def recorded(values: Mapping[Settings, float]) -> tuple[Settings, float]:
        found.append(values)
        return best(values)

    monkeypatch.setattr(nested, "_best", recorded)
    own = lines.sets[NAMES[0]]
    turned, encoded = lines.ratings.copy(), cast("ViewLines", lines.encoded)
    turned[own] = 6 - turned[own]
    features = encoded.added.features.copy()
    features[np.isin(encoded.added.rows, own)] = 7
    garbled = replace(encoded, added=encoded.added._replace(features=features))
    other = replace(lines, ratings=turned, encoded=garbled)
    both = [nested.choose(Judges(one, 0, ignore), NAMES[0]) for one in (lines, other)]
    assert both[0] == both[1] and found[:2] == found[2:]
    assert len(found[0]) == len(DEFENCES) * len(nested.MIXTURES) and len(found[1]) == 1 + len(DOUBTED)
    nested.choose(Judges(replace(lines, ratings=turned), 0, ignore), NAMES[3])
    assert found[4] != found[0], "where the set is not the one in question, its ratings count"


class Known(Judges):
    """The more of its settings are those of `good`, the nearer a judge comes to people."""

    good = Settings(0.5, 0.75, DOUBTED[1])

    def mixed(self, settings: Settings, mixtures: object, rows: Rows, asked: Rows) -> list[FloatArray]:
        each = [settings._replace(trees=share) for share in cast("list[float]", mixtures)]
        like = [sum(a == b for a, b in zip(one, self.good, strict=True)) for one in each]
        noise = np.random.default_rng(0).normal(size=len(asked))
        return [self.lines.ratings[asked] * count + 2 * noise for count in like]


def test_the_winner_among_the_others_is_what_a_set_is_asked_of(
    lines: RatedLines, material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert nested.choose(Known(lines, 0, ignore), NAMES[2]) == Known.good
    asked: list[tuple[Settings, Rows, Rows]] = []

    class Heard(Known):
        def said(self, settings: Settings, rows: Rows, own: Rows) -> FloatArray:
            asked.append((settings, rows, own))
            return super().said(settings, rows, own)

    monkeypatch.setattr(nested, "Judges", Heard)
    monkeypatch.setattr(nested, "encode_rated", lambda *_: lines)
    monkeypatch.setattr(nested, "boxed_material", lambda: material)
    monkeypatch.setattr("rejoinder.papers.judge.RESAMPLES", 20)
    monkeypatch.delenv("REJOINDER_SHARED", raising=False)
    write(rated("any", 4), tmp_path / "any.jsonl")
    found = nested.find(Asked(files=[tmp_path / "any.jsonl"]))
    assert [one[0] for one in asked] == [Known.good, SHIPPED] * len(NAMES)
    assert [(one.name, one.chosen) for one in found.sets] == [(name, Known.good) for name in NAMES]
    for (_, rows, own), name in zip(asked[::2], NAMES, strict=True):
        assert own.tolist() == lines.sets[name].tolist()
        assert rows.tolist() == others(lines, lines.sets[name]).tolist()


def test_an_interrupted_call_goes_on_and_one_of_another_seed_is_refused(
    lines: RatedLines, material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def choose(judges: Judges, name: str) -> Settings:
        begun.append(name)
        if len(begun) == 3:
            raise KeyboardInterrupt
        return Settings(0.5, 0.25, DOUBTED[len(begun) % 2])

    monkeypatch.setattr(nested, "choose", choose)
    monkeypatch.setattr(nested, "Judges", Known)
    monkeypatch.setattr(nested, "encode_rated", lambda *_: lines)
    monkeypatch.setattr(nested, "boxed_material", lambda: material)
    monkeypatch.setattr("rejoinder.papers.judge.RESAMPLES", 20)
    monkeypatch.delenv("REJOINDER_SHARED", raising=False)
    write(rated("any", 4), tmp_path / "any.jsonl")
    write(rated("any", 5), tmp_path / "more.jsonl")
    with pytest.raises(KeyboardInterrupt, match="call again to go on"):
        reproduce("nested", tmp_path / "any.jsonl", out=tmp_path)
    for other, seed in (("any.jsonl", 1), ("more.jsonl", 0)):
        with pytest.raises(
            UsageError, match=r"nested.run: holds a run of other files, another seed or another version"
        ):
            reproduce("nested", tmp_path / other, out=tmp_path, seed=seed)
    damaged = next((tmp_path / "nested.run").glob("*.npz"))
    damaged.write_bytes(damaged.read_bytes()[:99])
    again = reproduce("nested", tmp_path / "any.jsonl", out=tmp_path)
    assert len(begun) == 3 + 3 and len({*begun}) == 4, "two were done, one of them was damaged"
    assert not (tmp_path / "nested.run").exists()
    assert "not counting what earlier calls had done" in (tmp_path / "nested.md").read_text().replace("\n", " ")
    begun[:] = ["another"] * 3
    whole = reproduce("nested", tmp_path / "any.jsonl", out=tmp_path)
    assert "earlier calls" not in (tmp_path / "nested.md").read_text()
    assert len(begun) == 3 + 4 and len(again.sections) == len(whole.sections)


def test_where_nothing_is_better_the_judge_stays_as_it_ships(
    lines: RatedLines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Known, "good", Settings(-1.0, -1.0, "none of these"))
    assert nested.choose(Known(lines, 0, ignore), NAMES[2]) == SHIPPED


def test_settings_change_what_a_judge_is_fitted_on(lines: RatedLines) -> None:
    encoded = cast("ViewLines", lines.encoded)
    assert len(encoded.added.rows) and not len(nested.defended(encoded, 0.0).added.rows)
    assert nested.defended(encoded, 2.0).added.weights == pytest.approx(2 * encoded.added.weights)
    views = cast("ViewsLearner", lines.learner).views
    every = nested.columns_without(views, "")
    assert every.tolist() == columns_of(views, "context").tolist()
    for view in DOUBTED:
        left = {views.columns[column] for column in every} - {
            views.columns[column] for column in nested.columns_without(views, view)
        }
        assert left and {name.partition(".")[0] for name in left} == {view}


def test_a_judge_is_fitted_once_for_all_mixtures(lines: RatedLines) -> None:
    counted: list[int] = []
    judges = Judges(lines, 0, counted.append)
    own = lines.sets[NAMES[0]]
    rest = others(lines, own)
    smooth, trees = judges.mixed(SHIPPED, (0.0, 1.0), rest, own)
    assert judges.said(SHIPPED, rest, own) == pytest.approx((smooth + trees) / 2)
    assert len(judges.heads) == 1 and sum(counted) == 2
    judges.said(SHIPPED._replace(defence=0.0), rest, own)
    judges.said(SHIPPED._replace(without=DOUBTED[0]), rest, own)
    assert len(judges.heads) == 3


@pytest.mark.slow
def test_the_page(run: Run, material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nested, "boxed_material", lambda: material)
    monkeypatch.setattr(nested, "LIGHT", TINY)
    monkeypatch.setattr(nested, "spoilt", lambda given: spoilt(given, each=1))
    monkeypatch.setattr("rejoinder.papers.judge.RESAMPLES", 50)
    monkeypatch.delenv("REJOINDER_SHARED", raising=False)
    files = [tmp_path / f"{name}.jsonl" for name in NAMES]
    for name, file in zip(NAMES, files, strict=True):
        write(rated(name, 64), file)
    done = run("reproduce", "nested", *files, "--seed", "0", "-o", tmp_path)
    assert done.code == 0, done.err
    page = (tmp_path / "nested.md").read_text(encoding="utf-8")
    assert "| chosen among the other sets |" in page and page.count("| usr_personachat | 64 |") == 1
    assert "4 data sets, 256 rated lines" in " ".join(page.split()) and "{" not in page
    times = [line.split("|")[3].strip() for line in page.splitlines() if line.startswith("| weight of the trees |")]
    assert sum(map(int, times)) == 4 and "| 0.50, as it ships |" in page
    for name, lines in (
        ("alone", [replace(one, context=()) for one in rated("alone", 30)]),
        ("tiny", rated("tiny", 3)),
    ):
        write(lines, tmp_path / f"{name}.jsonl")
    told = {
        "takes 4 or more": [*files[:FOLDS], tmp_path / "alone.jsonl"],
        "are left to fit on": [tmp_path / "tiny.jsonl", *files[:1], *(few(name, 3, tmp_path) for name in ("b", "c"))],
    }
    for why, names in told.items():
        ran = run("reproduce", "nested", *names, "-o", tmp_path)
        noted, said = ran.err.splitlines()
        assert ran.code == 2 and why in said and noted.startswith("no relevance/dailydialogpp_dev.jsonl.gz")


def few(name: str, count: int, place: Path) -> Path:
    """A file of so many rated lines."""
    write(rated(name, count), place / f"{name}.jsonl")
    return place / f"{name}.jsonl"
