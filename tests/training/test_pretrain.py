"""Pre-training: recipes, runs that are interrupted or killed and go on, what is saved, bad corpora."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from conftest import PROJECT, Ran, Run
from rejoinder.data.dialogues import read_dialogues
from rejoinder.data.folders import Parts, read_folder
from rejoinder.errors import DataError, UsageError
from rejoinder.models.vocabulary import Vocabulary, train_bpe

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("lightning", reason="needs the extra train")

from rejoinder.models.sizes import DialogueSizes  # noqa: E402
from rejoinder.pretraining.corpora import is_held_out  # noqa: E402
from rejoinder.pretraining.dialogue import DialogueTask, StoreBatches  # noqa: E402
from rejoinder.pretraining.pretrain import Pretrained, pretrain_dialogues  # noqa: E402
from rejoinder.pretraining.recipe import read_recipe  # noqa: E402
from rejoinder.pretraining.tokens import TokenStore  # noqa: E402

TINY = PROJECT / "recipes" / "vhred-tiny.toml"
WORDS = [f"{first}{second}{first}" for first in "abdegiklmoprstu" for second in "aeio"]
torch.set_num_threads(1)  # models this small only wait for a second one, for minutes where the machine is busy


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 dialogues of two to five turns of made-up words; they share 100 openings, here and there in capitals."""
    source = random.Random(0)
    file = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"

    def turns(count: int) -> list[str]:
        return [" ".join(source.choices(WORDS, k=source.randint(2, 10))) for _ in range(count)]

    openings = [turns(2) for _ in range(100)]
    with file.open("w", encoding="utf-8") as lines:
        for _ in range(300):
            first, second = (source.choice([turn, turn.upper()]) for turn in source.choice(openings))
            more = source.randint(0, 3)
            said = [first, second, *turns(more)] if more else [first, *turns(1)]
            lines.write(json.dumps({"turns": said}) + "\n")
    return file


def tiny() -> Any:
    return read_recipe(TINY)


def recipe_of(kind: str, **options: Any) -> Any:
    """The tiny recipe, for an HRED where `kind` says so, with other options of the run."""
    recipe = tiny()
    changed = recipe.model_copy(update={"run": recipe.run.model_copy(update=dict(accelerator="cpu", **options))})
    return (
        changed
        if kind == "vhred"
        else changed.model_copy(update={"kind": "hred", "model": recipe.model.model_copy(update={"latent": 0})})
    )


