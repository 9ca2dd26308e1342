"""Write the inputs and the calls of the contract cases: `python tests/contract/make_inputs.py`.

Every text and number follows from seed 0. `pytest tests/contract --update-contract` then records the values.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import xlsxwriter

CASES = Path(__file__).parent / "cases"
Files = dict[str, str | bytes]

ASKED = (
    "do you have any pets ?",
    "what did you eat today ?",
    "how was your weekend ?",
    "do you like music ?",
    "where do you live ?",
    "what do you do for a living ?",
    "have you seen a good film lately ?",
    "do you play any sports ?",
    "is it cold where you are ?",
    "what are you reading ?",
    "do you have a brother or a sister ?",
    "can you cook ?",
    "what is your favorite season ?",
    "do you travel a lot ?",
    "did you sleep well ?",
    "do you drink coffee ?",
    "are you afraid of the dark ?",
    "what would you do with a million ?",
    "do you like your job ?",
    "when do you get up ?",
)
GOOD = (
    "yes , two cats and an old dog .",
    "a big bowl of rice with vegetables .",
    "i went to the sea with my sister .",
    "i play the guitar and i love jazz .",
    "in a small town near the mountains .",
    "i teach children how to read .",
    "yes , a sad one about a fisherman .",
    "i swim twice a week .",
    "it is freezing , we have snow .",
    "a novel about two friends in spain .",
    "i have one brother , he is a nurse .",
    "a little , mostly soups .",
    "autumn , when the leaves turn red .",
    "i was in italy last summer .",
    "not really , the neighbours had a party .",
    "i need two cups in the morning .",
    "only when i am alone in the house .",
    "i would buy a farm for my mother .",
    "most days , but the hours are long .",
    "at six , because of the dog .",
)
BAD = ("i do not know .", "potato potato potato", "what is your name ?", "i like trains very much .", "yes .")
SUPPORT = (
    ("Where is my order 1182?", "Your order **shipped** yesterday:\n\n1. Open **My orders**\n2. Select **Track**"),
    ("How do I reset my password?", "To reset your password:\n\n- Open the sign-in page\n- Select **Forgot password**"),
    ("Can I get a refund?", "We offer refunds within 30 days. Please see https://example.com/refunds for the steps."),
    ("Write a polite reminder.", "# Reminder\n\nDear customer,\n\nplease remember to pay invoice 12.\n\nBest regards"),
)


def chat() -> list[dict[str, Any]]:
    """Return 40 lines of short chat: 20 questions, two systems, three raters."""
    rng = random.Random(0)
    lines = []
    for number, (asked, good) in enumerate(zip(ASKED, GOOD, strict=True)):
        for system in ("old", "new"):
            fits = rng.random() < (0.5 if system == "old" else 0.8)
            response = good if fits else rng.choice(BAD)
            values = [min(5, max(1, (4 if fits else 2) + rng.choice((-1, 0, 0, 1)))) for _ in range(3)]
            lines.append(
                {
                    "id": f"{system}-{number}",
                    "context": [asked],
                    "response": response,
                    "references": [good.replace(" .", " !")],
                    "system": system,
                    "ratings": {"overall": values},
                    "raters": ["ann", "bob", "cleo"],
                    "scale": [1, 5],
                    "judge_score": min(5, max(1, values[0] + rng.choice((-1, 0, 1)))),
                }
            )
    return lines


CHAT = chat()


def jsonl(lines: Sequence[dict[str, Any]]) -> str:
    """Return JSON lines."""
    return "".join(json.dumps(line) + "\n" for line in lines)


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as CSV."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def workbook(rows: Sequence[dict[str, Any]], title: str) -> bytes:
    """Return rows as a sheet of Excel, below a row with a title."""
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(stream, {"in_memory": True})
    book.set_properties({"created": datetime(2026, 1, 1)})
    sheet = book.add_worksheet()
    for place, cells in enumerate([[title], list(rows[0]), *(list(row.values()) for row in rows)]):
        sheet.write_row(place, 0, cells)
    book.close()
    return stream.getvalue()


def without(lines: Sequence[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    """Return lines without some keys."""
    return [{key: value for key, value in line.items() if key not in keys} for line in lines]


def of(system: str) -> list[dict[str, Any]]:
    """Return the lines of one system, without its name and without references."""
    return without([line for line in CHAT if line["system"] == system], "system", "references")


def rows() -> list[dict[str, Any]]:
    """Return the lines as rows of a spreadsheet with names of its own."""
    return [
        {
            "Question": line["context"][0],
            "Answer": line["response"],
            "model": line["system"],
            "Stars": line["ratings"]["overall"][0],
            "llm": line["judge_score"],
            "Region": "EU" if number % 3 else "US",
        }
        for number, line in enumerate(CHAT)
    ]


def rater_rows(repeated: bool = False) -> list[dict[str, Any]]:
    """Return a row for each rating; with `repeated` those of ann twice, the second time as 1."""
    found = []
    for line in CHAT:
        for rater, value in zip(line["raters"], line["ratings"]["overall"], strict=True):
            row = {"id": line["id"], "prompt": line["context"][0], "answer": line["response"], "model": line["system"]}
            found.append({**row, "rater": rater, "rating": value})
            if repeated and rater == "ann":
                found.append({**row, "rater": rater, "rating": 1})
    return found


def messages() -> list[dict[str, Any]]:
    """Return chats in OpenAI's form, with a system prompt."""
    return [
        {
            "id": str(number),
            "messages": [
                {"role": "system", "content": "You are friendly."},
                {"role": "user", "content": asked},
                {"role": "assistant", "content": good},
            ],
        }
        for number, (asked, good) in enumerate(zip(ASKED[:6], GOOD[:6], strict=True))
    ]


