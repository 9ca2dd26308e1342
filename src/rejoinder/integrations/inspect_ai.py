"""A scorer of Inspect: `Task(dataset=, solver=, scorer=reply_quality())`."""

from __future__ import annotations

from rejoinder.errors import MissingExtra
from rejoinder.integrations.judged import example_of, judged
from rejoinder.scoring.catalog import DEFAULT, load_scorer

try:
    from inspect_ai import scorer as inspect
    from inspect_ai.solver import TaskState
except ImportError as error:
    raise MissingExtra("inspect-ai", "", "A scorer of Inspect") from error


@inspect.scorer(metrics=[inspect.mean(), inspect.stderr()])  # type: ignore[untyped-decorator]
def reply_quality(scorer: str = DEFAULT, references: bool = False) -> inspect.Scorer:
    """Scores what the model said last as a reply to all that was said before.

    The value is on the scorer's own scale; a sample without a score has NaN, which Inspect leaves out of its metrics.
    So has one that is out of the scorer's domain; the explanation says why.

    Args:
        scorer: what judges: a name, or the folder of a judge.
        references: whether the target of a sample is a reply that people would have given.
    """
    loaded = load_scorer(scorer)

    async def score(state: TaskState, target: inspect.Target) -> inspect.Score:
        replied = state.output.completion
        said = [{"role": message.role, "content": message.text} for message in state.messages]
        if said and said[-1] == {"role": "assistant", "content": replied}:
            said.pop()
        found = judged(example_of({"messages": said}, replied, list(target) if references else None), loaded)
        return inspect.Score(
            value=found.score.value, answer=replied, explanation=found.words, metadata=dict(found.beside)
        )

    return score
