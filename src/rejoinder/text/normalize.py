"""Normal forms of texts: as a reader sees them, without a tokenizer's spaces, for matching, and for terminals.

Judges read `visible_text`, because a score should depend on what people read, not on its encoding. It removes letters
that only look Latin, characters without width, outer and repeated spaces, inline HTML and Markdown, end tokens and
speaker tags. Line breaks, indentation, list marks, pages of HTML and texts with code fences stay.

Rated sets and corpora have their own case and tokenization. `detokenize` and `match_form` remove these differences. The
bundled judge was trained on their output: it must not change by a character (`tests/golden/texts.jsonl.gz`).
"""

from __future__ import annotations

import html
import re
import unicodedata

from rejoinder.text.tokenizers import tokenizer

# Rules of replacement: a sign without which the rule finds nothing (empty: always apply it), pattern, replacement.
Rules = tuple[tuple[str, re.Pattern[str], str], ...]

# Letters of other scripts that look like Latin letters.
_OTHER = "асеорхуіѕјһԁԛԝАСЕОРХУІЅЈҺВКМНТΑΒΕΖΗΙΚΜΝΟΡΤΥΧον"
_HOMOGLYPHS = str.maketrans(_OTHER, "aceopxyisjhdqwACEOPXYISJHBKMHTABEZHIKMNOPTYXov")
_HOMOGLYPH = re.compile(f"[{_OTHER}]")
_INVISIBLE = {"Cf", "Cc", "Co", "Cs", "Cn"}

# All patterns take linear time: repeated parts are bounded, or stop at the sign that the pattern begins with.
_LINE_END = re.compile("\r\n?|[\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_SPACES = re.compile(r"\s+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8}\d{0,2});", re.IGNORECASE)
_AMPERSAND = re.compile(r"&(?:amp;|#0{0,5}38;|#x0{0,4}26;)+", re.IGNORECASE)  # "&amp;amp;" is a single sign
_END_TOKEN = re.compile(
    r"<\s?/?\s?s\s?>|<(?:pad|eos|bos|end_of_turn|start_of_turn)>|<\|[a-z_]{2,20}\|>|\[/?INST\]|\[EOS\]", re.IGNORECASE
)
_INLINE_TAG = r"(?i)</?(?:abbr|a|b|code|em|font|i|small|span|strong|sub|sup|s|u)(?:\s[^<>]*)?/?>"
_BLOCK_TAG = r"(?i)</?(?:blockquote|body|br|div|h[1-6]|hr|li|ol|pre|p|table|tbody|td|thead|th|tr|ul)(?:\s[^<>]*)?/?>"
_MARKUP: Rules = (
    ("<", re.compile(_INLINE_TAG), ""),
    ("<", re.compile(_BLOCK_TAG), "\n"),
    ("<", re.compile(r"<!--[^<>]*-->"), ""),
    ("](", re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)"), r"\1"),
    ("`", re.compile(r"(?<![\w`])(`{1,2})(?=[^\s`])([^`\n]*[^`\s])\1(?![\w`])"), r"\2"),  # "don`t" holds no code
    # Bold, but not `__url__`.
    ("", re.compile(r"\*\*(?=\S)([^*\n]*[^*\s])\*\*|(?<!\w)__(?=\S)(?![a-z]+__)([^_\n]*[^_\s])__(?!\w)"), r"\1\2"),
    ("*", re.compile(r"(?<![\w*])\*(?=\w)([^*\n]*\w)\*(?![\w*])"), r"\1"),
    ("~~", re.compile(r"~~(?=\S)([^~\n]*[^~\s])~~"), r"\1"),
    ("#", re.compile(r"^#{1,6} +(?=\S)", re.MULTILINE), ""),
)
_SPEAKER = re.compile(r"(?:(?:bot|chatbot|assistant|system|user|human|speaker ?\w?|[ab])\s?:\s+(?=\S))+", re.IGNORECASE)
_PROGRAM = re.compile(r"```|<!doctype|<\?xml|<(?:html|head|script|style)\b", re.IGNORECASE)
_ALWAYS_SEEN = frozenset("\"'(.,?;$%+-/=@")  # signs that no rule removes from the start of a text
_MARKS = re.compile(r"[<>&\[\]*_`~#:]")
_PASSES = 4  # markup inside markup: deeper nesting is made to cost time

