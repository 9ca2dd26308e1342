"""Makes deepeval.json: `python make_deepeval.py FOLDER`, beside deepeval and without network."""

# mypy: ignore-errors
from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase


class Words(BaseMetric):
    """How long the reply is, of ten words."""

    threshold = 0.5
    async_mode = False
    evaluation_model = "none"

    def measure(self, case: LLMTestCase, *_: object, **__: object) -> float:
        if "black" in case.actual_output:
            raise ValueError("the judge gave no grade")
        self.score = min(len(case.actual_output.split()) / 10, 1)
        self.reason = "by its words"
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, case: LLMTestCase, *_: object, **__: object) -> float:
        return self.measure(case)

    def is_successful(self) -> bool:
        return bool(self.success)

    @property
    def __name__(self) -> str:
        return "Words"


TEA, BOOTS = "Tea or coffee?", "Do you have boots?"
FACTS = ["We sell boots in every size."]
CASES = [
    LLMTestCase(
        input=TEA, actual_output="Tea for me.", expected_output="Tea, please.", metadata={"stars": 4}, name="tea"
    ),
    LLMTestCase(input=TEA, actual_output="Coffee, black, if you have any?", expected_output="Tea, please."),
    LLMTestCase(input=BOOTS, actual_output="No.", context=FACTS, metadata={"stars": 2}),
]


def main(folder: Path) -> None:
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    folder = folder.resolve()
    os.chdir(tempfile.mkdtemp())
    evaluate(
        CASES,
        [Words()],
        async_config=AsyncConfig(run_async=False),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        error_config=ErrorConfig(ignore_errors=True),
    )
    shutil.copy(".deepeval/.latest_run_full.json", folder / "deepeval.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
