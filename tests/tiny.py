"""Tiny models that were never trained, saved as those that were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rejoinder.data.folders import Parts, write_folder
from rejoinder.models.networks.dialogue import DialogueModel, LanguageModel
from rejoinder.models.networks.dual_encoder import DualEncoder
from rejoinder.models.networks.mrrnn import MrRNN
from rejoinder.models.networks.selector import SelectorModel
from rejoinder.models.networks.student import StudentModel
from rejoinder.models.networks.tweet2vec import Tweet2Vec
from rejoinder.models.sizes import (
    DialogueSizes,
    DualEncoderSizes,
    LanguageSizes,
    MrrnnSizes,
    SelectorSizes,
    StudentSizes,
    TweetSizes,
)
from rejoinder.models.vocabulary import Vocabulary, train_bpe
from rejoinder.pretraining.selector import selector_tensors
from rejoinder.scorer import Encoder

WORDS = ["the", "cat", "dog", "bird", "sat", "ran", "on", "under", "mat", "hello", "you", "how", "are", "thanks", "bye"]
LONGEST_TURN, MOST_TURNS = 8, 4
STUDENT = StudentSizes(vocabulary=40, output=6, buckets=30, embedding=8, inner=12, positions=5)


def dialogue_model(folder: Path, latent: int = 0) -> Path:
    """An HRED or VHRED in `folder`; its words stand far enough apart that differences show."""
    vocabulary = train_bpe([" ".join(WORDS)] * 5, 120)
    sizes = DialogueSizes(vocabulary=vocabulary.size, embedding=6, utterance=5, context=7, decoder=8, latent=latent)
    torch.manual_seed(0)
    tensors = tensors_of(DialogueModel(sizes))
    tensors["embedding.weight"] *= 10
    text = {"longest_turn": LONGEST_TURN, "most_turns": MOST_TURNS}
    config = {"kind": "vhred" if latent else "hred", "sizes": sizes.model_dump(), "recipe": {"text": text}}
    files = {"vocabulary.json": vocabulary.to_json(), "curves.csv": "updates,loss\n"}
    write_folder(folder, Parts(config, tensors, files), "a card")
    return folder


def generator(folder: Path, kind: str) -> Path:
    """A model that writes replies, of any of the kinds, in `folder`; what it says differs from context to context."""
    vocabulary = train_bpe([" ".join(WORDS)] * 5, 120)
    coarse = train_bpe([" ".join([*WORDS, "<present>", "<no_nouns>"])] * 5, 90)
    shape: dict[str, Any] = {"embedding": 6, "utterance": 5, "context": 0 if kind == "seq2seq" else 7, "decoder": 8}
    torch.manual_seed(2)
    model: nn.Module
    sizes: Any
    if kind == "lm":
        model = LanguageModel(sizes := LanguageSizes(vocabulary=vocabulary.size, embedding=6, units=7))
    elif kind == "mrrnn":
        model = MrRNN(sizes := MrrnnSizes(vocabulary=vocabulary.size, coarse_vocabulary=coarse.size, **shape))
    else:
        model = DialogueModel(
            sizes := DialogueSizes(vocabulary=vocabulary.size, **shape, latent=4 if kind == "vhred" else 0)
        )
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(2)
    text = {"longest_turn": LONGEST_TURN, "most_turns": MOST_TURNS}
    config = {"kind": kind, "sizes": sizes.model_dump(), "recipe": {"text": text}}
    files = {"vocabulary.json": vocabulary.to_json()}
    if kind == "mrrnn":
        files["coarse.vocabulary.json"] = coarse.to_json()
    write_folder(folder, Parts(config, tensors_of(model), files), "a card")
    return folder


def tweet_model(folder: Path) -> Path:
    """A tweet2vec in `folder`."""
    characters = "abcdefghijklmnopqrstuvwxyz "
    sizes = TweetSizes(symbols=len(characters) + 1, hashtags=3, lookup=4, units=5, embedding=6)
    torch.manual_seed(0)
    config = {"kind": "tweet2vec", "sizes": sizes.model_dump(), "recipe": {"text": {"longest": 145}}}
    files = {"characters.json": json.dumps(list(characters)), "hashtags.json": "[]"}
    write_folder(folder, Parts(config, tensors_of(Tweet2Vec(sizes)), files), "a card")
    return folder


def dual_parts(vocabulary: Vocabulary) -> Parts:
    """What pre-training leaves of a Dual Encoder; its weights are drawn, so that it prefers something."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = DualEncoder(DualEncoderSizes(vocabulary=vocabulary.size, embedding=8, units=12))
        torch.nn.init.normal_(model.form)
    text = {"longest_turn": 12, "most_turns": 4}
    config: dict[str, Any] = {"kind": "dual-encoder", "sizes": model.sizes.model_dump(), "recipe": {"text": text}}
    return Parts(config, tensors_of(model), {"vocabulary.json": vocabulary.to_json()})


