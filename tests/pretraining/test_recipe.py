"""Recipes: what is read, and the error of a faulty one."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import PROJECT
from rejoinder.errors import DataError, MissingAsset
from rejoinder.models.sizes import DialogueShape
from rejoinder.pretraining.recipe import DialogueRecipe, Run, Text, read_recipe

RECIPES = PROJECT / "recipes"


def test_a_recipe_is_read() -> None:
    shape = DialogueShape(embedding=16, utterance=16, context=24, decoder=24, latent=8)
    text = Text(vocabulary=300, longest_turn=20, most_turns=6, held_out=0.1)
    expected = DialogueRecipe(
        kind="vhred", tokens_per_batch=500, annealing=20, text=text, model=shape, run=Run(updates=40, stretch=10)
    )
    assert read_recipe(RECIPES / "vhred-tiny.toml") == expected


@pytest.mark.parametrize("file", sorted(RECIPES.glob("*.toml")), ids=lambda file: str(file.stem))
def test_recipes_of_the_project_are_sound(file: Path) -> None:
    assert file.stem.startswith(read_recipe(file).kind)


RUN = "\n[run]\nupdates = 4\n"


@pytest.mark.parametrize(
    ("text", "field", "message"),
    [
        ('kind = "hred"\ntokens_per_bach = 3' + RUN, "tokens_per_bach", "unknown. Did you mean tokens_per_batch?"),
        ('kind = "hred"\n[run]\nupdates = 4\nlearning_rat = 1', "run.learning_rat", "unknown. Did you mean learning_r"),
        ('kind = "hred"\n[model]\nzzz = 1' + RUN, "model.zzz", "unknown. Known: bag_of_words, cell, "),
        ('kind = "hred"\n[model]\nvocabulary = 9' + RUN, "model.vocabulary", "unknown. Known: "),
        ('kind = "lm"\n[model]\nlatent = 3' + RUN, "model.latent", "unknown. Known: cell, "),
        ('kind = "hred"\n[candidates]\nmost = 3' + RUN, "candidates", "unknown. Known: annealing, kind, "),
        ('kind = "hred"\n[run]\nupdates = 4\ndevices = 2', "run.devices", "unknown. Start one process for each device"),
        ('kind = "hred"\n[run]\nupdates = "many"', "run.updates", "Input should be a valid integer, found 'many'"),
        ('kind = "hred"\n[run]\nupdates = true', "run.updates", "Input should be a valid integer, found True"),
        ('kind = "hred"\n[run]\nupdates = 4.5', "run.updates", "Input should be a valid integer, found 4.5"),
        ('kind = "hred"\n[run]\nupdates = 4\nclip = "no"', "run.clip", "Input should be a valid number, found 'no'"),
        ('kind = "hred"\n[run]\nupdates = 0', "run.updates", "Input should be greater than 0, found 0"),
        ('kind = "hred"\n[run]\nupdates = 4\nseed = -1', "run.seed", "Input should be greater than or equal to 0, fou"),
        ('kind = "hred"\n[run]\nupdates = 4\nlearning_rate = nan', "run.learning_rate", "Input should be "),
        ('kind = "hred"\n[text]\nheld_out = 1.0' + RUN, "text.held_out", "Input should be less than 1, found 1.0"),
        ('kind = "hred"\n[text]\nvocabulary = 8' + RUN, "text.vocabulary", "Input should be greater than or equal to"),
        ('kind = "hred"\n[model]\nnormalise = "gate"' + RUN, "model.normalise", "Input should be 'none', 'layers' or"),
        ('kind = "hred"\n[run]\nupdates = 4\nprecision = "16-mixed"', "run.precision", "Input should be '32-true' or "),
        ('kind = "hred"\ntext = 3' + RUN, "text", "Input should be a table, found 3"),
        ('kind = "hred"', "run", "missing. Add it"),
        ('kind = "hred"\n[run]', "run.updates", "missing. Add it"),
        ("[run]\nupdates = 4", "kind", "missing. Add it"),
        ('kind = "vhre"' + RUN, "kind", "is 'vhre'. Did you mean vhred?"),
        ('kind = ["hred"]' + RUN, "kind", "is a list. "),
        ('kind = "vhred"' + RUN, "model.latent", "Input should be 0 unless kind is vhred, and more than 0 there, fou"),
        ('kind = "hred"\n[model]\nlatent = 8' + RUN, "model.latent", "Input should be 0 unless kind is vhred"),
        ('kind = "seq2seq"' + RUN, "model.context", "Input should be 0 in a seq2seq, and more than 0 elsewhere, fou"),
        ('kind = "hred"\n[model]\ncontext = 0' + RUN, "model.context", "Input should be 0 in a seq2seq, and more t"),
        ('kind = "hred"\n[model]\nbag_of_words = true' + RUN, "model.bag_of_words", "Input should be false unless kin"),
        ('kind = "mrrnn"' + RUN, "model", "missing. Add it"),
        ('kind = "mrrnn"\n[model]\n' + RUN, "model.coarse_vocabulary", "missing. Add it"),
    ],
)
def test_a_faulty_recipe_names_file_key_and_expected_value(tmp_path: Path, text: str, field: str, message: str) -> None:
    file = tmp_path / "r.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as refusal:
        read_recipe(file)
    assert str(refusal.value).startswith(f'{file}: field "{field}": {message}')


@pytest.mark.parametrize("content", [b"kind = ", b'kind = "\xff"'])
def test_a_recipe_that_is_no_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "r.toml"
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"r\.toml: not TOML \(.*\)\. Correct the recipe"):
        read_recipe(file)


def test_a_missing_recipe_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingAsset, match="no such recipe"):
        read_recipe(tmp_path / "r.toml")
