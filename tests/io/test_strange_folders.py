"""A model's folder from a stranger: refused with one clear error or used, nothing outside it read, nothing run."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rejoinder
from conftest import Run, drawn
from rejoinder.data.folders import Parts, read_folder, write_folder
from rejoinder.encoders import load_encoder
from rejoinder.errors import DataError, MissingAsset, RejoinderError
from rejoinder.example import Example
from rejoinder.nn.bpe import train_bpe

EXAMPLES = [
    Example(("hello how are you", "fine thanks"), "the cat sat on the mat", ("a dog ran", "hello you")),
    Example(("",), "", ("",)),
    Example(("one",), "two", ()),
]
CODE = str(Path(rejoinder.__file__).parent)
PYTHON = tuple({str(Path(path).resolve()) for path in (sys.prefix, sys.base_prefix, CODE, np.__path__[0])})

opened: list[str] | None = None


def _note(event: str, given: tuple[Any, ...]) -> None:
    if opened is not None and event in ("open", "os.system", "subprocess.Popen", "os.exec", "socket.connect"):
        opened.append(str(given[0]) if event == "open" else f"{event} {given[0]}")


sys.addaudithook(_note)


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Fail where the block opens a file outside `folder`, Python's own aside, or starts anything."""
    global opened
    opened = []
    try:
        yield
    finally:
        found, opened = opened, None
    paths = [path if " " in path else str(Path(path).resolve()) for path in found if not path.isdigit()]
    assert not [path for path in paths if not path.startswith((str(folder.resolve()), *PYTHON, "/dev/null"))]


def use(folder: Path) -> None:
    """Load the judge in `folder` and score with it: scores are numbers, or there is a reason."""
    scores = rejoinder.score(EXAMPLES, folder)
    for place, value in enumerate(scores.values):
        assert np.isfinite(value) or scores.reasons[place]


def refused(folder: Path, match: str | None = None) -> None:
    """Loading fails with an error of its own that is one line and names the folder."""
    with watched(folder), pytest.raises((DataError, MissingAsset), match=match) as caught:
        use(folder)
    assert "\n" not in str(caught.value) and str(folder) in str(caught.value)


def small() -> Any:
    """A panel over averaged vectors of twenty words, fitted on nothing: quick to load."""
    from rejoinder.encoders import AverageEncoder
    from rejoinder.judges.bilinear.head import Head
    from rejoinder.judges.bilinear.judge import TERMS, BilinearJudge
    from rejoinder.judges.bilinear.panel import MEMBERS, Panel
    from rejoinder.text.vectors import word_vectors

    rng = np.random.default_rng(0)
    words = "hello how are you fine thanks the cat sat on mat a dog ran one two".split()  # noqa: SIM905
    encoder = AverageEncoder(word_vectors(words, rng.normal(size=(len(words), 6)).astype(np.float32)))
    head = Head(rng.normal(size=(6, 6)), rng.normal(size=(6, 6)), 0.5, 2.0, ())
    training = {"datasets": {"toy": 3}, "lines": {"train": 3}}
    members = {
        kind: BilinearJudge(kind, encoder, "none", None, replace(head, terms=TERMS[kind]), "mean", training)
        for kind in MEMBERS
    }
    return Panel(members, {})


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "judge"
    small().save(folder)
    return folder


@pytest.fixture
def judge(sound: Path, tmp_path: Path) -> Path:
    """A copy of it to spoil."""
    return Path(shutil.copytree(sound, tmp_path / "judge"))


def rewritten(folder: Path, change: Callable[[dict[str, Any]], None], *, digest: bool = True) -> None:
    """Change `config.json`, and make the digest right for what then stands there, as a stranger would."""
    path = folder / "config.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    change(about)
    if digest and isinstance(about.get("model"), dict):
        parts = read_folder(folder)
        with suppress(ValueError, RecursionError):  # what has no digest is refused without one
            about["digest"] = Parts(about["model"], parts.tensors, parts.files).digest
    path.write_text(json.dumps(about), encoding="utf-8")


def test_the_sound_folder_can_be_used(judge: Path) -> None:
    with watched(judge):
        use(judge)


