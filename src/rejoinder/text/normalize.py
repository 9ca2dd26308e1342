"""Texts as a reader sees them. Judges read `visible_text`, and what is blank is decided by `visible`.

A judge should score what people read, not how it is encoded. Gone are: letters that only look Latin, characters of no
width, outer and repeated blanks, markup of HTML and Markdown inside a line, tokens that end a text, tags of speakers.
Line breaks, indentation, list marks, pages of HTML and texts with code fences stay: a reader sees them.
"""

from __future__ import annotations

import html
import re
import unicodedata

# Letters of other scripts that look like Latin ones.
_OTHER = "асеорхуіѕјһԁԛԝАСЕОРХУІЅЈҺВКМНТΑΒΕΖΗΙΚΜΝΟΡΤΥΧον"
_LATIN = "aceopxyisjhdqwACEOPXYISJHBKMHTABEZHIKMNOPTYXov"
_ALIKE = str.maketrans(_OTHER, _LATIN)
_STRANGE = re.compile(f"[{_OTHER}]")
_INVISIBLE = {"Cf", "Cc", "Co", "Cs", "Cn"}

# No pattern here tries a place twice: repeated parts are bounded, or stop at the sign that the pattern begins with.
_LINE_END = re.compile("\r\n?|[\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_SPACES = re.compile(r"\s+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8}\d{0,2});", re.IGNORECASE)
_AND = re.compile(r"&(?:amp;|#0{0,5}38;|#x0{0,4}26;)+", re.IGNORECASE)  # "&amp;amp;" is one sign, however often coded
_END_TOKEN = re.compile(
    r"<\s?/?\s?s\s?>|<(?:pad|eos|bos|end_of_turn|start_of_turn)>|<\|[a-z_]{2,20}\|>|\[/?INST\]|\[EOS\]", re.IGNORECASE
)
_INLINE_TAG = re.compile(r"</?(?:abbr|a|b|code|em|font|i|small|span|strong|sub|sup|s|u)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BLOCK_TAG = re.compile(
    r"</?(?:blockquote|body|br|div|h[1-6]|hr|li|ol|pre|p|table|tbody|td|thead|th|tr|ul)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--[^<>]*-->")
_HEADING = re.compile(r"^#{1,6} +(?=\S)", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)")
_CODE = re.compile(r"(?<![\w`])(`{1,2})(?=[^\s`])([^`\n]*[^`\s])\1(?![\w`])")  # "don`t" holds no code
_STRONG = re.compile(r"\*\*(?=\S)([^*\n]*[^*\s])\*\*|(?<!\w)__(?=\S)(?![a-z]+__)([^_\n]*[^_\s])__(?!\w)")  # no __url__
_STRUCK = re.compile(r"~~(?=\S)([^~\n]*[^~\s])~~")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=\w)([^*\n]*\w)\*(?![\w*])")
_SPEAKER = re.compile(r"(?:(?:bot|chatbot|assistant|system|user|human|speaker ?\w?|[ab])\s?:\s+(?=\S))+", re.IGNORECASE)
_PROGRAM = re.compile(r"```|<!doctype|<\?xml|<(?:html|head|script|style)\b", re.IGNORECASE)
_MARKS = re.compile(r"[<>&\[\]*_`~#:]")
_PASSES = 4  # markup inside markup: what is nested deeper was made to hold a reader up


def visible_text(text: str) -> str:
    """Return `text` as a reader sees it; of such a text the same again.

    A text in Russian or Greek stays as it is: it has letters that look like no Latin ones. The work grows with the
    length of the text.
    """
    text, settled = _settled(text)
    return text if settled else _settled(_MARKS.sub(" ", text))[0]


def written_text(text: str) -> str:
    """Return `text` as it was written: with its markup, without invisible signs, end tokens and a speaker's tag."""
    return _once(text, marked=True)


def visible(text: str) -> bool:
    """Return whether a reader sees anything of a text."""
    if text[:1].isascii() and text[:1].isalnum():  # nothing that is taken off begins so and leaves nothing
        return True
    return any(sign.isprintable() and not sign.isspace() for sign in visible_text(text))


def _settled(text: str) -> tuple[str, bool]:
    """Return what is left of a text after some passes, and whether a further one would leave the same."""
    for _ in range(_PASSES):
        before, text = text, _once(text)
        if text == before:
            return text, True
    return text, False


def _once(text: str, *, marked: bool = False) -> str:
    """Return `text` with one layer of what hides its letters taken off; of `marked` text the markup stays."""
    if not text.isascii():
        text = _of_one_script(text)
    elif not text.isprintable():
        text = _LINE_END.sub("\n", text)
        text = "".join(sign for sign in text if sign.isspace() or sign.isprintable())
    text = _spaced(text)
    if "<" in text or "[" in text:
        text = _END_TOKEN.sub(" ", text)
    if not marked and not _PROGRAM.search(text):
        text = _unmarked(text)
    return _SPEAKER.sub("", _spaced(text), count=1) if ":" in text and _SPEAKER.match(text) else _spaced(text)


def _of_one_script(text: str) -> str:
    """Return a text that is not ASCII in composed letters, without those of other scripts among Latin ones."""
    text = unicodedata.normalize("NFKC", _LINE_END.sub("\n", text))
    text = "".join(filter(_shows, text))
    if _STRANGE.search(text) and all(map(_latin, filter(str.isalpha, text.translate(_ALIKE)))):
        text = text.translate(_ALIKE)
    return text


def _spaced(text: str) -> str:
    """Return a text with single blanks, at most one empty line between lines, and nothing around it."""
    if "  " in text or not text.isprintable():  # no other space is printable
        text = _SPACES.sub(_as_space, text)
    return text.strip()


def _as_space(found: re.Match[str]) -> str:
    """Return one blank, or the end of a line or paragraph and how far the next line is indented."""
    before, end, indent = found[0].rpartition("\n")
    return "\n" * (1 + ("\n" in before)) + indent if end else " "


def _unmarked(text: str) -> str:
    """Return a text without the signs that HTML and Markdown show as something else."""
    if "&" in text:
        text = _ENTITY.sub(lambda found: "".join(filter(_shows, html.unescape(found[0]))), _AND.sub("&", text))
    if "<" in text:
        text = _COMMENT.sub("", _BLOCK_TAG.sub("\n", _INLINE_TAG.sub("", text)))
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "`" in text:
        text = _CODE.sub(r"\2", text)
    if "*" in text or "__" in text:
        text = _STRONG.sub(lambda found: found[1] or found[2], text)
        text = _EMPHASIS.sub(r"\1", text)
    if "~~" in text:
        text = _STRUCK.sub(r"\1", text)
    return _HEADING.sub("", text) if "#" in text else text


def _shows(sign: str) -> bool:
    """Return whether a sign takes room on a page."""
    return sign.isspace() or unicodedata.category(sign) not in _INVISIBLE


def _latin(letter: str) -> bool:
    """Return whether a letter is a Latin one."""
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")
