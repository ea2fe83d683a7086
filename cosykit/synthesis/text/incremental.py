"""Cut a text into sentences while it is being written.

    fragments ─▶ pending text ─(at every character)─▶ has a sentence ended for certain?

Whether a sentence has ended is asked at one character after the other, so it does not
matter how the text was cut when it came. Joined, the sentences are the text.
"""

import re
from collections import deque
from collections.abc import Iterator

from cosykit.synthesis.text.marks import has_words
from cosykit.synthesis.text.scripts import CJK
from cosykit.synthesis.text.sentences import (
    LONGEST,
    PAUSES,
    cost,
    pause_near,
    sentence_ends,
)

# What is shorter than 8 Han characters is slurred when it is spoken alone.
_SHORTEST = 8 * cost("字")
# Audio may start with less: a sentence of four, or a clause of eight.
_FIRST_SENTENCE, _FIRST_CLAUSE = 4 * cost("字"), 8 * cost("字")
# No pause in so long a text, nor a place between two words: it is cut anywhere.
_HOPELESS = 2 * LONGEST
# How far from the end of a text there may be a pause that the text before had not.
_LATEST_PAUSE = 8
# Stands between the characters where a sentence is to end.
_FLUSH = ""

_NEWLINE = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_ASKS = re.compile("[。！？!?….\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Brackets, marks of emphasis and more marks belong to the sentence before them.
_CLOSING_MARKS = "”’）)」』】》〉*_~`。！？!?…."
_CLOSING = re.compile(f"[{_CLOSING_MARKS}]*")
_CLAUSE_END = re.compile(
    r"(?:[，；：—]++[”’）)」』】》〉]*+|[,;:](?=\s|[^\s!-~]))(?=[\s\S])"
)
# `1. Open it` is an item of a list, `a != b` is code.
_ITEM_NUMBER = re.compile(r"(?:\A|[\n\r])\s{0,9}\d{1,3}\.\Z")
_INSIDE_CODE = re.compile("(?<=[!?])[!-~]")
# A line as long as wrapped prose, and how it ends when the next one goes on.
_WRAPPED_COLUMNS = 48
_OPEN_LINE_END = re.compile("[a-z0-9,;:)\"”'-]")
_BETWEEN_HAN = re.compile(f"(?<=[{CJK}])(?=[{CJK}])")

# What must stay whole: marks, tags, comments, links, addresses, numbers. Each can be
# told from its first characters on, and nothing is awaited for ever.
_MASK = "\ufffc"
_ADDRESS_PART = r"[A-Za-z0-9\-._~:/?#@!$&'()*+,;=%]"
_WHOLE = re.compile(
    r"<\|[^<>|\n]{1,64}\|>"
    r"|<!--(?:(?!-->)[\s\S]){0,500}-->"
    r"|<(?!!--)[A-Za-z/!?][^<>]{0,255}>"
    r"|\[[^\[\]\n]{0,255}\](?:\([^()\n]{0,500}\)|(?![(]|\Z))"
    rf"|(?<![A-Za-z])(?:https?|ftps?|wss?)://{_ADDRESS_PART}{{1,500}}"
    r"|\d[\d.,:/，．]{0,98}\d"
    # The same, as far as they have come.
    r"|(?P<open>"
    r"<(?:\|[^<>|\n]{0,64}\|?)?\Z"
    r"|<!--(?:(?!-->)[\s\S]){0,500}\Z"
    r"|<(?!!--)[A-Za-z/!?][^<>]{0,255}\Z"
    r"|\[[^\[\]\n]{0,255}(?:\](?:\([^()\n]{0,500})?)?\Z"
    r")"
)


class IncomingText:
    """A text that comes in pieces, on its way to become sentences.

    A sentence ends where the front end would end it, once enough has followed to be
    certain: a letter or digit may follow a full stop, and a quotation mark any mark. A
    short one waits for the next, a line break ends what is long enough too, and an
    overlong one is cut at its strongest pause.

    The first sentence may be given in two, so that audio starts soon: first a short
    sentence or the first clause, when no more of it has come yet.

    Attributes:
        length: Characters that were fed and not yet given.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.length = self._last_spaces = 0
        self._unread: deque[Iterator[str]] = deque()
        # What was read since the last end; so much of it was given away early.
        self._text, self._given = "", 0
        self._cost = 0
        # From where on it is not certain yet which marks end a sentence.
        self._open_from: int | None = None
        self._no_end_until = 0
        self._is_overlong = False
        # Characters of the line before the text.
        self._column = 0
        self._has_begun = False

    @property
    def is_blank(self) -> bool:
        """Whether nothing but spaces and line breaks is left of what was fed."""
        return self.length <= self._last_spaces

    def feed(self, text: str) -> None:
        """Take some more text."""
        self.length += len(text)
        spaces = len(text) - len(text.rstrip())
        self._last_spaces = spaces + (self._last_spaces if spaces == len(text) else 0)
        self._unread.append(iter(text))

    def flush(self) -> None:
        """End a sentence here."""
        self._unread.append(iter((_FLUSH,)))

    def take(self) -> str | None:
        """Give the next sentence; None where more has to come first."""
        sentence = self._next() or self._beginning()
        if sentence:
            self._has_begun = True
            self.length -= len(sentence)
        return sentence

    def _next(self) -> str | None:
        while True:
            end = self._end()
            if end is None:
                character = self._read()
                if character is None:
                    return None
                if character != _FLUSH:
                    self._append(character)
                    continue
                end = len(self._text)
            # Nothing is left of what was given already.
            if sentence := self._cut(end):
                return sentence

    def _beginning(self) -> str | None:
        """Give what audio may start with."""
        if self._has_begun or not (end := self._early_end()):
            return None
        self._given = end
        return self._text[:end]

    def _read(self) -> str | None:
        """Give the next character, if it has come."""
        while self._unread:
            character = next(self._unread[0], None)
            if character is not None:
                return character
            self._unread.popleft()
        return None

    def _append(self, character: str) -> None:
        if self._open_from is None and _ASKS.match(character):
            self._open_from = len(self._text)
        self._text += character
        self._cost += cost(character)

    def _cut(self, end: int) -> str:
        sentence, given = self._text[:end], min(self._given, end)
        rest = self._text[end:]
        lines = _NEWLINE.split(sentence)
        self._column = len(lines[-1]) + (self._column if len(lines) == 1 else 0)
        self._text, self._given = rest, self._given - given
        self._cost, self._open_from = cost(rest), 0 if _ASKS.search(rest) else None
        self._no_end_until, self._is_overlong = 0, False
        return sentence[given:]

    def _end(self) -> int | None:
        """Find the end of a sentence, if one has ended for certain."""
        if self._open_from is None and self._cost <= LONGEST:
            return None
        masked = _masked(self._text)
        if self._open_from is not None:
            for end in self._ends(masked, self._open_from):
                if self._is_sentence(end, _SHORTEST):
                    return end
                self._no_end_until = end
            # Nothing is asked twice: 20,000 full stops would take a minute.
            first = _first_uncertain(masked)
            if first is not None:
                first = max(first, self._no_end_until)
            self._open_from = first
        return self._forced_end(masked) if self._cost > LONGEST else None

    def _forced_end(self, masked: str) -> int | None:
        """Find the best place to cut what is too long, without its last character."""
        last = len(masked) - 1
        earliest = last - _LATEST_PAUSE if self._is_overlong else last // 2
        self._is_overlong = True
        end = pause_near(masked, earliest, last, last, (*PAUSES, _BETWEEN_HAN))
        if end or self._cost <= _HOPELESS:
            return end
        whole = len(masked.rstrip(_MASK)) - 1 if masked.endswith(_MASK) else last
        return whole or last

    def _early_end(self) -> int | None:
        """Find an end to begin with, though it may not be one."""
        if self._cost < _FIRST_SENTENCE:
            return None
        masked = _masked(self._text)
        for end in self._ends(masked, 0):
            if self._is_sentence(end, _FIRST_SENTENCE):
                return end
        for clause in _CLAUSE_END.finditer(masked):
            if self._is_sentence(clause.end(), _FIRST_CLAUSE):
                return clause.end()
        return None

    def _is_sentence(self, end: int, least: int) -> bool:
        sentence = self._text[:end]
        return cost(sentence.strip()) >= least and has_words(sentence)

    def _ends(self, masked: str, start: int) -> Iterator[int]:
        """Yield the ends of sentences and lines in order."""
        ends = [
            end
            for end in sentence_ends(masked, _CLOSING, start)
            if not (
                _ITEM_NUMBER.search(masked, 0, end) or _INSIDE_CODE.match(masked, end)
            )
        ]
        newlines = _NEWLINE.finditer(masked, start)
        ends += [end.end() for end in newlines if self._is_end(end)]
        yield from sorted(ends)

    def _is_end(self, newline: re.Match[str]) -> bool:
        """Tell whether a line does not go on after its break."""
        text, at = newline.string, newline.start()
        lines = _NEWLINE.split(text[max(0, at - _WRAPPED_COLUMNS) : at])
        is_first = len(lines) == 1 and at < _WRAPPED_COLUMNS
        columns = len(lines[-1]) + (self._column if is_first else 0)
        if columns < _WRAPPED_COLUMNS or not _OPEN_LINE_END.match(text, at - 1):
            return True
        following = text[newline.end() : newline.end() + 1]
        return following != "" and not "a" <= following <= "z"


def _first_uncertain(masked: str) -> int | None:
    """Find from where on more text may change what ends a sentence."""
    known = masked.rstrip()
    before = known.rstrip(_CLOSING_MARKS + _MASK)
    if before.endswith('"'):
        before = before[:-1].rstrip(_CLOSING_MARKS + _MASK)
    if len(before) < len(known):
        return max(0, len(before) - 1)
    newlines = [*_NEWLINE.finditer(masked, len(known))]
    return newlines[-1].start() if newlines else None


def _masked(text: str) -> str:
    """Hide all but the first character of what must stay whole."""
    return _WHOLE.sub(_mask, text)


def _mask(found: re.Match[str]) -> str:
    whole = found.group()
    hidden = whole if found["open"] is not None else whole.rstrip(".,;:!?'")
    return whole[0] + _MASK * (len(hidden) - 1) + whole[len(hidden) :]
