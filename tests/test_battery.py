"""What every scorer must pass: its score depends on the example alone, and what it cannot score it says so of."""

from __future__ import annotations

import json
import math
import shlex
import sys
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from conftest import loaded
from loopback import completion, serving
from rejoinder.cli import main
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.judges.adem.judge import TERMS
from rejoinder.judges.adem.optimizer import AdemOptions
from rejoinder.judges.adem.panel import Panel
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.judges.train import train_judge
from rejoinder.models import load_encoder
from rejoinder.scorer import Scorer, Scores, run, signature_of
from rejoinder.scoring.catalog import cards, load_scorer
from rejoinder.text.wordnet import find_wordnet

OVER_HRED = "adem over an hred"
JUDGES = (*TERMS, OVER_HRED)
OUTSIDE = ("command", "openai")
ODD_TEXTS = (
    "",
    " ",
    "\n\t",
    "👍🏽🇩🇪",
    "?!",
    "ok " * 3000,
    "\u200b",
    "İ",
    "<unk> </s>",
    '"quoted", and more',
    "\x00",
    "3.14",
)
UNSEEN: dict[str, Callable[[str], str]] = {
    "blanks around": lambda text: f"  {text} ",
    "a line end": lambda text: f"{text}\r\n",
    "two blanks for one": lambda text: text.replace(" ", "  "),
    "accents apart": lambda text: unicodedata.normalize("NFD", text),
    "a line break": lambda text: f"{text}<br>",
    "a paragraph": lambda text: f"<p>{text}</p>",
    "entities": lambda text: text.replace("'", "&#39;").replace(" ", "&nbsp;"),
    "an end token": lambda text: f"{text}</s>",
    "the end of a turn": lambda text: f"{text}<|im_end|>\n",
    "a bold word": lambda text: (
        f"**{text.split()[0]}** {' '.join(text.split()[1:])}" if text.split()[0].isalpha() else text
    ),
}


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scorer]:
    rated = list(rejoinder.read("@conture"))[::3]
    # No sample has both context and reference; for scoring alike it does not matter what the judge has learned.
    rated = [replace(example, references=(other.response,)) for example, other in pairwise(rated)]
    judges: dict[str, Scorer] = {kind: train_judge(rated, kind, options=AdemOptions(epochs=2)).judge for kind in TERMS}
    if find_spec("torch") and find_spec("tokenizers"):
        from tiny import dialogue_model

        encoder = load_encoder(dialogue_model(tmp_path_factory.mktemp("encoder") / "hred"))
        judges[OVER_HRED] = train_judge(rated, "adem", encoder, AdemOptions(epochs=2)).judge
    return judges


# A program that scores by the number of characters, as the endpoint below does.
SCORING = "import json, sys\nfor line in sys.stdin: print(1 + len(json.loads(line)['response']) % 5)"


@pytest.fixture(scope="module")
def outside() -> Iterator[dict[str, Scorer]]:
    """A program and an endpoint as scorers."""
    command = load_scorer(f"command:{shlex.join([sys.executable, '-S', '-c', SCORING])}")
    with serving() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("no_proxy", "*")
        server.answering = lambda body: completion(f'{{"score": {1 + len(body["messages"][0]["content"]) % 5}}}')
        yield {"command": command, "openai": load_scorer(f"openai:{server.address}#tiny")}


@pytest.fixture(scope="module", params=[*cards(), *JUDGES, *OUTSIDE])
def scorer(request: pytest.FixtureRequest, judges: dict[str, Scorer]) -> Scorer:
    if request.param in OUTSIDE:
        found: Scorer = request.getfixturevalue("outside")[request.param]
        return found
    if request.param == "meteor":
        try:
            find_wordnet()
        except rejoinder.RejoinderError as error:
            pytest.skip(str(error))
    if request.param == OVER_HRED and OVER_HRED not in judges:
        pytest.skip("needs the extra train")
    return judges[request.param] if request.param in judges else loaded(request.param)


@pytest.fixture(scope="module")
def tolerance(scorer: Scorer) -> float:
    """How far apart scores may be that should be equal; a network computes in single precision."""
    return 1e-5 if scorer.card.kind == "judge" else 1e-9


@pytest.fixture(scope="module")
def whole(scorer: Scorer) -> Scores:
    """The scores of the examples, all at once."""
    return run(scorer, examples())


@cache
def examples() -> list[Example]:
    """Replies with a context and references, of very different lengths."""
    replies = [example.response for example in rejoinder.read("@conture")][:40]
    made = [
        Example(
            context=(replies[number - 1], replies[number - 2]),
            response=reply,
            references=tuple(replies[number - 3 : number - 3 + number % 3 + 1]) or (reply,),
            id=str(number),
        )
        for number, reply in enumerate(replies)
        if number > 3
    ]
    long = replace(made[0], response=" ".join(replies), id="long")
    return [*made, long]


def test_the_order_does_not_matter(scorer: Scorer, whole: Scores, tolerance: float) -> None:
    turned = run(scorer, examples()[::-1]).values[::-1]
    assert turned == pytest.approx(whole.values, abs=tolerance, nan_ok=True)


@pytest.mark.parametrize("batch_size", [1, 7])
def test_the_batch_does_not_matter(scorer: Scorer, whole: Scores, tolerance: float, batch_size: int) -> None:
    batched = run(scorer, examples(), batch_size=batch_size).values
    assert batched == pytest.approx(whole.values, abs=tolerance, nan_ok=True)


