"""Recurrent layers: LSTM and GRU, plain, normalised between layers, or normalised inside the gates.

Shapes: B sequences, T steps, D inputs, H units.

`gates` is layer normalisation as Ba et al. 2016 have it: separate for the input and for the state, each with gains of
its own, and one bias, since two would add up to one. It needs a loop in Python. `layers` normalises the outputs only,
keeps the fused kernel, and is the faster choice.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence

from rejoinder.models.sizes import Cell, Normalise

State = tuple[Tensor, ...]
"""(h [B, H],) of a GRU, (h, c) of an LSTM."""


class Recurrent(nn.Module):
    """One recurrent layer of `units` (H) over `inputs` (D)."""

    def __init__(self, inputs: int, units: int, cell: Cell = "lstm", normalise: Normalise = "none") -> None:
        super().__init__()
        self.units, self.cell, self.gates = units, cell, normalise == "gates"
        self.core: nn.Module
        if self.gates:
            self.core = NormalisedLSTM(inputs, units) if cell == "lstm" else NormalisedGRU(inputs, units)
        else:
            fused = nn.LSTM if cell == "lstm" else nn.GRU
            self.core = fused(inputs, units, batch_first=True)
        self.norm = nn.LayerNorm(units) if normalise == "layers" else nn.Identity()
        _initialise(self.core)

    def forward(self, inputs: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Outputs [B, T, H] and the last state, from inputs [B, T, D] and a first state (zeros if None)."""
        if self.gates:
            outputs, state = self.core(inputs, state)
        elif self.cell == "lstm":
            outputs, last = self.core(inputs, None if state is None else (state[0][None], state[1][None]))
            state = (last[0][0], last[1][0])
        else:
            outputs, last = self.core(inputs, None if state is None else state[0][None])
            state = (last[0],)
        return self.norm(outputs), state

    def last_state(self, inputs: Tensor, lengths: Tensor) -> State:
        """The state after the first `lengths` [B] steps of inputs [B, T, D]; zeros after none."""
        sizes, any_step = lengths.clamp(min=1), (lengths > 0)[:, None]
        if self.gates:  # its loop in Python takes no packed sequences
            states = [self(row[None, :size])[1] for row, size in zip(inputs, sizes.tolist(), strict=True)]
            return tuple(torch.cat(parts) * any_step for parts in zip(*states, strict=True))
        packed = pack_padded_sequence(inputs, sizes.cpu(), batch_first=True, enforce_sorted=False)
        last = self.core(packed)[1]
        return tuple(part[0] * any_step for part in (last if self.cell == "lstm" else (last,)))

    def state_from(self, hidden: Tensor) -> State:
        """The state whose output is `hidden` [B, H]; the memory of an LSTM starts empty."""
        return (hidden, torch.zeros_like(hidden)) if self.cell == "lstm" else (hidden,)


class NormalisedLSTM(nn.Module):
    """LSTM with layer normalisation inside the gates (Ba et al. 2016)."""

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.from_input = nn.Linear(inputs, 4 * units, bias=False)
        self.from_state = nn.Linear(units, 4 * units, bias=False)
        self.input_norm, self.state_norm = nn.LayerNorm(4 * units), nn.LayerNorm(4 * units, bias=False)
        self.memory_norm = nn.LayerNorm(units)
        with torch.no_grad():
            self.input_norm.bias[units : 2 * units] = 1.0  # a forget gate that starts open learns longer spans

    def forward(self, inputs: Tensor, state: State | None) -> tuple[Tensor, State]:
        """Outputs [B, T, H] and the last (h, c)."""
        h, c = state or (inputs.new_zeros(len(inputs), self.units),) * 2
        driven = self.input_norm(self.from_input(inputs))  # [B, T, D] -> [B, T, 4H], all steps in one product
        outputs = []
        for step in driven.unbind(1):  # [B, 4H]
            ingoing, forget, new, out = (step + self.state_norm(self.from_state(h))).chunk(4, -1)  # [B, H] each
            c = forget.sigmoid() * c + ingoing.sigmoid() * new.tanh()
            h = out.sigmoid() * self.memory_norm(c).tanh()
            outputs.append(h)
        return torch.stack(outputs, 1), (h, c)


