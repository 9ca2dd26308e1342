"""Turns from a trained model, one word after the other: greedy, by beam search, or sampled.

Source: Sutskever et al. 2014, section 3.2 (beam search); what is forbidden, the minimum length and the normalisation by
length are those of the programs released with HRED and VHRED; Holtzman et al. 2020, section 3.1 (top-p).
Shapes: n turns to write, w beams of each, T steps, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

import torch
from torch import Tensor

from rejoinder.models.networks.recurrent import State

Step = Callable[[Tensor | None, State], tuple[Tensor, State]]
"""Logits [n, V] of the next word and the next state, from the word before [n] (None: before the first) and the state,
any tensors whose first axis is n."""
_NEVER = float("-inf")
_LIKELIEST = 64  # words that are sorted first; mostly they have nine tenths of the probability


class Limits(NamedTuple):
    """What a turn may be.

    Attributes:
        end: the piece that ends a turn; it is not part of what comes back.
        forbidden: pieces that may not be said.
        longest: most pieces of a turn.
        shortest: fewest pieces of a turn.
    """

    end: int
    forbidden: Collection[int]
    longest: int
    shortest: int = 0


class Written(NamedTuple):
    """A turn as ids, and its log-probability per piece, nats, the end counted where it was reached.

    The probability of a piece is that among the pieces that may be said.
    """

    ids: list[int]
    score: float


@torch.inference_mode()
def greedy(step: Step, state: State, limits: Limits) -> list[Written]:
    """The turns that take the most probable next word each time, one for each row of the state."""
    return _one_by_one(step, state, limits, lambda _, logs: logs.argmax(-1))


@torch.inference_mode()
def sample(
    step: Step, state: State, limits: Limits, draws: Tensor, *, temperature: float = 1.0, top_p: float = 1.0
) -> list[Written]:
    """Turns whose words are drawn; their scores are the model's own, whatever the temperature.

    Args:
        step: of the model.
        state: its first one, n rows.
        limits: what a turn may be.
        draws: [n, T] numbers from 0 to 1 that decide; T is at least `limits.longest`.
        temperature: divides the logits.
        top_p: words are drawn from the fewest that have this much probability together.
    """

    def choose(number: int, logs: Tensor) -> Tensor:
        probabilities = (logs / temperature).softmax(-1)
        if top_p < 1:
            probabilities = nucleus(probabilities, top_p)
        reached = probabilities.cumsum(-1)
        whole = reached[:, -1:]
        # Below the whole, because a draw of nearly 1 may round to it, and above it there is no word.
        wanted = torch.minimum(draws[:, number, None] * whole, whole.nextafter(torch.zeros_like(whole)))
        return torch.searchsorted(reached, wanted, right=True)[:, 0]

    return _one_by_one(step, state, limits, choose)


def nucleus(probabilities: Tensor, top_p: float) -> Tensor:
    """[n, V] the probabilities of the fewest words that have `top_p` together, 0 for all others.

    Of words that are as likely as each other the first stay, as if all had been sorted; but only the likeliest are,
    as many as it takes.

    Args:
        probabilities: [n, V].
        top_p: above 0; the likeliest word stays however small it is.
    """
    size, count = probabilities.shape[-1], _LIKELIEST
    while True:
        likeliest = probabilities.topk(min(count, size), dim=-1).values
        inside = (likeliest.cumsum(-1) - likeliest < top_p).long().cumprod(-1)
        if count >= size or not inside[:, -1].any():
            break
        count *= 16
    kept = inside.sum(-1, keepdim=True)
    least = likeliest.gather(-1, kept - 1)
    even = probabilities == least
    places = kept - (likeliest > least).sum(-1, keepdim=True)
    return probabilities * ((probabilities > least) | (even & (even.cumsum(-1) <= places)))


@torch.inference_mode()
def beam(step: Step, state: State, limits: Limits, width: int, count: int = 1) -> list[list[Written]]:
    """The best turns that a beam search finds for each row of the state, by log-probability per piece, best first.

    A row is done when `width` turns of it have ended; others that are under way then count no more.

    Args:
        step: of the model.
        state: its first one, n rows.
        limits: what a turn may be.
        width: w, how many beginnings are followed at a time.
        count: how many turns of each row come back, `width` at most.
    """
    rows = len(state[0])
    state = tuple(part.repeat_interleave(width, 0) for part in state)
    device = state[0].device
    barred = _Barred(limits, device)
    total = torch.full((rows, width), _NEVER, device=device)  # log-probability of what is under way
    total[:, 0] = 0.0
    said = torch.zeros(rows, width, 0, dtype=torch.long, device=device)
    done = torch.full((rows, width), _NEVER, device=device)  # score of what has ended, best first
    kept = torch.zeros(rows, width, limits.longest, dtype=torch.long, device=device)
    lengths = torch.zeros(rows, width, dtype=torch.long, device=device)
    previous: Tensor | None = None
    offset = torch.arange(rows, device=device)[:, None] * width
    for number in range(limits.longest):
        logits, state = step(previous, state)
        logits = barred.out_of(logits, number)
        longer = total[:, :, None] + logits.log_softmax(-1).view(rows, width, -1)
        size = longer.shape[-1]
        # Of 2w candidates at most w end, so that w are left to go on with; but only the best w count as ended.
        values, places = longer.flatten(1).topk(min(2 * width, width * size))
        parents, words = places // size, places % size
        ended = (words == limits.end) & torch.isfinite(values)
        ended[:, width:] = False
        open_rows = ~torch.isfinite(done).all(1, keepdim=True)
        scores = torch.where(ended & open_rows, values / (number + 1), _NEVER)
        done, kept, lengths = _merged((done, kept, lengths), scores, said, parents, number)
        total, chosen = torch.where(words == limits.end, _NEVER, values).topk(width)
        parents, words = parents.gather(1, chosen), words.gather(1, chosen)
        said = torch.cat([_rows_of(said, parents), words[:, :, None]], 2)
        flat = (offset + parents).flatten()
        state, previous = tuple(part[flat] for part in state), words.flatten()
        if torch.isfinite(done).all():
            break
    else:  # what has not ended by now is cut off
        open_rows = ~torch.isfinite(done).all(1, keepdim=True)
        scores = torch.where(open_rows, total / limits.longest, _NEVER)
        itself = torch.arange(width, device=device).expand(rows, -1)
        done, kept, lengths = _merged((done, kept, lengths), scores, said, itself, limits.longest)
    return [
        [
            Written(ids[:length], score)
            for ids, length, score in zip(row[:count], sizes, scores, strict=False)
            if score > _NEVER
        ]
        for row, sizes, scores in zip(kept.tolist(), lengths.tolist(), done.tolist(), strict=True)
    ]


def _one_by_one(step: Step, state: State, limits: Limits, choose: Callable[[int, Tensor], Tensor]) -> list[Written]:
    """Turns whose next word `choose` takes, from the number of the step and the log-probabilities [n, V]."""
    barred = _Barred(limits, state[0].device)
    done = torch.zeros(len(state[0]), dtype=torch.bool, device=state[0].device)
    said: list[Tensor] = []
    values: list[Tensor] = []
    previous: Tensor | None = None
    for number in range(limits.longest):
        logits, state = step(previous, state)
        logs = barred.out_of(logits, number).log_softmax(-1)
        previous = choose(number, logs)
        values.append(logs.gather(1, previous[:, None]))
        said.append(previous)
        done |= previous == limits.end
        if done.all():
            break
    words = torch.stack(said, 1)  # [n, T]
    ends = words == limits.end
    counted = ends.cumsum(1) - ends.long() == 0  # up to the first end, and it
    scores = (torch.cat(values, 1) * counted).sum(1) / counted.sum(1)
    rows = zip(words.tolist(), (counted & ~ends).sum(1).tolist(), scores.tolist(), strict=True)
    return [Written(row[:size], score) for row, size, score in rows]


class _Barred:
    """What may not be said: at no step, and before the shortest turn is over."""

    def __init__(self, limits: Limits, device: torch.device) -> None:
        self.shortest = limits.shortest
        self.always = torch.tensor([*limits.forbidden], dtype=torch.long, device=device)
        self.first = torch.tensor([*limits.forbidden, limits.end], dtype=torch.long, device=device)

    def out_of(self, logits: Tensor, number: int) -> Tensor:
        """The logits [n, V] of step `number`, those of what may not be said at it set to minus infinity."""
        return logits.index_fill(1, self.first if number < self.shortest else self.always, _NEVER)


def _rows_of(said: Tensor, parents: Tensor) -> Tensor:
    """[n, k, T] what the beams [n, k] in `parents` have said, from [n, w, T]."""
    return said.gather(1, parents[:, :, None].expand(-1, -1, said.shape[2]))


def _merged(
    finished: tuple[Tensor, Tensor, Tensor], scores: Tensor, said: Tensor, parents: Tensor, length: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The best of what has ended, with further turns of `length` pieces and scores [n, k] among them."""
    done, kept, lengths = finished
    fresh = kept.new_zeros(*scores.shape, kept.shape[2])
    fresh[:, :, :length] = _rows_of(said, parents)[:, :, :length]
    best, chosen = torch.cat([done, scores], 1).topk(done.shape[1])
    sizes = torch.cat([lengths, lengths.new_full(scores.shape, length)], 1).gather(1, chosen)
    return best, _rows_of(torch.cat([kept, fresh], 1), chosen), sizes
