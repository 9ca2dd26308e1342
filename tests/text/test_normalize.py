"""Properties of the normal forms; their outputs are in the golden file."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from every import ODD_TEXTS
from rejoinder.example import Example
from rejoinder.judges.domain import english_words
from rejoinder.perturbations import PERTURBATIONS, Corpus
from rejoinder.text import normalize
from rejoinder.text.detect import FOREIGN_WORDS, is_code, is_foreign, is_long, is_wordless
from rejoinder.text.normalize import detokenize, escape_controls, match_form, visible, visible_text
from sentences import HELD_OUT, SENTENCES

SENTENCE = "Peace at last, happy Tom! ACE BOX, café naïve?"
PIECES = (
    *"<>&;/[]()*_`~#:\\-.!| \n\r\t\x00\x1c\xa0\u2028\u200b\u200d\ufeff",
    *("a", "B", "s", "1", "о", "а", "я", "ο", "é", "e\u0301", "\u0308", "ﬁ", "＆", "＜", "＊", "日", "👍🏽"),
    *("amp;", "&lt;", "&amp;", "&#38;", "&#42;", "&nbsp;", "&zwj;", "<b>", "</p>", "<br>", "<s>", "</s>", "<|im_end|>"),
    *("[INST]", "**", "__", "~~", "```", "``", "](", "# ", "bot: ", "A : ", "user:", "<!--", "-->", "speaker 1: "),
)
TEXTS = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.sampled_from(ODD_TEXTS)


@pytest.mark.parametrize("change", ["look-alikes", "unseen-characters", "speaker-tag", "spaces", "decomposed"])
def test_invisible_changes_of_an_audit_are_undone(change: str) -> None:
    example = PERTURBATIONS[change].apply(Example((), SENTENCE), np.random.default_rng(0), Corpus(()))
    changed = example.response if example else ""
    assert changed != SENTENCE and visible_text(changed) == SENTENCE


@given(TEXTS)
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = visible_text(text)
    assert visible_text(once) == once == once.strip()
    assert len(once) <= len(unicodedata.normalize("NFKC", text))
    assert not re.search(r"\S[^\S\n]{2}|\r|\n\n\n|[^\S\n]\n", once)
    assert all(sign.isspace() or unicodedata.category(sign) not in {"Cf", "Cc"} for sign in once)
    assert visible(text) == any(sign.isprintable() and not sign.isspace() for sign in once)
    composed, apart = (visible_text(unicodedata.normalize(form, text)) for form in ("NFC", "NFD"))
    assert composed == apart


@given(TEXTS)
def test_spaces_and_case_do_not_change_the_match_form(text: str) -> None:
    assert match_form(f" {text.replace(' ', '  ')}\n") == match_form(text) == match_form(text.lower())


@given(st.text(alphabet="aAsStTnNmM'’`´\"“ \t?!.,()[]é中🙂", max_size=40))
def test_no_letter_is_lost(text: str) -> None:
    assert [sign for sign in detokenize(text) if sign.isalpha()] == [sign for sign in text if sign.isalpha()]


@given(TEXTS)
def test_escaped_texts_are_safe_json(text: str) -> None:
    escaped = escape_controls(text)
    assert not [
        sign for sign in escaped if sign not in "\t\n" and unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"}
    ]
    assert re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), escaped) == text or "\\u" in text


@pytest.mark.parametrize(
    "piece",
    (
        *("<", "*", "&", "[", "`", "_", "~", "#", "<a ", "**a", "__a", "&amp;", "amp;", "[x](", "a: ", "<!--", "\n "),
        *("&l", "<b", "</", "< ", "] (", "e\u0301", "&#38;"),
    ),
)
def test_the_number_of_passes_does_not_grow(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass takes linear time, because no pattern tries a place twice; so the passes are counted."""
    lengths: list[int] = []
    once = normalize._once

    def counted(text: str) -> str:
        lengths.append(len(text))
        return once(text)

    monkeypatch.setattr(normalize, "_once", counted)
    work = []
    for size in (1 << 14, 1 << 15):
        lengths.clear()
        text = piece * (size // len(piece))
        visible_text(text + text[::-1].translate(str.maketrans("<[", ">]")))
        work.append(sum(lengths))
        assert len(lengths) <= 8
    assert work[1] <= 2.5 * work[0]


@pytest.mark.parametrize("table", [SENTENCES, HELD_OUT])
def test_other_languages_are_recognised(table: dict[str, tuple[str, ...]]) -> None:
    sentences = [text for texts in table.values() for text in texts]
    assert sum(is_foreign(text, english_words()) for text in sentences) >= 0.95 * len(sentences)
    assert not FOREIGN_WORDS & set(english_words())


@given(TEXTS)
def test_every_text_can_be_classified(text: str) -> None:
    assert is_foreign(text, english_words()) in (True, False)
    assert not (is_wordless(text) and (is_foreign(text, english_words()) or not text.strip()))
    assert is_code(text) in (True, False) and is_long(text) in (True, False)
