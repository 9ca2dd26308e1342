"""The form of a reply and of the turns before it: forty-odd numbers that tell an assistant's reply from short chat.

They count: words, sentences, lines, lists, links, persons, vocabularies. No model is read, and a reply takes some
hundredths of a millisecond. Case and blanks before a full stop are ignored, since data sets differ in them by accident.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import log1p

READ = 500
"""Characters of the reply, and of the turn that it answers."""
READ_EARLIER = 300
"""Characters of each turn before that one."""
_TURNS = 3  # before the last one

_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)*")
_TOKEN = re.compile(r"[a-z]+(?:['’][a-z]+)*|[.!?:,\n]")
_CAPITAL = re.compile(r"[A-Z]")
_NUMBER = re.compile(r"\d+")
_MONEY = re.compile(r"[€£$]\s?\d|\d\s?[€£$%]")
_LONG_NUMBER = re.compile(r"\d{4}")
COUNTED = (
    "orders",
    "money",
    "contracts",
    "technical",
    "service",
    "complaints",
    "premises",
    "time limits",
    "courtesy",
    "instructions",
    "small talk",
    "everyday",
    "tasks",
)
_EARLIER = (*COUNTED, *(f"any {name}" for name in COUNTED), "first person", "second person", "refusal")
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")
_LIST_LINE = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)
_LINK = re.compile(r"https?:|www\.|<url>|\burl\b|\blinks?\b")


def _set(words: str) -> frozenset[str]:
    """The words of a line."""
    return frozenset(words.split())


_WE = _set("we our us we're we'll we've we'd")
_I = _set("i i'm i've i'd i'll")
VOCABULARIES: Mapping[str, frozenset[str]] = {
    "first person": _set("i i'm i've i'd i'll me my mine myself im ive"),
    "second person": _set("you your you're you'll you've you'd yours yourself"),
    "we": _set("we our us we're we'll we've we'd ours team"),
    "function words": _set(
        "the a an of to and in is it that for on with as are be this or by from at was which can were been has "
        "have had not but if then than its into their they them these those there will would should may must"
    ),
    "written": _set("the of by which whose their its these those such within upon through between among including"),
    "small talk": _set(
        "oh yeah yes yep yup nah wow haha hahaha lol hmm hey hi hello hehe ok okay cool awesome nice great fun "
        "cute aww gonna wanna kinda really pretty guess love loved hate favorite favourite too bye thanks sure "
        "nope huh ah um uh"
    ),
    "everyday": _set(
        "movie movies music song songs band dog dogs cat cats pet kids wife husband mom dad brother sister friend "
        "friends family game games play played watch watched eat pizza weekend school college team football book "
        "books read beach vacation hobby hobbies weather birthday party dinner date funny sounds think know mean"
    ),
    "orders": _set(
        "order orders ordered ordering purchase purchased bought delivery deliver delivered deliveries shipping "
        "ship shipped shipment dispatch dispatched parcel parcels package packages courier driver tracking track "
        "warehouse stock item items product products label size sizes return returns returned returning exchange "
        "exchanged swap replacement replace replaced refund refunds refunded refundable damaged faulty defective "
        "missing arrived arrive address postcode post store stores shop customs sender carrier cart basket "
        "checkout packaging unopened receipt"
    ),
    "money": _set(
        "pay paid pays payment payments price prices cost costs charge charged charges fee fees bill bills billed "
        "billing invoice invoices deposit refund euro euros eur dollars pounds usd credit debit card cards bank "
        "transfer transaction transactions statement balance discount discounts voucher vouchers coupon promo "
        "deduct deducted tax compensation compensate cheque payout overcharged free money"
    ),
    "contracts": _set(
        "account accounts plan plans subscription subscriptions subscribe subscribed membership member contract "
        "contracts policy policies cover covered coverage claim claims warranty guarantee terms conditions "
        "licence license licenses cancel cancelled canceled cancelling cancellation renew renewal renewed expire "
        "expires expired trial upgrade downgrade notice eligible included valid insurance insured tariff premium "
        "provider booking booked reservation reserved reserve refundable holder owner"
    ),
    "technical": _set(
        "app apps website site page login log password passwords pin code codes username browser cache cookies "
        "settings setting device devices phone laptop computer tablet router modem wifi internet network signal "
        "connection connect connected data sim roaming server servers install installed reinstall uninstall "
        "update updated updates version restart reboot reset software hardware firmware driver drivers printer "
        "printing ink cable charger battery screen button menu tab icon file files folder download upload sync "
        "error errors bug crash crashes crashed freeze loading online offline backup unlock unlocked locked "
        "account's notification notifications link scan machine meter model serial android ios iphone windows"
    ),
    "service": _set(
        "support service customer customers agent agents representative colleague colleagues department hotline "
        "request requests case complaint complaints inquiry query queries enquiry desk counter staff technician "
        "engineer specialist chat reference confirmation confirm confirmed verify verification form forms details "
        "document documents proof process processed processing check checked resolve resolved solve fix fixed "
        "repair repaired escalate escalated investigate issue issues problem problems contact reply inbox email "
        "emails mail call dm feedback appointment available availability unable able safety privacy security "
        "reasons reserve inconvenience"
    ),
    "complaints": _set(
        "wrong missing late broken broke cold terrible horrible awful useless unacceptable disappointed "
        "disappointing angry annoying annoyed ridiculous waiting waited wait nobody never nothing still again "
        "twice mistake lost stolen stuck failed fails fail declined rejected blocked banned slow down leaks "
        "leaking smell smells dirty noisy scratch scratched torn scam fraud unhappy frustrated frustrating worst "
        "complain complaint stopped stops crashed keeps"
    ),
    "premises": _set(
        "hotel room rooms reception breakfast check-in checkout guest guests flight flights plane gate luggage "
        "bag bags boarding airport seat seats train bus ride rental rent hire garage opening open closed closes "
        "opens restaurant table menu shower gym locker branch meter gas electricity water power repair "
        "maintenance engineer shop season dress zip shoes sofa wardrobe child children kids baby age minimum "
        "maximum allowed rule rules"
    ),
    "time limits": _set(
        "days day hours hour minutes weeks week months month within until working business weekdays monday "
        "tuesday wednesday thursday friday saturday sunday am pm ago yesterday tomorrow today deadline delay "
        "delayed late early once soon already still since"
    ),
    "courtesy": _set(
        "please sorry apologies apologize apologise regret welcome assist assistance happy glad help kindly "
        "appreciate inconvenience patience understand certainly thank unfortunately"
    ),
    "instructions": _set(
        "click tap select choose press enter open visit check ensure try make use follow contact go type add "
        "remove set turn keep avoid consider create start include provide send submit download install update "
        "change restart fill save write find read reply mix stir bake cook need needs should must recommended"
    ),
    "connectives": _set(
        "however therefore additionally furthermore moreover overall finally first firstly second secondly lastly "
        "also although while thus hence instead similarly because example examples such based depending addition "
        "various several different common important typically generally often usually specific"
    ),
    "refusal": _set(
        "cannot unable ai model language assistant harm harmful illegal dangerous appropriate inappropriate legal "
        "law laws unethical ethical professional personal advice opinions information"
    ),
    "tasks": _set(
        "write list explain code python sql email essay summary summarize sentence sentences paragraph article "
        "story poem recipe step steps describe create generate translate rewrite rephrase convert classify "
        "identify suggest compare design edit question answer given following text topic title example examples "
        "name function table words word phrase input output data calculate sum number numbers ways tips "
        "difference between"
    ),
}
_REQUEST = re.compile(
    r"(?:please |could you |can you |would you )?(?:write|list|give|explain|describe|summari[sz]e|create|make|generate|"
    r"suggest|provide|tell me|rewrite|rephrase|translate|compare|design|identify|classify|find|convert|come up|help|"
    r"show|name|edit|calculate|add|discuss|construct|develop|outline|propose|analy[sz]e|imagine|pretend|act as|answer|"
    r"determine|choose|select|organi[sz]e|categori[sz]e|brainstorm|compose|draft|edit|evaluate|predict|simplify)\b"
)
_QUESTION = re.compile(
    r"(?:how (?:do|can|to|would|does|did|is|are|long|many|much)|what(?:'s| is| are| would| does| causes| was| were)|"
    r"why|which|when|where|who|is there|is it|are there|does|can i|should i|do i|explain)\b"
)
_CHAT_PHRASES = (
    "how about you|what about you|do you like|do you have|do you know|do you think|do you watch|do you play|"
    "do you enjoy|have you ever|have you seen|have you heard|have you been|are you|did you|i like|i love|i think|"
    "i know|i have|i guess|i hope|i am|i was|i don't|i agree|i wish|i used|i just|i also|that is|that's|"
    "that sounds|that would|me too|so do|nice to|good for|good idea|good luck|good morning|what do you|i'm"
)
_ASSISTANT_PHRASES = (
    "language model|as an ai|an ai|i cannot help|i cannot assist|i cannot provide|i can't help|i can't assist|"
    "i can't provide|i'm sorry|i'm afraid|let me know if|feel free|happy to help|happy to assist|how can i help|"
    "how can i assist|anything else|reach out|get in touch|for example|such as|here is|here are|there are many|"
    "there are several|there are a few|it is important|it's important|it is possible|it's possible|it is best|"
    "it's best|it is recommended|you can|you will need|you'll need|you will be able|you will receive|"
    "you'll receive|you will get|you'll get|you will find|you'll find|you will see|you'll see|your order|"
    "your account|your request|your card|your money|your refund|thank you for|thanks for contacting|"
    "thanks for reaching|thanks for letting|thanks for your|thanks for getting|we are sorry|we're sorry|"
    "we are unable|we're unable|i understand"
)
_TROUBLE_PHRASES = (
    "doesn't work|doesnt work|not working|won't|broken|can i get|can i have|can i return|can i cancel|"
    "can i change|can i use|can i still|do you offer|do you ship|do you deliver|do you accept|do you sell|"
    "how do i|how can i|i want to|i need to|i would like to|i'd like to|where is my|cancel"
)
_OWNED = frozenset().union(*(VOCABULARIES[name] for name in ("orders", "money", "contracts", "technical", "service")))
_IMPERATIVES = VOCABULARIES["instructions"] | _set(
    "call email message let bring take put wait look log sign scan print hold tell note"
)
_BEFORE_IMPERATIVES = _set("and then so just please kindly simply first next . ! ? : ,") | {"\n"}


def _by_first_word(*lists: str) -> dict[str, tuple[tuple[int, list[str]], ...]]:
    """The rest of each phrase, with the number of its list, by its first word."""
    rests: dict[str, tuple[tuple[int, list[str]], ...]] = {}
    for number, phrases in enumerate(lists):
        for phrase in phrases.split("|"):
            first, *rest = phrase.split()
            rests[first] = (*rests.get(first, ()), (number, rest))
    return rests


_PHRASES = _by_first_word(_CHAT_PHRASES, _ASSISTANT_PHRASES, _TROUBLE_PHRASES)


def _phrases(words: Sequence[str]) -> dict[str, float]:
    """Count the phrases of chat, of assistants and of customers in a text; `my order` is a customer's."""
    counts = [0, 0, 0]
    for place, word in enumerate(words):
        for number, rest in _PHRASES.get(word, ()):
            counts[number] += not rest or words[place + 1 : place + 1 + len(rest)] == rest
        if word in ("my", "your"):
            counts[2] += not _OWNED.isdisjoint(words[place + 1 : place + 3])
    names = ("chat phrases", "assistant's phrases", "trouble")
    return {name: log1p(count) for name, count in zip(names, counts, strict=True)}


