"""The reward in the hands of TRL's own trainer: two steps of GRPO with a tiny random model made here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rejoinder

# What these libraries warn of is their own business.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
WORDS = ["<pad>", "<eos>", "do", "you", "have", "any", "pets", "?", "yes", "i", "two", "dogs", "no", "of", "."]


def tiny(transformers: Any) -> tuple[Any, Any]:
    """A language model over a handful of words, and its tokenizer; nothing is fetched."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="of"))
    words.pre_tokenizer = Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>")
    shape = {"n_positions": 64, "n_embd": 16, "n_layer": 1, "n_head": 2}
    config = transformers.GPT2Config(
        vocab_size=len(WORDS), bos_token_id=1, eos_token_id=1, pad_token_id=0, **shape, _name_or_path="tiny"
    )
    return transformers.GPT2LMHeadModel(config), tokenizer


def test_a_trainer_of_trl_takes_the_reward(tmp_path: Path) -> None:
    trl, datasets = pytest.importorskip("trl"), pytest.importorskip("datasets")
    transformers = pytest.importorskip("transformers")
    transformers.set_seed(0)
    model, tokenizer = tiny(transformers)
    function = rejoinder.reward()
    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=function,
        train_dataset=datasets.Dataset.from_list([{"prompt": "do you have any pets ?"}] * 8),
        args=trl.GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=2,
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=8,
            logging_steps=1,
            report_to="none",
            use_cpu=True,
            bf16=False,
            save_strategy="no",
        ),
    )
    before = {name: value.clone() for name, value in model.named_parameters()}
    trainer.train()
    logged = [line["rewards/reward_rejoinder/mean"] for line in trainer.state.log_history if "reward" in line]
    assert len(logged) == 2 and all(0 <= one <= 1 for one in logged)
    assert function.asked == 8
    assert any(not value.equal(before[name]) for name, value in model.named_parameters())