def support() -> list[dict[str, Any]]:
    """Return 12 replies of an assistant, laid out as short chat never is."""
    return [
        {"id": str(number), "context": [asked], "response": f"{answer}\n\nCase {number}."}
        for number, (asked, answer) in enumerate(SUPPORT * 3)
    ]


def pairs() -> list[dict[str, Any]]:
    """Return 20 pairs with three votes each and the choice of a judge."""
    rng = random.Random(1)
    lines = []
    for number, (asked, good) in enumerate(zip(ASKED, GOOD, strict=True)):
        first = number % 2 == 0
        votes = ["model_a" if first else "model_b"] * 2 + [rng.choice(("model_a", "model_b", "tie"))]
        texts = (good, BAD[number % 5]) if first else (BAD[number % 5], good)
        judged = int(rng.random() < 0.8) if first else int(rng.random() < 0.2)
        line = {"id": f"p{number}", "prompt": asked, "response_a": texts[0], "response_b": texts[1], "votes": votes}
        lines.append({**line, "judge_a": judged, "judge_b": 1 - judged})
    return lines


def verdicts() -> list[dict[str, Any]]:
    """Return 60 labelled replies with the verdict of a judge, as 0 and 1."""
    rng = random.Random(2)
    found = []
    for number in range(60):
        good = rng.random() < 0.6
        verdict = int(rng.random() < (0.9 if good else 0.3))
        text = GOOD[number % 20] if good else BAD[number % 5]
        found.append(
            {"context": f"{ASKED[number % 20]} ({number})", "response": text, "rating": int(good), "v": verdict}
        )
    return found


