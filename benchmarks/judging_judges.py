"""rejoinder and four other tools on one file of verdicts and labels with known truth: docs/results/judging-judges.md.

    python -m venv peers
    peers/bin/pip install judgekeeper==0.1.3 truescore==0.7.4 judgy==0.1.0 ppi-python==0.2.3
    PYTHONPATH=tests python benchmarks/judging_judges.py peers

The file is that of the tutorial (`tests/llm_bot.py`) with its 100 labels for the test. Each tool is used as its README
says, by its command or in Python.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import rejoinder
from llm_bot import LABELS, SEED, Bot, bot, write_files
from rejoinder.example import majority
from rejoinder.stats.pass_rate import pass_rate
from worlds import world

PAGE = Path(__file__).resolve().parent.parent / "docs" / "results" / "judging-judges.md"
TOOLS = ("rejoinder", "judgekeeper 0.1.3", "truescore 0.7.4", "judgy 0.1.0", "ppi-python 0.2.3")
VERSIONS = ("v1", "v2", "v3")
ROWS = ("bad replies caught", "good replies passed", "pass rate", *VERSIONS, "v3 - v2")
DRAWN = ("pass rate", "v2", "v3", "v3 - v2")
DRAWS, DRAW_SEED, LABELLED = 200, 38, 120
Share = tuple[float, float, float]
"""A value with the ends of its 95 % interval, NaN without one."""
NAN = float("nan")
PEERS = """
import json, sys
import numpy as np
from judgy import estimate_success_rate
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from truescore.correct import ppi_estimate

answers = []
for case in json.load(sys.stdin):
    labels, judge, places = (np.array(case[name]) for name in ("labels", "judge", "places"))
    rest, verdicts = np.delete(judge, places), judge[places]
    np.random.seed(0)
    judgy = estimate_success_rate(case["test_labels"], case["test_verdicts"], rest, case["iterations"])
    (low,), (high,) = ppi_mean_ci(labels, verdicts, rest, alpha=0.05)
    (point,) = ppi_mean_pointestimate(labels, verdicts, rest)
    true = ppi_estimate(judge, labels, places)
    answers.append({"judgy 0.1.0": judgy, "ppi-python 0.2.3": (point, low, high),
                    "truescore 0.7.4": (true.point, true.low, true.high)})
json.dump(answers, sys.stdout)
"""
INTRODUCTION = """# Judging judges: rejoinder and four other tools on one file

One file with known truth: the 400 replies and the 100 `test` labels of the [tutorial](../tutorials/llm-bot.md) (seed
{seed}). Five replies whose labels tie are left out. About 5 % of the labels are wrong, as with real labellers. The
judge is lax on long replies, and version 3 writes the longest. Every tool was used as its README says, and got the
same labels. Run on {date} by `benchmarks/judging_judges.py`; the versions are in the table.

The draw of the tutorial was chosen among 1,500, so that the true rates are typical, the verdict is "below" and the
corrected intervals contain the truth. So it is an example; only the many draws at the end compare the tools.

Percent with 95 % intervals. ✗: the interval does not contain the truth. A dash: the tool does not offer it.
"""
READING = """
Their statements about the judge:

- rejoinder: "{rejoinder}"
- judgekeeper: "{judgekeeper}"
- truescore: "{truescore}"

## How to read it

judgekeeper says in one clear sentence that the judge is no gate; it does not estimate pass rates. truescore and
ppi-python estimate pass rates by prediction-powered inference, as rejoinder does in another form: all three are right
here, and their intervals are nearly equally wide. truescore also reports that the judge gets more lenient with
length. judgy corrects the verdicts by the two shares of the judge (Rogan and Gladen). That is meant for labels of one
system. Used on each version with labels of all versions, as a single test set invites, it takes the leniency of the
judge for quality of version 3. With labels of each version alone it needs far more of them. None of the four compares
two versions without paired replies: the differences of truescore and ppi-python are made here from their intervals of
the two versions, as of independent estimates; for judgy only the difference of its two values is shown.

## Many draws

