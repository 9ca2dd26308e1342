"""A log of replies and a file of labels: joined by id in study, ratings, estimate and compare."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Ran, Run

GOOD = [place % 4 != 0 for place in range(40)]
"""Whether each reply of the log is good; the judge is wrong on every tenth and has a verdict on all."""
WORDS = ("pass", "fail")
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a file of lines."""

    def written(name: str, *lines: str, encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding=encoding)
        return path

    return written


def logged(place: int, **more: object) -> str:
    verdict = GOOD[place] if place % 10 else not GOOD[place]
    line = {
        "id": f"r{place:02}",
        "question": f"What is in box number {place}?",
        "answer": f"Box number {place} is full of lamps and of {place} screws",
        "judge": {"verdict": "PASS" if verdict else "Fail", "reason": "so it seems"},
        "metadata": {"prompt_version": f"v{place % 2 + 1}"},
    }
    return json.dumps({**line, **more})


@pytest.fixture
def log(write: Write) -> Path:
    """Return a log without labels."""
    return write("log.jsonl", *map(logged, range(40)))


def labels(words: tuple[str, str] = WORDS, places: Sequence[int] = range(30), end: str = "") -> list[str]:
    return [f"r{place:02},{words[0] if GOOD[place] else words[1]}{end}" for place in places]


def counted(ran: Ran) -> dict[str, Any]:
    """Return the counts of a study: confusion counts, and what was left out."""
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    rows = [row for row in result["results"] if row["scorer"].startswith("column:") and not row["group"]]
    counts = {row["statistic"]: row["value"] for row in reversed(rows)}
    return {**counts, **result["counts"].get("labels", {}), "rated": result["counts"]["rated"]}


def study(run: Run, log: Path, *more: object) -> Ran:
    return run("study", log, "-s", "column:judge.verdict", "--resamples", 100, "--json", *more)


@pytest.mark.parametrize("words", [WORDS, ("Y", "n"), ("✓", "✗"), ("👍🏽", "👎"), ("1", "0"), ("Good", "BAD")])
def test_labels_in_any_words_meet_the_log_by_id(words: tuple[str, str], run: Run, log: Path, write: Write) -> None:
    counts = counted(study(run, log, "--rated", write("labels.csv", "id,label", *labels(words))))
    truth = {"true pass": 21, "false pass": 2, "false fail": 1, "true fail": 6, "rated": 30}
    assert counts.items() >= truth.items()


@pytest.mark.parametrize("name", ["label", "human_label", "human", "gold_label", "annotation", "rating"])
def test_names_of_labels_with_a_mark_of_order_and_semicolons(name: str, run: Run, log: Path, write: Write) -> None:
    lines = [line.replace(",", " ; ") for line in [f"id,{name}", *labels()]]
    path = write("labels.csv", *lines, encoding="utf-8-sig")
    assert counted(study(run, log, "--rated", path))["rated"] == 30


def test_empty_cells_are_no_labels(run: Run, log: Path, write: Write) -> None:
    path = write("labels.csv", "id,label", *labels(places=range(20)), *(f"r{place}," for place in range(20, 30)))
    counts = counted(study(run, log, "--rated", path))
    assert counts["rated"] == 20 and "unknown" not in counts


def test_unknown_ids_are_counted_and_named(run: Run, log: Path, write: Write) -> None:
    path = write("labels.csv", "id,label", *labels(), "zz1,pass", "zz2,fail")
    assert counted(study(run, log, "--rated", path))["unknown"] == 2
    for command in ("study", "estimate", "ratings"):
        ran = run(command, log, "--rated", path, "-s", "column:judge.verdict")
        assert ran.code == 0 and "2 labels left out: no line has the id zz1, zz2." in ran.out


