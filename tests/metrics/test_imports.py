"""What the usual metrics and the bundled judge load: numpy and rapidfuzz, no other program that computes metrics."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"matplotlib", "nltk", "polars", "rouge_score", "sacrebleu", "scipy", "sklearn", "torch"}


@pytest.mark.parametrize("scorers", ["bleu-4 chrf rouge-l rejoinder", "bleu-2/no-stop-words bleu-2/nltk-4 bleu-4/coco"])
def test_scoring_loads_nothing_heavy(scorers: str, tmp_path: Path) -> None:
    chosen = [argument for name in scorers.split() for argument in ("-s", name)]
    program = (
        "import sys\n"
        "from rejoinder.cli import main\n"
        "try:\n"
        f"    main(['score', '@dstc7', *{chosen}, '-o', {str(tmp_path / 'scores.jsonl')!r}])\n"
        "except SystemExit as stop:\n"
        "    assert not stop.code\n"
        f"heavy = {HEAVY} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
