"""A model's folder from a stranger: refused with one error of its own or used, no file outside it read, no code run."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pydantic
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rejoinder
from conftest import Run, drawn
from rejoinder.data.folders import Parts, read_folder, write_folder, write_section
from rejoinder.errors import DataError, MissingAsset, RejoinderError
from rejoinder.example import Example
from rejoinder.judges.adem.head import AdemHead
from rejoinder.judges.adem.judge import TERMS, AdemJudge
from rejoinder.judges.adem.panel import MEMBERS, Panel
from rejoinder.models import load_encoder
from rejoinder.models.encoders import AverageEncoder
from rejoinder.text.vectors import word_vectors

EXAMPLES = [
    Example(("hello how are you", "fine thanks"), "the cat sat on the mat", ("a dog ran", "hello you")),
    Example(("",), "", ("",)),
    Example(("one",), "two", ()),
]
LIBRARIES = (sys.prefix, sys.base_prefix, rejoinder.__path__[0], Path(np.__path__[0]).parent, pydantic.__path__[0])
PYTHON = tuple({str(Path(path).resolve()) for path in LIBRARIES})
opened: list[str] | None = None


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if opened is not None and event in ("open", "os.system", "subprocess.Popen", "os.exec", "socket.connect"):
        opened.append(str(arguments[0]) if event == "open" else f"{event} {arguments[0]}")


sys.addaudithook(_note)


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Fail if the block opens a file outside `folder` and Python's own, or starts anything."""
    global opened
    opened = []
    try:
        yield
    finally:
        events, opened = opened, None
    paths = [path if " " in path else str(Path(path).resolve()) for path in events if not path.isdigit()]
    assert not [path for path in paths if not path.startswith((str(folder.resolve()), *PYTHON, "/dev/null"))]


def use(folder: Path) -> None:
    """Load the judge in `folder` and score with it: each score is a number, or has a reason."""
    scores = rejoinder.score(EXAMPLES, folder)
    assert all(np.isfinite(value) or scores.reasons[place] for place, value in enumerate(scores.values))


