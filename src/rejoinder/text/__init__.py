"""Tokenizers by name and version, and scripts without spaces between words."""

from rejoinder.text.scripts import unspaced_reason, unspaced_script
from rejoinder.text.tokenizers import TOKENIZERS, Tokenize, tokenizer

__all__ = ["TOKENIZERS", "Tokenize", "tokenizer", "unspaced_reason", "unspaced_script"]
