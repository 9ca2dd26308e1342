"""What the experiments share: their command line, rated lines and encodings, figures with intervals, and pages.

Shapes: N rated lines, D width of a vector.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import io
import os
import random
import re
import shlex
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.files import rows as file_rows
from rejoinder.data.outputs import atomic_file
from rejoinder.data.rated_lines import UNNAMED, refuse_duplicates
from rejoinder.data.read import raise_error, read
from rejoinder.errors import DataError, MissingAsset, RejoinderError, UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.judges.adem.head import Terms
from rejoinder.judges.adem.learner import Lines, encode_lines
from rejoinder.judges.crossval import MIN_CONTEXTS
from rejoinder.judges.protocol import Rows
from rejoinder.judges.rated import conversations, normalised_ratings, why_unlearnable
from rejoinder.models import load_encoder
from rejoinder.models.encoders import AverageEncoder, PortableEncoder
from rejoinder.report.markdown import escaped, markdown_table
from rejoinder.report.written import DASH, interval, number, p_value
from rejoinder.scorer import FloatArray, Signature
from rejoinder.text.vectors import read_vectors
from rejoinder.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JUDGEMENTS, CORPORA, RELEVANCE = "judgements", "corpora", "relevance"
WORD_VECTORS = "word vectors"
STATES: tuple[Literal["context", "utterance"], ...] = ("context", "utterance")
PAGE = """\
# {% block title %}{% endblock %}

Made by `{{ command }}` on {{ date }} with rejoinder {{ version }}, seed {{ seed }}, in {{ seconds }} seconds on \
{{ cores }} cores.{% if digest %} Digest of the lines: {{ digest }}.{% endif %}

