"""Simulated judges rate turns of self-talk: the collection of AutoJudge from end to end, with nobody in it.

    rejoinder selftalk CONTEXTS -r NAME=MODEL ... -o talk
    python recipes/simulated_judges.py talk/turns.jsonl rated.jsonl [--judges 20] [--spammers 4] [--each 3] [--seed 0]
    rejoinder ratings rated.jsonl --aggregate mace --min-kappa -1 -o labels.jsonl
    rejoinder train autojudge labels.jsonl -o judge

NO PERSON RATED ANYTHING HERE. The true rating of a turn is a stand-in, the fifth of all turns that it falls into by its
number of different words, so that classes are balanced; judges know it as often as their competence says. It shows that
the steps fit together, and nothing of how good a reply is. Every line says so (`simulated`), and every judge's name.

Source: Deriu and Cieliebak (2019), section 3: three judges a turn, from 1 to 5, labels by MACE.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

import rejoinder
from rejoinder.papers.simulated import VALUES, Crowd, crowd, rate
from rejoinder.records import OVERALL, Example, Rating


def judged(turns: list[Example], people: Crowd, each: int, rng: np.random.Generator) -> list[Example]:
    """The turns with ratings from 1 to 5 by `each` simulated judges."""
    words = [len(set(turn.response.casefold().split())) for turn in turns]
    truth = np.argsort(np.argsort(words, kind="stable"), kind="stable") * VALUES // len(turns)
    given = rate(truth, people, each, rng)
    ratings: list[list[Rating]] = [[] for _ in turns]
    for line, who, label in zip(*(part.tolist() for part in given[:3]), strict=True):
        ratings[line].append(Rating(label + 1, OVERALL, f"simulated judge {who + 1:02}"))
    return [
        replace(
            turn,
            dataset="simulated",
            ratings=tuple(own),
            scales={OVERALL: (1, VALUES)},
            extra={**turn.extra, "simulated": True, "true_rating": int(true) + 1},
        )
        for turn, own, true in zip(turns, ratings, truth, strict=True)
    ]


def main() -> None:
    """Read turns, write them rated."""
    parser = argparse.ArgumentParser(description="Simulated judges rate turns of self-talk.")
    parser.add_argument("turns", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--judges", type=int, default=20)
    parser.add_argument("--spammers", type=int, default=4)
    parser.add_argument("--each", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    people = crowd(asked.judges - asked.spammers, asked.spammers, rng)
    lines = judged(list(rejoinder.read(asked.turns)), people, asked.each, rng)
    print(f"{rejoinder.write(lines, asked.out):,} turns rated by {asked.judges} simulated judges; no person rated any")


if __name__ == "__main__":
    main()
