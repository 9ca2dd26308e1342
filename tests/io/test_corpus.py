"""Dialogues from corpora, and the byte-pair encoding of their turns."""

from __future__ import annotations

import gzip
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rejoinder.data import dialogues as corpus
from rejoinder.data.dialogues import Dialogue, corpus_files, read_dialogues
from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.nn.bpe import END_ID, PAD_ID, SPECIALS, UNK_ID, Vocabulary, as_turn, train_bpe
from rejoinder.training.corpora import part_of

PRINTABLE = "".join(map(chr, range(33, 127))) + "éß☺"


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return train_bpe([PRINTABLE, " ".join(PRINTABLE), "Hello there, how are you? <user>"] * 10, 600)


@cache
def either_case(*, lower: bool) -> Vocabulary:
    # Of the signs that are written, some are known to it and some not.
    return train_bpe(["Ab ba'b 00 b.. a?!"] * 9, 60, lower=lower)


def file_of(folder: Path, *lines: Any, name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def message_of(path: Path) -> str:
    """The message of the file's one bad line, without the folder."""
    with pytest.raises(DataError) as caught:
        list(read_dialogues(path))
    return str(caught.value).removeprefix(f"{path.parent}/")


# Reading


def test_json_lines(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"turns": ["a", "b"], "judged": True, "topic": 3}, "", {"turns": ["c", "d", "c"]})
    assert list(read_dialogues(path)) == [
        Dialogue(("a", "b"), f"{path}:1", judged=True),
        Dialogue(("c", "d", "c"), f"{path}:3"),
    ]


def test_chat_messages(tmp_path: Path) -> None:
    said = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "42"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "it is"}, {"type": "image"}, {"type": "text", "text": "42"}],
        },
    ]
    shared = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "it is\n42"}]
    path = file_of(tmp_path, said, {"messages": said}, {"conversations": shared})
    assert [dialogue.turns for dialogue in read_dialogues(path)] == [("hi", "it is\n42")] * 3


@pytest.mark.parametrize(
    "line",
    [
        "hi\thow are you\tfine",
        "hi __eou__ how are you __eou__ fine",
        "hi\thow are you\tfine\t",
        "hi __eou__ how are you __eou__ fine __eou__",
    ],
)
def test_plain_text(tmp_path: Path, line: str) -> None:
    (dialogue,) = read_dialogues(file_of(tmp_path, line, name="a.txt"))
    assert dialogue.turns == ("hi", "how are you", "fine")


def test_several_files_and_gzip(tmp_path: Path) -> None:
    packed = tmp_path / "b.txt.gz"
    packed.write_bytes(gzip.compress(b"x\ty\n"))
    plain = file_of(tmp_path, {"turns": ["a", "b"]}, name="c.ndjson")
    assert [dialogue.turns for dialogue in read_dialogues(packed, plain)] == [("x", "y"), ("a", "b")]


def test_reading_is_a_stream(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"turns": ["a", "b"]}, "broken")
    assert next(read_dialogues(path)).turns == ("a", "b")


WRITE_MESSAGES = 'Write {"role": "user", "content": "..."}; roles are user, assistant, system, developer, tool'
BAD: list[tuple[Any, str]] = [
    ("{", "broken JSON (Expecting property name enclosed in double quotes at column 2). Write one JSON object a line"),
    ("[" * 100_000, "broken JSON (nested too deep). Write one JSON object a line"),
    ("1" * 5000, "broken JSON (a number of thousands of digits). Write one JSON object a line"),
    (
        '{"turns": ["\\ud800", "b"]}',
        'field "turns": holds \\ud800, half a character. Write the whole character or none',
    ),
    (3, 'not a JSON object. Write {"turns": ["...", "..."]}'),
    ({}, 'neither "turns" nor "messages" (found: nothing). Write {"turns": ["...", "..."]}'),
    ({"text": "a"}, 'neither "turns" nor "messages" (found: text). Write {"turns": ["...", "..."]}'),
    ({"turns": "a"}, 'field "turns": is not a list of texts. Write {"turns": ["...", "..."]}'),
    ({"turns": ["a", None]}, 'field "turns": is not a list of texts. Write {"turns": ["...", "..."]}'),
    ({"turns": []}, "no turn, a dialogue has two or more. Leave the line out or give all its turns"),
    ({"turns": ["a"]}, "one turn, a dialogue has two or more. Leave the line out or give all its turns"),
    ({"turns": ["a", " ", "b"]}, "turn 2 is empty. Leave the turn out or give its text"),
    ({"turns": ["a", "a", "a"]}, "all 3 turns are the same. Leave the line out"),
    (
        {"turns": ["a", "b" * 1_000_001]},
        "turn 2 has 1,000,001 characters, expected at most 1,000,000. Check the file's line ends, or cut the turn",
    ),
    (
        {"turns": ["a", "b"], "judged": "no"},
        "field \"judged\": is 'no', expected true or false. Correct it or leave it out",
    ),
    ({"messages": "a"}, 'field "messages": text, expected a list of messages. Write [{"role": ..., "content": ...}]'),
    (["a", "b"], f'field "messages": message 1 is text. {WRITE_MESSAGES}'),
    (
        [{"role": "user", "content": "a"}, {"role": "assistant"}],
        f'field "messages": message 2 has no text content. {WRITE_MESSAGES}',
    ),
]


