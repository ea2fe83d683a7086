"""A request under way: its lines of text, and the utterances that they became."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from cosykit.engines.cosyvoice.reading import LmPrompt
from cosykit.engines.cosyvoice.utterance import Manner, Utterance
from cosykit.synthesis.lm.length import LengthLimits
from cosykit.synthesis.text.pieces import TextPiece
from cosykit.types import SpeechRequest

# Utterances that are decoded while the one before them is heard.
_AHEAD = 2


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A piece of text, and how many speech tokens it may become."""

    piece: TextPiece
    limits: LengthLimits


@dataclass(slots=True, eq=False)
class Speech:
    """What is left to do of a request.

    Attributes:
        manner: How all of it is spoken.
        prompt: What the language model reads before each piece.
        lines: Text that has not begun.
        utterances: Those that have, in the order in which they are heard.
        is_heard: Whether audio of it was given already.
        begun: How many lines have begun.
    """

    request: SpeechRequest
    manner: Manner
    prompt: LmPrompt
    lines: deque[Line] = field(default_factory=deque)
    utterances: deque[Utterance] = field(default_factory=deque)
    is_heard: bool = False
    begun: int = 0
    _told: Utterance | None = None

    @property
    def name(self) -> str:
        """The request's id."""
        return self.request.request_id

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return not self.lines and not self.utterances

    def take_text(self) -> str:
        """Give the text that begins to be heard now; empty in the middle of one."""
        text = self.utterances[0].piece.text
        if self._told is self.utterances[0]:
            return ""
        self._told = self.utterances[0]
        return text

    def wants_slot(self, slots: int) -> bool:
        """Tell whether the next line should begin, given that there is room."""
        if not self.lines:
            return False
        if self.request.whole:
            return len(self.utterances) < slots
        # Before it is heard, company would only keep the first audio waiting.
        return len(self.utterances) < (_AHEAD if self.is_heard else 1)


def first_to_begin(speeches: Iterable[Speech], slots: int) -> Speech | None:
    """Choose the request whose next line begins: one that has nothing under way yet."""
    waiting = [speech for speech in speeches if speech.wants_slot(slots)]
    return min(waiting, key=lambda speech: len(speech.utterances), default=None)
