"""How fast rejoinder is, and whether it reaches what is asked of it: docs/results/performance.md.

Usage: python benchmarks/performance.py [--only NAME ...] [--earlier PYTHON] [--rounds 7] [--scale 1] [--write]

Each section of the page is measured by the script that is named NAME_speed.py or so, see `SECTIONS`. `--earlier` names
the Python of an environment with an earlier version of rejoinder. `--write` puts the sections that were measured into
the page; the others stay as they are. Peers of the metrics: see metrics_speed.py; of the judge: the extra `oracle`.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import subprocess
from importlib import import_module
from pathlib import Path

from timing import Section, environment

import rejoinder

PAGE = Path(__file__).parents[1] / "docs" / "results" / "performance.md"
SECTIONS = {
    "metrics": "metrics_speed",
    "judge": "judge_speed",
    "commands": "commands_speed",
    "training": "recurrent_throughput",
    "generation": "generation_speed",
}


def earlier_version(python: str) -> str:
    """Return the version of an earlier rejoinder, with its commit if it is a checkout."""
    ask = "import rejoinder; print(rejoinder.__version__, rejoinder.__file__)"
    shown = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True, env=environment(python))
    version, _, file = shown.stdout.strip().partition(" ")
    commit = subprocess.run(
        ["git", "-C", str(Path(file).parent), "rev-parse", "--short=7", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{version} (commit {commit.stdout.strip()})" if commit.returncode == 0 else version


def measured(name: str, options: argparse.Namespace) -> Section:
    """Return a section."""
    section: Section = import_module(SECTIONS[name]).section(options)
    return section


def write(text: str, title: str, section: str) -> str:
    """Return the page with a section in place of the one with its title, or at the end."""
    parts = re.split(r"(?m)^(?=## )", text)
    places = [place for place, part in enumerate(parts) if part.startswith(f"## {title}\n")]
    if places:
        parts[places[0]] = section + "\n"
    else:
        parts.append(section + "\n")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def beginning(text: str) -> str:
    """Return the page with a first part that counts the bars."""
    _, _, sections = text.partition("\n## ")
    reached, missed = (len(re.findall(rf"\| {word} \|$", sections, re.MULTILINE)) for word in ("yes", r"\*\*no\*\*"))
    return BEGINNING.format(reached=reached, bars=reached + missed) + "\n## " + sections


BEGINNING = """# How fast rejoinder is

rejoinder reaches {reached} of the {bars} bars on this page. A row without a bar is only for information.

"Faster by" is the time of the other program divided by that of rejoinder: above 1, rejoinder is faster. All programs \
of a table do the same work and take turns in every round, so that other work on the machine disturbs all alike. \
The ratio is the median of the rounds, with the lowest and the highest in brackets, and the median is compared with \
the bar. Read the ratios; times depend on the machine.
"""


def main() -> None:
    """Measure, print, and with --write put the sections into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--earlier", default="", metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the usual amount of work")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    earlier = f"; the earlier version is {earlier_version(options.earlier)}" if options.earlier else ""
    text = PAGE.read_text(encoding="utf-8")
    for name in options.only:
        loads = [os.getloadavg()[0]]
        section = measured(name, options)
        loads.append(os.getloadavg()[0])
        call = ["python benchmarks/performance.py --only", name, *(["--earlier PYTHON"] if options.earlier else [])]
        made = (
            f"Measured on {datetime.datetime.now(datetime.UTC).date()} with rejoinder {rejoinder.__version__}, Python "
            f"{platform.python_version()}, {os.cpu_count()} cores, load average {min(loads):.1f} to {max(loads):.1f}, "
            f"{options.rounds} rounds of {options.scale:g} of the usual work{earlier}: `{' '.join(call)} --write`"
        )
        markdown = section.markdown(made)
        print(markdown, flush=True)
        text = write(text, section.title, markdown)
    if options.write:
        PAGE.write_text(beginning(text), encoding="utf-8")


if __name__ == "__main__":
    main()
