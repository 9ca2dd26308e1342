"""Recipes: what is read, and what is told of a faulty one."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import PROJECT
from rejoinder.errors import DataError, MissingAsset

pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("lightning", reason="needs the extra train")

from rejoinder.models.networks.dialogue import Sizes
from rejoinder.pretraining.recipe import Recipe, read_recipe

TINY = PROJECT / "recipes" / "vhred-tiny.toml"


def tiny() -> Recipe:
    recipe = read_recipe(TINY)
    assert isinstance(recipe, Recipe)
    return recipe


def sizes_of(recipe: Recipe) -> Sizes:
    assert isinstance(recipe.sizes, Sizes)
    return recipe.sizes


def test_a_recipe_is_read() -> None:
    recipe = tiny()
    assert (recipe.kind, recipe.tokens_per_batch, recipe.annealing) == ("vhred", 500, 20)
    assert (recipe.text.vocabulary, recipe.sizes.vocabulary, sizes_of(recipe).latent) == (300, 300, 8)
    assert (recipe.options.updates, recipe.options.stretch, recipe.options.devices) == (40, 10, 1)


@pytest.mark.parametrize("file", sorted(TINY.parent.glob("*.toml")), ids=lambda file: str(file.stem))
def test_recipes_of_the_project_are_sound(file: Path) -> None:
    assert file.stem.startswith(read_recipe(file).kind)


RUN = "\n[run]\nupdates = 4\n"


@pytest.mark.parametrize(
    ("text", "field", "message"),
    [
        ('kind = "hred"\ntokens_per_bach = 3' + RUN, "tokens_per_bach", "unknown. Did you mean tokens_per_batch?"),
        ('kind = "hred"\n[run]\nupdates = 4\nlearning_rat = 1', "run.learning_rat", "unknown. Did you mean learning_"),
        (
            'kind = "hred"\n[model]\nzzz = 1' + RUN,
            "model.zzz",
            "unknown. Known: bag_of_words, cell, ",
        ),
        ('kind = "hred"\n[model]\nvocabulary = 9' + RUN, "model.vocabulary", "unknown. Known: "),
        ('kind = "hred"\n[run]\nupdates = "many"', "run.updates", "is 'many', expected a whole number. Correct the"),
        ('kind = "hred"\n[run]\nupdates = true', "run.updates", "is True, expected a whole number. Correct the recipe"),
        ('kind = "hred"\n[run]\nupdates = 4.5', "run.updates", "is 4.5, expected a whole number. Correct the recipe"),
        (
            'kind = "hred"\n[run]\nupdates = 4\nclip = "no"',
            "run.clip",
            "is 'no', expected a number. Correct the recipe",
        ),
        ('kind = "hred"\n[run]\nupdates = 0', "run.updates", "is 0, expected more than 0. Correct the recipe"),
        ('kind = "hred"\n[run]\nupdates = 4\nseed = -1', "run.seed", "is -1, expected 0 or more. Correct the recipe"),
        (
            'kind = "hred"\n[run]\nupdates = 4\nlearning_rate = nan',
            "run.learning_rate",
            "is nan, expected more than 0. Correct the recipe",
        ),
        (
            'kind = "hred"\n[text]\nheld_out = 1.0' + RUN,
            "text.held_out",
            "is 1.0, expected more than 0 and less than 1. Correct the recipe",
        ),
        (
            'kind = "hred"\n[model]\nnormalise = "gate"' + RUN,
            "model.normalise",
            "is 'gate', expected none or layers or gates. Correct the recipe",
        ),
        (
            'kind = "hred"\n[run]\nupdates = 4\naccelerator = "abacus"',
            "run.accelerator",
            "is 'abacus', expected auto or cpu or gpu. Correct the recipe",
        ),
        ('kind = "hred"\ntext = 3' + RUN, "text", "is 3, expected a table. Correct the recipe"),
        ('kind = "hred"', "run", "missing. Add it"),
        ('kind = "hred"\n[run]', "run.updates", "missing. Add it"),
        ("[run]\nupdates = 4", "kind", "missing. Add it"),
        ('kind = "gpt"' + RUN, "kind", "is 'gpt', expected lm or seq2seq or hred or vhred or mrrnn or dual-"),
        (
            'kind = "vhred"' + RUN,
            "model.latent",
            "is 0 in a vhred. A vhred has a latent variable, the others have none",
        ),
        (
            'kind = "hred"\n[model]\nlatent = 8' + RUN,
            "model.latent",
            "is 8 in a hred. A vhred has a latent variable, the others have none",
        ),
        (
            'kind = "seq2seq"' + RUN,
            "model.context",
            "is 256 in a seq2seq. A seq2seq reads the last turn alone and has 0, the others have more",
        ),
        (
            'kind = "hred"\n[model]\ncontext = 0' + RUN,
            "model.context",
            "is 0 in a hred. A seq2seq reads the last turn alone and has 0, the others have more",
        ),
        (
            'kind = "hred"\n[model]\nbag_of_words = true' + RUN,
            "model.bag_of_words",
            "is true in a hred. It is for the latent variable of a vhred",
        ),
        ('kind = "mrrnn"' + RUN, "model.coarse_vocabulary", "missing. Add it"),
        ('kind = "lm"\n[model]\nend = 3' + RUN, "model.end", "unknown. Known: cell, embedding, "),
        ('kind = "lm"\n[model]\nlatent = 3' + RUN, "model.latent", "unknown. Known: cell, embedding, "),
        ('kind = "hred"\n[model]\nbeside = 3' + RUN, "model.beside", "unknown. Known: bag_of_words, cell, "),
        ('kind = "hred"\n[candidates]\nmost = 3' + RUN, "candidates", "unknown. Known: annealing, kind, "),
    ],
)
def test_a_faulty_recipe_is_told(tmp_path: Path, text: str, field: str, message: str) -> None:
    file = tmp_path / "r.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as refusal:
        read_recipe(file)
    assert str(refusal.value).startswith(f'{file}: field "{field}": {message}')


@pytest.mark.parametrize("content", [b"kind = ", b'kind = "\xff"'])
def test_a_recipe_that_is_no_toml_is_told(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "r.toml"
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"r\.toml: not TOML \(.*\)\. Correct the recipe"):
        read_recipe(file)


def test_a_missing_recipe_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingAsset) as refusal:
        read_recipe(tmp_path / "r.toml")
    assert str(refusal.value) == f"{tmp_path / 'r.toml'}: no such recipe. The project has some under recipes/"