def _imperatives(tokens: Sequence[str]) -> int:
    """How often a text asks for something to be done: a verb at the beginning of a sentence or after `please`."""
    before = zip(["\n", *tokens], tokens, strict=False)
    return sum(token in _IMPERATIVES and last in _BEFORE_IMPERATIVES for last, token in before)


def _vocabularies() -> dict[str, tuple[int, ...]]:
    """The numbers of the vocabularies that each word is in."""
    inside: dict[str, list[int]] = {}
    for number, vocabulary in enumerate(VOCABULARIES.values()):
        for word in vocabulary:
            inside.setdefault(word, []).append(number)
    return {word: tuple(numbers) for word, numbers in inside.items()}


_INSIDE = _vocabularies()
_COUNTED = tuple(list(VOCABULARIES).index(name) for name in COUNTED)


def _counts(words: Sequence[str]) -> list[int]:
    """How many of the words are in each vocabulary."""
    counts = [0] * len(VOCABULARIES)
    for word in words:
        for number in _INSIDE.get(word, ()):
            counts[number] += 1
    return counts


def _words(words: Sequence[str]) -> dict[str, float]:
    """The share of the words that each vocabulary has, and for some of these their number."""
    counts, total = _counts(words), len(words) or 1
    return {
        **{name: count / total for name, count in zip(VOCABULARIES, counts, strict=True)},
        **{f"any {COUNTED[place]}": log1p(counts[number]) for place, number in enumerate(_COUNTED)},
    }


