"""The scorer under the real library: a task whose solver says what it is told to, so that no model is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rejoinder

inspect_ai = pytest.importorskip("inspect_ai")
pytestmark = pytest.mark.filterwarnings("default")

from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput  # noqa: E402
from inspect_ai.solver import solver  # noqa: E402

from rejoinder.integrations.inspect_ai import reply_quality  # noqa: E402
from rejoinder.scorer import FACTS_NOT_CHECKED  # noqa: E402

ASKED, GOOD, BAD = "do you have any pets ?", "yes , i have two dogs .", "The engine of this bus needs new oil."


@solver  # type: ignore[untyped-decorator]
def says(replies: list[str]) -> Any:
    """Gives the first sample the first reply, and so on."""

    async def solve(state: Any, generate: Any) -> Any:
        state.output = ModelOutput.from_content("none", replies[int(state.sample_id) - 1])
        state.messages.append(state.output.message)
        return state

    return solve


def evaluated(samples: list[Any], replies: list[str], folder: Path, **options: Any) -> Any:
    """The log of a task that is given these replies."""
    task = inspect_ai.Task(dataset=samples, solver=says(replies), scorer=reply_quality(**options))
    (log,) = inspect_ai.eval(task, model="mockllm/model", log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log


def test_a_task_takes_it(tmp_path: Path) -> None:
    talk = [ChatMessageUser(content="hi"), ChatMessageAssistant(content="hello !"), ChatMessageUser(content=ASKED)]
    log = evaluated([Sample(input=ASKED), Sample(input=talk), Sample(input=ASKED)], [GOOD, BAD, ""], tmp_path)
    contexts = [[ASKED], ["hi", "hello !", ASKED], [ASKED]]
    replies = zip(contexts, [GOOD, BAD, ""], strict=True)
    scores = rejoinder.score([{"context": context, "response": text} for context, text in replies])
    found = [sample.scores["reply_quality"] for sample in log.samples]
    assert [one.value for one in found[:2]] == scores.values[:2].tolist()
    assert scores.low is not None and found[0].metadata["low"] == scores.low[0]
    assert found[2].value != found[2].value and found[2].explanation == "no score: the response is empty"
    assert FACTS_NOT_CHECKED in found[0].explanation
    metrics = log.results.scores[0].metrics
    assert metrics["mean"].value == pytest.approx(scores.corpus())


def test_what_is_out_of_the_domain_has_no_value(tmp_path: Path) -> None:
    log = evaluated([Sample(input=ASKED), Sample(input=ASKED)], ["Ja, ich habe zwei Hunde.", GOOD], tmp_path)
    german, good = [sample.scores["reply_quality"] for sample in log.samples]
    assert german.value != german.value and german.explanation.startswith("no score: out of domain (not English): ")
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(good.value)


def test_a_target_is_a_reference_where_that_is_said(tmp_path: Path) -> None:
    log = evaluated([Sample(input=ASKED, target=[GOOD, BAD])], [BAD], tmp_path, scorer="bleu-1", references=True)
    assert log.samples[0].scores["reply_quality"].value == 1
