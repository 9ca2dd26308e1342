"""What texts are told from plain English chat, and that plain English chat is left alone."""

from __future__ import annotations

import timeit
from functools import partial
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from rejoinder.example import Example
from rejoinder.judges.notes import CONTEXT_NOT_ENGLISH, NOT_ENGLISH, english_words, text_notes
from rejoinder.text.looks import LONGEST_CHAT, PLAINLY_FOREIGN, is_code, is_foreign, is_long, is_wordless
from rejoinder.text.vectors import common_words
from sentences import HELD_OUT, SENTENCES

CODE = (
    "def add(a, b):\n    return a + b",
    "for i in range(10):\n    print(i)",
    "import numpy as np\nx = np.zeros(3)",
    "const add = (a, b) => a + b;",
    "document.getElementById('x').innerHTML = 'hi';",
    "function f(x) { return x * 2; }",
    '<div class="a"><p>hello</p></div>',
    "<a href='x.html'>link</a>",
    "SELECT name FROM users WHERE id = 3;",
    "INSERT INTO t (a, b) VALUES (1, 2);",
    'public static void main(String[] args) { System.out.println("hi"); }',
    "#include <stdio.h>\nint main() { return 0; }",
    "for (int i = 0; i < n; i++) { sum += a[i]; }",
    "$ sudo apt-get install python3 && pip install numpy",
    "ls -la | grep foo > out.txt",
    '{"name": "Ann", "age": 3}',
    "Use this:\n```python\nprint('hi')\n```",
    "x <- c(1, 2, 3); mean(x)",
    "body { color: red; margin: 0; }",
    'fn main() { println!("{}", 3); }',
    'Traceback (most recent call last):\n  File "a.py", line 3, in <module>',
)
PLAIN = (
    "",
    "ok",
    "lol",
    "hahahahaha",
    "Niki Lauda!",
    "i ' m fine , thanks . and you ?",
    "< /s > i have a dog <pad> .",
    "It costs $ 20 (or $ 15 with the card); is that ok?",
    "apple(s) and pear(s) :) <3",
    "me; you; them (all of us)",
    "50% of people > 30 & under 40",
    'My wife said "no way": she\'s at the café, très chic!',
    "See you at 5:30, room 12-B.",
    "ur gonna luv it, gimme sum time pls",
    "#blessed #nofilter thanks @somebody",
    "- yes\nno",
)


@pytest.mark.parametrize(("table", "least"), [(SENTENCES, 0.95), (HELD_OUT, 0.95)])
def test_other_languages_are_told(table: dict[str, tuple[str, ...]], least: float) -> None:
    sentences = [(language, text) for language, texts in table.items() for text in texts]
    missed = [(language, text) for language, text in sentences if not is_foreign(text, english_words())]
    assert len(table) > 20 and len(sentences) > 40
    assert len(missed) <= (1 - least) * len(sentences), missed


# Written after the words that tell them were chosen.
SHORT = {
    "German": ("Ich auch.", "Nein danke.", "Das weiß ich.", "Gute Nacht!", "Sehr schön.", "Mir egal."),
    "French": ("Moi aussi.", "Non merci.", "Je t'aime.", "Bonne nuit.", "Très drôle.", "Ça marche."),
    "Spanish": ("Yo también.", "No, gracias.", "Te quiero.", "Buenas noches.", "Muy divertido.", "Está bien."),
}


@pytest.mark.parametrize("language", SHORT)
def test_short_replies_are_told_by_common_words(language: str) -> None:
    missed = [text for text in SHORT[language] if not is_foreign(text, english_words())]
    assert len(missed) <= 1, missed


def test_words_that_are_plainly_foreign_are_worth_nothing_in_english() -> None:
    assert not PLAINLY_FOREIGN & set(english_words())
    assert not is_foreign("Vous?! no way", english_words()), "one of them beside English is a quotation"