_QUOTES, _APOSTROPHES = re.compile("``|''|[“”]"), re.compile("[‘´]")
_TOKENIZED: Rules = (
    ("<", re.compile(r"<\s*/?\s*s\s*>|<pad>", re.IGNORECASE), ""),
    ("", re.compile(r" +(?=[?.!,;:%)\]])"), ""),  # no other white space is left by then
    ("(", re.compile(r"(?<=\()\s+"), ""),
    ("[", re.compile(r"(?<=\[)\s+"), ""),
    ("'", re.compile(r"\bn ' t\b", re.IGNORECASE), "n't"),
    ("'", re.compile(r"\s+(?:n't|n 't)\b", re.IGNORECASE), "n't"),
    ("'", re.compile(r"\s+'\s*(?=(?:s|m|re|ve|ll|d|t)\b)", re.IGNORECASE), "'"),
)
_words = tokenizer("words-1")
# Control characters but tab and line end, changes of writing direction, line ends of Unicode, lone surrogates.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u202a-\u202e\u2028\u2029\u2066-\u2069\ud800-\udfff]")


def visible_text(text: str) -> str:
    """Return a text as a reader sees it, in linear time; a second call changes nothing.

    Russian and Greek letters stay if the text has letters that do not look Latin.
    """
    for number in range(2 * _PASSES):
        if number == _PASSES:
            text = _MARKS.sub(" ", text)
        before, text = text, _once(text)
        if text == before:
            break
    return text


def written_text(text: str) -> str:
    """Return a text with its markup, but without invisible signs, end tokens and a speaker tag."""
    return _once(text, marked=True)


def visible(text: str) -> bool:
    """Return whether a reader sees anything of a text."""
    if (first := text[:1]).isascii() and (first.isalnum() or first in _ALWAYS_SEEN):
        return True
    return any(sign.isprintable() and not sign.isspace() for sign in visible_text(text))


def _once(text: str, *, marked: bool = False) -> str:
    """Return a text after a single pass; `marked` keeps the markup."""
    if not text.isascii():
        text = _in_one_script(text)
    elif not text.isprintable():
        text = _LINE_END.sub("\n", text)
        text = "".join(sign for sign in text if sign.isspace() or sign.isprintable())
    text = _strip_spaces(text)
    if "<" in text or "[" in text:
        text = _END_TOKEN.sub(" ", text)
    if not marked and not _PROGRAM.search(text):
        if "&" in text:
            text = _ENTITY.sub(_character, _AMPERSAND.sub("&", text))
        text = _replace(_MARKUP, text)
    tagged = ":" in text and _SPEAKER.match(text)
    text = _strip_spaces(text)
    return _SPEAKER.sub("", text, count=1) if tagged else text


def _in_one_script(text: str) -> str:
    """Return a text in composed letters, with Latin letters for letters of other scripts that look Latin."""
    text = "".join(filter(_is_shown, unicodedata.normalize("NFKC", _LINE_END.sub("\n", text))))
    if _HOMOGLYPH.search(text) and all(map(_is_latin, filter(str.isalpha, text.translate(_HOMOGLYPHS)))):
        text = text.translate(_HOMOGLYPHS)
    return text


def _strip_spaces(text: str) -> str:
    """Return a stripped text with single spaces and at most one empty line between lines."""
    if "  " in text or not text.isprintable():  # all other white space is unprintable
        text = _SPACES.sub(_as_space, text)
    return text.strip()


def _as_space(match: re.Match[str]) -> str:
    """Return a single space, or the end of a line or paragraph with the indentation of the next line."""
    before, end, indent = match[0].rpartition("\n")
    return "\n" * (1 + ("\n" in before)) + indent if end else " "


def _character(entity: re.Match[str]) -> str:
    """Return the visible characters of an HTML entity."""
    return "".join(filter(_is_shown, html.unescape(entity[0])))


def _replace(rules: Rules, text: str) -> str:
    """Return a text after all rules."""
    for sign, pattern, replacement in rules:
        if sign in text:
            text = pattern.sub(replacement, text)
    return text


def _is_shown(sign: str) -> bool:
    """Return whether a sign takes space on a page."""
    return sign.isspace() or unicodedata.category(sign) not in _INVISIBLE


def _is_latin(letter: str) -> bool:
    """Return whether a letter is Latin."""
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")


def detokenize(text: str) -> str:
    """Return a text with single spaces, none before closing signs, whole contractions, and no end tokens."""
    # White space first, because the rules would take quadratic time over a long run of it.
    if "  " in text or not text.isprintable():  # all other white space is unprintable
        text = _SPACES.sub(" ", text)
    return " ".join(_replace(_TOKENIZED, text.replace("’", "'").replace("`", "'")).split())


def match_form(text: str) -> str:
    """Return a text for comparison: in lower case, with quotation marks of one kind, detokenized."""
    return detokenize(_APOSTROPHES.sub("'", _QUOTES.sub('"', text.lower())))


def match_words(text: str) -> tuple[str, ...]:
    """Return the words and single signs of `match_form`."""
    return tuple(_words(match_form(text)))


def escape_controls(text: str) -> str:
    r"""Return a text with JSON's escapes for characters that control a terminal, such as `\u001b`; JSON stays JSON."""
    return _CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text)
