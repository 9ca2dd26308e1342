"""Makes inspect.eval and inspect.json: `python make_inspect.py FOLDER`, beside inspect-ai and without network."""

# mypy: ignore-errors
from __future__ import annotations

import sys
from pathlib import Path

import inspect_ai
import tiktoken
from inspect_ai import Epochs, Task
from inspect_ai.dataset import Sample
from inspect_ai.log import ProvenanceData, edit_score, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ModelOutput, get_model
from inspect_ai.scorer import Score, Target, mean, scorer
from inspect_ai.scorer._metric import ScoreEdit
from inspect_ai.solver import Generate, TaskState, generate, solver


class Bytes:
    """Stands in for the encoding that Inspect would fetch, to count tokens."""

    def encode(self, text: str, **_: object) -> list[int]:
        return list(text.encode())


tiktoken.get_encoding = lambda name: Bytes()

SAMPLES = [
    Sample(id="tea", input="Tea or coffee?", target="Tea, please.", metadata={"stars": 4}),
    Sample(
        id=2,
        input=[
            ChatMessageSystem(content="You sell boots."),
            ChatMessageUser(content="Hello."),
            ChatMessageAssistant(content="Good day!"),
            ChatMessageUser(content="Do you have boots?"),
        ],
        target=["Yes, in every size.", "We do."],
        metadata={"stars": 2},
    ),
    Sample(id="broken", input="Fail!", target=""),
]
REPLIES = ["Tea for me.", "No.", "Coffee, black, if you have any?", "Boots? Yes!"]


@scorer(metrics=[mean()])
def polite():
    async def score(state: TaskState, target: Target) -> Score:
        said = state.output.completion
        if "black" in said:
            return Score.unscored(explanation="the judge gave no grade")
        return Score(value="C" if "please" in said or "Yes" in said else "I", explanation="by its words")

    return score


@scorer(metrics={"*": [mean()]})
def shape():
    async def score(state: TaskState, target: Target) -> Score:
        said = state.output.completion
        return Score(value={"words": len(said.split()), "asks": "?" in said})

    return score


@solver
def fails_when_told():
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.input_text == "Fail!":
            raise ValueError("the shop is closed")
        return state

    return solve


def main(folder: Path) -> None:
    replies = iter([REPLIES[0], REPLIES[1], REPLIES[2], REPLIES[3]])
    task = Task(
        SAMPLES,
        solver=[fails_when_told(), generate()],
        scorer=[polite(), shape()],
        epochs=Epochs(2, "mean"),
        name="shop",
    )
    model = get_model(
        "mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm/model", one) for one in replies]
    )
    (log,) = inspect_ai.eval(task, model=model, max_samples=1, max_connections=1, fail_on_error=False, display="none")
    edit = ScoreEdit(value="C", provenance=ProvenanceData(author="ann", reason="short, but true"))
    edit_score(log, 2, "polite", edit, epoch=1)
    for sample in log.samples:
        sample.events, sample.attachments, sample.error_retries, sample.store = [], {}, [], {}
        if sample.error:
            sample.error.traceback = sample.error.traceback_ansi = ""
    log.eval.revision = None
    for suffix in ("eval", "json"):
        write_eval_log(log, str(folder / f"inspect.{suffix}"), format=suffix)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
