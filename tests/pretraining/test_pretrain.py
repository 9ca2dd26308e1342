"""`rejoinder pretrain` for networks that read dialogues: interrupted, killed and faulty runs, and what is saved."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from conftest import PROJECT, Ran, Run, refused
from rejoinder.data.dialogues import read_dialogues
from rejoinder.data.folders import read_folder
from rejoinder.errors import DataError, UsageError
from rejoinder.models.vocabulary import Vocabulary, train_bpe

torch = pytest.importorskip("torch", reason="needs the extra train")

from rejoinder.pretraining.corpus import is_held_out  # noqa: E402
from rejoinder.pretraining.loop import BEST, LAST  # noqa: E402
from rejoinder.pretraining.pretrain import Pretrained, pretrain  # noqa: E402
from rejoinder.pretraining.recipe import read_recipe  # noqa: E402

TINY = PROJECT / "recipes" / "vhred-tiny.toml"
WORDS = [f"{first}{second}{first}" for first in "abdegiklmoprstu" for second in "aeio"]
torch.set_num_threads(1)  # models this small only wait for a second one, for minutes where the machine is busy


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 dialogues of two to five turns of made-up words; they share 100 openings, some of them in capitals."""
    source = random.Random(0)
    file = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"

    def turns(count: int) -> list[str]:
        return [" ".join(source.choices(WORDS, k=source.randint(2, 10))) for _ in range(count)]

    openings = [turns(2) for _ in range(100)]
    with file.open("w", encoding="utf-8") as lines:
        for _ in range(300):
            first, second = (source.choice([turn, turn.upper()]) for turn in source.choice(openings))
            more = source.randint(0, 3)
            dialogue = [first, second, *turns(more)] if more else [first, *turns(1)]
            lines.write(json.dumps({"turns": dialogue}) + "\n")
    return file


def recipe_of(kind: str = "hred", annealing: int = 20, **run: Any) -> Any:
    """The tiny VHRED, or an HRED of its sizes, with other options of the run."""
    recipe: Any = read_recipe(TINY)
    run_table = recipe.run.model_copy(update={"accelerator": "cpu", **run})
    changes: dict[str, Any] = {"run": run_table, "annealing": annealing}
    if kind == "hred":
        changes |= {"kind": "hred", "model": recipe.model.model_copy(update={"latent": 0})}
    return recipe.model_copy(update=changes)