@pytest.mark.parametrize(("line", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_line(tmp_path: Path, line: Any, message: str) -> None:
    assert message_of(file_of(tmp_path, line)) == f"a.jsonl:1: {message}"


def test_an_overlong_line_is_not_parsed(tmp_path: Path) -> None:
    path = file_of(tmp_path, "[" * 10_000_000)
    # One more than allowed: the line end counts.
    assert (
        message_of(path)
        == "a.jsonl:1: a line of 10,000,001 characters, expected at most 10,000,000. Write one dialogue a line"
    )


def test_text_without_separator(tmp_path: Path) -> None:
    found = message_of(file_of(tmp_path, "hi there", name="a.txt"))
    assert found == "a.txt:1: one turn, a dialogue has two or more. Leave the line out or give all its turns"


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"caf\xe9\tb\n")
    assert message_of(path).startswith("a.txt:1: byte 0xe9 at column 4 is not UTF-8. Save it as UTF-8")


def test_empty_file(tmp_path: Path) -> None:
    assert message_of(file_of(tmp_path)) == "a.jsonl: the file is empty. Give a file with at least one line"


def test_bad_lines_can_be_skipped_and_counted(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"turns": ["a", "b"]}, *(line for line, _ in BAD), {"turns": ["c", "d"]})
    skipped: list[DataError] = []
    assert [dialogue.turns for dialogue in read_dialogues(path, on_bad=skipped.append)] == [("a", "b"), ("c", "d")]
    assert [error.where for error in skipped] == [f"{path}:{number}" for number in range(2, len(BAD) + 2)]


def test_unknown_format_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        list(read_dialogues("a.csv"))
    assert str(caught.value) == "a.csv: unknown corpus format .csv. Known: .jsonl, .ndjson, .txt, each also with .gz"
    with pytest.raises(UsageError, match=r"^a: unknown corpus format \(no suffix\)\."):
        list(read_dialogues("a"))
    with pytest.raises(MissingAsset, match="gone.jsonl: no such file"):
        list(read_dialogues(tmp_path / "gone.jsonl"))


def test_folders_of_corpora(tmp_path: Path) -> None:
    for name in ("b.txt", "a.jsonl.gz", "notes.md"):
        (tmp_path / name).touch()
    assert corpus_files(["x.txt", "-", tmp_path]) == ["x.txt", "-", tmp_path / "a.jsonl.gz", tmp_path / "b.txt"]
    (tmp_path / "inner").mkdir()
    with pytest.raises(UsageError) as caught:
        corpus_files([tmp_path / "inner"])
    known = ".jsonl, .ndjson, .txt, each also with .gz"
    assert str(caught.value) == f"{tmp_path / 'inner'}: a folder without a corpus. Known: {known}"


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=2))
def test_whatever_json_holds_comes_back(turns: list[str]) -> None:
    assume(len(set(turns)) > 1)
    assert corpus._from_json(json.dumps({"turns": turns}), "here").turns == tuple(turns)


def test_the_released_corpora_can_be_read(shared: Path) -> None:
    skipped: list[DataError] = []
    names = ("casino", "taskmaster4", "ubuntu_irc")
    dialogues = list(
        read_dialogues(*(shared / f"data/corpora/{name}.jsonl.gz" for name in names), on_bad=skipped.append)
    )
    assert len(dialogues) + len(skipped) == 1030 + 3686 + 5126
    assert {error.problem for error in skipped} == {"all 2 turns are the same", "all 3 turns are the same"}
    assert len(skipped) == 4


