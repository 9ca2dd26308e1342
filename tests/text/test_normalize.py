"""Texts as a reader sees them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder.text.normalize as normalize
from rejoinder.auditing.surface import decomposed, looking_alike, spaced, tagged_speaker, with_unseen
from rejoinder.text.normalize import visible, visible_text

SENTENCE = "Peace at last, happy Tom! ACE BOX, café naïve?"
UNSEEN: dict[str, Callable[[str], str]] = {
    "blank before": lambda text: f" {text}",
    "blank behind": lambda text: f"{text} ",
    "line end": lambda text: f"{text}\n",
    "CRLF": lambda text: f"{text}\r\n",
    "blanks inside": lambda text: text.replace(" ", "  "),
    "tab": lambda text: text.replace(" ", "\t"),
    "no-break space": lambda text: text.replace(" ", "\xa0"),
    "NFD": lambda text: unicodedata.normalize("NFD", text),
    "byte order mark": lambda text: f"\ufeff{text}",
    "br": lambda text: f"{text}<br>",
    "br, closed": lambda text: f"{text}<br/>",
    "p": lambda text: f"<p>{text}</p>",
    "div with a class": lambda text: f'<div class="reply">{text}</div>',
    "tag around a word": lambda text: text.replace("last", "<b>last</b>"),
    "comment": lambda text: f"{text}<!-- end -->",
    "entity": lambda text: text.replace(",", "&#44;"),
    "named entity": lambda text: text.replace(" at", "&nbsp;at"),
    "coded twice": lambda text: text.replace(",", "&amp;#44;"),
    "end of a sequence": lambda text: f"{text}</s>",
    "end of a sequence, cut": lambda text: f"{text} < /s >",
    "end of a turn": lambda text: f"{text}<|im_end|>",
    "end of a text": lambda text: f"{text} <|endoftext|>",
    "instruction": lambda text: f"[/INST] {text}",
    "bold": lambda text: text.replace("last", "**last**"),
    "bold, both": lambda text: f"**{text}**",
    "bold, underlined": lambda text: text.replace("at last", "__at last__"),
    "italic": lambda text: text.replace("last", "*last*"),
    "struck": lambda text: text.replace("last", "~~last~~"),
    "code": lambda text: text.replace("last", "`last`"),
    "heading": lambda text: f"## {text}",
    "link": lambda text: text.replace("last", "[last](https://example.org/a?b=c)"),
    "speaker": lambda text: f"Assistant: {text}",
    "all at once": lambda text: f"<p>Bot: **{text}**&nbsp;</s>\r\n",
}
PIECES = (
    *"<>&;/[]()*_`~#:\\-.!| \n\r\t\x00\x1c\xa0\u2028\u200b\u200d\ufeff",
    *("a", "B", "s", "1", "о", "а", "я", "ο", "é", "e\u0301", "\u0308", "ﬁ", "＆", "＜", "＊", "日", "👍🏽"),
    *("amp;", "&lt;", "&amp;", "&#38;", "&#42;", "&nbsp;", "&zwj;", "<b>", "</p>", "<br>", "<s>", "</s>", "<|im_end|>"),
    *("[INST]", "**", "__", "~~", "```", "``", "](", "# ", "bot: ", "A : ", "user:", "<!--", "-->", "speaker 1: "),
)


@pytest.mark.parametrize("change", [looking_alike, with_unseen, tagged_speaker, spaced, decomposed])
def test_what_a_reader_does_not_see_is_gone(change: Callable[[str], str | None]) -> None:
    changed = change(SENTENCE) or ""
    assert changed != SENTENCE and visible_text(changed) == SENTENCE


@pytest.mark.parametrize("name", UNSEEN)
def test_no_markup_and_no_blank_is_seen(name: str) -> None:
    changed = UNSEEN[name](SENTENCE)
    assert changed != SENTENCE and visible_text(changed) == SENTENCE


@pytest.mark.parametrize(
    "text",
    [
        "я не знаю, что сказать",
        "δεν ξέρω",
        "time: 5 o'clock",
        "a",
        "b:",
        "hello\nyou",
        "one\n\ntwo",
        "日本語です",
        "über",
        "I <3 you",
        "a < b and c > d",
        "2 * 3 * 4",
        "for i in range(10):\n    print(i)",
        "look at __url__ please",
        "<!DOCTYPE html>\n<html><body><p>hi</p></body></html>",
        "snake_case_name",
        "#blessed",
        "- one\n- two",
        "1. first\n2. second",
        "AT&T; ok",
        "<user> said so",
        "don`t and can`t",
        "```py\nx = a * b * c\n```",
        "~ > ~",
        "see [1] and (2)",
        "**",
    ],
)
def test_what_means_something_stays(text: str) -> None:
    assert visible_text(text) == text


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("", False),
        (" \n\t", False),
        ("\u200b", False),
        ("&nbsp;", False),
        ("<p></p>", False),
        ("<br>", False),
        ("</s>", False),
        ("<|im_end|>\n", False),
        ("\x00", False),
        (".", True),
        ("👍", True),
        ("a", True),
        ("**", True),
        ("<unk>", True),
        ('<img src="a.jpg">', True),
        ("<3", True),
        ("bot: </s>", True),
    ],
)
def test_what_is_visible(text: str, there: bool) -> None:
    assert visible(text) is there


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_of_any_text_once_is_enough(text: str) -> None:
    once = visible_text(text)
    assert visible_text(once) == once == once.strip()
    assert len(once) <= len(unicodedata.normalize("NFKC", text))
    assert not re.search(r"\S[^\S\n]{2}|\r|\n\n\n|[^\S\n]\n", once)
    assert all(sign.isspace() or unicodedata.category(sign) not in {"Cf", "Cc"} for sign in once)
    assert visible(text) == any(sign.isprintable() and not sign.isspace() for sign in once)


@given(st.text(max_size=60))
def test_accents_apart_or_together_are_the_same(text: str) -> None:
    apart, together = (visible_text(unicodedata.normalize(form, text)) for form in ("NFD", "NFC"))
    assert apart == together


HOSTILE = ("<", "*", "&", "[", "`", "_", "~", "#", "<a ", "**a", "__a", "&amp;", "amp;", "[x](", "a: ", "<!--", "\n ")


@pytest.mark.parametrize("piece", [*HOSTILE, "&l", "<b", "</", "< ", "] (", "e\u0301", "&#38;"])
def test_a_text_is_gone_over_a_few_times_however_it_nests(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pass is a fixed number of searches, none of which tries a place twice; the passes are counted."""
    read: list[int] = []
    once = normalize._once

    def counted(text: str) -> str:
        read.append(len(text))
        return once(text)

    monkeypatch.setattr(normalize, "_once", counted)
    work = []
    for size in (1 << 14, 1 << 15):
        read.clear()
        text = piece * (size // len(piece))
        visible_text(text + text[::-1].translate(str.maketrans("<[", ">]")))
        work.append(sum(read))
        assert len(read) <= 8
    assert work[1] <= 2.5 * work[0]