@pytest.mark.parametrize(
    "name",
    [
        "../../../../dev/zero",
        "/dev/zero",
        "../secret",
        "sub/file",
        "..",
        ".",
        "",
        "a\\b",
        "C:x",
        "a\x00b",
        ".hidden",
        7,
        None,
        ["x"],
    ],
    ids=repr,
)
def test_files_outside_are_not_read(judge: Path, name: Any) -> None:
    (judge.parent / "secret").write_text("secret")
    rewritten(judge, lambda about: about["files"].append(name), digest=False)
    refused(judge, "digest and files must be a text and a list of names")


@pytest.mark.parametrize("name", ["config.json", "weights.safetensors", "encoder.words.json"])
@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "../outside", "self"])
def test_links_that_lead_out_are_not_followed(judge: Path, name: str, target: str) -> None:
    shutil.copy(judge / name, judge.parent / "outside")
    (judge / name).unlink()
    (judge / name).symlink_to(name if target == "self" else target)
    with (
        watched(judge),
        pytest.raises((DataError, MissingAsset), match="no file in the folder itself|cannot be read|is missing"),
    ):
        use(judge)


def test_a_link_inside_and_a_link_to_the_folder_are_fine(judge: Path) -> None:
    (judge / "encoder.words.json").rename(judge / "kept.json")
    (judge / "encoder.words.json").symlink_to("kept.json")
    use(judge)
    (judge.parent / "link").symlink_to(judge)
    use(judge.parent / "link")


def test_a_card_that_leads_out_is_not_shown(run: Run, judge: Path) -> None:
    (judge.parent / "secret").write_text("the secret")
    (judge / "card.md").unlink()
    (judge / "card.md").symlink_to("../secret")
    done = run("show", judge)
    assert done.code == 3 and "secret" not in done.out
    assert "is no file in the folder itself, so it is not read" in done.err


def test_a_pipe_does_not_hang(judge: Path) -> None:
    (judge / "weights.safetensors").unlink()
    os.mkfifo(judge / "weights.safetensors")
    refused(judge, "no file in the folder itself")


def test_a_file_larger_than_memory_is_refused_unread(judge: Path) -> None:
    with (judge / "weights.safetensors").open("wb") as stream:
        stream.truncate(2**42)  # takes no room on the disk
    refused(judge, "4,398,046,511,104 bytes, more than the .* that can be read")
    with (judge / "config.json").open("ab") as stream:
        stream.truncate(2**25)
    refused(judge, "33,554,432 bytes, more than the 16,777,216 that can be read")


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "[" * 500 + "]" * 500, "{", "", "\xff", "null", "7", "[]", '{"format": NaN}'],
)
def test_a_config_that_is_none_is_told(judge: Path, text: str) -> None:
    (judge / "config.json").write_text(text, encoding="latin-1")
    refused(judge)


DEEP: Any = "x"
for _ in range(60):
    DEEP = {"encoder": DEEP}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"encoder": DEEP}, "too deep"),
        ({"encoder": None}, 'field "encoder": is missing, expected an object'),
        ({"encoder": {"kind": "panel"}}, "a model of kind 'panel', expected one of"),
        ({"kind": ["panel"]}, "a model of kind"),
        ({"kind": "os"}, "a model of kind 'os', expected bilinear or views or panel"),
        ({"members": ["adem", "adem.encoder"]}, 'field "members"'),
        ({"members": []}, 'field "members"'),
        ({"members": [["adem"]]}, 'field "members"'),
        ({"scale": [5, 1]}, "the scale"),
    ],
)
def test_a_wrong_model_is_told(judge: Path, change: Mapping[str, Any], match: str) -> None:
    rewritten(judge, lambda about: about["model"].update(change))
    refused(judge, match)


