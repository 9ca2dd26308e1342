"""Self-talk: one responder, or two in turn, continue conversations.

Source: AutoJudge (Deriu and Cieliebak 2019): 100 unseen contexts, 10 turns by each system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rejoinder.data.dialogues import Cut
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.models.decoding import Decoding
from rejoinder.responder import Context, Responder, answer, request, signature_of
from rejoinder.scorer import Advance, finish, ignore
from rejoinder.scoring.catalog import load_responders
from rejoinder.scoring.replies import CUT_OFF, GivenContext, ResponderLike, as_examples, several
from rejoinder.text.normalize import visible

LOOP = "loop"
"""Why a dialogue ended, if its last turn had been said in it before."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation: its context, and the replies that continue it."""

    context: Context
    replies: tuple[str, ...]
    ended: str = ""  # why there are fewer replies than `turns`
    cut: tuple[int, ...] = ()  # places of the replies that were cut off


class Conversation(NamedTuple):
    """A conversation as a line of a corpus of dialogues, and its added turns as lines to rate or to score."""

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
    """Yield conversations that systems continue, each with itself or with a partner.

    Args:
        contexts: first turns: examples, of which the context counts, or turns, oldest first.
        responders: one or more; see `load_responder`, for errors too.
        partner: talks with each responder, in turn; None: each talks with itself.
        count: how many different contexts to take, sampled by `seed`; by default all of them.
        turns: how many turns to add, 1 or more.
        stop_on_loop: whether a conversation ends with a turn that was said in it before.
        decoding: how a model that writes replies word by word chooses the words; by default the usual way.
        seed: of everything random in the replies.
        advance: called with the number of turns done.

    Raises:
        UsageError: two responders have one name; a context is a text and not its turns.
        DataError: there is not a single context.
    """
    partners = [] if partner is None else [partner]
    loaded = load_responders([*several(responders), *partners], decoding=decoding)
    examples = as_examples(contexts)
    starts = list(examples) if count is None else sample_contexts(examples, count, seed)
    if not starts:
        raise DataError("no context to begin with", "Add one or more")
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
    """Return N conversations of `first` and `second`, in the order of the contexts; all grow turn by turn together.

    `first` says the first added turn and every second turn after it; without `second` it talks with itself. A
    conversation whose context has no answer ends early; `advance` counts its missing turns too. For the other arguments
    see `selftalk`.

    Raises:
        UsageError: `turns` is below 1.
    """
    if turns < 1:
        raise UsageError("turns is expected to be 1 or more")
    texts, ended = [list(context) for context in contexts], [""] * len(contexts)
    cut: list[list[int]] = [[] for _ in contexts]
    for turn in range(turns):
        open_rows = [row for row, reason in enumerate(ended) if not reason]
        requests = [request(tuple(texts[row]), seed) for row in open_rows]
        speaker = first if second is None or turn % 2 == 0 else second
        for row, result in zip(open_rows, answer(speaker, requests), strict=True):
            if not result.replies or not visible(result.replies[0].text):
                ended[row] = result.reason or "an empty reply"
            else:
                reply = result.replies[0]
                if stop_on_loop and _plain(reply.text) in map(_plain, texts[row]):
                    ended[row] = LOOP
                texts[row].append(reply.text)
                cut[row] += [turn] * reply.cut
            advance(turns - turn if ended[row] else 1)
    finish(first)
    finish(second)
    return [
        Talk(context, tuple(texts[row][len(context) :]), ended[row], tuple(cut[row]))
        for row, context in enumerate(contexts)
    ]


def random_cut(seed: int) -> Cut:
    """Return where to cut a dialogue to continue it: before any turn but the first, each as likely.

    The cut depends on seed and dialogue alone. The end would be a bad place: a third of dialogues end with thanks or a
    farewell.
    """
    return lambda dialogue: 1 + request(dialogue.turns, seed).seed % (len(dialogue.turns) - 1)


def sample_contexts(examples: Iterable[Example], count: int, seed: int) -> list[Example]:
    """Return `count` examples of different contexts, or as many as there are, by order of a hash of seed and context.

    The choice does not depend on the order of the input, and a larger sample begins with a smaller one. Memory grows
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
    """Yield each conversation of each responder, all of which talk with `partner`, one of them, or with themselves."""
    partners = {} if partner is None else {partner: responders[partner]}
    contexts = [start.context for start in starts]
    for name in [name for name in responders if name != partner]:
        speakers = {name: responders[name], **partners}
        talks = self_talk(
            responders[name],
            contexts,
            second=next(iter(partners.values()), None),
            turns=turns,
            seed=seed,
            stop_on_loop=stop_on_loop,
            advance=advance,
        )
        for number, (talk, start) in enumerate(zip(talks, starts, strict=True), start=1):
            dialogue = _dialogue(talk, start, list(speakers), number)
            yield Conversation(dialogue, list(_turns(dialogue, speakers, talk.cut)))


def _dialogue(talk: Talk, start: Example, names: Sequence[str], number: int) -> dict[str, Any]:
    """Return the line of a conversation, the `number`-th between those in `names`."""
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
    """Yield the line of each added turn, by `speakers` in this order; those in `cut` are marked."""
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
    """Return a text without differences of case and spacing."""
    return " ".join(text.casefold().split())