{% block body %}{% endblock %}
"""
# Where the ratings come from, by what the name of a data set begins with.
_PAPERS = {
    "deriu": "Deriu et al. 2022",
    "gupta": "Gupta et al. 2019",
    "usr": "Mehri and Eskenazi 2020 (USR)",
    "grade": "Huang et al. 2020 (GRADE)",
    "zhao": "Zhao et al. 2020",
    "fed": "Mehri and Eskenazi 2020 (FED)",
    "conture": "Ghazarian et al. 2022 (ConTurE)",
    "engage": "Ghazarian et al. 2020",
    "holistic": "Pang et al. 2020",
}
# What the data sets call people, without spaces and signs.
_PEOPLE = ("human", "humans", "groundtruth", "originalgroundtruth", "newhumangenerated")
_WORDS = (  # noqa: SIM905 - shorter to read
    "i you we like love hate play music games movies dogs cats food pizza work school today tomorrow friend family "
    "really very good bad great nice home car city travel beach water coffee tea book read write run walk happy sad"
).split()


# the command line


@dataclass(frozen=True)
class Run:
    """One run of a script: its name, the folder of data, what it runs on, and where its page goes.

    `encoders` and `responders` are NAME=FOLDER; `small` takes made-up lines and bundled samples.
    """

    name: str
    data: Path | None = None
    encoders: Sequence[str] = ()
    responders: Sequence[str] = ()
    seed: int = 0
    small: bool = False
    out: Path = Path()
    command: str = ""
    start: float = field(default_factory=time.perf_counter)

    def files(self, *patterns: str, kind: str = JUDGEMENTS) -> list[Path]:
        """Return the files of the data sets with these names below `data`, or below data in $REJOINDER_SHARED.

        Raises:
            MissingAsset: there is no such folder, or no such data set.
        """
        wanted = f"Give --data with a folder that holds {kind}/*.jsonl.gz"
        if self.data is None and not os.environ.get("REJOINDER_SHARED"):
            raise MissingAsset(f"no data to run on. {wanted}, or set REJOINDER_SHARED")
        folder = (self.data or Path(os.environ["REJOINDER_SHARED"]) / "data") / kind
        files = [file for pattern in patterns for file in sorted(folder.glob(f"{pattern}.jsonl.gz"))]
        if not files:
            raise MissingAsset(f"{folder}: none of {', '.join(patterns)} is here. {wanted}")
        return files

    def has(self, name: str, kind: str = JUDGEMENTS) -> bool:
        """Return whether a data set is there."""
        try:
            return bool(self.files(name, kind=kind))
        except MissingAsset:
            return False

    def examples(self, *patterns: str) -> list[Example]:
        """Return the rated examples of data sets; made-up ones if `small`."""
        return made_up() if self.small else list(read(*self.files(*patterns)))

    def say(self, text: str) -> None:
        """Print what the script is doing, with the seconds that have passed."""
        print(f"{time.perf_counter() - self.start:6.0f} s  {text}", file=sys.stderr, flush=True)


def run_script(
    name: str,
    about: str,
    make: Callable[[Run], Page],
    options: str = "",
    arguments: Sequence[str] | None = None,
    *,
    module: str = "",
) -> None:
    """Read the command line, make the page, write it, and exit with the codes of `rejoinder`.

    Args:
        name: of the page.
        about: the help.
        make: makes the page.
        options: `encoder`, `responder` or both, as the script takes them.
        arguments: those of the command line; None takes the process's.
        module: the name of the script; by default that of the page.
    """
    module = module or name
    parser = argparse.ArgumentParser(prog=f"python -m research.{module}", description=about, allow_abbrev=False)
    parser.add_argument("--data", type=Path, metavar="DIR", help="holds judgements/*.jsonl.gz and others")
    for option in ("encoder", "responder"):
        if option in options:
            what: dict[str, Any] = {"action": "append", "default": [], "metavar": "NAME=FOLDER", "dest": f"{option}s"}
            parser.add_argument(f"--{option}", **what, help=f"{option} and its name in the tables; may be repeated")
    parser.add_argument("--small", action="store_true", help="made-up lines and bundled samples, in seconds")
    parser.add_argument("--seed", type=int, default=0, help="decides what is drawn")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="for the page and its figures")
    values = vars(parser.parse_args(arguments))
    try:
        if not values["out"].is_dir():
            raise UsageError(f"{values['out']}: no such folder. Make it first: mkdir -p {values['out']}")
        run = Run(name, command=_typed(module, values), **values)
        make(run).save(run)
    except RejoinderError as error:
        print(f"rejoinder: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(error.exit_code)


def _typed(name: str, values: Mapping[str, Any]) -> str:
    """Return the call for the page, without the places on this machine."""
    parts = ["python", "-m", f"research.{name}", *(["--data", "data"] if values["data"] else [])]
    for option in ("encoder", "responder"):
        for text in values.get(f"{option}s", ()):
            label, _, place = text.partition("=")
            parts += [f"--{option}", f"{label}={Path(place).name}"]
    parts += ["--small"] * values["small"] + (["--seed", str(values["seed"])] if values["seed"] else [])
    return shlex.join([*parts, "-o", "docs/results"])


def named(text: str, option: str) -> tuple[str, str]:
    """Return name and place of NAME=PLACE, or raise `UsageError`."""
    name, _, place = text.partition("=")
    if not (name and place):
        raise UsageError(f"{option} {text}: expected NAME=FOLDER")
    return name, place


def made_up(contexts: int = 90) -> list[Example]:
    """Return rated lines of two sets and three systems; ratings are high where words of the reference are kept."""
    rng = random.Random(0)  # noqa: S311 - no secret
    examples = []
    for place in range(contexts):
        context, reference = (" ".join(rng.choices(_WORDS, k=rng.randint(6, 10))) for _ in range(2))
        for system, kept in {"alpha": 0.7, "beta": 0.4, "gamma": 0.1}.items():
            words = [word if rng.random() < kept else rng.choice(_WORDS) for word in reference.split()]
            copies = system == "alpha" and place % 15 == 0
            rating = min(5.0, max(1.0, 1 + 4 * kept + rng.gauss(0, 0.8)))
            texts = (context,), reference if copies else " ".join(words), (reference,)
            labels: dict[str, Any] = {
                "id": f"{place}-{system}",
                "system": system,
                "dataset": "first" if place < 60 else "second",
            }
            examples.append(Example(*texts, **labels, quality={"overall": rating}, scales={"overall": (1, 5)}))
    return examples


# rated lines


@dataclass(frozen=True)
class Material:
    """N rated lines that an experiment can use.

    Attributes:
        examples: the lines.
        ratings: [N] mean overall ratings, brought from their scale to 1 to 5.
        contexts: [N] numbers of the conversations.
        datasets: [N] names of the sets.
        systems: [N] who responded; "" where it is not known.
        copies: [N] whether the response equals a reference word for word.
        read: lines read by data set.
        left_out: why lines were not used, counted.
    """

    examples: Sequence[Example]
    ratings: FloatArray
    contexts: Rows
    datasets: NDArray[np.str_]
    systems: NDArray[np.str_]
    copies: NDArray[np.bool_]
    read: Mapping[str, int]
    left_out: Mapping[str, int]

    @property
    def originals(self) -> Rows:
        """The lines whose response is no copy of a reference, ascending."""
        return np.flatnonzero(~self.copies)


def collect(examples: Sequence[Example], needs: Terms) -> Material:
    """Return the lines that are rated, single responses, and have what `needs` names.

    Raises:
        DataError: fewer than 30 conversations are left; all ratings are equal; a rated line has no scale; two lines
            have one id.
    """
    refuse_duplicates(examples)
    reasons = [why_unlearnable(example) or _lacking(example, needs) for example in examples]
    kept = [example for example, reason in zip(examples, reasons, strict=True) if not reason]
    left_out = dict(Counter(filter(None, reasons)).most_common())
    contexts = conversations(kept)
    if (count := len(set(contexts.tolist()))) < MIN_CONTEXTS:
        why = ", ".join(f"{lines} lines: {reason}" for reason, lines in left_out.items()) or "none left out"
        remedy = f"Give rated lines with {' and '.join(needs)}"
        raise DataError(f"{count} conversations to use, expected {MIN_CONTEXTS} or more ({why})", remedy)
    ratings = normalised_ratings(kept)
    if len(set(ratings.tolist())) == 1:
        raise DataError("all ratings are equal", "Give ratings that differ")
    return Material(
        kept,
        ratings,
        contexts,
        np.array([example.dataset or UNNAMED for example in kept]),
        speakers([example.system or "" for example in kept]),
        np.array([example.copies_reference for example in kept]),
        Counter(example.dataset or UNNAMED for example in examples),
        left_out,
    )


def _lacking(example: Example, needs: Terms) -> str:
    """Return what a line lacks, or ""."""
    present = {"context": example.context, "reference": example.references}
    return next((f"no {need}" for need in needs if not any(map(str.strip, present[need]))), "")


def speakers(names: Sequence[str]) -> NDArray[np.str_]:
    """Return [N] who responded, one spelling each, in small letters.

    Names that differ in case, spaces and signs alone are one (`KV-MemNN`, `kvmemnn`), in the spelling that comes first;
    people are `human`, whether they wrote the reply of the dialogue or a new one.
    """
    known: dict[str, str] = dict.fromkeys(_PEOPLE, "human")
    small = [name.casefold() for name in names]
    return np.array([known.setdefault(re.sub(r"[\W_]+", "", name) or name, name) for name in small], dtype=np.str_)


def digest_of(examples: Iterable[Example]) -> str:
    """Return twelve hexadecimal digits that distinguish these lines from others."""
    total = hashlib.sha256()
    for one in examples:
        texts = (one.id, one.context_key, one.context, one.response, one.references, one.system)
        total.update(repr((*texts, one.rating(), one.scale())).encode())
    return total.hexdigest()[:12]


def leave_one_out(labels: NDArray[np.str_]) -> Iterator[tuple[str, Rows, Rows]]:
    """Yield each of `labels` [N] in sorted order, the positions of all other items, and those of its items.

    Items with the empty label are always among the others. Source: Lowe et al. 2017, section 5.4; Deriu and Cieliebak
    2019, section 3.
    """
    for label in np.unique(labels[labels != ""]):
        yield str(label), np.flatnonzero(labels != label), np.flatnonzero(labels == label)


def split_by_name(examples: Sequence[Example]) -> dict[str, list[Example]]:
    """Return the examples by data set."""
    sets: dict[str, list[Example]] = {}
    for example in examples:
        sets.setdefault(example.dataset or UNNAMED, []).append(example)
    return sets


# encodings


class Encoding(NamedTuple):
    """N lines in the vectors of one encoder: `state` is "" if it has only one, `seconds` are those of encoding."""

    name: str
    state: str
    encoder: PortableEncoder
    lines: Lines
    seconds: float

    def usable(self, rows: Rows) -> Rows:
        """Return the rows that have a vector on every side."""
        known = [np.isfinite(side[rows]).all(axis=1) for side in self.lines.encoded.means]
        return rows[np.all(known, axis=0)]


def encode_all(examples: Sequence[Example], encoders: Sequence[str], terms: Terms) -> dict[str, list[Encoding]]:
    """Return the encodings by the name of the encoder, one for each of its states; word vectors come last.

    Args:
        examples: the lines.
        encoders: each as NAME=FOLDER or NAME=FOLDER:STATE.
        terms: sides that are encoded besides the response.

    Raises:
        UsageError: an encoder is not of this form, or two have one name; for other errors see `load_encoder`.
    """
    loaded: dict[str, dict[str, PortableEncoder]] = {}
    for text in encoders:
        name, place = named(text, "--encoder")
        chosen = [state for state in STATES if place.endswith(f":{state}")]
        folder = place.rpartition(":")[0] if chosen else place
        if name in loaded or name == WORD_VECTORS:
            raise UsageError(f"two encoders are called {name!r}. Name each differently: --encoder NAME=FOLDER")
        first = load_encoder(folder, *chosen)
        stateful = "state" in first.options
        loaded[name] = {one: load_encoder(folder, one) for one in chosen or STATES} if stateful else {"": first}
    loaded[WORD_VECTORS] = {"": AverageEncoder(read_vectors())}
    encodings: dict[str, list[Encoding]] = {}
    for name, encoders_by_state in loaded.items():
        for state, encoder in encoders_by_state.items():
            start = time.perf_counter()
            lines = encode_lines(encoder, examples, terms)
            encodings.setdefault(name, []).append(Encoding(name, state, encoder, lines, time.perf_counter() - start))
    return encodings


# tables and pages


def measured(estimate: Estimate, digits: int = 3, *, share: bool = False, signed: bool = False) -> str:
    """Return an estimate with its interval; a dash without a value."""
    return interval(estimate, digits, ends=min(digits, 2), share=share, signed=signed) if estimate.known else DASH


def with_p(estimate: Estimate) -> list[str]:
    """Return an estimate with its interval, and its p."""
    return [measured(estimate), p_value(estimate.p)]


def table(header: Sequence[str], rows: Iterable[Iterable[object]], title: str = "") -> str:
    """Return a table in Markdown; numbers without an interval have three digits."""
    texts = [[escaped(number(cell, 3) if isinstance(cell, float) else str(cell)) for cell in row] for row in rows]
    heading = f"### {escaped(title)}\n\n" if title else ""
    return heading + markdown_table([*map(escaped, header)], texts)


def data_table(material: Material) -> str:
    """Return the data sets, one a row, and why lines were left out."""
    rows: list[list[str]] = []
    for name, examples in split_by_name(material.examples).items():
        own = material.datasets == name
        counts = material.read[name], len(examples), material.copies[own].sum(), len(set(material.contexts[own]))
        paper = _PAPERS.get(name.partition("_")[0], DASH)
        rows.append([name, *(f"{count:,}" for count in counts), digest_of(examples), paper])
    sums = sum(material.read.values()), len(material.ratings), material.copies.sum(), len(set(material.contexts))
    rows.append(["all", *(f"{count:,}" for count in sums), "", ""])
    header = ["data set", "lines", "usable", "of these copies", "contexts", "digest of the usable", "paper"]
    why = ", ".join(f"{lines:,} {reason}" for reason, lines in material.left_out.items())
    return table(header, rows) + (f"\nNot usable: {why}.\n" if why else "")


def encoder_table(encodings: Mapping[str, Sequence[Encoding]]) -> str:
    """Return the encoders, one a row and state, with what decides their vectors."""
    rows = [
        [one.name, one.encoder.parts.config["kind"], one.state or DASH, one.encoder.width, _signature(one.encoder)]
        for of_encoder in encodings.values()
        for one in of_encoder
    ]
    return table(["encoder", "kind", "state", "numbers", "signature"], rows)


def _signature(encoder: PortableEncoder) -> str:
    """Return what decides the vectors of an encoder."""
    return str(Signature(encoder.options))


def quoted_table(lines: Iterable[tuple[Example, float, float]], judge: str) -> str:
    """Return quoted replies with their rating and score."""
    rows = [[one.context[-1], one.response, number(rating), number(score)] for one, rating, score in lines]
    return table(["answers", "response", "people", judge], rows)


class Page(NamedTuple):
    """A page: values of its template, figures by the last part of their file's name, and the digest of its lines."""

    values: Mapping[str, Any]
    figures: Mapping[str, Figure]
    digest: str = ""

    def text(self, run: Run) -> str:
        """Return the page in Markdown."""
        import jinja2

        here = jinja2.FileSystemLoader(Path(__file__).parent)
        loader = jinja2.ChoiceLoader([jinja2.DictLoader({"page": PAGE}), here])
        pages = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701
        pages.filters |= {"escaped": escaped, "number": number}
        about = {
            "command": run.command,
            "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
            "version": __version__,
            "seed": run.seed,
            "seconds": f"{time.perf_counter() - run.start:,.0f}",
            "cores": os.cpu_count() or 1,
            "digest": self.digest,
        }
        text = pages.get_template(f"{run.name}.md.jinja").render(**about, **self.values)
        return "\n\n".join(map(_filled, re.split(r"\n\s*\n", text.strip()))) + "\n"

    def save(self, run: Run) -> None:
        """Write the page and its figures, each whole or not at all."""
        texts = {run.out / f"{run.name}-{name}.svg": svg(figure) for name, figure in self.figures.items()}
        for file, text in {**texts, run.out / f"{run.name}.md": self.text(run)}.items():
            with atomic_file(file) as partial:
                # A lone surrogate cannot be encoded, and must not cost the whole page.
                partial.write_text(text, encoding="utf-8", errors="backslashreplace")
        run.say(f"saved in {run.out / f'{run.name}.md'}")


def _filled(chunk: str) -> str:
    """Return a paragraph in lines of at most 118 characters; other Markdown as it is."""
    chunk = chunk.strip("\n")
    plain = not re.match(r"[#|<!\-]|\*\*[^*]+\*\*$", chunk)
    return textwrap.fill(" ".join(chunk.split()), 118, break_on_hyphens=False) if plain else chunk


def svg(figure: Figure) -> str:
    """Return a figure as SVG, the same bytes each time."""
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({"svg.hashsalt": "rejoinder", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()[out.getvalue().index("<svg") :]


def panels(count: int, *, sharex: bool = False, sharey: bool = False, size: float = 2.7) -> tuple[Figure, list[Any]]:
    """Return a figure with `count` panels in a row, each `size` inches wide and high."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size * count + 0.5, size), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False, sharex=sharex, sharey=sharey)[0])


def read_json_lines(*files: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the lines of files that are no rated examples."""
    return (row.data for file in files for row in file_rows(file, raise_error))
