"""The domain of judges: what the bundled ones are for, and what judges of the user's are for."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from judges_over_views import made_material, quick_judge
from rejoinder.assets import DOMAIN
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.domain import (
    FORM,
    UNLIKE,
    bundled_rule,
    forms_of,
    outside_by_text,
    read_rule,
    smoothed_share,
    write_rule,
)
from rejoinder.judges.rated import conversations, normalised_ratings
from rejoinder.judges.regression.adaptation import folds_of, of_ratings, tolerance_limit
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.scorer import OUT_OF_DOMAIN, run
from rejoinder.scoring.catalog import load_scorer

SUPPORT = Path(__file__).parent.parent / "data" / "support_replies.jsonl"
ASSISTANT = Example(
    ("Give three tips for staying healthy.",),
    "Here are three tips: 1. Eat a balanced diet with many vegetables. 2. Exercise regularly. 3. Get enough sleep.",
)
CHAT = Example(
    ("hi , how are you ?", "great , i just got back from the beach . you ?"), "i love the beach ! lucky you ."
)


def support(*, test: bool) -> list[Example]:
    """Our replies of customer support: companies of odd numbers to tune on, of even numbers to test on."""
    return [one for one in rejoinder.read(SUPPORT) if (int(one.extra["scenario"]) % 2 == 0) == test]


def flagged(examples: list[Example]) -> float:
    """The share that the rule of the bundled judges or a note places out of domain."""
    return float((bundled_rule().outside(examples) | outside_by_text(examples)).mean())


def adapted(lines: list[Example]) -> FeatureJudge:
    """The bundled judge, adapted to rated lines as `fit` does it."""
    judge = load_scorer("rejoinder")
    assert isinstance(judge, FeatureJudge)
    able = of_ratings(judge, lines, normalised_ratings(lines), conversations(lines))
    rng = np.random.default_rng(0)
    return able.adapted(folds_of(able.groups, 5, rng), rng, {"datasets": {}}, (1.0, 5.0), corrected=True)


def test_an_assistants_reply_is_out_of_domain_and_chat_is_not() -> None:
    notes = rejoinder.score([ASSISTANT, CHAT], "rejoinder").warnings
    assert notes[0][0] == OUT_OF_DOMAIN and UNLIKE in notes[0]
    assert 1 not in notes


@pytest.mark.parametrize("reply", ["", " \n", "\u200b"])
@pytest.mark.parametrize("context", [("Explain this. " * 200,), ("x = f(3); print(x);",), ASSISTANT.context])
def test_an_empty_reply_is_never_out_of_domain(reply: str, context: tuple[str, ...]) -> None:
    examples = [Example(context, reply, ("fine",))]
    assert not any(OUT_OF_DOMAIN in notes for notes in rejoinder.score(examples, "rejoinder").warnings.values())
    assert flagged(examples) == 0


def test_the_bundled_chat_is_in_the_domain() -> None:
    assert flagged(list(rejoinder.read("@conture"))) <= 0.05
    assert flagged(list(rejoinder.read("@dstc7"))) <= 0.1


def test_the_support_replies_are_as_many_of_each_kind_in_both_halves() -> None:
    for test in (False, True):
        kinds = [one.extra["kind"] for one in support(test=test)]
        assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(
            ("correct", "wrong", "rude", "refusing", "long"), 12
        )


def test_most_support_replies_are_out_of_domain() -> None:
    assert flagged(support(test=True)) >= 0.75  # docs/results/judge.md has the figures by kind


@pytest.mark.parametrize(("name", "share"), [("pandalm", 0.95), ("tulu1", 0.95), ("oasst100", 0.92)])
def test_replies_of_assistants_are_out_of_domain(shared: Path, name: str, share: float) -> None:
    pairs = rejoinder.read_pairs(shared / "data" / "preferences" / f"{name}.jsonl.gz")
    replies = [reply for pair in pairs for reply in pair.replies]
    assert flagged([one for one in replies if one.response.strip()]) >= share


def test_a_judge_adapted_to_support_replies_is_for_support_replies() -> None:
    judge = adapted(support(test=False))
    unseen = support(test=True)
    notes = run(judge, unseen).warnings
    assert sum(OUT_OF_DOMAIN in noted for noted in notes.values()) <= 0.05 * len(unseen)
    others = [
        Example(("Where is my order?",), "Ich weiß leider nicht, wo Ihr Paket ist, bitte warten Sie noch."),
        Example(("Where is my order?",), "def where(order):\n    return order.place == 'shop'\nprint(where(3));"),
    ]
    assert [run(judge, others).warnings[row][:2] for row in (0, 1)] == [
        (OUT_OF_DOMAIN, "not English"),
        (OUT_OF_DOMAIN, "code"),
    ]


def test_only_the_bundled_judges_go_by_form(tmp_path: Path) -> None:
    bundled = load_scorer("rejoinder")
    judge = quick_judge(made_material(tmp_path))
    judge.save(tmp_path / "judge")
    again = load_scorer(str(tmp_path / "judge"))
    assert isinstance(bundled, FeatureJudge) and isinstance(again, FeatureJudge)
    assert bundled.form is not None and judge.form is None and again.form is None


def test_the_bound_of_few_lines_is_the_farthest_of_many_a_rank_above_the_quantile() -> None:
    distances = np.random.default_rng(0).permutation(1000.0 * np.arange(1000)) / 1000
    assert tolerance_limit(distances[:60]) == distances[:60].max()
    assert 950 < tolerance_limit(distances) < 975


def test_a_note_on_few_lines_is_usual_sooner() -> None:
    assert smoothed_share(3 / 60, 60) > 0.05 > smoothed_share(0, 30)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: f"  {text}\n",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: unicodedata.normalize("NFD", text),
    ],
)
def test_what_a_reader_does_not_see_changes_no_form(change: object) -> None:
    assert callable(change)
    texts = [one.response for one in support(test=False)]
    examples = [Example(("Où est mon café?",), text) for text in [*texts, "Le café est là.\n\nVoilà."]]
    changed = [Example(tuple(map(change, one.context)), change(one.response)) for one in examples]
    assert (bundled_rule().outside(examples) == bundled_rule().outside(changed)).all()


def test_a_reply_is_judged_by_itself() -> None:
    examples = support(test=False)
    together = bundled_rule().outside(examples)
    assert [bool(bundled_rule().outside([one])[0]) for one in examples] == together.tolist()


def test_every_feature_has_a_name_and_is_finite() -> None:
    texts = (((), ""), (("",), "?"), (("a", "b\n\n- c"), "1. x\n2. y " * 999))
    forms = forms_of([Example(context, reply) for context, reply in texts])
    assert forms.shape == (3, len(set(FORM))) and len(FORM) == len(set(FORM)) and np.isfinite(forms).all()


def test_the_rule_comes_back_from_its_file(tmp_path: Path) -> None:
    write_rule(bundled_rule(), tmp_path / "rule.json")
    assert (tmp_path / "rule.json").read_bytes() == DOMAIN.read_bytes()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"bound": 0, "features": {"reply: words": [0, 1, 2]}}'])
def test_a_damaged_rule_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rule.json"
    path.write_text(text)
    with pytest.raises(DataError, match="rule.json"):
        read_rule(path)
