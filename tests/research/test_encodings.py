"""The encoders of a page: their names, and which is the main one."""

from __future__ import annotations

from pathlib import Path

import pytest

import rejoinder
from conftest import Run, refused
from made_up import made_up
from rejoinder.data.folders import write_folder
from rejoinder.errors import UsageError
from rejoinder.models.encoders import AverageEncoder
from rejoinder.text.vectors import read_vectors
from research import lowe2017
from research.encodings import Source, prepare, source


def test_encoders_get_their_names_and_the_first_is_the_main_one(tmp_path: Path, experiment: Run) -> None:
    ratings = tmp_path / "rated.jsonl"
    rejoinder.write(made_up(), ratings)
    encoder = AverageEncoder(read_vectors())
    write_folder(tmp_path / "average", encoder.parts, "a card")
    found = prepare(made_up(), [Source("mine", tmp_path / "average")], lowe2017.NEEDS)
    assert list(found.encoders) == ["mine", "word vectors"]
    assert found.main[0].raw.response.tolist() == found.encoders["word vectors"][0].raw.response.tolist()
    ran = experiment("lowe2017", ratings, "-o", tmp_path, "-e", f"mine={tmp_path / 'average'}:context")
    refused(ran, 2, f"{tmp_path / 'average'}: a model of kind average has one state only. Leave the state context out")
    ran = experiment("lowe2017", ratings, "-o", tmp_path, *2 * ["-e", f"mine={tmp_path / 'average'}"])
    refused(ran, 2, "two encoders are called 'mine'. Give each a name of its own: -e NAME=FOLDER")


def test_how_an_encoder_is_named() -> None:
    assert source("vhred=runs/a") == Source("vhred", Path("runs/a"), None)
    assert source("vhred=runs/a:utterance") == Source("vhred", Path("runs/a"), "utterance")
    assert source("v=c:/runs/a") == Source("v", Path("c:/runs/a"), None)
    for wrong in ("vhred", "=a", "vhred=", "vhred=a:both", "vhred=:context"):
        with pytest.raises(UsageError) as error:
            source(wrong)
        assert str(error.value) == f"-e {wrong}: expected NAME=FOLDER, NAME=FOLDER:context or NAME=FOLDER:utterance"