@pytest.fixture(scope="module", params=["hred", "vhred"])
def unbroken(request: pytest.FixtureRequest, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Pretrained:
    """A run of 40 updates from end to end."""
    return pretrain_dialogues(recipe_of(request.param), [corpus], tmp_path_factory.mktemp(request.param) / "model")


def kind_of(run: Pretrained) -> str:
    return str(read_folder(run.folder).config["kind"])


@pytest.mark.slow
def test_training_lowers_the_validation_loss(unbroken: Pretrained) -> None:
    losses = [row["validation_loss"] for row in unbroken.figures]
    assert [row["updates"] for row in unbroken.figures] == [10, 20, 30, 40]
    assert losses == sorted(losses, reverse=True)
    assert sum(unbroken.dialogues) == 300
    assert 10 < unbroken.dialogues[1] < 60
    shown = {"kl_per_turn", "active_units"} if kind_of(unbroken) == "vhred" else set()
    expected = {"updates", "training_loss", "validation_loss", "perplexity", *shown}
    assert all(set(row) == expected and np.isfinite(list(row.values())).all() for row in unbroken.figures)


def test_the_saved_folder_is_whole(unbroken: Pretrained) -> None:
    folder, kind = unbroken.folder, kind_of(unbroken)
    names = {"config.json", "card.md", "weights.safetensors", "vocabulary.json", "curves.csv", "curves.svg"}
    assert {file.name for file in folder.iterdir()} == names
    parts = read_folder(folder)
    assert parts.config["recipe"] == recipe_of(kind).to_dict()
    assert parts.config["sizes"]["vocabulary"] == len(parts.tensors["embedding.weight"])
    assert parts.config["figures"] == unbroken.figures[-1]
    with (folder / "curves.csv").open(encoding="utf-8") as rows:
        assert [{name: float(cell) for name, cell in row.items()} for row in csv.DictReader(rows)] == unbroken.figures
    assert ElementTree.parse(folder / "curves.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    card = (folder / "card.md").read_text(encoding="utf-8")
    assert card.startswith(
        f"# {kind.upper()}\n\nPre-trained on {parts.config['counts']['train']['tokens']:,} tokens of dialogue, from "
    )
    assert f"- perplexity: {unbroken.figures[-1]['perplexity']:.4g}\n" in card


def openings(store: TokenStore) -> list[tuple[tuple[int, ...], ...]]:
    """What a dialogue's side hangs on, of each dialogue."""
    return [tuple(tuple(turn.tolist()) for turn in store.turns(piece)[:-1][:2]) for piece in range(store.pieces)]


def test_no_opening_is_on_both_sides(unbroken: Pretrained) -> None:
    train, held_out = (openings(TokenStore(Path(f"{unbroken.folder}.run") / part)) for part in ("train", "held_out"))
    assert (len(train), len(held_out)) == unbroken.dialogues
    assert len(set(held_out)) < len(held_out), "openings that several dialogues share"
    assert set(train) & set(held_out) == set()


def strings(value: Any) -> list[str]:
    """All texts in a JSON value."""
    if isinstance(value, dict | list):
        return [text for inner in (value.values() if isinstance(value, dict) else value) for text in strings(inner)]
    return [value] if isinstance(value, str) else []


def test_the_folder_tells_what_decided_it_and_no_path(unbroken: Pretrained, corpus: Path) -> None:
    config = read_folder(unbroken.folder).config
    digest = hashlib.sha256(corpus.read_bytes()).hexdigest()[:16]
    assert config["corpora"] == [{"name": "corpus.jsonl", "sha256": digest}]
    assert (config["start"], config["keep_judged"]) == ("", False)
    assert [text for text in strings(dict(config)) if os.sep in text] == []
    assert os.sep not in (unbroken.folder / "card.md").read_text(encoding="utf-8")
    vocabulary = Vocabulary.from_json((unbroken.folder / "vocabulary.json").read_text(encoding="utf-8"))
    for part, held_out in (("train", False), ("held_out", True)):
        turns = [one.turns for one in read_dialogues(corpus) if is_held_out(one, 0.1) == held_out]
        assert config["counts"][part] == {
            "dialogues": len(turns),
            "pieces": len(turns),
            "turns": sum(map(len, turns)),
            # Each turn and its end; nothing that pads a batch.
            "tokens": sum(len(vocabulary.encode(turn)) + 1 for said in turns for turn in said),
            "cut_turns": 0,
            "cut_tokens": 0,
            "unknown": 0,
        }


class _Unplugged(Exception):
    """Stands for whatever ends a run in the middle."""


def stops_after(updates: int) -> Callable[[int], None]:
    """A progress function that raises when so many updates are done."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if done >= updates:
            raise _Unplugged

    return advance


def test_an_interrupted_run_goes_on_to_the_same_end(unbroken: Pretrained, corpus: Path, tmp_path: Path) -> None:
    recipe = recipe_of(kind_of(unbroken))
    for updates in (3, 17, 35):  # before the first checkpoint, and in the midst of two later stretches
        with pytest.raises(_Unplugged):
            pretrain_dialogues(recipe, [corpus], tmp_path / "model", advance=stops_after(updates))
        assert not (tmp_path / "model").exists()
    done: list[int] = []
    found = pretrain_dialogues(recipe, [corpus], tmp_path / "model", advance=done.append)
    assert done == [30] + [1] * 10
    assert found.figures == unbroken.figures
    assert read_folder(found.folder).digest == read_folder(unbroken.folder).digest


def test_a_finished_run_is_saved_again_without_training(corpus: Path, tmp_path: Path) -> None:
    recipe = recipe_of("hred", updates=15)
    first = pretrain_dialogues(recipe, [corpus], tmp_path / "model")
    assert [row["updates"] for row in first.figures] == [10, 15], "not an update more than asked for"
    done: list[int] = []
    moved = tmp_path / "elsewhere" / corpus.name
    moved.parent.mkdir()
    shutil.copy(corpus, moved)
    again = pretrain_dialogues(recipe, [moved], tmp_path / "model", advance=done.append)
    assert (done, again) == ([], first)


@pytest.mark.slow
def test_another_seed_gives_another_model(unbroken: Pretrained, corpus: Path, tmp_path: Path) -> None:
    other = pretrain_dialogues(recipe_of(kind_of(unbroken), seed=1, updates=10), [corpus], tmp_path / "model")
    assert other.figures[0] != unbroken.figures[0]


def test_a_run_of_another_recipe_is_left_alone(unbroken: Pretrained, corpus: Path, tmp_path: Path) -> None:
    changed_file = tmp_path / corpus.name
    changed_file.write_bytes(corpus.read_bytes().replace(b"a", b"e", 1))
    recipe, run = recipe_of(kind_of(unbroken)), f"{unbroken.folder}.run"
    message = f"{run}: holds a run of another recipe or other files. Remove it, or choose another -o"
    for changed, files, judged in (
        (recipe.model_copy(update={"annealing": 3}), [corpus], False),
        (recipe, [corpus, corpus], False),
        (recipe, [changed_file], False),
        (recipe, [corpus], True),
    ):
        with pytest.raises(UsageError) as refusal:
            pretrain_dialogues(changed, files, unbroken.folder, keep_judged=judged)
        assert str(refusal.value) == message


def test_tokens_of_another_vocabulary_are_not_trained_on(corpus: Path, tmp_path: Path) -> None:
    def stop(step: str) -> None:
        if step.startswith("training on"):
            raise _Unplugged

    with pytest.raises(_Unplugged):
        pretrain_dialogues(recipe_of("hred"), [corpus], tmp_path / "model", say=stop)
    run = tmp_path / "model.run"
    (run / "vocabulary.json").write_text(train_bpe(WORDS, 100).to_json(), encoding="utf-8")
    with pytest.raises(UsageError) as refusal:
        pretrain_dialogues(recipe_of("hred"), [corpus], tmp_path / "model", say=stop)
    message = f"{run}: its tokens belong to another vocabulary. Remove it, or choose another -o"
    assert str(refusal.value) == message


def test_a_damaged_run_is_told_or_mended(corpus: Path, tmp_path: Path) -> None:
    recipe, run = recipe_of("hred", updates=10), tmp_path / "model.run"
    first = pretrain_dialogues(recipe, [corpus], tmp_path / "model")
    whole = (tmp_path / "model" / "curves.csv").read_text()
    for name in ("curves.csv", "curves.svg"):
        (run / name).write_bytes(b"\xff")
    assert pretrain_dialogues(recipe, [corpus], tmp_path / "model") == first
    assert (tmp_path / "model" / "curves.csv").read_text() == whole
    for name, told in (("vocabulary.json", "this vocabulary is damaged"), ("train/tokens.bin", "is not as it was")):
        data = (run / name).read_bytes()
        (run / name).write_bytes(data[:20] + b"\xff" * 9 + data[29:])
        with pytest.raises(
            DataError, match=rf"model.run/{name}: {told}.*\. Remove .* and call again; it is made again"
        ):
            pretrain_dialogues(recipe, [corpus], tmp_path / "model")
        (run / name).unlink() if name == "vocabulary.json" else shutil.rmtree(run / "train")
    assert pretrain_dialogues(recipe, [corpus], tmp_path / "model") == first


def test_a_damaged_checkpoint_is_told_and_can_be_removed(corpus: Path, tmp_path: Path) -> None:
    recipe, run = recipe_of("hred", updates=10), tmp_path / "model.run"
    first = pretrain_dialogues(recipe, [corpus], tmp_path / "model")
    for name, size in (("last.ckpt", 3000), ("last.ckpt", 0), ("best.ckpt", 3000)):
        kept = (run / name).read_bytes()
        (run / name).write_bytes(kept[:size])
        with pytest.raises(DataError, match=f"{name}: this checkpoint is damaged. Remove last.ckpt and best.ckpt in"):
            pretrain_dialogues(recipe, [corpus], tmp_path / "model")
        (run / name).write_bytes(kept[: len(kept) // 2] + bytes(100) + kept[len(kept) // 2 + 100 :])
        with pytest.raises(DataError, match=f"{name}: this checkpoint is damaged"):
            pretrain_dialogues(recipe, [corpus], tmp_path / "model")
        (run / name).write_bytes(kept)
    for name in ("last.ckpt", "best.ckpt"):
        (run / name).unlink()
    assert pretrain_dialogues(recipe, [corpus], tmp_path / "model") == first


def test_weights_that_are_not_the_best_are_not_taken_for_them(corpus: Path, tmp_path: Path) -> None:
    recipe = recipe_of("hred", learning_rate=1.0, stretch=1, updates=3)
    found = pretrain_dialogues(recipe, [corpus], tmp_path / "model")
    assert found.best["updates"] < 3, "a step size that makes it worse in the end"
    (tmp_path / "model.run" / "best.ckpt").unlink()
    with pytest.raises(DataError, match="last.ckpt: holds the weights after 3 updates, and the best were those after"):
        pretrain_dialogues(recipe, [corpus], tmp_path / "model")


def test_a_folder_that_is_no_run_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "model.run").mkdir()
    (tmp_path / "model.run" / "thesis").write_text("mine")
    with pytest.raises(
        UsageError, match=r"model.run: exists and holds no run \(recipe.json is missing\). Remove it, or"
    ):
        pretrain_dialogues(recipe_of("hred"), [corpus], tmp_path / "model")
    assert [path.name for path in (tmp_path / "model.run").iterdir()] == ["thesis"]


def test_two_calls_do_not_train_in_one_folder(run: Run, corpus: Path, tmp_path: Path, quick: Path) -> None:
    fcntl = pytest.importorskip("fcntl", reason="needs locks of files")
    (tmp_path / "model.run").mkdir()
    other = os.open(tmp_path / "model.run", os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    ran = call(run, corpus, tmp_path / "model", recipe=quick)
    os.close(other)
    assert ran.code == 2
    assert ran.err.endswith("model.run: another call trains there now. Wait until it ends, or choose another -o\n")
    assert call(run, corpus, tmp_path / "model", recipe=quick).code == 0


def test_a_run_without_progress_stops_and_stays_stopped(corpus: Path, tmp_path: Path) -> None:
    recipe = recipe_of("hred", learning_rate=1e-30, patience=2)
    first = pretrain_dialogues(recipe, [corpus], tmp_path / "model")
    assert [row["updates"] for row in first.figures] == [10, 20, 30]
    done: list[int] = []
    again = pretrain_dialogues(recipe, [corpus], tmp_path / "model", advance=done.append)
    assert (done, again) == ([30], first)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "annealing"), [("hred", 0), ("vhred", 3)])
def test_the_best_weights_since_annealing_are_kept(corpus: Path, tmp_path: Path, kind: str, annealing: int) -> None:
    recipe = recipe_of(kind, learning_rate=1.0, stretch=1, updates=annealing + 2).model_copy(
        update={"annealing": annealing}
    )
    found = pretrain_dialogues(recipe, [corpus], tmp_path / "model")
    losses = [row["validation_loss"] for row in found.figures]
    best = min(losses[max(annealing - 1, 0) :])
    assert best < losses[-1], "a step size that makes it worse in the end"
    assert annealing == 0 or min(losses) < best, "it was better before"
    parts, stores = read_folder(found.folder), tmp_path / "model.run"
    assert parts.config["figures"]["validation_loss"] == found.best["validation_loss"] == best
    assert validated(parts, recipe, stores) == pytest.approx(best, rel=1e-6)


def validated(parts: Parts, recipe: Any, run: Path) -> float:
    """The validation loss of saved weights."""
    sizes = DialogueSizes(**parts.config["sizes"])
    task = DialogueTask(sizes, recipe.run, recipe.annealing).eval()
    task.model.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in parts.tensors.items()})
    source = StoreBatches(TokenStore(run / "train"), TokenStore(run / "held_out"), recipe.tokens_per_batch, 0)
    task.on_validation_epoch_start()
    with torch.inference_mode():
        for number, batch in enumerate(source.validation(0, 1)):
            task.validation_step(batch, number)
    return task.figures(task.totals)["validation_loss"]


def test_a_loss_out_of_bounds_is_told(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refusal:
        pretrain_dialogues(recipe_of("hred", learning_rate=1e30, clip=1e30), [corpus], tmp_path / "model")
    remedy = "Lower run.learning_rate in the recipe, and remove the run"
    assert str(refusal.value) == f"{tmp_path / 'model.run'}: the loss went out of bounds. {remedy}"


def test_a_device_that_is_not_there_is_told(corpus: Path, tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    recipe = recipe_of("hred")
    recipe = recipe.model_copy(update={"run": recipe.run.model_copy(update={"accelerator": "gpu"})})
    with pytest.raises(UsageError, match=r"this machine cannot train on gpu with precision 32-true \(.*\)\. Change"):
        pretrain_dialogues(recipe, [corpus], tmp_path / "model")


def test_a_vhred_starts_from_an_hred(corpus: Path, tmp_path: Path) -> None:
    hred = pretrain_dialogues(recipe_of("hred", updates=10), [corpus], tmp_path / "hred")
    said: list[str] = []
    recipe = recipe_of("vhred", updates=1, learning_rate=1e-30)
    vhred = pretrain_dialogues(recipe, [corpus], tmp_path / "vhred", start=hred.folder, say=said.append)
    start, found = read_folder(hred.folder), read_folder(vhred.folder)
    assert found.files["vocabulary.json"] == start.files["vocabulary.json"]
    assert f"{len(start.tensors)} weights come from {hred.folder}" in said
    assert found.config["start"] == start.digest
    for name, tensor in start.tensors.items():
        np.testing.assert_array_equal(found.tensors[name][..., : tensor.shape[-1]], tensor, err_msg=name)
    assert set(found.tensors) - set(start.tensors) == {
        name for name in found.tensors if name.startswith(("pri", "post"))
    }
    assert found.tensors["decoder.first.weight"].shape[1] == start.tensors["decoder.first.weight"].shape[1] + 8


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """The tiny recipe with two updates."""
    recipe = tmp_path / "quick.toml"
    text = TINY.read_text(encoding="utf-8").replace("updates = 40\nstretch = 10", "updates = 2\nstretch = 1")
    recipe.write_text(text, encoding="utf-8")
    return recipe


def call(run: Run, corpus: Path, out: Path, *options: object, recipe: Path = TINY) -> Ran:
    return run("pretrain", recipe, corpus, "-o", out, *options)


def test_pretrain_tells_the_figures_of_the_best_validation(run: Run, corpus: Path, tmp_path: Path, quick: Path) -> None:
    ran = call(run, corpus, tmp_path / "model", recipe=quick)
    assert ran.code == 0, ran.err
    best = read_folder(tmp_path / "model").config["figures"]
    assert ran.out.splitlines() == [
        *(f"{name.replace('_', ' ')}: {value:.4g}" for name, value in best.items()),
        f"saved in {tmp_path / 'model'}; answer with it: rejoinder respond FILE -r {tmp_path / 'model'}; "
        f"encode with it: rejoinder encode FILE -e {tmp_path / 'model'} -o OUT.npz",
    ]
    assert ran.err.splitlines()[:2] == ["training the byte-pair encoding", "writing the tokens of the train part"]
    assert "0 turns cut, 0 tokens unknown" in ran.err


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
    assert not (tmp_path / "model").exists()


def test_bad_dialogues_are_skipped_and_counted_once(run: Run, corpus: Path, tmp_path: Path, quick: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(corpus.read_bytes() + b"\n".join(line for line, _ in BAD.values()) + b"\n")
    for name, options in (("anew", ()), ("started", ("--start", tmp_path / "anew"))):
        ran = call(run, bad, tmp_path / name, "--on-error", "skip", *options, recipe=quick)
        assert ran.code == 0, ran.err
        told = ran.err[ran.err.index("skipped 5:\n") :].splitlines()
        for number, (line, (_, message)) in enumerate(zip(told[1:], BAD.values(), strict=True), start=301):
            assert line.startswith(f"  {bad}:{number}: {message}")


def test_a_corpus_without_validation_is_told(run: Run, tmp_path: Path) -> None:
    small = tmp_path / "small.jsonl"
    small.write_text('{"turns": ["how are you", "fine"]}\n', encoding="utf-8")
    ran = call(run, small, tmp_path / "model")
    found = f"1 dialogues to train on, 0 to validate on. Give a larger corpus, and remove {tmp_path / 'model.run'}"
    assert (ran.code, ran.err.splitlines()[-1]) == (3, f"rejoinder: {found}")


def test_standard_input_is_refused(run: Run, tmp_path: Path) -> None:
    ran = run("pretrain", TINY, "-", "-o", tmp_path / "model")
    message = "-: a corpus is read several times, standard input only once. Save it as a file"
    assert (ran.code, ran.err) == (2, f"rejoinder: {message}\n")


@pytest.mark.parametrize(
    "module", ["rejoinder", "rejoinder.cli.pretrain, rejoinder.cli.encode, rejoinder.models.encoders"]
)
def test_torch_waits_until_it_is_needed(module: str) -> None:
    loaded = f"import sys, {module}; print([name for name in ('torch', 'lightning') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", loaded], capture_output=True, check=True).stdout == b"[]\n"


def begin(recipe: Path, corpus: Path, out: Path) -> subprocess.Popen[str]:
    """The command in a process group of its own, so that a kill reaches what it started too."""
    return subprocess.Popen(
        [sys.executable, "-m", "rejoinder", "pretrain", recipe, corpus, "-o", out],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def finish(process: subprocess.Popen[str]) -> Ran:
    out, err = process.communicate(timeout=120)
    return Ran(process.returncode, out, err)


def wait_for(file: Path, process: subprocess.Popen[str]) -> None:
    """Come back when `file` is there."""
    end = time.monotonic() + 100
    while not file.exists():
        assert process.poll() is None, finish(process).err
        assert time.monotonic() < end
        time.sleep(0.01)


def stop(process: subprocess.Popen[str], how: signal.Signals) -> Ran:
    """Send a signal to the process and all it started."""
    os.killpg(process.pid, how)
    return finish(process)


def longer(tmp_path: Path, more: str = "") -> Path:
    """The tiny recipe with enough updates that it can be met while it runs."""
    recipe = tmp_path / "longer.toml"
    text = TINY.read_text(encoding="utf-8").replace("updates = 40", f"updates = 80\n{more}")
    recipe.write_text(text, encoding="utf-8")
    return recipe


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_end(corpus: Path, tmp_path: Path) -> None:
    recipe = longer(tmp_path, 'accelerator = "cpu"')
    whole = finish(begin(recipe, corpus, tmp_path / "whole"))
    assert whole.code == 0, whole.err
    for first, how, code in (
        ("tokens", signal.SIGKILL, -9),  # killed while it trains: the test below
        ("last.ckpt", signal.SIGTERM, 130),  # as every other stop: tests/cli/test_process.py
    ):
        process = begin(recipe, corpus, tmp_path / "model")
        place = tmp_path / "model.run"
        wait_for(place / "vocabulary.json" if first == "tokens" else place / first, process)
        if how is not signal.SIGKILL:
            assert process.stderr is not None
            while not process.stderr.readline().startswith("training on"):
                pass
            time.sleep(0.5)
        ran = stop(process, how)
        assert ran.code == code, ran.err
        if how is not signal.SIGKILL:
            assert ran.err == "rejoinder: interrupted; call again to go on\n"
        assert not (tmp_path / "model").exists()
    ran = finish(begin(recipe, corpus, tmp_path / "model"))
    assert ran.code == 0, ran.err
    assert ran.out.replace("model", "whole") == whole.out
    for name in ("curves.csv", "weights.safetensors", "config.json"):
        assert (tmp_path / "model" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.slow
def test_two_processes_train_one_model_and_go_on_to_the_same_end(corpus: Path, tmp_path: Path) -> None:
    recipe = longer(tmp_path, 'accelerator = "cpu"\ndevices = 2')
    whole = finish(begin(recipe, corpus, tmp_path / "whole"))
    assert whole.code == 0, whole.err
    assert whole.out.count("saved in") == 1, "told once"
    assert whole.err.count("training on") == 1
    process = begin(recipe, corpus, tmp_path / "model")
    wait_for(tmp_path / "model.run" / "last.ckpt", process)
    assert stop(process, signal.SIGKILL).code == -9
    ran = finish(begin(recipe, corpus, tmp_path / "model"))
    assert ran.code == 0, ran.err
    for name in ("curves.csv", "weights.safetensors", "config.json"):
        assert (tmp_path / "model" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    figures = read_folder(tmp_path / "whole").config["figures"]
    assert np.isfinite(list(figures.values())).all()
