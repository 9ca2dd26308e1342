"""TEMP"""
from __future__ import annotations
from dataclasses import dataclass
from rejoinder.judges.features.table import feature_rows
from rejoinder.judges.features.overlap import OVERLAP, REPETITION
from rejoinder.judges.features.wording import ANSWERS, FORM, SPECIFICITY
from rejoinder.judges.features.text import ReadExample
LEXICAL=(*FORM,*SPECIFICITY,*REPETITION,*OVERLAP,*ANSWERS)
@dataclass(frozen=True)
class LexicalView:
    phrases: object
    name: str = "lexical"
    needs = ()
    columns = tuple(f.name for f in LEXICAL)
    groups = tuple(f.group for f in LEXICAL)
    options = {}
    def compute(self, examples):
        return feature_rows(LEXICAL, (ReadExample(example, self.phrases) for example in examples))
