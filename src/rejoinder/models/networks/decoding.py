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
    """The limits of a turn.

    Attributes:
        end: the piece that ends a turn; it is no part of the result.
        forbidden: pieces that never occur.
        longest: most pieces of a turn.
        shortest: fewest pieces of a turn.
    """

    end: int
    forbidden: Collection[int]
    longest: int
    shortest: int = 0


class Generated(NamedTuple):
    """A turn as ids, and its log-probability per piece, nats, the end counted where it was reached.

    The probability of a piece is the one among the pieces that are not forbidden.
    """

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
    """Turns whose words are drawn; their scores are those of the model, whatever the temperature.

    Args:
        step: of the model.
        state: its first one, n rows.
        limits: of a turn.
        generators: n generators on the CPU; what is drawn for a row depends on its own alone.
        temperature: divides the logits.
        top_p: words are drawn from the fewest most probable words that have this probability together.
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
    """[n] words drawn from the nucleus of probabilities [n, V], see `nucleus`.

    By rejection, without sorting: a word drawn from all words is in the nucleus if the more probable words have less
    than `top_p` together, else another is drawn. Rows without a word after `_ATTEMPTS` draws are sorted.

    Args:
        probabilities: add up to 1.
        uniforms: [n, _ATTEMPTS + 1] numbers from 0 to 1 that decide.
        top_p: above 0.
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
        left = left if attempt < _ATTEMPTS else nucleus(left, top_p)
        words[rows] = draw(left, uniforms[rows, attempt])
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
    """The best turns that a beam search finds for each row of the state, by log-probability per piece, best first.

    A row is done when `width` turns of it have ended; unfinished ones no longer count.

    Args:
        step: of the model.
        state: its first one, n rows.
        limits: of a turn.
        width: w, how many beginnings are followed at a time.
        count: turns to return for each row, `width` at most.
    """
    rows, device = len(state[0]), state[0].device
    state = tuple(part.repeat_interleave(width, 0) for part in state)  # [n, ...] -> [n w, ...]
    forbidden = _Forbidden(limits, device)
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
        logs = forbidden.out_of(logits, number).log_softmax(-1)
        longer = total[:, :, None] + logs.view(rows, width, -1)  # [n, w, V]
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
    return ended.best(count)


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

    def best(self, count: int) -> list[list[Generated]]:
        """The first `count` turns of each row."""
        rows = zip(self.ids.tolist(), self.lengths.tolist(), self.scores.tolist(), strict=True)
        return [
            [
                Generated(ids[:length], score)
                for ids, length, score in zip(turns[:count], lengths, scores, strict=False)
                if score > _NEVER
            ]
            for turns, lengths, scores in rows
        ]


def _word_by_word(step: Step, state: State, limits: Limits, choose: Callable[[int, Tensor], Tensor]) -> list[Generated]:
    """Turns whose next word `choose` takes, from the number of the step and the log-probabilities [n, V]."""
    forbidden = _Forbidden(limits, state[0].device)
    done = torch.zeros(len(state[0]), dtype=torch.bool, device=state[0].device)
    words: list[Tensor] = []
    values: list[Tensor] = []
    previous: Tensor | None = None
    for number in range(limits.longest):
        logits, state = step(previous, state)
        logs = forbidden.out_of(logits, number).log_softmax(-1)
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


class _Forbidden:
    """The forbidden pieces, and the end before a turn has its shortest length."""

    def __init__(self, limits: Limits, device: torch.device) -> None:
        self.shortest = limits.shortest
        self.always = torch.tensor([*limits.forbidden], dtype=torch.long, device=device)
        self.first = torch.tensor([*limits.forbidden, limits.end], dtype=torch.long, device=device)

    def out_of(self, logits: Tensor, number: int) -> Tensor:
        """The logits [n, V] of step `number`, those of forbidden pieces set to minus infinity."""
        return logits.index_fill(1, self.first if number < self.shortest else self.always, _NEVER)


def _rows_of(words: Tensor, parents: Tensor) -> Tensor:
    """[n, k, T] the words of the beams `parents` [n, k], from [n, w, T]."""
    return words.gather(1, parents[:, :, None].expand(-1, -1, words.shape[2]))
