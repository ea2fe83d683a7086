"""From a request to all that its speech takes: pieces of text, a voice, a manner.

| mode             | the language model reads            | the flow follows        |
|------------------|-------------------------------------|-------------------------|
| built-in voice   | speaker, text                       | speaker                 |
| zero-shot        | speaker, transcript, text, speech   | speaker, speech, mel    |
| cross-lingual    | speaker, text                       | speaker, speech, mel    |
| instruct         | instructions, text                  | speaker, speech, mel    |
| voice conversion |                                     | speaker, speech, mel    |

Speech and mel are those of the voice's recording, where it has one.

Source: cosyvoice/cli/frontend.py CosyVoiceFrontEnd.frontend_*
"""

import secrets

import numpy as np

from cosykit.engines.cosyvoice.reading import LmPrompt
from cosykit.engines.cosyvoice.speech import Line, Speech
from cosykit.engines.cosyvoice.utterance import Manner
from cosykit.engines.cosyvoice.voices import Voices
from cosykit.errors import InputError
from cosykit.seams import Capabilities, Vocoder
from cosykit.spec import ModelFacts
from cosykit.synthesis.flow.chunks import LONG, WHOLE, Hops, Schedule
from cosykit.synthesis.flow.stream import FlowPrompt
from cosykit.synthesis.lm.length import LengthLimits, limits_of
from cosykit.synthesis.pipeline import unable
from cosykit.synthesis.text.language import main_language
from cosykit.synthesis.text.pieces import TextPiece, TextPieces
from cosykit.synthesis.text.whisper.tokenizer import WhisperTokenizer
from cosykit.synthesis.voice.prompt import VoicePrompt
from cosykit.types import SpeechRequest

_INSTRUCTIONS_END = "<|endofprompt|>"
# A text token becomes 6 to 8 speech tokens; with less room speech would be cut off.
_LEAST_ROOM_PER_TEXT_TOKEN = 10
_NO_TOKENS = np.zeros(0, np.int64)


class Preparing:
    """Checks requests and turns them into speeches.

    Args:
        model: Name of the model, for messages.
        schedule: How speech is cut into chunks where it is heard at once.
        forced_tokens: Speech tokens of every piece, for measurements; None lets
            the model decide.
    """

    def __init__(
        self,
        model: str,
        facts: ModelFacts,
        voices: Voices,
        pieces: TextPieces,
        vocoder: Vocoder,
        *,
        schedule: Schedule,
        forced_tokens: int | None = None,
    ) -> None:
        self._model, self._facts, self._voices = model, facts, voices
        self._pieces, self._vocoder = pieces, vocoder
        self._schedule, self._forced_tokens = schedule, forced_tokens
        self._tokenizer = WhisperTokenizer()

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do."""
        modes = self._facts.modes
        return Capabilities(
            cloning="zero_shot" in modes,
            conversion="voice_conversion" in modes,
            instructions="instruct" in modes,
        )

    @property
    def voices(self) -> Voices:
        """Who can be spoken as."""
        return self._voices

    def speech(self, request: SpeechRequest) -> Speech:
        """Prepare a request.

        Raises:
            InputError: It cannot be spoken.
            NotFoundError: The voice does not exist.
        """
        voice = self._voice(request)
        prompt = self._lm_prompt(request, voice)
        speech = Speech(request, self._manner(request, voice), prompt)
        if request.source:
            tokens = self._voices.tokens_of(request.source)
            speech.utterances.append(
                speech.manner.spoken_already(tokens.tolist(), self._vocoder)
            )
        else:
            speech.lines.extend(
                Line(piece, self._limits(prompt, piece))
                for piece in self._pieces.cut(
                    request.text,
                    request.language,
                    tagged=is_foreign(voice),
                    pronunciations=request.pronunciations,
                )
            )
        return speech

    def _voice(self, request: SpeechRequest) -> VoicePrompt:
        if request.prompt:
            return self._voices.measured(request.prompt).voice
        language = request.language or main_language(request.text)
        return self._voices.find(request.voice, language)

    def _manner(self, request: SpeechRequest, voice: VoicePrompt) -> Manner:
        seed = secrets.randbits(32) if request.seed is None else request.seed
        # Recorded speech is one utterance, however long.
        at_once = LONG if request.source else WHOLE
        schedule = at_once if request.whole else self._schedule
        return Manner(
            prompt=FlowPrompt(voice.speaker[None], voice.tokens, voice.mel[None]),
            mels=self._facts.mels,
            hops=Hops(schedule),
            as_upstream=schedule.as_upstream,
            sampling=request.sampling,
            speed=request.speed,
            seed=seed,
        )

    def _lm_prompt(self, request: SpeechRequest, voice: VoicePrompt) -> LmPrompt:
        instructions = (request.instructions or "").strip()
        if instructions:
            if "instruct" not in self._facts.modes:
                raise unable(self._model, "instruct")
            if not instructions.endswith(_INSTRUCTIONS_END):
                instructions += _INSTRUCTIONS_END
            return LmPrompt(None, self._tokenizer.encode(instructions), _NO_TOKENS)
        if not voice.transcript:
            return LmPrompt(voice.speaker, _NO_TOKENS, _NO_TOKENS)
        transcript = self._tokenizer.encode(voice.transcript)
        return LmPrompt(voice.speaker, transcript, voice.tokens)

    def _limits(self, prompt: LmPrompt, piece: TextPiece) -> LengthLimits:
        """Bound the speech of a piece by what fits into a slot.

        Raises:
            InputError: There is too little room.
        """
        text = int(piece.tokens.size)
        room = self._facts.positions - prompt.steps(text)
        forced = self._forced_tokens
        if forced is not None:
            if forced > room:
                raise InputError(
                    f"{forced} speech tokens do not fit behind the text",
                    hint=f"Ask for {max(room, 0)} or fewer",
                    param="tokens",
                )
            return LengthLimits(forced, forced)
        limits = limits_of(text)
        if room < _LEAST_ROOM_PER_TEXT_TOKEN * text:
            raise InputError(
                "the voice's recording, its transcript and the instructions leave too "
                "little room for the text",
                hint="Use a shorter recording, or shorter instructions",
            )
        return LengthLimits(limits.fewest, min(limits.most, room))


def is_foreign(voice: VoicePrompt) -> bool:
    """Tell whether a text should say its language, which the recording does not."""
    return bool(voice.tokens.size) and not voice.transcript