One file can be luck. So {draws} files were drawn (seed {draw_seed}): 800 replies, 120 labels by chance without
errors, the true rate of versions 2 and 3 equal. How often the 95 % interval contains the truth among the replies of
the file, and how wide it is:
"""


def tables(draws: Bot) -> dict[str, Any]:
    """Return replies, verdicts, and labels of most people, without ties, as arrays over replies."""
    given = defaultdict[str, list[int]](list)
    for row in draws.labels:
        if row["split"] == "test":
            given[row["id"]].append(int(row["label"] == "pass"))
    labels = {name: label for name, votes in given.items() if (label := majority(votes)) is not None}  # type: ignore[arg-type]
    return {
        "systems": np.array([line["system"] for line in draws.lines]),
        "judge": np.array([int(line["judge"] == "pass") for line in draws.lines]),
        "truth": np.array([draws.truth[line["id"]] for line in draws.lines]),
        "labels": np.array([labels.get(line["id"], -1) for line in draws.lines]),
    }


def case(data: dict[str, Any], rows: Any, *, own: bool = False, iterations: int = 20_000) -> dict[str, Any]:
    """Return what the tools get of some replies; judgy has the labels of all replies, or those of these alone."""
    judge, labels = data["judge"][rows], data["labels"][rows]
    places = np.flatnonzero(labels >= 0)
    test = rows if own else np.ones(len(data["judge"]), dtype=bool)
    test = test & (data["labels"] >= 0)
    numbers = {"labels": labels[places], "judge": judge, "places": places}
    numbers |= {"test_labels": data["labels"][test], "test_verdicts": data["judge"][test]}
    return {name: array.tolist() for name, array in numbers.items()} | {"iterations": iterations}


def ask(peers: Path, cases: list[dict[str, Any]]) -> list[dict[str, Share]]:
    """Return the pass rates that the other tools give of each case."""
    python = str(peers / "bin" / "python")
    done = subprocess.run([python, "-c", PEERS], input=json.dumps(cases), capture_output=True, text=True, check=True)
    answers: list[dict[str, Share]] = json.loads(done.stdout)
    return answers


def by_rejoinder(data: dict[str, Any], rows: Any) -> Any:
    """Return the pass rate by rejoinder, as it can be compared with another."""
    labelled, numbers = rows & (data["labels"] >= 0), np.arange(len(rows))
    labels = data["labels"][labelled].astype(float)
    return pass_rate(labels, data["judge"][labelled], numbers[labelled], data["judge"][rows], numbers[rows])


def minus(first: Share, second: Share) -> Share:
    """Return the difference of two estimates, taken as independent."""
    value, half = first[0] - second[0], float(np.hypot(first[2] - first[1], second[2] - second[1])) / 2
    return value, value - half, value + half


def of_judge(judge: Any) -> Share:
    """Return the pass rate by the verdicts alone."""
    value = float(judge.mean())
    half = 1.96 * (value * (1 - value) / len(judge)) ** 0.5
    return value, value - half, value + half


def one_file(peers: Path) -> tuple[str, dict[str, str]]:
    """Return the table of one file, and a sentence of each tool about the judge."""
    made = bot()
    data = tables(made)
    every = np.ones(len(data["judge"]), dtype=bool)
    parts = {"pass rate": every, **{name: data["systems"] == name for name in VERSIONS}}
    answers = ask(peers, [case(data, rows) for rows in parts.values()])
    alone = ask(peers, [case(data, rows, own=True) for rows in parts.values()])
    cells: dict[str, dict[str, Share]] = defaultdict(dict)
    for name, answer, own in zip(parts, answers, alone, strict=True):
        cells[name] |= answer | {"judgy, own labels": own["judgy 0.1.0"]}
        cells[name]["judge alone"] = of_judge(data["judge"][parts[name]])
    for tool in cells["v3"]:
        cells["v3 - v2"][tool] = minus(cells["v3"][tool], cells["v2"][tool])
        if "judgy" in tool:
            cells["v3 - v2"][tool] = (cells["v3 - v2"][tool][0], NAN, NAN)
    good = data["truth"] == 1
    truth = {name: float(data["truth"][rows].mean()) for name, rows in parts.items()}
    truth |= {"bad replies caught": 1 - data["judge"][~good].mean(), "good replies passed": data["judge"][good].mean()}
    truth["v3 - v2"] = truth["v3"] - truth["v2"]
    sentences = commands(peers, made, data, cells)
    columns = ["judge alone", *TOOLS[:4], "judgy, own labels", TOOLS[4]]
    lines = [f"| | truth | {' | '.join(columns)} |", f"| --- | ---: |{' ---: |' * len(columns)}"]
    for name in ROWS:
        shown = [cell(cells[name].get(tool), truth[name]) for tool in columns]
        lines.append(f"| {name} | {100 * truth[name]:.0f} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n", sentences


def commands(peers: Path, made: Bot, data: dict[str, Any], cells: dict[str, dict[str, Share]]) -> dict[str, str]:
    """Run the commands of rejoinder, judgekeeper and truescore; fill in the cells; return a sentence of each."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        write_files(folder, made)
        study = rejoinder.study(made.lines, ["column:judge"], rated=folder / LABELS)
        words = np.array(["fail", "pass", ""])  # a label of -1 is none
        rows = [
            {**line, "label": words[label], "words": len(line["reply"].split())}
            for line, label in zip(made.lines, data["labels"], strict=True)
        ]
        for name, kept in (("all.csv", rows), ("labelled.csv", [row for row in rows if row["label"]])):
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                table = csv.DictWriter(file, [*rows[0]])
                table.writeheader()
                table.writerows(kept)
        check = "check labelled.csv --judge judge --human label --input question --output reply --out judgekeeper"
        keeper = run_in(folder, peers / "bin" / "judgekeeper", check)
        audit = "audit all.csv --judge judge --gold label --covariate words --json truescore.json"
        truescore = run_in(folder, peers / "bin" / "truescore", audit)
        headline = json.loads((folder / "judgekeeper" / "report.json").read_text(encoding="utf-8"))["headline"]
        agreement = json.loads((folder / "truescore.json").read_text(encoding="utf-8"))["agreement"]
    for name, short, keepers, theirs in (
        ("bad replies caught", "TNR", "tnr", "specificity"),
        ("good replies passed", "TPR", "tpr", "sensitivity"),
    ):
        row, ends, other = (
            study.one(scorer="column:judge", statistic=short, by=""),
            headline[f"{keepers}_ci"],
            agreement[theirs],
        )
        cells[name] = {
            TOOLS[0]: (row.value, row.low, row.high),
            TOOLS[1]: (headline[f"{keepers}_mean"], ends["lo"], ends["hi"]),
            TOOLS[2]: (other["point"], other["low"], other["high"]),
        }
    for name in ("pass rate", *VERSIONS):
        row = study.one(scorer="column:judge", statistic="pass rate", system=name if name in VERSIONS else "")
        cells[name][TOOLS[0]] = (row.value, row.low, row.high)
    row = study.one(scorer="column:judge", statistic="difference of pass rate", system="v3", versus="v2")
    cells["v3 - v2"][TOOLS[0]] = (row.value, row.low, row.high)
    lines = re.search(r"words: .*", truescore)
    return {
        "rejoinder": study.answer[0],
        "judgekeeper": keeper.splitlines()[0],
        "truescore": lines[0] if lines else "",
    }


