"""The domain of the bundled judges: the rule over the form of replies is fitted here, and measured on every data set.

`python -m research.domain` writes the rule again (some minutes; data in $REJOINDER_SHARED, from a checkout).
Shapes: N replies, F features.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rejoinder.assets import DOMAIN
from rejoinder.data.dialogues import read_dialogues
from rejoinder.data.read import read, read_pairs
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.judges.domain import FormRule, bundled_rule, forms_of, outside_by_text, write_rule
from rejoinder.report.written import percent
from rejoinder.scorer import FloatArray
from rejoinder.stats.shares import share_of_clusters
from rejoinder.text.normalize import visible
from research.common import CORPORA, JUDGEMENTS, Run, measured, table

PREFERENCES = "preferences"

CHAT = (
    "conture_turn",
    "engage_dailydialog",
    "zhao_dailydialog",
    "zhao_personachat",
    "gupta_dailydialog",
    "usr_personachat",
    "grade_dailydialog",
    "grade_empathetic",
    "deriu_convai2",
    "deriu_dailydialog",
    "deriu_empathetic",
    "fed_turn",
    "holistic_context",
)
NO_CONTEXT = "dstc7"
TALK = ("self_dialogue", "topical_chat", "synthetic_persona")
TARGETS = ("pandalm", "tulu1", "oasst100")
ASSISTANTS = ("hh_harmless", "lfqa_experts", "halueval_general", "dices_990")
SERVICE = ("twitter_care", "multiwoz", "taskmaster4", "ubuntu_irc")
SUPPORT = Path("tests/data/support_replies.jsonl")
KINDS = ("correct", "wrong", "rude", "refusing", "long")
# How much each group counts, whatever its size. First sentences are there because short replies have little form;
# customers' messages with a reply of a chat because such a message alone is enough.
WEIGHTS = {
    "hh_harmless": 0.7,
    "lfqa_experts": 0.5,
    "halueval_general": 1.0,
    "dices_990": 0.1,
    "twitter_care": 0.7,
    "multiwoz": 0.1,
    "taskmaster4": 0.1,
    "ubuntu_irc": 0.2,
    "support": 3.0,
    "halueval_general, first sentences": 1.0,
    "lfqa_experts, first sentences": 0.5,
    "twitter_care, first sentences": 0.7,
    "twitter_care, chat replies": 1.0,
}
TALK_WEIGHT, NO_CONTEXT_WEIGHT = 0.5, 0.5
LAST_TURN, WITHOUT = 0.3, 0.1  # of a group again, with the last turn alone (chat), and without a context
SHARE = 0.049  # of replies of chat sets that were left out, on average over the sets
CURVE = (0.02, 0.035, 0.05, 0.075, 0.1)
_PENALTY = 0.01
_MOST, _MOST_CHAT, _MOST_CORPUS, _MOST_MEASURED = 2000, 1100, 800, 3000
_TURNS = 6
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_TWEET = re.compile(r"@user|<url>|\^\w+|<user>")
_LINK = re.compile(r"\s*\b(?:open )?links?\b:?\s*")


class Group(NamedTuple):
    """Replies of one origin.

    Attributes:
        examples: N replies with their contexts.
        outside: whether they are out of the domain.
        weight: how much the group counts.
    """

    examples: Sequence[Example]
    outside: bool
    weight: float


class Row(NamedTuple):
    """What is measured of a data set.

    Attributes:
        name: of the set.
        role: what the rule saw of it.
        replies: how many there are.
        flagged: the share that is out of domain, with an interval over contexts.
    """

    name: str
    role: str
    replies: int
    flagged: Estimate


@dataclass(frozen=True)
class Measured:
    """All that is measured.

    Attributes:
        chat: a row for each chat set, by a rule that was fitted without it.
        others: all other sets, by the bundled rule.
        support: replies of customer support, by kind.
        curve: by mean share of the chat sets, the shares of the targets and of the support replies by a rule with
            the bound that gives them.
    """

    chat: Sequence[Row]
    others: Sequence[Row]
    support: Sequence[Row]
    curve: Mapping[float, Mapping[str, float]]

    @property
    def mean(self) -> float:
        """The mean share over the chat sets."""
        return float(np.mean([row.flagged.value for row in self.chat])) if self.chat else float("nan")


@dataclass(frozen=True)
class Fitted:
    """A rule, and those that were fitted without one chat set each, all with the same bound.

    Attributes:
        rule: fitted on all groups.
        without: by chat set.
    """

    rule: FormRule
    without: Mapping[str, FormRule]


def fit(groups: Mapping[str, Group]) -> Fitted:
    """Fit the rule, and choose its bound by the chat sets that rules were fitted without."""
    tables = {name: _tables(name, group) for name, group in groups.items()}
    without = {
        name: _rule([table for other, table in tables.items() if other != name]) for name in CHAT if name in groups
    }
    bound = _bound(without, {name: groups[name].examples for name in without}, SHARE)
    rule = replace(_rule(list(tables.values())), bound=bound)
    return Fitted(rule, {name: replace(one, bound=bound) for name, one in without.items()})


def _bound(without: Mapping[str, FormRule], chat: Mapping[str, Sequence[Example]], share: float) -> float:
    """The lowest bound at which rules and notes flag so large a share of left-out chat sets, on average over these."""
    sums = {name: rule.sums(forms_of(chat[name])) for name, rule in without.items()}
    noted = {name: outside_by_text(chat[name]) for name in without}
    low, high = -20.0, 20.0
    for _ in range(40):
        bound = (low + high) / 2
        flagged = float(np.mean([((sums[name] > bound) | noted[name]).mean() for name in without]))
        low, high = (bound, high) if flagged > share else (low, bound)
    return float(f"{high:.6g}")


def _curve(run: Run, fitted: Fitted) -> dict[float, dict[str, float]]:
    """See `Measured.curve`."""
    chat = {name: _rated(run, name) for name in fitted.without}
    asked_of = {name: _preferred(run, name) for name in TARGETS} | {"support": support(test=True)}
    found: dict[float, dict[str, float]] = {}
    for share in CURVE if chat else ():
        rule = replace(fitted.rule, bound=_bound(fitted.without, chat, share))
        found[share] = {name: row_of(name, "", replies, rule).flagged.value for name, replies in asked_of.items()}
    return found


def _tables(name: str, group: Group) -> list[tuple[FloatArray, bool, float]]:
    """Features of a group, and of its replies with less context, each with its side and weight."""
    tables = [(forms_of(group.examples), group.outside, group.weight)]
    if not group.outside and name != NO_CONTEXT:
        last = [replace(example, context=example.context[-1:]) for example in group.examples]
        tables.append((forms_of(last), False, group.weight * LAST_TURN))
    if name != NO_CONTEXT:
        bare = [replace(example, context=()) for example in group.examples]
        tables.append((forms_of(bare), group.outside, group.weight * WITHOUT))
    return tables


def _rule(tables: Sequence[Sequence[tuple[FloatArray, bool, float]]]) -> FormRule:
    """The rule that logistic regression finds; both sides count the same."""
    from sklearn.linear_model import LogisticRegression

    parts = [part for table in tables for part in table]
    forms = np.concatenate([part[0] for part in parts])
    outside = np.concatenate([np.full(len(part[0]), part[1]) for part in parts])
    weights = np.concatenate([np.full(len(part[0]), part[2] / len(part[0])) for part in parts])
    for side in (False, True):
        weights[outside == side] *= len(weights) / 2 / weights[outside == side].sum()
    centre = np.average(forms, axis=0, weights=weights)
    spread = np.sqrt(np.average(np.square(forms - centre), axis=0, weights=weights)) + 1e-9
    rule = FormRule(centre, spread, np.ones(forms.shape[1]))
    standard = np.clip((forms - centre) / spread, -3, 3)
    model = LogisticRegression(C=_PENALTY, max_iter=600, tol=1e-3).fit(standard, outside, sample_weight=weights)
    return replace(rule, weights=model.coef_[0])


def groups_of(run: Run) -> dict[str, Group]:
    """What the rule is fitted on; sets that are not among the data are left out."""
    lot = random.Random(run.seed)  # noqa: S311 - no secret
    chat = {name: _some(_rated(run, name), _MOST_CHAT, lot) for name in CHAT}
    found = {name: Group(examples, outside=False, weight=1.0) for name, examples in chat.items()}
    found[NO_CONTEXT] = Group(_some(_rated(run, NO_CONTEXT), 3000, lot), outside=False, weight=NO_CONTEXT_WEIGHT)
    for name in TALK:
        found[name] = Group(_some(_turns(run, name, 1), 1000, lot), outside=False, weight=TALK_WEIGHT)
    outside = {name: _some(_preferred(run, name) or _rated(run, name), _MOST, lot) for name in ASSISTANTS}
    outside |= {name: _some(halves(_turns(run, name))[0], _MOST_CORPUS, lot) for name in SERVICE}
    outside["support"] = support(test=False)
    for name in ("halueval_general", "lfqa_experts", "twitter_care"):
        outside[f"{name}, first sentences"] = [_shortened(example) for example in outside[name]]
    replies = [example.response for examples in chat.values() for example in examples[:200]]
    customers = [example for example in outside["twitter_care"] for _ in range(2)] if replies else []
    outside["twitter_care, chat replies"] = [replace(one, response=lot.choice(replies)) for one in customers]
    found |= {name: Group(examples, outside=True, weight=WEIGHTS[name]) for name, examples in outside.items()}
    return {name: group for name, group in found.items() if group.examples}


def measure(run: Run) -> Measured:
    """Measure the share of replies that are out of domain on every set among the data."""
    fitted = fit(groups_of(run))
    chat = [row_of(name, "left out", _rated(run, name), rule) for name, rule in fitted.without.items()]
    rule = bundled_rule()
    others = [row_of(name, _role(name), _preferred(run, name), rule) for name in _names(run, PREFERENCES)]
    rated = [name for name in _names(run, JUDGEMENTS) if name not in CHAT]
    others += [row_of(name, _role(name), _rated(run, name), rule) for name in rated]
    for name in (*SERVICE, "sgd"):
        rows = halves(_turns(run, name))[1][:_MOST_MEASURED]
        others.append(row_of(name, "never seen" if name == "sgd" else "other half", rows, rule))
    return Measured(chat, [row for row in others if row.replies], _support_rows(rule), _curve(run, fitted))


def _support_rows(rule: FormRule) -> list[Row]:
    """The replies of customer support that the rule never saw, by kind, and those that it was fitted on."""
    tested, fitted = support(test=True), support(test=False)
    kinds = {kind: [one for one in tested if one.extra.get("kind") == kind] for kind in KINDS}
    rows = [row_of(kind, "never seen", examples, rule) for kind, examples in kinds.items()]
    rows += [row_of("all of them", "never seen", tested, rule), row_of("the first half", "fitted on", fitted, rule)]
    return [row for row in rows if row.replies]


def row_of(name: str, role: str, examples: Iterable[Example], rule: FormRule) -> Row:
    """The share of replies that the rule or a note places out of domain; empty replies are left out."""
    replies = [example for example in examples if visible(example.response)]
    if not replies:
        return Row(name, role, 0, Estimate(value=float("nan")))
    flagged = rule.outside(replies) | outside_by_text(replies)
    contexts: dict[tuple[str, ...], int] = {}
    clusters = [contexts.setdefault(example.context or (example.response,), len(contexts)) for example in replies]
    return Row(name, role, len(replies), share_of_clusters(flagged.astype(float), np.array(clusters, np.int64)))


def _role(name: str) -> str:
    """What the rule saw of a set."""
    fitted = name in ASSISTANTS or name == NO_CONTEXT
    return "fitted on" if fitted else "never seen"


def support(*, test: bool) -> list[Example]:
    """Our replies of customer support: companies of odd numbers to tune on, of even numbers to test on."""
    if not SUPPORT.exists():
        return []
    return [one for one in read(SUPPORT) if (int(one.extra["scenario"]) % 2 == 0) == test]


def _names(run: Run, kind: str) -> list[str]:
    """The names of all sets of a kind."""
    return [path.name.removesuffix(".jsonl.gz") for path in _files(run, "*", kind)]


def _files(run: Run, name: str, kind: str) -> list[Path]:
    """Return the files of a set, or nothing."""
    return run.files(name, kind=kind) if run.has(name, kind) else []


def _rated(run: Run, name: str) -> list[Example]:
    """The rated replies of a set."""
    paths = _files(run, name, JUDGEMENTS)
    return [one for one in read(*paths) if visible(one.response)] if paths else []


def _preferred(run: Run, name: str) -> list[Example]:
    """The replies of a set of pairs."""
    paths = _files(run, name, PREFERENCES)
    replies = [reply for pair in read_pairs(*paths) for reply in pair.replies] if paths else []
    return [one for one in replies if visible(one.response)]


def _turns(run: Run, name: str, step: int = 2) -> list[Example]:
    """The turns of a corpus that answer one, at most four of a dialogue; names and links of tweets are left out."""
    paths, lot = _files(run, name, CORPORA), random.Random(run.seed)  # noqa: S311 - no secret
    found = []
    for number, dialogue in enumerate(read_dialogues(*paths, on_error=_leave_out) if paths else ()):
        turns = [_TWEET.sub("", turn).strip() for turn in dialogue.turns]
        if name == "twitter_care" and number % 2:
            turns = [_LINK.sub(". ", turn) for turn in turns]
        places = [place for place in range(1, len(turns), step) if turns[place]]
        kept = lot.sample(places, min(4, len(places))) if not dialogue.judged else []
        found += [Example(tuple(turns[max(0, place - _TURNS) : place]), turns[place]) for place in kept]
    lot.shuffle(found)
    return found


def _leave_out(_error: Exception) -> None:
    """Pass over a line of a corpus that is no conversation."""


def halves(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """Split by what the conversation begins with, so that no conversation is in both halves."""
    first: list[Example] = []
    second: list[Example] = []
    for example in examples:
        (first if sum(map(ord, example.context[0])) % 2 else second).append(example)
    return first, second


def _some(examples: Sequence[Example], most: int, lot: random.Random) -> list[Example]:
    """At most so many of them, drawn."""
    return lot.sample(list(examples), min(most, len(examples)))


def _shortened(example: Example) -> Example:
    """The example with the first sentence of its reply, or half of its words where there is one sentence."""
    sentences = [one for one in _SENTENCE.split(example.response.strip()) if re.search("[A-Za-z]", one)]
    if not sentences:
        return example
    words = sentences[0].split()
    short = sentences[0][:300] if len(sentences) > 1 else " ".join(words[: max(3, len(words) // 2)])
    return replace(example, response=short)


def domain_tables(run: Run) -> dict[str, str]:
    """Return the tables of the page of the bundled judge, and the mean share over the chat sets."""
    found = Measured((), (), (), {}) if run.small else measure(run)
    names = list(next(iter(found.curve.values()), {}))
    curve = [[percent(chat), *(percent(flagged[name]) for name in names)] for chat, flagged in found.curve.items()]
    return {
        "domain_chat": _table(found.chat, "chat set", found.mean),
        "domain_others": _table(found.others, "data set"),
        "domain_support": _table(found.support, "support replies"),
        "domain_curve": table(["mean of the chat sets", *names], curve),
        "domain_mean": f"{found.mean:.1%}",
    }


def _table(rows: Sequence[Row], what: str, mean: float | None = None) -> str:
    """Return a table of sets, and their mean."""
    cells = [[row.name, row.role, f"{row.replies:,}", measured(row.flagged, share=True)] for row in rows]
    if mean is not None and rows:
        cells.append(["mean of the sets", "", str(sum(row.replies for row in rows)), percent(mean)])
    return table([what, "by the rule", "replies", "out of domain"], cells)


def main() -> None:
    """Fit the rule, and write it into the package."""
    write_rule(fit(groups_of(Run("domain"))).rule, DOMAIN)


if __name__ == "__main__":
    main()
