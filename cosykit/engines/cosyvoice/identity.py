"""Tell which requests CosyVoice would speak alike."""

from cosykit.engines.cosyvoice.preparing import is_foreign
from cosykit.engines.cosyvoice.voices import Voices
from cosykit.engines.identity import digest, heard_fields
from cosykit.synthesis.text.language import main_language
from cosykit.synthesis.text.pieces import TextPiece, TextPieces
from cosykit.synthesis.voice.prompt import VoicePrompt
from cosykit.types import SpeechRequest


class Identities:
    """Digests what shapes the audio of requests; any number of threads may use it.

    Args:
        opened: Digest of what was opened, and how.
    """

    def __init__(self, opened: bytes, voices: Voices, pieces: TextPieces) -> None:
        self._opened, self._voices, self._pieces = opened, voices, pieces

    def of(self, request: SpeechRequest) -> bytes:
        """Digest a request, without measuring its recordings.

        A saved voice counts by what it is: another of the same name is another.

        Raises:
            InputError: The text cannot be spoken.
            NotFoundError: The voice does not exist.
        """
        voice = None if request.prompt else self._voice(request)
        pieces = () if request.source else self._cut(request, voice)
        as_understood = ("voice", "language", "text", "pronunciations")
        return digest(
            self._opened, voice, pieces, heard_fields(request, without=as_understood)
        )

    def _voice(self, request: SpeechRequest) -> VoicePrompt:
        language = request.language or main_language(request.text)
        return self._voices.find(request.voice, language)

    def _cut(
        self, request: SpeechRequest, voice: VoicePrompt | None
    ) -> tuple[TextPiece, ...]:
        if voice:
            tagged = is_foreign(voice)
        else:
            tagged = not (request.prompt and request.prompt.transcript.strip())
        return tuple(
            self._pieces.cut(
                request.text,
                request.language,
                tagged=tagged,
                pronunciations=request.pronunciations,
            )
        )
