"""Tokenizers by name and version."""

from rejoinder.text.tokenizers import TOKENIZERS, Tokenize, tokenizer

__all__ = ["TOKENIZERS", "Tokenize", "tokenizer"]
