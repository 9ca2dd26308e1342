"""Results that are made up, small, and have everything that a report can show."""

from __future__ import annotations

import numpy as np

from rejoinder.estimates import Estimate, Verdict
from rejoinder.report.charts import curve, histogram, intervals, scatter
from rejoinder.report.layout import Case, Cases, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About, Gate, Results
from rejoinder.report.tables import Cell, Column, pivot, table
from rejoinder.report.written import p_value

LONG = "openai:http://localhost:8000/v1#Qwen2.5-72B-Instruct-AWQ"


def estimates(names: list[str]) -> list[Estimate]:
    """Return a correlation of each scorer, lower from one to the next."""
    values = [0.6 - 0.7 * place / len(names) for place in range(len(names))]
    return [
        Estimate(
            dataset="a", scorer=name, statistic="pearson", value=value, low=value - 0.08, high=value + 0.07, n=400,
            p=0.03, p_adjusted=0.06, verdict=Verdict.ABOVE, method="1,000 resamples of contexts",
        )
        for name, value in zip(names, values, strict=True)
    ]  # fmt: skip


def results(text: str = "some words", scorers: int = 3, *, pictures: bool = False) -> Results:
    """Return results with `text` at every place that a user's text can reach."""
    names = [text, *((f"scorer-{place}", f"{LONG}-{place}")[place % 2] for place in range(1, scorers))]
    found = estimates(names)
    kinds = dict(zip(names, ["judge", "metric", "baseline", "oracle baseline"] * scorers, strict=False))
    marks = {"one rater": Estimate(value=0.35), "noise ceiling": Estimate(value=0.71, low=0.6, high=0.8)}
    chart = intervals(
        "scorers", found, kinds=kinds, bands=dict.fromkeys(names, 0.07), marks=marks, apart=names[-1:],
        xlabel="Pearson correlation with human ratings", caption=f"The best scorer is {text}.",
    ) if pictures else None  # fmt: skip
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2, 500)).tolist()
    more = [
        scatter("lines", *points, xlabel="rating", ylabel=text, jitter=0.05, caption="A weak trend."),
        scatter("systems", *rng.uniform(size=(2, 5)).tolist(), labels=["a", "b", "c", "d", text], diagonal=True),
        histogram("scores", [1, 2, 3, 4], {"A": [1, 2, 3], text: [2, 0, 1]}, xlabel="score", caption="Both files."),
        curve("curve", [Estimate(scorer=text, group=str(n), value=0.1) for n in (50, 100)], xlabel="ratings"),
    ]
    columns = [
        Column("Pearson [low, high]", {"statistic": "pearson"}),
        Column("p", {"statistic": "pearson"}, lambda estimate: p_value(estimate.p), spare=True),
        *(Column(f"n{place}", {"statistic": "pearson"}, lambda estimate: f"{estimate.n:,}") for place in range(8)),
    ]
    agreement = pivot(found, "scorer", columns, title="A table", caption=f"First sentence. {text}", notes=[text])
    plain = table(("name", text), [[text, Cell(text, text)], ["another", "b"]], title="Second")
    case = Case(
        "far above", text, (text, "hello"), (("Response", text), ("Other", "b")), group=text, values={"id": text}
    )
    layout = Layout(
        title=text,
        keys=[KeyFigure.of(found[0], text, text), KeyFigure("12", "", "lines", "rated")],
        chart=chart,
        sections=[
            Section(
                "First", [agreement, None, Prose([text, "b"]), Prose([text], "Listed", listed=True), *more * pictures]
            ),
            Section(text, [plain, Cases("Cases", [case, case])]),
            Section("Third", [Prose(["Share 12 % [10, 20]."])]),
        ],
        made=[text],
    )
    scorer = {"signature": {"scorer": text, "version": 2}}
    return Results(
        command="study", estimates=tuple(found), answer=(text, "More."), warnings=(text,), layout=layout,
        about=About(scorers={text: scorer}, options={"files": [text]}), gate=Gate(passed=False, text=text),
        cases=(case,),
    )  # fmt: skip