def test_no_id_in_common_is_one_line_with_three_of_each(run: Run, log: Path, write: Write) -> None:
    path = write("labels.csv", "id,label", *(f"x{line}" for line in labels()))
    for command in ("study", "estimate", "ratings"):
        ran = run(command, log, "--rated", path, "-s", "column:judge.verdict")
        last = ran.err.splitlines()[-1]
        assert ran.code == 3
        assert all(part in last for part in ("'xr00', 'xr01', 'xr02'", "'r00', 'r01', 'r02'", "--map id"))


def test_labels_next_to_the_log_are_sent_to_rated(run: Run, log: Path, write: Write) -> None:
    path = write("labels.csv", "id,label", *labels())
    ran = run("study", log, path, "-s", "column:judge.verdict")
    assert ran.code == 3 and f"--rated {path}" in ran.err and "labels.csv:2" in ran.err


def test_an_id_twice_without_labellers_and_neither_a_reply_nor_an_id(run: Run, log: Path, write: Write) -> None:
    twice = study(run, log, "--rated", write("labels.csv", "id,label", *labels(), "r00,pass"))
    assert twice.code == 3 and "'r00'" in twice.err and "column rater" in twice.err
    neither = study(run, log, "--rated", write("labels.csv", "name,label", *labels()))
    assert neither.code == 3 and 'labels.csv:2: field "id"' in neither.err and "--map id=NAME" in neither.err


def test_labels_alone_need_the_log_in_a_study_of_texts(run: Run, write: Write) -> None:
    ran = run("study", write("labels.csv", "id,label", *labels()), "-s", "length")
    assert ran.code == 3 and "--rated" in ran.err


def test_a_study_of_a_column_needs_no_texts(run: Run, write: Write) -> None:
    path = write("labels.csv", "id,label,judge", *labels(end=",pass"))
    ran = run("study", path, "-s", "column:judge", "--resamples", 100, "--json")
    assert counted(ran).items() >= {"false pass": 8, "true pass": 22}.items()


