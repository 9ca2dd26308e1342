"""How much of an example a judge reads: so many subwords of a text, however long that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import rejoinder
import rejoinder.judges.features.extent as extent
from rejoinder.example import Example
from rejoinder.judges.domain import CONTEXT_CUT, CUT
from rejoinder.judges.features.extent import CHARACTERS, SUBWORDS, bounded, shown
from rejoinder.judges.features.table import FeatureBlock, Features, FeatureSet
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.text.normalize import visible_text

LINE = Example(("hi, how are you?", "fine. any plans?"), "i will see a movie.", ("a film with friends.",))
MEGABYTE = 1 << 20
SIDES = ("response", "context", "references")


def holding(side: str, text: str) -> Example:
    if side == "response":
        return replace(LINE, response=text)
    return replace(LINE, context=(text,)) if side == "context" else replace(LINE, references=(text,))


def text_of(side: str, example: Example) -> str:
    found = getattr(example, side)
    return found if isinstance(found, str) else found[0]


@pytest.mark.parametrize("side", SIDES)
def test_a_text_is_cut_at_so_many_subwords(side: str) -> None:
    words = [f"w{number}" for number in range(3 * SUBWORDS)]
    read = shown(holding(side, " ".join(words)), str.split)
    kept = text_of(side, read.example).split()
    assert kept == (words[-SUBWORDS:] if side == "context" else words[:SUBWORDS])
    assert (read.cut, read.context_cut) == (side != "context", side == "context")
    assert shown(read.example, str.split) == (read.example, False, False)


@pytest.mark.parametrize("side", SIDES)
def test_a_text_of_so_many_subwords_is_read_whole(side: str) -> None:
    example = holding(side, " ".join(["word"] * SUBWORDS))
    assert shown(example, str.split) == (example, False, False)
    assert shown(LINE, str.split).example is LINE


@pytest.mark.parametrize(
    "text", ["x" * MEGABYTE, "ﷺ" * CHARACTERS, "<br>" * MEGABYTE, "\n" * MEGABYTE + "hello", "日" * MEGABYTE]
)
def test_no_text_without_words_gets_past_the_limit(text: str) -> None:
    read = shown(holding("response", text), tuple)
    assert len(read.example.response) <= SUBWORDS
    assert shown(read.example, tuple).example == read.example


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("piece", ["we talked about it. ", "x", "<b>a</b>", "**", "&amp;", "日本", " \n", "a: "])
def test_the_work_does_not_grow_with_a_text_beyond_the_limit(
    side: str, piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in characters handed to whatever reads them: clean-up, subwords, views."""
    work: list[int] = []

    def counted(text: str) -> str:
        work.append(len(text))
        return visible_text(text)

    def pieces(text: str) -> list[str]:
        work.append(len(text))
        return list(text)

    monkeypatch.setattr(extent, "visible_text", counted)
    totals = []
    for size in (MEGABYTE, 2 * MEGABYTE):
        work.clear()
        batches: list[Sequence[Example]] = []

        def compute(examples: Sequence[Example], batches: list[Sequence[Example]] = batches) -> Features:
            batches.append(examples)
            return np.zeros((len(examples), 0), np.float32)

        FeatureSet((FeatureBlock("none", (), compute),), pieces).compute([holding(side, piece * (size // len(piece)))])
        ((example,),) = batches
        read = sum(map(len, (*example.context, example.response, *example.references)))
        assert read <= SUBWORDS + 100
        looked_at = bounded(holding(side, piece * (size // len(piece))))
        assert len(text_of(side, looked_at)) <= CHARACTERS
        totals.append(sum(work) + read)
    assert totals[1] <= totals[0] * 1.01
    assert totals[0] <= 20 * CHARACTERS


def test_a_judge_says_what_it_cut_and_scores_what_it_read() -> None:
    judge = rejoinder.load_scorer("rejoinder")
    assert isinstance(judge, FeatureJudge)
    sentence = "we talked about the film and the weather. "
    long = [holding(side, sentence * (MEGABYTE // len(sentence))) for side in SIDES]
    scores = rejoinder.score([LINE, *long], judge, out_of_domain="keep")
    assert scores.scored.all()
    noted = [(CUT in notes, CONTEXT_CUT in notes) for notes in (scores.warnings.get(row, ()) for row in range(4))]
    assert noted == [(False, False), (True, False), (False, True), (True, False)]
    read = [judge.feature_set.shown(example).example for example in long]
    assert all(
        len(judge.feature_set.pieces(text_of(side, one))) <= SUBWORDS for side, one in zip(SIDES, read, strict=True)
    )
    again = rejoinder.score(read, judge, out_of_domain="keep").values
    np.testing.assert_allclose(scores.values[1:], again, rtol=0, atol=1e-5)