def choices() -> list[dict[str, Any]]:
    """Return 40 choices between two replies, as a person made them."""
    return [
        {"prompt": f"{asked} ({number})", "chosen": GOOD[number % 20], "rejected": BAD[(number + number // 20) % 5]}
        for number, asked in enumerate(ASKED * 2)
    ]


def levels() -> list[dict[str, Any]]:
    """Return the lines of three systems whose level explains everything: inside each a judge knows nothing."""
    rng = random.Random(3)
    found = []
    for level, system in enumerate(("poor", "fair", "good")):
        for line in CHAT[:20]:
            values = [min(5, max(1, 1 + 2 * level + rng.choice((-1, 0, 1)))) for _ in range(3)]
            judged = 1 + 2 * level + rng.choice((-1, 0, 1))
            found.append({**line, "id": f"{system}-{line['id']}", "system": system, "ratings": {"overall": values}})
            found[-1]["judge_score"] = judged
    return without(found, "references")


# A program that scores: the number of words.
COUNT = """import json
import sys

for line in sys.stdin:
    sys.stdout.write(json.dumps({"score": len(json.loads(line)["response"].split())}) + "\\n")
    sys.stdout.flush()
"""
# A program that replies with what the last turn says.
ECHO = """import json
import sys

for line in sys.stdin:
    sys.stdout.write(json.dumps({"response": "you said : " + json.loads(line)["context"][-1]}) + "\\n")
    sys.stdout.flush()
"""

RATED, R, JUDGED = jsonl(CHAT), "rated.jsonl", without(CHAT, "references")
TWO: Files = {"old.jsonl": jsonl(of("old")), "new.jsonl": jsonl(of("new"))}
NO_IDS: Files = {f"{name}.jsonl": jsonl(without(of(name), "id")) for name in ("old", "new")}
SAME_IDS: Files = {
    f"{name}.jsonl": jsonl([{**line, "id": str(number)} for number, line in enumerate(of(name))])
    for name in ("old", "new")
}
USERS: Files = {
    "a.jsonl": jsonl([{**line, "id": f"a{n}"} for n, line in enumerate(of("old")[:12])]),
    "b.jsonl": jsonl([{**line, "id": f"b{n}"} for n, line in enumerate(of("new")[8:])]),
}
SEGMENTS: Files = {
    f"{name}.jsonl": jsonl(
        [{**line, "id": str(n), "region": "EU" if n % 2 else "US"} for n, line in enumerate(of(name))]
    )
    for name in ("old", "new")
}
S: Files = {"support.jsonl": jsonl(support())}
ASSISTANTS: Files = {
    "a.jsonl": jsonl(support()),
    "b.jsonl": jsonl([{**line, "response": line["response"] + "!"} for line in support()]),
}
FEW = "--resamples 200 --json"

TABLE: dict[str, tuple[Files, str]] = {
    "score/openai_messages": ({"log.jsonl": jsonl(messages())}, "score log.jsonl -o scores.jsonl"),
    "score/csv_keeps_columns": ({"table.csv": table(rows())}, "score table.csv -s length -o scored.csv"),
    "score/csv_judge": ({"table.csv": table(rows()[:8])}, "score table.csv -o scored.csv"),
    "score/several_files": (dict(TWO), "score old.jsonl new.jsonl -s length -o scores.jsonl"),
    "score/metrics": ({R: RATED}, f"score {R} -s bleu-2 -s rouge-l -s chrf -s embedding-average -o scores.jsonl"),
    "score/metrics_need_reference": (
        {R: jsonl([*CHAT[:3], *without(CHAT[3:6], "references")])},
        f"score {R} -s bleu-2 -o scores.jsonl",
    ),
    "score/explain": ({R: jsonl(CHAT[:4])}, f"score {R} -s rejoinder --explain -o scores.jsonl"),
    "score/with_references": ({R: jsonl(CHAT[:6])}, f"score {R} -s rejoinder -o scores.jsonl"),
    "score/level_dialogue": (
        {
            "talk.jsonl": jsonl(
                [
                    {
                        "id": "t",
                        "messages": [
                            {"role": role, "content": text}
                            for asked, good in zip(ASKED[:4], GOOD[:4], strict=True)
                            for role, text in (("user", asked), ("assistant", good))
                        ],
                    }
                ]
            )
        },
        "score talk.jsonl --level dialogue -o scores.jsonl",
    ),
    "score/all_turns": (
        {
            "talk.jsonl": jsonl(
                [
                    {
                        "id": "t",
                        "messages": [
                            {"role": role, "content": text}
                            for asked, good in zip(ASKED[:3], GOOD[:3], strict=True)
                            for role, text in (("user", asked), ("assistant", good))
                        ],
                    }
                ]
            )
        },
        "score talk.jsonl --turns all -s length -o scores.jsonl",
    ),
    "score/column": ({R: jsonl(CHAT[:6])}, f"score {R} -s column:judge_score -o scores.jsonl"),
    "score/scale": ({R: jsonl(CHAT[:6])}, f"score {R} -s rejoinder --scale 0,100 -o scores.jsonl"),
    "score/empty_reply": (
        {
            R: jsonl(
                [{"id": "1", "context": ["hi"], "response": ""}, {"id": "2", "context": ["hi"], "response": "hello"}]
            )
        },
        f"score {R} -o scores.jsonl",
    ),
    "score/out_of_domain": (dict(S), "score support.jsonl -o scores.jsonl"),
    "score/out_of_domain_keep": (dict(S), "score support.jsonl --out-of-domain keep -o scores.jsonl"),
    "score/pairs": ({"pairs.jsonl": jsonl(pairs()[:4])}, "score pairs.jsonl -s length -o scores.jsonl"),
    "score/broken_line": ({"broken.jsonl": jsonl(CHAT[:1]) + "{broken\n"}, "score broken.jsonl -o scores.jsonl"),
    "score/skip_bad_lines": (
        {"broken.jsonl": jsonl(CHAT[:1]) + "{broken\n" + jsonl(CHAT[1:3])},
        "score broken.jsonl -s length --on-error skip -o scores.jsonl",
    ),
    "score/two_replies_columns": (
        {"table.csv": "prompt,answer,output\nhi,ho,hu\n"},
        "score table.csv -s length -o scores.csv",
    ),
    "score/unknown_scorer": ({R: jsonl(CHAT[:1])}, f"score {R} -s bleu-99"),
    "score/nothing_scored": ({R: jsonl(without(CHAT[:3], "references"))}, f"score {R} -s bleu-2 -o scores.jsonl"),
    "score/map": (
        {"odd.csv": "said,heard\nhello there,hi\nfine,how are you\n"},
        "score odd.csv -s length --map response=said,context=heard -o scores.csv",
    ),
    "score/xlsx": (
        {"table.xlsx": workbook(rows()[:6], "Export of 3 May")},
        "score table.xlsx -s length -o scores.jsonl",
    ),
    "score/stdin": ({"stdin.txt": jsonl(CHAT[:3])}, "score - -s length -o scores.jsonl"),
    "score/command_scorer": (
        {R: jsonl(CHAT[:4]), "count.py": COUNT},
        f"score {R} -s 'command:python3 count.py' -o scores.jsonl",
    ),
    "score/unclear_is_never_skipped": (
        {"table.csv": "prompt,answer,output\nhi,ho,hu\n"},
        "score table.csv -s length --on-error skip -o scores.csv",
    ),
    "score/not_a_rating": (
        {R: jsonl([CHAT[0], {**CHAT[1], "ratings": {"overall": [2, "good", 3]}}])},
        f"score {R} -s length -o scores.jsonl",
    ),
    "study/references": ({R: RATED}, f"study {R} -s bleu-2 -s rouge-l -s length {FEW}"),
    "study/raters_ceiling": ({R: jsonl(JUDGED)}, f"study {R} -s rejoinder -s length {FEW}"),
    "study/column": ({R: jsonl(JUDGED)}, f"study {R} -s column:judge_score {FEW}"),
    "study/two_datasets": (
        {R: jsonl([{**line, "dataset": "one" if n < 20 else "two"} for n, line in enumerate(JUDGED)])},
        f"study {R} -s column:judge_score -s length {FEW}",
    ),
    "study/dimension": (
        {R: jsonl([{**line, "ratings": {"overall": [3, 3, 3], "wit": line["ratings"]["overall"]}} for line in JUDGED])},
        f"study {R} -s column:judge_score --dimension wit {FEW}",
    ),
    "study/drop_copies": (
        {R: jsonl([*CHAT, {**CHAT[0], "id": "copy", "response": CHAT[0]["references"][0]}])},
        f"study {R} -s bleu-2 --drop-copies {FEW}",
    ),
    "study/no_ratings": ({R: jsonl(without(CHAT, "ratings", "raters"))}, f"study {R} -s length {FEW}"),
    "study/one_system": ({R: jsonl(of("new"))}, f"study {R} -s column:judge_score {FEW}"),
    "study/constant_scorer": (
        {R: jsonl([{**line, "same": 1} for line in JUDGED])},
        f"study {R} -s column:same -s column:judge_score {FEW}",
    ),
    "study/verdict_column": ({"verdicts.csv": table(verdicts())}, f"study verdicts.csv -s column:v --scale 0,1 {FEW}"),
    "study/repeated_rater_rows": (
        {"rows.csv": table(rater_rows(repeated=True))},
        f"study rows.csv --scale 1,5 -s length {FEW}",
    ),
    "study/rater_rows": ({"rows.csv": table(rater_rows())}, f"study rows.csv --scale 1,5 -s length {FEW}"),
    "study/pairs": ({"pairs.jsonl": jsonl(pairs())}, f"study pairs.jsonl -s column:judge -s length {FEW}"),
    "study/pandalm": ({}, f"study @pandalm -s column:gpt-3.5 -s column:pandalm-7b -s length -s rejoinder {FEW}"),
    "study/table": ({"table.csv": table(rows())}, f"study table.csv -s column:llm --scale 1,5 {FEW}"),
    "study/lines_twice": ({R: jsonl([*JUDGED, JUDGED[0]])}, f"study {R} -s length {FEW}"),
    "study/within_systems": ({R: jsonl(levels())}, f"study {R} -s column:judge_score {FEW}"),
    "study/two_files": (dict(TWO), f"study old.jsonl new.jsonl -s column:judge_score {FEW}"),
    "study/scale_mixed": (
        {"rows.csv": table([*rater_rows()[:60], {**rater_rows()[60], "rating": 80}])},
        f"study rows.csv -s length --scale 1,5 {FEW}",
    ),
    "study/pairs_without_judge": (
        {"pairs.jsonl": jsonl(without(pairs(), "judge_a", "judge_b"))},
        f"study pairs.jsonl -s rejoinder -s length {FEW}",
    ),
    "compare/by_context": (dict(NO_IDS), f"compare old.jsonl new.jsonl {FEW}"),
    "compare/by_id": (dict(SAME_IDS), f"compare old.jsonl new.jsonl -s length {FEW}"),
    "compare/column": (dict(SAME_IDS), f"compare old.jsonl new.jsonl -s column:judge_score {FEW}"),
    "compare/unpaired": (dict(USERS), f"compare a.jsonl b.jsonl -s column:judge_score {FEW}"),
    "compare/by_segment": (dict(SEGMENTS), f"compare old.jsonl new.jsonl -s column:judge_score --by region {FEW}"),
    "compare/gate_passes": (dict(SAME_IDS), f"compare old.jsonl new.jsonl -s column:judge_score --fail-under -3 {FEW}"),
    "compare/gate_fails": (dict(SAME_IDS), f"compare new.jsonl old.jsonl -s column:judge_score --fail-under 0 {FEW}"),
    "compare/same_file": (dict(SAME_IDS), f"compare old.jsonl old.jsonl -s length {FEW}"),
    "compare/out_of_domain": (dict(ASSISTANTS), f"compare a.jsonl b.jsonl {FEW}"),
    "compare/out_of_domain_gate": (dict(ASSISTANTS), f"compare a.jsonl b.jsonl --fail-under -1 {FEW}"),
    "compare/empty_replies": (
        {
            "a.jsonl": jsonl([{**line, "id": str(n)} for n, line in enumerate(of("old"))]),
            "b.jsonl": jsonl([{**line, "id": str(n), "response": ""} for n, line in enumerate(of("new"))]),
        },
        f"compare a.jsonl b.jsonl -s rejoinder {FEW}",
    ),
    "ratings/three_raters": ({R: jsonl(JUDGED)}, f"ratings {R} {FEW}"),
    "ratings/min_kappa": ({R: jsonl(JUDGED)}, f"ratings {R} --min-kappa 0.6 {FEW}"),
    "ratings/alternative": ({R: jsonl(JUDGED)}, f"ratings {R} -s column:judge_score {FEW}"),
    "ratings/rows": ({"rows.csv": table(rater_rows())}, f"ratings rows.csv --scale 1,5 {FEW}"),
    "ratings/rows_repeated": ({"rows.csv": table(rater_rows(repeated=True))}, f"ratings rows.csv --scale 1,5 {FEW}"),
    "ratings/median": ({R: jsonl(JUDGED)}, f"ratings {R} --aggregate median -o one.jsonl --resamples 200"),
    "ratings/checks": (
        {R: jsonl([*JUDGED, {**JUDGED[0], "id": "check", "check": 1, "ratings": {"overall": [1, 1, 4]}}])},
        f"ratings {R} {FEW}",
    ),
    "ratings/dawid_skene": (
        {R: jsonl(JUDGED)},
        f"ratings {R} --aggregate dawid-skene -o one.jsonl --resamples 200",
    ),
    "estimate/rated_file": (
        {
            "all.jsonl": jsonl(without(JUDGED, "ratings", "raters", "scale")),
            R: jsonl([line for n, line in enumerate(JUDGED) if n % 2]),
        },
        f"estimate all.jsonl --rated {R} -s column:judge_score --plan 0.2 --json",
    ),
    "estimate/wrong_judge": (
        {
            R: jsonl(
                [
                    {
                        **(line if n % 3 else without([line], "ratings", "raters")[0]),
                        "judge_score": 6 - line["judge_score"],
                    }
                    for n, line in enumerate(JUDGED)
                ]
            )
        },
        f"estimate {R} -s column:judge_score --json",
    ),
    "estimate/two_systems": ({R: jsonl(JUDGED)}, f"estimate {R} -s column:judge_score --json"),
    "estimate/few_ratings": (
        {R: jsonl([line if n % 3 else without([line], "ratings", "raters")[0] for n, line in enumerate(JUDGED)])},
        f"estimate {R} -s column:judge_score --json",
    ),
    "estimate/two_model_columns": (
        {"table.csv": table([{**row, "prompt_version": f"v{n % 2}"} for n, row in enumerate(rows())])},
        "estimate table.csv -s column:llm --scale 1,5 --json",
    ),
    "estimate/no_ratings": ({R: jsonl(without(JUDGED, "ratings", "raters"))}, f"estimate {R} -s length --json"),
    "audit/length": ({R: RATED}, f"audit {R} -s length --family jumbled --family said-twice --json"),
    "audit/rejoinder": ({R: jsonl(JUDGED)}, f"audit {R} -s rejoinder --family jumbled --family upper-case --json"),
    "audit/gate": ({R: RATED}, f"audit {R} -s length --family said-twice --fail-over 0.1 --json"),
    "audit/column": ({R: RATED}, f"audit {R} -s column:judge_score --json"),
    "fit/too_few": ({R: jsonl(JUDGED[:10])}, f"fit {R} -o judge --json"),
    "fit/choices": ({"choices.jsonl": jsonl(choices())}, "fit choices.jsonl -o judge --json"),
    "fit/ratings": ({R: jsonl(JUDGED)}, f"fit {R} -o judge --json"),
    "rerank/pool": (
        {
            "pools.jsonl": jsonl(
                [
                    {"context": [asked], "candidates": [good, *BAD[:2]]}
                    for asked, good in zip(ASKED[:8], GOOD[:8], strict=True)
                ]
            )
        },
        "rerank pools.jsonl -s rejoinder -o best.jsonl --json",
    ),
    "rerank/at_least": (
        {
            "pools.jsonl": jsonl(
                [
                    {"context": [asked], "replies": [good, *BAD[:2]], "references": [good.replace(" .", " !")]}
                    for asked, good in zip(ASKED[:6], GOOD[:6], strict=True)
                ]
            )
        },
        "rerank pools.jsonl -s rejoinder --at-least 3.5 --measure-by bleu-2 --candidates -o best.jsonl --json",
    ),
    "respond/command": (
        {R: jsonl(JUDGED[:4]), "echo.py": ECHO},
        f"respond {R} -r 'command:python3 echo.py' -o replies.jsonl",
    ),
    "respond/human": (
        {
            R: jsonl(JUDGED[:6]),
            "people.jsonl": jsonl([{"context": [a], "response": g} for a, g in zip(ASKED[:6], GOOD[:6], strict=True)]),
        },
        f"respond {R} -r human:people.jsonl -o replies.jsonl",
    ),
    "list/scorers": ({}, "list --json"),
    "show/unknown": ({}, "show bleu-99 --json"),
    "show/rejoinder": ({}, "show rejoinder --json"),
    "show/bleu": ({}, "show bleu-2 --json"),
}


def main() -> None:
    """Write every case; values that are there already stay."""
    for name, (files, call) in TABLE.items():
        folder = CASES / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "call.txt").write_text(call + "\n", encoding="utf-8")
        for file, content in files.items():
            (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)


if __name__ == "__main__":
    main()
