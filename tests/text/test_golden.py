"""Outputs of 2,000 texts that may not change by a character: the bundled judge was trained on them.

The texts come from the bundled samples, from the tests, and from random strings of markup, controls and odd letters.
A missing `detokenize` means the text itself, `match_form` the detokenized text in lower case, and so on.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from rejoinder.judges.domain import english_words
from rejoinder.text import tokenizer, unspaced_script
from rejoinder.text.detect import is_code, is_foreign, is_long, is_wordless
from rejoinder.text.normalize import detokenize, escape_controls, match_form, visible, visible_text, written_text

FILE = Path(__file__).resolve().parent.parent / "golden" / "texts.jsonl.gz"


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(FILE.read_bytes()).splitlines()]


def test_normal_forms_never_change(cases: list[dict[str, Any]]) -> None:
    assert len(cases) == 2000
    for case in cases:
        text = case["text"]
        plain, seen = case.get("detokenize", text), case.get("visible_text", text)
        assert detokenize(text) == plain, text
        assert match_form(text) == case.get("match_form", plain.lower()), text
        assert visible_text(text) == seen, text
        assert written_text(text) == case.get("written_text", seen), text
        assert escape_controls(text) == case.get("escape_controls", text), text


def test_detection_never_changes(cases: list[dict[str, Any]]) -> None:
    english = english_words()
    for case in cases:
        text = case["text"]
        kinds = {
            "foreign": is_foreign(text, english),
            "code": is_code(text),
            "long": is_long(text),
            "wordless": is_wordless(text),
            "visible": visible(text),
        }
        script = [name] if (name := unspaced_script(text)) else []
        assert [kind for kind, holds in kinds.items() if holds] + script == case["is"], text


def test_words_never_change(cases: list[dict[str, Any]]) -> None:
    first, second = tokenizer("words-1"), tokenizer("words-2")
    for case in cases:
        words = case["words"]
        assert " ".join(first(case["text"])) == words[0], case["text"]
        assert " ".join(second(case["text"])) == words[-1], case["text"]