def _texture(text: str, low: str, words: Sequence[str]) -> dict[str, float]:
    """Count what is counted of any text."""
    count = len(words) or 1
    ends = max(1, len(_SENTENCE_END.findall(text)))
    lengths = [len(word) for word in words]
    return {
        "words": log1p(len(words)),
        "sentences": log1p(ends),
        "words a sentence": log1p(len(words) / ends),
        "letters a word": sum(lengths) / count,
        "long words": sum(length > 8 for length in lengths) / count,
        "different words": len(set(words)) / count,
        "numbers": log1p(len(_NUMBER.findall(text))),
        "commas": text.count(",") / count,
        "brackets": float("(" in text),
        "colon": float(":" in text),
        "quotes": float('"' in text or "“" in text),
        "asks": float("?" in text),
        "exclaims": float("!" in text),
        "capital first": float(text[:1].isupper()),
        "capitals": len(_CAPITAL.findall(text)) / (len(text) or 1),
        "money": float(bool(_MONEY.search(text))),
        "long numbers": float(bool(_LONG_NUMBER.search(text))),
        "lines": log1p(text.count("\n")),
        "link": float(bool(_LINK.search(low))),
        "question at the end": float(text[-1:] == "?"),
        **_words(words),
        **_phrases(words),
    }


def _reply(text: str) -> dict[str, float]:
    """What is counted of the reply."""
    low = text.lower()
    tokens = _TOKEN.findall(low)
    words = [token for token in tokens if token[0].isalpha()]
    return {
        **_texture(text, low, words),
        "paragraphs": float("\n\n" in text),
        "list lines": log1p(len(_LIST_LINE.findall(text))),
        "full stop": float(text[-1:] == "."),
        "imperatives": log1p(_imperatives(tokens)),
        "please": float("please" in words),
        "we": float(not _WE.isdisjoint(words)),
        "your": float("your" in words),
        "I": float(not _I.isdisjoint(words)),
        "short words": sum(len(word) < 4 for word in words) / (len(words) or 1),
        "contractions": sum("'" in word or "’" in word for word in words) / (len(words) or 1),
    }


