"""Makes languages.json: BLEU and chrF of texts in many languages, by sacreBLEU alone.

pip install 'sacrebleu[ja]'; python tests/golden/languages.py
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

# Language, reply, references.
TEXTS: list[tuple[str, str, list[str]]] = [
    ("zh", "我想吃火锅。", ["我想去吃火锅。", "吃火锅吧！"]),
    ("zh", "我用iPhone 15拍的。", ["这是我用 iPhone 15 拍的照片。"]),
    ("zh", "天气很好。", ["我想去吃火锅。"]),
    ("ja", "ラーメンが食べたいです。", ["ラーメンを食べに行きたいです。"]),
    ("ja", "天気がいいですね。", ["ラーメンを食べに行きたいです。", "今日は天気がいい。"]),
    ("th", "อยากกินผัดไทย", ["อยากไปกินผัดไทย"]),
    ("ar", "أريد أن آكل الكباب", ["أريد أن أذهب لأكل الكباب"]),
    ("he", "אני רוצה לאכול פלאפל", ["אני רוצה ללכת לאכול פלאפל"]),
    ("hi", "मुझे बिरयानी खानी है।", ["मुझे बिरयानी खाने जाना है।"]),
    ("ko", "김치찌개를 먹고 싶어요.", ["김치찌개를 먹으러 가고 싶어요."]),
    ("ru", "Я хочу съесть борщ.", ["Я хочу пойти поесть борща."]),
    ("de", "„Ich möchte Käsespätzle essen.“", ["Ich möchte gern Käsespätzle essen gehen."]),
    ("emoji", "😀😀🍕", ["😀🍕🎉", "🍕"]),
    ("en", "the cat sat on the mat", ["the cat sat on the mat", "a cat"]),
    ("en", "", ["the cat sat on the mat"]),
]
TOKENS = ("13a", "intl", "zh", "char", "ja-mecab")


def main() -> None:
    """Compute every value and write them beside this file."""
    replies, references = [reply for _, reply, _ in TEXTS], [given for _, _, given in TEXTS]
    # sacreBLEU takes reference documents: the first reference of every reply, then the second where there is one.
    documents: Any = [[given[place] if place < len(given) else None for given in references] for place in range(2)]
    bleu = {}
    for tokens in TOKENS:
        for order in (2, 4):
            single = BLEU(tokenize=tokens, effective_order=True, max_ngram_order=order)
            bleu[f"bleu-{order}/{tokens}"] = {
                "sentence": [single.sentence_score(*pair).score for pair in zip(replies, references, strict=True)],
                "corpus": BLEU(tokenize=tokens, max_ngram_order=order).corpus_score(replies, documents).score,
                "signature": str(single.get_signature()),
            }
    chrf = {}
    for name, words in (("chrf", 0), ("chrf/++", 2)):
        scorer = CHRF(word_order=words)
        chrf[name] = {
            "sentence": [scorer.sentence_score(*pair).score for pair in zip(replies, references, strict=True)],
            "corpus": scorer.corpus_score(replies, documents).score,
            "signature": str(scorer.get_signature()),
        }
    content = {
        "about": "BLEU and chrF, 0 to 100, of replies against their references. The corpus is all replies together.",
        "program": "sacrebleu, BLEU(effective_order=True for sentences) and CHRF, by tests/golden/languages.py",
        "versions": {name: version(name) for name in ("sacrebleu", "mecab-python3", "ipadic")},
        "texts": [{"language": name, "reply": reply, "references": given} for name, reply, given in TEXTS],
        "scores": bleu | chrf,
    }
    text = json.dumps(content, ensure_ascii=False, indent=1)
    Path(__file__).with_suffix(".json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