@pytest.mark.parametrize(
    ("key", "value", "match"),
    [
        ("alpha", None, 'field "alpha": is missing, expected a finite number'),
        ("alpha", "1", "field \"alpha\": is '1', expected a finite number"),
        ("alpha", True, 'field "alpha": is True, expected a finite number'),
        ("alpha", 10**400, 'field "alpha": is'),
        ("beta", 0, 'field "beta": is 0, expected a number to divide by'),
        ("name", "../adem", "field \"name\": is '../adem', expected one of adem"),
        ("name", "c-adem", 'field "adem.name": is c-adem, expected adem'),
        ("name", {"a": 1}, 'field "name": is an object, expected one of'),
        ("normalise", "l3", 'field "normalise"'),
        ("references", [], 'field "references"'),
        ("explained_variance", 1, "no tensor projection.mean in it"),
        ("explained_variance", "x", "no tensor projection.mean in it"),
        ("training", 7, 'field "training": is 7, expected an object'),
        ("training", {"datasets": [["x"]]}, 'field "datasets": is a list, expected an object'),
        ("training", {"noted": {"x": "y"}}, "field \"x\": is 'y', expected a finite number"),
    ],
)
def test_a_wrong_value_is_told(judge: Path, key: str, value: Any, match: str) -> None:
    rewritten(judge, lambda about: about["model"]["adem"].update({key: value}))
    refused(judge, match)


def with_tensors(folder: Path, **changed: Any) -> None:
    """Write the folder anew with other tensors; None takes one away."""
    parts = read_folder(folder)
    tensors = {**parts.tensors, **{name.replace("__", "."): value for name, value in changed.items()}}
    write_folder(
        folder,
        replace(parts, tensors={name: value for name, value in tensors.items() if value is not None}),
        "",
        force=True,
    )


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("adem__M", None, "no tensor M in it"),
        ("adem__M", np.zeros((6, 5)), r"the tensor M is float64 of shape \(6, 5\), expected floats of shape \(6, 6\)"),
        ("adem__M", np.zeros((7, 7)), "the tensor M is"),
        ("adem__M", np.zeros(36), "the tensor M is"),
        ("adem__M", np.zeros((6, 6), dtype=np.int64), "the tensor M is int64"),
        ("adem__M", np.zeros((6, 6), dtype=bool), "the tensor adem.M is bool, expected numbers"),
        ("adem__M", np.zeros((6, 6), dtype=np.complex64), "the tensor adem.M is complex64, expected numbers"),
        ("adem__M", np.full((6, 6), np.nan), "the tensor adem.M holds NaN or infinity"),
        ("adem__M", np.full((6, 6), np.inf, dtype=np.float16), "the tensor adem.M holds NaN or infinity"),
        ("encoder__vectors", np.zeros((3, 6), dtype=np.float32), "the tensor vectors is float32 of shape"),
        ("encoder__vectors", np.zeros((16, 0), dtype=np.float32), "the tensor vectors is float32 of shape"),
        ("encoder__vectors", np.zeros((16, 9), dtype=np.float32), "the tensor M is float64 of shape"),
    ],
)
def test_wrong_tensors_are_told(judge: Path, name: str, value: Any, match: str) -> None:
    with_tensors(judge, **{name: value})
    refused(judge, match)


@pytest.mark.parametrize(
    "words", ["{}", "[]", "[1]", '"a"', "[[]]", "null", "[" * 100_000, '["a", "b"]', "\x00", '["\\ud800"]']
)
def test_a_wrong_file_is_told(judge: Path, words: str) -> None:
    parts = read_folder(judge)
    write_folder(judge, replace(parts, files={"encoder.words.json": words}), "", force=True)
    refused(judge)


NASTY: st.SearchStrategy[Any] = (
    st.sampled_from(
        [
            None,
            True,
            False,
            0,
            -1,
            1,
            2,
            0.5,
            1e308,
            -1e308,
            10**18,
            10**40,
            "",
            "x",
            "../../dev/zero",
            "/etc/passwd",
            "adem",
            "panel",
            "dan",
            "average",
            "encoder",
            "\x1b[2J",
            "\ud800",
            [],
            {},
            [[]],
            {"": {}},
            ["adem"],
        ]
    )
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)


WRITABLE = NASTY.filter(lambda value: value != "\ud800")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every value inside `value`."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from places(one, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any, how: str) -> Any:
    """`value` with what stands at `path` replaced, taken away or given another name."""
    if not path:
        return new
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


QUICK = drawn(250)


