"""The experiments that are of no one paper, from end to end on small made-up data; their figures worked out anew."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import PROJECT, Run, refused
from made_up import made_up, row
from rejoinder.io.box import JUDGE
from rejoinder.papers.run import reproduce
from rejoinder.records import Example
from samples import records

SYSTEMS = {"echo": "how are you", "polite": "i am fine thank you very much"}


BOT = """
import json, sys
for line in sys.stdin:
    print(json.dumps({{"response": {!r}}}), flush=True)
"""


def page_of(out: Path, name: str) -> str:
    return (out / f"{name}.md").read_text(encoding="utf-8")


def write(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def rated(*names: str, references: bool = True) -> list[Example]:
    """The made-up ratings of two sets, under other names."""
    named = dict(zip(("first", "second"), names, strict=True))
    examples = (replace(one, dataset=named[str(one.dataset)]) for one in made_up())
    return [one if references else replace(one, references=()) for one in examples]


# preferences


def test_preferences(run: Run, tmp_path: Path) -> None:
    empty = {"context": ["prompt"], "responses": ["", "a b"], "preferred": 1}
    pairs = write(tmp_path / "pandalm.jsonl", [{**one, "dataset": "pandalm"} for one in [*records(40), empty]])
    done = run("reproduce", "preferences", pairs, "-o", tmp_path, "--seed", 3)
    assert done.code == 0, done.err
    page = page_of(tmp_path, "preferences")
    assert "`rejoinder reproduce preferences pandalm.jsonl --seed 3 -o" in " ".join(page.split())
    study = rejoinder.study_pairs(rejoinder.read_pairs(pairs), ["rejoinder"], seed=3)
    (ours,) = (one for one in study.results if (one.scorer, one.statistic) == ("rejoinder", "accuracy"))
    assert f"{ours.value:.3f} [{ours.low:.2f}, {ours.high:.2f}]" in page
    assert "## pandalm, no empty reply" in page, "the pair with an empty reply is left out there"


# raters


def test_raters(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rejoinder.papers.raters.ROUNDS", 2)
    monkeypatch.setattr("rejoinder.papers.raters.DESIGNS", ((60, 4, 1, 3),))
    rng = np.random.default_rng(0)
    lines = [
        {
            "id": f"{name}{number}",
            "dataset": name,
            "context": [f"what about {number} ?"],
            "response": "well " * (number % 5 + 1),
            "scale": [1, 5],
            "ratings": {"overall": np.clip(number % 5 + 1 + rng.integers(-1, 2, 3), 1, 5).tolist()},
            **({"raters": ["ann", "bob", "cleo"]} if name == "named" else {}),
        }
        for name in ("named", "unnamed")
        for number in range(45)
    ]
    done = run("reproduce", "raters", write(tmp_path / "rated.jsonl", lines), "-o", tmp_path, "--seed", 1)
    assert done.code == 0, done.err
    page = page_of(tmp_path, "raters")
    alpha = rejoinder.ratings(lines[:45], resamples=100).sets[0].agreement.alpha_interval.value
    assert row(page, "named", "45", "135", "3", "0")[5].startswith(f"{alpha:.2f} [")
    assert row(page, "unnamed", "45", "135", "3 places")[4] == "–"
    assert row(page, "60", "4", "1", "3")[4].endswith("%") and "Nobody rated anything here" in page


# selftalk


def talk(system: str, said: str) -> list[dict[str, Any]]:
    """Four dialogues of five turns: the first begins with hello, and so on; one says the same each time."""
    lines = []
    for number in range(4):
        told = [f"hello number {number}"]
        for turn in range(1, 6):
            reply = said if system == "echo" else f"{said} {turn}"
            own = {"dialogue_id": f"{system}/{number}", "start_id": str(number), "turn": turn}
            lines.append({"context": list(told), "response": reply, "system": system, "id": f"{number}/{turn}", **own})
            told.append(reply)
    return lines


def test_selftalk(run: Run, tmp_path: Path) -> None:
    lines = [line for system, said in SYSTEMS.items() for line in talk(system, said)]
    turns = write(tmp_path / "turns.jsonl", lines)
    done = run("reproduce", "selftalk", turns, "-o", tmp_path)
    assert done.code == 0, done.err
    page = page_of(tmp_path, "selftalk")
    for system in SYSTEMS:
        own = [line for line in lines if line["system"] == system]
        examples = [Example(tuple(one["context"]), one["response"]) for one in own]
        scores = rejoinder.score(examples, out_of_domain="keep").values
        cells = row(page, system)
        assert cells[1] == "20" and cells[2].split()[0] == f"{scores.mean():.2f}"
        for cell, part in ((cells[3], [one["turn"] <= 3 for one in own]), (cells[4], [one["turn"] > 2 for one in own])):
            assert cell.split()[0] == f"{scores[part].mean():.2f}"
        assert cells[5] == ("80%" if system == "echo" else "0%"), "all but the first turn of a dialogue"
    assert "- hello number 0" in page and "- hello number 1" not in page, "the first dialogue is shown"
    assert "8 dialogues, 40 turns" in " ".join(page.split())


def test_selftalk_takes_turns_alone(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl", [{"context": ["a"], "response": "b"}])
    ran = run("reproduce", "selftalk", file, "-o", tmp_path)
    refused(ran, 3, f"{file}:1: no start_id. Give turns.jsonl of rejoinder selftalk")
    why = "selftalk reads what systems said: give turns.jsonl of rejoinder selftalk"
    refused(run("reproduce", "selftalk", "-o", tmp_path), 2, why)


# deriu2019-rerank


@pytest.mark.slow
def test_deriu2019_rerank(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = pytest.importorskip("tiny", reason="needs the extra train")
    from rejoinder.papers import deriu2019_rerank

    (tmp_path / "data" / "judgements").mkdir(parents=True)
    lines = rated("one", "two")
    for name in ("one", "two"):
        own = [line for line in lines if line.dataset == name]
        rejoinder.write(own, tmp_path / "data" / "judgements" / f"{name}.jsonl.gz")
    monkeypatch.setattr(deriu2019_rerank, "CHOOSING", ("one",))
    monkeypatch.setattr(deriu2019_rerank, "MEASURING", ("two",))
    monkeypatch.setenv("REJOINDER_SHARED", str(tmp_path))
    encoder = tiny.dialogue_model(tmp_path / "hred")
    turns = write(tmp_path / "turns.jsonl", [line for system, said in SYSTEMS.items() for line in talk(system, said)])
    for system, said in SYSTEMS.items():
        (tmp_path / f"{system}.py").write_text(BOT.format(said))
    systems = [f"-r{system}=command:{sys.executable} {tmp_path}/{system}.py" for system in SYSTEMS]
    encoders = [f"-e{name}={encoder}:context" for name in ("hred", "again")]
    done = run("reproduce", "deriu2019-rerank", turns, *systems, *encoders, "-o", tmp_path)
    assert done.code == 0, done.err
    page = page_of(tmp_path, "deriu2019-rerank")
    assert "4 contexts of dialogues" in page and "5 turns added to each" in " ".join(page.split())
    for name in (*SYSTEMS, "chosen by autojudge", "chosen by views", "chosen by rejoinder", "chosen by chance"):
        assert row(page, name)
    singles = [row(page, name) for name in SYSTEMS]
    assert all(cells[2] == cells[3] == "–" for cells in singles), "a single system gains over nothing"
    assert "–" not in row(page, "chosen by autojudge")[1:7]
    assert "### chosen by chance at random" in page and "- hello number 0" in page


def test_deriu2019_rerank_takes_talks_of_the_same_contexts(run: Run, tmp_path: Path) -> None:
    lines = [line for system, said in SYSTEMS.items() for line in talk(system, said)]
    turns = write(tmp_path / "turns.jsonl", [line for line in lines if line["id"] != "3/1"] + lines[15:16])
    call = ["reproduce", "deriu2019-rerank", turns, "-ra=b", "-ec=d", "-o", tmp_path]
    refused(
        run(*call),
        3,
        "the systems do not begin with the same contexts. Give turns.jsonl of one rejoinder selftalk",
    )
    missing = run("reproduce", "deriu2019-rerank", turns, "-o", tmp_path)
    assert missing.code == 2 and "deriu2019-rerank needs turns.jsonl of rejoinder selftalk" in missing.err


# study


@pytest.fixture(scope="module")
def two_sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rated") / "rated.jsonl"
    rejoinder.write(rated("one", "two"), file)
    return file


@pytest.mark.slow
@pytest.mark.usefixtures("few_trees")
def test_study(two_sets: Path, tmp_path: Path) -> None:
    reproduce("study", two_sets, out=tmp_path)
    page = page_of(tmp_path, "study")
    assert "`rejoinder reproduce study rated.jsonl --seed 0 -o" in " ".join(page.split())
    for name in ("rouge-l", "length", "rejoinder, unseen"):
        assert row(page, name)
    found = rejoinder.full_study(rejoinder.read(two_sets), ["rouge-l"], drop_copies=True)
    (ours,) = (one for one in found.over_sets if one.scorer == "rouge-l")
    assert f"{ours.value:.2f}" in " ".join(row(page, "rouge-l"))


# agreement


def test_agreement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rejoinder.papers import agreement

    monkeypatch.setattr(agreement, "SPLITS", 2)
    monkeypatch.setattr(agreement, "METRICS", ["rouge-l", "length"])
    file = tmp_path / "rated.jsonl"
    rejoinder.write(rated("usr_personachat", "other"), file)
    reproduce("agreement", file, out=tmp_path)
    page = page_of(tmp_path, "agreement")
    own = [one for one in rated("usr_personachat", "other") if one.dataset == "usr_personachat"]
    found = {a.statistic: a for a in rejoinder.study(own, ["rouge-l/coco"]).agreements if a.level == "turn"}
    cells = row(page, "usr_personachat", "rouge-l/coco")
    assert cells[2] == str(found["pearson"].n)
    assert (cells[3].split()[0], cells[4]) == (f"{found['pearson'].value:.3f}", "0.066")
    assert (cells[5].split()[0], cells[6]) == (f"{found['spearman'].value:.3f}", "0.038")
    assert "grade_dailydialog" not in page.split("## The first ADEM")[0], "a set that is not there has no row"
    copies = sum(one.copies_reference for one in made_up())
    assert f"{copies} responses equal a reference" in " ".join(page.split())
    assert "Over five random splits" in page and row(page, "adem")


# judge


def made_of(place: Path, corpus: str) -> list[str]:
    """The four models that the judge in the box stands on, tiny ones, counted in a corpus of that name."""
    pytest.importorskip("torch", reason="needs the extra train")
    from examples_for_views import phrases
    from rejoinder.encoders import load_encoder
    from rejoinder.io.folders import Parts, read_folder, write_folder
    from rejoinder.training.mood import KIND, REACTION, TURN
    from tiny import selector_model, student_model

    student = student_model(place / "student")
    encoder = load_encoder(student)
    selector_model(place / "plain", encoder)
    lines = {name: np.linspace(-1, 1, encoder.width + 1, dtype=np.float32) for name in (TURN, REACTION)}
    mood = Parts({"kind": KIND, "encoder": dict(encoder.options)}, lines)
    for name, parts in (("phrases", phrases().parts), ("selector", read_folder(place / "plain")), ("mood", mood)):
        more = {**parts.config, "corpora": [{"name": corpus}]}
        write_folder(place / name, Parts(more, parts.tensors, parts.files), "a card")
    return [f"{name}={place / name}" for name in ("phrases", "student", "selector", "mood")]


@pytest.mark.slow
def test_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rejoinder.judges.views.learner import ViewsLearner
    from rejoinder.judges.views.trees import Growth
    from rejoinder.papers import judge

    small = partial(ViewsLearner, growth=Growth(trees=5, step=0.3, fewest=5))
    monkeypatch.setattr(judge, "ViewsLearner", small)
    monkeypatch.setattr(judge, "ATTACKED", ("fed_turn",))
    said = [replace(one, context=(f"hello {one.context[0]} you",)) for one in rated("fed_turn", "grade_empathetic")]
    file = tmp_path / "rated.jsonl"
    rejoinder.write(said, file)
    reproduce("judge", file, out=tmp_path, encoders=made_of(tmp_path, "casino.jsonl.gz"))
    page = page_of(tmp_path, "judge")
    assert "- casino: CC BY 4.0" in page and "- fed_turn: none stated" in page and "- dstc7" not in page
    length = {a.dataset: a for a in rejoinder.study(said, ["length"], drop_copies=True).agreements if a.level == "turn"}
    cells = row(page, "fed_turn")
    assert cells[1] == str(length["fed_turn"].n) and re.fullmatch(r"-?\d\.\d+ \[.*\]", cells[2])
    assert row(page, "parrot-last")[1] == "bad scores high"
    assert row(page, "as it ships")[1].split()[0] == row(page, "mean of the sets")[2].split()[0]


def test_judge_names_what_has_no_licence(run: Run, two_sets: Path, tmp_path: Path) -> None:
    phrases, student, selector, mood = made_of(tmp_path, "mine.jsonl")
    swapped = f"student={selector.partition('=')[2]}"
    ran = run("reproduce", "judge", two_sets, "-e", phrases, "-e", student, "-e", mood, "-o", tmp_path)
    assert ran.code == 2 and "-e selector=FOLDER is missing" in ran.err
    ran = run("reproduce", "judge", two_sets, "-e", phrases, "-e", swapped, "-e", selector, "-e", mood, "-o", tmp_path)
    assert ran.code in (2, 3)
    ran = run("reproduce", "judge", two_sets, "-e", phrases, "-e", student, "-e", selector, "-e", mood, "-o", tmp_path)
    refused(ran, 2, "the licence of mine.jsonl, one, two is not known. Add it to SETS or CORPORA")


def test_without_models_the_judge_stands_on_those_in_the_box() -> None:
    from rejoinder.io.folders import Parts, read_folder
    from rejoinder.judges.views.assembly import material_of
    from rejoinder.papers.judge_material import CORPORA, material_from

    material, corpora = material_from(())
    assert material.inside(Parts({}, {})).digest == material_of(read_folder(JUDGE)).inside(Parts({}, {})).digest
    card = (JUDGE / "card.md").read_text(encoding="utf-8")
    told = [name for name, licence in CORPORA.items() if f"- {name}: {licence}" in card.splitlines()]
    assert corpora == told and len(told) > 5


def test_data_without_replies_written_to_mislead_are_told(tmp_path: Path) -> None:
    from rejoinder.papers.asked import Asked
    from rejoinder.papers.judge import TAUGHT, taught

    said: list[str] = []
    asked = Asked(encoders=[], data=tmp_path, seed=0, note=said.append)
    assert taught(asked, []) == [] and len(said) == 1 and f"no relevance/{TAUGHT}.jsonl.gz" in said.pop()
    (tmp_path / "relevance").mkdir()
    shown = {
        "context": ["Where shall we eat tonight, any idea?"],
        "positive_responses": ["At home."],
        "random_negative_responses": ["No."],
    }
    write(tmp_path / "relevance" / f"{TAUGHT}.jsonl.gz", [shown])
    assert len(taught(asked, [])) == 2 and not said


# pretraining and tweet2vec


@pytest.mark.slow
def test_pretraining(tmp_path: Path) -> None:
    pytest.importorskip("lightning", reason="needs the extra train")
    recipe = (PROJECT / "recipes" / "vhred-tiny.toml").read_text(encoding="utf-8")
    hred = recipe.replace('kind = "vhred"', 'kind = "hred"').replace("annealing = 20\n", "").replace("latent = 8\n", "")
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a in "bdfgklm" for b in "aeiou"]
    turns = [[" ".join(rng.choice(words, 5)) for _ in range(3)] for _ in range(300)]
    corpus = write(tmp_path / "casino.jsonl", [{"turns": told} for told in turns])
    models = []
    for kind, text in (("hred", hred), ("vhred", recipe)):
        (tmp_path / f"{kind}.toml").write_text(text.replace("[run]", '[run]\naccelerator = "cpu"'), encoding="utf-8")
        start = tmp_path / "hred" if kind == "vhred" else None
        models.append(rejoinder.pretrain(tmp_path / f"{kind}.toml", [corpus], tmp_path / kind, start=start))
    reproduce("pretraining", out=tmp_path, responders=[f"{one.kind}={one.folder}" for one in models])
    page = page_of(tmp_path, "pretraining")
    assert row(page, "HRED")[1] == f"{models[0].best['perplexity']:.1f}"
    assert row(page, "VHRED")[2] == f"{models[0].best['updates'] + models[1].best['updates']:,.0f}"
    perplexities = [float(row(page, name)[1]) for name in ("unigram", "bigram, interpolated")]
    assert all(1 < one < 300 for one in perplexities)
    assert page.count("> people: ") == 20
    with pytest.raises(rejoinder.RejoinderError, match="there is no HRED or no VHRED among them"):
        reproduce("pretraining", out=tmp_path, responders=[f"hred={models[0].folder}"])


@pytest.mark.slow
def test_tweet2vec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lightning", reason="needs the extra train")
    from rejoinder.papers import tweet2vec

    short = {name: (network, 20) for name, (network, _) in tweet2vec._WORD_MODELS.items()}
    monkeypatch.setattr(tweet2vec, "_WORD_MODELS", short)
    monkeypatch.setattr(tweet2vec, "STRETCH", 10)
    topics = {"cats": "the cat sleeps", "rain": "it pours outside", "food": "best pizza in town"}
    tweets = [{"text": f"{text} {number} #{topic}"} for number in range(80) for topic, text in topics.items()]
    corpus = write(tmp_path / "tweets.jsonl", tweets)
    made = rejoinder.pretrain(PROJECT / "recipes" / "tweet2vec-tiny.toml", [corpus], tmp_path / "model")
    reproduce("tweet2vec", corpus, out=tmp_path, encoders=[f"tweet2vec={made.folder}"])
    page = page_of(tmp_path, "tweet2vec")
    assert row(page, "chance")[2].split()[0] == "33.3" and row(page, "chance")[3].split()[0] == "2.0"
    tests = int(row(page, "tweet2vec")[1])
    for name in ("most frequent hashtags", "word GRU", "average of words"):
        assert int(row(page, name)[1]) == tests and 1 <= float(row(page, name)[3].split()[0]) <= 3
    ahead = float(row(page, "tweet2vec")[2].split()[0]) - float(row(page, "word GRU")[2].split()[0])
    assert float(row(page, "tweet2vec minus word GRU")[2].split()[0]) == pytest.approx(ahead, abs=0.11)
    with pytest.raises(rejoinder.RejoinderError, match="was not trained on these files"):
        other = write(tmp_path / "other.jsonl", [{"text": f"{one['text']}x"} for one in tweets])
        reproduce("tweet2vec", other, out=tmp_path, encoders=[f"tweet2vec={made.folder}"])