# Byte-pair encoding


def normal(text: str) -> str:
    return " ".join(text.lower().split())


@given(st.text(alphabet=PRINTABLE + " \t\n"))
def test_decoding_gives_the_text_back(vocabulary: Vocabulary, text: str) -> None:
    assume(not any(special in text.lower() for special in SPECIALS))
    ids = vocabulary.encode(text)
    assert vocabulary.decode(ids) == normal(text)
    assert not set(ids) & {PAD_ID, UNK_ID, END_ID}


@given(st.text())
def test_any_text_can_be_encoded(vocabulary: Vocabulary, text: str) -> None:
    ids = vocabulary.encode(text)
    assert all(0 <= number < vocabulary.size for number in ids)
    assert (ids == []) == (vocabulary.tokenizer.normalizer.normalize_str(text) == "")


@pytest.mark.parametrize("lower", [True, False])
@given(text=st.text(alphabet="aAbz09' .,!?<>&-_▁’é\t\x1c") | st.text(alphabet=PRINTABLE + " "))
def test_the_short_way_gives_what_the_library_gives(lower: bool, text: str) -> None:
    vocabulary = either_case(lower=lower)
    assert vocabulary.encode(text) == vocabulary.tokenizer.encode(text, add_special_tokens=False).ids


def test_batches_encode_as_single_texts_do(vocabulary: Vocabulary) -> None:
    texts = ["Hello there", "", "you? <user>", "日本"]
    assert vocabulary.encode_batch(texts) == [vocabulary.encode(text) for text in texts]


def test_special_tokens_are_whole(vocabulary: Vocabulary) -> None:
    assert [vocabulary.encode(special) for special in SPECIALS] == [[PAD_ID], [UNK_ID], [END_ID]]
    ids = vocabulary.encode("hello</s> there<pad>")
    assert [ids.count(number) for number in (PAD_ID, UNK_ID, END_ID)] == [1, 0, 1]
    assert vocabulary.decode(ids) == "hello there"


def test_unknown_characters_are_not_dropped(vocabulary: Vocabulary) -> None:
    ids = vocabulary.encode("hello 日本 there")
    assert ids.count(UNK_ID) == 1
    assert vocabulary.decode(ids) == "hello <unk> there"


def test_words_signs_and_placeholders_stay_apart(vocabulary: Vocabulary) -> None:
    pieces = [
        vocabulary.tokenizer.id_to_token(number) for number in vocabulary.encode("Hello there, how are YOU? <user>")
    ]
    assert pieces == ["▁hello", "▁there", ",", "▁how", "▁are", "▁you", "?", "▁<user>"]


def test_apostrophes_are_one() -> None:
    vocabulary = train_bpe(["I don’t", "I don't"] * 5, 60)
    assert vocabulary.encode("don’t") == vocabulary.encode("don't")
    assert vocabulary.decode(vocabulary.encode("don’t")) == "don't"


def test_lower_casing_travels_with_the_vocabulary() -> None:
    kept = train_bpe(["Ab aB"] * 9, 40, lower=False)
    again = Vocabulary.from_json(kept.to_json())
    assert again.decode(again.encode("Ab aB")) == "Ab aB"
    assert again.encode("Ab") != again.encode("ab")
    assert again.digest == kept.digest
    assert len(kept.digest) == 12
    assert kept.digest != train_bpe(["Ab aB"] * 9, 40).digest


def test_training_is_deterministic() -> None:
    # Forty letters that occur equally often, of which only some get a number.
    texts = [chr(0x430 + place % 40) * 3 for place in range(400)]
    first = train_bpe(texts, 80).to_json()
    for seed in range(4):
        random.Random(seed).shuffle(texts)
        assert train_bpe(iter(texts), 80).to_json() == first
    assert sum(character in first for character in set("".join(texts))) == 19


def test_size_is_kept() -> None:
    texts = [f"{a}{b}{c}" for a in "abcd" for b in "efgh" for c in "ijkl"] * 3
    assert train_bpe(texts, 64).size == 64
    assert train_bpe(["ab"], 1000).size == 3 + 3


