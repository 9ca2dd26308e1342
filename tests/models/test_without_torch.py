"""Without torch: what scores, retrieves and counts works from the command line, and the networks alone import torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import rejoinder

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
COMMANDS = [
    "score @conture -o scores.jsonl",
    "pretrain {recipes}/random.toml @conture --keep-judged --on-error skip -o random",
    "pretrain {recipes}/c-tfidf.toml @conture --keep-judged --on-error skip -o tfidf",
    "pretrain {recipes}/phrases.toml @conture --keep-judged --on-error skip -o phrases",
    "pretrain {recipes}/mood.toml chat.jsonl --keep-judged --teacher rejoinder -o mood",
    "respond @conture -r random -o drawn.jsonl",
    "respond @conture -r tfidf -o replies.jsonl",
]
SAID = ["oh no, i am so sorry to hear that.", "that is great, congratulations!", "i see.", "we went to the park."]


def blocked(code: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder without torch (not by None in `sys.modules`, at which scikit-learn stumbles)."""
    program = (
        "import sys\nclass NoTorch:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'torch': raise ModuleNotFoundError(name, name=name)\n"
        f"sys.meta_path.insert(0, NoTorch())\n{code}"
    )
    return subprocess.run([sys.executable, "-c", program], cwd=place, capture_output=True, text=True, check=False)


def test_the_command_line_works_without_torch(tmp_path: Path) -> None:
    lines = [{"turns": [f"my week was number {row}", SAID[row % 4], SAID[row // 4 % 4]]} for row in range(400)]
    (tmp_path / "chat.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    commands = [command.format(recipes=RECIPES).split() for command in COMMANDS]
    done = blocked(
        f"from rejoinder import cli\nfor words in {commands!r}:\n"
        "    try: cli.main(words)\n"
        "    except SystemExit as stop: assert not stop.code, (words, stop.code)\n",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    kinds = {name: json.loads((tmp_path / name / "config.json").read_text())["model"]["kind"] for name in ("mood",)}
    assert kinds == {"mood": "mood"}
    replies = [json.loads(line) for line in (tmp_path / "replies.jsonl").read_text(encoding="utf-8").splitlines()]
    assert replies and all(reply["response"] for reply in replies if "unanswered" not in reply)


def test_only_networks_import_torch(tmp_path: Path) -> None:
    folder = Path(str(rejoinder.__file__)).parent / "models"
    modules = [f"rejoinder.models.{path.stem}" for path in sorted(folder.glob("*.py"))]
    done = blocked(f"import {', '.join(modules).replace('.__init__', '')}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert all("import torch" in path.read_text() for path in (folder / "networks").glob("[a-z]*.py"))