def _prompt(text: str) -> dict[str, float]:
    """What is counted of the turn that the reply answers."""
    low = text.lower()
    words = _WORD.findall(low)
    return {
        **_texture(text, low, words),
        "request": float(bool(_REQUEST.match(low))),
        "question": float(bool(_QUESTION.match(low))),
        "I": float(not _I.isdisjoint(words)),
        "my": float("my" in words),
        "your": float("your" in words),
    }


def _earlier(turns: Sequence[str]) -> dict[str, float]:
    """Count what is counted of the turns before that one."""
    texts = [turn[:READ_EARLIER].lower() for turn in turns]
    each = [_WORD.findall(text) for text in texts]
    words = [word for of_turn in each for word in of_turn]
    counted = _words(words)
    return {
        "words a turn": log1p(len(words) / (len(turns) or 1)),
        "longest turn": log1p(max(map(len, each), default=0)),
        "lines": log1p(sum(text.count("\n") for text in texts)),
        "list lines": log1p(sum(len(_LIST_LINE.findall(text)) for text in texts)),
        **_phrases(words),
        "requests": log1p(sum(bool(_REQUEST.match(text)) for text in texts)),
        **{name: counted[name] for name in _EARLIER},
    }


def _start(text: str) -> str:
    """What is read of a text, without blanks around it."""
    return text.replace("\r\n", "\n").strip()[:READ].strip()


def form_of(context: Sequence[str], reply: str) -> list[float]:
    """What is counted of a reply and its context, in the order of `FORM`."""
    reply = _start(reply)
    last = _start(context[-1]) if context else ""
    return [
        *_reply(reply).values(),
        *_prompt(last).values(),
        *_earlier(context[-1 - _TURNS : -1]).values(),
        log1p(len(context)),
    ]


def _names() -> tuple[str, ...]:
    """The names of all numbers."""
    sides: Sequence[tuple[str, Callable[[], Mapping[str, float]]]] = (
        ("reply", lambda: _reply("")),
        ("prompt", lambda: _prompt("")),
        ("earlier", lambda: _earlier(())),
    )
    return (*(f"{side}: {name}" for side, made in sides for name in made()), "turns")


FORM = _names()
"""What the numbers of `form_of` are."""
