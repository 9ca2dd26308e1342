"""Tokenizers by name and version, and scripts without spaces between words."""

from rejoinder.text.scripts import uncut, without_spaces
from rejoinder.text.tokenizers import TOKENIZERS, Tokenize, tokenizer

__all__ = ["TOKENIZERS", "Tokenize", "tokenizer", "uncut", "without_spaces"]
