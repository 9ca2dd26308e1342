"""Generators by name: what follows from the seed, and the draws behind every published figure."""

from __future__ import annotations

from typing import Any, get_args
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.errors import UsageError
from rejoinder.stats.bootstrap import cluster_counts
from rejoinder.stats.sampling import MOST_RESAMPLES, PURPOSES, Purpose, Sampling

NAMES = st.text(max_size=20) | st.lists(st.integers(0, 10**6), min_size=1, max_size=2)
# The first three numbers below 1,000 that numpy 2 draws with seed 0: for the data set "dstc7", for a comparison of 12
# and 7 clusters, and for a paper.
DRAWN: dict[Purpose, list[int]] = {
    "agreement": [865, 22, 410],
    "assignment": [865, 22, 410],
    "attack": [69, 539, 402],
    "audited lines": [710, 141, 257],
    "bias": [142, 772, 981],
    "ceiling": [329, 192, 344],
    "choices": [865, 22, 410],
    "comparison": [953, 696, 503],
    "contrasts": [596, 385, 173],
    "fit": [987, 184, 765],
    "geometry": [573, 107, 676],
    "halves of raters": [469, 335, 259],
    "leave one out": [976, 525, 520],
    "length": [922, 197, 740],
    "models of raters": [389, 770, 146],
    "next lines": [136, 472, 183],
    "paper": [850, 636, 511],
    "paper, dialogue quoted": [696, 382, 831],
    "paper, growing shares": [503, 894, 954],
    "paper, kept at random": [979, 80, 286],
    "paper, lines attacked": [451, 412, 517],
    "paper, lines quoted": [450, 883, 462],
    "paper, swaps": [522, 889, 992],
    "pool": [633, 363, 245],
    "re-ranking": [100, 221, 902],
    "quality": [962, 989, 153],
    "raters": [781, 80, 843],
    "raters by chance": [340, 242, 536],
    "reliability": [926, 184, 315],
    "stand-in": [367, 920, 1],
    "systems": [233, 481, 527],
    "trial": [865, 22, 410],
    "within systems": [501, 713, 387],
}


def drawn(sampling: Sampling, name: Any, purpose: Purpose) -> list[int]:
    """What a generator begins with."""
    return [int(one) for one in sampling.generator(name, purpose).integers(0, 2**62, 4)]


def test_the_draws_of_published_figures() -> None:
    assert set(DRAWN) == set(PURPOSES) == set(get_args(Purpose))
    for purpose, numbers in DRAWN.items():
        name = [12, 7] if purpose == "comparison" else [] if purpose.startswith("paper") else "dstc7"
        assert Sampling(1, 0).generator(name, purpose).integers(0, 1000, 3).tolist() == numbers, purpose


def test_a_generator_follows_from_seed_name_and_number() -> None:
    for purpose, numbers in PURPOSES.items():
        expected = np.random.default_rng(np.random.SeedSequence([3, crc32(b"all"), *numbers]))
        assert drawn(Sampling(9, 3), "all", purpose) == expected.integers(0, 2**62, 4).tolist()


@given(seed=st.integers(0, 2**40), name=NAMES, purpose=st.sampled_from(sorted(PURPOSES)), resamples=st.integers(0, 9))
def test_the_same_seed_gives_the_same_draws(seed: int, name: Any, purpose: Purpose, resamples: int) -> None:
    assert drawn(Sampling(resamples, seed), name, purpose) == drawn(Sampling(1, seed), name, purpose)
    assert drawn(Sampling(1, seed), name, purpose) != drawn(Sampling(1, seed + 1), name, purpose)
    other = f"{name}, too" if isinstance(name, str) else [*name, 1]
    assert drawn(Sampling(1, seed), name, purpose) != drawn(Sampling(1, seed), other, purpose)


@given(seed=st.integers(0, 2**40), name=st.text(max_size=20))
def test_other_purposes_give_other_draws(seed: int, name: str) -> None:
    named = {purpose for purpose, number in PURPOSES.items() if number and not purpose.startswith("paper")}
    numbered = {purpose: drawn(Sampling(1, seed), name, purpose) for purpose in named}
    different = [drawn(Sampling(1, seed), name, "agreement"), *numbered.values()]
    assert len({tuple(one) for one in different}) == len(different) == len(named) + 1


@given(seed=st.integers(0, 9), clusters=st.integers(0, 30), resamples=st.integers(0, 20))
def test_counts_are_those_of_the_generator(seed: int, clusters: int, resamples: int) -> None:
    sampling = Sampling(resamples, seed)
    found = sampling.counts(clusters, "a", "pool")
    assert found.shape == (clusters, resamples if clusters else 0)
    assert not clusters or (found == cluster_counts(clusters, resamples, sampling.generator("a", "pool"))).all()


@pytest.mark.parametrize("resamples", [-1, 1.5, "5", None, MOST_RESAMPLES + 1])
def test_resamples_that_are_none(resamples: Any) -> None:
    with pytest.raises(UsageError, match="expected a whole number from 0 to 100,000"):
        Sampling.checked(resamples, 0)


@pytest.mark.parametrize("seed", [-1, 0.5, "1", None])
def test_seeds_that_are_none(seed: Any) -> None:
    with pytest.raises(UsageError, match=f"seed is {seed!r}, expected a whole number, 0 or more"):
        Sampling.checked(10, seed)


def test_a_sampling_that_holds() -> None:
    assert Sampling.checked(np.int64(100), np.int64(2), least=100) == Sampling(100, 2)
    with pytest.raises(UsageError, match="from 100 to"):
        Sampling.checked(99, 2, least=100)
