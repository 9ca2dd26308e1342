"""Turns from a trained model, one word after the other: greedy, by beam search, or sampled.

Source: Sutskever et al. 2014, section 3.2 (beam search); forbidden words, the minimum length and the normalisation by
length are those of the programs released with HRED and VHRED; Holtzman et al. 2020, section 3.1 (top-p).
Shapes: n turns to write, w beams of each, T steps, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from rejoinder.models.networks.recurrent import State

Step = Callable[[Tensor | None, State], tuple[Tensor, State]]
"""Logits [n, V] of the next word and the next state, from the word before [n] (None: before the first) and the state,
any tensors whose first axis is n."""
_NEVER = float("-inf")
_ATTEMPTS = 8
"""Draws of a word in top-p sampling before the words are sorted instead; at top-p 0.9 one word in 10 ** 8 is."""


class Limits(NamedTuple):
    """The piece that ends a turn (no part of it), pieces that never occur, and the most and fewest pieces of a turn."""

    end: int
    forbidden: Collection[int]
    longest: int
    shortest: int = 0


class Generated(NamedTuple):
    """A turn as ids, and its log-probability per piece that is not forbidden, nats; an end that was reached counts."""

    ids: list[int]
    score: float


@torch.inference_mode()
def greedy(step: Step, state: State, limits: Limits) -> list[Generated]:
    """The turns that take the most probable next word each time, one for each row of the state."""
    return _word_by_word(step, state, limits, lambda _, logs: logs.argmax(-1))


@torch.inference_mode()
def sample(
    step: Step,
    state: State,
    limits: Limits,
    generators: Sequence[torch.Generator],
    *,
    temperature: float = 1.0,
    top_p: float = 1.0,
) -> list[Generated]:
    """Turns whose words are drawn, each row by its own of n generators on the CPU, from logits over the temperature.

    Words are drawn from the fewest most probable ones that have the probability `top_p` together. The scores are those
    of the model, whatever the temperature.
    """
    attempts = 1 if top_p >= 1 else _ATTEMPTS + 1
    # [n, T, attempts] at once, because n calls of a generator at each step would cost more than the words.
    shape = (limits.longest, attempts)
    rows = [torch.rand(shape, generator=generator, device=generator.device) for generator in generators]
    uniforms = torch.stack(rows).to(state[0].device)

    def choose(number: int, logs: Tensor) -> Tensor:
        probabilities = logs.exp() if temperature == 1 else (logs / temperature).softmax(-1)
        draws = uniforms[:, number]
        return draw(probabilities, draws[:, 0]) if top_p >= 1 else draw_from_nucleus(probabilities, draws, top_p)

    return _word_by_word(step, state, limits, choose)


def draw(probabilities: Tensor, uniforms: Tensor) -> Tensor:
    """[n] words drawn from probabilities [n, V], which need not add up to 1, by numbers [n] from 0 to 1."""
    totals = probabilities.cumsum(-1)
    whole = totals[:, -1:]
    # Below the whole, because a draw of nearly 1 may round to it, and above it there is no word.
    wanted = torch.minimum(uniforms[:, None] * whole, whole.nextafter(torch.zeros_like(whole)))
    return torch.searchsorted(totals, wanted, right=True)[:, 0]


def draw_from_nucleus(probabilities: Tensor, uniforms: Tensor, top_p: float) -> Tensor:
    """Return [n] words drawn from the nucleus of probabilities [n, V], see `nucleus`.

    Uses rejection sampling, without sorting. A word drawn from all words is in the nucleus if the more probable words
    have less than `top_p` together. Otherwise, the next of the numbers `uniforms` [n, _ATTEMPTS + 1] draws another.
    Only rows whose first `_ATTEMPTS` draws are all rejected are sorted.
    """
    words = draw(probabilities, uniforms[:, 0])
    rows = torch.arange(len(words), device=words.device)  # that have no word yet
    for attempt in range(1, _ATTEMPTS + 1):
        own = probabilities if len(rows) == len(words) else probabilities[rows]
        above = own > own.gather(1, words[rows, None])
        rows = rows[(own * above).sum(-1) >= top_p]
        if not len(rows):
            return words
        left = probabilities[rows]
        words[rows] = draw(left if attempt < _ATTEMPTS else nucleus(left, top_p), uniforms[rows, attempt])
    return words


def nucleus(probabilities: Tensor, top_p: float) -> Tensor:
    """[n, V] the probabilities of the words in the nucleus, 0 for all others.

    A word is in it if the more probable words have less than `top_p` together; equally probable words are in it or out
    of it together.
    """
    ordered = probabilities.sort(-1, descending=True).values
    inside = ordered.cumsum(-1) - ordered < top_p
    least = ordered.masked_fill(~inside, torch.inf).amin(-1, keepdim=True)  # [n, 1]
    return probabilities * (probabilities >= least)


@torch.inference_mode()
def beam(step: Step, state: State, limits: Limits, width: int, count: int = 1) -> list[list[Generated]]:
    """For each row of the state the `count` best turns, by log-probability per piece, of a search of `width` (w) beams.

    A row is done when w turns of it have ended; unfinished ones no longer count.
    """
    rows, device = len(state[0]), state[0].device
    state = tuple(part.repeat_interleave(width, 0) for part in state)  # [n, ...] -> [n w, ...]
    logs_of = _log_probabilities(limits, device)
    total = torch.full((rows, width), _NEVER, device=device)  # log-probabilities of unfinished turns
    total[:, 0] = 0.0
    words = torch.zeros(rows, width, 0, dtype=torch.long, device=device)  # of unfinished turns, [n, w, steps so far]
    ended = _Ended(
        torch.full((rows, width), _NEVER, device=device),
        torch.zeros(rows, width, limits.longest, dtype=torch.long, device=device),
        torch.zeros(rows, width, dtype=torch.long, device=device),
    )
    previous: Tensor | None = None
    offset = torch.arange(rows, device=device)[:, None] * width
    for number in range(limits.longest):
        logits, state = step(previous, state)  # [n w, V]
        longer = total[:, :, None] + logs_of(logits, number).view(rows, width, -1)  # [n, w, V]
        size = longer.shape[-1]
        # Of 2w candidates at most w end, so that w are left to go on with; but only the best w count as ended.
        values, places = longer.flatten(1).topk(min(2 * width, width * size))  # [n, 2w]
        parents, pieces = places // size, places % size
        ends = (pieces == limits.end) & torch.isfinite(values)
        ends[:, width:] = False
        scores = torch.where(ends & ~ended.full(), values / (number + 1), _NEVER)
        ended = ended.merged(scores, _rows_of(words, parents))
        total, chosen = torch.where(pieces == limits.end, _NEVER, values).topk(width)  # [n, w]
        parents, pieces = parents.gather(1, chosen), pieces.gather(1, chosen)
        words = torch.cat([_rows_of(words, parents), pieces[:, :, None]], 2)
        flat = (offset + parents).flatten()
        state, previous = tuple(part[flat] for part in state), pieces.flatten()
        if ended.full().all():
            break
    else:  # unfinished turns are cut off here
        ended = ended.merged(torch.where(ended.full(), _NEVER, total / limits.longest), words)
    turns = zip(ended.ids.tolist(), ended.lengths.tolist(), ended.scores.tolist(), strict=True)
    return [
        [Generated(ids[:size], score) for ids, size, score in zip(*row, strict=True) if score > _NEVER][:count]
        for row in turns
    ]


class _Ended(NamedTuple):
    """The turns that have ended, best first: scores [n, w], ids [n, w, T] and lengths [n, w]."""

    scores: Tensor
    ids: Tensor
    lengths: Tensor

    def full(self) -> Tensor:
        """[n, 1] whether w turns of a row have ended."""
        return torch.isfinite(self.scores).all(1, keepdim=True)

    def merged(self, scores: Tensor, words: Tensor) -> _Ended:
        """The best of these and of further turns with scores [n, k] and words [n, k, t]."""
        width, length = self.scores.shape[1], words.shape[2]
        ids = torch.cat([self.ids, torch.nn.functional.pad(words, (0, self.ids.shape[2] - length))], 1)
        best, chosen = torch.cat([self.scores, scores], 1).topk(width)
        lengths = torch.cat([self.lengths, self.lengths.new_full(scores.shape, length)], 1).gather(1, chosen)
        return _Ended(best, _rows_of(ids, chosen), lengths)


def _word_by_word(step: Step, state: State, limits: Limits, choose: Callable[[int, Tensor], Tensor]) -> list[Generated]:
    """Turns whose next word `choose` takes, from the number of the step and the log-probabilities [n, V]."""
    logs_of = _log_probabilities(limits, state[0].device)
    done = torch.zeros(len(state[0]), dtype=torch.bool, device=state[0].device)
    words: list[Tensor] = []
    values: list[Tensor] = []
    previous: Tensor | None = None
    for number in range(limits.longest):
        logits, state = step(previous, state)
        logs = logs_of(logits, number)
        previous = choose(number, logs)
        values.append(logs.gather(1, previous[:, None]))
        words.append(previous)
        done |= previous == limits.end
        if done.all():
            break
    ids = torch.stack(words, 1)  # [n, T]
    ends = ids == limits.end
    counted = ends.cumsum(1) - ends.long() == 0  # up to the first end, and it
    scores = (torch.cat(values, 1) * counted).sum(1) / counted.sum(1)
    rows = zip(ids.tolist(), (counted & ~ends).sum(1).tolist(), scores.tolist(), strict=True)
    return [Generated(row[:size], score) for row, size, score in rows]


def _log_probabilities(limits: Limits, device: torch.device) -> Callable[[Tensor, int], Tensor]:
    """A function of logits [n, V] and the number of their step; forbidden pieces and too early ends have no chance."""
    always = torch.tensor([*limits.forbidden], dtype=torch.long, device=device)
    first = torch.tensor([*limits.forbidden, limits.end], dtype=torch.long, device=device)
    return lambda logits, number: logits.index_fill(
        1, first if number < limits.shortest else always, _NEVER
    ).log_softmax(-1)


def _rows_of(words: Tensor, parents: Tensor) -> Tensor:
    """[n, k, T] the words of the beams `parents` [n, k], from [n, w, T]."""
    return words.gather(1, parents[:, :, None].expand(-1, -1, words.shape[2]))