def test_ratings_need_no_texts(run: Run, write: Write, tmp_path: Path) -> None:
    rows = [f"{line},{name}" for line in labels() for name in ("ann", "bob")]
    ran = run("ratings", write("labels.csv", "id,label,labeller", *rows), "-o", tmp_path / "one.jsonl")
    assert ran.code == 0 and "2 raters show" in ran.out
    lines = [json.loads(line) for line in (tmp_path / "one.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == [f"r{place:02}" for place in range(30)]
    assert [line["quality"]["overall"] for line in lines] == [float(good) for good in GOOD[:30]]


def test_files_are_called_after_their_labellers(run: Run, log: Path, write: Write) -> None:
    files = [write(f"{name}.csv", "id,label", *labels()) for name in ("ann", "bob")]
    for call in ([*files], [log, "--rated", files[0], "--rated", files[1]]):
        result = json.loads(run("ratings", *call, "--json").out)
        assert {row["rater"] for row in result["results"]} >= {"ann", "bob"}


def test_a_name_of_map_goes_to_the_file_that_has_it(run: Run, log: Path, write: Write) -> None:
    path = write("labels.csv", "request,says", *labels())
    names = "id=request,rating=says,system=metadata.prompt_version"
    ran = run("estimate", log, "--rated", path, "-s", "column:judge.verdict", "--map", names, "--json")
    systems = {row["system"] for row in json.loads(ran.out)["results"]}
    assert ran.code == 0 and systems == {"", "v1", "v2"}
    ran = study(run, log, "--rated", path, "--map", "id=request,rating=nowhere")
    assert ran.code == 2 and "no line has 'nowhere'" in ran.err


def test_what_may_be_the_system_is_offered(run: Run, log: Path, write: Write) -> None:
    path = write("labels.csv", "id,label", *labels())
    offer = "--map system=metadata.prompt_version"
    assert offer in study(run, log, "--rated", path).err
    assert offer not in study(run, log, "--rated", path, "--map", "system=metadata.prompt_version").err


def test_a_column_of_a_scorer_is_nothing_else(run: Run, write: Write) -> None:
    rows = [f"{line},pass,ann" for line in labels()]
    path = write("labels.csv", "id,human,label,judge", *rows)
    assert counted(run("study", path, "-s", "column:label", "--json", "--resamples", 100))["true pass"] == 22
    assert counted(run("study", path, "-s", "column:human", "--json", "--resamples", 100))["rated"] == 30
    ran = run("study", path, "-s", "column:judge", "--json")
    assert ran.code == 3 and "human and label could each be the rating" in ran.err


def test_a_positive_word_decides_in_the_columns_that_have_it(run: Run, write: Write) -> None:
    log = write("log.jsonl", *(logged(place, judge={"verdict": "so"}) for place in range(30)))
    labelled = write("labels.csv", "id,label", *labels(("compliant", "breach")))
    ran = study(run, log, "--rated", labelled)
    assert ran.code == 3 and "--positive" in ran.err
    verdicts = [{"verdict": "So" if place % 2 else "so so"} for place in range(30)]
    judged = write("judged.jsonl", *(logged(place, judge=verdict) for place, verdict in enumerate(verdicts)))
    ran = study(run, judged, "--rated", write("words.csv", "id,label", *labels()), "--positive", "so")
    assert counted(ran).items() >= {"true pass": 15, "true fail": 8, "false fail": 7, "false pass": 0}.items()
    ran = study(run, log, "--rated", labelled, "--positive", "complaint")
    assert ran.code == 2 and "breach, compliant, so" in ran.err


def test_a_verdict_in_other_words_is_no_fail(run: Run, write: Write) -> None:
    log = write("log.jsonl", *(logged(place, judge="safe" if place else "pass") for place in range(30)))
    ran = run("study", log, "--rated", write("labels.csv", "id,label", *labels()), "-s", "column:judge", "--json")
    assert counted(ran)["no verdict"] == 29 and "--positive" in ran.out


def several(labels_of: dict[str, Sequence[bool]]) -> list[str]:
    """Return rows of labellers, each with the labels of the first lines of the log."""
    return [
        f"r{place:02},{name},{'pass' if good else 'fail'}"
        for name, given in labels_of.items()
        for place, good in enumerate(given)
    ]


def test_the_label_is_the_majority_and_a_tie_is_left_out(run: Run, log: Path, write: Write) -> None:
    turned = [not good if place in (1, 2) else good for place, good in enumerate(GOOD[:30])]
    two = write("two.csv", "id,labeller,label", *several({"ann": GOOD[:30], "bob": turned}))
    counts = counted(study(run, log, "--rated", two))
    assert counts.items() >= {"ties": 2, "rated": 28, "true pass": 19}.items()
    assert "2 lines left out, whose labels tie: r01, r02." in run("study", log, "-s", "length", "--rated", two).out
    for tie, more in (("pass", {"true pass": 21}), ("fail", {"false pass": 4})):
        counts = counted(study(run, log, "--rated", two, "--tie", tie))
        assert counts.items() >= {"rated": 30, "ties": 2, "tied_as": tie, **more}.items()
    three = write("three.csv", "id,labeller,label", *several({"ann": GOOD[:30], "bob": turned, "cid": turned}))
    counts = counted(study(run, log, "--rated", three))
    assert counts.items() >= {"rated": 30, "true pass": 19, "false pass": 4}.items() and "ties" not in counts


def test_the_first_of_two_labels_by_one_person_counts(run: Run, log: Path, write: Write) -> None:
    rows = [*several({"ann": GOOD[:30]}), "r01,ann,fail", "r01,ann,pass"]
    counts = counted(study(run, log, "--rated", write("labels.csv", "id,labeller,label", *rows)))
    assert counts.items() >= {"differing": 1, "rated": 30, "true pass": 21}.items()


def test_labels_of_a_second_look_count_instead(run: Run, log: Path, write: Write) -> None:
    first = write("labels.csv", "id,rater,label", *(f"r{place:02},{who},fail" for who in "ab" for place in range(30)))
    right = write("relabel.csv", "id,label,look", *labels(end=",second"), "r31,pass,second", "zz,pass,second")
    counts = counted(study(run, log, "--rated", first, "--rated", right))
    assert counts.items() >= {"true pass": 22, "false pass": 2, "false fail": 1, "true fail": 6, "rated": 31}.items()
    assert counts["unknown"] == 1 and not counts["differing"]
    said = run("study", log, "-s", "column:judge.verdict", "--rated", first, "--rated", right).out
    assert "agree on 30 of 30 pairs" in said and "31 labels of a second look count instead" in said


def test_a_tie_of_a_second_look_leaves_the_first_label(run: Run, log: Path, write: Write) -> None:
    first = write("labels.csv", "id,rater,label", *(f"r{place:02},a,pass" for place in range(30)), "r30,a,fail")
    again = [f"r{place:02},{who},{word},second" for place in range(30) for who, word in zip("bc", WORDS, strict=True)]
    second = write("relabel.csv", "id,rater,label,look", *again)
    counts = counted(study(run, log, "--rated", first, "--rated", second))
    assert counts["true pass"] + counts["false fail"] == 30 and not counts.get("ties")


def test_labels_of_train_do_not_count(run: Run, log: Path, write: Write) -> None:
    rows = [f"{line},{('train', 'dev', 'test')[place % 3]}" for place, line in enumerate(labels())]
    path = write("labels.csv", "id,label,split", *rows)
    assert counted(study(run, log, "--rated", path)).items() >= {"rated": 20, "train": 10, "dev": 0}.items()
    ran = run("estimate", log, "--rated", path, "-s", "column:judge.verdict", "--json")
    found = json.loads(ran.out)["counts"]
    assert found["ratings"] == 10 and found["labels"]["train"] == found["labels"]["dev"] == 10
    path = write("labels.csv", "id,label,split", *labels(end=",train"))
    assert counted(study(run, log, "--rated", path))["rated"] == 30, "without another split it says nothing"


def test_replies_in_the_prompt_do_not_count(run: Run, log: Path, write: Write) -> None:
    prompt = write("prompt.txt", "Rate {response}.", 'Bad: "Box number 3 is full of LAMPS, and of 3 screws"')
    name = f"openai:http://127.0.0.1:9/v1#m,prompt={prompt},patience=1"
    path = write("labels.csv", "id,label", *labels())
    ran = run("study", log, "--rated", path, "-s", name, "-s", "length", "--resamples", 100)
    assert "1 label left out: the reply is in the prompt of the judge (r03)." in ran.out, ran.err


def test_compare_joins_labels_by_id_and_system(run: Run, write: Write) -> None:
    a, b = (write(f"{name}.jsonl", *(logged(place) for place in range(30))) for name in ("old", "new"))
    path = write("labels.csv", "id,label", *labels())
    call = ("compare", a, b, "-s", "column:judge.verdict", "--resamples", 100)
    ran = run(*call, "--rated", path)
    assert ran.code == 3 and "'r00' is that of several replies" in ran.err and "column system" in ran.err
    path = write("labels.csv", "id,label,system", *labels(end=",old"), *labels(end=",new"), "zz,pass,old")
    ran = run(*call, "--rated", path, "--json")
    assert ran.code == 0 and json.loads(ran.out)["counts"]["labels"]["unknown"] == 1


def test_labels_with_texts_meet_the_log_by_text(run: Run, log: Path, write: Write) -> None:
    records = [json.loads(logged(place)) for place in range(30)]
    rows = [
        json.dumps({"question": one["question"], "answer": one["answer"], "label": WORDS[not good]})
        for one, good in zip(records, GOOD, strict=False)
    ]
    other = json.dumps({"question": "And box 99?", "answer": "It is empty", "label": "fail"})
    counts = counted(study(run, log, "--rated", write("labels.jsonl", *rows, other)))
    assert counts.items() >= {"rated": 31, "true pass": 21, "no verdict": 1}.items()
