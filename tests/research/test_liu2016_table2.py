"""`python -m research.liu2016_table2` on made-up corpora: whom it asks, what the numbers are, what it refuses."""

from __future__ import annotations

import json
import math
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Ran, Run, refused
from rejoinder.data.dialogues import Dialogue
from rejoinder.data.folders import Parts, read_folder, write_folder
from rejoinder.pretraining.build import build_retrieval
from rejoinder.pretraining.corpora import is_held_out
from rejoinder.pretraining.recipe import SCHEMAS, RandomRecipe, RetrievalText
from rejoinder.responder import answer, request
from research.liu2016_table2 import ALL, HUMAN, LENGTH, Row, Table2, compute, contexts, responders

SEED = 3
SMALL, LARGE, SEEN = 5, 40, 30
WORDS = ("dogs", "music", "weather", "movies", "coffee", "football", "books", "rain", "family", "school", "city")
# Says the same to every context of two turns, and nothing to shorter ones; with an argument, nothing at all.
BOT = """
import json, sys
for line in sys.stdin:
    says = "hello there" if len(json.loads(line)["context"]) == 2 and not sys.argv[1:] else None
    print(json.dumps({"response": says, "reason": "shy"}))
"""


def talk(number: int) -> tuple[str, str, str]:
    """A dialogue of three turns, so that both turns that may be asked for are."""
    one, two = WORDS[number % 11], WORDS[number % 7]
    return f"do you like {one} number {number} ?", f"i like {two} more", f"my friends like {one} and {two}"


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two corpora whose held-out dialogues are 5 and 40; the first has 30 others to train on, one judged."""
    folder = tmp_path_factory.mktemp("corpora")
    told = [talk(number) for number in range(9000)]
    held = [turns for turns in told if is_held_out(Dialogue(turns, ""), 0.01)]
    seen = [turns for turns in told[:200] if turns not in held][:SEEN]
    assert len(held) > SMALL + LARGE + 1 and len(seen) == SEEN
    parts = {"small": [*held[:SMALL], *seen, held[-1]], "large": held[SMALL : SMALL + LARGE]}
    for name, own in parts.items():
        lines = [{"turns": turns, "judged": turns == held[-1]} for turns in own]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return [folder / "small.jsonl", folder / "large.jsonl"]


@pytest.fixture(scope="module")
def places(corpora: list[Path]) -> dict[str, str]:
    """Four responders by name; the last never says a word."""
    folder = corpora[0].parent
    (folder / "bot.py").write_text(BOT, encoding="utf-8")
    for kind in ("random", "c-tfidf"):
        schema: Any = SCHEMAS[kind]
        recipe = schema(kind=kind, text=RetrievalText(held_out=0.01))
        build_retrieval(recipe, corpora, folder / kind)
    bot = f"command:{sys.executable} {folder}/bot.py"
    return {"any": f"{folder}/random", "near": f"{folder}/c-tfidf", "polite": bot, "mute": f"{bot} mute"}


@pytest.fixture(scope="module")
def found(corpora: list[Path], places: dict[str, str]) -> Table2:
    given = responders(f"{name}={place}" for name, place in places.items())
    return compute(contexts(corpora, SEED), given, SEED)


def row(found: Table2, name: str) -> Row:
    return next(row for row in found.rows if row.name == name)


def test_both_turns_of_every_held_out_dialogue_are_asked_for(corpora: list[Path], found: Table2) -> None:
    said = [json.loads(line) for file in corpora for line in file.read_text(encoding="utf-8").splitlines()]
    held = [one["turns"] for one in said if is_held_out(Dialogue(tuple(one["turns"]), ""), 0.01) and not one["judged"]]
    expected = [(tuple(turns[:place]), turns[place]) for turns in held for place in (1, 2)]
    assert [(one.context, one.response) for one in found.asked.examples] == expected
    assert found.asked.dialogues.tolist() == np.repeat(np.arange(SMALL + LARGE), 2).tolist()
    groups = {name: len(rows) for name, rows in found.asked.groups().items()}
    assert groups == {ALL: 2 * (SMALL + LARGE), "large": 2 * LARGE}, "a small corpus has no columns"
    seen = {turn for one in said if one["turns"] not in held and not one["judged"] for turn in one["turns"][1:]}
    for folder in ("random", "c-tfidf"):
        assert set(_candidates(corpora[0].parent / folder)) == seen, "no response of a held-out dialogue"


def _candidates(folder: Path) -> list[str]:
    texts: list[str] = json.loads(read_folder(folder).inner("candidates").files["responses.json"])
    return texts


@pytest.mark.parametrize("name", ["any", "near"])
def test_the_means_are_those_of_the_replies(found: Table2, places: dict[str, str], name: str) -> None:
    asked, own = found.asked.examples, row(found, name)
    responder = rejoinder.load_responder(places[name])
    said = [one.replies[0].text for one in answer(responder, [request(one.context, SEED) for one in asked])]
    assert list(own.replies) == said and math.isnan(own.perplexity)
    assert own.signature.startswith(f"responder:{responder.name}|weights:")
    for key, true in (("embedding-average", True), ("embedding-extrema", True), ("rejoinder", False)):
        examples = [
            rejoinder.Example(one.context, text, (one.response,) if true else ())
            for one, text in zip(asked, said, strict=True)
        ]
        values = rejoinder.score(examples, key, out_of_domain="keep").values
        for group, rows in found.asked.groups().items():
            mean = own.means[group][key]
            assert mean.n == len(rows) and mean.value == pytest.approx(values[rows].mean())
            assert mean.low < mean.value < mean.high
    tokens = [text.split() for text in said]
    pairs = [pair for words in tokens for pair in pairwise(words)]
    words = [word for text in tokens for word in text]
    assert own.distinct == pytest.approx((len(set(words)) / len(words), len(set(pairs)) / len(pairs)))
    assert own.means[ALL][LENGTH].value == pytest.approx(np.mean([len(text) for text in tokens]))
    assert [one.k for one in own.recall] == [1, 2, 5] and {one.among for one in own.recall} == {10}


def test_one_who_answers_half_is_measured_on_that_half(found: Table2) -> None:
    polite, half = row(found, "polite"), SMALL + LARGE
    assert list(polite.replies) == [None, "hello there"] * half and list(polite.recall) == []
    assert {key: mean.n for key, mean in polite.means[ALL].items()} == dict.fromkeys(polite.means[ALL], half)
    length = polite.means[ALL][LENGTH]
    assert (length.value, *length.ends) == (2, 2, 2), "two words each time"
    assert polite.distinct == pytest.approx((2 / (2 * half), 1 / half))


def test_one_who_says_nothing_has_no_means(found: Table2) -> None:
    mute = row(found, "mute")
    assert set(mute.replies) == {None} and all(map(math.isnan, mute.distinct))
    assert all(mean.n == 0 and math.isnan(mean.value) for mean in mute.means[ALL].values())


def test_people_are_judged_and_at_no_distance_from_themselves(found: Table2) -> None:
    human, asked = found.rows[-1], found.asked.examples
    assert human.name == HUMAN and set(human.means[ALL]) == {"rejoinder", LENGTH}
    assert list(human.replies) == [one.response for one in asked]
    examples = [rejoinder.Example(one.context, one.response) for one in asked]
    judged = rejoinder.score(examples, out_of_domain="keep").values
    assert human.means[ALL]["rejoinder"].value == pytest.approx(judged.mean())


def test_the_page_shows_them(
    experiment: Run, corpora: list[Path], places: dict[str, str], found: Table2, tmp_path: Path
) -> None:
    named = [part for name, place in places.items() for part in ("-r", f"{name}={place}")]
    ran = experiment("liu2016-table2", *corpora, *named, "--seed", SEED, "-o", tmp_path)
    assert ran.code == 0, ran.err
    page = (tmp_path / "liu2016-table2.md").read_text(encoding="utf-8")
    prose = " ".join(page.split())
    assert (tmp_path / "liu2016-table2-means.svg").is_file() and ran.out.endswith("liu2016-table2.md\n")
    assert (
        "python -m research.liu2016_table2 small.jsonl large.jsonl -r any=random -r near=c-tfidf -r 'polite=command:"
        in prose
    )
    dialogues = SMALL + LARGE
    assert f"{2 * dialogues} contexts: 2 turns, drawn at random, of each of {dialogues} dialogues" in prose
    assert page.count("### ") == 3, "all corpora, the large one, and what was published"
    for name, cells in {"any": 4, "near": 4, "polite": 4, "mute": 0, HUMAN: 1}.items():
        (line,) = [line for line in page.split("### large")[0].splitlines() if line.startswith(f"| {name} |")]
        own = row(found, name).means[ALL]
        assert line.split("|")[2].strip() == str(own[LENGTH].n)
        assert [f" {own[key].value:.3f} [" in line for key in own if key != LENGTH].count(True) == cells
    assert "| mute | no reply |" in page and "| polite | hello there |" in page


def test_wrong_calls_are_refused(experiment: Run, corpora: list[Path], places: dict[str, str], tmp_path: Path) -> None:
    def call(*options: object) -> Ran:
        return experiment("liu2016-table2", *options, "-o", tmp_path)

    asks = "liu2016-table2 asks responders about corpora. Give CORPUS files and -r NAME=FOLDER"
    near = f"near={places['near']}"
    refused(call("-r", near), 2, asks)
    refused(call(corpora[0]), 2, asks)
    fit = "liu2016-table2 takes FILES, -r, --seed, not {}. Leave out what does not fit"
    refused(call(corpora[0], "-r", near, "--seeds", 2), 2, fit.format("--seeds"))
    refused(call(corpora[0], "-r", near, "-e", "a=b", "--data", tmp_path / "d"), 2, fit.format("-e, --data"))
    fit = "lowe2017 takes FILES, -e, --data, --seeds, not -r. Leave out what does not fit"
    refused(experiment("lowe2017", corpora[0], "-r", near, "-o", tmp_path), 2, fit)
    taken = "the name is taken. Give each responder its own"
    refused(call(corpora[0], "-r", near, "-r", near), 2, f"-r {near}: {taken}")
    refused(call(corpora[0], "-r", f"human={places['near']}"), 2, f"-r human={places['near']}: {taken}")
    refused(
        call(corpora[0], "-r", places["near"]),
        2,
        f"-r {places['near']}: expected NAME=FOLDER, or NAME= and another responder",
    )
    less = tmp_path / "less"
    build_retrieval(RandomRecipe(kind="random", text=RetrievalText(held_out=0.005)), corpora, less)
    problem = f"{less}: held out 0.005 of its dialogues, and 0.01 are to be asked"
    refused(call(corpora[0], "-r", f"x={less}"), 2, f"{problem}. Train it again with held_out = 0.01 or more")
    judge = tmp_path / "judge"
    write_folder(judge, Parts({"kind": "adem"}, {"m": np.eye(2)}), "a card")
    ran = call(corpora[0], "-r", f"x={judge}")
    assert ran.code == 3 and ran.err.startswith(f"rejoinder: {judge}: a model of kind 'adem', expected one of random,")
    assert "Name the folder of a responder; rejoinder pretrain makes them" in ran.err
    few = tmp_path / "few.txt"
    few.write_text("\t".join(talk(0)) + "\n", encoding="utf-8")
    assert not is_held_out(Dialogue(talk(0), ""), 0.01)
    refused(call(few, "-r", near), 3, "no dialogue of 1 corpora is held out. Give larger corpora")