def test_duplicates_score_alike(scorer: Scorer, tolerance: float) -> None:
    given = examples()[:5]
    doubled = scorer.score_batch([*given, *given]).values  # `run` would score each once
    assert doubled[:5] == pytest.approx(doubled[5:], abs=tolerance, nan_ok=True)


def test_scoring_again_gives_the_same(scorer: Scorer, whole: Scores) -> None:
    assert np.array_equal(run(scorer, examples()).values, whole.values, equal_nan=True)


def test_odd_texts_are_scored_or_have_a_reason(scorer: Scorer) -> None:
    plain = examples()[0]
    given = [replace(plain, response=text, id=f"r{number}") for number, text in enumerate(ODD_TEXTS)]
    given += [replace(plain, references=(text,), id=f"f{number}") for number, text in enumerate(ODD_TEXTS)]
    given += [replace(plain, context=(text,), id=f"c{number}") for number, text in enumerate(ODD_TEXTS)]
    scores = run(scorer, given)
    assert set(scores.reasons) == set(np.flatnonzero(np.isnan(scores.values)).tolist())
    for end in (scores.low, scores.high):
        assert end is None or np.array_equal(np.isnan(end), np.isnan(scores.values))
    if scores.low is not None and scores.high is not None:
        assert (scores.low <= scores.high)[scores.scored].all()
    assert all(reason and "\n" not in reason for reason in scores.reasons.values())
    assert not np.isinf(scores.values).any()


@pytest.mark.parametrize("name", UNSEEN)
def test_what_no_reader_sees_leaves_the_score_of_a_judge_as_it_is(
    scorer: Scorer, whole: Scores, tolerance: float, name: str
) -> None:
    if scorer.card.kind != "judge" or not hasattr(scorer, "parts"):
        pytest.skip("metrics keep their published tokenizers; a judge outside reads what was written")
    change = UNSEEN[name]
    for given in (
        [replace(one, response=change(one.response)) for one in examples()],
        [replace(one, context=tuple(map(change, one.context))) for one in examples()],
        [replace(one, references=tuple(map(change, one.references))) for one in examples()],
    ):
        assert run(scorer, given).values == pytest.approx(whole.values, abs=tolerance, nan_ok=True)


def test_what_the_card_needs_is_needed(scorer: Scorer) -> None:
    bare = Example(context=(), response="i do not know .")
    scores = run(scorer, [bare])
    if isinstance(scorer, (Panel, FeatureJudge)):  # it needs the one or the other, which a card cannot say
        assert scores.reasons == {0: "no context and no reference"}
        return
    wanting = scorer.card.needs & {"context", "reference"}
    assert bool(wanting) == math.isnan(scores.values[0])
    assert (scores.reasons.get(0, "") in {f"no {need}" for need in wanting}) or not wanting


def test_scores_lie_in_the_range_of_the_card(scorer: Scorer, whole: Scores, tolerance: float) -> None:
    low, high = scorer.card.range
    values = whole.values[np.isfinite(whole.values)]
    assert len(values)
    assert low is None or values.min() >= low - tolerance
    assert high is None or values.max() <= high + tolerance


def test_the_card_is_filled_in(scorer: Scorer) -> None:
    card = scorer.card
    assert card.summary and card.source and card.version >= 1
    signature = signature_of(scorer)
    assert signature.fields["scorer"] == card.name
    assert str(signature).startswith(f"scorer:{card.name}|version:{card.version}|")
    assert json.dumps(dict(signature.fields))


def test_the_corpus_score_is_that_of_the_scored(scorer: Scorer, whole: Scores) -> None:
    with_bare = run(scorer, [*examples(), Example(context=(), response="")]) if scorer.card.needs else whole
    assert with_bare.corpus() == pytest.approx(whole.corpus(), nan_ok=True)


def test_the_command_line_gives_the_same(
    scorer: Scorer, whole: Scores, tolerance: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rejoinder.write(examples(), tmp_path / "in.jsonl")
    name = scorer.card.name
    if hasattr(scorer, "save"):
        scorer.save(tmp_path / "judge")
        name = str(tmp_path / "judge")
    try:
        keep = ["--out-of-domain", "keep"]
        main(["score", str(tmp_path / "in.jsonl"), "-s", name, "-o", str(tmp_path / "out.jsonl"), *keep])
    except SystemExit as exit_:
        assert exit_.code == 0, capsys.readouterr().err
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    got = [math.nan if line["scores"][name] is None else line["scores"][name] for line in lines]
    assert got == pytest.approx(whole.values, abs=tolerance, nan_ok=True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("blue-4", "no scorer and no folder is called 'blue-4'. Nearest: bleu-4"),
        ("BLEU-4/COCO", "no scorer and no folder is called 'BLEU-4/COCO'. Nearest: bleu-4/coco"),
        ("no/such/folder", "no scorer and no folder is called 'no/such/folder'. All of them: rejoinder list"),
        ("adem", "adem has to be trained first: rejoinder train adem FILE -o FOLDER"),
    ],
)
def test_unknown_names_meet_their_nearest(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_scorer(name)


def test_progress_counts_every_example() -> None:
    done: list[int] = []
    count: Callable[[int], None] = done.append
    given = [*examples(), Example(context=(), response="")]
    run(load_scorer("context-overlap"), given, batch_size=4, progress=count)
    assert sum(done) == len(given)