@pytest.mark.parametrize("language", ["Arabic", "Chinese", "Greek", "Hindi", "Japanese", "Korean", "Russian", "Thai"])
def test_another_script_is_told_by_its_letters_alone(language: str) -> None:
    assert all(is_foreign(text[:7], english_words()) for text in SENTENCES[language])
    assert is_foreign(SENTENCES[language][0] + " ok bye", english_words()), "most letters decide"


@pytest.mark.parametrize("text", PLAIN)
def test_plain_chat_is_left_alone(text: str) -> None:
    assert not (is_foreign(text, english_words()) or is_code(text) or is_long(text))


@pytest.mark.parametrize("text", ["ツ", "¯\\_(ツ)_/¯", "ಠ_ಠ", "π is 3.14"])
def test_a_sign_from_another_script_is_no_language(text: str) -> None:
    assert not is_foreign(text, english_words())


@pytest.mark.parametrize("text", CODE)
def test_code_is_told(text: str) -> None:
    assert is_code(text)


@pytest.mark.parametrize("text", ["...", "👍🏽🇩🇪", ":(", "?!", " — "])
def test_signs_alone_are_told(text: str) -> None:
    assert is_wordless(text)


@pytest.mark.parametrize("text", ["", "  \n", "42", "ok!", "好", "3.14"])
def test_words_numbers_and_nothing_are_no_signs(text: str) -> None:
    assert not is_wordless(text)


def test_long_texts_and_lists_are_told() -> None:
    assert is_long("word " * (LONGEST_CHAT + 1)) and not is_long("word " * LONGEST_CHAT)
    assert is_long("Here you go:\n1. milk\n2. bread") and is_long("# Title\n\n## Part\n\ntext")
    assert not is_long("- well, I said\nand he left") and not is_long("hi\nthere")


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    assert is_foreign(text, english_words()) in (True, False)
    assert not (is_wordless(text) and (is_foreign(text, english_words()) or not text.strip()))
    assert is_code(text) in (True, False) and is_long(text) in (True, False)


@given(st.lists(st.sampled_from(common_words()[:3000]), min_size=4, max_size=20))
def test_common_words_in_any_order_are_english(words: list[str]) -> None:
    kept = [word for word in words if len(word) > 3 and word.isalpha()]
    assert not is_foreign(" ".join(kept), english_words())


def test_a_million_characters_are_looked_at_in_linear_time() -> None:
    for piece in ("a", "x(", "1 <= ", "if a ", "слово ", "\n- ", '"a": ', "   "):
        text = piece * (1_000_000 // len(piece))
        seconds = timeit.timeit(partial(text_notes, [Example((text,), text)], ("context",)), number=1)
        assert seconds < 20, f"{piece}: the work grows faster than the text"


def test_notes_cost_less_than_a_tenth_of_a_millisecond_a_reply() -> None:
    lines = [*rejoinder.read("@dstc7"), *rejoinder.read("@conture")]
    text_notes(lines[:1], ("context",))  # the common words are read once
    best = min(timeit.repeat(lambda: text_notes(lines, ("context", "reference")), number=1, repeat=5))
    assert best / len(lines) < 1e-4


def noted(lines: list[Example], note: str) -> float:
    return sum(note in notes for notes in text_notes(lines, ("context", "reference")).values()) / len(lines)


@pytest.mark.parametrize("name", ["@dstc7", "@conture"])
def test_few_lines_of_english_chat_are_noted(name: str) -> None:
    lines = list(rejoinder.read(name))
    assert len(text_notes(lines, ("context", "reference"))) <= 0.01 * len(lines)


@pytest.mark.slow
def test_no_rated_set_is_taken_for_another_language(shared: Path) -> None:
    for path in sorted((shared / "data" / "judgements").glob("*.jsonl.gz")):
        if path.name.startswith(("halueval", "tulu1", "dices")):  # replies of assistants, who are asked for anything
            continue
        lines = list(islice(rejoinder.read(path), 800))
        assert max(noted(lines, NOT_ENGLISH), noted(lines, CONTEXT_NOT_ENGLISH)) <= 0.01, path.name