def refused(folder: Path, field: str | None = None) -> None:
    """Fail unless loading raises an error of one line that names the folder, and the field if one is given."""
    with watched(folder), pytest.raises((DataError, MissingAsset)) as caught:
        use(folder)
    assert "\n" not in str(caught.value) and str(folder) in str(caught.value)
    assert field is None or (isinstance(caught.value, DataError) and caught.value.field == field)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A panel over averaged vectors of some words, fitted on nothing: quick to load."""
    rng = np.random.default_rng(0)
    words = ["hello", "how", "are", "you", "fine", "thanks", "the", "cat", "sat", "on", "mat", "a", "dog", "ran", "one"]
    encoder = AverageEncoder(word_vectors(words, rng.normal(size=(len(words), 6)).astype(np.float32)))
    head = AdemHead(rng.normal(size=(6, 6)), rng.normal(size=(6, 6)), 0.5, 2.0, ())
    training = {"datasets": {"toy": 3}, "lines": {"train": 3}}
    members = {
        kind: AdemJudge(kind, encoder, "none", None, replace(head, terms=TERMS[kind]), "mean", training)
        for kind in MEMBERS
    }
    folder = tmp_path_factory.mktemp("sound") / "judge"
    Panel(members, {}).save(folder)
    use(folder)  # libraries are imported, and look for their plugins, before anything is watched
    return folder


@pytest.fixture
def judge(sound: Path, tmp_path: Path) -> Path:
    """A copy of it to change."""
    return Path(shutil.copytree(sound, tmp_path / "judge"))


def rewritten(folder: Path, change: Callable[[dict[str, Any]], Any], *, digest: bool = True) -> None:
    """Change `config.json`, and let the digest fit, as a stranger would."""
    about = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    change(about)
    if digest and isinstance(about.get("model"), dict):
        with suppress(ValueError, RecursionError):  # a config without a digest is refused as it is
            parts = read_folder(folder)
            about["digest"] = Parts(about["model"], parts.tensors, parts.files).digest
    (folder / "config.json").write_text(json.dumps(about), encoding="utf-8")


NAMES = ["../../../../dev/zero", "/dev/zero", "../secret", "sub/file", "..", ".", "", "a\\b", "C:x", "a\x00b", "a\n"]


@pytest.mark.parametrize("name", [*NAMES, ".hidden", 7, None, ["x"]], ids=repr)
def test_files_outside_are_not_read(judge: Path, name: Any) -> None:
    (judge.parent / "secret").write_text("secret")
    rewritten(judge, lambda about: about["files"].append(name), digest=False)
    refused(judge, "files.4")


@pytest.mark.parametrize("name", ["config.json", "weights.safetensors", "encoder.words.json"])
@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "../outside", "self"])
def test_links_that_lead_out_are_not_followed(judge: Path, name: str, target: str) -> None:
    shutil.copy(judge / name, judge.parent / "outside")
    (judge / name).unlink()
    (judge / name).symlink_to(name if target == "self" else target)
    refused(judge)


def test_links_inside_and_to_the_folder_are_followed(judge: Path) -> None:
    (judge / "encoder.words.json").rename(judge / "kept.json")
    (judge / "encoder.words.json").symlink_to("kept.json")
    (judge.parent / "link").symlink_to(judge)
    use(judge.parent / "link")


def test_a_card_that_leads_out_is_not_shown(run: Run, judge: Path) -> None:
    (judge.parent / "secret").write_text("the secret")
    (judge / "card.md").unlink()
    (judge / "card.md").symlink_to("../secret")
    done = run("show", judge)
    assert done.code == 3 and "secret" not in done.out and "card.md" in done.err


def test_a_pipe_does_not_hang(judge: Path) -> None:
    (judge / "weights.safetensors").unlink()
    os.mkfifo(judge / "weights.safetensors")
    refused(judge)


@pytest.mark.parametrize(("name", "size"), [("weights.safetensors", 2**42), ("config.json", 2**25)])
def test_a_file_that_is_too_large_is_not_read(judge: Path, name: str, size: int) -> None:
    with (judge / name).open("ab") as stream:
        stream.truncate(size)  # takes no room on the disk
    refused(judge)


BROKEN = ["[" * 100_000, '{"a":' * 100_000, "[" * 500 + "]" * 500, "{", "", "\xff", "null", "7", "[]", '{"a": NaN}']


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:9])
def test_a_broken_config_is_refused(judge: Path, text: str) -> None:
    (judge / "config.json").write_text(text, encoding="latin-1")
    refused(judge)


@pytest.mark.parametrize("added", ["NaN", "1e999", "-Infinity", '1, "extra": 2', "[" * 41 + "]" * 41])
def test_values_that_json_or_a_digest_lacks_are_refused(judge: Path, added: str) -> None:
    text = (judge / "config.json").read_text()
    (judge / "config.json").write_text(text.replace('"model": {', f'"model": {{"extra": {added},', 1))
    refused(judge)


@pytest.mark.parametrize(
    ("key", "value"),
    [("format", True), ("format", 3), ("format", "2"), ("digest", 7), ("blobs", ["a.pickle"]), ("other", 1)],
)
def test_a_wrong_key_of_the_config_is_refused(judge: Path, key: str, value: Any) -> None:
    rewritten(judge, lambda about: about.update({key: value}), digest=False)
    refused(judge, key)


def test_format_1_can_be_read(judge: Path) -> None:
    rewritten(judge, lambda about: about.update(format=1, blobs=[]), digest=False)
    use(judge)


DEEP: Any = "x"
for _ in range(60):
    DEEP = {"encoder": DEEP}


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("", {"encoder": DEEP}),
        ("encoder", {"encoder": None}),
        ("", {"encoder": {"kind": "panel"}}),
        ("", {"kind": ["panel"]}),
        ("", {"kind": "os"}),
        ("members", {"members": ["adem", "adem.encoder"]}),
        ("members", {"members": []}),
        ("members", {"members": [["adem"]]}),
        ("", {"scale": [5, 1]}),
    ],
)
def test_a_wrong_model_is_refused(judge: Path, field: str, change: dict[str, Any]) -> None:
    rewritten(judge, lambda about: about["model"].update(change))
    refused(judge, field)


@pytest.mark.parametrize(
    ("field", "key", "value"),
    [
        *(("alpha", "alpha", value) for value in (None, "1", True, 10**400)),
        ("beta", "beta", 0),
        ("name", "name", "../adem"),
        ("adem.name", "name", "c-adem"),
        ("name", "name", {"a": 1}),
        ("normalise", "normalise", "l3"),
        ("references", "references", []),
        ("", "explained_variance", 1),
        ("", "explained_variance", "x"),
        ("training", "training", 7),
        ("training.datasets", "training", {"datasets": [["x"]]}),
        ("training.noted.x", "training", {"noted": {"x": "y"}}),
    ],
)
def test_a_wrong_value_is_refused(judge: Path, field: str, key: str, value: Any) -> None:
    rewritten(judge, lambda about: about["model"]["adem"].update({key: value}))
    refused(judge, field)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("adem.M", np.zeros(shape)) for shape in ((0,), (6, 5), (7, 7), (36,))),
        *(("adem.M", np.zeros((6, 6), dtype=kind)) for kind in (np.int64, np.bool_, np.complex64)),
        ("adem.M", np.full((6, 6), np.nan)),
        ("adem.M", np.full((6, 6), np.inf, dtype=np.float16)),
        *(("encoder.vectors", np.zeros(shape, dtype=np.float32)) for shape in ((3, 6), (15, 0), (15, 9))),
    ],
)
def test_wrong_tensors_are_refused(judge: Path, name: str, value: Any) -> None:
    parts = read_folder(judge)
    tensors = {key: tensor for key, tensor in parts.tensors.items() if key != name}
    tensors |= {name: value} if value.size or value.ndim > 1 else {}  # an empty list takes the tensor away
    write_folder(judge, replace(parts, tensors=tensors), "", force=True)
    refused(judge, "")


@pytest.mark.parametrize(
    "words", ["{}", "[]", "[1]", '"a"', "[[]]", "null", "[" * 100_000, '["a", "b"]', "\x00", '["\\ud800"]']
)
def test_a_wrong_file_is_refused(judge: Path, words: str) -> None:
    write_folder(judge, replace(read_folder(judge), files={"encoder.words.json": words}), "", force=True)
    refused(judge)


def test_a_type_that_numpy_lacks_is_refused(judge: Path) -> None:
    header = json.dumps({"x": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).encode()
    (judge / "weights.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0\0")
    refused(judge)


def test_scalars_and_digests_are_kept(tmp_path: Path) -> None:
    parts = Parts({"kind": "x", "share": 0.1}, {"alpha": np.array(0.5), "view": np.arange(6.0)[::2]}, {"a.txt": "ä"})
    write_folder(tmp_path / "model", parts, "# X\n\n## Old\n\n1\n\n## Then\n\n2\n")
    write_section(tmp_path / "model", "Old", "3")
    again = read_folder(tmp_path / "model")
    assert (again.digest, again.tensors["alpha"].shape) == (parts.digest, ()) == ("d4526f163e37", ())
    assert (tmp_path / "model/card.md").read_text() == "# X\n\n## Then\n\n2\n\n## Old\n\n3\n"


NASTY: st.SearchStrategy[Any] = (
    st.sampled_from([None, True, False, 0, -1, 1, 2, 0.5, 1e308, -1e308, 10**18, 10**40, [], {}, [[]], {"": {}}])
    | st.sampled_from(["", "x", "../../dev/zero", "/etc/passwd", "adem", "panel", "dan", "average", "encoder"])
    | st.sampled_from(["\x1b[2J", "\ud800", ["adem"]])
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to every value inside `value`."""
    yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any, how: str) -> Any:
    """Return `value` with the value at `path` replaced, removed or renamed."""
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(path) > 1:
        copy[path[0]] = changed(copy[path[0]], path[1:], new, how)
    elif how == "replaced":
        copy[path[0]] = new
    elif how == "gone" or isinstance(copy, list):
        del copy[path[0]]
    else:
        copy[str(new)] = copy.pop(path[0])
    return copy