@QUICK
@given(data=st.data())
def test_any_change_of_the_config_is_refused_or_harmless(sound: Path, tmp_path: Path, data: st.DataObject) -> None:
    judge = tmp_path / "judge"
    shutil.rmtree(judge, ignore_errors=True)
    shutil.copytree(sound, judge)
    about = json.loads((judge / "config.json").read_text(encoding="utf-8"))
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(about))))
        assume(path)
        about = changed(about, path, data.draw(NASTY), data.draw(st.sampled_from(["replaced", "gone", "renamed"])))

    def replaced(old: dict[str, Any]) -> None:
        old.clear()
        old.update(about)

    rewritten(judge, replaced, digest=data.draw(st.booleans()))
    with watched(judge):
        try:
            use(judge)
        except RejoinderError as error:
            assert isinstance(error, (DataError, MissingAsset)) and "\n" not in str(error)


@pytest.fixture(scope="module")
def dan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small dual encoder."""
    vocabulary = train_bpe(["hello you and me , how are you today ?"] * 5, 60)
    table = np.random.default_rng(1).normal(size=(vocabulary.size + 10, 4)).astype(np.float16)
    rng = np.random.default_rng(0)
    shapes = {
        **{f"{side}.first.weight": (5, width) for side, width in (("contexts", 8), ("responses", 4))},
        **{f"{side}.first.bias": (5,) for side in ("contexts", "responses")},
        **{f"{side}.second.weight": (3, 5) for side in ("contexts", "responses")},
        **{f"{side}.second.bias": (3,) for side in ("contexts", "responses")},
    }
    tensors = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    sizes = {"vocabulary": vocabulary.size, "buckets": 10, "embedding": 4, "hidden": 5, "output": 3, "dropout": 0.0}
    sizes |= {"earlier": 2}
    config = {"kind": "dan", "sizes": sizes}
    folder = tmp_path_factory.mktemp("dan") / "model"
    files = {"vocabulary.json": vocabulary.to_json()}
    write_folder(folder, Parts(config, {**tensors, "table.weight": table}, files), "")
    return folder


def encoded(folder: Path) -> None:
    encoder = load_encoder(folder)
    assert encoder.encode(["hello", "", "you and me"]).shape == (3, encoder.width)
    assert encoder.encode_contexts([("a", "b", "c", "d"), ()]).shape == (2, encoder.width)


@drawn(100)
@given(
    key=st.sampled_from(["vocabulary", "buckets", "embedding", "hidden", "output", "dropout", "earlier", "new"]),
    value=WRITABLE,
)
def test_any_size_of_a_dual_encoder_is_refused_or_harmless(dan: Path, tmp_path: Path, key: str, value: Any) -> None:
    parts = read_folder(dan)
    config = {**parts.config, "sizes": {**parts.config["sizes"], key: value}}
    write_folder(tmp_path / "model", replace(parts, config=config), "", force=True)
    try:
        encoded(tmp_path / "model")
    except DataError as error:
        assert "\n" not in str(error)


@drawn(100)
@given(data=st.data())
def test_any_change_of_the_vocabulary_is_refused_or_harmless(dan: Path, tmp_path: Path, data: st.DataObject) -> None:
    parts = read_folder(dan)
    vocabulary = json.loads(parts.files["vocabulary.json"])
    rules = {key: value for key, value in vocabulary.items() if key != "model"}
    model = {key: value for key, value in vocabulary["model"].items() if key not in ("vocab", "merges")}
    whole = {**rules, "model": {**model, "vocab": {}, "merges": []}}
    path = data.draw(st.sampled_from([path for path in places(whole) if path]))
    whole = changed(whole, path, data.draw(NASTY), data.draw(st.sampled_from(["replaced", "gone", "renamed"])))
    if whole.get("model") and isinstance(whole["model"], dict):
        for key in ("vocab", "merges"):
            if whole["model"].get(key) in ({}, []):
                whole["model"][key] = vocabulary["model"][key]
    text = json.dumps(whole)
    write_folder(tmp_path / "model", replace(parts, files={"vocabulary.json": text}), "", force=True)
    try:
        encoded(tmp_path / "model")
    except DataError as error:
        assert "\n" not in str(error)