@pytest.fixture(scope="module")
def unbroken(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Pretrained:
    """A run of 40 updates of a VHRED from end to end."""
    return pretrain(recipe_of("vhred"), [corpus], tmp_path_factory.mktemp("vhred") / "model")


def test_training_lowers_the_validation_loss(unbroken: Pretrained) -> None:
    losses = [row["validation_loss"] for row in unbroken.rows]
    assert [row["updates"] for row in unbroken.rows] == [10, 20, 30, 40]
    assert losses == sorted(losses, reverse=True)
    columns = {"updates", "training_loss", "validation_loss", "perplexity", "kl_per_turn", "active_units"}
    assert all(set(row) == columns and np.isfinite(list(row.values())).all() for row in unbroken.rows)


def test_the_saved_folder_is_whole(unbroken: Pretrained) -> None:
    folder = unbroken.folder
    names = {"config.json", "card.md", "weights.safetensors", "vocabulary.json", "curves.csv", "curves.svg"}
    assert {file.name for file in folder.iterdir()} == names
    parts = read_folder(folder)
    assert parts.config["recipe"] == recipe_of("vhred").to_dict()
    assert parts.config["recipe"]["text"]["longest_turn"] == 20
    assert parts.config["sizes"]["vocabulary"] == len(parts.tensors["embedding.weight"])
    assert parts.config["figures"] == unbroken.best == unbroken.rows[-1]
    with (folder / "curves.csv").open(encoding="utf-8") as rows:
        assert [{name: float(cell) for name, cell in row.items()} for row in csv.DictReader(rows)] == unbroken.rows
    assert ElementTree.parse(folder / "curves.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    card = (folder / "card.md").read_text(encoding="utf-8")
    assert card.startswith(
        f"# VHRED\n\nPre-trained on {parts.config['counts']['train']['tokens']:,} tokens of dialogue"
    )
    assert f"- perplexity: {unbroken.rows[-1]['perplexity']:.4g}\n" in card


def test_the_folder_says_what_decided_it_and_no_path(unbroken: Pretrained, corpus: Path) -> None:
    config = read_folder(unbroken.folder).config
    digest = hashlib.sha256(corpus.read_bytes()).hexdigest()[:16]
    assert config["corpora"] == [{"name": "corpus.jsonl", "sha256": digest}]
    assert (config["start"], config["keep_judged"]) == ("", False)
    assert str(corpus.parent) not in json.dumps(config) + (unbroken.folder / "card.md").read_text(encoding="utf-8")
    vocabulary = Vocabulary.from_json((unbroken.folder / "vocabulary.json").read_text(encoding="utf-8"))
    openings = {}
    for part, held_out in (("train", False), ("held_out", True)):
        turns = [one.turns for one in read_dialogues(corpus) if is_held_out(one, 0.1) == held_out]
        openings[part] = {tuple(turn.casefold() for turn in dialogue[:-1][:2]) for dialogue in turns}
        counts = config["counts"][part]
        assert (counts["dialogues"], counts["turns"]) == (len(turns), sum(map(len, turns)))
        assert counts["tokens"] == sum(len(vocabulary.encode(turn)) + 1 for dialogue in turns for turn in dialogue)
    assert openings["train"] & openings["held_out"] == set() and 10 < config["counts"]["held_out"]["dialogues"] < 60


class Stop(Exception):
    """Ends a run in the middle."""


def stops_after(updates: int) -> Callable[[int], None]:
    """A progress function that raises when so many updates are done."""
    done = 0

    def progress(count: int) -> None:
        nonlocal done
        done += count
        if done >= updates:
            raise Stop

    return progress


def test_an_interrupted_run_goes_on_to_the_same_end(unbroken: Pretrained, corpus: Path, tmp_path: Path) -> None:
    for updates in (3, 35):  # before the first checkpoint, and in a later stretch
        with pytest.raises(Stop):
            pretrain(recipe_of("vhred"), [corpus], tmp_path / "model", progress=stops_after(updates))
        assert not (tmp_path / "model").exists()
    done: list[int] = []
    again = pretrain(recipe_of("vhred"), [corpus], tmp_path / "model", progress=done.append)
    assert done == [30] + [1] * 10
    assert again.rows == unbroken.rows
    assert read_folder(again.folder).digest == read_folder(unbroken.folder).digest


def test_a_finished_run_is_saved_again_without_training(corpus: Path, tmp_path: Path) -> None:
    recipe = recipe_of(updates=15)
    first = pretrain(recipe, [corpus], tmp_path / "model")
    assert [row["updates"] for row in first.rows] == [10, 15], "no update more than the recipe has"
    moved, done = tmp_path / "elsewhere" / corpus.name, list[int]()
    moved.parent.mkdir()
    shutil.copy(corpus, moved)
    (tmp_path / "model.run" / "curves.svg").write_bytes(b"\xff")
    (tmp_path / "model.run" / "curves.csv").write_bytes(b"\xff")
    again = pretrain(recipe, [moved], tmp_path / "model", progress=done.append)
    assert (done, again) == ([15], first)


def test_a_run_of_another_recipe_or_other_files_is_left_alone(
    corpus: Path, unbroken: Pretrained, tmp_path: Path
) -> None:
    changed = tmp_path / corpus.name
    changed.write_bytes(corpus.read_bytes().replace(b"a", b"e", 1))
    recipe, run = recipe_of("vhred"), Path(f"{unbroken.folder}.run")
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    for other, files, judged in (
        (recipe_of("vhred", annealing=3), [corpus], False),
        (recipe, [corpus, corpus], False),
        (recipe, [changed], False),
        (recipe, [corpus], True),
    ):
        with pytest.raises(UsageError, match="holds a run of another recipe or other files. Remove it, or choose anot"):
            pretrain(other, files, unbroken.folder, keep_judged=judged)
    assert {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} == before


def test_a_damaged_run_is_refused_and_can_be_mended(corpus: Path, tmp_path: Path) -> None:
    recipe, run = recipe_of(updates=10), tmp_path / "model.run"
    first = pretrain(recipe, [corpus], tmp_path / "model")
    for name, problem in (("vocabulary.json", "this vocabulary is damaged"), ("train/tokens.bin", "is not as it was")):
        data = (run / name).read_bytes()
        (run / name).write_bytes(data[:20] + b"\xff" * 9 + data[29:])
        with pytest.raises(
            DataError, match=rf"model.run/{name}: {problem}.*\. Remove .* and call again; it is made ag"
        ):
            pretrain(recipe, [corpus], tmp_path / "model")
        (run / name).unlink() if name == "vocabulary.json" else shutil.rmtree(run / "train")
    assert pretrain(recipe, [corpus], tmp_path / "model") == first
    for name in (LAST, BEST):
        (run / name).unlink()
    (run / "vocabulary.json").write_text(train_bpe(WORDS, 100).to_json(), encoding="utf-8")
    with pytest.raises(UsageError, match="its tokens belong to another vocabulary. Remove .*model.run, or choose anot"):
        pretrain(recipe, [corpus], tmp_path / "model")


def test_a_folder_that_is_no_run_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "model.run").mkdir()
    (tmp_path / "model.run" / "thesis").write_text("mine")
    with pytest.raises(UsageError, match=r"exists, but holds no run \(recipe.json is missing\). Remove it, or"):
        pretrain(recipe_of(), [corpus], tmp_path / "model")
    assert [path.name for path in (tmp_path / "model.run").iterdir()] == ["thesis"]


def test_a_vhred_starts_from_an_hred(corpus: Path, tmp_path: Path) -> None:
    hred = pretrain(recipe_of(updates=10), [corpus], tmp_path / "hred")
    lines: list[str] = []
    recipe = recipe_of("vhred", updates=1, learning_rate=1e-30)
    vhred = pretrain(recipe, [corpus], tmp_path / "vhred", start=hred.folder, log=lines.append)
    start, wider = read_folder(hred.folder), read_folder(vhred.folder)
    assert wider.files["vocabulary.json"] == start.files["vocabulary.json"]
    assert f"{len(start.tensors)} weights come from {hred.folder}" in lines
    assert wider.config["start"] == start.digest
    for name, tensor in start.tensors.items():
        np.testing.assert_array_equal(wider.tensors[name][..., : tensor.shape[-1]], tensor, err_msg=name)
    new = {name for name in wider.tensors if name.startswith(("prior", "posterior"))}
    assert set(wider.tensors) - set(start.tensors) == new
    assert wider.tensors["decoder.first.weight"].shape[1] == start.tensors["decoder.first.weight"].shape[1] + 8


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """The tiny recipe with two updates."""
    return recipe_file(tmp_path, "updates = 2\nstretch = 1")


def recipe_file(folder: Path, run: str) -> Path:
    """The tiny recipe with another table `run`, on the CPU."""
    file = folder / "recipe.toml"
    text = TINY.read_text(encoding="utf-8").partition("[run]")[0]
    file.write_text(f'{text}[run]\naccelerator = "cpu"\n{run}\n', encoding="utf-8")
    return file


def call(run: Run, corpus: Path, out: Path, *options: object, recipe: Path = TINY) -> Ran:
    return run("pretrain", recipe, corpus, "-o", out, *options)


def test_the_command_prints_the_figures_of_the_best_validation(
    run: Run, corpus: Path, tmp_path: Path, quick: Path
) -> None:
    ran = call(run, corpus, tmp_path / "model", recipe=quick)
    assert ran.code == 0, ran.err
    best = read_folder(tmp_path / "model").config["figures"]
    assert ran.out.splitlines() == [
        *(f"{name.replace('_', ' ')}: {value:.4g}" for name, value in best.items()),
        f"saved in {tmp_path / 'model'}; answer with it: rejoinder respond FILE -r {tmp_path / 'model'}; "
        f"encode with it: rejoinder encode FILE -e {tmp_path / 'model'} -o OUT.npz",
    ]
    assert ran.err.splitlines()[:2] == ["training the byte-pair encoding", "writing the tokens of the train part"]


def test_two_calls_do_not_train_in_one_folder(run: Run, corpus: Path, tmp_path: Path, quick: Path) -> None:
    fcntl = pytest.importorskip("fcntl", reason="needs locks of files")
    (tmp_path / "model.run").mkdir()
    other = os.open(tmp_path / "model.run", os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    ran = call(run, corpus, tmp_path / "model", recipe=quick)
    os.close(other)
    message = f"{tmp_path / 'model.run'}: another call trains there now. Wait until it ends, or choose another -o"
    refused(ran, 2, message)
    assert call(run, corpus, tmp_path / "model", recipe=quick).code == 0


BAD = {
    "empty": (b'{"turns": []}', "no turn, "),
    "one": (b'{"turns": ["hi"]}', "one turn, "),
    "bytes": (b'{"turns": ["h\xff", "b"]}', "byte 0xff at column 14 is not UTF-8. "),
    "long": (b'{"turns": ["a", "' + b"x" * 1_000_001 + b'"]}', "a turn has 1,000,001 characters, "),
    "same": (b'{"turns": ["a", "a", "a"]}', "all 3 turns are the same. "),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_dialogue_stops_the_run(run: Run, corpus: Path, tmp_path: Path, kind: str) -> None:
    line, message = BAD[kind]
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(corpus.read_bytes() + line + b"\n")
    ran = call(run, bad, tmp_path / "model")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith(f"training the byte-pair encoding\nrejoinder: {bad}:301: {message}")
    assert [file.name for file in tmp_path.iterdir()] == ["bad.jsonl"], "nothing is left of the run"


def test_bad_dialogues_are_skipped_and_counted_once(run: Run, corpus: Path, tmp_path: Path, quick: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(corpus.read_bytes() + b"\n".join(line for line, _ in BAD.values()) + b"\n")
    for name, options in (("anew", ()), ("started", ("--start", tmp_path / "anew"))):
        ran = call(run, bad, tmp_path / name, "--on-error", "skip", *options, recipe=quick)
        assert ran.code == 0, ran.err
        skipped = ran.err[ran.err.index("skipped 5:\n") :].splitlines()
        for number, (line, (_, message)) in enumerate(zip(skipped[1:], BAD.values(), strict=True), start=301):
            assert line.startswith(f"  {bad}:{number}: {message}")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"", "corpus.jsonl: "),
        (b'{"turns": ["how are you", "fine"]}\n', "1 dialogues to train on, 0 to validate on. Give a larger corpus"),
    ],
)
def test_a_corpus_that_is_too_small_is_refused(run: Run, tmp_path: Path, lines: bytes, message: str) -> None:
    small = tmp_path / "corpus.jsonl"
    small.write_bytes(lines)
    ran = call(run, small, tmp_path / "model")
    assert ran.code == 3 and message in ran.err.splitlines()[-1]
    assert [file.name for file in tmp_path.iterdir()] == ["corpus.jsonl"]


def test_a_corpus_in_another_script_is_learnt(run: Run, tmp_path: Path, quick: Path) -> None:
    source, file = random.Random(0), tmp_path / "corpus.jsonl"
    turns = [["".join(source.choices("今天天气很好我们去公园吗是的谢谢你", k=6)) for _ in range(3)] for _ in range(200)]
    file.write_text("".join(json.dumps({"turns": dialogue}) + "\n" for dialogue in turns), encoding="utf-8")
    ran = call(run, file, tmp_path / "model", recipe=quick)
    assert ran.code == 0, ran.err
    assert read_folder(tmp_path / "model").config["counts"]["train"]["unknown"] == 0


@pytest.mark.parametrize(
    ("table", "code", "message"),
    [
        (
            "updates = 4\nlearning_rate = 1e30\nclip = 1e30\nstretch = 2",
            2,
            "the loss is not finite. Lower run.learning",
        ),
        (
            "updates = 4\ndevices = 2",
            3,
            'field "run.devices": unknown. Start one process for each device instead: torc',
        ),
        ("updates = 4\nlearning_rat = 1", 3, 'field "run.learning_rat": unknown. Did you mean learning_rate?'),
        ("updates = 4\nclip = 0", 3, 'field "run.clip": Input should be greater than 0, found 0'),
    ],
)
def test_a_faulty_run_is_one_line(run: Run, corpus: Path, tmp_path: Path, table: str, code: int, message: str) -> None:
    ran = call(run, corpus, tmp_path / "model", recipe=recipe_file(tmp_path, table))
    assert (ran.code, ran.out) == (code, "") and message in ran.err.splitlines()[-1]
    assert not (tmp_path / "model").exists()


def test_a_device_that_is_not_there_is_refused(run: Run, corpus: Path, tmp_path: Path) -> None:
    if torch.accelerator.is_available():
        pytest.skip("there is a GPU")
    file = recipe_file(tmp_path, "updates = 4")
    file.write_text(file.read_text().replace('"cpu"', '"gpu"'))
    ran = call(run, corpus, tmp_path / "model", recipe=file)
    refused(ran, 2, "run.accelerator is gpu, but torch finds no GPU. Set it to cpu in the recipe")


def test_options_without_a_meaning_are_refused(run: Run, corpus: Path, tmp_path: Path) -> None:
    out, recipes = tmp_path / "model", PROJECT / "recipes"
    refused(
        run("pretrain", TINY, "-", "-o", out),
        2,
        "-: a corpus is read several times, standard input only once. Save it as a file",
    )
    for name, option, message in (
        ("vhred-tiny", ("--teacher", "rejoinder"), "--teacher is for a student, a selector or moods, a vhred has none"),
        ("tweet2vec-tiny", ("--keep-judged",), "--keep-judged is for dialogues, and tweet2vec reads tweets"),
        (
            "random",
            ("--start", PROJECT / "recipes"),
            "--start is for networks that read dialogues, and students, not for a random",
        ),
        ("selector-tiny", (), "a selector reads the vectors of an encoder. Name one with --teacher"),
        ("mood", (), "a mood reads the vectors of an encoder. Name one with --teacher"),
        ("student-tiny", (), "a student needs a teacher. Name it with --teacher, or give a folder of its vectors as c"),
    ):
        ran = run("pretrain", recipes / f"{name}.toml", corpus, "-o", out, *option)
        assert ran.code == 2 and message in ran.err, ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_named_before_any_work(
    run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("rejoinder.pretraining.loop")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    ran = call(run, corpus, tmp_path / "model")
    refused(ran, 4, "Pre-training needs torch. Install it: pip install 'rejoinder[train]'")
    assert list(tmp_path.iterdir()) == []
    for kind in ("random", "phrases"):
        ran = run("pretrain", PROJECT / "recipes" / f"{kind}.toml", corpus, "-o", tmp_path / kind)
        assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    "module",
    ["rejoinder", "rejoinder.cli.pretrain, rejoinder.cli.encode, rejoinder.models, rejoinder.pretraining.pretrain"],
)
def test_torch_is_imported_only_for_training(module: str) -> None:
    loaded = f"import sys, {module}; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loaded], capture_output=True, check=True).stdout == b"False\n"


# Processes


def begin(recipe: Path, corpus: Path, out: Path, processes: int = 1) -> subprocess.Popen[str]:
    """The command in a process group of its own, so that a kill reaches all; two processes as torchrun starts them."""
    command = f"{sys.executable} -m rejoinder pretrain {recipe} {corpus} -o {out}"
    environment, start = {**os.environ, "OMP_NUM_THREADS": "1"}, f"exec {command}"
    if processes > 1:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        environment |= {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        start = f"RANK=1 LOCAL_RANK=1 {command} & RANK=0 {command}; code=$?; wait; exit $code"
    return subprocess.Popen(
        start,
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
        env=environment,
    )


def finish(process: subprocess.Popen[str]) -> Ran:
    out, err = process.communicate(timeout=120)
    return Ran(process.returncode, out, err)


def kill_at(file: Path, process: subprocess.Popen[str], how: signal.Signals = signal.SIGKILL) -> Ran:
    """Send a signal to the process and all it started, as soon as a file is there."""
    end = time.monotonic() + 100
    while not file.exists():
        assert process.poll() is None, finish(process).err
        assert time.monotonic() < end
        time.sleep(0.005)
    os.killpg(process.pid, how)
    return finish(process)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_run_goes_on_to_the_same_bytes(corpus: Path, tmp_path: Path, processes: int) -> None:
    recipe = recipe_file(tmp_path, "updates = 120\nstretch = 10")
    whole = finish(begin(recipe, corpus, tmp_path / "whole", processes))
    assert whole.code == 0, whole.err
    assert (whole.out.count("saved in"), whole.err.count("training on")) == (1, 1)
    for file in ("vocabulary.json", BEST):  # while it writes tokens, and while it trains
        assert kill_at(tmp_path / "model.run" / file, begin(recipe, corpus, tmp_path / "model", processes)).code == -9
        assert not (tmp_path / "model").exists()
    again = finish(begin(recipe, corpus, tmp_path / "model", processes))
    assert again.code == 0, again.err
    assert again.out.replace("model", "whole") == whole.out
    for folder, names in (
        ("model", ("curves.csv", "curves.svg", "weights.safetensors", "config.json", "card.md")),
        ("model.run", (LAST, BEST)),
    ):
        for name in names:
            assert (tmp_path / folder / name).read_bytes() == (
                tmp_path / folder.replace("model", "whole") / name
            ).read_bytes()


@pytest.mark.slow
def test_a_terminated_run_says_how_to_go_on(corpus: Path, tmp_path: Path) -> None:
    recipe = recipe_file(tmp_path, "updates = 4000\nstretch = 10")
    ran = kill_at(tmp_path / "model.run" / LAST, begin(recipe, corpus, tmp_path / "model"), signal.SIGTERM)
    assert ran.code == 130 and ran.err.endswith("rejoinder: interrupted; call again to go on\n")