def harmless(action: Callable[[Path], Any], folder: Path) -> None:
    """Fail if the action raises anything but one line of an error of data."""
    try:
        action(folder)
    except RejoinderError as error:
        assert isinstance(error, (DataError, MissingAsset)) and "\n" not in str(error)


HOW = st.sampled_from(["replaced", "gone", "renamed"])


@drawn(250)
@given(data=st.data())
def test_any_change_of_the_config_is_refused_or_harmless(sound: Path, tmp_path: Path, data: st.DataObject) -> None:
    shutil.rmtree(tmp_path / "judge", ignore_errors=True)
    judge = Path(shutil.copytree(sound, tmp_path / "judge"))
    about = json.loads((judge / "config.json").read_text(encoding="utf-8"))
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(about))))
        assume(path)
        about = changed(about, path, data.draw(NASTY), data.draw(HOW))

    def change(old: dict[str, Any]) -> None:
        old.clear()
        old.update(about)

    rewritten(judge, change, digest=data.draw(st.booleans()))
    with watched(judge):
        harmless(use, judge)


@pytest.fixture(scope="module")
def student(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """A small sentence encoder."""
    pytest.importorskip("torch", reason="needs the extra train")
    import tiny

    return read_folder(tiny.student_model(tmp_path_factory.mktemp("tiny") / "student"))


def encoded(folder: Path) -> None:
    encoder = load_encoder(folder)
    assert encoder.encode(["hello", "", "you and me"]).shape == (3, encoder.width)
    assert encoder.encode_contexts([("a", "b", "c", "d"), ()]).shape == (2, encoder.width)


@drawn(100)
@given(
    key=st.sampled_from(["vocabulary", "buckets", "embedding", "blocks", "output", "dropout", "positions", "new"]),
    value=NASTY.filter(lambda value: value != "\ud800"),
)
def test_any_size_of_an_encoder_is_refused_or_harmless(student: Parts, tmp_path: Path, key: str, value: Any) -> None:
    config = {**student.config, "sizes": {**student.config["sizes"], key: value}}
    write_folder(tmp_path / "model", replace(student, config=config), "", force=True)
    harmless(encoded, tmp_path / "model")


@drawn(100)
@given(data=st.data())
def test_any_change_of_the_vocabulary_is_refused_or_harmless(
    student: Parts, tmp_path: Path, data: st.DataObject
) -> None:
    vocabulary = json.loads(student.files["vocabulary.json"])
    lists = {key: vocabulary["model"][key] for key in ("vocab", "merges")}
    hidden = {**vocabulary, "model": {**vocabulary["model"], "vocab": {}, "merges": []}}  # too long to draw from
    path = data.draw(st.sampled_from([path for path in places(hidden) if path]))
    hidden = changed(hidden, path, data.draw(NASTY), data.draw(HOW))
    if isinstance(hidden.get("model"), dict):
        hidden["model"] |= {key: value for key, value in lists.items() if hidden["model"].get(key) in ({}, [])}
    write_folder(tmp_path / "model", replace(student, files={"vocabulary.json": json.dumps(hidden)}), "", force=True)
    harmless(encoded, tmp_path / "model")