def run_in(folder: Path, program: Path, words: str) -> str:
    """Return what a command prints; some exit with another code where they find fault."""
    return subprocess.run(
        [program.resolve(), *words.split()], cwd=folder, capture_output=True, text=True, check=False
    ).stdout


def cell(share: Share | None, truth: float) -> str:
    """Return a value with its interval, and a mark where that does not contain the truth."""
    if share is None:
        return "–"
    value, low, high = share
    if np.isnan(low):
        return f"{100 * value:.0f}"
    return f"{100 * value:.0f} [{100 * low:.0f}, {100 * high:.0f}]{'' if low <= truth <= high else ' ✗'}"


def many_draws(peers: Path) -> str:
    """Return how often the intervals contain the truth, over many draws."""
    rng = np.random.default_rng(DRAW_SEED)
    data, cases = [], []
    for _ in range(DRAWS):
        drawn = world(rng)
        labels = np.full(len(drawn.truth), -1)
        chosen = drawn.by_chance(LABELLED, rng)
        labels[chosen] = drawn.truth[chosen]
        data.append({"judge": drawn.verdicts, "truth": drawn.truth, "labels": labels, "systems": drawn.versions})
        cases += [case(data[-1], rows, iterations=1000) for rows in parts_of(data[-1])]
    answers = iter(ask(peers, cases))
    hits, widths = defaultdict[tuple[str, str], list[bool]](list), defaultdict[tuple[str, str], list[float]](list)
    for drawn_data in data:
        shares: dict[str, list[Share]] = defaultdict(list)
        truth, rates = [], []
        for rows in parts_of(drawn_data):
            truth.append(float(drawn_data["truth"][rows].mean()))
            rates.append(by_rejoinder(drawn_data, rows))
            shares["judge alone"].append(of_judge(drawn_data["judge"][rows]))
            for tool, share in next(answers).items():
                shares[tool].append(share)
        for tool, (_, second, third) in shares.items():
            if "judgy" not in tool:
                shares[tool].append(minus(third, second))
        gap = rates[2].minus(rates[1])
        shares[TOOLS[0]] = [(rate.value, rate.low, rate.high) for rate in (*(rate.estimate for rate in rates), gap)]
        for tool, of_tool in shares.items():
            for name, share, true in zip(DRAWN, of_tool, (*truth, truth[2] - truth[1]), strict=False):
                hits[tool, name].append(share[1] <= true <= share[2])
                widths[tool, name].append(share[2] - share[1])
    lines = ["| | pass rate | v3 | v3 - v2 |", "| --- | ---: | ---: | ---: |"]
    for tool in ("judge alone", TOOLS[0], *TOOLS[2:]):
        row = [
            f"{100 * np.mean(hits[tool, name]):.0f} %, ± {50 * np.nanmean(widths[tool, name]):.0f}"
            if hits[tool, name]
            else "–"
            for name in ("pass rate", "v3", "v3 - v2")
        ]
        lines.append(f"| {tool} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def parts_of(data: dict[str, Any]) -> list[Any]:
    """Return which replies are all, those of version 2, and those of version 3."""
    return [np.ones(len(data["judge"]), dtype=bool), data["systems"] == 1, data["systems"] == 2]


def main(peers: Path) -> None:
    """Write the page."""
    table, sentences = one_file(peers)
    page = INTRODUCTION.format(seed=SEED, date=datetime.now(UTC).date()) + "\n" + table
    page += READING.format(draws=DRAWS, draw_seed=DRAW_SEED, **sentences) + "\n" + many_draws(peers)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