class NormalisedGRU(nn.Module):
    """GRU with layer normalisation inside the gates (Ba et al. 2016)."""

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.from_input = nn.Linear(inputs, 3 * units, bias=False)
        self.from_state = nn.Linear(units, 3 * units, bias=False)
        self.gate_input_norm, self.gate_state_norm = nn.LayerNorm(2 * units), nn.LayerNorm(2 * units, bias=False)
        self.new_input_norm, self.new_state_norm = nn.LayerNorm(units), nn.LayerNorm(units)

    def forward(self, inputs: Tensor, state: State | None) -> tuple[Tensor, State]:
        """Outputs [B, T, H] and the last (h,)."""
        h = state[0] if state is not None else inputs.new_zeros(len(inputs), self.units)
        gates, new = self.from_input(inputs).split((2 * self.units, self.units), -1)  # [B, T, 2H], [B, T, H]
        gates, new = self.gate_input_norm(gates), self.new_input_norm(new)
        outputs = []
        for gate_step, new_step in zip(gates.unbind(1), new.unbind(1), strict=True):
            state_gates, state_new = self.from_state(h).split((2 * self.units, self.units), -1)  # [B, 2H], [B, H]
            update, reset = (gate_step + self.gate_state_norm(state_gates)).sigmoid().chunk(2, -1)
            candidate = (new_step + reset * self.new_state_norm(state_new)).tanh()
            h = (1 - update) * h + update * candidate
            outputs.append(h)
        return torch.stack(outputs, 1), (h,)


def _initialise(core: nn.Module) -> None:
    """Orthogonal recurrent matrices, as in the released programs; Glorot uniform others, biases 0, forget gate 1."""
    for name, weight in core.named_parameters():
        if weight.dim() < 2:
            if name.startswith("bias"):
                nn.init.zeros_(weight)
        elif name.startswith(("weight_hh", "from_state")):
            for block in torch.split(weight.data, weight.shape[1]):
                nn.init.orthogonal_(block)
        else:
            nn.init.xavier_uniform_(weight)
    if isinstance(core, nn.LSTM):  # torch adds two biases, so only one of them gets the 1
        with torch.no_grad():
            cast("Tensor", core.bias_ih_l0)[core.hidden_size : 2 * core.hidden_size] = 1.0


def reversed_within(sequences: Tensor, lengths: Tensor) -> Tensor:
    """[B, T, D] with the first `lengths` [B] steps of each sequence in reverse order; the padding stays behind them."""
    steps = torch.arange(sequences.shape[1], device=sequences.device)
    places = torch.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps)  # [B, T]
    return sequences.gather(1, places[..., None].expand_as(sequences))


def last_step(outputs: Tensor, lengths: Tensor) -> Tensor:
    """[B, H] the output at the last step of each sequence of `lengths` [B], from [B, T, H]."""
    return outputs[torch.arange(len(outputs), device=outputs.device), lengths - 1]


def masked(values: Tensor, lengths: Tensor) -> Tensor:
    """The steps of `values` [B, T, ...] inside the lengths, one sequence after the other: [sum of lengths, ...]."""
    inside = torch.arange(values.shape[1], device=values.device) < lengths[:, None]
    return values[inside]


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Summed negative log-likelihood, nats."""
    return functional.cross_entropy(logits, targets, reduction="sum")


def drop_words(tokens: Tensor, share: float, unknown: int, generator: torch.Generator) -> Tensor:
    """Tokens [B, T] with a share of them, drawn by `generator` on its device, replaced by `unknown`."""
    draws = torch.rand(tokens.shape, generator=generator, device=generator.device).to(tokens.device)
    return tokens.masked_fill(draws < share, unknown)
