"""What the judge in the box is made of besides ratings: models of `rejoinder pretrain`, and corpora that they read."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.data.folders import Parts, read_folder
from rejoinder.errors import UsageError
from rejoinder.judges.features.resources import Resources, default_resources
from rejoinder.models import load_encoder
from rejoinder.models.mood import from_parts as mood_of
from rejoinder.models.phrases import from_parts as phrases_of
from rejoinder.models.selector import from_parts as selector_of
from rejoinder.models.student import StudentEncoder
from research.asked import named

MADE_OF = ("phrases", "student", "selector", "mood")
WANTED = f"It stands on four models of `rejoinder pretrain`: {' '.join(f'-e {name}=FOLDER' for name in MADE_OF)}"
# The licences of the corpora that the encoder may be trained on.
CORPORA = {
    "self_dialogue": "BSD-3-Clause",
    "topical_chat": "CDLA-Sharing-1.0",
    "ubuntu_irc": "CC BY 4.0",
    "synthetic_persona": "CC BY 4.0",
    "multiwoz": "MIT, Apache-2.0",
    "persuasion": "Apache-2.0",
    "casino": "CC BY 4.0",
    "chitchat": "MIT",
    "taskmaster4": "CC BY 4.0",
    "sgd": "CC BY-SA 4.0",
}
NOT_IN_THE_BOX = ("sgd",)  # see ATTRIBUTION.md on share-alike licences


def material_from(encoders: Sequence[str]) -> tuple[Resources, list[str]]:
    """What the views are made of, and the names of the corpora that it was made of.

    Args:
        encoders: `NAME=FOLDER` for each of `MADE_OF`; none takes what is in the box.

    Raises:
        UsageError: one is missing, or is something else.
    """
    if not encoders:
        return default_resources(), [name for name in CORPORA if name not in NOT_IN_THE_BOX]
    folders = dict(named(text, "-e") for text in encoders)
    if missing := [name for name in MADE_OF if name not in folders]:
        raise UsageError(f"-e {missing[0]}=FOLDER is missing. {WANTED}")
    student = load_encoder(folders["student"])
    if not isinstance(student, StudentEncoder):
        raise UsageError(f"{folders['student']} is no student. Train one by recipes/student-wide.toml")
    parts = {name: read_folder(folders[name]) for name in MADE_OF}
    # The student's folder names what it was taught, which may be vectors; the others read the same corpora.
    corpora = dict.fromkeys(name for one in MADE_OF if one != "student" for name in _corpora(parts[one]))
    made = selector_of(parts["selector"]), mood_of(parts["mood"])
    return Resources(phrases_of(parts["phrases"]), student, *made), list(corpora)


def _corpora(parts: Parts) -> list[str]:
    """The names of the corpora that a model was made of, as its folder tells them."""
    return [str(corpus["name"]).removesuffix(".jsonl.gz") for corpus in parts.config.get("corpora", ())]