def student_model(folder: Path) -> Path:
    """A student in `folder`, of numbers at random, so that every part of it counts."""
    vocabulary = train_bpe([" ".join(WORDS)] * 5, 120)
    torch.manual_seed(0)
    model = StudentModel(STUDENT.model_copy(update={"vocabulary": vocabulary.size}))
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    config = {"kind": "student", "sizes": model.sizes.model_dump()}
    write_folder(folder, Parts(config, tensors_of(model), {"vocabulary.json": vocabulary.to_json()}), "a card")
    return folder


def selector_model(folder: Path, encoder: Encoder) -> Path:
    """A selector over an encoder in `folder`, of numbers at random, with five common replies."""
    sizes = SelectorSizes(width=encoder.width, hidden=10, output=7)
    torch.manual_seed(0)
    model = SelectorModel(sizes)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    config = {"kind": "selector", "sizes": sizes.model_dump(), "encoder": dict(encoder.options)}
    replies = torch.randn(5, encoder.width).numpy()
    write_folder(folder, Parts(config, selector_tensors(tensors_of(model), sizes, replies)), "a card")
    return folder


CHAT = (
    "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)


def llama_model(folder: Path, *, chat: bool = True, seed: int = 0) -> Path:
    """A Llama of two layers over single characters in `folder`, of numbers at random."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    marks = ["<s>", "</s>", "[user]", "[assistant]"]
    pieces = {piece: number for number, piece in enumerate([*marks, *map(chr, range(32, 127)), "\n"])}
    tokenizer = Tokenizer(models.WordLevel(pieces, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    own = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", additional_special_tokens=marks[2:]
    )
    own.chat_template = CHAT if chat else None
    torch.manual_seed(seed)
    shape = transformers.LlamaConfig(
        vocab_size=len(pieces), hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2
    )
    transformers.LlamaForCausalLM(shape).save_pretrained(folder)
    own.save_pretrained(folder)
    return folder


def tensors_of(model: nn.Module) -> dict[str, Any]:
    """The weights of a network as arrays."""
    return {name: tensor.numpy() for name, tensor in model.state_dict().items()}


def sentence_model(folder: Path) -> Path:
    """A model of sentence-transformers in `folder`: a Bert of one layer over characters, its mean, and a layer."""
    import transformers
    from safetensors.torch import save_file

    llama_model(folder, chat=False)
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings |= {"pad_token": "<s>", "model_input_names": ["input_ids", "attention_mask"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    for name in ("config.json", "generation_config.json", "model.safetensors"):
        (folder / name).unlink()
    torch.manual_seed(0)
    shape = transformers.BertConfig(
        vocab_size=110, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    transformers.BertModel(shape).save_pretrained(folder)
    modules = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense", "3_Normalize": "Normalize"}
    listed = [
        {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (path, kind) in enumerate(modules.items())
    ]
    texts: dict[str, Any] = {
        "modules.json": listed,
        "sentence_bert_config.json": {"max_seq_length": 40, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True},
        "2_Dense/config.json": {
            "in_features": 16,
            "out_features": 6,
            "bias": True,
            "activation_function": "torch.nn.modules.activation.Tanh",
        },
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(text), encoding="utf-8")
    layer = nn.Linear(16, 6)
    save_file(
        {f"linear.{name}": tensor for name, tensor in layer.state_dict().items()}, folder / "2_Dense/model.safetensors"
    )
    return folder
