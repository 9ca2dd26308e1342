"""Self-talk: a responder, or two in turn, carry conversations on by themselves.

Source: AutoJudge (Deriu and Cieliebak 2019): 100 unseen contexts, 10 turns by each system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rejoinder.data.dialogues import Cut
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.responder import Context, Responder, answer, request, signature_of
from rejoinder.responders.decoding import Decoding
from rejoinder.scorer import Advance, finish, ignore
from rejoinder.scoring.catalog import load_responders
from rejoinder.scoring.replies import CUT_OFF, GivenContext, ResponderLike, as_examples, several
from rejoinder.text.normalize import visible

LOOP = "loop"
"""Why a dialogue ended whose last turn had been said in it before."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation that was carried on.

    Attributes:
        context: the turns that it began with.
        replies: the turns that were added, oldest first.
        ended: why there are fewer of them than asked for; "" where there are not.
        cut: the places of the replies that were cut off.
    """

    context: Context
    replies: tuple[str, ...]
    ended: str = ""
    cut: tuple[int, ...] = ()


class Conversation(NamedTuple):
    """A conversation as lines.

    Attributes:
        dialogue: reads as a dialogue of a corpus.
        turns: one for each turn that was added, which read as examples, ready to be rated or scored.
    """

    dialogue: dict[str, Any]
    turns: list[dict[str, Any]]


def selftalk(
    contexts: Iterable[GivenContext],
    responders: ResponderLike | Sequence[ResponderLike],
    *,
    partner: ResponderLike | None = None,
    count: int | None = None,
    turns: int = 10,
    stop_on_loop: bool = False,
    decoding: Decoding | None = None,
    seed: int = 0,
    advance: Advance = ignore,
) -> Iterator[Conversation]:
    """Let systems carry conversations on, each with itself or with a partner; yields one after the other.

    Args:
        contexts: what to begin with: examples, of which the context counts, or turns, oldest first.
        responders: one or more; see `load_responder`.
        partner: whom each talks with, in turn; None: with itself.
        count: how many different contexts to begin with, chosen by `seed`; None takes all as they come.
        turns: how many turns to add, 1 or more.
        stop_on_loop: whether a conversation ends with a turn that was said in it before.
        decoding: how a model that writes replies word by word chooses the words; None takes the usual way.
        seed: decides what is random in the replies.
        advance: called with the number of turns done.

    Raises:
        UsageError: there is no such responder, or two have one name; a context is a text and not its turns.
        MissingAsset: a file that a responder needs is not there.
        DataError: such a file is damaged, or there is not a single context.
    """
    own = several(responders)
    loaded = load_responders([*own, *([] if partner is None else [partner])], decoding=decoding)
    examples = as_examples(contexts)
    starts = list(examples) if count is None else sample_contexts(examples, count, seed)
    if not starts:
        raise DataError("no context to begin with", "Give one or more")
    other = None if partner is None else list(loaded)[-1]
    return conversations(
        loaded, starts, partner=other, turns=turns, seed=seed, stop_on_loop=stop_on_loop, advance=advance
    )


def self_talk(
    first: Responder,
    contexts: Sequence[Context],
    *,
    second: Responder | None = None,
    turns: int = 10,
    seed: int = 0,
    stop_on_loop: bool = False,
    advance: Advance = ignore,
) -> list[Talk]:
    """What `first` and `second` make of N contexts, in their order; all conversations grow turn by turn together.

    Args:
        first: says the first added turn and every other one after it.
        contexts: N contexts.
        second: says the rest; None: `first` talks with itself.
        turns: how many turns to add. A conversation whose context has no answer ends before that.
        seed: decides what is random in the replies.
        stop_on_loop: whether a conversation ends with a turn that was said in it before, case and spacing aside.
        advance: called with the number of turns done; those that an ended conversation will not have count.

    Raises:
        UsageError: `turns` is under 1.
    """
    if turns < 1:
        raise UsageError("turns is expected to be 1 or more")
    said, ended = [list(context) for context in contexts], [""] * len(contexts)
    cut: list[list[int]] = [[] for _ in contexts]
    for turn in range(turns):
        going = [row for row, reason in enumerate(ended) if not reason]
        requests = [request(tuple(said[row]), seed) for row in going]
        speaker = first if second is None or turn % 2 == 0 else second
        for row, found in zip(going, answer(speaker, requests), strict=True):
            if not found.replies or not visible(found.replies[0].text):
                ended[row] = found.reason or "an empty reply"
            else:
                text = found.replies[0].text
                if stop_on_loop and _plain(text) in map(_plain, said[row]):
                    ended[row] = LOOP
                said[row].append(text)
                cut[row] += [turn] * found.replies[0].cut
            advance(turns - turn if ended[row] else 1)
    finish(first)
    finish(second)
    talks = zip(contexts, said, ended, cut, strict=True)
    return [
        Talk(context, tuple(all_[len(context) :]), reason, tuple(halves)) for context, all_, reason, halves in talks
    ]


def random_cut(seed: int) -> Cut:
    """Where to cut a dialogue that is to be carried on: before any turn but the first, each as likely.

    Seed and dialogue alone decide. The end of a dialogue is no place to begin: a third of them end with thanks or a
    farewell.
    """
    return lambda dialogue: 1 + request(dialogue.turns, seed).seed % (len(dialogue.turns) - 1)


def sample_contexts(examples: Iterable[Example], count: int, seed: int) -> list[Example]:
    """`count` examples of different contexts, or as many as there are, by order of a hash of seed and context.

    So the choice does not depend on the order of the input, and a larger sample begins with a smaller one. Memory grows
    with `count` alone.

    Raises:
        DataError: there is not a single example.
    """
    kept: dict[int, Example] = {}
    for example in examples:
        # The seed of a request is such a hash.
        kept.setdefault(request(example.context, seed).seed, example)
        if len(kept) > 2 * count:
            kept = {rank: kept[rank] for rank in sorted(kept)[:count]}
    if not kept:
        raise DataError("no line is left to begin with", "Correct those that were skipped")
    return [kept[rank] for rank in sorted(kept)[:count]]


def conversations(
    responders: Mapping[str, Responder],
    starts: Sequence[Example],
    *,
    partner: str | None = None,
    turns: int = 10,
    seed: int = 0,
    stop_on_loop: bool = False,
    advance: Advance = ignore,
) -> Iterator[Conversation]:
    """Yield each conversation of each responder.

    Args:
        responders: by the name that they have in the lines.
        starts: what they begin with.
        partner: the one of `responders` with whom all others talk, and who begins no conversation of its own; None:
            each talks with itself.
        turns: see `self_talk`, for the rest too.
        seed: decides what is random in the replies.
        stop_on_loop: whether a conversation ends with a turn that was said in it before.
        advance: called with the number of turns done.
    """
    for name in responders:
        if name == partner:
            continue
        speakers = {name: responders[name]} | ({} if partner is None else {partner: responders[partner]})
        talks = self_talk(
            responders[name],
            [start.context for start in starts],
            second=None if partner is None else responders[partner],
            turns=turns,
            seed=seed,
            stop_on_loop=stop_on_loop,
            advance=advance,
        )
        for number, (talk, start) in enumerate(zip(talks, starts, strict=True), start=1):
            dialogue = _dialogue(talk, start, list(speakers), number)
            yield Conversation(dialogue, list(_turns(dialogue, speakers, talk.cut)))


def _dialogue(talk: Talk, start: Example, names: Sequence[str], number: int) -> dict[str, Any]:
    """The line of the conversation between those in `names` that is their `number`-th."""
    return {
        "id": f"{' with '.join(names)}/{number}",
        "turns": [*talk.context, *talk.replies],
        "system": names[0],
        **({"partner": names[1]} if len(names) > 1 else {}),
        "context_turns": len(talk.context),
        "start_id": start.id,
        **({"ended": talk.ended} if talk.ended else {}),
    }


def _turns(
    dialogue: Mapping[str, Any], speakers: Mapping[str, Responder], cut: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Yield the line of each turn that `speakers`, in this order, added; those in `cut` are marked."""
    names = list(speakers)
    signatures = [str(signature_of(responder)) for responder in speakers.values()]
    begin = dialogue["context_turns"]
    for turn, text in enumerate(dialogue["turns"][begin:]):
        yield {
            "id": f"{dialogue['id']}/{turn + 1}",
            "context": dialogue["turns"][: begin + turn],
            "response": text,
            "system": names[turn % len(names)],
            "dialogue_id": dialogue["id"],
            "start_id": dialogue["start_id"],
            "turn": turn + 1,
            "responder": signatures[turn % len(names)],
            **({CUT_OFF: True} if turn in cut else {}),
        }


def _plain(text: str) -> str:
    """`text` without what does not make it another turn: case and spacing."""
    return " ".join(text.casefold().split())