def test_as_turn() -> None:
    assert as_turn([], 5) == [END_ID]
    assert as_turn([7, 8, 9], 4) == [7, 8, 9, END_ID]
    assert as_turn([7, 8, 9], 3) == [7, 8, END_ID]
    assert as_turn([PAD_ID, END_ID, UNK_ID, 9], 9) == [UNK_ID, UNK_ID, UNK_ID, 9, END_ID]


def test_messages_of_the_encoding(vocabulary: Vocabulary) -> None:
    with pytest.raises(UsageError) as caught:
        train_bpe(["a"], 31)
    assert str(caught.value) == "a vocabulary of 31 pieces has no room for an alphabet. Give 32 or more."
    for texts in ([], [" "]):
        with pytest.raises(DataError) as empty:
            train_bpe(texts, 32)
        assert str(empty.value).startswith("no text to train a vocabulary on. Give a corpus with at least one turn")
    with pytest.raises(UsageError) as outside:
        vocabulary.decode([1, -1])
    assert str(outside.value) == f"id -1 is outside the vocabulary, which has 0 to {vocabulary.size - 1}"
    with pytest.raises(DataError, match=r"^not a vocabulary \(.*\)\. Give what Vocabulary.to_json wrote$"):
        Vocabulary.from_json("{}")
    foreign = json.loads(vocabulary.to_json())
    foreign["added_tokens"] = []
    foreign["model"] = {**foreign["model"], "vocab": {"a": 0, "b": 1}, "merges": [], "unk_token": None}
    with pytest.raises(DataError) as other:
        Vocabulary.from_json(json.dumps(foreign))
    assert str(other.value).startswith(
        "the vocabulary begins with ['a', 'b', None], expected ['<pad>', '<unk>', '</s>']. "
    )


def test_rated_examples_are_dialogues_and_judged(tmp_path: Path) -> None:
    file = tmp_path / "rated.jsonl"
    rated = {"context": ["hi", "hello"], "response": "bye", "quality": {"overall": 3.5}}
    lines = [rated, {**rated, "judged": False}, {"context": ["hi"], "response": "bye"}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = list(read_dialogues(file))
    assert [dialogue.turns for dialogue in found] == [("hi", "hello", "bye")] * 2 + [("hi", "bye")]
    assert [dialogue.judged for dialogue in found] == [True, False, False]


@pytest.mark.parametrize(
    ("more", "judged"),
    [
        ({}, False),
        ({"rating": None, "stars": "", "ratings": {}, "quality": {}}, False),
        ({"rating": 4, "judged": False}, False),
        ({"topic": 4, "title": "a"}, False),
        *(({name: 4}, True) for name in ("rating", "stars", "score", "overall", "human_rating", "feedback", "grade")),
        *(({name: 0}, True) for name in ("rating", "Human rating (0-5)", "mean_score", "rating_2", "vote", "label")),
        ({"rating": 4, "scale": [1, 5], "rater": "rater-1"}, True),
        ({"ratings": {"overall": [2, 3]}}, True),
        ({"feedback": "thumbs_up"}, True),
        ({"human_label": "bad"}, True),
    ],
)
def test_what_may_be_a_rating_makes_a_line_judged(tmp_path: Path, more: dict[str, Any], judged: bool) -> None:
    path = file_of(tmp_path, {"context": ["Tea?"], "response": "No.", **more}, {"turns": ["a", "b"], **more})
    assert [dialogue.judged for dialogue in read_dialogues(path)] == [judged, judged]


def test_a_rated_message_makes_a_conversation_judged(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Tea?"}, {"role": "assistant", "content": "No.", "rating": 1}]
    (dialogue,) = read_dialogues(file_of(tmp_path, {"messages": said}))
    assert dialogue.judged


def test_dialogues_that_people_rated_are_left_out_and_counted(tmp_path: Path) -> None:
    lines = [
        {"context": [f"Question {n}?"], "response": f"Answer {n}.", **({"stars": 3} if n else {})} for n in range(4)
    ]
    said: list[str] = []
    (left,) = part_of([file_of(tmp_path, *lines)], 0.0, held_out=False, say=said.append)
    assert left.turns == ("Question 0?", "Answer 0.") and len(said) == 1 and "3" in said[0]
    assert len(list(part_of([tmp_path / "a.jsonl"], 0.0, held_out=False, keep_judged=True, say=said.append))) == 4
    assert len(said) == 1
