"""A pool of replies from files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rejoinder.auditing.reply_corpus import read_replies
from rejoinder.errors import DataError, MissingAsset, UsageError


def test_a_text_file_has_a_reply_a_line(tmp_path: Path) -> None:
    plain, packed = tmp_path / "pool.txt", tmp_path / "pool.TXT.gz"
    plain.write_text("yes\n\n no \nyes\n", encoding="utf-8")
    packed.write_bytes(gzip.compress(b"one\r\ntwo"))
    assert read_replies(plain) == ("yes", "no") and read_replies(packed) == ("one", "two")


def test_of_a_corpus_all_but_what_began_a_dialogue_is_a_reply(tmp_path: Path) -> None:
    corpus = tmp_path / "talk.jsonl"
    corpus.write_text('{"turns": ["hi", "hello", "bye"]}\n{"context": ["hi"], "response": "hello"}\n')
    assert read_replies(corpus) == ("hello", "bye")


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    empty = tmp_path / "pool.txt"
    empty.write_text(" \n\n")
    with pytest.raises(DataError, match="no reply is in it"):
        read_replies(empty)
    with pytest.raises(MissingAsset, match="no such file"):
        read_replies(tmp_path / "nothing.txt")
    with pytest.raises(UsageError, match="unknown corpus format"):
        read_replies(tmp_path / "pool.csv")
